"""The store: a folder for each task, size, edition, split and seed, with `data.parquet` and `manifest.json`.

The manifest is written after the data and holds its SHA-256, and that of its own text; what does not agree with it is
damaged and is built anew.
Equal builds give equal bytes, so two processes that build the same data set at once do each other no harm. (Another
version of pyarrow may write the same examples as other bytes; the manifest then holds another hash.)
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.protocol import Integers, Progress, Rows, Task
from adelic.data.splits import SPLITS, part_sizes
from adelic.errors import needs_extra
from adelic.storage import files, records
from adelic.storage.provenance import versions

DATA_FILE = "data.parquet"
MANIFEST_FILE = "manifest.json"
FORMAT = 4
ROW_GROUP = 1 << 20


class StoreWarning(UserWarning):
    """A stored data set is damaged or of another version, and is built anew; the message names the file.

    >>> issubclass(StoreWarning, UserWarning)
    True
    """


class DamagedError(Exception):
    """A stored file does not hold what it should. Never leaves this package: the data are built anew."""


@dataclass(frozen=True)
class Key:
    """The identity of a stored data set: task, size, edition, split, seed and options, all checked already.

    >>> from adelic.acd import mheight
    >>> Key(mheight.TASK, 8, "published", 0).folder(Path("cache")).as_posix()
    'cache/acd/mheight/n8/published/seed0'
    >>> Key(mheight.TASK, 8, "published", 0, split="orbits").folder(Path("cache")).as_posix()
    'cache/acd/mheight/n8/published/orbits/seed0'
    """

    task: Task
    n: int
    edition: str
    seed: int
    options: Mapping[str, str] = field(default_factory=dict)
    split: str = "published"

    def folder(self, cache: Path) -> Path:
        """Return the folder that holds this data set."""
        chosen = [f"{name}-{choice}" for name, choice in self.options.items()]
        chosen += [] if self.split == "published" else [self.split]
        return cache.joinpath("acd", self.task.name, f"n{self.n}", self.edition, *chosen, f"seed{self.seed}")

    def identity(self) -> dict[str, object]:
        """Return the entries by which a manifest is known to be of this data set and of this generator."""
        return {
            "format": FORMAT,
            "task": self.task.name,
            "n": self.n,
            "edition": self.edition,
            "split": self.split,
            "seed": self.seed,
            "options": dict(self.options),
            "generator_version": self.task.version,
        }


def write(
    folder: Path,
    key: Key,
    rows: Rows,
    split: NDArray[np.int8],
    progress: Progress | None = None,
    *,
    n_orbits: int | None = None,
) -> dict[str, Any]:
    """Store examples and their splits, a group of examples after the other; return the manifest.

    The number of orbits is in the manifest where the split was drawn by orbits.
    """
    path, columns = folder / DATA_FILE, {"x": rows.X, "y": rows.y, "split": split}
    files.atomic_write(path, lambda file: write_parquet(file, columns, progress), remedy=files.CACHE_REMEDY)
    manifest = {
        **key.identity(),
        **_counts(key, rows.y, split),
        "orbits": n_orbits,
        "title": key.task.title,
        "edition_title": key.task.editions[key.edition],
        "notes": list(key.task.notes[key.edition]),
        "splits": list(SPLITS),
        "sha256": file_sha256(path, files.CACHE_REMEDY),
        "bytes": path.stat().st_size,
        "versions": versions("numpy", "pyarrow"),
    }
    text = records.seal(manifest, indent=1, ensure_ascii=False) + "\n"
    files.atomic_write(folder / MANIFEST_FILE, text, remedy=files.CACHE_REMEDY)
    return manifest


def read(folder: Path, key: Key) -> tuple[Rows, NDArray[np.int8], dict[str, Any]] | None:
    """Return examples, splits and manifest of a stored data set; None if it is not stored, or not completely.

    A DamagedError of one line says that manifest and data disagree with each other or with the key, a StorageError that
    a file exists and cannot be read.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    for name, expected in key.identity().items():
        if manifest.get(name) != expected:
            raise DamagedError(f"{folder / MANIFEST_FILE} has {name} {manifest.get(name)!r} instead of {expected!r}")
    path = folder / DATA_FILE
    data = files.read_bytes(path, remedy=files.CACHE_REMEDY)
    if data is None:
        raise DamagedError(f"{path} is missing")
    if len(data) != manifest.get("bytes"):
        raise DamagedError(f"{path} has {len(data)} bytes instead of {manifest.get('bytes')}")
    if hashlib.sha256(data).hexdigest() != manifest.get("sha256"):
        raise DamagedError(f"{path} does not have the SHA-256 of its manifest")
    rows, split = _from_parquet(data, path)
    for name, counted in _counts(key, rows.y, split).items():
        if manifest.get(name) != counted:
            raise DamagedError(f"{folder / MANIFEST_FILE} does not have the {name} of the data")
    return rows, split, manifest


def decoding_bytes(rows: int, values: int) -> int:
    """Return the memory that decoding a group of examples takes while it lasts, about 20 bytes for each value in it.

    `values` are the tokens and targets of an example.

    >>> decoding_bytes(100, 8), decoding_bytes(10**9, 8) == 20 * ROW_GROUP * 8
    (16000, True)
    """
    return 20 * min(rows, ROW_GROUP) * values  # Parquet has no type below int32, and lists come with levels


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder, or None if there is none; DamagedError if it is not what was written."""
    path = folder / MANIFEST_FILE
    content = files.read_bytes(path, remedy=files.CACHE_REMEDY)
    if content is None:
        return None
    try:
        return records.parse_sealed(content)
    except records.DamagedTextError as error:
        raise DamagedError(f"{path} is damaged: {error}") from None


def _counts(key: Key, y: Integers, split: NDArray[np.int8]) -> dict[str, object]:
    """Return the example counts in all, by split, and by split and class: {"rows", "class_names", "counts"}."""
    names = key.task.class_names(key.n, key.edition)
    counts = names and {
        part: dict(zip(names, np.bincount(y[split == index], minlength=len(names)).tolist(), strict=True))
        for index, part in enumerate(SPLITS)
    }
    return {"rows": part_sizes(split), "class_names": names and list(names), "counts": counts}


def file_sha256(path: Path, remedy: str) -> str:
    """Return the SHA-256 of a file.

    >>> file_sha256(Path("no such file"), "look elsewhere")
    Traceback (most recent call last):
    adelic.errors.StorageError: cannot read no such file: No such file or directory; look elsewhere
    """
    with files.storage_errors(f"cannot read {path}", remedy):
        files.check_regular(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def arrow_array(values: NDArray[np.integer[Any]]) -> Any:
    """Return an Arrow array, one entry per example; examples of several values become lists of fixed size.

    >>> arrow_array(np.array([[1, 2], [3, 4]], np.int8)).type
    FixedSizeListType(fixed_size_list<element: int8 not null>[2])
    """
    with needs_extra("Parquet", "data"):
        import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    if values.ndim == 1:
        return flat
    kind = pa.list_(pa.field("element", flat.type, nullable=False), values.shape[1])
    return pa.FixedSizeListArray.from_arrays(flat, type=kind)


def write_parquet(file: Any, columns: Mapping[str, NDArray[np.integer[Any]]], progress: Progress | None = None) -> None:
    """Write columns, one entry or one list of fixed size per example, as a Parquet file in groups of rows."""
    with needs_extra("Parquet", "data"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    def table(chosen: slice) -> pa.Table:
        arrays = {name: arrow_array(values[chosen]) for name, values in columns.items()}
        schema = pa.schema([pa.field(name, array.type, nullable=False) for name, array in arrays.items()])
        return pa.Table.from_arrays(list(arrays.values()), schema=schema)

    rows = len(next(iter(columns.values())))
    with pq.ParquetWriter(file, table(slice(0)).schema, compression="zstd", write_page_checksum=True) as writer:
        for start in range(0, max(rows, 1), ROW_GROUP):
            writer.write_table(table(slice(start, start + ROW_GROUP)))
            if progress:
                progress(min(start + ROW_GROUP, rows), rows, "writing")


def _from_parquet(data: bytes, path: Path) -> tuple[Rows, NDArray[np.int8]]:
    with needs_extra("Parquet", "data"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    def array(column: pa.ChunkedArray) -> NDArray[Any]:
        whole = column.combine_chunks()
        if not pa.types.is_fixed_size_list(whole.type):
            return np.array(whole.to_numpy(zero_copy_only=False))
        return np.array(whole.flatten().to_numpy(zero_copy_only=False)).reshape(len(whole), whole.type.list_size)

    # Memory of Arrow's own: a thread of its pool that is the last to let go of a Python object would need the
    # interpreter for that, and aborts the process where that is ending meanwhile.
    copy = pa.BufferOutputStream()
    copy.write(data)
    try:
        table = pq.read_table(pa.BufferReader(copy.getvalue()))
        return Rows(array(table["x"]), array(table["y"])), array(table["split"])
    except (pa.ArrowException, KeyError) as error:  # only if somebody wrote a fitting manifest by hand
        raise DamagedError(f"{path} is not a Parquet file with columns x, y and split") from error
