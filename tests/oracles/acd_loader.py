"""What the loader of the dataset's authors makes of our exports; writes acd_loader.json beside this file.

    python tests/oracles/acd_loader.py CHECKOUT     # of github.com/pnnl/ML4AlgComb

Exports every task at a small size, runs the checkout's get_dataset on the folder, and writes for each task the
SHA-256 of the files, and of the rows that the loader returned, inputs and labels, sorted.
"""

import contextlib
import hashlib
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from adelic import acd
from adelic.acd.authors_layout import LAYOUTS

SIZES = {
    "mheight": 8, "weaving": 6, "lattice": 10, "schubert": 4, "quiver": 11, "grassmannian": 12, "characters": 18,
    "kl": 5, "rsk": 8,
}  # fmt: skip


def main() -> None:
    """Write the file."""
    checkout = Path(sys.argv[1])
    sys.path.insert(0, str(checkout))
    from load_datasets import get_dataset

    commit = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    tasks = {}
    with tempfile.TemporaryDirectory() as folder:
        for task, n in SIZES.items():
            *paths, _ = acd.export(acd.load(task, n=n), folder, format="acd")
            with contextlib.redirect_stdout(io.StringIO()):
                X_train, y_train, X_test, y_test, *sizes = get_dataset(LAYOUTS[task].name, n, folder + "/")
            tasks[task] = {
                "n": n,
                "files": {str(path.relative_to(folder)): sha256(path.read_bytes()) for path in paths},
                "train": {"rows": len(X_train), "sha256": sorted_rows(X_train, y_train)},
                "test": {"rows": len(X_test), "sha256": sorted_rows(X_test, y_test)},
                "input_size, output_size, num_tokens": [int(size) for size in sizes],
            }
    about = {"made_by": "tests/oracles/acd_loader.py", "loader": "github.com/pnnl/ML4AlgComb", "commit": commit}
    Path(__file__).with_suffix(".json").write_text(json.dumps(about | {"tasks": tasks}, indent=1) + "\n")


def sorted_rows(X: np.ndarray, y: np.ndarray) -> str:
    """Return the SHA-256 of the rows, targets behind inputs, as sorted int64."""
    rows = np.column_stack([X, y]).astype(np.int64)
    return sha256(np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])]).tobytes())


def sha256(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
