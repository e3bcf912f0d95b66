"""Audit every published dataset, in every edition and split; docs/audit.md has the figures.

    python experiments/acd_audits.py             # the small datasets, in a minute
    python experiments/acd_audits.py --full      # all of them, in hours
    python experiments/acd_audits.py --full --tasks schubert,weaving --splits orbits
    python experiments/acd_audits.py --table   # bring the table of docs/audit.md up to date

Writes experiments/results/audit/TASK-N-EDITION.json, for orbits TASK-N-EDITION-orbits.json, each what the
command that it names (`adelic data audit … --output …`) writes; without --full into runs/experiments/audit.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import common

from adelic import acd
from adelic.cli.options import Flag, Names
from adelic.storage.files import atomic_write
from adelic_lab.report.table import NONE, Table, percent

RESULTS = common.RESULTS / "audit"
LEFT_OUT = {("characters", 22), ("kl", 7), ("rsk", 10)}
"""Each takes minutes and resembles its smaller siblings."""
ORBITS_LEFT_OUT = {("schubert", 6)}
"""Likewise, on the split orbits."""
SMALL = 100_000
"""Tokens of a dataset that takes a second or two."""


class Subject(NamedTuple):
    """A dataset to audit: its number of tokens, the name of its file, and the arguments of `acd.audit`."""

    size: int
    label: str
    asked: dict[str, Any]


def main(
    *,
    tasks: Names = tuple(acd.TASKS),
    splits: Names = ("published", "orbits"),
    table: Flag = False,
    full: Flag = False,
    output: Path | None = None,
) -> None:
    """Run the audits one after the other, small datasets first, or write the table.

    Args:
        tasks: names separated by commas.
        splits: names separated by commas.
        table: write the table of docs/audit.md, and audit nothing.
        full: also audit the large datasets, which takes hours.
        output: folder of the audits.
    """
    if table:
        text = to_markdown(common.read(RESULTS))
        common.between_marks(common.DOCS / "audit.md", "table: experiments/results/audit", text)
        return
    chosen = (subject for subject in subjects(tasks, splits) if full or subject.size <= SMALL)
    for subject in common.each(sorted(chosen, key=lambda s: s.size), lambda s: s.label):
        audit = acd.audit(**subject.asked)
        path = (output or common.place(full=full) / "audit") / f"{subject.label}.json"
        atomic_write(path, json.dumps(audit, indent=1, ensure_ascii=False) + "\n")


def subjects(names: Iterable[str], splits: Iterable[str]) -> Iterator[Subject]:
    """Yield the datasets of some tasks; a task without symmetries has no orbits.

    Other labellings than the first are audited on the published split alone: orbits are the same for all.
    """
    for task in map(acd.task, names):
        every = [{option: choice} for option, choices in task.options.items() for choice in choices] or [{}]
        for n, edition, split in product(task.sizes, task.editions, splits):
            in_orbits = split == "orbits"
            if (in_orbits and not task.symmetries) or (task.name, n) in LEFT_OUT | (
                ORBITS_LEFT_OUT if in_orbits else set()
            ):
                continue
            size = task.estimate(n, edition).rows * task.length(n, edition)
            for options in every if split == "published" else every[:1]:
                names = [task.name, str(n), edition, *options.values(), *[split] * (split != "published")]
                asked = {"name": task.name, "n": n, "edition": edition, "split": split, **options}
                yield Subject(size, "-".join(names), asked)


def to_markdown(audits: Iterable[Mapping[str, Any]]) -> str:
    """Return audits as one Markdown table by task and size, accuracies on the published test split in percent.

    Orbits are left out: there the columns on equivalent examples are 0, and look-up answers with the majority class.

    >>> about = {"task": "weaving", "n": 6, "edition": "leaky", "split": "published", "options": {}, "symmetries": {}}
    >>> about["findings"] = [{"name": "majority class", "test": 0.5, "everywhere": 0.5}]
    >>> about |= {"overlap": {"images": {"test": {"rows": 0, "share": 0.0}}}, "lookup": {"images": 0.5}}
    >>> print(to_markdown([about]).splitlines()[-1])
    | weaving 6, `leaky` | 50.0 | – | – | – | – | – | 0.0 | 50.0 |
    """
    models = ("majority", "best cue", "best token", "logistic regression", "tree")
    head = ("dataset", *models, "equivalent outside test", "among training images", "look-up")
    published = (a for a in audits if a["split"] != "orbits")
    return Table.of(head, map(_cells, sorted(published, key=_place))).to_markdown().strip()


def _place(a: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what an audit is sorted by."""
    return a["task"], a["n"] or 0, a["edition"] or "", [*a["options"].values()]


def _cells(a: Mapping[str, Any]) -> tuple[str, ...]:
    def best(prefix: str) -> str:
        found = [f for f in a["findings"] if f["name"].startswith(prefix)]
        if not found:
            return NONE
        finding = max(found, key=lambda f: f["everywhere"] or f["test"])
        name = f" ({finding['name'].removeprefix(prefix)})" if prefix == "cue: " else ""
        return f"{100 * finding['test']:.1f}{name}"

    leaks, overlaps, lookup = a["symmetries"], a["overlap"], a["lookup"]
    named = f"{a['task']} {a['n']}" if a["n"] is not None else a["task"]
    edition = [f"`{a['edition']}`"] if a["edition"] is not None else []
    return (
        ", ".join([named, *edition, *a["options"].values()]),
        best("majority"),
        best("cue: "),
        best("best single token"),
        best("logistic"),
        best("decision"),
        percent(leaks.get("all", max(leaks.values())) if leaks else None, decimals=1),
        percent(overlaps["images"]["test"]["share"] if "images" in overlaps else None, decimals=1),
        percent(lookup.get("images"), decimals=1),
    )


if __name__ == "__main__":
    common.run(main)
