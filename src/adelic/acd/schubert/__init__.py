"""Schubert structure constants: the coefficients c(u, v, w) of S_w in products of Schubert polynomials S_u S_v.

The Schubert polynomials S_w, one for each permutation w of finitely many positive integers, are a basis of Z[x_1,
x_2, ...]: S_id = 1, S_w is homogeneous of degree ℓ(w), and the constants are not negative, for they count points of
intersections of Schubert varieties. No rule that counts something simpler is known. For u in S_a and v in S_b every w
with c(u, v, w) > 0 lies in S_(a+b-1): S_w contains the monomial x^code(w), and no exponent of x_i in S_u exceeds a -
i.

The method is the transition recursion (Lascoux and Schützenberger). Let r be the last descent of v, s the last position
with v_s < v_r, and v' = v t_rs. Then

    S_v = x_r S_v' + Σ S_(v' t_qr)   over q < r with ℓ(v' t_qr) = ℓ(v') + 1,

so that S_u S_v follows from products with "earlier" permutations, and Monk's rule multiplies by a variable:

    x_r S_w = Σ S_(w t_rj) over j > r - Σ S_(w t_ir) over i < r,   each where the length rises by exactly one.

Sources: Macdonald, "Notes on Schubert polynomials" (1991); Monk, "The geometry of flag manifolds" (1959); Billey,
Jockusch, Stanley, "Some combinatorial properties of Schubert polynomials" (1993).

The dataset: u and v in S_n, w in S_(2n-1) padded with fixed points, in 1-based one-line notation one after the
other, so 4n - 1 tokens 1..2n-1. All nonzero constants, and for each of them but that of id · id = id one zero: (u, v,
w') where w' is w times k different random transpositions of positions, k ~ min(Geometric(0.2), C(2n-1, 2)), drawn
until the constant is zero and the triple is new. The label is the constant.

Editions:

- `published`: as above. Most zeros are told by ℓ(w) != ℓ(u) + ℓ(v), and a split at random has (v, u, w) in train for
  many a (u, v, w) in test.
- `corrected`: all nonzero constants, and as many zeros, pair by pair, that meet the conditions which every nonzero
  constant meets and which can be read off: lengths, descents, and, as far as there are such, the Bruhat order and
  inequalities between codes. (u, v, w) and (v, u, w) are both examples and share their split, as do all examples of a
  pair {u, v}. `adelic.acd.schubert.zeros` has the exact definition.

Symmetries: c(u, v, w) = c(v, u, w), and the constants are the same for translated and for reversed permutations, see
`reversed_points`. To take inverses is not a symmetry: c(213, 213, 312) = 1, for S_213² = x_1² = S_312, but
c(213, 213, 231) = 0.
"""

from collections.abc import Callable
from math import factorial

import numpy as np

from adelic.acd import permutations
from adelic.acd.facts import described
from adelic.acd.schubert import tables
from adelic.acd.schubert.constants import schubert_product, schubert_structure_constant
from adelic.data.protocol import Cue, Estimate, Integers, Request, Rows, Task

__all__ = ["TASK", "exchanged_factors", "reversed_points", "schubert_product", "schubert_structure_constant"]

# The number of nonzero constants with u, v in S_n for n = 1, 2, ..., and the greatest of them.
NONZERO_COUNTS = (1, 4, 43, 1053, 53513, 5254103)
GREATEST_CONSTANTS = (1, 1, 1, 1, 2, 5)

# The zeros of the corrected edition, where there are fewer than nonzeros.
FEWER_ZEROS = {2: 0, 3: 42}

# Measured: tables, examples and their copies in the split, the Parquet file and the arrays that are handed out.
PEAK_BYTES_PER_ROW = 136


def exchanged_factors(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples (v, u, w) with the same constants: multiplication is commutative.

    Examples (u, v, w) are (examples, 4n - 1), constants (examples,).

    >>> exchanged_factors(np.array([[1, 2, 2, 1, 2, 1, 3]]), np.array([1]))
    (array([[2, 1, 1, 2, 2, 1, 3]]), array([1]))
    """
    u, v, w = _factors(X)
    return np.concatenate([v, u, w], axis=1), y


def reversed_points(X: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Return the examples with the interval of points that w moves reversed, in u, v and w, and the same constants.

    Let w move points from a to b, not a - 1 or less nor b + 1 or more, and let u and v be permutations of a..b too.
    Conjugation by i -> a + b - i then keeps the constant. (Where a = 1 it is conjugation by the longest element w_0 of
    S_b, which acts on the cohomology of the flag variety by x_i -> -x_(b+1-i) and takes the class of X_w to that of
    X_(w_0 w w_0). Conjugation in S_b and then in S_(b+1) moves all points up by one, which gives the cases a > 1.)

    Examples where u or v moves other points than w, whose constant is zero, and examples in whose image u or v is not
    in S_n, stay as they are. Applied twice it is the identity.

    Examples (u, v, w) are (examples, 4n - 1), constants (examples,).

    >>> X = np.array([[2, 1, 3, 2, 1, 3, 3, 1, 2, 4, 5]])  # S_213² = S_312 and S_132² = S_231 + S_1423
    >>> reversed_points(X, np.array([1]))
    (array([[1, 3, 2, 1, 3, 2, 2, 3, 1, 4, 5]]), array([1]))
    """
    u, v, w = _factors(X)
    n, size = u.shape[1], w.shape[1]
    points = np.arange(1, size + 1, dtype=X.dtype)
    fixed = np.broadcast_to(points[n:], (len(X), size - n))
    every = np.stack([np.concatenate([u, fixed], axis=1), np.concatenate([v, fixed], axis=1), w])
    moved = every != points
    # What moves no point has its first one behind its last one, and so lies in every interval.
    first = np.where(moved, points, size + 1).min(axis=2)
    last = np.where(moved, points, 0).max(axis=2)
    low, high = first[2], last[2]
    lowest, highest = first[:2].min(axis=0), last[:2].max(axis=0)
    reversible = (low <= lowest) & (highest <= high) & (low + high - lowest <= n)
    # Other examples get an interval without points, and stay as they are.
    low, high = np.where(reversible, low, size + 1)[:, None], np.where(reversible, high, 0)[:, None]
    source = np.where((low <= points) & (points <= high), low + high - points, points)
    images = np.take_along_axis(every, np.broadcast_to(source - 1, every.shape), axis=2)
    images = np.where((low <= images) & (images <= high), low + high - images, images).astype(X.dtype)
    return np.concatenate([images[0, :, :n], images[1, :, :n], images[2]], axis=1), y


def _factors(X: Integers) -> tuple[Integers, Integers, Integers]:
    """Return u, v and w of examples."""
    n = (X.shape[1] + 1) // 4
    return X[:, :n], X[:, n : 2 * n], X[:, 2 * n :]


def ranks(X: Integers) -> Integers:
    """Return the rank matrices of u, v and w, row by row: how many of the first i values are at most j.

    >>> ranks(np.array([[2, 1, 2, 1, 1, 2, 3]])).tolist()
    [[0, 1, 1, 2, 0, 1, 1, 2, 1, 1, 1, 1, 2, 2, 1, 2, 3]]
    """
    return np.concatenate([permutations.rank_matrices(w - 1).reshape(len(X), -1) for w in _factors(X)], axis=1)


def _cue(statistic: Callable[[Integers, Integers, Integers], Integers]) -> Cue:
    """Return the cue X -> statistic(u, v, w), where u and v are padded to the size of w."""

    def of_part(X: Integers) -> Integers:
        u, v, w = _factors(X)
        fixed = np.tile(np.arange(u.shape[1] + 1, w.shape[1] + 1, dtype=X.dtype), (len(X), 1))
        return statistic(np.concatenate([u, fixed], axis=1), np.concatenate([v, fixed], axis=1), w)

    return lambda X: permutations.in_chunks(of_part, X)


def _descents(u: Integers, v: Integers, w: Integers) -> Integers:
    """Return Des(w) and Des(u) ∪ Des(v) in one number."""
    factors = permutations.descent_sets(u) | permutations.descent_sets(v)
    return np.asarray(permutations.descent_sets(w) << w.shape[1] | factors)


def _new_descents(u: Integers, v: Integers, w: Integers) -> Integers:
    """Return Des(w) without Des(u) ∪ Des(v), empty for every nonzero constant."""
    return permutations.descent_sets(w) & ~(permutations.descent_sets(u) | permutations.descent_sets(v))


def _bruhat(u: Integers, v: Integers, w: Integers) -> Integers:
    """Return how many of u <= w and v <= w hold."""
    return permutations.bruhat_below(u, w).astype(np.int64) + permutations.bruhat_below(v, w)


def _first_entries(u: Integers, v: Integers, w: Integers) -> Integers:
    """Return w(1) - u(1) - v(1) + 1, not negative for any nonzero constant."""
    return np.asarray(w[:, 0].astype(np.int64) - u[:, 0] - v[:, 0] + 1)


def _prefix_sums(u: Integers, v: Integers, w: Integers) -> Integers:
    """Return b_k and t_k of u, v and w, and those of w less those of u and v, see `adelic.acd.schubert.zeros`."""
    found = []
    for exponents in (permutations.lehmer_codes, permutations.top_exponents):
        of_u, of_v, of_w = (exponents(each).cumsum(axis=1, dtype=np.int8) for each in (u, v, w))
        found += [of_u, of_v, of_w, of_w - of_u - of_v]
    return np.concatenate(found, axis=1)


def _prefixes(u: Integers, v: Integers, w: Integers) -> Integers:
    """Return how many of the inequalities between prefixes fail, see `adelic.acd.schubert.zeros`."""
    *_, of_bottom, _, _, _, of_top = np.split(_prefix_sums(u, v, w), 8, axis=1)
    return np.asarray((of_bottom < 0).sum(axis=1) + (of_top > 0).sum(axis=1))


def _generate(request: Request) -> Rows:
    if request.edition == "corrected":
        from adelic.acd.schubert import zeros  # which loads numba

        return zeros.data_rows(request.n, request.rng, request.report)
    return tables.data_rows(request.n, request.rng, request.report)


def _estimate(n: int, edition: str) -> Estimate:
    """Return the number of examples: exact up to n = 6, an extrapolation up to n = 12.

    The mean number of terms in a product of two Schubert polynomials is 1.8, 3.7, 10.1 for n = 4, 5, 6. The
    extrapolation has it grow on by the last factor, which so far has itself grown with each n.
    """
    known = len(NONZERO_COUNTS)
    size = min(n, 12)
    if size <= known:
        nonzero = NONZERO_COUNTS[size - 1]
    else:
        terms = [NONZERO_COUNTS[m - 1] / factorial(m) ** 2 for m in (known - 1, known)]
        nonzero = round(factorial(size) ** 2 * terms[1] * (terms[1] / terms[0]) ** (size - known))
    rows = 2 * nonzero - 1
    if edition == "corrected":
        rows = nonzero + FEWER_ZEROS.get(n, nonzero)
    return Estimate(rows, rows * PEAK_BYTES_PER_ROW, exact=n <= known)


TASK = Task(
    **described(
        "schubert",
        ranks=(ranks, lambda n: tuple(range(2 * n))),
        prefixes=(
            lambda X: np.concatenate([ranks(X), _cue(_prefix_sums)(X)], axis=1),
            lambda n: tuple(range(-n * (n - 1), (2 * n - 1) * (n - 1) + 1)),
        ),
    ),
    version=1,
    minimum=2,
    maximum=6,  # the keys of `tables` hold a permutation of S_n and one of S_(2n-1) in 64 bits
    class_names=lambda n, edition: tuple(str(c) for c in range(GREATEST_CONSTANTS[n - 1] + 1)),
    vocabulary=lambda n, edition: tuple(range(1, 2 * n)),
    length=lambda n, edition: 4 * n - 1,
    estimate=_estimate,
    generate=_generate,
    symmetries={"exchanged factors": exchanged_factors, "reversed points": reversed_points},
    cues={
        "length": _cue(lambda u, v, w: permutations.lengths(w) - permutations.lengths(u) - permutations.lengths(v)),
        "descents": _cue(_descents),
        "new descents": _cue(_new_descents),
        "Bruhat order": _cue(_bruhat),
        "first entries": _cue(_first_entries),
        "prefixes": _cue(_prefixes),
    },
)
