import json
import os
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest

from adelic import acd, data
from adelic.data.exporting import FORMATS
from adelic.data.tables.files import read_table
from adelic_lab import read_result
from adelic_lab.report.frame import data_key


def test_list(works, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = works("data", "list")
    for task in acd.TASKS.values():
        (line,) = [line for line in out.splitlines() if f" {task.name} " in line]
        assert all(str(n) in line for n in task.sizes)
        assert all(edition in line for edition in task.editions)


def test_build(works):
    out = works("data", "build", "schubert", "--n", "3")
    assert out.startswith("schubert n=3 (published): 62 train, 6 validation, 17 test examples in ")
    path = Path(out.split(" examples in ")[1].strip())
    assert path.is_file()
    assert path.is_relative_to(os.environ["ADELIC_CACHE"])
    assert "weaving n=4 (levels)" in works("data", "build", "weaving", "--n", "4", "--edition", "levels", "--seed", "3")
    out = works("data", "build", "schubert", "--n", "3", "--split", "orbits")
    assert out.startswith("schubert n=3 (published, 63 orbits): ")
    assert f"{os.sep}orbits{os.sep}" in out


@pytest.mark.parametrize("split", ["published", "orbits"])
def test_audit(works, folder, split):
    out = works("data", "audit", "weaving", "--n", "5", "--split", split, "--output", "found.json")
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert found["split"] == split
    assert "look-up among the images of training examples" in out
    those = found["overlap"]["images"]["test"]
    line = f"test examples among the images of training examples: {those['rows']} of {found['rows']['test']} "
    assert f"{line}({100 * those['share']:.2f} %)" in out
    assert (those["rows"] == 0) == (split == "orbits")
    assert ("--split orbits only" in out) == (split == "published")
    assert shlex.split(found["command"])[1:] == shlex.split(
        "data audit weaving --n 5 --edition published" + (" --split orbits" if split == "orbits" else "")
    )


def test_audit_without_symmetries(works):
    out = works("data", "audit", "lattice", "--n", "6")
    assert "images" not in out
    assert "test examples among training examples: 0 of " in out


SMALL = ("--examples", "2000", "--test-cases", "500", "--never-seen-cases", "300")


def test_audit_of_a_drawn_task(works, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    given = ("--task-options", "limit=5000,outcomes=uniform", "--seed", "2")
    out = works("data", "audit", "gcd", *SMALL, *given, "--output", "found.json")
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert found["rows"] == {"train": 2000, "test": 500, "uniform": 300, "stratified": 300, "new numbers": 300}
    assert found["options"] == ["limit=5000", "outcomes=uniform"]
    best, known = found["findings"][0], found["known"]["test"]
    (line,) = [line for line in out.splitlines() if f" {best['name']} " in line]
    assert [f"{100 * share:.2f}" for share in (best["held_out"], *best["accuracies"].values())] == [
        cell.strip() for cell in line.split("│")[2:-1]
    ]
    assert any(" most frequent class " in line for line in out.splitlines())
    share = 100 * found["classes"]["test"]["shares"]["1"]
    assert f"test: 500 questions, {found['classes']['test']['answers']} different answers: 1 {share:.2f} %, 2 " in out
    assert f"test: 0 questions are training questions; of 1,000 numbers in them {known['numbers']} occur in " in out
    assert "new numbers: 0 questions are training questions; of 600 numbers in them 0 occur in " in out
    again = works(*shlex.split(found["command"])[1:], "--output", "again.json")
    assert again.replace("again", "found") == out
    assert json.loads((folder / "again.json").read_text(encoding="utf-8")) == found


def test_audit_of_a_table(works, refused, folder):
    rows = [(x, x % 3, x // 2) for x in range(120)]
    (folder / "mine.csv").write_text("x,kind,pair\n" + "".join(f"{x},k{k},{pair}\n" for x, k, pair in [*rows, *rows]))
    given = ("mine.csv", "--target", "kind", "--columns", "x", "--groups", "pair")
    out = works("data", "audit", *given, "--seed", "2", "--output", "found.json")
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    d = data.from_table(read_table("mine.csv"), target="kind", columns="x", groups="pair", seed=2, name="mine")
    assert found == data.audit(d) | {"command": f"adelic data audit {' '.join(given)} --seed 2"}
    assert "duplicates: 120; test examples known outside test: 0.00 %" in out
    assert "test examples among training examples: 0 of " in out
    assert "its sign alone" not in out
    assert works(*shlex.split(found["command"])[1:], "--output", "found.json") == out
    given = ("mine.csv", "--target", "x", "--columns", "pair", "--answer", "number")
    assert "x is a number, and baselines and models" in works("data", "audit", *given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("gcd", "--n", "4"), "--n belongs to a task, and 'gcd' is a drawn task"),
        (("gcd", "--edition", "published"), "--edition belongs to a task"),
        (("gcd", "--split", "orbits"), "--split belongs to a task"),
        *((("gcd", flag, "limt=5000"), "gcd has no option 'limt'") for flag in ("--option", "--task-options")),
        *((("weaving", flag, "limit=5"), "unknown option 'limit'") for flag in ("--option", "--task-options")),
        (("gcd", "--examples", "0"), "--examples 0 must be"),
        (("polynomial",), "choose fewer examples"),
        (("weaving", "--examples", "5"), "--examples belongs to a drawn task, and 'weaving'"),
        (("lattice", "--n", "6", "--split", "orbits"), "no symmetries"),
        (("mine.csv",), "name the column to predict with --target"),
        (("mine.csv", "--target", "kind", "--n", "4"), "--n belongs to a task"),
        (("mine.csv", "--target", "kind", "--option", "a=b"), "--task-options belongs to a task"),
        (("mine.csv", "--target", "kind", "--examples", "5"), "--examples belongs to a drawn task"),
        (("other.csv", "--target", "kind"), "there is no file other.csv"),
    ],
)
def test_what_an_audit_refuses(refused, folder, given, words):
    (folder / "mine.csv").write_text("x,kind\n" + "".join(f"{x},k{x % 2}\n" for x in range(50)))
    assert words in refused("data", "audit", *given)


def test_info(works):
    out = works("data", "info", "weaving")
    assert out.startswith("weaving: ")
    for edition in acd.TASKS["weaving"].editions:
        assert f"edition {edition}" in out
    found = json.loads(works("data", "info", "weaving", "--json"))
    assert found == acd.info("weaving")


def test_verify(works):
    out = works("data", "verify", "weaving", "--n", "5")
    assert "NO" not in out
    assert out.count("yes") == 3
    (line,) = [line for line in out.splitlines() if "weaving 5, published" in line]
    p = acd.load("weaving", n=5, split="orbits").provenance
    expected = [p["orbits"], *(p["rows"][part] for part in ("train", "validation", "test")), 0]
    assert [int(cell) for cell in line.strip("│ ").split("│")[1:]] == expected


def test_verify_one_split(works, refused):
    assert "split orbits" not in works("data", "verify", "weaving", "--n", "5", "--split", "published")
    out = works("data", "verify", "weaving", "--n", "5", "--split", "orbits")
    assert "weaving 5, published" in out
    assert "yes" not in out
    assert "no symmetries" in refused("data", "verify", "lattice", "--split", "orbits")
    assert "did you mean 'orbits'" in refused("data", "verify", "lattice", "--split", "orbit")


def test_verify_fails_where_orbits_are_torn(adelic, monkeypatch):
    import adelic.data.dataset as dataset

    monkeypatch.setattr(dataset, "orbits", lambda X, y, symmetries: np.arange(len(X)))
    outcome = adelic("data", "verify", "weaving", "--n", "5")
    assert outcome.status == 1
    assert "NO: weaving 5, published: overlap " in outcome.out
    assert "124 of 124 examples in the parts" in outcome.out


def test_verify_says_so_where_nothing_is_published(adelic):
    outcome = adelic("data", "verify", "weaving", "--n", "4", "--edition", "levels")
    assert outcome.status == 0
    assert "no published counts" in outcome.err


def test_verify_fails_where_a_count_differs(adelic, monkeypatch):
    """A published count that is not ours, put in the place of the real one."""
    import adelic.data.catalogue as catalogue

    (fact,) = [f for f in catalogue.facts(acd.TASKS["weaving"]) if (f["n"], f["edition"]) == (5, "published")]
    odd = fact | {"counts": {name: count + 1 for name, count in fact["counts"].items()}}
    monkeypatch.setattr(catalogue, "facts", lambda task: [odd])
    outcome = adelic("data", "verify", "weaving", "--n", "5")
    assert outcome.status == 1
    assert outcome.out.count("NO") == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build", "schubert", "--n", "four"], "--n"),
        (["build", "mheight", "--n", "40"], "GiB"),
        (["build", "schubert", "--n", "99999999999999999999999"], "--n about 10**23 must be a whole number"),
        (["build"], "TASK"),
        (["build", "lattice", "--split", "orbits"], "no symmetries"),
        (["verify", "--edition", "leeky"], "leaky"),
        (["build", "quiver", "--n", "6", "--option", "labelling=random,labelling=first"], "each name once"),
    ],
    ids=" ".join,
)
def test_user_errors(refused, arguments, words):
    assert words in refused("data", *arguments)


@pytest.mark.parametrize("where", ["file/cache", "file", "a" * 300])
@pytest.mark.parametrize("command", ["data build schubert --n 3", "train schubert --n 3 --recipe quick --epochs 1"])
def test_a_cache_that_cannot_be_written(refused, folder, monkeypatch, where, command):
    (folder / "file").write_text("")
    monkeypatch.setenv("ADELIC_CACHE", str(folder / where))
    assert "ADELIC_CACHE" in refused(*command.split())


def test_a_damaged_file_is_named_in_one_line(adelic, monkeypatch, folder):
    monkeypatch.setenv("ADELIC_CACHE", str(folder / "cache"))
    provenance = acd.build("schubert", n=3)
    path = Path(provenance["path"])
    path.write_bytes(path.read_bytes()[:100])
    command = "train schubert --n 3 --embedding learned --recipe quick --epochs 1"
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # as outside of tests, where warnings are errors
        outcome = adelic(*command.split())
    assert outcome.status == 0
    (line,) = [line for line in outcome.err.splitlines() if "warning" in line]
    assert line.startswith("adelic: warning: ")
    assert str(path) in line
    assert "built anew" in line
    assert ".py:" not in outcome.err


@pytest.mark.parametrize("file_format", ["parquet", "csv", "jsonl"])
def test_export(works, folder, file_format):
    out = works("data", "export", "schubert", "--n", "3", "--seed", "4", "--format", file_format, "--output", "a/b")
    assert out.splitlines() == [
        f"{Path('a/b')}/train.{file_format}: 62 examples",
        f"{Path('a/b')}/validation.{file_format}: 6 examples",
        f"{Path('a/b')}/test.{file_format}: 17 examples",
        f"{Path('a/b')}/dataset.json",
    ]
    about = json.loads((folder / "a" / "b" / "dataset.json").read_text(encoding="utf-8"))
    assert (about["data"]["task"], about["data"]["n"], about["data"]["seed"]) == ("schubert", 3, 4)
    assert set(about["files"]) == {f"{split}.{file_format}" for split in ("train", "validation", "test")}


def test_export_for_the_authors_loader(works, folder):
    out = works("data", "export", "schubert", "--n", "3", "--format", "acd", "--output", "all")
    name = "schubert_polynomial_coeff/schubert_structure_coefficients_triples_3"
    assert out.splitlines() == [
        f"all/{name}_train.txt: 68 examples",
        f"all/{name}_test.txt: 17 examples",
        "all/schubert_3.json",
        "validation: validation examples are at the end of the train files: the loader has no such split",
        "loader: get_dataset('schubert', 3, folder=...) of github.com/pnnl/ML4AlgComb",
    ]
    assert (folder / "all" / f"{name}_test.txt").is_file()


def test_every_format_is_offered(works):
    text = works("data", "export", "--help")
    assert all(name in text for name in (*FORMATS, "acd"))


@pytest.mark.parametrize("split", ["published", "orbits"])
def test_the_command_kept_with_an_export_makes_it_again(works, folder, split):
    given = ["--n", "6", "--split", split, "--option", "labelling=random", "--format", "csv", "--output", "one"]
    works("data", "export", "quiver", *given)
    assert json.loads((folder / "one" / "dataset.json").read_text(encoding="utf-8"))["data"]["split"] == split
    described = folder / "one" / "dataset.json"
    command = shlex.split(json.loads(described.read_text(encoding="utf-8"))["command"])
    assert command[0] == "adelic"
    before = (folder / "one" / "train.csv").read_bytes()
    (folder / "one").rename(folder / "moved")
    works(*command[1:])
    assert (folder / "one" / "train.csv").read_bytes() == before


def test_export_does_not_replace_another_content_unless_forced(works, refused):
    command = ["data", "export", "schubert", "--n", "3", "--format", "csv", "--output", "out"]
    works(*command)
    works(*command)  # the same content is not an obstacle
    works("data", "build", "schubert", "--n", "3", "--seed", "1")  # so that below no progress is shown
    assert "--force" in refused(*command, "--seed", "1")
    works(*command, "--seed", "1", "--force")
    assert "--force" in refused(*command)


@pytest.mark.parametrize("name", ["n", "edition", "split", "seed", "cache", "progress", "workers"])
@pytest.mark.parametrize("command", [["build"], ["audit"], ["export", "--output", "out"]], ids=" ".join)
def test_no_option_of_a_task_reaches_a_keyword(refused, folder, command, name):
    given = [command[0], "schubert", "--n", "3", *command[1:], "--option", f"{name}=elsewhere"]
    assert f"unknown option '{name}'" in refused("data", *given)
    assert not list(folder.iterdir())


def test_an_option_of_a_task_is_trained_on(works, folder):
    """It has a label of its own, and the default is no choice: labels and folders of other runs stay."""
    train = ["train", "quiver", "--n", "6", "--model", "majority", "--run-dir"]
    said = {}
    for labelling in ("random", "canonical"):
        works(*train, labelling, "--option", f"labelling={labelling}")
        said[labelling] = read_result(folder / labelling)
    works(*train, "plain")
    plain = read_result(folder / "plain")
    assert said["canonical"].configuration == plain.configuration
    assert said["random"].configuration["data"] == plain.configuration["data"] | {"task_options": ["labelling=random"]}
    assert said["random"].data_sha256 != plain.data_sha256
    command = "adelic train quiver --n 6 --task-options labelling=random --model majority --trials 1 --seed 0"
    assert said["random"].command == command
    assert data_key(said["random"]) != data_key(plain) == data_key(said["canonical"])


def test_an_audit_goes_to_a_device(works, folder, make_device):
    make_device(folder / "device")
    assert "wrote device" in works("data", "audit", "mheight", "--n", "6", "--output", "device")
    assert (folder / "device").is_char_device()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "cvs", "--output", "out"], "cvs"),
        (["--format", "csv"], "--output"),
        (["--output", "file"], "file"),
        (["--output", "file/below"], "file"),
        (["--output", "Z" * 300, "--force"], "too long"),
        (["--output", "out", "--n", "40"], "--n 40"),
        (["--output", "out", "--option", "a=b"], "option"),
    ],
    ids=" ".join,
)
def test_user_errors_of_export(works, refused, folder, arguments, words):
    (folder / "file").write_text("")
    works("data", "build", "schubert", "--n", "3")  # so that below no progress is shown
    assert words in refused("data", "export", "schubert", *(["--n", "3"] if "--n" not in arguments else []), *arguments)
