"""The primes and digits that tasks ask for: they decide the answers, and are those of the benchmark's rows."""

import itertools

import numpy as np
import pytest
from experiments.solvers.parity import local_classes, local_parts

from adelic import number_theory
from adelic.number_theory.root_numbers import local_root_numbers
from adelic.number_theory.spaces import for_divisors, primes_up_to
from adelic.number_theory.symbols import hilbert_symbol
from adelic_lab.plans import read_plan


def residues(space, numbers):
    """What a space's digits say of numbers: their residues modulo p^N_p."""
    return tuple(numbers % p**n for p, n in zip(space.primes, space.precisions, strict=True))


@pytest.mark.parametrize("greatest", [2, 3, 10, 64, 100, 125])
def test_digits_for_divisors_say_which_numbers_divide(greatest):
    space = for_divisors(greatest)
    assert space.primes == primes_up_to(greatest)
    for p, n in zip(space.primes, space.precisions, strict=True):
        assert p ** (n - 1) <= greatest < p**n  # so a valuation up to n − 1 is told from greater ones


@pytest.mark.long
def test_the_digits_of_gcd_decide_it():
    task = number_theory.task("gcd")
    X, y = task.sample(2000, np.random.default_rng(0), "uniform")
    moduli = residues(task.space, X)
    found = np.ones(len(X), dtype=object)
    for p, n, rest in zip(task.space.primes, task.space.precisions, moduli, strict=True):
        for k in range(1, n):
            found *= np.where((rest % p**k == 0).all(axis=1), p, 1)
    found = np.where(found <= 100, found, 101)
    has_great_prime = np.array([max_factor(np.gcd(*row)) > 100 for row in X.tolist()])
    assert (found[~has_great_prime] == y[~has_great_prime] + 1).mean() == 1
    assert has_great_prime.mean() < 0.01


def max_factor(n):
    return max((p for p in primes_up_to(1000) if n % p == 0), default=1)


def test_the_digits_of_a_conic_decide_its_symbols():
    task = number_theory.task("conic", max_prime=7)
    numbers = np.array(task.vocabulary)
    for p, n in zip(task.space.primes, task.space.precisions, strict=True):
        by_digits = {}
        for a, b in itertools.product(numbers.tolist(), repeat=2):
            symbol = int(hilbert_symbol(np.array([a]), np.array([b]), p)[0])
            assert by_digits.setdefault((a % p**n, b % p**n), symbol) == symbol


@pytest.mark.parametrize(
    ("name", "options", "precision"),
    [
        ("gcd", {}, for_divisors(100).precision),
        ("squarefree", {}, 2),
        ("moebius", {"limit": 1000}, 2),
        ("conic", {"max_prime": 7}, {2: 5, 3: 2, 5: 2, 7: 2}),
        ("ternary-form", {"max_prime": 5}, {2: 5, 3: 2, 5: 2}),
        ("modular-sum", {"modulus": 360}, {2: 3, 3: 2, 5: 1}),
        ("modular-sum", {}, 1),
        ("valuation", {"prime": 3, "limit": 100}, 5),  # 3^4 = 81
        ("unit", {"prime": 3, "limit": 100}, 11),  # the largest numbers are up to 100,000, below 3^11
        ("order", {"prime": 11}, 1),
    ],
)
def test_what_tasks_ask_for(name, options, precision):
    task = number_theory.task(name, **options)
    assert task.space.precision == precision
    if "prime" in options:
        assert task.space.primes == (options["prime"],)


def test_the_place_of_a_task_shows_its_answer():
    task = number_theory.task("order", prime=7)
    X, y = task.sample(500, np.random.default_rng(0))
    (residue,) = residues(task.space, X[:, 0])
    assert len(set(zip(residue.tolist(), y.tolist(), strict=True))) == 6
    task = number_theory.task("unit", prime=3, limit=100)
    X, y = task.sample(500, np.random.default_rng(0), "larger")
    seen = task.space.encode(X[:, 0]).digits[:, 0, ::-1]  # the lowest digit that is not 0 says it
    lowest = np.take_along_axis(seen, (seen != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    assert (lowest == y + 1).all()


def test_local_classes_of_curves_say_their_local_signs():
    """Of all curves that agree in valuation and unit of a, b and the discriminant, the sign at 2, 3, 5 and 7 is one."""
    task = number_theory.task("root-number", max_prime=7)
    X, _ = task.sample(3000, np.random.default_rng(0))
    numbers = np.concatenate([X, task.invariants(X)], axis=1)
    signs = local_root_numbers(X[:, 0], X[:, 1], task.space.primes)
    for j, of_prime in enumerate(local_classes(local_parts(numbers, task.space.primes), 16)[1:]):
        classes = [tuple(row) for row in of_prime.tolist()]
        of_class = dict(zip(classes, signs[:, j].tolist(), strict=True))
        assert [of_class[key] for key in classes] == signs[:, j].tolist()
        assert len(of_class) < len(classes)


def test_tasks_whose_answers_no_place_decides_ask_for_none():
    for name in ("maximum", "sorting", "floor-quotient", "decimal-digit", "residue", "noisy-sum"):
        assert number_theory.task(name).space is None
    assert all(number_theory.TASKS[name].space is None for name in number_theory.TASKS if "fraction" in name)


def test_the_benchmark_has_written_what_tasks_ask_for():
    """Its rows name primes and digits, so that no change of a task changes them; they are those of the tasks.

    Sums, one prime and controls have rows with other places, to see what these do.
    """
    said = {}
    for series in read_plan("full", "number-theory"):
        one = series.experiments[0]
        if one.is_network and one.model.name == "adelic" and "primes ≤ 307" not in series.label:
            said.setdefault(series.task, set()).add(one.embedding.space() == one.data.space)
    for task in ("gcd", "squarefree", "moebius", "conic", "ternary-form", "root-number"):
        assert said[task] == {True}, task
