"""The checks of the fuzzers in fuzz/, over their seeds and random changes of them."""

import importlib.util
import random
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[2] / "fuzz"
LEAST_ACCEPTED = {"parse": 8, "decode": 5}


@pytest.fixture(params=["parse", "decode"])
def fuzzer(request, monkeypatch):
    monkeypatch.syspath_prepend(str(FUZZ))
    spec = importlib.util.spec_from_file_location(f"fuzz_{request.param}", FUZZ / f"{request.param}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return request.param, module


def seeds(name):
    return [path.read_bytes() for path in sorted((FUZZ / "seeds" / name).iterdir())]


def test_seeds(fuzzer):
    name, module = fuzzer
    assert sum(map(module.check, seeds(name))) >= LEAST_ACCEPTED[name]


def test_random_changes(fuzzer):
    name, module = fuzzer
    source = random.Random(0)
    for seed in seeds(name) * 15:
        data = bytearray(seed)
        for _ in range(source.randint(1, 4)):
            at = source.randint(0, len(data))
            data[at : at + source.randint(0, 1)] = source.choice([b"", source.randbytes(1), b"1", b"e", b"/"])
        module.check(bytes(data))


def test_a_wrong_answer_is_noticed(fuzzer, monkeypatch):
    name, module = fuzzer
    if name == "parse":
        monkeypatch.setattr(module.rationals, "_parse_integer", lambda digits: 7)
        data = b"12"
    else:
        decoded = module._decoded
        monkeypatch.setattr(module, "_decoded", lambda array: decoded(array) + 1)
        data = seeds("decode")[0]
    with pytest.raises(AssertionError):
        module.check(data)
