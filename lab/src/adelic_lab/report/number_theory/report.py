"""What the number theory benchmark shows: a table of all tasks, one for each; of greatest common divisors pictures."""

from collections.abc import Sequence

import numpy as np

from adelic_lab.config.experiment import Experiment
from adelic_lab.report.drawn import Report, Series
from adelic_lab.report.drawn.scores import constants, learned, least_class, rules
from adelic_lab.report.number_theory.divisors import draw_divisors, to_table
from adelic_lab.report.number_theory.figures import draw_gcd, draw_learned
from adelic_lab.report.number_theory.learning import draw_learning
from adelic_lab.report.results import BUSY_NOTE, costs, shown_seconds
from adelic_lab.report.table import NONE, NOT_RUN, Table, mean_with_interval, percent
from adelic_lab.results.result import Result

KINDS = ("AOE, places apart", "AOE, in a Transformer", "others")
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
        series: as `adelic_lab.report.drawn.gather` has them.

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
            "divisors learned": to_table(divisors).to_markdown().rstrip(),
        },
        {
            "gcd.svg": lambda: draw_gcd([one for one in divisors if one.results[0].history]),
            "learned.svg": lambda: draw_learned([one for one in divisors if one.label in _ONE_TRANSFORMER]),
            "divisors.svg": lambda: draw_divisors(divisors),
            "learning.svg": lambda: draw_learning(_with_target(series)),
        },
    )


def _with_target(series: Sequence[Series]) -> dict[str, list[Series]]:
    """Return the series with results, by kind, of the tasks of which more was asked than to be run."""
    mine = [one for one in series if one.results and (one.task, *one.options) in _DRAWN]
    return {kind: of for kind in KINDS if (of := [one for one in mine if kind_of(one.experiments[0]) == kind])}


def _table(series: list[Series]) -> Table:
    """Return the table of one task: a row a series."""
    asked = series[0].asked
    splits = ("test", *asked.never_seen)
    is_counted = asked.every_class
    columns = ["model", "examples", "seeds", *splits]
    if is_counted:
        columns.append("learned, of 100")
    elif asked.class_names:
        columns.append("least class")
    columns += ["trained numbers", "seconds"]
    rows = []
    for one in series:
        results = one.results
        figures = [mean_with_interval(one.accuracies(split)) for split in splits]
        if is_counted:
            counts = [learned(result, is_counted) for result in results]
            figures.append(mean_with_interval(counts, scale=1, decimals=int(len(counts) > 1)))
        elif asked.class_names:
            figures.append(mean_with_interval([least_class(result) for result in results]))
        seeds = f"{len(results)}" + (f" of {len(one.experiments)}" if len(results) < len(one.experiments) else "")
        costs = [f"{results[0].parameters:,}", shown_seconds(results)] if results else ["", ""]
        rows.append((one.label, f"{one.examples:,}", seeds, *figures, *costs))
    everything = [result for one in series for result in one.results]
    blank = [""] * (len(columns) - 3 - len(splits))
    named = [percent(constants(everything, split), none="") for split in splits]
    rows.append(("best constant answer", "", "", *named, *blank))
    if rule := percent(rules(everything), none=""):
        rows.append(("best trivial rule", "", "", rule, *[""] * len(named[1:]), *blank))
    return Table(tuple(columns), tuple(rows))


def _notes(results: list[Result]) -> str:
    """Return what stands under the tables."""
    return (
        "Exact answers in percent: mean over seeds ± half the width of the 95 % confidence interval (Student's t); of "
        "two seeds the range, of one the figure alone. test: questions drawn as in training, none of them trained on; "
        "a model that has all of them right is asked more. "
        "learned: classes with at least 95 % of their questions right on the split that has all equally often. least "
        "class: the class with the fewest right answers, over all splits. seconds: of training. "
        f"{BUSY_NOTE} best constant answer: one answer to all questions of a split, its best. "
        "best trivial rule: chosen, and learnt, from training questions; where answers are numbers without classes it "
        f"is not counted.\n\n{costs(results)}"
    )


def kind_of(one: Experiment) -> str:
    """Return which of `KINDS` the model of a run is.

    >>> from adelic_lab.report.drawn import read_plan
    >>> {kind_of(series.experiments[0]) for series in read_plan("full", "number-theory")} == set(KINDS)
    True
    """
    name = one.model.name
    if not name.startswith("adelic"):
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
    return Table(("task", "published", *KINDS, "trivial rule"), tuple(rows))


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
