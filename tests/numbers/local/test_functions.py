"""Functions of p-adic numbers against their definitions modulo p^N, and against PARI (tests/oracles)."""

import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adelic.errors import DomainError, PrecisionError
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
