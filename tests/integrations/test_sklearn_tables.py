"""What tables bring, read quickly and exactly: floats, truth values, and sparse matrices for every estimator."""

import cProfile
import pstats
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from adelic.errors import EncodingError, LeadingZerosWarning, LossyFloatWarning
from adelic.integrations.sklearn import AdelicEncoder


@pytest.mark.parametrize("options", [{}, {"floats": "exact"}, {"features": "one-hot-digits", "sparse_output": True}])
def test_floats_of_full_precision_take_few_steps(options):
    """Steps of Python's interpreter, which are what such columns cost: 55 a number in the plain way."""
    X = np.random.default_rng(0).standard_normal((4000, 1))
    encoder = AdelicEncoder(lossy="ignore", **options).fit(X)
    profile = cProfile.Profile()
    profile.enable()
    encoder.transform(X)
    profile.disable()
    assert pstats.Stats(profile).total_calls < 15 * len(X)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4))
def test_real_values_are_the_floats(values):
    X = np.array(values)[:, None]
    real = AdelicEncoder(primes=(3,), lossy="ignore", dtype=np.float64).fit_transform(X)[:, 0]
    assert real.tolist() == X[:, 0].tolist()
    assert not np.signbit(real[real == 0]).any()


@pytest.mark.parametrize("options", [{}, {"handle_missing": "indicator"}])
def test_sparse_matrices_have_32_bit_indices_as_those_of_one_hot_encoder(options):
    X, y = np.arange(60).reshape(-1, 2) - 20, np.arange(30) % 2
    found = AdelicEncoder(features="one-hot-digits", sparse_output=True, **options).fit_transform(X)
    theirs = OneHotEncoder().fit_transform(X)
    assert (found.indices.dtype, found.indptr.dtype) == (theirs.indices.dtype, theirs.indptr.dtype)
    assert found.indices.dtype == np.int32
    for model in (AdaBoostClassifier(), BaggingClassifier(), LogisticRegression(solver="liblinear")):
        model.fit(found, y)


TRUTHS = {
    "array": np.array([[True], [False], [True]]),
    "list": [[True], [False], [True]],
    "pandas": pd.DataFrame({"a": [True, False, True]}),
    "pandas, nullable": pd.DataFrame({"a": pd.array([True, False, True], dtype="boolean")}),
    "polars": pl.DataFrame({"a": [True, False, True]}),
}


@pytest.mark.parametrize("kind", TRUTHS)
@pytest.mark.parametrize("features", ["digits", "characters", "one-hot-digits"])
def test_truth_values_are_1_and_0(kind, features):
    encoder = AdelicEncoder(primes=(2, 3), precision=2, features=features)
    found = encoder.fit_transform(TRUTHS[kind])
    assert np.array_equal(found, encoder.fit_transform([[1], [0], [1]]))
    encoder.fit(TRUTHS[kind])
    back = encoder.inverse_transform(found)
    assert back.dtype == np.bool_
    assert back[:, 0].tolist() == [True, False, True]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")}),
        pl.DataFrame({"a": [True, None, False]}),
        np.array([[True], [None], [np.False_]], dtype=object),
    ],
)
def test_truth_values_beside_a_missing_one(table):
    encoder = AdelicEncoder(primes=(2, 3), precision=2, handle_missing="indicator")
    back = encoder.inverse_transform(encoder.fit_transform(table))[:, 0].tolist()
    assert (back[0], back[2]) == (1, 0)
    assert np.isnan(back[1])


def test_truth_values_that_have_become_others():
    encoder = AdelicEncoder(primes=(2, 3), precision=2).fit(np.array([[True]]))
    back = encoder.inverse_transform(encoder.transform([[2], [1]]))
    assert back.dtype == np.int64
    assert back.tolist() == [[2], [1]]


def test_lossy_columns_are_told_once_by_name():
    frame = pd.DataFrame({"id": [1, None, 12345678901234567], "zip": ["00501", "7", "10"], "price": [19.99, 5, 0.1]})
    encoder = AdelicEncoder(primes=(2, 3), precision=1, handle_missing="zero", dtype=np.float64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder.fit_transform(frame)
    assert [warning.category for warning in caught] == [LossyFloatWarning, LeadingZerosWarning]
    assert "column 'id', at position [2]: 12345678901234568 is at or beyond 2^53" in str(caught[0].message)
    assert "column 'zip', at position [0]: the text '00501'" in str(caught[1].message)
    with pytest.warns(LossyFloatWarning, match="column 'price', at position .* 0.30000000000000004 has"):
        encoder.transform(frame[["id", "zip", "price"]].head(1).assign(id=3, zip="8", price=0.1 + 0.2))
    with pytest.raises(EncodingError, match="column 'id'"):
        encoder.set_params(lossy="error").fit(frame)
    encoder.set_params(lossy="ignore").fit_transform(frame)
    integers = frame.assign(id=pd.array([1, None, 12345678901234567], dtype="Int64"), zip=0)
    assert encoder.set_params(lossy="error").fit_transform(integers)[2, 0] == 12345678901234567
    assert AdelicEncoder(lossy="error").fit_transform(frame[["price"]].astype("float32")).shape[0] == 3
