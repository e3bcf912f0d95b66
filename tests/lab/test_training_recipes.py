import math
from dataclasses import replace

import pytest
import torch

from adelic.errors import ConfigurationError, UnknownNameError
from adelic_lab import TrainConfig, load_recipe, published_rows, recipe_names


def recipe(**changes):
    return TrainConfig(**{"name": "mine", "learning_rate": 1e-3, "epochs": 10} | changes)


def test_the_papers_table(oracle):
    plain = TrainConfig(name="paper", learning_rate=1.0, epochs=1, batch_size=2048, norm="post", dropout=0.1)
    assert (plain.schedule, plain.warmup_steps, plain.sampling_power) == ("cosine", 0, 0.5)
    assert (plain.d_model, plain.n_layers, plain.n_heads, plain.d_feedforward) == (128, 6, 8, 512)
    for row, its in oracle("published_tables").items():
        about = {name: its[name] for name in ("learning_rate", "epochs")}
        assert load_recipe("paper", row) == replace(plain, **about)


def test_the_quick_recipe_is_one_for_all_rows():
    assert len({load_recipe("quick", row) for row in (*published_rows(), "mheight-5")}) == 1
    assert recipe_names() == ("paper", "quick", "compact", "natural", "fresh", "table")


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


BAD = {
    "learning_rate": (0.0, -1e-3, math.nan, math.inf),
    "epochs": (0, -5, 1.5),
    "batch_size": (0, 2.5),
    "warmup_steps": (-1,),
    "schedule": ("linear",),
    "norm": ("middle",),
    "compute": ("float16",),
    **dict.fromkeys(("d_model", "n_layers", "n_heads", "d_feedforward"), (0,)),
    "dropout": (1.0, -0.1, math.nan),
    "sampling_power": (math.nan, math.inf),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_values(name, value):
    with pytest.raises((ConfigurationError, UnknownNameError)) as caught:
        recipe(**{name: value})
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


def test_unknown_recipe():
    with pytest.raises(UnknownNameError, match=r"unknown recipe 'papr'.*did you mean 'paper'"):
        load_recipe("papr", "schubert-4")


def test_a_row_without_a_recipe():
    with pytest.raises(ConfigurationError, match=r"schubert-3.*--learning-rate, --epochs"):
        load_recipe("paper", "schubert-3")
    with pytest.raises(ConfigurationError, match="pass --learning-rate"):
        load_recipe("paper", "schubert-3", epochs=2)
    assert load_recipe("paper", "schubert-3", epochs=2, learning_rate=1e-3).batch_size == 2048
