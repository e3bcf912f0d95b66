"""The parts of the report page: what stands about each row, and about all rows together."""

from collections.abc import Iterable
from dataclasses import dataclass

from adelic.benchmark.comparison import Comparison, named, on_most_rows, recipe_title
from adelic.benchmark.confusion_plot import confusion_matrix
from adelic.benchmark.cost_plot import cost_scatter, crowd
from adelic.benchmark.efficiency_plot import efficiency, efficiency_curves
from adelic.benchmark.overview import Cell, Grid, differences, models_grid
from adelic.benchmark.plots import learning_curves
from adelic.benchmark.ranking_plot import ranking_diagram
from adelic.benchmark.results import Summary
from adelic.benchmark.significance import LEAST_ROWS, Ranking, rank_over_rows


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
        matrix: paired differences, a line a model; empty for a single model.
        untested: whether no pair has two seeds in common, so that nothing was tested.
        smaller: tables of runs on fewer training rows.
    """

    name: str
    title: str
    models: Grid
    matrix: list[tuple[str, list[Cell | None]]]
    untested: bool
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
        cells = differences(comparison)
        sections.append(
            RowSection(
                name=f"row-{i}",
                title=comparison.heading,
                models=models_grid(comparison),
                matrix=list(zip(comparison.models, cells, strict=True)) if len(cells) > 1 else [],
                untested=not any(cell and cell.p for line in cells for cell in line),
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


@dataclass(frozen=True)
class RankSection:
    """Mean ranks over the rows under a recipe, or why there are none."""

    recipe: str
    diagram: Part


def rank_sections(found: Iterable[Comparison]) -> list[RankSection]:
    """Return the critical-difference diagram of each recipe; without any runs one section says what is missing.

    Rows on which no network was trained have a part in it only where there are no others.
    """
    recipes: dict[str, list[Comparison]] = {}
    largest = on_most_rows(found)
    for comparison in [c for c in largest if c.has_network] or largest:
        recipes.setdefault(comparison.recipe, []).append(comparison)
    command = "adelic reproduce schubert-4 weaving-6 mheight-8 --embeddings adelic,learned --seeds 0-4"
    if not recipes:
        return [RankSection("any", Part(None, "No row with one class each was run; this would be a start:", command))]
    sections = []
    for recipe, mine in recipes.items():
        ranking = rank_over_rows(mine)
        if ranking is None:
            count = len({c.row for c in mine})
            text = (
                f"No diagram: mean ranks need at least {LEAST_ROWS} rows on which the same two models or more ran, and "
                f"{count} {'row has' if count == 1 else 'rows have'} runs under this recipe. This runs three:"
            )
            sections.append(RankSection(recipe_title(recipe), Part(None, text, f"{command} {mine[0].option}")))
        else:
            svg = ranking_diagram(ranking, f"Critical-difference diagram, recipe {recipe}")
            sections.append(RankSection(recipe_title(recipe), Part(svg, ranking_text(ranking))))
    return sections


def ranking_text(ranking: Ranking) -> str:
    """Return what a diagram of mean ranks rests on."""
    few = " With fewer than ten rows both tests are rough and rarely find anything." if len(ranking.rows) < 10 else ""
    rows, critical = ", ".join(ranking.rows), ranking.critical_difference
    tests = f"χ² = {ranking.chi_square:.2f}, Iman and Davenport’s F = {ranking.f:.2f}, p = {ranking.p:.3f}"
    return (
        f"Mean ranks over {len(ranking.rows)} rows ({rows}) by mean test accuracy over seeds. Bars join models whose "
        f"ranks differ by less than {critical:.2f}, Nemenyi’s critical difference at 5 %: these rows do not tell "
        f"them apart. Friedman’s test of “all are equal”: {tests} (Demšar, JMLR 7, 2006). Sizes of one task count as "
        f"rows of their own, though they are akin.{few}"
    )


def further_curves(summaries: Iterable[Summary]) -> list[tuple[str, Part]]:
    """Return the learning curves of the rows with several targets or a number."""
    rows: dict[str, list[Summary]] = {}
    for summary in summaries:
        if not summary.has_one_class_a_row:
            rows.setdefault(summary.title, []).append(summary)
    return [(title, _curves(named(mine), title)) for title, mine in rows.items()]
