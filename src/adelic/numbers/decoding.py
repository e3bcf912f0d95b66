"""From coordinates back to the number: Chinese remainders, rational reconstruction, and the real place as a judge.

Let M be the product of p^known over the primes. The digits say what q is modulo M. A rational n/m with 2·|n|·m < M and
m coprime to M is a remainder over a cofactor in the extended Euclidean algorithm of (M, X) (Legendre's theorem on
continued fractions; Wang 1981 for the use in rational reconstruction). Several may satisfy this: −10 and 1/10 are equal
modulo 101. But two of the same sign that do differ in size by a factor of at least (1 + √2)^2 > 5.8, so the real
coordinate picks one of them. That is why decoding needs every place.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import copysign, gcd, inf, isfinite, isinf, isnan, log2, prod

from adelic.numbers.hensel import Residue
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import EXACT
from adelic.numbers.real import log2_fraction


@lru_cache(maxsize=256)
def _chinese_remainder_basis(moduli: tuple[int, ...]) -> tuple[int, ...]:
    """Return b_i ≡ 1 modulo the i-th modulus and ≡ 0 modulo the others."""
    product = prod(moduli)
    return tuple(product // q * pow(product // q, -1, q) if q > 1 else 0 for q in moduli)


def chinese_remainder(values: list[int], moduli: tuple[int, ...]) -> int:
    """Return the x in [0, product of moduli) with x ≡ values[i] (mod moduli[i]).

    >>> chinese_remainder([2, 3, 2], (3, 5, 7))
    23
    """
    basis = _chinese_remainder_basis(moduli)
    return sum(value * b for value, b in zip(values, basis, strict=True)) % prod(moduli)


def rational_candidates(
    x: int, modulus: int, log2_range: tuple[float, float] = (-inf, inf)
) -> Iterator[tuple[int, int]]:
    """Yield every n/m ≡ x (mod modulus) with 2·|n|·m < modulus, m > 0 and gcd(n, m) = gcd(m, modulus) = 1.

    Args:
        x: residue in [0, modulus).
        modulus: product of prime powers.
        log2_range: numbers other than 0 with log2 |n/m| outside may be left out, which saves most of the work.

    Yields:
        (n, m), with |n|/m falling.

    >>> sorted(rational_candidates(91, 101))
    [(-10, 1), (1, 10)]
    """
    r0, r1, t0, t1 = modulus, x, 0, 1
    low, high = log2_range
    while True:
        size = r1.bit_length() - t1.bit_length()  # log2 (r1 / |t1|), to within 1
        if size < low - 1:
            return
        is_in_range = size <= high + 1 or r1 == 0
        if is_in_range and 2 * r1 * abs(t1) < modulus and gcd(r1, t1) == 1 and gcd(t1, modulus) == 1:
            yield (r1, t1) if t1 > 0 else (-r1, -t1)
        if r1 == 0:
            return
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1


def decode(
    residues: list[Residue],
    primes: tuple[int, ...],
    fractional_digits: int,
    *,
    value: float,
    radius: float,
    denominator: float,
    magnitude: float,
) -> Fraction | None:
    """Return the rational with these coordinates, or None if there is none, or if there may be more than one.

    Args:
        residues: p^F · q at each prime.
        primes: the primes.
        fractional_digits: F.
        value: real coordinate.
        radius: error bound of `value`.
        denominator: bound of the denominator (`RealPlace.denominator`); NaN when q itself is known to lie inside the
            decoding bound, so that no bound is needed.
        magnitude: log2 |q| of a q known to lie inside the decoding bound (`RealPlace.magnitude`), else NaN.

    >>> residues = [Residue(1, 2), Residue(7, 2)]  # 1 mod 2^2, 7 mod 3^2: 25, −11 and 1/13 modulo 36
    >>> decode(residues, (2, 3), 0, value=-11.0, radius=0.0, denominator=1.0, magnitude=float("nan"))
    Fraction(-11, 1)
    """
    if isnan(magnitude) and not (isfinite(value) and isfinite(radius)):
        return None
    scale = prod(primes) ** fractional_digits
    moduli = tuple(p**r.known for p, r in zip(primes, residues, strict=True))
    modulus = prod(moduli)
    scaled = [r.value * (scale // p**fractional_digits) for p, r in zip(primes, residues, strict=True)]
    matches = []
    x = chinese_remainder(scaled, moduli)
    # A tiny difference of large numbers may be below its own rounding error; then only the denominator tells it from
    # other candidates near 0.
    largest = _without(primes, denominator) if isfinite(denominator) else None
    for n, m in rational_candidates(x, modulus, _log2_range(value, radius, magnitude, scale)):
        q = Fraction(n, m * scale)
        if (largest is None or m <= largest) and _fits(q, value, radius, magnitude):
            matches.append((q, m))
    if len(matches) != 1:
        return None
    q, m = matches[0]
    if isnan(denominator) or not isnan(magnitude):
        return q
    # Two numbers with this residue are at least M / (S · m · m') apart, m and m' being their denominators without the
    # primes of the space. The other number's m' is at most the bound: would it lie outside the ball?
    if largest is None:
        return None
    alone = 2 * Fraction(radius) * scale * m * largest < modulus
    return q if alone else None


def _fits(q: Fraction, value: float, radius: float, magnitude: float) -> bool:
    """Return whether a rational agrees with what is known of the real coordinate."""
    if not isnan(magnitude):
        same_sign = q != 0 and (q < 0) == (copysign(1, value) < 0)
        if not same_sign or abs(log2_fraction(q) - magnitude) >= 1:
            return False
    return isinf(value) or abs(q - Fraction(value)) <= Fraction(radius)


def _log2_range(value: float, radius: float, magnitude: float, scale: int) -> tuple[float, float]:
    """Return bounds of log2 |q · scale| of the numbers q in a ball, a little too wide."""
    shift = log2(scale)
    if not isnan(magnitude):
        return magnitude + shift - 1, magnitude + shift + 1
    low, high = abs(value) - radius, abs(value) + radius
    return (log2(low) + shift - 1 if low > 0 else -inf), (log2(high) + shift + 1 if 0 < high < inf else inf)


def _without(primes: tuple[int, ...], denominator: float) -> Fraction:
    """Return a bound of a denominator with the primes' powers taken out, where it is exact enough to do so."""
    if denominator >= EXACT:
        return Fraction(denominator)
    unit = int(denominator)
    for p in primes:
        unit //= p ** valuation(unit, p)
    return Fraction(unit)
