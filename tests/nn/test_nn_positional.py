import math

import pytest
import torch

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.nn import AdelicEmbedding, AdelicPositionalEncoding, LearnedEmbedding, SinusoidalPositionalEncoding
from adelic.nn.positional import LearnedPositionalEncoding, PositionalEncoding
from adelic.numbers.features import FeatureLayout

SPACE = AdeleSpace(primes=(2, 3, 5), precision=4)


def adelic(max_length, *, space=SPACE, levels=None, d_model=None):
    layout = FeatureLayout("digits", space, levels or space.precision)
    return AdelicPositionalEncoding(layout, d_model or layout.size, max_length=max_length)


ENCODINGS = {
    "sinusoidal": lambda max_length: SinusoidalPositionalEncoding(16, max_length=max_length),
    "adelic": adelic,
    "adelic, padded": lambda max_length: adelic(max_length, d_model=24),
}


@pytest.fixture(params=list(ENCODINGS))
def encoding(request):
    return ENCODINGS[request.param]


@pytest.mark.parametrize("d_model", [1, 2, 5, 16, 128])
def test_the_sinusoidal_formula(d_model):
    table = SinusoidalPositionalEncoding(d_model, max_length=50).table
    assert table.shape == (50, d_model)
    assert table.dtype == torch.float32
    for s in (0, 1, 7, 49):
        for i in range(d_model):
            angle = s / 10000 ** (2 * (i // 2) / d_model)
            expected = math.cos(angle) if i % 2 else math.sin(angle)
            assert math.isclose(table[s, i], expected, abs_tol=1e-6)


@pytest.mark.parametrize(("levels", "d_model"), [(4, 16), (3, 12), (1, 4), (4, 20), (2, 9)])
def test_the_adelic_formula(levels, d_model):
    """sin or cos of s·ω(i, j) + 2πi/P, ω = 10000^(−2k/(P·N)), k = ⌊j/2⌋·P + i; sinusoids in the padding."""
    places, max_length = 4, 30
    table = adelic(max_length, levels=levels, d_model=d_model).table
    assert table.shape == (max_length, d_model)
    for s in (0, 1, 29):
        for i in range(places):
            for j in range(levels):
                k = (j // 2) * places + i
                angle = s * 10000 ** (-2 * k / (places * levels)) + 2 * math.pi * i / places
                expected = math.cos(angle) if j % 2 else math.sin(angle)
                assert math.isclose(table[s, i * levels + j], expected, abs_tol=1e-6)
    padding = SinusoidalPositionalEncoding(d_model, max_length=max_length).table[:, places * levels :]
    assert torch.equal(table[:, places * levels :], padding)


def test_positions_are_distinct(encoding):
    table = encoding(500).table
    distance = torch.cdist(table, table) + torch.eye(500) * 9
    assert distance.min() > 1e-2
    assert table.abs().max() <= 1


def test_forward_adds_the_table(encoding, batch):
    module = encoding(9)
    d_model = module.table.shape[1]
    for length in (0, 1, 9):
        x = torch.randn(*batch, length, d_model)
        out = module(x)
        assert out.shape == x.shape
        assert torch.allclose(out - x, module.table[:length].expand_as(x), atol=1e-6)


def test_max_length(encoding):
    module = encoding(4)
    with pytest.raises(ConfigurationError, match=r"length 5 exceeds max_length=4"):
        module(torch.zeros(2, 5, module.table.shape[1]))


@pytest.mark.parametrize(
    ("d_model", "max_length", "words"),
    [
        (8, -1, "max_length=-1 must be at least 1"),
        (8, 1.5, "max_length=1.5 must be a whole number"),
        (0, 3, "d_model=0 must be at least 1"),
    ],
)
@pytest.mark.parametrize("kind", [SinusoidalPositionalEncoding, LearnedPositionalEncoding])
def test_bad_sizes(kind, d_model, max_length, words):
    with pytest.raises(ConfigurationError, match=words):
        kind(d_model, max_length=max_length)


def test_there_is_nothing_to_train_and_a_fingerprint_to_save(encoding):
    module = encoding(4)
    assert list(module.parameters()) == []
    assert list(module.state_dict()) == ["_extra_state"]
    assert not module.table.requires_grad


def test_the_embedding_chooses(vocabulary):
    def chosen(**options):
        return AdelicEmbedding(vocabulary, **{"features": "digits"} | options).positional_encoding(10)

    for features in ("digits", "standardized"):
        assert type(chosen(features=features)) is AdelicPositionalEncoding
        assert type(chosen(features=features, projection="linear")) is SinusoidalPositionalEncoding
    for features in ("characters", "one-hot-digits"):
        assert type(chosen(features=features)) is SinusoidalPositionalEncoding
    learned = LearnedEmbedding(vocabulary, d_model=24).positional_encoding(10)
    assert type(learned) is SinusoidalPositionalEncoding
    assert learned.table.shape == (10, 24)
    assert isinstance(learned, PositionalEncoding)
