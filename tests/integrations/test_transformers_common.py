"""What Transformers' tests of every model ask beyond those that `test_transformers_own` runs, in our own words.

The library's source archive lacks them (tests/generation, tests/exporters), or has them no more, or what they ask has
another answer here: each test names those that it mirrors. Of the generation tests do not apply

- test_assisted_decoding*, test_prompt_lookup*, chunked prefill, guidance: refused, since a sequence's numbers could not
  be followed; `test_transformers_generating` holds that.
- test_generate_from_inputs_embeds*, test_generate_without_input_ids: `generate` takes the tokens and their numbers.
- tests of pipelines: `generate` refuses what they pass on.
"""

import copy

import pytest
import torch

transformers = pytest.importorskip("transformers")

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


def test_loading_in_shards(made, tmp_path):
    """test_checkpoint_sharding_local."""
    model, batch, _ = made
    model.save_pretrained(tmp_path, max_shard_size="20kB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    assert_same(from_pretrained(tmp_path)(**batch), model(**batch))


def test_mismatched_shapes_are_refused(made, tmp_path):
    """test_load_with_mismatched_shapes."""
    model, _, _ = made
    model.save_pretrained(tmp_path)
    config = copy.deepcopy(model.config)
    config.adelic["space"]["primes"] = (2, 3, 5, 7, 11, 13, 17)
    with pytest.raises(ConfigurationError, match=r"primes .*13\] with them, .*17\] here"):
        from_pretrained(tmp_path, config=config)


def test_embeddings_as_inputs(made):
    """test_inputs_embeds_matches_input_ids."""
    model, batch, _ = made
    plain = {key: value for key, value in batch.items() if not key.startswith("number")}
    expected = model(**plain)
    embeddings = model.get_input_embeddings()(plain.pop("input_ids"))
    assert_same(model(**plain, inputs_embeds=embeddings), expected)


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
