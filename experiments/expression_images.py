"""Count the questions that are in training in another form: expressions and programs.

    python experiments/expression_images.py        # seconds

No question that is asked is in training as it is. For the expressions of
experiments/arithmetic_composition.toml, in postfix and in infix, with seed 0,
this counts how many questions of a split are in it with the two sides of some + or ×
exchanged: a table that knew this would have these right. For the programs of experiments/arithmetic_programs.toml it
counts how many of the single operations that a question needs, such as 85 · 12, are examples with one operation.

Writes experiments/results/expression_images.json, with the figures of docs/composition/tables.md.
"""

import operator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import common

from adelic.data.drawn import REFERENCE
from adelic.data.sources import DrawnData
from adelic.number_theory.composition.notation import OPERATORS
from adelic_lab.plans import read_plan

SOLVERS = ("experiments.solvers.controlled:Controlled", "base-digits")
"""Whose questions in the plan are counted: the first is asked in both notations, the second from most examples."""
_PLAN = Path(__file__).parent / "arithmetic_composition.toml"
PROGRAMS = {"matrix-program": 10_000, "recurrence-program": 30_000, "system-program": 30_000}
"""Programs, and from how many examples docs/composition.md has most of them right."""
_PROGRAMS_PLAN = _PLAN.with_name("arithmetic_programs.toml")
_COMMUTATIVE = (-1, -3)  # + and ×
_OPENS, _CLOSES = -4, -5
Form = tuple[Any, ...]


def main(*, output: Path | None = None) -> None:
    """Draw the questions of seed 0, and write what is counted.

    Args:
        output: file of the results.
    """
    row = operator.attrgetter("row")
    expressions = [one.experiments[0].questions for one in read_plan(_PLAN) if one.model in SOLVERS]
    plan = read_plan(_PROGRAMS_PLAN)
    programs = [one.experiments[0].questions for one in plan if one.examples == PROGRAMS.get(one.task)]
    found = {
        "seed": 0,
        "with_image": {asked.row: shares(asked) for asked in common.each(dict.fromkeys(expressions), row)},
        "programs": {asked.row: known_operations(asked) for asked in common.each(dict.fromkeys(programs), row)},
    }
    common.write("expression_images.json", ("adelic", "numpy"), found, output)


def shares(questions: DrawnData, seed: int = 0) -> dict[str, float]:
    """Return the part of each split's questions that have an image in training."""
    trained_on, _, splits = common.drawn_splits(questions, seed)
    form_of = partial(form, is_infix=questions.drawn.is_infix)
    seen = set(map(form_of, trained_on.tolist()))
    return {name: sum(form_of(row) in seen for row in X.tolist()) / len(X) for name, (X, _) in splits.items()}


def known_operations(questions: DrawnData, seed: int = 0) -> dict[str, Any]:
    """Return how many examples have one operation, and of each split's operations the part that are among these."""
    trained_on, _ = questions.questions(seed)
    performed = [operations(row) for row in trained_on.tolist()]
    single = [found[0] for found in performed if len(found) == 1]
    known, shares = set(single), {}
    for name, asked, _ in questions.never_seen(seed, trained_on):
        needed = [one for row in asked.tolist() for one in operations(row)]
        shares[name] = sum(one in known for one in needed) / len(needed)
    return {"with_one_operation": len(single), "known": shares}


def operations(tokens: list[int]) -> list[tuple[int, Fraction, Fraction]]:
    """Return the operations of a program in postfix, each as its sign and its two operands.

    >>> operations([2, 3, -1, 4, -3, 0, 0])
    [(-1, Fraction(2, 1), Fraction(3, 1)), (-3, Fraction(5, 1), Fraction(4, 1))]
    """
    stack: list[Fraction] = []
    values: list[Fraction] = []
    found = []
    for token in filter(None, tokens):
        if token > 0:
            stack.append(Fraction(token))
        elif token < -REFERENCE:
            stack.append(values[token + REFERENCE])
        else:
            *stack, first, second = stack
            found.append((token, first, second))
            stack.append(Fraction(OPERATORS[-token - 1](first, second)))
        values.append(stack[-1])
    return found


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
    common.run(main)
