"""Tiny models and tokenizers of Hugging Face Transformers, made here: nothing is downloaded."""

from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("transformers") else ["test_transformers_[!f]*.py"]  # numbers are found without


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
        ends, inner = {"bos_token_id": None, "eos_token_id": None}, {"intermediate_size": 64}
        of_family = {"GPT2": ends, "Llama": ends | inner, "Albert": inner | {"embedding_size": 16}, "Bert": inner}
        family = next(family for family in of_family if name.startswith(family))
        config = getattr(transformers, f"{family}Config")(**sizes, **of_family[family], **options)
        return getattr(transformers, name)(config).eval()

    return make


@pytest.fixture(scope="session")
def fit():
    """Train a model on batches, one step each; the learning rate falls to 0."""
    import torch

    def train(model, batches, learning_rate=0.01):
        optimizer = torch.optim.AdamW(model.train().parameters(), learning_rate, weight_decay=0.0)
        for step, batch in enumerate(batches):
            optimizer.param_groups[0]["lr"] = learning_rate * (1 - step / len(batches))
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
        return model.eval()

    return train


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
