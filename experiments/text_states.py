"""Which answers of the question sets a copy or one operation on two numbers of the question can state at all.

    python experiments/text_states.py           # 100 questions of each set; half a minute
    python experiments/text_states.py --full    # 2,000 of each set

A question's numbers are those that `find_numbers` reads. Of an answer that is a number (True is 1, False is 0), the
first of these that has it: a *copy* of a number, one of *basic* + − × ÷ on two numbers, a *further* operation on one or
two, the same with one of the *constants*, or *none*. Whether an answer can be stated says nothing of whether it can be
learned: a digit is often a copy by accident. Therefore `by_chance` has the same shares with the answer of another
question of the set, and `operations` how many questions each operation would have right on some pair.

`misread` says of all questions, not of a sample, how the numbers are read: *lost* has digits in no number; *sign* has a
number with another sign than a reader would give it; *joined* a quotient that is read as one fraction, and
*joined_wrongly* those of them where the expression with these fractions has another value than the answer; *words* has
numbers in words ("ten thousands", "two decimal places", "third"). `numbers_in_training` is the share of a test set's
questions whose numbers and answer are those of a training question of the module in the same order, in other words.

Writes experiments/results/text_states.json.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from math import gcd, lcm
from pathlib import Path
from typing import Any

import common
import pyarrow.parquet as pq

from adelic.integrations.transformers import find_numbers

DATA = Path(__file__).resolve().parent / "data"
CONSTANTS = (0, 1, 2, 10, 60, 100)
CATEGORIES = ("copy", "basic", "further", "constants", "none")
NEEDS = {
    "arithmetic__add_or_sub_in_base": "reading and writing digits in the base; then it is a sum or a difference",
    "arithmetic__add_sub_multiple": "several steps of + and −",
    "arithmetic__mul_div_multiple": "several steps of × and ÷",
    "arithmetic__mixed": "several steps of + − × ÷",
    "numbers__lcm": "the lcm of two denominators, where the question is for a common denominator",
    "numbers__place_value": "the k-th digit of a number, k in words: // by a power of 10, then % by 10",
    "numbers__round_number": "rounding to a multiple of a power of 10, which is often in words or a count of decimals",
    "numbers__list_prime_factors": "a list, and the prime factors of a number, each once",
    "numbers__is_factor": "the words True and False for 1 and 0",
    "comparison__pair": "the words True and False for 1 and 0; ≠ is 1 − (a == b), two steps",
    "comparison__sort": "a list: each entry is a copy",
    "comparison__kth_biggest": "a letter of the choices, where there are any; else a copy",
    "comparison__closest": "a letter of the choices, where there are any; else a copy",
    "chain_sum": "several steps of + and −",
    "decimal_chain_sum": "several steps of + and −",
    "basic_arithmetic": "several steps of + − × ÷",
    "decimal_arithmetic": "several steps of + − × ÷, then rounding to 12 significant digits",
    "fraction_simplification": "a copy where a/b is read as one number; in LaTeX two numbers and what is around them",
    "calendar_arithmetic": "a calendar, names of days, Yes and No",
    "number_sequence": "finding the rule; several steps",
    "arithmark__2": "two steps of + − × ÷",
    "arithmark__3": "three steps of + − × ÷",
}
"""What modules need beyond one operation on two numbers and a copy, for the answers under "none" or by_chance."""
# Modules where a / between two numbers is part of a fraction, and not an operation.
_WITH_FRACTIONS = ("comparison", "numbers", "fraction")
TRUTH = {"True": 1, "False": 0}
# What a reader takes for a sign: a minus directly before a number and not behind a number, a letter or a bracket.
_NEGATIVE = re.compile(r"(?:^|[^\w)\].])-\Z")
_EXPRESSION = re.compile(r"[-(\d].*[\d)]")
_LITERAL = re.compile(r"\d+(?:\.\d+)?")
_WORDS = re.compile(
    r"\b(ones?|two|three|four|five|six|seven|eight|nine|tens?|eleven|twelve|units|hundreds?|thousands?|millions?|billions?|"
    r"tenths?|hundredths?|thousandths?|millionths?|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b"
)


def main() -> None:
    """Analyse each committed set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, help="questions of each set; default: 100, with --full 2000")
    parser.add_argument("--sets", nargs="+", help="names of files in experiments/data; default: all")
    parser.add_argument("--output", type=Path)
    common.add_full(parser, "five minutes")
    given = parser.parse_args()
    size = given.sizes or (2000 if given.full else 100)
    found: dict[str, dict[str, Any]] = {}
    names = given.sets or sorted(path.stem for path in DATA.glob("*.parquet"))
    for name in common.each(names):
        table = pq.read_table(DATA / f"{name}.parquet").to_pylist()
        groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for row in table:
            groups.setdefault((row["module"], row["regime"]), []).append((row["question"], row["answer"]))
        trained: dict[str, set[tuple[Any, ...]]] = {}
        for (module, regime), questions in groups.items():
            if regime == "train":
                trained[module] = {key(*row) for row in questions}
        for (module, regime), questions in groups.items():
            common.say(f"{module}, {regime}")
            step = max(1, len(questions) // size)
            base = max((key for key in NEEDS if module.startswith(key)), key=len, default="")
            found[f"{name}/{regime}/{module}"] = {
                "states": states(questions[::step][:size]),
                "needs": NEEDS.get(base),
                "misread": misread(questions, joins=not module.startswith(_WITH_FRACTIONS)),
            }
            if regime == "interpolate":
                known = sum(key(*row) in trained[module] for row in questions)
                found[f"{name}/{regime}/{module}"]["numbers_in_training"] = known / len(questions)
    results = {"constants": CONSTANTS, "questions_of_a_set": size, "sets": found}
    common.write(common.output(given, "text_states.json"), "text_states.py", ("adelic", "pyarrow"), results)


def key(question: str, answer: str) -> tuple[Any, ...]:
    """Return the answer and the numbers of a question in their order, without its words."""
    return answer, *(number.value for number in find_numbers(question))


def states(questions: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the shares of the categories, by chance too, of each operation, and of lists made of copies."""
    counted: Counter[str] = Counter()
    by_chance: Counter[str] = Counter()
    operations: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    lists_of_copies = 0
    for k, (question, text) in enumerate(questions):
        numbers = [found.value for found in find_numbers(question)]
        answer, kind = read(text)
        kinds[kind] += 1
        if kind == "list":
            lists_of_copies += all(found.value in numbers for found in find_numbers(text))
        category, found = of_answer(numbers, answer)
        counted[category] += 1
        operations.update(found)
        by_chance[of_answer(numbers, read(questions[k - 1][1])[0])[0]] += 1
    n = len(questions)
    return {
        "kinds": {kind: count / n for kind, count in kinds.items()},
        "shares": {name: counted[name] / n for name in CATEGORIES},
        "by_chance": {name: by_chance[name] / n for name in CATEGORIES},
        "operations": {name: count / n for name, count in operations.most_common()},
    } | ({"lists_of_copies": lists_of_copies / n} if kinds["list"] else {})


def read(text: str) -> tuple[Fraction | None, str]:
    """Return the number that an answer is, None where it is none, and its kind: number, truth, list or text."""
    if text in TRUTH:
        return Fraction(TRUTH[text]), "truth"
    found = find_numbers(text)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(text)):
        return found[0].value, "number"
    return None, "list" if len(found) > 1 else "text"


def of_answer(numbers: Sequence[Fraction], answer: Fraction | None) -> tuple[str, set[str]]:
    """Return the first category that has an answer, and the operations on numbers of the question that have it."""
    if answer is None:
        return "none", set()
    found = derivations(numbers, answer)
    if "copy" in found:
        return "copy", found
    if found & BASIC.keys():
        return "basic", found
    if found:
        return "further", found
    constants = [Fraction(constant) for constant in CONSTANTS]
    return ("constants" if derivations([*numbers, *constants], answer) else "none"), found


def derivations(numbers: Sequence[Fraction], answer: Fraction) -> set[str]:
    """Return the names of the operations that make the answer of some number or ordered pair, "copy" included."""
    found = {name for name, function in UNARY.items() if any(function(number) == answer for number in numbers)}
    pairs = {(_plain(a), _plain(b)) for a, b in permutations(numbers, 2)}
    wanted = _plain(answer)
    for name, function in (BASIC | FURTHER).items():
        if any(function(a, b) == wanted for a, b in pairs):
            found.add(name)
    return found


def _plain(number: Fraction) -> int | Fraction:
    """Return an int where that does: its arithmetic is ten times as fast."""
    return number.numerator if number.denominator == 1 else number


def _whole(function: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    """Return a function of integers, None elsewhere."""
    return lambda a, b: function(a, b) if isinstance(a, int) and isinstance(b, int) else None


def _power(a: Any, b: Any) -> Any:
    """Return a power with a small exponent, None elsewhere: a negative exponent of an int would make a float."""
    return Fraction(a) ** b if isinstance(b, int) and abs(b) <= 64 and (a or b >= 0) else None


UNARY: dict[str, Callable[[Fraction], Any]] = {
    "copy": lambda a: a,
    "abs": lambda a: abs(a) if a < 0 else None,
    "negate": lambda a: -a,
    "numerator": lambda a: a.numerator if a.denominator > 1 else None,
    "denominator": lambda a: a.denominator if a.denominator > 1 else None,
}
BASIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: Fraction(a) / b if b else None,
}
FURTHER: dict[str, Callable[[Any, Any], Any]] = {
    "distance": lambda a, b: abs(a - b),
    "gcd": _whole(gcd),
    "lcm": _whole(lcm),
    "%": lambda a, b: a % b if b else None,
    "//": lambda a, b: a // b if b else None,
    "**": _power,
    "min": min,
    "max": max,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    "==": lambda a, b: int(a == b),
    "divides": _whole(lambda a, b: int(a != 0 and b % a == 0)),
}


def misread(questions: Sequence[tuple[str, str]], *, joins: bool) -> dict[str, Any]:
    """Return the shares of questions whose numbers are not read as a reader would, and examples.

    Args:
        questions: questions and answers.
        joins: whether a / between two numbers is an operation, not part of a fraction.
    """
    counted: Counter[str] = Counter()
    examples: dict[str, list[Any]] = {}
    for question, answer in questions:
        found = find_numbers(question)
        inside = {place for number in found for place in range(number.start, number.end)}
        wrong = set()
        if any(character.isdigit() and place not in inside for place, character in enumerate(question)):
            wrong.add("lost")
        for number in found:
            is_signed = question[number.start] in "-\u2212"
            first = number.start + is_signed
            if is_signed != bool(_NEGATIVE.search(question, max(0, first - 2), first)):
                wrong.add("sign")
            if joins and "/" in question[number.start : number.end]:
                wrong.add("joined")
        values = {as_read(question), read(answer)[0]} if "joined" in wrong else set()
        if len(values - {None}) > 1:
            wrong.add("joined_wrongly")
        if _WORDS.search(question):
            wrong.add("words")
        counted.update(wrong)
        for kind in wrong:
            if len(examples.setdefault(kind, [])) < 3:
                examples[kind].append([question, answer, [str(number.value) for number in found]])
    return {kind: {"share": count / len(questions), "examples": examples[kind]} for kind, count in counted.items()}


def evaluate(question: str) -> Fraction | None:
    """Return the exact value of the expression in a question, None where there is none."""
    return _value(_LITERAL.sub(lambda literal: f"F('{literal[0]}')", _expression(question)))


def as_read(question: str) -> Fraction | None:
    """Return the value of the expression with each number as it is read, in brackets."""
    text = question
    for number in reversed(find_numbers(question)):
        text = f"{text[: number.start]}(F('{number.value}')){text[number.end :]}"
    match = re.search(r"[-(].*\)", text)
    return _value(match[0]) if match else None


def _expression(question: str) -> str:
    match = _EXPRESSION.search(question)
    return match[0] if match else ""


def _value(code: str) -> Fraction | None:
    try:
        return Fraction(eval(code, {"__builtins__": {}, "F": Fraction}))
    except (SyntaxError, ZeroDivisionError, TypeError):
        return None


if __name__ == "__main__":
    main()
