"""The head that computes exactly: derivations of one step and of two by brute force, its loss, what it writes."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic.errors import ConfigurationError, DivisionByZeroError, EncodingError
from adelic.nn import OperationHead, exact_numbers, fractions_of
from adelic.nn.heads.exact import BINARY, COMMUTATIVE, LARGEST_BITS, MOST_BITS, PRIMES, UNARY, Operands, choice_text
from adelic.nn.heads.operations import MOST_NUMBERS

ALL, FOUR = (*BINARY, *UNARY), ("+", "-", "*", "/")
NUMBERS = [Fraction(6), Fraction(4), Fraction(-3), Fraction(0), Fraction(1, 2)]
DIM = 4

small = st.fractions(min_value=-30, max_value=30, max_denominator=12)
whole = st.integers(-40, 40).map(Fraction)
great = [Fraction(n) for n in (0, 2**63, -(2**62), 3 * 2**70, 10**400)]
# No residue or no inverse at a prime, and two numbers that float64 holds for 1 and for 0.
strange = [Fraction(1, PRIMES[0]), Fraction(PRIMES[1], 3), Fraction(10**30 + 1, 10**30), Fraction(1, 10**400)]
number = st.one_of(small, whole, st.sampled_from(great + strange))


def by_fractions(name, *operands):
    """Return the value of an operation, None where it is not defined: its definition."""
    a, b = (*operands, None)[:2]
    are_whole = all(q is None or q.denominator == 1 for q in operands)
    if name in ("gcd", "lcm", "%", "//", "divides") and not are_whole:
        return None
    if name == "**":
        if b.denominator != 1 or (a == 0 and b < 0):
            return None
        size = max(abs(a.numerator), a.denominator)
        is_short = abs(b) <= 1 or size == 1 or (abs(b) <= MOST_BITS and abs(b) * math.log2(size) <= MOST_BITS)
        return a ** int(b) if is_short and abs(b) < 2**62 else None
    if (name in ("/", "%", "//") and b == 0) or (name == "divides" and a == 0):
        return None
    values = {
        "copy": lambda: a,
        "abs": lambda: abs(a),
        "negate": lambda: -a,
        "numerator": lambda: a.numerator,
        "denominator": lambda: a.denominator,
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "/": lambda: a / b,
        "distance": lambda: abs(a - b),
        "gcd": lambda: math.gcd(a.numerator, b.numerator),
        "lcm": lambda: math.lcm(a.numerator, b.numerator),
        "lcd": lambda: math.lcm(a.denominator, b.denominator),
        "%": lambda: a - b * math.floor(a / b),
        "//": lambda: math.floor(a / b),
        "min": lambda: min(a, b),
        "max": lambda: max(a, b),
        "<": lambda: int(a < b),
        "<=": lambda: int(a <= b),
        "==": lambda: int(a == b),
        "!=": lambda: int(a != b),
        "divides": lambda: int((b / a).denominator == 1),
    }
    return Fraction(values[name]())


def enumerated(head, numbers):
    """Return the value of every derivation, in the order of the head's probabilities; None of one that is undefined."""
    all_numbers = [*numbers, *head.constants]
    found = [by_fractions(name, q) for name in head.unary for q in all_numbers]
    for name in head.binary:
        for i, a in enumerate(all_numbers):
            for j, b in enumerate(all_numbers):
                are_constants = min(i, j) >= len(numbers)
                found.append(None if i == j or are_constants else by_fractions(name, a, b))
    return found


def predict(head, numbers):
    memory = torch.randn(1, len(numbers), DIM)
    return head(torch.randn(1, DIM), memory, exact_numbers([numbers]))


@given(st.lists(st.one_of(st.none(), number), min_size=1, max_size=5))
def test_tensors_hold_numbers_of_any_size(numbers):
    assert fractions_of(exact_numbers(numbers)).tolist() == numbers
    rows = fractions_of(exact_numbers([numbers, [Fraction(-1)]]))
    assert rows[0].tolist() == numbers
    assert rows[1].tolist() == [Fraction(-1)] + [None] * (len(numbers) - 1)


def test_tensors_of_numbers_take_what_encode_takes():
    assert fractions_of(exact_numbers([3, "1.25", Fraction(1, 3)])).tolist() == [3, Fraction(5, 4), Fraction(1, 3)]
    with pytest.raises(EncodingError):
        exact_numbers(["three"])
    with pytest.raises(DivisionByZeroError):
        exact_numbers(["1/0"])


@settings(max_examples=150, deadline=None)
@given(st.lists(number, min_size=1, max_size=4), st.data())
def test_derivations_are_those_that_fractions_find(numbers, data):
    head = OperationHead(DIM, ALL, constants=(2, "1/2"))
    values = enumerated(head, numbers)
    prediction = predict(head, numbers)
    probabilities = prediction.log_probabilities.exp()[0]
    assert [p == 0 for p in probabilities.tolist()] == [value is None for value in values]
    assert probabilities.sum().item() == pytest.approx(1, abs=1e-5)
    possible = [value for value in values if value is not None]
    target = data.draw(st.one_of(st.sampled_from(possible), number))
    is_right = head.is_right(prediction, exact_numbers([target]))[0].tolist()
    assert is_right == [value == target for value in values]


@pytest.mark.parametrize(("names", "steps"), [(ALL, 1), (FOUR, 2)])
def test_many_rows_of_different_lengths_are_those_rows_alone(names, steps):
    head = OperationHead(DIM, names, constants=(10,), steps=steps)
    rows = [[Fraction(6), Fraction(4)], [Fraction(1, 2)], [Fraction(2**70), Fraction(4), Fraction(-3)]]
    targets, states, memory = exact_numbers([60, 5, 4 - 2**70]), torch.randn(3, DIM), torch.randn(3, 3, DIM)
    together, losses = head(states, memory, exact_numbers(rows)), []
    written = head.decode(together)
    for row, alone in enumerate(rows):
        prediction = head(states[row, None], memory[row, None, : len(alone)], exact_numbers([alone]))
        losses.append(head.loss(prediction, targets[row, None])[0])
        found = head.decode(prediction)
        assert (found.values[0], found.derivations[0]) == (written.values[row], written.derivations[row])
        assert found.probabilities[0] == pytest.approx(written.probabilities[row], rel=1e-4)
    torch.testing.assert_close(head.loss(together, targets)[0], torch.stack(losses).mean())


def test_what_residues_do_not_decide_is_computed_with_one_list_of_fractions(monkeypatch):
    calls = []
    monkeypatch.setattr("adelic.nn.heads.exact.fractions_of", lambda n: calls.append(len(n)) or fractions_of(n))
    rows = [[10**20 * i + i, 10**30 + i, -(7**40), 3 * 10**19 + i, 6] for i in range(1, 5)]
    names = ("gcd", "lcm", "%", "//", "divides")
    head = OperationHead(DIM, operations=names)
    calls.clear()
    targets = [math.gcd(*rows[0][:2]), rows[1][1] % rows[1][0], -(7**40) // rows[2][3], 0]
    prediction = head(torch.zeros(4, DIM), torch.zeros(4, 5, DIM), exact_numbers(rows))
    found = head.is_right(prediction, exact_numbers(targets))
    assert calls == [4, 4]  # of the numbers and of the targets, not of each pair
    for row, target, mine in zip(rows, targets, found.tolist(), strict=True):
        assert mine == [value == target for value in enumerated(head, list(map(Fraction, row)))]


def test_operations_on_numbers_of_too_many_digits_are_no_derivations():
    head, half = OperationHead(DIM, operations=("*",)), LARGEST_BITS // 2
    for bits, expected in ((half - 64, 1), (half + 128, 0)):
        prediction = head(torch.zeros(1, DIM), torch.zeros(1, 2, DIM), exact_numbers([[1 << half - 64, 1 << bits]]))
        assert head.loss(prediction, exact_numbers([1 << half - 64 + bits]))[1] == expected


def test_the_loss_is_minus_log_of_the_probability_of_all_derivations():
    head = OperationHead(DIM, ("+", "*", "-"))
    numbers = [Fraction(2), Fraction(2)]  # 2 + 2, 2 · 2, in both orders
    prediction = head(torch.randn(2, DIM), torch.randn(2, 2, DIM), exact_numbers([numbers] * 2))
    loss, share = head.loss(prediction, exact_numbers([4, 5]))
    values = enumerated(head, numbers)
    right = torch.tensor([value == 4 for value in values])
    assert right.sum() == 4
    expected = -prediction.log_probabilities[0].exp()[right].sum().log()
    torch.testing.assert_close(loss, expected)
    assert share == 0.5
    loss.backward()
    assert all(weight.grad.isfinite().all() for weight in head.parameters() if weight.grad is not None)


def test_right_derivations_count_alike_at_first_and_by_their_probability_later():
    torch.manual_seed(0)
    head = OperationHead(DIM, ("+", "*"))
    numbers, target = exact_numbers([[2, 2, 5]]), exact_numbers([4])
    states, memory = torch.randn(1, DIM), torch.randn(1, 3, DIM)
    for steps in (0, 300, 1000):
        head.n_steps.fill_(steps)
        prediction = head(states, memory, numbers)
        prediction.log_probabilities.retain_grad()
        loss, _ = head.loss(prediction, target)
        loss.backward()
        right = head.is_right(prediction, target)[0]
        probabilities = prediction.log_probabilities[0].exp()[right]
        torch.testing.assert_close(loss, -probabilities.sum().log())
        expected = torch.full((4,), 0.25) if steps == 0 else probabilities / probabilities.sum()
        torch.testing.assert_close(prediction.log_probabilities.grad[0][right], -expected)
    assert head.n_steps == 1001
    head.eval()
    head.loss(head(states, memory, numbers), target)
    assert head.n_steps == 1001
    assert OperationHead(DIM, ("+", "*")).load_state_dict(head.state_dict()).missing_keys == []


def test_a_target_without_derivation_is_left_to_the_other_head():
    head = OperationHead(DIM, ("+",), free=True)
    prediction = head(torch.randn(2, DIM), torch.randn(2, 1, DIM), exact_numbers([[3], [3]]))
    of_free = prediction.log_probabilities[:, -1]
    said = torch.tensor([-1.0, -torch.inf])
    with pytest.warns(UserWarning, match="^no operation on numbers of the context gives a number to be written"):
        loss, share = head.loss(prediction, exact_numbers([50, 60]), said)
    torch.testing.assert_close(loss, -(of_free[0] - 1.0))  # nothing gives 60, and nobody can say it
    assert share == 0
    loss.backward()
    assert all(weight.grad.isfinite().all() for weight in head.parameters() if weight.grad is not None)
    written = head.decode(prediction, ([Fraction(50), None], torch.tensor([0.0, -torch.inf]).numpy()))
    assert set(written.derivations.tolist()) <= {"free", "3"}


def test_nothing_to_learn_gives_the_loss_zero():
    head = OperationHead(DIM)
    prediction = head(torch.zeros(0, DIM), torch.zeros(0, 3, DIM), torch.zeros((0, 3, 2, 1), dtype=torch.int32))
    loss, _ = head.loss(prediction, exact_numbers([]).reshape(0, 2, 1))
    assert loss == 0
    loss, share = head.loss(predict(head, [Fraction(1)]), exact_numbers([70]))
    assert (loss, share) == (0, 0)


def test_a_context_without_numbers_writes_nothing_or_what_the_other_head_says():
    head, free = OperationHead(DIM), OperationHead(DIM, free=True)
    for one in (head, free):
        prediction = predict(one, [None, None])
        assert not prediction.log_probabilities.isnan().any()
        written = one.decode(prediction)
        assert (written.values[0], written.derivations[0], written.choices) == (None, None, [None])
    written = free.decode(predict(free, [None]), ([Fraction(9)], torch.zeros(1).numpy()))
    assert (written.values[0], written.derivations[0]) == (9, "free")


def test_derivations_of_one_value_are_counted_together():
    torch.manual_seed(0)
    head = OperationHead(DIM, ("+", "*"))
    numbers = [Fraction(2), Fraction(2), Fraction(5)]
    prediction, values = predict(head, numbers), enumerated(head, numbers)
    written = head.decode(prediction)
    sums = {}
    for value, p in zip(values, prediction.log_probabilities[0].exp().tolist(), strict=True):
        if value is not None:
            sums[value] = sums.get(value, 0) + p
    # 16 of 21 derivations are looked at.
    assert written.probabilities[0] == pytest.approx(sums[written.values[0]], rel=0.3)
    name, i, j = written.choices[0]
    chosen = [numbers[at] for at in (i, j) if at is not None]
    assert by_fractions(name, *chosen) == written.values[0]
    assert written.derivations[0] == choice_text((name, *range(len(chosen))), chosen)


@pytest.mark.parametrize(
    ("name", "numbers", "text"),
    [
        ("*", ["12.5", 8], "12.5 × 8"),
        ("+", [-3, 10], "(−3) + 10"),
        ("/", ["1/3", "-0.25"], "(1/3) ÷ (−0.25)"),
        ("gcd", [-6, 4], "gcd(−6, 4)"),
        ("%", [7, 3], "7 mod 3"),
        ("**", ["0.5", 3], "0.5 ^ 3"),
        ("copy", [10**5000], "1000000…000 (5001 digits)"),
        ("denominator", ["3/7"], "denominator of 3/7"),
        ("free", [], "free"),
    ],
)
def test_derivations_are_written_as_one_would(name, numbers, text):
    values = fractions_of(exact_numbers(numbers)).tolist()
    assert choice_text((name, *range(len(values))), values) == text


def test_operations_commute_that_are_said_to():
    for name in BINARY:
        values = [(by_fractions(name, a, b), by_fractions(name, b, a)) for a in NUMBERS for b in NUMBERS]
        assert all(one == other for one, other in values) == (name in COMMUTATIVE)


def test_long_contexts_need_the_option_and_choose_among_the_last_numbers():
    rows = [[Fraction(i) for i in range(500)], [Fraction(i) for i in range(100)]]
    numbers, memory, states = exact_numbers(rows), torch.randn(2, 500, DIM), torch.randn(2, DIM)
    with pytest.raises(ConfigurationError, match=f"500 numbers in a context.*recent={MOST_NUMBERS} chooses"):
        OperationHead(DIM)(states, memory, numbers)
    head = OperationHead(DIM, recent=3)
    prediction = head(states, memory, numbers)
    assert fractions_of(prediction.numbers).tolist() == [[497, 498, 499], [97, 98, 99]]
    for (_, *at), row in zip(head.decode(prediction).choices, rows, strict=True):
        assert all(i is None or row[i] in row[-3:] for i in at)


def test_it_warns_once_where_few_targets_have_a_derivation():
    head = OperationHead(DIM, ("+",))
    prediction = head(torch.zeros(64, DIM), torch.zeros(64, 2, DIM), exact_numbers([[1, 2]] * 64))
    with pytest.warns(UserWarning, match=r"^only 25% of 64 numbers to be written .* by one of \+,"):
        head.loss(prediction, exact_numbers([3, 50, 60, 70] * 16))
    for _ in range(3):
        head.loss(prediction, exact_numbers([50] * 64))  # a second warning would be an error here
    other = OperationHead(DIM, ("+",))
    other.loss(prediction, exact_numbers([3, 1, 2, 70] * 16))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"operations": ("+", "plus")}, "operations has 'plus', which is none of"),
        ({"operations": "+"}, "operations='\\+' is no list"),
        ({"key_features": 0}, "key_features"),
        ({"recent": 0}, "recent"),
        ({"recent": 1000}, f"recent=1000 is more than {MOST_NUMBERS}"),
        ({"steps": 3}, "steps=3 is neither 1 nor 2"),
        ({"steps": 2, "operations": ("gcd", "abs")}, r"needs one of \+, -, \*, / among the operations \('gcd',\)"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ConfigurationError, match=message):
        OperationHead(DIM, **options)


@pytest.mark.parametrize("targets", [exact_numbers([6]), torch.tensor([6, 2])])
def test_targets_that_do_not_fit_are_named(targets):
    head = OperationHead(DIM)
    prediction = head(torch.zeros(2, DIM), torch.zeros(2, 1, DIM), exact_numbers([[1], [2]]))
    with pytest.raises(ConfigurationError, match=r"^targets of shape .* do not fit 2 predictions"):
        head.loss(prediction, targets)
    with pytest.raises(ConfigurationError, match="with free=False"):
        head.loss(prediction, exact_numbers([6, 2]), torch.zeros(2))
    with pytest.raises(ConfigurationError, match=r"shapes \(1, 4\), \(1, 3, 4\), \(1, 2, 2, 1\) do not fit"):
        head(torch.zeros(1, DIM), torch.zeros(1, 3, DIM), exact_numbers([[1, 2]]))


def test_arrays_and_tensors_of_numbers_keep_their_shape():
    expected = exact_numbers([[1, 2], [3, 4]])
    rows = np.array([[1, 2], [3, 4]])
    for numbers in (rows, torch.from_numpy(rows), list(rows), tuple(map(tuple, rows))):
        assert torch.equal(exact_numbers(numbers), expected)
    with pytest.raises(EncodingError, match="is no number"):
        exact_numbers([[[1, 2], [3, 4]]])


def test_weights_grow_in_proportion_to_the_width():
    counts = [sum(w.numel() for w in OperationHead(width).parameters()) for width in (100, 200, 300)]
    assert counts[2] - counts[1] == counts[1] - counts[0]


def test_a_model_of_ones_own_learns_from_answers_alone():
    """It has the question "i ∘ j" as ids, two numbers beside it."""
    torch.manual_seed(0)
    words, order, head = torch.nn.Embedding(4, 16), torch.nn.Parameter(torch.randn(2, 16)), OperationHead(16, FOUR)
    optimizer = torch.optim.Adam([*words.parameters(), order, *head.parameters()], 0.03)

    def draw(n, size):
        ids = torch.randint(4, (n,))
        pairs = [[Fraction(a), Fraction(b)] for a, b in torch.randint(1, size, (n, 2)).tolist()]
        answers = [by_fractions(FOUR[o], *pair) for o, pair in zip(ids.tolist(), pairs, strict=True)]
        return head(words(ids), order.expand(n, -1, -1), exact_numbers(pairs)), answers

    for _ in range(60):
        prediction, answers = draw(32, 100)
        loss, share = head.loss(prediction, exact_numbers(answers))
        assert share == 1
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    prediction, answers = draw(200, 2**60)
    assert head.decode(prediction).values.tolist() == answers


# Two steps


def of_two_steps(head, prediction, numbers):
    """Return the value and the probability of each derivation of one step or two; None where one is not defined."""
    everything = [*numbers, *head.constants]
    one, two, _ = head.split(prediction)
    found = list(zip(everything, one[0, 0].tolist(), strict=True))
    operands = Operands(prediction.numbers)
    places = range(len(everything))
    for o, i, j in itertools.product(range(len(head.binary)), places, places):
        if i == j or min(i, j) >= len(numbers):
            assert two[0, o, i, j] == 0
            continue
        result = by_fractions(head.binary[o], everything[i], everything[j])
        if result is None:
            assert two[0, o, i, j] == 0
            continue
        of_first = two[0, o, i, j].item()
        then = head.second.of(prediction.read, operands, [torch.tensor([at]) for at in (0, o, i, j)])
        found.append((result, of_first * then.stop.exp().item()))
        for c, is_second in itertools.product(range(len(head.second.operations)), (0, 1)):
            name = head.second.operations[c]
            for k in places:
                pair = (everything[k], result) if is_second else (result, everything[k])
                value = None if name in "*/" and everything[k] == 0 else by_fractions(name, *pair)
                found.append((value, of_first * then.then[0, 2 * c + is_second, k].exp().item()))
    return found


plain = st.one_of(
    st.integers(-12, 12).map(Fraction),
    st.fractions(min_value=-9, max_value=9, max_denominator=4),
    st.sampled_from([Fraction(10**30), Fraction(10**30 + 1), Fraction(1, 10**40)]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(plain, min_size=1, max_size=3, unique=True), st.data())
def test_probabilities_are_those_of_all_derivations(numbers, data):
    head = OperationHead(DIM, FOUR, constants=(100,), steps=2)
    prediction = predict(head, numbers)
    found = of_two_steps(head, prediction, numbers)
    assert all(p == 0 for value, p in found if value is None)
    assert sum(p for _, p in found) == pytest.approx(1, abs=1e-4)
    possible = [value for value, p in found if value is not None]
    target = data.draw(st.one_of(st.sampled_from(possible), plain))
    expected = sum(p for value, p in found if value == target)
    loss, share = head.loss(prediction, exact_numbers([target]))
    assert share == (target in possible)
    if target in possible:
        assert loss.neg().exp().item() == pytest.approx(expected, rel=1e-3)
        loss.backward()
        assert all(w.grad.isfinite().all() for w in head.parameters() if w.grad is not None)


def test_what_is_written_is_the_sum_of_its_derivations():
    torch.manual_seed(0)
    numbers = [Fraction(5), Fraction(3), Fraction(4)]
    head = OperationHead(DIM, ("-", "*"), steps=2)
    prediction = predict(head, numbers)
    sums = {}
    for value, p in of_two_steps(head, prediction, numbers):
        sums[value] = sums.get(value, 0) + p
    written = head.decode(prediction)
    assert written.values[0] == max(sums, key=sums.get)
    assert written.probabilities[0] == pytest.approx(sums[written.values[0]], rel=0.2)  # some are not looked at


def test_two_steps_are_written_as_one_would():
    head = OperationHead(DIM, FOUR, steps=2)
    with torch.no_grad():
        for weight in head.parameters():
            weight.zero_()
        head.base.bias[1] = 9.0  # +
        head.offset[0, 5] = 9.0  # the next one is added to a number
        head.second.base.bias[1 + 2 * 1 + 1] = 9.0  # a number minus the result
        head.second.again[2 * 1 + 1] = -9.0  # not one that was added
    numbers = exact_numbers([["-2", "0.5", 30]])
    written = head.decode(head(torch.zeros(1, DIM), torch.zeros(1, 3, DIM), numbers))
    # (−2) + 0.5 and 0.5 + 30 are as probable, so either may be written.
    text, choice = written.derivations[0], written.choices[0]
    assert (text, choice) in [
        ("30 − ((−2) + 0.5)", ("-", 2, ("+", 0, 1))),
        ("(−2) − (0.5 + 30)", ("-", 0, ("+", 1, 2))),
    ]
    assert written.values[0] in (Fraction("31.5"), Fraction("-32.5"))


def test_recent_numbers_keep_their_places_in_choices():
    head = OperationHead(DIM, ("+",), recent=2, steps=2)
    with torch.no_grad():
        head.base.bias[1] = 99.0
    prediction = predict(head, [Fraction(1), Fraction(2), Fraction(3), Fraction(4)])
    choice = head.decode(prediction).choices[0]
    flat = [*(i if isinstance(i, tuple) else (i,) for i in choice[1:])]
    assert {i for part in flat for i in part if isinstance(i, int)} == {2, 3}


def test_results_that_residues_do_not_know_are_followed_by_nothing():
    head = OperationHead(DIM, FOUR, steps=2)
    numbers = [Fraction(1, PRIMES[0]), Fraction(3)]
    prediction = predict(head, numbers)
    target = exact_numbers([numbers[0] + 6])
    assert head.loss(prediction, target)[1] == 0  # (1/p + 3) + 3 is one, and it is left out
    assert head.loss(prediction, exact_numbers([numbers[0] + 3]))[1] == 1
    assert not any(isinstance(i, tuple) for i in head.decode(prediction).choices[0])


def test_first_steps_may_be_others_than_second_ones():
    head = OperationHead(DIM, ("gcd", "abs", "+"), steps=2)
    prediction = predict(head, [Fraction(12), Fraction(18), Fraction(1000)])
    assert head.second.operations == ("+",)
    assert head.loss(prediction, exact_numbers([1006]))[1] == 1  # gcd(12, 18) + 1000
    assert head.loss(prediction, exact_numbers([1007]))[1] == 0


def test_another_head_may_say_the_number():
    head = OperationHead(DIM, FOUR, free=True, steps=2)
    prediction = predict(head, [Fraction(2), Fraction(3), Fraction(4)])
    said = torch.tensor([-2.0])
    with_free, share = head.loss(prediction, exact_numbers([20]), said)
    assert share == 1  # (2 + 3) · 4
    assert head.loss(prediction, exact_numbers([10**9]), said)[0] > with_free


def test_memory_is_bounded_where_thousands_of_first_operations_lead_to_a_target():
    head = OperationHead(DIM, FOUR, steps=2)
    prediction = predict(head, [Fraction(i) for i in range(100)])
    loss, share = head.loss(prediction, exact_numbers([50]))
    assert share == 1
    assert loss.isfinite()
    loss.backward()
