"""What is known of a character table whose cells are partly hidden, without a network: its columns are orthogonal.

    python experiments/character_completion.py           # n = 8, in seconds
    python experiments/character_completion.py --full    # some ten minutes

The examples of the task `characters` are the cells of one square matrix, the character table of S_n, and its columns
are orthogonal: Σ χ^λ_μ · χ^λ_ν over all λ is 0 for μ ≠ ν, and for μ = ν the centralizer's order z_μ (the second
orthogonality relation). So hidden cells follow from the others: they are filled with 0, the matrix is replaced by the
nearest one with orthogonal columns (its polar factor), the known cells are put back, and so on until no hidden cell
changes. The norms √z_μ are told in one variant, and in the other read off the matrix as it is filled. Nothing else is
told: not what a partition is, no shape and no cycle type. Cells of test examples are hidden, those of validation
examples are not. A rounded table is checked exactly: its columns fulfil the relation modulo primes whose product is
above what either side can be.

Writes experiments/results/character_completion.json, with the figures of docs/audit.md and
docs/results/several-answers.md.
"""

from collections import Counter
from math import factorial, prod
from pathlib import Path
from typing import Any

import common
import numpy as np
import numpy.typing as npt

from adelic import acd
from adelic.acd.characters import partitions
from adelic.data import Dataset

Reals = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_SIZES = (18, 20, 22)
_SHARES = (0.75, 0.7, 0.65, 0.6, 0.55, 0.5)
"""Of all cells: how many stay known in the trials with fewer, on the smallest size."""
_PRIMES = (67108859, 67108837, 67108819, 67108777)
"""The greatest primes below 2²⁶: two thousand products of residues fit int64."""
_STILL = 1e-3


def main(*, sizes: tuple[int, ...] = (), full: bool = False, output: Path | None = None) -> None:
    """Hide cells as the splits do, and more of them, and complete the tables.

    Args:
        sizes: by default 8, with --full 18, 20 and 22.
        full: as the committed results have it, in some ten minutes.
        output: file of the results.
    """
    sizes = sizes or (_SIZES if full else (8,))
    runs: list[dict[str, Any]] = []
    for n in common.each(sizes, "n = {}".format):
        for options in ({"split": "published"}, {"split": "orbits"}, *([{"edition": "central"}] * (n == min(sizes)))):
            data = acd.load("characters", n=n, **options)
            runs += [asked(data, n, told) for told in (False, True)]
            common.say(str(runs[-2]))
    data = acd.load("characters", n=min(sizes))
    runs += [asked(data, min(sizes), False, share) for share in _SHARES]
    common.write("character_completion.json", ("adelic", "numpy"), {"runs": runs}, output, full=full)


def asked(data: Dataset, n: int, told: bool, share: float | None = None) -> dict[str, Any]:
    """Complete the table of a dataset, and return what became of the test examples.

    Args:
        data: of the task `characters`.
        n: its size.
        told: whether the norms of the columns are told.
        share: how many of all cells to know, drawn with seed 0 from the examples outside test; None for all of these.
    """
    values, known, test = hidden(data, n)
    if share is not None:
        cells = np.flatnonzero(known)
        kept = np.random.default_rng(0).permutation(cells)[: round(share * known.size)]
        known = np.isin(np.arange(known.size), kept).reshape(known.shape)
    norms = np.sqrt([float(centralizer(mu)) for mu in partitions(n)]) if told else None
    table, steps = completed(values, known, norms)
    said, right = table[test], values[test]
    rounded = np.where(known, values, np.rint(table)).astype(np.int64)
    return {
        "n": n,
        "edition": data.provenance["edition"],
        "split": data.provenance["split"],
        "norms": "told" if told else "found",
        "known": float(known.mean()),
        "steps": steps,
        "exact_match": float((np.rint(said) == right).mean()),
        "mean_squared_error": float(np.square(said - right).mean()),
        "mean_squared_error_of_dimensions_alone": float(np.square(right[test[1] != len(table) - 1]).sum() / len(right)),
        "is_orthogonal": is_orthogonal(rounded, n),
    }


def hidden(data: Dataset, n: int) -> tuple[Reals, Mask, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Return the values of all cells that the dataset has, which are known, and the cells of the test examples.

    Cells of test examples are not known, nor are those of no example, whose value is 0.
    """
    index = {shape + (0,) * (n - len(shape)): i for i, shape in enumerate(partitions(n))}
    values, known = np.zeros((len(index), len(index))), np.zeros((len(index), len(index)), bool)
    for part in ("train", "validation", "test"):
        X = getattr(data, f"X_{part}")
        cells = tuple(np.array([index[tuple(half)] for half in X[:, side].tolist()]) for side in np.s_[:n, n:])
        values[cells], known[cells] = getattr(data, f"y_{part}"), part != "test"
    return values, known, (cells[0], cells[1])


def centralizer(mu: tuple[int, ...]) -> int:
    """Return z_μ, how many permutations commute with one of cycle type μ.

    >>> centralizer((2, 1, 1)), centralizer((2, 2))
    (4, 8)
    """
    return prod(k**count * factorial(count) for k, count in Counter(mu).items())


def completed(values: Reals, known: Mask, norms: Reals | None, most: int = 2000) -> tuple[Reals, int]:
    """Return a square matrix with the known values and orthogonal columns, as near as steps bring it, and their number.

    Args:
        values: only the known ones are read.
        known: which they are.
        norms: those of the columns; None if they are to be found.
        most: at most so many steps.
    """
    filled = np.where(known, values, 0.0)
    found = np.sqrt(np.square(filled).sum(0) / known.mean(0))
    steps, change = 0, np.inf
    while steps < most and change >= _STILL:
        steps += 1
        scale = norms if norms is not None else found
        left, _, right = np.linalg.svd(filled / scale)
        nearest = (left @ right) * scale
        change = np.abs(nearest - filled)[~known].max()
        filled = np.where(known, values, nearest)
        found = np.sqrt(np.square(filled).sum(0))
    return filled, steps


def is_orthogonal(table: npt.NDArray[np.int64], n: int) -> bool:
    """Return whether the columns of an integer matrix have the products that those of the character table have."""
    if int(np.abs(table).max()) ** 2 > factorial(n):  # no character is greater
        return False
    assert (len(table) + 1) * factorial(n) < prod(_PRIMES)  # so that sums that agree modulo the primes are equal
    expected = [centralizer(mu) for mu in partitions(n)]
    for p in _PRIMES:
        residues = table % p
        if not np.array_equal(residues.T @ residues % p, np.diag(np.array([z % p for z in expected]))):
            return False
    return True


if __name__ == "__main__":
    common.run(main)
