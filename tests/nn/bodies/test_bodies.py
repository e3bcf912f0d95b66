"""What holds for every body that goes with any embedding."""

import pytest
import torch

from adelic import nn
from adelic.errors import ConfigurationError
from adelic.nn.backend import Backend, Noise
from adelic.nn.registry import BODIES

VOCABULARY = nn.Vocabulary(range(-2, 3))


@pytest.fixture(params=BODIES)
def body(request):
    """Return bodies of one kind for 16 numbers, ready for evaluation."""

    def make(embedding=None, **options):
        torch.manual_seed(0)
        sizes = {"n_classes": 3, "max_length": 16, "n_layers": 2, "n_heads": 2, "d_feedforward": 32} | options
        sizes = {key: size for key, size in sizes.items() if key not in BODIES[request.param].unused}
        return BODIES[request.param](embedding or nn.LearnedEmbedding(VOCABULARY, d_model=16), **sizes).eval()

    return make


@pytest.mark.parametrize("options", [{}, {"features": "digits"}], ids=["behind a projection", "folded"])
def test_more_numbers_are_read(body, options):
    model, ids = body(nn.AdelicEmbedding(VOCABULARY, d_model=16, **options)), torch.randint(5, (9, 16))
    before = model(ids)
    model.extend([7, -5])
    torch.testing.assert_close(model(ids), before)
    new, other = (model(ids.index_fill(1, torch.tensor([2]), at)) for at in (5, 6))
    torch.testing.assert_close(model(ids[:1].index_fill(1, torch.tensor([2]), 5)), new[:1])
    for one in (before, other):
        assert not torch.allclose(new, one, atol=1e-4)
    with pytest.raises(ConfigurationError, match="learned has a vector for each number"):
        body().extend([7])


def test_heads_of_ones_own_and_several_targets(body):
    model = body(head=lambda d: torch.nn.Linear(d, 7), n_classes=None)
    for shape in ((2, 3), (), (0,)):
        assert model(torch.zeros(*shape, 16, dtype=torch.int64)).shape == (*shape, 7)
    assert body(n_classes=(2, 3))(torch.zeros(2, 16, dtype=torch.int64)).shape == (2, 2, 3)


def test_dropout_depends_on_seed_and_row_alone(body):
    """So that threads that share a batch come to the same, whichever is first."""
    model, ids = body(dropout=0.5).train(), torch.randint(0, 5, (10, 16))
    with Backend(noise=Noise(3)).on("cpu"):
        whole = model(ids)
        torch.testing.assert_close(model(ids), whole)
    with Backend(noise=Noise(3, first_row=6)).on("cpu"):
        torch.testing.assert_close(model(ids[6:]), whole[6:])
    with Backend(noise=Noise(4)).on("cpu"):
        assert not torch.allclose(model(ids), whole)
    assert not torch.allclose(model(ids), model(ids))  # of torch's generator
    torch.testing.assert_close(model.eval()(ids), model(ids))
