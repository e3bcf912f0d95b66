"""Draw exact answers against seconds of training, from the results of two plans of arithmetic.

They are the plan of `adelic reproduce arithmetic`, from 10,000 examples, and that of rivals which are given more time
(benchmarks/arithmetic_long.toml). AOE with its places apart has 1,000 examples.

python benchmarks/arithmetic_seconds.py    # writes docs/arithmetic/seconds.svg
"""

import sys
from pathlib import Path

from adelic.benchmark import arithmetic
from adelic.benchmark.arithmetic.entries import Entry
from adelic.benchmark.arithmetic.figures import draw_seconds

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "arithmetic" / "seconds.svg"
PROBLEMS = ("addition", "multiplication")
OURS, RIVALS = "adelic-placewise", ("fone", "xval", "abacus", "base-10", "base-1000")
"""Of the first plan; of the second all are drawn."""


def entries() -> list[Entry]:
    """Return the entries of both plans with results, of sums and products."""
    full = arithmetic.gather(arithmetic.read_plan("full"), ROOT / "results" / "arithmetic")
    longer = arithmetic.read_plan(ROOT / "benchmarks" / "arithmetic_long.toml")
    chosen = [
        entry
        for entry in full
        if (entry.solver == OURS and entry.examples == 1000) or (entry.solver in RIVALS and entry.examples >= 10_000)
    ]
    both = [*chosen, *arithmetic.gather(longer, ROOT / "results" / "arithmetic-long")]
    return [entry for entry in both if entry.results and entry.problem in PROBLEMS]


def main() -> None:
    """Draw the picture."""
    picture = draw_seconds(entries())
    if picture is None:
        sys.exit("there are no results")
    PICTURE.write_bytes(picture)


if __name__ == "__main__":
    main()
