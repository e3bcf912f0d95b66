"""Files of tables: CSV, JSON lines and Parquet, read without losing a digit."""

import csv
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from adelic.data.tables import Columns, columns_of
from adelic.errors import ConfigurationError, StorageError, needs_extra
from adelic.numbers import integers
from adelic.numbers.describe import one_line
from adelic.storage.files import storage_errors

READABLE = "name a file that exists and is readable"
_SEPARATORS = ",;\t|"
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")


def read_table(path: str | Path) -> Columns:
    r"""Return the columns of a file: CSV (with a header line), JSON lines (an object a line) or Parquet.

    Numbers in CSV and JSON are read from their text, so no digit is lost. The text is UTF-8. The columns of CSV are
    separated by commas, semicolons, tabs or |: by what makes most columns of the header, and as many of the next line.
    Next to semicolons a comma in numbers is a decimal point, as spreadsheets write them in much of Europe, if a column
    has nothing but such numbers.

    Raises:
        StorageError: there is no such file, or it cannot be read, or Parquet is damaged.
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
        except UnicodeDecodeError:
            raise ConfigurationError(f"{path} is not UTF-8 text; save it as UTF-8") from None
        except (ValueError, RecursionError, csv.Error) as error:
            raise ConfigurationError(f"{path} is not a table: {str(error).splitlines()[0]}") from None
    if not found or not len(next(iter(found.values()))):
        raise ConfigurationError(f"{path} has no rows")
    return found


def check_file(path: Path) -> None:
    """Raise unless a path may be a table's file.

    >>> check_file(Path("mine.xlsx"))
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: mine.xlsx is not a table: its name must end in .csv, .tsv, .jsonl or .parquet;
    save it as one of these
    """
    if path.suffix.lower() not in READERS:
        raise _wrong_ending(path)
    with storage_errors(f"cannot read {path}", READABLE):
        if not path.is_file():
            raise StorageError(f"there is no file {path}; name one that exists")


def refuse_other_files(name: str) -> None:
    """Raise ConfigurationError for a file that is there, and whose name does not end as a table's does."""
    is_there = False
    with suppress(OSError):  # of a name that no file can have
        is_there = Path(name).is_file()
    if is_there:
        raise _wrong_ending(name)


def _wrong_ending(path: str | Path) -> ConfigurationError:
    return ConfigurationError(f"{path} is not a table: its name must end in {ENDINGS}; save it as one of these")


def is_table(name: str) -> bool:
    """Return whether a name is that of a table's file rather than of a task.

    >>> is_table("mine.parquet"), is_table("folder/mine.CSV"), is_table("schubert")
    (True, True, False)
    """
    return Path(name).suffix.lower() in READERS


def _read_csv(path: Path) -> Columns:
    # Spreadsheets begin a file with the mark U+FEFF, which utf-8 alone would read into the first column's name.
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = [file.readline(), file.readline()]
        counts = {sign: [len(row) for row in csv.reader(first, delimiter=sign)] for sign in _SEPARATORS}
        separator = max(counts, key=lambda sign: (counts[sign][0:1] == counts[sign][1:] != [1], counts[sign]))
        file.seek(0)
        lines = csv.reader(file, delimiter=separator, strict=True)
        table, begun = [], 1  # where a row begins: a text in quotes may have several lines
        try:
            for row in lines:
                table.append((begun, row))
                begun = lines.line_num + 1
        except csv.Error as error:
            raise ValueError(f"the row of line {begun} cannot be read ({error}); is a quote not closed?") from None
    header = table[0][1] if table else []
    if "\0" in "".join(header):
        raise ValueError("it has bytes of zeros; save it as UTF-8")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise ValueError(f"its header names the column {twice!r} twice")
    rows = [(begun, row) for begun, row in table[1:] if row]
    for begun, row in rows:
        if len(row) != len(header):
            raise ValueError(f"line {begun} has {len(row)} values and the header has {len(header)}")
    columns = dict(zip(header, map(list, zip(*(row for _, row in rows), strict=True)), strict=True)) if rows else {}
    if separator == ";":
        for name, values in columns.items():
            if all(_DECIMAL_COMMA.fullmatch(value) for value in values if value):
                columns[name] = [value.replace(",", ".") for value in values]
    return Columns(columns, [begun for begun, _ in rows], counted_from=1)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a key that comes twice is a ValueError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"names {next(name for name in names if names.count(name) > 1)!r} twice")
    return found


def _read_json_lines(path: Path) -> Columns:
    found: dict[str, Any] = {}
    with path.open(encoding="utf-8-sig") as file:
        lines = [(number, line) for number, line in enumerate(file, 1) if line.strip()]
    for number, line in lines:
        try:
            row = json.loads(line, parse_float=Decimal, parse_int=_whole, object_pairs_hook=_once)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} is not JSON: {error.msg} at column {error.colno}") from None
        except ValueError as error:
            raise ValueError(f"line {number} {error}") from None
        except ArithmeticError:
            raise ValueError(f"line {number} has a number whose exponent is beyond what can be read") from None
        if not isinstance(row, dict) or (found and row.keys() != found.keys()):
            raise ValueError(f"line {number} is not an object with the keys of the first line")
        for key, value in row.items():
            found.setdefault(key, []).append(value)
    return Columns(found, [number for number, _ in lines], counted_from=1)


def _whole(text: str) -> int:
    return integers.parse(text.lstrip("-")) * (-1 if text.startswith("-") else 1)  # int() stops at 4,300 digits


def _read_parquet(path: Path) -> Columns:
    with needs_extra("Parquet", "data"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    try:
        # Where its writer wrote checksums of pages, as we do, a flipped bit of a value is an error.
        found = columns_of(pq.read_table(path, partitioning=None, page_checksum_verification=True))
        return Columns(found, counted_from=1)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk, not of what is there
            raise
        raise StorageError(
            f"{path} is damaged, or is no Parquet file: {one_line(str(error))}; write it again from its source"
        ) from None


READERS: Mapping[str, Callable[[Path], Columns]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_json_lines,
    ".parquet": _read_parquet,
}
"""Ending of a file's name -> its reader."""
ENDINGS = f"{', '.join([*READERS][:-1])} or {[*READERS][-1]}"
"""These endings in words."""
