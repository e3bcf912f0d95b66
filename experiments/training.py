"""Measure training: our loop against the stock loop, AOE against a learned embedding, products.

    python experiments/training.py                                      # throughput at one length, in a minute
    python experiments/training.py --full throughput embedding          # about 40 minutes on two cores
    python experiments/training.py --full embedding --device cuda --compute bfloat16 --lengths 20 --tokens 2000000

The stock loop is `nn.TransformerEncoder`, eager, float32, `DataLoader` with `WeightedRandomSampler`, and no settings of
the allocator. Every figure comes from a process of its own, since a process has one allocator; processes of the sides
alternate, and medians are compared. The network and the batch are the recipe `paper`'s. Without AVX-512 files of
results have the instruction set in their name, and bfloat16 is left out where the processor has no instructions for it.

parts:
  throughput tokens a second (with [CLS]) at the lengths of the paper's rows and at 6 and 20
  embedding  the time of training steps, AOE against nn.Embedding, in turn in one process; on a GPU, with steps that are
             compiled and with steps that are not
  products   float32 operations a second, on one core, of a linear layer's forward and backward pass, torch's and ours
"""

import itertools
import math
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import common
import numpy as np
import torch
from cyclopts import Parameter
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

import adelic_lab
from adelic import acd
from adelic.nn import SequenceClassifier, Vocabulary
from adelic.nn.backend import PRECISIONS, is_quick
from adelic.nn.bodies.encoder import Affine, project
from adelic.nn.registry import build_embedding
from adelic_lab.models import device_name
from adelic_lab.report.statistics import confidence_interval
from adelic_lab.runs.machine import SWITCH, keep_freed_memory
from adelic_lab.train.loop import Trainer
from adelic_lab.train.objectives import OneClass
from adelic_lab.train.passes import TOKENS, Split
from adelic_lab.train.steps import SWITCH as COMPILE
from adelic_lab.train.steps import is_wanted

SIDES = ("stock", "float32", "bfloat16")
N_NUMBERS, N_CLASSES = 24, 5
LAYERS = {
    "queries, keys and values": (128, 384),
    "attention's result": (128, 128),
    "inner layer": (128, 512),
    "feed-forward's result": (512, 128),
}
"""The linear layers of the paper's network: inputs and outputs."""
MOST_TOKENS = 100_000  # a step's, for both sides: with more the stock loop needs more than 16 GB
CPU = torch.device("cpu")
Results = dict[str, Any]


class Stock(nn.Module):
    """The same model, with the same initial weights, from torch's own parts."""

    def __init__(self, model: SequenceClassifier) -> None:
        super().__init__()
        self.embedding, self.positional, self.cls = model.embedding, model.positional, model.cls
        self.dropout, self.final_norm, self.head = model.dropout, model.final_norm, model.head
        first = model.layers[0]
        layer = nn.TransformerEncoderLayer(
            first.self_attn.embed_dim, first.self_attn.num_heads, first.linear1.out_features, first.dropout.p,
            batch_first=True, norm_first=first.norm_first,
        )  # fmt: skip
        self.encoder = nn.TransformerEncoder(layer, len(model.layers), enable_nested_tensor=False)
        for theirs, ours in zip(self.encoder.layers, model.layers, strict=True):
            theirs.load_state_dict(ours.state_dict())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        tokens = self.embedding(ids)
        x = torch.cat([self.cls.expand(len(tokens), 1, -1), tokens], dim=1)
        return self.head(self.final_norm(self.encoder(self.dropout(self.positional(x)))[:, 0]))


class StockLoop:
    """The textbook's training loop."""

    def __init__(self, model: Stock, recipe: adelic_lab.TrainConfig, ids: torch.Tensor, labels: torch.Tensor) -> None:
        self.model, self.recipe = model, recipe
        self.optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate)
        weights = torch.bincount(labels).double() ** -recipe.sampling_power
        sampler = WeightedRandomSampler(weights[labels], len(labels))
        self.loader = DataLoader(TensorDataset(ids, labels), batch_size=recipe.batch_size, sampler=sampler)
        self.epoch = self.step = 0

    def run_epoch(self) -> None:
        """Train one epoch."""
        self.model.train()
        for ids, labels in self.loader:
            for group in self.optimizer.param_groups:
                group["lr"] = self.recipe.learning_rate_at(self.epoch, self.step)
            self.optimizer.zero_grad()
            loss = functional.cross_entropy(self.model(ids), labels)
            loss.backward()
            self.optimizer.step()
            self.step += 1
        self.epoch += 1


@dataclass(frozen=True, kw_only=True)
class Options:
    """How training is measured.

    Attributes:
        repetitions: processes a side; the median counts; by default 2, with --full 5.
        tokens: trained tokens a process, at least; by default 20000, with --full 150000.
        batch_size: rows a step.
        lengths: by default 9, with --full those of the paper's rows, and for `throughput` 6 and 20.
        sides: of `throughput`; by default all, bfloat16 if there are instructions.
        instructions: use no others; by default all of the processor's.
        device: of `embedding`; the others are the CPU's.
        compute: of `embedding`.
        full: as the committed results have it, in hours for all parts.
        output: folder of the results.
    """

    repetitions: common.Positive | None = None
    tokens: common.Positive | None = None
    batch_size: common.Positive = 2048
    lengths: tuple[int, ...] = ()
    sides: tuple[Literal[*SIDES], ...] = ()
    instructions: Literal["avx2"] | None = None
    device: str = "cpu"
    compute: Literal[*PRECISIONS] = "float32"
    full: bool = False
    output: Path | None = None


def main(
    *parts: Literal["throughput", "embedding", "products"],
    options: Annotated[Options, Parameter(name="*")] = Options(),
) -> None:
    """Measure the chosen parts, by default throughput, with --full all, and bring the files of results up to date."""
    few, full = options, options.full
    options = replace(few, repetitions=few.repetitions or (5 if full else 2))
    options = replace(options, tokens=few.tokens or (150_000 if full else 20_000))
    common.restrict_instructions(options.instructions)  # of the processes that measure
    measures = {"throughput": throughput, "embedding": embedding, "products": products}
    known, *_ = common.instructions().split()
    for part in parts or (measures if full else ["throughput"]):
        results = {"threads": torch.get_num_threads(), "repetitions": options.repetitions, **measures[part](options)}
        name = f"training_{part}"
        if part == "embedding" and options.device != "cpu":
            name += f"_{torch.device(options.device).type}"
        elif known != "AVX-512":
            name += f"_{known.lower()}"
        path = options.output and options.output / f"{name}.json"
        common.write(f"{name}.json", ("torch", "numpy", "numba"), results, path, full=full)


def in_a_process(function: Callable[..., Any], *arguments: Any, settings: bool = True) -> Any:
    """Return what a worker gives in a separate process, with the package's settings of the allocator or with none."""
    return common.in_a_process(prepared, function, *arguments, **{SWITCH: "" if settings else "off"})


def prepared(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function gives, the settings of the allocator made before."""
    keep_freed_memory()
    return function(*arguments)


def row_lengths() -> list[int]:
    """Return how many numbers the sequences of the paper's rows have."""
    rows = (name.rpartition("-") for name in adelic_lab.published_rows())
    return sorted({acd.task(task).length(int(n), "published") for task, _, n in rows})


def throughput(options: Options) -> Results:
    """Compare the loops' tokens a second."""
    entries = []
    sides = options.sides or [
        side for side in SIDES if side != "bfloat16" or (is_quick(side, CPU) and not options.instructions)
    ]
    for length in options.lengths or (sorted({6, 20, *row_lengths()}) if options.full else [9]):
        batch_size = min(options.batch_size, MOST_TOKENS // (length + 1))
        tokens = batch_size * (length + 1)
        n_steps = math.ceil(options.tokens / tokens)
        seconds: common.Seconds = {side: [] for side in sides}
        for repetition, side in itertools.product(range(1, options.repetitions + 1), sides):
            common.say(f"length {length}, {side}, {n_steps} steps, repetition {repetition} of {options.repetitions}")
            spent = in_a_process(worker_steps, side, length, n_steps, batch_size, settings=side != "stock")
            seconds[side].append(spent / n_steps)
        rates = {side: tokens / median for side, median in common.medians(seconds).items()}
        ratios = {side: rates[side] / rates["stock"] for side in sides if "stock" in rates and side != "stock"}
        entry = {"length": length, "batch_size": batch_size, "steps": n_steps, "tokens_per_second": rates}
        entries.append(entry | {"ratios": ratios, "step_seconds": seconds})
        common.say(f"length {length}: tokens/s {rates}, ratios {ratios}")
    met = all(entry["ratios"].get("float32", 0) >= 4 for entry in entries)
    return {"batch_size": options.batch_size, "target": 4, "met": met, "entries": entries}


def embedding(options: Options) -> Results:
    """Compare the time of training steps with the two embeddings."""
    entries, device = [], torch.device(options.device)
    lengths = options.lengths or (row_lengths() if options.full else [9])
    for length, compiled in itertools.product(lengths, (False, True) if is_wanted(device) else (False,)):
        tokens = options.batch_size * (length + 1)
        n_steps = math.ceil(options.tokens / tokens)
        common.say(f"length {length}{', compiled' * compiled}, both embeddings, {n_steps} steps")
        found = in_a_process(worker_embedding, options, length, n_steps, compiled)
        ratios = np.divide(found["adelic"], found["learned"]).tolist()
        mean, half = statistics.fmean(ratios), confidence_interval(ratios)
        entry = {"length": length, "compiled": compiled, "steps": n_steps, "ratio": statistics.median(ratios)}
        entry |= {"mean": mean, "interval": [mean - half, mean + half]}
        entry["tokens_per_second"] = {name: n_steps * tokens / s for name, s in common.medians(found).items()}
        common.say(
            "AOE / nn.Embedding {ratio:.3f}, mean in {interval}; tokens/s: {tokens_per_second}".format_map(entry)
        )
        entries.append(entry | {"seconds": found})
    about = {"device": device_name(device), "compute": options.compute, "batch_size": options.batch_size}
    return about | {"met": all(entry["interval"][0] <= 1 for entry in entries), "entries": entries}


def products(options: Options) -> Results:
    """Measure the products of a layer, which take most of a step."""
    common.say(f"{len(LAYERS)} linear layers, one core")
    seconds = in_a_process(worker_products, 10 * options.repetitions)
    rates = {}
    for (layer, shape), found in zip(LAYERS.items(), map(common.medians, seconds), strict=True):
        rates[layer] = {side: 6 * TOKENS * math.prod(shape) / median / 1e9 for side, median in found.items()}
    return {"tokens": TOKENS, "gigaflops": rates, "seconds": seconds}


def paper_recipe(batch_size: int, compute: str = "float32") -> adelic_lab.TrainConfig:
    """Return the paper's network."""
    return adelic_lab.load_recipe("paper", "schubert-4", batch_size=batch_size, compute=compute)


def random_splits(length: int, rows: int, device: torch.device = CPU) -> list[Split]:
    """Return random examples to train on, and a few to validate."""
    draw = np.random.default_rng(0).integers
    drawn = ((draw(0, N_NUMBERS, (n, length)), draw(0, N_CLASSES, n)) for n in (rows, 16))
    return [Split(torch.from_numpy(ids), labels, device) for ids, labels in drawn]


def model_for(name: str, length: int, recipe: adelic_lab.TrainConfig) -> SequenceClassifier:
    """Return the paper's model for random examples."""
    torch.manual_seed(0)
    form = {"features": "digits"} if name == "adelic" else {}  # the paper's
    vectors = build_embedding(name, Vocabulary(range(N_NUMBERS)), d_model=recipe.d_model, **form)
    shape = {key: getattr(recipe, key) for key in ("n_layers", "n_heads", "d_feedforward", "dropout", "norm")}
    return SequenceClassifier(vectors, n_classes=N_CLASSES, max_length=length, **shape)


def trainer(
    name: str, length: int, recipe: adelic_lab.TrainConfig, splits: list[Split], device: torch.device = CPU
) -> Trainer:
    """Return our loop for the paper's model."""
    model = model_for(name, length, recipe).to(device)
    return Trainer(model, recipe, *splits, objective=OneClass(N_CLASSES), seed=0)


def worker_steps(side: str, length: int, n_steps: int, batch_size: int) -> float:
    """Return the seconds of some steps, after an epoch of as many that does not count."""
    recipe = paper_recipe(batch_size, "float32" if side == "stock" else side)
    train, validation = random_splits(length, n_steps * batch_size)
    loop: StockLoop | Trainer
    if side == "stock":
        loop = StockLoop(Stock(model_for("learned", length, recipe)), recipe, train.ids, train.labels)
    else:
        loop = trainer("adelic", length, recipe, [train, validation])
    loop.run_epoch()
    start = time.perf_counter()
    loop.run_epoch()
    return time.perf_counter() - start


def worker_embedding(options: Options, length: int, n_steps: int, compiled: bool) -> common.Seconds:
    """Return the seconds of some steps with each embedding, in turn. The validation at their end waits for a GPU."""
    if not compiled:
        os.environ[COMPILE] = "off"
    device, recipe = torch.device(options.device), paper_recipe(options.batch_size, options.compute)
    splits = random_splits(length, n_steps * options.batch_size, device)
    runs = {name: trainer(name, length, recipe, splits, device).run_epoch for name in ("adelic", "learned")}
    return common.interleaved(runs, 2 * options.repetitions)


def worker_products(repetitions: int) -> list[common.Seconds]:
    """Return the processor's seconds of forward and backward passes of each layer, torch's and ours in turn."""
    torch.set_num_threads(1)
    found = []
    for n, m in LAYERS.values():
        x, weight, bias = (torch.randn(shape, requires_grad=True) for shape in ((TOKENS, n), (m, n), (m,)))
        sides = {"torch": functional.linear, "ours": lambda x, w, b: project(x, Affine(w, b), torch.float32)}
        passes = {
            name: partial(both_passes, side, torch.randn(TOKENS, m), x, weight, bias) for name, side in sides.items()
        }
        found.append(common.interleaved(passes, repetitions, time.thread_time))
    return found


def both_passes(layer: Callable[..., torch.Tensor], gradient: torch.Tensor, *given: torch.Tensor) -> None:
    """Compute what a layer makes of some tensors, and their gradients."""
    torch.autograd.grad(layer(*given), given, gradient)


if __name__ == "__main__":
    common.run(main)
