"""Commands about numbers: `adelic encode`, `adelic decode`, `adelic space` and `adelic explore`."""

import json
import math
import os
import sys
from dataclasses import asdict
from decimal import MAX_EMAX, MIN_EMIN, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from adelic import AdeleArray, AdeleSpace
from adelic.cli.options import ByPrime, File, Flag, Integers, Json, Number, Text, UsageError, refuse_options
from adelic.errors import AdelicError, DecodingError, DivisionByZeroError, EncodingError, StorageError
from adelic.numbers import rationals
from adelic.numbers.choice import CANDIDATES, choose_space, fitting_space
from adelic.numbers.describe import describe, expansion_text, number_text, parse_expansion, shortened
from adelic.numbers.window import DEFAULT_PRECISION, DEFAULT_PRIMES

_REAL_DIGITS = 17  # which tell every float64 from its neighbours
_LONGEST_PRIME = 20


def encode(
    *numbers: Number,
    primes: Integers | None = None,
    precision: ByPrime | None = None,
    fractional_digits: int | None = None,
    floats: Text | None = None,
    as_json: Annotated[Flag, Parameter("--json")] = False,
) -> None:
    """Show the real value and the p-adic digits of each NUMBER.

    adelic encode 7/5 --primes 2,3,7 --precision 6
    adelic encode 7/5 --primes 2,3,5,7 --precision 6
    adelic encode 19.99 --primes 3,7,11
    adelic encode 360 --precision 2:6,3:4,97:1
    adelic encode 22/19 -5 --json | adelic decode
    adelic encode 0.3333 3.14159 --floats limit:1000 --primes 2,5,7

    Together they are its adele. Numbers are integers, fractions and decimals of any length: 7/5, -3, 1.25, 1e-3. As
    many digits follow the point as the numbers need.

    Args:
        numbers: Numbers to encode.
        primes: Different primes at which digits are shown, as 2,3,5.  [default: 2,3,5,7,11,13,17]
        precision: Number of digits at each prime: one for all, or by prime, as 2:7,3:5,11:1, which names the primes
            too.  [default: 16]
        fractional_digits: How many of these digits follow the point.  [default: as many as the numbers need]
        floats: Read numbers with a point or an exponent as floats, and print the error of reading them
            so: exact (the binary value), shortest (the shortest decimal), or limit:10**6 (the nearest fraction with at
            most that denominator).
        as_json: Print JSON, which `adelic decode` reads.
    """
    refuse_options(numbers, encode)
    if not numbers:
        raise UsageError("give a NUMBER, as 7/5")
    values = [_as_float(number) for number in numbers] if floats else list(numbers)
    policy = floats or "error"
    digits = DEFAULT_PRECISION if precision is None else precision
    space = fitting_space(values, primes or DEFAULT_PRIMES, digits, fractional_digits, floats=policy)
    adeles = space.encode(values, floats=policy)
    exact = rationals.read(values, floats=policy)
    reals = [_real_text(exact.fraction(i), float(value)) for i, value in enumerate(adeles.real)]
    if as_json:
        errors = {"approximation_error": adeles.approximation_error.tolist()} if floats else {}
        print(json.dumps(_to_json(numbers, adeles, reals) | errors))
        return
    for i, number in enumerate(numbers):
        print(number)
        if floats:
            print(f"  as    {number_text(exact.fraction(i))}, error {adeles.approximation_error[i]:.3g}")
        print(f"  real  {reals[i]}")
        for j, p in enumerate(space.primes):
            print(f"  Q_{p:<3} {_expansion(exact.fraction(i), adeles, i, j)}")


def _as_float(number: str) -> str | float:
    """Return the float that a number with a point or an exponent means; another text unchanged."""
    try:
        return float(number) if any(sign in number for sign in ".eE") else number
    except ValueError:
        return number  # which then is refused as the others are


def _real_text(number: Fraction, value: float) -> str:
    """Return a real value as the shortest text that names its float64; with 17 digits if that is not normal."""
    if not number or sys.float_info.min <= abs(value) < math.inf:
        return repr(value)
    with localcontext(prec=_REAL_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():e}"


def _expansion(number: Fraction, adeles: AdeleArray, i: int, j: int) -> str:
    """Return the expansion of a number at a prime, without leading zeros if it ends."""
    space = adeles.space
    p, window = space.primes[j], space.window.precisions[j]
    scaled = number * p**space.fractional_digits
    terminates = scaled.denominator == 1 and 0 <= scaled.numerator < p**window
    digits = adeles.digits[i, j, -window:].tolist()
    return expansion_text(digits, p, space.fractional_digits, terminates=terminates)


def _to_json(numbers: tuple[str, ...], adeles: AdeleArray, reals: list[str]) -> dict[str, Any]:
    """Return the content that --json prints; a real value is text if no float64 equals it."""
    assert isinstance(adeles.space, AdeleSpace)
    return adeles.space.to_dict() | {
        "numbers": list(numbers),
        "real": [x if repr(x) == text else text for x, text in zip(adeles.real.tolist(), reals, strict=True)],
        "digits": adeles.digits.tolist(),
    }


def decode(*coordinates: Number, file: Annotated[Text | None, Parameter("--json", metavar="FILE")] = None) -> None:
    """Find the rational number with these COORDINATES.

    adelic decode 1.4 2:…011011 3:…101212 5:1.2 7:…254130
    adelic decode ? 2:…011011 3:…101212 7:…254130
    adelic encode 22/19 -5 --json | adelic decode

    Give the real value, and then PRIME:EXPANSION for each prime. Without arguments, JSON is read from standard input.

    The real value counts as right to half a unit of its last digit, and to the rounding of float64. If it is not known,
    write ?: the number is then taken to have a small numerator and denominator. Digits have the highest power first. An
    expansion that starts with … or ... is cut off there; any other is complete, as with `adelic encode`.

    Args:
        coordinates: The real value, and the expansion at each prime.
        file: File to decode, the output of `adelic encode --json`; - is stdin.
    """
    refuse_options(coordinates, decode)
    adeles = _read_coordinates(coordinates) if coordinates else _read_json(_text(file or "-"))
    for q in adeles.reshape(-1).decode():
        print(number_text(q))


def _read_coordinates(coordinates: tuple[str, ...]) -> AdeleArray:
    """Return the adele that a command line writes."""
    value, radius = _read_real(coordinates[0])
    if len(coordinates) == 1:
        raise DecodingError("there are no digits to decode; write PRIME:EXPANSION after the real value, as 2:…11011")
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
    """Return a real value as written, and how far the number that it represents may be from it."""
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


def _read_json(text: str) -> AdeleArray:
    """Return the adeles that `adelic encode --json` wrote."""
    try:
        found = json.loads(text)
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


def space(
    *numbers: Number,
    values: Text | None = None,
    labels: Text | None = None,
    budget: int = 128,
    operations: int = 1,
    primes: Integers | None = None,
    by_prime: Flag = False,
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """Choose the cheapest primes and digits for NUMBERS.

    adelic space 0.1 2.75 19.99 --operations 2
    adelic space -12 7/5 1000000 --primes 2,3,5,7,11 --budget 64
    adelic space --values numbers.txt --labels classes.txt

    Give the numbers here, or in a file (--values). The space can decode them, and every result of up to --operations
    sums and products of them. With --labels, it prefers primes whose digits are related to the label beyond chance.

    Args:
        numbers: Numbers that have to be decoded.
        values: File of numbers, one per line; - is stdin.
        labels: File of labels, one per line, in the same order.
        budget: The most coordinates a number may have: (primes + 1) · digits, or the digits of all primes and a real
            coordinate.
        operations: How many sums and products to allow for.
        primes: Primes to choose from, as 2,3,5.  [default: those up to 43]
        by_prime: Give primes different numbers of digits if that takes fewer coordinates.
        seed: Seed of the labels' permutation test.
    """
    refuse_options(numbers, space)
    if bool(numbers) == (values is not None):
        raise UsageError("give NUMBERS or --values FILE, one of the two")
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
        print(json.dumps(chosen))
    else:
        print(str(choice))


def _numbers(file: str) -> list[str]:
    """Return the numbers in a file, one per line; an error names the line."""
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
    """Return the lines of a file, "-" for standard input; empty ones may be at the end alone.

    Without one that is empty, line i of one file belongs to line i of another.
    """
    text = _text(file).removeprefix("\ufeff").rstrip()
    lines = [line.strip() for line in text.split("\n")] if text else []
    if "" in lines:
        raise EncodingError(f"{_source(file)} line {lines.index('') + 1} is empty; delete it, or fill it in")
    return lines


def _text(file: str) -> str:
    """Return the content of a file, "-" for the standard input."""
    try:
        return sys.stdin.buffer.read().decode() if file == "-" else Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise EncodingError(f"{_source(file)} is not text in UTF-8") from None
    except OSError as error:
        raise StorageError(f"{_source(file)} cannot be read: {error.strerror}") from None


def _source(file: str) -> str:
    return "the standard input" if file == "-" else file


def explore(
    *numbers: Number,
    other: Annotated[Number | None, Parameter("--with")] = None,
    operation: Number = "+",
    primes: Integers | None = None,
    precision: int | None = None,
    fractional_digits: int | None = None,
    output: File | None = None,
    no_open: Flag = False,
) -> None:
    """Open a page that shows NUMBER at every place.

    adelic explore 7/5
    adelic explore 7/5 --with 3/4 --operation "*" --primes 2,3,5,7 --precision 16
    adelic explore -1 --output minus-one.html --no-open

    The page shows the real value and the p-adic digits, roots, exp and log, adds, subtracts, multiplies and divides
    digit by digit, and tells when the digits determine the number. It is one file that needs no network.

    Args:
        numbers: The number, as 7/5.
        other: A second number, to compute with.
        operation: How to combine the two numbers: +, -, * or /.
        primes: Different primes at which digits are shown, as 2,3,5.  [default: 2,3,5,7]
        precision: Number of digits at each prime.  [default: 16]
        fractional_digits: How many of these digits follow the point.  [default: as many as the numbers need]
        output: File to write the page to.  [default: one in the cache folder]
        no_open: Write the page, but do not open a browser.
    """
    from adelic.explore import PRECISION, PRIMES, default_path, open_page, render_page, write_page

    refuse_options(numbers, explore)
    if len(numbers) != 1:
        raise UsageError("give one NUMBER; a second one goes to --with")
    page = render_page(
        numbers[0],
        other,
        operation=operation,
        primes=primes or PRIMES,
        precision=PRECISION if precision is None else precision,
        fractional_digits=fractional_digits,
    )
    path = output or default_path()
    write_page(page, path)
    if no_open:
        print(f"wrote {path}")
    elif open_page(path):
        print(f"opened {path}")
    else:
        print(f"no browser was found here; the page is {path}")
