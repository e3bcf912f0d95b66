"""Schubert structure constants: the coefficients c(u, v, w) of S_w in products of Schubert polynomials S_u S_v.

The Schubert polynomials S_w, one for each permutation w of finitely many positive integers, are a basis of Z[x_1,
x_2, ...]: S_id = 1, S_w is homogeneous of degree ℓ(w), and the constants are not negative, for they count points of
intersections of Schubert varieties. No rule that counts something simpler is known. For u in S_a and v in S_b every w
with c(u, v, w) > 0 lies in S_(a+b-1): S_w contains the monomial x^code(w), and no exponent of x_i in S_u exceeds a -
i.

The method is the transition recursion (Lascoux and Schützenberger). Let r be the last descent of v, s the last position
with v_s < v_r, and v' = v t_rs. Then

    S_v = x_r S_v' + Σ S_(v' t_qr)   over q < r with ℓ(v' t_qr) = ℓ(v') + 1,

so that S_u S_v follows from products with "earlier" permutations, and Monk's rule multiplies by a variable:

    x_r S_w = Σ S_(w t_rj) over j > r - Σ S_(w t_ir) over i < r,   each where the length rises by exactly one.

Sources: Macdonald, "Notes on Schubert polynomials" (1991); Monk, "The geometry of flag manifolds" (1959); Billey,
Jockusch, Stanley, "Some combinatorial properties of Schubert polynomials" (1993).

The data set: u and v in S_n, w in S_(2n-1) padded with fixed points, in 1-based one-line notation one after the
other, so 4n - 1 tokens 1..2n-1. All nonzero constants, and for each of them but that of id · id = id one zero: (u, v,
w') where w' is w times k different random transpositions of positions, k ~ min(Geometric(0.2), C(2n-1, 2)), drawn
until the constant is zero and the triple is new. The label is the constant.

Editions:

- `published`: as above. Most zeros are told by ℓ(w) != ℓ(u) + ℓ(v), and a split at random has (v, u, w) in train for
  many a (u, v, w) in test.
- `corrected`: all nonzero constants, and as many zeros, pair by pair, that meet the conditions which every nonzero
  constant meets and which can be read off: lengths, descents, and, as far as there are such, the Bruhat order and
  inequalities between codes. (u, v, w) and (v, u, w) are both rows and share their split, as do all rows of a pair {u,
  v}. `adelic.acd.schubert.zeros` has the exact definition.

Symmetries: c(u, v, w) = c(v, u, w), and the constants are the same for translated and for reversed permutations, see
`reversed_points`. To take inverses is not a symmetry: c(213, 213, 312) = 1, for S_213² = x_1² = S_312, but
c(213, 213, 231) = 0.
"""

from adelic.acd.schubert.constants import schubert_product, schubert_structure_constant
from adelic.acd.schubert.task import TASK, exchanged_factors, reversed_points

__all__ = ["TASK", "exchanged_factors", "reversed_points", "schubert_product", "schubert_structure_constant"]
