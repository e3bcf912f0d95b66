"""Checks of a study's data base: its pages, its trials, and the digest that each trial has since it ended."""

import json
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from adelic.storage.checks import shown
from adelic.storage.options import Option
from adelic.storage.records import sha256

if TYPE_CHECKING:
    import sqlalchemy
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

_SEAL = "sha256"
"""The attribute of a finished trial with the digest of all that it says."""
_FINISHED = ("COMPLETE", "PRUNED")


def check_pages(url: "sqlalchemy.URL", seconds: float) -> None:
    """Raise ValueError for an SQLite file whose pages or references are damaged; wait so long for other workers."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(url, connect_args={"timeout": seconds})
    try:
        with engine.connect() as connection:
            found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
            if found != "ok":
                raise ValueError(str(found).splitlines()[-1])
            if (lost := connection.exec_driver_sql("PRAGMA foreign_key_check").first()) is not None:
                raise ValueError(f"{lost[0]} refers to what is not there")
    finally:
        engine.dispose()


def check_trials(
    study: "Study",
    dimensions: Mapping[str, Option],
    distributions: Mapping[str, Any],
    check: Callable[["FrozenTrial"], object],
) -> None:
    """Raise ValueError for a trial that was not made by this search, or has changed since; warn where that is unknown.

    Trials that are not finished are checked, too: the sampler and the repetitions take their values. `check` raises for
    figures of a finished trial that cannot be.
    """
    for trial in study.get_trials(deepcopy=False):
        fixed = trial.system_attrs.get("fixed_params", {})  # of a repetition
        for name, value in [*fixed.items(), *trial.params.items()]:
            known = distributions.get(name)
            if known is None or trial.distributions.get(name, known) != known:
                raise ValueError(f"trial {trial.number} has {shown(name)}, which is not searched")
            bounds, tried = dimensions[name].bounds, dimensions[name].tried
            if not (bounds[0] <= value <= bounds[1] if bounds else value in tried):
                raise ValueError(f"trial {trial.number} has {name}={shown(value)}, which is not searched")
        if trial.state.name in _FINISHED:
            if lacking := dimensions.keys() - trial.params.keys():
                raise ValueError(f"trial {trial.number} has no {min(lacking)}")
            check(trial)
    if unsealed := verify(study):
        numbers = ", ".join(map(str, unsealed))
        warnings.warn(
            f"the study {study.study_name} has trials without a checksum, as older versions made them, which are used "
            f"unverified: {numbers}",
            stacklevel=3,
        )


def verify(study: "Study") -> list[int]:
    """Return the numbers of the finished trials that have no digest; ValueError if one does not fit, or trials lack."""
    trials = study.get_trials(deepcopy=False)
    if [trial.number for trial in trials] != list(range(len(trials))):
        raise ValueError(f"the study {study.study_name} has lost trials")
    if [direction.name for direction in study.directions] != ["MAXIMIZE"]:
        raise ValueError(f"the study {study.study_name} has another direction")
    unsealed = []
    for trial in trials:
        if trial.state.name in _FINISHED:
            seal = trial.user_attrs.get(_SEAL)
            if seal is None:
                unsealed.append(trial.number)
            elif seal != _digest(study, trial, trial.state.name, trial.value):
                raise ValueError(f"trial {trial.number} does not have the SHA-256 that was written with it")
    return unsealed


def seal(study: "Study", trial: "Trial", value: float | None) -> None:
    """Give a trial its digest before Optuna ends it, with this value or, pruned, with the last one that was reported.

    A finished trial cannot be changed.
    """
    said = study.trials[trial.number]
    last = None if said.last_step is None else said.intermediate_values[said.last_step]
    sealed = _digest(study, said, "PRUNED", last) if value is None else _digest(study, said, "COMPLETE", value)
    trial.set_user_attr(_SEAL, sealed)


def _digest(study: "Study", trial: "FrozenTrial", state: str, value: float | None) -> str:
    """Return the SHA-256 of what a trial says when it ends in a state with a value."""
    attributes = {name: of for name, of in trial.user_attrs.items() if name != _SEAL}
    # Plus 0.0, as SQLite keeps no -0.0.
    reports = sorted((step, x + 0.0) for step, x in trial.intermediate_values.items())
    ended = [study.study_name, trial.number, state, None if value is None else value + 0.0]
    everything = [*ended, trial.params, reports, attributes]
    return sha256(json.dumps(everything, sort_keys=True).encode())
