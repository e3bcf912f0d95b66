import os
import platform
import subprocess
import sys

import pytest

from adelic.cli.allocator import SETTINGS, environment_with_settings

PROGRAM = "import os, sys; from adelic.cli.allocator import *; n = len(sys.argv); restart_with_settings(sys.argv[1:])"
SHOW = "print([os.environ.get(k) for k in ('MALLOC_TOP_PAD_', 'MALLOC_MMAP_MAX_', GUARD)], sys.argv[1:])"


def started(*arguments, **environment):
    """Return what a process that asks for the settings sees in the end."""
    plain = {k: v for k, v in os.environ.items() if k not in SETTINGS and k not in ("ADELIC_ALLOCATOR", "LD_PRELOAD")}
    command = [sys.executable, "-W", "error", "-c", f"{PROGRAM}; {SHOW}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=plain | environment)
    return done.stdout.strip()


glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc")


@glibc
def test_a_training_command_starts_once_more_with_the_settings():
    arguments = ["train", "schubert", "--n", "4", "a b"]
    assert started(*arguments) == f"['268435456', '0', 'set'] {arguments}"


@glibc
def test_the_users_own_setting_stays():
    assert started("reproduce", MALLOC_TOP_PAD_="17").startswith("['17', '0', 'set']")


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["encode", "train"], {}),
        (["train", "--no-allocator-settings"], {}),
        (["train", "--help"], {}),
        (["train"], {"ADELIC_ALLOCATOR": "off"}),
    ],
)
def test_others_run_as_they_are(arguments, environment):
    assert started(*arguments, **environment).startswith("[None, None, ")


@pytest.mark.parametrize(
    ("system", "libc", "environment"),
    [
        ("Darwin", "", {}),
        ("Windows", "", {}),
        ("Linux", "", {}),
        ("Linux", "glibc", {"LD_PRELOAD": "libjemalloc.so"}),
        ("Linux", "glibc", {"ADELIC_ALLOCATOR": "set"}),
    ],
)
def test_only_where_glibc_allocates(system, libc, environment):
    assert environment_with_settings(["train"], environment, system=system, libc=libc) is None
    assert environment_with_settings(["train"], {}, system="Linux", libc="glibc") is not None
