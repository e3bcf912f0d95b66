"""Audit the tasks of number theory, and write the table of docs/number-theory/baselines.md.

    python experiments/number_theory_audits.py            # one task, in a minute
    python experiments/number_theory_audits.py --full     # all tasks, some minutes
    python experiments/number_theory_audits.py --lines    # update the table of the page, and audit nothing

Writes experiments/results/number-theory-audit/TASK.json by `adelic data audit TASK --output …`, with the task's
usual options, and another file for each choice of options that `adelic reproduce number-theory` asks a task with.
"""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import common

from adelic.cli.options import Flag
from adelic.number_theory import TASKS
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic.storage.records import parse_object
from adelic_lab.plans import read_plan
from adelic_lab.report.table import Table, percent

PAGE = common.DOCS / "number-theory" / "baselines.md"
FOLDER = common.RESULTS / "number-theory-audit"
AUDITED = 20_000
"""Greatest number of training questions, also for audits with the usual options."""
MARK = "lines: experiments/results/number-theory-audit"


def main(*, lines: Flag = False, task: str = "gcd", full: bool = False, output: Path | None = None) -> None:
    """Run the audits one after the other, and write the table.

    Args:
        lines: write the table and audit nothing.
        task: the one without --full.
        full: all tasks, in some minutes.
        output: folder of the audits.
    """
    asked = audits()
    chosen = {} if lines else {path: words for path, words in asked.items() if full or words[0] == task}
    folder = output or common.place(full=full) / "number-theory-audit"
    for path, words in common.each(chosen.items(), lambda one: one[0].stem):
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "adelic", "data", "audit", *words, "--output", str(folder / path.name)]
        subprocess.run(command, check=True)
    if full or lines:
        found = (parse_object(path.read_bytes()) for path in asked)
        common.between_marks(PAGE, MARK, to_lines(found))


def audits() -> dict[Path, list[str]]:
    """Return the arguments of each audit by its file: the tasks, and behind each the options of the plan."""
    found = {}
    plan = [one.experiments[0].questions for one in read_plan("full", "number-theory")]
    for name in (one for one in TASKS if one not in ARITHMETIC):
        found[FOLDER / f"{name}.json"] = [name]
        for data in plan:
            if data.task == name and data.task_options:
                path = FOLDER / f"{'-'.join([name, *data.task_options]).replace('=', '-')}.json"
                examples = min(data.examples, AUDITED)  # modulo a small number there are few questions
                found[path] = [name, "--task-options", ",".join(data.task_options), "--examples", str(examples)]
    return found


def to_lines(audits: Iterable[Mapping[str, Any]]) -> str:
    """Return a table with one line per audit: the best baseline and the most frequent answer, in percent of the test.

    >>> always = {"name": "most frequent class", "held_out": 0.5, "accuracies": {"test": 0.5}}
    >>> best = {"name": "n modulo 4", "held_out": 0.9, "accuracies": {"test": 0.875}}
    >>> print(to_lines([{"task": "squarefree", "options": ["limit=99"], "findings": [best, always]}]).splitlines()[-1])
    | `squarefree`, limit=99 | n modulo 4 | 87.50 | 50.00 |
    """
    lines = []
    for found in audits:
        best = found["findings"][0]
        (constant,) = (finding for finding in found["findings"] if finding["name"].startswith("most frequent"))
        scores = (percent(finding["accuracies"]["test"]) for finding in (best, constant))
        lines.append((", ".join([f"`{found['task']}`", *found["options"]]), best["name"], *scores))
    return Table.of(("task", "best baseline", "test", "most frequent answer"), lines, names=2).to_markdown().rstrip()


if __name__ == "__main__":
    common.run(main)
