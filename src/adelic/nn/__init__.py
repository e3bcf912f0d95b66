"""PyTorch layers for numbers: embeddings that read numbers, networks, and heads that answer with classes or numbers.

>>> import torch
>>> from adelic import AdeleSpace, nn
>>> vocabulary = nn.Vocabulary(range(0, 8))
>>> embedding = nn.AdelicEmbedding(vocabulary, space=AdeleSpace(), d_model=128, features="digits", projection=None)
>>> model = nn.SequenceClassifier(embedding, n_classes=5, max_length=8)
>>> model(vocabulary.ids([[0, 3, 7, 5, 4, 6, 1, 2]])).shape
torch.Size([1, 5])

The parts:

- `embeddings`: from numbers to vectors; `nn.EMBEDDINGS` has them by name.
- `bodies`: from vectors to the states that a head reads: `SequenceClassifier`, networks that keep the places apart, and
  `graph_classifier` for matrices. `LocalGlobalClassifier` goes from numbers to classes.
- `heads`: from states to classes or numbers, with their losses.
- `positional`, `placewise`: positional encodings; layers that keep the places (each prime, and the real numbers) apart.
- `functional`: digits and their arithmetic on the tensor's device.
- `backend`: precision of products and random numbers of dropout, set around `model(ids)`.
- `kernels`, `fingerprint`, `checks`: helpers.

Saved weights: the vocabulary, primes, digits and features are part of `state_dict()`, because weights mean nothing with
another encoding. `load_state_dict` raises an error if they differ, also with strict=False:

>>> one, other = (nn.AdelicHead(AdeleSpace(primes, precision=4), 64) for primes in [(2, 3, 5), (2, 3, 7)])
>>> other.load_state_dict(one.state_dict())
Traceback (most recent call last):
adelic.errors.ConfigurationError: these weights are of another AdelicHead: primes [2, 3, 5] with them, [2, 3, 7] here...

Models with a vocabulary can be compiled, exported by `torch.export` with dynamic batch sizes and lengths, and written
to ONNX (`pip install 'adelic[onnx]'`); their results agree up to rounding. A model without a vocabulary reads Python's
numbers, which a graph cannot; encode these before the model.

The package imports `adelic.numbers`, torch and numba, and neither data nor files.

To add an embedding or a body, put a module into `embeddings` or `bodies` (CONTRIBUTING.md has one of each in ten
lines); `registry` finds it by its name, and nothing else needs to know it.
"""

from adelic.errors import needs_extra

with needs_extra("adelic.nn", "torch"):
    from adelic.nn import functional
    from adelic.nn.bodies.local_global import LocalGlobalClassifier
    from adelic.nn.bodies.placewise_classifier import PlacewiseClassifier
    from adelic.nn.bodies.placewise_transformer import PlacewiseTransformer
    from adelic.nn.bodies.sequence_classifier import SequenceClassifier
    from adelic.nn.embeddings.abacus import AbacusEmbedding
    from adelic.nn.embeddings.adelic import AdelicEmbedding
    from adelic.nn.embeddings.angular import AngularEmbedding
    from adelic.nn.embeddings.base import NumberEmbedding
    from adelic.nn.embeddings.digits import BaseDigitsEmbedding, ResiduesEmbedding
    from adelic.nn.embeddings.fone import FoNEEmbedding
    from adelic.nn.embeddings.learned import LearnedEmbedding, OneHotEmbedding, RandomEmbedding
    from adelic.nn.embeddings.periodic import PeriodicEmbedding
    from adelic.nn.embeddings.union import UnionEmbedding
    from adelic.nn.embeddings.xval import XValEmbedding
    from adelic.nn.heads.adelic import AdelicHead, AdelicLoss, AdelicPrediction, adelic_targets
    from adelic.nn.heads.exact import WrittenNumbers, exact_numbers, fractions_of
    from adelic.nn.heads.operations import OperationHead, OperationPrediction
    from adelic.nn.placewise import PlaceEmbedding, PlacewiseLinear, PlacewiseMLP
    from adelic.nn.positional import AdelicPositionalEncoding, SinusoidalPositionalEncoding
    from adelic.nn.registry import EMBEDDINGS, build_embedding
    from adelic.nn.vocabulary import Vocabulary

__all__ = [
    "EMBEDDINGS",
    "AbacusEmbedding",
    "AdelicEmbedding",
    "AdelicHead",
    "AdelicLoss",
    "AdelicPositionalEncoding",
    "AdelicPrediction",
    "AngularEmbedding",
    "BaseDigitsEmbedding",
    "FoNEEmbedding",
    "LearnedEmbedding",
    "LocalGlobalClassifier",
    "NumberEmbedding",
    "OneHotEmbedding",
    "OperationHead",
    "OperationPrediction",
    "PeriodicEmbedding",
    "PlaceEmbedding",
    "PlacewiseClassifier",
    "PlacewiseLinear",
    "PlacewiseMLP",
    "PlacewiseTransformer",
    "RandomEmbedding",
    "ResiduesEmbedding",
    "SequenceClassifier",
    "SinusoidalPositionalEncoding",
    "UnionEmbedding",
    "Vocabulary",
    "WrittenNumbers",
    "XValEmbedding",
    "adelic_targets",
    "build_embedding",
    "exact_numbers",
    "fractions_of",
    "functional",
]
