"""The tables of results: of all runs, of each row, and of all rows together.

To add one, write a function from results to lines, put its title, its columns and the sentences under it into
wording.toml, and its name into `tables` and `adelic_lab.report.TABLES`.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from adelic_lab.config.names import unused_options
from adelic_lab.report import TABLES, frame, statistics, table
from adelic_lab.report.published import Figure, Row, as_published, further_rows, published_rows
from adelic_lab.report.table import NONE, NOT_RUN, Line, Table, interval_text, mean_of, p_text, percent, points, wording
from adelic_lab.results.result import Result

RUN_COLUMNS, FURTHER_COLUMNS = (tuple(wording()[name]["columns"]) for name in ("runs", "further"))
_RATES = {"accuracy": "accuracy", "balanced accuracy": "balanced_accuracy", "macro-F1": "macro_f1"}
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
    runs = frame.run_frame(results)
    found = frame.comparisons(runs)
    main = frame.on_most_rows(found)
    makers: dict[str, Callable[[], list[Table]]] = {
        "runs": lambda: run_tables(runs, all_rows=all_rows),
        "overview": lambda: [overview(main, row)],
        "contrasts": lambda: [contrasts_table(main)],
        "recipes": lambda: recipe_tables(main),
        "accuracy": lambda: [paper_table(main, "accuracy", row)],
        "loss": lambda: [paper_table(main, "loss", row)],
        "costs": lambda: [costs_table(main, row)],
        "models": lambda: [models_table(one) for one in found],
        "differences": lambda: [each for each in map(differences_table, main) if each.rows],
        "sizes": lambda: sizes_tables(found),
        "changes": lambda: [each for each in map(changes_table, main) if each.rows],
    }
    return [made for name in wanted or TABLES for made in makers[name]()]


def _accuracy(one: frame.Comparison, name: str) -> str:
    """Return a model's accuracy with its marks."""
    if name not in one.models.index:
        return NOT_RUN
    return f"{mean_of(one.models.runs[name])}{one.models.marks[name]}"


def _named(one: frame.Comparison, name: str | None, metric: str = "accuracy", *, more: str = "") -> str:
    """Return a model's figure with its name, which learned vectors do not need, and what more is to be said."""
    if name is None:
        return NOT_RUN
    said = frame.form_alone(name + one.models.marks[name]).removeprefix("learned").lstrip(", ")
    words = ", ".join(filter(None, [said, more]))
    return mean_of(one.models.runs[name], metric) + (f" ({words})" if words else "")


def _contrast(found: Mapping[str, Any] | None) -> str:
    """Return a declared contrast in a cell: +1.20 (+0.30 to +2.10); a dash for None."""
    if found is None:
        return NONE
    interval = interval_text(found)
    return points(found["mean"]) + (f" ({interval})" if interval != NONE else "")


# Each row: which recipe, which model.


def chosen_by_validation(
    found: Iterable[frame.Comparison], row: str | None = None
) -> dict[str, frame.Comparison | None]:
    """Return for each row, by its title, the recipe under which AOE or learned vectors are best on validation data.

    Where both ran with some recipe, it is one of these. Rows of the paper's table that were not run have None;
    contaminated data is left out.
    """
    return {title: _choose(mine) for title, mine in _by_title(found, row).items()}


def _by_title(found: Iterable[frame.Comparison], row: str | None) -> dict[str, list[frame.Comparison]]:
    """Return the comparisons of each row, by its title; rows of the paper's table that were not run have none."""
    titles: dict[str, dict[str, list[frame.Comparison]]] = {
        name: {as_published(name): []} for name in published_rows() if row in (None, name)
    }
    for one in found:
        if not one.first.contaminated:
            titles.setdefault(one.first.row, {}).setdefault(one.first.title, []).append(one)
    return {title: mine for row in titles.values() for title, mine in row.items()}


def _choose(found: Sequence[frame.Comparison]) -> frame.Comparison | None:
    """Return the recipe of `chosen_by_validation`, of those where AOE did not run that of any model."""
    with_aoe = [one for one in found if one.best(kinds=["AOE"])]
    both = [one for one in with_aoe if one.best(embeddings=["learned"])]

    def score(one: frame.Comparison) -> tuple[bool, float, float]:
        best = {one.best(kinds=["AOE"]), one.best(embeddings=["learned"])} - {None} or {one.best()} - {None}
        chosen = [name for name in best if name]
        has_seeds = bool(chosen) and bool((one.models.n_seeds[chosen] >= statistics.LEAST_SEEDS).all())
        return has_seeds, *max(map(one.score, chosen), default=(-1.0, 0.0))

    return max(both or with_aoe or found, key=score, default=None)


def overview(found: Iterable[frame.Comparison], row: str | None = None) -> Table:
    """Return for each row AOE and learned vectors with the declared contrast, the best rivals, and what is published.

    Forms, rivals and recipes are chosen by validation accuracy, of equal ones by loss. All rows of the paper's table
    have a line; contaminated data is left out. `found` has one comparison a row and recipe; where only one `row` was
    looked at, nothing is said of the others, and p, which is adjusted for all of them, is left out.
    """
    titles = _by_title(found, row)
    chosen = {title: _choose(every) for title, every in titles.items()}
    lines = {title: _overview_line(title, every, chosen[title]) for title, every in titles.items()}
    if row is not None:
        return Table.named("overview", list(lines.values()))
    family = statistics.declared_family(chosen)
    for title, p in family.adjusted.items():
        lines[title]["adjusted p"] = p_text(p)
    note = f"adjusted p: Holm’s correction over the {family.p.count()} lines of this table that could be tested."
    return Table.named("overview", list(lines.values()), notes=[note])


def _overview_line(title: str, every: Sequence[frame.Comparison], chosen: frame.Comparison | None) -> Line:
    """Return the line of a row.

    `every` recipe that ran on the row may have the best rival, where it did not run with the one that is chosen.
    """
    if chosen is None:
        row = next(row for name, row in published_rows().items() if as_published(name) == title)
        line = dict.fromkeys(("AOE", "learned", "best rival", "best outside the Transformer", "look-up"), NOT_RUN)
        best = _best_published(row.best_published())
        return line | {"row": title, "majority class": _majority(row), "best published": best}
    contrast = statistics.declared_contrast(chosen)
    aoe = chosen.best(kinds=["AOE"])
    learned = contrast["learned"] if contrast else chosen.best(embeddings=["learned"])
    rivals = [(one, name) for one in (chosen, *every) if (name := _best_rival(one))]
    if rivals and rivals[0][0] is not chosen:
        rivals = [max(rivals, key=lambda rival: rival[0].score(rival[1]))]
    row_published = frame.published_row(chosen.run)
    published = row_published.best_published(chosen.first.edition) if row_published else None
    above = None if aoe is None or published is None else verdict(chosen.models.runs[aoe].accuracy, published[1])
    return {
        "row": title,
        "AOE": _named(chosen, aoe, more=_recipe(chosen)),
        "learned": _named(chosen, learned),
        "AOE − learned": _contrast(contrast),
        "best rival": next(
            (_named(one, name, more="" if one is chosen else _recipe(one)) for one, name in rivals), NOT_RUN
        ),
        "best outside the Transformer": _named(chosen, chosen.best(kinds=["outside"])),
        **_rules(chosen),
        "best published": _best_published(published),
        "above published": above,
    }


def _best_rival(one: frame.Comparison) -> str | None:
    rivals = one.models[(one.models.kind == "rival") & (one.models.embedding != "learned")]
    return max(rivals.index, key=one.score, default=None)


def _best_published(published: tuple[str, Figure] | None) -> str:
    return NONE if published is None else f"{published[1]} ({published[0]})"


def _recipe(one: frame.Comparison) -> str:
    return frame.recipe_title(one.recipe) + (f", {one.max_rows:,} rows" if one.max_rows else "")


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
    mean, interval = 100 * float(np.mean(sample)), statistics.confidence_interval(sample)
    if mean <= published.accuracy:
        return "no"
    top = published.accuracy + (published.interval or 0.0)
    return "yes" if interval is not None and mean - 100 * interval > top else "mean only"


# All rows together.


def contrasts_table(found: Iterable[frame.Comparison]) -> Table:
    """Return AOE minus learned vectors for each row and recipe; contaminated data is left out.

    It has no p: one line a row is declared, that of `overview`, and the others are exploratory.
    """
    lines: list[Line] = []
    for one in found:
        if (contrast := statistics.declared_contrast(one)) is None:
            continue
        aoe, learned = contrast["aoe"], contrast["learned"]
        line: Line = {
            "row, recipe": f"{one.first.title}, {frame.recipe_title(one.recipe)}{one.fewer_rows}",
            "AOE": f"{mean_of(one.models.runs[aoe])} ({frame.form_alone(aoe)}){one.models.marks[aoe]}",
            "learned": _accuracy(one, learned),
            "look-up": percent(one.models.lookup[aoe]),
            "AOE − learned": _contrast(contrast),
            "seeds": str(contrast["seeds"]),
        }
        if rows := statistics.discordance(one.models.runs[aoe], one.models.runs[learned]):
            line["rows: AOE / learned alone"] = f"{rows['first']:,} / {rows['second']:,}"
            line["interval over rows"] = interval_text(rows)
        lines.append(line)
    return Table.named("contrasts", lines)


def paper_table(found: Sequence[frame.Comparison], metric: str, row: str | None = None) -> Table:
    """Return the paper's table of test accuracies, or of test losses, with ours beside it: a line a row and recipe.

    Ours are those on the published edition and split, which are the paper's. The metric is "accuracy" or "loss"; other
    arguments are those of `overview`.
    """
    lines: list[Line] = []
    for name, paper in published_rows().items() if row is None else ((row, published_rows().get(row)),):
        if paper is None:
            continue
        line: Line = {
            "row": as_published(name),
            "paper: learned": _published_figure(paper.figures["paper_baseline"], metric),
            "paper: AOE": _published_figure(paper.figures["paper_aoe"], metric),
        }
        mine = [one for one in found if one.first.title == as_published(name) and one.has_network]
        for one in mine:
            rows = f"{one.max_rows:,} rows" if one.max_rows else ""
            ours = {
                f"ours: {who}": _named(one, one.best(embeddings=[embedding]), metric, more=rows)
                for who, embedding in (("learned", "learned"), ("AOE", "adelic"))
            }
            lines.append(line | {"recipe": frame.recipe_title(one.recipe)} | _rules(one) | ours)
        if not mine:
            not_run = dict.fromkeys(("look-up", "ours: learned", "ours: AOE"), NOT_RUN)
            lines.append(line | {"majority class": _majority(paper)} | not_run)
    return Table.named(metric, lines)


def _published_figure(published: Figure, metric: str) -> str | None:
    if metric == "accuracy":
        return f"{published.accuracy:.2f}"
    return None if published.loss is None else f"{published.loss:.4f}"


def recipe_tables(found: Iterable[frame.Comparison]) -> list[Table]:
    """Return for each recipe that trained networks, and each split, the accuracies of all models on all its rows.

    AOE's forms come first, then its rivals, then models outside the Transformer, and the trivial rules last.
    """
    groups: dict[tuple[str, str], dict[str, frame.Comparison]] = {}
    for one in found:
        if one.has_network:
            groups.setdefault((one.recipe, one.first.split), {})[one.first.title + one.fewer_rows] = one
    made = []
    for (recipe, split), rows in groups.items():
        models = pd.concat([one.models for one in rows.values()]).drop_duplicates("name", keep="last")
        kinds = models.kind[~models.embedding.isin(frame.TRIVIAL)]
        order = sorted(kinds.index, key=lambda name: (("AOE", "rival", "outside").index(kinds[name]), name.lower()))
        made.append(Table.named("recipes", _grid(rows, order), recipe=frame.recipe_title(recipe), split=split))
    return made


def _grid(found: Mapping[str, frame.Comparison], models: Iterable[str], more: Sequence[Line] = ()) -> list[Line]:
    """Return the lines of models, further ones, and those of the trivial rules, a column a comparison."""
    rules = {heading: _rules(one) for heading, one in found.items()}
    return [
        *({"model": name} | {heading: _accuracy(one, name) for heading, one in found.items()} for name in models),
        *more,
        *({"model": rule} | {heading: of[rule] for heading, of in rules.items()} for rule in frame.RULES),
    ]


def _rules(one: frame.Comparison) -> dict[str, str]:
    """Return the accuracies of the trivial rules, by their names."""
    return {name: percent(rate) for name, rate in one.rules.items()}


def sizes_tables(found: Sequence[frame.Comparison]) -> list[Table]:
    """Return for each row and recipe that ran on several numbers of training rows the models that ran on some of them.

    AOE − learned is the declared contrast of each number.
    """
    groups: dict[tuple[str, str], list[frame.Comparison]] = {}
    for one in sorted(found, key=lambda one: one.max_rows or math.inf):
        groups.setdefault((one.first.data, one.recipe), []).append(one)
    made = []
    for key in dict.fromkeys((one.first.data, one.recipe) for one in found):
        first, *fewer = groups[key]
        sizes = {
            f"{one.max_rows:,} rows" if one.max_rows else f"all {one.run.rows['train']:,}": one for one in groups[key]
        }
        shared = [name for name in first.models.index if any(name in one.models.index for one in fewer)]
        contrast = {heading: _contrast(statistics.declared_contrast(one)) for heading, one in sizes.items()}
        lines = _grid(sizes, shared, [{"model": "AOE − learned"} | contrast])
        if fewer:
            made.append(Table.named("sizes", lines, row=first.first.title, recipe=frame.recipe_title(first.recipe)))
    return made


def costs_table(found: Iterable[frame.Comparison], row: str | None = None) -> Table:
    """Return what a run of AOE and of learned vectors costs on each row, and the command of the first seed's.

    Arguments are those of `overview`, whose models these are.
    """
    lines: list[Line] = []
    for title, one in chosen_by_validation(found, row).items():
        of_row = [] if one is None else [one.best(kinds=["AOE"]), one.best(embeddings=["learned"])]
        for model in (one.models.loc[name] for name in of_row if one is not None and name is not None):
            flops = 3 * model.flops * model.train_rows * model.run.configuration["recipe"].get("epochs", 0)
            command, _, comment = model.run.todays_command().partition("  # ")
            lines.append(
                {
                    "row": title,
                    "model": model["name"] + model.marks,
                    "training rows": f"{model.train_rows:,}",
                    "tokens, millions": None if pd.isna(model.tokens) else f"{model.tokens / 1e6:,.1f}",
                    "FLOPs": None if pd.isna(flops) else f"{flops:.1e}",
                    "seconds": table.shown_seconds(list(model.runs.run)),
                    "command": f"`{command}`" + (f" ({comment})" if comment else ""),
                }
            )
    return Table.named("costs", lines)


# One row and recipe.


def models_table(one: frame.Comparison) -> Table:
    """Return every model of a comparison, the most accurate first, then the row's published figures."""
    row = frame.published_row(one.run)
    lines: list[Line] = [
        {
            "model": model["name"] + model.marks,
            "accuracy": mean_of(model.runs),
            "above look-up": points(model.accuracy - model.lookup),
            "seeds": str(model.n_seeds),
            "balanced accuracy": mean_of(model.runs, "balanced_accuracy"),
            "macro-F1": mean_of(model.runs, "macro_f1"),
            "loss": mean_of(model.runs, "loss"),
            "parameters": f"{model.parameters:,}",
            "seconds": table.shown_seconds(list(model.runs.run)),
            "training": _training(model.run),
        }
        for _, model in one.models.iterrows()
    ]
    lines += [
        {"model": who, "accuracy": str(theirs), "loss": _published_figure(theirs, "loss")}
        for who, theirs in (row.published(one.first.edition) if row else {}).items()
    ]
    trivial = ", ".join(f"{name} {percent(rate)} %" for name, rate in one.rules.items() if rate is not None)
    return Table.named("models", lines, notes=[f"{one.heading}: {trivial}."], heading=one.heading)


def _training(run: Result) -> str | None:
    recipe = run.configuration["recipe"]
    if "d_model" not in recipe:
        return f"search of {recipe['trials']} trials" if recipe.get("trials", 1) > 1 else None
    epochs = f"{recipe['epochs']} epoch{'s' if recipe['epochs'] > 1 else ''}"
    return f"{epochs}, batch {recipe['batch_size']:,}, rate {recipe['learning_rate']:g}"


def _tested(found: Mapping[str, Any]) -> Line:
    """Return the cells of a `difference` with its test."""
    cells = points(found["mean"]), interval_text(found), str(found["seeds"]), p_text(found["adjusted"])
    return dict(zip(("difference", "95 % interval", "seeds", "adjusted p"), cells, strict=True))


def differences_table(one: frame.Comparison) -> Table:
    """Return the exploratory differences of a comparison: AOE's form minus each model, and other pairs that differ.

    Where AOE did not run, the model with the best validation score takes its place.
    """
    found = statistics.exploratory_differences(one)
    subject = one.best(kinds=["AOE"]) or one.best() or ""
    declared = statistics.declared_pair(one)
    is_mine = np.array([subject in pair for pair in found.index], dtype=bool)
    mine, rest = found[is_mine], found[~is_mine]
    lines: dict[str, Line] = {}
    for (first, second), each in mine.iterrows():
        if first != subject:
            each = each.to_dict() | {"mean": -each["mean"], "low": -each.high, "high": -each.low}
        other = second if first == subject else first
        lines[other] = {f"{subject} −": other} | _tested(each)
    standing = rest[rest.adjusted < statistics.ALPHA]
    others = (
        f"Of the other pairs ({len(rest)}, of which {rest.adjusted.count()} could be tested) at {statistics.ALPHA:g} "
    )
    differ = [f"{a} above {b} ({points(mean)})" for (a, b), mean in standing["mean"].items()]
    others += f"these differ: {'; '.join(differ)}." if differ else "none differs."
    said = [
        f"{one.heading}: p over {found.adjusted.count()} pairs.",
        *([f"The declared contrast is {' − '.join(declared)}."] if declared else []),
        *([others] if len(rest) else []),
    ]
    ordered = [lines[name] for name in one.models.index if name in lines]
    return Table.named("differences", ordered, notes=[" ".join(said)], heading=one.heading)


def changes_table(one: frame.Comparison) -> Table:
    """Return what each change of one model costs or brings: the models that change one thing of a base, less the base.

    See `changes` for the base. Without two such models of its embedding the table has no rows: other embeddings alone
    are the differences of `differences_table`.
    """
    base, words = frame.changes(one)
    models = one.models.loc[list(words)]
    lines: list[Line] = []
    if base and (models.embedding == one.models.embedding[base]).sum() >= LEAST_CHANGES:
        first = one.models.loc[base]
        found = statistics.corrected(
            {name: statistics.difference(runs, first.runs) for name, runs in models.runs.items()}
        )
        lines = [{"change": f"none: {first.label}", "test accuracy": _accuracy(one, base), "seeds": str(first.n_seeds)}]
        for name, each in found.sort_values("mean", ascending=False, kind="stable").iterrows():
            cells = _tested(each)
            cells["less the base"] = cells.pop("difference")
            lines.append({"change": words[name], "test accuracy": _accuracy(one, name)} | cells)
    return Table.named("changes", lines, heading=one.heading)


# All runs.


def run_tables(runs: pd.DataFrame, *, all_rows: bool = False) -> list[Table]:
    """Return the table of the tasks with one class a row, and that of the others if there are results of them.

    The first is left out where all results belong to the second. With `all_rows` it says "not run" of the paper's rows
    and models that were not.
    """
    if runs.empty:
        models = pd.DataFrame(columns=["exact_match", "row"])
    else:
        models = frame.model_frame(runs)
        models["training"] = models.run.map(recipe_text)
        for _, group in models.groupby(["data", "training"]):
            models.loc[group.index, "name"] = frame.names(group)
    is_one_class = models.exact_match.isna()
    first = _lines(models[is_one_class], all_rows=all_rows)
    further = models[~is_one_class]
    order = list(dict.fromkeys([*further_rows(), *further.row]))
    ordered = further.sort_values("row", key=lambda rows: rows.map(order.index), kind="stable")
    second = [line for _, model in ordered.iterrows() for line in _further_lines(model)]
    made = {"runs": first} if first or not second else {}
    return [
        Table.named(name, lines, names=3) for name, lines in (made | ({"further": second} if second else {})).items()
    ]


def _lines(models: pd.DataFrame, *, all_rows: bool) -> list[Line]:
    """Return the lines of the tasks with one class a row, in the paper's order of rows."""
    lines: list[Line] = []
    for name in dict.fromkeys([*published_rows(), *models.row]):
        mine = sorted((model for _, model in models[models.row == name].iterrows()), key=frame.place)
        lines += map(_line, mine)
        ran = {model.embedding for model in mine if model.title == as_published(name)}
        for embedding, called in (("adelic", "AOE"), ("learned", "learned")):
            if all_rows and name in published_rows() and embedding not in ran:
                line: Line = {"task": as_published(name), "model": called, "test accuracy": NOT_RUN}
                lines.append(line | {"published": _published(published_rows()[name], embedding)})
    return lines


def _line(model: Any) -> Line:
    rules = set(model.runs.rule_name)
    said = f" ({rules.pop()})" if len(rules) == 1 and not pd.isna(model.rule) else ""
    row, is_flat = frame.published_row(model.run), model.run.places is None
    return {
        "task": model.title,
        "model": model["name"] + model.marks,
        "training": f"{model.training}, {model.n_seeds} seed{'s' if model.n_seeds > 1 else ''}",
        "majority class": percent(model.majority),
        "look-up": percent(model.lookup),
        "best trivial rule": percent(model.rule) + said,
        "test accuracy": mean_of(model.runs),
        "macro-F1": mean_of(model.runs, "macro_f1"),
        "test loss": mean_of(model.runs, "loss"),
        "published": row and _published(row, model.embedding, model.edition, is_flat=is_flat),
    }


def _published(row: Row, embedding: str, edition: str | None = "published", *, is_flat: bool = True) -> str | None:
    """Return the figures that are published for a model on an edition of a row: paper 87.89, ACD 94.6 ± 1.0."""
    paper, acd = row.paper(embedding, edition) if is_flat else None, row.acd_authors(embedding, edition)
    said = [f"paper {paper.accuracy:.2f}"] if paper else []
    return ", ".join([*said, *([f"ACD {acd}"] if acd else [])]) or None


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


def _further_lines(model: Any) -> list[Line]:
    """Return the line of a model of several targets or a number, and one for each of its targets where they are few."""
    runs = model.runs
    guesses = pd.DataFrame([run.guess or {} for run in runs.run])
    about: Line = {"task": model.title, "model": model["name"], "recipe": model.training, "seeds": str(model.n_seeds)}
    cells = about | {
        "target": "all",
        "exact match, trivial rule and look-up": percent(guesses.exact_match.mean()),
        "exact match": mean_of(runs, "exact_match"),
        "loss": mean_of(runs, "loss"),
        "ACD authors": further_rows().get(model.row),
    }
    targets: list[Line] = []
    if not pd.isna(model.mean_squared_error):
        cells |= {
            "mean absolute error": mean_of(runs, "mean_absolute_error"),
            "mean squared error, trivial rule and look-up": f"{guesses.mean_squared_error.mean():.4g}",
            "mean squared error": mean_of(runs, "mean_squared_error"),
        }
    else:
        called = "q^{}" if model.run.task == "kl" else "target {}"
        cells |= _rates(runs) | {"majority class and look-up": percent(model.majority)}
        for i, found in enumerate(zip(*(run.targets or () for run in runs.run), strict=True)):
            of = pd.DataFrame(found)
            trivial: Line = {"target": called.format(i), "majority class and look-up": percent(of.majority.mean())}
            targets.append(about | trivial | _rates(of))
    return [cells, *(targets if len(targets) <= MOST_TARGETS else [])]


def _rates(runs: pd.DataFrame) -> Line:
    return {name: mean_of(runs, metric) for name, metric in _RATES.items()}


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
    runs = frame.run_frame(results)
    if not runs.empty:
        chosen = [", ".join(frame.chosen_data(run)) for run in runs.run]
        rights = map(statistics.right_rows, runs.run)
        runs = runs.assign(
            row=[f"{row} ({words})" if words else row for row, words in zip(runs.row, chosen, strict=True)],
            model=runs.label,
            right=[None if bits is None else f"0x{np.packbits(bits).tobytes().hex()}" for bits in rights],
        )
    return Table(runs.reindex(columns=wording()["single_runs"]["columns"]))


def provenance(results: Iterable[Result]) -> Table:
    """Return what it takes to repeat each run.

    >>> provenance([]).columns
    ('command', 'seconds', 'parameters', 'device', 'versions', 'commit')
    """
    lines: list[Line] = [
        {
            "command": run.command,
            "seconds": table.shown_seconds([run]),
            "parameters": f"{run.parameters:,}",
            "device": run.device,
            "versions": ", ".join(f"{name} {version}" for name, version in run.versions.items()),
            "commit": (run.commit or "unknown")[:12],
        }
        for run in results
    ]
    return Table.named("provenance", lines, names=6)
