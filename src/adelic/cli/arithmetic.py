"""`adelic reproduce arithmetic`: the arithmetic benchmark."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from adelic.cli.options import DURATION, INTEGERS, NAMES, progress_bar
from adelic.training.experiment import Experiment
from adelic.training.solver_names import SOLVER_MODULES

folder = click.Path(path_type=Path)


@click.command()
@click.option("--quick", is_flag=True, help="Run a small sample in a few minutes; it has folders of its own.")
@click.option(
    "--plan",
    "plan_file",
    type=folder,
    help="Run a plan of your own, a TOML file. It may name modules, which are imported, so it is code.",
)
@click.option("--only", "problems", type=NAMES, help="Run these problems only, as addition,sum.  [default: all]")
@click.option("--solvers", type=NAMES, help="Run these solvers only, as fone,base-10.  [default: all]")
@click.option(
    "--examples", type=INTEGERS, help="Run these numbers of training examples only, as 100,1000.  [default: all]"
)
@click.option("--seeds", type=INTEGERS, help="Run these seeds only, as 0,1,2 or 0-4.  [default: all of the plan]")
@click.option("--workers", type=int, help="Number of processes, of one thread each.  [default: one for each core]")
@click.option(
    "--budget", type=DURATION, help="Stop after this time, as 25m or 1h30m; the shortest trainings come first."
)
@click.option("--runs-dir", type=folder, default="runs", show_default=True, help="Folder for the runs, a folder each.")
@click.option(
    "--results-dir",
    type=folder,
    help="Folder for the results: a file for each problem and size, with a line for each run.  "
    "[default: results/arithmetic]",
)
@click.option(
    "--report", "report_dir", type=folder, help="Folder for the tables and figures.  [default: docs/arithmetic]"
)
@click.option("--dry-run", is_flag=True, help="Print the commands of the runs, and train nothing.")
@click.pass_obj
def arithmetic(
    command: str,
    /,
    plan_file: Path | None,
    problems: tuple[str, ...] | None,
    solvers: tuple[str, ...] | None,
    examples: tuple[int, ...] | None,
    seeds: tuple[int, ...] | None,
    workers: int | None,
    budget: float | None,
    runs_dir: Path,
    results_dir: Path | None,
    report_dir: Path | None,
    *,
    quick: bool,
    dry_run: bool,
) -> None:
    """Find out which number representation learns arithmetic, from how many examples.

    Each run trains one solver (numbers in, numbers out) on one problem from some number of examples, as `adelic train
    addition --solver fone` does, and counts the answers that are exactly right: on 10,000 unseen questions of the same
    kind (100,000 if it makes no mistake there), and on longer numbers and more terms than any in training. The report
    has tables, figures and a summary in JSON.

    \b
    problems: addition, subtraction, multiplication, exact-division, modular-inverse,
              modular-inverse-prime, fraction-addition, fraction-multiplication, sum, product,
              polynomial, comparison
    solvers:  adelic-placewise, adelic-one-hot, adelic-3-digits, adelic-flat (AOE in and out); fone, xval,
              abacus, base-10, base-1000;
              adelic.training.solvers.published:FoNE (or :ShiftedFoNE, :XVal, :LogXVal, :NumberTokenLoss);
              package.module:Class, a subclass of adelic.training.solvers.Solver of your own

    Finished runs are read, never run again, so the command can be given again after Ctrl-C, a kill or a spent --budget.
    The report is always about the whole plan: what has not been run is said to be "not run". With --quick or --plan,
    folders are results/arithmetic-NAME and the folder report in it, unless they are given.

    \b
    adelic reproduce arithmetic --quick
    adelic reproduce arithmetic
    adelic reproduce arithmetic --only addition --solvers adelic-placewise,fone --examples 100,1000 --seeds 0-2
    adelic reproduce arithmetic --only fraction-addition --solvers my_package.solvers:Mine
    """
    from adelic import benchmark
    from adelic.benchmark import arithmetic
    from adelic.storage.workers import cores

    if quick and plan_file:
        raise click.UsageError("--quick is a plan, and so is --plan; give one", ctx=click.get_current_context())
    own = [name for name in solvers or () if name not in SOLVER_MODULES]
    whole = arithmetic.read_plan(plan_file or ("quick" if quick else "full"), own_solvers=own)
    chosen = arithmetic.choose(whole, problems=problems, solvers=solvers, examples=examples, seeds=seeds)
    if dry_run:
        for experiment in chosen:
            click.echo(experiment.command())
        return
    name = "quick" if quick else plan_file.stem if plan_file else ""
    results = results_dir or Path("results") / f"arithmetic{'-' if name else ''}{name}"
    report = report_dir or (results / "report" if name else Path("docs") / "arithmetic")
    with progress_bar("arithmetic") as tick:

        @contextmanager
        def show(index: int, count: int, experiment: Experiment) -> Iterator[None]:
            yield
            tick(index + 1, count, f"{experiment.row} {experiment.model.label} seed {experiment.seed}")

        left = arithmetic.run_plan(
            chosen,
            runs=runs_dir,
            results=results,
            workers=cores() if workers is None else workers,
            budget=None if budget is None else benchmark.Budget(budget),
            on_run=show,
        )
    written = arithmetic.write_report(whole, results, report)
    click.echo(written[0].read_text(encoding="utf-8"))
    for path in written:
        click.echo(f"wrote {path}")
    if left:
        click.echo(f"{left} runs are left. Go on with: {command}")
