"""Quiver mutation classes: which of seven an exchange matrix belongs to.

An exchange matrix is an n × n integer matrix B that is skew-symmetrizable: there are d_i > 0 with d_i b_ij = -d_j b_ji.
Where all d_i are equal it is a quiver without loops and 2-cycles, with b_ij arrows from i to j where b_ij > 0. Mutation
at vertex k gives

    b'_ij = -b_ij if i = k or j = k, else b_ij + sgn(b_ik) max(b_ik b_kj, 0).

It is an involution, it keeps the d_i, and all that can be reached by mutations is a mutation class (Fomin and
Zelevinsky, "Cluster algebras I", arXiv:math/0104151). Matrices are taken up to simultaneous relabelling of rows and
columns, that is, by their canonical forms. Vertices are counted from 0.

The seeds are trees, every vertex a source or a sink; vertex 0 is a sink in BE and a source in the others. With p–q for
an edge:

    A   0–1–...–(n-1)                         BB  0–1–...–(n-2), 0–(n-1); rows n-2 and n-1 hold ±2 instead of ±1
    D   0–1–...–(n-2), (n-3)–(n-1)            BD  0–1–...–(n-2), 1–(n-1); row n-2 holds ±2 instead of ±1
    E   0–1–...–(n-2), 2–(n-1)                BE  0–1–...–(n-2), 2–(n-1); row n-3 holds 2 for 1 or -2 for -1 at n-2
    DE  0–1–...–(n-3), 2–(n-2), (n-4)–(n-1)

These are the matrices of Sage's ClusterQuiver, with one exception: Sage's seed of BE is ours for n = 11 only. There
(and for n = 21) an accident of its order of vertices makes vertex 0 a sink and so puts the ±2 into row n-3. For other n
(tried up to 20) it has vertex 0 for a source and the ±2 in row n-2, another class; its CE is then the one with ours.

From n = 6 on, where all seven exist, they are different valued trees and thus in different mutation classes (for
quivers: Caldero and Keller, "From triangulated categories to cluster algebras II", arXiv:math/0510251; BB, BD and BE
have other d_i). A_n and D_n are of finite type, and their classes have

    A_n  C_(n+1) / (n+3) + [n odd] C_((n+1)/2) / 2 + [3 | n] 2 C_(n/3) / 3       (C_i the Catalan numbers)
    D_n  Σ over d | n of φ(n/d) binomial(2d, d), divided by 2n                     (n >= 5)

members (Torkildsen, arXiv:0801.3762; Buan and Torkildsen, arXiv:0812.2240). For n = 11 BB and BD are of affine type,
with greater finite classes, and BE, DE and E have infinite ones; a depth cuts all five off.

The dataset: all of A and D, and what is reached from the other seeds in at most 10 (BB), 9 (BD, DE, E) or 8 (BE)
mutations, the depths that give the published counts for n = 11. They are used for every n. An example is a matrix, row
by row: n² tokens -2..2 (-5..5 for n = 6). The published loader drops the last of its 121 tokens; ours has all of them.

Options: `labelling="canonical"`, the default, gives the canonical forms, with vertices in ascending order of their
number of neighbours. The published examples have Sage's canonical labelling, which is another one. "random"
relabels every example independently, so nothing can be learnt from the position of a vertex.

What gives labels away: from n = 9 on entries ±2 occur in BB, BD and BE only, and the d_i, which can be read off, tell
these three apart without error; A, D, E and DE remain. All that comes from a class cut off is a ball around one seed,
so what changes with depth (the number of arrows, the number of oriented 3-cycles) is a trait of the cut as well. And
most examples have their opposite -B, of the same class, among the examples: a random split leaks.

Editions: `published`, and `corrected`, the same examples with B and -B always in the same split.

Entries are less than 2**31 in absolute value, so products of two fit into 64 bits. Functions that return matrices
give int8 where they are given int8, and int64 else.
"""

from fractions import Fraction
from math import comb, gcd, isqrt
from typing import NamedTuple

import numpy as np
import psutil
from numpy.typing import ArrayLike, NDArray

from adelic.acd.facts import described
from adelic.acd.permutations import in_chunks, read_array
from adelic.data import store
from adelic.data.lookup import RowIndex
from adelic.data.protocol import Estimate, Integers, Progress, Request, Rows, Task, silent
from adelic.errors import ConfigurationError, EncodingError, TaskSizeError, UnknownNameError
from adelic.storage.checks import shown, whole_number
from adelic.storage.workers import map_parts

ENTRY_LIMIT = (1 << 31) - 1


# Exchange matrices


def mutate(b: ArrayLike, k: int) -> Integers:
    """Return the mutation at vertex k: -b_ij if i = k or j = k, else b_ij + sgn(b_ik) max(b_ik b_kj, 0).

    Args:
        b: skew-symmetrizable integer matrices, shape (*, n, n).
        k: a vertex, 0 <= k < n.

    Returns:
        Of the same shape; int8 if b is, else int64.

    Raises:
        EncodingError: b is not such a matrix, k is not a vertex, or an entry of the result does not fit its type.

    >>> mutate([[0, 1, 0], [-1, 0, 1], [0, -1, 0]], 1)
    array([[ 0, -1,  1], [ 1,  0, -1], [-1,  1,  0]])
    """
    matrices, small = _read(b)
    n = matrices.shape[-1]
    vertex = whole_number(k)
    if vertex is None or not 0 <= vertex < n:
        raise EncodingError(f"k={shown(k)} is not a vertex of a quiver with vertices 0..{n - 1}")
    into, out = matrices[..., :, vertex, None], matrices[..., None, vertex, :]
    mutated = matrices + np.sign(into) * np.maximum(into * out, 0)
    # b_kk is 0, and may change its sign twice.
    mutated[..., :, vertex] *= -1
    mutated[..., vertex, :] *= -1
    return _narrowed(mutated, small)


def canonical_form(b: ArrayLike) -> Integers:
    """Return the representative of b under simultaneous relabelling of rows and columns.

    Two matrices have equal canonical forms exactly if a relabelling takes one into the other. The vertices are in
    ascending order of their number of neighbours; adelic.acd.quiver.kernels breaks ties.

    Args:
        b: skew-symmetrizable integer matrices, shape (*, n, n).

    Returns:
        Of the same shape; int8 if b is, else int64.

    Raises:
        EncodingError: b is not such a matrix, or has an entry of 2**31 or more in absolute value.

    >>> canonical_form([[0, 1, 0], [-1, 0, 1], [0, -1, 0]]).tolist()
    [[0, 0, 1], [0, 0, -1], [-1, 1, 0]]
    >>> canonical_form([[0, 0, -1], [0, 0, 1], [1, -1, 0]]).tolist()
    [[0, 0, 1], [0, 0, -1], [-1, 1, 0]]
    """
    from adelic.acd.quiver import kernels

    matrices, small = _read(b)
    forms = kernels.canonical_forms(np.ascontiguousarray(_stacked(matrices)))
    return _narrowed(forms.reshape(matrices.shape), small)


def is_skew_symmetrizable(b: ArrayLike) -> bool | NDArray[np.bool_]:
    """Return whether there are d_i > 0 with d_i b_ij = -d_j b_ji for all i and j.

    Args:
        b: integer matrices, shape (*, n, n).

    Returns:
        A bool for one matrix, else an array of shape (*).

    Raises:
        EncodingError: b is not a square integer matrix, or has an entry of 2**31 or more in absolute value.

    >>> is_skew_symmetrizable([[0, 1], [-2, 0]]), is_skew_symmetrizable([[0, 1], [2, 0]])
    (True, False)
    """
    matrices, _ = _read_integers(b)
    answer = _symmetrizable(_stacked(matrices)).reshape(matrices.shape[:-2])
    return bool(answer) if answer.ndim == 0 else answer


def skew_symmetrizer(b: ArrayLike) -> tuple[int, ...] | None:
    """Return the least whole d_i > 0 with d_i b_ij = -d_j b_ji on each connected component; None if there are none.

    Args:
        b: an integer matrix, shape (n, n).

    Raises:
        EncodingError: b is not a square integer matrix, or an entry, or a d_i, is beyond 64 bits.

    >>> skew_symmetrizer([[0, 1, 0], [-2, 0, 1], [0, -1, 0]])
    (2, 1, 1)
    """
    matrices, _ = _read_integers(b)
    if matrices.ndim != 2:
        raise EncodingError(f"one matrix of shape (n, n) is needed, not an array of shape {matrices.shape}")
    d = _symmetrizers(matrices[None])[0]
    return tuple(d.tolist()) if d.all() else None


def _read_integers(b: ArrayLike) -> tuple[NDArray[np.int64], bool]:
    """Return matrices as int64, and whether they were int8; EncodingError unless they are square and of integers."""
    array = read_array(b, "an exchange matrix")
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] == 0:
        raise EncodingError(f"an exchange matrix has shape (n, n) with n >= 1, not {array.shape}")
    if array.size and (int(array.max()) > ENTRY_LIMIT or int(array.min()) < -ENTRY_LIMIT):
        raise EncodingError(f"entries of an exchange matrix must be less than 2**31 in absolute value: {shown(b)}")
    return array.astype(np.int64), array.dtype == np.int8


def _read(b: ArrayLike) -> tuple[NDArray[np.int64], bool]:
    """Do as `_read_integers` does; EncodingError also where a matrix is not skew-symmetrizable."""
    matrices, small = _read_integers(b)
    stacked = _stacked(matrices)
    wrong = np.flatnonzero(~_symmetrizable(stacked))
    if len(wrong):
        matrix = shown(stacked[wrong[0]].tolist())
        raise EncodingError(f"{matrix} is not skew-symmetrizable: no d_i > 0 give d_i b_ij = -d_j b_ji")
    return matrices, small


def _stacked(matrices: NDArray[np.int64]) -> NDArray[np.int64]:
    return matrices.reshape(-1, *matrices.shape[-2:])


def _symmetrizable(stacked: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray(_symmetrizers(stacked).all(axis=1))


def _symmetrizers(stacked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the least d_i of each matrix, (matrices, n), zeros where there are none; EncodingError if one is huge."""
    from adelic.acd.quiver import kernels

    d = kernels.symmetrizers(np.ascontiguousarray(stacked))
    huge = np.flatnonzero((d == kernels.OVERFLOW).any(axis=1))
    if len(huge):
        raise EncodingError(f"the d_i of {shown(stacked[huge[0]].tolist())} are beyond 64 bits")
    return d


def _narrowed(matrices: NDArray[np.int64], small: bool) -> Integers:
    """Return int64 matrices in the type of what the caller gave; EncodingError where they do not fit."""
    greatest = int(np.abs(matrices).max(initial=0))
    if greatest > ENTRY_LIMIT:
        raise EncodingError(f"an entry of the mutated matrix is ±{greatest}, beyond 2**31")
    if not small:
        return matrices
    narrow = matrices.astype(np.int8)
    if (narrow != matrices).any():
        raise EncodingError(f"an entry of the mutated matrix is ±{greatest}; int8, as given, cannot hold it, int64 can")
    return narrow


CHUNK = 4096  # matrices that are worked on at once, where the work takes several bytes for each entry


# Symmetries of examples, and what is read off them


def _squares(X: Integers) -> Integers:
    """Return examples (examples, n²) as matrices (examples, n, n)."""
    n = isqrt(X.shape[1])
    return X.reshape(-1, n, n)


def vertices_rotated(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples with vertex i renamed i + 1, and the last one 0.

    >>> vertices_rotated(np.array([[0, 1, 0, -1, 0, -1, 0, 1, 0]]), np.array([0]))[0].tolist()
    [[0, 0, 1, 0, 0, 1, -1, -1, 0]]
    """
    return np.roll(_squares(X), (1, 1), axis=(1, 2)).reshape(X.shape), y


def first_vertices_exchanged(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples with vertices 0 and 1 exchanged; with `vertices_rotated`, this generates all relabellings.

    >>> first_vertices_exchanged(np.array([[0, 1, 0, -1, 0, -1, 0, 1, 0]]), np.array([0]))[0].tolist()
    [[0, -1, -1, 1, 0, 0, 1, 0, 0]]
    """
    order = np.arange(isqrt(X.shape[1]))
    order[:2] = 1, 0
    return _squares(X)[:, order[:, None], order].reshape(X.shape), y


def opposite(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the canonical forms of -B, of all arrows reversed.

    Mutations commute with the sign, and the seed S has -S in its class: mutate it at each of its sources. So the class
    is the same one; the distance from the seed may be another, and then -B may lie beyond the depth of the dataset.
    (For BB, BD and BE the transpose is of another class, in which the d_i are exchanged.)

    >>> opposite(np.array([[0, 0, 1, 0, 0, 1, -1, -1, 0]]), np.array([0]))[0].tolist()
    [[0, 0, -1, 0, 0, -1, 1, 1, 0]]
    """
    return in_chunks(lambda part: canonical_form(-_squares(part)).reshape(part.shape), X, CHUNK), y


def number_of_arrows(X: Integers) -> Integers:
    """Return the number of pairs of vertices that are joined.

    >>> number_of_arrows(np.array([[0, 1, 0, -1, 0, -1, 0, 1, 0]])).tolist()
    [2]
    """
    return np.asarray(np.count_nonzero(X > 0, axis=1))


def number_of_twos(X: Integers) -> Integers:
    """Return how often 2 occurs, times n², plus how often -2 occurs.

    >>> number_of_twos(np.array([[0, 1, -2, 0], [0, 2, -1, 0], [0, 1, -1, 0]])).tolist()
    [1, 4, 0]
    """
    return np.asarray(np.count_nonzero(X == 2, axis=1) * X.shape[1] + np.count_nonzero(X == -2, axis=1))


def place_of_first_two(X: Integers) -> Integers:
    """Return the position of the first 2 or -2 in the example; -1 if there is none.

    >>> place_of_first_two(np.array([[0, 1, -2, 0], [0, 2, -1, 0], [0, 1, -1, 0]])).tolist()
    [2, 1, -1]
    """
    twos = np.abs(X) == 2
    return np.where(twos.any(axis=1), twos.argmax(axis=1), -1)


def vertices_with_least_d(X: Integers) -> Integers:
    """Return how many vertices have the least d_i: 2 for BB, 1 for BD, n - 1 for BE, n for the others.

    >>> vertices_with_least_d(np.array([[0, 1, 0, -2, 0, -2, 0, 1, 0], [0, 1, 0, -1, 0, -1, 0, 1, 0]])).tolist()
    [1, 3]
    """
    from adelic.acd.quiver import kernels

    d = kernels.symmetrizers(_squares(X).astype(np.int64))
    return np.asarray(np.count_nonzero(d == d.min(axis=1, keepdims=True), axis=1))


def oriented_triangles(X: Integers) -> Integers:
    """Return the number of triples of vertices with arrows i -> j -> k -> i.

    >>> oriented_triangles(np.array([[0, 1, -1, -1, 0, 1, 1, -1, 0], [0, 1, 1, -1, 0, 1, -1, -1, 0]])).tolist()
    [1, 0]
    """

    def count(part: Integers) -> Integers:
        arrows = (_squares(part) > 0).astype(np.float32)  # NumPy multiplies floats faster
        return np.asarray(np.einsum("rij,rji->r", arrows @ arrows, arrows) / 3, np.int64)

    return in_chunks(count, X, CHUNK)


TYPES = ("A", "BD", "D", "BE", "BB", "E", "DE")
"""The mutation types; their indices are the labels."""
DEPTHS = {"A": None, "BD": 9, "D": None, "BE": 8, "BB": 10, "E": 9, "DE": 9}
"""How many mutations lead away from the seed at most; None is the whole class."""
LEAST_RANKS = {"A": 1, "BD": 4, "D": 4, "BE": 5, "BB": 3, "E": 6, "DE": 6}
"""The least n for which the seed differs from the seeds of the other types."""

# The examples of BB, BD, BE, DE and E together for n = 6, 7, ..., counted by `mutation_class`; A and D have formulas.
OTHER_ROWS = (909, 3130, 9339, 26525, 68875, 157749, 348016, 671729, 1335530, 2237830, 4203201)
GREATEST_N = 5 + len(OTHER_ROWS)

SEARCH_LIMIT = 127  # entries of a mutation class, which is searched in int8

# Measured: search, examples, their copies in the split and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 64
PEAK_BYTES_PER_TOKEN = 4


class MutationClass(NamedTuple):
    """What `mutation_class` found, nearest to the seed first.

    Attributes:
        matrices: canonical forms, each once, int8 of shape (count, n, n).
        depths: the least number of mutations that lead from the seed to each, int64 of shape (count,).

    >>> mutation_class([[0, 1], [-1, 0]])
    MutationClass(matrices=array([[[ 0,  1], [-1,  0]]], dtype=int8), depths=array([0]))
    """

    matrices: NDArray[np.int8]
    depths: NDArray[np.int64]


# Seeds and their mutation classes


def initial_seed(mutation_type: str, n: int) -> NDArray[np.int8]:
    """Return the bipartite seed of a mutation type; adelic.acd.quiver shows the seven trees.

    Args:
        mutation_type: one of TYPES.
        n: the number of vertices, at least LEAST_RANKS[mutation_type] and at most 127.

    Returns:
        int8, shape (n, n).

    Raises:
        UnknownNameError: there is no such type.
        TaskSizeError: n is out of range.

    >>> initial_seed("A", 3)
    array([[ 0,  1,  0], [-1,  0, -1], [ 0,  1,  0]], dtype=int8)
    >>> initial_seed("BB", 3)
    array([[ 0,  1,  1], [-2,  0,  0], [-2,  0,  0]], dtype=int8)
    """
    if mutation_type not in TYPES:
        raise UnknownNameError.of("mutation type", mutation_type, TYPES)
    size = whole_number(n)
    least = LEAST_RANKS[mutation_type]
    if size is None or not least <= size <= 127:
        raise TaskSizeError(f"type {mutation_type} needs n from {least} to 127, not {shown(n)}")
    edges, twos = _valued_tree(mutation_type, size)
    b = np.zeros((size, size), np.int8)
    sign = [-1 if mutation_type == "BE" else 1] * size  # 1 for sources, -1 for sinks
    for near, far in edges:
        sign[far] = -sign[near]
        b[near, far], b[far, near] = sign[near], sign[far]
    for i, j in twos:
        b[i, j] *= 2
    return b


def _valued_tree(mutation_type: str, n: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the edges of the seed's tree, each away from vertex 0, and where it holds 2 or -2."""
    branch = {"A": n - 2, "BB": 0, "BD": 1, "BE": 2, "D": n - 3, "E": 2}
    twos = {"BB": [(n - 2, n - 3), (n - 1, 0)], "BD": [(n - 2, n - 3)], "BE": [(n - 3, n - 2)]}
    if mutation_type == "DE":
        edges = [(v, v + 1) for v in range(n - 3)] + [(2, n - 2), (n - 4, n - 1)]
    else:
        edges = [(v, v + 1) for v in range(n - 2)]
        if n > 1:
            edges.append((branch[mutation_type], n - 1))
    return edges, twos.get(mutation_type, [])


def mutation_class(
    seed: ArrayLike, depth: int | None = None, *, limit: int = 1_000_000, progress: Progress = silent
) -> MutationClass:
    """Return the canonical forms of what is reached from a seed by at most `depth` mutations.

    Args:
        seed: a skew-symmetrizable integer matrix, shape (n, n).
        depth: None is the whole class, which may be infinite: then the search ends with an error.
        limit: the greatest number of canonical forms to search for.
        progress: called with (matrices mutated, matrices found, what) as the search goes on.

    Raises:
        EncodingError: seed is not such a matrix, or an entry of the class is greater than 127 in absolute value.
        ConfigurationError: depth or limit is not a whole number, or out of range.
        TaskSizeError: there are more than `limit` canonical forms, or more than this machine's free memory can hold.

    >>> found = mutation_class(initial_seed("D", 5))
    >>> found.matrices.shape, np.bincount(found.depths).tolist()
    ((26, 5, 5), [1, 4, 10, 8, 3])
    >>> mutation_class(initial_seed("E", 10), limit=1000)
    Traceback (most recent call last):
    adelic.errors.TaskSizeError: 5 mutations lead to more than limit=1000 matrices; a lower depth or a greater limit...
    """
    from adelic.acd.quiver import kernels

    form = canonical_form(seed)
    if form.ndim != 2:
        raise EncodingError(f"a seed is one matrix of shape (n, n), not an array of shape {form.shape}")
    if np.abs(form).max() > SEARCH_LIMIT:
        raise EncodingError(f"a mutation class is searched with entries up to {SEARCH_LIMIT}, not {shown(seed)}")
    last_depth, most = _check_search(depth, limit)
    n, count = len(form), 1
    members = form.reshape(1, n * n).astype(np.int8)
    table = np.empty(0, np.int64)  # made when members grows, before it is used
    bounds = [0, 1]  # bounds[d]: how many members are nearer to the seed than depth d
    while bounds[-2] < count and (last_depth is None or len(bounds) - 2 < last_depth):
        for first in range(bounds[-2], bounds[-1], CHUNK):
            last = min(first + CHUNK, bounds[-1])
            room = count + n * (last - first)
            if len(members) < room:
                members = _grown(members, count, 2 * room)
                # A power of two, by which `find` masks; at most half of the slots are ever filled.
                table = kernels.index_table(members, count, 1 << (2 * len(members)).bit_length())
            count = kernels.expand(members, table, count, first, last, n)
            if count == kernels.OVERFLOW:
                raise EncodingError(
                    f"{len(bounds) - 1} mutations lead to an entry beyond {SEARCH_LIMIT}; a lower depth avoids it"
                )
            if count > most:
                raise TaskSizeError(
                    f"{len(bounds) - 1} mutations lead to more than limit={most} matrices; a lower depth or a greater "
                    "limit avoids it"
                )
            progress(last, count, "matrices")
        bounds.append(count)
    depths = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return MutationClass(members[:count].reshape(count, n, n).copy(), depths)


def _grown(members: NDArray[np.int8], count: int, capacity: int) -> NDArray[np.int8]:
    """Return room for `capacity` members with the first `count` of them in place; TaskSizeError if memory lacks."""
    wanted = capacity * (members.shape[1] + 32)  # up to four slots of the table each
    available = psutil.virtual_memory().available
    if wanted > available:
        raise TaskSizeError(
            f"the search of the mutation class stopped at {count} matrices: it wants {wanted:,} more bytes, "
            f"{available:,} are free; give a lower depth"
        )
    grown = np.empty((capacity, members.shape[1]), np.int8)
    grown[:count] = members[:count]
    return grown


def _check_search(depth: object, limit: object) -> tuple[int | None, int]:
    steps, most = whole_number(depth), whole_number(limit)
    if depth is not None and (steps is None or steps < 0):
        raise ConfigurationError(f"depth must be a whole number from 0 on, or None, not {shown(depth)}")
    if most is None or most < 1:
        raise ConfigurationError(f"limit must be a whole number from 1 on, not {shown(limit)}")
    return steps, most


# The dataset


def _members(part: tuple[str, int]) -> NDArray[np.int8]:
    mutation_type, n = part
    # The task has been checked against the memory, so the limit need not stop it.
    return mutation_class(initial_seed(mutation_type, n), DEPTHS[mutation_type], limit=1 << 40).matrices


def _relabelled(matrices: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int8]:
    """Return the matrices, each with its vertices in another random order."""
    relabelled = np.empty_like(matrices)
    n = matrices.shape[1]
    for start in range(0, len(matrices), CHUNK):
        chunk = matrices[start : start + CHUNK]
        order = rng.permuted(np.tile(np.arange(n), (len(chunk), 1)), axis=1)
        every = np.arange(len(chunk))[:, None, None]
        relabelled[start : start + CHUNK] = chunk[every, order[:, :, None], order[:, None, :]]
    return relabelled


def _pairs(X: Integers) -> Integers:
    """Return, for examples of canonical forms, a number that B and -B share."""
    own, other = np.arange(len(X)), RowIndex(X).find(opposite(X, X[:, 0])[0])
    return np.where(other >= 0, np.minimum(own, other), own)


def _generate(request: Request) -> Rows:
    n, found = request.n, []
    for matrices in map_parts(_members, [(each, n) for each in TYPES], request.workers):
        found.append(matrices)
        request.report(len(found), len(TYPES), "mutation classes")
    X = np.concatenate(found)
    labels = np.repeat(np.arange(len(TYPES), dtype=np.int8), [len(matrices) for matrices in found])
    groups = _pairs(X.reshape(len(X), n * n)) if request.edition == "corrected" else None
    if request.options.get("labelling") == "random":
        X = _relabelled(X, request.rng)
    return Rows(X.reshape(len(X), n * n), labels, groups=groups)


def _class_size_a(n: int) -> int:
    def catalan(i: int) -> int:
        return comb(2 * i, i) // (i + 1)

    sixths = 6 * Fraction(catalan(n + 1), n + 3)
    sixths += 3 * catalan((n + 1) // 2) if n % 2 else 0
    sixths += 4 * catalan(n // 3) if n % 3 == 0 else 0
    return int(sixths / 6)


def _class_size_d(n: int) -> int:
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    totients = {d: sum(gcd(i, d) == 1 for i in range(1, d + 1)) for d in divisors}
    return sum(totients[n // d] * comb(2 * d, d) for d in divisors) // (2 * n)


def _estimate(n: int, edition: str) -> Estimate:
    """Return the exact number of examples; above GREATEST_N the number for GREATEST_N, as a lower bound."""
    known = min(n, GREATEST_N)
    rows = _class_size_a(known) + _class_size_d(known) + OTHER_ROWS[known - 6]
    peak = rows * (PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_TOKEN * known**2) + store.decoding_bytes(rows, known**2)
    return Estimate(rows, peak, exact=known == n)


def _vocabulary(n: int, edition: str) -> tuple[int, ...]:
    greatest = 5 if n == 6 else 2  # with six vertices, few mutations lead to great entries
    return tuple(range(-greatest, greatest + 1))


TASK = Task(
    **described("quiver"),
    version=1,
    minimum=6,
    maximum=GREATEST_N,
    class_names=lambda n, edition: TYPES,
    vocabulary=_vocabulary,
    length=lambda n, edition: n * n,
    estimate=_estimate,
    generate=_generate,
    options={"labelling": ("canonical", "random")},
    symmetries={
        "vertices rotated": vertices_rotated,
        "first vertices exchanged": first_vertices_exchanged,
        "opposite, in canonical form": opposite,
    },
    cues={
        "number of arrows": number_of_arrows,
        "number of 2 and of -2": number_of_twos,
        "place of the first 2 or -2": place_of_first_two,
        "vertices of least skew-symmetrizer": vertices_with_least_d,
        "oriented triangles": oriented_triangles,
    },
)
