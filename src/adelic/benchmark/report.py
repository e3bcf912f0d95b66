"""The report: terminal table, Markdown, CSV, and one self-contained HTML page."""

from pathlib import Path
from typing import Any

import jinja2

import adelic
from adelic.acd.files import atomic_write
from adelic.benchmark import table
from adelic.benchmark.plots import learning_curves
from adelic.benchmark.results import Summary
from adelic.errors import ConfigurationError


def write_report(summaries: list[Summary], page: Path, *, all_rows: bool = False) -> list[Path]:
    """Write the HTML page, and its tables beside it as CSV and Markdown; two tables have an empty line between them.

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
    ['page.html', 'page.csv', 'page.md']
    """
    if page.suffix not in (".html", ".htm"):
        raise ConfigurationError(f"the report {str(page)!r} is a page: give it a name that ends in .html")
    tables = table.contents(summaries, all_rows=all_rows)
    files = {
        page: render_page(summaries, tables),
        page.with_suffix(".csv"): "\n".join(map(table.to_csv, tables)),
        page.with_suffix(".md"): "\n".join(map(table.to_markdown, tables)),
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
    rows: dict[str, list[Summary]] = {}
    for summary in summaries:
        rows.setdefault(summary.row, []).append(summary)
    return environment.get_template("report.html").render(
        version=adelic.__version__,
        tables=tables,
        curves=[(name, svg) for name, found in rows.items() if (svg := learning_curves(found))],
        runs=[_provenance(result) for summary in summaries for result in summary.results],
    )


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
