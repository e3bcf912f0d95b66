"""Names of embeddings, bodies and solvers, and what an experiment asks of them before torch is loaded.

A test compares the tables of embeddings and bodies with the registry of `adelic.nn`, which loads torch. It is asked of
what a file in the folder of embeddings or bodies names, and the tables do not have: one more is one more file. Solvers,
and what tables and figures call them, stand in solvers.toml; the module of one is imported only when it is needed.
"""

import importlib
import math
import re
import sys
from importlib import resources
from typing import Any

from adelic.errors import UnknownNameError
from adelic_lab.config.options import packaged

EMBEDDINGS = (
    *("abacus", "adelic", "angular", "base-digits", "fone", "learned", "one-hot", "periodic", "random", "residues"),
    *("union", "xval"),
)
BODIES = ("graph", "mlp", "sequence")
_NAMES = {"embedding": EMBEDDINGS, "body": BODIES}
_REGISTRIES = {"embedding": ("embeddings", "EMBEDDINGS"), "body": ("bodies", "BODIES")}
_NEED_VOCABULARY = ("learned", "one-hot", "random")
_WITHOUT_ORDER = ("initial_std", "norm", "pooling", "positional")
_UNUSED = {"graph": _WITHOUT_ORDER, "mlp": (*_WITHOUT_ORDER, "n_heads"), "sequence": ()}
_TOKENS = {"graph": "vertex", "mlp": "row", "sequence": "number"}


def check_name(kind: str, name: str) -> None:
    """Raise `UnknownNameError` unless an "embedding" or a "body" has this name; the nearest name is suggested.

    >>> check_name("embedding", "lerned")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown embedding 'lerned'; did you mean 'learned'? embedding: abacus, adelic, ...
    """
    known = {*_NAMES[kind], *_registered(kind)}
    if name not in known:
        folder = _REGISTRIES[kind][0]
        files = [file for file in (resources.files("adelic") / "nn" / folder).iterdir() if file.name.endswith(".py")]
        if not any(f'    name = "{name}"\n' in file.read_text(encoding="utf-8") for file in files):
            raise UnknownNameError.of(kind, name, sorted(known), listed=kind)
        importlib.import_module("adelic.nn.registry")


def needs_vocabulary(embedding: str) -> bool:
    """Return whether an embedding, or a model of any other name, has to know which numbers there are.

    >>> needs_vocabulary("learned"), needs_vocabulary("adelic")
    (True, False)
    """
    own = _registered("embedding").get(embedding)
    return embedding in _NEED_VOCABULARY if own is None else own.needs_vocabulary


def unused_options(body: str) -> tuple[str, ...]:
    """Return the fields of a recipe that play no part in a body.

    >>> unused_options("sequence"), unused_options("graph")
    ((), ('initial_std', 'norm', 'pooling', 'positional'))
    """
    return _UNUSED[body] if body in _UNUSED else getattr(_registered("body").get(body), "unused", ())


def n_tokens(body: str, length: int) -> int:
    """Return the number of tokens of an example in a body: numbers and [CLS], vertices of a matrix, or one.

    >>> n_tokens("sequence", 121), n_tokens("graph", 121), n_tokens("mlp", 121)
    (122, 11, 1)
    """
    token = _TOKENS[body] if body in _TOKENS else getattr(_registered("body").get(body), "token", "number")
    return {"vertex": math.isqrt(length), "row": 1}.get(token, length + 1)


def _registered(kind: str) -> dict[str, Any]:
    """Return the classes if torch is loaded: checking your own name loads it."""
    found: dict[str, Any] = getattr(sys.modules.get("adelic.nn.registry"), _REGISTRIES[kind][1], {})
    return found


_TABLES = packaged("config/solvers.toml")
SOLVERS: dict[str, str] = {name: f"adelic_lab.models.solvers.{place}" for name, place in _TABLES["classes"].items()}
"""The class of each solver."""
DEFAULT_SOLVER = "adelic-placewise"
TITLES: dict[str, str] = _TABLES["titles"]
"""What each solver is, in a few words, for figures and help, in the order of tables."""
PACKAGED = tuple(name for name in TITLES if name.partition(":")[0] in SOLVERS)
"""Those of `TITLES` that come with this package."""
_NAME = re.compile(r"([^\W\d][\w.-]*(?::[^\W\d]\w*(?=:|$))?)((?::[^\W\d]\w*=[^:=]+)*)")


def solvers_in_words() -> str:
    """Return the names of the solvers without their options, for the help of a command.

    >>> solvers_in_words().split(", ")[:2]
    ['adelic-placewise', 'adelic-one-hot']
    """
    return ", ".join(dict.fromkeys(name.partition(":")[0] for name in PACKAGED))


def parse_solver(name: str) -> tuple[str, dict[str, str]]:
    """Return the name of a solver without its options, one of `SOLVERS` or your own class, and the options' texts.

    Raises:
        UnknownNameError: a text names no solver; the nearest name is suggested.

    >>> parse_solver("base-digits:base=24:autoregressive=true")
    ('base-digits', {'base': '24', 'autoregressive': 'true'})
    >>> parse_solver("experiments.solvers.context:Context:prime=3")
    ('experiments.solvers.context:Context', {'prime': '3'})
    >>> parse_solver("fon")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown solver 'fon'; did you mean 'fone'? solvers: adelic-placewise, ...
    """
    found = _NAME.fullmatch(name)
    if found is None or not (found[1] in SOLVERS or ":" in found[1]):
        known = [*PACKAGED, "module:Class of your own"]
        raise UnknownNameError.of("solver", name, known, listed="solvers")
    given = dict(word.split("=") for word in found[2].split(":")[1:])
    return found[1], given
