"""Measure functions at one place against PARI, for one number, and against a loop over python-flint, for many.

    python experiments/local_functions.py            # a minute
    python experiments/local_functions.py --full     # more digits and numbers

One number: square root, exponential, logarithm and Teichmüller lift of a 7-adic number, the roots of a polynomial of
degree 40 with coefficients of 50 digits, and a rational number from its residue. PARI (cypari) has its own objects
ready, as we have ours. Many numbers: the loop calls python-flint for each, whose integers it has ready; python-flint
has no p-adic numbers, so it computes with integers modulo a power of p, by Newton's steps and by series with the
inverses ready. Runs alternate in one process, medians of the processor's time are compared, and so are the answers.
Needs the extra `dev`.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import lcm
from pathlib import Path
from typing import Any, NamedTuple

import common
import numpy as np
from flint import fmpz

from adelic.number_theory.symbols import hilbert_symbol
from adelic.numbers import hensel_roots, padic
from adelic.numbers.decoding import reconstruction
from adelic.numbers.hensel import Residue
from adelic.numbers.integers import divide_modulo
from adelic.numbers.pari import load_pari

PRIME, DIGITS = 7, 16  # of the functions; the digits of many numbers
LARGE = 10**7 + 19
LONGEST = 142_500  # digits of a number that is reconstructed: 400,000 bits
TARGETS = {"PARI": 20.0, "FLINT": 5.0}
FUNCTIONS = ("sqrt", "exp", "log", "teichmuller")
pari = load_pari()  # leaves the handlers of signals as they are


class Comparison(NamedTuple):
    """What is computed, of how many digits and numbers; our function and the other one; whether two answers agree."""

    task: str
    digits: int
    size: int
    other: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    agree: Callable[[Any, Any], bool]


def main(
    *,
    digits: tuple[int, ...] = (),
    size: common.Positive | None = None,
    repetitions: common.Positive = 5,
    full: bool = False,
    output: Path | None = None,
) -> bool:
    """Measure, print, write the results; exit code 1 if a target is missed or an answer differs.

    Args:
        digits: of one number; by default 20, 1000 and 5000, with --full also 50000.
        size: of many numbers; by default 10000, with --full 100000.
        repetitions: the median counts.
        full: as the committed results have it, in minutes.
        output: file of the results.
    """
    chosen = digits or (20, 1000, 5000, *[50000] * full)
    many = many_numbers(size or (10**5 if full else 10**4))
    common.use_one_core()
    pari.allocatemem(2**28, silent=True)
    entries = []
    for c in common.each([*one_number(chosen), *many], lambda c: f"{c.task}, {c.digits} digits, {c.size}"):
        agree = c.agree(c.ours(), c.theirs())
        calls = max(1, 5000 // c.digits) if c.size == 1 else 1  # of a microsecond each
        functions = {"adelic": partial(repeat, c.ours, calls), c.other: partial(repeat, c.theirs, calls)}
        medians = common.medians(common.interleaved(functions, repetitions, time.process_time))
        seconds = {name: median / calls for name, median in medians.items()}
        ratio, target = seconds["adelic"] / seconds[c.other], TARGETS[c.other]
        met = agree and ratio <= target
        entry = {name: getattr(c, name) for name in ("task", "digits", "size", "other")} | {"seconds": seconds}
        entries.append(entry | {"ratio": ratio, "target": target, "agree": agree, "met": met})
        verdict = "met" if met else "missed" if agree else "WRONG"
        common.say(f"{ratio:.2f} of the time of {c.other} (target: {target:g}): {verdict}")
    met = all(entry["met"] for entry in entries)
    results = {"prime": PRIME, "repetitions": repetitions, "entries": entries, "met": met}
    common.write("local_functions.json", ("cypari", "python-flint", "numpy"), results, output, full=full)
    return met


def repeat(function: Callable[[], Any], calls: int) -> None:
    """Call a function so many times."""
    for _ in range(calls):
        function()


def one_number(digits: Sequence[int]) -> Iterator[Comparison]:
    """Yield what is compared with PARI."""
    rng = random.Random(0)
    for n in digits:
        for name in FUNCTIONS:
            q = rng.randrange(10**8) * PRIME + {"exp": 0, "teichmuller": 3}.get(name, 1)
            ours, theirs = (getattr(x, name) for x in (padic(q, PRIME, n), pari(f"{q} + O({PRIME}^{n})")))
            agree = lambda a, b, n=n: a.lift() == int(b.lift()) % PRIME**n  # noqa: E731
            yield Comparison(name, n, 1, "PARI", ours, theirs, agree)
    f = [rng.randrange(-(10**50), 10**50) for _ in range(41)]
    roots = partial(pari(f).Polrev().polrootspadic, PRIME, 1000)
    same_number = lambda a, b: len(a) == len(b)  # noqa: E731
    yield Comparison(
        "hensel_roots, degree 40", 1000, 1, "PARI", partial(hensel_roots, f, PRIME, 1000), roots, same_number
    )
    for n in (max(digits), min(25 * max(digits), LONGEST)):
        bits = n * PRIME.bit_length() // 2 - n // 4
        numerator, denominator = rng.getrandbits(bits - 3), PRIME * rng.getrandbits(bits - 6) + 1
        x = divide_modulo(numerator, denominator, PRIME, n)
        ours = partial(reconstruction.decode_digits, [Residue(x, n)], (PRIME,), 0)
        equal = lambda a, b: a[0] == Fraction(int(b.numerator()), int(b.denominator()))  # noqa: E731
        yield Comparison("reconstruction", n, 1, "PARI", ours, pari(x).Mod(pari(PRIME) ** n).bestappr, equal)


def many_numbers(size: int) -> Iterator[Comparison]:
    """Yield what is compared with a loop over python-flint."""
    rng = np.random.default_rng(0)
    modulus = fmpz(PRIME) ** DIGITS
    units = rng.integers(0, 10**8, size) * PRIME + 1
    for loop in (sqrt, exp, log, teichmuller):
        numbers = units + {exp: -1, teichmuller: 2}.get(loop, 0)
        ours, theirs = padic(numbers, PRIME, DIGITS), partial(loop, [fmpz(x) for x in numbers.tolist()], modulus)
        equal = lambda a, b: a.lift().tolist() == b  # noqa: E731
        yield Comparison(loop.__name__, DIGITS, size, "FLINT", getattr(ours, loop.__name__), theirs, equal)
    numbers = rng.integers(1, 10**8, size)
    numbers += numbers % PRIME == 0
    own = [fmpz(x) for x in numbers.tolist()]
    for task, digits, ours, theirs in (
        ("is_square", DIGITS, padic(numbers, PRIME, DIGITS).is_square, lambda: [x.jacobi(PRIME) == 1 for x in own]),
        (
            f"hilbert_symbol at {LARGE:,}", 1,
            partial(hilbert_symbol, numbers, np.array([LARGE]), LARGE), lambda: [x.jacobi(LARGE) for x in own],
        ),
    ):  # fmt: skip
        yield Comparison(task, digits, size, "FLINT", ours, theirs, lambda a, b: a.tolist() == b)


def sqrt(numbers: list[Any], modulus: Any) -> list[Any]:
    """Return the square roots of units that are 1 modulo p: Newton's steps for 1/√u, which double the digits."""
    half, roots = (modulus + 1) // 2, []
    for u in numbers:
        z = fmpz(1)
        for _ in range((DIGITS - 1).bit_length()):
            z = z * (3 - u * z * z) * half % modulus
        roots.append(u * z % modulus)
    return roots


def exp(numbers: list[Any], modulus: Any) -> list[Any]:
    """Return Σ x^j/j! by Horner's rule, in which x/j = (x/p)·(p/j)."""
    last = (PRIME - 1) * DIGITS // (PRIME - 2) + 1
    factors = [fmpz(1)]
    for j in range(last, 0, -1):
        factors.append(factors[-1] * j)
    shift = fmpz(PRIME) ** sum(last // PRIME**i for i in (1, 2, 3))
    wide, unit = modulus * shift, pow(factors[-1] // shift, -1, modulus)
    found = []
    for x in numbers:
        total = fmpz(0)
        for factor in factors[1:]:
            total = (total * x + factor) % wide
        found.append((total // shift) * unit % modulus)
    return found


def log(numbers: list[Any], modulus: Any) -> list[Any]:
    """Return Σ (−1)^(j+1) (u − 1)^j/j by Horner's rule, for u that are 1 modulo p."""
    last = DIGITS + 2
    common_multiple = fmpz(lcm(*range(1, last + 1)))
    factors = [(common_multiple // j) * (-1) ** (j + 1) for j in range(last, 0, -1)]
    shift = fmpz(PRIME) ** (2 if last >= PRIME**2 else 1)
    wide, unit = modulus * shift, pow(common_multiple // shift, -1, modulus)
    found = []
    for u in numbers:
        t = u - 1
        total = fmpz(0)
        for factor in factors:
            total = (total * t + factor) % wide
        found.append((total * t % wide // shift) * unit % modulus)
    return found


def teichmuller(numbers: list[Any], modulus: Any) -> list[Any]:
    """Return u^(p^(n − 1)) modulo p^n."""
    exponent = modulus // PRIME
    return [pow(u, exponent, modulus) for u in numbers]


if __name__ == "__main__":
    common.run(main)
