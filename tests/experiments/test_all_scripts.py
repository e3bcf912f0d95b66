"""Every script under experiments/ runs, at tiny sizes and in this process, and says from the start what it does."""

import doctest
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "experiments"
OF_TEXT = {"text_models", "text_table"}
"""What text_arithmetic consists of, which is tested with it."""
WITH_TESTS = {"common", "tables", "moebius_ceiling", "training", "arithmetic_searches", "text_costs"} | OF_TEXT
"""Of these main runs elsewhere: in test_docs.py and in the files of their names."""
FIGURES = {"seconds": 1.0, "peak_bytes": 9, "rows": 6, "file_bytes": 9}
SMALL = {
    "acd_audits": (
        {"acd.audit": lambda name, **_: {"task": name}},
        {"full": True, "tasks": ("schubert", "weaving")},
        "schubert-4-published.json",
    ),
    "acd_builds": (
        {"common.in_a_process": lambda *_, **__: FIGURES},
        {"tasks": ("schubert",), "repetitions": 2},
        "acd_builds.json",
    ),
    "arithmetic_seconds": (
        {"series": list, "draw_seconds": lambda found: b"picture", "PICTURE": Path("s.svg")},
        {},
        "s.svg",
    ),
    "big_integers": ({"integers.long_integer": None}, {"sizes": (20, 40), "repetitions": 1}, "big_integers.json"),
    "character_completion": ({}, {"sizes": (4,)}, "character_completion.json"),
    "character_rules": ({}, {"sizes": (5,)}, "character_rules.json"),
    "column_encoder": ({}, {"rows": 40}, "column_encoder.json"),
    "conic_places": (
        {"PAGE": Path("page.md"), "PICTURE": Path("conic-places.svg")},
        {"draw": True},
        "conic-places.svg",
    ),
    "decode": ({"gc.freeze": lambda: None, "gc.disable": lambda: None}, {"size": 20, "repetitions": 1}, "decode.json"),
    "encode": ({}, {"parts": ("memory",), "size": 100, "repetitions": 1}, "encode_memory.json"),
    # Both counts of expressions and that of forms are tested in files of their own, as are those of root numbers.
    "expression_images": ({"shares": lambda _: {}, "known_operations": lambda _: {}}, {}, "expression_images.json"),
    "form_images": ({"counted": lambda _: {}}, {}, "form_images.json"),
    "functional": (
        {"torch.compile": lambda function, **_: function},
        {"device": "cpu", "size": 20, "repetitions": 1},
        "functional_cpu.json",
    ),
    "lattice_covers": ({"_SIZES": (6,), "read_results": lambda _: []}, {}, "lattice_covers.json"),
    "local_functions": ({}, {"digits": (9,), "size": 30, "repetitions": 1}, "local_functions.json"),
    "number_theory_audits": (
        {
            "PAGE": Path("page.md"),
            "audits": lambda: {Path("gcd.json"): ["gcd"], Path("other.json"): ["other"]},
            "subprocess.run": lambda words, **_: Path(words[-1]).write_text(f'{{"task": "{words[5]}"}}'),
            "to_lines": lambda audits: f"lines {list(audits)}",
        },
        {"full": True},
        "other.json",
    ),
    "padic_comparisons": ({"PRIMES": (3,), "PRECISIONS": (5,)}, {"size": 4}, "padic_comparisons.json"),
    "question_rules": (
        {"with_rule": lambda line, place: line + b"!"},
        {"results": Path()},
        "number-theory-quick/gcd.jsonl",
    ),
    "root_number_audit": ({"counted": lambda _: {}}, {}, "root_number_audit.json"),
}
"""For each script what makes it small: of its module, and its options; and the file that it is to write."""
FOLDERS = {"acd_audits", "encode", "number_theory_audits"}
"""Of these `output` is a folder."""


def test_no_script_is_left_out():
    scripts = {path.stem for path in BENCHMARKS.glob("*.py")}
    missing = scripts - SMALL.keys() - WITH_TESTS
    assert all((HERE / f"test_{name}.py").exists() for name in missing)
    assert SMALL.keys() | WITH_TESTS <= scripts


SOLVERS = (f"experiments.solvers.{path.stem}" for path in BENCHMARKS.glob("solvers/*.py"))


@pytest.mark.parametrize("name", sorted([*(path.stem for path in BENCHMARKS.glob("*.py")), *SOLVERS]))
def test_examples(name, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    assert doctest.testmod(pytest.importorskip(name, exc_type=ImportError)).failed == 0


@pytest.mark.filterwarnings("ignore:products in bfloat16 are slow")
@pytest.mark.parametrize("name", SMALL)
def test_it_runs_and_says_what_it_does(name, monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.chdir(tmp_path)
    try:
        script = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    changes, options, written = SMALL[name]
    for place, value in ({"common.use_one_core": lambda: None} | changes).items():
        monkeypatch.setattr(f"{name}.{place}", value)
    Path("page.md").write_text("<!-- table: places of the conic -->\n<!-- end of table -->\n")
    Path("number-theory-quick").mkdir()
    Path("number-theory-quick", "gcd.jsonl").write_text("one line\n")
    if "output" in script.main.__annotations__:
        options = options | {"output": tmp_path if name in FOLDERS else tmp_path / written}
    parts = options.pop("parts", ())
    assert script.main(*parts, **options) in (True, False, None)  # False where a target is missed, as at such sizes
    assert (tmp_path / written).read_bytes() != b"one line\n"
    if name == "padic_comparisons":
        assert json.loads((tmp_path / written).read_text(encoding="utf-8"))["mismatches"] == {}
    if name in MEASURED:
        check_measured(json.loads((tmp_path / written).read_text(encoding="utf-8")), options)
    assert capsys.readouterr().err


MEASURED = {"big_integers", "decode", "encode", "functional", "local_functions"}
"""They compare what is fast with what is plain, and write how they were run."""


def check_measured(results, options):
    assert {"command", "machine", "versions", "commit", "repetitions"} <= results.keys()
    assert results.get("all_right", True) is results.get("same_digits", True) is True
    if "ratio" in results:
        medians = results["median_seconds"]
        assert results["ratio"] == pytest.approx(medians["gmpy2_loop"] / medians["decode"])
        assert {len(seconds) for seconds in results["all_seconds"].values()} == {options["repetitions"]}
        assert isinstance(results["met"], bool)
    if "same_digits" in results:
        assert len(results["entries"]) == len(options["sizes"]) * 3 * 4


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["--tasks", "nothing"], 2, "nothing"),
        (["--sizes", "-1"], 2, "no task"),
        (["--repetitions", "0"], 2, "Must be >= 1"),
        (["--help"], 0, "into a temporary store"),
    ],
)
def test_the_command_line_is_that_of_the_function(words, code, complaint):
    command = [sys.executable, str(BENCHMARKS / "acd_builds.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert complaint in " ".join((done.stderr + done.stdout).split())
    assert done.returncode == code
