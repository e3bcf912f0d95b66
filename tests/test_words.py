"""Words and constructions that hide the meaning are counted in the prose of all pages, and stay rare.

`words.toml` lists each pattern with its count at the commit that it names. `python tests/test_words.py [PATTERN]` prints
the counts of today, and with a pattern the sentences.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHARE = 1
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


def pages() -> list[Path]:
    """Return every page that people read: the README, those of the site, CHANGELOG and CONTRIBUTING."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def found(name: str) -> list[str]:
    """Return where a pattern is found, each with its page and sentence."""
    return [
        f"{page.relative_to(ROOT)}: {sentence}"
        for page in pages()
        for sentence in prose(page.read_text(encoding="utf-8"))
        for _ in PATTERNS[name].finditer(sentence)
    ]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_rare(name):
    where = found(name)
    assert len(where) <= WORDS["pattern"][name]["first"] // SHARE, "\n".join(where)


if __name__ == "__main__":
    for name in sys.argv[1:] or PATTERNS:
        where = found(name)
        print(f"{name}: {len(where)}, first {WORDS['pattern'][name]['first']}")
        if sys.argv[1:]:
            print("\n".join(where))
