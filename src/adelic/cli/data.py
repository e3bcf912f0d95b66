"""`adelic data`: list, build, describe and verify the data sets."""

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from adelic import data as stored
from adelic.cli.options import File, Flag, Json, Text, field_options, takes
from adelic.cli.outputs import check_output
from adelic.cli.progress import progress_bar
from adelic.cli.tables import print_table, wrapped
from adelic.data.protocol import assigned
from adelic.data.sources import DrawnData, Seeded, TableData, TaskData
from adelic.storage.files import atomic_write
from adelic.storage.options import options

Workers = Annotated[int, Parameter(help="Number of processes that generate examples.")]
_SEED = field_options(Seeded, is_filled=True)
_DATA = [*field_options(TaskData, is_filled=True), *_SEED]
_AUDITED_QUESTIONS = 20_000
"""Number of questions of a drawn task that an audit reads if no other number is given."""
_KNOWN = {"rows": "{} training examples", "images": "{} the images of training examples"}
_PRINTED_RULES = 10
_PRINTED_CLASSES = 5
_COUNTS = ("examples", "test_cases", "never_seen_cases")
_ASKED = (*options(TaskData), *options(TableData))
data = App(
    name="data",
    help="""Generate, describe, export and verify data sets.

adelic data list
adelic data info weaving
adelic data build weaving --n 6 --edition leaky
adelic data export schubert --n 4 --format csv --output schubert-4
adelic data verify schubert

These are the Algebraic Combinatorics Dataset, made from its mathematical definitions, and the data sets that other
packages add. They are kept in the user's cache folder; the environment variable ADELIC_CACHE names another one.
""",
)


def _title(task: str, size: dict[str, Any]) -> str:
    return task if size["n"] is None else f"{task} n={size['n']}"


def _chosen(task: str, task_options: tuple[str, ...]) -> dict[str, Any]:
    """Return the task's own options that are given, and nothing else: they become keywords of Python's."""
    found = assigned(task_options)
    stored.task(task).check_options(found)
    return found


@data.command(name="list")
def list_tasks(*, as_json: Json = False) -> None:
    """List the tasks with their sizes and editions, and the tasks that are drawn with their options.

    adelic data list
    adelic data list --json
    """
    kept, drawn = stored.tasks().values(), stored.drawn_tasks().values()
    if as_json:
        tasks = [{"name": t.name, "title": t.title, "sizes": t.sizes, "editions": list(t.editions)} for t in kept]
        asked = [{"name": t.name, "title": t.title, "options": list(t.options)} for t in drawn]
        print(json.dumps({"tasks": tasks, "drawn_tasks": asked}, indent=2, ensure_ascii=False))
        return
    rows = [(t.name, t.title, ", ".join(map(str, t.sizes)), ", ".join(t.editions)) for t in kept]
    print_table(("task", "predicts", "sizes", "editions"), rows)
    print_table(("drawn task", "asks for", "options"), [(t.name, t.title, ", ".join(t.options)) for t in drawn])


@data.command
@takes(*_DATA)
def build(task: str, /, *, task_options: tuple[str, ...], workers: Workers = 1, **size: Any) -> None:
    """Generate the data set of TASK and store it in the cache, instead of a stored one.

    adelic data build mheight --n 8
    adelic data build mheight --n 8 --split orbits
    adelic data build quiver --task-options labelling=random --workers 2

    Args:
        task: Name of a task.
    """
    chosen = _chosen(task, task_options)
    with progress_bar(_title(task, size)) as progress:
        provenance = stored.build(task, progress=progress, workers=workers, **size, **chosen)
    rows = provenance["rows"]
    of_orbits = "" if provenance["orbits"] is None else f", {provenance['orbits']:,} orbits"
    print(
        f"{provenance['task']} n={provenance['n']} ({provenance['edition']}{of_orbits}): {rows['train']:,} train, "
        f"{rows['validation']:,} validation, {rows['test']:,} test examples in {provenance['path']}"
    )


@data.command
def info(task: str, /, *, as_json: Json = False) -> None:
    """Describe TASK: its question, its sizes and editions, and which choices are published or ours.

    adelic data info weaving
    """
    about = stored.info(task)
    if as_json:
        print(json.dumps(about, indent=2, ensure_ascii=False))
        return
    print(f"{about['name']}: {about['title']}")
    for name, edition in about["editions"].items():
        print(f"\nedition {name}: {edition['title']}")
        for n, shape in edition["data"].items():
            print(f"  n={n}: {_shape(shape)}")
        for note in edition["notes"]:
            print(wrapped(note, 100, "  - ", "    "))
    for name, choices in about["options"].items():
        print(f"\noption {name}: {', '.join(choices)} (the first is the default)")
    for name, summary in about["views"].items():
        print(f"\nview {name}, for `adelic train --view {name}`: {summary}")
    print(f"\ncache: {about['cache']}")
    for entry in about["cached"]:
        print(f"  {entry['folder']}" + (f" (damaged: {entry['damaged']})" if entry["damaged"] else ""))


def _shape(shape: dict[str, Any]) -> str:
    classes = shape["class_names"]
    kind = "regression" if classes is None else f"{len(classes)} classes ({', '.join(classes)})"
    return f"{shape['rows']:,} examples of {shape['length']} tokens, {kind}"


@data.command
@takes(
    *field_options(TaskData, TableData, DrawnData, only=_ASKED, default=""),
    *field_options(DrawnData, only=_COUNTS, default=f"{_AUDITED_QUESTIONS:,}"),
    *_SEED,
)
def audit(task: str, /, *, output: File | None = None, seed: int, **given: Any) -> None:
    """Show how baselines, simple models and look-up score on TASK, and how many test examples leak.

    adelic data audit schubert --n 4
    adelic data audit mheight --n 8 --split orbits
    adelic data audit weaving --n 6 --edition leaky --output experiments/results/audit/weaving-6-leaky.json
    adelic data audit gcd --task-options limit=100000 --examples 5000
    adelic data audit mine.csv --target sold

    TASK is the name of a task, or the file of your table, as for `adelic train`.

    For a drawn task, whose questions are never stored: how often each class occurs, how baselines score that read
    sizes, signs, residues and digits of the operands, and how many numbers of the test occur in training.

    Args:
        task: Name of a task, or the file of your table.
        output: Also write the audit to this file, .json.
    """
    is_drawn = task in stored.drawn_tasks()
    if is_drawn:
        given |= {name: _AUDITED_QUESTIONS for name in _COUNTS if given[name] is None}
    chosen = stored.source(task, **given)
    if output is not None:
        check_output(output, ".json", inputs=[Path(chosen.path)] if isinstance(chosen, TableData) else ())
    with progress_bar(f"auditing {task}") as progress:
        if isinstance(chosen, stored.DrawnData):
            found = stored.audit_drawn(chosen, seed=seed, progress=progress)
        elif isinstance(chosen, TableData):
            command = ["adelic", "data", "audit", *chosen.arguments(), *(["--seed", str(seed)] if seed else [])]
            rows = chosen.load(seed)
            found = stored.audit(rows, progress=progress) | {"command": shlex.join(command)}
        else:
            about: dict[str, Any] = {"n": chosen.n, "edition": chosen.edition, "split": chosen.split, "seed": seed}
            about |= assigned(given["task_options"] or ())
            found = stored.audit(task, progress=progress, **about)
    (_print_questions if is_drawn else _print_rows)(found)
    if isinstance(chosen, TableData) and rows.class_names is None:
        print(f"{chosen.target} is a number, and baselines and models were asked for its sign alone")
    if output is not None:
        atomic_write(output, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        print(f"wrote {output}")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f}"


def _print_rows(found: dict[str, Any]) -> None:
    """Print the audit of stored examples."""
    rows = [(f["name"], _percent(f["test"]), _percent(f["everywhere"])) for f in found["findings"]]
    rows += [(_KNOWN[known].format("look-up among"), _percent(score), "–") for known, score in found["lookup"].items()]
    print_table(("accuracy in percent of", "test examples", "all examples"), rows, names=1)
    known = found["duplicates"]["test rows known outside test"]
    print(f"duplicates: {found['duplicates']['rows']:,}; test examples known outside test: {100 * known:.2f} %")
    for name, share in found["symmetries"].items():
        print(f"test examples with an equivalent one outside test, by symmetry {name}: {100 * share:.2f} %")
    for known, parts in found["overlap"].items():
        for part, those in parts.items():
            among = _KNOWN[known].format(f"{part} examples among")
            print(f"{among}: {those['rows']:,} of {found['rows'][part]:,} ({100 * those['share']:.2f} %)")
    if found["symmetries"] and found["split"] == "published":
        print("images of training examples may be trained on with --split orbits only, which keeps them out of test")
    if found["task"] == "quiver":
        print("each example is an isomorphism class, so an orbit is a quiver and its opposite")


def _print_questions(found: dict[str, Any]) -> None:
    """Print the audit of questions: classes, the best baselines, and look-up."""
    for split, classes in found["classes"].items():
        shares = [f"{name} {100 * share:.2f} %" for name, share in list(classes["shares"].items())[:_PRINTED_CLASSES]]
        more = ", …" if classes["answers"] > len(shares) else ""
        print(f"{split}: {found['rows'][split]:,} questions, {classes['answers']:,} different answers: ", end="")
        print(", ".join(shares) + more)
    best = found["findings"][:_PRINTED_RULES]
    constant = [f for f in found["findings"][_PRINTED_RULES:] if f["name"].startswith("most frequent")]
    rows = [(f["name"], *map(_percent, (f["held_out"], *f["accuracies"].values()))) for f in (*best, *constant)]
    print_table(("accuracy in percent of", "held out", *found["known"]), rows, names=1)
    print(
        "held out: half of the training questions, answered by the baseline that is learnt from the other half; this "
        f"chooses the best of {len(found['findings'])} baselines"
    )
    for split, known in found["known"].items():
        share = 100 * known["numbers"] / known["of_numbers"]
        print(
            f"{split}: {known['questions']:,} questions are training questions; of {known['of_numbers']:,} numbers in "
            f"them {known['numbers']:,} occur in training questions ({share:.2f} %)"
        )


@data.command
@takes(*_DATA)
def export(
    task: str,
    /,
    *,
    task_options: tuple[str, ...],
    workers: Workers = 1,
    file_format: Annotated[Text, Parameter("--format")] = "parquet",
    output: File,
    force: Flag = False,
    **size: Any,
) -> None:
    """Write the data set of TASK as files for other programs.

    adelic data export schubert --n 4 --format csv --output schubert-4
    adelic data export weaving --n 6 --edition leaky --format jsonl --output weaving-6-leaky
    adelic data export mheight --n 10 --format jsonl --output mheight-10
    adelic data export lattice --n 10 --format acd --output acd-files

    A file dataset.json describes them. Values are integers; a class is its index, and dataset.json has the names. Files
    that are there already are kept if they have the same content.

    Args:
        task: Name of a task.
        file_format: Format of the files: parquet, csv, jsonl or acd (the
            text files that the loader of the dataset's authors reads).
        output: Folder to write the files to; it is made if it is missing.
        force: Replace existing files that have another content.
    """
    chosen = _chosen(task, task_options)
    with progress_bar(_title(task, size)) as progress:
        dataset = stored.load(task, progress=progress, workers=workers, **size, **chosen)
        size["n"] = dataset.provenance["n"]
        what = [part for name in ("n", "edition", "split", "seed") for part in (f"--{name}", str(size[name]))]
        what += options(TaskData)["task_options"].words(task_options) if task_options else []
        where = ["--format", file_format, "--output", str(output)]
        command = ["data", "export", task, *what, *where]
        written = shlex.join(["adelic", *command])
        *_, path = stored.export(dataset, output, format=file_format, force=force, command=written, progress=progress)
    described = json.loads(path.read_bytes())
    for name, file in described["files"].items():
        print(f"{output / name}: {file['rows']:,} examples")
    print(path)
    for note in ("left_out", "validation", "loader"):
        if note in described:
            print(f"{note.replace('_', ' ')}: {described[note]}")


@data.command
@takes(
    *field_options(TaskData, only=("n", "edition"), default="all with published counts"),
    *field_options(TaskData, only=("split",), default="both"),
)
def verify(
    task: str | None = None, /, *, n: int | None, edition: str | None, split: str | None, workers: Workers = 1
) -> None:
    """Generate TASK anew and compare its counts with the published ones.

    adelic data verify mheight --n 8
    adelic data verify weaving --split orbits
    adelic data verify --workers 2

    Without TASK, every task is verified. A second table shows how --split orbits divides the examples, and how many
    examples of validation and test are images of training examples, which must be 0.

    The exit code is 1 if a count differs and it is not known why, or if the parts overlap or lack examples.
    """
    if task is not None and split is not None:
        stored.task(task).check_split(split)
    wanted: dict[str, Any] = {"n": n, "edition": edition, "workers": workers}
    with progress_bar(f"verifying {task or 'all tasks'}") as progress:
        checks = stored.verify(task, progress=progress, **wanted) if split != "orbits" else []
        divided = stored.verify_orbits(task, progress=progress, **wanted) if split != "published" else []
    if checks:
        _print_counts(checks)
    if divided:
        _print_orbits(divided)
    if not checks and not divided:
        print("no published counts are known for this size and edition", file=sys.stderr)
    if not all(check.equal or check.why for check in checks) or not all(check.holds for check in divided):
        sys.exit(1)


def _print_counts(checks: list[stored.Check]) -> None:
    reasons = list(dict.fromkeys(check.why for check in checks if check.why and not check.equal))
    rows = []
    for check in checks:
        counts = (f"{check.ours:,}", f"{check.published:,}")
        equal = "yes" if check.equal else f"no ({1 + reasons.index(check.why)})" if check.why else "NO"
        rows.append((check.task, str(check.n), check.edition, check.what, *counts, equal))
    columns = ("task", "n", "edition", "count of", "ours", "published", "equal")
    print_table(columns, rows, whole=columns[-1:], names=4)
    for i, reason in enumerate(reasons, 1):
        print(f"({i}) {reason}")
    for task_name, source in dict.fromkeys((check.task, check.source) for check in checks):
        print(f"{task_name}: published in {source}")


def _print_orbits(divided: list[stored.OrbitCheck]) -> None:
    rows = []
    for check in divided:
        counts = (check.orbits, check.train, check.validation, check.test, check.overlap)
        rows.append((f"{check.task} {check.n}, {check.edition}", *(f"{count:,}" for count in counts)))
    print_table(("with --split orbits", "orbits", "train", "validation", "test", "overlap"), rows, names=1)
    print("overlap: validation and test examples that are images of training examples under all symmetries; must be 0")
    for check in divided:
        if not check.holds:
            parts = check.train + check.validation + check.test
            print(
                f"NO: {check.task} {check.n}, {check.edition}: overlap {check.overlap:,}, "
                f"and {parts:,} of {check.rows:,} examples in the parts"
            )
