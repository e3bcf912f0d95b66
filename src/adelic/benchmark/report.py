"""The report: terminal table, Markdown, CSV, and one self-contained HTML page."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from adelic.benchmark import table
from adelic.benchmark.comparison import comparisons, on_most_rows
from adelic.benchmark.contrasts import contrasts_grid, differences_grid
from adelic.benchmark.grid import Grid, to_markdown
from adelic.benchmark.overview import models_grid, overview, paper_grid, recipe_grids
from adelic.benchmark.plots import GREY
from adelic.benchmark.results import Summary
from adelic.benchmark.sections import Part, further_curves, row_sections
from adelic.errors import ConfigurationError
from adelic.storage.files import atomic_write
from adelic.storage.version import VERSION


def write_report(summaries: list[Summary], page: Path, *, all_rows: bool = False) -> list[Path]:
    """Write the HTML page, the table of the runs beside it as CSV and Markdown, and all other tables as Markdown.

    Where there are two tables of runs, they have an empty line between them.

    Args:
        summaries: what was run.
        page: path of the HTML page.
        all_rows: also list the paper's rows that were not run.

    Returns:
        The files written.

    Raises:
        ConfigurationError: the page's name does not end in .html.
        StorageError: a file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_report([], Path(folder) / "page.html", all_rows=True)]
    ['page.html', 'page.csv', 'page.md', 'page-tables.md']
    """
    if page.suffix not in (".html", ".htm"):
        raise ConfigurationError(f"the report {str(page)!r} is a page: give it a name that ends in .html")
    tables = table.contents(summaries, all_rows=all_rows)
    files = {
        page: render_page(summaries, tables),
        page.with_suffix(".csv"): "\n".join(map(table.to_csv, tables)),
        page.with_suffix(".md"): "\n".join(map(table.to_markdown, tables)),
        page.with_name(f"{page.stem}-tables.md"): "\n".join(to_markdown(grids(summaries, name)) for name in TABLES),
    }
    for path, text in files.items():
        atomic_write(path, text)
    return list(files)


def render_page(summaries: list[Summary], tables: list[table.Content]) -> str:
    """Return the HTML page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("adelic.benchmark"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found = comparisons(summaries)
    main = on_most_rows(found)
    return environment.get_template("report.html").render(
        version=VERSION,
        overview=overview(main),
        contrasts=contrasts_grid(main),
        recipes=recipe_grids(main),
        paper=[paper_grid(main, "accuracy"), paper_grid(main, "loss")],
        rows=row_sections(found),
        tables=tables,
        further_curves=further_curves(summaries),
        runs=[_provenance(result) for summary in summaries for result in summary.results],
    )


TABLES = ("overview", "contrasts", "recipes", "accuracy", "loss", "models", "differences")
"""What `grids` makes besides the tables of the runs."""


def grids(summaries: list[Summary], *names: str) -> list[Grid]:
    """Return the page's tables but for those of the runs: those with these names of `TABLES`, all by default.

    >>> [grid.title for grid in grids([], "overview", "loss")]
    ['Each row', 'The paper’s table of test losses, and ours']
    """
    found = comparisons(summaries)
    main = on_most_rows(found)
    makers: dict[str, Callable[[], list[Grid]]] = {
        "overview": lambda: [overview(main)],
        "contrasts": lambda: [contrasts_grid(main)],
        "recipes": lambda: recipe_grids(main),
        "accuracy": lambda: [paper_grid(main, "accuracy")],
        "loss": lambda: [paper_grid(main, "loss")],
        "models": lambda: [models_grid(comparison) for comparison in found],
        "differences": lambda: [grid for grid in map(differences_grid, main) if grid.rows],
    }
    return [grid for name in names or TABLES for grid in makers[name]()]


def figures(summaries: list[Summary]) -> dict[str, str]:
    """Return the page's figures, as SVG documents that are readable on light and on dark ground, by file name.

    These are, of each row (with its edition and split) and recipe, ROW-RECIPE-rows.svg (accuracy against training
    rows), -cost.svg and -curves.svg. Confusion matrices stay on the page: no one ink is readable on all their shades.

    >>> figures([])
    {}
    """
    parts: dict[str, Part] = {}
    for row in row_sections(comparisons(summaries)):
        parts |= {f"{row.title} {what}": getattr(row, part) for what, part in _ROW_FIGURES.items()}
    svgs = {re.sub(r"\W+", "-", name).strip("-"): part.svg for name, part in parts.items() if part.svg}
    return {f"{name}.svg": svg.replace("<svg ", f'<svg color="{GREY}" ', 1) + "\n" for name, svg in svgs.items()}


_ROW_FIGURES = {"rows": "efficiency", "cost": "cost", "curves": "curves"}


def _provenance(result: dict[str, Any]) -> dict[str, str]:
    """Return what it takes to repeat a run, as texts."""
    return {
        "command": result["command"],
        "seconds": f"{result['seconds']:.0f}",
        "parameters": f"{result['parameters']:,}",
        "device": result["device"],
        "versions": ", ".join(f"{name} {version}" for name, version in result["versions"].items()),
        "commit": (result["commit"] or "unknown")[:12],
    }
