import json

import pytest

from adelic import choose_space


def test_the_table(works):
    out = works("space", "0.1", "2.75", "-19.99", "--operations", "2")
    assert out == f"{choose_space(['0.1', '2.75', '-19.99'], operations=2)}\n"
    assert "→" in out


def test_files_and_labels(works, folder):
    numbers = [n * n % 10007 for n in range(600)]
    (folder / "numbers.txt").write_text("\n".join(map(str, numbers)) + "\n\n", encoding="utf-8")
    (folder / "classes.txt").write_text("\n".join("abcdefg"[n % 7] for n in numbers), encoding="utf-8")
    out = works("space", "--values", "numbers.txt", "--labels", "classes.txt")
    assert "*     7" in out
    found = json.loads(works("space", "--values", "numbers.txt", "--labels", "classes.txt", "--json"))
    choice = choose_space(numbers, labels=[n % 7 for n in numbers])
    assert tuple(found["primes"]) == choice.space.primes
    assert (found["precision"], found["fractional_digits"]) == (choice.space.precision, choice.space.fractional_digits)
    assert found["coordinates"] == choice.coordinates
    assert [row["prime"] for row in found["information"]] == [row.prime for row in choice.information]


def test_standard_input_and_primes(works):
    found = json.loads(works("space", "--values", "-", "--primes", "2,3", "--json", stdin="-12\n7/5\n"))
    assert set(found["primes"]) <= {2, 3}
    assert found["information"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "NUMBERS or --values"),
        (["1", "--values", "-"], "one of the two"),
        (["--values", "missing.txt"], "missing.txt cannot be read: No such file"),
        (["--values", "-"], "no values"),
        (["10000000000", "--budget", "3"], "the least that would do is"),
        (["1", "--budget", "0"], "--budget 0"),
        (["1", "--lables", "x"], "--lables"),
        (["1", "2", "--labels", "-"], "0 labels for 2 values"),
    ],
    ids=str,
)
def test_what_has_no_space(refused, arguments, words):
    assert words in refused("space", *arguments)


def test_lines_of_files_are_never_shifted(works, refused, folder):
    (folder / "n.txt").write_text("\ufeff1\n2\n3\n\n \n", encoding="utf-8")
    (folder / "l.txt").write_text("\n\na\nb\nc\n", encoding="utf-8")
    assert "l.txt line 1 is empty; delete it" in refused("space", "--values", "n.txt", "--labels", "l.txt")
    assert works("space", "--values", "n.txt") == works("space", "1", "2", "3")
    assert works("space", "--values", "-", stdin="\ufeff1\n2\n3\n") == works("space", "1", "2", "3")
    (folder / "binary").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused("space", "--values", "binary")
    for text, words in (
        ("1\n\n2\n", "the standard input line 2 is empty"),
        ("1\nx\n", "the standard input line 2: 'x' is not a number"),
        ("1/0\n", "the standard input line 1: 1/0 has denominator zero"),
    ):
        assert words in refused("space", "--values", "-", stdin=text)


def test_encode_reports_the_error_of_an_approximation(works, refused):
    given = "3.141592653589793 -2.718281828459045 0.5 7 --floats limit:10**3 --primes 5,11 --precision 4"
    out = works("encode", *given.split())
    lines = [line.strip() for line in out.splitlines() if line.startswith("  as")]
    assert lines == [
        "as    355/113, error 2.67e-07",
        "as    -1457/536, error 1.75e-06",
        "as    1/2, error 0",
        "as    7, error 0",
    ]
    text = works("encode", "3.141592653589793", "2", "--floats", "limit:10", "--json", "--primes", "2,3")
    assert json.loads(text)["approximation_error"] == [pytest.approx(0.00126448926), 0]
    assert works("decode", stdin=text).split() == ["22/7", "2"]
    assert "is not a policy" in refused("encode", "1", "--floats", "round")
    assert "'seven' is not a number" in refused("encode", "seven", "--floats", "exact")


def test_a_file_in_place_of_a_number_names_the_option(refused, folder):
    (folder / "n.txt").write_text("1\n2\n")
    assert "--values n.txt reads this file" in refused("space", "n.txt")
    assert "--values" not in refused("space", "m.txt")
    assert "--values" not in refused("space", "x" * 5000)
