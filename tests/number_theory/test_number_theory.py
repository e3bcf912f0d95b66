"""The drawn tasks: answers against definitions and other systems, splits that share nothing, bounds that hold."""

import itertools
import math
import tracemalloc
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from adelic.data import DrawnData
from adelic.errors import ConfigurationError, UnknownNameError
from adelic.number_theory import TASKS, task
from adelic.number_theory.arithmetic import ARITHMETIC, COMPOSITE_MODULUS, MAX_TERMS, PRIME_MODULUS
from adelic.number_theory.collatz import long_step
from adelic.number_theory.composition import COMPOSITION
from adelic.number_theory.conics import _has_new_pair
from adelic.number_theory.drawing import held_out
from adelic.number_theory.symbols import REAL, has_zero, hilbert_symbol
from adelic_lab import EmbeddingConfig, Experiment, load_recipe

CASES = [(name, split) for name in TASKS if name not in COMPOSITION for split in TASKS[name].splits]  # tested beside it
PRIMES = (2, 3, 5, 7, 11, 13)


def rng(seed=0):
    return np.random.default_rng(seed)


def without(n, p):
    """Return how often p divides n, and what is left."""
    count = 0
    while n % p == 0:
        n, count = n // p, count + 1
    return count, n


def iterated(n):
    """The long step by the steps themselves."""
    while n % 2:
        n = (3 * n + 1) // 2
    while n % 2 == 0:
        n //= 2
    return n


# From the definitions, in Python's integers; a class by its name.
REFERENCES = {
    "gcd": lambda a, b: str(math.gcd(a, b)) if math.gcd(a, b) <= 100 else "greater",
    "squarefree": lambda n: "squarefree" if max(sympy.factorint(n).values()) == 1 else "divisible by a square",
    "moebius": lambda n: str(sympy.functions.combinatorial.numbers.mobius(n)),
    "collatz": iterated,
    "modular-sum": lambda *terms: str(sum(terms) % 257),
    "valuation": lambda n: str(without(n, 7)[0]),
    "unit": lambda n: str(without(n, 7)[1] % 7),
    "order": lambda a: str(next(k for k in range(1, 7) if a**k % 7 == 1)),
    "maximum": max,
    "distance": lambda a, b: max(a, b) - min(a, b),
    "clipped-sum": lambda a, b: min(a + b, 10**6),
    "rounding": lambda n: 10 * (n // 10 + (n % 10 > 4)),
    "integer-part": lambda n: math.floor(Fraction(n, 7)),
    "sorting": lambda first, *others: str(sorted([first, *others]).index(first) + 1),
    "floor-quotient": lambda a, b: a // b,
    "decimal-digit": lambda n: f"{n:06d}"[-4],
    "residue": lambda n: str(n % 97),
    "noisy-sum": lambda a, b: round(a / 1000) + round(b / 1000),
    "addition": lambda a, b: a + b,
    "subtraction": lambda a, b: a - b,
    "multiplication": lambda a, b: a * b,
    "exact-division": Fraction,
    "fraction-addition": lambda a, b: a + b,
    "fraction-multiplication": lambda a, b: a * b,
    "sum": lambda *terms: sum(terms),
    "product": lambda *terms: math.prod(terms),
    "polynomial": lambda x: 3 * x**3 - 7 * x**2 + 2 * x - 11,
    "comparison": lambda a, b: "1" if a > b else "0",
    "modular-inverse": lambda x: pow(x, -1, COMPOSITE_MODULUS),
    "modular-inverse-prime": lambda x: pow(x, -1, PRIME_MODULUS),
}


@pytest.mark.parametrize(("name", "split"), [case for case in CASES if case[0] in REFERENCES])
def test_answers(name, split):
    asked = TASKS[name]
    n = 60 if name in ("squarefree", "moebius") else 400
    operands, answers = asked.sample(n, rng(), split)
    for row, answer in zip(operands.tolist(), answers.tolist(), strict=True):
        wanted = REFERENCES[name](*row)
        assert (asked.class_names[answer] if asked.class_names else answer) == wanted, row
    if name in ARITHMETIC and not asked.class_names:
        assert {type(answer) for answer in answers.tolist()} <= {int if asked.answers_are_integers else Fraction, int}
        assert {type(x) for x in operands.ravel().tolist()} == {int if asked.operands_are_integers else Fraction}


@pytest.mark.parametrize(("name", "split"), [(name, split) for name in TASKS for split in TASKS[name].splits])
def test_bounds_and_shapes(name, split):
    asked = TASKS[name]
    operands, answers = asked.sample(300, rng(1), split)
    assert operands.shape == (300, asked.arity)
    assert operands.dtype == (np.int64 if asked.operands_are_integers else object)
    assert answers.shape == (300,)
    numbers, results = ([Fraction(x) for x in values.ravel().tolist()] for values in (operands, answers))
    assert max(abs(f.numerator) for f in numbers) <= asked.max_operand
    assert max(f.denominator for f in numbers) <= asked.max_operand_denominator
    assert max(abs(f.numerator) for f in results) <= asked.max_numerator
    assert max(f.denominator for f in results) <= asked.max_denominator
    assert asked.signed or asked.operators or min(numbers + results) >= 0
    if asked.class_names is None:
        assert {type(answer) for answer in answers.tolist()} <= {int, Fraction}
    else:
        assert answers.dtype == np.int64
        assert 0 <= min(answers) <= max(answers) < len(asked.class_names)
    again, other = asked.sample(300, rng(1), split), asked.sample(300, rng(4), split)
    assert (operands == again[0]).all()
    assert (answers == again[1]).all()
    assert (operands != other[0]).any()
    if asked.commutative:
        assert (asked.solve(operands[:, ::-1]) == answers).all()


@pytest.mark.parametrize("name", [name for name in TASKS if name not in ("valuation", "order")])
def test_no_test_question_is_trained_on(name):
    asked = task(name, **{"limit": 5000} if "limit" in TASKS[name].options else {})
    trained, _ = asked.sample(300, rng(2))
    keys = set(map(tuple, asked.keys(trained).tolist()))
    assert len(keys) == 300
    for split in ("test", *asked.never_seen):
        others, _ = asked.sample(300, rng(2), split, exclude=trained)  # the same stream, so that collisions are sure
        assert not keys & set(map(tuple, asked.keys(others).tolist()))


@pytest.mark.parametrize(
    ("name", "options", "count"),
    [
        ("modular-sum", {}, 257),
        ("modular-sum", {"modulus": 1000}, 1000),
        ("modular-sum", {"modulus": 1001}, None),
        ("order", {"prime": 997}, 997),
        ("valuation", {"prime": 2, "limit": 1000}, 10),
        ("residue", {"modulus": 5}, 5),
        ("maximum", {"limit": 999}, 1000),
        ("maximum", {}, None),
        ("floor-quotient", {"limit": 100}, 101),
        ("noisy-sum", {"limit": 400}, 801),
        ("comparison", {}, 2),
        ("collatz", {}, None),
        ("subtraction", {}, None),
    ],
)
def test_few_numbers_are_classes(name, options, count):
    asked = task(name, **options)
    assert asked.answers_are_numbers
    operands, answers = asked.sample(100, rng())
    assert answers.dtype == (object if count is None else np.int64)
    assert asked.class_names == (None if count is None else tuple(map(str, range(count))))
    assert answers.tolist() == asked.solve(operands).tolist()


def test_classes_with_other_names_are_no_numbers():
    others = {name for name in TASKS if not TASKS[name].answers_are_numbers}
    named = {"gcd", "squarefree", "moebius", "conic", "ternary-form", "root-number", "unit", "sorting"}
    assert others == named


@pytest.mark.parametrize(
    "name", ["order", "unit", "valuation", "modular-sum", "residue", "decimal-digit", "sorting", "comparison"]
)
@pytest.mark.parametrize("embedding", ["adelic", "fone", "xval", "base-digits", "angular", "residues"])
def test_networks_with_any_embedding_learn_classes(name, embedding):
    data = DrawnData(name)
    experiment = Experiment(data=data, model=EmbeddingConfig.of(embedding), recipe=load_recipe("fresh", data.row))
    assert experiment.is_network
    assert experiment.questions.drawn.class_names


def test_distributions_of_gcds():
    def counted(outcomes, split="train"):
        operands, _ = task("gcd", outcomes=outcomes).sample(20_000, rng(), split)
        return Counter(np.gcd(operands[:, 0], operands[:, 1]).tolist())

    uniform, log, by_outcome = (counted(o) for o in ("uniform", "log-uniform-operands", "log-uniform"))
    assert uniform[1] / 20_000 == pytest.approx(6 / math.pi**2, abs=0.015)
    assert log[1] < 0.75 * 20_000
    assert by_outcome[1] / by_outcome[2] == pytest.approx(2, rel=0.15)
    assert by_outcome[1] / by_outcome[10] == pytest.approx(10, rel=0.25)
    assert max(by_outcome) <= 1000
    stratified = counted("uniform", "stratified")
    assert set(stratified) == set(range(1, 101))
    assert max(stratified.values()) < 2 * min(stratified.values())


def test_numbers_that_training_never_sees():
    train, _ = TASKS["gcd"].sample(3000, rng())
    new, _ = TASKS["gcd"].sample(3000, rng(), "new numbers")
    assert not held_out(train).any()
    assert held_out(new).all()
    for modulus in (2, 3, 5, 7, 64):  # being held out says nothing of residues
        counts = np.bincount(np.arange(10**5)[held_out(np.arange(10**5))] % modulus, minlength=modulus)
        assert abs(counts - counts.mean()).max() < 5 * counts.mean() ** 0.5


def solvable_modulo(a, b, p):
    """Whether a x² + b y² = z² has a solution modulo a power of p in which not all are divisible by p."""
    q = 2**6 if p == 2 else p**3
    squares = np.arange(q) ** 2
    sums = (a * squares[:, None] + b * squares[None, :]) % q  # [x, y]
    is_square = np.isin(np.arange(q), squares % q)
    unit_square = np.isin(np.arange(q), squares[np.arange(q) % p != 0] % q)
    is_unit = np.arange(q) % p != 0
    with_unit = is_unit[:, None] | is_unit[None, :]
    return bool((is_square[sums] & with_unit).any() or unit_square[sums].any())


@pytest.mark.parametrize("p", [2, 3, 5])
def test_hilbert_symbols_say_whether_there_are_local_solutions(p):
    coefficients = [s * c for s in (1, -1) for c in (1, 2, 3, 5, 6, 7, 10, 15)]
    for a, b in itertools.combinations_with_replacement(coefficients, 2):
        assert (hilbert_symbol(np.array([a]), np.array([b]), p)[0] == 1) == solvable_modulo(a, b, p), (a, b)


@pytest.mark.parametrize("p", [10**7 + 19, 2**61 - 1])
def test_hilbert_symbols_at_large_primes_take_no_table(p):
    units = np.arange(1, 200)
    expected = [int(sympy.jacobi_symbol(u, p)) for u in units.tolist()]
    tracemalloc.start()
    symbols = hilbert_symbol(units, np.array([p]), p)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert symbols.tolist() == expected
    assert peak < 10**6  # squares modulo p would be as many as p / 2


NONZERO = st.integers(-(10**6), 10**6).filter(bool)


@given(a=NONZERO, b=NONZERO)
def test_the_product_of_hilbert_symbols_is_one(a, b):
    places = {REAL, 2, *sympy.primefactors(abs(a)), *sympy.primefactors(abs(b))}
    assert math.prod(int(hilbert_symbol(np.array(a), np.array(b), int(p))) for p in places) == 1


@given(a=NONZERO, b=NONZERO, c=NONZERO, p=st.sampled_from([REAL, *PRIMES]))
def test_laws_of_hilbert_symbols(a, b, c, p):
    def symbol(x, y):
        return int(hilbert_symbol(np.array(x), np.array(y), p))

    assert symbol(a, b) == symbol(b, a)
    assert symbol(a * b, c) == symbol(a, c) * symbol(b, c)
    assert symbol(a, -a) == 1
    assert symbol(a * c * c, b) == symbol(a, b)
    if a != 1:
        assert symbol(a, 1 - a) == 1


def test_forms_with_a_zero_have_a_small_one():
    """Holzer: of squarefree, pairwise coprime a, b, c a zero has |x| ≤ √|bc|, |y| ≤ √|ca| and |z| ≤ √|ab|."""
    values = [s * c for s in (1, -1) for c in (1, 2, 3, 5, 7, 11)]
    checked = Counter()
    for a, b, c in itertools.product(values, repeat=3):
        if math.gcd(a, b) == math.gcd(b, c) == math.gcd(a, c) == 1:
            x, y, z = (np.arange(math.isqrt(abs(m)) + 1) ** 2 for m in (b * c, c * a, a * b))
            zeros = a * x[:, None, None] + b * y[None, :, None] + c * z[None, None, :] == 0
            zeros[0, 0, 0] = False
            found = bool(has_zero(*(np.array([v]) for v in (a, b, c)), PRIMES)[0])
            assert found == bool(zeros.any()), (a, b, c)
            checked[found] += 1
    assert min(checked.values()) > 50


def test_the_conic_is_the_form_with_minus_one():
    X, y = TASKS["conic"].sample(500, rng())
    full = np.column_stack([X, np.full(len(X), -1)])
    assert (TASKS["ternary-form"].solve(full) == y).all()
    assert 0.02 < y.mean() < 0.2  # as rare as the prototypes found them


@pytest.mark.parametrize("name", ["conic", "ternary-form"])
def test_training_never_joins_held_out_primes(name):
    primes = tuple(p for p in range(2, 32) if sympy.isprime(p))
    train, new = (TASKS[name].sample(500, rng(), split)[0] for split in ("train", "new combinations"))
    assert not _has_new_pair(train, primes).any()
    assert _has_new_pair(new, primes).all()
    for row in train[:50].tolist():
        factors = [set(sympy.primefactors(abs(v))) for v in row]
        pairs = {(min(p, q), max(p, q)) for f, g in itertools.permutations(factors, 2) for p in f for q in g if p != q}
        assert not any(held_out(np.array(p * 1000 + q)) for p, q in pairs)


def test_long_steps_of_large_numbers():
    X, y = TASKS["collatz"].sample(2000, rng(), "larger")
    assert X.min() > 10**12
    assert [iterated(n) for n in X[:, 0].tolist()] == y.tolist()
    assert long_step(2**60 - 1) == iterated(2**60 - 1)


def test_valuations_are_equally_likely():
    _, y = task("valuation", prime=2, limit=10**6).sample(5000, rng(), "test")
    counts = np.bincount(y)
    assert len(counts) == 20
    assert counts.max() < 2 * counts.min()


@pytest.mark.parametrize("split", ["test", "larger"])
def test_residues_of_orders_are_equally_likely(split):
    X, _ = TASKS["order"].sample(14_000, rng(), split)
    counts = np.bincount(X[:, 0] % 7, minlength=7)
    assert counts[0] == 0
    assert abs(counts[1:] - counts[1:].mean()).max() < 5 * counts[1:].mean() ** 0.5
    assert split == "test" or X.min() > 10**9


def test_units_of_valuations_are_uniform():
    """Not all are 1 where the drawn unit was divisible: of 2^k·u up to 2^40, hardly any u is 1 for small k."""
    X, y = task("valuation", prime=2, limit=2**40).sample(5000, rng(), "test")
    units = np.array([without(n, 2)[1] for n in X[:, 0].tolist()])
    assert np.mean(units[y < 20] == 1) < 0.001


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("gcd", {"limits": 10}, "gcd has no option 'limits'; options: limit, outcomes"),
        ("gcd", {"limit": 0}, "limit=0 must be a whole number from 2000"),
        ("gcd", {"limit": "many"}, "limit='many' must be a whole number"),
        ("gcd", {"outcomes": "log"}, "unknown outcomes 'log'"),
        ("unit", {"prime": 9}, "prime=9 is not a prime"),
        ("decimal-digit", {"limit": 100, "place": 4}, "place=4 is beyond the digits of limit=100"),
        ("addition", {"limit": 5}, "addition has no option 'limit'; options: digits"),
        ("modular-inverse", {"limit": 5}, "modular-inverse has no option 'limit'; options: none"),
        ("multiplication", {"digits": 10}, "digits=10"),
    ],
)
def test_options_that_there_are_not(name, options, words):
    with pytest.raises((ConfigurationError, UnknownNameError)) as caught:
        task(name, **options)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_task_or_split():
    with pytest.raises(UnknownNameError, match="did you mean 'moebius'"):
        task("moebious")
    with pytest.raises(UnknownNameError, match="splits: train, test, longer"):
        task("addition").sample(1, rng(), "more terms")


def test_options_as_texts_of_the_data():
    data = DrawnData("gcd", 100, task_options=("outcomes=uniform", "limit=5000"))
    assert data == DrawnData("gcd", 100, task_options=("limit=5000", "outcomes=uniform"))
    assert data.drawn.max_operand == 5000
    assert data.as_dict()["task_options"] == ["limit=5000", "outcomes=uniform"]
    assert "task_options" not in DrawnData("gcd", 100).as_dict()
    assert data.arguments() == ["gcd", "--examples", "100", "--task-options", "limit=5000,outcomes=uniform"]
    for wrong in (("limit",), ("limit=5000", "limit=6000")):
        with pytest.raises(ConfigurationError, match="must be NAME=VALUE, each name once"):
            DrawnData("gcd", 100, task_options=wrong)


# Arithmetic


@pytest.mark.parametrize("name", ["addition", "subtraction", "multiplication", "comparison"])
@pytest.mark.parametrize("digits", [1, 3, 9])
def test_numbers_of_other_lengths(name, digits):
    asked = task(name, digits=digits)
    for split in asked.splits:
        operands, answers = asked.sample(40, rng(), split)
        assert [*map(str, answers)] == [str(REFERENCES[name](*row)) for row in operands.tolist()]
        lengths = {len(str(x)) for x in operands.ravel().tolist()}
        if split == "longer":
            assert min(lengths) == digits + 3
            assert all(len({len(str(x)) for x in row}) == 1 for row in operands.tolist())
        else:
            assert max(lengths) == digits
        assert max(map(abs, answers.tolist())) <= asked.max_numerator
        assert operands.max() <= asked.max_operand


def test_products_of_one_digit_are_drawn_to_their_end():
    """There are 55, since the order of the factors makes no other question."""
    asked = task("multiplication", digits=1)
    operands, _ = asked.sample(55, rng())
    assert {tuple(sorted(row)) for row in operands.tolist()} == {(a, b) for b in range(10) for a in range(b + 1)}
    with pytest.raises(ConfigurationError, match="multiplication has no 56 different questions"):
        asked.sample(56, rng())


def test_bounds_of_fraction_addition_are_those_of_its_extreme_cases():
    asked, n = ARITHMETIC["fraction-addition"], 10**6 - 1
    sums = [Fraction(n, a) + Fraction(n, b) for a in range(1, 11) for b in range(1, 11)]
    assert max(s.numerator for s in sums) <= asked.max_numerator
    assert max((Fraction(1, a) + Fraction(1, b)).denominator for a in range(1, 11) for b in range(1, 11)) == 90
    assert asked.max_denominator == 90


@pytest.mark.parametrize("name", ["addition", "fraction-addition", "sum"])
def test_the_order_of_operands_makes_no_other_question(name):
    asked = ARITHMETIC[name]
    operands, _ = asked.sample(500, rng())
    others, _ = asked.sample(500, rng(), "test", exclude=operands[:, ::-1])
    assert not set(map(tuple, asked.keys(operands).tolist())) & set(map(tuple, asked.keys(others).tolist()))


def test_small_problems_are_drawn_to_their_end():
    asked = ARITHMETIC["polynomial"]
    operands, _ = asked.sample(9_990, rng())
    others, _ = asked.sample(100, rng(1), "test", exclude=operands)
    assert set(others[:, 0].tolist()) <= set(range(10_000)) - set(operands[:, 0].tolist())
    with pytest.raises(ConfigurationError, match=r"polynomial has no 10,001 different questions \(about 10,000\)"):
        asked.sample(10_001, rng())


@pytest.mark.parametrize("name", ["fraction-addition", "fraction-multiplication"])
def test_fractions(name):
    short, long = (ARITHMETIC[name].sample(2000, rng(), split)[0].ravel() for split in ("train", "longer"))
    assert {f.denominator for f in short} == {f.denominator for f in long} == set(range(1, 11))
    assert max(abs(f.numerator) for f in short) < 1000
    assert min(abs(f.numerator) * (10 // f.denominator + 1) for f in long) >= 1000
    assert {f > 0 for f in long} == {True, False}


@pytest.mark.parametrize("name", ["sum", "product"])
def test_terms_end_in_the_neutral_element(name):
    asked = ARITHMETIC[name]
    for split, most in (("train", 5), ("more terms", 12)):
        operands, _ = asked.sample(2000, rng(), split)
        assert operands.shape[1] == MAX_TERMS
        assert (operands[:, most:] == asked.neutral).all()
        lengths = [max([i + 1 for i, x in enumerate(row) if x != asked.neutral], default=0) for row in operands]
        assert max(lengths) == most
    assert min(lengths) > 5


def test_exact_division_is_exact_and_long_ones_are_longer():
    operands, quotients = ARITHMETIC["exact-division"].sample(2000, rng(), "longer")
    assert (operands[:, 0] % operands[:, 1] == 0).all()
    assert {len(str(q)) for q in quotients} == {9}
    assert {len(str(a)) for a in operands[:, 0]} <= set(range(9, 14))
