"""What of expressions and programs training has in another form: images have one value, the page has the figures."""

import numpy as np

from adelic.data import DrawnData, drawn_task
from adelic.number_theory.composition import infix, postfix

SCRIPT = "expression_images"


def test_the_page_has_the_figures_of_the_file(figures, section):
    rows = figures["with_image"]
    assert all(share == 0 for shares in rows.values() for split, share in shares.items() if split != "test")
    few, many, most, bracketed = (
        f"{100 * rows[row]['test']:.2f} %"
        for row in ("expression-3000", "expression-10000", "expression-30000", "infix-expression-10000")
    )
    page = section("composition.md")
    assert (
        f"that is {few} of the short questions from 3,000 examples, {many} from 10,000 and {bracketed} in infix" in page
    )
    assert f"stand among the 30,000 with the sides of sums or products exchanged: {most}" in page
    programs = figures["programs"]
    ones = [programs[f"{name}-program-30000"]["with_one_operation"] for name in ("recurrence", "system")]
    assert "{:,} of them (recurrences) or {:,} (systems) with one operation (seed 0)".format(*ones) in page
    matrices, recurrences, systems = (programs[row]["known"] for row in programs)
    for share, words in (
        (matrices["entry"], "{} for the entries of two matrices"),
        (matrices["chain"], "{} for four"),
        (recurrences["50th"], "{} for 50th terms"),
        (systems["two"], "{} for two equations, and "),
        (systems["three"], "{} for three ("),
        (systems["elimination"], "({} by elimination)"),
    ):
        assert words.format(f"{100 * share:.2f} %") in page


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
