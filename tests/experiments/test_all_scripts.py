"""Every script under experiments/ runs, at tiny sizes and in this process, and says from the start what it does."""

import importlib
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "experiments"
OF_TEXT = {"text_models", "text_rivals", "text_table", "text_word_models"}
"""What text_arithmetic and text_word_problems consist of, which is tested with them."""
WITH_TESTS = {"common", "tables", "moebius_ceiling", "training", "arithmetic_searches"} | OF_TEXT
"""Of these main runs elsewhere: in test_docs.py and in the files of their names."""


def acd_audits(script, monkeypatch, folder):
    monkeypatch.setattr(script.acd, "audit", lambda task, **_: {"task": task})
    return ["--full", "--tasks", "schubert,weaving"], "schubert-4-published.json"


def acd_builds(script, monkeypatch, folder):
    figures = {"seconds": 1.0, "peak_bytes": 9, "rows": 6, "file_bytes": 9}
    monkeypatch.setattr(script, "in_a_process", lambda build: figures)
    return ["--tasks", "schubert"], "acd_builds.json"


def big_integers(script, monkeypatch, folder):
    monkeypatch.setattr(script.integers, "long_integer", script.integers.long_integer)  # the script sets it
    return ["--sizes", "20", "40", "--repetitions", "1"], "big_integers.json"


def compact(script, monkeypatch, folder):
    monkeypatch.setattr(script, "ROWS", (("schubert", 3, "published"),))
    monkeypatch.setattr(script, "STEPS", (1,))
    monkeypatch.setattr(script, "train_trial", lambda *given: given[-1](1, 0.5, {"loss": 1.0}) or 0.5)
    return ["--steps", "1"], "compact.json"


def conic_places(script, monkeypatch, folder):
    page = folder / "docs" / "number-theory.md"
    (page.parent / "number-theory").mkdir(parents=True)
    shutil.copy(script.DOCS / "number-theory.md", page)
    monkeypatch.setattr(script, "DOCS", page.parent)
    monkeypatch.setattr(script, "PICTURE", folder / "conic-places.svg")
    return ["--draw"], "conic-places.svg"


def decode(script, monkeypatch, folder):
    monkeypatch.setattr(script.gc, "freeze", lambda: None)
    monkeypatch.setattr(script.gc, "disable", lambda: None)
    return ["--size", "20", "--repetitions", "1"], "decode.json"


def expression_images(script, monkeypatch, folder):
    monkeypatch.setattr(script, "shares", lambda questions: {})  # both tested in test_expression_images.py
    monkeypatch.setattr(script, "known_operations", lambda questions: {})
    return [], "expression_images.json"


def form_images(script, monkeypatch, folder):
    monkeypatch.setattr(script, "counted", lambda questions: {})  # tested in test_form_images.py
    return [], "form_images.json"


def functional(script, monkeypatch, folder):
    monkeypatch.setattr(script.torch, "compile", lambda function, **_: function)
    return ["--device", "cpu", "--size", "20", "--repetitions", "1"], "functional_cpu.json"


def lattice_covers(script, monkeypatch, folder):
    monkeypatch.setattr(script, "_SIZES", (6,))
    monkeypatch.setattr(script, "read_results", lambda folder: [])
    return [], "lattice_covers.json"


def number_theory_audits(script, monkeypatch, folder):
    monkeypatch.setattr(script, "PAGE", folder / "page.md")
    monkeypatch.setattr(script, "audits", lambda: {folder / "gcd.json": ["gcd"], folder / "other.json": ["other"]})
    monkeypatch.setattr(script.subprocess, "run", lambda words, **_: Path(words[-1]).write_text(f'"{words[5]}"'))
    monkeypatch.setattr(script, "to_lines", lambda audits: "lines")
    (folder / "page.md").write_text("no mark")
    return ["--full"], "other.json"


def question_rules(script, monkeypatch, folder):
    results = folder / "number-theory-quick"
    results.mkdir()
    (results / "gcd.jsonl").write_text("one line\n")
    monkeypatch.setattr(script, "with_rule", lambda line, place: line)
    return ["--results", str(folder)], "number-theory-quick/gcd.jsonl"


def root_number_audit(script, monkeypatch, folder):
    monkeypatch.setattr(script, "counted", lambda questions: {})  # tested in test_root_number_audit.py
    return [], "root_number_audit.json"


def text_costs(script, monkeypatch, folder):
    monkeypatch.setattr(script, "BATCH", 2)
    return ["step", "--repetitions", "1", "--numbers", "2", "--sizes", "2 layers, width 64"], "text_costs_step.json"


RUNS = {
    "acd_audits": acd_audits,
    "acd_builds": acd_builds,
    "arithmetic_seconds": lambda script, monkeypatch, folder: (
        monkeypatch.setattr(script, "PICTURE", folder / "seconds.svg")
        or monkeypatch.setattr(script, "series", list)
        or monkeypatch.setattr(script, "draw_seconds", lambda found: b"picture")
        or ([], "seconds.svg")
    ),
    "big_integers": big_integers,
    "character_completion": lambda *_: (["--sizes", "4"], "character_completion.json"),
    "character_rules": lambda *_: (["--sizes", "5"], "character_rules.json"),
    "compact": compact,
    "conic_places": conic_places,
    "decode": decode,
    "encode": lambda *_: (["memory", "--size", "100", "--repetitions", "1"], "encode_memory.json"),
    "expression_images": expression_images,
    "form_images": form_images,
    "functional": functional,
    "lattice_covers": lattice_covers,
    "local_functions": lambda *_: (["--digits", "9", "--size", "30", "--repetitions", "1"], "local_functions.json"),
    "number_theory_audits": number_theory_audits,
    "question_rules": question_rules,
    "root_number_audit": root_number_audit,
}
"""What makes each script small: from its module to its arguments, and the file that it is to write."""
WRITERS = RUNS.keys() - {"arithmetic_seconds", "conic_places", "question_rules"}
"""Those with `--output`."""
FOLDERS = {"acd_audits", "encode", "number_theory_audits"}
"""Of these for a folder."""


def test_no_script_is_left_out():
    scripts = {path.stem for path in BENCHMARKS.glob("*.py")}
    missing = scripts - RUNS.keys() - WITH_TESTS
    assert all((HERE / f"test_{name}.py").exists() for name in missing)
    assert RUNS.keys() | WITH_TESTS <= scripts


@pytest.mark.filterwarnings("ignore:products in bfloat16 are slow")
@pytest.mark.parametrize("name", RUNS)
def test_it_runs_and_says_what_it_does(name, monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    try:
        script = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    monkeypatch.setattr(importlib.import_module("common"), "use_one_core", lambda: None)
    given, written = RUNS[name](script, monkeypatch, tmp_path)
    target = tmp_path if name in FOLDERS else tmp_path / written
    monkeypatch.setattr("sys.argv", [f"{name}.py", *given, *(["--output", str(target)] if name in WRITERS else [])])
    with suppress(SystemExit):  # with 1 where a target is missed, as one is at such sizes
        script.main()
    assert list(tmp_path.glob(written))
    said = capsys.readouterr()
    assert said.err
