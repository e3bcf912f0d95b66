"""The head that speaks numbers: shapes, ties, losses by hand, perfect logits but for some places, a sum learned."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch.nn import functional

from adelic import AdeleSpace, nn
from adelic.errors import ConfigurationError, EncodingError, SpaceError
from adelic.nn.heads.adelic import UNKNOWN_DIGIT
from adelic.nn.placewise import digit_characters

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
SPACE = AdeleSpace(PRIMES, precision=1)
DEEP = AdeleSpace((2, 3, 5), precision=3)
HEAD = nn.AdelicHead(SPACE, 6)


def perfect(space, numbers, height=20.0):
    """Return a prediction that is certain of the digits of numbers, those it has."""
    real, digits = nn.adelic_targets(space, numbers)
    classes = torch.arange(max(space.primes))
    logits = height * (classes == digits[..., None]).float()
    return nn.AdelicPrediction(
        torch.asinh(real).float(), logits.masked_fill(classes >= torch.tensor(space.primes)[:, None, None], -math.inf)
    )


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("placewise", [True, False])
@pytest.mark.parametrize("in_features", [5, 18])
def test_shapes(batch, generator, placewise, tied, in_features):
    head = nn.AdelicHead(DEEP, in_features, placewise=placewise, tied=tied)
    shape = (*batch, 4, in_features) if placewise else (*batch, in_features)
    prediction = head(torch.randn(shape, generator=generator))
    assert prediction.real.shape == batch
    assert prediction.logits.shape == (*batch, 3, 3, 5)
    is_digit = torch.arange(5) < torch.tensor([2, 3, 5])[:, None]
    assert (prediction.logits.isfinite() == is_digit[:, None]).all()
    adeles = DEEP.encode(np.zeros(batch, dtype=int))
    loss = nn.AdelicLoss(DEEP)(prediction, adeles)
    assert loss.shape == ()
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in head.parameters())
    result = head.decode(prediction, max_numerator=3)
    assert result.values.shape == result.confidence.shape == head.real_value(prediction).shape == batch
    assert result.errors.shape == (*batch, 3)


def test_no_place_sees_another():
    head = nn.AdelicHead(DEEP, 7)
    hidden = torch.randn(4, 7, generator=torch.Generator().manual_seed(1))
    before = head(hidden)
    hidden[2] += 1
    after = head(hidden)
    assert (before.real == after.real).all()
    assert (before.logits != after.logits)[1, :, :3].all()
    assert torch.equal(before.logits[[0, 2]], after.logits[[0, 2]])


def test_tied_logits_by_hand():
    """scale · ⟨h, characters of j⟩, the slices from the highest digit to the lowest."""
    head = nn.AdelicHead(DEEP, 18)
    assert not list(head.linear.parameters())
    with torch.no_grad():
        head.scale[:, 0, 0] = torch.tensor([1.0, 2.0, 3.0])
    hidden = torch.randn(4, 18, generator=torch.Generator().manual_seed(0))
    logits = head(hidden).logits
    for j, p in enumerate(DEEP.primes):
        for k in range(3):
            expected = (j + 1) * digit_characters(p) @ hidden[j + 1, 6 * k : 6 * k + 6]
            assert logits[j, k, :p].detach() == pytest.approx(expected)


@pytest.mark.parametrize("space", [SPACE, DEEP], ids=str)
def test_the_characters_of_a_number_are_read_as_it(space):
    head = nn.AdelicHead(space, 6 * space.precision)
    numbers = [3, -7, 0, 11]
    digits = space.encode(numbers).digits
    places = [
        torch.stack([digit_characters(p)[d].flatten() for d in digits[:, j].tolist()])
        for j, p in enumerate(space.primes)
    ]
    hidden = torch.stack([torch.zeros_like(places[0]), *places], dim=1)
    result = head.decode(head(hidden), max_numerator=12)
    assert result.values.tolist() == numbers
    assert not result.errors.any()
    assert result.confidence.min() > 0.99


def test_the_loss_by_hand():
    space = AdeleSpace((2, 3), precision=2)
    logits = torch.tensor([[[0.0, 1, -math.inf], [2, 0, -math.inf]], [[0, 0, 1], [1, 2, 3]]])
    prediction = nn.AdelicPrediction(torch.tensor(1.0), logits)
    chosen = [(logits[0, 0], 1), (logits[0, 1], 1), (logits[1, 0], 2), (logits[1, 1], 1)]  # 7 is 11 and 21
    parts = [-functional.log_softmax(row, dim=0)[digit].item() for row, digit in chosen]
    distance = 1 - math.asinh(7 / 10)
    loss = nn.AdelicLoss(space, real_weight=0.5, real_scale=10)(prediction, space.encode(7))
    assert loss.item() == pytest.approx(sum(parts) / 4 + 0.5 * distance**2 / 2)
    far = nn.AdelicPrediction(torch.tensor(5.0), logits)
    loss = nn.AdelicLoss(space)(far, space.encode(7))
    assert loss.item() == pytest.approx(sum(parts) / 4 + abs(5 - math.asinh(7)) - 0.5)
    # Half of the digits unknown, and the real value.
    digits = torch.tensor([[UNKNOWN_DIGIT, 1], [UNKNOWN_DIGIT, 1]])
    loss = nn.AdelicLoss(space)(prediction, (math.nan, digits))
    assert loss.item() == pytest.approx((parts[1] + parts[3]) / 2)
    assert nn.AdelicLoss(space)(prediction, (math.nan, torch.full((2, 2), UNKNOWN_DIGIT))).item() == 0


def test_digits_that_an_array_does_not_know_are_left_out():
    space = AdeleSpace((2, 3), precision=3)
    quotient = space.encode([6]) / 6  # one digit less at both primes
    assert quotient.known.tolist() == [[2, 2]]
    prediction = perfect(space, [1])
    loss = nn.AdelicLoss(space)
    assert loss(prediction, quotient).item() < 1e-6
    prediction.logits[0, :, 0] = torch.tensor([0.0, 9.0, -math.inf])
    assert loss(prediction, quotient).item() < 1e-6
    assert loss(prediction, space.encode([1])).item() > 1


def test_targets_of_another_shape():
    with pytest.raises(ConfigurationError, match=r"of shape \(3, 9, 1\) do not fit predictions of shape \(2, 9, 1\)"):
        nn.AdelicLoss(SPACE)(perfect(SPACE, [1, 2]), SPACE.encode([1, 2, 3]))


def test_targets():
    real, digits = nn.adelic_targets(AdeleSpace((2, 3, 5), 2, 1), [["1/2", "7/20"], [-1, 10**30]])
    assert real.tolist() == [[0.5, 0.35], [-1.0, 1e30]]
    assert digits.shape == (2, 2, 3, 2)
    unknown = (digits == UNKNOWN_DIGIT).all(-1)
    assert unknown.tolist() == [[[False] * 3, [True, False, False]], [[False] * 3] * 2]  # 4 divides 20, 2 does not
    adeles = AdeleSpace((2, 3, 5), 2, 1).encode(["1/2", -1])
    assert torch.equal(digits[[0, 1], [0, 0]], torch.from_numpy(adeles.digits.astype(np.int64)))
    wide = nn.adelic_targets(AdeleSpace((2**31 - 1, 3), 1), np.array([5, 6]))[1]
    assert wide[..., 0].tolist() == [[5, 2], [6, 0]]
    assert nn.adelic_targets(SPACE, 7)[1].shape == (9, 1)


NUMBERS = [*map(Fraction, (7, -100, 0, "1/2", "-99/10", "83/58", "1/97"))]


def test_perfect_logits_with_spoiled_places():
    """Integers, negatives, rationals; those with 2 or 5 in the denominator have no digits there."""
    head = nn.AdelicHead(SPACE, 6)
    prediction = perfect(SPACE, NUMBERS)
    prediction.logits[:, 3, 0, :7] = torch.randn(7, generator=torch.Generator().manual_seed(0))
    wrong = SPACE.encode([7]).digits[0, 8, 0] + 1
    prediction.logits[0, 8, 0, wrong] = 22.0  # rather certain, and wrong
    result = head.decode(prediction, max_numerator=100, max_denominator=100)
    assert result.values.tolist() == NUMBERS
    assert result.errors[0, 8]
    assert result.confidence.min() > 0.9
    assert head.decode(prediction, max_numerator=100).values[:3].tolist() == NUMBERS[:3]


def test_noise_is_no_number():
    head = nn.AdelicHead(SPACE, 6)
    noise = perfect(SPACE, [0] * 50)
    generator = torch.Generator().manual_seed(0)
    logits = noise.logits.where(noise.logits.isinf(), torch.randn(noise.logits.shape, generator=generator))
    result = head.decode(nn.AdelicPrediction(noise.real, logits), max_numerator=1000)
    assert result.confidence.max() < 0.9
    assert result.confidence.mean() < 0.1


def test_the_real_place_is_read():
    head = nn.AdelicHead(SPACE, 6, real_scale=10)
    prediction = perfect(SPACE, [70, -70, 70])
    reals = torch.asinh(torch.tensor([7.0, -8.0, 7000.0]))
    prediction = nn.AdelicPrediction(reals, prediction.logits)
    assert head.real_value(prediction) == pytest.approx([70, -80, 70000])
    assert head.decode(prediction, max_numerator=100).values.tolist() == [70, -70, 70]
    beyond = nn.AdelicPrediction(torch.full((3,), 5000.0), prediction.logits)
    assert np.isinf(head.real_value(beyond)).all()


@pytest.mark.parametrize("tied", [True, False])
def test_the_real_place_of_a_flat_head_reads_another_state(tied):
    torch.manual_seed(0)
    head = nn.AdelicHead(SPACE, 6, placewise=False, tied=tied)
    hidden, other = torch.randn(2, 4, 3, 6)
    found = head(hidden, other)
    assert torch.equal(found.logits, head(hidden).logits)
    assert torch.equal(found.real, head(other).real)
    assert not torch.equal(found.real, head(hidden).real)
    with pytest.raises(ConfigurationError, match=r"real of shape \(3, 6\) does not fit: .* of hidden, \(4, 3, 6\)"):
        head(hidden, other[0])
    with pytest.raises(ConfigurationError, match="a place-wise one reads the real place there"):
        nn.AdelicHead(SPACE, 6)(torch.zeros(2, 10, 6), torch.zeros(2, 10, 6))


@pytest.mark.parametrize("tied", [True, False])
def test_a_sum_is_learned_exactly_in_a_few_dozen_steps(tied):
    """From 300 of 40,000 pairs; a few places are still wrong, and mended."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    embedding = nn.PlaceEmbedding(SPACE)
    pairs = rng.integers(-100, 101, (500, 2))
    sums = pairs.sum(axis=1)
    features = torch.cat([embedding(SPACE.encode(pairs[:, i])) for i in (0, 1)], dim=-1)
    body = nn.PlacewiseMLP(embedding.n_places, 2 * embedding.width, 32, 6)
    head, loss = nn.AdelicHead(SPACE, 6, tied=tied), nn.AdelicLoss(SPACE, real_weight=0.01)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.05)
    for _ in range(60 if tied else 120):
        value = loss(head(body(features[:300])), SPACE.encode(sums[:300]))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    result = head.decode(head(body(features[300:])), max_numerator=200)
    assert (result.values == sums[300:]).all()


def test_state_without_tables():
    head = nn.AdelicHead(SPACE, 8)
    weights = {"scale", "linear.weight", "linear.bias", "real.weight", "real.bias"}
    assert set(head.state_dict()) == weights | {"_extra_state"}
    assert "placewise=True, tied=True" in repr(head)
    assert "real_weight=1.0" in repr(nn.AdelicLoss(SPACE))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: nn.AdelicHead(SPACE, 0), ConfigurationError, "in_features=0 must be at least 1"),
        (lambda: nn.AdelicHead(SPACE, 6, real_scale=0), ConfigurationError, "real_scale=0 must be positive and finite"),
        (lambda: nn.AdelicLoss(SPACE, real_weight=-1), ConfigurationError, "real_weight=-1 must be"),
        (lambda: HEAD(torch.zeros(9, 6)), ConfigurationError, r"built for \(\*, 10, 6\), not for shape \(9, 6\)"),
        (lambda: HEAD.decode(perfect(SPACE, [1]), max_numerator=10**9), SpaceError, "do not tell apart"),
    ],
)
def test_what_cannot_be(make, error, words):
    with pytest.raises(error, match=words):
        make()


REALS, DIGITS = nn.adelic_targets(SPACE, [1, 2, 3, 4])
OTHER = AdeleSpace((*PRIMES[1:], 29), precision=1)  # as many places


@pytest.mark.parametrize(
    ("numbers", "error", "words"),
    [
        (OTHER.encode([1, 2, 3, 4]), SpaceError, "encode them in the layer's space"),
        (AdeleSpace(PRIMES, precision=2).encode([1, 2, 3, 4]), SpaceError, "encode them in the layer's space"),
        ((REALS[:, None], DIGITS), ConfigurationError, r"shapes do not fit together: real values \(\*\) are \(4, 1\)"),
        ((REALS[:1], DIGITS), ConfigurationError, "shapes do not fit together"),
        ((REALS[:3], DIGITS), ConfigurationError, "shapes do not fit together"),
        ((1.0, DIGITS), ConfigurationError, "shapes do not fit together"),
        ((REALS, DIGITS[:, :2]), ConfigurationError, r"of shape \(4, 2, 1\) do not"),
        (None, EncodingError, "None is neither an AdeleArray"),
        ([1, 2, 3, 4], EncodingError, r"\[1, 2, 3, 4\] is neither an AdeleArray"),
        (DIGITS, EncodingError, "is neither an AdeleArray"),
        ((REALS, None), EncodingError, "is neither an AdeleArray"),
    ],
)
@pytest.mark.parametrize("layer", ["loss", "embedding"])
def test_numbers_of_another_space_or_shape_are_refused(layer, numbers, error, words):
    prediction = nn.AdelicHead(SPACE, 6)(torch.zeros(4, 10, 6))
    call = nn.PlaceEmbedding(SPACE) if layer == "embedding" else lambda x: nn.AdelicLoss(SPACE)(prediction, x)
    call((REALS, DIGITS))
    with pytest.raises(error, match=words):
        call(numbers)


RAGGED = AdeleSpace(precision={2: 6, 7: 2, 3: 4, 11: 1})


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("placewise", [True, False])
def test_digits_by_prime_are_those_of_the_widest_head_that_exist(placewise, tied, generator):
    """Logits and gradients of the loss are the widest space's at the digits that exist; 0 is certain elsewhere."""
    wide = AdeleSpace(RAGGED.primes, RAGGED.max_precision)
    heads = [nn.AdelicHead(space, 8, placewise=placewise, tied=tied) for space in (RAGGED, wide)]
    weights = {k: v for k, v in heads[0].state_dict().items() if k != "_extra_state"}
    heads[1].load_state_dict(weights, strict=False)
    hidden = torch.randn((5, 5, 8) if placewise else (5, 8), generator=generator)
    numbers = [0, -1, 96, 2**9, 7]
    predictions = [head(hidden) for head in heads]
    exists = torch.from_numpy(RAGGED.window.exists)
    assert torch.equal(predictions[0].logits[:, exists], predictions[1].logits[:, exists])
    certain = predictions[0].logits.log_softmax(-1)[:, ~exists]
    assert (certain[..., 0] == 0).all()
    assert (certain[..., 1:] == -math.inf).all()
    real, digits = nn.adelic_targets(wide, numbers)
    cut = digits.where(exists, UNKNOWN_DIGIT)
    targets = {"adeles": RAGGED.encode(numbers), "targets": nn.adelic_targets(RAGGED, numbers), "wider": (real, digits)}
    expected = nn.AdelicLoss(wide)(predictions[1], (real, cut))
    expected.backward()
    for name, given in targets.items():
        heads[0].zero_grad()
        loss = nn.AdelicLoss(RAGGED)(heads[0](hidden), given)
        torch.testing.assert_close(loss, expected, msg=name)
        loss.backward()
        for one, other in zip(heads[0].parameters(), heads[1].parameters(), strict=True):
            assert one.grad.isfinite().all()
            torch.testing.assert_close(one.grad, other.grad, msg=name)


def test_digits_by_prime_decode():
    numbers = [3, -40, 0, 97]
    real, digits = nn.adelic_targets(RAGGED, numbers)
    assert digits.tolist() == RAGGED.encode(numbers).digits.tolist()
    head = nn.AdelicHead(RAGGED, 8)
    logits = head(torch.zeros(4, 5, 8)).logits
    hot = 20.0 * (torch.arange(11) == digits[..., None])
    result = head.decode(nn.AdelicPrediction(torch.asinh(real).float(), logits.detach() + hot), max_numerator=100)
    assert result.values.tolist() == numbers
    assert (result.confidence > 0.9).all()
