"""A Transformer encoder at every place: attention across the sequence within a place, with the place's own weights.

The same layers in two ways. On a GPU all places are computed at once, by batched products of (n_places, tokens,
d_place). On the CPU they are computed one after the other by the encoder's steps, so what a place works on stays
in cache: a third faster than batched products.
"""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import nn
from torch.nn import functional

from adelic.errors import ConfigurationError
from adelic.nn.backend import Backend, current
from adelic.nn.bodies.classifier import check_layers, check_sizes
from adelic.nn.bodies.encoder import Affine, Norm, add, affine, attend, feed_forward, normalize
from adelic.nn.checks import check_plain, check_positive
from adelic.nn.kernels import fused
from adelic.nn.kernels.fused import Site
from adelic.nn.placewise import PlacewiseLinear

Across = Literal["late"]
Sites = Callable[[int, int], Site]
"""A layer's site of dropout, from its number and the place."""
SITES = 6
"""Sites of a layer: 0 attention's weights, 1 its result, 4 inner layer, 5 feed-forward's result. Numbers 2 and 3 stay
unused: they had a meaning once, and a site's number decides its masks, which runs have to find again."""


class PlacewiseTransformer(nn.Module):
    """As many Transformer encoders as places, side by side; places meet only where asked.

    Without mixing it is the same function as n_places separate `torch.nn.TransformerEncoder`s (with ReLU, and a final
    norm where norm="pre"), computed at once. Places are mixed

    - across=None: nowhere; a place's result depends on that place's input alone;
    - across="late": after the last layer alone, by a residual feed-forward layer over each token's concatenated places.

    On the CPU `adelic.nn.backend` says how precise products are and where dropout's masks come from; on other devices
    `torch.autocast` and torch's generator do.

    Shape: (*, length, n_places, d_place) -> the same.

    Args:
        n_places: number of places.
        d_place: width of a place.
        n_layers: number of layers.
        n_heads: heads of the attention, of each place; a divisor of d_place.
        d_feedforward: width of a place's inner layer, and of the late mixer's.
        dropout: probability that an element is dropped.
        norm: "pre" or "post".
        across: where places are mixed.

    Raises:
        ConfigurationError: a value makes no sense.

    Source: layers as in Vaswani et al., "Attention is all you need" (2017), section 3.

    >>> encoder = PlacewiseTransformer(3, 8, n_layers=2, n_heads=2, d_feedforward=16)
    >>> encoder(torch.zeros(5, 7, 3, 8)).shape
    torch.Size([5, 7, 3, 8])
    """

    def __init__(
        self,
        n_places: int,
        d_place: int,
        *,
        n_layers: int,
        n_heads: int,
        d_feedforward: int,
        dropout: float = 0.1,
        norm: Norm = "pre",
        across: Across | None = None,
    ) -> None:
        super().__init__()
        check_positive(n_places=n_places)
        check_sizes(None, 1, n_layers, dropout)
        check_layers(n_heads, d_feedforward, norm, d_place=d_place)
        if across not in (None, "late"):
            raise ConfigurationError(f"across={across!r} is unknown; use 'late' or None")
        self.n_places, self.d_place, self.dropout = n_places, d_place, dropout
        self.layers = nn.ModuleList(
            PlacewiseEncoderLayer(n_places, d_place, n_heads, d_feedforward, dropout, norm=norm)
            for _ in range(n_layers)
        )
        self.mixer = LateMixer(n_places, d_place, d_feedforward, dropout) if across == "late" else None
        self.final_norm = PlacewiseNorm(n_places, d_place) if norm == "pre" else nn.Identity()

    def forward(self, x: torch.Tensor, *, first_only: bool = False, first_site: int = 0) -> torch.Tensor:
        """Return the tokens' states, (*, length, n_places, d_place).

        Args:
            x: tokens.
            first_only: return the first token's states alone, (*, 1, n_places, d_place), which costs less.
            first_site: number of the first of dropout's sites in the model, counted in n_places.
        """
        check_plain(x, next(self.parameters()).device)
        if x.ndim < 3 or x.shape[-2:] != (self.n_places, self.d_place):
            raise ConfigurationError(
                f"tokens of the shape {tuple(x.shape)} do not end in (length, {self.n_places} places, {self.d_place})"
            )
        batch, length = x.shape[:-3], x.shape[-3]
        x = x.reshape(math.prod(batch), length, self.n_places, self.d_place)
        if fused.takes(x):
            p = self.dropout if self.training else 0.0
            x = self._one_by_one(x, first_only, current().drawn(p), first_site, p)
        else:
            x = self._at_once(x, first_only)
        return x.reshape(*batch, *x.shape[1:])

    def _at_once(self, x: torch.Tensor, first_only: bool) -> torch.Tensor:
        """Return the states of tokens (batch, length, n_places, d_place) by torch's own functions."""
        x = x.permute(2, 0, 1, 3)
        for i, layer in enumerate(self.layers):
            x = layer(x, first_only=first_only and i == len(self.layers) - 1)
        if self.mixer is not None:
            x = self.mixer(x)
        states: torch.Tensor = self.final_norm(x).permute(1, 2, 0, 3)
        return states

    def _one_by_one(
        self, x: torch.Tensor, first_only: bool, backend: Backend, first_site: int, p: float
    ) -> torch.Tensor:
        """Return the states of tokens (batch, length, n_places, d_place) by `adelic.nn.kernels.fused`."""

        def sites(layer: int) -> Sites:
            return lambda i, place: backend.site((first_site + SITES * layer + i) * self.n_places + place, p)

        # The kernels read contiguous arrays: one copy here, and every layer works on memory of the place alone.
        places = [place.contiguous() for place in x.unbind(2)]
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, PlacewiseEncoderLayer)
            places = layer.one_by_one(
                places, sites(i), first_only=first_only and i == len(self.layers) - 1, dtype=backend.dtype
            )
        if self.mixer is not None:
            places = self.mixer.one_by_one(places, sites(len(self.layers)), backend.dtype)
        if isinstance(self.final_norm, PlacewiseNorm):
            places = [normalize(x, norm) for x, norm in zip(places, self.final_norm.blocks(), strict=True)]
        return torch.stack(places, dim=2)


class PlacewiseNorm(nn.Module):
    """Layer norm with a weight and a bias of each place's own.

    Shape: (n_places, *, d_place) -> the same.

    >>> PlacewiseNorm(2, 2)(torch.tensor([[[0.0, 2.0]], [[5.0, 1.0]]])).detach().round()
    tensor([[[-1.,  1.]],
    <BLANKLINE>
            [[ 1., -1.]]])
    """

    def __init__(self, n_places: int, d_place: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n_places, d_place))
        self.bias = nn.Parameter(torch.zeros(n_places, d_place))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalized x."""
        weight, bias = (t.view(len(t), *[1] * (x.ndim - 2), t.shape[1]) for t in (self.weight, self.bias))
        return torch.addcmul(bias, functional.layer_norm(x, x.shape[-1:]), weight)

    def blocks(self) -> list[Affine]:
        """Return the norm of each place."""
        return [Affine(*block) for block in zip(self.weight.unbind(), self.bias.unbind(), strict=True)]


class PlacewiseEncoderLayer(nn.Module):
    """A layer of `PlacewiseTransformer`: attention within places, and a feed-forward layer.

    Shape: (n_places, batch, length, d_place) -> the same, or length 1 with `first_only`.

    >>> layer = PlacewiseEncoderLayer(3, 8, 2, 16, 0.0, norm="pre")
    >>> layer(torch.ones(3, 5, 7, 8)).shape
    torch.Size([3, 5, 7, 8])
    """

    def __init__(
        self, n_places: int, d_place: int, n_heads: int, d_feedforward: int, dropout: float, *, norm: Norm
    ) -> None:
        super().__init__()
        self.n_heads, self.norm_first = n_heads, norm == "pre"
        self.in_proj = PlacewiseLinear(n_places, d_place, 3 * d_place)
        self.out_proj = PlacewiseLinear(n_places, d_place, d_place)
        self.linear1 = PlacewiseLinear(n_places, d_place, d_feedforward)
        self.linear2 = PlacewiseLinear(n_places, d_feedforward, d_place)
        self.norm1, self.norm2 = PlacewiseNorm(n_places, d_place), PlacewiseNorm(n_places, d_place)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, *, first_only: bool = False) -> torch.Tensor:
        """Return the tokens' next states, all places at once."""
        inner = self.norm1(x) if self.norm_first else x
        change = self.dropout(self._attend(inner, first_only))
        x = (x[:, :, :1] if first_only else x) + change
        x = x if self.norm_first else self.norm1(x)
        inner = self.norm2(x) if self.norm_first else x
        inner = _products(self.dropout(_products(inner, self.linear1).relu()), self.linear2)
        x = x + self.dropout(inner)
        return x if self.norm_first else self.norm2(x)

    def _attend(self, x: torch.Tensor, first_only: bool) -> torch.Tensor:
        """Return what attention across the sequence gives; each place is a group of heads."""
        n_places, batch, length, d = x.shape
        q, k, v = (
            _products(x, self.in_proj)
            .view(n_places, batch, length, 3, self.n_heads, d // self.n_heads)
            .permute(3, 1, 0, 4, 2, 5)  # (3, batch, n_places, heads, tokens, head size)
            .reshape(3, batch, n_places * self.n_heads, length, d // self.n_heads)
        )
        q, dropout_p = q[:, :, :1] if first_only else q, self.dropout.p if self.training else 0.0
        states = functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)
        states = states.view(batch, n_places, self.n_heads, states.shape[2], d // self.n_heads).permute(1, 0, 3, 2, 4)
        return _products(states.flatten(3), self.out_proj)

    def one_by_one(
        self, places: list[torch.Tensor], sites: Sites, *, first_only: bool, dtype: torch.dtype
    ) -> list[torch.Tensor]:
        """Return the places' next states, each (batch, length, d_place), one by one; products in dtype."""
        batch, _, d = places[0].shape
        in_proj, out_proj, linear1, linear2 = map(_blocks, (self.in_proj, self.out_proj, self.linear1, self.linear2))
        norm1, norm2 = self.norm1.blocks(), self.norm2.blocks()
        rows = []
        for i, x in enumerate(places):
            inner = normalize(x, norm1[i]) if self.norm_first else x
            change = attend(inner, in_proj[i], out_proj[i], self.n_heads, 1 if first_only else None, sites(0, i), dtype)
            x = (x[:, 0] if first_only else x).reshape(-1, d)
            rows.append(add(x, change, None if self.norm_first else norm1[i], sites(1, i), batch))
        for i, x in enumerate(rows):
            inner = normalize(x, norm2[i]) if self.norm_first else x
            change = feed_forward(inner, linear1[i], linear2[i], sites(4, i), dtype, batch)
            rows[i] = add(x, change, None if self.norm_first else norm2[i], sites(5, i), batch).view(batch, -1, d)
        return rows


class LateMixer(nn.Module):
    """x + MLP(layer_norm(x)) over each token's concatenated places.

    Shape: (n_places, batch, length, d_place) -> the same.

    >>> LateMixer(3, 8, 16, 0.0)(torch.ones(3, 5, 7, 8)).shape
    torch.Size([3, 5, 7, 8])
    """

    def __init__(self, n_places: int, d_place: int, d_feedforward: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(n_places * d_place)
        self.linear1 = nn.Linear(n_places * d_place, d_feedforward)
        self.linear2 = nn.Linear(d_feedforward, n_places * d_place)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the tokens' states, each place's knowing of the others."""
        flat = x.permute(1, 2, 0, 3).flatten(2)
        inner: torch.Tensor = self.linear2(self.dropout(self.linear1(self.norm(flat)).relu()))
        flat = torch.add(flat, self.dropout(inner))
        return flat.view(*flat.shape[:2], len(x), x.shape[-1]).permute(2, 0, 1, 3)

    def one_by_one(self, places: list[torch.Tensor], sites: Sites, dtype: torch.dtype) -> list[torch.Tensor]:
        """Return the same for places (batch, length, d_place) by `adelic.nn.kernels.fused`; products in dtype."""
        flat = torch.cat(places, dim=-1)
        rows, batch = flat.flatten(0, 1), len(flat)
        inner = normalize(rows, affine(self.norm))
        change = feed_forward(inner, affine(self.linear1), affine(self.linear2), sites(4, 0), dtype, batch)
        return list(add(rows, change, None, sites(5, 0), batch).view(flat.shape).chunk(len(places), dim=-1))


def _products(x: torch.Tensor, linear: PlacewiseLinear) -> torch.Tensor:
    """Return what a place-wise layer gives, (n_places, *, in) -> (n_places, *, out)."""
    # One batched product for all places, if a loop would start a kernel for each.
    products: torch.Tensor = linear(x.flatten(1, -2).transpose(0, 1)).transpose(0, 1)
    return products.reshape(*x.shape[:-1], linear.out_features)


def _blocks(linear: PlacewiseLinear) -> list[Affine]:
    """Return the linear layer of each place."""
    # Place-wise weights are (in, out), those of `fused.Linear` (out, in).
    return [Affine(w.t(), b) for w, b in zip(linear.weight.unbind(), linear.bias.unbind(), strict=True)]
