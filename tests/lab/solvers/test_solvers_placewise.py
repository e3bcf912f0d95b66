import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch.nn import functional

from adelic.nn import PlaceEmbedding
from adelic.number_theory import task
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic.numbers import AdeleSpace, RedundantResidueCode
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.placewise import (
    MENDED,
    OneHotSolver,
    PermutedEmbedding,
    decoded,
    encoded,
    largest,
    space_for,
    without_padding,
)


def accuracy(solver, name, split, operands, n=200):
    """Return the exact-match rate on n questions of a split that were not in training."""
    questions, answers = task(name).sample(n, np.random.default_rng(1), split, exclude=operands)
    return np.mean([said == right for said, right in zip(solver.answer(questions), answers, strict=True)])


def one_hot(*, mended):
    """Return the one-hot solver with fewer places than its own, which take less time."""
    return type("Small", (OneHotSolver,), {"mended": mended})()


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("precision", [1, 3])
def test_spaces_hold_all_answers_and_mend(name, precision):
    asked, space = ARITHMETIC[name], space_for(ARITHMETIC[name], precision)
    if name == "modular-inverse":
        assert math.prod(space.primes) == asked.modulus
        return
    assert min(space.primes) > asked.max_operand_denominator
    assert RedundantResidueCode(space, asked.max_numerator, asked.max_denominator).capacity >= MENDED
    for split in asked.splits:
        operands, answers = asked.sample(50, np.random.default_rng(0), split)
        space.encode(operands)
        assert space.encode(answers).shape == (50,)


@pytest.mark.long
@pytest.mark.parametrize("name", ["multiplication", pytest.param("fraction-addition", marks=pytest.mark.slow)])
def test_a_few_hundred_examples_are_enough_and_length_does_not_matter(name):
    operands, answers = task(name).sample(500, np.random.default_rng(0))
    solver = build_solver("adelic-placewise")
    solver.fit(task(name), operands, answers, seed=0, steps=400)
    assert accuracy(solver, name, "test", operands) > 0.95
    assert accuracy(solver, name, "longer", operands) > 0.95
    assert 0 < solver.n_parameters < 110_000


@pytest.mark.long
def test_a_row_is_folded_whatever_its_length():
    sums = task("sum")
    operands = np.zeros((3000, sums.arity), dtype=np.int64)
    lengths = np.random.default_rng(0).integers(2, 4, 3000)
    operands[:] = np.where(
        np.arange(sums.arity) < lengths[:, None], np.random.default_rng(1).integers(0, 30, (3000, 12)), 0
    )
    solver = one_hot(mended=MENDED)
    solver.fit(sums, operands, sums.solve(operands), seed=0, steps=200)
    longer = np.random.default_rng(2).integers(0, 30, (50, 12))
    assert np.mean(solver.answer(longer) == longer.sum(axis=1)) > 0.9


@pytest.mark.long
def test_one_hot_digits_say_nothing_of_pairs_that_were_not_seen():
    """The best digit of such a pair is hardly likelier than others, but that of a pair which was seen is."""

    addition = replace(task("addition"), max_operand=999, max_numerator=1998)
    operands, answers = np.random.default_rng(0).integers(0, 1000, (150, 2)), np.empty(150, dtype=object)
    answers[:] = operands.sum(axis=1)
    solver = one_hot(mended=1)
    solver.fit(addition, operands, answers, seed=0, steps=200)
    j, p = solver._space.n_primes - 1, solver._space.primes[-1]
    pairs = np.stack(np.meshgrid(np.arange(p), np.arange(p)), axis=-1).reshape(-1, 2)
    seen = set(map(tuple, (operands % p).tolist()))
    is_seen = np.array([tuple(pair) in seen for pair in pairs.tolist()])
    inputs = (*encoded(solver._space, pairs), torch.full((len(pairs),), 2))
    with torch.no_grad():
        probabilities = solver._network(*inputs).logits[:, j, 0].softmax(dim=-1)
    best = probabilities.max(dim=-1).values.numpy()
    right = probabilities.argmax(dim=-1).numpy() == pairs.sum(axis=1) % p
    assert p == 13
    assert 0.3 < is_seen.mean() < 0.7
    assert right[is_seen].mean() > 0.95
    assert best[is_seen].mean() > 0.8
    assert best[~is_seen].mean() < 0.35


def test_permuted_digits_have_the_features_of_others():
    """Of characters another digit's; of one-hot digits the columns alone are in another order."""
    space, numbers = AdeleSpace((2, 5, 7), 1), np.arange(35)
    adeles, rng = space.encode(numbers), np.random.default_rng
    for features in ("characters", "one-hot-digits"):
        plain, permuted = PlaceEmbedding(space, features), PermutedEmbedding(space, features, rng=rng(0))
        for j, p in enumerate(space.primes):
            labels = permuted.labels[j, :p]
            assert sorted(labels.tolist()) == list(range(p))
            others = plain(space.encode(labels.numpy()[numbers % p]))
            torch.testing.assert_close(permuted(adeles)[:, 1 + j], others[:, 1 + j])
        assert torch.equal(permuted(adeles)[:, 0], plain(adeles)[:, 0])
        if features == "one-hot-digits":
            torch.testing.assert_close(permuted(adeles)[:, 3][:, permuted.labels[2]], plain(adeles)[:, 3])
    assert permuted.fingerprint() != PermutedEmbedding(space, features, rng=rng(1)).fingerprint()


def test_permuted_digits_are_a_seeds_own():
    """A fold reads what a place has so far with the same labels."""
    terms, labels = task("sum"), []
    operands, answers = terms.sample(20, np.random.default_rng(0))
    for seed in (0, 0, 1):
        solver = build_solver("adelic-permuted")
        solver.fit(terms, operands, answers, seed=seed, steps=1)
        network = solver._network
        labels.append(network.embedding.labels)
        assert torch.equal(network.digit_features[1:, 1], network.embedding(solver._space.encode(1))[1:])
    assert torch.equal(labels[0], labels[1])
    assert not torch.equal(labels[0], labels[2])


def test_padding_is_what_follows_the_last_term():
    rows = np.array([[3, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0] * 12, [7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]])
    trimmed, lengths = without_padding(rows, task("sum"))
    assert trimmed.tolist() == [[3, 0, 5], [0, 0, 0], [7, 8, 0]]
    assert lengths.tolist() == [3, 2, 2]
    operands = np.array([[1, 0], [0, 0]])
    assert without_padding(operands, task("addition"))[0] is operands


def test_inverses_are_residues_of_the_modulus():
    inverse = task("modular-inverse")
    operands, answers = inverse.sample(300, np.random.default_rng(0))
    solver = build_solver("adelic-placewise")
    solver.fit(inverse, operands, answers, seed=0, steps=150)
    assert accuracy(solver, "modular-inverse", "test", operands) > 0.95
    assert all(value is None or 0 <= value < inverse.modulus for value in solver.answer(operands))


@pytest.mark.parametrize("modulus", [2, 6, 30, 105])
def test_residues_of_any_product_of_primes_are_decoded(modulus):
    """An even modulus, too: half of it is next to 0 on neither side."""
    asked = task("modular-sum", terms=2, modulus=modulus)
    space, numbers = space_for(asked), np.arange(modulus)
    digits = torch.tensor(space.encode(numbers).digits.astype(np.int64))
    assert decoded(space, functional.one_hot(digits).float(), asked).tolist() == numbers.tolist()


def test_sequences_have_one_digit_at_a_prime():
    assert build_solver("adelic-placewise:precision=3").obstacle(task("sum")) == "folding is done with first digits"


def test_an_answer_in_doubt_is_as_large_as_those_of_the_examples():
    """Few places are sure: too few for the problem's bound, enough for the examples' own. Residues have no size."""
    problem, number = task("addition"), 1234
    space = space_for(problem)
    digits = torch.tensor([number % p for p in space.primes])
    is_digit = torch.arange(max(space.primes)) < torch.tensor(space.primes)[:, None]
    logits = torch.zeros(space.n_primes, max(space.primes)).masked_fill(~is_digit, -torch.inf)
    logits += 1e-3 * torch.randn(logits.shape, generator=torch.Generator().manual_seed(0))
    logits[torch.arange(8), digits[:8]] += 20.0  # 2, …, 19: their product is 9,699,690
    words = logits[None, :, None]
    assert decoded(space, words, problem).tolist() != [number]
    assert decoded(space, words, problem, usual=(2000, 1)).tolist() == [number]
    assert decoded(space, words, replace(problem, modulus=37), usual=(2000, 1)).tolist() != [number]
    logits[torch.arange(space.n_primes), digits] += 20.0
    longer = torch.tensor([(10**9 + 7) % p for p in space.primes])
    sure = torch.zeros_like(logits).masked_fill(~is_digit, -torch.inf)
    sure[torch.arange(space.n_primes), longer] = 20.0
    found = decoded(space, torch.stack([logits, sure])[:, :, None], problem, usual=(2000, 1))
    assert found.tolist() == [number, 10**9 + 7]


def test_the_largest_of_numbers():
    numbers = np.array([Fraction(-7, 2), Fraction(3), Fraction(1, 10)], dtype=object)
    assert largest(numbers) == (7, 10)
    assert largest(np.array([0])) == (1, 1)
    assert largest(np.array([])) == (1, 1)
