"""The check of tensors that layers are given: every element must be stored, as itself, and ids are integers."""

from typing import Any

import torch

from adelic.errors import ConfigurationError, EncodingError

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


def as_ids(values: Any, device: torch.device = _CPU) -> torch.Tensor:
    """Return ids as int64, from a tensor of any type of integers; whatever else is given is an `EncodingError`.

    The device is that of `check_plain`. Computed with in uint8, the ids of a row would leave the type.

    >>> as_ids(torch.tensor([200, 3], dtype=torch.uint8))
    tensor([200,   3])
    >>> as_ids([200, 3])
    Traceback (most recent call last):
    adelic.errors.EncodingError: ids are a tensor of integers, not of type list; torch.as_tensor(x) where x are ids,
    and vocabulary.ids(x) where they are numbers
    """
    check_plain(values, device)
    if not isinstance(values, torch.Tensor):
        given, remedy = f"type {type(values).__name__}", "torch.as_tensor(x)"
    elif values.dtype.is_floating_point or values.dtype.is_complex or values.dtype == torch.bool:
        given, remedy = str(values.dtype), "x.long()"
    else:
        return values.long()
    raise EncodingError(
        f"ids are a tensor of integers, not of {given}; {remedy} where x are ids, and vocabulary.ids(x) where they are "
        "numbers"
    )


def length_of(shape: tuple[int, ...]) -> int:
    """Return the length of sequences (*, length); a number alone, of shape (), is a `ConfigurationError`.

    >>> length_of(torch.zeros(2, 5).shape)
    5
    """
    if not shape:
        raise ConfigurationError("one number alone is no sequence, (*, length); give a sequence of one")
    return shape[-1]
