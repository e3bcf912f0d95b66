"""Plans, runs of drawn tasks, workers, resuming, tables and figures, with a solver that learns: least squares."""

import os
import re
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import psutil
import pytest

from adelic.data import DrawnData, TaskData
from adelic.errors import ConfigurationError, WorkerError
from adelic_lab import Experiment, SolverConfig, Steps, list_runs, outstanding, run, run_distributed, run_matrix
from adelic_lab.plans import choose, experiments, gather, read_plan, write_report
from adelic_lab.report.arithmetic import show
from adelic_lab.report.files import finished
from adelic_lab.runs.engines import EmbeddedEngine, Execution, WorkersEngine

# Worker processes import it, so it is a module and not a part of this one.
SOLVERS = '''
import glob
import os
import signal
import time

import numpy as np

from adelic_lab.models.solvers import Solver


class Linear(Solver):
    """Least squares in float64, rounded; no answer where that has no meaning."""

    @classmethod
    def obstacle(cls, problem):
        return None if problem.operands_are_integers else "least squares knows no fractions"

    def fit(self, problem, operands, answers, *, seed, steps, progress=None):
        self.weights = np.linalg.lstsq(self.columns(operands), answers.astype(float), rcond=None)[0]

    def answer(self, operands):
        found = (self.columns(operands) @ self.weights).tolist()
        return np.array([round(value) if value >= 0 else None for value in found], dtype=object)

    def columns(self, operands):
        return np.column_stack([operands.astype(float), np.ones(len(operands))])

    @property
    def n_parameters(self):
        return len(self.weights)


class Slow(Linear):
    def fit(self, problem, operands, answers, *, seed, steps, progress=None):
        if seed:
            open(f"worker-{os.getpid()}", "w").close()
            time.sleep(3600)
        super().fit(problem, operands, answers, seed=seed, steps=steps)


class Failing(Linear):
    def answer(self, operands):
        raise ValueError("the\\nsolver is tired")


class Shapeless(Linear):
    def answer(self, operands):
        return super().answer(operands)[:, None]


class Always(Linear):
    def answer(self, operands):
        return np.full(len(operands), 1, dtype=object)


class Killed(Linear):
    def fit(self, problem, operands, answers, *, seed, steps, progress=None):
        super().fit(problem, operands, answers, seed=seed, steps=steps)
        while not glob.glob("results/*.jsonl"):  # the run beside it ends first
            time.sleep(0.01)
        with open("times", "a") as file:
            file.write("x")
        if os.path.getsize("times") < 4:
            os.kill(os.getpid(), signal.SIGKILL)
'''
PLAN = """
seeds = 2
data = { test_cases = 200, confirmation_cases = 500, never_seen_cases = 100 }
steps.default = {1 = 10, 50 = 20}

[[part]]
tasks = ["addition", "subtraction", "multiplication"]
solvers = ["own_solvers:Linear"]
examples = [10, 50]

[[part]]
tasks = ["fraction-addition"]
solvers = ["own_solvers:Linear"]
examples = [50]
"""

SLOW_PLAN = PLAN.replace("Linear", "Slow").replace('"addition", "subtraction", "multiplication"', '"addition"')
STOPPED = Path("results", "arithmetic-plan")
forks = pytest.mark.usefixtures("forked_workers")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with solvers that can be imported from it, and a plan."""
    (tmp_path / "own_solvers.py").write_text(SOLVERS)
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_solvers", raising=False)
    return tmp_path


def experiment(solver="Linear", problem="addition", *, seed=0, steps=10, examples=10, **cases):
    plain = {"test_cases": 200, "confirmation_cases": 500, "never_seen_cases": 100}
    return Experiment(
        data=DrawnData(problem, examples, **plain | cases),
        model=SolverConfig(name=f"own_solvers:{solver}"),
        recipe=Steps(steps=steps),
        seed=seed,
    )


def asked(experiment):
    """Return the result of an experiment in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return run(experiment, Path(folder, "run"), device="cpu")


def run_all(experiments, *, workers=1, results=Path("results"), on_run=lambda *_: nullcontext(), **budget):
    """Run what has no result yet, and return how many runs are left."""
    where = {"runs": Path("runs"), "results": results, "device": "cpu"}
    run_matrix(experiments, **where, engine=WorkersEngine(workers), on_run=on_run, **budget)
    return len(outstanding(experiments, results))


def lines(results=Path("results")):
    """Return the lines of all result files."""
    return {line for path in results.glob("*.jsonl") for line in path.read_bytes().splitlines()}


PLANS = sorted((Path(__file__).parents[3] / "experiments").glob("arithmetic_*.toml"))


@pytest.mark.parametrize("plan", ["quick", "full", *PLANS], ids=lambda plan: Path(plan).stem)
def test_steps_never_fall_as_examples_rise(plan):
    curves = {}
    for entry in experiments(read_plan(plan, "arithmetic")):
        curves.setdefault((entry.data.task, entry.model.name), set()).add((entry.data.examples, entry.steps.steps))
    assert PLANS
    for points in curves.values():
        steps = [count for _, count in sorted(points)]
        assert steps == sorted(steps)


def test_a_plan_of_ones_own():
    plan = read_plan("plan.toml")
    assert len(experiments(plan)) == (3 * 2 + 1) * 2
    assert {(e.data.examples, e.steps.steps) for e in experiments(plan)} == {(10, 10), (50, 20)}
    (chosen,) = experiments(choose(plan, tasks=["addition"], examples=[50], seeds=[1]))
    assert (chosen.row, chosen.seed) == ("addition-50", 1)
    assert chosen.command() == (
        "adelic train addition --examples 50 --test-cases 200 --confirmation-cases 500 --never-seen-cases 100 "
        "--solver own_solvers:Linear --steps 20 --seed 1"
    )


def counts(figures):
    return tuple(figures[name] for name in ("cases", "correct", "unanswered"))


def test_answers_are_judged_exactly():
    right = asked(experiment())
    assert counts(right.test) == (500, 500, 0)
    assert {split: counts(figures) for split, figures in right.never_seen.items()} == {"longer": (100, 100, 0)}
    assert (right.parameters, right.test["accuracy"], right.predicts_one_class) == (3, 1.0, False)
    half = asked(experiment(problem="subtraction"))  # this solver has no negative answers
    assert counts(half.test)[0] == 200
    assert half.test["correct"] + half.test["unanswered"] == 200
    assert 50 < half.test["correct"] < 150
    assert asked(experiment(problem="multiplication")).test["correct"] == 0


def test_trivial_rules_stand_beside_the_figures():
    e = experiment("Always", problem="comparison", examples=50)
    result = asked(e)
    operands, answers = e.data.questions(0)
    frequent = max(sorted(set(answers)), key=answers.tolist().count)
    tests = np.concatenate([wanted for _, wanted in e.data.tests(0, operands)][:1])
    assert result.majority == result.lookup == pytest.approx(np.mean(tests == frequent))
    assert result.predicts_one_class
    assert result.rows == {"train": 50, "validation": 0, "test": 200}


def test_questions_are_the_same_for_every_solver_and_none_is_trained_on():
    data = experiment(problem="comparison", examples=300).data
    operands, _ = data.questions(7)
    trained = set(map(tuple, operands.tolist()))
    for split in (data.tests(7, operands), (parts[1:] for parts in data.never_seen(7, operands))):
        for questions, _ in split:
            assert not trained & set(map(tuple, questions.tolist()))
    assert (data.questions(7)[0] == operands).all()
    assert not np.array_equal(data.questions(8)[0], operands)


@forks
def test_a_plan_is_run_once_and_resumed():
    plan, seen = experiments(read_plan("plan.toml")), []

    @contextmanager
    def show(index, count, one):
        seen.append((index, count, one))
        yield

    assert run_all(plan, on_run=show) == 0
    before = lines()
    assert len(before) == 12  # not those that cannot be expressed
    assert [state[:2] for state in seen] == [(i, 12) for i in range(12)]
    result = finished(plan, Path("results"))[plan[0]]
    assert result.command == plan[0].command()
    assert result.versions.keys() == {"adelic", "python", "torch", "numpy"}
    assert (result.task, result.n, result.seed) == ("addition", 10, 0)
    assert run_all(plan) == 0
    assert lines() == before
    path = Path("results", "addition-10.jsonl")
    content = path.read_bytes()
    path.write_bytes(content.splitlines(keepends=True)[0])
    seen.clear()
    assert run_all(plan, on_run=show) == 0  # from its run folder
    assert len(seen) == 1
    assert path.read_bytes() == content
    assert {r.state for r in list_runs(Path("runs"))} == {"finished"}
    assert {r.row for r in list_runs(Path("runs"))} >= {"addition-10", "multiplication-50"}


TIRED = r"own_solvers:Failing: ValueError: the solver is tired \(own_solvers.py:\d+\)"


@pytest.mark.parametrize(
    ("solver", "words", "engine"),
    [
        ("Failing", TIRED, EmbeddedEngine()),
        ("Failing", TIRED, WorkersEngine(1)),
        ("Shapeless", r"own_solvers:Shapeless gave answers of shape \(200, 1\), not \(200,\)", EmbeddedEngine()),
    ],
    ids=["here", "in a worker", "shape"],
)
def test_failing_solvers_are_told_in_a_line(solver, words, engine):
    how = Execution(runs=Path("runs"), device="cpu")
    with pytest.raises((WorkerError, ConfigurationError), match=f"^{words}$"):
        list(engine.execute([experiment(solver)], how, lambda *_: nullcontext()))


def test_what_a_solver_cannot_express_is_said():
    with pytest.raises(ConfigurationError, match="cannot express fraction-addition: least squares knows no fractions"):
        asked(experiment(problem="fraction-addition"))


@forks
def test_a_process_that_is_ended_is_begun_once_more_alone():
    """The others are finished; the one that is lost twice is named."""
    others = [experiment(seed=seed) for seed in range(2)]
    killed = experiment("Killed")
    with pytest.raises(WorkerError, match=f"the process of the run {killed.label} was ended from outside twice"):
        run_all([others[0], killed, *others[1:]], workers=2)
    assert Path("times").read_text() == "xx"
    assert len(lines()) >= 1
    Path("times").write_text("xxx")  # now it lives
    assert run_all([*others, killed]) == 0
    assert len(lines()) == 3


@pytest.mark.long
@forks
def test_networks_are_trained_in_workers_too(tiny_config, tmp_path):
    configs, found = [tiny_config(seed=seed) for seed in (0, 1)], {}
    for workers in (1, 2):
        where = {"runs": tmp_path / f"runs-{workers}", "results": tmp_path / f"results-{workers}", "device": "cpu"}
        found[workers] = run_matrix(configs, **where, engine=WorkersEngine(workers), on_run=lambda *_: nullcontext())
    assert [result.test for result in found[1]] == [result.test for result in found[2]]


def test_solvers_and_data_belong_together():
    e = experiment()
    with pytest.raises(
        ConfigurationError, match="schubert-4 has stored examples, which own_solvers:Linear does not learn"
    ):
        replace(e, data=TaskData("schubert", 4))
    with pytest.raises(ConfigurationError, match="own_solvers:Linear is trained by one process; leave out --devices"):
        run_distributed(e, Path("run"), devices=2, device="cpu")


def finish(folder, before):
    """Run what is left, by the same solver in less of a hurry to sleep; what there was is not run again."""
    (folder / "own_solvers.py").write_text(SOLVERS.replace("time.sleep(3600)", "pass"))
    left = run_all(experiments(read_plan("plan.toml")), results=STOPPED)
    after = lines(STOPPED)
    assert (left, len(after)) == (0, 4)
    assert before <= after


@forks
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_a_stopped_command_says_how_to_go_on(folder, adelic, wait_until):
    """Ctrl-C takes the same way, and costs ten seconds."""
    (folder / "plan.toml").write_text(SLOW_PLAN)
    workers = []

    def stop():
        pids = wait_until(lambda: lines(STOPPED) and [path.name[7:] for path in folder.glob("worker-*")])
        workers.extend(psutil.Process(int(pid)) for pid in pids)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=stop)
    thread.start()
    outcome = adelic("reproduce", "arithmetic", "--plan", "plan.toml", "--workers", "2")
    thread.join()
    assert (outcome.status, outcome.out) == (128 + signal.SIGTERM, "")
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("adelic: ")]
    words = "adelic: stopped by SIGTERM with [1-3] of 4 runs done; the same command goes on from there"
    assert re.fullmatch(words, line)
    assert workers
    assert psutil.wait_procs(workers, timeout=600)[1] == []  # though they meant to sleep for an hour
    finish(folder, lines(STOPPED))


@forks  # for `finish`
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_a_killed_command_goes_on(folder, forked, wait_until):
    (folder / "plan.toml").write_text(SLOW_PLAN)
    code = """
import sys
from joblib.externals.loky.backend import context
from adelic.cli import main

sys.path.insert(0, ".")
context.set_start_method("fork")  # so that its workers, too, have imported PyTorch
main(words)
"""
    process = forked(code, folder, words=["reproduce", "arithmetic", "--plan", "plan.toml", "--workers", "2"])
    before = wait_until(lambda: lines(STOPPED), process)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    assert psutil.wait_procs(workers, timeout=600)[1] == []  # though they meant to sleep for an hour
    assert lines(STOPPED) >= before
    finish(folder, lines(STOPPED))


@forks
def test_the_command_writes_the_report(folder, adelic):
    page = folder / "results" / "arithmetic-plan" / "report.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Page\n\n<!-- table: arithmetic -->\nold\n<!-- end of table -->\n\nThe end.\n")
    done = adelic("reproduce", "arithmetic", "--plan", "plan.toml")
    assert done.status == 0, done.out
    report = folder / "results" / "arithmetic-plan" / "report"
    start, table, end = re.split("<!-- .* -->\n", page.read_text(encoding="utf-8"))
    assert (start, end) == ("# Page\n\n", "\nThe end.\n")
    assert not (report / "table.md").exists()  # the page has it
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    assert rows[0] == ["problem", "examples", "own_solvers:Linear"]
    assert ["a + b, 6 digits", "10", "**100**"] in rows
    assert ["a · b, 6 digits", "50", "0"] in rows
    assert ["a + b, 9 to 10 digits", "**100**"] in rows
    assert ["a/b + c/d, 3 digits over 1 to 10", "50", "—"] in rows
    assert "own_solvers:Linear: least squares knows no fractions (fraction-addition)" in table
    (subtraction,) = [row[2] for row in rows if row[:2] == ["a − b, 6 digits", "50"]]
    assert re.fullmatch(r"\d\d\.\d \[\d+\.\d, \d+\.\d\]", subtraction)  # of two seeds the range
    for name in ("accuracy.svg", "never-seen.svg"):
        words = " ".join(ElementTree.parse(report / name).getroot().itertext())
        assert "own_solvers:Linear" in words
        assert "a + b" in words


@forks
def test_what_was_not_run_is_said_to_be_so(folder):
    plan = read_plan("plan.toml")
    assert show(gather(plan, Path("results"))).text == "not run"
    run_all(experiments(choose(plan, tasks=["addition"], examples=[10], seeds=[1])))
    table = show(gather(plan, Path("results"))).text
    assert "| a + b, 6 digits | 10 | **100** (1 of 2 seeds) |" in table
    assert "| a · b, 6 digits | 10 | not run |" in table
    # Of questions unlike training the series that was run counts, though one with more examples is planned.
    assert "| a + b, 9 to 10 digits | **100** (1 of 2 seeds) |" in table
    assert "| a · b, 9 digits | not run |" in table


def test_a_page_without_marks_is_left_alone(folder):
    (folder / "report.md").write_text("no marks")
    with pytest.raises(ConfigurationError, match=r"report.md needs one place for the table"):
        write_report(show, [], Path("results"), folder / "report")
    assert not (folder / "report").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["adition"], "did you mean 'addition'"),
        (["--solvers", "fon"], "did you mean 'fone'"),
        (["--plan", "other.toml"], "there is no plan 'other.toml'"),
        (["--plan", "plan.toml", "--workers", "0"], "--workers 0 must be"),
        (["--plan", "plan.toml", "--quick"], "give one"),
        (["--solvers", "nowhere:Solver", "sum"], "No module named 'nowhere'"),
        (["--solvers", "own_solvers:time", "sum"], "is not a subclass of"),
        (["--seeds", "9"], "no run"),
    ],
)
def test_errors_are_one_line(refused, arguments, words):
    assert words in refused("reproduce", "arithmetic", *arguments)
    assert not Path("results").exists()
