"""The searches in a folder of runs: those of `adelic tune`, and those of models outside the Transformer."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adelic.errors import AdelicError, MissingExtraError, needs_extra
from adelic.storage.files import read_bytes, storage_errors

STUDIES = "tune"
"""The folder, among those of runs, that has the studies of `adelic tune`."""
TRIALS = "trials.jsonl"
"""The file, in its folder, that has the trials of a model outside the Transformer, one a line."""


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


def list_searches(runs: Path) -> list[SearchSummary]:
    """Return the searches in a folder of run folders, by label.

    Raises:
        StorageError: the folder cannot be read.

    >>> list_searches(Path("no such folder"))
    []
    """
    with storage_errors(f"cannot read {runs}", "choose another --runs-dir"):
        return [search_summary(path) for _, path in sorted(search_files(runs).items())]


def search_files(runs: Path) -> dict[str, Path]:
    """Return the files of the searches in a folder of run folders, by label.

    >>> search_files(Path("no such folder"))
    {}
    """
    return {_label(path): path for path in [*runs.glob(f"*/{TRIALS}"), *(runs / STUDIES).glob("*.db")]}


def search_at(path: Path) -> SearchSummary | None:
    """Return the search that a path names, its file's or its folder's; None where it names none.

    >>> search_at(Path("no such file")) is None
    True
    """
    file = path / TRIALS if path.is_dir() else path
    is_study = file.suffix == ".db" and file.absolute().parent.name == STUDIES
    return search_summary(file) if (is_study or file.name == TRIALS) and file.is_file() else None


def _label(path: Path) -> str:
    return path.absolute().parent.name if path.name == TRIALS else path.stem


def search_summary(path: Path) -> SearchSummary:
    """Return the summary of a search's file; what is damaged in it is named, not raised."""
    stat = path.stat()
    about: dict[str, Any] = {"label": _label(path), "path": path, "size": stat.st_size, "changed": stat.st_mtime}
    is_lines = path.name == TRIALS
    state = "unfinished" if not is_lines or any(not (run / "DONE").exists() for run in _runs_of(path)) else "finished"
    try:
        accuracies = _of_lines(path) if is_lines else _of_study(path)
    except MissingExtraError as error:  # the file may be whole
        return SearchSummary(**about, state=state, problem=str(error))
    except AdelicError as error:
        return SearchSummary(**about, state="damaged", problem=str(error))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        return SearchSummary(**about, state="damaged", problem=f"{path} is damaged ({error})")
    told = [accuracy for accuracy in accuracies if accuracy is not None]
    return SearchSummary(**about, state=state, trials=len(accuracies), best=max(told, default=None))


def runs_of(search: SearchSummary) -> list[str]:
    """Return the labels of the runs for which a search has chosen; [] of `adelic tune`, which has none.

    >>> runs_of(SearchSummary(label="mine", path=Path("mine.db"), size=0, changed=0.0))
    []
    """
    return [] if search.is_study else [run.name for run in _runs_of(search.path)]


def _runs_of(trials: Path) -> list[Path]:
    """Return the folders of the runs, one a seed, of a search of a model outside the Transformer."""
    folder = trials.absolute().parent
    return sorted(path for path in folder.parent.iterdir() if path.name.startswith(f"{folder.name}-seed"))


def _of_lines(path: Path) -> list[float | None]:
    return [float(json.loads(line)["accuracy"]) for line in (read_bytes(path) or b"").splitlines()]


def _of_study(path: Path) -> list[float | None]:
    with needs_extra("reading a search", "tune", "./lab"):
        from adelic_lab.search.studies import accuracies
    return accuracies(path)
