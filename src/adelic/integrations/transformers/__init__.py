"""Numbers in the models of Hugging Face Transformers; needs `pip install 'adelic[hf]'`. See docs/transformers.md.

`finding` reads numbers in a text, `texts` makes tokens of them, `layers` and `models` embed and predict them,
`patching` puts these into a model that stands, and `generating` writes numbers with it. What a model keeps of its
options is in `settings`; `scratchpads` makes texts of several steps. May import `numbers`, `nn`, torch, and
transformers inside functions. What a model says beside its text is added in `layers`; a kind of model is recognized in
`patching`.

>>> [str(found.value) for found in find_numbers("7/5 of 1,000")]
['7/5', '1000']
"""

from adelic.errors import needs_extra

with needs_extra("adelic.integrations.transformers", "hf"):
    from adelic.integrations.transformers.finding import FoundNumber, find_numbers
    from adelic.integrations.transformers.generating import EquippedGenerator
    from adelic.integrations.transformers.layers import NumberLayers
    from adelic.integrations.transformers.models import EquippedModel
    from adelic.integrations.transformers.patching import equip, equipped_class, from_pretrained
    from adelic.integrations.transformers.scratchpads import Rewriting, rewrite, scratchpad
    from adelic.integrations.transformers.settings import NUMBER_TOKEN, NumberSettings
    from adelic.integrations.transformers.texts import NumberCollator, NumberTokenizer

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
