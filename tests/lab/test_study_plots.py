"""A study as a figure."""

import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from adelic_lab import Search, StudyResult
from adelic_lab.search.study_plots import write_plot
from adelic_lab.search.tuning import TrialResult

VALUES = [
    {"learning-rate": 1e-3, "norm": "post"},
    {"learning-rate": 5e-3, "norm": "pre"},
    {"learning-rate": 1e-4, "norm": "pre"},
]
PRUNED = "fill: #cccccc"


@pytest.fixture
def draw(tiny_config, tmp_path):
    """Return the text of the picture of a study with these trials, accuracy and state each."""

    def make(*trials, dimensions=("learning-rate", "norm")):
        plain = {"loss": 0.5, "epochs": 1, "samples": 62, "seconds": 1.0, "reason": ""}
        results = tuple(
            TrialResult(
                number=i,
                state=state,
                accuracy=accuracy,
                values={name: VALUES[i][name.partition("=")[0]] for name in dimensions},
                **plain,
            )
            for i, (accuracy, state) in enumerate(trials)
        )
        study = StudyResult(
            search=Search(config=tiny_config(), dimensions=dimensions),
            trials=results,
            n_failed=0,
            device="cpu",
            data_sha256=None,
        )
        with mpl.rc_context({"svg.fonttype": "none"}):
            write_plot(study, tmp_path / "study.svg")
        return (tmp_path / "study.svg").read_text(encoding="utf-8")

    return make


def test_each_dimension_has_a_panel_and_pruned_trials_are_grey(draw):
    picture = draw((0.5, "complete"), (0.75, "complete"), (0.25, "pruned"))
    texts = {element.text for element in ET.fromstring(picture).iter() if element.tag.endswith("text")}
    assert {"learning-rate", "norm", "'post'", "'pre'", "validation accuracy (%)"} <= texts
    assert PRUNED in picture
    assert PRUNED not in draw((0.5, "complete"), (0.75, "complete"))


def test_a_trial_that_was_pruned_at_once_has_no_point(draw):
    assert PRUNED not in draw((0.5, "complete"), (0.75, "complete"), (None, "pruned"))


@pytest.mark.parametrize("dimensions", [("norm",), ("learning-rate", "norm")])
def test_one_trial_is_enough(draw, dimensions):
    assert "norm" in draw((0.5, "complete"), dimensions=dimensions)


def test_the_settings_of_other_figures_stay(draw):
    before = dict(mpl.rcParams)
    draw((0.5, "complete"), (0.75, "complete"))
    assert dict(mpl.rcParams) == before
    assert pyplot.get_fignums() == []
