"""Damaged data bases of `adelic tune`: an error that names the file, or what would have come out anyway."""

import os
import shutil
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import adelic_lab
from adelic.data.sources import TaskData
from adelic.errors import StorageError
from adelic_lab.runs.folders import search_summary
from adelic_lab.search.dimensions import Search
from targets.case import Case, check_error

SEARCH = Search(
    config=adelic_lab.Experiment(
        data=TaskData("schubert", 3),
        model=adelic_lab.EmbeddingConfig.of("learned"),
        recipe=adelic_lab.load_recipe(
            "quick", "schubert-3", epochs=2, n_layers=1, d_model=16, n_heads=2, d_feedforward=16
        ),
    ),
    dimensions=("norm", "learning-rate", "batch-size=256:512"),
)
TRIALS = 4
EDITS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("trial_values", "value", (1e308, -1.0, 1.5, 0.25, None, "x")),
    ("trial_values", "value_type", ("INF_POS", "INF_NEG", "x")),
    ("trial_intermediate_values", "intermediate_value", (1e308, 0.123, None)),
    ("trial_params", "param_value", (1e308, -1.0, 7.0, 0.004, "x")),
    ("trial_params", "param_name", ("norm", "unknown", "")),
    ("trial_params", "distribution_json", ("{}", "[]", "", '{"name": "IntDistribution", "attributes": {}}')),
    ("trial_user_attributes", "value_json", ("{}", "[]", "", '{"loss": 1e308}', '"x"')),
    ("trial_user_attributes", "key", ("figures", "unknown", "")),
    ("trials", "state", ("PRUNED", "COMPLETE", "x")),
    ("trials", "number", (0, 7, -1, None)),
    ("trials", "study_id", (2, 0)),
    ("study_directions", "direction", ("MINIMIZE", "x")),
    ("studies", "study_name", ("mine", "")),
    ("version_info", "schema_version", (1, 99)),
    ("alembic_version", "version_num", ("x",)),
)
"""Table, column, and values that a hand may write there."""


def searches(case: Case) -> None:
    """Damage the data base of a finished search, go on with the search, and list it."""
    before = case.folder / "tune" / "before.db"
    if not before.exists():
        adelic_lab.tune(SEARCH, trials=TRIALS, storage=before, device="cpu")
    expected = _outcome(before)
    path = case.folder / "tune" / "attacked.db"
    for left in path.parent.glob("attacked*"):
        left.unlink()
    shutil.copyfile(before, path)
    what = _edit(case, path) if case.chance(0.5) else _flip(case, path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        listed = search_summary(path)
        assert listed.problem or listed.best == max(trial.accuracy for trial in expected), f"{what} is listed"
        try:
            found = _outcome(path)
        except StorageError as error:
            check_error(error)
            named = str(error)
            assert path.name in named, f"{what}: the error does not name the file: {named}"
            case.counts["errors"] += 1
            return
    assert found == expected, f"{what} changes what comes out, without an error"
    case.counts["equal, with a warning" if said else "equal"] += 1


def _outcome(path: Path) -> tuple[Any, ...]:
    return adelic_lab.tune(SEARCH, trials=TRIALS, storage=path, device="cpu").trials


def _flip(case: Case, path: Path) -> str:
    """Flip a bit, more often one that is not in an empty part of a page."""
    content = bytearray(path.read_bytes())
    used = [i for i, byte in enumerate(content) if byte]
    at = case.rng.choice(used) if case.chance(0.9) else case.rng.randrange(len(content))
    bit = case.rng.randrange(8)
    content[at] ^= 1 << bit
    path.write_bytes(content)
    return f"bit {bit} of byte {at}"


def _edit(case: Case, path: Path) -> str:
    """Change, or delete, a row or all rows of a table."""
    table, column, values = case.rng.choice(EDITS)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        rows = [row for (row,) in connection.execute(f"SELECT rowid FROM {table}")]
        chosen = rows if case.chance(0.3) else [case.rng.choice(rows)]
        value = case.rng.choice(values)
        for row in chosen:
            try:
                if case.chance(0.2):
                    connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
                else:
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
            except sqlite3.IntegrityError:
                case.counts["edits that SQLite refuses"] += 1
    os.utime(path)
    return f"{table}.{column} = {value!r} in rows {chosen}"
