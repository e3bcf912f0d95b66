"""What a terminal of 80 columns, a pipe, and a command that is mistyped get."""

import json
import os
import re
import struct
import subprocess
import sys
from dataclasses import replace

import pytest

from adelic.cli.progress import progress_bar
from adelic.cli.tables import print_table
from adelic_lab import run

WORDS = re.compile(r"[^\s│┃]+")


def words_of(text):
    return set(WORDS.findall(text))


@pytest.mark.parametrize("width", [200, 100, 80, 60, 20, 1])
def test_no_width_breaks_a_word(capsys, width):
    columns = ("task", "model", "rate", "best trivial rule", "published")
    rows = [("schubert-4 (corrected, orbits)", "AOE (one-hot-digits)", "94.44 ± 1.08", "97.15 (length)", "paper 87.89")]
    print_table(columns, rows, needed=columns[:3], names=2, width=width)
    table, _, note = capsys.readouterr().out.partition("not shown")
    frame = {line for line in table.splitlines() if line[0] in "┏┡└"}
    assert len(set(map(len, table.splitlines()))) == 1
    assert len(frame) == 3
    if width >= 60:
        assert max(map(len, table.splitlines())) <= width
    absent = {column for column in columns[3:] if column in " ".join(note.split())}
    shown = [i for i, column in enumerate(columns) if column not in absent]
    assert words_of(table) - {"┡", "┏"} >= {word for i in shown for word in rows[0][i].split()}
    assert "94.44 ± 1.08" in table
    assert bool(absent) == (width <= 60)


def in_a_terminal(columns, *arguments, cwd):
    """Return what a command writes to a terminal that is so wide."""
    fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "adelic", *arguments]
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, cwd=cwd, env=environment | {"TERM": "dumb"}
    ) as running:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # Linux says so that the other end is closed
            pass
    os.close(ours)
    assert running.returncode == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_a_label_that_is_listed_on_80_columns_can_be_shown(tiny_config, tmp_path, works, monkeypatch):
    config = tiny_config("adelic", epochs=1)
    run(config, tmp_path / "runs" / config.label, device="cpu")
    listed = in_a_terminal(80, "runs", "list", cwd=tmp_path)
    assert max(map(len, listed.splitlines())) <= 80
    (label,) = [word for word in WORDS.findall(listed) if word.startswith("schubert-3-")]
    monkeypatch.chdir(tmp_path)
    assert config.label == label
    assert works("runs", "show", label).startswith(f"runs/{label}: finished")
    figures, _, _ = in_a_terminal(80, "runs", "show", label, cwd=tmp_path).partition("\nseed = ")
    assert max(map(len, figures.splitlines())) <= 80
    assert {"balanced", "look-up", "validation", "best"} <= words_of(figures)


@pytest.mark.long
@pytest.mark.parametrize("task", ["schubert", "rsk"])
def test_a_report_on_80_columns_tells_runs_apart(tiny_config, tmp_path, task):
    """Three runs of one row that differ in form, in epochs, and in a setting that has no column."""
    first = tiny_config("adelic", task=task, n=3, epochs=1)
    others = [
        replace(first, model=replace(first.model, features="characters", projection="linear")),
        tiny_config("adelic", task=task, n=3, epochs=2),
        tiny_config("adelic", task=task, n=3, epochs=1, dropout=0.3),
    ]
    for config in (first, *others):
        run(config, tmp_path / "runs" / config.label, device="cpu")
    shown = in_a_terminal(80, "report", "--runs-dir", "runs", cwd=tmp_path)
    lines = [line for line in shown.splitlines() if line[:1] == "│"]
    assert max(map(len, lines)) <= 80
    said = {word.strip(",") for word in words_of("\n".join(lines))}
    assert {"(characters)", "(digits)", "dropout=0.3", "1", "epoch", "2", "epochs"} <= said


def loaded_by(*lines, cwd):
    """Return what each command line says in a process that runs them all, and the modules loaded after each."""
    code = f"""
import contextlib, io, json, sys
from adelic.cli import main
found = []
for words in {[list(words) for words in lines]!r}:
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        with contextlib.suppress(SystemExit):
            main(words)
    found.append((said.getvalue(), list(sys.modules)))
print(json.dumps(found))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, check=True)
    return json.loads(done.stdout)


def test_lists_of_runs_and_mistakes_load_no_torch(tiny_config, tmp_path):
    config = tiny_config(epochs=1)
    folder = tmp_path / "runs" / "mine"
    run(config, folder, device="cpu")
    for name in ("DONE", "result.json"):
        (folder / name).unlink()  # so that its checkpoint is read
    lines = (
        (["runs", "list"], "mine"),
        (["runs", "list", "--searches"], "there are no searches in runs"),
        (["runs", "show", "mine"], "unfinished|epoch 1 of 1"),
        (["runs", "show", "nine"], "did you mean 'mine'"),
        (["rusn", "list"], "did you mean 'runs'"),
        (["runs", "lsit"], 'Did you mean "list"'),
        (["train", "shubert"], "did you mean 'schubert'"),
        (["train", "schubert", "--epoch", "3"], "Did you mean --epochs"),
        (["train", "schubert", "--recipe", "quik"], "did you mean 'quick'"),
        (["train", "schubert", "--n", "4", "--embedding", "lerned"], "did you mean 'learned'"),
        (["train", "gcd", "--embedding", "fonne"], "did you mean 'fone'"),
        (["reproduce", "schubert-44"], "did you mean 'schubert-4'"),
        (["reproduce", "schubert-4", "--embeddings", "adelic,lerned"], "did you mean 'learned'"),
        (["reproduce", "number-theory", "gdc"], "did you mean 'gcd'"),
        (["reproduce", "arithmetic", "--solvers", "fonne"], "did you mean 'fone'"),
        (["report", "--tabel"], "Did you mean"),
        (["data", "list", "--json"], '"schubert"'),
    )
    found = loaded_by(*(arguments for arguments, _ in lines), cwd=tmp_path)
    for (arguments, said), (text, modules) in zip(lines, found, strict=True):
        assert re.search(said, text), arguments
        assert not {"torch", "scipy", "sklearn", "pyarrow", "matplotlib"} & set(modules), arguments


@pytest.mark.skipif(os.name == "nt", reason="Windows has other errors of pipes")
@pytest.mark.parametrize("arguments", [["--help"], ["encode", "1"], ["data", "list"]], ids=str)
def test_output_that_nobody_reads_has_one_exit_code(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "adelic", *arguments], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_without_a_terminal_each_epoch_has_its_line_when_it_is_done(tiny_config, tmp_path, capsys):
    folder, told = tmp_path / "run", []

    def between(done, total, text):
        progress(done, total, text)
        told.append(len(capsys.readouterr().err.splitlines()))

    with progress_bar("mine") as progress:
        run(tiny_config(epochs=3), folder, device="cpu", progress=between)
    steps = len(told) // 3
    assert told == [*[0] * (steps - 1), 1] * 3  # not when the next epoch begins


def test_without_a_terminal_a_long_epoch_has_a_line_after_ten_seconds_and_then_one_a_minute(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("adelic.cli.progress.time.monotonic", lambda: now[0])
    with progress_bar("mine") as progress:
        for step in range(1, 131):
            now[0] += 1
            progress(step, 260, "epoch 1/2")
        progress(130, 260, "epoch 1/2, validation 50.00 %")
        progress(131, 260, "epoch 2/2, last validation 50.00 %")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "mine · epoch 1/2 · 10 of 260",
        "mine · epoch 1/2 · 70 of 260",
        "mine · epoch 1/2 · 130 of 260",
        "mine · epoch 1/2, validation 50.00 %",
    ]
