"""Morita's gamma function, and the p-adic zeta function of Kubota and Leopoldt.

As in `functions`, numbers are coordinates at the one prime of a window, and what is claimed to be known is the same
for all numbers with the known digits.

Source: H. Cohen, Number Theory, Volume II (2007), 11.5 and 11.6; L. C. Washington, Introduction to Cyclotomic Fields
(1997), theorems 5.11 and 5.12.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.numbers.algebraic.polynomials import load_flint
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.local.functions import (
    Counts,
    TooFewDigitsError,
    UndefinedError,
    parameters,
    power,
    refuse,
    residues,
)
from adelic.numbers.primes import valuation
from adelic.numbers.window import Window

LARGEST_PRIME = 2**16
"""Both functions take p products or more, whatever the number."""

Polynomial = npt.NDArray[np.object_]


def _integral(x: FinitePlaces, window: Window) -> tuple[int, int, int, Counts, Any]:
    """Return p, N, F, how many digits from p^0 up are known, and the residues of numbers that have to be in Z_p."""
    p, precision, f, known, v = parameters(x, window)
    if p > LARGEST_PRIME:
        every = np.ones(len(known), dtype=np.bool_)
        refuse(UndefinedError, every, lambda i: f"p products are too many; primes up to {LARGEST_PRIME} are supported")
    refuse(
        UndefinedError,
        (v < known) & (v < f),
        lambda i: f"its valuation is {v[i] - f}, and the function is one of p-adic integers",
    )
    refuse(TooFewDigitsError, known <= f, lambda i: "no digit from p^0 up is known")
    return p, precision, f, known - f, residues(x, p) // p**f


def gamma(x: FinitePlaces, window: Window) -> tuple[Any, Counts]:
    """Return Γ_p(x), which is (−1)^n times the product of the j < n that p does not divide at whole numbers n.

    If n and n' are equal modulo p^k, so are their values, for p = 2 unless k = 2 (Cohen, 11.6.2). Let n_k be the digits
    of n, and N_k what those above n_k are worth. Let P_k(t) be the product of t + j for 0 < j < p^k that p does not
    divide. Then the product is the one of P_k(N_k + i·p^k) for all k and i < n_k.

    >>> from adelic.numbers import padic
    >>> padic([0, 1, 5, 7], 5, precision=4).gamma() == [1, -1, -24, -144]
    array([ True,  True,  True,  True])
    """
    p, precision, f, known, n = _integral(x, window)
    digits = int(known.max())
    modulus = p**digits
    dtype: Any = np.int64 if modulus < 2**31 else object  # products then fit int64
    n = np.asarray(n, dtype=object).reshape(-1).astype(dtype)
    result = 1 - 2 * (n % 2)
    for k, products in enumerate(_products(p, digits)):
        rest, chosen = n // p ** (k + 1) * p ** (k + 1), (n // p**k % p).astype(np.intp)
        value = 0 * n
        for coefficients in products.T[::-1].astype(dtype):
            value = (value * rest + coefficients[chosen]) % modulus
        result = result * value % modulus
    known = np.where(known == 2, 1, known) if p == 2 else known
    known = np.minimum(known + f, precision)
    return result.astype(object) * p**f % power(p, known), known


@lru_cache(maxsize=8)
def _products(p: int, digits: int) -> list[Polynomial]:
    """Return the products of P_k(t + i·p^k) for i = 0, 1, … below each digit, modulo p^digits, for all k.

    That of all i is P_(k+1). Each is an array (p, terms), the constant coefficients first: p^(k + 1) divides t, so few
    terms count.
    """
    tables: list[Polynomial] = []
    block, modulus = None, p**digits
    for k in range(digits):
        terms = -(-digits // (k + 1))
        products = [np.array([1] + [0] * (terms - 1), dtype=object)]
        for i in range(p):
            if block is None:
                factor = np.array([i, 1] if i else [1, 0], dtype=object)  # p divides the j of i = 0
            else:
                factor = _shifted(block, i * p**k, terms, modulus)
            products.append(np.convolve(products[-1], factor)[:terms] % modulus)
        block = products.pop()
        tables.append(np.array(products, dtype=object))
    return tables


def _shifted(polynomial: Polynomial, a: int, terms: int, modulus: int) -> Polynomial:
    """Return the first terms of f(t + a), the constant one first, by Horner's rule."""
    out = np.zeros(terms, dtype=object)
    for coefficient in polynomial[::-1]:
        out, below = out * a, out
        out[1:] += below[:-1]
        out[0] += coefficient
        out %= modulus
    return out


def zeta(x: FinitePlaces, window: Window, branch: int) -> tuple[list[int], list[int], list[int]]:
    """Return c, b and m: the values c · p^(−b) of L_p(s, ω^branch), known modulo p^m.

    With q = p, or 4 if p = 2, and n = 1 − s it is −1/(q·n) times the sum, over the a below q that p does not divide,
    of ω(a)^branch · ⟨a⟩^n · Σ_j binom(n, j)·(q/a)^j·B_j. It is also (1 − 1/p)/(s − 1) + a_0 + a_1·(s − 1) + …, where p
    divides a_1, a_2, …, without the first term if the branch is not 0. This tells modulo which power it is known.

    >>> from adelic.numbers import padic
    >>> zeta(padic(-3, 5, precision=6)._finite.reshape((1,)), padic(-3, 5, precision=6)._window, 0)[1:]
    ([1], [5])
    """
    p, _, _, known, values = _integral(x, window)
    q, e = (4, 2) if p == 2 else (p, 1)
    n = (1 - np.asarray(values, dtype=object).reshape(-1)) % power(p, known)
    is_pole = np.asarray((n == 0) & (branch == 0), dtype=np.bool_)
    refuse(TooFewDigitsError, is_pole, lambda i: "there is a pole at 1, from which no known digit differs")
    bernoulli = load_flint("zeta").fmpq.bernoulli
    found = []
    for digits, number in zip(known.tolist(), n.tolist(), strict=True):
        number = number or p**digits
        w = valuation(number, p)
        m = digits + 1 if branch else digits - 2 * w - 1
        end = max(m + e + w, 1)
        modulus = p**end
        terms, binomial = [], 1
        for j in range(-(-(end + 1) // e)):  # p divides the denominator of B_j once at most
            c = bernoulli(j) * q**j
            terms.append(binomial * int(c.p) * pow(int(c.q), -1, modulus) % modulus)
            binomial = binomial * (number - j) // (j + 1)
        total = 0
        for a in range(1, q):
            if a % p:
                root = pow(a, p ** (end - 1), modulus) if p > 2 else 2 - a
                inverse, value = pow(a, -1, modulus), 0
                for term in reversed(terms):
                    value = (value * inverse + term) % modulus
                total += pow(root, branch - number, modulus) * pow(a, number, modulus) * value
        found.append((-total * pow(number // p**w, -1, modulus) % modulus, e + w, m))
    values, below, modulo = (list(part) for part in zip(*found, strict=True)) if found else ([], [], [])
    return values, below, modulo
