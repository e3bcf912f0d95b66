"""`adelic.probe`: what it finds, what it leaves alone, and what it refuses.

The check digits are those of python-stdnum, another system.
"""

import datetime
import json
import pickle
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
import stdnum.ar.cuit
import stdnum.at.uid
import stdnum.bg.egn
import stdnum.cl.rut
import stdnum.cn.ric
import stdnum.ean
import stdnum.es.dni
import stdnum.gr.vat
import stdnum.iban
import stdnum.isbn
import stdnum.jp.cn
import stdnum.lu.tva
import stdnum.luhn
import stdnum.pe.ruc
import stdnum.pl.pesel
import stdnum.pt.nif
import stdnum.ro.cnp
import stdnum.si.ddv
import stdnum.us.rtn

import adelic
from adelic import probe
from adelic.errors import ConfigurationError, LossyFloatWarning
from adelic.probing import ProbeWarning

RNG = np.random.default_rng(99)


def only(findings):
    """Return the one finding."""
    assert len(findings) == 1, str(findings)
    return findings[0]


def numbers(digits, examples, seed=0):
    """Return whole numbers of so many digits."""
    return np.random.default_rng(seed).integers(10 ** (digits - 1), 10**digits, examples)


@pytest.mark.parametrize(
    ("modulus", "target"),
    [
        (97, lambda n: n % 97 < 40),
        (23, lambda n: np.array(list("TRWAGMYFPDXBNJZSQVHLCKE"))[n % 23]),
        (7, lambda n: (n + 4) % 7 >= 5),
        (11, lambda n: n % 11 == 4),
        (12, lambda n: n % 12 * 1.5 + 0.25),
        (24, lambda n: np.isin(n % 24, [0, 5, 9, 10, 17, 23])),
    ],
    ids=["97", "23", "weekday", "11", "12, a number", "24"],
)
def test_a_modulus_is_found_from_500_examples_and_not_its_multiples(modulus, target):
    n = numbers(8, 500)
    found = only(probe(n, target(n)))
    assert (found.column, found.kind, found.modulus) == ("x0", "modulus", modulus)
    assert found.score > (0.6 if modulus == 97 else 0.85)
    assert found.sentence.endswith(f"use x0 % {modulus}")


def test_valid_account_numbers_are_1_modulo_97():
    n = numbers(12, 500)
    valid = RNG.random(500) < 0.5
    n[valid] -= n[valid] % 97 - 1
    found = only(probe(n, valid))
    assert found.modulus == 97
    assert found.table[1][0][1] > 0.95  # nearly all with the remainder 1 are valid


CHECKS = {
    "EAN-13": (12, stdnum.ean.calc_check_digit),
    "ISBN-10": (9, stdnum.isbn._calc_isbn10_check_digit),
    "Luhn": (15, stdnum.luhn.calc_check_digit),
    "CAS": (8, lambda text: str(sum(i * int(d) for i, d in enumerate(reversed(text), 1)) % 10)),
    "Argentina": (10, stdnum.ar.cuit.calc_check_digit),
    "Austria": (7, lambda text: stdnum.at.uid.calc_check_digit("U" + text)),
    "Bulgaria": (9, stdnum.bg.egn.calc_check_digit),
    "Chile": (8, stdnum.cl.rut.calc_check_digit),
    "China": (17, stdnum.cn.ric.calc_check_digit),
    "Greece": (8, stdnum.gr.vat.calc_check_digit),
    "Japan": (12, stdnum.jp.cn.calc_check_digit),
    "Luxembourg": (6, stdnum.lu.tva.calc_check_digits),
    "Peru": (10, stdnum.pe.ruc.calc_check_digit),
    "Poland": (10, stdnum.pl.pesel.calc_check_digit),
    "Portugal": (8, stdnum.pt.nif.calc_check_digit),
    "Romania": (12, stdnum.ro.cnp.calc_check_digit),
    "Slovenia": (7, stdnum.si.ddv.calc_check_digit),
    "Spain": (8, stdnum.es.dni.calc_check_digit),
    "United States": (8, stdnum.us.rtn.calc_check_digit),
}
"""Digits before the check digit, and python-stdnum's check digit."""


def checked(name, examples, seed=0):
    """Return numbers without their check digits, and these, a letter as a number."""
    digits, check = CHECKS[name]
    n = numbers(digits, examples, seed)
    found = [check(str(v)) for v in n.tolist()]
    return n, np.array([int(c) if c.isdigit() else ord(c) for c in found])


@pytest.mark.parametrize("share", [0.0, 0.02])
@pytest.mark.parametrize("name", CHECKS)
def test_check_digits_are_found_from_300_examples_with_and_without_wrong_ones(name, share):
    n, y = checked(name, 300)
    wrong = np.random.default_rng(1).random(300) < share
    y[wrong] = np.roll(y, 1)[wrong]
    best = probe(n, y)[0]
    unseen, right = checked(name, 2000, seed=5)
    likely = {code: best.classes[np.argmax(shares)] for code, (shares, _) in best.table.items()}
    told = [likely.get(code) for code in best.codes(unseen).tolist()]
    assert best.kind in ("modulus", "checksum"), best.sentence
    assert np.mean(told == right) > (0.75 if name == "Luxembourg" else 0.999), best.sentence


def test_a_law_that_nobody_wrote_down_is_found_with_wrong_examples():
    digits = np.random.default_rng(2).integers(0, 10, (400, 10))
    n = (digits[:, :0:-1] @ 10 ** np.arange(9)).astype(np.int64) * 10
    check = (digits[:, :0:-1] @ [4, 9, 1, 7, 3, 8, 2, 6, 5] + 3) % 13 % 10
    law = (digits[:, :0:-1] @ [4, 9, 1, 7, 3, 8, 2, 6, 5] + 3) % 7
    wrong = np.random.default_rng(3).random(400) < 0.02
    law[wrong] = (law[wrong] + 1) % 7
    found = only(probe(n // 10, law))
    assert (found.kind, found.modulus) == ("checksum", 7)
    assert "from the right) modulo 7" in found.sentence
    assert found.score > 0.85
    assert not probe(n // 10, check) or probe(n // 10, check)[0].score < 0.5  # no law modulo one number


IBANS = [
    f"{code}{98 - int(f'{account}{int(code[0], 36)}{int(code[1], 36)}00') % 97:02d}{account}"
    for code, account in zip(["DE"] * 300, numbers(18, 300).tolist(), strict=True)
]
VALID = np.random.default_rng(3).random(300) < 0.5
TYPED = [
    iban if valid else iban[:9] + str((int(iban[9]) + 1) % 10) + iban[10:]
    for iban, valid in zip(IBANS, VALID, strict=True)
]


def test_valid_ibans_are_found_from_300_as_the_standard_reads_them_and_as_they_are_written():
    """The standard moves the first four characters to the end, and reads letters as 10 … 35."""
    assert all(stdnum.iban.is_valid(iban) == valid for iban, valid in zip(TYPED, VALID, strict=True))
    whole = [int("".join(str(int(one, 36)) for one in iban[4:] + iban[:4])) for iban in TYPED]
    assert only(probe(whole, VALID)).sentence == "x0 mod 97 = 1 exactly where the target is True: use x0 % 97"
    moved = [f"{iban[4:]} {iban[:4]}" for iban in TYPED]
    assert only(probe(moved, VALID, letters="base-36")).modulus == 97
    written = only(probe(TYPED, VALID, letters="base-36"))
    assert (written.kind, written.modulus, written.score) == ("checksum", 97, 1.0)
    assert written.codes(TYPED[:50]).tolist() == VALID[:50].astype(int).tolist()
    with pytest.raises(ConfigurationError, match="letters='hex' is unknown; it is 'base-36' or None"):
        probe(TYPED, VALID, letters="hex")


def test_whether_a_number_is_valid_is_found_by_a_law_of_its_last_digit():
    weights = np.array([3, 7, 2, 9, 4, 8, 5])
    body = np.random.default_rng(4).integers(0, 10, (600, 7))
    last = (body @ weights) % 10
    valid = np.random.default_rng(5).random(600) < 0.5
    last = np.where(valid, last, (last + np.random.default_rng(6).integers(1, 10, 600)) % 10)
    found = only(probe(body @ 10 ** np.arange(1, 8) + last, valid))
    assert (found.kind, found.modulus, found.score) == ("checksum", 10, 1.0)
    assert found.sentence.startswith("whether the last digit of x0 is ")


@pytest.mark.parametrize("seed", range(30))
def test_noise_finds_nothing(seed):
    rng = np.random.default_rng(seed)
    columns = {"a": rng.integers(0, 10**9, 200), "b": rng.normal(size=200), "c": rng.integers(0, 30, 200)}
    assert probe(columns, rng.integers(0, 2, 200)) == []
    assert probe(columns, rng.normal(size=200)) == []


@pytest.mark.slow
def test_of_a_thousand_columns_of_noise_at_most_one_in_twenty_has_a_finding():
    rng = np.random.default_rng(7)
    found = sum(bool(probe(rng.integers(0, 10**9, 300), rng.integers(0, 3, 300))) for _ in range(1000))
    assert found <= 50


DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(800)]


@pytest.mark.parametrize(
    ("values", "target", "kind", "text"),
    [
        (pd.date_range("2020-01-01", periods=400), lambda i: i % 7 == 5, "calendar", "weekday of x0 = Monday exactly"),
        (DAYS, lambda i: [day.month in (2, 3, 7) for day in DAYS], "calendar", "month of x0 tells"),
        (np.arange(1900, 2100), lambda i: (i % 4 == 0) & (i != 0), "calendar", "leap year of x0 = 1 exactly"),
        (numbers(6, 500), lambda i: numbers(6, 500) // 1000 % 10, "digit", "digit of 10^3 of x0 tells the target"),
        (numbers(5, 500), lambda i: numbers(5, 500) // 1000, "digit", "x0 without its last 3 digits tells the target"),
        (numbers(8, 900), lambda i: numbers(8, 900) // 100 % 100, "digit", "pair of digits of 10^3 and 10^2 of x0"),
        (numbers(6, 500), lambda i: numbers(6, 500) // 1000 % 7, "digit", "x0 without its last 3 digits, modulo 7, t"),
        (numbers(6, 500), lambda i: numbers(6, 500) // 10, "size", "size of x0 in 8 parts explains 98."),
        (numbers(6, 2000) / 100, lambda i: numbers(6, 2000) % 100 == 99, "modulus", "x0·10^2 mod 100 = 99 exactly"),
        (numbers(6, 500), lambda i: numbers(6, 500) > 400_000, "size", "size of x0 in "),
        ((numbers(6, 2000) * 3 + 1) * 3 ** (np.arange(2000) % 5), lambda i: i % 5, "valuation", "exponent of 3 in x0"),
    ],
    ids=[
        "weekday", "months", "leap year", "decimal digit", "upper digits", "two digits", "upper digits modulo 7",
        "upper digits, a number", "price ending", "size", "valuation",
    ],
)  # fmt: skip
def test_each_kind_is_found(values, target, kind, text):
    best = probe(pd.Series(values, name="x0"), target(np.arange(len(values))))[0]
    assert best.kind == kind, best.sentence
    assert best.sentence.startswith(text)


def test_two_things_in_two_columns_are_found_and_become_features():
    frame = pd.DataFrame({"a": numbers(7, 2000), "noise": numbers(7, 2000, 1), "b": numbers(7, 2000, 2)})
    y = (frame.a % 5 == 2).astype(int) + 2 * (frame.b % 3 == 1)
    found = probe(frame, y)
    assert {(one.column, one.modulus) for one in found} == {("a", 5), ("b", 3)}
    assert found == probe(pl.from_pandas(frame), y.tolist()) == probe(frame.to_dict("list"), y)
    features = pickle.loads(pickle.dumps(found)).features(frame)
    assert features.shape == (2000, 2)
    assert set(features[:, [one.column for one in found].index("b")]) == {0, 1, 2}
    with pytest.raises(ConfigurationError, match="X has no column 'a'; it has b"):
        found.features(frame[["b"]])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (np.ones(100, dtype=int), "it is constant"),
        ([None] * 100, "0 entries are numbers with a target"),
        ([f"DE{i}" for i in range(100)], r"it has letters, as 'DE0'; letters='base-36' would read A … Z as 10 … 35"),
        (np.r_[np.inf, np.arange(99.0)], "inf is not a rational number"),
        (["1-2", "3-4", "5:6"] * 33 + ["7-8"], "'5:6' is neither a number nor a code"),
        (["1-2", 3.5] * 50, "3.5 is neither a number nor a code"),
        (["2023-02-28", "2023-02-30"] * 50, "'2023-02-30' is not a date"),
    ],
    ids=["constant", "gaps", "letters", "infinite", "mixed codes", "codes and floats", "no date"],
)
def test_a_column_that_cannot_be_read_is_named_and_left_out(column, message):
    y = np.arange(100) % 2
    with pytest.warns(ProbeWarning, match=f"column a: .*{message}.*; it was left out"):
        found = probe({"a": column, "b": np.arange(100) * 3 + y}, y)
    assert all(one.column == "b" for one in found)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.arange(100), np.zeros(100), "the target is 0.0 in all examples"),
        (np.arange(100), [str(i) for i in range(100)], "these are names, no classes"),
        (np.arange(5), [0, 1, 0, 1, 0], "5 examples have a target; 20 are the least"),
        (np.arange(5), np.zeros(100), r"the target has the shape \(100,\), X has 5 examples"),
        ({"a": np.arange(100), "b": np.arange(99)}, np.arange(100), "the columns of X differ in length"),
        (
            np.arange(100),
            np.r_[np.inf, np.random.default_rng(0).normal(size=99)],
            "the target has a value that is infinite",
        ),
    ],
    ids=["one class", "names", "few", "another length", "ragged", "infinite"],
)
def test_a_target_that_cannot_be_told_is_an_error(X, y, message):
    with pytest.raises(ConfigurationError, match=message):
        probe(X, y)


@pytest.mark.parametrize("threshold", [13, 17])
def test_a_threshold_is_size_and_nothing_else(threshold):
    rng = np.random.default_rng(3)
    for x in (rng.integers(0, 41, 5000), rng.normal(20, 9, 5000).round(2), (rng.pareto(1, 5000) * 20).astype(int)):
        assert only(probe(x, x > threshold)).kind == "size"


def test_names_of_few_things_are_no_arithmetic():
    stores = np.random.default_rng(4).integers(0, 10**4, 30)
    chosen = np.random.default_rng(5).integers(0, 30, 3000)
    found = probe(stores[chosen], np.random.default_rng(6).random(30)[chosen] > 0.5)
    assert all(one.kind == "size" or one.modulus <= 15 for one in found)


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_there_four_times_and_labels_of_forty_customers_confirm_nothing(seed):
    rng = np.random.default_rng(seed)
    customers = rng.integers(0, 40, 600)
    n, low = np.repeat(rng.integers(0, 10**6, 150), 4), np.repeat(rng.integers(0, 2, 150), 4)
    assert probe(n, low) == []
    assert probe(rng.integers(0, 10**6, 40)[customers], rng.integers(0, 2, 40)[customers]) == []


@pytest.mark.parametrize("seed", range(3))
def test_what_a_day_is_like_is_confirmed_by_other_days_and_an_hour_by_any(seed):
    rng = np.random.default_rng(seed)
    minutes, low = rng.integers(0, 1440, 1200), np.repeat(rng.integers(0, 2, 60), 20)
    days = np.repeat(np.datetime64("2024-01-01") + np.arange(60), 20).astype("datetime64[m]")
    assert probe(days + minutes, low) == []
    found = only(probe(days + minutes, minutes // 60 % 5 == 1))
    assert found.sentence.startswith("hour of x0 tells the target: 100.0 %")


def test_few_values_tell_by_their_size_and_by_arithmetic_that_half_of_them_shows():
    rng = np.random.default_rng(0)
    hours, flags = rng.integers(0, 24, 600), rng.integers(0, 2, 600)
    assert only(probe(hours, (hours % 2 == 1) ^ (rng.random(600) < 0.1))).modulus == 2
    assert only(probe(flags, (flags == 1) ^ (rng.random(600) < 0.1))).kind == "size"


def test_truth_values_and_times_of_day_as_text_are_read():
    rng = np.random.default_rng(0)
    hours, flags = rng.integers(0, 24, 600), rng.integers(0, 2, 600)
    clocks = [f"{hour}:{minute:02}" for hour, minute in zip(hours, rng.integers(0, 60, 600), strict=True)]
    findings = probe({"at": clocks, "flag": [["False", "true", ""][flag] for flag in flags]}, hours >= 18)
    assert only(findings).sentence.startswith("size of at in 2 parts tells the target: 100.0 %")
    found = only(probe({"flag": [["False", "true"][flag] for flag in flags]}, flags == 1))
    assert found.codes(["true", "False", ""]).tolist() == [1, 0, -1]


def test_floats_that_lost_digits_are_told_and_measurements_not(recwarn):
    n = numbers(9, 300)
    with pytest.warns(LossyFloatWarning, match="column x0, at position .*float32"):
        probe(n.astype(np.float32), n % 7 < 3)
    recwarn.clear()
    probe(np.random.default_rng(0).normal(size=300), n % 7 < 3)
    assert not recwarn


def test_years_that_4_divides_are_no_leap_years():
    years = np.arange(1788, 2024)
    assert only(probe(years, years % 4 == 0)).sentence == "x0 mod 4 = 0 exactly where the target is True: use x0 % 4"


def test_new_numbers_are_read_with_the_decimals_of_the_old_ones():
    n = numbers(5, 2000)
    found = probe(n / 100, n % 100 > 89)
    assert found.features([1.9, 2.5, 1 / 3])[:, 0].tolist() == [9, 5, -1]
    assert isinstance(found[:1], type(found))


def test_dates_are_weekdays_even_with_noise_and_a_time_of_day():
    days = pd.date_range("2000-01-01 03:04", periods=600, freq="D")
    weekend = (days.day_of_week >= 5) ^ (np.random.default_rng(1).random(600) < 0.2)
    for values in (days, days.to_pydatetime(), days.astype(str), pl.Series(days.to_pydatetime())):
        best = probe(pl.DataFrame({"x0": values}) if isinstance(values, pl.Series) else values, weekend)[0]
        assert (best.kind, best.modulus) == ("calendar", 7)


def test_texts_with_an_exponent_are_numbers_and_whole_numbers_among_codes_are_codes():
    texts = [f"{v}e-05" if v % 2 else str(v) for v in range(1000, 1200)]
    assert probe(texts, [v % 2 == 1 for v in range(1000, 1200)])
    codes = [f"{v // 10}-{v % 10}" if v % 2 else v for v in range(1000, 1300)]
    assert only(probe(codes, [v % 7 == 3 for v in range(1000, 1300)])).modulus == 7


def test_a_law_says_nothing_of_longer_numbers():
    digits = np.random.default_rng(8).integers(0, 10, (400, 6))
    n, y = digits @ 10 ** np.arange(6), digits @ [4, 2, 1, 6, 3, 5] % 7
    best = probe(n, y)[0]
    assert best.kind == "checksum"
    assert best.codes([n[0], n[0] + 10**6]).tolist() == [best.codes([n[0]])[0], 7]
    assert 7 not in best.table


def test_texts_of_check_digits_and_exact_functions_are_found():
    n, y = checked("Poland", 300)
    assert probe(n, list(map(str, y)))[0].score > 0.99
    for target in (n // 1000, n % 97, [sum(map(int, str(v))) for v in n.tolist()]):
        probe(n, target)  # no traceback


def test_a_class_that_only_one_half_has_and_gaps_of_pandas_are_no_trouble():
    probe(range(1000, 1500), np.arange(500) == 3)
    y = pd.Series([True, False, None] * 100, dtype="boolean")
    assert probe(np.arange(300), y)[0].modulus == 3


def test_integers_beyond_int64_and_gaps_in_the_target_are_read():
    n = [10**40 + 7 * i for i in range(200)]
    y = [None if i % 10 == 0 else value % 11 for i, value in enumerate(n)]
    assert only(probe(n, y)).modulus == 11


def test_the_command_says_what_it_found(works, tmp_path):
    n = numbers(8, 300)
    path = tmp_path / "mine.csv"
    lines = [f"{v},{'yes' if v % 7 == 3 else 'no'},{v % 9}.5" for v in n.tolist()]
    path.write_text("\n".join(["id,sold,price", *lines]), encoding="utf-8")
    text = works("probe", str(path), "--target", "sold", "--columns", "id")
    assert text.startswith("1. id mod 7 = 3 exactly where sold is yes: use id % 7\n\ncode  share of no\n")
    found = json.loads(works("probe", str(path), "--target", "price", "--columns", "id", "--json"))
    assert [(one["kind"], one["modulus"]) for one in found] == [("modulus", 9)]


def test_pictures_of_findings_are_svg(works, refused, tmp_path):
    n = numbers(8, 400)
    found = probe({"n <id>": n}, np.where(n % 7 == 3, "a&b", "c"))
    tree = ElementTree.fromstring(found.plot())
    texts = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0].startswith("1. n <id> mod 7 = 3 exactly where the target is a&b")
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}rect"))) == 8
    assert found._repr_html_() == found.plot()
    assert "nothing found" in found[:0].plot()
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["id,y", *(f"{v},{v % 7 == 3}" for v in n.tolist())]), encoding="utf-8")
    works("probe", str(path), "--target", "y", "--plot", str(tmp_path / "found.svg"))
    assert (tmp_path / "found.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert "give it a name that ends in .svg" in refused("probe", str(path), "--target", "y", "--plot", "found.png")


@pytest.mark.slow
def test_a_million_different_values_are_read_and_as_a_target_refused():
    n = np.random.default_rng(0).permutation(10**7)[: 10**6]
    assert only(probe(n, n % 97 < 40)).modulus == 97
    with pytest.raises(ConfigurationError, match="1,000,000 different values in 1,000,000 examples; these are names"):
        probe(n, n.astype(str))


def test_the_command_refuses_columns_that_are_not_there(refused, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert "has no column 'c'; it has a, b" in refused("probe", str(path), "--target", "c")
    assert "1 examples have a target; 20 are the least" in refused("probe", str(path), "--target", "b")


def test_the_package_has_the_function():
    assert adelic.probe is probe
