"""A study as a figure."""

import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from adelic_lab.config.options import Setting
from adelic_lab.search.tuning import TrialResult, plot_trials

DIMENSIONS = {
    "learning-rate": Setting(name="learning_rate", bounds=(1e-5, 1e-2)),
    "norm": Setting(name="norm", tried=("post", "pre")),
}
PRUNED = "fill: #cccccc"


@pytest.fixture
def draw(tmp_path):
    """Return the text of the picture of a study with these accuracies, and perhaps a pruned one."""

    def make(*accuracies, pruned=None, dimensions=DIMENSIONS):
        values = {"learning-rate": 1e-3, "norm": "post"}, {"learning-rate": 5e-3, "norm": "pre"}
        states = ["pruned" if accuracy == pruned else "complete" for accuracy in accuracies]
        told = [
            TrialResult(number=i, state=state, accuracy=accuracy, values={k: values[i % 2][k] for k in dimensions})
            for i, (accuracy, state) in enumerate(zip(accuracies, states, strict=True))
        ]
        with mpl.rc_context({"svg.fonttype": "none"}):
            plot_trials(dimensions, told, tmp_path / "study.svg")
        return (tmp_path / "study.svg").read_text(encoding="utf-8")

    return make


def test_each_dimension_has_a_panel_and_pruned_trials_are_grey(draw):
    before = dict(mpl.rcParams)
    picture = draw(0.5, 0.75, 0.25, pruned=0.25)
    texts = {element.text for element in ET.fromstring(picture).iter() if element.tag.endswith("text")}
    assert {"learning-rate", "norm", "'post'", "'pre'", "validation accuracy (%)"} <= texts
    assert PRUNED in picture
    assert PRUNED not in draw(0.5, 0.75)
    assert dict(mpl.rcParams) == before  # the settings of other figures stay
    assert pyplot.get_fignums() == []
