"""Steps on a GPU: compiled, and replayed as CUDA graphs, so that no kernel waits for Python."""

import os
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import torch

SWITCH = "ADELIC_COMPILE"
"""The environment variable that leaves steps uncompiled if it is "off"."""


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
