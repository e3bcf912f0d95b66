"""The tasks by name."""

from collections.abc import Mapping
from types import MappingProxyType

from adelic.acd import characters, grassmannian, kl, lattice, mheight, quiver, rsk, schubert, weaving
from adelic.acd.protocol import Task
from adelic.errors import UnknownNameError

TASKS: Mapping[str, Task] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            characters.TASK,
            grassmannian.TASK,
            kl.TASK,
            lattice.TASK,
            mheight.TASK,
            quiver.TASK,
            rsk.TASK,
            schubert.TASK,
            weaving.TASK,
        )
    }
)
"""The nine tasks by their names."""


def task(name: str) -> Task:
    """Return the task of this name; UnknownNameError, with the nearest name, where there is none.

    >>> task("weaving").title
    'is this n × (n-1) matrix a weaving pattern?'
    >>> task("wevaing")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown task 'wevaing'; did you mean 'weaving'? tasks: ...
    """
    if isinstance(name, str) and name in TASKS:
        return TASKS[name]
    raise UnknownNameError.of("task", name, TASKS)
