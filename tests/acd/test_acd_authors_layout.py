"""The dataset authors' own loader reads what is exported for it, and finds the rows that `load` returns.

tests/oracles/acd_loader.json has what the loader found, with the SHA-256 of the files that it read: equal files are
read equally.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from adelic import acd
from adelic.acd.authors_layout import LAYOUTS
from adelic.errors import ConfigurationError

FOUND = json.loads((Path(__file__).parents[1] / "oracles" / "acd_loader.json").read_text(encoding="utf-8"))["tasks"]
LARGE = {"quiver", "grassmannian"}
LONG = {"mheight", "characters", "rsk"}
MARKS = dict.fromkeys(LARGE, pytest.mark.slow) | dict.fromkeys(LONG, pytest.mark.long)
TASKS = [pytest.param(task, marks=MARKS.get(task, ())) for task in FOUND]


def sorted_rows(X, y):
    rows = np.column_stack([X, y]).astype(np.int64)
    return hashlib.sha256(np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])]).tobytes()).hexdigest()


def as_loaded(task, X, y):
    """Return rows of ours as the loader has them."""
    if task == "lattice":
        return X, 1 - y  # it calls Lagrange covers 0
    if task == "quiver":
        return X[:, :-1].astype(np.int64) + 2, y  # it drops the last entry, a 0, and has no negative tokens
    if task == "kl":
        return X, y[:, : 1 + np.flatnonzero(y.any(axis=0)).max()]
    if task == "grassmannian":
        least = np.bincount(y).min()
        kept = np.sort(np.concatenate([np.flatnonzero(y == label)[:least] for label in (0, 1)]))
        return X[kept], y[kept]
    return X, y


def test_every_task_has_a_layout_and_was_read():
    assert set(LAYOUTS) == set(FOUND) == set(acd.TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_the_loader_finds_our_rows(tmp_path, task):
    d = acd.load(task, n=FOUND[task]["n"])
    *paths, described = acd.export(d, tmp_path, format="acd")
    hashes = {path.relative_to(tmp_path).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    assert hashes == FOUND[task]["files"]
    train = np.concatenate([d.X_train, d.X_validation]), np.concatenate([d.y_train, d.y_validation])
    for split, rows in (("train", train), ("test", (d.X_test, d.y_test))):
        X, y = as_loaded(task, *rows)
        assert {"rows": len(X), "sha256": sorted_rows(X, y)} == FOUND[task][split]
    about = json.loads(described.read_text(encoding="utf-8"))
    assert about["loader"].startswith(f"get_dataset({LAYOUTS[task].name!r}, {d.provenance['n']},")
    assert set(about["files"]) == set(hashes)
    assert ("left_out" in about) == (task == "grassmannian")


@pytest.mark.long
def test_one_folder_holds_all_tasks(tmp_path):
    for task in ("mheight", "weaving"):
        acd.export(acd.load(task, n=FOUND[task]["n"]), tmp_path, format="acd")
    assert {path.name for path in tmp_path.glob("*.json")} == {"mheight_8.json", "weaving_6.json"}
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} - {"cache"} == {
        "mheight_function",
        "weaving_patterns",
    }


def test_a_size_that_the_loader_refuses(tmp_path):
    with pytest.raises(ConfigurationError, match=r"reads mheight for n = 8, 9, 10, 11, 12, not for 6"):
        acd.export(acd.load("mheight", n=6), tmp_path, format="acd")
    assert not list(tmp_path.glob("mheight*"))
