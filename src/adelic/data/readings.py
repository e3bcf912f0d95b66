"""Readings: what is trivially read off the operands of a question, a whole number each, in one line of NumPy."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from adelic.data.drawn import Operands

Reading = Callable[[Operands], NDArray[np.int64]]

MODULI = (*range(2, 13), 16, 25, 100)
"""An operand is read modulo each of these."""
JOINT_MODULI = {2: (2, 3, 4, 5, 6), 3: (2, 3)}
"""Number of operands that are read together -> the moduli by which they are."""
READ_OPERANDS = 5
"""Of a question with more operands the first ones are read."""
_EIGHTHS = 8
_POWERS_OF_TEN = 10 ** np.arange(1, 20, dtype=np.uint64)  # to 10^19: below 2^64, and above what |int64| reaches


def operand_names(arity: int) -> tuple[str, ...]:
    """Return what the operands of a question are called: n; a, b, c; or operand 1, operand 2, ….

    >>> operand_names(1), operand_names(2), operand_names(4)[-1]
    (('n',), ('a', 'b'), 'operand 4')
    """
    if arity == 1:
        return ("n",)
    return ("a", "b", "c")[:arity] if arity <= 3 else tuple(f"operand {i + 1}" for i in range(arity))


def readings(known: Operands) -> Mapping[str, Reading]:
    """Return what can be read off questions, by name in plain words; each maps operands (n, arity) to int64 (n,).

    That an operand equals another is one of the three values of their comparison. `known`, int64 (m, arity), says which
    sizes of operands are usual.

    >>> of_pairs = readings(np.array([[6, 10], [-15, 5]]))
    >>> of_pairs["a and b modulo 4"](np.array([[6, 10], [-15, 5]])).tolist()
    [10, 5]
    >>> [name for name in of_pairs if "modulo" not in name][:3]
    ['sign of a', 'number of decimal digits of a', 'size of a in eighths']
    """
    names = operand_names(known.shape[1])[:READ_OPERANDS]
    found: dict[str, Reading] = {}
    for i, name in enumerate(names):
        found.update(_of_one(i, name, known[:, i]))
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        found[f"comparison of {first} and {second}"] = _comparison(i, j)
        found[f"which of {first} and {second} divides the other"] = _divisions(i, j)
    for count, moduli in JOINT_MODULI.items():
        for some in combinations(range(len(names)), count):
            for m in moduli:
                found[f"{_listed([names[i] for i in some])} modulo {m}"] = _modulo(some, m)
    if len(names) > 1:
        found[f"signs of {_listed(names)}"] = lambda X: _joined(np.sign(X[:, : len(names)]) + 1, 3)
    return found


def _of_one(i: int, name: str, known: NDArray[np.int64]) -> Iterator[tuple[str, Reading]]:
    for m in MODULI:
        yield f"{name} modulo {m}", _modulo((i,), m)
    yield f"sign of {name}", lambda X: np.sign(X[:, i])
    yield f"number of decimal digits of {name}", lambda X: _decimal_digits(X[:, i])
    bounds = np.sort(known)[len(known) * np.arange(1, _EIGHTHS) // _EIGHTHS]
    yield f"size of {name} in eighths", lambda X: np.searchsorted(bounds, X[:, i], "right")
    yield f"first decimal digit of {name}", lambda X: _first_digit(X[:, i])
    if (known < 0).any():  # else it is the operand modulo 10
        yield f"last decimal digit of {name}", lambda X: (_absolute(X[:, i]) % np.uint64(10)).astype(np.int64)


def _modulo(some: tuple[int, ...], m: int) -> Reading:
    return lambda X: _joined(X[:, list(some)] % m, m)


def _comparison(i: int, j: int) -> Reading:
    return lambda X: (X[:, i] > X[:, j]).astype(np.int64) - (X[:, i] < X[:, j])


def _divisions(i: int, j: int) -> Reading:
    return lambda X: _divides(X[:, i], X[:, j]) + 2 * _divides(X[:, j], X[:, i])


def _joined(digits: NDArray[np.int64], base: int) -> NDArray[np.int64]:
    """Return one number for each example of digits."""
    return np.asarray(digits @ base ** np.arange(digits.shape[1]))


def _divides(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1 if a divides b, else 0; 0 divides 0 alone."""
    return np.asarray(np.where(a == 0, b == 0, b % np.where(a == 0, 1, a) == 0), np.int64)


def _absolute(x: NDArray[np.int64]) -> NDArray[np.uint64]:
    return np.abs(x).astype(np.uint64)  # of −2^63, too, whose absolute value int64 does not have


def _decimal_digits(x: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(_POWERS_OF_TEN, _absolute(x), "right") + 1


def _first_digit(x: NDArray[np.int64]) -> NDArray[np.int64]:
    lower = np.concatenate([np.ones(1, np.uint64), _POWERS_OF_TEN])[_decimal_digits(x) - 1]
    return np.asarray(_absolute(x) // lower, np.int64)


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
