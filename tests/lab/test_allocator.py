import json
import os
import platform
import subprocess
import sys

import pytest

GLIBC = """
import ctypes, json, sys
from adelic_lab.runs.machine import keep_freed_memory

class MallInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]

def allocator():
    libc = ctypes.CDLL(None)
    libc.mallinfo.restype = MallInfo
    return libc.mallinfo()
"""
# What glibc says of a block of 64 MiB: whether it has a mapping of its own, the heap's MiB then and afterwards.
BLOCK = """
kept = keep_freed_memory()
before = allocator()
block = bytearray(1 << 26)
during = allocator()
del block
print(json.dumps([kept, during.hblks > before.hblks, during.arena >> 20, allocator().arena >> 20]))
"""
OWN = ("ADELIC_ALLOCATOR", "GLIBC_TUNABLES", "MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_")
glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc")


def python(program, *arguments, **environment):
    plain = {name: value for name, value in os.environ.items() if name not in OWN}
    command = [sys.executable, "-W", "error", "-c", GLIBC + program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=plain | environment)


def seen(**environment):
    return json.loads(python(BLOCK, **environment).stdout)


@glibc
def test_large_blocks_come_from_the_heap_and_stay_there():
    kept, mapped, during, afterwards = seen()
    assert kept
    assert not mapped
    assert during >= 256
    assert afterwards == during


@glibc
def test_it_can_be_turned_off():
    kept, mapped, during, _ = seen(ADELIC_ALLOCATOR="off")
    assert not kept
    assert mapped
    assert during < 64


@glibc
@pytest.mark.parametrize(
    "environment", [{"MALLOC_TOP_PAD_": "4096"}, {"GLIBC_TUNABLES": "glibc.malloc.top_pad=4096"}], ids=str
)
def test_the_users_own_setting_stays(environment):
    kept, mapped, during, afterwards = seen(**environment)
    assert kept
    assert not mapped
    assert 64 <= during < 256
    assert afterwards == during


@pytest.mark.long
@glibc
@pytest.mark.parametrize(
    "arguments",
    [["train", "schubert", "--devices", "0"], ["reproduce", "nothing"], ["tune", "nothing"]],
    ids=lambda arguments: arguments[0],
)
def test_the_commands_that_train_have_it(arguments):
    """They end with an error here, since what they do first suffices."""
    done = python(
        "from adelic.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: before = allocator(); block = bytearray(1 << 26); print(allocator().hblks > before.hblks)",
        *arguments,
    )
    assert (done.returncode, done.stdout) == (2, "False\n"), done.stderr
