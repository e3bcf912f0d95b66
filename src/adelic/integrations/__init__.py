"""Thin adapters to other libraries; each is imported by name, and needs an extra of the package if it imports them.

`sklearn` has a transformer for scikit-learn and data frames, made of `columns`; `transformers` gives the models of
Hugging Face numbers; `padic_ml` exchanges p-adic numbers with padic-ml, and imports nothing of it. May import every
layer below; nothing imports it. One more adapter is a module, its imports under `adelic.errors.needs_extra`, and an
extra in pyproject.toml.
"""
