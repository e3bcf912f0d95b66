"""What was published for the datasets of the tables: the 13 of the paper's table, and further ones.

Further ones are those of ACD tasks that have several targets an example, or a number to predict. Drawn tasks and
tables of your own do not belong to these tables: their data depends on more than the name of the dataset.
"""

from dataclasses import dataclass
from functools import cache

from adelic.errors import UnknownNameError
from adelic_lab.config.options import packaged

_WHO = {
    "acd_logistic_regression": "ACD authors, logistic regression",
    "acd_mlp": "ACD authors, MLP",
    "acd_transformer": "ACD authors, Transformer",
    "paper_baseline": "AOE paper, learned",
    "paper_aoe": "AOE paper, AOE",
}
_PAPER = {"learned": "paper_baseline", "adelic": "paper_aoe"}
_ACD: dict[str, str | None] = {"majority": "majority", "logistic": "acd_logistic_regression", "mlp": "acd_mlp"}
_ACD |= dict.fromkeys(("trees", "digit-trees", "lookup"))  # no figure


@dataclass(frozen=True)
class Figure:
    """A published test figure.

    Attributes:
        accuracy: in percent.
        loss: mean cross-entropy, where given.
        interval: half width of the 95 % confidence interval of the accuracy, in percent, where given.
        edition: of the data that it belongs to.
    """

    accuracy: float
    loss: float | None = None
    interval: float | None = None
    edition: str = "published"

    def __str__(self) -> str:
        """Return the accuracy as a table shows it: 94.6 ± 1.0."""
        return f"{self.accuracy:g}" + ("" if self.interval is None else f" ± {self.interval:.1f}")


@dataclass(frozen=True)
class Row:
    """A dataset of the paper's table, with published figures of the published split.

    Attributes:
        name: task-n, as schubert-4.
        figures: by who gives them, see published.toml: "majority" is the ACD authors' rate of guessing the majority
            class, "paper_aoe" and "paper_baseline" are the paper's two models, the others are the ACD authors'.
        set_aside: those of them that nobody should try to beat; published.toml says why.

    >>> row = published_rows()["mheight-10"]
    >>> str(row.figures["majority"]), str(row.paper("adelic")), row.paper("xval")
    ('94.15', '99.66', None)
    """

    name: str
    figures: dict[str, Figure]
    set_aside: tuple[str, ...] = ()

    @property
    def task(self) -> str:
        """Return the name of the task."""
        return self.name.rpartition("-")[0]

    def _of(self, who: str | None, edition: str | None) -> Figure | None:
        figure = self.figures.get(who or "")
        return figure if figure is not None and figure.edition == edition else None

    def paper(self, embedding: str, edition: str | None = "published") -> Figure | None:
        """Return the paper's figure for a model on an edition, None where the paper gives none."""
        return self._of(_PAPER.get(embedding), edition)

    def acd_authors(self, embedding: str, edition: str | None = "published") -> Figure | None:
        """Return the ACD authors' figure for a model of the same kind on an edition; None where they give none.

        >>> row = published_rows()["schubert-4"]
        >>> [str(row.acd_authors(name)) for name in ("majority", "logistic", "mlp", "trees", "lookup", "fone")]
        ['52.3', '88.8', '93.1 ± 2.6', 'None', 'None', '94.6 ± 1.0']
        """
        return self._of(_ACD.get(embedding, "acd_transformer"), edition)

    def published(self, edition: str | None = "published") -> dict[str, Figure]:
        """Return the published figures of an edition by who and what.

        >>> row = published_rows()["weaving-6"]
        >>> list(row.published()), len(row.published("levels")), row.published("leaky")
        (['AOE paper, learned', 'AOE paper, AOE (set aside)'], 3, {})
        """
        found = {who: self._of(who, edition) for who in _WHO}
        marks = {who: " (set aside)" if who in self.set_aside else "" for who in _WHO}
        return {_WHO[who] + marks[who]: figure for who, figure in found.items() if figure is not None}

    def best_published(self, edition: str | None = "published") -> tuple[str, Figure] | None:
        """Return the best published accuracy of an edition: its authors with their model, and the figure; else None.

        Figures that are set aside do not count.

        >>> who, figure = published_rows()["weaving-6"].best_published("levels")
        >>> who, str(figure), published_rows()["weaving-6"].best_published("leaky")
        ('ACD authors, MLP', '86.1 ± 0.2', None)
        """
        found = {who: figure for who, figure in self.published(edition).items() if not who.endswith("(set aside)")}
        return max(found.items(), key=lambda item: item[1].accuracy, default=None)


@cache
def published_rows() -> dict[str, Row]:
    """Return the datasets of the paper's table by name, in the paper's order.

    >>> rows = published_rows()
    >>> len(rows), rows["schubert-4"].figures["paper_aoe"]
    (13, Figure(accuracy=87.89, loss=0.3052, interval=None, edition='published'))
    """
    rows = {}
    for name, table in packaged("report/published.toml").items():
        set_aside = tuple(table.pop("set_aside", ()))
        rows[name] = Row(name, {who: Figure(**figure) for who, figure in table.items()}, set_aside)
    return rows


@cache
def further_rows() -> dict[str, str]:
    """Return the published errors of each further dataset: linear model / MLP / Transformer; a dash if there are none.

    published_further.toml says what they measure.

    >>> list(further_rows())
    ['characters-18', 'characters-20', 'characters-22', 'kl-5', 'kl-6', 'kl-7', 'rsk-8', 'rsk-9', 'rsk-10']
    >>> further_rows()["characters-18"], further_rows()["kl-5"]
    ('1.592e+10 / 2.745e+08 ± 8.9e+08 / 2.491e+10 ± 1.4e+07', '–')
    """
    rows = {}
    for name, table in packaged("report/published_further.toml").items():
        errors = [table[model] for model in ("linear", "mlp", "transformer") if model in table]
        texts = [f"{e['value']:.4g}" + (f" ± {e['interval']:.2g}" if "interval" in e else "") for e in errors]
        rows[name] = " / ".join(texts) or "–"
    return rows


def as_published(name: str) -> str:
    """Return the title of a dataset of the paper's table, on the published split: schubert-4 (published)."""
    return f"{name} (published)"


def split_row(name: str) -> tuple[str, int]:
    """Return the task and the size that a dataset of either table names.

    >>> split_row("schubert-4"), split_row("rsk-8")
    (('schubert', 4), ('rsk', 8))
    """
    known = [*published_rows(), *further_rows()]
    if name not in known:
        raise UnknownNameError.of("dataset", name, known)
    task, _, n = name.rpartition("-")
    return task, int(n)
