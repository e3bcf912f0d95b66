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
MOST_WORDS, MOST_FIGURES = 25, 2
"""Of a sentence. Figures that are compared belong in a table."""
NAMED = re.compile(
    r"\b([Bb]ases?|AVX-|Float|H|ICLR|KL|Python|RSK|Schubert|arXiv|ln|mHeight|modulo|primes?|[Ll]attice|[Ww]eaving) ?"
    r"\d[\d.,]*((,| and| or| to) \d[\d.,]*)*"
)
VERSION = re.compile(r"\d+\.\d+\.\d+\S*")
FORMULA = re.compile(r"([=<>≤≥+−·×÷/|≡√] ?|[A-Za-z_…])\d[\d.,]*|\d[\d.,]*( ?[=<>≤≥+−·×÷/|≡√]|[A-Za-z_¹²³⁰-₉])")


def prose(text: str) -> Iterator[str]:
    """Yield the sentences of a page: without code, tables, pictures, links' targets, comments and headings' marks.

    >>> list(prose("# Title\\n\\nTwo of `them`. [One](page.md) [1].\\n\\n| a | b |\\n"))
    ['Title', 'Two of .', 'One .']
    """
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"`(?:[^`\n]|\n(?!\n))*`|!\[[^]]*\]\([^)]*\)|\[\d+\]", "", text)
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


def figures(sentence: str) -> list[str]:
    """Return the numbers of a sentence, without those of names, versions and formulas.

    >>> figures("On Schubert 4 AOE scores 86.2 % and xVal 87.1 % with torch 2.6.0, n = 4 and M < 10¹².")
    ['86.2', '87.1']
    """
    for pattern in (NAMED, VERSION, FORMULA):
        sentence = pattern.sub("", sentence)
    return re.findall(r"\d[\d.,]*\d|\d", sentence)


def test_sentences_are_short_and_have_few_figures():
    """A heading or an entry of the reference, which starts with a name in code, is no sentence."""
    said = [(page, one) for page, one in sentences() if not one.startswith(":")]
    long = [f"{page}: {one}" for page, one in said if len(re.findall(r"\w\S*", one)) > MOST_WORDS]
    full = [f"{page}: {figures(one)}: {one}" for page, one in said if len(figures(one)) > MOST_FIGURES]
    assert not long, "\n".join(long)
    assert not full, "\n".join(full)


if __name__ == "__main__":
    for name in sys.argv[1:] or PATTERNS:
        lines = [f"{name}: {len(found(name))}, first {WORDS['pattern'][name]['first']}"]
        sys.stdout.write("\n".join([*lines, *(found(name) if sys.argv[1:] else [])]) + "\n")
