"""Write padic_functions.json: p-adic functions as PARI computes them, through cypari.

python tests/oracles/padic_functions.py
"""

import json
import random
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

# cypari is imported where it is needed: its import replaces the handlers of signals, and pytest imports this file.

PRIMES = (2, 3, 5, 7, 11, 43, 10007, 2**61 - 1)
FUNCTIONS = ("sqrt", "exp", "log", "teichmuller")
POLYNOMIALS = (
    [-2, 0, 1],
    [-17, 0, 1],
    [-68, 0, 1],
    [-1, 0, 25],
    [6, -5, 1],
    [0, 0, -4, 1],
    [1, 0, 0, 0, -1],
    [-1, 1, 1, 1, 1, 1],
    [-8, 0, 0, 1],
    [1, -1, 0, 3, 2],
    [-1, 0, 48],
    [81, 0, -18, 0, 1],
)


def triple(x, p):
    """Return unit part, valuation and absolute precision of a p-adic number of PARI."""
    from cypari import pari

    v, precision = int(pari.valuation(x, p)), int(pari.padicprec(x, p))
    unit = pari.lift(pari(x) / pari(p) ** v) if v < precision else 0
    return [str(unit), v, precision]


def value(function, q, p, precision):
    """Return a function of q + O(p^precision), or None where PARI says that there is none."""
    from cypari import pari
    from cypari._pari import PariError

    try:
        return triple(pari(f"{function}({q} + O({p}^{precision}))"), p)
    except PariError:
        return None


def roots(coefficients, p, precision):
    """Return the roots in Q_p."""
    from cypari import pari

    text = " + ".join(f"({c})*x^{i}" for i, c in enumerate(coefficients))
    return sorted(triple(root, p) for root in pari(f"polrootspadic({text}, {p}, {precision})"))


def main():
    """Write the file."""
    from cypari import pari

    rng = random.Random(24)
    values, polynomials = [], []
    for p in PRIMES:
        for k in range(24):
            v = rng.choice((0, 0, 0, 1, 2, 3, -1, -2))
            q = Fraction(rng.randint(-200, 200) or 1, rng.randint(1, 30)) * Fraction(p) ** v
            if k % 3 == 0:
                q = q * q
            low = 0
            while q.denominator % p ** (low + 1) == 0:
                low += 1
            high = 0
            while q.numerator % p ** (high + 1) == 0:
                high += 1
            precision = max(high - low, 0) + rng.randint(4, 10)
            found = {f: value(f, q, p, precision) for f in FUNCTIONS}
            values.append({"p": p, "q": str(q), "precision": precision} | found)
        for f in POLYNOMIALS:
            polynomials += [{"p": p, "coefficients": f, "precision": 12, "roots": roots(f, p, 12)}]
    meta = {
        "tool": f"PARI {'.'.join(map(str, pari.version()))} through cypari {version('cypari')}",
        "command": "python tests/oracles/padic_functions.py",
        "encoding": "f(q + O(p^precision)) as [unit part, valuation, absolute precision]; null where PARI has an error",
    }
    text = json.dumps({"meta": meta, "values": values, "roots": polynomials}).replace("}, {", "},\n{")
    Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
