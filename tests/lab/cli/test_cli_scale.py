"""`adelic reproduce --budget` and `--engine`, and the options of several devices."""

import itertools
import shlex
import subprocess
import sys
from types import SimpleNamespace

import pytest

from adelic.cli.options import duration
from adelic_lab.runs import engines

REPRODUCE = ["reproduce", "schubert-4", "--embeddings", "learned", "--seeds", "0,1", "--recipe", "quick"]


@pytest.mark.parametrize(
    ("text", "seconds"), [("25m", 1500), ("90s", 90), ("1h30m", 5400), ("2h", 7200), ("1h1m1s", 3661), (" 5m ", 300)]
)
def test_durations(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["25", "m", "", "0s", "-5m", "1.5h", "30m1h", "5 m", "٣m", "1d", "9999999s"])
def test_what_is_no_duration(refused, text):
    line = refused(*REPRODUCE, "--budget", text)
    assert f"{text!r} is not a time span; write 25m, 90s or 1h30m" in line


def test_a_budget_that_is_used_up(works, folder, monkeypatch):
    """By a clock that each look puts forward, so that the first of 30 epochs is begun, and not done."""
    clock = itertools.count(0, 0.2)
    monkeypatch.setattr(engines, "time", SimpleNamespace(time=lambda: next(clock)))
    command = [*REPRODUCE, "--device", "cpu", "--budget", "1s"]
    out = works(*command).splitlines()
    assert out[0] == "The budget is used up: 0 of 2 runs are done. These remain:"
    assert [line.split()[1:] for line in out[1:3]] == [["0", "of", "30", "epochs", "done"]] * 2
    assert out[3:] == [f"Go on with: {shlex.join(['adelic', *command])}"]
    assert not list(folder.rglob("DONE"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*REPRODUCE, "--engine", "rye"], '"embedded", "ray"'),
        ([*REPRODUCE, "--address", "auto"], "belong to --engine ray"),
        ([*REPRODUCE, "--cpus-per-run", "2"], "belong to --engine ray"),
        ([*REPRODUCE, "--engine", "ray", "--cpus-per-run", "nan"], "--cpus-per-run nan"),
        ([*REPRODUCE, "--engine", "ray", "--gpus-per-run", "-1"], "--gpus-per-run -1"),
        ([*REPRODUCE, "--engine", "ray", "--device", "cuda"], "--gpus-per-run"),
        ([*REPRODUCE, "--engine", "ray", "--address", "127.0.0.1:1"], "no Ray cluster answers at --address 127.0"),
        (["train", "schubert", "--recipe", "quick", "--node-rank", "1"], "--node-rank 1"),
        (["train", "schubert", "--recipe", "quick", "--devices", "2", "--device", "cuda:1"], "cuda:1"),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_errors(refused, arguments, words):
    assert words in refused(*arguments)


def test_too_many_devices_are_refused_before_anything_is_loaded():
    program = "import sys; from adelic import cli\ntry: cli.main(sys.argv[1:])\nfinally: print('torch' in sys.modules)"
    arguments = ("train", "schubert", "--devices", "4000")
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "False\n")
    assert done.stderr.startswith("adelic: --devices 4000 need about 2,000.0 GiB of memory")
