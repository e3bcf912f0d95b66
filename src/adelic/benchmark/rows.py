"""The 13 rows of the paper's table, with the figures that were published for them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from adelic.errors import UnknownNameError


@dataclass(frozen=True)
class Figure:
    """A published test figure.

    Attributes:
        accuracy: in percent.
        loss: mean cross-entropy, where given.
        interval: half width of the 95 % confidence interval of the accuracy, in percent, where given.
    """

    accuracy: float
    loss: float | None = None
    interval: float | None = None

    def __str__(self) -> str:
        """Return the accuracy as a table shows it: 94.6 ± 1.0."""
        return f"{self.accuracy:g}" + ("" if self.interval is None else f" ± {self.interval:.1f}")


_PUBLISHED = {
    "acd_logistic_regression": "ACD authors, logistic regression",
    "acd_mlp": "ACD authors, MLP",
    "acd_transformer": "ACD authors, Transformer",
    "paper_baseline": "AOE paper, learned",
    "paper_aoe": "AOE paper, AOE",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the paper's table.

    Attributes:
        name: task-n, as schubert-4.
        majority: the ACD authors' rate of guessing the majority class, in percent.
        paper_baseline, paper_aoe: the paper's two models.
        acd_logistic_regression, acd_mlp, acd_transformer: the ACD authors' small models.
        set_aside: the fields whose figures nobody should try to beat; published.toml says why.

    >>> row = published_row("mheight-10")
    >>> row.task, row.n, row.majority, str(row.paper("adelic")), row.paper("xval")
    ('mheight', 10, 94.15, '99.66', None)
    """

    name: str
    majority: float
    paper_baseline: Figure
    paper_aoe: Figure
    acd_logistic_regression: Figure
    acd_mlp: Figure
    acd_transformer: Figure
    set_aside: tuple[str, ...] = ()

    @property
    def task(self) -> str:
        """Return the name of the task."""
        return self.name.rpartition("-")[0]

    @property
    def n(self) -> int:
        """Return the size."""
        return int(self.name.rpartition("-")[2])

    def paper(self, embedding: str) -> Figure | None:
        """Return the paper's figure for a model, None for those that it does not have."""
        return {"adelic": self.paper_aoe, "learned": self.paper_baseline}.get(embedding)

    def published(self) -> dict[str, Figure]:
        """Return the published figures by who and what.

        >>> list(published_row("weaving-6").published())[-1]
        'AOE paper, AOE (set aside)'
        """
        return {
            name + (" (set aside)" if field in self.set_aside else ""): getattr(self, field)
            for field, name in _PUBLISHED.items()
        }

    def best_published(self) -> tuple[str, Figure]:
        """Return who has the best published accuracy and with what, and the figure; not those that are set aside.

        >>> published_row("schubert-6").best_published(), published_row("weaving-6").best_published()[0]
        (('AOE paper, AOE', Figure(accuracy=99.96, loss=0.002, interval=None)), 'ACD authors, MLP')
        """
        field = max((f for f in _PUBLISHED if f not in self.set_aside), key=lambda f: float(getattr(self, f).accuracy))
        return _PUBLISHED[field], getattr(self, field)

    def acd_authors(self, embedding: str) -> Figure | None:
        """Return the ACD authors' figure for a model of the same kind; None for boosted trees, which they do not have.

        >>> row = published_row("schubert-4")
        >>> [str(row.acd_authors(name)) for name in ("majority", "logistic", "mlp", "trees", "adelic", "fone")]
        ['52.3', '88.8', '93.1 ± 2.6', 'None', '94.6 ± 1.0', '94.6 ± 1.0']
        """
        outside = {
            "majority": Figure(self.majority),
            "logistic": self.acd_logistic_regression,
            "mlp": self.acd_mlp,
            "trees": None,
        }
        return outside.get(embedding, self.acd_transformer)


@cache
def published_rows() -> dict[str, Row]:
    """Return the rows by name, in the paper's order.

    >>> rows = published_rows()
    >>> len(rows), rows["schubert-4"].paper_aoe, str(rows["schubert-4"].acd_transformer)
    (13, Figure(accuracy=87.89, loss=0.3052, interval=None), '94.6 ± 1.0')
    """
    text = resources.files("adelic.benchmark").joinpath("published.toml").read_text(encoding="utf-8")
    return {
        name: Row(
            name=name,
            majority=table.pop("majority"),
            set_aside=tuple(table.pop("set_aside", ())),
            **{key: Figure(**figure) for key, figure in table.items()},
        )
        for name, table in tomllib.loads(text).items()
    }


def published_row(name: str) -> Row:
    """Return the row of this name.

    Raises:
        UnknownNameError: there is no such row; the nearest one is suggested.

    >>> published_row("schubert-5").majority
    49.9
    """
    rows = published_rows()
    if name not in rows:
        raise UnknownNameError.of("row", name, rows)
    return rows[name]
