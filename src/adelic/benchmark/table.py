"""The table: our figures beside the published ones, for the terminal, Markdown, CSV and the report page."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from rich.table import Table

from adelic.benchmark import further_table
from adelic.benchmark.grid import LOOK_UP_NOTE, NONE, NOT_RUN, RULE_NOTE, mark_notes, markdown, marks, percent
from adelic.benchmark.results import Summary, mean_with_interval, recipe_text
from adelic.benchmark.rows import published_rows


@dataclass(frozen=True)
class Line:
    """A line of the table, as texts; accuracies and rates in percent.

    The order of the fields is the order of the columns.
    """

    task: str
    model: str
    training: str
    majority: str
    lookup: str
    rule: str
    accuracy: str
    macro_f1: str
    loss: str
    published: str


HEADERS = {
    "task": "task",
    "model": "model",
    "training": "training",
    "majority": "majority class",
    "lookup": "look-up",
    "rule": "best trivial rule",
    "accuracy": "test accuracy",
    "macro_f1": "macro-F1",
    "loss": "test loss",
    "published": "published",
}
NOTES = (
    "Accuracies in percent on the test split, for the weights with the best validation accuracy; mean over seeds ± "
    "half width of the 95 % interval, of two seeds the range. "
    "majority class: the accuracy of always saying the most frequent class. "
    f"{LOOK_UP_NOTE} "
    f"{RULE_NOTE} In brackets what is read. "
    "published: the accuracy that the AOE paper gives for the model, and the ACD authors for their small model of the "
    "same kind (for every embedding their Transformer), on this edition and split."
)


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
        mine = sorted((s for s in found if s.row == name), key=lambda summary: summary.title)
        result += [_line(s) for s in mine]
        for embedding, label in (("adelic", "AOE"), ("learned", "learned")):
            ran = {s.first["embedding"] for s in mine if s.title == name}
            if all_rows and name in published_rows() and embedding not in ran:
                result.append(_not_run(name, embedding, label))
    return result


def _line(summary: Summary) -> Line:
    first = summary.first
    count = len(summary.seeds)
    return Line(
        task=summary.title,
        model=summary.label + marks(summary),
        training=f"{recipe_text(first)}, {count} seed{'s' if count > 1 else ''}",
        majority=percent(summary.trivial("majority")),
        lookup=percent(summary.trivial("lookup")),
        rule=summary.rule,
        accuracy=_figure(summary, "accuracy", 100, 2),
        macro_f1=_figure(summary, "macro_f1", 100, 2),
        loss=_figure(summary, "loss", 1, 4),
        published=_published(summary),
    )


def _published(summary: Summary) -> str:
    """Return the figures that are published for a model on this edition and split: paper 87.89, ACD 94.6 ± 1.0."""
    row = published_rows().get(summary.row)
    if row is None or summary.split != "published":
        return NONE
    embedding = summary.first["embedding"]
    paper = row.paper(embedding, summary.edition) if summary.is_flat else None
    acd = row.acd_authors(embedding, summary.edition)
    said = [f"paper {paper.accuracy:.2f}"] if paper else []
    return ", ".join([*said, *([f"ACD {acd}"] if acd else [])]) or NONE


def _figure(summary: Summary, metric: str, scale: float, decimals: int) -> str:
    return mean_with_interval(summary.values(metric), scale=scale, decimals=decimals)


def _not_run(name: str, embedding: str, label: str) -> Line:
    row = published_rows()[name]
    paper, acd = row.paper(embedding), row.acd_authors(embedding)
    assert paper is not None
    blank = {field.name: NONE for field in fields(Line)}
    said = f"paper {paper.accuracy:.2f}" + (f", ACD {acd}" if acd else "")
    return Line(**blank | {"task": name, "model": label, "accuracy": NOT_RUN, "published": said})


def notes(table: Iterable[Line]) -> list[str]:
    """Return the sentences that stand under a table."""
    return [NOTES, *mark_notes(line.model for line in table)]


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


def to_csv(table: Content) -> str:
    """Return a table as CSV, headers first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.headers.values())
    writer.writerows(astuple(line) for line in table.lines)
    return out.getvalue()
