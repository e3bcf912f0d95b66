import json
import math
import re

import numpy as np
import pytest

from adelic.data.sources import TaskData
from adelic.errors import RunFolderError, StorageError
from adelic_lab import EmbeddingConfig, Experiment, Result, load_recipe, read_results
from adelic_lab.report.files import write_result


def write(folder, name, content):
    folder.mkdir(exist_ok=True)
    content = content.as_dict() if isinstance(content, Result) else content
    content = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_bytes(content.encode("latin-1"))


def test_reading(tmp_path, result):
    results = [result(seed=1), result("mheight-8", "learned")]
    write(tmp_path, "b.json", results[0])
    write(tmp_path, "a.json", results[1])
    write(tmp_path, "notes.txt", "not read")
    assert read_results(tmp_path) == [results[1], results[0]]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "null", "{}", '{"task": "schubert"}', "\xff\xfe\0", "[" * 100_000], ids=len
)
def test_what_is_no_result(tmp_path, result, content):
    write(tmp_path, "good.json", result())
    write(tmp_path, "odd.json", content)
    with pytest.raises(RunFolderError, match=r"odd\.json"):
        read_results(tmp_path)


def places(part, above=()):
    """The keys that lead to each value in tables, at most two."""
    for key, value in part.items():
        yield (*above, key)
        if isinstance(value, dict) and not above:
            yield from places(value, (key,))


ABSENT = object()
FIRST_LACKED = {"compute", "confusion", "data_sha256", "devices", "nodes", "predictions"}
FIRST_LACKED |= {"processor_seconds", "rule", "rule_name"}


def changed(part, keys, value):
    """A copy of a table with another value at a place, or without it."""
    key, *below = keys
    rest = {name: its for name, its in part.items() if name != key or value is not ABSENT or below}
    return rest | ({key: changed(part[key], below, value)} if below else {} if value is ABSENT else {key: value})


@pytest.mark.parametrize(
    "value",
    [None, float("nan"), [[]], {"": [None]}, True, 10**30, "\x1b[31m", ABSENT],
    ids=lambda value: repr(value)[:9],
)
def test_a_value_that_is_of_another_kind_or_lacking_is_named_wherever_it_stands(tmp_path, result, value):
    """But for a few places where it may stand, or be left out."""
    good, accepted = result().as_dict(), set()
    for keys in places(good):
        write(tmp_path, "odd.json", changed(good, keys, value))
        words = "odd.json: accepted"
        try:
            read_results(tmp_path)
            accepted.add(".".join(keys))
        except RunFolderError as error:
            words = str(error)
        where = f"{keys[0]} is|.*{'.'.join(keys)}"
        assert re.search(rf"odd\.json: accepted$|odd\.json is not the result of a run: ({where})[^\n]*$", words)
    amounts = {"seconds", "processor_seconds", "test.loss", "validation.loss", "test.calibration_error"}
    numbers = amounts if value == 10**30 else set()
    absent = {"n", "edition", "features"} if value is None else set()
    if value is ABSENT:
        accepted = {name for name in accepted if not name.startswith("versions.")}
        absent = FIRST_LACKED | {"validation", "validation.epoch", "test.calibration_error"}
    assert accepted <= {"commit", "flops", "predicts_one_class", "contaminated"} | numbers | absent


TRIAL = {"options": {"C": 1.0}, "accuracy": 0.5, "loss": 1.0, "converged": None, "seconds": 1.0}
TEXT = TRIAL | {"options": {"C": "x"}}
SEARCH = {"seed": 0, "chosen": {"C": 1.0}, "seconds": 1.0, "trials": [TRIAL]}


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (["confusion"], [[1, 2], [3]], "confusion is .* instead of a square matrix"),
        (["confusion"], [[1]], "confusion is of 1 classes, and class_names of 2"),
        (["test", "accuracy"], 1.5, "test.accuracy is 1.5 instead of a rate from 0 to 1"),
        (["rows", "train"], -1, "rows.train is -1 instead of a whole number"),
        (["validation"], None, "validation is not a table"),
        (["history", "train_loss"], [], "history has curves of different lengths"),
        (["history", "validation_loss"], [None] * 3, "history.validation_loss is .* each entry a finite number"),
        (["history", "validation_loss"], [1, math.nan, 2], "history.validation_loss is .* each entry a finite number"),
        (["history", "train_loss"], [1, 2, -(10**400)], "history.train_loss is .* each entry a finite number"),
        (["history", "validation_accuracy"], [0, 1, 1.1], "history.validation_accuracy is .* a rate from 0 to 1"),
        (["history", "validation_accuracy"], [0, 1, True], "history.validation_accuracy is .* a rate from 0 to 1"),
        (["predictions"], "", "predictions is too short for 17 answers"),
        (["predictions"], "=====", "predictions is damaged"),
        (["labels"], "AAAAAAAA", "labels is damaged .6 bytes are not 17 answers of 2 classes"),
        (["class_names"], ["0", "1", "2"], "confusion is of 2 classes"),
        (["configuration", "data"], 3, "configuration.data is not a table"),
        (["configuration", "recipe", "max_rows"], [], r"configuration.recipe.max_rows is \[\]: max-rows=\[\] must be"),
        (["configuration", "recipe", "learning_rate"], {}, "configuration.recipe.learning_rate is"),
        (["configuration", "embedding", "sigma"], "x", "configuration.embedding.sigma is 'x': sigma='x' must be"),
        (["search"], "", "search is not a table"),
        (["search"], {"seed": 0, "chosen": 5, "seconds": 1, "trials": []}, "search.chosen is 5 instead of a table"),
        (["search"], {**SEARCH, "chosen": {"C": 2.0}}, r"search.chosen is {'C': 2.0}, which none of search.trials has"),
        (["search"], {**SEARCH, "trials": [{}]}, r"it has no search.trials\[0\].options"),
        (["search"], {**SEARCH, "trials": [TRIAL | {"loss": "x"}]}, r"search.trials\[0\].loss is 'x' instead"),
        (["search"], {**SEARCH, "trials": [TRIAL, TEXT]}, r"search.trials\[1\].options is {'C': 'x'}, of other kinds"),
        (["guess"], {"accuracy": "x"}, "guess.accuracy is 'x' instead of a rate"),
        (["validation", "epoch"], 1.5, "validation.epoch is 1.5 instead of a whole number"),
        (["versions", "numpy"], 2, "versions.numpy is"),
        (["rows", "test"], 10**15, "labels is too short for 1000000000000000 answers"),
    ],
    ids=str,
)
def test_what_is_no_result_is_told(tmp_path, result, keys, value, words):
    write(tmp_path, "odd.json", changed(result().as_dict(), keys, value))
    with pytest.raises(RunFolderError, match=rf"odd\.json is not the result of a run: ({words})"):
        read_results(tmp_path)


def test_figures_of_several_targets_are_told(tmp_path, result):
    several = result(exact_match=0.5).as_dict()
    target = {"accuracy": 0.5, "majority": 0.5, "balanced_accuracy": 0.5, "macro_f1": 0.5}
    for more, words in (
        ({}, "it has no guess"),
        ({"guess": {"exact_match": "x"}}, "guess.exact_match is 'x'"),
        ({"guess": {"exact_match": 0.5}}, "it has no targets"),
        ({"guess": {"exact_match": 0.5}, "targets": [{"accuracy": 0.5}]}, r"it has no targets\[0\]"),
        ({"guess": {"exact_match": 0.5}, "targets": [target | {"confusion": [[1, 2]]}]}, r"targets\[0\].confusion is"),
    ):
        write(tmp_path, "odd.json", several | more)
        with pytest.raises(RunFolderError, match=words):
            read_results(tmp_path)


def test_one_flipped_bit_of_a_line_is_found(tmp_path, result):
    write_all(tmp_path, [result()])
    (path,) = tmp_path.glob("*.jsonl")
    line = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.choice(len(line) - 1, 60, replace=False):
        flipped = bytearray(line)
        flipped[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        with pytest.raises(RunFolderError, match=re.escape(str(path))):
            read_results(tmp_path)


def test_a_text_with_half_a_character_is_refused(tmp_path, result):
    write(tmp_path, "odd.json", result(device="\udcff"))
    with pytest.raises(RunFolderError, match="half of a character"):
        read_results(tmp_path)


def config_of(result):
    """Return the data of a made-up run's configuration, which is what its file is named after."""
    return Experiment(
        data=TaskData(result.task, result.n, edition=result.edition, split=result.split),
        model=EmbeddingConfig.of("learned"),
        recipe=load_recipe("quick", "schubert-4"),
        seed=result.seed,
    )


def write_all(folder, results):
    for found in results:
        write_result(folder, config_of(found), found)


def test_results_of_a_row_are_lines_of_one_file(tmp_path, result):
    """In an order that does not depend on who came first: by recipe, model and seed."""
    folder = tmp_path / "new" / "results"
    results = [result(embedding=name, seed=seed) for name in ("adelic", "learned") for seed in (0, 2, 10)]
    write_all(folder, results)
    (path,) = folder.iterdir()
    assert path.name == "schubert-4.jsonl"
    assert read_results(folder) == results
    assert path.read_bytes().splitlines() == [found.sealed() for found in results]
    for seed in range(5):
        shuffled = [results[i] for i in np.random.default_rng(seed).permutation(len(results))]
        write_all(tmp_path / str(seed), shuffled)
        assert (tmp_path / str(seed) / "schubert-4.jsonl").read_bytes() == path.read_bytes()


def test_rows_editions_and_splits_are_files(tmp_path, result):
    leaky, orbits = result("weaving-6", edition="leaky"), result("weaving-6", split="orbits")
    write_all(tmp_path, [leaky, orbits, result("schubert-4")])
    names = ["schubert-4.jsonl", "weaving-6-leaky.jsonl", "weaving-6-orbits.jsonl"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert read_results(tmp_path) == [result("schubert-4"), leaky, orbits]


def test_the_same_result_again_changes_nothing(tmp_path, result):
    results = [result(seed=0), result(seed=1)]
    write_all(tmp_path, results)
    path = tmp_path / "schubert-4.jsonl"
    before = path.stat()
    write_all(tmp_path, results[::-1])
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_newer_result_of_a_run_takes_the_place_of_the_older_one(tmp_path, result):
    write_all(tmp_path, [result(seed=0, accuracy=0.5), result(seed=1), result(seed=0, accuracy=0.6)])
    assert read_results(tmp_path) == [result(seed=0, accuracy=0.6), result(seed=1)]


def test_two_forms_of_results_are_read(tmp_path, result):
    write_all(tmp_path, [result(seed=1)])
    write(tmp_path, "old.json", result(seed=0))
    assert [found.seed for found in read_results(tmp_path)] == [0, 1]  # old.json, schubert-4.jsonl
    write(tmp_path, "copy.json", result(seed=1))
    with pytest.raises(RunFolderError, match=r"schubert-4\.jsonl line 1 and .*copy\.json are results of the same run"):
        read_results(tmp_path)


def test_a_run_twice_in_a_file(tmp_path, result):
    line = result().sealed() + b"\n"
    (tmp_path / "schubert-4.jsonl").write_bytes(line * 2)
    with pytest.raises(RunFolderError, match=r"schubert-4\.jsonl line 2 and .*schubert-4\.jsonl line 1 are results of"):
        read_results(tmp_path)


@pytest.mark.parametrize("damage", ["", "{", "{}", "[]", "3", '{"task": "schubert"}', "\xff"], ids=repr)
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_damaged_line_is_named(tmp_path, result, damage, place):
    """A file that was cut, or edited by hand: nothing is read from it, and nothing written over it."""
    lines = [result(seed=seed).sealed() for seed in (0, 1)]
    lines.insert(place - 1, damage.encode("latin-1"))
    path = tmp_path / "schubert-4.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    before = path.read_bytes()
    for call in (lambda: read_results(tmp_path), lambda: write_all(tmp_path, [result(seed=2)])):
        words = rf"schubert-4\.jsonl line {place} is not the result of a run"
        with pytest.raises(RunFolderError, match=words):
            call()
    assert path.read_bytes() == before


def test_results_of_a_folder_that_cannot_be_written(tmp_path, result):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="choose another --results-dir"):
        write_all(tmp_path / "file", [result()])


WRITER = """
import time
from pathlib import Path
from adelic_lab.report.files import write_result
from adelic.data.sources import TaskData
from adelic_lab import EmbeddingConfig, Experiment, load_recipe

recipe = load_recipe("quick", "schubert-4")
config = Experiment(data=TaskData("schubert", 4), model=EmbeddingConfig.of("learned"), recipe=recipe)
Path(f"ready-{part}").touch()
while not Path("go").exists():
    time.sleep(0.001)
for result in results:
    write_result(Path("results"), config, result)
"""


def test_two_processes_that_write_at_once_lose_nothing(tmp_path, result, forked, wait_until):
    results = [result(seed=seed) for seed in range(40)]
    writers = [forked(WRITER, tmp_path, part=part, results=results[part::2]) for part in range(2)]
    for part, writer in enumerate(writers):
        wait_until((tmp_path / f"ready-{part}").exists, writer)
    (tmp_path / "go").touch()
    assert [writer.communicate() for writer in writers] == [("", "")] * 2
    assert [writer.returncode for writer in writers] == [0, 0]
    assert read_results(tmp_path / "results") == results
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["schubert-4.jsonl"]
