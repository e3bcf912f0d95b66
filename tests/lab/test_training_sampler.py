import numpy as np
import pytest
import torch
from scipy import stats

from adelic_lab import ClassBalancedSampler
from adelic_lab.train.sampler import stream_seed

COUNTS = (800, 90, 9, 1)
LABELS = np.random.default_rng(0).permutation(np.repeat(np.arange(4), COUNTS))


def sampler(labels=LABELS, *, batch_size=64, power=0.5, seed=0):
    return ClassBalancedSampler(labels, batch_size=batch_size, power=power, seed=seed)


def draws(found, epochs=60):
    return torch.cat([rows for epoch in range(epochs) for rows in found.epoch(epoch)]).numpy()


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_class_frequencies(power):
    """A class of n_i rows is drawn with probability ∝ n_i^(1 − power)."""
    drawn = np.bincount(LABELS[draws(sampler(power=power))], minlength=4)
    expected = np.array(COUNTS) ** (1 - power)
    assert stats.chisquare(drawn, expected * drawn.sum() / expected.sum()).pvalue > 1e-3
    for other in {0.0, 0.5, 1.0} - {power}:
        wrong = np.array(COUNTS) ** (1 - other)
        assert stats.chisquare(drawn, wrong * drawn.sum() / wrong.sum()).pvalue < 1e-6


def test_rows_are_uniform_within_a_class():
    drawn = np.bincount(draws(sampler()), minlength=len(LABELS))
    for label in range(3):
        mine = drawn[label == LABELS]
        assert stats.chisquare(mine).pvalue > 1e-3
        assert mine.min() > 0


def test_classes_that_do_not_occur():
    labels = np.array([7, 2, 2, 7, 7])
    found = sampler(labels)
    assert found.classes.tolist() == [2, 7]
    assert found.class_probabilities.tolist() == pytest.approx(
        [np.sqrt(2) / (np.sqrt(2) + np.sqrt(3)), np.sqrt(3) / (np.sqrt(2) + np.sqrt(3))]
    )
    assert set(draws(found, epochs=20).tolist()) == set(range(5))


@pytest.mark.parametrize(
    ("batch_size", "sizes"), [(300, [300, 300, 300]), (400, [400, 400, 100]), (900, [900]), (10**6, [900])]
)
def test_batches(batch_size, sizes):
    found = sampler(batch_size=batch_size)
    assert [len(rows) for rows in found.epoch(0)] == sizes
    assert len(found) == len(sizes)


def test_an_epoch_depends_on_seed_and_number_alone():
    def epoch(number, seed=0, batch_size=64):
        return torch.cat(list(sampler(seed=seed, batch_size=batch_size).epoch(number)))

    first = sampler()
    for number in (0, 1, 2):  # drawn one after the other, or each by a fresh sampler
        assert torch.equal(torch.cat(list(first.epoch(number))), epoch(number))
    assert torch.equal(epoch(1), epoch(1, batch_size=7))
    assert not torch.equal(epoch(0), epoch(1))
    assert not torch.equal(epoch(0), epoch(0, seed=1))


def test_images_are_drawn_with_equal_probabilities():
    found = ClassBalancedSampler(LABELS, batch_size=64, power=0.5, seed=0, n_images=3)
    assert len(found) == len(sampler())
    for epoch in range(3):
        assert torch.equal(found.rows(epoch) // 3, sampler().rows(epoch))  # of the same rows
    assert stats.chisquare(np.bincount(draws(found) % 3)).pvalue > 1e-3


def test_stream_seeds_differ():
    seeds = {
        stream_seed(seed, stream, index)
        for seed in range(20)
        for stream in ("initialisation", "sampler", "dropout")
        for index in range(20)
    }
    assert len(seeds) == 1200
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert stream_seed(3, "sampler", 4) == stream_seed(3, "sampler", 4)
