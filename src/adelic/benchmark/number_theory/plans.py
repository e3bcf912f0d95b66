"""Plans: the series of a benchmark of drawn tasks, as data in TOML."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adelic.benchmark.arithmetic.plans import parsed_plan
from adelic.data import DrawnData, DrawnTask, drawn_task
from adelic.errors import ConfigurationError
from adelic.training import EmbeddingConfig, Experiment, SolverConfig, Steps, load_recipe

_RUN = {"label", "data", "embedding", "recipe", "solver", "steps", "seeds", "published"}
_EVERY = "every-task"


@dataclass(frozen=True)
class Series:
    """The runs of one model on one task, which differ in the seed alone.

    Attributes:
        label: of the model, in words.
        experiments: one a seed.
        published: the figure that others have published for this task, in words; None where it stands at no run.
    """

    label: str
    experiments: tuple[Experiment, ...]
    published: str | None = None

    @property
    def task(self) -> str:
        """Return the name of the task."""
        return self.experiments[0].questions.task

    @property
    def heading(self) -> str:
        """Return the name of the task, and what it asks for with its options: what tables call it."""
        return f"`{self.task}`: {self.asked.title}"

    @property
    def is_usual_gcd(self) -> bool:
        """Return whether these are divisors with log-uniform outcomes, which the pictures show."""
        return self.task == "gcd" and not self.experiments[0].questions.task_options

    @property
    def asked(self) -> DrawnTask:
        """Return the task with its options."""
        return self.experiments[0].questions.drawn

    @property
    def examples(self) -> int:
        """Return how many questions are trained on."""
        return self.experiments[0].questions.examples

    def at_most(self, examples: int) -> "Series":
        """Return the series with this number of questions to train on, or fewer where it has fewer."""
        fewer = (
            replace(one, data=replace(one.questions, examples=min(examples, self.examples))) for one in self.experiments
        )
        return replace(self, experiments=tuple(fewer))

    def seeds(self, wanted: Collection[int]) -> "Series":
        """Return the series with some seeds, perhaps none."""
        return replace(self, experiments=tuple(one for one in self.experiments if one.seed in wanted))


def read_plan(source: str | Path, package: str = __package__) -> list[Series]:
    """Return the series of a plan, in the order of tables.

    A plan's file has a table for each task, and in it a list `run` of tables: `label`, `seeds` (how many, from 0),
    `data` (fields of `adelic.data.DrawnData`), and either `embedding` (fields of `EmbeddingConfig`, with its name) and
    `recipe` (changes to the recipe "fresh"), or `solver` and `steps`. AOE has the primes and digits that the task asks
    for unless others stand there. One of the runs on a task, with its options, may have `published`: the figure that
    others have published for it, in words.

    Where all models are run on all tasks, the file has one table `every-task` instead: `tasks`, what the runs have in
    common (`seeds`, `data`, `recipe`), and a list `run` of tables, each with what it has of its own, and with `tasks`
    where it is for some of them only.

    Args:
        source: "full", "quick", or the path of a file.
        package: where "full" and "quick" stand.

    Raises:
        ConfigurationError: the file is missing, or says something else, or names no task or model.

    >>> {series.task for series in read_plan("quick")} <= {series.task for series in read_plan("full")}
    True
    """
    return parsed_plan(source, package, _series)


def _series(tables: dict[str, Any]) -> Iterator[Series]:
    for task, run in _runs(tables):
        drawn_task(task)
        if set(run) - _RUN:
            raise ConfigurationError(f"a run has no key {', '.join(sorted(set(run) - _RUN))}")
        data = DrawnData(task, **{key: _tuple(value) for key, value in run["data"].items()})
        runs = tuple(_experiment(run, data, seed) for seed in range(run["seeds"]))
        yield Series(run["label"], runs, run.get("published"))


def _runs(tables: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the runs of a plan's tables, each behind its task."""
    for name, table in tables.items():
        if name != _EVERY:
            yield from ((name, run) for run in table["run"])
            continue
        common = {key: value for key, value in table.items() if key not in ("tasks", "run")}
        for task in table["tasks"]:
            for run in table["run"]:
                own = {key: value for key, value in run.items() if key != "tasks"}
                if task in run.get("tasks", table["tasks"]):
                    yield task, common | own


def _experiment(run: dict[str, Any], data: DrawnData, seed: int) -> Experiment:
    if "solver" in run:
        return Experiment(
            data=data, model=SolverConfig(name=run["solver"]), recipe=Steps(steps=run["steps"]), seed=seed
        )
    given = {key: _tuple(value) for key, value in run["embedding"].items()}
    if "precision" in given and isinstance(given["precision"], dict):
        given["precision"] = {int(p): digits for p, digits in given["precision"].items()}
        given.setdefault("primes", tuple(given["precision"]))
    recipe = load_recipe("fresh", data.row, **run.get("recipe", {}))
    model = EmbeddingConfig.choose({}, space=data.space, d_model=recipe.d_model, **given)
    return Experiment(data=data, model=model, recipe=recipe, seed=seed)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def choose(
    plan: Iterable[Series], *, tasks: Collection[str] | None = None, seeds: Collection[int] | None = None
) -> list[Series]:
    """Return the series of these tasks, with these seeds; None is all.

    Raises:
        UnknownNameError: there is no such task.
        ConfigurationError: no run is left.

    >>> {series.task for series in choose(read_plan("full"), tasks=["gcd"], seeds=[0])}
    {'gcd'}
    """
    for name in tasks or ():
        drawn_task(name)
    chosen = [series for series in plan if tasks is None or series.task in tasks]
    chosen = [series if seeds is None else series.seeds(seeds) for series in chosen]
    chosen = [series for series in chosen if series.experiments]
    if not chosen:
        raise ConfigurationError("the plan has no run of these tasks and seeds")
    return chosen


def experiments(plan: Iterable[Series]) -> list[Experiment]:
    """Return all experiments of some series, seed by seed, so that each model has a figure soon.

    >>> experiments([])
    []
    """
    listed = [(one.seed, i, one) for i, series in enumerate(plan) for one in series.experiments]
    return [one for _, _, one in sorted(listed, key=lambda entry: entry[:2])]
