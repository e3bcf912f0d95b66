"""One class, several classes, a number: losses, figures, whole runs."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, f1_score
from torch.nn import functional

from adelic import acd
from adelic.errors import DivergenceError, RunFolderError
from adelic.nn import AdelicPrediction
from adelic_lab import EmbeddingConfig, read_result, run
from adelic_lab.models.network import begin
from adelic_lab.results.result import Result
from adelic_lab.train.data import TrainValidation, training_subset
from adelic_lab.train.objectives import OneClass, OneNumber, SeveralClasses, make_objective
from adelic_lab.train.signals import Stopped

SMALL = {"kl": ("kl", 4), "rsk": ("rsk", 5), "characters": ("characters", 6)}


@pytest.fixture(params=SMALL)
def small(request, tiny_config):
    """Return configurations of very small runs of one of the three tasks."""
    task, n = SMALL[request.param]
    return lambda embedding="adelic", **changes: tiny_config(embedding, task=task, n=n, **changes)


def targets_of(*, train, validation=(), test=(), class_names=None):
    ys = {"y_train": train, "y_validation": validation, "y_test": test}
    return SimpleNamespace(class_names=class_names, **{name: np.array(y, np.int8) for name, y in ys.items()})


def test_what_the_tasks_are():
    assert make_objective(acd.load("kl", n=4)) == SeveralClasses((2, 2, 1))
    assert make_objective(acd.load("rsk", n=5)) == SeveralClasses((2,) * 10)
    assert make_objective(acd.load("characters", n=6)) == OneNumber(16, unit=2.0)
    assert make_objective(acd.load("schubert", n=3)) == OneClass(2)


def test_a_rare_class_counts_wherever_it_is():
    assert make_objective(targets_of(train=[[0, 1]], validation=[[2, 0]], test=[[0, 3]])) == SeveralClasses((3, 4))
    assert make_objective(targets_of(train=[1], validation=[-9], test=[5])) == OneNumber(9)
    assert make_objective(targets_of(train=[[0, 1]])) == SeveralClasses((1, 2))


@pytest.mark.parametrize(
    ("train", "unit"), [([0, 0, 0], 1), ([1, -1, 0], 1), ([3, -3], 4), ([6, -6], 8), ([0] * 63 + [120], 16), ([], 1)]
)
def test_the_unit_is_the_root_mean_square_of_the_training_rows(train, unit):
    assert make_objective(targets_of(train=train, test=[100])).unit == unit


@pytest.mark.parametrize(("said", "expected"), [([1, 1, 1], True), ([0, 1, 1], False)])
def test_a_model_that_predicts_one_class_is_flagged(said, expected):
    found = OneClass(2).result(np.array([0, 1, 1]), np.array([0, 1, 0]), np.array(said))
    assert found["predicts_one_class"] is expected
    assert found["majority"] == pytest.approx(1 / 3)


def random_rows(n_classes, rows=40):
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(0, count, rows) for count in n_classes], axis=1)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_loss_of_several_targets(reduction):
    counts = (2, 4, 1)
    labels = torch.from_numpy(random_rows(counts))
    logits = torch.full((40, 3, 4), -math.inf)
    for target, count in enumerate(counts):
        logits[:, target, :count] = torch.randn(40, count, generator=torch.Generator().manual_seed(target))
    rows = sum(functional.cross_entropy(logits[:, t, :c], labels[:, t], reduction="none") for t, c in enumerate(counts))
    found = SeveralClasses(counts).loss(logits, labels, reduction=reduction)
    assert torch.allclose(found, getattr(rows / 3, reduction)())


def test_figures_of_several_targets_by_brute_force():
    counts = (2, 4, 3)
    labels, predictions = random_rows(counts), np.roll(random_rows(counts), 1, axis=0)
    predictions[::3] = labels[::3]
    found = SeveralClasses(counts).figures(labels, predictions, 0.5)
    columns = list(zip(labels.T, predictions.T, strict=True))
    assert found == pytest.approx(
        {
            "accuracy": sum(a == b for row in zip(labels, predictions, strict=True) for a, b in zip(*row, strict=True))
            / labels.size,
            "balanced_accuracy": np.mean([balanced_accuracy_score(a, b) for a, b in columns]),
            "macro_f1": np.mean([f1_score(a, b, average="macro") for a, b in columns]),
            "exact_match": sum(list(a) == list(b) for a, b in zip(labels, predictions, strict=True)) / 40,
            "loss": 0.5,
        }
    )


def test_the_trivial_rule_and_each_target():
    train = np.array([[0, 1], [0, 2], [1, 2]])
    labels, predictions = np.array([[0, 2], [0, 1], [1, 2], [1, 0]]), np.array([[0, 2], [1, 1], [1, 1], [1, 0]])
    found = SeveralClasses((2, 3)).result(train, labels, predictions)  # the rule says (0, 2)
    assert found["majority"] == found["guess"]["accuracy"] == 0.5
    assert found["guess"]["exact_match"] == 0.25
    assert not found["predicts_one_class"]
    assert SeveralClasses((2, 3)).result(train, labels, np.ones_like(predictions))["predicts_one_class"]
    first, second = found["targets"]
    assert (first["accuracy"], first["majority"], first["confusion"]) == (0.75, 0.5, [[1, 1], [0, 2]])
    assert (second["accuracy"], second["majority"]) == (0.75, 0.5)
    assert np.sum(second["confusion"]) == 4


def prediction_of(objective, numbers, *, sure=20.0):
    """Return the prediction that a perfect model makes of numbers, as logits and real values."""
    digits = torch.tensor([[[n % p] for p in objective.space.primes] for n in numbers])
    is_digit = torch.arange(max(objective.space.primes)) < torch.tensor(objective.space.primes)[:, None, None]
    logits = torch.where(is_digit, 0.0, -math.inf).repeat(len(numbers), 1, 1, 1)
    logits.scatter_(-1, digits[..., None], sure)
    return AdelicPrediction(torch.asinh(torch.tensor(numbers, dtype=torch.float64)).float(), logits)


def test_numbers_are_decoded_and_mended():
    objective, numbers = OneNumber(1000), [0, -1, 1000, -1000, 271]
    prediction = prediction_of(objective, numbers)
    prediction.logits[1, 3] = prediction.logits[0, 3] / 10  # wrong modulo 7, and not sure of it
    assert objective.predictions(prediction).tolist() == [[number, 1] for number in numbers]
    loss = objective.loss(prediction, torch.tensor(numbers), reduction="mean")
    assert torch.allclose(objective.loss(prediction, torch.tensor(numbers), reduction="sum"), 5 * loss)
    right = [0, 2, 3, 4]
    perfect = AdelicPrediction(*(part[right] for part in prediction))
    assert objective.loss(perfect, torch.tensor([numbers[i] for i in right]), reduction="mean") < 1e-3 < loss


@pytest.mark.parametrize("unit", [1.0, 16.0])
def test_digits_that_say_nothing_leave_the_real_value(unit):
    objective = OneNumber(1000, unit)
    noise = prediction_of(objective, [3, 5, 7]).logits.where(prediction_of(objective, [3]).logits == -math.inf, 0.0)
    noise[..., 0, 0] += 1e-3 * torch.arange(3)[:, None]  # no ties
    noise = torch.where(noise == -math.inf, noise, torch.randn(noise.shape, generator=torch.Generator().manual_seed(1)))
    real = torch.asinh(torch.tensor([40.3, -2.6, 1e9]) / unit)
    assert objective.predictions(AdelicPrediction(real, noise)).tolist() == [[40, 0], [-3, 0], [1000, 0]]


def test_digits_that_the_real_value_contradicts_do_not_count():
    """A great number whose digits were sure of 0 was half of a squared error."""
    objective = OneNumber(10**6, unit=1024.0)
    logits = prediction_of(objective, [0, 0, 5000, 5000]).logits
    real = torch.asinh(torch.tensor([0.4, 900_000.0, 4000.0, -4000.0]) / 1024)
    assert objective.predictions(AdelicPrediction(real, logits)).tolist() == [
        [0, 1],
        [900_000, 0],
        [5000, 1],
        [-4000, 0],
    ]


def test_a_model_that_has_diverged_is_told_by_its_loss_and_by_nothing_else(small, tmp_path):
    """Numbers were decoded from NaN first, which is an error about digits; a number beyond float64 warned."""
    objective = OneNumber(1000)
    wild = prediction_of(objective, [3, 5, 7]).logits
    wild[1:] = math.nan
    real = torch.tensor([1e4, -1e4, math.nan])
    assert objective.predictions(AdelicPrediction(real, wild)).tolist()[:1] == [[3, 1]]
    config = small("learned", epochs=1, batch_size=10**6, learning_rate=1e30)
    with pytest.raises(DivergenceError, match=r"the validation loss left the finite numbers .* between steps 1 and 1"):
        run(config, tmp_path, device="cpu")


def test_the_loss_and_the_head_have_the_unit():
    objective, numbers = OneNumber(1000, unit=64.0), torch.tensor([3, -700])
    head = objective.model_options()["head"](5)
    assert head.real_scale == 64
    logits = prediction_of(objective, numbers.tolist()).logits
    right = AdelicPrediction(torch.asinh(numbers / 64), logits)
    wrong = AdelicPrediction(right.real + 0.5, logits)
    difference = objective.loss(wrong, numbers, reduction="mean") - objective.loss(right, numbers, reduction="mean")
    assert difference.item() == pytest.approx(0.5**2 / 2)


def test_there_is_room_to_mend():
    for bound in (1, 16, 16336320, 5462865408):
        assert math.prod(OneNumber(bound).space.primes) > (2 * bound) ** 2


def test_figures_of_numbers_by_brute_force():
    labels, answers = np.array([0, 0, -5, 10**10]), np.array([0, 1, -5, -(10**10)])
    predictions = np.stack([answers, [1, 0, 1, 1]], axis=1)
    assert OneNumber(10**10).figures(labels, predictions, 2.0) == pytest.approx(
        {
            "accuracy": 0.5,
            "exact_match": 0.5,
            "mean_absolute_error": (0 + 1 + 0 + 2 * 10**10) / 4,
            "mean_squared_error": (0 + 1 + 0 + 4 * 10**20) / 4,
            "r2": 1 - (1 + 4 * 10**20) / np.sum((labels - labels.mean()) ** 2),
            "decoded": 0.75,
            "loss": 2.0,
        }
    )
    found = OneNumber(10**10).result(np.array([7, 0, 0]), labels, predictions)
    assert found["majority"] == found["guess"]["exact_match"] == 0.5
    assert found["guess"]["mean_absolute_error"] == (5 + 10**10) / 4


@pytest.mark.parametrize("embedding", ["adelic", "learned"])
def test_a_run(small, tmp_path, embedding):
    config = small(embedding, batch_size=32)
    result = run(config, tmp_path, device="cpu")
    assert read_result(tmp_path) == result
    data = config.data.load(config.seed)
    assert result.rows["test"] == len(data.y_test)
    common = {"accuracy", "exact_match", "loss"}
    if config.data.task == "characters":
        values, counts = np.unique(data.y_train, return_counts=True)
        guess = values[counts.argmax()]
        assert result.test.keys() == common | {"mean_absolute_error", "mean_squared_error", "r2", "decoded"}
        assert result.guess["mean_squared_error"] == pytest.approx(np.mean((data.y_test - guess) ** 2))
        assert result.majority == pytest.approx(np.mean(data.y_test == guess))
    else:
        guess = [np.bincount(column).argmax() for column in data.y_train.T]
        assert result.test.keys() == common | {"balanced_accuracy", "macro_f1"}
        assert result.majority == pytest.approx(np.mean(data.y_test == guess))
        assert result.guess["exact_match"] == pytest.approx(np.mean((data.y_test == guess).all(axis=1)))
        accuracies = [target["accuracy"] for target in result.targets]
        assert len(accuracies) == data.y_train.shape[1]
        assert result.test["accuracy"] == pytest.approx(np.mean(accuracies))
    assert all(type(value) is float and math.isfinite(value) for value in result.test.values())
    curve = result.history["validation_accuracy"]
    assert len(curve) == 3
    assert max(curve) == pytest.approx(result.validation["accuracy"], abs=1e-6)


@pytest.mark.parametrize("task", SMALL)
def test_the_place_wise_model_has_the_same_heads(tiny_config, tmp_path, task):
    task, n = SMALL[task]
    embedding = EmbeddingConfig.of("adelic", places="late", primes=(2, 3), precision=3)
    config = replace(tiny_config(task=task, n=n, epochs=1, max_rows=30), model=embedding)
    result = run(config, tmp_path, device="cpu")
    assert 0 <= result.test["exact_match"] <= 1
    assert result.configuration["embedding"]["places"] == "late"


@pytest.mark.parametrize(("task", "n", "epochs"), [("kl", 4, 4), ("rsk", 4, 60), ("characters", 5, 30)])
def test_it_learns(tiny_config, task, n, epochs):
    """The loss of the last epoch is well below that of the first: a few rows can be learned by heart."""
    config = tiny_config(task=task, n=n, epochs=epochs, batch_size=8, norm="pre", dropout=0.0)
    with torch.random.fork_rng():
        trainer = begin(config, TrainValidation.of(config.data.load(config.seed)), torch.device("cpu"))
        losses = [trainer.run_epoch()["train_loss"] for _ in range(epochs)]
    assert losses[-1] < 0.85 * losses[0]


def test_rows_are_drawn_uniformly(small):
    config = small()
    data = config.data.load(config.seed)
    strata = make_objective(data).strata(data.y_train)
    assert strata.shape == data.y_train.shape[:1]
    assert len(np.unique(strata)) == 1
    assert OneClass(2).strata(np.array([0, 1])).tolist() == [0, 1]


def test_a_stopped_run_goes_on_bit_by_bit(stop_at, small, tmp_path, read_folder):
    config = small(batch_size=32, epochs=2, dropout=0.3)
    with pytest.raises(Stopped):
        run(config, tmp_path / "stopped", device="cpu", stop=stop_at(3))
    run(config, tmp_path / "stopped", device="cpu")
    run(config, tmp_path / "whole", device="cpu")
    assert read_folder(tmp_path / "stopped") == read_folder(tmp_path / "whole")


def test_part_of_the_rows(small, tmp_path):
    config = small(max_rows=40, epochs=1)
    result = run(config, tmp_path, device="cpu")
    data = config.data.load(config.seed)
    n_validation = -(-40 * len(data.y_validation) // len(data.y_train))
    assert result.rows == {"train": 40, "validation": n_validation, "test": len(data.y_test)}
    assert result.configuration["recipe"]["max_rows"] == 40
    assert config.label != small(epochs=1).label


def test_the_part_is_the_datas_and_not_the_runs():
    data = acd.load("kl", n=4)
    first, again, other = (training_subset(data, 50, seed) for seed in (0, 0, 1))
    assert np.array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)
    rows = {(*x, *y) for x, y in zip(data.X_train.tolist(), data.y_train.tolist(), strict=True)}
    part = [(*x, *y) for x, y in zip(first.X_train.tolist(), first.y_train.tolist(), strict=True)]
    assert len(set(part)) == 50  # without repetition
    assert set(part) <= rows
    assert first.X_test is data.X_test
    for enough in (None, len(data.y_train), 10**9):
        assert training_subset(data, enough, 0) is data


def test_a_result_that_lacks_a_figure_is_named(tiny_config, tmp_path):
    run(tiny_config(task="characters", n=5, epochs=1), tmp_path, device="cpu")
    path = tmp_path / "result.json"
    whole = path.read_text()
    path.write_text(whole.replace('"mean_absolute_error"', '"mae"'))
    with pytest.raises(RunFolderError, match=r"it has no test\.mean_absolute_error"):
        Result.parse(path.read_bytes(), str(path))
    path.write_text(whole.replace('"guess"', '"guessed"'))
    with pytest.raises(RunFolderError, match="it has no guess"):
        Result.parse(path.read_bytes(), str(path))
