"""Formulas of characters: against the table, and the page has the file's figures."""

from itertools import product
from math import prod

import numpy as np
import pytest

from adelic import acd

SCRIPT = "character_rules"


def test_the_formulas_by_the_table(script):
    """A formula that is wrong of a test row ends the script; the errors are those of the columns that are left."""
    found = script.asked(8)
    data = acd.load("characters", n=8)
    ones = (data.X_test[:, 8:] == 1).sum(axis=1)
    squares = np.square(data.y_test.astype(float))
    errors = found["mean_squared_error"]
    assert errors["dimensions"] == pytest.approx(squares[ones != 8].sum() / len(squares))
    assert errors["dimensions_and_transpositions"] == pytest.approx(squares[ones < 6].sum() / len(squares))
    assert 0 < found["zeros_by_hooks"] < found["zeros"] == (data.y_test == 0).mean()


def by_brute_force(data, n):
    """The share of test rows that the residues of training rows give, and that which is known modulo each prime."""
    primes = [p for p in (2, 3, 5, 7) if p <= n]

    def key(row, p):
        """λ and the orders' part that p does not divide, one cycle after the other."""
        rest = []
        for k in row[n:]:
            m = k
            while m and m % p == 0:
                m //= p
            rest += [m] * (k // m) if m else []
        return (*row[:n], *sorted(rest))

    rows, tests = data.X_train.tolist(), data.X_test.tolist()
    seen = {(p, key(row, p)): y % p for p, (row, y) in product(primes, zip(rows, data.y_train.tolist(), strict=True))}
    right, known = 0, dict.fromkeys(primes, 0)
    for row, y in zip(tests, data.y_test.tolist(), strict=True):
        told = {p: seen[p, key(row, p)] for p in primes if (p, key(row, p)) in seen}
        modulus = prod(told)
        fitting = [x for x in range(modulus) if all(x % p == r for p, r in told.items())]
        nearest = min((x - modulus * (2 * x > modulus) for x in fitting), key=abs)
        right += nearest == y
        for p in told:
            known[p] += 1
    return right / len(tests), {str(p): count / len(tests) for p, count in known.items()}


@pytest.mark.parametrize("split", ["published", "orbits"])
def test_residues_by_brute_force(script, split):
    data = acd.load("characters", n=8, split=split)
    found = script.by_residues(data)
    exact, known = by_brute_force(data, 8)
    assert found["exact"] == pytest.approx(exact)
    assert found["known"] == pytest.approx(known)
    with_images = script.by_residues(data, acd.task("characters").symmetries["conjugate"])["exact"]
    assert 0 < exact < with_images if split == "published" else exact == with_images


def test_the_page_has_the_figures_of_the_file(figures, section):
    page = section("results/several-answers.md")
    (run,) = (run for run in figures["runs"] if run["n"] == 18)
    error, power = f"{run['mean_squared_error']['dimensions_and_transpositions']:.1e}".split("e+")
    assert int(power) == 7
    assert f"{error} · 10⁷" in page
    assert f"{100 * run['zeros_by_hooks']:.1f} %" in page
    for name in ("by_residues", "by_residues_on_orbits", "by_residues_with_images"):
        assert f"{100 * run[name]['exact']:.1f} %" in page
