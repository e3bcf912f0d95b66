"""The check of tensors that layers are given: every element must be stored, as itself."""

from typing import Any

import torch

from adelic.errors import EncodingError

_CPU = torch.device("cpu")


def check_plain(values: Any, device: torch.device = _CPU) -> None:
    """Raise `EncodingError` for a sparse, nested or quantized tensor, and for one on meta where values are needed.

    The device is the layer's: on meta, tensors without values are right. Anything but a tensor passes.

    >>> check_plain(torch.eye(2))
    >>> check_plain(torch.eye(2).to_sparse())
    Traceback (most recent call last):
    adelic.errors.EncodingError: a sparse tensor (torch.sparse_coo) was given, and all elements are needed: x.to_dense()
    """
    if not isinstance(values, torch.Tensor):
        return
    if values.is_nested:
        raise EncodingError("a nested tensor was given, and rows of one length are needed: x.to_padded_tensor(padding)")
    if values.layout != torch.strided:
        raise EncodingError(f"a sparse tensor ({values.layout}) was given, and all elements are needed: x.to_dense()")
    if values.is_quantized:
        raise EncodingError(f"a quantized tensor ({values.dtype}) was given; x.dequantize() has its values")
    if values.device.type == "meta" and device.type != "meta":
        raise EncodingError(f"a tensor on the device meta has no values, which a layer on {device} needs")
