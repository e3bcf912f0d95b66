"""`adelic explore`: what it writes, opens and refuses. The page itself is tested in tests/explore."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest


def start_of(page):
    """Return what a written page starts with."""
    found = re.search(r'id="start">(.*?)</script>', page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_a_page_is_written(works, folder):
    assert works("explore", "-22/7", "--output", "page.html", "--no-open") == "wrote page.html\n"
    start = start_of(folder / "page.html")
    assert (start["x"], start["y"], start["primes"], start["precision"]) == ("-22/7", "", "2, 3, 5, 7", "16")


def test_options_fill_in_the_fields(works, folder):
    options = ["--with", "-3/4", "--operation", "*", "--primes", "2,5", "--precision", "9", "--fractional-digits", "3"]
    works("explore", "7/5", *options, "--output", "page.html", "--no-open")
    fields = {"x": "7/5", "y": "-3/4", "operation": "mul", "primes": "2, 5", "precision": "9", "fractional": "3"}
    assert start_of(folder / "page.html") == fields


def test_the_commands_of_its_page_run(works, folder, monkeypatch):
    monkeypatch.setenv("ADELIC_CACHE", str(folder))
    page = (Path(__file__).parents[2] / "docs" / "explore.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)
    for line in block.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "adelic"
        assert works(*arguments, "--no-open").startswith("wrote ")


def test_without_a_name_the_page_lies_in_the_cache(works, folder, monkeypatch):
    monkeypatch.setenv("ADELIC_CACHE", str(folder / "cache"))
    page = folder / "cache" / "explore.html"
    assert works("explore", "7/5", "--no-open") == f"wrote {page}\n"
    assert start_of(page)["x"] == "7/5"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1", "--with", "x2"], "'x2' is not a number"),
        (["1", "--with", "0", "--operation", "/"], "1 cannot be divided by 0"),
        (["1", "--with", "2", "--operation", "plus"], "--operation 'plus' is not one of the four: + - * /"),
        (["1", "--precision", "1000"], "at most 200"),
        (["1", "--primes", "4"], "4 is not a prime (4 = 2 · 2); the first primes are 2, 3, 5, 7, 11, 13"),
        (["1", "--output", "page.txt"], "give it a name that ends in .html"),
        (["1", "--output", "file/page.html"], "page.html"),
        (["--wiht", "3"], "unknown option"),
        ([], "give one NUMBER"),
        (["1", "2"], "a second one goes to --with"),
    ],
)
def test_wrong_arguments_are_refused(refused, folder, arguments, message):
    (folder / "file").touch()
    assert message in refused("explore", *arguments, "--no-open")
    assert [path.name for path in folder.iterdir()] == ["file"]


def run_with_browser(browser, folder):
    """Run the command in a process whose only browser is the given program."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = "from adelic.cli import main; main(['explore', '7/5', '--output', 'page.html'])"
    return subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**environment, "BROWSER": browser, "PATH": str(folder)},
    )


linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's own browser is asked first")


@linux
def test_the_page_is_opened_in_the_browser(folder):
    browser = folder / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > opened\n', encoding="utf-8")
    browser.chmod(0o755)
    done = run_with_browser(str(browser), folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "opened page.html\n", "")
    assert (folder / "opened").read_text(encoding="utf-8").strip() == (folder / "page.html").as_uri()


@linux
def test_a_machine_without_a_browser_says_where_the_page_is(folder):
    done = run_with_browser("no-such-browser", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "no browser was found here; the page is page.html\n"
    assert start_of(folder / "page.html")["x"] == "7/5"
