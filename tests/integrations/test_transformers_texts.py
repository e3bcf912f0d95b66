"""From texts to tensors and back."""

from fractions import Fraction
from functools import partial

import pytest
import torch

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.integrations.transformers import NumberCollator, NumberSettings, NumberTokenizer, equip, find_numbers
from adelic.integrations.transformers.layers import note_settings
from adelic.integrations.transformers.patching import add_number_token
from adelic.nn.heads.adelic import UNKNOWN_DIGIT

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11), precision=4)


@pytest.fixture
def tokenizer(word_tokenizer):
    plain = word_tokenizer()
    add_number_token(plain)
    return NumberTokenizer(plain, SPACE)


def decoded(batch, row):
    """Return the numbers of a row, from their digits."""
    found = []
    for real, digits in zip(batch["number_reals"][row], batch["number_digits"][row], strict=True):
        if not real.isnan():
            found.append(SPACE.from_digits(digits.numpy(), real.item(), radius=abs(real.item()) * 1e-6).decode())
    return found


def test_numbers_stand_at_their_tokens(tokenizer):
    batch = tokenizer(["1,000 + -7/13 and 3", "and 2 and", "and"])
    is_number = batch["input_ids"] == tokenizer.token_id
    assert is_number.tolist() == [[True, False, True, False, True], [False, True, *[False] * 3], [False] * 5]
    assert torch.equal(~batch["number_reals"].isnan(), is_number)
    assert [decoded(batch, row) for row in range(3)] == [[1000, Fraction(-7, 13), 3], [2], []]
    assert (batch["number_digits"][~is_number] == UNKNOWN_DIGIT).all()
    assert batch["number_reals"].dtype == torch.float32
    assert batch["number_digits"].dtype == torch.int32


def test_long_numbers_and_denominators_of_the_primes(tokenizer):
    batch = tokenizer(f"{10**400} and 1/2")
    digits = batch["number_digits"][0]
    assert batch["number_reals"][0, 0] == torch.inf
    assert digits[0].tolist() == SPACE.encode(10**400).digits.tolist()
    assert (digits[2, 0] == UNKNOWN_DIGIT).all()
    assert digits[2, 1:].tolist() == AdeleSpace(primes=SPACE.primes[1:], precision=4).encode("1/2").digits.tolist()


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_and_truncation_on_either_side(word_tokenizer, side):
    plain = word_tokenizer(padding_side=side, truncation_side=side)
    add_number_token(plain)
    tokenizer = NumberTokenizer(plain, SPACE)
    batch = tokenizer(["1 + 2 + 3 + 4", "5"], truncation=True, max_length=5)
    assert decoded(batch, 0) == ([1, 2, 3] if side == "right" else [2, 3, 4])
    assert decoded(batch, 1) == [5]
    assert batch["number_reals"][1, 0 if side == "right" else -1] == 5


def test_the_token_itself_is_no_number_and_the_finder_is_an_option(tokenizer):
    batch = tokenizer("[NUM] + 7")
    assert batch["number_reals"].isnan().tolist() == [[True, True, False]]
    assert decoded(batch, 0) == [7]
    told = NumberTokenizer(tokenizer.tokenizer, SPACE, find=partial(find_numbers, dates=True))
    assert decoded(told("2024-12-10"), 0) == [2024, 12, 10]
    assert decoded(tokenizer("2024-12-10"), 0) == []


def test_byte_level_tokenizers_keep_the_text(byte_tokenizer):
    plain = byte_tokenizer()
    add_number_token(plain)
    tokenizer = NumberTokenizer(plain, SPACE)
    text = "it costs $1,000.50, x2 and not 3/4"
    batch = tokenizer([text])
    values = [None] * batch["input_ids"].shape[1]
    for column, value in zip(torch.nonzero(batch["input_ids"][0] == tokenizer.token_id)[:, 0], (7, -2), strict=True):
        values[column] = value
    assert tokenizer.decode(batch["input_ids"], [values]) == ["it costs $7, x2 and not -2"]
    assert tokenizer.decode(batch["input_ids"], [[None] * len(values)]) == ["it costs $[NUM], x2 and not [NUM]"]


def test_a_tokenizer_without_the_token_or_that_loses_it_is_refused(word_tokenizer):
    with pytest.raises(ConfigurationError, match=r"has no token \[NUM\]"):
        NumberTokenizer(word_tokenizer(), SPACE)
    plain = word_tokenizer("[NUM]")  # a word of the vocabulary, but split before it is looked up
    with pytest.raises(ConfigurationError, match="made 0 number tokens of 2 numbers in text 0"):
        NumberTokenizer(plain, SPACE)("1 and 2")


def test_causal_batches(tokenizer):
    """Of texts all tokens are learned, of prompts with completions these alone; long texts are cut."""
    batch = NumberCollator(tokenizer, "causal")([{"prompt": "1 + 2 =", "completion": " 3 and"}, "4 and"])
    assert set(batch) == {"input_ids", "attention_mask", "labels", "number_reals", "number_digits"}
    is_learned = batch["labels"] != -100
    assert is_learned.tolist() == [[False] * 4 + [True] * 2, [True] * 2 + [False] * 4]
    assert torch.equal(batch["labels"][is_learned], batch["input_ids"][is_learned])
    assert NumberCollator(tokenizer, "causal", max_length=3)(["1 + 2 = 3"])["input_ids"].shape == (1, 3)


@pytest.mark.parametrize(
    ("prompt", "completion", "learned"),
    [
        ("1 and x = -", "6", [False] * 4 + [True]),  # −6 begins in the prompt
        ("x = 6", "4 and", [False] * 2 + [True] * 2),
        ("1 = 1", ",000,000 and", [False] * 2 + [True] * 2),
        ("and 12", "x and", [False] + [True] * 2),  # the prompt's 12 is no number of the whole text
        ("[NUM] is 1,000", " and 7", [False] * 3 + [True] * 2),
        ("an", "d and", [True] * 2),
    ],
)
def test_a_token_that_reaches_into_the_completion_is_learned(tokenizer, prompt, completion, learned):
    batch = NumberCollator(tokenizer, "causal")([{"prompt": prompt, "completion": completion}])
    assert (batch["labels"][0] != -100).tolist() == learned


@pytest.mark.parametrize("example", [("1", "2"), ("1 + 2 =", ""), ("1 + 2 =", " 3")])
def test_examples_of_which_nothing_is_learned_are_told_once(tokenizer, example):
    collator = NumberCollator(tokenizer, "causal", max_length=4)
    row = dict(zip(("prompt", "completion"), example, strict=True))
    with pytest.warns(UserWarning, match=r"nothing is learned of the prompt '1.* that is empty, cut off, or within"):
        collator([row, "4 and"])
    collator([row])


@pytest.mark.parametrize(
    "options", [{"return_overflowing_tokens": True}, {"text_pair": ["3 + 4"]}, {"is_split_into_words": True}]
)
def test_options_with_which_a_row_is_not_a_text_are_refused(tokenizer, options):
    with pytest.raises(ConfigurationError, match=f"{next(iter(options))}=.* does not go with numbers"):
        tokenizer(["1 + 2 + 3 + 4"], truncation=True, max_length=3, **options)


@pytest.mark.parametrize(
    ("texts", "what"),
    [([], "there is no text"), ([("1", "2")], r"\('1', '2'\) is not a text"), ([""], "the text '' has no token")],
)
def test_what_is_no_text_is_refused(tokenizer, texts, what):
    with pytest.raises(ConfigurationError, match=what):
        tokenizer(texts)


def test_masked_batches(tokenizer):
    texts = ["1 and 2 and 3 and 4 and 5 and 6"] * 64
    collator = NumberCollator(tokenizer, "masked", mask_probability=0.3, seed=0)
    batch = collator(texts)
    plain = tokenizer(texts)
    is_masked = batch["labels"] != -100
    assert 0.2 < is_masked.float().mean() < 0.4
    assert torch.equal(batch["labels"][is_masked], plain["input_ids"][is_masked])
    assert torch.equal(batch["input_ids"][~is_masked], plain["input_ids"][~is_masked])
    mask = tokenizer.tokenizer.mask_token_id
    assert 0.7 < (batch["input_ids"][is_masked] == mask).float().mean() < 0.9
    assert torch.equal(batch["number_digits"], plain["number_digits"])
    again = NumberCollator(tokenizer, "masked", mask_probability=0.3, seed=0)(texts)
    assert torch.equal(again["labels"], batch["labels"])


def test_other_entries_become_tensors(tokenizer):
    batch = NumberCollator(tokenizer, None)([{"text": "1", "label": 2}, {"text": "3 and 4", "label": 0}])
    assert batch["labels"].tolist() == [2, 0]
    assert "text" not in batch


@pytest.mark.parametrize(("with_it", "without"), [(0, 1), (1, 0)])
def test_entries_that_some_examples_lack_are_refused(tokenizer, with_it, without):
    examples = [{"text": "1"}, {"text": "2"}]
    examples[with_it]["weight"] = 1
    with pytest.raises(ConfigurationError, match=f"example {without} of a batch has no 'weight', and others have"):
        NumberCollator(tokenizer, None)(examples)


NO_TOKENIZER = "is not a tokenizer; AutoTokenizer"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: NumberCollator(t, None)([{"txt": "1"}]), "an example with txt has no 'text'"),
        # as Trainer leaves of {"text": …}
        (lambda t: NumberCollator(t, None)([{}]), r"with nothing has no 'text', .* has remove_unused_columns=False$"),
        (
            lambda t: NumberCollator(t, "causal")([{"prompt": "3 =", "completion": 8}]),
            "'completion' of an example is",
        ),
        (lambda t: NumberCollator(t, "clm"), "objective='clm' must be 'causal', 'masked' or None"),
        *((lambda t, none=none: NumberTokenizer(none), NO_TOKENIZER) for none in (None, "gpt2", object())),
        *((lambda t, none=none: equip(none, none, SPACE), NO_TOKENIZER) for none in (None, "gpt2", object())),
        (lambda t: equip("gpt2", t.tokenizer, SPACE), "is not a model of Transformers"),
        (lambda t: NumberCollator("gpt2", None), "is not a NumberTokenizer"),
        (lambda t: NumberTokenizer(t.tokenizer), "has no space of a model; give it as space"),
    ],
)
def test_wrong_examples_and_objectives(tokenizer, call, message):
    with pytest.raises(ConfigurationError, match=message):
        call(tokenizer)


@pytest.mark.parametrize("objective", ["causal", "masked"])
def test_targets_that_the_model_never_writes_are_told_once(tokenizer, objective):
    settings = NumberSettings(space=SPACE, token_id=tokenizer.token_id, max_numerator=86, max_denominator=2)
    note_settings(tokenizer.tokenizer, settings)
    for beyond in ("87", "-1007", "1/3"):
        collator = NumberCollator(NumberTokenizer(tokenizer.tokenizer), objective, mask_probability=1.0)
        collator(["and 86", "1/2 and -86/1"])
        message = f"number {beyond} is to be learned, .* up to 86 and m up to 2 alone; equip takes max_numerator"
        with pytest.warns(UserWarning, match=message):
            collator(["and 7", f"and {beyond}"])
        collator([f"and {beyond}"])


def test_numbers_that_are_no_targets_may_be_any(tokenizer):
    note_settings(tokenizer.tokenizer, NumberSettings(space=SPACE, token_id=tokenizer.token_id, max_numerator=9))
    told = NumberTokenizer(tokenizer.tokenizer)
    NumberCollator(told, "causal")([{"prompt": "10 + 1/3 =", "completion": " 4"}, "100 and 7"])
    NumberCollator(told, None)([{"text": "10 + 1/3", "label": 0}])
    NumberCollator(told, "masked", mask_probability=0.0)(["10 + 1/3"])


def test_settings_of_a_tokenizer_are_checked(tokenizer):
    tokenizer.tokenizer.init_kwargs["adelic"] = {"space": 1}
    with pytest.raises(ConfigurationError, match="are not the settings of an equipped model"):
        NumberTokenizer(tokenizer.tokenizer)
