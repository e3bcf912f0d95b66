"""Solvers of the other representations of numbers, all with one Transformer, or with a network a place as AOE's.

`transformer` has the Transformer, and its solvers that say all digits of an answer at once; `autoregressive` those that
say one digit after the other; `places` the networks a place whose places are decimal digits; `published` solvers nearer
to their authors' code. To add one, write a subclass of `Solver` in a module here, and name it in
`adelic_lab.config.solver_names`. What a solver may import, `adelic_lab.models.solvers` says.
"""
