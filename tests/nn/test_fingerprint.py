"""Weights are not loaded behind an encoding that they were not trained with."""

import copy

import pytest
import torch
from safetensors.torch import load_model, save_model

from adelic import AdeleSpace, nn
from adelic.errors import ConfigurationError
from adelic.nn.fingerprint import of_vocabulary

SPACE, OTHER, SHIFTED = AdeleSpace((2, 3, 5), 4), AdeleSpace((2, 3, 7), 4), AdeleSpace((2, 3, 5), 4, 1)
NUMBERS = tuple(range(8))


def adelic(numbers=NUMBERS, **options):
    vocabulary = None if numbers is None else nn.Vocabulary(numbers)
    return nn.AdelicEmbedding(vocabulary, **{"space": SPACE, "d_model": 16, "features": "digits"} | options)


def projected(**options):
    return adelic(projection="linear", **options)


def classifier(embedding=None, **options):
    embedding = embedding or adelic()
    return nn.SequenceClassifier(embedding, n_classes=3, max_length=4, n_layers=1, n_heads=2, **options)


def placewise(numbers=NUMBERS, **options):
    sizes = {"n_classes": 3, "max_length": 4, "n_layers": 1, "n_heads": 1, "d_feedforward": 8, "d_place": 8}
    return nn.PlacewiseClassifier(nn.Vocabulary(numbers), **sizes, **{"space": SPACE} | options)


def operations(**options):
    return nn.OperationHead(4, **{"operations": ("+", "-"), "constants": ("60",)} | options)


LISTED = {"vocabulary": NUMBERS, "d_model": 16}
REVERSED = LISTED | {"vocabulary": NUMBERS[::-1]}
HEAD = {"space": SPACE, "in_features": 6}
BY_PRIME, OF_OTHERS = ({"space": AdeleSpace(precision={2: 4, **more})} for more in ({3: 3, 5: 4}, {3: 4, 5: 3}))
PAIRS = {  # what makes both, the options of one and of the other, and what is said
    "the vocabulary's order": (adelic, {}, {"numbers": NUMBERS[::-1]}, "vocabulary 7, 6.*with them, 0, 1"),
    "another number": (adelic, {}, {"numbers": (*NUMBERS[:7], 8)}, "vocabulary"),
    "the space": (adelic, {}, {"space": OTHER}, r"primes \[2, 3, 7\] with them, \[2, 3, 5\] here"),
    "features": (adelic, {}, {"features": "standardized"}, "features standardized with them, digits here"),
    "coordinates": (adelic, {}, {"coordinates": "p-adic"}, "coordinates"),
    "levels": (adelic, {}, {"d_model": 12}, "levels 3 with them, 4 here"),
    "another embedding": (adelic, {}, {"numbers": None, "features": "characters"}, "features"),
    "primes behind a projection": (projected, {}, {"space": OTHER}, "primes"),
    "fractional digits": (projected, {}, {"space": SHIFTED}, "fractional_digits 1 with them, 0 here"),
    "digits by prime": (projected, {}, BY_PRIME, "precision {'2': 4, '3': 3, '5': 4} with them, 4 here"),
    "other digits by prime": (
        projected,
        OF_OTHERS,
        BY_PRIME,
        "precision {'2': 4, '3': 3, '5': 4} with them, {'2': 4, '3': 4, '5': 3} here",
    ),
    "a falloff": (projected, {"features": "combined", "falloff": 10}, {"features": "combined"}, "falloff"),
    "a scale": (projected, {"features": "combined", "scale": (0, 2)}, {"features": "combined"}, "scale"),
    "a learned table's order": (nn.LearnedEmbedding, LISTED, REVERSED, "another LearnedEmbedding: vocabulary"),
    "a rival's vocabulary": (nn.FoNEEmbedding, LISTED, REVERSED, "another FoNEEmbedding: vocabulary"),
    "a rival's periods": (nn.FoNEEmbedding, LISTED | {"bases": (2, 5)}, LISTED | {"bases": (3, 7)}, "periods"),
    "a rival's scaling": (nn.XValEmbedding, LISTED | {"scaling": "log"}, LISTED, "another XValEmbedding: scaling"),
    "place features": (nn.PlaceEmbedding, {"space": SPACE}, {"space": OTHER}, "another PlaceEmbedding: primes"),
    "the real unit of place features": (
        nn.PlaceEmbedding,
        {"space": SPACE},
        {"space": SPACE, "real_scale": 10},
        "real_scale 10.0 with them, 1.0 here",
    ),
    "a head's primes": (nn.AdelicHead, HEAD, HEAD | {"space": OTHER}, "another AdelicHead: primes"),
    "a head's real unit": (nn.AdelicHead, HEAD, HEAD | {"real_scale": 5}, "real_scale"),
    "a head's operations": (operations, {}, {"operations": ("-", "+")}, "another OperationHead"),
    "a head's constants": (operations, {}, {"constants": (100,)}, "another OperationHead"),
    "a union's parts": (nn.UnionEmbedding, LISTED, REVERSED, "another"),
    "a place-wise classifier": (placewise, {}, {"numbers": NUMBERS[::-1]}, "another PlacewiseClassifier: vocabulary"),
    "its primes": (placewise, {}, {"space": OTHER}, "primes"),
    "positions": (
        classifier,
        {"positional": None},
        {"positional": "sinusoidal"},
        "class SinusoidalPositionalEncoding with them, PositionalEncoding here",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_another_encoding_is_refused_and_both_are_named(name):
    make, mine, theirs, message = PAIRS[name]
    module, other = make(**mine), make(**theirs)
    module.load_state_dict(make(**mine).state_dict())
    with pytest.raises(ConfigurationError, match=message):
        module.load_state_dict(other.state_dict())
    with pytest.raises(ConfigurationError, match="with them"):  # what is lenient on keys is not so on meanings
        module.load_state_dict(other.state_dict(), strict=False)


def test_without_a_vocabulary_any_goes():
    closed, open_ended = adelic(projection="linear"), adelic(None, projection="linear")
    open_ended.load_state_dict(closed.state_dict())
    closed.load_state_dict(open_ended.state_dict())
    with pytest.raises(ConfigurationError, match="primes"):
        open_ended.load_state_dict(adelic(projection="linear", space=OTHER).state_dict())


def test_weights_from_before_lack_a_key():
    model = classifier()
    old = {key: value for key, value in model.state_dict().items() if not key.endswith("_extra_state")}
    with pytest.raises(RuntimeError, match=r"Missing key.*embedding\._extra_state"):
        model.load_state_dict(old)
    missing, unexpected = model.load_state_dict(old, strict=False)
    assert (missing, unexpected) == (["embedding._extra_state", "positional._extra_state"], [])


def test_files_carry_it(tmp_path):
    model, other = classifier(), classifier(adelic(NUMBERS[::-1]))
    save_model(model, tmp_path / "safetensors")
    torch.save(model.state_dict(), tmp_path / "torch")
    assert load_model(classifier(), tmp_path / "safetensors") == (set(), [])
    classifier().load_state_dict(torch.load(tmp_path / "torch", weights_only=True))
    with pytest.raises(ConfigurationError, match="vocabulary"):
        load_model(other, tmp_path / "safetensors")
    with pytest.raises(ConfigurationError, match="vocabulary"):
        other.load_state_dict(torch.load(tmp_path / "torch", weights_only=True))


@pytest.mark.parametrize("wrap", [copy.deepcopy, torch.nn.DataParallel, torch.optim.swa_utils.AveragedModel])
def test_copies_and_wrappers_carry_it(wrap):
    wrapped = wrap(classifier())
    wrapped.load_state_dict(wrapped.state_dict())
    with pytest.raises(ConfigurationError, match="vocabulary"):
        wrapped.load_state_dict(wrap(classifier(adelic(NUMBERS[::-1]))).state_dict())


@pytest.mark.parametrize("change", [torch.Tensor.bfloat16, torch.Tensor.half, lambda x: (x.float() + x) / 2])
def test_state_dicts_that_were_converted_or_averaged(change):
    model = classifier()
    model.load_state_dict({key: change(value) for key, value in model.state_dict().items()})


@pytest.mark.parametrize(
    "state", [torch.zeros(3), torch.tensor(5), torch.tensor([1.5]), torch.tensor([300]), {"a": 1}, None, "text"]
)
def test_what_is_no_fingerprint(state):
    with pytest.raises(ConfigurationError, match="with weights of AdelicEmbedding is not a fingerprint"):
        adelic().load_state_dict({"_extra_state": state})


def test_a_vocabulary_is_told_by_all_its_numbers():
    base = list(range(1000))
    texts = {of_vocabulary(nn.Vocabulary(v))["vocabulary"] for v in (base, base[:-1], [*base[:-1], "999/2"])}
    assert len(texts) == 3
    swapped = [*base[:500], base[501], base[500], *base[502:]]
    assert of_vocabulary(nn.Vocabulary(swapped)) != of_vocabulary(nn.Vocabulary(base))
    assert of_vocabulary(nn.Vocabulary(base)) == of_vocabulary(nn.Vocabulary(base))
    assert of_vocabulary(nn.Vocabulary([10**5000]))  # longer than Python writes in decimal
