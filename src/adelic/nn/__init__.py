"""Layer 2b, PyTorch: vocabularies, features, embeddings, positional encodings, the classifier. No data, no files.

>>> import torch
>>> from adelic import AdeleSpace, nn
>>> vocabulary = nn.Vocabulary(range(0, 8))
>>> embedding = nn.AdelicEmbedding(vocabulary, space=AdeleSpace(), d_model=128, features="digits", projection=None)
>>> model = nn.SequenceClassifier(embedding, n_classes=5, max_length=8)
>>> model(vocabulary.ids([[0, 3, 7, 5, 4, 6, 1, 2]])).shape
torch.Size([1, 5])
"""

from adelic.errors import needs_extra

with needs_extra("adelic.nn", "torch"):
    from adelic.nn import functional
    from adelic.nn.classifier import Classifier, SequenceClassifier
    from adelic.nn.embeddings import COORDINATES, AdelicEmbedding, LearnedEmbedding, NumberEmbedding
    from adelic.nn.flops import forward_flops
    from adelic.nn.fone import FoNEEmbedding
    from adelic.nn.head import AdelicHead, AdelicLoss, AdelicPrediction, adelic_targets
    from adelic.nn.placewise import ACTIVATIONS, PLACE_FEATURES, PlaceEmbedding, PlacewiseLinear, PlacewiseMLP
    from adelic.nn.placewise_classifier import PLACES, PlacewiseClassifier, place_sizes
    from adelic.nn.placewise_transformer import PlacewiseTransformer
    from adelic.nn.positional import (
        AdelicPositionalEncoding,
        LearnedPositionalEncoding,
        PositionalEncoding,
        SinusoidalPositionalEncoding,
    )
    from adelic.nn.registry import EMBEDDINGS, build_embedding
    from adelic.nn.rivals import (
        AbacusEmbedding,
        FeatureEmbedding,
        OneHotEmbedding,
        PeriodicEmbedding,
        RandomEmbedding,
        ScaledEmbedding,
        XValEmbedding,
    )
    from adelic.nn.vocabulary import Vocabulary
    from adelic.numbers.features import FEATURE_KINDS, FeatureLayout, compute_features

__all__ = [
    "ACTIVATIONS",
    "COORDINATES",
    "EMBEDDINGS",
    "FEATURE_KINDS",
    "PLACES",
    "PLACE_FEATURES",
    "AbacusEmbedding",
    "AdelicEmbedding",
    "AdelicHead",
    "AdelicLoss",
    "AdelicPositionalEncoding",
    "AdelicPrediction",
    "Classifier",
    "FeatureEmbedding",
    "FeatureLayout",
    "FoNEEmbedding",
    "LearnedEmbedding",
    "LearnedPositionalEncoding",
    "NumberEmbedding",
    "OneHotEmbedding",
    "PeriodicEmbedding",
    "PlaceEmbedding",
    "PlacewiseClassifier",
    "PlacewiseLinear",
    "PlacewiseMLP",
    "PlacewiseTransformer",
    "PositionalEncoding",
    "RandomEmbedding",
    "ScaledEmbedding",
    "SequenceClassifier",
    "SinusoidalPositionalEncoding",
    "Vocabulary",
    "XValEmbedding",
    "adelic_targets",
    "build_embedding",
    "compute_features",
    "forward_flops",
    "functional",
    "place_sizes",
]
