"""Measure `adelic.nn.functional`, compiled, against the bandwidth of the device's own copy.

    python experiments/functional.py --device cuda --size 4000000
    python experiments/functional.py --device cpu --size 100000

Every function runs under `torch.compile(fullgraph=True)` on random int64 in the default space. Next to each is a
`copy_` of a tensor of the result's size, in turns with it, so both see the same machine; the median of either
counts. A copy reads and writes the result once, and bandwidth counts what is read and what is written, so the target,
half the copy's bandwidth on a CUDA device, is bytes of operands and result a second. `first_call_seconds` is for the
most part compilation.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import common
import torch

from adelic import AdeleSpace
from adelic.nn import functional
from adelic_lab.models import device_name

TARGET = 0.5
SPACE = AdeleSpace()
Operation = tuple[str, bool, Callable[..., Any], tuple[torch.Tensor, ...]]  # name, has the target, function, operands


def main(
    *,
    device: str = "cuda" if torch.cuda.is_available() else "cpu",
    size: common.Positive | None = None,
    repetitions: common.Positive = 21,
    output: Path | None = None,
) -> bool:
    """Measure, print the table, write the results; exit code 1 if a target is missed.

    Args:
        device: what computes.
        size: how many numbers; by default 1000000, on the CPU 100000.
        repetitions: the median counts.
        output: file of the results.
    """
    size = size or (10**5 if device == "cpu" else 10**6)
    where = torch.device(device)
    entries = []
    for operation in common.each(operations(size, where), lambda one: one[0]):
        entries.append(measured(operation, repetitions, where))
        common.say("{seconds:.2e} s, {share:.2f} of the copy's bandwidth".format_map(entries[-1]))
    met = all(entry["met"] is not False for entry in entries)
    results = {"device": device_name(where), "threads": torch.get_num_threads(), "space": SPACE.to_dict()}
    results |= {"size": size, "repetitions": repetitions, "operations": entries, "targets_met": met}
    common.write(f"functional_{where.type}.json", ("torch", "numpy"), results, output)
    return met


def operations(size: int, device: torch.device) -> list[Operation]:
    """Return what is measured: integers anywhere in int64, rationals with parts up to 10^9, units at every prime."""
    integers = torch.randint(-(2**63), 2**63 - 1, (size,), generator=torch.Generator().manual_seed(0)).to(device)
    n, m = (torch.from_numpy(part).to(device) for part in common.random_rationals(SPACE, size))
    found: list[Operation] = []
    for name in ("float32", "bfloat16"):
        encode = partial(functional.encode, space=SPACE, dtype=getattr(torch, name))
        found += [
            (f"encode {kind}, {name}", True, encode, of)
            for kind, of in (("integers", (integers,)), ("rationals", (n, m)))
        ]
    x, y = (functional.encode(part, space=SPACE) for part in (n, m))
    acts = {"add": functional.add, "mul": functional.mul}
    return found + [(f"{name}, float32", False, partial(act, space=SPACE), (x, y)) for name, act in acts.items()]


def measured(operation: Operation, repetitions: int, device: torch.device) -> dict[str, Any]:
    """Return the figures of one function next to those of a copy."""
    name, has_target, function, operands = operation
    wait = partial(torch.cuda.synchronize, device) if device.type == "cuda" else lambda: None
    torch.compiler.reset()
    compiled = torch.compile(function, fullgraph=True)
    start = time.perf_counter()
    result = compiled(*operands)
    wait()
    first_call = time.perf_counter() - start
    expected = function(*operands)
    if not torch.equal(result, expected):
        raise AssertionError(f"{name}: the compiled function and the eager one differ")
    copy = torch.empty_like(result)
    runs = {"own": lambda: (compiled(*operands), wait()), "copy": lambda: (copy.copy_(expected), wait())}
    seconds = common.medians(common.interleaved(runs, repetitions))
    moved = result.nbytes + sum(operand.nbytes for operand in operands)
    target = TARGET if has_target and device.type == "cuda" else None
    bandwidth, copy_bandwidth = moved / seconds["own"], 2 * result.nbytes / seconds["copy"]
    found = {"operation": name, "seconds": seconds["own"], "copy_seconds": seconds["copy"], "bytes": moved}
    found |= {"bandwidth": bandwidth, "copy_bandwidth": copy_bandwidth, "share": bandwidth / copy_bandwidth}
    met = None if target is None else bandwidth >= target * copy_bandwidth
    return found | {"target": target, "met": met, "first_call_seconds": first_call}


if __name__ == "__main__":
    common.run(main)
