"""The training loop, of networks and of solvers: gradients, a learning rate, a step, and what comes between steps."""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import nn


def take_steps(
    steps: Iterable[int],
    backward: Callable[[int], torch.Tensor],
    optimizer: torch.optim.Optimizer,
    rate: Callable[[int], float],
    after: Callable[[int, torch.Tensor], None],
    *,
    others: Sequence[torch.optim.Optimizer] = (),
    greatest_norm: float | None = None,
) -> None:
    """Train in steps.

    `backward` goes from the number of a step to its loss, whose gradients it has put into the parameters; `rate` to the
    learning rate of the optimizer, which has one group. `after` is called with the number of a step that was taken, and
    its loss, and may raise to stop. `others` are of further parameters, such as those with sparse gradients, whose
    rates and gradients are left alone. Gradients of a norm above `greatest_norm`, taken together, are scaled down.

    >>> weight = nn.Parameter(torch.tensor(8.0))
    >>> def backward(step):
    ...     loss = weight**2
    ...     loss.backward()
    ...     return loss
    >>> optimizer = torch.optim.SGD([weight])
    >>> take_steps(range(3), backward, optimizer, lambda step: 0.25, lambda step, loss: print(loss.item()))
    64.0
    16.0
    4.0
    """
    for step in steps:
        for one in (optimizer, *others):
            one.zero_grad(set_to_none=True)
        loss = backward(step)
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
            if greatest_norm is not None:
                nn.utils.clip_grad_norm_(group["params"], greatest_norm)
        for one in (optimizer, *others):
            one.step()
        after(step, loss)
