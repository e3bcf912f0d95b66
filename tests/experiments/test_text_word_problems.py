"""Word problems: what is read of the published files, what training changes, and a run on a made-up folder."""

import csv
import importlib
import itertools
import json
import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

SCRIPT = "text_word_problems"
COLUMNS = ("Question", "Numbers", "Equation", "Answer", "Body")
NAMES, THINGS = ("ann", "bob", "eve", "tim"), ("apples", "pens", "cards", "books")


def made_up(n, seed):
    """Return problems of sums and differences, as rows of the published files."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        name, thing, (a, b) = rng.choice(NAMES), rng.choice(THINGS), rng.integers(2, 60, 2)
        is_sum = rng.random() < 0.5
        a, b = (a, b) if is_sum else (a + b, b)
        body = f"{name} has number0 {thing} . {name} {'gets' if is_sum else 'gives away'} number1 more {thing} ."
        rows.append(
            (
                f"{body} how many {thing} are there ?",
                f"{a}.0 {b}.0",
                "no one reads it",
                float(a + b if is_sum else a - b),
                body,
            )
        )
    return rows


@pytest.fixture
def data(tmp_path):
    for folder in ("cv_asdiv-a/fold0", "mawps-asdiv-a_svamp"):
        for part, n in (("train", 40), ("dev", 12)):
            path = tmp_path / "data" / folder / f"{part}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(COLUMNS)
                writer.writerows(made_up(n, n))
    return tmp_path / "data"


def problem(text, numbers, answer):
    return importlib.import_module("text_word_problems").Problem(
        tuple(text.split()), tuple(map(Fraction, numbers)), Fraction(answer)
    )


def test_a_run_learns_from_answers_and_is_not_made_again(script, data, tmp_path, capsys, monkeypatch):
    clock = itertools.count()  # whose seconds are steps of training
    monkeypatch.setattr(script, "time", SimpleNamespace(process_time=lambda: next(clock)))
    for dataset, model in (("asdiv-a", "operations"), ("svamp", "operations"), ("asdiv-a", "table")):
        script.run(data, dataset=dataset, model=model, seconds=60, folder=tmp_path / "results")
    found = json.loads((tmp_path / "results" / "asdiv-a-0-operations-0.json").read_text())
    assert np.mean(found["test"]["right"]) > 0.6
    assert len(found["test"]["derivations"]) == len(found["without"]["values"]) == 12
    assert found["told"]["constants"] == []
    assert "apples" not in json.dumps(found)
    assert found["steps"] > 20
    script.run(data, dataset="svamp", folder=tmp_path / "results")
    assert "is there" in capsys.readouterr().err
    script.tables(folder=tmp_path / "results")
    shown = capsys.readouterr().out
    assert re.search(r"\| Graph2Tree \(equations\) +\| +83.7 \| +77.4 \| +36.5 \|", shown)
    assert "not run" in shown  # four folds of ASDiv-A


def test_the_equation_is_not_read_and_thirds_are_thirds(script, data):
    train, tests = script.read(data, "asdiv-a", 0, validation=False, seed=0)
    assert (len(train), len(tests["test"])) == (40, 12)
    assert tests["test"][0].words[-1] == "?"
    assert tests["without"][0].words[-1] == "."
    assert not any("reads" in one.words for one in train)
    assert script.number("0.3333333333") == Fraction(1, 3)
    held, tests = script.read(data, "asdiv-a", 0, validation=True, seed=0)
    assert sorted(held + tests["test"]) == sorted(train)
    with pytest.raises(SystemExit, match="svamp has the folds 0 to 0, not 3"):
        script.read(data, "svamp", 3, validation=False, seed=0)


def test_unknown_words_are_the_same_unknown_word_all_through_a_problem(script):
    known = [problem("she has number0 pens . how many ?", [2], 2)] * 2
    reader = script.Reader(known, unknown=0.0, irrelevant=0.0)
    batch = reader([problem("she has number0 zlots and a zlot of number7 . how many ?", [3], 3)])
    ids = batch.ids[0].tolist()
    assert ids[3] == ids[6] != ids[4]  # zlots, zlot, and
    assert max(ids[3], ids[4], ids[5]) < 2 + script.STRANGERS <= min(ids[0], ids[1])
    assert (ids[2], batch.places.tolist()) == (script.AT_NUMBER, [[2]])
    assert batch.endings[0, 3] == 1
    assert batch.is_question[0].tolist() == [False] * 10 + [True] * 3


def test_irrelevant_sentences_bring_a_number_and_leave_the_answer(script):
    some = [problem(f"{name} ate number0 pies . she got number1 . how many ?", [5, 7], 12) for name in NAMES]
    reader = script.Reader(some, unknown=0.5, irrelevant=1.0)
    batch = reader(some, np.random.default_rng(0))
    assert batch.places.shape == (4, 3)
    assert (batch.ids.gather(1, batch.places) == script.AT_NUMBER).all()
    assert reader(some).places.shape == (4, 2)
    without = script.Reader([problem("how many are number0 ?", [1], 1)], unknown=0.0, irrelevant=1.0)
    assert without(some, np.random.default_rng(0)).places.shape == (4, 2)  # there is none to put in


def test_templates_are_all_derivations_of_one_operation_or_two(script):
    numbers = [Fraction(6), Fraction(3), Fraction(2)]
    found = script.templates(script.Problem((), tuple(numbers), Fraction(9)))
    assert ("+", 0, 1) in found
    assert ("*", ("/", 0, 2), 1) in found
    assert all(script._value(one, numbers) == 9 for one in found)
    assert script.templates(script.Problem((), (Fraction(0), Fraction(0)), Fraction(70))) == []


def test_the_table_says_nothing_of_other_counts_of_numbers(script):
    model = script.Templates([problem("a has number0 and number1 more .", [2, 3], 5)] * 3)
    written = model.write([problem("a has number0 and number1 more .", [4, 9], 13), problem("a number0 .", [4], 4)])
    assert written.values.tolist() == [13, None]
    assert written.derivations.tolist() == ["4 + 9", None]


def test_folds_of_a_seed_are_pooled_if_all_are_there(script):
    run = {"dataset": "svamp", "fold": 0, "seed": 0, "test": {"right": [True, False]}}
    assert script.pooled(pd.DataFrame([run]), "test") == [0.5]
    assert script.pooled(pd.DataFrame([run | {"dataset": "mawps"}]), "test") == []


def test_probabilities_of_answers_are_what_the_loss_says(script):
    some = [problem("she has number0 pens and number1 . how many ?", [2, 9], 11)] * 2
    sizes = {
        "width": 16,
        "layers": 1,
        "heads": 4,
        "key_features": 8,
        "dropout": (0.1, 0.1),
        "steps": 2,
        "constants": (),
    }
    model = script.Solver(script.Reader(some, unknown=0.1, irrelevant=0.0), sizes).eval()
    assert 0 < model.probability(some[0]) < 1
    assert model.probability(some[0]._replace(answer=Fraction(1, 977))) == 0
    assert model.loss(some).item() == pytest.approx(-np.log(model.probability(some[0])), rel=1e-4)
