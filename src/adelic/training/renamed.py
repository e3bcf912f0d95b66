"""Fields of a recipe that once had other names: files of that time are read, and runs of that time keep their names.

`todays_names` stands wherever a table of a recipe is read, `first_names` wherever a name is made from one.
"""

from collections.abc import Mapping
from typing import Any

FIRST_NAMES = {"checkpoint": "keep", "pooling": "readout"}
"""The first name of each field that has another one today."""
_TODAYS_NAMES = {first: name for name, first in FIRST_NAMES.items()}


def todays_names(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with today's names for its keys; a first name beside today's stays, and is then unknown.

    >>> todays_names({"epochs": 3, "keep": "last"})
    {'epochs': 3, 'checkpoint': 'last'}
    """
    return _named(table, _TODAYS_NAMES)


def first_names(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with the first names for its keys.

    >>> first_names({"epochs": 3, "checkpoint": "last"})
    {'epochs': 3, 'keep': 'last'}
    """
    return _named(table, FIRST_NAMES)


def with_todays_names(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a configuration, that of the recipe, if there is one, with today's names.

    >>> with_todays_names({"seed": 0, "recipe": {"readout": "tokens"}})
    {'seed': 0, 'recipe': {'pooling': 'tokens'}}
    """
    recipe = configuration.get("recipe")
    return dict(configuration) | ({"recipe": todays_names(recipe)} if isinstance(recipe, dict) else {})


def _named(table: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {key if names.get(key, key) in table else names.get(key, key): value for key, value in table.items()}
