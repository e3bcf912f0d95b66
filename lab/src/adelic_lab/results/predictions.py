"""Predictions in a result file, packed bit by bit: anybody can count the right answers again."""

import base64
import binascii
import hashlib
import itertools
import json
import zlib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.data.drawn import Answers, Operands

Integers = npt.NDArray[np.int64]
MOST_BYTES = 1 << 23
"""Answers of a test split that take more are not kept: a file of results is read whole, and lives in a repository."""


def pack(classes: npt.NDArray[np.integer], n_classes: int) -> str:
    """Return class indices as base64 text of their bits, most significant first, the last byte filled with zeros.

    421 examples of two classes are 53 bytes, 72 letters. Several targets per example stand one after another. They are
    (rows,) or (rows, targets).

    >>> pack(np.array([1, 0, 0, 0, 0, 0, 0, 1]), 2)
    'gQ=='
    """
    flat, width = classes.astype(np.int64).ravel(), _width(n_classes)
    bits = np.empty((len(flat), width), np.uint8)
    for place in range(width):
        bits[:, place] = (flat >> (width - 1 - place)) & 1
    return base64.b64encode(np.packbits(bits).tobytes()).decode()


def unpack(text: str, shape: tuple[int, ...], n_classes: int) -> Integers:
    """Return the class indices that `pack` has written, in their shape.

    A text that is not base64, or holds another number of examples, is a ValueError.

    >>> unpack("gQ==", (8,), 2).tolist()
    [1, 0, 0, 0, 0, 0, 0, 1]
    """
    size, width = prod(shape), _width(n_classes)
    content = np.frombuffer(base64.b64decode(text, validate=True), np.uint8)
    if len(content) != -(-size * width // 8):
        raise ValueError(f"{len(content)} bytes are not {size} answers of {n_classes} classes")
    bits = np.unpackbits(content, count=size * width).reshape(size, width)
    classes = np.zeros(size, np.int64)
    for place in range(width):
        classes = 2 * classes + bits[:, place]
    return classes.reshape(shape)


def pack_answers(
    labels: npt.NDArray[np.integer], predictions: npt.NDArray[np.integer], least: int, greatest: int
) -> dict[str, Any]:
    """Return what a result keeps of integer answers between two bounds, as `Result.answers` reads it.

    Both are (rows,) or (rows, targets), between the least and the greatest answer possible. Of more answers than
    `MOST_BYTES` hold nothing is kept.

    >>> pack_answers(np.array([[0, -1]]), np.array([[1, -1]]), -1, 1)
    {'shape': [1, 2], 'range': [-1, 1], 'labels': 'QA==', 'predictions': 'gA=='}
    >>> many = np.zeros((MOST_BYTES, 9), np.int8)
    >>> pack_answers(many, many, 0, 1)
    {}
    """
    n_values = greatest - least + 1
    if labels.size * _width(n_values) > 8 * MOST_BYTES:
        return {}
    return {
        "shape": list(labels.shape),
        "range": [least, greatest],
        "labels": pack(labels - least, n_values),
        "predictions": pack(predictions - least, n_values),
    }


def pack_wrong(wanted: Answers, given: Answers) -> str:
    """Return what a result keeps of the answers to drawn questions: those that are wrong, and where, as base64 text.

    The right ones are drawn again from the seed, see `adelic_lab.results.recounting`. Answers are (n,): integers,
    Fractions, or None if there is none.

    >>> unpack_wrong(pack_wrong(np.array([1, 2, 3, 4]), np.array([1, 3, 3, None], dtype=object)))
    {1: 3, 3: None}
    """
    wrong = np.flatnonzero(~_equal(wanted, given))
    said = [a if a is None else int(a) if a == int(a) else str(a) for a in given[wrong].tolist()]
    text = json.dumps([np.diff(wrong, prepend=0).tolist(), said], separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack_wrong(text: str) -> dict[int, int | Fraction | None]:
    """Return what was answered wrongly, by the number of the question; damaged text is a ValueError."""
    try:
        unpacked = zlib.decompressobj()
        content = unpacked.decompress(base64.b64decode(text, validate=True), MOST_BYTES)
        steps, said = json.loads(content) if unpacked.eof else ([1], [])
        return dict(zip(itertools.accumulate(steps), map(_answer, said), strict=True))
    except (binascii.Error, zlib.error, TypeError, RecursionError) as error:
        raise ValueError(f"it is no packed answers: {error}") from None


def _answer(said: Any) -> int | Fraction | None:
    return said if said is None or type(said) is int else Fraction(said)


def _equal(wanted: Answers, given: Answers) -> npt.NDArray[np.bool_]:
    pairs = zip(given.tolist(), wanted.tolist(), strict=True)
    return np.array([a is not None and bool(a == b) for a, b in pairs], dtype=np.bool_)


def answers_given(wanted: Answers, wrong: Mapping[int, int | Fraction | None]) -> Answers:
    """Return what a model answered, (n,) objects, from the right answers and what `unpack_wrong` returns."""
    given = wanted.astype(object)
    for i, said in wrong.items():
        given[i] = said
    return given


def digest(questions: Iterable[tuple[Operands, Answers]]) -> str:
    """Return the SHA-256 of questions with their answers, as decimal text.

    >>> digest([(np.array([[1, 2]]), np.array([3]))])[:16]
    '1def07dbe06eeb09'
    """
    found = hashlib.sha256()
    for operands, answers in questions:
        for row, answer in zip(operands.tolist(), answers.tolist(), strict=True):
            found.update(f"{' '.join(map(str, row))} {answer}\n".encode())
    return found.hexdigest()


def _width(n_classes: int) -> int:
    """Return the number of bits that tell the classes apart, at least 1."""
    return max(1, (n_classes - 1).bit_length())
