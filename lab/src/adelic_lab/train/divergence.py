"""The error for a training whose loss is no longer finite."""

import torch
from torch import nn

from adelic.errors import DivergenceError
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.runs.folder import Counters


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
