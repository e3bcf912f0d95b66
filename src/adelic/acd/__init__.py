"""The Algebraic Combinatorics Dataset (ACD, arXiv:2503.06366), generated offline from its mathematical definitions.

>>> import tempfile
>>> from adelic import acd
>>> with tempfile.TemporaryDirectory() as folder:
...     d = acd.load("mheight", n=8, edition="published", seed=0, cache=folder)
>>> d.X_test.shape, d.y_test.shape, d.class_names, d.vocabulary
((1828, 8), (1828,), ('0', '1', '2', '3', '4'), (0, 1, 2, 3, 4, 5, 6, 7))
>>> acd.schubert.schubert_structure_constant([2, 1, 3], [1, 3, 2], [2, 3, 1])
1
>>> acd.weaving.is_weaving_pattern([[1, 2], [1, 3], [2, 3]])
True
>>> acd.mheight.mheight([3, 4, 1, 2])
0

One folder is one task; `TASKS` has them by name, and nothing else knows their names: to add one, make a folder whose
`__init__` has a `TASK` (see `adelic.data.Task`). Several tasks share `permutations` and `integers`, which read what
callers give; `published` reads and writes the files of the data set's authors. What a task, a data set, a split and a
store are is in `adelic.data`; `load` and what stands beside it here are its functions.

May import `adelic.errors`, `adelic.storage`, `adelic.numbers` and `adelic.data`.
"""

import sys

from adelic.acd import characters, grassmannian, kl, lattice, mheight, quiver, rsk, schubert, weaving
from adelic.acd.published import load_published
from adelic.acd.published.authors_layout import FORMAT
from adelic.data import (
    Check,
    Dataset,
    Estimate,
    OrbitCheck,
    Progress,
    Request,
    Rows,
    StoreWarning,
    Task,
    audit,
    build,
    export,
    images,
    info,
    load,
    task,
    tasks_of,
    verify,
    verify_orbits,
)
from adelic.storage.files import cache_folder

TASKS = tasks_of(sys.modules[__name__], formats={"acd": FORMAT})
"""The nine tasks by their names."""

__all__ = [
    "TASKS",
    "Check",
    "Dataset",
    "Estimate",
    "OrbitCheck",
    "Progress",
    "Request",
    "Rows",
    "StoreWarning",
    "Task",
    "audit",
    "build",
    "cache_folder",
    "characters",
    "export",
    "grassmannian",
    "images",
    "info",
    "kl",
    "lattice",
    "load",
    "load_published",
    "mheight",
    "quiver",
    "rsk",
    "schubert",
    "task",
    "verify",
    "verify_orbits",
    "weaving",
]
