import hashlib
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adelic import acd
from adelic.data import LookUp, training_rows
from adelic.errors import AdelicError, ConfigurationError, DivergenceError, RunBusyError, RunFolderError, StorageError
from adelic.storage.files import sole_user
from adelic_lab import read_result, run
from adelic_lab.models import network
from adelic_lab.report.statistics import right_rows
from adelic_lab.runs import folders

FILES = {"config.toml", "metrics.jsonl", "checkpoint.safetensors", "result.json", "DONE"}
CONTRACT = (
    "task", "n", "edition", "embedding", "features", "recipe", "seed", "test", "majority", "parameters", "seconds",
    "device", "versions", "commit", "command", "split", "contaminated", "lookup", "class_names", "labels",
    "predictions",
)  # fmt: skip


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_the_files_of_a_run(finished):
    config, folder, result = finished
    assert names(folder) == FILES
    assert json.loads((folder / "result.json").read_text()) == result.as_dict()
    assert read_result(folder) == result
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    for line in lines:
        assert line.keys() == {"epoch", "learning_rate", "train_loss", "validation"}
        assert line["validation"].keys() == {"accuracy", "balanced_accuracy", "macro_f1", "loss", "calibration_error"}
    assert (folder / "config.toml").read_text(encoding="utf-8") == config.to_toml()


def test_todays_command_also_says_what_the_recipe_said_then(tiny_config, tmp_path):
    result = run(tiny_config("learned", epochs=1), tmp_path / "run", device="cpu")
    assert result.todays_command() == result.command
    then = dict(result.configuration["recipe"]) | {"sampling_power": 0.0}
    older = replace(result, configuration=dict(result.configuration) | {"recipe": then})
    assert older.todays_command() == result.command + " --sampling-power 0.0"
    already = replace(older, command=older.todays_command())
    assert already.todays_command() == older.todays_command()
    assert replace(older, recipe="of-no-package").todays_command() == result.command
    as_configured = "adelic_lab.run, with the configuration that stands in this result"
    assert replace(older, command=as_configured).todays_command() == as_configured


@pytest.mark.parametrize(("embedding", "features"), [("learned", None), ("adelic", "digits")])
def test_the_result_holds_the_contract(tiny_config, tmp_path, embedding, features):
    result = run(tiny_config(embedding, seed=2, edition="levels", task="weaving", n=5), tmp_path / "run", device="cpu")
    found = result.as_dict()
    assert set(CONTRACT) <= found.keys()
    about = {"task": "weaving", "n": 5, "edition": "levels", "seed": 2, "recipe": "quick"}
    assert found.items() >= (about | {"embedding": embedding, "features": features}).items()
    assert result.test.keys() == {"accuracy", "balanced_accuracy", "macro_f1", "loss", "calibration_error"}
    assert all(type(value) is float and math.isfinite(value) for value in result.test.values())
    assert (result.parameters > 1000, result.seconds > 0, result.device[:3]) == (True, True, "cpu")
    assert result.versions.keys() >= {"adelic", "python", "torch", "numpy"}
    assert result.command.startswith("adelic")
    curve, best = result.history["validation_accuracy"], result.validation
    assert len(curve) == 3
    assert curve[best["epoch"] - 1] == pytest.approx(best["accuracy"], abs=1e-6)


def test_equal_seeds_equal_runs(tiny_config, finished, tmp_path, read_folder):
    torch.manual_seed(1234)
    again = tmp_path / "again"
    run(tiny_config(), again, device="cpu")
    assert read_folder(again) == read_folder(finished[1])
    other = tmp_path / "other"
    run(tiny_config(seed=1), other, device="cpu")
    assert read_folder(other)[0] != read_folder(finished[1])[0]


@pytest.mark.parametrize(
    ("task", "n", "split"), [("schubert", 3, "published"), ("schubert", 3, "orbits"), ("lattice", 6, "published")]
)
def test_seeds_draw_other_parts(tiny_config, tmp_path, task, n, split):
    """But of lattice paths, whose published test rows are known, other validation rows alone."""
    found = {}
    for seed in (0, 1):
        config = tiny_config(task=task, n=n, seed=seed, split=split, epochs=1)
        result = run(config, tmp_path / f"run {seed}", device="cpu")
        data = acd.load(task, n=n, split=split, seed=seed)
        assert result.data_sha256 == data.provenance["sha256"]
        assert result.split == result.configuration["data"]["split"] == split
        np.testing.assert_array_equal(result.answers()[0], data.y_test)
        found[result.data_sha256] = [set(map(tuple, X.tolist())) for X in (data.X_test, data.X_validation)]
    first, other = found.values()  # two of them, by the sums of the data
    assert (first[0] == other[0]) == (task == "lattice")
    assert first[1] != other[1]


@pytest.mark.parametrize(
    ("task", "n", "split"),
    [("schubert", 3, "published"), ("schubert", 3, "orbits"), ("mheight", 6, "published"), ("weaving", 4, "published")],
)
def test_predictions_are_kept_and_can_be_recounted(tiny_config, tmp_path, task, n, split):
    result = run(tiny_config(task=task, n=n, split=split), tmp_path / "run", device="cpu")
    names, data = result.class_names, acd.load(task, n=n, split=split)
    assert names == list(data.class_names)
    labels, predictions = result.answers()
    np.testing.assert_array_equal(labels, data.y_test)
    assert np.mean(labels == predictions) == result.test["accuracy"]
    confusion = np.bincount(len(names) * labels + predictions, minlength=len(names) ** 2)
    np.testing.assert_array_equal(confusion.reshape(len(names), -1), result.confusion)
    memory = LookUp(data.X_train, data.y_train)
    assert result.lookup == np.mean(memory.predict(data.X_test) == data.y_test)
    assert result.majority == np.mean(np.bincount(data.y_train).argmax() == data.y_test)
    assert result.contaminated is False


def test_look_up_knows_the_images_that_were_trained_on(tiny_config, tmp_path):
    result = run(tiny_config(n=4, split="orbits", symmetries=True, epochs=1), tmp_path / "run", device="cpu")
    data = acd.load("schubert", n=4, split="orbits")
    X, y = training_rows(data, symmetries=True)
    memory = LookUp(np.concatenate(X), np.concatenate(y))
    assert result.lookup == np.mean(memory.predict(data.X_test) == data.y_test)


@pytest.mark.parametrize(
    ("task", "n", "rate"), [("rsk", 4, "exact_match"), ("kl", 4, "exact_match"), ("characters", 5, "accuracy")]
)
def test_predictions_of_several_targets_and_of_numbers_are_kept(tiny_config, tmp_path, task, n, rate):
    result = run(tiny_config(task=task, n=n, epochs=1, max_rows=16), tmp_path / "run", device="cpu")
    assert result.lookup == result.majority
    labels, predictions = result.answers()
    assert predictions.shape == labels.shape
    np.testing.assert_array_equal(labels, acd.load(task, n=n).y_test)
    assert right_rows(result).mean() == pytest.approx(result.test[rate])
    assert np.mean(labels == predictions) == pytest.approx(result.test["accuracy"])


def test_a_leaky_edition_is_called_so(tiny_config, tmp_path):
    for edition, contaminated in (("published", False), ("leaky", True)):
        config = tiny_config(task="weaving", n=6, edition=edition, epochs=1, max_rows=64)
        assert run(config, tmp_path / edition, device="cpu").contaminated is contaminated


@pytest.mark.parametrize("learning_rate", [5e-3, 1e30])
def test_the_global_generators_are_left_alone(tiny_config, tmp_path, learning_rate):
    torch.manual_seed(7)
    before, numpys = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    try:
        run(tiny_config(learning_rate=learning_rate), tmp_path / "run", device="cpu")
    except DivergenceError:
        assert learning_rate == 1e30
    assert torch.equal(torch.random.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], numpys)  # noqa: NPY002


def test_the_test_split_is_touched_once(tiny_config, tmp_path, monkeypatch):
    import adelic_lab.train.loop as loop_module

    seen = []
    plain = loop_module.evaluate

    def counting(model, split, **options):
        seen.append(len(split))
        return plain(model, split, **options)

    monkeypatch.setattr(loop_module, "evaluate", counting)
    result = run(tiny_config(epochs=4), tmp_path / "run", device="cpu")
    rows = result.rows
    assert len(set(rows.values())) == 3
    assert seen == [rows["validation"]] * 4 + [rows["test"]]


def test_a_finished_run_costs_a_read(finished, monkeypatch):
    config, folder, result = finished

    def refuse(*args, **kwargs):
        raise AssertionError("a finished run trains again")

    monkeypatch.setattr(network, "Trainer", refuse)
    monkeypatch.setattr("adelic.data.sources.load", refuse)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert run(config, folder, device="cpu") == result
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_restart_trains_anew(tiny_config, finished, read_folder):
    config, folder, _ = finished
    before = read_folder(folder)
    (folder / "result.json").write_text("{}")
    run(config, folder, device="cpu", restart=True)
    assert read_folder(folder) == before
    result = run(tiny_config(seed=1), folder, device="cpu", restart=True)
    assert result.seed == 1
    assert names(folder) == FILES


def test_a_run_of_another_process_is_left_alone(tiny_config, tmp_path, finished, read_folder):
    config, folder, result = finished
    before = read_folder(folder)
    with sole_user(folder):
        with pytest.raises(RunBusyError, match="another process is at work in"):
            run(config, folder, device="cpu", restart=True)
        assert run(config, folder, device="cpu") == result  # reading needs no other to be away
    assert read_folder(folder) == before
    new = tmp_path / "new"
    with sole_user(new), pytest.raises(RunBusyError):
        run(config, new, device="cpu")
    assert not new.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"learning_rate": 1e-4}, "recipe.learning_rate is 0.005 there and 0.0001 here"),
        ({"epochs": 5}, "3 epochs, from where it cannot go on to 5: with schedule=cosine"),
        ({"split": "orbits"}, "data.split is 'published' there and 'orbits' here"),
        ({"task": "weaving", "n": 4}, "data.task"),
        ({"embedding": "adelic"}, "embedding.name is 'learned' there and 'adelic' here"),
        ({"dropout": 0.2}, "recipe.dropout"),
    ],
    ids=str,
)
def test_another_configuration_is_refused(tiny_config, finished, changes, field):
    _, folder, _ = finished
    before = (folder / "config.toml").read_bytes()
    with pytest.raises(RunFolderError) as caught:
        run(tiny_config(**changes), folder, device="cpu")
    message = str(caught.value)
    assert field in message
    assert str(folder) in message
    assert "--restart" in message
    assert names(folder) == FILES
    assert (folder / "config.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.toml", b"seed = "),
        ("config.toml", b"\xff\xfe\x00"),
        ("config.toml", None),
        ("checkpoint.safetensors", b""),
        ("checkpoint.safetensors", b"garbage"),
        ("metrics.jsonl", b""),
        ("metrics.jsonl", b"garbage\n" * 3),
        ("metrics.jsonl", b"\xff\xff\n" * 3),
        ("metrics.jsonl", b"[]\n" * 3),
        ("metrics.jsonl", None),
    ],
    ids=str,
)
def test_a_damaged_folder_is_named_and_restarts(finished, read_folder, name, content):
    """content None: a folder stands in the file's place."""
    config, folder, _ = finished
    before = read_folder(folder)
    for done in ("DONE", "result.json"):
        (folder / done).unlink()
    path = folder / name
    path.unlink()
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises((RunFolderError, StorageError)) as caught:
        run(config, folder, device="cpu")
    assert name in str(caught.value)
    if content is not None:
        run(config, folder, device="cpu", restart=True)
        assert read_folder(folder) == before


def flip(path, before):
    """Flip the lowest bit of the last digit before some text."""
    content = path.read_bytes()
    place = next(i for i in range(content.index(before) - 1, -1, -1) if content[i : i + 1].isdigit())
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])


def test_done_lists_what_the_folder_holds(finished):
    """As `sha256sum -c DONE` reads it."""
    folder = finished[1]
    names = ["config.toml", "metrics.jsonl", "result.json"]
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    assert (folder / "DONE").read_text() == "".join(lines)


@pytest.mark.parametrize("name", ["result.json", "metrics.jsonl", "DONE"])
def test_a_damaged_finished_run_is_judged_once_more_without_done(finished, read_folder, name):
    """As the message advises; of damaged metrics the checkpoint has a SHA-256, too, so that they must be put back."""
    config, folder, result = finished
    expected, content = read_folder(folder), (folder / name).read_bytes()
    flip(folder / name, {"result.json": b'"majority"', "metrics.jsonl": b"}", "DONE": b"  result.json"}[name])
    with pytest.raises(RunFolderError, match=r"its SHA-256 is not the one in DONE; --restart begins"):
        run(config, folder, device="cpu")
    if name == "metrics.jsonl":
        (folder / name).write_bytes(content)
    (folder / "DONE").unlink()
    assert run(config, folder, device="cpu") == result
    assert read_folder(folder) == expected


@pytest.mark.parametrize("name", sorted(FILES))
def test_any_flipped_bit_of_a_finished_run_is_found_or_changes_nothing(finished, name):
    config, folder, result = finished
    content = (folder / name).read_bytes()
    for place in range(0, len(content), max(1, len(content) // 20)):
        for bit in (1, 32):
            (folder / name).write_bytes(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :])
            if name == "checkpoint.safetensors":  # which a result does not need
                assert run(config, folder, device="cpu") == result
            else:
                with pytest.raises(AdelicError, match=r"\A.+\Z"):  # in one line
                    run(config, folder, device="cpu")
            assert folders.summary(folder).result in (None, result)


def test_a_flipped_bit_of_an_unfinished_runs_metrics_is_found(finished):
    config, folder, _ = finished
    for done in ("DONE", "result.json"):
        (folder / done).unlink()
    flip(folder / "metrics.jsonl", b"}")
    assert "SHA-256" in folders.summary(folder).problem
    with pytest.raises(RunFolderError, match=r"SHA-256.*; --restart begins this run anew"):
        run(config, folder, device="cpu")


def test_a_folder_without_configuration(finished):
    config, folder, _ = finished
    (folder / "config.toml").unlink()
    with pytest.raises(RunFolderError, match=r"no config\.toml"):
        run(config, folder, device="cpu")


@pytest.mark.parametrize("folder", ["file/run", "file", "a" * 300])
@pytest.mark.parametrize("restart", [False, True])
def test_an_unwritable_folder_is_noticed_before_training(tiny_config, tmp_path, monkeypatch, folder, restart):
    def refuse(*args, **kwargs):
        raise AssertionError("it trains before it knows that it can write")

    (tmp_path / "file").write_text("")
    monkeypatch.setattr(network.Trainer, "run_epoch", refuse)
    with pytest.raises(StorageError):
        run(tiny_config(), tmp_path / folder, device="cpu", restart=restart)


@pytest.mark.parametrize(
    "device", ["", "gpu", "potato", "cuda:x", "cuda:99", "cpu:-1", "xla", "hpu", "privateuseone", "meta", "mps"]
)
def test_devices_that_are_not_here(tiny_config, tmp_path, device):
    if device == "mps" and torch.backends.mps.is_available():
        pytest.skip("there is one here")
    with pytest.raises(ConfigurationError, match=f"device '{device}' cannot be used here") as caught:
        run(tiny_config(), tmp_path / "run", device=device)
    assert len(str(caught.value)) < 300
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu(tiny_config, tmp_path):
    assert not run(tiny_config("adelic"), tmp_path / "run", device="auto").device.startswith("cpu")


def test_data_without_a_validation_row(tiny_config, tmp_path):
    with pytest.raises(AdelicError, match="validation"):
        run(tiny_config(task="weaving", n=3), tmp_path / "run", device="cpu")


def test_more_classes_than_the_validation_split_has(tiny_config, tmp_path):
    result = run(tiny_config(task="mheight", n=6), tmp_path / "run", device="cpu")
    assert np.array(result.confusion).shape == (3, 3)
