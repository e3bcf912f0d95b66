"""A queue of commands, experiments/run_queue.py."""

import json
from pathlib import Path

import pytest

from adelic.data.sources import TaskData
from adelic.errors import ConfigurationError
from adelic.storage.files import sole_user

ROOT = Path(__file__).parents[2]
SCRIPT = "run_queue"
RUN = "adelic reproduce schubert-4 --embeddings learned --recipe quick --epochs 1 --max-rows 64 --n-layers 1"


@pytest.fixture
def queue(folder):
    """Write a queue; return its path."""

    def write(*lines):
        path = folder / "queue.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


PROGRAM = """
import runpy, sys
sys.argv, sys.path[:0] = words, [scripts]
runpy.run_path(words[0], run_name="__main__")
"""


@pytest.fixture
def carried_out(folder, queue, forked):
    """Carry out a queue in a process of its own, whose priority it lowers for good; return what it prints."""

    def call(*lines, options=()):
        scripts = ROOT / "experiments"
        words = [str(scripts / "run_queue.py"), str(queue(*lines)), *options]
        process = forked(PROGRAM, folder, words=words, scripts=str(scripts))
        out, err = process.communicate()
        assert process.returncode == 0, err
        return out

    return call


def seeds(path):
    return [json.loads(line)["seed"] for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_every_command_is_carried_out_once(carried_out, folder):
    lines = ["# first", "", f"{RUN} --seeds 1  # worth more", f"{RUN} --seeds 0-1 --results-dir elsewhere"]
    out = carried_out(*lines).splitlines()
    assert [line.split(":")[0] for line in out if "done" in line] == ["1 of 1 done", "2 of 2 done"]
    assert (seeds("results/schubert-4.jsonl"), seeds("elsewhere/schubert-4.jsonl")) == ([1], [0, 1])
    runs = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/result.json")}
    assert len(runs) == 2  # the run of both lines is trained once
    for path in runs:
        path.parent.rename(folder / path.parent.name)
    again = carried_out(*lines).splitlines()
    assert all("done: " in line for line in again)  # no command is begun that has nothing left to do
    assert not list(folder.glob("runs/*"))  # results are enough: no run folder is asked for


def test_a_budget_that_is_used_up(carried_out, folder):
    out = carried_out(f"{RUN} --epochs 100000 --seeds 0", f"{RUN} --seeds 1", options=["--budget", "1s"])
    assert [line.split(",")[0] for line in out.splitlines() if "done" in line] == ["0 of 1 done"] * 2
    assert f"{RUN} --seeds 1" not in out.splitlines()  # it is not begun
    assert not list(folder.rglob("DONE"))


def test_a_run_that_another_process_has_is_left_to_it(script, carried_out, folder, queue):
    line = f"{RUN} --seeds 0-1"
    held, _ = script.read_queue(queue(line))[0].runs
    with sole_user(folder / "runs" / held.label):
        out = carried_out(line)
    assert "1 of 2 done" in out
    assert seeds("results/schubert-4.jsonl") == [1]


def test_what_is_left_is_said_and_nothing_trained(script, capsys, folder, queue):
    arithmetic = "adelic reproduce arithmetic addition --quick --seeds 0"
    script.main(queue(f"{RUN} --seeds 0-2", arithmetic), dry_run=True)
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("0 of 3 done, about ")
    assert out[0].endswith(f" FLOPs left: {RUN} --seeds 0-2")
    assert out[1].endswith(f" done: {arithmetic}")
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("adelic tune schubert", "'adelic tune schubert' does not begin with 'adelic reproduce'"),
        (f"{RUN} --seeds many", "'many'"),
        (f"{RUN} --colour red", "--colour"),
        (f"{RUN} --workers 2", "--workers does not belong into a queue, which says it for all lines"),
        (f"{RUN} --runs-dir here", "--runs-dir does not belong"),
        ("adelic reproduce arithmetic --report here", "--report does not belong"),
        ("adelic reproduce schubert-5000", "schubert-5000"),
        ("adelic reproduce 'schubert-4", "No closing quotation"),
    ],
)
def test_what_is_no_command_for_a_queue(script, folder, queue, line, message):
    with pytest.raises(ConfigurationError) as caught:
        script.main(queue(RUN, line), dry_run=True)
    said = str(caught.value)
    assert f"queue.txt line 2: {message}" in said or ("line 2: " in said and message in said)
    assert not (folder / "runs").exists()


def test_files_that_cannot_be_read(script, folder):
    with pytest.raises(ConfigurationError, match="there is no file nowhere"):
        script.read_queue(Path("nowhere"))
    (folder / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="bytes line 1: "):
        script.read_queue(Path("bytes"))


def test_the_committed_queue(script, monkeypatch):
    """Each line can be run; those of an ablation change one thing of its first run each, no line two."""
    monkeypatch.chdir(ROOT)
    lines = script.read_queue(Path("experiments/queue.txt"))
    assert lines
    ablation = [run for line in lines if line.results.name == "ablation" for run in line.runs if run.seed == 3]
    rows = {run.data: [other for other in ablation if other.data == run.data] for run in ablation}
    assert set(rows) == {TaskData("schubert", 4, split="orbits"), TaskData("mheight", 8)}
    for base, *others in rows.values():
        assert len({run.label for run in (base, *others)}) == len(others) + 1
        for run in others:
            recipe, plain = (each.recipe.as_dict() for each in (run, base))
            changed = {key for key in recipe | plain if recipe.get(key) != plain.get(key)}
            assert len(changed) + (run.embedding != base.embedding) == 1


@pytest.mark.parametrize(
    ("line", "tasks", "results"),
    [
        ("adelic reproduce columns weekday --seeds 0", {"weekday"}, "results/columns"),
        ("adelic reproduce columns --quick", {"sum-residue", "weekday", "magnitude"}, "results/columns-quick"),
        ("adelic reproduce number-theory conic --seeds 0", {"conic"}, "results/number-theory"),
    ],
)
def test_benchmarks_of_drawn_tasks_have_a_place_in_a_queue(script, queue, line, tasks, results):
    (read,) = script.read_queue(queue(line))
    assert {run.questions.task for run in read.runs} == tasks
    assert {run.seed for run in read.runs} == {0}
    assert str(read.results) == results
