"""Golden runs: one tiny run of each kind, so two commits can be held equal to the last bit.

    python experiments/golden.py record before --python old/bin/python
    python experiments/golden.py record after
    python experiments/golden.py compare before after

A run is made by the command line alone, so this script fits commits whose modules, files and labels differ;
golden.toml next to it has the commands. A record has the figures of all results, the metrics of each epoch, tables that
were printed or written, and a hash of each trained tensor. Some kinds are trained once more, stopped by a signal, and
resumed; that must give the same record. Both commits have to run on one machine, with equal versions of the libraries.
"""

import functools
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import common

PLAN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
KINDS: dict[str, list[str]] = {
    kind: [command.format_map(PLAN["words"]) for command in commands] for kind, commands in PLAN["kinds"].items()
}
INTERRUPTED = {kind: [signal.Signals[name] for name in names] for kind, names in PLAN["interrupted"].items()}
DIFFERENT_BY_NATURE = re.compile(
    r"(.*\.)?(\w*seconds|versions\..*|commit|command|device|text_sha256|study\.name|recipe\.about)"
)
"""Keys of results that say when, where and by what a run was made."""
Record = dict[str, Any]
Run = Callable[..., tuple[int, str, str]]
"""`run` of one interpreter."""


def write_tables(folder: Path) -> None:
    """Write small tables with classes and with decimal numbers, and new rows of both."""
    days, names = range(1, 900, 3), ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    (folder / "days.csv").write_text("day,weekday\n" + "".join(f"{day},{names[day % 7]}\n" for day in days))
    (folder / "new.csv").write_text("day\n" + "".join(f"{day}\n" for day in range(1000, 1030)))
    cents = [((7919 * i) % 1000, (104729 * i) % 97) for i in range(330)]
    lines = [f"{price / 100:.2f},{tax / 100:.2f},{price + tax}\n" for price, tax in cents]
    (folder / "prices.csv").write_text("price,tax,cents\n" + "".join(lines[:300]))
    (folder / "new-prices.csv").write_text("price,tax,cents\n" + "".join(lines[300:]))


def run(
    python: str, variables: dict[str, str], command: str, folder: Path,
    stopped_by: signal.Signals | None = None, after: float | None = None,
) -> tuple[int, str, str]:  # fmt: skip
    """Run a command of an interpreter's adelic, and maybe send it a signal; return exit code and both outputs."""
    words = [python, "-m", "adelic", *shlex.split(command)]
    words += ["--device", "cpu"] if words[3] in {"train", "tune", "reproduce"} else []
    # The output goes to files, which no reader has to empty while the command is waited for.
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(words, cwd=folder, env=os.environ | variables, stdout=printed, stderr=errors) as process:
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                process.send_signal(stopped_by)
        printed.seek(0)
        errors.seek(0)
        return process.returncode, printed.read(), errors.read()


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested objects, with dotted keys; lists of anything but objects are leaves."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        value = dict(enumerate(value, start=1))
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{key}.{name}" if key else f"{name}")
    elif not DIFFERENT_BY_NATURE.fullmatch(key):
        yield key, value


def tensors(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and hash of each trained tensor in a safetensors file: of type, shape and bytes.

    What an optimizer, a generator or a fingerprint keeps is left out: it may be written in another way, and a wrong one
    shows in the weights after a resumption.
    """
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    for name, about in json.loads(content[8:start]).items():
        if about.get("dtype", "U8") in {"F32", "F64", "BF16", "F16"} and not re.match(r"optimizer|generator", name):
            first, end = about["data_offsets"]
            described = f"{about['dtype']} {about['shape']} ".encode()
            yield name, hashlib.sha256(described + content[start + first : start + end]).hexdigest()[:16]


def summary(folder: Path, given: set[Path]) -> Record:
    """Return what is to be equal of the files that a command has left, whatever their names are."""
    figures, metrics, weights, text = {}, [], {}, {}
    for path in sorted({path for path in folder.rglob("*") if path.is_file()} - given):
        if path.suffix == ".safetensors":
            weights |= {digest: name for name, digest in tensors(path)}
        elif path.suffix == ".csv":
            text[path.name] = path.read_text().splitlines()
        elif path.suffix == ".toml" and "config" not in path.name:
            figures |= {f"recipe {key}": value for key, value in leaves(tomllib.loads(path.read_text()))}
        elif path.suffix in {".json", ".jsonl"}:
            lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
            for one in map(json.loads, lines):
                if "test" not in one:
                    metrics.append(json.dumps(dict(leaves(one)), sort_keys=True))
                    continue
                of = " ".join(str(one.get(key)) for key in ("task", "n", "embedding", "features", "seed"))
                for key, value in leaves(one):
                    # A result stands in the folder of its run, and once more in the file of all results.
                    if figures.setdefault(f"{of} {key}", value) != value:
                        raise SystemExit(f"golden: two results of {of}")
    return {"figures": figures, "metrics": sorted(metrics), "weights": weights, "text": text}


def attempt(
    command: str, run: Run, folder: Path, signals: Sequence[signal.Signals] = (), after: float = 0
) -> Record | str:
    """Return what the commands come to if the first is stopped by each of the signals; a text says what went wrong."""
    write_tables(folder)
    given, texts = set(folder.iterdir()), []
    for i, part in enumerate(command.split("; ")):
        for stopped_by in signals if i == 0 else ():
            code, _, errors = run(part, folder, stopped_by, after)
            if code == 0:
                return f"was done before {stopped_by.name} could stop it: {errors[-300:]}"
        code, printed, errors = run(part, folder)
        if code != 0:
            return f"exit code {code}: {errors.strip().splitlines()[-1] if errors.strip() else printed[-300:]}"
        texts.append(printed if part.startswith("report") else "")
    record = summary(folder, given)
    record["text"]["printed"] = "".join(texts).splitlines()
    solver = re.search(r"--solver (\S+)", command)
    if solver is not None:  # a variant has another name from one commit to another
        record = json.loads(json.dumps(record).replace(solver[1], "SOLVER"))
    loss = re.search(r" loss ([\d.]+)", errors)
    return record | {"first loss": loss and loss[1]}


def record_kind(kind: str, python: str, cache: Path) -> Record | str:
    """Return the record of a kind, with what a resumed run has otherwise; a text says why there is none."""
    variables = {"ADELIC_CACHE": str(cache), "COLUMNS": "200", "NO_COLOR": "1", "CI": "true"}
    variables["OMP_NUM_THREADS"] = "2" if kind == "two-threads" else "1"
    run_it = functools.partial(run, python, variables)
    for command in KINDS[kind]:
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            found = attempt(command, run_it, Path(folder))
            seconds = time.monotonic() - start
        if isinstance(found, dict):
            break
    if isinstance(found, dict) and kind in INTERRUPTED:
        for share in (0.5, 0.25, 0.125):
            # Of half the time, a part goes to starting and a part to later commands: then a run is mostly under way. It
            # may be done already where the first attempt waited for other work or compiled kernels: then earlier.
            with tempfile.TemporaryDirectory() as folder:
                resumed = attempt(command, run_it, Path(folder), INTERRUPTED[kind], share * seconds)
            if isinstance(resumed, dict):
                break
        found["resumed"] = [resumed] if isinstance(resumed, str) else differences(found, resumed)[0]
    return found


def differences(a: Record, b: Record) -> tuple[list[str], list[str]]:
    """Return how two records differ, and what only one of them has, as was decided."""
    different, noted = [], []
    before, after = a["figures"], b["figures"]
    for old, new in PLAN["renamed"].items():
        before = {re.sub(old, new, key): value for key, value in before.items()}
    for key in sorted({*before, *after}):
        if key not in before or key not in after:
            side = "only in A" if key in before else "only in B"
            decided = any(re.search(pattern, key) for pattern in PLAN["decided"])
            (noted if decided else different).append(f"{key} {side}: {(before | after)[key]!r:.80}")
        elif before[key] != after[key]:
            different.append(f"{key}: {before[key]!r:.80} became {after[key]!r:.80}")
    if a["metrics"] != b["metrics"]:
        missing = [line for line in a["metrics"] if line not in b["metrics"]]
        different.append(f"metrics: {len(a['metrics'])} lines, then {len(b['metrics'])}; changed: {missing[:1]}")
    # By their bytes: a tensor may have another name, and one that was written twice may be written once.
    lost = [name for digest, name in a["weights"].items() if digest not in b["weights"]]
    if lost or (b["weights"] and not a["weights"]):
        different.append(f"weights: {len(lost)} of {len(a['weights'])} tensors are not there, as {lost[:2]}")
    for name in sorted({*a["text"], *b["text"]}):
        lines, others = a["text"].get(name, []), b["text"].get(name, [])
        if lines != others:
            changed = next((pair for pair in zip(lines, others, strict=False) if pair[0] != pair[1]), "their number")
            different.append(f"text of {name}: {changed}")
    return different, noted


Kind = Literal[*KINDS]


def record(folder: Path, *kinds: Kind, python: str = sys.executable) -> bool:
    """Run each kind, and write FOLDER/KIND.json.

    Args:
        folder: of the records.
        kinds: kinds to run; by default all.
        python: interpreter whose adelic is run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = True
    with tempfile.TemporaryDirectory() as cache:
        for kind in kinds or KINDS:
            before = os.times()
            found = record_kind(kind, python, Path(cache))
            seconds = sum(os.times()[2:4]) - sum(before[2:4])
            wrong = [found] if isinstance(found, str) else found.get("resumed", [])
            done = done and not wrong
            told = "; ".join(wrong[:3]) or f"recorded{', and equal after a signal' * (kind in INTERRUPTED)}"
            print(f"{kind}: {told} ({seconds:.0f} s of a processor)", flush=True)  # noqa: T201
            if isinstance(found, dict):
                (folder / f"{kind}.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    return done


def compare(before: Path, after: Path, *kinds: Kind, all: bool = False) -> bool:  # noqa: A002
    """Compare the records of two folders, a line for each kind; the exit code is 1 if any differ.

    Args:
        before: folder of records.
        after: folder of records.
        kinds: kinds to compare; by default all.
        all: print all that differs, not six lines of a kind.
    """
    equal = True
    for kind in kinds or KINDS:
        paths = [folder / f"{kind}.json" for folder in (before, after)]
        different, noted = [f"{path} is missing" for path in paths if not path.exists()], []
        if not different:
            a, b = (json.loads(path.read_text()) for path in paths)
            different, noted = differences(a, b)
            if a["first loss"] and b["first loss"] and a["first loss"] != b["first loss"]:  # a resumed run has another
                different.append(f"first loss: {a['first loss']} became {b['first loss']}")
            different += [f"a resumed run of B differs: {what}" for what in b.get("resumed", [])]
        equal = equal and not different
        said = f"{kind}: {'DIFFERENT' if different else 'equal'}{f' ({len(noted)} decided)' if noted else ''}"
        print("\n    ".join([said, *different[: None if all else 6]]), flush=True)  # noqa: T201
    return equal


if __name__ == "__main__":
    common.run(record, compare)
