import csv
import io
import re
from dataclasses import astuple
from html.parser import HTMLParser
from pathlib import Path

import pytest

from adelic.benchmark import summarise, table, write_report
from adelic.benchmark.report import render_page
from adelic.errors import AdelicError

VOID = {"meta", "br", "hr", "img", "input", "link", "col"}


class Page(HTMLParser):
    """What a test looks for in a page; asserts that tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.urls, self.tags, self.cells, self.texts = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.urls += [v for name, v in attrs if name in ("src", "href", "xlink:href", "srcset", "data", "action")]
        for name, value in attrs:
            assert not name.startswith("on"), f"{name} runs code"
            self.urls += re.findall(r"url\(([^)]*)\)", value or "")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and "td" in self.open:
            self.cells[-1] += data
        if self.open and self.open[-1] == "style":
            assert "@import" not in data
            assert "url(" not in data


@pytest.fixture
def summaries(result):
    results = [result(seed=s, accuracy=0.9 + s / 100) for s in range(3)]
    results += [result(embedding="learned", one_class=True), result("mheight-8", "learned"), result("schubert-3")]
    return summarise(results)


@pytest.fixture
def page(summaries):
    return render_page(summaries, table.contents(summaries, all_rows=True))


def test_the_page_is_self_contained(page):
    parsed = Page(page)
    assert not {"script", "link", "iframe", "img", "object", "embed", "base", "form"} & set(parsed.tags)
    assert all(url.startswith("#") for url in parsed.urls)
    assert page.lower().startswith("<!doctype html>")


def test_identifiers_are_unique_and_found(page):
    parsed = Page(page)
    assert parsed.ids
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert {url.removeprefix("#") for url in parsed.urls} <= set(parsed.ids)


def test_the_page_holds_every_cell_of_the_table(page, summaries):
    lines = table.lines(summaries, all_rows=True)
    cells = Page(page).cells
    width = len(table.HEADERS)
    assert [tuple(cells[i * width : (i + 1) * width]) for i in range(len(lines))] == [astuple(line) for line in lines]


def test_the_page_says_how_to_repeat_each_run(page, summaries):
    parsed = Page(page)
    for summary in summaries:
        for result in summary.results:
            assert any(cell.split() == result["command"].split() for cell in parsed.cells)
            assert f"{result['parameters']:,}" in parsed.cells
            assert result["device"] in parsed.cells


def test_learning_curves_of_every_row(page):
    assert Page(page).tags.count("svg") == 3
    for row in ("schubert-4", "mheight-8", "schubert-3"):
        assert f"Learning curves of {row}" in page
    assert "#123456" not in page


def test_the_page_is_the_same_each_time(summaries):
    tables = table.contents(summaries)
    assert render_page(summaries, tables) == render_page(summaries, tables)


@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", '"><script>alert(1)</script>', "<b>&amp;</b>", "$x$ & y"]
)
def test_texts_are_escaped(result, evil):
    odd = result() | {"device": evil, "command": evil, "embedding": evil, "recipe": evil, "task": evil}
    odd["versions"] = {evil: evil}
    found = summarise([odd])
    text = render_page(found, table.contents(found))
    parsed = Page(text)
    assert not {"script", "b"} & set(parsed.tags)
    assert parsed.cells.count(evil) >= 2
    assert all(url.startswith("#") for url in parsed.urls)
    assert len(set(parsed.ids)) == len(parsed.ids)


def test_files(tmp_path, summaries):
    page = tmp_path / "new" / "report.html"
    files = write_report(summaries, page)
    assert files == [page, page.with_suffix(".csv"), page.with_suffix(".md")]
    lines = table.lines(summaries)
    assert page.read_text(encoding="utf-8") == render_page(summaries, table.contents(summaries))
    assert files[2].read_text(encoding="utf-8") == table.to_markdown(table.paper_content(lines))
    rows = list(csv.reader(io.StringIO(files[1].read_text(encoding="utf-8"))))
    assert rows[1:] == [list(astuple(line)) for line in lines]


def test_no_runs(tmp_path):
    write_report([], tmp_path / "report.html", all_rows=True)
    assert len(Page((tmp_path / "report.html").read_text(encoding="utf-8")).cells) == 26 * len(table.HEADERS)


@pytest.mark.parametrize("name", ["report.csv", "report.md"])
def test_the_page_never_takes_the_name_of_the_tables(tmp_path, summaries, name):
    try:
        files = write_report(summaries, tmp_path / name)
    except AdelicError:
        return
    assert len(set(files)) == 3
    assert any(path.read_text(encoding="utf-8").lower().startswith("<!doctype html>") for path in files)


@pytest.mark.parametrize("where", ["file/report.html", "folder.html", "", "a" * 300])
def test_what_cannot_be_written(tmp_path, summaries, where, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.html").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AdelicError) as caught:
        write_report(summaries, Path(where))
    assert "\n" not in str(caught.value)
