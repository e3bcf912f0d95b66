"""Number fields: `AlgebraicSpace` (`space`) and its arrays (`array`); needs python-flint, imported when used.

- `polynomials`: what defines a field, and its roots; `field`: the field with its embeddings
- `place`: the real or complex place of an array; `decoding`: from coordinates back to the number

May import `array`, `places` and what these import, but not `adelic.numbers.space`, whose `AdeleSpace.over` calls it.
"""
