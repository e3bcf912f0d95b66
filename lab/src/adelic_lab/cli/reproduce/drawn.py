"""`adelic reproduce arithmetic`, `number-theory` and `columns`: the benchmarks of drawn tasks, by one mechanism."""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from adelic.cli.options import (
    DryRun,
    Duration,
    File,
    Flag,
    Names,
    RunsDir,
    UsageError,
    command_line,
    integers,
    reader,
)
from adelic.cli.outputs import check_folder
from adelic.cli.progress import progress_bar
from adelic.data import drawn_task
from adelic.data.sources import DrawnData
from adelic.storage.files import is_stream
from adelic.storage.options import options
from adelic.storage.workers import check_workers, cores
from adelic_lab.cli.experiments import Seeds
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.names import EMBEDDINGS
from adelic_lab.config.solver_names import PACKAGED, parse_solver

_EXAMPLES = options(DrawnData)["examples"]
_SIZES = reader(partial(integers, each=_EXAMPLES))
Sizes = Annotated[tuple[int, ...], Parameter(converter=_SIZES, n_tokens=1, metavar="INTEGERS")]


@dataclass(frozen=True)
class Plan:
    """What a command is to run, and where its results belong.

    Attributes:
        series: of the whole plan, which the report is about.
        chosen: the runs that the options choose.
        results: folder for the results, unless another one is given.
        is_full: whether it is the benchmark's own plan, which the documentation shows.
    """

    series: list[Any]
    chosen: list[Experiment]
    results: Path
    is_full: bool


def _command(name: str, page: str, about: str, more: str = "") -> Callable[..., None]:
    """Return the command of a benchmark.

    Args:
        name: of the benchmark, as in its folders; its module in `adelic_lab` has plans, and says what is shown.
        page: of the documentation that shows it, and its folder there.
        about: which question it answers, behind "Find out which"; for the help, as the next.
        more: a paragraph.
    """

    def command(
        *tasks: str,
        solvers: Names | None = None,
        sizes: Annotated[Sizes | None, Parameter("--examples")] = None,
        max_examples: Annotated[int | None, Parameter(converter=reader(_EXAMPLES.parse))] = None,
        quick: Flag = False,
        plan_file: Annotated[File | None, Parameter("--plan")] = None,
        seeds: Seeds | None = None,
        workers: int | None = None,
        budget: Duration | None = None,
        runs_dir: RunsDir = Path("runs"),
        results_dir: File | None = None,
        report_dir: Annotated[File | None, Parameter("--report")] = None,
        dry_run: DryRun = False,
    ) -> None:
        chosen: dict[str, Any] = {
            "plan_file": plan_file,
            "seeds": seeds,
            "quick": quick,
            "solvers": solvers,
            "sizes": sizes,
        }
        plan = plan_of(name, tasks=tasks, max_examples=max_examples, **chosen)
        results = results_dir or plan.results
        is_shown = plan.is_full and Path("docs", f"{page}.md").exists()
        report = report_dir or (Path("docs", page) if is_shown else results / "report")
        count = cores() if workers is None else check_workers(workers)
        for folder, option in ((runs_dir, "--runs-dir"), (results, "--results-dir"), (report, "--report")):
            check_folder(folder, option)
        if dry_run:
            for experiment in plan.chosen:
                print(experiment.command())
            return
        left = _run(name, plan.chosen, runs_dir, results, count, budget)
        _write_report(name, plan, results, report)
        if left:
            print(f"{left} runs are left. Go on with: {command_line()}")

    command.__name__ = name
    command.__doc__ = _HELP.format(name=name, page=page, about=about, more=more)
    return command


def plan_of(
    name: str,
    *,
    tasks: tuple[str, ...] | None,
    plan_file: Path | None,
    seeds: tuple[int, ...] | None,
    quick: bool,
    solvers: tuple[str, ...] | None,
    sizes: tuple[int, ...] | None,
    max_examples: int | None,
) -> Plan:
    """Return what the options of a benchmark's command mean, those that say what to run.

    Args:
        name: of the benchmark.
        tasks: to choose; none for all of the plan.
        plan_file: in place of the full plan.
        seeds: to choose; None for all, here and below.
        quick: whether the quick plan takes the place of the full one.
        solvers: to choose; those of one's own are added to the plan.
        sizes: numbers of examples to choose.
        max_examples: the most that runs train on, where they are fewer than the plan's.
    """
    if quick and plan_file:
        raise UsageError("--quick is a plan, and so is --plan; give one")
    for task in tasks or ():
        drawn_task(task)  # before torch is loaded
    for model in solvers or ():
        if model not in EMBEDDINGS:
            parse_solver(model)
    from adelic_lab import plans

    source = plan_file or ("quick" if quick else "full")
    own = [model for model in solvers or () if model not in EMBEDDINGS and ":" in parse_solver(model)[0]]
    whole = plans.read_plan(source, name, own_solvers=own)
    if max_examples is not None:
        whole = [series.at_most(max_examples) for series in whole]
    chosen = plans.choose(whole, tasks=tasks or None, solvers=solvers, examples=sizes, seeds=seeds)
    words = [] if source == "full" else [Path(source).stem]
    words += [] if max_examples is None else [f"{max_examples}-examples"]
    in_a_clone = not words and Path("experiments", "results", name).is_dir()
    folder = Path("experiments", "results") if in_a_clone else Path("results")
    return Plan(whole, plans.experiments(chosen), folder / "-".join([name, *words]), is_full=not words)


def _run(name: str, chosen: list[Experiment], runs: Path, results: Path, workers: int, budget: float | None) -> int:
    """Run what is left of a plan, and return how much that still is."""
    import adelic_lab
    from adelic_lab.plans import run_plan

    with progress_bar(name.replace("-", " ")) as progress:

        @contextmanager
        def show(index: int, count: int, experiment: Experiment) -> Iterator[None]:
            yield
            progress(index + 1, count, f"{experiment.row} {experiment.model.label} seed {experiment.seed}")

        return run_plan(
            chosen,
            runs=runs,
            results=results,
            workers=workers,
            budget=None if budget is None else adelic_lab.Budget(budget),
            on_run=show,
        )


def _write_report(name: str, plan: Plan, results: Path, report: Path) -> None:
    """Write the report of a plan, and print its tables."""
    from adelic_lab.plans import write_report

    benchmark = importlib.import_module(f"adelic_lab.report.{name.replace('-', '_')}")
    written = write_report(benchmark.show, plan.series, results, report)
    if not is_stream(written[0]):  # what went into a pipe is gone
        print(written[0].read_text(encoding="utf-8"))
    for path in written:
        print(f"wrote {path}")


_HELP = """\
Find out which {about}

adelic reproduce {name} --quick
adelic reproduce {name} --seeds 0
adelic reproduce {name}

Each run trains one model on one task, and counts the answers that are exactly right: on unseen questions of the same
kind, and on splits unlike all in training. Finished runs are read, never run again, and a run goes on from its last
checkpoint, so the command can be given again after Ctrl-C, a kill or a spent --budget. The report is always about the
whole plan: what has not been run is said to be "not run". The whole plan has its results in results/{name}, in a clone
in experiments/, and its tables go into docs/{page} and the page docs/{page}.md. With --quick, --plan or --max-examples,
folders are results/{name}-NAME and the folder report in it, unless they are given.

{more}Args:
    tasks: Names of tasks; `adelic data list` says what each asks for.  [default: all of the plan]
    solvers: Run these solvers or embeddings only, as fone,base-10.  [default: all]
    sizes: Run these numbers of training examples only, as 100,1000.  [default: all of the plan]
    max_examples: Train on at most this number of examples, for a first look; the results have folders of their own.
        [default: the plan's]
    quick: Run a small sample in a few minutes; it has folders of its own.
    plan_file: Run a plan of your own, a TOML file. It may name modules, which are imported, so it is code.
    seeds: Seeds to run, a run each, as 0,1,2 or 0-4.  [default: all of the plan]
    workers: Number of processes, of one thread each.  [default: one for each core]
    budget: Stop after this time, as 25m or 1h30m; the shortest trainings come first.
    results_dir: Folder for the results: a file for each task and size, with a line for each run.  [default:
        results/{name}]
    report_dir: Folder for the tables and figures.  [default: docs/{page} in a clone, else the folder report beside the
        results]
"""
_SOLVERS = f"""\
Solvers: {", ".join(PACKAGED)}; `adelic train --help` says what each is. Rivals as their authors published them
are adelic_lab.models.solvers.rivals.published:FoNE (or :ShiftedFoNE, :XVal, :LogXVal, :NumberTokenLoss), and one of
your own is package.module:Class, a subclass of adelic_lab.models.solvers.Solver.

"""
BENCHMARKS = {
    "arithmetic": _command(
        "arithmetic", "arithmetic", "number representation learns arithmetic, from how many examples.", _SOLVERS
    ),
    "number-theory": _command(
        "number-theory",
        "number-theory",
        "number representation learns number theory: divisors, squares, signs, conics.",
    ),
    "columns": _command(
        "columns",
        "features",
        "form of AOE, or which rival, reads what is asked of number columns: residues, sums, sizes, dates.",
    ),
}
"""The commands by name."""
