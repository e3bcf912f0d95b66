"""p-adic expansions as text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import DecodingError
from adelic.numbers.expansion import expansion_text, parse_expansion


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


def test_paper_example():
    assert expansion_text([1, 1, 0, 1, 1], 2) == "…11011"
    assert expansion_text([0, 1, 2, 1, 2], 3) == "…01212"
    assert expansion_text([0, 0, 0, 1, 2], 5, 1, terminates=True) == "1.2"
    assert expansion_text([5, 4, 1, 3, 0], 7) == "…54130"


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
