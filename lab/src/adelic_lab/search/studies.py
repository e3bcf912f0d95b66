"""Studies in Optuna: trials that are kept in a storage, resumed, repeated when killed, and shared by several workers.

Only this module and `adelic_lab.search.tuning.plot_trials` import Optuna, when a search begins. A finished trial has a
digest of all that it says among its attributes, since a data base that was damaged, or changed by hand, mostly reads
well.
"""

import itertools
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import sqlalchemy
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.exceptions import ExperimentalWarning, OptunaError, StorageInternalError
from optuna.samplers import PartialFixedSampler, RandomSampler, TPESampler
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from adelic.errors import AdelicError, Interrupted, LeakError, StorageError
from adelic.storage.checks import shown
from adelic.storage.files import FOLDER_REMEDY, storage_errors
from adelic.storage.records import sha256
from adelic_lab.config.options import Setting
from adelic_lab.search.dimensions import Between, Report
from adelic_lab.train.sampler import stream_seed
from adelic_lab.train.signals import cause, deferred_signals

HEARTBEAT = 5
"""Seconds between two signs of life of a running trial."""
GRACE = 30
"""Seconds without one after which other workers take a trial for killed."""
POLL = 1.0
"""Seconds between two looks at the trials of other workers."""
ATTEMPTS = 3
"""How often a trial that is killed again and again is begun."""
_WATCHED = "adelic:watched"
_SEAL = "sha256"
"""The attribute of a finished trial with the digest of all that it says."""
_STARTUP_TRIALS = 5  # drawn blindly, and never pruned
_BUSY = 60  # seconds that a worker waits for another one's write to an SQLite file
_REMEDY = (
    "--storage takes the path of an SQLite file or the URL of a data base, as sqlite:///studies.db or "
    "postgresql://me@machine/studies"
)
_DAMAGED = "it may be damaged, or changed by hand: put a copy back, or choose another --storage to begin anew"
_FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)


def run_study(
    name: str,
    objective: Callable[[dict[str, Any], Report, Between], float],
    dimensions: Mapping[str, Setting],
    *,
    storage: str | Path,
    trials: int,
    epochs: int,
    seed: int,
    pruning: str | None,
    progress: Callable[[list[FrozenTrial], int], None],
) -> list[FrozenTrial]:
    """Continue a study until its trials are done, whoever does them; return all of them.

    A trial counts when it is complete or pruned. One that was killed is marked as failed and repeated with the same
    values. What is proposed depends on the seed, on the number of the trial and on the trials before it alone. Signals
    are obeyed where `objective` asks whether there was one, never while the storage is written: there Optuna would end
    in its own error.

    Args:
        name: of the study in the storage.
        objective: called with the values of the dimensions, a function to report (epoch, value, figures) to, which
            raises where the trial is to be pruned, and one to call between steps, which raises where a signal asked to
            stop; returns the value to maximise. A `LeakError` ends the study, any other `AdelicError` prunes the trial.
        dimensions: what is searched, by name.
        storage: an SQLAlchemy URL, or the path of an SQLite file.
        trials: how many are wanted.
        epochs: the most that a trial reports.
        seed: of the proposals.
        pruning: "median" or "hyperband"; None for none.
        progress: called with the finished trials and the epochs done in the running one.

    Raises:
        StorageError: the storage cannot be reached or used, or is damaged.
        Interrupted: a signal asked to stop; finished trials are saved.
    """
    with deferred_signals() as request, quiet(), _storage_errors(storage), _opened(storage) as backend:

        def between() -> None:
            if request.signum is not None:
                words = f"{cause(request.signum)} after {len(_in(study, *_FINISHED))} of {trials} trials"
                raise Interrupted(request.signum, f"{words}; they are saved, and the same command goes on from there")

        with _storage_errors(storage, *_OF_READING):
            for other in optuna.get_all_study_names(backend):  # a study whose name is damaged is another one
                verify(optuna.load_study(study_name=other, storage=backend))
            pruner = _pruner(pruning, epochs)
            study = optuna.create_study(
                storage=backend, study_name=name, direction="maximize", pruner=pruner, load_if_exists=True
            )
        study.sampler = NumberedSampler(study, dimensions, seed, trials)
        while True:
            between()
            with _storage_errors(storage, *_OF_READING):
                verify(study)
                _check_values(study, dimensions)
            finished = _in(study, *_FINISHED)
            progress(finished, 0)
            if len(finished) >= trials:
                return study.get_trials()
            if len(finished) + len(_in(study, TrialState.RUNNING)) < trials:
                _run_one(study, objective, dimensions, trials, partial(progress, finished), between)
            else:  # the last trials are other workers', alive or killed
                time.sleep(POLL)
                _watch(study, backend)
                optuna.storages.fail_stale_trials(study)


def accuracies(path: Path) -> list[float | None]:
    """Return the best validation accuracy of each trial of an SQLite file that was made to its end or pruned.

    The file is only read.

    Raises:
        StorageError: it is damaged, or not a study's.
    """
    url = f"sqlite:///{path.absolute().as_uri()}?mode=ro&uri=true"
    with quiet(), _storage_errors(path, *_OF_READING):
        check_pages(sqlalchemy.make_url(url))
        with _closing(RDBStorage(url, skip_compatibility_check=True, skip_table_creation=True)) as backend:
            studies = [optuna.load_study(study_name=n, storage=backend) for n in optuna.get_all_study_names(backend)]
            for study in studies:
                verify(study)
            return [t.value for study in studies for t in _in(study, *_FINISHED)]


def _watch(study: Study, backend: RDBStorage) -> None:
    """Give a sign of life for each trial that was begun long ago, once, in case its worker was killed before its first.

    A trial without any would never be taken for killed, and everybody would wait for it for ever.
    """
    study_id = backend.get_study_id_from_name(study.study_name)
    long_ago = datetime.now() - timedelta(seconds=GRACE)  # without a time zone, as Optuna writes times
    for trial in _in(study, TrialState.RUNNING):
        watched = trial.system_attrs.get(_WATCHED) == trial.number  # a repetition has the attributes of the first
        if trial.datetime_start and trial.datetime_start < long_ago and not watched:
            trial_id = backend.get_trial_id_from_study_id_trial_number(study_id, trial.number)
            backend.set_trial_system_attr(trial_id, _WATCHED, trial.number)
            backend.record_heartbeat(trial_id)


def distribution(dimension: Setting) -> BaseDistribution:
    """Return the values of a dimension as Optuna describes them; those of a range have a logarithmic scale.

    >>> distribution(Setting(name="norm", tried=("post", "pre")))
    CategoricalDistribution(choices=('post', 'pre'))
    """
    if dimension.bounds:
        return FloatDistribution(*dimension.bounds, log=True)
    return CategoricalDistribution(dimension.tried)


def draw(dimensions: Mapping[str, Setting], seed: int) -> dict[str, Any]:
    """Return one random value for each dimension: uniformly of choices, log-uniformly of a range.

    Args:
        dimensions: what is searched, by name.
        seed: of the draw, below 2^32.

    >>> draw({"norm": Setting(name="norm", tried=("post", "pre"))}, seed=0)
    {'norm': 'pre'}
    """
    with quiet():
        trial = optuna.create_study(sampler=RandomSampler(seed=seed)).ask(
            {name: distribution(dimension) for name, dimension in dimensions.items()}
        )
    return {name: dimension.drawn(trial.params[name]) for name, dimension in dimensions.items()}


class SurplusError(Exception):
    """Two workers have begun the last trial at once; the later one drops it."""


class NumberedSampler(PartialFixedSampler):
    """Tree-structured Parzen estimators whose random numbers depend on the seed and the trial's number.

    A `TPESampler` begins its sequence again in every process: a resumed study or a second worker would propose
    the values of the first trials once more.

    Where all dimensions have choices, and there are trials enough for all combinations, each of these comes once before
    them. Their order depends on the seed, and a trial begins at its own number, to keep workers apart.
    Optuna's `GridSampler` fails on a trial that is repeated, and does not know those of a study that had fewer trials
    at first.

    Args:
        study: whose trials count, whoever proposed them.
        dimensions: what is searched, by name.
        seed: of the order, and of the estimators.
        trials: how many are wanted.
    """

    def __init__(self, study: Study, dimensions: Mapping[str, Setting], seed: int, trials: int) -> None:
        self._study, self._seed = study, seed
        self._order: list[dict[str, Any]] = []
        choices = [dimension.tried for dimension in dimensions.values()]
        if 0 < math.prod(map(len, choices)) <= trials:  # there is no range among them
            combinations = [dict(zip(dimensions, values, strict=True)) for values in itertools.product(*choices)]
            order = np.random.default_rng(stream_seed(seed, "combinations")).permutation(len(combinations))
            self._order = [combinations[i] for i in order]

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Fix the values of a trial to a combination that no other has, if there is one left, and seed the rest."""
        # Not the trials of `study`, of which a pruner may show a part.
        others = [t.params for t in self._study.get_trials(deepcopy=False) if t.number != trial.number]
        start = trial.number % max(len(self._order), 1)
        fixed = next((c for c in [*self._order[start:], *self._order[:start]] if c not in others), {})
        estimators = TPESampler(
            seed=stream_seed(self._seed, "search", trial.number) % 2**32,
            n_startup_trials=_STARTUP_TRIALS,
            constant_liar=True,  # workers keep away from what others are trying
        )
        super().__init__(fixed, estimators)
        super().before_trial(study, trial)


def _run_one(
    study: Study,
    objective: Callable[[dict[str, Any], Report, Between], float],
    dimensions: Mapping[str, Setting],
    trials: int,
    on_epoch: Callable[[int], None],
    between: Between,
) -> None:
    """Run one trial; mark it as failed and queue its repetition if anything other than its values ends it."""
    begun: list[Trial] = []

    def wrapped(trial: Trial) -> float:
        before = [t for t in study.get_trials(deepcopy=False) if t.number < trial.number]
        if sum(t.state != TrialState.FAIL for t in before) >= trials:
            # Before it counts as begun: nothing repeats it.
            raise SurplusError
        begun.append(trial)
        values = {
            name: trial.suggest_float(name, *d.bounds, log=True)
            if d.bounds
            else trial.suggest_categorical(name, d.tried)
            for name, d in dimensions.items()
        }
        latest: dict[str, Any] = {}
        value = None

        def report(epoch: int, value: float, figures: dict[str, Any]) -> None:
            latest.update(figures)
            on_epoch(epoch)
            trial.report(value, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned

        try:
            value = float(objective(values, report, between))
            return value
        except LeakError:
            raise  # it is the data's, not these values'
        except AdelicError as error:
            latest["reason"] = str(error)
            raise optuna.TrialPruned from None
        finally:
            trial.set_user_attr("figures", latest)
            # Before Optuna ends it: a finished trial cannot be changed.
            said = study.trials[trial.number]
            last = None if said.last_step is None else said.intermediate_values[said.last_step]
            ended = ("PRUNED", last) if value is None else ("COMPLETE", value)
            trial.set_user_attr(_SEAL, _digest(study, said, *ended))

    try:
        study.optimize(wrapped, n_trials=1, catch=(SurplusError,))
    except BaseException:
        for trial in begun:
            if (ended := study.trials[trial.number]).state == TrialState.FAIL:
                _repetition()(study, ended)
        raise


def _repetition() -> RetryHeartbeatStaleTrialCallback:
    """Return what queues a failed trial once more, with the values that it had."""
    return RetryHeartbeatStaleTrialCallback(max_retry=ATTEMPTS - 1)


def _pruner(pruning: str | None, epochs: int) -> optuna.pruners.BasePruner:
    """Return a pruner that lets every trial live for a quarter of its epochs."""
    patience = max(1, epochs // 4)
    if pruning == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=_STARTUP_TRIALS, n_warmup_steps=patience)
    if pruning == "hyperband":
        return optuna.pruners.HyperbandPruner(min_resource=patience, max_resource=epochs)
    return optuna.pruners.NopPruner()


def _in(study: Study, *states: TrialState) -> list[FrozenTrial]:
    return study.get_trials(deepcopy=False, states=states)


def verify(study: Study) -> None:
    """Raise ValueError if a finished trial's digest does not fit, or trials lack."""
    trials = study.get_trials(deepcopy=False)
    if [trial.number for trial in trials] != list(range(len(trials))):
        raise ValueError(f"the study {study.study_name} has lost trials")
    if [direction.name for direction in study.directions] != ["MAXIMIZE"]:
        raise ValueError(f"the study {study.study_name} has another direction")
    for trial in trials:
        sealed = trial.user_attrs.get(_SEAL)
        if trial.state in _FINISHED and sealed != _digest(study, trial, trial.state.name, trial.value):
            raise ValueError(f"trial {trial.number} does not have the SHA-256 that was written with it")


def _check_values(study: Study, dimensions: Mapping[str, Setting]) -> None:
    """Raise ValueError for a value that is not searched: of trials without a digest, too, which may be repeated."""
    known = {name: distribution(dimension) for name, dimension in dimensions.items()}
    for trial in study.get_trials(deepcopy=False):
        for name, value in trial.params.items():
            if trial.distributions[name] != known.get(name):
                raise ValueError(f"trial {trial.number} has {shown(name)}, which is not searched")
            bounds, tried = dimensions[name].bounds, dimensions[name].tried
            if not (bounds[0] <= value <= bounds[1] if bounds else value in tried):
                raise ValueError(f"trial {trial.number} has {name}={shown(value)}, which is not searched")


def _digest(study: Study, trial: FrozenTrial, state: str, value: float | None) -> str:
    """Return the SHA-256 of what a trial says when it ends in a state with a value."""
    attributes = {name: of for name, of in trial.user_attrs.items() if name != _SEAL}
    # Plus 0.0, as SQLite keeps no -0.0.
    reports = sorted((step, x + 0.0) for step, x in trial.intermediate_values.items())
    ended = [study.study_name, trial.number, state, None if value is None else value + 0.0]
    return sha256(json.dumps([*ended, trial.params, reports, attributes], sort_keys=True).encode())


def check_pages(url: sqlalchemy.URL) -> None:
    """Raise ValueError for an SQLite file whose pages or references are damaged; wait for other workers."""
    engine = sqlalchemy.create_engine(url, connect_args={"timeout": _BUSY})
    try:
        with engine.connect() as connection:
            found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
            if found != "ok":
                raise ValueError(str(found).splitlines()[-1])
            if (lost := connection.exec_driver_sql("PRAGMA foreign_key_check").first()) is not None:
                raise ValueError(f"{lost[0]} refers to what is not there")
    finally:
        engine.dispose()


def storage_url(storage: str | Path) -> sqlalchemy.URL:
    """Return the URL of a storage; a text that is not a URL is the path of an SQLite file.

    Raises:
        StorageError: it is a malformed URL.

    >>> str(storage_url("runs/tune/mine.db"))
    'sqlite:///runs/tune/mine.db'
    >>> str(storage_url("postgresql://me:secret@machine/studies"))
    'postgresql://me:***@machine/studies'
    """
    text = str(storage)
    if "://" in text:
        try:
            return sqlalchemy.make_url(text)
        except (ArgumentError, ValueError):  # their messages may show a password
            raise StorageError(f"the storage's URL is malformed; {_REMEDY}") from None
    return sqlalchemy.URL.create("sqlite", database=Path(text).as_posix())


@contextmanager
def _opened(storage: str | Path) -> Iterator[RDBStorage]:
    """Open a storage, made if missing; close its connections at the end."""
    url = storage_url(storage)
    options: dict[str, Any] = {"heartbeat_interval": HEARTBEAT, "grace_period": GRACE}
    if url.get_backend_name() == "sqlite":
        options["engine_kwargs"] = {"connect_args": {"timeout": _BUSY}}
        if url.database:
            with storage_errors(f"cannot write {url.database}", FOLDER_REMEDY):
                Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        with _storage_errors(storage, *_OF_READING):
            check_pages(url)
    text = url.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}")  # Optuna formats it
    for left in reversed(range(ATTEMPTS)):
        try:
            with _storage_errors(storage, *_OF_READING):
                backend = RDBStorage(text, **options, heartbeat_stale_trial_callback=_repetition())
            break
        except ImportError as error:
            raise StorageError(f"{_reason(error)} (the storage {url})") from None
        except OperationalError as error:  # two workers make the tables of a new file at once: one comes last
            if "already exists" not in str(error) or not left:
                raise
            time.sleep(POLL)
    with _closing(backend):
        yield backend


@contextmanager
def _closing(backend: RDBStorage) -> Iterator[RDBStorage]:
    try:
        yield backend
    finally:
        backend.remove_session()
        backend.engine.dispose()


_OF_BASE: tuple[type[Exception], ...] = (SQLAlchemyError, StorageInternalError)
_OF_READING = (ValueError, LookupError, TypeError, AttributeError, AssertionError, RuntimeError, OptunaError)
"""What Optuna raises on a damaged data base, and our checks do."""


@contextmanager
def _storage_errors(storage: str | Path, *kinds: type[Exception]) -> Iterator[None]:
    """Turn the errors of a data base, and others of some kinds, into one line that shows no password."""
    try:
        yield
    except AdelicError:
        raise
    except (*_OF_BASE, *kinds) as error:
        is_of_base = isinstance(error, _OF_BASE)
        reason = _reason(error.__cause__ or error if is_of_base else error)
        is_damaged = not is_of_base or "malformed" in reason or "not a database" in reason
        remedy = _DAMAGED if is_damaged else _REMEDY
        raise StorageError(f"cannot use {storage_url(storage)}: {reason}; {remedy}") from None


def _reason(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Optuna from logging trials and from warning of the heartbeat, which it calls experimental."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(verbosity)
