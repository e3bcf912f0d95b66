import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import ConfigurationError, EncodingError, RangeError, UnknownNameError
from adelic.nn import AdelicLoss, AdelicPrediction, PlaceEmbedding, PlacewiseLinear, PlacewiseMLP
from adelic.nn.placewise import digit_characters
from adelic.numbers.features import PLACE_FEATURES, multiplicative_characters, valuation_unit

PRIMES, SMALL = (2, 3, 5, 7, 11, 13, 59), AdeleSpace(primes=(2, 3), precision=1)


def complex_characters(p):
    """Return the additive and the multiplicative character of 0 … p − 1, as complex numbers."""
    table = digit_characters(p).double().numpy()
    return table[:, 1] + 1j * table[:, 2], table[:, 4] + 1j * table[:, 5]


@pytest.mark.parametrize("p", PRIMES)
def test_characters_turn_sums_and_products_into_products(p):
    additive, multiplicative = complex_characters(p)
    x, y = np.meshgrid(np.arange(p), np.arange(p))
    np.testing.assert_allclose(additive[(x + y) % p], additive[x] * additive[y], atol=1e-6)
    np.testing.assert_allclose(multiplicative[x * y % p], multiplicative[x] * multiplicative[y], atol=1e-6)


@pytest.mark.parametrize("p", PRIMES)
def test_characters_tell_all_digits_apart(p):
    table = digit_characters(p)
    assert torch.cdist(table, table).fill_diagonal_(9).min() > 1e-2
    assert table[:, 3].tolist() == [1.0] + [0.0] * (p - 1)


DIGITS_OF = AdeleSpace(precision={2: 3, 5: 2})
READERS = {
    **{name: lambda d, name=name: PlaceEmbedding(DIGITS_OF, name)((torch.zeros(3), d)) for name in PLACE_FEATURES},
    "loss": lambda d: AdelicLoss(DIGITS_OF)(
        AdelicPrediction(torch.zeros(3), torch.zeros(3, 2, 3, 5)), (torch.zeros(3), d)
    ),
}


@pytest.mark.parametrize("read", [pytest.param(read, id=name) for name, read in READERS.items()])
def test_digits_that_are_none(read):
    """-1, 0.9 and p are no digits, nor is what stands where a prime has none."""
    digits = torch.zeros(3, 2, 3)
    assert read(digits).isfinite().all()
    for wrong in (-1, 0.9, 5, 2**40, math.nan, math.inf):
        with pytest.raises(
            EncodingError, match=r" at position \[1, 1, 2\] is not a digit; the digits there are 0 … 4$"
        ):
            read(digits.index_put((torch.tensor(1), torch.tensor(1), torch.tensor(2)), torch.tensor(float(wrong))))
    for kind in (torch.uint8, torch.int16, torch.int64, torch.float16, torch.bool):
        assert read(digits.to(kind)).isfinite().all()
    with pytest.raises(EncodingError, match=r"digits are integers, not of torch\.complex64"):
        read(digits.to(torch.complex64))


@pytest.mark.parametrize("features", PLACE_FEATURES)
def test_a_digit_that_a_prime_has_not(features):
    digits = torch.tensor([[0, 1, 1], [1, 0, 4]])
    with pytest.raises(EncodingError, match=r"^1 at position \[1, 0\] is not a digit; the digits there are 0 … 0$"):
        PlaceEmbedding(DIGITS_OF, features)((torch.tensor(0.0), digits))


def test_nothing_is_asked_of_values_in_a_graph(monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert PlaceEmbedding(DIGITS_OF, "digits")((torch.tensor(0.0), torch.full((2, 3), 9))).max() == 9 / 2


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:`torch.jit.trace` is:DeprecationWarning", "ignore::torch.jit.TracerWarning")
def test_graphs_and_maps_have_no_checks():
    """What is traced or mapped has no values, and comes out as without."""
    embedding = PlaceEmbedding(DIGITS_OF)
    inputs = (torch.rand(4), torch.randint(2, (4, 2, 3)) * torch.tensor([[1, 1, 1], [0, 1, 1]]))
    expected = embedding(inputs)
    assert torch.equal(torch.func.vmap(lambda *one: embedding(one))(*inputs), expected)
    assert torch.equal(torch.compile(embedding, backend="eager", fullgraph=True)(inputs), expected)
    assert torch.equal(torch.export.export(embedding, (inputs,)).module()(inputs), expected)
    assert torch.equal(torch.jit.trace(lambda *parts: embedding(parts), inputs)(*inputs), expected)
    assert embedding.to("meta")(tuple(part.to("meta") for part in inputs)).shape == expected.shape


@settings(deadline=None)
@given(st.integers(-(10**6), 10**6))
def test_features_of_integers_from_their_definition(q):
    space = AdeleSpace(precision={2: 3, 5: 2, 7: 1})
    characters = PlaceEmbedding(space, real_scale=100.0)(space.encode(q)).double()
    assert characters.shape == (4, 3 + 3 * 3)
    sign = (q > 0) - (q < 0)
    expected = [1, q / 100, sign * math.log1p(abs(q) / 100), sign]
    torch.testing.assert_close(characters[0, :4], torch.tensor(expected, dtype=torch.float64), atol=1e-6, rtol=1e-6)
    for j, (p, n) in enumerate(zip(space.primes, space.precisions, strict=True)):
        angles, missing = [2 * math.pi * (q % p**k) / p**k for k in range(1, n + 1)], [0.0] * (3 - n)
        waves = [f(angle) for angle in angles for f in (math.cos, math.sin)] + 2 * missing
        is_above = [float(q % p**k == 0) for k in range(1, n + 1)]
        unit = q
        while unit and unit % p == 0:
            unit //= p
        known = digit_characters(p)[unit % p if not all(is_above) else 0, 4:].tolist()
        expected = torch.tensor([1.0, *waves, *is_above, *missing, *known], dtype=torch.float64)
        torch.testing.assert_close(characters[1 + j], expected, atol=1e-6, rtol=1e-6)


@settings(deadline=None)
@given(st.lists(st.fractions(max_denominator=50), min_size=1, max_size=4))
def test_digits_and_one_hot_digits_are_the_digits(numbers):
    space = AdeleSpace(precision={2: 7, 3: 6, 7: 6}, fractional_digits=5)
    adeles = space.encode(numbers)
    digits = torch.tensor(adeles.digits.astype(np.int64)).flip(-1)
    raw = PlaceEmbedding(space, "digits")(adeles)[:, 1:]
    torch.testing.assert_close(raw * torch.tensor(space.primes)[:, None], digits.float())
    hot = PlaceEmbedding(space, "one-hot-digits")(adeles)[:, 1:].unflatten(-1, (digits.shape[-1], 7))
    exists = torch.from_numpy(space.window.exists).flip(-1)
    assert torch.equal(hot, torch.nn.functional.one_hot(digits, 7) * exists[..., None])


@pytest.mark.parametrize("features", PLACE_FEATURES)
def test_numbers_come_as_adeles_or_as_tensors(features):
    space = AdeleSpace(primes=(3, 11), precision=2)
    embedding, adeles = PlaceEmbedding(space, features), space.encode([[5, -7], [Fraction(1, 2), 0]])
    parts = (torch.tensor(adeles.real), torch.tensor(adeles.digits.astype(np.uint8)))
    assert embedding(adeles).shape == (2, 2, embedding.n_places, embedding.width)
    assert torch.equal(embedding(parts), embedding(adeles))
    assert not list(embedding.parameters())
    assert list(embedding.state_dict()) == ["_extra_state"]


@pytest.mark.parametrize(
    ("features", "function"),
    [("valuation-unit", valuation_unit), ("multiplicative-characters", multiplicative_characters)],
)
def test_valuations_and_units_are_those_of_the_numbers_package(features, function):
    space = AdeleSpace(precision={2: 6, 5: 3, 97: 1}, fractional_digits=0)
    numbers = [0, 1, 96, 97, -40, 3 * 2**5, 8 * 5, 625, Fraction(8, 7)]
    found = PlaceEmbedding(space, features)(space.encode(numbers))[:, 1:]
    digits = space.encode(numbers).digits[..., ::-1]
    for j, (p, n) in enumerate(zip(space.primes, space.precisions, strict=True)):
        expected = torch.from_numpy(function(digits[:, j, :n], p)).float()
        assert torch.equal(found[:, j, : n + 1], expected[:, : n + 1])
        assert not found[:, j, n + 1 : 7].any()
        of_unit = found[:, j, 7 : 7 + expected.shape[1] - n - 1]
        torch.testing.assert_close(of_unit, expected[:, n + 1 :], atol=1e-6, rtol=0)


def test_a_place_wise_linear_layer_is_a_linear_layer_a_place():
    layer = PlacewiseLinear(3, 4, 5)
    torch.nn.init.normal_(layer.bias)
    x = torch.randn(2, 6, 3, 4)
    for place in range(3):
        expected = torch.nn.functional.linear(x[..., place, :], layer.weight[place].T, layer.bias[place])
        torch.testing.assert_close(layer(x)[..., place, :], expected)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_places_do_not_mix(n_layers):
    mlp = PlacewiseMLP(3, 4, 8, 2, n_layers)
    x = torch.randn(5, 3, 4, requires_grad=True)
    for place in range(3):
        (gradient,) = torch.autograd.grad(mlp(x)[:, place].square().sum(), x)
        assert gradient[:, place].abs().sum() > 0
        others = [other for other in range(3) if other != place]
        assert gradient[:, others].abs().sum() == 0


def test_one_layer_of_products_can_be_addition_and_multiplication():
    """Set the weights by the trigonometric identity; no training."""
    p = 11
    mlp = PlacewiseMLP(1, 12, 8, 4)
    with torch.no_grad():
        for layer in (*mlp.hidden, mlp.output):
            layer.weight.zero_()
        for law, (cos, sin) in enumerate([(1, 2), (4, 5)]):  # columns of the additive, the multiplicative character
            for unit, (a, b) in enumerate([(cos, cos), (sin, sin), (cos, sin), (sin, cos)]):
                mlp.hidden[0].weight[0, a, 4 * law + unit] = 1  # of the first operand
                mlp.hidden[0].weight[0, 6 + b, 8 + 4 * law + unit] = 1  # of the second
            mlp.output.weight[0, 4 * law + 0, 2 * law] = 1
            mlp.output.weight[0, 4 * law + 1, 2 * law] = -1
            mlp.output.weight[0, 4 * law + 2, 2 * law + 1] = 1
            mlp.output.weight[0, 4 * law + 3, 2 * law + 1] = 1
    table = digit_characters(p)
    x, y = torch.meshgrid(torch.arange(p), torch.arange(p), indexing="ij")
    found = mlp(torch.cat([table[x], table[y]], dim=-1)[:, :, None])[:, :, 0]
    torch.testing.assert_close(found[..., :2], table[(x + y) % p][..., 1:3], atol=1e-5, rtol=0)
    torch.testing.assert_close(found[..., 2:], table[x * y % p][..., 4:], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: PlaceEmbedding(SMALL, "charcters"), UnknownNameError, "'charcters'; did you mean 'characters'"),
        (lambda: PlaceEmbedding(SMALL, real_scale=0), ConfigurationError, "real_scale=0 must be positive"),
        (lambda: PlaceEmbedding(SMALL)(SMALL.encode([1, 10**400])), RangeError, "beyond float64"),
        (lambda: PlacewiseLinear(2, 3, 0), ConfigurationError, "out_features=0 must be at least 1"),
        (lambda: PlacewiseMLP(2, 3, 4, 5, 0), ConfigurationError, "n_layers=0 must be at least 1"),
    ],
)
def test_bad_arguments(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("layer", [PlacewiseLinear(3, 4, 2), PlacewiseMLP(3, 4, 8, 2)])
@pytest.mark.parametrize("shape", [(6, 4), (4,), (2, 4, 3), (4, 12)])
def test_the_batch_is_not_taken_for_places(layer, shape):
    with pytest.raises(ConfigurationError, match=r"built for \(\*, 3 places, 4\), not for shape"):
        layer(torch.zeros(shape))
