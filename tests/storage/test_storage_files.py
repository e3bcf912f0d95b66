import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import RunBusyError, StorageError
from adelic.storage import files
from adelic.storage.files import atomic_write, cache_folder, check_writable, file_name, read_bytes, sole_user

pytestmark = pytest.mark.usefixtures("cache")


def names(folder):
    """The names of what a folder holds."""
    return sorted(path.name for path in folder.iterdir())


HOSTILE = st.text(st.one_of(st.sampled_from('/\\<>:"|?* .-\0\n~'), st.characters()), max_size=120)


@given(HOSTILE, HOSTILE)
def test_names_are_of_one_file_each(one, other):
    found = file_name(f"t-{one}", "-0"), file_name(f"t-{other}", "-0")
    assert (one == other) == (found[0] == found[1])
    for name in found:
        assert not set('/\\<>:"|?*\0\n') & set(name)
        assert len(name.encode()) <= 220
        assert name.endswith("-0")


@pytest.mark.parametrize(
    "text", ["..", ".", "-x", " x", "x ", "x.", ".x", "con", "NUL.txt", "..con.con", "价" * 90, "\ud800"]
)
def test_what_is_no_name_on_every_system_is_changed(text):
    name = file_name(text)
    assert name != text
    assert name[0] not in ".- "
    assert name[-1] not in " ."
    assert name.split(".")[0].lower() not in ("con", "nul")
    assert len(name.encode()) <= 220


@pytest.mark.parametrize("name", ["schubert-4", "mine-Preis (€)", "a=b,c~1", "console", "x.y", "été" * 20])
def test_ordinary_names_stay(name):
    assert file_name(name, "-seed0") == f"{name}-seed0"


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
    monkeypatch.setenv("ADELIC_CACHE", "~nobody-of-this-name/data")
    with pytest.raises(StorageError, match=r"^ADELIC_CACHE=~nobody-of-this-name/data begins with the home of nobody"):
        cache_folder()


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


def reading(path):
    """A thread that reads a pipe to its end, and the list that then has what it read."""
    found = []
    thread = threading.Thread(target=lambda: found.append(path.read_bytes()))
    thread.start()
    return thread, found


@pytest.mark.parametrize("data", [b"bytes", "text ℓ", lambda file: file.write(b"written")])
def test_a_pipe_is_written_to_and_stays_one(tmp_path, data):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader, found = reading(pipe)
    atomic_write(pipe, data)
    reader.join(30)
    expected = {bytes: data, str: data.encode() if isinstance(data, str) else None}.get(type(data), b"written")
    assert found == [expected]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_a_device_is_written_to_and_stays_one(tmp_path, make_device):
    device = tmp_path / "device"
    make_device(device)
    before = device.stat()
    atomic_write(device, "text")
    after = device.stat()
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_ino, after.st_rdev) == (before.st_ino, before.st_rdev)


def test_symbolic_links_are_followed(tmp_path):
    target, nowhere = tmp_path / "folder" / "target", tmp_path / "new" / "target"
    target.parent.mkdir()
    target.write_text("old")
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "chain").symlink_to("link")
    (tmp_path / "dangling").symlink_to(nowhere)
    atomic_write(tmp_path / "chain", "new")
    atomic_write(tmp_path / "dangling", "made")
    assert target.read_text() == "new"
    assert nowhere.read_text() == "made"
    assert all((tmp_path / name).is_symlink() for name in ("link", "chain", "dangling"))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StorageError, match=r"cannot write .*loop"):
        atomic_write(tmp_path / "loop", "x")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o777])
def test_a_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    atomic_write(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only the superuser can give a file away")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    atomic_write(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


@pytest.fixture
def closed_folder(tmp_path):
    """A folder that takes no new file, with a file in it that anybody may write."""
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "file").write_text("old and longer")
    (folder / "file").chmod(0o666)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


def test_a_folder_that_takes_no_file_is_noticed_at_once_and_its_files_stay(closed_folder, tmp_path, as_another_user):
    """Also where a link leads to one; a link in it is followed out of it."""
    (tmp_path / "link").symlink_to(closed_folder / "file")
    closed_folder.chmod(0o755)
    (closed_folder / "way out").symlink_to(tmp_path / "open" / "file")
    closed_folder.chmod(0o555)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)

    def work():
        check_writable(closed_folder / "way out")
        for path in (closed_folder / "file", closed_folder / "other", tmp_path / "link"):
            for call in (check_writable, partial(atomic_write, data="x")):
                with pytest.raises(StorageError, match="cannot write"):
                    call(path)

    assert as_another_user(work) == 0
    assert (closed_folder / "file").read_text() == "old and longer"


def test_a_folder_that_may_be_written_and_not_read(closed_folder, as_another_user):
    closed_folder.chmod(0o333)
    assert as_another_user(lambda: atomic_write(closed_folder / "other", "x")) == 0
    closed_folder.chmod(0o755)
    assert names(closed_folder) == ["file", "other"]


def test_a_long_name(tmp_path):
    """The temporary file's is not longer than a file system allows."""
    for length in (200, 255):
        atomic_write(tmp_path / ("x" * length), "text")
        assert (tmp_path / ("x" * length)).read_text() == "text"


def test_text_that_is_no_unicode_is_escaped(tmp_path):
    """As JSON has it, in which the path of an output may stand."""
    atomic_write(tmp_path / "file", '{"path": "\udcff"}')
    assert (tmp_path / "file").read_bytes() == b'{"path": "\\udcff"}'


WRITING = """
import sys
from adelic.storage.files import atomic_write

def write(file):
    print("writing", flush=True)
    sys.stdin.read()
    file.write(b"other")

atomic_write(sys.argv[1], write)
"""


def test_the_temporary_file_of_a_living_writer_is_left_alone(tmp_path, monkeypatch):
    """Also where its process cannot be seen, as in another container; a killed writer's is removed."""
    path = tmp_path / "file"
    monkeypatch.setattr("psutil.pid_exists", lambda pid: False)
    with subprocess.Popen(
        [sys.executable, "-c", WRITING, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "writing\n"
        atomic_write(path, "mine")
        assert len(names(tmp_path)) == 2
        other.communicate(timeout=600)
    assert other.returncode == 0
    assert path.read_text() == "other"
    with subprocess.Popen(
        [sys.executable, "-c", WRITING, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "writing\n"
        other.kill()
    assert len(names(tmp_path)) == 2
    atomic_write(path, "mine")
    assert names(tmp_path) == ["file"]


def test_a_temporary_file_that_is_taken_for_a_leftover_is_made_anew(tmp_path, monkeypatch):
    """Another writer may look between its making and its lock."""
    plain, taken = files.fcntl.flock, []

    def delete_first(descriptor, operation):
        if not taken:
            taken.append(names(tmp_path))
            (tmp_path / taken[0][0]).unlink()
        plain(descriptor, operation)

    monkeypatch.setattr(files.fcntl, "flock", delete_first)
    atomic_write(tmp_path / "file", "text")
    assert len(taken) == 1
    assert names(tmp_path) == ["file"]


def test_where_there_are_no_locks_files_are_written_and_nobodys_are_removed(tmp_path, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    strange = tmp_path / f".file.{'0' * 16}.tmp"
    strange.touch()
    monkeypatch.setattr(files.fcntl, "flock", refuse)
    atomic_write(tmp_path / "file", "one")
    monkeypatch.setattr(files, "fcntl", None)
    atomic_write(tmp_path / "file", "two")
    assert (tmp_path / "file").read_text() == "two"
    assert names(tmp_path) == [strange.name, "file"]


def test_a_failing_writer_leaves_nothing(tmp_path):
    def interrupted(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomic_write(tmp_path / "file", interrupted)
    assert names(tmp_path) == []


def test_path_is_a_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match="cannot write"):
        atomic_write(tmp_path / "folder", "x")
    with pytest.raises(StorageError, match="cannot read"):
        read_bytes(tmp_path / "folder")
    assert names(tmp_path) == ["folder"]
    with pytest.raises(StorageError, match=r"cannot write \.: it is a folder"):
        atomic_write("", "x")


def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(StorageError, match="cannot write socket: it is not a file"):
            atomic_write("socket", "x")
    assert names(tmp_path) == ["socket"]


def test_two_processes_write_one_path(tmp_path):
    """Every reader sees one content or the other, whole."""
    path = tmp_path / "file"
    code = (
        "import sys; from adelic.storage.files import atomic_write\n"
        "for _ in range(30): atomic_write(sys.argv[1], sys.argv[2].encode() * 100_000)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), letter]) for letter in "ab"]
    while any(writer.poll() is None for writer in writers):
        content = read_bytes(path)
        assert content in (None, b"a" * 100_000, b"b" * 100_000)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert names(tmp_path) == ["file"]


def test_a_folder_has_one_user_until_its_process_ends(tmp_path):
    folder = tmp_path / "new" / "folder"
    code = (
        "import sys\nfrom pathlib import Path\nfrom adelic.storage.files import sole_user\n"
        "with sole_user(Path(sys.argv[1])):\n    print('holds', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "holds\n"
        with (
            pytest.raises(RunBusyError, match=r"^another process is at work in .*folder; wait for it"),
            sole_user(folder),
        ):
            pass
        other.kill()
    with sole_user(folder):  # and a block that ended holds nothing
        assert names(folder) == []


def test_a_new_folder_is_not_left_empty(tmp_path):
    old, new, used = (tmp_path / name for name in ("old", "new", "used"))
    old.mkdir()
    with sole_user(old), sole_user(new), sole_user(used):
        (used / "file").touch()
    assert names(tmp_path) == ["old", "used"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_where_that_is_meant_alone(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match=r"^cannot read .*pipe: it is a pipe or a device, not a file; choose"):
        read_bytes(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"adele",))
    writer.start()
    assert read_bytes(pipe, streams=True) == b"adele"
    writer.join()


def test_a_folder_that_was_deleted_while_it_was_opened_is_not_held(tmp_path, monkeypatch):
    folder, plain = tmp_path / "run", files.fcntl.flock

    def delete_first(descriptor, operation):
        folder.rmdir()
        plain(descriptor, operation)

    monkeypatch.setattr(files.fcntl, "flock", delete_first)
    with pytest.raises(RunBusyError), sole_user(folder):
        pass
    monkeypatch.undo()
    with sole_user(folder):
        assert folder.exists()


@pytest.mark.parametrize("held", [sole_user, partial(sole_user, waits=True)])
def test_where_there_are_no_locks_nothing_is_held(tmp_path, monkeypatch, held):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    entered = []
    monkeypatch.setattr(files.fcntl, "flock", refuse)
    with held(tmp_path), held(tmp_path):
        entered.append("refused")
    monkeypatch.setattr(files, "fcntl", None)
    with held(tmp_path), held(tmp_path):
        entered.append("no module")
    assert entered == ["refused", "no module"]


TURNS = """
import sys
from pathlib import Path
from adelic.storage.files import atomic_write, sole_user
counter = Path(sys.argv[1]) / "counter"
for _ in range(100):
    with sole_user(counter.parent, waits=True):
        number = int(counter.read_text()) if counter.exists() else 0
        atomic_write(counter, str(number + 1))
"""


def test_processes_take_turns(tmp_path):
    """What one reads and writes, no other changes in between."""
    folder = tmp_path / "new" / "folder"
    counting = [subprocess.Popen([sys.executable, "-c", TURNS, str(folder)]) for _ in range(3)]
    assert [process.wait(600) for process in counting] == [0, 0, 0]
    assert (folder / "counter").read_text() == "300"
    assert names(folder) == ["counter"]
