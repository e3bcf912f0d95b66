"""The rows of the tables, with what was published for them: the 13 of the paper's table, and further ones.

Further rows are those of ACD tasks that have several targets a row, or a number to predict. Drawn tasks and
tables of your own do not belong to these tables: their data depends on more than the name of the row.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from adelic.data.sources import DrawnData, TableData
from adelic.errors import UnknownNameError
from adelic.storage.options import options
from adelic_lab.results.result import Result


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
        majority: the ACD authors' rate of guessing the majority class.
        paper_baseline, paper_aoe: the paper's two models.
        acd_logistic_regression, acd_mlp, acd_transformer: the ACD authors' small models.
        set_aside: the fields whose figures nobody should try to beat; published.toml says why.

    All figures are of the published split, and most of the published edition.

    >>> row = published_rows()["mheight-10"]
    >>> str(row.majority), str(row.paper("adelic")), row.paper("xval")
    ('94.15', '99.66', None)
    """

    name: str
    majority: Figure
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

    def paper(self, embedding: str, edition: str | None = "published") -> Figure | None:
        """Return the paper's figure for a model on an edition, None where the paper gives none."""
        return _of({"adelic": self.paper_aoe, "learned": self.paper_baseline}.get(embedding), edition)

    def published(self, edition: str | None = "published") -> dict[str, Figure]:
        """Return the published figures of an edition by who and what.

        >>> row = published_rows()["weaving-6"]
        >>> list(row.published()), len(row.published("levels")), row.published("leaky")
        (['AOE paper, learned', 'AOE paper, AOE (set aside)'], 3, {})
        """
        return {
            name + (" (set aside)" if field in self.set_aside else ""): getattr(self, field)
            for field, name in _PUBLISHED.items()
            if getattr(self, field).edition == edition
        }

    def best_published(self, edition: str | None = "published") -> tuple[str, Figure] | None:
        """Return the best published accuracy of an edition: its authors with their model, and the figure; else None.

        Figures that are set aside do not count.

        >>> who, figure = published_rows()["weaving-6"].best_published("levels")
        >>> who, str(figure), published_rows()["weaving-6"].best_published("leaky")
        ('ACD authors, MLP', '86.1 ± 0.2', None)
        """
        found = {who: figure for who, figure in self.published(edition).items() if not who.endswith("(set aside)")}
        return max(found.items(), key=lambda item: item[1].accuracy, default=None)

    def acd_authors(self, embedding: str, edition: str | None = "published") -> Figure | None:
        """Return the ACD authors' figure for a model of the same kind on an edition; None where they give none.

        >>> row = published_rows()["schubert-4"]
        >>> [str(row.acd_authors(name)) for name in ("majority", "logistic", "mlp", "trees", "lookup", "fone")]
        ['52.3', '88.8', '93.1 ± 2.6', 'None', 'None', '94.6 ± 1.0']
        """
        outside = {"majority": self.majority, "logistic": self.acd_logistic_regression, "mlp": self.acd_mlp}
        theirs = outside | {"trees": None, "lookup": None}
        return _of(theirs.get(embedding, self.acd_transformer), edition)


def _of(figure: Figure | None, edition: str | None) -> Figure | None:
    return figure if figure is not None and figure.edition == edition else None


@cache
def published_rows() -> dict[str, Row]:
    """Return the rows of the paper's table by name, in the paper's order.

    >>> rows = published_rows()
    >>> len(rows), rows["schubert-4"].paper_aoe, str(rows["schubert-4"].acd_transformer)
    (13, Figure(accuracy=87.89, loss=0.3052, interval=None, edition='published'), '94.6 ± 1.0')
    """
    return {
        name: Row(
            name=name,
            set_aside=tuple(table.pop("set_aside", ())),
            **{key: Figure(**figure) for key, figure in table.items()},
        )
        for name, table in _read("published.toml").items()
    }


@cache
def further_rows() -> dict[str, str]:
    """Return the published errors of each further row: linear model / MLP / Transformer; a dash where there are none.

    published_further.toml says what they measure.

    >>> list(further_rows())
    ['characters-18', 'characters-20', 'characters-22', 'kl-5', 'kl-6', 'kl-7', 'rsk-8', 'rsk-9', 'rsk-10']
    >>> further_rows()["characters-18"], further_rows()["kl-5"]
    ('1.592e+10 / 2.745e+08 ± 8.9e+08 / 2.491e+10 ± 1.4e+07', '–')
    """
    rows = {}
    for name, table in _read("published_further.toml").items():
        errors = [table[model] for model in ("linear", "mlp", "transformer") if model in table]
        texts = [f"{e['value']:.4g}" + (f" ± {e['interval']:.2g}" if "interval" in e else "") for e in errors]
        rows[name] = " / ".join(texts) or "–"
    return rows


def _read(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files("adelic_lab.report").joinpath(name).read_text(encoding="utf-8"))


def as_published(name: str) -> str:
    """Return the title of a row of the paper's table, on the published split: schubert-4 (published)."""
    return f"{name} (published)"


def split_row(name: str) -> tuple[str, int]:
    """Return the task and the size that a row of either table names.

    >>> split_row("schubert-4"), split_row("rsk-8")
    (('schubert', 4), ('rsk', 8))
    """
    known = [*published_rows(), *further_rows()]
    if name not in known:
        raise UnknownNameError.of("row", name, known)
    task, _, n = name.rpartition("-")
    return task, int(n)


def data_key(result: Result) -> str:
    """Return what tells the data of a run from others, as text: all that its rows depend on, but for the seed.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> data_key(read_results(Path("experiments/results/demo"))[0])
    '["schubert-4", "published", "published", false, {}]'
    """
    about = [result.row, result.edition, result.split, result.contaminated]
    return json.dumps([*about, _choices(result.configuration.get("data", {}))], sort_keys=True)


def chosen_data(result: Result) -> list[str]:
    """Return in words what defines the data of a run besides its row, edition and split; [] for most."""
    return _choices_in_words(result.configuration.get("data", {}))


def published_row(result: Result) -> Row | None:
    """Return the published figures of a run's row; None where its data are not those of the published split."""
    is_other = result.split != "published" or chosen_data(result)
    return None if is_other else published_rows().get(result.row)


def have_same_test_rows(first: Result, second: Result) -> bool:
    """Return whether two runs were judged by the same rows, as far as their results say.

    Of the same data and seed, files may differ: another pyarrow writes the same rows in other bytes. Then the
    labels of all test rows decide, in their order. Older results lack labels, or the SHA-256 of the file.

    >>> from dataclasses import replace
    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> a, b, c, d = read_results(Path("experiments/results/demo"))
    >>> have_same_test_rows(a, b), have_same_test_rows(a, c), have_same_test_rows(a, replace(b, data_sha256="0"))
    (True, False, True)
    >>> have_same_test_rows(a, replace(b, data_sha256="0", labels=None, predictions=None))
    False
    """
    if first.split_seed != second.split_seed or data_key(first) != data_key(second):
        return False
    hashes = {result.data_sha256 for result in (first, second)} - {None}
    return len(hashes) < 2 or (first.labels is not None and first.labels == second.labels)


_NO_CHOICES = ("task", "n", "examples", "edition", "split", "seed")
"""What the names of a row, its edition and its split say, and the seed of older runs' splits."""
_CHANGES_NO_ROW = ("path", "never_seen_cases")
"""What changes neither the rows to train on nor the test rows: a table's file is known by its SHA-256."""


def _choices(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the table `data` of config.toml chooses besides row, edition and split, and rows depend on.

    >>> _choices({"task": "schubert", "n": 4, "edition": "published", "split": "orbits"})
    {}
    >>> _choices({"task": "gcd", "examples": 200, "test_cases": 10_000, "task_options": ["limit=5000"]})
    {'task_options': ['limit=5000']}
    """
    known = dict(options(DrawnData)) | dict(options(TableData))
    plain = {name: described.default for name, described in known.items()}
    without = (*_NO_CHOICES, *_CHANGES_NO_ROW)
    return {name: value for name, value in about.items() if name not in without and value != plain.get(name)}


def _choices_in_words(about: Mapping[str, Any]) -> list[str]:
    """Return in words what a table `data` of config.toml chooses, see `_choices`, but for the SHA-256 of a file.

    >>> _choices_in_words({"task": "gcd", "examples": 200, "test_cases": 500, "task_options": ["limit=5000"]})
    ['limit=5000', 'test cases 500']
    >>> _choices_in_words({"task": "mine", "target": "sold", "columns": ["price", "size"], "split": "random"})
    ['target sold', 'columns price and size']
    """
    found = _choices(about)
    words = list(found.pop("task_options", ()))
    for name, value in found.items():
        if name != "sha256":
            text = " and ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            words.append(f"{name.replace('_', ' ')} {text}")
    return words
