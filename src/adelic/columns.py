"""Layer 3, columns: small drawn tasks about number columns, with questions that models of tables have to answer.

- two columns together: a sum and a difference modulo a number, the greatest common divisor;
- size: which is greater, a ratio, the order of magnitude;
- residues and digits of one number: a residue of a long integer, divisibility, a decimal digit;
- the calendar: the weekday of a day number, leap years;
- prices: whether a total is a round amount, how a price ends.

They are the benchmark of the page "Which features?" (`adelic reproduce columns`): each answer is one of a few
classes, so every embedding can learn it, and the answer depends on the size of a number, a residue, or its
digits in base 10.

To add a task, write the function that answers its questions, with the question above. Of adelic, `storage`, `numbers`
and `data` may be imported.

>>> import numpy as np
>>> X, y = TASKS["greater"].sample(2, np.random.default_rng(0))
>>> X.tolist(), y.tolist()
([[850625, 636962], [511137, 269787]], [1, 1])
"""

from collections.abc import Callable, Iterable

import numpy as np

from adelic.data.drawn import Answers, Draw, Operands, SampledTask, integers

__all__ = ["TASKS"]

TASKS: dict[str, SampledTask] = {}
"""The tasks by name."""
_EACH = 20_000
"""Of as many operands at most each has a trained vector."""
_NO_YES = ("no", "yes")
Solve = Callable[..., Operands]


def _asks(
    title: str, operands: range, classes: Iterable[object], *, draw: Draw | None = None, commutative: bool = False
) -> Callable[[Solve], Solve]:
    """Make a task of the function below, of one or two columns of operands, which gives the index of the class.

    Its name is the task's. Without a `draw`, all questions are equally likely.
    """

    def named(solve: Solve) -> Solve:
        name, arity = solve.__name__.strip("_").replace("_", "-"), solve.__code__.co_argcount
        TASKS[name] = SampledTask(
            name=name,
            title=title,
            arity=arity,
            draws={"train": draw or integers(operands[0], operands[-1], arity)},
            solve=lambda X: solve(*X.T).astype(np.int64),
            max_operand=operands[-1],
            commutative=commutative,
            class_names=tuple(map(str, classes)),
            vocabulary=tuple(operands) if len(operands) <= _EACH else None,
        )
        return solve

    return named


# Two columns together
_BELOW_1000 = range(1000)
_CLOCK = 12
_GREATEST_DIVISOR = 10


def _with_divisor(n: int, rng: np.random.Generator) -> Operands:
    """Return pairs that are multiples of 1 … 11, each as often, so no class is rare."""
    divisor = rng.integers(1, _GREATEST_DIVISOR + 2, (n, 1))
    return divisor * rng.integers(1, _BELOW_1000[-1] // divisor + 1, (n, 2))


@_asks("is (a + b) mod 7 less than 3? a and b below 1,000", _BELOW_1000, _NO_YES, commutative=True)
def _sum_residue(a: Operands, b: Operands) -> Answers:
    return (a + b) % 7 < 3


@_asks("(a − b) mod 12, the hours on a clock between a and b below 1,000", _BELOW_1000, range(_CLOCK))
def _difference_residue(a: Operands, b: Operands) -> Answers:
    return (a - b) % _CLOCK


@_asks(
    "the greatest common divisor of a and b below 1,000: 1 to 10, or greater",
    _BELOW_1000[1:],
    (*range(1, _GREATEST_DIVISOR + 1), "greater"),
    draw=_with_divisor,
    commutative=True,
)
def _gcd_class(a: Operands, b: Operands) -> Answers:
    return np.minimum(np.gcd(a, b), _GREATEST_DIVISOR + 1) - 1


# Residues of one number
_UP_TO_A_MILLION = range(1, 10**6 + 1)


@_asks("which of 2 and 3 divide n, up to 1,000,000?", _UP_TO_A_MILLION, ("neither", "2", "3", "both"))
def _divisibility(n: Operands) -> Answers:
    return np.asarray((n % 2 == 0) + 2 * (n % 3 == 0))


@_asks("n mod 7, of an integer of 12 digits", range(10**11, 10**12), range(7))
def _long_residue(n: Operands) -> Answers:
    return n % 7


# The calendar
_DAYS = range(20_000)
"""Days since 1 January 1970, a Thursday; they reach into 2024."""
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_YEARS = range(1, 100_001)


def _years(n: int, rng: np.random.Generator) -> Operands:
    """Return years, among which are as many multiples of 100, of 4, and others."""
    step = np.array([100, 4, 1])[rng.integers(0, 3, (n, 1))]
    return step * rng.integers(1, _YEARS[-1] // step + 1)


@_asks("the weekday of a day number, days since 1 January 1970 up to 2024", _DAYS, _WEEKDAYS)
def _weekday(n: Operands) -> Answers:
    return (n + 3) % 7


@_asks("is a year, up to 100,000, a leap year?", _YEARS, _NO_YES, draw=_years)
def _leap_year(year: Operands) -> Answers:
    return np.asarray((year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0)))  # in the Gregorian calendar


# Prices, in cents
_UNIT = 100
_CHEAP = range(10_000)
"""Prices below 100.00, so a vector for each can be trained."""
_PRICES = range(1_000_000 * _UNIT)
"""So many that training does not use up those with one of the endings."""
_ENDINGS = np.array([0, 50, 95, 99])


def _half_round(n: int, rng: np.random.Generator) -> Operands:
    """Return pairs of prices, of which about half have a sum without cents."""
    a, b = rng.integers(0, len(_CHEAP), (2, n))
    # −a modulo 100 cents are missing to the next amount without any.
    b = np.where(rng.random(n) < 1 / 2, b // _UNIT * _UNIT + -a % _UNIT, b)
    return np.stack([a, b], axis=1)


def _priced(n: int, rng: np.random.Generator) -> Operands:
    """Return prices of which every ending is as frequent."""
    ending = rng.integers(0, len(_ENDINGS) + 1, n)
    cents = np.where(ending < len(_ENDINGS), _ENDINGS[ending % len(_ENDINGS)], rng.integers(0, _UNIT, n))
    return (_UNIT * rng.integers(0, len(_PRICES) // _UNIT, n) + cents)[:, None]


@_asks(
    "is the sum of two prices below 100.00, in cents, an amount without cents?",
    _CHEAP,
    _NO_YES,
    draw=_half_round,
    commutative=True,
)
def _round_total(a: Operands, b: Operands) -> Answers:
    return np.asarray((a + b) % _UNIT == 0)


@_asks(
    "does a price below 1,000,000.00, in cents, end in .00, .50, .95, .99, or otherwise?",
    _PRICES,
    (".00", ".50", ".95", ".99", "other"),
    draw=_priced,
)
def _price_ending(price: Operands) -> Answers:
    found = price[:, None] % _UNIT == _ENDINGS
    return np.where(found.any(axis=1), found.argmax(axis=1), len(_ENDINGS))


# Digits and sizes
_DIGITS = 12


def _of_any_size(n: int, rng: np.random.Generator) -> Operands:
    """Return numbers from 1 to below 10^12, each number of decimal digits as often."""
    powers = 10 ** rng.integers(0, _DIGITS, (n, 1))
    return rng.integers(powers, 10 * powers)


@_asks("the hundreds digit of n, up to 1,000,000", _UP_TO_A_MILLION, range(10))
def _hundreds(n: Operands) -> Answers:
    return n // 100 % 10


@_asks("is a > b? both up to 1,000,000", _UP_TO_A_MILLION, _NO_YES)
def _greater(a: Operands, b: Operands) -> Answers:
    return a > b


@_asks(
    "is a/b less than 2/3, from there on at most 3/2, or greater? both up to 1,000,000",
    _UP_TO_A_MILLION,
    ("less", "between", "greater"),
)
def _ratio(a: Operands, b: Operands) -> Answers:
    return (3 * a >= 2 * b).astype(np.int64) + (2 * a > 3 * b)


@_asks("how many decimal digits has n, below 10^12?", range(1, 10**_DIGITS), range(1, _DIGITS + 1), draw=_of_any_size)
def _magnitude(n: Operands) -> Answers:
    return np.searchsorted(10 ** np.arange(1, _DIGITS), n, "right")
