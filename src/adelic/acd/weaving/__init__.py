"""Weaving patterns: the local sequences of simple arrangements of n pseudolines.

n pseudolines, numbered 1..n from the top at the left end, cross pairwise exactly once, no three in a point. Row of
pseudoline i: the others in the order in which i crosses them, from left to right. Such n × (n-1) matrices are the
weaving patterns; they correspond to the commutation classes of reduced words of the longest permutation of S_n and to
the elements of the second higher Bruhat order B(n, 2), and there are A006245(n) of them: 2, 8, 62, 908, 24698 for n =
3..7. Sources: Felsner, "On the number of arrangements of pseudolines" (1996); Manin and Schechtman, "Arrangements of
hyperplanes, higher braid groups and higher Bruhat orders" (1989); OEIS A006245.

Encoding: the rows are those of pseudolines n, n-1, ..., 1, tokens 1..n, row-major, length n(n-1). So the row number r
(from 1) lacks n + 1 - r. Label 1 is a weaving pattern, as in the published data (whose README says 0).

Editions:

- `published`: every pattern and as many non-patterns, made as the published README says: the numbers within each row
  of a true pattern are shuffled, and the result is checked not to be a pattern. Ours are also different from each
  other, so that no row stands in two splits. 1,816 rows for n = 6 and 49,396 for n = 7.
- `leaky`: the same, but the rows of the non-patterns stand in the order 1, ..., n (row r lacks r), so that the first
  row alone gives the label away. Older published negatives that can still be seen have this order.
- `levels`: the 0/1 matrices. Write 1 where pseudoline i crosses a smaller one, 0 where it crosses a greater one: row
  i has i - 1 ones among n - 1 entries, it tells on which level i runs, and the matrix determines the pattern
  (Felsner). Rows 1 and n are constant, and the last entry of a row follows from the others, so what remains is (n-2)
  × (n-2): rows n-1, ..., 2, tokens 0 and 1. The data set is all ∏_{i=2}^{n-1} C(n-1, i-1) matrices with legal row
  sums: 2,500 with 908 patterns for n = 6, 162,000 with 24,698 for n = 7. These are the totals in the data set's
  README, which prints 909 patterns, and a split of 70/30; here all editions are split 80/20.

n = 8 can be built too: 2,465,888 rows, and 26,471,025 of `levels`.

Symmetries: `rotated` and `reflected` generate a dihedral group of order 4n that takes patterns to patterns and the
others to others. Of a level matrix only the reflection and the half turn, n rotations, can be told: one rotation takes
pseudoline 1 from above all others to below them, and where it crosses them is not in the matrix.
"""

from adelic.acd.weaving.task import TASK, is_weaving_pattern, levels_half_turned, levels_reflected, reflected, rotated

__all__ = ["TASK", "is_weaving_pattern", "levels_half_turned", "levels_reflected", "reflected", "rotated"]
