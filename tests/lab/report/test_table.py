"""The one type of table, in each of its forms."""

import csv
import io

from adelic_lab.cli.report import print_figures
from adelic_lab.report.table import Table, shown_seconds

ODD = ("[red]mine[/red]", "a|b", "[/]", "90.00 [80.00, 100.00]", 'say "no", twice')


def test_names_are_texts_in_every_form(capsys):
    """Not markup of the terminal, nor the end of a cell of Markdown."""
    table = Table.of(tuple("abcde"), (ODD,), ("A [b]note[/i].",))
    print_figures(table)
    printed = capsys.readouterr().out
    assert all(text in printed for text in (*ODD, "A [b]note[/i]."))
    assert r"| a\|b |" in table.to_markdown()
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [list("abcde"), list(ODD)]


def test_a_table_with_a_heading_its_names_and_its_notes(capsys):
    table = Table.of(("row", "model", "rate"), (("a", "b", "1"), ("c", "d", "2 †")), ("A note.",), "Rates", names=2)
    assert table.to_markdown().splitlines()[:6] == [
        "## Rates", "", "| row | model | rate |", "|---|---|---:|", "| a | b | 1 |", "| c | d | 2 † |",
    ]  # fmt: skip
    assert [note[:6] for note in table.notes] == ["A note", "† pred"]
    assert "A note." not in table.to_markdown(without=["A note."])
    print_figures(table)
    assert capsys.readouterr().out.count("├") == 1  # between rows of different names


def test_a_table_without_rows_was_not_run():
    assert Table.of(("row",), (), ("A note.",), "Rates").to_markdown() == "## Rates\n\nnot run\n"
    assert Table.of(("row",), ()).to_markdown() == "not run\n"


def test_seconds_beside_other_work_are_marked(result):
    quiet, busy = result(seconds=10.0, processor_seconds=9.5), result(seed=1, seconds=10.0, processor_seconds=6.0)
    assert shown_seconds([quiet]) == "10.0"
    assert shown_seconds([quiet, busy]) == "≈ 10.0"
    assert shown_seconds([result(seconds=1234.0)]) == "≈ 1,234"  # of older results nothing is known


def test_seconds_of_another_device_do_not_count(result):
    cpu = result(seconds=900.0, processor_seconds=900.0, device="cpu, 1 threads, x86_64")
    gpu = result(seed=1, seconds=60.0, processor_seconds=60.0, device="NVIDIA H200")
    assert shown_seconds([cpu, gpu]) == "900"
    assert shown_seconds([gpu]) == "≈ 60.0"  # nobody knows who shared it
