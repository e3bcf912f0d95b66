"""Several embeddings at once."""

import pytest
import torch

from adelic import nn
from adelic.errors import EncodingError


def test_the_vectors_are_the_sum_of_the_parts():
    union = nn.UnionEmbedding([5, 70, -3], d_model=8, parts="fone+periodic+residues+xval")
    ids = torch.tensor([[0, 2], [1, 1]])
    assert torch.allclose(union(ids), sum(part(ids) for part in union.parts.values()))
    assert union.parts["residues"].layout.kind == "residues"
    assert union.parts["residues"].coordinates == "p-adic"


def test_more_numbers_come_whole_or_not_at_all():
    union = nn.UnionEmbedding([5, 7], d_model=8)
    before = union(torch.tensor([0, 1]))
    with pytest.raises(EncodingError):
        union.extend([10**9])  # more digits than fone has here
    assert len(union.vocabulary) == 2
    union.extend([9])
    assert torch.equal(union(torch.tensor([0, 1, 2]))[:2], before)
    assert union(torch.tensor([2])).isfinite().all()
