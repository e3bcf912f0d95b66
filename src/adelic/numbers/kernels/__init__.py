"""Compiled arithmetic of digits (numba), imported when first used: the functions that call it choose what suits.

- `digitwise`: one digit after the other, for any prime below 2^31; `divisors`: greatest common divisors
- `limbs`: four digits at a time in vector registers (`vectors`), for primes up to 43, and their
  `products`; `words`: sums, eight at a time

May import NumPy and numba alone. A new kernel gives the digits of `adelic.numbers.hensel`, and a test says so.
"""
