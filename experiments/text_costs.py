"""Measure what numbers with operations cost a language model: time, and its perplexity of text without numbers.

    python experiments/text_costs.py step          # a training step, and a number that is written
    python experiments/text_costs.py perplexity    # of English prose, before and after equip and training

`step`: 32 texts of 96 tokens with 0, 2, 10 or 40 numbers, and one more after, which is learned (a word where there are
none). A small Llama of Transformers takes steps (forward, backward, AdamW) plain, equipped without operations, with
four (also where all tokens are learned), with twelve, and with these on numbers of 25 digits, of which gcd and
remainders are computed as Python integers. The plain model reads the same tokens. Then each writes one number after
every text. Runs alternate; CPU seconds of one thread, medians.

`perplexity`: a small GPT-2 learns English prose from nothing: sentences without digits of the language reference that
comes with Python (`pydoc_data.topics`; PSF License), a tenth of them held out. What it says of these is compared with
what it says once it is equipped, and once it has learned arithmetic in words for some hundred steps: from batches of
that alone, and from batches of which half is prose. The same model without `equip`, for which numbers are digits,
learns the same batches; so one sees which loss is due to the new token, and which to learning other texts.
"""

import copy
import functools
import itertools
import math
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any, Literal

import common
import torch
from text_models import descended, small_llama, word_tokenizer
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from adelic import AdeleSpace
from adelic.integrations.transformers import NumberCollator, NumberTokenizer, equip

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
FOUR = ("+", "-", "*", "/")
TWELVE = (*FOUR, "gcd", "lcm", "lcd", "%", "//", "divides", "distance", "min")
VARIANTS: dict[str, tuple[tuple[str, ...], int, bool]] = {
    "equipped": ((), 1000, False),
    "four operations": (FOUR, 1000, False),
    "four, all learned": (FOUR, 1000, True),
    "twelve operations": (TWELVE, 1000, False),
    "twelve, 25 digits": (TWELVE, 10**25, False),
}
"""By name: operations, what the numbers are below, and whether all tokens are learned, not the last one alone."""
SIZES = {"2 layers, width 64": (2, 64), "4 layers, width 256": (4, 256)}
NUMBERS, BATCH, LENGTH = (0, 2, 10, 40), 32, 96
WORDS = ("and", "is", "of", "the", "=")
RATE = 3e-3
SHARES = {"arithmetic alone": 0.0, "half prose": 0.5}
PACKAGES = ("adelic", "torch", "transformers")
Example = str | dict[str, str]


def step(
    *,
    repetitions: common.Positive = 7,
    numbers: tuple[int, ...] = NUMBERS,
    sizes: tuple[Literal[*SIZES], ...] = tuple(SIZES),
    output: Path | None = None,
) -> None:
    """Measure training steps and numbers that are written, and write what they cost.

    Args:
        repetitions: the median counts.
        numbers: in a text.
        sizes: of the model.
        output: file of the results.
    """
    torch.set_num_threads(1)
    rows = []
    for size, n in itertools.product(sizes, numbers):
        row = {"model": size, "numbers": n} | measured(SIZES[size], n, repetitions)
        rows.append(row)
        ratios = ", ".join(f"{name} ×{one['step']:.2f}" for name, one in row["ratios"].items())
        common.say(f"{size}, {n} numbers: plain {1000 * row['plain_step']:.0f} ms; {ratios}")
    operations = {name: of for name, (of, *_) in VARIANTS.items()}
    found = {"batch": BATCH, "length": LENGTH, "operations": operations, "rows": rows}
    common.write("text_costs_step.json", PACKAGES, found, output)


def measured(size: tuple[int, int], n: int, repetitions: int) -> dict[str, Any]:
    """Return seconds of the plain model, and ratios of the others to it: of a step, its collator's, of writing."""
    runs: dict[str, Callable[[], Any]] = {}
    for name, (operations, below, is_all) in VARIANTS.items():
        model, tokenizer = equipped(size, operations)
        collator, texts = NumberCollator(tokenizer, "causal"), examples(n, below)
        learned = ["".join(text.values()) for text in texts] if is_all else texts
        batch = collator(learned)
        assert batch["input_ids"].shape == (BATCH, LENGTH)
        prompts = tokenizer([text["prompt"] for text in texts])
        if not operations:
            plain = {key: batch[key] for key in ("input_ids", "attention_mask", "labels")}
            never = [k for k in range(len(tokenizer.tokenizer)) if k != tokenizer.token_id]
            bare = llama(size, len(tokenizer.tokenizer))
            runs["plain step"] = trainer(bare, plain)
            read = {key: prompts[key] for key in tuple(plain)[:2]}
            runs["plain written"] = functools.partial(written, bare, read, never)
        runs[f"{name} step"] = trainer(model, batch)
        runs[f"{name} collator"] = functools.partial(collator, learned)
        runs[f"{name} written"] = functools.partial(written, model, dict(prompts), never)
    seconds = common.medians(common.interleaved(runs, repetitions, time.process_time))
    ratios = {
        name: {
            "step": seconds[f"{name} step"] / seconds["plain step"],
            "collator": seconds[f"{name} collator"] / seconds["plain step"],
            "share_of_collator": 1 / (1 + seconds[f"{name} step"] / seconds[f"{name} collator"]),
            "written": seconds[f"{name} written"] / seconds["plain written"],
        }
        for name in VARIANTS
    }
    plain = {"plain_step": seconds["plain step"], "plain_written": seconds["plain written"]}
    return plain | {"ratios": ratios, "seconds": seconds}


def examples(n: int, below: int) -> list[dict[str, str]]:
    """Return texts of LENGTH words with n numbers, and the sum of two of these at the end.

    >>> examples(2, 9)[0]["completion"], len(examples(40, 9)[0]["prompt"].split())
    (' 14', 95)
    """
    rng, texts = random.Random(0), []
    for _ in range(BATCH):
        words = [WORDS[i % 4] for i in range(LENGTH - 2)] + ["=", "and"]
        numbers = [rng.randrange(below // 2, below) for _ in range(n)]
        for i, number in enumerate(numbers):
            words[(2 * i + 1) * (LENGTH - 2) // (2 * n)] = str(number)
        if n:
            words[-1] = str(sum(rng.sample(numbers, 2)))
        texts.append({"prompt": " ".join(words[:-1]), "completion": f" {words[-1]}"})
    return texts


def llama(size: tuple[int, int], vocabulary: int) -> Any:
    """Return the plain model."""
    torch.manual_seed(0)
    return small_llama(vocabulary, layers=size[0], width=size[1])


def equipped(size: tuple[int, int], operations: tuple[str, ...]) -> tuple[Any, NumberTokenizer]:
    """Return an equipped Llama and its tokenizer."""
    tokenizer = word_tokenizer(WORDS)
    options = {"real_scale": 100, "max_numerator": 2000, "operations": operations}
    return equip(llama(size, len(tokenizer)), tokenizer, SPACE, **options), NumberTokenizer(tokenizer)


def trainer(model: Any, batch: dict[str, torch.Tensor]) -> Callable[[], None]:
    """Return what makes a step."""
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

    def take() -> None:
        model.train()
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return take


def written(model: Any, prompts: dict[str, torch.Tensor], never: list[int]) -> Any:
    """Return what a model writes after prompts: one token, and none of some."""
    return model.eval().generate(**prompts, max_new_tokens=1, do_sample=False, suppress_tokens=never)


def perplexity(
    *,
    prose_steps: common.Positive = 1500,
    steps: common.Positive = 300,
    seeds: tuple[int, ...] = (0, 1, 2),
    sentences: int | None = None,
    output: Path | None = None,
) -> None:
    """Measure the perplexity of prose before and after equip and training, and write it.

    Args:
        prose_steps: of learning prose.
        steps: of learning arithmetic.
        seeds: of these steps.
        sentences: of prose; by default all.
        output: file of the results.
    """
    torch.set_num_threads(1)
    every = prose()[:sentences]
    held_out = every[::10]
    train = [sentence for k, sentence in enumerate(every) if k % 10]
    plain, tokenizer = learned(train, prose_steps)
    n, with_numbers = len(tokenizer), copy.deepcopy(tokenizer)
    model = equip(copy.deepcopy(plain), with_numbers, SPACE, real_scale=100, operations=FOUR)
    readers = {"plain": (plain, tokenizer), "equipped": (model, NumberTokenizer(with_numbers))}
    said = {name: logits_of(*reader, held_out) for name, reader in readers.items()}
    pairs = [(a, b[:, :n]) for (a, _), (b, _) in zip(*said.values(), strict=True)]
    rows = [{"model": name} | scores(found, n) for name, found in said.items()]
    for seed, (title, share), (name, (start, reader)) in itertools.product(seeds, SHARES.items(), readers.items()):
        torch.manual_seed(seed)
        tuned = copy.deepcopy(start)
        fit(tuned, reader, mixed(train, share, seed), steps)
        row = {"model": f"{name}, {title}", "seed": seed} | scores(logits_of(tuned, reader, held_out), n)
        rows.append(row | ({"arithmetic": right(tuned, reader, seed)} if name == "equipped" else {}))
        common.say(", ".join(f"{key} {value}" for key, value in rows[-1].items()))
    found = {"sentences": [len(train), len(held_out)], "characters": sum(map(len, every)), "vocabulary": n}
    found["bit_for_bit_equal"] = all(torch.equal(a, b) for a, b in pairs)
    found["greatest_difference_of_logits"] = max(float((a - b).abs().max()) for a, b in pairs)
    common.write("text_costs_perplexity.json", PACKAGES, found | {"steps": steps, "rows": rows}, output)


def prose() -> list[str]:
    """Return the sentences of Python's language reference without digits and of at most 300 characters, each once.

    >>> len(prose()) > 1000, any(character.isdigit() for sentence in prose() for character in sentence)
    (True, False)
    """
    found = []
    for paragraph in re.split(r"\n\s*\n", "\n\n".join(topics.values())):
        if not paragraph.startswith("    ") and "::=" not in paragraph:  # programs and grammar
            found += re.split(r"(?<=[.:;?!])\s+(?=[A-Z*])", " ".join(paragraph.split()).replace('"', ""))
    is_prose = re.compile(r"[^\W\d][^\W\d\s]*(?:[\s.,:;'()*/-]+[^\W\d]+){4,}[\s.,:;'()*]*")
    return list(dict.fromkeys(text for text in found if len(text) <= 300 and is_prose.fullmatch(text)))


def learned(train: Sequence[str], steps: int) -> tuple[GPT2LMHeadModel, PreTrainedTokenizerFast]:
    """Return a small GPT-2 that has learned sentences in so many steps, and its tokenizer."""
    pieces = ByteLevelBPETokenizer()
    pieces.train_from_iterator(train, vocab_size=1000, special_tokens=["<|end|>"], show_progress=False)
    names = {"eos_token": "<|end|>", "pad_token": "<|end|>", "model_input_names": ["input_ids", "attention_mask"]}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces._tokenizer, **names)
    torch.manual_seed(0)
    sizes = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 320}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes, bos_token_id=0, eos_token_id=0))
    fit(model, tokenizer, mixed(train, 1.0, 0), steps)
    return model, tokenizer


def mixed(train: Sequence[str], share: float, seed: int) -> Iterator[list[Example]]:
    """Yield batches without end, a share of each prose, the rest arithmetic."""
    rng = random.Random(seed)
    count = round(share * BATCH)
    while True:
        yield [*rng.choices(train, k=count), *(question(rng) for _ in range(BATCH - count))]


def question(rng: random.Random, below: int = 100) -> dict[str, str]:
    """Return a question in words and its answer.

    >>> question(random.Random(0))
    {'prompt': 'The sum of 59 and 63 is', 'completion': ' 122'}
    """
    a, b = rng.randrange(below // 10, below), rng.randrange(below // 10, below)
    values = {"sum": a + b, "difference": a - b, "product": a * b, "quotient": Fraction(a, b)}
    name = rng.choice(list(values))
    return {"prompt": f"The {name} of {a} and {b} is", "completion": f" {values[name]}"}


def fit(model: Any, tokenizer: Any, batches: Iterator[list[Example]], steps: int) -> None:
    """Train a model for so many steps, with a rate that falls to 0."""
    losses = (model(**labelled(tokenizer, texts)).loss for texts in batches)
    progress = (step / steps for step in range(steps + 1))
    for _ in descended(model.train(), losses, progress.__next__, lambda done: RATE * (1 - done)):
        pass


def labelled(tokenizer: Any, examples: Sequence[Example]) -> dict[str, torch.Tensor]:
    """Return a batch in which all tokens are learned, of questions those of the answers alone."""
    if isinstance(tokenizer, NumberTokenizer):
        return NumberCollator(tokenizer, "causal")(examples)
    prompts, texts = zip(*(("", one) if isinstance(one, str) else one.values() for one in examples), strict=True)
    whole = [prompt + text for prompt, text in zip(prompts, texts, strict=True)]
    batch = dict(tokenizer(whole, padding=True, return_tensors="pt"))
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    for row, prompt in enumerate(prompts):
        labels[row, : len(tokenizer(prompt)["input_ids"])] = -100
    return batch | {"labels": labels}


@torch.no_grad()
def logits_of(model: Any, tokenizer: Any, sentences: Sequence[str]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the logits after each token of sentences but the last, and the tokens that follow, in batches."""
    model.eval()
    found = []
    for at in range(0, len(sentences), BATCH):
        batch = labelled(tokenizer, sentences[at : at + BATCH])
        is_next = batch["labels"][:, 1:] != -100
        found.append((model(**batch).logits[:, :-1][is_next], batch["input_ids"][:, 1:][is_next]))
    return found


def scores(found: Sequence[tuple[torch.Tensor, torch.Tensor]], vocabulary: int) -> dict[str, float]:
    """Return perplexities of tokens, and the probability of what is beyond the vocabulary of before."""
    logits, ids = (torch.cat(parts) for parts in zip(*found, strict=True))
    every, old = logits.log_softmax(-1), logits[:, :vocabulary].log_softmax(-1)
    at = torch.arange(len(ids))
    return {
        "perplexity": math.exp(-every[at, ids].mean()),
        "perplexity_without_the_number_token": math.exp(-old[at, ids].mean()),
        "probability_of_the_number_token": float(every[:, vocabulary:].exp().sum(-1).mean()),
    }


def right(model: Any, tokenizer: NumberTokenizer, seed: int) -> float:
    """Return the share of right answers to 200 questions of numbers from 100 to 999, larger than those learned."""
    rng = random.Random(seed)
    asked = [question(rng, 1000) for _ in range(200)]
    prompts = tokenizer([one["prompt"] for one in asked], padding_side="left")
    # Of two tokens: in byte-level tokenizers the blank before a number is one.
    said = model.eval().generate(**prompts, max_new_tokens=2, do_sample=False, pad_token_id=0).numbers[:, -1]
    return sum(f" {value}" == one["completion"] for value, one in zip(said, asked, strict=True)) / len(asked)


if __name__ == "__main__":
    common.run(step, perplexity)
