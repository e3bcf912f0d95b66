"""What the drawn tasks share: numbers that training never sees, and answers as arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adelic.data.drawn import Answers, Draw, Operands

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, an odd number: the top bits of its multiples are those of a fair coin."""
HELD_OUT = 10
"""Of this many numbers, one is held out of training."""


def held_out(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which numbers training never sees: about one in `HELD_OUT`, whatever the seed; an array of any shape.

    >>> round(float(held_out(np.arange(100_000)).mean()), 2)
    0.1
    """
    with np.errstate(over="ignore"):
        mixed = numbers.astype(np.uint64) * _GOLDEN
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _GOLDEN
    return (mixed >> np.uint64(40)) % np.uint64(HELD_OUT) == 0  # type: ignore[no-any-return]


def from_numbers(draw: Draw, *, held: bool) -> Draw:
    """Return draws whose examples have no number that is held out, or nothing but such numbers."""
    return kept(draw, lambda rows: held_out(rows).all(axis=1) if held else ~held_out(rows).any(axis=1), ahead=4)


def kept(draw: Draw, is_kept: Callable[[Operands], Any], *, ahead: int) -> Draw:
    """Return those examples of another draw that are kept; `ahead` times as many as are missing are drawn at once."""

    def chosen(n: int, rng: np.random.Generator) -> Operands:
        # One example, for the columns and the type. Without it the generator would continue with other examples.
        found, missing = [draw(1, rng)[:0]], n
        while missing > 0:
            rows = draw(max(256, ahead * missing), rng)
            found.append(rows[is_kept(rows)][:missing])
            missing -= len(found[-1])
        return np.concatenate(found)

    return chosen


def coprime(p: int, low: int, high: Any, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return n uniform numbers that a prime does not divide.

    `high` is a number, or an array (n,); from `low`, 1 or more, to each there is a number that p does not divide.

    >>> coprime(2, 1, 3, 4, np.random.default_rng(0)).tolist()
    [3, 1, 1, 1]
    """
    found = rng.integers(low, high + 1, n)
    # All n are drawn again, though few are needed: `high` may differ from example to example.
    while (divisible := found % p == 0).any():
        found[divisible] = rng.integers(low, high + 1, n)[divisible]
    return found


def answers_with(function: Callable[[Operands], Any]) -> Callable[[Operands], Answers]:
    """Return a function of operands whose answers are int64 indices of classes."""
    return lambda operands: np.asarray(function(operands)).astype(np.int64)
