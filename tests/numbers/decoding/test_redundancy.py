"""Decoding of digits of which some are wrong: the bound by brute force in small spaces, by random ones in larger."""

from fractions import Fraction
from itertools import product
from math import gcd, inf, nan, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import EncodingError, SpaceError
from adelic.numbers import RedundantResidueCode
from adelic.numbers.decoding import fast, redundancy
from adelic.numbers.finite import FinitePlaces, all_known
from adelic.numbers.primes import valuation

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)


def numbers_of(code):
    """Return all numbers of a code, in their order."""
    pairs = product(range(-code.max_numerator, code.max_numerator + 1), range(1, code.max_denominator + 1))
    return sorted({Fraction(n, m) for n, m in pairs if gcd(n, m) == 1})


def residue(x, p, precision, fractional_digits):
    """p^F·x modulo p^N by the definition, or None where p divides the denominator more than F times."""
    scaled = x * p**fractional_digits
    return (
        None
        if scaled.denominator % p == 0
        else scaled.numerator * pow(scaled.denominator, -1, p**precision) % p**precision
    )


def digits_of(residue, p, precision):
    return [residue // p**k % p for k in range(precision - 1, -1, -1)]


def residue_of(digits, p):
    return sum(int(digit) * p**k for k, digit in enumerate(reversed(digits)))


def error_sizes(x, words, space):
    """Return the E of every word, (size,), by the definition: p^(N − k) where the lowest wrong digit is the k-th."""
    sizes = np.ones(len(words), dtype=object)
    for j, p in enumerate(space.primes):
        right = residue(x, p, space.precision, space.fractional_digits)
        for i, digits in enumerate(words[:, j].tolist()):
            if right is None:
                sizes[i] *= p**space.precision
                continue
            k, given_ = 0, residue_of(digits, p)
            while k < space.precision and (given_ - right) % p ** (k + 1) == 0:
                k += 1
            sizes[i] *= p ** (space.precision - k)
    return sizes


def all_words(space):
    places = [[digits_of(r, p, space.precision) for r in range(p**space.precision)] for p in space.primes]
    return np.array(list(product(*places)))


SMALL_CODES = [
    RedundantResidueCode(AdeleSpace((2, 3, 5, 7), 1), 3),
    RedundantResidueCode(AdeleSpace((3, 5, 7, 11), 1), 1),
    RedundantResidueCode(AdeleSpace((5, 7, 11), 1), 0),
    RedundantResidueCode(AdeleSpace((2, 3, 5), 2), 2),
    RedundantResidueCode(AdeleSpace((2, 3, 5, 7, 11), 1), 2, 2),  # 1/2 has no digit at 2
    RedundantResidueCode(AdeleSpace((5, 7, 11, 13), 1), 3, 3),
    RedundantResidueCode(AdeleSpace((2, 5, 7), 2), 1, 3),
    RedundantResidueCode(AdeleSpace((2, 3), 5, 1), 1, 2),
    RedundantResidueCode(AdeleSpace((2, 5), 4, 1), 2, 4),  # 1/4 has no digits at 2
]


@pytest.mark.parametrize("code", SMALL_CODES, ids=str)
def test_every_word_of_small_spaces(code):
    space = code.space
    words = all_words(space)
    result = code.decode(words)
    scale = prod(space.primes) ** space.fractional_digits
    modulus = prod(space.primes) ** space.precision
    distance = 2 * scale * max(1, code.max_numerator) * code.max_denominator
    sizes = {x: error_sizes(x, words, space) for x in numbers_of(code)}
    n_mended = 0
    for x, size in sizes.items():
        for i in np.flatnonzero(size * size * distance < modulus):  # the guarantee
            assert result.values[i] == x
            n_mended += size[i] > 1
        # Another answer mends so much that neither can be taken for the other.
        for i, value in enumerate(result.values):
            assert value is None or value == x or size[i] * sizes[value][i] * distance >= modulus
    assert n_mended or code.capacity < min(space.primes)
    for i, value in enumerate(result.values):
        if value is None:
            assert result.confidence[i] == 0
            assert not result.errors[i].any()
        else:
            rights = [residue(value, p, space.precision, space.fractional_digits) for p in space.primes]
            given_ = [residue_of(d.tolist(), p) for d, p in zip(words[i], space.primes, strict=True)]
            assert result.errors[i].tolist() == [a != b for a, b in zip(rights, given_, strict=True)]
            assert 0 < result.confidence[i] < 1


@st.composite
def codes(draw):
    primes = tuple(draw(st.lists(st.sampled_from([*PRIMES, 251, 65537]), min_size=1, max_size=10, unique=True)))
    each = st.lists(st.integers(1, 4), min_size=len(primes), max_size=len(primes))
    counts = draw(each | st.integers(1, 4).map(lambda n: [n] * len(primes)))
    space = AdeleSpace(primes, dict(zip(primes, counts, strict=True)), draw(st.integers(0, min(2, min(counts) - 1))))
    room = (space.decoding_bound - 1) // 2
    max_denominator = draw(st.sampled_from([1, 1, 2, 30, 10**6]).filter(lambda b: b <= room))
    room //= max_denominator
    # Small bounds leave redundancy, great ones none.
    return RedundantResidueCode(space, draw(st.integers(0, room) | st.integers(0, min(room, 1000))), max_denominator)


@st.composite
def spoiled_words(draw):
    """Return a code, one of its numbers, and digits with errors and erasures that the bound allows."""
    code = draw(codes().filter(lambda code: code.capacity))
    space = code.space
    places, fractional_digits = list(zip(space.primes, space.precisions, strict=True)), space.fractional_digits
    x = Fraction(draw(st.integers(-code.max_numerator, code.max_numerator)), draw(st.integers(1, code.max_denominator)))
    digits, known, is_wrong = [], [], []
    scale = prod(space.primes) ** fractional_digits
    modulus = scale * space.decoding_bound
    distance = 2 * max(1, code.max_numerator) * code.max_denominator
    rights = [residue(x, p, precision, fractional_digits) for p, precision in places]
    size = prod(p**precision for (p, precision), right in zip(places, rights, strict=True) if right is None)
    for (p, precision), right in zip(places, rights, strict=True):
        kept, kind = draw(st.integers(0, precision)), draw(st.sampled_from(["right", "erased", "wrong"]))
        count = precision
        lost = p ** (precision - kept)
        less = scale if kept else scale // p**fractional_digits
        if right is None:
            value = draw(st.integers(0, p**precision - 1))
        elif kind == "erased" and distance * less * size**2 < modulus // lost:
            modulus, scale, count = modulus // lost, less, kept
            value = right % p**kept + p**kept * draw(st.integers(0, lost - 1))
        elif kind == "wrong" and kept < precision and distance * scale * (size * lost) ** 2 < modulus:
            size *= lost
            value = right + p**kept * draw(st.integers(1, p - 1)) + p ** (kept + 1) * draw(st.integers(0, lost - 1))
        else:
            value = right
        digits.append([0] * (space.max_precision - precision) + digits_of(value, p, precision))
        known.append(count)
        is_wrong.append(right is None or (value - right) % p**count != 0)
    return code, x, digits, known, is_wrong, distance * scale * size**2 < modulus


@pytest.mark.long
@settings(max_examples=200)
@given(spoiled_words())
def test_within_the_bound_every_number_is_found(word):
    code, x, digits, known, is_wrong, is_within = word
    result = code.decode([digits] * 2, known=known)
    if is_within:
        assert result.values.tolist() == [x, x]
        assert result.errors.tolist() == [is_wrong] * 2
    assert ((result.confidence > 0) == (result.values != None)).all()  # noqa: E711


@settings(max_examples=100)
@given(st.data())
def test_a_known_set_of_wrong_places(data):
    """`mends` and `guaranteed_errors` are what happens."""
    code = data.draw(codes().filter(lambda code: code.capacity and code.space.fractional_digits == 0))
    space = code.space
    wrong = data.draw(st.lists(st.sampled_from(space.primes), unique=True, max_size=3))
    n = data.draw(st.integers(-code.max_numerator, code.max_numerator))
    digits = space.encode([n]).digits.copy()
    for p in wrong:
        j = space.primes.index(p)
        digits[0, j, -1] = (digits[0, j, -1] + 1) % p
    assert code.mends(wrong) or len(wrong) > code.guaranteed_errors
    if code.mends(wrong):
        result = code.decode(digits)
        assert result.values[0] == n
        assert {p for p, is_wrong in zip(space.primes, result.errors[0], strict=True) if is_wrong} == set(wrong)


@settings(max_examples=100)
@given(codes(), st.integers(0, 2**32))
def test_the_compiled_path_finds_just_the_codewords(code, seed):
    """What it finds has all the digits and lies within the bounds; with few bits it finds all that there are."""
    space = code.space
    rng = np.random.default_rng(seed)
    xs = []
    for _ in range(20):
        n, m = int(rng.integers(0, 2**62)) % (code.max_numerator + 1), int(rng.integers(0, code.max_denominator)) + 1
        m //= prod(p ** valuation(m, p) for p in space.primes)
        xs.append(Fraction(n * int(rng.choice([-1, 1])), m))
    digits = space.encode(xs).digits.copy()
    digits[::2, 0, -1] = 0  # not always an error
    places = FinitePlaces(digits, all_known(space.window, len(xs)))
    bounds = min(code.max_numerator, 2**62 - 1), code.max_denominator
    n, m, found = fast.decode_within(places, space.window, *bounds)
    for i, x in enumerate(xs):
        is_codeword = (space.encode([x]).digits == digits[i]).all()
        if found[i]:
            assert (n[i], m[i]) == (x.numerator, x.denominator) or not is_codeword
            assert (space.encode([Fraction(int(n[i]), int(m[i]))]).digits == digits[i]).all()
        elif code.capacity and 2 * code.max_numerator * code.max_denominator < 2**28 and max(space.primes) < 60:
            # Primes below 60 leave at least 2^(62 − 6) for the guess, less p^F of at most ten of them with F <= 2.
            assert not is_codeword or space.fractional_digits


def spoil(digits, primes, places):
    """Return digits with a wrong lowest digit at these places of all numbers."""
    digits = digits.copy()
    for j in places:
        digits[:, j, -1] = (digits[:, j, -1] + 1) % primes[j]
    return digits


def test_numbers_beyond_int64():
    space = AdeleSpace(PRIMES, 6)
    code = RedundantResidueCode(space, 10**40, 10**40)
    xs = [Fraction(-(10**39) - 1, 3**80), Fraction(2**130), Fraction(1, 61**20)]
    xs = [x for x in xs if all(x.denominator % p for p in PRIMES)]
    result = code.decode(spoil(space.encode(xs).digits, PRIMES, [0, 16]))
    assert result.values.tolist() == xs
    integers = RedundantResidueCode(space, 2**200)
    assert integers.decode(space.encode([2**200, -(2**200)])).values.tolist() == [2**200, -(2**200)]


def test_what_an_array_does_not_know_is_erased():
    space = AdeleSpace((2, 3, 5, 7, 11, 13), precision=3)
    quotient = space.encode([360, -7 * 36]) / 36  # knows one digit less at 3 and 2, and two
    assert (quotient.known < 3).any()
    result = RedundantResidueCode(space, 100).decode(quotient)
    assert result.values.tolist() == [10, -7]
    assert not result.errors.any()
    assert RedundantResidueCode(space, 100).decode(quotient, known=0).values.tolist() == [None, None]


@pytest.mark.parametrize("shape", [(), (3,), (2, 1, 4), (0,), (2, 0)])
def test_shapes(shape):
    space = AdeleSpace((3, 5, 7, 11, 13), precision=2)
    xs = np.arange(1, 1 + prod(shape)).reshape(shape)
    code = RedundantResidueCode(space, 50)
    wrong = space.encode(xs).digits.copy()
    wrong[..., 2, 0] = (wrong[..., 2, 0] + 3) % 7
    hot = np.where(np.arange(13) == wrong[..., None], -0.01, -9.0)
    for result in (
        code.decode(wrong),
        code.decode_soft(np.where(np.arange(13) < np.array(space.primes)[:, None, None], hot, -inf)),
    ):
        assert result.values.shape == result.confidence.shape == shape
        assert (result.values == xs).all()
        assert result.errors.shape == (*shape, 5)
        assert (result.errors == (np.arange(5) == 2)).all()
    assert result.values.dtype == object
    assert result.confidence.dtype == np.float64


def random_channel(rng, digits, primes, trust):
    """Return noisy log-probabilities of digits, (size, n_primes, precision, max_prime), calibrated: drawn from them."""
    shape = (*digits.shape, max(primes))
    is_digit = np.arange(max(primes)) < np.array(primes)[:, None, None]
    logits = np.where(is_digit, rng.gumbel(size=shape), -inf)
    # With noise of Gumbel's law and a bonus t the posterior of digit c is proportional to exp(g_c)·(e^t …): here the
    # likelihood ratio of Gumbel(t) and Gumbel(0) at z is exp(t − (e^t − 1)·e^(−z)).
    bonus = np.broadcast_to(trust, digits.shape)
    z = logits + np.where(np.arange(max(primes)) == digits[..., None], bonus[..., None], 0.0)
    ratio = bonus[..., None] - np.expm1(bonus)[..., None] * np.exp(-z)
    ratio = np.where(is_digit, ratio, -inf)
    peak = ratio.max(axis=-1, keepdims=True)
    return ratio - peak - np.log(np.exp(ratio - peak).sum(axis=-1, keepdims=True))


def exact_posteriors(code, log_probabilities):
    """Return the likelihoods of all numbers, (size, numbers), normalised."""
    xs = [int(x) for x in numbers_of(code)]
    digits = code.space.encode(xs).digits
    logs = np.take_along_axis(log_probabilities[:, None], digits[None, ..., None].astype(int), axis=-1)[..., 0]
    logs = logs.sum(axis=(-2, -1))
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return xs, weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("space", [AdeleSpace(PRIMES[:7], 1), AdeleSpace((2, 3, 5, 7), 3)], ids=str)
def test_soft_decisions_against_all_numbers(space):
    rng = np.random.default_rng(0)
    code = RedundantResidueCode(space, 30)
    xs = rng.integers(-30, 31, 1500)
    digits = space.encode(xs).digits.astype(int)
    log_probabilities = random_channel(rng, digits, space.primes, rng.uniform(1.0, 6.0, (*digits.shape[:2], 1)))
    soft, hard = code.decode_soft(log_probabilities), code.decode(log_probabilities.argmax(axis=-1))
    numbers, posteriors = exact_posteriors(code, log_probabilities)
    likeliest = np.array(numbers)[posteriors.argmax(axis=-1)]
    is_right, is_best = soft.values == xs, soft.values == likeliest
    # Much fewer answers are lost than by hard decisions, and not many more than by trying all numbers.
    assert (hard.values == xs).mean() < 0.8 < 0.97 < is_right.mean() <= (likeliest == xs).mean()
    # An answer that looks certain is the best one; and confidence does not exceed the truth, on average.
    assert is_best[soft.confidence > 0.9].mean() > 0.998
    for low, high in ((0.0, 0.5), (0.5, 1.0)):
        chosen = (soft.confidence > low) & (soft.confidence <= high)
        assert chosen.sum() > 20
        assert soft.confidence[chosen].mean() < is_right[chosen].mean() + 0.01


@settings(max_examples=100)
@given(st.data())
def test_the_least_trusted_places_cost_half(data):
    """Wrong places that are the least trusted are mended up to a product E with 2·A·B·E < M, not E² as elsewhere."""
    space = AdeleSpace(PRIMES[:12], 1)
    code = RedundantResidueCode(space, 5000, 30)
    x = Fraction(data.draw(st.integers(-5000, 5000)))
    wrong = data.draw(st.lists(st.sampled_from(space.primes[1:]), unique=True, min_size=1, max_size=6))
    while 2 * 5000 * 30 * prod(wrong) >= prod(space.primes):
        wrong.pop()
    digits = space.encode([x]).digits[0].astype(int)
    probabilities = np.zeros((space.n_primes, 1, 37))
    for j, p in enumerate(space.primes):
        c = digits[j, 0]
        if p in wrong:  # hardly more than nothing is known here
            probabilities[j, 0, :p] = 1 / (p + 1)
            probabilities[j, 0, (c + 1) % p] *= 2
        else:
            probabilities[j, 0, :p] = 1e-6 / (p - 1)
            probabilities[j, 0, c] = 1 - 1e-6
    with np.errstate(divide="ignore"):
        result = code.decode_soft(np.log(probabilities))
    assert result.values.item() == x
    assert {p for p, is_wrong in zip(space.primes, result.errors, strict=True) if is_wrong} == set(wrong)


def doubted(space, digits, doubts):
    """Return log-probabilities that are sure of digits (n_primes, precision), but not where `doubts` is set."""
    rest = np.where(doubts, 0.6, 1e-6)[..., None] / (np.array(space.primes)[:, None, None] - 1)
    classes = np.arange(max(space.primes))
    rest = rest * (1 + classes / 1000)  # the next likely digit is the highest one
    probabilities = np.where(classes == digits[..., None], 1 - np.where(doubts, 0.6, 1e-6)[..., None], rest)
    return np.where(classes < np.array(space.primes)[:, None, None], np.log(probabilities), -inf)


A_LEVEL, THE_HIGHEST = [[0] * 4, [1, 1, 0, 0], [0] * 4], [[1, 0, 0, 0]] * 3
AT_11_AND_13 = np.isin(PRIMES[:9], (11, 13))[:, None] & [True, True]
AT_7_AND_97 = [[0] * 5] * 3 + [[0, 0, 0, 0, 1]] * 2


@pytest.mark.parametrize(
    ("space", "bounds", "x", "wrong", "doubts"),
    [
        # A doubtful level takes the levels above it along, even one that seems certain, and leaves those below.
        (AdeleSpace((5, 7, 11), 4), (10**7,), -123456, A_LEVEL, [[0] * 4, [0, 1, 0, 0], [0] * 4]),
        # The highest digit is wrong at every prime: without them all the redundancy is just enough, but no more.
        (AdeleSpace((5, 7, 11), 4), (10**7,), 7654321, THE_HIGHEST, THE_HIGHEST),
        # An erased place takes its p^F along: 2·S·A·B < M holds for the S and M of the other places, not for all of S.
        (AdeleSpace(PRIMES[:9], 2, 1), (7000, 70), Fraction(-6899, 70), AT_11_AND_13, AT_11_AND_13),
        (AdeleSpace(precision={2: 5, 3: 3, 5: 2, 7: 2, 97: 1}), (100,), -99, AT_7_AND_97, AT_7_AND_97),
    ],
    ids=["a level", "the highest", "after the point", "digits by prime"],
)
def test_doubtful_digits_are_erased(space, bounds, x, wrong, doubts):
    code, wrong = RedundantResidueCode(space, *bounds), np.array(wrong, bool)
    digits = space.encode(x).digits.astype(int)
    digits = np.where(wrong, (digits + 2) % np.array(space.primes)[:, None], digits)
    log_probabilities = doubted(space, digits, np.array(doubts, bool))
    log_probabilities[~space.window.exists] = nan  # nothing is read there
    result = code.decode_soft(log_probabilities)
    assert result.values.item() == x
    assert result.errors.tolist() == wrong.any(axis=1).tolist()
    assert code.decode(digits).values.item() != x


def test_an_erased_place_is_no_error():
    space = AdeleSpace(PRIMES[:9], precision=1)
    digits = np.array([[1 if p == 2 else pow(2, -1, p)] for p in space.primes])  # 1/2
    code = RedundantResidueCode(space, 10, 10)
    known = [0] + [1] * 8
    assert code.decode(digits, known=known).values.item() == Fraction(1, 2)
    assert not code.decode(digits, known=known).errors.any()
    assert code.decode(digits).errors.tolist() == [True] + [False] * 8


def test_the_real_place_is_a_check():
    space = AdeleSpace(PRIMES[:9], 1)
    code = RedundantResidueCode(space, 1000)
    digits = np.stack([spoil(space.encode([x]).digits, PRIMES, [4])[0] for x in (700, -700, 3, 4)])
    values = code.decode(digits, real=[699.0, 700.0, nan, inf], tolerance=1.0).values
    assert values.tolist() == [700, None, 3, None]
    right = space.encode([700, -700, 3]).digits
    assert code.decode(right, real=[699.0, 700.0, nan], tolerance=1.0).values.tolist() == [700, None, 3]
    assert code.decode(right, real=[700, -700, 3]).values.tolist() == [700, -700, 3]


@pytest.mark.parametrize("is_fast", [True, False])
def test_a_nearest_float_is_near(is_fast, monkeypatch):
    monkeypatch.setattr(redundancy, "has_kernels", lambda: is_fast)
    space = AdeleSpace(PRIMES[2:9], 1)
    code = RedundantResidueCode(space, 10, 10)
    digits = np.repeat(space.encode(["1/3"]).digits, 2, axis=0)
    assert code.decode(digits, real=[1 / 3, 1 / 3 + 1e-12]).values.tolist() == [Fraction(1, 3), None]


def test_a_confidence_by_hand():
    space = AdeleSpace((5, 7, 11, 13), precision=1)
    code = RedundantResidueCode(space, 3)
    digits = space.encode([2, 2]).digits.copy()
    digits[1, 3] = 0
    chance = 7 / 5005
    wrong = redundancy.ERROR_RATE
    right, mended = (1 - wrong) ** 4, (1 - wrong) ** 3 * wrong / 12
    expected = [right / (right + chance), mended / (mended + chance)]
    assert code.decode(digits).confidence == pytest.approx(expected)
    erased = code.decode(digits, known=[1, 1, 1, 0]).confidence
    assert erased == pytest.approx([(1 - wrong) ** 3 / 13 / ((1 - wrong) ** 3 / 13 + chance)] * 2)
    uneven = AdeleSpace((5, 7), {5: 2, 7: 1})
    log_probabilities = np.where(np.arange(7) == uneven.encode(2).digits[..., None], np.log(0.9), np.log(0.01))
    log_probabilities[0, :, 5:] = -inf
    soft = RedundantResidueCode(uneven, 3).decode_soft(log_probabilities)
    assert soft.confidence == pytest.approx(0.9**3 / (0.9**3 + 7 / 175))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda space: RedundantResidueCode(space, 15),
         r"do not tell apart all n/m with \|n\| <= 15 and m <= 1: 2·\|n\|·m must stay below 30"),
        (lambda space: RedundantResidueCode(AdeleSpace((2, 3), 2, 1), 3), "fractional_digits"),
        (lambda space: RedundantResidueCode(space, -1), "must be a whole number"),
        (lambda space: RedundantResidueCode(space, 1, 0), "must be a whole number"),
        (lambda space: RedundantResidueCode(space, 1.5), "must be a whole number"),
        (lambda space: RedundantResidueCode(space, True), "must be a whole number"),
        (lambda space: RedundantResidueCode(space, 1, "2"), "must be a whole number"),
        (lambda space: RedundantResidueCode((2, 3, 5), 1), "is not an AdeleSpace"),
        (lambda space: RedundantResidueCode(space, 1).mends([2, 7]), "7 is not one of the space's primes"),
        (lambda space: RedundantResidueCode(space, 1).mends(2), "primes=2 is not a sequence of primes"),
        (lambda space: RedundantResidueCode(space, 1).mends(["x"]), "'x' is not one of the space's primes"),
        (lambda space: RedundantResidueCode(space, 1).decode(AdeleSpace((2, 3), 1).encode(1)), "the array lives in"),
    ],
)  # fmt: skip
def test_codes_that_cannot_be(make, message):
    space = AdeleSpace((2, 3, 5), precision=1)
    assert RedundantResidueCode(space, 14).capacity == 1
    with pytest.raises(SpaceError, match=message):
        make(space)


def test_digits_that_cannot_be():
    space = AdeleSpace((2, 3, 5), precision=1)
    code, by_prime = RedundantResidueCode(space, 2), RedundantResidueCode(AdeleSpace(precision={2: 2, 5: 1}), 2)
    log_probabilities = np.where(np.arange(5) < np.array(space.primes)[:, None, None], -1.0, -inf)
    assert code.decode_soft(log_probabilities).values.shape == ()
    cases = [
        (lambda: code.decode([1, 2, 3]), "shape"),
        (lambda: code.decode([[1], [2], [5]]), "5 at position .* is not a digit at the prime 5"),
        (lambda: code.decode([[1], [2], [4]], known=2), "known must be integers from 0 to precision=1"),
        (lambda: code.decode([[1], [2], [4]], known=0.5), "known must be integers"),
        (lambda: by_prime.decode([[0, 1], [0, 2]], known=2), "known must be integers from 0 to precision={2: 2, 5: 1}"),
        (lambda: code.decode([[1], [2], [4]], known=[1, 1]), "does not broadcast"),
        (lambda: code.decode([[1], [2, 3], [4]]), "digits are ragged"),
        (lambda: code.decode([[1], [2], [4]], real="one"), "real values must be floats"),
        (lambda: code.decode([[1], [2], [4]], real=1, tolerance=-1), "tolerances must be finite and not negative"),
        (lambda: code.decode_soft(np.zeros((3, 1, 4))), r"shape \(\*, 3, 1, 5\)"),
        (lambda: code.decode_soft(np.zeros((3, 1, 5), dtype=int)), "not int64"),
        (lambda: code.decode_soft(np.zeros((3, 1, 5)) + log_probabilities * nan), "is nan"),
        (lambda: code.decode_soft(np.full((3, 1, 5), -inf)), "is -inf"),
        (lambda: code.decode_soft(np.where(np.arange(5) == 3, 0.0, log_probabilities)), "of the digit 3 at position"),
    ]
    for call, message in cases:
        with pytest.raises(EncodingError, match=message):
            call()
