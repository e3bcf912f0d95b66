"""Robinson-Schensted-Knuth: the permutation that two standard Young tableaux of the same shape belong to.

Schensted's row insertion takes the entries of a permutation w of 1..n one by one: an entry goes into the first row, to
the place of the least greater one, which goes into the second row likewise, and so on; where there is no greater one
it is appended. P holds the result, and Q the step at which each place was filled. w -> (P, Q) is a bijection onto the
pairs of standard Young tableaux of the same shape. Sources: Schensted, "Longest increasing and decreasing
subsequences" (1961); Stanley, "Enumerative Combinatorics 2", section 7.11.

The input is (P, Q), the output is w as its inversion vector: for the pairs i < j in lexicographic order 1 where w(i) >
w(j), else 0. All n! permutations in lexicographic order are the rows. The task is a regression with n(n-1)/2 targets
of 0 and 1.

Tokens: what Sage prints for the pair, [P, Q] with a list for each tableau and in it one for each row, read from left to
right: 0 is "[", 1..n are the entries, n+1 is "]", and n+2 pads at the end. The pair [[1, 3], [2]], [[1, 2], [3]] is

    [ [ [ 1 3 ] [ 2 ] ] [ [ 1 2 ] [ 3 ] ] ]        0 0 0 1 3 4 0 2 4 4 0 0 1 2 4 0 3 4 4 4 5 5 5 5

With r rows there are 2n + 4r + 6 tokens before the padding, so the length is 6n + 6: 54, 60 and 66 for n = 8, 9, 10.
This is what the published loader does, brackets, padding and order of the pairs i < j included. The split is the
published one too: of the permutations in lexicographic order the first ⌈0.8 n!⌉ that NumPy's seed 32 draws are for
training. Settled here: a tenth of these, drawn at random, are for validation.

Two symmetries of permutations generate the dihedral group of eight, and act on tableaux and targets. Neither leaves the
targets as they are; both compute them anew:

- `inverse`: the inverse permutation exchanges P and Q (Schützenberger). About four of five test rows so have a partner
  outside test, the same two tableaux in the other order.
- `reversal`: w(n), ..., w(1) transposes P (Schensted), and Q becomes the transpose of its evacuation.

One part of the answer can be read off without any insertion: w(i) > w(i+1) exactly if i + 1 stands in a lower row of Q
than i does (i is a descent of Q). That is n - 1 of the targets.
"""

from adelic.acd.rsk.task import TASK, bracketed, inverse_rsk, inversion_vector, permutations_of, rsk, tableaux, tokens

__all__ = ["TASK", "bracketed", "inverse_rsk", "inversion_vector", "permutations_of", "rsk", "tableaux", "tokens"]
