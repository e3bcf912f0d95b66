"""Solvers of the other representations of numbers, all with one Transformer, or with a network a place as AOE's.

`transformer` has the Transformer, FoNE and xVal; `digits` tokens of digits, which are said all at once or one after the
other; `places` one network per place, whose places are decimal digits or composite numbers. What their authors have
otherwise is an option, such as published=true. How to add one, `adelic_lab.models.solvers` says.
"""
