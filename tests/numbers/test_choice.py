"""The cheapest space: everything that it promises decodes, nothing cheaper would do, and labels are no chance."""

import itertools
import math
import operator
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import adelic
from adelic import AdeleSpace, choose_space
from adelic.errors import EncodingError, SpaceError
from adelic.numbers.choice import CANDIDATES, coordinates, prime_information
from adelic.numbers.primes import valuation
from adelic.numbers.rationals import read

ROOMY = 10**7


def random_expression(leaves, operations, rng):
    """Return (exact, adele) of a random expression."""
    if operations == 0:
        return rng.choice(leaves)
    left = rng.randrange(operations)
    (x, a), (y, b) = (random_expression(leaves, k, rng) for k in (left, operations - 1 - left))
    operation = rng.choice([operator.add, operator.sub, operator.mul])
    return operation(x, y), operation(a, b)


rationals_of_all_sizes = st.one_of(
    st.integers(-20, 20).map(Fraction),
    st.fractions(-5, 5, max_denominator=60),
    st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**9),
    st.integers(-(2**63), 2**80).map(Fraction),
    st.builds(lambda n, i, j: Fraction(n, 2**i * 5**j), st.integers(-1000, 1000), st.integers(0, 4), st.integers(0, 3)),
)


@pytest.mark.long
@settings(deadline=None, max_examples=150)
@given(
    st.lists(rationals_of_all_sizes, min_size=1, max_size=5),
    st.integers(0, 4),
    st.sampled_from([CANDIDATES, (2, 3, 5), (2, 5), (3,), (251, 7, 2)]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
@example([Fraction(999999937, 1000000007), Fraction(999999929, 999999999)], 1, (2, 3, 5), False, random.Random(1))
@example([Fraction(1, 2**60), Fraction(1, 3)], 4, (2,), False, random.Random(2))
@example([Fraction(999999937, 1000000007), Fraction(999999929, 999999999)], 1, (2, 3, 5), True, random.Random(1))
def test_every_expression_decodes(values, operations, candidates, by_prime, rng):
    choice = choose_space(values, ROOMY, operations, candidates=candidates, by_prime=by_prime)
    adeles = choice.space.encode(values)
    assert adeles.decode().tolist() == values
    leaves = list(zip(values, adeles, strict=True))
    for _ in range(12):
        exact, computed = random_expression(leaves, rng.randint(0, operations), rng)
        assert computed.decode() == exact


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 10**30), st.integers(0, 2), st.sampled_from([CANDIDATES, (2, 3, 5, 7, 11, 13), (3, 5)]))
def test_digits_by_prime_are_no_more_than_needed(n, operations, candidates):
    """By prime it takes no more coordinates, the same space where it takes as many, and no digit can be spared."""
    same, found = (
        choose_space([n], ROOMY, operations, candidates=candidates, by_prime=by_prime) for by_prime in (False, True)
    )
    assert found.coordinates <= same.coordinates
    assert (found.space == same.space) or found.coordinates < same.coordinates
    need = 2 * max(n ** (operations + 1), (operations + 1) * n)
    if operations == 2:
        need = max(need, 4 * n * n, 2 * (n * n + n))
    for space in found.alternatives:
        modulus = math.prod(p**k for p, k in zip(space.primes, space.precisions, strict=True))
        assert need < modulus
        assert all(modulus <= need * p for p, k in zip(space.primes, space.precisions, strict=True) if k > 1)


def test_digits_by_prime_in_the_table():
    choice = choose_space([10**6], candidates=(2, 3, 5, 7, 11, 13), by_prime=True)
    assert choice.space.precisions == (1, 4, 4, 4)
    assert coordinates(choice.space) == choice.coordinates == 17
    assert "→      4     1-4           0           17" in str(choice)
    assert "primes 5, 7, 11, 13 with 1, 4, 4, 4 digits: 17 of 128 coordinates; the numbers decode" in str(choice)
    with pytest.raises(SpaceError, match=r"the least that would do is 17: .*precision=\{5: 1, 7: 4, 11: 4, 13: 4\}"):
        choose_space([10**6], 16, candidates=(2, 3, 5, 7, 11, 13), by_prime=True)


def test_a_difference_below_its_own_rounding_error_decodes():
    """In float64 x − y = n / (b·d) may be 0: then only the denominator's bound tells the number from its rivals."""
    rng = random.Random(4)
    for _ in range(150):
        n, b, d = rng.choice([3, 5, 7, 11]), rng.randrange(10**8, 10**9), rng.randrange(10**8, 10**9)
        if math.gcd(b, d) != 1 or math.gcd(n, b * d) != 1:
            continue
        a = n * pow(d, -1, b) % b
        x, y = Fraction(a, b), Fraction((a * d - n) // b, d)
        assert x - y == Fraction(n, b * d)
        p, q = choose_space([x, y], ROOMY).space.encode([x, y])
        assert (p - q).decode() == x - y
        assert (q - p).decode() == y - x


def test_denominators_of_the_spaces_own_primes_beyond_float64():
    """The real row knows a denominator from 2^53 on as a bound only, the primes of the space included."""
    for x in (Fraction(3**63, 2**90), Fraction(3**60, 2**30)):
        a = choose_space([x], ROOMY, candidates=(2,)).space.encode(x)
        assert [(a * a).decode(), (a + a).decode(), (a - a).decode()] == [x * x, 2 * x, 0]


def test_numbers_beyond_float64():
    """The real row of a network does not hold them, decoding does."""
    values = [10**9999, Fraction(-7, 10**200 + 1), Fraction(10**400, 19**300)]
    space = choose_space(values, ROOMY, 2).space
    a = space.encode(values)
    for x, p in zip(values, a, strict=True):
        for y, q in zip(values, a, strict=True):
            assert (p * q - p).decode() == x * y - x
    assert choose_space([10**200], ROOMY, 4).space.encode(10**200) ** 5 == 10**1000
    assert (choose_space([10**200], ROOMY, 4).space.encode(10**200) ** 5).decode() == 10**1000


def formal_results(values, operations):
    """Every (|n|, m) over the product of the leaves' denominators, all signs plus, by at most so many operations."""
    levels = [{(abs(q.numerator), q.denominator) for q in values}]
    for k in range(1, operations + 1):
        level = set()
        for i in range(k):
            for (a, m), (b, r) in itertools.product(levels[i], levels[k - 1 - i]):
                level |= {(a * r + b * m, m * r), (a * b, m * r)}
        levels.append(level)
    return set().union(*levels)


def brute_force(values, operations, candidates):
    """The least (n_primes + 1) · precision over all subsets of the candidates."""
    powers = {p: max(valuation(q.denominator, p) for q in values) for p in candidates}
    results = formal_results(values, operations)
    best = {}
    for size in range(1, len(candidates) + 1):
        for primes in itertools.combinations(sorted(candidates), size):
            need = 0
            for a, m in results:
                taken = math.prod(p ** valuation(m, p) for p in primes)
                need = max(need, Fraction(2 * a * m, taken**2))
            fractional = (operations + 1) * max(powers[p] for p in primes)
            precision = fractional + 1
            while need >= math.prod(Fraction(p) ** (precision - fractional - operations * powers[p]) for p in primes):
                precision += 1
            best[primes] = (size + 1) * precision
    return best


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.fractions(-40, 40, max_denominator=12).filter(bool), min_size=1, max_size=3),
    st.integers(0, 2),
    st.sampled_from([(2, 3, 5, 7), (3, 5, 11), (13, 7, 2), (2,)]),
)
def test_nothing_cheaper_would_do(values, operations, candidates):
    choice = choose_space(values, ROOMY, operations, candidates=candidates)
    best = brute_force(values, operations, candidates)
    assert best[choice.space.primes] == choice.coordinates  # no digit too many
    hard = {p for p in candidates if any(q.denominator % p == 0 for q in values)}
    if len(hard) <= 1:  # then the search leaves out no set that could be cheaper
        assert choice.coordinates == min(best.values())
    # The sets that are searched, as the docstring says.
    easy = sorted(set(candidates) - hard, reverse=True)
    order = sorted(hard, key=lambda p: (max(valuation(q.denominator, p) for q in values), -p))
    searched = [
        tuple(sorted((*easy[:i], *order[:j]))) for i in range(len(easy) + 1) for j in range(len(order) + 1) if i + j
    ]
    assert choice.coordinates == min(best[primes] for primes in searched)
    assert {space.n_primes for space in choice.alternatives} == {len(primes) for primes in searched}


@pytest.mark.parametrize("values", [range(-500, 1000), np.arange(-500, 1000), [[-500, 999], [0, 4]], ["999", "-500"]])
def test_all_forms_of_values(values):
    assert choose_space(values).space == choose_space([999]).space
    assert choose_space([0]).space.n_primes == 1


def test_floats_follow_a_policy():
    assert choose_space([0.5, 0.1], floats="shortest").space == choose_space(["1/2", "1/10"]).space
    with pytest.raises(EncodingError, match="is a float"):
        choose_space([0.5])


def test_the_table_explains():
    assert str(choose_space(["7/5", 3], 15, 2, candidates=(2, 5, 11))) == (
        "  primes  digits  fractional  coordinates\n"
        "→      1       5           0           10\n"
        "       2       4           0           12\n"
        "       3       5           3           20  over the budget\n"
        "primes 11: 10 of 15 coordinates; the numbers decode, and so do the results of 2 operations (+, −, ·)\n"
        "adelic.AdeleSpace(primes=(11,), precision=5, fractional_digits=0)"
    )
    assert "the results of 1 operation (" in str(choose_space([3]))


@pytest.mark.parametrize("by_prime", [False, True])
def test_the_table_has_a_line_to_paste(by_prime):
    choice = choose_space([10**6, "7/5"], by_prime=by_prime)
    line = next(line for line in str(choice).splitlines() if line.startswith("adelic."))
    assert eval(line, {"adelic": adelic}) == choice.space


def test_the_least_budget_is_named_and_does():
    with pytest.raises(SpaceError, match="the least that would do is ") as caught:
        choose_space([10**30], budget=5, operations=3)
    least = int(str(caught.value).split("would do is ")[1].split(":")[0])
    assert choose_space([10**30], least, 3).coordinates == least
    with pytest.raises(SpaceError, match=f"would do is {least}"):
        choose_space([10**30], least - 1, 3)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": []}, EncodingError, "no values"),
        ({"values": ["x"]}, EncodingError, "'x' is not a number"),
        *(({"values": [1], "budget": bad}, SpaceError, f"budget={bad}") for bad in (0, 1.5)),
        *(({"values": [1], "operations": bad}, SpaceError, f"operations={bad}") for bad in (-1, 65, True)),
        ({"values": [1], "candidates": (2, 9)}, SpaceError, "9 is not a prime"),
        ({"values": [1], "candidates": ()}, SpaceError, "no p-adic coordinate"),
        ({"values": [1], "candidates": range(100_000)}, SpaceError, "100,000 primes are too many .*; at most 100"),
        ({"values": [10**9999]}, SpaceError, "the least that would do is 15337: primes="),
        ({"values": [1, 2], "labels": [0]}, EncodingError, "1 labels for 2 values"),
        ({"values": [1, 2], "labels": 5}, EncodingError, "labels=5"),
        ({"values": [1, 2], "labels": [0, None]}, EncodingError, "are not classes"),
        ({"values": range(300), "labels": range(300)}, EncodingError, "300 classes"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        choose_space(**arguments)
    assert "\n" not in str(caught.value)


class TestLabels:
    NUMBERS = np.random.default_rng(5).integers(-(10**9), 10**9, 3000)
    DAYS = NUMBERS % 200_000
    GREAT = tuple(10**25 + 17 * k for k in range(400))
    RATIONALS = tuple(Fraction(n, m) for n in range(1, 60) for m in (1, 2, 3, 9, 7))

    @pytest.mark.parametrize(
        ("values", "labels", "primes"),
        [
            (NUMBERS, NUMBERS % 7, [7]),
            (NUMBERS, NUMBERS % 15, [5, 3]),
            (NUMBERS, NUMBERS // 8 % 2, [2]),  # the fourth binary digit
            (DAYS, np.array(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])[DAYS % 7].tolist(), [7]),
            (list(GREAT), [n % 5 for n in GREAT], [5]),
            (list(RATIONALS), [valuation(q.denominator, 3) for q in RATIONALS], [3]),
            (list(RATIONALS), [q.numerator * pow(q.denominator, -1, 11) % 11 for q in RATIONALS], [11]),
        ],
        ids=["residues", "two primes", "a power", "days", "great", "poles", "rational residues"],
    )
    def test_primes_that_tell_are_first(self, values, labels, primes):
        choice = choose_space(values, 1000, labels=labels)
        assert [row.prime for row in choice.information[: len(primes)]] == primes
        assert all(row.is_significant for row in choice.information[: len(primes)])
        assert primes[0] in choice.space.primes

    def test_what_is_said_of_a_prime_that_tells_all(self):
        choice = choose_space(self.NUMBERS, labels=self.NUMBERS % 7)
        first, *others = choice.information
        assert first.bits == pytest.approx(math.log2(7), abs=0.01)
        assert first.p_value == pytest.approx(0.001)
        assert not any(row.is_significant for row in others)
        assert 7 not in choose_space(self.NUMBERS).space.primes
        assert "*     7" in str(choice)

    def test_random_labels_tell_nothing(self):
        rng = np.random.default_rng(8)
        numbers = rng.integers(0, 10**6, 500)
        found = [
            any(row.is_significant for row in prime_information(read(numbers), rng.integers(0, 3, 500), CANDIDATES))
            for _ in range(8)
        ]
        assert sum(found) <= 1  # at 1 % two or more of 8 would be 1 in 370; the seed is fixed

    def test_one_class_tells_nothing(self):
        choice = choose_space(range(100), labels=["same"] * 100)
        assert all(row.bits == 0 and row.p_value == 1 for row in choice.information)
        assert choice.space == choose_space(range(100)).space

    def test_telling_primes_are_left_out_where_the_budget_is_too_small(self):
        labels = [n % 30 for n in range(3000)]
        told = [row.prime for row in choose_space(range(3000), labels=labels).information if row.is_significant]
        assert told == [5, 3, 2]
        assert {2, 3, 5} & set(choose_space(range(3000), 7, labels=labels).space.primes) == {3, 5}

    @pytest.mark.long
    def test_many_rows_are_sampled_and_the_seed_decides(self):
        numbers = np.arange(100_000)
        first, again = (choose_space(numbers, labels=numbers % 2, seed=3).information for _ in range(2))
        assert first == again
        assert first[0].prime == 2
        assert first != choose_space(numbers, labels=numbers % 2, seed=4).information


class TestDecimal:
    def test_primes(self):
        assert AdeleSpace.decimal() == AdeleSpace((3, 7, 11, 13, 17, 19, 23), 16)
        assert AdeleSpace.decimal(1, 4) == AdeleSpace((3,), 4)
        assert AdeleSpace.decimal(n_primes=2, precision=np.int64(8)).primes == (3, 7)

    @given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=8))
    def test_every_decimal_fits(self, x):
        assert AdeleSpace.decimal().encode(x).decode() == Fraction(x)

    @pytest.mark.parametrize("n_primes", [0, -1, 1.5, True, None, "7"])
    def test_bad_counts(self, n_primes):
        with pytest.raises(SpaceError, match="n_primes"):
            AdeleSpace.decimal(n_primes)


class TestApproximation:
    @pytest.mark.parametrize("text", ["1000000", "1_000_000", "1e6", "1E6", "10**6", "1000**2"])
    def test_ways_to_write_the_limit(self, text):
        a = AdeleSpace((1009, 1013), 16).encode(math.e, floats=f"limit:{text}")
        assert a.decode() == Fraction(math.e).limit_denominator(10**6)
        assert a.approximation_error == pytest.approx(float(abs(Fraction(math.e) - a.decode())))
        assert a.approximation_error > 0

    @pytest.mark.parametrize(
        "text", ["10**", "**6", "10**-6", "1e-6", "10**6**2", "0**6", "1e999999", "9**999999", "10^6", "1e6.0", "1__0"]
    )
    def test_what_is_no_limit(self, text):
        with pytest.raises(EncodingError, match="is not a policy"):
            AdeleSpace().encode(0.5, floats=f"limit:{text}")

    @given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.integers(1, 500))
    def test_the_error_is_that_of_each_number(self, values, limit):
        space = AdeleSpace((1009, 1013), 8)
        a = space.encode([*values, 3, "1/7"], floats=f"limit:{limit}")
        exact = [abs(Fraction(x).limit_denominator(limit) - Fraction(x)) for x in values] + [0, 0]
        assert a.approximation_error.tolist() == pytest.approx([float(e) for e in exact], rel=1e-15, abs=1e-300)
        assert ((a.approximation_error > 0) == [e > 0 for e in exact]).all()

    def test_errors_follow_the_shape_and_not_the_arithmetic(self):
        a = AdeleSpace((1009,)).encode(np.array([[0.3, 0.5], [0.1, 2]]), floats="limit:4")
        e = a.approximation_error
        assert e.shape == (2, 2)
        np.testing.assert_array_equal(a[1].approximation_error, e[1])
        np.testing.assert_array_equal(a.reshape(-1).approximation_error, e.reshape(-1))
        np.testing.assert_array_equal((-a).approximation_error, e)
        assert a[0, 0].approximation_error == e[0, 0]
        assert np.isnan((a + 1).approximation_error).all()
        assert np.isnan((2 * a).approximation_error).all()
        with pytest.raises(ValueError, match="read-only"):
            e[0, 0] = 0

    def test_float32_is_compared_with_itself(self):
        a = AdeleSpace((3, 7)).encode(np.float32(0.1), floats="shortest")
        assert a.decode() == Fraction(1, 10)
        assert a.approximation_error == pytest.approx(float(Fraction(float(np.float32(0.1))) - Fraction(1, 10)))


def test_counts_of_numpy():
    values = ["1/1024", "0.1"]
    assert choose_space(values, np.int64(1000), np.int64(9)).space == choose_space(values, 1000, 9).space


@pytest.mark.parametrize("p", [65537, 2**31 - 1, 2**32 + 15, 2**64 - 59])
def test_primes_whose_powers_are_beyond_int64(p):
    values = [Fraction(n, 3) for n in (p - 2, p - 1, p + 1, p + 2, 2 * p - 1, 4)]  # two residues are equal
    assert choose_space(values, candidates=(3, p)).space.primes == (p,)
    for labels, bits in (((0, 1, 0, 1, 1, 0), 1), ((0, 1, 0, 1, 0, 1), 2 / 3)):
        assert prime_information(read(values), labels, (p,))[0].bits == pytest.approx(bits)
