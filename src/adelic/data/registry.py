"""The tasks by name, found by entry points, so a package can add tasks without a line here.

A package names mappings from names to `Task` objects, whose examples are stored, and to `SampledTask` objects, in its
pyproject.toml:

    [project.entry-points."adelic.tasks"]
    acd = "adelic.acd:TASKS"

    [project.entry-points."adelic.drawn_tasks"]
    number_theory = "adelic.number_theory:TASKS"
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from adelic.data.drawn import SampledTask
from adelic.data.protocol import Task
from adelic.errors import ConfigurationError, UnknownNameError


def tasks() -> Mapping[str, Task]:
    """Return all tasks by name whose examples are stored.

    Raises:
        ConfigurationError: two packages have a task of the same name, stored or drawn, or one that is installed cannot
            be loaded, or names something else than tasks; or not even adelic is installed.

    >>> "schubert" in tasks(), "gcd" in tasks()
    (True, False)
    """
    return _of_all_packages()[0]


def drawn_tasks() -> Mapping[str, SampledTask]:
    """Return all tasks by name whose questions are drawn; errors are those of `tasks`.

    >>> "schubert" in drawn_tasks(), "gcd" in drawn_tasks()
    (False, True)
    """
    return _of_all_packages()[1]


@cache
def _of_all_packages() -> tuple[Mapping[str, Task], Mapping[str, SampledTask]]:
    """Return the stored and the drawn tasks; both are read at once, since a name means one task of either kind."""
    stored: dict[str, Any] = {}
    drawn: dict[str, Any] = {}
    owners: dict[str, EntryPoint] = {}
    for group, kind, found in (("adelic.tasks", Task, stored), ("adelic.drawn_tasks", SampledTask, drawn)):
        for entry in entry_points(group=group):
            added = _loaded(entry, kind)
            for name in sorted(owners.keys() & added.keys()):
                raise ConfigurationError(
                    f"{entry.value} of {_package(entry)} has a task {name!r}, and so has {owners[name].value} of "
                    f"{_package(owners[name])}; rename one of the two, or uninstall one of the packages"
                )
            owners |= dict.fromkeys(added, entry)
            found.update(added)
    if not owners:  # adelic itself has tasks
        raise ConfigurationError(
            "no tasks are found, because adelic runs from its source without being installed; pip install . installs it"
        )
    return MappingProxyType(stored), MappingProxyType(drawn)


def _loaded(entry: EntryPoint, kind: type[Task | SampledTask]) -> Mapping[str, Any]:
    """Return the tasks that an entry point names, all of a kind and under their own names."""
    where = f"the tasks {entry.name!r} of {entry.value}"
    remedy = f"correct or uninstall {_package(entry)}"
    try:
        added = entry.load()
    except (Exception, SystemExit) as error:  # whatever a module of another package does while it is imported
        reason = (str(error).splitlines() or [""])[0]
        if not isinstance(error, ImportError | AttributeError):
            reason = f"{type(error).__name__}: {reason}"
        raise ConfigurationError(f"{where} cannot be loaded ({reason}); {remedy}") from None
    if not isinstance(added, Mapping):
        raise ConfigurationError(
            f"{where} have the type {type(added).__name__}, and must be a mapping from names to tasks, as "
            f"{{TASK.name: TASK}}; {remedy}"
        )
    for name, task in added.items():
        if not isinstance(task, kind):
            group = " (tasks of the two kinds are named in two groups)" if isinstance(task, Task | SampledTask) else ""
            raise ConfigurationError(
                f"{where}: {name!r} has the type {type(task).__name__}, and must be a {kind.__name__}{group}; {remedy}"
            )
        if task.name != name:
            raise ConfigurationError(f"{where}: the task {task.name!r} has the name {name!r}; {remedy}")
    return added


def _package(entry: EntryPoint) -> str:
    return "that package" if entry.dist is None else f"the package {entry.dist.name!r}"


def task(name: str) -> Task:
    """Return the task of this name; UnknownNameError, with the nearest name, if there is none.

    Raises:
        UnknownNameError: no task has this name; the nearest one is suggested.
        ConfigurationError: it is the name of a drawn task, whose examples are not stored.

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
        raise ConfigurationError(
            f"{name!r} is a drawn task: its examples are not stored; see `adelic train {name} --help`"
        )
    raise UnknownNameError.of("task", name, known)


def drawn_task(name: str) -> SampledTask:
    """Return the drawn task of this name; UnknownNameError, with the nearest name, if there is none.

    >>> drawn_task("product").title
    'product of 2 to 5 factors below 100'
    """
    known = drawn_tasks()
    if isinstance(name, str) and name in known:
        return known[name]
    raise UnknownNameError.of("drawn task", name, known, listed="drawn tasks")
