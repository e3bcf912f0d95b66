"""`adelic predict`: the answers of a trained run for new rows."""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from adelic.cli.options import File, RunsDir
from adelic.cli.outputs import check_output
from adelic.errors import ConfigurationError
from adelic.numbers.columns.lossy import LOSSY
from adelic.numbers.describe import number_text
from adelic.storage.files import atomic_write

PREDICTION, PROBABILITY = "prediction", "probability"


def predict(
    run: str,
    table: File,
    /,
    *,
    runs_dir: RunsDir = Path("runs"),
    output: File | None = None,
    lossy: Annotated[str | None, Parameter(choices=LOSSY)] = None,
) -> None:
    """Predict the target of new rows by a finished RUN on your table.

    adelic train examples/days.csv --target weekday --features one-hot-digits --epochs 3 --run-dir runs/days
    adelic predict runs/days examples/days.csv --output predicted.csv

    The output is a CSV of all columns of the table and a further one, prediction; for classes also probability, the
    model's confidence. The table that the run was trained on must be in its place, unchanged.

    An embedding computes the vectors of new numbers from their digits or values. Embeddings with one vector per number
    (learned, one-hot, random) know no new numbers, and the command tells you. A model outside the Transformer (train
    --model) is fitted once more, to the same rows.

    Args:
        run: Its label, the beginning of its label, or the path of its folder; `adelic runs list` lists the runs.
        table: The new rows: a file (CSV, JSON lines or Parquet) with the columns that the run was trained on, under
            the same names. The target and other columns may be there or not.
        output: File to write, .csv.  [default: the standard output]
        lossy: How to treat numbers lost in floats, or text as 00501.  [default: as in training]
    """
    import adelic_lab
    from adelic.data.tables.files import read_table

    found_run = adelic_lab.find_run(run, runs_dir)
    if output is not None:
        trained_on = found_run.configuration.get("data", {}).get("path")
        check_output(output, ".csv", inputs=[table, *([Path(trained_on)] if isinstance(trained_on, str) else [])])
    frame = read_table(table)
    for name in (PREDICTION, PROBABILITY):
        if name in frame:
            raise ConfigurationError(f"{table} has a column {name!r} already; rename it there")
    found = adelic_lab.predict(found_run.folder, frame, lossy=lossy)
    columns = {**frame, PREDICTION: found.answers}
    if found.probabilities is not None:
        columns[PROBABILITY] = found.probabilities
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(_cell, row) for row in zip(*columns.values(), strict=True))
    if output is None:
        print(text.getvalue(), end="")
        return
    atomic_write(output, text.getvalue())
    print(f"wrote {output}: {len(found.answers):,} rows")


def _cell(value: Any, *, is_inside: bool = False) -> str:
    """Return a value of a table as text: numbers with all digits, truth values, objects and lists as JSON has them.

    >>> _cell("a"), _cell(None), _cell(True), _cell({"a": [1, None, "b", Decimal("0.10")]})
    ('a', '', 'true', '{"a": [1, null, "b", 0.10]}')
    """
    if isinstance(value, dict):
        pairs = (f"{json.dumps(str(key), ensure_ascii=False)}: {_cell(v, is_inside=True)}" for key, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_cell(v, is_inside=True) for v in value)}]"
    if isinstance(value, int) and not isinstance(value, bool):
        return number_text(value)  # of any length
    if isinstance(value, bool | float) or (value is None and is_inside):
        return json.dumps(value)
    text = "" if value is None else str(value)
    return json.dumps(text, ensure_ascii=False) if is_inside and not isinstance(value, Decimal) else text
