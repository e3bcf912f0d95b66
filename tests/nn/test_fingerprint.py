"""Weights are not loaded behind an encoding that they were not trained with."""

import copy

import pytest
import torch
from safetensors.torch import load_model, save_model

from adelic import AdeleSpace, nn
from adelic.errors import ConfigurationError
from adelic.nn.fingerprint import of_vocabulary

SPACE, OTHER = AdeleSpace(primes=(2, 3, 5), precision=4), AdeleSpace(primes=(2, 3, 7), precision=4)
NUMBERS = tuple(range(8))


def adelic(numbers=NUMBERS, **options):
    vocabulary = None if numbers is None else nn.Vocabulary(numbers)
    return nn.AdelicEmbedding(vocabulary, **{"space": SPACE, "d_model": 16, "features": "digits"} | options)


def classifier(embedding, **options):
    return nn.SequenceClassifier(embedding, n_classes=3, max_length=4, n_layers=1, n_heads=2, **options)


def placewise(numbers=NUMBERS, **options):
    sizes = {"n_classes": 3, "max_length": 4, "n_layers": 1, "n_heads": 1, "d_feedforward": 8, "d_place": 8}
    return nn.PlacewiseClassifier(nn.Vocabulary(numbers), **sizes, **{"space": SPACE} | options)


PAIRS = {
    "the vocabulary's order": (adelic, lambda: adelic(NUMBERS[::-1]), "vocabulary 7, 6.*with them, 0, 1"),
    "another number": (adelic, lambda: adelic((*NUMBERS[:7], 8)), "vocabulary"),
    "the space": (adelic, lambda: adelic(space=OTHER), r"primes \[2, 3, 7\] with them, \[2, 3, 5\] here"),
    "primes behind a projection": (
        lambda: adelic(projection="linear"),
        lambda: adelic(projection="linear", space=OTHER),
        "primes",
    ),
    "fractional digits": (
        lambda: adelic(projection="linear"),
        lambda: adelic(projection="linear", space=AdeleSpace(SPACE.primes, 4, 1)),
        "fractional_digits 1 with them, 0 here",
    ),
    "digits a prime": (
        lambda: adelic(projection="linear"),
        lambda: adelic(projection="linear", space=AdeleSpace(precision={2: 4, 3: 3, 5: 4})),
        "precision {'2': 4, '3': 3, '5': 4} with them, 4 here",
    ),
    "other digits a prime": (
        lambda: adelic(projection="linear", space=AdeleSpace(precision={2: 4, 3: 4, 5: 3})),
        lambda: adelic(projection="linear", space=AdeleSpace(precision={2: 4, 3: 3, 5: 4})),
        "precision {'2': 4, '3': 3, '5': 4} with them, {'2': 4, '3': 4, '5': 3} here",
    ),
    "features": (adelic, lambda: adelic(features="standardized"), "features standardized with them, digits here"),
    "coordinates": (adelic, lambda: adelic(coordinates="p-adic"), "coordinates"),
    "levels": (lambda: adelic(d_model=16), lambda: adelic(d_model=12), "levels 3 with them, 4 here"),
    "a learned table's order": (
        lambda: nn.LearnedEmbedding(nn.Vocabulary(NUMBERS), 16),
        lambda: nn.LearnedEmbedding(nn.Vocabulary(NUMBERS[::-1]), 16),
        "another LearnedEmbedding: vocabulary",
    ),
    "a rival's vocabulary": (
        lambda: nn.FoNEEmbedding(nn.Vocabulary(NUMBERS), 16),
        lambda: nn.FoNEEmbedding(nn.Vocabulary(NUMBERS[::-1]), 16),
        "another FoNEEmbedding: vocabulary",
    ),
    "a rival's periods": (
        lambda: nn.FoNEEmbedding(nn.Vocabulary(NUMBERS), 16, bases=(2, 5)),
        lambda: nn.FoNEEmbedding(nn.Vocabulary(NUMBERS), 16, bases=(3, 7)),
        "periods",
    ),
    "a rival's scaling": (
        lambda: nn.XValEmbedding(None, 16, scaling="log"),
        lambda: nn.XValEmbedding(None, 16),
        "another XValEmbedding: scaling",
    ),
    "another embedding": (adelic, lambda: adelic(None, features="characters"), "features"),
    "place features": (
        lambda: nn.PlaceEmbedding(SPACE),
        lambda: nn.PlaceEmbedding(OTHER),
        "another PlaceEmbedding: primes",
    ),
    "the real unit of place features": (
        lambda: nn.PlaceEmbedding(SPACE),
        lambda: nn.PlaceEmbedding(SPACE, real_scale=10),
        "real_scale 10.0 with them, 1.0 here",
    ),
    "a head's primes": (lambda: nn.AdelicHead(SPACE, 6), lambda: nn.AdelicHead(OTHER, 6), "another AdelicHead: primes"),
    "a head's real unit": (
        lambda: nn.AdelicHead(SPACE, 6),
        lambda: nn.AdelicHead(SPACE, 6, real_scale=5),
        "real_scale",
    ),
    "a place-wise classifier": (placewise, lambda: placewise(NUMBERS[::-1]), "another PlacewiseClassifier: vocabulary"),
    "its primes": (placewise, lambda: placewise(space=OTHER), "primes"),
    "positions": (
        lambda: classifier(adelic(), positional=None),
        lambda: classifier(adelic(), positional="sinusoidal"),
        "class SinusoidalPositionalEncoding with them, PositionalEncoding here",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_another_encoding_is_refused_and_both_are_named(name):
    make, make_other, message = PAIRS[name]
    module = make()
    module.load_state_dict(make().state_dict())
    with pytest.raises(ConfigurationError, match=message) as caught:
        module.load_state_dict(make_other().state_dict())
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="with them"):  # what is lenient on keys is not so on meanings
        module.load_state_dict(make_other().state_dict(), strict=False)


def test_inside_a_model():
    model = classifier(adelic())
    with pytest.raises(ConfigurationError, match="vocabulary 7, 6"):
        model.load_state_dict(classifier(adelic(NUMBERS[::-1])).state_dict())


def test_without_a_vocabulary_any_goes():
    closed, open_ended = adelic(projection="linear"), adelic(None, projection="linear")
    open_ended.load_state_dict(closed.state_dict())
    closed.load_state_dict(open_ended.state_dict())
    with pytest.raises(ConfigurationError, match="primes"):
        open_ended.load_state_dict(adelic(projection="linear", space=OTHER).state_dict())


def test_weights_from_before_lack_a_key():
    model = classifier(adelic())
    old = {key: value for key, value in model.state_dict().items() if not key.endswith("_extra_state")}
    with pytest.raises(RuntimeError, match=r"Missing key.*embedding\._extra_state"):
        model.load_state_dict(old)
    missing, unexpected = model.load_state_dict(old, strict=False)
    assert (missing, unexpected) == (["embedding._extra_state", "positional._extra_state"], [])


def test_files_carry_it(tmp_path):
    model, other = classifier(adelic()), classifier(adelic(NUMBERS[::-1]))
    save_model(model, tmp_path / "safetensors")
    torch.save(model.state_dict(), tmp_path / "torch")
    assert load_model(classifier(adelic()), tmp_path / "safetensors") == (set(), [])
    classifier(adelic()).load_state_dict(torch.load(tmp_path / "torch", weights_only=True))
    with pytest.raises(ConfigurationError, match="vocabulary"):
        load_model(other, tmp_path / "safetensors")
    with pytest.raises(ConfigurationError, match="vocabulary"):
        other.load_state_dict(torch.load(tmp_path / "torch", weights_only=True))


@pytest.mark.parametrize("wrap", [copy.deepcopy, torch.nn.DataParallel, torch.optim.swa_utils.AveragedModel])
def test_copies_and_wrappers_carry_it(wrap):
    wrapped = wrap(classifier(adelic()))
    wrapped.load_state_dict(wrapped.state_dict())
    with pytest.raises(ConfigurationError, match="vocabulary"):
        wrapped.load_state_dict(wrap(classifier(adelic(NUMBERS[::-1]))).state_dict())


@pytest.mark.parametrize("change", [torch.Tensor.bfloat16, torch.Tensor.half, lambda x: (x.float() + x) / 2])
def test_state_dicts_that_were_converted_or_averaged(change):
    model = classifier(adelic())
    model.load_state_dict({key: change(value) for key, value in model.state_dict().items()})


@pytest.mark.parametrize(
    "state", [torch.zeros(3), torch.tensor(5), torch.tensor([1.5]), torch.tensor([300]), {"a": 1}, None, "text"]
)
def test_what_is_no_fingerprint(state):
    with pytest.raises(ConfigurationError, match="beside weights of AdelicEmbedding is not a fingerprint"):
        adelic().load_state_dict({"_extra_state": state})


def test_a_vocabulary_is_told_by_all_its_numbers():
    base = list(range(1000))
    texts = {of_vocabulary(nn.Vocabulary(v))["vocabulary"] for v in (base, base[:-1], [*base[:-1], "999/2"])}
    assert len(texts) == 3
    swapped = [*base[:500], base[501], base[500], *base[502:]]
    assert of_vocabulary(nn.Vocabulary(swapped)) != of_vocabulary(nn.Vocabulary(base))
    assert of_vocabulary(nn.Vocabulary(base)) == of_vocabulary(nn.Vocabulary(base))
    assert of_vocabulary(nn.Vocabulary([10**5000]))  # longer than Python writes in decimal
