"""The tables of the report beside that of the runs: who wins each row, the paper's tables with ours, every model."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adelic.benchmark.comparison import Comparison, is_network, kind, recipe_title, validation_score
from adelic.benchmark.cost_plot import mean_seconds, tokens_per_second
from adelic.benchmark.results import Summary, mean_with_interval
from adelic.benchmark.rows import Figure, published_rows
from adelic.benchmark.significance import Difference, paired_differences
from adelic.benchmark.table import NOT_RUN, ONE_CLASS, ONE_CLASS_NOTE, markdown

NONE = "–"


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        title: heading.
        headers: of the columns.
        rows: of cells, as many as headers.
        notes: sentences under the table.
        published: how many rows at the end are others' figures.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    published: int = 0

    def __post_init__(self) -> None:
        """Explain the mark of models that predict one class, where it stands."""
        if any(ONE_CLASS in cell for row in self.rows for cell in row):
            object.__setattr__(self, "notes", (*self.notes, ONE_CLASS_NOTE))

    def to_markdown(self) -> str:
        """Return the table in Markdown, under its heading."""
        return f"## {self.title}\n\n" + markdown(self.headers, self.rows, self.notes, names=1)


def overview(found: Iterable[Comparison]) -> Grid:
    """Return for each row AOE's best form, its best rivals under the same recipe, and the best published figure.

    Forms, rivals and recipes are chosen by validation accuracy, of equal ones by loss. All rows of the paper's table
    have a line.

    Args:
        found: one comparison a row and recipe.
    """
    titles: dict[str, list[Comparison]] = {name: [] for name in published_rows()}
    for comparison in found:
        titles.setdefault(comparison.first.title, []).append(comparison)
    return Grid(
        "Who wins each row",
        (
            "row", "AOE", "best other embedding", "AOE − other", "p", "best outside the Transformer", "majority class",
            "best published", "AOE beats it", "recipe",
        ),
        tuple(_overview_line(title, mine) for title, mine in titles.items()),
        (
            "Test accuracy in percent, mean over seeds ± half width of the 95 % confidence interval. Each model, and "
            "the recipe, is the one with the best validation accuracy, then loss; embeddings have the same recipe, or "
            "the same search. p: paired t-test over the common seeds, Holm’s correction over all pairs of models of "
            "the row.",
            "best published: of the ACD authors’ and the AOE paper’s models; the paper’s 100 % for weaving is set "
            "aside, and the ACD authors’ weaving figures belong to an older format of the data. beats it: “yes” if the "
            "whole interval lies above the published mean, “mean only” if the mean does.",
        ),
    )  # fmt: skip


def _overview_line(title: str, found: list[Comparison]) -> tuple[str, ...]:
    row = published_rows().get(title)
    who, best = row.best_published() if row else ("", None)
    published = NONE if best is None else f"{best} ({who})"
    if not found:
        majority = f"{row.majority:g}" if row else NONE
        return (title, NOT_RUN, NOT_RUN, NONE, NONE, NOT_RUN, majority, published, NONE, NONE)
    chosen = _choose(found)
    aoe, rival, outside = (chosen.best(kind) for kind in ("AOE", "rival", "outside"))
    difference = paired_differences(chosen.models).get((aoe, rival)) if aoe and rival else None
    return (
        title,
        *(_named_figure(chosen, name) for name in (aoe, rival)),
        NONE if difference is None else points(difference.mean),
        p_text(difference),
        _named_figure(chosen, outside),
        f"{100 * chosen.first.first['majority']:.2f}",
        published,
        NONE if aoe is None or best is None else verdict(chosen.models[aoe], best),
        recipe_title(chosen.recipe) + (f", {chosen.max_rows:,} rows" if chosen.max_rows else ""),
    )


def _choose(found: list[Comparison]) -> Comparison:
    """Return the recipe under which AOE is best on validation data; where AOE did not run, any model."""
    return max([c for c in found if c.best("AOE")] or found, key=_best_validation)


def _named_figure(comparison: Comparison, name: str | None) -> str:
    if name is None:
        return NOT_RUN
    return f"{figure(comparison.models[name], 'accuracy')} ({_form(comparison, name)})"


def figure(summary: Summary, metric: str) -> str:
    """Return the mean of a test figure with its interval, rates in percent and losses as they are; a dash for none."""
    values = [result["test"].get(metric) for result in summary.results]
    if None in values:
        return NONE
    return mean_with_interval(values, scale=1 if metric == "loss" else 100, decimals=4 if metric == "loss" else 2)


def points(difference: float) -> str:
    """Return a difference of rates in percentage points, with its sign.

    >>> points(0.0123), points(-0.5), points(0.0)
    ('+1.23', '−50.00', '0.00')
    """
    text = f"{100 * difference:+.2f}".replace("-", "−")
    return text[1:] if text[1:] == "0.00" else text


def _best_validation(comparison: Comparison) -> tuple[float, float]:
    name = comparison.best("AOE") or comparison.best()
    return (-1.0, 0.0) if name is None else validation_score(comparison.models[name])


def _name(comparison: Comparison, name: str) -> str:
    return name + (f" {ONE_CLASS}" if comparison.models[name].predicts_one_class else "")


def _form(comparison: Comparison, name: str) -> str:
    """Return a model's name, of AOE's the form alone, in the column of AOE: characters, late."""
    return re.sub(r"^AOE \(([^)]*)\)", r"\1", _name(comparison, name))


def verdict(summary: Summary, published: Figure) -> str:
    """Return whether a model beats a published figure: "yes" if its whole interval does, "mean only", or "no".

    >>> samples = [0.96, 0.97], [0.966, 0.967], [0.94], [0.96]
    >>> runs = [[{"test": {"accuracy": a}} for a in sample] for sample in samples]
    >>> [verdict(Summary(tuple(sample)), Figure(95.0)) for sample in runs]
    ['mean only', 'yes', 'no', 'mean only']
    """
    mean, interval = 100 * summary.mean("accuracy"), summary.interval("accuracy")
    if mean <= published.accuracy:
        return "no"
    return "yes" if interval is not None and mean - 100 * interval > published.accuracy else "mean only"


def p_text(difference: Difference | None) -> str:
    """Return a corrected p-value as a table shows it; a dash where nothing was tested.

    >>> [p_text(Difference(0.1, None, (0, 1), p, p)) for p in (None, 0.0002, 0.0123, 1.0)]
    ['–', '< 0.001', '0.012', '1']
    """
    if difference is None or difference.adjusted is None:
        return NONE
    p = difference.adjusted
    return "< 0.001" if p < 0.0005 else "1" if p >= 0.9995 else f"{p:.3f}"


def paper_grid(found: Sequence[Comparison], metric: str) -> Grid:
    """Return the paper's table of test accuracies, or of test losses, with ours beside it, a pair of columns a recipe.

    Args:
        found: one comparison a row and recipe.
        metric: "accuracy" or "loss".
    """
    published_edition = [c for c in found if c.first.first["edition"] == "published" and c.published is not None]
    recipes = list(dict.fromkeys(c.recipe for c in published_edition))
    is_accuracy = metric == "accuracy"
    headers = ["row", *(["majority class"] if is_accuracy else []), "paper: learned", "paper: AOE"]
    for recipe in recipes or ["any recipe"]:
        headers += [f"ours: learned, {recipe_title(recipe)}", f"ours: AOE, {recipe_title(recipe)}"]
    lines = []
    for name, row in published_rows().items():
        cells = [name, *([f"{row.majority:g}"] if is_accuracy else [])]
        papers = (row.paper_baseline, row.paper_aoe)
        cells += [f"{paper.accuracy:.2f}" if is_accuracy else f"{paper.loss:.4f}" for paper in papers]
        for recipe in recipes or [""]:
            comparison = next((c for c in published_edition if (c.row, c.recipe) == (name, recipe)), None)
            cells += [_ours(comparison, embedding, metric) for embedding in ("learned", "adelic")]
        lines.append(tuple(cells))
    notes = [
        f"{'Test accuracy in percent' if is_accuracy else 'Test loss (mean cross-entropy)'}; ours as mean over seeds ± "
        "half width of the 95 % confidence interval, AOE in its best form on validation data. A number of rows stands "
        "where training had fewer than there are.",
    ]
    if is_accuracy:
        notes.append("majority class: the rate that the ACD authors give.")
    return Grid(
        f"The paper’s table of test {'accuracies' if is_accuracy else 'losses'}, and ours",
        tuple(headers),
        tuple(lines),
        tuple(notes),
    )


def _ours(comparison: Comparison | None, embedding: str, metric: str) -> str:
    if comparison is None:
        return NOT_RUN
    mine = {name: model for name, model in comparison.models.items() if model.first["embedding"] == embedding}
    if not mine:
        return NOT_RUN
    best = max(mine, key=lambda name: validation_score(mine[name]))
    name = _form(comparison, best).removeprefix("learned").lstrip(", ")
    rows = f"{comparison.max_rows:,} rows" if comparison.max_rows else ""
    said = ", ".join(part for part in (name, rows) if part)
    return figure(mine[best], metric) + (f" ({said})" if said else "")


def recipe_grids(found: Iterable[Comparison]) -> list[Grid]:
    """Return for each recipe that trained networks the test accuracies of all models on all its rows.

    AOE's forms come first, then its rivals, then what is no Transformer.

    Args:
        found: one comparison a row and recipe.
    """
    recipes: dict[str, list[Comparison]] = {}
    for comparison in found:
        if comparison.has_network:
            recipes.setdefault(comparison.recipe, []).append(comparison)
    return [_recipe_grid(recipe, rows) for recipe, rows in recipes.items()]


def _recipe_grid(recipe: str, found: list[Comparison]) -> Grid:
    kinds = {name: kind(model) for comparison in found for name, model in comparison.models.items()}
    names = sorted(kinds, key=lambda name: (("AOE", "rival", "outside").index(kinds[name]), name.lower()))
    return Grid(
        f"Every model, {recipe_title(recipe)} recipe",
        ("model", *(comparison.first.title + comparison.fewer_rows for comparison in found)),
        tuple((name, *(_accuracy(comparison, name) for comparison in found)) for name in names),
        (
            "Test accuracy in percent, mean over seeds ± half width of the 95 % confidence interval; a figure without "
            "one is of one seed. What is no Transformer has a search of its own.",
        ),
    )


def _accuracy(comparison: Comparison, name: str) -> str:
    if name not in comparison.models:
        return NOT_RUN
    said = figure(comparison.models[name], "accuracy")
    return f"{said} {ONE_CLASS}" if comparison.models[name].predicts_one_class else said


def models_grid(comparison: Comparison) -> Grid:
    """Return every model of a comparison, the most accurate first, then the row's published figures."""
    row = comparison.published if comparison.first.first["edition"] == "published" else None
    best = row.best_published()[1] if row else None
    lines = [_model_line(comparison, name, best) for name in comparison.models]
    if row:
        for name, published in row.published().items():
            loss = NONE if published.loss is None else f"{published.loss:.4f}"
            blank = [NONE] * 6
            lines.append((name, str(published), NONE, NONE, NONE, NONE, loss, *blank))
    notes = (
        "Rates in percent on the test split; ± is the half width of the 95 % confidence interval over seeds. "
        "calibration error: expected calibration error, in percent. FLOPs: thousands, of a forward pass over a row. "
        "seconds: mean time of a run’s training, validation included, without a search that came before. tokens/s: in "
        "that time, with [CLS].",
    )
    return Grid(
        comparison.heading,
        (
            "model", "accuracy", "seeds", "− best published", "balanced accuracy", "macro-F1", "loss",
            "calibration error", "parameters", "FLOPs (k)", "seconds", "tokens/s", "training",
        ),
        tuple(lines),
        notes,
        published=len(row.published()) if row else 0,
    )  # fmt: skip


def _model_line(comparison: Comparison, name: str, best: Figure | None) -> tuple[str, ...]:
    model = comparison.models[name]
    flops, speed = model.first.get("flops"), tokens_per_second(model) if is_network(model) else None
    return (
        _name(comparison, name),
        figure(model, "accuracy"),
        str(len(model.seeds)),
        NONE if best is None else points(model.mean("accuracy") - best.accuracy / 100),
        figure(model, "balanced_accuracy"),
        figure(model, "macro_f1"),
        figure(model, "loss"),
        figure(model, "calibration_error"),
        f"{model.first['parameters']:,}",
        NONE if flops is None else f"{flops / 1000:,.1f}",
        f"{mean_seconds(model):,.1f}",
        NONE if speed is None else f"{speed:,.0f}",
        _training(model),
    )


def _training(model: Summary) -> str:
    recipe = model.first["configuration"]["recipe"]
    if not is_network(model):
        return f"search of {recipe['trials']} trials" if recipe.get("trials", 1) > 1 else NONE
    epochs = f"{recipe['epochs']} epoch{'s' if recipe['epochs'] > 1 else ''}"
    return f"{epochs}, batch {recipe['batch_size']:,}, rate {recipe['learning_rate']:g}"


@dataclass(frozen=True)
class Cell:
    """A cell of the matrix of differences: row's model minus column's model, in percentage points."""

    difference: str
    p: str
    kind: str  # "up", "down" for what is significant, else ""


def differences(comparison: Comparison) -> list[list[Cell | None]]:
    """Return the matrix of paired differences of test accuracy, models in their order; None on the diagonal."""
    found = paired_differences(comparison.models)
    return [[_cell(found.get((a, b))) if a != b else None for b in comparison.models] for a in comparison.models]


def _cell(difference: Difference | None) -> Cell:
    if difference is None:
        return Cell(NONE, "", "")
    kind = ("up" if difference.mean > 0 else "down") if difference.is_significant else ""
    return Cell(points(difference.mean), "" if difference.adjusted is None else p_text(difference), kind)


def differences_grid(comparison: Comparison) -> Grid:
    """Return the matrix of paired differences as a table."""
    lines = [
        (f"{i}. {name}", *("" if c is None else f"{c.difference} ({c.p})" if c.p else c.difference for c in cells))
        for i, (name, cells) in enumerate(zip(comparison.models, differences(comparison), strict=True), start=1)
    ]
    return Grid(
        f"Paired differences: {comparison.heading}",
        ("model", *(str(i) for i in range(1, len(lines) + 1))),
        tuple(lines),
        (
            "Test accuracy of the row’s model minus that of the column’s, in percentage points, over common seeds; in "
            "brackets p of the paired t-test with Holm’s correction over all pairs of this table.",
        ),
    )
