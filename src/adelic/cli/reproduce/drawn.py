"""`adelic reproduce number-theory` and `columns`: the benchmarks of networks on drawn tasks, one mechanism for both."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from adelic.cli.reproduce.plans import HOW, plan_options, plan_source, run_and_report
from adelic.data import drawn_task
from adelic.training.experiment import Experiment

Plan = tuple[str | Path, list[Any], list[Experiment]]
"""The source of a plan, the series in it, and the runs that were chosen."""


def _command(name: str, module: str, page: str, help_text: str) -> click.Command:
    """Return the command of a benchmark.

    Args:
        name: of the benchmark, as in its folders.
        module: in `adelic.benchmark`, which has its plans and writes its report.
        page: of the documentation that shows it.
        help_text: of the command, above what is said of all.
    """

    @click.command(name, help=f"{help_text}\n\n{_HELP.format(name=name, page=page)}")
    @click.argument("tasks", nargs=-1)
    @click.option(
        "--examples",
        type=click.IntRange(1),
        help="Train on at most this number of questions, for a first look; the results have folders of their own.  "
        "[default: the plan's]",
    )
    @plan_options(name, "task and size", page=page)
    @click.pass_obj
    def command(line: str, /, **given: Any) -> None:
        how = {option: given.pop(option) for option in HOW}
        source, whole, chosen = plan_of(module)(**given)
        benchmark = _benchmark(module)
        run_and_report(
            name,
            source,
            chosen,
            lambda results, report: benchmark.write_report(whole, results, report),
            command=line,
            page=page,
            examples=given["examples"],
            **how,
        )

    return command


def plan_of(module: str) -> Callable[..., Plan]:
    """Return the function from a command's options, those that say what to run, to the plan that they mean."""

    def read(
        *,
        tasks: tuple[str, ...],
        examples: int | None,
        plan_file: Path | None,
        seeds: tuple[int, ...] | None,
        quick: bool,
    ) -> Plan:
        for name in tasks:
            drawn_task(name)  # before torch is loaded
        benchmark = _benchmark(module)
        source = plan_source(quick=quick, plan_file=plan_file)
        whole = benchmark.read_plan(source)
        if examples is not None:
            whole = [series.at_most(examples) for series in whole]
        return source, whole, benchmark.experiments(benchmark.choose(whole, tasks=tasks or None, seeds=seeds))

    return read


def _benchmark(module: str) -> Any:
    return importlib.import_module(f"adelic.benchmark.{module}")  # torch is loaded when a plan is asked for


_HELP = """\
    Each run trains one model on one task, as `adelic train gcd --embedding fone --examples 1000000` does, and counts
    the answers that are exactly right: on unseen questions of the same kind, and on splits unlike all in training.
    TASKS are names of tasks; all of the plan by default. `adelic data list` says what each asks for.

    Finished runs are read, never run again, and a network goes on from its last checkpoint, so the command can be given
    again after Ctrl-C, a kill or a spent --budget. The report is always about the whole plan: what has not been run is
    said to be "not run". The whole plan has its results in results/{name}, and in a clone its tables go into
    docs/{page} and the page docs/{page}.md. With --quick, --plan or --examples, folders are results/{name}-NAME and the
    folder report in it, unless they are given.

    \b
    adelic reproduce {name} --quick
    adelic reproduce {name} --seeds 0
    adelic reproduce {name}
"""
_NUMBER_THEORY = """\
    Find out which number representation learns number theory: divisors, squares, signs, conics.
"""
_COLUMNS = """\
    Find out which form of AOE, or which rival, reads what is asked of number columns: residues, sums, sizes, dates.
"""
number_theory = _command("number-theory", "number_theory", "number-theory", _NUMBER_THEORY)
columns = _command("columns", "columns", "features", _COLUMNS)
