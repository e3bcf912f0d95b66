"""The networks of experiments/text_arithmetic.py: one small Llama for all, with `equip` and in the rivals' ways.

All models learn from the answers alone, and write an answer token by token until its end, so an answer may be a
number, a word or a list of numbers. Words are what stands between spaces and punctuation marks. Those that `equip`
gives numbers come first, then characters, Abacus, FoNE and xVal.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from torch.nn import functional
from transformers import MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast

from adelic import AdeleSpace, nn
from adelic.errors import ConfigurationError
from adelic.integrations.transformers import (
    NumberCollator,
    NumberTokenizer,
    equip,
    find_numbers,
    rewrite,
    scratchpad,
)
from adelic_lab.models.solvers.rivals.heads import FourierHead, XValHead
from adelic_lab.train.steps import take_step

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
_DECIMAL = re.compile(r"([0-9]+)\.?([0-9]*)")
_SPELLED = re.compile(r"(?:\[\.(\d+)\] )?((?:(?<!\S)\d )+)(\[-\] )?")
_IGNORED = -100
_BATCH = 256  # questions that are answered at a time
Row = tuple[str, str]
Pairs = list[tuple[str, Any]]
"""Tokens, and what is next to each: a place, a number or nothing."""
Written = list[tuple[str, str | None]]
"""Answers, and how each came about where the model says it."""


def small_llama(n_tokens: int, *, window: int | None = None, layers: int = 2, width: int = WIDTH) -> Any:
    """Return the network of all models, whose weights differ by the number of tokens alone.

    With a window tokens attend to so many of the last ones alone; a Mistral without one is a Llama.
    """
    config = MistralConfig(
        vocab_size=n_tokens,
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        initializer_range=width**-0.5 / 2,  # the default is for ten times the width
        bos_token_id=None,
        eos_token_id=END,
        pad_token_id=PAD,
        sliding_window=window,
    )
    return MistralForCausalLM(config)


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
    """Return a question as models read it, with "=" after it.

    >>> asked("What is 2 + 3?"), asked("2 + 3 =")
    ('What is 2 + 3? =', '2 + 3 =')
    """
    return f"{question.removesuffix('=').rstrip()} ="


def numbered(tokens: Iterable[str]) -> dict[str, int]:
    """Return the ids of tokens, after those that every model has.

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


def word_tokenizer(words: Iterable[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of these words and marks, which fills up texts at the left."""
    made = Tokenizer(models.WordLevel(numbered(words), unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(_WORD.pattern), behavior="removed", invert=True)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "eos_token": "[END]", "padding_side": "left"}
    inputs = ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=made, model_input_names=inputs, **names)


def descended(
    model: torch.nn.Module,
    losses: Iterator[torch.Tensor],
    progress: Callable[[], float],
    rate: Callable[[float], float],
    **options: Any,
) -> Iterator[float]:
    """Take a step of AdamW for each loss until the progress is 1, at a rate that depends on it; yield the progress.

    Losses are computed when they are asked for, the next one after the step before. The options are AdamW's.
    """
    optimizer = torch.optim.AdamW(model.parameters(), **options)
    while (done := progress()) < 1:
        optimizer.zero_grad()
        next(losses).backward()
        take_step(optimizer, rate(done), greatest_norm=1.0)
        yield done


class Model(torch.nn.Module):
    """What all networks share; subclasses have a loss of training questions, and write answers to a few at a time.

    Attributes:
        told: what a network is told of numbers.
        lengths: how long the training questions are, with their answers.
    """

    told: str
    lengths: Sequence[int]

    def write(self, questions: Sequence[str]) -> Written:
        """Return the answers to questions, and their derivations where the model has any."""
        self.eval()
        answers = self.answers([asked(question) for question in questions])
        self.train()
        return answers

    def answers(self, questions: Sequence[str]) -> Written:
        """Return the answers to questions as models read them."""
        return in_batches(questions, self._written)


class Equipped(Model):
    """The Llama with `equip`, trained by `NumberCollator` and asked by `generate`, as the documentation says.

    Args:
        rows: training questions and answers.
        told: of `Model`.
        window: of `small_llama`.
        hidden: of `NumberCollator`.
        options: of `equip`.
    """

    def __init__(
        self, rows: Sequence[Row], *, told: str, window: int | None = None, hidden: float = 0.0, **options: Any
    ) -> None:
        super().__init__()
        self.told = told
        stated = [(asked(question), TRUTH.get(answer, answer)) for question, answer in rows]
        self.examples = [{"prompt": question, "completion": f" {answer} [END]"} for question, answer in stated]
        parts = [[words_and_numbers(text) for text in row] for row in stated]
        self.most = 2 * max(len(answer) for _, answer in parts) + 1
        tokenizer = word_tokenizer(word for row in parts for part in row for word, value in part if value is None)
        self.llama = equip(small_llama(len(tokenizer) + 1, window=window), tokenizer, **options)  # one more, [NUM]
        self.reader = NumberTokenizer(tokenizer)
        self.collator = NumberCollator(self.reader, "causal", hidden=hidden)

    @property
    def lengths(self) -> list[int]:
        """Return how long the training questions are, with their answers."""
        return [len(example["prompt"]) + len(example["completion"]) for example in self.examples]

    def loss(self, chosen: Sequence[int]) -> torch.Tensor:
        """Return the loss of training questions."""
        loss: torch.Tensor = self.llama(**self.collator([self.examples[i] for i in chosen])).loss
        return loss

    @torch.no_grad()
    def _written(self, questions: list[str]) -> Written:
        batch = self.reader(questions)
        written = self.llama.generate(**batch, max_new_tokens=self.most, do_sample=False)
        first = batch["input_ids"].shape[1]
        texts = self.reader.decode(written.sequences[:, first:], written.numbers[:, first:])
        reasons = getattr(written, "derivations", np.full(written.sequences.shape, None))[:, first:]
        said = ["; ".join(one for one in row if one is not None) or None for row in reasons]
        return list(zip(texts, said, strict=True))


class Rewrite(Equipped):
    """The steps of expressions, each a number of two others, whose result takes the place of what it came from.

    Questions that are no expression are learned and answered as those of `Equipped`.
    """

    def __init__(self, rows: Sequence[Row], **options: Any) -> None:
        super().__init__(rows, **options)
        rng = np.random.default_rng(torch.initial_seed())
        plain, self.examples = self.examples, []
        for example, (question, answer) in zip(plain, rows, strict=True):
            steps = steps_of(question, rng)
            is_right = bool(steps) and steps[-1]["completion"].strip() == answer
            self.examples += steps if is_right else [example]

    def answers(self, questions: Sequence[str]) -> Written:
        """Return the answers to questions, and the derivation of each step."""
        steps = [steps_of(question) for question in questions]
        expressions = [one[0]["prompt"] for one in steps if one]
        found = iter(in_batches(expressions, self._rewritten))
        others = iter(super().answers([question for question, one in zip(questions, steps, strict=True) if not one]))
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


class Characters(Model):
    """Characters, left to right; for subclasses, a model whose tokens may have something next to them.

    That is a place, or a number. Subclasses say how a text becomes (token, beside) pairs and back, what `beside` adds
    to a token's embedding, and what belongs to the next token that is written.
    """

    told = "nothing"
    words_for_truth: ClassVar[bool] = True
    """Whether True and False are written as words; 1 and 0 by models whose numbers are one token."""
    longer: ClassVar[int] = 4
    """An answer may have so many times as many tokens as the longest one in training."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        stated = {} if self.words_for_truth else TRUTH
        self.rows = [(self.split(asked(q)), self.split(stated.get(answer, answer))) for q, answer in rows]
        self.lengths = [len(question) + len(answer) for question, answer in self.rows]
        self.ids = numbered(token for row in self.rows for part in row for token, _ in part)
        self.tokens = list(self.ids)
        self.most = self.longer * max(len(answer) for _, answer in self.rows)
        self.llama = small_llama(len(self.ids))

    def split(self, text: str) -> Pairs:
        """Return the tokens of a text, and what is next to each."""
        return [(character, None) for character in text]

    def join(self, written: Pairs) -> str:
        """Return the text of tokens that were written, with what is next to them."""
        return "".join(token for token, _ in written)

    def embed(self, ids: torch.Tensor, beside: Sequence[Sequence[Any]]) -> torch.Tensor:
        """Return embeddings (batch, length, WIDTH) of tokens (batch, length)."""
        found: torch.Tensor = self.llama.model.embed_tokens(ids)
        return found

    def following(self, tokens: Sequence[str], states: torch.Tensor, beside: Sequence[Any]) -> list[Any]:
        """Return what is next to new tokens, after hidden states (batch, WIDTH) and what was next to the last."""
        return [None] * len(tokens)

    def beside_loss(self, states: torch.Tensor, labels: torch.Tensor, beside: Sequence[Any]) -> torch.Tensor | float:
        """Return the loss of what is next to tokens, from the states (k, WIDTH) that say it and their ids (k,)."""
        return 0.0

    def padded(self, rows: Sequence[Pairs], *, left: bool) -> tuple[torch.Tensor, list[list[Any]]]:
        """Return the ids of rows (batch, length) and what is next to them, filled up at the left or the right."""
        length = max(map(len, rows))
        gaps: list[Pairs] = [[("[PAD]", None)] * (length - len(row)) for row in rows]
        full = [[*gap, *row] if left else [*row, *gap] for row, gap in zip(rows, gaps, strict=True)]
        ids = torch.tensor([[self.ids.get(token, UNKNOWN) for token, _ in row] for row in full])
        return ids, [[one for _, one in row] for row in full]

    def loss(self, chosen: Sequence[int]) -> torch.Tensor:
        """Return the mean loss of a token of the answers to training questions."""
        rows = [self.rows[i] for i in chosen]
        ids, beside = self.padded([[*question, *answer, ("[END]", None)] for question, answer in rows], left=False)
        labels = torch.full_like(ids[:, 1:], _IGNORED)
        for i, (question, answer) in enumerate(rows):
            start, end = len(question), len(question) + len(answer) + 1
            labels[i, start - 1 : end - 1] = ids[i, start:end]
        embedded = self.embed(ids[:, :-1], [row[:-1] for row in beside])
        at = labels != _IGNORED
        states = self.llama.model(inputs_embeds=embedded).last_hidden_state[at]
        known = [beside[i][j + 1] for i, j in torch.nonzero(at).tolist()]
        loss: torch.Tensor = functional.cross_entropy(self.llama.lm_head(states), labels[at])
        return loss + self.beside_loss(states, labels[at], known)

    @torch.no_grad()
    def _written(self, questions: list[str]) -> Written:
        ids, beside = self.padded([self.split(question) for question in questions], left=True)
        mask = (ids != PAD).long()
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        written: list[Pairs] = [[] for _ in questions]
        past, is_open = None, np.full(len(questions), True)
        for _ in range(self.most):
            found = self.llama.model(
                inputs_embeds=self.embed(ids, beside),
                attention_mask=mask,
                position_ids=positions,
                past_key_values=past,
                use_cache=True,
            )
            past, states = found.past_key_values, found.last_hidden_state[:, -1]
            ids = self.llama.lm_head(states).argmax(-1)[:, None]
            names = [self.tokens[i] for i in ids[:, 0].tolist()]
            next_to = self.following(names, states, [row[-1] for row in beside])
            is_open &= np.array([name != "[END]" for name in names])
            if not is_open.any():
                break
            for row in np.flatnonzero(is_open).tolist():
                written[row].append((names[row], next_to[row]))
            beside = [[one] for one in next_to]
            mask = torch.cat([mask, torch.ones_like(ids)], 1)
            positions = positions[:, -1:] + 1
        return [(self.join(row), None) for row in written]


class Abacus(Characters):
    """Words, and numbers as digits right to left, each digit with the vector of its place.

    The place is the power of ten, plus an offset that is drawn for each batch in training. A token "[.k]" before the
    digits says that k of them stand after the point, so places are known from the first digit on, and a token
    "[-]" after them is the sign. A fraction is two numbers with "[/]" between them.

    # NOTE[rival]: Abacus is published for natural numbers. Their places count from the last digit, as here.

    Source: McLeish et al., "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399, section 3.
    """

    told = "where numbers are, and the place of each digit"
    lowest, n_places, most_offset = -60, 200, 20

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        self.places = torch.nn.Embedding(self.n_places + 1, WIDTH, padding_idx=self.n_places)
        torch.nn.init.normal_(self.places.weight[: self.n_places], std=self.llama.config.initializer_range)

    def split(self, text: str) -> Pairs:
        """Return words and digits, and the places of digits."""
        parts = words_and_numbers(text)
        return [pair for part, value in parts for pair in ([(part, None)] if value is None else spelled(part))]

    def join(self, written: Pairs) -> str:
        """Return the text."""
        return unspelled([token for token, _ in written])

    def embed(self, ids: torch.Tensor, beside: Sequence[Sequence[Any]]) -> torch.Tensor:
        """Return the embeddings of tokens and places."""
        first = (int(torch.randint(self.most_offset + 1, ())) if self.training else 0) - self.lowest
        last = self.n_places - 1
        at = [[self.n_places if k is None else min(max(k + first, 0), last) for k in row] for row in beside]
        return super().embed(ids, beside) + self.places(torch.tensor(at))

    def following(self, tokens: Sequence[str], states: torch.Tensor, beside: Sequence[Any]) -> list[Any]:
        """Return the places of tokens after tokens with places."""
        return [next_place(*pair) for pair in zip(tokens, beside, strict=True)]


def next_place(token: str, before: int | None) -> int | None:
    """Return the place of a token after one with a place: of a digit the next one, of "[.k]" that below k digits.

    >>> next_place("[.2]", None), next_place("7", -3), next_place("7", None), next_place("[-]", 4)
    (-3, -2, 0, None)
    """
    if token.startswith("[."):
        return -int(token[2:-1]) - 1
    return (0 if before is None else before + 1) if token.isdigit() else None


def spelled(number: str) -> list[tuple[str, int | None]]:
    """Return the tokens of a number, and their places.

    >>> spelled("-12.5"), spelled("7/3")
    ([('[.1]', -2), ('5', -1), ('2', 0), ('1', 1), ('[-]', None)], [('7', 0), ('[/]', None), ('3', 0)])
    """
    tokens: list[str] = []
    for part in number.replace(",", "").split("/"):
        whole, _, decimals = part.lstrip("-\u2212").partition(".")
        point = [f"[.{len(decimals)}]"] if decimals else []
        sign = ["[-]"] if part[0] in "-\u2212" else []
        tokens += [*(["[/]"] if tokens else []), *point, *reversed(whole + decimals), *sign]
    places: list[int | None] = []
    for token in tokens:
        places.append(next_place(token, places[-1] if places else None))
    return list(zip(tokens, places, strict=True))


def unspelled(tokens: Sequence[str]) -> str:
    """Return the text of tokens, the inverse of `spelled`.

    >>> unspelled(["[.2]", "5", "0", "[-]", ",", "7", "[/]", "3"])
    '-0.05 , 7/3'
    """

    def read(found: re.Match[str]) -> str:
        decimals = int(found[1] or 0)
        digits = found[2].replace(" ", "")[::-1].zfill(decimals + 1)
        whole = len(digits) - decimals
        return f"{'-' if found[3] else ''}{digits[:whole]}{'.' if decimals else ''}{digits[whole:]} "

    return _SPELLED.sub(read, "".join(f"{token} " for token in tokens)).replace(" [/] ", "/").strip()


class OneToken(Characters):
    """Words, and each number as one token, which an embedding and a head of numbers read and write."""

    words_for_truth, longer = False, 2
    unit = Fraction(1)
    """Of what the head says."""
    sizes: ClassVar[dict[str, int]] = {}
    """Of the head's targets."""
    embedding: Any
    head: Any

    def split(self, text: str) -> Pairs:
        """Return words and number tokens, and the numbers."""
        parts = words_and_numbers(text)
        return [(part, None) if value is None else ("[NUM]", value) for part, value in parts]

    def join(self, written: Pairs) -> str:
        """Return the text."""
        return " ".join(token if number is None else str(number) for token, number in written)

    def embed(self, ids: torch.Tensor, beside: Sequence[Sequence[Any]]) -> torch.Tensor:
        """Return the embeddings of tokens and numbers."""
        found = super().embed(ids, beside)
        at = [(i, j) for i, row in enumerate(beside) for j, value in enumerate(row) if value is not None]
        if not at:
            return found
        vectors = self.embedding([self.readable(beside[i][j]) for i, j in at])
        return found.index_put(tuple(torch.tensor(at).T), vectors, accumulate=True)

    def following(self, tokens: Sequence[str], states: torch.Tensor, beside: Sequence[Any]) -> list[Any]:
        """Return the numbers of number tokens."""
        said = zip(tokens, self.head.decode(self.head(states)), strict=True)
        return [self.unit * n if token == "[NUM]" and n is not None else None for token, n in said]

    def beside_loss(self, states: torch.Tensor, labels: torch.Tensor, beside: Sequence[Any]) -> torch.Tensor | float:
        """Return the head's loss for the numbers that it can say."""
        at = [i for i, value in enumerate(beside) if value is not None and self.readable(value) == value]
        if not at:
            return 0.0
        loss: torch.Tensor = self.head.loss(self.head(states[at]), *self.targets([beside[i] for i in at]))
        return loss

    def readable(self, number: Fraction) -> Fraction:
        """Return the number that is read for one."""
        return number

    def targets(self, numbers: list[Fraction]) -> tuple[torch.Tensor, ...]:
        """Return the head's targets."""
        found: tuple[torch.Tensor, ...] = self.head.targets([number / self.unit for number in numbers], **self.sizes)
        return found


class FoNE(OneToken):
    """One token a number, with FoNE's waves and its head.

    There are half as many digits again as the longest training number has, before the point and after it. A number of
    more digits, such as 1/3, is read rounded and without those before, and cannot be written.
    """

    told = "where numbers are, and their decimal digits"

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        decimals = [written for row in rows for text in row for written in _DECIMAL.findall(text)]
        self.whole, self.decimals = (
            -(-3 * max((len(parts[k]) for parts in decimals), default=1) // 2) for k in range(2)
        )
        self.unit, self.sizes = Fraction(1, 10**self.decimals), {"n_digits": self.whole + self.decimals}
        digits = {"integer_digits": self.whole, "fractional_digits": self.decimals}
        self.embedding = nn.FoNEEmbedding(None, d_model=WIDTH, **digits)
        self.head = FourierHead(WIDTH, **self.sizes)

    def readable(self, number: Fraction) -> Fraction:
        """Return the number rounded to the decimals, without digits before those that are read."""
        scaled = round(abs(number) * 10**self.decimals) % 10 ** (self.whole + self.decimals)
        return Fraction(scaled if number > 0 else -scaled, 10**self.decimals)


class XVal(OneToken):
    """One token a number: one direction, scaled by the number's logarithm as FoNE's authors ran xVal; regression.

    What is written is the nearest integer, so no decimal and no fraction is right.
    """

    told = "where numbers are, and their size"

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        numbers = [value for row in self.rows for part in row for _, value in part if value is not None]
        self.embedding = nn.XValEmbedding(None, d_model=WIDTH, scaling="log").fit(numbers)
        self.head = XValHead(WIDTH, scaling="log").fit(numbers)


TOLD = f"where numbers are, and {len(OPERATIONS)} operations, the constant 2"
_SPACE = AdeleSpace.decimal(12, precision=1)
_operations = partial(Equipped, told=TOLD, space=_SPACE, operations=OPERATIONS, constants=CONSTANTS)
NETWORKS: dict[str, Callable[[Sequence[Row]], Model]] = {
    "operations": partial(_operations, hidden=0.5),  # the values of numbers, in half of the training questions
    "operations-seen": _operations,  # which may learn to copy what looks greater
    "rewrite": partial(
        Rewrite,
        told=f"where numbers are, {len(ARITHMETIC)} operations, the steps of expressions; a token sees 4",
        window=4,
        space=_SPACE,
        operations=ARITHMETIC,
    ),
    "characters": Characters,
    "abacus": Abacus,
    "fone": FoNE,
    "xval": XVal,
    "adelic-head": partial(  # which has to learn arithmetic
        Equipped,
        told="where numbers are, and their residues modulo 40 primes",
        space=AdeleSpace.decimal(40, precision=1),  # primes at which decimals have digits
        max_numerator=10**30,
        max_denominator=10**18,
    ),
}
"""By name: what makes a network of training questions."""
