"""What is known of each data set: `NAME.toml` says it in words, `NAME.json` has the published counts.

The words are the task's title, the published sizes (the first is the default), and for each edition its title and its
notes: what is as published, and what is settled here.
"""

import tomllib
from importlib.resources import files
from typing import Any


def described(name: str) -> dict[str, Any]:
    """Return what a `Task` takes from the files of its name.

    >>> about = described("weaving")
    >>> about["title"], about["sizes"], list(about["editions"])
    ('is this n × (n-1) matrix a weaving pattern?', (6, 7), ['published', 'leaky', 'levels'])
    >>> about["notes"]["leaky"][0]
    'Reconstructed from the few older published negatives that can still be seen.'
    """
    folder = files(__package__)
    said = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    return {
        "name": name,
        "title": said["title"],
        "sizes": tuple(said["sizes"]),
        "editions": {edition: about["title"] for edition, about in said["editions"].items()},
        "notes": {edition: tuple(about["notes"]) for edition, about in said["editions"].items()},
        "facts": folder / f"{name}.json",
    }
