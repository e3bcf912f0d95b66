"""Expressions become texts of exact steps, which are read as they are meant."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import ConfigurationError
from adelic.integrations.transformers.finding import find_numbers
from adelic.integrations.transformers.scratchpads import scratchpad

QUESTIONS = {  # of DeepMind's mathematics dataset (Apache-2.0), with its answers: three modules, and their longer ones
    "What is 6 - (-1 - -1) - (70 - 71)?": "7",
    "Calculate 30 + -33 - (-7 + 6 - -5) - (-15 + -1).": "9",
    "-5 + 5 + -8 + 14": "6",
    "(-31)/((-42718)/(-159))*(-1)/6*-2": "-1/26",
    "What is the value of (6/(-14))/(2226/25228)?": "-34/7",
    "Evaluate ((-30)/14)/(-3)*(-12)/(-30).": "2/7",
    "Calculate 61/91256*-40408 - -27.": "-2/187",
    "What is 38/(-4) + (-9)/18?": "-10",
    "Evaluate (-115254)/9672 + 12 - (8/10)/(620/50).": "1/52",
    "2 - (-7 - (-4 - 0)) - (-9 - -7) - (342 + (-12 - (4 - (34 + -3))))": "-350",
    "Calculate ((-7)/(-70)*(-20)/(-15)*(-9)/3*3/(-3))/(986/179945).": "73",
    "What is (-2)/(((-2)/(-5) + (-22 - (-3058)/132)/(35/(-15)) - 106/(-1185))/(45/(-27)))?": "-316",
}
PROMPTS = {
    "(-3)+5*2": "-3 + 5 * 2 =",
    "What is (-3)+5*2?": "What is -3 + 5 * 2? =",
    "Calculate 8/2/4.": "Calculate 8 / 2 / 4. =",
    "Evaluate 4/(-6)*((-2)/-3).": "Evaluate 4 / -6 * ( -2 / -3 ). =",
    "7": "7 =",
    "What is 7?": "What is 7? =",
    "3 + 5 =": "3 + 5 =",
    "x is 7; 3 + 5": "x is 7; 3 + 5 =",
    "(see 3 + 5)": "(see 3 + 5) =",
    "(see (3 + 5)*(2 + 1))": "(see ( 3 + 5 ) * ( 2 + 1 )) =",
    "1) 3 + 5": "1) 3 + 5 =",
    "((3)) - ((5*2))": "3 - 5 * 2 =",
    "8/(2/4)": "8 / ( 2 / 4 ) =",
    "(2**3)**2**0": "( 2 ** 3 ) ** 2 ** 0 =",
    "-(2+3)*4": "-1 * ( 2 + 3 ) * 4 =",
    "8/-(2+2)": "8 / ( -1 * ( 2 + 2 ) ) =",
    "-2**2": "-1 * 2 ** 2 =",
    "(-2)**2": "( -2 ) ** 2 =",
    "--3 - +(-4)": "3 - -4 =",
    "1,000.50 + .5e1": "1000.50 + .5e1 =",
    "3 ^ 2 × 2 ÷ \u22124": "3 ** 2 * 2 / -4 =",
}
REFUSED = {
    "": "'' has no expression; give a text with one, such as '(-3) + 5 * 2'",
    "no number": "'no number' has no expression",
    "x2 + y3": "'x2 + y3' has no expression",
    "3 and 5": "'3 and 5' has 2 numbers and no expression",
    "3 + 5 and 2 - 1": "'3 + 5 and 2 - 1' has 2 expressions",
    "2 * * 3": "'2 * * 3' has 2 numbers and no expression",
    "((1 + 2": "'((1 + 2' has 2 opening brackets and 0 closing",
    "1 + 007": "'1 + 007' is not an expression: leading zeros in decimal integer literals are not permitted",
    "(" * 300 + "1 + 1" + ")" * 300: "is not an expression: too many nested parentheses",
    "1/(2 - 2)": "1 / 0 divides by zero",
    "0 ** -1": "0 ** -1 divides by zero",
    "2 ** 0.5": "2 ** 1/2 is not exact; exponents are integers",
    "2 ** 10 ** 10": "2 ** 10000000000 has more than 10000 bits; steps are of smaller numbers",
    "7 ** 3600": "7 ** 3600 has more than 10000 bits",
    "1 + " + "9" * 4000: "'99999999999999999999…' has more than 10000 bits",
    "1" + "+1" * 500: "'1+1+1+1+1+1+1+1+1+1+…' has more than 200 operations",
}
_numbers = st.one_of(
    st.integers(0, 99).map(str),
    st.integers(0, 10**20).map(str),
    st.decimals(0, 99, places=2, allow_nan=False).map("{:f}".format),
)
_signed = st.one_of(_numbers, _numbers.map("-{}".format), _numbers.map("(-{})".format))
_powers = st.tuples(st.one_of(_numbers, _numbers.map("(-{})".format)), st.integers(-2, 3)).map(
    "{0[0]} ** {0[1]}".format
)
EXPRESSIONS = st.recursive(
    st.one_of(_signed, _powers),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", " + ", " - ", " * ", " / "]), inner).map("".join),
        inner.map("({})".format),
        inner.map("-({})".format),
    ),
    max_leaves=8,
)


def value_of(text, numbers=r"[0-9]+(?:\.[0-9]+)?"):
    """Return the value of an expression as Python has it, of exact numbers."""
    return eval(re.sub(numbers, 'Fraction("\\g<0>")', text), {"Fraction": Fraction})


def value_as_read(text):
    """Return the value of an expression whose numbers are those that find_numbers sees."""
    for found in reversed(find_numbers(text)):
        text = f'{text[: found.start]}Fraction("{found.value}"){text[found.end :]}'
    return eval(text, {"Fraction": Fraction})


@pytest.mark.parametrize("question", QUESTIONS)
def test_public_questions(question):
    steps = scratchpad(question)
    assert steps["completion"].split(" = ")[-1] == QUESTIONS[question]
    assert scratchpad(question, style="rewrite")[-1]["completion"] == f" {QUESTIONS[question]}"


@pytest.mark.parametrize("text", PROMPTS)
def test_prompts(text):
    assert scratchpad(text)["prompt"] == PROMPTS[text]
    assert scratchpad(PROMPTS[text])["prompt"] == PROMPTS[text]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    with pytest.raises(ConfigurationError, match=re.escape(REFUSED[text])) as caught:
        scratchpad(text)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_an_unknown_style():
    with pytest.raises(ConfigurationError, match="style='words' must be 'steps' or 'rewrite'"):
        scratchpad("1 + 2", style="words")


@given(EXPRESSIONS, st.integers(0, 9))
def test_steps_are_read_as_they_are_meant_and_keep_the_value(text, seed):
    rng = np.random.default_rng(seed)
    try:
        value = value_of(text)
    except ZeroDivisionError:
        with pytest.raises(ConfigurationError, match="divides by zero"):
            scratchpad(text, rng=rng)
        return
    pad = scratchpad(text, rng=rng)
    assert value_as_read(pad["prompt"].removesuffix("=")) == value
    said = pad["completion"].strip().split("; ")
    for step in said:
        if " = " in step:
            operation, result = step.split(" = ")
            assert [value_as_read(operation)] == [found.value for found in find_numbers(f" = {result};")]
            assert len(find_numbers(operation)) == 2
    assert find_numbers(pad["completion"])[-1].value == value
    operators = re.findall(r" (?:[-+/]|\*\*?) ", pad["prompt"])
    assert len(said) == max(1, len(operators))


@given(EXPRESSIONS, st.integers(0, 9))
def test_rewriting_keeps_the_value_in_any_order(text, seed):
    rng = np.random.default_rng(seed)
    try:
        value = value_of(text)
    except ZeroDivisionError:
        with pytest.raises(ConfigurationError, match="divides by zero"):
            scratchpad(text, style="rewrite", rng=rng)
        return
    examples = scratchpad(text, style="rewrite", rng=rng)
    counts = []
    for example in examples:
        assert value_as_read(example["prompt"].removesuffix("=")) == value
        counts.append(len(find_numbers(example["prompt"])))
        (result,) = find_numbers(example["completion"])
        assert str(result.value) == example["completion"].strip() or counts[-1] == 1
    assert counts == list(range(len(examples), 0, -1))
    assert find_numbers(examples[-1]["completion"])[0].value == value


@pytest.mark.parametrize(("before", "after"), [("What is ", "?"), ("Let x = 7. Find ", "."), ("(", " of it)")])
@given(EXPRESSIONS)
def test_text_around_an_expression_stays(before, after, text):
    try:
        value_of(text)
    except ZeroDivisionError:
        return
    plain = scratchpad(f"0 + {text}")
    within = scratchpad(f"{before}0 + {text}{after}")
    assert within["prompt"] == f"{before}{plain['prompt'].removesuffix(' =')}{after} ="
    assert within["completion"] == plain["completion"]


def test_orders_are_drawn():
    text = "1*2 + 3*4 + 5*6"
    assert scratchpad(text)["completion"].startswith(" 1 * 2 = 2; 3 * 4 = 12; 2 + 12 = 14; 5 * 6 = 30; ")
    drawn = {scratchpad(text, rng=np.random.default_rng(seed))["completion"] for seed in range(40)}
    assert {completion[1:6] for completion in drawn} == {"1 * 2", "3 * 4", "5 * 6"}
    assert {completion[-4:] for completion in drawn} == {"= 44"}
