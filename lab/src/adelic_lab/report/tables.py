"""The tables of results: of all runs, of each row, and of all rows together.

To add one, write a function that returns a `Table`, its sentences into wording.toml, and its name into `tables`; the
names are `adelic_lab.report.TABLES`.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from adelic_lab.config.names import unused_options
from adelic_lab.report import TABLES
from adelic_lab.report.frame import (
    METRICS,
    TRIVIAL,
    Comparison,
    changes,
    chosen_data,
    comparisons,
    form_alone,
    model_frame,
    names,
    on_most_rows,
    place,
    published_row,
    recipe_title,
    run_frame,
)
from adelic_lab.report.published import Figure, Row, as_published, further_rows, published_rows
from adelic_lab.report.statistics import (
    ALPHA,
    LEAST_SEEDS,
    confidence_interval,
    corrected,
    declared_contrast,
    declared_pair,
    difference,
    discordance,
    exploratory_differences,
    right_rows,
)
from adelic_lab.report.table import (
    NONE,
    NOT_RUN,
    Table,
    error,
    figure,
    interval_text,
    loss,
    p_text,
    percent,
    points,
    shown_seconds,
    wording,
)
from adelic_lab.results.result import Result

_RATES = {"accuracy": "accuracy", "balanced accuracy": "balanced_accuracy", "macro-F1": "macro_f1"}
RUN_COLUMNS = (
    *("task", "model", "training", "majority class", "look-up", "best trivial rule"),
    *("test accuracy", "macro-F1", "test loss", "published"),
)
FURTHER_COLUMNS = (
    *("task", "target", "model", "recipe", "seeds", "exact match, trivial rule and look-up", "exact match"),
    *("majority class and look-up", *_RATES, "mean absolute error"),
    *("mean squared error, trivial rule and look-up", "mean squared error", "loss", "ACD authors"),
)
_SINGLE_RUN_COLUMNS = (
    *("row", "edition", "split", "contaminated", "model", "options", "recipe", "symmetries", "seed", "split_seed"),
    *("train_rows", "test_rows", *METRICS, "majority", "lookup", "rule"),
    *("parameters", "flops", "tokens", "seconds", "device", "commit", "command", "right"),
)
MOST_TARGETS = 8
"""Greatest number of targets of a row for which each target has a line of its own."""
LEAST_CHANGES = 2
"""Least number of changes of one embedding that make a table."""


def tables(results: Iterable[Result], *wanted: str, all_rows: bool = False, row: str | None = None) -> list[Table]:
    """Return the tables with these names of `TABLES`, all by default.

    With `all_rows`, "runs" also lists the paper's rows that were not run. Where these are the results of one `row`,
    nothing is said of the paper's other rows.

    >>> [table.title for table in tables([], "overview", "loss")]
    ['Each row', 'The paper’s table of test losses, and ours']
    """
    runs = run_frame(results)
    found = comparisons(runs)
    main = on_most_rows(found)
    makers: dict[str, Callable[[], list[Table]]] = {
        "runs": lambda: run_tables(runs, all_rows=all_rows),
        "overview": lambda: [overview(main, row)],
        "contrasts": lambda: [contrasts_table(main)],
        "recipes": lambda: recipe_tables(main),
        "accuracy": lambda: [paper_table(main, "accuracy", row)],
        "loss": lambda: [paper_table(main, "loss", row)],
        "costs": lambda: [costs_table(main, row)],
        "models": lambda: [models_table(one) for one in found],
        "differences": lambda: [table for table in map(differences_table, main) if table.rows],
        "sizes": lambda: sizes_tables(found),
        "changes": lambda: [table for table in map(changes_table, main) if table.rows],
    }
    return [table for name in wanted or TABLES for table in makers[name]()]


def _notes(table: str) -> tuple[str, ...]:
    return tuple(text for key, text in wording()[table].items() if key != "title")


def _accuracy(one: Comparison, name: str) -> str:
    """Return a model's accuracy with its marks."""
    if name not in one.models.index:
        return NOT_RUN
    return f"{figure(one.models.runs[name].accuracy)}{one.models.marks[name]}"


def _named(one: Comparison, name: str | None, metric: str = "accuracy", *, more: str = "") -> str:
    """Return a model's figure with its name, which learned vectors do not need, and what more is to be said."""
    if name is None:
        return NOT_RUN
    said = form_alone(name + one.models.marks[name]).removeprefix("learned").lstrip(", ")
    words = ", ".join(filter(None, [said, more]))
    write = loss if metric == "loss" else figure
    return write(one.models.runs[name][metric]) + (f" ({words})" if words else "")


def _contrast(found: Mapping[str, Any] | None) -> str:
    """Return a declared contrast in a cell: +1.20 (+0.30 to +2.10, p = 0.012); a dash for None."""
    if found is None:
        return NONE
    interval, p = interval_text(found), p_text(found["p"])
    said = [] if interval == NONE else [interval]
    if p != NONE:
        said.append(f"p {p}" if p.startswith("<") else f"p = {p}")
    return points(found["mean"]) + (f" ({', '.join(said)})" if said else "")


# Each row: which recipe, which model.


def chosen_by_validation(found: Iterable[Comparison], row: str | None = None) -> dict[str, Comparison | None]:
    """Return for each row, by its title, the recipe under which AOE or learned vectors are best on validation data.

    Where both ran with some recipe, it is one of these. Rows of the paper's table that were not run have None;
    contaminated data is left out.
    """
    return {title: _choose(mine) for title, mine in _by_title(found, row).items()}


def _by_title(found: Iterable[Comparison], row: str | None) -> dict[str, list[Comparison]]:
    """Return the comparisons of each row, by its title; rows of the paper's table that were not run have none."""
    titles: dict[str, dict[str, list[Comparison]]] = {
        name: {as_published(name): []} for name in published_rows() if row in (None, name)
    }
    for one in found:
        if not one.first.contaminated:
            titles.setdefault(one.first.row, {}).setdefault(one.first.title, []).append(one)
    return {title: mine for row in titles.values() for title, mine in row.items()}


def _choose(found: list[Comparison]) -> Comparison | None:
    """Return the recipe of `chosen_by_validation`, of those where AOE did not run that of any model."""
    with_aoe = [one for one in found if one.best(kinds=["AOE"])]
    both = [one for one in with_aoe if one.best(embeddings=["learned"])]

    def score(one: Comparison) -> tuple[bool, float, float]:
        best = {one.best(kinds=["AOE"]), one.best(embeddings=["learned"])} - {None} or {one.best()} - {None}
        chosen = [name for name in best if name]
        has_seeds = bool(chosen) and bool((one.models.n_seeds[chosen] >= LEAST_SEEDS).all())
        return has_seeds, *max(map(one.score, chosen), default=(-1.0, 0.0))

    return max(both or with_aoe or found, key=score, default=None)


def overview(found: Iterable[Comparison], row: str | None = None) -> Table:
    """Return for each row AOE and learned vectors with the declared contrast, the best rivals, and what is published.

    Forms, rivals and recipes are chosen by validation accuracy, of equal ones by loss. All rows of the paper's table
    have a line; contaminated data is left out. `found` has one comparison a row and recipe; where only one `row` was
    looked at, nothing is said of the others.
    """
    lines = [_overview_line(title, _choose(mine), mine) for title, mine in _by_title(found, row).items()]
    columns = (
        *("row", "AOE", "learned", "AOE − learned", "best rival", "best outside the Transformer", "majority class"),
        *("look-up", "best published", "above published"),
    )
    return Table.of(columns, lines, _notes("overview"), wording()["overview"]["title"])


def _overview_line(title: str, chosen: Comparison | None, every: Sequence[Comparison]) -> tuple[str, ...]:
    """Return the line of a row.

    `every` recipe that ran on the row may have the best rival, where it did not run with the one that is chosen.
    """
    if chosen is None:
        row = next(row for name, row in published_rows().items() if as_published(name) == title)
        best = _best_published(row.best_published())
        return title, NOT_RUN, NOT_RUN, NONE, NOT_RUN, NOT_RUN, _majority(row), NOT_RUN, best, NONE
    contrast = declared_contrast(chosen)
    aoe = chosen.best(kinds=["AOE"])
    learned = contrast["learned"] if contrast else chosen.best(embeddings=["learned"])
    rivals = [(one, name) for one in (chosen, *every) if (name := _best_rival(one))]
    if rivals and rivals[0][0] is not chosen:
        rivals = [max(rivals, key=lambda rival: rival[0].score(rival[1]))]
    row_published = published_row(chosen.run)
    published = row_published.best_published(chosen.first.edition) if row_published else None
    above = NONE if aoe is None or published is None else verdict(chosen.models.runs[aoe].accuracy, published[1])
    return (
        title,
        _named(chosen, aoe, more=_recipe(chosen)),
        _named(chosen, learned),
        _contrast(contrast),
        _named(*rivals[0], more="" if rivals[0][0] is chosen else _recipe(rivals[0][0])) if rivals else NOT_RUN,
        _named(chosen, chosen.best(kinds=["outside"])),
        percent(chosen.trivial("majority")),
        percent(chosen.trivial("lookup")),
        _best_published(published),
        above,
    )


def _best_rival(one: Comparison) -> str | None:
    rivals = one.models[(one.models.kind == "rival") & (one.models.embedding != "learned")]
    return max(rivals.index, key=one.score, default=None)


def _best_published(published: tuple[str, Figure] | None) -> str:
    return NONE if published is None else f"{published[1]} ({published[0]})"


def _recipe(one: Comparison) -> str:
    return recipe_title(one.recipe) + (f", {one.max_rows:,} rows" if one.max_rows else "")


def _majority(row: Row) -> str:
    """Return the ACD authors' rate of the majority class; a dash where it is of another edition."""
    return str(row.acd_authors("majority") or NONE)


def verdict(accuracies: Iterable[float], published: Figure) -> str:
    """Return whether a model is above a published figure: "yes" if its whole interval is above that of the figure.

    Else "mean only" if the mean is above the mean, or "no". Accuracies are one a seed, the published figure in percent.

    >>> samples = [0.96, 0.97, 0.98], [0.966, 0.967, 0.968], [0.94], [0.96]
    >>> [verdict(sample, Figure(95.0, interval=1.0)) for sample in samples]
    ['mean only', 'yes', 'no', 'mean only']
    """
    sample = list(accuracies)
    mean, interval = 100 * float(np.mean(sample)), confidence_interval(sample)
    if mean <= published.accuracy:
        return "no"
    top = published.accuracy + (published.interval or 0.0)
    return "yes" if interval is not None and mean - 100 * interval > top else "mean only"


# All rows together.


def contrasts_table(found: Iterable[Comparison]) -> Table:
    """Return the declared contrast of each row and recipe: AOE minus learned vectors; contaminated data is left out."""
    contrasts = {i: (one, contrast) for i, one in enumerate(found) if (contrast := declared_contrast(one))}
    adjusted = corrected({i: contrast for i, (_, contrast) in contrasts.items()}).adjusted
    lines = []
    for i, (one, contrast) in contrasts.items():
        aoe, learned = contrast["aoe"], contrast["learned"]
        rows = discordance(one.models.runs[aoe], one.models.runs[learned])
        of_rows = (NONE, NONE, NONE) if rows is None else (
            f"{rows['first']:,} / {rows['second']:,}", p_text(rows["p"]), interval_text(rows)
        )  # fmt: skip
        lines.append(
            (
                f"{one.first.title}, {recipe_title(one.recipe)}{one.fewer_rows}",
                f"{figure(one.models.runs[aoe].accuracy)} ({form_alone(aoe)}){one.models.marks[aoe]}",
                _accuracy(one, learned),
                percent(one.models.lookup[aoe]),
                _contrast(contrast),
                p_text(adjusted[i]),
                str(contrast["seeds"]),
                *of_rows,
            )
        )
    columns = (
        *("row, recipe", "AOE", "learned", "look-up", "AOE − learned", "p, corrected", "seeds"),
        *("rows: AOE / learned alone", "p, McNemar", "interval over rows"),
    )
    return Table.of(columns, lines, _notes("contrasts"), wording()["contrasts"]["title"])


def paper_table(found: Sequence[Comparison], metric: str, row: str | None = None) -> Table:
    """Return the paper's table of test accuracies, or of test losses, with ours beside it: a line a row and recipe.

    Ours are those on the published edition and split, which are the paper's. The metric is "accuracy" or "loss"; other
    arguments are those of `overview`.
    """
    lines: list[tuple[str, ...]] = []
    for name, of_paper in published_rows().items():
        if row not in (None, name):
            continue
        learned, aoe = (_published_figure(of_paper.figures[who], metric) for who in ("paper_baseline", "paper_aoe"))
        mine = [one for one in found if one.first.title == as_published(name) and one.has_network]
        if not mine:
            lines.append((as_published(name), NONE, _majority(of_paper), NOT_RUN, learned, NOT_RUN, aoe, NOT_RUN))
        for one in mine:
            rows = f"{one.max_rows:,} rows" if one.max_rows else ""
            ours = [_named(one, one.best(embeddings=[name]), metric, more=rows) for name in ("learned", "adelic")]
            rules = [percent(one.trivial(rule)) for rule in TRIVIAL]
            lines.append((as_published(name), recipe_title(one.recipe), *rules, learned, ours[0], aoe, ours[1]))
    columns = [
        *("row", "recipe", "majority class", "look-up", "paper: learned", "ours: learned", "paper: AOE", "ours: AOE")
    ]
    table = Table.of(columns, lines, _notes(metric), wording()[metric]["title"])
    if metric == "loss":  # trivial rules have none
        return Table(table.frame.drop(columns=columns[2:4]), table.notes, table.title)
    return table


def _published_figure(published: Figure, metric: str) -> str:
    if metric == "accuracy":
        return f"{published.accuracy:.2f}"
    return NONE if published.loss is None else f"{published.loss:.4f}"


def recipe_tables(found: Iterable[Comparison]) -> list[Table]:
    """Return for each recipe that trained networks, and each split, the accuracies of all models on all its rows.

    AOE's forms come first, then its rivals, then models outside the Transformer, and the trivial rules last.
    """
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for one in found:
        if one.has_network:
            groups.setdefault((one.recipe, one.first.split), []).append(one)
    made = []
    for (recipe, split), rows in groups.items():
        models = pd.concat([one.models for one in rows]).drop_duplicates("name", keep="last")
        kinds = models.kind[~models.embedding.isin(TRIVIAL)]
        order = sorted(kinds.index, key=lambda name: (("AOE", "rival", "outside").index(kinds[name]), name.lower()))
        made.append(
            Table.of(
                ("model", *(one.first.title + one.fewer_rows for one in rows)),
                [*((name, *(_accuracy(one, name) for one in rows)) for name in order), *_rules(rows)],
                _notes("recipes"),
                f"Every model, {recipe_title(recipe)} recipe, {split} split",
            )
        )
    return made


def _rules(found: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Return the lines of the trivial rules, a column a comparison."""
    every = [one.rules for one in found]
    return [(name, *(percent(rates[name]) for rates in every)) for name in every[0]]


def sizes_tables(found: Sequence[Comparison]) -> list[Table]:
    """Return for each row and recipe that ran on several numbers of training rows the models that ran on some of them.

    AOE − learned is the declared contrast of each number.
    """
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for one in found:
        groups.setdefault((one.first.data, one.recipe), []).append(one)
    made = []
    for group in groups.values():
        first, *fewer = sizes = sorted(group, key=lambda one: one.max_rows or math.inf)
        shared = [name for name in first.models.index if any(name in one.models.index for one in fewer)]
        lines = [(name, *(_accuracy(one, name) for one in sizes)) for name in shared]
        lines.append(("AOE − learned", *(_contrast(declared_contrast(one)) for one in sizes)))
        columns = [f"{one.max_rows:,} rows" if one.max_rows else f"all {one.run.rows['train']:,}" for one in sizes]
        title = f"By the number of training rows: {first.first.title}, {recipe_title(first.recipe)} recipe"
        if fewer:
            made.append(Table.of(("model", *columns), [*lines, *_rules(sizes)], _notes("sizes"), title))
    return made


def costs_table(found: Iterable[Comparison], row: str | None = None) -> Table:
    """Return what a run of AOE and of learned vectors costs on each row, and the command of the first seed's.

    Arguments are those of `overview`, whose models these are.
    """
    lines = []
    for title, one in chosen_by_validation(found, row).items():
        of_row = [] if one is None else [one.best(kinds=["AOE"]), one.best(embeddings=["learned"])]
        for model in (one.models.loc[name] for name in of_row if one is not None and name is not None):
            flops = 3 * model.flops * model.train_rows * model.run.configuration["recipe"].get("epochs", 0)
            command, _, comment = model.run.todays_command().partition("  # ")
            lines.append(
                (
                    title,
                    model["name"] + model.marks,
                    f"{model.train_rows:,}",
                    NONE if pd.isna(model.tokens) else f"{model.tokens / 1e6:,.1f}",
                    NONE if pd.isna(flops) else f"{flops:.1e}",
                    shown_seconds(list(model.runs.run)),
                    f"`{command}`" + (f" ({comment})" if comment else ""),
                )
            )
    columns = ("row", "model", "training rows", "tokens, millions", "FLOPs", "seconds", "command")
    return Table.of(columns, lines, _notes("costs"), wording()["costs"]["title"])


# One row and recipe.


def models_table(one: Comparison) -> Table:
    """Return every model of a comparison, the most accurate first, then the row's published figures."""
    models = one.models
    runs = list(models.runs)
    frame = pd.DataFrame(
        {
            "model": models["name"] + models.marks,
            "accuracy": [figure(each.accuracy) for each in runs],
            "above look-up": (models.accuracy - models.lookup).map(points),
            "seeds": models.n_seeds.map(str),
            "balanced accuracy": [figure(each.balanced_accuracy) for each in runs],
            "macro-F1": [figure(each.macro_f1) for each in runs],
            "loss": [loss(each.loss) for each in runs],
            "parameters": models.parameters.map("{:,}".format),
            "seconds": [shown_seconds(list(each.run)) for each in runs],
            "training": models.run.map(_training),
        }
    )
    row = published_row(one.run)
    published = [
        {"model": who, "accuracy": str(theirs), "loss": _published_figure(theirs, "loss")}
        for who, theirs in (row.published(one.first.edition) if row else {}).items()
    ]
    frame = pd.concat([frame, pd.DataFrame(published, columns=frame.columns)]).fillna(NONE)
    trivial = ", ".join(f"{name} {percent(rate)} %" for name, rate in one.rules.items() if rate is not None)
    return Table(frame, (f"{one.heading}: {trivial}.", *_notes("models")), one.heading)


def _training(run: Result) -> str:
    recipe = run.configuration["recipe"]
    if "d_model" not in recipe:
        return f"search of {recipe['trials']} trials" if recipe.get("trials", 1) > 1 else NONE
    epochs = f"{recipe['epochs']} epoch{'s' if recipe['epochs'] > 1 else ''}"
    return f"{epochs}, batch {recipe['batch_size']:,}, rate {recipe['learning_rate']:g}"


def differences_table(one: Comparison) -> Table:
    """Return the exploratory differences of a comparison: AOE's form minus each model, and other pairs that differ.

    Where AOE did not run, the model with the best validation score takes its place.
    """
    found = exploratory_differences(one)
    subject = one.best(kinds=["AOE"]) or one.best() or ""
    declared = declared_pair(one)
    is_mine = np.array([subject in pair for pair in found.index], dtype=bool)
    mine, rest = found[is_mine], found[~is_mine]
    lines = {}
    for (first, second), each in mine.iterrows():
        if first != subject:
            each = each.to_dict() | {"mean": -each["mean"], "low": -each.high, "high": -each.low}
        cells = points(each["mean"]), interval_text(each), str(each["seeds"]), p_text(each["adjusted"])
        other = second if first == subject else first
        lines[other] = (other, *cells)
    standing = rest[rest.adjusted < ALPHA]
    others = f"Of the other pairs ({len(rest)}, of which {rest.adjusted.count()} could be tested) at {ALPHA:g} "
    differ = [f"{a} above {b} ({points(mean)})" for (a, b), mean in standing["mean"].items()]
    others += f"these differ: {'; '.join(differ)}." if differ else "none differs."
    said = [
        f"{one.heading}: p over {found.adjusted.count()} pairs.",
        *([f"The declared contrast is {' − '.join(declared)}."] if declared else []),
        *([others] if len(rest) else []),
    ]
    return Table.of(
        (f"{subject} −", "difference", "95 % interval", "seeds", "p, corrected"),
        [lines[name] for name in one.models.index if name in lines],
        (" ".join(said), *_notes("differences")),
        f"Exploratory differences: {one.heading}",
    )


def changes_table(one: Comparison) -> Table:
    """Return what each change of one model costs or brings: the models that change one thing of a base, less the base.

    See `changes` for the base. Without two such models of its embedding the table has no rows: other embeddings alone
    are the differences of `differences_table`.
    """
    columns = ("change", "test accuracy", "less the base", "95 % interval", "seeds", "p, corrected")
    base, words = changes(one)
    models = one.models.loc[list(words)]
    if not base or (models.embedding == one.models.embedding[base]).sum() < LEAST_CHANGES:
        return Table.of(columns, ())
    first = one.models.loc[base]
    found = corrected({name: difference(runs, first.runs) for name, runs in models.runs.items()})
    lines = [(f"none: {first.label}", _accuracy(one, base), NONE, NONE, str(first.n_seeds), NONE)]
    for name, each in found.sort_values("mean", ascending=False, kind="stable").iterrows():
        cells = points(each["mean"]), interval_text(each), str(each["seeds"]), p_text(each["adjusted"])
        lines.append((words[name], _accuracy(one, name), *cells))
    return Table.of(columns, lines, _notes("changes"), f"One change at a time: {one.heading}")


# All runs.


def run_tables(runs: pd.DataFrame, *, all_rows: bool = False) -> list[Table]:
    """Return the table of the tasks with one class a row, and that of the others if there are results of them.

    The first is left out where all results belong to the second. With `all_rows` it says "not run" of the paper's rows
    and models that were not.
    """
    if runs.empty:
        models = pd.DataFrame(columns=["exact_match", "row"])
    else:
        models = model_frame(runs)
        models["training"] = models.run.map(recipe_text)
        for _, group in models.groupby(["data", "training"]):
            models.loc[group.index, "name"] = names(group)
    is_one_class = models.exact_match.isna()
    first = _lines(models[is_one_class], all_rows=all_rows)
    further = models[~is_one_class]
    order = list(dict.fromkeys([*further_rows(), *further.row]))
    second = [
        line
        for _, model in further.sort_values("row", key=lambda rows: rows.map(order.index), kind="stable").iterrows()
        for line in _further_lines(model)
    ]
    made = [Table.of(RUN_COLUMNS, first, _notes("runs"), names=3)] if first or not second else []
    return made + ([Table.of(FURTHER_COLUMNS, second, _notes("further"), names=3)] if second else [])


def _lines(models: pd.DataFrame, *, all_rows: bool) -> list[tuple[str, ...]]:
    """Return the lines of the tasks with one class a row, in the paper's order of rows."""
    lines = []
    for name in dict.fromkeys([*published_rows(), *models.row]):
        mine = sorted((model for _, model in models[models.row == name].iterrows()), key=place)
        lines += list(map(_line, mine))
        if all_rows and name in published_rows():
            ran = {model.embedding for model in mine if model.title == as_published(name)}
            for embedding, called in (("adelic", "AOE"), ("learned", "learned")):
                if embedding not in ran:
                    published = _published(published_rows()[name], embedding)
                    lines.append((as_published(name), called, *[NONE] * 4, NOT_RUN, *[NONE] * 2, published))
    return lines


def _line(model: Any) -> tuple[str, ...]:
    rules = set(model.runs.rule_name)
    said = f" ({rules.pop()})" if len(rules) == 1 and not pd.isna(model.rule) else ""
    return (
        model.title,
        model["name"] + model.marks,
        f"{model.training}, {model.n_seeds} seed{'s' if model.n_seeds > 1 else ''}",
        percent(model.majority),
        percent(model.lookup),
        percent(model.rule) + said,
        figure(model.runs.accuracy),
        figure(model.runs.macro_f1),
        loss(model.runs.loss),
        _published(published_row(model.run), model.embedding, model.edition, is_flat=model.run.places is None),
    )


def _published(row: Row | None, embedding: str, edition: str | None = "published", *, is_flat: bool = True) -> str:
    """Return the figures that are published for a model on an edition of a row: paper 87.89, ACD 94.6 ± 1.0."""
    if row is None:
        return NONE
    paper, acd = row.paper(embedding, edition) if is_flat else None, row.acd_authors(embedding, edition)
    said = [f"paper {paper.accuracy:.2f}"] if paper else []
    return ", ".join([*said, *([f"ACD {acd}"] if acd else [])]) or NONE


def recipe_text(run: Result) -> str:
    """Return a run's recipe as a table shows it.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> recipe_text(read_results(Path("experiments/results/demo"))[0])
    'quick, 30 epochs'
    """
    settings = run.configuration["recipe"]
    unit = next(unit for unit in ("trial", "step", "epoch") if unit + "s" in settings)
    count, unused = settings[unit + "s"], unused_options(settings.get("body") or "")
    reading = [f"{name} {settings[name]}" for name in ("view", "body") if settings.get(name) not in (None, "sequence")]
    said = {
        f"{run.recipe}, {count} {unit}{'s' if count > 1 else ''}": True,
        f"{settings.get('max_rows') or 0:,} rows": settings.get("max_rows") is not None,
        "symmetries": settings.get("symmetries", False),
        ", ".join(reading): bool(reading),
        "learned positions": settings.get("positional") == "learned" and "positional" not in unused,
        "all tokens read": settings.get("pooling") == "tokens" and "pooling" not in unused,
    }
    return ", ".join(words for words, holds in said.items() if holds)


def _further_lines(model: Any) -> list[tuple[str, ...]]:
    """Return the line of a model of several targets or a number, and one for each of its targets where they are few."""
    runs = model.runs
    guesses = pd.DataFrame([run.guess or {} for run in runs.run])
    about = {"task": model.title, "model": model["name"], "recipe": model.training, "seeds": str(model.n_seeds)}
    cells = about | {
        "target": "all",
        "exact match, trivial rule and look-up": percent(guesses.exact_match.mean()),
        "exact match": figure(runs.exact_match),
        "loss": loss(runs.loss),
        "ACD authors": further_rows().get(model.row, NONE),
    }
    targets: list[dict[str, str]] = []
    if not pd.isna(model.mean_squared_error):
        cells |= {
            "mean absolute error": error(runs.mean_absolute_error),
            "mean squared error, trivial rule and look-up": f"{guesses.mean_squared_error.mean():.4g}",
            "mean squared error": error(runs.mean_squared_error),
        }
    else:
        cells |= {name: figure(runs[metric]) for name, metric in _RATES.items()}
        cells["majority class and look-up"] = percent(model.majority)
        called = "q^{}" if model.run.task == "kl" else "target {}"
        for i, found in enumerate(zip(*(run.targets or () for run in runs.run), strict=True)):
            target = pd.DataFrame(found)
            rates = {name: figure(target[metric]) for name, metric in _RATES.items()}
            rates["majority class and look-up"] = percent(target.majority.mean())
            targets.append(about | {"target": called.format(i)} | rates)
    shown = [cells, *(targets if len(targets) <= MOST_TARGETS else [])]
    return [tuple(line.get(column, NONE) for column in FURTHER_COLUMNS) for line in shown]


def single_runs(results: Iterable[Result]) -> Table:
    """Return a line a run, in the given order: what was run, on what, its test figures, its cost, its predictions.

    `row` is followed by what else defines the data, as "gcd-200 (limit=5000)" and "mine (target sold)".

    `model` is the name in the other tables, and `options` what defines the embedding or was found in a search, as JSON.
    `right` has a bit for each row of the test split, in the split's order, whether the model answers it rightly:
    hexadecimal, the most significant bit first, the last byte filled with zeros, so that the number of ones is that of
    right answers; of several targets a row, all have to be right. It is empty for older runs.

    >>> single_runs([]).frame.columns[:6].tolist()
    ['row', 'edition', 'split', 'contaminated', 'model', 'options']
    """
    runs = run_frame(results)
    if not runs.empty:
        chosen = [", ".join(chosen_data(run)) for run in runs.run]
        rights = map(right_rows, runs.run)
        runs = runs.assign(
            row=[f"{row} ({words})" if words else row for row, words in zip(runs.row, chosen, strict=True)],
            model=runs.label,
            right=[None if bits is None else f"0x{np.packbits(bits).tobytes().hex()}" for bits in rights],
        )
    return Table(runs.reindex(columns=list(_SINGLE_RUN_COLUMNS)))


def provenance(results: Iterable[Result]) -> Table:
    """Return what it takes to repeat each run.

    >>> provenance([]).frame.columns.tolist()
    ['command', 'seconds', 'parameters', 'device', 'versions', 'commit']
    """
    columns = ("command", "seconds", "parameters", "device", "versions", "commit")
    lines = [
        (
            run.command,
            shown_seconds([run]),
            f"{run.parameters:,}",
            run.device,
            ", ".join(f"{name} {version}" for name, version in run.versions.items()),
            (run.commit or "unknown")[:12],
        )
        for run in results
    ]
    return Table.of(columns, lines, names=len(columns))
