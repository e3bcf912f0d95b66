"""Rows beyond memory: batches of an encoder and of a run, in Ray Data and in polars' streaming, as the page has it."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import adelic_lab
from adelic.integrations.sklearn import AdelicEncoder

ROOT = Path(__file__).parent.parent.parent


def test_polars_streaming_encodes_as_the_encoder_does():
    frame = pl.DataFrame({"day": range(1000)})
    encoder = AdelicEncoder(bases=(10,)).fit(frame)
    names = list(encoder.get_feature_names_out())
    found = (
        frame.lazy()
        .map_batches(
            lambda batch: pl.DataFrame(encoder.transform(batch), schema=names),
            schema=dict.fromkeys(names, pl.Float32),
            streamable=True,
        )
        .collect(engine="streaming")
    )
    np.testing.assert_array_equal(found.to_numpy(), encoder.transform(frame))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what Ray says of itself
def test_the_page_on_a_local_ray(works, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    works("train", "examples/days.csv", "--target", "weekday", "--epochs", "1", "--no-trees", "--run-dir", "runs/days")
    (code,) = re.findall(
        r"(?m)^```py\n(.*?)^```$", (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8"), re.DOTALL
    )
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        exec(code, {"ray": ray, "pl": pl, "pd": pd, "np": np, "adelic_lab": adelic_lab, "AdelicEncoder": AdelicEncoder})
    finally:
        ray.shutdown()
    days = pd.read_csv("examples/days.csv")
    predicted = pd.read_parquet("predicted").sort_values("day")
    assert predicted["prediction"].tolist() == [*adelic_lab.predict("runs/days", days.sort_values("day")).answers]
    encoder = AdelicEncoder(bases=(10,)).fit(pd.DataFrame({"day": [0, 19000]}))
    expected = np.sort(encoder.transform(days[["day"]]), axis=0)
    for path in ("features", "features.parquet"):
        np.testing.assert_array_equal(np.sort(pd.read_parquet(path).to_numpy(), axis=0), expected)
