"""Very small trainings, and the attack `determinism`: the same run twice gives the same bits."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import adelic_lab
from adelic.data.sources import TaskData
from adelic_lab.config.recipes import TrainConfig
from adelic_lab.train.signals import Stopped
from targets.case import Case

TIMES = ("seconds", "processor_seconds")
"""What a result says of time, which no two runs share."""


def random_config(rng: Random, **recipe: Any) -> adelic_lab.Experiment:
    """Return a configuration that trains for a fraction of a second."""
    name = rng.choice(["adelic", "learned", "random", "one-hot", "fone", "xval", "periodic"])
    options: dict[str, Any] = {}
    if name == "adelic":
        options = {"primes": (2, 3, 5), "precision": 4, "features": rng.choice(["digits", "characters"])}
    plain = {
        "name": "quick",
        "learning_rate": 5e-3,
        "epochs": rng.choice([2, 3]),
        "batch_size": rng.choice([16, 32]),
        "n_layers": 1,
        "n_heads": 2,
        "d_model": 16,
        "d_feedforward": 32,
        "checkpoint": rng.choice(["best", "last"]),
        "positional": rng.choice(["embedding", "learned"]),
        "pooling": rng.choice(["cls", "tokens"]),
        "norm": rng.choice(["post", "pre"]),
    }
    return adelic_lab.Experiment(
        data=TaskData("schubert", 3),
        model=adelic_lab.EmbeddingConfig.of(name, **options),
        recipe=TrainConfig(**plain | recipe),
        seed=rng.randrange(1000),
    )


def timeless(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without what it says of time."""
    return {key: value for key, value in result.items() if key not in TIMES}


def outcome(folder: Path) -> tuple[dict[str, Any], bytes]:
    """Return what a finished run came to: its result without times, and its metrics."""
    found = adelic_lab.read_result(folder)
    assert found is not None, f"{folder} is not finished"
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_bytes().splitlines()]
    return timeless(found.as_dict()), json.dumps([timeless(line) for line in lines]).encode()


def weights(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every tensor in a run's checkpoint."""
    from safetensors.torch import load

    tensors = load((folder / "checkpoint.safetensors").read_bytes())
    return {name: tensor.contiguous().view(-1).numpy().tobytes() for name, tensor in tensors.items()}


def determinism(case: Case) -> None:
    """Train the same very small model twice, now and then the second time in two parts."""
    config = random_config(case.rng)
    first, second = (case.folder / f"{name} {case.rng.randrange(10**9)}" for name in ("first", "second"))
    adelic_lab.run(config, first, device="cpu")
    if case.chance(0.5):
        steps = case.rng.randint(1, 8)
        try:
            adelic_lab.run(config, second, device="cpu", stop=stop_after(steps))
        except Stopped:
            case.counts["in two parts"] += 1
    adelic_lab.run(config, second, device="cpu")
    assert outcome(first) == outcome(second), f"{config} ends otherwise the second time"
    assert weights(first) == weights(second), f"{config} has other weights the second time"
    case.counts["runs"] += 2


def stop_after(steps: int) -> Callable[[], bool]:
    """Return a function that is False for so many calls, and then True."""
    calls = iter(range(steps))

    def stop() -> bool:
        return next(calls, None) is None

    return stop
