"""Names of options in files of older versions, which are still read; runs of that time keep their names.

`with_todays_names` is called wherever a configuration is read, `first_form` wherever a name is made from one.
"""

from collections.abc import Mapping
from typing import Any

FIRST_NAMES = {"checkpoint": "keep", "pooling": "readout"}
"""The first name of each field of a recipe that is named otherwise today."""
_TODAYS_NAMES = {first: name for name, first in FIRST_NAMES.items()}
_NOTHING: dict[str, Any] = {"features": "none", "projection": "none", "primes": [], "precision": 0, "bases": "none"}
"""The value of each option in older files where the embedding lacks the option."""

SOLVERS = {
    "adelic-placewise-both-orders": "adelic-placewise:orders=both",
    "adelic-3-digits": "adelic-placewise:precision=3",
    "adelic-flat-256": "adelic-flat:d_model=256",
    "adelic-flat-608": "adelic-flat:d_model=608",
    "fone-256": "fone:d_model=256",
    "fone-both-orders": "fone:orders=both",
    "base-10": "base-digits",
    "base-1000": "base-digits:base=1000",
    "base-10-autoregressive": "base-digits:autoregressive=true",
    "base-24-autoregressive": "base-digits:base=24:autoregressive=true",
    "base-1000-autoregressive": "base-digits:base=1000:autoregressive=true",
    "abacus-autoregressive": "abacus:autoregressive=true",
    "residue-table-both-orders": "residue-table:orders=both",
    "adelic-program": "experiments.solvers.program:Program",
    "operation-tables": "experiments.solvers.program:OperationTables",
    "adelic-controller": "experiments.solvers.controlled:Controlled",
    "adelic-context": "experiments.solvers.context:Context",
    "adelic-hybrid": "experiments.solvers.context:Hybrid",
    "adelic-parity": "experiments.solvers.parity:Parity",
}
"""Today's name of each solver that older results name otherwise."""

FIRST_NOTHING = {"features": "none", "places": "flat"}
"""What older results say where they have nothing."""


def todays_names(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe's table with today's names for its keys; a first name beside today's stays, to be refused.

    >>> todays_names({"epochs": 3, "keep": "last"})
    {'epochs': 3, 'checkpoint': 'last'}
    """
    return _named(table, _TODAYS_NAMES)


def first_names(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe's table with the first names for its keys.

    >>> first_names({"epochs": 3, "checkpoint": "last"})
    {'epochs': 3, 'keep': 'last'}
    """
    return _named(table, FIRST_NAMES)


def with_todays_names(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a configuration in today's words: of the recipe and the embedding, if they are there.

    >>> with_todays_names({"seed": 0, "recipe": {"readout": "tokens"}})
    {'seed': 0, 'recipe': {'pooling': 'tokens'}}
    >>> with_todays_names({"embedding": {"name": "learned", "features": "none", "precision": 0}})
    {'embedding': {'name': 'learned'}}
    """
    found = dict(configuration)
    if isinstance(recipe := found.get("recipe"), dict):
        found["recipe"] = {k: v for k, v in todays_names(recipe).items() if k != "max_rows" or v != 0}
    embedding = found.get("embedding")
    if isinstance(embedding, dict) and isinstance(recipe, dict) and "steps" in recipe:  # a solver
        name = embedding.get("name")
        found["embedding"] = embedding | {"name": SOLVERS.get(str(name), name)}
    elif isinstance(embedding, dict):
        # Of an embedding without primes 0 digits after the point say nothing; of others they are an option's value.
        had_none = embedding.get("primes") == []
        found["embedding"] = {
            key: value
            for key, value in embedding.items()
            if value != _NOTHING.get(key) and not (had_none and key == "fractional_digits")
        }
    return found


def first_form(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a network's configuration in the words of the first runs, whose names are made from it.

    >>> first_form({"embedding": {"name": "learned"}, "recipe": {"checkpoint": "last"}})["recipe"]
    {'keep': 'last'}
    """
    nothing = {key: value for key, value in _NOTHING.items() if key != "bases"} | {"fractional_digits": 0}
    return dict(configuration) | {
        "embedding": nothing | dict(configuration["embedding"]),
        "recipe": first_names(configuration["recipe"]),
    }


def _named(table: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {key if names.get(key, key) in table else names.get(key, key): value for key, value in table.items()}
