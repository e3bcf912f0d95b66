"""Layer 1, exact mathematics: primes, rationals, p-adic digits, adeles, decoding. Needs NumPy and numba, nothing else.

- `space`, `array`: `AdeleSpace` and `AdeleArray`, what users touch
- `rationals`: reads integers, fractions, text, floats under a policy, arrays
- `hensel`, `kernels`, `finite`: p-adic digits and arithmetic: the readable reference, its compiled form, the choice
- `algebraic`: number fields, made by `AdeleSpace.over` (needs python-flint); `algebraic_place` their real or complex
  place, `algebraic_decoding` the way back, `polynomials` what defines them
- `balls`: the real place, with rigorous error radii; `wide`: floats without overflow, for it; `real`: what is known of
  the numbers of a caller; `decoding`: from coordinates to the number
- `features`: the vectors that models are given
- `redundancy`: back to the number although some digits are wrong; `channels` says how likely that is
"""

from adelic.numbers.array import AdeleArray
from adelic.numbers.redundancy import DecodedNumbers, RedundantResidueCode
from adelic.numbers.space import AdeleSpace

__all__ = ["AdeleArray", "AdeleSpace", "DecodedNumbers", "RedundantResidueCode"]
