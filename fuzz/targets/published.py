"""Mutated folders of the dataset authors' text files: an `AdelicError` of one line, or rows with a report."""

import json
import shutil
import warnings
from pathlib import Path
from random import Random

from adelic import AdelicError, acd
from targets.case import Case, check_error

SIZES = {"mheight": 8, "weaving": 6, "schubert": 4, "lattice": 10, "characters": 18, "kl": 5, "rsk": 8}
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
    """Export a task as its authors have it, and keep the first rows of each file."""
    acd.export(acd.load(task, n=SIZES[task]), folder, format="acd")
    for path in _texts(folder):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:ROWS]))


def _texts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".json")


def _change(rng: Random, folder: Path) -> None:
    """Change one file, or its name."""
    texts = _texts(folder)
    if not texts:
        return
    path = rng.choice(texts)
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
            other = path.with_name(rng.choice(["x.txt", "train.txt", path.name.upper(), f"{path.stem}_1.txt"]))
            if not other.is_dir():  # as an earlier change may have made it
                other.write_bytes(content)
        return
    path.write_bytes(content)
