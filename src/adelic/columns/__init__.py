"""Layer 3, columns: small drawn tasks that ask of number columns what models of tables have to read off them.

- `sums`: a sum and a difference modulo a number, the greatest common divisor.
- `sizes`: which is greater, a ratio, the order of magnitude.
- `residues`: a residue of a long integer, divisibility, a decimal digit.
- `dates`: the weekday of a day number, leap years.
- `prices`: whether a total is a round amount, how a price ends.

They are the benchmark behind the page "Which features?" (`adelic reproduce columns`): each answer is one of a few
classes, so that every embedding can learn it, and what is asked for is sometimes the size of a number, sometimes a
residue, sometimes its digits in base 10.

To add a task, put a `SampledTask` into one of the modules, or one more, and name it below. Of adelic, `storage`,
`numbers` and `data` may be imported.

>>> import numpy as np
>>> X, y = TASKS["greater"].sample(2, np.random.default_rng(0))
>>> X.tolist(), y.tolist()
([[850625, 636962], [511137, 269787]], [1, 1])
"""

from collections.abc import Mapping

from adelic.columns.dates import LEAP_YEAR, WEEKDAY
from adelic.columns.prices import PRICE_ENDING, ROUND_TOTAL
from adelic.columns.residues import DIVISIBILITY, HUNDREDS, LONG_RESIDUE
from adelic.columns.sizes import GREATER, MAGNITUDE, RATIO
from adelic.columns.sums import DIFFERENCE_RESIDUE, GCD_CLASS, SUM_RESIDUE
from adelic.data.drawn import SampledTask

__all__ = ["TASKS"]

TASKS: Mapping[str, SampledTask] = {
    task.name: task
    for task in (
        SUM_RESIDUE,
        DIFFERENCE_RESIDUE,
        GCD_CLASS,
        DIVISIBILITY,
        LONG_RESIDUE,
        WEEKDAY,
        LEAP_YEAR,
        ROUND_TOTAL,
        PRICE_ENDING,
        HUNDREDS,
        GREATER,
        RATIO,
        MAGNITUDE,
    )
}
"""All tasks of this package by name, in the order of the benchmark's table."""
