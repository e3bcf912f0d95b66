"""Class-balanced sampling: draw the class, then the example."""

from collections.abc import Iterator

import numpy as np
import torch

from adelic.errors import ConfigurationError


class ClassBalancedSampler:
    """Draw batches of example indices, examples of a class of n_i examples with weight n_i^(−power) each.

    The class is drawn first, with probability proportional to n_i^(1 − power), then an example of it, with replacement.
    The distribution is that of `WeightedRandomSampler` with these weights, without its limit of 2^24 rows and in linear
    time. Epoch e of seed s is always the same sequence: a resumed run draws the same examples.

    Where examples have equivalent images, each draw of an example is a draw of one of them, with equal probabilities.

    # NOTE[paper]: "the sampling weight for class i is proportional to 1/√n_i" is read as the weight of each example of
    # it.

    Args:
        labels: class of each example, int64 (rows,).
        batch_size: examples per batch; the last batch of an epoch may be smaller.
        power: see above; 0 is uniform over examples, 1 uniform over classes.
        seed: of the whole run.
        n_images: how many images each example has; image i of example r has the index r · n_images + i.

    >>> sampler = ClassBalancedSampler(np.array([0, 0, 0, 1]), batch_size=3, power=0.5, seed=0)
    >>> [len(batch) for batch in sampler.epoch(0)]
    [3, 1]
    """

    def __init__(self, labels: np.ndarray, *, batch_size: int, power: float, seed: int, n_images: int = 1) -> None:
        classes, counts = np.unique(labels, return_counts=True)
        self._rows = torch.from_numpy(np.argsort(labels, kind="stable"))  # examples of each class lie together
        self._counts = torch.from_numpy(counts)
        self._starts = torch.from_numpy(np.concatenate([[0], np.cumsum(counts)[:-1]]))
        self.class_probabilities = torch.from_numpy(counts ** (1.0 - power) / (counts ** (1.0 - power)).sum())
        self.classes = classes
        self.batch_size = batch_size
        self.seed = seed
        self.n_images = n_images
        self.n_rows = len(labels)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return -(-self.n_rows // self.batch_size)

    def epoch(self, epoch: int) -> Iterator[torch.Tensor]:
        """Yield the batches of an epoch, int64 example indices."""
        yield from torch.split(self.rows(epoch), self.batch_size)

    def rows(self, epoch: int) -> torch.Tensor:
        """Return the example indices of an epoch, int64 (rows,), on the CPU: they go to a device in one transfer."""
        generator = torch.Generator().manual_seed(stream_seed(self.seed, "sampler", epoch))
        size = self.n_rows
        drawn = torch.multinomial(self.class_probabilities, size, replacement=True, generator=generator)
        # The 24 bits of a float32 would miss examples of a class of more than 2^24. And 1 − 2^(−53), the greatest
        # fraction, times n is rounded to a number below n: an example is always of the class that was drawn.
        fraction = torch.rand(size, dtype=torch.float64, generator=generator)
        offset = (fraction * self._counts[drawn]).long()
        rows = self._rows[self._starts[drawn] + offset]
        if self.n_images == 1:
            return rows
        return rows * self.n_images + torch.randint(self.n_images, (size,), generator=generator)


class PassSampler:
    """Draw every example once, or once in each of some passes; the epochs share all these examples.

    The first pass takes the examples in their order, and each further pass in its own random order.

    Args:
        n_rows: how many examples there are.
        passes: how often each is drawn.
        epochs: how many epochs share them.
        batch_size: examples per batch; the last batch of an epoch may be smaller.
        seed: of the whole run.

    Raises:
        ConfigurationError: there are fewer examples than epochs.

    >>> sampler = PassSampler(7, passes=1, epochs=2, batch_size=3, seed=0)
    >>> sampler.rows(0).tolist(), sampler.rows(1).tolist(), len(sampler)
    ([0, 1, 2, 3], [4, 5, 6], 2)
    >>> sorted(PassSampler(2, passes=2, epochs=1, batch_size=3, seed=0).rows(0).tolist())
    [0, 0, 1, 1]
    """

    def __init__(self, n_rows: int, *, passes: int, epochs: int, batch_size: int, seed: int) -> None:
        in_all = n_rows * passes
        if in_all < epochs:
            raise ConfigurationError(
                f"{epochs} epochs cannot share {in_all} questions; use --epochs {in_all} at most, or more --examples"
            )
        # Rounded up: no epoch is longer than the first, which `__len__` counts.
        self._bounds = [-(-epoch * in_all // epochs) for epoch in range(epochs + 1)]
        self.n_rows, self.seed = n_rows, seed
        self.batch_size = batch_size

    def __len__(self) -> int:
        """Return the number of batches of the longest epoch, the first."""
        return -(-self._bounds[1] // self.batch_size)

    def rows(self, epoch: int) -> torch.Tensor:
        """Return the example indices of a whole epoch, int64 (rows,)."""
        first, last = self._bounds[epoch], self._bounds[epoch + 1]
        parts = []
        for k in range(first // self.n_rows, -(-last // self.n_rows)):
            start = k * self.n_rows
            parts.append(self._pass(k)[max(0, first - start) : last - start])
        return torch.cat(parts)

    def _pass(self, k: int) -> torch.Tensor:
        if not k:
            return torch.arange(self.n_rows)
        generator = torch.Generator().manual_seed(stream_seed(self.seed, "passes", k))
        return torch.randperm(self.n_rows, generator=generator)


def stream_seed(seed: int, stream: str, index: int = 0) -> int:
    """Return an independent 63-bit seed for a named stream of random numbers.

    >>> stream_seed(0, "sampler", 1) != stream_seed(0, "sampler", 2) != stream_seed(0, "dropout", 2)
    True
    """
    sequence = np.random.SeedSequence([seed, index, *stream.encode()])
    # 63 bits: the number of a step, which `Trainer` adds, leaves it below 2^64.
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
