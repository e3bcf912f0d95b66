"""Error patterns against `RedundantResidueCode`: within its guarantee they are mended, beyond it nothing is made up.

Beyond, the proof in the module says how near another number can be: if the word is E away from the right number and E'
from the answer, then 2·S·A·B·E·E' >= M. Every other answer is wrong.
"""

from fractions import Fraction
from math import prod
from typing import Any

from adelic import AdeleSpace, AdelicError, RedundantResidueCode
from adelic.errors import SpaceError
from targets.case import Case
from targets.rational import SMALL_PRIMES

_WORDS = 20


def code(case: Case) -> None:
    """Check words of one code, each with errors of its own; a third of them within the guarantee."""
    rng = case.rng
    primes = tuple(rng.sample(SMALL_PRIMES[: rng.choice([8, 20, 53])], rng.randint(2, 8)))
    precision = rng.randint(1, 8)
    space = AdeleSpace(primes, precision, rng.choice([0, 0, rng.randrange(precision)]))
    size = prod(primes) ** precision
    bits = max(1, int(size.bit_length() * rng.choice([0.1, 0.3, 0.5, 0.7])))
    greatest_m = rng.choice([1, rng.randint(1, 2 ** (bits // 2 + 1))])
    try:
        given = RedundantResidueCode(space, max(1, 2**bits // greatest_m), greatest_m)
    except SpaceError:
        case.counts["no code"] += 1
        return
    numbers = [_random_number(case, given) for _ in range(_WORDS)]
    words = space.encode(numbers).digits.astype(object).copy()
    distances = [_spoil(case, word, given) for word in words]
    found = given.decode(words.astype("int64"))
    for word, q, distance, value, errors in zip(
        words, numbers, distances, found.values.tolist(), found.errors.tolist(), strict=True
    ):
        true_errors = _errors(space, word, q)
        if distance <= given.capacity:
            assert value == q, f"{q} is read as {value} in {given}, with errors at {true_errors}"
            case.counts["within the guarantee"] += 1
        if value == q:
            assert errors == true_errors
            case.counts["mended"] += any(errors)
        elif value is None:
            case.counts["refused"] += 1
        else:
            assert abs(value.numerator) <= given.max_numerator
            assert value.denominator <= given.max_denominator
            other = _distance(space, word, value)
            bound = 2 * space.window.scale * given.max_numerator * given.max_denominator
            assert bound * distance * other >= size, f"{q} with few errors is read as {value} in {given}"
            case.counts["another number, as near"] += 1


def _random_number(case: Case, given: RedundantResidueCode) -> Fraction:
    """Return a number of a code whose digits the space holds."""
    while True:
        n = case.rng.randint(-given.max_numerator, given.max_numerator)
        q = Fraction(n, case.rng.randint(1, given.max_denominator))
        try:
            given.space.encode(q)
        except AdelicError:
            continue
        return q


def _spoil(case: Case, word: Any, given: RedundantResidueCode) -> int:
    """Change digits of a word at some places; return the product of p^(N − k), k the lowest wrong digit."""
    space, rng = given.space, case.rng
    wanted = given.capacity if case.chance(0.6) else given.capacity ** rng.choice([2, 3])
    distance = 1
    for j in rng.sample(range(space.n_primes), space.n_primes):
        p, n = space.primes[j], space.precision
        lowest = rng.randrange(n)
        if distance * p ** (n - lowest) > wanted or case.chance(0.3):
            continue
        distance *= p ** (n - lowest)
        for k in range(lowest, n):  # the k-th lowest digit stands at n − 1 − k
            if k == lowest:
                word[j, n - 1 - k] = (word[j, n - 1 - k] + rng.randrange(1, p)) % p
            else:
                word[j, n - 1 - k] = rng.randrange(p)
    return distance


def _errors(space: AdeleSpace, word: Any, q: Fraction) -> list[bool]:
    """Return the places where a word has not the digits of a number."""
    digits = space.encode(q).digits
    return [word[j].tolist() != digits[j].tolist() for j in range(space.n_primes)]


def _distance(space: AdeleSpace, word: Any, q: Fraction) -> int:
    """Return how far a word is from a number, which may have digits below the window."""
    distance = 1
    for j, p in enumerate(space.primes):
        n, shift = space.precision, p**space.fractional_digits
        scaled = q * shift
        if scaled.denominator % p == 0:
            distance *= p**n
            continue
        value = sum(int(d) * p**k for k, d in enumerate(reversed(word[j].tolist())))
        right = 0
        while right < n and (value * scaled.denominator - scaled.numerator) % p ** (right + 1) == 0:
            right += 1
        distance *= p ** (n - right)
    return distance
