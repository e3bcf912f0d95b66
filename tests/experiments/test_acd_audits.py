"""The audits of stored tasks: the page's table is that of the committed results."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = "acd_audits"


def test_the_table_is_made_from_the_committed_results(script):
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- table: experiments/results/audit -->\n(.*?)<!-- end of table -->", page, flags=re.DOTALL)
    assert shown is not None
    results = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (ROOT / "experiments" / "results" / "audit").glob("*.json")
    ]
    assert shown[1].strip() == script.to_markdown(results)
