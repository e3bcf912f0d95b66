"""Docstrings are plain text with doctests; this makes Markdown of them for the site's reference.

Doctests become code blocks, lists get the blank line that Markdown wants, and stars, as in the shape (*, length), stay
stars.
"""

import re
from typing import Any

import griffe


class PlainDocstrings(griffe.Extension):
    """Rewrites every docstring of the package as it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, a class, a function or an attribute."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Rewrite the docstring of the package, which is not an object in a package."""
        self.on_object(obj=pkg)


def to_markdown(docstring: str) -> str:
    r"""Return a docstring as Markdown.

    >>> to_markdown("Return sums.\n\n>>> add(1, 2)\n3").splitlines()
    ['Return sums.', '', '```pycon', '>>> add(1, 2)', '3', '```']
    >>> print(to_markdown("Shape: (*, length). `a ** b` is a power."))
    Shape: (\*, length). `a ** b` is a power.
    >>> to_markdown("Parts:\n- one\n- two").splitlines()
    ['Parts:', '', '- one', '- two']
    >>> to_markdown("Return them.\n# NOTE[paper]: it has\n# none.").splitlines()
    ['Return them.', 'Note on the paper: it has', 'none.']
    """
    return "\n\n".join(_paragraph(text) for text in re.split(r"\n[ \t]*\n", docstring.strip("\n")))


def _paragraph(text: str) -> str:
    indent = re.match(" *", text)[0]  # type: ignore[index]
    if text.startswith(f"{indent}>>>"):
        return f"{indent}```pycon\n{text}\n{indent}```"
    if len(indent) >= 4:  # a formula, which Markdown takes for code
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("- ") and lines and not lines[-1].startswith(("- ", "  ")):
            lines.append("")
        if line.lstrip().startswith(">>>") and "" not in lines[-1:]:
            return "\n".join([*lines, "", _paragraph(text[text.index(line) :])])
        # Several names at once: griffe ends a name at a space that may break.
        line = re.sub(r"^ {4,}\w+(?:, \w+)+:", lambda names: names[0].replace(", ", ",\N{NO-BREAK SPACE}"), line)
        line = re.sub(r"# NOTE\[(\w+)\]:", r"Note on the \1:", line)
        parts = re.sub(r"^( *)# ", r"\1", line).split("`")  # a comment is not a heading
        parts[::2] = [_prose(part) for part in parts[::2]]
        lines.append("`".join(parts))
    return "\n".join(lines)


def _prose(text: str) -> str:
    r"""Return text outside code, with powers raised.

    >>> _prose("(*, length), p^k < p^(-F), x^code(w)")
    '(\\*, length), p<sup>k</sup> &lt; p<sup>-F</sup>, x<sup>code(w)</sup>'
    """
    escaped = text.replace("*", r"\*").replace("<", "&lt;")
    raised = r"<sup>\1\2</sup>"
    return re.sub(r"(?<=[\w)])\^(?:\(([^()]*)\)|(-?\w+(?:\([^()]*\))?))", raised, escaped)
