"""Trivial rules for drawn tasks: what is read off the operands, planted rules that are found, and what chooses them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.data import SampledTask, drawn_task
from adelic.data.readings import MODULI, readings
from adelic.data.rules import TREE_DEPTH, question_rules


def rng(seed=0):
    return np.random.default_rng(seed)


def planted(solve, *, arity=2, low=1, high=10**6, classes=True):
    """A task whose answers are a function of uniform operands."""
    return SampledTask(
        name="planted",
        title="planted",
        arity=arity,
        draws={"train": lambda n, rng: rng.integers(low, high, (n, arity))},
        solve=lambda X: np.asarray(solve(X)).astype(np.int64 if classes else object),
        max_operand=high,
        max_numerator=high,
        signed=low < 0,
        class_names=tuple("0123456789") if classes else None,
    )


def rules(task, n=4000, seed=0):
    return question_rules(task, *task.sample(n, rng(seed)))


INT64 = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(INT64, INT64), min_size=1, max_size=20))
def test_readings_are_what_they_say(pairs):
    X = np.array(pairs, dtype=np.int64)
    found = {name: reading(X).tolist() for name, reading in readings(X).items()}

    def divides(a, b):
        return b == 0 if a == 0 else b % a == 0

    for row, (a, b) in enumerate(pairs):
        for m in MODULI:
            assert found[f"a modulo {m}"][row] == a % m
        assert found["sign of a"][row] == (a > 0) - (a < 0)
        assert found["number of decimal digits of a"][row] == len(str(abs(a)))
        assert found["first decimal digit of a"][row] == int(str(abs(a))[0])
        if "last decimal digit of a" in found:
            assert found["last decimal digit of a"][row] == int(str(a)[-1])
        else:
            assert min(X[:, 0]) >= 0
        assert found["comparison of a and b"][row] == (a > b) - (a < b)
        assert found["which of a and b divides the other"][row] == divides(a, b) + 2 * divides(b, a)
        assert found["a and b modulo 6"][row] == a % 6 + 6 * (b % 6)
        assert found["signs of a and b"][row] == (a > 0) - (a < 0) + 1 + 3 * ((b > 0) - (b < 0) + 1)
    assert set(found["size of a in eighths"]) <= set(range(8))


def test_sizes_are_eighths_of_the_known_questions():
    known = np.arange(800)[::-1, None]
    size = readings(known)["size of n in eighths"]
    assert np.bincount(size(known)).tolist() == [100] * 8
    assert size(np.array([[-5], [99], [100], [799], [10**9]])).tolist() == [0, 0, 1, 7, 7]


def test_three_operands_are_read_jointly_and_of_many_the_first_ones():
    assert "a, b and c modulo 3" in readings(np.ones((1, 3), np.int64))
    of_many = readings(np.ones((1, 1000), np.int64))
    assert "operand 5 modulo 2" in of_many
    assert not [name for name in of_many if "operand 6" in name]


@pytest.mark.parametrize(
    ("name", "arity", "solve"),
    [
        ("n modulo 11", 1, lambda X: X[:, 0] % 11 % 7),
        ("n modulo 100", 1, lambda X: X[:, 0] // 10 % 10),
        ("first decimal digit of n", 1, lambda X: [int(str(n)[0]) for n in X[:, 0].tolist()]),
        ("a and b modulo 5", 2, lambda X: X.prod(axis=1) % 5),
        ("comparison of a and b", 2, lambda X: X[:, 0] < X[:, 1]),
        ("a, b and c modulo 3", 3, lambda X: X.sum(axis=1) % 3),
        ("comparison of operand 1 and operand 3", 4, lambda X: X[:, 0] < X[:, 2]),
    ],
)
def test_a_planted_rule_is_found(name, arity, solve):
    task = planted(solve, arity=arity)
    best = rules(task)[0]
    assert (best.name, best.held_out) == (name, 1.0)
    assert best.accuracy(*task.sample(1000, rng(1), "test")) == 1.0


def test_planted_signs_and_divisors_are_found():
    task = planted(lambda X: X.prod(axis=1) > 0, low=-1000, high=1000)
    assert rules(task)[0].name == "signs of a and b"
    task = planted(lambda X: X[:, 1] % X[:, 0] == 0, high=30)
    best = question_rules(task, *task.sample(400, rng()))[0]
    assert (best.name, best.held_out) == ("which of a and b divides the other", 1.0)


def test_the_tree_joins_readings():
    """No square of a prime up to 5 divides n: three residues decide, and each alone decides less."""
    task = planted(lambda X: (X[:, 0] % 4 > 0) & (X[:, 0] % 9 > 0) & (X[:, 0] % 25 > 0), arity=1)
    best, second, *_ = rules(task)
    assert best.name == "tree of trivial features"
    assert best.accuracy(*task.sample(1000, rng(1), "test")) == 1.0
    assert second.held_out < 0.95
    assert TREE_DEPTH == 4  # as the documentation says


def test_nothing_beats_the_most_frequent_class_where_there_is_nothing_to_read():
    task = planted(lambda X: np.zeros(len(X)), arity=1)
    assert rules(task)[0].name == "most frequent class"


def test_the_best_rules_of_tasks_are_known():
    assert rules(drawn_task("order"))[0].name == "n modulo 7"
    assert rules(drawn_task("unit"))[0].name == "n modulo 7"
    assert rules(drawn_task("residue").configured(modulus=25))[0].name == "n modulo 25"
    assert rules(drawn_task("decimal-digit").configured(place=1))[0].name == "n modulo 100"
    assert rules(drawn_task("comparison"))[0].name == "comparison of a and b"
    assert rules(drawn_task("sum"))[0].name == "the sum of the operands"
    assert rules(drawn_task("modular-sum").configured(terms=2))[0].name == "the sum of the operands"
    assert rules(drawn_task("subtraction"))[0].name == "a linear function, rounded"
    assert rules(drawn_task("decimal-digit"))[0].name == "the answer of the nearest n"


def test_rules_are_chosen_and_learnt_from_the_given_questions_alone():
    """Held out is the second half; a rule that is right on the first half alone is not chosen."""
    X = rng().integers(1, 10**6, (2000, 1))
    y = np.where(np.arange(2000) < 1000, X[:, 0] % 3, X[:, 0] % 2)
    task = planted(lambda X: X[:, 0] % 3, arity=1)
    found = {rule.name: rule for rule in question_rules(task, X, y)}
    learnt, held = (X[:1000], y[:1000]), (X[1000:], y[1000:])
    table = [np.bincount(learnt[1][learnt[0][:, 0] % 12 == r]).argmax() for r in range(12)]
    assert found["n modulo 12"].held_out == np.mean(np.array(table)[held[0][:, 0] % 12] == held[1])
    of_all = [np.bincount(y[X[:, 0] % 12 == r]).argmax() for r in range(12)]
    assert found["n modulo 12"].answers(X).tolist() == np.array(of_all)[X[:, 0] % 12].tolist()
    # The answers of a task are asked for by nobody: a task that cannot solve has the same rules.
    unsolved = replace(task, solve=None)
    assert [(rule.name, rule.held_out) for rule in question_rules(unsolved, X, y)] == [
        (rule.name, rule.held_out) for rule in found.values()
    ]


SMALL = st.integers(-9, 9) | INT64


@given(st.lists(st.tuples(SMALL, st.integers(-2, 2)), min_size=1, max_size=30), st.tuples(SMALL, st.integers(-2, 3)))
def test_the_answer_of_the_nearest_question(pairs, asked):
    """Against a search: the least distance in one operand, of two the smaller operand; else the most frequent."""
    X, (a, b) = np.array(sorted(set(pairs)), dtype=np.int64), asked
    y = np.arange(len(X)) % 4
    questions = np.array([asked], dtype=np.int64)
    task = replace(planted(lambda X: 0 * X[:, 0]), signed=True)
    by_name = {rule.name: rule for rule in question_rules(task, X, y)}
    near = min(((abs(int(x) - a), x, right) for (x, z), right in zip(X, y, strict=True) if z == b), default=None)
    expected = np.bincount(y).argmax() if near is None else near[2]
    assert by_name["the answer of the nearest a with the same b"].answers(questions).tolist() == [expected]


def test_neighbours_know_functions_that_are_smooth():
    """The digit of a thousand seldom changes from n to n + 1, a residue does; an integer part does with b."""
    digit = {rule.name: rule.held_out for rule in rules(planted(lambda X: X[:, 0] // 1000 % 10, arity=1))}
    assert digit["the answer of the nearest n"] > 0.65 > 0.2 > digit["n modulo 100"]
    residue = {rule.name: rule.held_out for rule in rules(planted(lambda X: X[:, 0] % 10, arity=1))}
    assert residue["the answer of the nearest n"] < 0.2
    part = drawn_task("floor-quotient").configured(limit=999)
    best = question_rules(part, *part.sample(20_000, rng()))[0]
    assert best.name == "the answer of the nearest a with the same b"
    assert best.held_out > 0.7


def test_numbers_as_answers():
    assert (
        rules(planted(lambda X: 3 * X[:, 0] - 2 * X[:, 1] + 7, classes=False))[0].name == "a linear function, rounded"
    )
    best = rules(planted(lambda X: X[:, 1], classes=False))[0]
    assert (best.name, best.held_out) == ("the value of b", 1.0)
    best = rules(planted(lambda X: X[:, 0] % 8, classes=False))[0]  # few values: classes
    assert (best.name, best.held_out) == ("a modulo 8", 1.0)
    best = rules(planted(lambda X: np.full(len(X), 5), classes=False))[0]
    assert (best.name, best.held_out) == ("most frequent answer", 1.0)


def test_operands_that_cannot_be_read():
    fractions = {rule.name: rule for rule in rules(drawn_task("fraction-addition"), 500)}
    assert fractions.keys() == {
        "most frequent answer",
        "the value of a",
        "the value of b",
        "the sum of the operands",
        "a linear function, rounded",
    }
    X = np.array([[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 3), Fraction(1, 3)]], dtype=object)
    assert fractions["the value of a"].answers(X).tolist() == [Fraction(1, 2), Fraction(1, 3)]
    huge = replace(planted(lambda X: X[:, 0], arity=1, classes=False), max_operand=10**400, max_numerator=10**400)
    X = np.array([[10**400 + i] for i in range(4)], dtype=object)
    best = question_rules(huge, X, X[:, 0])[0]
    assert (best.name, best.held_out) == ("the value of n", 1.0)


def test_few_questions():
    """A question or two; and almost as many classes as questions, of which scikit-learn would warn."""
    for task in (planted(lambda X: X[:, 0] % 2), drawn_task("gcd")):
        for n in (1, 2, 3, 50):
            for rule in rules(task, n):
                assert rule.answers(task.sample(5, rng(1))[0]).shape == (5,)
