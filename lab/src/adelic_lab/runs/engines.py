"""Engines: where the runs of a matrix are executed: here, in several processes, or by Ray on many machines."""

import math
import os
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import torch
from joblib.externals.loky import ProcessPoolExecutor

from adelic.data.protocol import Progress
from adelic.errors import (
    AdelicError,
    ConfigurationError,
    Interrupted,
    RunBusyError,
    StorageError,
    WorkerError,
    needs_extra,
)
from adelic.storage.workers import check_workers
from adelic_lab.config.experiment import Experiment
from adelic_lab.results.result import Result
from adelic_lab.runs.machine import keep_freed_memory
from adelic_lab.runs.runner import run
from adelic_lab.train.signals import Stopped, cause, deferred_signals

OnRun = Callable[[int, int, Experiment], AbstractContextManager[Progress | None]]
Finished = tuple[Experiment, Result]
_REACHABLE = 10.0
"""Seconds within which a machine that can be reached answers."""
_POLL = 2.0
"""Seconds between two looks at a run that another process has."""
_GLANCE = 0.2
"""Seconds between two looks for signals and a spent budget while processes work."""
_GRACE = 10.0
"""Seconds that processes have to save their runs after a budget is spent, before they are ended."""


class Budget:
    """A time by which to stop.

    Args:
        seconds: from now; infinite by default.

    >>> Budget().spent, Budget(0).spent
    (False, True)
    """

    def __init__(self, seconds: float = math.inf) -> None:
        # The time of day, which other machines know too, as far as their clocks agree.
        self.deadline = time.time() + seconds

    @property
    def spent(self) -> bool:
        """Say whether it is time to stop."""
        return time.time() >= self.deadline


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How the runs of a matrix are executed.

    Attributes:
        runs: folder of the run folders.
        device, tensorboard: as for `adelic_lab.run`.
        budget: the time by which to stop.
    """

    runs: Path
    device: str = "auto"
    budget: Budget = field(default_factory=Budget)
    tensorboard: bool = False

    def run(self, config: Experiment, progress: Progress | None = None) -> Result:
        """Return the result of a run, of whichever kind; TensorBoard and devices are for Transformers.

        Raises:
            RunBusyError: another process has the run.
            Stopped: the budget is spent.
        """
        return run(
            config,
            self.runs / config.label,
            device=self.device,
            progress=progress,
            tensorboard=self.tensorboard,
            stop=lambda: self.budget.spent,
        )

    def run_or_wait(self, config: Experiment, progress: Progress | None = None) -> Result:
        """Return the result of a run; where another process has it, wait for that."""
        while True:
            try:
                return self.run(config, progress)
            except RunBusyError:
                if self.budget.spent:
                    raise Stopped("the time was used up in waiting") from None
                if progress:
                    progress(0, 1, "another process has this run; waiting")
                time.sleep(_POLL)


class EmbeddedEngine:
    """One run after the other, in this process. Runs of other processes are left for last, and waited for.

    So the same command, given twice, shares the work.

    Args:
        waits: whether to wait for them, or to leave them out.

    >>> list(EmbeddedEngine().execute([], Execution(runs=Path("runs")), lambda *_: None))
    []
    """

    def __init__(self, *, waits: bool = True) -> None:
        self.waits = waits

    def execute(self, configs: Sequence[Experiment], how: Execution, on_run: OnRun) -> Iterator[Finished]:
        """Yield each run with its result as soon as it is there; end early when the budget is spent.

        Args:
            configs: what to run, in this order as far as no other process has one of them.
            how: to run it.
            on_run: called with (index, count, configuration), gives the context in which a run's ticks are shown.
        """
        left = list(enumerate(configs))
        for attempt in (how.run, how.run_or_wait) if self.waits else (how.run,):
            busy = []
            for i, config in left:
                if how.budget.spent:
                    return
                try:
                    with on_run(i, len(configs), config) as progress:
                        result = attempt(config, progress)
                except RunBusyError:
                    busy.append((i, config))
                except Stopped:
                    return
                else:
                    yield config, result
            left = busy


class WorkersEngine:
    """Several runs at a time, each in a process of one thread of its own; joblib's loky keeps the processes.

    A run whose process is ended from outside is begun once more, alone. When the budget is spent, the processes have
    some seconds to save their runs. They end with this process, and their runs go on from their last checkpoints.

    Args:
        workers: how many processes.

    Raises:
        ConfigurationError: there are too many or too few.

    >>> WorkersEngine(0)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: workers=0 must be a whole number from 1 to 1,024
    """

    def __init__(self, workers: int) -> None:
        self.workers = check_workers(workers)

    def execute(self, configs: Sequence[Experiment], how: Execution, on_run: OnRun) -> Iterator[Finished]:
        """Yield each run with its result as it comes in; see `EmbeddedEngine.execute`."""
        waiting = list(reversed(configs))
        under_way: dict[Future[Result | AdelicError | None], Experiment] = {}
        lost: set[Experiment] = set()
        n_done = 0
        with deferred_signals() as request:
            pool = self._pool(len(configs))
            try:
                while under_way or (waiting and not how.budget.spent):
                    # A lost run is repeated alone: a second loss is its own.
                    while waiting and not how.budget.spent:
                        if len(under_way) >= (1 if lost & {waiting[-1], *under_way.values()} else self.workers):
                            break
                        config = waiting.pop()
                        under_way[pool.submit(_run_in_task, config, how, 1)] = config
                    done, _ = wait(under_way, _GLANCE, FIRST_COMPLETED)
                    if request.signum is not None:
                        words = f"{cause(request.signum)} with {n_done} of {len(configs)} runs done"
                        raise Interrupted(request.signum, f"{words}; the same command goes on from there")
                    # The loss of a process breaks all futures of its pool, and none says which run it had.
                    if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                        for config in lost & {*under_way.values()}:
                            raise WorkerError(
                                f"the process of the run {config.label} was ended from outside twice, perhaps for lack "
                                "of memory; what was finished is saved, and the same command goes on from there"
                            )
                        lost.update(under_way.values())
                        waiting += under_way.values()
                        under_way.clear()
                        pool.shutdown(kill_workers=True)
                        pool = self._pool(len(waiting))
                        continue
                    for future in done:
                        for arrived in _arrived(under_way.pop(future), future.result(), n_done, len(configs), on_run):
                            n_done += 1
                            yield arrived
                    if time.time() > how.budget.deadline + _GRACE:
                        return
            finally:
                pool.shutdown(kill_workers=True)

    def _pool(self, n_runs: int) -> Any:
        """Return processes, which all start with the first run: no more of them than runs."""
        # loky replaces a process that has grown by 300 MB, as in long trainings. Nothing is lost, nobody has to act.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
        size = min(self.workers, max(1, n_runs))
        return ProcessPoolExecutor(size, initializer=_begin_worker, initargs=(os.getpid(),))


def _begin_worker(parent: int) -> None:
    """Prepare a process of a `WorkersEngine`: it leaves Ctrl-C to the first process, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()
    above = os.getppid()  # the first process, or a server of joblib's or multiprocessing's, which ends with it

    def end_with_parent() -> None:
        while os.getppid() == above and psutil.pid_exists(parent):  # Windows keeps the number of one that has ended
            time.sleep(_GLANCE)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


class RayEngine:
    """Each run is a Ray task, in its own process, on any machine with room for it.

    A task whose process or machine is lost is started again, up to `max_retries` times, and goes on from the checkpoint
    in its run folder: so the run folders must lie on a disk that all machines share, under one path. Results are
    gathered by this process. A Ray that the caller has started is used, and left running.

    Args:
        address: of a cluster ("auto", "host:port", "ray://…"); None starts one on this machine.
        cpus, gpus: what one run needs; a GPU may be shared (0.5). Each run has as many threads as CPUs.
        max_retries: see above.

    Raises:
        ConfigurationError: a need is not a number that a run can have.
        MissingExtraError: Ray is not installed; raised when the runs begin.

    >>> RayEngine(cpus=0)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: cpus-per-run=0 must be a number above 0
    """

    def __init__(self, address: str | None = None, *, cpus: float = 1, gpus: float = 0, max_retries: int = 3) -> None:
        if not 0 < cpus < math.inf:
            raise ConfigurationError(f"cpus-per-run={cpus:g} must be a number above 0")
        if not 0 <= gpus < math.inf:
            raise ConfigurationError(f"gpus-per-run={gpus:g} must be a number from 0 on")
        self.address, self.cpus, self.gpus, self.max_retries = address, cpus, gpus, max_retries

    def execute(self, configs: Sequence[Experiment], how: Execution, on_run: OnRun) -> Iterator[Finished]:
        """Yield each run with its result as it comes in; see `EmbeddedEngine.execute`."""
        if how.device.startswith("cuda") and not self.gpus:
            raise ConfigurationError(f"device {how.device!r} needs --gpus-per-run")
        # What has not been reserved is not used: without this, "auto" would take a GPU that is another run's.
        device = "cpu" if how.device == "auto" and not self.gpus else how.device
        how = replace(how, device=device, runs=how.runs.absolute())
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's new default, else it warns
        with needs_extra("the engine 'ray'", "ray", "./lab"):
            import ray as ray_without_types
        ray: Any = ray_without_types
        started = not ray.is_initialized()
        if started:
            self._connect(ray)
        try:
            nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
            if not any(node.get("CPU", 0) >= self.cpus and node.get("GPU", 0) >= self.gpus for node in nodes):
                raise ConfigurationError(  # Ray would wait for a machine for ever
                    f"no machine of this cluster has {self.cpus:g} CPUs and {self.gpus:g} GPUs; lower --cpus-per-run "
                    "or --gpus-per-run"
                )
            task = ray.remote(num_cpus=self.cpus, num_gpus=self.gpus, max_retries=self.max_retries)(_run_in_task)
            waiting = {task.remote(config, how, max(1, int(self.cpus))): config for config in configs}
            while waiting:
                (done,), _ = ray.wait(list(waiting), num_returns=1)
                config = waiting.pop(done)
                try:
                    result = ray.get(done)
                except ray.exceptions.RayTaskError:
                    raise  # a defect of ours, with its traceback
                except ray.exceptions.RayError as error:
                    raise WorkerError(
                        f"the run {config.label} was lost {self.max_retries + 1} times ({type(error).__name__}); what "
                        "was finished is saved, and the same command goes on from there"
                    ) from None
                yield from _arrived(config, result, len(configs) - len(waiting) - 1, len(configs), on_run)
        finally:
            if started:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        """Connect to the cluster, or start one."""
        host, _, port = (self.address or "").removeprefix("ray://").rpartition(":")
        try:
            if host and port.isdecimal():  # Ray itself would try for minutes
                socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHABLE).close()
            ray.init(self.address, logging_level="warning", log_to_driver=False)
        except (OSError, OverflowError, ValueError, RuntimeError, AssertionError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ConfigurationError(f"no Ray cluster answers at --address {self.address} ({reason})") from None


Engine = EmbeddedEngine | WorkersEngine | RayEngine
"""An engine: the executor of the runs of a matrix."""


def _run_in_task(config: Experiment, how: Execution, threads: int) -> Result | AdelicError | None:
    """Return the result of a run; None when the budget ended it. An error of the user's is a value: Ray keeps it."""
    if how.budget.spent:
        return None
    keep_freed_memory()
    torch.set_num_threads(threads)
    try:
        return how.run_or_wait(config)
    except Stopped:
        return None
    except StorageError as error:  # an OSError, whose arguments are lost on the way
        return StorageError(str(error))
    except AdelicError as error:
        return error


def _arrived(
    config: Experiment, result: Result | AdelicError | None, index: int, count: int, on_run: OnRun
) -> Iterator[Finished]:
    """Yield a run and its result, after they were shown; nothing if the budget has ended it. An error is raised."""
    if isinstance(result, AdelicError):
        raise result
    if result is not None:
        with on_run(index, count, config) as progress:
            if progress:
                progress(1, 1, "done")
        yield config, result
