"""The tasks by name, found by entry points, so that a package can add tasks without a line here.

A package names a mapping from names to `Task` objects in its pyproject.toml:

    [project.entry-points."adelic.tasks"]
    acd = "adelic.acd:TASKS"

and `tasks_of` makes such a mapping of the modules of a package, each of which has a `TASK`.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType, ModuleType

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
    """Return all tasks by name.

    Raises:
        ConfigurationError: two packages have a task of the same name, or one that is installed cannot be loaded.
    """
    found: dict[str, Task] = {}
    for entry in entry_points(group="adelic.tasks"):
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

    >>> task("weaving").title
    'is this n × (n-1) matrix a weaving pattern?'
    >>> task("wevaing")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown task 'wevaing'; did you mean 'weaving'? tasks: ...
    """
    known = tasks()
    if isinstance(name, str) and name in known:
        return known[name]
    raise UnknownNameError.of("task", name, known)
