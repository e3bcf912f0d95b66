"""Heads that read a number out of a hidden state in the rivals' ways: Fourier slices, digits, one real number."""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.base_digits import from_digits, to_digits
from adelic.nn.rivals import XValEmbedding


class DigitLogits(NamedTuple):
    """What a network says of a number's digits.

    Attributes:
        digits: float32 (*, n_digits, base), least significant digit first.
        sign: logit of the number being negative, float32 (*).

    >>> DigitLogits(torch.zeros(2, 6, 10), torch.zeros(2)).sign.shape
    torch.Size([2])
    """

    digits: torch.Tensor
    sign: torch.Tensor


class DigitwiseHead(nn.Module):
    """What heads that classify every digit share: targets, loss, decoding.

    Attributes:
        base: of the digits.

    >>> head = FourierHead(64, n_digits=4)
    >>> outputs = DigitLogits(torch.eye(10)[torch.tensor([2, 0, 1, 0])], torch.tensor(-3.0))
    >>> head.decode(outputs)
    array(102, dtype=object)
    """

    base: int

    def targets(self, numbers: Any, n_digits: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the digits of integers (*,), int64 (*, n_digits), and whether they are negative, float32 (*).

        Raises:
            EncodingError: a number is a fraction, or has more digits.
        """
        digits, sign = to_digits(numbers, base=self.base, n_digits=n_digits)
        return torch.from_numpy(digits), torch.from_numpy((sign < 0).astype(np.float32))

    def loss(self, outputs: DigitLogits, digits: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy of a digit plus that of the sign, for `targets`."""
        of_digits = functional.cross_entropy(outputs.digits.flatten(0, -2), digits.flatten())
        return of_digits + functional.binary_cross_entropy_with_logits(outputs.sign, negative)

    def decode(self, outputs: DigitLogits) -> npt.NDArray[np.object_]:
        """Return the most probable integers, Python integers in an object array (*,)."""
        digits = outputs.digits.detach().argmax(dim=-1).cpu().numpy()
        return from_digits(digits, (outputs.sign.detach() > 0).cpu().numpy(), base=self.base)


class FourierHead(DigitwiseHead):
    """FoNE's head: the logit of digit j is the inner product of two coordinates and (cos 2πj/10, sin 2πj/10).

    # NOTE[rival]: FoNE has no sign; here one more coordinate is the sign's logit. A trained linear map gives the slices
    # by default, since after a layer norm they would be too small for a digit to be sure; projection=None takes the
    # state's own coordinates, as the paper does.

    Shape: (*, d_model) -> digits (*, n_digits, 10) and sign (*).

    Source: Zhou et al., arXiv:2502.09741, definition 3.7.

    >>> head = FourierHead(5, n_digits=2, projection=None)
    >>> outputs = head(torch.tensor([-9.0, 0.0, 0.0, 9.0, 0.5]))  # angles of 5 and of 2.5; a positive logit of "−"
    >>> outputs.digits[0].argmax(), outputs.digits[1].topk(2).indices.sort().values, outputs.sign
    (tensor(5), tensor([2, 3]), tensor(0.5000))
    """

    base = 10
    waves: torch.Tensor

    def __init__(self, d_model: int, *, n_digits: int, projection: Literal["linear"] | None = "linear") -> None:
        super().__init__()
        if projection is None and d_model < 2 * n_digits + 1:
            raise ConfigurationError(
                f"d_model={d_model} is too small for {n_digits} digits and a sign; d_model >= {2 * n_digits + 1}, "
                "or projection='linear'"
            )
        self.n_digits = n_digits
        self.projection = nn.Linear(d_model, 2 * n_digits + 1) if projection else None
        angles = 2 * math.pi * torch.arange(10, dtype=torch.float64) / 10
        self.register_buffer("waves", torch.stack([angles.cos(), angles.sin()]).float(), persistent=False)

    def forward(self, hidden: torch.Tensor) -> DigitLogits:
        """Return the logits."""
        if self.projection is not None:
            hidden = self.projection(hidden)
        slices = hidden[..., : 2 * self.n_digits].reshape(*hidden.shape[:-1], self.n_digits, 2)
        return DigitLogits(slices @ self.waves, hidden[..., 2 * self.n_digits])


class DigitHead(DigitwiseHead):
    """The head of digit tokens: one state for the sign, then one for each digit; a softmax over the base's digits.

    Shape: (*, 1 + n_digits, d_model) -> digits (*, n_digits, base) and sign (*).

    Args:
        d_model: width of the states.
        base: B.
        weight: of the digits' logits, (base, d_model), where it is shared with the digits' embedding.

    >>> DigitHead(64, base=1000)(torch.zeros(2, 1 + 4, 64)).digits.shape
    torch.Size([2, 4, 1000])
    """

    def __init__(self, d_model: int, *, base: int, weight: nn.Parameter | None = None) -> None:
        super().__init__()
        self.base = base
        self.digit = nn.Linear(d_model, base)
        if weight is not None:
            self.digit.weight = weight
        self.sign = nn.Linear(d_model, 1)

    def forward(self, hidden: torch.Tensor) -> DigitLogits:
        """Return the logits."""
        return DigitLogits(self.digit(hidden[..., 1:, :]), self.sign(hidden[..., 0, :])[..., 0])


class XValHead(nn.Module):
    """xVal's head: d_model -> 4·d_model -> 1, the number, scaled as `XValEmbedding` scales it; mean squared error.

    `fit` sets the scale by the answers of the training data. Decoding rounds to the nearest integer.

    Shape: (*, d_model) -> (*).

    Source: Golkar et al., arXiv:2310.02989, section 2.2.

    >>> head = XValHead(64).fit([-20, 100])
    >>> head.targets([-20, 100]), head.decode(torch.tensor([-1.0, 0.101]))
    ((tensor([-1.,  5.]),), array([-20, 2], dtype=object))
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, 1))
        self.scaling = XValEmbedding(None, 1)
        self.scaling.requires_grad_(False)

    def fit(self, numbers: Any) -> "XValHead":
        """Set the scale by numbers; return the head."""
        self.scaling.fit(numbers)
        return self

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the scaled number."""
        number: torch.Tensor = self.layers(hidden)[..., 0]
        return number

    def targets(self, numbers: Any) -> tuple[torch.Tensor]:
        """Return scaled numbers, float32 (*)."""
        return (self.scaling.features(numbers)[..., 0],)

    def loss(self, outputs: torch.Tensor, scaled: torch.Tensor) -> torch.Tensor:
        """Return the mean squared error, for `targets`."""
        return functional.mse_loss(outputs, scaled)

    def decode(self, outputs: torch.Tensor) -> npt.NDArray[np.object_]:
        """Return the nearest integers, Python integers in an object array (*,); None for what is not finite.

        (A number far beyond the training data's overflows in the network's norms.)
        """
        values = np.rint(outputs.detach().double().cpu().numpy() / self.scaling.scale.item())
        nearest = np.frompyfunc(lambda value: int(value) if math.isfinite(value) else None, 1, 1)
        return np.asarray(nearest(values), dtype=object)
