"""One run on several devices: data-parallel training by torchrun and Lightning Fabric.

torchrun starts the processes and ends all of them when one has ended; Fabric joins them, by NCCL between GPUs, by Gloo
between CPUs.
"""

import importlib
import logging
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch.distributed import run as torchrun
from torch.distributed.elastic.multiprocessing import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

from adelic.errors import ConfigurationError, WorkerError, needs_extra
from adelic.storage.checks import check_count
from adelic_lab.config.experiment import Experiment
from adelic_lab.models import choose_device
from adelic_lab.results.result import Result
from adelic_lab.runs.machine import check_processes
from adelic_lab.runs.runner import run
from adelic_lab.train.world import World


def become_torchrun(config: Experiment, device: str, devices: int, nodes: int, node_rank: int) -> NoReturn:
    """Be torchrun, which starts the same command in as many processes, and exit as the first that ended did.

    Arguments are those of the command, checked as by `run_distributed`; a ConfigurationError also says that this
    machine is too small for as many processes, or that an address is missing, a WorkerError that one was killed.
    """
    _check(config, device, devices, nodes)
    if not 0 <= node_rank < nodes:
        raise ConfigurationError(f"node-rank={node_rank} must lie from 0 to {nodes - 1}, below the number of nodes")
    if nodes > 1 and not {"MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys():
        raise ConfigurationError(
            "several nodes meet at an address: set MASTER_ADDR and MASTER_PORT to one of the first, or use torchrun"
        )
    check_processes(devices)
    meeting = ["--standalone"]
    if nodes > 1:
        address = [f"--master-addr={os.environ['MASTER_ADDR']}", f"--master-port={os.environ['MASTER_PORT']}"]
        meeting = [f"--nnodes={nodes}", f"--node-rank={node_rank}", *address]
    # Each process has its share of the cores; torchrun gives it one.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, torch.get_num_threads() // devices)))
    # Behind two dashes torchrun takes no option of the command, as --n, for its own.
    words = [*meeting, f"--nproc-per-node={devices}", "-m", "--", "adelic", *sys.argv[1:]]
    logging.disable(logging.ERROR)  # the processes say themselves why they end
    try:
        torchrun.run(torchrun.parse_args(words))  # type: ignore[no-untyped-call]
    except ChildFailedError as error:
        rank, first = error.get_first_failure()
        if first.exitcode < 0:
            raise WorkerError(f"process {rank} ended with {first.exitcode}; the same command goes on") from None
        raise SystemExit(first.exitcode) from None
    except SignalException as stop:
        raise SystemExit(128 + stop.sigval) from None
    raise SystemExit


def run_distributed(
    config: Experiment, folder: Path, *, devices: int = 1, nodes: int = 1, device: str = "auto", **how: Any
) -> Result:
    """Train, or resume, or read the result of one run on several devices, in each of torchrun's processes.

    Every process takes its part of every batch of the recipe, so the batch size is the whole batch's, and losses and
    weights are those of `run` up to the order in which floating-point numbers are added. On GPUs dropout's masks come
    from a stream of random numbers in each process, so with dropout they are those of another, equally valid, seed.
    Objects travel between machines as pickles: whoever reaches their ports can run code.

    Args:
        config: what to run.
        folder: the run folder; the first process uses it.
        devices: processes per machine, each with its own GPU, or with its share of the CPU's threads.
        nodes: machines.
        device: "auto", "cpu" or "cuda".
        how: restart, progress and tensorboard, as for `run`; progress is called in the first process.

    Returns:
        The content of result.json, on every machine.

    Raises:
        ConfigurationError: the model is not a network, torchrun has not started this process, or it has started another
            number of them, or there are not that many devices.
        MissingExtraError: Fabric is not installed.

    >>> from adelic.data import TaskData
    >>> from adelic_lab import EmbeddingConfig, load_recipe
    >>> data, model = TaskData("schubert", 4), EmbeddingConfig.of("learned")
    >>> config = Experiment(data=data, model=model, recipe=load_recipe("quick", "schubert-4"))
    >>> run_distributed(config, Path("run"), device="cpu", devices=2)  # in a process that torchrun has not started
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: several devices are for processes of torchrun: torchrun --nproc-per-node 2 ...
    """
    kind = _check(config, device, devices, nodes)
    if "LOCAL_RANK" not in os.environ:
        raise ConfigurationError(
            f"several devices are for processes of torchrun: torchrun --nproc-per-node {devices} your_script.py, or "
            f"adelic train with --devices {devices}"
        )
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    try:
        fabric = importlib.import_module("lightning_fabric").Fabric(
            accelerator=kind, devices=devices, num_nodes=nodes, strategy="ddp"
        )
        fabric.launch()
    except ValueError as error:  # torchrun has started another number of processes
        raise ConfigurationError(str(error)) from None
    try:
        how["progress"] = how.get("progress") if fabric.global_rank == 0 else None
        return run(config, folder, device=str(fabric.device), **how, world=World(fabric, devices))
    finally:
        torch.distributed.destroy_process_group()


def _check(config: Experiment, device: str, devices: int, nodes: int) -> str:
    """Return the kind of device; raise `ConfigurationError` or `MissingExtraError` for what cannot be started."""
    for name, count in (("devices", devices), ("nodes", nodes)):
        check_count(name, count, greatest=65_536)
    if not config.is_network:
        raise ConfigurationError(f"{config.model.name} is trained by one process; leave out --devices and --nodes")
    if device not in ("auto", "cpu", "cuda"):
        raise ConfigurationError(f"device {device!r} is one of several; with --devices use auto, cpu or cuda")
    kind = choose_device(device).type
    if kind == "cuda" and torch.cuda.device_count() < devices:
        raise ConfigurationError(f"devices={devices}, but this machine has {torch.cuda.device_count()} GPUs")
    with needs_extra("a run on several devices", "fabric", "./lab"):
        importlib.import_module("lightning_fabric")
    return kind
