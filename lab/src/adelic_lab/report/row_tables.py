"""The tables of rows (the best of each, the paper's with ours, all models), and what they say in a few sentences."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from adelic_lab.report.comparison import Comparison, form_alone, recipe_title
from adelic_lab.report.contrasts import contrast_text
from adelic_lab.report.results import BUSY_NOTE, LEAST_SEEDS, Summary, confidence_interval, shown_seconds
from adelic_lab.report.rows import Figure, Row, as_published, published_rows
from adelic_lab.report.significance import TRIVIAL, declared_contrast
from adelic_lab.report.table import (
    FIGURES_NOTE,
    LOOK_UP_NOTE,
    NONE,
    NOT_RUN,
    RULE_NOTE,
    Table,
    figure,
    marks,
    percent,
    points,
)

Key = TypeVar("Key")


def overview(found: Iterable[Comparison], row: str | None = None) -> Table:
    """Return for each row AOE and learned vectors with the declared contrast, the best rivals, and what is published.

    Forms, rivals and recipes are chosen by validation accuracy, of equal ones by loss. All rows of the paper's table
    have a line; contaminated data is left out. `found` has one comparison a row and recipe; where only one `row` was
    looked at, nothing is said of the others.
    """
    of_rows = _by_title(found, row)
    lines = [_overview_line(title, _choose(mine), mine) for title, mine in of_rows.items()]
    return Table(
        (
            "row", "AOE", "learned", "AOE − learned", "best rival", "best outside the Transformer", "majority class",
            "look-up", "best published", "above published",
        ),
        tuple(cells for cells, _ in lines),
        (
            f"{FIGURES_NOTE} The recipe, in the column of AOE, is that with which AOE or learned vectors have the best "
            f"validation accuracy, then loss; {LEAST_SEEDS} seeds or more go before fewer. So are AOE’s form, "
            "and the models of other columns. With the recipe `paper` AOE has the paper’s form, raw digits. best "
            "rival: of the embeddings but these two; with another recipe, which is named, where none ran with this.",
            "AOE − learned: the declared contrast, in percentage points, paired over common seeds, with the 95 % "
            "interval and p of the paired t-test. " + LOOK_UP_NOTE,
            "best published: of the ACD authors’ and the AOE paper’s models on this edition, published split; the "
            "paper’s 100 % for weaving is set aside. above published: “yes” if AOE’s whole interval lies above the "
            "published one, “mean only” if the mean lies above the mean.",
        ),
        "Each row",
        ahead=frozenset((i, column) for i, (_, ahead) in enumerate(lines) for column in ahead),
    )  # fmt: skip


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
    for comparison in found:
        if not comparison.first.is_contaminated:
            titles.setdefault(comparison.row, {}).setdefault(comparison.first.title, []).append(comparison)
    return {title: mine for row in titles.values() for title, mine in row.items()}


def _overview_line(
    title: str, chosen: Comparison | None, every: Sequence[Comparison]
) -> tuple[tuple[str, ...], list[int]]:
    """Return the line of a row, and the columns whose models are ahead beyond the intervals.

    `every` recipe that ran on the row may have the best rival, where it did not run with the one that is chosen.
    """
    if chosen is None:
        row = next(row for name, row in published_rows().items() if as_published(name) == title)
        best = _best(row.best_published())
        return (title, NOT_RUN, NOT_RUN, NONE, NOT_RUN, NOT_RUN, _majority(row), NOT_RUN, best, NONE), []
    contrast = declared_contrast(chosen)
    aoe, outside = (chosen.best(kind) for kind in ("AOE", "outside"))
    learned = contrast.learned if contrast else chosen.best_of("learned")
    with_rival = [(one, name) for one in (chosen, *every) if (name := one.best_of(*_rivals(one)))]
    rival = (
        with_rival[0] if with_rival[:1] and with_rival[0][0] is chosen else max(with_rival, key=_score, default=None)
    )
    published = chosen.published.best_published(chosen.first.edition) if chosen.published else None
    above = NONE if aoe is None or published is None else verdict(chosen.models[aoe].values("accuracy"), published[1])
    best_models = {1: aoe, 2: learned, 5: outside}  # by their columns, as 3 and 9 below
    compared = {column: chosen.models[name] for column, name in best_models.items() if name is not None}
    first = ahead_of_all(compared | ({4: rival[0].models[rival[1]]} if rival else {}))
    ahead = [] if first is None else [first]
    ahead += [3] if contrast is not None and contrast.difference.is_beyond_the_interval else []
    cells = (
        title,
        _named_figure(chosen, aoe, more=_recipe(chosen)),
        _named_figure(chosen, learned),
        contrast_text(contrast),
        _named_figure(*rival, more="" if rival[0] is chosen else _recipe(rival[0])) if rival else NOT_RUN,
        _named_figure(chosen, outside),
        percent(chosen.trivial("majority")),
        percent(chosen.trivial("lookup")),
        _best(published),
        above,
    )
    return cells, [*ahead, *([9] if above == "yes" else [])]


def ahead_of_all(models: Mapping[Key, Summary]) -> Key | None:
    """Return the key of the model that is ahead of each other one beyond the intervals, if there is one and another."""
    for key, model in models.items():
        others = [other for name, other in models.items() if name != key]
        if others and all(model.is_ahead_of(other) for other in others):
            return key
    return None


def _best(published: tuple[str, Figure] | None) -> str:
    return NONE if published is None else f"{published[1]} ({published[0]})"


def _recipe(comparison: Comparison) -> str:
    return recipe_title(comparison.recipe) + (f", {comparison.max_rows:,} rows" if comparison.max_rows else "")


def _rivals(comparison: Comparison) -> set[str]:
    return {model.embedding for model in comparison.models.values() if model.kind == "rival"} - {"learned"}


def _choose(found: list[Comparison]) -> Comparison | None:
    """Return the recipe of `chosen_by_validation`, of those where AOE did not run that of any model."""
    with_aoe = [c for c in found if c.best("AOE")]
    return max([c for c in with_aoe if c.best_of("learned")] or with_aoe or found, key=_best_validation, default=None)


def _score(chosen: tuple[Comparison, str]) -> tuple[float, float]:
    return chosen[0].models[chosen[1]].validation_score


def _named_figure(comparison: Comparison, name: str | None, metric: str = "accuracy", *, more: str = "") -> str:
    """Return a model's figure with its name, which learned vectors do not need, and what more is to be said."""
    if name is None:
        return NOT_RUN
    said = [part for part in (form_alone(_name(comparison, name)).removeprefix("learned").lstrip(", "), more) if part]
    return figure(comparison.models[name], metric) + (f" ({', '.join(said)})" if said else "")


def _best_validation(comparison: Comparison) -> tuple[bool, float, float]:
    found = {comparison.best("AOE"), comparison.best_of("learned")} - {None} or {comparison.best()} - {None}
    names = [name for name in found if name]
    has_seeds = bool(names) and all(len(comparison.models[name].results) >= LEAST_SEEDS for name in names)
    return has_seeds, *max((_score((comparison, name)) for name in names), default=(-1.0, 0.0))


def _name(comparison: Comparison, name: str) -> str:
    return name + marks(comparison.models[name])


def verdict(accuracies: list[float], published: Figure) -> str:
    """Return whether a model is above a published figure: "yes" if its whole interval is above that of the figure.

    Else "mean only" if the mean is above the mean, or "no". Accuracies are one a seed, the published figure in percent.

    >>> samples = [0.96, 0.97, 0.98], [0.966, 0.967, 0.968], [0.94], [0.96]
    >>> [verdict(sample, Figure(95.0, interval=1.0)) for sample in samples]
    ['mean only', 'yes', 'no', 'mean only']
    """
    mean, interval = 100 * float(np.mean(accuracies)), confidence_interval(accuracies)
    if mean <= published.accuracy:
        return "no"
    top = published.accuracy + (published.interval or 0.0)
    return "yes" if interval is not None and mean - 100 * interval > top else "mean only"


def paper_table(found: Sequence[Comparison], metric: str, row: str | None = None) -> Table:
    """Return the paper's table of test accuracies, or of test losses, with ours beside it: a line a row and recipe.

    Ours are those on the published edition and split, which are the paper's. The metric is "accuracy" or "loss"; other
    arguments are those of `overview`.
    """
    columns = (
        "row",
        "recipe",
        "majority class",
        "look-up",
        "paper: learned",
        "ours: learned",
        "paper: AOE",
        "ours: AOE",
    )
    lines: list[tuple[str, ...]] = []
    published = {name: of_paper for name, of_paper in published_rows().items() if row in (None, name)}
    for name, of_paper in published.items():
        theirs = [_published_figure(paper, metric) for paper in (of_paper.paper_baseline, of_paper.paper_aoe)]
        title = as_published(name)
        mine = [c for c in found if c.first.title == title and c.has_network]
        if not mine:
            lines.append((title, NONE, _majority(of_paper), NOT_RUN, theirs[0], NOT_RUN, theirs[1], NOT_RUN))
        for comparison in mine:
            rules = [percent(comparison.trivial(rule)) for rule in ("majority", "lookup")]
            ours = [_ours(comparison, embedding, metric) for embedding in ("learned", "adelic")]
            lines.append((title, recipe_title(comparison.recipe), *rules, theirs[0], ours[0], theirs[1], ours[1]))
    note = (
        f"{FIGURES_NOTE} Published edition and split; AOE in its best form on validation data. A number of rows stands "
        "where training had fewer than there are."
    )
    if metric == "loss":  # trivial rules have no loss
        without = tuple(line[:2] + line[4:] for line in lines)
        note = note.replace("accuracy in percent", "loss (mean cross-entropy)")
        return Table(columns[:2] + columns[4:], without, (note,), "The paper’s table of test losses, and ours")
    rules_note = f"majority class: of our test rows; where nothing ran, as the ACD authors give it. {LOOK_UP_NOTE}"
    return Table(columns, tuple(lines), (note, rules_note), "The paper’s table of test accuracies, and ours")


def _published_figure(published: Figure, metric: str) -> str:
    if metric == "accuracy":
        return f"{published.accuracy:.2f}"
    return NONE if published.loss is None else f"{published.loss:.4f}"


def _majority(row: Row) -> str:
    """Return the ACD authors' rate of the majority class; a dash where it is of another edition."""
    return str(row.majority) if row.majority.edition == "published" else NONE


def _ours(comparison: Comparison, embedding: str, metric: str) -> str:
    rows = f"{comparison.max_rows:,} rows" if comparison.max_rows else ""
    return _named_figure(comparison, comparison.best_of(embedding), metric, more=rows)


def recipe_tables(found: Iterable[Comparison]) -> list[Table]:
    """Return for each recipe that trained networks, and each split, the accuracies of all models on all its rows.

    AOE's forms come first, then its rivals, then models outside the Transformer, and the trivial rules last.
    """
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in found:
        if comparison.has_network:
            groups.setdefault((comparison.recipe, comparison.first.split), []).append(comparison)
    return [_recipe_table(recipe, split, rows) for (recipe, split), rows in groups.items()]


def _recipe_table(recipe: str, split: str, found: list[Comparison]) -> Table:
    kinds = {name: m.kind for c in found for name, m in c.models.items() if m.embedding not in TRIVIAL}
    names = sorted(kinds, key=lambda name: (("AOE", "rival", "outside").index(kinds[name]), name.lower()))
    rules = [comparison.rules for comparison in found]
    return Table(
        ("model", *(comparison.first.title + comparison.fewer_rows for comparison in found)),
        (
            *((name, *(_accuracy(comparison, name) for comparison in found)) for name in names),
            *((name, *(percent(each[name]) for each in rules)) for name in rules[0]),
        ),
        (f"{FIGURES_NOTE} Models outside the Transformer have a search of their own. {LOOK_UP_NOTE} {RULE_NOTE}",),
        f"Every model, {recipe_title(recipe)} recipe, {split} split",
    )


def _accuracy(comparison: Comparison, name: str) -> str:
    if name not in comparison.models:
        return NOT_RUN
    return figure(comparison.models[name], "accuracy") + marks(comparison.models[name])


def sizes_tables(found: Sequence[Comparison]) -> list[Table]:
    """Return for each row and recipe that ran on several numbers of training rows the models that ran on some of them.

    AOE − learned is the declared contrast of each number.
    """
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in found:
        groups.setdefault((comparison.first.data, comparison.recipe), []).append(comparison)
    return [_sizes_table(sizes) for sizes in groups.values() if len(sizes) > 1]


def _sizes_table(sizes: list[Comparison]) -> Table:
    sizes = sorted(sizes, key=lambda comparison: comparison.max_rows or math.inf)
    names = [name for name in sizes[0].models if any(name in other.models for other in sizes[1:])]
    rules = [comparison.rules for comparison in sizes]
    return Table(
        ("model", *(f"{c.max_rows:,} rows" if c.max_rows else f"all {c.first.train_rows:,}" for c in sizes)),
        (
            *((name, *(_accuracy(comparison, name) for comparison in sizes)) for name in names),
            ("AOE − learned", *(contrast_text(declared_contrast(comparison)) for comparison in sizes)),
            *((name, *(percent(each[name]) for each in rules)) for name in rules[0]),
        ),
        (
            f"{FIGURES_NOTE} A seed also draws which training rows there are; all of them are those of one seed, and "
            f"differ a little with the split. AOE − learned: in percentage points, paired over seeds. {LOOK_UP_NOTE} "
            f"{RULE_NOTE}",
        ),
        f"By the number of training rows: {sizes[0].first.title}, {recipe_title(sizes[0].recipe)} recipe",
    )


def models_table(comparison: Comparison) -> Table:
    """Return every model of a comparison, the most accurate first, then the row's published figures."""
    lines = [_model_line(comparison, name) for name in comparison.models]
    learning = {name: model for name, model in comparison.models.items() if model.embedding not in TRIVIAL}
    first = None if comparison.first.is_contaminated else ahead_of_all(learning)
    published = comparison.published.published(comparison.first.edition) if comparison.published else {}
    for name, theirs in published.items():
        lines.append((name, str(theirs), *[NONE] * 4, _published_figure(theirs, "loss"), *[NONE] * 3))
    trivial = ", ".join(f"{name} {percent(rate)} %" for name, rate in comparison.rules.items() if rate is not None)
    return Table(
        (
            "model", "accuracy", "above look-up", "seeds", "balanced accuracy", "macro-F1", "loss", "parameters",
            "seconds", "training",
        ),
        tuple(lines),
        (
            f"{comparison.heading}: {trivial}.",
            FIGURES_NOTE,
            f"{LOOK_UP_NOTE} {RULE_NOTE} seconds: mean time of a run’s training, validation included, without a search "
            f"before it. {BUSY_NOTE}",
        ),
        comparison.heading,
        published=len(published),
        ahead=frozenset({(list(comparison.models).index(first), 1)} if first is not None else ()),
    )  # fmt: skip


def _model_line(comparison: Comparison, name: str) -> tuple[str, ...]:
    model = comparison.models[name]
    return (
        _name(comparison, name),
        figure(model, "accuracy"),
        points(model.mean("accuracy") - model.trivial("lookup")),
        str(len(model.seeds)),
        figure(model, "balanced_accuracy"),
        figure(model, "macro_f1"),
        figure(model, "loss"),
        f"{model.first.parameters:,}",
        shown_seconds(model.results),
        _training(model),
    )


def _training(model: Summary) -> str:
    recipe = model.recipe_settings
    if not model.is_network:
        return f"search of {recipe['trials']} trials" if recipe.get("trials", 1) > 1 else NONE
    epochs = f"{recipe['epochs']} epoch{'s' if recipe['epochs'] > 1 else ''}"
    return f"{epochs}, batch {recipe['batch_size']:,}, rate {recipe['learning_rate']:g}"


def costs_table(found: Iterable[Comparison], row: str | None = None) -> Table:
    """Return what a run of AOE and of learned vectors costs on each row, and the command of the first seed's.

    Arguments are those of `overview`, whose models these are.

    >>> costs_table([]).columns[3:6]
    ('tokens, millions', 'FLOPs', 'seconds')
    """
    lines = []
    for title, chosen in chosen_by_validation(found, row).items():
        models = [] if chosen is None else [(chosen, chosen.best("AOE")), (chosen, chosen.best_of("learned"))]
        lines += [(title, *_cost(comparison, name)) for comparison, name in models if name is not None]
    return Table(
        ("row", "model", "training rows", "tokens, millions", "FLOPs", "seconds", "command"),
        tuple(lines),
        (
            "One run. tokens: of training rows, [CLS] counted, that the network learned from in all epochs; in a "
            "graph, vertices; for an MLP a row is one. FLOPs: of the products of matrices, the backward pass counted "
            f"as two forward ones. seconds: mean time of a run’s training, validation included. {BUSY_NOTE}",
        ),
        "What a run costs",
    )


def _cost(comparison: Comparison, name: str) -> tuple[str, ...]:
    model = comparison.models[name]
    epochs, each, tokens = model.recipe_settings.get("epochs", 0), model.first.flops, model.tokens
    command, _, comment = model.first.todays_command().partition("  # ")
    return (
        _name(comparison, name),
        f"{model.train_rows:,}",
        NONE if tokens is None else f"{tokens / 1e6:,.1f}",
        NONE if each is None else f"{3 * each * model.train_rows * epochs:.1e}",
        shown_seconds(model.results),
        f"`{command}`" + (f" ({comment})" if comment else ""),
    )


def answer(found: Iterable[Comparison]) -> list[str]:
    """Return what the rows say, in sentences; of each row the recipe that validation chooses, as in `overview`.

    >>> answer([])
    ['No row with one class was run.']
    """
    chosen = {title: comparison for title, comparison in chosen_by_validation(found).items() if comparison is not None}
    if not chosen:
        return ["No row with one class was run."]
    return [*_of_the_contrast(chosen), *_of_all_models(chosen)]


def _of_the_contrast(chosen: dict[str, Comparison]) -> list[str]:
    contrasts = {title: declared_contrast(comparison) for title, comparison in chosen.items()}
    differences = {title: contrast.difference for title, contrast in contrasts.items() if contrast is not None}
    if not differences:
        return ["AOE and learned vectors did not run on the same row with the same seeds."]
    clear = {title: d.mean for title, d in differences.items() if d.is_beyond_the_interval}
    above = [f"{title} ({points(mean)} points)" for title, mean in clear.items() if mean > 0]
    below = [f"{title} ({points(mean)} points)" for title, mean in clear.items() if mean < 0]
    few = sum(d.p is None for d in differences.values())
    rest = len(differences) - len(clear) - few
    missing = f", and {_rows(few)} had too few seeds, or no spread between them, for an interval" if few else ""
    return [
        f"AOE against learned vectors, the contrast that was declared beforehand, on {_rows(len(differences))}: AOE is "
        f"ahead beyond the 95 % interval on {_listed(above)}, learned vectors on {_listed(below)}"
        f"{f'; on {_rows(rest)} the interval contains 0' if rest or not few else ''}{missing}."
    ]


def _of_all_models(chosen: dict[str, Comparison]) -> list[str]:
    first = []
    for title, comparison in chosen.items():
        models = {name: m for name, m in comparison.models.items() if m.embedding not in TRIVIAL}
        name = ahead_of_all(models)
        if name is not None:
            first.append(f"{title}: {name}")
    if first:
        return [f"Ahead of every other model of its row beyond the intervals: {'; '.join(first)}."]
    return ["On no row is one model ahead of every other one beyond the intervals."]


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _listed(titles: list[str]) -> str:
    return f"{_rows(len(titles))}: {', '.join(titles)}" if titles else "none"
