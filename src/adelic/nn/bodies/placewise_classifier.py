"""The place-wise form of AOE's model: a Transformer encoder at every place, read at its [CLS], or at all tokens."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError, RangeError
from adelic.nn.bodies.classifier import Classifier, Pooling, check_sizes, read_size
from adelic.nn.bodies.encoder import Norm
from adelic.nn.bodies.placewise_transformer import PlacewiseTransformer
from adelic.nn.checks import as_ids
from adelic.nn.fingerprint import Fingerprinted, of_vocabulary
from adelic.nn.heads.classes import make_head
from adelic.nn.placewise import PLACES, PlaceEmbedding, PlacewiseLinear
from adelic.nn.positional import LearnedPositionalEncoding, PositionalEncoding, SinusoidalPositionalEncoding
from adelic.nn.vocabulary import Numbers, Vocabulary
from adelic.numbers import AdeleSpace
from adelic.numbers.describe import describe

_LEAST_DEVIATION = 1e-3


class PlacewiseClassifier(Classifier, Fingerprinted):
    """The vocabulary's place features, a linear map per place, positions, `PlacewiseTransformer`, a linear head.

    Every place sees the sequence at that place alone, and has a [CLS] of its own. The head reads the places' [CLS]
    states, concatenated, or all tokens' states. Before it, places meet

    - places="apart": nowhere, so logits are sums of what each place says;
    - places="late": after the last layer, in a feed-forward layer over the concatenated places.

    The vocabulary's features are one frozen table (a buffer); columns that are the same for all its numbers are left
    out, and each place's are centred and scaled to a mean square of 1.

    Shape: ids (*, length) -> logits (*, n_classes), float32, or as `Classifier` says.

    Args:
        vocabulary: the numbers that can occur, at least two: a `Vocabulary`, a list or range, or n for 0 … n − 1.
        n_classes, head: as of `adelic.nn.SequenceClassifier`; the state has n_places · d_place numbers.
        max_length: longest sequence, without [CLS].
        space: the primes and digits; the default has 8 places.
        features: "characters", "one-hot-digits" or "digits", see `adelic.nn.PlaceEmbedding`.
        places: where places meet.
        d_place: width of a place. `place_sizes` chooses it, the next two and n_heads for a model that has about as many
            parameters as a flat one: with 8 places 40, one head and 160 for 128, 8 and 512, that is 0.95 million
            parameters (apart) or 1.05 (late) against 1.19.
        n_layers, dropout: as of `adelic.nn.SequenceClassifier`.
        n_heads, d_feedforward: of each place.
        norm: "pre" or "post".
        positional: "sinusoidal", the same at every place, or "learned".
        pooling: as of `adelic.nn.SequenceClassifier`.

    Raises:
        UnknownNameError: there are no such features.
        ConfigurationError: a size makes no sense, or two numbers of the vocabulary have the same features, or there is
            one number alone, or there are ids for missing or unknown numbers.
        PrecisionError: a number of the vocabulary does not fit the space's window.
        RangeError: a number of the vocabulary is beyond float64.

    >>> model = PlacewiseClassifier(Vocabulary(range(8)), n_classes=5, max_length=8)
    >>> model(torch.zeros(2, 8, dtype=torch.int64)).shape
    torch.Size([2, 5])
    """

    def __init__(
        self,
        vocabulary: Numbers,
        *,
        n_classes: int | Sequence[int] | None = None,
        head: Callable[[int], nn.Module] | None = None,
        max_length: int,
        space: AdeleSpace | None = None,
        features: str = "characters",
        places: str = "late",
        d_place: int = 40,
        n_layers: int = 6,
        n_heads: int = 1,
        d_feedforward: int = 160,
        dropout: float = 0.1,
        norm: Norm = "pre",
        positional: Literal["sinusoidal", "learned"] = "sinusoidal",
        pooling: Pooling = "cls",
    ) -> None:
        super().__init__()
        check_sizes(n_classes, max_length, n_layers, dropout)
        if places not in PLACES:
            raise ConfigurationError(f"places={places!r} is unknown; use {', '.join(PLACES)}")
        self.max_length, self.pooling = max_length, pooling
        vocabulary, space = Vocabulary.of(vocabulary), AdeleSpace() if space is None else space
        vocabulary.check_all_known(type(self).__name__)
        self._frozen = of_vocabulary(vocabulary) | space.to_dict() | {"features": features}
        self.table: torch.Tensor
        self.register_buffer("table", _feature_table(vocabulary, space, features), persistent=False)
        _, n_places, width = self.table.shape
        self.projection = PlacewiseLinear(n_places, width, d_place)
        self.cls = nn.Parameter(torch.randn(n_places * d_place))
        if positional == "learned":
            self.positional = LearnedPositionalEncoding(n_places * d_place, max_length=max_length + 1)
        elif positional == "sinusoidal":
            waves = SinusoidalPositionalEncoding(d_place, max_length=max_length + 1)
            self.positional = PositionalEncoding(waves.table.repeat(1, n_places))
        else:
            raise ConfigurationError(f"positional={positional!r} is unknown; use 'sinusoidal' or 'learned'")
        self.dropout = nn.Dropout(dropout)
        self.encoder = PlacewiseTransformer(
            n_places,
            d_place,
            n_layers=n_layers,
            n_heads=n_heads,
            d_feedforward=d_feedforward,
            dropout=dropout,
            norm=norm,
            across="late" if places == "late" else None,
        )
        self.head = make_head(read_size(pooling, n_places * d_place, max_length), n_classes, head)

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, the space and the features."""
        return self._frozen

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the numbers' vectors, those of the places one after the other, (*, length, n_places · d_place)."""
        vectors = self.projection(self.table).flatten(1)  # of the whole vocabulary, which is less than a batch
        return functional.embedding(as_ids(ids, vectors.device), vectors)

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last states that are read, token by token and in it place by place, (batch, …)."""
        places = x.view(*x.shape[:2], self.encoder.n_places, self.encoder.d_place)
        is_cls = self.pooling == "cls"
        states: torch.Tensor = self.encoder(places, first_only=is_cls, first_site=1)
        return states.flatten(1)


def place_sizes(n_places: int, *, d_model: int, n_heads: int, d_feedforward: int) -> dict[str, int]:
    """Return d_place, n_heads and d_feedforward of each place, for about the parameters of a flat encoder's layer.

    The weights of a layer grow with the square of its width, so n_places · d_place² <= d_model²; d_place is a
    multiple of 8, the inner layer keeps its proportion, and the heads are shared out among the places.

    >>> place_sizes(8, d_model=128, n_heads=8, d_feedforward=512)
    {'d_place': 40, 'n_heads': 1, 'd_feedforward': 160}
    """
    # A multiple of 8 fills vector registers.
    d_place = max(8, math.isqrt(d_model**2 // n_places) // 8 * 8)
    heads = next(h for h in (8, 4, 2, 1) if h * n_places <= max(n_heads, n_places))
    return {"d_place": d_place, "n_heads": heads, "d_feedforward": max(1, d_feedforward * d_place // d_model)}


def _feature_table(vocabulary: Vocabulary, space: AdeleSpace, features: str) -> torch.Tensor:
    """Return the features of the vocabulary's numbers, float32 (numbers, n_places, width)."""
    if len(vocabulary) < 2:
        raise ConfigurationError(
            f"{vocabulary} has one number, and the part that all have in common is left out; give two"
        )
    greatest = max(map(abs, vocabulary.numbers))
    try:
        scale = max(1.0, float(greatest))
    except OverflowError:
        raise RangeError(f"{describe(greatest)} is beyond float64; scale the numbers") from None
    table: torch.Tensor = PlaceEmbedding(space, features, real_scale=scale)(space.encode(list(vocabulary.numbers)))
    if len(torch.unique(table, dim=0)) < len(table):
        raise ConfigurationError(
            f"{features} at the primes {space.primes} give two numbers of the vocabulary the same vectors; use more "
            "primes or a higher precision"
        )
    # So that no place is louder than another at first, whatever its features are.
    centred = table - table.mean(dim=0)
    # All places have one width, so a column goes only if it is constant at each of them.
    centred = centred[..., (centred.square().mean(dim=0).sqrt() > _LEAST_DEVIATION).any(dim=0)]
    size = centred.square().mean(dim=(0, 2), keepdim=True).sqrt()
    return centred / torch.where(size > 0, size, 1.0)
