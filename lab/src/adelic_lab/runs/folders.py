"""Run folders: made, held, read, finished; and the runs and the searches that a folder has, with their states.

The files of a run are config.toml, metrics.jsonl, checkpoint.safetensors, result.json and DONE. DONE has the SHA-256 of
the other texts, as `sha256sum` lists them; the checkpoint has its own, and that of the metrics. Searches are those of
`adelic tune`, and those of models outside the Transformer.

Nothing here may import torch: `adelic runs list` would wait seconds for it.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adelic.data.sources import row_of
from adelic.errors import (
    AdelicError,
    ConfigurationError,
    MissingExtraError,
    RunFolderError,
    StorageError,
    UnknownNameError,
    needs_extra,
)
from adelic.storage.checks import shown
from adelic.storage.files import atomic_write, read_bytes, sole_user, storage_errors
from adelic.storage.records import DamagedTextError, checksums
from adelic_lab.config.embedding import embedding_text
from adelic_lab.config.experiment import Experiment, check_same, is_extension
from adelic_lab.config.models import TRIALS
from adelic_lab.results.metrics import history
from adelic_lab.results.result import Result, check_sum, parse_configuration, read_done
from adelic_lab.train.counters import CHECKPOINT, kept_lines, read_progress
from adelic_lab.train.tensorboard import EVENT_FILES, LOG_FOLDER

FILES = ("config.toml", "metrics.jsonl", CHECKPOINT, "result.json", "DONE")
"""The files of a run folder, in the order in which they appear."""


def prepare_folder(experiment: Experiment, folder: Path, held: ExitStack, *, restart: bool) -> Result | None:
    """Return the result of a finished run; else hold the folder, empty it if the run is to start anew, and check it.

    A run with fewer epochs than the experiment's, finished or not, becomes an unfinished one with as many.
    """
    remedy, config = "choose another --run-dir", folder / "config.toml"
    with storage_errors(f"cannot use the run folder {folder}", remedy):
        extends = not restart and config.exists() and is_extension(experiment, config)
        # A finished run is only read, which several processes may do at once.
        if restart or extends or not (folder / "DONE").exists():
            held.enter_context(sole_user(folder, remedy=remedy))
        if restart:
            # The last file first: a kill in between leaves a run that can continue.
            for path in [*(folder / name for name in reversed(FILES)), *(folder / LOG_FOLDER).glob(EVENT_FILES)]:
                path.unlink(missing_ok=True)
        if extends:
            _extend(folder, experiment)
        if config.exists():
            check_same(experiment, config)
        elif stranger := next((name for name in FILES if (folder / name).exists()), None):
            raise RunFolderError(f"{folder} holds {stranger} but no config.toml; use another --run-dir, or --restart")
        return read_result(folder)


def _extend(folder: Path, experiment: Experiment) -> None:
    """Make an unfinished run with more epochs of a run, in an order in which a kill leaves one of the two."""
    if (folder / "DONE").exists() and not (folder / CHECKPOINT).exists():
        raise RunFolderError(
            f"{folder} has no checkpoint any more from which the run could go on; use another --run-dir, or --restart "
            "to begin anew"
        )
    (folder / "DONE").unlink(missing_ok=True)
    atomic_write(folder / "config.toml", experiment.to_toml())
    (folder / "result.json").unlink(missing_ok=True)


def describe(experiment: Experiment, folder: Path) -> None:
    """Write config.toml, if it is not there."""
    if not (folder / "config.toml").exists():
        atomic_write(folder / "config.toml", experiment.to_toml())


def finish(experiment: Experiment, folder: Path, result: Result, metrics: bytes | None) -> Result:
    """Write the result, the configuration if that was deleted meanwhile, and that the run is done.

    The folder is held; `metrics` is the content of metrics.jsonl, of a run that has one. If the folder has come to hold
    another run meanwhile, it is a RunFolderError.
    """
    describe(experiment, folder)
    check_same(experiment, folder / "config.toml")
    texts = {} if metrics is None else {"metrics.jsonl": metrics}
    texts["result.json"] = (json.dumps(result.as_dict(), indent=2) + "\n").encode()
    for name, text in texts.items():
        if read_bytes(folder / name) != text:
            atomic_write(folder / name, text)
    # The last: after a kill before it, the same command judges the checkpoint once more.
    atomic_write(folder / "DONE", checksums({"config.toml": read_bytes(folder / "config.toml") or b"", **texts}))
    return result


def read_result(folder: Path) -> Result | None:
    """Return the result of a finished run, or None when the run is not finished.

    Raises:
        RunFolderError: result.json is missing or damaged, or another text that DONE lists is.

    >>> read_result(Path("a folder without a finished run")) is None
    True
    """
    if not (folder / "DONE").exists():
        return None
    listed = read_done(folder)
    contents: dict[str, bytes] = {}
    for name in dict.fromkeys((*listed, "result.json")):
        content = read_bytes(folder / name)
        if content is None:
            raise RunFolderError(f"{folder / name} is missing although DONE lists it; --restart begins this run anew")
        check_sum(folder / name, content, listed)
        contents[name] = content
    return Result.parse(contents["result.json"], str(folder / "result.json"))


STUDIES = "tune"
"""The folder, among those of runs, that has the studies of `adelic tune`."""


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """One run folder, as far as it can be read.

    Attributes:
        folder: the run folder; its name is the run's label.
        state: "finished", "unfinished" or "damaged".
        problem: what is damaged; None otherwise.
        configuration: the tables of config.toml; empty if that is damaged.
        epoch: epochs done.
        step: steps done of the next epoch, as far as they are saved.
        metrics: the lines of metrics.jsonl, one an epoch.
        result: result.json of a finished run.
        size: of the run's files, bytes.
        changed: when a file of the run was last written, seconds since 1970.

    >>> run = RunSummary(folder=Path("runs/mine"), state="unfinished", configuration={}, epoch=3, size=0, changed=0.0)
    >>> run.label, run.accuracy, run.best_validation
    ('mine', None, None)
    """

    folder: Path
    state: str
    problem: str | None = None
    configuration: dict[str, Any]
    epoch: int = 0
    step: int = 0
    metrics: tuple[dict[str, Any], ...] = ()
    result: Result | None = None
    size: int
    changed: float

    @property
    def label(self) -> str:
        """Return the folder's name."""
        return self.folder.name

    @property
    def row(self) -> str | None:
        """Return the dataset: schubert-4; None if the configuration is damaged."""
        data = self.configuration.get("data")
        return row_of(data) if data else None

    @property
    def embedding(self) -> str | None:
        """Return the embedding: adelic:digits, adelic:characters:late, learned; None as of `row`."""
        embedding = self.configuration.get("embedding")
        return embedding_text(embedding) if embedding else None

    @property
    def recipe(self) -> str | None:
        """Return the recipe's name; None as of `row`."""
        name: str | None = self.configuration.get("recipe", {}).get("name")
        return name

    @property
    def epochs(self) -> int | None:
        """Return how many epochs the run has in all; None if the model has no epochs, and as of `row`."""
        epochs: int | None = self.configuration.get("recipe", {}).get("epochs")
        return epochs

    @property
    def accuracy(self) -> float | None:
        """Return the accuracy on the test split, None before the run is finished, and of real numbers."""
        return None if self.result is None or self.result.is_real else self.result.test["accuracy"]

    @property
    def best_validation(self) -> float | None:
        """Return the best validation accuracy so far, None before the first epoch."""
        return max((line["validation"]["accuracy"] for line in self.metrics), default=None)

    @property
    def history(self) -> dict[str, list[float]]:
        """Return the learning curves, one value an epoch."""
        return history(self.metrics)

    def as_dict(self) -> dict[str, Any]:
        """Return the summary for JSON."""
        names = "label row embedding recipe state problem epoch epochs step accuracy size changed"
        return {
            "kind": "run",
            **{name: getattr(self, name) for name in names.split()},
            "folder": str(self.folder),
            "seed": self.configuration.get("seed"),
            "best_validation_accuracy": self.best_validation,
        }


@dataclass(frozen=True, kw_only=True)
class SearchSummary:
    """One search, as far as it can be read.

    Attributes:
        label: its name.
        path: of its file: a study of Optuna in SQLite, or JSON lines.
        state: "damaged"; of a model outside the Transformer "unfinished" while a run that waits for it is not finished,
            else "finished"; of `adelic tune` "unfinished", since only a command says how many trials there are to be.
        trials: how many were made to their end or pruned.
        best: the best validation accuracy; None before the first trial is done.
        runs: labels of the runs for which it chooses, one per seed; () of `adelic tune`.
        size: of the file, bytes.
        changed: when it was last written, seconds since 1970.
        problem: what is damaged, or which extra is missing; None otherwise.

    >>> SearchSummary(label="mine", path=Path("mine.db"), trials=3, best=0.75, size=0, changed=0.0).as_dict()["best"]
    0.75
    """

    label: str
    path: Path
    state: str = "finished"
    trials: int = 0
    best: float | None = None
    runs: tuple[str, ...] = ()
    size: int
    changed: float
    problem: str | None = None

    @property
    def is_study(self) -> bool:
        """Return whether it is of `adelic tune`; the others are of models outside the Transformer."""
        return self.path.name != TRIALS

    def as_dict(self) -> dict[str, Any]:
        """Return the summary for JSON."""
        return {"kind": "search"} | asdict(self) | {"path": str(self.path)}


def is_run_folder(folder: Path) -> bool:
    """Return whether a folder holds at least one of the files that a run writes, or may not be looked into."""
    try:
        return folder.is_dir() and any((folder / name).is_file() for name in FILES)
    except PermissionError:
        return True


def run_folders(runs: Path) -> list[Path]:
    """Return the run folders in a folder, by name; of one that has none in it and is a run folder, that one."""
    inside = [folder for folder in sorted(runs.iterdir()) if is_run_folder(folder)] if runs.is_dir() else []
    return inside or ([runs] if is_run_folder(runs) else [])


def search_files(runs: Path) -> dict[str, Path]:
    """Return the files of the searches in a folder of run folders, by label.

    >>> search_files(Path("no such folder"))
    {}
    """
    return {_label(path): path for path in [*runs.glob(f"*/{TRIALS}"), *(runs / STUDIES).glob("*.db")]}


def _label(path: Path) -> str:
    return path.absolute().parent.name if path.name == TRIALS else path.stem


def list_runs(runs: Path) -> list[RunSummary]:
    """Return the runs in a folder, by label, or the one that it is itself; other folders are passed over.

    Raises:
        StorageError: the folder does not exist or cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     list_runs(Path(folder))
    []
    """
    with storage_errors(f"cannot read {runs}", "choose another --runs-dir"):
        if not runs.is_dir():
            raise StorageError(
                f"there is no folder {runs} with runs; `adelic train` makes one, --runs-dir names another"
            )
        return [summary(folder) for folder in run_folders(runs)]


def list_searches(runs: Path) -> list[SearchSummary]:
    """Return the searches in a folder of run folders, by label.

    Raises:
        StorageError: the folder cannot be read.

    >>> list_searches(Path("no such folder"))
    []
    """
    with storage_errors(f"cannot read {runs}", "choose another --runs-dir"):
        return [search_summary(path) for _, path in sorted(search_files(runs).items())]


def find_run(name: str, runs: Path) -> RunSummary:
    """Return the run with a label, or a label that begins so if only one does, or with the path of its folder.

    Raises:
        UnknownNameError: no run has this name; the nearest label is suggested.
        ConfigurationError: several labels begin so, or it is the name of a search.
        StorageError: a folder cannot be read.

    >>> find_run("mine", Path("no such folder"))
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown run 'mine'; runs in no such folder: none
    """
    found = find_any(name, runs, searches_by_beginning=False)
    if isinstance(found, SearchSummary):
        raise ConfigurationError(f"{name!r} is a search, not a run; `adelic runs show` describes it")
    return found


def find_any(name: str, runs: Path, *, searches_by_beginning: bool = True) -> RunSummary | SearchSummary:
    """Return the run or the search with a label, or a label that begins so if only one does, or with a path.

    Args:
        name: a label, the beginning of one, or the path of a run folder, or of a search's file or folder.
        runs: the folder of run folders.
        searches_by_beginning: whether the beginning of a search's label, which its runs have too, names it.

    Raises:
        UnknownNameError: neither a run nor a search has this name; the nearest label is suggested.
        ConfigurationError: several labels begin so.
        StorageError: a folder cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     search = Path(folder) / "schubert-4-mlp-search-1" / "trials.jsonl"
    ...     search.parent.mkdir()
    ...     _ = search.write_text('{"accuracy": 0.75}')
    ...     found = find_any("schubert-4", Path(folder))
    >>> found.label, found.trials, found.best
    ('schubert-4-mlp-search-1', 1, 0.75)
    """
    with storage_errors(f"cannot read the run {shown(name)}", "`adelic runs list` lists the runs"):
        paths = [runs / name, Path(name)] if name else []
        searches = search_files(runs)
        for path in paths:
            if is_run_folder(path):
                return summary(path)
        for path in [searches[name]] if name in searches else paths:
            if (file := _search_at(path)) is not None:
                return search_summary(file)
        folders = {run.name: run for run in run_folders(runs)}
    labels = [*folders, *(searches if searches_by_beginning else ())]
    fitting = [label for label in labels if name and label.startswith(name)]
    if len(fitting) > 1:
        raise ConfigurationError(f"{name!r} is the beginning of {len(fitting)} labels: {', '.join(fitting[:9])}")
    if not fitting:
        what = "runs and searches" if len(labels) > len(folders) else "runs"
        raise UnknownNameError.of("run", name, labels, listed=f"{what} in {runs}")
    (label,) = fitting
    return summary(folders[label]) if label in folders else search_summary(searches[label])


def _search_at(path: Path) -> Path | None:
    """Return the file of the search that a path names, that file's or its folder's; None if it names none."""
    file = path / TRIALS if path.is_dir() else path
    is_study = file.suffix == ".db" and file.absolute().parent.name == STUDIES
    return file if (is_study or file.name == TRIALS) and file.is_file() else None


def summary(folder: Path) -> RunSummary:
    """Return what a run folder holds; whatever is damaged in it is named, not raised."""
    found: dict[str, Any] = {"folder": folder, "configuration": {}, "size": 0, "changed": 0.0}
    try:
        with storage_errors(f"cannot read {folder}", "see whether you may read there"):
            found["changed"] = folder.stat().st_mtime
            stats = [path.stat() for path in _files(folder)]
        found["size"] = sum(stat.st_size for stat in stats)
        found["changed"] = max((stat.st_mtime for stat in stats), default=0.0)
        listed = read_done(folder)
        found["configuration"] = _configuration(folder / "config.toml", listed)
        found["metrics"] = _metrics(folder / "metrics.jsonl", listed)
        found["result"] = read_result(folder)
        if found["result"] is not None:
            return RunSummary(state="finished", epoch=len(found["metrics"]), **found)
        if (folder / CHECKPOINT).exists():
            progress = read_progress(folder / CHECKPOINT)
            found["epoch"], found["step"] = progress.epoch, progress.batch
            kept_lines(folder, progress)
        found["metrics"] = found["metrics"][: found.get("epoch", 0)]  # what a resumed run would keep
        return RunSummary(state="unfinished", **found)
    except (RunFolderError, StorageError) as error:
        return RunSummary(state="damaged", problem=str(error), **found)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a run: those that it writes, what a killed writer of them left, and TensorBoard's logs."""
    for path in folder.iterdir():
        written = any(path.name.startswith(f".{name}.") and path.name.endswith(".tmp") for name in FILES)
        if (path.name in FILES or written) and path.is_file():
            yield path
    yield from (path for path in (folder / LOG_FOLDER).glob(EVENT_FILES) if path.is_file())


def _configuration(path: Path, listed: dict[str, str]) -> dict[str, Any]:
    """Return the tables of a config.toml, as far as a summary needs them."""
    content = read_bytes(path)
    if content is None:
        raise RunFolderError("config.toml is missing")
    check_sum(path, content, listed)
    try:
        return parse_configuration(content)
    except DamagedTextError as error:
        raise RunFolderError(f"config.toml is damaged: {error}") from None


def _metrics(path: Path, listed: dict[str, str]) -> tuple[dict[str, Any], ...]:
    """Return the lines of metrics.jsonl, () if the file does not exist yet."""
    content = read_bytes(path) or b""
    check_sum(path, content, listed)
    try:
        lines = tuple(json.loads(line) for line in content.decode().splitlines())
        history(lines)  # has all that it needs
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise RunFolderError(f"metrics.jsonl is damaged ({type(error).__name__})") from None
    if [line.get("epoch") for line in lines] != list(range(1, len(lines) + 1)):
        raise RunFolderError("metrics.jsonl is damaged: its epochs are not 1, 2, 3, …")
    return lines


def search_summary(path: Path) -> SearchSummary:
    """Return the summary of a search's file; what is damaged in it is named, not raised."""
    stat = path.stat()
    about: dict[str, Any] = {"label": _label(path), "path": path, "size": stat.st_size, "changed": stat.st_mtime}
    is_done = False
    if path.name == TRIALS:
        folder = path.absolute().parent
        waiting = sorted(run for run in folder.parent.iterdir() if run.name.startswith(f"{folder.name}-seed"))
        about["runs"] = tuple(run.name for run in waiting)
        is_done = all((run / "DONE").exists() for run in waiting)
    try:
        accuracies = _accuracies(path)
    except MissingExtraError as error:  # the file may be whole
        about["problem"] = str(error)
    except (AdelicError, ValueError, LookupError, TypeError, RecursionError) as error:
        problem = str(error) if isinstance(error, AdelicError) else f"{path} is damaged ({error})"
        return SearchSummary(**about, state="damaged", problem=problem)
    else:
        told = [accuracy for accuracy in accuracies if accuracy is not None]
        about |= {"trials": len(accuracies), "best": max(told, default=None)}
    return SearchSummary(**about, state="finished" if is_done else "unfinished")


def _accuracies(path: Path) -> list[float | None]:
    """Return the best validation accuracy of each trial that was made to its end or pruned."""
    if path.name == TRIALS:
        return [float(json.loads(line)["accuracy"]) for line in (read_bytes(path) or b"").splitlines()]
    with needs_extra("reading a search", "tune", "./lab"):
        from adelic_lab.search.studies import accuracies
    return accuracies(path)
