"""How many questions that are expressions stand in training with the operands of sums and products exchanged.

    python benchmarks/expression_images.py        # seconds

No question that is asked is in training as it stands. For the expressions of benchmarks/arithmetic_composition.toml, in
postfix and in infix, with seed 0, this counts how many questions of a split are in it with the two sides of some + or ×
exchanged: a table that knew this would have these right.

Writes benchmarks/results/expression_images.json, whose figures stand in docs/composition.md.
"""

import argparse
from pathlib import Path
from typing import Any

import common

from adelic.benchmark.drawn import read_plan
from adelic.data.sources import DrawnData

SOLVER = "adelic-controller"
"""Whose questions in the plan are counted: it is asked in both notations."""
_PLAN = Path(__file__).parent / "arithmetic_composition.toml"
_COMMUTATIVE = (-1, -3)  # + and ×
_OPENS, _CLOSES = -4, -5
Form = tuple[Any, ...]


def main() -> None:
    """Draw the questions of seed 0, and write what is counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=common.RESULTS / "expression_images.json")
    given = parser.parse_args()
    chosen = (one.experiments[0].questions for one in read_plan(_PLAN) if one.model == SOLVER)
    counted = {questions.row: shares(questions) for questions in chosen}
    common.write(given.output, "expression_images.py", ("adelic", "numpy"), {"seed": 0, "with_image": counted})


def shares(questions: DrawnData, seed: int = 0) -> dict[str, float]:
    """Return the part of each split's questions that have an image in training."""
    is_infix = questions.drawn.is_infix
    trained_on, _ = questions.questions(seed)
    seen = {form(row, is_infix=is_infix) for row in trained_on.tolist()}
    splits = {"test": next(questions.tests(seed, trained_on))[0]}
    splits |= {name: asked for name, asked, _ in questions.never_seen(seed, trained_on)}
    return {
        name: sum(form(row, is_infix=is_infix) in seen for row in asked.tolist()) / len(asked)
        for name, asked in splits.items()
    }


def form(tokens: list[int], *, is_infix: bool) -> Form:
    """Return an expression as a tree, alike for all in which the sides of sums and products are exchanged.

    >>> form([2, 3, -1, 4, -2], is_infix=False) == form([3, 2, -1, 4, -2, 0, 0], is_infix=False)
    True
    >>> form([-4, 2, -2, 3, -5], is_infix=True), form([2, 3, -2], is_infix=False)
    ((-2, (0, 2), (0, 3)), (-2, (0, 2), (0, 3)))
    """
    values: list[Form] = []
    signs: list[int] = []
    for token in filter(None, tokens):
        if token > 0:
            values.append((0, token))
        elif is_infix and token != _CLOSES:
            signs += [token] if token != _OPENS else []
        else:
            sign = signs.pop() if is_infix else token
            *values, left, right = values
            values.append((sign, *(sorted((left, right)) if sign in _COMMUTATIVE else (left, right))))
    (found,) = values
    return found


if __name__ == "__main__":
    main()
