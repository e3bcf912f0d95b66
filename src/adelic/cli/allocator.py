"""Settings of glibc's allocator for training on the CPU, applied by starting the command once more.

By default glibc gives large blocks back to the kernel as soon as they are freed, and gets them again, zeroed page by
page, for the next operation: up to half of the time of a training step. The settings keep freed memory.
They can only be set before a process starts, hence the second start (`os.execve`: same process, same terminal).

Only the command line does this, never a library call. `ADELIC_ALLOCATOR=off` turns it off, and so does the command
line's --no-allocator-settings; a setting that the environment has already, or another allocator, is left alone. It
stands here and not in `adelic.training`, so that it runs before torch is loaded.
"""

import os
import platform
import sys
from collections.abc import Mapping, Sequence

COMMANDS = ("train", "reproduce", "tune")
FLAG = "--no-allocator-settings"
GUARD = "ADELIC_ALLOCATOR"
SETTINGS = {
    "MALLOC_MMAP_MAX_": "0",  # large blocks from the heap too
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),  # the heap's end is given back from so many free bytes on
    "MALLOC_TOP_PAD_": str(256 << 20),  # the heap grows by so many bytes at least
}


def environment_with_settings(
    arguments: Sequence[str], environment: Mapping[str, str], *, system: str | None = None, libc: str | None = None
) -> dict[str, str] | None:
    """Return the environment that a command is to be started again with, or None where it runs as it is.

    Args:
        arguments: of the command line, without the program.
        environment: of this process.
        system: the operating system, as `platform.system()` names it, which is the default.
        libc: the C library's name; found out if None.

    >>> environment_with_settings(["train", "schubert"], {}, system="Linux", libc="glibc")["MALLOC_MMAP_MAX_"]
    '0'
    >>> environment_with_settings(["encode", "7/5"], {}, system="Linux", libc="glibc") is None
    True
    """
    command = next((a for a in arguments if not a.startswith("-")), "")
    is_wanted = command in COMMANDS and FLAG not in arguments and not {"-h", "--help"} & set(arguments)
    if not is_wanted or environment.get(GUARD) or environment.get("LD_PRELOAD"):
        return None
    if (platform.system() if system is None else system) != "Linux":
        return None
    if (platform.libc_ver()[0] if libc is None else libc) != "glibc":
        return None
    return {**SETTINGS, **environment, GUARD: "set"}


def restart_with_settings(arguments: Sequence[str]) -> None:
    """Start this process's command line again with the settings, once; do nothing where they are not wanted.

    Args:
        arguments: of the command line, without the program.
    """
    environment = environment_with_settings(arguments, os.environ)
    if environment is not None and sys.executable:
        sys.stdout.flush()
        sys.stderr.flush()
        # orig_argv has the interpreter's own options, which argv lacks.
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
