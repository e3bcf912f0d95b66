"""`adelic reproduce number-theory`: the number theory benchmark."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from adelic.cli.options import DURATION, INTEGERS, progress_bar
from adelic.training.experiment import Experiment

folder = click.Path(path_type=Path)


@click.command()
@click.argument("tasks", nargs=-1)
@click.option("--quick", is_flag=True, help="Run a small sample in a few minutes; it has folders of its own.")
@click.option("--plan", "plan_file", type=folder, help="Run a plan of your own, a TOML file.")
@click.option("--seeds", type=INTEGERS, help="Run these seeds only, as 0,1,2 or 0-4.  [default: all of the plan]")
@click.option(
    "--examples",
    type=click.IntRange(1),
    help="Train on at most this number of questions: a run of another kind, for a first look.  [default: the plan's]",
)
@click.option("--workers", type=int, help="Number of processes, of one thread each.  [default: one for each core]")
@click.option(
    "--budget", type=DURATION, help="Stop after this time, as 25m or 1h30m; the shortest trainings come first."
)
@click.option("--runs-dir", type=folder, default="runs", show_default=True, help="Folder for the runs, a folder each.")
@click.option(
    "--results-dir",
    type=folder,
    help="Folder for the results: a file for each task and size, with a line for each run.  "
    "[default: results/number-theory]",
)
@click.option(
    "--report", "report_dir", type=folder, help="Folder for the tables and the picture.  [default: docs/number-theory]"
)
@click.option("--dry-run", is_flag=True, help="Print the commands of the runs, and train nothing.")
@click.pass_obj
def number_theory(
    command: str,
    /,
    tasks: tuple[str, ...],
    plan_file: Path | None,
    seeds: tuple[int, ...] | None,
    examples: int | None,
    workers: int | None,
    budget: float | None,
    runs_dir: Path,
    results_dir: Path | None,
    report_dir: Path | None,
    *,
    quick: bool,
    dry_run: bool,
) -> None:
    """Find out which number representation learns number theory: divisors, squares, signs, conics.

    Each run trains one model on one task, as `adelic train gcd --embedding fone --examples 1000000` does, and counts
    the answers that are exactly right: on unseen questions of the same kind, and on splits unlike all in training.
    TASKS are names of tasks, as gcd; all of the plan by default. `adelic data list` says what each asks for.

    Finished runs are read, never run again, and a network goes on from its last checkpoint, so the command can be given
    again after Ctrl-C, a kill or a spent --budget. The report is always about the whole plan: what has not been run is
    said to be "not run". With --quick or --plan, folders are results/number-theory-NAME and the folder report in it,
    unless they are given.

    \b
    adelic reproduce number-theory --quick
    adelic reproduce number-theory gcd conic --seeds 0
    adelic reproduce number-theory
    """
    from adelic import benchmark
    from adelic.benchmark import number_theory
    from adelic.benchmark.arithmetic import run_plan
    from adelic.storage.workers import cores

    if quick and plan_file:
        raise click.UsageError("--quick is a plan, and so is --plan; give one", ctx=click.get_current_context())
    whole = number_theory.read_plan(plan_file or ("quick" if quick else "full"))
    if examples is not None:
        whole = [series.at_most(examples) for series in whole]
    chosen = number_theory.experiments(number_theory.choose(whole, tasks=tasks or None, seeds=seeds))
    if dry_run:
        for experiment in chosen:
            click.echo(experiment.command())
        return
    name = "quick" if quick else plan_file.stem if plan_file else ""
    results = results_dir or Path("results") / f"number-theory{'-' if name else ''}{name}"
    report = report_dir or (results / "report" if name else Path("docs") / "number-theory")
    with progress_bar("number theory") as tick:

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
    written = number_theory.write_report(whole, results, report)
    click.echo(written[0].read_text(encoding="utf-8"))
    for path in written:
        click.echo(f"wrote {path}")
    if left:
        click.echo(f"{left} runs are left. Go on with: {command}")
