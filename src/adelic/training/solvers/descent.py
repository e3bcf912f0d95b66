"""The training loop of all solvers."""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import nn

from adelic.training.solvers.base import Tick

_CLIP = 1.0
_TICKS = 100


def rates(peak: float, steps: int, warm_up: int) -> Iterator[float]:
    """Yield the learning rate of each step: it rises over the first `warm_up` steps, and falls to 0 as a cosine.

    >>> [round(1e5 * rate) for rate in rates(1e-3, steps=8, warm_up=1)]
    [100, 96, 85, 69, 50, 31, 15, 4]
    """
    for step in range(steps):
        yield peak * min((step + 1) / warm_up, (1 + math.cos(math.pi * step / steps)) / 2)


def descend(
    loss: Callable[[int], torch.Tensor],
    parameters: Sequence[nn.Parameter],
    optimizer: torch.optim.Optimizer,
    schedule: Iterator[float],
    steps: int,
    tick: Tick | None = None,
    *,
    others: Sequence[torch.optim.Optimizer] = (),
) -> None:
    """Train in steps, with gradients of norm 1 at most.

    Args:
        loss: from the number of a step to the loss of its batch.
        parameters: what is trained.
        optimizer: of these parameters, in one group.
        schedule: the learning rate of each step.
        steps: how many there are.
        tick: called with (steps done, steps, text) about a hundred times.
        others: of further parameters, such as those with sparse gradients, whose rates and gradients are left alone.
    """
    for step, rate in enumerate(schedule):
        value = loss(step)
        for one in (optimizer, *others):
            one.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, _CLIP)
        optimizer.param_groups[0]["lr"] = rate
        for one in (optimizer, *others):
            one.step()
        if tick and (step + 1) % max(1, steps // _TICKS) == 0:
            tick(step + 1, steps, f"loss {value.item():.3g}")
