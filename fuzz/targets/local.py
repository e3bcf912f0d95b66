"""Random functions and operations at one place, against PARI: no digit is wrong, none unknown, none thrown away.

A p-adic number with known digits stands for all numbers that have these digits. So what is computed of it has to agree
with what PARI computes of several of them, drawn at random and known to many more digits. And it must know at least as
many digits as PARI's own result of the same operands has.
"""

import operator
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from adelic.errors import DivisionByZeroError, DomainError, PrecisionError
from adelic.number_theory.root_numbers import load_pari
from adelic.numbers import hensel_roots, padic
from targets.case import Case

PRIMES = (2, 2, 2, 3, 3, 5, 7, 11, 13, 97, 257, 65537, 10**9 + 7, 2**61 - 1)
MORE = 40  # digits that numbers which stand for others are known to, beyond these
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sqrt": (lambda x: x.sqrt(), lambda x: x.sqrt()),
    "exp": (lambda x: x.exp(), lambda x: x.exp()),
    "log": (lambda x: x.log(p_branch=0), lambda x: x.log()),
    "teichmuller": (lambda x: x.unit().teichmuller(), lambda x: x.teichmuller()),
}
pari = load_pari()  # cypari's import alone would replace the handlers of signals

from cypari import PariError  # noqa: E402


def local(case: Case) -> None:
    """Check one function or operation on 1 to 40 numbers."""
    rng = case.rng
    p, precision = rng.choice(PRIMES), rng.choice([rng.randint(1, 8), rng.randint(1, 40), 16])
    f = rng.choice([0, 0, rng.randrange(min(precision, 5))])
    size = rng.randint(1, 40)
    kind = rng.choice(["operation", "exact", "power", "roots", *FUNCTIONS])
    if kind == "roots":
        _check_roots(case, p, precision)
        return
    a = _random_numbers(rng, size, p, precision, f)
    if kind == "operation":
        name, more = rng.choice("+-*/"), rng.choice([0, 0, 1, 7])
        b = _random_numbers(rng, size, p, precision + more, rng.choice([f, f + more]))
        _check(case, name, OPERATIONS[name], OPERATIONS[name], [a, b])
    elif kind == "exact":
        q = random_number(rng, p, 3)
        name, is_first = rng.choice("+-*/"), case.chance(0.5)
        act = OPERATIONS[name]
        both = (lambda z: act(q, z)) if is_first else (lambda z: act(z, q))
        other = _pari(q)
        of_pari = (lambda z: act(other, z)) if is_first else (lambda z: act(z, other))
        _check(case, f"exact {name}", both, of_pari, [a])
    elif kind == "power":
        k = rng.choice([0, 1, 2, 3, 5, p if p < 100 else 2, p * p if p < 10 else 4, 12, -1, -2, -p if p < 100 else -3])
        _check(case, f"** {k}", lambda z: z**k, lambda z: z**k, [a])
    else:
        _check(case, kind, *FUNCTIONS[kind], [a])


def _random_numbers(rng: Random, size: int, p: int, precision: int, f: int) -> Any:
    """Return numbers that a window holds, half of the time known to fewer digits than it has."""
    known = rng.randint(f + 1, precision) if rng.random() < 0.5 else precision
    numbers = padic([random_number(rng, p, f) for _ in range(size)], p, known, fractional_digits=f)
    return numbers.with_window(precision=precision)


def random_number(rng: Random, p: int, f: int) -> Fraction:
    """Return a rational number, with up to f powers of p in its denominator and often some in its numerator."""
    size = rng.choice([1, 10, 1000, 10**9, 2**62, 10**30])
    m = rng.randint(1, size)
    while m % p == 0:
        m //= p
    return Fraction(rng.randint(-size, size) * p ** rng.choice([0, 0, 0, 1, 2, 3]), m * p ** rng.randint(0, f))


def _check(case: Case, name: str, ours: Callable[..., Any], theirs: Callable[..., Any], operands: list[Any]) -> None:
    """Check what comes out, number by number; what all together refuse, each number is asked for alone."""
    try:
        whole = ours(*operands)
        found = [whole[i] for i in range(len(whole))]
    except (DomainError, PrecisionError, DivisionByZeroError):
        found = [_one(ours, [a[i] for a in operands]) for i in range(len(operands[0]))]
    for i, result in enumerate(found):
        numbers = [a[i] for a in operands]
        if isinstance(result, Exception):
            _check_refusal(case, name, result, theirs, numbers)
            continue
        case.counts[f"{name.split()[0]} compared"] += 1
        claimed = int(result.known) - result.fractional_digits
        mine = _padic(Fraction(result.lift()), result.p, claimed)
        is_open = name == "sqrt" and not numbers[0].lift()  # O(p^k): some numbers have a root, some have none
        for _ in range(0 if is_open else 2):
            theirs_is = [theirs(*(_stand_in(case.rng, a) for a in numbers))]
            if name == "sqrt" or (name, result.p) == ("teichmuller", 2):  # either root; 1 or -1
                theirs_is.append(-theirs_is[0])
            close = any(_valuation(mine - z, result.p) >= claimed for z in theirs_is)
            assert close, f"{name} of {numbers} at {result.p} is not {result}"
        known = _known(theirs, numbers)
        if known is not None:
            most = result.precision - result.fractional_digits
            assert claimed >= min(known, most), f"{name} of {numbers} at {result.p}: O(p^{claimed}), PARI O(p^{known})"


def _one(ours: Callable[..., Any], numbers: list[Any]) -> Any:
    try:
        return ours(*numbers)
    except (DomainError, PrecisionError, DivisionByZeroError) as error:
        return error


def _check_refusal(case: Case, name: str, error: Exception, theirs: Callable[..., Any], numbers: list[Any]) -> None:
    """Assert that what has no value here has none in PARI, for any number with these digits."""
    case.counts["refused"] += 1
    assert "\n" not in str(error), error
    if isinstance(error, DomainError) and name in ("sqrt", "exp"):
        try:
            value = theirs(_stand_in(case.rng, numbers[0]))
        except PariError:
            return
        raise AssertionError(f"{name} of {numbers} is {value}: {error}")


def _known(theirs: Callable[..., Any], numbers: list[Any]) -> int | None:
    """Return to which power of p PARI knows its own result of operands with the same known digits; None of none."""
    try:
        result = theirs(*(_padic(Fraction(a.lift()), a.p, int(a.known) - a.fractional_digits) for a in numbers))
    except PariError:
        return None
    return int(result.padicprec(numbers[0].p)) if str(result.type()) == "t_PADIC" else None


def _stand_in(rng: Random, number: Any) -> Any:
    """Return one of the numbers with the known digits of a number, in PARI, known to many digits more."""
    p, k = number.p, int(number.known) - number.fractional_digits
    value = Fraction(number.lift()) + Fraction(p) ** k * rng.randrange(p**MORE)
    return _padic(value, p, k + MORE)


def _check_roots(case: Case, p: int, precision: int) -> None:
    """Check how many roots a random polynomial has in Q_p, and that they are those of PARI."""
    rng = case.rng
    coefficients = [rng.randint(-(10 ** rng.choice([1, 2, 6])), 10**3) for _ in range(rng.randint(2, 7))]
    if not coefficients[-1] or p > 10**9:
        return
    found = hensel_roots(coefficients, p, precision)
    f = sum((pari(c) * pari("x") ** i for i, c in enumerate(coefficients)), pari(0))
    expected = list(f.polrootspadic(p, precision + MORE))
    # PARI names roots once each, too, but those of repeated factors as often as they are repeated
    assert len(found) == len({str(root) for root in expected}), f"{coefficients} at {p}: {found} and {expected}"
    for root in found:
        case.counts["roots compared"] += 1
        k = int(root.known) - root.fractional_digits
        mine = _padic(Fraction(root.lift()), p, k)
        assert any(_valuation(mine - z, p) >= k for z in expected), f"{root} is no root of {coefficients} at {p}"


def _padic(value: Fraction, p: int, k: int) -> Any:
    return pari(f"{value.numerator}/{value.denominator} + O({p}^{k})")


def _pari(value: Fraction) -> Any:
    return pari(f"{value.numerator}/{value.denominator}")


def _valuation(difference: Any, p: int) -> float:
    return float("inf") if difference == 0 and str(difference.type()) != "t_PADIC" else int(difference.valuation(p))
