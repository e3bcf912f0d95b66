"""The registry: one module is one embedding, its options included."""

import sys

import numpy as np
import pytest
import torch

from adelic import nn
from adelic.errors import ConfigurationError
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
    for numbers in (12, np.int64(12), range(12), list(range(12)), (str(i) for i in range(12))):
        built = seeded(name, numbers)
        assert built.vocabulary.numbers == VOCABULARY.numbers
        assert torch.equal(built(ids), expected(ids))
        assert built.fingerprint() == expected.fingerprint()


def seeded(name, numbers):
    """Return an embedding whose first weights do not depend on what came before."""
    torch.manual_seed(0)
    return build_embedding(name, numbers, d_model=128).eval()
