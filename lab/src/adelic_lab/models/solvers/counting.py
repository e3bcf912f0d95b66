"""Counting on the inputs of a network, a baseline that reads the same.

It is told the digits at the same places, and nothing of the answer's formula. Its predictors count how often an answer
came with the digits at a place, grow a shallow tree, or fit functions a·x + b that some digits of the operands choose.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.errors import ConfigurationError
from adelic.numbers import AdeleSpace
from adelic.numbers.features import FeatureLayout, hot_positions, place_size
from adelic_lab.models.solvers.base import Schedule, Solver, learned

Integers = npt.NDArray[np.int64]
Rule = Callable[[Operands], Answers]
Fit = Callable[[Operands, Answers], dict[str, Rule]]
"""From examples to predictors by name."""

_SMOOTHING = (1e-30, 1e-3, 1.0)
"""What is added to counts: the first excludes an answer never seen with the input, the last is Laplace's."""
_DEPTHS = (4, 8, 12)
_HELD = 10
"""One question in so many chooses among the predictors, at most `_MOST_HELD` of them."""
_MOST_HELD = 20_000
_MOST_IN_TREES = 200_000
_MOST_CLASSES = 1000
_MOST_TOGETHER = 3  # more operands hardly have the same digits at a place twice; each is then read alone
_ROWS = 1 << 15  # questions that are encoded at a time: all features of a million need gigabytes
_CHECKED = 64  # examples on which a function is tried before it is checked on all of them
_LEAST = 8  # fewer examples than this say nothing of a function
_FUNCTION_PRIMES = (2, 3, 5, 7)


class CountingTable(Solver):
    """The best of some predictors without a network, chosen by one tenth of the examples; it reads the inputs of AOE.

    - naive Bayes over the places, of valuations, of valuations and units, or of residues modulo p^k (the forms
      "valuation-unit" and "residues" of `adelic.numbers.features`), those of all operands together at each place;
    - the most frequent answer with the digits at a single place;
    - a decision tree of depth 4, 8 or 12 on the real values, the valuations, and their greatest, sum and number over
      the places;
    - where answers are numbers: functions a·x + b with rational coefficients, exact on all their examples, one
      each for digits of the operands at one prime, or for the order of two operands: as many digits as it takes.

    Args:
        features: "residues", all that the digits of the space say; or "valuation-unit".
        places: primes and digits, as in "2^7+3^5+101"; by default those of the task, or else of `AdeleSpace`.

    >>> from adelic.data import drawn_task
    >>> task, table = drawn_task("squarefree"), CountingTable()
    >>> table.fit(task, *task.sample(3000, np.random.default_rng(0)), seed=0, steps=0)
    >>> table.answer(np.array([[2 * 3 * 5], [2 * 3 * 9]])).tolist(), table.chosen
    ([1, 0], 'a tree of depth 4')
    """

    chosen: str | None = None
    _rule: Rule | None = None
    _size = 0

    def __init__(self, *, features: Literal["residues", "valuation-unit"] = "residues", places: str = "") -> None:
        self.features = features
        powers = (place.partition("^") for place in places.split("+") if place)
        try:
            self.space = AdeleSpace(precision={int(p): int(n or 1) for p, _, n in powers}) if places else None
        except ValueError:
            raise ConfigurationError(f"places={places!r} are no primes and digits; write them as 2^7+3^5+101") from None

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why its operands cannot be read: they are fractions, or denote operations."""
        if problem.operators or not problem.operands_are_integers:
            return "it reads integers alone"
        return super().obstacle(problem)

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Choose a predictor by a tenth of the examples, and fit it to all of them; seed and steps are not used."""
        held = min(_MOST_HELD, max(1, len(answers) // _HELD))
        learnt, asked = (operands[held:], answers[held:]), (operands[:held], answers[:held])
        if not len(learnt[1]):
            learnt = asked
        found = []
        for fit in self._fits(problem, answers):
            found += [(np.mean(rule(asked[0]) == asked[1]), name, fit) for name, rule in fit(*learnt).items()]
        self.held_out, self.chosen, fit = max(found, key=lambda rule: rule[0])  # of equally good ones the first
        self._rule = fit(operands, answers)[self.chosen]

    def _fits(self, problem: SampledTask, answers: Answers) -> Iterator[Fit]:
        """Yield how the predictors are fitted."""
        yield _most_frequent
        space = self.space or problem.space or AdeleSpace()
        views = [View("valuations", space, "valuation-unit", 1)]
        views.append(View("valuations and units", space, "valuation-unit", 2))
        if self.features == "residues":
            views.append(View("residues modulo p^k", space, "residues", 1))
        if problem.class_names is not None or len(np.unique(answers)) <= min(_MOST_CLASSES, len(answers) // 2):
            yield from map(_by_counts, views)
            yield _trees(views[0])
        if problem.answers_are_numbers:
            if problem.arity == 2:
                yield _functions("functions a·x + b, by the order of operands", None, 1)
            levels = dict(zip(space.primes, space.precisions, strict=True))
            for p in _FUNCTION_PRIMES:
                if self.features == "residues" and p in levels:
                    yield _functions(f"functions a·x + b, by digits at {p}", p, levels[p])

    def answer(self, operands: Operands) -> Answers:
        """Return the answers of the chosen predictor; None if a function has no integer."""
        return learned(self._rule)(operands)


@dataclass(frozen=True)
class View:
    """What a form of AOE marks at each prime, as one number: the first one or two of its positions.

    Attributes:
        name: in words.
        space: where.
        kind: "valuation-unit", which marks the valuation and then the unit; or "residues".
        marks: how many are read.
    """

    name: str
    space: AdeleSpace
    kind: str
    marks: int

    @property
    def sizes(self) -> list[int]:
        """Return how many features each prime has."""
        places = zip(self.space.primes, self.space.precisions, strict=True)
        return [place_size(self.kind, p, digits) for p, digits in places]

    def codes(self, operands: Operands) -> Integers:
        """Return the reading at each prime, (n, arity, n_primes)."""
        layout = FeatureLayout(self.kind, self.space, self.space.max_precision)
        starts = np.cumsum([1, *self.sizes[:-1]])[:, None]
        parts = []
        for i in range(0, len(operands), _ROWS):
            hot = hot_positions(self.space.encode(operands[i : i + _ROWS]), layout)[..., : self.marks]
            marked = np.where(hot == layout.size, 0, hot - starts + 1)  # 0: no unit is told
            parts.append(marked @ [(max(self.sizes) + 1) ** mark for mark in range(self.marks)])
        return np.concatenate(parts)

    def columns(self, operands: Operands) -> Integers:
        """Return the codes of all operands together, if they are few, or of each one, (columns, n)."""
        codes = self.codes(operands).transpose(1, 2, 0)
        bits = int((max(self.sizes) + 1) ** self.marks).bit_length()
        if len(codes) > min(_MOST_TOGETHER, 63 // bits):
            return codes.reshape(-1, len(operands))
        return np.asarray(sum(of_operand << (bits * i) for i, of_operand in enumerate(codes)))


class Counts:
    """How often each class came with each code that was seen."""

    def __init__(self, codes: Integers, classes: Integers, n_classes: int) -> None:
        self._seen, which = np.unique(codes, return_inverse=True)
        size = (len(self._seen) + 1) * n_classes  # the last are of codes that were not seen, all 0
        self.table = np.bincount(which * n_classes + classes, minlength=size).reshape(-1, n_classes)

    def find(self, codes: Integers) -> Integers:
        """Return the line of the table that each one belongs to."""
        found = np.searchsorted(self._seen, codes).clip(max=len(self._seen) - 1)
        return np.where(self._seen[found] == codes, found, len(self._seen))


def _most_frequent(X: Operands, y: Answers) -> dict[str, Rule]:
    labels, counts = np.unique(y, return_counts=True)
    said = labels[counts.argmax()]
    return {"the most frequent answer": lambda asked: np.full(len(asked), said, dtype=labels.dtype)}


def _by_counts(view: View) -> Fit:
    """Return how counts are fitted: naive Bayes over the places, and the most frequent class with one place's code."""

    def fit(X: Operands, y: Answers) -> dict[str, Rule]:
        labels, classes = np.unique(y, return_inverse=True)
        totals = np.bincount(classes)
        counts = [Counts(codes, classes, len(labels)) for codes in view.columns(X)]

        def bayes(smoothing: float) -> Rule:
            def rule(asked: Operands) -> Answers:
                score = np.log(totals)[None].repeat(len(asked), axis=0)
                for count, codes in zip(counts, view.columns(asked), strict=True):
                    share = np.log(count.table + smoothing) - np.log(totals + smoothing * len(count.table))
                    score += share[count.find(codes)]
                return np.asarray(labels[score.argmax(axis=1)])

            return rule

        best = max(range(len(counts)), key=lambda j: int(counts[j].table.max(axis=1).sum()))
        said = labels[np.concatenate([counts[best].table[:-1], totals[None]]).argmax(axis=1)]
        rules = {f"naive Bayes of {view.name}, {added:g} added to counts": bayes(added) for added in _SMOOTHING}
        return rules | {f"{view.name} at one place": lambda X: said[counts[best].find(view.columns(X)[best])]}

    return fit


def _trees(valuations: View) -> Fit:
    """Return how decision trees are fitted: to real values and valuations, and what these are over all places."""

    def columns(X: Operands) -> npt.NDArray[np.float32]:
        v = valuations.codes(X) - valuations.codes(np.ones((1, 1), np.int64))  # 1 has no factor
        parts = [X.astype(np.float32), v.reshape(len(X), -1), v.max(axis=2), v.sum(axis=2), (v > 0).sum(axis=2)]
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def fit(X: Operands, y: Answers) -> dict[str, Rule]:
        labels, classes = np.unique(y[:_MOST_IN_TREES], return_inverse=True)
        read = columns(X[:_MOST_IN_TREES])

        def rule(depth: int) -> Rule:
            tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(read, classes)
            return lambda asked: np.asarray(labels[tree.predict(columns(asked))])

        return {f"a tree of depth {depth}": rule(depth) for depth in _DEPTHS}

    return fit


@dataclass
class Function:
    """The function (a·x + b)/c of operands, exact; or the functions that the next digits choose between."""

    a: tuple[int, ...] = ()
    b: int = 0
    c: int = 1
    children: "dict[int, Function] | None" = None

    @classmethod
    def through(cls, X: Operands, y: Answers) -> "Function | None":
        """Return the one through the first examples that determine it, if it has integer values at some others."""
        n = X.shape[1] + 1
        rows = [[*map(Fraction, x), Fraction(1), Fraction(t)] for x, t in zip(X.tolist(), y.tolist(), strict=True)]
        solved: list[list[Fraction]] = []
        for row in rows:  # Gauss and Jordan, a row at a time
            for column, pivot in ((next(j for j in range(n) if p[j]), p) for p in solved):
                row = [u - row[column] * v for u, v in zip(row, pivot, strict=True)]
            lead = next((j for j in range(n) if row[j]), None)
            if lead is None:
                if row[n]:
                    return None  # an example that contradicts the others
                continue
            row = [u / row[lead] for u in row]
            solved = [[u - p[lead] * v for u, v in zip(p, row, strict=True)] for p in solved] + [row]
        if len(solved) < n:
            return None
        values = [next(p[n] for p in solved if p[j]) for j in range(n)]
        c = math.lcm(*(value.denominator for value in values))
        *a, b = (int(value * c) for value in values)
        return cls(tuple(a), b, c)

    def __call__(self, X: Operands) -> Answers:
        """Return the values that are integers, else None."""
        values = X.astype(object) @ np.array(self.a, dtype=object) + self.b
        return np.asarray(np.where(values % self.c == 0, values // self.c, None))


def _functions(name: str, p: int | None, most: int) -> Fit:
    """Return how functions are fitted: one for each choice of digits at p, or for each order of two operands.

    Where one function does not fit all examples with the same digits, one more digit is read, `most` at most.
    """

    def key(X: Operands, depth: int) -> Integers:
        if p is None:
            return (X[:, 0] > X[:, 1]).astype(np.int64)
        digits = (X // p**depth % p).astype(np.int64)
        return np.asarray(digits @ p ** np.arange(X.shape[1]))

    def grow(X: Operands, y: Answers, depth: int, above: Function) -> Function:
        found = Function.through(X[:_CHECKED], y[:_CHECKED])
        if found is not None and len(y) > _LEAST and (found(X) == y).all():
            return found
        if depth == most or len(y) <= _LEAST:
            return found or above
        keys = key(X, depth)
        children = {k: grow(X[keys == k], y[keys == k], depth + 1, found or above) for k in np.unique(keys).tolist()}
        return replace(found or above, children=children)

    def answers(function: Function, X: Operands, depth: int) -> Answers:
        if function.children is None:
            return function(X)
        out, keys = np.empty(len(X), dtype=object), key(X, depth)
        for k in np.unique(keys).tolist():
            rows = keys == k
            child = function.children.get(k)
            out[rows] = function(X[rows]) if child is None else answers(child, X[rows], depth + 1)
        return out

    def fit(X: Operands, y: Answers) -> dict[str, Rule]:
        root = grow(X, y, 0, Function((0,) * X.shape[1], int(y[0])))
        return {name: lambda asked: answers(root, asked, 0)}

    return fit
