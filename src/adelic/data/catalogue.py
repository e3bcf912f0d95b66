"""The catalogue: information on the tasks, and their counts compared with the published ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adelic.data import dataset, registry, store
from adelic.data.guard import Holdout
from adelic.data.protocol import Progress, Request, Rows, Task
from adelic.data.splits import TEST, TRAIN, VALIDATION, part_sizes
from adelic.data.symmetries import images
from adelic.errors import TaskSizeError, UnknownNameError
from adelic.storage import files
from adelic.storage.checks import shown, whole_number
from adelic.storage.workers import check_workers


class Check(NamedTuple):
    """One count of ours next to the published one.

    `source` says where the published one is from, and `why`, where it differs from ours, what is known of the reason.

    >>> check = verify("schubert", n=4)[1]
    >>> check.what, check.ours, check.published, check.equal
    ('0', 1052, 1052, True)
    """

    task: str
    n: int
    edition: str
    what: str
    ours: int
    published: int
    equal: bool
    source: str
    why: str | None = None


def verify(
    name: str | None = None,
    *,
    n: int | None = None,
    edition: str | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> list[Check]:
    """Generate data sets from their definitions and compare examples and class counts with the published ones.

    Nothing is read from the store and nothing is written to it.

    Args:
        name: a task; all by default.
        n: one size; by default all for which facts are known.
        edition: one edition; by default all for which facts are known.
        progress: called with (done, total, what) while examples are generated.
        workers: how many processes may generate rows.

    Returns:
        One `Check` for each count; empty if nothing is known of this size or edition.

    Raises:
        UnknownNameError: there is no such task or edition.
        TaskSizeError: n is not a size of the named task, or the machine's memory cannot hold it.

    >>> for check in verify("weaving", n=5):
    ...     print(check.edition, check.what, check.ours, check.published, check.equal)
    published rows 124 124 True
    published not a weaving pattern 62 62 True
    published weaving pattern 62 62 True
    """
    check_workers(workers)
    found: list[Check] = []
    for task, fact in _known(name, n, edition):
        task.check_memory(fact["n"], fact["edition"])
        request = Request(
            n=fact["n"],
            edition=fact["edition"],
            options=task.check_options({}),
            progress=progress,
            workers=workers,
        )
        found += compared(task, fact, task.generate(request))
    return found


class OrbitCheck(NamedTuple):
    """How a data set is divided where whole orbits stay together, and whether no image crosses over.

    Attributes:
        task: its name.
        n: its size.
        edition: its edition.
        rows: in all.
        orbits: how many these examples make.
        train: examples, as the next two.
        validation: rows.
        test: rows.
        overlap: examples of validation and test that equal an image of a training example, under all symmetries.

    >>> check = OrbitCheck("schubert", 4, "published", 2105, 1525, 1515, 169, 421, overlap=0)
    >>> check.holds, check._replace(overlap=1).holds, check._replace(test=420).holds
    (True, False, False)
    """

    task: str
    n: int
    edition: str
    rows: int
    orbits: int
    train: int
    validation: int
    test: int
    overlap: int

    @property
    def holds(self) -> bool:
        """Return whether the parts are disjoint under all symmetries and have all rows."""
        return self.overlap == 0 and self.train + self.validation + self.test == self.rows


def verify_orbits(
    name: str | None = None,
    *,
    n: int | None = None,
    edition: str | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> list[OrbitCheck]:
    """Generate data sets with split="orbits" and count validation and test examples among training's images.

    Arguments and errors are those of `verify`, and so are sizes and editions; tasks without symmetries are left out.
    The examples and parts are those that `load` gives for seed 0; nothing is read from the store or written to it.

    >>> check = verify_orbits("schubert", n=4, edition="published")[0]
    >>> check.orbits, check.train, check.validation, check.test, check.overlap
    (1525, 1515, 169, 421, 0)
    """
    check_workers(workers)
    return [_divided(task, fact, progress, workers) for task, fact in _known(name, n, edition) if task.symmetries]


def _divided(task: Task, fact: dict[str, Any], progress: Progress | None, workers: int) -> OrbitCheck:
    n, edition = fact["n"], fact["edition"]
    task.check_memory(n, edition)
    key = store.Key(task, n, edition, 0, task.check_options({}), "orbits")
    rows, split, n_orbits = dataset.generate(key, progress, workers)
    assert n_orbits is not None, "the split is that of orbits"
    train = split == TRAIN
    trained_on = images(rows.X[train], rows.y[train], task.symmetries)[0]
    overlap = Holdout(rows.X[split == VALIDATION], rows.X[split == TEST]).overlap(trained_on)
    sizes = part_sizes(split)
    return OrbitCheck(task.name, n, edition, sizes.pop("all"), n_orbits, **sizes, overlap=sum(overlap.values()))


def _known(name: str | None, n: int | None, edition: str | None) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Yield the tasks and facts that are asked for, after the checks that `verify` names."""
    tasks = list(registry.tasks().values()) if name is None else [registry.task(name)]
    editions = dict.fromkeys(each for task in tasks for each in task.editions)
    if edition is not None and edition not in editions:
        raise UnknownNameError.of("edition", edition, editions)
    size = whole_number(n)
    if n is not None and len(tasks) == 1:
        size = tasks[0].check_size(n, edition or next(iter(tasks[0].editions)))
    elif n is not None and size is None:
        raise TaskSizeError(f"n must be a whole number, not {shown(n)}")
    for task in tasks:
        for fact in facts(task):
            if size in (None, fact["n"]) and edition in (None, fact["edition"]):
                yield task, fact


def facts(task: Task) -> list[dict[str, Any]]:
    """Return the published counts of a task: {"n", "edition", "counts" (by what is counted), "source"}.

    "rows" is the number of examples, if it is not the sum of the counts; "why" (by what is counted) explains counts
    that differ from the mathematics.

    >>> facts(registry.task("mheight"))[0]["counts"]
    {'0': 8388, '1': 644, '2': 96, '3': 12, '4': 1}
    """
    return [] if task.facts is None else list(json.loads(task.facts.read_text(encoding="utf-8")))


def compared(task: Task, fact: dict[str, Any], rows: Rows) -> list[Check]:
    """Return what is counted of examples beside what a fact of the task's says, see `facts`."""
    n, edition, counts, why = fact["n"], fact["edition"], fact["counts"], fact.get("why", {})
    ours = tally(task, n, edition, rows)
    pairs = [("rows", len(rows.y), fact.get("rows", sum(counts.values())))]
    pairs += [(what, ours.get(what, 0), counts.get(what, 0)) for what in dict.fromkeys([*ours, *counts])]
    return [
        Check(task.name, n, edition, what, mine, theirs, mine == theirs, fact["source"], why.get(what))
        for what, mine, theirs in pairs
    ]


def tally(task: Task, n: int, edition: str, rows: Rows) -> dict[str, int]:
    """Return the counts to compare with published ones: the examples of each class, or the task's own counts."""
    if task.tally is not None:
        return dict(task.tally(rows))
    names = task.class_names(n, edition)
    assert names is not None, "a regression task needs a tally of its own"
    return dict(zip(names, np.bincount(rows.y, minlength=len(names)).tolist(), strict=True))


def info(name: str | None = None, *, cache: str | Path | None = None) -> dict[str, Any]:
    """Return what is known of a task, ready for JSON; of all tasks, by name, if none is named.

    Args:
        name: a task.
        cache: the folder that holds stored data; `cache_folder()` by default.

    Raises:
        UnknownNameError: there is no such task.
        StorageError: the store exists and cannot be read.

    >>> about = info("schubert")
    >>> about["title"], about["sizes"], about["editions"]["published"]["data"]["4"]["length"]
    ('the Schubert structure constant of three permutations', [4, 5, 6], 15)
    """
    folder = files.cache_folder() if cache is None else Path(cache)
    if name is None:
        return {task.name: _about(task, folder) for task in registry.tasks().values()}
    return _about(registry.task(name), folder)


def _about(task: Task, cache: Path) -> dict[str, Any]:
    return {
        "name": task.name,
        "title": task.title,
        "sizes": list(task.sizes),
        "minimum": task.minimum,
        "maximum": task.maximum,
        "options": {name: list(choices) for name, choices in task.options.items()},
        "views": {name: view.summary for name, view in task.views.items()},
        "generator_version": task.version,
        "editions": {
            edition: {
                "title": title,
                "notes": list(task.notes[edition]),
                "data": {str(n): _shape(task, n, edition) for n in task.sizes},
            }
            for edition, title in task.editions.items()
        },
        "cache": str(cache),
        "cached": _cached(task, cache),
    }


def _shape(task: Task, n: int, edition: str) -> dict[str, Any]:
    estimate = task.estimate(n, edition)
    names = task.class_names(n, edition)
    return {
        "rows": estimate.rows,
        "memory_bytes": estimate.bytes,
        "length": task.length(n, edition),
        "vocabulary": list(task.vocabulary(n, edition)),
        "class_names": None if names is None else list(names),
    }


def _cached(task: Task, cache: Path) -> list[dict[str, Any]]:
    """Return one entry for each stored data set; `damaged` says what is wrong with its manifest, if anything is."""
    found = []
    with files.storage_errors(f"cannot read {cache}", files.CACHE_REMEDY):
        manifests = sorted((cache / "acd" / task.name).rglob(store.MANIFEST_FILE))
    for path in manifests:
        entry: dict[str, Any] = {"folder": str(path.parent), "damaged": None}
        try:
            manifest = store.read_manifest(path.parent) or {}
        except store.DamagedError as damage:
            entry["damaged"] = str(damage)
        else:
            entry |= {
                what: manifest.get(what)
                for what in ("n", "edition", "split", "options", "seed", "rows", "bytes", "sha256")
            }
            if manifest.get("generator_version") != task.version:
                entry["damaged"] = f"generator version {manifest.get('generator_version')!r}, not {task.version}"
        found.append(entry)
    return found
