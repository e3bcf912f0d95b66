"""The registry: one module is one embedding, its options included."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import adelic
import adelic_lab
from adelic import nn
from adelic.data.sources import DrawnData
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.nn.bodies.local_global import JOINTS, OF_TWO_CLASSES
from adelic.nn.embeddings.options import COORDINATES
from adelic.nn.placewise import PLACES
from adelic.nn.registry import BODIES, build_embedding, find_classes
from adelic.storage.options import options
from adelic_lab.config import embedding as described_embedding
from adelic_lab.config import nn_names

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
    found = find_classes("more_embeddings")
    assert list(found) == ["parity"]
    assert found["parity"].from_options(VOCABULARY, 4, {"sign": "minus"})(VOCABULARY.ids([3, 4]))[:, 0].tolist() == [
        -1,
        0,
    ]
    for name in [name for name in sys.modules if name.startswith("more_embeddings")]:
        monkeypatch.delitem(sys.modules, name)


def contributed(folder):
    """Write the page's embedding and body into two folders of a folder."""
    page = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(import torch\n.*?)```", page, re.DOTALL)
    for name, code in zip(("embeddings", "bodies"), codes, strict=True):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "__init__.py").touch()
        (folder / name / "contributed.py").write_text(code, encoding="utf-8")


def test_the_embedding_of_the_contributing_page(tmp_path, monkeypatch):
    """Whatever lists numbers builds it, and an experiment knows that it needs a list of them."""
    contributed(tmp_path)
    assert set(nn_names.written(tmp_path / "embeddings")) == {"parity"}
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(nn.EMBEDDINGS, "parity", find_classes("embeddings")["parity"])
    for numbers in (5, range(5), nn.Vocabulary(range(5))):
        vectors = nn.build_embedding("parity", numbers, d_model=4)(torch.tensor([1, 2, 3]))
        assert torch.equal(vectors[0], vectors[2])
    with pytest.raises(ConfigurationError, match="parity needs a vocabulary: name the numbers"):
        nn.build_embedding("parity", None)
    drawn = DrawnData("modular-sum", 100, task_options=("modulus=31", "terms=3"))
    model = adelic_lab.EmbeddingConfig.of("parity")
    config = adelic_lab.Experiment(data=drawn, model=model, recipe=adelic_lab.load_recipe("fresh", drawn.row))
    assert config.vocabulary == tuple(range(31))
    with pytest.raises(ConfigurationError, match="gcd-100 has too many numbers for --embedding parity"):
        replace(config, data=DrawnData("gcd", 100))
    for name in [name for name in sys.modules if name.startswith("embeddings")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.long
def test_an_embedding_and_a_body_are_one_file_each(tmp_path):
    """In a copy of the package with the files of the page, the command trains both, also on a drawn task."""
    shutil.copytree(Path(adelic.__file__).parent, tmp_path / "adelic")
    contributed(tmp_path / "adelic" / "nn")

    def called(*words):
        command = [sys.executable, "-m", "adelic", "train", *words, "--run-dir", "run", "--embedding", "parity"]
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    wanted = ("schubert", "--n", "3", "--recipe", "quick", "--epochs", "1", "--body", "recurrent")
    drawn = ("modular-sum", "--task-options", "terms=3,modulus=31", "--examples", "100", "--epochs", "1")
    for words, told in (
        (wanted, "schubert-3 parity: test accuracy"),
        (drawn, "modular-sum by parity from 100 examples"),
    ):
        done = called(*words, "--device", "cpu", "--restart")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(told)
    for words, told in (
        (("gcd", "--examples", "20"), "gcd-20 has too many numbers for --embedding parity"),
        ((*wanted, "--pooling", "tokens"), "--pooling plays no part in --body recurrent; leave it out"),
    ):
        refused = called(*words)
        assert refused.returncode == 2
        assert len(refused.stderr.splitlines()) == 1
        assert told in refused.stderr


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_defaults_build_every_embedding(name):
    """Options have the defaults that Python's keywords have, but for AOE's form: commands have the paper's."""
    built = nn.EMBEDDINGS[name].from_options(VOCABULARY, 128, adelic_lab.EmbeddingConfig(name=name).options())
    papers = {"features": "digits"} if name == "adelic" else {}
    assert built.fingerprint() == build_embedding(name, VOCABULARY, **papers).fingerprint()
    assert built.name == name
    assert built(VOCABULARY.ids([[1, 2]])).shape == (1, 2 * built.tokens_per_number, 128)


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_missing_and_unknown_numbers_have_vectors_or_are_refused(name):
    vocabulary = nn.Vocabulary([1, 2, 3], missing=True, unknown=True)
    if nn.EMBEDDINGS[name].reads_missing:
        vectors = nn.EMBEDDINGS[name](vocabulary, 64)(vocabulary.ids([[1, 2, None, 7]]))[0]
        assert len({tuple(vector) for vector in vectors.tolist()}) == 4
    else:
        with pytest.raises(ConfigurationError, match=f"^{name} has no vector for a missing or unknown number; take "):
            nn.EMBEDDINGS[name](vocabulary, 64)


def test_names_are_known_without_torch(monkeypatch):
    """They are read from the modules' text, unless torch is loaded anyway; then embeddings of one's own are known."""
    monkeypatch.delitem(sys.modules, "adelic.nn.registry")
    for name, embedding in nn.EMBEDDINGS.items():
        nn_names.check_embedding(name)
        assert nn_names.needs_vocabulary(name) is embedding.needs_vocabulary
    with pytest.raises(UnknownNameError) as caught:
        nn_names.check_embedding("parity")
    assert str(caught.value).partition("embeddings: ")[2].split(", ") == sorted(nn.EMBEDDINGS)
    assert nn_names.needs_vocabulary("parity") is False
    assert nn_names.names("bodies") == tuple(BODIES) == options(adelic_lab.TrainConfig)["body"].choices
    for name, body in BODIES.items():
        assert nn_names.unused_options(name) == body.unused
        assert nn_names.n_tokens(name, 9) == {"number": 10, "vertex": 3, "row": 1}[body.token]


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
    described = options(adelic_lab.EmbeddingConfig)
    assert {name for option in described.values() for name in option.of} <= set(nn.EMBEDDINGS)
    assert described["places"].words_for_all == ("flat", *PLACES, *described_embedding.LOCAL_GLOBAL)
    assert described_embedding.JOINTS == JOINTS
    assert described_embedding.OF_TWO_CLASSES == OF_TWO_CLASSES
    assert described["coordinates"].choices == COORDINATES


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        (name, option.name, value)
        for option in options(adelic_lab.EmbeddingConfig).values()
        for name in option.of
        for value in dict.fromkeys(
            [*option.choices, *(option.tried if not option.note else ()), *(option.bounds or ())]
        )
        if value not in JOINTS
    ],
)
def test_every_value_builds_an_embedding(name, option, value):
    config = adelic_lab.EmbeddingConfig(name=name, **{option: value})
    if config.places is None:
        assert config.name == nn.EMBEDDINGS[name].from_options(VOCABULARY, 256, config.options()).name
