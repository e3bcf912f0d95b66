"""Quiver mutation classes: which of seven an exchange matrix belongs to.

An exchange matrix is an n × n integer matrix B that is skew-symmetrizable: there are d_i > 0 with d_i b_ij = -d_j b_ji.
Where all d_i are equal it is a quiver without loops and 2-cycles, with b_ij arrows from i to j where b_ij > 0. Mutation
at vertex k gives

    b'_ij = -b_ij if i = k or j = k, else b_ij + sgn(b_ik) max(b_ik b_kj, 0).

It is an involution, it keeps the d_i, and all that can be reached by mutations is a mutation class (Fomin and
Zelevinsky, "Cluster algebras I", arXiv:math/0104151). Matrices are taken up to simultaneous relabelling of rows and
columns, that is, by their canonical forms. Vertices are counted from 0.

The seeds are trees, every vertex a source or a sink; vertex 0 is a sink in BE and a source in the others. With p–q for
an edge:

    A   0–1–...–(n-1)                         BB  0–1–...–(n-2), 0–(n-1); rows n-2 and n-1 hold ±2 instead of ±1
    D   0–1–...–(n-2), (n-3)–(n-1)            BD  0–1–...–(n-2), 1–(n-1); row n-2 holds ±2 instead of ±1
    E   0–1–...–(n-2), 2–(n-1)                BE  0–1–...–(n-2), 2–(n-1); row n-3 holds 2 for 1 or -2 for -1 at n-2
    DE  0–1–...–(n-3), 2–(n-2), (n-4)–(n-1)

These are the matrices of Sage's ClusterQuiver, with one exception: Sage's seed of BE is ours for n = 11 only. There
(and for n = 21) an accident of its order of vertices makes vertex 0 a sink and so puts the ±2 into row n-3. For other n
(tried up to 20) it has vertex 0 for a source and the ±2 in row n-2, another class; its CE is then the one with ours.

From n = 6 on, where all seven exist, they are different valued trees and thus in different mutation classes (for
quivers: Caldero and Keller, "From triangulated categories to cluster algebras II", arXiv:math/0510251; BB, BD and BE
have other d_i). A_n and D_n are of finite type, and their classes have

    A_n  C_(n+1) / (n+3) + [n odd] C_((n+1)/2) / 2 + [3 | n] 2 C_(n/3) / 3       (C_i the Catalan numbers)
    D_n  Σ over d | n of φ(n/d) binomial(2d, d), divided by 2n                     (n >= 5)

members (Torkildsen, arXiv:0801.3762; Buan and Torkildsen, arXiv:0812.2240). For n = 11 BB and BD are of affine type,
with greater finite classes, and BE, DE and E have infinite ones; a depth cuts all five off.

The data set: all of A and D, and what is reached from the other seeds in at most 10 (BB), 9 (BD, DE, E) or 8 (BE)
mutations, the depths that give the published counts for n = 11. They are used for every n. A row is a matrix, row by
row: n² tokens -2..2 (-5..5 for n = 6). The published loader drops the last of its 121 tokens; ours has all of them.

Options: `labelling="canonical"`, the default, gives the canonical forms, with vertices in ascending order of their
number of neighbours. The published rows stand in Sage's canonical labelling, which is another one. "random" relabels
every row independently, so that nothing can be learnt from where a vertex stands.

What gives labels away: from n = 9 on entries ±2 occur in BB, BD and BE only, and the d_i, which can be read off, tell
these three apart without error; A, D, E and DE remain. All that comes from a class cut off is a ball around one seed,
so what changes with depth (the number of arrows, the number of oriented 3-cycles) is a trait of the cut as well. And
most rows have their opposite -B, of the same class, among the rows: a random split leaks.

Editions: `published`, and `corrected`, the same rows with B and -B always in the same split.
"""

from adelic.acd.quiver.exchange_matrices import canonical_form, is_skew_symmetrizable, mutate, relabel, skew_symmetrizer
from adelic.acd.quiver.task import DEPTHS, LEAST_RANKS, TASK, TYPES, MutationClass, initial_seed, mutation_class

__all__ = [
    "DEPTHS",
    "LEAST_RANKS",
    "TASK",
    "TYPES",
    "MutationClass",
    "canonical_form",
    "initial_seed",
    "is_skew_symmetrizable",
    "mutate",
    "mutation_class",
    "relabel",
    "skew_symmetrizer",
]
