"""Long integers: the same digits by python-flint, gmpy2 and Python's own integers, and by the definitions."""

import math
from decimal import Decimal
from fractions import Fraction
from math import gcd

import numpy as np
import pytest

from adelic import AdeleSpace
from adelic.data import from_table
from adelic.numbers import hensel, integers, rationals


def available():
    """Return the integer types that are installed here."""
    types = [pytest.param(int, id="int")]
    for module, name in (("flint", "fmpz"), ("gmpy2", "mpz")):
        try:
            types.append(pytest.param(getattr(__import__(module), name), id=name))
        except ImportError:
            types.append(pytest.param(None, id=name, marks=pytest.mark.skip(reason=f"{module} is not installed")))
    return types


@pytest.fixture(params=available())
def integer(request, monkeypatch):
    monkeypatch.setattr(integers, "long_integer", lambda: request.param)
    return request.param


LENGTHS = [0, 1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 1000, 4096, 5001]
RNG = np.random.default_rng(0)


def random_digits(length, p):
    return RNG.integers(0, p, length).tolist()


@pytest.mark.parametrize("p", [2, 3, 251, 65537])
def test_digits_and_back(integer, p):
    for length in LENGTHS:
        digits = random_digits(length, p)
        value = sum(digit * p**k for k, digit in enumerate(digits))
        found = integers.from_digits(digits, p)
        assert type(found) is int
        assert found == value
        assert integers.to_digits(value, p, length) == digits
        assert integers.to_digits(value, p, length + 70) == digits + [0] * 70
        assert integers.to_digits(value, p, length // 2) == digits[: length // 2]


def test_text_and_back(integer):
    for length in [*LENGTHS[1:], 10**4]:
        text = "9" + "".join(map(str, random_digits(length - 1, 10)))
        n = integers.parse(text)
        assert type(n) is int
        assert n == sum(int(digit) * 10**k for k, digit in enumerate(reversed(text)))
        assert (integers.text(n), integers.text(-n)) == (text, "-" + text)
        assert integers.text(10**length) == "1" + "0" * length
    assert integers.text(0) == "0"


def test_no_quadratic_divisor(monkeypatch):
    """Of a long fraction read and encoded, Python's own divisor and quotients see the short numbers alone."""
    pytest.importorskip("flint")
    divisor = gcd

    def short_gcd(*numbers):
        assert max(map(abs, numbers)) < 10**4000
        return divisor(*numbers)

    text = "0." + "123456789" * 500
    q = Fraction(Decimal(text))
    monkeypatch.setattr(math, "gcd", short_gcd)
    assert rationals.read([text, 1]).fraction(0) == q
    assert AdeleSpace((3, 7), 4).encode([text, f"1/{3 * 10**4000 + 1}"]).shape == (2,)
    table = from_table({"x": [text, *map(str, range(20))], "y": [0, 1, 0] * 7}, target="y")
    assert q in table.vocabulary


@pytest.mark.parametrize("p", [2, 3, 17])
def test_quotients(integer, p):
    for precision in (1, 2, 3, 257, 300, 1000):
        for n, m in [(7, 5), (-7, 5 * 23**400), (10**2000 + 1, 1), (0, 19), (-1, 19**300)]:
            found = integers.divide_modulo(n, m, p, precision)
            assert type(found) is int
            assert 0 <= found < p**precision
            assert (found * m - n) % p**precision == 0


def test_common_divisors(integer):
    for a, b in [(0, 5), (-12, 18), (7**900 * 3, -(7**800) * 9), (10**3000, 6**1000), (0, 10**900), (3**999, 2**999)]:
        found = integers.greatest_common_divisor(a, b)
        assert type(found) is int
        assert found == gcd(a, b)


def test_encoding_in_a_long_window(integer):
    """Precision beyond what the plain loops take: the digits of Hensel lifting."""
    space = AdeleSpace((2, 5, 19), precision=700, fractional_digits=2)
    for q in (Fraction(7, 5), Fraction(-(10**900) - 7, 23**100), Fraction(3, 50), Fraction(-1, 361)):
        array = space.encode(q)
        for j, p in enumerate(space.primes):
            assert array.digits[j, ::-1].tolist() == hensel.window_digits(q.numerator, q.denominator, p, 700, 2)
        assert array.decode() == q


def test_reading_long_fractions(integer):
    n, m = 3**7000 * 7**100, -(7**200) * 11**2000
    read = rationals.read((n, m))
    assert (int(read.numerators[0]), int(read.denominators[0])) == Fraction(n, m).as_integer_ratio()
    assert rationals.read("1" + "0" * 5000 + "/" + "2" * 5000).fraction(0) == Fraction(10**5000, 2 * (10**5000 // 9))
