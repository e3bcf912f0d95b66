"""The facts of each dataset: `NAME.toml` has them in words, `NAME.json` has the published counts.

The words are the task's title, the published sizes (the first is the default), for each edition its title and its
notes on published and on own choices, the titles of other views of its examples, and the files that the
loader of the dataset's authors reads.
"""

import tomllib
from importlib.resources import files
from typing import Any

from adelic.data.protocol import View


def words(name: str) -> dict[str, Any]:
    """Return the contents of a task's file.

    >>> words("weaving")["title"]
    'is this n × (n-1) matrix a weaving pattern?'
    """
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))


def described(name: str, **views: tuple[Any, ...]) -> dict[str, Any]:
    """Return the arguments of a `Task` from the files of its name, with the functions and titles of its views.

    >>> about = described("weaving")
    >>> about["title"], about["sizes"], list(about["editions"])
    ('is this n × (n-1) matrix a weaving pattern?', (6, 7), ['published', 'leaky', 'levels'])
    >>> about["notes"]["leaky"][0]
    'Reconstructed from the few older published negatives that can still be seen.'
    """
    said = words(name)
    return {
        "name": name,
        "title": said["title"],
        "sizes": tuple(said["sizes"]),
        "editions": {edition: about["title"] for edition, about in said["editions"].items()},
        "notes": {edition: tuple(about["notes"]) for edition, about in said["editions"].items()},
        "views": {view: View(said["views"][view], *functions) for view, functions in views.items()},
        "facts": files(__package__) / f"{name}.json",
    }
