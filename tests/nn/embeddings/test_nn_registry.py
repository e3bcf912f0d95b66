"""The registry: one module is one embedding, its options included."""

import copy
import sys

import numpy as np
import pytest
import torch

from adelic import nn
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.nn.registry import build_embedding, find_classes

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


@pytest.mark.parametrize(("wrong", "told"), [("learnt", "did you mean 'learned'"), ("qqq", "abacus, adelic, ang")])
def test_unknown_names_are_told(wrong, told):
    with pytest.raises(UnknownNameError, match=f"unknown embedding '{wrong}'.*{told}"):
        build_embedding(wrong, VOCABULARY)


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_every_embedding_reads_ids_of_any_shape_and_trains(name, batch):
    torch.manual_seed(0)
    embedding = build_embedding(name, VOCABULARY, d_model=16)
    assert type(embedding) is nn.EMBEDDINGS[name]
    n, ids = embedding.tokens_per_number, torch.randint(12, (*batch, 5))
    out = embedding(ids)
    assert (out.shape, out.dtype) == ((*batch, 5 * n, 16), torch.float32)
    assert torch.allclose(out.reshape(-1, 16), embedding(ids.reshape(-1)), atol=1e-6)
    for wrong in (12, -1):
        with pytest.raises(IndexError):
            embedding(torch.tensor([wrong]))
    if embedding.needs_vocabulary:
        with pytest.raises(ConfigurationError, match=f"{name} needs a vocabulary: name the numbers"):
            build_embedding(name, None)
    model = nn.SequenceClassifier(embedding, n_classes=3, max_length=5, n_layers=1, n_heads=2, dropout=0.0)
    ids, labels = torch.randint(12, (32, 5)), torch.randint(3, (32,))
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=1e-4), []
    for _ in range(2):
        optimizer.zero_grad()
        losses.append(torch.nn.functional.cross_entropy(model(ids), labels))
        losses[-1].backward()
        optimizer.step()
    assert losses[1] < losses[0]
    assert all(parameter.grad.any() for parameter in embedding.parameters())


SIZES = {"fone": {"integer_digits": 4}, **{name: {"max_digits": 4} for name in ("abacus", "base-digits", "union")}}


@pytest.mark.parametrize("name", [name for name, kind in nn.EMBEDDINGS.items() if not kind.needs_vocabulary])
def test_open_ended_numbers_have_the_vectors_of_a_vocabulary(name, batch):
    """With as many digits, so that the weights fit; those of every form of features have a test of their own."""
    numbers = [0, 5, -5, 120, -7, 1000, 21, 12]
    closed, opened = (build_embedding(name, known, d_model=16, **SIZES.get(name, {})) for known in (numbers, None))
    if hasattr(opened, "fit"):
        opened.fit(numbers)
    opened.load_state_dict(closed.state_dict())
    ids = torch.randint(len(numbers), (*batch, 5))
    asked = np.array(numbers)[ids.numpy()]
    torch.testing.assert_close(opened(asked), closed(ids), atol=1e-6, rtol=1e-5)
    assert torch.equal(copy.deepcopy(opened)(asked), opened(asked))


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_missing_and_unknown_numbers_have_vectors_or_are_refused(name):
    vocabulary = nn.Vocabulary([1, 2, 3], missing=True, unknown=True)
    if nn.EMBEDDINGS[name].reads_missing:
        vectors = nn.EMBEDDINGS[name](vocabulary, 64)(vocabulary.ids([[1, 2, None, 7]]))[0]
        assert len({tuple(vector) for vector in vectors.tolist()}) == 4
    else:
        with pytest.raises(ConfigurationError, match=f"^{name} has no vector for a missing or unknown number; take "):
            nn.EMBEDDINGS[name](vocabulary, 64)


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
def test_counts_ranges_and_lists_are_vocabularies(name):
    ids = VOCABULARY.ids([[1, 2, 11]])
    expected = seeded(name, VOCABULARY)
    assert len(torch.unique(expected(torch.arange(12)).reshape(12, -1), dim=0)) == 12
    for numbers in (12, np.int64(12), range(12), list(range(12)), (str(i) for i in range(12))):
        built = seeded(name, numbers)
        assert built.vocabulary.numbers == VOCABULARY.numbers
        assert torch.equal(built(ids), expected(ids))
        assert built.fingerprint() == expected.fingerprint()


def seeded(name, numbers):
    """Return an embedding whose first weights do not depend on what came before."""
    torch.manual_seed(0)
    return build_embedding(name, numbers, d_model=128).eval()
