"""`adelic encode` and `adelic decode`."""

import json
import math
import sys
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import IO, Any

import click

from adelic import AdeleArray, AdeleSpace
from adelic.cli.options import space_options
from adelic.errors import AdelicError, DecodingError
from adelic.numbers import rationals
from adelic.numbers.describe import integer_text
from adelic.numbers.expansion import expansion_text, parse_expansion
from adelic.numbers.space import DEFAULT_PRECISION, DEFAULT_PRIMES


@click.command(context_settings={"ignore_unknown_options": True})  # so that -3 is a number
@click.argument("numbers", nargs=-1, required=True)
@space_options(default_primes=",".join(map(str, DEFAULT_PRIMES)))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, which `adelic decode` reads.")
def encode(
    numbers: tuple[str, ...],
    primes: tuple[int, ...],
    precision: int | None,
    fractional_digits: int | None,
    *,
    as_json: bool,
) -> None:
    """Show the adele of each NUMBER: its real value and its p-adic digits.

    Numbers are integers, fractions and decimals of any length: 7/5, -3, 1.25, 1e-3.

    \b
    adelic encode 7/5 --primes 2,3,7 --precision 6
    adelic encode 7/5 --primes 2,3,5,7 --precision 6 --fractional-digits 1
    adelic encode 22/19 -5 --json | adelic decode
    """
    for number in numbers:
        if number.startswith("--"):
            raise click.NoSuchOption(number, ctx=click.get_current_context())
    space = AdeleSpace(primes, DEFAULT_PRECISION if precision is None else precision, fractional_digits or 0)
    adeles = space.encode(list(numbers))
    if as_json:
        click.echo(json.dumps(_to_json(numbers, adeles)))
        return
    exact = rationals.read(list(numbers))
    for i, number in enumerate(numbers):
        click.echo(f"{number}\n  real  {float(adeles.real[i])!r}")
        for j, p in enumerate(space.primes):
            click.echo(f"  Q_{p:<3} {_expansion(exact.fraction(i), adeles, i, j)}")


def _expansion(number: Fraction, adeles: AdeleArray, i: int, j: int) -> str:
    """Return the expansion of a number at a prime, without leading zeros where it ends."""
    space = adeles.space
    p, window = space.primes[j], space.precision
    scaled = number * p**space.fractional_digits
    terminates = scaled.denominator == 1 and 0 <= scaled.numerator < p**window
    return expansion_text(adeles.digits[i, j].tolist(), p, space.fractional_digits, terminates=terminates)


def _to_json(numbers: tuple[str, ...], adeles: AdeleArray) -> dict[str, Any]:
    space = adeles.space
    return {
        "primes": space.primes,
        "precision": space.precision,
        "fractional_digits": space.fractional_digits,
        "numbers": list(numbers),
        "real": adeles.real.tolist(),
        "digits": adeles.digits.tolist(),
    }


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("coordinates", nargs=-1)
@click.option(
    "--json", "file", type=click.File(encoding="utf-8"), help="The output of `adelic encode --json`; - is stdin."
)
def decode(coordinates: tuple[str, ...], file: IO[str] | None) -> None:
    """Find the rational number with these COORDINATES: a real value, then PRIME:EXPANSION for each prime.

    Without arguments, JSON is read from standard input. The real value counts as known to half a unit of its last
    digit.

    \b
    adelic decode 1.4 2:…011011 3:…101212 5:…00001.2 7:…254130
    adelic encode 22/19 -5 --json | adelic decode
    """
    adeles = _read_coordinates(coordinates) if coordinates else _read_json(file or sys.stdin)
    for q in adeles.reshape(-1).decode():
        n = integer_text(q.numerator)
        click.echo(n if q.denominator == 1 else f"{n}/{integer_text(q.denominator)}")


def _read_coordinates(coordinates: tuple[str, ...]) -> AdeleArray:
    """Return the adele that a command line writes."""
    try:
        value = Decimal(coordinates[0])
        exponent = int(value.as_tuple().exponent)
        if not math.isfinite(float(value)):
            raise DecodingError(f"the real value {coordinates[0]} is beyond float64, so it tells nothing")
    except (InvalidOperation, ValueError):
        raise DecodingError(f"{coordinates[0]!r} is no real value; the first argument is one, as 1.4") from None
    primes, expansions = [], []
    for text in coordinates[1:]:
        prime, colon, expansion = text.partition(":")
        if not colon or not prime.isdecimal() or len(prime) > 20:
            raise DecodingError(f"{text!r} is no coordinate; write PRIME:EXPANSION, as 2:…11011")
        primes.append(int(prime))
        expansions.append(parse_expansion(expansion, int(prime)))
    fractional_digits = max((f for _, f in expansions), default=0)
    # Missing digits after the point are zeros; beyond the shortest expansion nothing is known of all primes.
    windows = [digits + [0] * (fractional_digits - f) for digits, f in expansions]
    precision = min((len(window) for window in windows), default=0)
    space = AdeleSpace(tuple(primes), precision, fractional_digits)
    digits = [window[len(window) - precision :] for window in windows]
    return space.from_digits(digits, float(value), radius=float(Decimal((0, (5,), exponent - 1))))


def _read_json(stream: IO[str]) -> AdeleArray:
    """Return the adeles that `adelic encode --json` wrote."""
    try:
        found = json.load(stream)
        space = AdeleSpace(found["primes"], found["precision"], found["fractional_digits"])
        return space.from_digits(found["digits"], found["real"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, AdelicError):
            raise
        raise DecodingError(f"this is not the JSON of `adelic encode --json` ({error!s})") from None
