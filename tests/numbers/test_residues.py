"""Residues of integers of any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import EncodingError
from adelic.numbers.residues import residues


@given(st.lists(st.integers(), min_size=1, max_size=4), st.lists(st.integers(1, 2**63 - 1), max_size=4))
def test_residues_are_python_s(numbers, moduli):
    found = residues([numbers, numbers], moduli)
    assert found.tolist() == [[[n % m for m in moduli] for n in numbers]] * 2
    assert found.dtype == np.int64


def test_fractions_have_none():
    with pytest.raises(EncodingError, match=r"^1/2 at position \[0, 1\] is a fraction"):
        residues([[1, "1/2"], [2, "1/3"]], (3,))
