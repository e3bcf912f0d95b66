"""The attacks of fuzz/attacks.py: each holds over a few cases, and notices a defect that is planted."""

import contextlib
import functools
import importlib.util
import os
import random
import re
import signal
import sys
import threading
from pathlib import Path

import jinja2
import numpy as np
import pytest

from adelic import RedundantResidueCode
from adelic.cli import numbers as number_commands
from adelic.integrations.transformers import patching
from adelic.nn import placewise
from adelic.numbers import finite
from adelic.numbers.columns import lossy as column_loss
from adelic.numbers.decoding import reconstruction
from adelic.numbers.local import functions

pytest.importorskip("flint")
if importlib.util.find_spec("cypari") is None:  # its import would replace the handlers of signals
    pytest.skip("cypari is not installed", allow_module_level=True)

FUZZ = Path(__file__).parents[2] / "fuzz"
FEW = {
    "flint": 12,
    "algebraic": 6,
    "local": 20,
    "code": 8,
    "threads": 2,
    "text": 20,
    "lossy": 20,
    "commands": 12,
    "digits": 60,
    "configurations": 5,
    "pages": 3,
    "files": 6,
    "labels": 2,
    "searches": 3,
    "published": 3,
    "determinism": 1,
}
LONG = ("published", "searches", "configurations")
MANY = {
    "flint": 600,
    "algebraic": 300,
    "local": 3000,
    "code": 500,
    "threads": 20,
    "text": 1000,
    "lossy": 1000,
    "commands": 1000,
    "digits": 5000,
    "configurations": 300,
    "pages": 60,
    "files": 200,
    "labels": 200,
    "searches": 200,
    "published": 200,
    "determinism": 10,
    "kills": 8,
}
MOST = 200  # cases in which a planted defect has to show


@pytest.fixture(scope="module")
def attacks():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FUZZ))
        import attacks

        yield attacks
        for name in [name for name in sys.modules if name.partition(".")[0] in ("attacks", "targets")]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return the folder of an attack, where it finds what it has prepared."""
    return functools.cache(tmp_path_factory.mktemp)


@pytest.fixture
def failure(attacks, tmp_path):
    """Run an attack until it fails; return how."""

    def run(name, folder=tmp_path, cases=MOST):
        failures = []

        def failed(number, error):
            failures.append(error)
            return True

        attacks.run(name, range(cases), 0, folder, failed=failed)
        return failures[0] if failures else None

    return run


def held(attacks, name, cases, folder):
    def failed(number, error):
        raise error

    total = attacks.run(name, range(cases), 1, folder, failed=failed)
    assert total["cases"] == cases
    assert len(total) > 1  # it has counted what it checked


def test_all_are_tested(attacks):
    assert set(MANY) == set(attacks.ATTACKS) == set(FEW) | {"kills"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in FEW])
def test_a_few_cases(attacks, folders, name):
    held(attacks, name, FEW[name], folders(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_many_cases(attacks, folders, name):
    if name == "kills" and not hasattr(os, "fork"):
        pytest.skip("there are no forks")
    held(attacks, name, MANY[name], folders(name))


def test_flint_notices_a_wrong_digit(failure, monkeypatch):
    monkeypatch.setattr(finite, "add", finite.multiply)
    assert "wrong digits" in str(failure("flint"))


def test_local_notices_a_wrong_digit(failure, monkeypatch):
    monkeypatch.setattr(finite, "add", finite.multiply)
    assert "is not" in str(failure("local"))


def test_local_notices_digits_that_are_not_known(failure, monkeypatch):
    root = functions.square_root
    monkeypatch.setattr(functions, "square_root", lambda x, w: (root(x, w)[0], np.full(x.known.shape[0], w.precision)))
    assert "is not" in str(failure("local", cases=2 * MOST))


def test_flint_notices_a_wrong_refusal(failure, monkeypatch):
    monkeypatch.setattr(reconstruction, "decode", lambda *_: None)
    assert "is refused" in str(failure("flint"))


@pytest.mark.parametrize("defect", ["_is_short", "_are_longer_than_float32", "exact_below", "_LEADING_ZERO"])
def test_lossy_notices_a_column_that_is_not_told_of(failure, monkeypatch, defect):
    blind = {"_is_short": lambda v, _: v == v, "_are_longer_than_float32": lambda v: v != v}
    blind |= {"exact_below": lambda _: np.inf, "_LEADING_ZERO": re.compile("never")}
    monkeypatch.setattr(column_loss, defect, blind[defect])
    assert "without a word" in str(failure("lossy"))


def test_lossy_notices_a_clean_column_that_is_told_of(failure, monkeypatch):
    monkeypatch.setattr(column_loss, "_is_short", lambda v, _: v != v)
    assert "whose numbers are what they were" in str(failure("lossy"))


def test_algebraic_notices_a_wrong_digit(failure, monkeypatch):
    monkeypatch.setattr(finite, "subtract", finite.add)
    assert "wrong digits" in str(failure("algebraic"))


def test_code_notices_a_wrong_number(failure, monkeypatch):
    monkeypatch.setattr(RedundantResidueCode, "_nearest", lambda *_: (1, 1))
    assert "is read as" in str(failure("code"))


def test_threads_notices_what_is_shared(failure, monkeypatch):
    encode = finite.encode

    def in_one_buffer(numbers, window, out, **options):
        encode(numbers, window, out, **options)
        if threading.current_thread() is not threading.main_thread():
            out[:] = 0

    monkeypatch.setattr(finite, "encode", in_one_buffer)
    assert "not equal" in str(failure("threads"))


def test_text_notices_another_number(failure, monkeypatch):
    monkeypatch.setattr(number_commands, "number_text", lambda _: "7")
    assert "read back as 7" in str(failure("text"))


def test_digits_notice_a_check_that_is_left_out(failure, monkeypatch):
    monkeypatch.setattr(placewise, "as_digits", lambda digits, *_, **__: digits.long())
    assert "are digits" in str(failure("digits"))


@pytest.mark.long
def test_configurations_notice_an_error_that_names_no_file(failure, folders, monkeypatch):
    monkeypatch.setattr(patching, "_errors_of", lambda _: contextlib.nullcontext())
    assert failure("configurations", folders("configurations"), cases=20) is not None


def test_commands_notice_a_raw_exception(failure, monkeypatch):
    def broken(*_):
        raise KeyError("broken")

    monkeypatch.setattr(number_commands, "refuse_options", broken)
    assert "raises KeyError" in str(failure("commands"))


def test_pages_notice_an_injection(failure, monkeypatch):
    environment = jinja2.Environment
    monkeypatch.setattr(jinja2, "Environment", lambda **options: environment(**options | {"autoescape": False}))
    assert failure("pages") is not None


def test_files_notice_what_is_not_checked(attacks, failure, monkeypatch):
    attacks.attack("files")
    files = sys.modules["targets.files"]
    monkeypatch.setattr(files, "KINDS", {"finished": (files.KINDS["finished"][0], ("result.json",))})
    monkeypatch.setattr(importlib.import_module("adelic_lab.runs.folders"), "check_sum", lambda *_: None)
    assert "without an error" in str(failure("files"))


def test_labels_notice_a_path(failure, monkeypatch):
    monkeypatch.setattr("adelic.data.sources.file_name", lambda text: text)
    monkeypatch.setattr("adelic_lab.config.experiment.file_name", lambda text, end: text + end)
    assert "file names lack" in str(failure("labels"))


@pytest.mark.long
def test_searches_notice_what_is_not_checked(failure, monkeypatch):
    monkeypatch.setattr("adelic_lab.search.studies.verify", lambda study: None)
    assert failure("searches") is not None  # no error, or one of Python's: the cases decide which comes first


def test_published_notices_a_raw_exception(failure, monkeypatch):
    def broken(*_):
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "broken")

    monkeypatch.setattr("adelic.acd.published._read", broken)
    assert isinstance(failure("published"), UnicodeDecodeError)


def test_determinism_notices_a_seed_that_is_not_fixed(failure, monkeypatch):
    monkeypatch.setattr("adelic_lab.train.loop.stream_seed", lambda *_: random.getrandbits(31))
    assert "second time" in str(failure("determinism"))


@pytest.mark.slow
def test_kills_notice_lost_work(attacks, failure, monkeypatch):
    attacks.attack("kills")
    module = importlib.import_module("adelic_lab.models.network")
    load = module.load_checkpoint

    def forgetful(path, model, optimizer):
        found = load(path, model, optimizer)
        for parameter in model.parameters():
            parameter.data.zero_()
        return found

    monkeypatch.setattr(module, "load_checkpoint", forgetful)
    assert "ends otherwise" in str(failure("kills", cases=40))


def test_the_command_line(attacks, monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["attacks.py", *arguments])
        return attacks.main()

    assert call("code", "algebraic", "--cases", "2") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("code: held; 2 cases, ")
    assert second.startswith("algebraic: held; 2 cases, ")
    monkeypatch.setattr(RedundantResidueCode, "_nearest", lambda *_: (1, 1))
    assert call("code", "--seconds", "60") == 1
    said = capsys.readouterr()
    assert "1 FAILURES" in said.out
    (case,) = [line.rpartition(" ")[2] for line in said.err.splitlines() if line.startswith("FAILED")]
    assert f"FAILED; this repeats it: python fuzz/attacks.py code --seed 0 --case {case}" in said.err
    assert call("code", "--case", case) == 1
    with pytest.raises(SystemExit):
        call("cod")
    assert "unknown attack 'cod'" in capsys.readouterr().err


def hang(case):
    while True:
        pass


def test_a_case_that_hangs_fails(attacks, monkeypatch, tmp_path):
    if not hasattr(signal, "setitimer"):
        pytest.skip("there are no alarms")
    monkeypatch.setattr(attacks, "SECONDS_A_CASE", 0.05)
    monkeypatch.setattr(attacks, "attack", lambda _: hang)
    errors = []
    attacks.run("flint", [0], 0, tmp_path, failed=lambda number, error: errors.append(error) or True)
    assert isinstance(errors[0], TimeoutError)
