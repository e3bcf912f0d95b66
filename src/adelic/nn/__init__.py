"""PyTorch layers for numbers: from the numbers that can occur, by embeddings, to classes or numbers as answers.

>>> import torch
>>> from adelic import AdeleSpace, nn
>>> vocabulary = nn.Vocabulary(range(0, 8))
>>> embedding = nn.AdelicEmbedding(vocabulary, space=AdeleSpace(), d_model=128, features="digits", projection=None)
>>> model = nn.SequenceClassifier(embedding, n_classes=5, max_length=8)
>>> model(vocabulary.ids([[0, 3, 7, 5, 4, 6, 1, 2]])).shape
torch.Size([1, 5])

What lives where:

- `embeddings`: from numbers to vectors, one module per embedding, as `nn.EMBEDDINGS` has them by name.
- `bodies`: from embedded numbers to the states that a head reads; `SequenceClassifier` and the place-wise ones, and
  `graph_classifier` for matrices; and from numbers to classes, `LocalGlobalClassifier`.
- `heads`: from a state to classes, or to numbers; with their losses.
- `positional`, `placewise`: positional encodings; layers that keep the places apart.
- `functional`: digits and their arithmetic on the tensor's own device.
- `backend`: how precise products are and where dropout's random numbers come from, set around `model(ids)`.
- `kernels`, `fingerprint`, `checks`: what these stand on.

It imports `adelic.numbers`, torch and numba: no data and no files. Names that are not here are for the layers above.

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
