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

One module is one task; `TASKS` has them by name. `load` keeps what it generates in `cache_folder()`; `build` does so
again, `info` says what there is, `verify` counts anew and compares with the published counts, and `verify_orbits` looks
for images that cross over from train.
"""

from adelic.acd import characters, grassmannian, kl, lattice, mheight, quiver, rsk, schubert, weaving
from adelic.acd.auditing import audit
from adelic.acd.catalogue import Check, OrbitCheck, info, verify, verify_orbits
from adelic.acd.dataset import Dataset, build, load
from adelic.acd.exporting import export
from adelic.acd.files import cache_folder
from adelic.acd.protocol import Estimate, Progress, Request, Rows, Task
from adelic.acd.published import Published, load_published
from adelic.acd.registry import TASKS, task
from adelic.acd.store import StoreWarning
from adelic.data import images

__all__ = [
    "TASKS",
    "Check",
    "Dataset",
    "Estimate",
    "OrbitCheck",
    "Progress",
    "Published",
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
