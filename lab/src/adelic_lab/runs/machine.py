"""What training takes of the machine: settings of glibc's allocator on the CPU, and room for several processes.

By default glibc gives large blocks back to the kernel as soon as they are freed, and gets them again, zeroed page by
page, for the next operation: up to half of the time of a training step. The settings keep freed memory.
"""

import ctypes
import os

import psutil

from adelic.errors import ConfigurationError
from adelic.storage.checks import GIBIBYTE
from adelic.storage.workers import cores

SWITCH = "ADELIC_ALLOCATOR"
SETTINGS = {  # name in the environment: number in malloc.h, value
    "mmap_max": (-4, 0),  # large blocks come from the heap, too
    "trim_threshold": (-1, -1),  # the heap's free end is never given back
    "top_pad": (-2, 256 << 20),  # the heap grows by at least 256 MiB
}
_PROCESSES_A_CORE = 4
_PROCESS_BYTES = GIBIBYTE // 2
"""What a process takes before it has any data: PyTorch and what belongs to it."""


def keep_freed_memory() -> bool:
    """Have glibc keep this process's freed memory for the next operation; return whether it does.

    Nothing is done with another C library, or where ADELIC_ALLOCATOR is off. A setting that the environment has already
    (MALLOC_TOP_PAD_, or GLIBC_TUNABLES) is left alone. It is for processes that train and belong to this package: those
    of its commands and their workers. No library call changes the process of its caller.

    >>> keep_freed_memory() in (True, False)
    True
    """
    # CDLL(None) is what the process has loaded, its C library included; Windows has no such handle.
    libc = None if os.name == "nt" else ctypes.CDLL(None)
    if os.environ.get(SWITCH) == "off" or not hasattr(libc, "gnu_get_libc_version"):
        return False
    assert libc is not None
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    for name, (parameter, value) in SETTINGS.items():
        if f"MALLOC_{name.upper()}_" not in os.environ and f"glibc.malloc.{name}=" not in tunables:
            libc.mallopt(parameter, value)
    return True


def check_processes(devices: int) -> None:
    """Raise unless this machine is large enough for as many processes with PyTorch, each for a device.

    >>> check_processes(1)
    >>> check_processes(10**6)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: devices=1000000 need about 500,000.0 GiB of memory and as many cores; this machine
    has ... GiB free and ... cores: devices=... at most
    """
    free = psutil.virtual_memory().available
    most = max(1, min(_PROCESSES_A_CORE * cores(), free // _PROCESS_BYTES))
    if devices > most:
        raise ConfigurationError(
            f"devices={devices} need about {devices * _PROCESS_BYTES / GIBIBYTE:,.1f} GiB of memory and as many cores; "
            f"this machine has {free / GIBIBYTE:,.1f} GiB free and {cores()} cores: devices={most} at most"
        )
