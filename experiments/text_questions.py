"""Question sets for models that read and write numbers, drawn once and for all, as Parquet in experiments/data/.

    python experiments/text_questions.py draw mathematics-dataset  # half an hour, most for comparison__sort_more
    python experiments/text_questions.py draw reasoning-gym        # two minutes
    python experiments/text_questions.py draw expressions          # seconds
    python experiments/text_questions.py score answers.jsonl       # lines [module, index, answer] of reasoning-gym

The first two and the last make an environment with the packages of `text_sources.PINS` in runs/environments;
`--python PATH` names the Python of one that is there.

Columns: module, regime ("train", "interpolate", "extrapolate"), question, answer, all strings; of reasoning-gym also
the index of the entry, by which its own scorer finds it again. A JSON of the same name has the versions, the seed, how
many questions each module and regime has, how many test questions were drawn again because training has them, and the
SHA-256 of the Parquet file and of its rows. Equal seeds and versions draw equal rows; the bytes of a Parquet file also
depend on pyarrow's version, which is there, too.

- mathematics-dataset 1.0.1 (Saxton, Grefenstette, Hill and Kohli, "Analysing mathematical reasoning abilities of neural
  models", arXiv 1904.01557; Apache-2.0), with the SymPy of its time;
- reasoning-gym 0.1.25 (Stojanovski and others, "Reasoning Gym", arXiv 2505.24760; Apache-2.0);
- our own expressions, see `text_expressions.py`.
"""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import common
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import text_expressions
import text_sources

from adelic.storage.files import atomic_write
from adelic.storage.records import sha256

DATA = Path(__file__).resolve().parent / "data"
COLUMNS = ("module", "regime", "question", "answer")
ENVIRONMENTS = Path("runs", "environments")
Source = Literal["mathematics-dataset", "reasoning-gym", "expressions"]


def draw(
    source: Source,
    *,
    python: Path | None = None,
    seed: int = 0,
    modules: tuple[str, ...] | None = None,
    train: int | None = None,
    steps: int | None = None,
    test: int | None = None,
    output: Path = DATA,
) -> None:
    """Draw the questions of one source, and write them.

    Args:
        source: of the questions.
        python: of an environment with `text_sources.PINS`; by default one is made.
        seed: of what is drawn.
        modules: of the source; by default all.
        train: how many training questions of a module; by default as the source's file says.
        steps: how many of a module of several steps.
        test: how many of a module's test set.
        output: folder for the files.
    """
    given = {"train": train, "steps": steps, "test": test}
    counts = {name: n for name, n in given.items() if n is not None}
    if source == "expressions":
        found = text_expressions.drawn(seed, modules, **counts)
    else:
        found = drawn(python or environment(source), source, seed=seed, modules=modules, **counts)
    rows = found.pop("rows")
    write(output, source.replace("-", "_"), rows, {"source": source, "seed": seed} | found)


def score(answers: Path, *, python: Path | None = None, seed: int = 0) -> None:
    """Say what share of answers reasoning-gym's own scorer accepts.

    Args:
        answers: a file of JSON lines: module, index and answer.
        python: of an environment with reasoning-gym; by default one is made.
        seed: that of the set.
    """
    said = pd.DataFrame(map(json.loads, answers.read_text(encoding="utf-8").splitlines()))
    said["score"] = scores(said.to_numpy().tolist(), python, seed)
    for module, found in said.groupby(0, sort=False)["score"]:
        common.say(f"{module}: {found.mean():.4f} of {len(found)}")


def environment(source: str) -> Path:
    """Return the Python of an environment with the packages of a source, which is made where it is missing."""
    folder = ENVIRONMENTS / source
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        common.say(f"an environment for {source} in {folder}")
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *text_sources.PINS[source]], check=True)
    return python


def drawn(python: Path, source: str, *, seed: int = 0, modules: Sequence[str] | None = None, **counts: int) -> Any:
    """Return what text_sources.py prints in an environment: rows, versions, and what was set aside."""
    words = [word for name, value in counts.items() for word in (f"--{name}", str(value))]
    return _run(python, source, "--seed", str(seed), *words, *(["--modules", *modules] if modules else []))


def scores(answers: Sequence[tuple[str, int, str]], python: Path | None = None, seed: int = 0) -> list[float]:
    """Return what reasoning-gym's own scorer gives answers to its held-out entries, 1 where one is right.

    Args:
        answers: module, index and answer of each, as the set's rows have them.
        python: of an environment with reasoning-gym; by default one is made.
        seed: that of the set.
    """
    lines = "".join(f"{json.dumps(list(answer))}\n" for answer in answers)
    python = python or environment("reasoning-gym")
    return list(_run(python, "reasoning-gym", "--score", "--seed", str(seed), given=lines))


def _run(python: Path, *words: str, given: str = "") -> Any:
    # Sets are in the order of hashes, which differs between runs unless it is told.
    done = subprocess.run(
        [python, text_sources.__file__, *words],
        env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": ""},
        input=given.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def write(folder: Path, name: str, rows: Sequence[Sequence[str]], about: Mapping[str, Any]) -> None:
    """Write rows as Parquet, and next to it what they are and how many of them there are."""
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "index"][: len(rows[0])])
    path = folder / f"{name}.parquet"
    table = pa.table(frame.to_dict("list"))
    atomic_write(path, lambda file: pq.write_table(table, file, compression="zstd", compression_level=22))
    keys = frame["regime"] + "/" + frame["module"]
    distinct = frame.loc[frame["regime"] == "train", "question"].groupby(keys, sort=False).nunique()
    about = {"command": f"python experiments/text_questions.py {' '.join(sys.argv[1:])}"} | dict(about)
    about["versions"] = {"pyarrow": pa.__version__} | dict(about.get("versions", {}))
    about["questions"] = keys.value_counts(sort=False).to_dict()
    about["distinct_training_questions"] = distinct.to_dict()
    about["sha256"] = sha256(path.read_bytes())
    about["sha256_of_rows"] = of_rows(rows)
    atomic_write(path.with_suffix(".json"), json.dumps(about, indent=1) + "\n")
    for key, aside in about.get("set_aside", {}).items():
        if any(aside.values()):
            common.say(f"{key}: drawn again, " + ", ".join(f"{n} {why}" for why, n in aside.items()))
    common.say(f"{len(rows)} questions, {path.stat().st_size} bytes: {path}")


def of_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return the SHA-256 of rows, one JSON list a line, in UTF-8."""
    return sha256("".join(f"{json.dumps(list(row), ensure_ascii=False)}\n" for row in rows).encode())


if __name__ == "__main__":
    common.run(draw, score)
