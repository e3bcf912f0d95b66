"""Prices in cents: whether a total is a round amount, how a price ends."""

import numpy as np

from adelic.data.drawn import Answers, Operands, SampledTask

_UNIT = 100
_MOST = 10_000
"""Prices of `round-total` are below this, 100.00, so that a vector for each can be trained."""
_ENDINGS = np.array([0, 50, 95, 99])
_DEAREST = 1_000_000
"""Prices of `price-ending` are below this, so that training does not use up those with one of the endings."""


def _half_round(n: int, rng: np.random.Generator) -> Operands:
    """Return pairs of prices, of which about half have a sum without cents."""
    a, b = rng.integers(0, _MOST, (2, n))
    # −a modulo 100 cents are missing to the next amount without any.
    b = np.where(rng.random(n) < 1 / 2, b // _UNIT * _UNIT + -a % _UNIT, b)
    return np.stack([a, b], axis=1)


def _priced(n: int, rng: np.random.Generator) -> Operands:
    """Return prices of which every ending is as frequent."""
    ending = rng.integers(0, len(_ENDINGS) + 1, n)
    cents = np.where(ending < len(_ENDINGS), _ENDINGS[ending % len(_ENDINGS)], rng.integers(0, _UNIT, n))
    return (_UNIT * rng.integers(0, _DEAREST, n) + cents)[:, None]


def _ending(X: Operands) -> Answers:
    found = X[:, 0, None] % _UNIT == _ENDINGS
    return np.where(found.any(axis=1), found.argmax(axis=1), len(_ENDINGS))


ROUND_TOTAL = SampledTask(
    name="round-total",
    title="is the sum of two prices below 100.00, in cents, an amount without cents?",
    arity=2,
    draws={"train": _half_round},
    solve=lambda X: (X.sum(axis=1) % _UNIT == 0).astype(np.int64),
    max_operand=_MOST - 1,
    max_numerator=1,
    commutative=True,
    class_names=("no", "yes"),
    vocabulary=tuple(range(_MOST)),
)
PRICE_ENDING = SampledTask(
    name="price-ending",
    title="does a price below 1,000,000.00, in cents, end in .00, .50, .95, .99, or otherwise?",
    arity=1,
    draws={"train": _priced},
    solve=_ending,
    max_operand=_DEAREST * _UNIT - 1,
    max_numerator=len(_ENDINGS),
    class_names=(".00", ".50", ".95", ".99", "other"),
)
