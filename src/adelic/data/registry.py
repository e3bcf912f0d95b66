"""The tasks by name, found by entry points, so that a package can add tasks without a line here.

A package names mappings from names to `Task` objects, whose rows are stored, and to `DrawnTask` objects, in its
pyproject.toml:

    [project.entry-points."adelic.tasks"]
    acd = "adelic.acd:TASKS"

    [project.entry-points."adelic.drawn_tasks"]
    number_theory = "adelic.number_theory:TASKS"

and `tasks_of` makes a mapping of the modules of a package, each of which has a `TASK`.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType, ModuleType
from typing import Any

from adelic.data.drawn import DrawnTask
from adelic.data.protocol import Task
from adelic.errors import ConfigurationError, UnknownNameError


def tasks_of(package: ModuleType) -> Mapping[str, Task]:
    """Return the tasks of a package's modules and subpackages, those that have a `TASK`, by name.

    >>> from adelic import acd
    >>> list(tasks_of(acd))[:3]
    ['characters', 'grassmannian', 'kl']
    """
    modules = (
        importlib.import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)
    )
    tasks = [module.TASK for module in modules if isinstance(getattr(module, "TASK", None), Task)]
    return MappingProxyType({task.name: task for task in tasks})


@cache
def tasks() -> Mapping[str, Task]:
    """Return all tasks by name whose rows are stored.

    Raises:
        ConfigurationError: two packages have a task of the same name, or one that is installed cannot be loaded.
    """
    return _of_all_packages("adelic.tasks")


@cache
def drawn_tasks() -> Mapping[str, DrawnTask]:
    """Return all tasks by name whose questions are drawn; errors are those of `tasks`."""
    return _of_all_packages("adelic.drawn_tasks")


def _of_all_packages(group: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for entry in entry_points(group=group):
        try:
            added = entry.load()
        except (ImportError, AttributeError) as error:
            raise ConfigurationError(
                f"the tasks {entry.name!r} of {entry.value} cannot be loaded ({error}); mend or uninstall that package"
            ) from None
        for name in found.keys() & added.keys():
            raise ConfigurationError(f"{entry.value} has a task {name!r}, and so has another package; uninstall one")
        found |= added
    return MappingProxyType(found)


def task(name: str) -> Task:
    """Return the task of this name; UnknownNameError, with the nearest name, where there is none.

    Raises:
        UnknownNameError: no task has this name; the nearest one is suggested.
        ConfigurationError: it is the name of a drawn task, whose rows are not stored.

    >>> task("weaving").title
    'is this n × (n-1) matrix a weaving pattern?'
    >>> task("wevaing")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown task 'wevaing'; did you mean 'weaving'? tasks: ...
    """
    known = tasks()
    if isinstance(name, str) and name in known:
        return known[name]
    if isinstance(name, str) and name in drawn_tasks():
        raise ConfigurationError(f"{name!r} is a drawn task: its rows are not stored; see `adelic train {name} --help`")
    raise UnknownNameError.of("task", name, known)


def drawn_task(name: str) -> DrawnTask:
    """Return the drawn task of this name; UnknownNameError, with the nearest name, where there is none.

    >>> drawn_task("product").title
    'product of 2 to 5 factors below 100'
    """
    known = drawn_tasks()
    if isinstance(name, str) and name in known:
        return known[name]
    raise UnknownNameError.of("drawn task", name, known, listed="drawn tasks")
