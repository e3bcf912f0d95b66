"""Redundant residue codes: a number from p-adic digits of which a few are wrong, missing or doubtful.

**The code.** The words are the digits of a space, N a prime (N may differ by prime); the codewords belong to the
numbers q = n/m with |n| <= A and 1 <= m <= B. Let M = ∏ p^N and S = ∏ p^F over the primes. Erasing the digits of a
prime from the k-th lowest on puts p^k instead of p^N in M, and erasing all of them takes p^F out of S.

**The bound.** If the lowest wrong digit at p is the k-th, counted from 0, all digits from it on count as wrong:
let E be the product of p^(N − k) over these primes. Digits that q lacks, since p divides m more than F times, are
wrong in this sense, too. *If 2·S·A·B·E² < M, then q is found.*

*Proof.* Let y be the number modulo M that the digits give for S·q, and Λ the lattice {(u, v) : u ≡ y·v (mod M)}, of
determinant M. Let ‖(u, v)‖ = max(|u|/(S·A), |v|/B). The vector E·(S·n, m) is in Λ, and its norm is at most E. So the
shortest vector (u, v) of Λ has norm at most E, too. Their determinant E·(S·n·v − m·u) is divisible by M, and in size
at most 2·(S·A·E)·(B·E) < M; so it is 0, and u/v = S·n/m. ∎ The shortest vector is one of two neighbouring rows
(remainder, cofactor) of the extended Euclidean algorithm of (M, y), those between which remainder/(S·A) falls below
cofactor/B: by the signs of the cofactors, a vector with |u| < r_(i−1) has |v| >= |t_i|.

**Beyond the bound.** In the same way, one word that is E away from one number and E' from another has
2·S·A·B·E·E' >= M. If too many digits are wrong, another number is found only by correcting all the more others:
with no place corrected the answer is right unless E reaches M / (2·S·A·B), the square of the corrected part. The
confidence measures which wrong answers are likely then.

**Doubtful digits.** With probabilities of the digits at hand, the least trusted ones are erased one after another, and
after each erasure the rest is decoded; the most likely of the numbers found is the answer. That is generalized
minimum distance decoding: an erasure costs the bound one factor of p, an error two. If the answer is still in doubt
(a confidence below 0.9), up to three of the six digits that hardly beat the next likely ones give way to these, in all
combinations, as in Chase's algorithm (unless all digits together are at most as likely as chance).

Sources: D. Mandelbaum, "Error correction in residue arithmetic", IEEE Trans. Comput. 21 (1972), and O. Goldreich,
D. Ron, M. Sudan, "Chinese remaindering with errors", IEEE Trans. Inf. Theory 46 (2000), for integers; J. Böhm,
W. Decker, C. Fieker, G. Pfister, "The use of bad primes in rational reconstruction", Math. Comp. 84 (2015), for
rationals. G. D. Forney, "Generalized minimum distance decoding", IEEE Trans. Inf. Theory 12 (1966), D. Chase, "A class
of algorithms for decoding block codes with channel measurement information", ibid. 18 (1972), and V. Guruswami, A.
Sahai, M. Sudan, "Soft-decision decoding of Chinese remainder codes", FOCS 2000, for doubtful digits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations
from math import exp, inf, isinf, isnan, isqrt, log, log1p, pi, prod
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adelic.errors import EncodingError, SpaceError
from adelic.numbers import finite, hensel
from adelic.numbers.array import AdeleArray
from adelic.numbers.coordinates import number_array
from adelic.numbers.decoding.reconstruction import chinese_remainder
from adelic.numbers.describe import at_position, describe
from adelic.numbers.finite import FinitePlaces
from adelic.numbers.hensel import BelowWindowError
from adelic.numbers.primes import valuation
from adelic.numbers.space import AdeleSpace
from adelic.numbers.threshold import has_kernels
from adelic.numbers.window import checked_count

Array = npt.NDArray[Any]

ERROR_RATE = 0.01
_FAST_DENOMINATOR = 2**53  # below these bounds `adelic.numbers.decoding.fast` computes exactly
_FAST_NUMERATOR = 2**62
_LARGEST_EXPONENT = 700.0  # exp overflows from 710 on
_CERTAIN = 0.9  # answers less certain are not the last word
DOUBTFUL, SUBSTITUTIONS = 6, 3
"""Up to three of the six most doubtful digits are replaced: 41 words."""


@dataclass(frozen=True, eq=False)
class HardChannel:
    """How digits become wrong: each place with the same probability, and then all other digits are equally likely.

    Words are flattened to one axis; `known` (size, n_primes) counts their digits that are not erased.
    """

    space: AdeleSpace
    known: Array

    @property
    def hits(self) -> npt.NDArray[np.float64]:
        """Return the log-probability of the digits given, (size, n_primes)."""
        logs = np.log(np.array(self.space.primes, dtype=np.float64))
        right = np.where(self.known > 0, log1p(-ERROR_RATE), 0.0)
        erased = np.array(self.space.precisions) - self.known
        return np.asarray(right - erased * logs)  # an erased digit has probability 1/p

    def log_probability(self, i: int, j: int, residue: int | None) -> float:
        """Return the probability of other digits in the i-th word at the j-th prime; None means arbitrary ones."""
        p, precision, known = self.space.primes[j], self.space.precisions[j], int(self.known[i, j])
        if residue is None or not known:
            return -precision * log(p)
        return log(ERROR_RATE) - log(p**known - 1) - (precision - known) * log(p)

    def erasures(self, i: int) -> Iterable[tuple[int, int]]:
        """Return none: no place is less trusted than another."""
        return ()

    def substitutions(self, i: int, residues: list[int]) -> Iterable[list[int]]:
        """Return none: no wrong digit is likelier than another."""
        return ()


@dataclass(frozen=True, eq=False)
class SoftChannel:
    """Each digit has its own probability; best (size, n_primes, max_precision) belong to the likeliest digits.

    `best` is 0 if a prime has no digit, which is never in doubt.
    """

    space: AdeleSpace
    log_probabilities: Array
    best: npt.NDArray[np.float64]

    @cached_property
    def known(self) -> Array:
        """Return how many digits are not erased: all."""
        return np.broadcast_to(np.array(self.space.precisions, dtype=np.int32), self.best.shape[:-1])

    @cached_property
    def hits(self) -> npt.NDArray[np.float64]:
        """Return the log-probability of the digits given, (size, n_primes)."""
        return np.asarray(self.best.sum(axis=-1))

    def log_probability(self, i: int, j: int, residue: int | None) -> float:
        """Return the probability of other digits in the i-th word at the j-th prime; None means arbitrary ones."""
        p, precision, columns = self.space.primes[j], self.space.precisions[j], self.space.max_precision
        if residue is None:
            return -precision * log(p)
        total = 0.0
        for k in range(columns - 1, columns - 1 - precision, -1):
            residue, digit = divmod(residue, p)
            total += float(self.log_probabilities[i, j, k, digit])
        return total

    def erasures(self, i: int) -> Iterable[tuple[int, int]]:
        """Yield (j, k), the least trusted first: that the j-th prime keeps only its k lowest digits."""
        # A digit is as good as all that are below it, too: so higher ones come before lower ones.
        columns, precisions = self.space.max_precision, self.space.precisions
        trust = self.best[i, :, ::-1].cumsum(axis=-1)[:, ::-1]
        for unit in np.argsort(trust, axis=None, kind="stable").tolist():
            j, k = divmod(unit, columns)
            if columns - 1 - k < precisions[j]:
                yield j, columns - 1 - k

    def substitutions(self, i: int, residues: list[int]) -> Iterable[list[int]]:
        """Yield residues in which some of the digits that hardly beat the next likely ones give way to these."""
        primes, columns = self.space.primes, self.space.max_precision
        others = np.where(self.space.window.exists[..., None], self.log_probabilities[i], -inf)
        first = others.argmax(axis=-1, keepdims=True)
        np.put_along_axis(others, first, -inf, axis=-1)
        second, likelihood = others.argmax(axis=-1, keepdims=True), others.max(axis=-1)
        difference = (second - first)[..., 0].tolist()
        changes = []
        for unit in np.argsort(self.best[i] - likelihood, axis=None, kind="stable")[:DOUBTFUL].tolist():
            j, k = divmod(unit, columns)
            if likelihood[j, k] > -inf:
                changes.append((j, difference[j][k] * primes[j] ** (columns - 1 - k)))
        for count in range(1, SUBSTITUTIONS + 1):
            for chosen in combinations(changes, count):
                other = list(residues)
                for j, change in chosen:
                    other[j] += change
                yield other


Channel = HardChannel | SoftChannel


@dataclass(frozen=True, eq=False)
class DecodedNumbers:
    """The numbers that words of digits were decoded to.

    Attributes:
        values: object (*), `Fraction`, or None if the word is near no number of the code.
        confidence: float64 (*), the probability that the value is right; 0 if there is none. See
            `RedundantResidueCode.decode` for its assumptions.
        errors: bool (*, n_primes), the places whose digits differ from the value's: they were corrected.

    >>> code = RedundantResidueCode(AdeleSpace(primes=(5, 7, 11, 13, 17, 19), precision=1), max_numerator=10)
    >>> code.decode([[3], [3], [4], [3], [3], [3]])
    DecodedNumbers(values=3, confidence=0.99, errors at 1 of 6 places)
    """

    values: npt.NDArray[np.object_]
    confidence: npt.NDArray[np.float64]
    errors: npt.NDArray[np.bool_]

    def __repr__(self) -> str:
        shown = np.array2string(self.values, separator=", ", threshold=8, formatter={"object": str})
        confidence = np.array2string(self.confidence, separator=", ", threshold=8, precision=2)
        mended = f"errors at {self.errors.sum()} of {self.errors.size} places"
        return f"DecodedNumbers(values={shown}, confidence={confidence}, {mended})"


class _Candidate(NamedTuple):
    """A number that decoding came across: log L, and how many digits from the lowest on are its own, one a prime."""

    likelihood: float
    right: list[int]


def _is_near(number: tuple[int, int], real: float, tolerance: float) -> bool:
    """Return whether n/m is within the tolerance of an approximation, up to rounding; NaN if there is none."""
    if isnan(real):
        return True
    n, m = number
    if isinf(real):
        return False
    # The slack is more than the rounding of n/m and of a difference in float64, in which codewords are compared.
    error, bound = abs(n - Fraction(real) * m), Fraction(tolerance)
    return error <= (bound + (abs(Fraction(real)) + bound) / 2**50) * m


@dataclass(frozen=True)
class RedundantResidueCode:
    """The numbers n/m with |n| <= max_numerator and 1 <= m <= max_denominator, told by more digits than they need.

    A few wrong digits are found and corrected: errors at any places with ∏ p^N <= `capacity` (the module has the
    proof).

    Attributes:
        space: the primes and digits. Every prime more makes the code correct more.
        max_numerator: A, the greatest |n|.
        max_denominator: B, the greatest m; 1 for integers.

    Raises:
        SpaceError: the space has too few digits to tell these numbers apart, or a bound is not such an integer.

    Source: the module's docstring.

    >>> space = AdeleSpace(primes=(2, 3, 5, 7, 11, 13, 17, 19, 23), precision=1)
    >>> code = RedundantResidueCode(space, max_numerator=1000)
    >>> code.capacity, code.guaranteed_errors
    (333, 1)
    >>> digits = space.encode([-271, 828]).digits.copy()
    >>> digits[0, 4] = 0             # a wrong digit at 11
    >>> digits[1, [1, 6]] += 1       # at 3 and 17: 3·17 <= 333
    >>> code.decode(digits).values
    array([Fraction(-271, 1), Fraction(828, 1)], dtype=object)
    """

    space: AdeleSpace
    max_numerator: int
    max_denominator: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not isinstance(self.space, AdeleSpace):
            raise SpaceError(f"space={describe(self.space)} is not an AdeleSpace")
        for name, least in (("max_numerator", 0), ("max_denominator", 1)):
            object.__setattr__(self, name, checked_count(name, getattr(self, name), least))
        if not self.capacity:
            size = "2·S·|n|·m, S = ∏ p^fractional_digits," if self.space.fractional_digits else "2·|n|·m"
            raise SpaceError(
                f"the digits of {describe(self.space, 200)} do not tell apart all n/m with "
                f"|n| <= {describe(self.max_numerator)} and m <= {describe(self.max_denominator)}: {size} "
                f"must stay below {describe(self.space.window.modulus)}; take more primes or digits"
            )

    @cached_property
    def capacity(self) -> int:
        """Return the greatest E with 2·S·A·B·E² < M: errors with a product of p^N up to it are corrected, always.

        >>> space = AdeleSpace(primes=(11, 13, 17), precision=2)
        >>> RedundantResidueCode(space, max_numerator=99).capacity
        172
        """
        bound = 2 * self.space.window.scale * max(1, self.max_numerator) * self.max_denominator
        return isqrt((self.space.window.modulus - 1) // bound)

    @cached_property
    def guaranteed_errors(self) -> int:
        """Return how many wrong places are always corrected: the greatest t whose t largest p^N have a product <= E.

        >>> RedundantResidueCode(AdeleSpace(primes=(11, 13, 17), precision=2), max_numerator=99).guaranteed_errors
        0
        >>> RedundantResidueCode(AdeleSpace(primes=(11, 13, 17, 19), precision=2), max_numerator=99).guaranteed_errors
        1
        """
        largest = sorted(self._powers, reverse=True)
        return sum(product <= self.capacity for product in accumulate(largest, mul))  # they rise

    def mends(self, primes: Iterable[int]) -> bool:
        """Return whether errors at just these places are always corrected, however many of the digits there are wrong.

        Raises:
            SpaceError: one of them is not among the space's primes, or they are no sequence.

        >>> code = RedundantResidueCode(AdeleSpace(primes=(3, 5, 7, 11, 13), precision=1), max_numerator=20)
        >>> code.capacity, code.mends([13]), code.mends([3, 5]), code.mends([3, 7])
        (19, True, True, False)
        """
        try:
            places = set(primes)
        except TypeError:
            raise SpaceError(f"primes={describe(primes)} is not a sequence of primes, such as [2, 3]") from None
        strange = [p for p in places if p not in self.space.primes]
        if strange:
            raise SpaceError(
                f"{describe(strange[0])} is not one of the space's primes {describe(self.space.primes, 200)}"
            )
        powers = dict(zip(self.space.primes, self._powers, strict=True))
        return prod(powers[p] for p in places) <= self.capacity

    def decode(
        self,
        digits: Any,
        *,
        known: Any = None,
        real: Any = None,
        tolerance: Any = 0.0,
    ) -> DecodedNumbers:
        """Return the numbers whose digits these are, up to a few that are wrong.

        The confidence is L / (L + K/M): L is the probability of the given digits if the value is right, K the number
        of numbers in the code and M the number of words, so K/M is the share that all other numbers together would have
        on average if they met the digits by chance alone. Other numbers that decoding did come across count with their
        own probability. It is cautious: in fact no other number is near.

        Args:
            digits: an AdeleArray of the space, or integers, (*, n_primes, max_precision), most significant digit first.
            known: how many digits of each window, from the lowest on, are not erased, integers that broadcast to
                (*, n_primes); all of them when left out, or the known ones of the AdeleArray.
            real: approximations of the numbers, floats that broadcast to (*); NaN if there is none.
            tolerance: numbers further than that from `real`, up to the rounding of float64, are not taken as answers;
                floats that broadcast to (*).

        Raises:
            EncodingError: a shape does not fit, or a digit, count or tolerance is not valid.

        >>> space = AdeleSpace(primes=(3, 5, 7, 11, 13), precision=2)
        >>> code = RedundantResidueCode(space, max_numerator=50, max_denominator=20)
        >>> digits = space.encode(["-22/19", 7]).digits.copy()
        >>> digits[0, 4] = 12
        >>> result = code.decode(digits)
        >>> result.values, result.errors[0]
        (array([Fraction(-22, 19), Fraction(7, 1)], dtype=object), array([False, False, False, False,  True]))
        """
        if isinstance(digits, AdeleArray):
            known = digits.known if known is None else known
            digits = self.space.encode(digits).digits
        else:
            digits = number_array("digits", digits)
            shape = digits.shape[:-2] if digits.ndim >= 2 else ()
            digits = self.space.from_digits(digits, np.zeros(shape)).digits  # checked; the zeros go unused
        shape = digits.shape[:-2]
        counts = _counts(known, (*shape, self.space.n_primes), self.space)
        channel = HardChannel(self.space, counts.reshape(-1, self.space.n_primes))
        return self._decode(digits, channel, real, tolerance)

    def decode_soft(self, log_probabilities: Any, *, real: Any = None, tolerance: Any = 0.0) -> DecodedNumbers:
        """Return the likeliest numbers that are found, given the probabilities of all digits.

        A probability belongs to a digit whatever the others are, as a network's outputs do: L of the confidence (see
        `decode`) is the product of the probabilities of the value's digits.

        Args:
            log_probabilities: natural logarithms, floats (*, n_primes, max_precision, max_prime), most significant
                digit first; the last axis is the digit, −inf from p on. Beyond a prime's digits nothing is read.
            real: as for `decode`.
            tolerance: as for `decode`.

        Raises:
            EncodingError: a shape does not fit, something is NaN, or a digit that there is not is the likeliest.

        >>> space = AdeleSpace(primes=(2, 3, 5, 7), precision=1)
        >>> code = RedundantResidueCode(space, max_numerator=9)
        >>> probabilities = np.zeros((4, 1, 7))
        >>> probabilities[0, 0, :2] = 0.1, 0.9
        >>> probabilities[1, 0, :3] = 0.8, 0.1, 0.1
        >>> probabilities[2, 0, :5] = 0.1, 0.3, 0.1, 0.1, 0.4  # 4 or 1?
        >>> probabilities[3, 0, :7] = 0.0, 0.0, 0.7, 0.1, 0.1, 0.1, 0.0
        >>> with np.errstate(divide="ignore"):
        ...     result = code.decode_soft(np.log(probabilities))
        >>> result.values, result.confidence.round(2)
        (array(Fraction(9, 1), dtype=object), np.float64(0.69))
        """
        array = np.asarray(log_probabilities)
        primes, columns, exists = self.space.primes, self.space.max_precision, self.space.window.exists
        expected = (self.space.n_primes, columns, max(primes))
        if array.ndim < 3 or array.shape[-3:] != expected or array.dtype.kind != "f":
            raise EncodingError(
                f"log-probabilities must be floats of shape (*, {', '.join(map(str, expected))}), not {array.dtype} of "
                f"shape {array.shape}"
            )
        digits = array.argmax(axis=-1) * exists  # the first NaN, if there is one
        best = np.take_along_axis(array, digits[..., None], axis=-1)[..., 0].astype(np.float64)
        best = np.where(exists, best, 0.0)
        wrong = np.argwhere(np.isnan(best) | np.isinf(best) | (digits >= np.array(primes)[:, None]))
        if len(wrong):
            at = tuple(wrong[0].tolist())
            raise EncodingError(
                f"the log-probability of the digit {digits[at]}{at_position(at)}, the greatest there, is {best[at]}: "
                f"0 … {primes[at[-2]] - 1} must have numbers, one of them finite, and the others −inf"
            )
        channel = SoftChannel(self.space, array.reshape(-1, *expected), best.reshape(-1, self.space.n_primes, columns))
        return self._decode(digits, channel, real, tolerance)

    def _decode(self, digits: Array, channel: Channel, real: Any, tolerance: Any) -> DecodedNumbers:
        """Return the numbers of digits (*, n_primes, max_precision); `channel` has the same words, flattened."""
        shape = digits.shape[:-2]
        reals = _broadcast("real values", np.nan if real is None else real, shape)
        tolerances = _broadcast("tolerances", tolerance, shape)
        if not (np.isfinite(tolerances) & (tolerances >= 0)).all():
            raise EncodingError("tolerances must be finite and not negative")
        words = digits.reshape(-1, *digits.shape[-2:])
        size = len(words)
        values = np.full(size, None, dtype=object)
        confidence, errors = np.zeros(size), np.zeros((size, self.space.n_primes), dtype=np.bool_)
        hits = channel.hits
        # Most words have no wrong digit: these need no search, and the compiled decoder reads all of them at once.
        done = self._read_codewords(words, channel.known, reals, tolerances, values)
        with np.errstate(over="ignore"):
            confidence[done] = 1 / (1 + np.exp(self._log_chance - hits[done].sum(axis=-1)))
        rest = np.flatnonzero(~done)
        columns = [finite.residues(words[rest, j], p) for j, p in enumerate(self.space.primes)]
        for i, *given in zip(rest.tolist(), *columns, strict=True):
            found = self._candidates(given, channel, i, hits[i].tolist(), float(reals[i]), float(tolerances[i]))
            if found:
                values[i], confidence[i], errors[i] = self._choose(found, channel.known[i].tolist())
        return DecodedNumbers(
            values.reshape(shape), confidence.reshape(shape), errors.reshape(*shape, self.space.n_primes)
        )

    def _read_codewords(
        self, words: Array, known: Array, reals: Array, tolerances: Array, values: npt.NDArray[np.object_]
    ) -> npt.NDArray[np.bool_]:
        """Write the numbers of the words that are codewords already, if they fit int64; return which these are."""
        done = np.zeros(len(words), dtype=np.bool_)
        rows = np.flatnonzero((known == np.array(self.space.precisions)).all(axis=-1))
        is_small = self.max_numerator < _FAST_NUMERATOR and self.max_denominator < _FAST_DENOMINATOR
        if not (len(rows) and is_small and has_kernels()):
            return done
        from adelic.numbers.decoding import fast

        places = FinitePlaces(words[rows], known[rows])
        n, m, found = fast.decode_within(places, self.space.window, self.max_numerator, self.max_denominator)
        with np.errstate(invalid="ignore"):
            found &= np.isnan(reals[rows]) | (np.abs(n / m - reals[rows]) <= tolerances[rows])
        done[rows] = found
        values[done] = fast.fractions_in_lowest_terms(n[found].tolist(), m[found].tolist())
        return done

    def _candidates(
        self, residues: list[int], channel: Channel, i: int, hits: list[float], real: float, tolerance: float
    ) -> dict[tuple[int, int], _Candidate]:
        """Return the numbers found for a word.

        Residues are of p^F · q, one a prime, for the word i of the channel; `hits` has the log-probabilities of the
        digits given. `real` is an approximation, or NaN, and `tolerance` the greatest distance from it.
        """
        known = channel.known[i].tolist()
        found: dict[tuple[int, int], _Candidate] = {}

        def take(number: tuple[int, int] | None) -> _Candidate | None:
            """Return the candidate that a number is, new or known, or None."""
            if number is None or not _is_near(number, real, tolerance):
                return None
            if number not in found:
                right = self._right_digits(number, residues)
                likelihood = sum(
                    hit if a >= b else channel.log_probability(i, j, self._residue(j, number))
                    for j, (hit, a, b) in enumerate(zip(hits, right, known, strict=True))
                )
                found[number] = _Candidate(likelihood, right)
            return found[number]

        for y, modulus, scale, trusted in self._trials(residues, known, channel.erasures(i)):
            candidate = take(self._nearest(y, modulus, scale))
            if candidate and all(a >= b for a, b in zip(candidate.right, trusted, strict=True)):
                break  # it will be found again and again: all digits that are left are its own
        # No answer is likelier than the likeliest digits; if these are at most as likely as chance, a search is vain.
        if sum(hits) > self._log_chance and (not found or self._choose(found, known)[1] < _CERTAIN):
            for other in channel.substitutions(i, residues):
                for y, modulus, scale, _ in self._trials(other, known, ()):
                    take(self._nearest(y, modulus, scale))
        return found

    def _trials(
        self, residues: list[int], known: list[int], erasures: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[int, int, int, list[int]]]:
        """Yield (y, M, S, trusted digits a prime), before the erasures and after each, while the code's numbers differ.

        `trusted` is the same list every time.
        """
        primes, scales, fractional = self.space.primes, self._fractional_scales, self.space.fractional_digits
        trusted = list(known)
        moduli = tuple(p**k for p, k in zip(primes, trusted, strict=True))
        modulus, scale = prod(moduli), prod(f for f, k in zip(scales, trusted, strict=True) if k)
        # If a prime has no trusted digits, f need not divide the scale, but the modulus is 1.
        parts = [r * (scale // f) for r, f in zip(residues, scales, strict=True)] if fractional else residues
        y = chinese_remainder(parts, moduli)
        bound = 2 * self.max_numerator * self.max_denominator
        if bound * scale < modulus:
            yield y, modulus, scale, trusted
        for j, kept in erasures:
            if kept >= trusted[j]:
                continue
            modulus //= primes[j] ** (trusted[j] - kept)
            trusted[j] = kept
            if fractional and not kept:  # y is S·q modulo M, and S loses p^F
                scale //= scales[j]
                y *= pow(scales[j], -1, modulus)
            y %= modulus
            if bound * scale >= modulus:
                return
            yield y, modulus, scale, trusted

    def _nearest(self, y: int, modulus: int, scale: int) -> tuple[int, int] | None:
        """Return n/m from the shortest vector of {(u, v) : u ≡ y·v}, in lowest terms, or None if it is too large."""
        u_bound, v_bound = scale * max(1, self.max_numerator), self.max_denominator
        r0, r1, t0, t1 = modulus, y, 0, 1
        while r1 * v_bound > abs(t1) * u_bound:
            quotient = r0 // r1
            r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
        # By the larger part, the norms are r0 / u_bound of the row before and |t1| / v_bound of this one.
        u, v = (r1, t1) if abs(t1) * u_bound <= r0 * v_bound else (r0, t0)
        if v == 0:
            return None
        q = Fraction(u, v * scale)
        n, m = q.numerator, q.denominator
        return (n, m) if abs(n) <= self.max_numerator and m <= self.max_denominator else None

    def _right_digits(self, number: tuple[int, int], residues: list[int]) -> list[int]:
        """Return how many digits, from the lowest on, a number and residues have in common at each prime."""
        (n, m), right = number, []
        for p, precision, power, scale, residue in zip(
            self.space.primes, self.space.precisions, self._powers, self._fractional_scales, residues, strict=True
        ):
            # p^F·n/m is the residue modulo p^k if p^(k + lost) divides this; p^lost is the power of p in m.
            difference = n * scale - residue * m
            lost = valuation(m, p)
            if lost > self.space.fractional_digits:
                right.append(0)
            elif difference % (power * p**lost) == 0:
                right.append(precision)
            else:
                right.append(valuation(difference, p) - lost)
        return right

    def _residue(self, j: int, number: tuple[int, int]) -> int | None:
        """Return p^F · n/m modulo p^N at the j-th prime, or None if the window does not hold it."""
        p, precision, f = self.space.primes[j], self.space.precisions[j], self.space.fractional_digits
        try:
            return hensel.residue(*number, p, precision, f).value
        except BelowWindowError:
            return None

    def _choose(self, found: dict[tuple[int, int], _Candidate], known: list[int]) -> tuple[Fraction, float, list[bool]]:
        """Return the likeliest number, its confidence and the places at which its digits differ from the given ones."""
        (n, m), best = max(found.items(), key=lambda item: item[1].likelihood)
        others = [c.likelihood for c in found.values() if c is not best] + [self._log_chance]
        if best.likelihood == -inf:
            confidence = 0.0
        else:
            confidence = 1 / (1 + sum(exp(min(o - best.likelihood, _LARGEST_EXPONENT)) for o in others))
        errors = [right < count for right, count in zip(best.right, known, strict=True)]
        return Fraction(n, m), confidence, errors

    @cached_property
    def _powers(self) -> tuple[int, ...]:
        """Return p^N for each prime, N being its number of digits."""
        return tuple(p**n for p, n in zip(self.space.primes, self.space.precisions, strict=True))

    @cached_property
    def _fractional_scales(self) -> tuple[int, ...]:
        """Return p^F for each prime."""
        return tuple(p**self.space.fractional_digits for p in self.space.primes)

    @cached_property
    def _log_chance(self) -> float:
        """Return log(K/M): 2·A + 1 integers, or about 2·A·B·6/π² rationals (Dirichlet's density of coprime pairs)."""
        if self.max_denominator == 1:
            return log(2 * self.max_numerator + 1) - log(self.space.window.modulus)
        pairs = log(2 * max(1, self.max_numerator)) + log(self.max_denominator) + log(6 / pi**2)
        return pairs - log(self.space.window.modulus)


def _broadcast(name: str, values: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return floats of a shape, flattened, or raise `EncodingError`."""
    try:
        return np.broadcast_to(np.asarray(values, dtype=np.float64), shape).reshape(-1)
    except (TypeError, ValueError):
        raise EncodingError(f"{name} must be floats that broadcast to the shape {shape}") from None


def _counts(known: Any, shape: tuple[int, ...], space: AdeleSpace) -> Array:
    """Return counts of known digits of a shape, or raise `EncodingError`."""
    counts = np.asarray(space.precisions if known is None else known)
    try:
        counts = np.broadcast_to(counts, shape)
    except ValueError:
        raise EncodingError(f"known of shape {counts.shape} does not broadcast to {shape}") from None
    if counts.dtype.kind not in "iu" or ((counts < 0) | (counts > np.array(space.precisions))).any():
        raise EncodingError(
            f"known must be integers from 0 to precision={space.precision}: how many digits are not erased"
        )
    return counts.astype(np.int32)
