"""A run that is given more epochs later ends as one that had them from the start, or says why it cannot."""

import pytest

from adelic.errors import RunFolderError
from adelic_lab import EmbeddingConfig, load_recipe, run
from adelic_lab.config.experiment import Experiment

LATER = {"schedule": "constant", "warmup_steps": 3}


@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_more_epochs_end_where_they_would_have_ended(tiny_config, tmp_path, read_folder, checkpoint):
    short, long = (tiny_config(epochs=n, checkpoint=checkpoint, dropout=0.1, **LATER) for n in (2, 4))
    run(short, tmp_path / "extended", device="cpu")
    result = run(long, tmp_path / "extended", device="cpu")
    assert run(long, tmp_path / "straight", device="cpu").test == result.test
    assert read_folder(tmp_path / "extended") == read_folder(tmp_path / "straight")
    assert (tmp_path / "extended" / "config.toml").read_text() == long.to_toml()
    assert run(long, tmp_path / "extended", device="cpu") == result
    with pytest.raises(RunFolderError, match=r"another configuration: recipe\.epochs is 4 there and 2 here"):
        run(short, tmp_path / "extended", device="cpu")


@pytest.mark.parametrize("left", [("DONE",), ("DONE", "config.toml"), ("DONE", "result.json")])
def test_a_kill_while_a_run_is_extended(tiny_config, tmp_path, read_folder, left):
    """Without DONE, with the configuration of either run, with a result of the shorter one or without."""
    short, long = (tiny_config(epochs=n, **LATER) for n in (1, 2))
    folder = tmp_path / "extended"
    run(short, folder, device="cpu")
    for name in left:
        (folder / name).unlink()
    if "config.toml" in left:
        (folder / "config.toml").write_text(long.to_toml())
    run(long, folder, device="cpu")
    run(long, tmp_path / "straight", device="cpu")
    assert read_folder(folder) == read_folder(tmp_path / "straight")


@pytest.mark.parametrize(
    ("recipe", "seed", "reason"),
    [
        ({}, 0, r"1 epoch, .* over all epochs \(with schedule=constant it does not\); use another --run-dir"),
        (LATER, 1, "another configuration: recipe.epochs|another configuration: seed"),
    ],
)
def test_what_cannot_go_on_says_so_and_leaves_the_run(tiny_config, tmp_path, recipe, seed, reason):
    short = tiny_config(epochs=1, **recipe)
    result = run(short, tmp_path / "run", device="cpu")
    with pytest.raises(RunFolderError, match=reason):
        run(tiny_config(epochs=2, seed=seed, **recipe), tmp_path / "run", device="cpu")
    assert run(short, tmp_path / "run", device="cpu") == result


def test_a_run_whose_checkpoint_was_pruned_keeps_its_result(tiny_config, tmp_path):
    short, long = (tiny_config(epochs=n, **LATER) for n in (1, 2))
    result = run(short, tmp_path / "run", device="cpu")
    (tmp_path / "run" / "checkpoint.safetensors").unlink()
    with pytest.raises(RunFolderError, match="no checkpoint any more"):
        run(long, tmp_path / "run", device="cpu")
    assert run(short, tmp_path / "run", device="cpu") == result


def test_questions_and_chosen_joints_need_all_epochs(tiny_config):
    from adelic.data import source

    recipe = load_recipe("fresh", "gcd", schedule="constant")
    drawn = Experiment(data=source("gcd", examples=1000), model=EmbeddingConfig.of("adelic"), recipe=recipe)
    assert drawn.needs_all_epochs == "the epochs share the questions"
    assert tiny_config(**LATER).needs_all_epochs is None
