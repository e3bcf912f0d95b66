import math
from collections import Counter

import numpy as np
import pytest

from adelic_lab.results.predictions import unpack

SCRIPT = "real_tables_page"


@pytest.fixture
def lines(script):
    return script.read()


def test_the_pages_show_the_results(script):
    assert script.main(check=True)


def test_every_accuracy_is_that_of_the_answers(lines):
    runs = {(one["dataset"], one["split"], one["seed"]): one for one in lines if one["model"] == "majority"}
    for one in lines:
        asked = runs[one["dataset"], one["split"], one["seed"]]
        shape, classes = (one["rows"][2],), len(asked["classes"])
        truth, answers = unpack(asked["labels"], shape, classes), unpack(one["predictions"], shape, classes)
        assert math.isclose(one["accuracy"], np.mean(truth == answers))
        assert one["rows"] == asked["rows"]


def test_every_run_has_five_seeds_and_its_origin(lines):
    seeds = Counter((one["dataset"], one["split"], one["input"], one["model"]) for one in lines)
    assert set(seeds.values()) == {5}
    assert len({(one["dataset"], one["split"], one["input"], one["model"], one["seed"]) for one in lines}) == len(lines)
    for one in lines:
        assert {"command", "commit", "device", "versions", "seconds"} <= one.keys()
        assert not one["commit"].endswith("+")


def test_every_table_has_its_splits_and_inputs(script, lines):
    tables = {one["dataset"]: {run["split"] for run in lines if run["dataset"] == one["dataset"]} for one in lines}
    assert tables.keys() == script.SOURCES.keys()
    assert sum("time" in splits for splits in tables.values()) == 8
    for name in tables:
        inputs = {one["input"] for one in lines if one["dataset"] == name}
        assert inputs >= {"raw", "PLR", "decimal digits", "AOE", "probe"}


def test_ties_and_choices(script):
    def line(way, model, seed, accuracy, validation):
        known = {"dataset": "cas", "split": "random", "input": way, "model": model, "seed": seed, "accuracy": accuracy}
        return known | {"validation": {"accuracy": validation, "loss": 0.0}, "findings": ["number = 1 exactly"]}

    runs = [
        line(way, model, seed, accuracy, validation)
        for seed in (0, 1)
        for way, model, accuracy, validation in (
            ("raw", "LightGBM", 0.9, 0.5),
            ("raw", "MLP", 0.6, 0.6),
            ("probe", "MLP", 0.615, 0.9),
            ("probe", "rule", 0.1, 0.1),
        )
    ]
    found = script.scores(runs)
    (of,) = found.values()
    assert of.chosen("raw") == ("raw", "MLP")  # not the one that the test prefers
    assert of.first_finding == "number"
    assert math.isclose(of.gap, 0.015)
    assert math.isnan(of.test("skrub"))
    assert "| raw | 1 | 0 | 1 | – | – |" in script.counts(found)
    assert "| probe | 1 | 0 | 1 | 0 | 0 |" in script.counts(found)


def test_the_sentences_of_the_page(script, lines):
    found = script.scores(lines)
    tie, of = script.TIE, {name: found[name, "random"] for name, _ in found}
    assert of["ipv4"].test("raw") > max(of["ipv4"].test(way) for way in (*script.OURS, "PLR", "decimal digits")) + tie
    for name in ("births", "births-2000"):
        assert of[name].test("skrub") > of[name].test("probe") + tie
        assert abs(of[name].test("skrub") - of[name].test("AOE, wide")) < tie
    assert of["bank-codes"].test("decimal digits") > of["bank-codes"].test("AOE") + 0.2
    for name in ("handwriting", "breast-cancer", "diamonds"):
        assert of[name].test("raw") > of[name].test(*script.OURS) - tie
    network = {way: np.mean(of["handwriting"].tests[way, "MLP"]) for way in ("raw", "AOE")}
    assert network["raw"] > network["AOE"] + tie
    assert all(0.45 < of["cas"].test(way) < 0.55 for way in ("raw", "PLR", "decimal digits", "AOE", "AOE, wide"))
    assert of["iban"].test("AOE") < 0.55 < of["iban"].test("AOE, wide") == of["iban"].test("probe") == 1
    laws = {
        name: [one["findings"] for one in lines if one["dataset"] == name and one["model"] == "rule"] for name in of
    }
    assert not any(laws["check-hr"] + laws["check-in"])
    linear = [name for name in of if name.startswith("check-") and name not in ("check-hr", "check-in")]
    assert all(of[name].test("probe") > 0.9 for name in linear)
    assert all(of[name].test(way) < 0.6 for name in linear for way in ("raw", "PLR", "decimal digits"))
