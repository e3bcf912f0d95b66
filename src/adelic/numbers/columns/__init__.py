"""Columns of tables: read as exact numbers, and looked at to choose how a network or a model is to read them.

- `reading`: pandas and polars series, arrays and lists, with missing entries and dates
- `lossy`: the check for numbers that were lost before they are read
- `choice`: `choose_for_column`, from a column to a space and the other choices of `AdelicEmbedding.for_column`

Of adelic, `numbers` alone may be imported.
"""
