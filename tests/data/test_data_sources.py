"""What an experiment is on: a task of some size or a table, by one name."""

import tomllib
from pathlib import Path

import pytest
import tomli_w

from adelic.data import TableData, TaskData, source
from adelic.data.sources import row_of
from adelic.errors import ConfigurationError, StorageError, TaskSizeError, UnknownNameError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b,kind\n" + "".join(f"{i},{i % 7}/3,{'xy'[i % 2]}\n" for i in range(100)), encoding="utf-8")
    return path


def test_a_task_by_its_name():
    assert source("weaving", n=None, edition=None, split=None) == TaskData("weaving", 6)
    found = source("weaving", n=6, edition="levels", split="orbits")
    assert (found.row, found.label) == ("weaving-6", "weaving-6-levels-orbits")
    assert found.arguments() == ["weaving", "--n", "6", "--edition", "levels", "--split", "orbits"]
    assert found.load(0).provenance["split"] == "orbits"


def test_a_table_by_its_file(table):
    found = source(str(table), target="kind", columns=("a",), groups="b", split=None, n=None)
    assert (found.row, found.label, found.n, found.edition) == ("mine", "mine-kind", None, None)
    assert found.arguments() == [str(table), "--target", "kind", "--columns", "a", "--groups", "b"]
    data = found.load(0)
    assert data.X_train.shape[1] == 1
    assert data.provenance["task"] == "mine"


def test_a_target_is_no_path_in_a_label(table):
    labels = [TableData(str(table), target).label for target in ("../../x", "price/kg", "price-kg", "价" * 90)]
    assert labels[2] == "mine-price-kg"
    assert labels[1].startswith("mine-price-kg-")
    assert all(Path(label).name == label for label in labels)
    assert all(len(label.encode()) < 250 for label in labels)


@pytest.mark.parametrize("options", [{}, {"columns": ("a",)}, {"split": "kind", "answer": "number", "groups": "b"}])
def test_files_of_configurations_hold_them(table, options):
    for data in (TableData(str(table), "kind", **options), TaskData("schubert", 4, "corrected", "orbits")):
        told = tomllib.loads(tomli_w.dumps(data.as_dict()))
        assert told == data.as_dict()
        assert type(data)(**{key: value for key, value in told.items() if "path" not in told or key != "task"}) == data
        assert row_of(data.as_dict()) == data.row


def test_options_of_a_table_are_checked(table):
    assert TableData(str(table), "kind", columns="a") == TableData(str(table), "kind", columns=["a"])
    assert TableData(str(table), "kind", answer="none") == TableData(str(table), "kind")
    assert TableData(str(table), "kind", groups="none").groups == "none"  # a column may be called so
    with pytest.raises(ConfigurationError, match="columns=3 must be a list of names"):
        TableData(str(table), "kind", columns=3)


def test_another_content_is_another_table(table):
    first = TableData(str(table), "kind")
    table.write_text(table.read_text(encoding="utf-8").replace("99,", "98,"), encoding="utf-8")
    assert TableData(str(table), "kind") != first
    with pytest.raises(ConfigurationError, match=r"mine\.csv has changed since"):
        first.load(0)


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("schubert", {"n": 100}, TaskSizeError, "schubert n=100"),
        ("schubert", {"n": 1.5}, TaskSizeError, "whole number"),
        ("schubrt", {"target": "y"}, UnknownNameError, "did you mean 'schubert'"),
        (
            "none.dat",
            {"target": "y"},
            UnknownNameError,
            r"a table is a file whose name ends in \.csv, \.tsv, \.jsonl or \.parq",
        ),
        ("x" * 5000, {"target": "y"}, UnknownNameError, "unknown task"),
        ("schubert", {"edition": "corected"}, UnknownNameError, "did you mean 'corrected'"),
        ("lattice", {"split": "orbits"}, ConfigurationError, "has no symmetries"),
        ("schubert", {"target": "y"}, ConfigurationError, "--target belongs to a table of your own"),
        ("none.csv", {"target": "y"}, StorageError, "there is no file none.csv"),
        ("none.csv", {}, ConfigurationError, "name the column to predict with --target"),
        ("none.csv", {"target": "y", "n": 4}, ConfigurationError, "--n belongs to a task, and 'none.csv' is a table"),
        ("none.csv", {"target": "y", "answer": "class"}, UnknownNameError, "did you mean 'classes'"),
    ],
)
def test_bad_sources(name, options, error, words):
    with pytest.raises(error, match=words) as caught:
        source(name, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["mine.dat", "mine.txt", "mine.xlsx", "mine"])
def test_files_that_are_no_tables(tmp_path, name):
    (tmp_path / name).write_text("a\ty\n", encoding="utf-8")
    for options in ({}, {"target": "y"}):
        with pytest.raises(
            ConfigurationError, match=r"must end in \.csv, \.tsv, \.jsonl or \.parquet; save it as one of these"
        ):
            source(str(tmp_path / name), **options)


def test_images_are_for_orbits_alone(table):
    TaskData("schubert", 4, split="orbits").check_images()
    for data in (TaskData("schubert", 4), TaskData("lattice", 10), TableData(str(table), "kind")):
        with pytest.raises(ConfigurationError, match=r"use .*--no-symmetries"):
            data.check_images()
