"""Result files: the keys that a result.json has, and reading one that may be damaged."""

import math
from pathlib import Path
from typing import Any

from adelic.errors import RunFolderError
from adelic.storage.checks import shown
from adelic.storage.files import read_bytes
from adelic.storage.records import DamagedTextError, parse_checksums, parse_sealed, sha256
from adelic.training.predictions import unpack
from adelic.training.renamed import with_todays_names
from adelic.training.result_schema import (
    ALSO,
    CLASS_METRICS,
    CONFIGURATION,
    COUNT,
    CURVES,
    EMBEDDING,
    NUMBER,
    NUMBER_METRICS,
    OPTION,
    RATE,
    RECIPE,
    SCHEMA,
    TABLE,
    TEXT,
    Kind,
)

_REMEDY = "--restart begins this run anew; without DONE, the same command judges the checkpoint once more"


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
        schema: the keys that it must have, and the kinds of their values.

    Raises:
        RunFolderError: it is damaged, or no result of a run.
        StorageError: it cannot be read.
    """
    content = read_bytes(path)
    return None if content is None else parse_result(content, str(path), schema)


def parse_result(content: bytes, place: str, schema: dict[str, Any] = SCHEMA) -> dict[str, Any]:
    """Return the result that a text holds, after a look at all that is made of it.

    Args:
        content: JSON.
        place: where it stands, in words.
        schema: the keys that it must have, and the kinds of their values.

    Raises:
        RunFolderError: it is damaged, or no result of a run; the message names the place and the key.

    >>> parse_result(b"{}", "results/table/schubert-4.jsonl line 3")
    Traceback (most recent call last):
    adelic.errors.RunFolderError: results/table/schubert-4.jsonl line 3 is no result of a run: it has no task
    """
    try:
        result = parse_sealed(content, older_end="data_sha256")
        _check(result, schema)
        if schema is SCHEMA:
            result["configuration"] = with_todays_names(result["configuration"])
            _check_configuration(result["configuration"])
            _check_figures(result)
            _check_answers(result)
    except (DamagedTextError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RunFolderError(f"{place} is no result of a run: {reason}") from None
    return result


def _check_configuration(configuration: dict[str, Any]) -> None:
    """Raise `DamagedTextError` where a configuration has another form than one that was run."""
    for key, part in configuration.items():
        _check_kind(part, OPTION, f"configuration.{key}")
    _check_known(configuration, CONFIGURATION, "configuration.")
    recipe = configuration["recipe"]  # of a model outside the Transformer, a search with trials
    of_network = {"epochs": COUNT, "batch_size": COUNT, "learning_rate": NUMBER}
    _check(recipe, {"trials": COUNT} if "trials" in recipe else of_network, "configuration.recipe.")
    for name, schema in (("recipe", RECIPE), ("embedding", EMBEDDING), ("data", {"seed": COUNT})):
        _check_known(configuration.get(name, {}), schema, f"configuration.{name}.")


def _check_figures(result: dict[str, Any]) -> None:
    """Raise `DamagedTextError` where a result lacks a figure that its kind of prediction has, or has no such figure."""
    _check_known(result, ALSO)
    is_number = "mean_squared_error" in result["test"]
    metrics = NUMBER_METRICS if is_number else CLASS_METRICS
    _check(result["test"], metrics, "test.")
    for name, value in result["test"].items():
        _check_kind(value, NUMBER, f"test.{name}")
    if len({len(result["history"][name]) for name in CURVES}) > 1:
        raise DamagedTextError("history has curves of different lengths")
    if "exact_match" in result["test"]:  # several targets, or a number
        guess = ("exact_match", "mean_squared_error") if is_number else ("exact_match",)
        _check(result, {"guess": {name: metrics.get(name, RATE) for name in guess}})
        if not is_number:
            _check(result["test"], {"exact_match": RATE}, "test.")
            _check(result, {"targets": TABLE.listed()})
            for index, target in enumerate(result["targets"]):
                _check(target, {"accuracy": RATE, "majority": RATE, **CLASS_METRICS}, f"targets[{index}].")


def _check_answers(result: dict[str, Any]) -> None:
    """Raise `DamagedTextError` where classes, confusion matrix, labels and predictions do not fit together."""
    names = result.get("class_names")
    if names is not None and "confusion" in result and len(result["confusion"]) != len(names):
        raise DamagedTextError(f"confusion is of {len(result['confusion'])} classes, and class_names of {len(names)}")
    if "predictions" not in result:
        return
    required = {"labels": TEXT} | ({} if "shape" in result and "range" in result else {"class_names": TEXT.listed()})
    _check(result, required)
    shape = tuple(result["shape"]) if "shape" in result else (result["rows"]["test"],)
    least, greatest = result["range"] if "range" in result else (0, len(result["class_names"]) - 1)
    for key in ("labels", "predictions"):
        if math.prod(shape) > 8 * (len(result[key]) + 1):  # an answer takes a bit or more, and a letter holds six
            raise DamagedTextError(f"{key} is too short for {math.prod(shape)} answers")
        try:
            found = unpack(result[key], shape, greatest - least + 1)
        except ValueError as error:
            raise DamagedTextError(f"{key} is damaged ({error})") from None
        if found.max(initial=0) > greatest - least:
            raise DamagedTextError(f"{key} has an answer {least + found.max()}, and the greatest is {greatest}")


def _check(part: Any, schema: dict[str, Any], prefix: str = "") -> None:
    """Raise `DamagedTextError` where a part of a result lacks a key or has a value of another kind."""
    if not isinstance(part, dict):
        raise DamagedTextError(f"{prefix.rstrip('.')} is no table")
    for key, kind in schema.items():
        if key not in part:
            raise DamagedTextError(f"it has no {prefix}{key}")
        if isinstance(kind, dict):
            _check(part[key], kind, f"{prefix}{key}.")
        else:
            _check_kind(part[key], kind, f"{prefix}{key}")


def _check_known(part: dict[str, Any], schema: dict[str, Any], prefix: str = "") -> None:
    """Raise `DamagedTextError` where a part of a result has a value of another kind; it may lack any key."""
    _check(part, {key: kind for key, kind in schema.items() if key in part}, prefix)


def _check_kind(value: Any, kind: Kind, name: str) -> None:
    if not kind.holds(value):
        raise DamagedTextError(f"{name} is {shown(value)} instead of {kind.words}")
