"""Functions of p-adic numbers against their definitions modulo p^N, and against PARI (tests/oracles)."""

import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adelic.errors import ConfigurationError, DecodingError, DomainError, PrecisionError
from adelic.numbers import hensel_roots, integers, norm, padic, valuation
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.hensel import Residue, to_digits
from adelic.numbers.local import functions
from adelic.numbers.local.array import LocalField
from adelic.numbers.local.functions import TooFewDigitsError, UndefinedError
from adelic.numbers.window import Window

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "padic_functions.json").read_text())
WINDOWS = [Window((p,), (n,), f) for p, n, f in [(2, 7, 0), (2, 6, 2), (3, 4, 0), (3, 4, 1), (5, 3, 0), (7, 3, 1)]]
FUNCTIONS = (
    functions.square_root,
    functions.exponential,
    functions.logarithm,
    functions.teichmuller,
    functions.unit_part,
)


def tried(function, x, window):
    """Return what a function gives, or the error as a class."""
    digits = to_digits(x.value, window.primes[0], window.precision)[::-1]
    places = FinitePlaces(np.array([[digits]], dtype=np.uint8), np.array([[x.known]], dtype=np.int32))
    try:
        value, (known,) = function(places, window)
        return Residue(value, int(known))
    except (UndefinedError, TooFewDigitsError) as error:
        return type(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_known_digits_are_those_of_every_number_with_the_arguments_digits(window, function):
    """All arguments, cut to fewer digits: neither a digit that differs nor one that could have been known."""
    p, n = window.primes[0], window.precisions[0]
    for k in range(1, n):
        for low in range(p**k):
            found = tried(function, Residue(low, k), window)
            exact = [tried(function, Residue(low + p**k * high, n), window) for high in range(p ** (n - k))]
            values = [x for x in exact if isinstance(x, Residue)]
            if found is UndefinedError:
                assert not values
            elif found is not TooFewDigitsError:
                shared = [min(found.known, x.known) for x in values]
                assert all(x.value % p**m == found.value % p**m for x, m in zip(values, shared, strict=True))
                if low and min(x.known for x in values) > found.known:
                    assert len({x.value % p ** (found.known + 1) for x in values}) > 1


@pytest.mark.parametrize(("p", "n"), [(2, 9), (3, 5), (5, 4), (7, 3), (11, 2)])
def test_square_roots_by_trying_all(p, n):
    squares = {}
    for root in range(p**n):
        squares.setdefault(root * root % p**n, root)
    for a in range(1, p**n):
        if a % p == 0:
            continue
        x = padic(a, p, n)
        assert x.is_square() == (a in squares)
        if a in squares:
            root = x.sqrt()
            assert root * root == a
            assert int(root.known) == n - (p == 2)
            assert root.lift() % 4 == 1 if p == 2 else root.lift() % p <= (p - 1) // 2


@pytest.mark.parametrize(("p", "n"), [(2, 7), (3, 4), (5, 3)])
def test_exponentials_and_logarithms_are_inverse_homomorphisms(p, n):
    step = 4 if p == 2 else p
    arguments = padic(list(range(0, p**n, step)), p, n)
    images = arguments.exp()
    assert (images.log() == arguments).all()
    assert (images[1:] * images[1] == (arguments[1:] + arguments[1]).exp()).all()
    units = padic([a for a in range(p**n) if a % p], p, n)
    assert (units.log()[1:] + units[1].log() == (units[1:] * units[1]).log()).all()


@pytest.mark.parametrize("p", [2, 3, 5, 7, 31])
def test_teichmuller_lifts_are_the_roots_of_their_polynomial(p):
    lifts = padic(list(range(p)), p, 6).teichmuller()
    assert (lifts**p == lifts).all()
    assert [int(x) % p for x in lifts.lift()] == list(range(p))
    if p > 2:
        assert (lifts[1:] == hensel_roots([-1, *[0] * (p - 2), 1], p, 6)).all()


def test_logarithms_with_a_branch():
    x = padic(["50", "1/5", 3], 5, 8, fractional_digits=1)
    assert (x.log(p_branch=0) == padic([2, 1, 3], 5, 8, fractional_digits=1).log()).all()
    assert (x.log(p_branch=5) == x.log(p_branch=0) + padic([10, -5, 0], 5, 8, fractional_digits=1)).all()


@pytest.mark.parametrize("row", ORACLE["values"], ids=lambda row: f"{row['p']}-{row['q']}")
def test_functions_against_pari(row):
    """PARI's values to the digits that both know; ours are no fewer, but where the window ends."""
    p, f = row["p"], 6
    x = padic(row["q"], p, row["precision"] + f, fractional_digits=f)
    calls = {"sqrt": x.sqrt, "exp": x.exp, "log": lambda: x.log(p_branch=0), "teichmuller": x.teichmuller}
    for name, call in calls.items():
        expected = row[name]
        if name == "teichmuller" and (p == 2 or norm(row["q"], p) != 1):
            continue  # of the unit part in PARI, and ±1 at 2: docs/padic.md
        if expected is None:
            with pytest.raises((DomainError, PrecisionError)):
                call()
            continue
        unit, v, precision = int(expected[0]), expected[1], expected[2]
        result = call()
        known = int(result.known) - f
        shared = min(known, precision)
        difference = result.lift() - Fraction(unit) * Fraction(p) ** v
        if name == "sqrt" and difference and valuation(difference, p) < shared:
            difference = result.lift() + Fraction(unit) * Fraction(p) ** v  # the other root
        assert not difference or valuation(difference, p) >= shared
        assert known >= min(precision, row["precision"])


@pytest.mark.parametrize("row", ORACLE["roots"], ids=lambda row: f"{row['p']}-{row['coefficients']}")
def test_roots_against_pari(row):
    p, precision = row["p"], row["precision"]
    found = hensel_roots(row["coefficients"], p, precision)
    ours = [Fraction(x) for x in found.lift().tolist()]
    theirs = [Fraction(int(unit)) * Fraction(p) ** v for unit, v, _ in row["roots"]]
    assert len(ours) == len(theirs)
    for root, (_, _, known) in zip(theirs, row["roots"], strict=True):
        assert any(x == root or valuation(x - root, p) >= min(known, precision) for x in ours)


@pytest.mark.parametrize("has_flint", [True, False])
@pytest.mark.parametrize(("p", "n", "f"), [(2, 16, 1), (3, 70, 0), (7, 16, 2), (10007, 9, 0), (2**61 - 1, 5, 1)])
def test_arrays_have_the_functions_of_their_numbers(p, n, f, has_flint, monkeypatch):
    """Of 40 numbers, which NumPy computes at once, known to different numbers of digits; no library changes a digit."""
    rng = random.Random(p)
    x = padic(
        [rng.randrange(1, 10**9) ** 2 * p ** rng.choice((0, 0, 1, 2)) for _ in range(40)], p, n + f, fractional_digits=f
    )
    known = np.array([rng.randrange(1, n + f + 1) for _ in range(40)], dtype=np.int32)
    place = np.arange(n + f - 1, -1, -1)
    digits = np.where(place < known[:, None], x.digits, 0)
    x = LocalField(Window((p,), (n + f,), f)).array(FinitePlaces(digits[:, None], known[:, None]))
    if not has_flint:
        monkeypatch.setattr(integers, "long_integer", lambda: int)
    for name in ("unit", "sqrt", "exp", "log", "teichmuller", "is_square"):
        each = []
        for i in range(40):
            try:
                each.append(getattr(x[i], name)())
            except (DomainError, PrecisionError):
                each.append(None)
        chosen = [i for i, value in enumerate(each) if value is not None]
        together = getattr(x[np.array(chosen, dtype=int)], name)()
        if name == "is_square":
            assert together.tolist() == [each[i] for i in chosen]
        else:
            assert together.digits.tolist() == [each[i].digits.tolist() for i in chosen]
            assert together.known.tolist() == [int(each[i].known) for i in chosen]


@pytest.mark.parametrize("has_flint", [True, False])
@pytest.mark.parametrize(("p", "n"), [(2, 3000), (7, 1500), (10007, 300), (2**61 - 1, 40)])
def test_laws_at_thousands_of_digits(p, n, has_flint, monkeypatch):
    """A power of x^p^k for each digit took minutes; the digits are those of Python's integers."""
    if not has_flint:
        monkeypatch.setattr(integers, "long_integer", lambda: int)
    x = padic("69/19", p, n)
    assert (x * x * x).log() == 3 * x.log()
    t = padic(4 * p, p, n) / 9
    assert t.exp().log() == t
    assert (x * x).lift() == x.lift() ** 2 % p**n
    assert (x * x / x).lift() == x.lift()
    root = (x * x).sqrt()
    assert root == x or root == -x
    w = padic(3, p, n).teichmuller()
    assert w ** (p - 1) == 1 if p < 10**5 else w.lift() == pow(3, p ** (n - 1), p**n)
    assert w.lift() % p == 3 % p


def test_functions_of_no_numbers():
    empty = padic(np.zeros((0, 3), dtype=int), 5, 4)
    assert [getattr(empty, name)().shape for name in ("unit", "sqrt", "exp", "log", "teichmuller")] == [(0, 3)] * 5
    assert empty.is_square().shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: padic([1, 3], 7, 2).sqrt(), DomainError, r"…03_7 at position \[1\] has no square root in Q_7: its "
         "unit part is 3 modulo 7, which is not a square"),
        (lambda: padic(14, 7, 3).sqrt(), DomainError, "its valuation 1 is odd"),
        (lambda: padic(5, 2, 6).sqrt(), DomainError, "its unit part is 5 modulo 8, and squares are 1 modulo 8"),
        (lambda: padic(3, 2, 2).sqrt(), DomainError, "its unit part is 3 modulo 4"),
        (lambda: padic(1, 2, 2).sqrt(), PrecisionError, "three digits of the unit part tell"),
        (lambda: padic(1, 5, 3).exp(), DomainError, "…001_5 has no exponential in Q_5: its valuation is 0, and the "
         "series converges for those from 1 on"),
        (lambda: padic(2, 2, 5).exp(), DomainError, "its valuation is 1, and the series converges for those from 2 on"),
        (lambda: padic(0, 2, 1).exp(), PrecisionError, "converges for valuations from 2 on"),
        (lambda: padic(10, 5, 3).log(), DomainError, "…020_5 has no logarithm in Q_5: its valuation is 1.*p_branch=0"),
        (lambda: padic(0, 5, 3).log(), PrecisionError, "0 has no logarithm"),
        (lambda: padic(0, 5, 3).log(p_branch=0), PrecisionError, "no known unit part"),
        (lambda: padic("1/5", 5, 3, fractional_digits=1).teichmuller(), DomainError, "no residue modulo 5"),
        (lambda: padic(0, 5, 3).unit(), PrecisionError, "no known unit part"),
    ],
)  # fmt: skip
def test_errors_name_number_prime_and_reason(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("p", "n", "digits"), [(2, 2, 7), (2, 3, 6), (2, 4, 7), (3, 3, 4), (3, 6, 4), (5, 4, 3), (7, 14, 3)]
)
def test_nth_roots_by_trying_all(p, n, digits):
    modulus, powers = p**digits, {}
    units = [y for y in range(modulus) if y % p]
    for y in units:
        powers.setdefault(pow(y, n, modulus), []).append(y)
    roots = padic(units, p, digits).roots(n, errors="mask")
    assert roots.mask.all(axis=1).tolist() == roots.mask.any(axis=1).tolist() == [u not in powers for u in units]
    known = digits - valuation(n, p)
    assert (np.ma.compressed(roots.known) == known).all()
    for u, found in zip(units, roots.lift().tolist(), strict=True):
        if u in powers:
            assert sorted(found) == sorted({y % p**known for y in powers[u]})


@pytest.mark.parametrize("row", ORACLE["powers"], ids=lambda row: f"{row['p']}-{row['n']}")
def test_nth_roots_against_pari(row):
    p, n = row["p"], row["n"]
    x = padic(row["x"], p, 40, fractional_digits=1)
    roots = x.roots(n, errors="mask")
    if roots.mask.all():
        error = DomainError if row["root"] is None else PrecisionError  # 9 + O(8) is no fourth power: PARI does not ask
        with pytest.raises(error):
            x.roots(n)
    else:
        theirs = padic(row["root"], p, 40, fractional_digits=1)
        assert (roots == theirs).any()
        assert (roots.known >= theirs.known).all()
        assert (roots**n == x).all()
        if n == 2:
            assert roots[0].series() == x.sqrt().series()


def test_decoding_against_pari():
    for row in ORACLE["rationals"]:
        x = padic(row["x"], row["p"])
        q = Fraction(row["q"] or 0)
        is_at_the_bound = 2 * max(abs(q.numerator), q.denominator) ** 2 == row["p"] ** int(
            x.known
        )  # PARI's takes it in
        if row["q"] is None or is_at_the_bound:
            with pytest.raises(DecodingError, match="no rational number"):
                x.decode()
        else:
            assert x.decode() == q


@pytest.mark.parametrize("row", ORACLE["products"], ids=lambda row: str(row["p"]))
def test_products_of_matrices_against_pari(row):
    """Digits and precision, as PARI writes them."""
    a, b = (padic(row[name], row["p"], 40, fractional_digits=2).reshape(2, 2) for name in "ab")
    assert (a @ b).series().reshape(-1).tolist() == row["product"]


def test_what_has_no_nth_root_and_zero():
    assert padic(["O(5^3)", "2*5^3 + O(5^5)"], 5).roots(3).series().tolist() == [["O(5)"], ["3*5 + O(5^3)"]]
    for value, p, n, error, words in (
        (3, 7, 2, DomainError, "its unit part is 3 modulo 7, where that is no power of order 2"),
        (7, 7, 2, DomainError, "2 does not divide its valuation 1"),
        (2, 3, 3, DomainError, r"its unit part is no power of order 3 modulo 3\^2"),
        ("1 + O(3)", 3, 3, PrecisionError, "2 digits of the unit part tell"),
        (1, 2**61 - 1, 2**61 - 2, ConfigurationError, "above 10000"),
        (1, 7, 0, ConfigurationError, "n=0 must be a whole number from 1 on"),
    ):
        with pytest.raises(error, match=words):
            padic(value, p).roots(n)
