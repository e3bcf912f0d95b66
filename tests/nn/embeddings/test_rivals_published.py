"""The rivals as published, against what their authors' code computes (tests/oracles/rivals.py made the vectors)."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from adelic.errors import AdelicError, ConfigurationError, EncodingError
from adelic.nn import AbacusEmbedding, FoNEEmbedding, PeriodicEmbedding, SequenceClassifier, Vocabulary, XValEmbedding
from adelic.nn.backend import Backend, Noise
from adelic.nn.base_digits import to_digits
from adelic.nn.heads.rivals import DigitHead, DigitLogits, FourierHead, XValHead, number_token_loss

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "rivals.json").read_text())
FONE, WAVES, HEADS = ORACLE["fone"], ORACLE["fone"]["waves"], ORACLE["fone"]["heads"]


def copied(parameter, values):
    with torch.no_grad():
        parameter.copy_(torch.tensor(values))


def test_the_page_names_the_vectors_sources():
    page = (Path(__file__).parents[3] / "docs" / "rivals.md").read_text(encoding="utf-8")
    for source in ORACLE["meta"]["repositories"].values():
        assert len(source["commit"]) == 40
        assert f"| {source['repository']} | {source['commit'][:7]} |" in page


@pytest.mark.parametrize("case", WAVES, ids=lambda case: f"{case['fractional_digits']}-{case['bases']}")
def test_fone_has_the_published_waves(case):
    digits = {key: case[key] for key in ("integer_digits", "fractional_digits", "bases")}
    embedding = FoNEEmbedding(None, 32, projection=None, published=True, max_shift=2, **digits)
    assert [float(period) for period in embedding.periods] == pytest.approx(case["periods"], rel=1e-12)
    features = embedding.features(case["numbers"])
    for k, waves in case["waves"].items():
        found = functional.pad(embedding._shifted(features, int(k)), (0, 32 - embedding.n_waves))
        assert torch.allclose(found, torch.tensor(waves), atol=1e-6)
    # ours differ in 0, which has waves, and in the sign
    ours = FoNEEmbedding(None, 32, **digits).features(case["numbers"])
    assert torch.equal(ours[1:, :-1], features[1:])
    assert ours[:, -1].tolist() == [0] + [1] * (len(ours) - 1)
    assert ours[0, :-1].tolist() == [1, 0] * len(case["periods"])


def test_fone_has_the_published_vectors():
    oracle = FONE["vectors"]
    embedding = FoNEEmbedding(None, 16, integer_digits=5, published=True)
    copied(embedding.projection.weight, [row[: embedding.n_waves] for row in oracle["weight"]])
    copied(embedding.projection.bias, oracle["bias"])
    copied(embedding.token, oracle["token"])
    assert torch.allclose(embedding(oracle["numbers"]), torch.tensor(oracle["vectors"]), atol=1e-5)
    bare = FoNEEmbedding(None, 16, integer_digits=5, published=True, projection=None)
    copied(bare.token, oracle["token"])
    assert torch.equal(bare([0, 7])[0], torch.tensor(oracle["token"]))


def test_fone_starts_as_published():
    oracle = FONE["initial"]
    torch.manual_seed(0)
    published = FoNEEmbedding(None, oracle["d_model"], integer_digits=9, published=True)
    for parameter in published.projection.parameters():
        assert parameter.abs().max() <= oracle["d_model"] ** -0.5
    weight = published.projection.weight
    assert weight.abs().max().item() == pytest.approx(oracle["greatest"], rel=0.01)
    assert weight.std().item() == pytest.approx(oracle["deviation"], rel=0.05)
    ours = FoNEEmbedding(None, oracle["d_model"], integer_digits=9).projection.weight
    assert (ours.std() / weight.std()).item() == pytest.approx(math.sqrt(128 / 19), rel=0.05)  # 2.6


def test_fone_leaves_the_sign_to_the_text():
    assert FONE["read"]["question_with_num"].split() == ["-", "[NUM]", "+", "[NUM]", "="]
    assert FONE["read"]["numbers"] == [12, 7]
    with pytest.raises(EncodingError, match="-12 at position \\[1\\] has a sign, which FoNE as published leaves"):
        FoNEEmbedding(None, published=True)([3, -12])
    with pytest.raises(EncodingError, match="-5 at position \\[0\\] has a sign"):
        FoNEEmbedding(Vocabulary([-5, 3]), published=True)
    with pytest.raises(EncodingError, match=r"-5 at position .* has a sign, .*; signed=True"):
        FourierHead(16, n_digits=3, signed=False).targets([-5], 3)
    ours = FoNEEmbedding(None, 128, projection=None)([5, -5])
    assert (ours[0] != ours[1]).sum() == 1  # the note once said that we drop the sign


@pytest.mark.parametrize("case", HEADS, ids=lambda case: str(case["bases"]))
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


def test_a_fourier_head_of_two_bases_and_a_sign():
    head = FourierHead(13, n_digits=3, projection=None, bases=(5, 2))
    digits, negative = head.targets([305, -12], 3)
    waves = [torch.stack([(2 * math.pi * digits / b).cos(), (2 * math.pi * digits / b).sin()], dim=-1) for b in (2, 5)]
    hidden = torch.cat([torch.cat(waves, dim=-1).flatten(1), 2 * negative[:, None] - 1], dim=1)
    assert head.decode(head(hidden)).tolist() == [305, -12]


def test_fone_shifts_numbers_in_training_alone(under):
    embedding = FoNEEmbedding(Vocabulary([0, 3, 12, 305]), 32, max_shift=2, projection=None, published=True)
    assert embedding.integer_digits == 5
    ids = torch.arange(4)
    tenfold = FoNEEmbedding(None, 32, integer_digits=5, projection=None, published=True)
    tenfold.load_state_dict({"token": embedding.token}, strict=False)
    shifted = [tenfold([0, 3 * 10**k, 12 * 10**k, 305 * 10**k]) for k in range(3)]
    seen = set()
    for seed in range(64):
        with Backend(noise=Noise(seed)).on("cpu"):
            out, k = embedding(ids), embedding.draw_shift()
        assert torch.equal(out, under(embedding, ids, noise=Noise(seed, first_row=9)))  # one draw for all of a batch
        assert torch.allclose(out, shifted[k], atol=1e-6)
        seen.add(k)
    assert seen == {0, 1, 2}
    assert torch.equal(under(embedding.eval(), ids, noise=Noise(1)), shifted[0])


def test_the_classifier_gives_its_noise_to_fone(under):
    embedding = FoNEEmbedding(Vocabulary(range(8)), 8, max_shift=2)
    model = SequenceClassifier(embedding, n_classes=2, max_length=4, n_layers=1, n_heads=2, dropout=0.0)
    ids = torch.tensor([[1, 2, 3]])
    out = [under(model, ids, noise=Noise(seed)) for seed in range(12)]
    assert torch.equal(under(model, ids, noise=Noise(0)), out[0])
    assert len({tuple(o.flatten().tolist()) for o in out}) == 3


def test_xval_has_the_published_vectors():
    oracle = ORACLE["xval"]
    embedding = XValEmbedding(None, 6, published=True).fit([-5, 5])
    copied(embedding.direction, oracle["token"])
    found = embedding([str(number) for number in oracle["scaled"]])
    assert torch.allclose(found, torch.tensor(oracle["vectors"]), atol=1e-6)
    assert not found[oracle["scaled"].index(0)].any()  # 0 erases it
    assert [name for name, _ in embedding.named_parameters()] == ["direction"]


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
    assert head.decode(torch.tensor([1e9, math.nan])).tolist() == [None, None]


@pytest.mark.parametrize("published", [True, False])
def test_periodic_has_the_published_vectors(published):
    oracle = ORACLE["periodic"]
    embedding = PeriodicEmbedding(None, 5, n_frequencies=4, published=published).fit([-1, 1])
    copied(embedding.frequencies, oracle["frequencies"])
    copied(embedding.projection.weight, oracle["weight"])
    copied(embedding.projection.bias, oracle["bias"])
    found = embedding([str(number) for number in oracle["standardized"]])
    assert torch.allclose(found, torch.tensor(oracle["vectors"]), atol=1e-5)


def test_periodic_starts_within_three_sigma_as_published():
    oracle = ORACLE["periodic"]["initial"]
    torch.manual_seed(0)
    published, ours = (
        PeriodicEmbedding(None, n_frequencies=20_000, sigma=0.01, published=given).frequencies / 0.01
        for given in (True, False)
    )
    assert 2.9 < published.abs().max() <= 3
    assert oracle["greatest"] <= 3
    assert published.std().item() == pytest.approx(oracle["deviation"], rel=0.01)
    assert 20 < (ours.abs() > 3).sum() < 100  # 0.27 %


def test_abacus_draws_the_published_offsets():
    assert ORACLE["abacus"]["offsets"] == [0, 99]
    drawn = {Backend(noise=Noise(seed)).draw_up_to(99) for seed in range(3000)}
    assert (min(drawn), max(drawn), len(drawn)) == (0, 99, 100)
    assert len(AbacusEmbedding(None, 4, max_digits=5, max_offset=99).places.weight) == 104


def test_the_number_token_loss_is_the_published_one():
    oracle = ORACLE["number_token_loss"]
    logits, digits = torch.tensor(oracle["logits"]), torch.tensor(oracle["digits"])
    each = [number_token_loss(row, digit).item() for row, digit in zip(logits, digits, strict=True)]
    assert each == pytest.approx(oracle["each"], rel=1e-5)
    assert number_token_loss(logits, digits).item() == pytest.approx(oracle["mean"], rel=1e-5)
    squared = number_token_loss(logits, digits, distance="squared").item()
    assert squared == pytest.approx(oracle["squared"], rel=1e-5)
    head = DigitHead(8, base=10, number_token_weight=oracle["weight"])
    loss = head.loss(DigitLogits(logits[None], torch.full((1,), -99.0)), digits[None], torch.zeros(1))
    assert loss.item() == pytest.approx(oracle["with_cross_entropy"], rel=1e-5)


def test_digits_in_base_1000_are_those_of_int2int():
    oracle = ORACLE["int2int"]
    digits, sign = to_digits(oracle["numbers"], base=oracle["base"], n_digits=3)
    for tokens, row, s in zip(oracle["tokens"], digits, sign, strict=True):
        assert tokens[0] == ("-" if s < 0 else "+")
        written = [int(token) for token in tokens[:0:-1]]
        assert row.tolist() == written + [0] * (3 - len(written))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: FoNEEmbedding(Vocabulary([1, 2]), published=True, standardize=True), "standardize is ours"),
        (lambda: FoNEEmbedding(Vocabulary([1, 2]), max_shift=1, standardize=True), "standardize is ours"),
        (lambda: XValEmbedding(Vocabulary([1, 2]), published=True, standardize=True), "standardize is ours"),
        (lambda: FoNEEmbedding(None, integer_digits=3, max_shift=3), "max_shift=3 of 3 \\+ 0 digits"),
        (lambda: FoNEEmbedding(None, max_shift=-1), "max_shift=-1"),
        (lambda: FoNEEmbedding(None, bases=(3,), max_shift=1), "max_shift=1 needs bases dividing 10, not \\(3,\\)"),
        (lambda: FourierHead(8, n_digits=2, projection="mlp"), "projection='mlp' is unknown"),
        (lambda: FourierHead(8, n_digits=2, bases=(11,)), "whole numbers from 2 to 10"),
    ],
)
def test_bad_options_are_one_line(make, word):
    with pytest.raises(AdelicError, match=word) as caught:
        make()
    assert "\n" not in str(caught.value)
