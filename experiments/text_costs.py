"""Measure the time that numbers with operations cost a language model.

    python experiments/text_costs.py

32 texts of 96 tokens with 0, 2, 10 or 40 numbers, and one more behind, which is learned (a word where there are none).
A small Llama of Transformers takes steps (forward, backward, AdamW) plain, equipped without operations, with four
(also where all tokens are learned), with twelve, and with these on numbers of 25 digits, of which gcd and remainders
are computed as Python integers. The plain model reads the same tokens. Then each writes one number behind every text.
Runs alternate; CPU seconds of one thread, medians.
"""

import functools
import itertools
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import common
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

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


def main(
    *,
    repetitions: common.Positive = 7,
    numbers: tuple[int, ...] = NUMBERS,
    sizes: tuple[Literal[*SIZES], ...] = tuple(SIZES),
    output: Path | None = None,
) -> None:
    """Measure, print a line for each result, and write them.

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
    common.write("text_costs_step.json", ("adelic", "torch", "transformers"), found, output)


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
            only = functools.partial(only_token, token=tokenizer.token_id)
            bare = made(size, len(tokenizer.tokenizer))
            runs["plain step"] = trainer(bare, plain)
            runs["plain written"] = functools.partial(
                written, bare, {key: prompts[key] for key in tuple(plain)[:2]}, only
            )
        runs[f"{name} step"] = trainer(model, batch)
        runs[f"{name} collator"] = functools.partial(collator, learned)
        runs[f"{name} written"] = functools.partial(written, model, dict(prompts), only)
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


def made(size: tuple[int, int], vocabulary: int) -> LlamaForCausalLM:
    """Return a Llama."""
    layers, width = size
    torch.manual_seed(0)
    sizes = {"vocab_size": vocabulary, "hidden_size": width, "intermediate_size": 4 * width}
    ends = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 1}
    return LlamaForCausalLM(LlamaConfig(**sizes, num_hidden_layers=layers, num_attention_heads=4, **ends))


def equipped(size: tuple[int, int], operations: tuple[str, ...]) -> tuple[Any, NumberTokenizer]:
    """Return an equipped Llama and its tokenizer."""
    words = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(("[UNK]", "[PAD]", *WORDS))}, unk_token="[UNK]")
    )
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "model_input_names": ["input_ids", "attention_mask"]}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, padding_side="left", **names)
    model = equip(
        made(size, len(tokenizer)), tokenizer, SPACE, real_scale=100, max_numerator=2000, operations=operations
    )
    return model, NumberTokenizer(tokenizer)


def trainer(model: Any, batch: dict[str, torch.Tensor]) -> Callable[[], None]:
    """Return what makes a step."""
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

    def take() -> None:
        model.train()
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return take


def written(model: Any, prompts: dict[str, torch.Tensor], only: Callable[..., Any]) -> Any:
    """Return what a model writes behind prompts: one number each."""
    return model.eval().generate(**prompts, max_new_tokens=1, do_sample=False, logits_processor=[only])


def only_token(input_ids: torch.Tensor, scores: torch.Tensor, *, token: int) -> torch.Tensor:
    """Return scores that leave one token."""
    kept = torch.full_like(scores, -torch.inf)
    kept[:, token] = 0
    return kept


if __name__ == "__main__":
    common.run(main)
