"""Files: writing that is complete or has not happened, and errors that a person can act on."""

import glob
import os
import platform
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import platformdirs
import psutil

from adelic.errors import RunBusyError, StorageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

CACHE_REMEDY = "set ADELIC_CACHE to a folder that is writable and has room"
FOLDER_REMEDY = "choose a folder that is writable and has room"


def cache_folder() -> Path:
    """Return the folder that holds generated data: ADELIC_CACHE if that is set, else the user's cache folder.

    >>> import os
    >>> os.environ.get("ADELIC_CACHE", "") in str(cache_folder())
    True
    """
    chosen = os.environ.get("ADELIC_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_cache_dir("adelic"))


def atomic_write(
    path: str | Path, data: bytes | str | Callable[[BinaryIO], object], *, remedy: str = FOLDER_REMEDY
) -> None:
    """Write a file so that whoever opens `path`, at any time and after any crash, sees the old content or the new.

    The content goes to a temporary file in the same folder, is flushed to the disk, and takes the name in one step. The
    folder is made if it is missing; the temporary file is removed if anything fails, and what a killed writer of this
    path left behind is removed before. Two processes may write the same path at once: one of them comes last.

    Args:
        path: the file.
        data: its content; text is written as UTF-8; a function is called with the open binary file.
        remedy: what the error advises.

    Raises:
        StorageError: the file cannot be written; the message names the path, the reason and the remedy.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomic_write(Path(folder) / "runs" / "note.txt", "ℓ(w) = 3")
    ...     (Path(folder) / "runs" / "note.txt").read_text(encoding="utf-8")
    'ℓ(w) = 3'
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    with storage_errors(f"cannot write {path}", remedy):
        _make_folder(path.parent)
        _remove_leftovers(path)
        try:
            with temporary.open("xb") as file:
                if callable(data):
                    data(file)
                else:
                    file.write(data.encode() if isinstance(data, str) else data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:  # an interrupt too must leave nothing behind
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


@contextmanager
def sole_user(folder: Path, *, remedy: str = FOLDER_REMEDY) -> Iterator[None]:
    """Hold a folder against other processes that use this function; one that was missing is made, and not left empty.

    The kernel lets go of it when the process ends, however it ends. Where a file system, or Windows, has no such locks,
    nothing is held.

    Args:
        folder: the folder.
        remedy: what the error advises.

    Raises:
        RunBusyError: another process, or another block, holds the folder.
        StorageError: the folder cannot be made.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name, sole_user(Path(name)), sole_user(Path(name)):
    ...     pass
    Traceback (most recent call last):
    adelic.errors.RunBusyError: another process is at work in /...; wait for it, or choose another folder
    """
    with ExitStack() as held:
        with storage_errors(f"cannot use the folder {folder}", remedy):
            is_new = not folder.exists()
            _make_folder(folder)
            if fcntl is not None:
                descriptor = os.open(folder, os.O_RDONLY)
                held.callback(os.close, descriptor)
                if not _lock(descriptor, folder):
                    raise RunBusyError(f"another process is at work in {folder}; wait for it, or choose another folder")
        try:
            yield
        finally:
            if is_new:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()


@contextmanager
def taking_turns(folder: Path, *, remedy: str = FOLDER_REMEDY) -> Iterator[None]:
    """Wait until no other process is in such a block with this folder, which is made if it is missing.

    It is for what is read, changed and written within a moment. As with `sole_user`, the kernel ends a turn with its
    process, and a file system without locks has no turns.

    Raises:
        StorageError: the folder cannot be made.
    """
    with ExitStack() as held:
        with storage_errors(f"cannot use the folder {folder}", remedy):
            _make_folder(folder)
            if fcntl is not None:
                descriptor = os.open(folder, os.O_RDONLY)
                held.callback(os.close, descriptor)
                with suppress(OSError):  # this file system has no such locks
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _lock(descriptor: int, folder: Path) -> bool:
    """Lock an open folder; return whether no other process has it, or has deleted it since it was opened."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no such locks
        return True
    return folder.exists() and os.path.samestat(os.fstat(descriptor), folder.stat())


def read_bytes(path: Path, *, remedy: str = FOLDER_REMEDY) -> bytes | None:
    """Return the content of a file, or None if there is no such file.

    Raises:
        StorageError: there is something of this name, but it cannot be read.

    >>> read_bytes(Path("no such file")) is None
    True
    """
    with storage_errors(f"cannot read {path}", remedy):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


@contextmanager
def storage_errors(failure: str, remedy: str) -> Iterator[None]:
    """Turn any OSError inside the block into a StorageError of one line: the failure, its reason, the remedy.

    A StorageError says all that already, and passes.

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
        reason = error.strerror or str(error)
        raise StorageError(f"{failure}: {reason}; {remedy}") from error


def _host() -> str:
    """Return this machine's name, as far as it fits a file name."""
    return re.sub(r"[^A-Za-z0-9]", "", platform.node()) or "host"


def _remove_leftovers(path: Path) -> None:
    """Delete the temporary files of `path` whose writers, processes of this machine, are gone."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.{_host()}-*.tmp"):
        writer = leftover.name.removesuffix(".tmp").split("-")[-2]
        if writer.isdigit() and not psutil.pid_exists(int(writer)):
            leftover.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Make a folder, and its parents, so that they outlive a power cut."""
    made = [missing for missing in (folder, *folder.parents) if not missing.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for new in made:
        _sync_folder(new.parent)


def _sync_folder(folder: Path) -> None:
    """Have the disk remember the folder's new entry; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
