"""Everything that users call numbers is read exactly, or refused with the value and its position."""

from decimal import Decimal
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import ConfigurationError, DecodingError, DivisionByZeroError, EncodingError
from adelic.numbers import rationals
from adelic.numbers.columns.reading import read_column
from adelic.numbers.describe import number_text
from adelic.numbers.rationals import objects, residues

torch = pytest.importorskip("torch")
fmpz = pytest.importorskip("flint").fmpz

INTEGER_DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
HALF = Fraction(1, 2)
NO_NUMBERS = [
    *("", " ", "abc", "1/2/3", "1//2", "/2", "1/", "1.2.3", "1e", "e5", "--1", "+-1", "1/-2", "0x10", "1,5", "."),
    *("nan", "NaN", "inf", "-inf", "infinity", "1.5/2", "1e2/3", "1__0", "_1", "1_", "½", "²", "7/5 ;", "1 2", "1\n2"),
]
NOT_FINITE = [
    *(float("nan"), float("inf"), -float("inf"), np.float32("nan"), np.longdouble("inf")),
    *(Decimal("Infinity"), Decimal("NaN"), Decimal("sNaN")),
]
OTHER_TYPES = [
    *(None, 1j, np.complex64(1), b"12", {1, 2}, {"a": 1}, print, ..., slice(1), iter(()), Fraction, np.int64),
    *(np.datetime64("2020-01-01"), np.timedelta64(3)),
]
POLICIES_THAT_ARE_NONE = ["", "round", "limit", "limit:", "limit:0", "limit:-5", "limit:1.5", "EXACT", None, 3]


def read(values, **options):
    """Return what was read as nested lists of `Fraction`."""
    r = rationals.read(values, **options)
    array = np.empty(len(r.numerators), dtype=object)
    array[:] = [r.fraction(i) for i in range(len(array))]
    assert r.numerators.dtype == r.denominators.dtype
    assert all(q.denominator == m for q, m in zip(array, r.denominators.tolist(), strict=True))  # lowest terms
    return array.reshape(r.shape).tolist()


def refuses(values, error, *parts, **options):
    """Assert that reading raises this error, in one line that has these parts."""
    with pytest.raises(error) as caught:
        rationals.read(values, **options)
    message = str(caught.value)
    assert type(caught.value) is error
    assert len(message.splitlines()) == 1
    assert len(message) < 300
    for part in parts:
        assert part in message


class Quotient(Fraction):
    """A subclass of Fraction whose parts are whatever it is given."""

    numerator = denominator = None

    def __new__(cls, numerator, denominator):
        return super().__new__(cls)

    def __init__(self, numerator, denominator):
        self.numerator, self.denominator = numerator, denominator


class SlowDecimal(Decimal):
    """A Decimal that no integer is made of by what takes quadratic time."""

    def as_integer_ratio(self):
        raise AssertionError("quadratic")

    __int__ = as_integer_ratio


class TestScalars:
    @given(st.integers(), st.integers().filter(bool), st.sampled_from([int, np.int64, fmpz]))
    def test_parts_of_other_rational_numbers(self, n, m, kind):
        """They are brought to lowest terms, with a positive denominator, as numbers and as objects of a column."""
        n, m = (n % 2**63, m % 2**63 or 1) if kind is np.int64 else (n, m)
        value = Quotient(kind(n), kind(m))
        assert read(value) == Fraction(n, m)
        column = read_column(objects([value, None]), floats="error")
        assert column.numbers.fraction(0) == Fraction(n, m)

    @pytest.mark.parametrize(
        "parts", [(1.5, 1), (1, 2.0), (True, 2), (torch.tensor(True), 2), (None, 1), (np.timedelta64(3), 2)]
    )
    def test_parts_that_are_no_integers(self, parts):
        refuses(Quotient(*parts), EncodingError, "is not a pair (numerator, denominator) of integers")
        refuses([parts], EncodingError, "is not a pair (numerator, denominator) of integers")
        refuses([Quotient(3, 0)], DivisionByZeroError, "at position [0]: 3/0 has denominator zero")

    @pytest.mark.parametrize("text", ["7" * 3000, "-0." + "3" * 3000, "12" * 1000 + "e-1500", "1" + "0" * 999 + "E+9"])
    def test_long_decimals(self, text):
        assert read(SlowDecimal(text)) == Fraction(Decimal(text))

    @given(st.fractions())
    def test_fractions_and_text(self, q):
        assert read(q) == q
        assert read(str(q)) == q
        assert read((q.numerator, q.denominator)) == q
        assert read((-q.numerator, -q.denominator)) == q

    @given(st.decimals(allow_nan=False, allow_infinity=False, places=None))
    def test_decimals(self, value):
        assert read(value) == Fraction(value)
        assert read(str(value)) == Fraction(value)

    @given(st.one_of(st.integers(), st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1])))
    def test_integers(self, n):
        assert read(n) == n
        assert read(str(n)) == n
        is_small = -(2**63) <= n < 2**63
        assert rationals.read([n]).is_small == is_small

    def test_integers_of_ten_thousand_digits(self):
        n = Random(0).randrange(10**9999, 10**10000)
        text = number_text(n)
        assert len(text) == 10000
        assert read(n) == n
        assert read(text) == n
        assert read("-" + text) == -n
        assert read(f"1/{text}") == Fraction(1, n)
        assert read(text[:5000] + "." + text[5000:]) == Fraction(n, 10**5000)
        assert read(Decimal(text)) == n
        assert AdeleSpace(precision=2000).encode(text).decode() == n

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (" 7/5 ", Fraction(7, 5)),
            ("7 / 5", Fraction(7, 5)),
            ("-14/10\n", Fraction(-7, 5)),
            ("+3", 3),
            ("-0", 0),
            (".5", HALF),
            ("5.", 5),
            ("1e-3", Fraction(1, 1000)),
            ("1.5E+3", 1500),
            ("1_000_000", 10**6),
            ("1" + "_23" * 200, int("1" + "23" * 200)),
            ("1e0000000000000000000000000000002", 100),
            ("0e5", 0),
            ("007", 7),
            (np.str_("3/4"), Fraction(3, 4)),
        ],
    )
    def test_text(self, text, expected):
        assert read(text) == expected

    @pytest.mark.parametrize("text", NO_NUMBERS)
    def test_text_that_is_no_number(self, text):
        refuses(text, EncodingError, repr(text), "is not a number; write '7/5'")
        refuses([["1"], [text]], EncodingError, "at position [1, 0]", repr(text))

    def test_long_text_that_is_no_number(self):
        refuses("1" * 10000 + "x", EncodingError, "'11111111111111111111…'")

    @pytest.mark.parametrize(
        "value",
        ["1e999999999", "1e-999999999", "1e" + "0" * 25 + "999999999", "1e" + "9" * 5000, Decimal("1e999999"),
         Decimal("-1e-999999"), "0.1e100002"],
    )  # fmt: skip
    def test_exponents_that_would_fill_the_memory(self, value):
        refuses(value, EncodingError, "exponent beyond ±100000")
        refuses([0, value], EncodingError, "at position [1]")
        assert (read("1e100000"), read("-1e-100000")) == (10**100000, Fraction(-1, 10**100000))

    @pytest.mark.long
    def test_decimals_with_many_digits_are_no_exponents(self):
        assert read(Decimal("1" * 200_000)) == (10**200_000 - 1) // 9
        assert read(Decimal("0e999999")) == 0

    @pytest.mark.parametrize("value", NOT_FINITE, ids=str)
    @pytest.mark.parametrize("floats", ["error", "exact", "shortest", "limit:5"])
    def test_not_finite(self, value, floats):
        refuses(value, EncodingError, f"{value!s} is not a rational number", floats=floats)
        refuses([[1, value]], EncodingError, "at position [0, 1]", f"{value!s}", floats=floats)

    @pytest.mark.parametrize("value", OTHER_TYPES, ids=lambda value: type(value).__name__)
    def test_other_types(self, value):
        refuses(value, EncodingError)
        refuses([1, value], EncodingError, "at position [1]")

    @pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
    def test_bools(self, value):
        refuses(value, EncodingError, f"{bool(value)} is a bool")
        refuses([[0, value]], EncodingError, "at position [0, 1]", "is a bool")
        refuses((value, 2), EncodingError, "is a bool")
        refuses((2, value), EncodingError, "is a bool")
        refuses(([1, value], 2), EncodingError, "at position [1]", "is a bool")
        refuses([(1, 2), (1, value)], EncodingError, "at position [1]", "is not a pair")
        refuses(np.array([value]), EncodingError, "dtype bool", str(bool(value)), "at position [0]")
        refuses([[1], np.array([value])], EncodingError, "is a bool", "at position [1, 0]")
        refuses(np.array([1, value], dtype=object), EncodingError, "at position [1]", "is a bool")
        refuses(torch.tensor([bool(value)]), EncodingError, "dtype bool")


class TestFloats:
    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_exact_and_shortest(self, x):
        assert read(x, floats="exact") == Fraction(x)
        assert read(np.float64(x), floats="exact") == Fraction(x)
        shortest = read(x, floats="shortest")
        assert float(shortest) == x
        assert shortest == Fraction(repr(x))

    @given(st.floats(allow_nan=False, allow_infinity=False, width=32))
    def test_float32(self, x):
        assert read(np.float32(x), floats="exact") == Fraction(x)
        assert np.float32(float(read(np.float32(x), floats="shortest"))) == np.float32(x)
        assert read(np.array([x], dtype=np.float32), floats="shortest") == [read(np.float32(x), floats="shortest")]

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_a_tenth(self, dtype):
        tenth, array = Fraction(1, 10), np.array([[0.1]], dtype=dtype)
        for floats, expected in (("shortest", tenth), ("limit:10", tenth), ("exact", Fraction(float(array[0, 0])))):
            assert read(array, floats=floats) == [[expected]]
            assert read(array[0, 0], floats=floats) == expected

    def test_long_doubles_lose_nothing(self):
        third = np.longdouble(1) / 3
        assert read(third, floats="exact") == Fraction(*third.as_integer_ratio())
        assert read(np.array([third]), floats="exact") == [Fraction(*third.as_integer_ratio())]

    @given(st.floats(-100, 100), st.integers(1, 1000))
    def test_limit_is_the_nearest(self, x, largest):
        q = read(x, floats=f"limit:{largest}")
        assert q == Fraction(x).limit_denominator(largest)
        assert q.denominator <= largest

    def test_the_default_refuses(self):
        for value in (0.5, 1.0, np.float32(0.5), np.array(0.5), torch.tensor(0.5), torch.tensor(0.5).bfloat16()):
            refuses(value, EncodingError, "is a float", "floats='exact'")
        refuses([[1], [0.5]], EncodingError, "at position [1, 0]", "0.5 is a float")
        refuses(np.array([[1.0]]), EncodingError, "at position [0, 0]")
        refuses((0.5, 2), EncodingError, "0.5 is a float")

    def test_policies_do_not_touch_other_numbers(self):
        for floats in ("error", "exact", "shortest", "limit:2"):
            assert read(["1/3", Fraction(1, 3), Decimal("0.1"), 7], floats=floats)[:2] == [Fraction(1, 3)] * 2

    @pytest.mark.parametrize("floats", POLICIES_THAT_ARE_NONE)
    def test_unknown_policies(self, floats):
        refuses([1], EncodingError, f"floats={floats!r} is not a policy", floats=floats)

    def test_limits_of_any_size(self):
        assert read(0.5, floats="limit:" + "9" * 5000) == HALF


class TestArrays:
    @pytest.mark.parametrize("dtype", INTEGER_DTYPES)
    def test_integer_dtypes(self, dtype):
        info = np.iinfo(dtype)
        values = [info.min, 0, 1, info.max]
        assert read(np.array(values, dtype=dtype)) == values
        assert read(np.array([values, values], dtype=dtype)) == [values, values]
        assert read([np.array(values, dtype=dtype)]) == [values]
        assert read(np.array(info.max, dtype=dtype)) == info.max
        assert read(np.array(values, dtype=dtype)[-1]) == info.max
        assert read(np.array(values, dtype=dtype).astype(np.dtype(dtype).newbyteorder())) == values

    def test_layouts(self):
        a = np.arange(24).reshape(2, 3, 4)
        for view in (a.T, a[:, ::2], a[..., ::-1], np.asfortranarray(a), np.broadcast_to(a[0], (5, 3, 4))):
            assert read(view) == view.tolist()

    def test_object_and_text_arrays(self):
        values = [[1, "7/5"], [Fraction(1, 3), 10**30]]
        expected = [[1, Fraction(7, 5)], [Fraction(1, 3), 10**30]]
        assert read(np.array(values, dtype=object)) == expected
        assert read(np.array([["1/2", "3"]])) == [[HALF, 3]]
        assert read(np.array(["1/2", "3"], dtype=np.dtypes.StringDType())) == [HALF, 3]
        assert read(np.array(10**30, dtype=object)) == 10**30
        pairs = np.empty(2, dtype=object)
        pairs[:] = [(1, 2), (3, 4)]
        assert read(pairs) == [HALF, Fraction(3, 4)]
        refuses(np.array([["1", "x"]]), EncodingError, "at position [0, 1]", "'x'")
        refuses(np.array([1, None], dtype=object), EncodingError, "at position [1]", "None")

    @pytest.mark.parametrize("dtype", ["complex64", "datetime64[s]", "timedelta64[s]", "S3", "V3", "bool"])
    def test_other_dtypes(self, dtype):
        refuses(np.zeros(2, dtype=dtype), EncodingError, "holds no numbers", "at position [0]")
        refuses([[1, 2], np.zeros(2, dtype=dtype)], EncodingError, "not a number", "at position [1, 0]")

    def test_masked_arrays(self):
        assert read(np.ma.array([1, 2])) == [1, 2]
        refuses(np.ma.array([1, 2], mask=[False, True]), EncodingError, "masked entry at position [1]")

    def test_tensors(self):
        assert read(torch.arange(6).reshape(2, 3)) == [[0, 1, 2], [3, 4, 5]]
        assert read(torch.tensor(2**62)) == 2**62
        assert read([torch.tensor(2), torch.tensor(3)]) == [2, 3]
        assert read(torch.nn.Parameter(torch.tensor([0.5])), floats="exact") == [HALF]
        for dtype in (torch.float64, torch.float32, torch.float16):
            assert read(torch.tensor([0.1], dtype=dtype), floats="shortest") == [Fraction(1, 10)]
        assert read(torch.tensor([0.1], dtype=torch.bfloat16), floats="exact") == [Fraction(205, 2048)]
        assert read(torch.tensor([1.5], dtype=torch.bfloat16), floats="shortest") == [Fraction(3, 2)]
        assert read(torch.tensor([0.1], dtype=torch.bfloat16), floats="limit:20") == [Fraction(1, 10)]
        assert read(torch.zeros(0, 3, dtype=torch.int64)) == []
        refuses(torch.tensor([[1.0, float("nan")]]), EncodingError, "at position [0, 1]", floats="exact")

    @pytest.mark.parametrize(
        ("values", "shape"),
        [([], (0,)), ([[], []], (2, 0)), ([[[]]], (1, 1, 0)), (np.zeros((0, 3), int), (0, 3)), (np.array([]), (0,)),
         (range(0), (0,)), ((), (0,)), (([], []), (0,)), (([], 2), (0,)), ([np.zeros((0, 2), int)] * 2, (2, 0, 2))],
    )  # fmt: skip
    def test_empty(self, values, shape):
        assert rationals.read(values).shape == shape
        assert AdeleSpace().encode(values).shape == shape


class TestPairs:
    def test_scalars_and_arrays(self):
        assert read((7, 5)) == Fraction(7, 5)
        assert read((7, -5)) == Fraction(-7, 5)
        assert read(("14", "10")) == Fraction(7, 5)
        assert read(([1, 2], [3, 4])) == [Fraction(1, 3), HALF]
        assert read(((1, 2), (3, 4))) == [Fraction(1, 3), HALF]
        assert read((np.array([[1], [2]]), [2, -4])) == [[HALF, Fraction(-1, 4)], [1, -HALF]]
        assert read((torch.arange(3), 4)) == [0, Fraction(1, 4), HALF]
        assert read((range(3), 4)) == [0, Fraction(1, 4), HALF]
        assert read((1, [2, 3])) == [HALF, Fraction(1, 3)]

    def test_lists_of_pairs(self):
        assert read([(7, 5), (-1, -2)]) == [Fraction(7, 5), HALF]
        assert read([[(7, 5)], [3]]) == [[Fraction(7, 5)], [3]]
        assert read([(1, 2), 3, "1/4"]) == [HALF, 3, Fraction(1, 4)]
        assert read([(np.int64(1), np.int8(2))]) == [HALF]

    @given(st.lists(st.tuples(st.integers(-(2**70), 2**70), st.integers(-(2**70), 2**70).filter(bool)), max_size=20))
    def test_beyond_int64(self, pairs):
        expected = [Fraction(n, m) for n, m in pairs]
        assert read(([n for n, _ in pairs], [m for _, m in pairs])) == expected
        assert read(pairs) == expected

    def test_int64_minimum(self):
        low = -(2**63)
        arrays = np.array([low, low, 1, low]), np.array([1, low, low, -1])
        assert read(arrays) == [low, 1, Fraction(1, low), -low]

    def test_zero_denominators(self):
        refuses((7, 0), DivisionByZeroError, "7/0 has denominator zero")
        refuses("7/0", DivisionByZeroError, "7/0 has denominator zero")
        refuses("-7/000", DivisionByZeroError, "-7/0")
        refuses(([[1, 2], [3, 4]], [[1, 1], [0, 1]]), DivisionByZeroError, "3/0", "at position [1, 0]")
        refuses(([5, 6], 0), DivisionByZeroError, "5/0", "at position [0]")
        refuses(([2**70, 6], [1, 0]), DivisionByZeroError, "6/0", "at position [1]")
        refuses([(1, 2), (10**5000, 0)], DivisionByZeroError, "at position [1]", "1000000…000 (5001 digits)/0")
        refuses([["1/2"], ["1/0"]], DivisionByZeroError, "at position [1, 0]", "1/0")
        with pytest.raises(ZeroDivisionError):
            AdeleSpace().encode("1/0")

    def test_parts_that_are_no_integers(self):
        refuses(("1/2", 3), EncodingError, "1/2 is not an integer; the numerators")
        refuses((3, [1, Fraction(1, 3)]), EncodingError, "1/3 at position [1] is not an integer; the denominators")
        refuses((1.0, 2), EncodingError, "1.0 is a float")
        refuses([(1, 2.5)], EncodingError, "at position [0]", "(1, 2.5) is not a pair")
        refuses([(1, "2")], EncodingError, "at position [0]", "(1, '2') is not a pair")
        refuses([(None, 2)], EncodingError, "(None, 2) is not a pair")
        refuses(([1, 2], [1, 2, 3]), EncodingError, "shape (2,)", "shape (3,)")


class TestNesting:
    def test_mixed(self):
        assert read([1, "1/2", Fraction(1, 3), Decimal("0.25"), np.int8(4), np.array(5), 10**20]) == [
            1, HALF, Fraction(1, 3), Fraction(1, 4), 4, 5, 10**20,
        ]  # fmt: skip
        assert read([[1, 2], np.array([3, 4]), range(5, 7), torch.tensor([7, 8])]) == [[1, 2], [3, 4], [5, 6], [7, 8]]
        assert read(range(5)) == [0, 1, 2, 3, 4]
        assert read((1, 2, 3)) == [1, 2, 3]
        assert read([(1, 2, 3), (4, 5, 6)]) == [[1, 2, 3], [4, 5, 6]]
        assert read(((1, 2, 3),)) == [[1, 2, 3]]
        assert read([[[[1]]]]) == [[[[1]]]]

    @pytest.mark.parametrize(
        ("values", "position", "shapes"),
        [
            ([[1, 2], [3]], [1], ("(1,)", "(2,)")),
            ([1, [2]], [1], ("(1,)", "()")),
            ([[1], 2], [1], ("()", "(1,)")),
            ([[], [1]], [1], ("(1,)", "(0,)")),
            ([[[1], [2]], [[3], [4, 5]]], [1, 1], ("(2,)", "(1,)")),
            ([np.zeros((2, 2), int), [[1, 2]]], [1], ("(1, 2)", "(2, 2)")),
            ([[1, 2], "12"], [1], ("()", "(2,)")),
        ],
    )
    def test_ragged(self, values, position, shapes):
        refuses(values, EncodingError, "ragged", f"at position {position}", *shapes)

    def test_too_deep(self):
        endless = []
        endless.append(endless)
        refuses(endless, EncodingError, "nested 60 deep")
        deep = 1
        for _ in range(59):
            deep = [deep]
        assert AdeleSpace().encode(deep).shape == (1,) * 59
        refuses([[deep]], EncodingError, "nested 60 deep")

    def test_arrays_inside_lists_name_the_whole_position(self):
        refuses([[1, 2], np.array([1.5, 2.0])], EncodingError, "at position [1, 0]", "1.5")
        refuses([[[1], [2]], [[3], np.array(["x"])]], EncodingError, "at position [1, 1, 0]", "'x'")


class TestLongFloats:
    """NumPy's longdouble, where it is longer than float64: nothing is rounded to float64 on the way."""

    pytestmark = pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="longdouble is float64 here")

    @pytest.mark.parametrize("text", ["1e400", "-1e-4000", "1e4900", "0.1"])
    def test_policies(self, text):
        value = np.longdouble(text)
        assert rationals.read(value, floats="shortest").fraction(0) == Fraction(text)
        exact = Fraction(*value.as_integer_ratio())
        assert rationals.read([value], floats="exact").fraction(0) == exact
        assert rationals.read(np.array([value]), floats="limit:100").fraction(0) == exact.limit_denominator(100)
        with pytest.raises(EncodingError, match="is a float and may not be"):
            rationals.read(value)
        a = AdeleSpace((3, 7)).encode([value], floats="shortest")
        assert a.approximation_error[0] == (np.inf if abs(exact) > 1e300 else pytest.approx(0, abs=1e-17))

    def test_real_values_and_radii(self):
        space = AdeleSpace((3, 7), 400)
        a = space.encode(10**400)
        assert space.from_digits(a.digits, np.longdouble("1e400")).decode() == 10**400
        assert space.from_digits(a.digits[None], np.array([np.longdouble("1e400")])).decode().tolist() == [10**400]
        assert space.from_digits(a.digits, 10**400, radius=np.longdouble("1e390")).decode() == 10**400
        with pytest.raises(DecodingError):
            space.from_digits(a.digits, np.longdouble("1e401")).decode()


@pytest.mark.parametrize(
    "make",
    [
        lambda torch: torch.eye(3, dtype=torch.int64).to_sparse(),
        lambda torch: torch.eye(3).to_sparse_csr(),
        lambda torch: torch.zeros(3, device="meta"),
        lambda torch: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
        lambda torch: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_tensors_without_plain_numbers(make):
    tensor = make(pytest.importorskip("torch"))
    for values in (tensor, [tensor]):
        with pytest.raises(EncodingError, match=r"is not an array of numbers .*; make it dense"):
            AdeleSpace().encode(values, floats="exact")
    with pytest.raises(EncodingError, match="is not an array of numbers"):
        AdeleSpace().from_digits(tensor, 1.0)


def test_white_space_around_numbers():
    assert rationals.read(" \t\n7 / 5\u3000").fraction(0) == Fraction(7, 5)
    assert rationals.read(" " * 10**6 + "7").fraction(0) == 7
    for text in (" " * 10**5 + "x", "1" + " " * 10**5 + "x", " " * 10**5, "1 2", "- 3"):
        with pytest.raises(EncodingError, match="is not a number"):
            rationals.read(text)


def test_callers_without_a_policy_are_told_what_they_can_pass():
    with pytest.raises(
        EncodingError, match=r"^19\.99 is a float .*; pass a Fraction, a Decimal or text such as '19.99'$"
    ):
        rationals.read(19.99, floats="never")
    with pytest.raises(EncodingError, match=r"; pass floats='exact', .* or a Fraction, a Decimal or text such as"):
        rationals.read(19.99)
    for operation in (lambda a: a + 0.5, lambda a: 0.5 * a, lambda a: a / 0.5):
        with pytest.raises(EncodingError, match="pass a Fraction, a Decimal or text"):
            operation(AdeleSpace().encode(1))


def test_numbers_of_sympy_and_flint():
    flint, sympy = pytest.importorskip("flint"), pytest.importorskip("sympy")
    space = AdeleSpace(primes=(2, 3), precision=8)
    given = [sympy.Rational(7, 5), sympy.Integer(-3), flint.fmpq(7, 5), flint.fmpz(-3)]
    assert space.encode(given).decode().tolist() == [Fraction(7, 5), -3] * 2
    assert space.encode(sympy.Matrix([[1, 2], [3, 4]])).decode().tolist() == [[1, 2], [3, 4]]
    assert space.encode(flint.fmpz_mat([[1, 2], [3, 4]]).tolist()).shape == (2, 2)
    assert flint.fmpq(1, 5) + space.encode(1) == sympy.Rational(6, 5)
    for number in (int, flint.fmpz):
        with pytest.raises(ConfigurationError, match="makes no number of a numerator"):
            space.encode(7).decode(number)
    for number in (sympy.Rational, flint.fmpq):
        back = space.encode(["7/5", 3]).decode(number)
        assert back.tolist() == [number(7, 5), number(3, 1)]
        assert isinstance(back[0], number)
    for value in (sympy.sqrt(2), sympy.pi, sympy.oo, sympy.nan, sympy.Float(0.5), flint.arb(3), flint.nmod(3, 7)):
        with pytest.raises(EncodingError, match="is not a number"):
            space.encode(value)


@given(st.lists(st.integers(), min_size=1, max_size=4), st.lists(st.integers(1, 2**63 - 1), max_size=4))
def test_residues_are_python_s(numbers, moduli):
    found = residues([numbers, numbers], moduli)
    assert found.tolist() == [[[n % m for m in moduli] for n in numbers]] * 2
    assert found.dtype == np.int64
    with pytest.raises(EncodingError, match=r"^1/2 at position \[0, 1\] is a fraction"):
        residues([[1, "1/2"], [2, "1/3"]], (3,))
