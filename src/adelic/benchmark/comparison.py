"""What may be compared: the models that ran on a row, edition and split, with one recipe, on equally many rows."""

import math
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from pathlib import PurePath
from typing import Any

from adelic.benchmark.results import Result, Summary
from adelic.benchmark.rows import Row, published_rows
from adelic.data.sources import row_of
from adelic.training import EmbeddingConfig, Recipe
from adelic.training.recipes import recipe_names


@dataclass(frozen=True)
class Comparison:
    """The models that ran on one row, edition and split under one recipe, on equally many training rows.

    Attributes:
        models: name -> runs; the name is the label, with what tells two of the same label apart. The greatest mean test
            accuracy comes first; on contaminated data, which ranks nothing, they are in the order of names.
        recipe: see `recipe_family`.
        max_rows: most training rows that were allowed, 0 for all.
    """

    models: dict[str, Summary]
    recipe: str
    max_rows: int = 0

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
        return f", {self.max_rows:,} training rows" if self.max_rows else ""

    @property
    def edition(self) -> str:
        """Return the edition of the data."""
        return self.first.edition

    @property
    def split(self) -> str:
        """Return the split of the data."""
        return self.first.split

    @property
    def is_contaminated(self) -> bool:
        """Return whether the data shows a leak, so that nothing is ranked or tested."""
        return self.first.is_contaminated

    @property
    def published(self) -> Row | None:
        """Return the row's published figures; None where there are none, as of any split but the published one."""
        return published_rows().get(self.row) if self.split == "published" else None

    @property
    def option(self) -> str:
        """Return the options of `adelic reproduce` that train Transformers here; where none ran, with any recipe."""
        data = {"edition": self.edition, "split": self.split}
        options = [f"--{name} {value}" for name, value in data.items() if value != "published"]
        return " ".join([*options, f"--recipe {self.recipe if self.has_network else 'quick'}"])

    def trivial(self, rule: str) -> float:
        """Return the mean over all seeds of the test accuracy of a trivial rule, "majority", "lookup" or "rule".

        Where models of a seed had different rows to remember, as with images of rows and without, the best counts.
        """
        seeds: dict[int, float] = {}
        for result in (result for model in self.models.values() for result in model.results):
            seeds[result["seed"]] = max(float(result[rule]), seeds.get(result["seed"], 0.0))
        return sum(seeds.values()) / len(seeds)

    @property
    def rules(self) -> dict[str, float | None]:
        """Return the mean test accuracies of the trivial rules, by their names; None where older results lack one."""
        results = [result for model in self.models.values() for result in model.results]
        rules = {"majority class": "majority", "look-up": "lookup", "best trivial rule": "rule"}
        return {
            name: self.trivial(rule) if all(rule in result for result in results) else None
            for name, rule in rules.items()
        }

    @property
    def has_network(self) -> bool:
        """Return whether a recipe trained one of the models."""
        return any(map(is_network, self.models.values()))

    def best(self, *kinds: str) -> str | None:
        """Return the model with the best validation score, None if there is none: test figures choose nothing.

        With the recipe `paper`, AOE is the paper's form, raw digits in one vector: other forms would be more trials
        than its rivals have there.

        Args:
            kinds: of the models that count, see `kind`; none for all.
        """
        return self._best(
            name
            for name, model in self.models.items()
            if (not kinds or kind(model) in kinds) and not (self.recipe == "paper" and is_other_form(model))
        )

    def best_of(self, *embeddings: str) -> str | None:
        """Return the model of some embeddings with the best validation score, None if there is none."""
        return self._best(name for name, model in self.models.items() if model.first["embedding"] in embeddings)

    def _best(self, names: Iterable[str]) -> str | None:
        return max(names, key=lambda name: validation_score(self.models[name]), default=None)


def is_other_form(summary: Summary) -> bool:
    """Return whether a model is AOE in another form than the paper's."""
    first = summary.first
    return bool(first["embedding"] == "adelic" and not (first["features"] == "digits" and summary.is_flat))


def kind(summary: Summary) -> str:
    """Return "AOE", "rival" for a Transformer with another embedding, or "outside" for what is no Transformer."""
    if not is_network(summary):
        return "outside"
    return "AOE" if summary.first["embedding"] == "adelic" else "rival"


def is_network(summary: Summary) -> bool:
    """Return whether a model is one of ours, a Transformer that a recipe trains; others have no width in theirs."""
    return "d_model" in summary.first["configuration"]["recipe"]


def validation_score(summary: Summary) -> tuple[float, float]:
    """Return what models are chosen by: their mean validation accuracy; of equal ones the lower mean loss counts.

    Returns:
        The accuracy of the weights that were kept, -1 where it is not told, and minus the loss, -inf where it is not.

    >>> runs = [{"validation": {"accuracy": a, "loss": 0.5}} for a in (0.75, 0.25)]
    >>> validation_score(Summary(tuple(runs)))
    (0.5, -0.5)
    """
    results, told = summary.results, all("validation" in result for result in summary.results)
    found = [
        r["validation"]["accuracy"] if told else max(r["history"]["validation_accuracy"], default=-1.0) for r in results
    ]
    loss = sum(r["validation"]["loss"] for r in results) / len(results) if told else math.inf
    return round(sum(found) / len(found), 9), -loss  # rounded, so that equal means of other seeds are equal


def recipe_family(result: Result) -> str:
    """Return the recipe that a result shares with those it may be compared with, as `adelic reproduce --recipe` has it.

    A recipe that was searched for each row and embedding has a file for each; they are of one search.

    >>> names = "recipes/schubert-4-adelic.toml", "recipes/tuned/schubert-4-adelic-characters.toml", "quick"
    >>> aoe = {"task": "schubert", "n": 4, "embedding": "adelic", "features": "characters"}
    >>> [recipe_family(aoe | {"recipe": name}) for name in names]
    ['recipes/{row}-{embedding}.toml', 'recipes/tuned/{row}-{embedding}.toml', 'quick']
    """
    name = str(result["recipe"])
    if not name.endswith(".toml"):
        return name
    path = PurePath(name)
    row, edition = row_of(result), result.get("edition", "published")
    stem = path.stem.replace(row if edition == "published" else f"{row}-{edition}", "{row}", 1)
    parts = [result["embedding"], result["features"], result.get("places", "flat")]
    label = "-".join(part for part in parts if part not in (None, "flat"))
    for written in (label, str(result["embedding"])):
        if written in stem:
            stem = stem.replace(written, "{embedding}", 1)
            break
    return path.with_name(stem + path.suffix).as_posix()


def recipe_title(family: str) -> str:
    """Return a recipe family in a word or two: a packaged recipe's name, or the folder of those that were searched.

    >>> [recipe_title(name) for name in ("paper", "recipes/{row}-{embedding}.toml", "recipes/long/{row}.toml")]
    ['paper', 'tuned', 'long']
    >>> recipe_title("recipes/compact/{row}-{embedding}.toml")
    'searched compact'
    """
    if not family.endswith(".toml"):
        return family
    folder = PurePath(family).parent.name
    if folder in recipe_names():
        return f"searched {folder}"
    return "tuned" if folder in ("", "recipes") else folder


def comparisons(summaries: Iterable[Summary]) -> list[Comparison]:
    """Return what may be compared: in the paper's order of rows, then the recipe with the most models first.

    Models that no recipe trains (the majority class, boosted trees) stand beside those of every recipe.
    """
    groups: dict[tuple[str, int], dict[str, list[Summary]]] = {}  # row with edition and split, rows -> recipe -> models
    for summary in summaries:
        if summary.has_one_class_a_row:
            first = summary.first
            data = (summary.title, int(first["configuration"]["recipe"].get("max_rows", 0)))
            recipe = recipe_family(first) if is_network(summary) else ""
            groups.setdefault(data, {}).setdefault(recipe, []).append(summary)
    found = []
    for (_, max_rows), recipes in groups.items():
        beside = recipes.pop("", [])
        if not recipes:
            recipes[str(beside[0].first["recipe"])] = []
        for recipe, trained in recipes.items():
            found.append(Comparison(dict(sorted(named(trained + beside).items(), key=_place)), recipe, max_rows))
    order = list(published_rows())
    place = {row: i for i, row in enumerate([*order, *(c.row for c in found if c.row not in order)])}
    return sorted(found, key=lambda c: (place[c.row], c.first.title, -len(c.models), c.recipe, c.max_rows))


def _place(item: tuple[str, Summary]) -> tuple[float, str]:
    """Return what a comparison's models are sorted by."""
    name, model = item
    return (0.0 if model.is_contaminated else -model.mean("accuracy")), name


def on_most_rows(found: Iterable[Comparison]) -> list[Comparison]:
    """Return of the comparisons of a row under a recipe the one on the most training rows, in the given order."""
    most: dict[tuple[str, str], Comparison] = {}
    for comparison in found:
        key = (comparison.first.title, comparison.recipe)
        if key not in most or _size(comparison) > _size(most[key]):
            most[key] = comparison
    return list(most.values())


def _size(comparison: Comparison) -> float:
    return comparison.max_rows or float("inf")


def named(summaries: list[Summary]) -> dict[str, Summary]:
    """Return the summaries by label; those with the same label also have the settings in which they differ.

    A value that more than half of them have goes without saying.

    >>> runs = [{"embedding": "fone", "configuration": {"seed": 0, "recipe": {"epochs": e}}} for e in (3, 30)]
    >>> list(named([Summary((run,)) for run in runs]))
    ['fone, epochs=3', 'fone, epochs=30']
    """
    settings = [_all_settings(summary) for summary in summaries]
    result = {}
    for summary, mine in zip(summaries, settings, strict=True):
        others = [s for s, other in zip(settings, summaries, strict=True) if other.label == summary.label]
        differing = [key for key in mine if 2 * sum(other.get(key) == mine[key] for other in others) <= len(others)]
        if len(differing) > 1:  # the name of a recipe says less than what is in it
            differing = [key for key in differing if key != ("recipe", "name")]
        name = ", ".join([summary.label, *(_in_words(key[-1], mine[key]) for key in differing)])
        while name in result:  # they differ in a setting that only one of them has
            name += "′"
        result[name] = summary
    return result


def _in_words(name: str, value: Any) -> str:
    """Return a setting as it is told from others.

    >>> _in_words("symmetries", True), _in_words("batch_size", 64)
    ('with images', 'batch size=64')
    """
    if name == "symmetries":
        return "with images" if value else "without images"
    return f"{name.replace('_', ' ')}={value}"


def _all_settings(summary: Summary) -> dict[tuple[str, ...], Any]:
    """Return a model's settings, also those that a network's configuration leaves out since they have the old value."""
    configuration = summary.first["configuration"]
    tables = {"recipe": Recipe, "embedding": EmbeddingConfig} if is_network(summary) else {}
    old = {
        name: {f.name: f.default for f in fields(table) if f.default is not MISSING} for name, table in tables.items()
    }
    return _settings(old) | _settings(configuration)


def _settings(table: dict[str, Any], above: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the values of nested tables, but for the seed of the run."""
    found: dict[tuple[str, ...], Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= _settings(value, (*above, key))
        elif (*above, key) != ("seed",):
            found[(*above, key)] = value
    return found
