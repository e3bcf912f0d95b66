"""Completing character tables: against tables, without a look at hidden cells; the pages have the file's figures."""

import numpy as np
import pytest

from adelic import acd
from adelic.acd.characters import character_table

SCRIPT = "character_completion"


@pytest.mark.parametrize("told", [False, True])
def test_a_small_table_is_completed(script, told):
    data = acd.load("characters", n=8)
    about = script.asked(data, 8, told)
    assert about["exact_match"] == 1
    assert about["is_orthogonal"]
    assert about["known"] == 1 - len(data.y_test) / 22**2


def test_cells_of_test_rows_and_of_no_row_are_not_known(script):
    table = character_table(8)
    for edition in ("published", "central"):
        data = acd.load("characters", n=8, edition=edition)
        values, known, test = script.hidden(data, 8)
        assert known.sum() == len(data.y_train) + len(data.y_validation)
        assert not known[test].any()
        assert len(set(zip(*test, strict=True))) == len(data.y_test)
        assert np.array_equal(values[test], data.y_test)
        assert np.array_equal(values[known], table[known])
        elsewhere = ~known
        elsewhere[test] = False
        assert elsewhere.any() == (edition == "central")
        assert not values[elsewhere].any()


def test_what_is_hidden_is_not_read(script):
    values, known, _ = script.hidden(acd.load("characters", n=6), 6)
    blind, steps = script.completed(np.where(known, values, np.nan), known, None, most=40)
    seen, same = script.completed(values, known, None, most=40)
    assert steps == same
    assert np.array_equal(blind, seen)
    assert np.array_equal(seen[known], values[known])


@pytest.mark.parametrize("n", range(1, 8))
def test_a_table_is_orthogonal_and_a_changed_one_is_not(script, n):
    table = character_table(n)
    assert script.is_orthogonal(table, n)
    for cell in ((0, 0), (-1, -1), (len(table) // 2, 0)):
        for change in (1, -1, script._PRIMES[0], 2**40):
            other = table.copy()
            other[cell] += change
            if not np.array_equal(np.abs(other), np.abs(table)):
                assert not script.is_orthogonal(other, n)


def test_fewer_cells_are_drawn_among_those_outside_test(script, monkeypatch):
    data = acd.load("characters", n=6)
    seen = []
    monkeypatch.setattr(script, "completed", lambda values, known, norms: seen.append(known) or (values, 1))
    about = script.asked(data, 6, False, 0.5)
    assert about["known"] == pytest.approx(0.5, abs=1 / 121)
    assert not (seen[0] & ~script.hidden(data, 6)[1]).any()


def test_the_page_has_the_figures_of_the_file(figures, section):
    text = section("audit.md", "## Symmetric group characters")
    full = [run for run in figures["runs"] if run["edition"] == "published" and run["known"] > 0.79]
    assert {(run["n"], run["split"], run["norms"]) for run in full} == {
        (n, split, norms) for n in (18, 20, 22) for split in ("published", "orbits") for norms in ("told", "found")
    }
    assert all(run["exact_match"] == 1 and run["is_orthogonal"] for run in full)
    without = [run for run in full if run["norms"] == "found"]
    steps = [run["steps"] for run in without]
    assert f"{min(steps)} to {max(steps)} times" in text
    fewer = {round(run["known"], 2): run for run in figures["runs"] if run["known"] < 0.755}
    assert all(run["exact_match"] == 1 for share, run in fewer.items() if share >= 0.6)
    assert f"With 55 % it finds {100 * fewer[0.55]['exact_match']:.1f} %" in text
    assert f"With half of the cells it finds {100 * fewer[0.5]['exact_match']:.1f} %" in text
    (central,) = (run for run in figures["runs"] if run["edition"] == "central" and run["norms"] == "found")
    assert f"In the edition `central` it finds {100 * central['exact_match']:.1f} %" in text
    errors = [run["mean_squared_error_of_dimensions_alone"] for run in without if run["split"] == "published"]
    assert [f"{error:.1e}" for error in errors] == ["2.7e+08", "3.9e+10", "4.3e+12"]
    assert "For n = 18 its mean squared error is 2.7 · 10⁸." in text
