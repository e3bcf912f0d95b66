import pytest

from adelic.benchmark import summarise
from adelic.benchmark.comparison import comparisons
from adelic.benchmark.contrasts import contrast_text, contrasts_grid, differences_grid
from adelic.benchmark.grid import Grid, to_markdown
from adelic.benchmark.significance import declared_contrast, discordance, exploratory_differences


@pytest.fixture
def runs(result):
    """Return runs of AOE, learned vectors and two rivals, of as many seeds."""

    def make(row="schubert-4", seeds=3, **changes):
        accuracies = {"adelic": 0.96, "learned": 0.90, "fone": 0.93, "xval": 0.80}
        return [
            result(row, name, seed=s, accuracy=accuracy + (-1) ** s * len(name) / 2000) | {"lookup": 0.5} | changes
            for s in range(seeds)
            for name, accuracy in accuracies.items()
        ]

    return make


def test_the_declared_contrast_of_each_row(runs):
    found = comparisons(summarise([*runs(), *runs("weaving-6", seeds=2), *runs("mheight-8", seeds=1)]))
    grid = contrasts_grid(found)
    weaving, schubert, mheight = (dict(zip(grid.headers, line, strict=True)) for line in grid.rows)
    assert schubert["row, recipe"] == "schubert-4, quick"
    contrast = declared_contrast(next(c for c in found if c.row == "schubert-4"))
    assert schubert["AOE − learned"].startswith("+5.98 (+5.")
    assert schubert["p"] == "< 0.001"
    assert contrast.difference.p < 0.0005
    assert (schubert["look-up"], schubert["seeds"]) == ("50.00", "3")
    assert schubert["AOE"].endswith(" (digits)")
    assert (weaving["p"], mheight["p"]) == ("–", "–")
    assert weaving["AOE − learned"] == "+6.00 (+5.95 to +6.05)"
    assert mheight["AOE − learned"] == "+5.95"
    assert contrast_text(contrast).endswith(", p < 0.001)")
    assert contrast_text(None) == "–"


def test_the_rows_of_the_contrast(real_results, result):
    """McNemar's test and the bootstrap over rows stand beside, where results keep predictions."""
    runs = [result(embedding=name, seed=s) for name in real_results for s in range(2)]
    (part,) = comparisons(summarise(runs))
    contrast = declared_contrast(part)
    expected = discordance(part.models[contrast.aoe], part.models["learned"])
    assert contrast.rows == expected
    line = dict(zip(contrasts_grid([part]).headers, contrasts_grid([part]).rows[0], strict=True))
    assert line["rows: AOE / learned alone"] == f"{sum(expected.first)} / {sum(expected.second)}"
    assert line["interval over rows"].count(" to ") == 1
    for run in runs:
        del run["predictions"]
    line = dict(zip(contrasts_grid([part]).headers, contrasts_grid([part]).rows[0], strict=True))
    assert (line["rows: AOE / learned alone"], line["p, McNemar"], line["interval over rows"]) == ("–", "–", "–")


def test_contaminated_data_and_a_row_without_learned_vectors_have_no_contrast(runs, result):
    parts = comparisons(summarise([*runs("weaving-6", contaminated=True), result("schubert-4")]))
    assert contrasts_grid(parts).rows == ()
    assert contrasts_grid(parts).to_markdown() == "## Declared contrast: AOE − learned\n\nnot run\n"
    assert differences_grid(parts[0]).rows == ()


def test_exploratory_differences(runs):
    (part,) = comparisons(summarise(runs()))
    grid = differences_grid(part)
    assert grid.headers == ("AOE (digits) −", "difference", "95 % interval", "seeds", "p, corrected")
    rows = {line[0]: line for line in grid.rows}
    assert set(rows) == {"fone", "xval"}  # learned vectors are the declared contrast
    found = exploratory_differences(part)
    assert rows["xval"][1] == "+16.03"
    assert rows["xval"][4] == "< 0.001"
    assert found["AOE (digits)", "xval"].adjusted < 0.0005
    assert "p over 4 pairs. The declared contrast is AOE (digits) − learned." in grid.notes[0]
    assert "fone above xval (+13.00)" not in grid.notes[0]  # the same for each seed: nothing to test
    assert "fone above learned" in grid.notes[0]


def test_a_better_rival_is_a_negative_difference(result):
    runs = [
        result(embedding=name, seed=s, accuracy=accuracy + s * s * slope)
        for s in range(3)
        for name, accuracy, slope in (("adelic", 0.8, 0.001), ("fone", 0.9, 0.002))
    ]
    (part,) = comparisons(summarise(runs))
    ((name, difference, interval, seeds, p),) = differences_grid(part).rows
    assert (name, difference, seeds) == ("fone", "−10.17", "3")
    low, high = (float(end.replace("−", "-")) for end in interval.split(" to "))
    assert low < -10.17 < high
    assert 0 < float(p.removeprefix("< ")) < 0.05


def test_without_aoe_the_best_model_is_compared(result):
    runs = [result(embedding=name, seed=s, accuracy=0.9 + s * len(name) / 1000) for name in ("fone", "learned")
            for s in range(3)]  # fmt: skip
    for run in runs:
        run["validation"] |= {"accuracy": 0.9 if run["embedding"] == "learned" else 0.8}
    (part,) = comparisons(summarise(runs))
    assert differences_grid(part).headers[0] == "learned −"


def test_a_note_of_several_tables_stands_once():
    grids = [Grid(title, ("row", "x"), (("a †", "1"),), ("shared", title)) for title in ("one", "two")]
    text = to_markdown([*grids, Grid("three", ("row", "x"), ())])
    assert text.count("shared") == text.count("† with") == 1
    assert text.index("## two") < text.index("shared") < text.index("## three")
    assert text.endswith("## three\n\nnot run\n")
