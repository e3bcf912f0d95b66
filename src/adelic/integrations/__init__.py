"""Thin adapters to other libraries; each needs an extra of the package and is imported by name.

`sklearn` has transformers for scikit-learn and data frames, with what they share in `columns`, `column_features` and
`inverse`; `transformers` gives the models of Hugging Face numbers. May import every layer below; nothing imports it.
One more adapter is a module, its imports under `adelic.errors.needs_extra`, and an extra in pyproject.toml.
"""
