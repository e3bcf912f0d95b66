import json
import subprocess
import sys

import pytest

from adelic import AdeleSpace


def lines_of(text):
    return [line.split() for line in text.splitlines()]


def test_the_papers_example(works):
    out = works("encode", "7/5", "--primes", "2,3,5,7", "--precision", "5", "--fractional-digits", "1")
    assert lines_of(out) == [
        ["7/5"],
        ["real", "1.4"],
        ["Q_2", "…1011"],
        ["Q_3", "…1212"],
        ["Q_5", "1.2"],
        ["Q_7", "…4130"],
    ]
    longer = works("encode", "7/5", "--primes", "2,3,5,7", "--precision", "6", "--fractional-digits", "1")
    assert [line[-1] for line in lines_of(longer)[2:]] == ["…11011", "…01212", "1.2", "…54130"]


def test_several_numbers(works):
    out = works("encode", "3", "1/2", "--primes", "3,5", "--precision", "3")
    assert lines_of(out) == [
        ["3"], ["real", "3.0"], ["Q_3", "10"], ["Q_5", "3"],
        ["1/2"], ["real", "0.5"], ["Q_3", "…112"], ["Q_5", "…223"],
    ]  # fmt: skip


def test_negative_numbers_are_arguments(works):
    out = works("encode", "-3", "-2/23", "-.5", "-1e-1", "--primes", "3,7", "--precision", "2")
    assert [line[0] for line in lines_of(out)[::4]] == ["-3", "-2/23", "-.5", "-1e-1"]
    assert lines_of(out)[:4] == [["-3"], ["real", "-3.0"], ["Q_3", "…20"], ["Q_7", "…64"]]


@pytest.mark.parametrize(
    ("numbers", "options"),
    [
        (["0"], []),
        (["22/19", "-5", "1.25e2", "100000000000000000000"], []),
        (["7/5", "1/17", "-3/34"], ["--fractional-digits", "2"]),
        (["-1/7"], ["--primes", "2,3", "--precision", "40"]),
    ],
)
def test_json_round_trip(works, numbers, options, folder):
    from fractions import Fraction

    text = works("encode", *numbers, *options, "--json")
    assert len(text.splitlines()) == 1
    expected = [str(Fraction(number)) for number in numbers]
    assert works("decode", stdin=text).split() == expected
    assert works("decode", "--json", "-", stdin=text).split() == expected
    (folder / "adeles.json").write_text(text, encoding="utf-8")
    assert works("decode", "--json", "adeles.json").split() == expected


def test_json_is_what_the_package_says(works):
    found = json.loads(works("encode", "22/7", "-4", "--primes", "2,3", "--precision", "6", "--json"))
    adeles = AdeleSpace((2, 3), 6).encode(["22/7", "-4"])
    assert found == {
        "primes": [2, 3],
        "precision": 6,
        "fractional_digits": 0,
        "numbers": ["22/7", "-4"],
        "real": adeles.real.tolist(),
        "digits": adeles.digits.tolist(),
    }


def test_numbers_of_ten_thousand_digits(works, refused):
    number = "7" * 10_000
    out = works("encode", number, "--primes", "2,10007", "--precision", "3")
    assert lines_of(out)[0] == [number]
    assert lines_of(out)[2] == ["Q_2", f"…{int('7' * 20) % 8:03b}"]
    json.loads(works("encode", number, f"-{number}", f"1/{number}", "--primes", "2", "--json"))
    assert len(refused("encode", f"{number}/0")) < 200
    assert len(refused("encode", f"1/{'5' * 10_000}")) < 400
    assert len(refused("encode", "x" * 10_000)) < 200


def test_coordinates(works):
    assert works("decode", "1.4", "2:…011011", "3:…101212", "5:…00001.2", "7:…254130") == "7/5\n"
    assert works("decode", "-3", "2:…11111101", "3:…22222220") == "-3\n"
    assert works("decode", "42", "2:00101010", "3:1120", "17:(0)(0)(2)(8)") == "42\n"
    assert works("decode", "1.4", "2:...011011", "3:...101212", "5:...00001.2", "7:...254130") == "7/5\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nan"], "'nan' is no number"),
        (["inf"], "'inf' is no number"),
        (["seven"], "'seven' is no number"),
        ([""], "'' is no number"),
        (["1/0"], "denominator zero"),
        (["0/0"], "denominator zero"),
        (["3", "1//2"], "'1//2' is no number"),
        (["True"], "is no number"),
        (["1\n2"], "is no number"),
        (["7/5"], "fractional_digits=1"),
        (["1/25", "--fractional-digits", "1"], "fractional_digits=2"),
        (["1e999999999"], "exponent"),
        (["1", "--primes", "2,4"], "4 is not a prime"),
        (["1", "--primes", "2,3,2"], "occurs twice"),
        (["1", "--primes", "-3"], "-3 is not a prime"),
        (["1", "--primes", "two"], "'two' is no integer"),
        (["1", "--primes", ""], "no integer"),
        (["1", "--primes", "5-2"], "no integer"),
        (["1", "--primes", "9" * 5000], "no integer"),
        (["1", "--precision", "0"], "precision=0"),
        (["1", "--precision", "-1"], "precision=-1"),
        (["1", "--precision", "x"], "--precision"),
        (["1", "--fractional-digits", "16"], "fractional_digits=16"),
        (["1", "--fractional-digits", "-1"], "fractional_digits=-1"),
        (["--precison", "3", "1"], "--precison"),
        ([], "NUMBERS"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_encoded(refused, arguments, words):
    assert words in refused("encode", *arguments)


def as_json(**changes):
    plain = {
        "primes": [2, 3],
        "precision": 3,
        "fractional_digits": 0,
        "digits": [[[0, 0, 1], [0, 0, 1]]],
        "real": [1.0],
    }
    return json.dumps(plain | changes)


def test_json_by_hand(works):
    assert works("decode", stdin=as_json()) == "1\n"
    assert works("decode", stdin=as_json(digits=[[0, 0, 1], [0, 0, 1]], real=1.0)) == "1\n"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "3", "null", '"primes"', "{}", "[" * 100_000, "9" * 5000,
        as_json(primes=None), as_json(primes=5), as_json(primes="23"), as_json(primes=[2, 4]), as_json(primes=[]),
        as_json(primes=[2]), as_json(primes=[[2], [3]]), as_json(precision="x"), as_json(precision=4),
        as_json(precision=None), as_json(precision=10**30), as_json(fractional_digits=3), as_json(digits=None),
        as_json(digits=[]), as_json(digits=[[[0, 0, 2], [0, 0, 1]]]), as_json(digits=[[[0, 0, 1.5], [0, 0, 1]]]),
        as_json(digits=[[[0, 0, -1], [0, 0, 1]]]), as_json(digits=[[[0, 0], [0, 0, 1]]]), as_json(digits="001"),
        as_json(digits={"2": 1}), as_json(digits=[[[0, 0, 10**30], [0, 0, 1]]]), as_json(real=None), as_json(real=[]),
        as_json(real=["1"]), as_json(real=[True]), as_json(real=[float("nan")]), as_json(real=[float("inf")]),
        as_json(real=[5.0]), as_json(real=[10**400]), as_json(real=[1.0, 2.0]),
    ],
    ids=lambda text: text[:60] or "nothing",
)  # fmt: skip
def test_json_that_says_nothing(refused, text):
    refused("decode", stdin=text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["1.4"], "prime"),
        (["x", "2:1"], "'x' is no real value"),
        (["nan", "2:1"], "'nan' is no real value"),
        (["inf", "2:1"], "'inf' is no real value"),
        (["1e400", "2:1"], ""),
        (["1e999999", "2:1"], ""),
        (["1", "2"], "PRIME:EXPANSION"),
        (["1", "two:1"], "PRIME:EXPANSION"),
        (["1", "2:"], "no 2-adic expansion"),
        (["1", "2:102"], "no 2-adic expansion"),
        (["1", "17:16"], "in brackets"),
        (["1", "4:1"], "4 is not a prime"),
        (["1", "2:1", "2:1"], "occurs twice"),
        (["1", f"{'9' * 5000}:1"], ""),
        (["1.4", "2:…011011", "3:…000000"], "no rational number"),
        (["9", "2:…011011", "3:…101212", "5:…00001.2", "7:…254130"], "no rational number"),
        (["--jsn", "x"], "--jsn"),
        (["--json", "missing.json"], "missing.json"),
        (["--json", "."], "'.'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_coordinates_that_say_nothing(refused, arguments, words):
    assert words in refused("decode", *arguments)


def test_encoding_needs_no_torch():
    """In a process of its own, where nothing else has imported anything."""
    code = """
import sys
from adelic.cli import main
try:
    main(["encode", "22/7", "-3", "--primes", "2,3"])
except SystemExit as exit:
    assert exit.code == 0
heavy = {"torch", "sklearn", "scipy", "pyarrow", "matplotlib", "pandas"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("22/7\n")
