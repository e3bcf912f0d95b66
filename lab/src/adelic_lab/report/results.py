"""Summaries of results, from which tables and figures are made.

Tables and figures ask a `Summary`: the runs of a model that differ in their seed.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.data.registry import task as find_task
from adelic.data.registry import tasks
from adelic.errors import AdelicError, needs_extra
from adelic_lab.config.embedding import EmbeddingConfig, options_in_words
from adelic_lab.config.experiment import flatten
from adelic_lab.config.models import CLASSICAL_TITLES
from adelic_lab.config.nn_names import n_tokens
from adelic_lab.config.recipes import SEQUENCE, TrainConfig, recipe_names, stored
from adelic_lab.report.rows import chosen_data, data_key, have_same_test_rows
from adelic_lab.results.result import Figures, Result


@dataclass(frozen=True)
class Summary:
    """The runs that differ in their seed alone.

    Attributes:
        results: at least one.
        file: how the SHA-256 of a table's file begins, where `summarise` has found another one of the same title.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> summary, *others = summarise(read_results(Path("experiments/results/demo")))
    >>> summary.row, summary.label, summary.seeds, summary.interval("accuracy")
    ('schubert-4', 'AOE (digits)', (0,), None)
    """

    results: tuple[Result, ...]
    file: str | None = None

    # The run's description: the same for all seeds.

    @property
    def first(self) -> Result:
        """Return one run, for what all have in common."""
        return self.results[0]

    @property
    def row(self) -> str:
        """Return the row: schubert-4."""
        return self.first.row

    @property
    def edition(self) -> str | None:
        """Return the edition of the data; None for a table of your own."""
        return self.first.edition

    @property
    def split(self) -> str:
        """Return the split of the data."""
        return self.first.split

    @property
    def is_contaminated(self) -> bool:
        """Return whether the data shows a leak, so that the results stand in no ranking."""
        return self.first.contaminated

    @property
    def data(self) -> str:
        """Return what tells the data from others, as text: models are compared where it is the same, see `data_key`."""
        return data_key(self.first)

    @property
    def title(self) -> str:
        """Return the row with its edition (but the published one), what else defines the data, and the split.

        weaving-6 (levels, orbits), gcd-200 (limit=5000, drawn), mine (target sold, random).
        """
        edition = [self.edition] if self.edition not in (None, "published") else []
        file = [] if self.file is None else [f"file {self.file}"]
        contaminated = ["contaminated"] if self.is_contaminated else []
        return f"{self.row} ({', '.join([*edition, *chosen_data(self.first), *file, self.split, *contaminated])})"

    @property
    def place(self) -> tuple[bool, str, bool, str]:
        """Return what sorts the titles of a row: the published edition first, of each edition the published split."""
        edition = self.edition or "published"
        return edition != "published", edition, self.split != "published", self.title

    @property
    def embedding(self) -> str:
        """Return the name of the embedding, or of the model outside the Transformer."""
        return self.first.embedding

    @property
    def form(self) -> str:
        """Return AOE's form: characters, or with where its places meet: characters, late."""
        return f"{self.first.features}" + ("" if self.first.places is None else f", {self.first.places}")

    @property
    def label(self) -> str:
        """Return the model's name: AOE (digits), AOE (characters, late), periodic (sigma 0.3), boosted trees.

        Of AOE it says the form alone; where models of a table differ in other options, `named` adds them.
        """
        if self.embedding in CLASSICAL_TITLES:
            return CLASSICAL_TITLES[self.embedding]
        if self.embedding == "adelic":
            return f"AOE ({self.form})"
        words = options_in_words({**self.first.configuration.get("embedding", {}), "name": self.embedding})
        return self.embedding + (f" ({', '.join(words)})" if words else "")

    @property
    def recipe(self) -> str:
        """Return the name of the recipe, or the path of its file."""
        return self.first.recipe

    @property
    def recipe_settings(self) -> dict[str, Any]:
        """Return the settings of the recipe, or of the search of a model outside the Transformer."""
        return dict(self.first.configuration["recipe"])

    @property
    def reading(self) -> dict[str, str]:
        """Return the options "view" and "body" of a network that does not read the row's tokens one after the other."""
        settings = self.recipe_settings
        return {name: settings[name] for name in ("view", "body") if settings.get(name) not in (None, SEQUENCE)}

    @property
    def is_network(self) -> bool:
        """Return whether the model is one of ours, which a recipe trains; others have no width in their settings."""
        return "d_model" in self.recipe_settings

    @property
    def kind(self) -> str:
        """Return "AOE", "rival" for another embedding, or "outside" for a model outside the Transformer."""
        if not self.is_network:
            return "outside"
        return "AOE" if self.embedding == "adelic" else "rival"

    @property
    def max_rows(self) -> int | None:
        """Return how many training rows were allowed at most; None for all."""
        return self.recipe_settings.get("max_rows")

    @property
    def has_images(self) -> bool:
        """Return whether the model trained on the images of rows under the task's symmetries."""
        return bool(self.recipe_settings.get("symmetries", False))

    @property
    def settings(self) -> dict[str, Any]:
        """Return all settings but the seed by dotted name; networks' files leave out those that have the old value."""
        tables = {"recipe": TrainConfig, "embedding": EmbeddingConfig} if self.is_network else {}
        old = {
            name: {f.name: f.default for f in fields(table) if f.compare and f.default is not MISSING}
            for name, table in tables.items()
        }
        told = {name: value for name, value in self.first.configuration.items() if name != "seed"}
        return dict(flatten(old)) | dict(flatten(told))

    @property
    def options(self) -> dict[str, Any]:
        """Return what defines the embedding, or what the search of a model outside the Transformer has found."""
        chosen = self.first.search["chosen"] if self.first.search else {}
        found = self.first.configuration.get("embedding", {}) if self.is_network else chosen
        return {key: value for key, value in found.items() if key != "name"}

    @property
    def has_one_class_a_row(self) -> bool:
        """Return whether rows have one class each, as those of the paper's table; else several targets, or a number."""
        return "exact_match" not in self.first.test

    # The outcome: one value a seed, or their mean.

    @property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds, ascending."""
        return tuple(sorted(result.seed for result in self.results))

    @property
    def has_one_split(self) -> bool:
        """Return whether all seeds have the same parts of the data: older runs, whose seed drew no split."""
        return len({result.split_seed for result in self.results}) < len(self.results)

    @property
    def predicts_one_class(self) -> bool:
        """Return whether some run says the same class always."""
        return any(result.predicts_one_class for result in self.results)

    @property
    def has_other_precision(self) -> bool:
        """Return whether a network was trained in another precision than the packaged recipe of its name says."""
        if not self.is_network or self.recipe not in recipe_names():
            return False
        precision = stored(self.recipe, self.row)[0].get("compute", TrainConfig.compute)
        told = self.recipe_settings.get("compute", TrainConfig.compute)
        return any((result.compute or told) != precision for result in self.results)

    def has(self, metric: str) -> bool:
        """Return whether each run has a test metric."""
        return all(metric in result.test for result in self.results)

    def values(self, metric: str) -> list[float]:
        """Return a test metric of each run."""
        return [result.test[metric] for result in self.results]

    def mean(self, metric: str) -> float:
        """Return a test metric's mean over seeds."""
        return float(np.mean(self.values(metric)))

    def interval(self, metric: str) -> float | None:
        """Return the half width of the 95 % confidence interval of the mean, see `confidence_interval`."""
        return confidence_interval(self.values(metric))

    def bars(self, metric: str) -> tuple[float, float]:
        """Return how far a figure's bar reaches below and above the mean: the interval, of two seeds the range."""
        mean, interval, values = self.mean(metric), self.interval(metric), self.values(metric)
        return (mean - min(values), max(values) - mean) if interval is None else (interval, interval)

    def is_ahead_of(self, other: "Summary") -> bool:
        """Return whether the whole interval of the accuracy is above another model's; one seed has no interval."""
        if min(len(self.results), len(other.results)) < LEAST_SEEDS:
            return False
        return self.mean("accuracy") - self.bars("accuracy")[0] > other.mean("accuracy") + other.bars("accuracy")[1]

    def trivial_by_seed(self, rule: str) -> dict[int, float]:
        """Return the test accuracy of a trivial rule, "majority", "lookup" or "rule", by seed; older runs lack some."""
        found = {r.seed: {"majority": r.majority, "lookup": r.lookup, "rule": r.rule}[rule] for r in self.results}
        return {seed: rate for seed, rate in found.items() if rate is not None}

    def trivial(self, rule: str) -> float:
        """Return the mean over seeds of the test accuracy of a trivial rule, see `trivial_by_seed`."""
        return float(np.mean(list(self.trivial_by_seed(rule).values())))

    @property
    def rule(self) -> str:
        """Return the mean test accuracy of the best trivial rule in percent, with its name if all seeds have one."""
        if len(self.trivial_by_seed("rule")) < len(self.results):
            return "–"  # older results
        names = {result.rule_name for result in self.results}
        figure = f"{100 * self.trivial('rule'):.2f}"
        return f"{figure} ({names.pop()})" if len(names) == 1 else figure

    @property
    def validation_score(self) -> tuple[float, float]:
        """Return what models are chosen by: their mean validation accuracy; of equal ones the lower mean loss counts.

        Returns:
            The accuracy of the weights that were kept, -1 where it is not told; minus the loss, -inf where it is not.
        """
        kept = [result.validation for result in self.results if result.validation is not None]
        if len(kept) == len(self.results):
            accuracies = [figures["accuracy"] for figures in kept]
            loss = float(np.mean([figures["loss"] for figures in kept]))
        else:
            accuracies = [max(history["validation_accuracy"], default=-1.0) for history in self.histories]
            loss = math.inf
        return round(float(np.mean(accuracies)), 9), -loss  # rounded: equal means of other seeds are equal

    @property
    def histories(self) -> tuple[Mapping[str, list[float]], ...]:
        """Return the learning curves of each run, one value an epoch; empty if it does not learn in epochs."""
        return tuple(result.history for result in self.results)

    @property
    def confusion(self) -> npt.NDArray[np.float64] | None:
        """Return the mean confusion matrix over seeds, (classes, classes); None where a result lacks one."""
        kept = [result.confusion for result in self.results if result.confusion is not None]
        return np.mean(kept, axis=0) if len(kept) == len(self.results) else None

    def class_names(self, count: int) -> list[str]:
        """Return the names of the classes; numbers from 0 on where neither a result nor its task says them."""
        names: Sequence[str] | None = self.first.class_names
        if not names and self.first.n is not None and self.edition is not None:
            with suppress(AdelicError):  # the task is not one of the registry
                names = find_task(self.first.task).class_names(self.first.n, self.edition)
        return list(names) if names and len(names) == count else [str(i) for i in range(count)]

    @property
    def train_rows(self) -> int:
        """Return the number of training rows."""
        return self.first.rows["train"]

    @property
    def tokens(self) -> int | None:
        """Return how many tokens of training rows, [CLS] counted, vertices, or whole rows a network learned from.

        Images of rows do not count.

        None where that is not known: the model does not learn in epochs, or the task is not one of the registry.
        """
        epochs, n = self.recipe_settings.get("epochs"), self.first.n
        if epochs is None or n is None or self.edition is None or self.first.task not in tasks():
            return None
        length = find_task(self.first.task).read_length(n, self.edition, self.reading.get("view"))
        return int(self.train_rows * epochs * n_tokens(self.reading.get("body", SEQUENCE), length))

    @property
    def seconds(self) -> float:
        """Return the mean time of a run's training in seconds, on the device of the first."""
        return float(np.mean([result.seconds for result in of_one_device(self.results)]))

    @property
    def devices(self) -> set[str]:
        """Return the devices of the runs."""
        return {result.device for result in self.results}

    # Several targets a row, or a number.

    def guess(self, metric: str) -> float:
        """Return the mean test metric of the rule that says each target's most frequent value of the training rows."""
        return float(np.mean([result.guess[metric] for result in self.results if result.guess]))

    @property
    def targets(self) -> list[list[Figures]]:
        """Return the test metrics of each target, one table a run; no target where rows have a number."""
        return [list(runs) for runs in zip(*(result.targets or () for result in self.results), strict=True)]


def summarise(results: Iterable[Result]) -> list[Summary]:
    """Return the results grouped by everything but the seed, in order of first occurrence.

    >>> summarise([])
    []
    """
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(model_key(result), []).append(result)
    found = [Summary(tuple(group)) for group in groups.values()]
    data: dict[str, set[str]] = {}
    for summary in found:
        data.setdefault(summary.title, set()).add(summary.data)
    return [replace(one, file=_file(one.first)) if len(data[one.title]) > 1 else one for one in found]


def run_key(configuration: Mapping[str, Any]) -> str:
    """Return what tells a run from others, as text: its whole configuration."""
    return json.dumps(configuration, sort_keys=True)


def model_key(result: Result) -> str:
    """Return what tells a model from others, as text: all that was run, but for the seed."""
    return run_key({key: value for key, value in result.configuration.items() if key != "seed"})


def _file(result: Result) -> str | None:
    """Return how the SHA-256 of a table's file begins; None for a task."""
    digest = result.configuration.get("data", {}).get("sha256")
    return None if digest is None else str(digest)[:8]


def paired(first: Summary, second: Summary) -> tuple[Summary, Summary] | None:
    """Return two models with the runs of the seeds that both have, in the same order; None without common seeds.

    Runs of one seed that have other test rows are left out, see `have_same_test_rows`.
    """
    mine, theirs = ({result.seed: result for result in model.results} for model in (first, second))
    pairs = [(mine[seed], theirs[seed]) for seed in sorted(mine.keys() & theirs.keys())]
    pairs = [(a, b) for a, b in pairs if have_same_test_rows(a, b)]
    return (Summary(tuple(a for a, _ in pairs)), Summary(tuple(b for _, b in pairs))) if pairs else None


def right_rows(result: Result) -> npt.NDArray[np.bool_] | None:
    """Return which rows of the test split were answered rightly, (rows,), in the split's order.

    Of several targets a row, all have to be right: their rate is `exact_match`, where `accuracy` is the targets' mean.
    None is returned where an older result keeps no predictions.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> all(right_rows(run).mean() == run.test["accuracy"] for run in read_results(Path("experiments/results/demo")))
    True
    """
    kept = result.answers()
    if kept is None:
        return None
    labels, predictions = kept
    right: npt.NDArray[np.bool_] = (labels == predictions).reshape(len(labels), -1).all(axis=1)
    return right


def right_rows_of_both(first: Result, second: Result) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]] | None:
    """Return the `right_rows` of two runs; None if one keeps no predictions, or test rows differ."""
    mine, theirs = right_rows(first), right_rows(second)
    return None if mine is None or theirs is None or first.labels != second.labels else (mine, theirs)


LEAST_SEEDS = 3
"""Least number of seeds for an interval of a mean: with one degree of freedom, Student's t gives ± 12.7 deviations."""


def confidence_interval(values: Iterable[float]) -> float | None:
    """Return the half width of the 95 % confidence interval of a mean, by Student's t; None for two values and one.

    >>> round(confidence_interval([0.90, 0.92, 0.94]), 4), confidence_interval([0.90, 0.94])
    (0.0497, None)
    """
    sample = np.array(list(values))
    if len(sample) < LEAST_SEEDS:
        return None
    with needs_extra("adelic_lab", "torch"):  # here, since it takes as long to import as torch
        from statsmodels.stats.weightstats import DescrStatsW
    low, high = DescrStatsW(sample).tconfint_mean(0.05)
    return float(high - low) / 2


BUSY_NOTE = (
    "Of seeds that ran on several devices, those on the first seed’s count. ≈: seconds that other work on the machine "
    "may have lengthened, so not to be compared."
)


def of_one_device(results: Sequence[Result]) -> Sequence[Result]:
    """Return the results of the device that the first ran on: a mean of two devices' seconds would say nothing."""
    return [result for result in results if result.device == results[0].device]


def shown_seconds(results: Sequence[Result]) -> str:
    """Return the mean time of training on the first's device, behind ≈ where other work may have lengthened it."""
    timed = of_one_device(results)
    mean = float(np.mean([result.seconds for result in timed]))
    mark = "" if all(result.was_quiet for result in timed) else "≈ "
    return f"{mark}{mean:,.1f}" if mean < 100 else f"{mark}{mean:,.0f}"


def costs(results: Sequence[Result]) -> str:
    """Return what training and evaluation took, where and by which versions, in words.

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
    return f"{size}, on {devices}; at commit {commits}; {versions}."
