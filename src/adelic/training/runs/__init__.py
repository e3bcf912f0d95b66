"""Runs: an experiment in its folder, from its data to its result; and the list of all that a folder holds."""

import importlib

from adelic.errors import needs_extra

with needs_extra("adelic.training", "torch"):
    importlib.import_module("torch")
