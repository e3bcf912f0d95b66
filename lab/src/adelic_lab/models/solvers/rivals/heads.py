"""Heads that read a number out of a hidden state in the rivals' ways: Fourier slices, digits, one real number."""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.base_digits import refuse_signs, to_digits
from adelic.nn.embeddings.fone import check_bases
from adelic.nn.embeddings.xval import XValEmbedding
from adelic.nn.fingerprint import Fingerprinted


class DigitLogits(NamedTuple):
    """The prediction of a number's digits, and of its sign.

    Attributes:
        digits: float32 (*, n_digits, base), least significant digit first.
        sign: logit of the number being negative, float32 (*); None of a head that knows no sign.

    >>> DigitLogits(torch.zeros(2, 6, 10), torch.zeros(2)).sign.shape
    torch.Size([2])
    """

    digits: torch.Tensor
    sign: torch.Tensor | None


def number_token_loss(logits: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
    """Return how far the digits that logits mean are from those that are right, on average.

    It is the mean of Σ_j P(j)·|j − d| over all digits, Wasserstein's distance of P from the digit d.

    P is the softmax of the logits, float (*, base); digits are int64 (*).

    Source: Zausinger et al., "Regress, don't guess: a regression-like loss on number tokens for language models",
    arXiv:2411.02083, section 3: NTL-WAS.

    >>> logits = torch.tensor([0.0, 0.0, -99.0, 0.0]).log_softmax(dim=-1)  # 0, 1 or 3
    >>> number_token_loss(logits, torch.tensor(3))
    tensor(1.6667)
    """
    values = torch.arange(logits.shape[-1], dtype=logits.dtype, device=logits.device)
    return (logits.softmax(dim=-1) * (values - digits[..., None]).abs()).sum(dim=-1).mean()


class DigitwiseHead(Fingerprinted):
    """What heads that classify every digit share: targets, loss, decoding.

    Attributes:
        base: of the digits.
        signed: whether it answers with negative numbers, too.
        number_token_weight: of `number_token_loss` in the loss.

    >>> head = FourierHead(64, n_digits=4)
    >>> outputs = DigitLogits(torch.eye(10)[torch.tensor([2, 0, 1, 0])], torch.tensor(-3.0))
    >>> head.decode(outputs)
    array(102, dtype=object)
    """

    base: int
    signed: bool = True
    number_token_weight: float = 0.0

    def fingerprint(self) -> dict[str, Any]:
        """Return what the answers are made of."""
        return {"base": self.base, "signed": self.signed}

    def targets(self, numbers: Any, n_digits: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the digits of integers (*,), int64 (*, n_digits), and whether they are negative, float32 (*).

        A number that is a fraction, or has more digits, or a sign where the head knows none, is an EncodingError.
        """
        digits, sign = to_digits(numbers, base=self.base, n_digits=n_digits)
        if not self.signed:
            refuse_signs(numbers, sign, "signed=True gives the head one")
        return torch.from_numpy(digits), torch.from_numpy((sign < 0).astype(np.float32))

    def loss(self, outputs: DigitLogits, digits: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy of a digit plus that of the sign, for `targets`, and the number token loss."""
        loss = functional.cross_entropy(outputs.digits.flatten(0, -2), digits.flatten())
        if self.number_token_weight:
            loss = loss + self.number_token_weight * number_token_loss(outputs.digits, digits)
        if outputs.sign is None:
            return loss
        return loss + functional.binary_cross_entropy_with_logits(outputs.sign, negative)

    def decode(self, outputs: DigitLogits) -> npt.NDArray[np.object_]:
        """Return the most probable integers, Python integers in an object array (*,)."""
        digits = outputs.digits.detach().argmax(dim=-1).cpu().numpy()
        sign = torch.zeros(()) if outputs.sign is None else outputs.sign.detach()
        negative: npt.NDArray[np.bool_] = (sign > 0).cpu().numpy()
        return from_digits(digits, negative, base=self.base)


class FourierHead(DigitwiseHead):
    """FoNE's head: the logit of digit j is the inner product of two coordinates and (cos 2πj/10, sin 2πj/10).

    With other bases b than 10 a digit has two coordinates for each, and the waves are those of 2πj/b.

    # NOTE[rival]: the published code norms the state (again, where the network's last step was a norm), slices its own
    # coordinates, and has no sign: projection="norm", signed=False. Here one more coordinate is the sign's logit, and a
    # trained linear map gives the slices by default, so that answers may have more digits than half the state's
    # coordinates. docs/rivals.md lists every difference.

    Shape: (*, d_model) -> digits (*, n_digits, 10) and sign (*).

    Args:
        d_model: length of a state.
        n_digits: how many digits an answer has.
        projection: "linear" for a trained linear map of the state to the slices; "norm" for a layer norm, as in the
            published code; None takes the state's own coordinates, as the paper's definition does.
        bases: of the periods, each from 2 to 10.
        signed: whether a coordinate is the sign's logit.
        max_shift: how many digits there are below the first one asked, see `FoNEEmbedding`.

    Raises:
        ConfigurationError: the state has too few coordinates, or a base is not a whole number from 2 to 10.

    Source: Zhou et al., arXiv:2502.09741, definition 3.7.

    >>> head = FourierHead(5, n_digits=2, projection=None)
    >>> outputs = head(torch.tensor([-9.0, 0.0, 0.0, 9.0, 0.5]))  # angles of 5 and of 2.5; a positive logit of "−"
    >>> outputs.digits[0].argmax(), outputs.digits[1].topk(2).indices.sort().values, outputs.sign
    (tensor(5), tensor([2, 3]), tensor(0.5000))
    """

    base = 10
    waves: torch.Tensor

    def __init__(
        self,
        d_model: int,
        *,
        n_digits: int,
        projection: Literal["linear", "norm"] | None = "linear",
        bases: Sequence[int] = (10,),
        signed: bool = True,
        max_shift: int = 0,
    ) -> None:
        super().__init__()
        if projection not in (None, "linear", "norm"):
            raise ConfigurationError(f"projection={projection!r} is unknown; use None, 'linear' or 'norm'")
        self.n_digits, self.signed, self.bases = n_digits, signed, check_bases(bases)
        self.n_slices, self.width = n_digits + max_shift, 2 * len(self.bases)
        needed = self.n_slices * self.width + signed
        if projection != "linear" and d_model < needed:
            raise ConfigurationError(
                f"d_model={d_model} is too small for {self.n_slices} digits{' and a sign' if signed else ''}; d_model "
                f">= {needed}, or projection='linear'"
            )
        self.projection: nn.Module | None = None
        if projection is not None:
            self.projection = nn.Linear(d_model, needed) if projection == "linear" else nn.LayerNorm(d_model)
        angles = 2 * math.pi * torch.arange(10, dtype=torch.float64) / torch.tensor(self.bases)[:, None]
        waves = torch.stack([angles.cos(), angles.sin()], dim=1).flatten(0, 1).float()
        self.register_buffer("waves", waves, persistent=False)

    def fingerprint(self) -> dict[str, Any]:
        """Return what the answers are made of, and the waves."""
        return super().fingerprint() | {"bases": list(self.bases)}

    def forward(self, hidden: torch.Tensor, shift: int = 0) -> DigitLogits:
        """Return the logits; the lowest `shift` digits are not asked."""
        if self.projection is not None:
            hidden = self.projection(hidden)
        slices = hidden[..., : self.n_slices * self.width].reshape(*hidden.shape[:-1], self.n_slices, self.width)
        logits = slices[..., shift : shift + self.n_digits, :] @ self.waves
        return DigitLogits(logits, hidden[..., self.n_slices * self.width] if self.signed else None)


class DigitHead(DigitwiseHead):
    """The head of digit tokens: one state for the sign, then one for each digit; a softmax over the base's digits.

    Shape: (*, 1 + n_digits, d_model) -> digits (*, n_digits, base) and sign (*).

    Args:
        d_model: length of a state.
        base: of the digits.
        number_token_weight: of `number_token_loss` in the loss; its authors' is 0.3.

    >>> DigitHead(64, base=1000)(torch.zeros(2, 1 + 4, 64)).digits.shape
    torch.Size([2, 4, 1000])
    """

    def __init__(self, d_model: int, *, base: int, number_token_weight: float = 0.0) -> None:
        super().__init__()
        self.base, self.number_token_weight = base, number_token_weight
        self.digit = nn.Linear(d_model, base)
        self.sign = nn.Linear(d_model, 1)

    def forward(self, hidden: torch.Tensor) -> DigitLogits:
        """Return the logits."""
        return DigitLogits(self.digit(hidden[..., 1:, :]), self.sign(hidden[..., 0, :])[..., 0])


class XValHead(nn.Module):
    """xVal's head: d_model -> 4·d_model -> 1, the number, scaled as `XValEmbedding` scales it; mean squared error.

    `fit` sets the scale by the answers of the training data. Decoding rounds to the nearest integer.

    Shape: (*, d_model) -> (*).

    Args:
        d_model: length of a state.
        scaling: "linear" or "log", see `XValEmbedding`.
        is_linear: whether one linear map reads the number; so FoNE's authors ran xVal, with scaling="log".

    Source: Golkar et al., arXiv:2310.02989, section 2.2.

    >>> head = XValHead(64).fit([-20, 100])
    >>> head.targets([-20, 100]), head.decode(torch.tensor([-1.0, 0.101]))
    ((tensor([-1.,  5.]),), array([-20, 2], dtype=object))
    """

    def __init__(self, d_model: int, *, scaling: Literal["linear", "log"] = "linear", is_linear: bool = False) -> None:
        super().__init__()
        self.layers: nn.Module
        if is_linear:
            self.layers = nn.Linear(d_model, 1)
        else:
            self.layers = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, 1))
        # Only its shift and scale are used; its vectors are not to be trained.
        self.scaling = XValEmbedding(None, 1, scaling=scaling)
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
        values = np.rint(self.scaling.unscale(outputs))
        nearest = np.frompyfunc(lambda value: int(value) if math.isfinite(value) else None, 1, 1)
        return np.asarray(nearest(values), dtype=object)


def from_digits(digits: npt.NDArray[Any], negative: npt.NDArray[np.bool_], *, base: int) -> npt.NDArray[np.object_]:
    """Return the integers of digits, Python integers in an object array (*,); the inverse of `to_digits`.

    Digits are (*, n_digits), least significant first.

    >>> from_digits(np.array([[0, 2, 1], [7, 0, 0]]), np.array([True, False]), base=10)
    array([-120, 7], dtype=object)
    """
    n_digits = digits.shape[-1]
    dtype = np.int64 if base**n_digits < 2**63 else object
    values = digits.astype(dtype) @ np.array([base**k for k in range(n_digits)], dtype=dtype)
    return np.asarray(np.where(negative, -values, values)).astype(object)
