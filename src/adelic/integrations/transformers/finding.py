"""Find the numbers in a text, and leave alone what only looks like one."""

import re
from dataclasses import dataclass
from fractions import Fraction

from adelic.numbers.rationals import read

# What is written without a break: words, numbers, and both joined by a dot, a hyphen or a slash; between two digits by
# a comma or a colon; the sign of an exponent.
_RUN = re.compile(r"(?:(?<=\d)[eE][+-](?=\d)|\w|(?<=\w)[./-](?=\w)|(?<=\d)[,:](?=\d))+")
_PLAIN = r"(?:0|[1-9][0-9]*)"
_WHOLE = rf"(?:[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+|{_PLAIN})"
_REAL = rf"{_WHOLE}(?:\.[0-9]+)?"
_EXPONENT = r"(?:[eE][+-]?[0-9]{1,3})?"
_NUMBER = re.compile(rf"{_REAL}{_EXPONENT}|{_PLAIN}/[1-9][0-9]*")
_AFTER_POINT = re.compile(rf"[0-9]+{_EXPONENT}")
_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?")
_LIST = re.compile(rf"{_PLAIN}(?:\.[0-9]+)?(?:,{_PLAIN}(?:\.[0-9]+)?)+")
_PAIR = re.compile(rf"({_REAL})[/:-]({_REAL})")
_DATE = re.compile(r"[0-9.,:/-]+")
_PLAIN_PART = re.compile(rf"(?<![0-9]){_PLAIN}(?![0-9])")
_REAL_PART = re.compile(rf"(?<![0-9]){_REAL}(?![0-9])")
_BEFORE = r"(?:^|[\s(\[{<>=≤≥≈~+*/^|,;:$€£¥±\"'])"
_SIGN = re.compile(rf"{_BEFORE}[-\u2212]\Z")
_ANNOTATION = re.compile(r"<<[^<>=]*=[^<>]*>>")
_SAID_BEFORE = re.compile(r"\s*[$€£]?\s*=[-\u2212\s0-9.,+*/()$€£%xX×÷]*")  # reversed
_BETWEEN = re.compile(r"(?<=[0-9)%])\s*(?:[-\u2212/]|[xX](?=[$€£]?[0-9.]))")
_POINT = re.compile(rf"(?:{_BEFORE}|{_BEFORE}[-\u2212])\.\Z")


@dataclass(frozen=True)
class FoundNumber:
    """A number in a text: text[start:end] says value.

    >>> find_numbers("about 2.50 each")
    [FoundNumber(start=6, end=10, value=Fraction(5, 2))]
    """

    start: int
    end: int
    value: Fraction


def find_numbers(text: str, *, words: bool = False, dates: bool = False) -> list[FoundNumber]:
    """Return the numbers of a text, from left to right.

    A number has an integer ("12", "1,234,567"), perhaps decimals (".5", "3.14"), perhaps an exponent of up to three
    digits ("6.02e23"), or is a fraction of integers ("22/7"). A minus directly before it is its sign, unless it follows
    a word, a number or a closing bracket: "-5" and "x=-5" have −5, "3 - 5" and "3-5" have 3 and 5. No numbers are

    - digits in words: "x2", "2nd", "5km", "v1.2", "COVID-19";
    - dates, times, versions, network addresses: "2024-05-06", "12/05/2024", "10:30", "1.2.3";
    - what begins with a zero, "007" or "05/06": its zeros would be lost. ("5/6" is a fraction, whatever was meant.)

    In the calculator's annotations of GSM8K, "48/2 = <<48/2=24>>24", and in what is computed directly before one, a
    slash or a hyphen behind a number is an operator: 48, 2, 48, 2, 24, 24. So a model that writes such a solution
    copies 48, chooses 2, and writes 24 as 48 / 2; a fraction 48/2 would be the result already.

    Args:
        text: any text.
        words: whether digits in words are numbers, too.
        dates: whether the parts of dates, times and so on are numbers, too.

    >>> [str(found.value) for found in find_numbers("from -1,200.5 to 3/4, x2 on 2024-05-06 at 10:30, 1e-3")]
    ['-2401/2', '3/4', '1/1000']
    >>> [str(found.value) for found in find_numbers("x2 on 12/11/2024", words=True, dates=True)]
    ['2', '12', '11', '2024']
    """
    text = _with_operators(text)
    found = []
    for run in _RUN.finditer(text):
        first, last = run.span()
        spans = [(first + start, first + end) for start, end in _spans(run[0], words=words, dates=dates)]
        # Searched from a place on, ^ still is the beginning of the text; \Z is the place where the search ends.
        if _POINT.search(text, max(0, first - 3), first) and _AFTER_POINT.fullmatch(run[0]):
            spans = [(first - 1, last)]
        for start, end in spans:
            value = read(text[start:end].replace(",", "")).fraction(0)
            is_negative = start <= first and _SIGN.search(text, max(0, start - 2), start) is not None
            found.append(FoundNumber(start - is_negative, end, -value if is_negative else value))
    return found


def _with_operators(text: str) -> str:
    """Return a text of the same length in which the operators of annotations join no numbers."""
    parts, end = [], 0
    for annotation in _ANNOTATION.finditer(text):
        before = text[end : annotation.start()]
        said = _SAID_BEFORE.match(before[::-1])
        start = annotation.start() - (said.end() if said else 0)
        apart = _BETWEEN.sub(lambda match: f"{'|':>{len(match[0])}}", text[start : annotation.end()])
        parts += [text[end:start], apart]
        end = annotation.end()
    return "".join([*parts, text[end:]])


def _spans(run: str, *, words: bool, dates: bool) -> list[tuple[int, int]]:
    """Return where the numbers of one run stand in it."""
    if _NUMBER.fullmatch(run):
        return [(0, len(run))]
    if _TIME.fullmatch(run) and not dates:  # before pairs, whose parts may be joined by a colon
        return []
    if pair := _PAIR.fullmatch(run):
        return [pair.span(1), pair.span(2)]
    if _LIST.fullmatch(run):
        return [part.span() for part in _REAL_PART.finditer(run.replace(",", " "))]
    if words and re.search(r"[^\W\d]", run):
        return [part.span() for part in _REAL_PART.finditer(run)]
    if dates and _DATE.fullmatch(run):
        return [part.span() for part in _PLAIN_PART.finditer(run)]
    return []
