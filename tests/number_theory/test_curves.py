"""Root numbers against functional equations, theorems and known curves; base curves that are what is said of them."""

import itertools
import math
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from adelic.errors import ConfigurationError
from adelic.number_theory import TASKS, task
from adelic.number_theory.curves import _CM, _LARGEST_A, _LARGEST_B, base_curves, related, trace_table
from adelic.number_theory.drawing import held_out
from adelic.number_theory.root_numbers import load_pari, local_root_numbers, root_numbers
from adelic.number_theory.symbols import REAL
from adelic.numbers.primes import legendre, split

PRIMES = tuple(sympy.primerange(32))
PLACES = (REAL, *PRIMES)
TASK = TASKS["root-number"]


def rng(seed=0):
    return np.random.default_rng(seed)


def discriminants(a, b):
    """Return 4a³ + 27b² in Python's integers."""
    return [4 * x**3 + 27 * y**2 for x, y in zip(np.ravel(a).tolist(), np.ravel(b).tolist(), strict=True)]


def is_smooth(n, primes=PRIMES):
    for p in primes:
        while n % p == 0:
            n //= p
    return abs(n) == 1


def drawn(n, split="train", seed=0):
    X, y = TASK.sample(n, rng(seed), split)
    return X[:, 0], X[:, 1], 2 * y - 1


# Curves of Cremona's tables: the model y² = x³ − 27c₄x − 54c₆ of [a₁, a₂, a₃, a₄, a₆], the conductor and the rank.
KNOWN = [
    ((0, -1, 1, -10, -20), 11, 0),
    ((1, 0, 1, 4, -6), 14, 0),
    ((1, 1, 1, -10, -10), 15, 0),
    ((0, 0, 1, 0, -7), 27, 0),
    ((0, 0, 0, 4, 0), 32, 0),
    ((0, 0, 1, -1, 0), 37, 1),
    ((0, 1, 1, 0, 0), 43, 1),
    ((1, -1, 1, 0, 0), 53, 1),
    ((0, 1, 1, -2, 0), 389, 2),
    ((0, 0, 1, -7, 6), 5077, 3),
]


def short_model(a1, a2, a3, a4, a6):
    b2, b4, b6 = a1**2 + 4 * a2, 2 * a4 + a1 * a3, a3**2 + 4 * a6
    return -27 * (b2**2 - 24 * b4), -54 * (-(b2**3) + 36 * b2 * b4 - 216 * b6)


@pytest.mark.parametrize(("coefficients", "conductor", "rank"), KNOWN)
def test_known_curves(coefficients, conductor, rank):
    a, b = short_model(*coefficients)
    pari = load_pari()
    assert int(pari.ellglobalred(pari.ellinit([a, b]))[0]) == conductor
    assert root_numbers(a, b) == (-1) ** rank


def test_congruent_numbers():
    """y² = x³ − n²x, n squarefree: 1 for n ≡ 1, 2, 3 modulo 8, else −1 (Birch and Stephens 1966)."""
    n = np.array([k for k in range(1, 3000) if max(sympy.factorint(k).values(), default=1) == 1])
    assert (root_numbers(-(n**2), 0) == np.where(np.isin(n % 8, (1, 2, 3)), 1, -1)).all()


def test_sums_of_two_cubes():
    """x³ + y³ = n, without cubes, is y² = x³ − 432n²: signs by the primes of n, and by n modulo 9 (the same source)."""
    numbers = [k for k in range(3, 1500) if max(sympy.factorint(k).values()) < 3]
    for n, found in zip(numbers, root_numbers(0, [-432 * k**2 for k in numbers]).tolist(), strict=True):
        at_three = -1 if n % 9 in (1, 3, 6, 8) else 1
        others = math.prod(-1 for p in sympy.primefactors(n) if p % 3 == 2)
        assert found == -at_three * others, n


def functional_equation(a, b):
    """Return the sign of the functional equation and the conductor, without any local sign.

    With F(y) = Σ a_n exp(−2πny/√N), the L-function has the sign w if and only if F(1/y) = w y² F(y) for all y.
    """
    pari = load_pari()
    curve = pari.ellinit(pari.ellinit([a, b]).ellminimalmodel()[0][:5])
    conductor = int(pari.ellglobalred(curve)[0])
    root = math.sqrt(conductor)
    coefficients = np.array([int(c) for c in pari.ellan(curve, int(6 * root) + 60)], dtype=float)
    n = np.arange(1, len(coefficients) + 1)

    def theta(y):
        return float(coefficients @ np.exp(-2 * np.pi * n * y / root))

    ratios = [theta(1 / y) / (y**2 * theta(y)) for y in (1.1, 1.17)]
    assert abs(ratios[0] - ratios[1]) < 1e-5, (a, b, ratios)
    assert abs(abs(ratios[0]) - 1) < 1e-5
    return round(ratios[0])


def test_functional_equations_of_small_curves():
    pairs = [(a, b) for a, b in itertools.product(range(-8, 9), range(-12, 13)) if 4 * a**3 + 27 * b**2]
    for (a, b), found in zip(pairs, root_numbers(*np.array(pairs).T).tolist(), strict=True):
        assert functional_equation(a, b) == found, (a, b)


@pytest.mark.parametrize("split", TASK.splits)
def test_the_root_number_is_the_product_of_the_local_ones(split):
    a, b, signs = drawn(500, split)
    local = local_root_numbers(a, b, PLACES)
    assert local.shape == (500, len(PLACES))
    assert (local.prod(axis=1) == signs).all()
    assert (local[:, 0] == -1).all()
    assert all(len(set(local[:, i].tolist())) == 2 for i in range(1, len(PLACES)))
    assert (local_root_numbers(a, b, (37, 41)) == 1).all()


def rohrlich(a, b, p):
    """The local sign at p > 3, from the valuations of c₄ and of the discriminant (Rohrlich, proposition 2)."""
    c4, c6 = np.array([-48 * a]), np.array([-864 * b])
    discriminant = -16 * (4 * a**3 + 27 * b**2)
    power = 0
    while discriminant % p ** (power + 1) == 0:
        power += 1
    is_integral = a == 0 or 3 * split(c4, p)[0][0] >= power
    if is_integral:
        e = 12 // math.gcd(12, power)
        return 1 if e == 1 else int(legendre(np.array([{2: -1, 6: -1, 4: -2, 3: -3}[e]]), p)[0])
    valuation, unit = (part[0] for part in split(c6, p))
    if valuation % 6 == 3:  # additive, but multiplicative after a ramified quadratic extension
        return int(legendre(np.array([-1]), p)[0])
    return -int(legendre(np.array([-unit]), p)[0])


@pytest.mark.parametrize("p", PRIMES[2:])
def test_local_root_numbers_by_the_formula(p):
    a, b, _ = drawn(1500, seed=p)
    found = local_root_numbers(a, b, (p,))[:, 0].tolist()
    assert found == [rohrlich(x, y, p) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


@given(a=st.integers(-300, 300), b=st.integers(-300, 300), d=st.integers(-999, 999))
def test_twists_prime_to_the_conductor(a, b, d):
    """w(E^d) = w(E) χ_d(−N), where χ_d is the character of Q(√d) and its discriminant is prime to N."""
    pari = load_pari()
    if 4 * a**3 + 27 * b**2 == 0 or d == 0:
        return
    d = int(pari.quaddisc(d))
    conductor = int(pari.ellglobalred(pari.ellinit([a, b]))[0])
    if math.gcd(conductor, d) == 1:
        sign = int(pari.kronecker(d, -conductor))
        assert root_numbers(a * d**2, b * d**3) == root_numbers(a, b) * sign


@pytest.mark.parametrize("split", TASK.splits)
def test_drawn_curves(split):
    a, b, signs = drawn(2000, split, seed=4)
    assert all(is_smooth(d) for d in discriminants(a, b))
    assert max(abs(a).max(), abs(b).max()) <= 10**15
    assert (held_out(related(a, b, 31)) == (split == "new curves")).all()
    assert abs(signs.mean()) < 0.08  # three standard deviations are 0.067
    d = np.array([math.gcd(*map(int, row)) for row in zip(a, b, strict=True)])
    assert all((d % p == 0).any() for p in PRIMES)


def test_no_two_base_curves_are_related():
    curves = base_curves(31)
    assert len(curves) > 30_000
    assert len(set(related(curves[:, 0], curves[:, 1], 31).tolist())) == len(curves)
    j = {Fraction(4 * a**3, 4 * a**3 + 27 * b**2) for a, b in curves.tolist()}
    assert len(j) == len(curves)
    assert not j & {Fraction(value, 1728) for value in (0, 1728, *_CM)}
    assert not curves.flags.writeable


def test_isogenous_curves_and_twists_are_related():
    """y² = x(x² + cx + d) has an isogeny of degree 2 to y² = x(x² − 2cx + c² − 4d)."""
    tried = 0
    for c, d in itertools.product(range(-12, 13), range(-12, 13)):
        if d and c**2 != 4 * d and is_smooth(c**2 - 4 * d):
            curves = [short_model(0, c, 0, d, 0), short_model(0, -2 * c, 0, c**2 - 4 * d, 0)]
            curves += [(a * e**2, b * e**3) for a, b in curves for e in (-1, 6, -210)]
            numbers = related(*np.array(curves).T, 31).tolist()
            assert len(set(numbers)) == 1, (c, d)
            signs = root_numbers(*np.array(curves).T)
            assert signs[0] == signs[1]
            assert (signs[2:5] == signs[5:]).all()
            tried += 1
    assert tried > 300


def test_the_sieve_finds_all():
    """Row by row against trial division: all smooth pairs that are not twists of a smaller one, up to relatives."""
    curves, found = base_curves(31), 0
    numbers = related(curves[:, 0], curves[:, 1], 31)
    for a in (-1000, -507, -48, -3, 1, 18, 243, 999):
        wanted = [b for b, d in enumerate(discriminants([a] * (_LARGEST_B + 1), range(_LARGEST_B + 1))) if d and b]
        wanted = [b for b in wanted if is_smooth(4 * a**3 + 27 * b**2)]
        wanted = [b for b in wanted if not any(a % p**2 == 0 and b % p**3 == 0 for p in PRIMES)]
        row = set(curves[curves[:, 0] == a, 1].tolist())
        assert row <= set(wanted)
        found += len(row)
        missing = np.array([b for b in wanted if b not in row], dtype=np.int64)
        assert np.isin(related(np.full(len(missing), a), missing, 31), numbers).all()
    assert found > 100
    assert abs(curves[:, 0]).max() == _LARGEST_A


def test_complex_multiplication():
    pari = load_pari()
    orders = (-7, -8, -11, -12, -16, -19, -27, -28, -43, -67, -163)
    assert {-int(pari.polclass(order).polcoef(0)) for order in orders} == set(_CM)


@pytest.mark.parametrize("p", [5, 7, 37, 101])
def test_traces_of_frobenius(p):
    pari = load_pari()
    for a, b in rng(p).integers(0, p, (40, 2)).tolist():
        if (4 * a**3 + 27 * b**2) % p:
            assert trace_table(p)[a, b] == int(pari.ellap(pari.ellinit([a, b]), p))


@pytest.mark.parametrize(
    ("max_prime", "limit"), [(5, 1000), (7, 10**18), pytest.param(97, 9 * 10**18, marks=pytest.mark.long)]
)
def test_options(max_prime, limit):
    asked = task("root-number", max_prime=max_prime, limit=limit)
    primes = tuple(sympy.primerange(max_prime + 1))
    for name in asked.splits:
        X, y = asked.sample(100, rng(), name)
        assert abs(X).max() <= limit
        assert all(is_smooth(d, primes) for d in discriminants(*X.T))
        assert set(y.tolist()) == {0, 1}
    with pytest.raises(ConfigurationError, match="max-prime=3 must be a whole number from 5 to 97"):
        task("root-number", max_prime=3)


def test_shapes():
    a, b = np.array([[1, 2, 3], [4, 5, 6]]), np.array([1, 2, 3])
    assert root_numbers(a, b).shape == (2, 3)
    assert local_root_numbers(a, b, (2, 3, 5, REAL)).shape == (2, 3, 4)
    assert local_root_numbers(a, b, ()).shape == (2, 3, 0)
    empty = np.zeros(0, np.int64)
    assert root_numbers(empty, empty).shape == (0,)
    assert local_root_numbers(empty, empty, (2, 3)).shape == (0, 2)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (-3, 2), (-3, -2), (-12, 16)])
def test_singular_cubics_are_refused(a, b):
    for function in (root_numbers, lambda a, b: local_root_numbers(a, b, (2,))):
        with pytest.raises(ConfigurationError, match=f"a={a}, b={b} is not an elliptic curve"):
            function([1, a], [1, b])


def test_places_are_primes():
    for place in (1, 4, -3, 91):
        with pytest.raises(ConfigurationError, match=f"{place} is not a prime"):
            local_root_numbers(1, 1, (2, place))


def test_threads_agree():
    a, b, signs = drawn(1200)
    with ThreadPoolExecutor(4) as pool:
        parts = [slice(k, k + 100) for k in range(0, 1200, 100)]
        found = list(pool.map(lambda part: root_numbers(a[part], b[part]), parts))
    assert (np.concatenate(found) == signs).all()


def run(program):
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_forked_processes_agree():
    program = """
import multiprocessing
from adelic.number_theory.root_numbers import root_numbers

def signs(k):
    return root_numbers(list(range(1, 200)), k).tolist()

if __name__ == "__main__":
    here = [signs(k) for k in range(1, 5)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(signs, range(1, 5)) == here)
"""
    assert run(program) == ["True"]


def test_signals_stay_as_they_were():
    program = """
import signal
from adelic.number_theory.root_numbers import root_numbers

signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
names = ("SIGINT", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGTERM")
before = [signal.getsignal(getattr(signal, name)) for name in names]
root_numbers(-16, 16)
print(before == [signal.getsignal(getattr(signal, name)) for name in names])
signal.raise_signal(signal.SIGHUP)
signal.raise_signal(signal.SIGALRM)
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run(program) == ["True", "alarm", "interrupted"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_first_use_is_in_the_main_thread():
    program = """
from threading import Thread
from adelic.errors import MissingExtraError
from adelic.number_theory.root_numbers import root_numbers

def ask():
    try:
        print(root_numbers(-16, 16))
    except MissingExtraError as error:
        print(error)

for known in (False, True):
    if known:
        root_numbers(1, 1)
    thread = Thread(target=ask)
    thread.start()
    thread.join()
"""
    first, second = run(program)
    assert first.startswith("cypari can be imported in a process's main thread only: call ")
    assert second == "-1"


@pytest.mark.long
def test_without_cypari():
    """In a fresh process where the import fails: one clear line; the task is listed, and other tasks work."""
    program = """
import sys
sys.modules["cypari"] = None
import numpy as np
from adelic.errors import MissingExtraError
from adelic.number_theory import task
try:
    task("root-number").sample(1, np.random.default_rng(0))
except MissingExtraError as error:
    print(error)
print(task("conic").sample(1, np.random.default_rng(0))[1].shape)
"""
    assert run(program) == [
        "the root number needs cypari, which is not installed: pip install 'adelic[number-theory]'",
        "(1,)",
    ]
