"""What is written down can be read again, and what is damaged is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.storage import records


@given(st.dictionaries(st.text(max_size=4), st.text(max_size=4) | st.integers() | st.just("a" * 64)), st.data())
def test_a_sealed_record_is_read_as_it_was_or_not_at_all(record, data):
    record.pop(records.SEAL, None)
    content = bytearray(records.seal(record).encode())
    assert records.parse_sealed(content + b"\n") == record
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(records.DamagedTextError):
        records.parse_sealed(bytes(content))


@pytest.mark.parametrize("content", [b"{}", b'{"text_sha256": ""}', b'{"text_sha256": 3}', b'{"rows": 3}'])
def test_a_record_without_its_seal_is_refused(content):
    with pytest.raises(records.DamagedTextError, match="SHA-256"):
        records.parse_sealed(content)


@pytest.mark.parametrize("text", ["a" + 5000 * ".a" + " = 1", "[a" + 5000 * ".a" + "]", "a = " + 200 * "[" + 200 * "]"])
def test_tables_nested_deeper_than_whoever_reads_them_can_follow(text):
    with pytest.raises(records.DamagedTextError, match="nested too deeply"):
        records.parse_toml(text.encode())
    with pytest.raises(records.DamagedTextError, match="nested too deeply"):
        records.parse_object(b'{"a": ' + 200 * b"[" + 200 * b"]" + b"}")
