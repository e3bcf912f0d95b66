import math
from dataclasses import replace

import pytest
import torch

from adelic.errors import ConfigurationError, UnknownNameError
from adelic_lab import TrainConfig, load_recipe, published_rows, recipe_names

# The paper, appendix "Training Details", table of hyperparameters: learning rate and epochs of each row. The sizes of
# quiver and Grassmannian are those of the data set, the paper names none.
PAPER = {
    ("lattice", 10): (7.7e-5, 100),
    ("lattice", 11): (1e-3, 100),
    ("lattice", 12): (1e-3, 20),
    ("weaving", 6): (2e-5, 100),
    ("weaving", 7): (1e-4, 100),
    ("quiver", 11): (8.8e-5, 100),
    ("grassmannian", 12): (6e-5, 100),
    ("schubert", 4): (1.7e-5, 200),
    ("schubert", 5): (8e-5, 100),
    ("schubert", 6): (5e-5, 50),
    ("mheight", 8): (3e-4, 100),
    ("mheight", 9): (6e-4, 100),
    ("mheight", 10): (7.3e-5, 30),
}


def recipe(**changes):
    return TrainConfig(**{"name": "mine", "learning_rate": 1e-3, "epochs": 10} | changes)


@pytest.mark.parametrize(("task", "n"), list(PAPER))
def test_the_papers_table(task, n):
    found = load_recipe("paper", f"{task}-{n}")
    assert (found.learning_rate, found.epochs) == PAPER[task, n]
    assert found.name == "paper"
    assert found.batch_size == 2048
    assert found.schedule == "cosine"
    assert found.warmup_steps == 0
    assert found.sampling_power == 0.5
    assert found.norm == "post"
    assert (found.d_model, found.n_layers, found.n_heads, found.d_feedforward) == (128, 6, 8, 512)
    assert found.dropout == 0.1


def test_the_table_is_complete():
    assert [f"{task}-{n}" for task, n in PAPER] == list(published_rows())


def test_the_quick_recipe_is_one_for_all_rows():
    found = {load_recipe("quick", f"{task}-{n}") for task, n in PAPER} | {load_recipe("quick", "mheight-5")}
    assert len(found) == 1
    assert recipe_names() == ("paper", "quick", "compact", "natural", "fresh")


def test_natural_is_compact_with_rows_as_they_occur():
    for row in ("schubert-4", "weaving-6", "mheight-8", "mheight-10", "quiver-11", "mine"):
        compact = load_recipe("compact", row)
        assert load_recipe("natural", row) == replace(compact, name="natural", sampling_power=0.0)
    assert (load_recipe("natural", "schubert-6").epochs, load_recipe("natural", "schubert-6").batch_size) == (4, 512)


@pytest.mark.parametrize("epochs", [1, 2, 7, 100])
def test_cosine_is_torchs(epochs):
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.Adam([parameter], lr=3e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    ours = recipe(learning_rate=3e-4, epochs=epochs)
    for epoch in range(epochs):
        assert math.isclose(ours.learning_rate_at(epoch, epoch * 5), optimizer.param_groups[0]["lr"], rel_tol=1e-9)
        optimizer.step()
        scheduler.step()


def test_warm_up():
    ours = recipe(learning_rate=1.0, schedule="constant", warmup_steps=4)
    rates = [ours.learning_rate_at(step // 3, step) for step in range(8)]
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0, 1.0])
    falling = recipe(learning_rate=1.0, warmup_steps=4, epochs=4)
    assert falling.learning_rate_at(2, 1) == pytest.approx(0.4 * 0.5)
    assert falling.learning_rate_at(2, 30) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "changes",
    [
        {"learning_rate": 0.0},
        {"learning_rate": -1e-3},
        {"learning_rate": math.nan},
        {"learning_rate": math.inf},
        {"epochs": 0},
        {"epochs": -5},
        {"epochs": 1.5},
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"warmup_steps": -1},
        {"schedule": "linear"},
        {"norm": "middle"},
        {"compute": "float16"},
        {"d_model": 0},
        {"n_layers": 0},
        {"n_heads": 0},
        {"d_feedforward": 0},
        {"dropout": 1.0},
        {"dropout": -0.1},
        {"dropout": math.nan},
        {"sampling_power": math.nan},
        {"sampling_power": math.inf},
    ],
    ids=str,
)
def test_bad_values(changes):
    with pytest.raises((ConfigurationError, UnknownNameError)) as caught:
        recipe(**changes)
    (name,) = changes
    assert name.replace("_", "-") in str(caught.value).replace("_", "-")


@pytest.mark.parametrize(
    ("name", "value", "most"),
    [
        ("epochs", 10**9, "1 to 1,000,000"),
        ("n_layers", 10**6, "1 to 10,000"),
        ("d_model", 10**6, "1 to 65,536"),
        ("n_heads", 10**6, "1 to 65,536"),
        ("d_feedforward", 10**9, "1 to 1,048,576"),
        ("batch_size", 10**21, "1 to 1,000,000,000"),
        ("max_rows", 10**21, "1 to 1,000,000,000"),
        ("warmup_steps", 10**4000, "0 to 1,000,000,000"),
        ("sampling_power", 1e6, "-10 to 10"),
    ],
)
def test_nothing_is_unbounded(name, value, most):
    with pytest.raises(ConfigurationError, match=rf"^{name.replace('_', '-')}=.* {most}$"):
        load_recipe("quick", "schubert-4", **{name: value})


def test_changes_override_and_none_does_not():
    found = load_recipe("paper", "schubert-4", epochs=3, learning_rate=None, batch_size=64)
    assert (found.epochs, found.learning_rate, found.batch_size) == (3, 1.7e-5, 64)


def test_unknown_recipe():
    with pytest.raises(UnknownNameError, match=r"unknown recipe 'papr'.*did you mean 'paper'"):
        load_recipe("papr", "schubert-4")


def test_a_row_without_a_recipe():
    with pytest.raises(ConfigurationError, match=r"schubert-3.*--learning-rate, --epochs"):
        load_recipe("paper", "schubert-3")
    with pytest.raises(ConfigurationError, match="pass --learning-rate"):
        load_recipe("paper", "schubert-3", epochs=2)
    assert load_recipe("paper", "schubert-3", epochs=2, learning_rate=1e-3).batch_size == 2048
