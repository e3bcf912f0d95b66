"""`adelic --version`: the versions that matter for a bug report."""

import importlib.metadata
import platform
import re
from collections.abc import Iterator

from adelic.storage.version import VERSION

OF_DEVELOPERS = frozenset({"bench", "dev", "docs", "fuzz", "nightly"})
"""Extras that only those need who work on adelic itself."""
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:.*;.*\bextra == ['\"](?P<extra>[\w.-]+)['\"])?")


def versions() -> Iterator[tuple[str, str]]:
    """Yield names with versions: adelic, Python, the platform, what adelic needs, what of its extras is installed.

    They are read from the installed packages' metadata and nothing is imported, so that this works where a library is
    broken.

    >>> found = dict(versions())
    >>> list(found)[:3], "numpy" in found
    (['adelic', 'python', 'platform'], True)
    """
    yield "adelic", VERSION
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "platform", platform.platform()
    needed, optional = _libraries()
    for name in (*needed, *optional):
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            if name in needed:
                yield name, "not installed"


def _libraries() -> tuple[list[str], list[str]]:
    """Return what this package requires, and what its extras for users bring, in the order of pyproject.toml."""
    parts = [match for match in map(_REQUIREMENT.match, importlib.metadata.requires("adelic") or ()) if match]
    needed = [part["name"] for part in parts if not part["extra"]]
    of_users = [part["name"] for part in parts if part["extra"] and part["extra"] not in OF_DEVELOPERS]
    return needed, sorted({*of_users} - {*needed, "adelic"})
