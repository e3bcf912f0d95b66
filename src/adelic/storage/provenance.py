"""Provenance, all that a figure depends on besides its command: versions, machine, source tree."""

import importlib.metadata
import platform
import subprocess
from pathlib import Path

from adelic.storage.version import VERSION
from adelic.storage.workers import cores


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python, adelic and the packages named.

    >>> sorted(versions("numpy"))
    ['adelic', 'numpy', 'python']
    """
    found = {"adelic": VERSION, "python": platform.python_version()}
    return found | {package: importlib.metadata.version(package) for package in packages}


def machine() -> str:
    """Return a description of this machine: the processor's name and the number of cores.

    >>> "core" in machine()
    True
    """
    count = cores()
    return f"{_processor()}, {count} core{'s' if count != 1 else ''}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def source_commit() -> str | None:
    """Return the commit of the source tree that this package runs from, with "+" if it was changed, or None."""
    here = Path(__file__).parent.parent
    # Installed, as in a .venv, it may lie in a repository of something else: ls-files fails, which does not have it.
    asked = (
        ["ls-files", "--error-unmatch", "--", __file__],
        ["rev-parse", "HEAD"],
        ["status", "--porcelain", "--untracked-files=no", "--", str(here)],
    )
    try:
        _, commit, changes = (
            subprocess.run(["git", "-C", str(here), *args], capture_output=True, text=True, check=True).stdout.strip()
            for args in asked
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit + ("+" if changes else "")
