"""Language models that compute exactly: `equip(operations=)`, what it learns from, writes, saves and refuses."""

import copy
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("transformers")

import torch
import transformers

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.integrations.transformers import (
    NumberCollator,
    NumberSettings,
    NumberTokenizer,
    equip,
    from_pretrained,
)
from adelic.nn import exact_numbers, fractions_of

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
FOUR = ("+", "-", "*", "/")


def question(rng, size=100):
    """Return a question and its answer."""
    a, b, operation = rng.randrange(1, size), rng.randrange(1, size), rng.choice(FOUR)
    answer = {"+": a + b, "-": a - b, "*": a * b, "/": Fraction(a, b)}[operation]
    return {"prompt": f"{a} {operation} {b} =", "completion": f" {answer}"}


@pytest.fixture(scope="module")
def trained(word_tokenizer, tiny_model):
    """Return a small Llama that has learned the four operations from answers, and its tokenizer."""
    tokenizer = word_tokenizer(padding_side="left")
    model = equip(tiny_model("LlamaForCausalLM", len(tokenizer)), tokenizer, SPACE, real_scale=100, operations=FOUR)
    number_tokenizer = NumberTokenizer(tokenizer)
    collator, rng = NumberCollator(number_tokenizer, model.objective), random.Random(0)
    optimizer = torch.optim.AdamW(model.train().parameters(), 5e-3)
    for _ in range(80):
        outputs = model(**collator([question(rng) for _ in range(32)]))
        assert outputs.number_derivable == 1
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.eval(), number_tokenizer


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
    assert written.numbers[0, :-1].tolist() == [Fraction(25, 2), None, 8, None]


@pytest.mark.parametrize("options", [{"use_cache": False}, {"num_beams": 3}, {"do_sample": True, "num_beams": 1}])
def test_numbers_that_were_written_are_numbers_of_the_context(trained, options):
    model, tokenizer = trained
    token = tokenizer.token_id

    def numbers_alone(input_ids, scores):
        kept = torch.full_like(scores, -torch.inf)
        kept[:, token] = scores[:, token]
        return kept

    options = {"do_sample": False, "logits_processor": [numbers_alone]} | options
    prompts = ["7 * 8 =", "10 + 20 ="]
    written = model.generate(**tokenizer(prompts), max_new_tokens=3, **options)
    plain = model.generate(**tokenizer(prompts), max_new_tokens=3, do_sample=False, logits_processor=[numbers_alone])
    assert written.numbers[:, -3:].tolist() == plain.numbers[:, -3:].tolist()
    assert written.derivations[:, -3:].tolist() == plain.derivations[:, -3:].tolist()
    assert written.numbers[0, -3] == 56
    alone = model.generate(**tokenizer(prompts[:1]), max_new_tokens=3, **options)
    assert alone.derivations[0, -3:].tolist() == written.derivations[0, -3:].tolist()
    for row in range(2):  # each is made of numbers before it
        for at in range(-3, 0):
            shown = written.derivations[row, at].replace("−", "-")
            before = {str(value) for value in written.numbers[row, :at] if value is not None}
            parts = [part.strip("() ") for sign in "×÷" for part in shown.split(sign)]
            assert shown == "free" or before & {*parts, *shown.replace("+", " ").split()}


def test_several_sequences_a_prompt_have_their_own_derivations(trained):
    model, tokenizer = trained
    written = model.generate(
        **tokenizer(["7 * 8 =", "10 + 20 ="]), max_new_tokens=1, do_sample=True, num_return_sequences=2
    )
    is_number = written.sequences[:, -1] == tokenizer.token_id
    assert [written.derivations[row, -1] is not None for row in range(4)] == is_number.tolist()


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


def test_two_steps_write_one_number(equipped, tmp_path):
    model, tokenizer = equipped("LlamaForCausalLM", operations=FOUR, steps=2)
    collator = NumberCollator(tokenizer, "causal")
    batch = collator([{"prompt": "3 and 5 and 20 =", "completion": " 160"}])
    assert model(**batch).number_derivable == 1  # (3 + 5) · 20
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(40):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
    model.eval().save_pretrained(tmp_path)
    prompt = tokenizer(["3 and 5 and 20 ="])
    for again in (model, from_pretrained(tmp_path)):
        written = again.generate(**prompt, max_new_tokens=1, do_sample=False)
        assert written.numbers[0, -1] == 160
        assert written.derivations[0, -1] == "(3 + 5) × 20"
    low = from_pretrained(tmp_path, dtype=torch.bfloat16)
    assert low(**batch).loss.isfinite()
    assert low.generate(**prompt, max_new_tokens=1, do_sample=False).numbers[0, -1] == 160


def test_weights_of_other_operations_are_refused(equipped):
    model, _ = equipped("LlamaForCausalLM", operations=("+", "-"), constants=(60,))
    for options in ({"operations": ("-", "+"), "constants": (60,)}, {"operations": ("+", "-"), "constants": (100,)}):
        other, _ = equipped("LlamaForCausalLM", **options)
        with pytest.raises(ConfigurationError, match="these weights are of another OperationHead"):
            other.load_state_dict(model.state_dict())


def test_settings_without_operations_are_those_of_before(equipped):
    model, tokenizer = equipped("LlamaForCausalLM")
    assert set(model.config.adelic) == {
        *("model", "space", "token_id", "features", "real_scale", "max_numerator", "max_denominator", "loss_weight")
    }
    assert "number_limbs" not in tokenizer("5 and 7")
    assert model.numbers.operations is None
    assert "derivations" not in model.generate(**tokenizer("5 ="), max_new_tokens=1)


def test_settings_with_operations_are_kept_as_plain_data():
    settings = NumberSettings(space=SPACE, token_id=9, operations=("+", "gcd"), constants=(60, "1/2"), recent=5)
    assert settings.to_dict()["constants"] == ["60", "1/2"]
    assert NumberSettings.from_dict(settings.to_dict()) == settings


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "GPT2LMHeadModel", "BertForMaskedLM"])
def test_texts_without_numbers_give_the_outputs_that_they_gave(name, word_tokenizer, tiny_model):
    tokenizer = word_tokenizer(padding_side="left")
    plain = tiny_model(name, len(tokenizer))
    batch = dict(tokenizer(["and is and", "is"], return_tensors="pt", padding=True))
    expected = plain(**batch).logits
    model = equip(tiny_model(name, len(tokenizer)), tokenizer, SPACE, operations=FOUR)
    logits = model(**NumberTokenizer(tokenizer)(["and is and", "is"])).logits
    torch.testing.assert_close(logits[..., : expected.shape[-1]], expected)


def test_numbers_beyond_int64_go_through_tensors_unharmed(equipped):
    _, tokenizer = equipped("LlamaForCausalLM", operations=FOUR)
    batch = tokenizer([f"{10**40} and -7/3", "and"])
    numbers = fractions_of(batch["number_limbs"])
    assert [value for value in numbers.reshape(-1) if value is not None] == [10**40, Fraction(-7, 3)]


def test_a_token_of_a_text_that_says_no_number_is_not_chosen(trained):
    model, tokenizer = trained
    written = model.generate(**tokenizer(["[NUM] + 5 ="]), max_new_tokens=1, do_sample=False)
    assert written.numbers[0, 0] is None
    assert "5" in written.derivations[0, -1] or written.derivations[0, -1] == "free"


def test_a_text_without_any_number_is_written_by_the_other_head(trained):
    model, tokenizer = trained
    written = model.generate(**tokenizer(["is ="]), max_new_tokens=1, do_sample=False)
    assert written.derivations[0, -1] in (None, "free")


def test_division_by_zero_is_never_chosen(trained):
    model, tokenizer = trained
    written = model.generate(**tokenizer(["7 / 0 ="]), max_new_tokens=1, do_sample=False)
    assert written.numbers[0, -1] is not None
    assert "÷ 0" not in written.derivations[0, -1]


def test_long_contexts_need_the_option(equipped):
    text = " and ".join(map(str, range(1, 501)))
    model, tokenizer = equipped("LlamaForCausalLM", operations=FOUR)
    collator = NumberCollator(tokenizer, "causal")
    with pytest.raises(ConfigurationError, match=r"there are 500 numbers in a context.*; recent=128 chooses among"):
        model(**collator([{"prompt": text + " =", "completion": " 999"}]))
    model, tokenizer = equipped("LlamaForCausalLM", operations=FOUR, recent=4)
    outputs = model(**NumberCollator(tokenizer, "causal")([{"prompt": text + " =", "completion": " 999"}]))
    assert outputs.number_derivable == 1  # 499 + 500
    outputs = model(**NumberCollator(tokenizer, "causal")([{"prompt": text + " =", "completion": " 3"}]))
    assert outputs.number_derivable == 1  # 500 − 497
    outputs = model(**NumberCollator(tokenizer, "causal")([{"prompt": text + " =", "completion": " 5"}]))
    assert outputs.number_derivable == 0


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


def test_answers_that_nothing_gives_are_told_of(equipped):
    model, tokenizer = equipped("LlamaForCausalLM", operations=("+",))
    collator = NumberCollator(tokenizer, "causal")
    batch = collator([{"prompt": "1 + 2 =", "completion": f" {n}"} for n in (3, 70, 80, 85) * 16])
    with pytest.warns(UserWarning, match="^only 25% of 64 numbers to be written"):
        outputs = model(**batch)
    assert outputs.number_derivable == 0.25
    outputs.loss.backward()
    assert all(weight.grad is None or weight.grad.isfinite().all() for weight in model.parameters())


def test_an_answer_that_neither_head_can_say_is_told_of_and_left_out(equipped):
    model, tokenizer = equipped("LlamaForCausalLM", operations=("+",), max_numerator=50)
    collator = NumberCollator(tokenizer, "causal")
    with pytest.warns(UserWarning, match=r"^a number that is to be written comes from none.*max_numerator"):
        outputs = model(**collator([{"prompt": "1 + 2 =", "completion": " 365"}]))
    assert outputs.number_loss == 0
    model(**collator([{"prompt": "1 + 2 =", "completion": " 366"}]))  # said once
    other, tokenizer = equipped("LlamaForCausalLM", operations=("+",), max_numerator=400)
    assert other(**NumberCollator(tokenizer, "causal")([{"prompt": "1 + 2 =", "completion": " 365"}])).number_loss > 1


def test_probabilities_are_those_of_what_was_written(trained):
    model, tokenizer = trained
    written = model.generate(**tokenizer(["7 * 8 =", "3 + 4 ="]), max_new_tokens=1, do_sample=False)
    assert np.isnan(written.probabilities[:, :-1]).all()
    assert (written.probabilities[:, -1] > 0.9).all()
    assert (written.probabilities[:, -1] < 1.0001).all()


def test_texts_of_another_models_tokenizer_are_refused(trained, word_tokenizer, tiny_model):
    model, _ = trained
    tokenizer = word_tokenizer("other", "words", padding_side="left")
    equip(tiny_model("LlamaForCausalLM", len(tokenizer)), tokenizer, SPACE, operations=FOUR)
    with pytest.raises(ConfigurationError, match="went through the tokenizer of another model"):
        model.generate(**NumberTokenizer(tokenizer)("1 + 2 ="), max_new_tokens=1)


def test_a_causal_model_is_trained_with_padding_on_the_right(trained):
    _, tokenizer = trained
    batch = NumberCollator(tokenizer, "causal")([{"prompt": "1 + 2 =", "completion": " 3"}, "1 + 2 + 3 + 4 = 10"])
    assert batch["attention_mask"][0, :5].all()
    assert not batch["attention_mask"][0, 5:].any()
    assert tokenizer.tokenizer.padding_side == "left"


def test_a_text_without_tokens_is_named(trained):
    _, tokenizer = trained
    with pytest.raises(ConfigurationError, match="the text '' has no token"):
        tokenizer([""])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constants": (60,)}, "constants and recent are for operations"),
        ({"operations": FOUR, "constants": "100"}, r"constants='100' is no list of numbers; \(100,\) is one"),
        ({"operations": FOUR, "constants": 100}, r"constants=100 is no list of numbers; \(100,\) is one"),
        ({"operations": ("+", "plus")}, "operations has 'plus'"),
        ({"operations": FOUR, "recent": 0}, "recent=0 must be a whole number from 1 to 128, or None"),
        ({"operations": "+-"}, "is no list of names"),
        ({"operations": FOUR, "steps": 3}, "steps=3 must be 1 or 2"),
        ({"operations": ("gcd",), "steps": 2}, "steps=2 needs one of"),
    ],
)
def test_wrong_options_are_named_before_anything_is_changed(options, message, word_tokenizer, tiny_model):
    tokenizer = word_tokenizer()
    model = tiny_model("LlamaForCausalLM", len(tokenizer))
    with pytest.raises(ConfigurationError, match=message):
        equip(model, tokenizer, SPACE, **options)
    assert "[NUM]" not in tokenizer.get_vocab()


def test_masked_models_choose_among_the_numbers_on_both_sides(equipped):
    model, tokenizer = equipped("BertForMaskedLM", operations=("+",))
    batch = dict(tokenizer(["7 + 8 = 15", "7 + 8 = 16"]))
    token = tokenizer.token_id
    labels = torch.full_like(batch["input_ids"], -100)
    labels[:, 0] = token  # the first number is hidden: 15 − 8 is no sum, but 8 + … none; nothing gives 7
    hidden = batch["input_ids"].clone()
    hidden[:, 0] = tokenizer.tokenizer.mask_token_id
    assert model(**batch | {"input_ids": hidden, "labels": labels}).number_derivable == 0
    labels = torch.full_like(labels, -100)
    labels[:, -1] = token
    hidden = batch["input_ids"].clone()
    hidden[:, -1] = tokenizer.tokenizer.mask_token_id
    assert model(**batch | {"input_ids": hidden, "labels": labels}).number_derivable == 0.5
    # A number that is to be said and stays visible is no derivation of itself.
    outputs = model(**batch | {"labels": labels})
    assert outputs.number_derivable == 0.5
    labels = torch.full_like(labels, -100)
    labels[0, 2] = token  # the number in the middle, alone: 7 + 15 and others do not give 8
    assert model(**batch | {"labels": labels}).number_derivable == 0
    twice = dict(tokenizer(["7 and 22 and 15"]))
    labels = torch.full_like(twice["input_ids"], -100)
    labels[0, 2] = token
    assert model(**twice | {"labels": labels}).number_derivable == 1


def test_left_and_right_padding_say_the_same(trained):
    model, tokenizer = trained
    collator = NumberCollator(tokenizer, "causal")
    examples = [{"prompt": "7 * 8 =", "completion": " 56"}, {"prompt": "1 + 2 + 3 * 4 =", "completion": " 15"}]
    alone = [model(**collator([example])).number_loss.item() for example in examples]
    together = model(**collator(examples)).number_loss.item()
    assert together == pytest.approx(sum(alone) / 2, rel=1e-3)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the exporter, about what the library's models do
def test_exported_with_operations(trained):
    model, tokenizer = trained
    model = copy.deepcopy(model)
    model.config.use_cache = False
    batch, other = dict(tokenizer(["1 and 2", "3"])), dict(tokenizer(["1 + 2 / 3 and -4/7 is 5", "3 + 4"]))
    axes = {key: {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO} for key in batch}
    exported = torch.export.export(model, (), batch, dynamic_shapes=axes, strict=False).module()
    for inputs in (batch, other):
        torch.testing.assert_close(exported(**inputs)["number_states"], model(**inputs)["number_states"])


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
    [
        (1.5, FOUR, "hidden=1.5 is no share"),
        (float("nan"), FOUR, "hidden=nan is no share"),
        (0.5, (), "hidden=0.5 is for"),
    ],
)
def test_what_cannot_be_hidden_is_refused(equipped, hidden, operations, message):
    _, tokenizer = equipped("LlamaForCausalLM", operations=operations)
    with pytest.raises(ConfigurationError, match=message):
        NumberCollator(tokenizer, "causal", hidden=hidden)
