"""Searches of recipes and options: what may vary, the trials, and the studies that keep them.

`tuning` runs the trials of a search, `studies` keeps and draws them with Optuna. What may vary is said
by the fields of `TrainConfig` and `EmbeddingConfig`; `dimensions` lists it.
"""
