"""The tables and pictures of the number theory benchmark.

The benchmark asks which representation learns an answer that divisibility, residues or signs decide. Its tasks are
drawn tasks of `adelic.number_theory`. Its models are networks with any embedding, and solvers. `adelic_lab.plans` reads
its plans.
"""

from collections.abc import Iterable, Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from adelic_lab.config.experiment import Experiment
from adelic_lab.config.names import TITLES, parse_solver
from adelic_lab.plans import Report, Series, constants, rules
from adelic_lab.report import table
from adelic_lab.report.plots import COLOURS, DASHES, GREY, canvas, logarithmic, render, short
from adelic_lab.report.table import NONE, NOT_RUN, Line, Table, mean_with_interval, percent, wording
from adelic_lab.results.metrics import is_learned
from adelic_lab.results.result import Result

KINDS = ("AOE, places apart", "AOE, in a Transformer", "rivals", "same inputs, no network")
"""The kinds of models, in the order of columns."""
_PAGE_OF = dict.fromkeys(("order", "valuation", "unit"), "one-prime")
_PAGE_OF |= dict.fromkeys(("sorting", "maximum", "floor-quotient"), "controls-size")
_PAGE_OF |= dict.fromkeys(("decimal-digit", "noisy-sum", "residue"), "controls-digits")
"""The page of a task, if it is shared with others."""
_MANY = {"terms=32", "terms=256"}
"""Sums of so many numbers have another table, on another page."""
_FLAT = "adelic-flat"
_BARS = {name: name for name in ("AOE, residues", "base 10", "FoNE")}
_BARS |= {"residues mod 25 primes": "residues as tokens", "AOE, digits": "AOE, raw digits"}
"""The embeddings of one Transformer in the README's picture, and their names there."""
_DRAWN = {(task,) for task in ("squarefree", "moebius", "conic", "ternary-form", "root-number", "collatz")}
_SUMS_DRAWN = {("modular-sum", "modulus=257", f"terms={n}") for n in (2, 256)}
"""The tasks with learning curves, each with its options that differ from the defaults."""
_WARM = (*(COLOURS[i] for i in (1, 3, 4)), "#8C564B")
_COLUMNS = 4
"""Tasks side by side, at most."""


def show(series: list[Series]) -> Report:
    """Return the report: one table per task and choice of its options, notes, and the names of tasks without results.

    The pages have marks for the tables of each task ("task gcd"; sums of many numbers: "task modular-sum-many"), for
    the notes on all of them ("notes on tables"), for a table of all tasks ("all tasks"), and for the greatest common
    divisors learned ("divisors learned").

    Args:
        series: as `adelic_lab.plans.gather` has them.

    >>> show([]).text
    ''
    """
    parts: dict[str, list[str]] = {_part(one): [] for one in series}
    without: dict[str, list[str]] = {_part(one): [] for one in series}
    for heading in dict.fromkeys(one.heading for one in series):
        mine = [one for one in series if one.heading == heading]
        if any(one.results for one in mine):
            parts[_part(mine[0])] += _table(mine)
        else:
            without[_part(mine[0])].append(heading)
    for task, headings in without.items():
        parts[task] += [f"Not run: {'; '.join(headings)}."] if headings else []
    tables = {f"task {task}": "\n\n".join(texts) for task, texts in parts.items()}
    results = [result for one in series for result in one.results]
    # The pictures are of log-uniform divisors, which are the task's default.
    divisors = [one for one in series if one.task == "gcd" and not one.options and one.results]
    notes = f"{table.wording()['number_theory']['note']}\n\n{table.costs(results)}" if results else ""
    return Report(
        tables | {"notes on tables": notes},
        {
            "all tasks": to_summary(series).to_markdown().rstrip(),
            "divisors learned": divisors_table(divisors).to_markdown().rstrip(),
        },
        {
            "gcd.svg": lambda: draw_gcd([one for one in divisors if one.results[0].history]),
            "learned.svg": lambda: draw_learned([one for one in divisors if one.label in _BARS]),
            "divisors.svg": lambda: draw_divisors(divisors),
            "learning.svg": lambda: draw_learning(_with_target(series)),
        },
    )


def _part(series: Series) -> str:
    return f"{series.task}-many" if _MANY.intersection(series.options) else series.task


def _with_target(series: Sequence[Series]) -> dict[str, list[Series]]:
    """Return the series with results, by kind, of the tasks of which more was asked than to be run."""
    mine = [one for one in series if one.results and (one.task, *one.options) in _DRAWN | _SUMS_DRAWN]
    return {kind: of for kind in KINDS if (of := [one for one in mine if kind_of(one.experiments[0]) == kind])}


def _table(series: list[Series]) -> list[str]:
    """Return a caption and the table of one task: one line per series. The caption says what all series share."""
    asked = series[0].asked
    splits, is_counted = ("test", *asked.never_seen), asked.every_class
    figures = ["learned, of 100", *splits] if is_counted else [*splits, *["least class"] * bool(asked.class_names)]
    lines: list[Line] = []
    for one in series:
        results, n_planned = one.results, len(one.experiments)
        seeds = f"{len(results)}" + (f" of {n_planned}" if len(results) < n_planned else "")
        seeds += " ✓" if results and all(result.wrong is not None for result in results) else ""
        line = {"model": one.label, "told": told(one.experiments[0]), "examples": short(one.examples), "seeds": seeds}
        line |= {split: mean_with_interval(one.accuracies(split)) for split in splits}
        if is_counted:
            counts = [learned(result, is_counted) for result in results]
            line["learned, of 100"] = mean_with_interval(counts, scale=1, decimals=int(len(counts) > 1))
        elif asked.class_names:
            line["least class"] = mean_with_interval([_least_class(result) for result in results])
        if results:
            line |= {
                "parameters": short(float(f"{results[0].parameters:.3g}")),
                "seconds": table.shown_seconds(results),
            }
        lines.append(line)
    shared = {key: lines[0][key] for key in ("examples", "seeds") if len({line[key] for line in lines}) == 1}
    said = (f"{value} {key if value.split()[0] != '1' else key[:-1]}" for key, value in shared.items())
    caption = "; ".join([f"**{series[0].heading}**", *said])
    everything = [result for one in series for result in one.results]
    constant = {split: percent(constants(everything, split), none="") for split in splits}
    lines.append({"model": "best constant answer"} | constant)
    if rule := percent(rules(everything), none=""):
        lines.append({"model": "best baseline", "test": rule})
    columns = ("model", "told", "examples", "seeds", *figures, "parameters", "seconds")
    shown = Table.of([name for name in columns if name not in shared], lines, names=2)
    return [caption, shown.to_markdown().rstrip()]


def told(one: Experiment) -> str:
    """Return what a model reads of a number and knows of the answer; empty for your own solver.

    >>> from adelic_lab.plans import read_plan
    >>> told(read_plan("full", "number-theory")[1].experiments[0])
    'digits at 25 primes ≤ 97, real value; sum over places'
    """
    words, name = wording()["told"], one.model.name
    if not one.is_network:
        name, options = parse_solver(name)
        return str(words.get(name, "")).format_map({"base": 10} | options)
    embedding = one.embedding
    if embedding.name != "adelic":
        return str(words["residue-tokens" if name == "residues" else name]).format_map(embedding.options())
    space = embedding.space()
    at_primes = f"{words[str(embedding.features)]} at {space.n_primes} primes ≤ {max(space.primes)}"
    read = {"all": [at_primes, "real value"], "p-adic": [at_primes], "real": ["real value"]}
    return ", ".join(read[str(embedding.coordinates)]) + str(words.get(str(embedding.places), ""))


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
    """Return one line per task and choice of its options.

    A figure is the percentage of exact answers to test questions or, if classes are counted, how many of 100 are
    learned. Each kind shows its series with the greatest mean. Only rivals are named.

    >>> to_summary([]).rows
    ()
    """
    rows = []
    for heading in dict.fromkeys(one.heading for one in series):
        mine = [one for one in series if one.heading == heading]
        published = next((one.published for one in mine if one.published), NONE)
        rule = None if mine[0].asked.every_class else rules(result for one in mine for result in one.results)
        link = f"[{_name(mine[0])}](number-theory/{_PAGE_OF.get(mine[0].task, _part(mine[0]))}.md)"
        rows.append((link, published, *(_best(mine, kind) for kind in KINDS), percent(rule)))
    return Table.of(("task", "published", *KINDS, "best baseline"), tuple(rows))


def _name(series: Series) -> str:
    """Return the name of a task with its options."""
    options = dict(option.split("=") for option in series.options)
    if options.keys() == {"modulus", "terms"}:
        return f"sum of {options['terms']} modulo {options['modulus']}"
    return ", ".join([series.task, *(f"{name} {value}" for name, value in options.items())])


def _best(series: Sequence[Series], kind: str) -> str:
    """Return the greatest figure of a kind, for a rival with its label; "–" if the plan has none."""
    mine = [one for one in series if kind_of(one.experiments[0]) == kind]
    if not mine:
        return NONE
    with_figures = [one for one in mine if one.results]
    if not with_figures:
        return NOT_RUN
    best = max(with_figures, key=lambda one: float(np.mean(_figures(one))))
    scale, decimals = (1, int(len(best.results) > 1)) if best.asked.every_class else (100, 2)
    figure = mean_with_interval(_figures(best), scale=scale, decimals=decimals)
    return f"{figure} ({best.label})" if kind == "rivals" else figure


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


_GROUPS = {"divides 10ⁿ": (10,), "divides 30ⁿ only": (30,), "neither": ()}
_MOST_LISTED = 20


def divisors_table(series: Sequence[Series]) -> Table:
    """Return which GCDs each series has learned, and its right answers in percent by the powers that the GCD divides.

    In base B the last digits of a number tell whether a divisor of a power of B divides it. For other divisors no few
    digits do.
    """
    lines: list[Line] = []
    for one in series:
        counts = pd.DataFrame(dict(zip(("cases", "correct"), counted(one.results), strict=True)))
        sums = counts.groupby([group(k + 1) for k in counts.index]).sum()
        line = {"model": one.label, "examples": short(one.examples)}
        line["learned"] = listed(is_learned(counts.cases.to_numpy(), counts.correct.to_numpy()))
        shares = (100 * sums.correct / sums.cases)[sums.cases > 0]
        lines.append(line | shares.map("{:.1f}".format).to_dict())
    return Table.of(("model", "examples", "learned", *_GROUPS), lines)


def group(k: int) -> str:
    """Return the column of a GCD.

    >>> group(25), group(12), group(14)
    ('divides 10ⁿ', 'divides 30ⁿ only', 'neither')
    """
    # k divides a power of B if it divides B^k: no exponent of a prime in k is as great as k.
    return next(name for name, bases in _GROUPS.items() if all(pow(base, k, k) == 0 for base in bases))


def listed(known: NDArray[np.bool_]) -> str:
    """Return the GCDs that are learned, in few words: their number if a list would be long.

    >>> listed(np.array([True] * 99 + [False])), listed(np.array([True, False] * 2)), listed(np.zeros(3, bool))
    ('all but 100', '1, 3', 'none')
    >>> listed(np.array([True, False] * 50))
    '50'
    """
    of, without = (", ".join(str(k + 1) for k in np.flatnonzero(chosen)) for chosen in (known, ~known))
    if not without:
        return "all"
    if (~known).sum() < min(known.sum(), _MOST_LISTED):
        return f"all but {without}"
    return (of or "none") if known.sum() < _MOST_LISTED else str(known.sum())


def learned(result: Result, split: str) -> int:
    """Return how many classes have at least 95 % of their questions right; those without a question do not count."""
    return int(is_learned(**(result.by_class or {})[split]).sum())


def counted(results: Sequence[Result]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many stratified pairs of each GCD, 1, 2, …, all results together have, and how many of them are right.

    The last class is "greater", and not counted.
    """
    counts = [result.by_class["stratified"] for result in results if result.by_class is not None]
    cases, correct = (np.sum([one[key] for one in counts], axis=0)[:-1] for key in ("cases", "correct"))
    return cases, correct


def draw_gcd(curves: Sequence[Series]) -> bytes | None:
    """Return an SVG of three panels: divisors learned against pairs, right answers against seconds, and both's legend.

    The legend is bars: the divisors that are learned at the end. AOE's forms have cold colours, rivals warm ones. Lines
    and bars are means over the seeds that have such curves; bands and whiskers go from the least to the greatest.
    Seconds are of one core. All epochs have as many pairs, so an epoch of n has a share of 1/n of them.

    Args:
        curves: series with results that have learning curves.

    >>> draw_gcd([]) is None
    True
    """
    if not curves:
        return None
    looks = _looks(curves)
    with canvas(12.5, 0.8 + max(3.2, 0.32 * len(curves)), GREY) as figure:
        of_pairs, of_seconds, bars = figure.subplots(1, 3, width_ratios=(3, 3, 2))
        for series in curves:
            look = looks[series.label]
            histories = [run.history["learned_classes"] for run in series.results if "learned_classes" in run.history]
            _draw_curve(of_pairs, histories, series.examples, look)
            timed = [result for result in series.results if result.processor_seconds is not None]
            accuracies = [[100 * rate for rate in result.history["validation_accuracy"]] for result in timed]
            seconds = float(np.mean([result.processor_seconds for result in timed])) if timed else 0.0
            _draw_curve(of_seconds, accuracies, seconds, look)
        for axes in (of_pairs, of_seconds):
            logarithmic(axes)
            axes.set_ylim(0, 103)
        of_pairs.set_xlabel("pairs trained on")
        of_pairs.set_ylabel("GCDs learned, of 1 to 100")
        of_seconds.set_xlabel("seconds of training, of one core")
        of_seconds.set_ylabel("right, of pairs drawn as in training (%)")
        _draw_bars(bars, curves, looks)
        names = [f"{series.label} ({short(series.examples)})" for series in curves]
        bars.set_yticks(range(len(curves)), names, fontsize=8)
        bars.set_xlim(0, 120)
        bars.set_xlabel("GCDs learned at the end")
        return render(figure, "svg", transparent=True)


def draw_learned(curves: Sequence[Series]) -> bytes | None:
    """Return an SVG of bars: how many of the divisors 1 to 100 one network learns, by the embedding of its numbers.

    Args:
        curves: series with results; those with more examples than the others are left out.

    >>> draw_learned([]) is None
    True
    """
    if not curves:
        return None
    examples = min(series.examples for series in curves)
    alike = [series for series in curves if series.examples == examples]
    means = [float(np.mean([learned(result, "stratified") for result in series.results])) for series in alike]
    with canvas(7, 0.5 + 0.4 * len(alike), GREY, **{"font.size": 12}) as figure:
        axes: Axes = figure.subplots()
        for height, i in enumerate(sorted(range(len(alike)), key=lambda i: -means[i])):
            colour = COLOURS[0] if alike[i].model.startswith("adelic") else COLOURS[1]
            axes.bar_label(axes.barh(height, means[i], color=colour), [f"{means[i]:.1f}"], padding=4)
            axes.text(-2, height, _BARS.get(alike[i].label, alike[i].label), ha="right", va="center")
        axes.set_xlim(-40, 110)
        axes.set_ylim(len(alike) - 0.5, -0.5)
        axes.set_axis_off()
        return render(figure, "svg", transparent=True)


def draw_divisors(series: Sequence[Series]) -> bytes | None:
    """Return an SVG: one line per series, one column per GCD, darker if fewer are right; a dot marks a learned one.

    >>> draw_divisors([]) is None
    True
    """
    if not series:
        return None
    cases, correct = (np.stack(counts) for counts in zip(*(counted(one.results) for one in series), strict=True))
    n_series, n_divisors = cases.shape
    with canvas(10.5, 1.6 + 0.3 * n_series, GREY) as figure:
        axes = figure.subplots()
        image = axes.pcolormesh(100 * correct / np.maximum(cases, 1), vmin=0, vmax=100, cmap="cividis")
        rows, columns = np.nonzero(is_learned(cases, correct))
        axes.plot(columns + 0.5, rows + 0.5, ".", color="black", markersize=4)
        names = [f"{one.label} ({one.examples:,} pairs)" for one in series]
        axes.set_yticks(np.arange(n_series) + 0.5, names, fontsize=8)
        ticks = [1, *range(10, n_divisors + 1, 10)]
        axes.set_xticks(np.array(ticks) - 0.5, [str(k) for k in ticks])
        axes.invert_yaxis()
        axes.tick_params(length=0)
        axes.set_xlabel("greatest common divisor (a dot: learned)")
        figure.colorbar(image, ax=axes, label="right (%)", aspect=8)
        axes.spines[:].set_visible(False)
        return render(figure, "svg", transparent=True)


def draw_learning(kinds: Mapping[str, Sequence[Series]]) -> bytes | None:
    """Return an SVG: two panels per task and choice of its options, one colour per kind of model, one line per series.

    The upper panel has the questions that were trained on, those of each pass counted; the lower one has seconds of one
    core. A network's line is its right answers to validation questions after each epoch, the mean over seeds; all its
    epochs take the same time. What has no epochs has a point for each number of examples: right test answers.

    Args:
        kinds: by the name of the kind, series with results.

    >>> draw_learning({}) is None
    True
    """
    tasks = {one.heading: one for series in kinds.values() for one in series}
    if not tasks:
        return None
    colours = dict(zip(kinds, COLOURS, strict=False))
    columns = min(_COLUMNS, len(tasks))
    blocks = -(-len(tasks) // columns)
    with canvas(1.7 + 2.7 * columns, 0.4 + 4.0 * blocks, GREY, **{"font.size": 8}) as figure:
        panels = figure.subplots(2 * blocks, columns, squeeze=False)
        for panel in panels.flat:
            panel.set_axis_off()
        for i, (heading, task) in enumerate(tasks.items()):
            row, column = 2 * (i // columns), i % columns
            upper, lower = panels[row, column], panels[row + 1, column]
            for kind, series in kinds.items():
                _draw_kind(upper, lower, [one for one in series if one.heading == heading], colours[kind])
            upper.set_title(_name(task))
            for panel, label in ((upper, "questions trained on"), (lower, "seconds of one core")):
                panel.set_axis_on()
                logarithmic(panel)
                panel.set_ylim(10 * (panel.dataLim.y0 // 10) - 1, 101)  # from the ten below the least line on
                panel.set_xlabel(label)
                panel.set_ylabel("right (%)" if column == 0 else "")
        lines = [Line2D([], [], color=colour, linewidth=1.8) for colour in colours.values()]
        figure.legend(lines, list(colours), loc="outside upper center", ncols=len(colours), frameon=False)
        return render(figure, "svg", transparent=True)


def _draw_kind(upper: Axes, lower: Axes, series: Iterable[Series], colour: str) -> None:
    """Draw the series of one kind and task: lines where there are epochs, else points; one label's are joined."""
    points: dict[str, list[tuple[float, float, float]]] = {}
    for one in series:
        lines = 100 * np.array([result.history["validation_accuracy"] for result in one.results])
        known = [result.processor_seconds for result in one.results if result.processor_seconds is not None]
        seconds = float(np.mean(known or [result.seconds for result in one.results]))
        if lines.size:
            questions = one.examples * one.experiments[0].network_recipe.passes
            share = np.arange(1, lines.shape[1] + 1) / lines.shape[1]
            for panel, end in ((upper, questions), (lower, seconds)):
                panel.plot(end * share, lines.mean(axis=0), color=colour, linewidth=1.4)
        else:
            right = 100 * float(np.mean(one.accuracies()))
            points.setdefault(one.label, []).append((one.examples, seconds, right))
    for of_label in points.values():
        examples, times, shares = zip(*sorted(of_label), strict=True)
        for panel, x in ((upper, examples), (lower, times)):
            panel.plot(x, shares, "o-", color=colour, markersize=4.0, linewidth=1.0, clip_on=False)


def _draw_curve(axes: Axes, lines: Sequence[Sequence[float]], end: float, look: tuple[str, str]) -> None:
    """Draw the mean of lines, one value an epoch, over equal parts of what training had in the end; nothing of none."""
    if not lines:
        return
    colour, dash = look
    values = np.array(lines)
    x = end * np.arange(1, values.shape[1] + 1) / values.shape[1]
    axes.plot(x, values.mean(axis=0), color=colour, linestyle=dash, linewidth=1.8)
    axes.fill_between(x, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.18, linewidth=0)


def _draw_bars(axes: Axes, curves: Sequence[Series], looks: Mapping[str, tuple[str, str]]) -> None:
    """Draw how many divisors each series has learned at the end, from top to bottom."""
    for i, series in enumerate(curves):
        colour, dash = looks[series.label]
        counts = np.array([learned(result, "stratified") for result in series.results])
        axes.barh(i, counts.mean(), color=colour, alpha=0.55 if dash != "-" else 0.9, height=0.7)
        axes.text(counts.max() + 1.5, i, f"{counts.mean():.1f}".removesuffix(".0"), va="center", fontsize=8)
        if len(counts) > 1:
            axes.plot([counts.min(), counts.max()], [i, i], color=GREY, linewidth=1.2)
    axes.set_ylim(len(curves) - 0.5, -0.5)


def _looks(curves: Sequence[Series]) -> dict[str, tuple[str, str]]:
    """Return the colour and the dash of each label: AOE's are cold."""
    names = {series.label: series.model for series in curves}
    ours = [label for label, name in names.items() if name.startswith("adelic")]
    rivals = [label for label in names if label not in ours]
    shades = mpl.colormaps["viridis"](np.linspace(0, 0.75, max(len(ours), 1)))
    looks = {label: (to_hex(shade), DASHES[0]) for label, shade in zip(ours, shades, strict=False)}
    for i, label in enumerate(rivals):
        looks[label] = (_WARM[i % len(_WARM)], DASHES[i // len(_WARM) % len(DASHES)])
    return looks
