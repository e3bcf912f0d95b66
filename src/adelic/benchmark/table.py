"""The table: our figures beside the published ones, for the terminal, Markdown, CSV and the report page."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from rich.table import Table

from adelic.benchmark import further_table
from adelic.benchmark.results import Summary, mean_with_interval, recipe_text
from adelic.benchmark.rows import published_rows

ONE_CLASS = "†"
NOT_RUN = "not run"


@dataclass(frozen=True)
class Line:
    """A line of the table, as texts; accuracies and rates in percent.

    The order of the fields is the order of the columns.
    """

    task: str
    model: str
    recipe: str
    seeds: str
    majority: str
    accuracy: str
    balanced_accuracy: str
    macro_f1: str
    loss: str
    paper: str
    acd_authors: str


HEADERS = {
    "task": "task",
    "model": "model",
    "recipe": "recipe",
    "seeds": "seeds",
    "majority": "majority class",
    "accuracy": "test accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro-F1",
    "loss": "test loss",
    "paper": "paper",
    "acd_authors": "ACD authors",
}
NOTES = (
    "Accuracies in percent on the test split, for the weights with the best validation accuracy. "
    "majority class: the accuracy of always saying the most frequent class. "
    "paper: the accuracy that the AOE paper gives for the model. "
    "ACD authors: their small model of the same kind, for every embedding their Transformer (for weaving on an older "
    "format of the data)."
)
ONE_CLASS_NOTE = f"{ONE_CLASS} with at least one seed the model predicts one class only."


def lines(summaries: Iterable[Summary], *, all_rows: bool = False) -> list[Line]:
    """Return the table's lines in the paper's order of rows.

    Args:
        summaries: what was run.
        all_rows: also say "not run" of the paper's rows and models that were not.
    """
    found = [summary for summary in summaries if summary.has_one_class_a_row]  # others: `further_table`
    names = list(published_rows())
    names += [s.row for s in found if s.row not in names]
    result = []
    for name in dict.fromkeys(names):
        mine = [s for s in found if s.row == name]
        result += [_line(s) for s in mine]
        for embedding, label in (("adelic", "AOE"), ("learned", "learned")):
            if all_rows and name in published_rows() and all(s.first["embedding"] != embedding for s in mine):
                result.append(_not_run(name, embedding, label))
    return result


def _line(summary: Summary) -> Line:
    first = summary.first
    row = published_rows().get(summary.row)
    paper = row.paper(first["embedding"]) if row and summary.is_flat else None
    acd_authors = row.acd_authors(first["embedding"]) if row else None
    return Line(
        task=summary.title,
        model=summary.label + (f" {ONE_CLASS}" if summary.predicts_one_class else ""),
        recipe=recipe_text(first),
        seeds=str(len(summary.seeds)),
        majority=f"{100 * first['majority']:.2f}",
        accuracy=_figure(summary, "accuracy", 100, 2),
        balanced_accuracy=_figure(summary, "balanced_accuracy", 100, 2),
        macro_f1=_figure(summary, "macro_f1", 100, 2),
        loss=_figure(summary, "loss", 1, 4),
        paper="–" if paper is None else f"{paper.accuracy:.2f}",
        acd_authors="–" if acd_authors is None else str(acd_authors),
    )


def _figure(summary: Summary, metric: str, scale: float, decimals: int) -> str:
    values = (result["test"][metric] for result in summary.results)
    return mean_with_interval(values, scale=scale, decimals=decimals)


def _not_run(name: str, embedding: str, label: str) -> Line:
    row = published_rows()[name]
    paper = row.paper(embedding)
    assert paper is not None
    blank = {field.name: "–" for field in fields(Line)}
    return Line(
        **blank
        | {
            "task": name,
            "model": label,
            "accuracy": NOT_RUN,
            "paper": f"{paper.accuracy:.2f}",
            "acd_authors": str(row.acd_transformer),
        }
    )


def notes(table: Iterable[Line]) -> list[str]:
    """Return the sentences that stand under a table."""
    return [NOTES] + ([ONE_CLASS_NOTE] if any(ONE_CLASS in line.model for line in table) else [])


@dataclass(frozen=True)
class Content:
    """A table ready to be written, the paper's or another one.

    Attributes:
        lines: instances of one dataclass whose fields are texts; the first three columns are names, then figures.
        headers: header of each field.
        notes: sentences under the table.
    """

    lines: Sequence[Any]
    headers: Mapping[str, str]
    notes: Sequence[str]


def paper_content(table: list[Line]) -> Content:
    """Return the paper's table from its lines."""
    return Content(table, HEADERS, notes(table))


def contents(summaries: Iterable[Summary], *, all_rows: bool = False) -> list[Content]:
    """Return the paper's table, and that of the tasks with several targets or numbers if there are results of them.

    The first is left out where all results belong to the second.
    """
    found = list(summaries)
    first, second = lines(found, all_rows=all_rows), further_table.lines(found)
    tables = [paper_content(first)] if first or not second else []
    return tables + ([Content(second, further_table.HEADERS, further_table.NOTES)] if second else [])


def to_rich(table: Content) -> Table:
    """Return a table for the terminal."""
    rich_table = Table(caption="\n".join(table.notes), caption_justify="left", header_style="bold")
    for i, header in enumerate(table.headers.values()):
        rich_table.add_column(header, justify="left" if i < 3 else "right", overflow="fold")
    for before, line in zip([None, *table.lines], table.lines, strict=False):
        if before is not None and before.task != line.task:
            rich_table.add_section()
        rich_table.add_row(*astuple(line))
    return rich_table


def to_markdown(table: Content) -> str:
    """Return a table in Markdown, with its notes."""
    return markdown(list(table.headers.values()), map(astuple, table.lines), table.notes, names=3)


def markdown(headers: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str], *, names: int) -> str:
    """Return a table in Markdown, with its notes.

    Args:
        headers: of the columns.
        rows: of cells, as many as headers.
        notes: sentences under the table.
        names: how many columns at the left are names; the others are figures.

    >>> print(markdown(["row", "rate"], [["a", "1"]], ["A note."], names=1))
    | row | rate |
    |---|---:|
    | a | 1 |
    <BLANKLINE>
    A note.
    <BLANKLINE>
    """
    head = "| " + " | ".join(headers) + " |\n|" + "---|" * names + "---:|" * (len(headers) - names)
    body = "\n".join("| " + " | ".join(cells) + " |" for cells in rows)
    return f"{head}\n{body}\n\n" + "\n".join(notes) + "\n"


def to_csv(table: Content) -> str:
    """Return a table as CSV, headers first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.headers.values())
    writer.writerows(astuple(line) for line in table.lines)
    return out.getvalue()
