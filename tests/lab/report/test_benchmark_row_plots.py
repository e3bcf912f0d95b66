import re
from dataclasses import replace

import pytest

from adelic_lab import summarise
from adelic_lab.report.comparison import comparisons
from adelic_lab.report.plots import MARKERS, learning_curves, looks
from adelic_lab.report.report import row_sections
from adelic_lab.report.row_plots import confusion_matrix, cost_scatter, efficiency


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@pytest.fixture
def runs(result):
    """Return runs of three models on some rows."""

    def make(*rows, **options):
        names = {"adelic": 0.9, "learned": 0.8, "fone": 0.7}
        return [result(row, e, accuracy=a, **options) for row in rows for e, a in names.items()]

    return make


def test_the_confusion_matrix_is_the_mean_over_seeds(result):
    size, runs = 7, []
    for seed in range(2):
        confusion = [[10 if i == j else 0 for j in range(size)] for i in range(size)]
        confusion[0] = [6 + seed, 4 - seed, 0, 0, 0, 0, 0]
        confusion[6] = [0] * size
        names = ["A", "BD", "D", "BE", "BB", "E", "DE"]
        runs.append(result("quiver-11", seed=seed, confusion=confusion, class_names=names))
    (summary,) = summarise(runs)
    found = texts(confusion_matrix(summary, "A title"))
    assert found.count("100.0 %") == 5
    assert {"65.0 %", "6.5", "35.0 %", "3.5", "A", "BD", "DE", "true class", "the model says"} <= set(found)
    assert found.count("–") == size  # a class without rows has no rates


@pytest.mark.usefixtures("undrawn")
def test_results_without_a_confusion_matrix_say_so(result):
    (section,) = row_sections(comparisons(summarise([result(confusion=None)])))
    assert [(name, part.svg) for name, part in section.confusion] == [("AOE (digits)", None)]
    assert "no confusion matrix" in section.confusion[0][1].text


@pytest.mark.usefixtures("undrawn")
def test_a_confusion_matrix_of_many_classes_is_not_drawn(result):
    def of(size):
        return result(confusion=[[int(i == j) for j in range(size)] for i in range(size)], class_names=None)

    (section,) = row_sections(comparisons(summarise([of(400)])))
    ((_, part),) = section.confusion
    assert part.svg is None
    assert "A matrix of 400 classes is not drawn" in part.text
    assert confusion_matrix(summarise([of(30)])[0], "A title") is not None


def test_accuracy_against_training_rows(runs):
    def of(rows):
        counts = {"train": rows, "validation": 6, "test": 17}
        return runs("schubert-4", recipe={"max_rows": rows} if rows < 1515 else {}, rows=counts)

    parts = comparisons(summarise([*of(1515), *of(151)[:2], *of(15)[:1]]))
    found = efficiency(parts)
    assert {name: list(sizes) for name, sizes in found.items()} == {
        "AOE (digits)": [15, 151, 1515],
        "learned": [151, 1515],
    }
    (section,) = row_sections(parts)
    assert section.title == "schubert-4 (published), quick recipe"
    assert {"15", "151", "1,515", "AOE (digits)", "learned"} <= set(texts(section.efficiency.svg))
    assert "fone" not in texts(section.efficiency.svg)
    assert [table.title for table in section.smaller] == [
        "By the number of training rows: schubert-4 (published), quick recipe",
        "schubert-4 (published), quick recipe, 151 training rows",
        "schubert-4 (published), quick recipe, 15 training rows",
    ]


def test_one_number_of_training_rows_has_a_command_instead(runs):
    (section,) = row_sections(comparisons(summarise(runs("schubert-4"))))
    assert section.efficiency.svg is None
    train = runs("schubert-4")[0].rows["train"]
    assert section.efficiency.command == f"adelic reproduce schubert-4 --recipe quick --max-rows {train // 10}"


def test_cost_names_the_devices_and_what_is_far_below(runs, result):
    made = [*runs("schubert-4"), result(embedding="random", accuracy=0.85), result(embedding="xval", accuracy=0.1)]
    made[0] = replace(made[0], device="a fast one")
    (section,) = row_sections(comparisons(summarise(made)))
    assert "different devices: a fast one; cpu" in section.cost.text
    assert section.cost.text.endswith("Far below, and not shown: xval.")
    assert "xval" not in texts(section.cost.svg)
    assert {"AOE (digits)", "learned", "fone", "random"} <= set(texts(section.cost.svg))


@pytest.mark.parametrize(("name", "columns"), [("short", 2), ("logistic regression, with images", 1)])
def test_a_legend_has_the_columns_that_fit_and_no_mark_is_cut(result, name, columns):
    (summary,) = summarise([result()])
    svg = cost_scatter({f"{name} {i}": summary for i in range(5)}, "A title")
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
    assert len({x for x, _ in re.findall(rf'x="(\S+)" y="\S+"[^>]*>({name}) \d<', svg)}) == columns
    marks = [(float(x), float(y)) for x, y in re.findall(r'<use [^>]*x="(\S+)" y="(\S+)"', svg)]
    assert len(marks) > 10
    assert all(0 < x < width and 0 < y < height for x, y in marks)


def test_models_without_epochs_have_no_learning_curves(runs):
    first, second = runs("schubert-4")[:2]
    second = replace(second, history={key: [] for key in second.history})
    (part,) = comparisons(summarise([first, second]))
    assert "learned" not in texts(learning_curves(part.models, "A title"))
    assert learning_curves({"learned": part.models["learned"]}, "A title") is None


def test_an_mlp_is_not_drawn_beside_networks(runs):
    """Its epochs are of other batches."""
    first = runs("schubert-4")[0]
    (network,) = summarise([first])
    searched = {**first.configuration, "recipe": {"trials": 1}}
    (mlp,) = summarise([replace(first, embedding="mlp", recipe="search", configuration=searched)])
    both = texts(learning_curves({"AOE": network, "MLP": mlp}, "A title"))
    assert ("AOE" in both, "MLP" in both) == (True, False)
    assert "MLP" in texts(learning_curves({"MLP": mlp}, "A title"))


@pytest.mark.long
def test_the_tests_of_a_row(runs):
    """A single model has none; contaminated data has none either."""
    alone = row_sections(comparisons(summarise(runs("schubert-4")[:1])))[0]
    assert alone.tests == []
    several = row_sections(comparisons(summarise(runs("schubert-4"))))[0]
    assert [table.title.partition(":")[0] for table in several.tests] == [
        "Declared contrast",
        "Exploratory differences",
    ]
    leaky = runs("weaving-6", edition="leaky", contaminated=True)
    (section,) = row_sections(comparisons(summarise(leaky)))
    assert section.title == "weaving-6 (leaky, published, contaminated), quick recipe"
    assert section.tests == []
    assert all("contaminated" in part for part in (section.models.title, section.cost.svg, section.curves.svg))


def test_class_names_are_those_of_the_results(result):
    run = result(confusion=[[3, 0], [1, 2]], class_names=["even", "odd"])
    assert {"even", "odd"} <= set(texts(confusion_matrix(summarise([run])[0], "A title")))


def test_bars_of_two_seeds_are_their_range(result):
    """Up to the better seed, not to where Student's t would reach."""
    runs = [result(seed=s, accuracy=a, majority=0.1) for s, a in enumerate((0.5, 0.6))]
    (summary,) = summarise(runs)
    ticks = [
        float(text) for text in texts(cost_scatter({"a": summary}, "A title")) if re.fullmatch(r"\d+(\.\d+)?", text)
    ]
    assert 55 <= max(progress for progress in ticks if progress <= 100) < 70


def test_models_look_different_from_each_other(result):
    names = (
        "learned",
        "random",
        "one-hot",
        "fone",
        "xval",
        "abacus",
        "periodic",
        "trees",
        "mlp",
        "logistic",
        "majority",
    )
    made = [result(embedding=name) for name in names]
    made += [result(features=name) for name in ("digits", "standardized", "characters", "one-hot-digits")]
    (part,) = comparisons(summarise(made))
    found = looks(part.models)
    assert len(found) == 15
    assert len({(look.colour, look.marker) for look in found.values()}) == 15
    assert len({(look.colour, look.dash) for look in found.values()}) == 15
    assert {look.marker for look in found.values()} <= set(MARKERS)
    assert len({look.colour for name, look in found.items() if name.startswith("AOE")}) == 1


def test_runs_of_different_lengths_share_a_curve(result):
    """Models that stop early have histories of different lengths; the mean goes on over those that there are."""
    long = result(seed=0)
    short = result(seed=1, history={key: values[:-1] for key, values in long.history.items()})
    (part,) = comparisons(summarise([long, short]))
    assert "AOE (digits)" in texts(learning_curves(part.models, "A title"))
