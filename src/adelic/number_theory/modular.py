"""Modular arithmetic: sums of many numbers modulo q, and what a number is at one prime.

Source of the sums: Saxena, Alfarano, Charton, Allen-Zhu, Wenger and Lauter, "Making hard problems easier with custom
data distributions and loss regularization" (arXiv:2410.03569).
"""

import numpy as np

from adelic.data.drawn import Draw, SampledTask, Variants, integers
from adelic.errors import ConfigurationError
from adelic.number_theory.drawing import answers_with, coprime
from adelic.number_theory.spaces import digits_of, for_residues
from adelic.numbers import AdeleSpace, is_prime
from adelic.numbers.primes import split
from adelic.numbers.rationals import objects
from adelic.storage.options import option

_FURTHER = 1000


class ModularSum(Variants):
    """Options of the task `modular-sum`: the sum of numbers modulo q.

    >>> X, y = ModularSum(terms=3, modulus=7).task().sample(2, np.random.default_rng(0))
    >>> X.tolist(), y.tolist()
    ([[5, 4, 3], [1, 2, 0]], [5, 3])
    """

    terms: int = option(16, help="How many numbers are added.", least=2, greatest=1024)
    modulus: int = option(257, help="The modulus q; numbers are from 0 to q - 1.", least=2, greatest=10**9)

    def task(self) -> SampledTask:
        """Return the task."""
        terms, q = self.terms, self.modulus

        def with_zeros(n: int, rng: np.random.Generator) -> np.ndarray:
            # The ranks of random numbers are a permutation: those below `kept` are at as many random columns.
            kept = rng.integers(1, terms + 1, (n, 1))
            return np.where(rng.random((n, terms)).argsort(axis=1) < kept, rng.integers(0, q, (n, terms)), 0)

        return SampledTask(
            name="modular-sum",
            title=f"the sum of {terms} numbers modulo {q:,}",
            arity=terms,
            draws={"train": integers(0, q - 1, terms), "zeros": with_zeros},
            never_seen_titles={"zeros": f"1 to {terms} numbers, and zeros"},
            solve=lambda X: objects((X.sum(axis=1) % q).tolist()),
            max_operand=q - 1,
            max_numerator=q - 1,
            commutative=True,
            modulus=q,
            variants=ModularSum,
            space=for_residues(q),
        )


class _AtAPrime(Variants):
    """Options of tasks about one number at one prime."""

    limit: int = option(10**9, help="Greatest number.", least=100, greatest=10**15)
    prime: int = option(7, help="The prime.", least=2, greatest=997)

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        if not is_prime(self.prime):
            raise ConfigurationError(f"prime={self.prime} is not a prime")


class Valuation(_AtAPrime):
    """Options of the task `valuation`: the exponent of p in n.

    Every valuation is as likely as the others, so 0 is not a good guess.

    >>> X, y = Valuation(prime=3, limit=1000).task().sample(4, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([243, 162, 783, 291], [5, 4, 3, 1])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        p, limit = self.prime, self.limit
        most = next(k for k in range(64) if p ** (k + 1) > limit)

        def numbers(n: int, rng: np.random.Generator) -> np.ndarray:
            powers = p ** rng.integers(0, most + 1, n)
            return (powers * coprime(p, 1, limit // powers, n, rng))[:, None]

        return SampledTask(
            name="valuation",
            title=f"the exponent of {p} in n, up to {limit:,}",
            arity=1,
            draws={"train": numbers},
            solve=answers_with(lambda X: split(X[:, 0], p)[0]),
            max_operand=limit,
            max_numerator=most,
            variants=Valuation,
            space=AdeleSpace((p,), most + 1),
        )


class Unit(_AtAPrime):
    """Options of the task `unit`: what is left of n, modulo p, when all factors p are taken out.

    >>> X, y = Unit(prime=7, limit=1000).task().sample(3, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([851, 637, 512], [3, 5, 0])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        p, limit = self.prime, self.limit
        return SampledTask(
            name="unit",
            title=f"the unit part of n, up to {limit:,}, modulo {p}",
            arity=1,
            draws={"train": integers(1, limit, 1), "larger": integers(limit + 1, _FURTHER * limit, 1)},
            never_seen_titles={"larger": f"n from {limit:,} to {_FURTHER * limit:,}"},
            solve=answers_with(lambda X: split(X[:, 0], p)[1] % p - 1),
            max_operand=_FURTHER * limit,
            class_names=tuple(map(str, range(1, p))),
            variants=Unit,
            space=AdeleSpace((p,), digits_of(_FURTHER * limit, p)),
        )


class Order(_AtAPrime):
    """Options of the task `order`: the least k with a^k ≡ 1 modulo p, of an a that p does not divide.

    >>> X, y = Order(prime=7, limit=1000).task().sample(4, np.random.default_rng(0))
    >>> X[:, 0].tolist(), y.tolist()
    ([851, 125, 512, 270], [3, 2, 1, 3])
    """

    def task(self) -> SampledTask:
        """Return the task."""
        p, limit = self.prime, self.limit
        orders = np.zeros(p, dtype=np.int64)
        for a in range(1, p):
            orders[a] = next(k for k in range(1, p) if pow(a, k, p) == 1)

        def units(low: int, high: int) -> Draw:
            return lambda n, rng: coprime(p, low, high, n, rng)[:, None]

        return SampledTask(
            name="order",
            title=f"the order of a, up to {limit:,}, modulo {p}",
            arity=1,
            draws={"train": units(1, limit), "larger": units(limit + 1, _FURTHER * limit)},
            never_seen_titles={"larger": f"a from {limit:,} to {_FURTHER * limit:,}"},
            solve=lambda X: objects(orders[X[:, 0] % p].tolist()),
            max_operand=_FURTHER * limit,
            max_numerator=p - 1,
            variants=Order,
            space=for_residues(p),
        )
