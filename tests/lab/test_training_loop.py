import dataclasses
import importlib
import math
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from adelic import acd
from adelic.data.sources import TaskData
from adelic.errors import ConfigurationError
from adelic.nn import Vocabulary
from adelic.nn.placewise import PLACES
from adelic_lab import ClassBalancedSampler, EmbeddingConfig, Experiment, load_recipe, run
from adelic_lab.models.network import begin, build_model, narrow_ids
from adelic_lab.train import loop
from adelic_lab.train.data import TrainValidation
from adelic_lab.train.loop import Trainer
from adelic_lab.train.objectives import make_objective
from adelic_lab.train.passes import Split, Workers, evaluate
from adelic_lab.train.signals import Stopped

LEARNED = EmbeddingConfig.of("learned")


def splits(task="schubert", n=3):
    data = acd.load(task, n=n)
    vocabulary = Vocabulary(data.vocabulary)
    cpu = torch.device("cpu")
    return data, *(
        Split(vocabulary.ids(X), y, cpu)
        for X, y in ((data.X_train, data.y_train), (data.X_validation, data.y_validation))
    )


def new_trainer(config, data, train, validation, *, seed):
    seen = TrainValidation.of(data)
    return Trainer(build_model(config, seen), config.recipe, train, validation, objective=seen.objective, seed=seed)


@pytest.fixture(autouse=True)
def keep_the_global_generator():
    with torch.random.fork_rng():
        yield


def test_the_loop_is_the_textbooks(tiny_config):
    """Adam (0.9, 0.999) without weight decay, CosineAnnealingLR once an epoch, cross-entropy on the sampled batches."""
    config = tiny_config(dropout=0.0, epochs=4)
    data, train, validation = splits()
    trainer = new_trainer(config, data, train, validation, seed=3)
    lines = [trainer.run_epoch() for _ in range(4)]

    model = build_model(config, TrainValidation.of(data)).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.999), weight_decay=0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    sampler = ClassBalancedSampler(data.y_train, batch_size=16, power=0.5, seed=3)
    for epoch in range(4):
        total = 0.0
        assert math.isclose(lines[epoch]["learning_rate"], scheduler.get_last_lr()[0], rel_tol=1e-9)
        for rows in sampler.epoch(epoch):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(train.ids[rows]), train.labels[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        scheduler.step()
        assert math.isclose(lines[epoch]["train_loss"], total / len(train), rel_tol=1e-5)
    for (name, ours), theirs in zip(trainer.model.named_parameters(), model.parameters(), strict=True):
        if name.endswith("in_proj_bias"):  # that of the keys has no effect: Adam's steps follow rounding errors
            ours, theirs = (p.reshape(3, -1)[[0, 2]] for p in (ours, theirs))
        assert torch.allclose(ours, theirs, atol=1e-6), name


@pytest.mark.parametrize("places", [None, *PLACES])
def test_splitting_a_batch_changes_no_gradient(tiny_config, monkeypatch, places):
    """Dropout's masks belong to the rows, so that the parts' gradients add up to the whole batch's."""
    placewise = EmbeddingConfig.of("adelic", primes=(2, 3, 5), precision=3, places=places)
    config = tiny_config(dropout=0.5, n_layers=2, d_model=32)
    config = dataclasses.replace(config, model=placewise if places else LEARNED)
    data, train, validation = splits()
    gradients = []
    for workers, tokens in ((1, 10**6), (2, 10**6), (2, 40), (3, 12)):
        monkeypatch.setattr(importlib.import_module("adelic_lab.train.passes"), "TOKENS", tokens)
        trainer = new_trainer(config, data, train, validation, seed=3)
        trainer.model.train()
        with Workers(workers) as pool:
            loss = trainer._backward(torch.arange(17), 0, pool)
        gradients.append([loss, *(p.grad for p in trainer.parameters)])
    for other in gradients[1:]:
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(gradients[0], other, strict=True))


def test_workers_leave_torchs_threads_as_they_were():
    before = torch.get_num_threads()
    with Workers(2) as workers:
        assert workers.map(lambda _: torch.get_num_threads(), range(4)) == [1] * 4
    assert torch.get_num_threads() == before


class Reads(TorchDispatchMode):
    """Counts the values that are read from tensors: each would wait for a GPU."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += function is torch.ops.aten._local_scalar_dense.default
        return function(*args, **kwargs or {})


def test_a_step_of_a_gpu_reads_nothing_back(tiny_config, monkeypatch):
    """The step that devices other than the CPU take, run on the CPU."""
    monkeypatch.setattr("adelic.nn.kernels.fused.takes", lambda x: False)
    data, train, validation = splits()
    config = tiny_config(dropout=0.5)
    trainer = new_trainer(config, data, train, validation, seed=3)
    trainer.model.train()
    trainer.device = torch.device("meta")  # anything but the CPU
    with Workers(1) as workers, Reads() as reads:
        loss = trainer._backward(torch.arange(9), 0, workers)
        trainer.optimizer.step()
        assert reads.count == 0
        float(loss)
        assert reads.count == 1
    assert loss.isfinite()
    assert all(p.grad is not None for p in trainer.parameters)


@pytest.mark.parametrize(("batch_size", "compiled"), [(4, 3), (7, 1), (100, 1)])
def test_a_gpu_compiles_full_batches_alone(tiny_config, monkeypatch, batch_size, compiled):
    """Compiling takes a while for each shape, and an epoch has one smaller batch at most."""
    monkeypatch.setattr("adelic.nn.kernels.fused.takes", lambda x: False)
    data, train, validation = splits()
    train.ids, train.labels = train.ids[:12], train.labels[:12]
    trainer = new_trainer(tiny_config(batch_size=batch_size), data, train, validation, seed=3)
    monkeypatch.setattr(trainer, "device", torch.device("meta"))  # anything but the CPU
    sizes = []

    def loss(ids, labels):
        sizes.append(len(ids))
        return trainer._plain_loss(ids, labels)

    monkeypatch.setattr(trainer, "_batch_loss", loss)
    trainer.model.train()
    with Workers(1) as workers:
        for batch in trainer.sampler.epoch(0):
            assert trainer._backward(batch, 0, workers).isfinite()
    assert sizes == compiled * [min(batch_size, 12)]


@pytest.mark.parametrize("is_slow", [True, False])
def test_a_recipes_bfloat16_is_float32_where_that_is_quicker(monkeypatch, is_slow):
    """And what a user asks for is what it is, with a word where it is slow."""
    monkeypatch.setattr(loop, "is_quick", lambda compute, device: compute == "float32" or not is_slow)
    data, *parts = splits()
    losses = {}
    for asked in (None, "float32", "bfloat16"):
        recipe = load_recipe("compact", "schubert-3", epochs=1, d_model=16, compute=asked)
        trainer = new_trainer(
            Experiment(data=TaskData("schubert", 3), model=LEARNED, recipe=recipe), data, *parts, seed=3
        )
        warns = is_slow and asked == "bfloat16"
        with pytest.warns(UserWarning, match="--compute float32 is faster") if warns else nullcontext():
            losses[asked] = trainer.run_epoch()["train_loss"]
        assert trainer.compute == (asked or ("float32" if is_slow else "bfloat16"))
        assert {p.dtype for p in trainer.model.parameters()} == {torch.float32}
    assert losses[None] == losses["float32" if is_slow else "bfloat16"]
    assert losses["float32"] != losses["bfloat16"] == pytest.approx(losses["float32"], rel=1e-2)


@pytest.mark.parametrize("begun_slow", [True, False])
@pytest.mark.filterwarnings("ignore:products in bfloat16 are slow")
def test_a_run_goes_on_in_its_number_format(monkeypatch, tmp_path, read_folder, begun_slow):
    """On whatever machine: not half in one format and half in another."""
    recipe = load_recipe("compact", "schubert-3", epochs=2, d_model=16)
    config = Experiment(data=TaskData("schubert", 3), model=LEARNED, recipe=recipe)
    for folder, then_slow in (("whole", begun_slow), ("moved", not begun_slow)):
        for is_slow, stop in ((begun_slow, lambda: True), (then_slow, None)):
            monkeypatch.setattr(loop, "is_quick", lambda compute, _, slow=is_slow: compute == "float32" or not slow)
            with pytest.raises(Stopped) if stop else nullcontext():
                result = run(config, tmp_path / folder, device="cpu", stop=stop)
        assert result.compute == ("float32" if begun_slow else "bfloat16")
        assert result.configuration["recipe"]["compute"] == "bfloat16"
    assert read_folder(tmp_path / "moved") == read_folder(tmp_path / "whole")


@pytest.mark.parametrize("checkpoint", ["best", "last"])
def test_the_best_weights_are_kept_or_the_last(tiny_config, checkpoint):
    config = tiny_config(epochs=6, learning_rate=2e-2, checkpoint=checkpoint)
    data, train, validation = splits()
    trainer = new_trainer(config, data, train, validation, seed=0)
    seen = []
    for _ in range(6):
        figures = trainer.run_epoch()["validation"]
        seen.append((figures["accuracy"], -figures["loss"]))
    assert max(seen) > seen[-1]
    kept = max(seen) if checkpoint == "best" else seen[-1]
    assert trainer.progress.best_score == kept
    assert trainer.progress.best_epoch == seen.index(kept) + 1
    trainer.model.load_state_dict(trainer.best)
    figures, _ = evaluate(trainer.model, validation, objective=trainer.objective)
    assert figures["accuracy"] == kept[0]
    assert math.isclose(figures["loss"], -kept[1], rel_tol=1e-6)


def test_evaluation_by_hand_in_batches(tiny_config, monkeypatch):
    config = tiny_config()
    data, train, _ = splits()
    model = build_model(config, TrainValidation.of(data))
    monkeypatch.setattr(importlib.import_module("adelic_lab.train.passes"), "EVALUATION_BATCH", 7)
    figures, predictions = evaluate(model, train, objective=make_objective(data))
    assert not model.training
    with torch.no_grad():
        probabilities = model(train.ids).softmax(dim=-1)
    assert np.array_equal(predictions[:, 0], probabilities.argmax(dim=-1).numpy())
    np.testing.assert_allclose(predictions[:, 1], probabilities.max(dim=-1).values, rtol=1e-6)
    right = probabilities[torch.arange(len(train)), train.labels]
    assert math.isclose(figures["loss"], -right.log().mean().item(), rel_tol=1e-5)
    assert math.isclose(figures["accuracy"], np.mean(predictions[:, 0] == data.y_train))


def test_images_of_rows_are_trained_on(tiny_config, monkeypatch):
    """Each draw is of one image of a row, all of them occur, and labels go with them."""
    config = tiny_config(symmetries=True, epochs=30, split="orbits")
    data = config.data.load(0)
    trainer = begin(config, TrainValidation.of(data), torch.device("cpu"))
    X, y = acd.images(data.X_train, data.y_train, acd.task(config.data.task).symmetries)
    assert trainer.sampler.n_images == X.shape[1] == 4
    vocabulary = Vocabulary(data.vocabulary)
    for row in range(len(X)):
        for image in range(4):
            assert torch.equal(trainer.train.ids[4 * row + image], vocabulary.ids(X[row, image]))
            assert trainer.train.labels[4 * row + image] == y[row, image]
    seen = []
    plain = Trainer._backward

    def backward(self, batch, *rest):
        seen.append(batch)
        return plain(self, batch, *rest)

    monkeypatch.setattr(Trainer, "_backward", backward)
    lines = [trainer.run_epoch() for _ in range(2)]
    assert len(torch.cat(seen)) == 2 * len(data.y_train)
    assert set((torch.cat(seen) % 4).tolist()) == {0, 1, 2, 3}
    assert all(math.isfinite(line["train_loss"]) for line in lines)


def test_a_task_without_symmetries_is_told(tiny_config):
    """Though `test_bad_splits` says so before: the trainer does not take the configuration's word for it."""
    config, data = tiny_config(symmetries=True, split="orbits"), acd.load("lattice", n=6)
    with pytest.raises(ConfigurationError, match="no symmetries that keep labels"):
        begin(config, TrainValidation.of(data), torch.device("cpu"))


def test_ticks(tiny_config):
    config = tiny_config(epochs=2, batch_size=20)
    data, train, validation = splits()
    trainer = new_trainer(config, data, train, validation, seed=1)
    ticks = []
    lines = [trainer.run_epoch(lambda *progress: ticks.append(progress)) for _ in range(2)]
    assert [done for done, _, _ in ticks] == list(range(1, 9))
    assert {total for _, total, _ in ticks} == {8}
    assert {text for _, _, text in ticks[:3]} == {"epoch 1/2"}
    first, last = (f"validation {100 * line['validation']['accuracy']:.2f} %" for line in lines)
    assert ticks[3][2] == f"epoch 1/2, {first}"
    assert {text for _, _, text in ticks[4:7]} == {f"epoch 2/2, last {first}"}
    assert ticks[7][2] == f"epoch 2/2, {last}"


@pytest.mark.parametrize(
    "embedding",
    [LEARNED, pytest.param(EmbeddingConfig.of("adelic", primes=(2, 3, 5), precision=4), marks=pytest.mark.long)],
    ids=lambda embedding: embedding.label,
)
def test_it_learns(tiny_config, tmp_path, embedding):
    """Well above the majority class, half, on a task of the data set."""
    config = tiny_config(task="schubert", n=4, epochs=10, batch_size=64, norm="pre")
    result = run(dataclasses.replace(config, model=embedding), tmp_path, device="cpu")
    losses = result.history["train_loss"]
    assert result.test["accuracy"] > 0.65
    assert losses[0] - losses[-1] > 0.05
    assert not result.predicts_one_class


@pytest.mark.parametrize(
    "options",
    [
        {"embedding": "one-hot"},
        {"embedding": "learned"},
        {"embedding": "periodic"},
        {"embedding": "adelic", "places": "late"},
        {"embedding": "adelic", "features": "one-hot-digits", "projection": "linear"},
        {"embedding": "adelic", "places": "agree", "tied": True},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_a_step_is_a_step_of_adam(tiny_recipe, options):
    """Whatever the layout of a gradient in memory; one-hot's is transposed, and was once applied as if it were not."""
    given = dict(options)
    model = EmbeddingConfig.of(given.pop("embedding"), **given)
    config = Experiment(data=TaskData("schubert", 3), model=model, recipe=tiny_recipe(dropout=0.0, warmup_steps=0))
    data = TrainValidation.of(config.data.load(0))
    trainer, plain = begin(config, data, torch.device("cpu")), build_model(config, data).train()
    ours = trainer.model.train()
    optimizer = torch.optim.Adam(plain.parameters(), lr=1e-3, fused=False)
    for group in trainer.optimizer.param_groups:
        group["lr"] = 1e-3
    for rows in (torch.arange(16), torch.arange(16, 32)):
        with Workers() as workers:
            trainer._backward(rows, 0, workers)
        output = ours(trainer.train.read(rows))
        loss = data.objective.loss(output, trainer.train.labels[rows], reduction="mean")
        expected = torch.autograd.grad(loss, list(ours.parameters()), allow_unused=True)
        for theirs, parameter, gradient in zip(plain.parameters(), ours.parameters(), expected, strict=True):
            if gradient is None:
                continue
            torch.testing.assert_close(parameter.grad, gradient, rtol=1e-3, atol=1e-5)
            theirs.grad = parameter.grad.clone(memory_format=torch.contiguous_format)
        trainer.optimizer.step()
        optimizer.step()
    for theirs, parameter in zip(plain.parameters(), ours.parameters(), strict=True):
        torch.testing.assert_close(parameter, theirs, rtol=1e-4, atol=1e-6)


def test_ids_take_a_byte_each(tiny_config):
    """And a model reads the same; a vocabulary of more than 256 numbers has wider ones."""
    config = tiny_config("learned", task="mheight", n=6)
    data = TrainValidation.of(config.data.load(0))
    trainer = begin(config, data, torch.device("cpu"))
    assert trainer.train.ids.dtype == torch.uint8
    wide = Split(data.ids(data.X_train), data.y_train, torch.device("cpu"))
    assert wide.ids.dtype == trainer.train.read(slice(None)).dtype == torch.int64
    assert torch.equal(trainer.train.read(slice(None)), wide.ids)
    figures, predictions = trainer.evaluate(trainer.train)
    same, again = trainer.evaluate(wide)
    assert figures == same
    assert np.array_equal(predictions, again)
    many = dataclasses.replace(data, vocabulary=tuple(range(300)))
    assert narrow_ids(many, data.X_train).dtype == np.int32
