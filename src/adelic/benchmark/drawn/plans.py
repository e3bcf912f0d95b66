"""Plans: the runs of a benchmark of drawn tasks, as data in TOML; and running what is left of them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from adelic.benchmark.engines import Budget, OnRun, WorkersEngine
from adelic.benchmark.matrix import outstanding, run_matrix
from adelic.data import DrawnData, DrawnTask, drawn_task
from adelic.errors import AdelicError, ConfigurationError
from adelic.storage.checks import check_count
from adelic.storage.files import read_bytes
from adelic.storage.records import DamagedTextError, parse_toml
from adelic.training import EmbeddingConfig, Experiment, SolverConfig, Steps, load_recipe
from adelic.training.solvers import SOLVER_MODULES

MOST_RUNS = 1_000_000
PACKAGED = ("full", "quick")
_OWN = "own"
_EVERY = "every-task"
_CASES = ("test_cases", "confirmation_cases", "never_seen_cases")
_OF_PARTS = {"seeds", "steps", "part", *_CASES}
_PART = {"problems", "solvers", "examples"}
_RUN = {"label", "data", "embedding", "recipe", "solver", "steps", "seeds", "published"}


@dataclass(frozen=True)
class Series:
    """The runs of one model on one task, which differ in the seed alone.

    Attributes:
        label: of the model, in words; of a solver in a part, its name.
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
    def model(self) -> str:
        """Return the name of the solver, or of the embedding."""
        return self.experiments[0].model.name

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


def read_plan(source: str | Path, package: str, *, own_solvers: Iterable[str] = ()) -> list[Series]:
    """Return the series of a plan, each once, in the order of tables.

    A plan's file lists runs in one of three ways, which may stand beside each other:

    - A table for each task, and in it a list `run` of tables: `label`, `seeds` (how many, from 0), `data` (fields of
      `adelic.data.DrawnData`), and either `embedding` (fields of `EmbeddingConfig`, with its name) and `recipe`
      (changes to the recipe "fresh"), or `solver` and `steps`. AOE has the primes and digits that the task asks for
      unless others stand there. One of the runs on a task, with its options, may have `published`: the figure that
      others have published for it, in words.
    - Where all models are run on all tasks, one table `every-task`: `tasks`, what the runs have in common (`seeds`,
      `data`, `recipe`), and a list `run` of tables, each with what it has of its own, and with `tasks` where it is for
      some of them only.
    - Of solvers, which have no options, tables [[part]] with `problems`, `examples` and optionally `solvers` (all by
      default): every solver is run on every problem from each number of examples. Beside them stand `seeds`,
      optionally `test_cases`, `confirmation_cases` and `never_seen_cases`, and a table [steps]: in it each solver, or
      `default`, has a table from numbers of examples to numbers of steps; a size that is not listed has the steps of
      the next smaller one that is.

    The modules of solvers that a plan names are imported when it is run, so a plan is code.

    Args:
        source: "full" or "quick", which stand in the package, or the path of a file.
        package: of the packaged plans.
        own_solvers: further solvers ("module:Class"), for the parts that name no solvers, or "own".

    Raises:
        ConfigurationError: the file is missing, or says something else, or names no task or model.

    >>> [series.task for series in read_plan("quick", "adelic.benchmark.number_theory")][0]
    'gcd'
    """
    if source in PACKAGED:
        content: bytes | None = resources.files(package).joinpath(f"{source}.toml").read_bytes()
    else:
        content = read_bytes(Path(source))
    if content is None:
        raise ConfigurationError(f"there is no plan {str(source)!r}; name a TOML file")
    try:
        tables = parse_toml(content)
        of_parts = {key: tables.pop(key) for key in _OF_PARTS & set(tables)}
        return list(dict.fromkeys([*_of_parts(of_parts, list(own_solvers)), *_of_runs(tables)]))
    except AdelicError as error:
        raise ConfigurationError(f"the plan {source}: {error}") from None
    except DamagedTextError as error:
        raise ConfigurationError(f"{source} is not a plan: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"{source} is not a plan ({type(error).__name__}: {error})") from None


def _of_parts(table: dict[str, Any], own_solvers: list[str]) -> Iterator[Series]:
    """Yield the series of a plan's parts."""
    if not table:
        return
    cases = {key: table[key] for key in _CASES if key in table}
    seeds = check_count("seeds", table["seeds"], least=0, greatest=MOST_RUNS)
    count = 0
    for part in table["part"]:
        if set(part) - _PART:
            raise ConfigurationError(f"a part has the keys problems, solvers, examples, not {', '.join(sorted(part))}")
        named = part.get("solvers", [*SOLVER_MODULES, _OWN])
        solvers = [*(solver for solver in named if solver != _OWN), *(own_solvers if _OWN in named else [])]
        models = [SolverConfig(name=solver) for solver in solvers]
        count += len(part["problems"]) * len(models) * len(part["examples"]) * seeds
        if count > MOST_RUNS:
            raise ConfigurationError(f"seeds={seeds} make {count:,} runs of this plan; {MOST_RUNS:,} are the most")
        for name in part["problems"]:
            drawn_task(name)
            for model in models:
                for examples in part["examples"]:
                    recipe = Steps(steps=_steps(table["steps"], model.name, examples))
                    data = DrawnData(name, examples, **cases)
                    runs = (Experiment(data=data, model=model, recipe=recipe, seed=seed) for seed in range(seeds))
                    yield Series(model.name, tuple(runs))


def _steps(table: dict[str, dict[str, int]], solver: str, examples: int) -> int:
    """Return the steps of training for a number of examples."""
    listed = {int(size): steps for size, steps in table.get(solver, table["default"]).items()}
    reached = [size for size in listed if size <= examples]
    if not reached:
        raise ConfigurationError(f"[steps] gives no number of steps for {solver} with {examples} examples")
    return listed[max(reached)]


def _of_runs(tables: dict[str, Any]) -> Iterator[Series]:
    """Yield the series of a plan's runs."""
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
        if not isinstance(table, dict):
            raise ConfigurationError(f"a plan has no key {name}")
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
    plan: Iterable[Series],
    *,
    tasks: Collection[str] | None = None,
    solvers: Collection[str] | None = None,
    examples: Collection[int] | None = None,
    seeds: Collection[int] | None = None,
) -> list[Series]:
    """Return the series of these tasks, solvers and sizes, with these seeds; None is all.

    Raises:
        UnknownNameError: a task or solver is unknown.
        ConfigurationError: no run is left.

    >>> plan = read_plan("full", "adelic.benchmark.arithmetic")
    >>> len(experiments(choose(plan, tasks=["addition"], solvers=["fone"], examples=[100])))
    5
    """
    for name in tasks or ():
        drawn_task(name)
    for name in solvers or ():
        SolverConfig(name=name)
    chosen = [
        series if seeds is None else series.seeds(seeds)
        for series in plan
        if (tasks is None or series.task in tasks)
        and (solvers is None or series.model in solvers)
        and (examples is None or series.examples in examples)
    ]
    chosen = [series for series in chosen if series.experiments]
    if not chosen:
        sizes = "" if solvers is None and examples is None else ", solvers, sizes"
        raise ConfigurationError(f"the plan has no run of these tasks{sizes} and seeds")
    return chosen


def experiments(plan: Iterable[Series]) -> list[Experiment]:
    """Return all experiments of some series, seed by seed, so that each model has a figure soon.

    >>> experiments([])
    []
    """
    listed = [(one.seed, i, one) for i, series in enumerate(plan) for one in series.experiments]
    return [one for _, _, one in sorted(listed, key=lambda entry: entry[:2])]


def run_plan(
    chosen: Iterable[Experiment],
    *,
    runs: Path,
    results: Path,
    workers: int,
    budget: Budget | None = None,
    on_run: OnRun,
) -> int:
    """Run the experiments that have no result yet, but for those whose solver cannot express the problem.

    Args:
        chosen: what to run; with a budget, the shortest trainings come first.
        runs: folder of the run folders.
        results: folder of the result files.
        workers: how many processes.
        budget: the time by which to stop.
        on_run: as for `run_matrix`.

    Returns:
        How many experiments have no result yet: 0, or more where the budget was spent.

    Raises:
        ConfigurationError: there are too many or too few workers, or a solver cannot be imported.
        Interrupted: a signal asked to stop; what was finished is saved.
        WorkerError: a solver of your own has failed, or a process was ended from outside.

    >>> run_plan([], runs=Path("runs"), results=Path("results"), workers=1, on_run=lambda *_: None)
    0
    """
    engine, waiting = WorkersEngine(workers), outstanding(chosen, results)
    found = run_matrix(waiting, runs=runs, results=results, device="cpu", engine=engine, budget=budget, on_run=on_run)
    return len(waiting) - len(found)
