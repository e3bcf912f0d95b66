"""Layer 3, number theory: tasks that are drawn from their definitions, with exact answers.

`arithmetic` has sums, products, quotients and what belongs to them. To add a task, build a `DrawnTask` in a module here
and have `TASKS` contain it. Of adelic, `storage`, `numbers` and `data` may be imported.
"""

from collections.abc import Mapping

from adelic.data.drawn import DrawnTask
from adelic.errors import UnknownNameError
from adelic.number_theory.arithmetic import ARITHMETIC

__all__ = ["TASKS", "task"]

TASKS: Mapping[str, DrawnTask] = {**ARITHMETIC}
"""All tasks of this package by name."""


def task(name: str) -> DrawnTask:
    """Return the task of this name.

    Raises:
        UnknownNameError: no task has this name; the nearest one is suggested.

    >>> task("product").title
    'product of 2 to 5 factors below 100'
    """
    if name not in TASKS:
        raise UnknownNameError.of("task", name, TASKS)
    return TASKS[name]
