"""The engine of a search, with objectives that cost nothing."""

import itertools
import os
import re
import shutil
import signal
import sqlite3
import warnings
from contextlib import closing

import optuna
import pytest
import sqlalchemy

from adelic.errors import ConfigurationError, Interrupted, LeakError, StorageError
from adelic_lab.config.options import Setting
from adelic_lab.search import studies

DIMENSIONS = {"rate": Setting(name="rate", bounds=(1e-3, 1.0)), "norm": Setting(name="norm", tried=("a", "b"))}
PASSWORD = "a-secret"


def silent(finished, epoch):
    pass


def distance(values, report, between):
    return -abs(values["rate"] - 0.1) - (values["norm"] == "b")


@pytest.fixture
def study(tmp_path):
    """Run a study in a file of this test; keywords change it."""

    def run(objective=distance, dimensions=DIMENSIONS, **changes):
        plain = {"storage": tmp_path / "study.db", "trials": 4, "epochs": 4, "seed": 0, "pruning": None}
        return studies.run_study("mine", objective, dimensions, **plain | {"progress": silent} | changes)

    return run


def content(trials):
    return [(trial.state.name, trial.params, trial.value) for trial in trials]


def test_trials_are_kept_and_continued(study, tmp_path):
    first = study(trials=3)
    assert content(study(trials=3)) == content(first)
    continued = study(trials=6)  # more than the trials that are drawn blindly
    assert content(continued)[:3] == content(first)
    assert content(continued) == content(study(trials=6, storage=tmp_path / "other.db"))
    values = [(t.params["rate"], t.params["norm"]) for t in continued]
    assert len(set(values)) == 6
    assert content(study(trials=1, seed=1, storage=tmp_path / "seed.db")) != content(continued)[:1]


FEW = {"norm": Setting(name="norm", tried=("a", "b")), "rate": Setting(name="rate", tried=(0.1, 0.2))}
ALL = [("a", 0.1), ("a", 0.2), ("b", 0.1), ("b", 0.2)]


def tried(trials):
    return sorted((t.params["norm"], t.params["rate"]) for t in trials if t.state.name != "FAIL")


@pytest.mark.long
@pytest.mark.parametrize("interrupted", [1, 2, 3, 4])
@pytest.mark.parametrize("pruning", [None, "hyperband"])
def test_an_interrupted_study_of_few_combinations_tries_each_once(study, interrupted, pruning):
    begun = []

    def stop(values, report, between):
        begun.append(values)
        if len(begun) == interrupted:
            raise KeyboardInterrupt
        return distance(values, report, between)

    with pytest.raises(KeyboardInterrupt):
        study(stop, trials=4, dimensions=FEW, pruning=pruning)
    trials = study(trials=4, dimensions=FEW, pruning=pruning)
    assert tried(trials) == ALL
    assert [t.state.name for t in trials].count("FAIL") == 1


def test_more_trials_than_combinations(study):
    """All of them are tried, and then some again: the trials that were asked for are made."""
    trials = study(trials=6, dimensions=FEW)
    assert len(trials) == 6
    assert tried(trials[:4]) == ALL


def test_a_leak_ends_the_study(study):
    """It is not a fault of the values, which a pruned trial would say."""

    def leak(values, report, between):
        raise LeakError("1 test row would be trained on")

    with pytest.raises(LeakError):
        study(leak)
    assert next(t.state.name for t in study(trials=1)) == "FAIL"


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, MemoryError])
def test_a_trial_that_ends_its_process_is_repeated_with_its_values_and_then_given_up(study, interruption):
    def interrupted(values, report, between):
        raise interruption

    for _ in range(studies.ATTEMPTS):
        with pytest.raises(interruption):
            study(interrupted, trials=1)
    *failed, last = study(trials=1)
    assert [t.state.name for t in failed] == ["FAIL"] * studies.ATTEMPTS
    assert all(t.params == failed[0].params for t in failed)
    assert last.params != failed[0].params


@pytest.mark.long
@pytest.mark.parametrize("signs", [0, 1])
def test_a_killed_worker_is_noticed_by_its_silence(study, monkeypatch, tmp_path, signs):
    """A trial that runs, and whose worker has given no sign of life for longer than the grace, or never gave one."""
    monkeypatch.setattr(studies, "GRACE", 1)
    monkeypatch.setattr(studies, "POLL", 0.1)
    study(trials=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an experimental heartbeat, and of a trial that is asked for by hand
        backend = optuna.storages.RDBStorage(f"sqlite:///{tmp_path / 'study.db'}", heartbeat_interval=1)
        killed = optuna.load_study(study_name="mine", storage=backend).ask()
    rate = killed.suggest_float("rate", 1e-3, 1.0, log=True)
    for _ in range(signs):
        backend.record_heartbeat(killed._trial_id)
    trials = study(trials=2)
    backend.remove_session()
    backend.engine.dispose()
    assert [t.state.name for t in trials] == ["COMPLETE", "FAIL", "COMPLETE"]
    assert trials[2].params["rate"] == rate


def test_a_surplus_trial_is_dropped(study):
    """Another worker does the last trial just after this one has seen that it is missing."""
    other = []

    def meanwhile(finished, epoch):
        if not other:
            other.append(None)
            study(trials=1)

    def refuse(values, report, between):
        raise AssertionError("one trial too many")

    trials = study(refuse, trials=1, progress=meanwhile)
    assert [t.state.name for t in trials] == ["COMPLETE", "FAIL"]


@pytest.mark.long
@pytest.mark.parametrize("pruning", ["median", "hyperband", None])
def test_pruning(study, pruning):
    """Later trials are ever worse, from their first epoch on."""
    begun, seen = [], []

    def worse(values, report, between):
        begun.append(values)
        for epoch in range(1, 9):
            report(epoch, -len(begun), {"epochs": epoch})
        return -len(begun)

    trials = study(worse, trials=7, epochs=8, pruning=pruning, progress=lambda f, epoch: seen.append(epoch))
    pruned = [t for t in trials if t.state.name == "PRUNED"]
    assert len(trials) == len(begun) == 7
    assert bool(pruned) == (pruning is not None)
    assert all(t.user_attrs["figures"]["epochs"] == 8 for t in trials if t not in pruned)
    assert all(2 <= t.user_attrs["figures"]["epochs"] < 8 for t in pruned)
    assert max(seen) == 8


def test_values_that_do_not_go_together_count(study):
    def refusing(values, report, between):
        if values["norm"] == "b":
            raise ConfigurationError("b is not for this data")
        return 1.0

    trials = study(refusing, trials=8)
    refused = [t for t in trials if t.params["norm"] == "b"]
    assert len(trials) == 8
    assert 0 < len(refused) < 8
    assert all(t.state.name == "PRUNED" for t in refused)
    assert all(t.user_attrs["figures"]["reason"] == "b is not for this data" for t in refused)


@pytest.mark.parametrize("name", ["with space.db", "{braces}.db", "100%.db", "new/folder/x.db", "ünï.db"])
def test_storages_that_are_files(study, tmp_path, name):
    assert len(study(trials=1, storage=tmp_path / name)) == 1
    assert (tmp_path / name).is_file()
    assert len(study(trials=2, storage=tmp_path / name)) == 2


def test_a_storage_by_url(study, tmp_path):
    study(trials=2, storage=f"sqlite:///{tmp_path / 'url.db'}")
    assert len(study(trials=1, storage=tmp_path / "url.db")) == 2


@pytest.mark.parametrize(
    "storage",
    [
        f"mysql+nothing://me:{PASSWORD}@localhost/studies",
        f"nonsense://me:{PASSWORD}@localhost/studies",
        f"postgresql://me:{PASSWORD}@localhost:port/studies",
        "redis://localhost",
        "://",
        "folder",
        "text",
        "text/below.db",
    ],
)
def test_storages_that_cannot_be_used(study, tmp_path, storage):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no data base, though long enough to be one " * 100)
    with pytest.raises(StorageError) as caught:
        study(storage=storage if "://" in storage else tmp_path / storage)
    assert PASSWORD not in str(caught.value)


def rate_of(values, report, between):
    report(1, values["rate"] / 2, {"seconds": 1.5})
    return values["rate"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data base with a study of two trials."""
    path = tmp_path_factory.mktemp("made") / "study.db"
    plain = {"trials": 2, "epochs": 1, "seed": 0, "pruning": None, "progress": silent}
    studies.run_study("mine", rate_of, DIMENSIONS, storage=path, **plain)
    return path


def edit(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE trial_values SET value = 1e308 WHERE trial_id = 1", "trial 0 does not have the SHA-256"),
        ("UPDATE trial_intermediate_values SET intermediate_value = 0", "trial 0 does not have the SHA-256"),
        ("UPDATE trial_params SET param_value = 5.0 WHERE param_name = 'norm'", "tuple index out of range"),
        ("UPDATE trial_user_attributes SET value_json = '{}' WHERE key = 'figures'", "does not have the SHA-256"),
        ("UPDATE trials SET state = 'PRUNED'", "trial 0 does not have the SHA-256"),
        ("UPDATE trials SET state = 'COMPLETD'", "COMPLETD"),
        ("UPDATE trials SET number = 5 WHERE trial_id = 2", "has lost trials"),
        ("UPDATE studies SET study_name = 'other'", "trial 0 does not have the SHA-256"),
        ("UPDATE study_directions SET direction = 'MINIMIZE'", "has another direction"),
        ("DELETE FROM trial_user_attributes WHERE key = 'sha256'", "trial 0 does not have the SHA-256"),
        ("DELETE FROM trials WHERE trial_id = 2", "refers to what is not there"),
        ("UPDATE alembic_version SET version_num = 'v9'", "no longer compatible"),
        ("UPDATE trial_values SET value = 0.5, value_type = 'FINITF'", "FINITF"),
    ],
)
def test_what_was_changed_in_a_study_is_named(study, made, tmp_path, statement, words):
    path = shutil.copyfile(made, tmp_path / "study.db")
    edit(path, statement)
    with pytest.raises(StorageError) as caught:
        study(rate_of, trials=3)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE trial_params SET param_name = 'drop' WHERE param_name = 'norm'", "'drop', which is not searched"),
        ("UPDATE trial_params SET param_value = 2.0 WHERE param_name = 'rate'", "rate=2.0, which is not searched"),
    ],
)
def test_values_that_are_to_be_repeated_are_searched_ones(study, tmp_path, statement, words):
    """A trial that has not ended has no digest; its repetition would take whatever stands there."""

    def interrupted(values, report, between):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(interrupted, trials=1)
    edit(tmp_path / "study.db", statement)
    with pytest.raises(StorageError, match=rf"study\.db: .*{re.escape(words)}"):
        study(trials=1)


def test_a_damaged_page_of_a_study_is_named(study, made, tmp_path):
    content = bytearray(made.read_bytes())
    at = content.rindex(b"ix_trials_study_id")  # in the list of tables
    content[at - 4] ^= 1
    (tmp_path / "study.db").write_bytes(content)
    with pytest.raises(StorageError, match=r"study\.db: .*may be damaged, or changed by hand: put a copy back"):
        study(rate_of, trials=2)


def test_optunas_settings_are_left_alone(study, capsys):
    before = optuna.logging.get_verbosity()
    study(trials=1)
    with pytest.raises(ZeroDivisionError):
        study(lambda values, report, between: 1 / 0, trials=2)
    assert optuna.logging.get_verbosity() == before
    assert capsys.readouterr() == ("", "")


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_storage_is_written_is_obeyed_afterwards(study, tmp_path, signum):
    """Whichever commit it meets: one line says so, and the study goes on to its end."""

    def asking(values, report, between):
        between()
        return distance(values, report, between)

    met = 0
    for nth in itertools.count(1, 2):
        storage, left = tmp_path / f"{nth}.db", itertools.count(1)

        def disturb(connection, left=left, nth=nth):
            if next(left) == nth:
                signal.raise_signal(signum)

        sqlalchemy.event.listen(sqlalchemy.Engine, "commit", disturb)
        stopped = None
        try:
            study(asking, trials=1, storage=storage)
        except Interrupted as stop:
            stopped = stop
        finally:
            sqlalchemy.event.remove(sqlalchemy.Engine, "commit", disturb)
        if stopped is None:  # it was done before
            break
        met += 1
        words = r"(interrupted|stopped by SIGTERM) after [01] of 1 trials; they are saved, and .*"
        assert re.fullmatch(words, str(stopped))
        assert stopped.signum == signum
        states = [trial.state.name for trial in study(trials=1, storage=storage)]
        assert states.count("COMPLETE") == 1
        assert set(states) <= {"COMPLETE", "FAIL"}
    assert met > 3
