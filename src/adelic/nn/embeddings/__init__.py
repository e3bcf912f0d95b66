"""Embeddings of numbers, one module each: `registry` finds every class here that has a name.

One more is one more module, with a subclass of `NumberEmbedding`: its `name` and `forward`. What works with fixed
features and a trained map is a `FeatureEmbedding`. An option that users may change is a keyword of its `__init__` and
a field of training's `EmbeddingConfig`. May import `numbers`, torch and the rest of `nn`, except bodies and heads.
"""
