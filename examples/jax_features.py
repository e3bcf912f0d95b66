"""AOE's features in a model of JAX: `python examples/jax_features.py` (needs `pip install jax`).

`space.tensor` gives NumPy's arrays, so nothing but `jax.numpy.asarray` is needed. A network with one hidden layer
learns n mod 12 from the digits of n at 2 and 3, and from n itself learns nothing.
"""

import jax
import jax.numpy as jnp
import numpy as np

from adelic import AdeleSpace

SPACE = AdeleSpace((2, 3), precision=8)
CLASSES = 12
STEPS = 400


def features(numbers: np.ndarray) -> tuple[jax.Array, jax.Array]:
    """Return the real values, of mean 0 and deviation 1, and the digits divided by their primes: float32 (rows, *)."""
    layout = SPACE.tensor(numbers)  # (rows, 1 + primes, digits): the real value is the last entry of the first line
    real = layout[:, 0, -1:]
    digits = layout[:, 1:] / np.array(SPACE.primes)[:, None]
    return jnp.asarray((real - real.mean()) / real.std()), jnp.asarray(digits.reshape(len(numbers), -1))


def logits(weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Return the network's logits, (rows, CLASSES)."""
    return jax.nn.relu(x @ weights["in"] + weights["bias"]) @ weights["out"]


def loss(weights: dict[str, jax.Array], x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean cross-entropy."""
    return -jnp.take_along_axis(jax.nn.log_softmax(logits(weights, x)), y[:, None], axis=1).mean()


@jax.jit
def step(weights: dict[str, jax.Array], speed: dict[str, jax.Array], x: jax.Array, y: jax.Array) -> tuple:
    """Return weights and speed after one step of gradient descent with momentum."""
    gradients = jax.grad(loss)(weights, x, y)
    speed = jax.tree.map(lambda v, g: 0.9 * v - 0.3 * g, speed, gradients)
    return jax.tree.map(jnp.add, weights, speed), speed


def accuracy(x: jax.Array, y: jax.Array, seed: int = 0) -> float:
    """Return the share of the second half of the examples that is right after learning from the first half."""
    half = len(y) // 2
    keys = jax.random.split(jax.random.key(seed))
    weights = {
        "in": jax.random.normal(keys[0], (x.shape[1], 128)) / x.shape[1] ** 0.5,
        "bias": jnp.zeros(128),
        "out": jax.random.normal(keys[1], (128, CLASSES)) / 128**0.5,
    }
    speed = jax.tree.map(jnp.zeros_like, weights)
    for _ in range(STEPS):
        weights, speed = step(weights, speed, x[:half], y[:half])
    return float((logits(weights, x[half:]).argmax(axis=1) == y[half:]).mean())


if __name__ == "__main__":
    numbers = np.random.default_rng(0).choice(10**6, 4000, replace=False)
    targets = jnp.asarray(numbers % CLASSES)
    for name, inputs in zip(("the real value", "the digits at 2 and 3"), features(numbers), strict=True):
        print(f"n mod 12 from {name}: {accuracy(inputs, targets):.1%} of 2,000 unseen numbers")
