"""Recount the adjusted p of docs/results.md from the answers of single runs, with SciPy and statsmodels alone.

    python experiments/recount_p.py

Accuracies are counted from each run's answers; the variance of splits that overlap is that of Nadeau and Bengio
(Inference for the Generalization Error, 2003). What validation chose is taken from the report. The exit code is 1 if
a line of the page has another p.
"""

import re

import common
import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

from adelic_lab import read_results
from adelic_lab.report.frame import comparisons, on_most_rows, run_frame
from adelic_lab.report.statistics import declared_pair
from adelic_lab.report.tables import chosen_by_validation


def recounted() -> dict[str, float]:
    """Return p before any adjustment for each dataset and split with several seeds whose differences vary."""
    found = on_most_rows(comparisons(run_frame(read_results(common.RESULTS / "table"))))
    p_values = {}
    for title, chosen in chosen_by_validation(found).items():
        pair = chosen and declared_pair(chosen)
        if not pair:
            continue
        by_seed = [{run.seed: run for run in chosen.models.runs[name].run} for name in pair]
        seeds = sorted(by_seed[0].keys() & by_seed[1].keys())
        answers = [[runs[seed].answers() for seed in seeds] for runs in by_seed]
        right = [np.array([np.mean(labels == said) for labels, said in each]) for each in answers]
        differences = right[0] - right[1]
        if len(seeds) < 3 or np.ptp(differences) < 1e-10:
            continue
        t = stats.ttest_1samp(differences, 0).statistic
        tested = [labels.tobytes() for labels, _ in answers[0]]
        if len(set(tested)) > 1:  # each seed has a separate split
            rows = by_seed[0][seeds[0]].rows
            t *= np.sqrt(1 / len(seeds) / (1 / len(seeds) + rows["test"] / rows["train"]))
        p_values[title] = 2 * stats.t.sf(abs(t), len(seeds) - 1)
    return p_values


def main() -> bool:
    """Print the adjusted p of each line, and what the page says."""
    p_values = recounted()
    adjusted = multipletests(list(p_values.values()), method="holm")[1]
    found = {title: "1" if p >= 0.9995 else f"{p:.3f}" for title, p in zip(p_values, adjusted, strict=True)}
    lines = re.findall(r"^\| (.*) \|$", (common.DOCS / "results.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    head, *cells = (line.replace("`", "").split(" | ") for line in lines)
    on_page = {cell[0]: p for cell in cells if (p := cell[head.index("adjusted p")]) not in ("–", "---:")}
    for title in found | on_page:
        print(f"{title}: recounted {found.get(title)}, on the page {on_page.get(title)}")  # noqa: T201
    return found == on_page


if __name__ == "__main__":
    common.run(main)
