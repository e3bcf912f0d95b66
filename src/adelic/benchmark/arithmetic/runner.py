"""Running a plan: every cell once, in worker processes, each result a file."""

import json
import os
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adelic.benchmark.arithmetic.crew import Crew
from adelic.benchmark.arithmetic.plans import Cell, Plan
from adelic.benchmark.arithmetic.problems import Answers, Operands, problem
from adelic.benchmark.arithmetic.solvers import Solver, solver_class
from adelic.benchmark.engines import Budget
from adelic.errors import AdelicError, ConfigurationError, Interrupted, RunFolderError
from adelic.storage.files import atomic_write, read_bytes
from adelic.storage.provenance import machine, source_commit, versions
from adelic.storage.records import DamagedTextError, parse_sealed
from adelic.storage.workers import check_workers
from adelic.training.kinds import AMOUNT, COUNT, TABLE, TEXT, check_all
from adelic.training.signals import deferred_signals

Result = dict[str, Any]
OnProgress = Callable[[int, int, float, float, str], None]

_SCORE = {"cases": COUNT, "correct": COUNT, "unanswered": COUNT}
SCHEMA: dict[str, Any] = {
    "test": _SCORE,
    "never_seen": TABLE,
    "parameters": COUNT,
    "seconds": AMOUNT,
    "training_seconds": AMOUNT,
    "configuration": {"problem": TEXT, "solver": TEXT, "examples": COUNT, "seed": COUNT, "steps": COUNT},
    "device": TEXT,
    "versions": TABLE,
    "commit": TEXT.or_null(),
    "command": TEXT,
}
"""What the result of a cell has at least; `never_seen` has a score for each split."""
_BATCH = 10_000
_POLL = 0.2
_GUESS = 0.01  # seconds a step, where nothing has been measured yet


def run_cell(cell: Cell) -> Result:
    """Train and test one solver on one problem.

    The questions depend on the problem, the seed and the number of examples alone: all solvers have the same ones.

    Args:
        cell: what to run.

    Returns:
        The scores on the test split and on each split never seen (number of cases, of those answered right and of those
        without an answer), the number of parameters and the seconds.

    Raises:
        UnknownNameError: there is no such problem or solver.
        ConfigurationError: the problem has too few different questions, or the solver's answers have another shape.

    >>> import sys, types
    >>> from adelic.benchmark.arithmetic.solvers import Solver
    >>> class Sum(Solver):
    ...     n_parameters = 0
    ...     def fit(self, problem, operands, answers, *, seed, steps, tick=None): pass
    ...     def answer(self, operands): return operands.sum(axis=1).astype(object)
    >>> sys.modules["mine"] = types.SimpleNamespace(Sum=Sum)
    >>> cell = Cell(problem="addition", solver="mine:Sum", examples=5, seed=0, steps=1, confirmation_cases=20_000)
    >>> result = run_cell(cell)
    >>> result["test"]
    {'cases': 20000, 'correct': 20000, 'unanswered': 0}
    >>> result["never_seen"]
    {'longer': {'cases': 2000, 'correct': 2000, 'unanswered': 0}}
    """
    began = time.perf_counter()
    asked = problem(cell.problem)
    solver = solver_class(cell.solver)()

    def rng(stream: int) -> np.random.Generator:
        return np.random.default_rng([zlib.crc32(asked.name.encode()), cell.seed, cell.examples, stream])

    operands, answers = asked.sample(cell.examples, rng(0))
    solver.fit(asked, operands, answers, seed=cell.seed, steps=cell.steps)
    trained = time.perf_counter()
    draw = partial(asked.sample, rng=rng(1), split="test", exclude=operands)
    test = score(solver, *draw(cell.test_cases))
    more = cell.confirmation_cases - cell.test_cases
    if test["correct"] == test["cases"] and more > 0:
        further = score(solver, *draw(more))
        test = {key: test[key] + further[key] for key in test}
    never_seen = {
        split: score(solver, *asked.sample(cell.never_seen_cases, rng(2 + i), split, exclude=operands))
        for i, split in enumerate(asked.never_seen)
    }
    return {
        "test": test,
        "never_seen": never_seen,
        "parameters": int(solver.n_parameters),
        "seconds": time.perf_counter() - began,
        "training_seconds": trained - began,
    }


def score(solver: Solver, operands: Operands, answers: Answers) -> dict[str, int]:
    """Return the number of cases, of exact answers, and of cases that the solver has no answer for."""
    correct = unanswered = 0
    for start in range(0, len(answers), _BATCH):
        wanted = answers[start : start + _BATCH]
        given = solver.answer(operands[start : start + _BATCH])
        if given.shape != wanted.shape:
            raise ConfigurationError(f"{type(solver).__name__} gave answers of shape {given.shape}, not {wanted.shape}")
        unanswered += sum(a is None for a in given)
        correct += sum(a is not None and bool(a == b) for a, b in zip(given, wanted, strict=True))
    return {"cases": len(answers), "correct": correct, "unanswered": unanswered}


def read_cell(cell: Cell, results: Path) -> Result | None:
    """Return the result of a cell, None where there is none.

    Raises:
        RunFolderError: the file is damaged.
        StorageError: it cannot be read.

    >>> cell = Cell(problem="addition", solver="fone", examples=300, seed=0, steps=800)
    >>> read_cell(cell, Path("no results")) is None
    True
    """
    path = results / f"{cell.label}.json"
    content = read_bytes(path)
    if content is None:
        return None
    try:
        found = parse_sealed(content, older_end="data_sha256")
        check_all(found, SCHEMA)
    except (DamagedTextError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RunFolderError(f"{path} is no result of a run: {reason}") from None
    return found


def run_plan(
    plan: Plan,
    results: Path,
    *,
    workers: int | None = None,
    budget: Budget | None = None,
    on_progress: OnProgress | None = None,
    resume_command: str = "adelic reproduce arithmetic",
) -> dict[Cell, AdelicError]:
    """Run the cells of a plan that have no result yet, the longest first; write each result as it is there.

    A cell is skipped where its solver cannot express the problem, and after an error in a cell with the same problem
    and solver. Ctrl-C and SIGTERM end the work at once; only the cells under way are lost.

    Args:
        plan: what to run.
        results: folder of the result files, one JSON object a cell.
        workers: how many processes, each of one thread; by default as many as there are cores.
        budget: the time by which to stop.
        on_progress: called several times a second with (cells done, cells in all, core-seconds done, those expected in
            all, text).
        resume_command: what a stopped run tells its user to go on with.

    Returns:
        The cells that failed, with their errors. After a spent budget, cells may also be just missing.

    Raises:
        Interrupted: a signal asked to stop; what was finished is saved.
        ConfigurationError: there are too many or too few workers, or a solver cannot be imported.
        RunFolderError: a result's file is damaged.
        StorageError: a file cannot be written.

    >>> run_plan(Plan(cells=()), Path("results"))
    {}
    """
    crew_size = check_workers(_cores() if workers is None else workers)
    clock, waiting = Clock(), []
    for cell in plan.cells:
        found = read_cell(cell, results)
        if found is not None:
            clock.learn(cell, found["seconds"])
        elif not solver_class(cell.solver).obstacle(problem(cell.problem)):
            waiting.append(cell)
    n_cells, n_done, spent = len(waiting), 0, 0.0
    failed: dict[Cell, AdelicError] = {}
    common = {"device": machine(), "versions": versions("torch", "numpy"), "commit": source_commit()}
    with deferred_signals() as request, Crew(run_cell, crew_size) as crew:
        while waiting or crew.tasks:
            waiting.sort(key=clock.expect)
            while waiting and crew.has_room:
                crew.start(waiting.pop())
            for cell, outcome in crew.finished(_POLL):
                if isinstance(outcome, AdelicError):
                    failed[cell] = outcome
                    alike = {c for c in waiting if (c.problem, c.solver) == (cell.problem, cell.solver)}
                    waiting = [c for c in waiting if c not in alike]
                    n_cells -= len(alike)
                    continue
                n_done += 1
                spent += outcome["seconds"]
                clock.learn(cell, outcome["seconds"])
                result = (
                    asdict(cell) | outcome | common | {"command": plan.command(cell), "configuration": asdict(cell)}
                )
                atomic_write(results / f"{cell.label}.json", json.dumps(result, indent=2) + "\n")
            if on_progress and n_cells:
                expected = sum(map(clock.expect, [*waiting, *crew.tasks]))
                on_progress(n_done, n_cells, spent, spent + expected, ", ".join(map(str, crew.tasks[:1])))
            if request.signum is not None:
                raise Interrupted(
                    request.signum, f"stopped with {n_done} of {n_cells} cells done; go on with: {resume_command}"
                )
            if budget is not None and budget.spent:
                break
    return failed


class Clock:
    """How long cells take, from those that were run.

    >>> clock = Clock()
    >>> cell = Cell(problem="addition", solver="fone", examples=300, seed=0, steps=800)
    >>> clock.learn(cell, 4.0)
    >>> clock.expect(Cell(problem="addition", solver="fone", examples=300, seed=1, steps=800))
    4.0
    >>> clock.expect(Cell(problem="sum", solver="fone", examples=300, seed=1, steps=1600))
    8.0
    """

    def __init__(self) -> None:
        self._alike: dict[tuple[Any, ...], list[float]] = {}
        self._per_step: dict[str, list[float]] = {}

    def learn(self, cell: Cell, seconds: float) -> None:
        """Take note of a cell's seconds."""
        self._alike.setdefault(self._kind(cell), []).append(seconds)
        self._per_step.setdefault(cell.solver, []).append(seconds / cell.steps)

    def expect(self, cell: Cell) -> float:
        """Return the mean seconds of cells that differ in the seed alone, or else what its solver's steps take."""
        alike = self._alike.get(self._kind(cell))
        return float(np.mean(alike) if alike else cell.steps * np.mean(self._per_step.get(cell.solver, [_GUESS])))

    @staticmethod
    def _kind(cell: Cell) -> tuple[Any, ...]:
        return cell.problem, cell.solver, cell.examples, cell.steps


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
