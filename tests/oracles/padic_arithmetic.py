"""Write padic_arithmetic.json: sums, products, quotients and powers of p-adic numbers as PARI computes them.

python tests/oracles/padic_arithmetic.py
"""

import json
import random
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

# cypari is imported where it is needed: its import replaces the handlers of signals, and pytest imports this file.

PRIMES = (2, 3, 5, 7, 43, 10007)
OPERATIONS = ("x+e", "e-x", "x*e", "x/e", "e/x", "x+y", "x*y", "x/y", "x^k")


def result(operation, row):
    """Return unit part, valuation and absolute precision of a result, or None where PARI has an error."""
    from cypari import pari
    from cypari._pari import PariError

    p = row["p"]
    names = {"x": f"({row['x']}+O({p}^({row['x_precision']})))", "y": f"({row['y']}+O({p}^({row['y_precision']})))"}
    names |= {"e": f"({row['e']})", "k": f"({row['k']})"}
    try:
        found = pari("".join(names.get(sign, sign) for sign in operation))
    except PariError:
        return None
    v, precision = int(pari.valuation(found, p)), int(pari.padicprec(found, p))
    unit = pari.lift(pari(found) / pari(p) ** v) if v < precision else 0
    return [str(unit), v, precision]


def main():
    """Write the file."""
    from cypari import pari

    rng = random.Random(57)
    rows = []
    for p in PRIMES:
        exponents = (1, 2, 3, 4, 6, 8, 12, -1, -2) + ((p, p * p, -p) if p < 10 else ())
        for _ in range(24):
            numbers = [
                Fraction(rng.randint(-99, 99), rng.randint(1, 30)) * Fraction(p) ** rng.choice((0, 0, 1, 2, -1, -2))
                for _ in range(2)
            ]
            e = Fraction(rng.randint(1, 60) * rng.choice((-1, 1)), rng.randint(1, 30)) * Fraction(p) ** rng.randint(
                -2, 2
            )
            row = {"p": p, "x": str(numbers[0]), "y": str(numbers[1]), "e": str(e), "k": rng.choice(exponents)}
            row |= {"x_precision": rng.randint(-2, 8), "y_precision": rng.randint(-2, 8)}
            rows.append(row | {"results": [result(operation, row) for operation in OPERATIONS]})
    meta = {
        "tool": f"PARI {'.'.join(map(str, pari.version()))} through cypari {version('cypari')}",
        "command": "python tests/oracles/padic_arithmetic.py",
        "encoding": "x + O(p^x_precision), y likewise, e exact; results as [unit part, valuation, absolute precision], "
        "null where PARI has an error",
        "operations": OPERATIONS,
    }
    text = json.dumps({"meta": meta, "rows": rows}).replace("}, {", "},\n{")
    Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
