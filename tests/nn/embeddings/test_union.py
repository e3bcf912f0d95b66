"""Several embeddings at once."""

import pytest
import torch

from adelic import nn
from adelic.errors import ConfigurationError, EncodingError, UnknownNameError


def test_the_vectors_are_the_sum_of_the_parts():
    union = nn.UnionEmbedding([5, 70, -3], d_model=8, parts="fone+periodic+residues+xval")
    ids = torch.tensor([[0, 2], [1, 1]])
    assert torch.allclose(union(ids), sum(part(ids) for part in union.parts.values()))
    assert union.parts["residues"].layout.kind == "residues"
    assert union.parts["residues"].coordinates == "p-adic"


def test_open_numbers_have_the_vectors_of_a_vocabulary():
    numbers = [5, 70, 3]
    closed = nn.UnionEmbedding(numbers, d_model=8)
    opened = nn.UnionEmbedding(None, d_model=8, max_digits=2).fit(numbers)
    opened.load_state_dict(closed.state_dict())
    assert torch.allclose(opened([numbers]), closed(torch.tensor([[0, 1, 2]])), atol=1e-6)


def test_more_numbers_come_whole_or_not_at_all():
    union = nn.UnionEmbedding([5, 7], d_model=8)
    before = union(torch.tensor([0, 1]))
    with pytest.raises(EncodingError):
        union.extend([10**9])  # more digits than fone has here
    assert len(union.vocabulary) == 2
    union.extend([9])
    assert torch.equal(union(torch.tensor([0, 1, 2]))[:2], before)
    assert union(torch.tensor([2])).isfinite().all()


def test_weights_of_other_parts_are_refused():
    one, other = nn.UnionEmbedding([5, 7], d_model=8), nn.UnionEmbedding([7, 5], d_model=8)
    with pytest.raises(ConfigurationError, match="these weights are of another"):
        other.load_state_dict(one.state_dict())
    with pytest.raises(UnknownNameError, match="unknown part 'fome'; did you mean 'fone'"):
        nn.UnionEmbedding([5, 7], d_model=8, parts="fome")
