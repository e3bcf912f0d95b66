"""Columns of floats and text that have lost their numbers are told of; all others are read as the numbers they were.

What a column held before it became floats is known here. A column that is not told of has to be read as that; whether
one has to be told of is decided from the decimals that Python prints, one number at a time.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import torch

from adelic.data.tables import ids_of
from adelic.errors import EncodingError
from adelic.integrations.sklearn import AdelicEncoder
from adelic.nn.open_numbers import OpenNumbers
from targets.case import Case, check_error

_BITS = {np.float64: 53, np.float32: 24, np.float16: 11}
_DIGITS = {np.float64: 15, np.float32: 7, np.float16: 3}
_READ_AS_IT_WAS = {np.float64: 15, np.float32: 6, np.float16: 3}
"""Decimals of so many digits come back from each float (`numpy.finfo`)."""


def lossy(case: Case) -> None:
    """Give one column of a random kind to every reader, which agree on whether its numbers were lost."""
    rng = case.rng
    if case.chance(0.2):
        texts = [_text(case) for _ in range(rng.randint(1, 6))]
        is_lost = any(
            len(t.lstrip("+-")) > 1 and t.lstrip("+-")[:2].isdigit() and t.lstrip("+-")[0] == "0" for t in texts
        )
        _check(case, texts, [Fraction(t) for t in texts], is_lost=is_lost, is_same=True)
        return
    dtype = rng.choice([np.float64, np.float64, np.float32, np.float16])
    digits = rng.randint(1, rng.choice([4, 9, 15, 18]))
    exponents = rng.choice([[0], [-2], [-2], [0, -2, -6], [rng.randint(-25, 3) for _ in range(3)]])
    was = [
        Decimal(rng.randrange(-(10**digits), 10**digits)).scaleb(rng.choice(exponents))
        for _ in range(rng.randint(1, 12))
    ]
    with np.errstate(over="ignore"):
        values = np.array([dtype(str(q)) for q in was])
    if case.chance(0.2):  # prices that were float32 once
        was = [Decimal(rng.randrange(10**7)).scaleb(-2) for _ in range(60)]
        values, dtype = np.array([np.float32(str(q)) for q in was]).astype(np.float64), np.float64
        _check(case, values, [], is_lost=any(Fraction(str(q)) != Fraction(v) for q, v in zip(was, values, strict=True)))
        return
    is_finite = np.isfinite(values)
    values[~is_finite] = 0
    is_lost = any(_is_lost(value, dtype) for value in values)
    is_same = is_finite.all() and digits <= _READ_AS_IT_WAS[dtype] and not np.any(np.abs(values) < np.finfo(dtype).tiny)
    _check(case, values, [Fraction(str(q)) for q in was], is_lost=is_lost, is_same=is_same)


def _text(case: Case) -> str:
    """Return a number as text, perhaps with zeros before it."""
    whole = "0" * case.rng.choice([0, 0, 0, 1, 3]) + str(case.rng.randrange(10 ** case.rng.randint(1, 6)))
    return case.rng.choice(["", "-", "+"]) + whole + case.rng.choice(["", ".5", "/7", "e2"])


def _is_lost(value: Any, dtype: type) -> bool:
    """Return whether a float is beyond the integers of its type, or is no integer and has too many digits."""
    if value == int(value):
        return bool(abs(int(value)) >= 2 ** _BITS[dtype])
    mantissa = str(value).partition("e")[0].lstrip("-")
    return len(mantissa.replace(".", "").lstrip("0")) > _DIGITS[dtype]


def _check(case: Case, values: Any, was: list[Fraction], *, is_lost: bool, is_same: bool = False) -> None:
    """Check that every reader tells of a column or none does, and what they read if none does."""
    frame, has_gap = pd.DataFrame({"a": values}), case.chance(0.3)
    wraps: list[Callable[[Any], Any]] = [np.asarray, pd.Series, pl.Series, list]
    if isinstance(values, np.ndarray) and values.dtype == np.float16:
        wraps, has_gap = [np.asarray, torch.tensor, list], False
    elif isinstance(values, np.ndarray) and has_gap:
        name, mask = values.dtype.name.capitalize(), [False] * len(values) + [True]
        wraps = [
            lambda v: pd.Series([*v, None], dtype=name),
            lambda v: pl.Series([*v.tolist(), None], dtype=getattr(pl, name)),
            lambda v: np.ma.array(np.append(v, v[:1]), mask=mask),
        ]
        frame = pd.DataFrame({"a": wraps[0](values)})
    column = case.rng.choice(wraps)(values)
    # One prime alone: the window is not what is tested.
    encoder = AdelicEncoder(primes=(7,), precision=1, lossy="error", handle_missing="zero")
    readers: dict[str, Callable[[], Any]] = {
        "the encoder": lambda: encoder.fit(frame),
        "an embedding": lambda: OpenNumbers(floats="shortest", lossy="error", missing=True).read(column)[0],
        "a table": lambda: ids_of({"a": values}, ["a"], (), lossy="error"),
    }
    for name, read in readers.items():
        found, error = None, ""
        try:
            found = read()
        except EncodingError as caught:
            check_error(caught)
            error = str(caught)
        assert bool(error) == is_lost, (
            f"{name} refuses {values!r}, whose numbers are what they were: {error}"
            if error
            else f"{name} reads {values!r} without a word"
        )
        case.counts["told" if error else "silent"] += 1
        if name == "an embedding" and is_same and found is not None:
            numbers = [found.fraction(i) for i in range(len(was))]
            assert numbers == was, f"{values!r} is read as {numbers}, and was {was}"
