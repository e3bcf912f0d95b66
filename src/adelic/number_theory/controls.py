"""Controls: tasks that ask what the places do not show, size, order and digits in base 10; no place should help.

And mixed tasks, whose answers need size and residues: a maximum, a distance, a sum up to a bound, a rounded number, an
integer part. They have splits of longer numbers, of numbers near the case where the rule changes, or both.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from adelic.data.drawn import MOST_CLASSES, Operands, SampledTask, Variants, integers
from adelic.errors import ConfigurationError
from adelic.number_theory.drawing import answers_with
from adelic.numbers.rationals import objects
from adelic.storage.options import option

_NOISE = 200
_UNIT = 1000
_ROWS = 5
_LONGER = 1000
"""How much larger the numbers of the split "longer" are."""
_CLOSE = 100
"""Greatest distance of the split "close" from where the rule changes."""


class _Sized(Variants):
    """Options of a control, and what it asks; its splits, "longer" and "close", need answers too many for classes.

    In `what`, the title, stand the options, and {limit} for the greatest number; `near` says what is close.
    """

    limit: int = option(10**6, help="Greatest operand.", least=100, greatest=10**12)

    name: ClassVar[str]
    what: ClassVar[str]
    near: ClassVar[str] = f"at most {_CLOSE} apart"
    arity: ClassVar[int] = 1
    commutative: ClassVar[bool] = False
    splits: ClassVar[tuple[str, ...]] = ()
    class_names: ClassVar[tuple[str, ...] | None] = None

    @abstractmethod
    def answers(self, X: Operands) -> Any:
        """Return the answers to questions, (n,), in NumPy's integers."""

    def greatest(self, limit: int) -> int:
        """Return the greatest answer to operands up to a limit."""
        return limit

    def train(self, n: int, rng: np.random.Generator) -> Operands:
        """Draw examples of numbers."""
        return rng.integers(1, self.limit + 1, (n, self.arity))

    def close(self, n: int, rng: np.random.Generator) -> Operands:
        """Draw pairs of numbers that are at most 100 apart."""
        first = rng.integers(1, self.limit + 1, (n, 1))
        return np.hstack([first, (first + rng.integers(-_CLOSE, _CLOSE + 1, (n, 1))).clip(1, self.limit)])

    def task(self) -> SampledTask:
        """Return the task."""
        further, splits = _LONGER * self.limit, () if self.limit < MOST_CLASSES else self.splits
        title, longer = (self.what.format(**vars(self) | {"limit": f"{most:,}"}) for most in (self.limit, further))
        draws = {"longer": integers(self.limit + 1, further, self.arity), "close": self.close}
        titles = {"longer": longer, "close": f"{title}, {self.near}"}
        most = further if "longer" in splits else self.limit
        is_class = self.class_names is not None or self.greatest(most) < MOST_CLASSES
        return SampledTask(
            name=self.name,
            title=title,
            arity=self.arity,
            draws={"train": self.train} | {split: draws[split] for split in splits},
            never_seen_titles={split: titles[split] for split in splits},
            solve=answers_with(self.answers) if is_class else lambda X: objects(self.answers(X).tolist()),
            max_operand=most,
            max_numerator=0 if self.class_names else self.greatest(most),
            commutative=self.commutative,
            class_names=self.class_names,
            variants=type(self),
        )


class _Large(_Sized):
    """Options of a mixed task, whose answers are too many for classes."""

    limit: int = option(10**6, help="Greatest operand.", least=MOST_CLASSES, greatest=10**12)


class Maximum(_Sized):
    """Options of the task `maximum`: the greater of two numbers.

    Where it is not a class, it is asked of longer numbers and of close ones, too.

    >>> X, y = Maximum(limit=100).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[86, 64], [52, 27]], [86, 52])
    """

    name, what, splits = "maximum", "the greater of a and b, up to {limit}", ("longer", "close")
    arity, commutative = 2, True

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return X.max(axis=1)


class Sorting(_Sized):
    """Options of the task `sorting`: the place of the first of five numbers in ascending order.

    >>> X, y = Sorting(limit=100).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[86, 64, 52, 27, 31], [5, 8, 2, 18, 82]], [4, 1])
    """

    name, what = "sorting", f"the rank of the first of {_ROWS} numbers up to {{limit}}"
    arity, class_names = _ROWS, tuple(map(str, range(1, _ROWS + 1)))

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return (X[:, 1:] < X[:, :1]).sum(axis=1)


class FloorQuotient(_Sized):
    """Options of the task `floor-quotient`: the integer part of a/b.

    b is at most the square root of the limit, so quotients are large.

    >>> X, y = FloorQuotient(limit=10_000).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[8507, 64], [5112, 27]], [132, 189])
    """

    name, what, arity = "floor-quotient", "the integer part of a/b, a up to {limit}", 2

    def train(self, n: int, rng: np.random.Generator) -> Operands:
        """Draw pairs."""
        return rng.integers(1, np.array([self.limit, int(self.limit**0.5)]) + 1, (n, 2))

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return X[:, 0] // X[:, 1]


class DecimalDigit(_Sized):
    """Options of the task `decimal-digit`: a digit of n in base 10.

    >>> X, y = DecimalDigit(limit=1000, place=1).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([851, 637, 512], [5, 3, 1])
    """

    place: int = option(3, help="Which digit: 0 for the last one.", least=0, greatest=11)
    name, what = "decimal-digit", "the digit of 10^{place} of n, up to {limit}"

    def __post_init__(self) -> None:
        """Check that numbers have such a digit."""
        super().__post_init__()
        if 10**self.place > self.limit:
            raise ConfigurationError(f"place={self.place} is beyond the digits of limit={self.limit}")

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return X[:, 0] // 10**self.place % 10

    def greatest(self, limit: int) -> int:
        """Return the greatest answer."""
        return 9


class Residue(_Sized):
    """Options of the task `residue`: n modulo m, where m is to be no place of the space.

    >>> X, y = Residue(limit=1000).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([851, 637, 512], [75, 55, 27])
    """

    modulus: int = option(97, help="The modulus m.", least=2, greatest=1000)
    name, what = "residue", "n, up to {limit}, modulo {modulus}"

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return X[:, 0] % self.modulus

    def greatest(self, limit: int) -> int:
        """Return the greatest answer."""
        return self.modulus - 1


class NoisySum(_Sized):
    """Options of the task `noisy-sum`: a sum of two measured values, in thousandths with noise in the last digits.

    The noise is uniform from −200 to 200, so the sum, rounded to thousands, is that of the true values; the
    residues of the operands are noise.

    >>> X, y = NoisySum(limit=100).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[85805, 64151], [52188, 26834]], [150, 79])
    """

    name, what = "noisy-sum", "the sum of two values up to {limit}, known to about a fifth"
    arity, commutative = 2, True

    def train(self, n: int, rng: np.random.Generator) -> Operands:
        """Draw pairs of thousandths."""
        return _UNIT * super().train(n, rng) + rng.integers(-_NOISE, _NOISE + 1, (n, 2))

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return (X.sum(axis=1) + _UNIT // 2) // _UNIT

    def greatest(self, limit: int) -> int:
        """Return the greatest answer."""
        return 2 * limit

    def task(self) -> SampledTask:
        """Return the task, whose operands are thousandths."""
        return replace(super().task(), max_operand=_UNIT * self.limit + _NOISE)


CONTROLS = (Maximum, Sorting, FloorQuotient, DecimalDigit, Residue, NoisySum)
"""Of sizes, of digits and of noise alone."""


class Distance(_Large):
    """Options of the task `distance`: how far two numbers are apart.

    >>> X, y = Distance(limit=1000).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[851, 637], [512, 270]], [214, 242])
    """

    name, what, splits = "distance", "|a − b|, up to {limit}", ("longer", "close")
    arity, commutative = 2, True

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return np.abs(X[:, 0] - X[:, 1])

    def task(self) -> SampledTask:
        """Return the task."""
        return replace(super().task(), title=f"|a − b|, a and b up to {self.limit:,}")


class ClippedSum(_Large):
    """Options of the task `clipped-sum`: a + b, or the limit where the sum is greater.

    >>> X, y = ClippedSum(limit=1000).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[851, 637], [512, 270]], [1000, 782])
    """

    name, what, splits, near = "clipped-sum", "a + b, at most {limit}", ("close",), "with a sum that is near this"
    arity, commutative = 2, True

    def close(self, n: int, rng: np.random.Generator) -> Operands:
        """Draw pairs whose sum is near the limit."""
        a = rng.integers(1, self.limit + 1, (n, 1))
        return np.hstack([a, (self.limit - a + rng.integers(-_CLOSE, _CLOSE + 1, (n, 1))).clip(1, self.limit)])

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return X.sum(axis=1).clip(max=self.limit)


class Rounding(_Large):
    """Options of the task `rounding`: the nearest multiple of a unit, the greater one of two that are as near.

    >>> X, y = Rounding(limit=1000).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([851, 637, 512], [850, 640, 510])
    """

    unit: int = option(10, help="What is rounded to.", least=2, greatest=100)
    name, what, splits = "rounding", "n, up to {limit}, rounded to a multiple of {unit}", ("longer",)

    def answers(self, X: Operands) -> Any:
        """Return ⌊n/unit + 1/2⌋ in integers, of odd units, too."""
        return (2 * X[:, 0] + self.unit) // (2 * self.unit) * self.unit

    def greatest(self, limit: int) -> int:
        """Return the greatest answer."""
        return limit + self.unit


class IntegerPart(_Large):
    """Options of the task `integer-part`: the integer part of n/d, the divisor d being the same for all n.

    >>> X, y = IntegerPart(limit=100_000).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([85063, 63697, 51114], [12151, 9099, 7302])
    """

    divisor: int = option(7, help="What is divided by.", least=2, greatest=100)
    name, what, splits = "integer-part", "the integer part of n/{divisor}, n up to {limit}", ("longer",)

    def answers(self, X: Operands) -> Any:
        """Return the answers."""
        return X[:, 0] // self.divisor

    def greatest(self, limit: int) -> int:
        """Return the greatest answer."""
        return limit // self.divisor


MIXED = (Distance, ClippedSum, Rounding, IntegerPart)
"""Of sizes and residues together."""
