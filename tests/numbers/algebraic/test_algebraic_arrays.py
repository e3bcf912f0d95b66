"""Algebraic numbers: the paper's laws in number fields, lifted roots, the infinite place, decoding and its bound."""

import copy
import pickle
from fractions import Fraction
from math import lcm, prod

import flint
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import DecodingError, DivisionByZeroError, EncodingError, PrecisionError, RangeError, SpaceError
from adelic.numbers import AlgebraicArray, AlgebraicSpace
from adelic.numbers.decoding.reconstruction import chinese_remainder
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.hensel import from_digits

FIELDS = [
    ("x^2 - 2", 1.414),
    ("x^2 - 2", -1.414),
    ("x^2 + 1", 1j),
    ("x^2 + x + 1", -0.5 + 0.866j),
    ("x^3 - 2", 1.26),
    ("x^3 - 2", -0.63 - 1.09j),
    ("x^2 - x - 1", 1.618),
    ("x^4 - 10x^2 + 1", 3.146),
]
SPACES = [AdeleSpace.over(f, root=root) for f, root in FIELDS]
# At these primes fields are inert, ramified, partly split, or have a root; 2 divides the index of Z[θ] for two of them.
MIXED = [AdeleSpace.over(f, root=root, primes=(2, 3, 5, 7, 11, 31)) for f, root in (*FIELDS, ("x^4 - 5", 1.5))]
SPACE = st.sampled_from(SPACES + MIXED)
SQRT2, GAUSS = SPACES[0], SPACES[2]
RATIONAL = AdeleSpace(SQRT2.primes, SQRT2.precision, SQRT2.fractional_digits)


def coprime(space, m):
    """Return m without its factors that are primes of the space."""
    for p in space.primes:
        while m % p == 0:
            m //= p
    return m


@st.composite
def elements(draw, count, *, size=10**6):
    """Draw a space and numbers of it, as tuples of coefficients without primes of the space in their denominators."""
    space = draw(SPACE)
    n, m = st.integers(-size, size), st.integers(1, 1000).map(lambda m: coprime(space, m))
    return space, *(tuple(Fraction(draw(n), draw(m)) for _ in range(space.degree)) for _ in range(count))


def polynomial(coefficients):
    return flint.fmpq_poly([flint.fmpq(c.numerator, c.denominator) for c in map(Fraction, coefficients)])


def coefficients_of(space, polynomial):
    return tuple(Fraction(int(polynomial[i].p), int(polynomial[i].q)) for i in range(space.degree))


def times(space, x, y):
    """Return the product of two numbers by the schoolbook: multiply polynomials, take the remainder (python-flint)."""
    return coefficients_of(space, polynomial(x) * polynomial(y) % polynomial(space.polynomial))


def plus(x, y):
    return tuple(a + b for a, b in zip(x, y, strict=True))


def residues(array):
    """Return the p-adic coordinates of a flat array as integers, read from its digits."""
    return [
        [from_digits(array.digits[i, j].tolist()[::-1], p) for j, p in enumerate(array.space.window.primes)]
        for i in range(array.size)
    ]


def assert_same(a, b):
    np.testing.assert_array_equal(a.digits, b.digits)
    np.testing.assert_array_equal(a.known, b.known)
    np.testing.assert_allclose(a.complex, b.complex, rtol=1e-9, atol=1e-6 * np.max(np.abs(a.complex), initial=1))
    assert np.all(a == b)


@given(elements(2))
def test_sums_are_coordinate_wise(case):
    space, x, y = case
    a, b = space.encode(x), space.encode(y)
    assert_same(a + b, space.encode(plus(x, y)))
    assert_same(a - b, space.encode(plus(x, tuple(-c for c in y))))
    assert_same(-a, space.encode(tuple(-c for c in x)))


@given(elements(2))
def test_products_are_coordinate_wise(case):
    space, x, y = case
    a, b = space.encode(x), space.encode(y)
    assert_same(a * b, space.encode(times(space, x, y)))
    assert_same((space.encode([x] * 40) * space.encode([y] * 40))[39], a * b)  # by the compiled kernels
    assert_same(a * a * a, a**3)


@given(elements(2, size=100))
def test_quotients(case):
    space, x, y = case
    assume(any(y))
    a, b = space.encode([x, y])
    assume(all(int(b.at(p).norm().lift() % p) for p in space._algebras))
    rows = [j for j, p in enumerate(space.window.primes) if p not in space._algebras]
    assume(all(int(digits[-1]) for digits in b.digits[rows]))  # a unit at every prime
    assert a / b * b == a
    assert 1 / b == b**-1
    assert (a / b).known.min() == space.precision


@given(elements(2))
def test_the_infinite_place_is_the_chosen_embedding(case):
    space, x, y = case
    a, b = space.encode(x), space.encode(y)
    theta = space.root

    def image(z):
        return sum(float(c) * theta**i for i, c in enumerate(z))

    size = 1 + sum(abs(float(c)) * abs(theta) ** i for z in (x, y) for i, c in enumerate(z))
    assert complex(a.complex) == pytest.approx(image(x), abs=1e-14 * size)
    assert float(a.real) == a.complex.real
    assert complex((a * b).complex) == pytest.approx(image(x) * image(y), abs=1e-13 * size**2)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_roots_are_those_of_python_flint(space):
    """The smallest root modulo p, lifted; the factors of f over Z_p by another way: all roots modulo p^N at once."""
    assert space.n_primes == 7
    a = space.encode("x")
    assert sum((c * a**i for i, c in enumerate(space.polynomial)), space.encode(0)) == 0
    (theta,) = residues(a.reshape(1))
    for r, p in zip(theta, space.primes, strict=True):
        roots = sorted(int(root) for root, _ in flint.nmod_poly([c % p for c in space.polynomial], p).roots())
        assert len(roots) == space.degree
        assert r % p == roots[0]
        f = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(p**16))(list(space.polynomial))
        assert int(f(r)) == 0


def test_digits_of_a_root():
    """√2 = 3 + 1·7 + 2·7^2 + 6·7^3 + 1·7^4 + 2·7^5 + … in Q_7."""
    assert SQRT2.encode("x").digits[0, -6:].tolist() == [2, 1, 6, 2, 1, 3]


@pytest.mark.parametrize(
    ("polynomial", "modulus", "classes"),
    [("x^2 - 2", 8, (1, 7)), ("x^2 + 1", 4, (1,)), ("x^2 + x + 1", 3, (1,)), ("x^2 - x - 1", 5, (1, 4))],
)
def test_primes_are_all_that_split(polynomial, modulus, classes):
    """By quadratic reciprocity."""
    space = AlgebraicSpace(polynomial, n_primes=30)
    primes = [p for p in range(2, space.primes[-1] + 1) if all(p % q for q in range(2, p))]
    assert list(space.primes) == [p for p in primes if p % modulus in classes]


def test_rational_numbers_have_the_digits_of_the_rational_space():
    values = ["22/15", -5, Fraction(7, 19), 10**30]
    a, b = SQRT2.encode(values), RATIONAL.encode(values)
    np.testing.assert_array_equal(a.digits, b.digits)
    np.testing.assert_array_equal(a.real, b.real)
    np.testing.assert_array_equal(a.tensor(), b.tensor())


def test_layout():
    assert SQRT2.tensor([["x", 1], [2, "1/3"]]).shape == (2, 2, 1 + 7, 16)
    tensor = GAUSS.tensor(["2 + 3*x", "-x/2"])
    assert tensor.shape == (2, 2 + 7, 16)
    assert tensor.dtype == np.float32
    assert not tensor[:, :2, :-1].any()
    np.testing.assert_array_equal(tensor[:, :2, -1], [[2, 3], [0, -0.5]])
    np.testing.assert_array_equal(tensor[:, 2:], GAUSS.encode(["2 + 3*x", "-x/2"]).digits)
    with pytest.raises(RangeError, match="at position \\[1\\]"):
        GAUSS.tensor([1, (0, 10**40)])


@pytest.mark.parametrize(
    "form",
    ["3*x + 1/2", "0.5 + 3 * x", "x + 2x+1/2", "7x^1/2 - x/2 + 1/2", (Fraction(1, 2), 3), ("1/2", np.int64(3))],
)
def test_the_forms_that_numbers_have(form):
    assert_same(SQRT2.encode(form), SQRT2.encode("1/2 + 3x"))


def test_arrays_of_numbers():
    assert SQRT2.encode((1,)) == SQRT2.encode(()) + 1 == 1
    assert SQRT2.encode("x^3 - x") == SQRT2.encode("x")
    assert SQRT2.encode([]).shape == (0,)
    assert SQRT2.encode(np.empty((0, 3))).shape == (0, 3)
    numbers = np.empty((2, 2), dtype=object)
    numbers[...] = [[1, "x"], [Fraction(1, 3), "2 - x"]]
    numbers[0, 0] = (1, 1)
    a = SQRT2.encode(numbers)
    assert a.shape == (2, 2)
    for same in (SQRT2.encode(numbers.tolist()), SQRT2.encode(a.decode()), copy.deepcopy(a)):
        assert_same(same, a)
    assert_same(pickle.loads(pickle.dumps(a)), a)
    assert SQRT2.encode(np.array(["x", "1 + x"])).shape == (2,)
    assert_same(SQRT2.encode([range(3), np.arange(3)]), SQRT2.encode([[0, 1, 2]] * 2))
    assert SQRT2.encode(np.float32([0.1]), floats="shortest").decode()[0] == (Fraction(1, 10), 0)
    assert (a == [[(1, 1), 0], ["1/3", "x"]]).tolist() == [[True, False], [True, False]]
    assert (a != "x").tolist() == [[True, False], [True, True]]
    assert a != object()
    with pytest.raises(DivisionByZeroError, match="at position \\[1\\]"):
        1 / GAUSS.encode(["x", 0])
    with pytest.raises(DivisionByZeroError):
        GAUSS.encode("1 + x") / (GAUSS.encode("x") ** 2 + 1)


def test_shape_indexing_and_text():
    a = SQRT2.encode([["x", 1, 2], [3, "4 + x", 5]])
    assert a[:, ::-1][0].decode().tolist() == [(2, 0), (1, 0), (0, 1)]
    assert isinstance(a[0], AlgebraicArray)
    assert repr(a[0, 0]).startswith("AlgebraicArray(real=1.4142135")
    assert "polynomial='x^2 - 2'" in repr(a)
    assert str(a[0, 0]).startswith("(1.41421, …")
    assert str(GAUSS.encode("2 - x")).startswith("(2-1j, …")
    assert repr(GAUSS.encode("2 - x")).startswith("AlgebraicArray(complex=2.-1.j")


def test_a_quotient_decodes():
    a = SQRT2.encode([1, "1 + x", (3, Fraction(1, 2))]) / SQRT2.encode(["1 + x", "9 - x", 11])
    assert a.decode().tolist() == [(-1, 1), (Fraction(11, 79), Fraction(10, 79)), (Fraction(3, 11), Fraction(1, 22))]


@st.composite
def near_the_bound(draw):
    """Draw a space with few digits and a number whose height is about where decoding ends."""
    f, root = draw(st.sampled_from(FIELDS))
    primes = st.fixed_dictionaries({"primes": st.sampled_from([(2,), (5, 7), (3, 2)])})
    chosen = draw(primes | st.fixed_dictionaries({"n_primes": st.integers(1, 3)}))
    space = AdeleSpace.over(f, root=root, **chosen, precision=draw(st.integers(1, 12)))
    bits = space.window.modulus.bit_length() // space.degree
    denominator_bits = draw(st.integers(0, bits // 2 + 1))
    m = coprime(space, draw(st.integers(1, 2**denominator_bits)))
    size = 2 ** max(draw(st.integers(-8, 4)) + bits - denominator_bits, 0)
    return space, tuple(Fraction(draw(st.integers(-size, size)), m) for _ in range(space.degree))


def height(space, x):
    """Return (m, c): the least denominator, and the greatest absolute value of a conjugate, a little rounded up."""
    roots = np.roots([float(c) for c in reversed(space.polynomial)])
    m = lcm(*(c.denominator for c in x))
    return m, Fraction(max(abs(sum(float(c) * z**i for i, c in enumerate(x))) for z in roots)) * Fraction(1001, 1000)


@given(elements(3, size=50))
def test_what_a_user_computes_decodes_as_far_as_the_bound_says(case):
    space, x, y, z = case
    a, b, c = space.encode([x, y, z])
    (m, size), (n, other), (k, last) = (height(space, number) for number in (x, y, z))
    # Of what is computed, the factors of denominators and the sums and products of houses are known, and no more.
    assert_decodes(a * b + c, plus(times(space, x, y), z), lcm(m * n, k), size * other + last)
    assert_decodes(a + b - b, x, lcm(m, n), size + 2 * other)


def assert_decodes(a, expected, m, c):
    """Assert that `a` decodes to what is expected if (2^d · m² · c)^d < M, and to nothing else if not."""
    d = a.space.degree
    is_inside = (2**d * m**2 * c) ** d < a.space.window.modulus
    try:
        decoded = a.decode()
    except DecodingError:
        assert not is_inside
    else:
        assert decoded == expected


@settings(max_examples=500)
@given(near_the_bound())
def test_inside_the_bound_decoding_succeeds_and_nowhere_is_it_wrong(case):
    space, x = case
    assert_decodes(space.encode(x), x, *height(space, x))


@pytest.mark.parametrize("space", SPACES + MIXED, ids=str)
def test_both_sides_of_the_bound(space):
    bits, d = space.window.modulus.bit_length(), space.degree
    inside = 2 ** ((bits - 1) // d - d) - 1  # (2^d · m² · c)^d < M
    assert space.encode(inside).decode() == (inside, *(0,) * (d - 1))
    with pytest.raises(DecodingError, match="do not prove which number of Q"):
        space.encode(2 ** (-(-bits // d) - 1)).decode()  # (2 · m · c)^d >= M


@pytest.mark.parametrize("fractional_digits", [0, 1])
def test_a_number_with_the_digits_of_another_is_not_taken_for_it(fractional_digits):
    space = AdeleSpace.over("x^2 - 2", root=1.414, n_primes=3, precision=4, fractional_digits=fractional_digits)
    one, modulus = space.encode(1), prod(space.primes) ** 4
    tiny = Fraction(1, 2**200)
    t = chinese_remainder(list(space.roots), tuple(p**4 for p in space.primes))
    unit = (1, 0)
    for _ in range(100):
        unit = times(space, unit, (-1, 1))  # √2 − 1, whose conjugate is large
    for other in ((modulus, 0), (-t, 1), (modulus * tiny, 0), (-t * tiny, tiny), tuple(modulus * c for c in unit)):
        for a in (space.encode(other) + 1, space.encode(plus(other, (1, 0)))):
            np.testing.assert_array_equal(a.digits, one.digits)
            with pytest.raises(DecodingError):
                a.decode()
    assert space.encode(modulus) * tiny + 1 == one  # which no coordinate can tell, so that nothing may be decoded


def test_coordinates_that_contradict_each_other_do_not_decode():
    """With 7 in the denominator the lattice asks for 15 digits of 16; the answer has to have them all."""
    a, b, seventh = SQRT2.encode(["1 + x", "2 + x", "x/7 - 3/7"])
    digits = seventh.digits.copy()
    digits[0, 0] = (digits[0, 0] + 1) % 7
    conjugate = SPACES[1].encode("1 + x")
    for real, finite in (
        (b._real, a._finite),
        (conjugate._real, a._finite),
        (seventh._real, FinitePlaces(digits, seventh.known)),
    ):
        with pytest.raises(DecodingError):
            AlgebraicArray(SQRT2, real, finite).decode()


def inverse(space, x):
    """Return 1/x by the extended Euclidean algorithm on polynomials (python-flint)."""
    return coefficients_of(space, polynomial(x).xgcd(polynomial(space.polynomial))[1])


@given(elements(3, size=100))
def test_heights_bound_what_is_computed(case):
    """Decoding is only as right as these bounds."""
    space, x, y, z = case
    assume(any(z))
    a, b, c = (space.encode(part)._real for part in (x, y, z))
    product, inverted = times(space, x, y), inverse(space, z)
    assert times(space, z, inverted) == space.encode(1).decode()
    for place, value in [
        (a + b, plus(x, y)),
        (a * b, product),
        (a * b + c, plus(product, z)),
        (c.reciprocal(), inverted),
        (a * c.reciprocal() + b, plus(times(space, x, inverted), y)),
    ]:
        m, house = height(space, value)
        bound = place.height
        assert bound.denominator % m == 0 if bound.is_multiple else bound.denominator >= m
        assert bound.house >= house * Fraction(998, 1000)


def test_heights_do_not_blow_up():
    a = SQRT2.encode("3 + x")
    for _ in range(200):
        a = 1 / (a * a)
    with pytest.raises(DecodingError):
        a.decode()
    assert (SQRT2.encode(0) * a).decode() == (0, 0)
    b = SQRT2.encode(10**307)
    for c in (b + b * 9, b * b, b * 17, 1 / b, 1 / b / b):
        with pytest.raises(DecodingError):
            c.decode()


def test_overflow_at_the_infinite_place_keeps_the_digits():
    a = SQRT2.encode([10**400, "x", -(10**400)])
    assert a.real[[0, 2]].tolist() == [np.inf, -np.inf]
    assert a[1].decode() == (0, 1)
    with pytest.raises(DecodingError):
        a.decode()
    np.testing.assert_array_equal(a[0].digits, RATIONAL.encode(10**400).digits)


def test_fractional_digits():
    space = AdeleSpace.over("x^2 - 2", root=1.414, n_primes=3, precision=12, fractional_digits=3)
    x = space.encode(["1/7 + x/17", "x/23", (3, Fraction(2, 49))])
    expected = [(Fraction(1, 7), Fraction(1, 17)), (0, Fraction(1, 23)), (3, Fraction(2, 49))]
    assert x.decode().tolist() == expected
    assert (x + x).decode().tolist() == [tuple(2 * c for c in z) for z in expected]
    assert (x[0] * 7).decode() == (1, Fraction(7, 17))
    with pytest.raises(PrecisionError, match=r"^1/2401 has 7-adic valuation −4, .* fractional_digits=4"):
        space.encode("1/2401")


def test_a_denominator_divisible_by_p():
    with pytest.raises(
        PrecisionError, match=r"^1/7\*x at position \[1\] has 7-adic valuation −1, .*fractional_digits=1"
    ):
        SQRT2.encode([1, "x/7"])
    a = SQRT2.encode("x/7 - 3/7")  # √2 ≡ 3 modulo 7: a 7-adic integer
    assert a * 7 + 3 == SQRT2.encode("x")
    longer = AdeleSpace.over("x^2 - 2", root=1.414, precision=20).encode("x/7 - 3/7")
    np.testing.assert_array_equal(a.digits, longer.digits[:, 4:])
    np.testing.assert_array_equal(a.digits[0, 1:], SQRT2.encode("x").digits[0, :-1])
    assert a.decode() == (Fraction(-3, 7), Fraction(1, 7))
    with pytest.raises(PrecisionError, match="7-adic valuation −1"):
        SQRT2.encode("x/7 + 3/7")
    with pytest.raises(PrecisionError, match=r"the quotient 0\.142857 has 7-adic valuation −1"):
        SQRT2.encode(1) / 7
    lost = SQRT2.encode("x - 3") / 7
    assert lost.known.tolist() == [15, *[16] * 6]
    assert lost == a


def test_different_spaces_do_not_mix():
    assert SPACES[0] != SPACES[1]
    assert AdeleSpace.over("x^2 - 2", root=1.41421) == SQRT2
    a = SQRT2.encode("x")
    for other in (SPACES[1].encode("x"), RATIONAL.encode(1)):
        with pytest.raises(SpaceError, match="do not mix"):
            a + other
        with pytest.raises(SpaceError, match="do not mix"):
            other + a
        with pytest.raises(SpaceError, match="decode\\(\\) it first"):
            SQRT2.encode(other)
    assert SQRT2.encode(a) is a


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ("y", EncodingError, r"'y' is not a number; .* or '1 \+ 3\*x' with x for the root"),
        ("1 + + x", EncodingError, "'1 \\+ \\+ x' is not a polynomial in x"),
        ("2*", EncodingError, "is not a number"),
        *((bad, EncodingError, "is not a polynomial") for bad in ("x^x", "x x", (1, (2, 3)))),
        *((bad, EncodingError, "beyond 1000") for bad in ("x^1001", "x^" + "9" * 5000)),
        *((bad, DivisionByZeroError, "denominator zero") for bad in ("x/0", "1/0 + x")),
        ((1, 2, 3), EncodingError, "has 3 coefficients, but the field has degree 2"),
        ((1, "x"), EncodingError, "'x' is not a number"),
        *((bad, EncodingError, "is a float") for bad in (0.5, (0.5, 1))),
        (True, EncodingError, "bool"),
        (None, EncodingError, "NoneType"),
        (1j, EncodingError, "complex"),
        ({"x"}, EncodingError, "set"),
    ],
)
def test_values_that_are_no_numbers(value, error, text):
    with pytest.raises(error, match=text) as caught:
        SQRT2.encode(value)
    assert "\n" not in str(caught.value)
    with pytest.raises(error, match=f"^at position \\[1, 0\\]: .*{text}"):
        SQRT2.encode([[1], [value]])


def test_long_numbers_in_text():
    n = 10**5000 + 1
    digits = "1" + "0" * 4999 + "1"
    assert SQRT2.encode(f"{digits}*x/{digits}") == SQRT2.encode("x")
    np.testing.assert_array_equal(SQRT2.encode(f"{digits} + x - x").digits, SQRT2.encode(n).digits)


def test_what_the_space_does_not_hold_is_unequal_element_by_element():
    a = SQRT2.encode([(0, 1), 2])
    assert (a == [(0, 1), None]).tolist() == [True, False]
    assert (a == ["x", "y"]).tolist() == [True, False]
    assert (a == [(1, 2, 3), Fraction(2)]).tolist() == [False, True]
    assert (a == Fraction(1, 7)).tolist() == [False, False]  # below the window at 7
