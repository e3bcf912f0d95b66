"""AOE: the adele of a number as its vector."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.embeddings.base import NumberEmbedding, check_autocast, check_range, greatest_of, longer, rows_differ
from adelic.nn.embeddings.features import standardize
from adelic.nn.open_numbers import OpenNumbers
from adelic.nn.positional import AdelicPositionalEncoding, PositionalEncoding
from adelic.nn.vocabulary import Numbers, Vocabulary
from adelic.numbers import AdeleArray, AdeleSpace
from adelic.numbers.columns.choice import NO_GAPS, choose_for_column
from adelic.numbers.columns.lossy import check_lossy
from adelic.numbers.describe import describe
from adelic.numbers.features import (
    HOT_KINDS,
    FeatureLayout,
    compute_features,
    hot_positions,
    place_size,
    real_features,
    signed_logarithm,
)
from adelic.numbers.rationals import Rationals, float_policy
from adelic.numbers.real import nearest_floats

COORDINATES = ("all", "real", "p-adic")
"""Which of AOE's coordinates a model is given."""
_FIRST_STD = 0.02
"""Standard deviation of the first vectors of missing and unknown numbers; a projection's are about so small."""
_FALLOFF = 30.0
"""The falloff of "combined". Chosen by validation accuracy, then loss, of seeds 10 to 13 on the column task
difference-residue: 30 and 100 had 100 % with each, 1,000, powers of p^k, and no falloff had not."""
_outside_graphs: Callable[[Callable[..., torch.Tensor]], Callable[..., torch.Tensor]]
_outside_graphs = getattr(torch, "_disable_dynamo", torch.compiler.disable)
"""torch.compiler.disable, but that would load the compiler at once, which takes as long as to import torch."""


class AdelicEmbedding(NumberEmbedding):
    """AOE: an embedding that reads the size of a number and its digits at several primes.

    The default form is "combined". The paper's form is features="digits", which has no parameters.

    With a vocabulary, the features are one frozen table (a buffer). It takes 4 bytes per feature and number: 171 MB for
    10^5 numbers in the default form. Features that are 0 or 1, followed by a projection, take one byte. Without a
    vocabulary there is no table, and numbers are encoded in each batch, on the CPU.

    If there are fewer features than d_model, zeros fill the vector. If there are more, the highest levels (powers of p)
    are left out, as long as the vocabulary's numbers keep different vectors; `projection="linear"` keeps all levels.

    Shape: ids (*, length) -> (*, length, d_model); without a vocabulary: numbers (*, length), whatever
    `AdeleSpace.encode` takes.

    # NOTE[paper]: its form is "digits". The default is ours, and the page "Which features?" says why.

    Args:
        vocabulary: the numbers that can occur: a `Vocabulary`, a list or range, or n for 0 … n − 1; or None.
        space: the adele space; the default has 128 coordinates, and more if fractions of the vocabulary need them.
        d_model: length of a vector.
        features: "digits" (the paper), "standardized", "characters", "one-hot-digits", "residues", "valuation-unit",
            "multiplicative-characters" or "combined"; see `adelic.numbers.features`. None, the default, is "combined".
        projection: None, or "linear" for a trained linear map from all features to d_model, which "combined" always
            has.
        gain: a factor of the projection's initial weights.
        coordinates: "all"; "real" or "p-adic" leaves the others at 0. With "p-adic" numbers may be beyond a float.
        scale: usual mean and deviation of the numbers, for "combined": one more feature is the size on that scale.
            `for_column` sets it.
        falloff: how large a modulus p^k may be before its characters or one-hot digits become small, see
            `frequency_weights`. None, the default, is 30 for "combined", and no falloff for the others.
        padding_idx: an id whose vector is 0, and stays so, as in `nn.Embedding`. Ids are those of numbers, so this
            number has none; or take an id after them, of a vocabulary with `missing=True`.
        floats: without a vocabulary, the meaning of a float such as 0.1: "shortest" is 1/10. Then numbers may be pandas
            and polars series, arrays and tensors, and dates. "never" refuses floats.
        lossy: with `floats`, the treatment of floats that have probably lost digits, and of text such as "00501":
            "warn" (once), "error" or "ignore"; see `AdelicEncoder`.
        missing: without a vocabulary, whether None and NaN have a trained vector; otherwise they are an error.

    Attributes:
        embedding_dim, num_embeddings, padding_idx: as in `nn.Embedding`: d_model, the number of ids (None without a
            vocabulary), and the argument.
        special: trained vectors of missing and unknown numbers, (as many as there are, d_model), or None.

    Raises:
        ConfigurationError: no level fits, two numbers would get the same vector, "standardized" lacks a vocabulary, or
            an option has no such value.
        EncodingError: there is no such policy for floats.
        PrecisionError: a number of the vocabulary does not fit the space's window.
        RangeError: on conversion to a type of fewer bits, a feature would become infinite, as 10^6 in float16.

    Source: the paper, section 2 "Embedding Construction" and "Plug-and-play Integration".

    >>> embedding = AdelicEmbedding(Vocabulary(range(8)), d_model=128, features="digits")
    >>> embedding(torch.tensor([[0, 7, 3]])).shape, sum(p.numel() for p in embedding.parameters())
    (torch.Size([1, 3, 128]), 0)
    >>> AdelicEmbedding(Vocabulary(range(8)), d_model=128)(torch.tensor([[0, 7, 3]])).shape
    torch.Size([1, 3, 128])
    >>> AdelicEmbedding(None, features="characters", projection="linear")([["1/19", 10**20]]).shape
    torch.Size([1, 2, 128])
    """

    name = "adelic"
    reads_missing = True

    def __init__(
        self,
        vocabulary: Numbers | None,
        d_model: int = 128,
        *,
        space: AdeleSpace | None = None,
        features: str | None = None,
        projection: str | None = None,
        gain: float = 1.0,
        coordinates: str = "all",
        scale: tuple[float, float] | None = None,
        falloff: float | None = None,
        padding_idx: int | None = None,
        floats: str = "never",
        lossy: str = "warn",
        missing: bool = False,
    ) -> None:
        super().__init__(vocabulary, d_model)
        vocabulary = self.vocabulary
        _check_ids(self.num_embeddings, padding_idx, floats, missing=missing)
        self.padding_idx = padding_idx
        self._open = OpenNumbers(floats=floats, lossy=lossy, missing=missing)
        features = features or "combined"
        _check_features(features, projection, coordinates, has_vocabulary=vocabulary is not None)
        if features == "combined":
            projection = "linear"  # these features are more than a vector has coordinates
        _check_numbers(space, gain, scale, features, is_projected=projection is not None)
        default = AdeleSpace() if vocabulary is None else vocabulary.space()
        self.space, self.coordinates, self.scale = default if space is None else space, coordinates, scale
        self.layout = FeatureLayout.fit(features, self.space, None if projection else d_model)
        self.falloff = _FALLOFF if falloff is None and features == "combined" else falloff
        self._frequency_weights = None if self.falloff is None else frequency_weights(self.layout, self.falloff)
        self.projection = nn.Linear(self.layout.size, d_model) if projection else None
        if self.projection is not None:
            self.projection.weight.data *= gain
        self._is_hot = projection is not None and features in HOT_KINDS and coordinates == "all"
        # Without a vocabulary the table is empty, and says on which device and in which type the vectors are wanted.
        table, real = torch.empty(0, d_model), None
        if vocabulary is not None:
            table, real = self._tables(vocabulary)
        n_special = int(missing) if vocabulary is None else vocabulary.n_ids - len(vocabulary)
        self.special = nn.Parameter(_FIRST_STD * torch.randn(n_special, d_model)) if n_special else None
        self.table: torch.Tensor
        self.register_buffer("table", table, persistent=False)
        self.real: torch.Tensor | None
        self.register_buffer("real", real, persistent=False)
        self._greatest = self._measure(self.table, self.real)

    @classmethod
    def from_options(
        cls, vocabulary: Vocabulary | None, d_model: int, options: Mapping[str, Any], *, reach: int | None = None
    ) -> Self:
        """Return the embedding that the values of all options describe, in the flat model."""
        return cls(
            vocabulary,
            space=AdeleSpace(options["primes"], options["precision"], options["fractional_digits"]),
            d_model=d_model,
            features=options["features"],
            projection=None if options["projection"] == "none" else options["projection"],
            gain=options["gain"],
            coordinates=options["coordinates"],
        )

    @property
    def embedding_dim(self) -> int:
        """Return the length of a vector, d_model, by its name in `nn.Embedding`."""
        return self.d_model

    @property
    def num_embeddings(self) -> int | None:
        """Return how many ids there are, by its name in `nn.Embedding`; None without a vocabulary."""
        return None if self.vocabulary is None else self.vocabulary.n_ids

    def extra_repr(self) -> str:
        """Return what the embedding is made of.

        >>> AdelicEmbedding(1000, 64, space=AdeleSpace((2, 5), 4), features="digits", padding_idx=0)
        AdelicEmbedding(1000 numbers, 64, primes=(2, 5), precision=4, features='digits', padding_idx=0)
        >>> AdelicEmbedding(Vocabulary(range(9), missing=True), 64, space=AdeleSpace((2, 5), 4), features="digits")
        AdelicEmbedding(9 numbers, 64, primes=(2, 5), precision=4, features='digits', missing_id=9)
        """
        known = "any number" if self.vocabulary is None else f"{len(self.vocabulary)} numbers"
        space = [f"{name}={value!r}" for name, value in self.space.to_dict().items() if value or name == "precision"]
        space[0] = f"primes={self.space.primes}"
        parts = [known, str(self.d_model), *space, f"features={self.layout.kind!r}"]
        scale = None if self.scale is None else "({:.6g}, {:.6g})".format(*self.scale)
        default = _FALLOFF if self.layout.kind == "combined" else None
        others = {
            "coordinates": None if self.coordinates == "all" else repr(self.coordinates),
            "scale": scale,
            "falloff": None if self.falloff == default else f"{self.falloff:g}",
            "padding_idx": self.padding_idx,
        }
        parts += [f"{name}={value}" for name, value in others.items() if value is not None]
        if self.special is not None:
            ids = {} if self.vocabulary is None else vars(self.vocabulary)
            found = [f"{name}={ids[name]}" for name in ("missing_id", "unknown_id") if ids.get(name) is not None]
            parts += found or ["missing=True"]
        return ", ".join(parts)

    @classmethod
    def for_column(
        cls,
        column: Any,
        d_model: int = 128,
        *,
        floats: str = "shortest",
        lossy: str = "warn",
        fractional_digits: int | None = None,
        remember: int = 1 << 16,
        show: bool = True,
        **options: Any,
    ) -> Self:
        """Return an embedding for the numbers of a column and others like them, and print the choices.

        It reads the values themselves, in batches of any shape, without a vocabulary. Later values may be larger, but
        have no more digits after the point than the column's, or `fractional_digits`. Give missing=True if values may
        be missing later and the column has no gap. A date is its number of days since 1 January 1970. A whole number in
        a column of dates is such a number, too: 2024 is a day in 1975.

        Args:
            column: a pandas or polars series, an array or a list: integers, fractions, prices, dates, with gaps.
            d_model: length of a vector.
            floats: the meaning of a float such as 0.1, see the class.
            lossy: "warn", "error" or "ignore" numbers of the column or of batches that have probably lost digits.
            fractional_digits: digits after the point at each prime; by default as many as the column needs.
            remember: number of frequent values of the column whose features are kept, about 2 kB each; other features
                are computed in each batch.
            show: whether to print the choices, an `adelic.numbers.columns.choice.ColumnChoice`.
            options: of the embedding, which replace choices.

        Raises:
            EncodingError: a value is not a number, there is none, or one is beyond float64 and has a real coordinate;
                with lossy="error" a number was lost.
            SpaceError: `fractional_digits` is negative, or no integer.

        >>> embedding = AdelicEmbedding.for_column([19.99, 5, None, 249.5], d_model=32)
        4 rows, 3 different decimals from 5 to 249.5, 1 missing
        space: primes 2, 3, 5, 7, 11, 13, 17 with up to 14 digits, 2 of them after the point
        form: combined
        scale: mean 91.4967, deviation 111.893
        missing: a trained vector
        >>> embedding([[7.25, None]]).shape
        torch.Size([1, 2, 32])
        """
        real = options.get("coordinates") != "p-adic"
        choice = choose_for_column(column, floats=floats, fractional_digits=fractional_digits, real=real)
        is_said = check_lossy(column, floats=floats, lossy=lossy) is not None
        chosen: dict[str, Any] = {"space": choice.space, "coordinates": choice.coordinates}
        chosen |= {"floats": floats, "lossy": "ignore" if is_said else lossy, "missing": choice.missing > 0}
        if options.get("features") in (None, "combined"):
            chosen["scale"] = choice.scale
        made = cls(None, d_model, **chosen | options)
        if not made._is_hot and made.coordinates != "real":  # of others features are not made, or quickly
            made._open.keep(column, remember, made._features_of)
        if show:
            shown = replace(choice, space=made.space, coordinates=made.coordinates, scale=made.scale or choice.scale)
            missing = NO_GAPS if made.special is None else "a trained vector"
            given = ["form" if name == "features" else name for name, value in options.items() if value is not None]
            print(shown.text(form=made.layout.kind, missing=missing, given=given))  # noqa: T201  # as the caller asks
        return made

    def _tables(self, vocabulary: Vocabulary) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the features of a vocabulary's numbers; hot ones in a byte each, and the real one of each beside."""
        adeles = self.space.encode(vocabulary.pair)
        # Features that frequency_weights scales are neither 0 nor 1, and fit no byte.
        if not self._is_hot or self._frequency_weights is not None:
            return self._features(adeles), None
        table = torch.from_numpy(compute_features(adeles, self.layout, dtype=np.uint8))
        return table, torch.from_numpy(real_features(self.layout.kind, adeles.real)).float()

    def extend(self, numbers: Sequence[Any]) -> None:
        """Add numbers after those of the vocabulary, see `NumberEmbedding.extend`.

        Two numbers with the same vector are a ConfigurationError, as where the embedding is made.
        """
        if self.layout.kind == "standardized":
            first = describe(Vocabulary(numbers).numbers[0])
            raise ConfigurationError(
                f"{first} is not in the vocabulary, and features='standardized' are relative to it; "
                "other features take any number"
            )
        vocabulary = longer(self.vocabulary, numbers)
        table, real = self._tables(Vocabulary(numbers))
        table = torch.cat([self.table, table.to(self.table)])
        if self.real is not None and real is not None:
            real = torch.cat([self.real, real.to(self.real)])
        self._greatest = max(self._greatest, self._measure(table, real))
        # Last: numbers that cannot be distinguished leave the embedding as it was.
        self.vocabulary, self.table, self.real = vocabulary, table, real

    def _encode(self, numbers: Rationals) -> AdeleArray:
        """Return open-ended numbers as adeles."""
        n, m = numbers.numerators, numbers.denominators
        return self.space.encode((n.reshape(numbers.shape), m.reshape(numbers.shape)))

    def _features_of(self, numbers: Rationals) -> torch.Tensor:
        """Return the features of open-ended numbers; no digit is computed where the real place is all."""
        if self.coordinates != "real" or self.layout.kind != "combined":
            return self._features(self._encode(numbers))
        flat = np.zeros((*numbers.shape, self.layout.size), dtype=np.float32)
        real = nearest_floats(numbers).reshape(numbers.shape)
        flat[..., : self.layout.n_real] = real_features(self.layout.kind, real, self.scale)
        return torch.from_numpy(flat)

    def _features(self, adeles: AdeleArray) -> torch.Tensor:
        """Return the features of adeles, padded to d_model unless a projection does that."""
        # p-adic coordinates alone never look at the real value, which may be beyond float64 then.
        flat = compute_features(adeles, self.layout, scale=self.scale, real=self.coordinates != "p-adic")
        if self._frequency_weights is not None:
            flat *= self._frequency_weights
        flat = standardize(flat) if self.layout.kind == "standardized" else flat
        if self.coordinates == "real":
            flat[..., self.layout.n_real :] = 0
        padding = 0 if self.projection is not None else self.d_model - self.layout.size
        if padding:
            flat = np.pad(flat, [(0, 0)] * (flat.ndim - 1) + [(0, padding)])
        return torch.from_numpy(flat)

    @property
    def _of_floats(self) -> torch.Tensor:
        """Return the features that are floating-point numbers."""
        return self.table if self.real is None else self.real

    def _measure(self, table: torch.Tensor, real: torch.Tensor | None) -> float:
        """Return the greatest size of a feature, after the checks that no two numbers are alike and all are finite."""
        floats, bits = (table, None) if real is None else (real, table)
        self._check_distinct(floats, bits)
        greatest = max(greatest_of(floats), float(bits is not None))
        check_range(greatest, floats.dtype)
        return greatest

    def _check_distinct(self, floats: torch.Tensor, bits: torch.Tensor | None) -> None:
        """Raise `ConfigurationError` if two numbers of the vocabulary have the same vector."""
        if (bits is None or not rows_differ(bits)) and not rows_differ(
            floats if bits is None else torch.cat([floats, bits], dim=1)
        ):
            rounded = "" if floats.dtype == torch.float32 else f" in {floats.dtype}"
            raise ConfigurationError(
                f"{self.layout.levels} levels of {self.layout.kind} at the primes {self.space.primes} "
                f"({self.coordinates} coordinates){rounded} give two numbers of the vocabulary the same vector; "
                "use more primes, a higher precision, a larger d_model or projection='linear'"
            )

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Self:
        """Move or convert the module, unless its numbers would no longer be distinguished."""
        converted = fn(self._of_floats)
        if converted.dtype != self._of_floats.dtype and not converted.is_meta:
            check_range(self._greatest, converted.dtype)
            self._check_distinct(converted, None if self.real is None else self.table)
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call, no-any-return]

    def forward(self, ids_or_numbers: Any) -> torch.Tensor:
        """Return the vectors of ids (or of numbers, without a vocabulary), (*, length, d_model).

        Float32, or the type that the module was converted to.

        Raises:
            RangeError: a feature is beyond that type, or beyond the one that autocasting would give it.
            EncodingError: ids are no tensor of integers; or a number is missing, and there is no vector for that.
        """
        if self.vocabulary is None:
            return self._of_numbers(ids_or_numbers)
        ids, n = ids_or_numbers, len(self.vocabulary)
        check_autocast(self._greatest, self.table.device.type)
        known, map_ = ids if self.special is None else ids.clamp(max=n - 1), self.projection
        vectors = self.look_up(known) if map_ is None else self._of_each(known, lambda i: map_(self.look_up(i)))
        if self.special is not None:
            special = functional.embedding((ids - n).clamp(min=0), self.special)
            vectors = torch.where((ids >= n)[..., None], special.to(vectors.dtype), vectors)
        return vectors if self.padding_idx is None else vectors * (ids != self.padding_idx)[..., None]

    def look_up(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the features of numbers of the vocabulary, ids (*) -> (*, layout.size), or d_model without projection.

        >>> AdelicEmbedding([5], 8, space=AdeleSpace((2, 3), 2), features="digits").look_up(torch.tensor([0]))
        tensor([[0., 5., 0., 1., 1., 2., 0., 0.]])
        """
        vectors = functional.embedding(ids, self.table)
        if self.real is not None:
            vectors = vectors.to(self.real.dtype)
            vectors[..., :1] = functional.embedding(ids, self.real)  # in place: a copy would cost as much again
        return vectors

    @_outside_graphs  # numbers are read and encoded by NumPy, on the CPU
    def _of_numbers(self, numbers: Any) -> torch.Tensor:
        """Return the vectors of open-ended numbers."""
        if self.projection is not None and self._is_hot:
            parsed, is_missing = self._open.read(numbers)
            vectors = self._project_digits(self._encode(parsed), self.projection)
        else:
            features, is_missing = self._open.features(numbers, self._features_of)
            greatest = greatest_of(features)
            check_range(greatest, self.table.dtype)
            check_autocast(greatest, self.table.device.type)
            vectors = features.to(self.table.device, self.table.dtype)
            vectors = vectors if self.projection is None else self.projection(vectors)
        if self.special is None or is_missing is None:
            return vectors
        gaps = torch.from_numpy(is_missing).to(vectors.device)[..., None]
        return torch.where(gaps, self.special[0].to(vectors.dtype), vectors)

    def _project_digits(self, adeles: AdeleArray, projection: nn.Linear) -> torch.Tensor:
        """Return the vectors of open-ended numbers as sums of the map's columns, without thousands of features."""
        device, dtype = self.table.device, self.table.dtype
        hot = torch.from_numpy(hot_positions(adeles, self.layout)).to(device)
        real = torch.from_numpy(np.asarray(signed_logarithm(adeles.real))).to(device, dtype)
        columns = projection.weight.t()
        if self._frequency_weights is not None:
            columns = columns * torch.from_numpy(self._frequency_weights).to(device, dtype)[:, None]
        columns = functional.pad(columns, (0, 0, 0, 1))
        # A product with a vector of zeros and ones is the sum of the columns where the ones stand.
        bags = hot.reshape(-1, math.prod(hot.shape[-2:]))
        sums = functional.embedding_bag(bags, columns, mode="sum", padding_idx=self.layout.size)
        return sums.reshape(*hot.shape[:-2], self.d_model) + real[..., None] * columns[0] + projection.bias

    def fingerprint(self) -> dict[str, Any]:
        """Return the vocabulary, the space and the features."""
        features: dict[str, Any] = {
            "features": self.layout.kind,
            "levels": self.layout.levels,
            "coordinates": self.coordinates,
        }
        if self.layout.kind == "combined":
            features["scale"] = self.scale and list(self.scale)
        if self.falloff is not None:
            features["falloff"] = self.falloff
        return super().fingerprint() | self.space.to_dict() | features

    @property
    def frozen(self) -> torch.Tensor | None:
        """Return the vectors of the vocabulary, (numbers, d_model), where the table has them all."""
        is_plain = self.projection is None and self.special is None and self.padding_idx is None
        return self.table if self.vocabulary is not None and is_plain else None

    def positional_encoding(self, max_length: int) -> PositionalEncoding:
        """Return the joint encoding where coordinates are digits, else the sinusoidal one."""
        if self.projection is None and self.layout.kind in ("digits", "standardized"):
            return AdelicPositionalEncoding(self.layout, self.d_model, max_length=max_length)
        return super().positional_encoding(max_length)


def frequency_weights(layout: FeatureLayout, falloff: float) -> npt.NDArray[np.float32]:
    """Return the factor 1/√(1 + p^k/falloff) of what depends on q modulo p^k and no lower power, float32 (size,).

    That is a character, or a one-hot digit; other features have the factor 1. A residue is the rarer asked for, and the
    more examples it takes, the greater its modulus. With equal factors the many high levels are noise as loud as the
    few low ones, and a network reads neither in time. For a form without such features, or a falloff that is not
    positive and finite, it raises a ConfigurationError.

    >>> from adelic.numbers import AdeleSpace
    >>> layout = FeatureLayout("characters", AdeleSpace(primes=(2, 5), precision=3), 3)
    >>> frequency_weights(layout, 30).round(2)
    array([1.  , 0.97, 0.97, 0.94, 0.94, 0.89, 0.89, 0.93, 0.93, 0.74, 0.74,
           0.44, 0.44], dtype=float32)
    """
    if layout.kind not in ("characters", "one-hot-digits", "combined") or not 0 < falloff < math.inf:
        raise ConfigurationError(
            f"falloff={falloff} is to be above 0, with features='characters', 'one-hot-digits' or 'combined'; leave it "
            f"out for {layout.kind!r}"
        )
    factors = [np.ones(layout.n_real)]
    for p, count in zip(layout.space.primes, layout.place_levels, strict=True):
        exponents = np.arange(1, count + 1) - layout.space.fractional_digits
        of_levels = (1 + np.exp(np.minimum(exponents * math.log(p), 700)) / falloff) ** -0.5  # exp(710) is infinite
        of_levels = np.repeat(of_levels, p if layout.kind == "one-hot-digits" else 2)
        factors += [of_levels, np.ones(place_size(layout.kind, p, count) - len(of_levels))]
    return np.concatenate(factors).astype(np.float32)


def _check_features(features: str, projection: Any, coordinates: Any, *, has_vocabulary: bool) -> None:
    """Raise `ConfigurationError` unless there are such coordinates and such a projection, for these features."""
    if coordinates not in COORDINATES:
        raise ConfigurationError(f"coordinates={coordinates!r} are unknown; use {', '.join(COORDINATES)}")
    if projection not in (None, "linear"):
        raise ConfigurationError(f"projection={projection!r} is unknown; use None or 'linear'")
    if features == "standardized" and not has_vocabulary:
        raise ConfigurationError("features='standardized' needs a vocabulary to standardize over")


def _check_numbers(space: Any, gain: Any, scale: Any, features: str, *, is_projected: bool) -> None:
    """Raise `ConfigurationError` unless a space is one, and a gain and a scale are numbers that play a part.

    >>> _check_numbers(None, 1.0, (0, 0), "combined", is_projected=True)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: scale=(0, 0): it is a mean and a deviation above 0, for features='combined'; ...
    """
    if not isinstance(space, AdeleSpace | None):
        raise ConfigurationError(f"space={space!r} is no AdeleSpace; leave it out for the default")
    is_number = isinstance(gain, Real)
    if not is_number or not 0 < gain < math.inf or (gain != 1 and not is_projected):
        raise ConfigurationError(f"gain={gain!r} must be a positive number, and 1 without projection='linear'")
    if scale is None:
        return
    pair = list(scale) if isinstance(scale, tuple | list) else []
    is_pair = len(pair) == 2 and all(isinstance(x, Real) and math.isfinite(x) for x in pair)
    if features != "combined" or not is_pair or pair[1] <= 0:
        raise ConfigurationError(
            f"scale={scale!r}: it is a mean and a deviation above 0, for features='combined'; leave it out otherwise"
        )


def _check_ids(n_ids: int | None, padding_idx: Any, floats: Any, *, missing: bool) -> None:
    """Raise `ConfigurationError` where options for ids and for open-ended numbers are mixed up, or have no such value.

    There are n_ids ids; None without a vocabulary. Floats of no policy are an `EncodingError`, as if they are read.
    """
    float_policy(floats)
    if n_ids is not None and (missing or floats != "never"):
        raise ConfigurationError(
            "floats and missing are for embeddings without a vocabulary; Vocabulary(numbers, missing=True) has an "
            "id for missing numbers"
        )
    if padding_idx is None:
        return
    is_whole = isinstance(padding_idx, Integral)
    if n_ids is None or not is_whole or not 0 <= padding_idx < n_ids:
        known = "a vocabulary" if n_ids is None else f"an id from 0 to {n_ids - 1}"
        raise ConfigurationError(f"padding_idx={padding_idx!r} is not an id here; it needs {known}")
