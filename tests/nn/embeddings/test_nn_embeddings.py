import copy
import datetime
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from adelic import AdeleSpace, nn
from adelic.errors import (
    AdelicError,
    ConfigurationError,
    EncodingError,
    LossyFloatWarning,
    PrecisionError,
    RangeError,
    SpaceError,
)
from adelic.nn import AdelicEmbedding, LearnedEmbedding, Vocabulary
from adelic.nn.embeddings.adelic import COORDINATES, frequency_weights
from adelic.nn.embeddings.base import check_range
from adelic.numbers.columns.reading import read_values
from adelic.numbers.features import (
    FEATURE_KINDS,
    HOT_KINDS,
    WITHOUT_COMBINED,
    FeatureLayout,
    compute_features,
    place_size,
)

VARIANTS = [(kind, projection) for kind in FEATURE_KINDS for projection in (None, "linear")]


@pytest.mark.parametrize("features", WITHOUT_COMBINED)
def test_adelic_has_no_parameters_unless_projected(vocabulary, features):
    assert not list(AdelicEmbedding(vocabulary, features=features).parameters())
    projected = AdelicEmbedding(vocabulary, features=features, projection="linear", d_model=20)
    assert sum(p.numel() for p in projected.parameters()) == 20 * projected.layout.size + 20


def test_the_table_is_the_papers_layout_and_frozen():
    vocabulary = Vocabulary([0, 5, -7, "22/19", 10**20])
    embedding = AdelicEmbedding(vocabulary, features="digits")
    expected = embedding.space.tensor(list(vocabulary.numbers)).reshape(5, 128)
    assert np.array_equal(embedding.table.numpy(), expected)
    assert not embedding.table.requires_grad
    assert "table" in dict(embedding.named_buffers())
    assert list(embedding.state_dict()) == ["_extra_state"]
    assert torch.equal(embedding(torch.tensor([3, 0])), embedding.table[[3, 0]])


@pytest.mark.parametrize("features", WITHOUT_COMBINED)
def test_padding_is_zero(vocabulary, space, features):
    embedding = AdelicEmbedding(vocabulary, space=space, d_model=64, features=features)
    size = embedding.layout.size
    assert size < 64
    assert not embedding.table[:, size:].any()
    assert (embedding.table[:, :size] != 0).any(dim=0).sum() > 1


@pytest.mark.parametrize("features", [kind for kind in FEATURE_KINDS if kind != "standardized"])
@pytest.mark.parametrize("projection", [None, "linear"])
def test_open_ended_equals_the_vocabulary_path(batch, space, generator, features, projection):
    vocabulary = Vocabulary(["1/7", -3, 0, 10**12, "22/19", 4])
    options = {"space": space, "d_model": 48, "features": features, "projection": projection}
    closed, open_ended = AdelicEmbedding(vocabulary, **options), AdelicEmbedding(None, **options)
    open_ended.load_state_dict(closed.state_dict())
    ids = torch.randint(len(vocabulary), (*batch, 5), generator=generator)
    numbers = np.array(vocabulary.numbers, dtype=object)[ids.numpy()].tolist()
    assert closed(ids).shape == (*batch, 5, 48)
    assert torch.equal(copy.deepcopy(closed)(ids), pickle.loads(pickle.dumps(closed))(ids))
    if projection and features in HOT_KINDS:  # sums of the map's columns: the same in another order
        torch.testing.assert_close(open_ended(numbers), closed(ids))
    else:
        assert torch.equal(open_ended(numbers), closed(ids))


def test_standardized_is_over_the_vocabulary(space):
    table = AdelicEmbedding(Vocabulary(range(-4, 9)), space=space, d_model=16, features="standardized").table
    assert torch.allclose(table.mean(dim=0), torch.zeros(16), atol=1e-6)
    deviation = table.std(dim=0, correction=0)
    assert torch.all(torch.isclose(deviation, torch.ones(16), atol=1e-5) | (deviation == 0))


@pytest.mark.parametrize("features", FEATURE_KINDS)
def test_coordinates_of_some_places(space, features):
    """The real place's and the primes' are complementary; what is not given is 0."""
    vocabulary = Vocabulary([-3, "1/7", 2, 40])
    whole, real, padic = (
        AdelicEmbedding(vocabulary, space=space, d_model=64, features=features, coordinates=coordinates).table
        for coordinates in COORDINATES
    )
    n_real = FeatureLayout.fit(features, space, 64).n_real
    assert torch.equal(real + padic, whole)
    assert torch.equal(real[:, :n_real], whole[:, :n_real])
    assert not real[:, n_real:].any()
    assert not padic[:, :n_real].any()
    assert real.any()
    assert padic.any()


def test_coordinates_that_do_not_tell_numbers_apart(vocabulary):
    space = AdeleSpace(primes=(2,), precision=2)
    with pytest.raises(ConfigurationError, match=r"\(p-adic coordinates\) give two numbers of the vocabulary the same"):
        AdelicEmbedding(vocabulary, space=space, coordinates="p-adic", features="digits")
    assert AdelicEmbedding(vocabulary, space=space, coordinates="real").coordinates == "real"


@pytest.mark.parametrize("features", FEATURE_KINDS)
def test_the_projection_is_linear_in_all_features(features):
    """At primes with different numbers of digits, too; an open-ended embedding has the same vectors."""
    vocabulary, space = Vocabulary([0, 1, -5, 64, 81, 97, 100, 12]), AdeleSpace(precision={2: 6, 97: 1, 3: 4})
    options = {"space": space, "d_model": 6, "features": features, "projection": "linear"}
    embedding, ids = AdelicEmbedding(vocabulary, **options), torch.arange(8)
    assert embedding.layout.levels == space.max_precision
    raw = embedding.look_up(ids)
    weight, bias = embedding.projection.weight, embedding.projection.bias
    assert torch.allclose(embedding(ids), raw @ weight.T + bias, atol=1e-5)
    (found,) = torch.autograd.grad(embedding(ids).square().sum(), weight)
    (expected,) = torch.autograd.grad((raw @ weight.T + bias).square().sum(), weight)
    torch.testing.assert_close(found, expected)
    if features != "standardized":
        numbers = space.encode(list(vocabulary.numbers))
        factors = frequency_weights(embedding.layout, 30) if features == "combined" else np.float32(1)
        assert np.array_equal(raw.numpy(), compute_features(numbers, embedding.layout) * factors)
        open_ended = AdelicEmbedding(None, **options)
        open_ended.load_state_dict(embedding.state_dict())
        torch.testing.assert_close(open_ended(list(vocabulary.numbers)), embedding(ids))


def test_positions_beside_digits_by_prime_are_the_wider_spaces():
    space = AdeleSpace(precision={2: 6, 97: 1, 3: 4})
    embedding = AdelicEmbedding(range(8), space=space, d_model=20, features="digits")
    assert embedding(torch.tensor(5)).tolist() == [*[0] * 5, 5, 0, 0, 0, 1, 0, 1, 5, 0, 0, 1, 2, 0, 0, 0]
    wide = AdelicEmbedding(range(8), space=AdeleSpace(space.primes, 6), d_model=24, features="digits")
    kept = torch.tensor([True] * 6 + space.window.exists.flatten().tolist())
    found = embedding.positional_encoding(3).table[:, :17]
    torch.testing.assert_close(found, wide.positional_encoding(3).table[:, kept])


def test_fractions_of_a_list_have_room():
    embedding = AdelicEmbedding(["3/8", "7/5", 1])
    assert embedding.space == AdeleSpace(precision=19, fractional_digits=3)
    assert embedding.space.encode(["3/8", "7/5", 1]).decode().tolist() == [Fraction(3, 8), Fraction(7, 5), 1]
    assert embedding(torch.tensor([0, 2])).shape == (2, 128)
    assert AdelicEmbedding(["1/19", 1]).space == AdelicEmbedding(1000).space == AdeleSpace()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"projection": "mlp"}, "linear"),
        ({"features": "digit"}, "digits"),
        *(({"d_model": bad}, f"d_model={bad}") for bad in (0, -3)),
        ({"d_model": 7, "features": "digits"}, "projection='linear'"),
        ({"d_model": 1.5}, "d_model=1.5 must be a whole number"),
        ({"space": "x"}, "space='x' is no AdeleSpace"),
        ({"gain": "x"}, "gain='x' must be a positive number"),
        ({"padding_idx": 1.5}, "padding_idx=1.5 is not an id here"),
        ({"vocabulary": None, "padding_idx": 1}, "padding_idx=1 is not an id here; it needs a vocabulary"),
        ({"vocabulary": None, "floats": "x"}, "floats='x' is not a policy"),
        *(({"scale": bad}, "a mean and a deviation") for bad in ((0, 1, 2), 3, (0, "x"))),
        ({"scale": (0, 0)}, "a deviation above 0"),
        ({"scale": (0, 1), "features": "digits"}, "features='combined'"),
        *(({"falloff": bad}, "above 0") for bad in (0, math.inf)),
        ({"falloff": 30, "features": "digits"}, "features='characters', 'one-hot-digits' or 'combined'"),
        ({"coordinates": "complex"}, "coordinates='complex' are unknown; use all, real, p-adic"),
        ({"vocabulary": None, "features": "standardized"}, "needs a vocabulary"),
        *(
            ({"padding_idx": bad}, f"padding_idx={bad} is not an id here; it needs an id from 0 to 7")
            for bad in (8, -1)
        ),
        ({"vocabulary": 3, "missing": True}, "embeddings without a vocabulary"),
        ({"vocabulary": ["7/5", 1], "space": AdeleSpace()}, "7/5"),
        *(({"vocabulary": numbers}, None) for numbers in (True, 0, -3, 2.5)),
    ],
)
def test_bad_options(vocabulary, options, word):
    with pytest.raises(AdelicError, match=word):
        AdelicEmbedding(**({"vocabulary": vocabulary} | options))


@pytest.mark.parametrize("projection", [None, "linear"])
@pytest.mark.parametrize("is_open", [False, True])
def test_what_float16_does_not_hold_is_told(projection, is_open):
    """10^6 is not a float16: its real coordinate would be infinite, and so would all that is computed from it."""

    def made(largest, dtype, features="digits"):
        embedding = AdelicEmbedding(None if is_open else [largest, 3], features=features, projection=projection)
        return embedding.to(dtype)([[largest, 3]] if is_open else torch.tensor([[0, 1]]))

    with pytest.raises(RangeError, match=r"the feature 1e\+06 is beyond float16 \(6.6e\+04\)"):
        made(10**6, torch.float16)
    with torch.autocast("cpu", torch.float16), pytest.raises(RangeError, match="is beyond float16"):
        made(10**6, torch.float32)
    for arguments in ((10**4, torch.float16), (10**6, torch.float16, "characters"), (10**6, torch.bfloat16)):
        vectors = made(*arguments)
        assert vectors.dtype == arguments[1]
        assert vectors.isfinite().all()


def test_numbers_that_a_type_makes_equal_are_told():
    space = AdeleSpace(primes=(509,), precision=1)
    embedding = AdelicEmbedding(Vocabulary([300, 301]), space=space, coordinates="p-adic", features="digits")
    with pytest.raises(ConfigurationError, match=r"\(p-adic coordinates\) in torch.bfloat16 give two numbers"):
        embedding.bfloat16()
    assert AdelicEmbedding(Vocabulary([300, 301]), space=space).double()(torch.tensor([0])).dtype == torch.float64


def test_the_default_is_the_combined_form():
    """It has the characters and the valuations of the other forms, and the real value in several scales."""
    vocabulary = Vocabulary([0, 5, -7, "22/19", 10**12])
    embedding = AdelicEmbedding(vocabulary)
    assert (embedding.layout.kind, embedding.d_model) == ("combined", 128)
    assert sum(p.numel() for p in embedding.parameters()) == 128 * (embedding.layout.size + 1)
    assert embedding.table.abs().max() < 4  # of 10^12, too
    named = AdelicEmbedding(vocabulary, features="combined")
    assert torch.equal(named.table, embedding.table)
    part = AdelicEmbedding(vocabulary, features="characters", projection="linear", falloff=30).table[:, 1:33]
    assert torch.equal(embedding.table[:, 30:62], part)


@pytest.mark.parametrize("fractional_digits", [0, 2])
@pytest.mark.parametrize("kind", ["characters", "one-hot-digits", "combined"])
def test_high_levels_are_quieter(kind, fractional_digits):
    """Levels of p^k have the norm 1/√(1 + p^k/30) that the low ones nearly have; k counts from the point."""
    space = AdeleSpace(primes=(2, 7), precision=5, fractional_digits=fractional_digits)
    levels = {"characters": 2, "one-hot-digits": None, "combined": 2}
    embedding = AdelicEmbedding(50, space=space, features=kind, projection="linear", falloff=30)
    assert ("falloff=30" in repr(embedding)) == (kind != "combined")  # whose own falloff it is
    start = embedding.layout.n_real
    for p in space.primes:
        size = levels[kind] or p
        for k in range(1, 6):
            norms = embedding.table[:, start : start + size].norm(dim=1)
            expected = (1 + p ** (k - fractional_digits) / 30) ** -0.5
            torch.testing.assert_close(norms, torch.full((50,), expected))
            start += size
        rest = place_size(kind, p, 5) - 5 * size
        assert torch.isin(embedding.table[:, start : start + rest], torch.tensor([0.0, 1.0])).all()
        start += rest
    assert start == embedding.layout.size


def test_the_scale_is_a_feature():
    """1,000,001 and 1,000,002 have nearly the same logarithm; on their own scale they differ."""
    embedding = AdelicEmbedding(None, scale=(1_000_000.0, 1.0), d_model=16)
    found = embedding._features(embedding.space.encode([1_000_001, 1_000_002]))[:, 1]
    assert torch.allclose(found, torch.asinh(torch.tensor([1.0, 2.0])))


def test_digits_in_base_ten_are_waves_of_the_real_value():
    space = AdeleSpace(primes=(3,), precision=2)
    table = AdelicEmbedding(Vocabulary([7, 107, 1007]), space=space).table[:, 2:30].reshape(3, 14, 2)
    equal = torch.isclose(table[0], table[1], atol=1e-5).all(dim=1)
    assert equal[:4].all()  # periods 0.1, 1, 10, 100: the last two digits are 07
    assert not equal[4]


@pytest.mark.parametrize("features", [None, "digits"])
def test_missing_and_unknown_numbers_have_trained_vectors(features):
    vocabulary = Vocabulary(range(10), missing=True, unknown=True)
    embedding = AdelicEmbedding(vocabulary, 128, features=features)
    ids = vocabulary.ids([3, None, 99, float("nan")])
    assert ids.tolist() == [3, 10, 11, 10]
    assert (embedding.num_embeddings, embedding.special.shape) == (12, (2, 128))
    out = embedding(ids)
    assert torch.equal(out[1], out[3])
    assert not torch.equal(out[1], out[2])
    out.sum().backward()
    assert embedding.special.grad.abs().sum(dim=1).tolist() == [256.0, 128.0]
    assert embedding.frozen is None
    for wrong in (-1, 12):
        with pytest.raises((IndexError, RuntimeError)):
            embedding(torch.tensor([wrong]))
    model = nn.SequenceClassifier(embedding, n_classes=2, max_length=4, n_layers=1, n_heads=2)
    assert model(ids[None]).shape == (1, 2)


@pytest.mark.parametrize("features", [None, "digits", "one-hot-digits"])
def test_padding_is_zero_and_has_no_gradient(features):
    vocabulary = Vocabulary(range(1, 9), missing=True)
    projection = None if features == "digits" else "linear"
    embedding = AdelicEmbedding(vocabulary, 128, features=features, projection=projection, padding_idx=8)
    out = embedding(torch.tensor([[0, 8], [8, 7]]))
    assert not out[0, 1].any()
    assert out[0, 0].any()
    if projection:
        out[0, 1].sum().backward()
        assert not embedding.projection.weight.grad.any()
    model = nn.SequenceClassifier(embedding, n_classes=2, max_length=2, n_layers=1, n_heads=2)
    assert not model.embed(torch.tensor([[8, 0]]))[0, 0].any()


@pytest.mark.parametrize(
    "column",
    [
        [19.99, 5, None, 249.5],
        pd.Series([1.0, np.nan, 10**9]),
        pl.Series([datetime.date(2024, 2, 29), None]),
        ["1/3", 22, "5/7"],
        np.array([0.25, 1e6]),
        np.random.default_rng(0).normal(size=9).round(7),
        [7],
    ],
)
def test_an_embedding_for_a_column_takes_it_and_says_what_it_is(column, capsys):
    embedding = AdelicEmbedding.for_column(column, 16)
    printed = capsys.readouterr().out
    assert printed.startswith(f"{len(column)} row")
    assert "any number, 16, primes=" in repr(embedding)
    out = embedding(column)
    assert out.shape == (len(column), 16)
    assert out.isfinite().all()
    _, is_missing = read_values(column)
    assert torch.equal(out[is_missing], out.new_zeros(0, 16) if not is_missing.any() else embedding.special)
    AdelicEmbedding.for_column(column, 16, show=False)
    assert capsys.readouterr().out == ""


def test_gaps_that_come_later_have_a_vector_if_asked_for():
    with pytest.raises(EncodingError, match="missing=True, of AdelicEmbedding or its for_column, gives it a vector"):
        AdelicEmbedding.for_column([1, 2], 16, show=False)(np.array([1, np.nan]))
    with pytest.raises(EncodingError, match=r"there is no number at position \[0, 1\]"):
        AdelicEmbedding.for_column([1, 2], 16, show=False)([[1, None]])
    embedding = AdelicEmbedding.for_column([1, 2], 16, show=False, missing=True)
    for batch in ([1, None], np.array([1, np.nan]), pd.Series([1, None], dtype="Int64"), torch.tensor([7, np.nan])):
        assert torch.equal(embedding(batch)[1], embedding.special[0])


def test_lossy_batches_are_told_once():
    with pytest.warns(LossyFloatWarning, match="column 'id', at position"):
        embedding = AdelicEmbedding.for_column(pd.Series([1, 2.0**60], name="id"), 16, show=False)
    embedding([2.0**61])  # a second warning would be an error here
    embedding = AdelicEmbedding.for_column([0.5, 7], 16, show=False, fractional_digits=60)
    with pytest.warns(LossyFloatWarning, match=r"position \[1, 0\]: 0.30000000000000004 has"):
        embedding([[0.5], [0.1 + 0.2]])
    embedding([0.1 + 0.7])
    with pytest.raises(EncodingError, match="leading zeros"):
        AdelicEmbedding(None, 16, floats="shortest", lossy="error")(["00501"])
    with pytest.raises(EncodingError, match="is a float and may not be"):  # vocabularies take no float at all
        nn.Vocabulary([1, 2], missing=True).ids([2.0**53, None])


COLUMNS = [
    np.array([19.99, 5, 0.5, 5, np.nan, -1e6]),
    pd.Series([7, 7, None, 10**15], dtype="Int64"),
    torch.tensor([1.5, 3, 2.25]),
    torch.tensor([[3, 4], [4, 2**60]]),
    ["1/3", "0.5", 22, None, 2**70],
    pd.Series(pd.to_datetime(["2024-02-29", "1969-12-31", None])),
]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("options", [{}, {"features": "characters", "projection": "linear"}])
def test_features_that_are_kept_are_those_that_are_computed(column, options):
    options = {"show": False, "fractional_digits": 8} | options
    plain = AdelicEmbedding.for_column(column, 16, remember=0, **options)
    flat = np.asarray(column, dtype=object).reshape(-1)
    for remember in (1, 2, 1000):
        kept = AdelicEmbedding.for_column(column, 16, remember=remember, **options)
        kept.load_state_dict(plain.state_dict())
        for batch in (column, column[:2], list(flat), [8, *flat], flat[:0].tolist()):
            assert torch.equal(kept(batch), plain(batch))
    assert kept.state_dict().keys() == plain.state_dict().keys()
    calls = []
    kept._open.features(column, calls.append)
    assert not calls


def test_kept_features_are_as_precise_as_others_after_a_shorter_type():
    column = [10**5 + 1, 7]
    plain, kept = (AdelicEmbedding.for_column(column, 16, show=False, remember=most) for most in (0, 9))
    kept.load_state_dict(plain.state_dict())
    for dtype in (torch.bfloat16, torch.float32):
        assert torch.equal(kept.to(dtype)(column), plain.to(dtype)(column))
    with pytest.raises(ConfigurationError, match="remember=-1"):
        AdelicEmbedding.for_column(column, 16, show=False, remember=-1)


@pytest.mark.parametrize("kind", ["combined", "one-hot-digits", "characters"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.bfloat16])
def test_open_ended_embeddings_are_converted(kind, dtype):
    embedding = AdelicEmbedding(None, 16, features=kind, projection="linear").to(dtype)
    out = embedding([[10**6, 3]])
    assert out.dtype == dtype
    assert out.isfinite().all()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # dynamo's, where a graph ends at the numbers
def test_open_ended_models_are_compiled():
    embedding = AdelicEmbedding.for_column([19.99, 5, None], 16, show=False)
    model = nn.SequenceClassifier(embedding, n_classes=2, max_length=3, n_layers=1, n_heads=2).eval()
    compiled = torch.compile(model, backend="eager")
    for batch in ([[1, 2.5, None]], [[7, 0.01, 3]], np.array([[1.0, 2.0, np.nan]])):
        torch.testing.assert_close(compiled(batch), model(batch))


def test_a_hundred_thousand_numbers_need_no_comparison_of_whole_rows(monkeypatch):
    """Comparing all rows, 929 features each, took seconds; sums of their bits are compared instead."""
    whole = []
    unique = torch.unique
    monkeypatch.setattr(torch, "unique", lambda x, **more: (whole.append(x.dim()), unique(x, **more))[1])
    AdelicEmbedding(20_000, 8, features="one-hot-digits", projection="linear")
    assert whole == [1]


@pytest.mark.parametrize("numbers", [range(-5, 900), ["1/19", 3, 10**30, "-2/23"]])
def test_the_table_has_the_features_of_the_numbers_in_their_order(numbers):
    embedding = AdelicEmbedding(numbers, 8, features="one-hot-digits", projection="linear")
    expected = compute_features(embedding.space.encode(list(numbers)), embedding.layout)
    found = embedding.look_up(torch.arange(len(numbers)))
    assert np.array_equal(found.numpy(), expected)
    assert found.dtype == torch.float32
    assert embedding.table.dtype == torch.uint8  # a quarter of the memory


def test_features_of_a_byte_each_are_converted_with_the_module():
    """So that an embedding of one-hot features works in every type, and refuses one that holds no two reals apart."""
    made = AdelicEmbedding(range(9), 8, features="one-hot-digits", projection="linear")
    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        converted = copy.deepcopy(made).to(dtype)
        assert converted(torch.arange(9)).dtype == converted.look_up(torch.arange(9)).dtype == dtype
        assert torch.equal(converted.look_up(torch.arange(9)), made.look_up(torch.arange(9)).to(dtype))
    space = AdeleSpace((2,), 2)
    options = {"space": space, "features": "one-hot-digits", "projection": "linear"}
    near = AdelicEmbedding([1000, 1004], 8, **options)  # by size alone
    assert len(near.look_up(torch.arange(2)).unique(dim=0)) == 2
    with pytest.raises(ConfigurationError, match=r"in torch\.bfloat16 give two numbers"):
        near.to(torch.bfloat16)


def test_later_values_of_a_column_may_have_more_digits_after_the_point():
    """The error of a value that does not fit names the option, and with it the value is read exactly."""
    embedding = AdelicEmbedding.for_column([1.25, 2.5], 32, show=False)
    with pytest.raises(PrecisionError, match="fractional_digits=4 would hold it"):
        embedding([1.3333])
    wider = AdelicEmbedding.for_column([1.25, 2.5], 32, show=False, fractional_digits=4)
    assert wider([1.3333, 2.5]).shape == (2, 32)
    assert (wider.space.fractional_digits, wider.space.max_precision) == (4, embedding.space.max_precision + 2)
    for wrong in (-1, 1.5, "two"):
        with pytest.raises(SpaceError, match="fractional_digits"):
            AdelicEmbedding.for_column([1.25, 2.5], 32, show=False, fractional_digits=wrong)


EXTENDED = {
    **{f"adelic, {kind}, {projection}": ("adelic", {"features": kind, "projection": projection, "precision": 8})
       for kind, projection in VARIANTS if kind != "standardized"},
    "abacus": ("abacus", {"max_digits": 3}),
    "base-digits": ("base-digits", {"max_digits": 3}),
    "residues": ("residues", {}),
    "angular": ("angular", {}),
    "fone": ("fone", {}),
    "xval": ("xval", {}),
    "periodic": ("periodic", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", EXTENDED)
def test_numbers_behind_a_vocabulary(name):
    """Their vectors are those of the same weights in an embedding whose vocabulary has them from the start."""
    kind, options = EXTENDED[name]
    if kind == "adelic":
        options = {key: value for key, value in options.items() if key != "precision"}
        options["space"] = AdeleSpace((2, 3), 8)
    made = nn.EMBEDDINGS[kind](Vocabulary([5, 17, -2]), d_model=64, **options)
    before = made(torch.tensor([[0, 1, 2]]))
    longer = nn.EMBEDDINGS[kind](Vocabulary([5, 17, -2, 40, -31]), d_model=64, **options)
    made.extend([40, -31])
    if hasattr(made, "scale") and isinstance(made.scale, torch.Tensor):
        longer.shift, longer.scale = made.shift, made.scale  # which the numbers of training decide
        longer.table = longer.features([5, 17, -2, 40, -31])
    longer.load_state_dict({k: v for k, v in made.state_dict().items() if "extra_state" not in k}, strict=False)
    ids = torch.tensor([[0, 1, 2, 3, 4]])
    torch.testing.assert_close(made(ids), longer(ids), rtol=0, atol=0)
    torch.testing.assert_close(made(torch.tensor([[0, 1, 2]])), before, rtol=0, atol=1e-6)
    assert made.vocabulary.numbers == longer.vocabulary.numbers


@pytest.mark.parametrize("form", ["digits", "valuation-unit"])
def test_numbers_behind_a_vocabulary_are_told_apart_or_refused(form):
    """The table of "valuation-unit" behind a projection has a byte a feature, and the real value beside it."""
    is_bytes = form == "valuation-unit"
    options = {"features": form, "projection": "linear"} if is_bytes else {"features": form}
    made = AdelicEmbedding([0, 2**60], 8, space=AdeleSpace((2,), 1), **options)
    with pytest.raises(ConfigurationError, match="give two numbers of the vocabulary the same vector"):
        made.extend([2**60 + 2])
    made.extend([3])
    assert made.vocabulary.numbers == (0, 2**60, 3)
    assert len(made.table) == 3 == (len(made.real) if is_bytes else 3)


@pytest.mark.parametrize("features", ["combined", "characters"])
@pytest.mark.parametrize("largest", [10**307, 10**308, -(10**308), (2**53 - 1) << 971])
def test_numbers_up_to_the_size_of_a_float_have_vectors(largest, features):
    options = {"features": features, "projection": "linear"}
    assert torch.isfinite(AdelicEmbedding(None, 16, **options)([largest])).all()
    assert torch.isfinite(AdelicEmbedding([1, largest], 16, **options).table).all()


def test_what_is_not_finite_is_no_feature():
    with pytest.raises(RangeError, match="the feature nan is beyond float32"):
        check_range(math.nan, torch.float32)
    for vocabulary in (None, [1, 10**308]):
        with pytest.raises(RangeError, match="the feature inf is beyond float32"):
            AdelicEmbedding(vocabulary, 16, scale=(0, 0.01))([10**308])
    for features in ("combined", "characters", "one-hot-digits"):
        with pytest.raises(RangeError, match=r"the real value at position \[1\] is beyond float64"):
            AdelicEmbedding(None, 16, features=features, projection="linear")([1, -(10**10_000)])


@pytest.mark.parametrize(
    ("make", "numbers", "words"),
    [
        (lambda: LearnedEmbedding([5, 7]), [8], "8 is not in the vocabulary, and learned has a vector for each"),
        (lambda: nn.OneHotEmbedding([5, 7]), [8], "8 is not in the vocabulary, and one-hot has a vector for each"),
        (lambda: nn.RandomEmbedding([5, 7]), [8], "8 is not in the vocabulary, and random has a vector for each"),
        (lambda: LearnedEmbedding([5, 7]), 9, "is a list of numbers, not 9"),
        (lambda: nn.BaseDigitsEmbedding([5, 7], 64), [], "at least one number"),
        (lambda: nn.BaseDigitsEmbedding([5, 7], 64), [100], "more than 1 base-10 digits"),
        (lambda: AdelicEmbedding([5, 7], 64), 9, "is a list of numbers, not 9"),
        (lambda: AdelicEmbedding([5, 7], 64), [7], "7 occurs twice"),
        (lambda: AdelicEmbedding([5, 7], 64, features="standardized"), [8], "'standardized' are relative to it"),
        (lambda: AdelicEmbedding(None, 64), [8], "without ids for missing"),
        (lambda: AdelicEmbedding(Vocabulary([5, 7], missing=True), 64), [8], "without ids for missing"),
    ],
)
def test_numbers_that_cannot_be_added(make, numbers, words):
    embedding = make()
    with pytest.raises(AdelicError, match=words):
        embedding.extend(numbers)
    assert embedding.vocabulary is None or embedding.vocabulary.numbers == (5, 7)


@pytest.mark.parametrize("missing", [False, True])
def test_a_map_acts_on_each_number_once(missing):
    """With more ids than numbers, as with fewer, vectors and gradients are those of the map on every token."""
    torch.manual_seed(0)
    embedding = AdelicEmbedding(
        Vocabulary(range(-5, 6), missing=missing), 16, features="characters", projection="linear"
    ).double()  # sums of gradients in another order differ in float32
    few = torch.tensor([[0, 10, 3]])
    many = torch.randint(0, embedding.num_embeddings, (7, 9))
    mapped = []
    embedding.projection.register_forward_hook(lambda module, given, out: mapped.append(len(out.flatten(0, -2))))
    for ids in (few, many):
        found = embedding(ids)
        wanted = torch.cat([embedding(row[None, None]) for row in ids.flatten()]).view(*ids.shape, 16)
        torch.testing.assert_close(found, wanted)
        wanted = torch.autograd.grad(wanted.square().sum(), embedding.projection.weight)
        torch.testing.assert_close(torch.autograd.grad(found.square().sum(), embedding.projection.weight), wanted)
    assert [count for count in mapped if count > 1] == [3, 11]
