"""Schubert structure constants, one at a time: the transition recursion on dictionaries of permutations."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from adelic.acd.permutations import length, padded, read_permutation, trimmed

Permutation = tuple[int, ...]
TransitionStep = tuple[Permutation, int, Permutation, list[Permutation]]


def schubert_structure_constant(u: Iterable[int], v: Iterable[int], w: Iterable[int]) -> int:
    """Return the coefficient of S_w in the product of the Schubert polynomials S_u and S_v.

    Args:
        u: a permutation in 1-based one-line notation; of any length, fixed points at the end do not count.
        v: a permutation, likewise.
        w: a permutation, likewise.

    Raises:
        EncodingError: an argument is not a permutation of 1..n.

    >>> schubert_structure_constant([2, 1], [1, 3, 2], [2, 3, 1])  # x_1 (x_1 + x_2) = x_1² + x_1 x_2
    1
    >>> schubert_structure_constant([2, 1, 3], [1, 3, 2], [1, 3, 2])
    0
    """
    left, right, target = (trimmed(read_permutation(each)) for each in (u, v, w))
    if length(target) != length(left) + length(right):  # S_w is homogeneous of degree ℓ(w)
        return 0
    return schubert_product(left, right).get(target, 0)


def schubert_product(u: Iterable[int], v: Iterable[int]) -> dict[Permutation, int]:
    """Return S_u S_v in the basis of Schubert polynomials: w, without fixed points at its end, to its coefficient.

    Raises:
        EncodingError: an argument is not a permutation of 1..n.

    >>> schubert_product([2, 1, 3], [1, 3, 2])
    {(3, 1, 2): 1, (2, 3, 1): 1}
    >>> schubert_product([1, 2], [1])
    {(): 1}
    """
    factors = sorted((trimmed(read_permutation(each)) for each in (u, v)), key=length)
    shorter, longer = factors
    size = max(len(shorter) + len(longer) - 1, 1)
    identity = tuple(range(1, len(shorter) + 1))
    products = {identity: {padded(longer, size): 1}}
    for permutation, r, previous, terms in transition_order([shorter]):
        total = times_variable(products[previous], r)
        for term in terms:
            for w, coefficient in products[term].items():
                total[w] = total.get(w, 0) + coefficient
        products[permutation] = {w: coefficient for w, coefficient in total.items() if coefficient}
    return {trimmed(w): coefficient for w, coefficient in products[shorter].items()}


def times_variable(polynomial: dict[Permutation, int], r: int) -> dict[Permutation, int]:
    """Return x_r (r from 0) times a combination of Schubert polynomials, by Monk's rule.

    The permutations must be long enough to hold the result, which is so for every step of the transition recursion in
    S_(a+b-1): a term beyond would come with the plus sign alone and could not cancel.

    >>> times_variable({(2, 1, 3): 1}, 1)  # x_2 S_213 = x_2 x_1 = S_231
    {(2, 3, 1): 1}
    """
    total: dict[Permutation, int] = {}
    for w, coefficient in polynomial.items():
        for j, sign in _covers(w, r):
            swapped = _swapped(w, r, j)
            total[swapped] = total.get(swapped, 0) + sign * coefficient
    return total


def transition(v: Permutation) -> tuple[int, Permutation, list[Permutation]]:
    """Return (r, v', terms) with S_v = x_r S_v' + Σ S_term, r counted from 0; v is not the identity.

    >>> transition((1, 3, 2))  # S_132 = x_2 S_123 + S_213
    (1, (1, 2, 3), [(2, 1, 3)])
    """
    r = max(position for position, (a, b) in enumerate(pairwise(v)) if a > b)
    s = max(position for position in range(r + 1, len(v)) if v[position] < v[r])
    previous = _swapped(v, r, s)
    return r, previous, [_swapped(previous, q, r) for q, sign in _covers(previous, r) if sign < 0]


def transition_order(wanted: Iterable[Permutation]) -> Iterator[TransitionStep]:
    """Yield (v, r, v', terms) for all permutations that the recursion of `wanted` meets, each after its v' and terms.

    The identity is not among them. All are of one length; the recursion never needs a longer one.

    >>> [step[0] for step in transition_order([(1, 3, 2)])]
    [(2, 1, 3), (1, 3, 2)]
    """
    done: set[Permutation] = set()
    for goal in wanted:
        stack = [goal]
        while stack:
            v = stack[-1]
            if v in done or _is_identity(v):
                stack.pop()
                continue
            r, previous, terms = transition(v)
            missing = [each for each in (previous, *terms) if each not in done and not _is_identity(each)]
            if missing:
                stack.extend(missing)
            else:
                stack.pop()
                done.add(v)
                yield v, r, previous, terms


def _is_identity(v: Permutation) -> bool:
    return all(a < b for a, b in pairwise(v))


def _swapped(w: Permutation, i: int, j: int) -> Permutation:
    entries = list(w)
    entries[i], entries[j] = entries[j], entries[i]
    return tuple(entries)


def _covers(w: Permutation, r: int) -> list[tuple[int, int]]:
    """Return (j, sign) for all t_rj that raise the length of w by one; the sign is Monk's, + for j > r, - for j < r."""
    covers = []
    least = len(w) + 1  # the least entry above w_r that has been passed
    for j in range(r + 1, len(w)):
        if w[r] < w[j] < least:
            least = w[j]
            covers.append((j, 1))
    greatest = 0  # the greatest entry below w_r that has been passed
    for i in range(r - 1, -1, -1):
        if greatest < w[i] < w[r]:
            greatest = w[i]
            covers.append((i, -1))
    return covers
