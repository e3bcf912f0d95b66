"""Models write numbers, and read what they have written, whatever way sequences are chosen."""

from fractions import Fraction

import pytest
import torch

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.nn import adelic_targets

transformers = pytest.importorskip("transformers")

from adelic.integrations.transformers import NumberSettings  # noqa: E402
from adelic.integrations.transformers.generating import NumberMemory, prompt_numbers  # noqa: E402
from adelic.integrations.transformers.layers import unknown_numbers  # noqa: E402

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
@pytest.mark.parametrize("use_cache", [True, False])
def test_written_numbers_are_read_by_the_model(equipped, name, use_cache):
    """Each step of `generate` equals a whole forward pass over the text so far, with the numbers that were written."""
    model, tokenizer = equipped(name, max_numerator=15014)  # any digits are a number
    torch.nn.init.normal_(model.numbers.head.linear.weight)
    plus = tokenizer.tokenizer.convert_tokens_to_ids("+")
    choose = prefer([tokenizer.token_id, tokenizer.token_id, plus])
    prompts = tokenizer(["5 + 7 =", "2 ="])
    choose.start = prompts["input_ids"].shape[1]
    options = {"use_cache": use_cache, "do_sample": False, "logits_processor": [choose]}
    written = model.generate(**prompts, max_new_tokens=6, **options, output_logits=True, return_dict_in_generate=True)
    new = written.sequences[:, choose.start :]
    assert new.tolist() == [[tokenizer.token_id, tokenizer.token_id, plus] * 2] * 2
    assert written.numbers[:, : choose.start].tolist() == [[5, None, 7, None], [None, None, 2, None]]
    is_number = written.sequences[:, choose.start :] == tokenizer.token_id
    assert all(isinstance(value, Fraction) for value in written.numbers[:, choose.start :][is_number.numpy()])
    assert len(set(written.numbers[:, choose.start :][is_number.numpy()])) > 2
    # Again, all at once: the numbers as they would stand in a text.
    reals, digits, mask = prompts["number_reals"], prompts["number_digits"], prompts["attention_mask"]
    for step in range(6):
        so_far = written.sequences[:, : choose.start + step]
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        outputs = model(so_far, number_reals=reals, number_digits=digits, attention_mask=mask, position_ids=positions)
        torch.testing.assert_close(outputs.logits[:, -1], written.logits[step], rtol=1e-4, atol=1e-4)
        value = written.numbers[:, choose.start + step]
        new_reals, new_digits = torch.full((2, 1), torch.nan), torch.full((2, 1, 6, 1), -100, dtype=torch.int32)
        if value[0] is not None:
            assert value.tolist() == model.numbers.decode(outputs.number_states[:, -1]).tolist()
            found = adelic_targets(SPACE, value)
            new_reals, new_digits = found[0].float()[:, None], found[1].int()[:, None]
        reals, digits = torch.cat([reals, new_reals], 1), torch.cat([digits, new_digits], 1)
        mask = torch.cat([mask, mask.new_ones(2, 1)], 1)


@pytest.mark.parametrize("name", GENERATORS)
def test_several_sequences_a_prompt(equipped, name):
    model, tokenizer = equipped(name)
    torch.manual_seed(0)
    prompts = tokenizer(["5 =", "2 and 7 ="])
    choose = prefer([tokenizer.token_id])
    choose.start = prompts["input_ids"].shape[1]
    written = model.generate(
        **prompts, max_new_tokens=3, do_sample=True, num_return_sequences=3, logits_processor=[choose]
    )
    assert written.sequences.shape == written.numbers.shape == (6, choose.start + 3)
    assert len(tokenizer.decode(written.sequences, written.numbers)) == 6
    alone = model.generate(**tokenizer(["5 ="]), max_new_tokens=3, do_sample=False, logits_processor=[choose])
    assert alone.numbers[0, -3:].tolist() == written.numbers[0, -3:].tolist() == written.numbers[2, -3:].tolist()


def test_digits_that_are_no_number_are_read_as_no_number(equipped):
    model, tokenizer = equipped("LlamaForCausalLM", max_numerator=1)
    torch.nn.init.normal_(model.numbers.head.linear.weight, std=3)
    choose = prefer([tokenizer.token_id])
    prompts = tokenizer(["5 =", "2 ="])
    choose.start = prompts["input_ids"].shape[1]
    written = model.generate(**prompts, max_new_tokens=4, do_sample=False, logits_processor=[choose])
    assert None in written.numbers[:, 2:]
    assert any("[NUM]" in text for text in tokenizer.decode(written.sequences[:, 2:], written.numbers[:, 2:]))


@pytest.mark.parametrize(
    "options", [{"prompt_lookup_num_tokens": 2}, {"prefill_chunk_size": 1}, {"guidance_scale": 2.0}]
)
def test_ways_of_generating_that_lose_numbers_are_refused(equipped, options):
    model, tokenizer = equipped("GPT2LMHeadModel")
    with pytest.raises(ConfigurationError, match=f"{next(iter(options))}=.* does not go with numbers"):
        model.generate(**tokenizer("5 ="), max_new_tokens=2, **options)
    with pytest.raises(ConfigurationError, match="does not go with numbers"):
        model.generate(**tokenizer("5 ="), generation_config=transformers.GenerationConfig(**options))


def test_the_refusal_of_an_assistant_is_one_line(equipped):
    model, tokenizer = equipped("GPT2LMHeadModel")
    with pytest.raises(
        ConfigurationError, match=r"^assistant_model=[^\n]{,60} does not go with numbers; leave it out$"
    ):
        model.generate(**tokenizer("5 ="), assistant_model=model)


def test_generate_needs_prompts(equipped):
    model, _ = equipped("GPT2LMHeadModel")
    with pytest.raises(ConfigurationError, match="needs input_ids"):
        model.generate(max_new_tokens=1)


def only(*tokens):
    """Let a language model write these tokens alone, by what it reads."""

    def processor(input_ids, scores):
        kept = torch.full_like(scores, -torch.inf)
        kept[:, list(tokens)] = scores[:, list(tokens)]
        return kept

    return [processor]


def wandering(*tokens):
    """Let a language model write these tokens alone, by scores that jump, so that beams change places."""

    def processor(input_ids, scores):
        kept = torch.full_like(scores, -torch.inf)
        places = torch.arange(1, input_ids.shape[1] + 1)
        for token in tokens:
            kept[:, token] = torch.sin((input_ids * places).sum(dim=1) * 12.9898 + token * 78.233)
        return kept

    return [processor]


def assert_consistent(model, prompts, written):
    """Assert that each written number is what the model says that has read the text before it."""
    start = prompts["input_ids"].shape[1]
    copies = len(written.sequences) // len(prompts["input_ids"])
    n_numbers = 0
    for row, (tokens, values) in enumerate(zip(written.sequences, written.numbers, strict=True)):
        reals, digits = unknown_numbers(SPACE, tuple(tokens.shape))
        for at, value in enumerate(values):
            if value is not None:
                real, places = adelic_targets(SPACE, value)
                reals[at], digits[at] = real.float(), places.int()
        mask = torch.cat([prompts["attention_mask"][row // copies], torch.ones(len(tokens) - start, dtype=torch.int64)])
        states = model(
            tokens[None].clamp(min=0),
            number_reals=reals[None],
            number_digits=digits[None],
            attention_mask=mask[None],
            position_ids=(mask.cumsum(-1) - 1).clamp(min=0)[None],
        ).number_states[0]
        for at in range(start, len(tokens)):
            is_number = tokens[at] == model.numbers.settings.token_id
            n_numbers += is_number
            expected = model.numbers.decode(states[at - 1]).item() if is_number else None
            assert values[at] == expected
    return int(n_numbers)


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize(
    "options", [{}, {"use_cache": False}, {"do_sample": True, "num_return_sequences": 4}, {"num_return_sequences": 3}]
)
def test_beams_follow_their_own_numbers(equipped, name, options):
    model, tokenizer = equipped(name, max_numerator=15014)
    torch.manual_seed(3)
    torch.nn.init.normal_(model.numbers.head.linear.weight)
    prompts = tokenizer(["5 + 7 =", "2 =", "3 + 7 ="])
    plus, equals = tokenizer.tokenizer.convert_tokens_to_ids(["+", "="])
    written = model.generate(
        **prompts,
        **{"do_sample": False} | options,
        max_new_tokens=6,
        num_beams=4,
        logits_processor=wandering(tokenizer.token_id, plus, equals),
    )
    assert written.sequences.shape == written.numbers.shape == (3 * options.get("num_return_sequences", 1), 10)
    assert assert_consistent(model, prompts, written) >= 3
    assert len({*written.numbers[:, 4:].flatten()} - {None}) > 1


@pytest.mark.parametrize("name", GENERATORS)
def test_beams_that_end_with_a_number(equipped, name):
    """Such a beam is no longer among those that go on when its number is to be read."""
    model, tokenizer = equipped(name, max_numerator=15014)
    torch.manual_seed(1)
    torch.nn.init.normal_(model.numbers.head.linear.weight)
    prompts = tokenizer(["5 + 7 =", "2 ="])
    written = model.generate(
        **prompts,
        do_sample=False,
        max_new_tokens=5,
        num_beams=3,
        num_return_sequences=3,
        eos_token_id=tokenizer.token_id,
        pad_token_id=1,
        logits_processor=wandering(tokenizer.token_id, *range(4, 8)),
    )
    new = written.sequences[:, prompts["input_ids"].shape[1] :]
    assert (new == tokenizer.token_id).any()
    assert (new == 1).any()
    assert_consistent(model, prompts, written)


def test_beams_of_prompts_without_numbers_are_the_plain_models(equipped, word_tokenizer, tiny_model):
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


def test_prompts_are_decoded_with_their_numbers(equipped):
    model, tokenizer = equipped("GPT2LMHeadModel")
    prompts = ["3 and -7/11 = 12", "5 + 8 ="]
    plus = tokenizer.tokenizer.convert_tokens_to_ids("+")
    written = model.generate(**tokenizer(prompts), max_new_tokens=1, do_sample=False, logits_processor=only(plus))
    assert tokenizer.decode(written.sequences, written.numbers) == ["3 and -7/11 = 12 +", "5 + 8 = +"]


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


def test_a_memory_follows_sequences_by_their_tokens(equipped):
    model, _ = equipped("GPT2LMHeadModel", max_numerator=15014)
    torch.nn.init.normal_(model.numbers.head.linear.weight)
    ids, token = torch.tensor([[4], [4]]), model.numbers.settings.token_id
    memory = NumberMemory(model.numbers, unknown_numbers(SPACE, (2, 1)), ids, is_kept=True)
    states = torch.randn(4, 32)
    first, _, third, _ = (model.numbers.decode(state).item() for state in states)
    memory.note(states[[0, 0, 2, 2], None])  # two beams of each prompt
    memory.record(torch.tensor([[4, token], [4, 5], [4, token], [4, 6]]))
    memory.note(states[:, None])
    swapped = torch.tensor([[4, 5, 6], [4, token, 6], [4, 6, 6], [4, token, 5]])
    memory.record(swapped)
    assert memory.written(swapped)[0].tolist() == [[None] * 3, [None, first, None], [None] * 3, [None, third, None]]
    expected = adelic_targets(SPACE, [first, third])
    assert torch.equal(memory.reals[[1, 3], 1], expected[0].float())
    assert torch.equal(memory.digits[[1, 3], 1], expected[1].int())
    assert memory.reals[[0, 2]].isnan().all()
