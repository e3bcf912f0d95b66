"""`adelic explore`."""

from typing import Annotated

from cyclopts import Parameter

from adelic.cli.options import File, Flag, Integers, Number, UsageError, refuse_options


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

    It shows the real value and the p-adic digits, adds, subtracts, multiplies and divides digit by digit, and says
    when the digits determine the number. It is one file that needs no network.

    Args:
        numbers: The number, as 7/5.
        other: A second number, to compute with.
        operation: How to combine the two numbers: +, -, * or /.
        primes: Different primes at which digits are shown, as 2,3,5.  [default: 2,3,5,7]
        precision: Number of digits at each prime.  [default: 16]
        fractional_digits: How many of these digits stand after the point.  [default: as many as the numbers need]
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
