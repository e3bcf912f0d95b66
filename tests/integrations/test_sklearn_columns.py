"""Digits in bases, moduli, parts of dates, columns that pass through, features="auto", and tables of skrub."""

import datetime
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from skrub import TableVectorizer, tabular_pipeline

from adelic.errors import AdelicError, ConfigurationError, DecodingError, EncodingError, LossyFloatWarning, RangeError
from adelic.integrations.sklearn import AdelicEncoder
from adelic.numbers.features import WITHOUT_COMBINED
from adelic.probing import ProbeWarning


@given(st.lists(st.integers(-(10**20), 10**20), min_size=1, max_size=5), st.integers(2, 20), st.integers(2, 10**6))
@settings(deadline=None, max_examples=40)
def test_digits_in_a_base_and_residues_by_the_definition(numbers, base, modulus):
    X = np.array(numbers, dtype=object)[:, None]
    encoder = AdelicEncoder((), bases=(base,), moduli=(modulus,), dtype=np.float64)
    for n, (real, *digits, residue) in zip(numbers, encoder.fit_transform(X).tolist(), strict=True):
        assert (real, residue) == (float(n), n % modulus)
        assert sum(int(d) * base**k for k, d in enumerate(digits)) == abs(n)
        assert all(0 <= d < base for d in digits)
    longest = max(map(abs, numbers))
    assert base ** (len(digits) - 1) <= max(longest, 1) < base ** len(digits)


@given(st.lists(st.integers(-(2**40), 2**40) | st.integers(-(2**23), 2**23), min_size=1, max_size=5))
@settings(deadline=None, max_examples=30)
def test_integers_come_back_from_float32_or_nothing_does(numbers):
    X = np.array(numbers)[:, None]
    for encoder in (AdelicEncoder(), AdelicEncoder((), bases=(10,), moduli=(97,))):
        try:
            assert np.array_equal(encoder.inverse_transform(encoder.fit_transform(X)), X)
        except DecodingError:
            assert np.abs(X).max() > 2**23


def test_prices_are_read_in_cents_and_longer_numbers_lose_their_first_digits():
    encoder = AdelicEncoder((), bases=(10,), moduli=(100,), fractional_digits=2).fit([[19.99], [5]])
    assert encoder.get_feature_names_out().tolist() == [
        "x0_real", "x0_b10_d-2", "x0_b10_d-1", "x0_b10_d0", "x0_b10_d1", "x0_mod100",
    ]  # fmt: skip
    assert encoder.transform([[19.99], [-123.456]])[:, 1:].tolist() == [[9, 9, 9, 1, 99], [5, 4, 3, 2, 55]]


TIMES = ["2024-02-29 12:30:05", "1969-12-31 23:59:59", "2023-03-01 00:00:00"]
PARTS = [[3, 2, 29, 1, 12, 30, 5], [2, 12, 31, 0, 23, 59, 59], [2, 3, 1, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    "times",
    [
        pd.DataFrame({"t": pd.to_datetime(TIMES)}),
        pd.DataFrame({"t": pd.to_datetime(TIMES).tz_localize("Asia/Tokyo")}),
        pd.DataFrame({"t": TIMES}),
        pl.DataFrame({"t": [datetime.datetime.fromisoformat(one) for one in TIMES]}),
        np.array(TIMES, dtype="datetime64[ns]")[:, None],
    ],
    ids=["pandas", "time zone", "text", "polars", "NumPy"],
)
def test_parts_of_dates_and_times(times):
    encoder = AdelicEncoder((7,), precision=1, calendar=True, dtype=np.float64)
    found = encoder.fit_transform(times)
    assert found[:, 2:].tolist() == PARTS
    assert found[:, 1].tolist() == [19782 % 7, 6, 19417 % 7]  # the day, whatever the time
    assert found[0, 0] == 19782 + (12 * 3600 + 30 * 60 + 5) / 86400
    with pytest.raises(DecodingError, match="dates with a time of day do not give them back"):
        encoder.inverse_transform(found)


def test_dates_without_a_time_come_back_and_have_no_hours():
    days = pd.DataFrame({"day": pd.to_datetime(["2024-02-29", None]), "n": [5, 7]})
    encoder = AdelicEncoder((), calendar=True, handle_missing="indicator").fit(days)
    names = ["day_real", "day_weekday", "day_month", "day_day", "day_leap_year", "day_missing", "n_real", "n_missing"]
    assert encoder.get_feature_names_out().tolist() == names
    back = encoder.inverse_transform(encoder.transform(days)).astype(float)
    assert np.array_equal(back, [[19782, 5], [np.nan, 7]], equal_nan=True)
    with pytest.raises(EncodingError, match="has a time of day"):
        encoder.transform(days.assign(day=pd.to_datetime(["2024-02-29 12:00", None])))


@pytest.mark.parametrize("kind", WITHOUT_COMBINED)
def test_codes_in_every_form_come_back_and_contradictions_do_not(kind):
    X = np.arange("2020-01-15", "2020-04-15", dtype="datetime64[D]")[:, None]
    options = {"moduli": (10,), "bases": (10,), "calendar": ["month"], "features": kind}
    encoder = AdelicEncoder((2, 7), precision=3, **options).fit(X)
    found = encoder.transform(X)
    assert found.dtype == np.float32
    assert found.shape[1] == len(encoder.get_feature_names_out()) == len(set(encoder.get_feature_names_out()))
    if kind in ("valuation-unit", "multiplicative-characters"):
        return
    assert encoder.inverse_transform(found)[:, 0].tolist() == X[:, 0].astype(int).tolist()
    wrong = found[:1].copy()
    wrong[:, -1 if kind in ("digits", "standardized") else slice(-12, None)] = (
        found[-1:, -12:][:, -1:] if kind in ("digits", "standardized") else found[-1:, -12:]
    )  # the month of April
    if kind == "characters":
        wrong[:, :-2] = found[:1, :-2]
    with pytest.raises(DecodingError):
        encoder.inverse_transform(wrong)
    if kind in ("one-hot-digits", "residues"):
        thin = clone(encoder).set_params(sparse_output=True).fit_transform(X)
        assert np.array_equal(thin.toarray(), found)


@pytest.mark.parametrize("columns", [["n"], [1], "n", 1])
@pytest.mark.parametrize("library", [pd, pl])
def test_other_columns_pass_through_unchanged(library, columns):
    table = library.DataFrame({"shop": ["a", "b"], "n": [1204, 7], "when": [datetime.date(2024, 2, 29), None]})
    encoder = AdelicEncoder((7,), precision=1, columns=columns)
    found = encoder.fit_transform(table)
    assert list(found.columns) == ["n_real", "n_p7_d0", "shop", "when"] == encoder.get_feature_names_out().tolist()
    assert found["shop"].to_list() == ["a", "b"]
    assert found["when"].to_list()[0] == datetime.date(2024, 2, 29)
    assert encoder.inverse_transform(found).tolist() == [[1204], [7]]
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.transform(table).equals(found)


def test_columns_of_a_matrix_pass_through_and_wrong_names_are_errors():
    X = np.array([[1.5, 8], [2.5, 9]])
    encoder = AdelicEncoder((7,), precision=1, columns=[1])
    assert encoder.fit_transform(X).tolist() == [[8, 1, 1.5], [9, 2, 2.5]]
    assert np.array_equal(encoder.inverse_transform(encoder.transform(X)), X[:, 1:])
    with pytest.raises(ConfigurationError, match="sparse_output=True passes no columns through"):
        AdelicEncoder(columns=[1], features="one-hot-digits", sparse_output=True).fit(X)
    for wrong, message in (([2], "X has no column 2; it has x0, x1"), ([1, "x1"], "or one twice"), ([], "no column")):
        with pytest.raises(ConfigurationError, match=message):
            AdelicEncoder(columns=wrong).fit(X)


# features="auto"

RNG = np.random.default_rng(0)
N = RNG.integers(0, 10**6, 600)
NOISE = RNG.integers(0, 2, 600)


def test_auto_is_size_and_what_the_probe_finds():
    table = pd.DataFrame(
        {"a": N, "b": RNG.integers(0, 10**6, 600), "s": "x", "day": pd.date_range("2020-01-01 05:00", periods=600)}
    )
    target = N % 23 + 20.5 * (table.day.dt.day_of_week < 5)
    encoder = AdelicEncoder(features="auto", columns=["a", "b", "day"]).fit(table, target)
    assert {(one.column, one.modulus) for one in encoder.findings_} == {("a", 23), ("day", 7)}
    names = ["a_real", "a_mod23", "b_real", "day_real", "day_weekday", "s"]
    assert encoder.get_feature_names_out().tolist() == names
    found = pickle.loads(pickle.dumps(encoder)).transform(table)
    assert found["a_mod23"].tolist() == (N % 23).tolist()
    assert found["day_weekday"].tolist() == table.day.dt.day_of_week.tolist()
    whole = AdelicEncoder(features="auto", moduli=(6,)).fit(table[["a"]], N % 23 < 9)
    assert whole.inverse_transform(whole.transform(table[["a"]]))[:, 0].tolist() == N.tolist()


def test_auto_says_that_it_found_nothing_and_that_it_needs_a_target():
    with pytest.warns(ProbeWarning, match="no arithmetic of x0 tells the target; only the sizes are passed on"):
        assert AdelicEncoder(features="auto").fit(N[:, None], NOISE).transform([[5]]).tolist() == [[5]]
    with pytest.raises(ConfigurationError, match=r"features='auto' requires y to be passed, .* give fit a target"):
        AdelicEncoder(features="auto").fit(N[:, None])


BAD = {
    "constant": (np.ones(600, dtype=int), {}, ProbeWarning, "x0: it is constant"),
    "gaps": ([None] * 600, {"handle_missing": "zero"}, ProbeWarning, "x0: 0 entries are numbers"),
    "gaps refused": ([None] * 600, {}, EncodingError, r"'x0': it contains NaN at position \[0\]"),
    "letters": ([f"DE{n}" for n in N], {}, EncodingError, "'DE850624' is not a number"),
    "infinite": (np.r_[np.inf, N[1:]], {}, EncodingError, "inf is not a rational number"),
    "huge": ([10**40 + int(n) for n in N], {}, RangeError, "beyond float32; use dtype=numpy.float64"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.filterwarnings("ignore::adelic.probing.ProbeWarning")
def test_bad_columns_have_a_clear_line(name):
    column, options, kind, message = BAD[name]
    X = np.array(column, dtype=object)[:, None]
    catch = pytest.warns if issubclass(kind, Warning) else pytest.raises
    with catch(kind, match=message):
        AdelicEncoder(features="auto", **options).fit(X, NOISE)


@pytest.mark.filterwarnings("ignore::adelic.probing.ProbeWarning")
def test_huge_integers_and_targets_of_one_class():
    X = np.array([[10**40 + int(n)] for n in N], dtype=object)
    encoder = AdelicEncoder(features="auto", dtype=np.float64).fit(X, [x % 11 < 4 for x in X[:, 0]])
    assert encoder.transform(X)[:, 1].tolist() == [x % 11 for x in X[:, 0]]
    with pytest.raises(ConfigurationError, match="the target is 1 in all examples"):
        AdelicEncoder(features="auto").fit(N[:, None], np.ones(600, dtype=int))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bases": (1,)}, r"bases=\(1,\): it takes a list of whole numbers from 2 to 2"),
        ({"moduli": (2.5,)}, "it takes a list of whole numbers"),
        ({"moduli": 7}, "moduli=7: it takes a list"),
        ({"calendar": ["week day"]}, "did you mean 'weekday'"),
        ({"calendar": "month"}, "calendar= reads dates, and no column has any"),
    ],
)
def test_wrong_options_are_errors(options, message):
    with pytest.raises(AdelicError, match=message):
        AdelicEncoder(**options).fit([[5]])


def test_memory_is_little_more_than_the_result():
    X = RNG.integers(0, 10**9, (400_000, 2))
    encoder = AdelicEncoder().fit(X[:9])
    encoder.transform(X[:9])
    tracemalloc.start()
    size = encoder.transform(X).nbytes
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == 400_000 * 18 * 4
    assert peak < 2 * size


# skrub


def table(library=pd):
    """Return a table of each kind of column."""
    frame = {
        "id": N + 10**8,
        "small": N,
        "shop": ["a", "b", "c"] * 200,
        "day": list(pd.date_range("2020-01-01", periods=600)),
    }
    return library.DataFrame(frame)


@pytest.mark.parametrize("library", [pd, pl])
def test_table_vectorizer_uses_the_encoder_for_numbers_and_the_encoder_warns_of_float32(library):
    encoder = AdelicEncoder((7,), precision=1, moduli=(97,))
    with pytest.warns(LossyFloatWarning, match=r"column 'id', .* is at or beyond 2\^24, and float32 does not hold"):
        found = TableVectorizer(numeric=encoder).fit_transform(table(library))
    assert found["small_mod97"].to_list() == (N % 97).tolist()


@pytest.mark.filterwarnings("error::adelic.errors.LossyFloatWarning")
def test_columns_that_table_vectorizer_leaves_alone_are_exact():
    encoder = AdelicEncoder((), moduli=(97,))
    vectorizer = TableVectorizer(
        specific_transformers=[(encoder, ["id"])], datetime=AdelicEncoder((), calendar=["weekday"])
    )
    found = vectorizer.fit_transform(table())
    assert found["id_mod97"].tolist() == ((N + 10**8) % 97).tolist()
    assert found["day_weekday"].tolist() == table().day.dt.day_of_week.tolist()


@pytest.mark.filterwarnings("ignore::adelic.errors.LossyFloatWarning", "ignore::adelic.probing.ProbeWarning")
def test_auto_in_a_tabular_pipeline():
    model = tabular_pipeline(HistGradientBoostingClassifier(max_iter=15))
    model.set_params(tablevectorizer__numeric=AdelicEncoder(features="auto"))
    X, y = table(), N % 23 == 5
    assert model.fit(X[:400], y[:400]).score(X[400:], y[400:]) == 1
    assert "small_mod23" in model[0].get_feature_names_out()
