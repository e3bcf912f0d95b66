"""Root numbers of elliptic curves y² = x³ + ax + b over the rationals, one for each place, by PARI.

The root number is the sign in the functional equation of the curve's L-function, so 1 where the analytic rank is even
and −1 if it is odd, and the product of a sign for each place: 1 at primes of good reduction, −1 at the real place.

Source: Rohrlich, "Variation of the root number in families of elliptic curves", Compositio Math. 87 (1993), for primes
from 5; Halberstadt, "Signes locaux des courbes elliptiques en 2 et 3", C. R. Acad. Sci. Paris 326 (1998).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from adelic.data.drawn import Answers
from adelic.errors import ConfigurationError
from adelic.number_theory.symbols import REAL
from adelic.numbers import is_prime
from adelic.numbers.pari import PARI_LOCK, load_pari


def root_numbers(a: ArrayLike, b: ArrayLike) -> Answers:
    """Return the root numbers of the curves y² = x³ + ax + b.

    It takes about 30 µs a curve whose discriminant has small primes alone; others have to be factored, which takes
    about a second if a and b have 19 digits.

    a and b are int64 of any shapes that broadcast, and so are the results, 1 or −1. Where 4a³ + 27b² is 0 there is no
    elliptic curve, which is a ConfigurationError; a MissingExtraError is as of `load_pari`.

    The curves of conductor 37 and of rank 1, 389 and 2, 5077 and 3:

    >>> root_numbers([-16, -3024, -112], [16, 46224, 400]).tolist()
    [-1, 1, -1]
    """
    return _of_each(lambda pari, curve: [pari.ellrootno(curve)], 1, a, b)[..., 0]


def local_root_numbers(a: ArrayLike, b: ArrayLike, places: Sequence[int]) -> Answers:
    """Return the local root numbers of the curves y² = x³ + ax + b at places.

    Places are primes, and `REAL` for the real one; they are one more axis of the results. Over `REAL` and all primes of
    bad reduction their product is the root number. Types and errors are those of `root_numbers`; a place that is
    not a prime is a ConfigurationError, too.

    >>> local_root_numbers(-16, 16, (REAL, 2, 3, 37)).tolist()
    [-1, 1, 1, 1]
    """
    for place in places:
        if place != REAL and not is_prime(place):
            raise ConfigurationError(f"{place} is not a prime; places are primes, and {REAL} is the real place")
    return _of_each(lambda pari, curve: [pari.ellrootno(curve, p) for p in places], len(places), a, b)


def _of_each(function: Callable[[Any, Any], list[Any]], count: int, a: ArrayLike, b: ArrayLike) -> Answers:
    """Return what a function of PARI and one of its curves says of each curve: `count` numbers, the last axis."""
    pari = load_pari()
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    found = np.empty((a.size, count), np.int64)
    with PARI_LOCK:
        for i, (c, d) in enumerate(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)):
            if 4 * c**3 + 27 * d**2 == 0:  # which PARI would not survive
                raise ConfigurationError(f"a={c}, b={d} is not an elliptic curve y² = x³ + ax + b: 4a³ + 27b² is 0")
            found[i] = [int(sign) for sign in function(pari, pari.ellinit([c, d]))]
    return found.reshape(*a.shape, count)
