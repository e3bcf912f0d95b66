"""The common model tests of Transformers themselves, on equipped models: GPT-2, Llama and BERT, tiny.

The library's source archive on PyPI has them (tests/test_modeling_common.py); pip fetches the one of the installed
version, into `sources` of ADELIC_CACHE. Of each test of theirs it is said here whether it passes: one that neither
passes nor stands in `NOT_APPLICABLE` is a failure, and so is one there that passes. The archive lacks tests/generation
and tests/exporters; what those ask is asked in `test_transformers_generating` and `…_saving`.
"""

import importlib
import random
import re
import subprocess
import sys
import tarfile
import types
import unittest
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
import transformers

from adelic import AdeleSpace
from adelic.integrations.transformers import NumberSettings, equipped_class
from adelic.integrations.transformers.layers import unknown_numbers
from adelic.nn import adelic_targets
from adelic.storage.files import atomic_write, cache_folder

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the library's own, about its own models

CACHE = cache_folder()  # the user's: within a test it is one for the session
SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
PADDING, NUMBER, VOCABULARY = 0, 2, 99

LANGUAGE_MODELS = {"GPT2": "GPT2LMHeadModel", "Llama": "LlamaForCausalLM", "Bert": "BertForMaskedLM"}
OTHERS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
CASES = {f"{family} writing": (name,) for family, name in LANGUAGE_MODELS.items()} | {
    f"{family} reading": tuple(family + kind for kind in OTHERS) for family in LANGUAGE_MODELS
}
PASSED = {"GPT2 writing": 99, "GPT2 reading": 98, "Llama writing": 102, "Llama reading": 104} | {
    "Bert writing": 100,
    "Bert reading": 99,
}
"""At least so many tests pass."""

GPU = "needs a GPU, of one maker or another, or a library that works on one"
PARTS = "of models made of several models"
ROPE = "of models with rotary positions, told from the base model"
NOT_APPLICABLE = {
    ("test_can_load_with_device_context_manager", "*"): GPU,
    ("test_can_load_with_global_device_set", "*"): GPU,
    ("test_cpu_offload", "*"): GPU,
    ("test_disk_offload_*", "*"): GPU,
    ("test_flash_attn_*", "*"): GPU,
    ("test_flex_attention_with_grads", "*"): GPU,
    ("test_kernels_can_load_without_crashing", "*"): GPU,
    ("test_model_parallelism", "*"): GPU,
    ("test_resize_*_with_deepspeed*", "*"): GPU,
    ("test_sdpa_can_compile_dynamic", "*"): GPU,
    ("test_sdpa_can_dispatch_on_flash", "*"): GPU,
    ("test_torch_compile_for_training", "*"): GPU,
    ("test_attn_implementation_composite_models", "*"): PARTS,
    ("test_can_set_attention_dynamically_composite_model", "*"): PARTS,
    ("test_internal_model_config_and_subconfig_are_same", "*"): PARTS,
    ("test_sdpa_can_dispatch_composite_models", "*"): PARTS,
    ("test_causal_lm_loss_honors_shift_labels", "Bert writing"): "of causal models",
    ("test_causal_lm_loss_honors_shift_labels", "* reading"): "of causal models",
    ("test_encoder_decoder_loss_no_double_shift", "*"): "of encoder-decoders, which equip refuses",
    ("test_eager_matches_batched_and_grouped_inference_*", "*"): "of mixtures of experts",
    ("test_moe_models_record_router_logits", "*"): "of mixtures of experts",
    ("test_output_router_logits_from_config", "*"): "of mixtures of experts",
    ("test_can_load_from_already_mapped_keys", "*"): "of models whose files have other names for their weights",
    ("test_reverse_loading_mapping", "*"): "of models whose files have other names for their weights",
    ("test_keep_in_fp32_modules*", "*"): "of models that keep some layers in float32",
    ("test_resize_position_vector_embeddings", "*"): "of models whose positions are resized",
    ("test_sliding_window_mask", "*"): "of models with a sliding window",
    ("test_*tp_plan*", "GPT2*"): "of models with a plan for tensor parallelism",
    ("test_*tp_plan*", "Bert*"): "of models with a plan for tensor parallelism",
    ("test_vision_axial_rope", "*"): "of models of pictures",
    ("test_model_rope_scaling_*", "GPT2*"): ROPE,
    ("test_model_rope_scaling_*", "Bert*"): ROPE,
    ("test_model_rope_scaling_*", "Llama writing"): ROPE,
    ("test_model_rope_with_partial_rotation", "*"): "of models that rotate a part of the positions",
    ("*_fp32_pad_left_output_attentions", "GPT2*"): "of models whose forward names output_attentions",
    ("*_fp32_pad_left_output_attentions", "Llama reading"): "of models whose forward names output_attentions",
    (
        "test_model_weights_reload_no_missing_tied_weights",
        "*",
    ): "a file without `_extra_state`, the fingerprint of what "
    "is not trained, is said to lack it, though it is neither parameter nor buffer",
    ("test_generation_tester_mixin_inheritance", "GPT2 writing"): "the archive lacks the tests of generating",
    ("test_generation_tester_mixin_inheritance", "Llama writing"): "the archive lacks the tests of generating",
    ("test_inputs_embeds_matches_input_ids", "* reading"): "inputs_embeds have no tokens that say where a number is",
}
"""Names of tests, and of cases: why the tests do not apply."""


@pytest.fixture(scope="module")
def common(tmp_path_factory, pytestconfig):
    """Return the library's module of common tests."""
    pytest.importorskip("parameterized", reason="the library's tests need it: pip install 'adelic[nightly]'")
    folder = tmp_path_factory.mktemp("transformers")
    with tarfile.open(source_archive()) as archive:
        wanted = [member for member in archive if member.name.split("/")[1:2] == ["tests"]]
        archive.extractall(folder, wanted, filter="data")
    (tests,) = folder.glob("*/tests")
    assert not {"generation", "exporters"} & {path.name for path in tests.iterdir()}, "they can be run as well"
    for marker in re.findall(r"\bmark\.(\w+)", (tests / "test_modeling_common.py").read_text(encoding="utf-8")):
        pytestconfig.addinivalue_line("markers", marker)
    package = "tests_of_transformers"
    modules = {package: {"__path__": [str(tests)]}, f"{package}.generation": {}, f"{package}.exporters": {}}
    modules[f"{package}.generation.test_utils"] = {"GenerationTesterMixin": type("GenerationTesterMixin", (), {})}
    modules[f"{package}.exporters.test_export"] = {"ExportTesterMixin": type("ExportTesterMixin", (), {})}
    with pytest.MonkeyPatch.context() as patch:
        for name, attributes in modules.items():
            module = types.ModuleType(name)
            vars(module).update(attributes)
            patch.setitem(sys.modules, name, module)
        found = importlib.import_module(f"{package}.test_modeling_common")
        names_of = found.get_values  # what a model has to do is told from the name of its class
        found.get_values = lambda mapping: [n for name in names_of(mapping) for n in (name, f"Adelic{name}")]
        yield found
        for name in [name for name in sys.modules if name.startswith(package)]:
            del sys.modules[name]


def source_archive():
    """Return the source archive of the installed version, which pip fetches once; skip where it cannot."""
    wanted = f"transformers=={transformers.__version__}"
    kept = CACHE / "sources" / f"transformers-{transformers.__version__}.tar.gz"
    if not kept.exists():
        with TemporaryDirectory() as folder:
            options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", "transformers"]
            command = [sys.executable, "-m", "pip", "download", *options, "--dest", folder, wanted]
            done = subprocess.run(command, capture_output=True, text=True)
            found = list(Path(folder).glob("*.tar.gz"))
            if done.returncode or not found:
                pytest.skip(f"pip cannot download the source of {wanted}: {(done.stderr.splitlines() or [''])[-1]}")
            atomic_write(kept, found[0].read_bytes())
    return kept


class Inputs:
    """Configurations and inputs, with what the library's tests ask of a model tester."""

    batch_size, seq_length, hidden_size, num_hidden_layers, num_attention_heads = 4, 7, 32, 2, 4
    is_training = True

    def __init__(self, family):
        self.family = family

    def get_config(self):
        ids = {"vocab_size": VOCABULARY, "pad_token_id": PADDING, "bos_token_id": 98, "eos_token_id": 98}
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64}
        if self.family != "GPT2":  # which has other names for these, and four times the width between two layers
            sizes["intermediate_size"] = 64
        config = getattr(transformers, f"{self.family}Config")(**ids, **sizes)
        config.adelic = NumberSettings(space=SPACE, token_id=NUMBER).to_dict()
        return config

    def prepare_config_and_inputs_for_common(self):
        input_ids = torch.randint(3, 98, (self.batch_size, self.seq_length))
        input_ids[:, 1] = NUMBER
        at = input_ids == NUMBER
        reals, digits = unknown_numbers(SPACE, tuple(input_ids.shape))
        known = adelic_targets(SPACE, list(range(-3, int(at.sum()) - 3)))
        reals[at], digits[at] = (values.to(kept) for values, kept in zip(known, (reals, digits), strict=True))
        numbers = {"number_reals": reals, "number_digits": digits}
        return self.get_config(), {"input_ids": input_ids, "attention_mask": torch.ones_like(input_ids)} | numbers


class Result(unittest.TestResult):
    """What became of each test, by its name."""

    def __init__(self):
        super().__init__()
        self.passed = set()

    def addSuccess(self, test):  # noqa: N802
        super().addSuccess(test)
        self.passed.add(test._testMethodName)


@pytest.mark.parametrize("case", CASES)
def test_common_tests(common, case):
    classes = tuple(equipped_class(getattr(transformers, name)) for name in CASES[case])

    class Case(common.ModelTesterMixin, unittest.TestCase):
        all_model_classes = classes
        test_can_init_all_missing_weights_before_2023 = True
        test_all_params_have_gradient = "writing" in case  # else the numbers' head has no loss

        def setUp(self):
            self.model_tester = Inputs(case.split()[0])
            random.seed(0)
            np.random.seed(0)  # noqa: NPY002
            torch.manual_seed(0)

    passed, problems, skipped = outcomes(Case, n_classes=len(classes))
    entries = {pattern: reason for (pattern, cases), reason in NOT_APPLICABLE.items() if fnmatchcase(case, cases)}
    covered = {pattern: matching({*passed, *problems, *skipped}, pattern) for pattern in entries}
    listed = set().union(*covered.values())
    assert problems.keys() <= listed, "\n".join(problems[name] for name in problems.keys() - listed)
    assert skipped.keys() <= listed, {name: skipped[name] for name in skipped.keys() - listed}
    assert all(covered.values()), [pattern for pattern, names in covered.items() if not names]
    if torch.cuda.is_available():
        listed -= set().union(*(names for pattern, names in covered.items() if entries[pattern] == GPU))
    assert not passed & listed, "these pass, so they apply"
    assert len(passed) >= PASSED[case]


def outcomes(case, n_classes):
    """Run a test case; return the names of the tests that passed, the traces of others, and why others were skipped."""
    tests, result = list(unittest.defaultTestLoader.loadTestsFromTestCase(case)), Result()
    unittest.TestSuite(tests).run(result)
    problems = {named(test): trace for test, trace in (*result.errors, *result.failures)}
    times = Counter(named(test) for test, _ in result.skipped)
    skipped = {
        named(test): reason
        for test, reason in result.skipped  # of a test with a part for each class, all of them
        if named(test) not in result.passed or times[named(test)] >= n_classes
    }
    passed = result.passed - problems.keys() - skipped.keys()
    assert {named(test) for test in tests} == passed | problems.keys() | skipped.keys()
    return passed, problems, skipped


def matching(names, pattern):
    return {name for name in names if fnmatchcase(name, pattern)}


def named(test):
    """Return the name of a test, or of that which a part of one belongs to."""
    return getattr(test, "test_case", test)._testMethodName
