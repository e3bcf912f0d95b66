"""Equations modulo 2 against FLINT and brute force; local classes; a bit for each class at each place."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import flint
import numpy as np
import pytest
from experiments.solvers.parity import Equations, Parity, local_classes, local_parts
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic.data import drawn_task
from adelic.data.drawn import SampledTask
from adelic.errors import ConfigurationError
from adelic.numbers import AdeleSpace
from adelic_lab.models.solvers import build_solver


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_equations_are_solved_as_far_as_they_hold(unknowns, terms, seed):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, unknowns, (150, terms))
    planted = rng.integers(0, 2, unknowns)
    sums = planted[columns].sum(axis=1) % 2
    equations = Equations(unknowns)
    assert equations.add(columns[:50], sums[:50]) == 50
    assert equations.add(columns[50:], sums[50:]) == 100
    assert (equations.solution()[columns].sum(axis=1) % 2 == sums).all()
    matrix = np.zeros((150, unknowns), dtype=int)
    np.add.at(matrix, (np.arange(150)[:, None], columns), 1)
    assert equations.rank == flint.nmod_mat(150, unknowns, matrix.ravel().tolist(), 2).rank()


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_the_first_contradiction_is_found(unknowns, terms, seed):
    rng = np.random.default_rng(seed)
    columns, sums = rng.integers(0, unknowns, (12, terms)), rng.integers(0, 2, 12)

    def is_solvable(count):
        every = itertools.product((0, 1), repeat=unknowns)
        return any((np.array(x)[columns[:count]].sum(axis=1) % 2 == sums[:count]).all() for x in every)

    expected = max(count for count in range(13) if is_solvable(count))
    equations = Equations(unknowns)
    assert equations.add(columns, sums) == expected
    assert (equations.solution()[columns[:expected]].sum(axis=1) % 2 == sums[:expected]).all()


def test_equations_that_no_memory_holds_are_refused(monkeypatch):
    free = SimpleNamespace(available=10 * 2**20)
    monkeypatch.setattr("experiments.solvers.parity.psutil.virtual_memory", lambda: free)
    with pytest.raises(ConfigurationError, match=r"10,000,000 unknowns take 11,641\.5 GiB.*give fewer --examples"):
        Equations(10_000_000)


@given(
    st.lists(st.integers(-(10**30), 10**30) | st.integers(-100, 100), min_size=1, max_size=4),
    st.sampled_from([2, 3, 5, 97]),
    st.integers(1, 100),
)
def test_local_classes_are_valuations_and_units(numbers, p, modulus):
    power = max([p] + [p**k for k in range(1, 8) if p**k <= modulus])
    expected_valuations = [next((v for v in range(1, 120) if n % p**v), 1) - 1 for n in numbers]  # and of 0 it is 0
    expected_units = [n // p**v % power for n, v in zip(numbers, expected_valuations, strict=True)]
    real, of_prime = local_classes(local_parts(np.array([numbers], dtype=object), (p,)), modulus)
    assert real.tolist() == [[(n > 0) - (n < 0) for n in numbers] + [0] * len(numbers)]
    assert of_prime.tolist() == [expected_valuations + expected_units]
    if all(abs(n) < 2**63 for n in numbers):
        again = local_classes(local_parts(np.array([numbers], dtype=np.int64), (p,)), modulus)
        assert again[1].tolist() == of_prime.tolist()


def parities(*, units=8):
    """A task whose answer is a product of signs: whether n > 0, v₂(n) is even, its unit modulo 8 is 1 or 7, n % 3 is 1.

    With `units` = 4 the unit at 2 is told modulo 4: whether it is 1.
    """
    chosen = {8: (1, 7), 4: (1, 5)}[units]

    def solve(operands):
        n = operands[:, 0]
        v = np.array([(int(k) & -int(k)).bit_length() - 1 for k in n], dtype=np.int64)
        signs = [n > 0, v % 2 == 0, np.isin((n >> v) % 8, chosen), n % 3 == 1]
        return np.sum(signs, axis=0) % 2

    return SampledTask(
        name="parities",
        title="a product of signs",
        arity=1,
        draws={"train": lambda n, rng: rng.choice([-1, 1], (n, 1)) * rng.integers(1, 10**12, (n, 1))},
        solve=solve,
        max_operand=10**12,
        max_numerator=1,
        signed=True,
        class_names=("even", "odd"),
        space=AdeleSpace((2, 3)),
    )


def fitted(asked, examples, **changed):
    operands, answers = asked.sample(examples, np.random.default_rng(0))
    solver = Parity()
    solver.fit(asked, operands, changed.get("answers", answers), seed=0, steps=0, progress=changed.get("progress"))
    return solver


@pytest.mark.parametrize(("units", "modulus"), [(8, 8), (4, 4)])
def test_products_of_signs_are_learned_from_their_product(units, modulus):
    asked = parities(units=units)
    told = []
    solver = fitted(asked, 3000, progress=lambda *what: told.append(what))
    assert solver.modulus == modulus  # as coarse as the examples allow
    assert list(solver.tried) == [2, 4, 8][: modulus.bit_length() - 1]
    assert solver.tried.pop(modulus) == (solver.n_parameters, 3000)
    assert all(hold < 3000 for _, hold in solver.tried.values())
    questions, answers = asked.sample(5000, np.random.default_rng(1), "test")
    assert (solver.answer(questions) == answers).mean() > 0.998  # but for high powers that no example has
    assert told[-1][:2] == (3000, 3000)
    assert told[-1][2] == f"units modulo {modulus}, {solver.n_parameters:,} bits"
    again = fitted(asked, 3000)
    assert (again.answer(questions) == solver.answer(questions)).all()


def test_of_labels_without_a_rule_nothing_is_learned():
    asked = parities()
    rng = np.random.default_rng(2)
    message = r"parities: no bits .* all 3,000 examples; the first [\d,]+ hold together and the next contradicts them"
    with pytest.warns(UserWarning, match=message):
        solver = fitted(asked, 3000, answers=rng.integers(0, 2, 3000))
    questions, answers = asked.sample(4000, rng, "test")
    assert 0.4 < (solver.answer(questions) == answers).mean() < 0.6


def test_root_numbers_of_new_curves():
    """From whole signs alone; without the discriminant, units are so fine that each example has bits of its own."""
    asked = drawn_task("root-number").configured(max_prime=7)
    questions, answers = asked.sample(2000, np.random.default_rng(1), "new curves")
    solver = fitted(asked, 10_000)
    assert solver.modulus == 16
    right, is_known = solver.answer(questions) == answers, solver.is_known(questions)
    assert right.mean() > 0.85
    assert right[is_known].mean() > 0.95 > is_known.mean() > 0.7
    assert right[~is_known].mean() < 0.75
    with pytest.warns(UserWarning, match="hardly any confirms the"):
        blind = fitted(replace(asked, invariants=None), 10_000)
    assert (blind.answer(questions) == answers).mean() < 0.6


def test_with_fewer_examples_than_bits_it_says_that_it_guesses():
    asked = drawn_task("root-number").configured(max_prime=7)
    message = r"root-number: 0 of 1,000 examples follow from the others, .* the 1,\d\d\d bits.*give more --examples"
    with pytest.warns(UserWarning, match=message):
        fitted(asked, 1000)


def test_what_parity_cannot_learn(refused):
    obstacle = build_solver("experiments.solvers.parity:Parity").obstacle
    assert obstacle(drawn_task("conic")) is None
    assert (
        obstacle(drawn_task("moebius")) == obstacle(drawn_task("collatz")) == "its answers are not one of two classes"
    )
    assert obstacle(drawn_task("fraction-addition")) == "its operands are not integers"
    assert obstacle(drawn_task("expression")) == "its operands are not integers"
    message = refused("train", "moebius", "--solver", "experiments.solvers.parity:Parity", "--examples", 10)
    assert "experiments.solvers.parity:Parity cannot express moebius: its answers are not one of two classes" in message
