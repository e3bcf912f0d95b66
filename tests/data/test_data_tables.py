"""Tables of one's own: whatever holds the numbers, the data set has them exactly; and equal rows stay together."""

import datetime
import json
import random
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import data
from adelic.data.guard import overlap
from adelic.data.rules import Rule, best_rule
from adelic.data.store import write_parquet
from adelic.data.tables import ids_of
from adelic.data.tables.files import read_table
from adelic.errors import (
    AdelicError,
    ConfigurationError,
    EncodingError,
    LeadingZerosWarning,
    LeakError,
    LossyFloatWarning,
    StorageError,
    UnknownNameError,
)

LONG = "0.1000000000000000000000000000000000000001"
PRICES = ["19.99", "1/3", LONG, "-7", "1e3"]


def plain(rows=200):
    """Return a table of a price and a count, whose target is whether the count is odd."""
    return {
        "price": [PRICES[i % len(PRICES)] for i in range(rows)],
        "count": list(range(rows)),
        "odd": ["yes" if i % 2 else "no" for i in range(rows)],
    }


def numbers_of(d, part):
    return [tuple(d.vocabulary[i] for i in row) for row in d.ids(getattr(d, f"X_{part}"))]


def all_rows(d):
    parts = ("train", "validation", "test")
    return sorted(
        (*row, y) for part in parts for row, y in zip(numbers_of(d, part), getattr(d, f"y_{part}"), strict=True)
    )


def same(d, other):
    assert d.provenance["sha256"] == other.provenance["sha256"]


def test_numbers_are_exact():
    d = data.from_table(plain(), target="odd")
    assert all_rows(d) == sorted((Fraction(PRICES[i % 5]), i, i % 2) for i in range(200))
    assert d.class_names == ("no", "yes")
    assert d.is_coded
    assert d.provenance["rows"] == {"all": 200, "train": 144, "validation": 16, "test": 40}


def test_whole_numbers_are_tokens_themselves():
    d = data.from_arrays([[i, -(10**12) * i] for i in range(50)], [i % 3 for i in range(50)])
    assert not d.is_coded
    assert all_rows(d) == sorted((i, -(10**12) * i, i % 3) for i in range(50))
    assert {tuple(row) for row in d.X_test.tolist()} <= {(i, -(10**12) * i) for i in range(50)}


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_any_numbers_come_back_and_equal_rows_share_a_part(seed):
    rng = random.Random(seed)
    rows = [
        (
            Fraction(rng.randint(-60, 60), rng.randint(1, 50)),
            rng.randint(-1, 1) * 10 ** rng.randint(0, 25),
            rng.random() < 0.5,
        )
        for _ in range(100)
    ]
    rows += [*rng.sample(rows, 20), *((Fraction(i), i, bool(i % 2)) for i in range(40))]
    X, y = [row[:2] for row in rows], [row[2] for row in rows]
    d = data.from_arrays(X, y)
    assert all_rows(d) == sorted((Fraction(a), b, int(c)) for a, b, c in rows)
    parts = [set(numbers_of(d, part)) for part in ("train", "validation", "test")]
    assert sum(map(len, parts)) == len(set.union(*parts))
    assert overlap(d, symmetries=False) == {"validation": 0, "test": 0}


def test_every_kind_of_frame_is_the_same_table():
    frame = {"a": [0.5, 2.0, -1.25] * 40, "b": list(range(120)), "flag": [True, False] * 60, "y": list("abc") * 40}
    first = data.from_table(frame, target="y")
    same(first, data.from_table(pd.DataFrame(frame), target="y"))
    same(first, data.from_table(pa.table(frame), target="y"))
    same(first, data.from_table({name: np.array(values) for name, values in frame.items()}, target="y"))
    as_objects = frame | {"a": [Fraction(1, 2), Decimal(2), "-5/4"] * 40}
    same(first, data.from_table(pd.DataFrame(as_objects), target="y"))


SHORT = {
    "arrays": lambda a: {"a": a},
    "pandas": lambda a: pd.DataFrame({"a": a}),
    "pandas' own": lambda a: pd.DataFrame({"a": pd.array(a, dtype="Float32")}),
    "objects": lambda a: pd.DataFrame({"a": pd.Series(list(a), dtype=object)}),
    "categories": lambda a: pd.DataFrame({"a": pd.Categorical(a)}),
    "pandas over pyarrow": lambda a: pd.DataFrame(
        {"a": pd.array(a, dtype=pd.ArrowDtype(pa.from_numpy_dtype(a.dtype)))}
    ),
    "pyarrow": lambda a: pa.table({"a": a}),
    "dictionary": lambda a: pa.table({"a": pa.array(a).dictionary_encode()}),
    "polars": lambda a: pl.DataFrame({"a": a}),
    "torch": lambda a: {"a": torch.tensor(a)},
}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("make", SHORT)
def test_a_short_float_is_the_decimal_that_names_it_in_its_own_dtype(tmp_path, make, dtype):
    lacking = {"pandas' own", "categories", "dictionary"} | (set() if hasattr(pl, "Float16") else {"polars"})
    if dtype == "float16" and make in lacking:
        pytest.skip("there are none of float16")
    values = np.array([0.1, 1163.9, -7, 2.5e-3, 6e4], dtype)
    numbers = [Fraction(str(value)) for value in values]
    frame = SHORT[make](values)
    ids, new = ids_of(frame, ["a"], vocabulary=(), lossy="ignore")
    assert [new[i] for i in ids[:, 0]] == numbers
    if make == "pyarrow":
        pq.write_table(
            pa.table({"a": pa.array([*values, None], pa.from_numpy_dtype(values.dtype))}), tmp_path / "a.parquet"
        )
        found = read_table(tmp_path / "a.parquet")["a"]
        assert [None if q is None else Fraction(str(q)) for q in found] == [*numbers, None]


@pytest.mark.parametrize("frame", [{"a": a, "y": [1]} for a in (5, "12", np.int64(5), np.array(5))])
def test_one_value_is_to_be_a_list(frame):
    with pytest.raises(ConfigurationError, match=r"a list of values; one value is a list, too: \{'a': \[.+\]\}"):
        data.from_table(frame, target="y")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_files(tmp_path, ending):
    path, frame = tmp_path / f"mine.{ending}", plain()
    if ending == "csv":
        lines = [",".join(frame), *(",".join(map(str, row)) for row in zip(*frame.values(), strict=True)), ""]
        path.write_text("\r\n".join(lines), encoding="utf-8-sig")
    elif ending == "jsonl":
        rows = (dict(zip(frame, row, strict=True)) for row in zip(*frame.values(), strict=True))
        path.write_text("".join(json.dumps(row) + "\n\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.table(frame), path)
    same(data.from_table(frame, target="odd"), data.from_table(read_table(path), target="odd"))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a;b;c\n1;2,5;x\n-3;;1,5\n", {"a": ["1", "-3"], "b": ["2.5", ""], "c": ["x", "1,5"]}),  # c is text
        ("a;b\n1,5;2024-01-01\n1.5;2024-01-02\n", {"a": ["1,5", "1.5"], "b": ["2024-01-01", "2024-01-02"]}),
        ('"price, in EUR";b;c\n1,5;2;3\n', {"price, in EUR": ["1.5"], "b": ["2"], "c": ["3"]}),
        ('a\tb\n1,5\t"x\ty"\n', {"a": ["1,5"], "b": ["x\ty"]}),
        ("a|b\n1|2\n", {"a": ["1"], "b": ["2"]}),
        ('a,"b;c;d"\n1,5\n', {"a": ["1"], "b;c;d": ["5"]}),
        ("\ufeffa;b\r\n1;2\r\n", {"a": ["1"], "b": ["2"]}),
    ],
)
def test_separators_and_decimal_commas(tmp_path, text, columns):
    for path in (tmp_path / "a.csv", tmp_path / "a.TSV"):
        path.write_text(text, encoding="utf-8", newline="")
        assert read_table(path) == columns


def test_json_loses_no_digit(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(f'{{"x": {LONG}}}\n{{"x": {"9" * 5000}}}\n', encoding="utf-8")
    assert read_table(path)["x"] == [Decimal(LONG), 10**5000 - 1]


def test_parts_that_a_column_says():
    frame = plain() | {"part": ["train"] * 100 + ["val"] * 40 + ["test"] * 60}
    d = data.from_table(frame, target="odd", split="part")
    assert [len(d.y_train), len(d.y_validation), len(d.y_test)] == [100, 40, 60]
    assert d.X_train.shape == (100, 2)  # the column of parts is not a number
    assert numbers_of(d, "test")[0] == (Fraction(PRICES[0]), 140)


def test_validation_is_drawn_from_train_where_the_column_has_none():
    frame = plain() | {"part": ["train"] * 140 + ["test"] * 60}
    d = data.from_table(frame, target="odd", split="part")
    assert len(d.y_test) == 60
    assert len(d.y_validation) == 12
    assert overlap(d, symmetries=False) == {"validation": 0, "test": 0}


def test_given_parts_that_share_a_row_cannot_be_trained_on():
    frame = {"x": [*range(50), *range(50)], "y": ["a", "b"] * 50, "part": ["train"] * 50 + ["test"] * 50}
    d = data.from_table(frame, target="y", split="part")
    with pytest.raises(LeakError, match="keep equal examples in one part"):
        data.training_rows(d, symmetries=False)


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_together(seed):
    frame = {"x": range(300), "y": [i % 2 for i in range(300)], "customer": [i // 7 for i in range(300)]}
    d = data.from_table(frame, target="y", groups="customer", seed=seed)
    customers = [{int(x) // 7 for x in X[:, 0]} for X in (d.X_train, d.X_validation, d.X_test)]
    assert sum(map(len, customers)) == len(set.union(*customers)) == 43
    assert d.X_train.shape[1] == 1


def test_the_best_rule_names_the_column():
    frame = {"noise": [i * 37 % 100 for i in range(300)], "kind": [i % 3 for i in range(300)], "n": range(300)}
    d = data.from_table(frame | {"y": ["abc"[i % 3] for i in range(300)]}, target="y")
    assert best_rule(d) == Rule("kind", 1.0)


@pytest.mark.parametrize(
    ("values", "class_names"),
    [
        (["b", "a"] * 50, ("a", "b")),
        ([True, False] * 50, ("False", "True")),
        ([10, 9] * 50, ("9", "10")),
        (["10", "9"] * 50, ("9", "10")),
        ([0.5, 1.5] * 50, None),
        ([i % 20 for i in range(100)], tuple(map(str, range(20)))),
        (["010", "008"] * 50, ("008", "010")),
        (["1.0", "0.0"] * 50, ("0.0", "1.0")),
        ([1.0, 0.0] * 50, ("0.0", "1.0")),
        (["7", 7, np.int64(7), 8] * 25, ("7", "8")),
    ],
)
def test_targets(values, class_names):
    frame = {"x": range(100), "y": values}
    if class_names is None:
        assert set(data.from_table(frame, target="y").y_test) == {0.5, 1.5}
        assert data.from_table(frame, target="y", answer="classes").class_names == ("0.5", "1.5")
        with pytest.raises(ConfigurationError, match=r"'y' has 0\.5 in row 0 .*; a number that is predicted is whole"):
            data.from_table(frame, target="y", answer="number")
    assert data.from_table(frame, target="y").class_names == class_names


@pytest.mark.parametrize("values", [("12_1", "121"), ("1", "1.0"), ("01", "1"), (" 1", "1"), (1, 1.0), (True, "1")])
def test_two_spellings_of_a_number_are_refused_or_two_classes(values):
    frame = {"x": range(100), "y": [*values, 3, 3] * 25}
    first, second = (repr(str(value)) for value in values)
    with pytest.raises(
        ConfigurationError, match=f"{first} in row 0 .* and {second} in row 1 .* one number; .*=classes"
    ):
        data.from_table(frame, target="y")
    assert set(data.from_table(frame, target="y", answer="classes").class_names) == {*map(str, values), "3"}


def test_numbers_of_any_length():
    long = [10**5000, Fraction(10**5000 - 1, 9 * 10**5000), "0." + "1" * 5000, "1e-5000", "-1e5000"]
    d = data.from_table({"x": long * 20, "n": range(100), "y": ["1e5000", "2e5000"] * 50}, target="y", answer="classes")
    assert {x for x, _, _ in all_rows(d)} == set(map(Fraction, long[:2])) | {
        Fraction(1, 10**5000),
        Fraction(-(10**5000)),
    }
    assert d.class_names == ("1e5000", "2e5000")
    d = data.from_table({"x": range(100), "y": [10**5000, -(10**5000)] * 50}, target="y", answer="classes")
    assert d.class_names == (f"-1{'0' * 5000}", f"1{'0' * 5000}")
    assert data.audit(d)


@pytest.mark.parametrize("name", ["", " ", "__index_level_0__", "Unnamed: 0"])
def test_the_index_of_pandas_is_no_number_column_unless_it_is_named(name):
    frame = {name: range(200), **plain()}
    with pytest.raises(ConfigurationError, match=r"write it with index=False, or name .* columns=price,count$"):
        data.from_table(frame, target="odd")
    assert data.from_table(frame, target="odd", columns=[name, "count"]).X_train.shape[1] == 2
    assert data.from_table(frame, target="odd", groups=name).X_train.shape[1] == 2


def test_numbers_as_answers():
    frame = {"x": range(300), "y": [-(i**5) for i in range(300)], "few": [i % 3 for i in range(300)]}
    d = data.from_table(frame, target="y", columns=["x"])
    assert d.class_names is None
    assert (d.y_test == -(d.X_test[:, 0].astype(np.int64) ** 5)).all()
    assert data.from_table(frame, target="few", columns=["x"], answer="number").class_names is None


BAD = [  # changes of the table, options, and the error
    ({"price": [*[1] * 199, float("inf")]}, {}, "'price' has inf in row 199"),
    ({"price": [*["1"] * 3, *["red"] * 197]}, {}, "'price' has 'red' in row 3"),
    ({"price": [[1, 2]] * 200}, {}, "'price' has .* in row 0"),
    (
        {"price": [*["1.5", "2", "3"] * 66, "red", "1"]},
        {},
        "'red' in row 198 .* as most values are; .*categories=price",
    ),
    ({"note": [None] * 200}, {}, "'note' has no value in any row; leave it out: columns=price,count"),
    ({"note": ["NA", ""] * 100}, {"columns": "note"}, "'note' has no value in any row; there is nothing to predict"),
    ({"day": [*["2024-02-29"] * 199, "29.2.2024"]}, {}, "'29.2.2024' in row 199 .* not a date as '2024-02-29' is"),
    ({"day": [*["2024-02-28", "2024-03-01"] * 99, "2024-02-30", "2024-03-01"]}, {}, "'2024-02-30' in row 198"),
    ({"day": ["03/04/2024", "01/04/2024"] * 100}, {}, "may be 2024-04-03 or 2024-03-04; write them so"),
    ({}, {"categories": "odd"}, "categories=odd is no column to predict from; these are price, count"),
    ({}, {"split": "time:day"}, "unknown column 'day'"),
    ({}, {"split": "time:odd"}, "column 'odd' has no dates or numbers, so its rows have no order"),
    ({"day": [1, 2] * 100}, {"split": "time:day"}, "'day' has too few different times"),
    ({"odd": [0.25] * 200}, {}, "'odd' has no two different floats"),
    ({"odd": ["1e400", 1] * 100}, {"answer": "real"}, "'odd' has no two different floats, or one beyond"),
    ({"odd": ["yes"] * 200}, {}, "'odd' is 'yes' in every row"),
    ({"odd": [*["yes", "no"] * 99, "yes", "NA"]}, {}, "'odd' has 'NA' in row 199 .*; leave the"),
    ({"odd": [*["1", "0"] * 99, "1", "nan"]}, {}, "'odd' has 'nan' in row 199"),
    ({"odd": [f"name {i}" for i in range(200)]}, {}, "another value in each of the 200 rows"),
    ({"odd": [i + 0.5 for i in range(200)]}, {"answer": "classes"}, "name another target$"),
    ({"odd": range(200)}, {"answer": "classes"}, r"predict it as a number \(answer=number\)"),
    ({"odd": [i + 0.5 for i in range(200)]}, {"answer": "number"}, r"as a real number \(answer=real\), or predict"),
    ({"odd": [10**30, 1] * 100}, {"answer": "number"}, "as a real number"),
    ({}, {"answer": "number"}, r"'odd' has 'no' in row 0 .*predict .* as classes \(answer=classes\)"),
    ({}, {"answer": "clases"}, "did you mean 'classes'"),
    ({}, {"target": "even"}, "unknown column 'even'"),
    ({}, {"target": ["odd", "price"]}, "target=.* the name of one column; a data set has one"),
    ({}, {"columns": ["prise"]}, "did you mean 'price'"),
    ({}, {"columns": ["odd"]}, "columns=odd has the target 'odd' among them; leave it out"),
    ({}, {"columns": ["price", "price"]}, "columns=price,price names 'price' twice"),
    ({}, {"columns": []}, "no column to predict 'odd' from"),
    ({}, {"split": "sometimes"}, "unknown column 'sometimes'"),
    ({}, {"split": "odd"}, r"column 'odd', row 0 .*: unknown part 'no'"),
    ({}, {"groups": "none"}, "unknown column 'none'; .*; groups=none names a column: leave it"),
    ({}, {"seed": -1}, "seed must be a whole number"),
    ({"who": [i % 5 for i in range(200)]}, {"groups": "who"}, "'who' has 5 groups, and at least 6 are needed; add"),
    ({"who": [max(i - 190, 0) for i in range(200)]}, {"groups": "who"}, "'who' has 10 groups of too unequal sizes"),
    (dict.fromkeys(("price", "count", "odd"), ()), {}, "the table has no rows"),
    ({"count": range(3)}, {}, "count has 3 values for 200 rows"),
    ({"price": ["1"] * 200, "count": [1] * 200}, {}, "1 different rows of 200 are too few"),
]


@pytest.mark.parametrize(("changes", "options", "words"), BAD)
def test_bad_tables(changes, options, words):
    with pytest.raises(AdelicError, match=words) as caught:
        data.from_table(plain() | changes, **{"target": "odd"} | options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1, 2], [3]], [0, 1], r"rows of one length, at least 1, not of \[1, 2\]"),
        ([[], []], [0, 1], "rows of one length"),
        ([[1]] * 3, [0, 1], "y has 2 values for 3 rows"),
        ([1, 2], [0, 1], r"X must be rows of numbers, \(rows, length\), not \[1, 2\]"),
        ([[1], [2]], [[0, 1], [1, 1]], r"y must have one target for each row, \(rows,\), not \[0, 1\] for the first"),
        ([[1], [2]], np.array([[0, 1], [1, 1]]), r"y must have one target .* make a data set for each target"),
    ],
)
def test_bad_arrays(X, y, words):
    with pytest.raises(ConfigurationError, match=words):
        data.from_arrays(X, y)


def test_parts_of_arrays_are_one_a_row():
    X, y = [[i] for i in range(60)], [i % 2 for i in range(60)]
    d = data.from_arrays(
        X, y, split=["train"] * 30 + ["validation"] * 10 + ["test"] * 20, groups=[i // 10 for i in range(60)]
    )
    assert [len(d.y_train), len(d.y_validation), len(d.y_test)] == [30, 10, 20]
    with pytest.raises(ConfigurationError, match="split='published' must be 'random', or say train"):
        data.from_arrays(X, y, split="published")
    with pytest.raises(ConfigurationError, match="groups has 1 values for 60 rows"):
        data.from_arrays(X, y, groups=[1])


def test_other_libraries_get_the_numbers():
    d = data.from_table(plain(), target="odd")
    frame = d.to_pandas()
    assert sorted(zip(frame["x0"], frame["x1"], frame["y"].cat.codes, strict=True)) == all_rows(d)
    with pytest.raises(UnknownNameError, match=r"unknown format 'acd'; formats: parquet, csv, jsonl$"):
        data.export(d, "nowhere", format="acd")


def test_an_export_says_which_numbers_stand_where(tmp_path):
    d = data.from_table(plain(), target="odd")
    data.export(d, tmp_path, format="csv")
    about = json.loads((tmp_path / "dataset.json").read_text(encoding="utf-8"))
    assert about["columns"]["x"] == "2 positions in the vocabulary"
    assert [Fraction(text) for text in about["vocabulary"]] == list(d.vocabulary)
    row = (tmp_path / "test.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
    assert [int(cell) for cell in row] == [*d.X_test[0].tolist(), d.y_test[0]]


@pytest.mark.parametrize("frame", [3, None, "table", [1, 2]])
def test_what_is_no_table(frame):
    with pytest.raises(ConfigurationError, match="is not a table"):
        data.from_table(frame, target="y")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("mine.csv", b"", "has no rows"),
        ("mine.csv", b"a,a\n1,2\n", "names the column 'a' twice"),
        ("mine.csv", b'a,b\n"1\n",2\n1\n', "line 4 has 1 values"),
        ("mine.csv", b"a,b\n1,2\n1\n", "line 3 has 1 values and the header has 2"),
        ("mine.csv", b"a,b\n1,\xff\n", "is not UTF-8 text; save it as UTF-8"),
        ("mine.csv", "a,b\n1,2\n".encode("utf-16-le"), "save it as UTF-8"),
        ("mine.csv", b"a;b\n1,2\n", "line 2 has 1 values and the header has 2"),
        (
            "mine.csv",
            b'a,b\n1,"2\n',
            r"the row of line 2 cannot be read \(unexpected end of data\); is a quote not closed",
        ),
        (
            "mine.csv",
            b'a,b\n1,2\n1,"2\n' + b"3,4\n" * 40_000,
            r"the row of line 3 cannot be read \(field larger than field limit",
        ),
        ("mine.csv", b'a,b\n1,"2"3\n', r"the row of line 2 cannot be read \(',' expected"),
        ("mine.jsonl", b'{"a": 1}\n{"a": 1, "b": 2, "a": 3}\n', "line 2 names 'a' twice"),
        ("mine.jsonl", b'{"a": 1}\n[2]\n', "line 2 is not an object"),
        ("mine.jsonl", b'{"a": 1}\n{"b": 1}\n', "line 2 is not an object with the keys of the first"),
        ("mine.jsonl", b"[" * 100_000, "is not a table"),
        ("mine.jsonl", b'{"a": 1}\n\n{"a": 1,}\n', "line 3 is not JSON: .* at column"),
        ("mine.jsonl", b'{"a": 1e99999999999999999999}\n', "line 1 has a number whose exponent"),
        ("mine.txt", b"1 2", r"its name must end in \.csv, \.tsv, \.jsonl or \.parquet; save it"),
    ],
)
def test_bad_files(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=words) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


def test_damaged_parquet(tmp_path):
    """Cut, or with a flipped bit in the values of a file that has checksums, as those that we write have."""
    path = tmp_path / "mine.parquet"
    with path.open("wb") as file:
        write_parquet(file, {"a": np.arange(300), "b": np.arange(300) ** 2})
    whole, table, refusals = path.read_bytes(), read_table(path), []
    for i in range(4, len(whole), 37):
        flipped = bytearray(whole)
        flipped[i] ^= 1 << i % 8
        for content in (bytes(flipped), whole[:i]):
            path.write_bytes(content)
            try:
                assert read_table(path) == table  # a bit that nobody reads
            except StorageError as error:
                refusals.append(str(error))
    assert len(refusals) > len(whole) / 37
    words = re.compile(r".*mine.parquet is damaged, or is no Parquet file: .*; write it again from its source")
    assert all(map(words.fullmatch, refusals))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("mine.csv", 'a,y\n1,p\n"\n2",q\n\nx,p\n', r"column 'a' has 'x' in row 3 \(line 6\), which is not a number"),
        ("mine.csv", "a,y\n1,p\n2,\n3,p\n", r"column 'y' has no value in row 2 \(line 3\); fill it in"),
        ("mine.csv", "a,y\n1,0\n2,1\n3,NA\n", r"the target 'y' has 'NA' in row 3 \(line 4\)"),
        ("mine.jsonl", '{"a": 1, "y": 0}\n\n{"a": [2], "y": 1}\n', r"column 'a' has \[2\] in row 2 \(line 3\)"),
    ],
)
def test_errors_name_the_line_of_a_file(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words):
        data.from_table(read_table(path), target="y")


def test_errors_of_parquet_count_rows_as_those_of_csv_do(tmp_path):
    pq.write_table(pa.table({"a": ["1", "2", "x"], "y": ["p", "q", "p"]}), tmp_path / "mine.parquet")
    with pytest.raises(ConfigurationError, match=r"column 'a' has 'x' in row 3 \(counted from 1\), which"):
        data.from_table(read_table(tmp_path / "mine.parquet"), target="y")


def test_a_date_beyond_those_of_python_names_its_column(tmp_path):
    day = pa.array([0, 1 << 50], pa.timestamp("ms"))
    pq.write_table(pa.table({"a": [1, 2], "day": day}), tmp_path / "mine.parquet")
    with pytest.raises(ConfigurationError, match=r"column 'day' has a value that Python cannot hold \("):
        read_table(tmp_path / "mine.parquet")


def test_classes_of_one_row_are_warned_of():
    frame = {"x": range(100), "y": [*["a", "b"] * 20, *(f"name {i}" for i in range(60))]}
    with pytest.warns(UserWarning, match="'y' has 62 classes, of which 60 have one row"):
        data.from_table(frame, target="y")


def test_names_that_look_like_no_value():
    for names in (("none", "some"), ("Na", "Ne"), ("Nan", "Pat")):  # sodium and neon, and people
        assert data.from_table(plain() | {"odd": names * 100}, target="odd").class_names == names


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="there is no file"):
        read_table(tmp_path / "mine.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(AdelicError, match="there is no file"):
        read_table(tmp_path / "folder.csv")


def test_too_many_numbers(monkeypatch):
    monkeypatch.setattr("adelic.data.tables.MOST_NUMBERS", 100)
    with pytest.raises(ConfigurationError, match="204 different numbers, and at most 100"):
        data.from_table(plain() | {"count": range(1000, 1200)}, target="odd")


FLOATS = [i / 100 for i in range(58)]
LOSSY = {
    "id": ([*FLOATS, 12345678901234567.0, 3.5], LossyFloatWarning, r"row 58 .*: 12345678901234568 is at"),
    "short": (
        np.array([*range(59), 2**24], np.float32),
        LossyFloatWarning,
        r"row 59 .*: 16777216 is at or",
    ),
    "sum": ([*FLOATS, 0.1 + 0.2, 7], LossyFloatWarning, r"row 58 .*: 0.30000000000000004 has more than"),
    "widened": (
        [*(i / 4 for i in range(58)), float(np.float32(19.99)), 7],
        LossyFloatWarning,
        "row 58 .* float32 19.9",
    ),
    "zip": ([*map(str, range(59)), "00501"], LeadingZerosWarning, r"row 59 .*: the text '00501' has leading zeros"),
}


@pytest.mark.parametrize("name", LOSSY)
def test_lossy_columns_are_told(name):
    values, category, match = LOSSY[name]
    frame = {name: values, "y": ["a", "b"] * 30}
    with pytest.warns(category, match=f"column '{name}', {match}"):
        data.from_table(frame, target="y")
    with pytest.raises(EncodingError, match=match):
        data.from_table(frame, target="y", lossy="error")
    with pytest.raises(EncodingError, match=match.replace("row", "column 'x0', row")):
        data.from_arrays([[value] for value in values], frame["y"], lossy="error")
    data.from_table(frame, target="y", lossy="ignore")
    data.from_table(frame | {"n": range(60)}, target="y", columns=["n"])  # a column that is not read is not told of
    with pytest.warns(category, match=match):
        ids_of(frame, [name], vocabulary=())


def test_lossy_targets_are_told():
    frame = {"x": range(200), "y": [*map(float, range(199)), 2.0**53]}
    with pytest.warns(LossyFloatWarning, match="column 'y', row 199"):
        data.from_table(frame, target="y", answer="number")
    zips = {"x": range(60), "y": ["00501", "10001"] * 30}
    assert data.from_table(zips, target="y").class_names == ("00501", "10001")  # a class keeps its text


def test_a_table_of_a_run_says_what_becomes_of_lossy_columns(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("zip,y\n" + "".join(f"{i:05},{'ab'[i % 2]}\n" for i in range(60)), encoding="utf-8")
    with pytest.warns(LeadingZerosWarning, match=r"row 1 \(line 2\): the text '00000'"):
        data.TableData(str(path), target="y").load(0)
    with pytest.raises(EncodingError, match="leading zeros"):
        data.TableData(str(path), target="y", lossy="error").load(0)
    assert "lossy" not in data.TableData(str(path), target="y").as_dict()
    assert data.TableData(str(path), target="y", lossy="ignore").load(0).provenance["rows"]["all"] == 60


@st.composite
def mixed(draw):
    """Return a table of every kind of column, with gaps."""
    size = draw(st.integers(40, 60))
    days = st.dates(min_value=datetime.date(1900, 1, 1), max_value=datetime.date(2100, 1, 1))
    kinds = {
        "n": st.integers(-5, 5),
        "price": st.decimals(-9, 9, places=2),
        "when": days.map(draw(st.sampled_from([str, lambda day: day, lambda day: f"{day:%d.%m.%Y}"]))),
        "moment": st.datetimes(min_value=datetime.datetime(1900, 1, 1)).map(lambda moment: moment.isoformat(" ")),
        "kind": st.sampled_from(["red", "blue", "none", "x=y"]),
        "is_new": st.sampled_from(["true", "FALSE"]),
    }
    gap = draw(st.sampled_from([None, "", "NA"]))
    frame = {
        name: [
            *draw(st.lists(values, min_size=2, max_size=2, unique=True)),
            *draw(st.lists(values | st.just(gap), min_size=size, max_size=size)),
        ]
        for name, values in kinds.items()
    }
    return frame | {"id": range(size + 2), "y": [i % 3 / 2 for i in range(size + 2)]}


@settings(max_examples=15, deadline=None)
@given(mixed())
def test_new_rows_are_read_as_those_of_training(frame):
    d = data.from_table(frame, target="y")
    rows = sorted(tuple(row) for X in (d.X_train, d.X_validation, d.X_test) for row in d.ids(X).tolist())
    ids, new = ids_of(frame, d.readings, d.vocabulary, words=d.words)
    assert (sorted(map(tuple, ids.tolist())), new) == (rows, ())
    meaning = dict(zip(d.provenance["columns"], np.fromiter(d.tokens, dtype=object)[ids].T.tolist(), strict=True))
    assert meaning["id"] == [*frame["id"]]
    for value, found in zip(frame["price"], meaning["price"], strict=True):
        assert found == (("price", "") if value in (None, "", "NA") else Fraction(value))
    for text, day, second in zip(frame["moment"], meaning["moment"], meaning["moment (second)"], strict=True):
        if text not in (None, "", "NA"):
            since = datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1)
            assert 86400 * day + second == since.days * 86400 + since.seconds + Fraction(since.microseconds, 10**6)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), min_size=40, max_size=60), st.booleans())
def test_the_latest_rows_test_and_equal_rows_share_a_part(pairs, by_group):
    frame = {
        "x": [a for a, _ in pairs],
        "time": [f"2024-01-{b + 1:02}" for _, b in pairs],
        "y": [i % 2 for i in range(len(pairs))],
    }
    frame |= {"who": [a // 3 for a, _ in pairs]} if by_group else {}
    try:
        d = data.from_table(frame, target="y", split="time:time", groups="who" if by_group else None)
    except ConfigurationError as error:
        assert "too few different times" in str(error)  # noqa: PT017  # the rows decide whether there are enough
        return
    days = [[d.tokens[i] for i in d.ids(X)[:, 1]] for X in (d.X_train, d.X_validation, d.X_test)]
    assert max(days[0]) < max(days[1]) < max(days[2])
    assert overlap(d, symmetries=False) == {"validation": 0, "test": 0}
    if by_group:
        groups = [{d.tokens[i] // 3 for i in d.ids(X)[:, 0]} for X in (d.X_train, d.X_validation, d.X_test)]
        assert sum(map(len, groups)) == len(set.union(*groups))


def test_categories_of_one_row_and_new_ones_share_a_word():
    frame = {"x": range(100), "kind": [*["a", "b"] * 49, "c", "d"], "y": [0, 1] * 50}
    d = data.from_table(frame, target="y")
    assert d.words == (("kind", None), ("kind", "a"), ("kind", "b"))
    assert set(d.to_pandas()["x1"]) == {*d.words}
    assert data.audit(data.from_table(frame | {"y": [i / 8 for i in range(100)]}, target="y"))["lookup"]
    new = {"x": [1, 2, 3], "kind": ["c", "zebra", ""]}
    ids, _ = ids_of(new, d.readings, d.vocabulary, words=d.words)
    assert ids[:, 1].tolist() == [0, 0, 0]
    with pytest.raises(ConfigurationError, match=r"'x' has no value in row 1 .*, and had one in each row of training"):
        ids_of({"x": [1, ""], "kind": ["a", "b"]}, d.readings, d.vocabulary, words=d.words)
    codes = data.from_table(frame | {"x": [i % 30 for i in range(100)]}, target="y", columns="x", categories="x")
    assert codes.words[:3] == (("x", None), ("x", "0"), ("x", "1"))
    with pytest.warns(UserWarning, match="'kind' has 100 different texts, of which 100 are in one row"):
        data.from_table(frame | {"kind": [f"name {i}" for i in range(100)]}, target="y")


def test_too_many_decimals_are_rounded_and_told(monkeypatch):
    monkeypatch.setattr("adelic.data.tables.MOST_NUMBERS", 100)
    monkeypatch.setattr("adelic.data.tables._MANY", 50)
    frame = {"x": [f"1.000{i:03}" for i in range(200)], "y": [0, 1] * 100}
    with pytest.warns(UserWarning, match="at most 100 are possible: the decimals of x are read with 4 significant"):
        d = data.from_table(frame | {"n": [i % 90 for i in range(200)]}, target="y")
    assert Fraction(1) in d.vocabulary
    assert ids_of({"x": ["1.00000001"], "n": [3]}, d.readings, d.vocabulary)[1] == ()


def test_times_of_day_are_seconds_and_new_ones_are_read_so():
    at = [f"{i % 24}:{i % 60:02}" for i in range(120)]
    d = data.from_table({"at": [*at[:119], ""], "late": [i % 24 > 12 for i in range(120)]}, target="late")
    assert d.provenance["readings"] == [{"name": "at", "kind": "time", "has_gaps": True}]
    assert max(d.vocabulary) == 85_620  # 23:47
    places, new = ids_of({"at": ["01:01:30"]}, d.readings, d.vocabulary, words=d.words)
    assert (places.shape, new) == ((1, 1), (Fraction(3690),))
    with pytest.raises(ConfigurationError, match=r"column 'at' has '25:00' in row 0 .* not a time of day"):
        ids_of({"at": ["25:00"]}, d.readings, d.vocabulary, words=d.words)
