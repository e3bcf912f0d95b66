"""`adelic explore`."""

from pathlib import Path

import click

from adelic.cli.options import PATH, in_terms_of_options, refuse_options, space_options


@click.command(context_settings={"ignore_unknown_options": True})  # so that -3 is a number
@click.argument("numbers", metavar="NUMBER", nargs=-1, required=True)
@click.option("--with", "other", metavar="NUMBER", help="A second number, to compute with.")
@click.option("--operation", default="+", show_default=True, help="How to combine the two numbers: +, -, * or /.")
@space_options(default_primes="2,3,5,7", by_prime=False)
@click.option("--output", type=PATH, help="File to write the page to.  [default: one in the cache folder]")
@click.option("--no-open", is_flag=True, help="Write the page, but do not open a browser.")
@in_terms_of_options
def explore(
    numbers: tuple[str, ...],
    other: str | None,
    operation: str,
    primes: tuple[int, ...] | None,
    precision: int | None,
    fractional_digits: int | None,
    output: Path | None,
    *,
    no_open: bool,
) -> None:
    """Open a page that shows NUMBER at every place.

    It shows the real value and the p-adic digits, adds, subtracts, multiplies and divides digit by digit, and says
    when the digits determine the number. It is one file that needs no network.

    \b
    adelic explore 7/5
    adelic explore 7/5 --with 3/4 --operation "*" --primes 2,3,5,7 --precision 16
    adelic explore -1 --output minus-one.html --no-open
    """
    from adelic.explore import PRECISION, PRIMES, default_path, open_page, render_page, write_page

    refuse_options(numbers)
    if len(numbers) > 1:
        raise click.UsageError("give one NUMBER; a second one goes to --with", ctx=click.get_current_context())
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
        click.echo(f"wrote {path}")
    elif open_page(path):
        click.echo(f"opened {path}")
    else:
        click.echo(f"no browser was found here; the page is {path}")
