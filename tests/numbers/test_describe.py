"""Error messages stay short and on one line, whatever the value."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import DecodingError
from adelic.numbers.describe import describe, expansion_text, number_text, one_line, parse_expansion


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


@given(st.sampled_from([2, 3, 7, 11, 251]), st.data())
def test_texts_are_read_back(p, data):
    digits = data.draw(st.lists(st.integers(0, p - 1), min_size=1, max_size=12))
    fractional_digits = data.draw(st.integers(0, len(digits)))
    read, after_point, terminates = parse_expansion(expansion_text(digits, p, fractional_digits), p)
    dropped = fractional_digits - after_point  # zeros at the end, which the text leaves out
    assert read + [0] * dropped == digits
    assert not terminates
    again = parse_expansion(expansion_text(digits, p, fractional_digits, terminates=True), p)
    leading = len(digits) - dropped - len(again.digits)
    assert [0] * leading + again.digits + [0] * dropped == digits
    assert again.terminates


def test_a_million_leading_zeros():
    """Dropped at once, not one by one from the front of the list."""
    assert expansion_text([0] * 10**6 + [1, 0], 2, terminates=True) == "10"
    assert expansion_text([0] * 10**6, 2, terminates=True) == "0"
    assert expansion_text([0, 3], 5, 2, terminates=True) == ".03"


def test_unknown_places_are_marked():
    assert expansion_text([2], 5, 3) == "….??2"
    with pytest.raises(DecodingError):
        parse_expansion("….??2", 5)


@pytest.mark.parametrize("text", ["…12", "1.2.3", "", "…", ".", "-1", "1 0", "²", "…(1)"])
def test_text_that_is_no_binary_expansion(text):
    with pytest.raises(DecodingError, match="is not a 2-adic expansion") as caught:
        parse_expansion(text, 2)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["12", "(1", "1)", "(17)", "(1)(2", "((1))", "()"])
def test_text_that_is_no_expansion_at_17(text):
    with pytest.raises(DecodingError, match="in brackets"):
        parse_expansion(text, 17)
