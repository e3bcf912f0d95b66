"""Mutated folders of the hub's files: an `AdelicError` of one line, or rows with a report."""

import json
import shutil
import warnings
from pathlib import Path
from random import Random

import numpy as np

from adelic import AdelicError, acd
from adelic.acd import published as hub
from targets.case import Case, check_error

SIZES = {"mheight": 8, "weaving": 6, "schubert": 4, "lattice": 10, "characters": 18, "kl": 5}
ROWS = 200  # of each file, so that a case takes a moment; the report then misses many
LINES = (
    "",
    " ",
    "\n",
    "0",
    "[]",
    "{}",
    "null",
    "NaN",
    "[1, 2, 3",
    "(1, 2), 3",
    "1e400",
    "-" * 2000,
    "9" * 5000,
    "[" * 5000,
    "\x00",
    "\ufeff[1]",
    "[99999999999999999999999999]",
    "[[1000000000, 1000000000]]",
    "1 2 3 4 5 6 7 8 9 10 11 12",
    "(1,0)(2,0)",
    "é∑",
)


def published(case: Case) -> None:
    """Change the files of one task's folder at random, and read it."""
    task = case.rng.choice(list(SIZES))
    prepared = case.folder / task
    if not prepared.is_dir():
        _prepare(task, prepared)
    folder = case.folder / "attacked"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prepared, folder)
    for _ in range(case.rng.choice([1, 1, 2, 5])):
        _change(case.rng, folder)
    try:
        with warnings.catch_warnings(action="error"):
            found = acd.load_published(task, folder, n=SIZES[task])
    except AdelicError as error:
        check_error(error)
        case.counts["errors"] += 1
        return
    about = found.provenance
    for part in ("train", "validation", "test"):
        assert len(getattr(found, f"X_{part}")) == len(getattr(found, f"y_{part}")) == about["rows"][part]
    json.dumps(about)
    case.counts["reports"] += 1


def _prepare(task: str, folder: Path) -> None:
    """Write the first rows of a task as the hub has them."""
    folder.mkdir(parents=True)
    d = acd.load(task, n=SIZES[task])
    parts = {"schubert": 3, "lattice": 2, "characters": 2, "kl": 2}.get(task, 1)
    names = hub.FORMS[task].columns or (*(f"input {i}" for i in range(parts)), "label")
    for split in ("train", "test"):
        X, y = d.parts[split]
        n = d.provenance["n"]
        cuts = [n, 2 * n] if task == "schubert" else parts
        inputs = [part[:ROWS].tolist() for part in np.split(X, cuts, axis=1)]
        records = [dict(zip(names, row, strict=True)) for row in zip(*inputs, y[:ROWS].tolist(), strict=True)]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".json")


def _change(rng: Random, folder: Path) -> None:
    """Change one file, or its name."""
    found = _files(folder)
    if not found:
        return
    path = rng.choice(found)
    kind = rng.choice(["bit", "bytes", "line", "line", "line", "number", "cut", "empty", "name", "remove", "folder"])
    content = bytearray(path.read_bytes())
    at = rng.randrange(len(content) + 1)
    if kind == "bit" and content:
        content[at % len(content)] ^= 1 << rng.randrange(8)
    elif kind == "bytes":
        content[at : at + rng.randrange(20)] = rng.randbytes(rng.randrange(20))
    elif kind == "line":
        lines = content.splitlines(keepends=True)
        there = rng.randrange(len(lines) + 1)
        new = (lines[there - 1].decode("utf-8", "replace").strip() if lines else "") if rng.random() < 0.3 else ""
        lines.insert(there, f"{new}{rng.choice(LINES)}\n".encode())
        content = bytearray(b"".join(lines))
    elif kind == "number":
        digits = [i for i, byte in enumerate(content[:5000]) if 48 <= byte <= 57]
        if digits:
            i = rng.choice(digits)
            content[i : i + 1] = rng.choice([b"0", b"-1", b"99", b"1.5", b"1" * 30, b"x", b""])
    elif kind == "cut":
        del content[at:]
    elif kind == "empty":
        content.clear()
    elif kind in ("name", "remove", "folder"):
        path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "name":
            other = path.with_name(rng.choice(["x.txt", "train.jsonl", path.name.upper(), f"{path.stem}_1.jsonl"]))
            if not other.is_dir():  # as an earlier change may have made it
                other.write_bytes(content)
        return
    path.write_bytes(content)
