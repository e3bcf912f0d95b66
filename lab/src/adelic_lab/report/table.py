"""The table class, a data frame of texts with notes, and the format of figures in its cells."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from adelic_lab.config.options import packaged
from adelic_lab.report.frame import ONE_CLASS, ONE_SPLIT, OTHER_PRECISION
from adelic_lab.report.statistics import confidence_interval
from adelic_lab.results.result import Result

NONE = "–"
NOT_RUN = "not run"
IMPOSSIBLE = "—"
EACH_SEED = "each seed"


_EDITIONS = re.compile(r"\((corrected|leaky|levels), ")
Line = dict[str, Any]
"""The texts of a line of a table by column; a missing column, or None, is a dash."""


@cache
def wording() -> dict[str, dict[str, Any]]:
    """Return wording.toml: titles and columns of tables, and their notes, with shared sentences filled in."""
    found = packaged("report/wording.toml")
    plain = ("title", "columns")
    return {
        table: {key: text if key in plain else text.format_map(found["shared"]) for key, text in said.items()}
        for table, said in found.items()
    }


@dataclass(frozen=True)
class Table:
    """A table of texts, from which all pages, the report, the terminal and the CSV files are made.

    Attributes:
        frame: columns with their headings, of texts.
        notes: sentences under the table; the explanation of each mark is added where a cell has the mark.
        title: heading; left out where it is empty.
        names: how many columns at the left are names; the others are figures.

    >>> print(Table.of(("row", "rate"), [("a", "1")], ("A note.",), "Rates").to_markdown())
    ## Rates
    <BLANKLINE>
    | row | rate |
    |---|---:|
    | a | 1 |
    <BLANKLINE>
    A note.
    <BLANKLINE>
    """

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    title: str | None = None
    names: int = 1

    @classmethod
    def of(cls, columns: Sequence[str], rows: Iterable[Sequence[str] | Line], *about: Any, **named: Any) -> "Table":
        """Return a table of lines of cells, in order or by column; missing cells are blank.

        Notes, title and number of names follow, as for the class.
        """
        return cls(pd.DataFrame(list(rows), columns=list(columns), dtype=object).fillna(""), *about, **named)

    @classmethod
    def named(
        cls, name: str, lines: Sequence[Line], *, notes: Sequence[str] = (), names: int = 1, **about: str
    ) -> "Table":
        """Return a table with the title, the columns and, after other notes, the sentences of wording.toml.

        `about` fills in the title. Without columns in wording.toml the table has those of the lines.
        """
        said = wording()[name]
        frame = pd.DataFrame(lines, columns=said.get("columns"), dtype=object).fillna(NONE)
        sentences = (text for key, text in said.items() if key not in ("title", "columns"))
        title = said["title"].format_map(about) if "title" in said else None
        return cls(frame, (*notes, *sentences), title, names)

    def __post_init__(self) -> None:
        """Explain the marks in cells."""
        text = "".join(map(str, self.frame.to_numpy().ravel()))
        marks = {"one_class": ONE_CLASS, "one_split": ONE_SPLIT, "precision": OTHER_PRECISION, "each_seed": EACH_SEED}
        found = (wording()["marks"][name] for name, mark in marks.items() if mark in text)
        object.__setattr__(self, "notes", tuple(dict.fromkeys((*self.notes, *found))))

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the headings."""
        return tuple(self.frame.columns)

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Return the cells, line by line."""
        return tuple(self.frame.itertuples(index=False, name=None))

    def to_markdown(self, *, without: Collection[str] = ()) -> str:
        """Return the table in Markdown, under its heading; "not run" if it is empty.

        Args:
            without: notes to leave out.
        """
        parts = [] if self.title is None else [f"## {self.title}"]
        if self.rows:
            rule = "|" + "---|" * self.names + "---:|" * (len(self.columns) - self.names)
            head, *body = (
                "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
                for cells in (self.columns, *self.rows)
            )
            kept = [note for note in self.notes if note not in without]
            notes = "\n".join(f"- {note}" for note in kept) if len(kept) > 1 else "".join(kept)
            parts += ["\n".join([head, rule, *body]), *([notes] if notes else [])]
        else:
            parts.append(NOT_RUN)
        return _EDITIONS.sub(r"(`\1`, ", "\n\n".join(parts)) + "\n"

    def to_csv(self) -> str:
        r"""Return the table as CSV, the columns' names first.

        >>> Table.of(("row", "rate"), [("a, b", "1")]).to_csv()
        'row,rate\n"a, b",1\n'
        """
        text: str = self.frame.to_csv(index=False, lineterminator="\n")
        return text

    def to_html(self) -> str:
        """Return the table as an element of a page, without its heading and notes."""
        classes = f"names-{self.names}"
        text: str = self.frame.to_html(index=False, border=0, justify="inherit", classes=classes, na_rep="")
        return text


def to_markdown(tables: Sequence[Table]) -> str:
    """Return tables in Markdown one after another; a note that several have, and that of a mark, is under the last.

    >>> print(to_markdown([Table.of(("row",), [("a",)], ("A note.",), name) for name in "xy"]).count("A note."))
    1
    """
    end = max((i for i, table in enumerate(tables) if table.rows), default=0)
    explained = wording()["marks"].values()
    marks = [note for table in tables for note in table.notes if note in explained]
    tables = [replace(table, notes=(*table.notes, *marks)) if i == end else table for i, table in enumerate(tables)]
    last = {note: i for i, table in enumerate(tables) if table.rows for note in table.notes}
    texts = [table.to_markdown(without=[n for n in table.notes if last.get(n) != i]) for i, table in enumerate(tables)]
    return "\n".join(texts)


def mean_with_interval(
    values: Iterable[float],
    *,
    scale: float = 100.0,
    decimals: int = 2,
    write: Callable[[float], str] | None = None,
    write_interval: Callable[[float], str] | None = None,
) -> str:
    """Return a mean as text, with the half width of its confidence interval; of two values with their range.

    Values are one per seed; without any the text is "not run", and a missing one makes it a dash. They are multiplied
    by `scale`, since rates are shown in percent; `write` and `write_interval` may format them otherwise.

    >>> mean_with_interval([0.90, 0.92, 0.94]), mean_with_interval([0.5], decimals=1), mean_with_interval([])
    ('92.00 ± 4.97', '50.0', 'not run')
    >>> mean_with_interval([94, 90], scale=1)
    '92.00 [90.00, 94.00]'
    """
    sample = np.array(list(values), dtype=float)
    if not sample.size:
        return NOT_RUN
    if np.isnan(sample).any():
        return NONE
    plain = lambda value: f"{scale * value:.{decimals}f}"  # noqa: E731
    write, write_interval = write or plain, write_interval or plain
    interval = confidence_interval(sample)
    if interval is not None:
        return f"{write(sample.mean())} ± {write_interval(interval)}"
    of_two = "" if len(sample) == 1 else f" [{write(sample.min())}, {write(sample.max())}]"
    return write(sample.mean()) + of_two


_ERRORS = ("mean_absolute_error", "mean_squared_error")


def mean_of(runs: pd.DataFrame, metric: str = "accuracy") -> str:
    """Return the mean of a metric over the seeds of runs, with its interval: rates in percent, four digits of errors.

    >>> runs = pd.DataFrame({"accuracy": [0.5], "loss": [0.25], "mean_squared_error": [12345.0]})
    >>> [mean_of(runs, metric) for metric in runs]
    ['50.00', '0.2500', '1.234e+04']
    """
    if metric in _ERRORS:
        return mean_with_interval(runs[metric], write="{:.4g}".format, write_interval="{:.2g}".format)
    return (
        mean_with_interval(runs[metric], scale=1, decimals=4) if metric == "loss" else mean_with_interval(runs[metric])
    )


def percent(rate: float | None, *, decimals: int = 2, none: str = NONE) -> str:
    """Return a rate in percent; a dash, or other text, for None and NaN.

    >>> percent(0.5234), percent(0.5, decimals=1), percent(None)
    ('52.34', '50.0', '–')
    """
    return none if rate is None or np.isnan(rate) else f"{100 * rate:.{decimals}f}"


def points(difference: float) -> str:
    """Return a difference of rates in percentage points, with its sign.

    >>> points(0.0123), points(-0.5), points(0.0)
    ('+1.23', '−50.00', '0.00')
    """
    text = f"{100 * difference:+.2f}".replace("-", "−")
    return text[1:] if text[1:] == "0.00" else text


def interval_text(found: Mapping[str, Any]) -> str:
    """Return the interval of a `difference` in percentage points: −1.00 to +2.50; a dash if there is none.

    >>> interval_text({"low": -0.01, "high": 0.025}), interval_text({"low": float("nan")})
    ('−1.00 to +2.50', '–')
    """
    if found.get("is_the_same"):
        return EACH_SEED
    return NONE if np.isnan(found["low"]) else f"{points(found['low'])} to {points(found['high'])}"


def p_text(p: float) -> str:
    """Return a p-value as a table shows it; a dash if nothing was tested.

    >>> [p_text(p) for p in (float("nan"), 0.0002, 0.0123, 1.0)]
    ['–', '< 0.001', '0.012', '1']
    """
    if np.isnan(p):
        return NONE
    return "< 0.001" if p < 0.0005 else "1" if p >= 0.9995 else f"{p:.3f}"


def shown_seconds(results: Sequence[Result]) -> str:
    """Return the mean training time on the first device, after ≈ if other work may have lengthened it."""
    timed = of_one_device(results)
    mean = float(np.mean([result.seconds for result in timed]))
    mark = "" if all(result.was_quiet for result in timed) else "≈ "
    return f"{mark}{mean:,.1f}" if mean < 100 else f"{mark}{mean:,.0f}"


def of_one_device(results: Sequence[Result]) -> list[Result]:
    """Return the results on the device of the first: a mean of seconds over two devices has no meaning."""
    return [result for result in results if result.device == results[0].device]


def costs(results: Sequence[Result]) -> str:
    """Return the time of training and evaluation, with machines, commits and versions.

    >>> costs([])
    '0 runs, 0.0 hours.'
    """
    hours = sum(result.seconds + (result.evaluation_seconds or 0) for result in results) / 3600
    size = f"{len(results):,} runs, {hours:.1f} hours"
    if not results:
        return size + "."
    devices = "; ".join(sorted({result.device for result in results}))
    commits = ", ".join(sorted({(result.commit or "unknown")[:7] for result in results}))
    versions = "; ".join(sorted({", ".join(f"{k} {v}" for k, v in result.versions.items()) for result in results}))
    return f"{size}, on `{devices}; at commit {commits}; {versions}`."
