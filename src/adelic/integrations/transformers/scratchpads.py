"""Expressions as training texts of several steps, each one exact operation on two numbers that are there."""

import ast
import operator
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import torch

from adelic.errors import ConfigurationError
from adelic.integrations.transformers.texts import NumberTokenizer
from adelic.nn.heads.exact import WrittenNumbers
from adelic.numbers.describe import describe, number_text
from adelic.numbers.rationals import read

MAX_OPERATIONS = 200
"""More are refused: Python reads and this module walks expressions by recursion."""

MAX_BITS = 10_000
"""Of the numerator and the denominator of any value; Python writes integers of up to 4,300 digits, 14,000 bits."""

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
_NAMES: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_REAL = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+"
_VALUE = rf"(?<![\w.,])(?:{_REAL})(?:[eE][+-]?[0-9]{{1,3}})?(?!\w|[.,][0-9])"
_OPERATOR = r"(?:\*\*|[-\u2212+*/×÷^])"
_EXPRESSION = re.compile(rf"{_VALUE}(?:[)\s]*{_OPERATOR}[-\u2212+(\s]*{_VALUE})*(?:[)\s]*\))?")
_BEFORE = " \t\r\n+-\u2212("  # what may stand between a text and the first number of its expression
_PUNCTUATION = ".,?:;'\"‘’“”"  # of words, which an expression may stand among
_VARIABLE = "[b-zA-HJ-Zπ]"  # a letter alone is a factor or a unit, but "a" and "I" are words
_REMEDY = "write one expression of + - * / ** and brackets, with words apart from it"
_SIGNS = str.maketrans({"\u2212": "-", "×": "*", "÷": "/", "^": "**", ",": ""})


@dataclass(frozen=True)
class _Number:
    """A number of an expression, and how it is written."""

    value: Fraction
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)  # two equal ones are still two
class _Operation:
    """An operation on two expressions."""

    name: str
    left: "_Number | _Operation"
    right: "_Number | _Operation"

    def __str__(self) -> str:
        """Return the text, with the brackets that are needed and no others."""
        own = _PRECEDENCE[self.name]
        left, right = ((4 if isinstance(part, _Number) else _PRECEDENCE[part.name]) for part in (self.left, self.right))
        is_power = self.name == "**"
        if isinstance(self.left, _Number) and is_power and not _is_plain(self.left.text):
            left = 0
        before = f"( {self.left} )" if left < own + is_power else str(self.left)
        after = f"( {self.right} )" if right < own + (not is_power) else str(self.right)
        return f"{before} {self.name} {after}"


_Expression = _Number | _Operation


def _is_plain(text: str) -> bool:
    """Return whether a number needs no brackets before a power, as -2 and 1/2 do."""
    return not text.startswith("-") and "/" not in text


@overload
def scratchpad(
    text: str, *, style: Literal["steps"] = "steps", rng: np.random.Generator | None = None
) -> dict[str, str]: ...
@overload
def scratchpad(
    text: str, *, style: Literal["rewrite"], rng: np.random.Generator | None = None
) -> list[dict[str, str]]: ...
def scratchpad(
    text: str, *, style: str = "steps", rng: np.random.Generator | None = None
) -> dict[str, str] | list[dict[str, str]]:
    """Return what a model learns from an expression: its steps, as a text or as a shorter expression after each step.

    The prompt is the text with its expression in one way of writing: blanks around operators and brackets, no brackets
    that change nothing, a minus before a number as its sign (−1 times what is in brackets after a minus), and " ="
    behind all. The values of steps are exact: "7/5" without blanks is a number, "7 / 5" an operation. `find_numbers`
    reads these texts as they are meant.

    - "steps": one example, whose completion says the operations one after the other; the last result is the answer.
    - "rewrite": an example for each step, whose completion is one number, the result of an operation of the prompt; in
      the next prompt it stands instead of the operation. The last example copies the only number left.

    Args:
        text: an expression of + − * / ** (also × ÷ ^) and brackets, of integers and decimals, with or without words
            around it. The words are not understood ("twice", "squared"); what else could change the result is refused.
        style: "steps" or "rewrite".
        rng: draws which of the operations that may come next does; the leftmost one without it. A model that learned
            from drawn orders need not look at the whole expression, and is right on longer ones.

    Raises:
        ConfigurationError: there is no expression, or more than one; there is more around it than words, hyphens in
            them and the punctuation . , ? : ; ' ", or a letter touches it, or a letter alone is next to it, as in
            "3 + 5 x"; it divides by zero; a value has no exact one, or more than `MAX_BITS`; there are more than
            `MAX_OPERATIONS`; the text, the style or the generator is none.

    >>> scratchpad("(-3)+5*2")
    {'prompt': '-3 + 5 * 2 =', 'completion': ' 5 * 2 = 10; -3 + 10 = 7'}
    >>> for example in scratchpad("What is 8/(2 - 7)/.4?", style="rewrite"):
    ...     print(example["prompt"] + example["completion"])
    What is 8 / ( 2 - 7 ) / .4? = -5
    What is 8 / -5 / .4? = -8/5
    What is -8/5 / .4? = -4
    What is -4? = -4
    """
    if style not in ("steps", "rewrite"):
        raise ConfigurationError(f"style={describe(style)} must be 'steps' or 'rewrite'")
    if not isinstance(text, str):
        raise ConfigurationError(f"text={describe(text)} must be a string, such as '(-3) + 5 * 2'")
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise ConfigurationError(f"rng={describe(rng)} must be None or a generator, as np.random.default_rng(0) is")
    before, expression, after = _parsed(text)
    prompts, said, results = [f"{before}{expression}{after} ="], [], []
    while isinstance(expression, _Operation):
        # Any order of operations on two numbers keeps the value, since an expression is a tree.
        ready = list(_ready(expression))
        operation, left, right = ready[0 if rng is None else int(rng.integers(len(ready)))]
        value = _value(operation.name, left.value, right.value)
        result = _Number(value, str(value))
        said.append(f"{operation} = {result}")
        expression = _replaced(expression, operation, result)
        prompts.append(f"{before}{expression}{after} =")
        results.append(str(result))
    if style == "steps":
        return {"prompt": prompts[0], "completion": f" {'; '.join(said) or expression}"}
    pairs = zip(prompts, [*results, str(expression)], strict=True)
    return [{"prompt": prompt, "completion": f" {result}"} for prompt, result in pairs]


class Rewriting(NamedTuple):
    """How a model computed an expression.

    Attributes:
        number: the result, or None if the model came to none: `rewrite` says when.
        steps: how each number came about, and the text after it: ("2 − 7", "8 / -5 ="). Without a result, those that
            came before the model failed.

    >>> Rewriting(Fraction(7), [("5 × 2", "-3 + 10 ="), ("−3 + 10", "7 =")]).steps[0]
    ('5 × 2', '-3 + 10 =')
    """

    number: Fraction | None
    steps: list[tuple[str, str]]


@torch.no_grad()
def rewrite(
    model: Any, number_tokenizer: NumberTokenizer, texts: str | Sequence[str], *, max_steps: int = 100
) -> list[Rewriting]:
    """Return what a model makes of expressions, step by step.

    At each step the model says the number after the text, as one of its numbers or an operation on two of them. A
    result takes the place of all that stands from one of the two to the other, and of brackets around it; this is done
    by a program, and nothing else is. A number of the text as it is ends the steps.

    Two numbers with another one or a bracket between them ("2 * 3" of "( 1 + 2 ) * 3") are no operation of the text,
    and what came of them would be no expression: they end the steps without a result. The bracket after the base of a
    power, "( -2 ) ** 2", is none of these.

    Args:
        model: equipped with operations, and trained on the examples of `scratchpad(…, style="rewrite")`.
        number_tokenizer: the model's.
        texts: written as the prompts of `scratchpad` are, that is `scratchpad(text)["prompt"]`.
        max_steps: a text that takes more has no result.

    Returns:
        A `Rewriting` for each text. `number` is None after `max_steps`, and where the model says a number that comes
        from none of the text, or from two numbers that have another one or a bracket between them.

    Raises:
        ConfigurationError: the model has no operations, or a text is none.

    >>> from tokenizers import Tokenizer, models, pre_tokenizers
    >>> from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    >>> from adelic import AdeleSpace
    >>> from adelic.integrations.transformers import equip
    >>> words = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "+": 2, "=": 3}, unk_token="[UNK]"))
    >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]")
    >>> config = LlamaConfig(vocab_size=4, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
    ...                      num_attention_heads=2, bos_token_id=None, eos_token_id=None)
    >>> space = AdeleSpace(primes=(2, 3, 5, 7), precision=1)
    >>> model = equip(LlamaForCausalLM(config), tokenizer, space, operations=("+",), constants=())
    >>> _ = torch.nn.init.constant_(model.numbers.operations.base.bias[0], 99.0)  # always a copy
    >>> rewrite(model, NumberTokenizer(tokenizer), ["7 ="])
    [Rewriting(number=Fraction(7, 1), steps=[])]
    """
    if getattr(getattr(model, "numbers", None), "operations", None) is None:
        raise ConfigurationError(f"{type(model).__name__} has no operations; equip(…, operations=…) gives it some")
    current = [texts] if isinstance(texts, str) else list(texts)
    numbers: list[Fraction | None] = [None] * len(current)
    steps: list[list[tuple[str, str]]] = [[] for _ in current]
    going = list(range(len(current)))
    for _ in range(max_steps):
        if not going:
            break
        written = _written(model, number_tokenizer, [current[row] for row in going])
        rows, going = going, []
        for row, value, said, choice in zip(rows, written.values, written.derivations, written.choices, strict=True):
            name, *chosen = choice or ("free",)
            if name == "copy":
                numbers[row] = value
                continue
            spans = [(start, end) for start, end, number in number_tokenizer.spans(current[row]) if number is not None]
            places = [at for at in chosen if at is not None and at < len(spans)]
            if places and _is_operation(current[row], spans, min(places), max(places)):  # none of constants alone
                start, end = spans[min(places)][0], spans[max(places)][1]
                current[row] = in_place(current[row], start, end, number_text(value))
                steps[row].append((said, current[row]))
                going.append(row)
    return [Rewriting(*both) for both in zip(numbers, steps, strict=True)]


def _written(model: Any, number_tokenizer: NumberTokenizer, texts: list[str]) -> WrittenNumbers:
    """Return the numbers that a model says behind texts."""
    written: WrittenNumbers = model.numbers.write(*model.number_context(**number_tokenizer(texts).to(model.device)))
    return written


def _is_operation(text: str, spans: list[tuple[int, int]], first: int, last: int) -> bool:
    """Return whether one number of a text, or two with neither another one nor a bracket between, can be replaced.

    >>> _is_operation("( 1 + 2 ) * 3 =", [(2, 3), (6, 7), (12, 13)], 1, 2)
    False
    >>> _is_operation("( -2 ) ** 2 =", [(2, 4), (10, 11)], 0, 1)
    True
    """
    if last - first != 1:
        return last == first
    before, between = text[: spans[first][0]].rstrip(), text[spans[first][1] : spans[last][0]]
    if before.endswith("("):
        between = re.sub(r"^\s*\)\s*\*\*", "", between)  # around the base of a power
    return not re.search(r"[()]", between)


def in_place(text: str, start: int, end: int, number: str) -> str:
    """Return a text with a number instead of text[start:end] and of brackets around it, unless it needs them.

    >>> in_place("( 2 * ( ( 1 - 3 ) ) ) ** 2 =", 10, 15, "-2"), in_place("( 1 - 3 ) ** 2 =", 2, 7, "-2")
    ('( 2 * -2 ) ** 2 =', '( -2 ) ** 2 =')
    >>> in_place("( -2 ) ** 2 =", 2, 11, "4"), in_place("5 * 2 ) / -1 =", 4, 12, "-2")
    ('4 =', '5 * -2 =')
    """
    before, after = text[:start], text[end:]
    is_open = before.rstrip().endswith("(")
    if is_open and text.count(")", start, end) > text.count("(", start, end):  # around the base of a power
        before = before.rstrip()[:-1]
    while (outer := before.rstrip()).endswith("(") and (rest := after.lstrip()).startswith(")"):
        if not _is_plain(number) and rest[1:].lstrip().startswith("**"):
            break
        before, after = outer[:-1], rest[1:]
    return before + number + after


def _parsed(text: str) -> tuple[str, _Expression, str]:
    """Return the expression of a text, and what is before and after it."""
    found = list(_EXPRESSION.finditer(text))
    with_operations = [match for match in found if re.search(_OPERATOR, match[0])]
    if len(with_operations or found) != 1:
        n = len(with_operations)
        what = f"{n} expressions" if n else f"{len(found)} numbers and no expression" if found else "no expression"
        raise ConfigurationError(f"{describe(text)} has {what}; give a text with one, such as '(-3) + 5 * 2'")
    start, end = (with_operations or found)[0].span()
    start = len(text[:start].rstrip(_BEFORE))
    n_open, n_closed = text.count("(", start, end), text.count(")", start, end)
    if n_open != n_closed and text.count("(") != text.count(")"):
        raise ConfigurationError(
            f"{describe(text)} has {text.count('(')} opening brackets and {text.count(')')} closing"
        )
    before, after = text[:start].rstrip(), text[end:].rstrip().removesuffix("=").rstrip()
    if left_over := _left_over(text, start, end, after):
        raise ConfigurationError(f"{describe(left_over)} is left over in {describe(text)}; {_REMEDY}")
    # Python's own parser knows the precedences.
    source = "(" + " ".join(text[start:end].translate(_SIGNS).split()) + ")"
    if len(re.findall(_OPERATOR, source)) > 2 * MAX_OPERATIONS:  # signs among them
        raise ConfigurationError(f"{describe(text)} has more than {MAX_OPERATIONS} operations")
    for digits in re.findall(r"[0-9.]+", source):
        if len(digits) > MAX_BITS // 3:  # Python reads no integers of more than 4,300 digits
            raise _too_large(describe(digits))
    try:
        expression = _converted(ast.parse(source, mode="eval").body, source)
    except SyntaxError as error:
        raise ConfigurationError(f"{describe(source[1:-1])} is not an expression: {error.msg.split(';')[0]}") from None
    return before + " " * bool(before), expression, after


def _left_over(text: str, start: int, end: int, after: str) -> str:
    """Return what may change the value of the expression text[start:end] and is not read, or "".

    >>> _left_over("10 % 3 + 1", 4, 10, ""), _left_over("sqrt(4)", 4, 7, ""), _left_over("x + 3", 1, 5, "")
    ('10 %', 'sqrt', 'x +')
    >>> _left_over("What's the well-known 3 + 1?", 22, 28, "?")
    ''
    """
    before, expression = text[:start], text[start:end]
    for part in (before, after):
        if unread := [at for at in range(len(part)) if not _is_read(part, at)]:
            return part[unread[0] : unread[-1] + 1]
    word, next_word = re.search(r"\w+$", before), re.match(r"\s*(\w+)", after)
    sign = re.match(r"\s*(?:\+|[-\u2212]\s)", expression)  # "x + 3" and "x - 3", but not "Find -3 + 5"
    if word and sign:
        return (word[0] + sign[0]).rstrip()
    if word and (not expression[0].isspace() or re.search(rf"(?<![\w'’]){_VARIABLE}$", before)):
        return word[0]
    if next_word and (not after[0].isspace() or re.match(rf"\s*{_VARIABLE}(?![\w'’])", after)):
        return next_word[1]
    return ""


def _is_read(text: str, at: int) -> bool:
    """Return whether a character is one of words: a letter, no number as "½" and "二" are, or between them."""
    if text[at] == "-":
        return text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()
    is_letter = unicodedata.category(text[at])[0] in "LM" and not text[at].isnumeric()
    return is_letter or text[at].isspace() or text[at] in _PUNCTUATION


def _converted(node: ast.expr, source: str) -> _Expression:
    """Return the expression of a node of Python's syntax tree."""
    if isinstance(node, ast.Constant):
        text = source[node.col_offset : node.end_col_offset]  # not node.value, which is a float for decimals
        return _Number(_bounded(read(text).fraction(0), describe(text)), text)
    if isinstance(node, ast.UnaryOp):
        inner = _converted(node.operand, source)
        if isinstance(node.op, ast.UAdd):
            return inner
        if isinstance(inner, _Number):
            return _Number(-inner.value, inner.text[1:] if inner.text.startswith("-") else f"-{inner.text}")
        return _Operation("*", _Number(Fraction(-1), "-1"), inner)
    assert isinstance(node, ast.BinOp), "the characters of _EXPRESSION make nothing else"
    return _Operation(_NAMES[type(node.op)], _converted(node.left, source), _converted(node.right, source))


def _ready(expression: _Expression) -> Iterator[tuple[_Operation, _Number, _Number]]:
    """Yield the operations on two numbers, from left to right, with these."""
    if isinstance(expression, _Operation):
        left, right = expression.left, expression.right
        if isinstance(left, _Number) and isinstance(right, _Number):
            yield expression, left, right
        yield from _ready(left)
        yield from _ready(right)


def _replaced(expression: _Expression, operation: _Operation, result: _Number) -> _Expression:
    """Return an expression with a result instead of an operation."""
    if expression is operation:
        return result
    if isinstance(expression, _Number):
        return expression
    left, right = (_replaced(part, operation, result) for part in (expression.left, expression.right))
    return _Operation(expression.name, left, right)


def _value(name: str, left: Fraction, right: Fraction) -> Fraction:
    """Return the exact result of an operation, or raise `ConfigurationError`."""
    said = f"{describe(left)} {name} {describe(right)}"
    if (name == "/" and right == 0) or (name == "**" and left == 0 and right < 0):
        raise ConfigurationError(f"{said} divides by zero")
    if name != "**":
        plain = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[name]
        return _bounded(plain(left, right), said)
    if right.denominator != 1:
        raise ConfigurationError(f"{said} is not exact; exponents are integers")
    if abs(right) * (_bits(left) - 1) > MAX_BITS:  # before it is computed
        raise _too_large(said)
    return _bounded(left ** int(right), said)


def _bounded(value: Fraction, said: str) -> Fraction:
    """Return a value, or raise `ConfigurationError` if it is too large."""
    if _bits(value) > MAX_BITS:
        raise _too_large(said)
    return value


def _bits(value: Fraction) -> int:
    return max(abs(value.numerator).bit_length(), value.denominator.bit_length())


def _too_large(said: str) -> ConfigurationError:
    return ConfigurationError(f"{said} has more than {MAX_BITS} bits; steps are of smaller numbers")
