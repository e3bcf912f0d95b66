"""The report: one self-contained HTML page, all tables as Markdown and CSV beside it, and the figures as files."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup, escape

from adelic.errors import ConfigurationError
from adelic.storage.files import atomic_write, check_writable, file_name, storage_errors
from adelic.storage.version import VERSION
from adelic_lab.report import TABLES, plots, tables
from adelic_lab.report.frame import Comparison, by_name, comparisons, model_frame, on_most_rows, run_frame
from adelic_lab.report.table import NOT_RUN, to_markdown
from adelic_lab.results.result import Result

_TITLE = b"<title>adelic: results</title>"  # as templates/report.html has it


def write_report(
    results: Sequence[Result], page: Path, *, all_rows: bool = False, row: str | None = None
) -> list[Path]:
    """Write the HTML page, the table of the runs beside it as CSV and Markdown, and all other tables as Markdown.

    Where there are two tables of runs, they have an empty line between them.

    Args:
        results: what was run.
        page: path of the HTML page.
        all_rows: also list the paper's datasets that were not run.
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
    csv_file, markdown, further = _companions(page)
    runs = tables.tables(results, "runs", all_rows=all_rows)
    others = [to_markdown(tables.tables(results, name, row=row)) for name in TABLES if name != "runs"]
    files = {
        page: render_page(results, all_rows=all_rows, row=row),
        csv_file: "\n".join(table.to_csv() for table in runs),
        markdown: to_markdown(runs),
        further: "\n".join(others),
    }
    for path, text in files.items():
        atomic_write(path, text)
    return list(files)


def _companions(page: Path) -> tuple[Path, Path, Path]:
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
    is_report = False
    if page.is_file():
        with storage_errors(f"cannot read {page}", "give the report another name"), page.open("rb") as file:
            is_report = _TITLE in file.read(1000)
    for beside in () if is_report else _companions(page):
        if beside.exists():
            raise ConfigurationError(
                f"the report {page} comes with {beside}, and there is such a file already, which is no report's: "
                "give the report another name, or that file"
            )


def render_page(results: Sequence[Result], *, all_rows: bool = False, row: str | None = None) -> str:
    """Return the HTML page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("adelic_lab.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _with_code
    runs = run_frame(results)
    (best,) = tables.tables(results, "overview", row=row)
    paper = tables.tables(results, "accuracy", "loss", row=row)
    if not all_rows:
        best, *paper = (replace(each, frame=each.frame[_is_run(each.frame)]) for each in (best, *paper))
    further = (
        []
        if runs.empty
        else [by_name(model_frame(of)) for _, of in runs[runs.exact_match.notna()].groupby("title", sort=False)]
    )
    return environment.get_template("report.html").render(
        version=VERSION,
        overview=best,
        contrasts=tables.tables(results, "contrasts", row=row)[0],
        paper=[table for table in paper if table.rows],
        rows=row_sections(comparisons(runs)),
        runs=tables.tables(results, "runs", all_rows=all_rows),
        further_curves=[
            (group.title.iloc[0], plots.learning_curves(group, f"Learning curves of {group.title.iloc[0]}"))
            for group in further
        ],
        provenance=tables.provenance(results),
    )


def _is_run(lines: pd.DataFrame) -> "pd.Series[bool]":
    """Return which lines have a figure of ours."""
    ours = ("AOE", "learned", "best other embedding", "best classical model", "ours: AOE", "ours: learned")
    return (lines[[column for column in ours if column in lines]] != NOT_RUN).any(axis=1)


def _with_code(text: str) -> Markup:
    """Return a text for the page, what stands between backticks as code.

    >>> _with_code("a < b in `adelic data`")
    Markup('a &lt; b in <code>adelic data</code>')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def figures(results: Iterable[Result]) -> dict[str, str]:
    """Return the page's figures, as SVG documents that are readable on light and on dark ground, by file name.

    These are, of each dataset (with its edition and split) and recipe, DATASET-RECIPE-rows.svg (accuracy against
    training examples), -cost.svg and -curves.svg. Confusion matrices stay on the page: no one ink is readable on all
    their shades.

    >>> figures([])
    {}
    """
    found: dict[str, str] = {}
    for row in row_sections(comparisons(run_frame(results))):
        for kind in ("rows", "cost", "curves"):
            if (svg := row[kind]) is not None:
                name = re.sub(r"\W+", "-", f"{row['title']} {kind}").strip("-")
                found[file_name(name, ".svg")] = svg.replace("<svg ", f'<svg color="{plots.GREY}" ', 1) + "\n"
    return found


def row_sections(found: list[Comparison]) -> list[dict[str, Any]]:
    """Return the sections of all datasets and recipes, in the given order, as the page's template has them.

    Each has a `title`; its `models`, a table; `tests`: AOE less learned vectors and what one change of a model brings,
    those that have a line; figures as SVG elements, None where there is none: `confusion` (of AOE's best
    form and the best other model on validation data, by name), `rows`, `cost` (but for models that are `far_below`)
    and `curves`; and `smaller`, the tables of fewer training examples.
    """
    sections = []
    for one in on_most_rows(found):
        title = f"{one.first.title}, recipe {one.recipe}{one.fewer_examples}"
        same = [c for c in found if (c.first.data, c.recipe) == (one.first.data, one.recipe)]
        tests = [tables.contrasts_table([one]), tables.changes_table(one)]
        best = filter(None, (one.best(kinds=["AOE"]), one.best(kinds=["rival", "outside"])))
        far_below = plots.far_below(one.models.accuracy)
        sections.append(
            {
                "title": one.heading,
                "models": tables.models_table([one]),
                "tests": [table for table in tests if table.rows],
                "confusion": {
                    name: plots.confusion_matrix(one.models.loc[name], f"Confusion matrix of {name}: {title}")
                    for name in best
                },
                "rows": plots.accuracy_against_rows(same, f"Accuracy against training examples: {title}"),
                "cost": plots.accuracy_against_time(
                    one.models.drop(index=far_below), f"Training time against accuracy: {title}"
                ),
                "devices": sorted({device for runs in one.models.runs for device in runs.device}),
                "far_below": far_below,
                "curves": plots.learning_curves(one.models, f"Learning curves of {title}"),
                "smaller": [*tables.sizes_tables(same), *(tables.models_table([c]) for c in same if c is not one)],
            }
        )
    return sections
