"""What a release consists of fits together: the version, the extras, the pinned versions, the files beside the code."""

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest

import adelic
import adelic_lab
from adelic.cli import OF_DEVELOPERS
from adelic.errors import MissingExtraError, needs_extra

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
LAB = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_USERS = set(EXTRAS) - OF_DEVELOPERS


def name_of(requirement):
    """Return the name of the distribution that a requirement asks for, as names are compared."""
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, flags=re.MULTILINE) == [adelic.__version__]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changes, flags=re.MULTILINE)[1] == adelic.__version__
    assert LAB["version"] == adelic.__version__
    assert f"adelic[torch]=={adelic.__version__}" in LAB["dependencies"]


def test_the_licence_is_the_one_that_is_named():
    assert PROJECT["license"] == "Apache-2.0"
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert re.sub(r"\s+", " ", text).strip().startswith("Apache License Version 2.0, January 2004")
    assert "END OF TERMS AND CONDITIONS" in text


def test_developers_have_every_extra_of_users():
    (own,) = (re.search(r"\[(.*)\]", text)[1] for text in EXTRAS["dev"] if name_of(text) == "adelic")
    assert {extra.strip() for extra in own.split(",")} >= OF_USERS


def test_the_page_about_installing_has_every_extra_of_users():
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\| `([\w-]+)` \|$", page, flags=re.MULTILINE)) == OF_USERS | {*LAB["optional-dependencies"]}


def test_what_is_installed_for_tests_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {name_of(line) for line in lines if not line.startswith("#")}
    extras = [text for extra in OF_USERS | {"dev"} for text in EXTRAS[extra]]
    extras += [text for texts in (LAB["dependencies"], *LAB["optional-dependencies"].values()) for text in texts]
    assert {name_of(text) for text in PROJECT["dependencies"] + extras} - {"adelic"} <= pinned


@pytest.mark.long
def test_extras_that_messages_name_are_there():
    named = {
        (*(argument.value for argument in node.args[2:]), node.args[1].value)
        for package in (adelic, adelic_lab)
        for path in Path(package.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "needs_extra"
    }
    assert {("torch",), ("./lab", "ray")} <= named
    assert named <= {(extra,) for extra in EXTRAS} | {("./lab", extra) for extra in LAB["optional-dependencies"]}


def test_a_broken_library_is_not_called_missing():
    words = r"^this needs torch, which cannot be imported \(no libc\): pip install 'adelic\[torch\]'$"
    with pytest.raises(MissingExtraError, match=words), needs_extra("this", "torch"):
        raise ImportError("no libc", name="torch._C")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("libtorch_cpu.so: failed to map segment from shared object", name="_C"),
        ImportError("libtorch_cpu.so: cannot open shared object file: Cannot allocate memory", name="_C"),
    ],
    ids=repr,
)
def test_out_of_memory_needs_no_extra(error):
    words = (
        r"^outer needs (a library|_C), which cannot be imported \(.*\): too little memory is free; end other programs"
    )
    with pytest.raises(MissingExtraError, match=words), needs_extra("outer", "ray"), needs_extra("inner", "torch"):
        raise error


def test_a_fault_of_adelic_is_no_missing_extra():
    words = "^No module named 'adelic.nothing'"
    with pytest.raises(ModuleNotFoundError, match=words), needs_extra("this", "torch"):
        importlib.import_module("adelic.nothing")


def test_the_outermost_part_is_named():
    words = r"^outer needs nothing_there, .*'adelic\[ray\]'$"
    outer, inner = needs_extra("outer", "ray"), needs_extra("inner", "torch")
    with pytest.raises(MissingExtraError, match=words) as caught, outer, inner:
        importlib.import_module("nothing_there")
    assert caught.value.name == "nothing_there"
