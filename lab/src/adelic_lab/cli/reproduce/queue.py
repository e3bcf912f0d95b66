"""`adelic reproduce --queue`: the commands in a file, one after the other, for as long as there is time."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

import click
from click.core import ParameterSource

from adelic.cli.options import DURATION, PATH, runs_option
from adelic.errors import AdelicError, ConfigurationError
from adelic.storage.allocator import keep_freed_memory
from adelic.storage.files import read_bytes
from adelic_lab.cli.outputs import check_folder
from adelic_lab.cli.reproduce.drawn import BENCHMARKS, plan_of
from adelic_lab.cli.reproduce.rows import rows, runs_of_rows, show_run
from adelic_lab.config.experiment import Experiment

_PREFIX = ["adelic", "reproduce"]
_FLOPS = 6
"""Operations of training for each multiplication of a forward pass: additions as well, and twice as much backwards."""
_OF_THE_QUEUE = frozenset(
    {"runs_dir", "device", "workers", "budget", "engine", "address", "cpus_per_run", "gpus_per_run", "tensorboard"}
) | {"page", "report_dir", "dry_run"}
"""What a command in the file does not say: how its runs are executed and shown."""


@dataclass(frozen=True)
class Line:
    """A command of a queue.

    Attributes:
        text: the command.
        runs: what it trains.
        results: folder of the results.
    """

    text: str
    runs: list[Experiment]
    results: Path


@click.command("reproduce")
@click.option("--queue", "path", type=PATH, required=True, help="File with a command adelic reproduce … a line.")
@runs_option
@click.option("--budget", type=DURATION, help="Stop after this time, as 25m or 1h30m.")
@click.option("--dry-run", is_flag=True, help="Say what each command still has to do, and train nothing.")
def queue(path: Path, runs_dir: Path, budget: float | None, *, dry_run: bool) -> None:
    """Carry out the commands in a file, one after the other: what is worth most stands first.

    A line is a command, adelic reproduce with the options that say what to run and --results-dir; behind # is a remark.
    A run that has a result in that folder is not run again, one that was stopped goes on from its last checkpoint, and
    one that another process has is left to it, so that the same queue may be given in several terminals. Each run has
    one thread, at the lowest priority, so that there is a core for your work.

    \b
    adelic reproduce --queue experiments/queue.txt --budget 150m
    adelic reproduce --queue experiments/queue.txt --dry-run
    """
    keep_freed_memory()
    import adelic_lab

    lines = read_queue(path)
    check_folder(runs_dir, "--runs-dir")
    for line in lines:
        check_folder(line.results, "--results-dir")
    if not dry_run:
        import torch

        if hasattr(os, "nice"):  # Windows has other priorities
            os.nice(19)
        torch.set_num_threads(1)
        time = adelic_lab.Budget() if budget is None else adelic_lab.Budget(budget)
        for line, left in _left(lines):
            if time.spent:
                break
            if not left:
                continue
            click.echo(line.text)
            adelic_lab.run_matrix(
                line.runs,
                runs=runs_dir,
                results=line.results,
                device="cpu",
                engine=adelic_lab.EmbeddedEngine(waits=False),
                budget=time,
                on_run=show_run,
            )
    for line, left in _left(lines):
        work = _FLOPS * sum(adelic_lab.outstanding_work(run, runs_dir) for run in left if run.is_network)
        rest = f", about {work:.1e} FLOPs left" if work else ""
        click.echo(f"{len(line.runs) - len(left)} of {len(line.runs)} done{rest}: {line.text}")


def _left(lines: list[Line]) -> list[tuple[Line, list[Experiment]]]:
    """Return each command with its runs that have no result yet; a folder of results is read once for all of them."""
    import adelic_lab

    runs_of: dict[Path, list[Experiment]] = {}
    for line in lines:
        runs_of.setdefault(line.results, []).extend(line.runs)
    left_in = {folder: set(adelic_lab.outstanding(runs, folder)) for folder, runs in runs_of.items()}
    return [(line, [run for run in line.runs if run in left_in[line.results]]) for line in lines]


def read_queue(path: Path) -> list[Line]:
    """Return the commands in a file.

    Raises:
        StorageError: it cannot be read.
        ConfigurationError: a line is not a command for a queue; the message names it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     path = Path(name, "queue.txt")
    ...     _ = path.write_text("adelic reproduce schubert-4 --seeds 0-2  # AOE and learned vectors")
    ...     [(len(line.runs), str(line.results)) for line in read_queue(path)]
    [(6, 'results')]
    """
    content = read_bytes(path, remedy="choose another --queue", streams=True)
    if content is None:
        raise ConfigurationError(f"there is no file {path}; --queue names one with a command adelic reproduce … a line")
    found = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            words = shlex.split(line.decode(), comments=True)
            if words:
                found.append(_line(words))
        except (AdelicError, click.UsageError, ValueError) as error:
            message = error.format_message() if isinstance(error, click.UsageError) else str(error)
            raise ConfigurationError(f"{path} line {number}: {message}") from None
    return found


def _line(words: list[str]) -> Line:
    """Return a command of a queue."""
    if words[:2] != _PREFIX:
        raise ConfigurationError(f"{shlex.join(words)!r} does not begin with {shlex.join(_PREFIX)!r}")
    benchmark = words[2] if words[2:] else ""
    command = BENCHMARKS.get(benchmark, rows)
    with command.make_context("reproduce", words[2 if command is rows else 3 :]) as context:
        for name in context.params:
            if name in _OF_THE_QUEUE and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                (option,) = (each for each in command.params if each.name == name)
                raise ConfigurationError(f"{option.opts[0]} does not belong into a queue, which says it for all lines")
        what = {name: value for name, value in context.params.items() if name not in _OF_THE_QUEUE}
        given = what.pop("results_dir")
        if command is rows:
            runs, own = runs_of_rows(**what), Path("results")
        else:
            plan = plan_of(benchmark, **what)
            runs, own = plan.chosen, plan.results
    return Line(shlex.join(words), runs, given or own)
