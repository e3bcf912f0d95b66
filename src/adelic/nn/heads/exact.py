"""Exact numbers of any size in tensors, the operations on them, and derivations: an operation with its numbers.

Which operations on numbers make another is decided by residues, not floats.

A number is its numerator and denominator in two's complement, so whatever carries tensors carries it unharmed. On
the tensor's device it becomes its residues at two primes near 2^30 and its real value; a sum, product or quotient is
compared with a target there, the integers of gcd and remainders in int64. What these cannot decide (an integer beyond
int64, two numbers that float64 holds for equal, a denominator that such a prime divides) is computed with fractions.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from adelic.errors import ConfigurationError, EncodingError
from adelic.numbers.describe import describe, number_text
from adelic.numbers.rationals import read

PRIMES = (1073741789, 1073741783)
"""The greatest primes below 2^30: products of residues fit int64, and chance makes two results equal once in 2^60."""

MOST_BITS = 1 << 14
"""A power that may have more binary digits in its numerator or denominator is not computed."""

LARGEST_BITS = 1 << 18
"""An operation on two numbers that have more binary digits together is not defined: else a model that goes on writing
products would double their length with each."""

_LIMB = 32
_SMALL = 62
"""Integers below 2^62 are computed with in int64."""


def exact_numbers(numbers: Any) -> torch.Tensor:
    """Return numbers of any size as a tensor of integers, int32 (*, 2, limbs).

    Args:
        numbers: a sequence of numbers, as `AdeleSpace.encode` takes them, (n,); or of such sequences of any lengths,
            (rows, n), where shorter rows are filled. None stands for no number.

    Returns:
        numerators and denominators in two's complement, 32 bits an entry, the lowest first; the denominator 0 if
        there is no number.

    Raises:
        EncodingError, DivisionByZeroError: a value is not a number.

    >>> exact_numbers([-3, "1/2"])
    tensor([[[-3],
             [ 1]],
    <BLANKLINE>
            [[ 1],
             [ 2]]], dtype=torch.int32)
    >>> exact_numbers([[10**20], [7, 8]]).shape
    torch.Size([2, 2, 2, 3])
    """
    rows = _plain(numbers)
    is_nested = any(isinstance(row, Sequence) and not isinstance(row, str) for row in rows)
    lists = [[_fraction(value) for value in _plain(row)] for row in (rows if is_nested else [rows])]
    found = [value for row in lists for value in row if value is not None]
    bits = max((max(q.numerator.bit_length(), q.denominator.bit_length()) for q in found), default=0)
    n_limbs = bits // _LIMB + 1
    # Little-endian on any machine, as `to_bytes` writes it and files keep it.
    result = np.zeros((len(lists), max(map(len, lists), default=0), 2, n_limbs), dtype="<i4")
    for i, row in enumerate(lists):
        for j, q in enumerate(row):
            if q is not None:
                parts = [part.to_bytes(4 * n_limbs, "little", signed=True) for part in (q.numerator, q.denominator)]
                result[i, j] = np.frombuffer(b"".join(parts), dtype="<i4").reshape(2, n_limbs)
    tensor = torch.from_numpy(result.astype(np.int32))
    return tensor if is_nested else tensor[0]


def fractions_of(numbers: torch.Tensor) -> Any:
    """Return the numbers of a tensor (*, 2, limbs), an object array (*) of `Fraction`, None if there is none.

    >>> fractions_of(exact_numbers([-3, 10**30, None]))
    array([Fraction(-3, 1), Fraction(1000000000000000000000000000000, 1), None],
          dtype=object)
    """
    array = np.ascontiguousarray(numbers.detach().cpu().numpy().astype("<i4"))
    found = np.full(array.shape[:-2], None, dtype=object)
    for at in np.argwhere(array[..., 1, :].any(axis=-1)):
        n, m = (int.from_bytes(part.tobytes(), "little", signed=True) for part in array[tuple(at)])
        found[tuple(at)] = Fraction(n, m)
    return found


def padded(numbers: torch.Tensor, n_limbs: int) -> torch.Tensor:
    """Return the same numbers (*, 2, limbs) with more limbs, which repeat the sign.

    >>> fractions_of(padded(exact_numbers([-7]), 3))
    array([Fraction(-7, 1)], dtype=object)
    """
    more = n_limbs - numbers.shape[-1]
    sign = (numbers[..., -1:] >> (_LIMB - 1)).expand(*numbers.shape[:-1], max(more, 0))
    return torch.cat([numbers, sign], dim=-1) if more > 0 else numbers


def _plain(numbers: Any) -> list[Any]:
    """Return a sequence, an array or a tensor as a list, and those in it, too."""
    listed = numbers.tolist() if hasattr(numbers, "tolist") else list(numbers)
    return [one.tolist() if isinstance(one, np.ndarray | torch.Tensor) else one for one in listed]


def _fraction(value: Any) -> Fraction | None:
    if value is None or isinstance(value, Fraction):
        return value
    found = read(value)
    if found.shape:
        raise EncodingError(f"{describe(value)} is no number; numbers come as (n,) or as rows of them, (rows, n)")
    return found.fraction(0)


class Operands:
    """What is known of numbers (*, 2, limbs) on their device; tensors (*), residues (primes, *).

    Attributes:
        exists, is_zero, is_negative, is_whole, is_known: bool; the last says that the residues are the number's.
        residues, numerators, denominators: int64, modulo `PRIMES`.
        real, above, under, bits: float64, the number, its numerator and denominator, log2 of the greater of these.
        small, below: int64, the numerator and the denominator, where is_small and is_small_below, bool, say that it is
            below 2^62; else 0.

    >>> Operands(exact_numbers(["1/2", -7])).real
    tensor([ 0.5000, -7.0000], dtype=torch.float64)
    """

    def __init__(self, numbers: torch.Tensor) -> None:
        limbs = numbers.long()
        # The highest limb carries the sign, the others are what they are modulo 2^32.
        limbs = torch.cat([limbs[..., :-1] & ((1 << _LIMB) - 1), limbs[..., -1:]], dim=-1)
        self.primes = torch.tensor(PRIMES, device=numbers.device).reshape(-1, *[1] * (numbers.dim() - 2))
        # Apple's GPUs have no float64.
        is_double = numbers.device.type != "mps"
        real = torch.zeros(numbers.shape[:-1], dtype=torch.float64 if is_double else torch.float32).to(numbers.device)
        residues = torch.zeros((len(PRIMES), *numbers.shape[:-1]), dtype=torch.int64, device=numbers.device)
        # Horner's rule from the highest limb; each step stays below 2^62, as primes and limbs are below 2^30 and 2^32.
        primes = self.primes[..., None]
        for k in reversed(range(limbs.shape[-1])):
            real = real * 2.0**_LIMB + limbs[..., k]
            residues = (residues * ((1 << _LIMB) % primes) + limbs[..., k]) % primes
        self.numerators, self.denominators = residues[..., 0], residues[..., 1]
        self.exists = (numbers[..., 1, :] != 0).any(dim=-1)
        self.is_zero = (numbers[..., 0, :] == 0).all(dim=-1)
        self.is_negative = numbers[..., 0, -1] < 0
        self.is_known = (self.denominators != 0).all(dim=0)
        self.is_whole = (numbers[..., 1, 0] == 1) & (numbers[..., 1, 1:] == 0).all(dim=-1)
        self.above, self.under = real.unbind(dim=-1)
        self.real = torch.where(self.exists, real[..., 0] / real[..., 1], 0)
        self.bits = _bits(limbs, real).amax(dim=-1)
        self.is_small, self.is_small_below = (real.abs() < 2.0**_SMALL).unbind(dim=-1)
        # Two limbs hold what is below 2^62, and its sign.
        low = limbs[..., 0] + ((limbs[..., 1] << _LIMB) if limbs.shape[-1] > 1 else 0)
        self.small = torch.where(self.is_small, low[..., 0], 0)
        self.below = torch.where(self.is_small_below, low[..., 1], 0)
        self.residues = self.numerators * _inverse(self.denominators, self.primes) % self.primes

    def along(self, dim: int) -> "Operands":
        """Return the same with one axis more, to be broadcast against others."""
        # Not by __init__, which would compute all residues again.
        view = object.__new__(Operands)
        view.__dict__ = {key: value.unsqueeze(dim) for key, value in vars(self).items()}
        return view


def _bits(limbs: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Return log2 of integers (*, limbs), at least 0; of those beyond float64 that of the limbs that they fill."""
    # Limbs that only repeat the sign fill nothing.
    is_sign = limbs == torch.where(limbs[..., -1:] < 0, (1 << _LIMB) - 1, 0)
    is_sign[..., -1] = (limbs[..., -1] == 0) | (limbs[..., -1] == -1)
    filled = torch.arange(1, limbs.shape[-1] + 1, device=limbs.device).where(~is_sign, 1).amax(dim=-1)
    return torch.where(real.isfinite(), real.abs().clamp(min=1).log2(), filled * float(_LIMB))


def _inverse(residues: torch.Tensor, primes: torch.Tensor) -> torch.Tensor:
    """Return inverses modulo primes; 0 of 0."""
    # Fermat: a^(p − 2) is 1/a modulo a prime p, for all elements at once and without a branch.
    return _power(residues, primes - 2, primes, _LIMB - 2)


def _power(base: torch.Tensor, exponents: torch.Tensor, primes: torch.Tensor, n_bits: int) -> torch.Tensor:
    """Return powers modulo primes, of exponents with at most so many bits."""
    result = torch.ones_like(primes)
    # The same steps for every exponent, so no device has to tell the host a value.
    for bit in range(n_bits):
        result = torch.where((exponents >> bit) & 1 == 1, result * base % primes, result)
        base = base * base % primes
    return result


class Results(NamedTuple):
    """What an operation gives: residues (primes, *), real values (*), and where these are right, bool (*)."""

    residues: torch.Tensor
    real: torch.Tensor
    is_known: torch.Tensor


Compute = Callable[..., Results]


def _field(residues: Callable[..., torch.Tensor], real: Callable[..., torch.Tensor]) -> Compute:
    """Return an operation of fields: the same formula modulo the primes as for reals."""

    def results(a: Operands, b: Operands) -> Results:
        return Results(residues(a, b) % a.primes, real(a.real, b.real), a.is_known & b.is_known)

    return results


def _quotient(a: Operands, b: Operands) -> Results:
    # Not known if a prime divides the numerator of b.
    is_unit = (b.numerators != 0).all(dim=0)
    inverse = b.denominators * _inverse(b.numerators, b.primes) % b.primes
    return Results(a.residues * inverse % a.primes, a.real / b.real, a.is_known & b.is_known & is_unit)


def _sign(a: Operands, b: Operands) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sign of a − b, int64, and whether it is known; float64 alone does not tell near numbers apart."""
    difference, size = a.real - b.real, a.real.abs() + b.real.abs()
    # A double is right to 2^-53; quotients of numbers beyond it lose a few bits more. Nearer ones are left to residues.
    is_far = difference.abs() > 1e-9 * size
    is_equal = (a.residues == b.residues).all(dim=0) & ~is_far
    is_known = a.is_known & b.is_known & (is_equal | is_far)
    return torch.where(is_equal, 0, difference.sign().nan_to_num().long()), is_known


def _chosen(which: Callable[[torch.Tensor], torch.Tensor]) -> Compute:
    """Return the operation that takes a or b, a where `which` says so of the sign of a − b."""

    def results(a: Operands, b: Operands) -> Results:
        sign, is_known = _sign(a, b)
        is_first = which(sign)
        return Results(torch.where(is_first, a.residues, b.residues), torch.where(is_first, a.real, b.real), is_known)

    return results


def _distance(a: Operands, b: Operands) -> Results:
    sign, is_known = _sign(a, b)
    return Results(sign * (a.residues - b.residues) % a.primes, (a.real - b.real).abs(), is_known)


def _truth(holds: Callable[[torch.Tensor], torch.Tensor]) -> Compute:
    """Return the comparison that is 1 where `holds` says so of the sign of a − b, and else 0."""

    def results(a: Operands, b: Operands) -> Results:
        sign, is_known = _sign(a, b)
        truth = holds(sign)
        return Results(truth.long().expand(len(a.primes), *truth.shape), truth.to(a.real.dtype), is_known)

    return results


def _integers(compute: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Compute:
    """Return an operation on integers, int64; a divisor 0 is replaced, since what it gives is not defined."""

    def results(a: Operands, b: Operands) -> Results:
        value = compute(*_alike(a.small, b.small))
        return Results(value % a.primes, value.to(a.real.dtype), a.is_small & b.is_small)

    return results


def _lcm(a: Operands, b: Operands) -> Results:
    return _least_common(a.small.abs(), b.small.abs(), a, a.is_small & b.is_small)


def _lcd(a: Operands, b: Operands) -> Results:
    return _least_common(a.below, b.below, a, a.is_small_below & b.is_small_below)


def _least_common(x: torch.Tensor, y: torch.Tensor, a: Operands, is_known: torch.Tensor) -> Results:
    x, y = _alike(x, y)
    part = x // torch.gcd(x, y).clamp(min=1)  # the product alone may exceed int64
    return Results(part % a.primes * (y % a.primes) % a.primes, part.to(a.real) * y, is_known)


def _raised(a: Operands, b: Operands) -> Results:
    base = torch.where(b.is_negative, _inverse(a.residues, a.primes), a.residues)
    exponent = b.small.abs().clamp(max=MOST_BITS)
    is_unit = (a.numerators != 0).all(dim=0)
    is_known = a.is_known & (b.small.abs() <= MOST_BITS) & (is_unit | a.is_zero)
    return Results(_power(base, exponent, a.primes, MOST_BITS.bit_length()), a.real**b.real, is_known)


def _power_defined(a: Operands, b: Operands) -> torch.Tensor:
    """Return whether a power has not too many digits, and is not 1/0."""
    is_trivial = (b.small.abs() <= 1) | (a.bits == 0)
    return b.is_whole & b.is_small & (is_trivial | (b.small.abs() * a.bits <= MOST_BITS)) & ~(a.is_zero & b.is_negative)


def _one(residues: Callable[[Operands], torch.Tensor], real: Callable[[Operands], torch.Tensor]) -> Compute:
    """Return an operation on one number."""
    return lambda a: Results(residues(a) % a.primes, real(a), a.is_known)


def _both_whole(a: Operands, b: Operands) -> torch.Tensor:
    return a.is_whole & b.is_whole


def _alike(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    shape = torch.broadcast_shapes(x.shape, y.shape)  # type: ignore[no-untyped-call]
    return x.expand(shape), y.expand(shape)


def _nonzero(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x == 0, 1, x)


@dataclass(frozen=True)
class Operation:
    """An operation on one number or two: how it is written, its exact value, and its residues.

    Attributes:
        text: of a derivation, with {a} and {b}.
        exact: from one or two `Fraction` to an exact number.
        results: from one or two `Operands` to `Results`.
        defined: whether it is defined, bool; None for everywhere.
    """

    text: str
    exact: Callable[..., Any]
    results: Compute
    defined: Callable[..., torch.Tensor] | None = None


UNARY: dict[str, Operation] = {
    "abs": Operation(
        "|{a}|", abs, _one(lambda a: torch.where(a.is_negative, -1, 1) * a.residues, lambda a: a.real.abs())
    ),
    "negate": Operation("−({a})", lambda a: -a, _one(lambda a: -a.residues, lambda a: -a.real)),
    "numerator": Operation("numerator of {a}", lambda a: a.numerator, _one(lambda a: a.numerators, lambda a: a.above)),
    "denominator": Operation(
        "denominator of {a}", lambda a: a.denominator, _one(lambda a: a.denominators, lambda a: a.under)
    ),
}
"""The operations on one number, by name."""

BINARY: dict[str, Operation] = {
    "+": Operation("{a} + {b}", lambda a, b: a + b, _field(lambda a, b: a.residues + b.residues, torch.add)),
    "-": Operation("{a} − {b}", lambda a, b: a - b, _field(lambda a, b: a.residues - b.residues, torch.sub)),
    "*": Operation("{a} × {b}", lambda a, b: a * b, _field(lambda a, b: a.residues * b.residues, torch.mul)),
    "/": Operation("{a} ÷ {b}", lambda a, b: a / b, _quotient, lambda a, b: ~b.is_zero),
    "distance": Operation("|{a} − {b}|", lambda a, b: abs(a - b), _distance),
    "gcd": Operation(
        "gcd({a}, {b})",
        lambda a, b: math.gcd(a.numerator, b.numerator),
        _integers(torch.gcd),
        _both_whole,
    ),
    "lcm": Operation("lcm({a}, {b})", lambda a, b: math.lcm(a.numerator, b.numerator), _lcm, _both_whole),
    "lcd": Operation("lcd({a}, {b})", lambda a, b: math.lcm(a.denominator, b.denominator), _lcd),
    "%": Operation(
        "{a} mod {b}",
        lambda a, b: a.numerator % b.numerator,
        _integers(lambda x, y: torch.remainder(x, _nonzero(y))),
        lambda a, b: _both_whole(a, b) & ~b.is_zero,
    ),
    "//": Operation(
        "⌊{a} ÷ {b}⌋",
        lambda a, b: a.numerator // b.numerator,
        _integers(lambda x, y: torch.div(x, _nonzero(y), rounding_mode="floor")),
        lambda a, b: _both_whole(a, b) & ~b.is_zero,
    ),
    "**": Operation("{a} ^ {b}", lambda a, b: a ** int(b), _raised, _power_defined),
    "min": Operation("min({a}, {b})", min, _chosen(lambda sign: sign <= 0)),
    "max": Operation("max({a}, {b})", max, _chosen(lambda sign: sign >= 0)),
    "<": Operation("{a} < {b}", lambda a, b: int(a < b), _truth(lambda sign: sign < 0)),
    "<=": Operation("{a} ≤ {b}", lambda a, b: int(a <= b), _truth(lambda sign: sign <= 0)),
    "==": Operation("{a} = {b}", lambda a, b: int(a == b), _truth(lambda sign: sign == 0)),
    "!=": Operation("{a} ≠ {b}", lambda a, b: int(a != b), _truth(lambda sign: sign != 0)),
    "divides": Operation(
        "{a} divides {b}",
        lambda a, b: int(b.numerator % a.numerator == 0),
        _integers(lambda x, y: (torch.remainder(y, _nonzero(x)) == 0).long()),
        lambda a, b: _both_whole(a, b) & ~a.is_zero,
    ),
}
"""The operations on two numbers, by name."""

COMMUTATIVE = frozenset({"+", "*", "distance", "gcd", "lcm", "lcd", "min", "max", "==", "!="})
"""Those that give the same in both orders; they are written in that of the text."""

COPY = Operation("{a}", lambda a: a, _one(lambda a: a.residues, lambda a: a.real))
"""A number as it is."""


def check_operations(names: Any) -> tuple[str, ...]:
    """Return the names of operations, each once.

    >>> check_operations(["gcd", "+"])
    ('gcd', '+')
    >>> check_operations(["plus"])
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: operations has 'plus', which is none of +, -, *, /, distance, gcd, lcm, lcd, ...
    """
    known = [*BINARY, *UNARY]
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ConfigurationError(f"operations={describe(names)} is no list of names; choose among {', '.join(known)}")
    for name in names:
        if name not in known:
            raise ConfigurationError(f"operations has {describe(name)}, which is none of {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def check_constants(constants: Any) -> list[Any]:
    """Return constants as a list, each once.

    >>> check_constants((60, "0.5", 60))
    [60, '0.5']
    >>> check_constants("100")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: constants='100' is no list of numbers; (100,) is one
    """
    if isinstance(constants, str) or not isinstance(constants, Sequence):
        shown = constants if isinstance(constants, str | int) else 100
        raise ConfigurationError(f"constants={describe(constants)} is no list of numbers; ({shown},) is one")
    return list(dict.fromkeys(constants))


def matches(
    operation: Operation,
    operands: Sequence[Operands],
    target: Operands,
    defined: torch.Tensor,
    exact: Callable[[], tuple[Any, Any]],
) -> torch.Tensor:
    """Return whether an operation gives the target, bool (k, n) or (k, n, n), as operands and target together.

    A result that differs from the target by a multiple of both primes, and in the real place by less than 1 in 10,000,
    is taken for it: that is so by chance once in 2^60. (What is written is computed with fractions.)

    Args:
        operation: which.
        operands: one or two, as it takes.
        target: what it should give.
        defined: whether there are operands for which it is defined, bool, of that shape.
        exact: returns the numbers (k, n) and the targets (k,) as fractions, for what residues do not decide.
    """
    found = operation.results(*operands)
    size = target.real.abs()
    for operand in operands:
        size = size + operand.real.abs()
    is_equal = (found.residues == target.residues).all(dim=0) & ~((found.real - target.real).abs() > 1e-4 * size)
    is_equal = is_equal & defined
    undecided = defined & ~(found.is_known & target.is_known)
    if bool(undecided.any()):
        at = undecided.nonzero(as_tuple=True)
        rows, *places = (indices.cpu().numpy() for indices in at)
        numbers, wanted = exact()
        results = np.frompyfunc(operation.exact, len(places), 1)(*(numbers[rows, i] for i in places))
        is_equal[at] = torch.from_numpy((results == wanted[rows]).astype(bool)).to(is_equal.device)
    return is_equal


Choice = tuple[Any, ...]
"""An operation's name and what it takes: the index of a number, or, in a second step, the choice of the first one."""


class WrittenNumbers(NamedTuple):
    """The most probable numbers, and how they came about; arrays (k,).

    Attributes:
        values: `Fraction`, or None if nothing can be written.
        derivations: texts such as "12.5 × 8"; a number alone that is copied; "free" where another head says it.
        probabilities: float64, of all derivations of the value together, among those that were looked at.
        choices: (operation, i, j), the most probable derivation: i and j say which of the numbers that were given, the
            constants after these; ("copy", i, None) and ("abs", i, None) have one; None if nothing can be written.
            In a second step i or j is the first one's choice: ("*", ("+", 0, 1), 2).

    >>> from adelic.nn import OperationHead, exact_numbers
    >>> import torch
    >>> head = OperationHead(4, operations=(), constants=())
    >>> written = head.decode(head(torch.zeros(1, 4), torch.zeros(1, 1, 4), exact_numbers([[7]])))
    >>> written.values, written.derivations, written.probabilities, written.choices
    (array([Fraction(7, 1)], dtype=object), array(['7'], dtype=object), array([1.]), [('copy', 0, None)])
    """

    values: npt.NDArray[np.object_]
    derivations: npt.NDArray[np.object_]
    probabilities: npt.NDArray[np.float64]
    choices: list[Choice | None]


_DECIMALS = 13
"""A number with fewer decimals is written as a decimal."""
_LONGEST = 1_000
"""A number of more characters is shortened in a derivation."""


def operation(name: str) -> Operation:
    """Return an operation by its name, "copy" among them.

    >>> operation("gcd").text
    'gcd({a}, {b})'
    """
    return COPY if name == "copy" else UNARY.get(name) or BINARY[name]


def choice_value(choice: Choice, numbers: Sequence[Any]) -> Any:
    """Return the exact value of an operation and the indices of its numbers, or, instead of one, a choice again.

    >>> from fractions import Fraction
    >>> numbers = [Fraction(3), Fraction(5), Fraction(2)]
    >>> choice_value(("copy", 2, None), numbers), choice_value(("*", ("+", 0, 1), 2), numbers)
    (Fraction(2, 1), Fraction(16, 1))
    """
    name, *operands = choice
    values = [choice_value(i, numbers) if isinstance(i, tuple) else numbers[i] for i in operands if i is not None]
    return type(values[0])(operation(name).exact(*values))


def choice_text(choice: Choice, numbers: Sequence[Any]) -> str:
    """Return how such a choice is written; "free" for what another head says.

    >>> from fractions import Fraction
    >>> numbers = [Fraction(3), Fraction(1, 3), Fraction(-5, 4)]
    >>> [choice_text(choice, numbers) for choice in (("*", ("+", 0, 1), 2), ("gcd", 0, 2), ("/", 0, 1))]
    ['(3 + 1/3) × (−1.25)', 'gcd(3, −1.25)', '3 ÷ (1/3)']
    """
    name, *operands = choice
    if name == "free":
        return str(name)
    texts = [
        f"({choice_text(i, numbers)})" if isinstance(i, tuple) else _shown(numbers[i])
        for i in operands
        if i is not None
    ]
    if name in ("+", "-", "*", "/", "**"):  # other operations write brackets or bars around
        binds = name in ("*", "/", "**")  # 2/3 ÷ 4/9 would be read from left to right
        texts = [f"({t})" if t.startswith("−") or (binds and "/" in t and t[0] != "(") else t for t in texts]
    return operation(name).text.format(**dict(zip("ab", texts, strict=False)))


def ordered(choice: Choice) -> Choice:
    """Return a choice whose operations, where they commute, take their numbers in the order of the text.

    >>> ordered(("*", 2, ("+", 1, 0))), ordered(("-", 2, 1)), ordered(("copy", 2, None))
    (('*', ('+', 0, 1), 2), ('-', 2, 1), ('copy', 2, None))
    """
    name, *operands = choice
    operands = [ordered(i) if isinstance(i, tuple) else i for i in operands]
    return (name, *(sorted(operands, key=_first) if name in COMMUTATIVE else operands))


def _first(operand: int | Choice) -> int:
    return min(map(_first, operand[1:])) if isinstance(operand, tuple) else operand


def placed(choice: Choice, positions: Sequence[int]) -> Choice:
    """Return a choice with other indices, the positions of its own.

    >>> placed(("*", ("+", 0, 1), 2), [7, 8, 9])
    ('*', ('+', 7, 8), 9)
    """
    name, *operands = choice
    return (
        name,
        *(placed(i, positions) if isinstance(i, tuple) else i if i is None else positions[i] for i in operands),
    )


def _shown(q: Any) -> str:
    """Return a number, as a decimal where that is short."""
    power = next((k for k in range(_DECIMALS) if 10**k % q.denominator == 0), None)
    if not power:
        whole = number_text(q)
        return (whole if len(whole) <= _LONGEST else describe(q)).replace("-", "−")
    digits = number_text(abs(q.numerator) * (10**power // q.denominator)).zfill(power + 1)
    return ("−" if q < 0 else "") + f"{digits[:-power]}.{digits[-power:]}"
