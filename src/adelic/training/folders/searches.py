"""The searches in a folder of runs: those of `adelic tune`, and those of models outside the Transformer."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adelic.errors import AdelicError, needs_extra
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
        trials: how many were made to their end or pruned.
        best: the best validation accuracy; None before the first trial is done.
        size: of the file, bytes.
        changed: when it was last written, seconds since 1970.
        problem: what is damaged, or which extra is missing; empty otherwise.

    >>> SearchSummary(label="mine", path=Path("mine.db"), trials=3, best=0.75, size=0, changed=0.0).as_dict()["best"]
    0.75
    """

    label: str
    path: Path
    trials: int = 0
    best: float | None = None
    size: int
    changed: float
    problem: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the summary for JSON."""
        return asdict(self) | {"path": str(self.path)}


def list_searches(runs: Path) -> list[SearchSummary]:
    """Return the searches in a folder of run folders, by label.

    Raises:
        StorageError: the folder cannot be read.

    >>> list_searches(Path("no such folder"))
    []
    """
    with storage_errors(f"cannot read {runs}", "choose another --runs-dir"):
        found = [(path.parent.name, path) for path in runs.glob(f"*/{TRIALS}")]
        found += [(path.stem, path) for path in (runs / STUDIES).glob("*.db")]
        return [_summary(label, path) for label, path in sorted(found)]


def _summary(label: str, path: Path) -> SearchSummary:
    """Return the summary of a search's file; what is damaged in it is named, not raised."""
    stat = path.stat()
    about: dict[str, Any] = {"label": label, "path": path, "size": stat.st_size, "changed": stat.st_mtime}
    try:
        accuracies = _of_lines(path) if path.name == TRIALS else _of_study(path)
    except AdelicError as error:
        return SearchSummary(**about, problem=str(error))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        return SearchSummary(**about, problem=f"{path} is damaged ({error})")
    told = [accuracy for accuracy in accuracies if accuracy is not None]
    return SearchSummary(**about, trials=len(accuracies), best=max(told, default=None))


def _of_lines(path: Path) -> list[float | None]:
    return [float(json.loads(line)["accuracy"]) for line in (read_bytes(path) or b"").splitlines()]


def _of_study(path: Path) -> list[float | None]:
    with needs_extra("reading a search", "tune"):
        from adelic.training.search.studies import accuracies
    return accuracies(path)
