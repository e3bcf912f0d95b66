"""The answers of a run to the questions of a drawn task, which are drawn again: anybody can count them."""

import json
from functools import lru_cache

import numpy as np

from adelic.data.drawn import Answers, Operands
from adelic.data.sources import DrawnData, source
from adelic.errors import RunFolderError
from adelic_lab.results.predictions import answers_given, digest, unpack_wrong
from adelic_lab.results.result import Result


def asked_again(result: Result) -> dict[str, tuple[Operands, Answers, Answers]] | None:
    """Return the questions that a run was judged by, their answers and what it answered, for each split.

    Questions and right answers are drawn again from the run's seed: operands (n, arity), answers (n,).

    Returns:
        By split, "test" first; None if the result keeps no answers: it is older, or not of a drawn task.

    Raises:
        RunFolderError: other questions are drawn today than those of the result.

    >>> from pathlib import Path
    >>> import tempfile
    >>> from adelic_lab import Experiment, run
    >>> from adelic_lab.config.models import SolverConfig, Steps
    >>> data = DrawnData("comparison", 500, test_cases=100, confirmation_cases=100, never_seen_cases=100)
    >>> experiment = Experiment(data=data, model=SolverConfig(name="least-squares"), recipe=Steps(steps=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(experiment, Path(folder))
    >>> operands, answers, given = asked_again(result)["test"]
    >>> operands.shape, bool((answers == given).mean() == result.test["accuracy"])
    ((100, 2), True)
    """
    if result.wrong is None:
        return None
    kept = {key: value for key, value in result.configuration["data"].items() if key != "seed"}
    asked = _drawn(json.dumps(kept), result.seed, result.test["cases"])
    if digest(asked.values()) != result.asked_sha256:
        raise RunFolderError(
            f"{result.row}, seed {result.seed}: other questions are drawn today than those of the run; count it with "
            f"the version of its commit, {result.commit}"
        )
    return {
        split: (operands, answers, answers_given(answers, unpack_wrong(result.wrong[split])))
        for split, (operands, answers) in asked.items()
    }


@lru_cache(maxsize=2)  # many runs of a plan were asked the same
def _drawn(configuration: str, seed: int, cases: int) -> dict[str, tuple[Operands, Answers]]:
    """Return the questions and answers of each split, "test" first; of test as many parts as have so many cases."""
    kept = json.loads(configuration)
    data = source(kept.pop("task"), **kept)
    assert isinstance(data, DrawnData)
    trained_on, _ = data.questions(seed)
    asked: dict[str, tuple[Operands, Answers]] = {}
    for operands, answers in data.tests(seed, trained_on):
        if "test" in asked:
            operands, answers = (np.concatenate(pair) for pair in zip(asked["test"], (operands, answers), strict=True))
        asked["test"] = operands, answers
        if len(answers) >= cases:
            break
    return asked | {split: (operands, answers) for split, operands, answers in data.never_seen(seed, trained_on)}
