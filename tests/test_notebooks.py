"""The notebooks of examples/: their cells run, and they are committed with what these printed and drew."""

import ast
import asyncio
import json
import re
import runpy
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
LARGEST = 300_000
run = runpy.run_path(str(ROOT / "examples" / "run.py"))["run"]
"""As `make notebooks` runs them."""


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def kinds(cell):
    """What sort of outputs a cell has."""
    return [(output["output_type"], sorted(output.get("data", ()))) for output in cell["outputs"]]


def test_a_page_leads_to_every_notebook():
    names = ["collatz", "column", "conics", "equip", "exact", "greatest-common-divisors", "numbers", "q7", "schubert"]
    assert [path.stem for path in NOTEBOOKS] == names
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert [name for name in names if f"examples/{name}.ipynb)" not in text] == []


@pytest.fixture
def forked_kernels(forked):
    """A class of managers whose kernels are forked from a process that has imported PyTorch."""

    class Provisioner(LocalProvisioner):
        async def launch_kernel(self, cmd, *, cwd, **options):
            _, flag, module, *arguments = cmd
            assert flag == "-m"
            program = "import runpy, sys\nsys.argv = argv\nrunpy.run_module(argv[0], run_name='__main__')"
            self.process = forked(program, Path(cwd), argv=[module, *arguments])
            self.pid = self.process.pid
            return self.connection_info

        async def wait(self):
            while self.process is not None and self.process.poll() is None:
                await asyncio.sleep(0.02)
            self.process = None

    class Manager(AsyncKernelManager):
        def __init__(self, **options):
            super().__init__(**options)
            self.provisioner = Provisioner(kernel_id="", kernel_spec=self.kernel_spec, parent=self)

    return Manager


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=() if p.stem == "numbers" else pytest.mark.long) for p in NOTEBOOKS]
)
def test_a_notebook_runs(path, forked_kernels):
    """In a process of its own, to the outputs that are committed, but for their figures."""
    # One is run just as `make notebooks` runs it; the others wait for fewer imports.
    options = {} if path.stem == "numbers" else {"kernel_manager_class": forked_kernels}
    committed, again = read(path), run(path, **options)
    assert again["metadata"] == committed["metadata"]
    for old, new in zip(committed["cells"], again["cells"], strict=True):
        assert "".join(old["source"]) == new["source"]
        if old["cell_type"] == "code":
            assert (kinds(old), old["execution_count"]) == (kinds(new), new["execution_count"])
            assert old["metadata"] == new["metadata"] == {}  # no times, which differ from one run to the next
    if path.stem == "equip":  # a language model learns to add with the numbers that it was given
        (right,) = re.findall(r"([\d.]+) % of the sums that it has not seen are right", json.dumps(again))
        assert float(right) > 75


def test_what_a_cell_prints_is_one_output_however_slowly_it_comes(tmp_path):
    cell = "import time\nprint('a', flush=True)\ntime.sleep(1)\nprint('b', flush=True)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbformat.write(notebook, tmp_path / "slow.ipynb")
    (again,) = run(tmp_path / "slow.ipynb")["cells"]
    assert [output["text"] for output in again["outputs"]] == ["a\nb\n"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_with_its_outputs(path):
    notebook = read(path)
    assert path.stat().st_size < LARGEST
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert any("image/png" in output.get("data", ()) for cell in code for output in cell["outputs"])
    assert not re.search("/home/|site-packages", path.read_text(encoding="utf-8"))
    for cell in code:
        ast.parse("".join(cell["source"]))  # no commands of a shell or of Jupyter: plain Python


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_a_notebook_lead_somewhere(path):
    texts = ["".join(cell["source"]) for cell in read(path)["cells"] if cell["cell_type"] == "markdown"]
    links = [link for text in texts for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert any(link.startswith("../docs/") for link in links)
    assert all(link.startswith("https://") or (path.parent / link.partition("#")[0]).exists() for link in links)
