"""The cost of a model: the floating-point operations of a forward pass."""

from itertools import chain

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


def forward_flops(model: torch.nn.Module, length: int) -> int:
    """Return the floating-point operations that the matrix products of a forward pass over one row take.

    A multiplication with an addition counts as two. Norms, softmax, ReLU and look-ups are not counted, as is usual:
    they are a hundredth of the whole. Nothing is computed, only shapes are followed (torch's "meta" device), so that
    weights, mode and random state of the model stay as they are. Counted are torch's plain functions, whose products
    are those of `adelic.nn.kernels.fused`: of the last layer, only what the head reads is computed. The length is that
    of a row without [CLS].

    >>> from adelic import nn
    >>> embedding = nn.LearnedEmbedding(nn.Vocabulary(range(8)), d_model=16)
    >>> model = nn.SequenceClassifier(embedding, n_classes=5, max_length=8, n_layers=1, n_heads=2, d_feedforward=32)
    >>> keys_and_values, query, attention = 9 * 2 * 16 * 32, 2 * 16 * 16, 2 * 2 * 9 * 16
    >>> projection, feed_forward, head = 2 * 16 * 16, 2 * 2 * 16 * 32, 2 * 16 * 5
    >>> forward_flops(model, 8) == keys_and_values + query + attention + projection + feed_forward + head
    True
    """
    tensors = {
        name: torch.empty_like(tensor, device="meta")
        for name, tensor in chain(model.named_parameters(), model.named_buffers())
    }
    ids = torch.zeros(1, length, dtype=torch.int64, device="meta")
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        # Of the ways to compute attention, this one consists of products that every version of torch counts.
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            torch.func.functional_call(model, tensors, (ids,))
    finally:
        for module, mode in modes:  # a part may be frozen in the mode of evaluation while the rest trains
            module.training = mode
    return int(counter.get_total_flops())
