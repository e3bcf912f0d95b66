"""`adelic reproduce arithmetic`: the arithmetic benchmark."""

import textwrap
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from adelic.cli.options import INTEGERS, NAMES
from adelic.cli.reproduce.plans import HOW, plan_options, plan_source, run_and_report
from adelic.data import drawn_task
from adelic.training.experiment import Experiment
from adelic.training.solver_names import SOLVER_MODULES, check_solver


@click.command()
@click.option("--only", "problems", type=NAMES, help="Run these problems only, as addition,sum.  [default: all]")
@click.option("--solvers", type=NAMES, help="Run these solvers only, as fone,base-10.  [default: all]")
@click.option(
    "--examples", type=INTEGERS, help="Run these numbers of training examples only, as 100,1000.  [default: all]"
)
@plan_options("arithmetic", "problem and size", page="arithmetic")
@click.pass_obj
def arithmetic(command: str, /, **given: Any) -> None:
    """Find out which number representation learns arithmetic, from how many examples.

    Each run trains one solver (numbers in, numbers out) on one problem from some number of examples, as `adelic train
    addition --solver fone` does, and counts the answers that are exactly right: on 10,000 unseen questions of the same
    kind (100,000 if it makes no mistake there), and on longer numbers and more terms than any in training. The report
    has tables, figures and a summary in JSON.

    \b
    problems: addition, subtraction, multiplication, exact-division, modular-inverse,
              modular-inverse-prime, fraction-addition, fraction-multiplication, sum, product,
              polynomial, comparison; with --plan also expression, infix-expression, determinant-2,
              determinant-3, polynomial-value, recurrence, linear-system, matrix-program, recurrence-program,
              system-program
    solvers:  SOLVERS

    `adelic train --help` says what each solver is. Rivals as their authors published them are
    adelic.training.solvers.rivals.published:FoNE (or :ShiftedFoNE, :XVal, :LogXVal, :NumberTokenLoss), and one of your
    own is package.module:Class, a subclass of adelic.training.solvers.Solver.

    Finished runs are read, never run again, so the command can be given again after Ctrl-C, a kill or a spent --budget.
    The report is always about the whole plan: what has not been run is said to be "not run". With --quick or --plan,
    folders are results/arithmetic-NAME and the folder report in it, unless they are given.

    \b
    adelic reproduce arithmetic --quick
    adelic reproduce arithmetic
    adelic reproduce arithmetic --only addition --solvers adelic-placewise,fone --examples 100,1000 --seeds 0-2
    adelic reproduce arithmetic --only fraction-addition --solvers my_package.solvers:Mine
    """
    how = {name: given.pop(name) for name in HOW}
    source, whole, chosen = plan_of_arithmetic(**given)
    from adelic.benchmark import arithmetic

    run_and_report(
        "arithmetic",
        source,
        chosen,
        lambda results, report: arithmetic.write_report(whole, results, report),
        command=command,
        page="arithmetic",
        **how,
    )


_SOLVERS = textwrap.fill(", ".join(SOLVER_MODULES), width=84, subsequent_indent=" " * 10, break_on_hyphens=False)
arithmetic.help = cleandoc(str(arithmetic.help)).replace("SOLVERS", _SOLVERS)


def plan_of_arithmetic(
    *,
    problems: tuple[str, ...] | None,
    solvers: tuple[str, ...] | None,
    examples: tuple[int, ...] | None,
    plan_file: Path | None,
    seeds: tuple[int, ...] | None,
    quick: bool,
) -> tuple[str | Path, list[Experiment], list[Experiment]]:
    """Return the source of the plan that the options of the command mean, its runs, and the chosen ones among them."""
    for name in problems or ():
        drawn_task(name)  # before torch is loaded
    for name in solvers or ():
        check_solver(name)
    from adelic.benchmark import arithmetic

    own = [name for name in solvers or () if name not in SOLVER_MODULES]
    source = plan_source(quick=quick, plan_file=plan_file)
    whole = arithmetic.read_plan(source, own_solvers=own)
    chosen = arithmetic.choose(whole, problems=problems, solvers=solvers, examples=examples, seeds=seeds)
    return source, whole, chosen
