"""`adelic reproduce arithmetic`, `number-theory` and `columns`: the benchmarks of drawn tasks, by one mechanism."""

import importlib
import textwrap
from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from adelic.cli.options import INTEGERS, NAMES, Command, stack
from adelic.cli.reproduce.plans import HOW, plan_options, plan_source, run_and_report
from adelic.data import drawn_task
from adelic.training.experiment import Experiment
from adelic.training.solver_names import SOLVER_MODULES, check_solver

Plan = tuple[str | Path, list[Any], list[Experiment]]
"""The source of a plan, the series in it, and the runs that were chosen."""


def _command(
    name: str, page: str, what: Callable[[Command], Command], help_text: str, *, row: str, other: str
) -> click.Command:
    """Return the command of a benchmark.

    Args:
        name: of the benchmark, as in its folders; its module in `adelic.benchmark` has plans and writes the report.
        page: of the documentation that shows it.
        what: the options that say what to run, of those that `plan_of` takes.
        help_text: of the command, above what is said of all.
        row: what a file of results is for, in words.
        other: the options that mean another plan, in words.
    """

    @click.command(name, help=f"{cleandoc(help_text)}\n\n{cleandoc(_HELP).format(name=name, page=page, other=other)}")
    @what
    @plan_options(name, row, page=page)
    @click.pass_obj
    def command(line: str, /, **given: Any) -> None:
        how = {option: given.pop(option) for option in HOW}
        source, whole, chosen = plan_of(name)(**given)
        write_report = _benchmark(name).write_report
        run_and_report(
            name,
            source,
            chosen,
            lambda results, report: write_report(whole, results, report),
            command=line,
            page=page,
            examples=given.get("examples"),
            **how,
        )

    return command


def plan_of(name: str) -> Callable[..., Plan]:
    """Return the function from a command's options, those that say what to run, to the plan that they mean."""

    def read(
        *,
        tasks: tuple[str, ...] | None,
        plan_file: Path | None,
        seeds: tuple[int, ...] | None,
        quick: bool,
        examples: int | None = None,
        solvers: tuple[str, ...] | None = None,
        sizes: tuple[int, ...] | None = None,
    ) -> Plan:
        for task in tasks or ():
            drawn_task(task)  # before torch is loaded
        for solver in solvers or ():
            check_solver(solver)
        benchmark = _benchmark(name)
        from adelic.benchmark import drawn

        source = plan_source(quick=quick, plan_file=plan_file)
        own = [solver for solver in solvers or () if solver not in SOLVER_MODULES]
        whole = benchmark.read_plan(source, own_solvers=own) if own else benchmark.read_plan(source)
        if examples is not None:
            whole = [series.at_most(examples) for series in whole]
        chosen = drawn.choose(whole, tasks=tasks or None, solvers=solvers, examples=sizes, seeds=seeds)
        return source, whole, drawn.experiments(chosen)

    return read


def _benchmark(name: str) -> Any:
    return importlib.import_module(f"adelic.benchmark.{name.replace('-', '_')}")  # torch is loaded when it is asked for


_HELP = """\
    Finished runs are read, never run again, and a network goes on from its last checkpoint, so the command can be given
    again after Ctrl-C, a kill or a spent --budget. The report is always about the whole plan: what has not been run is
    said to be "not run". The whole plan has its results in results/{name}, and in a clone its tables go into
    docs/{page} and the page docs/{page}.md. With {other}, folders are results/{name}-NAME and the folder report in it,
    unless they are given.

    \b
    adelic reproduce {name} --quick
    adelic reproduce {name} --seeds 0
    adelic reproduce {name}
"""
_NETWORKS = """
    Each run trains one model on one task, as `adelic train gcd --embedding fone --examples 1000000` does, and counts
    the answers that are exactly right: on unseen questions of the same kind, and on splits unlike all in training.
    TASKS are names of tasks; all of the plan by default. `adelic data list` says what each asks for.
"""
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
    problems: addition, subtraction, multiplication, exact-division, modular-inverse,
              modular-inverse-prime, fraction-addition, fraction-multiplication, sum, product,
              polynomial, comparison; with --plan also expression, determinant-2, determinant-3,
              polynomial-value, recurrence, linear-system, matrix-program, recurrence-program,
              system-program
    solvers:  SOLVERS

    `adelic train --help` says what each solver is. Rivals as their authors published them are
    adelic.training.solvers.rivals.published:FoNE (or :ShiftedFoNE, :XVal, :LogXVal, :NumberTokenLoss), and one of your
    own is package.module:Class, a subclass of adelic.training.solvers.Solver.

    \b
    adelic reproduce arithmetic --only addition --solvers adelic-placewise,fone --examples 100,1000 --seeds 0-2
    adelic reproduce arithmetic --only fraction-addition --solvers my_package.solvers:Mine
"""
_SOLVERS = textwrap.fill(", ".join(SOLVER_MODULES), width=88, subsequent_indent=" " * 14, break_on_hyphens=False)
_of_networks = stack(
    click.argument("tasks", nargs=-1),
    click.option(
        "--examples",
        type=click.IntRange(1),
        help="Train on at most this number of questions, for a first look; the results have folders of their own.  "
        "[default: the plan's]",
    ),
)
_of_solvers = stack(
    click.option("--only", "tasks", type=NAMES, help="Run these problems only, as addition,sum.  [default: all]"),
    click.option("--solvers", type=NAMES, help="Run these solvers only, as fone,base-10.  [default: all]"),
    click.option(
        "--examples",
        "sizes",
        type=INTEGERS,
        help="Run these numbers of training examples only, as 100,1000.  [default: all]",
    ),
)
_networks: dict[str, Any] = {"row": "task and size", "other": "--quick, --plan or --examples"}
arithmetic = _command(
    "arithmetic",
    "arithmetic",
    _of_solvers,
    _ARITHMETIC.replace("SOLVERS", _SOLVERS),
    row="problem and size",
    other="--quick or --plan",
)
number_theory = _command("number-theory", "number-theory", _of_networks, _NUMBER_THEORY + _NETWORKS, **_networks)
columns = _command("columns", "features", _of_networks, _COLUMNS + _NETWORKS, **_networks)
BENCHMARKS = {command.name or "": command for command in (arithmetic, number_theory, columns)}
"""The commands by name."""
