"""`import adelic` stays light, and imports point down the layers only."""

import ast
import importlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import adelic
import adelic_lab

PACKAGE = Path(adelic.__file__).parent
LABORATORY = Path(adelic_lab.__file__).parent
MOVED = {PACKAGE / "training.py", PACKAGE / "benchmark.py"}  # they only say where to look now
SOURCES = sorted({*PACKAGE.rglob("*.py")} - MOVED)
OF_THE_LABORATORY = sorted(LABORATORY.rglob("*.py"))

# What each layer may import of adelic itself (errors may be imported by all), highest layer last.
BELOW = {
    "errors": set(),
    "storage": set(),
    "numbers": set(),
    "probing": {"numbers"},
    "data": {"storage", "numbers"},
    "nn": {"numbers"},
    "acd": {"storage", "numbers", "data"},
    "number_theory": {"storage", "numbers", "data"},
    "columns": {"storage", "numbers", "data"},
    "integrations": {"storage", "numbers", "data", "nn", "probing"},
    "explore": {"storage", "numbers"},
    "cli": {"storage", "numbers", "data", "nn", "integrations", "explore", "probing"},
}
# What the lower layers may import from outside the standard library; the upper ones are free.
LIBRARIES = {
    "errors": set(),
    "storage": {"numpy", "platformdirs", "psutil"},
    "numbers": {"numpy", "numba", "llvmlite"},  # llvmlite is a part of numba: its own description of instructions
    "data": {"numpy", "pyarrow", "psutil", "scipy", "sklearn"},
    "acd": {"numpy", "numba", "psutil", "pyarrow", "scipy"},
    "number_theory": {"numpy"},
    "columns": {"numpy"},
    "probing": {"numpy"},
    "nn": {"numpy", "torch", "numba"},
}

# Optional libraries of the package that these files may import when they are asked to, never when they are imported.
OPTIONAL = {
    "data/dataset.py": {"torch", "pandas", "datasets"},
    "integrations/transformers/patching.py": {"transformers"},
    "integrations/transformers/generating.py": {"transformers"},
    "integrations/transformers/models.py": {"transformers"},
    "integrations/transformers/texts.py": {"transformers"},
    "number_theory/multiplicative.py": {"flint"},
    "numbers/algebraic/polynomials.py": {"flint"},
    "probing/findings.py": {"sklearn"},
    "numbers/integers.py": {"flint", "gmpy2"},
    "numbers/pari.py": {"cypari"},
    "numbers/primes.py": {"flint"},
}


def layer_of(path):
    """Return the subpackage or module right below adelic; "adelic" for the package itself."""
    first = path.relative_to(PACKAGE).parts[0]
    return "adelic" if first == "__init__.py" else first.removesuffix(".py")


@cache
def nodes_of(path):
    """Return all nodes of a file's syntax tree."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports_of(path):
    """Return (line, absolute name) of all that a file imports, inside functions too."""
    root = PACKAGE if path.is_relative_to(PACKAGE) else LABORATORY
    package, found = path.relative_to(root.parent).parts[:-1], []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [(node.lineno, f"{module}.{alias.name}") for alias in node.names]  # a module or a name in one
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "adelic":
            found.append((node.lineno, f"adelic.{node.attr}"))  # which imports a subpackage on first use
    return found


def lazily_imported(path):
    """Return the lines of the imports that do not run with the module: in functions, or for the type checker alone."""
    lines = set()
    for node in nodes_of(path):
        checker = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        if checker or isinstance(node, ast.FunctionDef):
            lines |= {line for part in node.body for line in range(part.lineno, part.end_lineno + 1)}
    return lines


def module_graph():
    """Return, for each module of the package, the other ones that it imports, wherever in it."""
    places = {path: path.relative_to(PACKAGE.parent).with_suffix("").parts for path in SOURCES}
    places |= {path: path.relative_to(LABORATORY.parent).with_suffix("").parts for path in OF_THE_LABORATORY}
    names = {path: ".".join(parts[:-1] if parts[-1] == "__init__" else parts) for path, parts in places.items()}
    modules, graph = set(names.values()), {}
    for path, name in names.items():
        parts = [imported.split(".") for _, imported in imports_of(path)]
        prefixes = ((".".join(part[:k]) for k in range(len(part), 0, -1)) for part in parts)
        graph[name] = {next((prefix for prefix in some if prefix in modules), name) for some in prefixes} - {name}
    return graph


def reached_from(module, graph):
    """Return the modules that one imports, directly or through others; itself among them if there is a circle."""
    reached, rest = set(), [module]
    while rest:
        new = graph[rest.pop()] - reached
        reached |= new
        rest += new
    return reached


def home_of(name):
    """Return the layer that a name below adelic comes from."""
    part = name.split(".")[1]
    names = ("AdeleArray", "AdeleSpace", "RedundantResidueCode", "SpaceChoice", "choose_space")
    numbers = dict.fromkeys(names, "numbers")
    return (numbers | {"AdelicError": "errors"}).get(part, part)


def loaded_by(code):
    """Return the names of the modules that a fresh process has loaded after running some code."""
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_adelic_loads_neither_torch_nor_numba():
    loaded = loaded_by("import adelic")
    assert "adelic.numbers" in loaded
    for name in ("torch", "numba", "llvmlite", "pyarrow", "sklearn", "matplotlib", "adelic.nn", "adelic.acd"):
        assert name not in loaded


def test_a_few_numbers_need_no_compiler():
    loaded = loaded_by("import adelic\ns = adelic.AdeleSpace()\na = s.encode([3, '1/19'])\n(a * a / 19 - a).decode()")
    assert "numba" not in loaded
    assert "torch" not in loaded


def test_subpackages_load_when_used():
    assert "adelic.nn" not in loaded_by("import adelic; adelic.numbers")
    assert set(adelic.__all__) <= set(dir(adelic))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        adelic.nothing  # noqa: B018


def test_every_layer_is_known():
    assert {layer_of(path) for path in SOURCES} <= {*BELOW, "adelic", "__main__"}


@pytest.mark.parametrize("layer", BELOW)
def test_imports_point_down(layer):
    allowed = {*BELOW[layer], "errors", layer}
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in SOURCES
        if layer_of(path) == layer
        for line, name in imports_of(path)
        if name.startswith("adelic.") and home_of(name) not in allowed
    ]
    assert not wrong


def test_no_import_circles():
    """Imports in functions and for the type checker alone count: they hide a circle, and do not open it."""
    graph = module_graph()
    circles = {module: reached_from(module, graph) for module in graph}
    assert {
        module: sorted(other for other in reached if module in circles[other])
        for module, reached in circles.items()
        if module in reached
    } == {}


@pytest.mark.parametrize("layer", LIBRARIES)
def test_libraries_of_the_lower_layers(layer):
    allowed = {*LIBRARIES[layer], "adelic", *sys.stdlib_module_names}
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in SOURCES
        if layer_of(path) == layer
        for line, name in imports_of(path)
        if name.split(".")[0] not in allowed | OPTIONAL.get(path.relative_to(PACKAGE).as_posix(), set())
    ]
    assert not wrong


@pytest.mark.parametrize("file", OPTIONAL)
def test_optional_libraries_are_imported_when_used(file):
    path = PACKAGE / file
    found = [(line, name) for line, name in imports_of(path) if name.split(".")[0] in OPTIONAL[file]]
    assert {name.split(".")[0] for _, name in found} == OPTIONAL[file]
    assert {line for line, _ in found} <= lazily_imported(path)


def test_the_library_never_imports_the_laboratory():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in SOURCES
        for line, name in imports_of(path)
        if name.split(".")[0] in ("adelic_lab", "experiments")
    ]
    assert not wrong


def test_the_laboratory_never_imports_experiments():
    wrong = [
        f"{path.relative_to(LABORATORY)}:{line} imports {name}"
        for path in OF_THE_LABORATORY
        for line, name in imports_of(path)
        if name.split(".")[0] == "experiments"
    ]
    assert not wrong


def test_a_search_alone_loads_optuna():
    """One module imports it, and is itself imported when it is used."""
    name = "adelic_lab.search.studies"
    for path in OF_THE_LABORATORY:
        found = [
            (line, module) for line, module in imports_of(path) if module.split(".")[0] in {"optuna", "sqlalchemy"}
        ]
        found = found if path != LABORATORY / "search" / "studies.py" else []
        found += [(line, module) for line, module in imports_of(path) if module.startswith(name)]
        assert {line for line, _ in found} <= lazily_imported(path), path


def test_acd_loads_without_optional_libraries():
    loaded = loaded_by("from adelic import acd\nacd.load, acd.verify")
    for name in set().union(*OPTIONAL.values()):
        assert name not in loaded


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "schubert", "--epochs", "1000000000"],
        ["train", "schubert", "--n", "4", "--seed", str(10**23)],
        ["tune", "schubert", "--n", "4", "--trials", "1000000000000"],
    ],
    ids=" ".join,
)
def test_what_a_user_gives_is_checked_without_torch(arguments):
    """So that a value out of bounds is refused in a second: torch alone takes several."""
    code = f"""
from adelic.cli import main
try:
    main({arguments})
except SystemExit as end:
    assert end.code == 2
"""
    loaded = loaded_by(code)
    assert "adelic_lab.config.experiment" in loaded
    assert "torch" not in loaded


@pytest.mark.long
def test_neither_training_nor_the_benchmark_loads_statistics_or_the_compiler():
    """Each takes as long to import as torch, in each process that trains a part of a matrix."""
    loaded = loaded_by("from adelic_lab import EmbeddedEngine, run_matrix\nfrom adelic_lab import run")
    assert {"adelic_lab.results.metrics", "adelic_lab.report.files"} <= loaded
    unused = {"torch._dynamo", "sklearn", "statsmodels", "scipy.stats", "pandas", "matplotlib", "jinja2"}
    assert not unused & loaded


def test_no_name_hides_a_module():
    """`adelic_lab.run` is a function, so no module may be called so; nobody imports those that commands hide."""
    for path in [*SOURCES, *OF_THE_LABORATORY]:
        root = PACKAGE if path in SOURCES else LABORATORY
        *folders, last = path.relative_to(root.parent).with_suffix("").parts
        if folders and last not in ("__init__", "__main__") and folders[1:2] != ["cli"]:
            module = importlib.import_module(".".join([*folders, last]))
            assert getattr(importlib.import_module(".".join(folders)), last) is module, path
