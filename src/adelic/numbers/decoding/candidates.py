"""The numbers of a code near a word of digits: the search behind `adelic.numbers.decoding.redundancy`.

**Doubtful digits.** With probabilities of the digits at hand, the least trusted ones are erased one after another, and
after each erasure what is left is decoded; the most likely of the numbers found is the answer. That is generalized
minimum distance decoding: an erasure costs the bound one factor of p, an error two. Where the answer is still in doubt
(a confidence below 0.9), up to three of the six digits that hardly beat the next likely ones give way to these, in all
combinations, as in Chase's algorithm (unless all digits together are at most as likely as chance).

Sources: G. D. Forney, "Generalized minimum distance decoding", IEEE Trans. Inf. Theory 12 (1966), D. Chase, "A class of
algorithms for decoding block codes with channel measurement information", ibid. 18 (1972), and V. Guruswami, A. Sahai,
M. Sudan, "Soft-decision decoding of Chinese remainder codes", FOCS 2000.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, inf, isinf, isnan, log, pi, prod
from typing import NamedTuple

from adelic.numbers.decoding.channels import Channel
from adelic.numbers.decoding.reconstruction import chinese_remainder
from adelic.numbers.primes import valuation
from adelic.numbers.space import AdeleSpace

_LARGEST_EXPONENT = 700.0  # exp overflows from 710 on
_CERTAIN = 0.9  # answers less certain are not the last word


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
class Codewords:
    """The numbers n/m with |n| <= max_numerator and 1 <= m <= max_denominator, and the search for those near a word."""

    space: AdeleSpace
    max_numerator: int
    max_denominator: int = 1

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
        # Where a prime has no trusted digits, f need not divide the scale, but the modulus is 1.
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
        """Return n/m from the shortest vector of {(u, v) : u ≡ y·v}, in lowest terms, or None where it is too large."""
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
        """Return p^F · n/m modulo p^N at the j-th prime, or None where the window does not hold it."""
        p, (n, m) = self.space.primes[j], number
        lost = valuation(m, p)
        if lost > self.space.fractional_digits:
            return None
        power = self._powers[j]
        residue: int = n * p ** (self.space.fractional_digits - lost) * pow(m // p**lost, -1, power) % power
        return residue

    def _choose(self, found: dict[tuple[int, int], _Candidate], known: list[int]) -> tuple[Fraction, float, list[bool]]:
        """Return the likeliest number, its confidence and where its digits are not those given."""
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
    def _modulus(self) -> int:
        """Return M = ∏ p^N."""
        return prod(self._powers)

    @cached_property
    def _scale(self) -> int:
        """Return S = ∏ p^F."""
        return prod(self._fractional_scales)

    @cached_property
    def _log_chance(self) -> float:
        """Return log(K/M): 2·A + 1 integers, or about 2·A·B·6/π² rationals (Dirichlet's density of coprime pairs)."""
        if self.max_denominator == 1:
            return log(2 * self.max_numerator + 1) - log(self._modulus)
        pairs = log(2 * max(1, self.max_numerator)) + log(self.max_denominator) + log(6 / pi**2)
        return pairs - log(self._modulus)
