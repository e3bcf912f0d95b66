import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adelic.acd import files
from adelic.acd.files import atomic_write, cache_folder, read_bytes
from adelic.errors import StorageError


def names(folder):
    """The names of what a folder holds."""
    return sorted(path.name for path in folder.iterdir())


def fail_with(number):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return fail


def test_cache_folder_is_the_variable_or_the_users(monkeypatch, cache):
    assert cache_folder() == cache
    monkeypatch.setenv("ADELIC_CACHE", "~/data")
    assert cache_folder() == Path.home() / "data"
    for unset in ("", None):
        if unset is None:
            monkeypatch.delenv("ADELIC_CACHE")
        else:
            monkeypatch.setenv("ADELIC_CACHE", unset)
        assert cache_folder().is_absolute()
        assert "adelic" in cache_folder().parts


@pytest.mark.parametrize("data", [b"\x00bytes", "text ℓ", lambda file: file.write(b"written")])
def test_content(tmp_path, data):
    path = tmp_path / "new" / "folder" / "file"
    atomic_write(path, data)
    expected = {bytes: data, str: data.encode() if isinstance(data, str) else None}.get(type(data), b"written")
    assert path.read_bytes() == expected == read_bytes(path)
    assert names(path.parent) == ["file"]


def test_replaces_and_respects_the_umask(tmp_path):
    path = tmp_path / "file"
    atomic_write(path, "old")
    atomic_write(str(path), "new")
    assert path.read_text() == "new"
    (tmp_path / "plain").touch()
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("where", ["fsync", "replace", "open"])
def test_a_failure_leaves_the_old_content_and_no_temporary_file(tmp_path, monkeypatch, number, where):
    path = tmp_path / "file"
    atomic_write(path, "old")
    with monkeypatch.context() as patch:
        patch.setattr(
            *{"fsync": (os, "fsync"), "replace": (Path, "replace"), "open": (Path, "open")}[where], fail_with(number)
        )
        with pytest.raises(StorageError) as caught:
            atomic_write(path, "new", remedy=files.CACHE_REMEDY)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert os.strerror(number) in message
    assert "ADELIC_CACHE" in message


def test_a_failing_writer_leaves_nothing(tmp_path):
    def interrupted(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomic_write(tmp_path / "file", interrupted)
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_made():
    """/proc takes no file, whoever runs this."""
    with pytest.raises(StorageError, match="cannot write"):
        atomic_write("/proc/adelic/file", "x")


def test_path_through_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot write .*file"):
        atomic_write(tmp_path / "file" / "below", "x")
    with pytest.raises(StorageError, match=r"cannot read .*file"):
        read_bytes(tmp_path / "file" / "below")


def test_path_is_a_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match="cannot write"):
        atomic_write(tmp_path / "folder", "x")
    with pytest.raises(StorageError, match="cannot read"):
        read_bytes(tmp_path / "folder")
    assert names(tmp_path) == ["folder"]


def test_two_processes_write_one_path(tmp_path):
    """Every reader sees one content or the other, whole."""
    path = tmp_path / "file"
    code = (
        "import sys; from adelic.acd.files import atomic_write\n"
        "for _ in range(30): atomic_write(sys.argv[1], sys.argv[2].encode() * 100_000)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), letter]) for letter in "ab"]
    while any(writer.poll() is None for writer in writers):
        content = read_bytes(path)
        assert content in (None, b"a" * 100_000, b"b" * 100_000)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert names(tmp_path) == ["file"]
