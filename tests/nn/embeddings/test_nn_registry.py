"""The registry: one module is one embedding, its options included."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from adelic import nn, training
from adelic.data import TaskData
from adelic.errors import UnknownNameError
from adelic.nn.bodies.local_global import JOINTS, OF_TWO_CLASSES
from adelic.nn.embeddings.adelic import COORDINATES
from adelic.nn.embeddings.registry import build_embedding, find_embeddings
from adelic.nn.placewise import PLACES
from adelic.storage.options import options
from adelic.training import embedding as described_embedding

MODULE = """
import torch
from adelic.nn.embeddings.base import NumberEmbedding

class ParityEmbedding(NumberEmbedding):
    name = "parity"

    def __init__(self, vocabulary, d_model=128, *, sign="plus"):
        super().__init__(vocabulary, d_model)
        odd = torch.tensor([float(q % 2) for q in vocabulary.numbers])[:, None]
        self.register_buffer("table", odd.repeat(1, d_model) * (1 if sign == "plus" else -1), persistent=False)

    def forward(self, ids):
        return torch.nn.functional.embedding(ids, self.table)
"""
VOCABULARY = nn.Vocabulary(range(12))


def test_a_module_is_an_embedding(tmp_path, monkeypatch):
    """What stands in a folder is found, and built from its options; nothing else names it."""
    folder = tmp_path / "more_embeddings"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "parity.py").write_text(MODULE)
    (folder / "what_they_share.py").write_text("from adelic.nn import AdelicEmbedding\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = find_embeddings("more_embeddings")
    assert list(found) == ["parity"]
    assert found["parity"].from_options(VOCABULARY, 4, {"sign": "minus"})(VOCABULARY.ids([3, 4]))[:, 0].tolist() == [
        -1,
        0,
    ]
    for name in [name for name in sys.modules if name.startswith("more_embeddings")]:
        monkeypatch.delitem(sys.modules, name)


def test_the_embedding_of_the_contributing_page_is_one_file(tmp_path, monkeypatch):
    """Everything above the file finds it by its name: configuration, model, training."""
    page = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(import torch\n.*?)```", page, re.DOTALL)
    folder = tmp_path / "contributed"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "parity.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name, embedding in find_embeddings("contributed").items():
        monkeypatch.setitem(nn.EMBEDDINGS, name, embedding)
    recipe = training.load_recipe("quick", "schubert-3", epochs=1, n_layers=1)
    embedding = training.EmbeddingConfig.of("parity")
    config = training.Experiment(data=TaskData("schubert", 3), model=embedding, recipe=recipe)
    result = training.run(config, tmp_path / "run", device="cpu")
    assert result.embedding == config.embedding.label == "parity"
    for name in [name for name in sys.modules if name.startswith("contributed")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_defaults_build_every_embedding(name):
    """Options have the defaults that Python's keywords have, but for AOE's form: commands have the paper's."""
    built = nn.EMBEDDINGS[name].from_options(VOCABULARY, 128, training.EmbeddingConfig(name=name).options())
    papers = {"features": "digits"} if name == "adelic" else {}
    assert built.fingerprint() == build_embedding(name, VOCABULARY, **papers).fingerprint()
    assert built.name == name
    assert built(VOCABULARY.ids([[1, 2]])).shape == (1, 2 * built.tokens_per_number, 128)


def test_names_are_known_without_torch(monkeypatch):
    """They are read from the modules' text, unless torch is loaded anyway; then embeddings of one's own are known."""
    monkeypatch.delitem(sys.modules, "adelic.nn.embeddings.registry")
    for name in nn.EMBEDDINGS:
        described_embedding.check_embedding(name)
    with pytest.raises(UnknownNameError) as caught:
        described_embedding.check_embedding("parity")
    assert str(caught.value).partition("embeddings: ")[2].split(", ") == sorted(nn.EMBEDDINGS)


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_counts_ranges_and_lists_are_vocabularies(name):
    ids = VOCABULARY.ids([[1, 2, 11]])
    expected = seeded(name, VOCABULARY)
    for numbers in (12, np.int64(12), range(12), list(range(12)), (str(i) for i in range(12))):
        built = seeded(name, numbers)
        assert built.vocabulary.numbers == VOCABULARY.numbers
        assert torch.equal(built(ids), expected(ids))
        assert built.fingerprint() == expected.fingerprint()


def seeded(name, numbers):
    """Return an embedding whose first weights do not depend on what came before."""
    torch.manual_seed(0)
    return build_embedding(name, numbers, d_model=128).eval()


def test_options_name_embeddings_and_values_that_there_are():
    """The description of an experiment needs no torch, so it repeats a few names: these."""
    described = options(training.EmbeddingConfig)
    assert {name for option in described.values() for name in option.of} <= set(nn.EMBEDDINGS)
    assert described["places"].words_for_all == ("flat", *PLACES, *described_embedding.LOCAL_GLOBAL)
    assert described_embedding.JOINTS == JOINTS
    assert described_embedding.OF_TWO_CLASSES == OF_TWO_CLASSES
    assert described["coordinates"].choices == COORDINATES


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        (name, option.name, value)
        for option in options(training.EmbeddingConfig).values()
        for name in option.of
        for value in dict.fromkeys(
            [*option.choices, *(option.tried if not option.note else ()), *(option.bounds or ())]
        )
        if value not in JOINTS
    ],
)
def test_every_value_builds_an_embedding(name, option, value):
    config = training.EmbeddingConfig(name=name, **{option: value})
    if config.places is None:
        assert config.name == nn.EMBEDDINGS[name].from_options(VOCABULARY, 256, config.options()).name
