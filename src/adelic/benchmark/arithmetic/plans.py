"""Plans: which experiments the arithmetic benchmark has, as data in TOML; and running what is left of them."""

from collections.abc import Callable, Collection, Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from adelic.benchmark.engines import Budget, OnRun, WorkersEngine
from adelic.benchmark.matrix import outstanding, run_matrix
from adelic.data import DrawnData, drawn_task
from adelic.errors import AdelicError, ConfigurationError
from adelic.storage.checks import check_count
from adelic.storage.files import read_bytes
from adelic.storage.records import DamagedTextError, parse_toml
from adelic.training import Experiment, SolverConfig, Steps
from adelic.training.solvers import SOLVER_MODULES

T = TypeVar("T")
MOST_RUNS = 1_000_000
PACKAGED = ("full", "quick")
_OWN = "own"
_CASES = ("test_cases", "confirmation_cases", "never_seen_cases")


def read_plan(source: str | Path, *, own_solvers: Iterable[str] = ()) -> list[Experiment]:
    """Return the experiments of a plan, each once, in the order of tables.

    A plan's file has `seeds` (how many, from 0), optionally `test_cases`, `confirmation_cases` and `never_seen_cases`,
    a table [steps] (see below) and tables [[part]] with `problems`, `examples` and optionally `solvers` (all by
    default). In [steps] each solver, or `default`, has a table from numbers of examples to numbers of steps: a size
    that is not listed has the steps of the next smaller one that is. The modules of solvers that it names are imported
    when it is run, so a plan is code.

    Args:
        source: "full", "quick", or the path of a file.
        own_solvers: further solvers ("module:Class"), for the parts that name no solvers, or "own".

    Raises:
        ConfigurationError: the file is missing, or says something else, or names no problem or solver.

    >>> sorted({experiment.seed for experiment in read_plan("full")})
    [0, 1, 2, 3, 4]
    """
    return list(dict.fromkeys(parsed_plan(source, __package__, lambda table: _experiments(table, list(own_solvers)))))


def parsed_plan(source: str | Path, package: str, read: Callable[[dict[str, Any]], Iterable[T]]) -> list[T]:
    """Return what a function reads from a plan's TOML.

    Args:
        source: "full" or "quick", which stand in the package, or the path of a file.
        package: of the packaged plans.
        read: from the tables of the file to what is wanted.

    Raises:
        ConfigurationError: the file is missing, or is not what the function reads.

    >>> parsed_plan("quick", "adelic.benchmark.arithmetic", lambda table: [table["seeds"]])
    [1]
    """
    if source in PACKAGED:
        content: bytes | None = resources.files(package).joinpath(f"{source}.toml").read_bytes()
    else:
        content = read_bytes(Path(source))
    if content is None:
        raise ConfigurationError(f"there is no plan {str(source)!r}; name a TOML file")
    try:
        return list(read(parse_toml(content)))
    except AdelicError as error:
        raise ConfigurationError(f"the plan {source}: {error}") from None
    except DamagedTextError as error:
        raise ConfigurationError(f"{source} is not a plan: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"{source} is not a plan ({type(error).__name__}: {error})") from None


def _experiments(table: dict[str, Any], own_solvers: list[str]) -> Iterator[Experiment]:
    """Yield the experiments of a parsed plan."""
    unknown = set(table) - {"seeds", "steps", "part", *_CASES}
    if unknown:
        raise ConfigurationError(f"a plan has no key {', '.join(sorted(unknown))}")
    cases = {key: table[key] for key in _CASES if key in table}
    seeds = check_count("seeds", table["seeds"], least=0, greatest=MOST_RUNS)
    count = 0
    for part in table["part"]:
        if set(part) - {"problems", "solvers", "examples"}:
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
                    for seed in range(seeds):
                        yield Experiment(data=data, model=model, recipe=recipe, seed=seed)


def _steps(table: dict[str, dict[str, int]], solver: str, examples: int) -> int:
    """Return the steps of training for a number of examples."""
    listed = {int(size): steps for size, steps in table.get(solver, table["default"]).items()}
    reached = [size for size in listed if size <= examples]
    if not reached:
        raise ConfigurationError(f"[steps] gives no number of steps for {solver} with {examples} examples")
    return listed[max(reached)]


def choose(
    experiments: Iterable[Experiment],
    *,
    problems: Collection[str] | None = None,
    solvers: Collection[str] | None = None,
    examples: Collection[int] | None = None,
    seeds: Collection[int] | None = None,
) -> list[Experiment]:
    """Return the experiments with these problems, solvers, sizes and seeds; None is all.

    Raises:
        UnknownNameError: a problem or solver is unknown.
        ConfigurationError: no experiment is left.

    >>> len(choose(read_plan("full"), problems=["addition"], solvers=["fone"], examples=[100]))
    5
    """
    for name in problems or ():
        drawn_task(name)
    for name in solvers or ():
        SolverConfig(name=name)
    chosen = [
        one
        for one in experiments
        if (problems is None or one.data.task in problems)
        and (solvers is None or one.model.name in solvers)
        and (examples is None or one.questions.examples in examples)
        and (seeds is None or one.seed in seeds)
    ]
    if not chosen:
        raise ConfigurationError("the plan has no run with these problems, solvers, sizes and seeds")
    return chosen


def run_plan(
    experiments: Iterable[Experiment],
    *,
    runs: Path,
    results: Path,
    workers: int,
    budget: Budget | None = None,
    on_run: OnRun,
) -> int:
    """Run the experiments that have no result yet, but for those whose solver cannot express the problem.

    Args:
        experiments: what to run; with a budget, the shortest trainings come first.
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
    engine, waiting = WorkersEngine(workers), outstanding(experiments, results)
    found = run_matrix(waiting, runs=runs, results=results, device="cpu", engine=engine, budget=budget, on_run=on_run)
    return len(waiting) - len(found)
