"""Questions have the right answers, splits share no question, and bounds hold."""

from fractions import Fraction

import numpy as np
import pytest

from adelic.errors import ConfigurationError, UnknownNameError
from adelic.number_theory import task
from adelic.number_theory.arithmetic import ARITHMETIC, COMPOSITE_MODULUS, MAX_TERMS, PRIME_MODULUS


def product(terms):
    found = 1
    for term in terms:
        found *= term
    return found


# From the definitions, in Python's integers and fractions.
REFERENCES = {
    "addition": lambda a, b: a + b,
    "subtraction": lambda a, b: a - b,
    "multiplication": lambda a, b: a * b,
    "exact-division": lambda a, b: Fraction(a, b),
    "fraction-addition": lambda a, b: a + b,
    "fraction-multiplication": lambda a, b: a * b,
    "sum": lambda *terms: sum(terms),
    "product": lambda *terms: product(terms),
    "polynomial": lambda x: 3 * x**3 - 7 * x**2 + 2 * x - 11,
    "comparison": lambda a, b: 1 if a > b else 0,
}
CASES = [(name, split) for name, p in ARITHMETIC.items() for split in p.splits]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("name", "split"), CASES)
def test_answers_are_right(name, split):
    asked = ARITHMETIC[name]
    operands, answers = asked.sample(500, rng(), split)
    assert operands.shape == (500, asked.arity)
    assert answers.shape == (500,)
    assert answers.dtype == (np.int64 if name == "comparison" else object)  # 0 and 1 are classes
    answers, rows = answers.tolist(), operands.tolist()
    if name.startswith("modular-inverse"):
        m = COMPOSITE_MODULUS if name == "modular-inverse" else PRIME_MODULUS
        assert all(0 <= y < m and x * y % m == 1 for (x,), y in zip(rows, answers, strict=True))
    else:
        assert answers == [REFERENCES[name](*row) for row in rows]
    exact = int if asked.answers_are_integers else (int, Fraction)
    assert all(isinstance(answer, exact) and not isinstance(answer, bool) for answer in answers)
    number = int if asked.operands_are_integers else Fraction
    assert all(isinstance(operand, number) for row in rows for operand in row)


@pytest.mark.parametrize("name", ["addition", "subtraction", "multiplication", "comparison"])
@pytest.mark.parametrize("digits", [1, 3, 9])
def test_numbers_of_other_lengths(name, digits):
    asked = task(name, digits=digits)
    for split in asked.splits:
        operands, answers = asked.sample(40, rng(), split)
        assert answers.tolist() == [REFERENCES[name](*row) for row in operands.tolist()]
        lengths = {len(str(x)) for x in operands.ravel().tolist()}
        if split == "longer":
            assert min(lengths) == digits + 3
            assert all(len({len(str(x)) for x in row}) == 1 for row in operands.tolist())
        else:
            assert max(lengths) == digits
        assert max(map(abs, answers.tolist())) <= asked.max_numerator
        assert operands.max() <= asked.max_operand


def test_products_of_one_digit_are_drawn_to_their_end():
    """There are 55, since the order of the factors makes no other question."""
    asked = task("multiplication", digits=1)
    operands, _ = asked.sample(55, rng())
    assert {tuple(sorted(row)) for row in operands.tolist()} == {(a, b) for b in range(10) for a in range(b + 1)}
    with pytest.raises(ConfigurationError, match="multiplication has no 56 different questions"):
        asked.sample(56, rng())


def test_bounds_of_fraction_addition_are_those_of_its_extreme_cases():
    asked, n = ARITHMETIC["fraction-addition"], 10**6 - 1
    sums = [Fraction(n, a) + Fraction(n, b) for a in range(1, 11) for b in range(1, 11)]
    assert max(s.numerator for s in sums) <= asked.max_numerator
    assert max((Fraction(1, a) + Fraction(1, b)).denominator for a in range(1, 11) for b in range(1, 11)) == 90
    assert asked.max_denominator == 90


@pytest.mark.parametrize("name", ["addition", "fraction-addition", "sum"])
def test_the_order_of_operands_makes_no_other_question(name):
    asked = ARITHMETIC[name]
    operands, _ = asked.sample(500, rng())
    others, _ = asked.sample(500, rng(), "test", exclude=operands[:, ::-1])
    assert not set(map(tuple, asked.keys(operands).tolist())) & set(map(tuple, asked.keys(others).tolist()))


def test_small_problems_are_drawn_to_their_end():
    asked = ARITHMETIC["polynomial"]
    operands, _ = asked.sample(9_990, rng())
    others, _ = asked.sample(100, rng(1), "test", exclude=operands)
    assert set(others[:, 0].tolist()) <= set(range(10_000)) - set(operands[:, 0].tolist())
    with pytest.raises(ConfigurationError, match=r"polynomial has no 10,001 different questions \(about 10,000\)"):
        asked.sample(10_001, rng())


@pytest.mark.parametrize("name", ["fraction-addition", "fraction-multiplication"])
def test_fractions(name):
    short, long = (ARITHMETIC[name].sample(2000, rng(), split)[0].ravel() for split in ("train", "longer"))
    assert {f.denominator for f in short} == {f.denominator for f in long} == set(range(1, 11))
    assert max(abs(f.numerator) for f in short) < 1000
    assert min(abs(f.numerator) * (10 // f.denominator + 1) for f in long) >= 1000
    assert {f > 0 for f in long} == {True, False}


@pytest.mark.parametrize("name", ["sum", "product"])
def test_terms_end_in_the_neutral_element(name):
    asked = ARITHMETIC[name]
    for split, most in (("train", 5), ("more terms", 12)):
        operands, _ = asked.sample(2000, rng(), split)
        assert operands.shape[1] == MAX_TERMS
        assert (operands[:, most:] == asked.neutral).all()
        lengths = [max([i + 1 for i, x in enumerate(row) if x != asked.neutral], default=0) for row in operands]
        assert max(lengths) == most
    assert min(lengths) > 5


def test_exact_division_is_exact_and_long_ones_are_longer():
    operands, quotients = ARITHMETIC["exact-division"].sample(2000, rng(), "longer")
    assert (operands[:, 0] % operands[:, 1] == 0).all()
    assert {len(str(q)) for q in quotients} == {9}
    assert {len(str(a)) for a in operands[:, 0]} <= set(range(9, 14))


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="did you mean 'addition'"):
        task("adition")
    with pytest.raises(UnknownNameError, match="splits: train, test, longer"):
        task("addition").sample(1, rng(), "more terms")
