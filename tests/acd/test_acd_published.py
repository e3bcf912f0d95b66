"""Official files, written here from our own data with errors planted, are read and every error is found and named.

Nothing is downloaded. The forms of the files are those that `adelic.acd.published.files` describes.
"""

import errno
import json
import os
import sys
from itertools import combinations
from math import isqrt
from pathlib import Path

import numpy as np
import pytest

from adelic import acd
from adelic.acd import lattice, quiver, rsk
from adelic.acd.published import checks as published_checks
from adelic.acd.published.layouts import LAYOUTS, nested_lists, permutation_of_inversions
from adelic.errors import ConfigurationError, EncodingError, MissingExtraError, StorageError, UnknownNameError

SIZES = {"mheight": 7, "weaving": 5, "schubert": 4, "lattice": 10, "characters": 8, "kl": 4, "rsk": 5, "quiver": 6}
"""The sizes that are written here; grassmannian has one alone, which is large."""

HUB_NAMES = {
    "mheight": "mheight_{n}_{split}.jsonl",
    "weaving": "weaving_patterns_{n}_{split}.jsonl",
    "schubert": "schubert_{n}_{split}.jsonl",
    "lattice": "lattice_paths_{n}x{m}_{split}.jsonl",
    "grassmannian": "grassmannian_cluster_algebras_{split}.jsonl",
    "characters": "symmetric_group_characters_{n}_{split}.jsonl",
    "kl": "kl_polynomials_{n}_{split}.jsonl",
    "quiver": "quiver_mutation_equivalence_{split}.jsonl",
    "rsk": "robinson_schensted_knuth_{n}_{split}.jsonl",
}
"""The first, second and fourth are the real ones; the others have not been seen."""


def parts(x):
    """Return the two halves of a row."""
    return x[: len(x) // 2], x[len(x) // 2 :]


def unpadded(entries):
    """Return a list without the zeros at its end, but one."""
    last = max((place for place, entry in enumerate(entries) if entry), default=0)
    return entries[: last + 1]


def record(task, x, y):
    """Return a row as the object that stands for it on the hub."""
    if task == "mheight":
        return {"Permutation": x, "mHeight": y}
    if task == "weaving":
        return {"Matrix": x, "Label": y}
    if task == "schubert":  # names that are not known to the reader
        n = (len(x) + 1) // 4
        return {"alpha": x[:n], "beta": x[n : 2 * n], "gamma": x[2 * n :], "constant": y}
    if task == "lattice":
        return {"Lattice path 1": parts(x)[0], "Lattice path 2": parts(x)[1], "Label": y}
    if task == "grassmannian":
        return {"Semistandard Young tableau": [x[:4], x[4:8], x[8:]], "Cluster variable?": y}
    if task == "characters":
        lam, mu = map(unpadded, parts(x))
        return {"Irreducible representation": lam, "Conjugacy class": mu, "Character": y}
    if task == "kl":
        return {"Permutation 1": parts(x)[0], "Permutation 2": parts(x)[1], "Coefficients": unpadded(y)}
    if task == "quiver":  # names that are not known to the reader, and another labelling than ours
        n = isqrt(len(x))
        return {
            "b": np.array(x).reshape(n, n)[::-1, ::-1].tolist(),
            "type": f"{quiver.TYPES[y]}_{n}",
        }
    P, Q = rsk.tableaux(x)
    w = rsk.permutations_of(np.array([y]))[0].tolist()
    return {"Permutation": w, "Standard Young tableau 1": P, "Standard Young tableau 2": Q}


def text_lines(task, x, y):
    """Return {pattern of the file's name: line} of a row in the older text files."""
    compact = lambda values: json.dumps(values, separators=(",", ":"))  # noqa: E731
    if task == "mheight":
        bits = "".join(str(int(a > b)) for a, b in combinations(x, 2))
        return {"mHeight_{n}_{split}.txt": f"{bits};{y}"}
    if task == "weaving":
        return {"weaving_pattern_{split}_{n}.txt": compact(x), "labels_{split}_{n}.txt": str(y)}
    if task == "schubert":
        n = (len(x) + 1) // 4
        w = x[2 * n :]
        while len(w) > n and w[-1] == len(w):  # as the README shows them
            w = w[:-1]
        return {"schubert_structure_coefficients_triples_{n}_{split}.txt": f"({x[:n]}, {x[n : 2 * n]}, {w}, {y})"}
    if task == "lattice":
        quoted = ", ".join(f"'{step}'" for step in x)
        return {f"{lattice.LABELS[y]}_covers_{{split}}_{{n}}_{{m}}.csv": quoted}
    if task == "grassmannian":
        kind = "valid" if y else "invalid"
        return {f"3_4_12_{kind}_{{split}}.txt": str([x[:4], x[4:8], x[8:]])}
    if task == "characters":
        lam, mu = map(unpadded, parts(x))
        return {"sym_grp_char_{n}_{split}.txt": f"{lam},{mu},{y}"}
    if task == "kl":  # the README counts from 1
        lower, upper = ("".join(str(entry + 1) for entry in half) for half in parts(x))
        return {"kl_polynomials_{n}_{split}.txt": ", ".join([lower, upper, *map(str, unpadded(y))])}
    if task == "quiver":
        return {f"{quiver.TYPES[y]}_{isqrt(len(x))}_depth9_bmatrices_{{split}}.csv": ",".join(map(str, x))}
    r = record(task, x, y)
    pair = [r["Standard Young tableau 1"], r["Standard Young tableau 2"]]
    return {
        "output_tableau_pairs_{n}_{split}.txt": str(pair),
        "input_permutations_{n}_{split}.txt": str(r["Permutation"]),
    }


def write(folder, task, n, splits, *, form="jsonl"):
    """Write {"train": (X, y), "test": (X, y)} as official files.

    Args:
        form: "jsonl", "parquet" (as the hub converts them) or "text".
    """
    folder.mkdir(parents=True, exist_ok=True)
    for split, (X, y) in splits.items():
        names = {"n": n, "m": n - 1, "split": split}
        rows = list(zip(np.asarray(X).tolist(), np.asarray(y).tolist(), strict=True))
        if form == "text":
            files = {}
            for row in rows:
                for name, line in text_lines(task, *row).items():
                    files.setdefault(name.format(**names), []).append(line)
            for name, lines in files.items():
                (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
            continue
        records = [record(task, *row) for row in rows]
        if form == "jsonl":
            text = "".join(json.dumps(each) + "\n" for each in records)
            (folder / HUB_NAMES[task].format(**names)).write_text(text, encoding="utf-8")
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            place = folder / "default" / split
            place.mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(records), place / "0000.parquet")


def ours(task, n):
    """Return our data set in two splits, as the official ones have."""
    d = acd.load(task, n=n)
    X, y = np.concatenate([d.X_train, d.X_validation]), np.concatenate([d.y_train, d.y_validation])
    return {"train": (X, y), "test": (d.X_test, d.y_test)}


def sorted_rows(X, y):
    """Return rows with their labels in an order of their own."""
    both = np.column_stack([X, y])
    return both[np.lexsort(both.T)]


@pytest.fixture
def planted(tmp_path):
    """Write a data set of ours as official files, changed as wanted, and load it."""

    def plant(task, n, change=lambda splits: None, *, form="jsonl", edit=None, **arguments):
        splits = {split: (X.copy(), y.copy()) for split, (X, y) in ours(task, n).items()}
        change(splits)
        folder = tmp_path / f"{task}_files"
        write(folder, task, n, splits, form=form)
        if edit is not None:
            edit(folder)
        return acd.load_published(folder, task=task, **arguments)

    return plant


def found(p, kind):
    """Return the problems of a kind."""
    problems = [problem for problem in p.report.problems if problem.kind == kind]
    assert p.report.totals.get(kind, 0) == len(problems) or len(problems) == published_checks.LISTED
    return problems


def replace_line(folder, name, number, text):
    path = folder / name
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number - 1] = text
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("form", ["jsonl", "parquet", "text"])
@pytest.mark.parametrize("task", SIZES)
def test_right_files_come_back_row_by_row_without_a_complaint(planted, task, form):
    p = planted(task, SIZES[task], form=form)
    for split, (X, y) in ours(task, SIZES[task]).items():
        read, labels = getattr(p, f"X_{split}"), getattr(p, f"y_{split}")
        if task == "quiver" and form != "text":  # which `record` writes with the vertices in the opposite order
            read = read.reshape(-1, 6, 6)[:, ::-1, ::-1].reshape(len(read), 36)
        if task in ("lattice", "quiver") and form == "text":  # one file for each label
            np.testing.assert_array_equal(sorted_rows(read, labels), sorted_rows(X, y))
        else:
            np.testing.assert_array_equal(read, X)
            np.testing.assert_array_equal(labels, y)
    assert p.report.labels == "as documented here"
    assert set(p.report.totals) == ({"no true cover"} if task == "lattice" else set())
    assert all(count.equal for count in p.report.counts)
    d = acd.load(task, n=SIZES[task])
    assert (p.class_names, p.vocabulary) == (d.class_names, d.vocabulary)
    assert len(p.X_validation) == len(p.y_validation) == 0
    if task != "lattice":
        np.testing.assert_array_equal(p.truth_train, p.y_train)
        np.testing.assert_array_equal(p.truth_test, p.y_test)


def test_grassmannian_files(tmp_path):
    """Few tableaux, three of them cluster variables, one of those and one other with the wrong label."""
    variables = acd.grassmannian.cluster_variables(4, 12).reshape(-1, 12)
    others = np.array([[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, last] for last in (3, 4, 5)], np.int8)
    splits = {
        "train": (np.concatenate([variables[:2], others[:1]]), np.array([1, 0, 0])),
        "test": (np.concatenate([variables[2:3], others[1:]]), np.array([1, 1, 0])),
    }
    for form in ("jsonl", "text"):
        folder = tmp_path / f"grassmannian_{form}"
        write(folder, "grassmannian", 12, splits, form=form)
        p = acd.load_published(folder)
        assert p.report.totals == {"wrong label": 2, "missing": len(variables) - 3}
        assert sorted(problem.what[:8] for problem in found(p, "wrong label")) == ["0, not 1", "1, not 0"]
        for split, (X, y) in splits.items():
            read = sorted_rows(getattr(p, f"X_{split}"), getattr(p, f"y_{split}"))
            np.testing.assert_array_equal(read, sorted_rows(X, y))
        assert [count.found for count in p.report.counts] == [6, 3, 3]


@pytest.mark.parametrize("task", ["mheight", "weaving", "schubert", "lattice"])
def test_a_wrong_class_is_found(planted, task):
    def change(splits):
        y = splits["test"][1]
        y[5] = 1 - min(y[5], 1)

    p = planted(task, SIZES[task], change)
    (problem,) = found(p, "wrong label")
    X, y = ours(task, SIZES[task])["test"]
    assert problem.where.endswith("_test.jsonl:6")
    assert problem.what == f"{1 - min(y[5], 1)}, not {y[5]}: {X[5].tolist()}"
    assert p.y_test[5] == 1 - min(y[5], 1)
    if task != "lattice":  # whose truth is another matter
        assert np.flatnonzero(p.y_test != p.truth_test).tolist() == [5]
        assert p.truth_test[5] == y[5]


@pytest.mark.parametrize("task", ["characters", "kl", "rsk"])
def test_a_wrong_target_is_found(planted, task):
    def change(splits):
        y = splits["train"][1]
        if task == "characters":
            y[3] += 1
        elif task == "kl":
            y[3, 1] = 3
        else:
            y[3] = y[4]

    p = planted(task, SIZES[task], change)
    (problem,) = found(p, "wrong label")
    X, y = ours(task, SIZES[task])["train"]
    assert problem.where.endswith("_train.jsonl:4")
    assert f"not {y[3].tolist()}: {X[3].tolist()}" in problem.what
    np.testing.assert_array_equal(p.truth_train, y)


def test_each_wrong_label_is_computed_in_two_ways(planted, monkeypatch):
    """By look-up, and by the task's own function: if they ever disagree, that is said and nothing is returned."""
    monkeypatch.setitem(published_checks.FORMS, "mheight", published_checks.Form(compute=lambda tokens: 99))
    planted("mheight", 6)  # where no label is wrong, nothing is computed
    with pytest.raises(AssertionError, match="two computations"):
        planted("mheight", 6, lambda splits: splits["train"][1].__setitem__(0, 1 - splits["train"][1][0]))


@pytest.mark.parametrize("task", SIZES)
def test_the_second_computation_agrees_with_the_first(task):
    compute = published_checks.FORMS[task].compute
    if compute is None:
        assert task in ("lattice", "quiver")
        return
    X, y = ours(task, SIZES[task])["test"]
    for tokens, label in zip(X[:20].tolist(), y[:20].tolist(), strict=True):
        assert compute(tokens) == label


def test_a_quiver_in_another_labelling_is_a_duplicate_and_another_class_is_wrong(planted):
    def change(splits):
        X, y = splits["train"]
        relabelled = quiver.relabel(X[7].reshape(6, 6), [2, 0, 1, 3, 5, 4]).reshape(1, 36)
        splits["train"] = np.concatenate([X, relabelled]), np.append(y, y[7])
        splits["test"][1][2] = (splits["test"][1][2] + 1) % 7

    p = planted("quiver", 6, change)
    train = len(ours("quiver", 6)["train"][1])
    (problem,) = found(p, "duplicate")
    name = "quiver_mutation_equivalence_train.jsonl"
    assert (problem.where, problem.what) == (f"{name}:{train + 1}", f"the same row as {name}:8")
    (problem,) = found(p, "wrong label")
    assert problem.where == "quiver_mutation_equivalence_test.jsonl:3"
    assert set(p.report.totals) == {"duplicate", "wrong label"}


def test_what_is_no_exchange_matrix_of_the_task_is_found(planted):
    def change(splits):
        X = splits["train"][0]
        X[0] = 0  # an exchange matrix, of no class here
        X[1] = 1  # none at all

    p = planted("quiver", 6, change)
    assert [problem.where for problem in found(p, "outside")] == [
        f"quiver_mutation_equivalence_train.jsonl:{line}" for line in (1, 2)
    ]


def test_a_duplicate_is_found_within_a_file_and_across_the_splits(planted):
    def change(splits):
        for split, source in (("train", splits["train"]), ("test", splits["train"])):
            X, y = splits[split]
            splits[split] = np.concatenate([X, source[0][7:8]]), np.concatenate([y, source[1][7:8]])

    p = planted("schubert", 4, change)
    assert [(problem.where, problem.what) for problem in found(p, "duplicate")] == [
        ("schubert_4_train.jsonl:1685", "the same row as schubert_4_train.jsonl:8"),
        ("schubert_4_test.jsonl:422", "the same row as schubert_4_train.jsonl:8"),
    ]
    rows = next(count for count in p.report.counts if count.what == "rows")
    assert (rows.found, rows.published, rows.equal) == (2107, 2105, False)


def test_missing_rows_are_named(planted):
    def change(splits):
        X, y = splits["train"]
        splits["train"] = np.delete(X, 11, axis=0), np.delete(y, 11)

    for task in ("mheight", "kl"):
        p = planted(
            task, SIZES[task], change if task == "mheight" else lambda s: s.update(train=_without(s["train"], 11))
        )
        (problem,) = found(p, "missing")
        assert problem.what == str(ours(task, SIZES[task])["train"][0][11].tolist())


def _without(rows, place):
    return tuple(np.delete(values, place, axis=0) for values in rows)


def test_what_is_no_row_of_the_task_is_found(planted):
    """A permutation with the pattern 4231 has no mHeight in the data set."""

    def change(splits):
        splits["test"][0][0] = [0, 1, 2, 6, 4, 5, 3]

    p = planted("mheight", 7, change)
    (problem,) = found(p, "outside")
    assert problem == ("outside", "mheight_7_test.jsonl:1", "no row of mheight: [0, 1, 2, 6, 4, 5, 3]")
    assert p.truth_test[0] == published_checks.OUTSIDE
    assert len(found(p, "missing")) == 1


MALFORMED = {
    "no JSON": ('{"Permutation": [2, 3, 0', "is no JSON"),
    "no object": ("[1, 2]", "[1, 2] is no object"),
    "no column": ('{"mHeight": 0}', "there is no 'Permutation'"),
    "no permutation": ('{"Permutation": [2, 3, 0, 0, 1, 5, 4], "mHeight": 0}', "is no permutation"),
    "another size": ('{"Permutation": [2, 3, 0, 1], "mHeight": 0}', "4 tokens, but 7 for n=7"),
    "a float": ('{"Permutation": [2, 3, 0, 1, 4, 5, 6], "mHeight": 0.0}', "the label 0.0 is no whole number"),
    "a bool": ('{"Permutation": [2, 3, 0, 1, 4, 5, 6], "mHeight": true}', "the label True is no whole number"),
    "no label": ('{"Permutation": [2, 3, 0, 1, 4, 5, 6], "mHeight": null}', "the label None is no whole number"),
    "no class": ('{"Permutation": [2, 3, 0, 1, 4, 5, 6], "mHeight": 9}', "the label 9 is none of 0..3"),
    "a negative label": ('{"Permutation": [2, 3, 0, 1, 4, 5, 6], "mHeight": -1}', "the label -1 is none of 0..3"),
    "a huge label": (f'{{"Permutation": [2, 3, 0, 1, 4, 5, 6], "mHeight": {10**30}}}', "beyond 64 bits"),
    "no text": ("\x00\ufffd", "is no JSON"),
}


@pytest.mark.parametrize("line", MALFORMED)
def test_a_malformed_line_is_named_and_left_out(planted, line):
    text, why = MALFORMED[line]
    p = planted("mheight", 7, edit=lambda folder: replace_line(folder, "mheight_7_train.jsonl", 30, text))
    (problem,) = found(p, "malformed")
    assert problem.where == "mheight_7_train.jsonl:30"
    assert why in problem.what
    X, y = ours("mheight", 7)["train"]
    np.testing.assert_array_equal(p.X_train, np.delete(X, 29, axis=0))
    np.testing.assert_array_equal(p.y_train, np.delete(y, 29))
    assert len(found(p, "missing")) == 1


@pytest.mark.parametrize(
    ("task", "name", "text", "why"),
    [
        ("mheight", "mHeight_7_test.txt", "011;1", "3 tokens, but 7 for n=7"),
        ("mheight", "mHeight_7_test.txt", "010000000000000000000;1", "is no inversion vector"),
        ("mheight", "mHeight_7_test.txt", "000000000000000000000", "is no line of mHeight_7_test.txt"),
        ("weaving", "weaving_pattern_test_5.txt", "[1,2", "is no line of"),
        ("weaving", "weaving_pattern_test_5.txt", "[1,2,3]", "no n × (n-1) matrix"),
        ("weaving", "weaving_pattern_test_5.txt", str([9] * 20), "the entry 9 is none of 1..5"),
        ("weaving", "labels_test_5.txt", "yes", "is no line of"),
        ("schubert", "schubert_structure_coefficients_triples_4_test.txt", "([1,2],[1,2,3],[1],1)", "expected n, n"),
        ("schubert", "schubert_structure_coefficients_triples_4_test.txt", "([1,2],[1,2],1)", "2 inputs"),
        ("lattice", "lagrange_covers_test_10_9.csv", "1,0,1", "paths of 1 and 2 steps"),
        ("lattice", "lagrange_covers_test_10_9.csv", "10" * 19, "is no lattice path"),
        ("characters", "sym_grp_char_8_test.txt", "[8],[7],1", "partitions of 8 and 7"),
        ("characters", "sym_grp_char_8_test.txt", "[3,5],[8],1", "no partition"),
        ("characters", "sym_grp_char_8_test.txt", f"[{10**15}],[{10**15}],1", "partitions of 1000000000000000, beyond"),
        ("kl", "kl_polynomials_4_test.txt", "1234, 12345, 1", "permutations of 4 and 5 points"),
        ("kl", "kl_polynomials_4_test.txt", "1234, 1234, 1, 0, 0, 7", "beyond"),
        ("rsk", "output_tableau_pairs_5_test.txt", "[[[1, 2, 3, 4, 5]], [[1, 2, 3, 5], [4]]]", "same shape"),
        ("rsk", "input_permutations_5_test.txt", "[1, 2, 3, 4]", "tableaux of 5 entries and a permutation of 4"),
    ],
)
def test_malformed_lines_of_text_files(planted, task, name, text, why):
    p = planted(task, SIZES[task], form="text", edit=lambda folder: replace_line(folder, name, 2, text))
    (problem,) = found(p, "malformed")
    first = name.replace("labels_", "weaving_pattern_").replace("input_permutations_", "output_tableau_pairs_")
    assert problem.where == f"{first}:2"
    assert why in problem.what


@pytest.mark.parametrize("form", ["jsonl", "text"])
def test_a_missing_split_is_named(planted, form):
    def remove(folder):
        for path in folder.glob("*test*"):
            path.unlink()

    with pytest.raises(StorageError, match=r"has .*train.*, but no file of the test split beside it"):
        planted("weaving", 5, form=form, edit=remove)


@pytest.mark.parametrize(
    ("task", "name", "words"),
    [
        ("quiver", "DE_6_depth9_bmatrices_test.csv", "no test file of DE"),
        ("weaving", "labels_test_5.txt", "labels_test_5.txt, which has the labels of weaving_pattern_test_5.txt"),
        ("lattice", "matching_covers_train_10_9.csv", "no train file of matching"),
        ("rsk", "input_permutations_5_train.txt", "input_permutations_5_train.txt, which has the labels of"),
    ],
)
def test_a_missing_text_file_is_named(planted, task, name, words):
    with pytest.raises(StorageError) as caught:
        planted(task, SIZES[task], form="text", edit=lambda folder: (folder / name).unlink())
    assert words in str(caught.value)


@pytest.mark.parametrize("task", ["weaving", "lattice"])
def test_reversed_labels_are_noticed_and_turned_round(planted, task):
    """The README of the weaving patterns says 0 for a pattern, and the loader of the lattice paths 0 for Lagrange."""

    def change(splits):
        for _, y in splits.values():
            y[:] = 1 - y
        splits["test"][1][4] = 1 - splits["test"][1][4]  # and one is wrong besides

    p = planted(task, SIZES[task], change)
    names = acd.TASKS[task].class_names(SIZES[task], "published")
    assert p.report.labels == f"0 in the files is {names[1]!r}; 1 in the files is {names[0]!r}"
    np.testing.assert_array_equal(p.y_train, ours(task, SIZES[task])["train"][1])
    (problem,) = found(p, "wrong label")
    assert problem.where.endswith("_test.jsonl:5")
    assert p.provenance["labels"] == p.report.labels


def test_labels_that_are_shifted_are_noticed(planted):
    """The README of mHeight forgets the "less 1"."""

    def change(splits):
        for _, y in splits.values():
            y += 1

    p = planted("mheight", 7, change)
    assert p.report.labels.startswith("1 in the files is '0'; 2 in the files is '1'; ")
    np.testing.assert_array_equal(p.y_test, ours("mheight", 7)["test"][1])
    assert not p.report.totals


def test_few_wrong_labels_are_no_renaming(planted):
    def change(splits):
        y = splits["train"][1]
        y[: len(y) // 5] = 1 - y[: len(y) // 5]

    p = planted("weaving", 5, change)
    assert p.report.labels == "as documented here"
    assert p.report.totals == {"wrong label": len(p.y_train) // 5}


def test_an_order_of_rows_that_gives_the_label_away_is_reported(planted):
    """As in the older negatives: the rows of the non-patterns stand in the opposite order."""
    d = acd.load("weaving", n=5, edition="leaky")
    leaky = {
        "train": (np.concatenate([d.X_train, d.X_validation]), np.concatenate([d.y_train, d.y_validation])),
        "test": (d.X_test, d.y_test),
    }
    p = planted("weaving", 5, lambda splits: splits.update(leaky))
    (problem,) = found(p, "leak")
    negatives = 62
    assert f"in {negatives - 1} other matrices" in problem.what
    assert f"{negatives} of these have label 0 and 0 label 1" in problem.what
    assert set(p.report.totals) == {"leak"}


def test_lattice_rows_follow_the_released_rule_and_few_are_true_covers(planted):
    p = planted("lattice", 10)
    X, y, truth = (
        np.concatenate([getattr(p, f"{what}_train"), getattr(p, f"{what}_test")]) for what in ("X", "y", "truth")
    )
    lagrange = y == 1
    assert np.mean(truth[lagrange] == 1) < 0.01
    assert np.mean(truth[~lagrange] == 0) > 0.9
    assert p.report.totals == {"no true cover": np.count_nonzero(truth != y)}
    rng = np.random.default_rng(0)
    covers = {}
    for row in rng.choice(np.flatnonzero(lagrange), 3, replace=False).tolist():
        lower, upper = (tuple(half) for half in parts(X[row].tolist()))
        covers = {order: lattice.covers(lower, order=order) for order in lattice.LABELS}
        is_cover = [upper in covers[order] for order in lattice.LABELS]
        assert truth[row] == (is_cover.index(True) if sum(is_cover) == 1 else published_checks.OUTSIDE)


def test_counts_are_compared_with_the_published_ones(planted):
    p = planted("mheight", 8, lambda splits: splits.update(test=_without(splits["test"], slice(0, 3))))
    by_name = {count.what: count for count in p.report.counts}
    assert by_name["rows"] == ("rows", 9138, 9141, "")
    assert by_name["4"].equal
    text = str(p.report)
    assert "rows: 9,138, published 9,141" in text
    assert "missing: 3\n  no file: [" in text


def test_the_task_is_told_by_names(tmp_path):
    for task in SIZES:
        folder = tmp_path / "one" / task
        write(folder, task, SIZES[task], ours(task, SIZES[task]))
        assert acd.load_published(folder).provenance["task"] == task
        assert acd.load_published(str(folder)).provenance["n"] == SIZES[task]
    with pytest.raises(ConfigurationError, match=r"could be of mheight, .*; say which: task="):
        acd.load_published(tmp_path / "one")
    assert acd.load_published(tmp_path / "one", task="kl").provenance["task"] == "kl"


def test_the_folder_tells_the_task_of_the_parquet_files_of_the_hub(tmp_path):
    folder = tmp_path / "weaving_patterns_5"
    write(folder, "weaving", 5, ours("weaving", 5), form="parquet")
    assert acd.load_published(folder).provenance["task"] == "weaving"
    folder.rename(tmp_path / "downloads")
    with pytest.raises(ConfigurationError, match="say which"):
        acd.load_published(tmp_path / "downloads")


def test_files_of_several_sizes(tmp_path):
    for n in (6, 7):
        write(tmp_path / "mheight", "mheight", n, ours("mheight", n))
    with pytest.raises(ConfigurationError, match=r"sizes 6, 7; say which: n=6"):
        acd.load_published(tmp_path / "mheight")
    assert acd.load_published(tmp_path / "mheight", n=7).X_train.shape[1] == 7
    with pytest.raises(ConfigurationError, match=r"no files of size n=8, but of 6, 7"):
        acd.load_published(tmp_path / "mheight", n=8)
    (tmp_path / "mheight" / "mheight_6_test.jsonl").unlink()
    with pytest.raises(StorageError, match="no file of the test split"):
        acd.load_published(tmp_path / "mheight", n=6)


def test_published_rows_are_a_data_set(planted, tmp_path):
    p = planted("weaving", 5)
    assert isinstance(p, acd.Dataset)
    assert len(p.to_torch()["train"]) == len(p.y_train)
    assert p.to_hf()["test"].features["y"].names == list(p.class_names)
    assert set(p.to_pandas()["split"].unique()) == {"train", "test"}
    paths = acd.export(p, tmp_path / "out", format="csv")
    assert json.loads(paths[-1].read_text(encoding="utf-8"))["data"]["source"] == p.provenance["source"]


def test_provenance(planted):
    p = planted("weaving", 5)
    assert p.provenance["rows"] == {"all": 124, "train": 100, "validation": 0, "test": 24}
    assert sum(sum(classes.values()) for classes in p.provenance["counts"].values()) == 124
    assert set(p.provenance["files"]) == {"weaving_patterns_5_train.jsonl", "weaving_patterns_5_test.jsonl"}
    assert all(len(file["sha256"]) == 64 for file in p.provenance["files"].values())


def test_many_problems_are_counted_and_the_first_are_listed(planted, monkeypatch):
    monkeypatch.setattr(published_checks, "LISTED", 3)
    p = planted("mheight", 7, lambda splits: splits.update(train=_without(splits["train"], slice(10, 500))))
    assert p.report.totals == {"missing": 490}
    assert len(p.report.problems) == 3


def test_small_chunks_give_the_same(planted, monkeypatch):
    monkeypatch.setattr("adelic.acd.published.loading.CHUNK", 7)
    p = planted("kl", 4)
    np.testing.assert_array_equal(p.X_train, ours("kl", 4)["train"][0])
    assert not p.report.totals


@pytest.mark.parametrize("source", ["no such folder", "a/b/c", "file.zip", ""])
def test_a_source_that_is_nothing(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    Path("file.zip").write_text("", encoding="utf-8")
    if source == "":
        with pytest.raises((StorageError, ConfigurationError)):  # the working folder, which has no such files
            acd.load_published(source)
        return
    with pytest.raises(StorageError, match=r"is neither a folder .* nor an id of the Hugging Face hub"):
        acd.load_published(source)


def test_bad_arguments(tmp_path):
    with pytest.raises(UnknownNameError, match=r"unknown task 'wevaing'; did you mean 'weaving'\?"):
        acd.load_published(tmp_path, task="wevaing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StorageError, match="no files of weaving"):
        acd.load_published(tmp_path / "empty", task="weaving")
    with pytest.raises(StorageError, match="no files with train or test in their names"):
        acd.load_published(tmp_path / "empty")


def test_other_columns_are_refused(tmp_path):
    for split in ("train", "test"):
        text = json.dumps({"text": "[3, 1, 2]", "other": "1"}) + "\n"
        (tmp_path / f"mheight_{split}.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(StorageError, match=r"has the columns 'text', 'other'; expected 'Permutation' and 'mHeight'"):
        acd.load_published(tmp_path)


def test_a_damaged_parquet_file_is_named(planted):
    def cut(folder):
        path = folder / "default" / "test" / "0000.parquet"
        path.write_bytes(path.read_bytes()[:200])

    with pytest.raises(StorageError, match=r"0000\.parquet: it is no whole Parquet file"):
        planted("weaving", 5, form="parquet", edit=cut)


def test_empty_files(tmp_path):
    for split in ("train", "test"):
        (tmp_path / f"mheight_7_{split}.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(StorageError, match=r"no line of mheight_7_test.jsonl, .* is a row"):
        acd.load_published(tmp_path)


def test_a_repository_of_the_hub(tmp_path, monkeypatch):
    import huggingface_hub

    write(tmp_path / "downloaded", "weaving", 5, ours("weaving", 5), form="parquet")
    asked = []

    def download(repository, *, repo_type, allow_patterns):
        asked.append((repository, repo_type))
        return str(tmp_path / "downloaded")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    p = acd.load_published("ACDRepo/weaving_patterns_5")
    assert asked == [("ACDRepo/weaving_patterns_5", "dataset")]
    assert p.provenance["source"] == "ACDRepo/weaving_patterns_5"
    assert p.provenance["task"] == "weaving"


def test_offline(monkeypatch):
    """huggingface_hub itself refuses, as it does without a network; nothing is tried."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(StorageError) as caught:
        acd.load_published("ACDRepo/weaving_patterns_6")
    (line,) = str(caught.value).splitlines()
    assert line.startswith(
        "there is no folder ACDRepo/weaving_patterns_6, and it cannot be downloaded from the Hugging Face hub: "
    )
    assert line.endswith("download the files elsewhere and name the local folder that has them")


def test_a_connection_that_breaks(monkeypatch):
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError

    for error in (ConnectionError("reset"), *(base("broken") for base in HfHubHTTPError.__bases__)):

        def breaks(*args, error=error, **kwargs):
            raise error

        monkeypatch.setattr(huggingface_hub, "snapshot_download", breaks)
        with pytest.raises(StorageError, match=r"hub: (reset|broken); download the files elsewhere"):
            acd.load_published("ACDRepo/weaving_patterns_6")


def test_a_name_that_no_file_can_have():
    for source in ("x" * 300, Path("x" * 300)):
        with pytest.raises(StorageError, match=r"cannot read x.*: File name too long; "):
            acd.load_published(source)


@pytest.mark.parametrize("form", ["jsonl", "text", "parquet"])
def test_files_that_cannot_be_read(planted, monkeypatch, form):
    """They are there, and opened after they were found."""

    def refuse(*arguments, **keywords):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def lock(folder):
        monkeypatch.setattr(Path, "open", refuse)
        monkeypatch.setattr("pyarrow.parquet.ParquetFile", refuse)

    with pytest.raises(StorageError, match=r"cannot read .*test"):
        planted("mheight", 5, form=form, edit=lock)


def test_a_path_is_never_looked_for_on_the_hub():
    with pytest.raises(StorageError, match="is neither a folder"):
        acd.load_published(Path("ACDRepo/weaving_patterns_6"))


def test_the_hub_without_its_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adelic\[hf\]'"):
        acd.load_published("ACDRepo/weaving_patterns_6")


def test_progress(planted):
    seen = []
    planted("mheight", 7, progress=lambda *call: seen.append(call))
    assert (0, 2, "reading mheight_7_train.jsonl") in seen
    assert any(what == "permutations" for _, _, what in seen)


@pytest.mark.parametrize("task", LAYOUTS)
def test_every_layout_has_its_task(task):
    assert task in acd.TASKS
    assert task in published_checks.FORMS


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("(0, 2, 1)", [0, 2, 1]),
        ("[1,2,3,5,4],[1,2,3,5,4],[1,2,3,6,4,5];1", [[1, 2, 3, 5, 4], [1, 2, 3, 5, 4], [1, 2, 3, 6, 4, 5], 1]),
        ("[3,1,1],[2,2,1],-2", [[3, 1, 1], [2, 2, 1], -2]),
        ("[1, 2] [3, 4]", [[1, 2], [3, 4]]),
        ("1,2,3,4", [1, 2, 3, 4]),
    ],
)
def test_lines_as_the_readmes_show_them(line, value):
    assert nested_lists(line) == value


def test_inversion_vectors_and_permutations():
    from itertools import permutations

    for w in permutations(range(5)):
        bits = "".join(str(int(a > b)) for a, b in combinations(w, 2))
        assert permutation_of_inversions(bits) == list(w)
    for bits in ("010", "101"):  # of the triples of bits, these two are no inversion vectors
        with pytest.raises(EncodingError):
            permutation_of_inversions(bits)


def test_rows_that_are_public_are_read(tmp_path):
    """Lines of the real files that public pages show, weaving 6 and mHeight 10."""
    matrices = [
        [4, 3, 2, 5, 1, 4, 3, 2, 6, 1, 5, 6, 3, 2, 1, 5, 6, 4, 1, 2, 5, 6, 4, 1, 3, 6, 5, 4, 2, 3],
        [3, 1, 2, 4, 5, 3, 1, 2, 4, 6, 3, 2, 1, 5, 6, 4, 5, 6, 1, 2, 4, 1, 5, 6, 3, 4, 2, 5, 6, 3],
    ]
    leaking = [6, 4, 5, 2, 3, 4, 5, 6, 1, 3, 4, 6, 5, 1, 2, 3, 6, 2, 1, 5, 3, 2, 6, 1, 4, 3, 2, 5, 1, 4]
    train, test = (tmp_path / f"weaving_patterns_6_{split}.jsonl" for split in ("train", "test"))
    train.write_text("".join(f'{{"Matrix": {m}, "Label": 1}}\n' for m in matrices), encoding="utf-8")
    test.write_text(f'{{"Matrix": {leaking}, "Label": 0}}\n', encoding="utf-8")
    p = acd.load_published(tmp_path)
    assert p.truth_train.tolist() == [1, 1]
    assert p.truth_test.tolist() == [0]
    assert set(p.report.totals) == {"leak", "missing"}
    heights = {(0, 3, 5, 7, 9, 1, 6, 2, 4, 8): 0, (2, 8, 7, 1, 0, 3, 9, 6, 4, 5): 1, (0, 7, 1, 8, 6, 4, 2, 3, 9, 5): 1}
    for w, height in heights.items():
        assert acd.mheight.mheight(w) == height
