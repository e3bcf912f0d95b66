"""Where `adelic.training` was until version 0.1: it is the package `adelic_lab` now."""

raise ImportError("adelic.training is the package adelic_lab since version 0.2: from adelic_lab import Experiment, run")
