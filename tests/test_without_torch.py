"""Where no extra is installed, numbers and the explorer work; with `data`, data; the rest names its extra in one line.

Each test runs a program in a process of its own that finds none of the extras' libraries.
"""

import importlib.metadata
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PAGE = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")

# Before any import of adelic: libraries that are there are not found, which is what their absence is.
PRELUDE = """
import json, sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in ABSENT else super().find_spec(name, path, target)

sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
"""

LIBRARY = """
import hashlib
import numpy as np
import adelic
from adelic import number_theory

def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()

space = adelic.AdeleSpace(primes=(2, 3, 5, 7), precision=8)
values = [f"{n}/11" for n in range(-500, 500)]  # enough for the compiled kernels
a = space.encode(values)
assert list(map(str, (a * 11).decode())) == [str(n) for n in range(-500, 500)]
wide = adelic.AdeleSpace(precision={2: 20, 5: 9, 101: 4}, fractional_digits=1)
b, c = wide.encode([f"{n}/{(1, 2, 7, 15)[n % 4]}" for n in range(100)]), wide.encode([1010 * n + 3 for n in range(100)])
code = adelic.RedundantResidueCode(adelic.AdeleSpace(precision=4), max_numerator=200)
whole = code.space.encode(range(100))
found = [a.digits, (a + a).digits, (a - 1).digits, (-a).digits, (a * a).digits, space.tensor(values), a.real]
found += [(b + c).digits, (b * c).digits, (b / c).digits, (-b).digits, (b - c).digits, wide.tensor(range(99))]
print(digest(np.concatenate([np.asarray(array, np.float64).reshape(-1) for array in found])))
print(digest(np.array([str(x) for x in [*(b + c).decode(), *code.decode(whole).values]])))
assert space.tensor([1, 2, 3]).shape == (3, 5, 8)
assert adelic.choose_space(["1/3", 8]).space.encode("8/3").decode() * 3 == 8
X, y = number_theory.task("gcd", limit=10_000).sample(50, np.random.default_rng(0))
assert X.shape == (50, 2)
"""

MISSING = """
import adelic
assert "nn" not in dir(adelic)
help_of_all = [getattr(adelic, name) for name in dir(adelic)]
for use in USES:
    try:
        exec(use)
    except ImportError as error:
        assert isinstance(error, adelic.AdelicError)
        print(error)
"""

WITH_DATA = """
import numpy as np
from adelic import acd, data
from adelic.integrations.sklearn import AdelicEncoder

assert AdelicEncoder(primes=(7,), precision=1).fit_transform([[9]]).tolist() == [[9, 2]]
for task in acd.TASKS.values():
    assert acd.load(task.name, n=task.minimum + 1).X_train.ndim == 2
acd.load("weaving", n=4, split="orbits")
assert data.from_arrays(np.arange(40).reshape(20, 2), np.arange(20) % 2).X_train.ndim == 2
"""

MANY = """
import warnings
import adelic

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for _ in range(2):
        adelic.AdeleSpace(primes=(2,), precision=1).encode(range(10_001))  # NumPy's, quickly
    assert not said
    for _ in range(2):
        adelic.AdeleSpace(primes=(2,), precision=1).encode((list(range(1, 10_002)), 3))
assert [str(warning.message).partition(": ")[2] for warning in said] == ["pip install 'adelic[fast]'"]
"""

MODULES = """
import importlib, pkgutil
import adelic

found = {}
for module in pkgutil.walk_packages(adelic.__path__, "adelic.", onerror=lambda name: None):
    if module.name in ("adelic.training", "adelic.benchmark"):
        continue  # they say where to look now
    try:
        importlib.import_module(module.name)
        found[module.name] = ""
    except adelic.errors.MissingExtraError as error:
        found[module.name] = str(error)
print(json.dumps(found))
"""

COMMANDS = """
import contextlib, io
from adelic.cli import main

outcomes = []
for arguments in COMMANDS:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as end:
            status = end.code
    outcomes.append((status, out.getvalue(), err.getvalue()))
assert "torch" not in sys.modules
print(json.dumps(outcomes))
"""


def libraries(requirements):
    """Return the names of distributions, as they are compared, that some requirements name."""
    return {re.match(r"[\w.-]+", text)[0].lower().replace("_", "-") for text in requirements}


def modules_of(extras):
    """Return the modules that the libraries of some extras bring, and of those that these name in turn."""
    named, rest = set(), set(extras)
    while rest:
        named |= rest
        own = [text for extra in rest for text in EXTRAS[extra] if text.startswith("adelic[")]
        rest = {extra for text in own for extra in re.search(r"\[(.*)\]", text)[1].split(",")} - named
    brought = libraries(text for extra in named for text in EXTRAS[extra]) - libraries(PROJECT["dependencies"])
    return {
        module
        for module, distributions in importlib.metadata.packages_distributions().items()
        if {name.lower().replace("_", "-") for name in distributions} <= brought - {"adelic"}
    }


@pytest.fixture(scope="module")
def brought():
    """The modules that only extras bring."""
    modules = modules_of(EXTRAS)
    assert {"torch", "safetensors", "numba", "pyarrow", "scipy", "sklearn"} <= modules
    return modules


@pytest.fixture
def with_extras(brought, tmp_path):
    """Run a program where the modules of all extras but the named ones are missing; return what it prints."""

    def run(program, *extras, **names):
        absent = sorted(brought - modules_of(extras))
        constants = "".join(f"{name} = {value!r}\n" for name, value in {"ABSENT": absent, **names}.items())
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", constants + PRELUDE + program],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.long
def test_numbers_work_and_are_those_that_compiled_code_computes(with_extras):
    found = with_extras(LIBRARY)
    assert len(found.splitlines()) == 2
    assert found == with_extras(LIBRARY, "fast")


def test_that_many_numbers_take_long_is_said_once(with_extras):
    with_extras(MANY)


CPU_BUILD = ", and before it, if there is no GPU, pip install torch --index-url https://download.pytorch.org/whl/cpu"


@pytest.mark.usefixtures("cache")  # characters that another test has built would be read
def test_what_needs_an_extra_names_it(with_extras):
    uses = {
        "from adelic import nn": "adelic.nn needs torch|torch",
        "adelic.acd.load('schubert', n=3)": "Parquet needs pyarrow|data",
        "from adelic.acd.quiver import kernels": "adelic.acd needs numba|data",
        "adelic.acd.load('characters', n=5)": "a character table needs scipy|data",
        "adelic.data.source('table.parquet', target='x').load(0)": "Parquet needs pyarrow|data",
        "from adelic.integrations.sklearn import AdelicEncoder": "adelic.integrations.sklearn needs scipy|sklearn",
    }
    parts = [words.split("|") for words in uses.values()]
    wanted = [f"{needs}, which is not installed: pip install 'adelic[{extra}]'" for needs, extra in parts]
    wanted[0] += CPU_BUILD
    prepared = "open('table.parquet', 'w').close()\n"
    assert with_extras(prepared + MISSING, USES=list(uses)).splitlines() == wanted


@pytest.mark.long
def test_data_work_with_their_extra(with_extras):
    with_extras(WITH_DATA, "data", "sklearn")


def test_each_module_loads_or_names_its_extra(with_extras):
    found = json.loads(with_extras(MODULES))
    failed = {name: message for name, message in found.items() if message}
    assert "adelic.nn" in failed
    assert not set(failed) & {f"adelic.{layer}" for layer in ("acd", "cli", "data", "explore", "numbers")}
    for message in failed.values():
        message = message.removesuffix(CPU_BUILD if "needs torch," in message else "")
        named = re.fullmatch(r"[\w.]+ needs \w+, which is not installed: pip install 'adelic\[(\w+)\]'", message)
        assert named, message
        assert named[1] in EXTRAS


ON_THE_PAGE = [shlex.split(line)[1:] for line in PAGE.splitlines() if line.startswith("adelic ")]
WORKING = [
    *(arguments for arguments in ON_THE_PAGE if arguments[0] != "data"),
    ["space", "0.5", "3"],
    ["data", "list"],
    ["data", "info", "schubert"],
    ["--version"],
    ["train", "--help"],
    ["reproduce", "--help"],
    ["runs", "--help"],
]
WITH_DATA_WORKING = [
    *(arguments for arguments in ON_THE_PAGE if arguments[0] == "data"),
    ["data", "audit", "schubert", "--n", "3"],
    ["data", "export", "schubert", "--n", "3", "--format", "csv", "--output", "exported"],
]
REFUSED = [
    ["train", "schubert", "--n", "4"],
]


@pytest.mark.long
def test_commands(with_extras):
    assert {arguments[0] for arguments in ON_THE_PAGE} >= {"encode", "data", "explore"}
    outcomes = json.loads(with_extras(COMMANDS, COMMANDS=WORKING + WITH_DATA_WORKING + REFUSED))
    outcomes[len(WORKING) : -len(REFUSED)] = json.loads(with_extras(COMMANDS, "data", COMMANDS=WITH_DATA_WORKING))
    for arguments, (status, out, err) in zip(WORKING + WITH_DATA_WORKING, outcomes, strict=False):
        assert status == 0, (arguments, err)
        assert out, arguments
    for arguments, (status, out, err) in zip(REFUSED, outcomes[-len(REFUSED) :], strict=True):
        assert (status, out) == (2, ""), arguments
        needs = r"adelic: adelic_lab needs torch, which is not installed: pip install 'adelic\[torch\]'"
        assert re.fullmatch(needs, err.removesuffix(f"{CPU_BUILD}\n")), err
    assert outcomes[-len(REFUSED)][2].strip() in PAGE
