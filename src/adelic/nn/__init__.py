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
    from adelic.nn.bodies.classifier import Classifier
    from adelic.nn.bodies.placewise_classifier import PlacewiseClassifier, place_sizes
    from adelic.nn.bodies.placewise_transformer import PlacewiseTransformer
    from adelic.nn.bodies.sequence_classifier import SequenceClassifier
    from adelic.nn.embeddings.abacus import AbacusEmbedding
    from adelic.nn.embeddings.adelic import COORDINATES, AdelicEmbedding
    from adelic.nn.embeddings.base import NumberEmbedding
    from adelic.nn.embeddings.features import FeatureEmbedding, ScaledEmbedding
    from adelic.nn.embeddings.fone import FoNEEmbedding
    from adelic.nn.embeddings.learned import LearnedEmbedding
    from adelic.nn.embeddings.one_hot import OneHotEmbedding
    from adelic.nn.embeddings.periodic import PeriodicEmbedding
    from adelic.nn.embeddings.random import RandomEmbedding
    from adelic.nn.embeddings.registry import EMBEDDINGS, build_embedding
    from adelic.nn.embeddings.xval import XValEmbedding
    from adelic.nn.flops import forward_flops
    from adelic.nn.heads.adelic import AdelicHead, AdelicLoss, AdelicPrediction, adelic_targets
    from adelic.nn.placewise import ACTIVATIONS, PLACE_FEATURES, PLACES, PlaceEmbedding, PlacewiseLinear, PlacewiseMLP
    from adelic.nn.positional import (
        AdelicPositionalEncoding,
        LearnedPositionalEncoding,
        PositionalEncoding,
        SinusoidalPositionalEncoding,
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
