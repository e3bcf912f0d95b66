"""Against multiplication of the polynomials themselves, which divided differences make from x^(n-1, ..., 1, 0)."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic.acd import schubert
from adelic.acd.permutations import length, padded, trimmed
from adelic.acd.schubert import GREATEST_CONSTANTS, NONZERO_COUNTS
from adelic.acd.schubert import tables as schubert_tables
from adelic.acd.schubert.constants import transition_order

Polynomial = Counter  # exponents -> coefficient


def divided_difference(f, i):
    """(f - s_i f) / (x_i - x_(i+1)), monomial by monomial."""
    result = Polynomial()
    for exponents, coefficient in f.items():
        a, b = exponents[i], exponents[i + 1]
        low, high, sign = min(a, b), max(a, b), 1 if a > b else -1
        for k in range(high - low):  # x^a y^b - x^b y^a = ± (x - y) Σ x^(high-1-k) y^(low+k)
            monomial = (*exponents[:i], high - 1 - k, low + k, *exponents[i + 2 :])
            result[monomial] += sign * coefficient
    return Polynomial({m: c for m, c in result.items() if c})


def schubert_polynomials(n):
    """S_w for all w in S_n, from the longest permutation down."""
    longest = tuple(range(n, 0, -1))
    found = {longest: Polynomial({tuple(range(n - 1, -1, -1)): 1})}
    stack = [longest]
    while stack:
        w = stack.pop()
        for i in range(n - 1):
            if w[i] > w[i + 1]:
                down = (*w[:i], w[i + 1], w[i], *w[i + 2 :])
                if down not in found:
                    found[down] = divided_difference(found[w], i)
                    stack.append(down)
    return found


def code(w):
    return tuple(sum(later < entry for later in w[i:]) for i, entry in enumerate(w))


def expansion(f, polynomials):
    """Coefficients in the basis: S_w holds x^code(w), the greatest of its monomials in reverse lexicographic order."""
    by_code = {code(w): w for w in polynomials}
    rest, coefficients = Polynomial(f), {}
    while rest:
        leading = max(rest, key=lambda exponents: exponents[::-1])
        w, c = by_code[leading], rest[leading]
        coefficients[w] = c
        rest.subtract({m: c * k for m, k in polynomials[w].items()})
        rest = Polynomial({m: k for m, k in rest.items() if k})
    return coefficients


def times(f, g, size):
    result = Polynomial()
    for a, x in f.items():
        for b, y in g.items():
            result[tuple(np.add(padded_exponents(a, size), padded_exponents(b, size)).tolist())] += x * y
    return result


def padded_exponents(exponents, size):
    return exponents + (0,) * (size - len(exponents))


@pytest.fixture(scope="module")
def polynomials_of_5():
    return schubert_polynomials(5)


def test_all_products_of_3(polynomials_of_5):
    small = schubert_polynomials(3)
    constants = Counter()
    for u in small:
        for v in small:
            expected = {trimmed(w): c for w, c in expansion(times(small[u], small[v], 5), polynomials_of_5).items()}
            assert schubert.schubert_product(u, v) == expected
            constants.update(expected.values())
    assert sum(constants.values()) == NONZERO_COUNTS[2]
    assert max(constants) == GREATEST_CONSTANTS[2]


def test_sampled_products_of_4():
    """All of S_7 would take long to write down, so both sides are compared as polynomials."""
    polynomials = schubert_polynomials(7)
    group = list(permutations(range(1, 5)))
    rng = np.random.default_rng(4)
    for a, b in rng.integers(0, len(group), (25, 2)):
        u, v = group[a], group[b]
        total = Polynomial()
        for w, c in schubert.schubert_product(u, v).items():
            for monomial, coefficient in polynomials[padded(w, 7)].items():
                total[monomial] += c * coefficient
        assert total == times(polynomials[padded(u, 7)], polynomials[padded(v, 7)], 7)


@pytest.mark.parametrize("n", [4, 5])
def test_oracle(n, oracle):
    for u, v, w, constant in oracle(f"schubert_{n}"):
        assert schubert.schubert_structure_constant(u, v, w) == constant


@pytest.mark.parametrize("edition", ["published", "corrected"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_rows_have_the_constant_for_their_label(n, edition, generated):
    rows = generated("schubert", n, edition)
    for row, label in zip(rows.X.tolist(), rows.y.tolist(), strict=True):
        assert schubert.schubert_structure_constant(row[:n], row[n : 2 * n], row[2 * n :]) == label


def test_nonzeros_are_symmetric_and_in_order(generated):
    n = 4
    rows = generated("schubert", n)
    nonzero = rows.X[rows.y > 0].tolist()
    assert nonzero == sorted(nonzero)
    assert {(*row[n : 2 * n], *row[:n], *row[2 * n :]) for row in nonzero} == set(map(tuple, nonzero))


@given(st.permutations(range(1, 6)), st.permutations(range(1, 6)), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_product_laws(u, v, extra):
    product = schubert.schubert_product(u, v)
    assert product == schubert.schubert_product(v, u)
    assert product == schubert.schubert_product(padded(tuple(u), 5 + extra), v)
    assert all(c > 0 and length(w) == length(tuple(u)) + length(tuple(v)) for w, c in product.items())
    assert schubert.schubert_product(u, [1]) == {trimmed(tuple(u)): 1}


def test_permutations_of_any_length():
    assert schubert.schubert_structure_constant([2, 1], [2, 1], [3, 1, 2]) == 1
    assert schubert.schubert_structure_constant([2, 1, 3, 4], [2, 1], [3, 1, 2, 4, 5, 6]) == 1
    assert schubert.schubert_structure_constant([], [1], [1, 2]) == 1
    assert schubert.schubert_structure_constant([2, 1], [2, 1], [1, 2, 3, 4, 6, 5, 8, 7]) == 0


def test_a_deep_recursion_does_not_overflow_the_stack():
    """The longest permutation of S_50 takes more than a thousand transitions in a row."""
    longest = tuple(range(50, 0, -1))
    assert schubert.schubert_product(longest, [1]) == {longest: 1}
    steps = sum(1 for _ in transition_order([longest]))
    assert steps == 50 * 49 // 2


def test_tables_agree_with_the_dictionaries():
    """Two implementations of the recursion: packed keys for all of S_4, dictionaries for one product."""
    n, size = 4, 7
    group = list(permutations(range(1, n + 1)))
    for u, (keys, constants) in zip(group, schubert_tables.nonzero_tables(n), strict=True):
        products = {}
        for key, constant in zip(keys.tolist(), constants.tolist(), strict=True):
            w = tuple((key >> (4 * (size - 1 - position)) & 15) + 1 for position in range(size))
            products.setdefault(group[key >> (4 * size)], {})[trimmed(w)] = constant
        assert products == {v: schubert.schubert_product(u, v) for v in group}
