"""Solvers of the other representations of numbers, all with one Transformer, or with a network a place as AOE's.

`transformer` has the Transformer, FoNE and xVal; `digits` tokens of digits, which are said all at once or one after the
other; `places` the networks a place whose places are decimal digits. What their authors have otherwise is an option,
such as published=true. To add one, write a subclass of `Solver` in a module here, and name it in
`adelic_lab.config.solver_names`. What a solver may import, `adelic_lab.models.solvers` says.
"""
