"""The files of the dataset's authors, found and read: arrays, and where each row stands.

No line may be longer than a row can be, and no file may have more than twice the rows that the task has, so that what
is read is bounded, whatever the files hold. A line that is not a row of the task and size is an error that names it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.acd.published.authors_layout import LAYOUTS
from adelic.acd.published.rows import FORMS, Label, nested_lists
from adelic.data.protocol import Integers, Progress, Task
from adelic.errors import EncodingError, StorageError
from adelic.storage import files
from adelic.storage.checks import shown

CHUNK = 1 << 16
"""How many rows are Python objects at a time."""
LONGEST_LINE = 10_000
REMEDY = "see whether the file is complete, and of the size n that was asked for"


@dataclass(frozen=True)
class Source:
    """A file of a split.

    Attributes:
        path: where it is.
        split: train or test.
        label: the class of all its rows, if they have one.
        beside: a file with the labels, line by line, if there is one.
    """

    path: Path
    split: str
    label: int | None = None
    beside: Path | None = None

    def error(self, line: int, why: str) -> StorageError:
        """Return the error for a line that is not a row."""
        return StorageError(f"{self.path}, line {line}: {why}; {REMEDY}")


@dataclass(frozen=True)
class Table:
    """The rows of all files, train before test, and for each the index of its source, and its line."""

    X: Integers
    y: Integers
    sources: list[Source]
    source: NDArray[np.int64]
    line: NDArray[np.int64]

    def where(self, row: int) -> str:
        """Return the file and the line of a row."""
        return f"{self.sources[self.source[row]].path.name}:{self.line[row]}"


def find(folder: Path, name: str, n: int) -> list[Source]:
    """Return the files of a task and size, train before test: the authors' text files, or else those of the hub.

    Where there are none, or some are missing, it is a StorageError.
    """
    with files.storage_errors(f"cannot read {folder}", "name a folder with the files of the dataset's authors"):
        if not folder.is_dir():
            raise StorageError(
                f"there is no folder {folder}; download the files first, as with: hf download ACDRepo/NAME "
                "--repo-type dataset --local-dir FOLDER"
            )
        next(folder.iterdir(), None)  # raises where the folder may not be read; searching it would find nothing
        found = _text_files(folder, name, n) or _hub_files(folder)
    for split in ("train", "test"):
        if all(source.split != split for source in found):
            raise StorageError(
                f"{folder} has no {split} file of {name} n={n}: neither *{split}*.jsonl of the hub nor text files "
                "under the names that the authors' loader reads"
            )
    return found


def _text_files(folder: Path, name: str, n: int) -> list[Source]:
    """Return the text files, in the authors' own folders below this one or directly in it; none if all are missing."""
    layout = LAYOUTS[name]
    found: list[Source] = []
    missing: list[str] = []
    for split in ("train", "test") if n in layout.sizes else ():
        nested = [folder / file.path.format(n=n, steps=n - 1, split=split) for file in layout.files]
        paths = [path if path.is_file() else folder / path.name for path in nested]
        missing += [path.name for path in paths if not path.is_file()]
        if layout.files[0].label is None:
            found.append(Source(paths[0], split, beside=paths[1] if paths[1:] else None))
        else:
            found += [Source(path, split, file.label) for file, path in zip(layout.files, paths, strict=True)]
    if missing and len(missing) < 2 * len(layout.files):
        raise StorageError(f"{folder} has other text files of {name} n={n}, but {missing[0]} is missing")
    return [] if missing else found


def _hub_files(folder: Path) -> list[Source]:
    """Return the JSON lines in the folder, or one below it, that have train or test in their names."""
    paths = sorted(path for depth in ("", "*/") for path in folder.glob(f"{depth}*.jsonl") if path.is_file())
    return [Source(path, split) for split in ("train", "test") for path in paths if split in path.name]


def read(sources: list[Source], task: Task, n: int, progress: Progress | None) -> Table:
    """Return the rows of all files.

    A StorageError says that a file cannot be read or has no rows, that a line is not a row of this size, or that there
    are too many.
    """
    most = 2 * task.estimate(n, "published").rows
    parts: list[tuple[Integers, Integers, Integers, Integers]] = []
    for index, source in enumerate(sources):
        if progress:
            progress(index, len(sources), f"reading {source.path.name}")
        rows = 0
        with files.storage_errors(f"cannot read {source.path}", REMEDY):
            left = islice(_rows(source, task, n), most + 1)
            while part := list(islice(left, CHUNK)):
                lines, tokens, labels = zip(*part, strict=True)
                # The forms let no entry of a list pass that int8 cannot hold.
                y: Integers = np.array(labels, np.int8 if isinstance(labels[0], list) else np.int64)
                parts.append((np.full(len(lines), index), np.array(lines), np.array(tokens, np.int8), y))
                rows += len(lines)
        if not 0 < rows <= most:
            what = f"more than {most:,} rows, twice those of {task.name} n={n}" if rows else "no rows"
            raise StorageError(f"{source.path} has {what}; {REMEDY}")
    source_of, line, X, y = map(np.concatenate, zip(*parts, strict=True))
    return Table(X=X, y=y, sources=sources, source=source_of, line=line)


def _rows(source: Source, task: Task, n: int) -> Iterator[tuple[int, list[int], Label]]:
    """Yield line, tokens and label of the rows of a file."""
    form, length = FORMS[task.name], task.length(n, "published")
    numbers = frozenset(task.vocabulary(n, "published"))
    for line, inputs, label in _on_the_hub(source, task) if source.path.suffix == ".jsonl" else _texts(source, task):
        try:
            tokens, target = form.tokens(inputs, n), form.label(label, n)
        except EncodingError as error:
            raise source.error(line, str(error)) from None
        except (ValueError, TypeError, RecursionError):
            raise source.error(line, f"it is not a row of {task.name}") from None
        if len(tokens) != length or not numbers.issuperset(tokens):
            raise source.error(line, f"{shown(tokens)} are not the {length} tokens of a row of {task.name} n={n}")
        yield line, tokens, target


def _on_the_hub(source: Source, task: Task) -> Iterator[tuple[int, list[Any], Any]]:
    """Yield the number of each line, its inputs and its label, as written."""
    names: tuple[str, ...] | None = None
    for line, text in _lines(source.path):
        try:
            record = json.loads(text)
            names = names or FORMS[task.name].names(record)
            *inputs, label = (record[name] for name in names or ())
        except (KeyError, TypeError, ValueError, RecursionError):
            raise source.error(line, f"{shown(text)} is not an object with the columns of {task.name}") from None
        yield line, inputs, label


def _texts(source: Source, task: Task) -> Iterator[tuple[int, list[Any], Any]]:
    """Yield likewise what a text file holds."""
    labels = None if source.beside is None else _lines(source.beside)
    for line, text in _lines(source.path):
        try:
            values = FORMS[task.name].values(text)
            if source.label is not None:
                yield line, values, source.label
            elif labels is None:
                yield line, values[:-1], values[-1]
            else:
                place, beside = next(labels, (0, ""))
                label = nested_lists(beside)
                if place != line:
                    raise source.error(line, f"the file beside it, {source.beside}, has no such line")
                yield line, values, label[0] if len(label) == 1 else label
        except (ValueError, IndexError, RecursionError):
            raise source.error(line, f"{shown(text)} cannot be read") from None
    if labels is not None and next(labels, None) is not None:
        raise StorageError(f"{source.beside} has more lines than {source.path}; {REMEDY}")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers, from 1."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number in count(1):
            line = file.readline(LONGEST_LINE)
            if len(line) == LONGEST_LINE:
                raise StorageError(f"{path}, line {number}: it is longer than that of any row; {REMEDY}")
            if not line:
                return
            if line.strip():
                yield number, line.strip()
