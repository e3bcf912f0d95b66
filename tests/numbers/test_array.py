"""What an `AdeleArray` does as an array: shape, indexing, broadcasting, mixing, errors, display, copies."""

import copy
import operator
import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from adelic import AdeleArray, AdeleSpace, AdelicError
from adelic.errors import DecodingError, DivisionByZeroError, EncodingError, PrecisionError, SpaceError

torch = pytest.importorskip("torch")

SPACE = AdeleSpace(primes=(2, 3, 5), precision=8)
OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv]


def cube(shape=(2, 3, 4)):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return values, SPACE.encode(values)


class TestShape:
    def test_properties(self):
        _, a = cube()
        assert (a.shape, a.ndim, a.size, len(a)) == ((2, 3, 4), 3, 24, 2)
        assert a.real.shape == (2, 3, 4)
        assert a.digits.shape == (2, 3, 4, 3, 8)
        assert a.known.shape == (2, 3, 4, 3)
        assert a.tensor().shape == (2, 3, 4, 4, 8)
        assert a.space is SPACE
        assert (a.real.dtype, a.digits.dtype, a.known.dtype) == (np.float64, np.uint8, np.int32)

    def test_scalars(self):
        for a in (SPACE.encode(5), SPACE.encode([5])[0], SPACE.encode(2) + 3, -SPACE.encode(-5)):
            assert a.shape == a.real.shape == ()
            assert a.digits.shape == (3, 8)
            assert a.known.tolist() == [8, 8, 8]
            assert a.tensor().shape == (4, 8)
            assert type(a.decode()) is Fraction
            assert a.decode() == 5
            assert float(a.real) == 5.0
            assert a.real.dtype == np.float64
            with pytest.raises(TypeError, match="no length"):
                len(a)
            with pytest.raises(TypeError):
                iter(a)
            with pytest.raises(IndexError):
                a[0]

    @pytest.mark.parametrize("shape", [(24,), (4, 6), (2, 1, 12), (-1,), (6, -1)])
    def test_reshape(self, shape):
        values, a = cube()
        assert (a.reshape(shape).decode() == values.reshape(shape)).all()
        assert (a.reshape(*shape).decode() == values.reshape(shape)).all()
        assert a.reshape(list(shape)).shape == values.reshape(shape).shape

    @pytest.mark.parametrize("shape", [(25,), (5, -1), (-1, -1), (), (0,), (24, 0), (1.5,), ("x",), (None, 2)])
    def test_wrong_reshape(self, shape):
        with pytest.raises(SpaceError, match="an array of 24 numbers cannot take the shape"):
            cube()[1].reshape(shape)


class TestIndexing:
    ADVANCED = (
        *(np.int64(1), [0, 1, 0], [], np.array([1]), ([[0], [1]], [1, 2]), (..., [1, 2]), (0, slice(None), [1, 2])),
        *(([0, 1], slice(None), [1, 2]), ([0, 1], ..., [1, 2]), [True, False], [False, False], np.zeros((2, 0), int)),
        *((np.array([True, False]), ...), ([True, False], ..., 0), True, False, (..., True), (True, ..., 0)),
        *(np.arange(24).reshape(2, 3, 4) % 2 == 0, (np.arange(6).reshape(2, 3) > 2, ...), (..., np.arange(4) > 1)),
    )

    def check(self, key):
        values, a = cube()
        expected = values[key]
        result = a[key]
        assert isinstance(result, AdeleArray)
        assert result.shape == np.shape(expected)
        assert result.digits.shape == (*np.shape(expected), 3, 8)
        assert result.known.shape == (*np.shape(expected), 3)
        assert np.array_equal(result.decode(), expected)
        assert np.array_equal(result.real, expected)

    @pytest.mark.parametrize("key", ADVANCED, ids=lambda key: " ".join(repr(key).split()))
    def test_advanced_indices(self, key):
        self.check(key)

    @given(hnp.basic_indices((2, 3, 4), allow_newaxis=True))
    def test_basic_indices(self, key):
        self.check(key)

    @pytest.mark.parametrize(
        "key",
        [2, (0, 0, 4), (0, 0, 0, 0), (0, 0, 0, slice(None)), (slice(None),) * 4, (..., 0, 0, 0, 0), (0, 0, 0, ..., 0),
         (..., ...), (..., 0, ...), np.zeros((2, 3, 4, 3), bool), [True] * 3, "a", 1.0, [0.5], ([0, 1], [0, 1, 2])],
        ids=lambda key: " ".join(repr(key).split())[:40],
    )  # fmt: skip
    def test_index_errors(self, key):
        _, a = cube()
        with pytest.raises(IndexError):
            a[key]

    def test_nothing_can_be_assigned(self):
        with pytest.raises(TypeError):
            cube()[1][0] = 1


class TestImmutability:
    def test_coordinates_are_read_only(self):
        for a in (SPACE.encode([1, 2]), SPACE.encode([1, 2]) * 3, SPACE.encode([1, 2])[0], SPACE.encode(1)):
            for coordinates in (a.real, a.digits, a.known):
                assert not coordinates.flags.writeable
                with pytest.raises(ValueError, match="read-only"):
                    coordinates[...] = 0

    def test_tensors_and_decoded_numbers_are_the_callers(self):
        a = SPACE.encode([1, 2])
        a.tensor()[...] = 0
        a.decode()[...] = 0
        assert a.decode().tolist() == [1, 2]

    def test_the_callers_array_is_copied(self):
        for dtype in (np.int64, np.int32, object):
            values = np.array([1, 2], dtype=dtype)
            a = SPACE.encode(values)
            values[...] = 7
            assert a.decode().tolist() == [1, 2]


class TestMixing:
    OTHERS = (7, Fraction(7, 11), "7/11", np.int64(7), np.uint8(7), 2**70 + 1, [7, 11], np.array([7, 11]), range(7, 9),
              (7, 11), ([7, 1], [11, 7]), [[7], [11]], torch.tensor([7, 11]), np.array(["7/11", "1"]))  # fmt: skip

    @pytest.mark.parametrize("other", OTHERS, ids=lambda other: type(other).__name__)
    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_either_side(self, operation, other):
        a = SPACE.encode([7, 49])
        encoded = SPACE.encode(other)
        if operation is not operator.truediv or encoded.digits[..., -1].all():  # units at each prime
            left = operation(a, other)
            assert isinstance(left, AdeleArray)
            assert np.all(left == operation(a, encoded))
        if isinstance(other, tuple) and operation is operator.add:
            return  # a tuple adds to tuples alone
        right = operation(other, a)
        assert isinstance(right, AdeleArray)
        assert np.all(right == operation(encoded, a))

    def test_broadcasting(self):
        a, b = SPACE.encode([[1], [2], [3]]), SPACE.encode([10, 20])
        assert (a + b).decode().tolist() == [[11, 21], [12, 22], [13, 23]]
        assert (b - a).decode().tolist() == [[9, 19], [8, 18], [7, 17]]
        assert (a[0] * b[1]).shape == (1,)
        assert (SPACE.encode(3) * b).decode().tolist() == [30, 60]
        wide = SPACE.encode(np.arange(60)) + a  # by the compiled kernels, from strided operands
        assert (wide.decode() == np.arange(60) + np.array([[1], [2], [3]])).all()
        assert (wide.reshape(3, 60)[:, ::-1] * 7 == 7 * wide[:, ::-1]).all()

    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_shapes_that_do_not_fit(self, operation):
        with pytest.raises(SpaceError, match=r"shapes \(2,\) and \(3,\) do not fit together"):
            operation(SPACE.encode([1, 1]), SPACE.encode([1, 1, 1]))
        with pytest.raises(SpaceError, match="do not fit together"):
            SPACE.encode([1, 1]) == SPACE.encode([1, 1, 1])  # noqa: B015

    def test_different_spaces(self):
        other = AdeleSpace(primes=(2, 3), precision=8).encode(1)
        a = SPACE.encode(1)
        for operation in (*OPERATIONS, operator.eq, operator.ne):
            with pytest.raises(SpaceError, match="arrays of different spaces do not mix"):
                operation(a, other)
        assert (a + AdeleSpace(primes=(2, 3, 5), precision=8).encode(1)).decode() == 2

    @pytest.mark.parametrize("other", [0.5, np.float32(1), None, True, "x", 1j, {1}, float("nan"), np.array([0.5])])
    def test_operands_that_are_no_numbers(self, other):
        a = SPACE.encode([1, 2])
        for operation in OPERATIONS:
            with pytest.raises(EncodingError):
                operation(a, other)
        with pytest.raises(EncodingError):
            a - [1, True]

    @pytest.mark.parametrize("exponent", [0.5, 2.0, "2", None, True, np.True_, Fraction(2), [2]])
    def test_exponents_that_are_no_integers(self, exponent):
        with pytest.raises(EncodingError, match="an exponent must be an integer"):
            SPACE.encode([1, 2]) ** exponent


class TestComparison:
    @pytest.mark.parametrize(
        ("numbers", "other", "expected"),
        [
            ([[1, 2], [3, 4]], [[1, 0], [3, 4]], [[True, False], [True, True]]),
            ([[1, 2], [3, 4]], [1, 4], [[True, False], [False, True]]),
            ([[1, 2], [3, 4]], np.array([1, 4]), [[True, False], [False, True]]),
            ([[1, 2], [3, 4]], "3", [[False, False], [True, False]]),
            ([1, 2], np.array([np.nan, 2.0]), [False, True]),
            ([1, 2], np.array([1, "two"], dtype=object), [True, False]),
            ([1, 2], [None, 2], [False, True]),
            ([1, 2], [True, 2], [False, True]),
            ([1, 2], [1, Fraction(1, 2)], [True, False]),
            ([1, 2], [(1, 2), (4, 2)], [False, True]),
            ([1, 2], ["1/0", 2], [False, True]),
            ([1, 2], [[1, 1], ["x", 2]], [[True, False], [False, True]]),
            ([1, 2], [[None], [2]], [[False, False], [False, True]]),
            ([1, 2], [float("inf"), 2], [False, True]),
            *(([1, 2], other, [False, False]) for other in (0.5, Fraction(1, 2), float("nan"))),
            *((3, other, True) for other in (3, Fraction(3), "3", np.int64(3), 3.0)),
            *((3, other, False) for other in (4, Fraction(1, 7), None, "three", True, float("inf"), object())),
        ],
    )
    def test_element_by_element(self, numbers, other, expected):
        """What is no number, or one that the space does not hold, is unequal; scalars compare to bools."""
        for a in (SPACE.encode(numbers), SPACE.encode(numbers).at(5)):
            equal, unequal = (a == other, other == a), (a != other, other != a)
            if isinstance(expected, bool):
                assert equal == (expected, expected)
                assert unequal == (not expected, not expected)
                assert {type(found) for found in equal + unequal} == {bool}
            else:
                assert all(found.tolist() == expected for found in equal)
                assert all((~found).tolist() == expected for found in unequal)

    def test_a_float_stands_for_its_exact_value(self):
        assert AdeleSpace(primes=(3, 5)).encode("1/2") == 0.5
        assert AdeleSpace(primes=(3, 7)).encode("1/10") != 0.1

    def test_lists_of_arrays(self):
        a = SPACE.encode([1, 2])
        assert (a == list(a)).tolist() == [True, True]
        assert (a == [None, a[1]]).tolist() == [False, True]
        assert (a == [a, a]).tolist() == [False, False]  # an array of two is no number
        assert (a == [[1], [2, 3]]) is False

    def test_comparison_where_some_lie_outside_the_window(self):
        values = [Fraction(n, 1 + n % 7) for n in range(1000)]
        held = [i for i, q in enumerate(values) if q.denominator in (1, 7)]
        equal = SPACE.encode([q if i in held else -1 for i, q in enumerate(values)]) == values
        assert np.flatnonzero(equal).tolist() == held
        half = Fraction(1, 2)
        assert SPACE.encode(2) in [half, SPACE.encode(2)]
        assert SPACE.encode(2) not in [half, (1, 3), "1/2"]

    def test_known_digits_decide(self):
        quotient = SPACE.encode(12) / 4
        assert quotient.known.tolist() == [6, 8, 8]
        assert quotient == 3
        assert quotient != 4
        assert quotient != 3 + 2**5
        assert SPACE.encode(4 * 255) / 4 == 255  # whose two top binary digits the quotient does not know
        assert not hasattr(AdeleArray, "__lt__") or AdeleArray.__lt__ is object.__lt__

    def test_the_same_digits_and_another_real_value(self):
        n = SPACE.decoding_bound
        assert SPACE.encode(1) != SPACE.encode(1 + n)
        np.testing.assert_array_equal(SPACE.encode(1).digits, SPACE.encode(1 + n).digits)

    def test_arrays_are_not_hashable(self):
        with pytest.raises(TypeError, match="unhashable"):
            hash(SPACE.encode(1))


class TestEmpty:
    @pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 3)])
    def test_through_everything(self, shape):
        a = SPACE.encode(np.zeros(shape, int))
        for b in (a, a + 1, 1 - a, a * a, a / 7, 7 / (a + 1), -a, a**3, a**-1, a**0, a + np.zeros(shape, int), a[...]):
            assert b.shape == shape
            assert b.real.shape == shape
            assert b.digits.shape == (*shape, 3, 8)
            assert b.known.shape == (*shape, 3)
            assert b.tensor().shape == (*shape, 4, 8)
            assert b.decode().shape == shape
            assert (b == a).shape == shape
            assert (b != a).shape == shape
            assert b.reshape(0).shape == (0,)
            assert str(b) == ""
            assert f"shape={shape}" in repr(b)
        assert SPACE.tensor(np.zeros(shape, int)).shape == (*shape, 4, 8)


class TestDivision:
    @pytest.mark.parametrize("size", [1, 60])
    def test_by_zero(self, size):
        a = SPACE.encode([7] * size)
        with pytest.raises(DivisionByZeroError, match=r"^division by zero: every coordinate of the divisor is zero$"):
            a / 0
        with pytest.raises(DivisionByZeroError, match=rf"division by zero at position \[{size - 1}\]"):
            7 / SPACE.encode([7] * (size - 1) + [0])
        with pytest.raises(ZeroDivisionError):
            SPACE.encode([7] * (size - 1) + [0]) ** -1
        with pytest.raises(DivisionByZeroError):
            a / (SPACE.encode(Fraction(1, 7)) - Fraction(1, 7))
        with pytest.raises(AdelicError):
            a / (SPACE.encode("1/7") + "1/11" - "18/77")  # zero, with an uncertain real value

    @pytest.mark.parametrize("size", [1, 60])
    def test_by_numbers_divisible_by_a_prime(self, size):
        quotient = SPACE.encode([12] * size) / 4
        assert (quotient.known == [6, 8, 8]).all()
        assert (quotient.digits[:, 0] == [0, 0, 0, 0, 0, 0, 1, 1]).all()
        assert quotient.decode().tolist() == [3] * size
        with pytest.raises(PrecisionError) as caught:
            SPACE.encode([[12]] * (size - 1) + [[6]]) / 4
        assert str(caught.value).startswith(f"the quotient 1.5 at position [{size - 1}, 0] has 2-adic valuation −1")
        assert "fractional_digits=1 would hold it" in str(caught.value)

    @pytest.mark.parametrize("size", [1, 60])
    def test_by_a_number_whose_digits_are_all_zero(self, size):
        with pytest.raises(PrecisionError, match="no known 2-adic digit at precision=8; more known digits"):
            SPACE.encode([1] * size) / SPACE.encode(256)
        with pytest.raises(PrecisionError, match=r"2-adic valuation −8.*fractional_digits=8 would hold it: with"):
            SPACE.encode([1] * size) / 256


class TestDisplay:
    def test_repr(self):
        a = AdeleSpace(primes=(2, 3), precision=4, fractional_digits=1).encode([1, "1/2"])
        assert repr(a) == "AdeleArray(real=[1. , 0.5], shape=(2,), primes=(2, 3), precision=4, fractional_digits=1)"
        assert "shape=()" in repr(a[0])
        assert "..." in repr(SPACE.encode(range(100)))

    def test_str(self):
        assert str(SPACE.encode(-1)) == "(-1, …11111111_2, …22222222_3, …44444444_5)"
        assert str(SPACE.encode(12) / 4) == "(3, …000011_2, …00000010_3, …00000003_5)"
        space = AdeleSpace(primes=(5, 17), precision=3, fractional_digits=1)
        assert str(space.encode(["1/5", -1])) == "(0.2, …00.1_5, …(3)(7)_17)\n(-1, …44_5, …(16)(16)_17)"
        lines = str(SPACE.encode(range(20))).splitlines()
        assert len(lines) == 9
        assert lines[-1] == "… 12 more"


PICKLED = [partial(pickle.dumps, protocol=protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, *(lambda a, d=d: pickle.loads(d(a)) for d in PICKLED)])
def test_copies(copied):
    four = SPACE.encode([12, 4]) / 4
    for a in (SPACE.encode([[1, 2], ["1/7", 10**400]]), SPACE.encode(3), four, SPACE.encode([])):
        b = copied(a)
        assert b.space == a.space
        assert np.all(b == a)
        for name in ("digits", "known", "real"):
            np.testing.assert_array_equal(getattr(b, name), getattr(a, name))
        assert not b.digits.flags.writeable
        assert np.all(a + b == 2 * a)


def test_a_result_that_does_not_decode_names_its_position():
    with pytest.raises(DecodingError, match=r"at position \[1\]"):
        (SPACE.encode([1, 30**5]) * 30**5).decode()
