"""Fuzz `decode`: any coordinates of any space give the number that has them all, or a `DecodingError`.

    python fuzz/decode.py -max_total_time=600

See fuzz/README.md. `check` needs no fuzzer; the tests run it over the seeds.
"""

import struct

import numpy as np
from harness import fuzz

from adelic import AdeleSpace, AdelicError
from adelic.errors import DecodingError

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 101, 251, 257, 65537)
_COPIES = 40  # enough for the compiled decoder


def check(data: bytes) -> bool:
    """Make a space, digits and a ball of bytes, assert that decoding is right, and return whether there is a number.

    Layout: 2 bytes choose primes, then precision, fractional digits, kind of coordinates, 8 bytes the real value, 8 its
    radius, and the rest the digits (or numerator and denominator of the number whose digits they are).
    """
    mask, precision, fractional_digits, kind, value, radius, rest = _parts(data)
    primes = tuple(p for i, p in enumerate(_PRIMES) if mask >> i & 1)
    try:
        space = AdeleSpace(primes, precision, fractional_digits)
        if kind & 1:  # a number's own digits, and its own real value unless kind says otherwise
            n, m = (int.from_bytes(part, "big", signed=True) for part in (rest[:9], rest[9:18]))
            encoded = space.encode((n, m))
            digits = encoded.digits
            value = value if kind & 2 else float(encoded.real)
        else:
            digits = _digits(rest, space)
        array = space.from_digits(digits, value, radius=radius if kind & 4 else None)
    except AdelicError:
        return False
    number = _decoded(array)
    many = array.reshape(1)[np.zeros(_COPIES, dtype=np.int64)]
    if number is None:
        assert _decoded(many) is None, f"only the compiled decoder finds a number, in {array!r}"
        return False
    assert _decoded(many).tolist() == [number] * _COPIES
    np.testing.assert_array_equal(space.encode(number).digits, digits)
    ball = array._real.ball(10**6)
    assert ball is None or abs(number - ball[0]) <= ball[1], f"{number} is not at {value}"
    return True


def _decoded(array):
    try:
        return array.decode()
    except DecodingError:
        return None


def _parts(data: bytes):
    head, rest = data[:21].ljust(21, b"\0"), data[21:]
    mask, precision, fractional_digits, kind = struct.unpack(">HBBB", head[:5])
    value, radius = struct.unpack(">dd", head[5:])
    return mask, precision % 65, fractional_digits % 9, kind, value, radius, rest.ljust(18, b"\0")


def _digits(rest: bytes, space: AdeleSpace):
    """Return the bytes, over and over, as digits."""
    count = space.n_primes * space.precision
    table = np.resize(np.frombuffer(rest, dtype=np.uint8), count).reshape(space.n_primes, space.precision)
    return table % np.minimum(space.primes, 256)[:, None]


if __name__ == "__main__":
    fuzz(check, "decode")
