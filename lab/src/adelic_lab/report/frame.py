"""Results as data frames: a line for each run, or for each model, and the models that may be compared.

`run_frame` has a line for each result, `model_frame` one for the runs that differ in their seed alone, with means over
seeds. A `Comparison` holds the models that ran on the same data under one recipe. All tables and figures of rows are
made from these; what a column says is written beside it in `_run` and `model_frame`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import PurePath
from typing import Any

import pandas as pd

from adelic.data.registry import task as find_task
from adelic.data.registry import tasks
from adelic.data.sources import DrawnData, TableData
from adelic.storage.options import options
from adelic_lab.config.embedding import EmbeddingConfig, embedding_in_paths, embedding_text, options_in_words
from adelic_lab.config.experiment import flatten
from adelic_lab.config.models import CLASSICAL_MODELS
from adelic_lab.config.names import n_tokens
from adelic_lab.config.recipes import SEQUENCE, TrainConfig, recipe_names, stored
from adelic_lab.report.files import model_key
from adelic_lab.report.published import Row, published_rows
from adelic_lab.results.result import Result

METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "loss", "calibration_error")
ERRORS = ("exact_match", "mean_absolute_error", "mean_squared_error")
RULES = {"majority class": "majority", "look-up": "lookup", "best baseline": "rule"}
"""The baselines by what tables call them."""
TRIVIAL = ("majority", "lookup")
"""The baselines that learn nothing: comparisons of models leave them out."""
ONE_CLASS, ONE_SPLIT, OTHER_PRECISION = "†", "‡", "§"
_MEANS = (*METRICS, *ERRORS, *RULES.values(), "validation_accuracy", "validation_loss")


def run_frame(results: Iterable[Result]) -> pd.DataFrame:
    """Return a line for each result, in their order.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> runs = run_frame(read_results(Path("experiments/results/demo")))
    >>> runs[["title", "label", "kind"]].iloc[0].tolist()
    ['schubert-4 (published)', 'AOE (digits)', 'AOE']
    """
    runs = pd.DataFrame(map(_run, results))
    if not runs.empty:
        # Tables of your own may have one title, and be different files.
        is_shared = runs.groupby("title").data.transform("nunique") > 1
        runs.loc[is_shared, "title"] = [title(run, with_file=True) for run in runs.run[is_shared]]
        runs = runs.astype(dict.fromkeys(("flops", "tokens", "max_rows"), "Int64"))
    return runs


def _run(run: Result) -> dict[str, Any]:
    """Return the line of a run."""
    recipe = run.configuration["recipe"]
    is_network = "d_model" in recipe  # others have no width in their settings
    reading = {name: recipe[name] for name in ("view", "body") if recipe.get(name) not in (None, SEQUENCE)}
    chosen = run.search["chosen"] if run.search else {}
    embedding = run.configuration.get("embedding", {}) if is_network else chosen
    return {
        "run": run,
        "model": model_key(run),  # the same for all runs that differ in their seed alone
        "data": data_key(run),  # the same for all runs that may be compared
        "title": title(run),
        **{name: getattr(run, name) for name in ("row", "edition", "split", "contaminated", "embedding", "recipe")},
        "label": label(run),
        "kind": "outside" if not is_network else "AOE" if run.embedding == "adelic" else "rival",
        # Transformers are AOE in the paper's form, or in another one.
        "is_other_form": run.embedding == "adelic" and form(run) != "digits",
        "options": json.dumps({key: value for key, value in embedding.items() if key != "name"}, sort_keys=True),
        "max_rows": recipe.get("max_rows"),
        "symmetries": bool(recipe.get("symmetries", False)),
        "reading": reading,
        "family": recipe_family(run, reading) if is_network else "",
        "seed": run.seed,
        "split_seed": run.split_seed,
        "train_rows": run.rows["train"],
        "test_rows": run.rows["test"],
        **{name: run.test.get(name) for name in (*METRICS, *ERRORS)},
        **{f"validation_{name}": (run.validation or {}).get(name) for name in ("accuracy", "loss")},
        **{name: getattr(run, name) for name in ("majority", "lookup", "rule", "rule_name", "parameters", "flops")},
        "tokens": _tokens(run, reading),
        **{name: getattr(run, name) for name in ("seconds", "device", "commit", "command", "data_sha256", "labels")},
        "predicts_one_class": bool(run.predicts_one_class),
        "has_other_precision": is_network and _has_other_precision(run),
    }


def model_frame(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each model: what its runs have in common, how many there are, and means over their seeds.

    The mean of a metric is NaN where a run lacks it. `runs` has the lines of the model in its cell.
    """
    models = runs.drop_duplicates("model").set_index("model", drop=False)
    groups = runs.groupby("model", sort=False)
    models[list(_MEANS)] = groups[list(_MEANS)].agg(lambda values: values.astype(float).mean(skipna=False))
    models["n_seeds"] = groups.size()
    models["runs"] = pd.Series(dict(list(groups)))
    marks = {
        ONE_CLASS: groups.predicts_one_class.any(),
        ONE_SPLIT: groups.split_seed.nunique() < groups.size(),
        OTHER_PRECISION: groups.has_other_precision.any(),
    }
    models["marks"] = ""
    for mark, holds in marks.items():
        models.loc[holds, "marks"] += f" {mark}"
    return models


def data_key(run: Result) -> str:
    """Return what tells the data of a run from others, as text: all that its examples depend on, but for the seed.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> data_key(read_results(Path("experiments/results/demo"))[0])
    '["schubert-4", "published", "published", false, {}]'
    """
    about = [run.row, run.edition, run.split, run.contaminated]
    return json.dumps([*about, _choices(run.configuration.get("data", {}))], sort_keys=True)


_PLAIN = {name: described.default for each in (DrawnData, TableData) for name, described in options(each).items()}
_NO_CHOICES = ("task", "n", "examples", "edition", "split", "seed", "path", "never_seen_cases")
"""What the dataset, the edition and the split say, the seed of older runs' splits, and what changes no example to train
on or test on: a table's file is known by its SHA-256."""


def _choices(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the table `data` of config.toml chooses besides dataset, edition and split, and examples depend on.

    >>> _choices({"task": "gcd", "examples": 200, "test_cases": 10_000, "task_options": ["limit=5000"]})
    {'task_options': ['limit=5000']}
    """
    return {name: value for name, value in about.items() if name not in _NO_CHOICES and value != _PLAIN.get(name)}


def chosen_data(run: Result) -> list[str]:
    """Return in words what defines the data of a run besides its dataset, edition, split and file; [] for most."""
    found = _choices(run.configuration.get("data", {}))
    words = list(found.pop("task_options", ()))
    for name, value in found.items():
        if name != "sha256":
            text = " and ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            words.append(f"{name.replace('_', ' ')} {text}")
    return words


def title(run: Result, *, with_file: bool = False) -> str:
    """Return the dataset with its edition (but the published one), what else defines the data, and the split.

    weaving-6 (levels, orbits), gcd-200 (limit=5000, drawn), mine (target sold, random).
    """
    digest = run.configuration.get("data", {}).get("sha256") if with_file else None
    words = [
        *([run.edition] if run.edition not in (None, "published") else []),
        *chosen_data(run),
        *([f"file {digest[:8]}"] if digest else []),
        run.split,
        *(["contaminated"] if run.contaminated else []),
    ]
    return f"{run.row} ({', '.join(words)})"


def form(run: Result) -> str:
    """Return AOE's form: characters, or with where its places meet: characters, late."""
    return f"{run.features}" + ("" if run.places is None else f", {run.places}")


def label(run: Result) -> str:
    """Return the model's name: AOE (digits), AOE (characters, late), periodic (sigma 0.3), boosted trees.

    Of AOE it says the form alone; where models of a table differ in other options, `names` adds them.
    """
    if run.embedding in CLASSICAL_MODELS:
        return CLASSICAL_MODELS[run.embedding].title
    if run.embedding == "adelic":
        return f"AOE ({form(run)})"
    words = options_in_words({**run.configuration.get("embedding", {}), "name": run.embedding})
    return run.embedding + (f" ({', '.join(words)})" if words else "")


def published_row(run: Result) -> Row | None:
    """Return the published figures of a run's dataset; None where its data are not those of the published split."""
    return None if run.split != "published" or chosen_data(run) else published_rows().get(run.row)


def _tokens(run: Result, reading: Mapping[str, str]) -> int | None:
    """Return how many tokens of training examples, [CLS] counted, vertices, or whole examples a network learned from.

    Images of examples do not count. None where that is not known: the model does not learn in epochs, or the task is
    not one of the registry.
    """
    epochs = run.configuration["recipe"].get("epochs")
    if epochs is None or run.n is None or run.edition is None or run.task not in tasks():
        return None
    length = _read_length(run.task, run.n, run.edition, reading.get("view"))
    return int(run.rows["train"] * epochs * n_tokens(reading.get("body", SEQUENCE), length))


@cache
def _read_length(task: str, n: int, edition: str, view: str | None) -> int:
    return find_task(task).read_length(n, edition, view)


def _has_other_precision(run: Result) -> bool:
    """Return whether a network was trained in another precision than the packaged recipe of its name says."""
    if run.recipe not in recipe_names():
        return False
    precision = stored(run.recipe, run.row)[0].get("compute", TrainConfig.compute)
    told = run.configuration["recipe"].get("compute", TrainConfig.compute)
    return bool((run.compute or told) != precision)


def recipe_family(run: Result, reading: Mapping[str, str]) -> str:
    """Return the recipe that a network shares with those that it is compared with, as `adelic reproduce` has it.

    A recipe that was searched for each dataset and embedding has a file for each; they are of one search. Networks that
    read another view of the examples, have another body, or trained for fewer epochs than their recipe has are compared
    among themselves.

    >>> from dataclasses import replace
    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> aoe = read_results(Path("experiments/results/demo"))[0]
    >>> names = "recipes/schubert-4-adelic.toml", "recipes/tuned/schubert-4-adelic-digits.toml", "quick"
    >>> [recipe_family(replace(aoe, recipe=name), {}) for name in names]
    ['recipes/{row}-{embedding}.toml', 'recipes/tuned/{row}-{embedding}.toml', 'quick']
    >>> recipe_family(aoe, {"body": "graph"})
    'quick --body graph'
    """
    options_read = "".join(f" --{name} {value}" for name, value in reading.items()) + _fewer_epochs(run)
    if not run.recipe.endswith(".toml"):
        return run.recipe + options_read
    path = PurePath(run.recipe)
    row = run.row if run.edition in (None, "published") else f"{run.row}-{run.edition}"
    stem = path.stem.replace(row, "{row}", 1)
    table = {**run.configuration.get("embedding", {}), "name": run.embedding}
    written = {embedding_in_paths(embedding_text(table, always=always)) for always in ((), ("features",))}
    written |= {f"{run.embedding}-{form(run).replace(', ', '-')}", run.embedding}
    # The longest first: adelic is a part of adelic-digits.
    found = next((name for name in sorted(written, key=len, reverse=True) if name in stem), None)
    stem = stem if found is None else stem.replace(found, "{embedding}", 1)
    return path.with_name(stem + path.suffix).as_posix() + options_read


def _fewer_epochs(run: Result) -> str:
    """Return the option of a run that had fewer epochs than the packaged recipe of its name, else nothing."""
    epochs = run.configuration["recipe"].get("epochs")
    if epochs is None or run.recipe not in recipe_names():
        return ""
    return f" --epochs {epochs}" if epochs < stored(run.recipe, run.row)[0].get("epochs", 0) else ""


def recipe_title(family: str) -> str:
    """Return a recipe family in a word or two: a packaged recipe's name, or the folder of those that were searched.

    >>> [recipe_title(name) for name in ("paper", "recipes/{row}-{embedding}.toml", "recipes/long/{row}.toml")]
    ['paper', 'tuned', 'long']
    >>> recipe_title("recipes/compact/{row}-{embedding}.toml"), recipe_title("compact --body graph")
    ('searched compact', 'compact, graph')
    >>> recipe_title("paper --epochs 3"), recipe_title("compact --body mlp --epochs 1")
    ('paper, 3 epochs', 'compact, mlp, 1 epoch')
    """
    name, *reading = family.split(" --")
    if name.endswith(".toml"):
        folder = PurePath(name).parent.name
        searched = f"searched {folder}" if folder in recipe_names() else folder
        name = "tuned" if folder in ("", "recipes") else searched
    words = [name]
    for option in reading:
        key, _, value = option.partition(" ")
        words.append(value if key != "epochs" else f"{value} epoch{'s' if value != '1' else ''}")
    return ", ".join(words)


_DEFAULTS = {
    f"{table}.{each.name}": each.default
    for table, described in (("recipe", TrainConfig), ("embedding", EmbeddingConfig))
    for each in fields(described)
    if each.compare and each.default is not MISSING
}


def settings(run: Result) -> dict[str, Any]:
    """Return all settings but the seed by dotted name; networks' files leave out those that have the default."""
    told = {name: value for name, value in run.configuration.items() if name != "seed"}
    return (_DEFAULTS if "d_model" in run.configuration["recipe"] else {}) | dict(flatten(told))


def names(models: pd.DataFrame) -> list[str]:
    """Return the models' labels; those with the same label also have the settings in which they differ.

    A value that more than half of them have is not named.

    >>> from pathlib import Path
    >>> from adelic_lab.report.files import read_results
    >>> names(model_frame(run_frame(read_results(Path("experiments/results/demo"))[1:])))
    ['learned, task=schubert, n=4', 'AOE (digits)', 'learned, task=weaving, n=6']
    """
    found: list[str] = []
    of_labels: dict[str, list[dict[str, Any]]] = {}
    every = list(map(settings, models.run))
    for name, mine in zip(models.label, every, strict=True):
        of_labels.setdefault(name, []).append(mine)
    for name, mine in zip(models.label, every, strict=True):
        others = of_labels[name]
        differing = [key for key in mine if 2 * sum(other.get(key) == mine[key] for other in others) <= len(others)]
        if len(differing) > 1:  # the name of a recipe says less than what is in it
            differing = [key for key in differing if key != "recipe.name"]
        full = ", ".join([name, *(_in_words(key, mine[key]) for key in differing)])
        while full in found:  # they differ in a setting that only one of them has
            full += "′"
        found.append(full)
    return found


def by_name(models: pd.DataFrame) -> pd.DataFrame:
    """Return the models with their `names` as a column and as the index."""
    return models.assign(name=names(models)).set_index("name", drop=False).rename_axis(None)


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


def form_alone(name: str) -> str:
    """Return a model's name, of AOE's the form alone, for a column that is of AOE.

    >>> form_alone("AOE (characters, late), dropout=0.07"), form_alone("learned, dropout=0.07")
    ('characters, late, dropout=0.07', 'learned, dropout=0.07')
    """
    return re.sub(r"^AOE \(([^)]*)\)", r"\1", name)


@dataclass(frozen=True)
class Comparison:
    """The models that ran on the same data (a dataset, edition and split) under one recipe, and equally many examples.

    Attributes:
        models: as in `model_frame`, by name: the label, with what tells two of the same label apart. The greatest mean
            test accuracy comes first; on contaminated data, which ranks nothing, they are in the order of names.
        recipe: see `recipe_family`; of models that no recipe trains, the name of their search.
        max_rows: most training examples that were allowed; None for all.
    """

    models: pd.DataFrame
    recipe: str
    max_rows: int | None = None

    @property
    def first(self) -> Any:
        """Return the line of one model, for what all have in common."""
        return self.models.iloc[0]

    @property
    def run(self) -> Result:
        """Return one run."""
        run: Result = self.first.run
        return run

    @property
    def heading(self) -> str:
        """Return what is compared, in few words: schubert-4, quick recipe, 300 training examples."""
        return f"{self.first.title}, {recipe_title(self.recipe)} recipe{self.fewer_examples}"

    @property
    def fewer_examples(self) -> str:
        """Return how many training examples were allowed, if not all were, after a comma: ", 300 training examples"."""
        return f", {self.max_rows:,} training examples" if self.max_rows is not None else ""

    @property
    def has_papers_recipe(self) -> bool:
        """Return whether the recipe is `paper`, for all of its epochs or fewer."""
        return self.recipe.partition(" --epochs")[0] == "paper"

    @property
    def has_network(self) -> bool:
        """Return whether a recipe trained one of the models."""
        return bool((self.models.kind != "outside").any())

    def trivial(self, rule: str) -> float | None:
        """Return the mean over all seeds of the test accuracy of a baseline, "majority", "lookup" or "rule".

        Where models of a seed had different examples to remember, as with images of examples and without, the best
        counts. None is returned where an older result lacks it.
        """
        runs = pd.concat(list(self.models.runs))
        return None if runs[rule].isna().any() else float(runs.groupby("seed")[rule].max().mean())

    @property
    def rules(self) -> dict[str, float | None]:
        """Return the mean test accuracies of the baselines, by their names; None where older results lack one."""
        return {name: self.trivial(rule) for name, rule in RULES.items()}

    def best(self, *, kinds: Sequence[str] = (), embeddings: Sequence[str] = ()) -> str | None:
        """Return the model with the best validation accuracy, of equal ones loss; test figures are not used.

        With the recipe `paper`, AOE is the paper's form, raw digits in one vector: other forms would be more trials
        than its rivals have there.

        Args:
            kinds: to choose from, see `_run`; all if none is given.
            embeddings: to choose from, in any form; all if none is given.
        """
        models = self.models
        if kinds:
            models = models[models.kind.isin(kinds)]
        if embeddings:
            models = models[models.embedding.isin(embeddings)]
        elif self.has_papers_recipe:
            models = models[~models.is_other_form]
        return max(models.index, key=self.score, default=None)

    def score(self, name: str) -> tuple[float, float]:
        """Return the mean validation accuracy, -1 where it is not told, and minus the loss, -inf where it is not."""
        accuracy, loss = self.models.loc[name, ["validation_accuracy", "validation_loss"]]
        if pd.isna(accuracy):
            return -1.0, float("-inf")
        return round(accuracy, 9), -loss  # rounded: equal means of other seeds are equal


def comparisons(runs: pd.DataFrame) -> list[Comparison]:
    """Return what may be compared: in the paper's order of datasets, then the recipe with the most models first.

    Models that no recipe trains (the majority class, boosted trees) stand beside those of every recipe. Rows with
    several targets, or a number, are left out.
    """
    if runs.empty:
        return []
    models = model_frame(runs)
    found = []
    of_one_class = models[models.exact_match.isna()]
    for (_, max_rows), group in of_one_class.groupby(["data", "max_rows"], sort=False, dropna=False):
        beside = group[group.kind == "outside"]
        recipes = [name for name in group.family.unique() if name]
        for recipe in recipes or [beside.recipe.iloc[0]]:
            chosen = pd.concat([group[group.family == recipe], beside]) if recipes else beside
            chosen = by_name(chosen)
            ranks = [] if chosen.contaminated.iloc[0] else ["accuracy"]
            chosen = chosen.sort_values([*ranks, "name"], ascending=[False] * len(ranks) + [True])
            found.append(Comparison(chosen, recipe, None if pd.isna(max_rows) else int(max_rows)))
    order = list(dict.fromkeys([*published_rows(), *(one.first.row for one in found)]))
    return sorted(
        found,
        key=lambda c: (order.index(c.first.row), place(c.first), -len(c.models), c.recipe, c.max_rows or 0),
    )


def place(model: Any) -> tuple[bool, str, bool, str]:
    """Return what sorts the titles of a dataset: the published edition first, of each edition the published split."""
    edition = model.edition or "published"
    return edition != "published", edition, model.split != "published", model.title


def on_most_rows(found: Iterable[Comparison]) -> list[Comparison]:
    """Return, for each dataset and recipe, the comparison on the most training examples, in the given order."""
    most: dict[tuple[str, str], Comparison] = {}
    for one in found:
        key = one.first.data, one.recipe
        if key not in most or (one.max_rows or float("inf")) > (most[key].max_rows or float("inf")):
            most[key] = one
    return list(most.values())


def changes(comparison: Comparison) -> tuple[str, dict[str, str]]:
    """Return the base of an ablation, and what each model changes of it that changes one thing alone.

    The base is the network from which most others of its embedding differ in one setting. A network with another
    embedding changes one thing, too, if all else is equal. The base's name comes first, then of each such model the
    change in words, as {"AOE (digits), coordinates=real": "coordinates=real"}; both are empty without networks.
    """
    networks = comparison.models[comparison.models.kind != "outside"]
    every = {name: settings(run) for name, run in networks.run.items()}
    found: dict[str, dict[str, str]] = {name: {} for name in every}
    for base, mine in every.items():
        for name, theirs in every.items():
            differing = [key for key in sorted(mine.keys() | theirs.keys()) if mine.get(key) != theirs.get(key)]
            same = networks.embedding[base] == networks.embedding[name]
            if not same and all(key.startswith("embedding.") for key in differing):
                found[base][name] = networks.label[name]
            elif len(differing) == 1:
                found[base][name] = _in_words(differing[0], theirs.get(differing[0]))
    own = {base: sum(networks.embedding[base] == networks.embedding[name] for name in of) for base, of in found.items()}
    base = max(own, key=lambda name: own[name], default="")
    return base, found.get(base, {})
