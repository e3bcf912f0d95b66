from functools import cache
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adelic import acd
from adelic.acd import quiver
from adelic.acd.quiver import TYPES, opposite
from adelic.data import Request
from adelic.errors import EncodingError, TaskSizeError


@cache
def orders(n):
    return np.array([*permutations(range(n))])


def least_relabelling(b):
    """The lexicographically least relabelling, of all n! of them."""
    order = orders(len(b))
    least = np.array(b)[order[:, :, None], order[:, None, :]].reshape(len(order), -1)
    for entry in range(least.shape[1]):
        least = least[least[:, entry] == least[:, entry].min()]
    return tuple(least[0].tolist())


def relabelled(b, permutation):
    """The matrices with vertex i renamed permutation[i]: b'_(p(i), p(j)) = b_ij."""
    places = np.argsort(permutation)
    return b[..., places[:, None], places]


def mutated(b, k):
    """The definition, entry by entry, on lists of Python integers."""
    n = range(len(b))
    return [
        [-b[i][j] if k in (i, j) else b[i][j] + (abs(b[i][k]) * b[k][j] + b[i][k] * abs(b[k][j])) // 2 for j in n]
        for i in n
    ]


def skew_symmetrizable(d, upper):
    """The matrix with d_i b_ij = -d_j b_ji, from the d and one number for each pair i < j."""
    n = len(d)
    b = np.zeros((n, n), np.int64)
    for (i, j), s in zip(combinations(range(n), 2), upper, strict=True):
        common = np.gcd(d[i], d[j])
        b[i, j], b[j, i] = s * d[j] // common, -s * d[i] // common
    return b


def circulant(n, steps):
    """The quiver with arrows from i to i + s for all steps s: much symmetry, one orbit of vertices."""
    b = np.zeros((n, n), np.int64)
    for i in range(n):
        for step in steps:
            b[i, (i + step) % n] += 1
            b[(i + step) % n, i] -= 1
    return b


def copies(b, count):
    return np.kron(np.eye(count, dtype=np.int64), b)


SYMMETRIC = [
    np.zeros((1, 1), np.int64),
    np.zeros((30, 30), np.int64),
    circulant(11, [1, 3, 4, 5, 9]),  # the Paley tournament
    circulant(12, [1]),
    circulant(9, [1, 2]),
    copies(circulant(3, [1]), 5),
    copies(np.array([[0, 1], [-2, 0]]), 8),
    np.kron(circulant(3, [1]), np.ones((4, 4), np.int64)),
    copies(quiver.initial_seed("D", 4).astype(np.int64), 4),
    np.array([[0, 5], [-3, 0]]),
]


@st.composite
def matrices(draw, most=7):
    n = draw(st.integers(1, most))
    d = draw(st.lists(st.sampled_from([1, 1, 2, 3]), min_size=n, max_size=n))
    entry = st.sampled_from([0, 0, 0, 1, -1, 2])
    return skew_symmetrizable(d, draw(st.lists(entry, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)))


# Canonical forms


@pytest.mark.parametrize(("n", "classes"), [(1, 1), (2, 2), (3, 7), (4, 42), (5, 582)])
def test_canonical_forms_of_all_oriented_graphs(n, classes):
    """There are A001174(n) oriented graphs; those with equal canonical form are those with equal least relabelling."""
    pairs = [(i, j) for i in range(n) for j in range(i)]
    every = np.zeros((3 ** len(pairs), n, n), np.int8)
    for (i, j), column in zip(pairs, np.array(list(product((-1, 0, 1), repeat=len(pairs)))).T, strict=True):
        every[:, i, j], every[:, j, i] = column, -column
    forms = quiver.canonical_form(every)
    representatives = np.unique(forms, axis=0)
    assert len(representatives) == classes
    assert len({least_relabelling(form) for form in representatives.tolist()}) == classes
    for index in np.random.default_rng(n).integers(len(every), size=200):
        assert least_relabelling(every[index]) == least_relabelling(forms[index])


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_canonical_forms_agree_with_all_permutations(n):
    rng = np.random.default_rng(n)
    pairs = n * (n - 1) // 2
    some = [skew_symmetrizable(rng.choice([1, 1, 2, 3], n), rng.choice([0, 0, 0, 1, -1, 2], pairs)) for _ in range(60)]
    some += [relabelled(b, rng.permutation(n)) for b in some[:20]]
    forms = [form.tobytes() for form in quiver.canonical_form(np.array(some))]
    least = [least_relabelling(b) for b in some]
    for i in range(len(some)):
        for j in range(i):
            assert (forms[i] == forms[j]) == (least[i] == least[j])
        form = np.frombuffer(forms[i], np.int64).reshape(n, n)
        assert least_relabelling(form) == least[i]


def with_symmetric_examples(test):
    for b in SYMMETRIC:
        test = example(b, 1)(test)
    return test


@with_symmetric_examples
@given(matrices(most=12), st.integers(0, 10**6))
@settings(deadline=None, max_examples=300)
def test_canonical_form_does_not_depend_on_the_labelling(b, seed):
    form = quiver.canonical_form(b)
    assert (quiver.canonical_form(relabelled(b, np.random.default_rng(seed).permutation(len(b)))) == form).all()
    assert (quiver.canonical_form(form) == form).all()
    assert (quiver.canonical_form(b.astype(np.int8)) == form).all()
    assert sorted(map(sorted, form.tolist())) == sorted(map(sorted, b.tolist()))
    neighbours = np.count_nonzero(form, axis=1)
    assert (np.diff(neighbours) >= 0).all()


# Mutation, relabelling, symmetrizers


@given(matrices(), st.data())
@settings(deadline=None)
def test_mutation(b, data):
    n = len(b)
    k = data.draw(st.integers(0, n - 1))
    result = quiver.mutate(b, k)
    assert result.tolist() == mutated(b.tolist(), k)
    assert (quiver.mutate(result, k) == b).all()
    assert (quiver.mutate(-b, k) == -result).all()
    assert quiver.skew_symmetrizer(b) is not None
    d = np.array(quiver.skew_symmetrizer(b))
    assert (d[:, None] * result == -d * result.T).all()
    p = data.draw(st.permutations(range(n)))
    assert (quiver.mutate(relabelled(b, p), p[k]) == relabelled(result, p)).all()


def test_batches():
    b = np.stack([quiver.initial_seed(each, 7) for each in TYPES[:6]]).reshape(2, 3, 7, 7)
    for function in (lambda x: quiver.mutate(x, 2), quiver.canonical_form):
        batch = function(b)
        assert batch.shape == b.shape
        assert batch.dtype == np.int8
        assert all((batch[i, j] == function(b[i, j])).all() for i in range(2) for j in range(3))
        assert function(b[:0]).shape == (0, 3, 7, 7)
    assert quiver.is_skew_symmetrizable(b).tolist() == [[True] * 3] * 2
    b[0, 1, 3, 4] *= 5
    assert quiver.is_skew_symmetrizable(b)[0].tolist() == [True, True, True]  # a tree allows any ratio
    b[0, 1, 3, 4] = 0
    assert quiver.is_skew_symmetrizable(b)[0].tolist() == [True, False, True]


@pytest.mark.parametrize(("n", "entries"), [(2, range(-3, 4)), (3, (-2, -1, 0, 1, 2))])
def test_skew_symmetrizable_agrees_with_the_search_of_d(n, entries):
    places = [(i, j) for i in range(n) for j in range(n) if i != j]
    every = np.zeros((len(entries) ** len(places), n, n), np.int64)
    every[:, *np.array(places).T] = list(product(entries, repeat=len(places)))
    expected = np.zeros(len(every), np.bool_)
    for d in product(range(1, 5), repeat=n):  # the least d_i: ratios of 1, 2, 3; for n = 3 of 1 and 2, twice in a row
        scaled = np.array(d)[:, None] * every
        expected |= (scaled == -scaled.transpose(0, 2, 1)).all(axis=(1, 2))
    assert (quiver.is_skew_symmetrizable(every) == expected).all()
    for b, possible in list(zip(every, expected, strict=True))[:: len(every) // 300 + 1]:
        d = quiver.skew_symmetrizer(b)
        assert (d is not None) == possible
        if d is not None:
            assert (np.array(d)[:, None] * b == -np.array(d) * b.T).all()


def test_symmetrizers_beyond_64_bits_are_told():
    n = 80
    b = np.zeros((n, n), np.int64)
    for i, j in pairwise(range(n)):
        b[i, j], b[j, i] = 127, -1
    assert quiver.skew_symmetrizer(b[:4, :4]) == tuple(127**i for i in range(4))
    for function in (quiver.skew_symmetrizer, quiver.is_skew_symmetrizable, quiver.canonical_form):
        with pytest.raises(EncodingError, match="are beyond 64 bits"):
            function(b)


# Seeds and classes


def test_seeds_are_those_of_sage(oracle):
    compared = 0
    for letter, n, b in oracle("quiver_seeds"):
        ours = quiver.initial_seed(letter, n).tolist()
        if letter == "BE" and n != 11:
            assert ours != b  # see the module's docstring
            d, other = quiver.skew_symmetrizer(ours), quiver.skew_symmetrizer(b)
            assert (sorted(d), sorted(other)) == ([1] * (n - 1) + [2], [1] + [2] * (n - 1))
        else:
            assert ours == b
            compared += 1
    assert compared > 50


@pytest.mark.parametrize("mutation_type", TYPES)
def test_least_ranks(mutation_type):
    least = quiver.LEAST_RANKS[mutation_type]
    b = quiver.initial_seed(mutation_type, least)
    assert np.count_nonzero(b) == 2 * (least - 1)
    for n in (least - 1, 128, 7.0, "7", True, 10**400):
        with pytest.raises(TaskSizeError, match="needs n from"):
            quiver.initial_seed(mutation_type, n)


# Sage's counts, len(ClusterQuiver(...).mutation_class()); for E 8 the published number of its class.
FINITE = [
    *[("A", 1, 1), ("A", 2, 1), ("A", 10, 4522), ("D", 4, 6), ("E", 6, 67), ("E", 7, 416), ("E", 8, 1574)],
    *[("BB", 3, 4), ("BB", 4, 10), ("BB", 5, 38), ("BD", 4, 12), ("BD", 5, 40), ("BD", 6, 140)],
]


@pytest.mark.parametrize(("mutation_type", "n", "size"), FINITE)
def test_finite_classes(mutation_type, n, size):
    seed = quiver.initial_seed(mutation_type, n)
    found = quiver.mutation_class(seed)
    assert len(found.matrices) == size
    assert (quiver.canonical_form(found.matrices) == found.matrices).all()
    assert (found.matrices[0] == quiver.canonical_form(seed)).all()
    assert (np.diff(found.depths) >= 0).all()
    shallow = quiver.mutation_class(seed, 2)
    assert np.array_equal(shallow.matrices, found.matrices[found.depths <= 2])
    assert quiver.mutation_class(seed, 0).matrices.shape == (1, n, n)


@pytest.mark.parametrize("mutation_type", TYPES)
def test_published_counts_by_depth(mutation_type, published_facts):
    cumulative = published_facts["quiver"]["cumulative_by_depth"][mutation_type]
    depth = quiver.DEPTHS[mutation_type]
    found = quiver.mutation_class(quiver.initial_seed(mutation_type, 11), depth)
    counts = np.cumsum(np.bincount(found.depths)).tolist()
    assert counts + [counts[-1]] * (depth is None) == cumulative  # Sage's last step finds nothing new


def test_oracle(oracle, generated):
    rows = generated("quiver", 11)
    members = {name: {row.tobytes() for row in rows.X[rows.y == label]} for label, name in enumerate(TYPES)}
    for b, name, sequence, _ in oracle("quivers"):
        ours = quiver.initial_seed(name, 11)
        for k in sequence:
            ours = quiver.mutate(ours, k)
        assert ours.tolist() == b
        form = quiver.canonical_form(np.array(b, np.int8)).tobytes()
        assert [other for other in TYPES if form in members[other]] == [name]


# The task


def relabelled_rows(n, seed):
    options = {"labelling": "random"}
    rng = np.random.default_rng(seed)
    return quiver.TASK.generate(Request(n=n, edition="published", options=options, rng=rng))


@pytest.mark.long
def test_random_labelling(generated):
    n = 8
    canonical, first = generated("quiver", n), relabelled_rows(n, 0)
    assert (first.y == canonical.y).all()
    assert (quiver.canonical_form(first.X.reshape(-1, n, n)).reshape(first.X.shape) == canonical.X).all()
    assert (relabelled_rows(n, 0).X == first.X).all()
    assert (relabelled_rows(n, 1).X != first.X).any(axis=1).mean() > 0.9
    # Every vertex is equally likely in every place: the arrows of the place 0 and of the last one are alike in number.
    arrows = np.abs(first.X.reshape(-1, n, n)).sum(axis=2).mean(axis=0)
    assert np.ptp(arrows) < 0.1
    assert np.ptp(np.abs(canonical.X.reshape(-1, n, n)).sum(axis=2).mean(axis=0)) > 1


@pytest.mark.parametrize("n", [6, 7, 8])
@pytest.mark.parametrize("name", ["vertices rotated", "first vertices exchanged"])
def test_relabelling_symmetries(name, n, generated):
    rows = generated("quiver", n)
    X, y = quiver.TASK.symmetries[name](rows.X, rows.y)
    assert X.shape == rows.X.shape
    assert X.dtype == rows.X.dtype
    assert y is rows.y
    assert (quiver.canonical_form(X.reshape(-1, n, n)).reshape(X.shape) == rows.X).all()
    order = [*range(1, n), 0] if name == "vertices rotated" else [1, 0, *range(2, n)]
    assert (relabelled(rows.X.reshape(-1, n, n), order).reshape(X.shape) == X).all()


@pytest.mark.parametrize("n", [6, 7, 9, pytest.param(11, marks=pytest.mark.long)])
def test_opposite_keeps_the_class(n, generated):
    """-B of a row is a row of the same class, or, where the class is cut off, of no class."""
    rows = generated("quiver", n)
    X, _ = quiver.TASK.symmetries["opposite, in canonical form"](rows.X, rows.y)
    label = {row.tobytes(): int(y) for row, y in zip(rows.X, rows.y, strict=True)}
    found = np.array([label.get(row.tobytes(), -1) for row in X])
    assert ((found == rows.y) | (found == -1)).all()
    whole = np.isin(rows.y, [TYPES.index("A"), TYPES.index("D")])
    assert (found[whole] >= 0).all()
    assert (found >= 0).mean() > 0.6
    assert (opposite(X, rows.y)[0] == rows.X).all()
    assert len(set(map(bytes, X))) == len(X)


@pytest.mark.parametrize("labelling", ["canonical", "random"])
def test_corrected_splits_keep_opposites_together(labelling, generated):
    n = 8
    d = acd.load("quiver", n=n, edition="corrected", labelling=labelling)
    forms = [
        {quiver.canonical_form(row.reshape(n, n)).tobytes() for row in X} for X in (d.X_train, d.X_validation, d.X_test)
    ]
    assert sum(map(len, forms)) == len(generated("quiver", n).X)
    for split, X in enumerate((d.X_train, d.X_validation, d.X_test)):
        for row in opposite(X, X[:, 0])[0]:
            assert not any(row.tobytes() in others for other, others in enumerate(forms) if other != split)


def best_rule(cue, y):
    values = np.unique(cue, return_inverse=True)[1]
    table = np.zeros((values.max() + 1, len(TYPES)), int)
    np.add.at(table, (values, y), 1)
    return table.max(axis=1).sum() / len(y)


def test_cues(generated):
    rows = generated("quiver", 11)
    values = {name: cue(rows.X) for name, cue in quiver.TASK.cues.items()}
    matrices = rows.X.reshape(-1, 11, 11)
    for index in range(0, len(rows.X), 9973):
        b = matrices[index].tolist()
        row = rows.X[index].tolist()
        arrows = {(i, j) for i in range(11) for j in range(11) if b[i][j] > 0}
        triangles = sum((j, k) in arrows and (k, i) in arrows for i, j in arrows for k in range(11)) // 3
        d = quiver.skew_symmetrizer(b)
        place = next((place for place, entry in enumerate(row) if abs(entry) == 2), -1)
        assert values["number of arrows"][index] == len(arrows)
        assert values["number of 2 and of -2"][index] == 121 * row.count(2) + row.count(-2)
        assert values["place of the first 2 or -2"][index] == place
        assert values["vertices of least skew-symmetrizer"][index] == d.count(min(d))
        assert values["oriented triangles"][index] == triangles
    counts = {"BB": 2, "BD": 1, "BE": 10}
    expected = np.array([counts.get(name, 11) for name in TYPES])[rows.y]
    assert (values["vertices of least skew-symmetrizer"] == expected).all()
    assert ((values["place of the first 2 or -2"] >= 0) <= np.isin(rows.y, [1, 3, 4])).all()
    majority = np.bincount(rows.y).max() / len(rows.y)
    assert best_rule(values["vertices of least skew-symmetrizer"], rows.y) > 0.6 > 3 * majority


# Bad input

NO_MATRIX = [
    [[]],
    [1, 2],
    [[0, 1]],
    [[0.0, 1.0], [-1.0, 0.0]],
    [[0, 10**30], [-(10**30), 0]],
    [[0, 2**31], [-1, 0]],
    np.zeros((2, 3, 4), int),
    "quiver",
]
NOT_SYMMETRIZABLE = [
    [[1]],
    [[0, 1], [1, 0]],
    [[0, 1], [0, 0]],
    [[0, 1, -1], [-1, 0, 1], [1, -2, 0]],
    [[[0, 1], [-1, 0]], [[0, 1], [1, 0]]],
    np.array([[0, 2**64 - 1], [1, 0]], np.uint64),
]


@pytest.mark.parametrize("b", NO_MATRIX + NOT_SYMMETRIZABLE)
def test_bad_matrices(b):
    calls = [
        lambda: quiver.mutate(b, 0),
        lambda: quiver.canonical_form(b),
        lambda: quiver.mutation_class(b),
    ]
    if any(b is each for each in NO_MATRIX):
        calls += [lambda: quiver.is_skew_symmetrizable(b), lambda: quiver.skew_symmetrizer(b)]
    for call in calls:
        with pytest.raises(EncodingError):
            call()


def test_overflow_is_noticed():
    b = np.array([[0, 12, 0], [-12, 0, 12], [0, -12, 0]])
    assert quiver.mutate(b, 1)[0, 2] == 144
    with pytest.raises(EncodingError, match="int64 can"):
        quiver.mutate(b.astype(np.int8), 1)
    assert quiver.mutate(b[:2, :2].astype(np.int8), 1).tolist() == [[0, -12], [12, 0]]
    with pytest.raises(EncodingError, match="2 mutations lead to an entry beyond 127"):
        quiver.mutation_class(np.array([[0, 8, 0], [-8, 0, 8], [0, -8, 0]]))
    with pytest.raises(EncodingError, match="entries up to 127"):
        quiver.mutation_class([[0, 128], [-1, 0]])
    with pytest.raises(EncodingError, match="beyond"):
        quiver.mutate(b * 10**6, 1)
    extreme = np.array([[0, -128], [1, 0]], np.int8)
    assert quiver.canonical_form(extreme).min() == -128
    with pytest.raises(EncodingError, match="±128"):
        quiver.mutate(extreme, 0)


def test_infinite_classes_end():
    with pytest.raises(TaskSizeError, match="limit=2000"):
        quiver.mutation_class(quiver.initial_seed("E", 10), limit=2000)
    with pytest.raises(EncodingError, match="beyond 127"):
        quiver.mutation_class([[0, 3, -3], [-3, 0, 3], [3, -3, 0]])
    markov = quiver.mutation_class([[0, 2, -2], [-2, 0, 2], [2, -2, 0]])
    assert len(markov.matrices) == 1


def test_search_stops_where_memory_ends(monkeypatch):
    class Memory:
        available = 100_000

    monkeypatch.setattr(quiver.psutil, "virtual_memory", Memory)
    with pytest.raises(TaskSizeError, match="matrices: it wants"):
        quiver.mutation_class(quiver.initial_seed("E", 10))


@pytest.mark.parametrize(("mutation_type", "n"), [("A", 5), ("D", 5), ("BB", 4), ("BD", 4), ("BE", 5)])
def test_classes_by_brute_force(mutation_type, n):
    depth = {"BE": 4}.get(mutation_type)
    seed = quiver.initial_seed(mutation_type, n).tolist()
    known = {least_relabelling(seed): 0}
    frontier = [seed]
    while frontier and (depth is None or known[least_relabelling(frontier[0])] < depth):
        reached = []
        for b in frontier:
            for k in range(n):
                image = mutated(b, k)
                if least_relabelling(image) not in known:
                    known[least_relabelling(image)] = known[least_relabelling(b)] + 1
                    reached.append(image)
        frontier = reached
    found = quiver.mutation_class(seed, depth)
    ours = dict(zip(map(least_relabelling, found.matrices.tolist()), found.depths.tolist(), strict=True))
    assert ours == known
    assert len(ours) == len(found.matrices)
