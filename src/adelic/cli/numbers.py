"""`adelic encode`, `adelic decode` and `adelic space`."""

import json
import math
import os
import sys
from dataclasses import asdict
from decimal import MAX_EMAX, MIN_EMIN, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import IO, Any

import click

from adelic import AdeleArray, AdeleSpace
from adelic.cli.options import INTEGERS, NAME, in_terms_of_options, refuse_options, space_options
from adelic.errors import AdelicError, DecodingError, DivisionByZeroError, EncodingError, StorageError
from adelic.numbers import rationals
from adelic.numbers.choice import CANDIDATES, choose_space, fitting_space
from adelic.numbers.describe import describe, expansion_text, number_text, parse_expansion, shortened
from adelic.numbers.window import DEFAULT_PRECISION, DEFAULT_PRIMES

_REAL_DIGITS = 17  # which tell every float64 from its neighbours
_LONGEST_PRIME = 20
_CONSTANTS = {"pi": math.pi, "e": math.e}


@click.command(context_settings={"ignore_unknown_options": True})  # so that -3 is a number
@click.argument("numbers", nargs=-1, required=True)
@space_options(default_primes=",".join(map(str, DEFAULT_PRIMES)), by_prime=True)
@click.option(
    "--floats",
    type=NAME,
    help="Read numbers with a point or an exponent, and pi and e, as floats, and print the error of reading them so: "
    "exact (the binary value), shortest (the shortest decimal), or limit:10**6 (the nearest fraction with at most that "
    "denominator).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, which `adelic decode` reads.")
@in_terms_of_options
def encode(
    numbers: tuple[str, ...],
    primes: tuple[int, ...] | None,
    precision: int | dict[int, int] | None,
    fractional_digits: int | None,
    floats: str | None,
    *,
    as_json: bool,
) -> None:
    """Show the real value and the p-adic digits of each NUMBER.

    Together they are its adele. Numbers are integers, fractions and decimals of any length: 7/5, -3, 1.25, 1e-3.

    As many digits stand after the point as the numbers need.

    \b
    adelic encode 7/5 --primes 2,3,7 --precision 6
    adelic encode 7/5 --primes 2,3,5,7 --precision 6
    adelic encode 19.99 --primes 3,7,11
    adelic encode 360 --precision 2:6,3:4,97:1
    adelic encode 22/19 -5 --json | adelic decode
    adelic encode pi 0.3333 --floats limit:1000 --primes 2,5,7
    """
    refuse_options(numbers)
    if not floats and (constant := next((text for text in numbers if _unsigned(text) in _CONSTANTS), None)):
        raise EncodingError(
            f"{constant!r} is not a fraction; --floats shortest, exact or limit:1000 reads it as a float"
        )
    values = [_as_float(number) for number in numbers] if floats else list(numbers)
    policy = floats or "error"
    digits = DEFAULT_PRECISION if precision is None else precision
    space = fitting_space(values, primes or DEFAULT_PRIMES, digits, fractional_digits, floats=policy)
    adeles = space.encode(values, floats=policy)
    exact = rationals.read(values, floats=policy)
    reals = [_real_text(exact.fraction(i), float(value)) for i, value in enumerate(adeles.real)]
    if as_json:
        errors = {"approximation_error": adeles.approximation_error.tolist()} if floats else {}
        click.echo(json.dumps(_to_json(numbers, adeles, reals) | errors))
        return
    for i, number in enumerate(numbers):
        click.echo(number)
        if floats:
            click.echo(f"  as    {number_text(exact.fraction(i))}, error {adeles.approximation_error[i]:.3g}")
        click.echo(f"  real  {reals[i]}")
        for j, p in enumerate(space.primes):
            click.echo(f"  Q_{p:<3} {_expansion(exact.fraction(i), adeles, i, j)}")


def _unsigned(number: str) -> str:
    """Return a text without its sign, if it has one."""
    return number[1:] if number[:1] in ("+", "-") else number


def _as_float(number: str) -> str | float:
    """Return the float that a text means: pi, e, or a number with a point or an exponent; another text unchanged."""
    constant = _CONSTANTS.get(_unsigned(number))
    if constant is not None:
        return -constant if number.startswith("-") else constant
    is_float = any(sign in number for sign in ".eE")
    try:
        return float(number) if is_float else number
    except ValueError:
        return number  # which then is refused as the others are


def _real_text(number: Fraction, value: float) -> str:
    """Return a real value as the shortest text that names its float64; with 17 digits where that is not normal."""
    if not number or sys.float_info.min <= abs(value) < math.inf:
        return repr(value)
    with localcontext(prec=_REAL_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():e}"


def _expansion(number: Fraction, adeles: AdeleArray, i: int, j: int) -> str:
    """Return the expansion of a number at a prime, without leading zeros where it ends."""
    space = adeles.space
    p, window = space.primes[j], space.window.precisions[j]
    scaled = number * p**space.fractional_digits
    terminates = scaled.denominator == 1 and 0 <= scaled.numerator < p**window
    digits = adeles.digits[i, j, -window:].tolist()
    return expansion_text(digits, p, space.fractional_digits, terminates=terminates)


def _to_json(numbers: tuple[str, ...], adeles: AdeleArray, reals: list[str]) -> dict[str, Any]:
    """Return what --json prints; a real value is text where no float64 is it."""
    assert isinstance(adeles.space, AdeleSpace)
    return adeles.space.to_dict() | {
        "numbers": list(numbers),
        "real": [x if repr(x) == text else text for x, text in zip(adeles.real.tolist(), reals, strict=True)],
        "digits": adeles.digits.tolist(),
    }


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("coordinates", nargs=-1)
@click.option(
    "--json",
    "file",
    type=click.File(encoding="utf-8"),
    help="File to decode, the output of `adelic encode --json`; - is stdin.",
)
def decode(coordinates: tuple[str, ...], file: IO[str] | None) -> None:
    """Find the rational number with these COORDINATES.

    They are a real value, and then PRIME:EXPANSION for each prime. Without arguments, JSON is read from standard input.

    The real value is taken to be right to half a unit of its last digit, and to the rounding of float64. Write ? where
    it is not known: the number is then taken to have a small numerator and denominator. An expansion that starts with …
    or ... is cut off there; any other is complete, as with `adelic encode`.

    \b
    adelic decode 1.4 2:…011011 3:…101212 5:1.2 7:…254130
    adelic decode ? 2:…011011 3:…101212 7:…254130
    adelic encode 22/19 -5 --json | adelic decode
    """
    adeles = _read_coordinates(coordinates) if coordinates else _read_json(file or sys.stdin)
    for q in adeles.reshape(-1).decode():
        click.echo(number_text(q))


def _read_coordinates(coordinates: tuple[str, ...]) -> AdeleArray:
    """Return the adele that a command line writes."""
    value, radius = _read_real(coordinates[0])
    if len(coordinates) == 1:
        raise DecodingError("there are no digits to decode; write PRIME:EXPANSION behind the real value, as 2:…11011")
    primes, expansions = [], []
    for text in coordinates[1:]:
        prime, colon, expansion = text.partition(":")
        if not colon or not prime.isdecimal() or len(prime) > _LONGEST_PRIME:
            raise DecodingError(f"{describe(text)} is not a coordinate; write PRIME:EXPANSION, as 2:…11011")
        primes.append(int(prime))
        expansions.append(parse_expansion(expansion, int(prime)))
    fractional_digits = max((e.fractional_digits for e in expansions), default=0)
    # Missing digits after the point are zeros. Further left an expansion that is cut off has the digits that it shows;
    # one that ends has as many as the longest of these, or two zeros if all of them end: enough to decode the number.
    windows = [e.digits + [0] * (fractional_digits - e.fractional_digits) for e in expansions]
    lengths = [len(window) for window, e in zip(windows, expansions, strict=True) if not e.terminates]
    longest = max(lengths, default=2 + max(map(len, windows), default=0))
    counts = [max(len(w), longest) if e.terminates else len(w) for w, e in zip(windows, expansions, strict=True)]
    space = AdeleSpace(tuple(primes), dict(zip(primes, counts, strict=True)) or 1, fractional_digits)
    digits = [[0] * (space.max_precision - len(window)) + window for window in windows]
    return space.from_digits(digits, value, radius=radius)


def _read_real(text: str) -> tuple[Fraction | None, Fraction | None]:
    """Return a real value as written, and how far the number that it stands for may be from it."""
    if text == "?":
        return None, None
    try:
        value = Decimal(text)
        if not value.is_finite():
            raise ValueError(text)
    except (InvalidOperation, ValueError):
        raise DecodingError(
            f"{describe(text)} is not a real value; the first argument is one, as 1.4, or ? for an unknown one"
        ) from None
    exact = rationals.read(value).fraction(0)
    last = Fraction(10) ** int(value.as_tuple().exponent)
    nearest = float(value)
    is_float = math.isfinite(nearest) and nearest != 0
    ulp = Fraction(math.ulp(nearest)) if is_float else abs(exact) / 2**52
    return exact, (last + ulp) / 2


def _read_json(stream: IO[str]) -> AdeleArray:
    """Return the adeles that `adelic encode --json` wrote."""
    try:
        found = json.load(stream)
        space = AdeleSpace.from_dict({name: found[name] for name in ("primes", "precision", "fractional_digits")})
        return space.from_digits(found["digits"], _read_reals(found["real"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, AdelicError):
            raise
        why = {KeyError: f"it has no {error}", TypeError: "it is not an object, or a part of it is of another kind"}
        shown = why.get(type(error), shortened(str(error)))
        raise DecodingError(f"this is not the JSON of `adelic encode --json`: {shown}") from None


def _read_reals(found: Any) -> Any:
    """Return real values of JSON: those beyond float64 are text there."""
    if isinstance(found, list):
        return [_read_reals(item) for item in found]
    return _read_real(found)[0] if isinstance(found, str) else found


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("numbers", nargs=-1)
@click.option("--values", type=click.Path(allow_dash=True), help="File of numbers, one a line; - is stdin.")
@click.option("--labels", type=click.Path(allow_dash=True), help="File of labels, one a line, in the same order.")
@click.option(
    "--budget",
    type=int,
    default=128,
    show_default=True,
    help="The most coordinates a number may have: (primes + 1) · digits, or the digits of all primes and a real row.",
)
@click.option("--operations", type=int, default=1, show_default=True, help="How many sums and products to allow for.")
@click.option("--primes", type=INTEGERS, help="Primes to choose from, as 2,3,5.  [default: those up to 43]")
@click.option("--by-prime", is_flag=True, help="Give primes different numbers of digits where that takes fewer.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the labels' permutation test.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
@in_terms_of_options
def space(
    numbers: tuple[str, ...],
    values: str | None,
    labels: str | None,
    budget: int,
    operations: int,
    primes: tuple[int, ...] | None,
    seed: int,
    *,
    by_prime: bool,
    as_json: bool,
) -> None:
    """Choose the cheapest primes and digits for NUMBERS.

    The numbers are given here, or in a file (--values). They, and every result of as many sums and products of them as
    --operations says, can be decoded in the space. With --labels, primes whose digits tell more of the label than
    chance does are preferred.

    \b
    adelic space 0.1 2.75 19.99 --operations 2
    adelic space -12 7/5 1000000 --primes 2,3,5,7,11 --budget 64
    adelic space --values numbers.txt --labels classes.txt
    """
    refuse_options(numbers)
    if bool(numbers) == (values is not None):
        raise click.UsageError("give NUMBERS or --values FILE, one of the two", ctx=click.get_current_context())
    try:
        rationals.read(list(numbers))
    except EncodingError as error:
        files = [shortened(name) for name in numbers if os.path.isfile(name)]  # noqa: PTH113  # a Path may be too long
        raise EncodingError(f"{error}; --values {files[0]} reads this file" if files else str(error)) from None
    choice = choose_space(
        list(numbers) if values is None else _numbers(values),
        budget,
        operations,
        None if labels is None else _lines(labels),
        candidates=primes or CANDIDATES,
        by_prime=by_prime,
        seed=seed,
    )
    if as_json:
        chosen = choice.space.to_dict() | {
            "coordinates": choice.coordinates,
            "information": [asdict(row) for row in choice.information],
        }
        click.echo(json.dumps(chosen))
    else:
        click.echo(str(choice))


def _numbers(file: str) -> list[str]:
    """Return the numbers in a file, one a line; an error says in which line."""
    lines = _lines(file)
    try:
        rationals.read(lines)
    except (EncodingError, DivisionByZeroError):
        for number, line in enumerate(lines, 1):
            try:
                rationals.read(line)
            except (EncodingError, DivisionByZeroError) as error:
                raise type(error)(f"{_source(file)} line {number}: {error}") from None
        raise
    return lines


def _lines(file: str) -> list[str]:
    """Return the lines of a file, "-" for standard input; empty ones may stand at the end alone.

    Without one that is empty, line i of one file belongs to line i of another.
    """
    try:
        with click.open_file(file, encoding="utf-8") as opened:
            text = opened.read().removeprefix("\ufeff").rstrip()
    except UnicodeDecodeError:
        raise EncodingError(f"{_source(file)} is not text in UTF-8; one number or label a line") from None
    except OSError as error:
        raise StorageError(f"{_source(file)} cannot be read: {error.strerror}") from None
    lines = [line.strip() for line in text.split("\n")] if text else []
    if "" in lines:
        raise EncodingError(f"{_source(file)} line {lines.index('') + 1} is empty; delete it, or write what is missing")
    return lines


def _source(file: str) -> str:
    return "the standard input" if file == "-" else file
