"""Encode, add, multiply and decode on the tensors' own device, bit-equal to `adelic.numbers`.

Everything here is a fixed sequence of tensor operations: no value ever travels to the host, so nothing waits for the
device, nothing breaks the graph of `torch.compile`, and no error depends on a value. What `AdeleSpace` raises as an
error is a mask here, for those who ask for it.

The encoder is the Hensel lifting of the paper's appendix in limbs of K digits, P = p^K, all primes along one axis:

- A limb of n/m is c = n · m^(-1) mod P, and then n becomes (n − c·m) / P. With n = P·a + r and m = P·b + s that is
  a − c·b + (r − c·s) / P, which stays inside int64 whatever n and m are.
- Remainders and products of limbs are float64, where integers below 2^53 are exact, since no device divides 64-bit
  integers quickly. ⌊x/P⌋ is ⌊(x + 1/2) · (1/P)⌋: exact for |x| < 2^51, as (x + 1/2) / P is farther from every integer
  than rounding reaches.
- Then digit e of a limb c is ⌊c/p^e⌋ − p·⌊c/p^(e+1)⌋, by the same rule in float32, exact for P < 2^22. Compiled, the
  limbs take one kernel and their digits another, which writes every element of the result once.

Source: the paper, section 2 "Method" and appendix "Embedding Construction".
"""

from math import prod
from operator import index

import torch
from torch import Tensor
from torch.nn.functional import pad

from adelic.errors import EncodingError, SpaceError
from adelic.numbers import AdeleSpace
from adelic.numbers.finite import Window

GREATEST_PRIME = 2**24
"""Products of two residues modulo a prime up to here are exact in float64, and digits in float32."""

_GREATEST_DIGIT = {
    torch.float32: 2**24,
    torch.bfloat16: 256,
    torch.uint8: 255,
    torch.int16: 2**15 - 1,
    torch.int32: 2**31 - 1,
    torch.int64: 2**63 - 1,
}
"""The dtypes of coordinates, and up to where they hold every integer."""

_SPREAD_LIMIT = 2**22  # limbs below it are spread into digits exactly in float32
_TABLE_LIMIT = 1024  # inverses modulo primes up to here are looked up
_MULTIPLY_LIMIT = 2**50  # residues below it are multiplied exactly with one float64 estimate of the quotient


def encode(
    numerators: Tensor,
    denominators: Tensor | None = None,
    *,
    space: AdeleSpace,
    dtype: torch.dtype = torch.float32,
    real_row: bool = True,
    return_valid: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return integers or fractions in the paper's layout, on their own device: `AdeleSpace.tensor` for int64 tensors.

    Fractions need not be in lowest terms, and denominators may be negative. Every int64 is right, the extremes too.

    Args:
        numerators: int64, (*).
        denominators: int64, broadcast against the numerators; integers are encoded when left out.
        space: the primes and digits, of primes up to 2^24.
        dtype: torch.float32; torch.bfloat16 (digits are exact up to the prime 257, the real value is the float32
            rounded once more); or, without the real row, torch.uint8, int16, int32, int64.
        real_row: whether row 0 is [0, …, 0, q]; the digits alone otherwise.
        return_valid: whether to return the mask as well.

    Returns:
        (*, n_primes + 1, precision), or (*, n_primes, precision) without the real row, most significant digit first.
        With `return_valid` also a bool tensor, (*, n_primes): False where p divides the denominator more often than the
        window has fractional digits, or the denominator is 0. `AdeleSpace` raises there; here the coordinate is all
        zeros. The real value of a zero denominator is NaN.

    Raises:
        EncodingError: a tensor is not int64, shapes do not fit, or the dtype does not hold the digits or the real row.

    >>> import torch
    >>> from adelic import AdeleSpace
    >>> space = AdeleSpace(primes=(2, 3), precision=4)
    >>> encode(torch.tensor(7), space=space)
    tensor([[0., 0., 0., 7.],
            [0., 1., 1., 1.],
            [0., 0., 2., 1.]])
    >>> encode(torch.tensor([1, 1]), torch.tensor([5, 3]), space=space, return_valid=True)[1]
    tensor([[ True,  True],
            [ True, False]])
    """
    window = _window(space)
    _check_numbers("numerators", numerators)
    _check_space(window, dtype, real_row)
    valid = None
    if denominators is None:
        precision = window.precision - window.fractional_digits  # the digits below p^0 are zeros
        n, k = numerators[..., None], _limb_digits(window.primes, precision)
        modulus, reciprocal = _limb_constants(window.primes, k, n.device)[:2]
        limbs = []
        for _ in range(-(-precision // k)):
            n, remainder = _split(n, modulus, reciprocal)
            limbs.append(remainder)
        digits = _spread(limbs, window.primes, precision, dtype)
        if window.fractional_digits:
            digits = pad(digits, (0, window.fractional_digits))
        if return_valid:
            valid = torch.ones((*numerators.shape, len(window.primes)), dtype=torch.bool, device=numerators.device)
        value = numerators.double()
    else:
        _check_numbers("denominators", denominators)
        if denominators.device != numerators.device:
            raise EncodingError(
                f"numerators are on {numerators.device}, denominators on {denominators.device}; move them together"
            )
        numerators, denominators = _broadcast("numerators", numerators, "denominators", denominators)
        digits, valid = _encode_fractions(numerators, denominators, window, dtype)
        value = _nearest_double(numerators, denominators) if real_row else numerators
    if real_row:
        # The cast to float32 first: bfloat16 is the float32 layout rounded, not the float64 value.
        digits = torch.cat([_real_row(value.float().to(dtype), window.precision), digits], dim=-2)
    return (digits, valid) if return_valid and valid is not None else digits


def add(x: Tensor, y: Tensor, space: AdeleSpace) -> Tensor:
    """Return x ⊕ y: digits with carries, bit-equal to those of `AdeleArray`; real values added in the tensors' dtype.

    Args:
        x: coordinates as `encode` returns them, with the real row or without.
        y: likewise, of the same dtype; broadcast against x.
        space: theirs.

    Returns:
        The coordinates of the sum, in their layout and dtype. The real value is the sum of two real values rounded to
        the dtype, where `AdeleArray` keeps float64.

    Raises:
        EncodingError: shapes or dtypes do not fit each other or the space.

    >>> import torch
    >>> from adelic import AdeleSpace
    >>> space = AdeleSpace(primes=(2, 3), precision=4)
    >>> add(encode(torch.tensor(7), space=space), encode(torch.tensor(-5), space=space), space)
    tensor([[0., 0., 0., 2.],
            [0., 0., 1., 0.],
            [0., 0., 0., 2.]])
    """
    window = _window(space)
    x_real, x_digits = _parts("x", x, window)
    y_real, y_digits = _parts("y", y, window)
    _check_pair(x, y)
    total = x_digits.int() + y_digits.int()
    digits = _carry(total, window)
    return _joined(None if x_real is None or y_real is None else x_real + y_real, digits, x.dtype, window)


def mul(x: Tensor, y: Tensor, space: AdeleSpace, *, return_known: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return x ⊗ y: one convolution of digits a prime, bit-equal to `AdeleArray`; real values in the tensors' dtype.

    All digits of x and y are taken as known. With fractional_digits = F = 0 all N digits of the product are known
    then. With F > 0 a factor with digits below p^0 hides as many of the product's highest digits; they are 0, as in
    `AdeleArray`, and `return_known` tells how many digits to trust.

    Args:
        x: coordinates as `encode` returns them, with the real row or without.
        y: likewise, of the same dtype; broadcast against x.
        space: theirs.
        return_known: whether to return the counts of known digits as well.

    Returns:
        The coordinates of the product, in their layout and dtype. With `return_known` also an int32 tensor,
        (*, n_primes): the number of known digits, from the lowest one of the window upwards; 0 where the product lies
        below the window. `AdeleArray` raises there; here the coordinate is all zeros.

    Raises:
        EncodingError: shapes or dtypes do not fit each other or the space.

    >>> import torch
    >>> from adelic import AdeleSpace
    >>> space = AdeleSpace(primes=(2, 3), precision=4)
    >>> mul(encode(torch.tensor(7), space=space), encode(torch.tensor(-5), space=space), space)
    tensor([[  0.,   0.,   0., -35.],
            [  1.,   1.,   0.,   1.],
            [  1.,   2.,   0.,   1.]])
    """
    window = _window(space)
    x_real, x_digits = _parts("x", x, window)
    y_real, y_digits = _parts("y", y, window)
    _check_pair(x, y)
    precision, below = window.precision, window.fractional_digits
    wide = torch.int32 if (precision + 1) * max(window.primes) ** 2 < 2**31 else torch.int64
    # Highest digit first, the windows end at p^(-F) each and the product at p^(-2F): N + F digits of it are needed.
    a = x_digits.to(wide)
    b = pad(y_digits.to(wide), (below, 0))
    total = a[..., -1:] * b
    for k in range(1, precision):
        total = total + pad(a[..., -1 - k, None] * b[..., k:], (0, k))
    digits = _carry(total, window)
    known = None
    if below:
        zeros = torch.minimum(_low_zeros(x_digits), _low_zeros(y_digits))
        is_inside = ~(digits[..., precision:] != 0).any(dim=-1)
        known = torch.where(is_inside, precision - below + zeros.clamp(max=below), 0).int()
        place = torch.arange(precision - 1, -1, -1, device=x.device)
        digits = torch.where(place < known[..., None], digits[..., :precision], 0)
    result = _joined(None if x_real is None or y_real is None else x_real * y_real, digits, x.dtype, window)
    if not return_known:
        return result
    if known is None:
        known = torch.full(digits.shape[:-1], precision, dtype=torch.int32, device=x.device)
    return result, known


def decode_int(x: Tensor, space: AdeleSpace, *, return_valid: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return the integers with these digits, by Garner's mixed-radix form of the Chinese remainder theorem.

    Every int64 n with −M/2 ≤ n < M/2 for M = ∏ p^(N−F), which is `space.decoding_bound`, is decoded from its digits:
    all of int64 when M ≥ 2^64, as in the default space. Only as many primes and digits are read as that takes. The
    real row is not read.

    Args:
        x: coordinates as `encode` returns them, with the real row or without.
        space: theirs.
        return_valid: whether to return the mask as well.

    Returns:
        int64, (*). With `return_valid` also a bool tensor, (*): whether the integer has exactly the digits of x. Where
        it is False, x is no int64 of that range: a fraction, a greater integer, or digits that contradict each other.

    Raises:
        EncodingError: the shape or dtype of x does not fit the space.

    Source: Garner, "The residue number system", 1959; Knuth, TAOCP 2, section 4.3.2.

    >>> import torch
    >>> from adelic import AdeleSpace
    >>> decode_int(encode(torch.tensor([7, -(2**63)]), space=AdeleSpace()), AdeleSpace())
    tensor([                   7, -9223372036854775808])
    """
    window = _window(space)
    _, digits = _parts("x", x, window)
    parts: list[Tensor] = []  # n = Σ part · weight, 0 <= part < radix, weight = ∏ of the radices before
    radices: list[int] = []
    for j, first, last in _reading_order(window):
        p = window.primes[j]
        part = torch.zeros_like(digits[..., 0, 0], dtype=torch.int64)
        for k in reversed(range(first, last)):
            part = part * p + digits[..., j, window.precision - 1 - k].long()
        radix = p ** (last - first)
        if first == window.fractional_digits:  # else it is the next limb of the same prime, a part as it is
            weight = 1
            for known, known_radix in zip(parts, radices, strict=True):
                part = part - _times(known, weight % radix, radix)
                part = torch.where(part < 0, part + radix, part)
                weight *= known_radix
            part = _times(part, pow(weight, -1, radix), radix)
        parts.append(part)
        radices.append(radix)
    modulus = prod(radices)
    half = -(-modulus // 2)
    number = torch.zeros_like(parts[0])
    is_negative = torch.ones_like(parts[0], dtype=torch.bool)
    weight = 1
    for part, radix in zip(parts, radices, strict=True):
        number = number + part * _signed(weight)  # modulo 2^64, where the result fits
        limit = half // weight % radix
        is_negative = (part > limit) | ((part == limit) & is_negative)
        weight *= radix
    number = torch.where(is_negative, number - _signed(modulus), number)
    if not return_valid:
        return number
    again = encode(number, space=space, dtype=torch.int32, real_row=False)
    assert isinstance(again, Tensor)
    return number, (again == digits).all(dim=-1).all(dim=-1)


def _reading_order(window: Window) -> list[tuple[int, int, int]]:
    """Return what decoding reads: (prime index, first digit, last digit + 1), until the product reaches 2^64.

    Greatest prime first, all of its digits; a later prime gives one limb below 2^50. That is all of its digits, or the
    first prime had 2^50 at least, and both together reach 2^64.
    """
    order: list[tuple[int, int, int]] = []
    modulus = 1
    for j in sorted(range(len(window.primes)), key=lambda j: -window.primes[j]):
        p, first = window.primes[j], window.fractional_digits
        step = next(k for k in range(50, 0, -1) if p**k < _MULTIPLY_LIMIT)
        while first < window.precision and modulus < 2**64:
            last = min(first + step, window.precision)
            order.append((j, first, last))
            modulus *= p ** (last - first)
            if j != order[0][0]:
                break
            first = last
    return order


def _times(x: Tensor, factor: int, modulus: int) -> Tensor:
    """Return x · factor modulo a modulus below 2^50, for 0 <= x < 2^50: the quotient is off by one at most."""
    quotient = torch.floor(x.double() * (factor / modulus)).long()
    remainder = x * factor - quotient * modulus
    remainder = torch.where(remainder < 0, remainder + modulus, remainder)
    return torch.where(remainder >= modulus, remainder - modulus, remainder)


def _signed(value: int) -> int:
    """Return the int64 that is congruent modulo 2^64.

    >>> _signed(2**64 - 1), _signed(2**63)
    (-1, -9223372036854775808)
    """
    return (value + 2**63) % 2**64 - 2**63


# --- From numbers to digits ---


def _limb_digits(primes: tuple[int, ...], precision: int) -> int:
    """Return K: the greatest limbs that spread exactly, evened out over the window.

    >>> _limb_digits((2, 3, 5, 7, 11, 13, 17), 16), _limb_digits((2, 251), 16), _limb_digits((65537,), 16)
    (4, 2, 1)
    """
    k = 1
    while k < precision and max(primes) ** (k + 1) < _SPREAD_LIMIT:
        k += 1
    return -(-precision // -(-precision // k))


def _encode_fractions(n: Tensor, m: Tensor, window: Window, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the digits, (*, n_primes, precision), and where they exist, (*, n_primes)."""
    primes, precision, below = window.primes, window.precision, window.fractional_digits
    n, m = n[..., None], m[..., None]
    table = _division_table(primes, n.device)
    steps = _division_steps(primes)
    for i in range(len(steps)):  # what n and m have in common of each p, by powers 2^i
        n_quotient, n_divides = _divide_exactly(n, steps[i], table[i])
        m_quotient, m_divides = _divide_exactly(m, steps[i], table[i])
        n = torch.where(n_divides & m_divides, n_quotient, n)
        m = torch.where(n_divides & m_divides, m_quotient, m)
    shift = torch.full_like(m, below)
    for i in range(len(steps)):
        if steps[i] <= below:
            m_quotient, m_divides = _divide_exactly(m, steps[i], table[i])
            m = torch.where(m_divides, m_quotient, m)
            shift = torch.where(m_divides, shift - steps[i], shift)

    k = _limb_digits(primes, precision)
    modulus, reciprocal, p, p_reciprocal = _limb_constants(primes, k, n.device)
    b, s = _split(m, modulus, reciprocal)
    residue = _modulo(s, p, p_reciprocal)
    valid = (residue != 0) & (shift >= 0)
    n = torch.where(valid, n, 0)

    inverse = _inverse(residue, primes, p, p_reciprocal)
    right = 1
    while right < k:  # Newton: twice as many digits a step
        error = 2 - _modulo(s * inverse, modulus, reciprocal)
        inverse = _modulo(inverse * error, modulus, reciprocal)
        right *= 2

    limbs = []
    for _ in range(-(-precision // k)):
        a, r = _split(n, modulus, reciprocal)
        c = _modulo(r * inverse, modulus, reciprocal)
        limbs.append(c)
        n = a - c.long() * b + torch.round((r - c * s) * reciprocal).long()
    digits = _spread(limbs, primes, precision, dtype)
    if below:  # digit k of the window is digit k − shift of the unit part
        place = torch.arange(precision, device=n.device) + shift.clamp(min=0)[..., None]
        digits = torch.gather(pad(digits, (0, below)), -1, place)
    return digits, valid


def _inverse(residue: Tensor, primes: tuple[int, ...], p: Tensor, p_reciprocal: Tensor) -> Tensor:
    """Return inverses modulo p, (*, n_primes), of float64 residues; what becomes of 0 has no meaning."""
    if max(primes) <= _TABLE_LIMIT:
        table = tuple(float(pow(a, -1, q)) if a else 0.0 for q in primes for a in range(q))
        starts = tuple(sum(primes[:j]) for j in range(len(primes)))
        places = _constant(starts, torch.int64, residue.device) + residue.long()
        return _constant(table, torch.float64, residue.device)[places]
    inverse, power = torch.ones_like(residue), residue  # residue^(p-2), Fermat
    for bit in range(max(primes).bit_length()):
        is_set = ((p.long() - 2) >> bit) & 1 == 1
        inverse = torch.where(is_set, _modulo(inverse * power, p, p_reciprocal), inverse)
        power = _modulo(power * power, p, p_reciprocal)
    return inverse


def _split(v: Tensor, modulus: Tensor, reciprocal: Tensor) -> tuple[Tensor, Tensor]:
    """Return ⌊v/P⌋ (int64) and v mod P (float64) for any int64 v and 2 <= P <= 2^24.

    The first quotient is off by 2^(-51) of itself at most, so that its remainder is below P + 2^12.
    """
    quotient = torch.floor(v.double() * reciprocal).long()
    remainder = (v - quotient * modulus.long()).double()
    correction = torch.floor((remainder + 0.5) * reciprocal)
    return quotient + correction.long(), remainder - correction * modulus


def _modulo(x: Tensor, modulus: Tensor, reciprocal: Tensor) -> Tensor:
    """Return x mod P for float64 integers |x| < 2^51."""
    return x - torch.floor((x + 0.5) * reciprocal) * modulus


def _divide_exactly(x: Tensor, exponent: int, row: Tensor) -> tuple[Tensor, Tensor]:
    """Return x / p^exponent and where it is an integer; what stands elsewhere has no meaning.

    For odd p the quotient is the product with p^(-exponent) modulo 2^64, an integer if it is small enough.
    """
    inverse, divisor, largest = row.unbind()
    quotient = torch.where(inverse == 0, x >> exponent, x * inverse)
    return quotient, (quotient * divisor == x) & (quotient <= largest) & (quotient >= -largest)


def _spread(limbs: list[Tensor], primes: tuple[int, ...], precision: int, dtype: torch.dtype) -> Tensor:
    """Return the digits of limbs, the lowest limb first, as (*, n_primes, precision), the highest digit first."""
    # One plane a limb, not one column: neighbouring threads then write neighbouring elements.
    stacked = torch.stack([limb.float() for limb in reversed(limbs)])
    k = -(-precision // len(limbs))
    if k == 1:
        return stacked.movedim(0, -1).to(dtype)
    powers = _negative_powers(primes, k, stacked.device)[:, None]
    p = torch.round(1 / powers[..., -2:-1])
    c = stacked.movedim(0, -1)[..., None] + 0.5
    digits = torch.floor(c * powers[..., 1:]) - p * torch.floor(c * powers[..., :-1])
    return digits.to(dtype).flatten(-2)[..., len(limbs) * k - precision :]


# --- The real row ---


def _real_row(value: Tensor, precision: int) -> Tensor:
    """Return [0, …, 0, q] as (*, 1, precision)."""
    is_last = torch.arange(precision, device=value.device) == precision - 1
    return torch.where(is_last, value[..., None, None], 0)


def _nearest_double(n: Tensor, m: Tensor) -> Tensor:
    """Return n/m correctly rounded to float64, NaN for m = 0, by long division: 57 bits and whether anything is left.

    Both are brought to 2^62 … 2^63 − 1, so that the quotient has its bits where a fixed number of steps finds them.
    """
    a, a_shift = _normalized(n)
    b, b_shift = _normalized(m)
    quotient = (a >= b).long()
    rest = a - quotient * b
    scale = 2.0**28 / b.double()
    for _ in range(2):
        # Too small by 1 at most, never too large: the new rest lies in 0 … 2b − 1 < 2^64, negative from 2^63 on.
        bits = torch.floor(rest.double() * scale - 2.0**-16).clamp(min=0).long()
        rest = (rest << 28) - bits * b
        is_short = (rest < 0) | (rest >= b)
        rest = torch.where(is_short, rest - b, rest)
        quotient = (quotient << 28) + bits + is_short.long()
    magnitude = ((quotient << 1) | (rest != 0).long()).double()
    magnitude = torch.ldexp(magnitude, b_shift - a_shift - 57)
    value = torch.where((n < 0) ^ (m < 0), -magnitude, magnitude)
    value = torch.where(n == 0, 0.0, value)
    return torch.where(m == 0, torch.nan, value)


def _normalized(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return |x| · 2^shift in 2^62 … 2^63 − 1, and the shift; −2^63 has the shift −1, and 0 stays 0."""
    is_least = x == -(2**63)
    size = torch.where(is_least, 2**62, x.abs())
    # A reduction, where a chain of halvings would be inlined 3^6 times by the compiler.
    shift = 63 - ((size[..., None] >> torch.arange(63, device=x.device)) != 0).sum(dim=-1)
    is_zero = shift == 63
    return torch.where(is_zero, 0, size << torch.where(is_zero, 0, shift)), shift - is_least.long()


# --- Sums, products ---


def _carry(total: Tensor, window: Window) -> Tensor:
    """Return sums of digits or of products of digits as digits, the highest first, dropping what leaves the window."""
    p = torch.round(1 / _negative_powers(window.primes, 1, total.device)[:, 0]).to(total.dtype)
    carry = torch.zeros_like(total[..., 0])
    digits = []
    for column in reversed(total.unbind(-1)):
        column = column + carry
        carry = torch.div(column, p, rounding_mode="floor")
        digits.append(column - carry * p)
    return torch.stack(digits[::-1], dim=-1)


def _low_zeros(digits: Tensor) -> Tensor:
    """Return how many of the lowest digits are zeros, (*, n_primes)."""
    return (digits.flip(-1) != 0).int().cumsum(dim=-1).eq(0).sum(dim=-1)


def _window(space: AdeleSpace) -> Window:
    """Return a space's parameters, which a compiled graph takes as constants, never as symbols."""
    return Window(tuple([index(p) for p in space.primes]), index(space.precision), index(space.fractional_digits))


def _parts(name: str, x: Tensor, window: Window) -> tuple[Tensor | None, Tensor]:
    """Return the real values, (*), if there is a real row, and the digits, (*, n_primes, precision)."""
    if not isinstance(x, Tensor):
        raise EncodingError(f"{name} must be a tensor of coordinates, not {type(x).__name__}; see encode")
    rows = x.shape[-2] if x.ndim >= 2 else -1
    if rows not in (len(window.primes), len(window.primes) + 1) or x.shape[-1] != window.precision:
        raise EncodingError(
            f"{name} has shape {tuple(x.shape)}; in this space it must end in ({len(window.primes) + 1}, "
            f"{window.precision}), or ({len(window.primes)}, {window.precision}) without the real row"
        )
    has_real_row = rows == len(window.primes) + 1
    _check_space(window, x.dtype, has_real_row)
    return (x[..., 0, -1], x[..., 1:, :]) if has_real_row else (None, x)


def _joined(value: Tensor | None, digits: Tensor, dtype: torch.dtype, window: Window) -> Tensor:
    digits = digits.to(dtype)
    return digits if value is None else torch.cat([_real_row(value, window.precision), digits], dim=-2)


def _broadcast(x_name: str, x: Tensor, y_name: str, y: Tensor) -> tuple[Tensor, Tensor]:
    for a, b in zip(reversed(x.shape), reversed(y.shape), strict=False):
        if a != b and a != 1 and b != 1:
            raise EncodingError(
                f"{x_name} of shape {tuple(x.shape)} and {y_name} of shape {tuple(y.shape)} do not fit together"
            )
    x, y = torch.broadcast_tensors(x, y)  # type: ignore[no-untyped-call]
    return x, y


def _check_pair(x: Tensor, y: Tensor) -> None:
    """Raise `EncodingError` unless two operands, each right for the space, fit together."""
    if x.dtype != y.dtype or x.device != y.device:
        raise EncodingError(
            f"x is {x.dtype} on {x.device}, y is {y.dtype} on {y.device}; operands need one dtype and device"
        )
    if x.shape[-2] != y.shape[-2]:
        raise EncodingError(
            f"x of shape {tuple(x.shape)} and y of shape {tuple(y.shape)}: one has the real row, the other has not"
        )
    _broadcast("x", x, "y", y)


def _check_numbers(name: str, x: Tensor) -> None:
    if not isinstance(x, Tensor) or x.dtype != torch.int64:
        given = f"of dtype {x.dtype}" if isinstance(x, Tensor) else f"a {type(x).__name__}"
        raise EncodingError(f"{name} must be an int64 tensor, not {given}; AdeleSpace.encode reads everything else")


def _check_space(window: Window, dtype: torch.dtype, real_row: bool) -> None:
    """Raise an error unless a dtype holds the coordinates of a space."""
    if dtype not in _GREATEST_DIGIT:
        names = ", ".join(str(known) for known in _GREATEST_DIGIT)
        raise EncodingError(f"{dtype} is no dtype of coordinates; use one of {names}")
    largest = max(window.primes)
    if largest > GREATEST_PRIME:
        raise SpaceError(f"the prime {largest} is too large for adelic.nn.functional; primes up to 2^24 are supported")
    if largest - 1 > _GREATEST_DIGIT[dtype]:
        raise EncodingError(
            f"{dtype} does not hold the digits of the prime {largest}, only integers up to {_GREATEST_DIGIT[dtype]}; "
            "use torch.float32, or torch.int32 without the real row"
        )
    if real_row and not dtype.is_floating_point:
        raise EncodingError(f"{dtype} does not hold the real row; pass real_row=False, or use torch.float32")


# --- Constants, a few bytes a prime: copied to a device once, or part of a compiled graph ---


def _division_steps(primes: tuple[int, ...]) -> list[int]:
    """Return the exponents by which factors p are found in an int64, the greatest first."""
    return [e for e in (32, 16, 8, 4, 2, 1) if min(primes) ** e < 2**63]


def _limb_constants(primes: tuple[int, ...], k: int, device: torch.device) -> Tensor:
    """Return p^k, 1/p^k, p, 1/p as float64, (4, n_primes)."""
    limbs = tuple(float(p**k) for p in primes)
    rows = limbs, tuple(1 / limb for limb in limbs), tuple(float(p) for p in primes), tuple(1 / p for p in primes)
    return _constant(rows, torch.float64, device)


def _negative_powers(primes: tuple[int, ...], k: int, device: torch.device) -> Tensor:
    """Return p^(-k), …, p^(-1), 1 as float32, (n_primes, k + 1)."""
    return _constant(tuple(tuple(p**-e for e in range(k, -1, -1)) for p in primes), torch.float32, device)


def _division_table(primes: tuple[int, ...], device: torch.device) -> Tensor:
    """Return p^(-e) modulo 2^64 (0 for p = 2), p^e modulo 2^64, and the largest |quotient|, (steps, 3, n_primes)."""
    table = []
    for e in _division_steps(primes):
        inverses = tuple(_signed(pow(p**e, -1, 2**64)) if p > 2 else 0 for p in primes)
        divisors = tuple(_signed(p**e) for p in primes)
        # No number below 2^63 but 0 has a greater power as a factor, and 0 is then told by a smaller one.
        largest = tuple(2**63 // p**e if p**e < 2**63 else -1 for p in primes)
        table.append((inverses, divisors, largest))
    return _constant(tuple(table), torch.int64, device)


_CONSTANTS: dict[object, Tensor] = {}


def _constant(values: tuple[object, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    if torch.compiler.is_compiling():  # a constant of the graph
        return torch.tensor(values, dtype=dtype, device=device)
    key = values, dtype, device
    constant = _CONSTANTS.get(key)
    if constant is None:
        with torch.inference_mode(False):
            constant = torch.tensor(values, dtype=dtype, device=device)
        if type(constant) is Tensor:  # not what a tracing mode puts in its place
            _CONSTANTS[key] = constant
    return constant
