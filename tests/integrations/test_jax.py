"""The example in JAX, where JAX is installed."""

import runpy
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax")
EXAMPLE = Path(__file__).parents[2] / "examples" / "jax_features.py"


def test_the_example_learns_from_digits_alone():
    example = runpy.run_path(str(EXAMPLE))
    numbers = np.random.default_rng(1).choice(10**6, 2000, replace=False)
    targets = jax.numpy.asarray(numbers % example["CLASSES"])
    real, digits = example["features"](numbers)
    assert digits.shape == (2000, 16)
    assert example["accuracy"](digits, targets) > 0.99
    assert example["accuracy"](real, targets) < 0.2
