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


def more_of_pari(rng):
    """Return n-th roots, rational numbers from digits, and products of matrices, as PARI computes and writes them."""
    from cypari import pari
    from cypari._pari import PariError

    powers, rationals, products = [], [], []
    for p in (*PRIMES[:-1], 2**89 - 1):
        for n in (2, 3, 4, 6, 7, 14):
            for k in range(3):
                v = rng.choice((0, n))
                q = Fraction(rng.randint(-99, 99) or 1, rng.randint(1, 20)) ** (n if k % 2 else 1) * p**v
                x = pari(f"{q} + O({p}^{rng.randint(4, 9) + v})")
                try:
                    root = str(pari(f"sqrtn({x}, {n})"))
                except PariError:
                    root = None
                powers += [{"p": p, "n": n, "x": str(x), "root": root}]
        for _ in range(12):
            q, k = Fraction(rng.randint(-999, 999), p * rng.randint(1, 99) + 1), rng.randint(2, 12)
            x = pari(f"Mod({q}, {p}^{k})")
            found = str(pari.bestappr(x))
            rationals += [{"p": p, "x": f"{x.lift()} + O({p}^{k})", "q": None if found == "[]" else found}]
        a, b = (
            [str(pari(f"{p}^{rng.randint(-1, 2)}*{rng.randint(-99, 99)} + O({p}^{rng.randint(3, 9)})")) for _ in "1234"]
            for _ in "ab"
        )
        c = pari("[{},{};{},{}]".format(*a)) * pari("[{},{};{},{}]".format(*b))
        products += [{"p": p, "a": a, "b": b, "product": [str(c[i, j]) for i in (0, 1) for j in (0, 1)]}]
    return {"powers": powers, "rationals": rationals, "products": products}


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
    text = json.dumps({"meta": meta, "values": values, "roots": polynomials} | more_of_pari(rng)).replace(
        "}, {", "},\n{"
    )
    Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
