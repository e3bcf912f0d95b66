"""How much of the Möbius function the places of the task `moebius` show: the ceiling of every model with these places.

    python experiments/moebius_ceiling.py        # about a minute: four million numbers for each of two ranges

Writes experiments/results/moebius_ceiling.json, whose figures stand in docs/number-theory.md.
"""

import argparse
from dataclasses import asdict
from pathlib import Path

import common
import numpy as np

from adelic.number_theory.ceilings import moebius_ceiling
from adelic.number_theory.multiplicative import Moebius


def main() -> None:
    """Draw numbers, factor them, and write what the best rule gets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=4_000_000, help="numbers drawn for each range (default: 4,000,000)")
    parser.add_argument("--output", type=Path, default=common.RESULTS / "moebius_ceiling.json")
    given = parser.parse_args()
    asked, limit = Moebius().task(), Moebius().limit
    ranges = {"test": (2, limit), "larger": (limit + 1, int(asked.max_operand))}
    assert asked.space is not None
    found = {
        split: {"low": low, "high": high}
        | asdict(moebius_ceiling(asked.space.primes, low=low, high=high, n=given.n, rng=np.random.default_rng(0)))
        for split, (low, high) in common.each(ranges.items())
    }
    results = {"n": given.n, "seed": 0, "primes": asked.space.primes, "ceilings": found}
    common.write(given.output, "moebius_ceiling.py", ("adelic", "numpy", "python-flint"), results)


if __name__ == "__main__":
    main()
