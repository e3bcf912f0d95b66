"""The calendar: the weekday of a day number, leap years."""

import numpy as np

from adelic.data.drawn import Answers, Operands, SampledTask

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


WEEKDAY = SampledTask(
    name="weekday",
    title="the weekday of a day number, days since 1 January 1970 up to 2024",
    arity=1,
    draws={"train": lambda n, rng: rng.integers(0, _DAYS, (n, 1))},
    solve=lambda X: (X[:, 0] + 3) % 7,
    max_operand=_DAYS - 1,
    max_numerator=6,
    class_names=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    vocabulary=tuple(range(_DAYS)),
)
LEAP_YEAR = SampledTask(
    name="leap-year",
    title="is a year, up to 100,000, a leap year?",
    arity=1,
    draws={"train": _years},
    solve=lambda X: _is_leap(X[:, 0]).astype(np.int64),
    max_operand=_YEARS,
    max_numerator=1,
    class_names=("no", "yes"),
)
