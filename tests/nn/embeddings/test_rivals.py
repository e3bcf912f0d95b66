"""The rivals' embeddings: their formulas, and what their authors' code computes (tests/oracles/rivals.py made it)."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from adelic.errors import AdelicError, EncodingError
from adelic.nn import (
    AbacusEmbedding,
    FoNEEmbedding,
    OneHotEmbedding,
    PeriodicEmbedding,
    RandomEmbedding,
    SequenceClassifier,
    UnionEmbedding,
    Vocabulary,
    XValEmbedding,
)
from adelic.nn.backend import Backend, Noise
from adelic.nn.base_digits import count_digits, to_digits
from adelic.nn.embeddings.features import standardize
from adelic.nn.registry import build_embedding

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "rivals.json").read_text())
FONE = ORACLE["fone"]
OPEN_ENDED = ["fone", "xval", "abacus", "periodic"]
INTEGERS = [0, 5, -5, 120, -7, 10**6, 21, 12]


def opened(name, d_model=16):
    embedding = build_embedding(name, None, d_model=d_model)
    return embedding.fit(INTEGERS) if name in ("xval", "periodic") else embedding


def copied(parameter, values):
    with torch.no_grad():
        parameter.copy_(torch.tensor(values))


def test_the_page_names_the_vectors_sources():
    page = (Path(__file__).parents[3] / "docs" / "rivals.md").read_text(encoding="utf-8")
    for source in ORACLE["meta"]["repositories"].values():
        assert len(source["commit"]) == 40
        assert f"| {source['repository']} | {source['commit'][:7]} |" in page


def test_random_is_frozen_normal_and_saved(vocabulary):
    embedding = RandomEmbedding(Vocabulary(range(2000)), 50, generator=torch.Generator().manual_seed(1))
    assert list(embedding.parameters()) == []
    assert abs(embedding.table.mean().item()) < 0.02
    assert abs(embedding.table.std().item() - 1) < 0.02
    first, second = (RandomEmbedding(vocabulary, 4, generator=torch.Generator().manual_seed(s)) for s in (0, 1))
    assert not torch.equal(first.table, second.table)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first.table, second.table)


def test_one_hot_is_the_linear_map(vocabulary):
    embedding = OneHotEmbedding(vocabulary, d_model=6)
    ids = torch.tensor([[3, 0], [7, 3]])
    expected = embedding.projection(functional.one_hot(ids, 8).float())
    assert torch.allclose(embedding(ids), expected, atol=1e-6)


def test_zero_is_a_number_and_padding_a_mask():
    for name in OPEN_ENDED:
        embedding = opened(name)
        assert embedding([0]).any()
        vectors = embedding([[0, 5, 0]], mask=torch.tensor([[True, True, False]]))
        assert torch.equal(vectors[0, :2], embedding([0, 5]))
        assert not vectors[0, 2].any()


# FoNE


def test_fone_counts_the_digits_that_a_vocabulary_needs():
    embedding = FoNEEmbedding(Vocabulary(["-1234", "1/8", "3/5"]), d_model=16)
    assert (embedding.integer_digits, embedding.fractional_digits, embedding.n_features) == (4, 3, 15)
    assert embedding.projection.in_features == 15


@pytest.mark.parametrize("bases", [(10,), (2, 5)])
def test_fone_is_standardized_as_the_adeles_are(bases):
    numbers = [0, 3, 7, 12, 25]
    plain, embedding = (
        FoNEEmbedding(Vocabulary(numbers), d_model=16, bases=bases, standardize=given) for given in (False, True)
    )
    constant = plain.table.double().std(dim=0) < 1e-6  # the sine of period 2
    assert constant.sum() == (1 if bases == (2, 5) else 0)
    assert not embedding.table[:, constant].any()
    kept = ~constant.numpy()
    expected = standardize(plain.table.numpy())[:, kept]
    assert embedding.table.numpy()[:, kept] == pytest.approx(expected, abs=1e-5)
    assert torch.equal(embedding.features([12, 3]), embedding.table[[3, 1]])  # by the vocabulary, not by themselves


@pytest.mark.parametrize("bases", [(10,), (2, 5), (3, 7), tuple(range(2, 11))])
def test_fone_turns_by_the_definition(bases):
    """|x|/T modulo 1 for each period T, the sign, and padding; of numbers too long for a float, and after the point."""
    numbers = [Fraction(10**400 // 7, 1000), Fraction(-(3**500), 10), Fraction(7), Fraction(0)]
    embedding = FoNEEmbedding(None, 10**5, integer_digits=401, fractional_digits=3, bases=bases, projection=None)
    angles = np.array([[2 * np.pi * float(abs(x) / period % 1) for period in embedding.periods] for x in numbers])
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(len(numbers), -1)
    expected = np.hstack([waves, [[1], [-1], [1], [0]], np.zeros((len(numbers), 10**5 - waves.shape[1] - 1))])
    np.testing.assert_allclose(embedding(numbers), expected, atol=1e-5)
    assert embedding.fingerprint()["periods"] == [str(period) for period in embedding.periods]


def test_fone_is_told_apart_where_numbers_are_longer_than_python_prints():
    longer, shorter = (FoNEEmbedding(None, integer_digits=digits) for digits in (5001, 5000))
    assert longer.fingerprint() != shorter.fingerprint()


@pytest.mark.parametrize("case", FONE["waves"], ids=lambda case: f"{case['fractional_digits']}-{case['bases']}")
def test_fone_has_the_published_waves(case):
    digits = {key: case[key] for key in ("integer_digits", "fractional_digits", "bases")}
    embedding = FoNEEmbedding(None, 32, projection=None, published=True, max_shift=2, **digits)
    assert [float(period) for period in embedding.periods] == pytest.approx(case["periods"], rel=1e-12)
    features = embedding.features(case["numbers"])
    for k, published in case["waves"].items():
        found = functional.pad(embedding._shifted(features, int(k)), (0, 32 - embedding.n_waves))
        assert torch.allclose(found, torch.tensor(published), atol=1e-6)
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
    ours = FoNEEmbedding(None, 128, projection=None)([5, -5])
    assert (ours[0] != ours[1]).sum() == 1


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


# xVal and PLR


@pytest.mark.parametrize("standardized", [False, True])
def test_xval_is_the_formula(standardized):
    embedding = XValEmbedding(Vocabulary([-4, 0, 10]), d_model=3, standardize=standardized)
    copied(embedding.direction, [1.0, 2.0, 3.0])
    copied(embedding.token, [0.5, 0.0, 0.0])
    scaled = (np.array([-4, 0, 10]) - 2) / np.std([-4, 0, 10]) if standardized else np.array([-2, 0, 5])
    expected = torch.tensor(scaled)[:, None] * torch.tensor([1, 2, 3]) + torch.tensor([0.5, 0, 0])
    assert torch.allclose(embedding(torch.arange(3)), expected.float())


def test_xval_scales():
    logarithmic = XValEmbedding(Vocabulary([-3, 0, 99]), d_model=3, scaling="log").table.flatten()
    assert logarithmic.tolist() == pytest.approx([-5 * math.log(4) / math.log(100), 0, 5])
    assert XValEmbedding(Vocabulary([0]), d_model=3).table.item() == 0
    assert not XValEmbedding(Vocabulary([7]), d_model=3, standardize=True).table.any()
    large = XValEmbedding(None, d_model=3).fit([10**300, "-1/3"])
    assert large.features([10**300, -(10**299)]).flatten().tolist() == pytest.approx([5, -0.5])
    options = {"scaling": "log", "standardize": True, "d_model": 3}
    closed, opened_up = XValEmbedding([-4, 0, 10], **options), XValEmbedding(None, **options).fit([-4, 0, 10])
    assert torch.equal(opened_up.features([-4, 0, 10]), closed.table)


def test_xval_has_the_published_vectors():
    oracle = ORACLE["xval"]
    embedding = XValEmbedding(None, 6, published=True).fit([-5, 5])
    copied(embedding.direction, oracle["token"])
    found = embedding([str(number) for number in oracle["scaled"]])
    assert torch.allclose(found, torch.tensor(oracle["vectors"]), atol=1e-6)
    assert not found[oracle["scaled"].index(0)].any()  # 0 erases it
    assert [name for name, _ in embedding.named_parameters()] == ["direction"]


def test_periodic_is_the_formula():
    embedding = PeriodicEmbedding(Vocabulary([1, 3, 8]), d_model=5, n_frequencies=4, sigma=0.5)
    mean, deviation = 4, math.sqrt((9 + 1 + 16) / 3)
    u = (torch.tensor([1.0, 3.0, 8.0]) - mean) / deviation
    v = 2 * math.pi * u[:, None] * embedding.frequencies
    weight, bias = embedding.projection.weight, embedding.projection.bias
    expected = torch.relu(torch.cat([v.cos(), v.sin()], dim=1) @ weight.T + bias)
    assert torch.allclose(embedding(torch.arange(3)), expected, atol=1e-6)
    assert PeriodicEmbedding(Vocabulary([7]), d_model=5)(torch.tensor(0)).isfinite().all()


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
    assert ours.std().item() == pytest.approx(1, rel=0.05)
    assert 20 < (ours.abs() > 3).sum() < 100  # 0.27 %


# Abacus and digits


@pytest.mark.parametrize(
    ("base", "number", "digits"), [(10, -120, [0, 2, 1]), (1000, 5_000_012, [12, 0, 5]), (10, 0, [0])]
)
def test_abacus_is_the_formula(base, number, digits):
    embedding = AbacusEmbedding(None, d_model=4, base=base, max_digits=6).eval()
    table, places, signs = embedding.digits.weight, embedding.places.weight, embedding.signs.weight
    expected = sum(table[d] * places[i] for i, d in enumerate(digits)) + signs[1 + int(np.sign(number))]
    assert torch.allclose(embedding([number])[0], expected, atol=1e-6)


def test_abacus_draws_an_offset_in_training_alone(under):
    embedding = AbacusEmbedding(Vocabulary(range(100)), d_model=4, max_offset=7)
    ids = torch.tensor([42])
    place, digit, sign = embedding.places.weight, embedding.digits.weight, embedding.signs.weight[2]
    shifted = [digit[2] * place[o] + digit[4] * place[o + 1] + sign for o in range(8)]
    seen = set()
    for seed in range(64):
        out = under(embedding, ids, noise=Noise(seed))
        assert torch.equal(out, under(embedding, ids, noise=Noise(seed, first_row=9)))  # one draw for all of a batch
        seen |= {o for o in range(8) if torch.allclose(out[0], shifted[o])}
    assert seen == set(range(8))
    torch.manual_seed(0)
    drawn = [embedding(ids)[0] for _ in range(64)]
    assert {o for o in range(8) for out in drawn if torch.allclose(out, shifted[o])} == set(range(8))
    assert torch.allclose(under(embedding.eval(), ids, noise=Noise(3))[0], shifted[0])


def test_abacus_draws_the_published_offsets():
    assert ORACLE["abacus"]["offsets"] == [0, 99]
    drawn = {Backend(noise=Noise(seed)).draw_up_to(99) for seed in range(3000)}
    assert (min(drawn), max(drawn), len(drawn)) == (0, 99, 100)
    assert len(AbacusEmbedding(None, 4, max_digits=5, max_offset=99).places.weight) == 104


@pytest.mark.parametrize(("kind", "option"), [(AbacusEmbedding, "max_offset"), (FoNEEmbedding, "max_shift")])
def test_the_classifier_gives_its_noise_to_its_embedding(kind, option, vocabulary, under):
    model = SequenceClassifier(
        kind(vocabulary, 8, **{option: 2}), n_classes=2, max_length=4, n_layers=1, n_heads=2, dropout=0.0
    )
    ids = torch.tensor([[1, 2, 3]])
    out = [under(model, ids, noise=Noise(seed)) for seed in range(12)]
    assert torch.equal(under(model, ids, noise=Noise(0)), out[0])
    assert len({tuple(o.flatten().tolist()) for o in out}) == 3


def test_digits_of_any_size():
    numbers = [0, -1, 999, 1000, -(2**63), 10**40 + 7]
    for base in (2, 10, 1000):
        n_digits = max(count_digits(n, base) for n in numbers)
        digits, sign = to_digits(numbers, base=base, n_digits=n_digits)
        assert ((digits >= 0) & (digits < base)).all()
        assert [sum(int(d) * base**k for k, d in enumerate(row)) for row in digits] == list(map(abs, numbers))
        assert sign.tolist() == [0, -1, 1, 1, -1, 1]
    assert count_digits(10**40, 10) == 41
    assert to_digits(np.array([[12, 345]]), base=10, n_digits=3)[0].tolist() == [[[2, 1, 0], [5, 4, 3]]]
    with pytest.raises(EncodingError, match="345 at position \\[0, 1\\] has more than 2"):
        to_digits(np.array([[12, 345]]), base=10, n_digits=2)


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
        (lambda: FoNEEmbedding(None)([["1/3"]]), "1/3 at position \\[0, 0\\] has a denominator"),
        (lambda: FoNEEmbedding(Vocabulary([1, "1/3"])), "1/3 has no finite decimal expansion"),
        (lambda: FoNEEmbedding(Vocabulary([1, "1/7"]), fractional_digits=2), "1/7 at position \\[1\\] has more than 2"),
        (lambda: FoNEEmbedding(None)([7, 10**10]), "10000000000 at position \\[1\\] has more than 10"),
        (lambda: FoNEEmbedding(None, 16, projection=None), "projection='linear'"),
        (lambda: FoNEEmbedding(None, projection="mlp"), "projection='mlp'"),
        (lambda: FoNEEmbedding(None, integer_digits=0), "integer_digits=0"),
        (lambda: FoNEEmbedding(None, bases=()), "bases=\\(\\) give no periods"),
        (lambda: FoNEEmbedding(None, bases=(2, 11)), "use whole numbers from 2 to 10"),
        (lambda: FoNEEmbedding(None, standardize=True), "needs a vocabulary to standardize over"),
        (lambda: FoNEEmbedding(Vocabulary([1, 2]), published=True, standardize=True), "standardize is ours"),
        (lambda: FoNEEmbedding(Vocabulary([1, 2]), max_shift=1, standardize=True), "standardize is ours"),
        (lambda: FoNEEmbedding(None, integer_digits=3, max_shift=3), "max_shift=3 of 3 \\+ 0 digits"),
        (lambda: FoNEEmbedding(None, max_shift=-1), "max_shift=-1"),
        (lambda: FoNEEmbedding(None, bases=(3,), max_shift=1), "max_shift=1 needs bases dividing 10, not \\(3,\\)"),
        (lambda: AbacusEmbedding(Vocabulary([1, "1/2"])), "1/2 at position \\[1\\] has a denominator"),
        (lambda: AbacusEmbedding(None, base=2)([1024]), "1024 at position \\[0\\] has more than 10 base-2"),
        (lambda: AbacusEmbedding(None, base=1), "base=1"),
        (lambda: AbacusEmbedding(None, max_offset=-1), "max_offset=-1"),
        (lambda: XValEmbedding(Vocabulary([1, 10**400])), "beyond float64"),
        (lambda: XValEmbedding(None)([1]), "fit\\(numbers\\)"),
        (lambda: XValEmbedding(None).fit([]), "no numbers"),
        (lambda: XValEmbedding(None)(["seven"]), "seven|fit"),
        (lambda: XValEmbedding(None, scaling="sqrt"), "scaling='sqrt'"),
        (lambda: XValEmbedding(Vocabulary([1, 2]), published=True, standardize=True), "standardize is ours"),
        (lambda: PeriodicEmbedding(None).fit([1, -(10**400)]), "beyond float64"),
        (lambda: PeriodicEmbedding(None)([1]), "fit\\(numbers\\)"),
        (lambda: PeriodicEmbedding(None, n_frequencies=0), "n_frequencies=0"),
        (lambda: PeriodicEmbedding(None, sigma=math.nan), "sigma=nan"),
        (lambda: UnionEmbedding([5, 7], 8, parts="fome"), "unknown part 'fome'; did you mean 'fone'"),
    ],
)
def test_bad_input_is_one_line(make, word):
    with pytest.raises(AdelicError, match=word):
        make()
