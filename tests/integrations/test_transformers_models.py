"""Models read and write numbers, whatever their architecture."""

import copy
from fractions import Fraction

import pytest
import torch

from adelic import AdeleSpace
from adelic.errors import ConfigurationError, SpaceError
from adelic.nn import adelic_targets

transformers = pytest.importorskip("transformers")

from adelic.integrations.transformers import (  # noqa: E402
    NumberCollator,
    NumberLayers,
    NumberSettings,
    NumberTokenizer,
    equip,
    from_pretrained,
)
from adelic.integrations.transformers.generating import NumberMemory  # noqa: E402

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
LANGUAGE_MODELS = ["BertForMaskedLM", "GPT2LMHeadModel", "LlamaForCausalLM"]
GENERATORS = LANGUAGE_MODELS[1:]
TEXTS = ["1 and -7/11 is 2", "3 + 4", "and"]


@pytest.fixture
def equipped(word_tokenizer, tiny_model):
    """Return equipped models with their number tokenizers."""

    def make(name, *, space=SPACE, model_options=None, **options):
        tokenizer = word_tokenizer(padding_side="left")
        model = equip(tiny_model(name, len(tokenizer), **model_options or {}), tokenizer, space, **options)
        return model, NumberTokenizer(tokenizer, space)

    return make


def batch_for(model, tokenizer, texts=TEXTS):
    options = {"mask_probability": 0.5, "seed": 1} if model.objective == "masked" else {}
    return NumberCollator(tokenizer, model.objective, **options)(texts)


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel", "BertForSequenceClassification", "GPT2Model"])
def test_without_numbers_nothing_changes(word_tokenizer, tiny_model, name):
    tokenizer = word_tokenizer()
    model = tiny_model(name, len(tokenizer))
    inputs = tokenizer(["and is and", "is"], padding=True, return_tensors="pt")
    with torch.no_grad():
        before = model(**inputs)[0]
        model = equip(model, tokenizer, SPACE)
        after = model(**inputs)[0]
        with_numbers = model(**NumberTokenizer(tokenizer, SPACE)(["and is and", "is"]))[0]
    width = before.shape[-1]  # logits have one more word
    torch.testing.assert_close(after[..., :width], before)
    torch.testing.assert_close(with_numbers, after)
    assert isinstance(model, getattr(transformers, name))


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel"])
@pytest.mark.parametrize("features", ["characters", "one-hot-digits", "digits"])
def test_embeddings_are_the_models_own_plus_the_projection(equipped, name, features):
    model, tokenizer = equipped(name, features=features)
    batch = tokenizer(TEXTS)
    ids = batch["input_ids"]
    embeddings = model.get_input_embeddings()(ids)
    is_number = ids == tokenizer.token_id
    vectors = model.numbers.embed(batch["number_reals"], batch["number_digits"])
    assert (vectors[~is_number] == 0).all()
    assert vectors[is_number].abs().sum(dim=-1).min() > 0
    with torch.no_grad():
        outputs = model(**batch).number_states
        wanted = model(inputs_embeds=embeddings + vectors, attention_mask=batch["attention_mask"]).number_states
    torch.testing.assert_close(outputs, wanted)


def test_equal_numbers_have_equal_vectors_and_others_differ():
    layers = NumberLayers(NumberSettings(space=AdeleSpace(precision=4), token_id=0, real_scale=100), 64)
    numbers = [0, 1, -1, 2, 510510, "1/2", "3/2", "-3/2", "1/7", 10**400, -(10**400), 2**200, "1/2"]
    vectors = layers.embed(*(x.float() for x in adelic_targets(layers.settings.space, numbers)))
    assert vectors.isfinite().all()
    distances = torch.cdist(vectors, vectors) + torch.eye(len(numbers))
    assert distances[5, 12] < 1e-5
    distances[5, 12] = distances[12, 5] = 1
    assert distances.min() > 1e-3


def test_embedded_numbers_are_as_large_as_the_models_own_embeddings(equipped):
    model, tokenizer = equipped("LlamaForCausalLM", model_options={"initializer_range": 0.3})
    batch = tokenizer(" and ".join(str(n) for n in range(200)))
    at = batch["input_ids"] == tokenizer.token_id
    vectors = model.numbers.embed(batch["number_reals"][at], batch["number_digits"][at])
    assert 0.15 < vectors.std() < 0.6


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_losses_add_up(equipped, name):
    model, tokenizer = equipped(name, loss_weight=0.25)
    batch = batch_for(model, tokenizer)
    outputs = model(**batch)
    own = model.numbers.head(outputs.number_states)
    states, labels = (own, batch["labels"]) if name == "BertForMaskedLM" else (own, batch["labels"][:, 1:])
    offset = 0 if name == "BertForMaskedLM" else 1
    at = labels == tokenizer.token_id
    assert at.any()
    reals, digits = batch["number_reals"][:, offset:][at], batch["number_digits"][:, offset:][at]
    length = labels.shape[1]
    chosen = type(states)(states.real[:, :length][at], states.logits[:, :length][at])
    number_loss = model.numbers.loss(chosen, (reals, digits))
    torch.testing.assert_close(outputs.number_loss, number_loss)
    without = {key: value for key, value in batch.items() if key != "labels"}
    logits = model(**without).logits[:, :length]
    language = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(outputs.loss, language + 0.25 * number_loss)


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "AlbertForMaskedLM"])
def test_gradients_reach_projection_head_and_model(equipped, name):
    model, tokenizer = equipped(name)
    model(**batch_for(model, tokenizer)).loss.backward()
    for name_, parameter in model.named_parameters():
        assert parameter.grad is not None, name_
    assert model.numbers.projection.weight.grad.abs().sum() > 0
    assert model.numbers.head.linear.weight.grad.abs().sum() > 0
    assert model.get_input_embeddings().weight.grad.abs().sum() > 0


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_a_batch_without_numbers_trains_too(equipped, name):
    model, tokenizer = equipped(name)
    loss = model(**batch_for(model, tokenizer, ["and is and", "is"])).loss
    loss.backward()
    assert loss.isfinite()
    assert (model.numbers.projection.weight.grad == 0).all()  # there, but 0: distributed training waits for each


def test_a_masked_number_is_not_read(equipped):
    model, tokenizer = equipped("BertForMaskedLM")
    one, other = tokenizer("1 and 5"), tokenizer("1 and 6")
    for batch in (one, other):
        batch["input_ids"][0, 2] = tokenizer.tokenizer.mask_token_id
    assert torch.equal(model(**one).logits, model(**other).logits)
    assert not torch.equal(model(**tokenizer("1 and 5")).logits, model(**tokenizer("1 and 6")).logits)


def test_classifiers_train_by_their_own_loss(equipped):
    model, tokenizer = equipped("BertForSequenceClassification")
    batch = NumberCollator(tokenizer, model.objective)([{"text": "7", "label": 1}, {"text": "8", "label": 0}])
    outputs = model(**batch)
    outputs.loss.backward()
    assert "number_loss" not in outputs
    assert model.numbers.projection.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel", "AlbertForMaskedLM"])
def test_saved_and_loaded(equipped, tmp_path, name):
    space = AdeleSpace(primes=(3, 5, 7, 11), precision=3, fractional_digits=1)
    model, tokenizer = equipped(
        name, space=space, features="one-hot-digits", real_scale=7.5, max_numerator=40, max_denominator=2
    )
    torch.nn.init.normal_(model.get_input_embeddings().weight)
    batch = tokenizer(TEXTS)
    model.save_pretrained(tmp_path)
    tokenizer.tokenizer.save_pretrained(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} <= {".json", ".safetensors", ".jinja"}
    again = from_pretrained(tmp_path)
    assert type(again) is type(model)
    assert again.numbers.settings == model.numbers.settings
    assert {key: value.tolist() for key, value in again.numbers.named_buffers()} == {
        key: value.tolist() for key, value in model.numbers.named_buffers()
    }
    other = NumberTokenizer(transformers.AutoTokenizer.from_pretrained(tmp_path), again.numbers.settings.space)
    with torch.no_grad():
        assert torch.equal(again(**other(TEXTS)).number_states, model(**batch).number_states)
        states = model(**batch).number_states
        assert torch.equal(again.numbers.predict(states).logits, model.numbers.predict(states).logits)


def test_loaded_in_bfloat16_and_converted_to_it(equipped, tmp_path):
    model, tokenizer = equipped("LlamaForCausalLM")
    model.save_pretrained(tmp_path)
    batch = tokenizer(TEXTS)
    expected = model(**batch).number_states
    for low in (from_pretrained(tmp_path, dtype=torch.bfloat16), model.to(torch.bfloat16)):
        assert low.numbers.projection.weight.dtype == torch.bfloat16
        states = low(**batch).number_states
        assert states.dtype == torch.bfloat16
        torch.testing.assert_close(states.float(), expected, rtol=0.1, atol=0.1)
        low(**batch_for(low, tokenizer)).loss.backward()
        assert low.numbers.head.linear.weight.grad.isfinite().all()


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_mixed_precision_and_gradient_checkpoints(equipped, name):
    model, tokenizer = equipped(name)
    batch = batch_for(model, tokenizer)
    expected = model(**batch).loss
    model.train()
    getattr(model, "activation_checkpointing_enable", model.gradient_checkpointing_enable)()  # the new and the old name
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(**batch).loss
    loss.backward()
    torch.testing.assert_close(loss, expected, rtol=0.2, atol=0.2)
    assert model.numbers.projection.weight.grad.isfinite().all()
    assert model.numbers.head.linear.weight.grad.abs().sum() > 0


def test_great_primes_in_bfloat16(equipped):
    space = AdeleSpace(primes=(257, 509), precision=1)
    model, _ = equipped("LlamaForCausalLM", space=space, max_numerator=100)
    numbers = adelic_targets(space, list(range(500)))
    expected = model.numbers.embed(*numbers)
    low = model.to(torch.bfloat16).numbers.embed(*numbers).float()
    torch.testing.assert_close(low, expected, rtol=0.02, atol=0.02 * expected.abs().max().item())


def test_what_is_not_equipped_or_unknown_is_not_loaded(tiny_model, equipped, tmp_path):
    tiny_model("GPT2LMHeadModel", 10).save_pretrained(tmp_path / "plain")
    with pytest.raises(ConfigurationError, match="holds no equipped model"):
        from_pretrained(tmp_path / "plain")
    model, _ = equipped("GPT2LMHeadModel")
    for wrong in ("os", "AutoModel", "GPT2Config", None):
        model.config.adelic["model"] = wrong
        model.save_pretrained(tmp_path / "wrong")
        with pytest.raises(ConfigurationError, match="is no model class of Transformers"):
            from_pretrained(tmp_path / "wrong")
    model.config.adelic["model"] = "GPT2LMHeadModel"
    model.config.adelic["surprise"] = 1
    model.save_pretrained(tmp_path / "wrong")
    with pytest.raises(ConfigurationError, match="surprise"):
        from_pretrained(tmp_path / "wrong")


def test_the_plain_model_is_still_in_the_folder(equipped, tmp_path):
    model, tokenizer = equipped("GPT2LMHeadModel")
    model.save_pretrained(tmp_path)
    plain = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    ids = tokenizer("and is")["input_ids"]
    assert torch.equal(plain(ids).logits, model(ids).logits)


def test_copies_are_equal(equipped):
    model, tokenizer = equipped("GPT2LMHeadModel")
    batch = tokenizer(TEXTS)
    assert torch.equal(copy.deepcopy(model)(**batch).logits, model(**batch).logits)


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
    assert (written.numbers[:, : choose.start] == None).all()  # noqa: E711
    is_number = written.sequences[:, choose.start :] == tokenizer.token_id
    assert all(isinstance(value, Fraction) for value in written.numbers[:, choose.start :][is_number.numpy()])
    assert len(set(written.numbers[:, choose.start :][is_number.numpy()])) > 2
    # Again, all at once: the numbers as they would stand in a text.
    memory = NumberMemory(model.numbers, (prompts["number_reals"], prompts["number_digits"]), prompts["input_ids"])
    reals, digits, mask = memory.reals, memory.digits, prompts["attention_mask"]
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
    "options", [{"num_beams": 2}, {"prompt_lookup_num_tokens": 2}, {"prefill_chunk_size": 1}, {"guidance_scale": 2.0}]
)
def test_ways_of_generating_that_lose_numbers_are_refused(equipped, options):
    model, tokenizer = equipped("GPT2LMHeadModel")
    with pytest.raises(ConfigurationError, match=f"{next(iter(options))}=.* does not go with numbers"):
        model.generate(**tokenizer("5 ="), max_new_tokens=2, **options)
    with pytest.raises(ConfigurationError, match="does not go with numbers"):
        model.generate(**tokenizer("5 ="), generation_config=transformers.GenerationConfig(**options))


def test_generate_needs_prompts(equipped):
    model, _ = equipped("GPT2LMHeadModel")
    with pytest.raises(ConfigurationError, match="needs input_ids"):
        model.generate(max_new_tokens=1)


def test_tuples_and_hidden_states_when_asked_for(equipped):
    model, tokenizer = equipped("BertForMaskedLM")
    batch = batch_for(model, tokenizer)
    assert "hidden_states" not in model(**batch)
    assert len(model(**batch, output_hidden_states=True).hidden_states) == 3
    assert isinstance(model(**batch, return_dict=False), tuple)


def test_wrong_shapes_of_numbers(equipped):
    model, tokenizer = equipped("BertModel")
    batch = tokenizer("1 and 2")
    with pytest.raises(ConfigurationError, match="go together"):
        model(batch["input_ids"], number_reals=batch["number_reals"])
    with pytest.raises(ConfigurationError, match=r"number_digits of shape \(1, 2, 6, 1\) do not fit"):
        model(batch["input_ids"], number_reals=batch["number_reals"], number_digits=batch["number_digits"][:, 1:])
    with pytest.raises(ConfigurationError, match="say the same"):
        model(batch["input_ids"], inputs_embeds=torch.zeros(1, 3, 32))
    other = NumberTokenizer(tokenizer.tokenizer, AdeleSpace())("1 and 2")
    with pytest.raises(ConfigurationError, match="do not fit"):
        model(**other)


def test_what_cannot_be_equipped(equipped, word_tokenizer, tiny_model):
    model, tokenizer = equipped("BertModel")
    with pytest.raises(ConfigurationError, match="AdelicBertModel is equipped already"):
        equip(model, tokenizer.tokenizer, SPACE)
    t5 = transformers.T5ForConditionalGeneration(
        transformers.T5Config(vocab_size=20, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
    )
    plain = word_tokenizer()
    with pytest.raises(ConfigurationError, match="is an encoder-decoder"):
        equip(t5, plain, SPACE)
    hooked = tiny_model("BertModel", len(plain))
    hooked.forward = hooked.forward
    with pytest.raises(ConfigurationError, match="was replaced, as device_map"):
        equip(hooked, plain, SPACE)
    bert = tiny_model("BertModel", len(plain))
    for options, message in (
        ({"features": "fourier"}, "features='fourier'"),
        ({"real_scale": 0}, "real_scale=0"),
        ({"loss_weight": -1}, "loss_weight=-1"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            equip(bert, plain, SPACE, **options)
    with pytest.raises(ConfigurationError, match="is no AdeleSpace"):
        equip(bert, plain, "space")
    with pytest.raises(SpaceError, match="do not tell apart"):
        equip(bert, plain, SPACE, max_numerator=10**6)
    assert type(bert).__name__ == "BertModel"
    assert "[NUM]" not in plain.get_vocab()
