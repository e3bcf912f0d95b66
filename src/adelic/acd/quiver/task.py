"""The data set: its rows, its symmetries, what is trivially read off a row."""

from fractions import Fraction
from importlib.resources import files
from math import comb, gcd
from typing import NamedTuple

import numpy as np
import psutil
from numpy.typing import ArrayLike, NDArray

from adelic.acd.quiver.exchange_matrices import canonical_form
from adelic.acd.quiver.traits import (
    first_vertices_exchanged,
    number_of_arrows,
    number_of_twos,
    opposite,
    oriented_triangles,
    place_of_first_two,
    vertices_rotated,
    vertices_with_least_d,
)
from adelic.data import store
from adelic.data.lookup import RowIndex
from adelic.data.protocol import Estimate, Integers, Progress, Request, Rows, Task
from adelic.errors import ConfigurationError, EncodingError, TaskSizeError, UnknownNameError
from adelic.storage.checks import shown, whole_number
from adelic.storage.workers import map_parts

TYPES = ("A", "BD", "D", "BE", "BB", "E", "DE")
"""The mutation types; their places here are the labels."""
DEPTHS = {"A": None, "BD": 9, "D": None, "BE": 8, "BB": 10, "E": 9, "DE": 9}
"""How many mutations lead away from the seed at most; None is the whole class."""
LEAST_RANKS = {"A": 1, "BD": 4, "D": 4, "BE": 5, "BB": 3, "E": 6, "DE": 6}
"""The least n for which the seed is a tree of its own."""

# The rows of BB, BD, BE, DE and E together for n = 6, 7, ..., counted by `mutation_class`; A and D have formulas.
OTHER_ROWS = (909, 3130, 9339, 26525, 68875, 157749, 348016, 671729, 1335530, 2237830, 4203201)
GREATEST_N = 5 + len(OTHER_ROWS)

SEARCH_LIMIT = 127  # entries of a mutation class, which is searched in int8
CHUNK = 4096  # matrices that are mutated in one compiled call, and rows that are relabelled at once

# Measured: search, rows, their copies in the split and the arrays that are handed out.
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
    seed: ArrayLike, depth: int | None = None, *, limit: int = 1_000_000, progress: Progress | None = None
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
            if progress:
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


def _members(part: tuple[str, int]) -> NDArray[np.int8]:
    mutation_type, n = part
    # The task has been checked against the memory, so that the limit need not stop it.
    return mutation_class(initial_seed(mutation_type, n), DEPTHS[mutation_type], limit=1 << 40).matrices


def _relabelled(matrices: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int8]:
    """Return the matrices, each with its vertices in a random order of its own."""
    relabelled = np.empty_like(matrices)
    n = matrices.shape[1]
    for start in range(0, len(matrices), CHUNK):
        chunk = matrices[start : start + CHUNK]
        order = rng.permuted(np.tile(np.arange(n), (len(chunk), 1)), axis=1)
        every = np.arange(len(chunk))[:, None, None]
        relabelled[start : start + CHUNK] = chunk[every, order[:, :, None], order[:, None, :]]
    return relabelled


def _pairs(X: Integers) -> Integers:
    """Return, for rows of canonical forms, a number that B and -B share."""
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
    """Return the exact row count; beyond GREATEST_N that of GREATEST_N, as a lower bound."""
    known = min(n, GREATEST_N)
    rows = _class_size_a(known) + _class_size_d(known) + OTHER_ROWS[known - 6]
    peak = rows * (PEAK_BYTES_PER_ROW + PEAK_BYTES_PER_TOKEN * known**2) + store.decoding_bytes(rows, known**2)
    return Estimate(rows, peak, exact=known == n)


def _vocabulary(n: int, edition: str) -> tuple[int, ...]:
    greatest = 5 if n == 6 else 2  # with six vertices, few mutations lead to great entries
    return tuple(range(-greatest, greatest + 1))


_NOTES = (
    "The matrices are those of the published data set up to relabelling: its counts by class agree.",
    "Settled here: the labelling. The published rows stand in Sage's canonical labelling, ours in our own, or, with "
    "labelling=random, each in a random one.",
    "Settled here: all n² tokens are given; the published loader drops the last one.",
    "Settled here: the train/test split is 80/20, drawn at random with our seed.",
    "From n = 9 on entries ±2 occur in BB, BD and BE only, and the skew-symmetrizer tells these three apart.",
    "Relabelling is quotiented out already, a row an isomorphism class: an orbit is a matrix and its opposite -B, "
    "as far as both are among the rows.",
)

TASK = Task(
    name="quiver",
    title="the mutation class of an exchange matrix",
    version=1,
    sizes=(11,),
    minimum=6,
    maximum=GREATEST_N,
    editions={
        "published": "all canonical forms of A and D, and those within 8 to 10 mutations of the other seeds",
        "corrected": "as published, but a matrix and its opposite share their split",
    },
    notes={
        "published": (
            *_NOTES,
            "A random split leaks: most rows have their opposite -B among the rows, with the same label.",
        ),
        "corrected": (*_NOTES, "Settled here: B and its opposite -B are of the same class and share their split."),
    },
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
    facts=files(__package__) / "facts.json",
)
