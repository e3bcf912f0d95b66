"""Embeddings of numbers, one module each: `registry` finds every class here that has a name.

One more is one more module, with a subclass of `NumberEmbedding`: its `name`, the `options` that users may change, and
`forward`. What works with fixed features and a trained map is a `FeatureEmbedding`.
"""
