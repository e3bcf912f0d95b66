"""What the functions of the tasks refuse: every error is of the user's kind, and one line (tests/conftest.py)."""

import numpy as np
import pytest

from adelic.acd import characters, grassmannian, kl, mheight, permutations, quiver, rsk, schubert, weaving
from adelic.acd.grassmannian import tableaux
from adelic.errors import ConfigurationError, EncodingError, TaskSizeError, UnknownNameError

WORDS = ([1, 1, 2], [0, 1], [2, 3], [2], [1.0, 2.0], [True], [True, 2], "12", 12, None, [1, None], [[1], [2]])
MANY, TWO = (5, [1, 1], [0, 1], [[1, 2], [2, 3]], [[[2]]], [258, 1], [-1, 1]), np.array([[0, 1, 2], [0, 0, 1]])
FROM_ZERO = ([0, 0, 1], [0, 1, 3], [1, 2, 4], [True, False], [0.0, 1.0], "0123", 5, None)
PARTITIONS = ([1, 2], [2, 0, 1], [3, -1], [2.0, 1], [True, True, True], "21", 3, None, [[2, 1]])
SIZES = (0, -1, 10**30, True, 5.0, "5", None)
TABLEAUX = [
    *([1, 2, 3], [[1, 2], [3, 4]], [[1], [2], [2]], [[2, 1], [3, 4], [5, 6]], [[0], [1], [2]], [[1], [2], [13]]),
    *([[1.0], [2.0], [3.0]], [[], [], []], [[1, 1, 1, 1, 1], [2, 2, 2, 2, 2], [3, 3, 3, 3, 3]]),
    [[1, 1, 5, 7, 4, 5, 7, 9, 8, 8, 10, 7]],
]
PAIRS = [
    *(([[1, 2]], [[1], [2]]), ([[1, 2]], [[1]]), ([[2, 1]], [[1, 2]]), ([[1, 2]], [[1, 1]]), ([[1, 3]], [[1, 2]])),
    *(([[1], [2, 3]], [[1], [2, 3]]), ([[2, 3], [1]], [[1, 2], [3]]), ([[1, 2], []], [[1, 2], []])),
    *(([[True]], [[1]]), ([1, 2], [[1, 2]]), ("12", [[1, 2]])),
]
BATCHES = ([1, 2], [[1, 1]], [[]], [[[1]]], [[1.0, 2.0]], np.ones((1, 101), int))
BITS = ([], [1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 2], [0.0], 5, [[]])
MATRICES = ([], 5, [1, 2, 3], [[1, 2], [1, 3]], [[1.0]], np.ones((1, 6), int))
ONE, LETTERS = [[1], [2], [3]], (2, 128, 3.0, True, None, "12")
NUMBERS = r"\(2, 1\) is a partition of 3 and \(2, 2\) one of 4"
LEVELS = (5, [], [0, 1], [[0, 1, 1]], [0.0], [[0, 1], [0]])
SEED = quiver.initial_seed("A", 3)
ARRAYS = (5.0, [1.0], [[1], [2, 3]], [True], ["1"], [None], None, "12", [10**30], [float("nan")])
"""All tasks read arrays as `read_array` does."""
REFUSED = {  # what is asked with each of the inputs, the error, what it says, and the inputs
    "read_permutation": (permutations.read_permutation, EncodingError, None, WORDS),
    "read_array": (lambda a: permutations.read_array(a, "mine"), EncodingError, "^mine has ", ARRAYS),
    "read_permutations": (lambda a: permutations.read_permutations(a, 1), EncodingError, None, MANY),
    "rsk": (rsk.rsk, EncodingError, None, WORDS),
    "inversion_vector": (rsk.inversion_vector, EncodingError, None, WORDS),
    "schubert": (lambda w: schubert.schubert_structure_constant([2, 1], w, [2, 1]), EncodingError, None, WORDS),
    "mheight": (mheight.mheight, EncodingError, None, FROM_ZERO),
    "a word of many": (mheight.mheight, EncodingError, r"\(0, 0, 1\) is not a permutation of 0\.\.2 or of 1", [TWO]),
    "a word from 2 on": (mheight.mheight, EncodingError, r"\(2, 3, 4\)", [np.array([[2, 3, 4]])]),
    "a negative word": (mheight.mheight, EncodingError, r"\(-1, 0, 1\)", [np.array([[-1, 0, 1]])]),
    "lower of kl": (lambda w: kl.kazhdan_lusztig(w, [0, 1, 2]), EncodingError, "permutation", FROM_ZERO),
    "upper of kl": (lambda w: kl.kazhdan_lusztig([0, 1, 2], w), EncodingError, "permutation", FROM_ZERO),
    "sizes of kl": (lambda w: kl.kazhdan_lusztig([0, 1, 2], w), EncodingError, r"3 entries .* 2", [[1, 0]]),
    "table of kl": (kl.kl_polynomials, TaskSizeError, None, (*SIZES, 8)),
    "table of characters": (characters.character_table, TaskSizeError, None, (*SIZES, 34)),
    "partitions": (characters.partitions, EncodingError, None, (-1, True, 2.0, "3", None)),
    "shape of a character": (lambda p: characters.character(p, [2, 1]), EncodingError, "partition", PARTITIONS),
    "class of a character": (lambda p: characters.character([2, 1], p), EncodingError, "partition", PARTITIONS),
    "conjugate": (characters.conjugate, EncodingError, "partition", PARTITIONS),
    "numbers of a character": (lambda p: characters.character([2, 1], p), EncodingError, NUMBERS, [[2, 2]]),
    "tableau": (grassmannian.is_cluster_variable, EncodingError, None, TABLEAUX),
    "letters": (lambda n: grassmannian.is_cluster_variable(ONE, n), EncodingError, None, LETTERS),
    "letters to promote": (lambda n: tableaux.promotion(ONE, n), EncodingError, None, LETTERS),
    "letters to evacuate": (lambda n: tableaux.evacuation(ONE, n), EncodingError, None, LETTERS),
    "rank": (lambda r: grassmannian.cluster_variables(r, 12), EncodingError, "ranks 1 to 4", (0, 5, True, 1.0)),
    "size of a list": (lambda n: grassmannian.cluster_variables(4, n), TaskSizeError, None, (2, 17, 10**30, 12.0)),
    "batch of rsk": (rsk.encoded, EncodingError, None, BATCHES),
    "pair of tableaux": (lambda pair: rsk.inverse_rsk(*pair), EncodingError, None, PAIRS),
    "pair the other way": (lambda pair: rsk.inverse_rsk(*pair[::-1]), EncodingError, None, PAIRS),
    "inversions": (rsk.permutations_of, EncodingError, None, BITS),
    "weaving": (weaving.is_weaving_pattern, EncodingError, None, MATRICES),
    "depth of a class": (lambda d: quiver.mutation_class(SEED, d), ConfigurationError, "depth", (-1, 1.0, True, "2")),
    "limit of a class": (lambda n: quiver.mutation_class(SEED, limit=n), ConfigurationError, "limit", (0, None, 1.5)),
    "seed of a class": (quiver.mutation_class, EncodingError, "one matrix", [np.stack([SEED, SEED])]),
    "type": (lambda name: quiver.initial_seed(name, 11), UnknownNameError, "mutation type", ("C", "a", None, 3)),
    "reflected levels": (weaving.levels_reflected, EncodingError, None, LEVELS),
    "turned levels": (weaving.levels_half_turned, EncodingError, None, LEVELS),
}


@pytest.mark.parametrize(("name", "bad"), [(name, bad) for name, (*_, inputs) in REFUSED.items() for bad in inputs])
def test_what_is_refused(name, bad):
    ask, error, words, _ = REFUSED[name]
    with pytest.raises(error, match=words):
        ask(bad)
