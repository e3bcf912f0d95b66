"""The official files of the Algebraic Combinatorics Dataset, read and checked row by row.

`load_published` gives their rows in the encoding of this package, in their own splits, with a report of what differs
from the mathematics and from the published counts. Which files it reads, and what the knowledge of their form rests on,
is said in `adelic.acd.published.files`; how rows are checked, in `adelic.acd.published.checks`.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adelic.acd.published import checks
from adelic.acd.published import files as published_files
from adelic.acd.published.checks import Count, Known, Problem, Problems, Table
from adelic.acd.published.files import Malformed, Row, SourceFile
from adelic.acd.published.layouts import LAYOUTS
from adelic.data import registry
from adelic.data.dataset import Dataset
from adelic.data.protocol import Integers, Progress, Task
from adelic.errors import ConfigurationError, StorageError, UnknownNameError, needs_extra
from adelic.storage import files
from adelic.storage.checks import shown
from adelic.storage.provenance import versions

CHUNK = 1 << 16
SHOWN = 5
HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


@dataclass(frozen=True)
class Report:
    """What was found in the files.

    Attributes:
        labels: how the files' labels are to be read: "as documented here", or the renaming that was applied.
        counts: rows and what else is published of them; empty where nothing is known of this size.
        totals: kind of problem -> how many there are: "malformed" lines, which are left out; "duplicate" rows; "wrong
            label" (the row is one of the task, of another class); "outside" (it is no row of the task); "missing" (rows
            that should be there); "no true cover" (lattice: a row that follows the released generator's rule and is no
            cover of that order alone); "leak" (weaving: an order of rows that gives the label away).
        problems: the first 1,000 of each kind; a printed report has five.

    >>> print(Report("as documented here", (Count("rows", 3, 4),), {"duplicate": 1}, ()))
    labels: as documented here
    rows: 3, published 4
    duplicate: 1
    """

    labels: str
    counts: tuple[Count, ...]
    totals: Mapping[str, int]
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        lines = [f"labels: {self.labels}"]
        for count in self.counts:
            note = f" ({count.why})" if count.why and not count.equal else ""
            lines.append(f"{count.what}: {count.found:,}, published {count.published:,}{note}")
        for kind, total in self.totals.items():
            lines.append(f"{kind}: {total:,}")
            first = [problem for problem in self.problems if problem.kind == kind][:SHOWN]
            lines += [f"  {problem.where}: {problem.what}" for problem in first]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, kw_only=True)
class Published(Dataset):
    """Published rows: a `Dataset` without validation rows, since none are published, and with a report.

    Attributes:
        truth_train: the labels by the mathematics, of the shape of y_train; -1 for what is no row of the task.
        truth_test: likewise.
        report: what was found.

    `np.flatnonzero(p.y_train != p.truth_train)` are the rows of train whose class is wrong.

    >>> sorted(set(Published.__dataclass_fields__) - set(Dataset.__dataclass_fields__))
    ['report', 'truth_test', 'truth_train']
    """

    truth_train: Integers
    truth_test: Integers
    report: Report


def load_published(
    source: str | Path, *, task: str | None = None, n: int | None = None, progress: Progress | None = None
) -> Published:
    """Return the rows of official files, and what in them differs from the mathematics and from what is published.

    Lines that are no rows are left out, and the report names them. All other rows are kept, wrong ones too.

    Args:
        source: a folder with the files, unpacked, or the id of a repository on the Hugging Face hub, such as
            "ACDRepo/weaving_patterns_6", which is downloaded.
        task: the task; by default the one that the names tell.
        n: the size, where the folder has files of several.
        progress: called with (done, total, what) while files are read and known rows are generated.

    Raises:
        StorageError: the folder has no such files or lacks some, a file cannot be read, or the hub cannot be reached.
        ConfigurationError: task or size are not clear.
        MissingExtraError: huggingface_hub is not installed.
        UnknownNameError: there is no such task.
        TaskSizeError: the rows cannot be checked, since there are none of this size, or memory cannot hold them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for split, height in (("train", 0), ("test", 1)):
    ...         text = f'{{"Permutation": [2, 3, 0, 1, 4], "mHeight": {height}}}'
    ...         _ = (Path(folder) / f"mheight_5_{split}.jsonl").write_text(text, encoding="utf-8")
    ...     p = load_published(folder)
    >>> p.X_train.tolist(), p.y_test.tolist(), p.truth_test.tolist()
    ([[2, 3, 0, 1, 4]], [1], [0])
    >>> print(p.report)
    labels: as documented here
    duplicate: 1
      mheight_5_test.jsonl:1: the same row as mheight_5_train.jsonl:1
    wrong label: 1
      mheight_5_test.jsonl:1: 1, not 0: [2, 3, 0, 1, 4]
    missing: 14
    ...
    """
    if task is not None and (not isinstance(task, str) or task not in LAYOUTS):
        raise UnknownNameError.of("task", task, LAYOUTS)
    folder = _folder(source)
    name, found = published_files.find(folder, task, str(source))
    found, size = _of_size(found, n, folder)
    about = registry.task(name)
    about.check_size(size, "published")
    about.check_memory(size, "published")
    problems = Problems()
    table = _read(found, about, size, problems, progress)
    known = Known(about, size, table.X, progress)
    labels = checks.read_labels(table, known, problems)
    checks.check(table, known, problems)
    counts = tuple(checks.counted(table, known))
    report = Report(labels, counts, problems.totals, tuple(problems.listed))
    return _published(str(source), table, known, report)


def _folder(source: str | Path) -> Path:
    """Return the folder of the files, downloaded if the source is no folder but could be a repository of the hub."""
    folder = Path(source)
    with files.storage_errors(f"cannot read {source}", published_files.READ_REMEDY):
        if folder.is_dir():
            return folder
        exists = folder.exists()
    if exists or isinstance(source, Path) or not HUB_ID.fullmatch(source):
        raise StorageError(
            f"{source} is neither a folder (unpack archives first) nor an id of the Hugging Face hub like ACDRepo/name"
        )
    with needs_extra(f"there is no folder {source}, and reading the hub", "hf"):
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    # One base of the hub's error is the HTTP library's own, which library that is depends on the version.
    bases = (base for base in HfHubHTTPError.__bases__ if issubclass(base, Exception))
    failures: tuple[type[Exception], ...] = (OSError, HFValidationError, *bases)
    try:
        downloaded = huggingface_hub.snapshot_download(
            str(source), repo_type="dataset", allow_patterns=["*.jsonl", "*.parquet", "*.txt", "*.csv"]
        )
    except failures as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StorageError(
            f"there is no folder {source}, and it cannot be downloaded from the Hugging Face hub: {reason[:200]}; "
            "download the files elsewhere and name the local folder that has them"
        ) from error
    return Path(downloaded)


def _of_size(found: list[SourceFile], n: int | None, folder: Path) -> tuple[list[SourceFile], int]:
    """Return the files of size n, by their first rows, and n; ConfigurationError if it is not clear which."""
    sizes: dict[str, int | None] = {}
    for file in found:
        first = next((row for row in file.rows() if not isinstance(row, Malformed)), None)
        sizes[file.name] = None if first is None else file.layout.size(len(first.tokens))
    known = sorted({size for size in sizes.values() if size is not None})
    if not known:
        raise StorageError(f"{folder}: no line of {', '.join(sizes)} is a row of the data set")
    if n is None and len(known) > 1:
        raise ConfigurationError(
            f"{folder} has files of the sizes {', '.join(map(str, known))}; say which: n={known[0]}"
        )
    size = known[0] if n is None else n
    if size not in known:
        raise ConfigurationError(f"{folder} has no files of size n={shown(n)}, but of {', '.join(map(str, known))}")
    chosen = [file for file in found if sizes[file.name] in (size, None)]
    return published_files.complete(chosen, folder), size


def _read(found: list[SourceFile], task: Task, n: int, problems: Problems, progress: Progress | None) -> Table:
    """Return the rows of all files, train before test; what is no row is reported."""
    ordered = sorted(found, key=lambda file: file.split != "train")
    parts: list[tuple[Integers, Integers, Integers, int]] = []
    for index, file in enumerate(ordered):
        if progress:
            progress(index, len(ordered), f"reading {file.name}")
        for rows in _chunks(file, task.length(n, "published"), n, problems):
            lines, tokens, labels = zip(*rows, strict=True)
            # The layouts let no entry of a list pass that int8 cannot hold.
            y: Integers = np.array(labels, np.int8 if isinstance(labels[0], list) else np.int64)
            parts.append((np.array(tokens, np.int8), y, np.array(lines, np.int64), index))
    file_of = np.repeat([index for *_, index in parts], [len(lines) for _, _, lines, _ in parts])
    return Table(
        X=np.concatenate([X for X, _, _, _ in parts]),
        y=np.concatenate([y for _, y, _, _ in parts]),
        test=np.array([file.split == "test" for file in ordered])[file_of],
        file=file_of,
        line=np.concatenate([lines for _, _, lines, _ in parts]),
        files=ordered,
    )


def _chunks(file: SourceFile, length: int, n: int, problems: Problems) -> Iterator[list[Row]]:
    """Yield the rows of a file, many at a time, so that few of them are Python objects at any time."""
    rows: list[Row] = []
    for row in file.rows():
        if isinstance(row, Malformed):
            problems.add("malformed", f"{file.name}:{row.line}", row.why)
        elif len(row.tokens) != length:
            problems.add("malformed", f"{file.name}:{row.line}", f"{len(row.tokens)} tokens, but {length} for n={n}")
        else:
            rows.append(row)
        if len(rows) == CHUNK:
            yield rows
            rows = []
    if rows:
        yield rows


def _published(source: str, table: Table, known: Known, report: Report) -> Published:
    task, n, train, test = known.task, known.n, ~table.test, table.test
    counts = None
    if known.classes is not None:
        counts = {
            name: dict(
                zip(known.classes, np.bincount(table.y[rows], minlength=len(known.classes)).tolist(), strict=True)
            )
            for name, rows in (("train", train), ("test", test))
        }
    provenance = {
        "task": task.name,
        "n": n,
        "edition": "published",
        "seed": None,
        "options": {},
        "title": task.title,
        "source": source,
        "files": {file.name: {"split": file.split, "sha256": _sha256(file.path)} for file in table.files},
        "labels": report.labels,
        "rows": {"all": len(table.y), "train": int(train.sum()), "validation": 0, "test": int(test.sum())},
        "counts": counts,
        "problems": report.totals,
        "versions": versions("numpy", "pyarrow"),
    }
    return Published(
        X_train=table.X[train],
        y_train=table.y[train],
        X_validation=table.X[:0],
        y_validation=table.y[:0],
        X_test=table.X[test],
        y_test=table.y[test],
        class_names=known.classes,
        vocabulary=task.vocabulary(n, "published"),
        provenance=provenance,
        symmetries=task.symmetries,
        cues=task.cues,
        truth_train=known.truth[train],
        truth_test=known.truth[test],
        report=report,
    )


def _sha256(path: Path) -> str:
    with files.storage_errors(f"cannot read {path}", published_files.READ_REMEDY), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
