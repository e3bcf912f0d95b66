"""Kazhdan-Lusztig polynomials P_(x,w)(q) of pairs of permutations.

Let H be the Hecke algebra of S_n over Z[q^(1/2), q^(-1/2)], with basis T_w, T_s T_w = T_(sw) where sw is longer than
w, and (T_s + 1)(T_s - q) = 0. The bar involution sends q to 1/q and T_w to the inverse of T_(w^-1). For each w there is
one element C'_w = q^(-ℓ(w)/2) Σ P_(x,w)(q) T_x over x <= w in the Bruhat order that the involution fixes, with P_(w,w)
= 1 and P_(x,w) of degree at most (ℓ(w) - ℓ(x) - 1)/2 for x < w. These are the Kazhdan-Lusztig polynomials; their
coefficients are not negative. Where x is not below w we write 0. Sources: Kazhdan and Lusztig, "Representations of
Coxeter groups and Hecke algebras" (1979); Humphreys, "Reflection Groups and Coxeter Groups" (1990), chapter 7.

The recursion of the 1979 paper, for a descent s of w (w_s > w_(s+1)), v = ws, and the longer x of x and xs:

    P_(xs,w) = P_(x,w) = P_(xs,v) + q P_(x,v) - Σ μ(z,v) q^((ℓ(w)-ℓ(z))/2) P_(x,z)   over x <= z < v with zs < z,

where μ(z,v) is the coefficient of q^((ℓ(v)-ℓ(z)-1)/2) in P_(z,v), 0 where that is not a whole power.

The data set: all ordered pairs of permutations of 0..n-1, x and then w in one-line notation, so 2n tokens, in
lexicographic order: (n!)² rows. The targets of a row are the coefficients of q^0, ..., q^(n-2), all 0 unless x <= w.
For n = 5 and 6 the last one is 0 throughout; n = 7 has ten polynomials of degree 5.

Symmetries: P_(x,w) = P_(x^-1,w^-1) = P_(w0 x w0, w0 w w0), w0 the longest permutation n-1, ..., 0.
"""

from adelic.acd.kl.task import TASK, bruhat_leq, kazhdan_lusztig, kl_polynomials

__all__ = ["TASK", "bruhat_leq", "kazhdan_lusztig", "kl_polynomials"]
