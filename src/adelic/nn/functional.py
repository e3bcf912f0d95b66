"""Encode, add, multiply and decode on the tensors' own device, bit-equal to `adelic.numbers`.

Everything here is a fixed sequence of tensor operations: no value ever travels to the host, so nothing waits for the
device, nothing breaks the graph of `torch.compile`, and no error depends on a value. What `AdeleSpace` raises as an
error is a mask here, for those who ask for it. On the CPU `AdeleSpace.tensor` is faster; this is for numbers that
are on a device already, or stay inside a compiled graph. How the digits are found is written in
`adelic.nn.kernels.lifting`.
"""

from math import log2, prod
from operator import index

import torch
from torch import Tensor
from torch.nn.functional import pad

from adelic.errors import EncodingError, SpaceError
from adelic.nn.checks import check_plain
from adelic.nn.kernels import lifting
from adelic.numbers import AdeleSpace
from adelic.numbers.window import Window

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
        (*, n_primes + 1, max_precision), or (*, n_primes, max_precision) without the real row, most significant digit
        first. With `return_valid` also a bool tensor, (*, n_primes): False if p divides the denominator more often
        than the window has fractional digits, or the denominator is 0. `AdeleSpace` raises there; here the coordinate
        is all zeros. The real value of a zero denominator is NaN.

    Raises:
        EncodingError: a tensor is not int64, shapes do not fit, or the dtype does not hold the digits or the real row.
        SpaceError: the space is none, or has a prime beyond 2^24.

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
    if denominators is None:
        digits = lifting.integer_digits(numerators, window, dtype)
        valid = torch.ones(digits.shape[:-1], dtype=torch.bool, device=digits.device)
        value = numerators.double()
    else:
        _check_numbers("denominators", denominators)
        if denominators.device != numerators.device:
            raise EncodingError(
                f"numerators are on {numerators.device}, denominators on {denominators.device}; move them together"
            )
        n, m = lifting.lowest_terms(*_broadcast("numerators", numerators, "denominators", denominators))
        digits, valid = lifting.fraction_digits(n, m, window, dtype)
        value = lifting.nearest_double(n, m) if real_row else n
    # To float32 first: bfloat16 is the float32 layout rounded, not the float64 value.
    coordinates = _joined(value.float() if real_row else None, digits, dtype, window)
    return (coordinates, valid) if return_valid else coordinates


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
    digits = lifting.cut(_carry(total, window), window)
    return _joined(None if x_real is None or y_real is None else x_real + y_real, digits, x.dtype, window)


def mul(x: Tensor, y: Tensor, space: AdeleSpace, *, return_known: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return x ⊗ y: one convolution of digits per prime, bit-equal to `AdeleArray`; real values in the tensors' dtype.

    All digits that x and y have are taken as known. With fractional_digits = F = 0 all digits of the product are known
    then. With F > 0 a factor with digits below p^0 hides as many of the product's highest digits; they are 0, as in
    `AdeleArray`, and `return_known` tells how many digits to trust.

    Args:
        x: coordinates as `encode` returns them, with the real row or without.
        y: likewise, of the same dtype; broadcast against x.
        space: theirs.
        return_known: whether to return the counts of known digits as well.

    Returns:
        The coordinates of the product, in their layout and dtype. With `return_known` also an int32 tensor,
        (*, n_primes): the number of known digits, from the lowest one of the window upwards; 0 if the product lies
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
    # A column of the product is at most `precision` products of digits, and a carry that is below precision · p.
    wide = torch.int32 if (precision + 1) * max(window.primes) ** 2 < 2**31 else torch.int64
    # Highest digit first, the windows end at p^(-F) each and the product at p^(-2F): N + F digits of it are needed.
    a = x_digits.to(wide)
    b = pad(y_digits.to(wide), (below, 0))
    total = a[..., -1:] * b
    for k in range(1, precision):
        total = total + pad(a[..., -1 - k, None] * b[..., k:], (0, k))
    digits = _carry(total, window)
    counts = lifting.column(x.device, window.precisions, torch.int32)
    if below:
        zeros = torch.minimum(_low_zeros(x_digits), _low_zeros(y_digits))
        is_inside = ~(digits[..., precision:] != 0).any(dim=-1)
        known = torch.where(is_inside, counts - below + zeros.clamp(max=below), 0).int()
        place = torch.arange(precision - 1, -1, -1, device=x.device)
        digits = torch.where(place < known[..., None], digits[..., :precision], 0)
    else:
        known = counts.expand(digits.shape[:-1])
        digits = lifting.cut(digits, window)
    result = _joined(None if x_real is None or y_real is None else x_real * y_real, digits, x.dtype, window)
    return (result, known) if return_known else result


def decode_int(x: Tensor, space: AdeleSpace, *, return_valid: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return the integers with these digits, by Garner's mixed-radix form of the Chinese remainder theorem.

    Every int64 n with −M/2 ≤ n < M/2 for M = ∏ p^(N_p − F), which is `space.decoding_bound`, is decoded from its
    digits: all of int64 when M ≥ 2^64, as in the default space. Only as many primes and digits are read as that takes.
    The real row is not read.

    Args:
        x: coordinates as `encode` returns them, with the real row or without.
        space: theirs.
        return_valid: whether to return the mask as well.

    Returns:
        int64, (*). With `return_valid` also a bool tensor, (*): whether the integer has exactly the digits of x. Where
        it is False, x is not an int64 of that range: it is a fraction or a greater integer, or its digits contradict
        each other.

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
    # From M/2 on a number counts as negative. Compared part by part: a higher part overrules the lower ones.
    is_negative = torch.ones_like(parts[0], dtype=torch.bool)
    weight = 1
    for part, radix in zip(parts, radices, strict=True):
        number = number + part * lifting.signed(weight)  # modulo 2^64, where the result fits
        limit = half // weight % radix
        is_negative = (part > limit) | ((part == limit) & is_negative)
        weight *= radix
    number = torch.where(is_negative, number - lifting.signed(modulus), number)
    if not return_valid:
        return number
    again = encode(number, space=space, dtype=torch.int32, real_row=False)
    assert isinstance(again, Tensor)
    return number, (again == digits).all(dim=-1).all(dim=-1)


def _reading_order(window: Window) -> list[tuple[int, int, int]]:
    """Return what decoding reads: (prime index, first digit, last digit + 1), until the product reaches 2^64.

    Greatest power p^(N_p − F) first, all of its digits; a later prime gives one limb below 2^50. That is all of its
    digits, or the first prime had about 2^50 at least, and both together reach 2^64.
    """
    order: list[tuple[int, int, int]] = []
    modulus = 1
    below = window.fractional_digits
    bits = [(n - below) * log2(p) for p, n in zip(window.primes, window.precisions, strict=True)]
    # Logarithms serve the order alone; that 2^64 is reached is decided with integers.
    for j in sorted(range(len(bits)), key=lambda j: -bits[j]):
        p, precision, first = window.primes[j], window.precisions[j], below
        step = next(k for k in range(50, 0, -1) if p**k < _MULTIPLY_LIMIT)
        while first < precision and modulus < 2**64:
            last = min(first + step, precision)
            order.append((j, first, last))
            modulus *= p ** (last - first)
            if j != order[0][0]:
                break
            first = last
    return order


def _times(x: Tensor, factor: int, modulus: int) -> Tensor:
    """Return x · factor modulo a modulus below 2^50, for 0 <= x < 2^50: the quotient is off by one at most."""
    # Two roundings, each by 2^(-53) of itself, move a quotient below 2^50 by 1/4 at most.
    quotient = torch.floor(x.double() * (factor / modulus)).long()
    remainder = x * factor - quotient * modulus  # both wrap modulo 2^64, and their small difference is right
    remainder = torch.where(remainder < 0, remainder + modulus, remainder)
    return torch.where(remainder >= modulus, remainder - modulus, remainder)


def _carry(total: Tensor, window: Window) -> Tensor:
    """Return sums of digits or of products of digits as digits, the highest first, dropping what leaves the window."""
    p = lifting.column(total.device, window.primes, total.dtype)
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
    if not isinstance(space, AdeleSpace):
        raise SpaceError(f"space={space!r} is no AdeleSpace; AdeleSpace() is the default one")
    primes, precisions = tuple([index(p) for p in space.primes]), tuple([index(n) for n in space.precisions])
    return Window(primes, precisions, index(space.fractional_digits))


def _parts(name: str, x: Tensor, window: Window) -> tuple[Tensor | None, Tensor]:
    """Return the real values, (*), if there is a real row, and the digits, (*, n_primes, max_precision)."""
    if not isinstance(x, Tensor):
        raise EncodingError(f"{name} must be a tensor of coordinates, not {type(x).__name__}; see encode")
    check_plain(x, x.device)
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
    """Return coordinates of a dtype: the row [0, …, 0, q] above the digits, or the digits alone."""
    digits = digits.to(dtype)
    if value is None:
        return digits
    is_last = torch.arange(window.precision, device=value.device) == window.precision - 1
    return torch.cat([torch.where(is_last, value.to(dtype)[..., None, None], 0), digits], dim=-2)


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
    check_plain(x, x.device)


def _check_space(window: Window, dtype: torch.dtype, real_row: bool) -> None:
    """Raise an error unless a dtype holds the coordinates of a space."""
    if dtype not in _GREATEST_DIGIT:
        names = ", ".join(str(known) for known in _GREATEST_DIGIT)
        raise EncodingError(f"{dtype} is not a dtype of coordinates; use one of {names}")
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
