"""The form of the official data of each task: columns, text files, and how a row becomes one of ours.

`LAYOUTS` has one entry a task. What this rests on is said in `adelic.acd.published.files`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any

from adelic.acd import characters, lattice, quiver, rsk
from adelic.acd.permutations import padded, read_permutation
from adelic.errors import EncodingError
from adelic.storage.checks import shown

Label = int | list[int]
Parts = list[Any]


@dataclass(frozen=True, kw_only=True)
class TextFiles:
    """Text files of the older releases.

    Attributes:
        name: matches a file's name; its groups are split, and, where they have one, label.
        read: (line, label of the file, line of the companion file) -> inputs and target.
        labels: the labels that have files of their own; all of them must be there.
        companion: name -> the name of the file with the targets, line by line.
    """

    name: re.Pattern[str]
    read: Callable[[str, str, str], tuple[Parts, Any]]
    labels: tuple[str, ...] = ()
    companion: Callable[[str], str] | None = None


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How one task is published.

    Attributes:
        words: finds the names of repositories, folders and files of the task.
        columns: the input columns on the hub.
        target: the target's column.
        row: (inputs, target) -> tokens and label; raises EncodingError for what is no row of the task.
        size: the number of tokens -> n.
        texts: the text files.
    """

    words: re.Pattern[str]
    columns: tuple[str, ...]
    target: str
    row: Callable[[Parts, Any], tuple[list[int], Label]]
    size: Callable[[int], int]
    texts: TextFiles


def nested_lists(line: str) -> list[Any]:
    """Return the lists of integers that a line writes with any brackets, commas and semicolons between them.

    >>> nested_lists("([1, 2], [2, 1], [2, 1]; 1)")
    [[1, 2], [2, 1], [2, 1], 1]
    >>> nested_lists("[1,2] [3,4]")
    [[1, 2], [3, 4]]
    """
    text = re.sub(r"\]\s*\[", "],[", line.translate(_BRACKETS))
    value: list[Any] = json.loads(f"[{text}]")
    while len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    return value


_BRACKETS = str.maketrans("();", "[],")


def permutation_of_inversions(bits: str) -> list[int]:
    """Return the permutation of 0..n-1 with these inversions: for i < j in order, 1 where w_i > w_j.

    >>> permutation_of_inversions("011110"), permutation_of_inversions("000")
    ([2, 3, 0, 1], [0, 1, 2])

    Raises:
        EncodingError: no permutation has them.
    """
    n = (1 + isqrt(1 + 8 * len(bits))) // 2
    rest, start = list(range(n)), 0
    w: list[int] = []
    for i in range(n):
        smaller = bits.count("1", start, start + n - 1 - i)
        w.append(rest.pop(smaller))
        start += n - 1 - i
    if "".join(str(int(w[i] > w[j])) for i in range(n) for j in range(i + 1, n)) != bits:
        raise EncodingError(f"{shown(bits)} is no inversion vector")
    return w


def _number(value: object) -> int:
    if type(value) is not int:
        raise EncodingError(f"the label {shown(value)} is no whole number")
    if abs(value) >= 1 << 63:
        raise EncodingError(f"the label {shown(value)} is beyond 64 bits")
    return value


def _flat(value: object) -> list[int]:
    """Return the integers of a list, or of a list of lists, row by row."""
    entries = []
    for row in value if isinstance(value, list) else [value]:
        for entry in row if isinstance(row, list) else [row]:
            if type(entry) is not int:
                raise EncodingError(f"the entry {shown(entry)} is no whole number")
            if abs(entry) > 127:
                raise EncodingError(f"the entry {shown(entry)} is beyond ±127")
            entries.append(entry)
    return entries


def _permutation_from_zero(values: Any) -> list[int]:
    w = read_permutation(values, first=None)
    return [entry - min(w) for entry in w]


def _mheight_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    return _permutation_from_zero(parts[0]), _number(target)


def _weaving_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    tokens = _flat(parts[0])
    n = _weaving_size(len(tokens))
    if n * (n - 1) != len(tokens) or n < 2:
        raise EncodingError(f"{len(tokens)} entries are no n × (n-1) matrix")
    strange = [entry for entry in tokens if not 1 <= entry <= n]
    if strange:
        raise EncodingError(f"the entry {strange[0]} is none of 1..{n}")
    return tokens, _number(target)


def _weaving_size(length: int) -> int:
    return (1 + isqrt(1 + 4 * length)) // 2


def _schubert_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    u, v, w = (read_permutation(part) for part in parts)
    n = len(u)
    if len(v) != n or len(w) > 2 * n - 1:
        raise EncodingError(f"permutations of {len(u)}, {len(v)} and {len(w)} points; expected n, n and at most 2n - 1")
    return [*u, *v, *padded(w, 2 * n - 1)], _number(target)


def _lattice_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    lower, upper = (_flat(part) for part in parts)
    if len(lower) != len(upper):
        raise EncodingError(f"paths of {len(lower)} and {len(upper)} steps")
    for path in (lower, upper):
        if not lattice.is_lattice_path(path):
            raise EncodingError(f"{''.join(map(str, path))} is no lattice path")
    return [*lower, *upper], _number(target)


def _characters_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    lam, mu = (characters.read_partition(part) for part in parts)
    n = sum(lam)
    if n > characters.TASK.maximum:  # before zeros are written for it
        raise EncodingError(f"partitions of {shown(n)}, beyond {characters.TASK.maximum}")
    if sum(mu) != n:
        raise EncodingError(f"partitions of {n} and {shown(sum(mu))}")
    return [*lam, *[0] * (n - len(lam)), *mu, *[0] * (n - len(mu))], _number(target)


def _kl_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    x, w = (_permutation_from_zero(part) for part in parts)
    if len(x) != len(w):
        raise EncodingError(f"permutations of {len(x)} and {len(w)} points")
    coefficients = _flat(target)
    length = max(len(x) - 1, 1)
    if any(coefficients[length:]):
        raise EncodingError(f"the polynomial has a degree of {len(coefficients) - 1}, beyond {length - 1}")
    return [*x, *w], [*coefficients, *[0] * length][:length]


def _rsk_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    P, Q = parts
    n = len(rsk.inverse_rsk(P, Q))  # which raises unless they are standard tableaux of one shape
    w = read_permutation(target)
    if len(w) != n:
        raise EncodingError(f"tableaux of {n} entries and a permutation of {len(w)}")
    tokens = [rsk.OPENING]
    for tableau in (P, Q):
        tokens.append(rsk.OPENING)
        for entries in tableau:
            tokens += [rsk.OPENING, *entries, n + 1]
        tokens.append(n + 1)
    tokens.append(n + 1)
    return [*tokens, *[n + 2] * (6 * n + 6 - len(tokens))], list(rsk.inversion_vector(w))


def _grassmannian_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    tokens = _flat(parts[0])
    rows = [tokens[start : start + 4] for start in range(0, 12, 4)]
    if (
        len(tokens) != 12
        or not 1 <= min(tokens) <= max(tokens) <= 12
        or any(a > b for row in rows for a, b in pairwise(row))
        or any(a >= b for column in zip(*rows, strict=True) for a, b in pairwise(column))
    ):
        raise EncodingError(f"{shown(tokens)} is no semistandard tableau of shape 3 × 4 with letters 1..12")
    return tokens, _number(target)


def _quiver_row(parts: Parts, target: Any) -> tuple[list[int], Label]:
    tokens = _flat(parts[0])
    if isqrt(len(tokens)) ** 2 != len(tokens):
        raise EncodingError(f"{len(tokens)} entries are no square matrix")
    if isinstance(target, str):
        name = target.partition("_")[0]
        if name not in quiver.TYPES:
            raise EncodingError(f"{shown(target)} is none of the classes {', '.join(quiver.TYPES)}")
        return tokens, quiver.TYPES.index(name)
    return tokens, _number(target)


def _mheight_line(line: str, label: str, beside: str) -> tuple[Parts, Any]:
    permutation, _, height = line.partition(";")
    if set(permutation) <= set("01"):
        return [permutation_of_inversions(permutation)], int(height)
    return [nested_lists(permutation)], int(height)


def _kl_line(line: str, label: str, beside: str) -> tuple[Parts, Any]:
    if line.startswith("["):
        x, w, coefficients = nested_lists(line)[:3]
        return [x, w], coefficients
    x, w, *coefficients = line.replace(" ", "").split(",")
    return [[int(entry) for entry in x], [int(entry) for entry in w]], [int(c) for c in coefficients]


def _lattice_line(line: str, label: str, beside: str) -> tuple[Parts, Any]:
    steps = [int(step) for step in line if step.isdigit()]
    half = len(steps) // 2
    return [steps[:half], steps[half:]], lattice.LABELS.index(label)


def _values_then_target(line: str, label: str, beside: str) -> tuple[Parts, Any]:
    *parts, target = nested_lists(line)
    return parts, target


LAYOUTS = {
    "mheight": Layout(
        words=re.compile(r"mheight", re.IGNORECASE),
        columns=("Permutation",),
        target="mHeight",
        row=_mheight_row,
        size=lambda length: length,
        texts=TextFiles(name=re.compile(r"mHeight_\d+_(?P<split>train|test)\.txt$"), read=_mheight_line),
    ),
    "weaving": Layout(
        words=re.compile(r"weaving", re.IGNORECASE),
        columns=("Matrix",),
        target="Label",
        row=_weaving_row,
        size=_weaving_size,
        texts=TextFiles(
            name=re.compile(r"weaving_pattern_(?P<split>train|test)_\d+\.txt$"),
            read=lambda line, label, beside: ([nested_lists(line)], int(beside)),
            companion=lambda name: name.replace("weaving_pattern_", "labels_"),
        ),
    ),
    "lattice": Layout(
        words=re.compile(r"lattice|(?:lagrange|matching)_covers", re.IGNORECASE),
        columns=("Lattice path 1", "Lattice path 2"),
        target="Label",
        row=_lattice_row,
        size=lambda length: (length // 2 + 1) // 2,
        texts=TextFiles(
            name=re.compile(r"(?P<label>lagrange|matching)_covers_(?P<split>train|test)_\d+_\d+\.csv$"),
            read=_lattice_line,
            labels=lattice.LABELS,
        ),
    ),
    "schubert": Layout(
        words=re.compile(r"schubert", re.IGNORECASE),
        columns=("Permutation 1", "Permutation 2", "Permutation 3"),
        target="Structure constant",
        row=_schubert_row,
        size=lambda length: (length + 1) // 4,
        texts=TextFiles(
            name=re.compile(r"schubert_(?:structure_coefficients_triples_)?\d+_(?P<split>train|test)\.txt$"),
            read=_values_then_target,
        ),
    ),
    "quiver": Layout(
        words=re.compile(r"quiver|bmatrices", re.IGNORECASE),
        columns=("Adjacency matrix",),
        target="Label",
        row=_quiver_row,
        size=lambda length: isqrt(length),
        texts=TextFiles(
            name=re.compile(r"(?P<label>A|BD|D|BE|BB|E|DE)_\d+(?:_depth\d+)?_bmatrices_(?P<split>train|test)\.csv$"),
            read=lambda line, label, beside: ([nested_lists(line)], label),
            labels=quiver.TYPES,
        ),
    ),
    "grassmannian": Layout(
        words=re.compile(r"grassmannian|3_4_12_", re.IGNORECASE),
        columns=("Semistandard Young tableau",),
        target="Cluster variable?",
        row=_grassmannian_row,
        size=lambda length: 12,
        texts=TextFiles(
            name=re.compile(r"3_4_12_(?P<label>valid|invalid)_(?P<split>train|test)\.txt$"),
            read=lambda line, label, beside: ([nested_lists(line)], int(label == "valid")),
            labels=("valid", "invalid"),
        ),
    ),
    "characters": Layout(
        words=re.compile(r"symmetric.group.char|sym_grp_char", re.IGNORECASE),
        columns=("Irreducible representation", "Conjugacy class"),
        target="Character",
        row=_characters_row,
        size=lambda length: length // 2,
        texts=TextFiles(name=re.compile(r"sym_grp_char_\d+_(?P<split>train|test)\.txt$"), read=_values_then_target),
    ),
    "kl": Layout(
        words=re.compile(r"kl.pol|klps|kazhdan", re.IGNORECASE),
        columns=("Permutation 1", "Permutation 2"),
        target="Coefficients",
        row=_kl_row,
        size=lambda length: length // 2,
        texts=TextFiles(name=re.compile(r"(?:kl_polynomials_\d+|klps)_(?P<split>train|test)\.txt$"), read=_kl_line),
    ),
    "rsk": Layout(
        words=re.compile(r"robinson|rsk|tableau_pairs", re.IGNORECASE),
        columns=("Standard Young tableau 1", "Standard Young tableau 2"),
        target="Permutation",
        row=_rsk_row,
        size=lambda length: length // 6 - 1,
        texts=TextFiles(
            name=re.compile(r"output_tableau_pairs_\d+_(?P<split>train|test)\.txt$"),
            read=lambda line, label, beside: (nested_lists(line)[:2], nested_lists(beside)),
            companion=lambda name: name.replace("output_tableau_pairs_", "input_permutations_"),
        ),
    ),
}
"""The tasks whose official files can be read."""
