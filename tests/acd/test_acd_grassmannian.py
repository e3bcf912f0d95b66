from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from adelic.acd import grassmannian
from adelic.acd.grassmannian import tableaux, walks
from adelic.data.splits import TEST, split_rows

PRIME = (1 << 61) - 1


def all_tableaux(rank, n):
    """Every semistandard 3 × rank tableau with letters 1..n, column by column."""
    columns = list(combinations(range(1, n + 1), 3))
    chains = [()]
    for _ in range(rank):
        chains = [
            (*chain, column)
            for chain in chains
            for column in columns
            if not chain or all(a <= b for a, b in zip(chain[-1], column, strict=True))
        ]
    return np.array(chains, np.int8).transpose(0, 2, 1)


def as_sets(T):
    return set(map(tuple, np.reshape(T, (len(T), T.shape[1] * T.shape[2])).tolist()))


# Promotion and evacuation


def slide_promotion(T, n):
    """Promotion by jeu de taquin: every n leaves its cell empty, the holes slide to the upper left and become 0."""
    grid = {(i, j): int(T[i][j]) for i in range(3) for j in range(len(T[0]))}
    for hole in sorted(cell for cell, letter in grid.items() if letter == n):  # from left to right
        i, j = hole
        while True:
            above, left = grid.get((i - 1, j), 0), grid.get((i, j - 1), 0)
            if max(above, left) == 0:
                grid[i, j] = 0
                break
            # The greater neighbour moves in; of equal ones the upper, else a column would hold a letter twice.
            source = (i - 1, j) if above >= left else (i, j - 1)
            grid[i, j] = grid[source]
            i, j = source
    return [[grid[i, j] + 1 for j in range(len(T[0]))] for i in range(3)]


@pytest.mark.parametrize(("rank", "n"), [(1, 5), (2, 5), (2, 6), (3, 5), (4, 4), (4, 5)])
def test_promotion_is_that_of_jeu_de_taquin(rank, n):
    T = all_tableaux(rank, n)
    assert tableaux.promotion(T, n).tolist() == [slide_promotion(t, n) for t in T]


@pytest.mark.parametrize(("rank", "n"), [(1, 7), (2, 6), (2, 7), (3, 5), (4, 5)])
def test_promotion_and_evacuation_generate_the_dihedral_group(rank, n):
    T = all_tableaux(rank, n)
    promoted, evacuated = tableaux.promotion(T, n), tableaux.evacuation(T, n)
    assert as_sets(promoted) == as_sets(evacuated) == as_sets(T)
    assert (tableaux.evacuation(evacuated, n) == T).all()
    back = tableaux.evacuation(tableaux.promotion(evacuated, n), n)
    assert (tableaux.promotion(back, n) == T).all()  # a reflection turns the rotation round
    turned = T
    for _ in range(n):
        turned = tableaux.promotion(turned, n)
    assert (turned == T).all()


# Counting, ranking, contents


@pytest.mark.parametrize(("rank", "n"), [(1, 3), (1, 7), (2, 6), (3, 5), (4, 4), (4, 5)])
def test_counts_and_places(rank, n):
    T = all_tableaux(rank, n)
    order = tableaux.TableauOrder(rank, n)
    assert order.total == len(T)
    assert (order[np.arange(order.total)] == T).all()
    assert (order.places(T) == np.arange(order.total)).all()


def test_count_of_the_data_set(published_facts):
    total = published_facts["grassmannian"]["ssyt_total"]
    order = tableaux.TableauOrder(4, 12)
    assert order.total == total
    places = np.random.default_rng(0).integers(0, total, 1000)
    assert (order.places(order[places]) == places).all()


@pytest.mark.parametrize(("rank", "n"), [(2, 5), (2, 6), (3, 5), (4, 5)])
def test_tableaux_of_a_content(rank, n):
    by_content = {}
    for T in all_tableaux(rank, n):
        by_content.setdefault(tuple(np.bincount(T.ravel(), minlength=n + 1)[1:].tolist()), []).append(T)
    for content, expected in by_content.items():
        found = tableaux.tableaux_of_content(content)
        assert found.reshape(len(found), -1).tolist() == sorted(T.ravel().tolist() for T in expected)
    assert len(tableaux.standard_tableaux(4)) == 462


def test_standardise():
    T = all_tableaux(2, 6)
    for t, standard in zip(T, tableaux.standardise(T), strict=True):
        letters = sorted(set(t.ravel().tolist()))
        assert [letters[x - 1] for x in standard.ravel()] == t.ravel().tolist()


# Cluster variables, from the definition


def dominates(S, T, n):
    """Whether, for every i, the shape of the letters up to i in S is at least that in T in the dominance order."""
    for i in range(1, n + 1):
        in_s, in_t = ([sum(x <= i for x in row) for row in rows] for rows in (S, T))
        if in_s[0] < in_t[0] or sum(in_s[:2]) < sum(in_t[:2]):
            return False
    return True


class PlainSeed:
    """A seed in plain Python: rows as sorted lists, dominance as maximum, values in the function field modulo PRIME."""

    def __init__(self, n, matrix):
        start = walks.initial_seed(n)
        self.n = n
        self.b = start.b.tolist()
        self.tableaux = [[[int(x) + 1 for x in np.flatnonzero(row)] for row in T] for T in start.tableaux]
        self.values = [minor(matrix, [row[0] for row in T]) for T in self.tableaux]

    def mutate(self, k):
        sums, products = [[[], [], []], [[], [], []]], [1, 1]
        for i, row in enumerate(self.b):
            side = 0 if row[k] > 0 else 1
            for _ in range(abs(row[k])):
                sums[side] = [sorted(a + b) for a, b in zip(sums[side], self.tableaux[i], strict=True)]
                products[side] = products[side] * self.values[i] % PRIME
        assert dominates(*sums, self.n) != dominates(*sums[::-1], self.n)  # comparable, and different
        greater = sums[0] if dominates(*sums, self.n) else sums[1]
        for row, old in zip(greater, self.tableaux[k], strict=True):
            for letter in old:
                row.remove(letter)
        self.tableaux[k] = greater
        self.values[k] = sum(products) * pow(self.values[k], -1, PRIME) % PRIME
        old = [list(row) for row in self.b]
        for i, j in product(range(len(old)), range(len(old[0]))):
            if k in (i, j):
                self.b[i][j] = -old[i][j]
            elif old[i][k] * old[k][j] > 0:
                self.b[i][j] += abs(old[i][k]) * old[k][j]

    def copy(self):
        other = object.__new__(PlainSeed)
        other.n, other.b = self.n, [list(row) for row in self.b]
        other.tableaux, other.values = list(self.tableaux), list(self.values)
        return other

    def tableau(self, k):
        return tuple(map(tuple, self.tableaux[k]))


def minor(matrix, columns):
    (a, b, c), (d, e, f), (g, h, i) = ([row[x - 1] for x in columns] for row in matrix)
    return (a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)) % PRIME


def random_matrix(n, seed=0):
    return np.random.default_rng(seed).integers(1, PRIME, (3, n)).tolist()


def variables_by_exhaustion(n):
    """All tableaux and values of the cluster variables of Gr(3, n), n <= 8: breadth first through all seeds."""
    start = PlainSeed(n, random_matrix(n))
    mutable = range(len(start.b[0]))
    found = {start.tableau(k): start.values[k] for k in mutable}
    seeds, queue = {frozenset(found)}, [start]
    while queue:
        seed = queue.pop()
        for k in mutable:
            other = seed.copy()
            other.mutate(k)
            assert found.setdefault(other.tableau(k), other.values[k]) == other.values[k]
            cluster = frozenset(other.tableau(j) for j in mutable)
            if cluster not in seeds:
                seeds.add(cluster)
                queue.append(other)
    return found, len(seeds)


@pytest.mark.parametrize(
    ("n", "seeds"), [(6, 50), (7, 833), pytest.param(8, 25080, marks=pytest.mark.slow)]
)  # the numbers of clusters of types D_4, E_6 and E_8
def test_finite_type(n, seeds, published_facts):
    found, count = variables_by_exhaustion(n)
    assert count == seeds
    assert len(set(found.values())) == len(found)  # different tableaux, different functions
    assert len(found) == published_facts["grassmannian"]["small"][f"Gr(3,{n})"]
    ours = {tuple(map(tuple, T.tolist())) for rank in (1, 2, 3, 4) for T in grassmannian.cluster_variables(rank, n)}
    assert ours == set(found)


@pytest.mark.parametrize(("n", "steps"), [(9, 1500), (12, 1500)])
def test_mutation_in_the_function_field(n, steps):
    """On a random walk each tableau belongs to one function, and those of rank 4 at most are known."""
    rng = np.random.default_rng(n)
    seed, found = PlainSeed(n, random_matrix(n)), {}
    mutable = len(seed.b[0])
    for k in rng.integers(0, mutable, steps):
        tried = seed.copy()
        tried.mutate(int(k))
        if len(tried.tableaux[k][0]) <= 5:
            seed = tried
            assert found.setdefault(seed.tableau(k), seed.values[k]) == seed.values[k]
    assert len(set(found.values())) == len(found)
    assert {len(T[0]) for T in found} == {1, 2, 3, 4, 5}
    assert all(grassmannian.is_cluster_variable(T, n) for T in found if len(T[0]) <= 4)


def test_mutation_of_exchange_matrices():
    rng = np.random.default_rng(0)
    seed = PlainSeed(8, random_matrix(8))
    b = walks.initial_seed(8).b[None]
    for k in rng.integers(0, b.shape[2], 40):
        seed.mutate(int(k))
        b = walks.mutated(b, np.array([k]))
        assert b[0].tolist() == seed.b


@pytest.mark.parametrize("n", range(5, 13))
def test_sides_of_an_exchange_have_equal_content(n):
    seed = walks.initial_seed(n)
    content = seed.tableaux.sum(axis=1)
    assert (seed.b.T @ content == 0).all()
    mutable = seed.b.shape[1]
    assert (seed.b[:mutable] == -seed.b[:mutable].T).all()
    frozen = {tuple(np.flatnonzero(T.sum(axis=0)) + 1) for T in seed.tableaux[mutable:]}
    assert frozen == {tuple(sorted((i + j) % n + 1 for j in range(3))) for i in range(n)}


# Counts


def test_counts_by_letters(published_facts):
    expected = published_facts["grassmannian"]["standardised_by_letters"]
    for m, count in expected.items():
        assert len(walks.standardised_variables(int(m))[4]) == count
    assert {str(m): count for m, count in grassmannian.STANDARDISED_COUNTS.items()} == expected


def test_counts_by_rank(published_facts):
    facts = published_facts["grassmannian"]
    for rank, count in facts["lower_ranks"].items():
        assert len(grassmannian.cluster_variables(int(rank), 12)) == count
    assert len(grassmannian.cluster_variables(4, 12)) == facts["cluster_variables_rank4"]


WALKS = [
    *(pytest.param(m, *walk, marks=pytest.mark.long) for m in (9, 10) for walk in ((4, 1), (6, 2))),
    *(pytest.param(m, 4, seed, marks=pytest.mark.slow) for m in (11, 12) for seed in (1, 2)),
    *(pytest.param(m, *walk, marks=pytest.mark.slow) for m in (11, 12) for walk in ((5, 3), (6, 4), (8, 5), (12, 6))),
]


@pytest.mark.parametrize(("m", "cap", "seed"), WALKS)
def test_the_walks_are_saturated(m, cap, seed):
    ours = walks.standardised_variables(m)
    for rank, found in walks.saturated(m, cap=cap, seed=seed).items():
        assert (found == ours[rank]).all()


@pytest.mark.parametrize(("steps", "least"), [(200, 5_000), pytest.param(20_000, 60_000, marks=pytest.mark.slow)])
def test_plain_walks_find_nothing_else(steps, least):
    """Walks on Gr(3, 12), with no symmetry and no relabelling put in, meet known variables only."""
    walk = walks.walk(12, 5, np.random.default_rng(7))
    met = {rank: set() for rank in (1, 2, 3, 4)}
    for _ in range(steps // 200):
        contents = np.concatenate([next(walk) for _ in range(200)])
        ranks = contents[:, 0].sum(axis=1)
        for rank, keys in met.items():
            T = walks._from_contents(contents[ranks == rank], rank)
            keys |= set(tableaux.keys(T).tolist())
    for rank, keys in met.items():
        known = tableaux.keys(grassmannian.cluster_variables(rank, 12)).tolist()
        assert keys <= set(known)
    assert sum(map(len, met.values())) > least


@pytest.mark.parametrize(
    ("rank", "n"),
    [
        pytest.param(rank, n, marks=pytest.mark.long if (rank, n) == (4, 12) else ())
        for rank in (1, 2, 3, 4)
        for n in (9, 10, 12)
    ],
)
def test_cluster_variables_are_closed_under_the_symmetries(rank, n):
    T = grassmannian.cluster_variables(rank, n)
    rows = T.reshape(len(T), -1).tolist()
    assert rows == sorted(rows)
    assert as_sets(T) == as_sets(tableaux.promotion(T, n)) == as_sets(tableaux.evacuation(T, n))
    assert len(as_sets(T)) == len(T)
    assert grassmannian.is_cluster_variable(T, n).all()


@pytest.mark.parametrize(("rank", "n"), [(1, 9), (2, 7), (3, 6)])
def test_membership_on_all_tableaux(rank, n):
    T = all_tableaux(rank, n)
    members = T[grassmannian.is_cluster_variable(T, n)]
    assert as_sets(members) == as_sets(grassmannian.cluster_variables(rank, n))


# The data set


def test_oracle(oracle, generated):
    vectors = oracle("grassmannian")
    T = [tableau for tableau, _ in vectors]
    labels = [label == 1 for _, label in vectors]
    assert grassmannian.is_cluster_variable(T).tolist() == labels
    assert [grassmannian.is_cluster_variable(tableau) for tableau in T] == labels
    positives = set(map(tuple, generated("grassmannian", 12).X[:92980].tolist()))
    assert {tuple(np.ravel(tableau).tolist()) in positives for tableau, label in vectors if label == 1} == {True}


class AscendingChoice:
    """Stands for a random generator that draws every number once, in ascending order."""

    def choice(self, total, size, replace):
        assert size <= total
        assert not replace
        return np.arange(total)


def test_uniform_negatives_number_all_non_variables():
    """The map from numbers to non-variables is a bijection, so uniform numbers make uniform negatives."""
    positives = grassmannian.cluster_variables(4, 9)
    negatives = grassmannian._uniform_non_variables(positives, 9, AscendingChoice())
    order = tableaux.TableauOrder(4, 9)
    assert len(negatives) + len(positives) == order.total
    every = np.concatenate([order.places(negatives), order.places(positives)])
    assert (np.sort(every) == np.arange(order.total)).all()


def test_corrected_negatives_have_the_letters_of_their_positives(generated):
    rows = generated("grassmannian", 12, "corrected")
    half = len(rows.y) // 2
    assert (np.sort(rows.X[:half], axis=1) == np.sort(rows.X[half:], axis=1)).all()


def test_no_content_runs_short_of_negatives():
    counts = [(len(variables), len(others)) for variables, others, _ in grassmannian._by_content(12)]
    assert sum(variables for variables, _ in counts) == 1004
    assert max(variables / others for variables, others in counts) == 52 / 410


@pytest.mark.long
def test_corrected_negatives_are_uniform():
    """Among all those of a content each is drawn about equally often."""
    drawn = Counter()
    content = tuple(range(1, 13))
    for seed in range(20):
        _, negatives = grassmannian._pairs_of_equal_content(12, np.random.default_rng(seed))
        chosen = negatives[(np.sort(negatives.reshape(-1, 12), axis=1) == content).all(axis=1)]
        drawn.update(as_sets(chosen))
    assert sum(drawn.values()) == 20 * 52
    assert len(drawn) > 350  # of 410; 20 draws of 52 leave 410 (1 - 52/410)^20 = 27 out on average
    assert max(drawn.values()) < 12  # binomial, 20 · 52/410 = 2.5 on average


def test_families_share_their_split(generated):
    rows = generated("grassmannian", 12, "corrected")
    split = split_rows(rows, np.random.default_rng(0))
    in_test = set(rows.groups[split == TEST].tolist())
    assert in_test.isdisjoint(rows.groups[split != TEST].tolist())
    for label in (0, 1):
        share = np.mean(split[rows.y == label] == TEST)
        assert 0.17 < share < 0.23
    X = rows.X[::50]
    for image in (
        tableaux.promotion(X, 12),
        tableaux.evacuation(X, 12),
        tableaux.standardise(X),
    ):
        assert (grassmannian.families(image) == rows.groups[::50]).all()
    assert len(np.unique(rows.groups[rows.y == 1])) == 59


def test_cues(generated):
    rows = generated("grassmannian", 12)
    cues = {name: cue(rows.X) for name, cue in grassmannian.TASK.cues.items()}
    for i in range(0, len(rows.X), 97):
        multiplicities = Counter(rows.X[i].tolist()).values()
        assert cues["distinct letters"][i] == len(multiplicities)
        assert cues["multiplicity profile"][i] == sum(100 ** (k - 1) for k in multiplicities)
    standard = tableaux.standardise(rows.X)
    assert len(np.unique(cues["standardised tableau"])) == len(np.unique(standard, axis=0))
    assert len(np.unique(cues["standardised tableau"][rows.y == 1])) == 1004


# Input that is none
