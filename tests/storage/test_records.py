"""What is written down can be read again, and what is damaged is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.storage import records

PARTS = st.sampled_from(['"', " ", ":", "}", "\\", "x", "\n", "a" * 64, '"text_sha256": "' + "a" * 64 + '"}'])


@given(st.lists(PARTS, max_size=14).map("".join).map(str.encode))
def test_the_last_entry_is_that_which_a_search_finds(content):
    """A search of the whole text, at the cost of trying every quote, is the definition."""
    found, searched = records._LAST.match(content, records._last_entry(content)), records._LAST.search(content)
    assert (found and found.span()) == (searched and searched.span())


@pytest.mark.parametrize("text", ["a" + 5000 * ".a" + " = 1", "[a" + 5000 * ".a" + "]", "a = " + 200 * "[" + 200 * "]"])
def test_tables_nested_deeper_than_whoever_reads_them_can_follow(text):
    with pytest.raises(records.DamagedTextError, match="nested too deeply"):
        records.parse_toml(text.encode())
    with pytest.raises(records.DamagedTextError, match="nested too deeply"):
        records.parse_object(b'{"a": ' + 200 * b"[" + 200 * b"]" + b"}")
