"""Cluster variables of the Grassmannian Gr(3, n), rank 4, among the semistandard tableaux of shape 3 × 4.

The homogeneous coordinate ring of Gr(3, n) is a cluster algebra (Scott, "Grassmannians and cluster algebras", 2006).
Chang, Duan, Fraser and Li ("Quantum affine algebras and Grassmannians", arXiv:1907.13575) index its cluster variables
by semistandard tableaux of three rows with letters 1..n; the number of columns is the rank, the degree in Plücker
coordinates. Which tableaux belong to cluster variables is an open question; for SL_3 invariants Fomin and Pylyavskyy
("Tensor diagrams and cluster algebras", arXiv:1210.1888) have a conjecture. The n frozen variables, the cyclic
intervals {i, i+1, i+2}, do not count as cluster variables here.

How the cluster variables are found. Walks from seed to seed, through ranks up to 4, on Gr(3, m) for m up to 12 (see
`adelic.acd.grassmannian.walks`), collect the tableaux that use all letters 1..m; these are closed under promotion and
evacuation, the dihedral symmetry of the algebra. Any order-preserving choice of m letters among 1..n then gives a
cluster variable of Gr(3, n). A tableau of rank 4 has at most 12 letters, so m = 12 is enough for every n. There are
288, 400, 264, 52 such tableaux of rank 4 with exactly 9, 10, 11, 12 letters, and so 92,980 for n = 12.

What this proves and what not. Each tableau found is a cluster variable. That there are no others of rank 4 is
*empirical saturation*, not a theorem: walks end only after sixteen times as many mutations as it took to find the last
new variable (and a million at least for m = 12), and other seeds, greater caps on the rank and walks on all of
Gr(3, 12) find the same ones. For ranks 1 to 3 the method gives 208, 1,848 and 13,860 cluster variables for n = 12, and
in the cases of finite type, Gr(3, 6), Gr(3, 7) and Gr(3, 8), all 16, 42 and 128. The published data set has 92,911 of
rank 4, from a stochastic search (Cheung et al., "Clustering cluster algebras with clusters", arXiv:2212.09771).

Encoding: the tableau row by row, tokens 1..n, length 12; label 1 is a cluster variable. Positives first, in
lexicographic order; then as many negatives.

Editions:

- `published`: the negatives are drawn uniformly from all tableaux (13,026,013 for n = 12) that are not cluster
  variables, and are different from each other. So the letters alone tell much: a positive has 9 to 12 different ones.
- `corrected`: negative i has the letters of positive i, each as often, and is drawn uniformly among the non-variables
  that have, without repetition. No content runs short: the nearest to it, with twelve different letters, has 52
  cluster variables among 462 tableaux. And tableaux that promotion, evacuation and relabelling turn into each other
  stay in one split. The positives are only 59 such families, and a random split shows all of them in train. Of either
  class about a fifth is for testing.

Symmetries. Promotion and evacuation permute the cluster variables, and as they permute all tableaux, the others too.
The task's symmetries apply them among the letters that occur in a row, so that a row keeps its set of letters and n
need not be known. For the symmetries of Gr(3, n) itself use `promotion` and `evacuation`.
"""

from adelic.acd.grassmannian.tableaux import count_semistandard, evacuation, promotion, standardise
from adelic.acd.grassmannian.task import TASK, cluster_variables, families, is_cluster_variable

__all__ = [
    "TASK",
    "cluster_variables",
    "count_semistandard",
    "evacuation",
    "families",
    "is_cluster_variable",
    "promotion",
    "standardise",
]
