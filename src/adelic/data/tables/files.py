"""Files of tables: CSV, JSON lines and Parquet, read without losing a digit."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from adelic.data.tables.columns import columns_of
from adelic.errors import ConfigurationError, StorageError, needs_extra
from adelic.storage.files import storage_errors

READABLE = "name a file that exists and is readable"


def read_table(path: str | Path) -> dict[str, Sequence[Any]]:
    r"""Return the columns of a file: CSV (with a header line), JSON lines (an object a line) or Parquet.

    Numbers in CSV and JSON are read from their text, so that no digit is lost.

    Raises:
        StorageError: there is no such file, or it cannot be read.
        ConfigurationError: it is not what its ending says, or has no rows.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("price,sold\n19.99,yes\n0.1000000000000000000001,no\n", encoding="utf-8")
    ...     read_table(path)
    {'price': ['19.99', '0.1000000000000000000001'], 'sold': ['yes', 'no']}
    """
    path = Path(path)
    check_file(path)
    with storage_errors(f"cannot read {path}", READABLE):
        try:
            found = READERS[path.suffix.lower()](path)
        except (ValueError, RecursionError, csv.Error) as error:
            raise ConfigurationError(f"{path} is not a table: {str(error).splitlines()[0]}") from None
    if not found or not len(next(iter(found.values()))):
        raise ConfigurationError(f"{path} has no rows")
    return found


def check_file(path: Path) -> None:
    """Raise unless a path may be a table's file.

    Raises:
        StorageError: there is no such file.
        ConfigurationError: its name does not end as a table's does.

    >>> check_file(Path("mine.xlsx"))
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: mine.xlsx is not a table: its name must end in .csv, .jsonl, .parquet
    """
    if path.suffix.lower() not in READERS:
        raise ConfigurationError(f"{path} is not a table: its name must end in {', '.join(READERS)}")
    with storage_errors(f"cannot read {path}", READABLE):
        if not path.is_file():
            raise StorageError(f"there is no file {path}; name one that exists")


def is_table(name: str) -> bool:
    """Return whether a name is that of a table's file rather than of a task.

    >>> is_table("mine.parquet"), is_table("folder/mine.CSV"), is_table("schubert")
    (True, True, False)
    """
    return Path(name).suffix.lower() in READERS


def _read_csv(path: Path) -> dict[str, Sequence[Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, strict=True)
        header = next(lines, [])
        if len(set(header)) < len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise ValueError(f"its header names the column {twice!r} twice")
        rows = []
        for row in lines:
            if row and len(row) != len(header):
                raise ValueError(f"line {lines.line_num} has {len(row)} values and the header has {len(header)}")
            rows += [row] if row else []
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}


def _read_json_lines(path: Path) -> dict[str, Sequence[Any]]:
    found: dict[str, Any] = {}
    with path.open(encoding="utf-8") as file:
        lines = [(number, line) for number, line in enumerate(file, 1) if line.strip()]
    for number, line in lines:
        row = json.loads(line, parse_float=Decimal, parse_int=_whole)
        if not isinstance(row, dict) or (found and row.keys() != found.keys()):
            raise ValueError(f"line {number} is not an object with the keys of the first line")
        for key, value in row.items():
            found.setdefault(key, []).append(value)
    return found


def _whole(text: str) -> Any:
    return int(text) if len(text) < 4000 else Fraction(Decimal(text))  # Python's own bound on digits is 4300


def _read_parquet(path: Path) -> dict[str, Sequence[Any]]:
    with needs_extra("Parquet", "data"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    try:
        return columns_of(pq.read_table(path, partitioning=None))
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None


READERS: Mapping[str, Callable[[Path], dict[str, Sequence[Any]]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_json_lines,
    ".parquet": _read_parquet,
}
"""Ending of a file's name -> its reader."""
