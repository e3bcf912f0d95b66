from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from adelic.errors import ConfigurationError, EncodingError
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.rivals.digits import DigitReader

NAMES = ["fone", "xval", "abacus", "base-digits", "base-digits:base=1000"]
QUICK = {"fone": 80, "xval": 60, "fone:published=true": 100, "xval:published=true": 60}
LONG = {"abacus": 180, "base-digits": 120, "base-digits:base=1000": 120, "fone:published=true:shifts=true": 160}
LONG |= {"xval:scaling=log": 280, "base-digits:number_token_weight=0.3": 140}
LONG |= dict.fromkeys(("base-digits:autoregressive=true", "abacus:autoregressive=true"), 250)
SLOW = {f"base-digits:base={base}:autoregressive=true": 250 for base in (24, 1000)}


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        *QUICK.items(),
        *(pytest.param(*given, marks=pytest.mark.long) for given in LONG.items()),
        *(pytest.param(*given, marks=[pytest.mark.long, pytest.mark.slow]) for given in SLOW.items()),
    ],
)
def test_one_digit_addition_is_learned(fitted, share, name, steps):
    assert share(fitted(name, steps=steps)) > 0.6  # 9 is the most frequent sum: a tenth


def test_fone_in_a_wider_transformer(fitted):
    wide = fitted("fone:d_model=256", steps=2)
    widths = {p.shape[-1] for name, p in wide._network.named_parameters() if "norm" in name}
    assert widths == {256}
    assert wide.n_parameters > 10 * fitted("fone", steps=2).n_parameters


@pytest.mark.parametrize("name", NAMES)
def test_longer_and_negative_operands_are_accepted(fitted, name):
    problem = replace(ARITHMETIC["subtraction"], max_operand=10**25, max_numerator=10**25)
    data = {"operands": np.array([[3, 5], [-9, 4], [7, -7]]), "answers": np.array([-2, -13, 14], dtype=object)}
    solver = fitted(name, steps=2, problem=problem, **data)
    asked = np.array([[3, 5], [10**24, -5], [1, -(10**25)], [8, 8]], dtype=object)
    said = solver.answer(asked)
    assert said.shape == (4,)
    # xVal's real number of such a size overflows in the network: no answer
    assert [type(n) for n in said] == [int, type(None), type(None), int] if name == "xval" else [int] * 4
    assert solver.answer(asked[:0]).shape == (0,)
    # each row has its answer whatever is asked beside it
    assert [solver.answer(asked[i : i + 1])[0] for i in range(4)] == said.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_read_or_learned(fitted, name):
    assert build_solver(name).obstacle(ARITHMETIC["addition"]) is None
    fractions = ARITHMETIC["fraction-addition"]
    assert build_solver(name).obstacle(fractions) == "it has no fractions"
    operands, answers = fractions.sample(4, np.random.default_rng(0))
    with pytest.raises(ConfigurationError, match=r"^fraction-addition cannot be learned: it has no fractions[^\n]*$"):
        fitted(name, steps=1, problem=fractions, operands=operands, answers=answers)
    solver = fitted(name, steps=1)
    if name != "xval":  # which reads any real number
        for wrong, said in ((Fraction(1, 2), "1/2"), (10**9, "1000000000")):
            with pytest.raises(EncodingError, match=f"{said} at position \\[0, 1\\]"):
                solver.answer(np.array([[1, wrong]], dtype=object))


@pytest.mark.parametrize(
    ("operands", "answers"), [((5, 8), (4, 8)), ((4, 8), (5, 9)), ((3, 3), (1, 6)), ((3, 6), (1, 1))]
)
def test_shared_places_are_enough_for_every_offset(operands, answers):
    """The answers of `distance` are shorter than its operands in training, and as long among longer numbers."""
    reader = DigitReader(base=10, shared_places=True, operand_digits=operands, answer_digits=answers, arity=2)
    for offset in range(reader.max_offset + 1):
        assert reader.place_vectors(slice(0, 1), answers[0], offset).shape == (1, 1 + answers[0], 64)
        assert reader.place_vectors(slice(1, None), operands[0], offset).shape == (2, 1 + operands[0], 64)
    for numbers, n_digits in ((slice(0, 1), answers[1]), (slice(1, None), operands[1])):
        assert reader.place_vectors(numbers, n_digits, 0).shape[1] == 1 + n_digits


def test_the_encoder_is_the_same_for_all(fitted):
    sizes = {name: sum(p.numel() for p in fitted(name, steps=1)._network.encoder.parameters()) for name in NAMES}
    assert set(sizes.values()) == {100_096}
    assert fitted("fone", steps=1).n_parameters > 100_096
    assert build_solver("fone").n_parameters == 0


@pytest.mark.parametrize("name", NAMES)
def test_sequences_of_terms(fitted, name):
    problem = ARITHMETIC["sum"]
    operands, answers = problem.sample(50, np.random.default_rng(0))
    solver = fitted(name, steps=2, problem=problem, operands=operands, answers=answers)
    assert len(solver.answer(problem.sample(5, np.random.default_rng(1), "more terms")[0])) == 5


def reader(**changes):
    options = {"base": 10, "shared_places": True, "operand_digits": (2, 6), "answer_digits": (3, 7), "arity": 2}
    torch.manual_seed(0)
    return DigitReader(**(options | changes))


def test_digit_tokens():
    (short, (tokens,)), (longer, (wide,)) = reader().groups(np.array([[12, -5], [0, 123], [99, 99]]))
    assert short.tolist() == [0, 2]
    assert tokens.tolist() == [[[10, 2, 1], [11, 5, 0]], [[10, 9, 9], [10, 9, 9]]]
    assert longer.tolist() == [1]
    assert wide.tolist() == [[[10, 0, 0, 0, 0, 0, 0], [10, 3, 2, 1, 0, 0, 0]]]


@pytest.mark.parametrize("shared", [True, False])
def test_places(shared):
    found = reader(shared_places=shared)
    answer, operands = found.place_vectors(slice(0, 1), 3, 0), found.place_vectors(slice(1, None), 2, 0)
    assert answer.shape == (1, 4, 64)
    assert operands.shape == (2, 3, 64)
    if shared:  # the same vector a place, but for which number it is
        number = found.numbers
        assert torch.allclose(operands[1] - operands[0], (number[2] - number[1]).expand(3, 64), atol=1e-6)
        assert torch.allclose(answer[0, :3] - operands[0], (number[0] - number[1]).expand(3, 64), atol=1e-6)
        # the offset reaches the last place of the longest operand (4 further) and answer, and no further than the table
        assert found.max_offset == 4
        moved = found.place_vectors(slice(0, 1), 3, 4)
        assert torch.equal(moved[0, 0], answer[0, 0])  # the sign has no place
        assert torch.equal(moved[0, 3], found.places[0, 7] + number[0])
        assert found.place_vectors(slice(0, 1), 7, 0).shape == (1, 8, 64)
    else:
        assert found.max_offset == 0
        assert torch.equal(operands[1], found.places[2, :3])
