"""Bring the baselines in results on drawn tasks up to date: when new ones are added, another may be the best.

    python experiments/question_rules.py           # the quick benchmark's results, in a minute
    python experiments/question_rules.py --full    # all of them, minutes on one core

A rule depends on the questions alone, which the task, its options, the number of examples and the seed determine, and
on no training. In each result of experiments/results/number-theory, experiments/results/columns and the other folders
below that has a rule, `rule` and `rule_name` are those of `adelic.data.rules.best_question_rule`, and nothing else is
changed.
"""

from functools import cache
from pathlib import Path

import common
import numpy as np

from adelic.data.rules import best_question_rule
from adelic.data.sources import DrawnData
from adelic.storage.files import atomic_write
from adelic.storage.records import parse_sealed, seal
from adelic_lab import Result

FOLDERS = ("number-theory", "number-theory-quick", "number-theory-sources", "columns", "column-forms")


def main(*, results: Path = common.RESULTS, full: bool = False) -> None:
    """Go through all files.

    Args:
        results: folder of the results.
        full: all results, in minutes.
    """
    folders = FOLDERS if full else [name for name in FOLDERS if name.endswith("-quick")]
    for path in common.each(sorted(p for name in folders for p in (results / name).glob("*.jsonl"))):
        lines = path.read_bytes().splitlines()
        updated = [with_rule(line, str(path)) for line in lines]
        changed = sum(old != new for old, new in zip(lines, updated, strict=True))
        common.say(f"{changed} of {len(lines)} changed")
        if changed:
            atomic_write(path, b"".join(line + b"\n" for line in updated))


def with_rule(line: bytes, place: str) -> bytes:
    """Return the line of a result with today's best rule, as it is if the rule is the same or there is none."""
    result = Result.parse(line, place)
    if result.rule is None:
        return line
    given = result.configuration["data"]
    data = DrawnData(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})
    name, rule = best(data, result.seed, result.rows["test"])
    if (name, rule) == (result.rule_name, result.rule):
        return line
    return seal(parse_sealed(line) | {"rule": rule, "rule_name": name}).encode()


@cache
def best(data: DrawnData, seed: int, n_tests: int) -> tuple[str, float]:
    """Return the best rule's name, and its accuracy on so many test questions."""
    operands, answers = data.questions(seed)
    rule = best_question_rule(data.drawn, operands, answers)
    tested, wanted = [], []
    for asked, right in data.tests(seed, operands):
        tested.append(asked)
        wanted.append(right)
        if sum(map(len, wanted)) >= n_tests:
            break
    X, y = np.concatenate(tested), np.concatenate(wanted)
    if len(y) != n_tests:
        raise ValueError(f"{data.label} has {n_tests:,} test questions, and {len(y):,} were drawn")
    return rule.name, rule.accuracy(X, y)


if __name__ == "__main__":
    common.run(main)
