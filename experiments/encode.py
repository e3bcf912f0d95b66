"""Measure encoding, sums and products against filling memory, other libraries and plain NumPy.

    python experiments/encode.py                         # all parts with fewer repetitions, about a minute
    python experiments/encode.py --full memory      # some parts, as the committed results have them
    python experiments/encode.py --full memory libraries --instructions avx2   # as without AVX-512

Runs alternate on one core and medians are compared. Loops over numbers run on fewer of them and are
given their digits as cheaply as the library can, as text where it has only that. Needs the extra `bench`.

parts:
  memory     numbers to the float32 layout, against filling the same array with a constant
  libraries  digits (uint8), against gmpy2, python-flint, PARI, pyadic and plain NumPy
  operations + and * of arrays, against adding their digits without carries
  residues   + and * of one digit at one prime, against int64 in NumPy and, where it is installed, galois
"""

import importlib.util
import operator
import time
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal

import common
import flint
import gmpy2
import numpy as np
import numpy.typing as npt
from pyadic import PAdic

from adelic import AdeleSpace, padic

galois: Any = importlib.import_module("galois") if importlib.util.find_spec("galois") else None
SIZE = 10**6
Array = npt.NDArray[Any]
Pairs = list[tuple[int, int]]


def main(
    *parts: Literal["memory", "libraries", "operations", "residues"],
    size: common.Positive = SIZE,
    repetitions: common.Positive | None = None,
    instructions: Literal["avx2"] | None = None,
    full: bool = False,
    output: Path | None = None,
) -> bool:
    """Measure the chosen parts, print them and write their files of results; exit code 1 if a target is missed.

    Args:
        parts: by default all.
        size: how many numbers.
        repetitions: the median counts; by default 3, with --full 9.
        instructions: use no others; by default all of the processor's.
        full: as the committed results have it, in about 6 minutes.
        output: folder of the results.
    """
    common.restrict_instructions(instructions)
    repetitions = repetitions or (9 if full else 3)
    common.use_one_core()
    met = True
    measures = {"memory": memory, "libraries": libraries, "operations": operations, "residues": residues}
    for part in common.each(parts or measures):
        results = measures[part](size, repetitions)
        for name, ratio in results["ratios"].items():
            target = results["targets"].get(name)
            met = met and (target is None or ratio >= target)
            common.say(f"  {name}: {ratio:.3g}" + (f" (target: {target:g})" if target else ""))
        others = {"libraries": ("gmpy2", "python-flint", "cypari", "pyadic"), "residues": ("galois",) if galois else ()}
        packages = ("numpy", "numba", *others.get(part, ()))
        settings = {"size": size, "repetitions": repetitions, "space": AdeleSpace().to_dict()}
        name = "_".join(filter(None, ["encode", part, instructions])) + ".json"
        common.write(name, packages, settings | results, output and output / name, full=full)
    return met


def random_integers(size: int) -> Array:
    """Return random int64 of all sizes."""
    return np.random.default_rng(0).integers(-(2**63), 2**63 - 1, size, endpoint=True)


def memory(size: int, repetitions: int) -> dict[str, Any]:
    """Compare `space.tensor` with filling its array."""
    space = AdeleSpace()
    integers, rationals = random_integers(size), common.random_rationals(space, size)
    out = np.empty((size, space.n_primes + 1, space.precision), dtype=np.float32)
    seconds = common.interleaved(
        {
            "fill": lambda: out.fill(1),
            "integers": lambda: space.tensor(integers, out=out),
            "rationals": lambda: space.tensor(rationals, out=out),
            "fill a new array": lambda: np.full(out.shape, 1, dtype=np.float32),
            "integers, new array": lambda: space.tensor(integers),
            "rationals, new array": lambda: space.tensor(rationals),
        },
        repetitions,
    )
    median = common.medians(seconds)
    fills = {name: "fill a new array" if "new" in name else "fill" for name in median if "fill" not in name}
    ratios = {name: median[fill] / median[name] for name, fill in fills.items()}
    return {"seconds": median, "ratios": ratios, "targets": {"integers": 0.5, "rationals": 0.25}}


def libraries(size: int, repetitions: int) -> dict[str, Any]:
    """Compare the digits of `space.encode` with loops over other libraries, and with plain NumPy."""
    space = AdeleSpace()
    pairs = {
        "integers": (random_integers(size), np.ones(size, dtype=np.int64)),
        "rationals": common.random_rationals(space, size),
    }
    ratios, targets, nanoseconds = {}, {}, {}
    for kind, (n, m) in pairs.items():
        is_whole = kind == "integers"
        given: Any = n if is_whole else (n, m)
        plain = partial(numpy_digits, space, n, None if is_whole else m)
        functions = {"adelic": lambda given=given: space.encode(given).digits, "numpy": plain}
        counts = dict.fromkeys(functions, size)
        digits = space.encode(given).digits
        np.testing.assert_array_equal(plain(), digits)
        for name, loop in (LOOPS | ({"gmpy2 without inverses": without_inverses} if is_whole else {})).items():
            counts[name] = count = min(200 if name == "pyadic" else 2000, size)
            some = list(zip(n[:count].tolist(), m[:count].tolist(), strict=True))
            functions[name] = partial(loop, space, some)
            np.testing.assert_array_equal(as_digits(functions[name](), space), digits[:count, :, ::-1])
        seconds = common.medians(common.interleaved(functions, repetitions))
        nanoseconds[kind] = {name: seconds[name] / count * 1e9 for name, count in counts.items()}
        least = {"gmpy2": 100 if is_whole else 40, "flint": 100, "pari": 100, "pyadic": 1000, "numpy": 10}
        ours = nanoseconds[kind]["adelic"]
        ratios |= {f"{kind}, {name}": nanoseconds[kind][name] / ours for name in list(functions)[1:]}
        targets |= {f"{kind}, {name}": float(target) for name, target in least.items()}
    return {"nanoseconds_a_number": nanoseconds, "ratios": ratios, "targets": targets}


def numpy_digits(space: AdeleSpace, n: Array, m: Array | None) -> Array:
    """Return digits by plain NumPy: Hensel lifting digit by digit, in blocks that stay in cache."""
    out = np.empty((len(n), space.n_primes, space.precision), dtype=np.uint8)
    for start in range(0, len(n), 1 << 13):
        block = slice(start, start + (1 << 13))
        for j, p in enumerate(space.primes):
            rest = n[block]
            if m is None:
                for k in range(space.precision):
                    quotient = rest // p
                    out[block, j, -1 - k] = rest - quotient * p
                    rest = quotient
                continue
            denominator = m[block]
            inverses = np.array([0, *(pow(a, -1, p) for a in range(1, p))])
            inverse = inverses[denominator % p]
            for k in range(space.precision):
                digit = rest % p * inverse % p
                out[block, j, -1 - k] = digit
                rest = (rest - digit * denominator) // p  # |n|, m <= 10^9: no overflow
    return out


def gmpy2_loop(space: AdeleSpace, pairs: Pairs, *, inverses: bool = True) -> list[list[str]]:
    """Return the digits as text, number by number, with gmpy2; of integers also without inverses."""
    moduli = [(p, gmpy2.mpz(p) ** space.precision) for p in space.primes]
    if not inverses:
        return [[gmpy2.digits(n % modulus, p) for p, modulus in moduli] for n, _ in pairs]
    return [[gmpy2.digits(n * gmpy2.invert(m, modulus) % modulus, p) for p, modulus in moduli] for n, m in pairs]


def flint_loop(space: AdeleSpace, pairs: Pairs) -> list[list[str]]:
    """Return the digits as text, number by number, with python-flint."""
    rings = [(p, flint.fmpz_mod_ctx(flint.fmpz(p) ** space.precision)) for p in space.primes]
    return [[flint.fmpz(int(ring(n) / ring(m))).str(base=p) for p, ring in rings] for n, m in pairs]


def pari_loop(space: AdeleSpace, pairs: Pairs) -> list[list[list[int]]]:
    """Return the digits, number by number, with PARI."""
    from cypari import pari  # takes over signals when it is loaded

    moduli = [(p, pari(p) ** space.precision) for p in space.primes]
    quotients = (pari(n) / pari(m) for n, m in pairs)
    return [[q.Mod(modulus).lift().digits(p) for p, modulus in moduli] for q in quotients]


def pyadic_loop(space: AdeleSpace, pairs: Pairs) -> list[list[tuple[int, ...]]]:
    """Return the digits, the lowest first, number by number, with pyadic."""
    quotients = (Fraction(n, m) for n, m in pairs)
    return [[PAdic(q, p, space.precision).as_tuple_from_zero for p in space.primes] for q in quotients]


without_inverses = partial(gmpy2_loop, inverses=False)
LOOPS = {"pyadic": pyadic_loop, "flint": flint_loop, "pari": pari_loop, "gmpy2": gmpy2_loop}
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def as_digits(rows: list[list[Any]], space: AdeleSpace) -> Array:
    """Return what a loop gave as digits, the lowest first, for the check."""
    out = np.zeros((len(rows), space.n_primes, space.precision), dtype=np.uint8)
    for i, row in enumerate(rows):
        for j, found in enumerate(row):
            digits = [int(d, 36) if isinstance(d, str) else int(d) for d in found]
            digits = digits if isinstance(found, tuple) else digits[::-1]  # a text's and PARI's highest comes first
            out[i, j, : len(digits)] = digits[: space.precision]
    return out


def operations(size: int, repetitions: int) -> dict[str, Any]:
    """Compare sums and products of arrays with adding their digits without carries."""
    space = AdeleSpace()
    rng = np.random.default_rng(1)
    ratios, medians = {}, {}
    n, m = common.random_rationals(space, size)
    kinds = {
        "integers": [space.encode(rng.integers(-(2**31), 2**31, size)) for _ in range(2)],
        "rationals": [space.encode((n, m)), space.encode((n[::-1].copy(), m[::-1].copy()))],
    }
    for kind, (a, b) in kinds.items():
        functions = {"digits": lambda a=a, b=b: a.digits + b.digits}
        functions |= {sign: partial(act, a, b) for sign, act in OPERATIONS.items()}
        medians[kind] = median = common.medians(common.interleaved(functions, repetitions))
        ratios |= {f"{kind}, {sign}": median["digits"] / median[sign] for sign in OPERATIONS}
    return {"seconds": medians, "ratios": ratios, "targets": dict.fromkeys(ratios, 0.25)}


def residues(size: int, repetitions: int) -> dict[str, Any]:
    """Compare sums and products of residues modulo one prime with those of int64 in NumPy and of galois' arrays."""
    rng = np.random.default_rng(2)
    ratios, medians = {}, {}
    for p in (3, 7, 251, 10007):
        a, b = (rng.integers(0, p, size) for _ in range(2))
        x, y = padic(a, p, 1), padic(b, p, 1)
        u, v = map(galois.GF(p), (a, b)) if galois else (a, b)
        for sign in "+*":
            act = OPERATIONS[sign]
            functions = {"adelic": partial(act, x, y), "numpy": lambda act=act, a=a, b=b, p=p: act(a, b) % p}
            functions |= {"galois": partial(act, u, v)} if galois else {}
            np.testing.assert_array_equal(functions["adelic"]().lift(), functions["numpy"]())
            median = common.medians(common.interleaved(functions, 5 * repetitions, time.process_time))
            medians[f"{sign}, {p}"] = median
            ratios |= {f"{sign}, {p}, {other}": median[other] / median["adelic"] for other in list(functions)[1:]}
    return {"seconds": medians, "ratios": ratios, "targets": dict.fromkeys(ratios, 1.0)}


if __name__ == "__main__":
    common.run(main)
