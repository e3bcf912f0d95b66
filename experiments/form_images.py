"""What a table that remembers conics or ternary forms, and knows which have the same answer, would get.

    python experiments/form_images.py        # a minute on one core

Rational substitutions leave it as it is whether a form has a zero, and so does a factor: the coefficients count up to
squares, in any order, and all may be multiplied by one number. Such an image of a test question may be trained on,
though the question itself never is. For the questions of `adelic reproduce number-theory` with seed 0 this counts how
many questions of a split have an image in training, what a table that looks images up would get (else it says "no"),
how many different questions there are, and how many of them are among those of validation.

Writes experiments/results/form_images.json, whose figures stand in docs/number-theory/conic.md.
"""

from pathlib import Path
from typing import Any

import common
import numpy as np
import numpy.typing as npt

from adelic.data.sources import DrawnData
from adelic_lab.plans import read_plan

SERIES = {"conic": "80 passes", "ternary-form": "16 passes"}
"""Tasks, and what the label of their local–global series ends in."""
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
"""The primes of the coefficients in the plan."""
_AT_ONCE = 100
Masks = npt.NDArray[np.int64]


def main(*, output: Path | None = None) -> None:
    """Draw the questions of seed 0, and write what is counted.

    Args:
        output: file of the results.
    """
    plan = [one for one in read_plan("full", "number-theory") if one.label.startswith("local–global")]
    chosen = [one for one in plan if one.task in SERIES and one.label.endswith(SERIES[one.task])]
    tasks = {one.task: counted(one.experiments[0].questions) for one in common.each(chosen, lambda one: one.task)}
    common.write("form_images.json", ("adelic", "numpy"), {"seed": 0, "tasks": tasks}, output)


def counted(questions: DrawnData, seed: int = 0) -> dict[str, Any]:
    """Return what is counted of each split of a task."""
    trained_on, answers, splits = common.drawn_splits(questions, seed, confirmation=True)
    seen, order = np.unique(keys(classes(trained_on)), return_index=True)
    validation = keys(classes(questions.validation(seed, trained_on)[0]))
    found = {}
    for split, (X, y) in splits.items():
        asked = keys(classes(X))
        found[split] = remembered(classes(X), y, seen, answers[order]) | {"different": len(np.unique(asked))}
        found[split]["in_validation"] = float(np.isin(asked, validation).mean())
    return found


def classes(forms: npt.NDArray[Any]) -> Masks:
    """Return the coefficients up to squares as bits, int64: the sign, then a bit for each of `PRIMES`.

    >>> classes(np.array([[6, -1], [-5, 3]])).tolist()
    [[6, 1], [9, 4]]
    """
    found = (forms < 0).astype(np.int64)
    for k, p in enumerate(PRIMES, start=1):
        found |= (forms % p == 0).astype(np.int64) << k
    return found


def keys(forms: Masks) -> Masks:
    """Return a number for each form (…, arity) that does not depend on the order of its coefficients."""
    found: Masks = np.zeros(forms.shape[:-1], np.int64)
    for coefficient in np.moveaxis(np.sort(forms, axis=-1), -1, 0):
        found = (found << (len(PRIMES) + 1)) | coefficient
    return found


def images(forms: Masks) -> Masks:
    """Return the images of forms (n, arity) as (n, m, arity), themselves first.

    A conic a, b is the form a, b, −1: its images are a, b and a, −ab and b, −ab. A ternary form is multiplied by every
    product of a sign and some of `PRIMES`.

    >>> images(classes(np.array([[2, 5]]))).tolist()
    [[[2, 8], [2, 11], [8, 11]]]
    """
    if forms.shape[1] == 2:
        a, b = forms.T
        product = a ^ b ^ 1
        return np.stack([np.stack(pair, axis=-1) for pair in ((a, b), (a, product), (b, product))], axis=1)
    factors: Masks = np.arange(1 << (len(PRIMES) + 1), dtype=np.int64)
    return forms[:, None, :] ^ factors[:, None]


def remembered(forms: Masks, answers: npt.NDArray[Any], seen: Masks, known: npt.NDArray[Any]) -> dict[str, Any]:
    """Return how many of the forms have an image among those seen, and what the answers of these are worth.

    Raises:
        AssertionError: two images have different answers.
    """
    has_image, said = np.zeros(len(forms), np.bool_), np.zeros(len(forms), np.int64)
    for start in range(0, len(forms), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        asked = keys(images(forms[part]))
        at = np.searchsorted(seen, asked).clip(max=len(seen) - 1)
        is_seen = seen[at] == asked
        assert (known[at] == answers[part, None])[is_seen].all(), "images with different answers"
        has_image[part] = is_seen.any(axis=1)
        said[part] = (known[at] * is_seen).max(axis=1)
    shares = {"with_image": has_image, "memory_of_images": said == answers, "most_frequent": answers == 0}
    return {"questions": len(forms)} | {name: float(share.mean()) for name, share in shares.items()}


if __name__ == "__main__":
    common.run(main)
