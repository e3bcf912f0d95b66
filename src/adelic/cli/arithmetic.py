"""`adelic reproduce arithmetic`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from adelic.cli.options import DURATION, INTEGERS, NAMES, progress_bar
from adelic.errors import WorkerError

folder = click.Path(path_type=Path)


@click.command()
@click.option("--quick", is_flag=True, help="A sample in a few minutes, in folders of its own.")
@click.option(
    "--plan",
    "plan_file",
    type=folder,
    help="A plan of your own: a TOML file. It may name modules, which are imported, so it is code.",
)
@click.option("--only", "problems", type=NAMES, help="These problems, as addition,sum.  [default: all]")
@click.option("--solvers", type=NAMES, help="These solvers, as fone,base-10.  [default: all]")
@click.option("--examples", type=INTEGERS, help="These numbers of training examples.  [default: all]")
@click.option("--seeds", type=INTEGERS, help="As 0,1,2 or 0-4.  [default: the plan's]")
@click.option("--workers", type=int, help="Processes of one thread each.  [default: one a core]")
@click.option("--budget", type=DURATION, help="Stop after this time, as 25m or 1h30m.")
@click.option("--results-dir", type=folder, help="One JSON file a run.  [default: results/arithmetic]")
@click.option("--report", "report_dir", type=folder, help="Tables and figures.  [default: docs/arithmetic]")
@click.option("--dry-run", is_flag=True, help="Print the runs' commands and stop.")
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
    results_dir: Path | None,
    report_dir: Path | None,
    *,
    quick: bool,
    dry_run: bool,
) -> None:
    """Find out which number representation learns arithmetic, from how many examples.

    Each run trains one solver (numbers in, numbers out) on one problem from some number of examples, and counts the
    answers that are exactly right: on 10,000 unseen questions of the same kind (100,000 if it makes no mistake there),
    and on longer numbers and more terms than any in training. The report has tables, figures and a summary in JSON.

    \b
    problems: addition, subtraction, multiplication, exact-division, modular-inverse,
              modular-inverse-prime, fraction-addition, fraction-multiplication, sum, product,
              polynomial, comparison
    solvers:  adelic-placewise, adelic-one-hot, adelic-3-digits, adelic-flat (AOE in and out); fone, xval,
              abacus, base-10, base-1000;
              adelic.benchmark.arithmetic.published:FoNE (or :ShiftedFoNE, :XVal, :LogXVal, :NumberTokenLoss);
              package.module:Class, a subclass of adelic.benchmark.arithmetic.Solver of your own

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
    from adelic.benchmark.arithmetic.report import write_report

    if quick and plan_file:
        raise click.UsageError("--quick is a plan, and so is --plan; give one", ctx=click.get_current_context())
    own = [name for name in solvers or () if name not in arithmetic.SOLVER_MODULES]
    whole = arithmetic.read_plan(plan_file or ("quick" if quick else "full"), own_solvers=own)
    chosen = whole.choose(problems=problems, solvers=solvers, examples=examples, seeds=seeds)
    if dry_run:
        for cell in chosen.cells:
            click.echo(chosen.command(cell))
        return
    name = "quick" if quick else plan_file.stem if plan_file else ""
    results = results_dir or Path("results") / f"arithmetic{'-' if name else ''}{name}"
    report = report_dir or (results / "report" if name else Path("docs") / "arithmetic")
    with progress_bar("arithmetic", percent=True) as tick:

        def show(done: int, cells: int, seconds: float, expected: float, text: str) -> None:
            tick(round(seconds), max(1, round(expected)), f"{done}/{cells} · {text}")

        failed = arithmetic.run_plan(
            chosen,
            results,
            workers=workers,
            budget=None if budget is None else benchmark.Budget(budget),
            on_progress=show,
            resume_command=command,
        )
    written = write_report(whole, results, report)
    click.echo(written[0].read_text(encoding="utf-8"))
    for path in written:
        click.echo(f"wrote {path}")
    if failed:
        raise WorkerError(_failures(failed))
    missing = sum(1 for cell in chosen.cells if not (results / f"{cell.label}.json").exists())
    if budget is not None and missing:
        click.echo(f"{len(chosen.cells) - missing} of {len(chosen.cells)} runs are done. Go on with: {command}")


def _failures(failed: Mapping[Any, Exception]) -> str:
    """Return what went wrong, in a line."""
    (first, error), *others = failed.items()
    more = f"; {len(others)} more failed" if others else ""
    return f"{first}: {error}{more}; the same command tries again what failed or, being alike, was left out"
