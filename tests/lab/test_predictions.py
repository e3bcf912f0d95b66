"""Predictions as results keep them."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.data import TaskData
from adelic_lab import EmbeddingConfig, Experiment, Result, load_recipe, run
from adelic_lab.results import predictions
from adelic_lab.results.predictions import pack, pack_answers, unpack

RECIPE = load_recipe("quick", "schubert-3", epochs=1, batch_size=256)

classes = st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), max_size=70)))


@given(classes, st.sampled_from([np.int8, np.int16, np.int64, np.uint8]))
def test_what_was_packed_is_unpacked(given_classes, dtype):
    n_classes, rows = given_classes
    labels = np.array(rows, np.int64)
    if n_classes - 1 <= np.iinfo(dtype).max:
        labels = labels.astype(dtype)
    text = pack(labels, n_classes)
    assert text.isascii()
    found = unpack(text, (len(rows),), n_classes)
    assert found.dtype == np.int64
    assert found.tolist() == rows


def test_by_hand():
    """421 rows of two classes are 53 bytes; five classes take three bits: 100 001 10|0 0000000 are 134 and 0."""
    assert len(pack(np.zeros(421, np.int64), 2)) == 72
    assert base64.b64decode(pack(np.array([4, 1, 4]), 5)) == bytes([0b10000110, 0b00000000])
    assert unpack(base64.b64encode(bytes([0b10000110, 0b00000000])).decode(), (3,), 5).tolist() == [4, 1, 4]
    assert pack(np.array([], np.int64), 2) == ""
    assert unpack("", (0,), 2).tolist() == []


@pytest.mark.parametrize(
    ("text", "rows", "n_classes"),
    [
        ("gQ==", 9, 2),  # a byte has eight rows
        ("gQ==", 0, 2),
        ("gQ==", 3, 5),  # nine bits
        ("", 1, 2),
        ("gQ=", 8, 2),  # cut
        ("g", 8, 2),
        ("g?==", 8, 2),
        ("gQ==\n", 8, 2),
        ("gQ==gQ==", 8, 2),
        ("ü", 8, 2),
    ],
)
def test_what_is_no_such_text(text, rows, n_classes):
    with pytest.raises(ValueError):  # noqa: PT011
        unpack(text, (rows,), n_classes)


@pytest.fixture(scope="module")
def result():
    line = (
        (Path(__file__).parents[2] / "experiments" / "results" / "demo" / "schubert-4.jsonl")
        .read_bytes()
        .splitlines()[0]
    )
    return Result.parse(line, "line 1")


@given(st.data())
def test_answers_of_any_task(result, data):
    """One target or several, numbers below zero too."""
    rows, targets = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 4))
    least = data.draw(st.integers(-(10**9), 10**9))
    greatest = least + data.draw(st.sampled_from([0, 1, 2, 7, 10**6]))
    shape = (rows,) if targets == 1 else (rows, targets)
    drawn = [
        np.array(data.draw(st.lists(st.integers(least, greatest), min_size=rows * targets, max_size=rows * targets)))
        for _ in range(2)
    ]
    labels, predictions = (values.reshape(shape) for values in drawn)
    kept = json.loads(json.dumps(pack_answers(labels, predictions, least, greatest)))
    found = replace(result, **kept).answers()
    assert [part.tolist() for part in found] == [labels.tolist(), predictions.tolist()]


def test_another_number_of_rows_is_refused(result):
    kept = pack_answers(np.zeros((9, 2), np.int64), np.ones((9, 2), np.int64), 0, 1)
    with pytest.raises(ValueError, match="are not 14 answers of 2 classes"):
        replace(result, **kept | {"shape": [7, 2]}).answers()


@pytest.mark.parametrize("row", ["schubert-3", "kl-3"])
def test_answers_that_are_too_many_are_not_kept(row, tmp_path, monkeypatch):
    """All figures are there, and only the single answers are missing."""
    task, n = row.split("-")
    experiment = Experiment(data=TaskData(task, int(n)), model=EmbeddingConfig.of("learned"), recipe=RECIPE)
    whole = run(experiment, tmp_path / "whole")
    monkeypatch.setattr(predictions, "MOST_BYTES", 0)
    found = run(experiment, tmp_path / "short")
    assert found.answers() is None
    assert found.test == whole.test
    assert found.class_names == whole.class_names
    assert Result.parse(found.sealed(), "short") == found
