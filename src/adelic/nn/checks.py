"""The checks of what layers are built with and given: sizes; tensors whose elements are stored; ids and digits."""

from numbers import Integral
from typing import Any

import torch

from adelic.errors import ConfigurationError, EncodingError
from adelic.numbers.describe import at_position

_CPU = torch.device("cpu")


def check_positive(**sizes: Any) -> None:
    """Raise ConfigurationError unless sizes are whole numbers, at least 1.

    >>> check_positive(n_layers=2, d_model=1.5)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: d_model=1.5 must be a whole number
    """
    for name, size in sizes.items():
        if not isinstance(size, Integral):
            raise ConfigurationError(f"{name}={size!r} must be a whole number")
        if size < 1:
            raise ConfigurationError(f"{name}={size} must be at least 1")


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
        raise EncodingError(
            "a nested tensor was given, and examples of one length are needed: x.to_padded_tensor(padding)"
        )
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
    adelic.errors.EncodingError: ids are a tensor of integers, not of type list; use torch.as_tensor(x) for ids x,
    and vocabulary.ids(x) for numbers x
    """
    check_plain(values, device)
    if not isinstance(values, torch.Tensor):
        given, remedy = f"type {type(values).__name__}", "torch.as_tensor(x)"
    # A mask, or numbers that are no ids yet, would index some vector all the same.
    elif values.dtype.is_floating_point or values.dtype.is_complex or values.dtype == torch.bool:
        given, remedy = str(values.dtype), "x.long()"
    else:
        return values.long()
    raise EncodingError(
        f"ids are a tensor of integers, not of {given}; use {remedy} for ids x, and vocabulary.ids(x) for numbers x"
    )


def as_digits(values: torch.Tensor, counts: torch.Tensor, *, unknown: int | None = None) -> torch.Tensor:
    """Return digits as int64; an entry that is no digit of its prime is an `EncodingError`.

    On an accelerator that waits for the values. While a graph is traced or captured, and if there are no values, as
    on meta or under `vmap`, nothing is checked.

    Args:
        values: of any real type, (*).
        counts: how many digits there are at a place, int64, broadcast against the values; on the device of these.
        unknown: what else may occur there.

    >>> as_digits(torch.tensor([[1.0, 2.0]]), torch.tensor([2, 3]))
    tensor([[1, 2]])
    >>> as_digits(torch.tensor([[1, 3]]), torch.tensor([2, 3]))
    Traceback (most recent call last):
    adelic.errors.EncodingError: 3 at position [0, 1] is not a digit; the digits there are 0 … 2
    """
    if values.is_complex():
        raise EncodingError(f"digits are integers, not of {values.dtype}; x.real.long()")
    digits = values.long()
    if is_traced() or (values.is_cuda and torch.cuda.is_current_stream_capturing()):
        return digits
    is_wrong = (digits < 0) | (digits >= counts)
    if unknown is not None:
        is_wrong &= digits != unknown
    if values.is_floating_point():
        is_wrong |= digits != values.double()
    try:
        if not bool(is_wrong.any()):
            return digits
    # Under vmap and on meta there are no values to look at.
    except RuntimeError:
        return digits
    at = tuple(is_wrong.nonzero()[0].tolist())
    raise EncodingError(
        f"{values[at].item()}{at_position(at)} is not a digit; the digits there are 0 … "
        f"{int(counts.expand(values.shape)[at]) - 1}"
    )


def is_traced() -> bool:
    """Return whether a compiler, an export or a trace runs, in which nothing may depend on values.

    >>> is_traced()
    False
    """
    return torch.compiler.is_compiling() or bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]


def length_of(shape: tuple[int, ...]) -> int:
    """Return the length of sequences (*, length); a number alone, of shape (), is a `ConfigurationError`.

    >>> length_of(torch.zeros(2, 5).shape)
    5
    """
    if not shape:
        raise ConfigurationError("one number alone is no sequence, (*, length); give a sequence of one")
    return shape[-1]
