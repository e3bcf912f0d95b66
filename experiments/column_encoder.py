"""Measure the seconds and the memory of `AdelicEncoder.transform` on a table of ten columns.

    python experiments/column_encoder.py

The seconds are those of the process's own clock, on one core. The memory is the peak of what NumPy and Python allocate
while `transform` runs, its result included and its input not, as tracemalloc counts it in a run apart. The target is a
million rows in under 20 seconds and 1 GB.
"""

import time
import tracemalloc
from pathlib import Path

import common
import numpy as np

from adelic.integrations.sklearn import AdelicEncoder

COLUMNS = 10
SECONDS, BYTES = 20.0, 10**9


def main(*, rows: common.Positive = 10**6, output: Path | None = None) -> bool:
    """Measure, print, write the results; exit code 1 if a target is missed.

    Args:
        rows: of the table.
        output: file of the results.
    """
    common.use_one_core()
    integers = np.random.default_rng(0).integers(0, 10**9, (rows, COLUMNS))
    days = (integers % 20_000).astype("datetime64[D]")
    tables = {
        "integers": (integers, {}),
        "integers stored as floats": (integers.astype(np.float64), {}),
        "integers, with decimal digits": (integers, {"bases": (10,)}),
        "prices": (integers % 10**6 / 100, {}),
        "dates, with parts": (days, {"calendar": True}),
    }
    results = {}
    for name in common.each(tables):
        table, options = tables[name]
        encoder = AdelicEncoder(**options).fit(table[:1000])
        encoder.transform(table[:1000])  # compiles
        start = time.process_time()
        features = encoder.transform(table)
        seconds = time.process_time() - start
        size, width = features.nbytes, features.shape[1]
        del features
        tracemalloc.start()
        encoder.transform(table)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        common.say(
            f"{name}: {width} features, {seconds:.1f} s, {peak / 1e6:.0f} MB of which {size / 1e6:.0f} the result"
        )
        results[name] = {"features": width, "seconds": seconds, "peak_bytes": peak, "result_bytes": size}
    met = all(one["seconds"] < SECONDS and one["peak_bytes"] < BYTES for one in results.values())
    targets = {"seconds": SECONDS, "bytes": BYTES, "met": met}
    common.write(
        "column_encoder.json",
        ("numpy", "numba", "scikit-learn"),
        {"rows": rows, "columns": COLUMNS, "tables": results, "target": targets},
        output,
    )
    return met


if __name__ == "__main__":
    common.run(main)
