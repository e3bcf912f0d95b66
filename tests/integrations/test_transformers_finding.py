"""Numbers are found in texts; what only looks like a number is left alone."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adelic.integrations.transformers.texts import find_numbers

FOUND = {
    "0 and 10": ["0", "10"],
    "\u22125": ["-5"],
    "x=-5, y = -6": ["-5", "-6"],
    '{"a": -5, "b":7}': ["-5", "7"],
    "(-5) + (3)": ["-5", "3"],
    "3 - 5": ["3", "5"],
    "3-5": ["3", "5"],
    "-3-5": ["-3", "5"],
    "(2)-3": ["2", "3"],
    "2*-3": ["2", "-3"],
    "--3": ["3"],
    "+5": ["5"],
    "3+5=8": ["3", "5", "8"],
    "2^10": ["2", "10"],
    "It was 5.": ["5"],
    "Is it 5? 6! 7; 8: 9, 10.": ["5", "6", "7", "8", "9", "10"],
    ".5": ["1/2"],
    "-.5": ["-1/2"],
    "x = .05": ["1/20"],
    "and so on...5": ["5"],
    "5..10": ["5", "10"],
    "1,000": ["1000"],
    "$12,345,678.90": ["123456789/10"],
    "1,2,3": ["1", "2", "3"],
    "-1,-2": ["-1", "-2"],
    "(1.5,2.5)": ["3/2", "5/2"],
    "1,2345": ["1", "2345"],
    "6.02e23": [str(602 * 10**21)],
    "1E-3": ["1/1000"],
    "1e+3": ["1000"],
    "-2.5e-1": ["-1/4"],
    ".5e1": ["5"],
    "3/4": ["3/4"],
    "6/8": ["3/4"],
    "1/0": ["1", "0"],
    "1.5/2": ["3/2", "2"],
    "100%": ["100"],
    "#5": ["5"],
    "answer:5": ["5"],
    "3:1": ["3", "1"],
    "1,000-2,000": ["1000", "2000"],
}
NOT_FOUND = [
    "", "no numbers", "x2", "2x", "x_2", "2nd", "5km", "1990s", "v1.2", "1.2.3", "192.168.0.1", "3.x", "file.3", "F-16",
    "COVID-19", "3-year", "2024-05-06", "12/05/2024", "12/11/2024", "12.5.2024", "2024/5/6", "10:30", "10:30:59",
    "10:30:59.5", "007", "05/06", "01", "1_000", "1-2-3", "0x1f", "1e9999", "1.000,5,000", "10²", "٣", "H2O", "²",
    "1,000,5",
]  # fmt: skip


@pytest.mark.parametrize("text", FOUND)
def test_numbers(text):
    assert [str(found.value) for found in find_numbers(text)] == FOUND[text]


@pytest.mark.parametrize("text", NOT_FOUND)
def test_what_is_no_number(text):
    assert find_numbers(text) == []
    assert find_numbers(f"({text})") == []
    assert find_numbers(f"see {text}, or {text}.") == []


@pytest.mark.parametrize("text", FOUND)
def test_places_in_the_text(text):
    for found in find_numbers(f"so {text} it is"):
        alone = find_numbers(f"so {text} it is"[found.start : found.end])
        assert [other.value for other in alone] == [found.value]


def test_words_and_dates_when_told():
    assert [str(found.value) for found in find_numbers("x2 and 5.5km, v1.2", words=True)] == ["2", "11/2", "6/5"]
    assert [str(found.value) for found in find_numbers("2024-12-10 at 10:30", dates=True)] == [
        "2024", "12", "10", "10", "30",
    ]  # fmt: skip
    assert find_numbers("x2 on 2024-12-10", dates=True)[0].value == 2024
    assert [found.value for found in find_numbers("x2 on 2024-12-10", words=True)] == [2]


ANNOTATED = {  # solutions of GSM8K (MIT) and their like
    "sold 48/2 = <<48/2=24>>24 clips": "48 2 48 2 24 24",
    "earns $12/60 = $<<12/60=0.2>>0.2": "12 60 12 60 1/5 1/5",
    "$100 - $50 -$30-$15 = $<<100-50-30-15=5>>5": "100 50 30 15 100 50 30 15 5 5",
    "5x3=<<5*3=15>>15": "5 3 5 3 15 15",
    "20/100 x $50 = $<<20/100*50=10>>10, 3/4 of it": "20 100 50 20 100 50 10 10 3/4",
    "3/4 are left: 1/2*-20=<<1/2*-20=-10>>-10": "3/4 1 2 -20 1 2 -20 -10 -10",
    "<<4/-2=-2>>-2 - <<4-.5=3.5>>3.5": "4 -2 -2 -2 4 1/2 7/2 7/2",
    "<<(5-3)/2=1>>": "5 3 2 1",
    "3/4 = 5/6, <<3/4>>, << 3/4": "3/4 5/6 3/4 3/4",
    "3/4 <<5=5>>": "3/4 5 5",
}


@pytest.mark.parametrize("text", ANNOTATED)
def test_annotations_are_read_as_operations(text):
    found = find_numbers(text)
    assert " ".join(str(number.value) for number in found) == ANNOTATED[text]
    assert all(find_numbers(text[number.start : number.end])[0].value == number.value for number in found)


@given(st.fractions(), st.sampled_from(["", "is ", "(", "x = ", "1 + "]), st.sampled_from(["", " and", ")", ".", ", "]))
def test_any_fraction_is_found_as_it_is_written(number, before, after):
    found = find_numbers(f"{before}{number}{after}")
    assert found[-1].value == number
    assert f"{before}{number}{after}"[found[-1].start : found[-1].end] == str(number)


@given(st.integers())
def test_thousands(number):
    assert [found.value for found in find_numbers(f"{number:,}")] == [number]


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=5))
def test_decimals(number):
    assert [found.value for found in find_numbers(f"{number:f}")] == [Fraction(number)]


@given(st.text(alphabet="0123456789.,:/-eE+ x_[]N<>=\u2212", max_size=30))
def test_any_text_is_read_without_overlaps(text):
    end = 0
    for found in find_numbers(text):
        assert end <= found.start < found.end <= len(text)
        end = found.end


def test_without_the_library_numbers_are_found_and_models_say_what_is_missing(forked, tmp_path):
    program = """
import sys
assert "transformers" not in sys.modules
sys.modules["transformers"] = None
from adelic.errors import MissingExtraError
from adelic.integrations.transformers import find_numbers, from_pretrained
print(find_numbers("5")[0].value)
try:
    from_pretrained("folder")
except MissingExtraError as error:
    print(error)
"""
    out, err = forked(program, tmp_path).communicate()
    assert out.splitlines() == [
        "5",
        "from_pretrained() needs transformers, which is not installed: pip install 'adelic[hf]'",
    ], err
