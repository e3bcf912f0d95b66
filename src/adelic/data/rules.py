"""Baselines: for each value of something that is read off an example, the class that is most frequent with it.

Of a stored task the examples' cues and tokens are read, see `best_rule`; of a drawn one the questions' operands, see
`question_rules`.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adelic.data.dataset import Dataset
from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.data.lookup import most_frequent_labels
from adelic.data.readings import READ_OPERANDS, operand_names, readings
from adelic.data.symmetries import Integers
from adelic.errors import needs_extra

TREE_DEPTH = 4
MOST_ANSWERS = 300
"""Answers that are numbers, and of which more are known, are not classes: no reading tells them."""
MOST_QUESTIONS = 50_000
"""Number of training questions, the first ones, from which `best_question_rule` is learnt."""
_FITTED_ROWS = 10_000
"""Number of questions to which a linear function is fitted: more of them hardly change its coefficients."""
_MOST_NEIGHBOURING = 2
"""Of questions with more operands hardly any differ in one of them alone."""
_GREATEST_FLOAT = 2**1000
"""Numbers up to this one have float64s, and so have their multiples."""


@dataclass(frozen=True)
class Rule:
    """A baseline and what it scores.

    Attributes:
        name: what is read off an example: a cue of the task (`Task.cues`), as "length", or "token 15"; of a table, a
            column.
        accuracy: of the rule on the test split, the mean over the targets.
    """

    name: str
    accuracy: float


def best_rule(d: Dataset) -> Rule:
    """Return the baseline that is best on the validation split, learnt from train, with its accuracy on test.

    Tried are the task's cues and the token at each position; of equally good ones the first counts. Test examples
    choose nothing, so a network's figure can be compared with the rule's.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     best_rule(acd.load("schubert", n=4, cache=folder))
    Rule(name='prefixes', accuracy=1.0)
    """
    found: tuple[float, Rule] | None = None
    for name, train, validation, test in row_readings(d):
        score = accuracy_of_rule(train, d.y_train, validation, d.y_validation)
        if found is None or score > found[0]:
            found = score, Rule(name, accuracy_of_rule(train, d.y_train, test, d.y_test))
    assert found is not None, "an example has at least one token"
    return found[1]


def row_readings(d: Dataset) -> Iterator[tuple[str, Integers, Integers, Integers]]:
    """Yield what can be read off the examples of train, validation and test, each (examples,), by name."""
    splits = d.X_train, d.X_validation, d.X_test
    for name, cue in d.cues.items():
        train, validation, test = map(cue, splits)
        yield name, train, validation, test
    columns = d.provenance.get("columns", [f"token {place + 1}" for place in range(d.X_train.shape[1])])
    for place, name in enumerate(columns):
        train, validation, test = (X[:, place] for X in splits)
        yield name, train, validation, test


def accuracy_of_rule(cue: Integers, y: Integers, cue_asked: Integers, y_asked: Integers) -> float:
    """Return how often the class most frequent with a cue's value is right; with new values, the most frequent of all.

    Cues are (examples,) of what is known and (asked,) of what is asked about, targets likewise, or with one more axis;
    then it is the mean over the targets.

    >>> accuracy_of_rule(np.array([5, 5, 7]), np.array([1, 1, 0]), np.array([5, 7, 9]), np.array([1, 1, 1]))
    0.6666666666666666
    """
    known = _Values(cue)
    places = known.find(cue_asked)
    columns = zip(_columns(y), _columns(y_asked), strict=True)
    return float(np.mean([np.mean(known.classes(of_known)[places] == asked) for of_known, asked in columns]))


def _columns(y: Integers) -> Integers:
    """Return the targets one by one, (targets, examples)."""
    return y[None] if y.ndim == 1 else np.ascontiguousarray(y.T)


class _Values:
    """The different values of a cue, and which of them each example has; found once, however many targets there are."""

    def __init__(self, cue: Integers) -> None:
        self.values, of_rows = np.unique(cue, return_inverse=True)
        self.of_rows = of_rows.reshape(-1)

    def find(self, cue_asked: Integers) -> NDArray[np.int64]:
        """Return which of the values each one is, (asked,); the number of values for a new one."""
        place = np.searchsorted(self.values, cue_asked).clip(max=len(self.values) - 1)
        return np.where(self.values[place] == cue_asked, place, len(self.values))

    def classes(self, y: Integers) -> NDArray[np.int64]:
        """Return the class most frequent with each value and, for new values, last that most frequent of all."""
        of_all = most_frequent_labels(np.zeros(len(y), np.int64), y, 1)
        return np.concatenate([most_frequent_labels(self.of_rows, y, len(self.values)), of_all])


@dataclass(frozen=True)
class QuestionRule:
    """A baseline for the questions of a drawn task, learnt from questions with their answers.

    Attributes:
        name: what it reads, in plain words, as "a and b modulo 6".
        held_out: the accuracy on one half of these questions of the rule that is learnt from the other half.
        answers: operands (n, arity) -> answers (n,), by the rule that is learnt from all of them.
    """

    name: str
    held_out: float
    answers: Callable[[Operands], Answers]

    def accuracy(self, operands: Operands, answers: Answers) -> float:
        """Return how often the rule is right."""
        return _share_right(self.answers(operands), answers)


_Fit = Callable[[Operands, Answers], Callable[[Operands], Answers]]


def question_rules(task: SampledTask, operands: Operands, answers: Answers) -> list[QuestionRule]:
    """Return the baselines for a drawn task, the best one first; nothing but the given questions chooses it.

    - The most frequent class, or answer.
    - For each reading (`adelic.data.readings`), the class most frequent with its value; and a decision tree of depth 4
      on all readings. Answers that are numbers count as classes if there are at most `MOST_ANSWERS` of them.
      Operands that are fractions, or beyond int64, have no readings.
    - Of one operand or two that are int64: the answer of the nearest question that differs in one operand alone; the
      most frequent one if there is none. It is memory that knows what near means.
    - Where answers are numbers (few of them are classes, too): each operand; their sum; and the linear function of the
      operands of least squares, rounded.

    The best one is the best on the second half of the questions, learnt from the first half; of equally good ones the
    first. Then each is learnt from all of them.

    Operands (m, arity), m ≥ 1, are in the order in which they were drawn.

    >>> from adelic.data import drawn_task
    >>> task, rng = drawn_task("order"), np.random.default_rng(0)
    >>> best = question_rules(task, *task.sample(1000, rng))[0]
    >>> best.name, best.accuracy(*task.sample(1000, rng, "larger"))
    ('n modulo 7', 1.0)
    """
    half = (len(answers) + 1) // 2
    learnt = operands[:half], answers[:half]
    held = (operands[half:], answers[half:]) if len(answers) > 1 else learnt
    found = [
        QuestionRule(name, _share_right(fit(*learnt)(held[0]), held[1]), fit(operands, answers))
        for name, fit in _fits(task, operands, answers)
    ]
    return sorted(found, key=lambda rule: -rule.held_out)


def best_question_rule(task: SampledTask, operands: Operands, answers: Answers) -> QuestionRule:
    """Return the first of `question_rules`, learnt from the first `MOST_QUESTIONS` of the questions."""
    return question_rules(task, operands[:MOST_QUESTIONS], answers[:MOST_QUESTIONS])[0]


def _fits(task: SampledTask, operands: Operands, answers: Answers) -> Iterator[tuple[str, _Fit]]:
    """Yield how each rule is learnt, by name."""
    is_class = task.class_names is not None
    yield f"most frequent {'class' if is_class else 'answer'}", _constant
    if operands.dtype == np.int64 and (is_class or len(np.unique(answers)) <= MOST_ANSWERS):
        read = {name: reading for name, reading in readings(operands).items() if np.ptp(reading(operands))}
        for name, reading in read.items():
            yield name, _by_reading(reading)
        if read:
            yield "tree of trivial features", _tree(list(read.values()))
    names = operand_names(task.arity)
    if operands.dtype == np.int64 and task.arity <= _MOST_NEIGHBOURING:
        for i, name in enumerate(names):
            same = "".join(f" with the same {other}" for other in names if other != name)
            yield f"the answer of the nearest {name}{same}", _nearest(i)
    if task.answers_are_numbers:
        for i, name in enumerate(names[:READ_OPERANDS]):
            yield f"the value of {name}", _operand(i)
        if task.arity > 1:
            yield "the sum of the operands", lambda _, __: lambda X: X.astype(object).sum(axis=1)
        if max(task.max_operand, task.max_numerator) < _GREATEST_FLOAT:
            yield "a linear function, rounded", _linear


def _share_right(given: Answers, wanted: Answers) -> float:
    return float(np.mean((given == wanted).astype(np.bool_)))


def _constant(_: Operands, y: Answers) -> Callable[[Operands], Answers]:
    labels, counts = np.unique(y, return_counts=True)
    return lambda X: np.repeat(labels[counts.argmax() :][:1], len(X))


def _by_reading(reading: Callable[[Operands], Integers]) -> _Fit:
    """Return what fits the rule that maps what is read to the answer most frequent with it, of several the least."""

    def fit(X: Operands, y: Answers) -> Callable[[Operands], Answers]:
        labels, codes = np.unique(y, return_inverse=True)
        known = _Values(reading(X))
        answers = labels[known.classes(codes.reshape(-1))]
        return lambda asked: answers[known.find(reading(asked))]

    return fit


def _tree(read: list[Callable[[Operands], Integers]]) -> _Fit:
    def features(X: Operands) -> NDArray[np.float32]:
        return np.column_stack([reading(X) for reading in read]).astype(np.float32)

    def fit(X: Operands, y: Answers) -> Callable[[Operands], Answers]:
        with needs_extra("a rule that is a tree", "data"):
            from sklearn.tree import DecisionTreeClassifier

        labels, codes = np.unique(y, return_inverse=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of few questions, almost each may have a class of its own
            tree = DecisionTreeClassifier(max_depth=TREE_DEPTH, random_state=0).fit(features(X), codes)
        return lambda asked: labels[tree.predict(features(asked))]

    return fit


def _nearest(i: int) -> _Fit:
    """Return the rule that says the answer of the question with the nearest operand i, the other operand the same."""

    def groups(X: Operands) -> Operands:
        return np.asarray(np.delete(X, i, axis=1).sum(axis=1))  # of one operand at most: 0 if there is none

    def fit(X: Operands, y: Answers) -> Callable[[Operands], Answers]:
        order = np.lexsort((X[:, i], groups(X)))
        values, right = X[order, i], y[order]
        others, starts = np.unique(groups(X)[order], return_index=True)
        ends = np.append(starts[1:], len(order))
        sizes = np.unique(values)
        # One number gives the position of a question in the order: its group, and the rank of its value.
        ranks = np.repeat(np.arange(len(others)), ends - starts) * (len(sizes) + 1) + np.searchsorted(sizes, values)
        constant = _constant(X, y)

        def rule(asked: Operands) -> Answers:
            group = np.searchsorted(others, groups(asked)).clip(max=len(others) - 1)
            at = np.searchsorted(ranks, group * (len(sizes) + 1) + np.searchsorted(sizes, asked[:, i]))
            above, below = at.clip(max=ends[group] - 1), (at - 1).clip(min=starts[group])
            # If there is none above, or below, both are the same. As uint64 all differences are right, modulo 2^64.
            far_above = (values[above] - asked[:, i]).astype(np.uint64)
            far_below = (asked[:, i] - values[below]).astype(np.uint64)
            answers: Answers = right[np.where(far_above < far_below, above, below)]
            return np.asarray(np.where(others[group] == groups(asked), answers, constant(asked)))

        return rule

    return fit


def _operand(i: int) -> _Fit:
    return lambda _, __: lambda X: X[:, i]


def _linear(X: Operands, y: Answers) -> Callable[[Operands], Answers]:
    def features(X: Operands) -> NDArray[np.float64]:
        return np.column_stack([X.astype(np.float64), np.ones(len(X))])

    solution = np.linalg.lstsq(features(X[:_FITTED_ROWS]), y[:_FITTED_ROWS].astype(np.float64), rcond=None)[0]
    return lambda asked: np.array([round(x) for x in (features(asked) @ solution).tolist()], dtype=object)
