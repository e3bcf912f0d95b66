"""Text files under the names, and in the form, that the loader of the dataset's authors reads.

The loader is `get_dataset` of github.com/pnnl/ML4AlgComb (load_datasets.py). It knows no validation examples: ours are
at the end of its train files.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from adelic.acd.facts import words
from adelic.data.dataset import Dataset
from adelic.data.exporting import Content, Layout, LineMaker
from adelic.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class AuthorsLayout:
    """The files of a task, from `facts` on the loader, and the format of their lines.

    Attributes:
        name: the loader's name of the task, its option `data`.
        sizes: the sizes that it reads.
        files: where each file of a split is, with {n}, {steps} (n - 1), {split} (train, test) and {label} to be filled
            in.
        labels: the classes that have separate files, and their {label}; none if a file has all examples.
        in_halves: whether the loader reads no labels, but takes the first half of the examples for those of one file
            and the second half for those of the other, so both files must have equally many.
        lines: of each file, (tokens, target) -> a line without its end.
    """

    name: str
    sizes: Sequence[int]
    files: Sequence[str]
    lines: Sequence[LineMaker]
    labels: Sequence[tuple[int | None, str]] = ((None, ""),)
    in_halves: bool = False


def layout(dataset: Dataset) -> Layout:
    """Return the files of a dataset, train before test, and how to load them; the format `acd` of `export`.

    Of Grassmannian, examples of the greater class are left out until both classes have equally many in each split. It
    is a ConfigurationError if the loader reads no such data.

    >>> import tempfile
    >>> from adelic import acd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = layout(acd.load("mheight", n=8, cache=folder)).files
    >>> [(path, content.split, len(content.X)) for path, content in found.items()]
    [('mheight_function/mHeight_8_train.txt', 'train', 7313), ('mheight_function/mHeight_8_test.txt', 'test', 1828)]
    """
    task, n, parts = dataset.provenance["task"], dataset.provenance["n"], dataset.parts
    known = LAYOUTS[task]
    if n not in known.sizes:
        sizes = ", ".join(map(str, known.sizes))
        raise ConfigurationError(f"the loader of the dataset's authors reads {known.name} for n = {sizes}, not for {n}")
    train = tuple(np.concatenate(pair) for pair in zip(parts["train"], parts["validation"], strict=True))
    files = {}
    for split, (X, y) in {"train": train, "test": parts["test"]}.items():
        most = np.bincount(y).min() if known.in_halves else None
        for (path, line), (label, named) in product(zip(known.files, known.lines, strict=True), known.labels):
            rows = slice(None) if label is None else np.flatnonzero(y == label)[:most]
            files[path.format(n=n, steps=n - 1, split=split, label=named)] = Content(split, X[rows], y[rows], line)
    about = {"loader": f"get_dataset({known.name!r}, {n}, folder=...) of github.com/pnnl/ML4AlgComb"}
    if known.in_halves:
        left_out = dataset.provenance["rows"]["all"] - sum(len(content.y) for content in files.values())
        about["left_out"] = f"{left_out} examples: the loader takes the first half as those of the first file"
    about["validation"] = "validation examples are at the end of the train files: the loader has no such split"
    # No other task and size of the folder has this name.
    return Layout(files, about, description_file=f"{known.name}_{n}.json")


def _schubert(tokens: list[int], target: Any) -> str:
    n = (len(tokens) + 1) // 4
    u, v, w = (_listed(part) for part in (tokens[:n], tokens[n : 2 * n], tokens[2 * n :]))
    return f"([{u}], [{v}], [{w}], {target})"


def _characters(tokens: list[int], target: Any) -> str:
    half = len(tokens) // 2
    lam, mu = (_listed(part for part in partition if part) for partition in (tokens[:half], tokens[half:]))
    return f"([{lam}], [{mu}], {target})"


def _grassmannian(tokens: list[int], target: Any) -> str:
    return "[" + ", ".join(f"[{_listed(tokens[start : start + 4])}]" for start in range(0, 12, 4)) + "]"


def _kl(tokens: list[int], target: Any) -> str:
    """Return x, w and the coefficients up to the last one that is not 0, one digit per entry of x and of w."""
    half = len(tokens) // 2
    x, w = ("".join(map(str, part)) for part in (tokens[:half], tokens[half:]))
    coefficients = list(target)
    while len(coefficients) > 1 and not coefficients[-1]:
        coefficients.pop()
    return f"{x}, {w}," + ",".join(map(str, coefficients))


def _rsk(tokens: list[int], target: Any) -> str:
    closing = len(tokens) // 6
    pieces = ["[", *(f"{entry}, " for entry in range(1, closing)), "], ", ""]
    return "".join([pieces[token] for token in tokens]).replace(", ]", "]").removesuffix(", ")


def _rsk_permutation(tokens: list[int], target: Any) -> str:
    """Return the permutation of 1..n of which the target is the inversion vector, row after row of its triangle."""
    n = len(tokens) // 6 - 1
    bits, rest = iter(target), list(range(1, n + 1))
    return f"[{_listed(rest.pop(sum(islice(bits, n - 1 - i))) for i in range(n))}]"


def _listed(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))


_LINES: Mapping[str, tuple[LineMaker, ...]] = {
    "mheight": (lambda tokens, target: f"({_listed(tokens)});{target}",),
    "weaving": (lambda tokens, _: f"[{_listed(tokens)}]", lambda _, target: str(target)),
    "lattice": (lambda tokens, _: _listed(tokens),),
    "schubert": (_schubert,),
    "quiver": (lambda tokens, _: ",".join(map(str, tokens)),),  # the loader takes " -1" for no number
    "grassmannian": (_grassmannian,),
    "characters": (_characters,),
    "kl": (_kl,),
    "rsk": (_rsk, _rsk_permutation),
}
LAYOUTS = {task: AuthorsLayout(lines=lines, **words(task)["loader"]) for task, lines in _LINES.items()}
"""The tasks, as the loader names them."""
