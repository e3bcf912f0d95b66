"""Word problems in English, learned from answers alone: MAWPS, ASDiv-A and SVAMP, of the repository arkilpatel/SVAMP.

    python experiments/text_word_problems.py run DATA_FOLDER --dataset asdiv-a --fold 0 --seed 0
    python experiments/text_word_problems.py run DATA_FOLDER --dataset svamp --model table
    python experiments/text_word_problems.py tables              # Markdown

DATA_FOLDER is the folder `data` of that repository (Patel, Bhattamishra, Goyal, arXiv 2103.07191); its texts are not
ours. `run` trains on one fold for so many CPU seconds of one thread and answers its test problems, as they are and
without their questions. It reads the words, numbers and answers of training problems, and never an equation. It writes
a JSON with what was written for each test problem: the number, its derivation, which numbers of the problem it takes,
and its probability. An answer is right if it is within 1/10,000 of the right one, as in that repository.

With `--validation` a random fifth of the training problems is answered instead, and the test problems are not read. The
settings come from about ten such runs, of this script and of prototypes, on training problems of the first folds (which
are test problems of other folds); none was changed after a test. Two were not chosen so: the constants are frequent
ones of MAWPS' equations, which a person looked at, and irrelevant sentences are put in for SVAMP since its paper says
that it has such.
"""

import copy
import csv
import math
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import common
import numpy as np
import pandas as pd
import torch
from text_models import descended
from torch import nn

from adelic.cli.options import Flag
from adelic.nn import OperationHead, WrittenNumbers, exact_numbers
from adelic.nn.heads.exact import Choice, choice_text, choice_value
from adelic_lab.report.table import Table

FOLDER = common.RESULTS / "text_word_problems"
DATASETS = {"mawps": ("cv_mawps", 5), "asdiv-a": ("cv_asdiv-a", 5), "svamp": ("mawps-asdiv-a_svamp", 1)}
"""By name: the folder, and how many folds it has."""
CONSTANTS = {"mawps": (1, 2, 7, 12, 100), "asdiv-a": (), "svamp": (1, 2, 7, 12, 100)}
"""Numbers that a derivation may take though the text has none such: one, a half, weeks, dozens, percent and cents."""
SECONDS = {"mawps": 120.0, "asdiv-a": 120.0, "svamp": 300.0}
SETTINGS = {"width": 64, "layers": 2, "heads": 4, "key_features": 64, "dropout": (0.3, 0.4), "steps": 2}
SETTINGS |= {"rate": 2e-3, "decay": 0.01, "batch": 32, "unknown": 0.15}
IRRELEVANT = {"mawps": 0.0, "asdiv-a": 0.0, "svamp": 0.5}
"""The share of training problems into which an irrelevant sentence of another one is put."""
MODELS = {"table": "table without a network (answers)", "operations": "operations (answers)"}
PUBLISHED = {
    "Seq2Seq (equations)": (79.7, 55.5, 24.2),
    "GTS (equations)": (82.6, 71.4, 30.8),
    "Graph2Tree (equations)": (83.7, 77.4, 36.5),
    "Graph2Tree with RoBERTa (equations)": (88.7, 82.2, 43.8),
}
NUMBER = re.compile(r"number(\d+)")
ENDINGS = ("", "s", "es", "ies", "ed", "ing")
_STOPS = (".", "?", "!")
PAD, AT_NUMBER, STRANGERS = 0, 1, 24
"""Ids: padding, a number, then so many for words that were not learned, each the same all through a problem."""
_FARTHEST = 16


def run(
    data: Path,
    *,
    dataset: Literal[*DATASETS],
    fold: int = 0,
    seed: int = 0,
    model: Literal[*MODELS] = "operations",
    seconds: float | None = None,
    validation: Flag = False,
    folder: Path = FOLDER,
) -> None:
    """Train and test one model, unless that was done, and write what came of it.

    Args:
        data: the folder of the published data.
        dataset: which of them.
        fold: of the dataset.
        seed: of weights and batches.
        model: which.
        seconds: of one core; by default those of the dataset.
        validation: answer a fifth of the training problems.
        folder: of the results.
    """
    path = folder / f"{dataset}-{fold}-{model}-{seed}.json"
    if path.exists() and not validation:
        common.say(f"{path} is there")
        return
    torch.set_num_threads(1)
    train, tests = read(data, dataset, fold, validation=validation, seed=seed)
    told: dict[str, Any] = {"constants": CONSTANTS[dataset], **SETTINGS, "irrelevant": IRRELEVANT[dataset]}
    told["seconds"] = seconds or SECONDS[dataset]
    start = time.process_time()
    torch.manual_seed(seed)
    if model == "table":  # constants make so many templates that it takes minutes
        told, about = {"constants": (), "steps": 2}, {}
        made: Any = Templates(train)
    else:
        made, about = trained(train, told, seed)
    spent = round(time.process_time() - start, 1)
    found = {"dataset": dataset, "fold": fold, "model": model, "seed": seed, "train": len(train), "told": told}
    found |= {"seconds": spent, **about} | {name: answered(made, problems) for name, problems in tests.items()}
    shares = [100 * statistics.mean(found[name]["right"]) for name in ("test", "without")]
    common.say("{}: {:.1f} %, without question {:.1f} %".format(path.stem, *shares))
    if not validation:
        common.write(path.name, ("adelic", "torch", "numpy"), found, path)
    else:
        likely = [made.probability(problem) for problem in tests["test"]]
        common.say(f"  mean probability of the answers {100 * statistics.mean(likely):.2f} {told} {about}")


def tables(*, folder: Path = FOLDER) -> None:
    """Write Markdown of the results.

    Args:
        folder: of the results.
    """
    sys.stdout.write("\n".join(table.to_markdown() for table in tables_of(common.read(folder))))


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
    word, so the network learns to do with what stands where again; and in a share `irrelevant` of the problems a
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
            ends = [k for k, word in enumerate(problem.words[:-1]) if word in _STOPS]
            is_question[row, max(ends, default=-1) + 1 : len(problem.words)] = True
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
        # Before training one head sees equal words, others near ones, those before and those after.
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

    def __init__(self, reader: Reader, told: Mapping[str, Any]) -> None:
        super().__init__()
        width, self.reader, self.dropout = told["width"], reader, told["dropout"]
        self.words = nn.Embedding(reader.n_ids, width, padding_idx=PAD)
        self.endings = nn.Embedding(len(ENDINGS), width)
        nn.init.normal_(self.words.weight, std=0.3)
        nn.init.normal_(self.endings.weight, std=0.1)
        self.features, self.question = nn.Linear(4, width), nn.Parameter(0.1 * torch.randn(width))
        self.layers = nn.ModuleList(Attention(width, told["heads"], self.dropout[0]) for _ in range(told["layers"]))
        self.norm, self.looks = nn.LayerNorm(width), nn.Linear(width, 2)
        self.state = nn.Linear(3 * width, width)
        self.head = OperationHead(width, **{name: told[name] for name in ("constants", "key_features", "steps")})

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
        values, texts, shares, choices = zip(*map(self._written, problems), strict=True)
        return WrittenNumbers(np.array(values, object), np.array(texts, object), np.array(shares), list(choices))

    def _written(self, problem: Problem) -> tuple[Fraction | None, str | None, float, Choice | None]:
        scores = self._logs @ self._vector(problem) + self._base
        scores[[one[0] != len(problem.numbers) for one in self._templates]] = -np.inf
        shares = np.exp(scores - max(scores.max(), -1e300))
        sums: dict[Fraction, float] = defaultdict(float)
        best: dict[Fraction, Choice] = {}
        for k in np.argsort(-shares)[:20]:
            choice = self._templates[k][1:]
            value = _value(choice, problem.numbers) if shares[k] > 0 else None
            if value is not None:
                sums[value] += float(shares[k] / shares.sum())
                best.setdefault(value, choice)
        if not sums:
            return None, None, 0.0, None
        value = max(sums, key=sums.__getitem__)
        return value, choice_text(best[value], problem.numbers), sums[value], best[value]


def _words(problem: Problem) -> set[str]:
    words = ["#" if NUMBER.fullmatch(word) else word for word in problem.words]
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


def templates(problem: Problem) -> list[Choice]:
    """Return the derivations of a problem's answer: one operation on two numbers, or one more on its result.

    >>> templates(Problem((), (Fraction(3), Fraction(5), Fraction(2)), Fraction(16)))
    [('*', ('+', 0, 1), 2), ('*', 2, ('+', 0, 1))]
    """
    found: list[Choice] = []
    places = range(len(problem.numbers))
    for name, i, j in product("+-*/", places, places):
        if i != j and not (name in "+*" and i > j):
            one = (name, i, j)
            rest = [k for k in places if k not in (i, j)]
            found += [one, *((o, *pair) for o, k in product("+-*/", rest) for pair in ((one, k), (k, one)))]
    return [choice for choice in found if _value(choice, problem.numbers) == problem.answer]


def _value(choice: Choice, numbers: Sequence[Fraction]) -> Fraction | None:
    try:
        return choice_value(choice, numbers)
    except ZeroDivisionError:
        return None


def read(
    folder: Path, dataset: str, fold: int, *, validation: bool, seed: int
) -> tuple[list[Problem], dict[str, list[Problem]]]:
    """Return the training problems, and the test problems as they are ("test") and without questions ("without")."""
    name, n_folds = DATASETS[dataset]
    of_fold = f"fold{fold}" if n_folds > 1 else ""
    if fold not in range(n_folds):
        raise SystemExit(f"{dataset} has the folds 0 to {n_folds - 1}, not {fold}")
    train = problems_of(folder / name / of_fold / "train.csv", "Question")
    if validation:
        order = np.random.default_rng(1000 + seed).permutation(len(train)).tolist()
        held, rest = ([train[i] for i in part] for part in (order[: len(order) // 5], order[len(order) // 5 :]))
        return rest, {"test": held, "without": held}
    test = folder / name / of_fold / "dev.csv"
    return train, {"test": problems_of(test, "Question"), "without": problems_of(test, "Body")}


def problems_of(path: Path, column: str) -> list[Problem]:
    """Return the problems of a CSV file, by the column that has the text; the column Equation is not read."""
    found = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            numbers = tuple(number(text) for text in row["Numbers"].split())
            found.append(Problem(tuple(row[column].lower().split()), numbers, number(row["Answer"])))
    return found


def number(text: str) -> Fraction:
    """Return the number that a decimal stands for, 1/3 for 0.333333: thirds and sixths are written so there.

    >>> number("0.8333333333333334"), number("142.46"), number("17.0")
    (Fraction(5, 6), Fraction(7123, 50), Fraction(17, 1))
    """
    return Fraction(text).limit_denominator(1000)


def trained(train: Sequence[Problem], told: Mapping[str, Any], seed: int) -> tuple[Solver, dict[str, Any]]:
    """Return a model that was trained for so many CPU seconds; its weights are means over the last steps."""
    start, steps = time.process_time(), 0
    model = Solver(Reader(train, unknown=told["unknown"], irrelevant=told["irrelevant"]), told)
    mean = copy.deepcopy(model)
    rng = np.random.default_rng(seed)
    every = batches([len(problem.words) for problem in train], told["batch"], rng)
    losses = (model.loss([train[i] for i in chosen], rng) for chosen in every)

    def progress() -> float:
        return (time.process_time() - start) / told["seconds"]

    def rate(done: float) -> float:
        return told["rate"] * min(1.0, done / 0.05 + 0.01) * max(0.01, math.cos(done * math.pi / 2) ** 2)

    options = {"betas": (0.9, 0.98), "weight_decay": told["decay"], "foreach": True}
    for steps, _ in enumerate(descended(model, losses, progress, rate, **options), start=1):
        with torch.no_grad():
            torch._foreach_lerp_([*mean.parameters()], [*model.parameters()], max(0.005, 1 / (steps + 1)))
    parameters = sum(weight.numel() for weight in model.parameters())
    return mean.eval(), {"steps": steps, "epochs": round(steps * told["batch"] / len(train)), "parameters": parameters}


def batches(lengths: Sequence[int], size: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Yield batches without end, each of problems of about one length, each problem once an epoch."""
    while True:
        near = np.argsort(np.asarray(lengths) + rng.normal(0, 4, len(lengths)))
        parts = [near[k : k + size].tolist() for k in range(0, len(near), size)]
        yield from (parts[k] for k in rng.permutation(len(parts)).tolist())


def answered(model: Any, problems: Sequence[Problem]) -> dict[str, Any]:
    """Return what is written for each problem: value, derivation, choice, probability, and which are right."""
    found: dict[str, list[Any]] = defaultdict(list)
    for start in range(0, len(problems), 50):
        part = problems[start : start + 50]
        written = model.write(part)
        values = [None if value is None else str(value) for value in written.values]
        found["values"] += values
        found["derivations"] += [None if text is None else str(text) for text in written.derivations]
        found["choices"] += [None if choice is None else list(choice) for choice in written.choices]
        found["probabilities"] += [round(float(p), 4) for p in written.probabilities]
        found["right"] += [is_right(value, p.answer) for value, p in zip(written.values, part, strict=True)]
    return found


def is_right(value: Fraction | None, answer: Fraction) -> bool:
    """Return whether a number is the right one, or within 1/10,000 of it."""
    return value is not None and abs(value - answer) < Fraction(1, 10_000)


def tables_of(results: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return the tables of all results: right answers, and what each model was told and took."""
    runs = pd.DataFrame(results)
    rows = [(name, *(f"{percent:.1f}" for percent in percents)) for name, percents in PUBLISHED.items()]
    for model, title in MODELS.items():
        for part, words in (("test", ""), ("without", ", questions cut off")):
            chosen = (runs[(runs["model"] == model) & (runs["dataset"] == name)] for name in DATASETS)
            rows.append((title + words, *(common.mean_percent(pooled(group, part), 1) for group in chosen)))
    about = []
    for (model, name), group in runs.groupby(["model", "dataset"]):
        means = [f"{group[key].fillna(0).mean():,.0f}" for key in ("seconds", "steps", "parameters")]
        told = ", ".join(f"{key} {value}" for key, value in group["told"].iloc[0].items())
        seeds = group["seed"].nunique()
        about.append((model, name, *means, f"{seeds} × {len(group) // seeds}", told))
    notes = (
        "Right answers in percent of all test problems of a data set's folds; mean and standard deviation over seeds.",
        "The published models learn from equations (arXiv 2103.07191), those below from answers alone.",
    )
    head = ("model", "dataset", "CPU seconds a fold", "steps", "parameters", "seeds × folds", "what is told")
    return [Table.of(("model", *DATASETS), rows, notes, "Word problems"), Table.of(head, about, (), "Models")]


def pooled(runs: pd.DataFrame, part: str) -> list[float]:
    """Return for each seed of which all folds were run the share of right answers."""
    return [
        statistics.mean(right for found in group[part] for right in found["right"])
        for _, group in runs.groupby("seed")
        if group["fold"].nunique() == DATASETS[group["dataset"].iloc[0]][1]
    ]


if __name__ == "__main__":
    common.run(run, tables)
