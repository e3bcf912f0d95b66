"""Rivals of equipped models in experiments/text_arithmetic.py: characters, Abacus, FoNE and xVal in the same Llama."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import torch
from text_models import (
    PAD,
    TRUTH,
    UNKNOWN,
    WIDTH,
    Row,
    Written,
    asked,
    in_batches,
    numbered,
    small_llama,
    words_and_numbers,
)
from torch.nn import functional

from adelic import nn
from adelic_lab.models.solvers.rivals.heads import FourierHead, XValHead

_DECIMAL = re.compile(r"([0-9]+)\.?([0-9]*)")
_SPELLED = re.compile(r"(?:\[\.(\d+)\] )?((?:(?<!\S)\d )+)(\[-\] )?")
_IGNORED = -100


class Characters(torch.nn.Module):
    """Characters, left to right; for subclasses, a model whose tokens may have something beside them.

    That is a place, or a number. Subclasses say how a text becomes (token, beside) pairs and back, what beside adds to
    a token's embedding, and what stands beside the next token that is written.
    """

    told = "nothing"
    words_for_truth: ClassVar[bool] = True
    """Whether True and False are written as words; 1 and 0 by models whose numbers are one token."""
    longer: ClassVar[int] = 4
    """An answer may have so many times as many tokens as the longest one in training."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self.rows = [(self.split(asked(question)), self.split(self.stated(answer))) for question, answer in rows]
        self.ids = numbered(token for row in self.rows for part in row for token, _ in part)
        self.tokens = list(self.ids)
        self.most = self.longer * max(len(answer) for _, answer in self.rows)
        self.llama = small_llama(len(self.ids))

    def stated(self, answer: str) -> str:
        """Return what is to be written for an answer."""
        return answer if self.words_for_truth else TRUTH.get(answer, answer)

    def split(self, text: str) -> list[tuple[str, Any]]:
        """Return the tokens of a text, and what stands beside each."""
        return [(character, None) for character in text]

    def join(self, tokens: Sequence[str], beside: Sequence[Any]) -> str:
        """Return the text of tokens that were written."""
        return "".join(tokens)

    def embed(self, ids: torch.Tensor, beside: Sequence[Sequence[Any]]) -> torch.Tensor:
        """Return embeddings (batch, length, WIDTH) of tokens (batch, length)."""
        found: torch.Tensor = self.llama.model.embed_tokens(ids)
        return found

    def following(self, tokens: Sequence[str], states: torch.Tensor, beside: Sequence[Any]) -> list[Any]:
        """Return what stands beside new tokens, behind hidden states (batch, WIDTH) and what stood beside the last."""
        return [None] * len(tokens)

    def beside_loss(self, states: torch.Tensor, labels: torch.Tensor, beside: Sequence[Any]) -> torch.Tensor | float:
        """Return the loss of what stands beside tokens, from the states (k, WIDTH) that say it and their ids (k,)."""
        return 0.0

    def lengths(self) -> list[int]:
        """Return how long the training questions are, with their answers."""
        return [len(question) + len(answer) for question, answer in self.rows]

    def loss(self, chosen: Sequence[int]) -> torch.Tensor:
        """Return the mean loss of a token of the answers to training questions."""
        rows = [self.rows[i] for i in chosen]
        full = [[*question, *answer, ("[END]", None)] for question, answer in rows]
        length = max(map(len, full)) - 1
        ids = torch.tensor([[self.ids[token] for token, _ in row] + [PAD] * (length + 1 - len(row)) for row in full])
        beside = [[one for _, one in row] + [None] * (length + 1 - len(row)) for row in full]
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

    def write(self, questions: Sequence[str]) -> Written:
        """Return the answers to questions."""
        return in_batches([asked(question) for question in questions], self._written)

    @torch.no_grad()
    def _written(self, questions: list[str]) -> Written:
        rows = [self.split(question) for question in questions]
        length = max(map(len, rows))
        ids = torch.tensor([[PAD] * (length - len(row)) + [self.ids.get(t, UNKNOWN) for t, _ in row] for row in rows])
        beside = [[None] * (length - len(row)) + [one for _, one in row] for row in rows]
        mask = torch.tensor([[0] * (length - len(row)) + [1] * len(row) for row in rows])
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        tokens: list[list[str]] = [[] for _ in rows]
        others: list[list[Any]] = [[] for _ in rows]
        past, is_open = None, np.full(len(rows), True)
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
                tokens[row].append(names[row])
                others[row].append(next_to[row])
            beside = [[one] for one in next_to]
            mask = torch.cat([mask, torch.ones_like(ids)], 1)
            positions = positions[:, -1:] + 1
        return [(self.join(*row), None) for row in zip(tokens, others, strict=True)]


class Abacus(Characters):
    """Words, and numbers as digits right to left, each digit with the vector of its place.

    The place is the power of ten, plus an offset that is drawn for each batch in training. A token "[.k]" before the
    digits says that k of them stand behind the point, so that places are known from the first digit on, and a token
    "[-]" behind them is the sign. A fraction is two numbers with "[/]" between them.

    # NOTE[rival]: Abacus is published for natural numbers. Their places count from the last digit, as here.

    Source: McLeish et al., "Transformers can do arithmetic with the right embeddings", arXiv:2405.17399, section 3.
    """

    told = "where numbers are, and the place of each digit"
    lowest, n_places, most_offset = -60, 200, 20

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        self.places = torch.nn.Embedding(self.n_places + 1, WIDTH, padding_idx=self.n_places)
        torch.nn.init.normal_(self.places.weight[: self.n_places], std=self.llama.config.initializer_range)

    def split(self, text: str) -> list[tuple[str, Any]]:
        """Return words and digits, and the places of digits."""
        parts = words_and_numbers(text)
        return [pair for part, value in parts for pair in ([(part, None)] if value is None else spelled(part))]

    def join(self, tokens: Sequence[str], beside: Sequence[Any]) -> str:
        """Return the text."""
        return unspelled(tokens)

    def embed(self, ids: torch.Tensor, beside: Sequence[Sequence[Any]]) -> torch.Tensor:
        """Return the embeddings of tokens and places."""
        first = (int(torch.randint(self.most_offset + 1, ())) if self.training else 0) - self.lowest
        last = self.n_places - 1
        at = [[self.n_places if k is None else min(max(k + first, 0), last) for k in row] for row in beside]
        return super().embed(ids, beside) + self.places(torch.tensor(at))

    def following(self, tokens: Sequence[str], states: torch.Tensor, beside: Sequence[Any]) -> list[Any]:
        """Return the places of tokens behind tokens with places."""
        return [next_place(*pair) for pair in zip(tokens, beside, strict=True)]


def next_place(token: str, before: int | None) -> int | None:
    """Return the place of a token behind one with a place: of a digit the next one, of "[.k]" that below k digits.

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
    embedding: Any
    head: Any

    def split(self, text: str) -> list[tuple[str, Any]]:
        """Return words and number tokens, and the numbers."""
        parts = words_and_numbers(text)
        return [(part, None) if value is None else ("[NUM]", value) for part, value in parts]

    def join(self, tokens: Sequence[str], beside: Sequence[Any]) -> str:
        """Return the text."""
        pairs = zip(tokens, beside, strict=True)
        return " ".join(token if number is None else str(number) for token, number in pairs)

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
        return [number if token == "[NUM]" else None for token, number in zip(tokens, self.said(states), strict=True)]

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
        found: tuple[torch.Tensor, ...] = self.head.targets(numbers)
        return found

    def said(self, states: torch.Tensor) -> list[Fraction | None]:
        """Return the numbers that hidden states (batch, WIDTH) say."""
        return [None if number is None else Fraction(number) for number in self.head.decode(self.head(states))]


class FoNE(OneToken):
    """One token a number, with FoNE's waves and its head.

    There are half as many digits again as the longest training number has, before the point and behind it. A number of
    more digits, such as 1/3, is read rounded and without those before, and cannot be written.
    """

    told = "where numbers are, and their decimal digits"

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        decimals = [written for row in rows for text in row for written in _DECIMAL.findall(text)]
        self.whole, self.decimals = (
            -(-3 * max((len(parts[k]) for parts in decimals), default=1) // 2) for k in range(2)
        )
        digits = {"integer_digits": self.whole, "fractional_digits": self.decimals}
        self.embedding = nn.FoNEEmbedding(None, d_model=WIDTH, **digits)
        self.head = FourierHead(WIDTH, n_digits=self.whole + self.decimals)

    def readable(self, number: Fraction) -> Fraction:
        """Return the number rounded to the decimals, without digits before those that are read."""
        scaled = round(abs(number) * 10**self.decimals) % 10 ** (self.whole + self.decimals)
        return Fraction(scaled if number > 0 else -scaled, 10**self.decimals)

    def targets(self, numbers: list[Fraction]) -> tuple[torch.Tensor, ...]:
        """Return the digits, those behind the point, too."""
        found: tuple[torch.Tensor, ...] = self.head.targets(
            [int(q * 10**self.decimals) for q in numbers], self.head.n_digits
        )
        return found

    def said(self, states: torch.Tensor) -> list[Fraction | None]:
        """Return the numbers of digits."""
        return [None if one is None else one / 10**self.decimals for one in super().said(states)]


class XVal(OneToken):
    """One token a number: one direction, scaled by the number's logarithm as FoNE's authors ran xVal; regression.

    What is written is the nearest integer, so that no decimal and no fraction is right.
    """

    told = "where numbers are, and their size"

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        numbers = [value for row in self.rows for part in row for _, value in part if value is not None]
        self.embedding = nn.XValEmbedding(None, d_model=WIDTH, scaling="log").fit(numbers)
        self.head = XValHead(WIDTH, scaling="log").fit(numbers)
