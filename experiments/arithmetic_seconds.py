"""Draw exact answers against seconds of training, from the results of two plans of arithmetic.

They are the plan of `adelic reproduce arithmetic`, from 10,000 examples, and that of rivals which are given more time
(experiments/arithmetic_long.toml), from 1,000 examples and from 10,000 or more. AOE with its places apart has 1,000.

python experiments/arithmetic_seconds.py    # writes docs/arithmetic/seconds.svg
"""

import common
import numpy as np

from adelic_lab.plans import Series, gather, read_plan
from adelic_lab.report.arithmetic import accuracy_panels, looks, with_legend
from adelic_lab.report.plots import GREY, canvas

PICTURE = common.DOCS / "arithmetic" / "seconds.svg"
PROBLEMS = ("addition", "multiplication")
OURS, RIVALS = ("adelic-placewise", 1000), ("fone", "xval", "abacus", "base-digits", "base-digits:base=1000")
"""Of the first plan; of the second all are drawn."""
HIDDEN = (100, 300, 3000)
"""Numbers of examples of the second plan whose marks would lie on others; the page has a table of them."""
BESIDE, LEVEL = 0.12, 8.0  # decades of seconds, and percentage points, within which two numbers would overlap
HEIGHTS = 4, -11, 12, -19  # of a number above or below its mark, in points, for marks side by side


def series() -> list[Series]:
    """Return the series of both plans with results, of sums and products."""
    full = gather(read_plan("full", "arithmetic"), common.RESULTS / "arithmetic")
    found = [
        one for one in full if (one.model, one.examples) == OURS or (one.model in RIVALS and one.examples >= 10_000)
    ]
    plan = read_plan(common.ROOT / "experiments" / "arithmetic_long.toml")
    found += [one for one in gather(plan, common.RESULTS / "arithmetic-long") if one.examples not in HIDDEN]
    return [one for one in found if one.results and one.task in PROBLEMS]


def draw_seconds(found: list[Series]) -> bytes:
    """Return an SVG of accuracy against seconds of one core in training, a panel for each task.

    Every series is a point, its mean over seeds, and each of its seeds a dot. If one answer in a hundred or more is
    right, the number of its examples is next to it, in thousands (10k).
    """
    titles = list(dict.fromkeys(one.title for one in found))
    with canvas(10.5, 2.9, GREY) as figure:
        panels = accuracy_panels(figure, titles, sharex=True)
        for axes, title in zip(panels, titles, strict=True):
            named: list[tuple[float, float]] = []
            for one in (e for e in found if e.title == title):
                look = looks(found)[one.model] | {"linestyle": "none"}
                # What else the machine did is no cost of a solver; older results do not tell the two apart.
                seconds = [result.processor_seconds or result.seconds for result in one.results]
                values = [100 * value for value in one.accuracies()]
                x, y = float(np.mean(seconds)), float(np.mean(values))
                axes.plot(x, y, label=one.model, markersize=7, **look)
                axes.plot(seconds, values, ".", color=look["color"], markersize=4, alpha=0.5)
                if y >= 1:
                    # Each at another height than the numbers of the marks next to it.
                    beside = [u for u, v in named if abs(np.log10(u / x)) < BESIDE and abs(v - y) < LEVEL]
                    named.append((x, y))
                    place = 5, HEIGHTS[len(beside) % len(HEIGHTS)]
                    text = f"{one.examples // 1000}k"
                    axes.annotate(text, (x, y), place, textcoords="offset points", fontsize=7, color=GREY)
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda second, _: f"{second:g}")
            axes.set_xlabel("seconds of one core")
            axes.set_ylim(-3, 108)
        return with_legend(figure)


def main() -> None:
    """Draw the picture."""
    common.say("reading the results, and drawing")
    PICTURE.write_bytes(draw_seconds(series()))


if __name__ == "__main__":
    common.run(main)
