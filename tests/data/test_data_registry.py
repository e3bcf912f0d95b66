"""Tasks of other packages are found by entry points, and work as ours do."""

import re
from pathlib import Path

import pytest

DRAWN = """
from dataclasses import replace
from adelic.number_theory import TASKS as THEIRS
DRAWN = {"schubert": replace(THEIRS["gcd"], name="schubert")}
"""
PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture
def adelic_with(tmp_path, forked):
    """Return a function that runs `adelic` beside a package with the task of the contributors' page.

    It returns the status and the two outputs.
    """

    def run(*arguments, name="parity", value="mine.tasks:TASKS", group="adelic.tasks", more=""):
        (code,) = re.findall(r"```python\n# mine/tasks.py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        for folder, file, text in (
            ("mine", "__init__.py", ""),
            ("mine", "tasks.py", code.replace('name="parity"', f'name="{name}"') + more),
            ("mine-1.0.dist-info", "METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n"),
            ("mine-1.0.dist-info", "entry_points.txt", f"[{group}]\nmine = {value}\n"),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / file).write_text(text, encoding="utf-8")
        code = "import sys\nsys.path.insert(0, str(folder))\nfrom adelic.cli import main\nmain(words)"
        process = forked(code, tmp_path, words=list(arguments))
        out, err = process.communicate()
        return process.returncode, out, err

    return run


def test_the_task_of_the_contributors_page_is_trained_on(adelic_with):
    status, out, err = adelic_with(
        "train", "parity", "--n", "10", "--recipe", "quick", "--epochs", "1", "--device", "cpu"
    )
    assert status == 0, err
    assert out.startswith("parity-10 adelic: test accuracy")


def test_it_is_listed_beside_ours(adelic_with):
    _, listed, _ = adelic_with("data", "list")
    assert "parity" in listed
    assert "schubert" in listed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": "mine.nothing:TASKS"}, "the tasks 'mine' of mine.nothing:TASKS cannot be loaded"),
        ({"value": "mine.tasks:NOTHING"}, "the tasks 'mine' of mine.tasks:NOTHING cannot be loaded"),
        ({"more": "TASKS ="}, "cannot be loaded (SyntaxError: invalid syntax (tasks.py, line "),
        ({"more": "raise SystemExit(3)"}, "cannot be loaded (SystemExit: 3)"),
        ({"more": "raise ValueError('of two\\nlines')"}, "cannot be loaded (ValueError: of two)"),
        (
            {"more": "TASKS = [TASK]"},
            "have the type list, and must be a mapping from names to tasks, as {TASK.name: TASK}",
        ),
        ({"more": "TASKS = {'parity': 3}"}, "'parity' has the type int, and must be a Task; correct"),
        ({"more": "TASKS = {'odd': TASK}"}, "the task 'parity' has the name 'odd'"),
        (
            {"group": "adelic.drawn_tasks"},
            "'parity' has the type Task, and must be a SampledTask (tasks of the two kinds",
        ),
        ({"name": "gcd"}, "has a task 'gcd', and so has "),
        ({"name": "schubert"}, "has a task 'schubert', and so has "),
    ],
)
def test_packages_that_cannot_be_used_are_named(adelic_with, changes, words):
    status, out, err = adelic_with("data", "list", **changes)
    assert (status, out) == (2, "")
    (line,) = err.splitlines()
    assert words in line
    assert "the package 'mine'" in line


def test_a_drawn_task_hides_no_stored_one(adelic_with):
    package = {"more": DRAWN, "value": "mine.tasks:DRAWN", "group": "adelic.drawn_tasks"}
    status, out, err = adelic_with("train", "schubert", "--n", "3", "--recipe", "quick", **package)
    assert (status, out) == (2, "")
    assert "mine.tasks:DRAWN of the package 'mine' has a task 'schubert', and so has adelic.acd:TASKS of the" in err


@pytest.mark.parametrize("command", ["info", "build", "verify", "export"])
def test_a_drawn_task_has_no_stored_rows(adelic, command):
    options = ["--n", "4", *(["--format", "csv", "--output", "x"] if command == "export" else [])]
    outcome = adelic("data", command, "gcd", *(options if command != "info" else []))
    assert outcome.status == 2
    assert "adelic: 'gcd' is a drawn task: its examples are not stored; see `adelic train gcd --help`" in outcome.err


def test_a_source_tree_that_is_not_installed_says_so(forked, tmp_path):
    """Its entry points are not found, so no task is."""
    code = """
from importlib.metadata import EntryPoints
from adelic.data import registry
registry.entry_points = lambda **group: EntryPoints()
registry._of_all_packages.cache_clear()
from adelic.cli import main
main(["data", "list"])
"""
    process = forked(code, tmp_path)
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert err == (
        "adelic: no tasks are found, because adelic runs from its source without being installed; pip install . "
        "installs it\n"
    )
