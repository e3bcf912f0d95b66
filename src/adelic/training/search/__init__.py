"""Searches of recipes and options: what may vary, the trials, and the studies that keep them.

`tuning` runs the trials of a search, `studies` keeps them with Optuna, `study_plots` draws them. May import the rest of
`training`. What may vary is said by the fields of `Recipe` and `EmbeddingConfig`, not here.
"""

import importlib

from adelic.errors import needs_extra

with needs_extra("adelic.training", "torch"):
    importlib.import_module("torch")
