"""The torch twin of the numbers: bit-equal to `AdeleSpace` and `AdeleArray`, in one graph, on any int64."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace
from adelic.errors import EncodingError, PrecisionError, SpaceError
from adelic.nn import functional
from adelic.numbers.primes import valuation

PRIMES = [p for p in range(2, 252) if all(p % a for a in range(2, p))]
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
EXTREMES = [0, 1, -1, 2**62, 2**53 + 1, -(2**53) - 1, 3**39, -(5**27)]
EXTREMES += [INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1]
PRIMES_OF_POWERS, SIGNS = st.sampled_from([2, 3, 5, 7, 251]), st.sampled_from([1, -1])
POWERS = st.builds(lambda p, k, s: s * p**k, PRIMES_OF_POWERS, st.integers(0, 7), SIGNS)
NUMBERS = st.integers(-100, 100) | st.integers(INT64_MIN, INT64_MAX) | st.sampled_from(EXTREMES) | POWERS
DEFAULT = AdeleSpace()
thorough = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def spaces(draw, max_primes=30):
    """Draw a space: 1 to 30 primes up to 251, 1 to 64 digits, the same for all or not, up to 8 after the point."""
    primes = draw(st.lists(st.sampled_from(PRIMES), min_size=1, max_size=max_primes, unique=True))
    each = st.lists(st.integers(1, 64), min_size=len(primes), max_size=len(primes))
    counts = draw(st.one_of(st.integers(1, 64).map(lambda n: [n] * len(primes)), each))
    by_prime = dict(zip(primes, counts, strict=True))
    return AdeleSpace(tuple(primes), by_prime, draw(st.integers(0, min(8, min(counts) - 1))))


def place_of(space, j):
    """Return the space of one prime alone, and the columns of its digits in the whole space."""
    n = space.precisions[j]
    return AdeleSpace((space.primes[j],), n, space.fractional_digits), slice(space.max_precision - n, None)


def check_fractions(encode, space, pairs):
    """Assert that the digits of fractions are marked where the window holds them, and are then the space's own."""
    n, m = torch.tensor(pairs).unbind(-1)
    values = [Fraction(a, b) for a, b in pairs]
    result, valid = encode(n, m, space=space, return_valid=True)
    assert valid.tolist() == [is_held(q, space) for q in values]
    fits = valid.all(-1)
    assert fits.sum() > 50
    assert same_bits(result[fits], space.tensor([q for q, fit in zip(values, fits, strict=True) if fit]))


def same_bits(x, array):
    """Return whether a float32 tensor and a NumPy array agree bit by bit, the sign of zero included."""
    return x.shape == array.shape and np.array_equal(x.numpy().view(np.int32), array.view(np.int32))


def is_held(q, space):
    """Return, prime by prime, whether the window reaches the lowest digit of a fraction."""
    return [valuation(q.denominator, p) <= space.fractional_digits for p in space.primes]


@thorough
@given(spaces(), st.lists(NUMBERS, min_size=1, max_size=20))
def test_integers_are_bit_equal(space, numbers):
    assert same_bits(functional.encode(torch.tensor(numbers), space=space), space.tensor(numbers))


@thorough
@given(spaces(), st.lists(st.tuples(NUMBERS, NUMBERS.filter(bool)), min_size=1, max_size=20))
def test_fractions_are_bit_equal(space, pairs):
    n, m = torch.tensor(pairs).unbind(-1)
    values = [Fraction(a, b) for a, b in pairs]
    result, valid = functional.encode(n, m, space=space, return_valid=True)
    assert valid.tolist() == [is_held(q, space) for q in values]
    assert not result[:, 1:][~valid].any()
    for i in range(len(values)):
        if valid[i].all():
            assert same_bits(result[i], space.tensor(values[i]))
        else:
            with pytest.raises(PrecisionError):
                space.tensor(values[i])
        for j in torch.nonzero(valid[i]).flatten().tolist():  # a prime that does not fit hides no other
            alone, columns = place_of(space, j)
            assert result[i, 1 + j, columns].tolist() == alone.encode(values[i]).digits[0].tolist()
            assert not result[i, 1 + j, : columns.start].any()


def test_real_values_that_two_roundings_would_miss():
    generator = np.random.default_rng(0)
    m = generator.integers(2**53, INT64_MAX, 20_000)
    # Near the middle between two float32: m · (1 + 2^-24 + a few units of the last place of float64 or less).
    n = [int(b) + (int(b) >> 24) + int(e) for b, e in zip(m, generator.integers(-3, 4, len(m)), strict=True)]
    n, m = zip(*[(a, int(b)) for a, b in zip(n, m, strict=True) if a <= INT64_MAX], strict=True)
    found = functional.encode(torch.tensor(n), torch.tensor(m), space=AdeleSpace((2,), 1))[:, 0, -1].numpy()
    assert np.array_equal(found, np.array([a / b for a, b in zip(n, m, strict=True)]).astype(np.float32))
    assert not np.array_equal(found, np.array([Fraction(a, b) < 1 for a, b in zip(n, m, strict=True)], np.float32))


def test_zero_denominators_are_marked():
    result, valid = functional.encode(torch.tensor([0, 5]), torch.tensor(0), space=DEFAULT, return_valid=True)
    assert not valid.any()
    assert not result[:, 1:].any()
    assert result[:, 0, -1].isnan().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.uint8, torch.int16, torch.int32, torch.int64])
def test_dtypes_hold_the_same_coordinates(dtype):
    n, m = torch.tensor([7, -(2**40) - 3, INT64_MAX]), torch.tensor([19, 2**40 + 15, 23])
    has_real_row = dtype.is_floating_point
    space = AdeleSpace((2, 251, 257), 9, 1) if has_real_row else AdeleSpace((2, 251), 9, 1)
    expected = functional.encode(n, m, space=space)[:, 0 if has_real_row else 1 :]
    result = functional.encode(n, m, space=space, dtype=dtype, real_row=has_real_row)
    assert result.dtype == dtype
    assert torch.equal(result, expected.to(dtype))


def test_shapes_broadcast(batch):
    numbers = torch.arange(int(np.prod(batch, dtype=int))).reshape(batch)
    assert functional.encode(numbers, space=DEFAULT).shape == (*batch, 8, 16)
    assert functional.encode(numbers, torch.tensor(19), space=DEFAULT).shape == (*batch, 8, 16)
    found = functional.encode(torch.tensor([[1], [2]]), torch.tensor(19), space=DEFAULT)
    assert same_bits(found, DEFAULT.tensor(([[1], [2]], 19)))
    none = torch.empty(0, dtype=torch.int64)
    assert functional.encode(none, none, space=DEFAULT).shape == (0, 8, 16)
    assert functional.decode_int(functional.encode(none, space=DEFAULT), DEFAULT).shape == (0,)


@st.composite
def pairs_that_fit(draw):
    """Draw a space and equally many x and y that its window holds."""
    space = draw(spaces(max_primes=6))
    powers = st.sampled_from([1, *(p**k for p in space.primes for k in range(1, space.fractional_digits + 1))])
    numbers = st.builds(Fraction, NUMBERS, powers.filter(lambda m: m <= INT64_MAX))
    numbers = numbers.filter(lambda q: all(is_held(q, space)))
    return space, draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=10))


def encoded(values, space, **options):
    parts = [torch.tensor([getattr(q, part) for q in values]) for part in ("numerator", "denominator")]
    return functional.encode(*parts, space=space, **options)


@thorough
@given(pairs_that_fit())
def test_sums_are_bit_equal(drawn):
    space, pairs = drawn
    x, y = zip(*pairs, strict=True)
    result = functional.add(encoded(x, space), encoded(y, space), space)
    assert result[:, 1:].tolist() == (space.encode(list(x)) + space.encode(list(y))).digits.tolist()
    assert torch.equal(result[:, 0, -1], encoded(x, space)[:, 0, -1] + encoded(y, space)[:, 0, -1])
    assert not result[:, 0, :-1].any()


@thorough
@given(pairs_that_fit())
def test_products_are_bit_equal(drawn):
    space, pairs = drawn
    for x, y in pairs:
        options = {"dtype": torch.uint8, "real_row": False}
        found, known = functional.mul(
            encoded([x], space, **options), encoded([y], space, **options), space, return_known=True
        )
        for j in range(space.n_primes):
            alone, columns = place_of(space, j)
            assert not found[0, j, : columns.start].any()
            try:
                expected = alone.encode(x) * alone.encode(y)
            except PrecisionError:
                assert known[0, j] == 0
                assert not found[0, j].any()
            else:
                assert found[0, j, columns].tolist() == expected.digits[0].tolist()
                assert known[0, j] == expected._finite.known[0]


def test_operations_broadcast():
    x, y = (functional.encode(torch.tensor(v), space=DEFAULT) for v in ([[2], [-3]], [5, 7, 11]))
    assert same_bits(functional.add(x, y, DEFAULT), DEFAULT.tensor([[7, 9, 13], [2, 4, 8]]))
    assert same_bits(functional.mul(x, y, DEFAULT), DEFAULT.tensor([[10, 14, 22], [-15, -21, -33]]))


@thorough
@given(spaces(max_primes=8), st.lists(NUMBERS, min_size=1, max_size=20))
def test_integers_decode(space, numbers):
    x = functional.encode(torch.tensor(numbers), space=space)
    found, valid = functional.decode_int(x, space, return_valid=True)
    for n, decoded, is_valid in zip(numbers, found.tolist(), valid.tolist(), strict=True):
        if -space.decoding_bound <= 2 * n < space.decoding_bound:
            assert (decoded, is_valid) == (n, True)
        elif is_valid:  # another integer with these digits, of a space that is too small for n
            assert (decoded - n) % space.decoding_bound == 0


@pytest.mark.parametrize(
    ("primes", "precision"),
    [((2,), 5), ((2, 3), 2), ((7, 3), 1), ((2, 251, 5), 1), ((2, 97, 3), {2: 6, 97: 1, 3: 4}), ((2, 3), {2: 1, 3: 5})],
)
def test_every_integer_of_a_small_space_decodes(primes, precision):
    space = AdeleSpace(primes, precision)
    numbers = torch.arange(-(space.decoding_bound // 2), -(-space.decoding_bound // 2))
    assert len(numbers) == space.decoding_bound
    assert torch.equal(functional.decode_int(functional.encode(numbers, space=space), space), numbers)


# The greatest prime has one digit, so that others have to be read to the end.
LOPSIDED = [AdeleSpace(precision={251: 1, 2: 64}), AdeleSpace(precision={251: 1, 2: 60, 3: 60}, fractional_digits=0)]


@pytest.mark.parametrize(
    "space", [DEFAULT, AdeleSpace((2,), 64), AdeleSpace((3, 2), 50, 3), AdeleSpace((251, 241), 9), *LOPSIDED]
)
def test_extremes_decode(space):
    numbers = torch.tensor(EXTREMES)
    found, valid = functional.decode_int(functional.encode(numbers, space=space), space, return_valid=True)
    assert torch.equal(found, numbers)
    assert valid.all()


def test_what_is_no_integer_is_marked():
    fraction = functional.encode(torch.tensor(1), torch.tensor(19), space=DEFAULT)
    greater = torch.from_numpy(DEFAULT.tensor(2**63))
    contradiction = functional.encode(torch.tensor(6), space=DEFAULT)
    contradiction[-1, -1] = 5  # the digits of 6 but for the prime 17, which decoding an int64 does not need
    below = AdeleSpace((2, 3), 40, 2)
    for x, space in (
        (torch.stack([fraction, greater, contradiction]), DEFAULT),
        (functional.encode(torch.tensor(1), torch.tensor(2), space=below), below),
    ):
        assert not functional.decode_int(x, space, return_valid=True)[1].any()


def all_functions(n, m, space):
    x, y = functional.encode(n, space=space), functional.encode(m, space=space)
    return (
        *functional.encode(n, space=space, return_valid=True),
        *functional.encode(n, m, space=space, return_valid=True),
        functional.add(x, y, space),
        *functional.mul(x, y, space, return_known=True),
        *functional.decode_int(x, space, return_valid=True),
    )


compiling = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*")  # the compiler uses its own old parts


@pytest.mark.long
@compiling
@pytest.mark.parametrize(
    "space", [AdeleSpace((2, 5, 3), 6), AdeleSpace(precision={2: 6, 5: 4, 3: 2}, fractional_digits=1)], ids=str
)
def test_compiled_in_one_graph_of_any_length(space):
    torch.compiler.reset()
    compiled = torch.compile(all_functions, fullgraph=True, dynamic=True, backend="aot_eager")
    for length in (5, 7):
        n, m = torch.arange(length) - 3, 2 * torch.arange(length) + 1
        for a, b in zip(compiled(n, m, space), all_functions(n, m, space), strict=True):
            assert torch.equal(a, b)


@pytest.mark.long
@pytest.mark.parametrize("primes", [(1031,), pytest.param((1031, 65537), marks=pytest.mark.slow)])
def test_great_primes_are_compiled_in_reasonable_time(primes, forked, tmp_path):
    """Inverses modulo primes above 1,024 are powers, whose squarings no compiler must write out as one formula."""
    program = """if True:
        import torch
        from adelic import AdeleSpace
        from adelic.nn import functional
        space = AdeleSpace(primes, len(primes))
        n, m = torch.tensor([1, 2**40, -(2**63), 7]), torch.tensor([3, -(2**63), 5, 1031])
        compiled = torch.compile(functional.encode, fullgraph=True)
        results = [f(n, m, space=space, return_valid=True) for f in (compiled, functional.encode)]
        print([torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(*results)])
    """
    out, err = forked(program, tmp_path, primes=primes).communicate()
    assert out == "[True, True]\n", err


@pytest.mark.parametrize(
    "space",
    [
        *(AdeleSpace(primes, 3, 1) for primes in [(1031,), (65537, 2), (16777213, 1048583)]),
        *(AdeleSpace((41, 2), *window) for window in [(16, 15), (16, 0), (40, 20)]),  # whose powers pass int64
        AdeleSpace((11, 13, 2**13 - 1), 8),
        AdeleSpace((5, 2, 3), 70, 63),
    ],
    ids=str,
)
def test_great_primes_and_powers_are_bit_equal(space):
    numerators = [*EXTREMES, 41**11]
    check_fractions(functional.encode, space, [(a, b) for a in numerators for b in [*EXTREMES, 41**11, 2**15] if b])
    x = functional.encode(torch.tensor(numerators), space=space)
    decoded, is_right = functional.decode_int(x, space, return_valid=True)
    for a, found, is_valid in zip(numerators, decoded.tolist(), is_right.tolist(), strict=True):
        if -space.decoding_bound <= 2 * a < space.decoding_bound:
            assert (found, is_valid) == (a, True)


@pytest.mark.long
@compiling
@pytest.mark.parametrize(
    "space", [AdeleSpace((2, 17, 3), 9, 2), pytest.param(DEFAULT, marks=pytest.mark.slow)], ids=["small", "default"]
)
def test_generated_code_is_bit_equal(space):
    torch.compiler.reset()
    compiled = torch.compile(functional.encode, fullgraph=True)
    assert same_bits(compiled(torch.tensor(EXTREMES), space=space), space.tensor(EXTREMES))
    check_fractions(compiled, space, [(a, b) for a in EXTREMES for b in EXTREMES if b])


def test_nothing_is_read_back_to_the_host():
    n, m = (torch.empty(4, dtype=torch.int64, device="meta") for _ in range(2))  # tensors without values
    x = functional.encode(n, m, space=DEFAULT)
    assert x.shape == (4, 8, 16)
    assert functional.add(x, x, DEFAULT).device.type == "meta"
    assert functional.mul(x, x, DEFAULT).device.type == "meta"
    assert functional.decode_int(x, DEFAULT).shape == (4,)


ONE, ROWS = torch.tensor(1), torch.zeros(8, 16)


@pytest.mark.parametrize(
    ("function", "arguments", "options", "message"),
    [
        (functional.encode, (torch.tensor([1.5]),), {}, "numerators must be an int64 tensor, not of dty"),
        (functional.encode, ([1],), {}, "numerators must be an int64 tensor, not a list"),
        (functional.encode, (ONE, torch.tensor(2.0)), {}, "denominators must be an int64"),
        (functional.encode, (torch.arange(2), torch.arange(3)), {}, r"of shape \(2,\) and denominators of"),
        (functional.encode, (ONE, ONE.to("meta")), {}, "on meta"),
        (functional.encode, (ONE,), {"dtype": torch.float16}, "float16 is not a dtype of coordi"),
        (functional.encode, (ONE,), {"dtype": torch.uint8}, "pass real_row=False"),
        (functional.encode, (ONE,), {"dtype": torch.bfloat16, "space": AdeleSpace((263,))}, "the prime 263, only"),
        (functional.encode, (ONE,), {"space": None}, "space=None is no AdeleSpace"),
        (functional.encode, (ONE,), {"space": AdeleSpace((16777259,))}, r"the prime 16777259 is too large .*2\^24"),
        (functional.decode_int, (torch.zeros(16),), {}, r"x has shape \(16,\); in this space it must end in"),
        (functional.decode_int, ([1],), {}, "x must be a tensor of coordinates, not list"),
        (functional.add, (ROWS, torch.zeros(6, 16)), {}, r"y has shape \(6, 16\)"),
        (functional.add, (ROWS, torch.zeros(7, 16)), {}, "one has the real row"),
        (functional.mul, (ROWS, ROWS.bfloat16()), {}, "need one dtype and device"),
        (functional.mul, (torch.zeros(2, 8, 16), torch.zeros(3, 8, 16)), {}, "x of shape .* do not fit"),
    ],
)
def test_bad_arguments(function, arguments, options, message):
    with pytest.raises((EncodingError, SpaceError), match=message):
        function(*arguments, **{"space": DEFAULT} | options)
