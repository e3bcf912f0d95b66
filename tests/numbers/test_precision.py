"""What is known of a result: all that its operands determine, as in PARI, and no digit more; in any window."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import AdelicError, DecodingError, PrecisionError, SpaceError
from adelic.numbers import AlgebraicSpace, hensel_roots, padic
from adelic.numbers.choice import fitting_space

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "padic_arithmetic.json").read_text())
WIDE = 60  # digits on either side of the point, beyond what any result of the oracle has
EXACT = ["x+e", "e-x", "x*e", "x/e", "e/x", "x^k"]


def operate(name, x, y, e, k):
    return eval(name.replace("^", "**"), {"x": x, "y": y, "e": e, "k": k})


def known_to(q, p, precision):
    """Return q + O(p^precision) in a wide window."""
    return (
        padic(q * p**9, p, precision + 9, fractional_digits=0).with_window(precision=2 * WIDE, fractional_digits=WIDE)
        / p**9
    )


@pytest.mark.parametrize("p", sorted({row["p"] for row in ORACLE["rows"]}))
def test_precision_is_that_of_pari(p):
    for row in ORACLE["rows"]:
        if row["p"] != p:
            continue
        x, y = (known_to(Fraction(row[name]), p, row[f"{name}_precision"]) for name in "xy")
        for name, expected in zip(ORACLE["meta"]["operations"], row["results"], strict=True):
            try:
                z = operate(name, x, y, Fraction(row["e"]), row["k"])
            except AdelicError:
                assert expected is None, (name, row)
                continue
            unit, v, precision = expected
            assert int(z.known) - WIDE == precision, (name, row)
            assert z.lift() == Fraction(int(unit)) * Fraction(p) ** v


@settings(max_examples=20)
@given(
    st.sampled_from(EXACT),
    st.sampled_from([2, 2, 3, 5]),
    st.integers(1, 6),
    st.integers(0, 3),
    st.integers(0, 3),
    st.tuples(st.integers(-99, 99), st.integers(1, 20)),
    st.tuples(st.integers(-30, 30).filter(bool), st.integers(1, 20)),
    st.integers(-4, 9),
    st.integers(-9, 9),
    st.sampled_from([1, 40]),
)
def test_no_digit_is_claimed_that_is_not_known(name, p, n, f, more, x, e, k, t, size):
    """Every number with the digits of x gives a result with the digits that are shown, by the kernels too."""
    try:
        a = padic(Fraction(*x), p, n + f, fractional_digits=f)
        a = a.with_window(precision=n + f + 2 * more, fractional_digits=f + more).reshape(1)[[0] * size]
    except PrecisionError:
        assume(False)
    other, e = Fraction(*x) + t * p**n, Fraction(*e)
    try:
        found, same = operate(name, a, None, e, k), operate(name, other, None, e, k)
    except (AdelicError, ZeroDivisionError):
        return
    assert (found == same).all()
    assert (found.digits == found[0].digits).all()


@pytest.mark.parametrize("size", [1, 60])
def test_exact_operands_cost_no_digit(size):
    space = AdeleSpace((3,), 6, 3)
    a = space.encode(["20/27"] * size)
    for b, q in ((a * 1, "20/27"), (2 * a, "40/27"), (a / 5, "4/27"), (a * "3/4", "5/9"), (a * 9, "20/3")):
        assert (b.known == 6).all()
        assert (b.decode() == Fraction(q)).all()
    assert (1 / a).known.tolist() == [[6]] * size
    assert ((a - a) * 0).decode().tolist() == [0] * size
    each = a * [Fraction(k, 2 + k % 2) for k in range(3, 3 * size + 3, 3)]  # denominators 3 and 2
    assert (each == [Fraction(20 * k, 27 * (2 + k % 2)) for k in range(3, 3 * size + 3, 3)]).all()
    with pytest.raises(PrecisionError, match=r"product 0\.246914.*−4.*fractional_digits=4 would hold it: with"):
        a * "1/3"
    with pytest.raises(PrecisionError, match=rf"1/\d+ at position \[{size - 1}\] has 3-adic valuation −80, below"):
        a * [*range(1, size), Fraction(1, 3**80)]
    with pytest.raises(PrecisionError, match=r"the product .*3-adic valuation −23"):
        a * Fraction(1, 3**20)
    far = a / Fraction(1, 3**20)
    assert (far.known == 6).all()
    assert not far.digits.any()
    assert (0 / a).known.tolist() == (0 / (27 * a)).known.tolist() == [[6]] * size
    with pytest.raises(PrecisionError, match="3-adic valuation −53"):
        a / 3**50


def test_exact_algebraic_numbers_cost_no_digit_either():
    space = AlgebraicSpace("x^2 - 2", primes=(7, 17), precision=8, fractional_digits=2)
    a = space.encode(["1 + x/7", "x/49"])
    for b in (a * 1, a * "1 + 3*x", a / (1, 3)):
        assert b.known.tolist() == [[8, 8]] * 2
    assert (a * "1 + 3*x" / "1 + 3*x" == ["1 + x/7", "x/49"]).all()


def test_powers_know_what_their_exponent_adds():
    third = padic("1/3", 3, 4, fractional_digits=1)
    assert (third.with_window(fractional_digits=3) ** 3).series() == "3^-3 + O(3^2)"
    assert (padic(17, 2, 10).sqrt() ** 2).series() == "1 + 2^4 + O(2^10)"
    three = AdeleSpace((2, 5), 9).encode([12] * 40) / 4
    assert (three**10).known.tolist() == [[8, 9]] * 40
    with pytest.raises(PrecisionError, match=r"the power 0\.0277778 at position \[1\] .* −2.*digits=2 would"):
        AdeleSpace((2, 3), 4, 1).encode([1, "1/6"]) ** 2
    with pytest.raises(PrecisionError, match=f"valuation −{10**30}, below"):
        padic("1/3", 3) ** 10**30
    assert padic(3, 3) ** 10**30 == 0


def test_binomial_coefficients_at_a_prime():
    """PARI: binomial(10 + O(2^8), 4) is 2 + 2^4 + O(2^6), x·(x − 1)·(x − 2)·(x − 3) modulo 2^9 over 24."""
    x = padic(10, 2, 8).with_window(precision=12)
    assert (x * (x - 1) * (x - 2) * (x - 3) / 24).series() == "2 + 2^4 + O(2^6)"


class TestWindows:
    def test_what_is_known_stays(self):
        x = padic([7, "1/3"], 5, 4)
        wide = x.with_window(precision=9, fractional_digits=2)
        assert (wide.precision, wide.fractional_digits, wide.known.tolist()) == (9, 2, [6, 6])
        assert (wide == [7, "1/3"]).all()
        assert wide.with_window(precision=4, fractional_digits=0).digits.tolist() == x.digits.tolist()
        assert x.with_window(precision=2).series().tolist() == ["2 + 5 + O(5^2)", "2 + 3*5 + O(5^2)"]
        assert x.with_window(fractional_digits=1).precision == 5
        assert x.with_window() is x

    def test_below_the_window(self):
        x = padic(["1/5", "7/25", 5], 5, 6)
        with pytest.raises(PrecisionError, match=r"number at position \[1\] .* −2, .* fractional_digits=2 would"):
            x.with_window(fractional_digits=1)
        assert x[[0, 2]].with_window(fractional_digits=1).known.tolist() == [5, 5]
        with pytest.raises(PrecisionError, match="has no known 5-adic digit"):
            (padic(0, 5, 2).with_window(fractional_digits=3) / 5**3).with_window(fractional_digits=0)
        for window in ({"precision": 0}, {"fractional_digits": 4, "precision": 4}, {"fractional_digits": 0.5}):
            with pytest.raises(SpaceError):
                x.with_window(**window)

    @pytest.mark.parametrize("size", [1, 60])
    def test_adeles(self, size):
        space = AdeleSpace((2, 3, 5), {2: 6, 3: 4, 5: 5}, 1)
        a = space.encode(["7/2"] * size)
        wide = a.with_window(fractional_digits=2, precision=9)
        assert wide.space == AdeleSpace((2, 3, 5), 9, 2)
        assert wide.known[0].tolist() == [7, 5, 6]
        assert (wide.decode() == Fraction(7, 2)).all()
        assert ((wide / 2).decode() == Fraction(7, 4)).all()
        assert a.with_window(fractional_digits=2).space.precision == {2: 7, 3: 5, 5: 6}
        with pytest.raises(PrecisionError, match=r"the number 3\.5 at position .*2-adic valuation −1"):
            a.with_window(fractional_digits=0)
        roots = AlgebraicSpace("x^2 - 2", primes=(7,), precision=5).encode(["x"] * size)
        wide = roots.with_window(precision=9, fractional_digits=1)
        assert (wide / 7 * (7, 7) == (2, 1)).all()
        assert (wide + roots).space == wide.space
        with pytest.raises(SpaceError, match="precision of an AlgebraicSpace must be an integer"):
            AlgebraicSpace("x^2 - 2", n_primes=2, precision=5).encode("x").with_window(precision={7: 3, 17: 4})

    def test_a_narrower_window_decodes_nothing_wrong(self):
        """1 + M/m has the digits of 1 in the narrower window, and its real value."""
        space = AdeleSpace((2, 3), 90)
        q = 1 + Fraction(6**20, 5**46)
        a = space.encode(q)
        assert a.decode() == q
        with pytest.raises(DecodingError):
            a.with_window(precision=20).decode()

    def test_mixed_windows_know_what_both_do(self):
        x, y = padic(2, 7, 5), padic(3, 7, 3)
        assert [z.series() for z in (x + y, y - x, x * y)] == ["5 + O(7^3)", "1 + O(7^3)", "6 + O(7^3)"]
        assert x == y - 1
        assert (padic("1/7", 7, 4) + x).series() == "7^-1 + 2 + O(7^3)"
        assert (padic(49, 7, 3) * padic(49, 7, 5)).known == 5  # 7^2·7^2 modulo 7^5, in the wider window
        a, b = AdeleSpace((2, 3), 8).encode([1, 2]), AdeleSpace((2, 3), {2: 3, 3: 9}, 1).encode("1/2")
        assert (a + b).space == AdeleSpace((2, 3), 9, 1)
        assert (a + b).known.tolist() == [[3, 9]] * 2
        assert (a * b == ["1/2", 1]).all()
        with pytest.raises(SpaceError, match=r"p=7, .* and p=5, .*; make both at the same primes"):
            x + padic(1, 5)

    def test_windows_that_are_chosen(self):
        assert repr(padic("7/5", 5)) == "PadicArray(…000000000000001.2_5, p=5, precision=16, fractional_digits=1)"
        for values in (["1/4", 3], [5], []):
            space = fitting_space(values, (2,), 6)
            assert padic(values, 2, 6).fractional_digits == space.fractional_digits
        with pytest.raises(PrecisionError, match="1/64 needs 6 digits after the point, which precision=6 does"):
            padic([1, "1/64"], 2, 6)
        with pytest.raises(PrecisionError, match="fractional_digits=1 would hold it"):
            padic("7/5", 5, fractional_digits=0)
        for operation in (lambda x: x + "1/5", lambda x: "1/5" - x):
            with pytest.raises(PrecisionError, match=r"1 would hold it.*with_window changes it"):
                operation(padic(7, 5))

    def test_roots_that_are_squared(self):
        roots = hensel_roots("4x^2-17", 2, 10)
        assert (roots * roots).known.tolist() == [11, 11]
        assert (roots * roots == roots**2).all()
        assert (roots * roots == Fraction(17, 4)).all()
        wide = roots.with_window(fractional_digits=2)
        assert (wide**2).known.tolist() == [12, 12]
        assert (wide**2 == Fraction(17, 4)).all()
        assert (wide * wide == Fraction(17, 4)).all()
