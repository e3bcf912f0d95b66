import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from adelic.errors import ConfigurationError
from adelic.nn.backend import Backend, Noise
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.rivals.digits import DigitReader

ORACLE = json.loads((Path(__file__).parents[3] / "oracles" / "rivals.json").read_text())["abacus"]
FONE, SHIFTED, XVAL = "fone:published=true", "fone:published=true:shifts=true", "xval:published=true"
LOG, TOKEN_LOSS = "xval:scaling=log", "base-digits:number_token_weight=0.3"
NAMES = [FONE, SHIFTED, XVAL, LOG, TOKEN_LOSS]
TWO_DIGITS = replace(ARITHMETIC["addition"], max_operand=99, max_numerator=198)


def test_the_problems_say_whether_they_have_negative_numbers():
    for problem in ARITHMETIC.values():
        drawn = [problem.sample(2000, np.random.default_rng(0), split) for split in problem.splits]
        seen = any((operands < 0).any() or (answers < 0).any() for operands, answers in drawn)
        assert seen <= problem.signed
        assert seen or not problem.signed or problem.name == "polynomial"  # f(0), f(1), f(2) alone


def test_what_they_cannot_express():
    obstacles = {name: build_solver(name).obstacle(ARITHMETIC["subtraction"]) for name in NAMES}
    assert obstacles.pop(FONE) == "as published it has no negative numbers"
    assert "sums alone" in obstacles.pop(SHIFTED)
    assert set(obstacles.values()) == {None}
    assert "sums alone" in build_solver(SHIFTED).obstacle(ARITHMETIC["multiplication"])
    assert build_solver(XVAL).obstacle(ARITHMETIC["fraction-addition"]) == "it has no fractions"
    known = "addition multiplication modular-inverse modular-inverse-prime exact-division sum product comparison"
    assert [p for p in ARITHMETIC if build_solver(FONE).obstacle(ARITHMETIC[p]) is None] == known.split()
    operands, answers = ARITHMETIC["subtraction"].sample(4, np.random.default_rng(0))
    with pytest.raises(ConfigurationError, match=r"subtraction cannot be learned: .* has no negative numbers"):
        build_solver(FONE).fit(ARITHMETIC["subtraction"], operands, answers, seed=0, steps=1)


@pytest.mark.parametrize("name", NAMES)
def test_their_readers_have_what_was_published(fitted, name):
    reader = fitted(name, steps=1, problem=TWO_DIGITS)._network
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


def test_a_shifted_number_is_answered_further_up(fitted):
    reader, operands = fitted(SHIFTED, steps=1, problem=TWO_DIGITS)._network.train(), np.array([[3, 4], [0, 9], [7, 7]])
    ((_, (features,)),) = reader.groups(operands)
    backends = {}
    for seed in range(20):
        with Backend(noise=Noise(seed)).on("cpu"):
            backends[reader.embedding.draw_shift()] = Backend(noise=Noise(seed))
    assert set(backends) == {0, 1}
    ((_, (tenfold,)),) = reader.groups(10 * operands)
    with backends[1].on("cpu"):
        shifted = reader(features).digits
    with backends[0].on("cpu"):
        plain = reader(tenfold).digits
    assert torch.allclose(shifted[:, :2], plain[:, 1:3], atol=1e-5)  # the same state, one digit up


def test_abacus_reads_the_published_places():
    """In "321+54=573", digits reversed, a digit's row is its place in its number, and what is not a digit has row 0."""
    reader = DigitReader(base=10, shared_places=True, operand_digits=(3, 102), answer_digits=(3, 102), arity=2)
    assert reader.max_offset == ORACLE["offsets"][1]
    with torch.no_grad():
        reader.places.copy_(torch.arange(reader.places.shape[1])[:, None].expand(1, -1, 64))
        reader.numbers.zero_()
    for expected, offset in [(ORACLE["evaluation"], 0), *((row, row[0] - 1) for row in ORACLE["training"])]:
        rows = reader.place_vectors(slice(0, 3), 3, offset)[..., 0].int().tolist()
        in_numbers = [expected[:3], expected[4:6], expected[7:]]
        assert [row[1 : 1 + len(places)] for row, places in zip(rows, in_numbers, strict=True)] == in_numbers
        assert [row[0] for row in rows] == [expected[3]] * 3 == [0] * 3  # the sign, as "+" there
