"""Result files: one file per dataset, one line per run, each a JSON object; and the pages of reports."""

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from adelic.errors import ConfigurationError, RunFolderError, StorageError
from adelic.storage.files import atomic_write, read_bytes, sole_user, storage_errors
from adelic_lab.config.experiment import Experiment
from adelic_lab.results.result import Result
from adelic_lab.runs.folders import list_runs

_END = "<!-- end of table -->"


def run_key(configuration: Mapping[str, Any]) -> str:
    """Return the identity of a run as text: its whole configuration."""
    return json.dumps(configuration, sort_keys=True)


def model_key(result: Result) -> str:
    """Return the identity of a model as text: the configuration of the run, except the seed."""
    return run_key({key: value for key, value in result.configuration.items() if key != "seed"})


def read_results(folder: Path) -> list[Result]:
    """Return the results in a folder, in the order of file names: every line of each *.jsonl, and every *.json.

    Raises:
        StorageError: the folder does not exist or cannot be read.
        RunFolderError: a line or file is not a result, or two are of the same run.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_results(Path(folder))
    []
    """
    with storage_errors(f"cannot read {folder}", "choose another --results-dir"):
        if not folder.is_dir():
            raise StorageError(f"there is no folder {folder} with results; `adelic reproduce` makes one")
        found: dict[str, str] = {}
        results = []
        for path in sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")]):
            for place, _, result in _read(path):
                run = run_key(result.configuration)
                if run in found:
                    raise RunFolderError(f"{place} and {found[run]} are results of the same run; remove one of them")
                found[run] = place
                results.append(result)
    return results


def with_finished_runs(results: list[Result], runs: Path) -> list[Result]:
    """Return results, followed by those of the finished runs in a folder of run folders that are not among them.

    Raises:
        StorageError: the folder does not exist or cannot be read.

    Warns:
        UserWarning: a run is damaged, and left out.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with_finished_runs([], Path(folder))
    []
    """
    finished = {}
    for run in list_runs(runs):
        if run.problem:
            warnings.warn(f"{run.folder} is left out: {run.problem}", stacklevel=2)
        elif run.result is not None:
            finished[run_key(run.result.configuration)] = run.result
    known = {run_key(result.configuration) for result in results}
    return results + [result for run, result in finished.items() if run not in known]


def finished(experiments: Iterable[Experiment], folder: Path) -> dict[Experiment, Result]:
    """Return the results of experiments in a folder.

    A RunFolderError means that a file is damaged, a StorageError that it cannot be read.

    >>> finished([], Path("no folder"))
    {}
    """
    found = {run_key(result.configuration): result for result in read_results(folder)} if folder.is_dir() else {}
    by_experiment = ((one, found.get(run_key(one.as_dict()))) for one in experiments)
    return {one: result for one, result in by_experiment if result is not None}


def _read(path: Path) -> Iterator[tuple[str, bytes, Result]]:
    """Yield the results of a file, each after its position in words and, in a file of several, its line."""
    if path.suffix == ".json":
        if (content := read_bytes(path)) is not None:  # else a link to nowhere
            yield str(path), b"", Result.parse(content, str(path))
        return
    for number, line in enumerate((read_bytes(path) or b"").splitlines(), 1):
        place = f"{path} line {number}"
        yield place, line, Result.parse(line, place, is_sealed=True)


def write_result(folder: Path, config: Experiment, result: Result) -> None:
    """Write a result into the file of its dataset, in the order of the runs' labels; it replaces an older one.

    Several processes may write into one folder. A RunFolderError means that the file is damaged, a StorageError that it
    cannot be written.
    """
    path = folder / f"{config.data.label}.jsonl"
    with sole_user(folder, remedy="choose another --results-dir", waits=True):
        known = {_key(found): (found, line) for _, line, found in _read(path)}
        if known.get(_key(result), (None,))[0] != result:  # else its line stays as it was once sealed
            known[_key(result)] = result, result.sealed()
        content = b"".join(known[key][1] + b"\n" for key in sorted(known))
        if read_bytes(path) != content:
            atomic_write(path, content)


def _key(result: Result) -> tuple[str, str, int, str]:
    """Return the key by which results are sorted and distinguished: readable fields, then the configuration."""
    return result.recipe, f"{result.embedding} {result.features or ''}", result.seed, model_key(result)


def fill(pages: Mapping[Path, str], table: str, name: str) -> dict[Path, str]:
    r"""Return pages, one of them with the table between `<!-- table: NAME -->` and `<!-- end of table -->`.

    >>> page, path = "Before\n<!-- table: arithmetic -->\n{}\n<!-- end of table -->\nafter", Path("page.md")
    >>> fill({path: page.format("old")}, "new", "arithmetic") == {path: page.format("new")}
    True
    """
    start = f"<!-- table: {name} -->\n"
    marked = re.compile(f"{re.escape(start)}.*?{_END}", flags=re.DOTALL)
    if sum(len(marked.findall(text)) for text in pages.values()) != 1:
        first, *others = pages
        where = f"{first} or a page in {others[0].parent}" if others else first
        raise ConfigurationError(f"{where} needs one place for the table: a line {start.strip()} and, below, {_END}")
    return {path: marked.sub(lambda _: f"{start}{table}\n{_END}", text) for path, text in pages.items()}
