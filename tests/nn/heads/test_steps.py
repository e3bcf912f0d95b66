"""Derivations of two steps: by brute force with fractions, their probabilities, what is written of them, bad input."""

import itertools
import operator
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic.nn import OperationHead, exact_numbers
from adelic.nn.heads.exact import PRIMES, Operands

DIM = 4
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}
NAMES = tuple(OPERATORS)


def by_fractions(name, a, b):
    return None if name == "/" and b == 0 else getattr(operator, OPERATORS[name])(a, b)


def predict(head, numbers):
    return head(torch.randn(1, DIM), torch.randn(1, len(numbers), DIM), exact_numbers([numbers]))


def enumerated(head, prediction, numbers):
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


number = st.one_of(
    st.integers(-12, 12).map(Fraction),
    st.fractions(min_value=-9, max_value=9, max_denominator=4),
    st.sampled_from([Fraction(10**30), Fraction(10**30 + 1), Fraction(1, 10**40)]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(number, min_size=1, max_size=3, unique=True), st.data())
def test_probabilities_are_those_of_all_derivations(numbers, data):
    head = OperationHead(DIM, NAMES, constants=(100,), steps=2)
    prediction = predict(head, numbers)
    found = enumerated(head, prediction, numbers)
    assert all(p == 0 for value, p in found if value is None)
    assert sum(p for _, p in found) == pytest.approx(1, abs=1e-4)
    possible = [value for value, p in found if value is not None]
    target = data.draw(st.one_of(st.sampled_from(possible), number))
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
    for value, p in enumerated(head, prediction, numbers):
        sums[value] = sums.get(value, 0) + p
    written = head.decode(prediction)
    assert written.values[0] == max(sums, key=sums.get)
    assert written.probabilities[0] == pytest.approx(sums[written.values[0]], rel=0.2)  # some are not looked at


def test_two_steps_are_written_as_one_would():
    head = OperationHead(DIM, NAMES, steps=2)
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
    head = OperationHead(DIM, NAMES, steps=2)
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
    head = OperationHead(DIM, NAMES, free=True, steps=2)
    prediction = predict(head, [Fraction(2), Fraction(3), Fraction(4)])
    said = torch.tensor([-2.0])
    with_free, share = head.loss(prediction, exact_numbers([20]), said)
    assert share == 1  # (2 + 3) · 4
    assert head.loss(prediction, exact_numbers([10**9]), said)[0] > with_free


def test_memory_is_bounded_where_thousands_of_first_operations_lead_to_a_target():
    head = OperationHead(DIM, NAMES, steps=2)
    prediction = predict(head, [Fraction(i) for i in range(100)])
    loss, share = head.loss(prediction, exact_numbers([50]))
    assert share == 1
    assert loss.isfinite()
    loss.backward()
