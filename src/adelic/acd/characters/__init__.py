"""Characters of the symmetric groups: the values χ^λ_μ of the irreducible characters on the conjugacy classes.

Partitions λ of n name the irreducible characters of S_n, partitions μ of n the classes, by cycle type. All values are
whole numbers. The Murnaghan-Nakayama rule computes them: for any part k of μ, with μ' the other parts,

    χ^λ_μ = Σ (-1)^height · χ^λ'_μ'   over the λ' that are λ without a rim hook of k cells,

where a rim hook is a connected piece of the border of the Young diagram that has no 2 × 2 square, and its height is
the number of its rows less 1. Sources: Sagan, "The Symmetric Group" (2001), section 4.10; James and Kerber, "The
Representation Theory of the Symmetric Group" (1981), section 2.7, for rim hooks by beta-numbers.

The data set: all pairs of partitions of n, λ and then μ, each padded with zeros to n entries, so 2n tokens 0..n. The
rows are ordered by λ and then by μ, both in reverse lexicographic order: (n), (n-1, 1), ..., (1, ..., 1). The target is
χ^λ_μ as int64, a regression.

Editions:

- `published`: all pairs: 148,225, 393,129 and 1,004,004 for n = 18, 20, 22. The README has this size for n = 18.
- `central`: those with |χ^λ_μ| <= c, c the least number for which they are at least 95 % of all. The older published
  loader drops all others, with c = 294, 573, 1144 written out, and the sizes in the README for n = 20 and 22 are those
  of what remains (373,480 and 953,835), beside the extremes of all pairs.

Symmetry: χ^λ'_μ = sgn(μ) χ^λ_μ for the conjugate λ' of λ, so rows with an odd μ change the sign of their target. Self-
conjugate λ are mapped to themselves, and vanish on odd μ.
"""

from adelic.acd.characters.shapes import Partition, conjugate, partitions, read_partition, without_rim_hooks
from adelic.acd.characters.task import TASK, character, character_table

__all__ = [
    "TASK",
    "Partition",
    "character",
    "character_table",
    "conjugate",
    "partitions",
    "read_partition",
    "without_rim_hooks",
]
