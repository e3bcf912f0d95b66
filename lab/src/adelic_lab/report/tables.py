"""The tables of results: of all runs, of each dataset, and of all datasets together.

To add one, write a function from results to lines, put its title, its columns and the sentences under it into
wording.toml, and its name into `tables` and `adelic_lab.report.TABLES`.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
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
"""Greatest number of targets of an example for which each target has a line of its own."""
_OTHERS = ("best other embedding", "best classical model")
BALANCED = 0.01
"""Balanced accuracies that differ by less from accuracies say nothing more, and have no column."""
LEAST_CHANGES = 2
"""Least number of changes of one embedding that make a table."""


def tables(results: Iterable[Result], *wanted: str, all_rows: bool = False, row: str | None = None) -> list[Table]:
    """Return the tables with these names of `TABLES`, all by default.

    With `all_rows`, "runs" also lists the paper's datasets that were not run. If these are the results of one `row`,
    nothing is said of the paper's other datasets.

    >>> [table.title for table in tables([], "overview", "loss")]
    ['Every dataset', 'Test losses, the paper’s and ours']
    """
    runs = frame.run_frame(results)
    found = frame.comparisons(runs)
    main = frame.on_most_rows(found)
    makers: dict[str, Callable[[], list[Table]]] = {
        "runs": lambda: run_tables(runs, all_rows=all_rows),
        "overview": lambda: [overview(main, row)],
        "contrasts": lambda: [contrasts_table(main)],
        "accuracy": lambda: [paper_table(main, "accuracy", row)],
        "loss": lambda: [paper_table(main, "loss", row)],
        "costs": lambda: [costs_table(main, row)],
        "models": lambda: models_tables(main),
        "sizes": lambda: sizes_tables(found),
        "changes": lambda: [each for each in map(changes_table, main) if each.rows],
    }
    return [made for name in wanted or TABLES for made in makers[name]()]


def _accuracy(one: frame.Comparison, name: str) -> str:
    """Return a model's accuracy with its marks."""
    if name not in one.models.index:
        return NOT_RUN
    return f"{mean_of(one.models.runs[name])}{one.models.marks[name]}"


def _named(
    one: frame.Comparison, name: str | None, metric: str = "accuracy", *, more: str = "", known: str = ""
) -> str:
    """Return a model's figure with its name, which learned vectors do not need, and what more is to be said.

    What is `known` is left out at the end of the name.
    """
    if name is None:
        return NOT_RUN
    called = name.removesuffix(known) + one.models.marks[name]
    said = frame.form_alone(called).removeprefix("learned").lstrip(", ")
    words = ", ".join(filter(None, [said, more]))
    return mean_of(one.models.runs[name], metric) + (f" ({words})" if words else "")


def _contrast(found: Mapping[str, Any] | None) -> str:
    """Return a declared contrast in a cell: +1.20 (+0.30 to +2.10); a dash for None."""
    if found is None:
        return NONE
    interval = interval_text(found)
    return points(found["mean"]) + (f" ({interval})" if interval != NONE else "")


# Each dataset: which recipe, which model.


def chosen_by_validation(
    found: Iterable[frame.Comparison], row: str | None = None
) -> dict[str, frame.Comparison | None]:
    """Return for each dataset, by its title, the recipe under which AOE or learned vectors are best on validation data.

    Where both ran with some recipe, it is one of these. Datasets of the paper's table that were not run have None;
    contaminated data is left out.
    """
    return {title: _choose(mine) for title, mine in _by_title(found, row).items()}


def _by_title(found: Iterable[frame.Comparison], row: str | None) -> dict[str, list[frame.Comparison]]:
    """Return the comparisons of each dataset, by its title; those of the paper's table that were not run have none."""
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
    """Return for each dataset AOE, learned vectors, the declared contrast, the best others, and what is published.

    Forms, rivals and recipes are chosen by validation accuracy, of equal ones by loss. All datasets of the paper's
    table have a line; contaminated data is left out. `found` has one comparison per dataset and recipe; if only one
    `row` was looked at, nothing is said of the others, and p, which is adjusted for all of them, is left out.
    """
    titles = _by_title(found, row)
    chosen = {title: _choose(every) for title, every in titles.items()}
    lines = {title: _overview_line(title, every, chosen[title]) for title, every in titles.items()}
    if row is not None:
        return Table.named("overview", list(lines.values()), names=2)
    family = statistics.declared_family(chosen)
    for title, p in family.adjusted.items():
        lines[title]["adjusted p"] = p_text(p)
    note = f"adjusted p: by Holm’s method over the {family.p.count()} lines of this table that could be tested."
    return Table.named("overview", list(lines.values()), notes=[note], names=2)


def _overview_line(title: str, every: Sequence[frame.Comparison], chosen: frame.Comparison | None) -> Line:
    """Return the line of a dataset.

    `every` recipe that ran on it may have the best other embedding, if none ran with the one that is chosen.
    """
    if chosen is None:
        row = next(row for name, row in published_rows().items() if as_published(name) == title)
        line: Line = dict.fromkeys(("AOE", "learned", *_OTHERS, "look-up", "best baseline"), NOT_RUN)
        return line | {"dataset": title, "best published": _best_published(row.best_published())}
    contrast = statistics.declared_contrast(chosen)
    aoe = chosen.best(kinds=["AOE"])
    learned = contrast["learned"] if contrast else chosen.best(embeddings=["learned"])
    rivals = [(one, name) for one in (chosen, *every) if (name := _best_rival(one))]
    if rivals and rivals[0][0] is not chosen:
        rivals = [max(rivals, key=lambda rival: rival[0].score(rival[1]))]
    row_published = frame.published_row(chosen.run)
    published = row_published.best_published(chosen.first.edition) if row_published else None
    above = "" if aoe is None or published is None else f"{verdict(chosen.models.runs[aoe].accuracy, published[1])} "
    about = _about(aoe)
    others = (_named(one, name, more="" if one is chosen else _recipe(one), known=about) for one, name in rivals)
    return {
        "dataset": title,
        "recipe": _recipe(chosen) + about,
        "AOE": _named(chosen, aoe, known=about),
        "learned": _named(chosen, learned, known=about),
        "AOE − learned": _contrast(contrast),
        _OTHERS[0]: next(others, NOT_RUN),
        _OTHERS[1]: _named(chosen, _best_classical(chosen)),
        **_rules(chosen),
        "best published": above + _best_published(published),
    }


def _best_rival(one: frame.Comparison) -> str | None:
    rivals = one.models[(one.models.kind == "rival") & (one.models.embedding != "learned")]
    return max(rivals.index, key=one.score, default=None)


def _best_classical(one: frame.Comparison) -> str | None:
    models = one.models[(one.models.kind == "outside") & ~one.models.embedding.isin(frame.TRIVIAL)]
    return max(models.index, key=one.score, default=None)


def _best_published(published: tuple[str, Figure] | None) -> str:
    return NONE if published is None else f"{published[1]} ({published[0]})"


def _about(aoe: str | None) -> str:
    """Return the settings at the end of a name of AOE that tell two models of one form apart, after a comma.

    >>> _about("AOE (characters, late), dropout=0.07"), _about("AOE (digits)")
    (', dropout=0.07', '')
    """
    return (aoe or "").partition(")")[2]


def _recipe(one: frame.Comparison) -> str:
    return frame.recipe_title(one.recipe) + (f", {one.max_rows:,} examples" if one.max_rows else "")


def verdict(accuracies: Iterable[float], published: Figure) -> str:
    """Return whether a model is above a published figure: ▲ if its whole interval is above that of the figure.

    Else ≈ if the mean is above the mean, or ▼. Accuracies are one a seed, the published figure in percent.

    >>> samples = [0.96, 0.97, 0.98], [0.966, 0.967, 0.968], [0.94], [0.96]
    >>> [verdict(sample, Figure(95.0, interval=1.0)) for sample in samples]
    ['≈', '▲', '▼', '≈']
    """
    sample = list(accuracies)
    mean, interval = 100 * float(np.mean(sample)), statistics.confidence_interval(sample)
    if mean <= published.accuracy:
        return "▼"
    top = published.accuracy + (published.interval or 0.0)
    return "▲" if interval is not None and mean - 100 * interval > top else "≈"


# All datasets together.


def contrasts_table(found: Iterable[frame.Comparison]) -> Table:
    """Return AOE minus learned vectors for each dataset and recipe; contaminated data is left out.

    It has no p: one line per dataset is declared, that of `overview`, and the others are exploratory.
    """
    lines: list[Line] = []
    for one in found:
        if (contrast := statistics.declared_contrast(one)) is None:
            continue
        aoe, learned = contrast["aoe"], contrast["learned"]
        line: Line = {
            "dataset": one.first.title,
            "recipe": _recipe(one) + _about(aoe),
            "AOE": _named(one, aoe, known=_about(aoe)),
            "learned": _named(one, learned, known=_about(aoe)),
            "look-up": percent(one.models.lookup[aoe]),
            "AOE − learned": _contrast(contrast),
            "seeds": str(contrast["seeds"]),
        }
        if rows := statistics.discordance(one.models.runs[aoe], one.models.runs[learned]):
            line["only AOE / only learned right"] = f"{rows['first']:,} / {rows['second']:,}"
            line["interval over examples"] = interval_text(rows)
        lines.append(line)
    return Table.named("contrasts", lines, names=2)


def paper_table(found: Sequence[frame.Comparison], metric: str, row: str | None = None) -> Table:
    """Return the paper's table of test accuracies, or of test losses, and ours.

    Ours are of the recipe `paper` and of that which validation chose, on the paper's edition and split. The metric is
    "accuracy" or "loss"; other arguments are those of `overview`.
    """
    lines: list[Line] = []
    for name, paper in published_rows().items() if row is None else ((row, published_rows().get(row)),):
        if paper is None:
            continue
        line: Line = {
            "dataset": as_published(name),
            "paper: learned": _published_figure(paper.figures["paper_baseline"], metric),
            "paper: AOE": _published_figure(paper.figures["paper_aoe"], metric),
        }
        mine = [one for one in found if one.first.title == as_published(name) and one.has_network]
        chosen = _choose(mine)
        for one in (one for one in mine if one is chosen or one.has_papers_recipe):
            aoe, learned = one.best(kinds=["AOE"]), one.best(embeddings=["learned"])
            about = _about(aoe)
            ours = {
                f"ours: {who}": _named(one, name, metric, known=about)
                for who, name in (("learned", learned), ("AOE", aoe))
            }
            lines.append(line | {"recipe": _recipe(one) + about} | _rules(one) | ours)
        if not mine:
            lines.append(line | dict.fromkeys(("look-up", "best baseline", "ours: learned", "ours: AOE"), NOT_RUN))
    return Table.named(metric, lines, names=2)


def _published_figure(published: Figure, metric: str) -> str | None:
    if metric == "accuracy":
        return f"{published.accuracy:.2f}"
    return None if published.loss is None else f"{published.loss:.4f}"


def _rules(one: frame.Comparison) -> dict[str, str]:
    """Return the accuracies of the baselines, by their names."""
    return {name: percent(rate) for name, rate in one.rules.items()}


def sizes_tables(found: Sequence[frame.Comparison]) -> list[Table]:
    """Return the models that ran on several numbers of training examples, a table for each dataset and recipe.

    AOE − learned is the declared contrast of each number.
    """
    groups: dict[tuple[str, str], list[frame.Comparison]] = {}
    for one in sorted(found, key=lambda one: one.max_rows or math.inf):
        groups.setdefault((one.first.data, one.recipe), []).append(one)
    made = []
    for key in dict.fromkeys((one.first.data, one.recipe) for one in found):
        first, *fewer = groups[key]
        sizes = {
            f"{one.max_rows:,} examples" if one.max_rows else f"all {one.run.rows['train']:,}": one
            for one in groups[key]
        }
        shared = [name for name in first.models.index if any(name in one.models.index for one in fewer)]
        contrast = {heading: _contrast(statistics.declared_contrast(one)) for heading, one in sizes.items()}
        rules = {heading: _rules(one) for heading, one in sizes.items()}
        lines: list[Line] = [
            *({"model": name} | {heading: _accuracy(one, name) for heading, one in sizes.items()} for name in shared),
            {"model": "AOE − learned"} | contrast,
            *({"model": rule} | {heading: of[rule] for heading, of in rules.items()} for rule in frame.RULES),
        ]
        if fewer:
            made.append(Table.named("sizes", lines, row=first.first.title, recipe=frame.recipe_title(first.recipe)))
    return made


def costs_table(found: Iterable[frame.Comparison], row: str | None = None) -> Table:
    """Return what a run of AOE and of learned vectors costs on each dataset, and the command of the first seed's.

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
                    "dataset": title,
                    "model": model["name"] + model.marks,
                    "training examples": f"{model.train_rows:,}",
                    "tokens, millions": None if pd.isna(model.tokens) else f"{model.tokens / 1e6:,.1f}",
                    "FLOPs": None if pd.isna(flops) else f"{flops:.1e}",
                    "seconds": table.shown_seconds(list(model.runs.run)),
                    "command": f"`{command}`" + (f" ({comment})" if comment else ""),
                }
            )
    return Table.named("costs", lines)


# One dataset.


def models_tables(found: Iterable[frame.Comparison]) -> list[Table]:
    """Return for each dataset, edition and split the table of its models."""
    groups: dict[str, list[frame.Comparison]] = {}
    for one in found:
        groups.setdefault(one.first.data, []).append(one)
    return [models_table(mine) for mine in groups.values()]


def models_table(found: Sequence[frame.Comparison]) -> Table:
    """Return every model that ran on the same data, under each recipe, the most accurate first; the baselines last.

    Models outside the Transformer belong to no recipe: AOE is compared with them in the recipe that validation chose.
    """
    chosen = _choose(found) or found[0]
    ordered = sorted(found, key=lambda one: one is not chosen)
    models = pd.concat([one.models.assign(recipe=_recipe(one), difference=pd.Series(_less(one))) for one in ordered])
    models = models.drop_duplicates("model")[lambda every: ~every.embedding.isin(frame.TRIVIAL)]
    if not chosen.first.contaminated:
        models = models.sort_values("accuracy", ascending=False, kind="stable")
    lines: list[Line] = [
        {
            "model": model["name"] + model.marks,
            "recipe": _searched(model.run) if model.kind == "outside" else model.recipe,
            "accuracy": mean_of(model.runs),
            "AOE − model": None if pd.isna(model.difference) else model.difference,
            "seeds": str(model.n_seeds),
            "balanced accuracy": mean_of(model.runs, "balanced_accuracy"),
            "loss": mean_of(model.runs, "loss"),
            "parameters": f"{model.parameters:,}",
        }
        for _, model in models.iterrows()
    ]
    lines += [{"model": name, "accuracy": rate} for name, rate in _rules(chosen).items() if name != "majority class"]
    row = frame.published_row(chosen.run)
    lines += [
        {"model": who, "recipe": "published", "accuracy": str(figure), "loss": _published_figure(figure, "loss")}
        for who, figure in (row.published(chosen.first.edition) if row else {}).items()
    ]
    title = chosen.first.title + (chosen.fewer_examples if len(found) == 1 else "")
    made = Table.named("models", lines, names=2, heading=title)
    is_balanced = bool((models.accuracy - models.balanced_accuracy).abs().max() < BALANCED)
    return replace(made, frame=made.frame.drop(columns=["balanced accuracy"])) if is_balanced else made


def _searched(run: Result) -> str | None:
    trials = run.configuration["recipe"].get("trials", 1)
    return f"search of {trials} trials" if trials > 1 else None


def _less(one: frame.Comparison) -> dict[str, str]:
    """Return how much more accurate AOE is than each model of a comparison, with the mark of the exploratory test."""
    aoe = one.best(kinds=["AOE"])
    if aoe is None:
        return {}
    cells = {aoe: "chosen"}
    if contrast := statistics.declared_contrast(one):
        cells[contrast["learned"]] = _contrast(contrast)
    for (first, second), each in statistics.exploratory_differences(one).iterrows():
        if aoe in (first, second):
            found = each.to_dict()
            if first != aoe:
                found |= {"mean": -each["mean"], "low": -each.high, "high": -each.low}
            cells[second if first == aoe else first] = _mark(found) + _contrast(found)
    return cells


def _mark(found: Mapping[str, Any]) -> str:
    """Return whether a difference is more than 0, less, or not told apart from it, by its adjusted p.

    >>> [_mark({"adjusted": p, "mean": mean}) for p, mean in ((0.01, 1), (0.05, -1), (0.2, 1), (float("nan"), 1))]
    ['▲ ', '▼ ', '≈ ', '']
    """
    if np.isnan(found["adjusted"]):
        return ""
    return "≈ " if found["adjusted"] > statistics.ALPHA else "▲ " if found["mean"] > 0 else "▼ "


def changes_table(one: frame.Comparison) -> Table:
    """Return what each change of one model costs or brings: the models that change one thing of a base, less the base.

    See `changes` for the base. Without two such models of its embedding the table has no lines: other embeddings alone
    are compared in `models_table`.
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
            cells = points(each["mean"]), interval_text(each), str(each.seeds), p_text(each.adjusted)
            tested = dict(zip(("less the base", "95 % interval", "seeds", "adjusted p"), cells, strict=True))
            lines.append({"change": words[name], "test accuracy": _accuracy(one, name)} | tested)
    return Table.named("changes", lines, heading=one.heading)


# All runs.


def run_tables(runs: pd.DataFrame, *, all_rows: bool = False) -> list[Table]:
    """Return the table of the tasks with one class per example, and that of the others if there are results of them.

    The first is left out where all results belong to the second. With `all_rows` it says "not run" of the paper's
    datasets and models that were not.
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
    """Return the lines of the tasks with one class per example, in the paper's order of datasets."""
    lines: list[Line] = []
    for name in dict.fromkeys([*published_rows(), *models.row]):
        mine = sorted((model for _, model in models[models.row == name].iterrows()), key=frame.place)
        lines += map(_line, mine)
        ran = {model.embedding for model in mine if model.title == as_published(name)}
        for embedding, called in (("adelic", "AOE"), ("learned", "learned")):
            if all_rows and name in published_rows() and embedding not in ran:
                line: Line = {"dataset": as_published(name), "model": called, "test accuracy": NOT_RUN}
                lines.append(line | {"published": _published(published_rows()[name], embedding)})
    return lines


def _line(model: Any) -> Line:
    rules = set(model.runs.rule_name)
    said = f" ({rules.pop()})" if len(rules) == 1 and not pd.isna(model.rule) else ""
    row, is_flat = frame.published_row(model.run), model.run.places is None
    return {
        "dataset": model.title,
        "model": model["name"] + model.marks,
        "training": f"{model.training}, {model.n_seeds} seed{'s' if model.n_seeds > 1 else ''}",
        "majority class": percent(model.majority),
        "look-up": percent(model.lookup),
        "best baseline": percent(model.rule) + said,
        "test accuracy": mean_of(model.runs),
        "macro-F1": mean_of(model.runs, "macro_f1"),
        "test loss": mean_of(model.runs, "loss"),
        "published": row and _published(row, model.embedding, model.edition, is_flat=is_flat),
    }


def _published(row: Row, embedding: str, edition: str | None = "published", *, is_flat: bool = True) -> str | None:
    """Return the figures that are published for a model on an edition of a dataset: paper 87.89, ACD 94.6 ± 1.0."""
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
        f"{settings.get('max_rows') or 0:,} examples": settings.get("max_rows") is not None,
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
    about: Line = {
        "dataset": model.title,
        "model": model["name"],
        "recipe": model.training,
        "seeds": str(model.n_seeds),
    }
    cells = about | {
        "target": "all",
        "exact match, baseline and look-up": percent(guesses.exact_match.mean()),
        "exact match": mean_of(runs, "exact_match"),
        "loss": mean_of(runs, "loss"),
        "ACD authors": further_rows().get(model.row),
    }
    targets: list[Line] = []
    if not pd.isna(model.mean_squared_error):
        cells |= {
            "mean absolute error": mean_of(runs, "mean_absolute_error"),
            "mean squared error, baseline and look-up": f"{guesses.mean_squared_error.mean():.4g}",
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
    `right` has a bit for each example of the test split, in the split's order, whether the model answers it rightly:
    hexadecimal, the most significant bit first, the last byte filled with zeros, so that the number of ones is that of
    right answers; of several targets per example, all have to be right. It is empty for older runs.

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
