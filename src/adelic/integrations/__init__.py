"""Thin adapters to other libraries; each needs an extra of the package and is imported by name.

`sklearn` has a transformer for scikit-learn and data frames, made of `columns`; `transformers` gives the models of
Hugging Face numbers. May import every layer below; nothing imports it. One more adapter is a module, its imports under
`adelic.errors.needs_extra`, and an extra in pyproject.toml.
"""
