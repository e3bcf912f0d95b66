"""Networks: built from an experiment, trained by the one loop, saved and resumed, on one device or on several."""

import importlib

from adelic.errors import needs_extra

with needs_extra("adelic.training", "torch"):
    importlib.import_module("torch")
