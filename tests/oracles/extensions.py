"""Write extensions.json: products, quotients, norms and traces in Q[x]/f as PARI computes them, through cypari.

python tests/oracles/extensions.py
"""

import json
import random
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

# cypari is imported where it is needed: its import replaces the handlers of signals, and pytest imports this file.

FIELDS = (
    (2, "x^2 + x + 1"),
    (2, "x^3 - 2"),
    (3, "x^2 + 1"),
    (3, "x^4 - 3*x + 3"),
    (5, "x^3 + 3*x + 3"),
    (7, "x^2 - 7"),
    (43, "x^2 - 2"),
    (10007, "x^2 - 5"),
    (2**89 - 1, "x^2 - 3"),
)


def main():
    """Write the file."""
    from cypari import pari

    rng = random.Random(63)
    rows = []
    for p, text in FIELDS:
        f = pari(text)
        n = int(f.poldegree())
        for _ in range(12):
            a, b = (
                [Fraction(rng.randint(-99, 99), rng.randint(1, 9)) * p ** rng.choice((0, 0, 0, 1)) for _ in range(n)]
                for _ in range(2)
            )
            x, y = (pari(f"Mod({' + '.join(f'({c})*x^{i}' for i, c in enumerate(z))}, {text})") for z in (a, b))
            results = [[str(z.lift().polcoef(i)) for i in range(n)] for z in (x * y, x / y)]
            row = {"p": p, "f": text, "a": list(map(str, a)), "b": list(map(str, b))}
            row |= {"product": results[0], "quotient": results[1]}
            rows.append(row | {"norm": str(f.polresultant(x.lift())), "trace": str(x.trace())})
    meta = {
        "tool": f"PARI {'.'.join(map(str, pari.version()))} through cypari {version('cypari')}",
        "command": "python tests/oracles/extensions.py",
        "encoding": "a, b, a·b and a/b in Q[x]/f, the constant coefficients first; norm and trace of a",
    }
    text = json.dumps({"meta": meta, "rows": rows}, ensure_ascii=False).replace("}, {", "},\n{")
    Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
