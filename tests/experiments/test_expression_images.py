"""What of expressions and programs training has in another form: images have one value, the page has the figures."""

import numpy as np

from adelic.data import DrawnData, drawn_task
from adelic.number_theory.composition import infix, postfix

SCRIPT = "expression_images"


def test_the_page_has_the_figures_of_the_file(figures, section):
    rows = figures["with_image"]
    assert all(share == 0 for shares in rows.values() for split, share in shares.items() if split != "test")
    page = section("composition/tables.md")
    for row, words in (
        ("expression-3000", "postfix, 3,000 examples"),
        ("expression-10000", "postfix, 10,000 examples"),
        ("infix-expression-10000", "infix, 10,000 examples"),
        ("expression-30000", "postfix, 30,000 examples"),
    ):
        assert f"| {words} | {100 * rows[row]['test']:.2f} |" in page
    most = max(shares["test"] for shares in rows.values())
    assert f"At most {100 * most:.2f} % of the short questions are in training" in section("composition.md")
    programs = figures["programs"]
    ones = [programs[f"{name}-program-30000"]["with_one_operation"] for name in ("recurrence", "system")]
    assert "These are {:,} of recurrences and {:,} of systems.".format(*ones) in page
    matrices, recurrences, systems = (programs[row]["known"] for row in programs)
    for share, words in (
        (matrices["entry"], "entries of two matrices"),
        (matrices["chain"], "entries of four matrices"),
        (recurrences["50th"], "50th terms"),
        (systems["two"], "two equations"),
        (systems["three"], "three equations by Cramer's rule"),
        (systems["elimination"], "three equations by elimination"),
    ):
        assert f"| {words} | {100 * share:.2f} |" in page


def test_operations_are_performed_in_turn(script):
    """Of a product, its reference and a quotient; the last operation of a question gives its answer."""
    assert script.operations([3, 4, -3, -101, -1, 0]) == [(-3, 3, 4), (-1, 12, 12)]
    for name in script.PROGRAMS:
        rows, answers = drawn_task(name).sample(50, np.random.default_rng(0))
        for row, answer in zip(rows.tolist(), answers.tolist(), strict=True):
            sign, left, right = script.operations(row)[-1]
            assert script.OPERATORS[-sign - 1](left, right) == answer


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
