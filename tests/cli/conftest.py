import io
import sys
import warnings
from typing import NamedTuple

import pytest

from adelic.cli import main


class Outcome(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def adelic(capsys, monkeypatch):
    """Run a command line in this process; anything but a regular exit fails the test."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main sets it, the test's end puts it back

    def call(*arguments, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        assert isinstance(caught.value.code, int)
        return Outcome(caught.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def works(adelic):
    """Run a command line that succeeds; return what it prints."""

    def call(*arguments, stdin=""):
        outcome = adelic(*arguments, stdin=stdin)
        assert outcome.status == 0, outcome.err
        assert "Traceback" not in outcome.err
        return outcome.out

    return call


@pytest.fixture
def refused(adelic):
    """Run a command line that is the user's error; return the one line on stderr."""

    def call(*arguments, stdin=""):
        outcome = adelic(*arguments, stdin=stdin)
        assert outcome.status == 2, outcome
        assert outcome.out == ""
        assert "Traceback" not in outcome.err
        (line,) = outcome.err.splitlines()
        assert line.startswith("adelic: ")
        assert outcome.err == line + "\n"
        return line

    return call
