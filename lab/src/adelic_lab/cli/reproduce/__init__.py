"""`adelic reproduce`: matrices of runs, the benchmarks with a plan, and a queue of all these.

`rows` is for the data set's rows, `drawn` for benchmarks with a plan, and `queue` takes such commands from a file. One
more benchmark with a plan is a command like those of `drawn`.
"""

import click

from adelic.cli.options import SectionedCommand
from adelic_lab.cli.reproduce.drawn import BENCHMARKS
from adelic_lab.cli.reproduce.queue import queue
from adelic_lab.cli.reproduce.rows import rows

__all__ = ["reproduce"]


class Reproduce(SectionedCommand):
    """The command for rows; with the name of another benchmark first, the one for that; with --queue, a queue's."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        """Return the context of the command that the arguments mean."""
        for name, command in BENCHMARKS.items():
            if args[:1] == [name]:
                return command.make_context(f"{info_name} {name}", args[1:], parent, **extra)
            if name in args:
                raise click.UsageError(f"{name} comes first: adelic reproduce {name} …", ctx=parent)
        if any(word.partition("=")[0] == "--queue" for word in args):
            return queue.make_context(info_name, args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


reproduce = Reproduce("reproduce", params=rows.params, callback=rows.callback, help=rows.help)
