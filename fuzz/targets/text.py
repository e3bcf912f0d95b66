"""What `adelic encode` prints, `adelic decode` reads back as the same number; hostile text is an error of one line."""

from fractions import Fraction

from adelic import AdeleSpace
from targets.case import Case
from targets.command_line import Outcome, adelic, hostile_text, shown
from targets.rational import random_number, random_space

_MOST_DIGITS = 4000  # that a command line is made of


def text(case: Case) -> None:
    """Encode and decode one number as text and as JSON, or give both commands hostile text."""
    if case.chance(0.4):
        _hostile(case)
        return
    space = random_space(case.rng)
    while space.n_primes * space.precision > _MOST_DIGITS:
        space = random_space(case.rng)
    traced = random_number(case.rng, space)
    q = Fraction(int(traced.p), int(traced.q))
    options = ["--primes", ",".join(map(str, space.primes)), "--precision", str(space.precision)]
    options += ["--fractional-digits", str(space.fractional_digits)]
    for extra in ([], ["--json"]):
        printed = adelic(["encode", str(q), *options, *extra], case.folder)
        if printed.status == 2:
            case.counts["outside the space"] += 1
            continue
        if extra:
            found, inside = adelic(["decode"], case.folder, printed.out), space._is_inside(q.numerator, q.denominator)
        else:
            coordinates = _coordinates(printed, space)
            found, inside = adelic(["decode", *coordinates], case.folder), _is_told(q, coordinates, space)
        _check(case, q, found, inside=inside, what=f"{q} in {space} {extra}")


def _coordinates(printed: Outcome, space: AdeleSpace) -> list[str]:
    """Return the arguments of decode that the printed lines of one number are."""
    _, real, *places = printed.out.splitlines()
    expansions = [line.split(maxsplit=1)[1] for line in places]
    return [real.split()[1], *(f"{p}:{e}" for p, e in zip(space.primes, expansions, strict=True))]


def _is_told(q: Fraction, coordinates: list[str], space: AdeleSpace) -> bool:
    """Return whether decode has to find a number: all digits are printed, they determine it, and float64 holds it."""
    written = all("…" in expansion for expansion in coordinates[1:])
    is_ordinary = q == 0 or 2.0**-900 < abs(float(coordinates[0])) < 2.0**900
    return written and is_ordinary and space._is_inside(q.numerator, q.denominator)


def _check(case: Case, q: Fraction, found: Outcome, *, inside: bool, what: str) -> None:
    if found.status == 0:
        assert Fraction(found.out.strip()) == q, f"{what} is printed, and read back as {found.out}"
        case.counts["read back"] += 1
    else:
        assert not inside, f"{what} is printed, and refused: {found.err[:1000]}"
        case.counts["refused"] += 1


def _hostile(case: Case) -> None:
    """Give a command numbers, coordinates or JSON that are mostly none."""
    rng = case.rng
    texts = [hostile_text(rng) for _ in range(rng.randint(1, 4))]
    command = rng.choice(["encode", "decode", "decode", "space", "json"])
    if command == "json":
        good = (
            '{"primes": [2, 3], "precision": 3, "fractional_digits": 0, "real": [7.0], "digits": [[[1,1,1],[0,2,1]]]}'
        )
        at = rng.randrange(len(good))
        stdin = rng.choice([texts[0], good[:at], good[:at] + texts[0] + good[at:], good[:at] + good[at + 1 :]])
        outcome, what = adelic(["decode"], case.folder, stdin), stdin
    else:
        if command == "decode" and case.chance(0.7):
            texts = ["1.4", *(f"{p}:{t}" for p, t in zip(("2", "3", "5"), texts, strict=False))]
        arguments = [command, *(["--"] if case.chance(0.5) else []), *texts]
        outcome, what = adelic(arguments, case.folder), shown(arguments)
    assert outcome.status in (0, 2), f"{what[:2000]} exits with {outcome.status}"
    case.counts["hostile texts"] += 1
