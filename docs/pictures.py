"""Draw the pictures of docs/pictures: a number at its places, the trees of Z_2 and Z_3, and ⊕ and ⊗ on digits.

`python docs/pictures.py` writes them; with --check it writes nothing, and fails if one of them is not what it would be.
Every digit comes from `adelic`. The colours are readable on light and on dark ground.
"""

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adelic import AdeleSpace
from adelic.numbers.hensel import window_digits
from adelic.storage.files import atomic_write
from adelic_lab.report.plots import render, style

FOLDER = Path(__file__).parent / "pictures"
INK = "#767676"  # 4.5 : 1 on white and 4.1 : 1 on a dark ground
X, Y, Z = "#2a8fd6", "#d9731a", "#1f9e77"
FAINT = 0.45
WIDTH = 6.4
"""Inches: narrow, so the text is large enough to read on a phone, too."""


def draw_tree(p: int, depth: int, numbers: dict[str, str]) -> Figure:
    """Return the tree of Z_p down to a depth, with the paths of some numbers.

    Args:
        p: prime.
        depth: how many digits.
        numbers: the colour of each number, which is written as text.
    """
    figure = Figure(figsize=(WIDTH, 0.6 * depth + 0.9), layout="constrained")
    axes = figure.subplots()
    for digits in nodes(p, depth):
        if digits:
            draw_branch(axes, digits, p, color=INK, linewidth=0.8, alpha=FAINT)
            axes.text(*position(digits, p), str(digits[-1]), color=INK, ha="center", va="center", fontsize=10)
    for i, (text, colour) in enumerate(numbers.items()):
        q = Fraction(text)
        path = tuple(window_digits(q.numerator, q.denominator, p, depth))
        shift = 0.005 * (i - (len(numbers) - 1) / 2)  # paths that run together stay apart by a little
        for k in range(1, depth + 1):
            draw_branch(axes, path[:k], p, shift=shift, color=colour, linewidth=2.4, solid_capstyle="round")
        x, y = position(path, p)
        written = f"{text.replace('-', '−')}\n…{''.join(map(str, path[::-1]))}"
        axes.text(x, y - 0.25, written, color=colour, ha="center", va="top", fontsize=10, weight="bold")
    axes.plot(*position((), p), "o", color=INK, markersize=6, zorder=3)
    for k in range(depth):
        axes.text(-0.01, -k - 1, f"digit of {p}{superscript(k)}", color=INK, ha="right", va="center", fontsize=9)
    axes.set_ylim(-depth - 0.9, 0.1)
    axes.axis("off")
    return figure


def nodes(p: int, depth: int) -> Iterator[tuple[int, ...]]:
    """Yield the nodes of the tree: the lowest digits of a p-adic integer, the lowest one first."""
    for k in range(depth + 1):
        yield from np.ndindex(*(p,) * k)


def position(digits: tuple[int, ...], p: int) -> tuple[float, float]:
    """Return where a node is drawn: the balls of one radius share one height and divide the width."""
    left = sum(digit * float(p) ** -(k + 1) for k, digit in enumerate(digits))
    return left + 0.5 * float(p) ** -len(digits), -float(len(digits))


def draw_branch(axes: Axes, digits: tuple[int, ...], p: int, *, shift: float = 0.0, **look: Any) -> None:
    """Draw the branch that ends in a node, with room for the digits at its ends."""
    start, end = np.array(position(digits[:-1], p)), np.array(position(digits, p))
    lift = 10 * shift * np.sign(end[0] - start[0])  # so that flat branches stay apart, too
    points = [start + (shift, lift) + t * (end - start) for t in (0.2 if len(digits) > 1 else 0, 0.8)]
    axes.plot([x for x, _ in points], [y for _, y in points], **look)


def superscript(k: int) -> str:
    """Return an exponent as text."""
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(k))


def subscript(k: int) -> str:
    """Return an index as text."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(k))


def draw_operation(sign: str, x: str, y: str, p: int, precision: int) -> Figure:
    """Return the digits of x, y and their sum or product in Q_p, with what is carried, and the number that they are.

    Args:
        sign: "⊕" or "⊗".
        x: number without p in the denominator.
        y: number without p in the denominator.
        p: prime.
        precision: how many digits.
    """
    space = AdeleSpace((p,), precision)
    a, b = space.encode(x), space.encode(y)
    result = a + b if sign == "⊕" else a * b
    exact = Fraction(x) + Fraction(y) if sign == "⊕" else Fraction(x) * Fraction(y)
    low_a, low_b = (number.digits[0, ::-1].tolist() for number in (a, b))
    combined = np.add(low_a, low_b) if sign == "⊕" else np.convolve(low_a, low_b)
    sums = combined[:precision].tolist()
    low = result.digits[0, ::-1].tolist()
    carries = carried(sums, p)
    assert [(s + c) % p for s, c in zip(sums, carries, strict=True)] == low
    assert space.encode(exact) == result
    rows: list[tuple[str, str, list[int], str]] = [("x", x, low_a, X), ("y", y, low_b, Y)]
    rows += [("Σ aᵢbⱼ" if sign == "⊗" else "sum", "", sums, INK), ("carry", "", carries, INK)]
    rows += [(f"x {sign} y", str(exact), low, Z)]
    figure = Figure(figsize=(WIDTH, 0.36 * (len(rows) + 1.9)), layout="constrained")
    axes = figure.subplots()
    for i in range(precision):
        axes.text(-i, 1, f"{p}{superscript(i)}", color=INK, ha="center", va="center", fontsize=10)
    for r, (name, value, digits, colour) in enumerate(rows):
        shift = -r - (0.35 if r == len(rows) - 1 else 0)
        weight = "normal" if colour == INK else "bold"
        label = f"{name} = {value}" if value else name
        axes.text(-precision - 2.9, shift, label, color=colour, ha="left", va="center", fontsize=11, weight=weight)
        for i, digit in enumerate(digits):
            axes.text(-i, shift, str(digit), color=colour, ha="center", va="center", fontsize=12, weight=weight)
        if colour != INK:
            axes.text(-precision + 0.2, shift, "…", color=colour, ha="center", va="center", fontsize=12)
    last = -len(rows) + 1
    axes.plot([-precision + 0.05, 0.5], [last + 0.35] * 2, color=INK, linewidth=1.2)
    for i in range(1, precision):  # where a carry comes from
        if carries[i]:
            arrow = {
                "arrowstyle": "->",
                "color": INK,
                "connectionstyle": "arc3,rad=0.25",
                "linewidth": 0.9,
                "alpha": 0.8,
            }
            top = last + 1
            axes.annotate("", (-i + 0.22, top - 0.12), (-i + 0.86, top + 0.82), arrowprops=arrow)
    axes.set_xlim(-precision - 3, 0.6)
    axes.set_ylim(last - 0.9, 1.5)
    axes.axis("off")
    return figure


def draw_places(n: int, primes: tuple[int, ...], precision: int) -> Figure:
    """Return an integer at the real place and at some primes, with its zeros coloured, and its size at each place.

    Args:
        n: positive integer; each prime that divides it is among the primes.
        primes: primes.
        precision: how many digits.
    """
    a = AdeleSpace(primes, precision).encode(n)
    sizes = [Fraction(n), *(Fraction(p) ** -int(v) for p, v in zip(primes, a.valuation(), strict=True))]
    assert np.prod(sizes) == 1
    figure = Figure(figsize=(WIDTH, 0.34 * (len(primes) + 3)), layout="constrained")
    axes = figure.subplots()
    size = {"color": INK, "va": "center", "fontsize": 11}
    axes.text(1.5, 1, "size there", ha="left", **size)
    for r, (p, digits, absolute) in enumerate(zip((0, *primes), [None, *a.digits], sizes, strict=True)):
        name = f"Q{subscript(p)}" if p else "R"
        axes.text(-precision - 1.5, -r, name, color=X, ha="left", va="center", fontsize=12, weight="bold")
        axes.text(1.5, -r, str(absolute), ha="left", **size)
        if digits is None:
            axes.text(0, -r, str(n), color=INK, ha="center", va="center", fontsize=13)
            continue
        zeros = int(a.valuation()[r - 1])
        axes.text(-precision, -r, "…", color=INK, ha="center", va="center", fontsize=13)
        for i, digit in enumerate(digits[::-1].tolist()):
            look = {"color": Y, "weight": "bold"} if i < zeros else {"color": INK}
            axes.text(-i, -r, str(digit), ha="center", va="center", fontsize=13, **look)
    last = -len(primes) - 1
    axes.plot([1.3, 3.2], [last + 0.45] * 2, color=INK, linewidth=1.2)
    axes.text(1.5, last, "product 1", ha="left", **size)
    axes.set_xlim(-precision - 1.7, 4)
    axes.set_ylim(last - 0.5, 1.5)
    axes.axis("off")
    return figure


def carried(sums: list[int], p: int) -> list[int]:
    """Return what arrives at each digit, the lowest one first.

    >>> carried([4, 2, 9], 3)
    [0, 1, 1]
    """
    carries = [0]
    for total in sums[:-1]:
        carries.append((total + carries[-1]) // p)
    return carries


def pictures() -> dict[str, bytes]:
    """Return all pictures by file name."""
    with mpl.rc_context(style(INK)):
        drawn = {
            "places.svg": draw_places(360, (2, 3, 5, 7), 10),
            "tree-2.svg": draw_tree(2, 4, {"7/5": X, "-1": Y, "12": Z}),
            "tree-3.svg": draw_tree(3, 3, {"7/5": X, "-1": Y, "1/4": Z}),
            "add.svg": draw_operation("⊕", "7/5", "22/7", 3, 9),
            "multiply.svg": draw_operation("⊗", "7/5", "22/7", 3, 9),
        }
        return {name: render(figure, "svg", transparent=True) for name, figure in drawn.items()}


def main(arguments: list[str]) -> int:
    """Write the pictures, or with --check compare them; return the exit status."""
    drawn = pictures()
    if "--check" not in arguments:
        for name, content in drawn.items():
            atomic_write(FOLDER / name, content)
        return 0
    changed = [name for name, content in drawn.items() if not is_file_with(FOLDER / name, content)]
    for name in changed:
        sys.stderr.write(f"docs/pictures/{name} is not what docs/pictures.py draws\n")
    return bool(changed)


def is_file_with(path: Path, content: bytes) -> bool:
    """Return whether a file is there and has this content."""
    return path.exists() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
