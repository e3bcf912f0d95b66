"""Files of a data set for other programs: Parquet, CSV, JSON lines, and the text that the authors' loader reads.

One file a split, `train.csv` and so on, and `dataset.json`, which says what they are. All values are integers; a class
is its index, and `dataset.json` has the names. Of a table with fractions, x has positions in the vocabulary, which
`dataset.json` has, too.

- `parquet`: columns x (a list of fixed length) and y (a number, or a list for several targets).
- `csv`: columns x0, x1, ..., y (or y0, y1, ...), with a header line.
- `jsonl`: one object per line, {"x": [...], "y": ...}.

A task may have further ones, see `Layout`: those of `adelic.acd` have `acd`, the text files of the authors of the
Algebraic Combinatorics Dataset (`adelic.acd.authors_layout`).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from adelic.data.dataset import Dataset, column_names
from adelic.data.protocol import Integers, Progress, silent
from adelic.data.registry import tasks
from adelic.data.store import file_sha256, write_parquet
from adelic.errors import StorageError, UnknownNameError
from adelic.numbers.describe import number_text
from adelic.storage import files
from adelic.storage.provenance import versions

FORMATS = ("parquet", "csv", "jsonl")
"""Formats that have a file for each split, whose name ends in the format."""
DESCRIPTION_FILE = "dataset.json"
CHUNK = 1 << 14

LineMaker = Callable[[list[int], Any], str]
"""(tokens, target) -> a line of a text file without its end."""


@dataclass(frozen=True)
class Content:
    """What goes into a file: examples of a split, a line each, or as Parquet if there is no `line`."""

    split: str
    X: Integers
    y: Integers
    line: LineMaker | None
    header: str = ""

    def write(self, file: BinaryIO, progress: Progress) -> None:
        """Write the examples to an open binary file."""
        if self.line is None:
            write_parquet(file, {"x": self.X, "y": self.y}, progress)
            return
        file.write(self.header.encode())
        for start in range(0, len(self.X), CHUNK):
            rows = zip(self.X[start : start + CHUNK].tolist(), self.y[start : start + CHUNK].tolist(), strict=True)
            file.write("".join([self.line(tokens, target) + "\n" for tokens, target in rows]).encode())
            progress(min(start + CHUNK, len(self.X)), len(self.X), "writing")


@dataclass(frozen=True)
class Layout:
    """The files of an export.

    Attributes:
        files: path within the folder -> what it holds.
        about: what the description says besides.
        description_file: the name of the file that describes the export.
    """

    files: Mapping[str, Content]
    about: Mapping[str, Any]
    description_file: str = DESCRIPTION_FILE


def export(
    dataset: Dataset,
    folder: str | Path,
    *,
    format: str = "parquet",  # noqa: A002 - the word that says it
    force: bool = False,
    command: str | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write the splits of a data set and a description of them; return the paths of the files.

    Each file is written atomically, the description last: a folder with `dataset.json` is complete. Files that exist
    and have the same content already are left alone. A folder holds one export; of format
    `acd` it holds one of each task and size.

    Args:
        dataset: the data.
        folder: where the files go; it is made if it is missing.
        format: one of `FORMATS`, or of the task's `formats`.
        force: replace files of another content.
        command: what to keep in `dataset.json` as the command that made the files.
        progress: called with (examples done, examples in all, what) while files are written.

    Raises:
        UnknownNameError: there is no such format.
        ConfigurationError: the format cannot hold these data, as "acd" a size that the authors' loader does not read.
        StorageError: a file of another content is there and `force` is not set, or a file cannot be written.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     d = acd.load("schubert", n=2, cache=folder)
    ...     paths = export(d, Path(folder) / "out", format="csv")
    ...     print([path.name for path in paths], paths[0].read_text(encoding="utf-8").splitlines()[1])
    ['train.csv', 'validation.csv', 'test.csv', 'dataset.json'] 1,2,1,2,1,2,3,1
    """
    folder = Path(folder)
    layout = _layout(dataset, format)
    of_the_store = {"path", "format", "bytes", "class_names", "splits", "versions"}
    description: dict[str, Any] = {
        "format": format,
        **layout.about,
        "class_names": None if dataset.class_names is None else list(dataset.class_names),
        "vocabulary": [*dataset.words, *map(number_text, dataset.vocabulary)]
        if dataset.is_coded
        else list(dataset.vocabulary),
        "data": {key: value for key, value in dataset.provenance.items() if key not in of_the_store},
        "command": command,
        "versions": versions("numpy", "pyarrow"),
    }
    described = folder / layout.description_file
    known = _recorded(described, description)
    if known is None and not force:
        raise _exists(described)
    hashes: dict[str, str] = {}
    for name in layout.files:
        path = folder / name
        with files.storage_errors(f"cannot write {path}", files.FOLDER_REMEDY):
            is_there = path.exists()
        if is_there and known and file_sha256(path, files.FOLDER_REMEDY) == known.get(name):
            hashes[name] = known[name]
        elif is_there and not force:
            raise _exists(path)
    missing = [name for name in layout.files if name not in hashes]
    if missing:
        with files.storage_errors(f"cannot write {described}", files.FOLDER_REMEDY):
            described.unlink(missing_ok=True)  # from here on it would describe another content
    try:
        for name in missing:
            hashes[name] = _written(folder / name, layout.files[name], progress)
        description["files"] = {
            name: {"split": content.split, "rows": len(content.y), "sha256": hashes[name]}
            for name, content in layout.files.items()
        }
        files.atomic_write(described, json.dumps(description, indent=1, ensure_ascii=False) + "\n")
    except BaseException:  # an interrupt, too: without a description, the same command would refuse what is written
        for name in set(missing) & hashes.keys():
            (folder / name).unlink(missing_ok=True)
        raise
    return [*(folder / name for name in layout.files), described]


def _written(path: Path, content: Content, progress: Progress | None) -> str:
    """Write a file; return its SHA-256."""
    report = progress or silent
    files.atomic_write(path, lambda file: content.write(file, lambda done, total, _: report(done, total, path.name)))
    return file_sha256(path, files.FOLDER_REMEDY)


def _layout(dataset: Dataset, format: str) -> Layout:  # noqa: A002
    """Return the files of a format: one of `FORMATS`, or of the task's own, which replaces none of these."""
    task = tasks().get(dataset.provenance["task"])
    further = {} if task is None else task.formats
    if format not in FORMATS:
        if format not in further:
            raise UnknownNameError.of("format", format, (*FORMATS, *further))
        layout: Layout = further[format](dataset)
        return layout
    classes, y, width = dataset.class_names, dataset.y_train, dataset.X_train.shape[1]
    several = y.ndim > 1
    about: dict[str, Any] = {
        "columns": {
            "x": f"{width} {'positions in' if dataset.is_coded else 'tokens of'} the vocabulary",
            "y": "the index of a class in class_names" if classes is not None else "integer targets",
        }
    }
    header, line = "", None
    if format == "csv":
        header = ",".join([*column_names("x", dataset.X_train), *column_names("y", y)]) + "\n"
        line = lambda tokens, target: ",".join(map(str, [*tokens, *(target if several else [target])]))  # noqa: E731
    elif format == "jsonl":
        line = lambda tokens, target: f'{{"x": {tokens}, "y": {target}}}'  # noqa: E731
    contents = {f"{split}.{format}": Content(split, *rows, line, header) for split, rows in dataset.parts.items()}
    return Layout(contents, about)


def _recorded(path: Path, description: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the SHA-256 of the files that an export of the same data in the same format has left, by name.

    {} if there is no description; None if it is that of other data, or something else.
    """
    content = files.read_bytes(path)
    if content is None:
        return {}
    try:
        found = json.loads(content)
        recorded = {name: file["sha256"] for name, file in found.pop("files").items()}
        # As it is read back: tuples as lists, keys as texts.
        wanted = json.loads(json.dumps(description))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    for circumstance in ("command", "versions"):
        found.pop(circumstance, None)
        del wanted[circumstance]
    return recorded if found == wanted else None


def _exists(path: Path) -> StorageError:
    return StorageError(
        f"{path} exists and has another content; choose another folder, or replace it with force=True (--force)"
    )
