"""Fingerprints: what is frozen next to the weights of a module and gives them their meaning, in its state dict.

Weights after an encoding of numbers are right for that encoding alone, and tensors of equal shapes fit every other.
"""

import hashlib
import json
from typing import Any

import torch
from torch import nn

from adelic.errors import ConfigurationError
from adelic.nn.vocabulary import Vocabulary
from adelic.numbers.describe import describe

_FIRST = 8
"""Numbers of a vocabulary that its description shows."""
_SHOWN = 160
"""Characters of a value in an error message."""


class Fingerprinted(nn.Module):
    """A module with a fingerprint of what is frozen in it: one entry more in its state dict, `_extra_state`.

    The entry is uint8, the fingerprint as JSON in UTF-8, so safetensors, `torch.save` and whatever else carries
    tensors carries it. `load_state_dict` raises where the fingerprint that comes with the weights says otherwise than
    the module's own of something that both name; what one side does not name, such as the vocabulary of an embedding
    for open-ended numbers, may be anything. Weights that were saved without a fingerprint lack a key, which
    `load_state_dict` reports; `strict=False` loads them, unchecked.

    >>> from adelic import nn
    >>> one, other = (nn.AdelicEmbedding(nn.Vocabulary(order)) for order in ([1, 2, 3], [3, 2, 1]))
    >>> other.load_state_dict(one.state_dict())
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: these weights are of another AdelicEmbedding: vocabulary 1, 2, 3 (3 numbers,
    SHA-256 ...) with them, 3, 2, 1 (3 numbers, SHA-256 ...) here; build the model as theirs was built, or load ...
    """

    def fingerprint(self) -> dict[str, Any]:
        """Return what tells this module from others of its class whose weights have other meanings: JSON, by names."""
        return {}

    def get_extra_state(self) -> torch.Tensor:
        """Return the fingerprint and the name of the class, uint8 (bytes of JSON,)."""
        # On the CPU also under `torch.device("meta")`, where the bytes would have no values.
        text = json.dumps({"class": type(self).__name__, **self.fingerprint()})
        return torch.tensor(list(text.encode()), dtype=torch.uint8, device="cpu")

    def set_extra_state(self, state: torch.Tensor) -> None:
        """Compare the fingerprint that came with weights with this module's own.

        A ConfigurationError says that they contradict each other, or that there is no fingerprint in the state.
        """
        mine, theirs = _read(self.get_extra_state()), _read(state)
        if theirs is None or mine is None:
            raise ConfigurationError(f"the _extra_state with weights of {type(self).__name__} is not a fingerprint")
        # Keys that one side alone has are of another version, or of numbers without a vocabulary: they forbid nothing.
        if different := [key for key in mine if key in theirs and mine[key] != theirs[key]]:
            sides = "; ".join(f"{key} {_show(theirs[key])} with them, {_show(mine[key])} here" for key in different)
            raise ConfigurationError(
                f"these weights are of another {theirs.get('class')}: {sides}; build the model as theirs was built, or "
                "load weights of its own"
            )


def of_vocabulary(vocabulary: Vocabulary | None) -> dict[str, str]:
    """Return what tells a vocabulary and its order from others; nothing for open-ended numbers.

    >>> of_vocabulary(Vocabulary(range(1000)))
    {'vocabulary': '0, 1, 2, 3, 4, 5, 6, 7, … (1000 numbers, SHA-256 ...)'}
    """
    if vocabulary is None:
        return {}
    shown = ", ".join(describe(number) for number in vocabulary.numbers[:_FIRST])
    # In base 16: Python refuses decimal text of more than 4,300 digits.
    text = "\n".join(f"{q.numerator:x}/{q.denominator:x}" for q in vocabulary.numbers)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    more = ", …" if len(vocabulary) > _FIRST else ""
    further = {"missing": vocabulary.missing_id, "unknown": vocabulary.unknown_id}
    more += "".join(f", {name}" for name, id_ in further.items() if id_ is not None)
    return {"vocabulary": f"{shown}{more} ({len(vocabulary)} numbers, SHA-256 {digest})"}


def _read(state: torch.Tensor) -> dict[str, Any] | None:
    """Return the fingerprint, or None if it cannot be read; the bytes may be floats by now, as averages make them."""
    try:
        found = json.loads(bytes(int(byte) for byte in state.tolist()))
    except (AttributeError, TypeError, ValueError, NotImplementedError):
        return None
    return found if isinstance(found, dict) else None


def _show(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"
