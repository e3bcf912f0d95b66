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
from adelic.data.sources import DrawnData
from adelic.errors import RunFolderError
from adelic_lab import EmbeddingConfig, Experiment, Result, load_recipe, run
from adelic_lab.config.models import SolverConfig, Steps
from adelic_lab.results import predictions
from adelic_lab.results.predictions import answers_given, pack, pack_answers, pack_wrong, unpack, unpack_wrong
from adelic_lab.results.recounting import asked_again

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


@given(st.lists(st.tuples(*[st.none() | st.integers() | st.fractions()] * 2), max_size=30))
def test_wrong_answers_come_back(pairs):
    pairs.append((0, None))
    wanted = np.array([truth or 0 for truth, _ in pairs], dtype=object)
    given = np.array([said for _, said in pairs], dtype=object)
    assert answers_given(wanted, unpack_wrong(pack_wrong(wanted, given))).tolist() == given.tolist()


@pytest.mark.parametrize(
    ("task", "model", "recipe"),
    [
        ("gcd", EmbeddingConfig.of("fone"), None),
        ("maximum", SolverConfig(name="least-squares"), Steps(steps=1)),  # hardly right
        ("distance", SolverConfig(name="counting-table"), Steps(steps=1)),  # all right, so that further ones are asked
    ],
)
def test_answers_to_drawn_questions_are_counted_again(task, model, recipe, tmp_path):
    counts = {"test_cases": 50, "confirmation_cases": 80, "never_seen_cases": 30}
    data = DrawnData(task, 300, **counts)
    recipe = recipe or load_recipe("fresh", data.row, epochs=1)
    result = run(Experiment(data=data, model=model, recipe=recipe), tmp_path)
    assert Result.parse(result.sealed(), "line 1") == result
    found = asked_again(result)
    assert found.keys() == {"test", *result.never_seen}
    for split, (operands, answers, said) in found.items():
        figures = result.figures(split)
        assert len(operands) == figures["cases"]
        assert (answers == said).sum() == figures["correct"]
        assert sum(a is None for a in said) == figures["unanswered"]
    with pytest.raises(RunFolderError, match="other questions are drawn today"):
        asked_again(replace(result, asked_sha256="0"))


@pytest.mark.parametrize("text", ["", "no base64", pack_wrong(np.zeros(9), np.ones(9)), "gQ=="])
def test_damaged_wrong_answers(text, result):
    drawn = replace(
        result, test={"accuracy": 1.0, "cases": 9, "correct": 9, "unanswered": 0}, never_seen={}, wrong={"test": text}
    )
    with pytest.raises(RunFolderError, match=r"wrong\.test"):
        Result.parse(drawn.sealed(), "line 1")
