"""Write symbols.json: Hilbert and Kronecker symbols, and where ternary forms have zeros, by PARI through cypari.

python tests/oracles/symbols.py
"""

import json
import random
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

# cypari is imported where it is needed: its import replaces the handlers of signals, and pytest imports this file.

PRIMES = (2, 3, 5, 7, 43, 10007, 2**31 - 1, 2**61 - 1, 18446744073709551557, 10**76 + 133)
SIZES = (10, 10**3, 10**9, 10**18, 10**40)


def integer(rng):
    """Return an integer of one of several sizes, sometimes a multiple of primes of the list."""
    return rng.randint(-(size := rng.choice(SIZES)), size) * rng.choice((1, 1, *PRIMES, PRIMES[0] ** 3))


def rational(rng):
    """Return such a rational number other than 0."""
    return Fraction(integer(rng) or 1, abs(integer(rng)) or 1 if rng.random() < 0.5 else 1)


def main():
    """Write the file."""
    from cypari import pari

    rng = random.Random(63)
    hilbert = [[str(rational(rng)), str(rational(rng)), p] for p in (*PRIMES, 0) for _ in range(60)]
    hilbert = [[a, b, p, int(pari(f"hilbert({a},{b},{p})"))] for a, b, p in hilbert]
    kronecker = [[integer(rng), integer(rng)] for _ in range(400)]
    kronecker += [[a, n] for a in range(-9, 10) for n in range(-9, 10)]
    kronecker = [[str(a), str(n), int(pari(a).kronecker(n))] for a, n in kronecker]
    forms = [[rng.choice((-1, 1)) * rng.randint(1, 60) for _ in range(3)] for _ in range(150)]
    forms += [[str(Fraction(c, rng.randint(1, 9))) for c in form] for form in forms[:30]]
    forms = [[f, pari(f"qfsolve(matdiagonal([{','.join(map(str, f))}]))")] for f in forms]
    forms = [[*f, int(found) if found.type() == "t_INT" else None] for f, found in forms]
    meta = {
        "tool": f"PARI {'.'.join(map(str, pari.version()))} through cypari {version('cypari')}",
        "command": "python tests/oracles/symbols.py",
        "encoding": "hilbert: a, b, p (0: real), (a, b)_p; kronecker: a, n, (a/n); forms: a, b, c, and a place without "
        "a zero of ax² + by² + cz², −1 the real one, or null if there is a rational zero",
    }
    text = json.dumps({"meta": meta, "hilbert": hilbert, "kronecker": kronecker, "forms": forms}, ensure_ascii=False)
    Path(__file__).with_suffix(".json").write_text(text.replace("], [", "],\n[") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
