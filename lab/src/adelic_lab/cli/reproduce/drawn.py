"""`adelic reproduce arithmetic`, `number-theory` and `columns`: the benchmarks of drawn tasks, by one mechanism."""

import importlib
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from adelic.cli.options import (
    DURATION,
    NAMES,
    PATH,
    Command,
    Given,
    IntegerList,
    dry_run_option,
    in_terms_of_options,
    progress_bar,
    runs_option,
    stack,
)
from adelic.data import drawn_task
from adelic.data.sources import DrawnData
from adelic.storage.files import is_stream
from adelic.storage.options import options
from adelic.storage.workers import check_workers, cores
from adelic_lab.cli.experiments import seeds_option
from adelic_lab.cli.outputs import check_folder
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.nn_names import names
from adelic_lab.config.solver_names import PACKAGED, parse_solver


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


def _command(name: str, page: str, help_text: str, *, row: str) -> click.Command:
    """Return the command of a benchmark.

    Args:
        name: of the benchmark, as in its folders; its module in `adelic_lab` has plans, and says what is shown.
        page: of the documentation that shows it, and its folder there.
        help_text: of the command, above what is said of all.
        row: what a file of results is for, in words.
    """

    @click.command(name, help=f"{cleandoc(help_text)}\n\n{cleandoc(_HELP).format(name=name, page=page)}")
    @_shared(name, row, page)
    @in_terms_of_options
    @click.pass_obj
    def command(
        line: str,
        /,
        workers: int | None,
        budget: float | None,
        runs_dir: Path,
        results_dir: Path | None,
        report_dir: Path | None,
        *,
        dry_run: bool,
        **given: Any,
    ) -> None:
        plan = plan_of(name, **given)
        results = results_dir or plan.results
        is_shown = plan.is_full and Path("docs", f"{page}.md").exists()
        report = report_dir or (Path("docs", page) if is_shown else results / "report")
        count = cores() if workers is None else check_workers(workers)
        for folder, option in ((runs_dir, "--runs-dir"), (results, "--results-dir"), (report, "--report")):
            check_folder(folder, option)
        if dry_run:
            for experiment in plan.chosen:
                click.echo(experiment.command())
            return
        left = _run(name, plan.chosen, runs_dir, results, count, budget)
        _write_report(name, plan, results, report)
        if left:
            click.echo(f"{left} runs are left. Go on with: {line}")

    return command


def _shared(name: str, row: str, page: str) -> Callable[[Command], Command]:
    """Return the arguments and options of a benchmark, see `_command`."""
    return stack(
        click.argument("tasks", nargs=-1),
        click.option(
            "--solvers", type=NAMES, help="Run these solvers or embeddings only, as fone,base-10.  [default: all]"
        ),
        click.option(
            "--examples",
            "sizes",
            type=IntegerList(options(DrawnData)["examples"]),
            help="Run these numbers of training examples only, as 100,1000.  [default: all of the plan]",
        ),
        click.option(
            "--max-examples",
            type=Given(options(DrawnData)["examples"]),
            help="Train on at most this number of examples, for a first look; the results have folders of their own.  "
            "[default: the plan's]",
        ),
        click.option("--quick", is_flag=True, help="Run a small sample in a few minutes; it has folders of its own."),
        click.option(
            "--plan",
            "plan_file",
            type=PATH,
            help="Run a plan of your own, a TOML file. It may name modules, which are imported, so it is code.",
        ),
        seeds_option("all of the plan"),
        click.option(
            "--workers", type=int, help="Number of processes, of one thread each.  [default: one for each core]"
        ),
        click.option(
            "--budget", type=DURATION, help="Stop after this time, as 25m or 1h30m; the shortest trainings come first."
        ),
        runs_option,
        click.option(
            "--results-dir",
            type=PATH,
            help=f"Folder for the results: a file for each {row}, with a line for each run.  [default: results/{name}]",
        ),
        click.option(
            "--report",
            "report_dir",
            type=PATH,
            help=f"Folder for the tables and figures.  [default: docs/{page} in a clone, else the folder report beside "
            "the results]",
        ),
        dry_run_option,
    )


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
        raise click.UsageError("--quick is a plan, and so is --plan; give one", ctx=click.get_current_context())
    for task in tasks or ():
        drawn_task(task)  # before torch is loaded
    for model in solvers or ():
        if model not in names("embeddings"):
            parse_solver(model)
    from adelic_lab import plans

    source = plan_file or ("quick" if quick else "full")
    own = [model for model in solvers or () if model not in names("embeddings") and ":" in parse_solver(model)[0]]
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
        click.echo(written[0].read_text(encoding="utf-8"))
    for path in written:
        click.echo(f"wrote {path}")


_HELP = """\
    Finished runs are read, never run again, and a network goes on from its last checkpoint, so the command can be given
    again after Ctrl-C, a kill or a spent --budget. The report is always about the whole plan: what has not been run is
    said to be "not run". The whole plan has its results in results/{name}, in a clone in experiments/, and its tables
    go into docs/{page} and the page docs/{page}.md. With --quick, --plan or --max-examples, folders are
    results/{name}-NAME and the folder report in it, unless they are given.

    TASKS are names of tasks; all of the plan by default. `adelic data list` says what each asks for.

    \b
    adelic reproduce {name} --quick
    adelic reproduce {name} --seeds 0
    adelic reproduce {name}
"""
_NETWORKS = """
    Each run trains one model on one task, as `adelic train gcd --embedding fone --examples 1000000` does, and counts
    the answers that are exactly right: on unseen questions of the same kind, and on splits unlike all in training."""
_NUMBER_THEORY = """
    Find out which number representation learns number theory: divisors, squares, signs, conics.
"""
_COLUMNS = """
    Find out which form of AOE, or which rival, reads what is asked of number columns: residues, sums, sizes, dates.
"""
_ARITHMETIC = """
    Find out which number representation learns arithmetic, from how many examples.

    Each run trains one solver (numbers in, numbers out) on one problem from some number of examples, as `adelic train
    addition --solver fone` does, and counts the answers that are exactly right: on 10,000 unseen questions of the same
    kind (100,000 if it makes no mistake there), and on longer numbers and more terms than any in training. The report
    has tables, figures and a summary in JSON.

    \b
    solvers:  SOLVERS

    `adelic train --help` says what each solver is. Rivals as their authors published them are
    adelic_lab.models.solvers.rivals.published:FoNE (or :ShiftedFoNE, :XVal, :LogXVal, :NumberTokenLoss), and one of
    your own is package.module:Class, a subclass of adelic_lab.models.solvers.Solver.

    \b
    adelic reproduce arithmetic addition --solvers adelic-placewise,fone --examples 100,1000 --seeds 0-2
    adelic reproduce arithmetic fraction-addition --solvers my_package.solvers:Mine
"""
_SOLVERS = textwrap.fill(", ".join(PACKAGED), width=88, subsequent_indent=" " * 14, break_on_hyphens=False)
arithmetic = _command("arithmetic", "arithmetic", _ARITHMETIC.replace("SOLVERS", _SOLVERS), row="problem and size")
number_theory = _command("number-theory", "number-theory", _NUMBER_THEORY + _NETWORKS, row="task and size")
columns = _command("columns", "features", _COLUMNS + _NETWORKS, row="task and size")
BENCHMARKS = {command.name or "": command for command in (arithmetic, number_theory, columns)}
"""The commands by name."""
