"""Embeddings and bodies by name, so recipes, the command line and users build every one in the same way."""

import importlib
import inspect
import pkgutil
from typing import Any

from torch import nn

from adelic.errors import UnknownNameError
from adelic.nn.embeddings.base import NumberEmbedding
from adelic.nn.vocabulary import Numbers


def find_classes(package: str) -> dict[str, type[Any]]:
    """Return the modules of torch that the files of a package define, by the `name` of their classes.

    >>> sorted(find_classes("adelic.nn.embeddings"))
    ['abacus', 'adelic', 'angular', 'base-digits', 'fone', 'learned', 'one-hot', 'periodic', 'random', ...]
    """
    found: dict[str, type[Any]] = {}
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        # Only what the file defines itself: an imported class would be found twice.
        classes = inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
        own = [c for _, c in classes if c.__module__ == module.name and issubclass(c, nn.Module)]
        found |= {vars(c)["name"]: c for c in own if "name" in vars(c)}
    return dict(sorted(found.items()))


EMBEDDINGS: dict[str, type[NumberEmbedding]] = find_classes("adelic.nn.embeddings")
"""Every embedding by its name."""
BODIES = find_classes("adelic.nn.bodies")
"""Every body that goes with any embedding, by its name."""


def build_embedding(name: str, vocabulary: Numbers | None, **options: Any) -> NumberEmbedding:
    """Return the embedding of this name.

    Args:
        name: a key of `EMBEDDINGS`.
        vocabulary: the numbers that can occur: a `Vocabulary`, a list or range, or n for 0 … n − 1; or None for
            open-ended numbers.
        options: what the embedding's class takes, such as d_model, space, features.

    Raises:
        UnknownNameError: there is no such embedding; the nearest name is suggested.

    >>> build_embedding("learned", 3, d_model=16).d_model
    16
    """
    if name not in EMBEDDINGS:
        raise UnknownNameError.of("embedding", name, EMBEDDINGS)
    return EMBEDDINGS[name](vocabulary, **options)
