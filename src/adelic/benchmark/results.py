"""Result files: a file a row, a JSON object a run in each of its lines; read, written, summarised over seeds."""

import json
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from adelic.data.sources import row_of
from adelic.errors import RunFolderError, StorageError
from adelic.storage.files import atomic_write, read_bytes, storage_errors, taking_turns
from adelic.storage.options import options
from adelic.storage.records import seal
from adelic.training import CLASSICAL_MODELS, EmbeddingConfig, Experiment
from adelic.training.predictions import unpack_answers
from adelic.training.result import Result as RunResult
from adelic.training.runs.listing import list_runs

Result = dict[str, Any]


def read_results(folder: Path) -> list[Result]:
    """Return the results in a folder, in the order of file names: every line of each *.jsonl, and every *.json.

    Raises:
        StorageError: the folder does not exist or cannot be read.
        RunFolderError: a line or file is no result, or two are of the same run.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_results(Path(folder))
    []
    """
    with storage_errors(f"cannot read {folder}", "choose another --results-dir"):
        if not folder.is_dir():
            raise StorageError(f"there is no folder {folder} with results; `adelic reproduce` makes one")
        found: dict[str, str] = {}
        results = []
        for path in sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")]):
            for place, _, result in _read(path):
                run = _run(result)
                if run in found:
                    raise RunFolderError(f"{place} and {found[run]} are results of the same run; remove one of them")
                found[run] = place
                results.append(result)
    return results


def with_finished_runs(results: list[Result], runs: Path) -> list[Result]:
    """Return results, and behind them those of the finished runs in a folder of run folders that are not among them.

    Raises:
        StorageError: the folder does not exist or cannot be read.

    Warns:
        UserWarning: a run is damaged, and left out.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with_finished_runs([{"seed": 0}], Path(folder))
    [{'seed': 0}]
    """
    finished = {}
    for run in list_runs(runs):
        if run.problem:
            warnings.warn(f"{run.folder} is left out: {run.problem}", stacklevel=2)
        elif run.result is not None:
            found = run.result.as_dict()
            finished[_run(found)] = found
    known = {_run(result) for result in results}
    return results + [result for run, result in finished.items() if run not in known]


def _run(result: Result) -> str:
    """Return what tells a run from others, as text."""
    return json.dumps(result.get("configuration"), sort_keys=True)


def _read(path: Path) -> Iterator[tuple[str, bytes, Result]]:
    """Yield the results of a file, each behind its place in words and, of several in a file, its line."""
    if path.suffix == ".json":
        if (content := read_bytes(path)) is not None:  # else a link to nowhere
            yield str(path), b"", RunResult.parse(content, str(path)).as_dict()
        return
    for number, line in enumerate((read_bytes(path) or b"").splitlines(), 1):
        place = f"{path} line {number}"
        yield place, line, RunResult.parse(line, place).as_dict()


def write_result(folder: Path, config: Experiment, result: Result) -> None:
    """Write a result into the file of its row, in the order of the runs' labels, in place of an older one of the run.

    Several processes may write into one folder.

    Raises:
        RunFolderError: the file is damaged.
        StorageError: it cannot be written.
    """
    path = folder / f"{config.data.label}.jsonl"
    with taking_turns(folder, remedy="choose another --results-dir"):
        known = {_key(found): (found, line) for _, line, found in _read(path)}
        if known.get(_key(result), ({},))[0] != result:  # else its line stays as it was once sealed
            known[_key(result)] = result, seal(result).encode()
        content = b"".join(known[key][1] + b"\n" for key in sorted(known))
        if read_bytes(path) != content:
            atomic_write(path, content)


def _key(result: Result) -> tuple[str, str, int, str]:
    """Return what results are sorted and told apart by: first what one reads, last the whole configuration."""
    configuration = {key: value for key, value in result["configuration"].items() if key != "seed"}
    model = f"{result['embedding']} {result['features'] or ''}"
    return str(result["recipe"]), model, result["seed"], json.dumps(configuration, sort_keys=True)


@dataclass(frozen=True)
class Summary:
    """The runs that differ in their seed alone.

    Attributes:
        results: at least one.

    >>> runs = ({"task": "schubert", "n": 4, "seed": s, "test": {"accuracy": 0.9 + s / 50}} for s in range(3))
    >>> summary = Summary(tuple(runs))
    >>> summary.row, summary.seeds, round(summary.mean("accuracy"), 4), round(summary.interval("accuracy"), 4)
    ('schubert-4', (0, 1, 2), 0.92, 0.0497)
    """

    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """Return one run, for what all have in common."""
        return self.results[0]

    @property
    def row(self) -> str:
        """Return the row: schubert-4."""
        return row_of(self.first)

    @property
    def label(self) -> str:
        """Return the model's name: AOE (digits), AOE (characters, late), learned, periodic (sigma 0.3), boosted trees.

        >>> Summary(({"embedding": "fone", "configuration": {"embedding": {"standardize": True}}},)).label
        'fone (standardized)'
        """
        if self.first["embedding"] in CLASSICAL_MODELS:
            return CLASSICAL_MODELS[self.first["embedding"]].title
        if self.first["embedding"] == "adelic":
            return f"AOE ({self.first['features']}{'' if self.is_flat else ', ' + self.first['places']})"
        options = _rival_options(self.first)
        return str(self.first["embedding"]) + (f" ({', '.join(options)})" if options else "")

    @property
    def edition(self) -> str:
        """Return the edition of the data."""
        return str(self.first["edition"])

    @property
    def split(self) -> str:
        """Return the split of the data; older results know no other than the published one."""
        return str(self.first.get("split", "published"))

    @property
    def is_contaminated(self) -> bool:
        """Return whether the data shows a leak, so that the results stand in no ranking."""
        return bool(self.first.get("contaminated", False))

    @property
    def title(self) -> str:
        """Return the row with its edition and split, unless those are the published ones: weaving-6 (levels, orbits).

        >>> Summary(({"task": "weaving", "n": 6, "edition": "leaky", "contaminated": True},)).title
        'weaving-6 (leaky, contaminated)'
        """
        parts = [name for name in (self.edition, self.split) if name != "published"]
        parts += ["contaminated"] if self.is_contaminated else []
        return self.row + (f" ({', '.join(parts)})" if parts else "")

    @property
    def has_one_class_a_row(self) -> bool:
        """Return whether rows have one class each, as those of the paper's table; else several targets, or a number."""
        return "exact_match" not in self.first["test"]

    @property
    def is_flat(self) -> bool:
        """Return whether the model is the flat one, the paper's; older results know no other."""
        return bool(self.first.get("places", "flat") == "flat")

    @property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds, ascending."""
        return tuple(sorted(result["seed"] for result in self.results))

    @property
    def has_one_split(self) -> bool:
        """Return whether all seeds have the same parts of the data: older runs, whose seed drew no split."""
        return len({split_seed(result) for result in self.results}) < len(self.results)

    @property
    def predicts_one_class(self) -> bool:
        """Return whether some run says the same class always."""
        return any(result["predicts_one_class"] for result in self.results)

    def mean(self, metric: str) -> float:
        """Return a test metric's mean over seeds."""
        return float(np.mean(self.values(metric)))

    def values(self, metric: str) -> list[float]:
        """Return a test metric of each run."""
        return [result["test"][metric] for result in self.results]

    def trivial(self, rule: str) -> float:
        """Return the mean over seeds of the test accuracy of a trivial rule, "majority", "lookup" or "rule"."""
        return float(np.mean([result[rule] for result in self.results]))

    @property
    def rule(self) -> str:
        """Return the mean test accuracy of the best trivial rule in percent, with its name if all seeds have one.

        >>> Summary(({"rule": 0.9715, "rule_name": "length"},)).rule, Summary(({},)).rule
        ('97.15 (length)', '–')
        """
        if not all("rule" in result for result in self.results):
            return "–"  # older results
        names = {result["rule_name"] for result in self.results}
        figure = f"{100 * self.trivial('rule'):.2f}"
        return f"{figure} ({names.pop()})" if len(names) == 1 else figure

    def interval(self, metric: str) -> float | None:
        """Return the half width of the 95 % confidence interval of the mean, see `confidence_interval`."""
        return confidence_interval(self.values(metric))

    def bars(self, metric: str) -> tuple[float, float]:
        """Return how far a figure's bar reaches below and above the mean: the interval, of two seeds the range."""
        mean, interval, values = self.mean(metric), self.interval(metric), self.values(metric)
        return (mean - min(values), max(values) - mean) if interval is None else (interval, interval)


def split_seed(result: Result) -> int:
    """Return the seed of a run's split: that of the run, but for older ones, whose configuration says another."""
    return int(result.get("configuration", {}).get("data", {}).get("seed", result["seed"]))


def _rival_options(result: Result) -> list[str]:
    """Return the options of a rival in words; σ always, since there is none to take for granted.

    >>> _rival_options({"embedding": "periodic", "configuration": {"embedding": {}}})
    ['sigma 0.01']
    """
    name = result["embedding"]
    plain = {option: o.default for option, o in options(EmbeddingConfig).items() if name in o.of}
    found = plain | {k: v for k, v in result.get("configuration", {}).get("embedding", {}).items() if k in plain}
    words = [f"bases {found['bases']}"] if found.get("bases", plain.get("bases")) != plain.get("bases") else []
    words += ["standardized"] if found.get("standardize") else []
    words += ["as published"] if found.get("published") else []
    return words + ([f"sigma {found['sigma']:g}"] if "sigma" in found else [])


def right_rows(result: Result) -> npt.NDArray[np.bool_] | None:
    """Return which rows of the test split were answered rightly, (rows,), in the split's order.

    Of several targets a row, all have to be right: their rate is `exact_match`, where `accuracy` is the targets' mean.

    Returns:
        None where an older result keeps no predictions.

    >>> run = {"class_names": ["0", "1"], "rows": {"test": 3}, "labels": "oA==", "predictions": "gA=="}
    >>> right_rows(run).tolist()
    [True, True, False]
    """
    kept = unpack_answers(result)
    if kept is None:
        return None
    labels, predictions = kept
    right: npt.NDArray[np.bool_] = (labels == predictions).reshape(len(labels), -1).all(axis=1)
    return right


LEAST_SEEDS = 3
"""From so many seeds on a mean has an interval: with one degree of freedom, Student's t gives ± 12.7 deviations."""


def confidence_interval(values: Iterable[float]) -> float | None:
    """Return the half width of the 95 % confidence interval of a mean, by Student's t; None for two values and one.

    >>> round(confidence_interval([0.90, 0.92, 0.94]), 4), confidence_interval([0.90, 0.94])
    (0.0497, None)
    """
    sample = np.array(list(values))
    if len(sample) < LEAST_SEEDS:
        return None
    return float(stats.t.ppf(0.975, len(sample) - 1) * stats.sem(sample))


def mean_with_interval(values: Iterable[float], *, scale: float = 1.0, decimals: int) -> str:
    """Return a mean as text, with the half width of its confidence interval; of two values with their range.

    >>> mean_with_interval([0.90, 0.92, 0.94], scale=100, decimals=2), mean_with_interval([0.5], decimals=1)
    ('92.00 ± 4.97', '0.5')
    >>> mean_with_interval([0.94, 0.90], scale=100, decimals=2)
    '92.00 [90.00, 94.00]'
    """
    sample = list(values)
    interval = confidence_interval(sample)
    text = f"{scale * float(np.mean(sample)):.{decimals}f}"
    if interval is not None:
        return f"{text} ± {scale * interval:.{decimals}f}"
    if len(sample) == 1:
        return text
    return f"{text} [{scale * min(sample):.{decimals}f}, {scale * max(sample):.{decimals}f}]"


def recipe_text(result: Result) -> str:
    """Return a result's recipe as a table shows it.

    >>> recipe_text({"recipe": "quick", "configuration": {"recipe": {"epochs": 3, "max_rows": 20000}}})
    'quick, 3 epochs, 20,000 rows'
    >>> recipe_text({"recipe": "search", "configuration": {"recipe": {"trials": 20}}})
    'search, 20 trials'
    """
    recipe = result["configuration"]["recipe"]
    rows = f", {recipe['max_rows']:,} rows" if recipe.get("max_rows") else ""
    images = ", symmetries" if recipe.get("symmetries") else ""
    positional = ", learned positions" if recipe.get("positional") == "learned" else ""
    pooling = ", all tokens read" if recipe.get("pooling") == "tokens" else ""
    unit = "trial" if "trials" in recipe else "epoch"
    count = recipe[unit + "s"]
    return f"{result['recipe']}, {count} {unit}{'s' if count > 1 else ''}{rows}{images}{positional}{pooling}"


def summarise(results: Iterable[Result]) -> list[Summary]:
    """Return the results grouped by everything but the seed, in order of first occurrence.

    >>> runs = [{"configuration": {"task": t, "seed": s}} for s in (0, 1) for t in ("schubert", "weaving")]
    >>> [len(summary.results) for summary in summarise(runs)]
    [2, 2]
    """
    groups: dict[str, list[Result]] = {}
    for result in results:
        configuration = {key: value for key, value in result["configuration"].items() if key != "seed"}
        groups.setdefault(json.dumps(configuration, sort_keys=True), []).append(result)
    return [Summary(tuple(group)) for group in groups.values()]
