"""Loading and building data sets."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adelic.data import registry, store
from adelic.data.guard import Holdout
from adelic.data.kinds import Reading, Word
from adelic.data.protocol import Cue, Integers, Progress, Request, Rows
from adelic.data.splits import SPLITS, split_orbits, split_rows
from adelic.data.symmetries import Symmetry, orbits
from adelic.errors import VocabularyError, needs_extra
from adelic.storage import files
from adelic.storage.checks import check_seed
from adelic.storage.workers import check_workers

if TYPE_CHECKING:
    from datasets import DatasetDict
    from pandas import DataFrame
    from torch.utils.data import TensorDataset


@dataclass(frozen=True, eq=False)
class Dataset:
    """The examples of a task in three splits, in the generator's order within each: shuffle them for training.

    Attributes:
        X_train: tokens, shape (examples, length), int8 (or the least integer dtype that holds them).
        y_train: class indices, shape (examples,), int64; targets of a regression task, (examples,) and int64 (float64
            where a table's target is real), or (examples, targets) and the least integer dtype that holds them.
        X_validation: tokens; a tenth of the published training examples, by class.
        y_validation: classes or targets.
        X_test: tokens.
        y_test: classes or targets.
        class_names: the name of each class index; None for a regression task.
        vocabulary: the numbers that can occur in X, in token order.
        provenance: description and origin of the data: task, n, edition, split, seed, generator_version, sha256
            and path of the stored file, rows (in all and by split), counts (by split and class), orbits (how many were
            divided, None for split "published"), notes on published and own choices, versions.
        symmetries: name -> a map of examples to equivalent examples; empty for a task without.
        cues: name -> a simple feature of an example; empty for your own table.
        is_coded: whether tokens are positions in `vocabulary`, as they are if it has fractions; else they are its
            numbers.
        readings: of a table, how each column is read. Its words, of categories and gaps, are tokens before those of
            `vocabulary`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     d = load("weaving", n=6, edition="levels", cache=folder)
    >>> d.class_names, d.vocabulary, d.provenance["rows"]["all"], d.X_test.shape
    (('not a weaving pattern', 'weaving pattern'), (0, 1), 2500, (500, 16))
    """

    X_train: Integers
    y_train: Integers
    X_validation: Integers
    y_validation: Integers
    X_test: Integers
    y_test: Integers
    class_names: tuple[str, ...] | None
    vocabulary: tuple[int | Fraction, ...]
    provenance: dict[str, Any]
    symmetries: Mapping[str, Symmetry]
    cues: Mapping[str, Cue] = field(default_factory=dict)
    is_coded: bool = False
    readings: tuple[Reading, ...] = ()

    @classmethod
    def of(cls, rows: Rows, split: NDArray[np.int8], **others: Any) -> "Dataset":
        """Return the data set of examples and the index of each one's part in `SPLITS`; `others` are the other fields.

        Classes and single targets become int64; several targets an example keep their dtype, since eight bytes for
        every bit would be too many.
        """
        parts: dict[str, Any] = {}
        for index, name in enumerate(SPLITS):
            y = rows.y[split == index]
            parts |= {
                f"X_{name}": rows.X[split == index],
                f"y_{name}": y.astype(np.int64) if y.ndim == 1 and y.dtype != float else y,
            }
        return cls(**parts, **others)

    @property
    def parts(self) -> dict[str, tuple[Integers, Integers]]:
        """Return split -> (X, y), in the order train, validation, test."""
        return {name: (getattr(self, f"X_{name}"), getattr(self, f"y_{name}")) for name in SPLITS}

    @property
    def words(self) -> tuple[Word, ...]:
        """Return the words that may come, see `adelic.data.kinds`; () without categories and gaps."""
        return tuple(word for reading in self.readings for word in reading.words)

    @property
    def tokens(self) -> tuple[Any, ...]:
        """Return what a position means: words, then the numbers of the vocabulary."""
        return (*self.words, *self.vocabulary)

    @property
    def length(self) -> int:
        """Return how many numbers an example has."""
        return int(self.X_train.shape[1])

    @property
    def holdout(self) -> Holdout:
        """Return the examples of validation and test, for the guard against leaks."""
        return Holdout(self.X_validation, self.X_test)

    def ids(self, X: Integers) -> NDArray[np.int64]:
        """Return the position in `vocabulary` of each token of examples, (examples, …): the ids that a model reads."""
        return positions(X, self.vocabulary, is_coded=self.is_coded)

    def to_torch(self) -> "dict[str, TensorDataset]":
        """Return {"train", "validation", "test"} -> TensorDataset of (tokens, targets), both int64.

        Tokens have shape (examples, length); targets are class indices, (examples,), or for a regression task its
        integers, (examples,) or (examples, targets). Eight bytes a token: the tensors are copies, and share no memory
        with the data set.

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
            for name, rows in self.parts.items()
        }

    def to_pandas(self) -> "DataFrame":
        """Return one DataFrame of all examples, with columns x0, x1, ..., y, split.

        The tokens keep their dtype (int8, mostly); those of a table with fractions are exact numbers, as objects. y is
        categorical: its values are the class names, its codes (`frame["y"].cat.codes`) the class indices. A regression
        task has integers in y, or in y0, y1, ... for several targets. split is categorical: train, validation, test.
        The provenance is in `frame.attrs["provenance"]`.

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
        parts = self.parts
        X = np.concatenate([tokens for tokens, _ in parts.values()])
        if self.is_coded:
            X = np.fromiter(self.tokens, dtype=object)[X]
        y = np.concatenate([targets for _, targets in parts.values()])
        frame = pd.DataFrame(X, columns=column_names("x", X))
        if self.class_names is not None:
            targets = pd.DataFrame({"y": pd.Categorical.from_codes(y, categories=list(self.class_names))})
        else:
            targets = pd.DataFrame(y, columns=column_names("y", y))
        split = np.repeat(np.arange(len(SPLITS)), [len(targets) for _, targets in parts.values()])
        targets["split"] = pd.Categorical.from_codes(split, categories=list(SPLITS))
        frame = pd.concat([frame, targets], axis=1)
        frame.attrs["provenance"] = self.provenance
        return frame

    def to_hf(self) -> "DatasetDict":
        """Return a `datasets.DatasetDict` with splits train, validation and test and columns x and y.

        x is a list of fixed length, of the dtype that the tokens have (int8, mostly). y is a `ClassLabel` with the
        class names; for a regression task it is an integer, or a list of fixed length, of the dtype of the targets.

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

        classes = self.class_names
        features = datasets.Features(
            x=feature(self.X_train),
            y=feature(self.y_train) if classes is None else datasets.ClassLabel(names=list(classes)),
        )
        about = {key: self.provenance.get(key) for key in ("task", "n", "edition", "seed")}
        info = datasets.DatasetInfo(
            description=f"{self.provenance['title']} (adelic.acd: {', '.join(f'{k} {v}' for k, v in about.items())})",
            features=features,
        )
        splits = {}
        for name, rows in self.parts.items():
            columns = [store.arrow_array(values) for values in rows]
            table = pa.Table.from_arrays(columns, names=["x", "y"]).cast(features.arrow_schema)
            splits[name] = datasets.Dataset(table, info=info.copy(), split=datasets.NamedSplit(name))
        return datasets.DatasetDict(splits)


def column_names(letter: str, values: Integers) -> list[str]:
    """Return the names of the columns of an array: x0, x1, ..., or y alone for one axis.

    >>> column_names("x", np.zeros((5, 2), int)), column_names("y", np.zeros(5, int))
    (['x0', 'x1'], ['y'])
    """
    return [letter] if values.ndim == 1 else [f"{letter}{column}" for column in range(values.shape[1])]


def positions(X: Integers, vocabulary: Sequence[int | Fraction], *, is_coded: bool) -> NDArray[np.int64]:
    """Return the position in a vocabulary of each token; of tokens that are positions already, themselves.

    A token that is not one of the numbers is a VocabularyError.

    >>> positions(np.array([[7, -1]]), (3, -1, 7), is_coded=False).tolist()
    [[2, 1]]
    """
    if is_coded:
        return X.astype(np.int64)
    numbers = np.array(vocabulary, np.int64)
    order = np.argsort(numbers)
    # Behind the greatest number, searchsorted gives a place that is none.
    found: NDArray[np.int64] = order[np.searchsorted(numbers, X, sorter=order).clip(max=len(numbers) - 1)]
    if not np.array_equal(numbers[found], X):
        strange = X[numbers[found] != X][0]
        raise VocabularyError(f"{strange} is not in the vocabulary, which has {len(numbers):,} numbers")
    return found


def load(
    name: str,
    *,
    n: int | None = None,
    edition: str = "published",
    split: str = "published",
    seed: int = 0,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    workers: int = 1,
    **options: str,
) -> Dataset:
    """Return a data set of the ACD, from the store if it is there and undamaged, else generated and stored.

    Args:
        name: the task, one of `adelic.acd.TASKS`.
        n: the size; the smallest published one by default.
        edition: see `adelic.acd.task(name).editions`.
        split: "published", or "orbits", which keeps equivalent examples in one part; see `adelic.data.splits`.
        seed: of the negatives and the parts, 0 <= seed < 2**63; the positives are the same for every seed, and so are
            the test examples if the published ones are known.
        cache: the folder that holds stored data; `cache_folder()` by default.
        progress: called with (done, total, what) while examples are generated.
        workers: how many processes may generate examples; the examples do not depend on it.
        options: further choices of the task, see `adelic.acd.task(name).options`.

    Raises:
        UnknownNameError: there is no such task, edition, split, option or choice.
        TaskSizeError: there is no data set of this size, or the machine's memory cannot hold it.
        ConfigurationError: the seed or the number of workers is not a whole number, or out of range; or the task has no
            symmetries, so no orbits.
        StorageError: the store cannot be read or written.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     d = acd.load("schubert", n=4, cache=folder)
    >>> len(d.X_train) + len(d.X_validation), d.X_test.shape, d.y_test.shape
    (1684, (421, 15), (421,))
    >>> d.class_names, d.vocabulary
    (('0', '1'), (1, 2, 3, 4, 5, 6, 7))
    """
    key = _key(name, n, edition, split, seed, options)
    folder = key.folder(_cache(cache))
    try:
        stored = store.read(folder, key)
    except store.DamagedError as damage:
        warnings.warn(f"{damage}; it is built anew", store.StoreWarning, stacklevel=2)
        stored = None
    rows, parts, manifest = stored if stored is not None else _build(key, folder, progress, workers)
    return Dataset.of(
        rows,
        parts,
        class_names=key.task.class_names(key.n, key.edition),
        vocabulary=key.task.vocabulary(key.n, key.edition),
        provenance=_provenance(folder, manifest),
        symmetries=key.task.symmetries,
        cues=key.task.cues,
    )


def build(
    name: str,
    *,
    n: int | None = None,
    edition: str = "published",
    split: str = "published",
    seed: int = 0,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    workers: int = 1,
    **options: str,
) -> dict[str, Any]:
    """Generate a data set and store it, whatever is stored already; return its provenance.

    Arguments and errors are those of `load`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     provenance = build("weaving", n=4, cache=folder)
    >>> provenance["rows"]["all"], provenance["rows"]["test"], provenance["splits"]
    (16, 3, ['train', 'validation', 'test'])
    """
    key = _key(name, n, edition, split, seed, options)
    folder = key.folder(_cache(cache))
    return _provenance(folder, _build(key, folder, progress, workers)[2])


def _key(name: str, n: int | None, edition: str, split: str, seed: int, options: Mapping[str, str]) -> store.Key:
    task = registry.task(name)
    task.check_edition(edition)
    size = task.check_size(task.sizes[0] if n is None else n, edition)
    return store.Key(task, size, edition, check_seed(seed), task.check_options(options), task.check_split(split))


def _cache(cache: str | Path | None) -> Path:
    return files.cache_folder() if cache is None else Path(cache)


def _build(
    key: store.Key, folder: Path, progress: Progress | None, workers: int
) -> tuple[Rows, NDArray[np.int8], dict[str, Any]]:
    check_workers(workers)
    key.task.check_memory(key.n, key.edition)
    with files.storage_errors(f"cannot write {folder}", files.CACHE_REMEDY):
        folder.mkdir(parents=True, exist_ok=True)  # a store that cannot be written is noticed before any work
    rows, parts, n_orbits = generate(key, progress, workers)
    return rows, parts, store.write(folder, key, rows, parts, progress, n_orbits=n_orbits)


def generate(
    key: store.Key, progress: Progress | None = None, workers: int = 1
) -> tuple[Rows, NDArray[np.int8], int | None]:
    """Return examples, their parts, and the number of orbits, as `load` has them, without the store."""
    # Two streams, so the splits do not depend on how many numbers the negatives take.
    negatives, splits = (np.random.default_rng(child) for child in np.random.SeedSequence(key.seed).spawn(2))
    rows = key.task.generate(
        Request(n=key.n, edition=key.edition, options=key.options, rng=negatives, progress=progress, workers=workers)
    )
    return rows, *draw_split(key, rows, splits)


def draw_split(key: store.Key, rows: Rows, rng: np.random.Generator) -> tuple[NDArray[np.int8], int | None]:
    """Return the index of each example's part (`adelic.data.splits`), and how many orbits were divided, if any."""
    stratify = key.task.class_names(key.n, key.edition) is not None
    if key.split == "published":
        return split_rows(rows, rng, stratify=stratify), None
    of_row = orbits(rows.X, rows.y, key.task.symmetries)
    return split_orbits(rows, of_row, rng, stratify=stratify), int(of_row.max(initial=-1)) + 1


def _provenance(folder: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "path": str(folder / store.DATA_FILE)}
