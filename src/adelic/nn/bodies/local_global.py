"""A small network at each place, and a fusion of their answers: the shape of a local–global theorem."""

import itertools
import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError, UnknownNameError
from adelic.nn.backend import dropped
from adelic.nn.bodies.classifier import Body, check_sizes, read_rows
from adelic.nn.fingerprint import Fingerprinted, of_vocabulary
from adelic.nn.vocabulary import Numbers, Vocabulary
from adelic.numbers import AdeleSpace
from adelic.numbers.features import FeatureLayout, hot_positions, place_size, signed_logarithm

FUSIONS = ("agree", "signs", "sum", "product")
"""How the answers of the places become one."""
OF_TWO_CLASSES = ("agree", "signs")
"""Those that tell two classes apart, and no more."""
_GREATEST = 1 - 1e-6
"""Beyond this size a product of signs counts as certain, so its logarithm is finite."""


class LocalGlobalClassifier(Fingerprinted, Body):
    """A small network at each place, the real one among them, and a fusion of their answers.

    The networks read the same rows of numbers, each at its own place: the digits at a prime, one-hot, or the sign and
    the logarithm of the size. With fusion

    - "agree" each place objects by the square of a number, and the logit of the last class is b − Σ objection: it
      holds if it holds everywhere, as the theorem of Hasse and Minkowski has it;
    - "signs" each place gives a sign tanh(s), and their product is (P(last class) − P(first class)): a Hilbert symbol's
      product formula, a root number;
    - "sum" each place gives a vector, and a network of one hidden layer reads their sum: whatever is additive over the
      places, as the number of prime factors;
    - "product" each place gives complex numbers of size 1 or less, all of them 1 where its features are those of the
      number 1, and a network of one hidden layer reads their products: whatever is multiplicative over the places, as
      the Möbius function. With "valuation-unit" valuations begin with one meaning at all primes, and units without any.

    Shape: numbers (*, length), integers or whatever `AdeleSpace.encode` takes, or ids with a vocabulary -> logits
    (*, n_classes), float32.

    Args:
        space: the places and the digits at each.
        n_classes: number of classes; 2 with the fusions "agree" and "signs".
        length: numbers in a row.
        features: "one-hot-digits" or "valuation-unit".
        fusion: one of `FUSIONS`.
        width: units of each hidden layer.
        n_layers: hidden layers, 1 or more; the first reads the features.
        tied: whether all odd primes share the layers after the first, and with "valuation-unit" what a valuation
            means: one law at all primes but 2, and each prime learns its units for itself.
        dropout: of hidden units, in training; there the factors of "product" at what is like 1 are then not quite 1.
        vocabulary: the numbers that can occur, whose features are then computed once: a `Vocabulary`, a list or range,
            or n for 0 … n − 1; None for open-ended numbers.

    Attributes:
        max_length: numbers in a row.

    Raises:
        UnknownNameError: there is no such fusion, or no such features.
        ConfigurationError: sizes make no sense, or "agree" or "signs" is to tell other than two classes apart.

    >>> model = LocalGlobalClassifier(AdeleSpace((2, 3), 4), n_classes=2, length=2, fusion="agree", width=8)
    >>> model(torch.tensor([[2, 3], [-1, 7]])).shape, sorted(model.local(torch.tensor([[2, 3]])))
    (torch.Size([2, 2]), ['2', '3', 'real'])
    """

    hot: torch.Tensor | None
    size: torch.Tensor | None
    hot_of_ones: torch.Tensor | None
    size_of_ones: torch.Tensor | None

    def __init__(
        self,
        space: AdeleSpace,
        *,
        n_classes: int,
        length: int,
        features: str = "one-hot-digits",
        fusion: str = "agree",
        width: int = 64,
        n_layers: int = 2,
        tied: bool = False,
        dropout: float = 0.0,
        vocabulary: Numbers | None = None,
    ) -> None:
        super().__init__()
        check_sizes(n_classes, length, n_layers, dropout)
        if fusion not in FUSIONS:
            raise UnknownNameError.of("fusion", fusion, FUSIONS)
        if fusion in OF_TWO_CLASSES and n_classes != 2:
            raise ConfigurationError(
                f"fusion={fusion!r} tells two classes apart, not {n_classes}; use fusion='sum' or 'product'"
            )
        if width < 1:
            raise ConfigurationError(f"width={width} leaves no unit; width >= 1")
        self.space, self.max_length, self.fusion, self.tied = space, length, fusion, tied
        self.vocabulary = None if vocabulary is None else Vocabulary.of(vocabulary)
        if self.vocabulary is not None:
            self.vocabulary.check_all_known(type(self).__name__)
        self.layout = FeatureLayout.fit(features, space, None)
        n_places, n_out = space.n_primes + 1, {"sum": width, "product": 2 * max(1, width // 2)}.get(fusion, 1)
        # The vectors of a number's features; the last is of "none", which is trained as the others are.
        self.digits = nn.Parameter(torch.randn(length * (self.layout.size + 1), width) / math.sqrt(length))
        self.real = nn.Linear(4 * length, width)
        self.first_bias = nn.Parameter(torch.zeros(n_places, width))
        # Of weights there is a set for each place; or one for the real place, one for 2 and one for all odd primes.
        self._sets = [0, *(1 if p == 2 else 2 for p in space.primes)] if tied else list(range(n_places))
        n_sets = max(self._sets) + 1
        self._shift = torch.zeros(space.n_primes, dtype=torch.int64)
        odd = [j for j, p in enumerate(space.primes) if p != 2]
        zeros = hot_positions(space.encode(1), self.layout)[:, 0]  # where v = 0 stands
        # Tied valuations go to the block of the odd prime with the most of them: a shorter one would not hold all.
        longest = sorted(odd, key=lambda j: -self.layout.place_levels[j])[:1]
        self._shift[odd] = torch.from_numpy(zeros[longest] - zeros[odd])
        listed = None if self.vocabulary is None else list(self.vocabulary.numbers)
        for suffix, numbers in (("", listed), ("_of_ones", [[1] * length] if fusion == "product" else None)):
            hot, size = (None, None) if numbers is None else self._features(numbers)
            self.register_buffer(f"hot{suffix}", hot, persistent=False)
            self.register_buffer(f"size{suffix}", size, persistent=False)
        sizes = [width] * n_layers + [n_out]
        self.weights = nn.ParameterList(torch.randn(n_sets, a, b) / math.sqrt(a) for a, b in itertools.pairwise(sizes))
        self.biases = nn.ParameterList(torch.zeros(n_sets, 1, b) for b in sizes[1:])
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(()))
        self.head = None
        if fusion not in OF_TWO_CLASSES:
            norm = [nn.LayerNorm(width)] if fusion == "sum" else []
            self.head = nn.Sequential(*norm, nn.Linear(n_out, width), nn.ReLU(), nn.Linear(width, n_classes))
        self._begin()

    @torch.no_grad()
    def _begin(self) -> None:
        """Change the first answers of the places to ones that their fusion can learn from."""
        n_places = self.space.n_primes + 1
        if self.fusion == "agree":
            self.biases[-1].fill_(math.sqrt(1 / n_places))  # objections of 1 in all
        # tanh(2) = 0.96: a product of many signs near 0, and every gradient with it, would be nearly 0.
        if self.fusion == "signs":
            self.biases[-1].fill_(2.0)
        if self.fusion == "product":
            n_products = self.weights[-1].shape[-1] // 2
            self.weights[-1][..., :n_products] /= math.sqrt(n_places)  # or the products would begin near 0
            for weight in self.weights:
                weight[:] = weight[0].clone()
            if self.layout.kind == "valuation-unit":
                of_number = self.digits.unflatten(0, (self.max_length, -1))  # type: ignore[no-untyped-call]
                valuations = torch.randn(self.max_length, self.layout.levels + 1, of_number.shape[-1])
                valuations /= math.sqrt(self.max_length)
                of_number[:] = 0  # units, and that none is told
                start = self.layout.n_real
                for p, levels in zip(self.space.primes, self.layout.place_levels, strict=True):
                    of_number[:, start : start + levels + 1] = valuations[:, : levels + 1]
                    start += place_size(self.layout.kind, p, levels)

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, the space, the features and the fusion."""
        # "joint" is the fusion's name in the weights of version 0.1.
        about = {"features": self.layout.kind, "joint": self.fusion, "tied": self.tied}
        return of_vocabulary(self.vocabulary) | self.space.to_dict() | about

    def _features(self, numbers: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Return where ones stand among the features at primes, (*, n_primes, levels); features of the size, (*, 4)."""
        adeles = self.space.encode(numbers, floats="never")
        hot = torch.from_numpy(hot_positions(adeles, self.layout))
        if self.tied and self.layout.kind == "valuation-unit":
            hot[..., 0] += self._shift
        size = torch.from_numpy(signed_logarithm(adeles.real)).float()
        return hot, torch.stack([size / 10, size > 0, size < 0, size == 0], dim=-1)

    def answers(self, numbers: Any) -> torch.Tensor:
        """Return what each place answers, (rows, n_primes + 1, answers), the real place first.

        There is one answer per place with "agree" and "signs", and `width` with "sum". With "product" they are of
        w = max(1, width // 2) factors exp(−a² + πit), first each a, then each t; where a place sees what it sees of
        rows of ones, both are 0.

        Args:
            numbers: (rows, length), or ids with a vocabulary.

        Raises:
            ConfigurationError: they are no rows of this length.
        """
        rows, batch = read_rows(numbers, self.max_length, self.vocabulary, self.digits.device)
        if len(batch) != 1:
            raise ConfigurationError(
                f"numbers of shape {(*batch, self.max_length)} are no list of examples; give (examples, length)"
            )
        return self._answers_of(rows)

    def _answers_of(self, rows: Any) -> torch.Tensor:
        """Return the answers to rows that `_read` gave."""
        if self.hot is None or self.size is None:
            hot, size = (features.to(self.digits.device) for features in self._features(rows))
        else:
            hot, size = (functional.embedding(rows, table.flatten(1)) for table in (self.hot, self.size))
            hot = hot.unflatten(-1, self.hot.shape[1:])  # type: ignore[no-untyped-call]
        answers = self._answers(hot, size)
        if self.hot_of_ones is None or self.size_of_ones is None:
            return answers
        return answers - self._answers(self.hot_of_ones, self.size_of_ones, len(self.weights))

    def _answers(self, hot: torch.Tensor, size: torch.Tensor, first_site: int = 0) -> torch.Tensor:
        """Return what each place answers from features (rows, length, n_primes, levels) and (rows, length, 4)."""
        rows, length, n_primes, levels = hot.shape
        # Each place in the row has its own vectors: `digits` is as many tables, one after the other.
        hot = hot + (self.layout.size + 1) * torch.arange(length, device=hot.device)[:, None, None]
        bags = hot.transpose(1, 2).reshape(rows * n_primes, length * levels)
        of_primes = functional.embedding_bag(bags, self.digits, mode="sum").reshape(
            rows, n_primes, self.digits.shape[1]
        )
        x = torch.cat([self.real(size.to(self.digits.dtype).flatten(1))[:, None], of_primes], dim=1) + self.first_bias
        for site, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True), start=first_site):
            x = self._linear(dropped(functional.relu(x), self.dropout, site), weight, bias)
        return x

    def _linear(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """Return the products (rows, places, b) at each place with its own weights, or those that primes share."""
        if self.tied:
            weight, bias = weight[self._sets], bias[self._sets]
        return torch.baddbmm(bias, x.transpose(0, 1), weight).transpose(0, 1)

    def forward(self, numbers: Any) -> torch.Tensor:
        """Return logits, float32 (*, n_classes).

        Args:
            numbers: (*, length), or ids with a vocabulary; a tuple of two is (numerators, denominators).
        """
        rows, batch = read_rows(numbers, self.max_length, self.vocabulary, self.digits.device)
        answers = self._answers_of(rows)
        if self.head is not None:
            found: torch.Tensor = self.head(answers.sum(dim=1) if self.fusion == "sum" else _products(answers))
            return found.reshape(*batch, found.shape[-1])
        if self.fusion == "agree":
            logit = self.bias - _objections(answers).sum(dim=(1, 2))
        else:
            # With the logits 0 and l, P(last) − P(first) is tanh(l/2).
            logit = 2 * torch.atanh(_GREATEST * torch.tanh(answers).prod(dim=1)[:, 0])
        return torch.stack([torch.zeros_like(logit), logit], dim=-1).reshape(*batch, 2)

    @torch.no_grad()
    def local(self, numbers: Any) -> dict[str, torch.Tensor]:
        """Return what each place says of rows of numbers (rows, length): "real", "2", "3", … -> float32 (rows,).

        With fusion "agree" that is its objection, 0 for none; with "signs" its sign, from −1 to 1.

        Raises:
            ConfigurationError: the fusion is "sum" or "product", whose places give vectors.
        """
        if self.fusion not in OF_TWO_CLASSES:
            raise ConfigurationError(f"with fusion={self.fusion!r} a place gives a vector; `answers` has them")
        answers = self.answers(numbers)[..., 0]
        said = _objections(answers) if self.fusion == "agree" else torch.tanh(answers)
        return dict(zip(("real", *map(str, self.space.primes)), said.unbind(dim=1), strict=True))


def _objections(answers: torch.Tensor) -> torch.Tensor:
    """Return how much places object, 0 or more.

    Softplus would do, but finds no way back: if a place has learned not to object, with −20, say, its gradient is
    e^−20. So no place learned what is wrong at it alone in one question of a thousand (of conics, that both
    coefficients are squares times p, p ≡ 3 modulo 4). A square has a gradient wherever it is not 0; and of the sum of
    two characters ±1 it tells equal signs from different ones, as Hilbert symbols do.
    """
    return answers.square()


def _products(answers: torch.Tensor) -> torch.Tensor:
    """Return the real and imaginary parts of products over the places, (rows, places, 2w) -> (rows, 2w).

    A factor is exp(−a² + πit), with answers a and t. Since t begins with sizes about 1, some of the w angles are near a
    half turn from the start, and show a parity: how often a property is met at the places. From angles near 0 no small
    step leads there.
    """
    a, t = answers.chunk(2, dim=-1)
    size, angle = torch.exp(-_objections(a).sum(dim=1)), math.pi * t.sum(dim=1)
    return torch.cat([size * angle.cos(), size * angle.sin()], dim=-1)
