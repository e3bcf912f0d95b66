"""Models outside the Transformer: scikit-learn's and look-up, one entry of `models` each, and their search."""

import importlib

from adelic.errors import needs_extra

with needs_extra("adelic.training", "torch"):
    importlib.import_module("torch")
