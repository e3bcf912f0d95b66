"""Models are saved, loaded, pickled, exported, copied, and are the same afterwards."""

import copy
import json
import pickle
import re
import subprocess
import sys

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from adelic import AdeleSpace
from adelic.errors import AdelicError, ConfigurationError, SpaceError
from adelic.integrations.transformers import NumberTokenizer, equip, equipped_class, from_pretrained
from adelic.integrations.transformers.layers import NumberSettings

pytestmark = pytest.mark.filterwarnings("ignore:a text's number:UserWarning")  # what these models write is not asked

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
LANGUAGE_MODELS = ["BertForMaskedLM", "GPT2LMHeadModel", "LlamaForCausalLM"]


UNIFORM = AdeleSpace(primes=(3, 5, 7, 11), precision=3, fractional_digits=1)
BY_PRIME = AdeleSpace(precision={3: 5, 5: 3, 7: 3, 11: 2}, fractional_digits=1)


@pytest.mark.parametrize("space", [UNIFORM, BY_PRIME], ids=["one precision", "digits by prime"])
@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel", "AlbertForMaskedLM"])
def test_saved_and_loaded(equipped, tmp_path, name, space, texts):
    model, tokenizer = equipped(
        name, space=space, features="one-hot-digits", real_scale=7.5, max_numerator=40, max_denominator=2
    )
    torch.nn.init.normal_(model.get_input_embeddings().weight)
    batch = tokenizer(texts)
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
        assert torch.equal(again(**other(texts)).number_states, model(**batch).number_states)
        states = model(**batch).number_states
        assert torch.equal(again.numbers.predict(states).logits, model.numbers.predict(states).logits)


def test_settings_of_both_kinds_of_spaces():
    """Those of one number of digits are what they were before there were others."""
    plain = {"primes": [3, 5, 7, 11], "precision": 3, "fractional_digits": 1}
    precisions = (3, {"3": 5, "5": 3, "7": 3, "11": 2})
    for space, precision in zip((UNIFORM, BY_PRIME), precisions, strict=True):
        settings = NumberSettings(space=space, token_id=9)
        text = json.dumps(settings.to_dict())
        assert json.loads(text)["space"] == plain | {"precision": precision}
        assert NumberSettings.from_dict(json.loads(text)) == settings
    of_before = {"space", "token_id", "features", "real_scale", "max_numerator", "max_denominator", "loss_weight"}
    assert set(settings.to_dict()) == of_before
    with_operations = NumberSettings(space=SPACE, token_id=9, operations=("+", "gcd"), constants=(60, "1/2"), recent=5)
    assert with_operations.to_dict()["constants"] == ["60", "1/2"]
    assert NumberSettings.from_dict(with_operations.to_dict()) == with_operations
    with pytest.raises(SpaceError, match="does not have primes, precision and fractional_digits alone"):
        NumberSettings.from_dict(settings.to_dict() | {"space": {"primes": [3]}})


def test_loaded_in_bfloat16_and_converted_to_it(equipped, tmp_path, texts, batch_for):
    model, tokenizer = equipped("LlamaForCausalLM")
    model.save_pretrained(tmp_path)
    batch = tokenizer(texts)
    expected = model(**batch).number_states
    for low in (from_pretrained(tmp_path, dtype=torch.bfloat16), model.to(torch.bfloat16)):
        assert low.numbers.projection.weight.dtype == torch.bfloat16
        states = low(**batch).number_states
        assert states.dtype == torch.bfloat16
        torch.testing.assert_close(states.float(), expected, rtol=0.1, atol=0.1)
        low(**batch_for(low, tokenizer)).loss.backward()
        assert low.numbers.head.linear.weight.grad.isfinite().all()


def test_what_is_not_equipped_is_not_loaded(tiny_model, tmp_path):
    tiny_model("GPT2LMHeadModel", 10).save_pretrained(tmp_path)
    with pytest.raises(ConfigurationError, match="holds no equipped model"):
        from_pretrained(tmp_path)


HOSTILE = [
    ("space", "abc", "are not the settings of an equipped model: .*'str' object is not a mapping"),
    *(
        ("space", {"primes": primes, "precision": precision, "fractional_digits": 0}, message)
        for primes, precision, message in [
            ([2, 2**31 - 1], 1, "space=.* must be an AdeleSpace with at"),
            ([2], 10**7, "space=.* must be an AdeleSpace with at"),
            (list(range(10**5)), 1, "10,001 primes are too many"),
            (7, {"2": 3}, "primes=7 is not a sequence"),
        ]
    ),
    ("real_scale", 10**400, "real_scale=1000000…000 .401 digits. must be positive and finite"),
    ("real_scale", "1", "real_scale='1' must be positive and finite"),
    ("loss_weight", float("nan"), "loss_weight=nan must be finite"),
    ("max_denominator", 0, "max_denominator=0 must be a whole number from 1 on"),
    ("max_numerator", True, "max_numerator=True must be a whole number from 0 on, or None"),
    ("features", ["digits"], r"features=\['digits'\] must be one of"),
    *(("token_id", value, "must be a whole number from 0 on") for value in ("x", -1, True, 2.0, None)),
    ("token_id", 10**9, "has the id 1000000000"),
    ("surprise", 1, "surprise"),
    *(("model", value, "is not a model class of Transformers") for value in ("os", "AutoModel", "GPT2Config", None)),
    ("model", "BertModel", "BertModel takes a BertConfig, not a GPT2Config"),
    ("model", "T5ForConditionalGeneration", "T5ForConditionalGeneration takes a T5Config, not a GPT2Config"),
    ("model", "GPT2PreTrainedModel", "takes no inputs_embeds"),
    ("model", "PreTrainedModel", "PreTrainedModel takes no configuration"),
    ("model", "x" * 1000, "'xxxxxxxxxxxxxxxxxxxx…' is not a model class"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory, tiny_model, word_tokenizer):
    """Return a folder with an equipped model, and its configuration."""
    folder, tokenizer = tmp_path_factory.mktemp("saved"), word_tokenizer()
    equip(tiny_model("GPT2LMHeadModel", len(tokenizer)), tokenizer, SPACE).save_pretrained(folder)
    return folder, json.loads((folder / "config.json").read_text())


def refusal(folder, text):
    """Return the error of loading a model with such a configuration."""
    (folder / "config.json").write_text(text)
    with pytest.raises(AdelicError) as caught:
        from_pretrained(folder)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize(("key", "value", "message"), HOSTILE)
def test_what_a_configuration_asks_for_is_checked_first(saved, key, value, message):
    folder, plain = saved
    told = refusal(folder, json.dumps(plain | {"adelic": plain["adelic"] | {key: value}}))
    assert re.search(message, told)
    assert (f"the entry 'adelic' of the config.json of {folder}: " in told) == (value != 10**9)


@pytest.mark.parametrize(
    "content", ["", "[]", "7", '{"model_type": "no such", "adelic": {}}', '{"adelic": 1e400}', "[" * 9999]
)
def test_a_configuration_that_is_none(saved, content):
    folder, plain = saved
    assert f"the config.json of {folder}" in refusal(folder, content)
    assert f"the model of {folder} cannot be loaded: " in refusal(folder, json.dumps(plain | {"n_embd": 64}))


@pytest.mark.parametrize("lost", ["all", "some"])
def test_weights_that_a_file_lacks_begin_as_new_ones(equipped, tmp_path, lost):
    model, _ = equipped("GPT2LMHeadModel")
    torch.nn.init.zeros_(model.numbers.head.linear.weight)
    model.save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    gone = [key for key in weights if key.startswith("numbers") and (lost == "all" or key.endswith(("scale", "bias")))]
    save_file({key: value for key, value in weights.items() if key not in gone}, tmp_path / "model.safetensors")
    torch.manual_seed(0)
    loaded, report = from_pretrained(tmp_path, output_loading_info=True)
    assert set(report["missing_keys"]) == set(gone)
    numbers = loaded.numbers
    assert (numbers.head.scale == 10).all()
    assert numbers.head.linear.bias.abs().sum() > 0  # as torch's linear layers begin, not those of the model
    assert (numbers.head.linear.weight.abs().sum() == 0) == (lost == "some")
    n_features = numbers.projection.in_features
    expected = 0.02 * (2 / n_features) ** 0.5 if lost == "all" else model.numbers.projection.weight.std().item()
    assert numbers.projection.weight.std().item() == pytest.approx(expected, rel=0.1)


def test_a_classifier_made_of_a_language_model(equipped, tmp_path, texts):
    """It has the weights that both have, learns no number, and is saved as what it is."""
    model, tokenizer = equipped("BertForMaskedLM")
    model.save_pretrained(tmp_path / "masked")
    classifier = equipped_class(transformers.BertForSequenceClassification).from_pretrained(tmp_path / "masked")
    assert torch.equal(classifier.numbers.projection.weight, model.numbers.projection.weight)
    assert classifier.objective is None
    outputs = classifier(**tokenizer(texts), labels=torch.tensor([0, 1, 0]))
    assert outputs.loss.isfinite()
    assert "number_loss" not in outputs
    classifier.save_pretrained(tmp_path / "classifier")
    assert type(from_pretrained(tmp_path / "classifier")) is type(classifier)
    assert model.objective == "masked"


def test_saved_in_shards_and_loaded_by_the_keywords_of_transformers(equipped, tmp_path):
    """The plain model is still in the folder."""
    model, tokenizer = equipped("GPT2LMHeadModel")
    model.save_pretrained(tmp_path, max_shard_size="20kB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    plain = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    batch = tokenizer("and is")
    assert torch.equal(plain(batch["input_ids"]).logits, model(**batch).logits)
    for again in (
        from_pretrained(pretrained_model_name_or_path=tmp_path),
        type(model).from_pretrained(pretrained_model_name_or_path=tmp_path),
        from_pretrained(tmp_path, config=model.config, use_safetensors=True),
    ):
        assert type(again) is type(model)
        assert again.numbers.settings == model.numbers.settings
        assert torch.equal(again(**batch).logits, model(**batch).logits)


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, "BertModel"])
@pytest.mark.parametrize("is_used", [False, True])
def test_pickled(equipped, tmp_path, name, is_used, texts):
    model, tokenizer = equipped(name)
    batch = tokenizer(texts)
    if is_used:  # which gives it hooks that no pickle holds
        model(**batch)
    torch.save(model, tmp_path / "model")
    loaded = torch.load(tmp_path / "model", weights_only=False)
    for again in (pickle.loads(pickle.dumps(model)), loaded, copy.deepcopy(model)):
        assert type(again) is type(model)
        assert torch.equal(again(**batch).number_states, model(**batch).number_states)
    outputs = model(**batch)
    again = pickle.loads(pickle.dumps(outputs))
    assert type(again) is type(outputs)
    assert list(again) == list(outputs)


@pytest.mark.long
def test_pickled_for_another_process(equipped, tmp_path, texts):
    """A process that has imported nothing of ours unpickles the model and its outputs, and calls it."""
    model, tokenizer = equipped("BertForMaskedLM")
    batch = dict(tokenizer(texts))
    (tmp_path / "all").write_bytes(pickle.dumps((model, batch, model(**batch))))
    program = """if True:
        import pickle, sys, torch
        with open(sys.argv[1], "rb") as file:
            model, batch, outputs = pickle.load(file)
        print(torch.allclose(model(**batch).logits, outputs.logits))
    """
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "all")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the exporter and the tracer, about what the library's models do
@pytest.mark.parametrize(
    ("name", "operations"),
    [
        pytest.param("GPT2LMHeadModel", (), marks=pytest.mark.slow),
        pytest.param("BertModel", (), marks=pytest.mark.slow),
        ("LlamaForCausalLM", ("+", "gcd")),
        pytest.param("BertForMaskedLM", (), marks=pytest.mark.slow),
    ],
)
def test_exported_traced_and_compiled(equipped, name, operations, texts):
    model, tokenizer = equipped(name, operations=operations)
    model.config.use_cache = False
    batch, other = dict(tokenizer(texts)), dict(tokenizer(["1 + 2 / 3 and -4/7 is 5", "3 + 4"]))
    axes = {key: {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO} for key in batch}
    exported = torch.export.export(model, (), batch, dynamic_shapes=axes, strict=False).module()
    traced = torch.jit.trace(model, example_kwarg_inputs=batch, strict=False)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    for inputs in (batch, other):
        expected = model(**inputs)
        assert list(exported(**inputs)) == list(expected)
        assert type(exported(**inputs)) is type(expected)
        for run in (exported, traced, compiled):
            torch.testing.assert_close(run(**inputs)["number_states"], expected["number_states"])


def test_the_tokenizer_says_which_space_its_model_has(equipped, tmp_path):
    _, tokenizer = equipped("GPT2LMHeadModel")
    other = AdeleSpace(primes=(2, 3, 5, 7, 11, 17), precision=1)  # of the same shape
    tokenizer.tokenizer.save_pretrained(tmp_path)
    for plain in (tokenizer.tokenizer, transformers.AutoTokenizer.from_pretrained(tmp_path)):
        assert NumberTokenizer(plain).space == SPACE
        with pytest.raises(ConfigurationError, match=r"model of AdeleSpace\(.*13\).*, not of AdeleSpace\(.*17\)"):
            NumberTokenizer(plain, other)


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_weights_of_another_space_are_not_loaded(equipped, tmp_path, name):
    model, _ = equipped(name, features="digits")
    model.load_state_dict(equipped(name, features="digits")[0].state_dict())
    model.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(path.read_text().replace("13", "17"))
    with pytest.raises(ConfigurationError, match=r"PlaceEmbedding: primes .*13\] with them, .*17\] here"):
        from_pretrained(tmp_path)


def test_weights_from_before_fingerprints(equipped, tmp_path, texts):
    model, tokenizer = equipped("LlamaForCausalLM")
    model.save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    old = {key: value for key, value in tensors.items() if not key.endswith("_extra_state")}
    assert len(old) == len(tensors) - 3
    save_file(old, tmp_path / "model.safetensors", {"format": "pt"})
    again = from_pretrained(tmp_path)
    assert torch.equal(again(**tokenizer(texts)).logits, model(**tokenizer(texts)).logits)
