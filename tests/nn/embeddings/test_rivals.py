import copy
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch.nn import functional

from adelic import nn
from adelic.errors import AdelicError, ConfigurationError, EncodingError, RangeError
from adelic.nn import (
    AbacusEmbedding,
    FoNEEmbedding,
    OneHotEmbedding,
    PeriodicEmbedding,
    RandomEmbedding,
    Vocabulary,
    XValEmbedding,
)
from adelic.nn.backend import Noise
from adelic.nn.base_digits import count_digits, from_digits, to_digits
from adelic.nn.embeddings.features import standardize
from adelic.nn.heads.rivals import DigitHead, DigitLogits, FourierHead, XValHead
from adelic.nn.registry import build_embedding

LENGTH = 5
RIVALS = ["random", "one-hot", "fone", "xval", "abacus", "periodic"]
OPEN_ENDED = ["fone", "xval", "abacus", "periodic"]
INTEGERS = [0, 5, -5, 120, -7, 10**6, 21, 12]


def opened(name, d_model=16):
    embedding = build_embedding(name, None, d_model=d_model)
    return embedding.fit(INTEGERS) if name in ("xval", "periodic") else embedding


def waves(number, period):
    return [math.cos(2 * math.pi * number / period), math.sin(2 * math.pi * number / period)]


@pytest.mark.parametrize("name", RIVALS)
def test_shapes(batch, generator, vocabulary, name):
    embedding = build_embedding(name, vocabulary, d_model=24)
    ids = torch.randint(8, (*batch, LENGTH), generator=generator)
    out = embedding(ids)
    assert out.shape == (*batch, LENGTH, 24)
    assert out.dtype == torch.float32
    assert torch.equal(out.reshape(-1, 24), embedding(ids.reshape(-1)))
    assert embedding.vocabulary is vocabulary


@pytest.mark.parametrize("name", RIVALS)
def test_different_numbers_get_different_vectors(name):
    numbers = [n for n in INTEGERS if abs(n) < 10**6]  # beside which xVal and PLR hardly see the others
    vectors = build_embedding(name, Vocabulary(numbers), d_model=32)(torch.arange(len(numbers)))
    assert torch.isfinite(vectors).all()
    assert len(torch.unique(vectors, dim=0)) == len(numbers)


@pytest.mark.parametrize("name", OPEN_ENDED)
def test_open_ended_equals_the_vocabulary_path(name, batch, generator):
    numbers = INTEGERS
    opened_up = opened(name)
    # digits as of the open-ended one, so that the weights fit
    options = {"fone": {"integer_digits": 10}, "abacus": {"max_digits": 10}}.get(name, {})
    closed = build_embedding(name, Vocabulary(numbers), d_model=16, **options)
    opened_up.load_state_dict(closed.state_dict())
    ids = torch.randint(len(numbers), (*batch, LENGTH), generator=generator)
    asked = np.array(numbers)[ids.numpy()]
    assert torch.allclose(opened_up(asked), closed(ids), atol=1e-6)


@pytest.mark.parametrize("name", ["random", "one-hot"])
def test_one_vector_a_number_needs_a_vocabulary(name):
    with pytest.raises(ConfigurationError, match="needs a vocabulary"):
        build_embedding(name, None, d_model=4)


@pytest.mark.parametrize("name", RIVALS)
def test_ids_outside_the_vocabulary(vocabulary, name):
    embedding = build_embedding(name, vocabulary, d_model=8)
    for wrong in (8, -1):
        with pytest.raises(IndexError):
            embedding(torch.tensor([wrong]))


@pytest.mark.parametrize("name", RIVALS)
def test_one_step_of_a_classifier(vocabulary, name):
    torch.manual_seed(0)
    embedding = build_embedding(name, vocabulary, d_model=16)
    model = nn.SequenceClassifier(embedding, n_classes=3, max_length=LENGTH, n_layers=1, n_heads=2, dropout=0.0)
    ids, labels = torch.randint(8, (32, LENGTH)), torch.randint(3, (32,))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(ids), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[1] < losses[0]
    for parameter in embedding.parameters():
        assert parameter.grad is not None
        assert parameter.grad.any()


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


def test_fone_is_the_formula():
    # I = 3, F = 1: periods 1, 10, 100, 1000; then the sign and padding
    embedding = FoNEEmbedding(
        Vocabulary(["123.4", "-0.5", 0]), d_model=12, projection=None, integer_digits=3, fractional_digits=1
    )
    for i, (number, sign) in enumerate([(123.4, 1), (0.5, -1), (0, 0)]):
        expected = [w for period in (1, 10, 100, 1000) for w in waves(number, period)] + [sign, 0, 0, 0]
        assert embedding(torch.tensor(i)).tolist() == pytest.approx(expected, abs=1e-6)


def test_fone_counts_the_digits_that_a_vocabulary_needs():
    embedding = FoNEEmbedding(Vocabulary(["-1234", "1/8", "3/5"]), d_model=16)
    assert (embedding.integer_digits, embedding.fractional_digits, embedding.n_features) == (4, 3, 15)
    assert embedding.projection.in_features == 15


def test_fone_has_the_periods_of_the_published_code():
    """For I = 2, F = 1 the code lists 0.2, 0.5, 2, 5, … below 1000; for base 10 these are the paper's 1, 10, 100."""
    vocabulary = Vocabulary(["12.3", "-0.5", 0, 99])
    embedding = FoNEEmbedding(vocabulary, d_model=32, bases=(5, 2))
    assert [float(period) for period in embedding.periods] == [0.2, 0.5, 2, 5, 20, 50, 200, 500]
    assert [float(period) for period in FoNEEmbedding(vocabulary, d_model=32).periods] == [1, 10, 100]
    for i, (number, sign) in enumerate([(12.3, 1), (0.5, -1), (0, 0), (99, 1)]):
        expected = [w for period in embedding.periods for w in waves(number, float(period))] + [sign]
        assert embedding.table[i].tolist() == pytest.approx(expected, abs=1e-6)


def test_fone_tells_all_numbers_apart_by_the_periods_of_2_and_5():
    embedding = FoNEEmbedding(Vocabulary(range(1000)), d_model=17, bases=(2, 5), projection=None)
    assert len(torch.unique((1e4 * embedding(torch.arange(1000))).round(), dim=0)) == 1000


@pytest.mark.parametrize("bases", [(10,), (2, 5)])
def test_fone_is_standardized_as_the_adeles_are(bases):
    numbers = [0, 3, 7, 12, 25]
    plain, embedding = (
        FoNEEmbedding(Vocabulary(numbers), d_model=16, bases=bases, standardize=given) for given in (False, True)
    )
    constant = plain.table.double().std(dim=0) < 1e-6  # the sine of period 2
    assert constant.sum() == (1 if bases == (2, 5) else 0)
    assert embedding.table[:, ~constant].mean(dim=0).abs().max() < 1e-6
    assert torch.allclose(embedding.table[:, ~constant].var(dim=0, correction=0), torch.ones(1))
    assert not embedding.table[:, constant].any()
    kept = ~constant.numpy()
    expected = standardize(plain.table.numpy())[:, kept]
    assert embedding.table.numpy()[:, kept] == pytest.approx(expected, abs=1e-5)
    assert torch.equal(embedding.features([12, 3]), embedding.table[[3, 1]])  # by the vocabulary, not by themselves


@pytest.mark.parametrize("bases", [(10,), (2, 5), (3, 7), (2, 10)])
def test_fone_turns_by_the_definition(bases):
    """x/T modulo 1 for each period T, of numbers far too long for a float, and with digits after the point."""
    numbers = [Fraction(10**400 // 7, 1000), Fraction(3**500, 10), Fraction(7)]
    embedding = FoNEEmbedding(None, integer_digits=401, fractional_digits=3, bases=bases)
    angles = np.array([[2 * np.pi * float(x / period % 1) for period in embedding.periods] for x in numbers])
    waves = embedding.features(numbers)[:, :-1].reshape(len(numbers), -1, 2)
    np.testing.assert_allclose(waves, np.stack([np.cos(angles), np.sin(angles)], axis=-1), atol=1e-5)


@pytest.mark.parametrize("bases", [(10,), (2, 5), tuple(range(2, 11))])
def test_fones_periods_are_told_as_fractions_are(bases):
    embedding = FoNEEmbedding(None, integer_digits=5, fractional_digits=6, bases=bases)
    assert embedding.fingerprint()["periods"] == [str(period) for period in embedding.periods]


def test_fone_is_told_apart_where_numbers_are_longer_than_python_prints():
    longer, shorter = (FoNEEmbedding(None, integer_digits=digits) for digits in (5001, 5000))
    assert longer.fingerprint() != shorter.fingerprint()


def test_fone_is_exact_where_floats_are_not():
    embedding = FoNEEmbedding(None, d_model=64, integer_digits=30, projection=None)
    number = 123456789012345678901234567890
    vector = embedding([number])[0]
    for k in range(30):
        period = 10 ** (k + 1)
        turn = float(Fraction(number % period, period))
        assert vector[2 * k : 2 * k + 2].tolist() == pytest.approx(waves(turn, 1), abs=1e-6)
    assert not torch.equal(vector, embedding([number + 10**15])[0])


def test_zero_is_a_number_and_padding_a_mask():
    for name in OPEN_ENDED:
        embedding = opened(name)
        assert embedding([0]).any()
        vectors = embedding([[0, 5, 0]], mask=torch.tensor([[True, True, False]]))
        assert torch.equal(vectors[0, :2], embedding([0, 5]))
        assert not vectors[0, 2].any()


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: FoNEEmbedding(None)([["1/3"]]), "1/3 at position \\[0, 0\\] has a denominator"),
        (lambda: FoNEEmbedding(Vocabulary([1, "1/3"])), "1/3 has no finite decimal expansion"),
        (lambda: FoNEEmbedding(Vocabulary([1, "1/7"]), fractional_digits=2), "1/7 at position \\[1\\] has more than 2"),
        (lambda: FoNEEmbedding(None)([7, 10**10]), "10000000000 at position \\[1\\] has more than 10"),
        (lambda: AbacusEmbedding(Vocabulary([1, "1/2"])), "1/2 at position \\[1\\] has a denominator"),
        (lambda: AbacusEmbedding(None, base=2)([1024]), "1024 at position \\[0\\] has more than 10 base-2"),
        (lambda: XValEmbedding(Vocabulary([1, 10**400])), "beyond float64"),
        (lambda: PeriodicEmbedding(None).fit([1, -(10**400)]), "beyond float64"),
        (lambda: XValEmbedding(None)([1]), "fit\\(numbers\\)"),
        (lambda: PeriodicEmbedding(None)([1]), "fit\\(numbers\\)"),
        (lambda: XValEmbedding(None).fit([]), "no numbers"),
        (lambda: XValEmbedding(None)(["seven"]), "seven|fit"),
        (lambda: FoNEEmbedding(None, 16, projection=None), "projection='linear'"),
        (lambda: FoNEEmbedding(None, projection="mlp"), "projection='mlp'"),
        (lambda: FoNEEmbedding(None, integer_digits=0), "integer_digits=0"),
        (lambda: FoNEEmbedding(None, bases=()), "bases=\\(\\) give no periods"),
        (lambda: FoNEEmbedding(None, bases=(2, 11)), "use whole numbers from 2 to 10"),
        (lambda: FoNEEmbedding(None, standardize=True), "needs a vocabulary to standardize over"),
        (lambda: XValEmbedding(None, scaling="sqrt"), "scaling='sqrt'"),
        (lambda: PeriodicEmbedding(None, n_frequencies=0), "n_frequencies=0"),
        (lambda: PeriodicEmbedding(None, sigma=math.nan), "sigma=nan"),
        (lambda: AbacusEmbedding(None, base=1), "base=1"),
        (lambda: AbacusEmbedding(None, max_offset=-1), "max_offset=-1"),
        (lambda: FourierHead(8, n_digits=4, projection=None), "d_model >= 9"),
        (lambda: FourierHead(8, n_digits=4).targets([10**4], 4), "10000 at position \\[0\\]"),
        (lambda: DigitHead(8, base=10).targets(["1/2"], 4), "1/2 at position \\[0\\] has a denominator"),
    ],
)
def test_bad_input_is_one_line(make, word):
    with pytest.raises(AdelicError, match=word) as caught:
        make()
    assert isinstance(caught.value, ConfigurationError | EncodingError | RangeError)
    assert "\n" not in str(caught.value)


def test_xval_is_the_formula():
    embedding = XValEmbedding(Vocabulary([-4, 0, 10]), d_model=3)
    with torch.no_grad():
        embedding.direction.copy_(torch.tensor([1.0, 2.0, 3.0]))
        embedding.token.copy_(torch.tensor([0.5, 0.0, 0.0]))
    # u = 5x/10: −2, 0, 5
    expected = [[-1.5, -4.0, -6.0], [0.5, 0.0, 0.0], [5.5, 10.0, 15.0]]
    assert torch.allclose(embedding(torch.arange(3)), torch.tensor(expected))


def test_xval_scales():
    logarithmic = XValEmbedding(Vocabulary([-3, 0, 99]), d_model=3, scaling="log").table.flatten()
    assert logarithmic.tolist() == pytest.approx([-5 * math.log(4) / math.log(100), 0, 5])
    assert XValEmbedding(Vocabulary([0]), d_model=3).table.item() == 0
    large = XValEmbedding(None, d_model=3).fit([10**300, "-1/3"])
    assert large.features([10**300, -(10**299)]).flatten().tolist() == pytest.approx([5, -0.5])


@pytest.mark.parametrize("scaling", ["linear", "log"])
def test_xval_is_standardized_as_the_adeles_are(scaling):
    numbers = [-4, 0, 10, 3]
    plain, embedding = (
        XValEmbedding(Vocabulary(numbers), d_model=3, scaling=scaling, standardize=given) for given in (False, True)
    )
    assert embedding.table.mean().item() == pytest.approx(0, abs=1e-6)
    assert embedding.table.var(correction=0).item() == pytest.approx(1)
    assert embedding.table.numpy() == pytest.approx(standardize(plain.table.numpy()), abs=1e-6)
    opened_up = XValEmbedding(None, d_model=3, scaling=scaling, standardize=True).fit(numbers)
    assert torch.equal(opened_up.features(numbers), embedding.table)
    assert not XValEmbedding(Vocabulary([7]), d_model=3, standardize=True).table.any()


def test_periodic_is_the_formula():
    embedding = PeriodicEmbedding(Vocabulary([1, 3, 8]), d_model=5, n_frequencies=4, sigma=0.5)
    mean, deviation = 4, math.sqrt((9 + 1 + 16) / 3)
    u = (torch.tensor([1.0, 3.0, 8.0]) - mean) / deviation
    v = 2 * math.pi * u[:, None] * embedding.frequencies
    weight, bias = embedding.projection.weight, embedding.projection.bias
    expected = torch.relu(torch.cat([v.cos(), v.sin()], dim=1) @ weight.T + bias)
    assert torch.allclose(embedding(torch.arange(3)), expected, atol=1e-6)
    assert PeriodicEmbedding(Vocabulary([7]), d_model=5)(torch.tensor(0)).isfinite().all()
    wide = PeriodicEmbedding(None, n_frequencies=10_000, sigma=0.3)
    assert wide.frequencies.std().item() == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize(("base", "number", "digits"), [(10, -120, [0, 2, 1]), (1000, 5_000_012, [12, 0, 5])])
def test_abacus_is_the_formula(base, number, digits):
    embedding = AbacusEmbedding(None, d_model=4, base=base, max_digits=6).eval()
    table, places, signs = embedding.digits.weight, embedding.places.weight, embedding.signs.weight
    expected = sum(table[d] * places[i] for i, d in enumerate(digits)) + signs[1 + int(np.sign(number))]
    assert torch.allclose(embedding([number])[0], expected, atol=1e-6)


def test_abacus_writes_zero_with_one_digit():
    embedding = AbacusEmbedding(None, d_model=4, max_digits=3).eval()
    expected = embedding.digits.weight[0] * embedding.places.weight[0] + embedding.signs.weight[1]
    assert torch.allclose(embedding([0])[0], expected)


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


def test_the_classifier_gives_its_noise_to_abacus(vocabulary, under):
    embedding = AbacusEmbedding(vocabulary, d_model=8, max_offset=50)
    model = nn.SequenceClassifier(embedding, n_classes=2, max_length=4, n_layers=1, n_heads=2, dropout=0.0)
    ids = torch.tensor([[1, 2, 3]])
    out = {seed: under(model, ids, noise=Noise(seed)) for seed in range(6)}
    assert all(torch.equal(under(model, ids, noise=Noise(seed)), out[seed]) for seed in out)
    assert len({tuple(o.flatten().tolist()) for o in out.values()}) > 1


@pytest.mark.parametrize("name", OPEN_ENDED)
def test_copies_keep_the_scale(name):
    embedding = opened(name)
    twin = copy.deepcopy(embedding)
    assert torch.equal(twin([3, -8]), embedding([3, -8]))


def test_digits_of_any_size():
    numbers = [0, -1, 999, 1000, -(2**63), 10**40 + 7]
    for base in (2, 10, 1000):
        n_digits = max(count_digits(n, base) for n in numbers)
        digits, sign = to_digits(numbers, base=base, n_digits=n_digits)
        assert digits.min() >= 0
        assert digits.max() < base
        assert sign.tolist() == [0, -1, 1, 1, -1, 1]
        assert from_digits(digits, sign < 0, base=base).tolist() == numbers
    assert count_digits(10**40, 10) == 41
    small, _ = to_digits(np.array([[12, 345]]), base=10, n_digits=3)
    assert small.tolist() == [[[2, 1, 0], [5, 4, 3]]]
    with pytest.raises(EncodingError, match="345 at position \\[0, 1\\] has more than 2"):
        to_digits(np.array([[12, 345]]), base=10, n_digits=2)


def test_the_fourier_head_is_the_formula():
    head = FourierHead(7, n_digits=3, projection=None)
    hidden = torch.randn(2, 7, generator=torch.Generator().manual_seed(0))
    outputs = head(hidden)
    for row in range(2):
        assert outputs.sign[row] == hidden[row, 6]
        for i in range(3):
            expected = [
                hidden[row, 2 * i] * c + hidden[row, 2 * i + 1] * s for c, s in (waves(j, 10) for j in range(10))
            ]
            assert outputs.digits[row, i].tolist() == pytest.approx([e.item() for e in expected], abs=1e-6)
    assert FourierHead(7, n_digits=50)(hidden).digits.shape == (2, 50, 10)


def test_a_fourier_head_decodes_its_own_embedding():
    """The last digit's waves alone tell a digit; the others' are angles between two digits, so digits are asked."""
    numbers = [305, -12, 0, -999]
    head = FourierHead(7, n_digits=3, projection=None)
    digits, negative = head.targets(numbers, 3)
    slices = torch.stack([torch.cos(2 * math.pi * digits / 10), torch.sin(2 * math.pi * digits / 10)], dim=-1)
    hidden = torch.cat([slices.flatten(1), 2 * negative[:, None] - 1], dim=1)
    assert head.decode(head(hidden)).tolist() == numbers


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


def test_the_xval_head_rounds_to_integers():
    head = XValHead(8).fit([-20, 7])
    (scaled,) = head.targets([-20, 7, 40])
    assert scaled.tolist() == pytest.approx([-5, 1.75, 10])
    assert head.decode(scaled + 0.1).tolist() == [-20, 7, 40]
    assert all(type(n) is int for n in head.decode(scaled))
    assert head.loss(scaled + 2, scaled).item() == pytest.approx(4)
    layers = [p for p in head.parameters() if p.requires_grad]
    assert [tuple(p.shape) for p in layers] == [(32, 8), (32,), (1, 32), (1,)]
    assert head(torch.zeros(3, 8)).shape == (3,)
