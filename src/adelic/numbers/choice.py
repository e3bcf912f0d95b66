"""The choice of primes and digits: the cheapest space that holds some numbers and results computed from them.

The bound. An expression of k sums, differences and products has at most k + 1 leaves. Over the product of the leaves'
denominators its numerator grows as if every sign were plus: (a, m) + (b, l) = (a·l + b·m, m·l), (a, m) · (b, l) =
(a·b, m·l). Both are monotone, so the Pareto-largest pairs (|n|, m) of the values bound all results. A prime p of the
space takes its power out of both, p^v | m: the pair is (|n| / p^v, m / p^v). In return a value with p^e in its
denominator asks for (k + 1)·e fractional digits, and each product forgets e digits. Altogether a result decodes if
2·|n|·m < ∏ p^(N_p − F − k·e_p) for its pair, e_p being the largest e of the values.

Digits by prime: of the least N that does for all primes, the smallest primes give up the highest digits first, as many
as the bound can spare. A digit of a smaller prime is worth less, so no others would be more.

With labels, `prime_information` measures how much the digits at each prime tell about them: mutual information, tested
against chance by permutations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from math import log2, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError, SpaceError
from adelic.numbers import finite, rationals
from adelic.numbers.describe import describe
from adelic.numbers.primes import first_primes, largest_valuation
from adelic.numbers.rationals import EXACT, Rationals
from adelic.numbers.space import AdeleSpace
from adelic.numbers.window import checked_count

CANDIDATES = first_primes(14)
"""The primes to choose from, 2 … 43: those that the fastest kernels take."""

_MOST_OPERATIONS = 64
_MOST_CANDIDATES = 100  # the search makes a space for each number of easy and of hard ones
_FRONT = 16  # pairs that one step of the bound keeps; more are merged, which makes the bound larger, never smaller

Pair = tuple[int, int]

SIGNIFICANT = 0.01
"""The level of the test: with labels that mean nothing, some prime is called telling at most so often."""

_PERMUTATIONS = 999
_MOST_ROWS = 20_000  # that the test looks at; more are sampled, so a million rows take seconds
_MOST_CLASSES = 256
_RESIDUES = 64  # digits are taken while p^k is at most this, and always one
_VALUATIONS = 4  # p^-1 … p^-4 are separate classes, deeper poles belong to the last

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PrimeInformation:
    """How much the low digits at one prime tell about a label.

    Attributes:
        prime: p.
        digits: k, how many low digits are looked at: the residue mod p^k.
        bits: mutual information of residue and label, in bits.
        excess_bits: the same less the mean over permuted labels, the value by chance.
        p_value: the probability that by chance some prime tells as much, which corrects for the number of primes.
    """

    prime: int
    digits: int
    bits: float
    excess_bits: float
    p_value: float

    @property
    def is_significant(self) -> bool:
        """Return whether the prime tells of the label beyond chance."""
        return self.p_value <= SIGNIFICANT


def prime_information(
    numbers: Rationals, labels: Any, primes: tuple[int, ...], *, seed: int = 0
) -> tuple[PrimeInformation, ...]:
    """Return how much the low digits at each prime tell about the labels, the most telling prime first.

    The residue mod p^k, p^k <= 64 or k = 1, against the label; if p divides the denominator, the power of p is the
    class. p-values are of the largest standardised information of all primes under 999 permutations of the labels.
    Of more than 20,000 values, 20,000 at random are looked at.

    `labels` are a class for each number, (size,) or the shape of the numbers, at most 256 classes; else it is an
    EncodingError. The numbers are in lowest terms; `seed` is for the sample and the permutations.

    Source: P. H. Westfall and S. S. Young, Resampling-based multiple testing (1993), single-step maxT.

    >>> rows = prime_information(rationals.read(range(500)), [n % 3 for n in range(500)], (2, 3, 5))
    >>> rows[0].prime, round(rows[0].bits, 2), rows[0].is_significant, rows[1].is_significant
    (3, 1.58, True, False)
    """
    classes = _classes(labels, len(numbers.numerators))
    rng = np.random.default_rng(seed)
    n, m = numbers.numerators, numbers.denominators
    if len(n) > _MOST_ROWS:
        sample = np.sort(rng.choice(len(n), _MOST_ROWS, replace=False))
        n, m, classes = n[sample], m[sample], classes[sample]
    n_classes = int(classes.max()) + 1
    residues = [_low_digits(n, m, p) * n_classes for p in primes]
    entropy = [_entropy(np.bincount(classes)) + _entropy(np.bincount(r // n_classes)) for r in residues]
    found = np.empty((_PERMUTATIONS + 1, len(primes)))
    for i in range(_PERMUTATIONS + 1):  # the first one is the labels as they are
        for j, r in enumerate(residues):
            found[i, j] = entropy[j] - _entropy(np.bincount(r + classes))
        classes = rng.permutation(classes)
    # If permutations change nothing, as with one residue alone, rounding would be divided by rounding.
    mean, spread = found.mean(axis=0), found.std(axis=0)
    standard = np.where(spread > 1e-12, (found - mean) / np.maximum(spread, 1e-12), 0.0)
    most = standard.max(axis=1)
    chance = found[1:].mean(axis=0)
    rows = [
        PrimeInformation(
            prime=p,
            digits=_n_digits(p),
            bits=max(0.0, float(found[0, j])),
            excess_bits=float(found[0, j] - chance[j]),
            # The labels as they are count as a permutation, so no p-value is 0; 1e-9 is for rounding.
            p_value=float(np.mean(most >= standard[0, j] - 1e-9)),
        )
        for j, p in enumerate(primes)
    ]
    return tuple(sorted(rows, key=lambda row: (not row.is_significant, -row.excess_bits, row.prime)))


def _classes(labels: Any, size: int) -> Integers:
    """Return labels numbered from 0."""
    array = rationals.as_array(labels)
    try:
        given = np.asarray(list(labels) if array is None else array).reshape(-1)
        names, classes = np.unique(given, return_inverse=True)
    except (TypeError, ValueError):
        raise EncodingError(
            f"labels={describe(labels)} are not classes; give a number or a text for each value"
        ) from None
    if len(given) != size:
        raise EncodingError(f"there are {len(given)} labels for {size} values; give one label for each value")
    if len(names) > _MOST_CLASSES:
        raise EncodingError(
            f"the labels have {len(names)} classes; information is estimated for at most {_MOST_CLASSES}: group them"
        )
    return np.asarray(classes, dtype=np.int64)


def _n_digits(p: int) -> int:
    """Return the largest k with p^k <= _RESIDUES, at least 1."""
    k = 1
    while p ** (k + 1) <= _RESIDUES:
        k += 1
    return k


def _low_digits(n: npt.NDArray[Any], m: npt.NDArray[Any], p: int) -> Integers:
    """Return n/m mod p^k as classes 0, 1, …; poles at p are separate classes, by their order."""
    q = p ** _n_digits(p)
    dtype: type = np.int64
    if p**_VALUATIONS >= 2**63:  # then products and powers are beyond int64, and Python's integers have to do
        n, m, dtype = n.astype(object), m.astype(object), object
    names, index = np.unique(m % q, return_inverse=True)
    inverses: npt.NDArray[Any] = np.array([pow(int(r), -1, q) if r % p else 0 for r in names], dtype=dtype)
    residue = (n % q).astype(dtype) * inverses[index] % q
    for v in range(1, _VALUATIONS + 1):
        residue = np.where((m % p**v == 0).astype(bool), q + v - 1, residue)
    return np.asarray(np.unique(residue, return_inverse=True)[1], dtype=np.int64)


def _entropy(counts: Integers) -> float:
    """Return the entropy of the empirical distribution, in bits."""
    positive = counts[counts > 0].astype(np.float64)
    total = positive.sum()
    return float(np.log2(total) - positive @ np.log2(positive) / total)


@dataclass(frozen=True)
class SpaceChoice:
    """A chosen space, and why: `print` it for a small table.

    Attributes:
        space: the cheapest space.
        budget: how many coordinates it was allowed.
        operations: how many sums and products it has room for.
        alternatives: the cheapest space for each number of primes, `space` among them.
        information: with labels, how much each prime tells about them, the most first.

    >>> print(choose_space(["0.1", "2.75"], candidates=(2, 3, 5, 7), budget=25))
      primes  digits  fractional  coordinates
           1       5           0           10
    →      2       3           0            9
           3       5           2           20
           4       6           4           30  over the budget
    primes 3, 7: 9 of 25 coordinates; the numbers decode, and so do the results of 1 operation (+, −, ·)
    adelic.AdeleSpace(primes=(3, 7), precision=3, fractional_digits=0)
    """

    space: AdeleSpace
    budget: int
    operations: int
    alternatives: tuple[AdeleSpace, ...]
    information: tuple[PrimeInformation, ...] = ()

    @property
    def coordinates(self) -> int:
        """Return the size of a number's layout in the space."""
        return coordinates(self.space)

    def __str__(self) -> str:
        """Return the table."""
        lines = ["  primes  digits  fractional  coordinates"]
        for space in self.alternatives:
            mark = "→" if space == self.space else " "
            over = "  over the budget" if coordinates(space) > self.budget else ""
            lines.append(
                f"{mark} {space.n_primes:6}  {_digits_text(space):>6}  {space.fractional_digits:10}  "
                f"{coordinates(space):11}{over}"
            )
        primes, counts = (", ".join(map(str, numbers)) for numbers in (self.space.primes, self.space.precisions))
        uneven = "" if self.space.window.is_uniform else f" with {counts} digits"
        lines += [
            f"primes {primes}{uneven}: {self.coordinates} of {self.budget} coordinates; "
            f"the numbers decode, and so do the results of {self.operations} "
            f"{'operation' if self.operations == 1 else 'operations'} (+, −, ·)",
            f"adelic.{self.space!r}",
        ]
        if self.information:
            lines += ["", "  prime  bits about the label  beyond chance  p"]
            for row in self.information:
                mark = "*" if row.is_significant else " "
                lines.append(f"{mark} {row.prime:5}  {row.bits:20.4f}  {row.excess_bits:13.4f}  {row.p_value:.3g}")
            lines += [f"* beyond chance: p <= {SIGNIFICANT} by a permutation test, adjusted for the number of primes"]
        return "\n".join(lines)


def _digits_text(space: AdeleSpace) -> str:
    """Return the number of digits, or the least and the greatest: 3, 2-3."""
    return "-".join(str(n) for n in sorted({min(space.precisions), max(space.precisions)}))


def coordinates(space: AdeleSpace) -> int:
    """Return the coordinates of a number, the sum of all precisions, and a real row as long as the greatest.

    (n_primes + 1) · precision if all primes have as many digits: the size of `space.tensor` for one number.

    >>> coordinates(AdeleSpace()), coordinates(AdeleSpace(precision={2: 7, 3: 5, 11: 1}))
    (128, 20)
    """
    return space.max_precision + sum(space.precisions)


def choose_space(
    values: Any,
    budget: int = 128,
    operations: int = 1,
    labels: Any = None,
    *,
    candidates: Sequence[int] = CANDIDATES,
    by_prime: bool = False,
    floats: str = "error",
    seed: int = 0,
) -> SpaceChoice:
    """Return the cheapest space in which values, and all results of some operations on them, decode.

    Cheapest: the fewest coordinates (n_primes + 1) · precision, of all sets that hold the candidates which divide no
    denominator from the largest downwards, and those which do from the rarest downwards (the lowest power first, then
    the larger prime), for every number of either. Results: every expression of at most that many sums, differences and
    products of the values, each used as often as one likes; the bound is the worst case (see the module's docstring).

    With labels, primes whose digits tell of the label beyond chance are part of the space, the least telling left out
    first if the budget is too small for all.

    Args:
        values: as for `AdeleSpace.encode`.
        budget: how many coordinates the space may have.
        operations: how many sums, differences and products a result takes, 0 … 64.
        labels: a class for each value; at most 256 classes.
        candidates: the primes to choose from, at most 100.
        by_prime: whether primes may have different numbers of digits, if that takes fewer coordinates: the sum of
            their digits, and a real row as long as the greatest.
        floats: as for `AdeleSpace.encode`.
        seed: of the permutation test.

    Raises:
        SpaceError: the budget is too small (the message names the least that would do), the operations are not in
            0 … 64, or a candidate is not a prime, or they are too many.
        EncodingError: there are no values, a value is not a number, or the labels do not fit the values.

    >>> choice = choose_space(range(1000), operations=1)
    >>> choice.space
    AdeleSpace(primes=(31, 37, 41, 43), precision=1, fractional_digits=0)
    >>> a = choice.space.encode([999, -999])
    >>> (a * a).decode(), (a + a).decode()
    (array([Fraction(998001, 1), Fraction(998001, 1)], dtype=object),
     array([Fraction(1998, 1), Fraction(-1998, 1)], dtype=object))
    >>> choose_space([10**6], candidates=(2, 3, 5, 7, 11, 13), by_prime=True).space
    AdeleSpace(primes=(5, 7, 11, 13), precision={5: 1, 7: 4, 11: 4, 13: 4}, fractional_digits=0)
    >>> numbers = list(range(1000))
    >>> choose_space(numbers, labels=[n % 7 for n in numbers]).information[0].prime
    7
    """
    budget = checked_count("budget", budget)
    operations = checked_count("operations", operations, 0, _MOST_OPERATIONS)
    if hasattr(candidates, "__len__") and len(candidates) > _MOST_CANDIDATES:
        raise SpaceError(f"{len(candidates):,} primes are too many to choose from; at most {_MOST_CANDIDATES}")
    primes = AdeleSpace(candidates, 1).primes  # type: ignore[arg-type]  # checks that they are primes
    numbers = rationals.read(values, floats=floats)
    if not len(numbers.numerators):
        raise EncodingError("there are no values to choose a space for")
    information = () if labels is None else prime_information(numbers, labels, primes, seed=seed)
    told = [row.prime for row in information if row.is_significant]
    leaves = _Leaves(numbers, operations)
    while True:
        found = list(_spaces(leaves, primes, tuple(told), by_prime))
        best = min(found, key=_rank)
        if coordinates(best) <= budget or not told:
            break
        told.pop()
    if coordinates(best) > budget:
        raise SpaceError(
            f"no space of budget={budget} coordinates decodes these numbers after {operations} "
            f"operation{'s' if operations != 1 else ''}; the least that would do "
            f"is {coordinates(best)}: primes={best.primes}, precision={best.precision}, "
            f"fractional_digits={best.fractional_digits}"
        )
    sizes = sorted({space.n_primes for space in found})
    alternatives = tuple(min((s for s in found if s.n_primes == size), key=_rank) for size in sizes)
    return SpaceChoice(best, budget, operations, alternatives, information)


def fitting_space(
    values: Any,
    primes: Sequence[int],
    precision: int | Mapping[int, int],
    fractional_digits: int | None = None,
    *,
    floats: str = "error",
) -> AdeleSpace:
    """Return the space of some primes and digits, with as many digits after the point as some numbers need.

    `precision` is as for `AdeleSpace`; errors are as for it and its `encode`. A number that needs as many digits
    after the point as a prime has digits, or more, is a PrecisionError.

    >>> fitting_space(["7/5", "1/4"], (2, 3, 5), 16).fractional_digits
    2
    """
    space = AdeleSpace(primes, precision, fractional_digits or 0)  # type: ignore[arg-type]  # any sequence will do
    if fractional_digits is not None:
        return space
    numbers = rationals.read(values, floats=floats)
    return AdeleSpace(space.primes, space.precision, finite.needed_digits(numbers, space.window))


def _rank(space: AdeleSpace) -> tuple[Any, ...]:
    """Return the sort key of cheaper spaces; complete, so the choice does not depend on an order."""
    uneven = not space.window.is_uniform
    return coordinates(space), space.fractional_digits, uneven, space.max_precision, space.primes


def _spaces(
    leaves: "_Leaves", candidates: tuple[int, ...], required: tuple[int, ...], by_prime: bool
) -> Iterator[AdeleSpace]:
    """Yield, for every prime set of the search, its space of the least precision, which may differ by prime."""
    powers = {p: leaves.largest_power(p) for p in candidates}
    first = [p for p in required if not powers[p]]
    easy = sorted((p for p in candidates if not powers[p] and p not in required), reverse=True)
    hard = sorted((p for p in candidates if powers[p]), key=lambda p: (p not in required, powers[p], -p))
    least_hard = sum(p in required for p in hard)
    for n_hard in range(least_hard, len(hard) + 1):
        dividing = tuple(hard[:n_hard])
        need = leaves.need(dividing)
        for n_easy in range(len(easy) + 1):
            chosen = tuple(sorted((*first, *easy[:n_easy], *dividing)))
            if chosen:
                yield _least_precision(chosen, powers, leaves.operations, need, by_prime)


def _least_precision(
    primes: tuple[int, ...], powers: dict[int, int], operations: int, need: Fraction, by_prime: bool
) -> AdeleSpace:
    """Return the space of these primes with the least N such that need < ∏ p^(N − F − k·e_p).

    By prime, the smallest primes then give up the digits that the bound can spare; each keeps one from p^0 on.
    """
    fractional_digits = (operations + 1) * max(powers[p] for p in primes)
    lost = prod(p ** (fractional_digits + operations * powers[p]) for p in primes)
    # A little below the solution of the logarithms' equation; then exactly.
    bits = _log2(need) + log2(lost)
    precision = max(fractional_digits + 1, int(bits / log2(prod(primes)) * (1 - 1e-9)) - 1)
    while need * lost >= prod(primes) ** precision:
        precision += 1
    if not by_prime:
        return AdeleSpace(primes, precision, fractional_digits)
    counts, lost = dict.fromkeys(primes, precision), lost * need
    modulus = prod(primes) ** precision
    for p in sorted(primes):
        while counts[p] > fractional_digits + 1 and lost * p < modulus:
            lost *= p
            counts[p] -= 1
    return AdeleSpace(primes, counts, fractional_digits)


class _Leaves:
    """The values that expressions are made of, and the bound of the results."""

    def __init__(self, numbers: Rationals, operations: int) -> None:
        n, m = numbers.numerators, numbers.denominators
        self.operations = operations
        # The absolute value of −2^63 is none of int64.
        has_min = numbers.is_small and bool(np.any(n == np.iinfo(np.int64).min))
        self._numerators = np.abs(n.astype(object) if has_min else n)
        self._denominators = np.ones(1, dtype=np.int64) if numbers.is_integral else m
        self.largest_power = cache(partial(largest_valuation, self._denominators))
        if numbers.is_integral:
            self._numerators = self._numerators.max(keepdims=True)
        self._largest_denominator = int(self._denominators.max())

    def need(self, dividing: tuple[int, ...]) -> Fraction:
        """Return the largest 2·|n|·m of a result in a space whose primes, of those in denominators, are `dividing`."""
        scale = prod(p ** self.largest_power(p) for p in dividing)
        fronts = [_pareto(self._pairs(dividing))]
        for leaves in range(2, self.operations + 2):
            pairs = []  # numerators of k leaves are in units of 1 / scale^k
            for left in range(1, leaves // 2 + 1):
                right = leaves - left
                for a, m in fronts[left - 1]:
                    for b, k in fronts[right - 1]:
                        pairs.append((max(a * k * scale**right + b * m * scale**left, a * b), m * k))
            fronts.append(_pareto(pairs))
        need = max(Fraction(2 * a * m, scale ** (i + 1)) for i, front in enumerate(fronts) for a, m in front)
        # Decoding tells two numbers apart by their distance in the real row: see `adelic.numbers.decoding`. Rounding is
        # below 2^-51 a leaf, which leaves room for all but the primes' own powers in a denominator that float64 rounds.
        leaves = self.operations + 1
        if self.operations and self._largest_denominator**leaves >= EXACT:
            need = max(need, need * scale**leaves * leaves / 2**51)
        return need

    def _pairs(self, dividing: tuple[int, ...]) -> list[Pair]:
        """Return values as pairs (|n| / p^v · scale, m / p^v), the Pareto-largest ones and few besides."""
        n, m = self._numerators, self._denominators.copy()
        for p in dividing:
            for _ in range(self.largest_power(p)):
                divisible = m % p == 0
                m[divisible] //= p
        size = _log2s(n, np.asarray(self._denominators // m))
        order = np.argsort(-m, kind="stable")
        largest = np.maximum.accumulate(size[order])
        kept = order[np.concatenate([[True], size[order][1:] > largest[:-1] - 1e-9])]  # logarithms err by less
        scale = prod(p ** self.largest_power(p) for p in dividing)
        parts = ([int(x) for x in numbers[kept]] for numbers in (n, self._denominators, m))
        return [(max(a, 1) * scale // (whole // b), b) for a, whole, b in zip(*parts, strict=True)]


def _log2s(n: npt.NDArray[Any], m: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return log2 of n / m, of 1 / m if n is 0."""
    if n.dtype == object or m.dtype == object:
        exponents = [log2(max(a, 1)) - log2(b) for a, b in np.broadcast(n, m)]
        return np.array(exponents, dtype=np.float64)
    return np.asarray(np.log2(np.maximum(n, 1)) - np.log2(m), dtype=np.float64)


def _log2(q: Fraction) -> float:
    return log2(q.numerator) - log2(q.denominator)


def _pareto(pairs: list[Pair]) -> list[Pair]:
    """Return the pairs that no other one exceeds in both parts; above _FRONT of them, fewer that exceed all."""
    front: list[Pair] = []
    for a, m in sorted(set(pairs), reverse=True):
        if not front or m > front[-1][1]:
            front.append((a, m))
    if len(front) <= _FRONT:
        return front
    size = -(-len(front) // _FRONT)
    return [(front[i][0], front[min(i + size, len(front)) - 1][1]) for i in range(0, len(front), size)]
