"""The files of the dataset on the Hugging Face hub, with the differences between them and the mathematics.

The files are JSON lines (repositories ACDRepo/...), one object per example: lists are the inputs, in their order, and
the rest is the label. None could be downloaded when this was written. The columns of kl and rsk, whose labels are
lists too, are known by name: from a page of the hub for kl, from code of others for rsk. Those of schubert and quiver
were not seen.

The examples of a task are known completely, or those of all classes but one are. So the true label of an example is
found by looking it up among the examples that `adelic.acd` generates.

Reading is bounded, whatever the files hold: no line may be longer than an example can be, and no file may have
more than twice the examples that the task has. A line that is not an example of the task and size is an error that
names it.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.acd import quiver, rsk
from adelic.acd.characters import read_partition
from adelic.acd.grassmannian.tableaux import read_tableaux
from adelic.acd.permutations import padded, read_permutation
from adelic.data import catalogue, registry
from adelic.data.dataset import Dataset
from adelic.data.lookup import RowIndex
from adelic.data.protocol import Integers, Progress, Request, Rows, Task, silent
from adelic.data.splits import part_sizes, split_rows
from adelic.data.store import file_sha256
from adelic.errors import EncodingError, StorageError, UnknownNameError
from adelic.storage import files
from adelic.storage.checks import check_seed, shown
from adelic.storage.provenance import versions

CHUNK = 1 << 16
"""How many examples are Python objects at a time."""
LONGEST_LINE = 10_000
LISTED = 100
"""How many problems of a kind are named; all are counted."""
REMEDY = "see whether the file is complete, and of the size n that was asked for"

Label = int | list[int]


def load_published(
    name: str, folder: str | Path, *, n: int | None = None, seed: int = 0, progress: Progress | None = None
) -> Dataset:
    """Return the examples in the files of the dataset's authors as a dataset; its provenance lists their errors.

    Train and test are theirs, and a tenth of train, by class, is for validation. All examples are kept, wrong ones too.

    Args:
        name: the task.
        folder: where the files of a repository of the Hugging Face hub are, as `hf download
            ACDRepo/weaving_patterns_6 --repo-type dataset --local-dir FOLDER` gets them.
        n: the size; the smallest published one by default.
        seed: of the examples for validation.
        progress: called with (done, total, what) while files are read and known examples are generated.

    Returns:
        The data, with these entries of `provenance` besides those that `Dataset` names:

        - files: name -> split and SHA-256;
        - labels: how the files' labels are to be read: "as documented here", or the renaming that was applied;
        - published_counts: what was counted, found and published, as far as counts of this size are published;
        - problems: kind -> {"rows": how many, "first": where and what}. The kinds are "duplicate", "wrong label"
          (the example has another class or other targets), "outside" (it is not an example of the task) and "missing"
          (examples that should be there).

    Raises:
        UnknownNameError: there is no such task.
        TaskSizeError: examples of this size cannot be generated for comparison.
        StorageError: the folder lacks files of the task, one cannot be read, or a line is not an example of this size.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for split, height in (("train", 0), ("test", 1)):
    ...         text = f'{{"Permutation": [2, 3, 0, 1, 4], "mHeight": {height}}}'
    ...         _ = (Path(folder) / f"mheight_5_{split}.jsonl").write_text(text, encoding="utf-8")
    ...     d = load_published("mheight", folder, n=5)
    >>> d.X_train.tolist(), d.y_test.tolist(), d.provenance["problems"]["wrong label"]
    ([[2, 3, 0, 1, 4]], [1], {'rows': 1, 'first': ['mheight_5_test.jsonl:1: 1, not 0: [2, 3, 0, 1, 4]']})
    >>> {kind: found["rows"] for kind, found in d.provenance["problems"].items()}
    {'duplicate': 1, 'wrong label': 1, 'missing': 14}
    """
    if not isinstance(name, str) or name not in FORMS:
        raise UnknownNameError.of("task", name, FORMS)
    task, form, folder = registry.task(name), FORMS[name], Path(folder)
    rng = np.random.default_rng(check_seed(seed))
    n = task.check_size(task.sizes[0] if n is None else n, "published")
    task.check_memory(n, "published")
    sources = _find(folder, name, n)
    table = _read(sources, task, n, progress or silent)
    known = task.generate(Request(n=n, edition="published", options=task.check_options({}), progress=progress))
    is_listed = slice(None) if form.absent is None else known.y != form.absent
    known_X, known_y = known.X[is_listed], known.y[is_listed]
    try:
        contents = form.canonical(table.X)
    except EncodingError as error:
        raise StorageError(f"{folder}: {error}; {REMEDY}") from None
    place = RowIndex(known_X).find(contents)
    inside = (place >= 0) | (form.absent is not None)
    truth = known_y[place]
    if form.absent is not None:
        truth = np.where(place < 0, form.absent, truth)
    class_names, y, labels = task.class_names(n, "published"), table.y, "as documented here"
    if class_names is not None:
        y, labels = _classes(table, truth, class_names, inside)
    rows = Rows(table.X, y, test=np.array([split == "test" for split in sources.values()])[table.file])
    split = split_rows(rows, rng, stratify=class_names is not None)
    about = {
        "task": name,
        "n": n,
        "edition": "published",
        "split": "published",
        "seed": seed,
        "options": {},
        "title": task.title,
        "source": str(folder),
        "files": {
            path.relative_to(folder).as_posix(): {"split": split, "sha256": file_sha256(path, REMEDY)}
            for path, split in sources.items()
        },
        "rows": part_sizes(split),
        "labels": labels,
        "published_counts": [
            {"what": check.what, "found": check.ours, "published": check.published, "why": check.why}
            for fact in catalogue.facts(task)
            if (fact["n"], fact["edition"]) == (n, "published")
            for check in catalogue.compared(task, fact, rows)
        ],
        "problems": _problems(table, y, truth, contents, place, known_X, outside=~inside),
        "versions": versions("numpy", "pyarrow"),
    }
    return Dataset.of(
        rows,
        split,
        class_names=class_names,
        vocabulary=task.vocabulary(n, "published"),
        provenance=about,
        symmetries=task.symmetries,
        cues=task.cues,
    )


def _find(folder: Path, name: str, n: int) -> dict[Path, str]:
    """Return the files in the folder, or one below it, that have train or test in their names, and the split of each.

    It is a StorageError if there are none.
    """
    with files.storage_errors(f"cannot read {folder}", "name a folder with the files of the dataset's authors"):
        if not folder.is_dir():
            raise StorageError(
                f"there is no folder {folder}; download the files first, as with: hf download ACDRepo/NAME "
                "--repo-type dataset --local-dir FOLDER"
            )
        next(folder.iterdir(), None)  # raises where the folder may not be read; searching it would find nothing
        paths = sorted(path for depth in ("", "*/") for path in folder.glob(f"{depth}*.jsonl") if path.is_file())
    for split in ("train", "test"):
        if not any(split in path.name for path in paths):
            raise StorageError(f"{folder} has no {split} file of {name} n={n}: no *{split}*.jsonl of the hub")
    return {path: split for split in ("train", "test") for path in paths if split in path.name}


@dataclass(frozen=True)
class _Table:
    """The examples of all files, train before test, and for each the index of its file, and its line."""

    X: Integers
    y: Integers
    paths: list[Path]
    file: NDArray[np.int64]
    line: NDArray[np.int64]

    def where(self, row: int) -> str:
        """Return the file and the line of an example."""
        return f"{self.paths[self.file[row]].name}:{self.line[row]}"


def _read(sources: dict[Path, str], task: Task, n: int, progress: Progress) -> _Table:
    """Return the examples of all files.

    A StorageError says that a file cannot be read or has no examples, that a line is not an example of this size, or
    that there are too many.
    """
    most = 2 * task.estimate(n, "published").rows
    parts: list[tuple[Integers, Integers, Integers, Integers]] = []
    for index, path in enumerate(sources):
        progress(index, len(sources), f"reading {path.name}")
        rows = 0
        with files.storage_errors(f"cannot read {path}", REMEDY):
            left = islice(_rows(path, task, n), most + 1)
            while part := list(islice(left, CHUNK)):
                lines, tokens, labels = zip(*part, strict=True)
                # The forms let no entry of a list pass that int8 cannot hold.
                y: Integers = np.array(labels, np.int8 if isinstance(labels[0], list) else np.int64)
                parts.append((np.array(tokens, np.int8), y, np.full(len(lines), index), np.array(lines)))
                rows += len(lines)
        if not 0 < rows <= most:
            what = f"more than {most:,} examples, twice those of {task.name} n={n}" if rows else "no examples"
            raise StorageError(f"{path} has {what}; {REMEDY}")
    X, y, file, line = map(np.concatenate, zip(*parts, strict=True))
    return _Table(X, y, list(sources), file, line)


def _rows(path: Path, task: Task, n: int) -> Iterator[tuple[int, list[int], Label]]:
    """Yield line, tokens and label of the examples of a file."""
    form, length = FORMS[task.name], task.length(n, "published")
    numbers = frozenset(task.vocabulary(n, "published"))
    names: tuple[str, ...] | None = None
    for line, text in _lines(path):
        try:
            record = json.loads(text)
            names = names or form.names(record)
            *inputs, label = (record[name] for name in names or ())
        except (KeyError, TypeError, ValueError, RecursionError):
            raise _error(path, line, f"{shown(text)} is not an object with the columns of {task.name}") from None
        try:
            tokens, target = form.tokens(inputs, n), form.label(label, n)
        except EncodingError as error:
            raise _error(path, line, str(error)) from None
        except (ValueError, TypeError, RecursionError):
            raise _error(path, line, f"it is not an example of {task.name}") from None
        if len(tokens) != length or not numbers.issuperset(tokens):
            raise _error(path, line, f"{shown(tokens)} are not the {length} tokens of an example of {task.name} n={n}")
        yield line, tokens, target


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers, from 1."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number in count(1):
            line = file.readline(LONGEST_LINE)
            if len(line) == LONGEST_LINE:
                raise _error(path, number, "it is longer than any example")
            if not line:
                return
            if line.strip():
                yield number, line.strip()


def _error(path: Path, line: int, why: str) -> StorageError:
    return StorageError(f"{path}, line {line}: {why}; {REMEDY}")


def _classes(
    table: _Table, truth: Integers, class_names: tuple[str, ...], inside: NDArray[np.bool_]
) -> tuple[Integers, str]:
    """Return the labels as our class indices, and how the files' labels are to be read.

    They are renamed if this makes most examples right and most are wrong as they are. A label that is none of
    the classes is a StorageError.
    """
    y, said, renaming, explained = table.y, "as documented here", {}, 0
    found = np.unique(y)
    for label in found.tolist() if len(found) <= len(class_names) else ():
        counts = np.bincount(truth[inside & (y == label)], minlength=1)
        renaming[label] = int(counts.argmax()) if counts.any() else label
        explained += int(counts.max())
    agree = np.count_nonzero(inside & (y == truth))
    if agree < len(y) / 2 < explained and len(set(renaming.values())) == len(renaming):
        y = np.array(list(renaming.values()))[np.searchsorted(found, y)]
        said = "; ".join(f"{label} in the files is {class_names[meant]!r}" for label, meant in renaming.items())
    strange = np.flatnonzero((y < 0) | (y >= len(class_names)))
    if len(strange):
        path, line = table.paths[table.file[strange[0]]], int(table.line[strange[0]])
        raise _error(path, line, f"the label {y[strange[0]]} is not one of 0..{len(class_names) - 1}")
    return y, said


def _problems(
    table: _Table,
    y: Integers,
    truth: Integers,
    contents: Integers,
    place: NDArray[np.int64],
    known: Integers,
    *,
    outside: NDArray[np.bool_],
) -> dict[str, dict[str, Any]]:
    """Return the problems of the examples, see `load_published`.

    `contents` are they in canonical form, and `place` is the index of each among the known ones, -1 for none. The
    true label of an example that is outside the task means nothing.
    """
    first = RowIndex(contents).find(contents)
    differs = (y != truth).reshape(len(y), -1).any(axis=1) & ~outside
    kinds: dict[str, tuple[NDArray[np.intp], Callable[[int], str]]] = {
        "duplicate": (
            np.flatnonzero(first != np.arange(len(first))),
            lambda row: f"{table.where(row)}: the same example as {table.where(int(first[row]))}",
        ),
        "outside": (np.flatnonzero(outside), lambda row: f"{table.where(row)}: {table.X[row].tolist()}"),
        "wrong label": (
            np.flatnonzero(differs),
            lambda row: f"{table.where(row)}: {y[row].tolist()}, not {truth[row].tolist()}: {table.X[row].tolist()}",
        ),
        "missing": (np.setdiff1d(np.arange(len(known)), place), lambda row: f"{known[row].tolist()}"),
    }
    return {
        kind: {"rows": len(rows), "first": [tell(row) for row in rows[:LISTED].tolist()]}
        for kind, (rows, tell) in kinds.items()
        if len(rows)
    }


def _flat(value: Any, n: int = 0) -> list[int]:
    """Return the whole numbers of nested lists in one list, whatever n is; EncodingError if there is another value.

    >>> _flat([[1, 2], [3]])
    [1, 2, 3]
    """
    if isinstance(value, list):
        return [entry for part in value for entry in _flat(part)]
    if type(value) is not int:
        raise EncodingError(f"{shown(value)} is not a whole number")
    return [value]


def _whole(value: Any, n: int) -> int:
    if type(value) is not int or abs(value) >= 1 << 63:
        raise EncodingError(f"the label {shown(value)} is not a whole number of 64 bits")
    return value


@dataclass(frozen=True, kw_only=True)
class Form:
    """The format of the examples of a task, and which are known.

    Attributes:
        tokens: (inputs as they are written, n) -> tokens.
        label: (label as it is written, n) -> class index or targets.
        columns: of inputs and label; none where the values tell which they are.
        absent: the class of whatever is not among the examples of the other classes; None where all examples are known.
        canonical: examples -> the examples as the task's generator writes them, for comparison.
    """

    tokens: Callable[[list[Any], int], list[int]] = _flat
    label: Callable[[Any, int], Label] = _whole
    columns: tuple[str, ...] = ()
    absent: int | None = None
    canonical: Callable[[Integers], Integers] = lambda X: X

    def names(self, record: Any) -> tuple[str, ...] | None:
        """Return the columns of inputs and label, the label last, in a record of the hub; None if it lacks them.

        >>> Form().names({"label": "A_11", "b": [[0, 1], [-1, 0]]})
        ('b', 'label')
        """
        if not isinstance(record, dict):
            return None
        if self.columns:
            return self.columns if record.keys() >= set(self.columns) else None
        lists = [name for name, value in record.items() if isinstance(value, list)]
        others = [name for name in record if name not in lists]
        return (*lists, *others) if lists and len(others) == 1 else None


def _schubert(parts: list[Any], n: int) -> list[int]:
    u, v, w = (read_permutation(part) for part in parts)
    return [*u, *v, *padded(w, 2 * n - 1)]


def _characters(parts: list[Any], n: int) -> list[int]:
    lam, mu = (read_partition(part) for part in parts)
    return [*lam, *[0] * (n - len(lam)), *mu, *[0] * (n - len(mu))]


def _rsk(parts: list[Any], n: int) -> list[int]:
    P, Q = parts
    return list(rsk.bracketed(P, Q))


def _inversions(value: Any, n: int) -> list[int]:
    bits = rsk.inversion_vector(value)
    if len(value) != n:
        raise EncodingError(f"{shown(value)} is not a permutation of 1..{n}")
    return list(bits)


def _coefficients(value: Any, n: int) -> list[int]:
    coefficients, length = _flat(value), max(n - 1, 1)
    if any(coefficients[length:]) or any(abs(c) > 127 for c in coefficients):
        raise EncodingError(f"{shown(coefficients)} are not the coefficients of a polynomial for n={n}")
    return [*coefficients, *[0] * length][:length]


def _quiver_label(value: Any, n: int) -> int:
    return quiver.TYPES.index(value.partition("_")[0]) if isinstance(value, str) else _whole(value, n)


def _canonical_quivers(X: Integers) -> Integers:
    """Return exchange matrices in canonical form; anything else stays as it is."""
    n = isqrt(X.shape[1])
    matrices = X.reshape(-1, n, n).copy()
    exchange = np.atleast_1d(quiver.is_skew_symmetrizable(matrices))
    matrices[exchange] = quiver.canonical_form(matrices[exchange])
    return matrices.reshape(X.shape)


FORMS = {
    "characters": Form(tokens=_characters),
    "grassmannian": Form(absent=0, canonical=lambda X: read_tableaux(X)[0].reshape(X.shape)),
    "kl": Form(label=_coefficients, columns=("Permutation 1", "Permutation 2", "Coefficients")),
    "lattice": Form(),
    "mheight": Form(),
    "quiver": Form(label=_quiver_label, canonical=_canonical_quivers),
    "rsk": Form(
        tokens=_rsk,
        label=_inversions,
        columns=("Standard Young tableau 1", "Standard Young tableau 2", "Permutation"),
    ),
    "schubert": Form(tokens=_schubert, absent=0),
    "weaving": Form(absent=0),
}
"""The tasks whose files can be read."""
