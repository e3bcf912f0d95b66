import json
import os
import sys

import pytest

from adelic.errors import Interrupted, MissingExtraError, StorageError
from adelic_lab import run
from adelic_lab.train.tensorboard import TensorBoardLog

pytest.importorskip("tensorboard")


def scalars(folder):
    """Return {tag: [(step, value), …]} as TensorBoard's own reader finds it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder / "tensorboard")).Reload()
    return {tag: [(event.step, event.value) for event in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


def expected(folder):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    wanted = {
        "learning_rate": [line["learning_rate"] for line in lines],
        "loss/train": [line["train_loss"] for line in lines],
    }
    for name in ("accuracy", "balanced_accuracy", "macro_f1", "loss", "calibration_error"):
        wanted[f"{name}/validation"] = [line["validation"][name] for line in lines]
    return {tag: [(i + 1, pytest.approx(v, rel=1e-6)) for i, v in enumerate(values)] for tag, values in wanted.items()}


def test_the_log_is_the_metrics(tiny_config, tmp_path, finished, read_folder):
    run(tiny_config(), tmp_path / "run", device="cpu", tensorboard=True)
    assert scalars(tmp_path / "run") == expected(tmp_path / "run")
    assert read_folder(tmp_path / "run") == read_folder(finished[1])


def test_no_step_is_double_or_missing_after_resuming(raising, tiny_config, tmp_path):
    """Stopped inside an epoch, then resumed without logs, stopped again, and resumed with logs."""
    config, folder = tiny_config(epochs=4), tmp_path / "run"
    for step, tensorboard in ((6, True), (8, False), (11, True)):
        with pytest.raises(Interrupted):
            run(config, folder, device="cpu", progress=raising(step), tensorboard=tensorboard)
    assert scalars(folder) == expected(folder)
    run(config, folder, device="cpu", tensorboard=True)
    assert scalars(folder) == expected(folder)
    assert len(scalars(folder)["loss/train"]) == 4
    assert len(list((folder / "tensorboard").iterdir())) == 1


def test_a_finished_run_gets_its_log(finished):
    config, folder, result = finished
    assert run(config, folder, device="cpu", tensorboard=True) == result
    assert scalars(folder) == expected(folder)
    (log,) = (folder / "tensorboard").iterdir()
    before = log.stat().st_mtime_ns
    run(config, folder, device="cpu", tensorboard=True)
    assert log.stat().st_mtime_ns == before


def test_restart_deletes_the_log(tiny_config, tmp_path):

    folder = tmp_path / "run"
    run(tiny_config(), folder, device="cpu", tensorboard=True)
    run(tiny_config(), folder, device="cpu", restart=True)
    assert list((folder / "tensorboard").iterdir()) == []


def test_a_log_that_cannot_be_written(tiny_config, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "tensorboard").write_text("a file in the folder's place")
    with pytest.raises(StorageError, match="tensorboard"):
        run(tiny_config(), folder, device="cpu", tensorboard=True)


def test_without_the_library(tiny_config, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)  # as if it were not installed
    with pytest.raises(MissingExtraError, match=r"pip install './lab\[tensorboard\]'"):
        run(tiny_config(), tmp_path / "run", device="cpu", tensorboard=True)
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_no_utf_8_is_refused(tmp_path):
    folder = tmp_path / os.fsdecode(b"\xff")
    with pytest.raises(StorageError, match=r"cannot write in a folder whose name is not UTF-8, as '.*\\udcff'$"):
        TensorBoardLog(folder, [], "")
    assert not folder.exists()
