"""How much of the Möbius function the places of the task `moebius` show: the ceiling of every model with these places.

    python experiments/moebius_ceiling.py        # about a minute: four million numbers for each of two ranges

Writes experiments/results/moebius_ceiling.json, whose figures stand in docs/number-theory/moebius.md.
"""

from dataclasses import asdict
from pathlib import Path

import common
import numpy as np

from adelic.number_theory.ceilings import moebius_ceiling
from adelic.number_theory.multiplicative import Moebius


def main(*, n: common.Positive = 4_000_000, output: Path | None = None) -> None:
    """Draw numbers, factor them, and write what the best rule gets.

    Args:
        n: numbers drawn for each range.
        output: file of the results.
    """
    asked, limit = Moebius().task(), Moebius().limit
    ranges = {"test": (2, limit), "larger": (limit + 1, int(asked.max_operand))}
    primes, found = asked.space.primes, {}
    for split, (low, high) in common.each(ranges.items()):
        ceiling = moebius_ceiling(primes, low=low, high=high, n=n, rng=np.random.default_rng(0))
        found[split] = {"low": low, "high": high} | asdict(ceiling)
    results = {"n": n, "seed": 0, "primes": primes, "ceilings": found}
    common.write("moebius_ceiling.json", ("adelic", "numpy", "python-flint"), results, output)


if __name__ == "__main__":
    common.run(main)
