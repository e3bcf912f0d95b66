"""Greatest common divisors of floats against NumPy's of integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adelic.numbers.kernels import divisors


@given(st.lists(st.tuples(st.integers(1, 2**53 - 1), st.integers(1, 2**53 - 1)), min_size=1, max_size=300))
def test_gcd_of_floats_is_exact(pairs):
    a, b = np.array(pairs, dtype=np.int64).T
    out = np.empty(len(a))
    divisors.gcd(a.astype(np.float64), b.astype(np.float64), out)
    np.testing.assert_array_equal(out, np.gcd(a, b))


def test_gcd_of_the_hardest_floats():
    """Fibonacci numbers take the most steps; quotients next to an integer are the hardest to round."""
    fibonacci = [1, 1]
    while fibonacci[-1] + fibonacci[-2] < 2**53:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    pairs = [*zip(fibonacci[1:], fibonacci, strict=False)]
    pairs += [(k * b - 1, b) for b in (3, 2**26 - 1, 94906267) for k in (2, 2**26, (2**53 - 1) // b)]
    a, b = np.array(pairs, dtype=np.int64).T
    out = np.empty(len(a))
    divisors.gcd(a.astype(np.float64), b.astype(np.float64), out)
    np.testing.assert_array_equal(out, np.gcd(a, b))
