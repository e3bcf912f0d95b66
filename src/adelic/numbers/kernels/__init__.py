"""Compiled arithmetic of digits (numba), imported when first used: the functions that call it choose what suits.

- `digitwise`: one digit after the other, for any prime below 2^31; `divisors`: greatest common divisors
- `limbs`: four digits at a time in vector registers (`vectors`), for primes up to 43, and their
  `products`; `sums`, sixteen digits at a time
- `compiling`: numba's `njit`, for these and all other compiled functions of the package

May import NumPy and numba alone, and says which extra brings numba. A new kernel gives the digits of
`adelic.numbers.hensel`, and a test says so.
"""

from adelic.errors import needs_extra

with needs_extra("adelic.numbers.kernels", "fast"):
    import numba  # noqa: F401  (what every module here is written with)
