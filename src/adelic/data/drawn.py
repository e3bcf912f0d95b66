"""`SampledTask`: a task whose questions are drawn fresh from its definition, with exact answers, and never stored.

To add one, build it in a module of a package and name it in that package's mapping from names to tasks, which an entry
point of the group "adelic.drawn_tasks" names: see `adelic.data.registry` and `adelic.number_theory`.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from adelic.data.lookup import RowIndex
from adelic.errors import ConfigurationError, LeakError, UnknownNameError
from adelic.numbers import AdeleSpace
from adelic.storage.options import Option, check_fields, options

Operands = NDArray[Any]
Answers = NDArray[Any]
Draw = Callable[[int, np.random.Generator], Operands]

MOST_CLASSES = 1000
"""Whole numbers from 0 on that are answers count as classes if there are at most this many."""
_MANY_CLASSES = 10
REFERENCE = 100
"""In a question that is a program, −100 − k stands for the value k columns before."""
_FRUITLESS_DRAWS = 128_000
"""After this many draws in a row without a new question there is none left."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Variants(ABC):
    """Options of a drawn task: a frozen dataclass of `adelic.storage.options.option`, which are checked."""

    def __init_subclass__(cls) -> None:
        """Make a dataclass of the subclass."""
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        """Check the values."""
        check_fields(self)

    @abstractmethod
    def task(self) -> "SampledTask":
        """Return the task with these options."""


@dataclass(frozen=True, kw_only=True)
class SampledTask:
    """A task whose examples are not stored: questions are drawn from a seed, and their answers are exact.

    Attributes:
        name, title: as on the command line, and in words.
        arity: number of operands; every split has as many columns.
        draws: how operands are drawn, by split: "train", and the splits that are never seen in training, such as
            "longer". The split "test" is drawn as "train" is.
        never_seen_titles: the splits whose questions are unlike all in training, and their titles.
        solve: operands (n, arity) -> answers (n,), exact; of a task with classes, their indices.
        class_names: the classes, if an answer is one of them. By default the answers are numbers; those from 0 to
            `max_numerator` are classes, too, each with the number as its name, where they are at most `MOST_CLASSES`.
            None if they are more.
        max_operand, max_operand_denominator: bounds of the operands' numerators (absolute) and denominators, over all
            splits.
        max_numerator, max_denominator: bounds of the answers in lowest terms, over all splits: what a space must hold.
            Of classes with names the index of the last one by default.
        signed: whether an operand or an answer can be negative.
        commutative: whether the order of the operands makes no difference. Then a question with the same operands in
            another order counts as the same question.
        modulus: of an answer that is a residue; None for other problems.
        neutral: for a sequence of terms, the number that fills the columns after the last term; the answer is the
            operation on the whole example with or without it. None for problems that have no such columns.
        operators: how many operations there are, in a question that is an expression in postfix: the numbers −1, −2, …
            among its operands stand for one each, which takes the two values before it. In a program, numbers from
            −101 down are references, see `REFERENCE`. 0 for other questions.
        is_infix: whether such a question is in infix instead, with brackets, which then are the last two of these.
        vocabulary: the numbers that can occur as operands, if they are few enough for a vector each; else None.
        space: primes, and digits at each, that the definition asks for, since answers depend on them; None if it
            asks for none. A network with AOE has them unless others are given.
        invariants: operands (n, arity) -> further integers (n, k), objects of int, that the definition derives from
            them and on whose digits answers depend, as the discriminant of a curve; None if it derives none.
        variants: a dataclass whose fields are the task's options, and whose method `task` builds it; None for a task
            without options.

    >>> from adelic.data import drawn_task
    >>> problem = drawn_task("subtraction")
    >>> operands, answers = problem.sample(3, np.random.default_rng(0), "longer")
    >>> operands.shape, operands.dtype, answers.tolist() == [int(a) - int(b) for a, b in operands]
    ((3, 2), dtype('int64'), True)
    >>> problem.splits, problem.max_operand_digits, problem.answers_are_integers
    (('train', 'test', 'longer'), 10, True)
    """

    name: str
    title: str
    arity: int
    draws: Mapping[str, Draw]
    solve: Callable[[Operands], Answers]
    max_operand: int
    max_numerator: int = 0
    never_seen_titles: Mapping[str, str] = field(default_factory=dict)
    max_operand_denominator: int = 1
    max_denominator: int = 1
    signed: bool = False
    commutative: bool = False
    modulus: int | None = None
    neutral: int | None = None
    operators: int = 0
    is_infix: bool = False
    class_names: tuple[str, ...] | None = None
    vocabulary: tuple[int, ...] | None = None
    space: AdeleSpace | None = None
    invariants: Callable[[Operands], Operands] | None = None
    variants: type["Variants"] | None = None

    def __post_init__(self) -> None:
        """Make classes of few numbers, and of classes the greatest answer."""
        if self.class_names is not None and not self.max_numerator:
            object.__setattr__(self, "max_numerator", len(self.class_names) - 1)
        is_few = self.answers_are_integers and not self.signed and self.max_numerator < MOST_CLASSES
        if self.class_names is None and is_few:
            object.__setattr__(self, "class_names", _numbered(self.max_numerator + 1))

    @property
    def answers_are_numbers(self) -> bool:
        """Say whether an answer is a number: it has no classes, or the class k is the number k.

        >>> from adelic.data import drawn_task
        >>> [drawn_task(name).answers_are_numbers for name in ("collatz", "residue", "sorting", "conic")]
        [True, True, False, False]
        """
        return self.class_names is None or self.class_names == _numbered(len(self.class_names))

    @property
    def options(self) -> Mapping[str, Option]:
        """Return the task's options by name.

        >>> from adelic.data import drawn_task
        >>> {name: option.default for name, option in drawn_task("modular-sum").options.items()}
        {'terms': 16, 'modulus': 257}
        """
        return {} if self.variants is None else options(self.variants)

    def configured(self, **given: Any) -> "SampledTask":
        """Return the task with options, as values or texts; those that are not given are as they are by default.

        Raises:
            ConfigurationError: there is no such option, or it has no such value.
            UnknownNameError: an option has no such choice.

        >>> from adelic.data import drawn_task
        >>> drawn_task("gcd").configured(limit=5000).max_operand
        5000
        >>> drawn_task("addition").configured(limit=1000)
        Traceback (most recent call last):
        adelic.errors.ConfigurationError: addition has no option 'limit'; options: digits
        """
        known = self.options
        for name in given:
            if name not in known:
                raise ConfigurationError(f"{self.name} has no option {name!r}; options: {', '.join(known) or 'none'}")
        if not given or self.variants is None:
            return self
        read = {name: known[name].parse(value) if isinstance(value, str) else value for name, value in given.items()}
        return self.variants(**read).task()

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """Return the numbers that can occur as operands, if they are few enough for a vector each; else None.

        They are those of `vocabulary`, or all from 0 on if there are at most `MOST_CLASSES`.

        >>> from adelic.data import drawn_task
        >>> drawn_task("modular-sum").configured(modulus=5).numbers, drawn_task("gcd").numbers
        ((0, 1, 2, 3, 4), None)
        """
        is_few = self.operands_are_integers and not (self.signed or self.operators) and self.max_operand < MOST_CLASSES
        return tuple(range(self.max_operand + 1)) if self.vocabulary is None and is_few else self.vocabulary

    @property
    def never_seen(self) -> tuple[str, ...]:
        """Return the splits whose questions are unlike all in training."""
        return tuple(self.never_seen_titles)

    @property
    def every_class(self) -> str | None:
        """Return the split that has every class equally often, by which learned classes are counted; None without one.

        >>> from adelic.data import drawn_task
        >>> drawn_task("gcd").every_class, drawn_task("conic").every_class
        ('stratified', None)
        """
        is_long = self.class_names is not None and len(self.class_names) > _MANY_CLASSES
        return "stratified" if is_long and "stratified" in self.draws else None

    @property
    def splits(self) -> tuple[str, ...]:
        """Return the names of all splits."""
        return ("train", "test", *self.never_seen)

    @property
    def max_operand_digits(self) -> int:
        """Return how many decimal digits the largest operand (its numerator) has, over all splits."""
        return len(str(self.max_operand))

    @property
    def max_answer_digits(self) -> int:
        """Return how many decimal digits the largest answer (its numerator) has, over all splits."""
        return len(str(self.max_numerator))

    @property
    def operands_are_integers(self) -> bool:
        """Say whether every operand is an integer."""
        return self.max_operand_denominator == 1

    @property
    def answers_are_integers(self) -> bool:
        """Say whether every answer is an integer."""
        return self.max_denominator == 1

    def sample(
        self, n: int, rng: np.random.Generator, split: str = "train", *, exclude: Operands | None = None
    ) -> tuple[Operands, Answers]:
        """Return n questions with their answers.

        Training questions all differ. The others are independent draws, of which those in `exclude` are drawn again:
        so the test split has the distribution of the training split outside the questions that were trained on.

        Args:
            n: how many.
            rng: source of all randomness.
            split: one of `splits`.
            exclude: operands (m, arity) of questions that must not occur.

        Returns:
            Operands (n, arity), int64 or objects of int or Fraction, and answers (n,): objects of int or Fraction, or
            int64 indices of classes.

        Raises:
            UnknownNameError: there is no such split.
            ConfigurationError: there are fewer than n different questions.

        >>> from adelic.data import drawn_task
        >>> operands, answers = drawn_task("fraction-addition").sample(2, np.random.default_rng(1))
        >>> operands.tolist()
        [[Fraction(-473, 2), Fraction(-511, 8)], [Fraction(-151, 1), Fraction(-475, 2)]]
        >>> answers.tolist()
        [Fraction(-2403, 8), Fraction(-777, 2)]
        """
        if split not in self.splits:
            raise UnknownNameError.of(f"split of {self.name}", split, self.splits, listed="splits")
        draw = self.draws["train" if split == "test" else split]
        known = None if exclude is None else self.keys(exclude)
        refused = None if known is None else RowIndex(known)
        found: list[Operands] = []
        missing, fruitless = n, 0
        while missing:
            # How many are drawn at a time decides which questions come: another number than 256 would give others.
            rows = draw(max(missing, 256), rng)
            keys = self.keys(rows)
            is_new = np.ones(len(rows), np.bool_) if refused is None else refused.find(keys) < 0
            if split == "train":
                # The first of equal examples is found: of each question one stays.
                is_new &= RowIndex(keys).find(keys) == np.arange(len(rows))
                if is_new.any():
                    known = keys[is_new] if known is None else np.concatenate([known, keys[is_new]])
                    refused = RowIndex(known)
            kept = rows[is_new][:missing]
            found.append(kept)
            missing -= len(kept)
            fruitless = 0 if len(kept) else fruitless + len(rows)
            if fruitless >= _FRUITLESS_DRAWS:
                raise ConfigurationError(
                    f"{self.name} has no {n:,} different questions (about {n - missing:,}); choose fewer examples"
                )
        operands = np.concatenate(found) if found else draw(1, rng)[:0]
        answers = self.solve(operands)
        return operands, answers if self.class_names is None else answers.astype(np.int64)

    def check_unseen(self, trained_on: Operands, asked: Operands) -> None:
        """Raise `LeakError` if a question is among those to train on: the guard of drawn tasks.

        Args:
            trained_on: operands (m, arity).
            asked: operands (n, arity).

        >>> from adelic.data import drawn_task
        >>> drawn_task("addition").check_unseen(np.array([[1, 2]]), np.array([[3, 4], [2, 1]]))
        Traceback (most recent call last):
        adelic.errors.LeakError: 1 test question of addition would be trained on: question 1 (2 1) is ...
        """
        found = RowIndex(self.keys(trained_on)).find(self.keys(asked))
        leaks = np.flatnonzero(found >= 0)
        if len(leaks):
            i, count = leaks[0], len(leaks)
            many = f"{count:,} test question{'s' * (count != 1)} of {self.name}"
            which = f"question {i} ({' '.join(map(str, asked[i][:12]))}) is training question {found[i]}"
            raise LeakError(f"{many} would be trained on: {which}")

    def keys(self, operands: Operands) -> NDArray[np.int64]:
        """Return what identifies each question, int64 (n, length): its operands, sorted if their order does not matter.

        >>> from adelic.data import drawn_task
        >>> row = np.array([[2, 1]])
        >>> drawn_task("addition").keys(row), drawn_task("subtraction").keys(row)
        (array([[1, 2]]), array([[2, 1]]))
        """
        rows = np.sort(operands, axis=-1) if self.commutative else operands
        return rows if rows.dtype == np.int64 else _digests(rows)


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _digests(rows: Operands) -> NDArray[np.int64]:
    """Return the SHA-256 of each example of exact numbers of any size, int64 (n, 4).

    >>> from fractions import Fraction
    >>> a, b, c = _digests(np.array([[2**70, 1], [Fraction(2**70), 1], [1, 2**70]], dtype=object)).tolist()
    >>> a == b, a == c
    (True, False)
    """
    texts = (" ".join(f"{x.numerator}/{x.denominator}" for x in row) for row in rows.tolist())
    digests = b"".join(hashlib.sha256(text.encode()).digest() for text in texts)
    return np.frombuffer(digests, dtype=np.int64).reshape(len(rows), 4)


def integers(low: int, high: int, columns: int) -> Draw:
    """Return draws of examples of integers from low to high, both included.

    >>> integers(1, 6, 2)(3, np.random.default_rng(0)).tolist()
    [[6, 4], [4, 2], [2, 1]]
    """
    return lambda n, rng: rng.integers(low, high + 1, (n, columns))
