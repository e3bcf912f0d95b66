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

One folder or file is one task, and `TASKS` has them by name; nothing else knows their names. To add one, make a module
with a `TASK` (see `adelic.data.Task`), name it below, and put what is to be said of it, and its published counts, into
`facts`. Several tasks share `permutations`, which also reads what callers give; `published` reads the files of the data
set's authors, and `authors_layout` writes them for their loader. What a task, a dataset, a split and a store are is in
`adelic.data`; `load` and what stands beside it here are its functions.

May import `adelic.errors`, `adelic.storage`, `adelic.numbers` and `adelic.data`.
"""

from dataclasses import replace
from types import MappingProxyType

from adelic.acd import characters, grassmannian, kl, lattice, mheight, quiver, rsk, schubert, weaving
from adelic.acd.authors_layout import layout
from adelic.acd.published import load_published
from adelic.data import audit, build, export, images, info, load, task, verify, verify_orbits

TASKS = MappingProxyType(
    {
        module.TASK.name: replace(module.TASK, formats={"acd": layout})
        for module in (characters, grassmannian, kl, lattice, mheight, quiver, rsk, schubert, weaving)
    }
)
"""The nine tasks by their names."""

__all__ = [
    "TASKS",
    "audit",
    "build",
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
