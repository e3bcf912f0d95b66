"""Numbers in the models of Hugging Face Transformers; needs `pip install 'adelic[hf]'`. See docs/transformers.md.

`texts` finds numbers and makes tokens of them, `layers` and `models` embed and predict them, `patching` puts these into
a model that stands, and `generating` writes numbers with it; `scratchpads` makes texts of several steps. May import
`numbers`, `nn`, torch, and transformers inside functions. What a model says next to its text is added in `layers`; a
kind of model is recognized in `patching`.

>>> [str(found.value) for found in find_numbers("7/5 of 1,000")]
['7/5', '1000']
"""

from adelic.errors import needs_extra

with needs_extra("adelic.integrations.transformers", "hf"):
    from adelic.integrations.transformers.generating import EquippedGenerator
    from adelic.integrations.transformers.layers import NUMBER_TOKEN, NumberLayers, NumberSettings
    from adelic.integrations.transformers.models import EquippedModel
    from adelic.integrations.transformers.patching import equip, equipped_class, from_pretrained
    from adelic.integrations.transformers.scratchpads import Rewriting, rewrite, scratchpad
    from adelic.integrations.transformers.texts import FoundNumber, NumberCollator, NumberTokenizer, find_numbers

__all__ = [
    "NUMBER_TOKEN",
    "EquippedGenerator",
    "EquippedModel",
    "FoundNumber",
    "NumberCollator",
    "NumberLayers",
    "NumberSettings",
    "NumberTokenizer",
    "Rewriting",
    "equip",
    "equipped_class",
    "find_numbers",
    "from_pretrained",
    "rewrite",
    "scratchpad",
]
