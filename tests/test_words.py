"""Words and constructions that hide the meaning are counted in the prose of all pages, and stay rare.

`words.toml` lists each pattern with its count at the commit that it names. `python tests/test_words.py [PATTERN]`
prints the counts of today, and with a pattern the sentences.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHARE = 8
"""A pattern may be found as often as at first, divided by this."""
WORDS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
PATTERNS = {name: re.compile(entry["pattern"]) for name, entry in WORDS["pattern"].items()}


def prose(text: str) -> Iterator[str]:
    """Yield the sentences of a page: without code, tables, links' targets, comments and headings' marks.

    >>> list(prose("# Title\\n\\nTwo of `them`. [One](page.md).\\n\\n| a | b |\\n"))
    ['Title', 'Two of .', 'One.']
    """
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    text = re.sub(r"(?<=\])\([^)\s]*\)", "", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. |#)", text):
        joined = " ".join(
            re.sub(r"^(\s*[-*] |\s*\d+\. |#+ |> |!+)", "", line).strip() for line in paragraph.splitlines()
        )
        joined = re.sub(r"[*_\[\]]", "", joined).strip()
        yield from filter(None, re.split(r"(?<=[.!?]) +(?=[A-Z“\"(])", joined))


@cache
def sentences() -> list[tuple[str, str]]:
    """Return each sentence with its page: the README, the pages of the site, CHANGELOG and CONTRIBUTING."""
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    return [(str(page.relative_to(ROOT)), one) for page in pages for one in prose(page.read_text(encoding="utf-8"))]


def found(name: str) -> list[str]:
    """Return where a pattern is found, each with its page and sentence."""
    return [f"{page}: {one}" for page, one in sentences() for _ in PATTERNS[name].finditer(one)]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_rare(name):
    where = found(name)
    assert len(where) <= WORDS["pattern"][name]["first"] // SHARE, "\n".join(where)


if __name__ == "__main__":
    for name in sys.argv[1:] or PATTERNS:
        lines = [f"{name}: {len(found(name))}, first {WORDS['pattern'][name]['first']}"]
        sys.stdout.write("\n".join([*lines, *(found(name) if sys.argv[1:] else [])]) + "\n")
