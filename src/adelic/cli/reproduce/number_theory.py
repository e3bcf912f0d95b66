"""`adelic reproduce number-theory`: the number theory benchmark."""

from pathlib import Path
from typing import Any

import click

from adelic.cli.reproduce.plans import HOW, plan_options, plan_source, run_and_report
from adelic.training.experiment import Experiment


@click.command()
@click.argument("tasks", nargs=-1)
@click.option(
    "--examples",
    type=click.IntRange(1),
    help="Train on at most this number of questions: a run of another kind, for a first look.  [default: the plan's]",
)
@plan_options("number-theory", "task and size")
@click.pass_obj
def number_theory(command: str, /, **given: Any) -> None:
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
    from adelic.benchmark import number_theory

    how = {name: given.pop(name) for name in HOW}
    source, whole, chosen = plan_of_number_theory(**given)
    run_and_report(
        "number-theory",
        source,
        chosen,
        lambda results, report: number_theory.write_report(whole, results, report),
        command=command,
        **how,
    )


def plan_of_number_theory(
    *, tasks: tuple[str, ...], examples: int | None, plan_file: Path | None, seeds: tuple[int, ...] | None, quick: bool
) -> tuple[str | Path, list[Any], list[Experiment]]:
    """Return the source of the plan that the options of the command mean, the series in it, and the chosen runs."""
    from adelic.benchmark import number_theory

    source = plan_source(quick=quick, plan_file=plan_file)
    whole = number_theory.read_plan(source)
    if examples is not None:
        whole = [series.at_most(examples) for series in whole]
    chosen = number_theory.experiments(number_theory.choose(whole, tasks=tasks or None, seeds=seeds))
    return source, whole, chosen
