"""Error messages stay short and on one line, whatever the value."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.numbers.describe import at_position, describe, number_text, one_line


@pytest.mark.long
@given(st.one_of(st.text(), st.integers(), st.fractions(), st.lists(st.text(), max_size=3), st.binary()))
def test_descriptions_are_one_short_line(value):
    text = describe(value)
    assert len(text.splitlines()) <= 1
    assert len(text) <= 100


@given(st.integers(-(10**40) + 1, 10**40 - 1))
def test_small_integers_are_written_in_full(n):
    assert describe(n) == number_text(n) == str(n)


def test_large_numbers_are_shortened():
    assert describe(-(10**5000)) == "-1000000…000 (5001 digits)"
    assert describe(Fraction(1, 10**5000)) == "1/1000000…000 (5001 digits)"
    assert number_text(-(10**5000)) == "-1" + "0" * 5000
    assert describe(True) == "True"


def test_long_messages_keep_both_ends():
    line = one_line("first " + "middle " * 200 + "last")
    assert len(line) <= 1003
    assert line.startswith("first middle")
    assert line.endswith("middle last")


def test_positions():
    assert at_position((3,)) == " at position [3]"
    assert at_position(()) == ""
