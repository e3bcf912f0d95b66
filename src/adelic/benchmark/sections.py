"""The parts of the report page: what stands about each row."""

from collections.abc import Iterable
from dataclasses import dataclass

from adelic.benchmark.comparison import Comparison, named, on_most_rows
from adelic.benchmark.confusion_plot import confusion_matrix
from adelic.benchmark.contrasts import contrasts_grid, differences_grid
from adelic.benchmark.cost_plot import cost_scatter, crowd
from adelic.benchmark.efficiency_plot import efficiency, efficiency_curves
from adelic.benchmark.grid import Grid
from adelic.benchmark.overview import models_grid
from adelic.benchmark.plots import learning_curves
from adelic.benchmark.results import Summary


@dataclass(frozen=True)
class Part:
    """A figure, or the sentence and the command that stand in its place.

    Attributes:
        svg: the figure, None where there is none.
        text: what is to be known about it, or why there is none.
        command: what would make it.
    """

    svg: str | None
    text: str = ""
    command: str = ""


@dataclass(frozen=True)
class RowSection:
    """What the page says about a row under a recipe.

    Attributes:
        name: anchor on the page.
        title: heading.
        models: every model.
        tests: the declared contrast, then the exploratory differences; those that have a line.
        smaller: tables of runs on fewer training rows.
    """

    name: str
    title: str
    models: Grid
    tests: list[Grid]
    confusion: list[tuple[str, Part]]
    efficiency: Part
    cost: Part
    curves: Part
    smaller: list[Grid]


def row_sections(found: list[Comparison]) -> list[RowSection]:
    """Return the sections of all rows and recipes, in the given order."""
    sections = []
    for i, comparison in enumerate(on_most_rows(found)):
        same = [c for c in found if (c.first.title, c.recipe) == (comparison.first.title, comparison.recipe)]
        tests = [contrasts_grid([comparison]), differences_grid(comparison)]
        sections.append(
            RowSection(
                name=f"row-{i}",
                title=comparison.heading,
                models=models_grid(comparison),
                tests=[grid for grid in tests if grid.rows],
                confusion=_confusion(comparison),
                efficiency=_efficiency(comparison, same),
                cost=_cost(comparison),
                curves=_curves(comparison.models, comparison.title),
                smaller=[models_grid(c) for c in same if c is not comparison],
            )
        )
    return sections


def _confusion(comparison: Comparison) -> list[tuple[str, Part]]:
    """Return the matrices of AOE's best form and of the best other model, chosen on validation data."""
    parts = []
    for kinds in (("AOE",), ("rival", "outside")):
        name = comparison.best(*kinds)
        if name is not None:
            svg = confusion_matrix(comparison.models[name], f"Confusion matrix of {name}: {comparison.title}")
            parts.append((name, Part(svg, "" if svg else "These results hold no confusion matrix.")))
    return parts


def _efficiency(comparison: Comparison, same: list[Comparison]) -> Part:
    found = efficiency(same)
    if found:
        return Part(efficiency_curves(found, f"Accuracy against training rows: {comparison.title}"))
    rows = comparison.first.first.get("rows", {}).get("train", 1000)
    command = f"adelic reproduce {comparison.row} {comparison.option} --max-rows {max(rows // 10, 1)}"
    return Part(None, "No model ran on several numbers of training rows; a tenth of them:", command)


def _cost(comparison: Comparison) -> Part:
    devices = sorted({result["device"] for model in comparison.models.values() for result in model.results})
    text = f"All on {devices[0]}." if len(devices) == 1 else f"Times are of different devices: {'; '.join(devices)}."
    shown, far = crowd(comparison.models)
    if far:
        text += f" Far below, and not shown: {', '.join(far)}."
    return Part(cost_scatter(shown, f"Training time against accuracy: {comparison.title}"), text)


def _curves(models: dict[str, Summary], title: str) -> Part:
    svg = learning_curves(models, f"Learning curves of {title}")
    return Part(svg, "" if svg else "None of these models learns in epochs.")


def further_curves(summaries: Iterable[Summary]) -> list[tuple[str, Part]]:
    """Return the learning curves of the rows with several targets or a number."""
    rows: dict[str, list[Summary]] = {}
    for summary in summaries:
        if not summary.has_one_class_a_row:
            rows.setdefault(summary.title, []).append(summary)
    return [(title, _curves(named(mine), title)) for title, mine in rows.items()]
