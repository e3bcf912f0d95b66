"""Models read and write numbers, whatever their architecture."""

import copy
import inspect

import pytest
import torch
import transformers

from adelic import AdeleSpace
from adelic.errors import ConfigurationError, EncodingError, SpaceError
from adelic.integrations.transformers import NumberCollator, NumberLayers, NumberSettings, NumberTokenizer, equip
from adelic.nn import adelic_targets

pytestmark = pytest.mark.filterwarnings("ignore:a text's number:UserWarning")  # what these models write is not asked

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
LANGUAGE_MODELS = ["BertForMaskedLM", "GPT2LMHeadModel", "LlamaForCausalLM"]


@pytest.mark.parametrize("operations", [(), ("+", "gcd")])
@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel", "BertForSequenceClassification", "GPT2Model"])
def test_without_numbers_nothing_changes(word_tokenizer, tiny_model, name, operations):
    tokenizer = word_tokenizer()
    model = tiny_model(name, len(tokenizer))
    inputs = tokenizer(["and is and", "is"], padding=True, return_tensors="pt")
    with torch.no_grad():
        before = model(**inputs)[0]
        model = equip(model, tokenizer, SPACE, operations=operations)
        with pytest.warns(UserWarning, match=f"{type(model).__name__} was given no number_reals and number_digits"):
            after = model(**inputs)[0]
        with_numbers = model(**NumberTokenizer(tokenizer, SPACE)(["and is and", "is"]))[0]
    width = before.shape[-1]  # logits have one more word
    torch.testing.assert_close(after[..., :width], before)
    torch.testing.assert_close(with_numbers, after)
    assert isinstance(model, getattr(transformers, name))


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel"])
@pytest.mark.parametrize("features", ["characters", "one-hot-digits", "digits", "multiplicative-characters"])
def test_embeddings_are_the_models_own_plus_the_projection(equipped, name, features, texts):
    model, tokenizer = equipped(name, features=features)
    batch = tokenizer(texts)
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
    """And those of the size that was asked for, also in bfloat16, which does not hold all digits."""
    settings = NumberSettings(space=AdeleSpace((*AdeleSpace().primes, 509), 4), token_id=0, real_scale=100)
    layers = NumberLayers(settings, 64, embedding_std=0.3)
    numbers = [0, 1, -1, 2, 510510, "1/2", "3/2", "-3/2", "1/7", 10**400, -(10**400), 2**200, "1/2"]
    vectors = layers.embed(*(x.float() for x in adelic_targets(layers.settings.space, numbers)))
    assert vectors.isfinite().all()
    assert 0.15 < vectors[:5].std() < 0.6
    low = layers.to(torch.bfloat16).embed(*adelic_targets(settings.space, numbers)).float()
    torch.testing.assert_close(low, vectors, rtol=0.02, atol=0.02 * vectors.abs().max().item())
    distances = torch.cdist(vectors, vectors) + torch.eye(len(numbers))
    assert distances[5, 12] < 1e-5
    distances[5, 12] = distances[12, 5] = 1
    assert distances.min() > 1e-3


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_losses_add_up(equipped, name, batch_for):
    model, tokenizer = equipped(name, loss_weight=0.25)
    batch = batch_for(model, tokenizer)
    outputs = model(**batch)
    first = int(name != "BertForMaskedLM")  # a causal model's state says the next token
    labels = batch["labels"][:, first:]
    at = labels == tokenizer.token_id
    assert at.any()
    states, logits = (outputs[key][:, : labels.shape[1]] for key in ("number_states", "logits"))
    targets = [batch[key][:, first:][at] for key in ("number_reals", "number_digits")]
    number_loss = model.numbers.loss(model.numbers.head(states[at]), tuple(targets))
    torch.testing.assert_close(outputs.number_loss, number_loss)
    language = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(outputs.loss, language + 0.25 * number_loss)


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "AlbertForMaskedLM"])
def test_gradients_reach_projection_head_and_model(equipped, name, batch_for):
    model, tokenizer = equipped(name)
    parts = [model.numbers.projection, model.numbers.head.linear, model.get_input_embeddings()]
    model(**batch_for(model, tokenizer)).loss.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert all(part.weight.grad.abs().sum() > 0 for part in parts)
    model.zero_grad()
    model(**batch_for(model, tokenizer, ["and is and", "is"])).loss.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    assert (parts[0].weight.grad == 0).all()  # there, but 0: distributed training waits for each


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


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_mixed_precision_and_gradient_checkpoints(equipped, name, batch_for):
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


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel"])
@pytest.mark.parametrize("asked", [[0, -1], [1], 2, -3, [7, -7]])
def test_hidden_states_of_some_layers(equipped, tiny_model, name, asked, texts):
    model, tokenizer = equipped(name)
    batch = tokenizer(texts)
    assert "hidden_states" not in model(**batch)
    assert isinstance(model(**batch, return_dict=False), tuple)
    every = model(**batch, output_hidden_states=True).hidden_states
    some = model(**batch, output_hidden_states=asked).hidden_states
    plain = tiny_model(name, 4)(torch.tensor([[3]]), output_hidden_states=asked).hidden_states
    assert [state is None for state in some] == [state is None for state in plain]
    assert all(state is None or torch.equal(state, whole) for state, whole in zip(some, every, strict=True))


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel"])
def test_arguments_by_position(equipped, name, texts):
    model, tokenizer = equipped(name)
    batch = tokenizer(texts)
    names = list(inspect.signature(model.forward).parameters)
    given = [batch.get(name) for name in names[: names.index("number_digits") + 1]]
    assert torch.equal(model(*given).number_states, model(**batch).number_states)
    with pytest.raises(TypeError, match="multiple values"):
        model(batch["input_ids"], **batch)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number_digits": None}, "go together"),
        ({"number_digits": torch.zeros(1, 2, 6, 1)}, r"number_digits of shape \(1, 2, 6, 1\) do not fit"),
        ({"number_digits": torch.zeros(1, 3, 6, 2)}, "do not fit"),
        ({"inputs_embeds": torch.zeros(1, 3, 32)}, "say the same"),
    ],
)
def test_wrong_shapes_of_numbers(equipped, change, message):
    model, tokenizer = equipped("BertModel")
    with pytest.raises(ConfigurationError, match=message):
        model(**tokenizer("1 and 2") | change)


@pytest.mark.parametrize("digit", [13, -1, 2**30])
def test_digits_of_another_space(equipped, digit):
    model, tokenizer = equipped("GPT2LMHeadModel")
    batch = tokenizer("1 and 2")
    batch["number_digits"][0, 2, 5, 0] = digit
    message = rf"^{digit} at position \[0, 2, 5, 0\] is not a digit; the digits there are 0 … 12$"
    with pytest.raises(EncodingError, match=message):
        model(**batch)
    with pytest.raises(EncodingError, match=message):
        model.generate(**batch, max_new_tokens=1)


def test_a_tokenizer_goes_with_one_space(equipped, tiny_model):
    _, tokenizer = equipped("GPT2LMHeadModel")
    plain = copy.deepcopy(tokenizer.tokenizer)
    assert type(equip(tiny_model("BertModel", len(plain)), plain, SPACE)).__name__ == "AdelicBertModel"
    bert = tiny_model("BertModel", len(plain))
    with pytest.raises(ConfigurationError, match="the tokenizer goes with a model of"):
        equip(bert, plain, AdeleSpace())
    assert type(bert).__name__ == "BertModel"


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_the_number_token_keeps_its_embedding(equipped, name, texts):
    model, tokenizer = equipped(name)
    size, token_id = model.get_input_embeddings().num_embeddings, tokenizer.token_id
    for options in ({}, {"pad_to_multiple_of": token_id}):
        with pytest.raises(ConfigurationError, match=f"needs at least {token_id + 1} token embeddings, not {token_id}"):
            model.resize_token_embeddings(token_id, **options)
    assert model.get_input_embeddings().num_embeddings == size
    assert model.resize_token_embeddings(token_id, pad_to_multiple_of=8).num_embeddings == 16
    assert model.resize_token_embeddings(token_id + 1).num_embeddings == token_id + 1
    model(**tokenizer(texts))


def replaced(make, size):
    model = make("BertModel", size)
    model.forward = model.forward
    return model


def without_weights(make, size):
    with torch.device("meta"):
        return make("BertModel", size)


def encoder_decoder(_make, size):
    sizes = {"vocab_size": size, "d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    return transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes))


def bert(make, size):
    return make("BertModel", size)


FOUR = ("+", "-", "*", "/")


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        (encoder_decoder, {}, ConfigurationError, "is an encoder-decoder"),
        (replaced, {}, ConfigurationError, "was replaced, as device_map"),
        (without_weights, {}, ConfigurationError, "is on the device meta; equip it when it has weights"),
        (bert, {"features": "fourier"}, ConfigurationError, "features='fourier'"),
        (bert, {"real_scale": 0}, ConfigurationError, "real_scale=0"),
        (bert, {"loss_weight": -1}, ConfigurationError, "loss_weight=-1"),
        (bert, {"space": "space"}, ConfigurationError, "must be an AdeleSpace"),
        (bert, {"max_numerator": 10**6}, SpaceError, "do not tell apart"),
        (bert, {"constants": (60,)}, ConfigurationError, "constants and recent are for operations"),
        (bert, {"operations": FOUR, "constants": "100"}, ConfigurationError, r"'100' is no list of numbers; \(100,"),
        (bert, {"operations": ("+", "plus")}, ConfigurationError, "operations has 'plus'"),
        (bert, {"operations": FOUR, "recent": 0}, ConfigurationError, "recent=0 must be a whole number from 1 to 128"),
        (bert, {"operations": "+-"}, ConfigurationError, "is no list of names"),
        (bert, {"operations": FOUR, "steps": 3}, ConfigurationError, "steps=3 must be 1 or 2"),
        (bert, {"operations": ("gcd",), "steps": 2}, ConfigurationError, "steps=2 needs one of"),
    ],
)
def test_what_cannot_be_equipped(word_tokenizer, tiny_model, make, options, error, message):
    """It is said before anything is changed."""
    tokenizer = word_tokenizer()
    model = make(tiny_model, len(tokenizer))
    with pytest.raises(error, match=message):
        equip(model, tokenizer, **{"space": SPACE} | options)
    assert not type(model).__name__.startswith("Adelic")
    assert "[NUM]" not in tokenizer.get_vocab()


def test_nothing_is_equipped_twice(equipped):
    model, tokenizer = equipped("BertModel")
    with pytest.raises(ConfigurationError, match="AdelicBertModel is equipped already"):
        equip(model, tokenizer.tokenizer, SPACE)
