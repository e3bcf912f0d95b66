"""Texts that are checked when they are read: JSON with its own SHA-256, lists of SHA-256, TOML."""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

SEAL = "text_sha256"
_BLANK = "0" * 64
_TOO_DEEP = "its tables or lists are nested too deeply"


class DamagedTextError(ValueError):
    """A text is not as expected; the message tells why in half a sentence. Callers add the file.

    >>> issubclass(DamagedTextError, ValueError)
    True
    """


def sha256(content: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal digits.

    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(content).hexdigest()


def seal(record: Mapping[str, Any], **layout: Any) -> str:
    """Return a JSON object whose last entry, text_sha256, is the SHA-256 of this very text with 64 zeros in its place.

    It has at least one entry; `layout` is as for `json.dumps`.

    >>> seal({"rows": 3})
    '{"rows": 3, "text_sha256": "7dd85b52...d46e"}'
    """
    text = json.dumps({**record, SEAL: _BLANK}, **layout)
    before, _, after = text.rpartition(_BLANK)
    return before + sha256(text.encode()) + after


def parse_object(content: bytes) -> dict[str, Any]:
    """Return the JSON object of a text.

    >>> parse_object(b"[]")
    Traceback (most recent call last):
    adelic.storage.records.DamagedTextError: it is not a JSON object
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedTextError(f"it is not JSON ({_reason(error)})") from None
    if not isinstance(found, dict):
        raise DamagedTextError("it is not a JSON object")
    if _is_too_deep(found):
        raise DamagedTextError(f"it is not JSON ({_TOO_DEEP})")
    # JSON allows half a surrogate pair, of which no UTF-8 can be made: neither a file nor a digest.
    if b"\\ud" in content.lower():
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DamagedTextError("it has half of a character, a surrogate without its other half") from None
    return found


def parse_sealed(content: bytes) -> dict[str, Any]:
    """Return the JSON object of a text that `seal` has written, without the seal.

    A text that is not a JSON object, or has no seal, or does not fit it, is a DamagedTextError.

    >>> parse_sealed(seal({"rows": 3}).encode())
    {'rows': 3}
    >>> parse_sealed(seal({"rows": 3}).replace("3", "2", 1).encode())
    Traceback (most recent call last):
    adelic.storage.records.DamagedTextError: it does not have the SHA-256 that was written with it
    """
    record = parse_object(content)
    stated = str(record.pop(SEAL, None))
    # After the seal a file may end its line, which is not sealed.
    before, _, after = content.rstrip().rpartition(stated.encode() or b"?")
    if sha256(before + _BLANK.encode() + after) != stated:
        raise DamagedTextError("it does not have the SHA-256 that was written with it")
    return record


def parse_toml(content: bytes) -> dict[str, Any]:
    """Return the tables of a TOML text.

    >>> parse_toml(b"n = " + 5000 * b"[")
    Traceback (most recent call last):
    adelic.storage.records.DamagedTextError: it is not TOML (its tables or lists are nested too deeply)
    """
    try:
        found = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise DamagedTextError(f"it is not TOML ({_reason(error)})") from None
    if _is_too_deep(found):  # tomllib reads dotted keys of any length
        raise DamagedTextError(f"it is not TOML ({_TOO_DEEP})")
    return found


def _reason(error: Exception) -> str:
    return _TOO_DEEP if isinstance(error, RecursionError) else str(error)


def _is_too_deep(table: Any, levels: int = 100) -> bool:
    """Return whether tables and lists are nested deeper than any of ours, so whoever walks them may recurse."""
    inside = table.values() if isinstance(table, dict) else table
    return not levels or any(_is_too_deep(value, levels - 1) for value in inside if isinstance(value, dict | list))


def checksums(contents: Mapping[str, bytes]) -> str:
    r"""Return the SHA-256 of files as `sha256sum` lists them, so `sha256sum -c` checks them.

    >>> checksums({"a": b""})
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n'
    """
    return "".join(f"{sha256(content)}  {name}\n" for name, content in contents.items())


def parse_checksums(content: bytes) -> dict[str, str]:
    """Return the SHA-256 of each name that a list has.

    >>> parse_checksums(b""), list(parse_checksums(checksums({"a": b""}).encode()))
    ({}, ['a'])
    >>> parse_checksums(b"no list")
    Traceback (most recent call last):
    adelic.storage.records.DamagedTextError: it is not a list of SHA-256
    """
    lines = [re.fullmatch(rb"([0-9a-f]{64})  ([\w.-]+)", line) for line in content.split(b"\n")[:-1]]
    if content[-1:] not in (b"", b"\n") or None in lines:
        raise DamagedTextError("it is not a list of SHA-256")
    return {line[2].decode(): line[1].decode() for line in lines if line}
