import json
import math

import pytest

from adelic.benchmark import Summary, read_results, summarise
from adelic.benchmark.results import confidence_interval
from adelic.errors import AdelicError, RunFolderError, StorageError


def write(folder, name, content):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def test_reading(tmp_path, result):
    results = [result(seed=1), result("mheight-8", "learned")]
    write(tmp_path, "b.json", results[0])
    write(tmp_path, "a.json", results[1])
    write(tmp_path, "notes.txt", "not read")
    assert read_results(tmp_path) == [results[1], results[0]]


def test_an_empty_folder_has_no_results(tmp_path):
    assert read_results(tmp_path) == []
    assert summarise([]) == []


@pytest.mark.parametrize("name", ["missing", "a" * 300, "file"])
def test_no_folder(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as caught:
        read_results(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "null", "{}", '{"task": "schubert"}', "[" * 100_000], ids=len)
def test_what_is_no_result(tmp_path, result, content):
    write(tmp_path, "good.json", result())
    write(tmp_path, "odd.json", content)
    with pytest.raises(RunFolderError, match=r"odd\.json") as caught:
        read_results(tmp_path)
    assert "\n" not in str(caught.value)


def test_other_bytes(tmp_path):
    (tmp_path / "odd.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RunFolderError, match=r"odd\.json"):
        read_results(tmp_path)


# What the table and the report read.
KEYS = [
    ("task",), ("n",), ("edition",), ("embedding",), ("features",), ("recipe",), ("seed",), ("test",), ("majority",),
    ("parameters",), ("seconds",), ("device",), ("versions",), ("commit",), ("command",), ("configuration",),
    ("history",), ("predicts_one_class",), ("test", "accuracy"), ("test", "balanced_accuracy"), ("test", "macro_f1"),
    ("test", "loss"), ("history", "validation_accuracy"), ("configuration", "recipe"),
]  # fmt: skip


@pytest.mark.parametrize("keys", KEYS, ids=".".join)
def test_a_missing_key_is_named(tmp_path, result, keys):
    odd = result()
    part = odd
    for key in keys[:-1]:
        part = part[key]
    del part[keys[-1]]
    write(tmp_path, "odd.json", odd)
    with pytest.raises(RunFolderError, match=rf"odd\.json.*{keys[-1]}") as caught:
        read_results(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [{"test": 3}, {"configuration": []}, {"majority": None}, {"seed": "0"}],
    ids=str,
)
def test_a_value_of_another_kind(tmp_path, result, changes):
    write(tmp_path, "odd.json", result() | changes)
    with pytest.raises(RunFolderError, match=r"odd\.json"):
        read_results(tmp_path)


def test_grouping_is_by_all_but_the_seed(result):
    results = [
        result(seed=3),
        result(embedding="learned", seed=0),
        result(seed=1),
        result(seed=0, recipe={"epochs": 99}),
        result("mheight-8", seed=0),
        result(seed=2),
    ]
    groups = summarise(results)
    assert [group.seeds for group in groups] == [(1, 2, 3), (0,), (0,), (0,)]
    assert [group.row for group in groups] == ["schubert-4", "schubert-4", "schubert-4", "mheight-8"]
    assert [group.label for group in groups] == ["AOE (digits)", "learned", "AOE (digits)", "AOE (digits)"]
    assert groups[0].first is results[0]


def test_mean_and_interval_by_hand(result):
    """Student's t of n − 1 degrees of freedom at 97.5 %: 12.7062 for 1, 4.30265 for 2."""
    group = Summary(tuple(result(seed=s, accuracy=a, loss=1.0) for s, a in enumerate([0.90, 0.92, 0.94])))
    assert group.mean("accuracy") == pytest.approx(0.92)
    assert group.interval("accuracy") == pytest.approx(4.30265 * 0.02 / math.sqrt(3), rel=1e-5)
    assert group.interval("loss") == 0
    assert confidence_interval([1.0, 2.0]) == pytest.approx(12.7062 * math.sqrt(0.5) / math.sqrt(2), rel=1e-5)
    assert confidence_interval([0.5]) is None
    assert Summary((result(accuracy=0.7),)).interval("accuracy") is None


def test_one_class_in_any_run(result):
    assert Summary((result(seed=0), result(seed=1, one_class=True))).predicts_one_class
    assert not Summary((result(seed=0), result(seed=1))).predicts_one_class


def test_a_run_counts_once(tmp_path, result):
    """The same run under two file names is no second seed."""
    write(tmp_path, "a.json", result(seed=0))
    write(tmp_path, "copy.json", result(seed=0))
    try:
        groups = summarise(read_results(tmp_path))
    except AdelicError:
        return
    assert [group.seeds for group in groups] == [(0,)]
