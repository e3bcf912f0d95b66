"""Names of the embeddings and bodies, and what these say of themselves, which is known without torch."""

import math
import re
import sys
from ast import literal_eval
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Literal

from adelic.errors import UnknownNameError

Kind = Literal["embeddings", "bodies"]
"""A package of `adelic.nn` whose classes are found by the `name` that they have."""
_STATEMENT = re.compile(r"(?m)^(?=[^\s)])")
_ATTRIBUTE = re.compile(r"""(?m)^    (\w+)(?:: [^=\n]+)? = ((?:["'(]|True\b|False\b).*)$""")


def check_embedding(name: str) -> None:
    """Raise `UnknownNameError` unless an embedding has this name; the nearest name is suggested.

    >>> check_embedding("lerned")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown embedding 'lerned'; did you mean 'learned'? embeddings: abacus, adelic, ...
    """
    known: Iterable[str] = _loaded("embeddings") or names("embeddings")
    if name not in known:
        raise UnknownNameError.of("embedding", name, known)


def needs_vocabulary(embedding: str) -> bool:
    """Return whether an embedding, or a model of any other name, has to know which numbers there are.

    >>> needs_vocabulary("learned"), needs_vocabulary("adelic")
    (True, False)
    """
    return bool(_said("embeddings", embedding, "needs_vocabulary"))


def unused_options(body: str) -> tuple[str, ...]:
    """Return the fields of a recipe that play no part in a body.

    >>> unused_options("sequence"), unused_options("graph")
    ((), ('initial_std', 'norm', 'pooling', 'positional'))
    """
    return _said("bodies", body, "unused") or ()


def n_tokens(body: str, length: int) -> int:
    """Return how many tokens a row of numbers is for a body: they and [CLS], or vertices of a matrix, or the whole row.

    >>> n_tokens("sequence", 121), n_tokens("graph", 121), n_tokens("mlp", 121)
    (122, 11, 1)
    """
    return {"vertex": math.isqrt(length), "row": 1}.get(_said("bodies", body, "token"), length + 1)


def names(kind: Kind) -> tuple[str, ...]:
    """Return the names that classes of a package have, read as text: no torch is loaded.

    >>> names("bodies")
    ('graph', 'mlp', 'sequence')
    """
    return tuple(_packaged(kind))


def written(folder: Traversable) -> dict[str, dict[str, str]]:
    """Return the attributes of the classes with a name in a folder's modules, as they are written there, by name.

    Those are found that are a text, a truth value or a tuple, and stand on one line.
    """
    texts = [module.read_text(encoding="utf-8") for module in folder.iterdir() if module.name.endswith(".py")]
    statements = [statement for text in texts for statement in _STATEMENT.split(text)]
    found = [dict(_ATTRIBUTE.findall(statement)) for statement in statements if statement.startswith("class ")]
    return dict(sorted((literal_eval(told["name"]), told) for told in found if "name" in told))


@cache
def _packaged(kind: Kind) -> dict[str, dict[str, str]]:
    return written(resources.files("adelic") / "nn" / kind)


def _loaded(kind: Kind) -> Mapping[str, type] | None:
    """Return the classes where torch is loaded anyway; then those of one's own are known."""
    found: Mapping[str, type] | None = getattr(sys.modules.get("adelic.nn.registry"), kind.upper(), None)
    return found


def _said(kind: Kind, name: str, attribute: str) -> Any:
    loaded = _loaded(kind)
    if loaded is not None:
        return getattr(loaded.get(name), attribute, None)
    text = _packaged(kind).get(name, {}).get(attribute)
    return None if text is None else literal_eval(text)
