"""Heads of the rivals: their formulas, and what their authors' code computes (tests/oracles/rivals.py made it)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from adelic.errors import AdelicError, ConfigurationError
from adelic.nn import XValEmbedding
from adelic.nn.base_digits import count_digits, to_digits
from adelic_lab.models.solvers.rivals.heads import (
    DigitHead,
    DigitLogits,
    FourierHead,
    XValHead,
    from_digits,
    number_token_loss,
)

ORACLE = json.loads((Path(__file__).parents[3] / "oracles" / "rivals.json").read_text())


def copied(parameter, values):
    with torch.no_grad():
        parameter.copy_(torch.tensor(values))


def test_digits_of_any_size():
    numbers = [0, -1, 999, 1000, -(2**63), 10**40 + 7]
    for base in (2, 10, 1000):
        n_digits = max(count_digits(n, base) for n in numbers)
        digits, sign = to_digits(numbers, base=base, n_digits=n_digits)
        assert from_digits(digits, sign < 0, base=base).tolist() == numbers


def test_the_fourier_head_is_the_formula():
    head = FourierHead(7, n_digits=3, projection=None)
    hidden = torch.randn(2, 7, generator=torch.Generator().manual_seed(0))
    outputs, angles = head(hidden), 2 * math.pi * torch.arange(10) / 10
    for i in range(3):
        expected = hidden[:, 2 * i, None] * angles.cos() + hidden[:, 2 * i + 1, None] * angles.sin()
        assert torch.allclose(outputs.digits[:, i], expected, atol=1e-6)
    assert torch.equal(outputs.sign, hidden[:, 6])
    assert FourierHead(7, n_digits=50)(hidden).digits.shape == (2, 50, 10)


@pytest.mark.parametrize("bases", [(10,), (2, 5)])
def test_a_fourier_head_decodes_the_waves_of_digits(bases):
    """The last digit's waves alone tell a digit; the others' are angles between two digits, so digits are asked."""
    numbers = [305, -12, 0, -999]
    head = FourierHead(6 * len(bases) + 1, n_digits=3, projection=None, bases=bases[::-1])
    digits, negative = head.targets(numbers, 3)
    angles = 2 * math.pi * digits[..., None] / torch.tensor(bases)
    waves = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)
    assert head.decode(head(torch.cat([waves, 2 * negative[:, None] - 1], dim=1))).tolist() == numbers


@pytest.mark.parametrize("case", ORACLE["fone"]["heads"], ids=lambda case: str(case["bases"]))
def test_the_fourier_head_is_the_published_one(case):
    n_digits, hidden = case["n_digits"], torch.tensor(case["hidden"])
    options = {"n_digits": n_digits, "projection": "norm", "bases": case["bases"], "signed": False}
    head = FourierHead(32, max_shift=2, **options)
    copied(head.projection.weight, case["norm_weight"])
    copied(head.projection.bias, case["norm_bias"])
    targets = head.targets(case["answers"], n_digits)
    for k, loss in case["loss"].items():
        assert head.loss(head(hidden, int(k)), *targets).item() == pytest.approx(loss, rel=1e-5)
    assert head.decode(head(hidden)).tolist() == case["predicted"]
    assert head(hidden).sign is None
    needed = 2 * len(case["bases"]) * n_digits
    message = f"d_model={needed - 1} is too small for 4 digits; d_model >= {needed}"
    with pytest.raises(ConfigurationError, match=message):
        FourierHead(needed - 1, **options)


@pytest.mark.parametrize("base", [10, 1000])
def test_digit_losses_and_decoding(base):
    numbers = [0, -305, 999_999]
    head = DigitHead(8, base=base)
    digits, negative = head.targets(numbers, 6)
    sure = DigitLogits(50.0 * functional.one_hot(digits, base), 100.0 * negative - 50)
    assert head.decode(sure).tolist() == numbers
    assert head.loss(sure, digits, negative).item() < 1e-6
    nothing = DigitLogits(torch.zeros(3, 6, base), torch.zeros(3))
    assert head.loss(nothing, digits, negative).item() == pytest.approx(math.log(base) + math.log(2))


def test_a_digit_head_reads_sign_and_digits_from_their_own_states():
    head = DigitHead(8, base=10)
    hidden = torch.randn(5, 4, 8)
    outputs = head(hidden)
    assert torch.allclose(outputs.digits[:, 1], head.digit(hidden[:, 2]), atol=1e-6)
    assert torch.allclose(outputs.sign, head.sign(hidden[:, 0])[:, 0])


def test_the_number_token_loss_is_the_published_one():
    oracle = ORACLE["number_token_loss"]
    logits, digits = torch.tensor(oracle["logits"]), torch.tensor(oracle["digits"])
    each = [number_token_loss(row, digit).item() for row, digit in zip(logits, digits, strict=True)]
    assert each == pytest.approx(oracle["each"], rel=1e-5)
    assert number_token_loss(logits, digits).item() == pytest.approx(oracle["mean"], rel=1e-5)
    head = DigitHead(8, base=10, number_token_weight=oracle["weight"])
    loss = head.loss(DigitLogits(logits[None], torch.full((1,), -99.0)), digits[None], torch.zeros(1))
    assert loss.item() == pytest.approx(oracle["with_cross_entropy"], rel=1e-5)


def test_the_xval_head_rounds_to_integers():
    head = XValHead(8).fit([-20, 7])
    (scaled,) = head.targets([-20, 7, 40])
    assert scaled.tolist() == pytest.approx([-5, 1.75, 10])
    assert head.decode(scaled + 0.1).tolist() == [-20, 7, 40]
    assert all(type(n) is int for n in head.decode(scaled))
    assert head.loss(scaled + 2, scaled).item() == pytest.approx(4)
    layers = [p for p in head.parameters() if p.requires_grad]
    assert [tuple(p.shape) for p in layers] == [(32, 8), (32,), (1, 32), (1,)]


def test_the_xval_head_is_the_published_one():
    oracle = ORACLE["xval"]
    head = XValHead(6)
    head.layers.load_state_dict({name: torch.tensor(values) for name, values in oracle["head"].items()})
    assert head(torch.tensor(oracle["hidden"])).tolist() == pytest.approx(oracle["outputs"], abs=1e-6)


def test_xval_as_the_authors_of_fone_ran_it():
    oracle = ORACLE["fone_xval"]
    greatest, hidden = oracle["greatest"], torch.tensor(oracle["hidden"])
    embedding = XValEmbedding(None, 6, scaling="log", published=True).fit([greatest])
    copied(embedding.direction, oracle["token"])
    found = embedding(oracle["numbers"])
    assert torch.allclose(found, torch.tensor(oracle["vectors"]), atol=1e-5)
    assert found[oracle["numbers"].index(0)].tolist() == pytest.approx(oracle["token"])
    head = XValHead(6, scaling="log", is_linear=True).fit([greatest])
    copied(head.layers.weight, oracle["weight"])
    copied(head.layers.bias, oracle["bias"])
    outputs = head(hidden)
    assert head.loss(outputs, *head.targets(oracle["answers"])).item() == pytest.approx(oracle["loss"], rel=1e-5)
    assert head.scaling.unscale(outputs).tolist() == pytest.approx(oracle["predicted"], rel=1e-5)
    assert head.decode(outputs).tolist() == [round(number) for number in oracle["predicted"]]
    assert head.decode(torch.tensor([1e9, np.nan])).tolist() == [None, None]


def test_weights_of_other_waves_are_refused():
    with pytest.raises(ConfigurationError, match="another FourierHead: bases"):
        FourierHead(16, n_digits=2, bases=(2, 5)).load_state_dict(
            FourierHead(16, n_digits=2, bases=(3, 7)).state_dict()
        )


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: FourierHead(8, n_digits=4, projection=None), "d_model >= 9"),
        (lambda: FourierHead(8, n_digits=2, projection="mlp"), "projection='mlp' is unknown"),
        (lambda: FourierHead(8, n_digits=2, bases=(11,)), "whole numbers from 2 to 10"),
        (lambda: FourierHead(8, n_digits=4).targets([10**4], 4), "10000 at position \\[0\\]"),
        (
            lambda: FourierHead(16, n_digits=3, signed=False).targets([-5], 3),
            "-5 at position .* has a sign, .*; signed",
        ),
        (lambda: DigitHead(8, base=10).targets(["1/2"], 4), "1/2 at position \\[0\\] has a denominator"),
    ],
)
def test_bad_input_is_one_line(make, word):
    with pytest.raises(AdelicError, match=word):
        make()
