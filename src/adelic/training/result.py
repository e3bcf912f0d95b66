"""Result files: the keys that a result.json has, and reading one that may be damaged."""

from pathlib import Path
from typing import Any

from adelic.acd.files import read_bytes
from adelic.acd.records import DamagedTextError, parse_checksums, parse_record, sha256
from adelic.errors import RunFolderError

_REMEDY = "--restart begins this run anew; without DONE, the same command judges the checkpoint once more"
_METRICS = dict.fromkeys(("accuracy", "loss"), float)
_CLASS_METRICS = dict.fromkeys(("balanced_accuracy", "macro_f1"), float)
_NUMBER_METRICS = dict.fromkeys(("exact_match", "mean_absolute_error", "mean_squared_error"), float)
_CURVES = dict.fromkeys(("train_loss", "validation_loss", "validation_accuracy"), list)
SCHEMA: dict[str, Any] = {
    "task": str,
    "n": int,
    "edition": str,
    "split": str,
    "embedding": str,
    "features": str,
    "recipe": str,
    "seed": int,
    "test": _METRICS,
    "majority": float,
    "lookup": float,
    "predicts_one_class": bool,
    "parameters": int,
    "seconds": float,
    "device": str,
    "versions": dict,
    "commit": (str, type(None)),
    "command": str,
    "configuration": {"recipe": dict},
    "history": _CURVES,
}
"""What every result has at least: a type, or a table of further keys."""


def read_done(folder: Path) -> dict[str, str]:
    """Return the SHA-256 that a finished run's file DONE lists, by name; none in an older one, which is empty.

    Raises:
        RunFolderError: it is damaged.

    >>> read_done(Path("no such folder"))
    {}
    """
    path = folder / "DONE"
    try:
        return parse_checksums(read_bytes(path) or b"")
    except DamagedTextError as error:
        raise RunFolderError(f"{path} is damaged: {error}; {_REMEDY}") from None


def check_sum(path: Path, content: bytes, listed: dict[str, str]) -> None:
    """Raise `RunFolderError` if a file has another SHA-256 than the one that is listed for its name, if one is."""
    if listed.get(path.name, expected := sha256(content)) != expected:
        raise RunFolderError(f"{path} is damaged: it does not have the SHA-256 that stands in DONE; {_REMEDY}")


def read_result_file(path: Path, schema: dict[str, Any] = SCHEMA) -> dict[str, Any] | None:
    """Return the content of a result file, or None if there is no such file.

    Args:
        path: of the file.
        schema: the keys that it must have, and the types of their values.

    Raises:
        RunFolderError: it is damaged, or no result of a run.
        StorageError: it cannot be read.
    """
    content = read_bytes(path)
    return None if content is None else parse_result(content, str(path), schema)


def parse_result(content: bytes, place: str, schema: dict[str, Any] = SCHEMA) -> dict[str, Any]:
    """Return the result that a text holds.

    Args:
        content: JSON.
        place: where it stands, in words.
        schema: the keys that it must have, and the types of their values.

    Raises:
        RunFolderError: it is damaged, or no result of a run.

    >>> parse_result(b"{}", "results/table/schubert-4.jsonl line 3")
    Traceback (most recent call last):
    adelic.errors.RunFolderError: results/table/schubert-4.jsonl line 3 is no result of a run: it has no task
    """
    try:
        result = parse_record(content)
    except DamagedTextError as error:
        raise RunFolderError(f"{place} is no result of a run: {error}") from None
    _check(result, schema, place, "")
    if schema is SCHEMA:
        _check_figures(result, place)
        recipe = result["configuration"]["recipe"]  # of a model outside the Transformer, a search with trials
        _check(recipe, {"trials" if "trials" in recipe else "epochs": int}, place, "configuration.recipe.")
    return result


def _check_figures(result: dict[str, Any], path: str) -> None:
    """Raise `RunFolderError` where the figures lack one that this kind of prediction has."""
    is_number = "mean_squared_error" in result["test"]
    _check(result["test"], _NUMBER_METRICS if is_number else _CLASS_METRICS, path, "test.")
    if "exact_match" in result["test"]:  # several targets, or a number
        _check(result, {"guess": {"exact_match": float}}, path, "")


def _check(part: Any, schema: dict[str, Any], path: str, prefix: str) -> None:
    """Raise `RunFolderError` where a part of a result lacks a key or has a value of another kind."""
    if not isinstance(part, dict):
        raise RunFolderError(f"{path} is no result of a run: {prefix.rstrip('.') or 'it'} is no table")
    for key, kind in schema.items():
        if key not in part:
            raise RunFolderError(f"{path} is no result of a run: it has no {prefix}{key}")
        value = part[key]
        if isinstance(kind, dict):
            _check(value, kind, path, f"{prefix}{key}.")
        elif not isinstance(value, (float, int) if kind is float else kind):
            raise RunFolderError(f"{path} is no result of a run: {prefix}{key} is {value!r:.40}")
