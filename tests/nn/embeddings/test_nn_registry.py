"""The registry: one module is one embedding, its options included."""

import re
import sys
from pathlib import Path

import pytest

from adelic import nn, training
from adelic.data import TaskData
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.nn.embeddings.options import Option
from adelic.nn.embeddings.registry import find_embeddings

MODULE = """
import torch
from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.embeddings.options import Option

class ParityEmbedding(NumberEmbedding):
    name = "parity"
    options = (Option(name="sign", default="plus", help="Of odd numbers.", choices=("plus", "minus")),)

    def __init__(self, vocabulary, d_model=128, *, sign="plus"):
        super().__init__(vocabulary, d_model)
        odd = torch.tensor([float(q % 2) for q in vocabulary.numbers])[:, None]
        self.register_buffer("table", odd.repeat(1, d_model) * (1 if sign == "plus" else -1), persistent=False)

    def forward(self, ids):
        return torch.nn.functional.embedding(ids, self.table)
"""
VOCABULARY = nn.Vocabulary(range(12))


def test_a_module_is_an_embedding(tmp_path, monkeypatch):
    """What stands in a folder is found with its options, and built from them; nothing else names it."""
    folder = tmp_path / "more_embeddings"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "parity.py").write_text(MODULE)
    (folder / "what_they_share.py").write_text("from adelic.nn import AdelicEmbedding\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = find_embeddings("more_embeddings")
    assert list(found) == ["parity"]
    options = found["parity"].check_options({"sign": "minus"})
    assert found["parity"].from_options(VOCABULARY, 4, options)(VOCABULARY.ids([3, 4]))[:, 0].tolist() == [-1, 0]
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
    config = training.RunConfig(data=TaskData("schubert", 3), embedding=embedding, recipe=recipe)
    result = training.run(config, tmp_path / "run", device="cpu")
    assert result["embedding"] == config.embedding.label == "parity"
    for name in [name for name in sys.modules if name.startswith("contributed")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_defaults_build_every_embedding(name):
    """Options have the defaults that Python's keywords have."""
    embedding = nn.EMBEDDINGS[name]
    built = embedding.from_options(VOCABULARY, 128, embedding.check_options({}))
    assert built.fingerprint() == nn.build_embedding(name, VOCABULARY).fingerprint()
    assert built.name == name
    assert built(VOCABULARY.ids([[1, 2]])).shape == (1, 2, 128)


@pytest.mark.parametrize(("name", "option"), [(n, o) for n, e in nn.EMBEDDINGS.items() for o in e.options])
def test_options_are_described(name, option):
    embedding = nn.EMBEDDINGS[name]
    assert option.help.endswith(".")
    assert embedding.check_options({})[option.name] == option.default
    for value in {*option.choices, *(option.search if not option.note else ())}:
        assert embedding.check_options({option.name: value})[option.name] == value


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ("charcters", UnknownNameError, "unknown features 'charcters'; did you mean 'characters'"),
        (None, UnknownNameError, "unknown features None"),
        (["digits"], UnknownNameError, "unknown features"),
    ],
)
def test_a_value_that_is_no_choice(value, error, words):
    with pytest.raises(error, match=words):
        nn.AdelicEmbedding.check_options({"features": value})


def test_a_switch_is_true_or_false():
    option = Option(name="published", default=False, help="")
    assert option.check(True) is True
    for value in (1, "yes", None):
        with pytest.raises(ConfigurationError, match="must be true or false"):
            option.check(value)


def test_a_number_is_the_options_type():
    found = Option(name="sigma", default=0.01, help="").check(1)
    assert (found, type(found)) == (1.0, float)
