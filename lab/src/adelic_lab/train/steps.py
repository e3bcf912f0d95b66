"""One step of training, of networks and of solvers alike; steps compiled on a GPU; the error of a loss not finite."""

import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from adelic.errors import DivergenceError
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.train.counters import Counters

SWITCH = "ADELIC_COMPILE"
"""The environment variable that leaves steps uncompiled if it is "off"."""


def take_step(
    optimizer: torch.optim.Optimizer,
    rate: float,
    *,
    others: Sequence[torch.optim.Optimizer] = (),
    greatest_norm: float | None = None,
) -> None:
    """Change the parameters by their gradients: the step of networks and of solvers alike.

    Args:
        optimizer: of the parameters.
        rate: the learning rate of this step.
        others: of further parameters, such as those with sparse gradients, whose rates and gradients are left alone.
        greatest_norm: above it, the gradients of a group, taken together, are scaled down.

    >>> weight = nn.Parameter(torch.tensor(8.0))
    >>> (weight**2).backward()
    >>> take_step(torch.optim.SGD([weight]), 0.25)
    >>> weight.item()
    4.0
    """
    for group in optimizer.param_groups:
        group["lr"] = rate
        if greatest_norm is not None:
            nn.utils.clip_grad_norm_(group["params"], greatest_norm)
    for one in (optimizer, *others):
        one.step()


def is_wanted(device: torch.device) -> bool:
    """Return whether steps on a device are to be compiled: on CUDA, unless ADELIC_COMPILE=off.

    >>> is_wanted(torch.device("cpu"))
    False
    """
    return device.type == "cuda" and os.environ.get(SWITCH) != "off"


class Compiled:
    """A function compiled by `torch.compile` when it is first called, or itself where that fails.

    A failure of the compiler (there is no C compiler, or the model has a part that it does not know) is reported in one
    line, and steps are only slower. An error of the function itself is raised.

    Args:
        function: of tensors of fixed shapes, differentiable; a new shape is compiled anew.
        options: of `torch.compile`; by default those for CUDA graphs.

    >>> double = Compiled(lambda x: 2 * x, backend="eager")
    >>> double(torch.tensor(3.0))
    tensor(6.)
    """

    def __init__(self, function: Callable[..., torch.Tensor], **options: Any) -> None:
        self._function = function
        self._compiled = torch.compile(function, dynamic=False, **(options or {"mode": "reduce-overhead"}))
        self.is_compiled = True

    def __call__(self, *arguments: torch.Tensor) -> torch.Tensor:
        """Return the function's value."""
        if not self.is_compiled:
            return self._function(*arguments)
        try:
            # The last step's tensors are read; their memory is free.
            torch.compiler.cudagraph_mark_step_begin()  # type: ignore[no-untyped-call]
            return self._compiled(*arguments)
        except Exception as error:
            found = self._function(*arguments)  # which raises if the fault is not the compiler's
            self.is_compiled = False
            reason = textwrap.shorten(str(error), 160, placeholder=" …") or type(error).__name__
            sys.stderr.write(f"adelic: torch.compile failed ({reason}); steps run uncompiled, which is slower\n")
            return found


def divergence(
    model: nn.Module, recipe: TrainConfig, progress: Counters, finite_step: int, kind: str
) -> DivergenceError:
    """Return the error for a loss that is not finite: where it happened, the signs, the likely cause, the remedy.

    The model has the gradients of the last step, and `finite_step` is the last one after which the loss was seen to be
    finite. The kind of loss is "training" or "validation".

    >>> model, recipe = nn.Linear(2, 2), TrainConfig(name="mine", learning_rate=8.0, epochs=9)
    >>> print(divergence(model, recipe, Counters(step=20, batch=20), 10, "training"))
    the training loss left the finite numbers in epoch 1 of 9, between steps 11 and 20 (learning rate 8, no gradient, 0
    of 2 weight tensors not finite); ... try --learning-rate 0.8, ...
    """
    # The loss of the last step is that of the weights before it, which may be finite where those after it are not.
    first = min(finite_step + 1, progress.step)
    rate = recipe.learning_rate_at(progress.epoch, max(progress.step - 1, 0))
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = f"gradient norm {float(nn.utils.get_total_norm(gradients)):.3g}" if gradients else "no gradient"
    weights = [p.detach() for p in model.parameters()]
    broken = sum(not bool(torch.isfinite(p).all()) for p in weights)
    low = (
        ", or too few digits in bfloat16: try --compute float32"
        if (progress.compute or recipe.compute) == "bfloat16"
        else ""
    )
    kept = "a checkpoint from before is kept, if one was written, but " if finite_step else ""
    return DivergenceError(
        f"the {kind} loss left the finite numbers in epoch {progress.epoch + 1} of {recipe.epochs}, between steps "
        f"{first} and {progress.step} (learning rate {rate:g}, {norm}, {broken} of {len(weights)} weight "
        f"tensors not finite); the usual cause is too high a learning rate: a lower --learning-rate may help, try "
        f"--learning-rate {recipe.learning_rate / 10:g}, with another --run-dir if you named one{low}; {kept}the same "
        f"command would end here again"
    )
