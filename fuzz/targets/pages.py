"""Pages of hostile names and numbers: a parser of HTML finds the tags and attributes of the harmless page, no others.

Two pages are made of the same shape, one of harmless texts and one of hostile ones. Where a text got out of its place,
there is a tag, an attribute or a script in the second that the first has not.
"""

import copy
import json
import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import adelic_lab
from adelic import AdelicError
from adelic.explore import render_page
from adelic_lab.results.result import Result
from targets.case import Case, check_error
from targets.command_line import hostile_text
from targets.runs import random_config

MARK = "xq7"
"""Stands in every injection, so that it is found wherever it comes out as code."""

INJECTIONS = (
    f"<script>{MARK}()</script>",
    f"</script><script>{MARK}()</script>",
    f"</style><img src=x onerror={MARK}()>",
    f'" onload="{MARK}()',
    f"' onmouseover='{MARK}()",
    f"<!-- {MARK} -->",
    f"--><svg onload={MARK}()>",
    f"{{{{ {MARK} }}}}",
    f"javascript:{MARK}()",
    f"</title><base href=//{MARK}>",
    f"<![CDATA[{MARK}]]>",
    f"&lt;b&gt;{MARK}&amp;",
    f"\u2028{MARK}()\u2029//",
    f"\\u003cscript>{MARK}",
    f"<table><td>{MARK}",
    f"</text><foreignObject><b>{MARK}",
)
TEXTS = ("embedding", "features", "recipe", "device", "command", "commit", "rule_name", "edition", "places")
NUMBERS = (0, 1, -1, 0.5, 1e300, -1e300, 1e-300, 2**70, 10**400, float("nan"), float("inf"), True, None, "1", [], {})


class Page(HTMLParser):
    """What a page is made of: how often each tag stands in it with which attributes, its scripts and handlers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self.scripts: list[str] = []
        self.urls: list[str] = []
        self.comments: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count a tag; remember what it would load."""
        self.tags[tag, tuple(sorted(name for name, _ in attrs))] += 1
        self._inside = tag
        assert not any(name.startswith("on") for name, _ in attrs), f"<{tag}> runs code: {attrs}"
        loading = ("src", "href", "xlink:href", "srcset", "data", "action")
        self.urls += [value or "" for name, value in attrs if name in loading]

    def handle_endtag(self, tag: str) -> None:
        """Leave the script."""
        self._inside = ""

    def handle_data(self, data: str) -> None:
        """Remember what a script or a style holds."""
        if self._inside in ("script", "style"):
            self.scripts.append(data)

    def handle_comment(self, data: str) -> None:
        """Remember a comment."""
        self.comments.append(data)


def pages(case: Case) -> None:
    """Make one page, of a number or of runs."""
    if case.chance(0.5):
        _explore(case)
    else:
        _report(case)


def _text(rng: Random) -> str:
    """Return an injection, a hostile text, or both."""
    kind = rng.random()
    injection = rng.choice(INJECTIONS)
    return injection if kind < 0.6 else hostile_text(rng)[:300] + (injection if kind < 0.8 else "")


@cache
def _plain_number() -> Page:
    return Page(render_page("7/5", "3/4"))


def _explore(case: Case) -> None:
    """Make the page of two numbers; text that is not a number must not get onto it."""
    rng = case.rng

    def text() -> str:
        n, m = rng.randint(-(10**30), 10**30), rng.randint(1, 10**6)
        return _text(rng) if case.chance(0.3) else rng.choice([f"{n}/{m}", str(n), f"{n}e-5", f" {n} ", f"+{abs(n)}"])

    primes = tuple(rng.sample((2, 3, 5, 7, 11, 101, 10007), rng.randint(1, 4)))
    try:
        page = render_page(
            text(),
            text() if case.chance(0.5) else None,
            operation=_text(rng) if case.chance(0.05) else rng.choice("+-*/"),
            primes=primes,
            precision=rng.choice([1, 8, 200, 201, 0]),
            fractional_digits=rng.choice([None, None, 0, 3]),
        )
    except AdelicError as error:
        check_error(error)
        case.counts["numbers refused"] += 1
        return
    found, plain = Page(page), _plain_number()
    assert found.tags == plain.tags, f"other tags: {found.tags - plain.tags} {plain.tags - found.tags}"
    assert found.urls == plain.urls
    assert MARK not in "".join([*found.scripts, *found.comments]), "a text stands in a script"
    assert len(found.scripts) == len(plain.scripts)
    case.counts["pages of numbers"] += 1


def _report(case: Case) -> None:
    """Make the report of a few results with hostile texts and numbers, as files can have them."""
    made = [_spoilt(case, seed) for seed in range(case.rng.randint(1, 3))]
    try:
        results = [Result.parse(json.dumps(result).encode(), "line 1") for result in made]
        files = adelic_lab.write_report(results, case.folder / "report.html")
    except AdelicError as error:
        check_error(error)
        case.counts["results refused"] += 1
        return
    page = files[0].read_text(encoding="utf-8")
    found = Page(page)
    strange = {tag for tag, _ in found.tags} - ALLOWED
    assert not strange, f"strange tags: {strange}"
    strange_attributes = {name for _, names in found.tags for name in names if not ATTRIBUTE.fullmatch(name)}
    assert not strange_attributes, f"strange attributes: {strange_attributes}"
    assert all(url.startswith("#") for url in found.urls), found.urls
    assert MARK not in "".join([*found.scripts, *found.comments]), "a text stands in a style or a comment"
    case.counts["pages of runs"] += 1


_TAGS = (
    "html head meta title style body header main footer section nav h1 h2 h3 h4 p a span div ul ol li dl dt dd table "
    "caption thead tbody tfoot tr th td colgroup col details summary code pre em strong b i small sub sup br hr figure "
    "figcaption svg g path rect circle line polyline polygon text tspan defs use clippath desc title marker symbol "
    "lineargradient stop abbr time mark metadata rdf:rdf cc:work dc:format dc:type dc:date"
)
ALLOWED = frozenset(_TAGS.split())
"""Tags of a page without scripts, forms, frames and foreign content."""

ATTRIBUTE = re.compile(r"(?!on)[a-z][a-z0-9:-]*", re.IGNORECASE)


@cache
def _result(folder: Path) -> dict[str, Any]:
    return adelic_lab.run(random_config(Random(0), epochs=2), folder / "run", device="cpu").as_dict()


def _spoilt(case: Case, seed: int) -> dict[str, Any]:
    """Return a result with hostile texts and, more rarely, hostile numbers."""
    rng, result = case.rng, copy.deepcopy(_result(case.folder))
    result["seed"] = result["configuration"]["seed"] = seed
    for name in rng.sample(TEXTS, rng.randint(1, 4)):
        result[name] = _text(rng)
    if case.chance(0.5):
        result["task"] = _text(rng)
    if case.chance(0.3):
        result["versions"] = {_text(rng): _text(rng)}
    if case.chance(0.3):
        result["class_names"] = [_text(rng) for _ in result["class_names"]]
    if case.chance(0.4):
        result["configuration"]["embedding"] |= {"name": _text(rng), "sigma": rng.choice(NUMBERS)}
    if case.chance(0.4):
        table = rng.choice([result, result["test"], result["configuration"]["recipe"], result["rows"]])
        table[rng.choice(list(table))] = rng.choice([*NUMBERS, _text(rng)])
    return result
