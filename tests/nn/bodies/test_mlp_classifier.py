"""The body that reads all numbers of a row side by side."""

import pytest
import torch

from adelic import nn
from adelic.errors import ConfigurationError
from adelic.nn.bodies.mlp_classifier import MLPClassifier
from adelic.numbers import AdeleSpace

VOCABULARY = nn.Vocabulary(range(-2, 3))
EMBEDDINGS = [nn.LearnedEmbedding, nn.AdelicEmbedding, nn.FoNEEmbedding, nn.XValEmbedding, nn.BaseDigitsEmbedding]


def body(embedding=nn.LearnedEmbedding, vocabulary=VOCABULARY, **options):
    torch.manual_seed(0)
    sizes = {"n_classes": 3, "n_layers": 2, "d_feedforward": 32, "max_length": 4}
    return MLPClassifier(embedding(vocabulary, d_model=16), **sizes | options)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_against_the_layers_written_out(embedding):
    """Of many rows and of few, for which the first layer is computed in two ways."""
    model = body(embedding).eval()
    ids = torch.randint(0, 5, (40, 4))
    vectors = model.embedding(ids)  # (rows, tokens, 16)
    x = torch.einsum("rld,dlh->rh", vectors, model.weight) + model.bias
    for norm, layer in zip(model.norms[:2], model.layers, strict=True):
        x = x + layer(norm(x).relu())
    wanted = model.head(model.norms[2](x).relu())
    torch.testing.assert_close(model(ids), wanted)
    torch.testing.assert_close(torch.cat([model(row[None]) for row in ids]), wanted)


def test_both_ways_have_the_same_gradients():
    model = body(dropout=0.0)
    ids = torch.randint(0, 5, (40, 4))
    parameters = list(model.parameters())
    at_once = torch.autograd.grad(model(ids).square().sum(), parameters)
    one_by_one = torch.autograd.grad(sum(model(row[None]).square().sum() for row in ids), parameters)
    torch.testing.assert_close(at_once, one_by_one, rtol=1e-4, atol=1e-4)


def test_a_place_has_weights_of_its_own():
    model = body().eval()
    assert model.n_parameters == 5 * 16 + (4 * 16 + 1) * 32 + 2 * (32 + 1) * 32 + 3 * 2 * 32 + 33 * 3
    ids = torch.tensor([[0, 1, 2, 3], [1, 0, 2, 3]])
    assert not torch.allclose(*model(ids), atol=1e-3)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_a_number_has_a_perceptron_for_its_size(embedding):
    space = AdeleSpace(primes=(2, 3, 5), precision=1)
    model = body(embedding, n_classes=None, head=lambda d: nn.AdelicHead(space, d, placewise=False)).eval()
    ids = torch.randint(0, 5, (40, 4))
    found, alone = model(ids), torch.cat([model(row[None]).real for row in ids])
    torch.testing.assert_close(found.real, alone)
    vectors = model.embedding(ids)
    x = torch.einsum("rld,dlh->rh", vectors, model.real.weight) + model.real.bias
    for norm, layer in zip(model.real.norms[:2], model.real.layers, strict=True):
        x = x + layer(norm(x).relu())
    torch.testing.assert_close(found.real, model.head.real(model.real.norms[2](x).relu())[:, 0])
    with torch.no_grad():
        for parameter in model.real.parameters():
            parameter.zero_()
    torch.testing.assert_close(model(ids).logits, found.logits)
    assert len(model(ids).real.unique()) == 1
    assert model(ids.view(2, 20, 4)).real.shape == (2, 20)


def test_the_two_perceptrons_drop_other_elements():
    space = AdeleSpace(primes=(2, 3, 5), precision=1)
    model = body(n_classes=None, head=lambda d: nn.AdelicHead(space, d, placewise=False), n_layers=3)
    sites = [{part.first_site + site for site in range(4)} for part in (model, model.real)]
    assert sites[0].isdisjoint(sites[1])


def test_open_ended_numbers_come_in_any_form():
    model, numbers = body(nn.AdelicEmbedding, None).eval(), torch.arange(8).reshape(2, 4)
    for same in (numbers.int(), numbers.numpy(), numbers.tolist(), [list(map(str, row)) for row in numbers.tolist()]):
        assert torch.equal(model(same), model(numbers))


def test_what_it_cannot_read():
    with pytest.raises(ConfigurationError, match="an example of 9 numbers: this body reads 4"):
        body()(torch.zeros(2, 9, dtype=torch.int64))
    for options in ({"n_classes": 1}, {"n_layers": 0}, {"max_length": 0}, {"dropout": 1.0}):
        with pytest.raises(ConfigurationError, match=next(iter(options))):
            body(**options)
    with pytest.raises(ConfigurationError, match="d_feedforward=0 leaves no hidden layer"):
        body(d_feedforward=0)
    for wrong in (-1, 5):  # the first of a row, and the last, are refused as well
        ids = torch.zeros(40, 4, dtype=torch.int64)
        for place in (0, 3):
            with pytest.raises(RuntimeError, match="not in the valid range"):
                body()(ids.index_fill(1, torch.tensor([place]), wrong))
