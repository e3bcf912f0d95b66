from dataclasses import replace

import pytest

from adelic_lab import summarise
from adelic_lab.report.comparison import comparisons
from adelic_lab.report.contrasts import changes_table, contrast_text, contrasts_table, differences_table
from adelic_lab.report.significance import declared_contrast, discordance, exploratory_differences
from adelic_lab.report.table import Table, p_text, to_markdown


@pytest.fixture
def runs(result):
    """Return runs of AOE, learned vectors and two rivals, of as many seeds."""

    def make(row="schubert-4", seeds=3, **changes):
        accuracies = {"adelic": 0.96, "learned": 0.90, "fone": 0.93, "xval": 0.80}
        return [
            result(row, name, seed=s, accuracy=accuracy + (-1) ** s * len(name) / 2000, lookup=0.5, **changes)
            for s in range(seeds)
            for name, accuracy in accuracies.items()
        ]

    return make


def test_the_declared_contrast_of_each_row(runs):
    found = comparisons(summarise([*runs(), *runs("weaving-6", seeds=2), *runs("mheight-8", seeds=1)]))
    table = contrasts_table(found)
    weaving, schubert, mheight = (dict(zip(table.columns, line, strict=True)) for line in table.rows)
    assert schubert["row, recipe"] == "schubert-4 (published), quick"
    contrast = declared_contrast(next(c for c in found if c.row == "schubert-4"))
    assert schubert["AOE − learned"].startswith("+5.98 (+5.")
    assert schubert["p, corrected"] == "< 0.001"
    assert contrast.difference.p < 0.0005
    assert (schubert["look-up"], schubert["seeds"]) == ("50.00", "3")
    assert schubert["AOE"].endswith(" (digits)")
    assert (weaving["p, corrected"], mheight["p, corrected"]) == ("–", "–")
    assert weaving["AOE − learned"] == "+6.00 (+5.95 to +6.05)"
    assert mheight["AOE − learned"] == "+5.95"
    assert contrast_text(contrast).endswith(", p < 0.001)")
    assert contrast_text(None) == "–"


def test_the_contrasts_of_a_table_are_corrected_together(runs):
    """Three of one p in one table: Holm's first is three times as large, and so are all that follow."""
    names = ("schubert-4", "mheight-8", "weaving-6")
    alone = declared_contrast(comparisons(summarise(runs()))[0]).difference
    table = contrasts_table(comparisons(summarise([run for name in names for run in runs(name)])))
    lines = [dict(zip(table.columns, line, strict=True)) for line in table.rows]
    assert {line["p, corrected"] for line in lines} == {p_text(3 * alone.p)}


def test_the_rows_of_the_contrast(real_results, result):
    """McNemar's test and the bootstrap over rows stand beside, where results keep predictions."""
    runs = [result(embedding=name, seed=s) for name in real_results for s in range(2)]
    (part,) = comparisons(summarise(runs))
    contrast = declared_contrast(part)
    expected = discordance(part.models[contrast.aoe], part.models["learned"])
    assert contrast.rows == expected
    line = dict(zip(contrasts_table([part]).columns, contrasts_table([part]).rows[0], strict=True))
    assert line["rows: AOE / learned alone"] == f"{sum(expected.first)} / {sum(expected.second)}"
    assert line["interval over rows"].count(" to ") == 1
    (part,) = comparisons(summarise([replace(run, predictions=None) for run in runs]))
    line = dict(zip(contrasts_table([part]).columns, contrasts_table([part]).rows[0], strict=True))
    assert (line["rows: AOE / learned alone"], line["p, McNemar"], line["interval over rows"]) == ("–", "–", "–")


def test_contaminated_data_and_a_row_without_learned_vectors_have_no_contrast(runs, result):
    parts = comparisons(summarise([*runs("weaving-6", contaminated=True), result("schubert-4")]))
    assert contrasts_table(parts).rows == ()
    assert contrasts_table(parts).to_markdown() == "## Declared contrast: AOE − learned\n\nnot run\n"
    assert differences_table(parts[0]).rows == ()


def test_exploratory_differences(runs):
    (part,) = comparisons(summarise(runs()))
    table = differences_table(part)
    assert table.columns == ("AOE (digits) −", "difference", "95 % interval", "seeds", "p, corrected")
    rows = {line[0]: line for line in table.rows}
    assert set(rows) == {"fone", "xval"}  # learned vectors are the declared contrast
    found = exploratory_differences(part)
    assert rows["xval"][1] == "+16.03"
    assert rows["xval"][4] == "< 0.001"
    assert found["AOE (digits)", "xval"].adjusted < 0.0005
    assert "p over 4 pairs. The declared contrast is AOE (digits) − learned." in table.notes[0]
    assert "fone above xval (+13.00)" not in table.notes[0]  # the same for each seed: nothing to test
    assert "fone above learned" in table.notes[0]


def test_a_better_rival_is_a_negative_difference(result):
    runs = [
        result(embedding=name, seed=s, accuracy=accuracy + s * s * slope)
        for s in range(3)
        for name, accuracy, slope in (("adelic", 0.8, 0.001), ("fone", 0.9, 0.002))
    ]
    (part,) = comparisons(summarise(runs))
    ((name, difference, interval, seeds, p),) = differences_table(part).rows
    assert (name, difference, seeds) == ("fone", "−10.17", "3")
    low, high = (float(end.replace("−", "-")) for end in interval.split(" to "))
    assert low < -10.17 < high
    assert 0 < float(p.removeprefix("< ")) < 0.05


def test_without_aoe_the_best_model_is_compared(result):
    runs = [
        result(embedding=name, seed=s, accuracy=0.9 + s * len(name) / 1000, validation={"accuracy": kept, "loss": 0.5})
        for name, kept in (("fone", 0.8), ("learned", 0.9))
        for s in range(3)
    ]
    (part,) = comparisons(summarise(runs))
    assert differences_table(part).columns[0] == "learned −"


def test_where_every_seed_has_the_same_difference_there_is_no_interval(result):
    """Three seeds that differ by the same rows: no interval of width 0, which would be a certainty."""
    accuracies = {"adelic": 0.75, "learned": 0.5, "fone": 0.625}
    runs = [
        result(embedding=name, seed=s, accuracy=accuracy + s / 8)
        for name, accuracy in accuracies.items()
        for s in range(3)
    ]
    (part,) = comparisons(summarise(runs))
    declared, exploratory = contrasts_table([part]), differences_table(part)
    assert declared.rows[0][4:7] == ("+25.00 (each seed)", "–", "3")
    assert contrast_text(declared_contrast(part)) == "+25.00 (each seed)"
    assert exploratory.rows == (("fone", "+12.50", "each seed", "3", "–"),)
    assert all("Their spread is 0" in table.notes[-1] for table in (declared, exploratory))
    runs[0].test["accuracy"] += 0.01
    (part,) = comparisons(summarise(runs))
    assert not any(
        "spread" in note for table in (contrasts_table([part]), differences_table(part)) for note in table.notes
    )


def test_a_note_of_several_tables_stands_once():
    tables = [Table(("row", "x"), (("a †", "1"),), ("shared", title), title) for title in ("one", "two")]
    text = to_markdown([*tables, Table(("row", "x"), (), (), "three")])
    assert text.count("shared") == text.count("† with") == 1
    assert text.index("## two") < text.index("shared") < text.index("## three")
    assert text.endswith("## three\n\nnot run\n")


def test_one_change_at_a_time(result):
    """The base is what most others of its embedding are one setting away from; two settings away is not a line."""

    def runs(accuracy, *, seeds=range(3), **changes):
        return [result(seed=s, accuracy=accuracy + 0.001 * s * s, **changes) for s in seeds]

    models = [
        *runs(0.95),
        *runs(0.90, model={"coordinates": "real"}),
        *runs(0.96, recipe={"pooling": "tokens"}),
        *runs(0.80, model={"coordinates": "real"}, recipe={"pooling": "tokens"}),
        *runs(0.85, embedding="learned", seeds=[0]),
        *runs(0.70, model={"precision": 3}, seeds=[7]),
    ]
    (part,) = comparisons(summarise(models))
    table = changes_table(part)
    assert [(line[0], line[2], line[4]) for line in table.rows] == [
        ("none: AOE (digits)", "–", "3"),
        ("pooling=tokens", "+1.00", "3"),
        ("coordinates=real", "−5.00", "3"),
        ("learned", "−10.00", "1"),
    ]  # the last model has no seed in common
    assert table.rows[1][3] == "each seed"
    assert changes_table(comparisons(summarise(runs(0.9)))[0]).rows == ()
