"""What two formulas and one rule of the hooks say of characters, without a network: what a squared error is worth.

    python benchmarks/character_rules.py    # a minute

Of the test rows of the task `characters` (published split), three rules that read the view `hooks`:

- χ^λ at the identity is the dimension, n! over the product of the hook lengths;
- at transpositions it is the dimension times the sum of the contents over n(n−1)/2;
- it is 0 where μ has a part k and λ has no hook of k cells.

The first two say 0 everywhere else. Sources: Sagan, "The Symmetric Group" (2001), sections 3.10 and 4.10; Macdonald,
"Symmetric Functions and Hall Polynomials" (1995), section I.7, example 7.

Writes benchmarks/results/character_rules.json, whose figures stand in docs/arithmetic.md.
"""

import argparse
from fractions import Fraction
from math import factorial, prod
from pathlib import Path
from typing import Any

import common
import numpy as np

from adelic import acd

_SIZES = (18, 20, 22)


def main() -> None:
    """Ask the rules about the test rows of each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES, help="(default: 18 20 22)")
    parser.add_argument("--output", type=Path, default=common.RESULTS / "character_rules.json")
    given = parser.parse_args()
    common.write(given.output, "character_rules.py", ("adelic", "numpy"), {"runs": [asked(n) for n in given.sizes]})


def asked(n: int) -> dict[str, Any]:
    """Return the mean squared errors of the formulas on the test rows, and how many rows the hooks say are 0."""
    data = acd.load("characters", n=n)
    seen = acd.task("characters").views["hooks"].rows(data.X_test).astype(np.int64)
    hooks, contents, cycles = seen[:, :n], seen[:, n:-n], seen[:, -n:]
    is_identity, is_transposition = cycles[:, 0] == n, (cycles[:, 0] == n - 2) & (cycles[:, 1] == 1)
    of_formulas = np.zeros(len(seen))
    errors = {}
    for name, rows in (("dimensions", is_identity), ("dimensions_and_transpositions", is_transposition)):
        for row in np.flatnonzero(rows):
            value = Fraction(factorial(n), prod(int(k) ** int(c) for k, c in enumerate(hooks[row], start=1)))
            if is_transposition[row]:
                value *= Fraction(int(contents[row] @ np.arange(1 - n, n)), n * (n - 1) // 2)
            if value != int(data.y_test[row]):
                raise SystemExit(f"the formula says {value} of row {row}, which is {data.y_test[row]}")
            of_formulas[row] = float(value)
        errors[name] = float(np.square(of_formulas - data.y_test).mean())
    is_zero = ((cycles > 0) & (hooks == 0)).any(axis=1)
    if data.y_test[is_zero].any():
        raise SystemExit("a part without a hook of its length has a character that is not 0")
    return {
        "n": n,
        "mean_squared_error": errors,
        "zeros": float((data.y_test == 0).mean()),
        "zeros_by_hooks": float(is_zero.mean()),
    }


if __name__ == "__main__":
    main()
