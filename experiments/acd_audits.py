"""Audit every published data set, in every edition and split of ours, from which docs/audit.md is written.

    python experiments/acd_audits.py             # the small data sets, in a minute
    python experiments/acd_audits.py --full      # all of them, in hours
    python experiments/acd_audits.py --full --tasks schubert,weaving --splits orbits
    python experiments/acd_audits.py --table   # bring the table of docs/audit.md up to date

Writes results/audit/TASK-N-EDITION.json, for orbits TASK-N-EDITION-orbits.json, each what the command that it names
(`adelic data audit … --output …`) writes; without --full into runs/experiments/audit.
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import common

from adelic import acd
from adelic.data import Task
from adelic.data.auditing.stored import to_markdown
from adelic.storage.files import atomic_write

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "audit"
LEFT_OUT = {("characters", 22), ("kl", 7), ("rsk", 10)}
"""Minutes of work each, and like their smaller siblings in kind."""
ORBITS_LEFT_OUT = {("schubert", 6)}
"""Likewise, on the split orbits."""
SMALL = 100_000
"""Tokens of a data set that takes a second or two."""


@dataclass(frozen=True)
class Subject:
    """A data set to audit."""

    task: Task
    n: int
    edition: str
    split: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Return the name of its file."""
        split = [] if self.split == "published" else [self.split]
        return "-".join([self.task.name, str(self.n), self.edition, *self.options.values(), *split])

    @property
    def size(self) -> int:
        """Return the number of tokens."""
        return self.task.estimate(self.n, self.edition).rows * self.task.length(self.n, self.edition)


def main() -> None:
    """Run the audits one after the other, small data sets first, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=",".join(acd.TASKS), help="names separated by commas")
    parser.add_argument("--splits", default="published,orbits", help="names separated by commas")
    parser.add_argument("--table", action="store_true", help="write the table of docs/audit.md and audit nothing")
    common.add_full(parser, "hours, unless you name --tasks")
    given = parser.parse_args()
    if given.table:
        write_table()
        return
    found = (s for s in subjects(given.tasks.split(","), given.splits.split(",")) if given.full or s.size <= SMALL)
    for subject in common.each(sorted(found, key=lambda s: s.size), lambda s: s.label):
        audit = acd.audit(
            subject.task.name, n=subject.n, edition=subject.edition, split=subject.split, **subject.options
        )
        folder = RESULTS if given.full else Path("runs", "experiments", "audit")
        atomic_write(folder / f"{subject.label}.json", json.dumps(audit, indent=1, ensure_ascii=False) + "\n")


def subjects(names: Iterable[str], splits: Iterable[str]) -> Iterator[Subject]:
    """Yield the data sets of some tasks; a task without symmetries has no orbits.

    Other labellings than the first are audited on the published split alone: orbits are the same for all.
    """
    for task in map(acd.task, names):
        every = [{option: choice} for option, choices in task.options.items() for choice in choices] or [{}]
        for n in task.sizes:
            for edition in task.editions:
                for split in splits if task.symmetries else [s for s in splits if s != "orbits"]:
                    variants = every if split == "published" else every[:1]
                    left_out = LEFT_OUT | (ORBITS_LEFT_OUT if split == "orbits" else set())
                    if (task.name, n) not in left_out:
                        yield from (Subject(task, n, edition, split, options) for options in variants)


def write_table() -> None:
    """Write the table of docs/audit.md, which a test compares with the committed results."""
    page = ROOT / "docs" / "audit.md"
    audits = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    mark = r"(<!-- table: results/audit -->\n).*?(<!-- end of table -->)"
    text = page.read_text(encoding="utf-8")
    atomic_write(page, re.sub(mark, lambda m: f"{m[1]}{to_markdown(audits)}\n{m[2]}", text, flags=re.DOTALL))


if __name__ == "__main__":
    main()
