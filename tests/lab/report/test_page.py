import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from adelic_lab import write_report
from adelic_lab.report.page import figures, render_page
from adelic_lab.report.tables import RUN_COLUMNS, single_runs, tables

VOID = {"meta", "br", "hr", "img", "input", "link", "col"}


class Page(HTMLParser):
    """What a test looks for in a page; asserts that tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.urls, self.tags, self.cells, self.texts = [], [], [], [], [], []
        self.labels, self.tables = [], []
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
        self.labels += [value for name, value in attrs if name == "aria-label"]
        if tag == "div" and dict(attrs).get("class", "").startswith("scroll"):
            self.tables.append((dict(attrs)["class"].split()[1], []))
        self.urls += [v for name, v in attrs if name in ("src", "href", "xlink:href", "srcset", "data", "action")]
        for name, value in attrs:
            assert not name.startswith("on"), f"{name} runs code"
            self.urls += re.findall(r"url\(([^)]*)\)", value or "")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "td":
            self.tables[-1][1].append(self.cells[-1])

    def cells_of(self, kind):
        """Return the cells of all tables of a class."""
        return [cell for name, cells in self.tables if name == kind for cell in cells]

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and "td" in self.open:
            self.cells[-1] += data
        if self.open and self.open[-1] == "style":
            assert "@import" not in data
            assert "url(" not in data


@pytest.fixture(scope="module")
def results(result):
    made = [result(seed=s, accuracy=0.9 + s / 100) for s in range(3)]
    made += [
        result(embedding="learned", predicts_one_class=True),
        result("mheight-8", "learned"),
        result("schubert-3"),
    ]
    return made


@pytest.fixture(scope="module")
def page(results):
    return render_page(results, all_rows=True)


@pytest.mark.long
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


def test_the_page_holds_every_cell_of_the_table(page, results):
    (table,) = tables(results, "runs", all_rows=True)
    cells = Page(page).cells_of("all-runs")
    width = len(RUN_COLUMNS)
    assert [tuple(cells[i : i + width]) for i in range(0, len(cells), width)] == list(table.rows)


def test_the_page_says_how_to_repeat_each_run(page, results):
    parsed = Page(page)
    for result in results:
        assert any(cell.split() == result.command.split() for cell in parsed.cells)
        assert f"{result.parameters:,}" in parsed.cells
        assert result.device in parsed.cells


def test_learning_curves_of_every_row(page):
    shown = [label for label in Page(page).labels if label.startswith("Learning curves of ")]
    assert [label.split()[3].rstrip(",") for label in shown] == ["schubert-4", "mheight-8", "schubert-3"]
    assert "#123456" not in page


def test_no_note_has_backticks_and_code_is_code(page):
    body = re.sub(r"<svg.*?</svg>|<style>.*?</style>", "", page, flags=re.DOTALL)
    assert "`" not in body
    assert "<code>adelic data audit</code> lists them all" in body


@pytest.mark.long
def test_the_page_is_the_same_each_time(results, page):
    assert render_page(results, all_rows=True) == page


@pytest.mark.long
@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", '"><script>alert(1)</script>', "<b>&amp;</b>", "$x$ & y"]
)
def test_texts_are_escaped(result, evil):
    odd = {"device": evil, "command": evil, "task": evil, "versions": {evil: evil}}
    found = [result(embedding=evil, recipe={"name": evil}, **odd)]
    text = render_page(found)
    parsed = Page(text)
    assert not {"script", "b"} & set(parsed.tags)
    assert parsed.cells.count(evil) >= 2
    assert all(url.startswith("#") for url in parsed.urls)
    assert len(set(parsed.ids)) == len(parsed.ids)


def test_figures_are_the_pages(results, page):
    found = figures(results)
    shown = Page(page)
    matrices = [label for label in shown.labels if label.startswith("Confusion matrix")]
    assert matrices
    assert len(found) == shown.tags.count("svg") - len(matrices)
    assert all(re.fullmatch(r"[\w-]+\.svg", name) for name in found)
    assert any(name.endswith("-curves.svg") for name in found)
    for text in found.values():
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert root.get("color") == "#767676"
        assert root.get("viewBox")
    assert figures([]) == {}


def test_figures_by_the_command_line(tmp_path, result, adelic):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "one.json").write_bytes(result().sealed())
    options = ["report", "--results-dir", f"{tmp_path}/results", "--figures", f"{tmp_path}/figures"]
    done = adelic(*options, "--output", f"{tmp_path}/page.html")
    assert done.status == 0, done.out
    written = {path.name for path in (tmp_path / "figures").iterdir()}
    assert written
    assert all(name in done.out for name in written)
    done = adelic(*options, "--markdown")
    assert done.status == 2
    assert "--figures writes files, --markdown none" in done.err


def test_no_runs(tmp_path):
    write_report([], tmp_path / "report.html", all_rows=True)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert len(page.cells_of("all-runs")) == 26 * len(RUN_COLUMNS)
    assert "svg" not in page.tags
    text = " ".join("".join(page.texts).split())
    assert "No dataset with one class per example was run" in text


@pytest.mark.long
@pytest.mark.usefixtures("undrawn")
def test_a_report_needs_the_result_files_alone(results, tmp_path, monkeypatch):
    """No data is built or read: not for class names, nor for lengths."""

    def refuse(*given, **options):
        raise AssertionError("the report loads data")

    monkeypatch.setattr("adelic.data.sources.load", refuse)
    monkeypatch.setattr("adelic.data.dataset.load", refuse)
    monkeypatch.setenv("ADELIC_CACHE", str(tmp_path / "nothing"))
    write_report(results, tmp_path / "report.html", all_rows=True)
    assert figures(results)
    assert single_runs(results).rows
    assert not (tmp_path / "nothing").exists()
