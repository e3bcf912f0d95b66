"""Draw the questions of other people's packages, in an environment that has the package and need not have `adelic`.

    PYTHONHASHSEED=0 python experiments/text_sources.py mathematics-dataset > questions.json
    python experiments/text_sources.py reasoning-gym --score < answers.jsonl    # lines [module, index, answer]

`text_questions.py` makes such an environment, runs this file in it and writes what it prints as Parquet. The packages
draw from Python's and NumPy's global generators, and from sets whose order is that of hashes: both are seeded, for
each module and regime anew, so a module's questions do not depend on which others are drawn.
"""

import argparse
import itertools
import json
import os
import platform
import random
import sys
import warnings
import zlib
from importlib.metadata import version

PINS = {
    "mathematics-dataset": (
        "mathematics-dataset==1.0.1",
        "sympy==1.4",
        "mpmath==1.4.1",
        "numpy==1.26.4",
        "absl-py==2.5.1",
        "six==1.17.0",
        "setuptools<81",  # has the distutils that this SymPy imports
    ),
    "reasoning-gym": ("reasoning-gym==0.1.25", "sympy==1.14.0", "mpmath==1.3.0", "numpy==2.4.6"),
}
"""What an environment for each source has."""

TOPICS = {
    "arithmetic": ("add_or_sub", "add_or_sub_in_base", "mul", "div", "add_sub_multiple", "mul_div_multiple", "mixed"),
    "numbers": ("gcd", "lcm", "div_remainder", "is_factor", "place_value", "round_number", "list_prime_factors"),
    "comparison": ("pair", "sort", "kth_biggest", "closest"),
}
MATHEMATICS = tuple(f"{topic}__{name}" for topic, names in TOPICS.items() for name in names)
SEVERAL_STEPS = ("arithmetic__add_sub_multiple", "arithmetic__mul_div_multiple", "arithmetic__mixed")
"""Modules with `--steps` training questions."""
REASONING = (
    "chain_sum",
    "basic_arithmetic",
    "decimal_arithmetic",
    "decimal_chain_sum",
    "products",
    "gcd",
    "lcm",
    "fraction_simplification",
    "calendar_arithmetic",
    "number_sequence",
)
HELD_OUT = 10**6
"""What the seed of held-out sets of reasoning-gym has more than that of training. Its entry k is drawn with the seed
`seed + k`, so the sets of seeds 0 and 1 have all entries but one in common, shifted by one."""
LEVELS = ("train-easy", "train-medium", "train-hard")


def main() -> None:
    """Print rows [module, regime, question, answer] and what was set aside, as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", choices=PINS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--train", type=int, default=4000, help="training questions of a module")
    parser.add_argument("--steps", type=int, default=10000, help="training questions of a module of several steps")
    parser.add_argument("--test", type=int, default=2000, help="questions of a module's test set")
    parser.add_argument("--modules", nargs="+", help="default: all")
    parser.add_argument("--score", action="store_true", help="print the scores of answers on standard input instead")
    given = parser.parse_args()
    if given.score:
        answers = [json.loads(line) for line in sys.stdin]
        json.dump(scores(answers, given.seed), sys.stdout)
        return
    if os.environ.get("PYTHONHASHSEED") != "0":
        raise SystemExit("PYTHONHASHSEED is not 0: the order of sets, and so what is drawn, would differ between runs")
    if given.source == "reasoning-gym":
        found = reasoning(given.modules or REASONING, given.seed, given.train, given.test)
    else:
        found = mathematics(given.modules or MATHEMATICS, given.seed, given.train, given.steps, given.test)
    packages = [pin.split("=")[0] for pin in PINS[given.source] if "==" in pin]
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    json.dump({"versions": versions} | found, sys.stdout, ensure_ascii=False)


def mathematics(modules, seed, n_train, n_steps, n_test):
    """Draw questions of modules of mathematics-dataset: training, interpolation, and extrapolation where there is one.

    Training questions are the package's easy, medium and hard ones in equal parts, as drawn, with repetitions. A test
    question is drawn again if any training question of any module, or an earlier one of its own set, is the same.
    """
    warnings.filterwarnings("ignore")  # of the old SymPy: DeprecationWarning of collections, SyntaxWarning of escapes
    from absl import flags
    from mathematics_dataset import generate

    flags.FLAGS(["text_sources"])
    generate.init_modules(train_split=True)
    drawn = {}
    for module in modules:
        n = n_steps if module in SEVERAL_STEPS else n_train
        for k, level in enumerate(LEVELS):
            _seed(f"{seed}/{level}/{module}")
            count = n // 3 + (k < n % 3)
            rows = [_question(generate, level, module) for _ in range(count)]
            drawn.setdefault((module, "train"), []).extend(rows)
    trained = {question for rows in drawn.values() for question, _ in rows}
    set_aside = {}
    tests = [("interpolate", module) for module in modules]
    for name in generate.filtered_modules["extrapolate"]:
        # Of the names that it begins with the longest: arithmetic__mul_div_multiple_longer begins with arithmetic__mul.
        owners = [module for module in MATHEMATICS if name.startswith(f"{module}_")]
        if owners and max(owners, key=len) in modules:
            tests.append(("extrapolate", name))
    for regime, name in tests:
        sys.stderr.write(f"{regime} {name}\n")
        _seed(f"{seed}/{regime}/{name}")
        draws = (_question(generate, regime, name) for _ in itertools.count())
        drawn[name, regime], set_aside[f"{regime}/{name}"] = kept(draws, trained, n_test)
    rows = [[name, regime, *row] for (name, regime), found in drawn.items() for row in found]
    return {"rows": rows, "set_aside": set_aside}


def reasoning(modules, seed, n_train, n_test):
    """Draw entries of reasoning-gym at its own settings: training at a seed, held-out ones at `seed + HELD_OUT`.

    Rows have the entry's index. A held-out entry is passed over if a training question of any module, or an earlier one
    of its own set, is the same.
    """
    import reasoning_gym

    rows, set_aside = [], {}
    for module in modules:
        entries = reasoning_gym.create_dataset(module, size=n_train, seed=seed)
        rows += [[module, "train", entries[k]["question"], entries[k]["answer"], k] for k in range(n_train)]
    trained = {row[2] for row in rows}
    for module in modules:
        sys.stderr.write(f"interpolate {module}\n")
        entries = reasoning_gym.create_dataset(module, size=HELD_OUT, seed=seed + HELD_OUT)
        draws = ((entries[k]["question"], entries[k]["answer"], k) for k in range(HELD_OUT))
        found, set_aside[f"interpolate/{module}"] = kept(draws, trained, n_test)
        rows += [[module, "interpolate", *row] for row in found]
    return {"rows": rows, "set_aside": set_aside, "held_out_seed": seed + HELD_OUT}


def kept(draws, trained, n):
    """Return the first n drawn rows with different questions that no training has, and how many others there were."""
    found, aside = {}, {"in training": 0, "drawn before": 0}
    while len(found) < n:
        question, *rest = next(draws)
        if question in trained:
            aside["in training"] += 1
        elif question in found:
            aside["drawn before"] += 1
        else:
            found[question] = rest
    return [(question, *rest) for question, rest in found.items()], aside


def scores(answers, seed):
    """Return what reasoning-gym's own scorer gives answers, lists [module, index, text], to held-out entries."""
    import reasoning_gym

    entries, found = {}, []
    for module, k, answer in answers:
        if module not in entries:
            entries[module] = reasoning_gym.create_dataset(module, size=HELD_OUT, seed=seed + HELD_OUT)
        found.append(entries[module].score_answer(answer=answer, entry=entries[module][k]))
    return found


def _seed(text):
    """Seed the generators that packages draw from, which are the global ones."""
    import numpy as np

    random.seed(text)
    np.random.seed(zlib.crc32(text.encode()))  # noqa: NPY002


def _question(generate, regime, module):
    """Draw a question and its answer, both as texts."""
    problem, _ = generate.sample_from_module(generate.filtered_modules[regime][module])
    return str(problem.question), str(problem.answer)


if __name__ == "__main__":
    main()
