"""From coordinates back to the number: Chinese remainders, rational reconstruction, and the real place as a judge.

Let M be the product of p^known over the primes. The digits determine q modulo M. A rational n/m with 2·|n|·m < M and
m coprime to M is a remainder over a cofactor in the extended Euclidean algorithm of (M, X) (Legendre's theorem on
continued fractions; Wang 1981 for the use in rational reconstruction). Several may satisfy this: −10 and 1/10 are equal
modulo 101. But two of the same sign that do differ in size by a factor of at least (1 + √2)^2 > 5.8, so the real
coordinate picks one of them. That is why decoding needs every place.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import inf, isnan, isqrt, log2, prod
from typing import Any, NamedTuple

from adelic.numbers import integers
from adelic.numbers.hensel import Residue
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import EXACT
from adelic.numbers.real import RealPlace

_SHOWN = 3  # candidates that an error message lists
_FEW_BITS = 32  # by which Euclid's steps shorten numbers sooner than their halves do


class _RemainderPlan(NamedTuple):
    """The constants of Chinese remainders: their sum is built by halves, so no long product is stored a modulus.

    Attributes:
        weights: the inverse of the product of the other moduli, modulo each one.
        levels: the products of neighbours that each level joins, in pairs.
        product: of all moduli.
    """

    weights: tuple[int, ...]
    levels: tuple[tuple[tuple[int, int], ...], ...]
    product: int


@lru_cache(maxsize=256)
def _remainder_plan(moduli: tuple[int, ...]) -> _RemainderPlan:
    product = prod(moduli)
    levels = []
    parts = list(moduli)
    while len(parts) > 1:
        levels.append(tuple(zip(parts[::2], parts[1::2], strict=False)))
        parts = [q * r for q, r in levels[-1]] + parts[len(parts) // 2 * 2 :]
    return _RemainderPlan(tuple(pow(product // q, -1, q) for q in moduli), tuple(levels), product)


def chinese_remainder(values: list[int], moduli: tuple[int, ...]) -> int:
    """Return the x in [0, product of moduli) with x ≡ values[i] (mod moduli[i]).

    >>> chinese_remainder([2, 3, 2], (3, 5, 7))
    23
    """
    plan = _remainder_plan(moduli)
    parts = [value * w % q for value, w, q in zip(values, plan.weights, moduli, strict=True)]
    for level in plan.levels:
        rest = parts[len(parts) // 2 * 2 :]  # if their number is odd, the last one waits for the next level
        parts = [x * r + y * q for (q, r), x, y in zip(level, parts[::2], parts[1::2], strict=False)] + rest
    return sum(parts) % plan.product  # one part, or none if there are no moduli


def rational_candidates(
    x: int, modulus: int, log2_range: tuple[float, float] = (-inf, inf)
) -> Iterator[tuple[int, int]]:
    """Yield every n/m ≡ x (mod modulus) with 2·|n|·m < modulus, m > 0 and gcd(n, m) = gcd(m, modulus) = 1.

    They come with |n|/m falling. The modulus is a product of prime powers, x in [0, modulus). Numbers other than 0 with
    log2 |n/m| outside `log2_range` may be left out, which saves most of the work: those above are not even looked at.

    >>> sorted(rational_candidates(91, 101))
    [(-10, 1), (1, 10)]
    """
    low, high = log2_range
    # Of remainders r1 from 2^bits on, r1/|t1| is above r1²/M, and so above 2^(high + 1).
    bits = inf if high == inf else (modulus.bit_length() + max(high, -modulus.bit_length())) // 2 + 2
    r0, r1, t0, t1 = _euclid(modulus, x, bits)
    while True:
        size = r1.bit_length() - t1.bit_length()  # log2 (r1 / |t1|), to within 1
        if size < low - 1:
            return
        is_in_range = size <= high + 1 or r1 == 0
        if is_in_range and _is_candidate(r1, t1, modulus):
            yield _fraction(r1, t1)
        if r1 == 0:
            return
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1


def _is_candidate(r: Any, t: Any, modulus: Any) -> bool:
    return 2 * r * abs(t) < modulus and _gcd(r, t) == 1 and _gcd(t, modulus) == 1


def _gcd(a: Any, b: Any) -> int:
    return integers.greatest_common_divisor(int(a), int(b))


def _fraction(r: Any, t: Any) -> tuple[int, int]:
    return (int(r), int(t)) if t > 0 else (int(-r), int(-t))


def _euclid(modulus: int, x: int, bits: float) -> tuple[Any, Any, Any, Any]:
    """Return r0, r1, t0, t1 of the extended Euclidean algorithm of (M, x): the last with r1 >= 2^bits, or the first.

    Of r0 a multiple of r1 may be taken off, and as often t1 of t0.
    """
    a, b = (integers.as_long(value, modulus.bit_length()) for value in (modulus, x))
    if bits >= x.bit_length():
        return a, b, 0, 1
    a, b, (_, t0, _, t1) = _shortened(a, b, max(int(bits), 0))
    return a, b, t0, t1


def _shortened(a: Any, b: Any, bits: int) -> tuple[Any, Any, tuple[Any, Any, Any, Any]]:
    """Return the last two remainders >= 2^bits of a >= b >= 2^bits, and the matrix that gives them, row by row.

    The steps of the upper halves equal the steps of the whole numbers, as long as the halves' remainders are longer
    than the matrix: the whole ones are positive then, and no other steps lead to them (N. Möller, "On Schönhage's
    algorithm and subquadratic integer gcd computation", 2008). The last quotient may be too small by that.
    """
    s0, t0, s1, t1 = 1, 0, 0, 1
    while True:
        half = (a.bit_length() - bits) // 2
        shift = a.bit_length() - 2 * half
        if half > _FEW_BITS and (b >> shift).bit_length() > half + 1:
            u0, v0, u1, v1 = _shortened(a >> shift, b >> shift, half + 1)[2]
            a, b = u0 * a + v0 * b, u1 * a + v1 * b
            s0, t0, s1, t1 = u0 * s0 + v0 * s1, u0 * t0 + v0 * t1, u1 * s0 + v1 * s1, u1 * t0 + v1 * t1
            if a < b:
                a, b, s0, t0, s1, t1 = b, a, s1, t1, s0, t0
        quotient, rest = divmod(a, b)
        if rest.bit_length() <= bits:
            return a, b, (s0, t0, s1, t1)
        a, b, s0, t0, s1, t1 = b, rest, s1, t1, s0 - quotient * s1, t0 - quotient * t1


def decode(
    residues: list[Residue], primes: tuple[int, ...], fractional_digits: int, place: RealPlace
) -> Fraction | None:
    """Return the rational with these coordinates, or None if there is none, or if there may be more than one.

    Residues are of p^F · q at each prime, and the place holds one number, of shape ().

    >>> import numpy as np
    >>> from adelic.numbers.real import from_values
    >>> residues = [Residue(1, 2), Residue(7, 2)]  # 1 mod 2^2, 7 mod 3^2: 25, −11 and 1/13 modulo 36
    >>> decode(residues, (2, 3), 0, from_values(np.array(-11.0)))
    Fraction(-11, 1)
    """
    x, modulus, scale = scaled_residue(residues, primes, fractional_digits)
    limit = modulus.bit_length() + scale.bit_length() + 64  # other candidates than 0 are inside, by far
    ball = place.ball(limit)
    if ball is None:
        return None
    bound = place.denominator_bound(limit)
    # A tiny difference of large numbers may be below its own rounding error; then only the denominator tells it from
    # other candidates near 0.
    largest = None if bound is None else _without(primes, bound)
    matches = []
    for n, m in rational_candidates(x, modulus, place.log2_range(log2(scale))):
        q = Fraction(n, m * scale)
        if (largest is None or m <= largest) and abs(q - ball[0]) <= ball[1]:
            matches.append((q, m))
    if len(matches) != 1:
        return None
    q, m = matches[0]
    if isnan(place.denominator) or place.is_inside:
        return q
    # Two numbers with this residue are at least M / (S · m · m') apart, m and m' being their denominators without the
    # primes of the space. The other number's m' is at most the bound: would it lie outside the ball?
    if largest is None:
        return None
    alone = 2 * ball[1] * scale * m * largest < modulus
    return q if alone else None


def decode_digits(
    residues: list[Residue], primes: tuple[int, ...], fractional_digits: int, max_denominator: int | None = None
) -> tuple[Fraction | None, list[Fraction]]:
    """Return the rational with these digits whose parts are at most √(M/2), or None, and a few others inside the bound.

    The parts are n and m of n/m = q · ∏ p^F in lowest terms. 2·|n|·m' and 2·|n'|·m are below M for two such numbers, so
    that n·m' − n'·m, which M divides, is 0 (Wang 1981). Another greatest denominator leaves M/2 divided by it to n.
    Residues are of p^F · q at each prime.

    >>> decode_digits([Residue(91, 1)], (101,), 0)
    (None, [Fraction(-10, 1), Fraction(1, 10)])
    >>> decode_digits([Residue(7, 1)], (101,), 0)[0]
    Fraction(7, 1)
    """
    x, modulus, scale = scaled_residue(residues, primes, fractional_digits)
    half = max(modulus - 1, 0) // 2
    denominator = isqrt(half) if max_denominator is None else max_denominator
    largest = half // denominator if max_denominator else denominator
    r0, r1, t0, t1 = _euclid(modulus, x, largest.bit_length())
    while r1 > largest:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    if abs(t1) <= denominator and _is_candidate(r1, t1, modulus):  # no row above has this r1, none below this t1
        n, m = _fraction(r1, t1)
        return Fraction(n, m * scale), []
    return None, [Fraction(n, m * scale) for n, m in islice(rational_candidates(x, modulus), _SHOWN)]


def scaled_residue(residues: list[Residue], primes: tuple[int, ...], fractional_digits: int) -> tuple[int, int, int]:
    """Return S · q modulo M, M, and S = ∏ p^F, from residues of p^F · q.

    >>> scaled_residue([Residue(1, 2), Residue(7, 2)], (2, 3), 0)
    (25, 36, 1)
    """
    scale = prod(primes) ** fractional_digits
    moduli = tuple(p**r.known for p, r in zip(primes, residues, strict=True))
    scaled = [r.value * (scale // p**fractional_digits) for p, r in zip(primes, residues, strict=True)]
    return chinese_remainder(scaled, moduli), prod(moduli), scale


def _without(primes: tuple[int, ...], bound: Fraction) -> Fraction:
    """Return a bound of a denominator with the primes' powers taken out, if it is exact enough to do so."""
    if bound >= EXACT:
        return bound
    unit = int(bound)
    for p in primes:
        unit //= p ** valuation(unit, p)
    return Fraction(unit)
