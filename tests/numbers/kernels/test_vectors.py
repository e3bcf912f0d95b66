"""The instructions that are asked of LLVM, against the same in plain numba."""

import numpy as np
import pytest

pytest.importorskip("numba")
from numba import njit

from adelic.numbers.kernels import limbs, vectors
from adelic.numbers.kernels.vectors import BLOCK, DIGITS, LANES, LIMBS

PRIMES = (2, 3, 17, 43)
ROW = 20  # the distance between two numbers' digits, more than they take


@njit
def plain_spread(found, first, powers, j, p, out, at, row):
    flat = found.reshape(-1)
    for i in range(LANES):
        for lane in range(LANES):
            limb = flat[first + BLOCK * (LIMBS - 1 - lane // DIGITS) + i]
            above = np.floor(limb * powers[j, lane - 1]) if lane % DIGITS else np.float32(0)
            out[at + row * i + lane] = np.floor(limb * powers[j, lane]) - p * above


@njit
def plain_gather(digits, at, row, weights, j, found, first):
    flat = found.reshape(-1)
    for i in range(LANES):
        for limb in range(LIMBS):
            total = np.float32(0)
            for lane in range((LIMBS - 1 - limb) * DIGITS, (LIMBS - limb) * DIGITS):
                total += np.float32(digits[at + row * i + lane]) * weights[j, lane]
            flat[first + BLOCK * limb + i] = total


@njit
def asked_spread(found, first, powers, j, p, out, at, row):
    vectors.spread(found, first, powers, j, p, out, at, row)


@njit
def asked_gather(digits, at, row, weights, j, found, first):
    vectors.gather(digits, at, row, weights, j, found, first)


def both(j, dtype):
    """Return what both ways make of random limbs at a prime: the digits, and the limbs that are read from them."""
    constants = limbs.plan(PRIMES, (16,) * len(PRIMES), 0)
    given = np.random.default_rng(j).integers(0, PRIMES[j] ** DIGITS, (LIMBS, BLOCK))
    outcomes = []
    for spread, gather in ((plain_spread, plain_gather), (asked_spread, asked_gather)):
        out, again = np.zeros(LANES * ROW, dtype), np.zeros(LIMBS * BLOCK, np.float32)
        halves = (given.reshape(-1) + 0.5).astype(np.float32)
        spread(halves, 32, constants.powers, j, np.float32(PRIMES[j]), out, 0, ROW)
        gather(out.astype(np.uint8), 0, ROW, constants.weights, j, again, 32)
        outcomes.append((out, again.reshape(LIMBS, BLOCK)[:, 32 : 32 + LANES]))
    return given[:, 32 : 32 + LANES], outcomes


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("j", range(len(PRIMES)), ids=PRIMES)
def test_both_ways_are_the_same(j, dtype):
    given, ((digits, plain), (same_digits, asked)) = both(j, dtype)
    np.testing.assert_array_equal(digits, same_digits)
    np.testing.assert_array_equal(plain, asked)
    np.testing.assert_array_equal(asked, given)
