"""The report of the arithmetic benchmark: which number representation learns arithmetic, from how many examples.

Problems are drawn tasks of `adelic.number_theory`, representations are the solvers of `adelic_lab.models.solvers`, and
plans are read by `adelic_lab.plans`. This module makes the tables and figures, in colours that are readable on light
and on dark backgrounds.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adelic_lab.config.names import TITLES
from adelic_lab.plans import Report, Series
from adelic_lab.report.plots import COLOURS, DASHES, GREY, canvas, render, solver_colour
from adelic_lab.report.statistics import confidence_interval
from adelic_lab.report.table import IMPOSSIBLE, NOT_RUN, Line, Table, costs, mean_with_interval, wording

__all__ = ["show"]
_MARKERS = "osD^vP*X<>"
_MOST_PANELS = 3
_CURVE = 2  # sizes that make a curve
_LEGEND_WIDTH, _LEGEND_LINE = 130, 0.22  # characters, with the lines before the names; inches


def show(series: list[Series]) -> Report:
    """Return the report: a table of questions as in training, one of questions unlike those, and figures.

    Solvers that were run on less than half of the tasks have separate tables, and, together with AOE's places apart,
    the figure variants.svg.

    Args:
        series: as `adelic_lab.plans.gather` has them.

    >>> show([]).text
    'not run'
    """
    run = [one for one in series if one.results]
    many, few = in_groups(series)
    asked_much = [one for one in run if one.model in many]
    of_few = {one.task for one in series if one.model in few}
    variants = [one for one in run if one.task in of_few and one.model in ("adelic-placewise", *few)] if few else []
    return Report(
        {"arithmetic": _text(series, many, few) if run else NOT_RUN},
        files={
            "accuracy.svg": lambda: draw_accuracy(asked_much),
            "never-seen.svg": lambda: draw_never_seen(asked_much),
            "variants.svg": lambda: draw_accuracy(variants),
        },
    )


def in_order(series: Iterable[Series]) -> list[str]:
    """Return the names of the series' solvers, in the order of `TITLES`, others last.

    >>> from adelic_lab.plans import read_plan
    >>> in_order(read_plan("quick", "arithmetic", own_solvers=["my_solvers:Mine"]))[-3:]
    ['residue-table', 'least-squares', 'my_solvers:Mine']
    """
    known = list(TITLES)
    names = dict.fromkeys(one.model for one in series)
    return sorted(names, key=lambda name: known.index(name) if name in known else len(known))


def in_groups(series: Sequence[Series]) -> tuple[list[str], list[str]]:
    """Return the names of the solvers with half of the tasks or more, and of the others, in order.

    >>> from adelic_lab.plans import read_plan
    >>> many, few = in_groups(read_plan("full", "arithmetic"))
    >>> "fone" in many, "fone-placewise" in few
    (True, True)
    """
    asked: dict[str, set[str]] = {}
    for one in series:
        asked.setdefault(one.model, set()).add(one.task)
    half = len({one.task for one in series}) / 2
    solvers = in_order(series)
    return [s for s in solvers if len(asked[s]) >= half], [s for s in solvers if len(asked[s]) < half]


def with_most_examples(series: Iterable[Series]) -> dict[tuple[str, str], Series]:
    """Return, by the title of a task and the solver's name, the series with the most examples of those with a result.

    If none has one, it is the series with the most examples that is planned.

    >>> from adelic_lab.plans import read_plan
    >>> with_most_examples(read_plan("full", "arithmetic"))["a + b, 6 digits", "fone"].examples
    30000
    """
    ascending = sorted(series, key=lambda one: (bool(one.results), one.examples))
    return {(one.title, one.model): one for one in ascending}


def _text(series: list[Series], many: list[str], few: list[str]) -> str:
    """Return the tables of the solvers with many tasks, those of the others, and notes."""
    parts = _tables([one for one in series if one.model in many], many)
    if few:
        of_few = _tables([one for one in series if one.model in few], few)
        parts += ["Solvers that were run on some of the problems:", *of_few]
    return "\n\n".join([*parts, *_notes(series)])


def _tables(series: list[Series], solvers: list[str]) -> list[str]:
    """Return the tables of some solvers' series, with the sentence between them."""
    asked = {one.title: one.asked for one in series}
    order = list(asked)
    seen: dict[tuple[str, int], Line] = {}
    for one in sorted(series, key=lambda one: (order.index(one.title), one.examples)):
        line = {"problem": one.title, "examples": f"{one.examples:,}"}
        seen.setdefault((one.title, one.examples), line)[one.model] = cell(one)
    unlike: dict[tuple[str, str], Line] = {
        (title, split): {"problem": task.never_seen_titles[split]}
        for title, task in asked.items()
        for split in task.never_seen
    }
    largest = with_most_examples(series)
    for title, split in unlike:
        mine = {solver: one for (of, solver), one in largest.items() if of == title}
        unlike[title, split] |= {solver: cell(one, split) for solver, one in mine.items()}
    parts = [Table.of(("problem", "examples", *solvers), seen.values()).to_markdown().rstrip()]
    if unlike:
        parts += ["The same runs on questions unlike all in training, for each solver with its most examples:"]
        parts += [Table.of(("problem", *solvers), unlike.values()).to_markdown().rstrip()]
    return parts


def cell(series: Series, split: str = "test") -> str:
    """Return the accuracy in percent as a table shows it: mean ± half width of the 95 % interval, or the range.

    >>> from adelic_lab.plans import read_plan
    >>> cell(read_plan("quick", "arithmetic")[0])
    'not run'
    """
    if series.obstacle:
        return IMPOSSIBLE
    values = series.accuracies(split)
    if not values:
        return NOT_RUN
    is_one_figure = min(values) == max(values)
    text = mean_with_interval(values[:1] if is_one_figure else values, decimals=1, write=percent)
    text = f"**{text}**" if min(values) == 1 else text
    n_planned = len(series.experiments)
    return text if len(values) == n_planned else f"{text} ({len(values)} of {n_planned} seeds)"


def percent(share: float) -> str:
    """Return a share in percent with one decimal; "100" is exactly all, and "0" nothing at all.

    >>> [percent(share) for share in (1, 0.99996, 0.5, 0.0001, 0)]
    ['100', '99.9', '50.0', '0.0', '0']
    """
    return f"{100 * share:.0f}" if share in (0, 1) else f"{min(100 * share, 99.9):.1f}"


def _notes(series: list[Series]) -> list[str]:
    """Return the notes under the tables."""
    results = [result for one in series for result in one.results]
    cases, more = (
        " and ".join(f"{count:,}" for count in sorted({run.configuration["data"][name] for run in results}))
        for name in ("test_cases", "confirmation_cases")
    )
    notes = [wording()["arithmetic"]["note"].format(cases=cases, more=more)]
    reasons: dict[str, list[str]] = {}
    parameters: dict[str, list[int]] = {}
    for one in series:
        if one.obstacle:
            reasons.setdefault(f"{one.model}: {one.obstacle}", []).append(one.task)
        if one.results:
            parameters.setdefault(one.model, []).extend(result.parameters for result in one.results)
    if reasons:
        words = "".join(f"\n- {reason} ({', '.join(dict.fromkeys(names))})" for reason, names in reasons.items())
        notes.append(f"{IMPOSSIBLE}: the solver cannot express the problem.\n{words}")
    ranges = {solver: dict.fromkeys((min(counts), max(counts))) for solver, counts in parameters.items()}
    sizes = ", ".join(f"{solver} {'–'.join(map('{:,}'.format, ends))}" for solver, ends in ranges.items())
    return [*notes, f"Trained numbers: `{sizes}`.", costs(results)]


def draw_accuracy(series: Sequence[Series]) -> bytes | None:
    """Return an SVG of accuracy against the number of examples, one panel per task; None if no task has two sizes.

    Lines are means over seeds, and each seed is a dot.

    >>> draw_accuracy([]) is None
    True
    """
    sizes: dict[str, set[int]] = {}
    for one in series:
        sizes.setdefault(one.title, set()).add(one.examples)
    most = max(map(len, sizes.values()), default=0)
    titles = [title for title, found in sizes.items() if len(found) >= max(_CURVE, most - 1)][:_MOST_PANELS]
    if not titles:
        return None
    with canvas(10.5, 2.9, GREY) as figure:
        panels = accuracy_panels(figure, titles)
        for axes, title in zip(panels, titles, strict=True):
            for solver, look in looks(series).items():
                mine = sorted((e for e in series if (e.title, e.model) == (title, solver)), key=lambda e: e.examples)
                if mine:
                    x = [e.examples for e in mine]
                    axes.plot(x, [100 * np.mean(e.accuracies()) for e in mine], label=solver, markersize=5, **look)
                    dots = [(e.examples, 100 * value) for e in mine for value in e.accuracies()]
                    axes.plot(*zip(*dots, strict=True), ".", color=look["color"], markersize=4, alpha=0.5)
            axes.set_xscale("log")
            ticks = sorted(sizes[title])
            axes.set_xticks(ticks, [f"{size:,}" for size in ticks], fontsize=8)
            axes.set_xticks([], minor=True)
            axes.set_xlabel("training examples")
            axes.set_ylim(-3, 103)
        return with_legend(figure)


def draw_never_seen(series: Sequence[Series]) -> bytes | None:
    """Return an SVG of the accuracy on questions unlike all in training, one line per split; None if there are none.

    For each task and solver it shows the series with the most examples. Bars are 95 % confidence intervals of the mean
    over seeds.

    >>> draw_never_seen([]) is None
    True
    """
    largest = with_most_examples(series)
    asked = {one.title: one.asked for one in series}
    rows = [(title, split) for title, task in asked.items() for split in task.never_seen]
    if not rows:
        return None
    drawn = looks(series)
    offsets = np.linspace(-0.3, 0.3, len(drawn)) if len(drawn) > 1 else np.zeros(1)
    with canvas(10.5, 0.7 + 0.5 * len(rows), GREY) as figure:
        axes = figure.subplots()
        for offset, (solver, look) in zip(offsets, drawn.items(), strict=True):
            points = []
            for y, (title, split) in enumerate(rows):
                if (title, solver) in largest:
                    values = largest[title, solver].accuracies(split)
                    width = 100 * (confidence_interval(values) or 0.0)
                    points.append((100 * float(np.mean(values)), y + offset, width))
            if points:
                x, heights, widths = zip(*points, strict=True)
                look |= {"linestyle": "none", "markersize": 5}
                axes.errorbar(x, heights, xerr=widths, label=solver, elinewidth=1.2, **look)
        axes.set_yticks(range(len(rows)), [asked[title].never_seen_titles[split] for title, split in rows], fontsize=8)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(-2, 102)
        axes.set_xlabel("exact answers (%) on questions unlike all in training")
        return with_legend(figure)


def looks(series: Sequence[Series]) -> dict[str, dict[str, Any]]:
    """Return how each solver is drawn: AOE's variants in one colour with different dashes, each rival's in another.

    A solver that trains no network is grey and dashed.
    """
    solvers = in_order(series)
    taken = {solver_colour(solver) for solver in solvers}
    others = iter(([colour for colour in COLOURS[1:] if colour not in taken] or COLOURS[1:]) * len(solvers))
    dashes = iter(DASHES[1:] * len(solvers))
    found: dict[str, dict[str, Any]] = {}
    for i, solver in enumerate(solvers):
        title = TITLES.get(solver, solver)
        is_ours, is_trivial = title.startswith("AOE"), title.endswith("no network")
        is_first = solver == "adelic-placewise"
        found[solver] = {
            "color": GREY if is_trivial else COLOURS[0] if is_ours else solver_colour(solver) or next(others),
            "linestyle": next(dashes) if is_trivial or (is_ours and not is_first) else "-",
            "linewidth": 2.4 if is_first else 1.6,
            "marker": _MARKERS[i % len(_MARKERS)],
            "markerfacecolor": "none" if is_ours and not is_first else None,
        }
    return found


def accuracy_panels(figure: Figure, titles: Sequence[str], *, sharex: bool = False) -> list[Axes]:
    """Return the panels of a figure of exact answers, one for each title."""
    panels = list(figure.subplots(1, len(titles), sharex=sharex, sharey=True, squeeze=False)[0])
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title, fontsize=10, loc="left")
    panels[0].set_ylabel("exact answers (%)")
    return panels


def with_legend(figure: Figure) -> bytes:
    """Return a figure as SVG, with a grid, and every solver's name under the panels, for which it grows."""
    for axes in figure.axes:
        axes.grid(visible=True, color=GREY, alpha=0.25)
    named = {label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels())}  # noqa: B905
    titles = [TITLES.get(name, name) for name in named]
    columns = max(1, min(len(named), _LEGEND_WIDTH // (6 + max(map(len, titles)))))
    figure.set_figheight(figure.get_figheight() + _LEGEND_LINE * -(-len(named) // columns))
    figure.legend(list(named.values()), titles, loc="outside lower center", ncols=columns, frameon=False)
    return render(figure, "svg", transparent=True)
