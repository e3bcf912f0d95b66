"""The report: all tables as Markdown and CSV, the figures as files, and one self-contained HTML page."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from adelic.errors import ConfigurationError
from adelic.storage.files import atomic_write, check_writable, file_name, storage_errors
from adelic.storage.version import VERSION
from adelic_lab.report.comparison import Comparison, comparisons, named, on_most_rows
from adelic_lab.report.contrasts import changes_table, contrasts_table, differences_table
from adelic_lab.report.plots import GREY, learning_curves
from adelic_lab.report.results import Summary
from adelic_lab.report.row_plots import confusion_matrix, cost_scatter, efficiency, efficiency_curves, far_below
from adelic_lab.report.row_tables import (
    answer,
    costs_table,
    models_table,
    overview,
    paper_table,
    recipe_tables,
    sizes_tables,
)
from adelic_lab.report.rows import published_rows
from adelic_lab.report.run_tables import provenance, run_tables
from adelic_lab.report.table import NOT_RUN, Table, to_markdown

TABLES = (
    *("runs", "overview", "contrasts", "recipes", "accuracy", "loss", "costs", "models", "differences", "changes"),
    "sizes",
)
"""The names that `tables` knows."""
_TITLE = b"<title>adelic: results</title>"  # as templates/report.html has it


def tables(summaries: list[Summary], *names: str, all_rows: bool = False, row: str | None = None) -> list[Table]:
    """Return the page's tables with these names of `TABLES`, all by default.

    With `all_rows`, "runs" also lists the paper's rows that were not run. Where these are the runs of one `row`,
    nothing is said of the paper's other rows.

    >>> [table.title for table in tables([], "overview", "loss")]
    ['Each row', 'The paper’s table of test losses, and ours']
    """
    found = comparisons(summaries)
    main = on_most_rows(found)
    makers: dict[str, Callable[[], list[Table]]] = {
        "runs": lambda: run_tables(summaries, all_rows=all_rows),
        "overview": lambda: [overview(main, row)],
        "contrasts": lambda: [contrasts_table(main)],
        "recipes": lambda: recipe_tables(main),
        "accuracy": lambda: [paper_table(main, "accuracy", row)],
        "loss": lambda: [paper_table(main, "loss", row)],
        "costs": lambda: [costs_table(main, row)],
        "models": lambda: [models_table(comparison) for comparison in found],
        "differences": lambda: [table for table in map(differences_table, main) if table.rows],
        "sizes": lambda: sizes_tables(found),
        "changes": lambda: [table for table in map(changes_table, main) if table.rows],
    }
    return [table for name in names or TABLES for table in makers[name]()]


def write_report(summaries: list[Summary], page: Path, *, all_rows: bool = False, row: str | None = None) -> list[Path]:
    """Write the HTML page, the table of the runs beside it as CSV and Markdown, and all other tables as Markdown.

    Where there are two tables of runs, they have an empty line between them.

    Args:
        summaries: what was run.
        page: path of the HTML page.
        all_rows: also list the paper's rows that were not run.
        row: as for `tables`.

    Returns:
        The files written.

    Raises:
        ConfigurationError: the page's name does not end in .html, or is that of a folder.
        StorageError: a file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_report([], Path(folder) / "page.html", all_rows=True)]
    ['page.html', 'page.csv', 'page.md', 'page-tables.md']
    """
    check_page(page)
    csv_file, markdown, further = companions(page)
    runs = tables(summaries, "runs", all_rows=all_rows)
    others = [to_markdown(tables(summaries, name, row=row)) for name in TABLES if name != "runs"]
    files = {
        page: render_page(summaries, all_rows=all_rows, row=row),
        csv_file: "\n".join(table.to_csv() for table in runs),
        markdown: to_markdown(runs),
        further: "\n".join(others),
    }
    for path, text in files.items():
        atomic_write(path, text)
    return list(files)


def companions(page: Path) -> tuple[Path, Path, Path]:
    """Return the files beside a page: the table of the runs as CSV and as Markdown, and all other tables."""
    return page.with_suffix(".csv"), page.with_suffix(".md"), page.with_name(f"{page.stem}-tables.md")


def check_page(page: Path) -> None:
    """Raise unless a report can have this name, and no file is in the way of it and of what is written beside it.

    Files beside it are replaced where the page is there, too, and is a report: they came with it.

    >>> check_page(Path("report.txt"))
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: the report 'report.txt' is a page: give it a name that ends in .html
    """
    if page.suffix not in (".html", ".htm"):
        raise ConfigurationError(f"the report {str(page)!r} is a page: give it a name that ends in .html")
    check_writable(page, remedy="give the report another name")
    if not _is_report(page):
        for beside in companions(page):
            if beside.exists():
                raise ConfigurationError(
                    f"the report {page} comes with {beside}, and there is such a file already, which is no report's: "
                    "give the report another name, or that file"
                )


def _is_report(page: Path) -> bool:
    """Return whether a file is the page of a report."""
    if not page.is_file():
        return False
    with storage_errors(f"cannot read {page}", "give the report another name"), page.open("rb") as file:
        return _TITLE in file.read(1000)


def render_page(summaries: list[Summary], *, all_rows: bool = False, row: str | None = None) -> str:
    """Return the HTML page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("adelic_lab.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _with_code
    (best,), (contrasts,) = (tables(summaries, name, row=row) for name in ("overview", "contrasts"))
    if not all_rows:
        best = _without_what_was_not_run(best)
    return environment.get_template("report.html").render(
        version=VERSION,
        answer=answer(on_most_rows(comparisons(summaries))),
        overview=best,
        contrasts=contrasts,
        recipes=tables(summaries, "recipes"),
        paper=[table for table in tables(summaries, "accuracy", "loss", row=row) if table.rows],
        rows=row_sections(comparisons(summaries)),
        runs=tables(summaries, "runs", all_rows=all_rows),
        further_curves=further_curves(summaries),
        provenance=provenance(summaries),
    )


def _with_code(text: str) -> Markup:
    """Return a text for the page, what stands between backticks as code.

    >>> _with_code("a < b in `adelic data`")
    Markup('a &lt; b in <code>adelic data</code>')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _without_what_was_not_run(table: Table) -> Table:
    """Return the overview without the lines of rows that were not run, which a note names."""
    # The columns of AOE and learned vectors, and those of the best rival and the best model outside.
    ran = [i for i, row in enumerate(table.rows) if row[1:3] != (NOT_RUN, NOT_RUN) or row[4:6] != (NOT_RUN, NOT_RUN)]
    absent = [row[0] for i, row in enumerate(table.rows) if i not in ran]
    note = f"Not run, of the AOE paper’s rows: {', '.join(absent)}."
    return replace(
        table,
        rows=tuple(table.rows[i] for i in ran),
        notes=(*table.notes, note) if absent else table.notes,
        ahead=frozenset((ran.index(i), column) for i, column in table.ahead),
    )


def figures(summaries: list[Summary]) -> dict[str, str]:
    """Return the page's figures, as SVG documents that are readable on light and on dark ground, by file name.

    These are, of each row (with its edition and split) and recipe, ROW-RECIPE-rows.svg (accuracy against training
    rows), -cost.svg and -curves.svg. Confusion matrices stay on the page: no one ink is readable on all their shades.

    >>> figures([])
    {}
    """
    parts: dict[str, Part] = {}
    for row in row_sections(comparisons(summaries)):
        parts |= {f"{row.title} rows": row.efficiency, f"{row.title} cost": row.cost, f"{row.title} curves": row.curves}
    svgs = {re.sub(r"\W+", "-", name).strip("-"): part.svg for name, part in parts.items() if part.svg}
    return {
        file_name(name, ".svg"): svg.replace("<svg ", f'<svg color="{GREY}" ', 1) + "\n" for name, svg in svgs.items()
    }


@dataclass(frozen=True)
class Part:
    """A figure, or the sentence and the command that stand in its place.

    Attributes:
        svg: the figure, None where it is missing.
        text: a note on the figure, or the reason why it is missing.
        command: what would make it.
    """

    svg: str | None
    text: str | None = None
    command: str | None = None


@dataclass(frozen=True)
class RowSection:
    """The section of the page about one row and one recipe.

    Attributes:
        name: anchor on the page.
        title: heading.
        models: every model.
        tests: declared contrast, exploratory differences, what one change of a model brings; those that have a line.
        smaller: models by the number of training rows, and the tables of those with fewer, if there are some.
    """

    name: str
    title: str
    models: Table
    tests: list[Table]
    confusion: list[tuple[str, Part]]
    efficiency: Part
    cost: Part
    curves: Part
    smaller: list[Table]


def row_sections(found: list[Comparison]) -> list[RowSection]:
    """Return the sections of all rows and recipes, in the given order."""
    sections = []
    for i, comparison in enumerate(on_most_rows(found)):
        same = [c for c in found if (c.first.data, c.recipe) == (comparison.first.data, comparison.recipe)]
        tests = [contrasts_table([comparison]), differences_table(comparison), changes_table(comparison)]
        sections.append(
            RowSection(
                name=f"row-{i}",
                title=comparison.heading,
                models=models_table(comparison),
                tests=[table for table in tests if table.rows],
                confusion=_confusion(comparison),
                efficiency=_efficiency(comparison, same),
                cost=_cost(comparison),
                curves=_curves(comparison.models, comparison.title),
                smaller=[*sizes_tables(same), *(models_table(c) for c in same if c is not comparison)],
            )
        )
    return sections


def _confusion(comparison: Comparison) -> list[tuple[str, Part]]:
    """Return the matrices of AOE's best form and of the best other model, chosen on validation data."""
    parts = []
    for kinds in (("AOE",), ("rival", "outside")):
        name = comparison.best(*kinds)
        if name is not None:
            model = comparison.models[name]
            svg = confusion_matrix(model, f"Confusion matrix of {name}: {comparison.title}")
            reason = "These results hold no confusion matrix."
            if model.confusion is not None:
                reason = (
                    f"A matrix of {len(model.confusion)} classes is not drawn; result.json of a run has its counts."
                )
            parts.append((name, Part(svg, None if svg else reason)))
    return parts


def _efficiency(comparison: Comparison, same: list[Comparison]) -> Part:
    found = efficiency(same)
    if found:
        return Part(efficiency_curves(found, f"Accuracy against training rows: {comparison.title}"))
    text = "No model ran on several numbers of training rows"
    if comparison.row not in published_rows():  # `adelic reproduce` does not know it
        return Part(None, f"{text}.")
    rows = max(comparison.first.train_rows // 10, 1)
    command = f"adelic reproduce {comparison.row} {comparison.option} --max-rows {rows}"
    return Part(None, f"{text}; a tenth of them:", command)


def _cost(comparison: Comparison) -> Part:
    devices = sorted(set().union(*(model.devices for model in comparison.models.values())))
    text = f"All on {devices[0]}." if len(devices) == 1 else f"Times are of different devices: {'; '.join(devices)}."
    far = far_below({name: model.mean("accuracy") for name, model in comparison.models.items()})
    shown = {name: model for name, model in comparison.models.items() if name not in far}
    if far:
        text += f" Far below, and not shown: {', '.join(far)}."
    return Part(cost_scatter(shown, f"Training time against accuracy: {comparison.title}"), text)


def _curves(models: dict[str, Summary], title: str) -> Part:
    svg = learning_curves(models, f"Learning curves of {title}")
    return Part(svg, None if svg else "None of these models learns in epochs.")


def further_curves(summaries: Iterable[Summary]) -> list[tuple[str, Part]]:
    """Return the learning curves of the rows with several targets or a number."""
    rows: dict[str, list[Summary]] = {}
    for summary in summaries:
        if not summary.has_one_class_a_row:
            rows.setdefault(summary.data, []).append(summary)
    return [(mine[0].title, _curves(named(mine), mine[0].title)) for mine in rows.values()]
