"""The number theory benchmark: which representation learns what divisibility, residues and signs decide.

Its tasks are drawn tasks of `adelic.number_theory`; its models are networks with every embedding, and solvers; its
plans are those of `adelic_lab.plans`. Here are its tables, in `number_theory_plots` its pictures.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adelic_lab.config.experiment import Experiment
from adelic_lab.config.solver_names import TITLES
from adelic_lab.plans import Report, Series, constants, rules
from adelic_lab.report import number_theory_plots as plots
from adelic_lab.report.number_theory_plots import counted, learned
from adelic_lab.report.table import (
    NONE,
    NOT_RUN,
    Line,
    Table,
    costs,
    mean_with_interval,
    percent,
    shown_seconds,
    wording,
)
from adelic_lab.results.metrics import is_learned
from adelic_lab.results.result import Result

KINDS = ("AOE, places apart", "AOE, in a Transformer", "others", "same inputs, no network")
"""The kinds of models that are compared, in the order of columns."""
_FLAT = "adelic-flat"
_ONE_TRANSFORMER = {
    "AOE, one-hot digits",
    "AOE, digits",
    "base 10, a token a digit",
    "residues modulo 25 primes, a token each",
    "FoNE",
    "xVal",
}
"""The embeddings of one Transformer that the README's picture compares: of AOE the best form and the paper's."""
_DRAWN = {
    ("squarefree",),
    ("moebius",),
    ("conic",),
    ("ternary-form",),
    ("root-number",),
    ("collatz",),
    ("modular-sum", "modulus=257", "terms=2"),
    ("modular-sum", "modulus=257", "terms=256"),
}
"""The tasks whose learning is drawn, with the options that are not their defaults."""


def show(series: list[Series]) -> Report:
    """Return the report: a table for each task, and each choice of its options, with notes; of what was not run names.

    The page has places for the tables of each task ("task gcd"), the notes on all of them ("notes on tables"), a table
    of all tasks ("all tasks"), and that of greatest common divisors that are learned ("divisors learned").

    Args:
        series: as `adelic_lab.plans.gather` has them.

    >>> show([]).text
    ''
    """
    parts: dict[str, list[str]] = {one.task: [] for one in series}
    without: dict[str, list[str]] = {one.task: [] for one in series}
    for heading in dict.fromkeys(one.heading for one in series):
        mine = [one for one in series if one.heading == heading]
        if any(one.results for one in mine):
            parts[mine[0].task] += [f"**{heading}**", _table(mine).to_markdown().rstrip()]
        else:
            without[mine[0].task].append(heading)
    for task, headings in without.items():
        parts[task] += [f"Not run: {'; '.join(headings)}."] if headings else []
    tables = {f"task {task}": "\n\n".join(texts) for task, texts in parts.items()}
    results = [result for one in series for result in one.results]
    # The pictures are of log-uniform divisors, which are the task's default.
    divisors = [one for one in series if one.task == "gcd" and not one.options and one.results]
    return Report(
        tables | {"notes on tables": _notes(results) if results else ""},
        {
            "all tasks": to_summary(series).to_markdown().rstrip(),
            "divisors learned": divisors_table(divisors).to_markdown().rstrip(),
        },
        {
            "gcd.svg": lambda: plots.draw_gcd([one for one in divisors if one.results[0].history]),
            "learned.svg": lambda: plots.draw_learned([one for one in divisors if one.label in _ONE_TRANSFORMER]),
            "divisors.svg": lambda: plots.draw_divisors(divisors),
            "learning.svg": lambda: plots.draw_learning(_with_target(series)),
        },
    )


def _with_target(series: Sequence[Series]) -> dict[str, list[Series]]:
    """Return the series with results, by kind, of the tasks of which more was asked than to be run."""
    mine = [one for one in series if one.results and (one.task, *one.options) in _DRAWN]
    return {kind: of for kind in KINDS if (of := [one for one in mine if kind_of(one.experiments[0]) == kind])}


def _table(series: list[Series]) -> Table:
    """Return the table of one task: a row a series."""
    asked = series[0].asked
    splits, is_counted = ("test", *asked.never_seen), asked.every_class
    of_classes = ["learned, of 100"] if is_counted else ["least class"] if asked.class_names else []
    lines: list[Line] = []
    for one in series:
        results, n_planned = one.results, len(one.experiments)
        seeds = f"{len(results)}" + (f" of {n_planned}" if len(results) < n_planned else "")
        line = {"model": one.label, "examples": f"{one.examples:,}", "seeds": seeds}
        line |= {split: mean_with_interval(one.accuracies(split)) for split in splits}
        if is_counted:
            counts = [learned(result, is_counted) for result in results]
            line["learned, of 100"] = mean_with_interval(counts, scale=1, decimals=int(len(counts) > 1))
        elif asked.class_names:
            line["least class"] = mean_with_interval([_least_class(result) for result in results])
        if results:
            line |= {"trained numbers": f"{results[0].parameters:,}", "seconds": shown_seconds(results)}
        lines.append(line)
    everything = [result for one in series for result in one.results]
    constant = {split: percent(constants(everything, split), none="") for split in splits}
    lines.append({"model": "best constant answer"} | constant)
    if rule := percent(rules(everything), none=""):
        lines.append({"model": "best trivial rule", "test": rule})
    return Table.of(("model", "examples", "seeds", *splits, *of_classes, "trained numbers", "seconds"), lines)


def _notes(results: list[Result]) -> str:
    """Return what stands under the tables."""
    return (
        "Exact answers in percent: mean over seeds ± half the width of the 95 % confidence interval (Student's t); of "
        "two seeds the range, of one the figure alone. test: questions drawn as in training, none of them trained on; "
        "a model that has all of them right is asked more. "
        "learned: classes with at least 95 % of their questions right on the split that has all equally often. least "
        "class: the class with the fewest right answers, over all splits. seconds: of training. "
        f"{wording()['shared']['busy']} best constant answer: one answer to all questions of a split, its best. "
        "best trivial rule: chosen, and learnt, from training questions; where answers are numbers without classes it "
        f"is not counted.\n\n{costs(results)}"
    )


def kind_of(one: Experiment) -> str:
    """Return which of `KINDS` the model of a run is.

    >>> from adelic_lab.plans import read_plan
    >>> {kind_of(series.experiments[0]) for series in read_plan("full", "number-theory")} == set(KINDS)
    True
    """
    name = one.model.name
    if name.startswith("counting-table"):
        return KINDS[3]
    if not (name.startswith("adelic") or TITLES.get(name, "").startswith("AOE")):
        return KINDS[2]
    is_flat = one.embedding.places is None if one.is_network else name.startswith(_FLAT)
    return KINDS[1 if is_flat else 0]


def to_summary(series: Sequence[Series]) -> Table:
    """Return a row for each task, and each choice of its options.

    The figure is the share of exact answers on the test questions, in percent, or where classes are counted how many
    of 100 are learned. Of each kind the series with the greatest mean stands there.

    >>> to_summary([]).rows
    ()
    """
    rows = []
    for heading in dict.fromkeys(one.heading for one in series):
        mine = [one for one in series if one.heading == heading]
        published = next((one.published for one in mine if one.published), NONE)
        rule = None if mine[0].asked.every_class else rules(result for one in mine for result in one.results)
        rows.append((heading, published, *(_best(mine, kind) for kind in KINDS), percent(rule)))
    return Table.of(("task", "published", *KINDS, "trivial rule"), tuple(rows))


def _best(series: Sequence[Series], kind: str) -> str:
    """Return the greatest figure of a kind, with the label of its series; "–" where the plan has none."""
    mine = [one for one in series if kind_of(one.experiments[0]) == kind]
    if not mine:
        return NONE
    with_figures = [one for one in mine if one.results]
    if not with_figures:
        return NOT_RUN
    best = max(with_figures, key=lambda one: float(np.mean(_figures(one))))
    scale, decimals = (1, int(len(best.results) > 1)) if best.asked.every_class else (100, 2)
    return f"{mean_with_interval(_figures(best), scale=scale, decimals=decimals)} ({best.label})"


def _figures(series: Series) -> list[float]:
    counted = series.asked.every_class
    return [float(learned(result, counted)) for result in series.results] if counted else series.accuracies()


def _least_class(result: Result) -> float:
    """Return the least share of right answers that a class has, over all splits."""
    return min(
        float(correct / cases)
        for counts in (result.by_class or {}).values()
        for cases, correct in zip(counts["cases"], counts["correct"], strict=True)
        if cases
    )


_GROUPS = {"GCD divides a power of 10": (10,), "a power of 30, not of 10": (30,), "neither": ()}
_MOST_LISTED = 20


def divisors_table(series: Sequence[Series]) -> Table:
    """Return which GCDs each series has learned, and its right answers by what the GCD divides, in percent.

    In base B the last digits of a number say whether a divisor of a power of B divides it, and nothing else does so
    simply.
    """
    lines: list[Line] = []
    for one in series:
        counts = pd.DataFrame(dict(zip(("cases", "correct"), counted(one.results), strict=True)))
        sums = counts.groupby([group(k + 1) for k in counts.index]).sum()
        line = {"model": one.label, "examples": f"{one.examples:,}", "seeds": f"{len(one.results)}"}
        line["learned"] = listed(is_learned(counts.cases.to_numpy(), counts.correct.to_numpy()))
        shares = (100 * sums.correct / sums.cases)[sums.cases > 0]
        lines.append(line | shares.map("{:.1f}".format).to_dict())
    return Table.of(("model", "examples", "seeds", "learned", *_GROUPS), lines)


def group(k: int) -> str:
    """Return the column of a GCD.

    >>> group(25), group(12), group(14)
    ('GCD divides a power of 10', 'a power of 30, not of 10', 'neither')
    """
    # k divides a power of B if it divides B^k: no exponent of a prime in k is as great as k.
    return next(name for name, bases in _GROUPS.items() if all(pow(base, k, k) == 0 for base in bases))


def listed(known: NDArray[np.bool_]) -> str:
    """Return the GCDs that are learned in few words.

    >>> listed(np.array([True] * 99 + [False])), listed(np.array([True, False] * 2)), listed(np.zeros(3, bool))
    ('all but 100', '1, 3', 'none')
    """
    of, without = (", ".join(str(k + 1) for k in np.flatnonzero(chosen)) for chosen in (known, ~known))
    if not without:
        return "all"
    if (~known).sum() < min(known.sum(), _MOST_LISTED):
        return f"all but {without}"
    return of or "none"
