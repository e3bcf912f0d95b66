"""Files: writing that is complete or has not happened, and errors that a person can act on."""

import errno
import glob
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import platformdirs

from adelic.errors import RunBusyError, StorageError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

Content = bytes | str | Callable[[BinaryIO], object]
CACHE_REMEDY = "set ADELIC_CACHE to a folder that is writable and has room"
FOLDER_REMEDY = "choose a folder that is writable and has room"
# Separators of folders, characters that Windows refuses in names, controls, line separators, and bytes beyond UTF-8.
_NOT_IN_NAMES = re.compile(r'[/\\<>:"|?*\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
# Hidden, an option or a link to a folder; cut by Windows; or a device of Windows, whatever its ending.
_NOT_AT_ENDS = re.compile(r"^([\s.-]|(con|prn|aux|nul|com\d|lpt\d)(?=\.|$))+|[\s.]+$", re.IGNORECASE)
_LONGEST_NAME = 220  # of the 255 bytes that file systems take; the rest is for callers' endings


def cache_folder() -> Path:
    """Return the folder that holds generated data: ADELIC_CACHE if that is set, else the user's cache folder.

    Raises:
        StorageError: the variable begins with a home that does not exist, as ~nobody/cache.

    >>> import os
    >>> os.environ.get("ADELIC_CACHE", "") in str(cache_folder())
    True
    """
    chosen = os.environ.get("ADELIC_CACHE")
    if not chosen:
        return Path(platformdirs.user_cache_dir("adelic"))
    try:
        return Path(chosen).expanduser().absolute()
    except RuntimeError:
        raise StorageError(f"ADELIC_CACHE={chosen} begins with the home of nobody here; {CACHE_REMEDY}") from None


def atomic_write(path: str | Path, data: Content, *, remedy: str = FOLDER_REMEDY) -> None:
    """Write a file atomically: whoever opens `path`, at any time and after any crash, sees the old content or the new.

    The content goes to a temporary file in the same folder, is flushed to the disk, and takes the name in one step. The
    folder is made if it is missing; the temporary file is removed if anything fails, and the leftovers of a killed
    writer of this path are removed before. Two processes may write the same path at once: one of them comes last.

    Symbolic links are followed, and a file keeps its mode, and its owner if that is allowed. A pipe or a character
    device is written to, and stays a device. Any other thing of this name is refused.

    A text is written as UTF-8, with escapes for characters that UTF-8 lacks (half a surrogate pair, as for a byte in a
    path that is not UTF-8); a function is called with the open binary file. If it cannot be written, a StorageError
    names the path, the reason and the remedy.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomic_write(Path(folder) / "runs" / "note.txt", "ℓ(w) = 3")
    ...     (Path(folder) / "runs" / "note.txt").read_text(encoding="utf-8")
    'ℓ(w) = 3'
    """
    path = Path(path)
    with storage_errors(f"cannot write {path}", remedy):
        try:
            before = path.stat()
        except FileNotFoundError:
            before = None
        if before is None or stat.S_ISREG(before.st_mode):
            _replace(Path(os.path.realpath(path)), before, data)
        elif _is_stream(before):
            with path.open("wb") as stream:  # by its own name: the target of a link of /proc has none
                _put(data, stream)
        else:
            is_folder = stat.S_ISDIR(before.st_mode)
            raise OSError(
                errno.EISDIR if is_folder else errno.EINVAL, "it is a folder" if is_folder else "it is not a file"
            )


def check_writable(path: Path, *, remedy: str = FOLDER_REMEDY) -> None:
    """Raise StorageError if it is plain already that a file cannot be written: before the work that it is to hold.

    Nothing is made. A disk that is full is noticed by `atomic_write` alone.

    >>> check_writable(Path(__file__) / "below.json")
    Traceback (most recent call last):
    adelic.errors.StorageError: cannot write .../below.json: .../files.py is not a folder; choose a folder that is ...
    """
    with storage_errors(f"cannot write {path}", remedy):
        if path.is_dir():
            raise OSError(errno.EISDIR, "it is a folder")
        if not is_stream(path):
            _check_takes_files(Path(os.path.realpath(path)).parent)


def check_writable_folder(folder: Path, *, remedy: str = FOLDER_REMEDY) -> None:
    """Raise StorageError if it is plain already that no file can be written into a folder, missing or not.

    >>> check_writable_folder(Path(__file__))
    Traceback (most recent call last):
    adelic.errors.StorageError: cannot write into .../files.py: .../files.py is not a folder; choose a folder ...
    """
    with storage_errors(f"cannot write into {folder}", remedy):
        _check_takes_files(folder)


def _check_takes_files(folder: Path) -> None:
    folder = folder.absolute()
    there = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if not there.is_dir():
        raise OSError(errno.ENOTDIR, f"{there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def is_stream(path: Path) -> bool:
    """Return whether a path names a pipe or a character device, which is written to and holds nothing to compare.

    >>> is_stream(Path("no such file"))
    False
    """
    try:
        return _is_stream(path.stat())
    except OSError:
        return False


def _is_stream(status: os.stat_result) -> bool:
    return stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode)


def _replace(path: Path, before: os.stat_result | None, data: Content) -> None:
    """Write a regular file, or one that is missing, in one step."""
    _make_folder(path.parent)
    _remove_leftovers(path)
    temporary, file = _temporary(path)
    try:
        with file:
            if before is not None:
                _keep_mode(file.fileno(), before)
            _put(data, file)
            file.flush()
            # Before the rename, which may reach the disk earlier than the content: a crash then leaves an empty file.
            os.fsync(file.fileno())
            if fcntl is not None:  # while the lock shows that the temporary file is in use
                temporary.replace(path)
        if fcntl is None:  # Windows renames no open file
            temporary.replace(path)
    except BaseException:  # an interrupt too must leave no file
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _put(data: Content, file: BinaryIO) -> None:
    """Write content to an open file."""
    if callable(data):
        data(file)
    else:
        file.write(data.encode(errors="backslashreplace") if isinstance(data, str) else data)


def _keep_mode(descriptor: int, before: os.stat_result) -> None:
    """Give a new file the mode of the one that it replaces, and its owner as far as that is allowed."""
    if os.name == "nt":
        return
    with suppress(OSError):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, before.st_mode & 0o777)


def file_name(text: str, end: str = "") -> str:
    """Return the name of one file, on every system, that a text and an end of plain characters make.

    It is the text itself, followed by the end, if that is such a name of at most 220 bytes. Otherwise the parts that do
    not fit are replaced or cut, and a digest of the text comes before the end, so different texts have different
    names.

    >>> file_name("mine-price", "-seed0"), file_name("mine-../../price/kg", "-seed0")
    ('mine-price-seed0', 'mine-..-..-price-kg-...-seed0')
    """
    name = _NOT_AT_ENDS.sub("", _NOT_IN_NAMES.sub("-", text))
    if name == text and len((text + end).encode()) <= _LONGEST_NAME:
        return text + end
    end = f"-{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}{end}"
    room = _LONGEST_NAME - len(end.encode())
    return f"{name.encode()[:room].decode(errors='ignore') or 'data'}{end}"


@contextmanager
def sole_user(folder: Path, *, remedy: str = FOLDER_REMEDY, waits: bool = False) -> Iterator[None]:
    """Hold a folder against other processes that use this function; one that was missing is made, and not left empty.

    The kernel lets go of it when the process ends, however it ends. If a file system, or Windows, has no such locks,
    nothing is held. A RunBusyError means that another process, or another block, holds the folder, a StorageError that
    it cannot be made. With `waits` processes take turns instead, for files that are read, changed and written within a
    moment.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name, sole_user(Path(name)), sole_user(Path(name)):
    ...     pass
    Traceback (most recent call last):
    adelic.errors.RunBusyError: another process is at work in /...; wait for it, or choose another folder
    """
    with ExitStack() as held:
        with storage_errors(f"cannot use the folder {folder}", remedy):
            is_new = not (waits or folder.exists())
            _make_folder(folder)
            if fcntl is not None:
                descriptor = os.open(folder, os.O_RDONLY)
                held.callback(os.close, descriptor)
                if waits:
                    with suppress(OSError):  # this file system has no such locks
                        fcntl.flock(descriptor, fcntl.LOCK_EX)
                elif not _lock(descriptor, folder):
                    raise RunBusyError(f"another process is at work in {folder}; wait for it, or choose another folder")
        try:
            yield
        finally:
            if is_new:
                # Still locked: who has opened it meanwhile sees in `_lock` that it is gone, and is refused.
                with suppress(OSError):  # it is not empty
                    folder.rmdir()


def _lock(descriptor: int, path: Path) -> bool:
    """Lock an open folder or file; return whether no other process has it, or has deleted it since it was opened."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no such locks
        return True
    return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())


def read_bytes(path: Path, *, remedy: str = FOLDER_REMEDY, streams: bool = False) -> bytes | None:
    """Return the content of a file, or None if there is no such file.

    If it is there but cannot be read, it is a StorageError, and so is a pipe or a device, which may never end, unless
    `streams` allows one, if a user names the file.

    >>> read_bytes(Path("no such file")) is None
    True
    """
    with storage_errors(f"cannot read {path}", remedy):
        try:
            if not streams:
                check_regular(path)
            return path.read_bytes()
        except FileNotFoundError:
            return None


def check_regular(path: Path) -> None:
    """Raise OSError for a pipe or a device: whoever opens one may wait for ever.

    >>> check_regular(Path(__file__))
    """
    if is_stream(path):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")


@contextmanager
def storage_errors(failure: str, remedy: str) -> Iterator[None]:
    """Turn any OSError inside the block into a StorageError of one line: the failure, its reason, the remedy.

    A StorageError tells all that already, and passes.

    >>> with storage_errors("cannot read x", "look elsewhere"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
    adelic.errors.StorageError: cannot read x: Permission denied; look elsewhere
    """
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise StorageError(f"{failure}: {reason}; {remedy}") from error


def _temporary(path: Path) -> tuple[Path, BinaryIO]:
    """Return a new file next to `path`, and open it, with a lock on it that ends with its writer."""
    while True:
        temporary = path.with_name(f".{_stem(path)}.{secrets.token_hex(8)}.tmp")
        file = temporary.open("xb")
        if _lock(file.fileno(), temporary):
            return temporary, file
        file.close()  # another writer of this path took it for a leftover in between


def _remove_leftovers(path: Path) -> None:
    """Delete the temporary files of `path` that no writer holds any more, on whatever machine; without locks, none."""
    if fcntl is None:
        return
    for leftover in path.parent.glob(f".{glob.escape(_stem(path))}.*.tmp"):
        if re.fullmatch(r"[0-9a-f]{16}", leftover.name.split(".")[-2]):
            with suppress(OSError), ExitStack() as opened:  # it is held, or gone, or there are no locks
                # NFS gives exclusive locks on files that are open for writing alone; to open a pipe of such a name
                # could wait.
                descriptor = os.open(leftover, os.O_RDWR | os.O_NONBLOCK)
                opened.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                leftover.unlink()


def _stem(path: Path) -> str:
    """Return the beginning of names of the temporary files of `path`: its name, or a digest of a very long one."""
    # File systems take names of 255 bytes, and the name of a temporary file is 22 longer.
    name = os.fsencode(path.name)
    return path.name if len(name) <= 200 else hashlib.sha256(name).hexdigest()


def _make_folder(folder: Path) -> None:
    """Make a folder, and its parents, so they outlive a power cut."""
    made = [missing for missing in (folder, *folder.parents) if not missing.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for new in made:
        _sync_folder(new.parent)


def _sync_folder(folder: Path) -> None:
    """Have the disk remember the folder's new entry; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # one may write there and not read
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
