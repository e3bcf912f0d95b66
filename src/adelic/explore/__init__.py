"""One self-contained HTML page that shows a number at every place, and how adeles are added and multiplied.

The page computes in the reader's browser: its scripts mirror `adelic.numbers.hensel` on integers of any size, and tests
hold both equal. This module fills, checks and opens the page. May import `storage`, `numbers` and jinja2. One more
picture is a function in `templates/drawings.js`, called in `page.js`; one more script is named in `_SCRIPTS`.
"""

import webbrowser
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

import jinja2

from adelic.errors import ConfigurationError, DivisionByZeroError
from adelic.numbers.choice import fitting_space
from adelic.numbers.describe import describe, shortened
from adelic.numbers.space import AdeleSpace
from adelic.storage.files import atomic_write, cache_folder
from adelic.storage.version import VERSION

OPERATIONS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
PRIMES = (2, 3, 5, 7)
PRECISION = 16
MAX_PRECISION = 200
MAX_PRIMES = 24
MAX_PRIME = 10**100
_SCRIPTS = ("numbers.js", "padic.js", "functions.js", "model.js", "drawings.js", "page.js")
"""Each needs those before it."""


def render_page(
    number: str = "7/5",
    other: str | None = None,
    *,
    operation: str = "+",
    primes: Sequence[int] = PRIMES,
    precision: int = PRECISION,
    fractional_digits: int | None = None,
) -> str:
    """Return the page that opens with these numbers, as HTML; it needs no network and no other file.

    Args:
        number: an integer, a fraction or a decimal of any length.
        other: the second operand.
        operation: "+", "-", "*" or "/": the result that the page shows.
        primes: at most 24 different primes of at most 100 figures.
        precision: p-adic digits a prime, at most 200.
        fractional_digits: how many of them are after the point; as many as are needed when left out.

    Raises:
        EncodingError: a text is not a number.
        DivisionByZeroError: a denominator is zero, or 0 is the divisor.
        PrecisionError: a prime divides a denominator more often than there are fractional digits, or digits at all.
        SpaceError: the primes, the precision and the fractional digits make no space.
        ConfigurationError: the operation is not one of the four, or the page cannot show that many primes or digits.

    >>> page = render_page("7/5", "3/4", operation="*")
    >>> page.count("https://"), '"x": "7/5"' in page
    (0, True)
    """
    if operation not in OPERATIONS:
        raise ConfigurationError(f"operation={describe(operation)} is not one of the four: {' '.join(OPERATIONS)}")
    space = _fitting_space([number] if other is None else [number, other], primes, precision, fractional_digits)
    if other is not None and operation == "/" and space.encode(other) == 0:
        raise DivisionByZeroError(f"{shortened(number)} cannot be divided by {shortened(other)}")
    start = {
        "x": number,
        "y": other or "",
        "operation": OPERATIONS[operation],
        "primes": ", ".join(map(str, space.primes)),
        "precision": str(space.precision),
        "fractional": "" if fractional_digits is None else str(fractional_digits),
    }
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("adelic.explore"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("explore.html").render(
        version=VERSION,
        style=_template("style.css"),
        scripts=[_template(name) for name in _SCRIPTS],
        start=start,
    )


def _fitting_space(
    numbers: list[str], primes: Sequence[int], precision: int, fractional_digits: int | None
) -> AdeleSpace:
    """Return the space in which the page shows these numbers, or raise the error of the numbers."""
    if isinstance(precision, Mapping):
        raise ConfigurationError(
            "the page shows one number of digits for all primes; precision=16, not digits by prime"
        )
    # First as asked for: errors of the primes or the precision come before errors of the numbers.
    space = AdeleSpace(primes, precision, fractional_digits or 0)  # type: ignore[arg-type]  # any sequence will do
    if space.n_primes > MAX_PRIMES:
        raise ConfigurationError(f"{space.n_primes} primes are more than the page can show; at most {MAX_PRIMES}")
    if max(space.primes) >= MAX_PRIME:
        raise ConfigurationError(f"the prime {max(space.primes)} has more than the 100 figures of the page")
    if precision > MAX_PRECISION:
        raise ConfigurationError(f"precision={precision} is more than the page can show; at most {MAX_PRECISION}")
    space = fitting_space(numbers, space.primes, precision, fractional_digits)
    space.encode(numbers)  # for its errors alone: the page would show them, too, but a command has to end with one
    return space


def _template(name: str) -> str:
    return (resources.files("adelic.explore") / "templates" / name).read_text(encoding="utf-8")


def default_path() -> Path:
    """Return the path of a page if no file is named: one file in the user's cache folder.

    >>> default_path().name
    'explore.html'
    """
    return cache_folder() / "explore.html"


def write_page(page: str, path: Path) -> None:
    """Write a page."""
    if path.suffix not in (".html", ".htm"):
        raise ConfigurationError(f"{str(path)!r} is to be a page: give it a name that ends in .html")
    atomic_write(path, page)


def open_page(path: Path) -> bool:
    """Open a page in the user's browser; return whether there was one to ask."""
    try:
        return webbrowser.open(path.absolute().as_uri())
    except webbrowser.Error:  # BROWSER names a program that is not there
        return False
