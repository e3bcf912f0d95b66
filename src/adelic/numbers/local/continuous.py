"""Continuous functions on Z_p as Mahler series, and random numbers by Haar's measure.

Source: K. Mahler, An interpolation series for continuous functions of a p-adic variable, J. reine angew. Math. 199
(1958); A. M. Robert, A Course in p-adic Analysis (2000), IV.2.
"""

from math import prod

import numpy as np

from adelic.errors import DomainError, SpaceError
from adelic.numbers import finite
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.local.array import LocalField, PadicArray, check_padic
from adelic.numbers.primes import split
from adelic.numbers.window import DEFAULT_PRECISION, checked_count, checked_prime, checked_window


def mahler_coefficients(values: PadicArray) -> PadicArray:
    """Return the a_n with f(x) = Σ a_n · binom(x, n) for x = 0, 1, 2, …: the differences Δ^n f(0).

    A function is continuous on Z_p if and only if its a_n tend to 0, and the sum is then f on all of Z_p (Mahler).

    Args:
        values: f(0), f(1), …, f(k − 1) in the last axis, (*, k).

    Returns:
        a_0, …, a_(k−1), (*, k); a_n is known as far as all of f(0), …, f(n) are.

    Raises:
        EncodingError: it is no `PadicArray`.
        SpaceError: there is no axis.

    >>> from adelic.numbers import padic
    >>> mahler_coefficients(padic([n**3 for n in range(6)], 7, precision=4)).lift()   # n³ = 6·binom(n, 3) + …
    array([0, 1, 6, 6, 0, 0])
    """
    check_padic("mahler_coefficients", values)
    if not values.shape:
        raise SpaceError("the values f(0), f(1), … of a function have an axis; this array has shape ()")
    rest, known = values.integers()
    found = np.empty_like(rest)
    for n in range(found.shape[-1]):
        found[..., n] = rest[..., 0]
        rest = rest[..., 1:] - rest[..., :-1]
    f = values.fractional_digits
    return values.space.approximations(found, f, np.minimum.accumulate(known, axis=-1) - f)


def mahler_sum(coefficients: PadicArray, x: PadicArray) -> PadicArray:
    """Return Σ a_n · binom(x, n) for numbers x of Z_p.

    If x is known modulo p^M, binom(x, n) is modulo p^(M − ⌊log_p n⌋). Each term is therefore known modulo this power
    times a_n, and as far as a_n is; the sum as far as all terms. It is the finite sum of the given terms: of a function
    with more, a user knows which power of p divides the others.

    Args:
        coefficients: a_0, a_1, …, (k,).
        x: (*).

    Returns:
        `PadicArray` (*).

    Raises:
        EncodingError: one of the two is no `PadicArray`.
        DomainError: a number is no p-adic integer, or no digit of it from p^0 up is known.
        SpaceError: the shape of the coefficients is not (k,), or the primes differ.

    >>> from adelic.numbers import padic
    >>> a = mahler_coefficients(padic([4**n for n in range(8)], 3, precision=5))     # 4^n = Σ 3^k · binom(n, k)
    >>> a.lift(), mahler_sum(a, padic("1/2", 3, precision=5)).series()               # a square root of 4
    (array([ 1,  3,  9, 27, 81,  0,  0,  0]), '1 + 2*3 + 2*3^2 + 2*3^3 + 2*3^4 + O(3^5)')
    """
    check_padic("mahler_sum", coefficients, x)
    if len(coefficients.shape) != 1 or coefficients.p != x.p:
        raise SpaceError(
            f"coefficients of shape {coefficients.shape} in Q_{coefficients.p}, x in Q_{x.p}: both are to be in one "
            "field, and coefficients of shape (k,)"
        )
    p, f = x.p, coefficients.fractional_digits
    numbers, known = x.integers()
    scale = p**x.fractional_digits
    known = known - x.fractional_digits
    if np.any((numbers % scale != 0) | (known <= 0)):
        raise DomainError(f"a Mahler series is one of {p}-adic integers, of which a digit is known")
    numbers = numbers // scale
    values, ends = coefficients.integers()
    valuations = np.where(values == 0, ends, split(values, p)[0])
    total, binomial = 0 * numbers, 0 * numbers + 1
    modulo = np.full(x.shape, np.iinfo(np.int64).max)
    lost, power = 0, p
    for n, (a, end, v) in enumerate(zip(values.tolist(), ends.tolist(), valuations.tolist(), strict=True)):
        if n == power:
            lost, power = lost + 1, power * p
        total = total + a * binomial
        modulo = np.minimum(modulo, np.minimum(end, known - lost + v) if n else end)
        binomial = binomial * (numbers - n) // (n + 1)
    field = LocalField(coefficients.space.window.union(x.space.window))
    return field.approximations(total, f, np.minimum(modulo, known.max(initial=0) + ends.max(initial=0)) - f)


def random_padic(
    shape: int | tuple[int, ...],
    p: int,
    precision: int = DEFAULT_PRECISION,
    *,
    fractional_digits: int = 0,
    rng: np.random.Generator | int,
) -> PadicArray:
    """Return random numbers of the ball p^(−F) · Z_p by Haar's measure: all digits are independent and as likely.

    So v(x) >= k has the probability p^(−k − F) for k >= −F.

    Args:
        shape: of the array (*).
        p: prime.
        precision: N, how many digits the window holds; all are known.
        fractional_digits: F; 0 for p-adic integers.
        rng: a generator, or the seed of one.

    Returns:
        `PadicArray` (*), the same for the same generator.

    Raises:
        SpaceError: p is not a prime, or the precision does not suit.

    >>> x = random_padic((2, 1000), 3, precision=8, rng=0)
    >>> x.shape, bool(abs((x.valuation() > 0).mean() - 1 / 3) < 0.05)
    ((2, 1000), True)
    """
    window = checked_window((checked_prime(p),), precision, fractional_digits)
    (p,), (precision,), _ = window
    generator = np.random.default_rng(rng)
    lengths = shape if isinstance(shape, tuple | list) else (shape,)
    shape = tuple(checked_count("an axis of the shape", n, 0) for n in lengths)
    dtype, axes = finite.digit_dtype(window.primes), (*shape, 1, precision)
    if p > 2**64:
        words = -(-p.bit_length() // 8) + 8  # so the distance from equal probabilities is below 2^(−64)
        drawn = [int.from_bytes(generator.bytes(words), "little") % p for _ in range(prod(axes))]
        digits = np.array(drawn, dtype=object).reshape(axes)
    else:
        digits = generator.integers(0, p, axes, dtype=dtype)
    return LocalField(window).array(FinitePlaces(digits, finite.all_known(window, shape)))
