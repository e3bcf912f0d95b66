"""Lattice paths: pairs of which the second covers the first in the matching order or in the Lagrange order.

A lattice path is a word of n ones (a step east) and n-1 zeros (a step north) in which every prefix but the empty one
has more ones than zeros; there are Catalan(n-1) of them. A pair of equal neighbours contributes 1, 1 to its continued
fraction, a pair of different ones 2. Schiffler ("Perfect matching problems in cluster algebras and number theory",
arXiv:2302.02185) orders the paths by two numbers:

- the matching number, the numerator of the continued fraction: it counts the perfect matchings of a snake graph;
- the Lagrange number of the purely periodic continued fraction [2, c_1, ..., c_k], the greatest √D/q over its
  rotations; here p/q and r/s are the last and the last but one convergent of a rotation, and D = (p - s)² + 4qr.

Paths of equal number form a class; a path covers those of the class just below its own. A row is a lower path and a
path that covers it, tokens 0 and 1, length 2(2n-1). Label 0 ("matching") is a cover of the matching order, label 1
("lagrange") one of the Lagrange order; so the published README, while the published loader has them the other way
round. Lower paths that some path covers in both orders are left out, and so is 1^n 0^(n-1), the top of the matching
order. Rows stand by label, lower path and upper path. The least n with a row is 4.

The split is the published one: ⌈0.8 N⌉ of the N paths, drawn with NumPy's seed 32, and pairs follow their lower path.
The paths chosen for validation are drawn from the others, again with all their pairs.

Editions:

- `published`: the released generator sorts the classes of equal Lagrange number by their least path, not by Lagrange
  number (the sort key takes the path where it wants the number). Its "Lagrange covers" are neighbours in a
  lexicographic order, few of them covers of the Lagrange order, and they share longer prefixes than the matching covers
  do: for n = 10, ..., 13 8.0 to 10.1 steps on the average, against 4.6 to 4.7. This rule gives the published counts.
- `corrected`: the classes are sorted by Lagrange number.

No symmetry of the rows keeps all labels. One keeps those of the corrected Lagrange covers: the 2 closes the word w to
a cycle (its last letter is 0, its first 1), so that the Lagrange number belongs to the cyclic word, and it is the same
for the reversed cycle. By the cycle lemma one rotation of a cyclic word is a lattice path. So each path has a partner
of equal Lagrange number. (For n <= 14 no further path has the same; for n = 15 there is one class of four.) But the
partner has another matching number in general, so that its matching covers are other paths.
"""

from adelic.acd.lattice.task import (
    LABELS,
    TASK,
    common_prefix,
    continued_fraction,
    covers,
    is_lattice_path,
    lagrange_number,
    matching_number,
)

__all__ = [
    "LABELS",
    "TASK",
    "common_prefix",
    "continued_fraction",
    "covers",
    "is_lattice_path",
    "lagrange_number",
    "matching_number",
]
