"""Audit every published data set, in every edition of ours, from which docs/audit.md is written.

    python benchmarks/acd_audits.py --tasks schubert,weaving

Writes results/audit/TASK-N-EDITION.json, each what the command that it names (`adelic data audit … --output …`) writes.
"""

import argparse
import json
from pathlib import Path

from adelic import acd
from adelic.acd.files import atomic_write

RESULTS = Path(__file__).resolve().parent.parent / "results" / "audit"
LEFT_OUT = {("characters", 22), ("kl", 7), ("rsk", 10)}
"""Minutes of work each, and like their smaller siblings in kind."""


def main() -> None:
    """Run the audits one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=",".join(acd.TASKS), help="names separated by commas")
    for name in parser.parse_args().tasks.split(","):
        task = acd.task(name)
        variants = [{option: choice} for option, choices in task.options.items() for choice in choices] or [{}]
        for n in task.sizes:
            for edition in task.editions:
                for options in variants:
                    if (name, n) not in LEFT_OUT:
                        label = "-".join([name, str(n), edition, *options.values()])
                        print(label, flush=True)  # noqa: T201
                        found = acd.audit(name, n=n, edition=edition, **options)
                        text = json.dumps(found, indent=1, ensure_ascii=False)
                        atomic_write(RESULTS / f"{label}.json", text + "\n")


if __name__ == "__main__":
    main()
