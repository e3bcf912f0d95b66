"""Write padic_special.json: Γ_p, its logarithm, ζ_p and minimal polynomials as PARI computes them, through cypari.

python tests/oracles/padic_special.py
"""

import json
import random
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

# cypari is imported where it is needed: its import replaces the handlers of signals, and pytest imports this file.

PRIMES = (2, 3, 5, 7, 43)
FUNCTIONS = ("gamma", "lngamma", "zeta")


def algebraic(rng):
    """Return a prime, digits of a root of a random polynomial, and what PARI's algdep makes of them."""
    from cypari import pari
    from padic_functions import triple

    while True:
        p, degree = rng.choice((2, 3, 5, 7, 43)), rng.randint(1, 4)
        f = pari(" + ".join(f"({rng.randint(-20, 20)})*x^{i}" for i in range(degree + 1)))
        if f.poldegree() == degree and f.polcoef(0) and f.polisirreducible():
            for root in pari(f"polrootspadic({f}, {p}, {24 * degree})"):
                found = pari.algdep(root, degree)
                return {"p": p, "degree": degree, "x": triple(root, p), "found": [int(c) for c in found.Vecrev()]}


def main():
    """Write the file."""
    from cypari import pari
    from padic_functions import value

    rng = random.Random(63)
    values = []
    for p in PRIMES:
        for _ in range(30):
            q = Fraction(rng.randint(-500, 500), rng.choice([m for m in range(1, 40) if m % p]))
            precision = rng.choice((1, 2, 3, 4, 9, 20))
            values.append({"p": p, "q": str(q), "precision": precision})
            values[-1] |= {f: value(f, q, p, precision) for f in FUNCTIONS}
    meta = {
        "tool": f"PARI {'.'.join(map(str, pari.version()))} through cypari {version('cypari')}",
        "command": "python tests/oracles/padic_special.py",
        "encoding": "f(q + O(p^precision)) as [unit part, valuation, absolute precision]; null where PARI has an "
        "error; algdep(x, degree) of x in this form, the constant coefficient first",
    }
    polynomials = [algebraic(rng) for _ in range(60)]
    text = json.dumps({"meta": meta, "values": values, "polynomials": polynomials}).replace("}, {", "},\n{")
    Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
