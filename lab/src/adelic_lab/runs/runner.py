"""One run: read if it is finished, else begun or resumed in its folder, judged once by the test split, and written."""

import json
import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import torch

from adelic.data.protocol import Progress
from adelic.errors import ConfigurationError, RunFolderError
from adelic.storage.files import read_bytes
from adelic.storage.provenance import source_commit
from adelic_lab.config.experiment import Experiment, check_same
from adelic_lab.models import RunContext, choose_device, fit, obstacle
from adelic_lab.models.network import Network, read_trainer
from adelic_lab.results.result import Result
from adelic_lab.runs.folders import describe, finish, prepare_folder, read_result
from adelic_lab.runs.judging import development, prepare
from adelic_lab.train.counters import CHECKPOINT
from adelic_lab.train.tensorboard import TensorBoardLog, has_log, require_tensorboard
from adelic_lab.train.world import ALONE, World


def run(
    experiment: Experiment,
    folder: Path,
    *,
    device: str = "auto",
    restart: bool = False,
    progress: Progress | None = None,
    tensorboard: bool = False,
    stop: Callable[[], bool] | None = None,
    world: World = ALONE,
) -> Result:
    """Train, or resume, or read the result of one run.

    A finished run costs a read. Where the folder holds the same run with fewer epochs, it goes on from there, if its
    epochs do not depend on their number (schedule "constant"). One that was killed goes on after its last checkpoint,
    and ends in the metrics that it would have had (bit for bit on the same machine and number of threads). In the main
    thread of a process, SIGTERM and SIGINT (Ctrl-C) during training save a checkpoint after the current step and raise
    `Interrupted`. Models outside the Transformer begin with a search, which all their seeds share: its trials have a
    folder next to the run folder.

    Args:
        experiment: what to run.
        folder: the run folder; made if missing.
        device: "auto", "cpu", "cuda" or another name that torch knows.
        restart: delete what a former run left in the folder.
        progress: called with (steps done, steps in all, text) for a progress bar.
        tensorboard: also write logs for TensorBoard, in the run folder's subfolder `tensorboard`.
        stop: asked between steps whether to save a checkpoint and stop.
        world: the processes that train this model together; `run_distributed` makes one.

    Returns:
        The result, which is result.json too.

    Raises:
        ConfigurationError: the data have no validation or no test examples, or the memory cannot hold the model.
        RunFolderError: the folder holds a run of another configuration, or its checkpoint is damaged.
        RunBusyError: another process trains in the folder.
        StorageError: the folder cannot be written.
        DivergenceError: the loss left the finite numbers.
        Interrupted: a signal asked to stop.
        Stopped: `stop` asked to stop.

    >>> from adelic.data import TaskData
    >>> import tempfile
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-3", epochs=1, batch_size=256)
    >>> config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(config, Path(folder))
    ...     again = run(config, Path(folder))
    >>> result.rows, again == result
    ({'train': 62, 'validation': 6, 'test': 17}, True)
    """
    torch_device = choose_device(device)
    if not os.path.isdir(folder):  # noqa: PTH112  (a name that is too long is an error of the folder's, see below)
        obstacle(experiment)  # raises before there is a folder
    with ExitStack() as held:
        if tensorboard:
            require_tensorboard()
        finished = world.lead(lambda: prepare_folder(experiment, folder, held, restart=restart))
        if finished and tensorboard and not has_log(folder):
            lines = map(json.loads, (read_bytes(folder / "metrics.jsonl") or b"").splitlines())
            with TensorBoardLog(folder, lines, experiment.to_toml()):
                pass  # it is complete
        context = RunContext(
            folder=folder,
            device=torch_device,
            progress=progress,
            stop=stop,
            tensorboard=tensorboard,
            world=world,
            begin=lambda: describe(experiment, folder),
        )
        return finished or _run(experiment, context, folder)


def trained_network(experiment: Experiment, folder: Path) -> Network:
    """Return the network of a finished run, with the weights that its result was measured with, on the CPU.

    Args:
        experiment: what was run.
        folder: the run folder.

    Raises:
        RunFolderError: the run is not finished, or of another configuration, or its checkpoint is gone or damaged.

    >>> from adelic.data import TaskData
    >>> import tempfile
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-3", epochs=1, batch_size=256)
    >>> config = Experiment(data=TaskData("schubert", 3), model=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(config, Path(folder), device="cpu")
    ...     network = trained_network(config, Path(folder))
    >>> network.n_parameters == result.parameters
    True
    """
    if not experiment.is_network:
        raise ConfigurationError(f"{experiment.model.name} is not a network; networks have an --embedding")
    finished_result(experiment, folder)
    with torch.random.fork_rng():
        return cast(Network, read_trainer(experiment, development(experiment), folder).model)


def command_in(experiment: Experiment, folder: Path) -> str:
    """Return the command that makes a run in its folder, or goes on with it."""
    return f"{experiment.command()} --run-dir {shlex.quote(str(folder))}"


def finished_result(experiment: Experiment, folder: Path) -> Result:
    """Return the result of an experiment's finished run.

    If it is not finished, or of another configuration, it is a RunFolderError.
    """
    result = read_result(folder)
    if result is None:
        raise RunFolderError(f"{folder} holds no finished run; this makes it one: {command_in(experiment, folder)}")
    check_same(experiment, folder / "config.toml")
    return result


def _run(experiment: Experiment, context: RunContext, folder: Path) -> Result:
    """Fit, or go on with that, in a folder that is held; judge, write and return the result."""
    with context.world.one_first():
        data, judge = prepare(experiment, context.progress)
    with torch.random.fork_rng():
        fitted = fit(experiment, data, context)
        judgement = judge(fitted)
    result = Result(
        **{name: getattr(experiment.data, name) for name in ("task", "n", "edition", "split", "contaminated")},
        embedding=experiment.model.name,
        recipe=experiment.recipe.name,
        seed=experiment.seed,
        commit=source_commit(),
        command=experiment.command(devices=context.world.devices, nodes=context.world.nodes),
        configuration=experiment.as_dict(),
        **fitted.facts,
        **judgement,
    )
    context.world.lead(lambda: finish(experiment, folder, result, fitted.metrics))
    if not fitted.keeps_checkpoint:
        (folder / CHECKPOINT).unlink(missing_ok=True)
    return result
