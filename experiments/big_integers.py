"""Measure reading and encoding of integers with 10^3 to 10^6 decimal digits, and windows of as many p-adic digits.

    python experiments/big_integers.py          # up to 10^5 digits, in a minute
    python experiments/big_integers.py --full

Four tasks: `read` an integer from its decimal digits; `encode` it in the default space; write the digits of a residue
(`to_digits`), and find those of a quotient of two small integers (`quotient`), in a window of so many 17-adic digits.
Each is measured with fmpz of python-flint, mpz of gmpy2 and Python's int (the extra `bench` has both), and the digits
are compared. The growth exponent is log(t2 / t1) / log 10 over a decade: 1 is linear, 2 quadratic.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
import flint
import gmpy2
import numpy as np

from adelic import AdeleSpace
from adelic.numbers import integers

TYPES = {"fmpz": flint.fmpz, "mpz": gmpy2.mpz, "int": int}
PRIME = 17
TARGET = 2.0


def main(
    *, sizes: tuple[int, ...] = (), repetitions: common.Positive = 3, full: bool = False, output: Path | None = None
) -> bool:
    """Measure, print, write the results; exit code 1 if types disagree or the installed one grows quadratically.

    Args:
        sizes: numbers of digits; by default 1000 to 100000, with --full to 1000000.
        repetitions: the median counts.
        full: as the committed results have it, in minutes.
        output: file of the results.
    """
    sizes = sizes or tuple(10**k for k in range(3, 7 if full else 6))
    entries: list[dict[str, Any]] = []
    agree = True
    for size in common.each(sizes, "{:,} digits".format):
        answers: dict[str, list[Any]] = {}
        for name in TYPES:
            integers.long_integer = lambda name=name: TYPES[name]
            functions = tasks(size)
            answers[name] = [function() for function in functions.values()]
            medians = common.medians(common.interleaved(functions, repetitions if size < 10**6 else 1))
            for task, seconds in medians.items():
                before = [one for one in entries if (one["task"], one["type"]) == (task, name)][-1:]
                growth = [math.log(seconds / e["seconds"]) / math.log(size / e["digits"]) for e in before] or [None]
                entry = {"task": task, "type": name, "digits": size, "seconds": seconds}
                entries.append(entry | {"exponent": growth[0]})
                common.say(f"{task}, {name}: {seconds:.2g} s")
        agree = agree and all(given == answers["int"] for given in answers.values())
    last = [entry for entry in entries if entry["type"] == "fmpz" and entry["digits"] == max(sizes)]
    met = agree and all((entry["exponent"] or 0) < TARGET for entry in last)
    common.say(f"same digits: {'yes' if agree else 'NO'}")
    results = {"cores_used": 1, "repetitions": repetitions, "entries": entries, "same_digits": agree, "met": met}
    common.write("big_integers.json", ("python-flint", "gmpy2"), results, output, full=full)
    return met


def tasks(size: int) -> dict[str, Callable[[], Any]]:
    """Return what is measured at one size."""
    rng = np.random.default_rng(0)
    text = "".join(map(str, rng.integers(1, 10, size).tolist()))
    value = integers.parse(text)
    residue = integers.from_digits(rng.integers(0, PRIME, size).tolist(), PRIME)
    return {
        "read": lambda: integers.parse(text),
        "encode": lambda: AdeleSpace().encode(value).digits.tolist(),
        "to_digits": lambda: integers.to_digits(residue, PRIME, size),
        "quotient": lambda: integers.divide_modulo(22, 19, PRIME, size),
    }


if __name__ == "__main__":
    common.run(main)
