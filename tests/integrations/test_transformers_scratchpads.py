"""Expressions become texts of exact steps, which are read as they are meant."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.integrations.transformers import (
    NumberCollator,
    NumberTokenizer,
    Rewriting,
    equip,
    find_numbers,
    rewrite,
    scratchpad,
)
from adelic.integrations.transformers import scratchpads as module
from adelic.nn.heads.exact import WrittenNumbers

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
    "What's a well-known sum: 3 + 5?": "What's a well-known sum: 3 + 5? =",
    "Quanto è -3 + 5, per favore; \u2018I\u2019?": "Quanto è -3 + 5, per favore; \u2018I\u2019? =",
    "A: - 5 + 3": "A: -5 + 3 =",
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
    "1 + " + "9" * 5000: "'99999999999999999999…' has more than 10000 bits",
    "." + "9" * 5000: "'.9999999999999999999…' has more than 10000 bits",
    "1" + "+1" * 500: "'1+1+1+1+1+1+1+1+1+1+…' has more than 200 operations",
}
LEFT_OVER = {
    "10 % 3 + 1": "10 %",
    "2(3+4)": "2",
    "(3+4)(5)": "(5)",
    "sqrt(4)+1": "sqrt",
    "2*3!": "!",
    "[2+3]*4": "[",
    "(1, 2) + 3": "(1",
    "1) 3 + 5": "1)",
    "3 + x": "+",
    "x + 3": "x +",
    "x -3 * 2": "x",
    "(3+4)x": "x",
    "3 + 4 x": "x",
    "_(3+5)": "_",
    "[NUM] + 5": "[NUM]",
    "½ + 3": "½",
    "二 + 3": "二",
    "1_000 + 3": "1_000",
    "1 000 + 3": "1",
    "3 + 5 km * 2": "* 2",
    "3 + 5 = 8": "= 8",
    "12% of 50 + 3": "12%",
    "In 1999 she had 3+5": "1999",
}
_decimals = st.decimals(0, 99, places=2, allow_nan=False).map("{:f}".format)
_numbers = st.one_of(st.integers(0, 99).map(str), st.integers(0, 10**20).map(str), _decimals)
_signed = st.one_of(_numbers, _numbers.map("-{}".format), _numbers.map("(-{})".format))
_powers = st.builds("{} ** {}".format, st.one_of(_numbers, _numbers.map("(-{})".format)), st.integers(-2, 3))
EXPRESSIONS = st.recursive(
    st.one_of(_signed, _powers),
    lambda inner: st.one_of(
        st.builds("{}{}{}".format, inner, st.sampled_from(["+", "-", "*", "/", " + ", " - ", " * ", " / "]), inner),
        st.builds("{}({})".format, st.sampled_from(["", "-"]), inner),
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


@pytest.mark.parametrize("text", LEFT_OVER)
def test_what_is_not_understood_is_refused(text):
    with pytest.raises(ConfigurationError) as caught:
        scratchpad(text)
    remedy = "write one expression of + - * / ** and brackets, with words apart from it"
    assert str(caught.value) == f"{LEFT_OVER[text]!r} is left over in {text!r}; {remedy}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": None}, "text=None must be a string"),
        ({"text": "1 + 2", "rng": 0}, "rng=0 must be None or a generator, as np.random.default_rng(0) is"),
        ({"text": "1 + 2", "style": "words"}, "style='words' must be 'steps' or 'rewrite'"),
    ],
)
def test_arguments_of_other_types(arguments, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        scratchpad(**arguments)


@given(
    EXPRESSIONS, st.integers(0, 9), st.sampled_from([("", ""), ("What is ", "?"), ("The 'half-life': ", " of it; all")])
)
def test_steps_and_rewriting_are_read_as_they_are_meant_and_keep_the_value(text, seed, around):
    before, after = around
    text = f"0 + {text}" if before else text  # a sign behind words would be left over
    try:
        value = value_of(text)
    except ZeroDivisionError:
        with pytest.raises(ConfigurationError, match="divides by zero"):
            scratchpad(text, rng=np.random.default_rng(seed))
        return
    pad = scratchpad(f"{before}{text}{after}", rng=np.random.default_rng(seed))
    examples = scratchpad(f"{before}{text}{after}", style="rewrite", rng=np.random.default_rng(seed))
    assert examples[0]["prompt"] == pad["prompt"]
    for left, example in zip(range(len(examples), 0, -1), examples, strict=True):
        assert example["prompt"].startswith(before)
        expression = example["prompt"].removeprefix(before).removesuffix(f"{after} =")
        assert value_as_read(expression) == value
        assert len(find_numbers(expression)) == left
    said = pad["completion"].strip().split("; ")
    results = [find_numbers(example["completion"]) for example in examples]
    assert [[number.value] for (number,) in results] == [
        [find_numbers(f" = {one}")[-1].value] for one in [*said[: len(examples) - 1], value]
    ]
    for step in said[: len(examples) - 1]:
        operation, result = step.split(" = ")
        assert value_as_read(operation) == find_numbers(f" = {result};")[0].value
        assert len(find_numbers(operation)) == 2


def test_orders_are_drawn():
    text = "1*2 + 3*4 + 5*6"
    assert scratchpad(text)["completion"].startswith(" 1 * 2 = 2; 3 * 4 = 12; 2 + 12 = 14; 5 * 6 = 30; ")
    drawn = {scratchpad(text, rng=np.random.default_rng(seed))["completion"] for seed in range(40)}
    assert {completion[1:6] for completion in drawn} == {"1 * 2", "3 * 4", "5 * 6"}
    assert {completion[-4:] for completion in drawn} == {"= 44"}


@pytest.fixture
def computing(equipped):
    """Return a model with operations, whose weights are random, and its number tokenizer."""
    return equipped("LlamaForCausalLM", operations=("+", "-", "*", "/"), constants=(7,))


def said_by_a_program(monkeypatch, say):
    """Let a function of a text say what a model would: a value, a derivation, and a choice."""

    def written(_model, _tokenizer, texts):
        values, derivations, choices = zip(*map(say, texts), strict=True)
        return WrittenNumbers(values, derivations, np.ones(len(texts)), list(choices))

    monkeypatch.setattr(module, "_written", written)


def test_a_model_that_is_always_right_rewrites_as_the_examples_do(computing, monkeypatch):
    following = {}

    def say(text):
        value, operation = following[text]
        if operation is None:
            return value, "", ("copy", 0, None)
        before = text.removesuffix(" =").index(operation)
        at = [number.start >= before for number in find_numbers(text)].index(True)
        return value, operation, ("any", at + 1, at)  # in whatever order

    said_by_a_program(monkeypatch, say)
    rng = np.random.default_rng(0)
    texts = [*PROMPTS, *QUESTIONS, "(1 - 3)**3", "2*(3 - (1/2 - 1)**2)", "(((1/2)))**(1 + 1)"]
    expected = []
    for text in texts:
        state = rng.bit_generator.state
        examples = scratchpad(text, style="rewrite", rng=rng)
        rng.bit_generator.state = state
        operations = [step.split(" = ")[0].strip() for step in scratchpad(text, rng=rng)["completion"].split("; ")]
        prompts = [example["prompt"] for example in examples]
        results = [find_numbers(example["completion"])[0].value for example in examples]
        for prompt, result, operation in zip(prompts, results, [*operations[: len(prompts) - 1], None], strict=True):
            following[prompt] = result, operation
        expected.append(Rewriting(results[-1], list(zip(operations, prompts[1:], strict=False))))
    assert rewrite(*computing, [scratchpad(text)["prompt"] for text in texts]) == expected


def test_where_a_model_comes_to_no_number(computing, monkeypatch):
    says = {
        "5 =": (Fraction(9), "free", ("free", None, None)),
        "6 =": (None, None, None),
        "1 + 2 =": (Fraction(14), "7 + 7", ("+", 2, 2)),  # constants alone
        "8 =": (Fraction(8), "|8|", ("abs", 0, None)),
        "9 + 2 =": (Fraction(16), "9 + 7", ("+", 0, 2)),
        "16 + 2 =": (Fraction(2), "2", ("copy", 1, None)),
    }
    said_by_a_program(monkeypatch, says.__getitem__)
    none = Rewriting(None, [])
    assert rewrite(*computing, ["5 =", "6 =", "1 + 2 ="]) == [none, none, none]
    assert rewrite(*computing, "8 =", max_steps=2) == [Rewriting(None, [("|8|", "8 =")] * 2)]
    assert rewrite(*computing, "9 + 2 =") == [Rewriting(Fraction(2), [("9 + 7", "16 + 2 =")])]
    assert rewrite(*computing, []) == []


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("3 * ( 3 + 4 ) - 5 =", (0, 1)),
        ("What is ( 1 + 2 ) * 3? =", (2, 1)),
        ("( 1 + 2 ) * ( 3 + 4 ) =", (1, 2)),
        ("( 1 + 2 ) * ( 3 + 4 ) =", (0, 3)),
        ("2 ** ( 1 + 2 ) =", (0, 1)),
        ("( 1 + 2 ) ** 3 =", (1, 2)),
        ("1 + 2 + 3 =", (0, 2)),
    ],
)
def test_two_numbers_that_are_no_operation_end_without_a_result(computing, monkeypatch, text, chosen):
    says = {
        text: (Fraction(9), "3 × 3", ("*", *chosen)),
        "( 1 + 2 ) * ( 3 + 4 ) - 5 =": (Fraction(3), "1 + 2", ("+", 0, 1)),
    }
    said_by_a_program(monkeypatch, says.__getitem__)
    assert rewrite(*computing, text) == [Rewriting(None, [])]
    if text == "3 * ( 3 + 4 ) - 5 =":  # what was said before stays
        assert rewrite(*computing, "( 1 + 2 ) * ( 3 + 4 ) - 5 =") == [Rewriting(None, [("1 + 2", text)])]


@pytest.mark.parametrize("side", ["left", "right"])
def test_what_is_written_does_not_depend_on_the_other_texts(computing, side):
    model, tokenizer = computing
    tokenizer.tokenizer.padding_side = side
    texts = ["3 - 5 * 2 =", "[NUM] + 7 =", "3 - ( 1 + 4 / 9 ) * 1000000007 - 5 ** 2 + 1 ="]
    together = rewrite(model, tokenizer, texts, max_steps=5)
    assert together == [rewrite(model, tokenizer, text, max_steps=5)[0] for text in texts]
    for text, found in zip(texts, together, strict=True):
        counts = [len(find_numbers(shown)) for shown in (text, *(after for _, after in found.steps))]
        assert counts == sorted(counts, reverse=True)


def test_the_first_step_is_what_generate_writes(computing, only):
    model, tokenizer = computing
    texts = ["3 - 5 * 2 =", "3 - ( 1 + 4 / 9 ) * 10 ="]
    torch.nn.init.constant_(model.get_output_embeddings().weight, 0.0)
    written = module._written(model, tokenizer, texts)
    alone = only(tokenizer.token_id)
    generated = model.generate(**tokenizer(texts), max_new_tokens=1, do_sample=False, logits_processor=alone)
    assert generated.numbers[:, -1].tolist() == written.values.tolist()
    assert generated.derivations[:, -1].tolist() == written.derivations.tolist()


def test_rewriting_needs_operations(equipped):
    with pytest.raises(ConfigurationError, match=r"has no operations; equip\(…, operations=…\) gives it some"):
        rewrite(*equipped("LlamaForCausalLM"), "1 + 2 =")


@pytest.mark.long
def test_a_small_model_learns_to_compute_longer_expressions_than_it_was_taught(word_tokenizer, fit):
    """In 300 steps; a window of four tokens, so that what it learns is local."""
    rng = np.random.default_rng(0)

    def expression(n):
        parts = [str(rng.integers(-99, 100)) for _ in range(n)]
        for _ in range(n - 1):
            at = rng.integers(len(parts) - 1)
            inner = f"{parts[at]} {rng.choice(['+', '-', '*'])} {parts[at + 1]}"
            parts[at : at + 2] = [f"({inner})" if rng.integers(2) else inner]
        return parts[0]

    pads = (scratchpad(expression(n), style="rewrite", rng=rng) for n in rng.integers(2, 5, size=1000))
    examples = list(itertools.chain.from_iterable(pads))
    tokenizer = word_tokenizer("(", ")", "((", "))", padding_side="left")
    torch.manual_seed(0)
    config = transformers.MistralConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, sliding_window=4, bos_token_id=None, eos_token_id=None, pad_token_id=1,
    )  # fmt: skip
    space = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
    model = equip(transformers.MistralForCausalLM(config), tokenizer, space, operations=("+", "-", "*"), constants=())
    number_tokenizer = NumberTokenizer(tokenizer)
    collate = NumberCollator(number_tokenizer, model.objective)
    fit(model, [collate([examples[at] for at in rng.integers(len(examples), size=32)]) for _ in range(300)])
    texts = [expression(8) for _ in range(100)]
    found = rewrite(model, number_tokenizer, [scratchpad(text)["prompt"] for text in texts])
    right = sum(one.number == value_of(text) for one, text in zip(found, texts, strict=True))
    assert right > 85
