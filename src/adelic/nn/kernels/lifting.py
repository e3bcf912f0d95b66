"""From int64 to digits and real values as a fixed sequence of tensor operations: the arithmetic below `functional`.

The digits come from the Hensel lifting of the paper's appendix in limbs of K digits, P = p^K, all primes along one
axis:

- A limb of n/m is c = n · m^(-1) mod P, and then n becomes (n − c·m) / P. With n = P·a + r and m = P·b + s that is
  a − c·b + (r − c·s) / P, which stays inside int64 whatever n and m are.
- Remainders and products of limbs are float64, where integers below 2^53 are exact, since no device divides 64-bit
  integers quickly. ⌊x/P⌋ is ⌊(x + 1/2) · (1/P)⌋: exact for |x| < 2^51, as (x + 1/2) / P is farther from every integer
  than rounding reaches.
- Then digit e of a limb c is ⌊c/p^e⌋ − p·⌊c/p^(e+1)⌋, by the same rule in float32, exact for P < 2^22. Compiled, the
  limbs take one kernel and their digits another, which writes every element of the result once.

Source: the paper, section 2 "Method" and appendix "Embedding Construction".
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from adelic.numbers.window import Window

SPREAD_LIMIT = 2**22  # limbs below it are spread into digits exactly in float32
TABLE_LIMIT = 1024  # inverses modulo primes up to here are looked up


# --- Constants of a space, a few bytes per prime ---


def constant(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Bring what a function makes to a device, which is then the first argument: once, or as part of a compiled graph.

    The host's copy is passed on without waiting for the device.
    """
    made: dict[tuple[Any, ...], Tensor] = {}

    @wraps(make)
    def on_device(device: torch.device, *arguments: Any) -> Tensor:
        if torch.compiler.is_compiling():
            return make(*arguments).to(device, non_blocking=True)
        found = made.get((device, *arguments))
        if found is None:
            with torch.inference_mode(False):  # an inference tensor could not be kept for autograd
                found = make(*arguments).to(device, non_blocking=True)
            if type(found) is Tensor:  # not what a tracing mode puts in its place
                made[(device, *arguments)] = found
        return found

    return on_device


@constant
def column(primes: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Return the primes, (n_primes,)."""
    return torch.tensor(primes, dtype=dtype)


@constant
def digit_counts(primes: tuple[int, ...], precisions: tuple[int, ...]) -> Tensor:
    """Return how many digits there are, int64 (n_primes, precision), the highest place first.

    They are p; if a prime has no digit, 1, since 0 is there.
    """
    counts = [
        [min(p, 2**63 - 1) if k < n else 1 for k in reversed(range(max(precisions)))]
        for p, n in zip(primes, precisions, strict=True)
    ]
    return torch.tensor(counts, dtype=torch.int64)


@constant
def existing(precisions: tuple[int, ...]) -> Tensor:
    """Return which digits there are, bool (n_primes, precision), the highest first."""
    return torch.tensor([[k < n for k in reversed(range(max(precisions)))] for n in precisions])


def cut(digits: Tensor, window: Window) -> Tensor:
    """Return digits, (*, n_primes, precision), with zeros if a prime has none."""
    if window.is_uniform:
        return digits
    return torch.where(existing(digits.device, window.precisions), digits, 0)


@constant
def _moduli(primes: tuple[int, ...], k: int) -> Tensor:
    """Return p^k and 1/p^k as float64, (2, n_primes)."""
    return torch.tensor([[p**k for p in primes], [1 / p**k for p in primes]], dtype=torch.float64)


@constant
def _negative_powers(primes: tuple[int, ...], k: int) -> Tensor:
    """Return p^(-k), …, p^(-1), 1 as float32, (n_primes, k + 1)."""
    return torch.tensor([[p**-e for e in range(k, -1, -1)] for p in primes], dtype=torch.float32)


@constant
def _inverses(primes: tuple[int, ...]) -> Tensor:
    """Return the inverses of 0 … p − 1 modulo p (0 for 0), a row per prime, as wide as the greatest: float64, flat."""
    rows = [[pow(a, -1, p) if a % p else 0 for a in range(max(primes))] for p in primes]
    return torch.tensor(rows, dtype=torch.float64).flatten()


@constant
def _window_powers(primes: tuple[int, ...], fractional_digits: int) -> Tensor:
    """Return p^F, or the greatest power of p that divides an int64 (2^63 as −2^63): int64, (n_primes,)."""
    powers = [p ** min(fractional_digits, next(e for e in range(64) if p ** (e + 1) > 2**63)) for p in primes]
    return torch.tensor([signed(power) for power in powers])


def signed(value: int) -> int:
    """Return the int64 that is congruent modulo 2^64.

    >>> signed(2**64 - 1), signed(2**63)
    (-1, -9223372036854775808)
    """
    return (value + 2**63) % 2**64 - 2**63


# --- Digits ---


def integer_digits(n: Tensor, window: Window, dtype: torch.dtype) -> Tensor:
    """Return the digits of integers, (*, n_primes, precision)."""
    precision = window.precision - window.fractional_digits  # the digits below p^0 are zeros
    k = _limb_digits(window.primes, precision)
    modulus, reciprocal = _moduli(n.device, window.primes, k)
    n = n[..., None]
    limbs = []
    for _ in range(-(-precision // k)):
        n, limb = _split(n, modulus, reciprocal)
        limbs.append(limb)
    return cut(pad(_spread(limbs, window.primes, precision, dtype), (0, window.fractional_digits)), window)


def fraction_digits(n: Tensor, m: Tensor, window: Window, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the digits of fractions in lowest terms, (*, n_primes, precision), and where they exist, (*, n_primes)."""
    primes, precision, below = window.primes, window.precision, window.fractional_digits
    n, m = n[..., None], m[..., None]
    p, p_reciprocal = _moduli(n.device, primes, 1)
    if below:
        # The part of m that the digits after the point hold. A p that is left in m shows as the residue 0: not valid.
        power = torch.gcd(m, _window_powers(n.device, primes, below)).abs()
        shift = below - torch.round(power.double().abs().log2() / p.log2()).long()
        m = torch.div(m, power, rounding_mode="trunc") * power.sign()  # 2^63 is −2^63 here

    k = _limb_digits(primes, precision)
    modulus, reciprocal = _moduli(n.device, primes, k)
    b, s = _split(m, modulus, reciprocal)
    residue = _modulo(s, p, p_reciprocal)
    valid = residue != 0
    inverse = _inverse(residue, primes, p, p_reciprocal)
    right = 1
    while right < k:  # Newton: twice as many digits per step
        inverse = _modulo(inverse * (2 - _modulo(s * inverse, modulus, reciprocal)), modulus, reciprocal)
        right *= 2

    n = torch.where(valid, n, 0)  # where there are no digits, those of 0 are written
    limbs = []
    for _ in range(-(-precision // k)):
        a, r = _split(n, modulus, reciprocal)
        c = _modulo(r * inverse, modulus, reciprocal)
        limbs.append(c)
        # P divides r − c·s: rounding makes up for the reciprocal's error.
        n = a - c.long() * b + torch.round((r - c * s) * reciprocal).long()
    digits = _spread(limbs, primes, precision, dtype)
    if below:  # digit k of the window is digit k − shift of the unit part
        place = torch.arange(precision, device=n.device) + shift[..., None]
        digits = torch.gather(pad(digits, (0, below)), -1, place)
    return cut(digits, window), valid


def lowest_terms(n: Tensor, m: Tensor) -> tuple[Tensor, Tensor]:
    """Return int64 fractions in lowest terms; the sign stays where it is, and 0/0 as it is.

    The greatest common divisor of −2^63 and itself, or 0, is −2^63: that divides as well as 2^63 would.
    """
    divisor = torch.gcd(n, m).abs()
    divisor = torch.where(divisor == 0, 1, divisor)
    return torch.div(n, divisor, rounding_mode="trunc"), torch.div(m, divisor, rounding_mode="trunc")


def _limb_digits(primes: tuple[int, ...], precision: int) -> int:
    """Return K: the greatest limbs that spread exactly, evened out over the window.

    >>> _limb_digits((2, 3, 5, 7, 11, 13, 17), 16), _limb_digits((2, 251), 16), _limb_digits((65537,), 16)
    (4, 2, 1)
    """
    k = 1
    while k < precision and max(primes) ** (k + 1) < SPREAD_LIMIT:
        k += 1
    return -(-precision // -(-precision // k))


def _inverse(residue: Tensor, primes: tuple[int, ...], p: Tensor, p_reciprocal: Tensor) -> Tensor:
    """Return inverses modulo p, (*, n_primes), of float64 residues; what 0 gives has no meaning."""
    if max(primes) <= TABLE_LIMIT:
        rows = torch.arange(len(primes), device=residue.device) * max(primes)
        return _inverses(residue.device, primes)[rows + residue.long()]
    found: Tensor = _fermat(residue, p, p_reciprocal, max(primes).bit_length())
    return found


@torch.library.custom_op("adelic::fermat", mutates_args=())
def _fermat(residue: Tensor, p: Tensor, p_reciprocal: Tensor, n_bits: int) -> Tensor:
    """Return residue^(p-2), of primes with this many bits.

    One operator to compilers: each squaring uses the one before twice, and what writes products out as one formula, as
    torch's compiler does, would write a formula of 4^n_bits terms.
    """
    inverse, power = torch.ones_like(residue), residue
    for bit in range(n_bits):
        is_set = ((p.long() - 2) >> bit) & 1 == 1
        inverse = torch.where(is_set, _modulo(inverse * power, p, p_reciprocal), inverse)
        power = _modulo(power * power, p, p_reciprocal)
    return inverse


@_fermat.register_fake
def _(residue: Tensor, p: Tensor, p_reciprocal: Tensor, n_bits: int) -> Tensor:
    return torch.empty_like(residue)


def _split(v: Tensor, modulus: Tensor, reciprocal: Tensor) -> tuple[Tensor, Tensor]:
    """Return ⌊v/P⌋ (int64) and v mod P (float64) for any int64 v and 2 <= P <= 2^24.

    The first quotient is off by 2^(-51) of itself at most, so its remainder is below P + 2^12.
    """
    quotient = torch.floor(v.double() * reciprocal).long()
    remainder = (v - quotient * modulus.long()).double()
    correction = torch.floor((remainder + 0.5) * reciprocal)
    return quotient + correction.long(), remainder - correction * modulus


def _modulo(x: Tensor, modulus: Tensor, reciprocal: Tensor) -> Tensor:
    """Return x mod P for float64 integers |x| < 2^51."""
    return x - torch.floor((x + 0.5) * reciprocal) * modulus


def _spread(limbs: list[Tensor], primes: tuple[int, ...], precision: int, dtype: torch.dtype) -> Tensor:
    """Return the digits of limbs, the lowest limb first, as (*, n_primes, precision), the highest digit first."""
    # One plane a limb, not one column: neighbouring threads then write neighbouring elements.
    stacked = torch.stack([limb.float() for limb in reversed(limbs)]).movedim(0, -1)
    k = -(-precision // len(limbs))
    if k == 1:
        return stacked.to(dtype)
    powers = _negative_powers(stacked.device, primes, k)[:, None]
    p = column(stacked.device, primes, torch.float32)[:, None, None]
    c = stacked[..., None] + 0.5
    digits = torch.floor(c * powers[..., 1:]) - p * torch.floor(c * powers[..., :-1])
    return digits.to(dtype).flatten(-2)[..., len(limbs) * k - precision :]


# --- Real values ---


def nearest_double(n: Tensor, m: Tensor) -> Tensor:
    """Return n/m correctly rounded to float64, NaN for m = 0, by long division: 57 bits and whether anything is left.

    Both are brought to 2^62 … 2^63 − 1, so the quotient has its bits if a fixed number of steps finds them.
    """
    a, a_shift = _normalized(n)
    b, b_shift = _normalized(m)
    quotient = (a >= b).long()
    rest = a - quotient * b
    scale = 2.0**28 / b.double()
    for _ in range(2):
        # Four roundings of a quotient below 2^28 are off by 2^(-23), so what is 2^(-16) less is too small by 1 at most,
        # and never too large: the new rest lies in 0 … 2b − 1 < 2^64, negative from 2^63 on.
        bits = torch.floor(rest.double() * scale - 2.0**-16).clamp(min=0).long()
        rest = (rest << 28) - bits * b
        is_short = (rest < 0) | (rest >= b)
        rest = torch.where(is_short, rest - b, rest)
        quotient = (quotient << 28) + bits + is_short.long()
    # 57 = 2 · 28 + 1 places, two steps and the bit that is set below.
    power = ((b_shift - a_shift + (1023 - 57)) << 52).view(torch.float64)  # of two, put together from its exponent
    # 57 bits or more, the last one set if anything is left: converting them to float64 rounds n/m once, correctly.
    value = ((quotient << 1) | (rest != 0).long()).double() * power
    value = torch.where((n < 0) ^ (m < 0), -value, value)
    value = torch.where(n == 0, 0.0, value)
    return torch.where(m == 0, torch.nan, value)


def _normalized(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return |x| · 2^shift in 2^62 … 2^63 − 1, and the shift; −2^63 has the shift −1, and 0 stays 0."""
    is_least = x == -(2**63)
    size = torch.where(is_least, 2**62, x.abs())
    # The highest bit, read off the exponent of a float64: without the bit below it nothing is rounded up past it.
    exponent = ((size & ~(size >> 1)).double().view(torch.int64) >> 52) - 1023
    shift = (62 - exponent).clamp(max=62)
    return size << shift, shift - is_least.long()
