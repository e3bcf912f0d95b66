"""The page of `adelic explore` in a real browser: its digits are those of `AdeleSpace`."""

import html
import json
import random
import re
import shutil
import subprocess
from fractions import Fraction
from math import gcd, prod
from operator import add, mul, sub, truediv
from pathlib import Path

import pytest

from adelic import AdeleSpace
from adelic.errors import (
    ConfigurationError,
    DivisionByZeroError,
    EncodingError,
    PrecisionError,
    SpaceError,
    StorageError,
)
from adelic.explore import MAX_PRIMES, render_page, write_page
from adelic.numbers import padic
from adelic.numbers.decoding.reconstruction import rational_candidates
from adelic.numbers.describe import parse_expansion
from adelic.numbers.hensel import window_digits
from adelic.numbers.primes import valuation

APPLY = {"add": add, "sub": sub, "mul": mul, "div": truediv}
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=390,800"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"),
)
DRIVER = (Path(__file__).parent / "browser.js").read_text(encoding="utf-8")
GOOD = {"x": "7/5", "y": "3/4", "operation": "add", "primes": "2, 3, 5, 7", "precision": "16", "fractional": ""}
MISTAKES = [
    ({"x": "seven"}, "x", "“seven” is not a number; write 7/5, -3, 1.25 or 1e-3"),
    ({"x": ""}, "x", "is not a number"),
    ({"x": "1/0"}, "x", "1/0 has denominator zero"),
    ({"x": "1.5/2"}, "x", "is not a number"),
    ({"y": "3//4"}, "y", "is not a number"),
    ({"y": "1e999999"}, "y", "the exponent of 1e999999 is beyond ±100000"),
    ({"y": "0", "operation": "div"}, "y", "nothing can be divided by 0"),
    ({"primes": "2, 9"}, "primes", "9 is not a prime"),
    ({"primes": "2, two"}, "primes", "two is not a prime"),
    ({"primes": str((2**61 - 1) * (2**89 - 1))}, "primes", "is not a prime"),
    ({"primes": str((2**89 - 1) ** 2)}, "primes", "is not a prime"),
    ({"primes": str(10**100)}, "primes", "is longer than 100 figures"),
    ({"primes": " , "}, "primes", "at least one prime"),
    ({"primes": "2, 3, 2"}, "primes", "the prime 2 is named twice"),
    ({"precision": "0"}, "precision", "a whole number from 1 to 200, not “0”"),
    ({"precision": "many"}, "precision", "a whole number"),
    ({"precision": "2"}, "precision", "3 digits would do"),
    ({"fractional": "16"}, "fractional", "a whole number from 0 to 15"),
    ({"fractional": "1"}, "fractional", "3/4 has 2-adic valuation −2: 2 digits after the point would hold it"),
]


def random_cases(count):
    """Yield entered texts: short and long numbers, few and many primes, windows that hold the numbers or do not."""
    rng = random.Random(7)
    sizes = (0, 9, 100, 10**6, 10**19, 10**60, 10**300)

    def number():
        n = rng.randint(-rng.choice(sizes), rng.choice(sizes))
        m = rng.choice((1, 1, rng.randint(1, 30), rng.randint(1, rng.choice(sizes[1:]))))
        return str(Fraction(n, m))

    for _ in range(count):
        primes = rng.sample((2, 3, 5, 7, 11, 13, 17, 101, 65537), rng.randint(1, 5))
        precision = rng.choice((1, 2, 5, 8, 16, 16, 16, 30))
        yield {
            "x": number(),
            "y": rng.choice((number(), number(), number(), "")),
            "operation": rng.choice(list(APPLY)),
            "primes": ", ".join(map(str, primes)),
            "precision": str(precision),
            "fractional": rng.choice(("", "", str(rng.randrange(precision)))),
        }


CASES = [
    *({**GOOD, "operation": operation} for operation in APPLY),
    {**GOOD, "primes": "2147483647", "precision": "1"},
    {**GOOD, "x": "9/25", "primes": "2305843009213693951, 18446744073709551557"},
    {**GOOD, "x": "-1", "y": ""},
    {**GOOD, "x": " 1_000.25 ", "y": "-.5E-1"},
    {**GOOD, "x": "0", "y": "0"},
    {**GOOD, "x": "7", "y": "-7"},
    {**GOOD, "x": str(10**400), "y": f"1/{10**400}", "primes": "3, 7"},
    *random_cases(300),
]
HUGE = {**GOOD, "x": "9/25", "y": "7", "operation": "div", "primes": f"{2**89 - 1}, {2**255 - 19}", "precision": "6"}


def dump(folder, page, fragment=""):
    """Return the document that a browser makes of a page, as HTML."""
    assert BROWSER is not None
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [BROWSER, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", path.as_uri() + fragment],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=True,
    )
    return done.stdout


def text_of(document, name):
    """Return the text of the <pre> with an id."""
    found = re.search(rf'<pre id="{name}"[^>]*>(.*?)</pre>', document, flags=re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


needs_browser = pytest.mark.skipif(BROWSER is None, reason="neither chromium nor google-chrome is installed")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What the page said to all cases and mistakes, in one start of the browser."""
    given = {"CASES": CASES, "HUGE": HUGE, "MISTAKES": [entered for entered, _, _ in MISTAKES], "GOOD": GOOD}
    script = "".join(f"window.{name} = {json.dumps(value)};\n" for name, value in given.items()) + DRIVER
    page = render_page("7/5").replace("</body>", f"<script>{script}</script></body>")
    found = json.loads(text_of(dump(tmp_path_factory.mktemp("browser"), page), "report"))
    for part in (found["initial"], found["huge"], *found["cases"]):
        part["exported"] = json.loads(part["exported"])
    return {**found, "linked": json.loads(found["linked"])}


def is_impossible(entered, x, y):
    """Return whether an entry has no page: a division by zero, or a number that the window does not hold."""
    if y == 0 and entered["operation"] == "div":
        return True
    given = [q for q in (x, y) if q is not None]
    if entered["fractional"]:
        most = int(entered["fractional"])
    else:  # as many as the results need, too
        most = int(entered["precision"]) - 1
        given += [] if y is None else [APPLY[entered["operation"]](x, y)]
    return any(valuation(q.denominator, int(p)) > most for q in given for p in entered["primes"].split(","))


@needs_browser
def test_the_digits_are_those_of_adelic(report):
    assert len(report["cases"]) == len(CASES)
    computed = refused = problems = 0
    for entered, case in zip(CASES, report["cases"], strict=True):
        found = case["exported"]
        assert found["entered"] == entered
        x, y = (Fraction(text.strip()) if text else None for text in (entered["x"], entered["y"]))
        primes = tuple(map(int, entered["primes"].split(",")))
        precision = int(entered["precision"])
        if "error" in found:
            assert is_impossible(entered, x, y), (entered, found)
            refused += 1
            continue
        space = AdeleSpace(primes, precision, found["fractional_digits"])
        assert found["fractional_digits"] == int(entered["fractional"] or found["fractional_digits"])
        places = found["places"]
        operands = [x] if y is None else [x, y]
        for i, q in enumerate(operands):
            assert [place["numbers"][i]["digits"] for place in places] == space.encode(q).digits.tolist(), entered
        if y is None:
            continue
        assert Fraction(found["result"]) == APPLY[entered["operation"]](x, y)
        digitwise = [place["digitwise"] for place in places]
        try:
            result = APPLY[entered["operation"]](*map(space.encode, operands))
        except PrecisionError:
            assert any("problem" in work for work in digitwise), entered
            problems += 1
            continue
        assert [work["known"] for work in digitwise] == result.known.tolist(), entered
        for work, window in zip(digitwise, result.digits.tolist(), strict=True):
            assert work["digits"] == window[precision - work["known"] :], entered
            assert work["agrees"]
        computed += 1
    assert computed > 150
    assert refused > 10
    assert problems > 3


@needs_browser
def test_primes_of_any_size(report):
    """Also those whose digits fit no machine word; the JSON has all figures."""
    found = report["huge"]["exported"]
    assert found["primes"] == [2**89 - 1, 2**255 - 19]
    for place in found["places"]:
        p = place["prime"]
        for number in place["numbers"]:
            n, m = Fraction(number["number"]).as_integer_ratio()
            assert number["digits"] == window_digits(n, m, p, 6, 0)[::-1]
        assert place["digitwise"]["agrees"]
        q = Fraction(found["result"])
        for name, order in (("sqrt", 2), ("cbrt", 3)):
            roots = [] if "problem" in place["functions"][name] else place["functions"][name]
            assert len(roots) == n_roots(q, order, p)
            for digits in roots:
                root = sum(d * p**i for i, d in enumerate(reversed(digits)))
                assert (root**order * q.denominator - q.numerator) % p**6 == 0
        (digits,) = place["functions"]["log"]
        assert digits == log_digits(q, p, 6)
        assert "problem" in place["functions"]["exp"]
    assert report["huge"]["wide"] == []


@needs_browser
def test_results_in_the_window_have_the_digits_of_the_result(report):
    """What the page compares the digit by digit result with is adelic's encoding of the result."""
    compared = 0
    for case in report["cases"]:
        found = case["exported"]
        if found.get("result") is None or any("problem" in place["digitwise"] for place in found["places"]):
            continue
        space = AdeleSpace(tuple(found["primes"]), found["precision"], found["fractional_digits"])
        digits = space.encode(found["result"]).digits.tolist()
        assert [place["numbers"][2]["digits"] for place in found["places"]] == digits
        assert case["checks"] == ["✓ "] * len(found["primes"])
        compared += 1
    assert compared > 150


@needs_browser
def test_real_values_and_decoding(report):
    reached = missed = 0
    for case in report["cases"]:
        found = case["exported"]
        if "error" in found:
            continue
        numbers = [Fraction(found[name]) for name in ("x", "y", "result") if found[name] is not None]
        for q, value in zip(numbers, found["real"], strict=True):
            try:
                assert float(q) == (value if value is None else float(value))  # JSON knows no floats that are whole
            except OverflowError:
                assert value is None  # an infinity in JSON
        decoded, primes = found["decoded"], found["primes"]
        if decoded is None:
            continue
        known = [place["digitwise"]["known"] if place["digitwise"] else found["precision"] for place in found["places"]]
        modulus = prod(p**k for p, k in zip(primes, known, strict=True))
        assert int(decoded["modulus"]) == modulus
        scale = prod(primes) ** found["fractional_digits"]
        scaled = numbers[-1] * scale
        residue = int(decoded["residue"])
        assert 0 <= residue < modulus
        assert (residue * scaled.denominator - scaled.numerator) % modulus == 0
        small = [Fraction(n, m * scale) for n, m in rational_candidates(residue, modulus)]
        assert list(map(Fraction, decoded["candidates"])) == small
        height = 2 * abs(scaled.numerator) * scaled.denominator
        assert decoded["in_reach"] == (height < modulus)
        if decoded["in_reach"]:
            assert Fraction(decoded["number"]) == numbers[-1]
            assert decoded["digits_missing"] == 0
            reached += 1
        else:
            more = prod(primes) ** decoded["digits_missing"]
            assert modulus * more // prod(primes) <= height < modulus * more
            missed += 1
    assert reached > 50
    assert missed > 50


def log_digits(q, p, precision):
    """Return the digits of log(q), q a unit, by the limit of (q^((p − 1) · p^k) − 1) / ((p − 1) · p^k)."""
    k = precision + 1
    modulus = p ** (k + precision)
    power = pow(q.numerator * pow(q.denominator, -1, modulus), (p - 1) * p**k, modulus)
    value = (power - 1) // p**k * pow(p - 1, -1, modulus) % p**precision
    return [value // p**i % p for i in reversed(range(precision))]


def n_roots(q, order, p):
    """Return how many roots of order 2 or 3 a number other than 0 has in Q_p, by Euler's criterion."""
    v = valuation(q.numerator, p) - valuation(q.denominator, p)
    unit = q / Fraction(p) ** v
    modulus = p if p != order else {2: 8, 3: 9}[p]
    residue = unit.numerator * pow(unit.denominator, -1, modulus) % modulus
    units = gcd(order, p - 1) if p != order else 1  # how many roots of unity there are modulo p
    is_power = residue in {2: {1}, 3: {1, 8}}[p] if p == order else pow(residue, (p - 1) // units, p) == 1
    return (v % order == 0 and is_power) * (2 if order == 2 else units)


@needs_browser
def test_roots_exponential_and_logarithm(report):
    """Every root that there is, to all digits shown; exp and log are those of `PadicArray`."""
    compared = dict.fromkeys(("sqrt", "cbrt", "exp", "log"), 0)
    exported = [case["exported"] for case in report["cases"] if "error" not in case["exported"]]
    for found in exported[:280]:
        precision, f = found["precision"], found["fractional_digits"]
        q = Fraction(found["result"] or found["x"])
        for place in found["places"]:
            p, shown = place["prime"], place["functions"]
            values = {
                name: [sum(d * p**i for i, d in enumerate(reversed(digits))) for digits in windows]
                for name, windows in shown.items()
                if isinstance(windows, list)
            }
            if q.denominator % p ** (f + 1) == 0:
                assert shown == {}
                continue
            for name, order in (("sqrt", 2), ("cbrt", 3)):
                roots = values.get(name, [])
                assert len(roots) == (n_roots(q, order, p) if q else 1), (q, p, name, roots)
                if max(roots, default=0) >= p**2:  # with two digits shown, roots differ
                    assert len(set(roots)) == len(roots)
                for root in roots:  # root · p^f to the order is q · p^(order · f), as far as the window tells
                    error = Fraction(root**order) - q * p ** (order * f)
                    known = precision + (order - 1) * (valuation(root, p) if root else precision)
                    assert (error / p**known).denominator % p != 0
                    compared[name] += 1
            if q and q.numerator.bit_length() < 200:
                x = padic(q, p, 2 * precision + 8)
                wanted = {"log": x.log(p_branch=0)}
                if x.valuation() > (p == 2):
                    wanted["exp"] = x.exp()
                assert wanted.keys() == values.keys() & {"exp", "log"}
                for name, y in wanted.items():
                    assert values[name] == [y.lift() * p**f % p**precision], (q, p, name)
                    compared[name] += 1
    assert min(compared.values()) > 30, compared


@needs_browser
def test_periods(report):
    """The periodic expansion is the number, and no shorter period will do: it is the order of p modulo m."""
    periodic = 0
    for case in report["cases"]:
        for place in case["exported"].get("places", []):
            p = place["prime"]
            for number in place["numbers"]:
                q, period, start = Fraction(number["number"]), number["period"], number["starts_repeating_at"]
                lowest = valuation(q.denominator, p)
                m = q.denominator // p**lowest
                if period is None:
                    continue
                block = sum(digit * p**i for i, digit in enumerate(reversed(period)))
                before = q - Fraction(p) ** start * Fraction(block, 1 - p ** len(period))
                assert 0 <= before < Fraction(p) ** start
                assert (before * p**lowest).denominator == 1
                assert len(period) == next(k for k in range(1, 2001) if pow(p, k, m) == 1 % m)
                periodic += len(period) > 1
    assert periodic > 100


@needs_browser
def test_what_is_written_is_what_was_computed(report):
    """`adelic decode` reads the expansions of the page, and they are the number's own digits."""
    read = 0
    for case in report["cases"]:
        found = case["exported"]
        if "error" in found:
            continue
        shown = iter(case["shown"])
        for place in found["places"]:
            for number in place["numbers"]:
                text = next(shown)
                digits, fractional, _ = parse_expansion(text, place["prime"])
                n, m = Fraction(number["number"]).as_integer_ratio()
                own = window_digits(n, m, place["prime"], len(digits), fractional)
                assert digits == own[::-1], (text, number["number"])
                read += 1
    assert read > 1000


@needs_browser
def test_mistakes_are_named_beside_their_field(report):
    for (entered, field, message), error in zip(MISTAKES, report["errors"], strict=True):
        assert message in error["messages"].pop(field), entered
        assert not any(error["messages"].values()), entered
        assert error["invalid"] == [field]
        assert error["stale"]


@needs_browser
def test_the_digits_can_be_watched(report):
    """7/5 + 3/4 in Q_3 is …1212 + …0210: 2 + 0, 1 + 1, 2 + 2 = 1·3 + 1, 1 + 0 + 1."""
    none, first, third, fourth, everything = report["steps"]
    assert [step["shown"] for step in report["steps"]] == [0, 1, 3, 4, 14]  # two of the 16 are for 2^(-1) and 2^(-2)
    assert none["said"] == everything["said"] == ["", "", "", ""]
    assert first["said"][1] == "At 3⁰: 2 + 0 = 2; write 2, carry nothing."
    assert third["said"][1] == "At 3²: 2 + 2 = 4; write 1, carry 1."
    assert fourth["said"][0] == "At 2¹: 1 + 0 = 1; write 1, carry nothing."
    assert fourth["said"][1] == "At 3³: 1 + 0 + carry 1 = 2; write 2, carry nothing."


@needs_browser
def test_the_address_holds_the_state(report):
    assert report["initial"]["exported"]["x"] == "7/5"
    assert report["addresses"] == ["#x=7/5&y=3/4&operation=mul", "#x=-1"]
    linked = report["linked"]
    assert (linked["x"], linked["y"], linked["result"]) == ("-22/7", "1/100", "-2200/7")
    assert (linked["primes"], linked["precision"], linked["fractional_digits"]) == ([3, 11], 5, 2)


@needs_browser
def test_an_address_comes_before_what_the_page_was_written_with(tmp_path):
    page = render_page("5", "6", operation="*", primes=(13,), precision=3, fractional_digits=1)
    written = json.loads(text_of(dump(tmp_path, page), "export"))
    assert (written["result"], written["primes"]) == ("30", [13])
    assert (written["precision"], written["fractional_digits"]) == (3, 1)
    shared = json.loads(text_of(dump(tmp_path, page, "#x=1/3&precision=4"), "export"))
    assert (shared["x"], shared["y"], shared["primes"], shared["precision"]) == ("1/3", None, [2, 3, 5, 7], 4)


@needs_browser
def test_everything_fits_a_phone_and_has_a_name(report):
    assert report["overflow"] == []
    assert report["overlaps"] == []
    assert report["unlabelled"] == []


def test_the_page_needs_nothing_else():
    page = render_page("7/5", "3/4")
    assert not re.search(r"\bsrc=|<link|@import|url\(|https?://(?!www\.w3\.org/2000/svg\b)|\bimport\b|fetch\(", page)
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', page))


def test_entered_text_cannot_end_the_script():
    start = re.search(r'id="start">(.*?)</script>', render_page("7/5", " 3/4 "), flags=re.DOTALL)
    assert start is not None
    assert json.loads(start[1]) == {**GOOD, "y": " 3/4 "}
    with pytest.raises(EncodingError):
        render_page("</script>")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("seven",), {}, EncodingError, "'seven' is not a number"),
        (("7/5", "1/0"), {}, DivisionByZeroError, "1/0 has denominator zero"),
        (("7/5", "0"), {"operation": "/"}, DivisionByZeroError, "7/5 cannot be divided by 0"),
        (("7/5", "1"), {"operation": "^"}, ConfigurationError, "is not one of the four"),
        (("7/5",), {"primes": (2, 9)}, SpaceError, "9 is not a prime"),
        (("7/5",), {"precision": 0}, SpaceError, "precision=0"),
        (("7/5",), {"primes": (2**521 - 1,)}, ConfigurationError, "has more than the 100 figures of the page"),
        (("7/5",), {"precision": 201}, ConfigurationError, "precision=201 is more than the page can show"),
        (("7/5",), {"fractional_digits": 0}, PrecisionError, "fractional_digits=1 would hold"),
        (("1/32",), {"precision": 5}, PrecisionError, "5 digits after the point, which precision=5 does not hold; "),
    ],
)
def test_wrong_arguments(arguments, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        render_page(*arguments, **options)


def test_too_many_primes():
    from adelic.numbers.primes import first_primes

    with pytest.raises(ConfigurationError, match="25 primes are more"):
        render_page("1", primes=first_primes(MAX_PRIMES + 1))


def test_limits_are_those_of_the_script():
    from adelic import explore

    page = render_page()
    assert f"MAX_PRECISION = {explore.MAX_PRECISION};" in page
    assert f"MAX_PRIMES = {explore.MAX_PRIMES};" in page


def test_pages_are_written_whole_or_not_at_all(tmp_path):
    with pytest.raises(ConfigurationError, match=r"ends in \.html"):
        write_page("x", tmp_path / "page.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        write_page("x", tmp_path / "file" / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
