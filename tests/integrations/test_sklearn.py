"""`AdelicEncoder` keeps scikit-learn's contract, and its features are the numbers' exact digits."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from adelic import AdeleSpace, AdelicError
from adelic.errors import ConfigurationError, DecodingError, EncodingError, PrecisionError, RangeError, UnknownNameError
from adelic.integrations.sklearn import AdelicEncoder
from adelic.numbers.features import ONE_HOT_KINDS, WITHOUT_COMBINED, FeatureLayout, compute_features
from adelic.numbers.window import DEFAULT_PRIMES

PRIMES = (2, 3, 7)
SPARSE = {"features": "one-hot-digits", "sparse_output": True}
INVERTIBLE = [kind for kind in WITHOUT_COMBINED if kind not in ("valuation-unit", "multiplicative-characters")]


def encoder(**options):
    return AdelicEncoder(**{"primes": PRIMES, "precision": 5, "dtype": np.float64} | options)


def large(**options):
    """Return an encoder whose digits and real values hold long numbers: the defaults of the adele space."""
    return AdelicEncoder(**{"primes": DEFAULT_PRIMES, "precision": 16, "dtype": np.float64} | options)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::adelic.errors.LossyFloatWarning")  # the checks take random floats
@parametrize_with_checks(
    [
        AdelicEncoder(),
        AdelicEncoder((), bases=(10,), moduli=(12, 365), calendar=()),
        *(AdelicEncoder(features=kind, moduli=(10,)) for kind in WITHOUT_COMBINED[1:]),
        AdelicEncoder(precision={2: 6, 3: 4, 97: 1}),
        *(AdelicEncoder(handle_missing=policy) for policy in ("propagate", "zero", "indicator")),
        AdelicEncoder(**SPARSE),
        AdelicEncoder(floats="exact", dtype=np.float32),
        AdelicEncoder(floats="limit:1000", precision=5, fractional_digits=3),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# Features


def residue_digits(number, p, precision, fractional=0):
    """Digits of a number at p^(−F), …, lowest first, by exact integers; those below are left out."""
    q = Fraction(number)
    valuation = 0
    while q.denominator % p ** (valuation + 1) == 0:
        valuation += 1
    shift = max(valuation, fractional)
    scaled = q * p**shift
    modulus = p ** (precision + shift - fractional)
    x = scaled.numerator * pow(scaled.denominator, -1, modulus) % modulus // p ** (shift - fractional)
    return [x // p**k % p for k in range(precision)]


@given(
    st.lists(st.fractions(max_denominator=10**9) | st.integers(-(10**30), 10**30), min_size=1, max_size=8),
    st.integers(0, 3),
)
@example([3, 10**30, Fraction(1, 100), Fraction(7, 10**25), -(10**19), 2**63 - 1, -(2**63)], 1)  # long beside short
@settings(deadline=None, max_examples=60)
def test_digits_by_the_definition(numbers, fractional):
    X = np.empty((len(numbers), 1), dtype=object)
    X[:, 0] = numbers
    out = encoder(fractional_digits=fractional).fit_transform(X)
    for number, row in zip(numbers, out.tolist(), strict=True):
        assert row == [float(number), *(d for p in PRIMES for d in residue_digits(number, p, 5, fractional))]


@pytest.mark.parametrize("kind", WITHOUT_COMBINED)
@pytest.mark.parametrize("fractional", [0, 1])
@pytest.mark.parametrize("precision", [4, {2: 6, 97: 2, 3: 4}], ids=["one number of digits", "digits by prime"])
def test_features_are_those_of_the_embeddings(kind, fractional, precision):
    numbers = np.array([[5, -3, 12], [2**40, 0, 7]])
    space = AdeleSpace(precision=precision, fractional_digits=fractional)
    ours = large(precision=precision, fractional_digits=fractional, features=kind).fit(numbers)
    assert ours.space_ == space
    transformed = ours.transform(numbers)
    out, layout = transformed.reshape(2, 3, -1), FeatureLayout(kind, space, space.max_precision)
    theirs = compute_features(space.encode(numbers), layout)
    if kind in ("digits", "standardized"):
        ends = layout.n_real + np.cumsum(space.precisions)
        digits = [theirs[..., end - n : end][..., ::-1] for end, n in zip(ends, space.precisions, strict=True)]
        theirs = np.concatenate([theirs[..., layout.n_real - 1 : layout.n_real], *digits], axis=-1)
    if kind == "standardized":
        assert np.allclose(out * ours.scale_.reshape(3, -1) + ours.mean_.reshape(3, -1), theirs)
    else:
        assert np.allclose(out, theirs, rtol=1e-6, atol=1e-6)
    assert len(ours.get_feature_names_out()) == out[0].size
    if kind in INVERTIBLE:
        assert np.array_equal(ours.inverse_transform(transformed), numbers)
    if kind in ONE_HOT_KINDS:
        thin = clone(ours).set_params(sparse_output=True).fit_transform(numbers)
        assert np.array_equal(thin.toarray(), transformed)


NAMES = {  # space and kind -> a number, the names and the values of its features at primes
    "digits": ("7/5", "p2_d-1 p2_d0 p2_d1 p5_d-1 p5_d0 p5_d1", [0, 1, 1, 2, 1, 0]),  # 1.2 in Q_5, and 3 modulo 4
    "characters": (9, "p2_cos0 p2_sin0 p2_cos1 p2_sin1 p2_cos2 p2_sin2", [1, 0, -1, 0, 0, 1]),  # 2·9 = 18
    "one-hot-digits": (9, "p2_d-1_0 p2_d-1_1 p2_d0_0 p2_d0_1 p2_d1_0 p2_d1_1", [1, 0, 0, 1, 1, 0]),
    "valuation-unit": (10, "p5_v-1 p5_v0 p5_v1 p5_v2 p5_u1 p5_u2 p5_u3 p5_u4", [0, 0, 1, 0, 0, 1, 0, 0]),
    "multiplicative-characters": (
        10, "p5_v-1 p5_v0 p5_v1 p5_v2 p5_chi1_cos p5_chi1_sin p5_chi2_cos", [0, 0, 1, 0, 0, 1, -1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", NAMES)
def test_names_and_values_by_hand(kind):
    """With one fractional digit; 10 is 5·2."""
    number, names, values = NAMES[kind]
    primes = tuple(p for p in (2, 5) if f"p{p}_" in names)
    model = AdelicEncoder(primes=primes, precision=3, fractional_digits=1, features=kind)
    out = model.fit_transform(pd.DataFrame({"price": [str(number)]}))
    assert model.get_feature_names_out().tolist() == ["price_real", *(f"price_{name}" for name in names.split())]
    assert model.fit([[1]]).get_feature_names_out(["n"])[0] == "n_real"
    assert out[0, 1:] == pytest.approx(values, abs=1e-12)
    if kind not in INVERTIBLE:
        with pytest.raises(DecodingError, match="do not give the number back; use 'digits'"):
            model.inverse_transform(out)


@pytest.mark.parametrize("has_gap", [False, True])
def test_standardized_over_the_training_data(has_gap):
    numbers = np.arange(50)[:, None] * 3
    X = np.vstack([[[np.nan]], numbers]) if has_gap else numbers
    model = encoder(features="standardized", handle_missing="propagate").fit(X)
    out = model.transform(numbers)
    assert np.allclose(out.mean(axis=0), 0)
    deviations = out.std(axis=0)
    assert np.all(np.isclose(deviations, 1) | (deviations == 0))
    assert (deviations == 0).any()  # the digit of multiples of 3 at 3^0
    assert np.allclose(model.transform([[7]])[0, 0], (7 - numbers.mean()) / numbers.std())
    assert not encoder(features="standardized", handle_missing="zero").fit_transform([[np.nan], [np.nan]]).any()


# Input


def test_integers_that_are_stored_as_floats_are_integers():
    numbers = [0, -5, 2**52 + 1, 10**6]
    for dtype in (np.float64, np.float32, np.float16):
        small = np.array([n for n in numbers if n < 2 ** (np.finfo(dtype).nmant + 1)])[:, None]
        out = encoder(floats="error").fit_transform(small.astype(dtype))
        assert np.array_equal(out, encoder().fit_transform(small))
    as_objects = np.array([[3.0], [np.float32(7)]], dtype=object)
    assert np.array_equal(encoder(floats="error").fit_transform(as_objects), encoder().fit_transform([[3], [7]]))


def test_other_floats_follow_the_policy():
    X = np.array([[0.5], [0.1], [3.0]])
    space = {"primes": (3, 7), "precision": 8, "fractional_digits": 1}
    for policy, tenth in [("shortest", "1/10"), ("exact", Fraction(*(0.1).as_integer_ratio())), ("limit:7", "1/7")]:
        expected = encoder(**space).fit_transform([["1/2"], [str(tenth)], ["3"]])[:, 1:]
        assert np.array_equal(encoder(**space, floats=policy).fit_transform(X)[:, 1:], expected)


def test_truncation_concerns_the_dividing_prime_alone():
    truncated = encoder().fit_transform([[19.99]])
    names = encoder().fit([[1]]).get_feature_names_out().tolist()
    exact = encoder(primes=(3, 7)).fit_transform([["1999/100"]])
    assert truncated[0, names.index("x0_p3_d0") :].tolist() == exact[0, 1:].tolist()
    assert encoder(denominators="error", fractional_digits=2).fit_transform([[19.99]]).shape == (1, 16)


def test_columns_of_a_data_frame_keep_their_types():
    """One matrix of them would be of floats, and 2^60 + 1 would be another number."""
    big = 2**60 + 1
    columns = {"a": [big, 3], "b": [0.5, 2.0], "c": ["7/5", "-2"]}
    expected = encoder().fit_transform([[big, "0.5", "7/5"], [3, 2, -2]])
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        model = encoder().fit(frame)
        assert np.array_equal(model.transform(frame), expected)
        assert model.get_feature_names_out()[0] == "a_real"
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        with pytest.raises(ValueError, match="feature names should match"):
            model.transform(frame.rename(columns={"a": "z"}) if hasattr(frame, "iloc") else frame.rename({"a": "z"}))
    mixed = [[big, 0.5, Fraction(7, 5)], [3, 2.0, Decimal(-2)]]
    assert np.array_equal(encoder().fit_transform(mixed), expected)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"n": pd.array([2**60 + 1, None], dtype="Int64")}),
        pd.DataFrame({"n": pd.array([2**60 + 1, None], dtype="int64[pyarrow]")}),
        pd.DataFrame({"n": [2**60 + 1, None]}, dtype=object),
        pd.DataFrame({"n": [str(2**60 + 1), None]}),
        pl.DataFrame({"n": [2**60 + 1, None]}),
        pl.DataFrame({"n": [Decimal(2**60 + 1), None]}),
        pa.table({"n": [2**60 + 1, None]}),
        np.ma.array([[2**60 + 1], [3]], mask=[[0], [1]]),
    ],
    ids=["Int64", "pyarrow", "objects", "text", "polars", "polars decimals", "arrow", "masked"],
)
def test_large_integers_beside_missing_ones_are_exact(frame):
    out = encoder(handle_missing="indicator").fit_transform(frame)
    assert out[0].tolist() == [float(2**60 + 1), *encoder().fit_transform([[2**60 + 1]])[0, 1:], 0]
    assert out[1].tolist() == [0] * 16 + [1]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, Decimal("NaN"), np.float32("nan")], ids=repr)
def test_what_is_missing(missing):
    X = np.array([[5], [missing]], dtype=object)
    with pytest.raises(
        EncodingError, match=r"column 'x0': it contains NaN at position \[1\]; handle_missing='propagate'"
    ):
        encoder().fit(X)
    plain = encoder().fit_transform([[5]])[0]
    out = encoder(handle_missing="propagate").fit_transform(X)
    assert np.array_equal(out[0], plain)
    assert np.isnan(out[1]).all()
    assert encoder(handle_missing="zero").fit_transform(X).tolist() == [plain.tolist(), [0] * 16]
    assert encoder(handle_missing="indicator").fit_transform(X).tolist() == [[*plain, 0], [0] * 16 + [1]]


def test_dtype_and_sparse_output():
    X = np.array([[5, -3], [0, 123456], [2**40, 7]])
    dense = encoder(features="one-hot-digits").fit_transform(X)
    assert dense.dtype == np.float64
    for dtype in (np.float32, np.float64):
        out = encoder(**SPARSE, dtype=dtype).fit_transform(X)
        assert isinstance(out, sparse.csr_array)
        assert out.dtype == dtype
        assert np.array_equal(out.toarray(), dense.astype(dtype))
        assert out.nnz == 6 * (1 + 15) - 1  # the logarithm of 0 is 0
    gaps = np.array([[5.0, np.nan], [np.nan, 2.0]])
    for policy in ("zero", "indicator"):
        options = {"features": "one-hot-digits", "handle_missing": policy}
        thin = encoder(**options, sparse_output=True).fit_transform(gaps)
        assert np.array_equal(thin.toarray(), encoder(**options).fit_transform(gaps))


# Back to numbers

INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)


@pytest.mark.parametrize("kind", INVERTIBLE)
@pytest.mark.parametrize("precision", [1, 4, 16])
@given(st.lists(st.tuples(INTEGERS, st.integers(-9, 9)), min_size=1, max_size=6))
@settings(deadline=None, max_examples=20)
def test_integers_come_back(kind, precision, rows):
    X = np.array(rows)
    model = encoder(features=kind, precision=precision)
    try:
        back = model.inverse_transform(model.fit_transform(X))
    except DecodingError:  # logarithms hold fewer digits than the numbers, and so do the digits: never a wrong number
        assert precision < 16
        assert kind != "digits"
        assert np.abs(X).max() > 2**40
        return
    assert back.dtype == X.dtype
    assert np.array_equal(back, X)


@pytest.mark.long
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6), st.sampled_from([1, 8]))
@settings(deadline=None, max_examples=100)
def test_floats_come_back(values, precision):
    X = np.array(values)[:, None]
    for policy in ("shortest", "exact"):
        model = encoder(precision=precision, floats=policy, lossy="ignore")
        assert np.array_equal(model.inverse_transform(model.fit_transform(X)), X)


@given(st.lists(st.fractions(-1000, 1000, max_denominator=10**4), min_size=1, max_size=5), st.sampled_from(INVERTIBLE))
@settings(deadline=None, max_examples=60)
def test_fractions_come_back_or_nothing_does(values, kind):
    X = np.empty((len(values), 1), dtype=object)
    X[:, 0] = values
    model = large(features=kind, fractional_digits=2)
    truncated = any(Fraction(v).denominator % p**3 == 0 for v in values for p in DEFAULT_PRIMES)
    try:
        back = model.inverse_transform(model.fit_transform(X))
    except DecodingError:
        assert truncated
    else:
        assert back[:, 0].tolist() == values


@pytest.mark.parametrize("kind", INVERTIBLE)
@pytest.mark.parametrize("policy", ["shortest", "exact"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decimals_come_back_although_the_digits_at_2_and_5_are_truncated(kind, policy, dtype):
    X = np.random.default_rng(0).normal(size=(50, 2)).round(6) * 100 + 7
    model = large(features=kind, floats=policy, lossy="ignore", dtype=dtype).fit(X)
    assert np.array_equal(model.inverse_transform(model.transform(X)), X)


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([[1], [3], [5]], [[1], [3], [5]]),  # 3 has the features of the mean
        ([[5], [5]], [[5], [5]]),
        ([[1], [3], [5], [None]], [[1], [3], [5], [3]]),
        ([[2], [None], [4], [4]], [[2], [np.nan], [4], [4]]),  # no number has the mean's
    ],
)
def test_numbers_with_the_features_of_the_mean_are_not_missing(X, expected):
    model = encoder(primes=(2,), precision=1, features="standardized", handle_missing="zero")
    back = model.inverse_transform(model.fit_transform(X))
    assert np.array_equal(back.astype(float), np.array(expected, dtype=float), equal_nan=True)


def test_digits_by_prime_survive_copies():
    """A file brings a copy of the default primes, which still give way to those that the precision names."""
    model = AdelicEncoder(precision={2: 6, 97: 1}, features="characters", dtype="float32")
    for other in (model, clone(model), pickle.loads(pickle.dumps(model))):
        assert other.get_params() == model.get_params()
        assert other.fit_transform([[3]]).dtype == np.float32
        assert other.space_.primes == (2, 97)
    with pytest.raises(NotFittedError):
        clone(model).inverse_transform([[1]])
    with pytest.raises(AdelicError, match="does not name the prime 3"):
        AdelicEncoder((2, 3), precision={2: 6, 97: 1}).fit([[3]])


GAPS = np.array([[1.0], [np.nan]])


@pytest.mark.parametrize(
    ("X", "options", "expected", "dtype"),
    [
        (np.array([[3]], dtype=np.uint8), {}, [[3]], np.uint8),
        (np.array([[2.5]], dtype=np.float32), {}, [[2.5]], np.float32),
        (pd.DataFrame({"a": [1, 2], "b": [0.5, 7.0]}), {}, [[1, 0.5], [2, 7]], np.float64),
        (pd.DataFrame({"a": [2**62 + 1], "b": [0.5]}), {}, [[2**62 + 1, 0.5]], object),
        ([[10**30]], {"primes": DEFAULT_PRIMES}, [[10**30]], object),
        ([[-9, 10**6]], SPARSE, [[-9, 10**6]], np.int64),
        (GAPS, {"handle_missing": "propagate"}, GAPS, np.float64),
        (GAPS, {"handle_missing": "indicator"}, GAPS, np.float64),
        (GAPS, {"handle_missing": "zero", "features": "characters"}, GAPS, np.float64),
        (GAPS, {"handle_missing": "zero"}, [[1], [0]], np.float64),
    ],
)
def test_types_of_what_comes_back(X, options, expected, dtype):
    model = encoder(precision=16, **options).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert back.dtype == dtype
    for found, number in zip(back.flat, np.array(expected, dtype=dtype).flat, strict=True):
        assert found == number or (np.isnan(found) and np.isnan(number))
        assert type(found) is type(number)


def test_a_gap_in_later_rows_of_integers_comes_back():
    integers = encoder(handle_missing="propagate").fit([[1]])
    back = integers.inverse_transform(integers.transform([[3], [None]]))
    assert np.array_equal(back, [[3], [np.nan]], equal_nan=True)


def test_a_contradiction_is_no_number():
    model = encoder().fit([[1]])
    features = model.transform([[12], [45]])
    features[1, 1] = 0  # 45 is odd
    with pytest.raises(DecodingError, match=r"column 'x0': at position \[1\]: no number"):
        model.inverse_transform(features)
    features[1, 1] = 0.5
    with pytest.raises(DecodingError, match=r"position \[1\] are near those of no digit at the prime 2"):
        model.inverse_transform(features)
    features[1, 1] = 1.1  # noise is forgiven
    assert model.inverse_transform(features).tolist() == [[12], [45]]
    features[1, 1] = np.nan
    with pytest.raises(DecodingError, match="some features of a number are NaN"):
        model.inverse_transform(features)
    with pytest.raises(DecodingError, match="X has 3 features; 16 can be turned back, x0_real … x0_p7_d4"):
        model.inverse_transform([[1, 2, 3]])
    far = encoder(features="characters").fit([[1]])
    features = far.transform([[5]])
    features[0, 0] = 1000  # the real value would be about e^1000
    with pytest.raises(DecodingError, match="no number"):
        far.inverse_transform(features)
    weak = encoder(primes=(7,), precision=1).fit([["1/3"]])
    with pytest.raises(DecodingError, match="no number, or more than one"):
        weak.inverse_transform(weak.transform([["22/9"]]))


# In scikit-learn


def test_set_output():
    X = pd.DataFrame({"n": [9, 16]}, index=[5, 7])
    model = encoder(primes=(2, 7), precision=1)
    names = ["n_real", "n_p2_d0", "n_p7_d0"]
    out = model.set_output(transform="pandas").fit_transform(X)
    assert isinstance(out, pd.DataFrame)
    assert out.columns.tolist() == names
    assert out.index.tolist() == [5, 7]
    out = model.set_output(transform="polars").fit_transform(pl.DataFrame({"n": [9, 16]}))
    assert isinstance(out, pl.DataFrame)
    assert out.columns == names
    assert out.rows() == [(9, 1, 2), (16, 0, 2)]
    thin = encoder(**SPARSE).set_output(transform="pandas")
    with pytest.raises(ValueError, match="sparse"):
        thin.fit_transform(X)
    assert encoder().fit(X).inverse_transform(encoder().set_output(transform="pandas").fit_transform(X)).shape == (2, 1)


def test_pipelines_searches_and_copies():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"n": rng.integers(0, 10_000, 400), "noise": rng.normal(size=400)})
    y = (X["n"] % 7 == 3).to_numpy()
    columns = make_column_transformer((encoder(), ["n"]), (StandardScaler(), ["noise"]))
    pipeline = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=20))
    grid = {
        "columntransformer__adelicencoder__primes": [(2,), (7,)],
        "columntransformer__adelicencoder__precision": [1, 2],
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_["columntransformer__adelicencoder__primes"] == (7,)
    assert search.best_score_ == 1
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(copy.predict(X), y)
    assert "adelicencoder__n_p7_d0" in copy[0].get_feature_names_out()
    thin = make_pipeline(encoder(**SPARSE), LogisticRegression())
    assert thin.fit(X[["n"]], y).score(X[["n"]], y) == 1


def test_propagated_gaps_are_read_by_boosted_trees():
    n = np.arange(500.0)
    n[::10] = np.nan
    y = np.where(np.isnan(n), 2, n % 2)
    model = make_pipeline(encoder(primes=(2,), handle_missing="propagate"), HistGradientBoostingClassifier(max_iter=20))
    assert model.fit(n[:, None], y).score(n[:, None], y) == 1


# Errors


@pytest.mark.parametrize(
    ("options", "X", "kind", "message"),
    [
        ({"floats": "error"}, [[0.5], [3.0]], EncodingError, r"column 'x0': at position \[0\]: 0\.5 is a float"),
        ({"floats": "error"}, [[2.0**53]], EncodingError, r"9007199254740992\.0 is a float"),
        ({"floats": "nearest"}, [[1.0]], EncodingError, "floats='nearest' is not a policy"),
        (
            {"denominators": "error"},
            [[10**30], [19.99]],
            PrecisionError,
            r"'x0': 1999/100 at position \[1\] has",
        ),
        ({}, np.array([[1], [{2}]], dtype=object), TypeError, r"'x0': argument must be a string or a number, not set"),
        ({}, pd.DataFrame([[1, 2]], columns=["a", "a"]), EncodingError, "two columns 'a'; rename one of them$"),
        ({"primes": (2, 9)}, [[1]], AdelicError, "9 is not a prime"),
        ({"precision": 0}, [[1]], AdelicError, "precision=0 leaves no digit"),
        ({"features": "charcters"}, [[1]], UnknownNameError, "did you mean 'characters'"),
        ({"handle_missing": "drop"}, [[1]], ConfigurationError, "use one of error, propagate, zero, indicator"),
        ({"denominators": "drop"}, [[1]], ConfigurationError, "denominators='drop' is unknown"),
        ({"dtype": np.int64}, [[1]], ConfigurationError, "use numpy.float64 or numpy.float32"),
        ({"sparse_output": True}, [[1]], ConfigurationError, "sparse_output=True is for 'one-hot-digits'"),
        (SPARSE | {"handle_missing": "propagate"}, [[1]], ConfigurationError, "fills rows with NaN"),
        ({"primes": (16777259,), "precision": 2, "dtype": np.float32}, [[1]], EncodingError, "float32 does not hold"),
        ({}, [["seven"]], EncodingError, r"column 'x0': at position \[0\]: 'seven' is not a number"),
        ({}, [[1, 2], [3, "1/0"]], AdelicError, r"column 'x1': at position \[1\]: 1/0 has denominator zero"),
        ({}, pd.DataFrame({"t": pd.to_datetime(["2020-01-01 12:00"])}), EncodingError, "column 't'.*has a time of day"),
        ({}, pd.DataFrame({"t": pd.to_timedelta([3], unit="D")}), EncodingError, "column 't'.*timedelta64"),
        ({}, pd.DataFrame({"t": []}), EncodingError, r"shape \(0, 1\) has no numbers"),
        ({}, [[math.inf]], EncodingError, "inf is not a rational number"),
        ({}, [[1.5], [-math.inf]], EncodingError, r"at position \[1\]: -inf is not a rational number"),
        ({"dtype": np.float32}, [[10**39]], RangeError, "beyond float32; use dtype=numpy.float64"),
        *(
            (options, [[10**400]], RangeError, "beyond float64.*; scale the numbers")
            for options in ({}, {"dtype": np.float32}, {"features": "characters"})
        ),
        ({"features": "standardized"}, [[10**308], [17 * 10**307]], RangeError, "column 'x0': the variance is beyond"),
        ({"dtype": "number"}, [[1]], ConfigurationError, "dtype='number' is unknown"),
        ({}, np.ma.array([[1], [2]], mask=[[0], [1]]), EncodingError, r"contains NaN at position \[1\]"),
    ],
)
def test_errors_are_one_line(options, X, kind, message):
    with pytest.raises(kind, match=message) as caught:
        encoder(**options).fit(X)
    assert isinstance(caught.value, AdelicError)
