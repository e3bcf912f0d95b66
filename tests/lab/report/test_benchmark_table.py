"""The one type of table, in each of its forms."""

import csv
import dataclasses
import io

import pytest

from adelic_lab.cli.report import print_figures
from adelic_lab.report.table import MARK_NOTES, Table

ODD = ("[red]mine[/red]", "a|b", "[/]", "90.00 [80.00, 100.00]", 'say "no", twice')


def test_names_are_texts_in_every_form(capsys):
    """Not markup of the terminal, nor the end of a cell of Markdown."""
    table = Table(tuple("abcde"), (ODD,), ("A [b]note[/i].",))
    print_figures(table)
    printed = capsys.readouterr().out
    assert all(text in printed for text in (*ODD, "A [b]note[/i]."))
    assert r"| a\|b |" in table.to_markdown()
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [list("abcde"), list(ODD)]


def test_a_table_with_a_heading_its_names_and_its_notes(capsys):
    table = Table(("row", "model", "rate"), (("a", "b", "1"), ("c", "d", "2 †")), ("A note.",), "Rates", names=2)
    assert table.to_markdown().splitlines()[:6] == [
        "## Rates", "", "| row | model | rate |", "|---|---|---:|", "| a | b | 1 |", "| c | d | 2 † |",
    ]  # fmt: skip
    assert [note[:6] for note in table.notes] == ["A note", "† with"]
    assert "A note." not in table.to_markdown(without=["A note."])
    print_figures(table)
    assert capsys.readouterr().out.count("├") == 1  # between rows of different names


def test_a_table_without_rows_was_not_run():
    assert Table(("row",), (), ("A note.",), "Rates").to_markdown() == "## Rates\n\nnot run\n"
    assert Table(("row",), ()).to_markdown() == "not run\n"


def test_a_row_has_as_many_cells_as_there_are_columns():
    with pytest.raises(AssertionError):
        Table(("row", "rate"), (("a",),))


def test_a_changed_copy_explains_a_mark_once():
    table = Table(("model", "accuracy"), (("AOE", f"1 {next(iter(MARK_NOTES))}"),), notes=("first",))
    assert len(table.notes) == 2
    assert dataclasses.replace(table, notes=(*table.notes, "last")).notes == (*table.notes, "last")
