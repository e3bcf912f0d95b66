"""Models outside the Transformer: scikit-learn's and look-up, and their search.

`models` has an entry for each, `fitting` fits them behind the same `fit` and `evaluate` as networks. May import `data`,
the descriptions of `training`, and its order of rows and ticks of progress. One more model is an entry of
`CLASSICAL_MODELS`, a function that fits it and the values that a search may draw, and of `CLASSICAL_TITLES`.
"""
