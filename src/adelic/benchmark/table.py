"""The table: our figures beside the published ones, for the terminal, Markdown, CSV and the report page."""

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields

from rich.table import Table

from adelic.benchmark.results import Summary
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
    "ACD authors: their small Transformer (for weaving on an older format of the data)."
)
ONE_CLASS_NOTE = f"{ONE_CLASS} the model predicts one class only."


def lines(summaries: Iterable[Summary], *, all_rows: bool = False) -> list[Line]:
    """Return the table's lines in the paper's order of rows.

    Args:
        summaries: what was run.
        all_rows: also say "not run" of the paper's rows and models that were not.
    """
    found = list(summaries)
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
    edition = "" if first["edition"] == "published" else f" ({first['edition']})"
    recipe = first["configuration"]["recipe"]
    return Line(
        task=summary.row + edition,
        model=summary.label + (f" {ONE_CLASS}" if summary.predicts_one_class else ""),
        recipe=f"{first['recipe']}, {recipe['epochs']} epochs",
        seeds=str(len(summary.seeds)),
        majority=f"{100 * first['majority']:.2f}",
        accuracy=_figure(summary, "accuracy", 100, 2),
        balanced_accuracy=_figure(summary, "balanced_accuracy", 100, 2),
        macro_f1=_figure(summary, "macro_f1", 100, 2),
        loss=_figure(summary, "loss", 1, 4),
        paper="–" if paper is None else f"{paper.accuracy:.2f}",
        acd_authors="–" if row is None else str(row.acd_transformer),
    )


def _figure(summary: Summary, metric: str, scale: float, decimals: int) -> str:
    interval = summary.interval(metric)
    text = f"{scale * summary.mean(metric):.{decimals}f}"
    return text if interval is None else f"{text} ± {scale * interval:.{decimals}f}"


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


def to_rich(table: list[Line]) -> Table:
    """Return the table for the terminal."""
    rich_table = Table(caption="\n".join(notes(table)), caption_justify="left", header_style="bold")
    for i, header in enumerate(HEADERS.values()):
        rich_table.add_column(header, justify="left" if i < 3 else "right", overflow="fold")
    for before, line in zip([None, *table], table, strict=False):
        if before is not None and before.task != line.task:
            rich_table.add_section()
        rich_table.add_row(*astuple(line))
    return rich_table


def to_markdown(table: list[Line]) -> str:
    """Return the table in Markdown, with its notes."""
    head = "| " + " | ".join(HEADERS.values()) + " |\n|" + "---|" * 3 + "---:|" * (len(HEADERS) - 3)
    body = "\n".join("| " + " | ".join(astuple(line)) + " |" for line in table)
    return f"{head}\n{body}\n\n" + "\n".join(notes(table)) + "\n"


def to_csv(table: list[Line]) -> str:
    """Return the table as CSV, headers first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADERS.values())
    writer.writerows(astuple(line) for line in table)
    return out.getvalue()
