"""The joint of a local–global network, chosen by validation before the training: `--places auto`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from adelic.data.protocol import Progress
from adelic.errors import Interrupted, RunFolderError
from adelic.storage.files import atomic_write, read_bytes
from adelic.storage.records import DamagedTextError, parse_sealed, seal
from adelic_lab.config.embedding import JOINTS, OF_TWO_CLASSES
from adelic_lab.config.experiment import Experiment
from adelic_lab.runs.folders.files import JOINT
from adelic_lab.runs.objectives import Objective, OneClass
from adelic_lab.runs.signals import Stopped, cause, deferred_signals
from adelic_lab.train.loop import Trainer
from adelic_lab.train.world import World

_SHARE = 10
"""Each joint is tried for one epoch in this many, and for at least one."""
_FIGURES = ("accuracy", "loss", "seconds")


def with_joint(experiment: Experiment, joint: str) -> Experiment:
    """Return an experiment whose places meet at a joint."""
    return replace(experiment, model=replace(experiment.embedding, places=joint))


def with_best_joint(
    experiment: Experiment,
    objective: Objective,
    make: Callable[[Experiment], Trainer],
    world: World,
    *,
    folder: Path | None = None,
    source: Path | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[Experiment, float]:
    """Return an experiment with the joint that has the best validation after the first tenth of its epochs.

    Beside it stand the seconds that this took. Of equal accuracies the lower loss counts. Where there are more than two
    classes, joints that tell two apart are not tried. An experiment that names its joint is returned as it is.

    `make` goes from an experiment to the trainer that begins it. The folder keeps the figures of each joint in
    joint.json, which is read from `source`, or the folder; a damaged one is a RunFolderError. `progress` is called with
    (steps done, steps in all, text), `stop` asked between steps; where it, or a signal, asks to stop, the choice begins
    anew.
    """
    if experiment.embedding.places != "auto" or not isinstance(objective, OneClass):
        return experiment, 0.0
    joints = [joint for joint in JOINTS if objective.n_classes == 2 or joint not in OF_TWO_CLASSES]
    figures = _kept(source / JOINT, joints) if source else None
    if figures is None:
        figures = {
            joint: _pilot(make(with_joint(experiment, joint)), f"joint {joint}", world, progress, stop)
            for joint in joints
        }
        if folder:
            text = seal(figures, indent=2) + "\n"
            world.lead(lambda: atomic_write(folder / JOINT, text))
    chosen = max(figures.items(), key=lambda entry: (entry[1]["accuracy"], -entry[1]["loss"]))[0]
    return with_joint(experiment, chosen), sum(figure["seconds"] for figure in figures.values())


def _kept(path: Path, joints: list[str]) -> dict[str, dict[str, float]] | None:
    """Return the figures of each joint that a file holds; None where there is no file."""
    content = read_bytes(path)
    if content is None:
        return None
    try:
        found = parse_sealed(content)
        known = [joint for joint in joints if joint in found]  # a version without a joint has not tried it
        figures = {joint: {name: float(found[joint][name]) for name in _FIGURES} for joint in known}
    except (DamagedTextError, KeyError, TypeError, ValueError):
        figures = {}
    if not figures:
        raise RunFolderError(f"{path} is damaged; --restart begins this run anew")
    return figures


def _pilot(
    trainer: Trainer, what: str, world: World, progress: Progress | None, stop: Callable[[], bool] | None
) -> dict[str, float]:
    """Return figures of validation after the first tenth of a trainer's epochs, and the seconds."""
    with deferred_signals() as request:

        def between_steps() -> None:
            if trainer.progress.batch % world.pace:
                return
            signum = int(world.gather(np.array([request.signum or 0])).max())  # any process may have had the signal
            wanted = world.lead(lambda: signum or bool(stop and stop()))
            if wanted is True:
                raise Stopped(f"stopped while {what} was tried; nothing is saved yet")
            if wanted:
                raise Interrupted(wanted, f"{cause(wanted)} while {what} was tried; nothing is saved yet")

        def show(done: int, steps: int, text: str) -> None:
            if progress:
                progress(done, steps, f"{what}, {text}")

        for _ in range(-(-trainer.recipe.epochs // _SHARE)):
            found = trainer.run_epoch(show, between_steps)["validation"]
            between_steps()  # no step follows an epoch's last: a signal in it would be lost with this request
    return {"accuracy": found["accuracy"], "loss": found["loss"], "seconds": round(trainer.progress.seconds, 3)}
