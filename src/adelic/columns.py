"""Layer 3, columns: small drawn tasks that ask of number columns what models of tables have to read off them.

- two columns together: a sum and a difference modulo a number, the greatest common divisor;
- size: which is greater, a ratio, the order of magnitude;
- residues and digits of one number: a residue of a long integer, divisibility, a decimal digit;
- the calendar: the weekday of a day number, leap years;
- prices: whether a total is a round amount, how a price ends.

They are the benchmark behind the page "Which features?" (`adelic reproduce columns`): each answer is one of a few
classes, so that every embedding can learn it, and what is asked for is sometimes the size of a number, sometimes a
residue, sometimes its digits in base 10.

To add a task, make a `SampledTask` and name it in `TASKS`. Of adelic, `storage`,
`numbers` and `data` may be imported.

>>> import numpy as np
>>> X, y = TASKS["greater"].sample(2, np.random.default_rng(0))
>>> X.tolist(), y.tolist()
([[850625, 636962], [511137, 269787]], [1, 1])
"""

from collections.abc import Mapping

import numpy as np

from adelic.data.drawn import Answers, Operands, SampledTask, integers

__all__ = ["TASKS"]

# Two columns together
_LIMIT = 1000
"""Operands are from 0, or 1, up to below this, so that a vector for each can be trained."""
_CLOCK = 12
_GREATEST_DIVISOR = 10


def _with_divisor(n: int, rng: np.random.Generator) -> Operands:
    """Return pairs that are multiples of 1 … 11, each as often, so that no class is rare."""
    divisor = rng.integers(1, _GREATEST_DIVISOR + 2, (n, 1))
    return divisor * rng.integers(1, (_LIMIT - 1) // divisor + 1, (n, 2))


# Size
_GREATEST = 10**6
_DIGITS = 12


def _of_any_size(n: int, rng: np.random.Generator) -> Operands:
    """Return numbers from 1 to below 10^12, each number of decimal digits as often."""
    powers = 10 ** rng.integers(0, _DIGITS, (n, 1))
    return rng.integers(powers, 10 * powers)


# Residues and digits of one number
_LONG = 10**12


# The calendar
_DAYS = 20_000
"""Days since 1 January 1970, a Thursday; they reach into 2024."""
_YEARS = 100_000


def _is_leap(years: Operands) -> Answers:
    """Return which years have 366 days in the Gregorian calendar."""
    return np.asarray((years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0)))


def _years(n: int, rng: np.random.Generator) -> Operands:
    """Return years, among which are as many multiples of 100, of 4, and others."""
    step = np.array([100, 4, 1])[rng.integers(0, 3, (n, 1))]
    return step * rng.integers(1, _YEARS // step + 1)


# Prices, in cents
_UNIT = 100
_MOST = 10_000
"""Prices of `round-total` are below this, 100.00, so that a vector for each can be trained."""
_ENDINGS = np.array([0, 50, 95, 99])
_DEAREST = 1_000_000
"""Prices of `price-ending` are below this, so that training does not use up those with one of the endings."""


def _half_round(n: int, rng: np.random.Generator) -> Operands:
    """Return pairs of prices, of which about half have a sum without cents."""
    a, b = rng.integers(0, _MOST, (2, n))
    # −a modulo 100 cents are missing to the next amount without any.
    b = np.where(rng.random(n) < 1 / 2, b // _UNIT * _UNIT + -a % _UNIT, b)
    return np.stack([a, b], axis=1)


def _priced(n: int, rng: np.random.Generator) -> Operands:
    """Return prices of which every ending is as frequent."""
    ending = rng.integers(0, len(_ENDINGS) + 1, n)
    cents = np.where(ending < len(_ENDINGS), _ENDINGS[ending % len(_ENDINGS)], rng.integers(0, _UNIT, n))
    return (_UNIT * rng.integers(0, _DEAREST, n) + cents)[:, None]


def _ending(X: Operands) -> Answers:
    found = X[:, 0, None] % _UNIT == _ENDINGS
    return np.where(found.any(axis=1), found.argmax(axis=1), len(_ENDINGS))


TASKS: Mapping[str, SampledTask] = {
    task.name: task
    for task in (
        SampledTask(
            name="sum-residue",
            title="is (a + b) mod 7 less than 3? a and b below 1,000",
            arity=2,
            draws={"train": integers(0, _LIMIT - 1, 2)},
            solve=lambda X: (X.sum(axis=1) % 7 < 3).astype(np.int64),
            max_operand=_LIMIT - 1,
            commutative=True,
            class_names=("no", "yes"),
            vocabulary=tuple(range(_LIMIT)),
        ),
        SampledTask(
            name="difference-residue",
            title="(a − b) mod 12, the hours on a clock between a and b below 1,000",
            arity=2,
            draws={"train": integers(0, _LIMIT - 1, 2)},
            solve=lambda X: (X[:, 0] - X[:, 1]) % _CLOCK,
            max_operand=_LIMIT - 1,
            max_numerator=_CLOCK - 1,
            vocabulary=tuple(range(_LIMIT)),
        ),
        SampledTask(
            name="gcd-class",
            title="the greatest common divisor of a and b below 1,000: 1 to 10, or greater",
            arity=2,
            draws={"train": _with_divisor},
            solve=lambda X: np.minimum(np.gcd(X[:, 0], X[:, 1]), _GREATEST_DIVISOR + 1) - 1,
            max_operand=_LIMIT - 1,
            commutative=True,
            class_names=(*map(str, range(1, _GREATEST_DIVISOR + 1)), "greater"),
            vocabulary=tuple(range(1, _LIMIT)),
        ),
        SampledTask(
            name="divisibility",
            title="which of 2 and 3 divide n, up to 1,000,000?",
            arity=1,
            draws={"train": integers(1, _GREATEST, 1)},
            solve=lambda X: (X[:, 0] % 2 == 0) + 2 * (X[:, 0] % 3 == 0).astype(np.int64),
            max_operand=_GREATEST,
            class_names=("neither", "2", "3", "both"),
        ),
        SampledTask(
            name="long-residue",
            title="n mod 7, of an integer of 12 digits",
            arity=1,
            draws={"train": integers(_LONG // 10, _LONG - 1, 1)},
            solve=lambda X: X[:, 0] % 7,
            max_operand=_LONG - 1,
            max_numerator=6,
        ),
        SampledTask(
            name="weekday",
            title="the weekday of a day number, days since 1 January 1970 up to 2024",
            arity=1,
            draws={"train": integers(0, _DAYS - 1, 1)},
            solve=lambda X: (X[:, 0] + 3) % 7,
            max_operand=_DAYS - 1,
            class_names=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
            vocabulary=tuple(range(_DAYS)),
        ),
        SampledTask(
            name="leap-year",
            title="is a year, up to 100,000, a leap year?",
            arity=1,
            draws={"train": _years},
            solve=lambda X: _is_leap(X[:, 0]).astype(np.int64),
            max_operand=_YEARS,
            class_names=("no", "yes"),
        ),
        SampledTask(
            name="round-total",
            title="is the sum of two prices below 100.00, in cents, an amount without cents?",
            arity=2,
            draws={"train": _half_round},
            solve=lambda X: (X.sum(axis=1) % _UNIT == 0).astype(np.int64),
            max_operand=_MOST - 1,
            commutative=True,
            class_names=("no", "yes"),
            vocabulary=tuple(range(_MOST)),
        ),
        SampledTask(
            name="price-ending",
            title="does a price below 1,000,000.00, in cents, end in .00, .50, .95, .99, or otherwise?",
            arity=1,
            draws={"train": _priced},
            solve=_ending,
            max_operand=_DEAREST * _UNIT - 1,
            class_names=(".00", ".50", ".95", ".99", "other"),
        ),
        SampledTask(
            name="hundreds",
            title="the hundreds digit of n, up to 1,000,000",
            arity=1,
            draws={"train": integers(1, _GREATEST, 1)},
            solve=lambda X: X[:, 0] // 100 % 10,
            max_operand=_GREATEST,
            max_numerator=9,
        ),
        SampledTask(
            name="greater",
            title="is a > b? both up to 1,000,000",
            arity=2,
            draws={"train": integers(1, _GREATEST, 2)},
            solve=lambda X: (X[:, 0] > X[:, 1]).astype(np.int64),
            max_operand=_GREATEST,
            class_names=("no", "yes"),
        ),
        SampledTask(
            name="ratio",
            title="is a/b less than 2/3, from there on at most 3/2, or greater? both up to 1,000,000",
            arity=2,
            draws={"train": integers(1, _GREATEST, 2)},
            solve=lambda X: (3 * X[:, 0] >= 2 * X[:, 1]).astype(np.int64) + (2 * X[:, 0] > 3 * X[:, 1]),
            max_operand=_GREATEST,
            class_names=("less", "between", "greater"),
        ),
        SampledTask(
            name="magnitude",
            title="how many decimal digits has n, below 10^12?",
            arity=1,
            draws={"train": _of_any_size},
            solve=lambda X: np.searchsorted(10 ** np.arange(1, _DIGITS), X[:, 0], "right"),
            max_operand=10**_DIGITS - 1,
            class_names=tuple(map(str, range(1, _DIGITS + 1))),
        ),
    )
}
"""All tasks of this package by name, in the order of the benchmark's table."""
