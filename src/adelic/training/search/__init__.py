"""Searches of recipes and options: what may vary, the trials, and the studies that keep them."""

import importlib

from adelic.errors import needs_extra

with needs_extra("adelic.training", "torch"):
    importlib.import_module("torch")
