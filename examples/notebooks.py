"""Run the notebooks of this folder, each in a fresh process, and write what their cells print and draw into them.

    python examples/notebooks.py                          # all of them: a minute or two on one core (make notebooks)
    python examples/notebooks.py conics.ipynb --check     # run one, and write nothing

A cell's output is what it prints, the value of its last line (unless a semicolon ends it), and the figures that are
open at its end, as in Jupyter.
Cells are plain Python, so that no kernel has to be installed to run them here.
"""

import argparse
import ast
import base64
import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
Cell = dict[str, Any]


def main() -> None:
    """Run notebooks; or, as the fresh process, cells that come on standard input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of the folder by default")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--cells", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cells:
        sys.stdout.write(json.dumps(shown(json.load(sys.stdin))))
        return
    for path in given.notebooks or sorted(HERE.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        run(notebook)
        if not given.check:
            path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def run(notebook: Cell) -> None:
    """Put into the code cells of a notebook what they print and draw now.

    Raises:
        CalledProcessError: a cell raised an error, which standard error shows.
    """
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    done = subprocess.run(
        [sys.executable, __file__, "--cells"],
        input=json.dumps(["".join(cell["source"]) for cell in cells]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=HERE,
    )
    for count, (cell, outputs) in enumerate(zip(cells, json.loads(done.stdout), strict=True), start=1):
        cell["execution_count"] = count
        cell["outputs"] = [
            output | ({"execution_count": count} if output["output_type"] == "execute_result" else {})
            for output in outputs
        ]


def shown(sources: list[str]) -> list[list[Cell]]:
    """Run the cells in one name space, one after the other; return the outputs of each."""
    import matplotlib as mpl

    mpl.use("Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    return [outputs_of(source, names) for source in sources]


def outputs_of(source: str, names: dict[str, Any]) -> list[Cell]:
    """Run a cell and return its outputs as a notebook has them."""
    from matplotlib import pyplot

    parts = ast.parse(source)
    last = parts.body.pop() if parts.body and isinstance(parts.body[-1], ast.Expr) else None
    printed, outputs, value = io.StringIO(), [], None
    with contextlib.redirect_stdout(printed):
        exec(compile(parts, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        outputs.append({"output_type": "execute_result", "metadata": {}, "data": {"text/plain": lines(repr(value))}})
    for number in pyplot.get_fignums():
        content = io.BytesIO()
        pyplot.figure(number).savefig(content, format="png", dpi=90, bbox_inches="tight", metadata={"Software": None})
        data = {"image/png": base64.b64encode(content.getvalue()).decode(), "text/plain": ["<Figure>"]}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    pyplot.close("all")
    return outputs


def lines(text: str) -> list[str]:
    r"""Return a text as notebooks have it.

    >>> lines("a\nb")
    ['a\n', 'b']
    """
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    main()
