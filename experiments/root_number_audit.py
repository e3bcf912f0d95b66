"""What the solver of equations modulo 2 knows of root numbers, and what would be left without its parts.

    python experiments/root_number_audit.py           # 20,000 examples, in a minute
    python experiments/root_number_audit.py --full    # minutes on one core

For the questions of `adelic reproduce number-theory root-number` with 200,000 examples and seed 0 this counts, of each
split,

- how many questions have only classes that examples have, and how many of these and of the others are right;
- how many have, at all places together, the classes of one example, so that a table of such rows would know them;

and for each modulus that units are told by how many bits there are and how many examples hold together before one
contradicts; and how many answers are right without the discriminant, and from examples whose signs are drawn.

Writes experiments/results/root_number_audit.json, whose figures stand in docs/number-theory/root-number.md.
"""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import common
import numpy as np
import numpy.typing as npt
from experiments.solvers.parity import Parity, local_classes, local_parts

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.data.lookup import RowIndex
from adelic.data.sources import DrawnData
from adelic_lab.plans import read_plan


def main(*, examples: common.Positive = 20_000, full: bool = False, output: Path | None = None) -> None:
    """Draw the questions of seed 0, and write what is counted.

    Args:
        examples: without --full.
        full: as many examples as the benchmark has, in minutes.
        output: file of the results.
    """
    series = [one for one in read_plan("full", "number-theory") if one.task == "root-number"]
    first = next(one for one in series if one.model == "experiments.solvers.parity:Parity")
    questions = first.experiments[0].questions
    questions = questions if full else replace(questions, examples=examples)
    common.say(f"{questions.examples:,} examples: drawing, then solving three times")
    found = {"seed": 0, "examples": questions.examples, **counted(questions)}
    common.write("root_number_audit.json", ("adelic", "numpy", "numba", "cypari"), found, output, full=full)


def counted(questions: DrawnData, seed: int = 0) -> dict[str, Any]:
    """Return what is counted of a task's questions."""
    task = questions.drawn
    operands, answers, splits = common.drawn_splits(questions, seed)
    drawn = np.random.default_rng(seed).integers(0, 2, len(answers))
    solver = fitted(task, operands, answers)
    return {
        "moduli": tried(solver),
        "splits": {name: of_split(solver, operands, X, y, task) for name, (X, y) in splits.items()},
        "without_discriminant": compared(replace(task, invariants=None), operands, answers, splits),
        "drawn_signs": compared(task, operands, drawn, splits),
    }


def fitted(task: SampledTask, operands: Operands, answers: Answers) -> Parity:
    """Return the solver after examples, which need not hold together."""
    solver = Parity()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the examples contradict each other
        solver.fit(task, operands, answers, seed=0, steps=1)
    return solver


def tried(solver: Parity) -> dict[str, dict[str, int]]:
    """Return of each modulus how many bits there are, and how many examples hold before one contradicts."""
    return {str(modulus): {"bits": bits, "hold": hold} for modulus, (bits, hold) in solver.tried.items()}


def of_split(
    solver: Parity, trained_on: Operands, asked: Operands, answers: Answers, task: SampledTask
) -> dict[str, float | int]:
    """Return how many questions are right, known, and remembered."""
    right, known = solver.answer(asked) == answers, solver.is_known(asked)
    everywhere = RowIndex(joined(trained_on, task, solver.modulus)).find(joined(asked, task, solver.modulus)) >= 0
    counts = {"right": right, "known": known, "right_of_known": right & known}
    counts["with_all_classes_of_an_example"] = everywhere
    return {"questions": len(asked)} | {name: int(rows.sum()) for name, rows in counts.items()}


def joined(operands: Operands, task: SampledTask, modulus: int) -> npt.NDArray[np.int64]:
    """Return the classes at all places together, a row of int64 for each question."""
    assert task.invariants is not None
    assert task.space is not None
    numbers = np.concatenate([operands, task.invariants(operands)], axis=1)
    return np.concatenate(local_classes(local_parts(numbers, task.space.primes), modulus), axis=1)


def compared(task: SampledTask, operands: Operands, answers: Answers, splits: common.Splits) -> dict[str, Any]:
    """Return which share of each split is right after other examples, and what was tried."""
    solver = fitted(task, operands, answers)
    right = {name: float((solver.answer(X) == y).mean()) for name, (X, y) in splits.items()}
    return {"right": right, "moduli": tried(solver)}


if __name__ == "__main__":
    common.run(main)
