"""The body that reads matrices as graphs."""

import pytest
import torch

from adelic import nn
from adelic.errors import ConfigurationError
from adelic.nn.bodies.graph_classifier import GraphClassifier

VOCABULARY = nn.Vocabulary(range(-2, 3))


def body(n=4, **options):
    torch.manual_seed(0)
    embedding = options.pop("embedding", None) or nn.LearnedEmbedding(VOCABULARY, d_model=16)
    sizes = {"n_classes": 3, "n_layers": 2, "n_heads": 2, "d_feedforward": 32, "max_length": n * n}
    return GraphClassifier(embedding, **sizes | options)


@pytest.mark.parametrize("embedding", [nn.LearnedEmbedding, nn.AdelicEmbedding, nn.FoNEEmbedding, nn.XValEmbedding])
def test_logits_do_not_depend_on_the_order_of_vertices(embedding):
    model = body(embedding=embedding(VOCABULARY, d_model=16)).eval()
    ids = torch.randint(0, 5, (10, 4, 4))
    order = torch.tensor([2, 0, 3, 1])
    exchanged = ids[:, order][:, :, order]
    assert not torch.equal(ids, exchanged)
    plain = model(ids.flatten(1))
    torch.testing.assert_close(model(exchanged.flatten(1)), plain)
    assert not torch.allclose(model(ids.transpose(1, 2).flatten(1)), plain, atol=1e-3)  # an edge has a direction


def test_against_attention_written_out():
    """One head of one layer, from its definition: a bias, and a message, for each edge there and back."""
    layer = body(n_layers=1, n_heads=1, dropout=0.0).eval().layers[0]
    numbers, x = torch.randn(5, 16), torch.randn(1, 4, 16)
    ids = torch.randint(0, 5, (4, 4))
    there = torch.nn.functional.one_hot(ids, 5).float()
    found = layer(x, torch.cat([there, there.transpose(0, 1)], dim=-1)[None], numbers)[0]
    q, k, v = layer.in_proj(layer.norm1(x))[0].chunk(3, dim=-1)
    bias, message = layer.bias(numbers), layer.message(numbers)
    wanted = []
    for i in range(4):
        scores = torch.stack([q[i] @ k[j] / 4 + bias[ids[i, j], 0] + bias[ids[j, i], 1] for j in range(4)])
        told = [v[j] + message[ids[i, j], :16] + message[ids[j, i], 16:] for j in range(4)]
        state = x[0, i] + layer.out_proj(sum(a * t for a, t in zip(scores.softmax(0), told, strict=True)))
        wanted.append(state + layer.linear2(layer.linear1(layer.norm2(state)).relu()))
    torch.testing.assert_close(found, torch.stack(wanted))


@pytest.mark.parametrize("embedding", [nn.LearnedEmbedding, nn.AdelicEmbedding])
def test_missing_and_unknown_numbers_have_edges(embedding):
    vocabulary = nn.Vocabulary(range(-2, 3), missing=True, unknown=True)
    model = body(embedding=embedding(vocabulary, d_model=16)).eval()
    said = model(vocabulary.ids([[0, 1, other] + [0] * 13 for other in (2, None, 7)]))
    assert not any(torch.allclose(said[i], said[j], atol=1e-4) for i, j in ((0, 1), (0, 2), (1, 2)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_length": 15}, "reads n × n numbers, and these examples have 15"),
        ({"n_heads": 3}, "not divisible by n_heads=3"),
        ({"embedding": nn.BaseDigitsEmbedding(VOCABULARY, d_model=16)}, "needs one vector per number"),
        ({"embedding": nn.AdelicEmbedding(None, d_model=16)}, "needs a vocabulary"),
        ({}, "an example of 9 numbers: this body reads 16"),
    ],
)
def test_what_it_cannot_read(options, words):
    with pytest.raises(ConfigurationError, match=words):
        body(**options)(torch.zeros(2, 9, dtype=torch.int64))
