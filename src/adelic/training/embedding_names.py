"""Names of the embeddings, which are known without torch."""

import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import resources

from adelic.errors import UnknownNameError


def check_embedding(name: str) -> None:
    """Raise `UnknownNameError` unless an embedding has this name; the nearest name is suggested.

    >>> check_embedding("lerned")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown embedding 'lerned'; did you mean 'learned'? embeddings: abacus, adelic, ...
    """
    loaded = sys.modules.get("adelic.nn.embeddings.registry")
    known: Iterable[str] = embedding_names() if loaded is None else loaded.EMBEDDINGS
    if name not in known:
        raise UnknownNameError.of("embedding", name, known)


@cache
def embedding_names() -> tuple[str, ...]:
    """Return the names that the modules of `adelic.nn.embeddings` give to classes, read as text: no torch is loaded."""
    modules = (resources.files("adelic") / "nn" / "embeddings").iterdir()
    texts = [module.read_text(encoding="utf-8") for module in modules if module.name.endswith(".py")]
    return tuple(sorted(name for text in texts for name in re.findall(r'(?m)^    name\b[^=\n]*= "(.+)"$', text)))
