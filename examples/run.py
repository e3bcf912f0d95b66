"""Run notebooks and write what they printed and drew: `python examples/run.py examples/*.ipynb`.

As `jupyter execute --inplace`, but nothing is written that differs from one run to the next: no times, no version of
Python. So a notebook's file changes where its outputs do.
"""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def run(path: Path, **options: Any) -> nbformat.NotebookNode:
    """Return a notebook with the outputs of its cells, run in a process of its own.

    Args:
        path: of the notebook.
        options: of `NotebookClient`.
    """
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook, timeout=300, record_timing=False, coalesce_streams=True, resources=resources, **options
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nbformat.write(run(Path(name)), name)
