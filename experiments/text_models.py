"""The models of experiments/text_arithmetic.py: one small Llama for all, and those that `equip` gives numbers.

All models learn from the answers alone, and write an answer token by token until its end, so that an answer may be a
number, a word or a list of numbers. Words are what stands between spaces and punctuation marks. The models without
`equip` are in text_rivals.py.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast

from adelic import AdeleSpace
from adelic.errors import ConfigurationError
from adelic.integrations.transformers import (
    NumberCollator,
    NumberTokenizer,
    equip,
    find_numbers,
    rewrite,
    scratchpad,
)

WIDTH = 64
PAD, UNKNOWN, END = range(3)
_SPECIAL = ("[PAD]", "[UNK]", "[END]")
_WORD = re.compile(r"\w+|[^\w\s]")
ARITHMETIC = ("+", "-", "*", "/")
OPERATIONS = (
    *(*ARITHMETIC, "distance", "gcd", "lcm", "lcd", "%", "//"),
    *("divides", "min", "max", "<", "<=", "==", "!="),
)
"""What `operations` and the table may do with two numbers."""
CONSTANTS = (2,)
"""What they may choose though no text has it: "Is 12 even?" """
TRUTH = {"True": "1", "False": "0"}
"""How models whose numbers are one token write words."""
_BATCH = 256  # questions that are answered at a time
Row = tuple[str, str]
Written = list[tuple[str, str | None]]
"""Answers, and how each came about where the model says it."""


def small_llama(n_tokens: int, window: int | None = None) -> Any:
    """Return the network of all models, whose weights differ by the number of tokens alone.

    With a window tokens attend to so many of the last ones alone, which makes a Llama a Mistral.
    """
    sizes: dict[str, Any] = {
        "vocab_size": n_tokens,
        "hidden_size": WIDTH,
        "intermediate_size": 4 * WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "initializer_range": WIDTH**-0.5 / 2,  # the default is for ten times the width
        "bos_token_id": None,
        "eos_token_id": END,
        "pad_token_id": PAD,
    }
    if window is not None:
        return MistralForCausalLM(MistralConfig(**sizes, sliding_window=window))
    return LlamaForCausalLM(LlamaConfig(**sizes))


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


def descended(
    optimizer: torch.optim.Optimizer,
    losses: Iterable[Callable[[], torch.Tensor]],
    progress: Callable[[], float],
    rate: Callable[[float], float],
) -> Iterator[float]:
    """Take a step for each loss until the progress is 1, at a rate that depends on it; yield the progress."""
    for loss in losses:
        if (done := progress()) >= 1:
            return
        (group,) = optimizer.param_groups
        group["lr"] = rate(done)
        optimizer.zero_grad()
        loss().backward()
        torch.nn.utils.clip_grad_norm_(group["params"], 1.0)
        optimizer.step()
        yield done


class Equipped(torch.nn.Module):
    """The Llama with `equip`, trained by `NumberCollator` and asked by `generate`, as the documentation says.

    Args:
        rows: training questions and answers.
        window: of `small_llama`.
        hidden: of `NumberCollator`.
        options: of `equip`.
    """

    def __init__(self, rows: Sequence[Row], *, window: int | None = None, hidden: float = 0.0, **options: Any) -> None:
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
        self.llama = equip(small_llama(len(ids) + 1, window), tokenizer, **options)  # one more, [NUM]
        self.reader = NumberTokenizer(tokenizer)
        self.collator = NumberCollator(self.reader, "causal", hidden=hidden)

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
    """The Llama with `OperationHead`, which chooses numbers and an exact operation.

    In half of the training questions the values of numbers are hidden.
    """

    told = f"where numbers are, and {len(OPERATIONS)} operations, the constant 2"

    hidden = 0.5

    def __init__(self, rows: Sequence[Row]) -> None:
        space = AdeleSpace.decimal(12, precision=1)
        super().__init__(rows, hidden=self.hidden, space=space, operations=OPERATIONS, constants=CONSTANTS)


class OperationsSeen(Operations):
    """`Operations` with the values of all numbers shown, which may learn to copy what looks greater."""

    hidden = 0.0


class Rewrite(Equipped):
    """The steps of expressions, each a number of two others, whose result takes the place of what it came from.

    Questions that are no expression are learned and answered as those of `Operations`, with four operations.
    """

    told = f"where numbers are, {len(ARITHMETIC)} operations, the steps of expressions; a token sees 4"

    def __init__(self, rows: Sequence[Row]) -> None:
        rng = np.random.default_rng(torch.initial_seed())
        super().__init__(rows, window=4, space=AdeleSpace.decimal(12, precision=1), operations=ARITHMETIC)
        plain, self.examples = self.examples, []
        for example, (question, answer) in zip(plain, rows, strict=True):
            steps = steps_of(question, rng)
            is_right = bool(steps) and steps[-1]["completion"].strip() == answer
            self.examples += steps if is_right else [example]

    def write(self, questions: Sequence[str]) -> Written:
        """Return the answers to questions, and the derivation of each step."""
        steps = [steps_of(question) for question in questions]
        expressions = [one[0]["prompt"] for one in steps if one]
        found = iter(in_batches(expressions, self._rewritten))
        others = iter(super().write([question for question, one in zip(questions, steps, strict=True) if not one]))
        return [next(found if one else others) for one in steps]

    def _rewritten(self, expressions: list[str]) -> Written:
        written = rewrite(self.llama, self.reader, expressions)
        return [
            ("" if one.number is None else str(one.number), "; ".join(text for text, _ in one.steps)) for one in written
        ]


def steps_of(question: str, rng: np.random.Generator | None = None) -> list[dict[str, str]]:
    """Return the training texts of an expression's steps; none of what is no expression.

    >>> [step["completion"] for step in steps_of("What is 2 + 3 * 4?")], steps_of("What is 2?"), steps_of("What?")
    ([' 12', ' 14', ' 14'], [], [])
    """
    try:
        steps = scratchpad(question, style="rewrite", rng=rng)
    except ConfigurationError:
        return []
    return steps if len(steps) > 1 else []


class AdelicHead(Equipped):
    """The Llama with `AdelicHead`, which has to learn arithmetic."""

    told = "where numbers are, and their residues modulo 40 primes"

    def __init__(self, rows: Sequence[Row]) -> None:
        space = AdeleSpace.decimal(40, precision=1)  # primes at which decimals have digits
        super().__init__(rows, space=space, max_numerator=10**30, max_denominator=10**18)
