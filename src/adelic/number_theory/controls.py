"""Controls: tasks that ask what the places do not show, size, order and digits in base 10; no place should help.

And mixed tasks, whose answers need size and residues: a maximum, a distance, a sum up to a bound, a rounded number, an
integer part. They have splits of longer numbers, of numbers near the case where the rule changes, or both.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from adelic.data.drawn import MOST_CLASSES, Answers, Draw, Operands, SampledTask, Variants, integers
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
    """Options of a control."""

    limit: int = option(10**6, help="Greatest operand.", least=100, greatest=10**12)

    def _task(
        self,
        name: str,
        what: str,
        arity: int,
        solve: Callable[[Operands], Answers],
        splits: tuple[str, ...] = (),
        **more: Any,
    ) -> SampledTask:
        """Return a task about numbers up to the limit, unless more is said of what is drawn.

        In `what`, the title, {} stands for the greatest number; of the splits "longer" and "close" it has those named.
        """
        further = _LONGER * self.limit
        never_seen: dict[str, tuple[Draw, str]] = {
            "longer": (integers(self.limit + 1, further, arity), what.format(f"{further:,}")),
            "close": (self.close, f"{what.format(f'{self.limit:,}')}, at most {_CLOSE} apart"),
        }
        about: dict[str, Any] = {
            "title": what.format(f"{self.limit:,}"),
            "draws": {"train": self.rows(arity)} | {split: never_seen[split][0] for split in splits},
            "never_seen_titles": {split: never_seen[split][1] for split in splits},
            "max_operand": further if "longer" in splits else self.limit,
            **more,
        }
        return SampledTask(name=name, arity=arity, solve=solve, variants=type(self), **about)

    def rows(self, columns: int) -> Draw:
        """Return draws of rows of numbers."""
        return integers(1, self.limit, columns)

    def close(self, n: int, rng: np.random.Generator) -> Operands:
        """Return draws of two numbers that are at most 100 apart."""
        first = self.rows(1)(n, rng)
        return np.hstack([first, (first + rng.integers(-_CLOSE, _CLOSE + 1, (n, 1))).clip(1, self.limit)])


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

    def task(self) -> SampledTask:
        """Return the task."""
        is_class = self.limit < MOST_CLASSES
        return self._task(
            "maximum",
            "the greater of a and b, up to {}",
            2,
            lambda X: objects(X.max(axis=1).tolist()),
            splits=() if is_class else ("longer", "close"),
            max_numerator=self.limit if is_class else _LONGER * self.limit,
            commutative=True,
        )


class Distance(_Large):
    """Options of the task `distance`: how far two numbers are apart.

    >>> X, y = Distance(limit=1000).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[851, 637], [512, 270]], [214, 242])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        return self._task(
            "distance",
            "|a − b|, up to {}",
            2,
            lambda X: objects(np.abs(X[:, 0] - X[:, 1]).tolist()),
            splits=("longer", "close"),
            title=f"|a − b|, a and b up to {self.limit:,}",
            max_numerator=_LONGER * self.limit,
            commutative=True,
        )


class ClippedSum(_Large):
    """Options of the task `clipped-sum`: a + b, or the limit where the sum is greater.

    >>> X, y = ClippedSum(limit=1000).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[851, 637], [512, 270]], [1000, 782])
    """

    def task(self) -> SampledTask:
        """Return the task."""

        def close(n: int, rng: np.random.Generator) -> Operands:
            a = self.rows(1)(n, rng)
            b = self.limit - a + rng.integers(-_CLOSE, _CLOSE + 1, (n, 1))
            return np.hstack([a, b.clip(1, self.limit)])

        return self._task(
            "clipped-sum",
            "a + b, at most {}",
            2,
            lambda X: objects(X.sum(axis=1).clip(max=self.limit).tolist()),
            never_seen_titles={"close": f"a + b, at most {self.limit:,}, with a sum that is near this"},
            draws={"train": self.rows(2), "close": close},
            max_numerator=self.limit,
            commutative=True,
        )


class Rounding(_Large):
    """Options of the task `rounding`: the nearest multiple of a unit, the greater one of two that are as near.

    >>> X, y = Rounding(limit=1000).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([851, 637, 512], [850, 640, 510])
    """

    unit: int = option(10, help="What is rounded to.", least=2, greatest=100)

    def task(self) -> SampledTask:
        """Return the task."""
        return self._task(
            "rounding",
            f"n, up to {{}}, rounded to a multiple of {self.unit}",
            1,
            # ⌊n/unit + 1/2⌋ in integers, of odd units, too.
            lambda X: objects(((2 * X[:, 0] + self.unit) // (2 * self.unit) * self.unit).tolist()),
            splits=("longer",),
            max_numerator=_LONGER * self.limit + self.unit,
        )


class IntegerPart(_Large):
    """Options of the task `integer-part`: the integer part of n/d, the divisor d being the same for all n.

    >>> X, y = IntegerPart(limit=100_000).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([85063, 63697, 51114], [12151, 9099, 7302])
    """

    divisor: int = option(7, help="What is divided by.", least=2, greatest=100)

    def task(self) -> SampledTask:
        """Return the task."""
        return self._task(
            "integer-part",
            f"the integer part of n/{self.divisor}, n up to {{}}",
            1,
            lambda X: objects((X[:, 0] // self.divisor).tolist()),
            splits=("longer",),
            max_numerator=_LONGER * self.limit // self.divisor,
        )


class Sorting(_Sized):
    """Options of the task `sorting`: the place of the first of five numbers in ascending order.

    >>> X, y = Sorting(limit=100).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[86, 64, 52, 27, 31], [5, 8, 2, 18, 82]], [4, 1])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        return self._task(
            "sorting",
            f"the rank of the first of {_ROWS} numbers up to {{}}",
            _ROWS,
            answers_with(lambda X: (X[:, 1:] < X[:, :1]).sum(axis=1)),
            class_names=tuple(map(str, range(1, _ROWS + 1))),
        )


class FloorQuotient(_Sized):
    """Options of the task `floor-quotient`: the integer part of a/b.

    b is at most the square root of the limit, so that quotients are large.

    >>> X, y = FloorQuotient(limit=10_000).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[8507, 64], [5112, 27]], [132, 189])
    """

    def task(self) -> SampledTask:
        """Return the task."""

        def draw(n: int, rng: np.random.Generator) -> Operands:
            return rng.integers(1, np.array([self.limit, int(self.limit**0.5)]) + 1, (n, 2))

        return self._task(
            "floor-quotient",
            "the integer part of a/b, a up to {}",
            2,
            lambda X: objects((X[:, 0] // X[:, 1]).tolist()),
            draws={"train": draw},
            max_numerator=self.limit,
        )


class DecimalDigit(_Sized):
    """Options of the task `decimal-digit`: a digit of n in base 10.

    >>> X, y = DecimalDigit(limit=1000, place=1).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([851, 637, 512], [5, 3, 1])
    """

    place: int = option(3, help="Which digit: 0 for the last one.", least=0, greatest=11)

    def task(self) -> SampledTask:
        """Return the task."""
        if 10**self.place > self.limit:
            raise ConfigurationError(f"place={self.place} is beyond the digits of limit={self.limit}")
        return self._task(
            "decimal-digit",
            f"the digit of 10^{self.place} of n, up to {{}}",
            1,
            answers_with(lambda X: X[:, 0] // 10**self.place % 10),
            max_numerator=9,
        )


class Residue(_Sized):
    """Options of the task `residue`: n modulo m, where m is to be no place of the space.

    >>> X, y = Residue(limit=1000).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([851, 637, 512], [75, 55, 27])
    """

    modulus: int = option(97, help="The modulus m.", least=2, greatest=1000)

    def task(self) -> SampledTask:
        """Return the task."""
        return self._task(
            "residue",
            f"n, up to {{}}, modulo {self.modulus}",
            1,
            answers_with(lambda X: X[:, 0] % self.modulus),
            max_numerator=self.modulus - 1,
        )


class NoisySum(_Sized):
    """Options of the task `noisy-sum`: a sum of two measured values, in thousandths with noise in the last digits.

    The noise is uniform from −200 to 200, so that the sum, rounded to thousands, is that of the true values; the
    residues of the operands are noise.

    >>> X, y = NoisySum(limit=100).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[85805, 64151], [52188, 26834]], [150, 79])
    """

    def task(self) -> SampledTask:
        """Return the task."""

        def draw(n: int, rng: np.random.Generator) -> Operands:
            return _UNIT * self.rows(2)(n, rng) + rng.integers(-_NOISE, _NOISE + 1, (n, 2))

        return self._task(
            "noisy-sum",
            "the sum of two values up to {}, known to about a fifth",
            2,
            lambda X: objects(((X.sum(axis=1) + _UNIT // 2) // _UNIT).tolist()),
            draws={"train": draw},
            max_operand=_UNIT * self.limit + _NOISE,
            max_numerator=2 * self.limit,
            commutative=True,
        )


CONTROLS = (Maximum, Sorting, FloorQuotient, DecimalDigit, Residue, NoisySum)
"""Of sizes, of digits and of noise alone."""
MIXED = (Distance, ClippedSum, Rounding, IntegerPart)
"""Of sizes and residues together."""
