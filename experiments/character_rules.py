"""Baselines for characters, without a network: two formulas, the lengths of hooks and tables of residues.

    python experiments/character_rules.py           # n = 12, in seconds
    python experiments/character_rules.py --full    # two minutes

Of the test examples of the task `characters` (published split), three baselines that read the view `hooks`:

- χ^λ at the identity is the dimension, n! over the product of the hook lengths;
- at transpositions it is the dimension times the sum of the contents over n(n−1)/2;
- it is 0 where μ has a part k and λ has no hook of k cells.

The first two say 0 everywhere else. Sources: Sagan, "The Symmetric Group" (2001), sections 3.10 and 4.10; Macdonald,
"Symmetric Functions and Hall Polynomials" (1995), section I.7, example 7.

Tables of residues remember, for each prime p up to n, λ and the p'-part of μ (each cycle of p^a · m elements, m prime
to p, in p^a cycles of m), what χ was modulo p in training: at the p'-part it has the same residue. What a test
example's residues say, put together, is taken for the number that is nearest to 0; a residue that no training example
tells is left out. On orbits no test example's conjugate is a training example; with images, the tables have also seen
the conjugates of the training examples of the published split. Source: James and Kerber, "The Representation Theory of
the Symmetric Group" (1981), section 6.1.

Writes experiments/results/character_rules.json, with the figures of docs/results/several-answers.md.
"""

from collections.abc import Callable
from fractions import Fraction
from math import factorial, prod
from pathlib import Path
from typing import Any

import common
import numpy as np

from adelic import acd
from adelic.data import Dataset
from adelic.numbers.primes import is_prime, valuation

_SIZES = (18, 20, 22)


def main(*, sizes: tuple[int, ...] = (), full: bool = False, output: Path | None = None) -> None:
    """Ask the baselines about the test examples of each size.

    Args:
        sizes: by default 12, with --full 18, 20 and 22.
        full: as the committed results have it, in two minutes.
        output: file of the results.
    """
    chosen = sizes or (_SIZES if full else (12,))
    found = {"runs": [asked(n) for n in common.each(chosen, "n = {}".format)]}
    common.write("character_rules.json", ("adelic", "numpy"), found, output, full=full)


def asked(n: int) -> dict[str, Any]:
    """Return the formulas' mean squared errors on test, the share of 0 that hooks tell, and the share of residues."""
    data = acd.load("characters", n=n)
    seen = acd.task("characters").views["hooks"].rows(data.X_test).astype(np.int64)
    hooks, contents, cycles = seen[:, :n], seen[:, n:-n], seen[:, -n:]
    is_identity, is_transposition = cycles[:, 0] == n, (cycles[:, 0] == n - 2) & (cycles[:, 1] == 1)
    of_formulas = np.zeros(len(seen))
    errors = {}
    for name, rows in (("dimensions", is_identity), ("dimensions_and_transpositions", is_transposition)):
        for row in np.flatnonzero(rows):
            value = Fraction(factorial(n), prod(int(k) ** int(c) for k, c in enumerate(hooks[row], start=1)))
            if is_transposition[row]:
                value *= Fraction(int(contents[row] @ np.arange(1 - n, n)), n * (n - 1) // 2)
            if value != int(data.y_test[row]):
                raise SystemExit(f"the formula gives {value} for example {row}, which is {data.y_test[row]}")
            of_formulas[row] = float(value)
        errors[name] = float(np.square(of_formulas - data.y_test).mean())
    is_zero = ((cycles > 0) & (hooks == 0)).any(axis=1)
    if data.y_test[is_zero].any():
        raise SystemExit("a part without a hook of its length has a character that is not 0")
    return {
        "n": n,
        "mean_squared_error": errors,
        "zeros": float((data.y_test == 0).mean()),
        "zeros_by_hooks": float(is_zero.mean()),
        "by_residues": by_residues(data),
        "by_residues_on_orbits": by_residues(acd.load("characters", n=n, split="orbits")),
        "by_residues_with_images": by_residues(data, acd.task("characters").symmetries["conjugate"]),
    }


def by_residues(data: Dataset, symmetry: Callable[..., Any] | None = None) -> dict[str, Any]:
    """Return the share of test examples that tables of residues solve, and the share of known residues at each prime.

    With a symmetry, the images of the training examples are in the tables, too.
    """
    rows, values = data.X_train, data.y_train
    if symmetry is not None:
        images, their_values = symmetry(rows, values)
        rows, values = np.concatenate([rows, images]), np.concatenate([values, their_values])
    n = rows.shape[1] // 2
    answers, modulus = np.zeros(len(data.X_test), np.int64), np.ones(len(data.X_test), np.int64)
    known = {}
    for p in filter(is_prime, range(2, n + 1)):
        _, keys = np.unique(np.concatenate([regular(rows, p), regular(data.X_test, p)]), axis=0, return_inverse=True)
        keys = keys.reshape(-1)
        residues = np.full(keys.max() + 1, -1)
        residues[keys[: len(rows)]] = values % p
        told = residues[keys[len(rows) :]]
        is_told = told >= 0
        if (told[is_told] != data.y_test[is_told] % p).any():
            raise SystemExit(f"a residue modulo {p} is another one in training")
        known[str(p)] = float(is_told.mean())
        # The Chinese remainder theorem, one prime after the other.
        m, at = modulus[is_told], answers[is_told]
        answers[is_told] = at + m * ((told[is_told] - at) * np.array([pow(int(k), -1, p) for k in m % p]) % p)
        modulus[is_told] = m * p
    answers = np.where(2 * answers <= modulus, answers, answers - modulus)
    return {"exact": float((answers == data.y_test).mean()), "known": known}


def regular(rows: np.ndarray, p: int) -> np.ndarray:
    """Return λ and the cycles of each length that the p'-part of μ has, int8 (examples, 2n)."""
    n = rows.shape[1] // 2
    cycles = np.zeros((len(rows), n), np.int8)
    for length in range(1, n + 1):
        power = p ** valuation(length, p)
        cycles[:, length // power - 1] += (power * np.count_nonzero(rows[:, n:] == length, axis=1)).astype(np.int8)
    return np.hstack([rows[:, :n].astype(np.int8), cycles])


if __name__ == "__main__":
    common.run(main)
