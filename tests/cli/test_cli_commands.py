import importlib.metadata
import inspect
import os
import platform
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import adelic as package
from adelic.cli import app
from adelic.cli.options import flags_of


def walk(parser, path=()):
    """Yield every command's parser with its words."""
    yield path, parser
    for name in [name for name in parser if not name.startswith("-")]:
        yield from walk(parser[name], (*path, name))


ALL = dict(walk(app()))
IDS = {"argvalues": list(ALL), "ids": lambda path: " ".join(path) or "adelic"}


def examples(text):
    """Command lines in a help text, split at pipes."""
    body = text.split("╭─")[0].split("Usage:")[1].split("\n", 1)[1]
    found = re.findall(r"(?:^|  |\| )(adelic [a-z][^\n|]*)", body, flags=re.MULTILINE)
    return [example.strip() for example in found]


def test_all_commands_are_there():
    assert {"encode", "decode", "space", "train", "reproduce", "report"} <= {path[0] for path in ALL if path}
    parts = {path[1] for path in ALL if path[:1] == ("data",) and len(path) == 2}
    assert parts == {"audit", "build", "export", "info", "list", "verify"}


@pytest.mark.parametrize("path", **IDS)
def test_help_teaches_with_an_example(path, works):
    """It stands first, and paragraphs are few."""
    text = works(*path, "--help")
    assert any(example.startswith(shlex.join(["adelic", *path])) for example in examples(text)), text
    assert max(map(len, text.splitlines())) <= 110
    _, _, first, *others = text.partition("╭─")[0].strip().split("\n\n")
    assert examples(f"Usage:\n{first}")
    assert len(others) <= 6


@pytest.mark.parametrize("path", **IDS)
def test_the_examples_are_command_lines(path, works):
    for example in examples(works(*path, "--help")):
        words = shlex.split(example)[1:]
        app().parse_args(words, exit_on_error=False, print_error=False)  # raises where it does not understand


def test_the_page_of_commands_is_up_to_date():
    """Else `python docs/commands.py` writes it."""
    docs = Path(__file__).parents[2] / "docs"
    filled = runpy.run_path(str(docs / "commands.py"))["filled"]
    page = (docs / "reference" / "commands.md").read_text(encoding="utf-8")
    assert filled(page) == page
    assert set(re.findall(r"^\| `adelic (.*?)`", page, flags=re.MULTILINE)) == {" ".join(path) for path in ALL} - {
        "",
        "data",
        "runs",
    }


@pytest.mark.parametrize("path", [("train",), ("tune",), ("reproduce",)], ids=" ".join)
def test_long_helps_have_sections(path, works):
    """Each option stands in one."""
    _, *parts = re.split(r"^╭─ (\S[^\n]*?) ─+╮$", works(*path, "--help"), flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    assert {"Parameters", "Training (defaults: the recipe's)", "Other models"} <= sections.keys()
    listed = re.findall(r"^│ (--[\w-]+)", "".join(sections.values()), flags=re.MULTILINE)
    assert sorted(listed) == sorted(flags_of(ALL[path].default_command).values())


def test_short_help(works):
    assert works("-h") == works("--help")


def test_versions_are_those_of_a_bug_report(works):
    lines = works("--version").splitlines()
    assert lines[0] == f"adelic {package.__version__}"
    found = dict(line.split(" ", 1) for line in lines)
    assert found["python"].startswith(platform.python_version())
    assert found["platform"] == platform.platform()
    for library in ("numpy", "numba", "pyarrow", "torch"):
        assert found[library] == importlib.metadata.version(library)
    assert not {"pytest", "ruff", "adelic[torch]"} & set(found)


def test_a_missing_library_is_listed_where_it_is_needed(works, monkeypatch):
    monkeypatch.setattr(
        importlib.metadata,
        "requires",
        lambda name: ["numpy>=2", "nothing-there>=1", "adelic[torch]; extra == 'x'", 'none-such>=2; extra == "torch"'],
    )
    assert works("--version").splitlines()[3:] == [
        f"numpy {importlib.metadata.version('numpy')}",
        "nothing-there not installed",
    ]


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "adelic", "encode", "7/5", "--primes", "2"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("7/5\n  real  1.4\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["encod", "3"], "did you mean 'encode'"),
        (["data", "lst"], 'Did you mean "list"'),
        (["frobnicate"], "reproduce"),
        (["train", "shubert"], "did you mean 'schubert'"),
        (["train", "schubert", "--features", "digit"], "did you mean 'digits'"),
        (["train", "weaving", "--edition", "leeky"], "did you mean 'leaky'"),
        (["reproduce", "schubert4"], "did you mean 'schubert-4'"),
        (["data", "verify", "shubert"], "did you mean 'schubert'"),
        (["report", "--all-row"], "--all-rows"),
        (["--verion"], "--version"),
    ],
    ids=" ".join,
)
def test_what_is_unknown_is_named_and_the_nearest_suggested(refused, arguments, words):
    assert words in refused(*arguments)


@pytest.mark.parametrize("path", [(), ("data",)], ids=["adelic", "data"])
def test_a_group_without_a_command_shows_its_help(adelic, path):
    """Help that can be read: its own lines, not all in one."""
    outcome = adelic(*path)
    assert outcome.status in (0, 2)
    text = outcome.out + outcome.err
    assert len(text.splitlines()) > 8
    assert "╭─ Commands" in text


def test_nothing_is_left_to_a_traceback_in_a_process_of_its_own():
    code = "from adelic.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "encode", "1/0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "denominator zero" in done.stderr


def start(*arguments, shell="", environment=None, **streams):
    """Run a command line in a process of its own, with what a shell does to its streams."""
    code = "import sys; from adelic.cli import main; main(sys.argv[1:])"
    command = shlex.join([sys.executable, "-c", code, *arguments]) + f" {shell}"
    return subprocess.run(
        ["sh", "-c", command], env=os.environ | (environment or {}), timeout=600, check=False,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams,
    )  # fmt: skip


posix = pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")


@posix
def test_a_closed_standard_input():
    found = start("decode", shell="<&-")
    assert found.returncode == 2
    assert found.stderr.startswith(b"adelic: ")
    assert found.stderr.count(b"\n") == 1


@posix
@pytest.mark.parametrize("arguments", [["data", "list"], ["encode", "7/19"], ["--help"]], ids=" ".join)
def test_a_full_standard_output(arguments, tmp_path, make_device):
    make_device(tmp_path / "full", 7)
    found = start(*arguments, shell=f"> {tmp_path / 'full'}")
    assert found.returncode == 2
    assert found.stderr == b"adelic: cannot write to the standard output: No space left on device\n"


@posix
@pytest.mark.parametrize("arguments", [["data", "list"], ["encode", "7/19"], ["--help"]], ids=" ".join)
def test_a_standard_output_that_nobody_reads(arguments):
    """Whatever prints, click, Rich or the end of the program, it ends alike and without a word."""
    read, write = os.pipe()
    os.close(read)
    found = start(*arguments, stdout=write)
    os.close(write)
    assert (found.returncode, found.stderr) == (1, b"")


@pytest.mark.long
@posix
@pytest.mark.parametrize("shell", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(shell):
    found = start("data", "list", shell=shell)
    assert found.returncode == 0
    assert found.stderr == b""


@posix
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_an_encoding_that_lacks_a_sign(encoding):
    found = start("encode", "7/19", "--primes", "2", environment={"PYTHONIOENCODING": encoding})
    assert found.returncode == 0
    assert found.stderr == b""
    assert ("…" if encoding == "utf-8" else "\\u2026").encode() in found.stdout


@posix
def test_a_path_that_is_no_unicode(tmp_path):
    environment = {"PYTHONIOENCODING": "utf-8:strict", "PYTHONUTF8": "1"}
    command = ["data", "export", "schubert", "--n", "3", "--format", "csv", "--output", os.fsdecode(b"out\xff")]
    code = "import sys; from adelic.cli import main; main(sys.argv[1:])"
    found = subprocess.run(
        [sys.executable, "-c", code, *map(os.fsencode, command)],
        capture_output=True, cwd=tmp_path, env=os.environ | environment, timeout=600, check=False,
    )  # fmt: skip
    assert found.returncode == 0
    assert b"out\\udcff/train.csv: 62 examples" in found.stdout
    assert b"out\\udcff" in (tmp_path / os.fsdecode(b"out\xff") / "dataset.json").read_bytes()


def test_an_error_is_a_line_without_control_codes(refused):
    line = refused("train", "schubert", "--recipe", "evil\x1b[31m.toml")
    assert "\x1b" not in line
    assert "evil\\x1b[31m.toml" in line


def test_an_error_does_not_repeat_what_was_pasted(refused):
    line = refused("train", "schubert", "--recipe", "x" * 5000 + ".toml")
    assert line.endswith("name a recipe, or a file that `adelic tune` has written")
    assert len(line) <= 1000 + len("adelic: ")


def test_every_option_for_a_file_refuses_an_empty_name(refused):
    """It would be the working directory, or fail when all is done."""
    found = 0
    for path, parser in ALL.items():
        if inspect.isfunction(command := parser.default_command):
            keywords = inspect.signature(command).parameters.values()
            needed = [keyword.name for keyword in keywords if keyword.kind is keyword.POSITIONAL_ONLY]
            for keyword in [keyword for keyword in keywords if "pathlib" in repr(keyword.annotation)]:
                words = ["" if name == keyword.name else "x" for name in needed]
                words += [] if keyword.name in needed else [flags_of(command)[keyword.name], ""]
                for other in keywords:
                    if other.kind is other.KEYWORD_ONLY and other.default is other.empty and other is not keyword:
                        words += [flags_of(command)[other.name], "x"]
                assert "the name is empty" in refused(*path, *words)
                found += 1
    assert found > 20
