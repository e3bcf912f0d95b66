"""Measure `AdeleArray.decode()` against a loop over the numbers with gmpy2, in one process on one core.

    python experiments/decode.py

The numbers are rationals of the default space, numerator and denominator up to 10^9. The loop does what a program
without arrays does for each number: Chinese remainders, the extended Euclidean algorithm down to √(M/2), a `Fraction`.
Its residues are given to it as gmpy2 integers, and it checks nothing against the real value, so it has less to do than
`decode()`, which starts from digits. Runs alternate and seconds are those of the processor, so other programs disturb
little; each pair of runs gives a ratio, and the median and the range are reported. Python's garbage collector is off,
as in `timeit`, and once more on (the inputs frozen): 10^5 new `Fraction` objects make it run. Needs the extra `bench`.
"""

import gc
import statistics
import time
from fractions import Fraction
from math import isqrt, prod
from pathlib import Path
from typing import Any

import common
import gmpy2
import numpy as np

from adelic import AdeleArray, AdeleSpace

GREATEST = 10**9
TARGET = 10.0


def main(*, size: common.Positive = 10**5, repetitions: common.Positive = 15, output: Path | None = None) -> bool:
    """Measure, print, write the results; exit code 1 if the target is missed or an answer is wrong.

    Args:
        size: how many numbers.
        repetitions: how many pairs of runs.
        output: file of the results.
    """
    common.use_one_core()
    space = AdeleSpace()
    n, m = common.random_rationals(space, size, GREATEST)
    numbers = [Fraction(a, b) for a, b in zip(n.tolist(), m.tolist(), strict=True)]
    array = space.encode(numbers)
    residues = [[gmpy2.mpz(r) for r in row] for row in residues_of(array)]
    functions = {"decode": array.decode, "gmpy2_loop": lambda: loop(residues, space)}
    gc.collect()
    gc.freeze()
    right = all(list(function()) == numbers for function in functions.values())  # compiles, too
    common.say("with the garbage collector, then without")
    collected = common.interleaved(functions, repetitions, time.process_time)
    gc.disable()
    medians = common.medians(seconds := common.interleaved(functions, repetitions, time.process_time))
    every, with_collector = (
        sorted(loop / ours for ours, loop in zip(found["decode"], found["gmpy2_loop"], strict=True))
        for found in (seconds, collected)
    )
    ratio = statistics.median(every)
    met = right and ratio >= TARGET
    results = {"cores_used": 1, "space": space.to_dict(), "numbers": {"size": size, "greatest": GREATEST}}
    results |= {"repetitions": repetitions, "median_seconds": medians, "all_seconds": seconds, "ratio": ratio}
    results |= {"range": [every[0], every[-1]], "target_ratio": TARGET, "all_right": right, "met": met}
    results |= {"ratio_with_garbage_collector": statistics.median(with_collector)}
    results |= {"range_with_garbage_collector": [with_collector[0], with_collector[-1]]}
    for name, median in medians.items():
        common.say(f"{name:>10}: {median / size * 1e6:.2f} µs a number")
    common.say(
        f"ratio {ratio:.1f}, {every[0]:.1f} to {every[-1]:.1f} (target: {TARGET:.0f}), answers "
        + ("right" if right else "WRONG")
    )
    common.write("decode.json", ("numpy", "numba", "gmpy2"), results, output)
    return met


def residues_of(array: AdeleArray) -> list[list[int]]:
    """Return each number modulo p^N, at each prime."""
    weights = [[p**k for k in reversed(range(array.space.precision))] for p in array.space.primes]
    return [list(row) for row in (array.digits * np.array(weights, dtype=object)).sum(axis=-1)]


def loop(residues: list[list[Any]], space: AdeleSpace) -> list[Fraction]:
    """Decode number by number."""
    moduli = [gmpy2.mpz(p) ** space.precision for p in space.primes]
    modulus = prod(moduli)
    basis = [modulus // q * gmpy2.invert(modulus // q, q) for q in moduli]
    bound = isqrt(modulus // 2)
    decoded = []
    for row in residues:
        r0, r1, t0, t1 = modulus, sum(r * b for r, b in zip(row, basis, strict=True)) % modulus, 0, 1
        while r1 > bound:
            quotient = r0 // r1
            r0, r1 = r1, r0 - quotient * r1
            t0, t1 = t1, t0 - quotient * t1
        decoded.append(Fraction(int(r1), int(t1)))
    return decoded


if __name__ == "__main__":
    common.run(main)
