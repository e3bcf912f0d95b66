"""Columns are read exactly, whatever holds them, and what is chosen for them holds them."""

import datetime
import functools
import math
from decimal import Decimal
from fractions import Fraction

import flint
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sympy
import torch

from adelic.errors import AdelicError, EncodingError
from adelic.numbers import rationals
from adelic.numbers.columns.choice import choose_for_column
from adelic.numbers.columns.reading import matrix_of, read_values
from adelic.numbers.features import FEATURE_KINDS
from adelic.numbers.space import AdeleSpace

DAYS = [datetime.date(2024, 1, 1), datetime.date(1969, 12, 31)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, None, 2**70], [1, None, 2**70]),
        (pd.Series([1.0, np.nan, 3.0]), [1, None, 3]),
        (pd.Series([1, None, 2**62 + 1], dtype="Int64"), [1, None, 2**62 + 1]),
        (pl.Series([1, None, 2**62 + 1]), [1, None, 2**62 + 1]),
        (pl.Series(["1/3", "0.5"]), [Fraction(1, 3), Fraction(1, 2)]),
        ([0.1, 3, Decimal("19.99")], [Fraction(1, 10), 3, Fraction(1999, 100)]),
        (np.array([7, -1]), [7, -1]),
        (pd.Series(pd.to_datetime(["1970-01-08", None])), [7, None]),
        (pd.Series(DAYS), [19723, -1]),
        (pl.Series([*DAYS, None]), [19723, -1, None]),
        ([*DAYS, pd.NaT], [19723, -1, None]),
        (pd.Series(pd.to_datetime(["1970-01-08", None])).dt.tz_localize("Europe/Berlin"), [7, None]),
        (pd.Series(pd.to_datetime(["1970-01-08"])).dt.tz_localize("America/New_York"), [7]),
        (pl.Series([datetime.datetime(1970, 1, 8)]).dt.replace_time_zone("Asia/Tokyo"), [7]),
        (np.array(["1970-02-01", "NaT"], dtype="datetime64[D]"), [31, None]),
        ([True, False], [1, 0]),
        ([np.datetime64("1970-01-08", "D"), np.datetime64("NaT")], [7, None]),
        (["1970-01-08", None, " 1969-12-31 "], [7, None, -1]),
        (np.array(["1970-01-08", "1970-02-01"]), [7, 31]),
        (pl.Series(["1970-01-08", None]), [7, None]),
        ([Decimal("sNaN"), 1], [None, 1]),
        (np.array([2**62, 2**63, 2**64], dtype=np.longdouble), [2**62, 2**63, 2**64]),
        ([[1, 2, None], [3, 4, 5]], [[1, 2, None], [3, 4, 5]]),
        (np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]]), [[1, None], [3, 4]]),
        (pd.DataFrame({"a": [1, 2], "b": ["1/3", None]}), [[1, Fraction(1, 3)], [2, None]]),
        (torch.tensor([[0.5, 2.0]]), [[Fraction(1, 2), 2]]),
    ],
    ids=lambda value: None if isinstance(value, list) else type(value).__module__.split(".")[0],
)
def test_columns_are_read_exactly(values, expected):
    numbers, is_missing = read_values(values)
    found = np.array([numbers.fraction(i) for i in range(is_missing.size)], object).reshape(numbers.shape)
    found[is_missing] = None
    assert found.tolist() == expected


@pytest.mark.parametrize("floats", ["never", "shortest"])
@pytest.mark.parametrize(
    "values",
    [
        (1, 2), ([1, 2], [5, 5]), ([[1], [2]], 5), [(1, 2)], [[(1, 2), 3], ["1/2", (4, 6)]], [(1, 2), (3, 4)],
        ((1, 2), 3, "1/7"), [sympy.Rational(1, 2), sympy.Integer(3), flint.fmpq(1, 2), flint.fmpz(2**70)],
        flint.fmpq(1, 2), [np.int64(2**62 + 1), 2**70, np.uint64(2**64 - 1)], [2**63, -1],
        [np.arange(3), [1, "2", Decimal("0.5")]], range(3), "1/3",
    ],
    ids=str,
)  # fmt: skip
def test_values_mean_what_they_mean_to_encode(values, floats):
    numbers, is_missing = read_values(values, floats=floats)
    expected = rationals.read(values)
    assert numbers.shape == expected.shape == is_missing.shape
    assert not is_missing.any()
    found = [[part.fraction(i) for i in range(len(part.numerators))] for part in (numbers, expected)]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "values",
    [[np.float32(0.1), 0.5], [[np.float32(0.1)], [np.float16(0.5)]], [np.float32([0.1]), [0.5]], [np.float32(0.1), 2]],
)
def test_floats_of_several_types_are_read_each_as_its_own(values):
    numbers, _ = read_values(values)
    assert [numbers.fraction(i) for i in range(2)] in ([Fraction(1, 10), Fraction(1, 2)], [Fraction(1, 10), 2])


def test_rows_are_a_matrix_that_loses_nothing():
    assert matrix_of([[np.float32(0.1), 1.0]]).dtype == matrix_of([[2**62 + 1, 0.5]]).dtype == object
    assert matrix_of([(1, 2), (3, 4)]).tolist() == [[1, 2], [3, 4]]  # a row of two is no pair
    assert matrix_of([[0.5, 1]]).dtype == np.float64
    assert matrix_of(np.ma.array([[1, 2]], mask=[[False, True]])).tolist() == [[1, None]]


@pytest.mark.parametrize("values", [True, [True], [True, 1], [[2, False]], np.array([True]), [None, np.True_]])
def test_truth_values_are_no_numbers_without_a_policy(values):
    with pytest.raises(EncodingError, match=r"True|False"):
        read_values(values, floats="never")
    assert read_values(values)[0].numerators.sum() in (1, 2)


def test_what_the_user_gave_is_said_to_be_given(capsys):
    from adelic import AdeleSpace
    from adelic.nn import AdelicEmbedding

    embedding = AdelicEmbedding.for_column([1, 200], 16, space=AdeleSpace((2, 3), 5), scale=(0, 2), missing=True)
    assert embedding.space == AdeleSpace((2, 3), 5)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "space: primes 2, 3 with up to 5 digits (as given)",
        "form: combined",
        "scale: mean 0, deviation 2 (as given)",
        "missing: a trained vector (as given)",
    ]
    AdelicEmbedding.for_column([1, 200], 16, coordinates="real")
    assert "space: the real value alone (as given)" in capsys.readouterr().out.splitlines()
    AdelicEmbedding.for_column([1, 200], 16, features="characters", projection="linear")
    said = capsys.readouterr().out.splitlines()
    assert said[2:] == ["form: characters (as given)", "missing: none, and one would be an error"]
    AdelicEmbedding.for_column([1, 200], 16)
    assert "as given" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[1, 2], [3]], None),
        (["one"], None),
        ([{}], None),
        ([np.inf], None),
        (pd.Series(pd.to_datetime(["2024-01-01 12:00"])), None),
        ([None], None),
        ([], None),
        (["2024-02-29", "2023-02-29"], r"2023-02-29. at position \[1\] is not a date: day is out of range"),
        (functools.reduce(lambda deep, _: [deep], range(5000), 1), "a list nested 60 deep"),
    ],
    ids=range(9),
)
def test_what_is_no_column_is_one_line(values, words):
    with pytest.raises(AdelicError, match=words) as caught:
        choose_for_column(values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([3, 10**12, -7], "integers"),
        ([0], "integers"),
        ([19.99, 5, None], "decimals"),
        (["1/3", "22/7"], "fractions"),
        (DAYS, "dates"),
        ([None, "2024-01-01"], "dates"),
        (pd.Series(["2024-01-01", "1969-12-31"]), "dates"),
        (pd.Series(pd.to_datetime(["2024-01-01"])), "dates"),
        (np.random.default_rng(0).normal(size=20), "measurements"),
        (["1/1048576", 1], "measurements"),
    ],
)
def test_the_space_holds_the_column(values, kind):
    choice = choose_for_column(values)
    assert choice.kind == kind
    if kind != "measurements":
        numbers, is_missing = read_values(values)
        kept = ~is_missing.reshape(-1)
        encoded = choice.space.encode((numbers.numerators[kept], numbers.denominators[kept]))
        assert encoded.shape == (int(kept.sum()),)
    assert choice.coordinates == ("real" if kind == "measurements" else "all")
    assert choice.scale[1] > 0
    assert kind in str(choice)
    assert "form: combined\nscale: mean" in str(choice)
    assert "scale" not in choice.text(form="digits", missing="")  # which no other form reads
    assert all(len(line) <= 120 for line in str(choice).splitlines())


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (DAYS, ""),
        ([None, "2024-01-01", 19_000], " (rows with one: 1)"),
        ([7, 2024, "2024-01-01"], " (rows with one: 2)"),
    ],
)
def test_whole_numbers_in_place_of_dates_are_said_to_be_days(values, found):
    choice = choose_for_column(values)
    assert choice.kind == "dates"
    assert str(choice).splitlines()[1] == f"whole numbers instead of dates: read as days since 1970-01-01{found}"
    assert "instead of dates" not in str(choose_for_column([7, 2024]))


def test_numbers_beyond_a_float_have_p_adic_coordinates_alone(capsys):
    from adelic.nn import AdelicEmbedding

    column = [10**400, -(10**500), 3]
    with pytest.raises(
        EncodingError, match=r"beyond float64; scale .* leave the real value out \(coordinates='p-adic'"
    ):
        AdelicEmbedding.for_column(column, 16)
    embedding = AdelicEmbedding.for_column(column, 16, coordinates="p-adic", features="digits", projection="linear")
    assert (
        "integers from below -1e308 to above 1e308\nspace: primes 2, 3, 5, 7, 11, 13, 17 with"
        in capsys.readouterr().out
    )
    small = AdelicEmbedding.for_column([1, 2], 16, coordinates="p-adic", show=False)
    period = math.prod(small.space.primes) ** small.space.max_precision
    np.testing.assert_array_equal(*(small([[x]]).detach().numpy() for x in (5, 5 + period * 10**400)))
    assert embedding([column]).isfinite().all()


@pytest.mark.parametrize("features", FEATURE_KINDS)
def test_a_vocabulary_beyond_a_float(features):
    """Features at primes are those of the same numbers modulo the product of the powers of primes."""
    from adelic.nn import AdelicEmbedding

    space = AdeleSpace((2, 3, 5), 3)
    period = 30**3
    kept = {"space": space, "features": features, "coordinates": "p-adic", "d_model": 120}
    great = AdelicEmbedding([7 + period * 10**400, 8], **kept).table
    np.testing.assert_array_equal(great, AdelicEmbedding([7, 8], **kept).table)
