"""What the benchmarks with a plan have in common: `adelic reproduce arithmetic`, `number-theory` and `columns`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from adelic.cli.options import DURATION, INTEGERS, PATH, Command, dry_run_option, progress_bar, runs_option, stack
from adelic.storage.files import is_stream
from adelic.training.experiment import Experiment

HOW = ("workers", "budget", "runs_dir", "results_dir", "report_dir", "dry_run")
"""Options of a benchmark's command that say how and where to run; the others say what."""


def plan_options(name: str, row: str, *, page: str) -> Callable[[Command], Command]:
    """Return the options of a benchmark's command.

    Args:
        name: of the benchmark, as in its folders.
        row: what a file of results is for, in words.
        page: of the documentation that shows it.
    """
    return stack(
        click.option("--quick", is_flag=True, help="Run a small sample in a few minutes; it has folders of its own."),
        click.option(
            "--plan",
            "plan_file",
            type=PATH,
            help="Run a plan of your own, a TOML file. It may name modules, which are imported, so it is code.",
        ),
        click.option(
            "--seeds", type=INTEGERS, help="Run these seeds only, as 0,1,2 or 0-4.  [default: all of the plan]"
        ),
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


def plan_source(*, quick: bool, plan_file: Path | None) -> str | Path:
    """Return which plan is meant: "full", "quick" or a file."""
    if quick and plan_file:
        raise click.UsageError("--quick is a plan, and so is --plan; give one", ctx=click.get_current_context())
    return plan_file or ("quick" if quick else "full")


def own_results(name: str, source: str | Path, examples: int | None = None) -> Path:
    """Return the folder for the results of a benchmark's plan, unless another one is given.

    >>> own_results("columns", "full").as_posix(), own_results("columns", "quick", 200).as_posix()
    ('results/columns', 'results/columns-quick-200-examples')
    """
    of_plan = [] if source == "full" else [Path(source).stem]
    fewer = [] if examples is None else [f"{examples}-examples"]
    return Path("results", "-".join([name, *of_plan, *fewer]))


def run_and_report(
    name: str,
    source: str | Path,
    chosen: Sequence[Experiment],
    write_report: Callable[[Path, Path], list[Path]],
    *,
    command: str,
    page: str,
    workers: int | None,
    budget: float | None,
    runs_dir: Path,
    results_dir: Path | None,
    report_dir: Path | None,
    dry_run: bool,
    examples: int | None = None,
) -> None:
    """Run what is left of a plan, write its report, and print its tables; or print the commands alone.

    Args:
        name: of the benchmark.
        source: of the plan, as `plan_source` has it.
        chosen: the runs.
        write_report: from the folders of results and report to the files that it has written, the tables first.
        command: the line that was given, by which to go on.
        page: of the documentation that shows the benchmark, and its folder there.
        workers: how many processes; None for one a core.
        budget: seconds after which to stop, if there are any.
        runs_dir: folder of the run folders.
        results_dir: folder of the results; None for that of the plan.
        report_dir: folder of the report; None for that of the plan.
        dry_run: whether to print the commands alone.
        examples: the most examples of a run, where they are fewer than the plan's.
    """
    from adelic import benchmark
    from adelic.benchmark.arithmetic import run_plan
    from adelic.storage.workers import cores

    if dry_run:
        for experiment in chosen:
            click.echo(experiment.command())
        return
    results = results_dir or own_results(name, source, examples)
    is_whole = source == "full" and examples is None and Path("docs", f"{page}.md").exists()
    report = report_dir or (Path("docs", page) if is_whole else results / "report")
    with progress_bar(name.replace("-", " ")) as tick:

        @contextmanager
        def show(index: int, count: int, experiment: Experiment) -> Iterator[None]:
            yield
            tick(index + 1, count, f"{experiment.row} {experiment.model.label} seed {experiment.seed}")

        left = run_plan(
            chosen,
            runs=runs_dir,
            results=results,
            workers=cores() if workers is None else workers,
            budget=None if budget is None else benchmark.Budget(budget),
            on_run=show,
        )
    written = write_report(results, report)
    if not is_stream(written[0]):  # what went into a pipe is gone
        click.echo(written[0].read_text(encoding="utf-8"))
    for path in written:
        click.echo(f"wrote {path}")
    if left:
        click.echo(f"{left} runs are left. Go on with: {command}")
