"""Measure encoding, sums and products against filling memory, other libraries and plain NumPy; plot how costs grow.

    python experiments/encode.py                         # all parts with fewer repetitions, about a minute
    python experiments/encode.py --full memory threads   # some parts, as the committed results have them
    python experiments/encode.py --full memory libraries --instructions avx2   # as without AVX-512

Runs alternate on one core (but for `threads`) and medians are compared. Loops over numbers run on fewer of them and are
given their digits as cheaply as the library can, as text where it has only that. Needs the extra `bench`.

parts:
  memory     numbers to the float32 layout, against filling the same array with a constant
  libraries  digits (uint8), against gmpy2, python-flint, PARI, pyadic and plain NumPy
  operations + and * of arrays, against adding their digits without carries
  precisions each of these, and decode, in windows of 5, 9, 10 and so on digits, against the next multiple of 16
  threads    two threads against one
  growth     seconds against the number of values, digits and primes, up to 10^8 values in chunks (plotted)
  growth_memory  memory against the number of values, each in a fresh process
  first      import, and the first call in a fresh process
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import common
import matplotlib
import numpy as np
import numpy.typing as npt
from rich.console import Console

from adelic import AdeleSpace

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SIZE = 10**6
CHUNK = 10**6
Array = npt.NDArray[Any]
console = Console(width=110)


def main() -> None:
    """Measure the chosen parts, print them and write their files of results; exit code 1 if a target is missed."""
    parts = {
        "memory": memory, "libraries": libraries, "operations": operations, "precisions": precisions,
        "threads": threads, "growth": growth, "growth_memory": growth_memory, "first": first,
    }  # fmt: skip
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help="default: all")
    common.add_full(parser, "about 6 minutes")
    parser.add_argument("--size", type=int, default=SIZE, help="how many numbers (default: 1000000)")
    parser.add_argument("--greatest", type=int, help="the most numbers of `growth` (default: 10^6, 10^8 with --full)")
    parser.add_argument("--repetitions", type=int, help="the median counts (default: 3, 9 with --full)")
    parser.add_argument(
        "--output", type=Path, help="a folder (default: runs/benchmarks, with --full the committed one)"
    )
    parser.add_argument("--instructions", choices=["avx2"], help="use no others (default: all of the processor's)")
    chosen = parser.parse_args()
    common.restrict_instructions(chosen.instructions)
    if unknown := [part for part in chosen.parts if part not in parts]:
        parser.error(f"{unknown[0]!r} is not a part; there are {', '.join(parts)}")
    if chosen.greatest is None:
        chosen.greatest = 10**8 if chosen.full else 10**6
    if chosen.repetitions is None:
        chosen.repetitions = 9 if chosen.full else 3
    if min(chosen.size, chosen.repetitions, chosen.greatest) < 1:
        parser.error("--size, --repetitions and --greatest must be at least 1")
    met = True
    for part in chosen.parts or parts:
        console.print(f"[bold]{part}")
        every_core = os.sched_getaffinity(0)
        if part != "threads":
            common.use_one_core()
        results = parts[part](chosen)
        os.sched_setaffinity(0, every_core)
        for name, ratio in results.get("ratios", {}).items():
            target = results["targets"].get(name)
            met = met and (target is None or ratio >= target)
            console.print(f"  {name}: {ratio:.3g}" + (f" (target: {target:g})" if target else ""))
        packages = ("numpy", "numba", *(["gmpy2", "python-flint", "cypari", "pyadic"] if part == "libraries" else []))
        settings = {"size": chosen.size, "repetitions": chosen.repetitions, "space": common.described(AdeleSpace())}
        name = "_".join(filter(None, ["encode", part, chosen.instructions]))
        common.write(common.output(chosen) / f"{name}.json", "encode.py", packages, settings | results)
    sys.exit(not met)


def random_integers(size: int) -> Array:
    """Return random int64 of all sizes."""
    return np.random.default_rng(0).integers(-(2**63), 2**63 - 1, size, endpoint=True)


def memory(chosen: argparse.Namespace) -> dict[str, Any]:
    """Compare `space.tensor` with filling its array."""
    space = AdeleSpace()
    integers, rationals = random_integers(chosen.size), common.random_rationals(space, chosen.size)
    out = np.empty((chosen.size, space.n_primes + 1, space.precision), dtype=np.float32)
    seconds = common.interleaved(
        {
            "fill": lambda: out.fill(1),
            "integers": lambda: space.tensor(integers, out=out),
            "rationals": lambda: space.tensor(rationals, out=out),
            "fill a new array": lambda: np.full(out.shape, 1, dtype=np.float32),
            "integers, new array": lambda: space.tensor(integers),
            "rationals, new array": lambda: space.tensor(rationals),
        },
        chosen.repetitions,
    )
    median = common.medians(seconds)
    ratios = {name: median["fill"] / median[name] for name in ("integers", "rationals")}
    for name in ("integers, new array", "rationals, new array"):
        ratios[name] = median["fill a new array"] / median[name]
    return {"seconds": median, "ratios": ratios, "targets": {"integers": 0.5, "rationals": 0.25}}


def libraries(chosen: argparse.Namespace) -> dict[str, Any]:
    """Compare the digits of `space.encode` with loops over other libraries, and with plain NumPy."""
    space = AdeleSpace()
    pairs = {
        "integers": (random_integers(chosen.size), np.ones(chosen.size, dtype=np.int64)),
        "rationals": common.random_rationals(space, chosen.size),
    }
    ratios, targets, nanoseconds = {}, {}, {}
    for kind, (n, m) in pairs.items():
        given: Any = n if kind == "integers" else (n, m)
        functions: dict[str, tuple[int, Callable[[], Any]]] = {
            "adelic": (chosen.size, partial(encode_digits, space, given)),
            "numpy": (chosen.size, partial(numpy_digits, space, n, None if kind == "integers" else m)),
        }
        for name, loop, count in (
            ("pyadic", pyadic_loop, 200), ("flint", flint_loop, 2000), ("pari", pari_loop, 2000),
            ("gmpy2", gmpy2_loop, 2000),
        ):  # fmt: skip
            count = min(count, chosen.size)
            some = list(zip(n[:count].tolist(), m[:count].tolist(), strict=True))
            functions[name] = (count, partial(loop, space, some))
        if kind == "integers":
            functions["gmpy2 without inverses"] = (count, partial(gmpy2_integers_loop, space, some))
        digits = space.encode(given).digits
        np.testing.assert_array_equal(numpy_digits(space, n, None if kind == "integers" else m), digits)
        for name in [name for name in functions if name not in ("adelic", "numpy")]:
            count, function = functions[name]
            np.testing.assert_array_equal(as_digits(function(), space), digits[:count, :, ::-1])
        seconds = common.medians(common.interleaved({k: f for k, (_, f) in functions.items()}, chosen.repetitions))
        nanoseconds[kind] = {name: seconds[name] / count * 1e9 for name, (count, _) in functions.items()}
        least = {"gmpy2": 100 if kind == "integers" else 40, "flint": 100, "pari": 100, "pyadic": 1000, "numpy": 10}
        for name in list(functions)[1:]:
            ratios[f"{kind}, {name}"] = nanoseconds[kind][name] / nanoseconds[kind]["adelic"]
        targets |= {f"{kind}, {name}": float(target) for name, target in least.items()}
    return {"nanoseconds_a_number": nanoseconds, "ratios": ratios, "targets": targets}


def encode_digits(space: AdeleSpace, values: Any) -> Array:
    """Return what the other functions compute, by adelic."""
    return space.encode(values).digits


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


def gmpy2_loop(space: AdeleSpace, pairs: list[tuple[int, int]]) -> list[list[str]]:
    """Return the digits as text, number by number, with gmpy2."""
    import gmpy2

    moduli = [(p, gmpy2.mpz(p) ** space.precision) for p in space.primes]
    return [[gmpy2.digits(n * gmpy2.invert(m, modulus) % modulus, p) for p, modulus in moduli] for n, m in pairs]


def gmpy2_integers_loop(space: AdeleSpace, pairs: list[tuple[int, int]]) -> list[list[str]]:
    """Return the same for integers, without inverses."""
    import gmpy2

    moduli = [(p, gmpy2.mpz(p) ** space.precision) for p in space.primes]
    return [[gmpy2.digits(n % modulus, p) for p, modulus in moduli] for n, _ in pairs]


def flint_loop(space: AdeleSpace, pairs: list[tuple[int, int]]) -> list[list[str]]:
    """Return the digits as text, number by number, with python-flint."""
    import flint

    rings = [(p, flint.fmpz_mod_ctx(flint.fmpz(p) ** space.precision)) for p in space.primes]
    return [[flint.fmpz(int(ring(n) / ring(m))).str(base=p) for p, ring in rings] for n, m in pairs]


def pari_loop(space: AdeleSpace, pairs: list[tuple[int, int]]) -> list[list[list[int]]]:
    """Return the digits, number by number, with PARI."""
    from cypari import pari

    moduli = [(p, pari(p) ** space.precision) for p in space.primes]
    rows = []
    for n, m in pairs:
        q = pari(n) / pari(m)
        rows.append([q.Mod(modulus).lift().digits(p) for p, modulus in moduli])
    return rows


def pyadic_loop(space: AdeleSpace, pairs: list[tuple[int, int]]) -> list[list[tuple[int, ...]]]:
    """Return the digits, the lowest first, number by number, with pyadic."""
    from fractions import Fraction

    from pyadic import PAdic

    rows = []
    for n, m in pairs:
        q = Fraction(n, m)
        rows.append([PAdic(q, p, space.precision).as_tuple_from_zero for p in space.primes])
    return rows


def as_digits(rows: list[list[Any]], space: AdeleSpace) -> Array:
    """Return what a loop gave as digits, the lowest first, for the check."""
    out = np.zeros((len(rows), space.n_primes, space.precision), dtype=np.uint8)
    for i, row in enumerate(rows):
        for j, found in enumerate(row):
            digits = [int(d, 36) for d in reversed(found)] if isinstance(found, str) else [int(d) for d in found]
            if not isinstance(found, (str, tuple)):
                digits.reverse()  # PARI's highest digit comes first
            out[i, j, : len(digits)] = digits[: space.precision]
    return out


def operations(chosen: argparse.Namespace) -> dict[str, Any]:
    """Compare sums and products of arrays with adding their digits without carries."""
    space = AdeleSpace()
    rng = np.random.default_rng(1)
    ratios, targets, medians = {}, {}, {}
    n, m = common.random_rationals(space, chosen.size)
    kinds = {
        "integers": [space.encode(rng.integers(-(2**31), 2**31, chosen.size)) for _ in range(2)],
        "rationals": [space.encode((n, m)), space.encode((n[::-1].copy(), m[::-1].copy()))],
    }
    for kind, (a, b) in kinds.items():
        functions = {"digits": lambda a=a, b=b: a.digits + b.digits}
        functions |= {"+": lambda a=a, b=b: a + b, "-": lambda a=a, b=b: a - b, "*": lambda a=a, b=b: a * b}
        median = common.medians(common.interleaved(functions, chosen.repetitions))
        medians[kind] = median
        for operation in "+-*":
            ratios[f"{kind}, {operation}"] = median["digits"] / median[operation]
            targets[f"{kind}, {operation}"] = 0.25
    return {"seconds": medians, "ratios": ratios, "targets": targets}


def precisions(chosen: argparse.Namespace) -> dict[str, Any]:
    """Compare windows of other sizes with the next multiple of 16 digits, by the processor's time."""
    count = min(chosen.size, 10**5)
    integers, rationals = random_integers(count), common.random_rationals(AdeleSpace(), count)
    ratios: dict[str, float] = {}
    medians: dict[str, dict[str, float]] = {}
    for given in (5, *range(9, 16), 20, 24):
        whole = -(-given // 16) * 16
        functions: dict[str, Callable[[], Any]] = {}
        for precision in (given, whole):
            space = AdeleSpace(precision=precision)
            a, b = space.encode(rationals), space.encode(integers)
            few = a[: -(-count // 10)]
            functions |= {
                f"encode integers {precision}": partial(space.encode, integers),
                f"encode rationals {precision}": partial(space.encode, rationals),
                f"tensor integers {precision}": partial(space.tensor, integers, out=np.empty_like(b.tensor())),
                f"tensor rationals {precision}": partial(space.tensor, rationals, out=np.empty_like(a.tensor())),
                f"+ {precision}": lambda a=a, b=b: a + b,
                f"- {precision}": lambda a=a, b=b: a - b,
                f"* {precision}": lambda a=a, b=b: a * b,
                f"decode {precision}": few.decode,
            }
        # The processor's time, and the same function in both spaces one after the other: other programs matter less.
        order = sorted(functions, key=lambda name: name.rpartition(" ")[0])
        found = common.interleaved({name: functions[name] for name in order}, chosen.repetitions, time.process_time)
        median = medians[f"{given}, {whole}"] = common.medians(found)
        for name in (name.removesuffix(f" {whole}") for name in order if name.endswith(f" {whole}")):
            ratios[f"{name}, {given} digits"] = median[f"{name} {whole}"] / median[f"{name} {given}"]
    return {"numbers": count, "seconds": medians, "ratios": ratios, "targets": dict.fromkeys(ratios, 0.95)}


def threads(chosen: argparse.Namespace) -> dict[str, Any]:
    """Compare two threads with one."""
    space = AdeleSpace()
    rationals = common.random_rationals(space, 4 * chosen.size)
    integers = random_integers(4 * chosen.size)
    out = np.empty((4 * chosen.size, space.n_primes + 1, space.precision), dtype=np.float32)
    ratios, medians = {}, {}
    with ThreadPoolExecutor(2) as pool:
        halves = np.array_split(out, 2)
        kinds: dict[str, Callable[[int], Any]] = {
            "integers": lambda count: space.tensor(integers, out=out, threads=count),
            "rationals": lambda count: space.tensor(rationals, out=out, threads=count),
            "integers, digits": lambda count: space.encode(integers, threads=count),
            "filling the array (what memory allows)": lambda count: (
                out.fill(1) if count == 1 else list(pool.map(lambda half: half.fill(1), halves))
            ),
        }
        for kind, function in kinds.items():
            functions = {str(count): partial(function, count) for count in (1, 2)}
            medians[kind] = common.medians(common.interleaved(functions, chosen.repetitions))
            ratios[kind] = medians[kind]["1"] / medians[kind]["2"]
    cores = len(os.sched_getaffinity(0))
    return {"cores": cores, "seconds": medians, "ratios": ratios, "targets": {"integers": 1.7, "rationals": 1.7}}


def growth(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure how the seconds grow with the number of values, digits and primes; write a plot."""
    kinds = ("integers", "rationals")
    values: dict[str, list[Any]] = {kind: [] for kind in kinds}
    sizes = growing(chosen.greatest)
    space = AdeleSpace()
    out = np.empty((CHUNK, space.n_primes + 1, space.precision), dtype=np.float32)
    chunks = {"integers": random_integers(CHUNK), "rationals": common.random_rationals(space, CHUNK)}
    for size in sizes:
        for kind in kinds:
            stream(space, chunks[kind], min(size, CHUNK), out)
            count = max(1, min(chosen.repetitions, 10**7 // size))
            runs = []
            for _ in range(count):
                start = time.perf_counter()
                stream(space, chunks[kind], size, out)
                runs.append(time.perf_counter() - start)
            values[kind].append(statistics.median(runs))
        console.print(f"  {size:.0e} values: {values['integers'][-1]:.4f} s, {values['rationals'][-1]:.4f} s")
    count = min(chosen.size, 10**5)
    digits = {n: AdeleSpace(precision=n) for n in range(4, 65, 4)}
    primes = {k: AdeleSpace(primes=(2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)[:k]) for k in range(1, 15)}
    by = {
        name: {kind: [typical(s, kind, count, chosen.repetitions) for s in spaces.values()] for kind in kinds}
        for name, spaces in (("digits", digits), ("primes", primes))
    }
    results = {
        "values": {"size": sizes, "seconds": values},
        "digits": {"precision": list(digits), "seconds": by["digits"], "numbers": count},
        "primes": {"n_primes": list(primes), "seconds": by["primes"], "numbers": count},
    }
    plot(results, common.output(chosen, "encode_growth.png"))
    return results


def growing(greatest: int) -> list[int]:
    """Return how many values are encoded: 10^3, 10^4, …, 10^8, as far as `greatest`."""
    return [10**e for e in range(3, 9) if 10**e <= greatest]


def growth_memory(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure how the memory of encoding grows with the number of values, each number in a process of its own."""
    sizes = growing(chosen.greatest)
    peak: dict[str, list[int]] = {"integers": [], "rationals": []}
    for size in sizes:
        for kind, found in peak.items():
            script = f"import encode; print(encode.peak_of_encoding({kind!r}, {size}))"
            done = subprocess.run(
                [sys.executable, "-c", script], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
            )
            found.append(int(done.stdout))
        console.print(f"  {size:.0e} values: " + ", ".join(f"{k} {v[-1] / 2**20:.1f} MiB" for k, v in peak.items()))
    return {"values": sizes, "chunk": CHUNK, "peak_bytes": peak}


def peak_of_encoding(kind: str, size: int) -> int:
    """Return by how many bytes encoding so many numbers raises this process's resident memory, at its highest.

    The array that they are encoded into, of one chunk at most, is counted. The numbers are there before, and so is the
    compiled code, which a first call with a thousand of them loads.
    """
    space = AdeleSpace()
    length = min(size, CHUNK)
    numbers = random_integers(length) if kind == "integers" else common.random_rationals(space, length)
    stream(space, numbers, 1000, np.empty((1000, space.n_primes + 1, space.precision), dtype=np.float32))
    # Not getrusage's ru_maxrss: it starts from the highest that the parent had, and cannot be reset.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak, VmHWM, starts again from what is there
    before = status_bytes("VmHWM")
    out = np.empty((length, space.n_primes + 1, space.precision), dtype=np.float32)
    stream(space, numbers, size, out)
    return status_bytes("VmHWM") - before


def status_bytes(field: str) -> int:
    """Return a size that Linux gives of this process, as VmHWM, the peak of its resident memory, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    [size] = [line.split()[1] for line in lines if line.startswith(f"{field}:")]
    return int(size) * 1024


def stream(space: AdeleSpace, chunk: Any, size: int, out: Array) -> None:
    """Encode so many numbers, a chunk after the other, into the same array."""
    for start in range(0, size, CHUNK):
        stop = min(CHUNK, size - start)
        part = tuple(a[:stop] for a in chunk) if isinstance(chunk, tuple) else chunk[:stop]
        space.tensor(part, out=out[:stop])


def typical(space: AdeleSpace, kind: str, count: int, repetitions: int) -> float:
    """Return the median seconds of encoding so many numbers."""
    numbers = random_integers(count) if kind == "integers" else common.random_rationals(space, count)
    out = np.empty((count, space.n_primes + 1, space.precision), dtype=np.float32)
    return common.medians(common.interleaved({"": lambda: space.tensor(numbers, out=out)}, repetitions))[""]


def plot(results: dict[str, Any], path: Path) -> None:
    """Draw the three growths."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for axis, name, key, label in (
        (axes[0], "values", "size", "values"), (axes[1], "digits", "precision", "digits at each prime"),
        (axes[2], "primes", "n_primes", "primes"),
    ):  # fmt: skip
        for kind, seconds in results[name]["seconds"].items():
            scale = 1 if name == "values" else 1e9 / results[name]["numbers"]
            axis.plot(results[name][key], [s * scale for s in seconds], marker="o", markersize=3, label=kind)
        axis.set_xlabel(label)
        axis.set_ylabel("seconds" if name == "values" else "ns a number")
        if name == "values":
            axis.set_xscale("log")
            axis.set_yscale("log")
        else:
            axis.set_ylim(bottom=0)
            axis.set_xlim(left=0)
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def first(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure import and first calls in fresh processes; compiled code lies on disk since the first of them."""
    script = (
        "import time; start = time.perf_counter(); import adelic; imported = time.perf_counter()\n"
        "import numpy as np; start_call = time.perf_counter()\n"
        "adelic.AdeleSpace().tensor(np.arange(100_000)); print(imported - start, time.perf_counter() - start_call)"
    )
    runs = []
    for _ in range(chosen.repetitions + 1):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        runs.append([float(part) for part in done.stdout.split()])
    imported, call = (statistics.median(column) for column in zip(*runs[1:], strict=True))
    ratios = {"0.3 s / import": 0.3 / imported, "1 s / first call": 1 / call}
    return {
        "seconds": {"import": imported, "first call": call}, "ratios": ratios, "targets": dict.fromkeys(ratios, 1.0)
    }  # fmt: skip


if __name__ == "__main__":
    main()
