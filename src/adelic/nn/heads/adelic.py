"""Numbers as outputs: logits of every p-adic digit and one real number, their loss, and the way back to numbers.

Each digit is a class, so a right answer is exact. With more primes than the answers need, the digits are a code
that corrects a few wrong places: `adelic.numbers.decoding.redundancy` has the bound.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.checks import check_plain, check_positive
from adelic.nn.fingerprint import Fingerprinted
from adelic.nn.kernels.lifting import existing
from adelic.nn.placewise import (
    N_CHARACTERS,
    PlacewiseLinear,
    check_scale,
    check_space,
    digit_characters,
    read_places,
    stack_places,
)
from adelic.numbers import AdeleArray, AdeleSpace, DecodedNumbers, RedundantResidueCode
from adelic.numbers.finite import below_window
from adelic.numbers.rationals import read
from adelic.numbers.real import nearest_floats

UNKNOWN_DIGIT = -100
"""The target that stands for a digit of which nothing is known; `functional.cross_entropy` leaves it out."""


class AdelicPrediction(NamedTuple):
    """The prediction of numbers: a real value, and the logits of every digit.

    Attributes:
        real: (*), the real place as asinh(q / real_scale); `AdelicHead.real_value` gives q.
        logits: (*, n_primes, max_precision, max_prime), most significant digit first as in `AdeleArray.digits`; −inf
            for what is not a digit, from p on, and for all but 0 if the prime has no digit.

    >>> head = AdelicHead(AdeleSpace(primes=(2, 3, 5), precision=2), in_features=12)
    >>> prediction = head(torch.ones(7, 4, 12))
    >>> prediction.real.shape, prediction.logits.shape
    (torch.Size([7]), torch.Size([7, 3, 2, 5]))
    """

    real: torch.Tensor
    logits: torch.Tensor


class AdelicHead(Fingerprinted):
    """The last layer of a network that answers with numbers.

    A place is a prime, or the real numbers. Shape: with placewise=True, (*, n_places, in_features), first the real
    place, then the primes in the space's order; else (*, in_features). Both -> `AdelicPrediction`: real (*), logits (*,
    n_primes, max_precision, max_prime).

    - Tied: six numbers h per digit give the logit of digit j, scale · ⟨h, characters of j⟩, with one trained scale per
      prime. In characters (`digit_characters`), sums and products of digits become products. FoNE's head (arXiv
      2502.09741) is of this kind at the prime 10. If in_features is 6 · precision, a place's inputs are these numbers,
      from the highest digit to the lowest; else a linear map computes them.
    - Untied: a linear map computes the logits.
    - The real value is one linear output, in the unit asinh(q / real_scale): linear below real_scale, and logarithmic
      above it, so the loss weighs relative errors of large numbers.

    Args:
        space: the primes and digits.
        in_features: number of inputs, per place if placewise, else in all.
        placewise: whether each place reads its own inputs.
        tied: whether digits are recognized by their characters.
        real_scale: the unit of the real value.

    Raises:
        ConfigurationError: in_features is below 1, or real_scale is not positive and finite.

    >>> space = AdeleSpace(primes=(2, 3, 5, 7), precision=1)
    >>> head = AdelicHead(space, in_features=6)
    >>> hidden = torch.zeros(5, 6)
    >>> hidden[1:] = torch.stack([digit_characters(p)[-9 % p] for p in space.primes])
    >>> head.decode(head(hidden), max_numerator=20).values.item()
    Fraction(-9, 1)
    """

    tables: torch.Tensor
    is_no_digit: torch.Tensor

    def __init__(
        self, space: AdeleSpace, in_features: int, *, placewise: bool = True, tied: bool = True, real_scale: float = 1.0
    ) -> None:
        super().__init__()
        check_positive(in_features=in_features)
        check_scale(real_scale)
        self.space, self.in_features, self.placewise, self.tied = space, in_features, placewise, tied
        self.real_scale = real_scale
        self._width = N_CHARACTERS if tied else max(space.primes)
        out_features = self._width * space.max_precision
        self.linear: nn.Module
        if not placewise:
            self.linear = nn.Linear(in_features, space.n_primes * out_features)
        elif tied and in_features == out_features:
            self.linear = nn.Identity()
        else:
            self.linear = PlacewiseLinear(space.n_primes, in_features, out_features)
        self.real = nn.Linear(in_features, 1)
        self.scale = nn.Parameter(torch.full((space.n_primes, 1, 1), 10.0)) if tied else None
        self.register_buffer("tables", stack_places([digit_characters(p) for p in space.primes]), persistent=False)
        no_digit = torch.arange(max(space.primes)) >= torch.tensor(space.primes)[:, None, None]
        if not space.window.is_uniform:  # where a prime has no digit, 0 is certain
            no_digit = no_digit | (torch.arange(max(space.primes)) > 0) & ~torch.tensor(space.window.exists)[..., None]
        self.register_buffer("is_no_digit", no_digit, persistent=False)

    def extra_repr(self) -> str:
        """Return what print shows."""
        return f"{self.space}, in_features={self.in_features}, placewise={self.placewise}, tied={self.tied}"

    def fingerprint(self) -> dict[str, Any]:
        """Return the space and the unit of the real place."""
        return self.space.to_dict() | {"real_scale": float(self.real_scale)}

    def forward(self, hidden: torch.Tensor, real: torch.Tensor | None = None) -> AdelicPrediction:
        """Return the prediction.

        Args:
            hidden: what comes in, of the shape above.
            real: what comes in at the real place of a flat head, instead of `hidden`; of the same shape.

        Raises:
            ConfigurationError: a shape does not fit, or the head is place-wise and has a real place in `hidden`.
        """
        check_plain(hidden, self.tables.device)
        if real is not None:
            check_plain(real, self.tables.device)
            if self.placewise or real.shape != hidden.shape:
                raise ConfigurationError(
                    f"real of shape {tuple(real.shape)} does not fit: a flat head takes the shape of hidden, "
                    f"{tuple(hidden.shape)}, and a place-wise one reads the real place there"
                )
        n_primes, precision = self.space.n_primes, self.space.max_precision
        expected = (1 + n_primes, self.in_features) if self.placewise else (self.in_features,)
        if tuple(hidden.shape[-len(expected) :]) != expected:
            raise ConfigurationError(
                f"the head was built for (*, {', '.join(map(str, expected))}), not for shape {tuple(hidden.shape)}"
            )
        # A flat head sees all places at once, so the real place and the primes read the same state.
        first, others = (hidden[..., 0, :], hidden[..., 1:, :]) if self.placewise else (hidden, hidden)
        first = first if real is None else real
        batch = hidden.shape[: -len(expected)]
        logits: torch.Tensor = self.linear(others).reshape(*batch, n_primes, precision, self._width)
        if self.scale is not None:
            # Characters have sizes about 1, so their products alone could make no digit certain: hence the scale.
            logits = self.scale * torch.einsum("...jkf,jcf->...jkc", logits, self.tables)
        return AdelicPrediction(self.real(first)[..., 0], logits.masked_fill(self.is_no_digit, -math.inf))

    def real_value(self, prediction: AdelicPrediction) -> npt.NDArray[np.float64]:
        """Return the real coordinates q, float64 (*); beyond float64 they are infinite.

        >>> head = AdelicHead(AdeleSpace(), 6, real_scale=1000)
        >>> head.real_value(AdelicPrediction(torch.tensor([0.0, -1.0]), torch.zeros(2, 7, 16, 17))).round(1)
        array([    0. , -1175.2])
        """
        with np.errstate(over="ignore"):
            return np.asarray(self.real_scale * np.sinh(prediction.real.detach().double().cpu().numpy()))

    def decode(self, prediction: AdelicPrediction, *, max_numerator: int, max_denominator: int = 1) -> DecodedNumbers:
        """Return the numbers n/m that are the likeliest, though a few places may be wrong, and how certain they are.

        Args:
            prediction: of this head.
            max_numerator: the greatest |n|.
            max_denominator: the greatest m; 1 for integers.

        Returns:
            values, object (*), `Fraction` or None; confidence, float64 (*); errors, bool (*, n_primes), the places that
            were corrected. See `adelic.numbers.RedundantResidueCode`.

        Raises:
            SpaceError: the space has too few digits to tell these numbers apart.
            EncodingError: logits are NaN.
        """
        code = RedundantResidueCode(self.space, max_numerator, max_denominator)
        log_probabilities = prediction.logits.detach().float().log_softmax(dim=-1).cpu().numpy()
        return code.decode_soft(log_probabilities)  # a network's real place is seldom as good as its digits


class AdelicLoss(nn.Module):
    """The mean cross-entropy of the digits, plus a weight times the smooth L1 distance of asinh(q / real_scale).

    The digits alone say what the number is, if the space holds it; the real place helps a network that has to compare
    sizes, or a reader who wants an estimate of an answer that was no codeword. A weight of 0 leaves it out.

    Shape: an `AdelicPrediction` with batch axes (*), and targets of the same (*) -> scalar.

    Args:
        space: the primes and digits.
        real_weight: of the real place, at least 0.
        real_scale: that of the head.

    Raises:
        ConfigurationError: a weight or scale is not so.

    >>> space = AdeleSpace(primes=(2, 3, 5), precision=1)
    >>> loss = AdelicLoss(space, real_weight=0.0)
    >>> prediction = AdelicHead(space, in_features=6)(torch.zeros(2, 4, 6))
    >>> loss(prediction, space.encode([7, -3])).item()  # all digits are equally likely: (ln 2 + ln 3 + ln 5) / 3
    1.133...
    """

    def __init__(self, space: AdeleSpace, *, real_weight: float = 1.0, real_scale: float = 1.0) -> None:
        super().__init__()
        if not 0 <= real_weight < math.inf:
            raise ConfigurationError(f"real_weight={real_weight} must be finite and not negative")
        check_scale(real_scale)
        self.space, self.real_weight, self.real_scale = space, real_weight, real_scale

    def extra_repr(self) -> str:
        """Return what print shows."""
        return f"{self.space}, real_weight={self.real_weight}, real_scale={self.real_scale}"

    def forward(self, prediction: AdelicPrediction, targets: Any) -> torch.Tensor:
        """Return the loss.

        Args:
            prediction: of an `AdelicHead` of the same space.
            targets: an AdeleArray (*), whose unknown digits are left out, or a pair of real values (*) and digits
                (*, n_primes, max_precision), integers, `UNKNOWN_DIGIT` if a digit is to be left out;
                `adelic_targets` makes them. Digits that a prime does not have are left out by themselves, and so are
                real values that are not finite.

        Raises:
            SpaceError: targets are an AdeleArray of another space.
            EncodingError: they are neither an AdeleArray nor a pair of real values and digits, or a digit is none of
                its prime.
            ConfigurationError: the shapes do not fit together, or not the space.
        """
        if isinstance(targets, AdeleArray):
            check_space(targets, self.space)
            targets = _tensors_of(targets)
        logits = prediction.logits
        check_plain(logits, logits.device)
        real, digits = read_places(targets, self.space, logits.device, unknown=UNKNOWN_DIGIT)
        if digits.shape != logits.shape[:-1]:
            raise ConfigurationError(
                f"targets of shape {tuple(digits.shape)} do not fit predictions of shape {tuple(logits.shape[:-1])}"
            )
        if not self.space.window.is_uniform:
            digits = digits.where(existing(digits.device, self.space.precisions), UNKNOWN_DIGIT)
        n_known = (digits != UNKNOWN_DIGIT).sum().clamp(min=1)
        total = functional.cross_entropy(
            logits.flatten(0, -2), digits.flatten(), ignore_index=UNKNOWN_DIGIT, reduction="sum"
        )
        # Not the mean of `cross_entropy`, which is NaN if no digit is known.
        loss = total / n_known
        if not self.real_weight:
            return loss
        target = torch.asinh(real.double() / self.real_scale)
        is_known = target.isfinite()
        # Zeros instead of infinities before the mask comes: 0 times infinity is NaN.
        distance = functional.smooth_l1_loss(
            prediction.real, target.where(is_known, 0.0).to(prediction.real.dtype), reduction="none"
        )
        return loss + self.real_weight * (distance * is_known).sum() / is_known.sum().clamp(min=1)


def real_window(
    place: npt.NDArray[np.float64], tolerance: float, scale: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the numbers q whose asinh(q / scale) is that near the real place's prediction: their middle and radius.

    Both are what `RedundantResidueCode.decode` takes; beyond float64 the middle is NaN, which says nothing.

    >>> [part.round(2).tolist() for part in real_window(np.array([0.0, 1e9]), 0.5, 10.0)]
    [[0.0, nan], [5.21, 0.0]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = (scale * np.sinh(place + side * tolerance) for side in (-1, 1))
        middle = low / 2 + high / 2  # halved first: the sum may overflow
        radius = np.where(np.isfinite(middle), high / 2 - low / 2, 0.0)
    return np.where(np.isfinite(middle), middle, np.nan), radius


def adelic_targets(space: AdeleSpace, numbers: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the targets of numbers, those whose denominators the window of a prime cannot hold included.

    Args:
        space: the primes and digits.
        numbers: whatever `AdeleSpace.encode` takes, (*).

    Returns:
        real values, float64 (*), and digits, int64 (*, n_primes, max_precision): `UNKNOWN_DIGIT` at a prime that
        divides the denominator more than `fractional_digits` times, where the number has no digits; 0 if the prime
        has none, which `AdelicLoss` leaves out.

    Raises:
        EncodingError, DivisionByZeroError: as for `AdeleSpace.encode`.

    >>> adelic_targets(AdeleSpace(primes=(2, 3, 5), precision=1), ["1/2", 4])[1][..., 0]
    tensor([[-100,    2,    3],
            [   0,    1,    4]])
    """
    rationals = read(numbers)
    n, m = rationals.numerators, rationals.denominators
    digits = np.zeros((len(n), space.n_primes, space.max_precision), dtype=np.int64)
    for j, (p, precision) in enumerate(zip(space.primes, space.precisions, strict=True)):
        # Each place by itself, with 0 instead of the numbers that it cannot hold.
        place = AdeleSpace((p,), precision, space.fractional_digits)
        is_beyond = below_window(rationals, p, space.fractional_digits)
        adeles = place.encode((np.where(is_beyond, 0, n), np.where(is_beyond, 1, m)))
        held = np.where(is_beyond[:, None], UNKNOWN_DIGIT, adeles.digits[:, 0].astype(np.int64))
        digits[:, j, space.max_precision - precision :] = held
    shape = rationals.shape
    reals = torch.from_numpy(nearest_floats(rationals).reshape(shape))
    return reals, torch.from_numpy(digits.reshape(*shape, *digits.shape[1:]))


def _tensors_of(adeles: AdeleArray) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the real values and the digits of adeles, `UNKNOWN_DIGIT` above those that are known."""
    place = np.arange(adeles.digits.shape[-1] - 1, -1, -1)  # of each digit in its window, as `digits` orders them
    digits = np.where(place < adeles.known[..., None], adeles.digits.astype(np.int64), UNKNOWN_DIGIT)
    return torch.tensor(adeles.real), torch.from_numpy(digits)
