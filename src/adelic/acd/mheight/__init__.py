"""mHeight: permutations that avoid 4231 and contain 3412, by how tall their shortest 3412 pattern is.

An occurrence of 3412 in a permutation a is i < j < k < l with a_k < a_l < a_i < a_j. Its height is a_i - a_l, at
least 1. The mHeight label is the least height less 1. Gaetz and Gao ("On the minimal power of q in a Kazhdan-Lusztig
polynomial", arXiv:2303.13695) use it to prove a conjecture of Billey and Postnikov: for the permutations that avoid
4231 and contain 3412 it gives the least positive power of q in the Kazhdan-Lusztig polynomial P_(1,w).

Rows are in 0-based one-line notation, all permutations of this kind, in lexicographic order. There are A061552(n) -
A032351(n) of them (OEIS: those that avoid 4231, less those that avoid 3412 too). The least n with a row is 4: 3412.
The data set's README forgets the avoidance of 4231 and the "less 1"; its generator and its counts have both.

Symmetries: the inverse and the reverse-complement i -> n - 1 - w(n - 1 - i) of a row are rows with the same label, see
`inverted` and `reverse_complemented`. Any split of the rows at random has such twins on both sides.

Nine rows of ten have label 0 (91.8, 92.9, 94.2 % for n = 8, 9, 10), and no feature that is read off at a glance does
more than half a percent better than this majority.
"""

from adelic.acd.mheight.task import TASK, inverted, mheight, reverse_complemented

__all__ = ["TASK", "inverted", "mheight", "reverse_complemented"]
