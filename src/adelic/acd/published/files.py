"""How the official files of the Algebraic Combinatorics Dataset are written, and how their rows become ours.

Two kinds of files are read:

- those of the Hugging Face hub, repositories ACDRepo/...: JSON lines, or the Parquet files that the hub makes of them,
  one a split, one object a row;
- the text files of the older releases, which the loader in github.com/pnnl/ML4AlgComb (load_datasets.py) reads.

What this rests on. Nothing could be downloaded while it was written; names of repositories, files and columns are from
stored copies of public pages: the hub's file lists, viewer pages and commits, the loader, the READMEs.

- Columns and rows of the hub's files were seen for mheight, weaving, lattice, characters, kl and grassmannian. For
  mheight and weaving the sizes that the hub shows are those of lines of this form. That label 0 of lattice is a
  matching cover is confirmed by an independent audit of the real rows for n = 10.
- The columns of rsk are from code of others that reads them.
- The hub's columns for schubert and quiver were not seen. They are recognised by their shapes: three lists and a label,
  one list and a label; a label of quiver may be a name like "A_11" or the loader's index.
- The text files are read as the loader reads them and as the READMEs show their lines; no whole one was seen.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from adelic.acd.published.layouts import LAYOUTS, Label, Layout, Parts
from adelic.errors import ConfigurationError, EncodingError, StorageError
from adelic.storage import files
from adelic.storage.checks import shown

HUB_ENDINGS = (".jsonl", ".parquet")
READ_REMEDY = "see whether the file is complete"


class Row(NamedTuple):
    """A row of a file: the number of its line (or record), its tokens, its label or targets."""

    line: int
    tokens: list[int]
    label: Label


class Malformed(NamedTuple):
    """A line that is no row, and why."""

    line: int
    why: str


@dataclass(frozen=True)
class SourceFile:
    """A file of a split, and how to read it."""

    path: Path
    name: str
    split: str
    layout: Layout
    label: str = ""

    def rows(self) -> Iterator[Row | Malformed]:
        """Yield the rows, and what is none, in the order of the file."""
        for line, found in self._records():
            if isinstance(found, str):
                yield Malformed(line, found)
                continue
            parts, target = found
            if len(parts) != len(self.layout.columns):
                yield Malformed(line, f"{len(parts)} inputs before the target; expected {len(self.layout.columns)}")
                continue
            try:
                yield Row(line, *self.layout.row(parts, target))
            except EncodingError as error:
                yield Malformed(line, str(error))

    def _records(self) -> Iterator[tuple[int, tuple[Parts, Any] | str]]:
        """Yield (line, (inputs, target)), or (line, what is wrong with it)."""
        with files.storage_errors(f"cannot read {self.path}", READ_REMEDY):  # while it is read, not before
            if self.path.suffix == ".parquet":
                yield from _from_objects(enumerate(_parquet_records(self.path), 1), self)
            elif self.path.suffix == ".jsonl":
                yield from _from_objects(_json_records(self.path), self)
            else:
                yield from _from_lines(self)


def find(folder: Path, task: str | None, source: str) -> tuple[str, list[SourceFile]]:
    """Return the task and the files of its train and test splits, those of the hub's form before others.

    Args:
        folder: where to look, with all folders below.
        task: the task; by default the only one that names in the folder and `source` fit.
        source: what the user called the folder, which may name the task.

    Raises:
        ConfigurationError: it is not clear which task the files are of.
        StorageError: there are no such files, or some are missing.
    """
    with files.storage_errors(f"cannot read {folder}", "name a folder with the official files"):
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    title = source.rstrip("/").rpartition("/")[2]
    if task is None:
        task = _task_of([name for name in names if _split_of(name)], title, folder)
    layout = LAYOUTS[task]
    hub = [name for name in names if name.endswith(HUB_ENDINGS) and _split_of(name)]
    for ending in HUB_ENDINGS:
        of_kind = [name for name in hub if name.endswith(ending)]
        chosen = [name for name in of_kind if layout.words.search(name)] or of_kind
        if chosen:
            found = [SourceFile(folder / name, name, _split_of(name), layout) for name in chosen]
            return task, complete(found, folder)
    found = []
    for name in names:
        match = layout.texts.name.search(name)
        if match:
            groups = match.groupdict()
            found.append(SourceFile(folder / name, name, groups["split"], layout, groups.get("label", "")))
    if not found:
        raise StorageError(
            f"{folder} has no files of {task}: neither *train*.jsonl and *test*.jsonl (or .parquet) of the hub nor "
            f"text files named like {layout.texts.name.pattern}"
        )
    return task, complete(found, folder)


def _task_of(names: list[str], title: str, folder: Path) -> str:
    fitting = [task for task, layout in LAYOUTS.items() if layout.words.search(title)]
    fitting = fitting or [task for task, layout in LAYOUTS.items() if any(layout.words.search(n) for n in names)]
    if len(fitting) == 1:
        return fitting[0]
    if not names:
        raise StorageError(f"{folder} has no files with train or test in their names; name a folder that has them")
    which = f"could be of {', '.join(fitting)}" if fitting else "are of a task that their names do not tell"
    raise ConfigurationError(f"the files in {folder} {which}; say which: task='weaving'")


def _split_of(name: str) -> str:
    """Return "train" or "test", the last of them that a path names; "" if there is none."""
    found = re.findall(r"train|test", name.lower())
    return found[-1] if found else ""


def complete(found: list[SourceFile], folder: Path) -> list[SourceFile]:
    """Return the files; StorageError if a split, a class or a companion file is missing."""
    texts = found[0].layout.texts
    of_text = not found[0].name.endswith(HUB_ENDINGS)
    labels = texts.labels if of_text else ()
    for split in ("train", "test"):
        there = {file.label for file in found if file.split == split}
        if not there:
            raise StorageError(f"{folder} has {found[0].name}, but no file of the {split} split beside it")
        lacking = [label for label in labels if label not in there]
        if lacking:
            raise StorageError(f"{folder} has no {split} file of {', '.join(lacking)} (beside {found[0].name})")
    if of_text and texts.companion is not None:
        for file in found:
            companion = file.path.with_name(texts.companion(file.path.name))
            if not companion.is_file():
                raise StorageError(f"{companion}, which has the labels of {file.name}, is missing")
    return found


def _from_objects(
    records: Iterable[tuple[int, Any]], file: SourceFile
) -> Iterator[tuple[int, tuple[Parts, Any] | str]]:
    """Yield inputs and target of objects: by the names of their columns, or, where those are others, by their shape."""
    layout = file.layout
    names: list[str] | None = None
    for line, record in records:
        if isinstance(record, str):
            yield line, record
        elif not isinstance(record, dict):
            yield line, f"{shown(record)} is no object"
        else:
            if names is None:
                names = _column_names(record, layout)
            if names is None:
                raise StorageError(
                    f"{file.path} has the columns {', '.join(map(repr, record))}; expected "
                    f"{', '.join(map(repr, layout.columns))} and {layout.target!r}"
                )
            lacking = [name for name in names if name not in record]
            if lacking:
                yield line, f"there is no {lacking[0]!r}"
            else:
                *parts, target = (record[name] for name in names)
                yield line, (parts, target)


def _column_names(record: dict[str, Any], layout: Layout) -> list[str] | None:
    """Return the names of the inputs and of the target in a record, or None if it has no such columns."""
    expected = [*layout.columns, layout.target]
    plain = {_plain(name): name for name in record}
    if all(_plain(name) in plain for name in expected):
        return [plain[_plain(name)] for name in expected]
    lists = [name for name, value in record.items() if isinstance(value, list)]
    others = [name for name, value in record.items() if isinstance(value, int | str)]
    return [*lists, others[0]] if len(lists) == len(layout.columns) and len(others) == 1 else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _json_records(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in _lines(path):
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            yield number, f"{shown(line)} is no JSON"


def _parquet_records(path: Path) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        for batch in pq.ParquetFile(path).iter_batches(batch_size=1 << 14):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise StorageError(f"cannot read {path}: it is no whole Parquet file; {READ_REMEDY}") from error


def _from_lines(file: SourceFile) -> Iterator[tuple[int, tuple[Parts, Any] | str]]:
    texts = file.layout.texts
    companions = iter(())
    if texts.companion is not None:
        companions = _lines(file.path.with_name(texts.companion(file.path.name)))  # type: ignore[assignment]
    for number, line in _lines(file.path):
        beside = next(companions, (0, ""))[1] if texts.companion is not None else ""
        try:
            yield number, texts.read(line, file.label, beside)
        except EncodingError as error:
            yield number, str(error)
        except (ValueError, IndexError, TypeError, RecursionError):
            yield number, f"{shown(line)} is no line of {file.name}" + (f" with {beside!r}" if beside else "")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers, from 1."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line.strip()
