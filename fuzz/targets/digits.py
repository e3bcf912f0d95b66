"""Digits of random tensors: every layer that reads digits gives what the numbers have, or refuses what is no digit.

The truth is a loop over Python numbers.
"""

import math
from typing import Any

import torch

from adelic import AdeleSpace, AdelicError
from adelic.nn import AdelicLoss, AdelicPrediction, PlaceEmbedding
from adelic.numbers.features import PLACE_FEATURES
from targets.case import Case, check_error

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 97, 257)
_TYPES = (
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
)
_WRONG = (-1, -100, 0.5, 0.999, -0.5, 2**15, 2**40, 2**62, math.nan, math.inf, -math.inf, 1e308)


def digits(case: Case) -> None:
    """Give a layer digits, some of which may be none."""
    rng = case.rng
    primes = tuple(rng.sample(_PRIMES, rng.randint(1, 4)))
    counts = {p: rng.randint(1, 4) for p in primes} if case.chance(0.3) else rng.randint(1, 4)
    space = AdeleSpace(primes, counts)
    shape = tuple(rng.choice([(), (2,), (2, 3), (1, 0), (0,)]))
    name = rng.choice([*PLACE_FEATURES, "loss"])
    rows = (len(primes), space.max_precision)
    listed = [
        [_row(case, p, n, rows[1]) for p, n in zip(primes, space.precisions, strict=True)]
        for _ in range(math.prod(shape))
    ]
    kind = rng.choice(_TYPES)
    given = torch.tensor(listed, dtype=torch.float64).reshape(*shape, *rows).to(kind)
    values = given.double().reshape(-1, *rows).tolist()  # as they are in the type
    if name == "loss":
        is_right = all(_is_digit(d, p) or d == -100 for v in values for p, n, r in _places(space, v) for d in r[-n:])
    else:
        is_right = all(
            _is_digit(d, p if k < n else 1)
            for v in values
            for p, n, r in _places(space, v)
            for k, d in enumerate(reversed(r))
        )
    found = refusal = None
    try:
        found = _read(name, space, given)
    except AdelicError as error:
        check_error(error)
        refusal = error
    assert is_right == (refusal is None), f"{name}, {values} of {kind} in {space}: {refusal or 'are digits'}"
    case.counts["refused" if found is None else "read"] += 1
    if found is not None:
        assert found.isfinite().all()
        if name in PLACE_FEATURES:
            whole = torch.tensor(values, dtype=torch.int64).reshape(given.shape)
            assert torch.equal(found, PlaceEmbedding(space, name)((torch.zeros(shape), whole))), (
                "another type, other features"
            )


def _row(case: Case, p: int, n: int, columns: int) -> list[float]:
    """Return the digits of a prime, highest first; now and then one is none."""
    row: list[float] = [0] * (columns - n) + [case.rng.randrange(p) for _ in range(n)]
    if case.chance(0.05):
        row[case.rng.randrange(columns)] = case.rng.choice([*_WRONG, p, p + 0.5, p - 1])
    return row


def _places(space: AdeleSpace, value: Any) -> Any:
    return zip(space.primes, space.precisions, value, strict=True)


def _is_digit(value: float, p: int) -> bool:
    return 0 <= value < p and value == int(value)


def _read(name: str, space: AdeleSpace, given: torch.Tensor) -> torch.Tensor:
    """Return what a layer makes of digits (*, n_primes, precision)."""
    real = torch.zeros(given.shape[:-2])
    if name == "loss":
        logits = torch.zeros(*given.shape, max(space.primes))
        return AdelicLoss(space)(AdelicPrediction(real, logits), (real, given))
    return PlaceEmbedding(space, name)((real, given))
