"""Place-wise layers: a block of weights for every place, so what is a law at each place stays one.

Sums and products of numbers are sums and products at every place, the real one and each prime. A dense layer on the
flattened encoding mixes the places in its first product and has to learn to separate them again; a place-wise layer
never mixes them.
"""

import itertools
import math
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError, EncodingError, RangeError, SpaceError, UnknownNameError
from adelic.nn.checks import as_digits, check_plain, check_positive
from adelic.nn.fingerprint import Fingerprinted
from adelic.nn.kernels import lifting
from adelic.numbers import AdeleArray, AdeleSpace
from adelic.numbers.describe import describe
from adelic.numbers.features import PLACE_FEATURES, unit_characters, unit_digits, unit_residues

PLACES = ("apart", "late")
"""Where places meet before the head, see `adelic.nn.PlacewiseClassifier`."""
N_CHARACTERS = 6
"""Features of one digit: 1, two of the additive character, a flag for 0, two of the multiplicative character."""
N_REAL = 4
"""Features of the real place."""


def digit_characters(p: int) -> torch.Tensor:
    """Return the characters of the digits 0 … p − 1, float32 (p, 6).

    The columns: 1; cos and sin of 2πx/p, the first additive character of Z/p; whether x is 0; cos and sin of
    2π·log_g(x)/(p − 1), the first multiplicative (Dirichlet) character, 0 at x = 0. Sums multiply the former, products
    and quotients the latter, so products of two digits' characters hold the characters of their sum and product.

    >>> digit_characters(5)[[0, 1, 4]].round(decimals=2) + 0.0
    tensor([[ 1.0000,  1.0000,  0.0000,  1.0000,  0.0000,  0.0000],
            [ 1.0000,  0.3100,  0.9500,  0.0000,  1.0000,  0.0000],
            [ 1.0000,  0.3100, -0.9500,  0.0000, -1.0000,  0.0000]])
    """
    x = np.arange(p)
    # The one unit modulo 2 is g^0.
    logarithm = np.zeros(p) if p == 2 else unit_characters(p, 1).indices[:, 0]
    additive, multiplicative = 2 * np.pi * x / p, 2 * np.pi * logarithm / (p - 1)
    is_unit = x != 0
    columns = [
        np.ones(p), np.cos(additive), np.sin(additive),
        ~is_unit, np.cos(multiplicative) * is_unit, np.sin(multiplicative) * is_unit,
    ]  # fmt: skip
    return torch.from_numpy(np.stack(columns, axis=-1).astype(np.float32))


def stack_places(tables: list[torch.Tensor]) -> torch.Tensor:
    """Return tables of different numbers of rows as one, padded with zeros: (n_tables, most rows, columns)."""
    return nn.utils.rnn.pad_sequence(tables, batch_first=True)


def read_places(
    numbers: Any, space: AdeleSpace, device: torch.device, *, unknown: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return real values (*) and digits int64 (*, n_primes, max_precision), of a pair of these, on a device.

    What is no such pair is an EncodingError, and so is a digit that is none, see `as_digits`; a ConfigurationError says
    that the shapes do not fit together, or not the space. If a prime has no digit, 0 stands; a loss, to which a
    digit may be `unknown`, takes anything there.

    >>> read_places((0.5, [[1], [2]]), AdeleSpace((2, 3), 1), torch.device("cpu"))
    (tensor(0.5000), tensor([[1],
            [2]]))
    """
    parts = numbers if isinstance(numbers, tuple | list) else ()
    for part in parts:
        check_plain(part, device)
    try:
        real, digits = map(torch.as_tensor, parts)
    except (TypeError, ValueError, RuntimeError):  # no pair, or parts that are no numbers
        raise EncodingError(
            f"{describe(numbers)} is neither an AdeleArray, as space.encode makes it, nor a pair (real values, digits)"
        ) from None
    if digits.ndim < 2 or digits.shape[:-2] != real.shape:
        raise ConfigurationError(
            f"the shapes do not fit together: real values (*) are {tuple(real.shape)}, and digits (*, n_primes, "
            f"max_precision) {tuple(digits.shape)}"
        )
    window = space.window
    if digits.shape[-2:] != (len(window.primes), window.precision):
        raise ConfigurationError(
            f"digits of shape {tuple(digits.shape)} do not end in {(len(window.primes), window.precision)}, as those "
            f"of {space} do"
        )
    if unknown is not None:
        digits = lifting.cut(digits, window)
    # Before they are moved: on the CPU nothing waits.
    digits = as_digits(digits, lifting.digit_counts(digits.device, *window[:2]), unknown=unknown)
    return real.to(device), digits.to(device)


def check_space(adeles: AdeleArray, space: AdeleSpace) -> None:
    """Raise `SpaceError` unless numbers live in the space of a layer."""
    if adeles.space != space:
        raise SpaceError(
            f"numbers of {describe(adeles.space, 200)} were given to a layer of {describe(space, 200)}; encode them "
            "in the layer's space"
        )


class PlaceEmbedding(Fingerprinted):
    """The features of numbers, place by place, without parameters.

    Shape: an AdeleArray (*,), or (real float64 (*,), digits (*, n_primes, max_precision)) -> float32 (*, n_places,
    width). Place 0 is the real one, then come the primes in the space's order; shorter features are padded with zeros,
    as are those of digits that a prime does not have.

    - Real place: 1, q/real_scale, sign(q)·ln(1 + |q|/real_scale), sign(q).
    - "characters" of p^v·u with a unit u: 1; cos and sin of 2πx/p^k for k = 1 … precision, the additive characters;
      whether v >= k; cos and sin of the first multiplicative character of u. x is p^F·q, F = fractional_digits.
    - "one-hot-digits": each digit as a one-hot vector, lowest digit first.
    - "digits": the digits themselves over p, lowest digit first: the paper's coordinates, in [0, 1).
    - "valuation-unit" of p^v·u: v as a one-hot vector of 0 … max_precision, then the residue of u as one, modulo p
      (modulo 8 at p = 2); see `adelic.numbers.features.valuation_unit`.
    - "multiplicative-characters": v as there, then the Dirichlet characters of u; see
      `adelic.numbers.features.multiplicative_characters`.

    Args:
        space: the primes and digits.
        features: one of `adelic.numbers.features.PLACE_FEATURES`.
        real_scale: the unit of the real place; about the size of the numbers, so its features are near 1.

    Raises:
        UnknownNameError: there are no such features.
        ConfigurationError: real_scale is not positive and finite.

    >>> space = AdeleSpace(primes=(2, 3, 5), precision=1)
    >>> embedding = PlaceEmbedding(space)
    >>> embedding(space.encode([7, -2, "1/7"])).shape
    torch.Size([3, 4, 6])
    >>> PlaceEmbedding(space, "one-hot-digits")(space.encode(7))[3]  # 7 ≡ 2 (mod 5)
    tensor([0., 0., 1., 0., 0.])
    """

    tables: torch.Tensor
    primes: torch.Tensor
    exists: torch.Tensor

    def __init__(self, space: AdeleSpace, features: str = "characters", *, real_scale: float = 1.0) -> None:
        super().__init__()
        if features not in PLACE_FEATURES:
            raise UnknownNameError.of("features", features, PLACE_FEATURES, listed="features")
        check_scale(real_scale)
        self.space, self.features, self.real_scale = space, features, real_scale
        self.n_places = 1 + space.n_primes
        columns, most = space.max_precision, max(space.primes)
        widths = {"characters": 3 + 3 * columns, "one-hot-digits": most * columns, "digits": columns}
        self.units = None if features in widths else UnitFeatures(space, features)
        self.width = max(N_REAL, widths[features] if self.units is None else columns + 1 + self.units.width)
        exists = torch.from_numpy(space.window.exists).flip(-1)  # lowest first
        self.register_buffer("exists", exists, persistent=False)
        self.register_buffer("tables", stack_places([digit_characters(p) for p in space.primes]), persistent=False)
        self.register_buffer("primes", torch.tensor(space.primes, dtype=torch.float64)[:, None], persistent=False)

    def fingerprint(self) -> dict[str, Any]:
        """Return the space, the features and the unit of the real place."""
        return self.space.to_dict() | {"features": self.features, "real_scale": float(self.real_scale)}

    def forward(self, numbers: Any) -> torch.Tensor:
        """Return the features, float32 (*, n_places, width).

        Raises:
            SpaceError: numbers are of another space.
            RangeError: a number is beyond float64.
            EncodingError: they are neither an AdeleArray nor a pair of real values and digits, or a digit is none of
                its prime.
            ConfigurationError: the shapes do not fit together, or not the space.
        """
        if isinstance(numbers, AdeleArray):
            check_space(numbers, self.space)
            if not np.isfinite(numbers.real).all():
                raise RangeError("a number is beyond float64, and has no features at the real place; scale the numbers")
            numbers = (torch.tensor(numbers.real), torch.tensor(numbers.digits, dtype=torch.int64))
        real, digits = read_places(numbers, self.space, self.primes.device)
        first = functional.pad(self._real_features(real), (0, self.width - N_REAL))
        return torch.cat([first[..., None, :], self.of_primes(digits)], dim=-2).float()

    def of_primes(self, digits: torch.Tensor) -> torch.Tensor:
        """Return the features of the primes, (*, n_primes, width), of digits that were checked before.

        >>> PlaceEmbedding(AdeleSpace((2, 3), 1), "one-hot-digits").of_primes(torch.tensor([[1], [2]]))
        tensor([[0, 1, 0, 0],
                [0, 0, 1, 0]])
        """
        places = self._digit_features(digits.long().flip(-1))  # lowest first
        return functional.pad(places, (0, self.width - places.shape[-1]))

    def _real_features(self, real: torch.Tensor) -> torch.Tensor:
        """Return the features of the real place, float64 (*, 4)."""
        scaled = real / self.real_scale
        sign = torch.sign(scaled)
        return torch.stack([torch.ones_like(scaled), scaled, sign * torch.log1p(scaled.abs()), sign], dim=-1)

    def _digit_features(self, digits: torch.Tensor) -> torch.Tensor:
        """Return the features of the primes, (*, n_primes, its width), from digits, lowest first."""
        if self.features == "digits":
            return digits / self.primes
        if self.features == "one-hot-digits":
            return self._present(functional.one_hot(digits, max(self.space.primes))).flatten(-2)
        is_above = self._present((torch.cumsum(digits != 0, dim=-1) == 0)[..., None])[..., 0]  # v >= k
        if self.units is not None:
            # v is how many of the lowest digits are 0: p^k divides x for k = 1 … v, and for no greater k.
            v = is_above.sum(-1)
            return torch.cat([functional.one_hot(v, digits.shape[-1] + 1), self.units(digits, v)], dim=-1)
        parts, part = [], torch.zeros_like(digits[..., 0], dtype=torch.float64)
        for k in range(digits.shape[-1]):
            part = (part + digits[..., k]) / self.primes[:, 0]  # (x mod p^k)/p^k from the level before
            parts.append(part)
        angles = 2 * math.pi * torch.stack(parts, dim=-1)
        # Of 0 no digit is the first that is not 0; then the last one is taken, 0, whose multiplicative character is 0.
        unit = digits.gather(-1, is_above.sum(-1, keepdim=True).clamp(max=digits.shape[-1] - 1))[..., 0]
        rows = torch.arange(len(self.tables), device=digits.device)
        characters = self.tables[rows, unit]
        waves = self._present(torch.stack([angles.cos(), angles.sin()], dim=-1)).flatten(-2)
        return torch.cat([characters[..., :1], waves, is_above, characters[..., 4:]], dim=-1)

    def _present(self, features: torch.Tensor) -> torch.Tensor:
        """Return features of digits, (*, n_primes, digits, size), with zeros if a prime has no digit."""
        return features if self.space.window.is_uniform else features * self.exists[..., None]


class UnitFeatures(nn.Module):
    """What is said of the unit u in p^v·u, by its residue modulo p, modulo 8 at p = 2; zeros where digits do not tell.

    Of "valuation-unit" the residue as a one-hot vector; of "multiplicative-characters" the values of the Dirichlet
    characters of u, in the order of `adelic.numbers.features.unit_characters`.

    Shape: digits (*, n_primes, max_precision), lowest first, and v (*, n_primes) -> (*, n_primes, width), bool or
    float64.

    >>> space = AdeleSpace(primes=(2, 5), precision=3)
    >>> digits = torch.tensor(space.encode(10).digits, dtype=torch.int64).flip(-1)  # 10 is 2·5, and 5·2
    >>> UnitFeatures(space, "valuation-unit")(digits, torch.tensor([1, 1])).int()
    tensor([[0, 0, 0, 0],
            [0, 1, 0, 0]], dtype=torch.int32)
    >>> UnitFeatures(space, "multiplicative-characters")(digits, torch.tensor([1, 1])).round() + 0.0
    tensor([[ 0.,  0.,  0.],
            [ 0.,  1., -1.]], dtype=torch.float64)
    """

    weights: torch.Tensor
    known: torch.Tensor
    residues: torch.Tensor
    indices: torch.Tensor
    turns: torch.Tensor
    orders: torch.Tensor
    quarters: torch.Tensor

    def __init__(self, space: AdeleSpace, kind: str) -> None:
        super().__init__()
        places = [(p, n, unit_digits(p, n)) for p, n in zip(space.primes, space.precisions, strict=True)]
        self.kind, about, most = kind, [unit_characters(p, n) for p, n, _ in places], max(place[2] for place in places)
        # No unit has the residue 0, which stands where others have more residues.
        residues = stack_places([torch.tensor(unit_residues(p, n)) for p, n, _ in places])
        turns = stack_places([torch.from_numpy(one.turns) for one in about])
        self.width = (residues if kind == "valuation-unit" else turns).shape[1]
        tables = {  # of whole numbers, which no change of the module's type touches
            "weights": [[p**i * (i < count) for i in range(most)] for p, _, count in places],
            "known": [n - count for _, n, count in places],  # up to this v digits tell the unit's residue
            "residues": residues,
            "indices": stack_places([torch.from_numpy(one.indices) for one in about]),
            "turns": turns,
            "quarters": stack_places([torch.from_numpy(one.is_sine.astype(np.int64)) for one in about]),
            "orders": [[one.order] for one in about],
        }
        for name, table in tables.items():
            self.register_buffer(name, torch.as_tensor(table), persistent=False)

    def forward(self, digits: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Return the features."""
        place = v[..., None] + torch.arange(self.weights.shape[-1], device=v.device)
        # Where digits are beyond the last one any will do: `is_told` drops the residue.
        residue = (digits.gather(-1, place.clamp(max=digits.shape[-1] - 1)) * self.weights).sum(-1)
        is_told = (v <= self.known)[..., None]
        if self.kind == "valuation-unit":
            return (residue[..., None] == self.residues) & is_told
        index = self.indices[torch.arange(len(self.indices), device=v.device), residue]  # (*, n_primes, 2)
        turns = (index[..., None, :] * self.turns).sum(-1) % self.orders
        angles = 2 * math.pi * (turns.double() / self.orders - self.quarters / 4)
        return angles.cos() * (is_told & self.turns.any(-1))  # no turns at all: a prime that has fewer characters


class PlacewiseLinear(nn.Module):
    """One `nn.Linear` for each place, computed as one batched product; biases start at 0.

    Shape: (*, n_places, in_features) -> (*, n_places, out_features).

    Args:
        n_places: places, each with its own weights.
        in_features: numbers per place that come in.
        out_features: numbers per place that go out.

    Raises:
        ConfigurationError: a size is not positive.

    >>> layer = PlacewiseLinear(n_places=3, in_features=4, out_features=2)
    >>> layer(torch.ones(5, 3, 4)).shape, layer.weight.shape
    (torch.Size([5, 3, 2]), torch.Size([3, 4, 2]))
    """

    def __init__(self, n_places: int, in_features: int, out_features: int) -> None:
        super().__init__()
        check_positive(n_places=n_places, in_features=in_features, out_features=out_features)
        self.n_places, self.in_features, self.out_features = n_places, in_features, out_features
        self.weight = nn.Parameter(torch.empty(n_places, in_features, out_features))
        self.bias = nn.Parameter(torch.zeros(n_places, out_features))
        nn.init.uniform_(self.weight, -(in_features**-0.5), in_features**-0.5)  # as nn.Linear does

    def extra_repr(self) -> str:
        """Return what print shows."""
        return f"n_places={self.n_places}, in_features={self.in_features}, out_features={self.out_features}"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the places' products, (*, n_places, out_features)."""
        check_plain(x, self.weight.device)
        if x.shape[-2:] != (self.n_places, self.in_features):
            raise ConfigurationError(
                f"the layer was built for (*, {self.n_places} places, {self.in_features}), not for shape "
                f"{tuple(x.shape)}"
            )
        # Places first: torch.baddbmm then multiplies each place's rows by that place's own matrix.
        blocks = x.reshape(-1, self.n_places, self.in_features).transpose(0, 1)
        products = torch.baddbmm(self.bias[:, None], blocks, self.weight)
        return products.transpose(0, 1).reshape(*x.shape[:-1], self.out_features)


class PlacewiseMLP(nn.Module):
    """One multi-layer perceptron for each place.

    Shape: (*, n_places, in_features) -> (*, n_places, out_features).

    A hidden unit is the product of two linear forms: the characters of a sum or a product are such products of the
    operands' characters, so one layer can represent both laws exactly (cos(α + β) = cos α · cos β − sin α · sin β).
    Units of this kind are the bilinear form of gated linear units (Shazeer 2020, arXiv 2002.05202).

    Args:
        n_places: places, each with its own weights.
        in_features: numbers per place that come in; for several operands, their features one after the other.
        hidden_features: hidden units per layer and place.
        out_features: numbers per place that go out.
        n_layers: hidden layers.

    Raises:
        ConfigurationError: a size is not positive.

    >>> mlp = PlacewiseMLP(n_places=3, in_features=12, hidden_features=32, out_features=6)
    >>> mlp(torch.ones(5, 3, 12)).shape
    torch.Size([5, 3, 6])
    """

    def __init__(
        self, n_places: int, in_features: int, hidden_features: int, out_features: int, n_layers: int = 1
    ) -> None:
        super().__init__()
        check_positive(n_layers=n_layers)
        sizes = [in_features] + [hidden_features] * n_layers
        # A product takes two linear forms for each unit.
        self.hidden = nn.ModuleList(
            PlacewiseLinear(n_places, before, 2 * after) for before, after in itertools.pairwise(sizes)
        )
        self.output = PlacewiseLinear(n_places, hidden_features, out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the places' values, (*, n_places, out_features)."""
        for layer in self.hidden:
            one, other = layer(x).chunk(2, dim=-1)
            x = one * other
        return self.output(x)  # type: ignore[no-any-return]


def check_scale(real_scale: float) -> None:
    """Raise `ConfigurationError` unless the unit of the real place is positive and finite."""
    if not 0 < real_scale < math.inf:
        raise ConfigurationError(f"real_scale={real_scale} must be positive and finite")
