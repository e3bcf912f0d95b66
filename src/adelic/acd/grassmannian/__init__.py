"""Cluster variables of the Grassmannian Gr(3, n), rank 4, among the semistandard tableaux of shape 3 × 4.

The homogeneous coordinate ring of Gr(3, n) is a cluster algebra (Scott, "Grassmannians and cluster algebras", 2006).
Chang, Duan, Fraser and Li ("Quantum affine algebras and Grassmannians", arXiv:1907.13575) index its cluster variables
by semistandard tableaux of three rows with letters 1..n; the number of columns is the rank, the degree in Plücker
coordinates. Which tableaux belong to cluster variables is an open question; for SL_3 invariants Fomin and Pylyavskyy
("Tensor diagrams and cluster algebras", arXiv:1210.1888) have a conjecture. The n frozen variables, the cyclic
intervals {i, i+1, i+2}, do not count as cluster variables here.

How the cluster variables are found. Walks from seed to seed, through ranks up to 4, on Gr(3, m) for m up to 12 (see
`adelic.acd.grassmannian.walks`), collect the tableaux that use all letters 1..m; these are closed under promotion and
evacuation, the dihedral symmetry of the algebra. Any order-preserving choice of m letters among 1..n then gives a
cluster variable of Gr(3, n). A tableau of rank 4 has at most 12 letters, so m = 12 is enough for every n. There are
288, 400, 264, 52 such tableaux of rank 4 with exactly 9, 10, 11, 12 letters, and so 92,980 for n = 12.

What this proves and what not. Each tableau found is a cluster variable. That there are no others of rank 4 is
*empirical saturation*, not a theorem: walks end only after sixteen times as many mutations as it took to find the last
new variable (and a million at least for m = 12), and other seeds, greater caps on the rank and walks on all of
Gr(3, 12) find the same ones. For ranks 1 to 3 the method gives 208, 1,848 and 13,860 cluster variables for n = 12, and
in the cases of finite type, Gr(3, 6), Gr(3, 7) and Gr(3, 8), all 16, 42 and 128. The published dataset has 92,911 of
rank 4, from a stochastic search (Cheung et al., "Clustering cluster algebras with clusters", arXiv:2212.09771).

Encoding: the tableau row by row, tokens 1..n, length 12; label 1 is a cluster variable. Positives first, in
lexicographic order; then as many negatives.

Editions:

- `published`: the negatives are drawn uniformly from all tableaux (13,026,013 for n = 12) that are not cluster
  variables, and are different from each other. So the letters alone tell much: a positive has 9 to 12 different ones.
- `corrected`: negative i has the letters of positive i, each as often, and is drawn uniformly among the non-variables
  that have, without repetition. No content runs short: the nearest to it, with twelve different letters, has 52
  cluster variables among 462 tableaux. And tableaux that promotion, evacuation and relabelling turn into each other
  stay in one split. The positives are only 59 such families, and a random split shows all of them in train. Of either
  class about a fifth is for testing.

Symmetries. Promotion and evacuation permute the cluster variables, and as they permute all tableaux, the others too.
The task's symmetries apply them among the letters that occur in an example, so it keeps its set of letters and n
need not be known. For the symmetries of Gr(3, n) itself use `promotion` and `evacuation`.
"""

from collections.abc import Callable, Iterator
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adelic.acd.facts import described
from adelic.acd.grassmannian import tableaux, walks
from adelic.acd.grassmannian.tableaux import flat, keys, read_tableaux, standard_forms
from adelic.acd.permutations import Int8, Int64, differences
from adelic.data.protocol import Estimate, Integers, Request, Rows, Symmetry, Task
from adelic.errors import EncodingError, TaskSizeError
from adelic.storage.checks import shown, whole_number

RANK = 4
GREATEST_N = 16

# Standardised cluster variables of rank 4 by the number of their letters, for the estimate.
STANDARDISED_COUNTS = {9: 288, 10: 400, 11: 264, 12: 52}

# Measured at the peak of a build, with the Parquet file and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 240
PEAK_BYTES = 64 << 20


def is_cluster_variable(tableau: ArrayLike, n: int = 12) -> bool | NDArray[np.bool_]:
    """Return whether a tableau is a cluster variable of Gr(3, n), ranks 1 to 4; frozen variables do not count.

    For rank 4 "no" rests on the saturation of a search, see above.

    Args:
        tableau: a semistandard tableau, shape (3, rank) or, for rank 4, (12,); or a batch, (*, 3, rank) or (*, 12).
        n: the number of letters, 3 to 127. It matters for rank 1 only, where it decides what is frozen.

    Returns:
        A bool; for a batch, an array of them with the batch's axes.

    Raises:
        EncodingError: the tableau is not semistandard with letters 1..n, or of a rank above 4.

    >>> is_cluster_variable([[1, 2, 6, 9], [7, 8, 8, 11], [9, 10, 10, 12]])
    True
    >>> is_cluster_variable([[1, 1, 5, 7], [4, 5, 7, 9], [8, 8, 10, 11]])
    False
    >>> is_cluster_variable([[[1], [2], [4]], [[1], [2], [12]]])  # the second one is frozen
    array([ True, False])
    """
    T, _, batch = read_tableaux(tableau, n)
    rank = _check_rank(T.shape[2])
    if rank == 1:
        found = ~_is_cyclic_interval(T[:, :, 0], tableaux.check_letters(n))
    else:
        found = np.isin(keys(standard_forms(T)[0]), np.concatenate(list(_standardised(rank).values())))
    return found.reshape(batch) if batch else bool(found[0])


def cluster_variables(rank: int, n: int) -> Int8:
    """Return the cluster variables of Gr(3, n) of a rank as tableaux, in lexicographic order of their rows.

    Args:
        rank: 1 to 4.
        n: 3 to 16.

    Returns:
        int8, shape (count, 3, rank). For rank 4 what the search has found, see above.

    Raises:
        EncodingError: the rank is not one of 1..4.
        TaskSizeError: n is not one of 3..16.

    >>> [len(cluster_variables(rank, 8)) for rank in (1, 2, 3, 4)]
    [48, 56, 24, 0]
    >>> cluster_variables(2, 6).tolist()
    [[[1, 2], [3, 4], [5, 6]], [[1, 3], [2, 5], [4, 6]]]
    """
    rank, letters = _check_rank(rank), whole_number(n)
    if letters is None or not 3 <= letters <= GREATEST_N:
        raise TaskSizeError(f"cluster variables are listed for n from 3 to {GREATEST_N}, not {shown(n)}")
    if rank == 1:
        columns = tableaux.TableauOrder(1, letters).columns
        return columns[~_is_cyclic_interval(columns, letters)][:, :, None]
    found = [np.empty((0, 3, rank), np.int8)]
    for m, packed in _standardised(rank, letters).items():
        found.append(
            _relabelled(tableaux.from_keys(packed, rank), tableaux.relabellings(m, letters)).reshape(-1, 3, rank)
        )
    return _sorted(np.concatenate(found))


def _check_rank(rank: object) -> int:
    number = whole_number(rank)
    if number is None or not 1 <= number <= RANK:
        raise EncodingError(f"cluster variables of Gr(3, n) are known here for ranks 1 to {RANK}, not {shown(rank)}")
    return number


def _is_cyclic_interval(columns: Integers, n: int) -> NDArray[np.bool_]:
    a, b, c = columns.T
    return np.asarray((c - a == 2) | ((a == 1) & (c == n) & ((b == 2) | (b == n - 1))))


def _standardised(
    rank: int, most: int = GREATEST_N, report: Callable[[int, int], None] = lambda done, total: None
) -> dict[int, Int64]:
    """Return the keys of the standardised cluster variables of a rank from 2 on, by the number m <= most of letters."""
    # Gr(3, 5) is of finite type A_2, and its cluster variables are all of rank 1.
    sizes = range(6, min(3 * rank, most) + 1)
    found = {}
    for done, m in enumerate(sizes):
        found[m] = walks.standardised_variables(m)[rank]
        report(done + 1, len(sizes))
    return {m: packed for m, packed in found.items() if len(packed)}


def _relabelled(T: Int8, letters: Int8) -> Int8:
    """Return the tableaux (count, 3, r) with each choice of letters, shape (choices, count, 3, r)."""
    return letters[:, T.astype(np.intp) - 1]


def _sorted(T: Int8) -> Int8:
    return T[np.lexsort(flat(T).T[::-1])]


def _among_occurring_letters(T: Int8, change: Callable[[Int8, Int64], Int8]) -> Int8:
    """Return the batch (count, 3, r) changed by a function that takes tableaux with letters 1..m[i], and all m."""
    standard, m = standard_forms(T)
    changed = flat(change(standard, m))
    return np.take_along_axis(tableaux.occurring_letters(T), changed.astype(np.intp) - 1, axis=1).reshape(T.shape)


def _symmetry(change: Callable[[Int8, Int64], Int8]) -> Symmetry:
    def symmetry(X: Integers, y: Integers) -> tuple[Integers, Integers]:
        changed = _among_occurring_letters(read_tableaux(X)[0], change)
        return changed.astype(X.dtype).reshape(X.shape), y

    return symmetry


def families(X: ArrayLike) -> Int64:
    """Return for each tableau a number shared by all those that promotion, evacuation and relabelling make of it.

    Args:
        X: tableaux of rank 4, shape (examples, 12) or (examples, 3, 4).

    Returns:
        int64, shape (examples,): the least key among the standardised tableaux of the family.

    Raises:
        EncodingError: no semistandard tableaux of rank 4.

    >>> from adelic.acd.grassmannian.tableaux import evacuation, promotion, standardise
    >>> X = np.array([[1, 2, 6, 9, 7, 8, 8, 11, 9, 10, 10, 12]])
    >>> len(set(families([X[0], promotion(X, 12)[0], evacuation(X, 12)[0], standardise(X)[0]])))
    1
    """
    T = read_tableaux(X)[0]
    standard, m = standard_forms(T)
    different, first, inverse = np.unique(keys(standard), return_index=True, return_inverse=True)
    turned, m = standard[first], m[first]
    least: Int64 = different
    # m promotions are the identity: tableaux with fewer letters go round more than once, which changes nothing.
    for _ in range(int(m.max(initial=0))):
        least = np.minimum(least, np.minimum(keys(turned), keys(tableaux.evacuated(turned, m))))
        turned = tableaux.promoted(turned, m)
    return np.asarray(least[inverse])


def distinct_letters(X: Integers) -> Int64:
    """Return how many different letters occur in each example, shape (examples,).

    >>> distinct_letters(np.array([[1, 2, 6, 9, 7, 8, 8, 11, 9, 10, 10, 12]]))
    array([9])
    """
    steps: Int64 = np.count_nonzero(np.diff(np.sort(X, axis=1), axis=1), axis=1)
    return 1 + steps


def multiplicity_profile(X: Integers) -> Int64:
    """Return how many letters occur once, twice, ... in each example, as one number: two decimal digits for each.

    >>> multiplicity_profile(np.array([[1, 2, 6, 9, 7, 8, 8, 11, 9, 10, 10, 12]]))  # 3 letters twice, 6 once
    array([306])
    """
    multiplicities = (X[:, :, None] == np.arange(1, int(X.max(initial=0)) + 1)).sum(axis=1)
    profile = np.zeros(len(X), np.int64)
    for k in range(RANK, 0, -1):  # a letter occurs at most once in each column
        profile = 100 * profile + (multiplicities == k).sum(axis=1)
    return profile


def standardised_tableau(X: Integers) -> Int64:
    """Return the standardised tableau of each example as one number, shape (examples,).

    >>> from adelic.acd.grassmannian.tableaux import standardise
    >>> X = np.array([[1, 2, 6, 9, 7, 8, 8, 11, 9, 10, 10, 12]])
    >>> (standardised_tableau(X) == standardised_tableau(standardise(X))).all()
    np.True_
    """
    return keys(standard_forms(read_tableaux(X)[0])[0])


def _generate(request: Request) -> Rows:
    # Here with its progress; what follows finds the variables in the cache.
    _standardised(RANK, report=lambda done, total: request.report(done, total, "walks on cluster algebras"))
    if request.edition == "published":
        positives = cluster_variables(RANK, request.n)
        return _rows(positives, _uniform_non_variables(positives, request.n, request.rng))
    rows = _rows(*_pairs_of_equal_content(request.n, request.rng))
    groups = families(rows.X)
    return Rows(rows.X, rows.y, _test_fifth(groups, rows.y, request.rng), groups)


def _rows(positives: Int8, negatives: Int8) -> Rows:
    y = np.repeat(np.array([1, 0], np.int8), [len(positives), len(negatives)])
    return Rows(np.concatenate([positives, negatives]).reshape(-1, 3 * RANK), y)


def _test_fifth(groups: Int64, y: Integers, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which examples are for testing: random groups with about a fifth of the examples of each class.

    The groups of positives are so few and so unequal that a fifth of them would be anything from a tenth to a third of
    the examples.
    """
    test = np.zeros(len(y), np.bool_)
    for label in (0, 1):
        different, sizes = np.unique(groups[y == label], return_counts=True)
        order = rng.permutation(len(different))
        rows_so_far = np.cumsum(sizes[order])
        count = 1 + int(np.argmin(np.abs(5 * rows_so_far - rows_so_far[-1])))
        test |= np.isin(groups, different[order[:count]])
    return test


def _uniform_non_variables(positives: Int8, n: int, rng: np.random.Generator) -> Int8:
    """Return as many different tableaux that are not positives, drawn uniformly, in the order in which they are drawn.

    The i-th non-variable has the index i + (positives before it) among all tableaux. With p_0 < p_1 < ... for the
    indices of the positives, p_j is before it exactly if p_j - j <= i.
    """
    order = tableaux.TableauOrder(RANK, n)
    places = np.sort(order.places(positives))
    drawn = rng.choice(order.total - len(places), size=len(places), replace=False)
    return order[drawn + np.searchsorted(places - np.arange(len(places)), drawn, side="right")]


def _pairs_of_equal_content(n: int, rng: np.random.Generator) -> tuple[Int8, Int8]:
    """Return all positives, ordered, and for each a non-variable of the same content, no two of them equal."""
    positives, negatives = [], []
    for variables, others, m in _by_content(n):
        letters = tableaux.relabellings(m, n)
        # The order of random numbers is a draw without repetition, one for each choice of letters.
        choice = np.argsort(rng.random((len(letters), len(others))), axis=1)[:, : len(variables)]
        assert choice.shape[1] == len(variables), "a content has fewer non-variables than cluster variables"
        positives.append(_relabelled(variables, letters).reshape(-1, 3, RANK))
        drawn = others[choice].reshape(len(letters), -1).astype(np.intp) - 1
        negatives.append(np.take_along_axis(letters, drawn, axis=1).reshape(-1, 3, RANK))
    X, Z = np.concatenate(positives), np.concatenate(negatives)
    order = np.lexsort(flat(X).T[::-1])
    return X[order], Z[order]


def _by_content(n: int) -> Iterator[tuple[Int8, Int8, int]]:
    """Yield for each content of standardised cluster variables these, the other tableaux of that content, and m."""
    for m, packed in _standardised(RANK).items():
        if m > n:
            continue
        variables = tableaux.from_keys(packed, RANK)
        contents = (variables.reshape(-1, 3 * RANK, 1) == np.arange(1, m + 1)).sum(axis=1)
        for content in np.unique(contents, axis=0):
            every = tableaux.tableaux_of_content(content.tolist())
            others = every[~np.isin(keys(every), packed)]
            yield variables[(contents == content).all(axis=1)], others, m


def _estimate(n: int, edition: str) -> Estimate:
    """Return the exact number of examples; for n > 99 the number for 99, as a lower bound."""
    known = min(n, 99)
    rows = 2 * sum(count * comb(known, m) for m, count in STANDARDISED_COUNTS.items())
    return Estimate(rows, PEAK_BYTES + rows * PEAK_BYTES_PER_ROW, exact=known == n)


TASK = Task(
    **described(
        "grassmannian",
        differences=(
            lambda X: np.hstack([X[:, :1].astype(np.int8), differences(X)]),
            lambda n: tuple(range(1 - n, n + 1)),
        ),
    ),
    version=1,
    minimum=9,
    maximum=GREATEST_N,  # beyond it the files grow out of hand: 15 million examples for n = 16
    class_names=lambda n, edition: ("not a cluster variable", "cluster variable"),
    vocabulary=lambda n, edition: tuple(range(1, n + 1)),
    length=lambda n, edition: 3 * RANK,
    estimate=_estimate,
    generate=_generate,
    symmetries={"promotion": _symmetry(tableaux.promoted), "evacuation": _symmetry(tableaux.evacuated)},
    cues={
        "distinct letters": distinct_letters,
        "multiplicity profile": multiplicity_profile,
        "standardised tableau": standardised_tableau,
    },
)
