"""Comparisons: the models that ran on the same data, with one recipe, on equally many training rows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from adelic_lab.config.embedding import embedding_in_paths, embedding_text
from adelic_lab.config.recipes import recipe_names
from adelic_lab.report.results import Summary
from adelic_lab.report.rows import Row, published_row, published_rows


@dataclass(frozen=True)
class Comparison:
    """The models that ran on the same data (a row, edition and split) under one recipe, on equally many training rows.

    Attributes:
        models: name -> runs; the name is the label, with what tells two of the same label apart. The greatest mean test
            accuracy comes first; on contaminated data, which ranks nothing, they are in the order of names.
        recipe: see `recipe_family`.
        max_rows: most training rows that were allowed; None for all.
    """

    models: dict[str, Summary]
    recipe: str
    max_rows: int | None = None

    @property
    def first(self) -> Summary:
        """Return one model, for what all have in common."""
        return next(iter(self.models.values()))

    @property
    def row(self) -> str:
        """Return the row: schubert-4."""
        return self.first.row

    @property
    def title(self) -> str:
        """Return what is compared, unlike any other: schubert-4 (orbits), recipe quick, 300 training rows."""
        return f"{self.first.title}, recipe {self.recipe}{self.fewer_rows}"

    @property
    def heading(self) -> str:
        """Return what is compared, in few words: schubert-4, quick recipe, 300 training rows."""
        return f"{self.first.title}, {recipe_title(self.recipe)} recipe{self.fewer_rows}"

    @property
    def fewer_rows(self) -> str:
        """Return how many training rows were allowed, where not all were, after a comma: ", 300 training rows"."""
        return f", {self.max_rows:,} training rows" if self.max_rows is not None else ""

    @property
    def published(self) -> Row | None:
        """Return the row's published figures; None where nothing is published, see `published_row`."""
        return published_row(self.first.first)

    @property
    def option(self) -> str:
        """Return the options of `adelic reproduce` that train such Transformers; where none ran, of any recipe."""
        data = {"edition": self.first.edition, "split": self.first.split}
        options = [f"--{name} {value}" for name, value in data.items() if value not in (None, "published")]
        return " ".join([*options, f"--recipe {self.recipe if self.has_network else 'quick'}"])

    def trivial(self, rule: str) -> float | None:
        """Return the mean over all seeds of the test accuracy of a trivial rule, "majority", "lookup" or "rule".

        Where models of a seed had different rows to remember, as with images of rows and without, the best counts. None
        is returned where an older result lacks it.
        """
        seeds: dict[int, float] = {}
        for model in self.models.values():
            found = model.trivial_by_seed(rule)
            if len(found) < len(model.results):
                return None
            seeds |= {seed: max(rate, seeds.get(seed, 0.0)) for seed, rate in found.items()}
        return sum(seeds.values()) / len(seeds)

    @property
    def rules(self) -> dict[str, float | None]:
        """Return the mean test accuracies of the trivial rules, by their names; None where older results lack one."""
        rules = {"majority class": "majority", "look-up": "lookup", "best trivial rule": "rule"}
        return {name: self.trivial(rule) for name, rule in rules.items()}

    @property
    def has_network(self) -> bool:
        """Return whether a recipe trained one of the models."""
        return any(model.is_network for model in self.models.values())

    def best(self, *kinds: str) -> str | None:
        """Return the model with the best validation score, None without models; test figures are not used.

        With the recipe `paper`, AOE is the paper's form, raw digits in one vector: other forms would be more trials
        than its rivals have there. Kinds to choose from are those of `Summary.kind`; all if none is given.
        """
        return self._best(
            name
            for name, model in self.models.items()
            if (not kinds or model.kind in kinds) and not (self.recipe == "paper" and is_other_form(model))
        )

    def best_of(self, *embeddings: str) -> str | None:
        """Return the model of some embeddings with the best validation score, None without such models."""
        return self._best(name for name, model in self.models.items() if model.embedding in embeddings)

    def _best(self, names: Iterable[str]) -> str | None:
        return max(names, key=lambda name: self.models[name].validation_score, default=None)


def is_other_form(summary: Summary) -> bool:
    """Return whether a model is AOE in another form than the paper's, raw digits in one vector."""
    return summary.embedding == "adelic" and summary.form != "digits"


def recipe_family(summary: Summary) -> str:
    """Return the recipe that a model shares with those it may be compared with, as `adelic reproduce --recipe` has it.

    A recipe that was searched for each row and embedding has a file for each; they are of one search. Networks that
    read another view of the rows, or have another body, are compared among themselves.

    >>> from dataclasses import replace
    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> aoe = read_results(Path("experiments/results/demo"))[0]
    >>> names = "recipes/schubert-4-adelic.toml", "recipes/tuned/schubert-4-adelic-digits.toml", "quick"
    >>> [recipe_family(Summary((replace(aoe, recipe=name),))) for name in names]
    ['recipes/{row}-{embedding}.toml', 'recipes/tuned/{row}-{embedding}.toml', 'quick']
    >>> as_graphs = replace(aoe, configuration=aoe.configuration | {"recipe": {"body": "graph"}})
    >>> recipe_family(Summary((as_graphs,)))
    'quick --body graph'
    """
    reading = "".join(f" --{name} {value}" for name, value in summary.reading.items())
    if not summary.recipe.endswith(".toml"):
        return summary.recipe + reading
    path = PurePath(summary.recipe)
    row = summary.row if summary.edition in (None, "published") else f"{summary.row}-{summary.edition}"
    stem = path.stem.replace(row, "{row}", 1)
    table = {**summary.first.configuration.get("embedding", {}), "name": summary.embedding}
    names = {embedding_in_paths(embedding_text(table, always=form)) for form in ((), ("features",))}
    names |= {f"{summary.embedding}-{summary.form.replace(', ', '-')}", summary.embedding}
    # The longest first: adelic is a part of adelic-digits.
    for written in sorted(names, key=len, reverse=True):
        if written in stem:
            stem = stem.replace(written, "{embedding}", 1)
            break
    return path.with_name(stem + path.suffix).as_posix() + reading


def recipe_title(family: str) -> str:
    """Return a recipe family in a word or two: a packaged recipe's name, or the folder of those that were searched.

    >>> [recipe_title(name) for name in ("paper", "recipes/{row}-{embedding}.toml", "recipes/long/{row}.toml")]
    ['paper', 'tuned', 'long']
    >>> recipe_title("recipes/compact/{row}-{embedding}.toml")
    'searched compact'
    >>> recipe_title("compact --body graph")
    'compact with body graph'
    """
    name, *reading = family.split(" --")
    if name.endswith(".toml"):
        folder = PurePath(name).parent.name
        searched = f"searched {folder}" if folder in recipe_names() else folder
        name = "tuned" if folder in ("", "recipes") else searched
    return f"{name} with {' and '.join(reading)}" if reading else name


def comparisons(summaries: Iterable[Summary]) -> list[Comparison]:
    """Return what may be compared: in the paper's order of rows, then the recipe with the most models first.

    Models that no recipe trains (the majority class, boosted trees) stand beside those of every recipe.
    """
    groups: dict[tuple[str, int | None], dict[str, list[Summary]]] = {}  # data, training rows -> recipe -> models
    for summary in summaries:
        if summary.has_one_class_a_row:
            recipe = recipe_family(summary) if summary.is_network else ""
            data = (summary.data, summary.max_rows)
            groups.setdefault(data, {}).setdefault(recipe, []).append(summary)
    found = []
    for (_, max_rows), recipes in groups.items():
        beside = recipes.pop("", [])
        if not recipes:
            recipes[beside[0].recipe] = []
        for recipe, trained in recipes.items():
            found.append(Comparison(dict(sorted(named(trained + beside).items(), key=_place)), recipe, max_rows))
    order = list(published_rows())
    place = {row: i for i, row in enumerate([*order, *(c.row for c in found if c.row not in order)])}
    return sorted(found, key=lambda c: (place[c.row], c.first.place, -len(c.models), c.recipe, c.max_rows or 0))


def _place(item: tuple[str, Summary]) -> tuple[float, str]:
    """Return the key by which a comparison's models are sorted."""
    name, model = item
    return (0.0 if model.is_contaminated else -model.mean("accuracy")), name


def on_most_rows(found: Iterable[Comparison]) -> list[Comparison]:
    """Return, for each row and recipe, the comparison on the most training rows, in the given order."""
    most: dict[tuple[str, str], Comparison] = {}
    for comparison in found:
        key = (comparison.first.data, comparison.recipe)
        if key not in most or _size(comparison) > _size(most[key]):
            most[key] = comparison
    return list(most.values())


def _size(comparison: Comparison) -> float:
    return float("inf") if comparison.max_rows is None else comparison.max_rows


def named(summaries: list[Summary]) -> dict[str, Summary]:
    """Return the summaries by label; those with the same label also have the settings in which they differ.

    A value that more than half of them have is not named.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> list(named([Summary((run,)) for run in read_results(Path("experiments/results/demo"))[1:]]))
    ['learned, task=schubert, n=4', 'AOE (digits)', 'learned, task=weaving, n=6']
    """
    settings = [summary.settings for summary in summaries]
    result = {}
    for summary, mine in zip(summaries, settings, strict=True):
        others = [s for s, other in zip(settings, summaries, strict=True) if other.label == summary.label]
        differing = [key for key in mine if 2 * sum(other.get(key) == mine[key] for other in others) <= len(others)]
        if len(differing) > 1:  # the name of a recipe says less than what is in it
            differing = [key for key in differing if key != "recipe.name"]
        name = ", ".join([summary.label, *(_in_words(key, mine[key]) for key in differing)])
        while name in result:  # they differ in a setting that only one of them has
            name += "′"
        result[name] = summary
    return result


def form_alone(name: str) -> str:
    """Return a model's name, of AOE's the form alone, for a column that is of AOE.

    >>> form_alone("AOE (characters, late), dropout=0.07"), form_alone("learned, dropout=0.07")
    ('characters, late, dropout=0.07', 'learned, dropout=0.07')
    """
    return re.sub(r"^AOE \(([^)]*)\)", r"\1", name)


def changes(comparison: Comparison) -> tuple[str, dict[str, str]]:
    """Return the base of an ablation, and what each model changes of it that changes one thing alone.

    The base is the network from which most others of its embedding differ in one setting. A network with another
    embedding changes one thing, too, if all else is equal. The base's name comes first, then of each such model the
    change in words, as {"AOE (digits), coordinates=real": "coordinates=real"}; both are empty without networks.
    """
    networks = {name: model for name, model in comparison.models.items() if model.is_network}
    found = {name: _changes(model, networks) for name, model in networks.items()}

    def own(name: str) -> int:
        return sum(networks[other].embedding == networks[name].embedding for other in found[name])

    base = max(found, key=own, default="")
    return base, found.get(base, {})


def _changes(base: Summary, models: dict[str, Summary]) -> dict[str, str]:
    """Return what each model changes of a base that changes one thing alone."""
    mine, found = base.settings, {}
    for name, model in models.items():
        theirs = model.settings
        differing = [key for key in sorted(mine.keys() | theirs.keys()) if mine.get(key) != theirs.get(key)]
        if model.embedding != base.embedding and all(key.startswith("embedding.") for key in differing):
            found[name] = model.label
        elif len(differing) == 1:
            found[name] = _in_words(differing[0], theirs.get(differing[0]))
    return found


def _in_words(name: str, value: Any) -> str:
    """Return a setting as it is told from others.

    >>> _in_words("recipe.symmetries", True), _in_words("recipe.batch_size", 64), _in_words("embedding.primes", [2, 3])
    ('with images', 'batch size=64', 'primes=2, 3')
    >>> _in_words("embedding.coordinates", None)
    'default coordinates'
    """
    name = name.rpartition(".")[2]
    if name == "symmetries":
        return "with images" if value else "without images"
    name = name.replace("_", " ")
    if value is None:
        return f"default {name}"
    return f"{name}={', '.join(map(str, value)) if isinstance(value, list) else value}"
