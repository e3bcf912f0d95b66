"""Language models that compute exactly: `equip(operations=)`, what it learns from, writes, saves and refuses."""

import copy
import pickle
import random
import re
from fractions import Fraction

import numpy as np
import pytest
import torch
import transformers

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.integrations.transformers import NumberCollator, NumberTokenizer, equip, from_pretrained
from adelic.nn import exact_numbers

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
FOUR = ("+", "-", "*", "/")


def question(rng, size=100):
    """Return a question and its answer."""
    a, b, operation = rng.randrange(1, size), rng.randrange(1, size), rng.choice(FOUR)
    answer = {"+": a + b, "-": a - b, "*": a * b, "/": Fraction(a, b)}[operation]
    return {"prompt": f"{a} {operation} {b} =", "completion": f" {answer}"}


@pytest.fixture(scope="module")
def trained(word_tokenizer, tiny_model, fit):
    """Return a small Llama that has learned the four operations from answers, and its tokenizer."""
    tokenizer = word_tokenizer(padding_side="left")
    model = equip(tiny_model("LlamaForCausalLM", len(tokenizer)), tokenizer, SPACE, real_scale=100, operations=FOUR)
    number_tokenizer = NumberTokenizer(tokenizer)
    collator, rng = NumberCollator(number_tokenizer, model.objective), random.Random(0)
    batches = [collator([question(rng) for _ in range(32)]) for _ in range(80)]
    assert model(**batches[0]).number_derivable == 1
    model.numbers.operations.n_steps.zero_()
    return fit(model, batches, 5e-3), number_tokenizer


def test_a_model_computes_exactly_with_numbers_that_it_never_saw(trained):
    model, tokenizer = trained
    examples = [question(random.Random(1), 10**50) for _ in range(50)] + [question(random.Random(2)) for _ in range(50)]
    written = model.generate(
        **tokenizer([example["prompt"] for example in examples]), max_new_tokens=1, do_sample=False
    )
    assert [f" {value}" for value in written.numbers[:, -1]] == [example["completion"] for example in examples]
    assert tokenizer.decode(written.sequences, written.numbers)[0] == "".join(examples[0].values())


def test_a_number_greater_than_all_of_training_looks_as_the_greatest_of_these(trained):
    model, tokenizer = trained
    layers = model.numbers
    assert layers.greatest_size.item() == pytest.approx(np.arcsinh(99 * 99 / 100), abs=3)  # it also read answers
    digits = tokenizer(["7"])["number_digits"][0]
    seen = float(np.sinh(layers.greatest_size.item()) * 100)
    vectors = [layers.embed(torch.tensor([real]), digits) for real in (seen, 1e30, torch.inf)]
    assert torch.allclose(vectors[0], vectors[1], atol=1e-5)
    assert torch.equal(vectors[1], vectors[2])
    assert not torch.equal(vectors[0], layers.embed(torch.tensor([seen / 2]), digits))


def test_each_written_number_says_how_it_came_about(trained):
    model, tokenizer = trained
    written = model.generate(**tokenizer(["12.5 * 8 =", "-3 - 1/3 ="]), max_new_tokens=1, do_sample=False)
    assert written.numbers[:, -1].tolist() == [100, Fraction(-10, 3)]
    assert written.derivations[:, -1].tolist() == ["12.5 × 8", "(−3) − 1/3"]
    assert written.derivations.shape == written.numbers.shape == tuple(written.sequences.shape)
    assert not written.derivations[:, :-1].any()
    assert np.isnan(written.probabilities[:, :-1]).all()
    assert ((written.probabilities[:, -1] > 0.9) & (written.probabilities[:, -1] < 1.0001)).all()
    assert written.numbers[0, :-1].tolist() == [Fraction(25, 2), None, 8, None]


@pytest.mark.parametrize(
    ("prompt", "derivations"),
    [("[NUM] + 5 =", "5|free"), ("is =", "None|free"), ("7 / 0 =", "7|0|free|7 [^÷].*|0 .*")],
)
def test_what_no_number_is_made_of(trained, prompt, derivations):
    """A token that says no number is not chosen, nor is a division by zero; without numbers the other head writes."""
    model, tokenizer = trained
    written = model.generate(**tokenizer([prompt]), max_new_tokens=1, do_sample=False, num_return_sequences=1)
    assert re.fullmatch(derivations, str(written.derivations[0, -1]))


@pytest.mark.parametrize("options", [{"use_cache": False}, {"num_beams": 3}, {"do_sample": True, "num_beams": 1}])
def test_numbers_that_were_written_are_numbers_of_the_context(trained, options, only):
    model, tokenizer = trained
    alone = only(tokenizer.token_id)
    options = {"do_sample": False, "logits_processor": alone} | options
    prompts = ["7 * 8 =", "10 + 20 ="]
    written = model.generate(**tokenizer(prompts), max_new_tokens=3, **options)
    plain = model.generate(**tokenizer(prompts), max_new_tokens=3, do_sample=False, logits_processor=alone)
    assert written.numbers[:, -3:].tolist() == plain.numbers[:, -3:].tolist()
    assert written.derivations[:, -3:].tolist() == plain.derivations[:, -3:].tolist()
    assert written.numbers[0, -3] == 56
    single = model.generate(**tokenizer(prompts[:1]), max_new_tokens=3, **options)
    assert single.derivations[0, -3:].tolist() == written.derivations[0, -3:].tolist()
    for row in range(2):  # each is made of numbers before it
        for at in range(-3, 0):
            shown = written.derivations[row, at].replace("−", "-")
            before = {str(value) for value in written.numbers[row, :at] if value is not None}
            parts = [part.strip("() ") for sign in "×÷" for part in shown.split(sign)]
            assert shown == "free" or before & {*parts, *shown.replace("+", " ").split()}


def test_saved_copied_and_pickled_it_computes_the_same(trained, tmp_path):
    model, tokenizer = trained
    model.save_pretrained(tmp_path)
    tokenizer.tokenizer.save_pretrained(tmp_path)
    plain = transformers.AutoTokenizer.from_pretrained(tmp_path, padding_side="left")
    batch = NumberTokenizer(plain)(["7 * 8 =", "10 + 20 ="])
    expected = model.generate(**batch, max_new_tokens=1, do_sample=False)
    for again in (from_pretrained(tmp_path), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        written = again.generate(**batch, max_new_tokens=1, do_sample=False)
        assert np.array_equal(written.numbers, expected.numbers)
        assert np.array_equal(written.derivations, expected.derivations)
        assert again.numbers.settings == model.numbers.settings
        assert again.numbers.operations.n_steps == 80
        assert again.numbers.greatest_size == model.numbers.greatest_size
    low = from_pretrained(tmp_path, dtype=torch.bfloat16)
    assert low.numbers.operations.pair.dtype == torch.bfloat16
    assert low.generate(**batch, max_new_tokens=1, do_sample=False).numbers[:, -1].tolist() == [56, 30]


def test_two_steps_write_one_number(equipped, tmp_path, fit):
    model, tokenizer = equipped("LlamaForCausalLM", operations=FOUR, steps=2)
    collator = NumberCollator(tokenizer, "causal")
    batch = collator([{"prompt": "3 and 5 and 20 =", "completion": " 160"}])
    assert model(**batch).number_derivable == 1  # (3 + 5) · 20
    fit(model, [batch] * 40).save_pretrained(tmp_path)
    prompt = tokenizer(["3 and 5 and 20 ="])
    for again in (model, from_pretrained(tmp_path)):
        written = again.generate(**prompt, max_new_tokens=1, do_sample=False)
        assert written.numbers[0, -1] == 160
        assert written.derivations[0, -1] == "(3 + 5) × 20"
    low = from_pretrained(tmp_path, dtype=torch.bfloat16)
    assert low(**batch).loss.isfinite()
    assert low.generate(**prompt, max_new_tokens=1, do_sample=False).numbers[0, -1] == 160


def test_long_contexts_need_the_option(equipped):
    text = " and ".join(map(str, range(1, 501)))
    for recent, answer, derivable in ((None, 999, None), (4, 999, 1), (4, 3, 1), (4, 5, 0)):  # 499 + 500, 500 − 497
        model, tokenizer = equipped("LlamaForCausalLM", operations=FOUR, recent=recent)
        batch = NumberCollator(tokenizer, "causal")([{"prompt": text + " =", "completion": f" {answer}"}])
        if recent:
            assert model(**batch).number_derivable == derivable
        else:
            with pytest.raises(ConfigurationError, match=r"there are 500 numbers in a context.*; recent=128 chooses"):
                model(**batch)


def test_what_is_learned_needs_the_numbers_themselves(trained):
    model, tokenizer = trained
    batch = NumberCollator(tokenizer, "causal")([{"prompt": "1 + 2 =", "completion": " 3"}])
    without = {key: value for key, value in batch.items() if key != "number_limbs"}
    with pytest.raises(ConfigurationError, match="learns from input_ids and number_limbs"):
        model(**without)
    with pytest.raises(ConfigurationError, match="number_limbs of shape"):
        model(**without, number_limbs=exact_numbers([[1, 2]]))
    prompt = {key: value for key, value in tokenizer("1 + 2 =").items() if key != "number_limbs"}
    with pytest.raises(ConfigurationError, match="needs number_limbs to generate"):
        model.generate(**prompt, max_new_tokens=1)


def test_an_answer_that_neither_head_can_say_is_told_of_and_left_out(equipped):
    model, tokenizer = equipped("LlamaForCausalLM", operations=("+",), max_numerator=50)
    collator = NumberCollator(tokenizer, "causal")
    with pytest.warns(UserWarning, match=r"^no operation on numbers of the context gives a number.*max_numerator"):
        outputs = model(**collator([{"prompt": "1 + 2 =", "completion": " 365"}]))
    assert outputs.number_loss == 0
    model(**collator([{"prompt": "1 + 2 =", "completion": " 366"}]))  # said once
    other, tokenizer = equipped("LlamaForCausalLM", operations=("+",), max_numerator=400)
    assert other(**NumberCollator(tokenizer, "causal")([{"prompt": "1 + 2 =", "completion": " 365"}])).number_loss > 1


def test_texts_of_another_models_tokenizer_are_refused(trained, word_tokenizer, tiny_model):
    model, _ = trained
    tokenizer = word_tokenizer("other", "words", padding_side="left")
    equip(tiny_model("LlamaForCausalLM", len(tokenizer)), tokenizer, SPACE, operations=FOUR)
    with pytest.raises(ConfigurationError, match="went through the tokenizer of another model"):
        model.generate(**NumberTokenizer(tokenizer)("1 + 2 ="), max_new_tokens=1)


@pytest.mark.parametrize(
    ("texts", "at", "is_hidden", "share"),
    [
        (["7 + 8 = 15", "7 + 8 = 16"], 0, True, 0),  # 15 − 8 is no sum, and nothing gives 7
        (["7 + 8 = 15", "7 + 8 = 16"], -1, True, 0.5),
        (["7 + 8 = 15", "7 + 8 = 16"], -1, False, 0.5),  # what is said and stays visible is not derived from itself
        (["7 + 8 = 15"], 2, False, 0),  # from both sides: 7 + 15 does not give 8
        (["7 and 22 and 15"], 2, False, 1),
    ],
)
def test_masked_models_choose_among_the_numbers_on_both_sides(equipped, texts, at, is_hidden, share):
    model, tokenizer = equipped("BertForMaskedLM", operations=("+",))
    batch = dict(tokenizer(texts))
    labels = torch.full_like(batch["input_ids"], -100)
    labels[:, at] = tokenizer.token_id
    if is_hidden:
        batch["input_ids"][:, at] = tokenizer.tokenizer.mask_token_id
    assert model(**batch, labels=labels).number_derivable == share


def test_hidden_numbers_are_computed_with_and_not_seen(trained):
    model, tokenizer = trained
    examples = [{"prompt": f"{a} + 3 =", "completion": f" {a + 3}"} for a in (5, 70)]
    seen, hidden = (NumberCollator(tokenizer, "causal", hidden=share)(examples) for share in (0.0, 1.0))
    assert hidden["number_reals"].isnan().all()
    assert {key for key in seen if not torch.equal(seen[key], hidden[key])} == {"number_reals"}
    with torch.no_grad():
        states = model(**hidden).number_states
        outputs, shown = model(**hidden), model(**seen).number_states
    assert torch.equal(states[0], states[1])
    assert not torch.allclose(shown[0], shown[1])
    assert outputs.number_derivable == 1
    assert outputs.number_loss.isfinite()


def test_a_share_of_examples_is_hidden_the_same_for_a_seed(trained):
    examples = [f"{k} + 1 =" for k in range(400)]
    found = [NumberCollator(trained[1], "causal", hidden=0.25, seed=seed)(examples) for seed in (1, 1, 2)]
    shares = [batch["number_reals"].isnan().all(dim=1) for batch in found]
    assert torch.equal(shares[0], shares[1])
    assert not torch.equal(shares[0], shares[2])
    assert 60 < int(shares[0].sum()) < 140


@pytest.mark.parametrize(
    ("hidden", "operations", "message"),
    [(1.5, FOUR, "hidden=1.5 is no share"), (np.nan, FOUR, "hidden=nan is no share"), (0.5, (), "hidden=0.5 is for")],
)
def test_what_cannot_be_hidden_is_refused(equipped, hidden, operations, message):
    _, tokenizer = equipped("LlamaForCausalLM", operations=operations)
    with pytest.raises(ConfigurationError, match=message):
        NumberCollator(tokenizer, "causal", hidden=hidden)


def test_padding_is_on_the_right_in_training_and_changes_nothing(trained):
    model, tokenizer = trained
    assert tokenizer.tokenizer.padding_side == "left"
    collator = NumberCollator(tokenizer, "causal")
    examples = [{"prompt": "7 * 8 =", "completion": " 56"}, {"prompt": "1 + 2 + 3 * 4 =", "completion": " 15"}]
    alone = [model(**collator([example])).number_loss.item() for example in examples]
    together = collator(examples)
    assert together["attention_mask"][0].tolist() == [1] * 5 + [0] * 4
    assert model(**together).number_loss.item() == pytest.approx(sum(alone) / 2, rel=1e-3)
