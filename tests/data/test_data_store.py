import hashlib
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adelic import acd
from adelic.data import StoreWarning, store
from adelic.errors import StorageError
from adelic.storage.records import parse_sealed, seal

pytestmark = pytest.mark.usefixtures("cache")


def names(folder):
    """The names of what a folder holds."""
    return sorted(path.name for path in folder.iterdir())


SMALL = {
    "characters": 8,
    "grassmannian": 9,
    "kl": 4,
    "lattice": 6,
    "mheight": 7,
    "quiver": 6,
    "rsk": 5,
    "schubert": 4,
    "weaving": 5,
}
"""A size of each task that is built at once."""


@pytest.fixture
def folder(cache):
    """A stored data set's folder."""
    acd.load("weaving", n=5)
    return cache / "acd" / "weaving" / "n5" / "published" / "seed0"


def same(a, b):
    arrays = ("X_train", "y_train", "X_validation", "y_validation", "X_test", "y_test")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)


def test_one_flipped_bit_of_a_manifest_is_found(folder):
    """One in each byte."""
    path = folder / "manifest.json"
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(store.DamagedError, match=r"manifest\.json is damaged: it "):
            store.read_manifest(folder)
    path.write_bytes(whole)
    assert "text_sha256" not in acd.load("weaving", n=5).provenance


def test_arrow_reads_memory_of_its_own(folder, monkeypatch):
    """A thread of its pool that let go of Python's last would abort a process that is ending: 3 of 150 did."""
    data = (folder / "data.parquet").read_bytes()
    plain, sources = pq.read_table, []

    def read(source):
        sources.append(source)
        return plain(source)

    monkeypatch.setattr(pq, "read_table", read)
    rows, _ = store._from_parquet(data, folder / "data.parquet")
    assert len(rows.X) == 124
    (source,) = sources
    assert type(source) is pa.BufferReader
    source.seek(0)
    assert source.read_buffer().address != pa.py_buffer(data).address


def test_second_load_reads_the_store(folder, monkeypatch):
    first = acd.load("weaving", n=5)
    monkeypatch.setattr(store, "write", None)  # a build would fail
    again = acd.load("weaving", n=5)
    assert same(first, again)
    assert first.provenance == again.provenance


def test_files_and_columns(folder):
    assert names(folder) == ["data.parquet", "manifest.json"]
    table = pq.read_table(folder / "data.parquet")
    assert table.column_names == ["x", "y", "split"]
    assert str(table.schema.field("x").type) == "fixed_size_list<element: int8 not null>[20]"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["rows"]["all"] == table.num_rows == 124


def damage_data(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def replace_data(path):
    """Data and hash agree, but the data are not a Parquet file."""
    path.with_name("data.parquet").write_bytes(b"no Parquet")
    edit_manifest(path, sha256=hashlib.sha256(b"no Parquet").hexdigest(), bytes=10)


def edit_manifest(path, **changes):
    """Write a manifest with changes, and with the SHA-256 of its text."""
    path.write_text(seal({**parse_sealed(path.read_bytes()), **changes}))


DAMAGES = {
    "one flipped bit": ("data.parquet", damage_data, "SHA-256"),
    "truncated": ("data.parquet", lambda path: path.write_bytes(path.read_bytes()[:-7]), "bytes instead of"),
    "empty": ("data.parquet", lambda path: path.write_bytes(b""), "0 bytes instead of"),
    "missing": ("data.parquet", lambda path: path.unlink(), "is missing"),
    "no JSON": ("manifest.json", lambda path: path.write_text('{"task": '), "is not JSON"),
    "empty manifest": ("manifest.json", lambda path: path.write_text(""), "is not JSON"),
    "binary manifest": ("manifest.json", lambda path: path.write_bytes(b"\xff\xfe\x00"), "is not JSON"),
    "deep manifest": ("manifest.json", lambda path: path.write_text("[" * 100_000), "is not JSON"),
    "no object": ("manifest.json", lambda path: path.write_text("[]"), "is not a JSON object"),
    "no keys": ("manifest.json", lambda path: path.write_text(seal({})), "has format None"),
    "version": ("manifest.json", lambda path: edit_manifest(path, generator_version=0), "generator_version 0"),
    "other task": ("manifest.json", lambda path: edit_manifest(path, task="mheight"), "task 'mheight'"),
    "other split": ("manifest.json", lambda path: edit_manifest(path, split="orbits"), "split 'orbits'"),
    "other seed": ("manifest.json", lambda path: edit_manifest(path, seed=1), "seed 1"),
    "other hash": ("manifest.json", lambda path: edit_manifest(path, sha256="0"), "SHA-256"),
    "other data": ("manifest.json", replace_data, "not a Parquet file"),
    "other rows": ("manifest.json", lambda path: edit_manifest(path, rows={}), "rows of the data"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_and_repaired(folder, damage):
    intact = acd.load("weaving", n=5)
    name, inflict, complaint = DAMAGES[damage]
    inflict(folder / name)
    with pytest.warns(StoreWarning) as caught:
        repaired = acd.load("weaving", n=5)
    (warning,) = caught
    message = str(warning.message)
    assert complaint in message
    assert str(folder / ("data.parquet" if complaint in ("SHA-256", "not a Parquet file") else name)) in message
    assert "built anew" in message
    assert "\n" not in message
    assert warning.filename == __file__
    assert same(intact, repaired)
    assert same(intact, acd.load("weaving", n=5))  # without a warning


def test_the_split_is_part_of_what_is_stored(cache):
    """Each split has its folder, and a file of the one in the place of the other is noticed."""
    published, orbits = (acd.load("weaving", n=5, split=split) for split in ("published", "orbits"))
    where = cache / "acd" / "weaving" / "n5" / "published"
    assert published.provenance["path"] == str(where / "seed0" / "data.parquet")
    assert orbits.provenance["path"] == str(where / "orbits" / "seed0" / "data.parquet")
    manifest = json.loads((where / "orbits" / "seed0" / "manifest.json").read_text())
    assert manifest["split"] == "orbits"
    assert manifest["rows"]["train"] == len(orbits.X_train)
    assert manifest["orbits"] == orbits.provenance["orbits"] > 0
    for name in names(where / "seed0"):
        (where / "orbits" / "seed0" / name).write_bytes((where / "seed0" / name).read_bytes())
    with pytest.warns(StoreWarning, match="has split 'published' instead of 'orbits'; it is built anew"):
        assert same(acd.load("weaving", n=5, split="orbits"), orbits)


def test_half_a_build_is_finished_without_a_warning(folder):
    """A build that was killed between its two files leaves data without a manifest."""
    (folder / "manifest.json").unlink()
    acd.load("weaving", n=5)
    assert names(folder) == ["data.parquet", "manifest.json"]


@pytest.mark.long
def test_one_seed_repeats_and_two_differ(tmp_path):
    for name, n in SMALL.items():
        built = [
            acd.build(name, n=n, seed=seed, cache=tmp_path / where) for seed, where in ((0, "a"), (0, "b"), (1, "a"))
        ]
        for found in ([one["sha256"] for one in built], [Path(one["path"]).read_bytes() for one in built]):
            assert found[0] == found[1] != found[2]
    assert SMALL.keys() == acd.TASKS.keys()


def test_cache_that_cannot_be_made(monkeypatch):
    monkeypatch.setenv("ADELIC_CACHE", "/proc/adelic")
    with pytest.raises(StorageError, match=r"/proc/adelic.*set ADELIC_CACHE") as caught:
        acd.load("weaving", n=4)
    assert "\n" not in str(caught.value)


def test_a_file_that_outgrows_its_limit(tmp_path):
    """A write that truly fails half-way: the process may write no file of more than 500 bytes."""
    code = (
        "import resource, sys; from adelic import acd, errors; resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "try: acd.load('weaving', n=5, cache=sys.argv[1])\n"
        "except errors.StorageError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-B", "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "data.parquet: File too large; set ADELIC_CACHE" in run.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_unreadable_store_is_an_error_and_not_rebuilt(folder):
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()
    with pytest.raises(StorageError, match=r"cannot read .*manifest\.json"):
        acd.load("weaving", n=5)


@pytest.mark.long
def test_two_processes_build_at_once(tmp_path):
    code = "import sys; from adelic import acd; [acd.build('weaving', n=5, cache=sys.argv[1]) for _ in range(15)]"
    builders = [subprocess.Popen([sys.executable, "-W", "error", "-c", code, str(tmp_path)]) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while any(builder.poll() is None for builder in builders):
            acd.load("weaving", n=5, cache=tmp_path)
    assert [builder.returncode for builder in builders] == [0, 0]
    assert same(acd.load("weaving", n=5, cache=tmp_path), acd.load("weaving", n=5))
