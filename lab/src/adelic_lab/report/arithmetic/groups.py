"""Which series stand together, and in which order, in the tables and figures of arithmetic."""

from collections.abc import Iterable

from adelic_lab.config.solver_names import TITLES
from adelic_lab.report.drawn import Series


def in_order(plan: Iterable[Series]) -> list[str]:
    """Return the names of the series' solvers, in the order of `TITLES`, others last.

    >>> from adelic_lab.report.drawn import read_plan
    >>> in_order(read_plan("quick", "arithmetic", own_solvers=["my_solvers:Mine"]))[-3:]
    ['residue-table', 'least-squares', 'my_solvers:Mine']
    """
    known = list(TITLES)
    names = dict.fromkeys(series.model for series in plan)
    return sorted(names, key=lambda name: known.index(name) if name in known else len(known))


def in_groups(plan: Iterable[Series]) -> tuple[list[str], list[str]]:
    """Return the names of the solvers that are asked half of the tasks or more, and of the others, in order.

    >>> from adelic_lab.report.drawn import read_plan
    >>> many, few = in_groups(read_plan("full", "arithmetic"))
    >>> "fone" in many, "fone-placewise" in few
    (True, True)
    """
    listed = list(plan)
    asked: dict[str, set[str]] = {}
    for series in listed:
        asked.setdefault(series.model, set()).add(series.task)
    half = len({series.task for series in listed}) / 2
    solvers = in_order(listed)
    return [s for s in solvers if len(asked[s]) >= half], [s for s in solvers if len(asked[s]) < half]


def with_most_examples(plan: Iterable[Series]) -> dict[tuple[str, str], Series]:
    """Return, by the title of a task and the solver's name, the series with the most examples of those with a result.

    If none has one, it is the series with the most examples that is planned.

    >>> from adelic_lab.report.drawn import read_plan
    >>> with_most_examples(read_plan("full", "arithmetic"))["a + b, 6 digits", "fone"].examples
    30000
    """
    ascending = sorted(plan, key=lambda series: (bool(series.results), series.examples))
    return {(series.title, series.model): series for series in ascending}
