"""Predictions as a result file keeps them, packed bit by bit, so that anybody can count the right answers again."""

import base64
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
MOST_BYTES = 1 << 23
"""Answers of a test split that take more are not kept: a file of results is read whole, and lives in a repository."""


def pack(classes: npt.NDArray[np.integer], n_classes: int) -> str:
    """Return class indices as base64 text of their bits, most significant first, the last byte filled with zeros.

    421 rows of two classes are 53 bytes, 72 letters. Several targets a row stand one after another. They are (rows,) or
    (rows, targets).

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

    A text that is not base64, or holds another number of rows, is a ValueError.

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


def _width(n_classes: int) -> int:
    """Return the number of bits that tell the classes apart, at least 1."""
    return max(1, (n_classes - 1).bit_length())
