"""The command `adelic probe`."""

import json
import re
from collections.abc import Sequence
from typing import Any

from adelic.cli.options import File, Json, Names, Text
from adelic.errors import ConfigurationError


def probe(
    table: File,
    /,
    *,
    target: Text,
    columns: Names | None = None,
    alpha: float = 0.01,
    seed: int = 0,
    letters: Text | None = None,
    plot: File | None = None,
    as_json: Json = False,
) -> None:
    """Find the arithmetic in the number columns of TABLE that tells its target.

    adelic probe accounts.csv --target valid
    adelic probe births.csv --target low --columns day
    adelic probe mine.parquet --target price --json
    adelic probe ibans.csv --target valid --letters base-36 --plot found.svg

    Tried are remainders, digits, valuations, check digits, parts of dates and size. One half of the rows chooses, the
    other half confirms. Each finding is a sentence, with how to compute it and a picture.

    Args:
        table: A CSV file with a header line, a file of JSON lines or a Parquet file.
        target: The column to tell.
        columns: The columns to read, as a,b.  [default: all others]
        alpha: In columns of noise something is found with at most about this probability.
        seed: Of the two halves.
        letters: base-36 reads letters as 10 (A) to 35 (Z), as IBAN does.
        plot: Write the pictures to this SVG file, too.
    """
    from adelic.data.tables.files import read_table
    from adelic.probing import probe as probe_columns
    from adelic.storage.files import atomic_write

    if plot and plot.suffix != ".svg":
        raise ConfigurationError(f"--plot {plot} is a picture in SVG; give it a name that ends in .svg")
    found = read_table(table)
    for name in (target, *(columns or ())):
        if name not in found:
            raise ConfigurationError(f"{table} has no column {name!r}; it has {', '.join(found)}")
    chosen = {name: found[name] for name in columns or [name for name in found if name != target]}
    if not chosen:
        raise ConfigurationError(f"{table} has no column but {target!r}; there is nothing to read")
    findings = probe_columns(chosen, Target(target, _numbers(found[target])), alpha=alpha, seed=seed, letters=letters)
    if plot:
        atomic_write(plot, findings.plot())
    if as_json:
        fields = ("column", "kind", "modulus", "score", "sentence", "table")
        print(json.dumps([{field: getattr(one, field) for field in fields} for one in findings], ensure_ascii=False))
        return
    for i, one in enumerate(findings, 1):
        print(f"{i}. {one.sentence}\n\n{one.picture()}\n")
    if not findings:
        print(f"nothing found: no arithmetic of {', '.join(chosen)} tells {target}")


class Target(list[Any]):
    """Values with the name of their column, as a series has it."""

    def __init__(self, name: str, values: list[Any]) -> None:
        super().__init__(values)
        self.name = name


def _numbers(column: Sequence[Any]) -> list[Any]:
    """Return the numbers of texts if all are numbers, else the texts; None for empty ones."""
    values = [None if value == "" else value for value in column]
    texts = [value for value in values if isinstance(value, str)]
    if any(re.fullmatch(r"-?0\d+", text) for text in texts):
        return values  # labels, as 03
    try:
        read = {text: int(text) if re.fullmatch(r"-?\d+", text) else float(text) for text in texts}
    except ValueError:
        return values
    return [read.get(value, value) if isinstance(value, str) else value for value in values]
