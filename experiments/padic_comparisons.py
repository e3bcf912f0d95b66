"""Compare p-adic arithmetic, functions, roots, matrices and symbols with PARI and FLINT, number by number.

    python experiments/padic_comparisons.py            # a few thousand comparisons
    python experiments/padic_comparisons.py --full     # over 100,000, in minutes

Numbers are random rationals at seven primes, in windows of 4 to 26 digits. FLINT computes sums, products, quotients,
determinants and solutions exactly, with rational numbers; PARI computes functions with 30 digits more than ours. Every
digit that we show is compared with this: so a wrong digit is found, and so is a digit that is not determined. One
mismatch is kept of each function. Needs the extra `dev`.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import inf, prod
from operator import add, mul, sub, truediv
from pathlib import Path
from typing import Any

import common
import numpy as np
from cypari._pari import PariError
from flint import fmpq, fmpq_mat

from adelic import AdeleSpace
from adelic.number_theory.symbols import hilbert_symbol, kronecker_symbol
from adelic.numbers import (
    evaluate,
    extension,
    factor,
    hensel_roots,
    newton_polygon,
    padic,
    resultant,
    slope_factors,
    solve_rational,
)
from adelic.numbers.pari import load_pari
from adelic.numbers.primes import valuation

PRIMES = (2, 3, 5, 7, 43, 10007, 2**61 - 1)
SMALL = (2, 3, 5, 7, 43)
"""Of these PARI's gamma and zeta have many digits in short time."""
PRECISIONS = (4, 5, 7, 12, 26)
MORE = 30  # digits that PARI knows more than we
pari = load_pari()  # leaves the handlers of signals as they are
Outcome = tuple[bool, Any]
"""Whether both agree, and what was compared."""


def main(
    *, size: common.Positive | None = None, full: bool = False, seed: int = 63, output: Path | None = None
) -> bool:
    """Compare, print, write the results; exit code 1 if anything differs.

    Args:
        size: numbers a function, prime and precision; by default 8, with --full 200.
        full: as the committed results have it, in minutes.
        seed: of the numbers.
        output: file of the results.
    """
    size = size or (200 if full else 8)
    pari.allocatemem(2**28, silent=True)
    counts: dict[str, int] = {}
    mismatches: dict[str, Any] = {}
    for p in common.each(PRIMES):
        rng = random.Random(f"{seed} {p}")
        for precision in PRECISIONS:
            for name, outcomes in comparisons(rng, p, precision, size):
                for agree, what in outcomes:
                    counts[name] = counts.get(name, 0) + 1
                    if not agree:
                        mismatches.setdefault(name, {"p": p, "precision": precision, "numbers": repr(what)})
    for name, count in counts.items():
        verdict = f"WRONG: {mismatches[name]}" if name in mismatches else "none differs"
        common.say(f"{name}: {count:,} compared, {verdict}")
    common.say(f"{sum(counts.values()):,} comparisons, {len(mismatches)} functions differ")
    results = {
        "seed": seed, "pari": ".".join(map(str, pari.version())), "primes": PRIMES, "precisions": PRECISIONS,
        "comparisons": sum(counts.values()), "counts": counts, "mismatches": mismatches,
    }  # fmt: skip
    common.write("padic_comparisons.json", ("cypari", "python-flint", "numpy"), results, output, full=full)
    return not mismatches


def comparisons(rng: random.Random, p: int, precision: int, size: int) -> Iterator[tuple[str, Iterable[Outcome]]]:
    """Yield the name of what is compared, and the outcomes."""
    q, r = ([random_rational(rng, p) for _ in range(size)] for _ in range(2))
    ends = [rng.randint(1, precision) for _ in range(size)]
    x = padic([f"{a} + O({p}^{k})" for a, k in zip(q, ends, strict=True)], p, precision + 4, fractional_digits=4)
    y = padic(r, p, precision + 4, fractional_digits=4)
    for name, function in OPERATIONS.items():
        kept = [i for i in range(size) if name != "/" or valuation(r[i].numerator, p) < 3]
        exact = [to_fraction(function(to_fmpq(q[i]), to_fmpq(r[i]))) for i in kept]
        yield name, digits_agree(function(x[kept], y[kept]), exact)
    yield "decode", ((a == b, a) for a, b in zip(padic(r, p, 200).decode().tolist(), r, strict=True))

    told = [a for a in q if valuation(a.numerator, p) <= precision - 4]  # three digits tell whether 2-adic roots exist
    for name in FUNCTIONS:
        numbers = [a * p ** (1 + (p == 2)) for a in q] if name == "exp" else told
        ours = getattr(padic(numbers, p, precision), name)
        ours = ours(p_branch=0, errors="mask") if name == "log" else ours(errors="mask")
        yield name, digits_agree(ours, [at_pari(name, a, p, precision) for a in numbers], signs=name == "sqrt")
    if p in SMALL:
        integral = [a for a in q if a.denominator % p]
        x = padic(integral, p, precision)
        for name, theirs in (("gamma", "gamma"), ("log_gamma", "lngamma")):
            yield name, digits_agree(getattr(x, name)(), [at_pari(theirs, a, p, precision) for a in integral])
        few = [a for a in integral if (a - 1).numerator % p][: size // 4 + 1]
        if few:
            yield "zeta", digits_agree(padic(few, p, precision).zeta(), [at_pari("zeta", a, p, precision) for a in few])

    ours = hilbert_symbol(q, r, p).tolist()
    pairs = list(zip(q, r, strict=True))
    yield "hilbert_symbol", equal(ours, [int(pari.hilbert(str(a), str(b), p)) for a, b in pairs], pairs)
    ours = kronecker_symbol([a.numerator for a in q], p).tolist()
    theirs = [int(pari.kronecker(a.numerator, p)) for a in q]
    yield "kronecker_symbol", equal(ours, theirs, q)
    yield from algebra(rng, p, precision, size // 4 + 1)


def algebra(rng: random.Random, p: int, precision: int, size: int) -> Iterator[tuple[str, Iterable[Outcome]]]:
    """Yield what is compared of matrices, extensions, number fields and polynomials."""
    digits = precision + 8
    for n in (1, 2, 4):
        entries = [[[random_rational(rng, p) for _ in range(n)] for _ in range(n)] for _ in range(size)]
        right = [random_rational(rng, p) for _ in range(n)]
        exact = [fmpq_mat([list(map(to_fmpq, row)) for row in matrix]) for matrix in entries]
        determinants = [to_fraction(matrix.det()) for matrix in exact]
        yield "det", digits_agree(padic(entries, p, digits).det(), determinants)
        a = padic(entries, p, digits, fractional_digits=2)
        yield "@", digits_agree((a @ a).reshape(-1), [to_fraction(e) for m in exact for e in (m * m).entries()])
        integral = [[[a.numerator for a in row] for row in matrix] for matrix in entries]
        forms = [pari.matrix(n, n, [a for row in matrix for a in row]).matsnf() for matrix in integral]
        wanted = [sorted(min(valuation(int(d), p), digits) if d else digits for d in form) for form in forms]
        ranks = [sum(e < digits for e in form) for form in wanted]
        yield "rank", equal(padic(integral, p, digits).rank().tolist(), ranks, integral)
        yield "smith", equal(padic(integral, p, digits).smith().tolist(), wanted, integral)
        kept = [i for i, d in enumerate(determinants) if d and valuation(d.numerator, p) < 3]
        if kept:
            column = fmpq_mat([[to_fmpq(b)] for b in right])
            solved = [to_fraction(e) for i in kept for e in exact[i].solve(column).entries()]
            ours = padic([entries[i] for i in kept], p, digits).solve([[b] for b in right])
            yield "solve", digits_agree(ours.reshape(-1), solved)
            ours = solve_rational([entries[i] for i in kept], [[b] for b in right])
            yield "solve_rational", equal(ours.reshape(-1).tolist(), solved, solved)
    for modulus in (f"x^3 - {p}", extension(p, 3).polynomial):  # ramified and unramified
        field = extension(p, modulus, digits, fractional_digits=4)
        a, b = ([[random_rational(rng, p) for _ in range(3)] for _ in range(size)] for _ in range(2))
        x, y = field.from_coefficients(a), field.from_coefficients(b)
        f = pari(list(field.polynomial)).Polrev()
        exact = [[pari(f"Mod(Polrev({c}), {f})") for c in map(text_of, part)] for part in (a, b)]
        products = [u * v for u, v in zip(*exact, strict=True)]
        coefficients = [Fraction(str(w.lift().polcoef(i))) for w in products for i in range(3)]
        yield "product in an extension", digits_agree((x * y).coefficients.reshape(-1), coefficients)
        yield "norm", digits_agree(x.norm(), [Fraction(str(u.norm())) for u in exact[0]])
        yield "trace", digits_agree(x.trace(), [Fraction(str(u.trace())) for u in exact[0]])
    for polynomial in NUMBER_FIELDS:
        space = AdeleSpace.over(polynomial, primes=(p,), precision=digits + 12, fractional_digits=12)
        if space.roots != (None,):
            continue  # numbers are p-adic ones there
        a, b = ([[random_rational(rng, p) for _ in range(space.degree)] for _ in range(size)] for _ in range(2))
        f = pari(list(space.polynomial)).Polrev()
        exact = [[pari(f"Mod(Polrev({c}), {f})") for c in map(text_of, part)] for part in (a, b)]
        kept = [i for i, u in enumerate(exact[1]) if valuation(Fraction(str(u.norm())).numerator, p) < 4]
        x, y = (space.encode([tuple(part[i]) for i in kept]) for part in (a, b))
        for name, found, function in (("product", x * y, mul), ("quotient", x / y, truediv)):
            numbers = [function(exact[0][i], exact[1][i]).lift() for i in kept]
            truths = [Fraction(str(w.polcoef(i))) for w in numbers for i in range(space.degree)]
            yield f"{name} in a number field", digits_agree(found.at(p).coefficients.reshape(-1), truths)
    for n in (2, 3, 4):
        for q in (random_rational(rng, p) ** rng.choice((1, 1, n)) for _ in range(size)):
            # As many digits of the unit part are known, so they tell whether there are roots.
            found = padic(q, p, digits + valuation(q.numerator, p)).roots(n, errors="mask")
            theirs = pari(f"x^{n} - ({q})").polrootspadic(p, digits + MORE)
            yield "roots", roots_agree(found[~found.mask], [lifted(root, p)[0] for root in theirs], (q, n))
    for _ in range(size):
        f, g = ([rng.randint(-30, 30) for _ in range(rng.randint(1, 4))] + [rng.choice((1, 2, p))] for _ in range(2))
        a = rng.randint(-(p**2), p**2)
        f = [b - a * c for b, c in zip([0, *f], [*f, 0], strict=True)]  # f·(x − a) has the root a
        found, theirs = hensel_roots(f, p, digits), pari(f).Polrev().polrootspadic(p, digits + MORE)
        yield "hensel_roots", roots_agree(found, [lifted(root, p)[0] for root in theirs], f)
        slopes = [inf if v == "+oo" else Fraction(v) for v in map(str, pari(f).Polrev().newtonpoly(p))]
        yield "newton_polygon", [(newton_polygon(f, p).tolist() == sorted(slopes, reverse=True), (f, slopes))]
        truth = Fraction(str(pari(f).Polrev().polresultant(pari(g).Polrev())))
        point = rng.randint(-99, 99)
        value = [Fraction(sum(c * point**i for i, c in enumerate(f)))]
        yield "evaluate", digits_agree(evaluate(padic(f, p, digits), point).reshape(1), value)
        parts = {"slope_factors": [(h, 1) for h in slope_factors(f, p, digits)], "factor": factor(f, p, digits)}
        for name, powers in parts.items():
            values = [evaluate(h, point).with_window(fractional_digits=4) ** k for h, k in powers]
            yield name, digits_agree((f[-1] * prod(values)).reshape(1), value)
        yield "resultant", digits_agree(resultant(padic(f, p, digits), padic(g, p, digits)).reshape(1), [truth])


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"+": add, "-": sub, "*": mul, "/": truediv}
FUNCTIONS = ("sqrt", "exp", "log", "teichmuller")
NUMBER_FIELDS = ("x^2 - 2", "x^3 - 2", "x^4 + 1", "x^4 - 10*x^2 + 1")


def random_rational(rng: random.Random, p: int) -> Fraction:
    """Return a number of up to 12 figures, its denominator of up to 6 and prime to p, times a power of p."""
    n, m = (rng.randint(1, 10 ** rng.randint(1, figures)) for figures in (12, 6))
    power = Fraction(p) ** rng.choice((0, 0, 0, 1, 2, -1))
    return rng.choice((-1, 1)) * Fraction(n, m // p ** valuation(m, p)) * power


def text_of(numbers: list[Fraction]) -> str:
    """Return numbers as a vector of PARI."""
    return f"[{', '.join(map(str, numbers))}]"


def to_fmpq(q: Fraction) -> Any:
    """Return a number of FLINT."""
    return fmpq(q.numerator, q.denominator)


def to_fraction(q: Any) -> Fraction:
    """Return a number of FLINT as Python's."""
    return Fraction(int(q.p), int(q.q))


def at_pari(name: str, q: Fraction, p: int, precision: int) -> Fraction | None:
    """Return PARI's value of a function, with more digits than ours, as a rational number; None if there is none."""
    if name == "teichmuller" and (p == 2 or q.numerator % p == 0 or q.denominator % p == 0):
        # PARI's is that of the unit part, and at p = 2 it is 1 or −1.
        return None if q.denominator % p == 0 else Fraction(int(q.numerator % p != 0))
    try:
        value = getattr(pari(f"{q} + O({p}^{precision + MORE})"), name)()
    except PariError:
        return None
    return lifted(value, p)[0]


def lifted(value: Any, p: int) -> tuple[Fraction, int]:
    """Return a rational number with the digits of PARI's number, and to which power of p it is known."""
    return Fraction(str(value.lift())), int(value.padicprec(p))


def shown(ours: Any) -> tuple[list[int], list[int]]:
    """Return p^F times each number of an array (size,), as an integer, and how many of its digits are known."""
    digits = np.ma.getdata(ours.digits)[:, ::-1].tolist()
    return [sum(c * ours.p**k for k, c in enumerate(row)) for row in digits], np.ma.getdata(ours.known).tolist()


def digits_agree(ours: Any, truths: Iterable[Fraction | None], *, signs: bool = False) -> Iterator[Outcome]:
    """Yield for each number whether all its digits are those of a rational one; with signs, or of minus it."""
    p, f = ours.p, ours.fractional_digits
    values, known = shown(ours)
    for value, end, is_undefined, truth in zip(values, known, ours.mask, truths, strict=True):
        if truth is None or is_undefined:
            yield truth is None and bool(is_undefined), (value, truth)
            continue
        candidates = (truth, -truth) if signs else (truth,)
        errors = [Fraction(value, p**f) - candidate for candidate in candidates]
        yield any((error / Fraction(p) ** (end - f)).denominator % p for error in errors), (value, end - f, truth)


def roots_agree(ours: Any, theirs: list[Fraction], polynomial: Any) -> Iterator[Outcome]:
    """Yield for each root whether it is one of theirs, each once."""
    p, f = ours.p, ours.fractional_digits
    values, known = shown(ours)
    left = list(theirs)
    for value, end in zip(values, known, strict=True):
        error = [((Fraction(value, p**f) - root) / Fraction(p) ** (end - f)).denominator % p != 0 for root in left]
        yield any(error), (polynomial, value)
        if any(error):
            left.pop(error.index(True))
    yield not left, (polynomial, left)


def equal(ours: Iterable[Any], theirs: Iterable[Any], numbers: Iterable[Any]) -> Iterator[Outcome]:
    """Yield whether values are the same."""
    return ((a == b, (a, b, c)) for a, b, c in zip(ours, theirs, numbers, strict=True))


if __name__ == "__main__":
    common.run(main)
