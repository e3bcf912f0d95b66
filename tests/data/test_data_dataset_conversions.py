"""Datasets as PyTorch, pandas and Hugging Face objects hold exactly the rows of the arrays."""

import sys

import numpy as np
import pytest

from adelic import acd
from adelic.data.splits import SPLITS
from adelic.errors import MissingExtraError

DATA = {
    "classes": {"name": "schubert", "n": 4},
    "a target": {"name": "characters", "n": 6},
    "several targets": {"name": "rsk", "n": 4},
}


@pytest.fixture(params=DATA)
def dataset(request):
    return acd.load(**DATA[request.param])


def arrays(dataset, split):
    return getattr(dataset, f"X_{split}"), getattr(dataset, f"y_{split}")


def test_torch(dataset):
    import torch

    splits = dataset.to_torch()
    assert list(splits) == list(SPLITS)
    for split, rows in splits.items():
        tokens, targets = rows.tensors
        X, y = arrays(dataset, split)
        assert tokens.dtype == targets.dtype == torch.int64
        np.testing.assert_array_equal(tokens.numpy(), X)
        np.testing.assert_array_equal(targets.numpy(), y)


def test_pandas(dataset):
    frame = dataset.to_pandas()
    length = dataset.X_train.shape[1]
    targets = ["y"] if dataset.y_train.ndim == 1 else [f"y{i}" for i in range(dataset.y_train.shape[1])]
    tokens = [f"x{i}" for i in range(length)]
    assert list(frame.columns) == [*tokens, *targets, "split"]
    assert list(frame.index) == list(range(len(frame)))
    assert set(frame.dtypes[tokens]) == {dataset.X_train.dtype}
    assert list(frame["split"].cat.categories) == list(SPLITS)
    for split in SPLITS:
        part = frame[frame["split"] == split]
        X, y = arrays(dataset, split)
        np.testing.assert_array_equal(part[tokens], X)
        if dataset.class_names is None:
            np.testing.assert_array_equal(part[targets].to_numpy().reshape(y.shape), y)
            assert set(frame.dtypes[targets]) == {y.dtype}
        else:
            np.testing.assert_array_equal(part["y"].cat.codes, y)
            assert list(part["y"]) == [dataset.class_names[label] for label in y]
    assert frame.attrs["provenance"] == dataset.provenance


def test_hf(dataset):
    splits = dataset.to_hf()
    assert list(splits) == list(SPLITS)
    for split, rows in splits.items():
        X, y = arrays(dataset, split)
        assert rows.column_names == ["x", "y"]
        assert str(rows.split) == split
        np.testing.assert_array_equal(np.array(rows["x"][:]), X)
        np.testing.assert_array_equal(np.array(rows["y"][:]), y)
        assert rows.features["x"].length == X.shape[1]
        assert rows.features["x"].feature.dtype == X.dtype.name
        if dataset.class_names is not None:
            assert rows.features["y"].names == list(dataset.class_names)
        elif y.ndim > 1:
            assert rows.features["y"].length == y.shape[1]


def test_hf_columns_give_tensors_and_survive_the_disk(tmp_path):
    import datasets

    d = acd.load("schubert", n=4)
    splits = d.to_hf()
    np.testing.assert_array_equal(splits["test"].with_format("torch")[:]["x"], d.X_test)
    splits.save_to_disk(tmp_path / "saved")
    again = datasets.load_from_disk(tmp_path / "saved")
    assert again["train"].features == splits["train"].features
    assert again["test"][:] == splits["test"][:]
    assert d.provenance["title"] in again["train"].info.description


def test_an_empty_split_keeps_its_columns():
    d = acd.load("mheight", n=4)  # one row, which trains
    assert len(d.X_test) == 0
    assert len(d.to_torch()["test"]) == len(d.to_hf()["test"]) == 0
    assert (d.to_pandas()["split"] == "train").all()


@pytest.mark.parametrize(
    ("library", "method", "remedy"),
    [
        (
            "torch",
            "to_torch",
            "pip install 'adelic[torch]', and before it, if there is no GPU, pip install torch --index-url "
            "https://download.pytorch.org/whl/cpu",
        ),
        ("pandas", "to_pandas", "pip install 'adelic[pandas]'"),
        ("datasets", "to_hf", "pip install 'adelic[hf]'"),
    ],
)
def test_a_missing_library_is_named_with_its_remedy(monkeypatch, library, method, remedy):
    d = acd.load("schubert", n=3)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError) as caught:
        getattr(d, method)()
    assert str(caught.value) == f"{method}() needs {library}, which is not installed: {remedy}"
