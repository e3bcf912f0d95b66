import pytest
import torch

from adelic import AdeleSpace, nn
from adelic.errors import ConfigurationError
from adelic.nn.registry import BODIES, build_embedding
from adelic_lab.train.cost import forward_flops

LENGTH, D, HEADS, INNER, LAYERS, CLASSES = 5, 16, 2, 32, 3, 4


def flat(embedding, **changes):
    sizes = {"n_layers": LAYERS, "n_heads": HEADS, "d_feedforward": INNER, "n_classes": CLASSES, "max_length": LENGTH}
    return nn.SequenceClassifier(embedding, **sizes | changes)


def layer(tokens, read, d=D, inner=INNER):
    """A layer that gives `read` of `tokens` states, by hand: a product of (m, k) and (k, n) takes 2·m·k·n."""
    keys_and_values, queries = 2 * tokens * d * 2 * d, 2 * read * d * d
    scores = mixing = 2 * read * tokens * d  # of all heads together
    projection, feed_forward = 2 * read * d * d, 2 * 2 * read * d * inner
    return keys_and_values + queries + scores + mixing + projection + feed_forward


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_flat_model_by_hand(norm):
    model = flat(nn.LearnedEmbedding(nn.Vocabulary(range(7)), d_model=D), norm=norm)
    tokens = LENGTH + 1
    expected = (LAYERS - 1) * layer(tokens, tokens) + layer(tokens, 1) + 2 * D * CLASSES
    assert forward_flops(model, LENGTH) == expected
    shorter = (LAYERS - 1) * layer(4, 4) + layer(4, 1) + 2 * D * CLASSES
    assert forward_flops(model, 3) == shorter


def test_the_place_wise_model_by_hand():
    """Each place is a narrow flat model; the whole vocabulary is projected before the look-up."""
    numbers, d, inner = 6, 8, 24
    space = AdeleSpace((2, 3), precision=2)
    model = nn.PlacewiseClassifier(
        nn.Vocabulary(range(numbers)), n_classes=CLASSES, max_length=LENGTH, space=space, places="apart",
        d_place=d, n_layers=LAYERS, n_heads=1, d_feedforward=inner,
    )  # fmt: skip
    tokens, width = LENGTH + 1, model.table.shape[2]
    place = (LAYERS - 1) * layer(tokens, tokens, d, inner) + layer(tokens, 1, d, inner)
    # At once, queries of the last layer are computed for all tokens, and one of them is read.
    place += 2 * (tokens - 1) * d * d
    assert forward_flops(model, LENGTH) == 3 * (place + 2 * numbers * width * d) + 2 * 3 * d * CLASSES


def test_a_head_that_reads_all_tokens():
    """The last layer is as the others are, and the head has as many inputs as all states."""
    model = flat(nn.LearnedEmbedding(nn.Vocabulary(range(7)), d_model=D), pooling="tokens")
    tokens = LENGTH + 1
    assert forward_flops(model, LENGTH) == LAYERS * layer(tokens, tokens) + 2 * tokens * D * CLASSES


def test_a_linear_map_of_features_is_counted():
    vocabulary = nn.Vocabulary(range(7))
    plain = nn.AdelicEmbedding(vocabulary, d_model=128, features="digits")
    mapped = nn.AdelicEmbedding(vocabulary, d_model=128, features="digits", projection="linear")
    assert forward_flops(flat(mapped), LENGTH) > forward_flops(flat(plain), LENGTH)


@pytest.mark.parametrize("name", nn.EMBEDDINGS)
@pytest.mark.parametrize("is_training", [True, False])
def test_nothing_is_disturbed(name, is_training):
    model = flat(build_embedding(name, nn.Vocabulary(range(7)), d_model=128)).train(is_training)
    model.embedding.eval()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    state = torch.get_rng_state()
    assert forward_flops(model, LENGTH) > 0
    assert torch.equal(torch.get_rng_state(), state)
    assert model.training == model.layers[0].training == is_training
    assert not model.embedding.training
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert {p.device.type for p in model.parameters()} == {"cpu"}


def test_heads_that_speak_numbers_and_several_targets():
    embedding = nn.LearnedEmbedding(nn.Vocabulary(range(7)), d_model=D)
    body = forward_flops(flat(embedding), LENGTH) - 2 * D * CLASSES
    assert forward_flops(flat(embedding, n_classes=(2, 3, 1)), LENGTH) == body + 2 * D * 6
    space = AdeleSpace((2, 3), precision=1)
    speaking = flat(embedding, n_classes=None, head=lambda d: nn.AdelicHead(space, d, placewise=False))
    assert forward_flops(speaking, LENGTH) > body


def test_bodies_that_are_no_transformers():
    embedding = nn.LearnedEmbedding(nn.Vocabulary(range(7)), d_model=D)
    sizes = {"n_classes": CLASSES, "n_layers": LAYERS}
    perceptron = BODIES["mlp"](embedding, max_length=LENGTH, d_feedforward=INNER, **sizes)
    assert forward_flops(perceptron, LENGTH) == 2 * (LENGTH * D * INNER + LAYERS * INNER * INNER + INNER * CLASSES)
    graph = BODIES["graph"](embedding, max_length=16, n_heads=HEADS, d_feedforward=INNER, **sizes)
    assert forward_flops(graph, 16) < forward_flops(flat(embedding, max_length=16), 16)


def test_a_row_that_is_too_long():
    model = flat(nn.LearnedEmbedding(nn.Vocabulary(range(7)), d_model=D)).train()
    with pytest.raises(ConfigurationError, match="length 6 exceeds max_length=5"):
        forward_flops(model, LENGTH + 1)
    assert model.training
