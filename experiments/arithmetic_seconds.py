"""Draw exact answers against seconds of training, from the results of two plans of arithmetic.

They are the plan of `adelic reproduce arithmetic`, from 10,000 examples, and that of rivals which are given more time
(experiments/arithmetic_long.toml), from 1,000 examples and from 10,000 or more. AOE with its places apart has 1,000.

python experiments/arithmetic_seconds.py    # writes docs/arithmetic/seconds.svg
"""

import argparse
import sys
from pathlib import Path

import common

from adelic_lab.report.arithmetic.figures import draw_seconds
from adelic_lab.report.drawn import Series, gather, read_plan

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "arithmetic" / "seconds.svg"
PROBLEMS = ("addition", "multiplication")
OURS, RIVALS = "adelic-placewise", ("fone", "xval", "abacus", "base-digits", "base-digits:base=1000")
"""Of the first plan; of the second all are drawn."""
HIDDEN = (100, 300, 3000)
"""Numbers of examples of the second plan whose marks would lie on others; the page has a table of them."""


def series() -> list[Series]:
    """Return the series of both plans with results, of sums and products."""
    full = gather(read_plan("full", "arithmetic"), ROOT / "experiments" / "results" / "arithmetic")
    longer = gather(
        read_plan(ROOT / "experiments" / "arithmetic_long.toml"), ROOT / "experiments" / "results" / "arithmetic-long"
    )
    chosen = [
        one
        for one in full
        if (one.model == OURS and one.examples == 1000) or (one.model in RIVALS and one.examples >= 10_000)
    ]
    longer = [one for one in longer if one.examples not in HIDDEN]
    return [one for one in (*chosen, *longer) if one.results and one.task in PROBLEMS]


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    common.say("reading the results, and drawing")
    picture = draw_seconds(series())
    if picture is None:
        sys.exit("there are no results")
    PICTURE.write_bytes(picture)


if __name__ == "__main__":
    main()
