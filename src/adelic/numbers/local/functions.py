"""Unit parts, n-th roots, exponentials, logarithms, Teichmüller lifts of p-adic numbers, as far as digits tell them.

Numbers are coordinates at the one prime of a window, `FinitePlaces` of shape (size,). Every function returns, for all
of them at once, the digits that are the same for all q' with the known digits of q, and no other: p^F · f(q) modulo
p^known, one number alone as an integer and several as objects (size,), and `known`, int64 (size,).

Source: N. Koblitz, p-adic Numbers, p-adic Analysis, and Zeta-Functions (1984), IV.1; J.-P. Serre, A Course in
Arithmetic (1973), II.3 for squares.
"""

from collections.abc import Callable
from functools import cache
from math import gcd, isqrt, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.numbers import finite, integers
from adelic.numbers.algebraic.polynomials import roots_modulo
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.primes import legendre, valuation
from adelic.numbers.window import Window

_BALANCE = 4  # so many products of the series cost as much as one for a power

Counts = npt.NDArray[np.int64]


class FunctionError(ArithmeticError):
    """A function fails at some numbers, bool (size,); the message is the rest of a sentence about the first."""

    def __init__(self, where: npt.NDArray[np.bool_], reason: str) -> None:
        super().__init__(reason)
        self.where = where


class UndefinedError(FunctionError):
    """A function has no value at a number."""


class TooFewDigitsError(FunctionError):
    """The known digits do not tell a value, or whether there is one."""


def refuse(error: type[FunctionError], where: npt.NDArray[np.bool_], reason: Callable[[int], str]) -> None:
    """Raise an error if it fails at a number."""
    if where.any():
        raise error(where, reason(int(where.argmax())))


def parameters(x: FinitePlaces, window: Window) -> tuple[int, int, int, Counts, Counts]:
    """Return p, N and F of a window; how many digits of each number are known, and how many of those are 0 first."""
    f = window.fractional_digits
    known = x.known[:, 0].astype(np.int64)
    return window.primes[0], window.precisions[0], f, known, finite.valuations(x, f)[:, 0] + f


def residues(x: FinitePlaces, p: int) -> Any:
    """Return the residues: one number alone as the type that multiplies fastest, several as objects."""
    values = finite.residues(x.digits[:, 0], p)
    long = [integers.as_long(value, x.digits.shape[-1] * p.bit_length()) for value in values]
    return long[0] if len(long) == 1 else np.array(long, dtype=object)


def power(p: int, exponents: Counts) -> Any:
    """Return p to one power, or to one each."""
    return _of_each(lambda k: integers.as_long(p, k * p.bit_length()) ** k, exponents)


def _of_each(function: Callable[[int], Any], numbers: npt.NDArray[Any]) -> Any:
    """Return a function of each number, of which many may be the same; one alone if all are."""
    if len(numbers) == 1:
        return function(numbers.item())
    distinct, where = np.unique(numbers, return_inverse=True)
    found = [function(number) for number in distinct.tolist()]
    return found[0] if len(found) == 1 else np.array(found, dtype=object)[where]


def _pow(x: Any, exponent: int, modulus: Any) -> Any:
    """Return a power modulo a number, of one number or of each."""
    if isinstance(x, np.ndarray):
        return np.frompyfunc(lambda y: pow(y, exponent, modulus), 1, 1)(x)
    return pow(x, exponent, modulus)


def unit_part(x: FinitePlaces, window: Window) -> tuple[Any, Counts]:
    """Return the u of x = p^v · u with p not dividing u; they are known as far as the window goes.

    >>> from adelic.numbers import padic
    >>> print(padic(12, 2, 6).unit())
    …0011_2
    """
    p, precision, f, known, v = parameters(x, window)
    refuse(TooFewDigitsError, v >= known, lambda i: "no digit other than 0 is known, so it has no known unit part")
    known = np.minimum(known - v + f, precision)
    return residues(x, p) // power(p, v) * p**f % power(p, known), known


def is_square(x: FinitePlaces, window: Window) -> npt.NDArray[np.bool_]:
    """Return whether numbers have square roots, by their valuation and the lowest digit of the unit part, or three.

    >>> from adelic.numbers import padic
    >>> padic([2, 3, 98, 14], 7).is_square()
    array([ True, False,  True, False])
    """
    p, _, f, known, v = parameters(x, window)
    is_zero = v >= known
    is_even = (v - f) % 2 == 0
    if p > 2:
        return np.asarray(is_zero | is_even & (legendre(_unit_digit(x, v), p) == 1))
    is_one = _unit_digit(x, v, 3) % 2 ** np.minimum(known - v, 3) == 1
    refuse(
        TooFewDigitsError,
        ~is_zero & is_even & is_one & (known - v < 3),
        lambda i: "three digits of the unit part tell whether it is a square",
    )
    return np.asarray(is_zero | is_even & is_one)


def _unit_digit(x: FinitePlaces, v: Counts, count: int = 1) -> npt.NDArray[Any]:
    """Return the digit at a place of each number, or at p = 2 the number that it makes with those above."""
    digits = x.digits[:, 0, ::-1]
    found = [digits[np.arange(len(v)), np.minimum(v + k, digits.shape[1] - 1)] for k in range(count)]
    return np.asarray(found[0] if count == 1 else sum(part.astype(np.int64) << k for k, part in enumerate(found)))


def square_root(x: FinitePlaces, window: Window) -> tuple[Any, Counts]:
    """Return the square roots whose unit part is at most (p − 1)/2 modulo p, or 1 modulo 4 if p = 2.

    With r digits of the unit part known, r digits of the root's are, and r − 1 if p = 2.

    >>> from adelic.numbers import padic
    >>> padic(2, 7, 4).sqrt().lift(), 2166**2 % 7**4
    (2166, 2)
    """
    p, precision, f, known, v = parameters(x, window)

    def reason(i: int) -> str:
        if (v[i] - f) % 2:
            return f"its valuation {v[i] - f} is odd"
        if p > 2:
            return f"its unit part is {_unit_digit(x, v)[i]} modulo {p}, which is not a square"
        modulus = 2 ** min(int(known[i] - v[i]), 3)
        return f"its unit part is {_unit_digit(x, v, 3)[i] % modulus} modulo {modulus}, and squares are 1 modulo 8"

    refuse(UndefinedError, ~is_square(x, window), reason)
    is_zero = v >= known  # the root has at least half the valuation
    one = int(is_zero[0]) if len(is_zero) == 1 else is_zero.astype(np.int64)
    digits = np.where(is_zero, 1, _unit_digit(x, v))
    root = _unit_root(residues(x, p) // power(p, v) + one, digits, p, int((known - v).max()))
    shift = (v - f) // 2 + f
    known = np.where(is_zero, f - (f - known) // 2, np.minimum(shift + known - v - (p == 2), precision))
    return root * power(p, np.where(is_zero, known, shift)) % power(p, known), known


def _unit_root(unit: Any, digits: npt.NDArray[Any], p: int, r: int) -> Any:
    """Return the roots of units modulo p^r, or 2^(r − 1); `digits` are the units modulo p.

    Newton's method for z = 1/√u: with u·z² = 1 modulo p^k, the next z has it modulo p^2k, and modulo 2^(2k − 2).
    """
    base = integers.as_long(p, r * p.bit_length())
    if p == 2:
        z = 1
        for known in integers.doublings(r, 3, lost=2):
            # 3 − u·z² is even, and is halved: one bit more of it has to be known.
            z = z * ((3 - unit * z * z) % base ** (known + 1) // 2) % base**known
        root = unit * z % base ** max(r - 1, 2)
        return root * (2 - root % 4)  # 1 or −1, modulo 4
    z = _of_each(lambda a: pow(_root_modulo(a, p), -1, p), digits)
    for known in integers.doublings(r):
        modulus = base**known
        half = (modulus + 1) // 2
        z = z * (3 - unit % modulus * (z * z) % modulus) % modulus * half % modulus
    return unit * z % base ** max(r, 1)


def _root_modulo(a: int, p: int) -> int:
    """Return the square root of a square modulo an odd prime that is at most (p − 1)/2; a is not 0.

    The algorithm of Tonelli and Shanks (H. Cohen, A Course in Computational Algebraic Number Theory, 1993, 1.5.1).
    """
    e, q, generator = _two_part(p)
    power = pow(a, (q - 1) // 2, p)
    root = a * power % p
    rest = root * power % p  # root² = a · rest
    # The order of `rest` is a power of 2 that each round makes smaller.
    while rest != 1:
        order, square = 0, rest
        while square != 1:
            square, order = square * square % p, order + 1
        step = pow(generator, 1 << (e - order - 1), p)
        root, generator, e = root * step % p, step * step % p, order
        rest = rest * generator % p
    return min(root, p - root)


@cache
def _two_part(p: int) -> tuple[int, int, int]:
    """Return e and the odd q with p − 1 = 2^e · q, and an element of order 2^e modulo p."""
    e = valuation(p - 1, 2)
    q = (p - 1) >> e
    # Half of the residues are no squares, so one of the first few is not one.
    return e, q, pow(next(n for n in range(2, p) if pow(n, (p - 1) // 2, p) != 1), q, p)


def exponential(x: FinitePlaces, window: Window) -> tuple[Any, Counts]:
    """Return exp(x) = Σ x^j / j!, which converges if v(x) > 1/(p − 1); it is known to as many digits as x.

    Newton's steps find the y with log(y) = x: y·(1 + x − log(y)) has twice as many digits right, or one less at p = 2.

    >>> from adelic.numbers import padic
    >>> print(padic(5, 5, 4).exp())
    …3311_5
    """
    p, _, f, known, v = parameters(x, window)
    least = 2 if p == 2 else 1
    is_zero = v >= known
    refuse(
        UndefinedError,
        ~is_zero & (v - f < least),
        lambda i: f"its valuation is {v[i] - f}, and the series converges for those from {least} on",
    )
    refuse(
        TooFewDigitsError,
        known - f < least,
        lambda i: f"the series converges for valuations from {least} on, and its own is not known",
    )
    result = _exponential(residues(x, p) // p**f, p, int((known - f).max()), max(least, int((v - f).min())))
    return result * p**f % power(p, known), known


def _exponential(value: Any, p: int, precision: int, v: int) -> Any:
    """Return the exponentials modulo p^precision of integers whose valuations are v or more."""
    base = integers.as_long(p, precision * p.bit_length())
    result = value + 1
    lost = int(p == 2)
    for digits in integers.doublings(precision, 2 * v - lost, lost):
        result = result * (1 + value - _logarithm(result, 1, p, digits)) % base**digits
    return result


def logarithm(x: FinitePlaces, window: Window) -> tuple[Any, Counts]:
    """Return log(x) of units x: the homomorphism with log(1 + t) = Σ (−1)^(j+1) · t^j / j, and 0 at roots of unity.

    The result is known to as many digits as x, and to two if p = 2, since all logarithms are 0 modulo 4.

    >>> from adelic.numbers import padic
    >>> print(padic(6, 5, 4).log())     # and exp of it is 6
    …4210_5
    """
    p, precision, f, known, v = parameters(x, window)
    refuse(TooFewDigitsError, v >= known, lambda i: "no digit other than 0 is known; 0 has no logarithm")
    refuse(
        UndefinedError,
        v != f,
        lambda i: (
            f"its valuation is {v[i] - f}, and the series converges for units alone; p_branch=0 takes 0 for the "
            f"logarithm of {p}, which is Iwasawa's"
        ),
    )
    digits = np.maximum(known - f, 2 if p == 2 else 1)
    result = _logarithm(residues(x, p) // p**f, 2 if p == 2 else p - 1, p, int(digits.max()))
    known = np.minimum(digits + f, precision)
    return result * p**f % power(p, known), known


def _logarithm(x: Any, exponent: int, p: int, r: int) -> Any:
    """Return log(x) modulo p^r, if x to an exponent is 1 modulo p, or 4; x is known modulo p^r.

    Of x to the exponent times p^k it is as many times as large, and the series takes a (k + 1)-th of the terms, which
    are summed in rows, so two roots of their number of long products suffice (M. S. Paterson, L. J. Stockmeyer,
    1973). A square is known to one digit more at p = 2.
    """
    bits = p.bit_length()
    k = isqrt(r // (_BALANCE * bits))
    factor = exponent * p**k
    end = r + valuation(factor, p)  # modulo which power of p the power is known
    first = k + 1 if p > 2 else k + 1 + exponent  # the least valuation of t
    terms = end // first
    while terms * first - terms.bit_length() // max(bits - 1, 1) < end:  # v(j) is at most log j / log p
        terms += 1
    common = lcm(*range(1, terms))
    divisor = common * factor
    shift = valuation(divisor, p)
    modulus = integers.as_long(p, (r + shift) * bits) ** (r + shift)
    t = _pow(x, factor, modulus) - 1
    powers = [1, t]
    for _ in range(isqrt(terms)):
        powers.append(powers[-1] * t % modulus)
    *row, next_row = powers
    total = t * 0
    for start in reversed(range(0, terms, len(row))):
        chosen = range(max(start, 1), min(start + len(row), terms))
        part = sum((common // j if j % 2 else -common // j) * row[j - start] for j in chosen)
        total = (total * next_row + part) % modulus
    base = p**shift
    return total // base * integers.divide_modulo(1, divisor // base, p, r) % (modulus // base)


def teichmuller(x: FinitePlaces, window: Window) -> tuple[Any, Counts]:
    """Return the ω with ω^p = ω that are x modulo p: 0, or roots of unity of order p − 1; all their digits are known.

    Newton's steps for ω^(p − 1) = 1, in which −1/(p − 1) is 1 + p + p² + …

    >>> from adelic.numbers import padic
    >>> print(padic(2, 5, 4).teichmuller())
    …1212_5
    """
    p, precision, f, known, v = parameters(x, window)
    refuse(
        UndefinedError,
        (v < known) & (v < f),
        lambda i: f"its valuation is {v[i] - f}, so it has no residue modulo {p}",
    )
    refuse(TooFewDigitsError, known <= f, lambda i: f"its residue modulo {p} is not known")
    # Numbers with one residue have one lift, of which there are p at most.
    roots = _of_each(lambda a: _teichmuller(a, p, precision - f), _unit_digit(x, np.full_like(v, f)))
    return roots * p**f, np.full_like(known, precision)


def _teichmuller(residue: int, p: int, precision: int) -> Any:
    """Return the lift of a residue modulo p^precision."""
    base = integers.as_long(p, precision * p.bit_length())
    root = residue + base * 0
    for digits in integers.doublings(precision):
        modulus = base**digits
        root = root * (1 + (pow(root, p - 1, modulus) - 1) * ((modulus - 1) // (p - 1))) % modulus
    return root


def count_of_roots(n: int, p: int) -> int:
    """Return how many n-th roots a number has in Q_p if it has one: the roots of unity whose order divides n.

    >>> count_of_roots(3, 7), count_of_roots(5, 7), count_of_roots(6, 2)
    (3, 1, 2)
    """
    return gcd(n, p - 1 if p > 2 else 2)


def nth_roots(x: FinitePlaces, window: Window, n: int) -> tuple[Any, Counts]:
    """Return all n-th roots, objects (size, `count_of_roots`), ordered by their unit parts modulo p, or 4.

    A unit is ω·t with t = 1 modulo p; or modulo 4, and ω = ±1, if p = 2. Its roots are ω' · exp(log(t) / n) with
    ω'^n = ω, if exp converges there. To divide by n loses v(n) digits, and exp and log lose none.

    >>> from adelic.numbers import padic
    >>> print(padic(6, 5, 4).roots(2))
    …4031_5
    …0414_5
    """
    p, precision, f, known, v = parameters(x, window)
    lost, least = valuation(n, p), 2 if p == 2 else 1
    is_zero = v >= known
    refuse(UndefinedError, ~is_zero & ((v - f) % n != 0), lambda i: f"{n} does not divide its valuation {v[i] - f}")
    leading = np.where(is_zero, 1, _unit_digit(x, v, 2 if p == 2 else 1))
    lifts = {a: _roots_of_unity(a, n, p, precision) for a in set(leading.tolist())}
    refuse(
        UndefinedError,
        np.array([not lifts[a] for a in leading.tolist()]),
        lambda i: f"its unit part is {leading[i]} modulo {p if p > 2 else 4}, where that is no power of order {n}",
    )
    r = np.where(is_zero, least + lost, known - v)
    units = np.asarray(residues(x, p) // power(p, v), dtype=object).reshape(-1) + is_zero.astype(np.int64)
    log = _logarithm(units, 2 if p == 2 else p - 1, p, max(int(r.max()), least))
    end = least + lost
    refuse(
        UndefinedError,
        np.asarray(log % power(p, np.minimum(r, end)) != 0) if lost else np.zeros(len(r), dtype=np.bool_),
        lambda i: f"its unit part is no power of order {n} modulo {p}^{end}",
    )
    refuse(TooFewDigitsError, (r < end) & (lost > 0), lambda i: f"{end} digits of the unit part tell whether it is one")
    digits = max(int(r.max()) - lost, least)
    roots = _exponential(log // p**lost * pow(n // p**lost, -1, p**digits) % p**digits, p, digits, least)
    shift = (v - f) // n + f
    known = np.where(is_zero, f - (f - known) // n, np.minimum(shift + r - lost, precision))
    scale, modulus = (np.asarray(power(p, k)).reshape(-1, 1) for k in (np.where(is_zero, known, shift), known))
    return np.array([lifts[a] for a in leading.tolist()], dtype=object) * roots[:, None] * scale % modulus, known


def _roots_of_unity(residue: int, n: int, p: int, precision: int) -> list[Any]:
    """Return the Teichmüller lifts of the n-th roots of a residue modulo p, or ±1 for one modulo 4 if p = 2."""
    count = count_of_roots(n, p)
    if p == 2:
        return [2 - residue] if count == 1 else [1, -1] if residue == 1 else []
    # With n·k = count modulo p − 1, the roots are among those of order `count` of the k-th power.
    power = pow(residue, pow(n // count, -1, (p - 1) // count), p)
    found = [power] if count == 1 else roots_modulo((-power, *[0] * (count - 1), 1), p)
    return [_teichmuller(a, p, precision) for a in found if pow(a, n, p) == residue]
