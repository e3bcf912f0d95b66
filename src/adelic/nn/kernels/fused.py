"""Steps of the encoder on the CPU, differentiable: products by oneDNN, all between them by numba.

Each is a `torch.autograd.Function` on float32 tensors, with first derivatives only; products may round their factors to
bfloat16, and what lies between two products then stays bfloat16 where nothing is summed. They run in the calling thread
alone and free Python's lock, so several threads can each work on a part of the batch.
"""

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

_BLOCK = 4096  # elements of a softmax block: 16 KiB, half of a first-level cache
_HAS_ONEDNN: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Site:
    """One place where dropout acts, for the kernels.

    Attributes:
        key: of the site.
        first_row: how many rows of the batch come before those that the kernels are given.
        p: probability that an element is dropped; 0 keeps all.
    """

    key: int
    first_row: int
    p: float

    def arguments(self, elements_per_row: int) -> tuple[int, np.uint64, np.uint32, np.float32]:
        """Return (first, key, threshold, scale) for a kernel."""
        # Kernels count in uint32, and wrap: of more than 2^32 elements at one site the masks begin again.
        first = self.first_row * elements_per_row % 2**32
        # A p just below 1 rounds to 2^32, which uint32 does not hold.
        return first, np.uint64(self.key), np.uint32(min(round(self.p * 2**32), 2**32 - 1)), self.scale

    @property
    def scale(self) -> np.float32:
        """Return what kept elements are multiplied by."""
        return np.float32(1 / (1 - self.p))


@cache
def _kernels() -> ModuleType:
    from adelic.nn.kernels import compiled

    return compiled


def product(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Return x @ weight.T + bias for matrices, by oneDNN where torch has it.

    Torch's own product of float32 matrices is MKL's, which leaves half of the vector units of AMD's processors unused.
    """
    if x.dtype == torch.float32 and _HAS_ONEDNN and len(x):
        found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(_dense(x), _dense(weight), bias, "none", [], "")
        return found
    return torch.nn.functional.linear(x, weight, bias)


def _dense(matrix: torch.Tensor) -> torch.Tensor:
    """Return a matrix whose rows or columns lie one after the other; others take oneDNN far longer."""
    return matrix if matrix.is_contiguous() or matrix.t().is_contiguous() else matrix.contiguous()


def takes(x: torch.Tensor) -> bool:
    """Return whether this module takes a tensor: float32, on the CPU, not empty, no autocast, no compiler."""
    if x.device.type != "cpu" or x.dtype != torch.float32 or x.numel() == 0:
        return False
    return not torch.is_autocast_enabled("cpu") and not torch.compiler.is_compiling()


def apply(function: type[torch.autograd.Function], *arguments: Any) -> torch.Tensor:
    """Return what one of the functions below gives."""
    found: torch.Tensor = function.apply(*arguments)  # type: ignore[no-untyped-call]
    return found


class Linear(torch.autograd.Function):
    """x @ weight.T + bias; factors rounded to bfloat16 if asked for, results float32 or likewise."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, dtype: torch.dtype, result: torch.dtype
    ) -> torch.Tensor:
        """Return the product, (rows, out)."""
        ctx.dtype = x.dtype
        x, weight = x.to(dtype), weight.to(dtype)
        ctx.save_for_backward(x, weight)
        return product(x, weight, bias.to(dtype)).to(result)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients of x, weight and bias."""
        x, weight = ctx.saved_tensors
        (grad,) = grads
        small = grad.to(x.dtype)
        if x.dtype == torch.float32:
            dx = product(small, weight.t())
            if weight.shape[0] > weight.shape[1]:  # oneDNN is quicker where the first factor has the fewer rows
                dweight = product(x.t(), small.t()).t().contiguous()
            else:
                dweight = product(small.t(), x.t())
        else:
            dx, dweight = (small @ weight).to(ctx.dtype), (small.t() @ x).float()
        return dx, dweight, grad.sum(0, dtype=torch.float32), None, None


class DropoutAddNorm(torch.autograd.Function):
    """layer_norm(residual + dropout(x)), (rows, d)."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        residual: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        site: Site,
        elements_per_row: int,
    ) -> torch.Tensor:
        """Return the result; `elements_per_row` counts those of x that belong to one row of the batch."""
        kept = torch.empty(x.shape, dtype=torch.uint8)
        hat, y, rstd = torch.empty_like(x), torch.empty_like(x), x.new_empty(len(x))
        first, key, threshold, scale = site.arguments(elements_per_row)
        _kernels().mask(first, key, threshold, _array(kept).reshape(-1))
        arrays = [_array(t) for t in (x, kept, residual, weight, bias)]
        _kernels().add_norm(*arrays, scale, _array(hat), _array(rstd), _array(y))
        ctx.save_for_backward(kept, weight, hat, rstd)
        ctx.scale = scale
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients of x, residual, weight and bias."""
        _, weight, hat, _ = ctx.saved_tensors
        dx, dresidual = torch.empty_like(hat), torch.empty_like(hat)
        dweight, dbias = torch.zeros_like(weight), torch.zeros_like(weight)
        saved, outputs = (tuple(map(_array, t)) for t in (ctx.saved_tensors, (dx, dresidual, dweight, dbias)))
        _kernels().add_norm_backward(_array(grads[0].contiguous()), saved, ctx.scale, outputs)
        return dx, dresidual, dweight, dbias, None, None


class ReluDropout(torch.autograd.Function):
    """dropout(relu(x)), in the memory of x, which nothing else may read."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, site: Site, elements_per_row: int) -> torch.Tensor:
        """Return the result."""
        ctx.mark_dirty(x)
        _kernels().relu_dropout(_array(x).reshape(-1), *site.arguments(elements_per_row))
        ctx.save_for_backward(x)
        ctx.scale = site.scale
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradient of x."""
        (y,) = ctx.saved_tensors
        dx = torch.empty_like(y)
        flat = [_array(t).reshape(-1) for t in (grads[0].contiguous(), y)]
        _kernels().relu_dropout_backward(*flat, ctx.scale, _array(dx).reshape(-1))
        return dx, None, None


class LowFeedForward(torch.autograd.Function):
    """dropout(relu(x @ weight1.T + bias1)) @ weight2.T + bias2, factors rounded to bfloat16, the result float32.

    The inner layer stays in bfloat16, and dropout's scale goes to the second weight: so ReLU and dropout only decide
    which elements are 0, forwards and backwards.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight1: torch.Tensor,
        bias1: torch.Tensor,
        weight2: torch.Tensor,
        bias2: torch.Tensor,
        site: Site,
        elements_per_row: int,
    ) -> torch.Tensor:
        """Return the result, (rows, out); `elements_per_row` counts those of the inner layer."""
        x, weight1, weight2 = x.bfloat16(), weight1.bfloat16(), (weight2 * float(site.scale)).bfloat16()
        inner = product(x, weight1, bias1.bfloat16())
        _kernels().relu_mask(_bits(inner).reshape(-1), *site.arguments(elements_per_row)[:3])
        ctx.save_for_backward(x, weight1, weight2, inner)
        ctx.scale = float(site.scale)
        return product(inner, weight2, bias2.bfloat16()).float()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients of x, of both weights and of both biases."""
        x, weight1, weight2, inner = ctx.saved_tensors
        (grad,) = grads
        small = grad.bfloat16()
        dweight2 = (small.t() @ inner).float().mul_(ctx.scale)  # the saved weight2 has the scale in it
        dinner = small @ weight2
        dbias1 = torch.zeros(dinner.shape[1])
        _kernels().relu_mask_backward(_bits(dinner), _bits(inner), np.empty(len(dbias1), np.int32), _array(dbias1))
        return (dinner @ weight1).float(), (dinner.t() @ x).float(), dbias1, dweight2, grad.sum(0), None, None


class Dropout(torch.autograd.Function):
    """dropout(x)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, site: Site, elements_per_row: int) -> torch.Tensor:
        """Return the result."""
        kept = torch.empty(x.shape, dtype=torch.uint8)
        first, key, threshold, scale = site.arguments(elements_per_row)
        _kernels().mask(first, key, threshold, _array(kept).reshape(-1))
        ctx.factor = kept.to(x.dtype).mul_(float(scale))
        y: torch.Tensor = x * ctx.factor
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradient of x."""
        return grads[0] * ctx.factor, None, None


class Attention(torch.autograd.Function):
    """dropout(softmax(q·kᵀ/√e))·v for queries (batch, heads, m, e) and keys, values (batch, heads, length, e).

    Of bfloat16 tensors the products are bfloat16, too; softmax and dropout are float32.
    """

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, site: Site) -> torch.Tensor:
        """Return the states, (batch, heads, m, e)."""
        batch, heads, m, e = q.shape
        length = k.shape[2]
        q, k, v = (t.reshape(batch * heads, -1, e) for t in (q, k, v))
        weights = torch.bmm(q, k.transpose(1, 2)).float()
        dropped = torch.empty_like(weights)
        factor = np.float32(e**-0.5)
        bits = np.empty(max(1, _BLOCK // length) * length, np.int32)
        rows = [_array(t).reshape(-1, length) for t in (weights, dropped)]
        first, key, threshold, scale = site.arguments(heads * m * length)
        _kernels().softmax_dropout(rows[0], factor, first, key, threshold, scale, bits, rows[1])
        dropped = dropped.to(q.dtype)
        ctx.save_for_backward(q, k, v, weights, dropped)
        ctx.scalars, ctx.shape = (factor, scale), (batch, heads)
        return torch.bmm(dropped, v).view(batch, heads, m, e)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients of q, k and v."""
        q, k, v, weights, dropped = ctx.saved_tensors
        grad = grads[0].reshape(q.shape)
        dv = torch.bmm(dropped.transpose(1, 2), grad)
        dscores = torch.bmm(grad, v.transpose(1, 2)).float()
        kept = dropped if dropped.dtype == torch.float32 else dropped.view(torch.int16)  # only whether it is 0 counts
        rows = [_array(t).reshape(-1, k.shape[1]) for t in (dscores, weights, kept)]
        _kernels().softmax_dropout_backward(*rows, *ctx.scalars)
        dscores = dscores.to(q.dtype)
        dq, dk = torch.bmm(dscores, k), torch.bmm(dscores.transpose(1, 2), q)
        return *(t.view(*ctx.shape, *t.shape[1:]) for t in (dq, dk, dv)), None


def _array(tensor: torch.Tensor) -> np.ndarray:
    """Return a contiguous tensor as an array that shares its memory."""
    array: np.ndarray = tensor.detach().numpy()
    return array


def _bits(tensor: torch.Tensor) -> np.ndarray:
    """Return a contiguous bfloat16 tensor as an array of int16 that shares its memory."""
    return _array(tensor.view(torch.int16))
