"""A number field with its embeddings: an infinite place, and the primes at which its elements have digits."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from adelic.numbers.algebraic import polynomials
from adelic.numbers.algebraic.polynomials import Element
from adelic.numbers.array import AdeleArray
from adelic.numbers.hensel import BelowWindowError
from adelic.numbers.primes import valuation
from adelic.numbers.window import Window

BITS = 64
"""To which images in the complex numbers are computed before they are rounded to float64."""


@dataclass(frozen=True)
class EmbeddedField(ABC):
    """The interface of an `AlgebraicSpace` to its arrays, and to their decoding.

    Attributes:
        polynomial: f, monic and irreducible over the integers, the constant coefficient first; θ is a root.
        root: the root that the infinite place takes for θ, to float64; its imaginary part is 0 only if it is real.
        primes: at which f splits into different linear factors.
        precision: N, how many digits a window holds.
        fractional_digits: F, how many of them stand below p^0.
    """

    polynomial: tuple[int, ...]
    root: complex
    primes: tuple[int, ...]
    precision: int
    fractional_digits: int

    @property
    def _field(self) -> tuple[Any, ...]:
        """Return what two spaces whose arrays mix have in common."""
        return self.polynomial, self.root, self.primes

    @abstractmethod
    def _with_window(self, window: Window) -> "EmbeddedField":
        """Return the space with another window at the same primes."""

    @abstractmethod
    def _exact(self, values: Any, *, relative: bool) -> Any:
        """Return the coordinates of numbers as `windows.exact` does."""

    @abstractmethod
    def encode(self, values: Any, *, floats: str = "error") -> AdeleArray:
        """Return numbers of the field as an array."""

    @property
    def n_primes(self) -> int:
        """Return the number of primes."""
        return len(self.primes)

    @property
    def window(self) -> Window:
        """Return the parameters as the kernels take them."""
        return Window(self.primes, (self.precision,) * self.n_primes, self.fractional_digits)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Return θ modulo p^precision for each prime, the lift of the smallest root modulo p."""
        f = self.polynomial
        return tuple(
            polynomials.hensel_root(f, min(polynomials.roots_modulo(f, p)), p, self.precision) for p in self.primes
        )

    @property
    def degree(self) -> int:
        """Return the degree of the field."""
        return len(self.polynomial) - 1

    @property
    def n_rows(self) -> int:
        """Return how many rows of the layout the infinite place takes: 1 if it is real, 2 if it is complex."""
        return 1 if self.root.imag == 0 else 2

    def residue(self, element: Element, j: int, window: Window | None = None) -> int:
        """Return p^F · α mod p^N for a number α of the field at the j-th prime, in the space's window or another.

        A denominator that p divides need not lead below the window: with √2 ≡ 3 modulo 7, (√2 − 3)/7 is a 7-adic
        integer. More digits of θ tell. A BelowWindowError says that α has digits below the window.
        """
        numerators, denominator = element
        p, f = self.primes[j], (window or self.window).fractional_digits
        n = (window or self.window).precisions[j]
        e = valuation(denominator, p)
        theta = self.roots[j]
        if n + e > self.precision:
            theta = polynomials.hensel_root(self.polynomial, theta % p, p, n + e)
        value = polynomials.evaluate(numerators, theta, p ** (n + e)) * p**f
        if value % p**e:
            raise BelowWindowError(e - valuation(value, p) + f)
        return int(value // p**e * pow(denominator // p**e, -1, p**n) % p**n)

    def conjugates(self, element: Element) -> list[Any]:
        """Return the images of a number under all embeddings into the complex numbers, as balls of python-flint.

        The image at the infinite place comes first; its radius is below 2^(−64) of its size.
        """
        numerators, denominator = element
        flint = polynomials.load_flint()
        # Enough at once, unless the terms of the image nearly cancel.
        bits = 2 * BITS + max(abs(n) for n in numerators).bit_length()
        while True:
            roots = polynomials.complex_roots(self.polynomial, bits)
            with polynomials.working_precision(bits):
                ordered = sorted(roots, key=lambda z: abs(to_complex(z) - self.root))
                images = [flint.fmpz_poly(list(numerators))(z) / denominator for z in ordered]
                # The images of a number other than 0 are not 0, so that some precision suffices.
                if not any(numerators) or images[0].rad() * 2**BITS <= images[0].abs_lower():
                    return images
            bits *= 2


def to_complex(z: polynomials.Ball) -> complex:
    """Return the nearest complex128 of a ball's centre."""
    return complex(float(z.real.mid()), float(z.imag.mid()))


def coefficients(element: Element) -> tuple[Fraction, ...]:
    """Return a number's coefficients of 1, θ, θ^2, …."""
    numerators, denominator = element
    return tuple(Fraction(n, denominator) for n in numerators)
