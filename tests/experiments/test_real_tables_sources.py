import numpy as np
import pandas as pd
import pytest

from adelic.errors import LeakError

SCRIPT = "real_tables_sources"


@pytest.fixture
def table(script):
    numbers = np.arange(200)
    return script.table({"n": [*numbers, 5]}, [*(numbers % 2), 1], order=[*numbers, 5], cuts=(99, 150))


def test_equal_numbers_stay_once(table):
    assert table.frame["n"].tolist() == list(range(200))
    assert table.target.tolist() == ["0", "1"] * 100
    assert len(table.order) == 200


@pytest.mark.parametrize(("split", "sizes"), [("random", [120, 30, 50]), ("time", [90, 45, 45])])
def test_parts_are_apart_and_drawn_by_the_seed(table, split, sizes):
    parts = table.parts(split, 0)
    assert [len(rows) for rows in parts] == sizes
    assert len(set(np.concatenate(parts).tolist())) == sum(sizes)
    if split == "time":
        assert parts[0].max() <= 99 < parts[1].min() <= parts[1].max() < 150 <= parts[2].min()
    assert all((a == b).all() for a, b in zip(parts, table.parts(split, 0), strict=True))
    assert parts[0].tolist() != table.parts(split, 1)[0].tolist()


def test_a_leak_is_an_error(script):
    frame = pd.DataFrame({"n": [1, 2] * 100, "m": [0, 10**30] * 100})
    with pytest.raises(LeakError, match="2 of the test's examples"):
        script.Table(frame, np.array(["a", "b"] * 100)).parts("random", 0)


@pytest.mark.parametrize("country", ["nl", "be"])
def test_numbers_with_wrong_check_digits_tell_nothing_else(script, country):
    stdnum = pytest.importorskip("stdnum")
    assert stdnum
    module, length = script.CHECKS[country]
    found = script.check_digits(country, 40)
    is_valid = pytest.importorskip(f"stdnum.{module}").is_valid
    texts = [str(n).zfill(length) for n in found.frame["number"]]
    assert [str(is_valid(text)) for text in texts] == found.target.tolist()
    assert all(any(is_valid(f"{text[:-2]}{end:02}") for end in range(100)) for text in texts)


def test_letters_digits_and_syllables_of_unicode(script):
    assert dict(zip(*(script.code_points().frame["point"], script.code_points().target), strict=True))[ord("ß")] == "Ll"
    digits = script.unicode_digits()
    assert digits.target[digits.frame["point"].tolist().index(ord("٣"))] == "3"
    syllables = script.hangul()
    of = dict(zip(syllables.frame["point"].tolist(), syllables.target.tolist(), strict=True))
    assert [of[ord(c)] for c in "가각갂값"] == ["none", "single", "double", "double"]


def test_big_integers_stay_exact(script):
    numbers = [10**40, 10**40 + 1]
    assert script.table({"n": np.array(numbers, dtype=object)}, [0, 1]).frame["n"].tolist() == numbers
