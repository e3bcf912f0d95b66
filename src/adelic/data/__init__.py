"""Tasks, datasets and splits; the guard against leaks; audits and tables.

- `protocol`: tasks with stored examples; `drawn`: tasks whose questions are drawn; `registry`: tasks found
  by entry points, so another package can add one.
- `dataset`: a task's examples in three parts, loaded from the store or generated, and in the forms of other libraries.
- `splits`, `symmetries`, `guard`, `lookup`: parts, equivalent examples and orbits, the guard against leaks, look-up.
- `store`, `catalogue`, `exporting`: files of examples; their counts against published ones; files for other programs.
- `tables`: tables of your own; `sources`: the data of an experiment, a task of some size, a drawn task or a table.
- `auditing`, `rules`, `readings`: simple features of examples and questions, and how far they predict the label.

May import `adelic.errors`, `adelic.storage` and `adelic.numbers`, and knows no task by name. Whatever trains asks
`training_rows` for the examples that it may train on. To add a task, make a `Task` and name it in an entry point, see
`registry`; a kind of file for tables, see `tables.files.READERS`.

>>> from adelic import acd, data
>>> d = acd.load("weaving", n=5, split="orbits")
>>> data.overlap(d, symmetries=True)
{'validation': 0, 'test': 0}
"""

from adelic.data.auditing import audit, audit_drawn
from adelic.data.catalogue import Check, OrbitCheck, info, verify, verify_orbits
from adelic.data.dataset import Dataset, build, load
from adelic.data.drawn import SampledTask
from adelic.data.exporting import export
from adelic.data.guard import Holdout, check_disjoint, overlap, training_rows
from adelic.data.lookup import LookUp, RowIndex
from adelic.data.protocol import Estimate, Progress, Request, Rows, Task
from adelic.data.registry import drawn_task, drawn_tasks, task, tasks
from adelic.data.sources import DrawnData, Source, TableData, TaskData, source
from adelic.data.store import StoreWarning
from adelic.data.symmetries import Integers, Symmetry, images, orbits
from adelic.data.tables import from_arrays, from_table

__all__ = [
    "Check",
    "Dataset",
    "DrawnData",
    "Estimate",
    "Holdout",
    "Integers",
    "LookUp",
    "OrbitCheck",
    "Progress",
    "Request",
    "RowIndex",
    "Rows",
    "SampledTask",
    "Source",
    "StoreWarning",
    "Symmetry",
    "TableData",
    "Task",
    "TaskData",
    "audit",
    "audit_drawn",
    "build",
    "check_disjoint",
    "drawn_task",
    "drawn_tasks",
    "export",
    "from_arrays",
    "from_table",
    "images",
    "info",
    "load",
    "orbits",
    "overlap",
    "source",
    "task",
    "tasks",
    "training_rows",
    "verify",
    "verify_orbits",
]
