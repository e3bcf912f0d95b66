"""Number fields: `AlgebraicSpace` and its arrays (`space`); needs python-flint, imported when used.

- `polynomials`: the definition of a field, and its roots; `place`: real and complex balls, and bounds of heights
- `decoding`: from coordinates back to the number

May import `array` and its imports, but not `adelic.numbers.space`, whose `AdeleSpace.over` calls it.
"""
