"""Runs whose joint validation chooses: `--places auto`."""

import json
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch

from adelic.data.sources import DrawnData
from adelic.errors import ConfigurationError, Interrupted, RunFolderError
from adelic.storage.records import parse_sealed, seal
from adelic_lab import EmbeddingConfig, Experiment, load_recipe, run
from adelic_lab.config.embedding import JOINTS
from adelic_lab.runs.runner import development
from adelic_lab.runs.signals import Stopped
from adelic_lab.train.fitting import build_model
from adelic_lab.train.world import World

RECIPE = {"epochs": 11, "batch_size": 64, "n_layers": 1, "d_model": 8, "learning_rate": 1e-2, "passes": 2}


def experiment(task="conic", *, places="auto", **recipe):
    data = DrawnData(task, 600, test_cases=100, never_seen_cases=50)
    return Experiment(
        data=data,
        model=EmbeddingConfig.of("adelic", places=places, primes=(2, 3, 5), precision=2),
        recipe=load_recipe("fresh", data.row, **RECIPE | recipe),
    )


def figures(result):
    return result.test, result.never_seen, result.validation, result.history


def test_the_best_joint_after_a_tenth_of_the_epochs_is_trained(tmp_path):
    result = run(experiment(), tmp_path / "auto", device="cpu")
    kept = parse_sealed((tmp_path / "auto" / "joint.json").read_bytes())
    assert list(kept) == list(JOINTS)
    for joint in JOINTS:  # what stands there are the first two of eleven epochs of the run with this joint
        alone = run(experiment(places=joint), tmp_path / joint, device="cpu")
        second = json.loads((tmp_path / joint / "metrics.jsonl").read_text().splitlines()[1])["validation"]
        assert (kept[joint]["accuracy"], kept[joint]["loss"]) == (second["accuracy"], second["loss"])
        if joint == result.places:
            assert figures(alone) == figures(result)
    ranks = {joint: (kept[joint]["accuracy"], -kept[joint]["loss"]) for joint in JOINTS}
    assert ranks[result.places] == max(ranks.values())
    assert result.configuration["embedding"]["places"] == "auto"
    assert "--places auto" in result.command
    assert result.seconds > sum(kept[joint]["seconds"] for joint in JOINTS)


def test_the_command_line_says_which_joint_was_chosen(works, tmp_path):
    words = "--examples 300 --test-cases 50 --never-seen-cases 20 --epochs 1 --d-model 8 --n-layers 1 --primes 2,3"
    text = works("train", "squarefree", "--places", "auto", *words.split(), "--precision", 2, "--run-dir", tmp_path)
    places = json.loads((tmp_path / "result.json").read_text())["places"]
    assert f"squarefree by adelic (joint {places}) from 300 examples" in text


def test_of_more_than_two_classes_joints_of_two_are_not_tried(tmp_path):
    result = run(experiment("moebius", epochs=1), tmp_path, device="cpu")
    assert result.places in ("sum", "product")
    assert list(parse_sealed((tmp_path / "joint.json").read_bytes())) == ["sum", "product"]


def test_a_run_goes_on_with_the_joint_that_it_has(tmp_path):
    whole = run(experiment(), tmp_path / "whole", device="cpu")
    folder = tmp_path / "stopped"
    with pytest.raises(Stopped, match="while joint agree was tried"):
        run(experiment(), folder, device="cpu", stop=lambda: True)
    assert not (folder / "joint.json").exists()
    with pytest.raises(Stopped, match="stopped in epoch 1"):
        run(experiment(), folder, device="cpu", stop=(folder / "joint.json").exists)
    written = (folder / "joint.json").stat().st_mtime_ns
    assert figures(run(experiment(), folder, device="cpu")) == figures(whole)
    assert (folder / "joint.json").stat().st_mtime_ns == written


def test_a_network_is_made_without_touching_the_random_numbers_of_others():
    config = experiment(places="sum")
    data, before = development(config), torch.get_rng_state()
    build_model(config, data, data.objective)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_signal_is_heard_where_an_epoch_is_one_step(tmp_path):
    """There is nothing between steps then, and the signal came before the next joint began to listen."""

    def progress(done, steps, text):
        if text.startswith("joint signs"):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match="stopped by SIGTERM while joint signs was tried; nothing is saved yet"):
        run(experiment(batch_size=10**4), tmp_path, device="cpu", progress=progress)


def test_a_signal_to_any_process_is_heard_while_joints_are_tried(tmp_path):
    class Heard(World):
        def gather(self, part):
            return np.append(part, signal.SIGTERM) if part.shape == (1,) else part  # the other process has had it

    with pytest.raises(Interrupted, match="stopped by SIGTERM while joint agree was tried"):
        run(experiment(), tmp_path, device="cpu", world=Heard())


def test_a_choice_without_a_newer_joint_stands(tmp_path):
    """Joints that a version did not have yet were not tried: the best of those that were goes on."""
    with pytest.raises(Stopped):
        run(experiment(), tmp_path, device="cpu", stop=(tmp_path / "joint.json").exists)
    path = tmp_path / "joint.json"
    kept = parse_sealed(path.read_bytes())
    chosen = max(kept, key=lambda joint: (kept[joint]["accuracy"], -kept[joint]["loss"]))
    other = next(joint for joint in reversed(JOINTS) if joint != chosen)
    path.write_text(seal({joint: figure for joint, figure in kept.items() if joint != other}))
    assert run(experiment(), tmp_path, device="cpu").places == chosen


@pytest.mark.parametrize(
    "damage", [lambda text: text.replace("0.", "1.", 1), lambda text: text[:20], lambda _: seal({"agree": 1})]
)
def test_a_damaged_choice_is_refused(tmp_path, damage):
    with pytest.raises(Stopped):
        run(experiment(), tmp_path, device="cpu", stop=(tmp_path / "joint.json").exists)
    path = tmp_path / "joint.json"
    path.write_text(damage(path.read_text()))
    with pytest.raises(RunFolderError, match=r"joint\.json is damaged; --restart"):
        run(experiment(), tmp_path, device="cpu")
    assert run(experiment(), tmp_path, device="cpu", restart=True).places in JOINTS


def test_rows_with_several_targets_have_no_joint(tmp_path):
    from adelic.data.sources import TaskData

    data = TaskData("rsk", 4)
    config = replace(experiment(), data=data, recipe=load_recipe("quick", data.row, epochs=1))
    with pytest.raises(ConfigurationError, match="--places auto is for rows with one class"):
        run(config, tmp_path, device="cpu")
