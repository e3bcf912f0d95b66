"""Embeddings and bodies as options of an experiment; and that one file adds one."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import adelic
import adelic_lab
from adelic import nn
from adelic.data.sources import DrawnData
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.nn.bodies.local_global import FUSIONS, OF_TWO_CLASSES
from adelic.nn.embeddings.adelic import COORDINATES
from adelic.nn.placewise import PLACES
from adelic.nn.registry import BODIES, build_embedding, find_classes
from adelic.storage.options import options
from adelic_lab.config import embedding as described_embedding
from adelic_lab.config import names

VOCABULARY = nn.Vocabulary(range(12))


def contributed(folder):
    """Write the page's embedding and body into two folders of a folder."""
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(import torch\n.*?)```", page, re.DOTALL)
    for name, code in zip(("embeddings", "bodies"), codes, strict=True):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "__init__.py").touch()
        (folder / name / "contributed.py").write_text(code, encoding="utf-8")


def test_the_embedding_of_the_contributing_page(tmp_path, monkeypatch):
    """Whatever lists numbers builds it, and an experiment knows that it needs a list of them."""
    contributed(tmp_path)
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
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)

    wanted = ("schubert", "--n", "3", "--recipe", "quick", "--epochs", "1", "--body", "recurrent")
    drawn = ("modular-sum", "--task-options", "terms=3,modulus=31", "--examples", "100", "--epochs", "1")
    for words, told in (
        (wanted, "schubert-3 parity: test accuracy"),
        (drawn, "modular-sum by parity from 100 examples"),
    ):
        done = called(*words, "--device", "cpu", "--restart")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(told)


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_defaults_build_every_embedding(name):
    """Options have the defaults that Python's keywords have, but for AOE's form: commands have the paper's."""
    built = nn.EMBEDDINGS[name].from_options(VOCABULARY, 128, adelic_lab.EmbeddingConfig(name=name).options())
    papers = {"features": "digits"} if name == "adelic" else {}
    assert built.fingerprint() == build_embedding(name, VOCABULARY, **papers).fingerprint()
    assert built.name == name
    assert built(VOCABULARY.ids([[1, 2]])).shape == (1, 2 * built.tokens_per_number, 128)


def test_names_are_known_without_torch(monkeypatch):
    """The tables say what the registry says; where it is loaded, embeddings of one's own are known, too."""
    assert (tuple(nn.EMBEDDINGS), tuple(BODIES)) == (names.EMBEDDINGS, names.BODIES)
    for name, embedding in nn.EMBEDDINGS.items():
        assert names.needs_vocabulary(name) is embedding.needs_vocabulary
    for name, body in BODIES.items():
        assert set(names.unused_options(name)) == set(body.unused)
        assert names.n_tokens(name, 9) == {"number": 10, "vertex": 3, "row": 1}[body.token]
    assert names.needs_vocabulary("parity") is False
    for kind, known in (("embedding", nn.EMBEDDINGS), ("body", BODIES)):
        with pytest.raises(UnknownNameError) as caught:
            names.check_name(kind, "parity")
        assert str(caught.value).partition(f"{kind}: ")[2].split(", ") == sorted(known)
        monkeypatch.setitem(known, "parity", None)
        names.check_name(kind, "parity")


def test_options_name_embeddings_and_values_that_there_are():
    """The description of an experiment needs no torch, so it repeats a few names: these."""
    described = options(adelic_lab.EmbeddingConfig)
    assert {name for option in described.values() for name in option.of} <= set(nn.EMBEDDINGS)
    assert described["places"].words_for_all == ("flat", *PLACES, *described_embedding.FUSIONS)
    assert described_embedding.FUSIONS == FUSIONS
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
        if value not in FUSIONS
    ],
)
def test_every_value_builds_an_embedding(name, option, value):
    config = adelic_lab.EmbeddingConfig(name=name, **{option: value})
    if config.places is None:
        assert config.name == nn.EMBEDDINGS[name].from_options(VOCABULARY, 256, config.options()).name


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "n", "changes"),
    [("mlp", 5, {"task": "lattice", "view": "heights"}), ("graph", 6, {"task": "quiver", "max_rows": 50})],
)
def test_a_run_of_another_body(tiny_config, refused, tmp_path, body, n, changes):
    config = tiny_config("learned", n=n, body=body, epochs=2, **changes)
    result = adelic_lab.run(config, tmp_path)
    assert adelic_lab.run(config, tmp_path) == result
    assert f"--body {body}" in config.command()
    assert config.as_dict()["recipe"]["body"] == body
    assert "body" not in tiny_config().as_dict()["recipe"]
    arguments = (changes["task"], "--n", n, "--recipe", "quick", "--body", body)
    values = {"pooling": "tokens", "positional": "learned", "norm": "pre", "initial_std": 0.02, "n_heads": 2}
    for name in BODIES[body].unused:
        option = f"--{name.replace('_', '-')}"
        told = refused("train", *arguments, option, values[name], "--run-dir", tmp_path / "no")
        assert f"{option} plays no part in --body {body}; leave it out" in told


def test_what_a_body_does_not_go_with(tiny_config, refused, tmp_path):
    told = refused("train", "schubert", "--n", 3, "--recipe", "quick", "--body", "graph", "--run-dir", tmp_path / "no")
    assert "--body graph reads n × n numbers, and these examples have 11; use --body sequence" in told
    words = ("quiver-11", "--recipe", "quick", "--body", "graph", "--norm", "pre")
    assert "--norm plays no part in --body graph" in refused("reproduce", *words)
    config = tiny_config("learned", task="quiver", n=6, body="graph")
    with pytest.raises(ConfigurationError, match="--places late is a complete body"):
        replace(config, model=adelic_lab.EmbeddingConfig.of("adelic", places="late"))
