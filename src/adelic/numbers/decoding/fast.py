"""Decoding of many small rationals: a compiled guess, then a compiled proof that `reconstruction` agrees.

The guess uses few digits: enough primes for a modulus M' just below 2^62. n/m with 2·|n|·m < M' is a
remainder over a cofactor in the extended Euclidean algorithm of (M', residue), in int64, and the real value tells
which.

The proof uses everything that is known. It establishes each condition of `reconstruction.decode` with all digits and
the full modulus M, or gives up, and then the reference decides. Comparisons are exact or err on the side of giving up:

- Digits: n/m is written in lifting steps n -> (n − c·m) / p^k with the given digits c, each division being exact.
- 2·|n|·m < M, and that no number outside the bound can have these coordinates: in float64, with slack for rounding.
- The ball: n − value·m is found almost exactly by Dekker's product of two floats (1971).
- That no other candidate is in the ball: a ball whose ends have one sign and a ratio of at most 3 holds only one, since
  two candidates of the same sign differ by a factor above 5.8; and 0 is the only one with the digits of 0.

If bounds of n and m replace the real value (`decode_within`), the first remainder inside the bound is the guess,
and the proof uses the digits alone.

`AdeleArray.decode` and `RedundantResidueCode` import this module when first needed: numba takes long to load.
"""

from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from adelic.numbers.finite import FinitePlaces, frozen
from adelic.numbers.kernels import Array, njit
from adelic.numbers.rationals import EXACT
from adelic.numbers.real import RealPlace
from adelic.numbers.window import Window

_GREATEST_MODULUS = 2**62
_GREATEST_FACTOR = 2**31  # of every prime power but the first, so products modulo it fit int64
_LARGE = 1e300  # moduli beyond it count as this: no number here comes near
_SLACK = 1 + 2.0**-40  # more than 2000 roundings to float64
_LESS = 1 - 2.0**-48  # shrinks a bound by more than the few roundings on both sides of it
_SPLITTER = 2.0**27 + 1  # splits a float64 into halves of 26 bits, whose products are exact (Veltkamp)
_GREATEST_VALUE = 2.0**62  # so the difference of a value and a numerator fits int64


class _Plan(NamedTuple):
    """The constants of a space, and which digits the guess uses: rows … weights, one entry per prime that takes part.

    Attributes:
        primes: of the space, int64.
        fractional_digits: F.
        rows: which primes.
        counts: how many low digits of each.
        powers: p^count; their product is below 2^62.
        inverses: of the product of the powers before, modulo this power (1 for the first).
        weights: (len(rows), greatest count), the weight of each digit, lowest first, in the residue of scale · q.
        scale: ∏ p^F over these primes.
        sizes: (n_primes, N + 1), N the greatest precision, p^k, or _LARGE if it is less; of all primes of the space.
        whole_scale: ∏ p^F over all primes of the space, or inf.
    """

    primes: Array
    fractional_digits: int
    rows: Array
    counts: Array
    powers: Array
    inverses: Array
    weights: Array
    scale: int
    sizes: Array
    whole_scale: float


class _Guesses(NamedTuple):
    """Numbers n/m, int64 (size,), or n alone, residues; and which of them are found so far, bool (size,)."""

    numerators: Array
    denominators: Array
    found: Array


def _none_yet(size: int) -> _Guesses:
    return _Guesses(np.zeros(size, np.int64), np.ones(size, np.int64), np.zeros(size, np.bool_))


def decode(finite_places: FinitePlaces, real_place: RealPlace, window: Window) -> tuple[Array, Array]:
    """Return the numbers that can be decoded quickly, the same as `reconstruction.decode` finds.

    From digits (size, n_primes, precision), known (size, n_primes), size >= 1, and real fields (size,) to `Fraction`,
    object (size,), and bool (size,): if that is False the number is missing (None), and the reference has to decide.

    >>> from adelic import AdeleSpace
    >>> space = AdeleSpace(primes=(5, 7), precision=8)
    >>> a = space.encode(["-2/3", 10**9])
    >>> decode(a._finite, a._real, space.window)[0]
    array([Fraction(-2, 3), Fraction(1000000000, 1)], dtype=object)
    """
    guesses = _none_yet(len(real_place.centre))
    found, numbers = guesses.found, np.full(len(real_place.centre), None, dtype=object)
    plan = _plan(window, finite_places.known.min(axis=0).tolist())
    if plan is None:
        return numbers, found
    digits, known = frozen(finite_places.digits), frozen(finite_places.known)
    centre, radius, denominator = real_place.centre, real_place.radius, real_place.denominator
    if not real_place.is_ordinary():  # values beyond float64 are left to the reference: they count as infinite
        centre = np.where(real_place.exponent == 0, centre, np.inf)
        denominator = np.where(real_place.denominator_exponent == 0, denominator, np.inf)
    value, radius, denominator = (frozen(field) for field in (centre, radius, denominator))
    modulus = _residues(digits, plan, guesses.numerators)
    _guess_all(modulus, plan.scale, value, radius, denominator, guesses)
    with np.errstate(all="ignore"):
        outside = radius * denominator  # NaN if the number is known to lie inside the bound
    _prove(digits, known, plan, denominator, outside, guesses)
    numbers[found] = fractions_in_lowest_terms(*(part[found].tolist() for part in guesses[:2]))
    return numbers, found


def decode_within(finite_places: FinitePlaces, window: Window, max_numerator: int, max_denominator: int) -> _Guesses:
    """Return the numbers n/m with |n| <= max_numerator and m <= max_denominator that have all these digits.

    From digits (size, n_primes, precision) and known (size, n_primes), size >= 1, to numerators and denominators in
    lowest terms, int64 (size,), and bool (size,): if that is False no number was found: there is none, or the bounds
    are too wide for int64, or a prime divides its denominator more than F times.

    >>> from adelic import AdeleSpace
    >>> space = AdeleSpace(primes=(5, 7, 11))
    >>> n, m, found = decode_within(space.encode(["-2/3", 101])._finite, space.window, 100, 10)
    >>> n[0], m[0], found
    (np.int64(-2), np.int64(3), array([ True, False]))
    """
    size = len(finite_places.digits)
    guesses = _none_yet(size)
    plan = _plan(window, finite_places.known.min(axis=0).tolist())
    if plan is None or 2 * plan.scale * max_numerator * max_denominator >= prod(plan.powers.tolist()):
        return guesses
    digits, known = frozen(finite_places.digits), frozen(finite_places.known)
    modulus = _residues(digits, plan, guesses.numerators)
    _guess_within(modulus, plan.scale, max_numerator, max_denominator, guesses)
    unbounded = np.full(size, np.nan)
    _prove(digits, known, plan, unbounded, unbounded, guesses)
    return guesses


def fractions_in_lowest_terms(numerators: list[int], denominators: list[int]) -> list[Fraction]:
    """Return fractions from coprime numerators and positive denominators, without searching for common divisors.

    `Fraction` has no public constructor that trusts its arguments. This one writes its two slots, as the library's own
    (`Fraction._from_coprime_ints` since Python 3.12) does.

    >>> fractions_in_lowest_terms([-2, 5], [3, 1])
    [Fraction(-2, 3), Fraction(5, 1)]
    """
    new = object.__new__
    out = []
    for n, m in zip(numerators, denominators, strict=True):
        q = new(Fraction)
        q._numerator = n  # type: ignore[attr-defined]
        q._denominator = m  # type: ignore[attr-defined]
        out.append(q)
    return out


def _plan(window: Window, known: list[int]) -> _Plan | None:
    """Return which digits to guess from, the greatest prime powers first, or None if that is hopeless.

    >>> _plan(Window((2, 3), (40, 40), 0), [40, 40]).counts
    array([39])
    """
    if not window.suits_kernels:
        return None
    primes, fractional_digits = window.primes, window.fractional_digits
    rows: list[int] = []
    counts: list[int] = []
    powers: list[int] = []
    inverses: list[int] = []
    product = 1
    for j in sorted(range(len(primes)), key=lambda j: -primes[j] * bool(known[j])):
        p = primes[j]
        limit = _GREATEST_MODULUS // product
        if fractional_digits:  # weights are below p^count, and digit · weight + residue has to stay in int64
            limit //= p
        if rows:
            limit = min(limit, _GREATEST_FACTOR)
        count = 0
        while count < known[j] and p ** (count + 1) <= limit:
            count += 1
        if count:
            rows.append(j)
            counts.append(count)
            powers.append(p**count)
            inverses.append(pow(product, -1, p**count))
            product *= p**count
    scale = prod(primes[j] for j in rows) ** fractional_digits
    if not rows or scale >= EXACT:  # `_guess` would give up every number
        return None
    weights = np.zeros((len(rows), max(counts)), dtype=np.int64)
    for i, (j, count, power) in enumerate(zip(rows, counts, powers, strict=True)):
        for k in range(count):
            weights[i, k] = scale // primes[j] ** fractional_digits * primes[j] ** k % power
    with np.errstate(over="ignore"):
        sizes = np.array(primes, dtype=np.float64)[:, None] ** np.arange(window.precision + 1)
        whole_scale = float(sizes[:, fractional_digits].prod())
    sizes = np.minimum(sizes, _LARGE)
    return _Plan(
        primes=np.array(primes, np.int64),
        fractional_digits=fractional_digits,
        rows=np.array(rows, np.int64),
        counts=np.array(counts, np.int64),
        powers=np.array(powers, np.int64),
        inverses=np.array(inverses, np.int64),
        weights=weights,
        scale=scale,
        sizes=sizes,
        whole_scale=whole_scale,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _residues(digits: Array, plan: _Plan, out: Array) -> Any:
    """Write scale · q modulo the product of the powers, Garner's form of Chinese remainders; return the product."""
    rows, counts, powers, inverses, weights = plan.rows, plan.counts, plan.powers, plan.inverses, plan.weights
    has_fraction = plan.fractional_digits > 0
    last = digits.shape[2] - 1
    modulus = np.int64(1)
    for r in range(rows.shape[0]):
        j, power, inverse = rows[r], powers[r], inverses[r]
        for i in range(digits.shape[0]):
            y = np.int64(0)
            for k in range(counts[r]):
                y += np.int64(digits[i, j, last - k]) * weights[r, k]
                if has_fraction:  # else the weights are p^k, and y stays below p^count
                    y %= power
            if r == 0:
                out[i] = y
            else:
                # Two factors below `power`, which is 2^31 at most; then a product below the whole modulus.
                out[i] += modulus * ((y - out[i]) % power * inverse % power)
        modulus *= power
    return modulus


@njit(cache=True, nogil=True, error_model="numpy")
def _guess_all(modulus: int, scale: int, value: Array, radius: Array, denominator: Array, guesses: _Guesses) -> None:
    """Turn residues, given as numerators, into numbers in their balls."""
    numerators, denominators, found = guesses
    for i in range(value.shape[0]):
        if not (abs(value[i]) < _GREATEST_VALUE and np.isfinite(radius[i])):
            continue
        if np.isinf(denominator[i]):  # not known, or beyond float64: the reference decides
            continue
        n, m = _guess(numerators[i], modulus, value[i], scale)
        numerators[i], denominators[i] = n, m
        found[i] = m != 0 and _is_near(n, m, value[i], radius[i])


@njit(cache=True, nogil=True, error_model="numpy")
def _guess(x: Any, modulus: Any, value: Any, scale: Any) -> Any:
    """Return the likeliest n/m with scale · n/m ≡ x, or m = 0; in lowest terms or a prime of the space divides m."""
    # The slack: a value rounded down must not pass the row that is meant. A wrong guess is given up later.
    size = abs(value) * scale * (1 + 2.0**-30)
    r0, r1, t0, t1 = modulus, x, np.int64(0), np.int64(1)
    while r1 > size * abs(t1):  # r1 / |t1| falls
        quotient = r0 // r1
        r0, r1 = r1, r0 - quotient * r1
        t0, t1 = t1, t0 - quotient * t1
    if scale == 1:  # r1 = s · modulus + t1 · x with s and t1 coprime: a common divisor of r1 and t1 divides the modulus
        return (r1, t1) if t1 > 0 else (-r1, -t1)
    return _quotient(r1, t1, scale)


@njit(cache=True, nogil=True, error_model="numpy")
def _quotient(r: Any, t: Any, scale: Any) -> Any:
    """Return r / (t · scale) in lowest terms, or a denominator 0 if `_prove` would not take it, from 2^53 on."""
    if t < 0:
        r, t = -r, -t
    if float(t) * scale >= EXACT:
        return np.int64(0), np.int64(0)
    m = t * scale
    divisor = _gcd(abs(r), m)
    return r // divisor, m // divisor


@njit(cache=True, nogil=True, error_model="numpy")
def _guess_within(modulus: int, scale: int, max_numerator: int, max_denominator: int, guesses: _Guesses) -> None:
    """Turn residues, given as numerators, into numbers within the bounds, in lowest terms."""
    numerators, denominators, found = guesses
    for i in range(numerators.shape[0]):
        r0, r1, t0, t1 = modulus, numerators[i], 0, 1
        while r1 > scale * max_numerator:  # below half the modulus, as `decode_within` checks, so it fits int64
            quotient = r0 // r1
            r0, r1 = r1, r0 - quotient * r1
            t0, t1 = t1, t0 - quotient * t1
        n, m = _quotient(r1, t1, scale)
        if 0 < m <= max_denominator and abs(n) <= max_numerator:
            numerators[i], denominators[i], found[i] = n, m, True


@njit(cache=True, nogil=True, error_model="numpy")
def _gcd(a: int, b: int) -> Any:
    while b:
        a, b = b, a % b
    return a


@njit(cache=True, nogil=True, error_model="numpy")
def _is_near(n: int, m: int, value: float, radius: float) -> Any:
    """Return whether it is certain that n/m lies in the ball and that no other candidate does."""
    if n == 0:
        return m == 1 and abs(value) <= radius
    if not 2 * radius <= abs(value):  # the ends need one sign, and a ratio of at most 3; NaN fails, too
        return False
    if m == 1 and abs(value) >= EXACT:  # then value is an integer
        return abs(n - np.int64(value)) <= radius
    if abs(n) >= EXACT or m >= EXACT:
        return False
    a = float(m)
    high = value * a
    a_top = a * _SPLITTER
    a_top -= a_top - a
    b_top = value * _SPLITTER
    b_top -= b_top - value
    a_low, b_low = a - a_top, value - b_top
    low = ((a_top * b_top - high) + a_top * b_low + a_low * b_top) + a_low * b_low  # value · m = high + low
    return abs((n - high) - low) <= radius * a * _LESS


@njit(cache=True, nogil=True, error_model="numpy")
def _prove(digits: Array, known: Array, plan: _Plan, bounds: Array, outside: Array, guesses: _Guesses) -> None:
    """Clear `found` unless it is certain that n/m has all known digits and that the modulus makes it unique.

    `bounds` are bounds of denominators (`RealPlace.denominator`), `outside` radius · bound; both NaN if there is
    none. n is below 2^62 in size, m below 2^53, coprime unless a prime divides both and there are no fractional digits.
    """
    numerators, denominators, found = guesses
    primes, sizes, fractional_digits = plan.primes, plan.sizes, plan.fractional_digits
    n_primes, precision = digits.shape[1], digits.shape[2]
    for i in range(digits.shape[0]):
        if not found[i]:
            continue
        n, m = numerators[i], denominators[i]
        # With S = ∏ p^F: S · n/m in lowest terms is n · factor / unit.
        modulus, factor, unit = 1.0, 1.0, m
        is_right = True
        for j in range(n_primes):
            p = primes[j]
            # The cap also limits the roundings: a thousand primes reach it.
            modulus = min(modulus * sizes[j, known[i, j]], _LARGE)
            shift = fractional_digits
            reduced = m
            while reduced % p == 0:
                reduced //= p
                unit //= p
                shift -= 1
            # |x| never exceeds max(|n|, m) < 2^62, so x − limb · reduced fits int64 while power · reduced <= 2^62.
            greatest = 2**62 // reduced // p
            if shift < 0 or greatest == 0:
                is_right = False
                break
            for k in range(shift):
                factor *= p
                if k < known[i, j] and digits[i, j, precision - 1 - k] != 0:
                    is_right = False
            x, limb, power = n, np.int64(0), np.int64(1)
            for k in range(shift, known[i, j]):
                limb += np.int64(digits[i, j, precision - 1 - k]) * power
                power *= p
                if power > greatest or k == known[i, j] - 1:
                    x -= limb * reduced
                    quotient = x // power
                    if quotient * power != x:
                        is_right = False
                        break
                    x, limb, power = quotient, np.int64(0), np.int64(1)
            if not is_right:
                break
        is_inside = 2 * abs(float(n)) * factor * unit * _SLACK < modulus
        bound = bounds[i]  # below 2^53 a multiple of the denominator
        is_allowed = m == 1 or np.isnan(bound) or (unit <= bound if bound >= EXACT else np.int64(bound) % m == 0)
        is_alone = np.isnan(outside[i]) or 2 * outside[i] * plan.whole_scale * unit * _SLACK < modulus
        found[i] = is_right and is_inside and is_allowed and is_alone
