"""What memory of exchanged operands gets on expressions: images have one value, the page has the file's figures."""

import json
from pathlib import Path

import numpy as np

from adelic.data import DrawnData, drawn_task
from adelic.number_theory.composition import infix, postfix

ROOT = Path(__file__).parents[2]
SCRIPT = "expression_images"


def test_the_page_has_the_figures_of_the_file():
    found = json.loads((ROOT / "benchmarks" / "results" / "expression_images.json").read_text(encoding="utf-8"))
    assert not found["commit"].endswith("+")
    rows = found["with_image"]
    assert all(share == 0 for shares in rows.values() for split, share in shares.items() if split != "test")
    few, many, bracketed = (
        f"{100 * rows[row]['test']:.2f} %" for row in ("expression-3000", "expression-10000", "infix-expression-10000")
    )
    page = " ".join((ROOT / "docs" / "composition.md").read_text(encoding="utf-8").split())
    assert (
        f"that is {few} of the short questions from 3,000 examples, {many} from 10,000 and {bracketed} in infix" in page
    )


def test_forms_are_those_of_one_value(script):
    """Two questions have one form only if they have one value; a question and its other notation have the same."""
    expressions, _ = drawn_task("expression").sample(300, np.random.default_rng(0))
    values = {}
    for row in expressions.tolist():
        found = script.form(row, is_infix=False)
        assert found == script.form(infix(*row), is_infix=True)
        assert values.setdefault(found, postfix(*row)) == postfix(*row)
    a, b, c = 5, 7, 9
    assert script.form([a, b, -1, c, -3], is_infix=False) == script.form([c, b, a, -1, -3], is_infix=False)
    assert script.form([a, b, -2], is_infix=False) != script.form([b, a, -2], is_infix=False)


def test_shares_of_few_questions(script):
    found = script.shares(DrawnData("expression", 300, test_cases=60, confirmation_cases=60, never_seen_cases=10))
    assert list(found) == ["test", "crossed", "longer", "cubic", "determinant"]
    assert all(0 <= share < 0.2 for share in found.values())
