"""Write padic_algebra.json: linear algebra and polynomials over Q_p as PARI computes them, through cypari.

python tests/oracles/padic_algebra.py
"""

import json
import random
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

# cypari is imported where it is needed: its import replaces the handlers of signals, and pytest imports this file.

PRIMES = (2, 3, 7, 10007, 2**61 - 1)


def matrices(rng):
    """Yield matrices of p-adic integers with determinant, Smith form, and the exact solution of a system."""
    from cypari import pari

    for p in PRIMES:
        for n in (1, 2, 3, 5):
            for _ in range(2):
                entries = [[rng.randint(-30, 30) * p ** rng.choice((0, 0, 1, 2)) for _ in range(n)] for _ in range(n)]
                b = [rng.randint(-9, 9) for _ in range(n)]
                a = pari.matrix(n, n, [c for row in entries for c in row])
                exponents = [int(pari.valuation(d, p)) if d else 20 for d in pari.matsnf(a)][::-1]
                is_regular = int(a.matdet()) != 0 and max(exponents) < 20
                solved = pari.matsolve(a, pari.matrix(n, 1, b)) if is_regular else None
                x = [str(solved[i, 0]) for i in range(n)] if is_regular else None
                # matdet of p-adic entries, each to 20 digits
                det = pari.lift(pari.matdet(a * pari(f"1 + O({p}^60)")))
                yield {
                    "p": p,
                    "precision": 20,
                    "matrix": [[str(c) for c in row] for row in entries],
                    "det": str(int(det) % p**20),
                    "smith": sorted(min(e, 20) for e in exponents),
                    "b": b,
                    "solution": x,
                }


POLYNOMIALS = (
    [-2, 0, 1],
    [8, 6, 3, 2],
    [12, 0, -7, 0, 1],
    [9, 0, 0, 1, 0, 3],
    [1, 2, 3, 2, 1],
    [0, 49, 0, 7, 5],
    [-98, 0, 0, 0, 0, 0, 1],
    [25, -10, 1],
    [1, 0, 0, 0, 0, 0, 0, 0, 1],
    [30, -31, 10, -1],
)


def polynomials():
    """Yield polynomials with their Newton polygons, roots, factors and the resultant with another one."""
    from cypari import pari

    for p in (2, 3, 5, 7, 11):
        for f, g in zip(POLYNOMIALS, POLYNOMIALS[1:] + POLYNOMIALS[:1], strict=True):
            x, y = (pari(h[::-1]).Pol() for h in (f, g))
            factors = []
            for h, k in zip(*pari.factorpadic(x, p, 40), strict=True):
                monic = [pari.lift(pari(c) / pari.pollead(h)) for c in h.Vecrev()]
                factors.append([[truncated(c, p, 12) for c in monic], int(k)])
            yield {
                "p": p,
                "f": f,
                "g": g,
                "polygon": ["inf" if str(v) == "+oo" else str(v) for v in pari.newtonpoly(x, p)],
                "resultant": str(pari.polresultant(x, y)),
                "roots": sorted(truncated(pari.lift(r), p, 12) for r in pari.polrootspadic(x, p, 40)),
                "factors": sorted(factors),
            }


def truncated(q, p, precision):
    """Return the least rational number from 0 on, with a power of p below, that is q modulo p^precision, as text."""
    q = Fraction(str(q))
    power = 1
    while q.denominator % (power * p) == 0:
        power *= p
    modulus = power * p**precision
    return str(Fraction(q.numerator * pow(q.denominator // power, -1, modulus) % modulus, power))


def main():
    """Write the file."""
    from cypari import pari

    rng = random.Random(63)
    meta = {
        "tool": f"PARI {'.'.join(map(str, pari.version()))} through cypari {version('cypari')}",
        "command": "python tests/oracles/padic_algebra.py",
        "encoding": "det modulo p^precision; smith as exponents of p; solution exact, null if there is none; roots and "
        "monic factors as least rational numbers from 0 on modulo p^12",
    }
    found = {"meta": meta, "matrices": list(matrices(rng)), "polynomials": list(polynomials())}
    text = json.dumps(found).replace("}, {", "},\n{")
    Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
