"""What holds for the rows of every task: equivalent rows, orbits, look-up, and the guard against leaks.

The package knows rows and no task: it imports `adelic.numbers` and `adelic.errors` alone. Tasks (`adelic.acd`) hand
their symmetries to it, and whatever trains asks `training_rows` for the rows that it may train on.

>>> from adelic import acd, data
>>> d = acd.load("weaving", n=5, split="orbits")
>>> data.overlap(d, symmetries=True)
{'validation': 0, 'test': 0}
"""

from adelic.data.guard import Holdout, check_disjoint, overlap, training_rows
from adelic.data.lookup import LookUp, RowIndex
from adelic.data.symmetries import Integers, Symmetry, images, orbits

__all__ = [
    "Holdout",
    "Integers",
    "LookUp",
    "RowIndex",
    "Symmetry",
    "check_disjoint",
    "images",
    "orbits",
    "overlap",
    "training_rows",
]
