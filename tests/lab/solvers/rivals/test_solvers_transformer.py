"""The rivals' solvers, as ours have them and as published: what they learn, read, refuse, and how digits are said."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from adelic.errors import ConfigurationError, EncodingError
from adelic.nn.backend import Backend, Noise
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.rivals.digits import CausalEncoder, DigitReader

ORACLE = json.loads((Path(__file__).parents[3] / "oracles" / "rivals.json").read_text())["abacus"]
NAMES = ["fone", "xval", "abacus", "base-digits", "base-digits:base=1000"]
TWINS = ["base-digits", "base-digits:base=24", "base-digits:base=1000", "abacus"]
ONE_BY_ONE = [f"{twin}:autoregressive=true" for twin in TWINS]
FONE, SHIFTED, XVAL = "fone:published=true", "fone:published=true:shifts=true", "xval:published=true"
LOG, TOKEN_LOSS = "xval:scaling=log", "base-digits:number_token_weight=0.3"
PUBLISHED = [FONE, SHIFTED, XVAL, LOG, TOKEN_LOSS]
ADDITION = replace(ARITHMETIC["addition"], max_operand=9, max_numerator=18)
PAIRS = np.array([(a, b) for a in range(10) for b in range(10)])
SUMS = PAIRS.sum(axis=1).astype(object)


def fitted(name, *, steps, seed=0, problem=ADDITION, data=(PAIRS, SUMS)):
    solver = build_solver(name)
    solver.fit(problem, *data, seed=seed, steps=steps)
    return solver


def long(name, steps, *marks):
    return pytest.param(name, steps, marks=[pytest.mark.long, *marks])


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("fone", 80),
        ("xval", 60),
        long("abacus", 180),
        long("base-digits", 120),
        long("base-digits:base=1000", 120, pytest.mark.slow),
        long("base-digits:autoregressive=true", 250),
        long("abacus:autoregressive=true", 250, pytest.mark.slow),
        long("base-digits:base=24:autoregressive=true", 250, pytest.mark.slow),
        long("base-digits:base=1000:autoregressive=true", 250, pytest.mark.slow),
        (FONE, 100),
        long(SHIFTED, 160),
        (XVAL, 60),
        long(LOG, 280, pytest.mark.slow),
        long(TOKEN_LOSS, 140),
    ],
)
def test_one_digit_addition_is_learned(name, steps):
    # Numbers of two digits may be asked, too, so that there is room for a shift.
    problem = replace(ADDITION, max_operand=99, max_numerator=198) if name in PUBLISHED else ADDITION
    said = fitted(name, steps=steps, problem=problem).answer(PAIRS)
    assert said.dtype == object
    assert {type(n) for n in said} == {int}
    assert np.mean(said == SUMS) > 0.6  # 9 is the most frequent sum: a tenth


def test_fone_in_a_wider_transformer():
    wide = fitted("fone:d_model=256", steps=2)
    widths = {p.shape[-1] for name, p in wide._network.named_parameters() if "norm" in name}
    assert widths == {256}
    assert wide.n_parameters > 10 * fitted("fone", steps=2).n_parameters


@pytest.mark.parametrize("name", [*NAMES, *ONE_BY_ONE])
def test_longer_and_negative_operands_are_accepted(name):
    problem = replace(ARITHMETIC["subtraction"], max_operand=10**25, max_numerator=10**25)
    data = np.array([[3, 5], [-9, 4], [7, -7]]), np.array([-2, -13, 14], dtype=object)
    solver = fitted(name, steps=2, problem=problem, data=data)
    asked = np.array([[3, 5], [10**24, -5], [1, -(10**25)], [8, 8]], dtype=object)
    said = solver.answer(asked)
    assert said.shape == (4,)
    # xVal's real number of such a size overflows in the network: no answer
    assert [type(n) for n in said] == [int, type(None), type(None), int] if name == "xval" else [int] * 4
    assert solver.answer(asked[:0]).shape == (0,)
    # each row has its answer whatever is asked beside it
    assert [solver.answer(asked[i : i + 1])[0] for i in range(4)] == said.tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("problem", ["fraction-addition", "fraction-multiplication"])
def test_fractions_are_no_problem_for_them(name, problem):
    chosen = ARITHMETIC[problem]
    assert build_solver(name).obstacle(chosen) == "it has no fractions"
    with pytest.raises(ConfigurationError, match=f"^{problem} cannot be learned: it has no fractions; use another"):
        build_solver(name).fit(chosen, *chosen.sample(4, np.random.default_rng(0)), seed=0, steps=1)
    assert build_solver(name).obstacle(ADDITION) is None


@pytest.mark.parametrize("name", [name for name in NAMES if name != "xval"])  # which reads any real number
@pytest.mark.parametrize("wrong", [Fraction(1, 2), 10**9])
def test_operands_that_cannot_be_read_are_named(name, wrong):
    with pytest.raises(EncodingError, match=f"{wrong} at position \\[0, 1\\]"):
        fitted(name, steps=1).answer(np.array([[1, wrong]], dtype=object))


def test_the_encoder_is_the_same_for_all():
    sizes = {name: sum(p.numel() for p in fitted(name, steps=1)._network.encoder.parameters()) for name in NAMES}
    assert set(sizes.values()) == {100_096}
    assert fitted("fone", steps=1).n_parameters > 100_096


@pytest.mark.parametrize("name", NAMES)
def test_sequences_of_terms(name):
    problem = ARITHMETIC["sum"]
    solver = fitted(name, steps=2, problem=problem, data=problem.sample(50, np.random.default_rng(0)))
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


@pytest.mark.parametrize(
    ("operands", "answers"), [((5, 8), (4, 8)), ((4, 8), (5, 9)), ((3, 3), (1, 6)), ((3, 6), (1, 1))]
)
def test_shared_places_are_enough_for_every_offset(operands, answers):
    """The answers of `distance` are shorter than its operands in training, and as long among longer numbers."""
    found = reader(operand_digits=operands, answer_digits=answers)
    for offset in range(found.max_offset + 1):
        assert found.place_vectors(slice(0, 1), answers[0], offset).shape == (1, 1 + answers[0], 64)
        assert found.place_vectors(slice(1, None), operands[0], offset).shape == (2, 1 + operands[0], 64)
    for numbers, n_digits in ((slice(0, 1), answers[1]), (slice(1, None), operands[1])):
        assert found.place_vectors(numbers, n_digits, 0).shape[1] == 1 + n_digits


def test_abacus_reads_the_published_places():
    """In "321+54=573", digits reversed, a digit's row is its place in its number, and what is not a digit has row 0."""
    found = reader(operand_digits=(3, 102), answer_digits=(3, 102))
    assert found.max_offset == ORACLE["offsets"][1]
    with torch.no_grad():
        found.places.copy_(torch.arange(found.places.shape[1])[:, None].expand(1, -1, 64))
        found.numbers.zero_()
    for expected, offset in [(ORACLE["evaluation"], 0), *((row, row[0] - 1) for row in ORACLE["training"])]:
        rows = found.place_vectors(slice(0, 3), 3, offset)[..., 0].int().tolist()
        in_numbers = [expected[:3], expected[4:6], expected[7:]]
        assert [row[1 : 1 + len(places)] for row, places in zip(rows, in_numbers, strict=True)] == in_numbers
        assert [row[0] for row in rows] == [expected[3]] * 3 == [0] * 3  # the sign, as "+" there


def test_a_token_sees_those_before_it_alone():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder, tokens = CausalEncoder().eval(), torch.randn(2, 7, 64)
    changed = tokens.clone()
    changed[:, 4] *= -1
    before, after = (encoder(x, 7) for x in (tokens, changed))
    assert torch.allclose(before[:, :4], after[:, :4], atol=1e-6)
    assert not torch.allclose(before[:, 4:], after[:, 4:], atol=1e-3)
    assert torch.allclose(encoder(tokens, 3), before[:, -3:], atol=1e-6)


@pytest.mark.parametrize(("name", "twin"), list(zip(ONE_BY_ONE, TWINS, strict=True)))
def test_digits_are_said_one_after_the_other(name, twin):
    """What is said greedily is what teacher forcing would say behind the same digits; by a network of the same size."""
    data = np.array([[999, 1], [0, 999]]), np.array([998, -999], object)
    solver, other = (fitted(each, steps=2, problem=ARITHMETIC["subtraction"], data=data) for each in (name, twin))
    assert solver.n_parameters == other.n_parameters
    reader = solver._network
    ((_, inputs),) = reader.groups(np.array([[123, 7], [5, 800]]))
    with torch.no_grad():
        said = reader.decode(inputs)
        digits, negative = reader.targets(said)
        forced = reader.said(inputs[0], digits)
    assert torch.equal(forced.digits.argmax(dim=-1), digits)
    is_zero = torch.from_numpy((said == 0).astype(bool))
    assert torch.equal((forced.sign > 0) | is_zero, (negative > 0) | is_zero)


def test_the_problems_say_whether_they_have_negative_numbers():
    for problem in ARITHMETIC.values():
        drawn = [problem.sample(2000, np.random.default_rng(0), split) for split in problem.splits]
        seen = any((operands < 0).any() or (answers < 0).any() for operands, answers in drawn)
        assert seen <= problem.signed
        assert seen or not problem.signed or problem.name == "polynomial"  # f(0), f(1), f(2) alone


def test_what_they_cannot_express_as_published():
    def obstacles(name, *problems):
        return {problem: build_solver(name).obstacle(ARITHMETIC[problem]) for problem in problems or ARITHMETIC}

    assert set(obstacles(SHIFTED, "subtraction", "multiplication").values()) == {"shifts are for sums alone"}
    assert obstacles(FONE, "subtraction") == {"subtraction": "as published it has no negative numbers"}
    assert {obstacles(name, "subtraction")["subtraction"] for name in (XVAL, LOG, TOKEN_LOSS)} == {None}
    assert obstacles(XVAL, "fraction-addition") == {"fraction-addition": "it has no fractions"}
    assert [problem for problem, why in obstacles(FONE).items() if why is None] == [
        *("addition", "multiplication", "modular-inverse", "modular-inverse-prime", "exact-division", "sum"),
        *("product", "comparison"),
    ]


@pytest.mark.parametrize("name", PUBLISHED)
def test_their_readers_have_what_was_published(name):
    reader = fitted(name, steps=1, problem=replace(ADDITION, max_operand=99, max_numerator=198))._network
    if name in (FONE, SHIFTED):
        assert reader.embedding.published
        assert reader.embedding.max_shift == (name == SHIFTED)
        assert isinstance(reader.head.projection, torch.nn.LayerNorm)
        assert not reader.head.signed
    elif name == TOKEN_LOSS:
        assert reader.head.number_token_weight == 0.3
    else:
        assert reader.embedding.token is None
        assert reader.embedding.scaling == reader.head.scaling.scaling == ("log" if name == LOG else "linear")
        if name == LOG:  # one scale for all, as the authors' code has
            assert reader.embedding.scale == reader.head.scaling.scale


def test_a_shifted_number_is_answered_further_up():
    problem = replace(ADDITION, max_operand=99, max_numerator=198)
    reader = fitted(SHIFTED, steps=1, problem=problem)._network.train()
    ((_, (features,)),) = reader.groups(PAIRS[:3])
    backends = {}
    for seed in range(20):
        with Backend(noise=Noise(seed)).on("cpu"):
            backends[reader.embedding.draw_shift()] = Backend(noise=Noise(seed))
    assert set(backends) == {0, 1}
    ((_, (tenfold,)),) = reader.groups(10 * PAIRS[:3])
    with backends[1].on("cpu"):
        shifted = reader(features).digits
    with backends[0].on("cpu"):
        plain = reader(tenfold).digits
    assert torch.allclose(shifted[:, :2], plain[:, 1:3], atol=1e-5)  # the same state, one digit up
