"""A matrix of runs, datasets × embeddings × seeds: each resumable in its run folder, results in one folder."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adelic.data.registry import task as find_task
from adelic.data.sources import TaskData
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.storage.options import options
from adelic_lab.config.embedding import EmbeddingConfig, embedding_in_paths
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import Classical, RandomSearch
from adelic_lab.models import obstacle
from adelic_lab.report.files import finished, write_result
from adelic_lab.report.published import published_rows, split_row
from adelic_lab.results.result import Result
from adelic_lab.runs.engines import EmbeddedEngine, Engine, Execution, OnRun

_Maker = Callable[[TaskData, str], Experiment]


def parse_embedding(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of the embedding that a text means: adelic, learned, adelic:characters.

    The form of AOE's places follows its features, or replaces them. Other options follow their names,
    as periodic:sigma=0.3 and fone:bases=2-5:standardize. A name that is unknown is an UnknownNameError, anything else
    that does not fit a ConfigurationError.

    >>> parse_embedding("adelic:one-hot-digits:apart"), parse_embedding("adelic:late")
    (('adelic', {'features': 'one-hot-digits', 'places': 'apart'}), ('adelic', {'places': 'late'}))
    >>> parse_embedding("fone:bases=2-5:standardize")
    ('fone', {'bases': '2-5', 'standardize': True})
    """
    known = options(EmbeddingConfig)
    name, *words = text.split(":")
    given, parts = [], []
    for word in words:
        key, is_given, value = word.partition("=")
        if is_given and key not in known:
            raise UnknownNameError.of("option", key, known)
        if not is_given and (key not in known or known[key].kind is not bool):
            parts.append(word)
        else:
            given.append((key, known[key].parse(value) if is_given else True))
    if len({key for key, _ in given}) < len(given):
        raise ConfigurationError(f"{text!r} gives an option twice; give it once")
    if parts and parts[-1] in known["places"].choices:
        given.append(("places", parts.pop()))
    if len(parts) > 1:
        raise ConfigurationError(f"{text!r} is not an embedding; write adelic:characters or adelic:characters:late")
    return name, {**({"features": parts[0]} if parts and parts[0] else {}), **dict(given)}


def plan(
    rows: Iterable[str],
    embeddings: Iterable[str],
    seeds: Iterable[int],
    *,
    recipe: str = "paper",
    edition: str = "published",
    split: str = "published",
    changes: dict[str, Any] | None = None,
) -> list[Experiment]:
    """Return the configurations of a matrix of runs, dataset by dataset, each once.

    Args:
        rows: names such as "schubert-4", or "kl-5" of the further datasets; all of the paper's table if empty.
        embeddings: texts for `parse_embedding`.
        seeds: seeds of the runs.
        recipe: name of a packaged recipe, or path of a recipe's file, in which {row} (with the edition, unless that is
            the published one: schubert-4-corrected) and {embedding} mean the
            names of each dataset and embedding.
        edition: of the data.
        split: of the data, "published" or "orbits".
        changes: fields of the recipe to override.

    Raises:
        UnknownNameError: a dataset, embedding or recipe does not exist.
        ConfigurationError: no embedding or no seed is given.

    >>> [config.embedding.label for config in plan(["schubert-4"], ["adelic:characters", "learned"], [0])]
    ['adelic-characters', 'learned']
    """

    def of(data: TaskData, text: str) -> Experiment:
        row = data.row if edition == "published" else f"{data.row}-{edition}"
        path = recipe.replace("{row}", row).replace("{embedding}", embedding_in_paths(text))
        embedding, given = parse_embedding(text)
        return Experiment.choose(data, recipe=path, embedding=embedding, **(changes or {}), **given)

    return _planned("embedding", _data(rows, edition, split), embeddings, seeds, of)


def plan_classical(
    rows: Iterable[str],
    models: Iterable[str],
    seeds: Iterable[int],
    *,
    edition: str = "published",
    split: str = "published",
    **search: Any,
) -> list[Experiment]:
    """Return the runs of models outside the Transformer, dataset by dataset, each once.

    Args:
        rows: as for `plan`.
        models: names of `adelic_lab.CLASSICAL_MODELS`.
        seeds: seeds of the runs; a model's search is the same for all.
        edition: of the data.
        split: of the data, "published" or "orbits".
        search: fields of `RandomSearch`.

    Raises:
        UnknownNameError: a dataset, an edition or a model does not exist.
        ConfigurationError: no model or no seed is given, or a dataset has several targets or a number.

    >>> [config.label for config in plan_classical(["schubert-4"], ["logistic", "majority"], [0])]
    ['schubert-4-logistic-search-...-seed0', 'schubert-4-majority-search-...-seed0']
    """

    def of(data: TaskData, name: str) -> Experiment:
        return Experiment(data=data, model=Classical(name=name), recipe=RandomSearch(**search))

    return _planned("model", _data(rows, edition, split), models, seeds, of)


def _data(rows: Iterable[str], edition: str, split: str) -> Iterator[TaskData]:
    """Yield the data of datasets, of all datasets of the paper's table if none is named."""
    for row in list(rows) or list(published_rows()):
        task, n = split_row(row)
        find_task(task).check_edition(edition)
        yield TaskData(task, n, edition, split)


def _planned(
    what: str, rows: Iterator[TaskData], names: Iterable[str], seeds: Iterable[int], of: _Maker
) -> list[Experiment]:
    """Return the runs of datasets by names by seeds, each once; `of` makes one of a dataset and name, any seed."""
    chosen, wanted = list(names), list(seeds)
    if not chosen or not wanted:
        raise ConfigurationError(f"a matrix of runs needs at least one {what} and one seed")
    made = (of(data, name) for data in rows for name in chosen)
    planned = (replace(one, seed=seed) for one in made for seed in wanted)
    return list(dict.fromkeys(planned))


def run_matrix(
    configs: Sequence[Experiment], *, results: Path, on_run: OnRun, engine: Engine | None = None, **how: Any
) -> list[Result]:
    """Run (or resume) every configuration that has no result yet; write each result to `results` as it is there.

    Args:
        configs: what to run, in this order; with a budget, the run with the least work left comes first.
        results: folder of the result files, one per dataset; a run that has a result there is not run again.
        on_run: called with (index, count, configuration), gives the context in which a run's ticks are shown.
        engine: what executes the runs; the embedded engine by default.
        how: `runs`, the folder of the run folders; `budget`, the time by which to stop (a run that it stops goes on
            from its checkpoint when it is run again); `device` and `tensorboard`, as for `adelic_lab.run`.

    Returns:
        The results that there are, in the order of `configs`: with a budget, perhaps not of all, and none of a solver
        that cannot express the problem.

    >>> from adelic.data import TaskData
    >>> import contextlib, tempfile
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-3", epochs=1, batch_size=256)
    >>> config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("learned"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as name:
    ...     silent = lambda index, count, config: contextlib.nullcontext()
    ...     (result,) = run_matrix([config], runs=Path(name, "runs"), results=Path(name, "results"), on_run=silent)
    >>> result.test.keys()
    dict_keys(['accuracy', 'balanced_accuracy', 'macro_f1', 'loss', 'calibration_error'])
    """
    found = finished(configs, results)
    left = _left(configs, found)
    execution = Execution(**{name: value for name, value in how.items() if value is not None})
    if how.get("budget") is not None:
        left.sort(key=lambda config: outstanding_work(config, execution.runs))
    for config, result in (engine or EmbeddedEngine()).execute(left, execution, on_run):
        write_result(results, config, result)
        found[config] = result
    return [found[config] for config in configs if config in found]


def outstanding(configs: Iterable[Experiment], results: Path) -> list[Experiment]:
    """Return the runs without a result in a folder, except those whose solver cannot express the problem.

    Raises:
        RunFolderError: a file is damaged.
        StorageError: it cannot be read.
        ConfigurationError: a solver cannot be imported.

    >>> len(outstanding(plan(["schubert-4"], ["learned"], [0, 1]), Path("no folder")))
    2
    """
    listed = list(configs)
    return _left(listed, finished(listed, results))


def _left(configs: Iterable[Experiment], there: Container[Experiment]) -> list[Experiment]:
    """Return the missing configurations, except those whose solver cannot express the problem."""
    return [one for one in configs if one not in there and not obstacle(one)]


def outstanding_work(config: Experiment, runs: Path) -> float:
    """Return about how many multiplications the forward passes that a run still has to do take.

    Fits of models outside the Transformer count as one pass of a linear model and come first.

    >>> small, large = plan(["schubert-4", "schubert-5"], ["learned"], [0])
    >>> outstanding_work(small, Path("no runs")) < outstanding_work(large, Path("no runs"))
    True
    """
    done, whole, _ = config.parts_done(runs)
    return (whole - done) / whole * config.model.work(config)
