import builtins
import io
import json
import signal
import subprocess
import sys
import time
from fractions import Fraction
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adelic import AdeleSpace, __main__
from adelic.cli import main
from adelic.numbers.primes import valuation


def lines_of(text):
    return [line.split() for line in text.splitlines()]


def test_the_papers_example(works):
    out = works("encode", "7/5", "--primes", "2,3,5,7", "--precision", "5", "--fractional-digits", "1")
    places = [["Q_2", "…1011"], ["Q_3", "…1212"], ["Q_5", "1.2"], ["Q_7", "…4130"]]
    assert lines_of(out) == [["7/5"], ["real", "1.4"], *places]
    longer = works("encode", "7/5", "--primes", "2,3,5,7", "--precision", "6", "--fractional-digits", "1")
    assert [line[-1] for line in lines_of(longer)[2:]] == ["…11011", "…01212", "1.2", "…54130"]


def test_several_numbers(works):
    out = works("encode", "3", "1/2", "--primes", "3,5", "--precision", "3")
    assert lines_of(out) == [
        ["3"], ["real", "3.0"], ["Q_3", "10"], ["Q_5", "3"],
        ["1/2"], ["real", "0.5"], ["Q_3", "…112"], ["Q_5", "…223"],
    ]  # fmt: skip


def test_digits_by_prime(works):
    """Each prime has its own digits, and the primes need no naming; what is printed is read."""
    out = works("encode", "360", "-7", "--precision", "2:6,3:4,97:1")
    assert [line[-1] for line in lines_of(out)[2:5]] == ["…101000", "…1100", "…(69)"]
    assert works("encode", "360", "-7", "--precision", "2:6,3:4,97:1", "--primes", "2,3,97") == out
    assert works("decode", "360", "2:…101000", "3:…1100", "97:…(69)") == "360\n"
    assert works("decode", "360", "2:…01000", "3:…1100", "97:…(69)") == "360\n"
    text = works("encode", "360", "-7", "--precision", "2:6,3:4,97:1", "--json")
    assert json.loads(text)["precision"] == {"2": 6, "3": 4, "97": 1}
    assert json.loads(text)["digits"] == AdeleSpace(precision={2: 6, 3: 4, 97: 1}).encode([360, -7]).digits.tolist()
    assert works("decode", stdin=text).split() == ["360", "-7"]
    assert works("encode", "5", "--precision", "2:4,3:4") == works("encode", "5", "--precision", "4", "--primes", "2,3")


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
    text = works("encode", *numbers, *options, "--json")
    assert len(text.splitlines()) == 1
    expected = [str(Fraction(number)) for number in numbers]
    assert works("decode", stdin=text).split() == expected
    assert works("decode", "--json", "-", stdin=text).split() == expected
    (folder / "adeles.json").write_text(text, encoding="utf-8")
    assert works("decode", "--json", "adeles.json").split() == expected


def test_numbers_of_ten_thousand_digits(works, refused):
    number = "7" * 10_000
    out = works("encode", number, "--primes", "2,10007", "--precision", "3")
    assert lines_of(out)[0] == [number]
    assert lines_of(out)[2] == ["Q_2", f"…{int('7' * 20) % 8:03b}"]
    json.loads(works("encode", number, f"-{number}", f"1/{number}", "--primes", "2", "--json"))
    assert len(refused("encode", f"{number}/0")) < 200
    assert len(refused("encode", f"1/{'5' * 10_000}", "--fractional-digits", "0")) < 400
    assert len(refused("encode", "x" * 10_000)) < 200


@pytest.mark.parametrize(
    ("pasted", "number"),
    [
        ("1.4 2:…011011 3:…101212 5:…00001.2 7:…254130", "7/5"),
        ("-3 2:…11111101 3:…22222220", "-3"),
        ("42 2:00101010 3:1120 17:(0)(0)(2)(8)", "42"),
        ("1.4 2:...011011 3:...101212 5:...00001.2 7:...254130", "7/5"),
        ("? 2:…011011 3:…101212 7:…254130", "7/5"),  # digits alone
        ("5 2:101", "5"),  # an expansion without dots ends
        ("1.4 2:…011011 3:…101212 5:1.2 7:…254130", "7/5"),
    ],
)
def test_coordinates(works, pasted, number):
    assert works("decode", *pasted.split()) == f"{number}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["seven"], "'seven' is not a number"),
        ([""], "'' is not a number"),
        (["1/0"], "denominator zero"),
        (["+-1.5", "--floats", "shortest"], "'+-1.5' is not a number"),
        (["1e10000000"], "write all its digits, as an integer or a fraction"),
        (["7/5", "--fractional-digits", "0"], "--fractional-digits 1 would hold it"),
        (["3", "1/1024", "--precision", "5"], "1/1024 needs 10 digits after the point, which --precision 5 does not"),
        (["1", "--precision", "2000000000"], "1.4e+10 digits per number, as many bytes or more; at most 10000000 are "),
        (["1", "--primes", "2,4"], "4 is not a prime"),
        (["1", "--primes", "two"], "'two' is not an integer"),
        (["1", "--primes", ""], "is not an integer"),
        (["1", "--primes", "2,5-3"], "'5-3' lists no integer"),
        (["1", "--primes", "9" * 5000], "is not an integer"),
        (["1", "--precision", "0"], "--precision 0"),
        (["1", "--precision", "x"], "--precision"),
        (["1", "--precision", "2:6,2:5"], "--precision '2:6,2:5' must be a whole number, or one for each"),
        (["1", "--precision", "2:x"], "--precision '2:x' must be a whole number, or one for each prime, as 2:7,3:5"),
        (["1", "--precision", "2:6", "--primes", "2,3"], "--precision 2:6 does not name the prime 3 of --primes 2,3; "),
        (["1", "--precision", "2:6,5:1", "--primes", "2"], "names 5, which is not one of --primes 2; name each prime"),
        (["1", "--fractional-digits", "16"], "--fractional-digits 16"),
        (["--precison", "3", "1"], "--precison"),
        ([], "give a NUMBER"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_encoded(refused, arguments, words):
    assert words in refused("encode", *arguments)


def as_json(**changes):
    plain = {"primes": [2, 3], "precision": 3, "fractional_digits": 0, "real": [1.0]}
    plain["digits"] = [[[0, 0, 1], [0, 0, 1]]]
    return json.dumps(plain | changes)


def test_json_by_hand(works):
    for changes in ({}, {"digits": [[0, 0, 1], [0, 0, 1]], "real": 1.0}, {"real": ["1.0"]}, {"real": None}):
        assert works("decode", stdin=as_json(**changes)) == "1\n"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "3", "null", '"primes"', "{}", "[" * 100_000, "9" * 5000,
        as_json(primes=None), as_json(primes=5), as_json(primes="23"), as_json(primes=[2, 4]), as_json(primes=[]),
        as_json(primes=[2]), as_json(primes=[[2], [3]]), as_json(precision="x"), as_json(precision=4),
        as_json(precision=None), as_json(precision={}), as_json(precision={"2": 3}),
        as_json(precision={"2": 3, "x": 3}),
        as_json(precision={"2": 3, "3": "3"}), as_json(precision={"2": 3, "3": 2}, digits=[[[0, 0, 1], [1, 0, 1]]]),
        as_json(precision=10**30), as_json(fractional_digits=3), as_json(digits=None),
        as_json(digits=[]), as_json(digits=[[[0, 0, 2], [0, 0, 1]]]), as_json(digits=[[[0, 0, 1.5], [0, 0, 1]]]),
        as_json(digits=[[[0, 0, -1], [0, 0, 1]]]), as_json(digits=[[[0, 0], [0, 0, 1]]]), as_json(digits="001"),
        as_json(digits={"2": 1}), as_json(digits=[[[0, 0, 10**30], [0, 0, 1]]]), as_json(real=[None]), as_json(real=[]),
        as_json(real=["x"]), as_json(real=["2"]), as_json(real=["nan"]), as_json(real=["1e999999"]),
        as_json(real=[True]), as_json(real=[float("nan")]), as_json(real=[float("inf")]),
        as_json(real=[5.0]), as_json(real=[10**400]), as_json(real=[1.0, 2.0]),
    ],
    ids=lambda text: text[:60] or "nothing",
)  # fmt: skip
def test_json_that_says_nothing(refused, text):
    refused("decode", stdin=text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["1.4"], "there are no digits"),
        (["x", "2:1"], "'x' is not a real value"),
        (["nan", "2:1"], "'nan' is not a real value"),
        (["1e999999", "2:1"], "exponent beyond"),
        (["1.4", "2:011011", "3:101212"], "no rational number"),
        (["?", "101:…(91)"], "-10 and 1/10 have them, for example; a real value tells which"),
        (["1", "2:" + "5" * 5000], "is not a 2-adic expansion"),
        (["1", "2"], "PRIME:EXPANSION"),
        (["1", "two:1"], "PRIME:EXPANSION"),
        (["1", "2:102"], "is not a 2-adic expansion"),
        (["1", "4:1"], "4 is not a prime"),
        (["1", f"{'9' * 5000}:1"], ""),
        (["9", "2:…011011", "3:…101212", "5:…00001.2", "7:…254130"], "no rational number"),
        (["--jsn", "x"], "--jsn"),
        (["--json", "missing.json"], "missing.json"),
        (["--json", "."], ". cannot be read"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_coordinates_that_say_nothing(refused, arguments, words):
    assert words in refused("decode", *arguments)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(st.data())
def test_what_encode_prints_decode_reads(adelic, data):
    """For every number inside the decoding bound, pasted as arguments and piped as JSON."""
    n = data.draw(st.one_of(st.integers(-1000, 1000), st.integers(-(10**18), 10**18), st.integers()))
    q = Fraction(n, data.draw(st.one_of(st.just(1), st.integers(1, 100), st.integers(1, 10**9))))
    q *= Fraction(10) ** data.draw(st.sampled_from([0, 0, 0, 0, 3, -2, 20, -20, 320, -322, -400]))
    primes = data.draw(st.lists(st.sampled_from([2, 3, 5, 7, 11, 13, 17, 257]), min_size=1, max_size=5, unique=True))
    precision = data.draw(st.sampled_from([6, 16, 40, 600]))
    options = ["--primes", ",".join(map(str, primes)), "--precision", str(precision)]
    done = adelic("encode", str(q), *options)
    if done.status == 2 and "after the point, which --precision" in done.err:
        return
    _, real, *places = lines_of(done.out)
    powers = [max(valuation(q.denominator, p) for p in primes)] * len(primes)
    scaled = q * prod(p**e for p, e in zip(primes, powers, strict=True))
    is_inside = 2 * abs(scaled.numerator) * scaled.denominator < prod(primes) ** precision
    pasted = [real[1], *(f"{place[0].removeprefix('Q_')}:{place[1]}" for place in places)]
    decoded = adelic("decode", *pasted)
    if is_inside:
        assert decoded.out == f"{q}\n", (pasted, decoded.err)
        piped = adelic("decode", stdin=adelic("encode", str(q), *options, "--json").out)
        assert piped.out == f"{q}\n"
    else:
        assert decoded.status == 2 or decoded.out == f"{q}\n"


def test_the_issues_number(works):
    lines = lines_of(works("encode", "520/31", "--primes", "2,3,5,7"))
    pasted = [lines[1][1], *(f"{name.removeprefix('Q_')}:{text}" for name, text in lines[2:])]
    assert works("decode", *pasted) == "520/31\n"


def test_windows_have_the_digits_after_the_point_that_numbers_need(works):
    found = lines_of(works("encode", "7/5", "--primes", "2,5", "--precision", "6"))
    assert found[2:] == [["Q_2", "…11011"], ["Q_5", "1.2"]]
    assert works("encode", "19.99").splitlines()[1] == "  real  19.99"
    found = json.loads(works("encode", "19.99", "1/8", "--json"))
    assert found["fractional_digits"] == 3


def test_numbers_beyond_float64(works):
    assert works("encode", "1e400", "--primes", "3", "--precision", "4").splitlines()[1] == "  real  1e+400"
    assert works("encode", "1e-400", "--primes", "3").splitlines()[1] == "  real  1e-400"
    text = works("encode", "1e400", "7", "--primes", "2,3", "--precision", "600", "--json")
    assert json.loads(text)["real"] == ["1e+400", 7.0]
    assert works("decode", stdin=text).split() == [str(10**400), "7"]


def test_numbers_that_float64_hardly_holds(works):
    """Two of them are no further apart than the least float64; pasted, piped, and read to their last digit."""
    q = f"-77/{19**254}"
    text = works("encode", q, "--primes", "2,3,5", "--precision", "600", "--json")
    assert json.loads(text)["real"] == ["-1.210810234317099e-323"]
    assert works("decode", stdin=text).strip() == q


def test_errors_are_short(refused):
    """Whatever is pasted, the line shows the start of it."""
    long = "7" * 5000
    for arguments in (
        ["encode", long + "x"], ["encode", "1", "--primes", long], ["encode", "1", "--precision", long],
        ["encode", "1", "--floats", long], ["encode", f"--{long}"], ["decode", "1", f"{long}:1"],
        ["decode", "1", f"2:{long}"], ["decode", "x" + long, "2:1"], ["decode", "1", long], ["space", "x" + long],
        ["space", "1", "--budget", "-" + long], ["space", "1", "--primes", f"{long},4"],
        ["encode", "1", "--json" + long], ["encode", "1", "--primes", "2-" + long],
        ["explore", "1", "--with", "x" + long], ["explore", "1", "--with", "1", "--operation", long],
    ):  # fmt: skip
        assert len(refused(*arguments)) < 400, arguments[0]
    assert len(refused("decode", "--json", "no " * 3000)) < 2100


class Stopped(io.RawIOBase):
    """Standard input of a process that is stopped while it reads."""

    def __init__(self, signum):
        self.signum = signum

    def readable(self):
        return True

    def readinto(self, _):
        signal.raise_signal(self.signum)
        return 0


@pytest.mark.parametrize(
    ("signum", "status", "word"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")]
)
def test_a_command_that_saves_nothing_does_not_say_that_it_did(monkeypatch, capsys, signum, status, word):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Stopped(signum))))
    with pytest.raises(SystemExit) as caught:
        main(["decode"])
    assert caught.value.code == status
    assert capsys.readouterr().err.lstrip("\n") == f"adelic: {word} before it was done; the same command starts anew\n"


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_while_an_object_is_deleted_is_obeyed(monkeypatch, capsys, signum, status):
    """Python prints what is raised in a destructor, and goes on."""

    class Deleted:
        def __del__(self):
            signal.raise_signal(signum)

    class Waiting(Stopped):
        def readinto(self, _):
            Deleted()
            time.sleep(5)  # the signal ends it
            return 0

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Waiting(signum))))
    with pytest.raises(SystemExit) as caught:
        main(["decode"])
    assert caught.value.code == status
    assert "Traceback" not in capsys.readouterr().err


def test_white_space_in_front_of_a_number(works, refused):
    """Once a search from each of so many places, eleven seconds long."""
    assert works("encode", " " * 60_000 + "7", "--primes", "2", "--precision", "4").splitlines()[-1] == "  Q_2   111"
    assert "is not a number" in refused("encode", "7" + " " * 60_000 + "x")
    assert "is not a number" in refused("encode", " " * 60_000 + "x")


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


@pytest.mark.parametrize(
    ("text", "words"),
    [("[1]", "it is not an object"), ('{"primes": [2]}', "it has no 'precision'"), ("{", "Expecting property")],
)
def test_json_of_another_kind(refused, text, words):
    line = refused("decode", stdin=text)
    assert f"this is not the JSON of `adelic encode --json`: {words}" in line


def test_ctrl_c_while_the_command_line_is_imported(monkeypatch):
    def interrupted(name, *others, **more):
        if name == "adelic.cli":
            raise KeyboardInterrupt
        return imported(name, *others, **more)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(SystemExit) as caught:
        __main__.main()
    assert caught.value.code == 130


def test_too_little_memory_is_one_line(refused, monkeypatch):
    def fill(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr("adelic.cli.numbers.fitting_space", fill)
    assert "this takes more memory than there is (Unable to allocate 9 TiB); smaller sizes" in refused("encode", "1")
