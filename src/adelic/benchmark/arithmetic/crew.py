"""Worker processes of one thread each, which can be ended at any moment and whose end does not harm this process."""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import torch

from adelic.errors import AdelicError, WorkerError
from adelic.storage.allocator import keep_freed_memory

Task = TypeVar("Task")


class Crew(Generic[Task]):
    """Processes that each do one task after the other; used in a `with` statement, at whose end they are killed.

    Not a `ProcessPoolExecutor`: that one waits for the tasks under way before it ends, and is of no use any more when
    one of its processes was killed.

    Args:
        function: what is done with a task; a module's own, so that another process finds it.
        size: how many processes.

    >>> with Crew(abs, 1) as crew:
    ...     crew.start(-3)
    ...     crew.finished(timeout=60)
    [(-3, 3)]
    """

    def __init__(self, function: Callable[[Task], Any], size: int) -> None:
        self._function, self._size = function, size
        self._idle: list[tuple[BaseProcess, Connection]] = []
        self._busy: dict[Connection, tuple[BaseProcess, Task]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        members = [*self._idle, *((process, pipe) for pipe, (process, _) in self._busy.items())]
        for process, _ in members:
            process.kill()
        for process, pipe in members:
            process.join()
            pipe.close()

    @property
    def has_room(self) -> bool:
        """Say whether a process waits for a task."""
        return len(self._busy) < self._size

    @property
    def tasks(self) -> list[Task]:
        """Return the tasks under way."""
        return [task for _, task in self._busy.values()]

    def start(self, task: Task) -> None:
        """Give a task to a process that has none."""
        assert self.has_room
        process, pipe = self._idle.pop() if self._idle else self._hire()
        try:
            pipe.send(task)
        except BrokenPipeError:  # it was killed while it had nothing to do
            process.join()
            pipe.close()
            process, pipe = self._hire()
            pipe.send(task)
        self._busy[pipe] = (process, task)

    def finished(self, timeout: float) -> list[tuple[Task, Any]]:
        """Wait until a task is done, or for `timeout` seconds; return tasks with what the function returned.

        In place of a result there is an `AdelicError` where the function raised one, and a `WorkerError` of one line
        where it raised another error or its process was killed.
        """
        done = []
        for pipe in wait(list(self._busy), timeout):
            assert isinstance(pipe, Connection)
            process, task = self._busy.pop(pipe)
            try:
                outcome = pipe.recv()
                self._idle.append((process, pipe))
            except (EOFError, ConnectionError):
                process.join()
                pipe.close()
                outcome = WorkerError(f"its process was ended from outside (exit code {process.exitcode})")
            done.append((task, outcome))
        return done

    def _hire(self) -> tuple[BaseProcess, Connection]:
        """Start another process."""
        context = _context(self._function.__module__)
        mine, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self._function, theirs), daemon=True)
        process.start()
        theirs.close()  # so that its end is noticed here
        return process, mine


def _context(module: str) -> Any:
    """Return how processes are started: forked from a server that has loaded a module and has no threads.

    A fork of this process would copy the locks of its threads. Where there is no such server (Windows), processes start
    from nothing, which takes seconds more.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module])
    return context


def _serve(function: Callable[[Any], Any], pipe: Connection) -> None:
    """Be a worker: do what comes through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the first process ends the others
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    keep_freed_memory()
    torch.set_num_threads(1)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            outcome = function(task)
        except AdelicError as error:
            outcome = WorkerError(str(error)) if isinstance(error, OSError) else error  # an OSError loses its text
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            words = " ".join(str(error).split()) or "no message"
            outcome = WorkerError(f"{type(error).__name__}: {words} ({Path(place.filename).name}:{place.lineno})")
        pipe.send(outcome)
