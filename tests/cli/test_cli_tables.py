"""`adelic train` and `adelic tune` on tables of one's own."""

import json
import os
import shlex
import signal
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from adelic.data import sources
from adelic.data.sources import TableData
from adelic.data.tables.files import read_table
from adelic_lab import read_result
from adelic_lab.cli import experiments

SMALL = ("--recipe", "quick", "--epochs", "2", "--n-layers", "1", "--batch-size", "32")
SMALL += ("--device", "cpu", "--run-dir", "run")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table in the working folder: whether a number is a multiple of 3, and what has nothing to do with it."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i},{i % 5}/19,{'yes' if i % 3 == 0 else 'no'},{i // 4}\n" for i in range(240))
    Path("mine.csv").write_text(f"n,other,multiple,group\n{rows}", encoding="utf-8")
    return Path("mine.csv")


def result():
    return json.loads(Path("run/result.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "options", [(), ("--embedding", "learned"), ("--features", "characters", "--places", "late")], ids=str
)
def test_train(works, table, options):
    out = works("train", table, "--target", "multiple", "--groups", "group", *options, *SMALL)
    assert out.startswith("mine ")
    assert "majority class" in out
    found = result()
    assert (found["task"], found["n"], found["edition"], found["split"]) == ("mine", None, None, "random")
    assert sum(found["rows"].values()) == 240
    assert found["class_names"] == ["no", "yes"]
    assert found["configuration"]["data"]["target"] == "multiple"
    again = shlex.split(found["command"])
    assert again[:6] == ["adelic", "train", "mine.csv", "--target", "multiple", "--groups"]
    works(*again[1:], "--device", "cpu", "--run-dir", "again")
    second = json.loads(Path("again/result.json").read_text(encoding="utf-8"))
    assert second["test"] == found["test"]
    assert "mine" in works("runs", "list", "--runs-dir", ".")


def test_a_lossy_column_is_one_line(adelic, refused, table):
    Path("zip.csv").write_text("zip,odd\n" + "".join(f"{i:05},{i % 2 == 1}\n" for i in range(80)), encoding="utf-8")
    command = ("train", "zip.csv", "--target", "odd", "--model", "majority", "--run-dir", "run")
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # as outside of tests, where warnings are errors
        outcome = adelic(*command)
    (line,) = [line for line in outcome.err.splitlines() if "zip'" in line]
    assert line.startswith("adelic: warning: column 'zip', row 1 (line 2): the text '00000' has leading zeros, ")
    assert line.endswith("--lossy 'ignore' takes it as it is")
    assert "leading zeros" in refused(*command, "--restart", "--lossy", "error")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--primes", "1000000007"), "'combined' of primes up to 1000000007 with --precision 16 are 1,000,000,"),
        (("--precision", "1000000"), "of primes up to 17 with --precision 1000000 are 21,000,091 for a number, which"),
        (("--precision", "1000000", "--places", "late"), "--features 'characters' of primes up to 17"),
    ],
    ids=str,
)
def test_features_that_no_memory_holds(refused, table, monkeypatch, options, words):
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=16 << 30))
    line = refused("train", table, "--target", "multiple", *options, *SMALL)
    assert words in line
    assert "give smaller --primes, a lower --precision, or --features digits" in line


@contextmanager
def interrupting(title, **options):
    """Stand in for the progress bar: press Ctrl-C once an epoch is done."""
    pressed = []

    def progress(done, total, text):
        if done and not pressed:
            pressed.append(done)
            signal.raise_signal(signal.SIGINT)

    yield progress


@pytest.mark.parametrize(
    "options", [("--columns", "n"), ("--columns", "n,other", "--groups", "group", "--answer", "classes")], ids=str
)
def test_a_stopped_run_goes_on(adelic, works, table, monkeypatch, options):
    command = ("train", table, "--target", "multiple", *options, *SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(experiments, "progress_bar", interrupting)
        outcome = adelic(*command)
    assert outcome.status == 128 + signal.SIGINT, outcome.err
    assert not Path("run/result.json").exists()
    out = works(*command)
    first = result()
    assert first["configuration"]["data"]["columns"] == options[1].split(",")
    shown = works(*command)  # it is done, and the command shows its result
    assert shown.splitlines()[0] == out.splitlines()[0]
    assert result() == first
    assert 'data.target = "multiple"' in works("runs", "show", "run", "--runs-dir", ".")
    works("report", "--runs-dir", ".", "--output", "report.html")
    assert "mine" in Path("report.html").read_text(encoding="utf-8")


def test_what_is_prepared_is_said(works, table, monkeypatch):
    """Reading and encoding 200,000 rows takes a minute, in which nobody should wonder."""
    told = []

    @contextmanager
    def telling(title, **options):
        yield lambda done, total, text: told.append((title, text)) if (done, total) == (0, 1) else None

    monkeypatch.setattr(experiments, "progress_bar", telling)
    works("train", table, "--target", "multiple", "--columns", "n", *SMALL)
    assert told[0] == ("mine.csv", "reading")
    assert [text for _, text in told[1:]] == ["reading mine", "encoding 240 numbers, and building the model"]


def test_a_table_is_read_once(works, table, monkeypatch):
    read = []
    monkeypatch.setattr(sources, "read_table", lambda path: read.append(path) or read_table(path))
    sources._loaded.cache_clear()
    works("train", table, "--target", "multiple", "--columns", "n", *SMALL)
    assert read == ["mine.csv"]


def test_an_answer_that_is_none_is_not_given(works, table):
    works("train", table, "--target", "multiple", *SMALL, "--answer", "none")
    assert "answer" not in result()["configuration"]["data"]
    assert "--answer" not in result()["command"]
    works("train", table, "--target", "multiple", *SMALL)  # the same run


def test_groups_may_be_a_column_that_is_called_none(works, refused, table):
    words = "unknown column 'none'; columns: n, other, multiple, group; --groups none names a column: leave it out"
    assert words in refused("train", table, "--target", "multiple", *SMALL, "--groups", "none")
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("group", "none", 1), encoding="utf-8")
    works("train", table, "--target", "multiple", *SMALL, "--groups", "none")
    assert result()["configuration"]["data"]["groups"] == "none"
    works(*shlex.split(result()["command"])[1:], "--device", "cpu", "--run-dir", "run")  # the same run


def test_numbers_as_answers(works, table):
    works("train", table, "--target", "n", "--columns", "other,group", *SMALL)
    found = read_result(Path("run"))
    assert found.test["exact_match"] <= 1
    labels, _ = found.answers()
    assert set(np.ravel(labels)) <= set(range(240))


def test_a_changed_table_is_another_run(works, refused, table):
    works("train", table, "--target", "multiple", *SMALL)
    table.write_text(table.read_text(encoding="utf-8").replace("239,", "240,"), encoding="utf-8")
    line = refused("train", table, "--target", "multiple", *SMALL)
    assert "mine.csv has changed since the run in run began; use another --run-dir, or --restart to begin anew" in line
    works("train", table, "--target", "multiple", *SMALL, "--restart")


@pytest.mark.long
def test_tune(works, table):
    options = ("--search", "learning-rate", "--trials", "2", "--pruning", "none", "--runs-dir", "runs")
    out = works("tune", table, "--target", "multiple", "--embedding", "learned", *SMALL[:-2], *options)
    assert "train with it: adelic train mine.csv --target multiple --recipe recipes/mine-learned.toml" in out
    works("train", table, "--target", "multiple", "--recipe", "recipes/mine-learned.toml", "--device", "cpu")


def test_decimals_get_the_window_that_they_need(works, refused, table):
    table.write_text(table.read_text(encoding="utf-8").replace("/19", "/200"), encoding="utf-8")
    works("train", table, "--target", "multiple", *SMALL)
    assert result()["configuration"]["embedding"]["fractional_digits"] == 3
    assert "--fractional-digits 3" in result()["command"]
    given = (*SMALL[:-1], "given", "--fractional-digits")
    line = refused("train", table, "--target", "multiple", *given, "2")
    assert "below the window of --fractional-digits 2; --fractional-digits 3 would hold it" in line
    line = refused("train", table, "--target", "multiple", *SMALL[:-1], "few", "--precision", "1", "--primes", "5,7")
    place = "column 'other' has 1/200 in row 2 (line 3): 1/200 needs 2 digits"
    assert f"{place} after the point, which --precision 1 does not hold; --precision 3 would" in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "mine.csv is a table: name the column to predict with --target"),
        (
            ("--target", "other", "--columns", "n", "--answer", "number"),
            "or predict its values as classes (--answer classes)",
        ),
        (("--target", "multiple", "--n", "4"), "--n belongs to a task"),
        (("--target", "group", "--categories", "group"), "--categories group is no column to predict from"),
        (("--target", "multiple", "--columns", "n,n"), "--columns n,n names 'n' twice"),
        (("--target", "multiple", "--symmetries"), "has no symmetries"),
        (("--target", "multiple", "--recipe", "paper"), "does not set learning_rate or epochs for mine; pass"),
    ],
)
def test_what_is_refused(refused, table, options, words):
    small = [word for word in SMALL if "--recipe" not in options or word not in ("--recipe", "quick", "--epochs", "2")]
    assert words in refused("train", table, *small, *options)
    assert not Path("run").exists() or not list(Path("run").iterdir())


@pytest.mark.filterwarnings("default")
def test_warnings_name_options(adelic, table):
    table.write_text("n,y\n" + "".join(f"{i},{max(i - 40, 0)}\n" for i in range(100)), encoding="utf-8")
    outcome = adelic("train", table, "--target", "y", *SMALL)
    assert outcome.status == 0
    (line,) = [line for line in outcome.err.splitlines() if "warning" in line]
    assert "'y' has 60 classes, of which 59 have one row" in line
    assert "predict it as a number (--answer number)" in line


@pytest.mark.skipif(sys.platform != "linux", reason="such names are Linux's")
@pytest.mark.parametrize(
    ("name", "column", "label", "named"),
    [
        (b"b\xff.csv", "y", "p", "data.task 'b\\udcff'"),
        (b"e\x1b[31m.csv", "y", "p", "data.task 'e\\x1b[31m'"),
        (b"mine.csv", "y\x1b[31m", "p", "data.target 'y\\x1b[31m'"),
        (b"mine.csv", "y", "p\tq", "the class 'p\\tq'"),
    ],
)
def test_names_that_files_of_runs_cannot_hold_are_refused_before_training(refused, table, name, column, label, named):
    path = os.fsdecode(name)
    rows = "".join(f"{i},{label if i % 3 else 'z'}\n" for i in range(60))
    Path(path).write_text(f"a,{column}\n{rows}", encoding="utf-8")
    message = refused("train", path, "--target", column, *SMALL)
    assert f"{named} has a control character, or is not UTF-8; rename it" in message
    assert not list(Path().rglob("*.safetensors"))


def test_the_form_on_a_table_is_the_default_of_the_layer_and_the_command_names_it(works, table):
    """The paper's form, which tasks have by default, learns nothing of what divides a number."""
    works("train", table, "--target", "multiple", *SMALL)
    assert result()["features"] == "combined"
    assert "--features combined" in result()["command"]
    works("train", table, "--target", "multiple", *SMALL[:-1], "digits", "--features", "digits")
    assert json.loads(Path("digits/result.json").read_text(encoding="utf-8"))["features"] == "digits"


@pytest.mark.parametrize("model", ["majority", "lookup", "logistic", "trees"])
def test_a_model_outside_the_transformer(works, table, model):
    """It is in the list, its command repeats it, and `adelic predict` says what its result says of the test rows."""
    given = ("train", table, "--target", "multiple", "--model", model, "--trials", "2", "--seed", "1")
    out = works(*given, "--run-dir", "runs/mine")
    found = read_result(Path("runs/mine"))
    trials = [] if model in ("majority", "lookup") else ["--trials", "2"]
    words = ["adelic", "train", "mine.csv", "--target", "multiple", "--model", model, *(trials or ["--trials", "1"])]
    assert shlex.split(found.command) == [*words, "--seed", "1"]
    assert works(*shlex.split(found.command)[1:], "--run-dir", "runs/mine") == out
    listed = works("runs", "list", "--json")
    assert {"mine"} <= {entry["label"] for entry in json.loads(listed) if entry["kind"] == "run"}
    d = TableData("mine.csv", target="multiple").load(seed=1)
    lines = [",".join(str(d.vocabulary[i]) for i in row) for row in d.X_test]
    Path("new.csv").write_text("\n".join([",".join(d.provenance["columns"]), *lines]), encoding="utf-8")
    works("predict", "runs/mine", "new.csv", "--output", "said.csv")
    said = [line.split(",")[-2] for line in Path("said.csv").read_text(encoding="utf-8").splitlines()[1:]]
    _, predictions = found.answers()
    assert said == [found.class_names[i] for i in predictions]


def test_a_stopped_search_of_a_table_goes_on(adelic, works, table, monkeypatch):
    command = ("train", table, "--target", "multiple", "--model", "logistic", "--trials", "3", "--run-dir", "run")
    with monkeypatch.context() as patch:
        patch.setattr(experiments, "progress_bar", interrupting)
        outcome = adelic(*command)
    assert outcome.status == 128 + signal.SIGINT, outcome.err
    assert "after 1 of 3 trials" in outcome.err
    (trials,) = Path().glob("*/trials.jsonl")
    first = trials.read_text(encoding="utf-8")
    works(*command)
    assert trials.read_text(encoding="utf-8").startswith(first)
    assert len(result()["search"]["trials"]) == 3


def test_new_numbers_of_a_model_outside_the_transformer(works, refused, table):
    given = ("--target", "multiple", "--columns", "n", "--trials", "1")
    works("train", table, *given, "--model", "lookup", "--run-dir", "run")
    Path("new.csv").write_text("n\n1000\n1/3\n", encoding="utf-8")
    first, second = works("predict", "run", "new.csv").splitlines()[1:]
    assert first.split(",")[1:] == second.split(",")[1:] == ["no", first.split(",")[2]]  # the most frequent class
    works("train", table, *given, "--model", "logistic", "--run-dir", "dense")
    words = "1000 does not occur in the table of the run, and its search has chosen inputs=one-hot"
    assert words in refused("predict", "dense", "new.csv")


def test_trees_read_new_numbers_where_categories_are_too_many(works, table):
    table.write_text("n,big\n" + "".join(f"{n},{'yes' if n > 150 else 'no'}\n" for n in range(300)), encoding="utf-8")
    works("train", table, "--target", "big", "--model", "trees", "--trials", "1", "--run-dir", "run")
    Path("new.csv").write_text("n\n1000\n1/3\n", encoding="utf-8")
    assert [line.split(",")[1] for line in works("predict", "run", "new.csv").splitlines()[1:]] == ["yes", "no"]


@pytest.mark.parametrize(
    ("size", "options", "words"),
    [
        ("1e309", SMALL, "in row 1 (line 2), beyond the largest float (1.8e+308) that adelic reads; scale"),
        ("1e40", (*SMALL, "--features", "digits"), "beyond the largest float (3.4e+38) that adelic reads; scale"),
        ("-1e309", (*SMALL, "--embedding", "xval"), "that xval reads; scale the numbers, or train a network with"),
        ("1e309", ("--model", "trees"), "(310 digits) in row 1 (line 2), beyond the largest float (1.8e+308) that"),
        ("1e309", (*SMALL, "--coordinates", "p-adic"), None),
        ("1e5000", ("--model", "lookup"), None),
    ],
)
def test_numbers_beyond_a_float(works, refused, table, size, options, words):
    text = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([text[0], size + text[1][1:], *text[2:]]), encoding="utf-8")
    command = ("train", table, "--target", "multiple", "--columns", "n", *options)
    if words is None:
        works(*command)
    else:
        assert words in refused(*command)


def test_a_search_names_the_number_beyond_a_float(refused, table):
    table.write_text(table.read_text(encoding="utf-8").replace("\n7,", "\n1e309,"), encoding="utf-8")
    options = ("--columns", "n", "--search", "learning-rate", "--trials", "1", *SMALL[:-2])
    words = "column 'n' has 1000000…000 (310 digits) in row 8 (line 9), beyond the largest float"
    assert words in refused("tune", table, "--target", "multiple", *options)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--model", "tres"), "did you mean 'trees'"),
        (("--model", "trees", "--epochs", "3"), "--epochs has no effect with --model trees"),
        (("--model", "trees", "--embedding", "adelic"), "--embedding has no effect with --model trees"),
        (("--model", "trees", "--columns", "other", "--symmetries"), "no symmetries that keep labels"),
        (("--model", "trees", "--tensorboard"), "--tensorboard is for networks, and trees is not one"),
        (("--trials", "3"), "--trials belongs to --model"),
        (("--model", "trees", "--trials", "0"), "--trials 0 must be"),
    ],
)
def test_what_models_outside_the_transformer_refuse(refused, table, given, words):
    assert words in refused("train", table, "--target", "multiple", *given)
    assert not Path("runs").exists()


def test_a_number_is_no_class_for_a_model_outside_the_transformer(refused, table):
    line = refused("train", table, "--target", "n", "--columns", "group", "--model", "trees")
    assert "on a table take --model digit-trees, or the values for classes (--answer classes)" in line


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A table of every kind of column, with gaps, in the working folder, and new rows."""
    monkeypatch.chdir(tmp_path)
    days = [f"2024-{i // 28 % 12 + 1:02}-{i % 28 + 1:02}" for i in range(300)]
    cells = (
        [days[i], "nsew"[i % 4] if i % 9 else "", i % 50, i % 7 == 3, (i % 50) * 0.5 + 9 * (i % 4)] for i in range(300)
    )
    lines = (",".join(str(cell).lower() for cell in row) for row in cells)
    Path("shop.csv").write_text("\n".join(["when,wind,n,is_new,price", *lines]), encoding="utf-8")
    Path("new.csv").write_text(
        "when,wind,n,is_new,price\n2025-01-07,up,999,false,1\n2025-01-08,,3,true,2.5\n", encoding="utf-8"
    )


@pytest.mark.parametrize("target", ["price", *(pytest.param(name, marks=pytest.mark.long) for name in ("wind", "n"))])
def test_tables_as_they_are(works, shop, target):
    """The recipe for tables stops early, compares itself with boosted trees on digits, and reads new rows alike."""
    if target == "wind":  # a target without gaps
        text = Path("shop.csv").read_text(encoding="utf-8")
        Path("shop.csv").write_text(text.replace(",,", ",n,"), encoding="utf-8")
    answer = ("--answer", "number") if target == "n" else ()
    given = ("train", "shop.csv", "--target", target, "--split", "time:when", *answer, "--device", "cpu")
    out = works(*given, "--epochs", "3", "--d-feedforward", "32", "--run-dir", "run")
    found = result()
    figure = "accuracy" if target == "wind" else "r2"
    network, trees = found["trees"]["network"][figure], found["trees"]["validation"][figure]
    words = (
        "both score the same" if network == trees else f"the {'trees score' if trees > network else 'network scores'}"
    )
    assert f": {words}" in out.splitlines()[1]
    assert (f"R² {trees:.4f}" if figure == "r2" else f"{100 * trees:.2f} %") in out.splitlines()[1]
    assert found["validation"]["loss"] == pytest.approx(found["trees"]["network"]["loss"], rel=1e-4)
    assert {"name": "when", "kind": "date", "form": "ISO 8601"} in found["columns"]
    works(*given, "--model", "digit-trees", "--run-dir", "trees")
    alone = json.loads(Path("trees/result.json").read_text(encoding="utf-8"))
    assert alone["test"][figure] == pytest.approx(found["trees"]["test"][figure])
    for run in ("run", "trees"):
        lines = works("predict", run, "new.csv").splitlines()
        if target == "price":
            assert [float(line.split(",")[-1]) for line in lines[1:]]
        else:
            assert lines[0].endswith("prediction,probability" if target == "wind" else "prediction")


def test_trees_read_what_the_probe_finds(works, tmp_path, monkeypatch):
    """A remainder modulo 97, which no digit of the encoder's primes and bases shows; words and gaps have no code."""
    monkeypatch.chdir(tmp_path)
    cells = [(7919 * i, "" if i % 50 == 1 else "red" if i % 3 else "blue", 7919 * i % 97 < 40) for i in range(1500)]
    lines = "\n".join(f"{n},{colour},{str(ok).lower()}" for n, colour, ok in cells)
    Path("ids.csv").write_text(f"n,colour,ok\n{lines}\n", encoding="utf-8")
    works("train", "ids.csv", "--target", "ok", "--model", "digit-trees", "--run-dir", "run")
    assert result()["test"]["accuracy"] > 0.95 > 0.7 > result()["majority"]


@pytest.mark.long
def test_a_run_stops_when_validation_brings_nothing(works, refused, table):
    given = ("train", table, "--target", "multiple", "--columns", "n", *SMALL, "--epochs", "30")
    works(*given, "--patience", "2", "--learning-rate", "1e-9", "--no-trees")
    assert len(result()["history"]["validation_loss"]) == 3
    assert "--patience 2" in result()["command"]
    assert "--trees, as of --recipe table, is for a table of your own" in refused(
        "train", "schubert", "--n", "3", *SMALL, "--trees"
    )
