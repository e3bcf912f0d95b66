"""Arrays of p-adic numbers: made from rationals and adeles, computed with, shown."""

import math
from collections import UserString
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import (
    AdelicError,
    ConfigurationError,
    DecodingError,
    DivisionByZeroError,
    DomainError,
    EncodingError,
    PrecisionError,
    SpaceError,
)
from adelic.numbers import AlgebraicSpace, PadicArray, norm, padic, valuation

SPACE = AdeleSpace(precision={2: 9, 5: 6, 7: 4}, fractional_digits=2)
NUMBERS = st.fractions(max_denominator=50).filter(lambda q: all(q.denominator % p**3 for p in SPACE.primes))


@given(st.lists(NUMBERS, min_size=1, max_size=4))
def test_coordinates_of_adeles_are_the_numbers_themselves(numbers):
    a = SPACE.encode(numbers)
    for j, p in enumerate(SPACE.primes):
        x = a.at(p)
        assert (x == padic(numbers, p, SPACE.precisions[j], fractional_digits=2)).all()
        assert x.known.tolist() == a.known[:, j].tolist()
        assert x.valuation().tolist() == a.valuation()[:, j].tolist()
        assert x.norm().tolist() == a.norm()[:, j].tolist()
        for q, v, size in zip(numbers, x.valuation().tolist(), x.norm().tolist(), strict=True):
            most = SPACE.precisions[j] - 2  # the window's end
            exact = valuation(q, p) if q else most
            assert v == min(exact, most)
            assert size == (norm(q, p) if exact < most else 0)


def test_shapes():
    """Indices, broadcasting and operations are those of all arrays of numbers (tests/numbers/test_array.py)."""
    x = padic([[1, 2, 3], [4, 5, 6]], 5, 4)
    assert (x.shape, x.ndim, x.size, len(x), x.digits.shape, x.known.shape) == ((2, 3), 2, 6, 2, (2, 3, 4), (2, 3))
    assert x[..., 0].lift().tolist() == [1, 4]
    assert ((x + np.array([10, 20, 30])) ** 2).lift().tolist() == [[121, 484, 464], [196, 0, 46]]
    assert padic([], 5).sqrt().shape == padic([], 5).series().shape == padic([], 5).norm().shape == (0,)


def test_lifts():
    assert padic(-1, 2, 63).lift() == 2**63 - 1
    assert padic([-1], 2, 63).lift().dtype == np.int64
    assert padic([-1], 2, 64).lift().dtype == object
    assert padic([-1], 2, 64).lift().tolist() == [2**64 - 1]
    assert padic(["7/5"], 5, 4, fractional_digits=1).lift().tolist() == [Fraction(7, 5)]
    assert type(padic(3, 5).lift()) is int


def test_division_knows_fewer_digits():
    x = padic([50, 1], 5, 6)
    quotient = x[0] / 5
    assert (quotient.lift(), int(quotient.known)) == (10, 5)
    assert quotient.series() == "2*5 + O(5^5)"
    with pytest.raises(ConfigurationError, match="errors='no'"):
        x.decode(errors="no")
    assert np.sum(x) == x.sum() == 51
    with pytest.raises(ConfigurationError, match="out="):
        np.sum(x, out=np.zeros(()))


def test_windows_of_products_and_quotients_hold_them():
    x = padic([50, 1], 5, 6)
    assert str(x / 5) == "…00020_5\n…00000.1_5"
    assert ((x / 5) ** 3).fractional_digits == 3
    assert (padic("1/5", 5) * padic("2/5", 5)).decode() == Fraction(2, 25)
    assert (1 / x).series().tolist() == ["3*5^-2 + 2*5^-1 + 2 + 2*5 + O(5^2)", "1 + O(5^6)"]
    assert (x[1] / x[0]).lift() == (1 / x)[0].lift()
    assert (padic("1/5", 5) * padic([3, 2], 5).sqrt(errors="mask")).mask.all()
    assert (padic(0, 2, 2) / 4).series() == (padic([0, 1], 2, 2) / 4)[0].series() == "O(2^0)"
    assert (padic("5^-1 + O(5^0)", 5) ** 2).series() == "5^-2 + O(5^-1)"
    with pytest.raises(PrecisionError, match="would hold it"):
        padic("1/5", 5) ** 10**8


def test_masks_of_decoding_and_squares():
    x = padic([50, "9 + O(5)", "1/7", 4], 5, 3)
    assert x.decode(errors="mask").tolist() == [None, -1, Fraction(1, 7), 4]
    assert x[0].decode(errors="mask") is np.ma.masked
    assert padic([5, 1], 5, 3).is_square(where=[False, True]).tolist() == [None, True]
    assert padic(["1 + O(2)", 9], 2, 6).is_square(errors="mask").tolist() == [None, True]
    assert (padic([2, 3], 7).sqrt(errors="mask") ** 0).mask.tolist() == [False, True]


def test_division_by_zero_names_the_number():
    x = padic([50, 1], 5, 6)
    with pytest.raises(DivisionByZeroError, match=r"position \[1\]"):
        x / [1, 0]


def test_what_is_shown():
    x = padic([12, "-1/10"], 11, 3)
    assert str(x) == "…(0)(1)(1)_11\n…(1)(1)(1)_11"
    assert repr(padic("7/5", 5, 3, fractional_digits=1)) == "PadicArray(…01.2_5, p=5, precision=3, fractional_digits=1)"
    assert repr(padic(list(range(9)), 2, 3)).endswith("…111_2, …], shape=(9,), p=2, precision=3, fractional_digits=0)")
    assert str(padic(list(range(9)), 2, 3)).endswith("…111_2\n… 1 more")
    assert padic([0, 1, 12], 11, 2).series().tolist() == ["O(11^2)", "1 + O(11^2)", "1 + 11 + O(11^2)"]
    assert len(repr(padic(1, 2, 5000))) < 200
    with pytest.raises(ValueError, match="no square root") as caught:
        padic(-1, 2, 5000).sqrt()
    assert len(str(caught.value)) < 300


def test_what_does_not_fit_together():
    a = AdeleSpace((2, 3), 4).encode(5)
    assert isinstance(a.at(np.int64(3)), PadicArray)
    with pytest.raises(SpaceError, match=r"no coordinate at 5; its primes are \(2, 3\)"):
        a.at(5)
    with pytest.raises(SpaceError, match="no coordinate at True"):
        a.at(True)
    with pytest.raises(SpaceError, match=r"p=2, precision=4, .* and p=3, precision=4.*make both at the same primes"):
        a.at(2) + a.at(3)
    with pytest.raises(SpaceError, match="9 is not a prime"):
        padic(1, 9)
    with pytest.raises(SpaceError, match="do not fit together"):
        padic([1, 2], 3) + padic([1, 2, 3], 3)
    assert (padic(1, 3) == "one") is False
    assert padic(1, 3) != 2
    assert (padic([1, 2], 3) != 2).tolist() == [True, False]
    assert (padic(1, 3) != padic([1, 2], 3)).tolist() == [False, True]


def test_algebraic_numbers_have_coordinates_too():
    root = AlgebraicSpace("x^2 - 2", n_primes=2, precision=6).encode(["x", 7])
    assert (root.at(7)[0] ** 2).lift() == 2
    assert root.valuation().tolist() == [[0, 0], [1, 0]]


def test_large_primes():
    p = 2**61 - 1
    x = padic([4, 10 * p], p, 5)
    assert x[0].sqrt() in (2, -2)
    assert x[1].exp().log() == 10 * p
    assert x[0].teichmuller() ** (p - 1) == 1


@settings(max_examples=50)
@given(st.sampled_from([2, 7, 11, 2**255 - 19]), st.data())
def test_text_is_read_as_it_is_printed(p, data):
    f = data.draw(st.integers(0, 3))
    q = data.draw(st.fractions(max_denominator=50)) / Fraction(p) ** data.draw(st.integers(0, f))
    assume(f + valuation(q, p) >= 0)
    x = padic(q, p, 6 + f, fractional_digits=f)
    x = x.with_window(precision=data.draw(st.integers(1 + f, 6 + f))).with_window(precision=6 + f)
    for text in (str(x), x.series()):
        again = padic(text, p)
        assert again == x
        assert again.series() == x.series()
        assert (padic([text, q], p) == q).all()


def test_arrays_are_made_of_numbers_that_are_known_in_part():
    x = padic(["1/7 + O(7^2)", 3, "O(7^4)"], 7, 6)
    for same in (padic(x, 7), padic([x[0], 3, x[2]], 7, 6), padic([list(x)], 7)[0]):
        assert same.series().tolist() == x.series().tolist()
    assert padic(x[0], 7).shape == ()
    for wrong, error in ((x, SpaceError), ([x, x], EncodingError), (x.sqrt(errors="mask")[0], DomainError)):
        with pytest.raises(error):
            padic(wrong, 5 if wrong is x else 7)


def test_text_of_other_systems():
    """PARI's and Sage's, in the modes that Sage calls series, terse, val-unit and digits."""
    texts = ["2*5^-1 + 1 + O(5^3)", "7/5 + O(5^3)", "5^-1 * 7 + O(5^3)", "...001.2", "…001.2_5", "2*5^(-1)+1+O(5^3)"]
    assert [str(x) for x in padic(texts, 5)] == ["…001.2_5"] * 6
    # Importing cypari replaces the handlers of signals; its numbers print these texts.
    gen = type("Gen", (UserString,), {"__module__": "cypari._pari"})
    assert padic(gen("2*5^-1 + 1 + O(5^3)"), 5).series() == "2*5^-1 + 1 + O(5^3)"
    assert padic([gen("3 + O(5^2)"), gen("1/2"), 4], 5).known.tolist() == [2, 16, 16]
    x = padic(["O(5^2)", "O(5)", "5^2 - 1"], 5)
    assert (x.known.tolist(), x.lift().tolist()) == ([2, 1, 16], [0, 0, 24])
    assert padic("O(5^-2)", 5).series() == "O(5^-2)"
    assert padic("….?(12)_13", 13).series() == "12*13^-2 + O(13^-1)"
    assert str(padic("12*13^-2 + O(13^-1)", 13)) == "….?(12)_13"
    assert padic(str(padic(list(range(8)), 5, 4)), 5).lift().tolist() == list(range(8))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("…12_7", "is a number of Q_7, not of Q_5"),
        ("3*7^2 + O(7^3)", r"has '7\^2', no power of p=5"),
        ("1 + O(10)", "has '10', no power of p=5"),
        ("O(5^3) + 1", "is not a number"),
        ("…19_5", "is not a 5-adic expansion"),
        ("", "'' is not a number"),
        ("…?31_5", "has a '\\?' elsewhere than next to the point"),
    ],
)
def test_text_of_no_number(text, words):
    with pytest.raises(AdelicError, match=words):
        padic([1, text], 5)


SHAPES = [((2, 3), (3, 2)), ((3,), (3,)), ((3,), (3, 1)), ((2, 3), (3,)), ((4, 1, 2, 3), (2, 3, 2)), ((2, 0), (0, 2))]


@settings(max_examples=20)
@given(st.sampled_from([2, 3, 7]), st.sampled_from(SHAPES), st.data())
def test_products_of_matrices_and_sums_are_those_of_rationals(p, shapes, data):
    numbers = st.fractions(max_denominator=6, min_value=-5, max_value=5)
    a, b = (
        np.array(data.draw(st.lists(numbers, min_size=prod(s), max_size=prod(s))), dtype=object).reshape(s)
        for s in shapes
    )
    x, y = (padic(part, p, 12, fractional_digits=4) for part in (a, b))
    exact = a @ b
    for product in (x @ y, x.dot(y), x @ b, a @ y):
        assert product.shape == np.shape(exact)
        assert np.all(product == exact)
    assert x.sum() == sum(a.flat)
    for axis in range(a.ndim):
        assert np.all(x.sum(axis=axis) == a.sum(axis=axis))


def test_products_of_matrices_know_as_much_as_their_products():
    x = padic([["1 + O(5^2)", "5 + O(5^6)"], ["5^-1 + O(5^3)", "O(5^4)"]], 5)
    product = x @ x
    for i, j in np.ndindex(2, 2):
        assert product[i, j].series() == (x[i, 0] * x[0, j] + x[i, 1] * x[1, j]).series()
    big = padic(np.arange(11_025).reshape(105, 105), 7, 3)
    assert (big @ big).lift().tolist() == (big.lift() @ big.lift() % 343).tolist()  # in several parts
    with pytest.raises(SpaceError, match=r"shapes \(2, 2\) and \(3,\) do not fit together in @"):
        x @ [1, 2, 3]
    with pytest.raises(SpaceError, match="use \\*"):
        x @ 2


@settings(max_examples=50)
@given(st.integers(-60, 60), st.integers(1, 60), st.integers(0, 2))
def test_one_place_decodes_inside_its_bound(n, m, f):
    q = Fraction(n, m)
    assume(m % 7)
    scaled = q * 7**f
    x = padic(q, 7, 5, fractional_digits=f)
    fits = 2 * max(abs(scaled.numerator), scaled.denominator) ** 2 < 7**5
    try:
        assert (x.decode() == q) == fits
    except DecodingError:
        assert not fits
    assert padic(n * 50, 7, 5).decode(max_denominator=1) == n * 50  # 2 · 3000 < 7^5


def test_undefined_numbers_stay_undefined():
    x = padic([[2, 3], [4, 0], [5, 1]], 7, 4)
    roots = x.sqrt(errors="mask")
    assert roots.mask.tolist() == [[False, True], [False, False], [True, False]]
    assert (roots * roots == x).tolist() == (~roots.mask).tolist()
    assert (roots != roots).tolist() == roots.mask.tolist()  # as NaN
    for result in (roots + 1, 1 - roots, -roots, roots**2, roots * 7, roots.with_window(precision=2), roots[:, :1].T):
        shown = roots.mask[:, :1].T if result.shape == (1, 3) else roots.mask
        assert result.mask.tolist() == shown.tolist()
    assert (roots * 7 / 7 / roots[2, 1]).mask.tolist() == roots.mask.tolist()
    assert (1 / (roots[0] - 1)).mask.tolist() == [False, True]
    assert roots.lift().tolist()[0] == [2166, None]
    assert (roots[0, 1].lift() is np.ma.masked, str(roots[2, 0])) == (True, "undefined")
    assert (roots @ [1, 1]).mask.tolist() == [True, False, True]
    assert x.sqrt(where=x.is_square()).mask.tolist() == roots.mask.tolist()
    assert x.sqrt(where=[False, True], errors="mask").mask.tolist() == [[True, True], [True, False], [True, False]]
    assert roots[~roots.mask].lift().tolist() == [2166, 2, 0, 1]
    again = roots.log(errors="mask")
    assert again.mask.tolist() == [[False, True], [False, True], [True, False]]
    with pytest.raises(DomainError, match=r"…0003_7 at position \[0, 1\] has no square root"):
        x.sqrt()
    with pytest.raises(ConfigurationError, match="errors='ignore' is neither 'raise' nor 'mask'"):
        x.sqrt(errors="ignore")
    with pytest.raises(SpaceError, match=r"where of shape \(3,\) does not fit numbers of shape \(3, 2\)"):
        x.sqrt(where=[True] * 3)


def test_python_functions_of_one_number():
    assert (int(padic(-1, 5, 2)), abs(padic(50, 5)), valuation(0, 5)) == (24, Fraction(1, 25), math.inf)
    with pytest.raises(DomainError, match="is not a 5-adic integer"):
        int(padic("1/5", 5))
    with pytest.raises(TypeError, match="is not one number"):
        int(padic([1, 2], 5))


@pytest.mark.parametrize("p", [2, 3, 127, 131, 251, 10007, 65521, 2**31 - 1, 2**32 - 5, 2**32 + 15])
def test_residues_of_one_digit_are_those_of_integers(p):
    rng = np.random.default_rng(0)
    a, b = ([int(v) for v in rng.integers(0, p, 50)] + [0, 0, p - 1, p - 1, 1] for _ in range(2))
    b[-5:] = [0, p - 1, 0, p - 1, p - 1]
    x, y = padic(a, p, 1), padic(b, p, 1)
    for found, exact in (
        (x + y, [u + v for u, v in zip(a, b, strict=True)]),
        (x - y, [u - v for u, v in zip(a, b, strict=True)]),
        (x * y, [u * v for u, v in zip(a, b, strict=True)]),
        (3 * x - 7, [3 * u - 7 for u in a]),
    ):
        assert found.lift().tolist() == [v % p for v in exact]
        assert found.digits.dtype == x.digits.dtype
        assert (found.known == 1).all()
