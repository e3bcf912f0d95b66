"""Runs of the place-wise model: bit by bit the same after a stop, and however a batch is split."""

import dataclasses
import itertools

import pytest
import torch
from safetensors.torch import load_file

from adelic import acd
from adelic.nn import Vocabulary
from adelic.nn.placewise import PLACES
from adelic_lab import EmbeddingConfig, list_runs, run
from adelic_lab.models.network import build_model
from adelic_lab.train.data import TrainValidation
from adelic_lab.train.passes import Split
from adelic_lab.train.signals import Stopped


@pytest.fixture
def config(tiny_config):
    """Return configurations of small runs with dropout."""

    def make(places="late", **changes):
        embedding = EmbeddingConfig.of("adelic", primes=(2, 3, 5), precision=3, places=places)
        return dataclasses.replace(tiny_config(**{"dropout": 0.3, "d_model": 32} | changes), model=embedding)

    return make


@pytest.mark.parametrize("places", PLACES)
def test_stopped_after_every_third_step(config, tmp_path, read_folder, places):
    chosen = config(places, epochs=2)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    expected = run(chosen, whole, device="cpu")
    stops = 0
    for _ in range(20):
        calls = itertools.count(1)
        try:
            result = run(chosen, parts, device="cpu", stop=lambda calls=calls: next(calls) % 3 == 0)
        except Stopped:
            stops += 1
            torch.manual_seed(stops)  # what others draw in between changes nothing
        else:
            break
    assert stops >= 2
    assert read_folder(parts) == read_folder(whole)
    tensors, others = (load_file(folder / "checkpoint.safetensors") for folder in (parts, whole))
    assert tensors.keys() == others.keys()
    assert all(torch.equal(tensors[key], others[key]) for key in tensors)
    assert (result.places, result.features, result.test) == (places, "characters", expected.test)
    assert {summary.embedding for summary in list_runs(tmp_path)} == {
        f"adelic:characters:{places}:primes=2,3,5:precision=3"
    }


def test_the_model_reads_the_places_of_its_numbers(config):
    """Numbers that agree at a place have the same vector there: 1 and 3 at the prime 2 with one digit."""
    data = acd.load("schubert", n=3)
    embedding = EmbeddingConfig.of("adelic", primes=(2, 3), precision=1, places="apart", features="one-hot-digits")
    model = build_model(dataclasses.replace(config(), model=embedding), TrainValidation.of(data))
    ids = Split(Vocabulary(data.vocabulary).ids([[1, 3]]), data.y_train[:1], torch.device("cpu")).ids
    first, second = model.embed(ids).view(2, 3, -1)
    assert torch.equal(first[1], second[1])
    assert not torch.allclose(first[0], second[0], atol=1e-3)
    assert not torch.allclose(first[2], second[2], atol=1e-3)
