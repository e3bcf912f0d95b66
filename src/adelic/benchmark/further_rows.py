"""Rows besides the paper's 13: ACD tasks with several targets a row, or with a number, and their published errors."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from adelic.benchmark.rows import published_rows
from adelic.errors import UnknownNameError


@dataclass(frozen=True)
class Error:
    """A published test error.

    Attributes:
        value: the error, in the row's measure.
        interval: half width of its 95 % confidence interval, where given.

    >>> str(Error(2.7447e8, 8.8602e8)), str(Error(0.21))
    ('2.745e+08 ± 8.9e+08', '0.21')
    """

    value: float
    interval: float | None = None

    def __str__(self) -> str:
        """Return the error as a table shows it."""
        return f"{self.value:.4g}" + ("" if self.interval is None else f" ± {self.interval:.2g}")


@dataclass(frozen=True, kw_only=True)
class FurtherRow:
    """A row that the paper's table lacks.

    Attributes:
        name: task-n, as characters-18.
        measure: what the published errors measure; None where no figure is published.
        trivial: the error of the authors' trivial rule.
        linear, mlp, transformer: the ACD authors' small models.

    >>> row = further_rows()["characters-18"]
    >>> row.measure, row.published
    ('mean squared error', '1.592e+10 / 2.745e+08 ± 8.9e+08 / 2.491e+10 ± 1.4e+07')
    >>> further_rows()["kl-5"].published
    '–'
    """

    name: str
    measure: str | None = None
    trivial: float | None = None
    linear: Error | None = None
    mlp: Error | None = None
    transformer: Error | None = None

    @property
    def published(self) -> str:
        """Return the errors of the three models in a line; a dash where none is published."""
        errors = [self.linear, self.mlp, self.transformer]
        return "–" if self.measure is None else " / ".join("–" if error is None else str(error) for error in errors)


@cache
def further_rows() -> dict[str, FurtherRow]:
    """Return the rows by name.

    >>> list(further_rows())
    ['characters-18', 'characters-20', 'characters-22', 'kl-5', 'kl-6', 'rsk-8', 'rsk-9']
    """
    text = resources.files("adelic.benchmark").joinpath("published_further.toml").read_text(encoding="utf-8")
    rows = {}
    for name, table in tomllib.loads(text).items():
        figures: dict[str, Any] = {k: Error(**v) if isinstance(v, dict) else v for k, v in table.items()}
        rows[name] = FurtherRow(name=name, **figures)
    return rows


def split_row(name: str) -> tuple[str, int]:
    """Return the task and the size that a row of either table names.

    Raises:
        UnknownNameError: there is no such row; the nearest one is suggested.

    >>> split_row("schubert-4"), split_row("rsk-8")
    (('schubert', 4), ('rsk', 8))
    """
    known = [*published_rows(), *further_rows()]
    if name not in known:
        raise UnknownNameError.of("row", name, known)
    task, _, n = name.rpartition("-")
    return task, int(n)
