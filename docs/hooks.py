"""What the site needs beside mkdocs.yml: pages from the repository's root, notebooks, and links that leave docs/.

Pages link as a code host reads them: relative to their own file. A notebook is rendered. Any other file outside docs/
that a page links to is copied into the site; a folder is named by its path. A link to a file that does not exist is a
warning, hence an error of the strict build.
"""

import json
import logging
import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
DOCS = PurePosixPath("docs")
PAGES = {  # in the repository: in the site
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "licence.md",
    **{f"examples/{path.name}": f"notebooks/{path.stem}.md" for path in sorted((ROOT / "examples").glob("*.ipynb"))},
}
FENCED = re.compile(r"(^```.*?^```$)", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")

log = logging.getLogger("mkdocs.hooks.adelic")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are written outside docs/, and the other files there that pages link to."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=_rendered(ROOT / source)))
    for file in list(files.documentation_pages()):
        for _, target in LINK.findall(file.content_string):
            path = _path(source_of(file), target)
            if path is not None and _is_copied(path):
                files.append(File.generated(config, _copy(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn the links of a page into links of the site."""
    source = source_of(page.file)
    parts = FENCED.split(markdown)
    parts[1::2] = [re.sub(r"^```python\n(?=>>>)", "```pycon\n", part) for part in parts[1::2]]  # colours of a console
    parts[::2] = [LINK.sub(lambda link: _in_site(source, *link.groups()), part) for part in parts[::2]]
    return "".join(parts)


def source_of(file: File) -> PurePosixPath:
    """Return where in the repository a page of the site is written."""
    elsewhere = {page: source for source, page in PAGES.items()}
    return PurePosixPath(elsewhere.get(file.src_uri, str(DOCS / file.src_uri)))


def _rendered(path: Path) -> str:
    """Return a file outside docs/ as Markdown: of a notebook what each cell says, prints and shows."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    if path.suffix != ".ipynb":  # the licence
        return f"# Licence\n\n```text\n{text.strip()}\n```\n"
    parts: list[str] = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            if "text" in output:
                parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            elif picture := output["data"].get("image/png"):
                parts.append(f"![What the cell shows](data:image/png;base64,{''.join(picture).replace(chr(10), '')})")
    return "\n\n".join([*parts, f"*This page is the notebook `{path.relative_to(ROOT).as_posix()}`.*\n"])


def _path(source: PurePosixPath, target: str) -> PurePosixPath | None:
    """Return what a link of a page points to, from the repository's root; None for addresses and anchors."""
    name = target.partition("#")[0]
    if not name or re.match(r"[a-z]+:", name):
        return None
    return PurePosixPath(os.path.normpath(source.parent / name))


def _is_copied(path: PurePosixPath) -> bool:
    """Return whether the site has a copy of a file outside docs/."""
    return not path.is_relative_to(DOCS) and str(path) not in PAGES and (ROOT / path).is_file()


def _copy(path: PurePosixPath) -> str:
    """Return where in the site a file outside docs/ is; as text where its name does not say what it is."""
    return f"assets/{path}" + ("" if path.suffix in {".json", ".png", ".svg"} else ".txt")


def _in_site(source: PurePosixPath, text: str, target: str) -> str:
    """Return a link as the site has it."""
    path = _path(source, target)
    if path is None:
        return f"[{text}]({target})"
    if not (ROOT / path).exists():
        log.warning("%s links to %s, which does not exist", source, target)
    if str(path) in PAGES:
        path = DOCS / PAGES[str(path)]
    elif _is_copied(path):
        path = DOCS / _copy(path)
    elif not path.is_relative_to(DOCS) or path.suffix not in {".md", ".svg"}:
        return f"`{path}`" if str(path).endswith(text.rstrip("/")) else f"{text} (`{path}`)"
    home = (DOCS / PAGES[str(source)]).parent if str(source) in PAGES else source.parent
    anchor = target[len(target.partition("#")[0]) :]
    return f"[{text}]({os.path.relpath(path, home)}{anchor})"
