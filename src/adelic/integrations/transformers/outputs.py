"""The outputs of equipped models: those of their classes, with what the numbers' head reads and its loss."""

from collections.abc import Callable
from dataclasses import fields, make_dataclass
from inspect import isclass
from typing import Any, get_args, get_type_hints

import torch

NUMBER_OUTPUTS = ("number_loss", "number_states", "number_derivable")
"""What an equipped model adds: the loss of numbers, what their heads read, the share of targets with a derivation."""

_made: dict[type, Any] = {}


def output_class(base: type) -> Any:
    """Return the subclass of a class of outputs that has `NUMBER_OUTPUTS`, too.

    >>> from transformers.modeling_outputs import CausalLMOutput
    >>> made = output_class(CausalLMOutput)(logits=torch.zeros(1), number_states=torch.ones(1))
    >>> isinstance(made, CausalLMOutput), list(made)
    (True, ['logits', 'number_states'])
    """
    if base not in _made:
        added = [(name, torch.Tensor | None, None) for name in NUMBER_OUTPUTS]
        namespace = {"__module__": __name__, "__doc__": base.__doc__, "__reduce__": _reduce, "equipped_from": base}
        _made[base] = make_dataclass(f"Adelic{base.__name__}", added, bases=(base,), namespace=namespace)
    return _made[base]


def make_output_classes(forward: Callable[..., Any]) -> None:
    """Make the classes of what a `forward` says that it returns: a compiler cannot, nor a process that loads an export.

    >>> from transformers import LlamaForCausalLM
    >>> make_output_classes(LlamaForCausalLM.forward)
    >>> "CausalLMOutputWithPast" in [base.__name__ for base in _made]
    True
    """
    from transformers.utils import ModelOutput

    try:
        returned = get_type_hints(forward).get("return")
    except (NameError, TypeError):  # names of another module, or none that there are
        return
    for found in (returned, *get_args(returned)):
        if isclass(found) and issubclass(found, ModelOutput):
            output_class(found)


def selected(states: tuple[Any, ...], asked: Any) -> tuple[Any, ...] | None:
    """Return the hidden states that `output_hidden_states` asks for, None in the places of others.

    >>> selected(("a", "b", "c"), [0, -1]), selected(("a", "b"), True), selected(("a", "b"), False)
    (('a', None, 'c'), ('a', 'b'), None)
    """
    if not asked or asked is True:
        return states if asked else None
    n = len(states)
    wanted = {index % n for index in ([asked] if isinstance(asked, int) else asked) if -n <= index < n}
    return tuple(state if index in wanted else None for index, state in enumerate(states))


def _reduce(self: Any) -> Any:
    return _rebuilt, (self.equipped_from, {field.name: getattr(self, field.name) for field in fields(self)})


def _rebuilt(base: type, values: dict[str, Any]) -> Any:
    """Return outputs again, for unpickling."""
    return output_class(base)(**values)
