"""Extensions of Q_p against exact arithmetic in Q[x]/f, by PARI (tests/oracles) and by FLINT, and by their laws."""

import json
import operator
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adelic import AdeleSpace
from adelic.errors import AdelicError, DivisionByZeroError, DomainError, PrecisionError, SpaceError
from adelic.numbers import extension, padic, valuation

flint = pytest.importorskip("flint")
ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "extensions.json").read_text())["rows"]
FIELDS = sorted({(row["p"], row["f"]) for row in ORACLE if row["p"] < 43})
# Two primes over p, ramified or not; one prime, where the polynomial is no Eisenstein one, or 2 divides the index.
PRODUCTS = [
    (5, "x^4 - 4*x^2 + 29"),
    (3, "x^4 + 1"),
    (2, "x^4 + 1"),
    (2, "x^2 - 5"),
    (3, "x^2 - 27"),
    (2, "x^4 - 2*x^2 + 9"),
]


def a_field(p, f, precision):
    """Return Q_p[x]/f, by `extension`, or as the space of a number field has it."""
    if (p, f) in FIELDS:
        return extension(p, f, precision)
    return AdeleSpace.over(f, primes=(p,), precision=precision).encode(0).at(p).space


@pytest.mark.parametrize(("p", "f"), sorted({(row["p"], row["f"]) for row in ORACLE}))
def test_arithmetic_is_that_of_pari(p, f):
    rows = [row for row in ORACLE if (row["p"], row["f"]) == (p, f)]
    field = extension(p, f, precision=40 if p < 50 else 8, fractional_digits=3)
    a, b, product, quotient = (
        field.from_coefficients([[Fraction(c) for c in row[name]] for row in rows])
        for name in ("a", "b", "product", "quotient")
    )
    assert (a * b == product).all()
    assert (a / b == quotient).all()
    assert (a.norm() == [row["norm"] for row in rows]).all()
    assert (a.trace() == [row["trace"] for row in rows]).all()
    assert (a.decode() == np.array([[Fraction(c) for c in row["a"]] for row in rows], dtype=object)).all()
    assert ((a + b) * (a - b) == a**2 - b**2).all()
    assert (a.reshape(4, 3)[1:, :1] * b.reshape(4, 3)[1] == a.reshape(4, 3)[1:, :1] * b[3:6]).all()


def exact(f, a, b):
    """Return product, quotient and norm of rational numbers of Q[x]/f."""
    x, y = (flint.fmpq_poly([flint.fmpq(c.numerator, c.denominator) for c in z]) for z in (a, b))
    _, inverse, _ = y.xgcd(f)
    parts = [(x * y) % f, (x * inverse) % f]
    n = f.degree()
    rows = flint.fmpq_mat(n, n, [((flint.fmpq_poly([0] * j + [1]) * x) % f)[i] for j in range(n) for i in range(n)])
    rationals = [[Fraction(int(c.p), int(c.q)) for c in (z[i] for i in range(n))] for z in parts]
    return *rationals, Fraction(int(rows.det().p), int(rows.det().q))


@pytest.mark.parametrize(("p", "f"), [*FIELDS, *PRODUCTS])
def test_known_digits_are_those_of_every_number_with_the_operands_digits(p, f):
    rng = random.Random(p)
    field = a_field(p, f, 8)
    g = flint.fmpq_poly([int(c) for c in field.polynomial])
    for _ in range(12):
        known = [[rng.randint(1, 6) for _ in range(field.degree)] for _ in range(2)]
        numbers = [[rng.randint(-400, 400) * p ** rng.randint(0, 2) for _ in range(field.degree)] for _ in range(2)]
        a, b = (
            field.from_coefficients(padic([f"{c} + O({p}^{k})" for c, k in zip(*pair, strict=True)], p, 8))
            for pair in zip(numbers, known, strict=True)
        )
        results = [(a * b).coefficients]
        try:
            results.append((a / b).coefficients)
        except (DivisionByZeroError, PrecisionError):
            norm = b.norm()
            assert norm.valuation() >= 1
        for _ in range(4):
            x, y = (
                [Fraction(c + p**k * rng.randint(-(p**3), p**3)) for c, k in zip(*pair, strict=True)]
                for pair in zip(numbers, known, strict=True)
            )
            if not any(y):
                continue
            product, quotient, norm = exact(g, x, y)
            for found, true in zip(results, (product, quotient), strict=False):
                assert agree(found, true, p)
            assert agree(a.norm().reshape(1), [norm], p)


def agree(found, true, p):
    """Whether all digits that are claimed of coefficients are those of rational ones."""
    values, known = found.integers()
    scale = p**found.fractional_digits
    differences = [Fraction(int(v), scale) - q for v, q in zip(values, true, strict=True)]
    bounds = (known - found.fractional_digits).tolist()
    return all(valuation(d, p) >= k for d, k in zip(differences, bounds, strict=True))


@pytest.mark.parametrize(("p", "degree"), [(2, 2), (2, 5), (3, 3), (7, 2), (10007, 2), (2**89 - 1, 2)])
def test_frobenius_is_an_automorphism(p, degree):
    rng = random.Random(degree)
    field = extension(p, degree, precision=6)
    a, b = (field.from_coefficients([[rng.randrange(p) for _ in range(degree)] for _ in range(4)]) for _ in range(2))
    assert ((a * b).frobenius() == a.frobenius() * b.frobenius()).all()
    assert ((a.frobenius() - a**p).valuation() > 0).all()
    assert (a.frobenius(degree) == a).all()
    assert (a.frobenius() == a.frobenius(1 - degree)).all()
    conjugates = [a.frobenius(i) for i in range(degree)]
    for found, operation in ((a.norm(), operator.mul), (a.trace(), operator.add)):
        total = conjugates[0]
        for c in conjugates[1:]:
            total = operation(total, c)
        assert (total == found).all()
    assert (field.encode(3).frobenius() == 3) is True


@pytest.mark.parametrize(("p", "f"), [*FIELDS, *PRODUCTS])
def test_number_fields_at_primes_where_they_have_no_root(p, f):
    """Next to a prime where there is one, so that errors and places stay apart."""
    space = AdeleSpace.over(f, primes=(p, 10**9 + 7, 13), precision=40)
    rng = random.Random(p)
    values = [[tuple(rng.randint(-9, 9) for _ in range(space.degree)) for _ in range(5)] for _ in range(2)]
    (a, b), (x, y) = map(space.encode, values), (space.encode(z).at(p) for z in values)
    assert (x.coefficients == np.array(values[0])).all()
    for found, exact in ((x + y, a + b), (x * y, a * b), (x - 3 * y, a - 3 * b), (x * y + x**3, a * b + a**3)):
        assert found.decode().tolist() == [list(number) for number in exact.decode().tolist()]
        assert (exact.at(p) == found).all()
    wide = a.with_window(precision=80, fractional_digits=20)
    assert ((1 / wide) * wide == 1).all()
    assert ((1 / wide) ** 2 == wide**-2).all()
    assert (wide / wide[0] * wide[0]).decode().tolist() == values[0]
    with pytest.raises(SpaceError, match=rf"no simple root modulo {p}, .* at\({p}\) has the numbers"):
        a.valuation()
    with pytest.raises(SpaceError, match=rf"its primes are \({p}, 1000000007, 13\)"):
        a.at(17)
    with pytest.raises(
        PrecisionError, match=rf"the number .* has a coefficient of {p}-adic valuation −1, .*fractional_digits=1"
    ):
        a.space.encode("1 + x") / p
    with pytest.raises(PrecisionError, match=rf"^the power .* at position \[1\] has {p}-adic digits below the window"):
        wide.space.encode([1, Fraction(1, p)]) ** 10**30
    assert (wide.space.encode(Fraction(1, p)) ** 20).decode()[0] == Fraction(1, p**20)
    with pytest.raises(PrecisionError, match=rf"^the quotient .* at position \[1\] has no known {p}-adic digit"):
        a[:2] / a.space.encode([1, p**40])


def test_operands_of_other_kinds():
    field = extension(5, "x^2 - 5", precision=6)
    x = field.from_coefficients([[1, 2], [5, 0]])
    assert (x + 1 == field.from_coefficients([[2, 2], [6, 0]])).all()
    assert (1 - x == -(x - 1)).all()
    assert (x * Fraction(1, 3) == x / 3).all()
    assert (x * padic(2, 5, 6) == x + x).all()
    assert (x + padic([1, 2], 5, 6) == x + np.array([1, 2])).all()
    assert (1 / x * x == 1).all()
    assert (x**-2 * x**2 == x**0).all()
    assert (x / x[1]).valuation().tolist() == [-2, 0]
    assert (5 / x[1]).coefficients.known.min() > 2
    assert x.with_window(precision=3).coefficients.precision == 3
    assert [str(y) for y in x] == str(x).splitlines()
    assert "Q_5[x]/(x^2 - 5)" in repr(x)
    assert field.from_coefficients(np.zeros((0, 2), np.int64)).norm().shape == (0,)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: extension(7, "x^2 - 2"), SpaceError, r"\(x \+ 3\)·\(x \+ 4\), nor an Eisenstein"),
        (lambda: extension(7, "x^2 - 49"), SpaceError, "Eisenstein"),
        (
            lambda: extension(2, "x^2 + 1"),
            SpaceError,
            r"Eisenstein polynomial; with x \+ 1 for x it is one, x\^2 \+ 2\*x \+ 2$",
        ),
        (lambda: extension(2, "x^2 - 5"), SpaceError, "Eisenstein polynomial$"),
        (lambda: extension(7, "2x^2 - 7"), SpaceError, "not monic"),
        (lambda: extension(7, 1), SpaceError, "degree=1"),
        (lambda: extension(7, "x^2 - 7").from_coefficients([1, 2, 3]), SpaceError, "3 coefficients"),
        (lambda: extension(7, "x^2 - 7").from_coefficients(padic([1], 5)), SpaceError, "Q_5"),
        (lambda: extension(7, "x^2 - 7").encode(1).frobenius(), DomainError, "no Frobenius"),
        (lambda: extension(7, 2).encode(1).frobenius(0.5), SpaceError, "times must be an integer, not 0.5"),
        (lambda: 1 / extension(7, "x^2 - 7").encode([1, 0]), DivisionByZeroError, r"position \[1\]"),
        (lambda: extension(7, 2).encode(1) * extension(7, "x^2 - 7").encode(1), SpaceError, "do not mix"),
        (lambda: extension(7, 2).encode([1, 2]) * extension(7, 2).encode([1, 2, 3]), SpaceError, "do not fit"),
        (lambda: extension(7, 2).from_coefficients(padic([3, 2], 7).sqrt(errors="mask")), DomainError, "undefined"),
        (lambda: extension(7, 2).encode("1/7"), PrecisionError, "fractional_digits=1"),
    ],
)
def test_errors_name_the_value(call, error, text):
    assert issubclass(error, AdelicError)
    with pytest.raises(error, match=text):
        call()
