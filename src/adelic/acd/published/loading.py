"""The files of the dataset's authors as a data set, with what in them differs from the mathematics.

The rows of a task are known completely, or those of all classes but one are. So the true label of a row is found by
looking it up among the rows that `adelic.acd` generates.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.acd.published.reading import REMEDY, Table, find, read
from adelic.acd.published.rows import FORMS
from adelic.data import catalogue, registry
from adelic.data.dataset import Dataset
from adelic.data.lookup import RowIndex
from adelic.data.protocol import Integers, Progress, Request, Rows, Task
from adelic.data.splits import part_sizes, split_rows
from adelic.data.store import file_sha256
from adelic.errors import EncodingError, StorageError, UnknownNameError
from adelic.storage.checks import check_seed
from adelic.storage.provenance import versions

LISTED = 100
"""How many problems of a kind are named; all are counted."""


def load_published(
    name: str, folder: str | Path, *, n: int | None = None, seed: int = 0, progress: Progress | None = None
) -> Dataset:
    """Return the rows in the files of the dataset's authors as a data set; its provenance says what is wrong with them.

    Train and test are theirs, and a tenth of train, by class, is for validation. All rows are kept, wrong ones too.

    Args:
        name: the task.
        folder: where the files are, unpacked: those of a repository of the Hugging Face hub, as
            `hf download ACDRepo/weaving_patterns_6 --repo-type dataset --local-dir FOLDER` gets them, or the text files
            of github.com/pnnl/ML4AlgComb.
        n: the size; the smallest published one by default.
        seed: of the rows for validation.
        progress: called with (done, total, what) while files are read and known rows are generated.

    Returns:
        The data, with these entries of `provenance` besides those that `Dataset` names:

        - files: name -> split and SHA-256;
        - labels: how the files' labels are to be read: "as documented here", or the renaming that was applied;
        - published_counts: what was counted, found and published, as far as counts of this size are published;
        - problems: kind -> {"rows": how many, "first": where and what}. The kinds are "duplicate", "wrong label" (the
          row has another class or other targets), "outside" (it is not a row of the task) and "missing" (rows that
          should be there).

    Raises:
        UnknownNameError: there is no such task.
        TaskSizeError: rows of this size cannot be generated for comparison.
        StorageError: the folder lacks files of the task, one cannot be read, or a line is not a row of this size.

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
    task, rng = registry.task(name), np.random.default_rng(check_seed(seed))
    n = task.check_size(task.sizes[0] if n is None else n, "published")
    task.check_memory(n, "published")
    table = read(find(Path(folder), name, n), task, n, progress)
    known = _known_rows(task, n, progress)
    try:
        contents = FORMS[name].canonical(table.X)
    except EncodingError as error:
        raise StorageError(f"{folder}: {error}; {REMEDY}") from None
    place = RowIndex(known.X).find(contents)
    absent, truth = FORMS[name].absent, known.y[place]
    if absent is not None:
        truth = np.where(place < 0, absent, truth)
    class_names, y, labels = task.class_names(n, "published"), table.y, "as documented here"
    if class_names is not None:
        y, labels = _classes(table, truth, class_names, inside=(place >= 0) | (absent is not None))
    rows = Rows(table.X, y, test=np.array([source.split == "test" for source in table.sources])[table.source])
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
            path.relative_to(folder).as_posix(): {"split": source.split, "sha256": file_sha256(path, REMEDY)}
            for source in table.sources
            for path in (source.path, source.beside)
            if path is not None
        },
        "rows": part_sizes(split),
        "labels": labels,
        "published_counts": _counts(task, n, rows),
        "problems": _problems(table, y, truth, contents, place, known.X, complete=absent is None),
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


def _known_rows(task: Task, n: int, progress: Progress | None) -> Rows:
    """Return all rows of the task, or all of the classes that are not drawn at random."""
    request = Request(n=n, edition="published", options=task.check_options({}), progress=progress)
    rows, absent = task.generate(request), FORMS[task.name].absent
    if absent is None:
        return rows
    return Rows(rows.X[rows.y != absent], rows.y[rows.y != absent])


def _classes(
    table: Table, truth: Integers, class_names: tuple[str, ...], *, inside: NDArray[np.bool_]
) -> tuple[Integers, str]:
    """Return the labels as our class indices, and how the files' labels are to be read.

    They are renamed if that makes most of all rows right, where as they are most are wrong. A label that is none of the
    classes is a StorageError.
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
        source, line = table.sources[table.source[strange[0]]], int(table.line[strange[0]])
        raise source.error(line, f"the label {y[strange[0]]} is not one of 0..{len(class_names) - 1}")
    return y, said


def _counts(task: Task, n: int, rows: Rows) -> list[dict[str, Any]]:
    """Return what is counted of the rows beside the counts that are published of this size."""
    return [
        {"what": check.what, "found": check.ours, "published": check.published, "why": check.why}
        for fact in catalogue.facts(task)
        if (fact["n"], fact["edition"]) == (n, "published")
        for check in catalogue.compared(task, fact, rows)
    ]


def _problems(
    table: Table,
    y: Integers,
    truth: Integers,
    contents: Integers,
    place: NDArray[np.int64],
    known: Integers,
    *,
    complete: bool,
) -> dict[str, dict[str, Any]]:
    """Return what is wrong with the rows, see `load_published`.

    `contents` are they in canonical form, and `place` is where each stands among the known ones, -1 for nowhere; if
    these are complete, it is not a row of the task, and its entry in `truth` means nothing.
    """
    first = RowIndex(contents).find(contents)
    outside = (place < 0) & complete
    differs = (y != truth).reshape(len(y), -1).any(axis=1) & ~outside
    missing = np.setdiff1d(np.arange(len(known)), place)
    kinds: dict[str, tuple[NDArray[np.intp], Callable[[int], str]]] = {
        "duplicate": (
            np.flatnonzero(first != np.arange(len(first))),
            lambda row: f"{table.where(row)}: the same row as {table.where(int(first[row]))}",
        ),
        "outside": (np.flatnonzero(outside), lambda row: f"{table.where(row)}: {table.X[row].tolist()}"),
        "wrong label": (
            np.flatnonzero(differs),
            lambda row: f"{table.where(row)}: {y[row].tolist()}, not {truth[row].tolist()}: {table.X[row].tolist()}",
        ),
        "missing": (missing, lambda row: f"{known[row].tolist()}"),
    }
    return {
        kind: {"rows": len(rows), "first": [tell(row) for row in rows[:LISTED].tolist()]}
        for kind, (rows, tell) in kinds.items()
        if len(rows)
    }
