"""Which polynomials, roots and primes make the space of a number field; polynomials as text; without python-flint."""

import pickle
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from threading import Event

import flint
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import AdelicError, DecodingError, EncodingError, SpaceError
from adelic.numbers import AlgebraicSpace
from adelic.numbers.algebraic import polynomials
from adelic.numbers.algebraic import space as algebraic_space
from adelic.numbers.pari import load_pari


@pytest.mark.parametrize(
    ("polynomial", "text"),
    [
        ("x^2 - 4", r"^x\^2 - 4 is reducible: \(x - 2\)·\(x \+ 2\)"),
        ("x^4 + 4", r"is reducible: \(x\^2 - 2\*x \+ 2\)·\(x\^2 \+ 2\*x \+ 2\)"),
        ("x^2", r"has repeated roots: \(x\)\^2"),
        ("x^2 - 2x + 1", r"has repeated roots: \(x - 1\)\^2"),
        ("x^4 - 4x^2 + 4", r"has repeated roots: \(x\^2 - 2\)\^2"),
        ("2x^2 - 1", r"^2\*x\^2 - 1 is not monic with integer coefficients"),
        ("-x^2 + 2", "not monic"),
        ("x^2 - 1/2", "not monic with integer coefficients"),
        ("x - 2", "degree 1"),
        *((constant, "degree 0") for constant in ("7", "0", ())),
        ((1, 2, 0, 0), "degree 1"),
    ],
)
def test_polynomials_that_define_no_field(polynomial, text):
    with pytest.raises(SpaceError, match=text) as caught:
        AdeleSpace.over(polynomial, root=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "polynomial", ["", " ", "y^2 - 2", "x^2 = 2", "x^2 - 2)", 7, None, b"x", [[1], 2], (1, "x"), 2.5]
)
def test_what_is_no_polynomial(polynomial):
    with pytest.raises(EncodingError):
        AdeleSpace.over(polynomial, root=1)


@pytest.mark.parametrize("polynomial", [(-2, 0, 0, 1), [-2, 0, Fraction(0), "1", 0], "x**3-2"])
def test_coefficients_and_text_give_the_same_space(polynomial):
    assert {AdeleSpace.over(polynomial, root=1.2599)} == {AdeleSpace.over("x^3 - 2", root=1.26)}


@pytest.mark.parametrize(
    ("polynomial", "root"),
    [
        ("x^2 - 2", 2**0.5),
        ("x^2 + 2x - 7", -1 + 8**0.5),
        ("x^3 - 2", 2 ** (1 / 3)),
        ("x^2 + 1", 1j),
        ("x^4 + x^3 + x^2 + x + 1", np.exp(2j * np.pi / 5)),
        ("x^4 - 10x^2 + 1", 2**0.5 + 3**0.5),
    ],
)
def test_the_default_root(polynomial, root):
    """The greatest real one; if none is real, of those above the real line the rightmost."""
    space = AlgebraicSpace(polynomial, n_primes=1)
    assert space.root == pytest.approx(root)
    assert (space.root.imag == 0) == (np.imag(root) == 0)
    assert space == AlgebraicSpace(polynomial, n_primes=1, root=root)


def test_polynomials_and_numbers_of_pari():
    pari = load_pari()
    space = AlgebraicSpace(pari("y^2 - 2"), n_primes=2)
    assert space == AlgebraicSpace("x^2 - 2", n_primes=2)
    given = [pari("Mod(y/3 + 1, y^2 - 2)"), pari("x/3 + 1"), pari("4/3"), pari("5")]
    assert (space.encode(given) == ["1 + x/3", "1 + x/3", "4/3", 5]).all()
    with pytest.raises(EncodingError):
        space.encode(pari("[1, 2]"))


def test_polynomials_and_numbers_of_other_systems():
    x = sympy.Symbol("t")
    space = AlgebraicSpace(x**2 - 2, n_primes=2)
    assert space == AlgebraicSpace(flint.fmpz_poly([-2, 0, 1]), n_primes=2) == AlgebraicSpace("x^2 - 2", n_primes=2)
    given = [1 + x / 3, flint.fmpq_poly([1, flint.fmpq(1, 3)]), "1 + x/3"]
    assert (space.encode(given) == "1 + x/3").all()
    assert space.encode(sympy.Rational(7, 3)).decode(sympy.Rational) == (sympy.Rational(7, 3), 0)
    assert type(space.encode("x").decode(flint.fmpq)[1]) is flint.fmpq
    with pytest.raises(EncodingError):  # no polynomial in a symbol, and √3 is not θ
        space.encode(sympy.sqrt(3))
    with pytest.raises(EncodingError, match="not a polynomial"):
        AlgebraicSpace(x * sympy.Symbol("y") - 1)


@pytest.mark.parametrize(
    ("polynomial", "root", "text"),
    [
        ("x^2 - 2", 3.0, r"no root near root=3.0; its roots: -1.41421, 1.41421"),
        ("x^2 - 2", 1.4j, "no root near"),
        ("x^2 + 1", 1.0, "no root near"),
        ("x^2 - 2", 0, "no root near"),
        ("x^4 - 10x^2 + 1", 0.0, "no root near root=0.0; its roots: -3.14626, -0.317837, 0.317837, 3.14626"),
        ("x^2 - 2000001x + 1000001000001", 1000000.5, "does not determine a root"),
        ("x^2 - 100x + 2501", 50, "does not determine a root of .*; its roots: 50-1j, 50\\+1j"),
        *(("x^2 - 2", bad, "is not a finite number") for bad in (np.nan, np.inf, 10**400, "1.4", True)),
    ],
)
def test_roots_that_are_none_or_two(polynomial, root, text):
    with pytest.raises(SpaceError, match=text) as caught:
        AdeleSpace.over(polynomial, root=root)
    assert "\n" not in str(caught.value)


def test_a_space_is_built_by_its_class():
    space = AlgebraicSpace("x^2 - 2", root=1.414, n_primes=3, precision=8, fractional_digits=1)
    assert (space.polynomial, space.primes) == ((-2, 0, 1), (7, 17, 23))
    assert [(r * r - 2) % p**8 for r, p in zip(space.roots, space.primes, strict=True)] == [0, 0, 0]
    assert AdeleSpace.over("x^2 - 2", root=1.4, primes=[31, 7]).encode("x").digits[:, -1].tolist() == [8, 3]
    longer = replace(space, precision=20)
    assert longer.roots == AlgebraicSpace("x^2 - 2", root=1.414, primes=space.primes, precision=20).roots
    twins = (eval(repr(space)), pickle.loads(pickle.dumps(space)), replace(longer, precision=8))
    assert {*twins} == {space} != {longer}


def test_the_root_is_refined():
    assert AdeleSpace.over("x^2 - 2", root=1.4).root == 2**0.5
    assert AdeleSpace.over("x^2 - 2", root=Fraction(-7, 5)).root == -(2**0.5)
    assert AdeleSpace.over("x^2 + 1", root=-0.99j).root == -1j
    assert AdeleSpace.over("x^2 + 1", root=1j).n_rows == 2
    assert AdeleSpace.over("x^3 - 2", root=1.26).n_rows == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"primes": (7, 9)}, "9 is not a prime"),
        *(({"n_primes": bad}, f"n_primes={bad} must be a whole number from 1 on") for bad in (0, 2.5, True)),
        ({"primes": (7,), "n_primes": 3}, "n_primes=3 is how many primes are found if primes=… are left out"),
        ({"precision": 0}, "leaves no digit"),
        ({"fractional_digits": 16}, "does not fit"),
    ],
)
def test_options_that_will_not_do(options, text):
    with pytest.raises(SpaceError, match=text):
        AdeleSpace.over(**{"polynomial": "x^2 - 2", "root": 1.4} | options)


def test_too_few_splitting_primes(monkeypatch):
    monkeypatch.setattr(algebraic_space, "PRIME_BOUND", 50)
    with pytest.raises(SpaceError, match=r"^x\^2 - 2 splits at 6 primes below 50, fewer than n_primes=7"):
        AdeleSpace.over("x^2 - 2", root=1.4)
    monkeypatch.setattr(algebraic_space, "PRIME_BOUND", 7)
    with pytest.raises(SpaceError, match="splits at no primes below 7"):
        AdeleSpace.over("x^2 - 2", root=1.4, n_primes=1)


def test_without_python_flint():
    """In a fresh process where the import fails: one clear line, and the rationals work."""
    program = (
        "import sys; sys.modules['flint'] = None\n"
        "import adelic\n"
        "assert adelic.AdeleSpace().encode('7/19').decode() * 19 == 7\n"
        "try:\n    adelic.AdeleSpace.over('x^2 - 2', root=1.4)\n"
        "except adelic.AdelicError as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "MissingExtraError AlgebraicSpace needs flint, which is not installed: pip install 'adelic[flint]'"
    )


COEFFICIENTS = st.lists(st.fractions(), max_size=6).map(lambda c: (*c, Fraction(1)))


@given(COEFFICIENTS)
def test_text_is_read_back(coefficients):
    text = polynomials.to_text(coefficients)
    if "digits)" not in text:  # numbers too long to be shown are shortened
        assert polynomials.parse(text) == coefficients
        assert polynomials.parse(text.replace("*", "").replace(" ", "").replace("^", "**")) == coefficients


@given(st.text(alphabet="x0123456789+-*/^. ", max_size=12))
def test_any_text_is_read_or_refused(text):
    try:
        coefficients = polynomials.parse(text)
    except AdelicError:
        return
    x = Fraction(3, 7)
    expression = "".join(text.split()).replace("^", "**")
    for digit in "0123456789.":
        expression = expression.replace(f"{digit}x", f"{digit}*x")
    decimals = re.sub(r"(\*\*)?(\d+(\.\d+)?)", lambda m: f"**{int(m[2])}" if m[1] else f"F('{m[2]}')", expression)
    value = sum((c * x**i for i, c in enumerate(coefficients)), Fraction(0))
    assert value == eval(decimals, {"F": Fraction, "x": x})


@given(
    st.lists(st.fractions(max_denominator=100), max_size=12),
    st.sampled_from([(-2, 0, 1), (1, 0, -10, 0, 1), (5, -1, 3, 1)]),
)
def test_reduction_keeps_the_value_at_the_root(coefficients, f):
    numerators, denominator = polynomials.reduce(coefficients, f)
    assert len(numerators) == len(f) - 1
    p = next(
        p for p in (10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079, 10091) if polynomials.roots_modulo(f, p)
    )
    r = min(polynomials.roots_modulo(f, p))
    value = sum(c.numerator * pow(c.denominator, -1, p) * r**i for i, c in enumerate(coefficients))
    assert (value * denominator - polynomials.evaluate(numerators, r, p)) % p == 0


@given(st.integers(1, 60))
def test_lifting_goes_digit_by_digit_as_in_the_paper(precision):
    f, p, r = (-2, 0, 0, 1), 31, 4
    for k in range(1, precision):  # one digit a step: c = −f(r)/p^k · f'(r)^(-1) modulo p
        r += -((r**3 - 2) // p**k) * pow(3 * r * r, -1, p) % p * p**k
    assert polynomials.hensel_root(f, 4, p, precision) == r
    assert (r**3 - 2) % p**precision == 0


class TestFromDigits:
    FIELDS = (("x^2 - 2", 1.414), ("x^2 + 1", 1j), ("x^3 - 2", 1.26), ("x^2 + x + 1", -0.5 + 0.866j))

    @pytest.mark.parametrize(("polynomial", "root"), FIELDS)
    @pytest.mark.parametrize("fractional_digits", [0, 2])
    def test_round_trips(self, polynomial, root, fractional_digits):
        space = AdeleSpace.over(polynomial, root=root, fractional_digits=fractional_digits)
        rng = random.Random(1)
        for _ in range(20):
            m = rng.choice([1, 3, 10**6 + 3])
            size = 10 ** rng.randrange(1, 8)
            element = tuple(Fraction(rng.randint(-size, size), m) for _ in range(space.degree))
            a = space.encode(element)
            images = a.complex if space.n_rows == 2 else a.real
            assert space.from_digits(a.digits, images).decode() == element
            assert space.from_digits(a.digits, None).decode() == element
            with pytest.raises(DecodingError):
                space.from_digits(a.digits, images + 1).decode()
        many = space.encode([[1, "x"], ["1 - x", 0]])
        again = space.from_digits(many.digits, many.complex if space.n_rows == 2 else many.real)
        assert (again.decode() == many.decode()).all()

    def test_bounds(self):
        """Two thirds of the room are kept for denominators, also where there are none."""
        space = AdeleSpace.over("x^2 - 2", root=1.414)
        a = space.encode((10**70, 10**70 + 1))
        with pytest.raises(DecodingError):
            space.from_digits(a.digits, a.real).decode()
        small = AdeleSpace.over("x^2 - 2", root=1.414, primes=(7,), precision=1)
        with pytest.raises(EncodingError, match=r"^1 digits at 1 primes leave no room for a number"):
            small.from_digits([[1]], 1.0)

    def test_nothing_but_what_has_the_digits(self):
        space = AdeleSpace.over("x^2 - 2", root=1.414, n_primes=2, precision=4)
        rng = np.random.default_rng(0)
        found = 0
        for _ in range(300):
            digits = np.stack([rng.integers(0, p, 4) for p in space.primes])
            try:
                element = space.from_digits(digits, None).decode()
            except DecodingError:
                continue
            found += 1
            np.testing.assert_array_equal(space.encode(element).digits, digits)
        assert found

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"value": 1j}, "imaginary parts"),
            ({"value": [1.0]}, "digits have shape"),
            ({"value": "1"}, "integers or floats"),
            ({"value": None, "radius": 1.0}, "without one, leave it out"),
        ],
    )
    def test_bad_input(self, arguments, message):
        space = AdeleSpace.over("x^2 - 2", root=1.414)
        with pytest.raises(EncodingError, match=message):
            space.from_digits(space.encode(1).digits, **{"value": 1.0, **arguments})


def test_threads_leave_the_precision_of_flint_as_it_was():
    """It belongs to the process: the second to enter must not note the first one's precision as what to go back to."""
    flint = polynomials.load_flint()
    before = flint.ctx.prec
    first_is_in, second_is_in, first_is_out = Event(), Event(), Event()

    def first():
        with polynomials.working_precision(100):
            first_is_in.set()
            second_is_in.wait(0.3)  # in vain, while this one is inside
        first_is_out.set()

    def second():
        first_is_in.wait()
        with polynomials.working_precision(200):
            second_is_in.set()
            first_is_out.wait()
            assert flint.ctx.prec == 200

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result(timeout=600)
    assert flint.ctx.prec == before


def test_spaces_in_threads():
    def work(k):
        polynomials.complex_roots.cache_clear()
        space = AdeleSpace.over("x^2 - 2", root=1.414, n_primes=2, precision=4 + k % 5)
        return space.encode([(k, 1), (1, 10**k)]).decode().tolist()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, [k % 3 for k in range(100)]))
    assert all(row == [(k % 3, 1), (1, 10 ** (k % 3))] for k, row in enumerate(found))


def test_long_polynomials_and_much_white_space():
    with pytest.raises(SpaceError, match=r"\+ … ") as caught:
        AdeleSpace.over([2] * 900, root=1.0)
    assert len(str(caught.value)) < 400
    space = AdeleSpace.over("x^2 - 2" + " " * 10**5, root=1.414)
    assert space.encode(" " * 10**5 + "1 +" + " " * 10**5 + "x").decode() == (1, 1)
    with pytest.raises(EncodingError, match="is not a polynomial in x"):
        space.encode("1 + x" + " " * 10**5 + "y")
