"""The audits of stored tasks: the page's table is that of the committed results."""

import json

SCRIPT = "acd_audits"


def test_the_table_is_made_from_the_committed_results(script, shown):
    results = [json.loads(path.read_text(encoding="utf-8")) for path in script.RESULTS.glob("*.json")]
    assert shown("audit.md", "table: experiments/results/audit") == script.to_markdown(results)
