"""A data set in the shapes of other libraries: PyTorch, pandas, Hugging Face datasets.

Each of these is imported when its function is called, and not before; `Dataset` has the functions as methods. Tokens of
a table with fractions are positions in its vocabulary (`Dataset.is_coded`), but for `to_pandas`, which has the numbers.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from adelic.data.protocol import Integers
from adelic.data.splits import SPLITS
from adelic.data.store import arrow_array
from adelic.errors import needs_extra

if TYPE_CHECKING:
    from datasets import DatasetDict as DatasetDict
    from pandas import DataFrame as DataFrame
    from torch.utils.data import TensorDataset as TensorDataset


class Splits(Protocol):
    """What is converted: arrays a split, see `adelic.data.Dataset`."""

    @property
    def X_train(self) -> Integers: ...  # noqa: D102, N802
    @property
    def y_train(self) -> Integers: ...  # noqa: D102
    @property
    def class_names(self) -> tuple[str, ...] | None: ...  # noqa: D102
    @property
    def vocabulary(self) -> tuple[int | Fraction, ...]: ...  # noqa: D102
    @property
    def is_coded(self) -> bool: ...  # noqa: D102
    @property
    def provenance(self) -> dict[str, Any]: ...  # noqa: D102


def to_torch(dataset: Splits) -> "dict[str, TensorDataset]":
    """Return {"train", "validation", "test"} -> TensorDataset of (tokens, targets), both int64.

    Tokens have shape (rows, length); targets are class indices, (rows,), or for a regression task its integers, (rows,)
    or (rows, targets). Eight bytes a token: the tensors are copies, and share no memory with the data set.

    Raises:
        MissingExtraError: torch is not installed.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     splits = acd.load("weaving", n=4, cache=folder).to_torch()
    >>> tokens, label = splits["test"][0]
    >>> len(splits["test"]), tokens.shape, label.dtype
    (3, torch.Size([12]), torch.int64)
    """
    with needs_extra("to_torch()", "torch"):
        import torch
        from torch.utils.data import TensorDataset
    return {
        name: TensorDataset(*(torch.from_numpy(values.astype(np.int64)) for values in rows))
        for name, rows in split_arrays(dataset).items()
    }


def to_pandas(dataset: Splits) -> "DataFrame":
    """Return one DataFrame of all rows, with columns x0, x1, ..., y, split.

    The tokens keep their dtype (int8, mostly); those of a table with fractions are exact numbers, as objects. y is
    categorical: its values are the class names, its codes (`frame["y"].cat.codes`) the class indices. A regression task
    has integers in y, or in y0, y1, ... for several targets. split is categorical: train, validation, test. The
    provenance is in `frame.attrs["provenance"]`.

    Raises:
        MissingExtraError: pandas is not installed.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = acd.load("weaving", n=3, cache=folder).to_pandas()
    >>> list(frame.columns)
    ['x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'y', 'split']
    >>> frame["y"].cat.categories.tolist()
    ['not a weaving pattern', 'weaving pattern']
    """
    with needs_extra("to_pandas()", "pandas"):
        import pandas as pd
    parts = split_arrays(dataset)
    X = np.concatenate([tokens for tokens, _ in parts.values()])
    if dataset.is_coded:
        X = np.array(dataset.vocabulary, dtype=object)[X]
    y = np.concatenate([targets for _, targets in parts.values()])
    frame = pd.DataFrame(X, columns=column_names("x", X))
    if dataset.class_names is not None:
        targets = pd.DataFrame({"y": pd.Categorical.from_codes(y, categories=list(dataset.class_names))})
    else:
        targets = pd.DataFrame(y, columns=column_names("y", y))
    split = np.repeat(np.arange(len(SPLITS)), [len(targets) for _, targets in parts.values()])
    targets["split"] = pd.Categorical.from_codes(split, categories=list(SPLITS))
    frame = pd.concat([frame, targets], axis=1)
    frame.attrs["provenance"] = dataset.provenance
    return frame


def to_hf(dataset: Splits) -> "DatasetDict":
    """Return a `datasets.DatasetDict` with splits train, validation and test and columns x and y.

    x is a list of fixed length, of the dtype that the tokens have (int8, mostly). y is a `ClassLabel` with the class
    names; for a regression task it is an integer, or a list of them of fixed length, of the dtype of the targets.

    Raises:
        MissingExtraError: datasets is not installed.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     splits = acd.load("weaving", n=3, cache=folder).to_hf()
    >>> splits["train"].features["y"].names, len(splits["train"][0]["x"])
    (['not a weaving pattern', 'weaving pattern'], 6)
    """
    with needs_extra("to_hf()", "hf"):
        import datasets
    import pyarrow as pa

    def feature(values: Integers) -> Any:
        value = datasets.Value(values.dtype.name)
        return value if values.ndim == 1 else datasets.Sequence(value, length=values.shape[1])

    classes = dataset.class_names
    features = datasets.Features(
        x=feature(dataset.X_train),
        y=feature(dataset.y_train) if classes is None else datasets.ClassLabel(names=list(classes)),
    )
    about = {key: dataset.provenance.get(key) for key in ("task", "n", "edition", "seed")}
    info = datasets.DatasetInfo(
        description=f"{dataset.provenance['title']} (adelic.acd: {', '.join(f'{k} {v}' for k, v in about.items())})",
        features=features,
    )
    splits = {}
    for name, rows in split_arrays(dataset).items():
        columns = [arrow_array(values) for values in rows]
        table = pa.Table.from_arrays(columns, names=["x", "y"]).cast(features.arrow_schema)
        splits[name] = datasets.Dataset(table, info=info.copy(), split=datasets.NamedSplit(name))
    return datasets.DatasetDict(splits)


def split_arrays(dataset: Splits) -> dict[str, tuple[Integers, Integers]]:
    """Return split -> (X, y), in the order train, validation, test."""
    return {name: (getattr(dataset, f"X_{name}"), getattr(dataset, f"y_{name}")) for name in SPLITS}


def column_names(letter: str, values: Integers) -> list[str]:
    """Return the names of the columns of an array: x0, x1, ..., or y alone for one axis.

    >>> column_names("x", np.zeros((5, 2), int)), column_names("y", np.zeros(5, int))
    (['x0', 'x1'], ['y'])
    """
    return [letter] if values.ndim == 1 else [f"{letter}{column}" for column in range(values.shape[1])]
