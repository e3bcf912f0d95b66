"""The models of benchmarks/text_arithmetic.py: one small Llama for all, and those that `equip` gives numbers.

All models learn from the answers alone, and write an answer token by token until its end, so that an answer may be a
number, a word or a list of numbers. Words are what stands between spaces and punctuation marks. The models without
`equip` are in text_rivals.py.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from adelic import AdeleSpace
from adelic.integrations.transformers import NumberCollator, NumberTokenizer, equip, find_numbers

WIDTH = 64
PAD, UNKNOWN, END = range(3)
_SPECIAL = ("[PAD]", "[UNK]", "[END]")
_WORD = re.compile(r"\w+|[^\w\s]")
OPERATIONS = ("+", "-", "*", "/", "distance", "gcd", "lcm", "lcd", "%", "//", "divides", "min", "max", "<", "<=", "==")
"""What `operations` and the table may do with two numbers."""
TRUTH = {"True": "1", "False": "0"}
"""How models whose numbers are one token write words."""
_BATCH = 256  # questions that are answered at a time
Row = tuple[str, str]
Written = list[tuple[str, str | None]]
"""Answers, and how each came about where the model says it."""


def small_llama(n_tokens: int) -> Any:
    """Return the network of all models, whose weights differ by the number of tokens alone."""
    config = LlamaConfig(
        vocab_size=n_tokens,
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        initializer_range=WIDTH**-0.5 / 2,  # the default is for ten times the width
        bos_token_id=None,
        eos_token_id=END,
        pad_token_id=PAD,
    )
    return LlamaForCausalLM(config)


def words_and_numbers(text: str) -> list[tuple[str, Fraction | None]]:
    """Return the words, marks and numbers of a text in order, with the values of the numbers.

    >>> words_and_numbers("Is -1.5 < x2?")
    [('Is', None), ('-1.5', Fraction(-3, 2)), ('<', None), ('x2', None), ('?', None)]
    """
    parts: list[tuple[str, Fraction | None]] = []
    end = 0
    for found in find_numbers(text):
        parts += [(word, None) for word in _WORD.findall(text[end : found.start])]
        parts.append((text[found.start : found.end], found.value))
        end = found.end
    return parts + [(word, None) for word in _WORD.findall(text[end:])]


def asked(question: str) -> str:
    """Return a question as models read it, with "=" behind it.

    >>> asked("What is 2 + 3?"), asked("2 + 3 =")
    ('What is 2 + 3? =', '2 + 3 =')
    """
    return f"{question.removesuffix('=').rstrip()} ="


def numbered(tokens: Iterable[str]) -> dict[str, int]:
    """Return the ids of tokens, behind those that every model has.

    >>> numbered(["is", "is"])
    {'[PAD]': 0, '[UNK]': 1, '[END]': 2, 'is': 3}
    """
    names = dict.fromkeys([*_SPECIAL, *sorted(set(tokens))])
    return {name: i for i, name in enumerate(names)}


def in_batches(questions: Sequence[str], answered: Callable[[list[str]], Written]) -> Written:
    """Return the answers to questions, of which those of about one length are asked together.

    >>> in_batches(["bb", "a"], lambda few: [(text, None) for text in few])
    [('bb', None), ('a', None)]
    """
    order = sorted(range(len(questions)), key=lambda i: len(questions[i]))
    answers: Written = [("", None)] * len(questions)
    for start in range(0, len(order), _BATCH):
        chosen = order[start : start + _BATCH]
        for i, answer in zip(chosen, answered([questions[i] for i in chosen]), strict=True):
            answers[i] = answer
    return answers


class Equipped(torch.nn.Module):
    """The Llama with `equip`, trained by `NumberCollator` and asked by `generate`, as the documentation says."""

    def __init__(self, rows: Sequence[Row], **options: Any) -> None:
        super().__init__()
        stated = [(asked(question), TRUTH.get(answer, answer)) for question, answer in rows]
        self.examples = [{"prompt": question, "completion": f" {answer} [END]"} for question, answer in stated]
        parts = [[words_and_numbers(text) for text in row] for row in stated]
        self.most = 2 * max(len(answer) for _, answer in parts) + 1
        ids = numbered(word for row in parts for part in row for word, value in part if value is None)
        words = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
        words.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), behavior="removed", invert=True)
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=words,
            unk_token="[UNK]",
            pad_token="[PAD]",
            eos_token="[END]",
            padding_side="left",
            model_input_names=["input_ids", "attention_mask"],
        )
        self.llama = equip(small_llama(len(ids) + 1), tokenizer, **options)  # one more, [NUM]
        self.reader = NumberTokenizer(tokenizer)
        self.collator = NumberCollator(self.reader, "causal")

    def lengths(self) -> list[int]:
        """Return how long the training questions are, with their answers."""
        return [len(example["prompt"]) + len(example["completion"]) for example in self.examples]

    def loss(self, chosen: Sequence[int]) -> torch.Tensor:
        """Return the loss of training questions."""
        loss: torch.Tensor = self.llama(**self.collator([self.examples[i] for i in chosen])).loss
        return loss

    def write(self, questions: Sequence[str]) -> Written:
        """Return the answers to questions, and their derivations where the model has any."""
        return in_batches([asked(question) for question in questions], self._written)

    @torch.no_grad()
    def _written(self, questions: list[str]) -> Written:
        batch = self.reader(questions)
        written = self.llama.generate(**batch, max_new_tokens=self.most, do_sample=False)
        first = batch["input_ids"].shape[1]
        texts = self.reader.decode(written.sequences[:, first:], written.numbers[:, first:])
        reasons = getattr(written, "derivations", np.full(written.sequences.shape, None))[:, first:]
        said = ["; ".join(one for one in row if one is not None) or None for row in reasons]
        return list(zip(texts, said, strict=True))


class Operations(Equipped):
    """The Llama with `OperationHead`, which chooses numbers and an exact operation."""

    told = f"where numbers are, and {len(OPERATIONS)} operations"

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows, space=AdeleSpace.decimal(12, precision=1), operations=OPERATIONS)


class AdelicHead(Equipped):
    """The Llama with `AdelicHead`, which has to learn arithmetic."""

    told = "where numbers are, and their residues modulo 40 primes"

    def __init__(self, rows: Sequence[Row]) -> None:
        space = AdeleSpace.decimal(40, precision=1)  # primes at which decimals have digits
        super().__init__(rows, space=space, max_numerator=10**30, max_denominator=10**18)
