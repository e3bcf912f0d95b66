"""How the dataset's authors write a row of each task, and how it becomes one of ours.

There are two kinds of files, of which none could be downloaded when this was written:

- JSON lines of the Hugging Face hub (repositories ACDRepo/...), an object a row: lists are the inputs, in their order,
  and what else there is the label. Columns of kl and rsk, whose labels are lists too, are known by name: from a page of
  the hub for kl, from code of others for rsk. Those of schubert and quiver were not seen.
- The text files that the loader in github.com/pnnl/ML4AlgComb reads, see `adelic.acd.published.authors_layout`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from adelic.acd import quiver, rsk
from adelic.acd.characters import read_partition
from adelic.acd.grassmannian.tableaux import read_tableaux
from adelic.acd.permutations import padded, read_permutation
from adelic.data.protocol import Integers
from adelic.errors import EncodingError
from adelic.storage.checks import shown

Label = int | list[int]


def flat(value: Any, n: int = 0) -> list[int]:
    """Return the whole numbers of nested lists in one list, whatever n is; EncodingError if there is another value.

    >>> flat([[1, 2], [3]])
    [1, 2, 3]
    """
    if isinstance(value, list):
        return [entry for part in value for entry in flat(part)]
    if type(value) is not int:
        raise EncodingError(f"{shown(value)} is not a whole number")
    return [value]


def nested_lists(line: str) -> list[Any]:
    """Return the values in a line of a text file, whatever brackets and separators it has; ValueError for other text.

    >>> nested_lists("([1, 2], [2, 1], [2, 1], 1)"), nested_lists("(2, 3, 0, 1);0")
    ([[1, 2], [2, 1], [2, 1], 1], [[2, 3, 0, 1], 0])
    """
    value: list[Any] = json.loads(f"[{line.translate(_BRACKETS)}]")
    while len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    return value


_BRACKETS = str.maketrans("();", "[],")


def _whole(value: Any, n: int) -> int:
    if type(value) is not int or abs(value) >= 1 << 63:
        raise EncodingError(f"the label {shown(value)} is not a whole number of 64 bits")
    return value


@dataclass(frozen=True, kw_only=True)
class Form:
    """How the rows of a task are written, and what is known of them.

    Attributes:
        tokens: (inputs as they are written, n) -> tokens.
        label: (label as it is written, n) -> class index or targets.
        columns: of inputs and label on the hub; none where the values tell which they are.
        values: a line of a text file -> its inputs, and its label where that stands in the line.
        absent: the class of whatever is not among the rows of the other classes; None where all rows are known.
        canonical: rows -> the rows as the task's generator writes them, for comparison.
    """

    tokens: Callable[[list[Any], int], list[int]] = flat
    label: Callable[[Any, int], Label] = _whole
    columns: tuple[str, ...] = ()
    values: Callable[[str], list[Any]] = nested_lists
    absent: int | None = None
    canonical: Callable[[Integers], Integers] = lambda X: X

    def names(self, record: Any) -> tuple[str, ...] | None:
        """Return the columns of inputs and label, the label last, in a record of the hub; None if it lacks them.

        >>> Form().names({"label": "A_11", "b": [[0, 1], [-1, 0]]})
        ('b', 'label')
        """
        if not isinstance(record, dict):
            return None
        if self.columns:
            return self.columns if record.keys() >= set(self.columns) else None
        lists = [name for name, value in record.items() if isinstance(value, list)]
        others = [name for name in record if name not in lists]
        return (*lists, *others) if lists and len(others) == 1 else None


def _schubert(parts: list[Any], n: int) -> list[int]:
    u, v, w = (read_permutation(part) for part in parts)
    return [*u, *v, *padded(w, 2 * n - 1)]


def _characters(parts: list[Any], n: int) -> list[int]:
    lam, mu = (read_partition(part) for part in parts)
    return [*lam, *[0] * (n - len(lam)), *mu, *[0] * (n - len(mu))]


def _rsk(parts: list[Any], n: int) -> list[int]:
    P, Q = parts
    return list(rsk.bracketed(P, Q))


def _inversions(value: Any, n: int) -> list[int]:
    bits = rsk.inversion_vector(value)
    if len(value) != n:
        raise EncodingError(f"{shown(value)} is not a permutation of 1..{n}")
    return list(bits)


def _coefficients(value: Any, n: int) -> list[int]:
    coefficients, length = flat(value), max(n - 1, 1)
    if any(coefficients[length:]) or any(abs(c) > 127 for c in coefficients):
        raise EncodingError(f"{shown(coefficients)} are not the coefficients of a polynomial for n={n}")
    return [*coefficients, *[0] * length][:length]


def _kl_values(line: str) -> list[Any]:
    x, w, *coefficients = line.split(",")
    return [*([int(digit) for digit in part.strip()] for part in (x, w)), [int(c) for c in coefficients]]


def _quiver_label(value: Any, n: int) -> int:
    return quiver.TYPES.index(value.partition("_")[0]) if isinstance(value, str) else _whole(value, n)


def _canonical_quivers(X: Integers) -> Integers:
    """Return exchange matrices in canonical form; anything else stays as it is."""
    n = isqrt(X.shape[1])
    matrices = X.reshape(-1, n, n).copy()
    exchange = np.atleast_1d(quiver.is_skew_symmetrizable(matrices))
    matrices[exchange] = quiver.canonical_form(matrices[exchange])
    return matrices.reshape(X.shape)


def _tableaux(X: Integers) -> Integers:
    """Return the rows; EncodingError unless they are semistandard."""
    return read_tableaux(X)[0].reshape(X.shape)


FORMS = {
    "characters": Form(tokens=_characters),
    "grassmannian": Form(absent=0, canonical=_tableaux),
    "kl": Form(label=_coefficients, columns=("Permutation 1", "Permutation 2", "Coefficients"), values=_kl_values),
    "lattice": Form(),
    "mheight": Form(),
    "quiver": Form(label=_quiver_label, canonical=_canonical_quivers),
    "rsk": Form(
        tokens=_rsk,
        label=_inversions,
        columns=("Standard Young tableau 1", "Standard Young tableau 2", "Permutation"),
    ),
    "schubert": Form(tokens=_schubert, absent=0),
    "weaving": Form(absent=0),
}
"""The tasks whose files can be read."""
