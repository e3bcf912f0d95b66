"""The models of experiments/text_word_problems.py: a Transformer with `nn.OperationHead`, and a table.

Both learn from answers alone: what they are given of a problem is its words, its numbers and its answer.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from adelic.nn import OperationHead, WrittenNumbers, exact_numbers
from adelic.nn.heads.exact import Choice, choice_text, choice_value

NUMBER = re.compile(r"number(\d+)")
ENDINGS = ("", "s", "es", "ies", "ed", "ing")
_STOPS = (".", "?", "!")
PAD, AT_NUMBER, STRANGERS = 0, 1, 24
"""Ids: padding, a number, then so many for words that were not learned, each the same all through a problem."""
_FARTHEST = 16


class Problem(NamedTuple):
    """A word problem: its words, "number0" for the first number; the numbers; the answer."""

    words: tuple[str, ...]
    numbers: tuple[Fraction, ...]
    answer: Fraction


def stem(word: str) -> tuple[str, int]:
    """Return a word without an ending, and which one that was.

    >>> stem("apples"), stem("cherries"), stem("glass"), stem("picked")
    (('apple', 2), ('cherry', 3), ('glass', 0), ('pick', 4))
    """
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) >= max(4, len(ending) + 3) and not word.endswith("ss"):
            return word[: -len(ending)] + instead, ENDINGS.index(ending)
    return word, 0


class Batch(NamedTuple):
    """Tensors of k problems of up to n words, with up to m numbers."""

    ids: torch.Tensor  # (k, n)
    endings: torch.Tensor  # (k, n)
    features: torch.Tensor  # (k, n, 4), of the words that are numbers
    is_question: torch.Tensor  # (k, n)
    places: torch.Tensor  # (k, m), where the numbers stand
    numbers: torch.Tensor  # (k, m, 2, limbs)


class Reader:
    """Makes tensors of problems: the words that two training problems have, by their stems.

    In training words are now and then taken for unknown, every occurrence of one in a problem for the same unknown
    word, so that the network learns to do with what stands where again; and in a share `irrelevant` of the problems a
    sentence of another one with one number is put in, which leaves the answer as it was.
    """

    def __init__(self, problems: Sequence[Problem], *, unknown: float, irrelevant: float) -> None:
        stems = Counter(word for problem in problems for word in {stem(w)[0] for w in problem.words})
        known = sorted(word for word, n in stems.items() if n > 1 and not NUMBER.fullmatch(word))
        self.ids = {word: 2 + STRANGERS + k for k, word in enumerate(known)}
        self.n_ids = 2 + STRANGERS + len(known)
        self._unknown, self._irrelevant = unknown, irrelevant
        self._sentences = [found for problem in problems for found in _sentences_with_a_number(problem)]

    def __call__(self, problems: Sequence[Problem], rng: np.random.Generator | None = None) -> Batch:
        """Return tensors; `rng` draws what training changes, and nothing is changed without."""
        if rng is not None and self._sentences:
            problems = [self._with_a_sentence(p, rng) if rng.random() < self._irrelevant else p for p in problems]
        shape = (len(problems), max(len(p.words) for p in problems))
        n_numbers = max(len(p.numbers) for p in problems)
        ids, endings = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        features, is_question = np.zeros((*shape, 4), dtype=np.float32), np.zeros(shape, dtype=bool)
        places = np.zeros((len(problems), n_numbers), dtype=np.int64)
        for row, problem in enumerate(problems):
            strangers = iter(range(STRANGERS) if rng is None else rng.permutation(STRANGERS))
            met: dict[str, int] = {}
            for at, word in enumerate(problem.words):
                found = NUMBER.fullmatch(word)
                if found and int(found[1]) < len(problem.numbers):
                    value = problem.numbers[int(found[1])]
                    ids[row, at], places[row, int(found[1])] = AT_NUMBER, at
                    features[row, at] = [math.asinh(value) / 3, value.denominator != 1, value == 1, 1]
                    continue
                root, endings[row, at] = stem(word)
                if root not in met:
                    is_known = root in self.ids and not (
                        rng is not None and root.isalpha() and rng.random() < self._unknown
                    )
                    met[root] = self.ids[root] if is_known else 2 + next(strangers, 0)
                ids[row, at] = met[root]
            is_question[row, _question(problem.words) : len(problem.words)] = True
        numbers = exact_numbers([[*p.numbers, *[None] * (n_numbers - len(p.numbers))] for p in problems])
        arrays = (ids, endings, features, is_question, places)
        return Batch(*(torch.from_numpy(array) for array in arrays), numbers)

    def _with_a_sentence(self, problem: Problem, rng: np.random.Generator) -> Problem:
        words, number = self._sentences[rng.integers(len(self._sentences))]
        starts = [0, *(k + 1 for k, word in enumerate(problem.words[:-1]) if word == ".")]
        at = starts[rng.integers(len(starts))]
        name = f"number{len(problem.numbers)}"
        added = tuple(name if NUMBER.fullmatch(word) else word for word in words)
        words = (*problem.words[:at], *added, *problem.words[at:])
        return Problem(words, (*problem.numbers, number), problem.answer)


def _question(words: Sequence[str]) -> int:
    """Return where the last sentence begins."""
    return max((k + 1 for k, word in enumerate(words[:-1]) if word in _STOPS), default=0)


def _sentences_with_a_number(problem: Problem) -> list[tuple[tuple[str, ...], Fraction]]:
    """Return the sentences of a problem, but its question, that have one number, and that number."""
    found, start = [], 0
    for k, word in enumerate(problem.words):
        if word in _STOPS:
            sentence, start = problem.words[start : k + 1], k + 1
            places = [int(match[1]) for match in map(NUMBER.fullmatch, sentence) if match]
            if word == "." and len(places) == 1 and places[0] < len(problem.numbers):
                found.append((sentence, problem.numbers[places[0]]))
    return found


class Attention(nn.Module):
    """A layer of a Transformer that is told how far words are apart, and which are the same, in each head's bias."""

    def __init__(self, width: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads, self.dropout = n_heads, dropout
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        # Before training one head sees equal words, others near ones, those before and those behind.
        distance = torch.arange(-_FARTHEST, _FARTHEST + 1.0)
        looks = (0 * distance, -distance.abs() / 2, -(distance + 2).abs(), -(distance - 2).abs())
        self.distance = nn.Parameter(torch.stack([looks[k % 4] for k in range(n_heads)]))
        self.same = nn.Parameter(torch.tensor([2.0, *[0.0] * (n_heads - 1)]))

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """Return (k, n, width) of the same shape."""
        k, n, width = x.shape
        query, key, value = self.all(self.first(x)).reshape(k, n, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        at = torch.arange(n)
        bias = self.distance[:, (at - at[:, None]).clamp(-_FARTHEST, _FARTHEST) + _FARTHEST]
        is_same = (ids[:, :, None] == ids[:, None]) & (ids[:, :, None] > AT_NUMBER) & (at != at[:, None])
        bias = bias + self.same[:, None, None] * is_same[:, None]
        weights = query @ key.transpose(-1, -2) * key.shape[-1] ** -0.5 + bias
        weights = weights.masked_fill((ids == PAD)[:, None, None], -torch.inf).softmax(dim=-1)
        x = x + self._dropped(self.out((weights @ value).transpose(1, 2).reshape(k, n, width)))
        return x + self._dropped(self.narrow(self._dropped(self.wide(self.second(x)).relu())))

    def _dropped(self, x: torch.Tensor) -> torch.Tensor:
        return dropped(x, self.dropout, training=self.training)


def dropped(x: torch.Tensor, share: float, *, training: bool) -> torch.Tensor:
    """Return what functional.dropout does, in half of its time on a processor."""
    return x * ((torch.rand(x.shape) >= share).float() / (1 - share)) if training else x


class Solver(nn.Module):
    """Reads a problem and writes its answer from its numbers, constants, and one operation or two."""

    def __init__(
        self,
        reader: Reader,
        constants: Sequence[Any],
        *,
        width: int,
        layers: int,
        heads: int,
        key_features: int,
        dropout: tuple[float, float],
        steps: int,
    ) -> None:
        super().__init__()
        self.reader, self.dropout = reader, dropout
        self.words = nn.Embedding(reader.n_ids, width, padding_idx=PAD)
        self.endings = nn.Embedding(len(ENDINGS), width)
        nn.init.normal_(self.words.weight, std=0.3)
        nn.init.normal_(self.endings.weight, std=0.1)
        self.features, self.question = nn.Linear(4, width), nn.Parameter(0.1 * torch.randn(width))
        self.layers = nn.ModuleList(Attention(width, heads, dropout[0]) for _ in range(layers))
        self.norm, self.looks = nn.LayerNorm(width), nn.Linear(width, 2)
        self.state = nn.Linear(3 * width, width)
        self.head = OperationHead(width, constants=constants, key_features=key_features, steps=steps)

    def forward(self, batch: Batch) -> Any:
        """Return what the head says."""
        is_word = batch.ids != PAD
        x = self.words(batch.ids) + self.endings(batch.endings) + self.features(batch.features)
        x = self._dropped(x + batch.is_question[..., None] * self.question, 0)
        for layer in self.layers:
            x = layer(x, batch.ids)
        x = self._dropped(self.norm(x), 1)
        looks = self.looks(x).unbind(dim=-1)
        seen = [
            (look.masked_fill(~where, -torch.inf).softmax(dim=1)[..., None] * x).sum(dim=1)
            for look, where in zip(looks, (is_word, batch.is_question), strict=True)
        ]
        greatest = x.masked_fill(~is_word[..., None], -torch.inf).amax(dim=1)
        state = self._dropped(self.state(torch.cat([*seen, greatest], dim=-1)).tanh(), 1)
        memory = x.gather(1, batch.places[..., None].expand(-1, -1, x.shape[-1]))
        return self.head(state, memory, batch.numbers)

    def _dropped(self, x: torch.Tensor, which: int) -> torch.Tensor:
        return dropped(x, self.dropout[which], training=self.training)

    def loss(self, problems: Sequence[Problem], rng: np.random.Generator | None = None) -> torch.Tensor:
        """Return −log of the probability of the answers."""
        loss, _ = self.head.loss(self(self.reader(problems, rng)), exact_numbers([p.answer for p in problems]))
        return loss

    @torch.no_grad()
    def probability(self, problem: Problem) -> float:
        """Return the probability of the answer, of all its derivations together; 0 where it has none."""
        loss, has = self.head.loss(self(self.reader([problem])), exact_numbers([problem.answer]))
        return float(loss.neg().exp() * has)

    @torch.no_grad()
    def write(self, problems: Sequence[Problem]) -> WrittenNumbers:
        """Return the numbers that are written, and how they came about."""
        return self.head.decode(self(self.reader(problems)))


class Templates:
    """Without a network: which derivation is the most frequent for these words, on the numbers in their order.

    Naive Bayes over single words and pairs of neighbours. A derivation is a template, "the first number minus the
    second"; which one of those that give an answer was meant is settled by expectation and maximization.
    """

    def __init__(self, problems: Sequence[Problem], *, prior: float = 0.3, rounds: int = 10) -> None:
        counts = Counter(word for problem in problems for word in _words(problem))
        self._words = {word: k for k, word in enumerate(word for word, n in counts.items() if n > 1)}
        known = [[(len(p.numbers), *one) for one in templates(p)] for p in problems]
        self._templates = list(dict.fromkeys(one for found in known for one in found))
        places = {one: k for k, one in enumerate(self._templates)}
        seen = np.stack([self._vector(problem) for problem in problems])
        is_possible = np.zeros((len(problems), len(places)), dtype=bool)
        for row, found in enumerate(known):
            is_possible[row, [places[one] for one in found]] = True
        shares = is_possible / np.maximum(is_possible.sum(axis=1, keepdims=True), 1)
        smooth = prior * len(self._words) * seen.mean(axis=0) / seen.mean(axis=0).sum()
        for _ in range(rounds):
            weights = shares.T @ seen + smooth
            self._logs = np.log(weights / weights.sum(axis=1, keepdims=True))
            self._base = np.log(shares.sum(axis=0) + 1e-3)
            scores = np.where(is_possible, seen @ self._logs.T + self._base, -np.inf)
            scores -= np.where(is_possible.any(axis=1, keepdims=True), scores.max(axis=1, keepdims=True), 0)
            shares = np.exp(scores)
            shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)

    def _vector(self, problem: Problem) -> Any:
        found = np.zeros(len(self._words), dtype=np.float32)
        found[[self._words[word] for word in _words(problem) if word in self._words]] = 1
        return found

    def write(self, problems: Sequence[Problem]) -> WrittenNumbers:
        """Return the values of the templates, those of equal values together."""
        numbers: list[Fraction | None] = []
        texts, likely, choices = [], [], []
        for problem in problems:
            scores = self._logs @ self._vector(problem) + self._base
            scores[[one[0] != len(problem.numbers) for one in self._templates]] = -np.inf
            shares = np.exp(scores - max(scores.max(), -1e300))
            sums: dict[Fraction, float] = defaultdict(float)
            best: dict[Fraction, Any] = {}
            for k in np.argsort(-shares)[:20]:
                choice = self._templates[k][1:]
                value = _value(choice, problem.numbers) if shares[k] > 0 else None
                if value is not None:
                    sums[value] += float(shares[k] / shares.sum())
                    best.setdefault(value, choice)
            value = max(sums, key=lambda one: sums[one], default=None)
            numbers.append(value)
            choices.append(None if value is None else best[value])
            texts.append(None if value is None else choice_text(best[value], problem.numbers))
            likely.append(0.0 if value is None else sums[value])
        return WrittenNumbers(np.array(numbers, object), np.array(texts, object), np.array(likely), choices)


def _words(problem: Problem) -> set[str]:
    words = ["#" if NUMBER.fullmatch(word) else word for word in problem.words]
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


def templates(problem: Problem) -> list[Choice]:
    """Return the derivations of a problem's answer: one operation on two numbers, or one more on its result.

    >>> templates(Problem((), (Fraction(3), Fraction(5), Fraction(2)), Fraction(16)))
    [('*', ('+', 0, 1), 2), ('*', 2, ('+', 0, 1))]
    """
    floats, answer = [float(q) for q in problem.numbers], float(problem.answer)
    places, found = range(len(floats)), []
    for name, i, j in product(_FLOATS, places, places):
        if i == j or (name in "+*" and i > j):
            continue
        first = _FLOATS[name](floats[i], floats[j])
        longer = (
            (o, *pair)
            for o in _FLOATS
            for k in places
            if k not in (i, j)
            for pair in (((name, i, j), k), (k, (name, i, j)))
        )
        near = [(name, i, j)] if _is_near(first, answer) else []
        for o, a, b in longer:
            x, y = (first if isinstance(side, tuple) else floats[side] for side in (a, b))
            if _is_near(_FLOATS[o](x, y), answer):
                near.append((o, a, b))
        found += [one for one in near if _value(one, problem.numbers) == problem.answer]
    return found


_FLOATS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.nan,
}


def _is_near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * (1 + abs(b))


def _value(choice: Choice, numbers: Sequence[Fraction]) -> Fraction | None:
    try:
        return choice_value(choice, numbers)
    except ZeroDivisionError:
        return None
