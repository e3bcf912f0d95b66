"""One run in its folder: config.toml, metrics.jsonl, checkpoint.safetensors, result.json, DONE; resumable.

DONE has the SHA-256 of the other texts, as `sha256sum` lists them; the checkpoint has its own, and that of the metrics.
Folders that are older than these checks have none, and are read as they are.
"""

import json
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from adelic.data import Dataset, LookUp
from adelic.data.guard import Guarded, training_rows
from adelic.data.rules import best_rule
from adelic.data.sources import Source
from adelic.errors import ConfigurationError, Interrupted, RunFolderError
from adelic.nn.bodies.classifier import Classifier
from adelic.nn.flops import forward_flops
from adelic.storage.files import atomic_write, read_bytes, sole_user, storage_errors
from adelic.storage.provenance import source_commit, versions
from adelic.storage.records import checksums, sha256
from adelic.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from adelic.training.configuration import ModelData, RunConfig, check_same
from adelic.training.generators import set_generator_states
from adelic.training.loop import Split, Tick, Trainer
from adelic.training.metrics import history
from adelic.training.objectives import Objective, make_objective
from adelic.training.predictions import pack_answers
from adelic.training.result import check_sum, parse_result, read_done
from adelic.training.sampler import stream_seed
from adelic.training.signals import Stopped, cause, deferred_signals
from adelic.training.subsets import training_subset
from adelic.training.tensorboard import EVENT_FILES, LOG_FOLDER, TensorBoardLog, has_log, require_tensorboard
from adelic.training.world import ALONE, World

FILES = ("config.toml", "metrics.jsonl", "checkpoint.safetensors", "result.json", "DONE")
"""What a run folder holds, in the order in which the files appear."""

SAVE_SECONDS = 60.0
"""After this time inside an epoch another checkpoint is written; a kill costs no more work than that."""


def run(
    config: RunConfig,
    folder: Path,
    *,
    device: str = "auto",
    restart: bool = False,
    tick: Tick | None = None,
    tensorboard: bool = False,
    stop: Callable[[], bool] | None = None,
    world: World = ALONE,
) -> dict[str, Any]:
    """Train, or resume, or read the result of one run.

    A finished run costs a read. One that was killed goes on after its last checkpoint, and ends in the metrics that it
    would have had (bit for bit on the same machine and number of threads). In the main thread of a process, SIGTERM and
    SIGINT (Ctrl-C) during training save a checkpoint after the current step and raise `Interrupted`.

    Args:
        config: what to run.
        folder: the run folder; made if missing.
        device: "auto", "cpu", "cuda" or another name that torch knows.
        restart: delete what a former run left in the folder.
        tick: called with (steps done, steps in all, text) for a progress bar.
        tensorboard: also write logs for TensorBoard, in the run folder's subfolder `tensorboard`.
        stop: asked between steps whether to save a checkpoint and stop.
        world: the processes that train this model together; `run_distributed` makes one.

    Returns:
        The content of result.json.

    Raises:
        ConfigurationError: the data have no row to judge by, or the memory cannot hold the model.
        RunFolderError: the folder holds a run of another configuration, or its checkpoint is damaged.
        RunBusyError: another process trains in the folder.
        StorageError: the folder cannot be written.
        DivergenceError: the loss left the finite numbers.
        Interrupted: a signal asked to stop.
        Stopped: `stop` asked to stop.

    >>> from adelic.data import TaskData
    >>> import tempfile
    >>> from adelic.training import EmbeddingConfig, load_recipe
    >>> recipe = load_recipe("quick", "schubert-3", epochs=1, batch_size=256)
    >>> config = RunConfig(data=TaskData("schubert", 3), embedding=EmbeddingConfig.of("adelic"), recipe=recipe)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(config, Path(folder))
    ...     again = read_result(Path(folder))
    >>> result["rows"], again == result
    ({'train': 62, 'validation': 6, 'test': 17}, True)
    """
    torch_device = choose_device(device)
    with ExitStack() as held:
        finished = world.lead(lambda: _prepare(config, folder, held, restart=restart, tensorboard=tensorboard))
        return finished or _run(config, folder, torch_device, tick, tensorboard, stop, world)


def _run(
    config: RunConfig,
    folder: Path,
    device: torch.device,
    tick: Tick | None,
    tensorboard: bool,
    stop: Callable[[], bool] | None,
    world: World,
) -> dict[str, Any]:
    """Train, or resume, a run whose folder is held; return its result."""
    config.check_memory(device)
    with world.one_first():
        data = config.data.load(config.seed)
    if not len(data.y_validation) or not len(data.y_test):
        raise ConfigurationError(f"{config.data.label} is too small: it has no validation or no test row")
    with torch.random.fork_rng():
        objective = make_objective(data)
        model = config.model(data, objective).to(device)
        data = training_subset(data, config.recipe.max_rows, config.seed)
        trainer = make_trainer(config, model, data, objective, device, world)
        with world.copy_of(folder, FILES) as source:
            lines = _resume(trainer, source)
        world.lead(lambda: _describe(config, folder))
        logs = tensorboard and world.rank == 0
        with TensorBoardLog(folder, map(json.loads, lines), config.to_toml()) if logs else nullcontext() as log:
            _train(trainer, folder, lines, tick, log, stop)
        model.load_state_dict(trainer.best)
        test = Split(data.ids(data.X_test), data.y_test, device)
        result = _result(config, data, model, trainer, test)
    result["history"] = history([json.loads(line) for line in lines])
    return world.lead(lambda: _finish(folder, lines, result))


def _prepare(
    config: RunConfig, folder: Path, held: ExitStack, *, restart: bool, tensorboard: bool
) -> dict[str, Any] | None:
    """Return the result of a finished run; else hold the folder, empty it if the run is to start anew, and check it."""
    if tensorboard:
        require_tensorboard()
    remedy = "choose another --run-dir"
    with storage_errors(f"cannot use the run folder {folder}", remedy):
        if restart or not (folder / "DONE").exists():
            held.enter_context(sole_user(folder, remedy=remedy))
        if restart:
            _clear(folder)
        _check(folder, config)
        finished = read_result(folder)
    if finished is not None and tensorboard and not has_log(folder):
        content = read_bytes(folder / "metrics.jsonl") or b""
        check_sum(folder / "metrics.jsonl", content, read_done(folder))
        with TensorBoardLog(folder, map(json.loads, content.splitlines()), config.to_toml()):
            pass  # it is complete
    return finished


def _describe(config: RunConfig, folder: Path) -> None:
    """Write config.toml, if it is not there."""
    if not (folder / "config.toml").exists():
        atomic_write(folder / "config.toml", config.to_toml())


def _finish(folder: Path, lines: list[str], result: dict[str, Any]) -> dict[str, Any]:
    """Write the result, and that the run is done."""
    texts = {"metrics.jsonl": metrics_text(lines), "result.json": (json.dumps(result, indent=2) + "\n").encode()}
    for name, text in texts.items():
        if read_bytes(folder / name) != text:
            atomic_write(folder / name, text)
    atomic_write(folder / "DONE", checksums({"config.toml": read_bytes(folder / "config.toml") or b"", **texts}))
    return result


def metrics_text(lines: Sequence[str]) -> bytes:
    """Return metrics.jsonl.

    >>> len(metrics_text(["{}", "{}"]).splitlines())
    2
    """
    return "".join(line + "\n" for line in lines).encode()


class TrainingData(ModelData, Guarded, Protocol):
    """The splits that training sees, and what must not be among its rows."""

    @property
    def X_validation(self) -> np.ndarray: ...  # noqa: D102, N802
    @property
    def y_validation(self) -> np.ndarray: ...  # noqa: D102
    def ids(self, X: np.ndarray) -> np.ndarray: ...  # noqa: D102


def make_trainer(
    config: RunConfig,
    model: Classifier,
    data: TrainingData,
    objective: Objective,
    device: torch.device,
    world: World = ALONE,
) -> Trainer:
    """Return the trainer of a run, before its first epoch; it is given no test split.

    Raises:
        LeakError: a row of validation or test is among the rows to train on.
    """
    X, y = training_rows(data, symmetries=config.recipe.symmetries)
    train, validation = (
        Split(data.ids(X), y, device)
        for X, y in ((np.concatenate(X), np.concatenate(y)), (data.X_validation, data.y_validation))
    )
    return Trainer(
        model,
        config.recipe,
        train,
        validation,
        objective=objective,
        seed=config.seed,
        n_images=X.shape[1],
        world=world,
    )


def _train(
    trainer: Trainer,
    folder: Path,
    lines: list[str],
    tick: Tick | None,
    log: TensorBoardLog | None,
    stop: Callable[[], bool] | None,
) -> None:
    """Train the epochs that are left, append their lines of metrics.jsonl to `lines`, save; stop where that is asked.

    A checkpoint is written after every epoch, every `SAVE_SECONDS` inside one, and before stopping. Of several
    processes the first one decides, and writes.
    """
    saved = time.monotonic()
    world = trainer.world

    def save() -> None:
        nonlocal saved
        save_checkpoint(
            folder / "checkpoint.safetensors", trainer.model, trainer.optimizer, trainer.best, trainer.progress
        )
        saved = time.monotonic()

    def save_epoch() -> None:
        # The metrics first: a kill between the two writes leaves one line too many, which resuming cuts off.
        text = metrics_text(lines)
        atomic_write(folder / "metrics.jsonl", text)
        trainer.progress.metrics = sha256(text)
        save()

    with deferred_signals() as request:

        def wish() -> int | str | None:
            """Return a signal's number, "stop", "save" or None."""
            if request.signum is not None or (stop and stop()):
                return request.signum or "stop"
            return "save" if time.monotonic() - saved >= SAVE_SECONDS else None

        def obey(wanted: int | str | None) -> None:
            if isinstance(wanted, int):
                raise Interrupted(wanted, _farewell(wanted, trainer, folder))
            if wanted == "stop" and trainer.progress.epoch < trainer.recipe.epochs:
                raise Stopped(f"stopped in epoch {trainer.progress.epoch + 1}; saved in {folder}")

        def between_steps() -> None:
            wanted = world.lead(wish) if trainer.progress.batch % world.pace == 0 else None
            if wanted is not None:
                trainer.snapshot()
                world.lead(save)
                obey(wanted)

        while trainer.progress.epoch < trainer.recipe.epochs:
            line = trainer.run_epoch(tick, between_steps)
            lines.append(json.dumps(line))
            world.lead(save_epoch)
            if log:
                log.add(line)
            obey(world.lead(wish))


def _farewell(signum: int, trainer: Trainer, folder: Path) -> str:
    """Return the line that says what is saved and how to go on."""
    progress, epochs = trainer.progress, trainer.recipe.epochs
    where = f"epoch {progress.epoch} of {epochs}"
    if progress.batch:
        where = f"step {progress.batch:,} of {len(trainer.sampler):,} in epoch {progress.epoch + 1} of {epochs}"
    return f"{cause(signum)} after {where}; saved in {folder}; the same command goes on from there"


def choose_device(name: str) -> torch.device:
    """Return a torch device; "auto" is the GPU where there is one.

    Raises:
        ConfigurationError: there is no such device here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.ones(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigurationError(f"device {name!r} cannot be used here ({reason}); use --device auto or cpu") from None
    return device


def read_result(folder: Path) -> dict[str, Any] | None:
    """Return the result of a finished run, or None when the run is not finished.

    Raises:
        RunFolderError: result.json is missing or damaged.

    >>> read_result(Path("a folder without a finished run")) is None
    True
    """
    if not (folder / "DONE").exists():
        return None
    path = folder / "result.json"
    content = read_bytes(path)
    if content is None:
        raise RunFolderError(f"{path} is missing though the run is done; --restart begins this run anew")
    check_sum(path, content, read_done(folder))
    return parse_result(content, str(path))


def _clear(folder: Path) -> None:
    """Delete what a former run left, the last file first, so that a kill in between leaves a run that can go on."""
    for name in reversed(FILES):
        (folder / name).unlink(missing_ok=True)
    for log in (folder / LOG_FOLDER).glob(EVENT_FILES):
        log.unlink(missing_ok=True)


def _check(folder: Path, config: RunConfig) -> None:
    """Raise `RunFolderError` if the folder holds another run."""
    path = folder / "config.toml"
    if path.exists():
        check_same(config, path)
        return
    strangers = [name for name in FILES if (folder / name).exists()]
    if strangers:
        raise RunFolderError(f"{folder} holds {strangers[0]} but no config.toml; use another --run-dir, or --restart")


def _resume(trainer: Trainer, folder: Path) -> list[str]:
    """Load the checkpoint, if there is one, and return the lines of metrics.jsonl that belong to it."""
    path = folder / "checkpoint.safetensors"
    if not path.exists():
        return []
    trainer.best, trainer.progress = load_checkpoint(path, trainer.model, trainer.optimizer)
    if trainer.progress.batch:
        # Seeded first for a run that goes on elsewhere: a generator without a saved state must not be an arbitrary one.
        torch.manual_seed(stream_seed(trainer.seed, "dropout", trainer.progress.epoch))
        try:
            set_generator_states(trainer.progress.generators, trainer.train.labels.device)
        except (ValueError, RuntimeError, TypeError) as error:
            raise RunFolderError(
                f"{path} holds a damaged state of a random generator ({str(error).splitlines()[0]}); --restart begins "
                "this run anew"
            ) from None
    return kept_lines(folder, trainer.progress)


def kept_lines(folder: Path, progress: Progress) -> list[str]:
    """Return the lines of metrics.jsonl that a checkpoint counts.

    Raises:
        RunFolderError: some are lost, or they are damaged.

    >>> kept_lines(Path("a folder without metrics"), Progress())
    []
    """
    path = folder / "metrics.jsonl"
    lines = (read_bytes(path) or b"").decode(errors="replace").splitlines()[: progress.epoch]
    try:
        whole = [json.loads(line)["epoch"] for line in lines] == list(range(1, progress.epoch + 1))
    except (ValueError, TypeError, KeyError, RecursionError):
        whole = False
    if not whole:
        raise RunFolderError(f"{path} has lost lines that the checkpoint counts; --restart begins this run anew")
    if progress.metrics and progress.metrics != sha256(metrics_text(lines)):
        raise RunFolderError(
            f"{path} is damaged: it does not have the SHA-256 that stands in the checkpoint; --restart begins this run "
            "anew"
        )
    return lines


def _result(config: RunConfig, data: Dataset, model: Classifier, trainer: Trainer, test: Split) -> dict[str, Any]:
    """Evaluate the best weights on the test split, the only time that it is touched, and return result.json."""
    world = trainer.world
    figures, predictions = trainer.evaluate(test)
    return {
        **described(config.data),
        "embedding": config.embedding.name,
        "features": config.embedding.features,
        "places": config.embedding.places,
        "recipe": config.recipe.name,
        "seed": config.seed,
        "test": figures,
        "validation": {
            "accuracy": trainer.progress.best_score[0],
            "loss": -trainer.progress.best_score[1],
            "epoch": trainer.progress.best_epoch,
        },
        **judged(
            trainer.objective,
            data,
            predictions,
            lambda: LookUp(trainer.train.ids.cpu().numpy(), trainer.train.labels.cpu().numpy()).predict(
                test.ids.cpu().numpy()
            ),
        ),
        "rows": {"train": len(data.y_train), "validation": len(data.y_validation), "test": len(data.y_test)},
        "parameters": model.n_parameters,
        "flops": forward_flops(model, data.X_test.shape[1]),
        "seconds": round(trainer.progress.seconds, 3),
        "device": device_name(test.labels.device),
        "devices": world.devices,
        "nodes": world.nodes,
        "versions": versions("torch", "numpy"),
        "commit": source_commit(),
        "command": config.command(devices=world.devices, nodes=world.nodes),
        "configuration": config.as_dict(),
        "data_sha256": data.provenance["sha256"],
    }


def described(source: Source) -> dict[str, Any]:
    """Return what a result says of its data."""
    return {
        "task": source.task,
        "n": source.n,
        "edition": source.edition,
        "split": source.split,
        "contaminated": source.contaminated,
    }


def judged(
    objective: Objective, data: Dataset, predictions: np.ndarray, remembered: Callable[[], np.ndarray]
) -> dict[str, Any]:
    """Return what a result says of its predictions on the test split: what is trivial beside them, and themselves.

    The guard has seen to it that no test row is among the rows of training, so that look-up answers with the most
    frequent class of its table; where rows have several targets, or a number, that is the trivial rule.

    Args:
        objective: the task's.
        data: all splits; the test split is only judged.
        predictions: as the objective has them.
        remembered: returns the classes that look-up answers with, (rows,).
    """
    rule = best_rule(data)
    found = objective.result(data.y_train, data.y_test, predictions)
    found |= {"rule": rule.accuracy, "rule_name": rule.name}
    kept = pack_answers(data.y_test, objective.answers(predictions), *objective.answer_range)
    if data.class_names is None:
        return found | {"lookup": found["majority"]} | kept
    return found | {
        "lookup": float(np.mean(remembered() == data.y_test)),
        "class_names": list(data.class_names),
        "labels": kept["labels"],
        "predictions": kept["predictions"],
    }


def device_name(device: torch.device) -> str:
    """Return what a device is, in words."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads, {platform.machine()}"
