"""What is compiled is said, once, and kept where it can be."""

import io
import logging

import pytest

pytest.importorskip("numba")
from numba import config
from numba.core import caching

from adelic.numbers import kernels


def compile_one(module):
    def successor(x):
        return x + 1

    successor.__module__ = module
    kernels.njit(successor)(1)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_compiling_is_said_once(monkeypatch, caplog):
    said = []
    monkeypatch.setattr(kernels._saying, "is_said", False)
    with caplog.at_level(logging.INFO, "adelic"):
        compile_one("another")
        said.append(len(caplog.records))
        compile_one("adelic.one")
        compile_one("adelic.two")
    assert said == [0]
    assert caplog.messages == ["compiling for this processor, once: some seconds"]
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(kernels._saying, "is_said", False)
    compile_one("adelic.one")
    compile_one("adelic.two")
    assert terminal.getvalue() == "adelic: compiling for this processor, once: some seconds\n"


def test_where_no_folder_can_be_written_it_compiles_all_the_same(monkeypatch):
    """As in a container of another user: numba raised an error when the module was imported."""
    monkeypatch.setattr(config, "CACHE_DIR", "")
    for locator in (caching.InTreeCacheLocator, caching.UserWideCacheLocator):
        monkeypatch.setattr(locator, "from_function", classmethod(lambda cls, function, file: None))
    with pytest.raises(RuntimeError, match="no locator"):
        kernels.njit(cache=True)(compile_one)
    kernels._keep_somewhere()
    kernels.njit(cache=True)(compile_one)
    kernels._folders.pop().cleanup()
