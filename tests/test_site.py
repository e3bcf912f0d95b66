"""The site of the documentation: it builds without a warning, needs no network, and names whatever is public."""

import doctest
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest

import adelic

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.long  # the site is built, once
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


def load(name):
    """Import a script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site, built as `make docs` builds it."""
    for module in ("mkdocs", "material", "mkdocstrings_handlers.python"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


class Page(HTMLParser):
    """What a page links to, what it fetches by itself, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.links, self.fetched, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.add(values.get("id"))
        if "src" in values:
            self.fetched.append(values["src"])
        if "href" in values:
            (self.fetched if tag == "link" else self.links).append(values["href"])


@pytest.fixture(scope="module")
def pages(site):
    """Return every page by its path in the site."""
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_there(site):
    written = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    own = {path for path in written if path.name != "table.html"}  # those are what commands write
    elsewhere = {Path(page).with_suffix(".html") for page in load("hooks").PAGES.values()}
    assert own | elsewhere <= {p.relative_to(site) for p in site.rglob("*.html")}


def test_notebooks_are_rendered(site):
    page = (site / "notebooks" / "numbers.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/png;base64,') == 3
    assert 'class="highlight"' in page


def test_nothing_is_fetched_from_elsewhere(site, pages):
    assert sum(len(page.fetched) for page in pages.values()) > 100
    for path, page in pages.items():
        for address in page.fetched:
            assert not urlsplit(address).netloc, (path, address)
    for sheet in site.rglob("*.css"):
        for address in re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')]+)", sheet.read_text(encoding="utf-8")):
            assert address.startswith(("data:", "#")) or not urlsplit(address).netloc, (sheet, address)


def test_every_link_leads_somewhere(pages):
    """Those of the reference and of HTML too, which a strict build does not look at."""
    checked = 0
    for path, page in pages.items():
        if path.name == "404.html":  # its addresses are those of a server
            continue
        for link in page.links + page.fetched:
            address = urlsplit(link)
            if address.scheme or link.startswith("data:"):
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            assert target.exists(), (path.name, link)
            if address.fragment and target.suffix == ".html":
                assert unquote(address.fragment) in pages[target].anchors, (path.name, link)
            checked += 1
    assert checked > 1000


def public_modules():
    """Yield the modules that users import, not those of commands; an integration is one that says what it offers."""
    yield "adelic"
    for module in pkgutil.iter_modules(adelic.__path__, "adelic."):
        if module.name.partition(".")[2] not in ("__main__", "cli", "integrations", "training", "benchmark"):
            yield module.name
    yield "adelic.nn.functional"
    yield "adelic_lab"
    yield "adelic_lab.report.arithmetic"
    yield "adelic_lab.plans"
    yield "adelic_lab.models.solvers"
    from adelic import integrations

    for module in pkgutil.iter_modules(integrations.__path__, "adelic.integrations."):
        if "__all__" in Path(importlib.util.find_spec(module.name).origin).read_text(encoding="utf-8"):
            yield module.name


@pytest.mark.parametrize("module", list(public_modules()))
def test_every_public_name_is_in_the_reference(module, pages):
    here = importlib.import_module(module)
    own = [name for name, thing in vars(here).items() if getattr(thing, "__module__", "") == module and name[0] != "_"]
    things = {name: getattr(here, name) for name in getattr(here, "__all__", own)}  # imports what is loaded late
    anchors = set().union(*(page.anchors for path, page in pages.items() if path.parent.name == "reference"))
    # One name may be public in two places, and is then described in one of them.
    described = {id(found) for anchor in anchors if anchor and (found := resolve(anchor)) is not None}
    for name, thing in things.items():
        if not inspect.ismodule(thing):
            assert f"{module}.{name}" in anchors or id(thing) in described, f"{module}.{name}"
        elif thing.__name__.startswith("adelic.acd."):
            for key, value in vars(thing).items():
                if inspect.isroutine(value) and value.__module__ == thing.__name__ and not key.startswith("_"):
                    assert f"{thing.__name__}.{key}" in anchors


def resolve(anchor):
    """Return what an anchor of the reference describes; None where it is not a name."""
    module, _, name = anchor.rpartition(".")
    return getattr(sys.modules.get(module), name, None)


@pytest.mark.skipif(BROWSER is None, reason="neither chromium nor google-chrome is installed")
def test_the_search_works_in_a_site_that_was_opened_as_a_file(site, tmp_path):
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    address = f"{(site / 'index.html').as_uri()}?q=Hensel"
    done = subprocess.run(
        [BROWSER, *flags, f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000", "--dump-dom", address],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert re.search(r'md-search-result__meta">\d+ matching documents', done.stdout)
    assert "mathematics.html?h=hensel#digits" in done.stdout


def test_the_docstrings_become_markdown():
    pytest.importorskip("griffe")
    module = load("docstrings")
    assert doctest.testmod(module).failed == 0
    assert doctest.testmod(module).attempted > 2


def test_links_that_leave_the_pages_are_named_and_checked(caplog):
    pytest.importorskip("mkdocs")
    hooks = load("hooks")
    page = PurePosixPath("docs/numbers.md")
    assert hooks._in_site(page, "results", "../experiments/results") == "`experiments/results`"
    assert hooks._in_site(page, "measured", "../experiments/results") == "measured (`experiments/results`)"
    assert hooks._in_site(PurePosixPath("README.md"), "a", "docs/audit.md#b") == "[a](audit.md#b)"
    assert hooks._in_site(page, "home", "../README.md") == "[home](readme.md)"
    assert hooks._in_site(page, "changes", "../CHANGELOG.md") == "[changes](changelog.md)"
    assert hooks._in_site(page, "licence", "../LICENSE") == "[licence](licence.md)"
    assert hooks._in_site(page, "a notebook", "../examples/numbers.ipynb") == "[a notebook](notebooks/numbers.md)"
    assert not caplog.records
    hooks._in_site(page, "nothing", "../experiments/nothing")
    assert "../experiments/nothing, which does not exist" in caplog.text
