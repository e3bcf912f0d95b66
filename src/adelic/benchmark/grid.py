"""A table of texts with its heading and notes, and how figures and differences are written in one."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from adelic.benchmark.results import Summary, mean_with_interval

NONE = "–"
NOT_RUN = "not run"
ONE_CLASS = "†"
ONE_CLASS_NOTE = f"{ONE_CLASS} with at least one seed the model predicts one class only."
ONE_SPLIT = "‡"
ONE_SPLIT_NOTE = (
    f"{ONE_SPLIT} older runs, made before a contrast was declared: all seeds have one split, so that intervals contain "
    "initial weights and order alone."
)
LOOK_UP_NOTE = (
    "look-up: memory alone, the label of an equal row among all that training may see (images included), else the most "
    "frequent class; a result is worth what it has above that."
)
RULE_NOTE = (
    "best trivial rule: the class most frequent in training with what one reads off a row (`adelic data audit` has "
    "them all), chosen by validation."
)
FIGURES_NOTE = (
    "Test accuracy in percent, mean over seeds ± half width of the 95 % confidence interval (Student’s t), which "
    "contains initial weights, order and split: a seed draws all three, but for a split that the literature gives. Of "
    "two seeds the range, of one the figure alone."
)


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
        """Explain the marks of models, where they stand."""
        object.__setattr__(self, "notes", (*self.notes, *mark_notes(cell for row in self.rows for cell in row)))

    def to_markdown(self, *, without: Collection[str] = ()) -> str:
        """Return the table in Markdown, under its heading; "not run" in place of an empty one.

        Args:
            without: notes to leave out.
        """
        if not self.rows:
            return f"## {self.title}\n\n{NOT_RUN}\n"
        notes = [note for note in self.notes if note not in without]
        return f"## {self.title}\n\n{markdown(self.headers, self.rows, notes, names=1).rstrip()}\n"


def to_markdown(grids: Sequence[Grid]) -> str:
    """Return tables in Markdown one after another; a note that several of them have stands under the last of these.

    >>> print(to_markdown([Grid(name, ("row",), (("a",),), ("A note.",)) for name in "xy"]).count("A note."))
    1
    """
    last = {note: i for i, grid in enumerate(grids) if grid.rows for note in grid.notes}
    texts = [grid.to_markdown(without=[n for n in grid.notes if last.get(n) != i]) for i, grid in enumerate(grids)]
    return "\n".join(texts)


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


def marks(summary: Summary) -> str:
    """Return what stands behind a model's name: that it predicts one class, that its seeds have one split."""
    said = {ONE_CLASS: summary.predicts_one_class, ONE_SPLIT: summary.has_one_split}
    return "".join(f" {mark}" for mark, holds in said.items() if holds)


def mark_notes(cells: Iterable[str]) -> list[str]:
    """Return the sentences that explain the marks in some cells.

    >>> mark_notes(["learned ‡"])[0][:13]
    '‡ older runs,'
    """
    text = "".join(cells)
    return [note for note in (ONE_CLASS_NOTE, ONE_SPLIT_NOTE) if note[0] in text]


def figure(summary: Summary, metric: str) -> str:
    """Return the mean of a test figure with its interval, rates in percent and losses as they are; a dash for none."""
    values = [result["test"].get(metric) for result in summary.results]
    if None in values:
        return NONE
    return mean_with_interval(values, scale=1 if metric == "loss" else 100, decimals=4 if metric == "loss" else 2)


def percent(rate: float) -> str:
    """Return a rate in percent.

    >>> percent(0.5234)
    '52.34'
    """
    return f"{100 * rate:.2f}"


def points(difference: float) -> str:
    """Return a difference of rates in percentage points, with its sign.

    >>> points(0.0123), points(-0.5), points(0.0)
    ('+1.23', '−50.00', '0.00')
    """
    text = f"{100 * difference:+.2f}".replace("-", "−")
    return text[1:] if text[1:] == "0.00" else text


def span(bounds: tuple[float, float] | None) -> str:
    """Return the two ends of an interval of differences in percentage points; a dash for none.

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
