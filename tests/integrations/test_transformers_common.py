"""What Transformers' common model tests ask of every model, asked of equipped ones, in our own words.

Theirs (tests/test_modeling_common.py and tests/generation/test_utils.py of the library's repository) are in no package,
so nothing here needs them: each test below names those that it mirrors. Of theirs do not apply

- test_feed_forward_chunking, test_resize_position_vector_embeddings, test_head_pruning*, test_headmasking: what some
  architectures have; an equipped model is an instance of its class, and adds nothing to these.
- test_initialization with ranges of 0: `numbers` has the initial values of its own layers, whatever the model's are.
- test_inputs_embeds: `inputs_embeds` take no part in numbers, since there is no token to tell where one stands; the
  plain path is below.
- test_model_get_set_embeddings with other embeddings of ten tokens: the number token needs one of its own.
- test_resize_tokens_embeddings to 15 fewer: raises where the number token would be lost; fewer of the others is below.
- test_torch_fx*: symbolic tracing, which Transformers has given up; torch.export takes its place.
- test_disk_offload*, test_cpu_offload, test_model_parallelism, test_multi_gpu*, flash attention, DeepSpeed: need GPUs.
- test_assisted_decoding*, test_prompt_lookup*, chunked prefill, guidance: refused, since a sequence's numbers could not
  be followed; `test_transformers_generating` holds that.
- test_generate_from_inputs_embeds*, test_generate_without_input_ids: `generate` takes the tokens and their numbers.
- tests of pipelines: `generate` refuses what they pass on.
"""

import copy
import inspect

import pytest
import torch

transformers = pytest.importorskip("transformers")

from safetensors.torch import save_file  # noqa: E402

from adelic.errors import ConfigurationError  # noqa: E402
from adelic.integrations.transformers import NumberCollator, from_pretrained  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:a text's number:UserWarning"),  # what these models write is not asked
    pytest.mark.filterwarnings("ignore:.*was given no number_reals:UserWarning"),
]

MODELS = ["GPT2LMHeadModel", "LlamaForCausalLM", "BertForMaskedLM"]
GENERATORS = MODELS[:2]
TEXTS = ["1 and -7/11 is 2", "3 + 4", "and"]


@pytest.fixture(params=MODELS)
def made(request, equipped):
    """Return a model, a batch and a batch with labels."""
    model, tokenizer = equipped(request.param)
    return model, dict(tokenizer(TEXTS)), labelled(model, tokenizer)


@pytest.fixture(params=GENERATORS)
def generator(request, equipped):
    """Return a model that generates, its tokenizer and prompts."""
    model, tokenizer = equipped(request.param)
    return model, tokenizer, dict(tokenizer(["5 + 7 =", "2 ="]))


def labelled(model, tokenizer):
    options = {"mask_probability": 0.5, "seed": 1} if model.objective == "masked" else {}
    return NumberCollator(tokenizer, model.objective, **options)(TEXTS)


def assert_same(one, other):
    """Assert that outputs have the same tensors under the same names."""
    assert list(one) == list(other)
    for key, value in one.items():
        if isinstance(value, torch.Tensor):
            torch.testing.assert_close(value, other[key])


def test_the_main_input(made):
    """test_forward_signature, test_model_main_input_name."""
    model, _, _ = made
    assert next(iter(inspect.signature(model.forward).parameters)) == model.main_input_name == "input_ids"


def test_saving_and_loading(made, tmp_path):
    """test_save_load*, test_can_use_safetensors, test_load_save_without_tied_weights, test_tied_weights_keys."""
    model, batch, _ = made
    model.save_pretrained(tmp_path)
    again, report = from_pretrained(tmp_path, output_loading_info=True)
    assert not any(report[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert all(torch.equal(value, again.state_dict()[key]) for key, value in model.state_dict().items())
    assert not any(tensor.is_meta for tensor in (*again.parameters(), *again.buffers()))
    assert_same(again(**batch), model(**batch))
    shared = {}
    for key, value in again.state_dict().items():
        shared.setdefault(value.data_ptr(), []).append(key)
    expected = {}
    for key, value in model.state_dict().items():
        expected.setdefault(value.data_ptr(), []).append(key)
    assert sorted(map(sorted, shared.values())) == sorted(map(sorted, expected.values()))


def test_loading_from_a_state_dict(made):
    """test_from_pretrained_no_checkpoint."""
    model, batch, _ = made
    again = type(model).from_pretrained(
        pretrained_model_name_or_path=None, config=model.config, state_dict=model.state_dict()
    )
    assert_same(again(**batch), model(**batch))


def test_loading_in_shards(made, tmp_path):
    """test_checkpoint_sharding_local."""
    model, batch, _ = made
    model.save_pretrained(tmp_path, max_shard_size="20kB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    assert_same(from_pretrained(tmp_path)(**batch), model(**batch))


def test_torch_save(made, tmp_path):
    """test_torch_save_load."""
    model, batch, _ = made
    torch.save(model.state_dict(), tmp_path / "weights")
    again = copy.deepcopy(model)
    for parameter in again.parameters():
        torch.nn.init.zeros_(parameter)
    again.load_state_dict(torch.load(tmp_path / "weights", weights_only=True))
    assert_same(again(**batch), model(**batch))


def test_missing_weights_are_reported_and_initialized(made, tmp_path):
    """test_correct_missing_keys, test_model_weights_reload_no_missing_tied_weights."""
    model, batch, _ = made
    model.save_pretrained(tmp_path)
    save_file({"tensor": torch.zeros(2)}, tmp_path / "model.safetensors", {"format": "pt"})
    again, report = from_pretrained(tmp_path, output_loading_info=True)
    assert {"numbers.projection.weight", "numbers.head.linear.weight", "numbers.head.real.weight"} <= set(
        report["missing_keys"]
    )
    assert set(report["unexpected_keys"]) == {"tensor"}
    assert again(**batch).number_states.isfinite().all()
    for name, parameter in again.named_parameters():
        assert parameter.isfinite().all(), name


def test_mismatched_shapes_are_refused(made, tmp_path):
    """test_load_with_mismatched_shapes."""
    model, _, _ = made
    model.save_pretrained(tmp_path)
    config = copy.deepcopy(model.config)
    config.adelic["space"]["primes"] = (2, 3, 5, 7, 11, 13, 17)
    with pytest.raises(ConfigurationError, match=r"primes .*13\] with them, .*17\] here"):
        from_pretrained(tmp_path, config=config)


def test_determinism(made):
    """test_determinism."""
    model, batch, _ = made
    assert_same(model(**batch), model(**batch))


def test_rows_do_not_depend_on_their_batch(made):
    """test_batching_equivalence."""
    model, batch, _ = made
    together = model(**batch).logits
    for row in range(len(TEXTS)):
        alone = model(**{key: value[row : row + 1] for key, value in batch.items()}).logits
        real = batch["attention_mask"][row].bool()
        torch.testing.assert_close(alone[0][real], together[row][real], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("options", [None, {"use_reentrant": True}, {"use_reentrant": False}, "off"])
def test_training(made, options):
    """test_training, test_training_gradient_checkpointing, …_use_reentrant, …_use_reentrant_false."""
    model, _, batch = made
    model.train()
    if options != "off":
        enable = getattr(model, "activation_checkpointing_enable", model.gradient_checkpointing_enable)
        enable(options)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model(**batch).loss.backward()
    optimizer.step()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("way", ["argument", "configuration"])
def test_attentions_and_hidden_states(made, way):
    """test_attention_outputs, test_hidden_states_output."""
    model, batch, _ = made
    model.set_attn_implementation("eager")
    wanted = {"output_attentions": True, "output_hidden_states": True}
    if way == "configuration":
        for key, value in wanted.items():
            setattr(model.config, key, value)
    outputs = model(**batch, **(wanted if way == "argument" else {}))
    length = batch["input_ids"].shape[1]
    assert [tuple(state.shape) for state in outputs.hidden_states] == [(3, length, 32)] * 3
    assert [tuple(attention.shape) for attention in outputs.attentions] == [(3, 2, length, length)] * 2


def test_gradients_of_hidden_states_and_attentions(made):
    """test_retain_grad_hidden_states_attentions."""
    model, batch, _ = made
    model.set_attn_implementation("eager")
    outputs = model(**batch, output_hidden_states=True, output_attentions=True)
    outputs.hidden_states[0].retain_grad()
    outputs.attentions[0].retain_grad()
    outputs.logits[0, 0, 0].backward()
    assert outputs.hidden_states[0].grad is not None
    assert outputs.attentions[0].grad is not None


def test_tuples_are_the_dictionaries(made):
    """test_model_outputs_equivalence."""
    model, batch, with_labels = made
    for inputs in (batch, with_labels, batch | {"output_hidden_states": True}):
        listed, named = model(**inputs, return_dict=False), model(**inputs).to_tuple()
        assert len(listed) == len(named)
        for one, other in zip(listed, named, strict=True):
            if isinstance(one, torch.Tensor):
                assert torch.equal(one, other)


def test_attention_is_the_same_either_way(made):
    """test_eager_matches_sdpa_inference."""
    model, batch, _ = made
    found = []
    for implementation in ("eager", "sdpa"):
        model.set_attn_implementation(implementation)
        found.append(model(**batch).logits[batch["attention_mask"].bool()])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


def test_embeddings_as_inputs(made):
    """test_inputs_embeds_matches_input_ids."""
    model, batch, _ = made
    plain = {key: value for key, value in batch.items() if not key.startswith("number")}
    expected = model(**plain)
    embeddings = model.get_input_embeddings()(plain.pop("input_ids"))
    assert_same(model(**plain, inputs_embeds=embeddings), expected)


@pytest.mark.parametrize("is_tied", [True, False])
def test_resizing_embeddings(equipped, is_tied):
    """test_resize_tokens_embeddings, test_resize_embeddings_untied, test_tie_model_weights."""
    for name in MODELS:
        model, tokenizer = equipped(name, model_options={"tie_word_embeddings": is_tied})
        batch = dict(tokenizer(TEXTS))
        n, before = len(list(model.parameters())), model.get_input_embeddings().weight.clone()
        model.resize_token_embeddings(len(before) + 10)
        assert model.config.vocab_size == len(before) + 10
        assert model.get_output_embeddings().weight.shape[0] == len(before) + 10
        assert torch.equal(model.get_input_embeddings().weight[: len(before)], before)
        assert len(list(model.parameters())) == n
        assert model(**batch).logits.shape[-1] == len(before) + 10
        model.resize_token_embeddings(len(before))
        assert torch.equal(model.get_input_embeddings().weight, before)
        assert model.resize_token_embeddings(len(before), pad_to_multiple_of=64).num_embeddings == 64
        is_shared = model.get_input_embeddings().weight is model.get_output_embeddings().weight
        assert is_shared == is_tied
        assert model(**batch).logits.shape[-1] == 64


@pytest.mark.filterwarnings("ignore")  # the tracer's, about what the library's models do
def test_tracing(made, tmp_path):
    """test_torchscript_simple, test_torchscript_output_hidden_state, test_torchscript_output_attentions."""
    model, batch, _ = made
    model.config.use_cache = False
    traced = torch.jit.trace(model, example_kwarg_inputs=batch, strict=False)
    torch.jit.save(traced, tmp_path / "traced")
    loaded = torch.jit.load(tmp_path / "traced")
    torch.testing.assert_close(loaded(**batch)["logits"], model(**batch).logits)
    names = {key for key in model.state_dict() if not key.endswith("_extra_state")}
    assert names <= set(loaded.state_dict())


def test_exporting(made, tmp_path):
    """test_torch_export."""
    model, batch, _ = made
    model.config.use_cache = False
    torch.export.save(torch.export.export(model, (), batch, strict=False), tmp_path / "program.pt2")
    assert_same(torch.export.load(tmp_path / "program.pt2").module()(**batch), model(**batch))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_types_of_fewer_bits(made, tmp_path, dtype):
    """test_keep_in_fp32_modules, test_from_pretrained with dtype."""
    model, batch, with_labels = made
    expected = model(**batch).logits
    model.save_pretrained(tmp_path)
    low = from_pretrained(tmp_path, dtype=dtype)
    assert low.dtype == dtype
    torch.testing.assert_close(low(**batch).logits.float(), expected, rtol=0.1, atol=0.1)
    assert low(**with_labels).loss.isfinite()


OPTIONS = {
    "test_greedy_generate": {"do_sample": False},
    "test_sample_generate": {"do_sample": True},
    "test_beam_search_generate": {"do_sample": False, "num_beams": 2},
    "test_beam_sample_generate": {"do_sample": True, "num_beams": 2},
    "several sequences": {"do_sample": True, "num_return_sequences": 2},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("is_dict", [False, True])
def test_generating(generator, name, is_dict):
    """Those of OPTIONS, and with _dict_outputs, and test_generate_without_cache."""
    model, _, prompts = generator
    copies = OPTIONS[name].get("num_return_sequences", 1)
    asked = {"return_dict_in_generate": True, "output_scores": True, "output_logits": True} if is_dict else {}
    for use_cache in (True, False):
        torch.manual_seed(0)
        found = model.generate(**prompts, **OPTIONS[name], **asked, max_new_tokens=4, use_cache=use_cache)
        assert found.sequences.shape == found.numbers.shape == (2 * copies, prompts["input_ids"].shape[1] + 4)
        assert torch.equal(found.sequences[::copies, : prompts["input_ids"].shape[1]], prompts["input_ids"])
        assert ("scores" in found, "logits" in found) == (is_dict, is_dict)


def test_generating_left_padded(generator):
    """test_left_padding_compatibility."""
    model, tokenizer, prompts = generator
    together = model.generate(**prompts, max_new_tokens=4, do_sample=False)
    alone = model.generate(**tokenizer(["2 ="]), max_new_tokens=4, do_sample=False)
    assert torch.equal(together.sequences[1, -4:], alone.sequences[0, -4:])
    assert together.numbers[1, -4:].tolist() == alone.numbers[0, -4:].tolist()


@pytest.mark.parametrize("cache", ["static", "dynamic"])
def test_generating_with_caches(generator, cache):
    """test_generate_with_static_cache, test_greedy_generate_dict_outputs_use_cache."""
    model, _, prompts = generator
    expected = model.generate(**prompts, max_new_tokens=4, do_sample=False, use_cache=False)
    found = model.generate(**prompts, max_new_tokens=4, do_sample=False, cache_implementation=cache)
    assert torch.equal(found.sequences, expected.sequences)
    assert found.numbers.tolist() == expected.numbers.tolist()


def test_generating_says_what_it_collects(generator):
    """The checks of attentions and hidden states in the _dict_outputs tests."""
    model, _, prompts = generator
    model.set_attn_implementation("eager")
    wanted = {"return_dict_in_generate": True, "output_hidden_states": True, "output_attentions": True}
    found = model.generate(**prompts, max_new_tokens=3, do_sample=False, **wanted)
    assert [len(states) for states in found.hidden_states] == [3] * 3
    assert [len(attentions) for attentions in found.attentions] == [2] * 3


def test_generating_no_bad_words(generator):
    """test_lm_head_model_random_no_beam_search_generate."""
    model, tokenizer, prompts = generator
    found = model.generate(**prompts, max_new_tokens=8, do_sample=True, bad_words_ids=[[tokenizer.token_id], [4]])
    assert not set(found.sequences[:, prompts["input_ids"].shape[1] :].flatten().tolist()) & {tokenizer.token_id, 4}
