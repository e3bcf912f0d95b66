"""Files of a data set for other programs: Parquet, CSV, JSON lines, and the text that two other programs read.

One file a split, `train.csv` and so on, and `dataset.json`, which says what they are. All values are integers; a class
is its index, and `dataset.json` has the names. Of a table with fractions, x has positions in the vocabulary, which
`dataset.json` has, too.

- `parquet`: columns x (a list of fixed length) and y (a number, or a list for several targets).
- `csv`: columns x0, x1, ..., y (or y0, y1, ...), with a header line.
- `jsonl`: one object a line, {"x": [...], "y": ...}.
- `int2int`: the data files of Int2Int (github.com/f-charton/Int2Int, README, "Training from a data file"), a line an
  example: input, a tab, output, as tokens separated by spaces. An integer is its sign and its digits in base 1000, most
  significant first: -3500 is `- 3 500`. A row of 15 integers is `V15` and the integers. A class is one token, its
  index; a target is an integer; several targets are a row. `dataset.json` has the command line options that tell
  Int2Int so. Int2Int judges a model by the first lines of a file, so that the rows are shuffled.

A task may have further ones, see `Format`: those of `adelic.acd` have `acd`, the text files of the authors of the
Algebraic Combinatorics Dataset (`adelic.acd.published.authors_layout`).
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from adelic.data.dataset import Dataset, column_names
from adelic.data.protocol import Integers, Progress
from adelic.data.registry import tasks
from adelic.data.store import Hashed, file_sha256, write_parquet
from adelic.errors import ConfigurationError, StorageError, UnknownNameError
from adelic.numbers.describe import number_text
from adelic.storage import files
from adelic.storage.provenance import versions

ENDINGS: Mapping[str, str] = {"parquet": "parquet", "csv": "csv", "jsonl": "jsonl", "int2int": "txt"}
"""Format -> the ending of its files' names, for those that have a file a split."""
DESCRIPTION_FILE = "dataset.json"
INT2INT_BASE = 1000
CHUNK = 1 << 14

Writer = Callable[[Any], None]
LineMaker = Callable[[list[int], Any], str]
"""(tokens, target) -> a line of a text file without its end."""


@dataclass(frozen=True)
class Format:
    """A format of text files that a task has, in its `formats`, beside those of `ENDINGS`.

    Attributes:
        text_files: data set -> path within the folder -> (split, tokens, targets, maker of lines); raises
            ConfigurationError for data that it cannot write.
        about: (data set, how many rows are written) -> what the description says besides.
        description_file: data set -> the name of the file that describes an export.
    """

    text_files: Callable[[Dataset], Mapping[str, tuple[str, Integers, Integers, LineMaker]]]
    about: Callable[[Dataset, int], Mapping[str, Any]]
    description_file: Callable[[Dataset], str]


def _further(dataset: Dataset) -> Mapping[str, Format]:
    """Return the formats that the task of a data set has beside those of `ENDINGS`, which none replaces."""
    task = tasks().get(dataset.provenance["task"])
    return {} if task is None else {name: task.formats[name] for name in task.formats.keys() - ENDINGS.keys()}


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
        format: one of `ENDINGS`, or of the task's `formats`.
        force: replace files of another content.
        command: what to keep in `dataset.json` as the command that made the files.
        progress: called with (rows done, rows in all, what) while files are written.

    Raises:
        UnknownNameError: there is no such format.
        ConfigurationError: the format cannot hold these data, as "acd" a size that the authors' loader does not read.
        StorageError: a file of another content is there and `force` is not set, or a file cannot be written.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     d = acd.load("schubert", n=2, cache=folder)
    ...     paths = export(d, Path(folder) / "out", format="int2int")
    ...     print([path.name for path in paths], paths[0].read_text(encoding="utf-8").split()[:5])
    ['train.txt', 'validation.txt', 'test.txt', 'dataset.json'] ['V7', '+', '1', '+', '2']
    """
    folder = Path(folder)
    description = write(dataset, folder, format=format, force=force, command=command, progress=progress)
    return [*(folder / name for name in description["files"]), folder / description_file(dataset, format)]


def write(
    dataset: Dataset,
    folder: Path,
    *,
    format: str,  # noqa: A002 - as in export
    force: bool,
    command: str | None,
    progress: Progress | None,
) -> dict[str, Any]:
    """Write the files of `export` and return the description."""
    formats = (*ENDINGS, *_further(dataset))
    if format not in formats:
        raise UnknownNameError.of("format", format, formats)
    contents = _contents(dataset, format, progress)
    described = folder / description_file(dataset, format)
    paths = {folder / name: content for name, content in contents.items()}
    outside = [path for path in (*paths, described) if not path.resolve().is_relative_to(folder.resolve())]
    if outside:  # a task is of any package
        raise ConfigurationError(
            f"the format {format!r} of {dataset.provenance['task']} would write {outside[0]}, outside the folder; "
            "mend or uninstall the task's package"
        )
    description = _description(dataset, format, command, contents)
    if not (force or _describes_the_same(described, description)):
        raise _exists(described)
    hashes: dict[Path, str] = {}
    for path, content in paths.items():
        with files.storage_errors(f"cannot write {path}", files.FOLDER_REMEDY):
            is_there = path.exists() and not files.is_stream(path)
        if is_there:
            wanted = Hashed()
            content.write(wanted)
            digest = wanted.sha256.hexdigest()
            if file_sha256(path, files.FOLDER_REMEDY) == digest:
                hashes[path] = digest
            elif not force:
                raise _exists(path)
    if len(hashes) < len(paths):
        with files.storage_errors(f"cannot write {described}", files.FOLDER_REMEDY):
            if described.is_file():
                described.unlink()  # from here on it would describe another content
    for path, content in paths.items():
        if path not in hashes:
            hashes[path] = _write(path, content.write)
    description["files"] = {
        name: {"split": content.split, "rows": content.rows, "sha256": hashes[folder / name]}
        for name, content in contents.items()
    }
    files.atomic_write(described, json.dumps(description, indent=1, ensure_ascii=False) + "\n")
    return description


@dataclass(frozen=True)
class _Content:
    """What goes into a file: rows of a split."""

    split: str
    rows: int
    write: Writer


def _contents(dataset: Dataset, format: str, progress: Progress | None) -> dict[str, _Content]:  # noqa: A002
    """Return path within the folder -> content, for the files of a format."""
    added = _further(dataset).get(format)
    if added is not None:
        return {
            name: _Content(split, len(y), _text(X, y, line, _named(progress, name)))
            for name, (split, X, y, line) in added.text_files(dataset).items()
        }
    found = {}
    for split, (X, y) in dataset.parts.items():
        name = f"{split}.{ENDINGS[format]}"
        if format == "int2int":
            order = _shuffled(len(y), dataset.provenance["seed"], split)
            X, y = X[order], y[order]
        writer = _writer(dataset.class_names is not None, X, y, format, _named(progress, name))
        found[name] = _Content(split, len(y), writer)
    return found


def description_file(dataset: Dataset, format: str) -> str:  # noqa: A002
    """Return the name of the file that describes an export."""
    added = _further(dataset).get(format)
    return DESCRIPTION_FILE if added is None else added.description_file(dataset)


def _named(progress: Progress | None, file: str) -> Progress:
    return lambda done, total, what: progress(done, total, file) if progress else None


def _shuffled(rows: int, seed: int, split: str) -> NDArray[np.int64]:
    """Return an order of rows, the same for equal arguments."""
    return np.random.default_rng([seed, *split.encode()]).permutation(rows)


def _writer(classes: bool, X: Integers, y: Integers, format: str, progress: Progress) -> Writer:  # noqa: A002
    """Return a function that writes rows to an open binary file."""
    if format == "parquet":
        return lambda file: write_parquet(file, {"x": X, "y": y}, progress)
    several = y.ndim > 1
    if format == "csv":
        header = ",".join([*column_names("x", X), *column_names("y", y)]) + "\n"
        line: LineMaker = lambda tokens, target: ",".join(map(str, [*tokens, *(target if several else [target])]))  # noqa: E731
        return _text(X, y, line, progress, header)
    if format == "jsonl":
        return _text(X, y, lambda tokens, target: f'{{"x": {tokens}, "y": {target}}}', progress)
    output: Callable[[Any], str] = str if classes else int2int_row if several else int2int_integer
    return _text(X, y, lambda tokens, target: f"{int2int_row(tokens)}\t{output(target)}", progress)


def _text(X: Integers, y: Integers, line: LineMaker, progress: Progress, header: str = "") -> Writer:
    """Return a function that writes a header and a line a row to an open binary file."""

    def write(file: BinaryIO) -> None:
        file.write(header.encode())
        for start in range(0, len(X), CHUNK):
            rows = zip(X[start : start + CHUNK].tolist(), y[start : start + CHUNK].tolist(), strict=True)
            file.write("".join([line(tokens, target) + "\n" for tokens, target in rows]).encode())
            progress(min(start + CHUNK, len(X)), len(X), "writing")

    return write


def int2int_integer(value: int) -> str:
    """Return an integer as Int2Int writes it: its sign, then its digits in base 1000, most significant first.

    >>> int2int_integer(-3500), int2int_integer(0), int2int_integer(1_000_007)
    ('- 3 500', '+ 0', '+ 1 0 7')
    """
    digits = []
    rest = abs(value)
    while rest >= INT2INT_BASE:
        rest, digit = divmod(rest, INT2INT_BASE)
        digits.append(digit)
    digits.append(rest)
    return " ".join(["-" if value < 0 else "+", *map(str, reversed(digits))])


def int2int_row(values: Iterable[int]) -> str:
    """Return integers as Int2Int writes an array: V and how many, then the integers.

    >>> int2int_row([1024, 16])
    'V2 + 1 24 + 16'
    """
    integers = [_SMALL[value] if value in _SMALL else int2int_integer(value) for value in values]
    return " ".join([f"V{len(integers)}", *integers])


_SMALL = {value: int2int_integer(value) for value in range(-128, 128)}  # nearly all tokens: ten times as fast


def _int2int_options(dataset: Dataset) -> str:
    y = dataset.y_train
    if dataset.class_names is not None:
        output = f"range({len(dataset.class_names)})"
    else:
        output = "int" if y.ndim == 1 else f"int[{y.shape[1]}]"
    return (
        f'--operation data --data_types "int[{dataset.X_train.shape[1]}]:{output}" --base {INT2INT_BASE} '
        f"--train_data train.txt --eval_data validation.txt --eval_size {len(dataset.y_validation)}"
    )


def _description(
    dataset: Dataset,
    format: str,  # noqa: A002
    command: str | None,
    contents: Mapping[str, _Content],
) -> dict[str, Any]:
    of_the_store = {"path", "format", "bytes", "class_names", "splits", "versions"}
    provenance = {key: value for key, value in dataset.provenance.items() if key not in of_the_store}
    about: dict[str, Any] = {"format": format}
    added = _further(dataset).get(format)
    if added is not None:
        about |= added.about(dataset, sum(content.rows for content in contents.values()))
    else:
        about["columns"] = {
            "x": f"{dataset.X_train.shape[1]} {'positions in' if dataset.is_coded else 'tokens of'} the vocabulary",
            "y": "the index of a class in class_names" if dataset.class_names is not None else "integer targets",
        }
    about |= {
        "class_names": None if dataset.class_names is None else list(dataset.class_names),
        "vocabulary": list(map(number_text, dataset.vocabulary)) if dataset.is_coded else list(dataset.vocabulary),
        "data": provenance,
    }
    if format == "int2int":
        about["int2int_options"] = _int2int_options(dataset)
        about["order"] = "shuffled"
    return about | {"command": command, "versions": versions("numpy", "pyarrow")}


def _describes_the_same(path: Path, description: Mapping[str, Any]) -> bool:
    """Return whether the file is missing, or describes an export of the same data in the same format."""
    content = None if files.is_stream(path) else files.read_bytes(path)
    if content is None:
        return True
    try:
        found = json.loads(content)
    except ValueError:
        return False
    circumstances = {"command", "versions", "files"}
    # As it is read back: tuples as lists, keys as texts.
    wanted = json.loads(json.dumps({key: value for key, value in description.items() if key not in circumstances}))
    return isinstance(found, dict) and {k: v for k, v in found.items() if k not in circumstances} == wanted


def _exists(path: Path) -> StorageError:
    return StorageError(
        f"{path} exists and has another content; choose another folder, or replace it with force=True (--force)"
    )


def _write(path: Path, writer: Writer) -> str:
    """Write a file and return its SHA-256."""
    hashes = []

    def to_file(file: BinaryIO) -> None:
        hashed = Hashed(file)
        writer(hashed)
        hashes.append(hashed.sha256.hexdigest())

    files.atomic_write(path, to_file)
    return hashes[0]
