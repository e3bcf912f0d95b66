from dataclasses import replace

import numpy as np
import pytest

from adelic.number_theory import task
from adelic_lab.models.solvers.placewise import ChosenPlacesSolver, candidates, space_for

LAWS = {"sums": lambda x: x[:, 0] + x[:, 1], "products": lambda x: x[:, 0] * x[:, 1]}


def modulo(q, law):
    """Return a task whose answers are residues of sums or products of numbers of any size."""
    solve = lambda x: (LAWS[law](x.astype(object)) % q).astype(object)  # noqa: E731
    return replace(task("addition"), solve=solve, max_numerator=q - 1, class_names=None, modulus=q)


def fitted(asked, operands, answers, **options):
    solver = ChosenPlacesSolver()
    solver.fit(asked, operands, answers, seed=0, **{"steps": 80} | options)
    return solver


@pytest.mark.long
@pytest.mark.parametrize(("q", "law", "places"), [(13, "products", (13,)), (15, "sums", (3, 5))])
def test_the_modulus_is_found_from_examples_alone(q, law, places):
    """A wrong one, though told, changes nothing."""
    asked = replace(modulo(q, law), modulus=7)
    operands, others = np.random.default_rng(0).integers(0, 10**6, (2, 400, 2))
    told = []
    solver = fitted(asked, operands, asked.solve(operands), steps=120, progress=lambda *what: told.append(what[:2]))
    assert solver.primes == places
    assert np.mean(solver.answer(others) == asked.solve(others)) > 0.9
    assert told[:1] + told[-1:] == [(1, 120), (120, 120)]


def test_candidates_hold_the_answers_and_residues_of_a_prime_a_little_above_them():
    sums = task("addition")
    assert candidates(sums, sums.sample(100, np.random.default_rng(0))[1]) == space_for(sums).primes
    asked = modulo(307, "sums")
    _, answers = asked.sample(200, np.random.default_rng(0))
    found = candidates(asked, answers)
    assert 307 in found
    assert set(found) >= set(space_for(replace(asked, modulus=None)).primes)
    assert max(found) < 1.1 * 307


def test_where_nothing_is_learned_all_places_are_kept():
    operands = np.random.default_rng(0).integers(0, 10**6, (50, 2))
    answers = np.random.default_rng(1).integers(0, 10**6, 50).astype(object)
    solver = fitted(task("addition"), operands, answers, steps=2)
    assert solver.primes == space_for(task("addition")).primes
    assert solver.answer(operands[:3]).shape == (3,)
