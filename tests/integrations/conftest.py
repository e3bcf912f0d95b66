"""Tiny models and tokenizers of Hugging Face Transformers, made here: nothing is downloaded."""

import pytest


@pytest.fixture(scope="session")
def word_tokenizer():
    """Return new tokenizers that know a few words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    def make(*words, **options):
        special = ("[UNK]", "[PAD]", "[MASK]", "[CLS]")
        vocabulary = {word: i for i, word in enumerate([*special, "+", "-", "*", "/", "=", "and", "is", *words])}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        return PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            unk_token="[UNK]",
            pad_token="[PAD]",
            mask_token="[MASK]",
            cls_token="[CLS]",
            model_input_names=["input_ids", "attention_mask"],
            **options,
        )

    return make


@pytest.fixture(scope="session")
def byte_tokenizer():
    """Return new byte-level BPE tokenizers, trained on a few lines, as GPT-2's is."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    def make(**options):
        trained = ByteLevelBPETokenizer()
        lines = ["the sum of two numbers is a number", "it costs $1,000.50 and not 3/4 of that"]
        trained.train_from_iterator(lines, vocab_size=300, special_tokens=["<|end|>"], show_progress=False)
        return PreTrainedTokenizerFast(
            tokenizer_object=trained._tokenizer, eos_token="<|end|>", pad_token="<|end|>", **options
        )

    return make


@pytest.fixture(scope="session")
def tiny_model():
    """Return new models of two layers with random weights, by the names of their classes."""
    import torch
    import transformers

    def make(name, vocab_size, *, seed=0, **options):
        torch.manual_seed(seed)
        sizes = {"vocab_size": vocab_size, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
        if name.startswith("GPT2"):
            ends = {"bos_token_id": None, "eos_token_id": None}
            config = transformers.GPT2Config(vocab_size=vocab_size, n_embd=32, n_layer=2, n_head=2, **ends, **options)
        elif name.startswith("Llama"):
            ends = {"bos_token_id": None, "eos_token_id": None}
            config = transformers.LlamaConfig(**sizes, intermediate_size=64, **ends, **options)
        elif name.startswith("Albert"):
            config = transformers.AlbertConfig(**sizes, intermediate_size=64, embedding_size=16, **options)
        else:
            config = transformers.BertConfig(**sizes, intermediate_size=64, **options)
        return getattr(transformers, name)(config).eval()

    return make


@pytest.fixture
def equipped(word_tokenizer, tiny_model):
    """Return equipped models with their number tokenizers."""
    from adelic import AdeleSpace
    from adelic.integrations.transformers import NumberTokenizer, equip

    def make(name, *, space=None, model_options=None, **options):
        space = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1) if space is None else space
        tokenizer = word_tokenizer(padding_side="left")
        model = equip(tiny_model(name, len(tokenizer), **model_options or {}), tokenizer, space, **options)
        return model, NumberTokenizer(tokenizer, space)

    return make


@pytest.fixture
def only():
    """Return lists of logits processors that let a model write some tokens alone, by what it reads."""
    import torch

    def make(*tokens):
        def processor(input_ids, scores):
            kept = torch.full_like(scores, -torch.inf)
            kept[:, list(tokens)] = scores[:, list(tokens)]
            return kept

        return [processor]

    return make


@pytest.fixture
def texts():
    """Return texts with and without numbers, of different lengths."""
    return ["1 and -7/11 is 2", "3 + 4", "and"]


@pytest.fixture
def batch_for(texts):
    """Return batches with labels for a model's objective."""
    from adelic.integrations.transformers import NumberCollator

    def make(model, tokenizer, given=texts):
        options = {"mask_probability": 0.5, "seed": 1} if model.objective == "masked" else {}
        return NumberCollator(tokenizer, model.objective, **options)(given)

    return make
