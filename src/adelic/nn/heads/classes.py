"""Heads that read classes out of a state."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import nn

from adelic.errors import ConfigurationError


class ClassHeads(nn.Module):
    """One linear classifier for each target, on a common state; classes that a target lacks have the logit −inf.

    Shape: state (*, in_features) -> logits (*, n_targets, most classes), float32.

    Args:
        in_features: length of the state.
        n_classes: number of classes of each target; 1 for a target that never varies.

    >>> logits = ClassHeads(8, (2, 3, 1))(torch.zeros(4, 8))
    >>> logits.shape, torch.isinf(logits[0]).tolist()
    (torch.Size([4, 3, 3]), [[False, False, True], [False, False, False], [False, True, True]])
    """

    def __init__(self, in_features: int, n_classes: Sequence[int]) -> None:
        super().__init__()
        if not n_classes or min(n_classes) < 1:
            raise ConfigurationError(f"n_classes={list(n_classes)}: name one target or more, each with a class or more")
        self.n_classes = tuple(n_classes)
        self.linear = nn.Linear(in_features, sum(n_classes))
        most = max(n_classes)
        places = [target * most + c for target, count in enumerate(n_classes) for c in range(count)]
        self.places: torch.Tensor
        self.register_buffer("places", torch.tensor(places), persistent=False)

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        """Return the logits, float32 (*, n_targets, most classes)."""
        found = self.linear(state)
        n_targets, most = len(self.n_classes), max(self.n_classes)
        padded = found.new_full((*found.shape[:-1], n_targets * most), -math.inf)
        logits: torch.Tensor = padded.index_copy(-1, self.places, found).unflatten(-1, (n_targets, most))
        return logits


def make_head(d: int, n_classes: int | Sequence[int] | None, head: Callable[[int], nn.Module] | None) -> nn.Module:
    """Return what reads a state of length d: a linear classifier, one per target, or what `head` makes of d.

    It has to be either classes or a head, else it is a ConfigurationError.

    >>> make_head(8, 3, None)
    Linear(in_features=8, out_features=3, bias=True)
    """
    if head is not None and n_classes is None:
        return head(d)
    if head is not None or n_classes is None:
        raise ConfigurationError("a model ends in classes or in a head: give n_classes or head, and not both")
    return ClassHeads(d, n_classes) if isinstance(n_classes, Sequence) else nn.Linear(d, n_classes)
