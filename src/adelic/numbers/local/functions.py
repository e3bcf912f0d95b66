"""Square roots, exponentials, logarithms, Teichmüller lifts of one p-adic number, as far as its digits determine them.

As in `adelic.numbers.hensel` a number q is a `Residue` in a window: p^F · q modulo p^known. Every function returns the
digits that are the same for all q' with the known digits of q, and no other.

Source: N. Koblitz, p-adic Numbers, p-adic Analysis, and Zeta-Functions (1984), IV.1; J.-P. Serre, A Course in
Arithmetic (1973), II.3 for squares.
"""

from adelic.numbers.algebraic.polynomials import hensel_root
from adelic.numbers.hensel import Residue
from adelic.numbers.primes import valuation
from adelic.numbers.window import Window


class UndefinedError(ArithmeticError):
    """A function has no value at a number; the message is the rest of a sentence about it."""


class TooFewDigitsError(ArithmeticError):
    """The known digits do not tell a value, or whether there is one; the message is the rest of a sentence."""


def _parameters(window: Window) -> tuple[int, int, int]:
    """Return p, N and F of the one prime of a window."""
    return window.primes[0], window.precisions[0], window.fractional_digits


def unit_part(x: Residue, window: Window) -> Residue:
    """Return u, where x = p^v · u and p does not divide u; it is known as far as its window goes.

    >>> unit_part(Residue(12, 6), Window((2,), (6,), 0))
    Residue(value=3, known=4)
    """
    p, precision, f = _parameters(window)
    if not x.value:
        raise TooFewDigitsError("no digit other than 0 is known, so that it has no known unit part")
    v = valuation(x.value, p)
    known = min(x.known - v + f, precision)
    return Residue(x.value // p**v * p**f % p**known, known)


def square_root(x: Residue, window: Window) -> Residue:
    """Return the square root whose unit part is at most (p − 1)/2 modulo p, or 1 modulo 4 where p = 2.

    With r digits of the unit part known, r digits of the root's are, and r − 1 where p = 2.

    >>> square_root(Residue(2, 4), Window((7,), (4,), 0)), 2166**2 % 7**4
    (Residue(value=2166, known=4), 2)
    """
    p, precision, f = _parameters(window)
    if not x.value:  # the root has at least half the valuation
        return Residue(0, f - (f - x.known) // 2)
    k = valuation(x.value, p)
    v, unit, r = k - f, x.value // p**k, x.known - k
    if v % 2:
        raise UndefinedError(f"its valuation {v} is odd")
    if p == 2:
        modulus = 2 ** min(r, 3)
        if unit % modulus != 1:
            raise UndefinedError(f"its unit part is {unit % modulus} modulo {modulus}, and squares are 1 modulo 8")
        if r < 3:
            raise TooFewDigitsError("three digits of the unit part tell whether it is a square")
        root, r = _unit_root_at_two(unit, r), r - 1
    else:
        residue = _root_modulo(unit % p, p)
        if residue is None:
            raise UndefinedError(f"its unit part is {unit % p} modulo {p}, which is not a square")
        root = hensel_root((-unit, 0, 1), residue, p, r)
    known = min(v // 2 + r + f, precision)
    return Residue(root * p ** (v // 2 + f) % p**known, known)


def _unit_root_at_two(u: int, r: int) -> int:
    """Return the square root of u modulo 2^(r − 1) that is 1 modulo 4; u is 1 modulo 8 and known modulo 2^r.

    Newton's method for z = 1/√u: with u·z² = 1 modulo 2^k, the next z has it modulo 2^(2k − 2).
    """
    # 3 − u·z² is even, and is halved: one bit more of it has to be known.
    z, k = 1, 3
    while k < r:
        z = z * ((3 - u * z * z) % 2 ** (r + 1) // 2) % 2**r
        k = 2 * k - 2
    root = u * z % 2 ** (r - 1)
    return int(root if root % 4 == 1 else -root % 2 ** (r - 1))


def _root_modulo(a: int, p: int) -> int | None:
    """Return the square root of a modulo an odd prime that is at most (p − 1)/2, or None; a is not 0.

    The algorithm of Tonelli and Shanks (H. Cohen, A Course in Computational Algebraic Number Theory, 1993, 1.5.1).
    """
    if pow(a, (p - 1) // 2, p) != 1:
        return None
    e = valuation(p - 1, 2)
    q = (p - 1) >> e
    z = next(n for n in range(2, p) if pow(n, (p - 1) // 2, p) != 1)
    generator, root, rest = pow(z, q, p), pow(a, (q + 1) // 2, p), pow(a, q, p)  # root² = a · rest
    while rest != 1:
        order, square = 0, rest
        while square != 1:
            square, order = square * square % p, order + 1
        step = pow(generator, 1 << (e - order - 1), p)
        root, generator, e = root * step % p, step * step % p, order
        rest = rest * generator % p
    return min(root, p - root)


def exponential(x: Residue, window: Window) -> Residue:
    """Return exp(x) = Σ x^j / j!, which converges where v(x) > 1/(p − 1); it is known to as many digits as x.

    >>> exponential(Residue(5, 4), Window((5,), (4,), 0))     # 1 + 5 + 3·5^2 + 3·5^3
    Residue(value=456, known=4)
    """
    p, _, f = _parameters(window)
    least = 2 if p == 2 else 1
    known = x.known - f
    v = valuation(x.value, p) - f if x.value else max(known, least)
    if v < least:
        raise UndefinedError(f"its valuation is {v}, and the series converges for those from {least} on")
    if known < least:
        raise TooFewDigitsError(f"the series converges for valuations from {least} on, and its own is not known")
    value = x.value // p**f
    # Legendre: v(j!) <= (j − 1)/(p − 1), so that v(x^j / j!) >= j·v − (j − 1)/(p − 1), which rises with j.
    last = ((p - 1) * known - 1) // ((p - 1) * v - 1)  # from the next term on all are 0 modulo p^known
    shift = sum(last // p**i for i in range(1, last.bit_length() + 1))  # the valuation of last!
    modulus = p ** (known + shift)
    total, factor = 1, 1  # Σ x^j · last!/j!, from the last term down
    for j in range(last, 0, -1):
        factor = factor * j % modulus
        total = (total * value + factor) % modulus
    quotient = total // p**shift * pow(factor // p**shift, -1, p**known)
    return Residue(quotient * p**f % p**x.known, x.known)


def logarithm(x: Residue, window: Window) -> Residue:
    """Return log(x) of a unit x: the homomorphism with log(1 + t) = Σ (−1)^(j+1) · t^j / j, and 0 at roots of unity.

    Of x^(p − 1), or of x² where p = 2, the series converges. The result is known to as many digits as x, and to two
    where p = 2, since all logarithms are 0 modulo 4.

    >>> logarithm(Residue(6, 4), Window((5,), (4,), 0))     # 5 + 2·5^2 + 4·5^3, and exp of it is 6
    Residue(value=555, known=4)
    """
    p, precision, f = _parameters(window)
    if not x.value:
        raise TooFewDigitsError("no digit other than 0 is known; 0 has no logarithm")
    if valuation(x.value, p) != f:
        raise UndefinedError(
            f"its valuation is {valuation(x.value, p) - f}, and the series converges for units alone; p_branch=0 takes "
            f"0 for the logarithm of {p}, which is Iwasawa's"
        )
    r = x.known - f
    exponent = 2 if p == 2 else p - 1
    # A square is known to one digit more at p = 2, and log x = log x² / 2 to one less than log x².
    digits = r + valuation(exponent, p)
    value = _logarithm_series(pow(x.value // p**f, exponent, p**digits) - 1, p, digits)
    known = max(r, 2) if p == 2 else r
    result = value // 2 if p == 2 else value * pow(exponent, -1, p**r)
    within = min(known + f, precision)
    return Residue(result * p**f % p**within, within)


def _logarithm_series(t: int, p: int, digits: int) -> int:
    """Return log(1 + t) modulo p^digits, where p divides t, and 8 does where p = 2."""
    if not t:
        return 0
    v = valuation(t, p)
    end = digits // v
    while end * v - end.bit_length() < digits:  # v(j) is below the bits of j: from here on all terms are 0
        end += 1
    modulus = p ** (digits + end.bit_length())  # the terms are divided by j
    total, power = 0, 1
    for j in range(1, end):
        power = power * t % modulus
        w = valuation(j, p)
        term = power // p**w * pow(j // p**w, -1, p**digits)
        total += term if j % 2 else -term
    return int(total % p**digits)


def teichmuller(x: Residue, window: Window) -> Residue:
    """Return the ω with ω^p = ω that is x modulo p: 0, or a root of unity of order p − 1; all its digits are known.

    >>> teichmuller(Residue(2, 4), Window((5,), (4,), 0))       # 2 + 5 + 2·5^2 + 5^3
    Residue(value=182, known=4)
    """
    p, precision, f = _parameters(window)
    if x.value and valuation(x.value, p) < f:
        raise UndefinedError(f"its valuation is {valuation(x.value, p) - f}, so that it has no residue modulo {p}")
    if x.known <= f:
        raise TooFewDigitsError(f"its residue modulo {p} is not known")
    # With a ≡ ω modulo p, a^(p^k) ≡ ω^(p^k) = ω modulo p^(k + 1).
    modulus = p ** (precision - f)
    return Residue(pow(x.value // p**f % p, modulus // p, modulus) * p**f, precision)
