"""What the committed runs answered is counted again, by questions that are drawn again."""

from pathlib import Path

import pytest

from adelic_lab import read_results
from adelic_lab.plans import read_plan
from adelic_lab.results.recounting import asked_again

QUICK = 100_000  # examples that are drawn in a second
LONG = 1_000_000
SEEDS = {"number-theory": 0, "columns": 1}  # older runs of columns with seed 0 kept no answers
RUNS = [
    run
    for folder, seed in SEEDS.items()
    for run in read_results(Path("experiments/results") / folder)
    if run.wrong and run.seed == seed
]


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(
            run,
            marks=[] if run.n <= QUICK else [pytest.mark.long if run.n <= LONG else pytest.mark.slow],
            id=f"{run.row} {run.embedding}",
        )
        for run in RUNS
    ],
)
def test_committed_figures_are_counted_again(run):
    found = asked_again(run)
    assert found.keys() == {"test", *run.never_seen}
    for split, (_, answers, given) in found.items():
        figures = run.figures(split)
        assert (answers == given).sum() == figures["correct"]
        assert len(answers) == figures["cases"]
        assert figures["accuracy"] == figures["correct"] / figures["cases"]


@pytest.mark.parametrize("benchmark", SEEDS)
def test_every_table_has_a_line_without_a_network(benchmark):
    whole = read_plan("full", benchmark)
    without = {one.heading for one in whole if one.label.startswith("same inputs, no network")}
    assert without == {one.heading for one in whole}
