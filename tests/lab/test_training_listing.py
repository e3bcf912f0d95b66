import json
import os
import shutil
import time

import pytest

from adelic.errors import Interrupted, RunFolderError
from adelic_lab import find_run, list_runs, read_result, run
from adelic_lab.runs.folders import describe, summary


@pytest.fixture(scope="module")
def trained_runs(raising, tiny_config, tmp_path_factory):
    """A finished run, and one that stopped in an epoch."""
    folder = tmp_path_factory.mktemp("trained") / "runs"
    run(tiny_config("adelic", seed=1), folder / "a", device="cpu")
    with pytest.raises(Interrupted):
        run(tiny_config(seed=2), folder / "b", device="cpu", progress=raising(6))
    return folder


@pytest.fixture
def runs(trained_runs, tmp_path):
    """Those two, a damaged one, and what is not a run, in a folder that is this test's alone."""
    folder = shutil.copytree(trained_runs, tmp_path / "runs", copy_function=shutil.copyfile)
    (folder / "c").mkdir()
    (folder / "c" / "config.toml").write_text("seed = ")
    (folder / "notes").mkdir()
    (folder / "notes" / "todo.txt").write_text("no run")
    (folder / "readme.txt").write_text("no folder")
    return folder


def test_list(runs):
    finished, stopped, damaged = list_runs(runs)
    result = read_result(runs / "a")
    assert (finished.label, finished.state, finished.epoch, finished.epochs) == ("a", "finished", 3, 3)
    about = (finished.row, finished.embedding, finished.recipe)
    assert about == ("schubert-3", "adelic:digits:primes=2,3,5:precision=4", "quick")
    assert (finished.accuracy, finished.history) == (result.test["accuracy"], result.history)
    assert finished.best_validation == result.validation["accuracy"]
    assert finished.size == sum(path.stat().st_size for path in (runs / "a").iterdir())
    assert (stopped.label, stopped.state, stopped.epoch, stopped.step) == ("b", "unfinished", 1, 2)
    assert (stopped.embedding, stopped.configuration["seed"], stopped.accuracy) == ("learned", 2, None)
    assert abs(time.time() - stopped.changed) < 600
    assert (damaged.label, damaged.state, damaged.row, damaged.accuracy) == ("c", "damaged", None, None)
    assert "config.toml is damaged" in damaged.problem
    for found in (finished, stopped, damaged):
        assert json.loads(json.dumps(found.as_dict()))["label"] == found.label


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.toml", None, "config.toml is missing"),
        ("config.toml", b"\xff", "config.toml is damaged"),
        ("config.toml", b"seed = 3", "config.toml is damaged: it has no data"),
        ("config.toml", b'seed = 3\ndata = 3\nembedding = "x"', "config.toml is damaged"),
        ("config.toml", b'seed = "x"\ndata = {task="a",n=3}\nembedding={name="x"}\nrecipe={epochs=3}', "seed is 'x'"),
        ("config.toml", b'seed = 3\ndata = {task="a",n=3}\nembedding={name="x"}', "damaged: it has no recipe"),
        ("metrics.jsonl", b"{", "metrics.jsonl is damaged"),
        ("metrics.jsonl", b"[]\n", "metrics.jsonl is damaged"),
        ("metrics.jsonl", None, "lost lines"),
        ("checkpoint.safetensors", b"{", "truncated or damaged"),
    ],
    ids=str,
)
def test_damage_is_named(runs, name, content, words):
    path = runs / "b" / name
    path.unlink() if content is None else path.write_bytes(content)
    found = summary(runs / "b")
    assert found.state == "damaged"
    assert words in found.problem
    assert "\n" not in found.problem


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["config.toml", "metrics.jsonl", "checkpoint.safetensors"])
def test_a_pipe_in_a_run_is_not_waited_for(runs, name):
    (runs / "b" / name).unlink()
    os.mkfifo(runs / "b" / name)
    found = summary(runs / "b")
    assert (found.state, "it is a pipe or a device, not a file" in found.problem) == ("damaged", True)
    (damaged,) = (run for run in list_runs(runs) if run.label == "b")
    assert damaged.problem == found.problem


@pytest.mark.skipif(os.name == "nt", reason="folders have no such modes")
@pytest.mark.parametrize("mode", [0, 0o444, 0o111])
def test_a_folder_that_may_not_be_read_hides_no_other(runs, as_another_user, mode):
    (runs / "a").chmod(mode)

    def work():
        closed, *others = list_runs(runs)
        assert (closed.label, closed.state, closed.size) == ("a", "damaged", 0)
        assert closed.problem == f"cannot read {runs / 'a'}: Permission denied; see whether you may read there"
        assert [run.label for run in others] == ["b", "c"]
        assert find_run("a", runs) == closed

    try:
        assert as_another_user(work) == 0
    finally:
        (runs / "a").chmod(0o755)


def test_a_line_too_many_is_not_counted(runs):
    """A kill between the two writes of an epoch leaves one; resuming cuts it off."""
    path = runs / "b" / "metrics.jsonl"
    line = json.loads(path.read_text())
    path.write_text(path.read_text() + json.dumps(line | {"epoch": 2}) + "\n")
    found = summary(runs / "b")
    assert (found.state, len(found.metrics)) == ("unfinished", 1)


def test_a_run_whose_folder_is_deleted_has_its_configuration_in_the_end(tiny_config, tmp_path):
    def delete(done, total, text):
        if done == 1:
            shutil.rmtree(tmp_path / "run")

    config = tiny_config()
    result = run(config, tmp_path / "run", device="cpu", progress=delete)
    assert run(config, tmp_path / "run", device="cpu") == result
    assert summary(tmp_path / "run").state == "finished"


def test_a_run_does_not_finish_in_the_folder_of_another(tiny_config, tmp_path):
    config, other = tiny_config(), tiny_config(seed=9)

    def replace(done, total, text):
        if done == 1:
            shutil.rmtree(tmp_path / "run")
            describe(other, tmp_path / "run")

    with pytest.raises(RunFolderError, match="holds a run of another configuration: seed is 9"):
        run(config, tmp_path / "run", device="cpu", progress=replace)
    assert not (tmp_path / "run" / "DONE").exists()
