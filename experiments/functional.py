"""Measure `adelic.nn.functional`, compiled, against the bandwidth of the device's own copy.

    python experiments/functional.py --device cuda --size 4000000
    python experiments/functional.py --device cpu --size 100000

Every function runs under `torch.compile(fullgraph=True)` on random int64 in the default space. Beside each stands a
`copy_` of a tensor of the result's size, in turns with it, so that both see the same machine; the median of either
counts. A copy reads and writes the result once, and bandwidth counts what is read and what is written, so the target,
half the copy's bandwidth on a CUDA device, is bytes of operands and result a second. `first_call_seconds` is for the
most part compilation.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from common import RESULTS, described, each, interleaved, medians, random_rationals, write
from rich.console import Console
from rich.table import Table

from adelic import AdeleSpace
from adelic.nn import functional

TARGET = 0.5
SPACE = AdeleSpace()
Operation = tuple[str, bool, Callable[..., Any], tuple[torch.Tensor, ...]]  # name, has the target, function, operands


def main() -> None:
    """Measure, print the table, write the results; exit code 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--size", type=int, help="how many numbers (default: 1000000; on the CPU 100000)")
    parser.add_argument("--repetitions", type=int, default=21, help="the median counts (default: 21)")
    parser.add_argument("--output", type=Path, help="default: experiments/results/functional_<device>.json")
    chosen = parser.parse_args()
    chosen.size = chosen.size if chosen.size is not None else 10**5 if chosen.device == "cpu" else 10**6
    if min(chosen.size, chosen.repetitions) < 1:
        parser.error("--size and --repetitions must be at least 1")
    device = torch.device(chosen.device)
    console = Console(width=110)
    entries = []
    for operation in each(operations(chosen.size, device), lambda one: one[0]):
        entries.append(measured(operation, chosen.repetitions, device))
        console.print("{operation}: {seconds:.2e} s".format_map(entries[-1]), style="dim")
    console.print(table(entries))
    results = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "threads": torch.get_num_threads(),
        "space": described(SPACE),
        "size": chosen.size,
        "repetitions": chosen.repetitions,
        "operations": entries,
        "targets_met": all(entry["met"] is not False for entry in entries),
    }
    output = chosen.output or RESULTS / f"functional_{device.type}.json"
    write(output, "functional.py", ("torch", "numpy"), results)
    console.print(f"written to {output}")
    sys.exit(not results["targets_met"])


def operations(size: int, device: torch.device) -> list[Operation]:
    """Return what is measured: integers anywhere in int64, rationals with parts up to 10^9, units at every prime."""
    integers = torch.randint(-(2**63), 2**63 - 1, (size,), generator=torch.Generator().manual_seed(0)).to(device)
    n, m = (torch.from_numpy(part).to(device) for part in random_rationals(SPACE, size))
    found: list[Operation] = []
    for dtype in (torch.float32, torch.bfloat16):

        def encode(*numbers: torch.Tensor, dtype: torch.dtype = dtype) -> Any:
            return functional.encode(*numbers, space=SPACE, dtype=dtype)

        name = str(dtype).removeprefix("torch.")
        found += [(f"encode integers, {name}", True, encode, (integers,))]
        found += [(f"encode rationals, {name}", True, encode, (n, m))]
    x, y = (functional.encode(part, space=SPACE) for part in (n, m))
    found += [("add, float32", False, lambda a, b: functional.add(a, b, SPACE), (x, y))]
    found += [("mul, float32", False, lambda a, b: functional.mul(a, b, SPACE), (x, y))]
    return found


def measured(operation: Operation, repetitions: int, device: torch.device) -> dict[str, Any]:
    """Return the figures of one function beside those of a copy."""
    name, has_target, function, operands = operation
    torch.compiler.reset()
    compiled = torch.compile(function, fullgraph=True)
    start = time.perf_counter()
    result = compiled(*operands)
    synchronize(device)
    first_call = time.perf_counter() - start
    expected = function(*operands)
    if not torch.equal(result, expected):
        raise AssertionError(f"{name}: the compiled function and the eager one differ")
    copy = torch.empty_like(result)

    def run() -> None:
        compiled(*operands)
        synchronize(device)

    def run_copy() -> None:
        copy.copy_(expected)
        synchronize(device)

    seconds = medians(interleaved({"own": run, "copy": run_copy}, repetitions))
    moved = result.nbytes + sum(operand.nbytes for operand in operands)
    target = TARGET if has_target and device.type == "cuda" else None
    bandwidth, copy_bandwidth = moved / seconds["own"], 2 * result.nbytes / seconds["copy"]
    return {
        "operation": name,
        "seconds": seconds["own"],
        "copy_seconds": seconds["copy"],
        "bytes": moved,
        "bandwidth": bandwidth,
        "copy_bandwidth": copy_bandwidth,
        "share": bandwidth / copy_bandwidth,
        "target": target,
        "met": None if target is None else bandwidth >= target * copy_bandwidth,
        "first_call_seconds": first_call,
    }


def synchronize(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def table(entries: list[dict[str, Any]]) -> Table:
    """Return the figures as a table."""
    shown = Table("operation", title="adelic.nn.functional beside the device's copy")
    for head in ("seconds", "GB/s", "copy GB/s", "share", "target", "met"):
        shown.add_column(head, justify="right")
    for entry in entries:
        shown.add_row(
            entry["operation"],
            f"{entry['seconds']:.2e}",
            f"{entry['bandwidth'] / 1e9:.1f}",
            f"{entry['copy_bandwidth'] / 1e9:.1f}",
            f"{entry['share']:.2f}",
            "" if entry["target"] is None else f"{entry['target']:.2f}",
            {True: "yes", False: "NO", None: ""}[entry["met"]],
        )
    return shown


if __name__ == "__main__":
    main()
