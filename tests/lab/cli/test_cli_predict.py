"""`adelic predict`: new rows by a run on a table of one's own."""

import csv
import json
from pathlib import Path

import pytest

TRAIN = ("train", "mine.csv", "--recipe", "quick", "--epochs", "1", "--n-layers", "1", "--device", "cpu")


@pytest.fixture
def table(folder):
    """A table in the working folder, and new rows."""
    lines = "".join(f"{n},{n % 7}/2,{'odd' if n % 2 else 'even'}\n" for n in range(80))
    Path("mine.csv").write_text(f"n,half,kind\n{lines}", encoding="utf-8")
    Path("new.csv").write_text('half,n,note\n9/2,100,"a, b"\n1.5,-3,\n', encoding="utf-8")


def rows(text):
    return list(csv.DictReader(text.splitlines()))


def test_new_rows(works, table):
    works(*TRAIN, "--target", "kind", "--columns", "n,half", "--run-dir", "runs/mine")
    found = rows(works("predict", "mine", "new.csv"))
    assert [list(row) for row in found] == [["half", "n", "note", "prediction", "probability"]] * 2
    assert [(row["half"], row["n"], row["note"]) for row in found] == [("9/2", "100", "a, b"), ("1.5", "-3", "")]
    assert all(row["prediction"] in ("odd", "even") and 0.5 <= float(row["probability"]) <= 1 for row in found)
    assert works("predict", "runs/mine", "new.csv", "--output", "out.csv") == "wrote out.csv: 2 rows\n"
    assert rows(Path("out.csv").read_text(encoding="utf-8")) == found
    Path("new.jsonl").write_text('{"half": 1.5, "n": -3, "note": "half a pair: \\ud83d"}\n', encoding="utf-8")
    works("predict", "mine", "new.jsonl", "--output", "out.csv")
    assert rows(Path("out.csv").read_text(encoding="utf-8"))[0]["note"] == r"half a pair: \ud83d"
    # Values come out as JSON has them, with all digits also where Python's own bound on integers is 4,300.
    long, values = "7" * 4301, {"a": True, "b": {"c": [1, None, "é"], "d": {}}, "e": [False, "x"], "f": None, "g": 0.25}
    line = json.dumps({"n": 3, "half": 2, **values}, ensure_ascii=False)[:-1]
    Path("new.jsonl").write_text(f'{line}, "long": {long}, "inside": [-{long}, 1.10]}}\n', encoding="utf-8")
    (row,) = rows(works("predict", "mine", "new.jsonl"))
    assert {key: json.loads(row[key]) for key in "abeg"} == {key: values[key] for key in "abeg"}
    assert (row["a"], row["f"], row["long"], row["inside"]) == ("true", "", long, f"[-{long}, 1.10]")


def test_lost_numbers_in_new_rows(works, refused, table):
    works(*TRAIN, "--target", "kind", "--columns", "n,half", "--run-dir", "runs/mine")
    Path("new.csv").write_text("n,half\n007,1\n", encoding="utf-8")
    assert "leading zeros" in refused("predict", "mine", "new.csv", "--lossy", "error")
    works("predict", "mine", "new.csv", "--lossy", "ignore")


def test_new_numbers_side_by_side(works, table):
    works(*TRAIN, "--target", "kind", "--columns", "n,half", "--body", "mlp", "--run-dir", "runs/mine")
    found = rows(works("predict", "mine", "new.csv"))
    assert all(row["prediction"] in ("odd", "even") and 0.5 <= float(row["probability"]) <= 1 for row in found)


def test_numbers_as_answers(works, table):
    works(*TRAIN, "--target", "n", "--columns", "half", "--answer", "number", "--run-dir", "runs/mine")
    found = rows(works("predict", "mine", "new.csv"))
    assert "probability" not in found[0]
    assert all(abs(int(row["prediction"])) < 80 for row in found)


def test_what_is_refused(works, refused, table):
    command = (*TRAIN, "--target", "kind", "--columns", "n,half", "--run-dir")
    works(*command, "runs/mine")
    works(*command, "runs/learned", "--embedding", "learned")
    works(*command, "runs/places", "--features", "characters", "--places", "late")
    works(*TRAIN[:1], "schubert", "--n", "3", *TRAIN[2:], "--run-dir", "runs/task")
    assert "100 is not in the vocabulary, and learned has a vector" in refused("predict", "learned", "new.csv")
    assert "one with --places flat reads any number" in refused("predict", "places", "new.csv")
    on_a_task = refused("predict", "task", "new.csv")
    assert "runs/task is a run on schubert-3; predictions are for your own tables" in on_a_task
    assert "unknown run 'none'" in refused("predict", "none", "new.csv")
    assert "there is no file none.csv" in refused("predict", "mine", "none.csv")
    for content, words in (
        ("n,note\n1,2\n", "the new rows have no column 'half', which the run was trained on; their columns: n, note"),
        ("N,half\n1,2\n", "no column 'n', which the run was trained on; rename 'N', if that is it; their columns: N"),
        ("n,half\n1e309,2\n", "column 'n' has 1000000…000 (310 digits) in row 1 (line 2), beyond the largest float"),
        ("n,half\n1,2\n3,x\n", "column 'half' has 'x' in row 2 (line 3), which is not a number; write a number there"),
        ("n,half\n1,\n", "column 'half' has no value in row 1 (line 2)"),
        (
            "n,half\n1,1/8\n",
            "column 'half' has 1/8 in row 1 (line 2), which needs 3 digits after the point, and the run has 1; train "
            "another one with --fractional-digits 3",
        ),
        ("n,half,prediction\n1,2,3\n", "new.csv has a column 'prediction' already; rename it there"),
    ):
        Path("new.csv").write_text(content, encoding="utf-8")
        assert words in refused("predict", "mine", "new.csv")
    Path("new.csv").write_text("n,half\n1,2\n", encoding="utf-8")
    (Path("runs/learned") / "checkpoint.safetensors").write_bytes(b"")
    line = refused("predict", "learned", "new.csv")
    assert "this trains it anew: adelic train mine.csv --target kind" in line
    assert line.endswith("--seed 0 --run-dir runs/learned --restart")
    Path("mine.csv").rename("other.csv")
    words = "the table that the run was trained on, mine.csv, is not here: run this in the folder where the run was"
    assert words in refused("predict", "mine", "new.csv")
    Path("mine.csv").write_text("n,half,kind\n", encoding="utf-8")
    assert "mine.csv has changed since; put its former content back" in refused("predict", "mine", "new.csv")
    (Path("runs/mine") / "DONE").unlink()
    line = refused("predict", "mine", "new.csv")
    assert "runs/mine holds no finished run; this makes it one: adelic train mine.csv --target kind" in line
    assert line.endswith("--seed 0 --run-dir runs/mine")


def test_no_output_replaces_what_is_read(works, refused, table):
    works(*TRAIN, "--target", "kind", "--columns", "n,half", "--run-dir", "runs/mine")
    Path("link.csv").symlink_to("mine.csv")
    Path("file").touch()
    kept = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    for output, words in (
        ("mine.csv", "--output mine.csv would replace mine.csv, which is an input; choose another name"),
        ("link.csv", "would replace mine.csv, which is an input"),
        ("new.csv", "would replace new.csv"),
        ("out.parquet", "is to be a file in CSV: give it a name that ends in .csv"),
        ("runs/mine/checkpoint.safetensors", "ends in .csv"),
        ("file/out.csv", "cannot write file/out.csv: "),
    ):
        assert words in refused("predict", "mine", "new.csv", "--output", output)
    audit = ("data", "audit", "mine.csv", "--target", "kind", "--columns", "n,half", "--output")
    for output, words in (
        ("mine.csv", "is to be a file in JSON: give it a name that ends in .json"),
        ("runs/mine/result.json", "would replace a file of the run there"),
        ("file/out.json", "cannot write file/out.json: "),
    ):
        assert words in refused(*audit, output)
    for output, words in (
        ("mine.html", "the report mine.html comes with mine.csv, and there is such a file already, which is no"),
        ("file/mine.html", "cannot write file/mine.html: "),
    ):
        assert words in refused("report", "--output", output)
    assert "ends in .csv" in refused("report", "--csv", "mine.parquet")
    assert "cannot write into file" in refused("report", "--figures", "file")
    assert kept == {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    for _ in range(2):  # its own files it replaces
        assert len(works("report", "--output", "page.html").split("wrote ")) == 5
