"""Layer 1, exact mathematics: primes, rationals, p-adic digits, adeles, algebraic numbers, decoding.

It may import NumPy, and numba, python-flint, cypari and gmpy2 when they are used, and of this package `adelic.errors`
alone. numba is imported when many numbers are first computed with; if it is not installed, the reference computes these
too. The public names are in `__all__`. Inside:

- `space`, `array`: `AdeleSpace` and `AdeleArray`; `window` the parameters of both, `coordinates` a caller's values
- `rationals`: reads integers, fractions, text, floats under a policy, arrays; `integers`: long integers
- `hensel`: p-adic digits and arithmetic of one number, the readable reference that tests hold everything to
- `finite`, `real`: the p-adic and the real coordinates of many numbers; `kernels`: compiled arithmetic, for them
- `number_array`: the common base of arrays of adeles and of p-adic numbers
- `local`: numbers at one prime and their functions: roots, exponentials, logarithms, Teichmüller lifts, periods
- `decoding`: from coordinates to the number, also if some digits are wrong
- `algebraic`: number fields: `AlgebraicSpace` (needs python-flint)
- `choice`: which primes and how many digits
- `features`: the vectors that models are given: digits, AOE's characters (cos and sin of 2πx/p^k), one-hot digits, …
- `columns`: columns of tables, read and looked at
- `primes`: primes and valuations; `describe`: numbers and p-adic expansions as text
- `threshold`: from how many numbers on the compiled kernels are worth loading

One more operation on arrays starts in `hensel`, for one number; `finite` chooses between that and a kernel.
"""

from adelic.numbers.algebraic.space import AlgebraicArray, AlgebraicSpace
from adelic.numbers.array import AdeleArray
from adelic.numbers.choice import SpaceChoice, choose_space
from adelic.numbers.decoding.redundancy import DecodedNumbers, RedundantResidueCode
from adelic.numbers.hensel import hensel_digits
from adelic.numbers.local.array import PadicArray, padic
from adelic.numbers.local.continuous import mahler_coefficients, mahler_sum, random_padic
from adelic.numbers.local.extensions import ExtensionArray, ExtensionField, extension
from adelic.numbers.local.matrices import solve_rational
from adelic.numbers.local.polynomials import evaluate, factor, newton_polygon, resultant, slope_factors
from adelic.numbers.local.rational import Period, norm, period, valuation
from adelic.numbers.local.recognition import minimal_polynomial
from adelic.numbers.local.roots import hensel_roots
from adelic.numbers.primes import is_prime
from adelic.numbers.space import AdeleSpace

__all__ = [
    "AdeleArray",
    "AdeleSpace",
    "AlgebraicArray",
    "AlgebraicSpace",
    "DecodedNumbers",
    "ExtensionArray",
    "ExtensionField",
    "PadicArray",
    "Period",
    "RedundantResidueCode",
    "SpaceChoice",
    "choose_space",
    "evaluate",
    "extension",
    "factor",
    "hensel_digits",
    "hensel_roots",
    "is_prime",
    "mahler_coefficients",
    "mahler_sum",
    "minimal_polynomial",
    "newton_polygon",
    "norm",
    "padic",
    "period",
    "random_padic",
    "resultant",
    "slope_factors",
    "solve_rational",
    "valuation",
]
