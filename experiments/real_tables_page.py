"""Write the tables of docs/columns.md and of docs/results/real-tables*.md from the results of real_tables.py.

python experiments/real_tables_page.py            # bring the pages up to date
python experiments/real_tables_page.py --check    # exit code 1 if one is not
python experiments/real_tables_page.py --draw     # the pictures, too: from the data, whose packages are needed

Between models of one input, and between inputs, validation chooses: accuracy, then loss. Differences are those of means
over seeds; gaps under two points are ties. Nothing here is a test of significance.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from textwrap import wrap
from typing import Any

import common
import numpy as np
from matplotlib.figure import Figure
from real_tables_sources import SOURCES
from tables import table

import adelic
from adelic.cli.options import Flag
from adelic_lab.report.plots import COLOURS, canvas, render

RESULTS = common.RESULTS / "real-tables"
PAGES = [common.DOCS / name for name in ("columns.md", "results/real-tables.md", "results/real-tables-models.md")]
PICTURES = {
    "probe.svg": ("births", "bank-codes"),
    "gallery.svg": ("unicode-digits", "hangul", "temperatures", "electricity", "iban", "zip-codes"),
}
YES = {"births": "days of few births", "temperatures": "warm hours", "electricity": "high demand", "iban": "valid"}
"""What the shares of two classes are shares of."""
OURS, OTHERS = ("AOE", "AOE, wide", "probe"), ("raw", "PLR", "skrub", "decimal digits")
BASELINES = {"majority": ("none", "majority"), "nearest": ("raw", "nearest"), "finding alone": ("probe", "rule")}
TIE = 0.02


@dataclass(frozen=True)
class Scores:
    """The runs of a table and split: test accuracies of the seeds, and mean validation, by input and model.

    Attributes:
        title: what is asked.
        tests: test accuracies by seed.
        validations: mean accuracy, and mean loss with its sign changed.
        findings: sentences of the probe, first seed.
    """

    title: str
    tests: dict[tuple[str, str], list[float]]
    validations: dict[tuple[str, str], tuple[float, float]]
    findings: list[str]

    def chosen(self, *inputs: str) -> tuple[str, str] | None:
        """Return the input and the model that validation prefers, of some inputs and all models that read them."""
        some = [run for run in self.tests if run[0] in inputs]
        return max(some, key=self.validations.__getitem__, default=None)

    def test(self, *inputs: str) -> float:
        """Return the mean test accuracy of `chosen`; NaN if there is none."""
        run = self.chosen(*inputs)
        return mean(self.tests[run]) if run else math.nan

    @property
    def gap(self) -> float:
        """Return how much the best of ours scores beyond the best of the others."""
        return self.test(*OURS) - self.test(*OTHERS)

    @property
    def first_finding(self) -> str:
        """Return the first finding without its figures."""
        return re.split(r" = | tells | explains ", self.findings[0])[0] if self.findings else "nothing"


Found = dict[tuple[str, str], Scores]


def read(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return all results."""
    return [json.loads(text) for path in sorted(folder.glob("*.jsonl")) for text in path.read_text().splitlines()]


def scores(lines: Iterable[dict[str, Any]]) -> Found:
    """Return the scores by table and split, those first on which ours lose most; last the drawn check digits."""
    groups: dict[tuple[str, str], dict[tuple[str, str], list[dict[str, Any]]]] = {}
    for line in sorted(lines, key=lambda one: one["seed"]):
        groups.setdefault((line["dataset"], line["split"]), {}).setdefault((line["input"], line["model"]), []).append(
            line
        )
    found = {}
    for (name, split), runs in groups.items():
        tests = {run: [line["accuracy"] for line in of] for run, of in runs.items()}
        validations = {
            run: tuple(
                mean(sign * line["validation"][key] for line in of) for key, sign in (("accuracy", 1), ("loss", -1))
            )
            for run, of in runs.items()
        }
        asked = f"{SOURCES[name][0]}{', in time' if split == 'time' else ''}"
        found[name, split] = Scores(asked, tests, validations, runs["probe", "rule"][0]["findings"])
    return dict(sorted(found.items(), key=lambda one: (one[0][0].startswith("check-"), one[1].gap)))


def percent(share: float) -> str:
    """Return a share in percent, "–" if there is none."""
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


def real(found: Found) -> list[Scores]:
    """Return the tables without the drawn check digits."""
    return [of for (name, _), of in found.items() if not name.startswith("check-")]


def summary(found: Found) -> str:
    """Return for each table baselines, the best of the others, each of ours against it, and the difference of ours."""
    rows = []
    for of in real(found):
        baselines = [percent(mean(of.tests[run])) for run in BASELINES.values()]
        gaps = {way: of.test(way) - of.test(*OTHERS) for way in OURS}
        marks = {way: "≈" if abs(gap) < TIE else "▲" if gap > 0 else "▼" for way, gap in gaps.items()}
        ours = [f"{percent(of.test(way))}\N{NO-BREAK SPACE}{marks[way]}" if of.chosen(way) else "–" for way in OURS]
        best = f"{percent(of.test(*OTHERS))} ({', '.join(of.chosen(*OTHERS))})"
        rows.append([of.title, *baselines, best, *ours, f"{round(100 * of.gap, 1) + 0.0:+}".replace("-", "−")])
    return table(["table", *BASELINES, "best of the others", *OURS, "difference"], rows)


def every(model: str) -> Callable[[Found], str]:
    """Return the function that makes the table of all inputs of a model, mean ± standard deviation over seeds."""

    def made(found: Found) -> str:
        rows = []
        for of in real(found):
            tests = {way: of.tests.get((way, model), []) for way in OTHERS + OURS}
            least = max(mean(one) for one in tests.values() if one) - TIE
            texts = [common.mean_percent(one, 1) if one else "–" for one in tests.values()]
            near = [bool(one) and mean(one) > least for one in tests.values()]
            rows.append(
                [of.title, *(f"**{text}**" if is_near else text for text, is_near in zip(texts, near, strict=True))]
            )
        return table(["table", *OTHERS, *OURS], rows)

    return made


def counts(found: Found) -> str:
    """Return how often each input is best, tied with the best, and above or below the raw numbers by two points."""
    rows = []
    for way in OTHERS + OURS:
        gaps = [
            (
                of.test(way) - max(of.test(one) for one in OTHERS + OURS if one != way and of.chosen(one)),
                of.test(way) - of.test("raw"),
            )
            for of in real(found)
            if of.chosen(way)
        ]
        counted = [sum(best >= TIE for best, _ in gaps), sum(abs(best) < TIE for best, _ in gaps)]
        counted += [sum(raw >= TIE for _, raw in gaps), sum(raw <= -TIE for _, raw in gaps)] if way != "raw" else "––"
        rows.append([way, str(len(gaps)), *map(str, counted)])
    head = ["input", "tables and splits", "best alone", "best with others", "above raw", "below raw"]
    return table(head, rows)


def checks(found: Found) -> str:
    """Return the check digits of each country."""
    ways = ("raw", "PLR", "decimal digits", "AOE", "AOE, wide", "probe")
    rows = [
        [
            f"{name[-2:].upper()}: {of.title}",
            *(percent(of.test(way)) for way in ways),
            percent(mean(of.tests["probe", "rule"])),
            of.first_finding,
        ]
        for (name, _), of in sorted(found.items())
        if name.startswith("check-")
    ]
    return table(["number", *ways, "finding alone", "first finding"], rows)


def findings(*names: str) -> Callable[[Found], str]:
    """Return the function that shows the sentences of the probe, first seed, random split."""

    def made(found: Found) -> str:
        texts = [f"{name}: {text}" for name in names for text in found[name, "random"].findings or ["nothing found"]]
        lines = [line for text in texts for line in wrap(text, 84, subsequent_indent="    ")]
        return "\n".join(["```text", *lines, "```"])

    return made


def chosen_tables(*names: tuple[str, str]) -> Callable[[Found], str]:
    """Return the function that makes the table of some tables and splits, with their first findings."""
    ways = ("raw", "PLR", "skrub", "decimal digits", "AOE", "AOE, wide", "probe")

    def made(found: Found) -> str:
        shown = [found[name] for name in names]
        rows = [[of.title, of.first_finding, *(percent(of.test(way)) for way in ways)] for of in shown]
        return table(["table", "first finding", *ways], rows)

    return made


MADE: dict[str, Callable[[Found], str]] = {
    "counts": counts,
    "summary": summary,
    "LightGBM": every("LightGBM"),
    "MLP": every("MLP"),
    "check digits": checks,
    "first findings": findings("births", "bank-codes"),
    "first two": chosen_tables(("births", "random"), ("births", "time"), ("bank-codes", "random")),
    "gallery": chosen_tables(*((name, "random") for name in PICTURES["gallery.svg"])),
}


def drawn(names: Iterable[str]) -> Figure:
    """Return a panel a table: the target's shares by the codes of the first finding."""
    names = list(names)
    lines = -(-len(names) // 2)
    with canvas(6.4, 2.3 * lines, "#767676", **{"font.size": 8, "legend.fontsize": 7}) as figure:
        for axes, name in zip(np.ravel(figure.subplots(lines, 2)), names, strict=True):
            source = SOURCES[name][2]()
            rows = source.parts("random", 0)[0]
            first = adelic.probe(source.frame.iloc[rows], source.target[rows])[0]
            codes, of_two = sorted(first.table), len(first.classes) == 2
            edges, below = np.arange(len(codes) + 1) - 0.5, np.zeros(len(codes))
            for j in range(of_two, len(first.classes)):
                heights = below + [first.table[code][0][j] for code in codes]
                colour = COLOURS[j % len(COLOURS)]
                fill = {"fill": True, "color": colour, "alpha": 1 - 0.5 * (j // len(COLOURS)), "linewidth": 0}
                axes.stairs(heights, edges, baseline=below, label=first.classes[j], **fill)
                below = heights
            step = -(-len(codes) // 12)
            axes.set_xticks(range(0, len(codes), step), [first.reading.label(code) for code in codes[::step]])
            axes.set(
                title=SOURCES[name][0].partition(",")[0], xlabel=first.reading.name.format(first.column), ylim=(0, 1)
            )
            axes.set_ylabel(YES.get(name, "share"))
            if not of_two and len(first.classes) <= len(COLOURS):
                axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.28), ncols=3, frameon=False)
    return figure


def main(*, check: Flag = False, draw: Flag = False) -> bool:
    """Write the tables, or check them.

    Args:
        check: write nothing, and say which pages are not up to date.
        draw: write the pictures of docs/columns, too, for which the data is needed.
    """
    found, stale = scores(read()), []
    for page in PAGES:
        text = wanted = page.read_text(encoding="utf-8")
        for mark, make in MADE.items():
            marks = re.compile(rf"(<!-- real tables: {mark} -->\n).*?(<!-- end of real tables -->)", flags=re.DOTALL)
            wanted = marks.sub(lambda at, make=make: f"{at[1]}{make(found)}\n{at[2]}", wanted)
        if wanted != text:
            stale.append(page.name)
            if not check:
                page.write_text(wanted, encoding="utf-8")
    for name, tables in PICTURES.items() if draw else ():
        common.atomic_write(common.DOCS / "columns" / name, render(drawn(tables), "svg", transparent=True))
    common.say(f"{'not up to date' if check else 'brought up to date'}: {', '.join(stale) or 'nothing'}")
    return not (check and stale)


if __name__ == "__main__":
    common.run(main)
