"""The encoder layer: `torch.nn.TransformerEncoderLayer`'s parameters and mathematics, made to be trained fast."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import nn
from torch.nn import functional

from adelic.nn.backend import current
from adelic.nn.kernels import fused
from adelic.nn.kernels.fused import Site

Norm = Literal["post", "pre"]
SITES = 4
"""Places in a layer where dropout acts: attention weights, attention's result, inner layer, feed-forward's result."""


class EncoderLayer(nn.TransformerEncoderLayer):
    """Self-attention and a ReLU feed-forward layer, each with dropout, residual connection and layer norm.

    Parameters, their names and their initial values are those of `torch.nn.TransformerEncoderLayer`, and so is the
    function, but that

    - `n_read` computes the first tokens' results alone, for which the other tokens only give keys and values;
    - on the CPU, float32 tensors go through `adelic.nn.kernels.fused`, where `adelic.nn.backend` says how precise
      products are and where dropout's masks come from; on other devices `torch.autocast` and torch's generator do.

    Shape: (batch, length, d_model) -> (batch, length, d_model), or (batch, n_read, d_model).

    Args:
        d_model: width.
        n_heads: heads of the attention; a divisor of d_model.
        d_feedforward: width of the inner layer.
        dropout: probability that an element is dropped.
        norm: "post" or "pre".

    >>> layer = EncoderLayer(8, 2, 16, 0.0, norm="post")
    >>> layer(torch.ones(3, 5, 8)).shape, layer(torch.ones(3, 5, 8), n_read=1).shape
    (torch.Size([3, 5, 8]), torch.Size([3, 1, 8]))
    """

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, dropout: float, *, norm: Norm) -> None:
        super().__init__(d_model, n_heads, d_feedforward, dropout, batch_first=True, norm_first=norm == "pre")

    def forward(  # type: ignore[override]  # torch's masks are not needed: sequences have equal lengths
        self, x: torch.Tensor, *, n_read: int | None = None, first_site: int = 0
    ) -> torch.Tensor:
        """Return the tokens' next states, float32.

        With `n_read`, of the first tokens alone. `first_site` numbers the layer's first site of `SITES` in the model.
        """
        if not fused.takes(x):
            return self._plain(x, n_read)
        p = self.dropout.p if self.training else 0.0
        backend = current().drawn(p)
        return self._fused(x, n_read, [backend.site(first_site + i, p) for i in range(SITES)], backend.dtype)

    def _plain(self, x: torch.Tensor, n_read: int | None) -> torch.Tensor:
        """Return the states by torch's own functions."""
        inner = self.norm1(x) if self.norm_first else x
        in_proj = Affine(self.self_attn.in_proj_weight, self.self_attn.in_proj_bias)
        q, k, v = queries_keys_values(inner, in_proj, self.self_attn.num_heads, n_read, functional.linear)
        states = functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout.p if self.training else 0.0)
        attended = self.self_attn.out_proj(states.transpose(1, 2).flatten(2))
        x = x[:, :n_read]
        x = x + self.dropout1(attended)
        if not self.norm_first:
            x = self.norm1(x)
        inner = self.norm2(x) if self.norm_first else x
        inner = self.linear2(self.dropout(functional.relu(self.linear1(inner))))
        x = x + self.dropout2(inner)
        return x if self.norm_first else self.norm2(x)

    def _fused(self, x: torch.Tensor, n_read: int | None, sites: list[Site], dtype: torch.dtype) -> torch.Tensor:
        """Return the states by `adelic.nn.kernels.fused`."""
        batch, _, d = x.shape
        first, second = (affine(norm) for norm in (self.norm1, self.norm2))
        attention = self.self_attn
        in_proj = Affine(attention.in_proj_weight, attention.in_proj_bias)
        inner = normalize(x, first) if self.norm_first else x
        attended = attend(inner, in_proj, affine(attention.out_proj), attention.num_heads, n_read, sites[0], dtype)
        x = x[:, :n_read].reshape(-1, d)
        x = add(x, attended, None if self.norm_first else first, sites[1], batch)
        inner = normalize(x, second) if self.norm_first else x
        inner = feed_forward(inner, affine(self.linear1), affine(self.linear2), sites[2], dtype, batch)
        return add(x, inner, None if self.norm_first else second, sites[3], batch).view(batch, -1, d)


class Affine(NamedTuple):
    """The weight and the bias of a linear layer, (out, in) and (out,), or of a layer norm, (d,) and (d,)."""

    weight: torch.Tensor
    bias: torch.Tensor


def affine(module: nn.Module) -> Affine:
    """Return the parameters of a linear layer or a layer norm."""
    return Affine(module.weight, module.bias)  # type: ignore[arg-type]


def queries_keys_values(
    x: torch.Tensor, in_proj: Affine, heads: int, n_read: int | None, linear: Callable[..., torch.Tensor]
) -> list[torch.Tensor]:
    """Return queries (of the first `n_read` tokens), keys and values, (batch, heads, tokens, head size)."""
    batch, _, d = x.shape
    weight, bias = in_proj
    # The rows of torch's in_proj_weight are those of queries, of keys, and of values, d of each.
    parts = [(x, weight, bias, 3)]
    if n_read is not None:
        parts = [(x[:, :n_read], weight[:d], bias[:d], 1), (x, weight[d:], bias[d:], 2)]
    return [
        tensor
        for part, w, b, count in parts
        for tensor in linear(part, w, b).view(batch, part.shape[1], count, heads, d // heads).permute(2, 0, 3, 1, 4)
    ]


def attend(
    x: torch.Tensor, in_proj: Affine, out_proj: Affine, heads: int, n_read: int | None, site: Site, dtype: torch.dtype
) -> torch.Tensor:
    """Return what self-attention gives for x, (batch, length, d), by `adelic.nn.kernels.fused`: (batch · tokens, d)."""

    def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return project(x, Affine(weight, bias), dtype, result=dtype)

    q, k, v = queries_keys_values(x, in_proj, heads, n_read, linear)
    states = fused.apply(fused.Attention, q, k, v, site)
    return project(states.transpose(1, 2).reshape(-1, x.shape[-1]), out_proj, dtype)


def feed_forward(
    x: torch.Tensor, linear1: Affine, linear2: Affine, site: Site, dtype: torch.dtype, batch: int
) -> torch.Tensor:
    """Return what the feed-forward layer gives for x, (batch · tokens, d), by `adelic.nn.kernels.fused`."""
    if dtype == torch.bfloat16:
        return fused.apply(fused.LowFeedForward, x, *linear1, *linear2, site, len(x) * len(linear1.bias) // batch)
    inner = project(x, linear1, dtype)
    inner = fused.apply(fused.ReluDropout, inner, site, inner.numel() // batch)
    return project(inner, linear2, dtype)


def project(
    x: torch.Tensor, linear: Affine, dtype: torch.dtype, *, result: torch.dtype = torch.float32
) -> torch.Tensor:
    """Return x @ weight.T + bias by `adelic.nn.kernels.fused`, (*, in) -> (rows, out), factors rounded to dtype."""
    return fused.apply(fused.Linear, x.reshape(-1, x.shape[-1]), *linear, dtype, result)


def normalize(x: torch.Tensor, norm: Affine) -> torch.Tensor:
    """Return layer_norm(x)."""
    return functional.layer_norm(x, x.shape[-1:], *norm)


def add(x: torch.Tensor, change: torch.Tensor, norm: Affine | None, site: Site, batch: int) -> torch.Tensor:
    """Return x + dropout(change), (batch · tokens, d), normalized if there is a norm, by `adelic.nn.kernels.fused`."""
    per_row = x.numel() // batch
    if norm is not None:
        return fused.apply(fused.DropoutAddNorm, change, x.contiguous(), *norm, site, per_row)
    return x + (fused.apply(fused.Dropout, change, site, per_row) if site.p else change)
