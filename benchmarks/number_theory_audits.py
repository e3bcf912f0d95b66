"""Audit the tasks of number theory, and write the lines of docs/number-theory.md on trivial rules.

    python benchmarks/number_theory_audits.py            # about a minute
    python benchmarks/number_theory_audits.py --lines    # bring the page's lines up to date, and audit nothing

Writes results/number-theory-audit/TASK.json by `adelic data audit TASK --output …`.
"""

import argparse
import json
import re
from pathlib import Path

from adelic.cli import commands
from adelic.data.auditing.drawn import to_lines
from adelic.number_theory import TASKS
from adelic.number_theory.arithmetic import ARITHMETIC
from adelic.storage.files import atomic_write

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "number-theory.md"
FILES = {name: ROOT / "results" / "number-theory-audit" / f"{name}.json" for name in TASKS if name not in ARITHMETIC}
MARK = r"(<!-- lines: results/number-theory-audit -->\n).*?(<!-- end of lines -->)"


def main() -> None:
    """Run the audits one after the other, and write the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", action="store_true", help="write the page's lines and audit nothing")
    for name, path in FILES.items() if not parser.parse_args().lines else ():
        commands(["data", "audit", name, "--output", str(path)], standalone_mode=False)
    text, lines = PAGE.read_text(encoding="utf-8"), to_lines(map(read, FILES.values()))
    atomic_write(PAGE, re.sub(MARK, lambda found: f"{found[1]}{lines}\n{found[2]}", text, flags=re.DOTALL))


def read(path: Path) -> dict[str, object]:
    """Return an audit."""
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    main()
