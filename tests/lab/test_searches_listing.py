"""The searches of a folder of runs: of `adelic tune` in SQLite, of models outside the Transformer in JSON lines."""

import json

import pytest

from adelic.data import TaskData
from adelic_lab import Classical, Experiment, RandomSearch, Search, list_searches, run, tune


@pytest.fixture(scope="module")
def runs(tiny_config, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    tune(Search(config=tiny_config("learned"), dimensions=("norm",)), trials=2, storage=folder / "tune" / "mine.db")
    mlp = Experiment(data=TaskData("schubert", 3), model=Classical(name="mlp"), recipe=RandomSearch(trials=3))
    run(mlp, folder / mlp.label)
    return folder


@pytest.mark.long
def test_both_kinds_are_listed(runs):
    study, lines = sorted(list_searches(runs), key=lambda search: search.path.suffix)
    assert (study.label, study.trials, study.problem) == ("mine", 2, None)
    assert lines.label.startswith("schubert-3-mlp-search-")
    assert (lines.trials, lines.problem) == (3, None)
    trials = [json.loads(line) for line in lines.path.read_text().splitlines()]
    assert lines.best == max(trial["accuracy"] for trial in trials)
    assert 0 < study.best <= 1


@pytest.mark.long
def test_reading_writes_nothing(runs):
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    list_searches(runs)
    assert {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("tune/mine.db", b"", "no such table"),
        ("tune/mine.db", b"no data base, though long enough to be read as the head of one" * 20, "not a database"),
        ("mine-search-1/trials.jsonl", b"{}\n", "is damaged ('accuracy')"),
        ("mine-search-1/trials.jsonl", b"nonsense", "is damaged"),
        ("mine-search-1/trials.jsonl", b'{"accuracy": "high"}', "is damaged"),
    ],
)
def test_what_is_damaged_is_named(tmp_path, name, content, words):
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_bytes(content)
    (found,) = list_searches(tmp_path)
    assert words in found.problem
    assert len(found.problem.splitlines()) == 1
    assert (found.trials, found.best, found.state) == (0, None, "damaged")
    assert (tmp_path / name).read_bytes() == content
