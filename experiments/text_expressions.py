"""Draw expressions in the form of two published benchmarks, and with numbers longer than those of training.

`python experiments/text_questions.py expressions` writes them as Parquet. None is a question of those benchmarks, and
figures of theirs are not on these questions.

- `arithmark__…`: as ArithMark 2.0 (AxiomicLabs, a dataset on Hugging Face; one to three operators, of its 2,500
  questions 1,250, 750 and 500, which follows from the shares that its discussion 4 gives). "30 + 8 * (21 + 45) =":
  operands below 150, at most two pairs of brackets around two operands, every quotient an integer, answers below 1,000
  in size. These are what the preview of the training set shows that was made for it (TobiasLogic/arithmark-2.0-train);
  the generator is not published. Ours draws operators evenly, and no quotient by 0 or 1, or of 0.
- `bigbench__n_digit_…`: "What is 132 plus 762?", as the README of BIG-bench's task "arithmetic" has it: + − × ÷ with
  numbers of 1 to 5 digits, no negative difference, exact quotients. Ours divide a number of n digits by any of its
  divisors. Training has 1 to 3 digits, so 4 and 5 are extrapolation; of one digit, which has 23 quotients, a third
  of all questions is held out.
- `long__sum`, `long__product`: "… + … =" with numbers of 1 to 15 digits in training, of 50 in extrapolation.
"""

import random
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product, repeat
from typing import Any

from text_sources import kept

SHARES = {1: Fraction(1, 2), 2: Fraction(3, 10), 3: Fraction(1, 5)}
"""Which share of ArithMark's questions has so many operators."""
SHAPES = {
    1: ("{} {} {}",),
    2: ("{} {} {} {} {}", "({} {} {}) {} {}", "{} {} ({} {} {})"),
    3: (
        "{} {} {} {} {} {} {}",
        "({} {} {}) {} {} {} {}",
        "{} {} ({} {} {}) {} {}",
        "{} {} {} {} ({} {} {})",
        "({} {} {}) {} ({} {} {})",
    ),
}
WORDS = {"addition": "plus", "subtraction": "minus", "multiplication": "times", "division": "divided by"}
ONE_DIGIT = {"addition": 100, "subtraction": 55, "multiplication": 100, "division": 23}
"""How many questions there are on numbers of one digit."""
TRAINED_DIGITS = 3
LONG_TRAINED, LONG = 15, 50
Question = tuple[str, str]
Kind = tuple[Callable[..., Question], int, int, str]
"""What draws a question, how many of them training and the test have, and the test's regime."""


class Exact(int):
    """An integer whose / is exact, by at least 2 and of something else than 0.

    >>> Exact(12) / Exact(4), Exact(2) + 3 * Exact(4)
    (3, 14)
    """

    def __truediv__(self, other: int) -> "Exact":
        if other in (0, 1) or self == 0 or self % other:
            raise ZeroDivisionError(f"{self} / {other}")
        return Exact(self // other)

    def __add__(self, other: int) -> "Exact":
        return Exact(int(self) + int(other))

    def __sub__(self, other: int) -> "Exact":
        return Exact(int(self) - int(other))

    def __mul__(self, other: int) -> "Exact":
        return Exact(int(self) * int(other))


def drawn(seed: int, modules: Sequence[str] | None = None, train: int = 5000, test: int = 2000) -> dict[str, Any]:
    """Return rows [module, regime, question, answer] of the three kinds, and how often what was drawn again.

    `train` and `test` are for each kind, which its modules share.
    """
    kinds: dict[str, Kind] = {}
    for count, share in SHARES.items():
        name = f"arithmark__{count}_operator{'s' if count > 1 else ''}"
        kinds[name] = (partial(arithmark, count=count), int(train * share), int(test * share), "interpolate")
    for digits, operation in product(range(1, 6), WORDS):
        is_trained = digits <= TRAINED_DIGITS
        kinds[f"bigbench__{digits}_digit_{operation}"] = (
            partial(bigbench, digits=digits, operation=operation),
            train // (TRAINED_DIGITS * len(WORDS)) if is_trained else 0,
            min(test // (5 * len(WORDS)), ONE_DIGIT[operation] // 3 if digits == 1 else test),
            "interpolate" if is_trained else "extrapolate",
        )
    for name, sign in (("sum", "+"), ("product", "*")):
        kinds[f"long__{name}"] = (partial(long, sign=sign), train // 2, test // 2, "extrapolate")
    kinds = {name: kind for name, kind in kinds.items() if not modules or name in modules}
    # Tests first: some are a good part of all questions that there are, which training then has to leave.
    tests: dict[str, list[Question]] = {}
    for name, (draw_one, _, n_test, regime) in kinds.items():
        draws = map(partial(draw_one, regime=regime), repeat(random.Random(f"{seed}/{regime}/{name}")))
        tests[name], _ = kept(draws, (), n_test)
    held_out = {question for questions in tests.values() for question, _ in questions}
    rows: list[list[str]] = []
    set_aside: dict[str, dict[str, int]] = {}
    for name, (draw_one, n_train, _, regime) in kinds.items():
        rng = random.Random(f"{seed}/train/{name}")
        trained: list[list[str]] = []
        again = 0
        while len(trained) < n_train:
            question, answer = draw_one(rng, regime="train")
            again += question in held_out
            trained += [[name, "train", question, answer]] * (question not in held_out)
        rows += trained + [[name, regime, *row] for row in tests[name]]
        set_aside |= {f"train/{name}": {"in the test": again}} if again else {}
    return {"rows": rows, "set_aside": set_aside}


def arithmark(rng: random.Random, *, regime: str, count: int) -> Question:
    """Draw an expression with so many operators and its value, in every regime alike."""
    shape = rng.choice(SHAPES[count])
    operators = [rng.choice("+-*/") for _ in range(count)]
    while True:
        operands = [str(rng.randrange(rng.choice((10, 30, 150)))) for _ in range(count + 1)]
        text = shape.format(*(part for pair in zip(operands, [*operators, ""], strict=True) for part in pair))
        try:
            value = eval(re.sub(r"\d+", r"E(\g<0>)", text), {"__builtins__": {}, "E": Exact})
        except ZeroDivisionError:
            continue
        if abs(value) < 1000:
            return f"{text} =", str(value)


def bigbench(rng: random.Random, *, regime: str, digits: int, operation: str) -> Question:
    """Draw a question on two numbers of so many digits and its answer, in every regime alike."""
    least = 0 if digits == 1 and operation != "division" else 10 ** (digits - 1)
    a, b = (rng.randrange(least, 10**digits) for _ in range(2))
    if operation == "subtraction":
        a, b = max(a, b), min(a, b)
    elif operation == "division":
        b = rng.choice([k for k in range(1, a + 1) if a % k == 0])
        return f"What is {a} divided by {b}?", str(a // b)
    value = {"addition": a + b, "subtraction": a - b, "multiplication": a * b}[operation]
    return f"What is {a} {WORDS[operation]} {b}?", str(value)


def long(rng: random.Random, *, regime: str, sign: str) -> Question:
    """Draw a sum or a product of two numbers with 1 to 15 digits in training, with 50 elsewhere."""
    lengths = [rng.randint(1, LONG_TRAINED) if regime == "train" else LONG for _ in range(2)]
    a, b = (rng.randrange(10 ** (n - 1), 10**n) for n in lengths)
    return f"{a} {sign} {b} =", str(a + b if sign == "+" else a * b)
