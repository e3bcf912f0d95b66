import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from adelic.number_theory import task
from adelic_lab.models.solvers.placewise import decoded, space_for
from adelic_lab.models.solvers.rivals.places import CompositePlaces, CompositeSolver, paired


def places(name):
    torch.manual_seed(0)
    return CompositePlaces(space_for(task(name)), task(name), (2000, 1))


@pytest.mark.parametrize("primes", [(), (7,), (2, 3), (2, 3, 5), (2, 3, 5, 7, 11, 13)])
def test_every_prime_is_in_one_pair(primes):
    found = paired(primes)
    assert sorted(p for pair in found for p in pair) == list(primes)
    assert sum(len(pair) == 1 for pair in found) == len(primes) % 2


def test_the_moduli_hold_what_the_primes_do():
    reader = places("addition")
    assert reader.moduli[0] == 2 * 61
    assert math.prod(reader.moduli) == math.prod(space_for(task("addition")).primes)
    assert reader.tables.shape == (9, 667, 1 + 2 * 4)  # 23·29 has the characters 1, 8, 64, 512


@pytest.mark.parametrize("name", ["addition", "subtraction", "modular-inverse"])
def test_residues_are_decoded_and_wrong_ones_mended(name):
    reader, asked = places(name), task(name)
    _, answers = asked.sample(50, np.random.default_rng(0))
    (residues,) = reader.targets(answers)
    if asked.modulus is None:  # a place with a product up to 10^6
        residues[:, 3] = (residues[:, 3] + 1) % reader.moduli[3]
    outputs = (50.0 * functional.one_hot(residues, max(reader.moduli))).masked_fill(~reader.is_residue, -math.inf)
    found = decoded(reader.space, reader.of_primes(outputs.log_softmax(dim=-1)), asked, usual=reader.usual)
    assert found.tolist() == answers.tolist()


def test_a_prime_has_the_probability_of_its_residues():
    probabilities = torch.zeros(1, 9, 667)
    probabilities[:, 1:, 0] = 1
    probabilities[0, 0, [1, 62, 63]] = torch.tensor([0.5, 0.3, 0.2])  # modulo 2·61: (1, 1), (0, 1) and (1, 2)
    of_primes = places("addition").of_primes(probabilities.log()).exp()[0, :, 0]
    assert of_primes[0, :2].tolist() == pytest.approx([0.3, 0.7])
    assert of_primes[-1, 1:3].tolist() == pytest.approx([0.8, 0.2])
    assert of_primes.sum(dim=-1).tolist() == pytest.approx([1] * 18)


def test_sums_are_products_of_characters_modulo_composite_numbers():
    """The network that is right exists, as at primes: with its weights all sums are exact."""
    reader = places("addition")
    hidden, output, width = reader.perceptron.hidden[0].weight, reader.perceptron.output.weight, 9
    with torch.no_grad():
        hidden.zero_(), output.zero_(), reader.scale.fill_(1e4)
        for k in range(4):
            cos, sin = 1 + 2 * k, 2 + 2 * k
            for i, (one, other) in enumerate([(cos, cos), (sin, sin), (cos, sin), (sin, cos)]):
                hidden[:, one, 4 * k + i] = hidden[:, width + other, 32 + 4 * k + i] = 1
            output[:, 4 * k : 4 * k + 2, cos] = torch.tensor([1.0, -1.0])
            output[:, 4 * k + 2 : 4 * k + 4, sin] = 1
    operands, answers = task("addition").sample(200, np.random.default_rng(0), "longer")
    ((_, inputs),) = reader.groups(operands)
    with torch.no_grad():
        assert torch.equal(reader(*inputs).argmax(dim=-1), *reader.targets(answers))
        assert reader.decode(inputs).tolist() == answers.tolist()


def test_sums_are_learned_from_few_examples():
    """Of the pairs of residues modulo 86 to 323, 400 examples have one in twenty at most."""
    addition, rng = replace(task("addition"), max_operand=999, max_numerator=1998), np.random.default_rng(0)
    operands, asked = rng.integers(0, 1000, (400, 2)), rng.integers(0, 1000, (200, 2))
    solver = CompositeSolver()
    solver.fit(addition, operands, addition.solve(operands), seed=0, steps=150)
    assert np.mean(solver.answer(asked) == addition.solve(asked)) > 0.95


def test_obstacles():
    assert CompositeSolver().obstacle(task("subtraction")) is None
    assert CompositeSolver().obstacle(task("sum")) == "it reads 2 operands at most"
    assert CompositeSolver().obstacle(task("fraction-addition")) == "it has no fractions"
