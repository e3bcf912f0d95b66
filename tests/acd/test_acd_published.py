"""Files of the hub, written here from our own data with errors planted: every error is found and named.

Nothing is downloaded. The forms of the files are those that `adelic.acd.published` describes.
"""

import json
import os
from math import isqrt

import numpy as np
import pytest

from adelic import acd
from adelic.acd import published, quiver, rsk
from adelic.errors import ConfigurationError, StorageError, TaskSizeError, UnknownNameError

SIZES = {"mheight": 7, "weaving": 5, "schubert": 4, "lattice": 8, "characters": 8, "kl": 4, "rsk": 5, "quiver": 6}
"""The sizes that are written here as files of the hub; grassmannian has one alone, which is large."""


def unpadded(entries):
    """Return a list without the zeros at its end, but one."""
    last = max((place for place, entry in enumerate(entries) if entry), default=0)
    return entries[: last + 1]


def record(task, x, y):
    """Return a row as the object that stands for it on the hub."""
    half = len(x) // 2
    if task == "mheight":
        return {"Permutation": x, "mHeight": y}
    if task == "weaving":
        return {"Matrix": x, "Label": y}
    if task == "schubert":  # names that are not known to the reader; w without the fixed points at its end
        n = (len(x) + 1) // 4
        w = x[2 * n :]
        while len(w) > n and w[-1] == len(w):
            w = w[:-1]
        return {"alpha": x[:n], "beta": x[n : 2 * n], "gamma": w, "constant": y}
    if task == "lattice":
        return {"Lattice path 1": x[:half], "Lattice path 2": x[half:], "Label": y}
    if task == "grassmannian":
        return {"Semistandard Young tableau": [x[:4], x[4:8], x[8:]], "Cluster variable?": y}
    if task == "characters":
        lam, mu = unpadded(x[:half]), unpadded(x[half:])
        return {"Irreducible representation": lam, "Conjugacy class": mu, "Character": y}
    if task == "kl":
        return {"Permutation 1": x[:half], "Permutation 2": x[half:], "Coefficients": unpadded(y)}
    if task == "quiver":  # names that are not known to the reader, and another labelling than ours
        n = isqrt(len(x))
        return {"b": np.array(x).reshape(n, n)[::-1, ::-1].tolist(), "type": f"{quiver.TYPES[y]}_{n}"}
    n = len(x) // 6 - 1
    brackets = "".join({0: "[", n + 1: "],"}.get(token, f"{token},") for token in x if token < n + 2)
    P, Q = json.loads(brackets.replace(",]", "]").removesuffix(","))
    w = rsk.permutations_of(np.array([y]))[0].tolist()
    return {"Permutation": w, "Standard Young tableau 1": P, "Standard Young tableau 2": Q}


def write(folder, task, splits):
    """Write {"train": (X, y), "test": (X, y)} as the hub has it."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, (X, y) in splits.items():
        records = [record(task, *row) for row in zip(np.asarray(X).tolist(), np.asarray(y).tolist(), strict=True)]
        text = "".join(json.dumps(each) + "\n" for each in records)
        (folder / f"{task}_{split}.jsonl").write_text(text, encoding="utf-8")


def ours(task, n):
    """Return our data set in two splits, as theirs is."""
    d = acd.load(task, n=n)
    X, y = np.concatenate([d.X_train, d.X_validation]), np.concatenate([d.y_train, d.y_validation])
    return {"train": (X, y), "test": (d.X_test, d.y_test)}


def sorted_rows(*parts):
    """Return rows with their labels in an order of their own."""
    both = np.concatenate([np.column_stack(part) for part in parts])
    return both[np.lexsort(both.T)]


@pytest.fixture
def planted(tmp_path):
    """Write a data set of ours as their files, changed as wanted, and load it."""

    def plant(task, change=lambda splits: None, *, n=None, edit=lambda folder: None, **arguments):
        n = n or SIZES[task]
        splits = {split: (X.copy(), y.copy()) for split, (X, y) in ours(task, n).items()}
        change(splits)
        write(tmp_path / task, task, splits)
        edit(tmp_path / task)
        return acd.load_published(task, tmp_path / task, n=n, **arguments)

    return plant


def first(d, kind):
    """Return the only problem of a kind."""
    found = d.provenance["problems"][kind]
    assert found["rows"] == len(found["first"]) == 1
    return found["first"][0]


# Quivers in another labelling: the kernel that names them is compiled.
TASKS = [pytest.param(task, marks=pytest.mark.long) if task == "quiver" else task for task in SIZES]


@pytest.mark.parametrize("task", TASKS)
def test_right_files_come_back_row_by_row_without_a_complaint(planted, task):
    d, splits = planted(task), ours(task, SIZES[task])
    if task == "quiver":  # which `record` writes with the vertices in the opposite order
        splits = {split: (X.reshape(-1, 6, 6)[:, ::-1, ::-1].reshape(X.shape), y) for split, (X, y) in splits.items()}
    np.testing.assert_array_equal(d.X_test, splits["test"][0])
    np.testing.assert_array_equal(d.y_test, splits["test"][1])
    read = sorted_rows((d.X_train, d.y_train), (d.X_validation, d.y_validation))
    np.testing.assert_array_equal(read, sorted_rows(splits["train"]))
    about = d.provenance
    assert (about["labels"], about["problems"]) == ("as documented here", {})
    assert all(count["found"] == count["published"] for count in about["published_counts"])
    mine = acd.load(task, n=SIZES[task])
    assert (d.class_names, d.vocabulary, d.symmetries) == (mine.class_names, mine.vocabulary, mine.symmetries)


def test_a_tenth_of_train_by_class_validates_and_the_seed_draws_it(planted):
    d, again, other = planted("weaving"), planted("weaving"), planted("weaving", seed=1)
    assert d.provenance["rows"] == {"all": 124, "train": 90, "validation": 10, "test": 24}
    assert d.X_validation.tolist() == again.X_validation.tolist() != other.X_validation.tolist()


def test_grassmannian_files(tmp_path):
    """Few tableaux, three of them cluster variables, one of those and one other with the wrong label."""
    variables = acd.grassmannian.cluster_variables(4, 12).reshape(-1, 12)
    others = np.array([[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, last] for last in (3, 4, 5)], np.int8)
    splits = {
        "train": (np.concatenate([variables[:2], others[:1]]), np.array([1, 0, 0])),
        "test": (np.concatenate([variables[2:3], others[1:]]), np.array([1, 1, 0])),
    }
    write(tmp_path, "grassmannian", splits)
    d = acd.load_published("grassmannian", tmp_path)
    problems = d.provenance["problems"]
    assert {kind: found["rows"] for kind, found in problems.items()} == {
        "wrong label": 2,
        "missing": len(variables) - 3,
    }
    wrong = [what.split(": ")[:2] for what in problems["wrong label"]["first"]]
    assert wrong == [["grassmannian_train.jsonl:2", "0, not 1"], ["grassmannian_test.jsonl:2", "1, not 0"]]
    assert len(problems["missing"]["first"]) == published.LISTED
    splits["train"][0][2] = 1
    write(tmp_path, "grassmannian", splits)
    with pytest.raises(StorageError, match="is not semistandard"):
        acd.load_published("grassmannian", tmp_path)


@pytest.mark.parametrize("task", TASKS)
def test_a_wrong_label_is_found_and_kept(planted, task):
    def change(splits):
        y = splits["test"][1]
        if task == "rsk":
            y[5] = y[0]
        elif task == "kl":
            y[5, 1] = 3
        else:
            y[5] = (y[5] + 1) % 7 if task in ("quiver", "characters") else 1 - min(y[5], 1)

    d = planted(task, change)
    X, y = ours(task, SIZES[task])["test"]
    told = first(d, "wrong label")
    assert told.startswith(f"{task}_test.jsonl:6: {d.y_test[5].tolist()}, not {y[5].tolist()}: ")
    assert d.y_test[5].tolist() != y[5].tolist()
    if task != "quiver":  # which is labelled otherwise
        assert told.endswith(str(X[5].tolist()))


def test_a_duplicate_is_found_across_the_splits_and_in_another_labelling(planted):
    def change(splits):
        X, y = splits["train"]
        relabelled = X[7].reshape(6, 6)[np.ix_(*[[1, 2, 0, 3, 5, 4]] * 2)].reshape(1, 36)
        splits["test"] = np.concatenate([splits["test"][0], relabelled]), np.append(splits["test"][1], y[7])

    d = planted("quiver", change)
    line = len(ours("quiver", 6)["test"][1]) + 1
    assert first(d, "duplicate") == f"quiver_test.jsonl:{line}: the same example as quiver_train.jsonl:8"
    assert set(d.provenance["problems"]) == {"duplicate"}


def test_what_is_not_a_row_of_the_task_is_outside_and_what_lacks_is_missing(planted):
    """A permutation with the pattern 4231 has no mHeight in the data set."""

    def change(splits):
        splits["test"][0][0] = [0, 1, 2, 6, 4, 5, 3]

    d = planted("mheight", change)
    assert first(d, "outside") == "mheight_test.jsonl:1: [0, 1, 2, 6, 4, 5, 3]"
    assert first(d, "missing") == str(ours("mheight", 7)["test"][0][0].tolist())
    assert set(d.provenance["problems"]) == {"outside", "missing"}

    def matrices(splits):
        splits["train"][0][0] = 0  # an exchange matrix, of no class here
        splits["train"][0][1] = 1  # not an exchange matrix

    assert planted("quiver", matrices).provenance["problems"]["outside"]["rows"] == 2


@pytest.mark.parametrize("task", ["weaving", "lattice"])
def test_reversed_labels_are_noticed_and_turned_round(planted, task):
    """The README of the weaving patterns says 0 for a pattern, and the loader of the lattice paths 0 for Lagrange."""

    def change(splits):
        for _, y in splits.values():
            y[:] = 1 - y
        splits["test"][1][4] = 1 - splits["test"][1][4]  # and one is wrong besides

    d = planted(task, change)
    names = acd.TASKS[task].class_names(SIZES[task], "published")
    assert d.provenance["labels"] == f"0 in the files is {names[1]!r}; 1 in the files is {names[0]!r}"
    assert np.flatnonzero(d.y_test != ours(task, SIZES[task])["test"][1]).tolist() == [4]
    assert first(d, "wrong label").startswith(f"{task}_test.jsonl:5: ")


def replace_line(path, number, text):
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number - 1] = text
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


P7 = '{"Permutation": [2, 3, 0, 1, 4, 5, 6], "mHeight": %s}'
MALFORMED = {
    "not JSON": ('{"Permutation": [2, 3, 0', "is not an object with"),
    "many brackets": ("[" * 5000, "is not an object with"),
    "no column": ('{"mHeight": 0}', "is not an object with the columns of mheight"),
    "another size": ('{"Permutation": [2, 3, 0, 1], "mHeight": 0}', "[2, 3, 0, 1] are not the 7 tokens"),
    "another token": (P7.replace("6", "7") % 0, "are not the 7 tokens of an example of mheight n=7"),
    "text in it": (P7.replace("6", '"6"') % 0, "'6' is not a whole number"),
    "a float": (P7 % "0.0", "the label 0.0 is not a whole number"),
    "a bool": (P7 % "true", "the label True is not a whole number"),
    "a negative label": (P7 % -1, "the label -1 is not one of 0..3"),
    "no class": (P7 % 9, "the label 9 is not one of 0..3"),
    "a huge label": (P7 % 10**30, "is not a whole number of 64 bits"),
    "a long line": (" " * 20_000, "it is longer than any example"),
}


@pytest.mark.parametrize("line", MALFORMED)
def test_a_line_that_is_not_a_row_is_named(planted, line):
    text, why = MALFORMED[line]
    with pytest.raises(StorageError) as caught:
        planted("mheight", edit=lambda folder: replace_line(folder / "mheight_train.jsonl", 30, text))
    (message,) = str(caught.value).splitlines()
    assert "mheight_train.jsonl, line 30: " in message
    assert why in message
    assert message.endswith(published.REMEDY)


@pytest.mark.parametrize(
    ("task", "changed", "why"),
    [
        ("schubert", {"gamma": [1, 1]}, "(1, 1) is not a permutation"),
        ("characters", {"Conjugacy class": [3, 5]}, "(3, 5) is not a partition"),
        ("kl", {"Coefficients": [1, 0, 0, 7]}, "are not the coefficients of a polynomial for n=4"),
        ("rsk", {"Permutation": [1, 2, 3, 4]}, "[1, 2, 3, 4] is not a permutation of 1..5"),
        ("rsk", {"Standard Young tableau 1": 7}, "it is not an example of rsk"),
        ("quiver", {"type": "X_6"}, "it is not an example of quiver"),
    ],
)
def test_a_record_that_is_not_a_row_is_named(planted, task, changed, why):
    def edit(folder):
        path = folder / f"{task}_test.jsonl"
        kept = json.loads(path.read_text(encoding="utf-8").splitlines()[1])
        replace_line(path, 2, json.dumps(kept | changed))

    with pytest.raises(StorageError, match=rf"{task}_test.jsonl, line 2: ") as caught:
        planted(task, edit=edit)
    assert why in str(caught.value)


def test_files_that_are_not_there(tmp_path, planted):
    with pytest.raises(StorageError, match=r"there is no folder .*absent; download the files first"):
        acd.load_published("weaving", tmp_path / "absent")
    with pytest.raises(StorageError, match=r"has no train file of weaving n=6: no \*train\*\.jsonl of the hub"):
        acd.load_published("weaving", tmp_path)
    with pytest.raises(StorageError, match=r"has no test file of weaving n=5"):
        planted("weaving", edit=lambda folder: (folder / "weaving_test.jsonl").unlink())


def test_names_and_sizes_that_are_not_known(tmp_path):
    with pytest.raises(UnknownNameError, match=r"unknown task 'wevaing'; did you mean 'weaving'\?"):
        acd.load_published("wevaing", tmp_path)
    with pytest.raises(TaskSizeError, match="n must be at least 4"):
        acd.load_published("mheight", tmp_path, n=3)
    with pytest.raises(ConfigurationError, match="seed must be"):
        acd.load_published("mheight", tmp_path, seed=-1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_a_file_and_nobody_waits_for_it(tmp_path):
    for split in ("train", "test"):
        os.mkfifo(tmp_path / f"weaving_{split}.jsonl")
    with pytest.raises(StorageError, match="has no train file"):
        acd.load_published("weaving", tmp_path)


def test_more_rows_than_the_task_can_have_are_not_read(planted, monkeypatch):
    """Counted: of a file that repeats a row, no more than twice the task's rows become objects."""
    monkeypatch.setattr(published, "CHUNK", 7)

    def repeat(folder):
        path = folder / "mheight_test.jsonl"
        path.write_text(path.read_text(encoding="utf-8").splitlines(keepends=True)[0] * 50_000, encoding="utf-8")

    rows = acd.TASKS["mheight"].estimate(7, "published").rows
    with pytest.raises(StorageError, match=f"has more than {2 * rows:,} examples, twice those of mheight n=7"):
        planted("mheight", edit=repeat)


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
    d = acd.load_published("weaving", tmp_path)
    assert (d.y_train.tolist(), d.y_test.tolist()) == ([1, 1], [0])
    assert set(d.provenance["problems"]) == {"missing"}
    # The negative's rows stand in the other order: its first row lacks 1, the patterns' first rows lack 6.
    lacks = d.cues["first row lacks"]
    assert (lacks(d.X_train).tolist(), lacks(d.X_test).tolist()) == ([6, 6], [1])
    heights = {(0, 3, 5, 7, 9, 1, 6, 2, 4, 8): 0, (2, 8, 7, 1, 0, 3, 9, 6, 4, 5): 1, (0, 7, 1, 8, 6, 4, 2, 3, 9, 5): 1}
    for w, height in heights.items():
        assert acd.mheight.mheight(w) == height


@pytest.mark.skipif(os.name == "nt", reason="folders have no such modes")
@pytest.mark.parametrize("mode", [0, 0o444, 0o111])
def test_a_folder_that_may_not_be_read_says_so(tmp_path, as_another_user, mode):
    folder = tmp_path / "files"
    folder.mkdir(mode=0o755)
    (folder / "mheight_5_train.jsonl").write_text("", encoding="utf-8")
    folder.chmod(mode)

    def work():
        with pytest.raises(StorageError, match=f"^cannot read {folder}: Permission denied; name a folder with the"):
            acd.load_published("mheight", folder, n=5)

    try:
        assert as_another_user(work) == 0
    finally:
        folder.chmod(0o755)
