"""Models write numbers, and read what they have written, whatever way sequences are chosen."""

from fractions import Fraction

import pytest
import torch
import transformers

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.integrations.transformers import NumberSettings
from adelic.integrations.transformers.generating import prompt_numbers
from adelic.integrations.transformers.layers import unknown_numbers
from adelic.nn import adelic_targets

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
GENERATORS = ["GPT2LMHeadModel", "LlamaForCausalLM"]


def prefer(tokens):
    """Let a language model write these tokens in turn, whatever it reads."""

    def processor(input_ids, scores):
        scores = torch.full_like(scores, -1e9)
        scores[:, tokens[(input_ids.shape[1] - processor.start) % len(tokens)]] = 0
        return scores

    return processor


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize(
    "caching",
    [
        {"use_cache": True},
        {"use_cache": False},
        {"cache_implementation": "static"},
        {"cache_implementation": "dynamic"},
    ],
)
def test_written_numbers_are_read_by_the_model(equipped, name, caching):
    """What `generate` says step by step the model says of the whole text with the numbers that were written."""
    model, tokenizer = equipped(name, max_numerator=15014)  # any digits are a number
    torch.nn.init.normal_(model.numbers.head.linear.weight)
    plus = tokenizer.tokenizer.convert_tokens_to_ids("+")
    choose = prefer([tokenizer.token_id, tokenizer.token_id, plus])
    prompts = tokenizer(["5 + 7 =", "2 ="])
    choose.start = start = prompts["input_ids"].shape[1]
    options = {"do_sample": False, "logits_processor": [choose], "output_scores": True, "output_logits": True}
    written = model.generate(**prompts, max_new_tokens=6, **options, **caching, return_dict_in_generate=True)
    assert len(written.scores) == len(written.logits) == 6
    assert written.sequences[:, start:].tolist() == [[tokenizer.token_id, tokenizer.token_id, plus] * 2] * 2
    assert written.numbers[:, :start].tolist() == [[5, None, 7, None], [None, None, 2, None]]
    numbers = written.numbers[:, start:][:, [0, 1, 3, 4]]
    assert all(isinstance(value, Fraction) for value in numbers.flat)
    assert len(set(numbers.flat)) > 2
    for row in range(2):
        outputs = read_again(model, prompts, written, row)
        logits = torch.stack([step[row] for step in written.logits])
        torch.testing.assert_close(outputs.logits[0, start - 1 : -1], logits, rtol=1e-4, atol=1e-4)
    assert assert_consistent(model, prompts, written) == 8


def test_digits_that_are_no_number_are_read_as_no_number(equipped, only):
    model, tokenizer = equipped("LlamaForCausalLM", max_numerator=1)
    torch.nn.init.normal_(model.numbers.head.linear.weight, std=3)
    choose = only(tokenizer.token_id)
    prompts = tokenizer(["5 =", "2 ="])
    written = model.generate(**prompts, max_new_tokens=4, do_sample=False, logits_processor=choose)
    assert None in written.numbers[:, 2:]
    assert any("[NUM]" in text for text in tokenizer.decode(written.sequences[:, 2:], written.numbers[:, 2:]))


@pytest.mark.parametrize(
    "options", [{"prompt_lookup_num_tokens": 2}, {"prefill_chunk_size": 1}, {"guidance_scale": 2.0}]
)
def test_ways_of_generating_that_lose_numbers_are_refused(equipped, options):
    model, tokenizer = equipped("GPT2LMHeadModel")
    for given in (options, {"generation_config": transformers.GenerationConfig(**options)}):
        with pytest.raises(ConfigurationError, match=f"{next(iter(options))}=.* does not go with numbers"):
            model.generate(**tokenizer("5 ="), **given)


def test_an_assistant_and_no_prompts_are_refused_in_one_line(equipped):
    model, tokenizer = equipped("GPT2LMHeadModel")
    with pytest.raises(
        ConfigurationError, match=r"^assistant_model=[^\n]{,60} does not go with numbers; leave it out$"
    ):
        model.generate(**tokenizer("5 ="), assistant_model=model)
    with pytest.raises(ConfigurationError, match="needs input_ids"):
        model.generate(max_new_tokens=1)


def wandering(*tokens):
    """Let a language model write these tokens alone, by scores that jump, so that beams change places."""

    def processor(input_ids, scores):
        kept = torch.full_like(scores, -torch.inf)
        places = torch.arange(1, input_ids.shape[1] + 1)
        for token in tokens:
            kept[:, token] = torch.sin((input_ids * places).sum(dim=1) * 12.9898 + token * 78.233)
        return kept

    return [processor]


def read_again(model, prompts, written, row):
    """Return what the model makes of a text that was written, with its numbers, all at once."""
    tokens, values = written.sequences[row], written.numbers[row]
    reals, digits = unknown_numbers(SPACE, tuple(tokens.shape))
    for at, value in enumerate(values):
        if value is not None:
            real, places = adelic_targets(SPACE, value)
            reals[at], digits[at] = real.float(), places.int()
    mask = prompts["attention_mask"][row // (len(written.sequences) // len(prompts["attention_mask"]))]
    mask = torch.cat([mask, mask.new_ones(len(tokens) - len(mask))])
    return model(
        tokens[None].clamp(min=0),
        number_reals=reals[None],
        number_digits=digits[None],
        attention_mask=mask[None],
        position_ids=(mask.cumsum(-1) - 1).clamp(min=0)[None],
    )


def assert_consistent(model, prompts, written):
    """Assert that each written number is what the model says that has read the text before it; return how many."""
    n_numbers = 0
    for row, (tokens, values) in enumerate(zip(written.sequences, written.numbers, strict=True)):
        states = read_again(model, prompts, written, row).number_states[0]
        for at in range(prompts["input_ids"].shape[1], len(tokens)):
            is_number = bool(tokens[at] == model.numbers.settings.token_id)
            n_numbers += is_number
            assert values[at] == (model.numbers.decode(states[at - 1]).item() if is_number else None)
    return n_numbers


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize(
    ("options", "is_ending"),
    [
        ({}, False),
        ({"use_cache": False}, False),
        ({"do_sample": True, "num_return_sequences": 4}, False),
        ({"num_return_sequences": 3}, False),
        ({"num_return_sequences": 4}, True),
        ({"do_sample": True, "num_beams": 1, "num_return_sequences": 3}, False),
    ],
)
def test_beams_follow_their_own_numbers(equipped, name, options, is_ending):
    """One that ends with a number is no longer among those that go on when its number is to be read."""
    model, tokenizer = equipped(name, max_numerator=15014)
    torch.manual_seed(3)
    torch.nn.init.normal_(model.numbers.head.linear.weight)
    prompts = tokenizer(["5 + 7 =", "2 =", "3 + 7 ="])
    plus, equals = tokenizer.tokenizer.convert_tokens_to_ids(["+", "="])
    ends = {"eos_token_id": tokenizer.token_id, "pad_token_id": 1} if is_ending else {}
    written = model.generate(
        **prompts,
        **{"do_sample": False, "num_beams": 4} | options | ends,
        max_new_tokens=6,
        logits_processor=wandering(tokenizer.token_id, plus, equals),
    )
    assert written.sequences.shape == written.numbers.shape == (3 * options.get("num_return_sequences", 1), 10)
    assert (written.sequences[:, 4:] == 1).any() == is_ending
    assert assert_consistent(model, prompts, written) >= 3
    assert len({*written.numbers[:, 4:].flatten()} - {None}) > 1


def test_beams_of_prompts_without_numbers_are_the_plain_models(equipped, word_tokenizer, tiny_model, only):
    model, tokenizer = equipped("LlamaForCausalLM")
    plain_tokenizer = word_tokenizer(padding_side="left")
    plain = tiny_model("LlamaForCausalLM", len(plain_tokenizer))
    texts = ["and is and", "is"]
    options = {"do_sample": False, "max_new_tokens": 5, "num_beams": 3, "num_return_sequences": 2}
    words = only(*range(4, len(plain_tokenizer)))
    expected = plain.generate(
        **plain_tokenizer(texts, padding=True, return_tensors="pt"), **options, logits_processor=words
    )
    assert torch.equal(model.generate(**tokenizer(texts), **options, logits_processor=words).sequences, expected)


def test_prompts_numbers_are_told_or_left_out():
    space = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=2)
    numbers = [0, 1, -20000, "1/2", "7/30", "-22/49", 10**9, "3.14159265358979", "123456789012345678901/7", 10**400]
    settings = NumberSettings(space=space, token_id=0)  # the bound is the space's, not the head's
    reals, digits = adelic_targets(space, numbers)
    found = prompt_numbers(settings, torch.zeros(len(numbers), dtype=torch.int64), reals.float(), digits)
    assert found.tolist() == [0, 1, -20000, *map(Fraction, ("1/2", "7/30", "-22/49")), None, None, None, None]
    none_known = adelic_targets(space, [Fraction(1, 30030)])
    assert prompt_numbers(settings, torch.tensor([0]), *none_known).tolist() == [None]


def test_what_a_pipeline_would_not_pass_on_is_refused(equipped):
    model, tokenizer = equipped("GPT2LMHeadModel")
    ids = tokenizer("5 =")["input_ids"]
    with pytest.raises(ConfigurationError, match="generate needs number_reals and number_digits"):
        model.generate(ids, max_new_tokens=1)
    pipeline = transformers.pipeline("text-generation", model=model, tokenizer=tokenizer.tokenizer)
    with pytest.raises(ConfigurationError, match="pipelines do not pass them on"):
        pipeline("5 + 7 =")
    with pytest.raises(AttributeError, match="Pipelines cannot use a NumberTokenizer: generate can"):
        transformers.pipeline("text-generation", model=model, tokenizer=tokenizer)
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        tokenizer.nothing  # noqa: B018


def test_a_masked_models_pipeline_says_that_it_reads_no_number(equipped):
    model, tokenizer = equipped("BertForMaskedLM")
    pipeline = transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer.tokenizer)
    with pytest.warns(UserWarning, match="so it reads no number; NumberTokenizer makes them"):
        pipeline("5 and [MASK]")
