from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from adelic import nn
from adelic.errors import AdelicError, EncodingError, LeadingZerosWarning, VocabularyError
from adelic.nn import Vocabulary


def test_ids_are_positions():
    vocabulary = Vocabulary([5, -3, "1/2", Decimal("0.25"), 10**30])
    assert len(vocabulary) == 5
    assert vocabulary.numbers == (5, -3, Fraction(1, 2), Fraction(1, 4), 10**30)
    assert vocabulary.ids([10**30, "2/4", -3, 5, "0.25"]).tolist() == [4, 2, 1, 0, 3]


@pytest.mark.parametrize(
    ("numbers", "ids"),
    [([1, None], [0, 3]), ([[None, "1/2"], [2, None]], [[3, 2], [1, 3]]), (None, 3), (2, 1), ([None], [3])],
)
def test_missing_numbers_need_no_0_in_the_vocabulary(numbers, ids):
    assert Vocabulary([1, 2, "1/2"], missing=True).ids(numbers).tolist() == ids


@pytest.mark.parametrize("shape", [(), (4,), (0, 4), (2, 1, 3, 2)])
def test_ids_keep_the_shape(shape):
    numbers = np.arange(int(np.prod(shape)), dtype=np.int8).reshape(shape) % 5
    ids = Vocabulary([4, 3, 2, 1, 0]).ids(numbers)
    assert ids.dtype == torch.int64
    assert tuple(ids.shape) == shape
    assert ids.tolist() == (4 - numbers).tolist()


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor, range])
def test_input_kinds(kind):
    numbers = range(3) if kind is range else kind([0, 1, 2])
    assert Vocabulary(range(3)).ids(numbers).tolist() == [0, 1, 2]
    assert Vocabulary(numbers).numbers == (0, 1, 2)


@pytest.mark.parametrize(
    ("asked", "named"),
    [([1, 2, 9], "9"), ([[9]], "9"), ([1, "1/9"], "1/9"), (["4/2", "7/3"], "7/3"), ([-1], "-1"), ([10**40], "1000")],
)
def test_unknown_number(asked, named):
    for missing in (False, True):
        with pytest.raises(VocabularyError, match=rf"^{named}.* is not in the vocabulary .*unknown=True"):
            Vocabulary(range(5), missing=missing).ids(asked)
    assert (Vocabulary(range(5), unknown=True).ids(asked) == 5).any()


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([1, 2, 1], "^1 occurs"),
        (["1/2", 3, "2/4"], "1/2 occurs"),
        (5, "a vocabulary is a list of numbers, not 5"),
        *((numbers, None) for numbers in ([], np.empty(0, int), [[1, 2]])),
    ],
)
def test_a_vocabulary_is_a_list_of_different_numbers(numbers, words):
    with pytest.raises(VocabularyError, match=words):
        Vocabulary(numbers)


@pytest.mark.parametrize("numbers", [["nan"], [float("inf")], [True], ["1/0"], [None], [[1], [2, 3]]])
def test_what_is_no_number(numbers):
    with pytest.raises(AdelicError):
        Vocabulary(numbers)
    with pytest.raises(AdelicError):
        Vocabulary([1, 2]).ids(numbers)


def test_repr_is_short():
    assert repr(Vocabulary([1, "1/2"])) == "Vocabulary([1, 1/2])"
    assert len(repr(Vocabulary(range(10**4)))) < 60


def test_floats_are_refused_with_advice_that_can_be_followed():
    """Neither a vocabulary nor an embedding takes floats=."""
    for call in (
        lambda: Vocabulary([19.99]),
        lambda: Vocabulary([1, 2]).ids([1.5]),
        lambda: nn.AdelicEmbedding(None)([[19.99]]),
    ):
        with pytest.raises(EncodingError, match="pass a Fraction, a Decimal or text such as") as caught:
            call()
        assert "floats=" not in str(caught.value)


@pytest.mark.parametrize("numbers", [[None], [[1, None]], [1, float("nan")]])
def test_a_missing_number_without_an_id_names_the_option(numbers):
    with pytest.raises(EncodingError, match="a Vocabulary with missing=True has an id for None and NaN"):
        Vocabulary([1, 2]).ids(numbers)
    with pytest.raises(EncodingError) as caught:
        Vocabulary([1, 2]).ids(["x"])
    assert "missing" not in str(caught.value)


def test_text_with_leading_zeros_is_told():
    with pytest.warns(LeadingZerosWarning, match="the vocabulary, at position"):
        assert Vocabulary(["00501", "12"]).numbers == (501, 12)
    with pytest.raises(EncodingError, match="leading zeros"):
        Vocabulary(["00501", "12"], lossy="error")
