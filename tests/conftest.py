"""What the tests of several layers share: a store of their own, runs that take a fraction of a second, the command."""

import contextlib
import gc
import importlib.util
import io
import itertools
import json
import multiprocessing
import os
import signal
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ORACLES = Path(__file__).parent / "oracles"
PATIENCE = 600
"""Seconds that a test waits for what is bound to happen: no measure of speed, on a machine that others use too."""
# Before torch is imported, here and in the processes that tests start: threads that wait for each other's tiny matrices
# on cores that others use too make these tests ten times as slow.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Where no bytecode is written, each run of the tests rewrites their assertions anew, and each process that it starts
# compiles the package; numba keeps its kernels in the same folders.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell that starts the tests in the background has Ctrl-C ignored, and processes that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection() -> None:
    """Let the garbage collector rest while tests are collected: nothing of that is garbage."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of the collector's sight, and let it search more rarely than it does."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def session_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One store for the session, so that no test touches the user's."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADELIC_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def real_fsync() -> Iterator[Callable[[int], None]]:
    """What tests/storage puts back: elsewhere nobody waits for the disk, as no test outlives a power cut."""
    plain = os.fsync
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield plain


@pytest.fixture(scope="session", autouse=True)
def errors_are_one_line() -> Iterator[None]:
    """Every error that any test meets is one line."""
    from adelic.errors import AdelicError

    def checked(self: AdelicError, *arguments: Any, **named: Any) -> None:
        assert "\n" not in str(arguments[:1] and arguments[0]), f"an error of several lines: {arguments[0]}"
        super(AdelicError, self).__init__(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AdelicError, "__init__", checked)
        yield


@pytest.fixture(scope="session")
def tiny_recipe() -> Callable[..., Any]:
    """Return recipes of a very small network; keywords change them."""
    from adelic_lab import TrainConfig

    def make(**changes: Any) -> TrainConfig:
        plain = {
            "name": "quick",
            "learning_rate": 5e-3,
            "epochs": 3,
            "batch_size": 16,
            "n_layers": 1,
            "n_heads": 2,
            "d_model": 16,
            "d_feedforward": 32,
        }
        return TrainConfig(**plain | changes)

    return make


@pytest.fixture(scope="session")
def tiny_config(tiny_recipe: Callable[..., Any]) -> Callable[..., Any]:
    """Return configurations of very small runs; keywords that a configuration lacks go to the recipe."""
    from adelic.data.sources import TaskData
    from adelic_lab import EmbeddingConfig, Experiment

    def make(embedding: str = "learned", *, task: str = "schubert", n: int = 3, **changes: Any) -> Experiment:
        space = {"primes": (2, 3, 5), "precision": 4} if embedding == "adelic" else {}
        data = TaskData(task, n, **{key: changes.pop(key) for key in ("edition", "split") if key in changes})
        seed = changes.pop("seed", 0)
        return Experiment(
            data=data, model=EmbeddingConfig.of(embedding, **space), recipe=tiny_recipe(**changes), seed=seed
        )

    return make


@pytest.fixture
def as_another_user(tmp_path: Path) -> Callable[[Callable[[], object]], int]:
    """Return the exit status of work in a child process that is not the superuser, and may pass to tmp_path."""

    def call(work: Callable[[], object]) -> int:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if os.geteuid() == 0:
                    import pwd

                    user = pwd.getpwnam("nobody")
                    os.setgroups([])
                    os.setgid(user.pw_gid)
                    os.setuid(user.pw_uid)
                work()
                status = 0
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    for above in itertools.takewhile(lambda path: path != Path(tempfile.gettempdir()), [tmp_path, *tmp_path.parents]):
        above.chmod(above.stat().st_mode | 0o011)
    return call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def commands_write_here(request: pytest.FixtureRequest) -> None:
    """Tests of commands have a working directory of their own."""
    if request.path.parent.name == "cli":
        request.getfixturevalue("folder")


class Outcome(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


@pytest.fixture(scope="session")
def adelic() -> Callable[..., Outcome]:
    """Run a command line in this process, also before a test begins; anything but a regular exit fails."""
    from adelic.cli import main

    def call(*arguments: Any, stdin: str = "") -> Outcome:
        given, out, err = (io.TextIOWrapper(io.BytesIO(text), "utf-8") for text in (stdin.encode(), b"", b""))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", given)
            patch.setattr(warnings, "showwarning", warnings.showwarning)  # main sets it
            with pytest.raises(SystemExit) as caught:
                main([str(argument) for argument in arguments])
        assert isinstance(caught.value.code, int)
        return Outcome(caught.value.code, *(stream.seek(0) or stream.read() for stream in (out, err)))

    return call


@pytest.fixture
def works(adelic: Callable[..., Outcome]) -> Callable[..., str]:
    """Run a command line that succeeds; return what it prints."""

    def call(*arguments: Any, stdin: str = "") -> str:
        outcome = adelic(*arguments, stdin=stdin)
        assert outcome.status == 0, outcome.err
        assert "Traceback" not in outcome.err
        return outcome.out

    return call


@pytest.fixture
def refused(adelic: Callable[..., Outcome]) -> Callable[..., str]:
    """Run a command line that is the user's error; return the one line on stderr."""

    def call(*arguments: Any, stdin: str = "") -> str:
        outcome = adelic(*arguments, stdin=stdin)
        assert outcome.status == 2, outcome
        assert outcome.out == ""
        assert "Traceback" not in outcome.err
        (line,) = outcome.err.splitlines()
        assert line.startswith("adelic: ")
        assert outcome.err == line + "\n"
        return line

    return call


FORKED = """
import os, sys

os.setsid()  # signals to this group of processes reach it alone
os.chdir(folder)
os.environ.clear()
os.environ.update(environment)
for number, path in enumerate(outputs, 1):
    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
"""


class Forked:
    """A program in a process of its own, with the methods of `subprocess.Popen` that the tests use."""

    def __init__(self, program: str, outputs: list[Path], names: dict[str, Any]) -> None:
        names = names | {"outputs": outputs}
        self.outputs = outputs
        self.process = multiprocessing.get_context("forkserver").Process(target=exec, args=(FORKED + program, names))
        self.process.start()
        self.pid = self.process.pid
        self.kill = self.process.kill

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def poll(self) -> int | None:
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        if self.process.is_alive():
            os.kill(self.pid, number)

    def communicate(self) -> tuple[str, str]:
        self.process.join(PATIENCE)
        assert self.returncode is not None, f"it has not ended within {PATIENCE} seconds"
        return tuple(path.read_text(encoding="utf-8") if path.exists() else "" for path in self.outputs)


@pytest.fixture(scope="session")
def forked(session_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Forked]]:
    """Start a program, with names that it finds set; its process is forked from one that has imported what trains.

    It begins in a tenth of the time of a new process, which imports PyTorch, its compiler, Fabric and Optuna.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs processes that fork")
    all_started: list[Forked] = []
    training = ("runs.engines", "runs.devices", "models.network", "models.classical", "models.solvers", "search.tuning")
    imported = ["pyarrow.dataset", "torch._dynamo", "lightning_fabric", "adelic.cli", "adelic.nn.kernels.compiled"]
    imported += ["adelic.acd", "adelic.number_theory", *(f"adelic_lab.{name}" for name in training)]
    assert all(map(importlib.util.find_spec, imported))  # the server passes over a name that is none
    multiprocessing.set_forkserver_preload(imported)

    def start(program: str, folder: Path, environment: dict[str, str] | None = None, **names: Any) -> Forked:
        outputs = [tmp_path_factory.mktemp("outputs") / name for name in ("out", "err")]
        names |= {"folder": folder, "environment": dict(os.environ) | (environment or {})}
        all_started.append(Forked(program, outputs, names))
        return all_started[-1]

    yield start
    for command in all_started:
        command.kill()
        command.process.join()


@pytest.fixture(scope="session")
def started(forked: Callable[..., Forked]) -> Callable[..., Forked]:
    """Start a command line in a folder; keywords go to its environment."""

    def start(folder: Path, *arguments: Any, **environment: str) -> Forked:
        words = [str(argument) for argument in arguments]
        return forked("from adelic.cli import main\nmain(words)", folder, environment, words=words)

    return start


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., Any]:
    """Wait until a condition is true, and return what it is; fail where the process that brings it about has ended."""

    def wait(condition: Callable[[], Any], process: Any = None) -> Any:
        end = time.monotonic() + PATIENCE
        while True:
            ended = (
                process is not None and process.poll() is not None
            )  # before the look: it may act, and end, meanwhile
            if found := condition():
                return found
            assert not ended, f"the process has ended before: {process.communicate()}"
            assert time.monotonic() < end, f"not within {PATIENCE} seconds"
            time.sleep(0.01)

    return wait


@pytest.fixture
def make_device() -> Callable[[Path], None]:
    """Make a node of the null device, so that no test touches the machine's own; skip where that cannot be done."""

    def make(path: Path, minor: int = 3) -> None:
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            path.open("wb").close()
        except (AttributeError, OSError):
            pytest.skip("making a device takes the superuser, and a file system that has them")

    return make


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store for this test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ADELIC_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def oracle():
    """Vectors made by other systems; each file's "meta" names the system."""

    def read(name: str) -> list[Any]:
        return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))["data"]

    return read


@pytest.fixture(scope="session")
def published_facts() -> dict[str, Any]:
    """The published counts, in the file from which the package's own facts were taken."""
    return json.loads((ORACLES / "acd_facts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def table_results():
    """All results of the table that is committed, which take half a second to read."""
    from adelic_lab import read_results

    return tuple(read_results(Path(__file__).parents[1] / "experiments" / "results" / "table"))


@pytest.fixture(scope="session")
def generated():
    """Rows of a task straight from its generator, kept for the whole session."""
    from adelic import acd
    from adelic.data import Request

    kept: dict[tuple[str, int, str], Any] = {}

    def generate(name: str, n: int, edition: str = "published") -> Any:
        key = (name, n, edition)
        if key not in kept:
            kept[key] = acd.TASKS[name].generate(Request(n=n, edition=edition))
        return kept[key]

    return generate
