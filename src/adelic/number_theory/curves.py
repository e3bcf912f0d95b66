"""Elliptic curves with good reduction outside small primes, and their root numbers as a task.

Curves are twists of base curves: y² = x³ + ad²x + bd³ is the twist of y² = x³ + ax + b by d, the same curve over the
field of √d. Isogenous curves have the same root number, so there is one base curve for all that are isogenous to it or
to one of its twists; then no two questions are isogenous.

No published network that learns root numbers from a and b is known to us; Pozdnyakov (arXiv:2403.14631) has them from
the coefficients of the L-function.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from adelic.data.drawn import Operands, SampledTask, Variants
from adelic.number_theory.drawing import answers_with, held_out
from adelic.number_theory.root_numbers import root_numbers
from adelic.number_theory.spaces import for_curves, primes_up_to
from adelic.number_theory.symbols import Integers
from adelic.numbers import is_prime
from adelic.numbers.primes import legendre
from adelic.storage.options import option

_LARGEST_A, _LARGEST_B = 1000, 20_000
"""Base curves have |a| and b up to these: all values of a, and b about as far as a³ and b² are of the same size."""
_SIEVED = 500
"""Powers of primes above this one are divided out number by number."""
_TRACES = 10
"""Curves whose traces of Frobenius at this many primes are the same, except the signs, count as related."""
_CM = (
    *(-3375, 8000, -32768, 54000, 287496, -884736, -12288000, 16581375),
    *(-884736000, -147197952000, -262537412640768000),
)
"""The j-invariants of curves over the rationals with complex multiplication, besides 0 and 1728."""


class RootNumber(Variants):
    """Options of the task `root-number`: the sign in the functional equation of y² = x³ + ax + b.

    4a³ + 27b² has no prime above `max_prime`, so reduction is good at all greater primes, and the root number is the
    product of the local ones at the real place, 2, 3, … and `max_prime`. No two questions are isogenous curves. About a
    tenth of the base curves are held out of training and test, for the split "new curves".

    >>> task = RootNumber(max_prime=7, limit=1000).task()
    >>> X, y = task.sample(4, np.random.default_rng(0))
    >>> X.tolist(), [task.class_names[k] for k in y]
    ([[33, 151], [-12, -44], [-27, 6], [-84, 308]], ['-1', '-1', '-1', '-1'])
    """

    max_prime: int = option(31, help="Greatest prime of bad reduction (2 and 3 always count).", least=5, greatest=97)
    limit: int = option(10**15, help="Greatest |a| and |b|.", least=1000, greatest=9 * 10**18)

    def task(self) -> SampledTask:
        """Return the task."""
        draw = partial(_twisted, max_prime=self.max_prime, limit=self.limit)
        return SampledTask(
            name="root-number",
            title=f"the root number of y² = x³ + ax + b; bad primes up to {self.max_prime}",
            arity=2,
            draws={"train": partial(draw, new=False), "new curves": partial(draw, new=True)},
            never_seen_titles={"new curves": "curves of which no twist, and no curve isogenous to one, is trained on"},
            solve=answers_with(lambda X: root_numbers(X[:, 0], X[:, 1]) > 0),
            max_operand=self.limit,
            signed=True,
            class_names=("-1", "1"),
            space=for_curves(primes_up_to(self.max_prime)),
            invariants=discriminants,
            variants=RootNumber,
        )


def discriminants(operands: Operands) -> Operands:
    """Return 4a³ + 27b², objects of int (n, 1), of curves (n, 2): the discriminant, except a factor −16.

    >>> discriminants(np.array([[-1, 0], [10**15, 1]])).tolist()
    [[-4], [4000000000000000000000000000000000000000000027]]
    """
    a, b = operands.astype(object).T
    return np.asarray(4 * a**3 + 27 * b**2)[:, None]


def _twisted(n: int, rng: np.random.Generator, *, max_prime: int, limit: int, new: bool) -> Operands:
    """Return uniform base curves, each twisted by ± a product of different primes, uniform among those that fit."""
    curves = _base_curves(max_prime, limit, new)
    a, b = curves[rng.integers(0, len(curves), n)].T
    d = squarefree(max_prime, limit)
    # d³ ≤ limit < 2^63, so no power overflows.
    fits = np.minimum(np.searchsorted(d**2, limit // abs(a), "right"), np.searchsorted(d**3, limit // b, "right"))
    d = d[rng.integers(0, fits)] * rng.choice([-1, 1], n)
    return np.column_stack([a * d**2, b * d**3])


@cache
def _base_curves(max_prime: int, limit: int, new: bool) -> Operands:
    """Return the base curves up to a limit that are held out of training, or the others."""
    curves = base_curves(max_prime)
    is_new = held_out(related(curves[:, 0], curves[:, 1], max_prime))
    return np.asarray(curves[(is_new == new) & (curves[:, 1] <= limit)])


@cache
def base_curves(max_prime: int) -> Operands:
    """Return the base curves: pairs (a, b), int64 (n, 2), of which no two are isogenous, or twists of isogenous curves.

    They are found in the box 0 < |a| ≤ 1,000, 0 < b ≤ 20,000, among all pairs there whose 4a³ + 27b² has no prime
    above `max_prime`, that are not twists of a smaller pair (no prime p has p² | a and p³ | b) and whose curves have no
    complex multiplication. Of related curves the first one stays. It takes about two seconds, once in a process.

    >>> base_curves(7).shape, base_curves(7)[0].tolist()
    ((926, 2), [-993, 12042])
    """
    a, b = np.concatenate(list(_smooth(primes_up_to(max_prime)))).T
    is_smallest = np.ones(len(a), dtype=bool)
    for p in primes_up_to(max_prime):  # which has all p with p² | a and p³ | b: p⁶ divides 4a³ + 27b²
        is_smallest &= (a % p**2 != 0) | (b % p**3 != 0)
    j, remainder = np.divmod(1728 * 4 * a**3, 4 * a**3 + 27 * b**2)
    # The j-invariant of a curve with complex multiplication is an integer.
    has_cm = (remainder == 0) & np.isin(j, _CM)
    a, b = a[is_smallest & ~has_cm], b[is_smallest & ~has_cm]
    _, first = np.unique(related(a, b, max_prime), return_index=True)
    curves: Operands = np.column_stack([a, b])[np.sort(first)]
    curves.flags.writeable = False
    return curves


def _smooth(primes: tuple[int, ...]) -> Iterator[Operands]:
    """Yield the pairs of the box whose 4a³ + 27b² has no other primes, a by a: by a sieve over all b at once."""
    b = np.arange(1, _LARGEST_B + 1)
    tables = {p: _solutions(p) for p in primes}
    # a = 0 and b = 0 are left out, since they have complex multiplication, and so is b < 0: that is a twist by −1.
    for a in (*range(-_LARGEST_A, 0), *range(1, _LARGEST_A + 1)):
        numbers = np.abs(4.0 * a**3 + 27.0 * b**2)  # float64: exact below 2^53, and faster than integers
        parts = np.ones(len(b))
        for p, powers in tables.items():
            for q, solutions in powers:
                starts = [(root - 1) % q for root in solutions[-4 * a**3 % q]]
                for start in starts:
                    parts[start::q] *= p
            # `starts` are those of the greatest q now: few examples are left. A 0, which all powers divide, would stay.
            rows = np.concatenate([np.arange(0), *(np.arange(start, len(b), q) for start in starts)])
            rows = rows[numbers[rows] > 0]
            while len(rows):
                q *= p
                rows = rows[numbers[rows] % q == 0]
                parts[rows] *= p
        found = b[parts == numbers]
        yield np.column_stack([np.full(len(found), a), found])


def _solutions(p: int) -> list[tuple[int, list[list[int]]]]:
    """Return, for the powers q of a prime, the residues b modulo q with 27b² ≡ c, for every c modulo q."""
    found, q = [], 1
    while q <= _SIEVED:
        q *= p
        solutions: list[list[int]] = [[] for _ in range(q)]
        for b in range(q):
            solutions[27 * b * b % q].append(b)
        found.append((q, solutions))
    return found


def related(a: Integers, b: Integers, max_prime: int) -> Integers:
    """Return a number for each curve that is the same for its twists and for curves that are isogenous to one of them.

    It is made of the squares of the traces of Frobenius at the first primes above `max_prime`: a twist changes their
    signs alone, an isogeny nothing. That unrelated curves have the same number is possible, and rare.

    Two isogenous curves of conductor 11, a twist of one, and a curve of conductor 37:

    >>> numbers = related(np.array([-13392, -432, -432 * 25, -16]), np.array([-1080432, 8208, 8208 * 125, 16]), 37)
    >>> [bool(number == numbers[0]) for number in numbers]
    [True, True, True, False]
    """
    mixed = np.zeros(np.shape(a), np.uint64)
    for p in islice(filter(is_prime, count(max_prime + 1)), _TRACES):
        squares = trace_table(p)[a % p, b % p] ** 2
        mixed = mixed * np.uint64(1_000_003) + squares.astype(np.uint64)  # modulo 2^64
    return mixed.astype(np.int64)


@cache
def trace_table(p: int) -> Integers:
    """Return p minus the number of affine points modulo p of y² = x³ + ax + b: the trace of Frobenius, [a, b].

    It is int64 (p, p), of singular curves, too; p is above 3.

    y² = x³ + x + 1 has the points (0, ±1), (2, ±1), (3, ±1) and (4, ±2) modulo 5:

    >>> int(trace_table(5)[1, 1])
    -3
    """
    character = legendre(np.arange(p), p)
    a, b = np.ogrid[:p, :p]
    table = np.zeros((p, p), np.int64)
    for value in range(p):
        table -= character[(value**3 + a * value + b) % p]
    return table


@cache
def squarefree(max_prime: int, limit: int) -> NDArray[np.int64]:
    """Return the products of different primes up to `max_prime` whose cubes are at most `limit`, ascending.

    >>> squarefree(7, 1000).tolist()
    [1, 2, 3, 5, 6, 7, 10]
    """
    products = [1]
    for p in primes_up_to(max_prime):
        products += [d * p for d in products if (d * p) ** 3 <= limit]
    return np.array(sorted(products))
