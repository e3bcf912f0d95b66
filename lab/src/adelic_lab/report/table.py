"""The one kind of table, as Markdown, CSV or a table for the terminal, and how figures are written in its cells.

The report's template renders the same tables as HTML.
"""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from adelic_lab.report.results import Summary, confidence_interval

NONE = "–"
NOT_RUN = "not run"
IMPOSSIBLE = "—"
ONE_CLASS = "†"
ONE_SPLIT = "‡"
OTHER_PRECISION = "§"
EACH_SEED = "each seed"
MARK_NOTES = {
    ONE_CLASS: f"{ONE_CLASS} with at least one seed the model predicts one class only.",
    ONE_SPLIT: f"{ONE_SPLIT} older runs, made before a contrast was declared: all seeds have one split, so that "
    "intervals contain initial weights and order alone.",
    OTHER_PRECISION: f"{OTHER_PRECISION} not in the precision that the recipe says: in bfloat16 for float32, or the "
    "reverse.",
    EACH_SEED: f"{EACH_SEED}: all seeds have the same difference. Their spread is 0, so that Student’s t gives neither "
    "an interval nor a test.",
}
"""The explanation of each mark, which stands under a table where a cell has the mark."""
LOOK_UP_NOTE = (
    "look-up: memory alone, the label of an equal row among all that training may see (images included), else the most "
    "frequent class; a result is worth what it has above that."
)
RULE_NOTE = (
    "best trivial rule: one feature is read off the row, and the answer is the class that is most frequent in training "
    "with that value; validation chooses the feature (`adelic data audit` lists them all)."
)
FIGURES_NOTE = (
    "Test accuracy in percent, mean over seeds ± half width of the 95 % confidence interval (Student’s t), which "
    "contains initial weights, order and split: a seed draws all three, unless the literature gives the split. Of two "
    "seeds the range, of one the figure alone."
)


@dataclass(frozen=True)
class Table:
    """A table of texts, from which all pages, the report, the terminal and the CSV files are made.

    Attributes:
        columns: headings of the columns.
        rows: of cells, as many as columns.
        notes: sentences under the table; those of `MARK_NOTES` are added where a cell has the mark.
        title: heading; left out where it is empty.
        names: how many columns at the left are names; the others are figures.
        published: how many rows at the end are others' figures.
        ahead: the cells, (row, column), of a model that is ahead of its rivals beyond the intervals; the page has them
            bold.

    >>> print(Table(("row", "rate"), (("a", "1"),), ("A note.",), "Rates").to_markdown())
    ## Rates
    <BLANKLINE>
    | row | rate |
    |---|---:|
    | a | 1 |
    <BLANKLINE>
    A note.
    <BLANKLINE>
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    title: str | None = None
    names: int = 1
    published: int = 0
    ahead: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        """Explain the marks that stand in cells."""
        assert all(len(row) == len(self.columns) for row in self.rows), "a row has as many cells as there are columns"
        text = "".join(cell for row in self.rows for cell in row)
        found = (note for mark, note in MARK_NOTES.items() if mark in text)
        object.__setattr__(self, "notes", tuple(dict.fromkeys((*self.notes, *found))))  # once, in a changed copy too

    def to_markdown(self, *, without: Collection[str] = ()) -> str:
        """Return the table in Markdown, under its heading; "not run" in place of an empty one.

        Args:
            without: notes to leave out.
        """
        parts = [] if self.title is None else [f"## {self.title}"]
        if self.rows:
            rule = "|" + "---|" * self.names + "---:|" * (len(self.columns) - self.names)
            head, *body = (_markdown_row(row) for row in (self.columns, *self.rows))
            notes = "\n".join(note for note in self.notes if note not in without)
            parts += ["\n".join([head, rule, *body]), *([notes] if notes else [])]
        else:
            parts.append(NOT_RUN)
        return "\n\n".join(parts) + "\n"

    def to_csv(self) -> str:
        r"""Return the table as CSV, the columns' names first.

        >>> Table(("row", "rate"), (("a, b", "1"),)).to_csv()
        'row,rate\n"a, b",1\n'
        """
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.columns, *self.rows])
        return out.getvalue()


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def to_markdown(tables: Sequence[Table]) -> str:
    """Return tables in Markdown one after another; a note that several of them have stands under the last of these.

    >>> print(to_markdown([Table(("row",), (("a",),), ("A note.",), name) for name in "xy"]).count("A note."))
    1
    """
    last = {note: i for i, table in enumerate(tables) if table.rows for note in table.notes}
    texts = [table.to_markdown(without=[n for n in table.notes if last.get(n) != i]) for i, table in enumerate(tables)]
    return "\n".join(texts)


def marks(summary: Summary) -> str:
    """Return what stands behind a model's name: that it predicts one class, and others of `MARK_NOTES`."""
    said = {
        ONE_CLASS: summary.predicts_one_class,
        ONE_SPLIT: summary.has_one_split,
        OTHER_PRECISION: summary.has_other_precision,
    }
    return "".join(f" {mark}" for mark, holds in said.items() if holds)


def figure(summary: Summary, metric: str) -> str:
    """Return the mean of a test figure with its interval (rates in percent, losses as they are), or a dash."""
    if not summary.has(metric):
        return NONE
    is_loss = metric == "loss"
    return mean_with_interval(summary.values(metric), scale=1 if is_loss else 100, decimals=4 if is_loss else 2)


def mean_with_interval(
    values: Sequence[float], *, scale: float = 100.0, decimals: int = 2, write: Callable[[float], str] | None = None
) -> str:
    """Return a mean as text, with the half width of its confidence interval; of two values with their range.

    Values are one a seed, "not run" is the text without any. They are multiplied by `scale`, since rates are shown in
    percent; `write` may write the mean and the range otherwise.

    >>> mean_with_interval([0.90, 0.92, 0.94]), mean_with_interval([0.5], decimals=1), mean_with_interval([])
    ('92.00 ± 4.97', '50.0', 'not run')
    >>> mean_with_interval([94, 90], scale=1)
    '92.00 [90.00, 94.00]'
    """
    if not values:
        return NOT_RUN
    write = write or (lambda value: f"{scale * value:.{decimals}f}")
    text = write(float(np.mean(values)))
    interval = confidence_interval(values)
    if interval is not None:
        return f"{text} ± {scale * interval:.{decimals}f}"
    return text if len(values) == 1 else f"{text} [{write(min(values))}, {write(max(values))}]"


def percent(rate: float | None, *, decimals: int = 2, none: str = NONE) -> str:
    """Return a rate in percent; a dash, or other text, for None.

    >>> percent(0.5234), percent(0.5, decimals=1), percent(None)
    ('52.34', '50.0', '–')
    """
    return none if rate is None else f"{100 * rate:.{decimals}f}"


def points(difference: float) -> str:
    """Return a difference of rates in percentage points, with its sign.

    >>> points(0.0123), points(-0.5), points(0.0)
    ('+1.23', '−50.00', '0.00')
    """
    text = f"{100 * difference:+.2f}".replace("-", "−")
    return text[1:] if text[1:] == "0.00" else text


def span(bounds: tuple[float, float] | None) -> str:
    """Return the two ends of an interval of differences in percentage points; a dash for None.

    >>> span((-0.01, 0.025)), span(None)
    ('−1.00 to +2.50', '–')
    """
    return NONE if bounds is None else " to ".join(map(points, bounds))


def p_text(p: float | None) -> str:
    """Return a p-value as a table shows it; a dash where nothing was tested.

    >>> [p_text(p) for p in (None, 0.0002, 0.0123, 1.0)]
    ['–', '< 0.001', '0.012', '1']
    """
    if p is None:
        return NONE
    return "< 0.001" if p < 0.0005 else "1" if p >= 0.9995 else f"{p:.3f}"
