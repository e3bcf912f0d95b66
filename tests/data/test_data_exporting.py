"""Exported files hold exactly the rows of the data set; what is there already is not lost by accident."""

import csv
import hashlib
import json
import re

import pytest

from adelic import acd
from adelic.data import export, exporting, from_table
from adelic.data.exporting import FORMATS
from adelic.data.splits import SPLITS
from adelic.errors import StorageError, UnknownNameError

DATA = {
    "classes": {"name": "weaving", "n": 4},
    "many classes": {"name": "mheight", "n": 8},
    "a target": {"name": "characters", "n": 8},
    "several targets": {"name": "rsk", "n": 4},
    "empty splits": {"name": "mheight", "n": 4},
}


@pytest.fixture(params=DATA)
def dataset(request):
    return acd.load(**DATA[request.param])


def read_parquet(path, classes):
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    assert table.column_names == ["x", "y"]
    return table["x"].to_pylist(), table["y"].to_pylist()


def read_csv(path, classes):
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    length = sum(name.startswith("x") for name in header)
    targets = header[length:]
    assert header == [f"x{i}" for i in range(length)] + targets
    assert targets == (["y"] if targets[0] == "y" else [f"y{i}" for i in range(len(targets))])
    rows = [[int(value) for value in line] for line in lines]
    y = [row[length] if targets == ["y"] else row[length:] for row in rows]
    return [row[:length] for row in rows], y


def read_jsonl(path, classes):
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row["x"] for row in rows], [row["y"] for row in rows]


READERS = {"parquet": read_parquet, "csv": read_csv, "jsonl": read_jsonl}


@pytest.mark.parametrize("format", FORMATS)
def test_rows_come_back_exactly(dataset, tmp_path, format):  # noqa: A002
    paths = acd.export(dataset, tmp_path / "new" / "out", format=format)
    assert [path.name for path in paths] == [*(f"{split}.{format}" for split in SPLITS), "dataset.json"]
    for split, path in zip(SPLITS, paths, strict=False):
        x, y = READERS[format](path, dataset.class_names is not None)
        rows = list(zip(getattr(dataset, f"X_{split}").tolist(), getattr(dataset, f"y_{split}").tolist(), strict=True))
        assert list(zip(x, y, strict=True)) == rows


@pytest.mark.parametrize("format", FORMATS)
def test_description(dataset, tmp_path, format):  # noqa: A002
    *paths, described = acd.export(dataset, tmp_path, format=format, command="adelic data export ...")
    about = json.loads(described.read_text(encoding="utf-8"))
    assert about["format"] == format
    assert about["command"] == "adelic data export ..."
    assert about["class_names"] == (None if dataset.class_names is None else list(dataset.class_names))
    assert about["vocabulary"] == list(dataset.vocabulary)
    for key in ("task", "n", "edition", "seed", "rows", "counts", "sha256"):
        assert about["data"][key] == dataset.provenance[key]
    assert set(about["files"]) == {path.name for path in paths}
    for path in paths:
        entry = about["files"][path.name]
        assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert entry["rows"] == len(getattr(dataset, f"y_{entry['split']}"))
    assert str(tmp_path) not in described.read_text(encoding="utf-8")  # nothing of this machine


def test_exporting_again_leaves_the_files_alone(tmp_path):
    d = acd.load("schubert", n=3)
    paths = acd.export(d, tmp_path, format="csv")
    before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in paths[:-1]]
    assert acd.export(d, tmp_path, format="csv") == paths
    assert [(path.stat().st_ino, path.stat().st_mtime_ns) for path in paths[:-1]] == before


@pytest.mark.parametrize("format", FORMATS)
def test_another_content_is_refused_unless_forced(tmp_path, format):  # noqa: A002
    one, other = acd.load("schubert", n=3), acd.load("schubert", n=3, seed=1)
    paths = acd.export(one, tmp_path, format=format)
    content = [path.read_bytes() for path in paths]
    with pytest.raises(StorageError, match=r"dataset\.json exists and has another content; .*--force"):
        acd.export(other, tmp_path, format=format)
    assert [path.read_bytes() for path in paths] == content
    acd.export(other, tmp_path, format=format, force=True)
    assert READERS[format](paths[0], True)[0] == other.X_train.tolist()
    assert json.loads(paths[-1].read_text(encoding="utf-8"))["data"]["seed"] == 1


@pytest.mark.parametrize("name", ["train.csv", "test.csv", "dataset.json"])
def test_a_foreign_file_is_refused_before_anything_is_written(tmp_path, name):
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match=re.escape(name)):
        acd.export(acd.load("schubert", n=3), tmp_path, format="csv")
    assert {path.name for path in tmp_path.iterdir()} == {name}
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


def test_a_description_never_stands_beside_files_that_it_does_not_describe(tmp_path, monkeypatch):
    """A forced export that is cut off leaves no dataset.json."""
    one, other = acd.load("schubert", n=3), acd.load("schubert", n=3, seed=1)
    acd.export(one, tmp_path, format="csv")
    calls = []

    def failing(path, *args, **kwargs):
        calls.append(path.name)
        if len(calls) == 2:
            raise StorageError("the disk is full")
        return real(path, *args, **kwargs)

    real = exporting.files.atomic_write
    monkeypatch.setattr(exporting.files, "atomic_write", failing)
    with pytest.raises(StorageError, match="full"):
        acd.export(other, tmp_path, format="csv", force=True)
    assert calls == ["train.csv", "validation.csv"]
    assert not (tmp_path / "dataset.json").exists()


def test_bad_input(tmp_path):
    d = acd.load("schubert", n=3)
    with pytest.raises(UnknownNameError, match=r"unknown format 'cvs'; did you mean 'csv'\? formats: .*, jsonl, acd$"):
        acd.export(d, tmp_path, format="cvs")
    with pytest.raises(UnknownNameError, match=r"unknown format 'acd'; formats: parquet, csv, jsonl$"):
        export(from_table({"x": range(90), "y": [0, 1] * 45}, target="y"), tmp_path, format="acd")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match=r"file"):
        acd.export(d, tmp_path / "file", format="csv")
    (tmp_path / "train.csv").mkdir()
    with pytest.raises(StorageError, match=r"train\.csv"):
        acd.export(d, tmp_path, format="csv")
