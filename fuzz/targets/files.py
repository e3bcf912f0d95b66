"""One flipped bit in a file that the package wrote: an error that names the file, or what would have come out anyway.

A configuration that is changed is one of another run, so that the error names the folder and what differs.
"""

import shutil
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import adelic_lab
from adelic import AdelicError, acd
from adelic.data import StoreWarning
from adelic_lab.report.files import write_result
from adelic_lab.runs.folders import list_runs
from adelic_lab.train.signals import Stopped
from targets.case import Case, check_error
from targets.runs import outcome, random_config, stop_after, timeless, weights


def files(case: Case) -> None:
    """Flip a bit of one file of one kind, and use the file."""
    kind = case.rng.choice(list(KINDS))
    use, names = KINDS[kind]
    prepared = case.folder / "prepared"
    if not prepared.is_dir():
        _prepare(prepared)
    folder = case.folder / "attacked"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prepared / kind, folder)
    (path,) = folder.glob(case.rng.choice(names))
    content = bytearray(path.read_bytes())
    at = case.rng.randrange(8 * len(content))
    content[at // 8] ^= 1 << at % 8
    path.write_bytes(content)
    what = f"bit {at} of {kind}/{path.relative_to(folder)}"
    try:
        same = use(folder, prepared)
    except AdelicError as error:
        named = str(error)
        place = str(folder) if path.name == "config.toml" else path.name
        assert place in named, f"{what}: the error does not name the file: {named}"
        check_error(error)
        case.counts[f"{path.suffix.lstrip('.') or path.name}: errors"] += 1
        return
    assert same, f"{what} changes what comes out, without an error"
    case.counts[f"{path.suffix.lstrip('.') or path.name}: equal"] += 1


def _config() -> adelic_lab.Experiment:
    return random_config(Random(0), epochs=2, batch_size=32)


def _prepare(folder: Path) -> None:
    """Make one folder of each kind, and what comes out of each unharmed."""
    acd.build("schubert", n=3, cache=folder / "store")
    adelic_lab.run(_config(), folder / "finished", device="cpu")
    with suppress(Stopped):  # inside the second epoch
        adelic_lab.run(_config(), folder / "stopped", device="cpu", stop=stop_after(2))
    assert not (folder / "stopped" / "DONE").exists()
    finished = adelic_lab.read_result(folder / "finished")
    assert finished is not None
    write_result(folder / "results", _config(), finished)
    seed = finished.seed + 1
    another = replace(finished, seed=seed, configuration=finished.configuration | {"seed": seed})
    write_result(folder / "results", _config(), another)


@cache
def _rows(cache_folder: Path) -> tuple[Any, ...]:
    d = acd.load("schubert", n=3, cache=cache_folder)
    return d.X_train, d.y_train, d.X_validation, d.y_validation, d.X_test, d.y_test


def _store(folder: Path, prepared: Path) -> bool:
    """Load the data: a warning names the damaged file, and the data are built anew."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        d = acd.load("schubert", n=3, cache=folder)
    found = d.X_train, d.y_train, d.X_validation, d.y_validation, d.X_test, d.y_test
    assert all(issubclass(warning.category, StoreWarning) for warning in said)
    is_written = {path.name for path in folder.glob("**/seed0/*")} == {"data.parquet", "manifest.json"}
    assert is_written, "the store is not built anew"
    assert said, "a damaged store is used without a word"
    return all(map(np.array_equal, found, _rows(prepared / "store")))


def _finished(folder: Path, prepared: Path) -> bool:
    """Read a finished run as training and `runs list` do."""
    expected = adelic_lab.read_result(prepared / "finished")
    listed = list_runs(folder.parent)
    is_same = all(run.result in (None, expected) for run in listed if run.folder.name == folder.name)
    return is_same and adelic_lab.run(_config(), folder, device="cpu") == expected


def _stopped(folder: Path, prepared: Path) -> bool:
    """Resume a run from its checkpoint."""
    result = adelic_lab.run(_config(), folder, device="cpu")
    expected = adelic_lab.read_result(prepared / "finished")
    assert expected is not None
    is_same = timeless(result.as_dict()) == timeless(expected.as_dict()) and outcome(folder) == outcome(
        prepared / "finished"
    )
    return is_same and weights(folder) == weights(prepared / "finished")


def _results(folder: Path, prepared: Path) -> bool:
    """Read lines of results and make the report of them."""
    found = adelic_lab.read_results(folder)
    adelic_lab.write_report(found, folder / "report.html")
    return found == adelic_lab.read_results(prepared / "results")


KINDS: dict[str, tuple[Callable[[Path, Path], bool], tuple[str, ...]]] = {
    "store": (_store, ("**/data.parquet", "**/manifest.json")),
    "finished": (_finished, ("result.json", "DONE", "config.toml", "metrics.jsonl")),
    "stopped": (_stopped, ("checkpoint.safetensors", "metrics.jsonl", "config.toml")),
    "results": (_results, ("*.jsonl",)),
}
"""How each kind of folder is used, and the files in it that are attacked."""
