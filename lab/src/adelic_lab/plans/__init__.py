"""Plans: the runs of a benchmark of drawn tasks, as data in TOML, and their reports.

A further benchmark is a folder of this package with two plans, full.toml and quick.toml, a module of
`adelic_lab.report` with a function `show` from series to a `Report`, and a command in `BENCHMARKS` of
`adelic_lab.cli.reproduce`. Examples are `adelic_lab.report.arithmetic`, `number_theory` and `columns`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from adelic.data import DrawnData, SampledTask, drawn_task
from adelic.errors import AdelicError, ConfigurationError
from adelic.storage.checks import check_count
from adelic.storage.files import atomic_write, read_bytes, storage_errors
from adelic.storage.records import DamagedTextError, parse_toml
from adelic_lab.config.embedding import EmbeddingConfig
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.models import SolverConfig, Steps
from adelic_lab.config.options import check_table
from adelic_lab.config.recipes import TrainConfig, load_recipe
from adelic_lab.models.solvers import build_solver
from adelic_lab.report.files import fill, finished
from adelic_lab.results.result import Result

__all__ = ["Report", "Series", "choose", "experiments", "gather", "read_plan", "write_report"]
MOST_RUNS = 1_000_000
PACKAGED = ("full", "quick")
_OWN = "own"
_KEYS = {"tasks", "label", "published", "seeds", "examples", "data"}
_KEYS |= {"solvers", "steps", "solver_recipe", "embedding", "recipe"}


@dataclass(frozen=True)
class Series:
    """The runs of one model on one task, one per seed.

    Attributes:
        label: of the model, in words, or its name.
        experiments: one per seed.
        published: the figure that others have published for this task, in words; None if the plan gives none here.
        results: of the finished runs, see `gather`.
        obstacle: why the solver cannot express the task and has no results; None if it can.

    >>> series = read_plan("quick", "number-theory")[0]
    >>> series.task, series.model, series.examples, series.label
    ('gcd', 'adelic', 60000, 'local–global')
    """

    label: str
    experiments: tuple[Experiment, ...]
    published: str | None = None
    results: tuple[Result, ...] = ()
    obstacle: str | None = None

    @property
    def task(self) -> str:
        """Return the name of the task."""
        return self.experiments[0].questions.task

    @property
    def heading(self) -> str:
        """Return the name of the task, and what it asks for with its options: what tables call it."""
        return f"`{self.task}`: {self.title}"

    @property
    def title(self) -> str:
        """Return what the task asks for, with its options."""
        return self.asked.title

    @property
    def asked(self) -> SampledTask:
        """Return the task with its options."""
        return self.experiments[0].questions.drawn

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options of the task that are not its defaults."""
        return self.experiments[0].questions.task_options

    @property
    def model(self) -> str:
        """Return the name of the solver, or of the embedding."""
        return self.experiments[0].model.name

    @property
    def examples(self) -> int:
        """Return how many questions are trained on."""
        return self.experiments[0].questions.examples

    def accuracies(self, split: str = "test") -> list[float]:
        """Return the share of exact answers on a split, one per seed that was run."""
        return [result.figures(split)["accuracy"] for result in self.results]

    def at_most(self, examples: int) -> "Series":
        """Return the series with this number of questions to train on, or fewer where it has fewer."""
        fewer = (
            replace(one, data=replace(one.questions, examples=min(examples, self.examples))) for one in self.experiments
        )
        return replace(self, experiments=tuple(fewer))

    def seeds(self, wanted: Collection[int]) -> "Series":
        """Return the series with some seeds, perhaps none."""
        return replace(self, experiments=tuple(one for one in self.experiments if one.seed in wanted))


def read_plan(source: str | Path, benchmark: str | None = None, *, own_solvers: Iterable[str] = ()) -> list[Series]:
    """Return the series of a plan, each once, in the order of tables.

    A plan's file lists parts, [[part]]. Each part may list runs, `run`; without them it is one run. Keys above the
    parts hold for all parts, and keys of a part for its runs. The more specific value counts, in tables key by key. A
    run has:

    - `tasks`: names, in a run some of its part's. All runs of a part are made on one task, then on the next;
    - `examples`: a list of numbers of training questions, and `data`: further fields of `adelic.data.DrawnData`;
    - `seeds`: how many, from 0;
    - `solvers`: a list of names; "own" means your own solvers. `steps` of their training is a number, or a table in
      which each solver, or `default`, has a table from numbers of examples to numbers of steps; a size that is not
      listed takes the steps of the next smaller one. `solver_recipe` has fields of `adelic_lab.Steps`, such as a rate;
      its steps override `steps`;
    - or, for a network, `embedding`: fields of `EmbeddingConfig`, with its name, and `recipe`: changes to the recipe
      "fresh". AOE has the primes and digits of the task unless others are given;
    - `label`: of the model in words, by default its name; and `published`, in one of the runs on a task with its
      options: the figure that others have published for it, in words.

    A plan may name modules of solvers, which are imported: treat it as code.

    Args:
        source: "full" or "quick" of a benchmark, or the path of a file.
        benchmark: its name, as "number-theory"; None if the source is a path.
        own_solvers: solvers ("module:Class") for the name "own".

    Raises:
        ConfigurationError: the file is missing or malformed, or names no task or model.

    >>> [series.task for series in read_plan("quick", "number-theory")][0]
    'gcd'
    """
    if benchmark is not None and source in PACKAGED:
        content: bytes | None = resources.files("adelic_lab.plans").joinpath(benchmark, f"{source}.toml").read_bytes()
    else:
        content = read_bytes(Path(source), streams=True)
    if content is None:
        raise ConfigurationError(f"there is no plan {str(source)!r}; name a TOML file")
    try:
        return list(dict.fromkeys(_series(parse_toml(content), list(own_solvers))))
    except AdelicError as error:
        raise ConfigurationError(f"the plan {source}: {error}") from None
    except DamagedTextError as error:
        raise ConfigurationError(f"{source} is not a plan: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"{source} is not a plan ({type(error).__name__}: {error})") from None


def _series(plan: dict[str, Any], own_solvers: list[str]) -> Iterator[Series]:
    """Yield the series of a parsed plan."""
    count = 0
    for task, run in _runs(plan):
        drawn_task(task)
        named = run.get("solvers", [None])
        solvers = [*(name for name in named if name != _OWN), *(own_solvers if _OWN in named else [])]
        sizes = run.get("examples", [DrawnData.examples])
        seeds = check_count("seeds", run["seeds"], least=1, greatest=MOST_RUNS)
        count += len(solvers) * len(sizes) * seeds
        if count > MOST_RUNS:
            raise ConfigurationError(f"seeds={seeds} make more than {MOST_RUNS:,} runs of this plan; give fewer")
        for solver, examples in product(solvers, sizes):
            data = DrawnData(task, examples, **_fields(run.get("data", {})))
            model, recipe = _network(run, data) if solver is None else _trained(run, solver, examples)
            runs = (Experiment(data=data, model=model, recipe=recipe, seed=seed) for seed in range(seeds))
            yield Series(run.get("label", model.name), tuple(runs), run.get("published"))


def _runs(plan: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each task of each run with all keys of the run, its part and the plan."""
    parts = plan.pop("part", [])
    plan = _over({}, plan)
    for part in parts:
        runs = part.pop("run", [{}])
        common = _over(plan, part)
        for task in common["tasks"]:
            for own in runs:
                run = _over(common, own)
                if ("solvers" in run) == ("embedding" in run):
                    raise ConfigurationError("a run needs either solvers or an embedding")
                if further := sorted(set(run["tasks"]) - set(common["tasks"])):
                    raise ConfigurationError(f"a run has tasks that its part lacks: {', '.join(further)}")
                if task in run["tasks"]:
                    yield task, run


def _over(common: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a part or a run: its own override common ones, in tables key by key."""
    if unknown := sorted(set(own) - _KEYS):
        raise ConfigurationError(f"a plan has no key {', '.join(unknown)}")
    tables = {key: common.get(key, {}) | value for key, value in own.items() if isinstance(value, dict)}
    return common | own | tables


def _trained(run: dict[str, Any], solver: str, examples: int) -> tuple[SolverConfig, Steps]:
    """Return a solver, and its recipe for a number of examples."""
    steps = run["steps"]
    if isinstance(steps, dict):
        listed = {int(size): count for size, count in steps[solver if solver in steps else "default"].items()}
        reached = [size for size in listed if size <= examples]
        if not reached:
            raise ConfigurationError(f"[steps] gives no number of steps for {solver} with {examples} examples")
        steps = listed[max(reached)]
    further = check_table(Steps, run.get("solver_recipe", {}), "solver_recipe")
    return SolverConfig(name=solver), Steps(**{"steps": steps, **further})


def _network(run: dict[str, Any], data: DrawnData) -> tuple[EmbeddingConfig, TrainConfig]:
    """Return the embedding and the recipe of a network."""
    given = _fields(run["embedding"])
    if isinstance(given.get("precision"), dict):
        given["precision"] = {int(p): digits for p, digits in given["precision"].items()}
        given.setdefault("primes", tuple(given["precision"]))
    recipe = load_recipe("fresh", data.row, **run.get("recipe", {}))
    return EmbeddingConfig.choose({}, space=data.space, d_model=recipe.d_model, **given), recipe


def _fields(table: dict[str, Any]) -> dict[str, Any]:
    """Return fields of a configuration, with tuples for TOML's lists."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def choose(
    plan: Sequence[Series],
    *,
    tasks: Collection[str] | None = None,
    solvers: Collection[str] | None = None,
    examples: Collection[int] | None = None,
    seeds: Collection[int] | None = None,
) -> list[Series]:
    """Return the series of these tasks, solvers or embeddings, and sizes, with these seeds; None is all.

    Raises:
        UnknownNameError: a task or solver is unknown.
        ConfigurationError: no run is left.

    >>> plan = read_plan("full", "arithmetic")
    >>> len(experiments(choose(plan, tasks=["addition"], solvers=["fone"], examples=[100])))
    5
    """
    for name in tasks or ():
        drawn_task(name)
    for name in set(solvers or ()) - {series.model for series in plan}:
        SolverConfig(name=name)  # raises for another name
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
    """Return all experiments of some series, seed by seed: each model has a figure soon.

    >>> experiments([])
    []
    """
    listed = [(one.seed, i, one) for i, series in enumerate(plan) for one in series.experiments]
    return [one for _, _, one in sorted(listed, key=lambda entry: entry[:2])]


def gather(plan: Iterable[Series], folder: Path) -> list[Series]:
    """Return the series with the results that a folder has.

    Raises:
        RunFolderError: a file is damaged.
        ConfigurationError: a solver cannot be imported.

    >>> {len(series.results) for series in gather(read_plan("quick", "columns"), Path("no folder"))}
    {0}
    """
    listed = list(plan)
    there = finished(experiments(listed), folder)
    found = []
    for series in listed:
        results = tuple(there[one] for one in series.experiments if one in there)
        # A solver is imported only if its results are missing from a table that has others.
        is_open = there and not results and not series.experiments[0].is_network
        obstacle = build_solver(series.model).obstacle(series.asked) if is_open else None
        found.append(replace(series, results=results, obstacle=obstacle))
    return found


@dataclass(frozen=True)
class Report:
    r"""The tables and files of a benchmark.

    Attributes:
        tables: in Markdown, with their notes, by the names of their places in pages.
        of_the_page: further tables, for pages alone.
        files: how to make further files, by name; None is not written.

    >>> Report({"all tasks": "| task |", "one task": "", "notes": "No notes."}).text
    '| task |\n\nNo notes.'
    """

    tables: Mapping[str, str]
    of_the_page: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Callable[[], str | bytes | None]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the tables one after the other."""
        return "\n\n".join(filter(None, self.tables.values()))


def write_report(
    show: Callable[[list[Series]], Report], plan: Iterable[Series], results: Path, folder: Path
) -> tuple[str, list[Path]]:
    """Write the report of a plan: its figures, and its tables into pages or, without pages, into table.md.

    The pages of the folder docs/arithmetic are docs/arithmetic.md and those in the folder. If the former exists, each
    table replaces the text between `<!-- table: NAME -->` and `<!-- end of table -->` in one of them.

    Args:
        show: of a benchmark, as `adelic_lab.report.arithmetic.show`.
        plan: all series of the report; series without results are marked "not run".
        results: folder of the result files.
        folder: of the report; made if it is missing.

    Returns:
        The tables as text, and the paths of the files.

    Raises:
        ConfigurationError: no page has these marks.
        RunFolderError: a result's file is damaged.
        StorageError: a file cannot be written.

    >>> import tempfile
    >>> from adelic_lab.report import arithmetic
    >>> with tempfile.TemporaryDirectory() as name:
    ...     _, written = write_report(arithmetic.show, [], Path(name, "results"), Path(name, "report"))
    >>> [path.name for path in written]
    ['table.md']
    """
    report = show(gather(plan, results))
    page = folder.with_suffix(".md")
    texts = {folder / "table.md": report.text + "\n"}
    if page.exists():
        with storage_errors(f"cannot read {page}", "choose another folder for the report"):
            texts = {path: path.read_text(encoding="utf-8") for path in (page, *sorted(folder.glob("*.md")))}
        for name, table in {**report.of_the_page, **report.tables}.items():
            texts = fill(texts, table, name)
    drawn = {folder / name: make() for name, make in report.files.items()}
    files = {path: content for path, content in (texts | drawn).items() if content is not None}
    for path, content in files.items():
        atomic_write(path, content)
    return report.text, list(files)


def constants(results: Iterable[Result], split: str) -> float | None:
    """Return the mean share of right answers of the best constant answer on a split; None if no classes are kept.

    The best answer is read off the split itself: no model without input scores higher.

    >>> from adelic_lab.report.files import read_results
    >>> constants(read_results(Path("experiments/results/number-theory-quick"))[-1:], "stratified")
    0.016
    """
    shares = {}
    for run in results:
        if run.by_class:
            cases = run.by_class[split]["cases"]
            shares[run.seed, run.n] = max(cases) / sum(cases)
        elif split == "test":
            shares[run.seed, run.n] = run.majority
    return _mean(shares)


def rules(results: Iterable[Result]) -> float | None:
    """Return the mean share of right test answers of the best baseline; None if none was counted."""
    return _mean({(run.seed, run.n): run.rule for run in results if run.rule is not None})


def _mean(rates: Mapping[tuple[int, int | None], float]) -> float | None:
    """Return the mean over seeds and numbers of examples; models with the same questions count once."""
    return float(np.mean(list(rates.values()))) if rates else None
