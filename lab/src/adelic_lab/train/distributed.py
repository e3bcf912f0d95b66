"""One run on several devices and machines: distributed data-parallel training, through Lightning Fabric.

`torchrun` may start the processes; without it the first one starts those of its machine. The agent that torchrun is
made of (`torch.distributed.launcher.api.launch_agent`) was tried for that too, and took as many lines as it saved: it
is one more process with PyTorch, which does not train, so progress, errors and the last words of a stopped run need a
channel to it; it listens on all addresses unless two settings keep it from that; it replaces the signals' handlers for
good; and Ctrl-C while its processes load PyTorch ends in their tracebacks.
"""

import importlib
import logging
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psutil
import torch
from torch import nn
from torch.distributed import FileStore  # type: ignore[attr-defined]

from adelic.data.protocol import Progress
from adelic.errors import AdelicError, ConfigurationError, Interrupted, WorkerError, needs_extra
from adelic.storage.allocator import keep_freed_memory
from adelic.storage.checks import check_count
from adelic.storage.workers import check_processes
from adelic_lab.config.experiment import Experiment
from adelic_lab.results.result import Result
from adelic_lab.runs.fitted import choose_device
from adelic_lab.runs.runner import run
from adelic_lab.train.world import World

T = TypeVar("T")
Options = tuple[Experiment, Path, str, int, int, bool, bool, Path | None]
"""Configuration, run folder, kind of device, devices, nodes, whether to restart, whether to log for TensorBoard, and
the folder where the processes of one machine meet."""
_PATIENCE = 30.0
"""How long, in seconds, a process may take to end after another one has."""
_POLL = 0.05
_LOCAL = "127.0.0.1"


class FabricWorld(World):
    """Processes joined by Lightning Fabric: NCCL between GPUs, Gloo between CPUs.

    Args:
        fabric: launched, of strategy "ddp".
        devices: processes a machine.
    """

    pace = 16

    def __init__(self, fabric: Any, devices: int) -> None:
        self._fabric = fabric
        self.rank, self.size, self.devices = fabric.global_rank, fabric.world_size, devices

    @property
    def device(self) -> torch.device:
        """Return this process's own device."""
        device: torch.device = self._fabric.device
        return device

    def average(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace the gradients of all parameters by their averages over the processes.

        This is what DistributedDataParallel does, in one message after the backward pass instead of several during it.
        It does not depend on how gradients are computed; and these models are small, so there is little to overlap.
        """
        gradients = [p.grad for p in parameters if p.grad is not None]
        flat = self._fabric.all_reduce(torch.cat([g.flatten() for g in gradients]), reduce_op="mean")
        for gradient, average in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(average.view_as(gradient))

    def sum(self, value: torch.Tensor) -> torch.Tensor:
        """Return the sum of a tensor over all processes."""
        total: torch.Tensor = self._fabric.all_reduce(value.clone(), reduce_op="sum")
        return total

    def gather(self, part: np.ndarray) -> np.ndarray:
        """Return the parts of all processes, one after the other, in every process."""
        parts: list[Any] = [None] * self.size
        torch.distributed.all_gather_object(parts, part)
        return np.concatenate(parts)

    def lead(self, function: Callable[[], T]) -> T:
        """Return in every process what the first one alone computes; raise everywhere the `AdelicError` it raises."""
        outcome: Any = None
        if self.rank == 0:
            try:
                outcome = function()
            except AdelicError as error:
                outcome = error
        outcome = self._fabric.broadcast(outcome)
        if isinstance(outcome, AdelicError):
            raise outcome
        found: T = outcome
        return found

    @contextmanager
    def one_first(self) -> Iterator[None]:
        """Let one process of each machine go through the block before the others, who find its files."""
        with self._fabric.rank_zero_first(local=True):
            yield

    @contextmanager
    def copy_of(self, folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
        """Yield a folder with the first process's files of these names: for it the folder itself, else a copy.

        The machines need no disk in common.
        """
        contents = self.lead(lambda: {name: (folder / name).read_bytes() for name in names if (folder / name).exists()})
        if self.rank == 0:
            yield folder
            return
        with tempfile.TemporaryDirectory() as copy:
            for name, content in contents.items():
                Path(copy, name).write_bytes(content)
            yield Path(copy)


def run_distributed(
    config: Experiment,
    folder: Path,
    *,
    devices: int = 1,
    nodes: int = 1,
    node_rank: int = 0,
    device: str = "auto",
    restart: bool = False,
    progress: Progress | None = None,
    tensorboard: bool = False,
) -> Result:
    """Train, or resume, or read the result of one run on several devices.

    Every process takes its part of every batch of the recipe, so the batch size is the whole batch's, and losses and
    weights are those of `run` up to the order in which floating-point numbers are added. On GPUs dropout's masks come
    from a stream of random numbers in each process, so with dropout they are those of another, equally valid, seed.

    Started by `torchrun` (LOCAL_RANK is set), this process is one of those that there are; otherwise it starts the
    others of its machine itself. With several machines, the command is given on each, with its `node_rank` and with
    MASTER_ADDR and MASTER_PORT set to an address of the first. Files are written by the first process alone.

    The processes of one machine meet in a private folder, and listen on the loopback address alone. Of several machines
    the first listens on all its addresses, and objects travel between them as pickles: whoever reaches it can run code.

    Args:
        config: what to run.
        folder: the run folder; the first process uses it.
        devices: processes a machine, each with a GPU of its own, or with its share of the CPU's threads.
        nodes: machines.
        node_rank: which of them this is, from 0.
        device: "auto", "cpu" or "cuda".
        restart: delete what a former run left in the folder.
        progress: as for `run`; called in the first process.
        tensorboard: as for `run`.

    Returns:
        The content of result.json, on every machine.

    Raises:
        ConfigurationError: the model is not a network, there are not that many devices, this machine is too small for
            as many processes, or an address is missing.
        MissingExtraError: Fabric is not installed.
        WorkerError: another process of the run ended before its time.

    >>> from adelic.data import TaskData
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-4")
    >>> config = Experiment(data=TaskData("schubert", 4), model=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> run_distributed(config, Path("runs/schubert-4"), devices=2, device="cuda:1")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: device 'cuda:1' is one of several; with --devices use auto, cpu or cuda
    """
    if not config.is_network:
        raise ConfigurationError(f"{config.model.name} is trained by one process; leave out --devices and --nodes")
    _check(device, devices, nodes, node_rank)
    kind = choose_device(device).type
    if kind == "cuda" and torch.cuda.device_count() < devices:
        raise ConfigurationError(f"devices={devices}, but this machine has {torch.cuda.device_count()} GPUs")
    check_processes(devices)
    external = "LOCAL_RANK" in os.environ
    with ExitStack() as used:
        meeting = None
        if nodes == 1 and not external:
            meeting = Path(used.enter_context(tempfile.TemporaryDirectory(prefix="adelic-")))
        options = (config, folder, kind, devices, nodes, restart, tensorboard, meeting)
        environment = used.enter_context(_environment(node_rank, external, meeting))
        context = multiprocessing.get_context("spawn")  # a fork would inherit threads, and CUDA refuses it
        errors = context.SimpleQueue()
        others = [
            context.Process(target=_other, args=(environment | {"LOCAL_RANK": str(i)}, errors, options), daemon=True)
            for i in range(1, 1 if external else devices)
        ]
        try:
            for process in others:
                process.start()
            if meeting is not None:
                _await(others, meeting)
            result = _take_part(options, progress)
            for process in others:
                process.join(_PATIENCE)
            return result
        # First, since a `WorkerError` is a RuntimeError too, and explains itself.
        except AdelicError:
            raise
        except RuntimeError as error:  # what a collective raises that has lost a partner
            _explain(error, others, errors)
            raise
        finally:
            _end(others)


def _check(device: str, devices: int, nodes: int, node_rank: int) -> None:
    """Raise `ConfigurationError` or `MissingExtraError` for what cannot be started."""
    for name, count in (("devices", devices), ("nodes", nodes)):
        check_count(name, count, greatest=65_536)
    if not 0 <= node_rank < nodes:
        raise ConfigurationError(f"node-rank={node_rank} must lie from 0 to {nodes - 1}, below the number of nodes")
    if device not in ("auto", "cpu", "cuda"):
        raise ConfigurationError(f"device {device!r} is one of several; with --devices use auto, cpu or cuda")
    if nodes > 1 and not {"MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys():
        raise ConfigurationError(
            "several nodes meet at an address: set MASTER_ADDR and MASTER_PORT to one of the first, or use torchrun"
        )
    with needs_extra("a run on several devices", "fabric", "./lab"):
        importlib.import_module("lightning_fabric")


@contextmanager
def _environment(node_rank: int, external: bool, meeting: Path | None) -> Iterator[dict[str, str]]:
    """Set what Fabric and torch.distributed read from the environment; put back what was there."""
    before = dict(os.environ)
    plain = {} if external else {"LOCAL_RANK": "0", "NODE_RANK": str(node_rank)}
    if meeting is not None:
        # Left alone, Gloo and NCCL choose an interface themselves, and it may be one that the network reaches.
        loopback = [name for name, found in psutil.net_if_addrs().items() if any(a.address == _LOCAL for a in found)]
        plain |= dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), loopback[0]) if loopback else {}
    try:
        os.environ.update(plain)
        yield plain
    finally:
        # Whole, as Fabric sets further variables.
        os.environ.clear()
        os.environ.update(before)


def _other(environment: dict[str, str], errors: Any, options: Options) -> None:
    """Be one of the processes that the first one starts: no output, no files, an end with that of the first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the first process saves, and ends the others
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)  # the main thread may wait for ever for a partner that is dead

    threading.Thread(target=end_with_parent, daemon=True).start()
    os.environ.update(environment)
    keep_freed_memory()
    try:
        _take_part(options, None)
    except AdelicError as error:
        errors.put(error)
        raise SystemExit(1) from None
    except Interrupted:  # the first process says so
        raise SystemExit(0) from None
    except RuntimeError:
        parent.join(timeout=2)  # that it is gone may be why
        if parent.is_alive():
            raise
        raise SystemExit(1) from None


def _await(others: list[SpawnProcess], meeting: Path) -> None:
    """Wait until all other processes are ready to join; here, where a signal is heard, not in a collective."""
    while len(list(meeting.glob("ready-*"))) < len(others):
        if any(process.exitcode is not None for process in others):
            raise RuntimeError("a process ended before it joined the others")
        time.sleep(_POLL)


def _join(kind: str, devices: int, meeting: Path) -> None:
    """Join the other processes of this machine, through a file in the folder where they meet."""
    rank = int(os.environ["LOCAL_RANK"])
    if rank:
        (meeting / f"ready-{rank}").touch()
    if kind == "cuda":
        torch.cuda.set_device(rank)
    torch.distributed.init_process_group(
        "nccl" if kind == "cuda" else "gloo",
        store=FileStore(str(meeting / "store"), devices),
        rank=rank,
        world_size=devices,
        device_id=torch.device(kind, rank) if kind == "cuda" else None,
    )


@contextmanager
def _terminable() -> Iterator[None]:
    """Have SIGTERM end this process at once, while it waits where no handler of Python's is called: for machines."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _take_part(options: Options, progress: Progress | None) -> Result:
    """Join the other processes and train with them."""
    config, folder, kind, devices, nodes, restart, tensorboard, meeting = options
    from lightning_fabric import Fabric
    from lightning_fabric.plugins.environments.lightning import LightningEnvironment

    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    # torchrun's environment is Fabric's to find; without it, one of a cluster's scheduler must not be found.
    plugins: list[Any] = [] if "TORCHELASTIC_RUN_ID" in os.environ else [LightningEnvironment()]
    threads = torch.get_num_threads()
    try:
        if meeting is not None:
            _join(kind, devices, meeting)
        fabric = Fabric(accelerator=kind, devices=devices, num_nodes=nodes, strategy="ddp", plugins=plugins)
        with _terminable():
            fabric.launch()
    except ValueError as error:  # torchrun has started another number of processes
        raise ConfigurationError(str(error)) from None
    world = FabricWorld(fabric, devices)
    if kind == "cpu":
        torch.set_num_threads(max(1, threads // devices))
    try:
        device = str(world.device)
        return run(
            config, folder, device=device, restart=restart, progress=progress, tensorboard=tensorboard, world=world
        )
    finally:
        torch.set_num_threads(threads)
        torch.distributed.destroy_process_group()


def _explain(error: RuntimeError, others: list[SpawnProcess], errors: Any) -> None:
    """Raise what ended another process of the run, if that is why a collective has failed in this one."""
    ended_first = wait([process.sentinel for process in others], timeout=_PATIENCE if others else 0)
    for process in others:
        if process.sentinel in ended_first:  # which is closed a moment before there is an exit code
            process.join(_PATIENCE)
    if not errors.empty():
        raise errors.get() from None
    ended = [f"process {i} ended with {process.exitcode}" for i, process in enumerate(others, 1) if process.exitcode]
    # Gloo raises a plain RuntimeError: its text alone says where it comes from.
    lost = isinstance(error, torch.distributed.DistError) or "gloo" in str(error).lower()
    if ended or lost:
        reason = ended[0] if ended else str(error).splitlines()[0]
        raise WorkerError(
            f"this run has lost one of its processes ({reason}); what was finished is saved, and the same command goes "
            "on from there"
        ) from None


def _end(others: list[SpawnProcess]) -> None:
    """End the processes that have not ended."""
    for process in others:
        process.kill()
    for process in others:
        process.join()
