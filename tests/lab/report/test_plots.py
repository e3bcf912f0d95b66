import re
from dataclasses import replace

import pytest

from adelic_lab.report.frame import comparisons, model_frame, run_frame
from adelic_lab.report.page import row_sections
from adelic_lab.report.plots import MARKERS, accuracy_against_time, confusion_matrix, learning_curves, looks


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def model(*results):
    """Return the line of the one model of these results."""
    return model_frame(run_frame(results)).iloc[0]


def renamed(models, *names):
    """Return models by other names."""
    return models.assign(name=list(names)).set_index("name", drop=False).rename_axis(None)


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
    found = texts(confusion_matrix(model(*runs), "A title"))
    assert found.count("100.0 %") == 5
    assert {"65.0 %", "6.5", "35.0 %", "3.5", "A", "BD", "DE", "true class", "predicted class"} <= set(found)
    assert found.count("–") == size  # a class without rows has no rates


@pytest.mark.usefixtures("undrawn")
def test_a_confusion_matrix_of_many_classes_is_not_drawn(result):
    def of(size):
        return result(confusion=[[int(i == j) for j in range(size)] for i in range(size)], class_names=None)

    (section,) = row_sections(comparisons(run_frame([of(400)])))
    assert section["confusion"] == {"AOE (digits)": None}
    assert confusion_matrix(model(of(30)), "A title") is not None


def test_accuracy_against_training_rows(runs):
    def of(rows):
        counts = {"train": rows, "validation": 6, "test": 17}
        return runs("schubert-4", recipe={"max_rows": rows} if rows < 1515 else {}, rows=counts)

    parts = comparisons(run_frame([*of(1515), *of(151)[:2], *of(15)[:1]]))
    (section,) = row_sections(parts)
    assert section["title"] == "schubert-4 (published), quick recipe"
    assert {"15", "151", "1,515", "AOE (digits)", "learned"} <= set(texts(section["rows"]))
    assert "fone" not in texts(section["rows"])
    assert [table.title for table in section["smaller"]] == [
        "By training examples: schubert-4 (published), quick",
        "schubert-4 (published), 151 training examples",
        "schubert-4 (published), 15 training examples",
    ]


def test_cost_names_the_devices_and_what_is_far_below(runs, result):
    made = [*runs("schubert-4"), result(embedding="random", accuracy=0.85), result(embedding="xval", accuracy=0.1)]
    made[0] = replace(made[0], device="a fast one")
    (section,) = row_sections(comparisons(run_frame(made)))
    assert section["devices"][0] == "a fast one"
    assert section["far_below"] == ["xval"]
    assert "xval" not in texts(section["cost"])
    assert {"AOE (digits)", "learned", "fone", "random"} <= set(texts(section["cost"]))


@pytest.mark.parametrize(("name", "columns"), [("short", 2), ("logistic regression, with images", 1)])
def test_a_legend_has_the_columns_that_fit_and_no_mark_is_cut(result, name, columns):
    models = model_frame(run_frame([result()])).iloc[[0] * 5]
    svg = accuracy_against_time(renamed(models, *(f"{name} {i}" for i in range(5))), "A title")
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
    assert len({x for x, _ in re.findall(rf'x="(\S+)" y="\S+"[^>]*>({name}) \d<', svg)}) == columns
    marks = [(float(x), float(y)) for x, y in re.findall(r'<use [^>]*x="(\S+)" y="(\S+)"', svg)]
    assert len(marks) > 10
    assert all(0 < x < width and 0 < y < height for x, y in marks)


def test_models_without_epochs_have_no_learning_curves(runs):
    first, second = runs("schubert-4")[:2]
    second = replace(second, history={key: [] for key in second.history})
    (part,) = comparisons(run_frame([first, second]))
    assert "learned" not in texts(learning_curves(part.models, "A title"))
    assert learning_curves(part.models.loc[["learned"]], "A title") is None


def test_an_mlp_is_not_drawn_beside_networks(runs):
    """Its epochs are of other batches."""
    first = runs("schubert-4")[0]
    searched = {**first.configuration, "recipe": {"trials": 1}}
    mlp = replace(first, embedding="mlp", recipe="search", configuration=searched)
    both = renamed(model_frame(run_frame([first, mlp])), "AOE", "MLP")
    shown = texts(learning_curves(both, "A title"))
    assert ("AOE" in shown, "MLP" in shown) == (True, False)
    assert "MLP" in texts(learning_curves(both[1:], "A title"))


@pytest.mark.long
def test_the_tests_of_a_row(runs):
    """A single model has none; contaminated data has none either."""
    alone = row_sections(comparisons(run_frame(runs("schubert-4")[:1])))[0]
    assert alone["tests"] == []
    several = row_sections(comparisons(run_frame(runs("schubert-4"))))[0]
    assert [table.title for table in several["tests"]] == ["AOE and learned vectors, by recipe"]
    leaky = runs("weaving-6", edition="leaky", contaminated=True)
    (section,) = row_sections(comparisons(run_frame(leaky)))
    assert section["title"] == "weaving-6 (leaky, published, contaminated), quick recipe"
    assert section["tests"] == []
    assert all("contaminated" in part for part in (section["models"].title, section["cost"], section["curves"]))


def test_bars_of_two_seeds_are_their_range(result):
    """Up to the better seed, not to where Student's t would reach."""
    runs = [result(seed=s, accuracy=a, majority=0.1) for s, a in enumerate((0.5, 0.6))]
    svg = accuracy_against_time(renamed(model_frame(run_frame(runs)), "a"), "A title")
    ticks = [float(text) for text in texts(svg) if re.fullmatch(r"\d+(\.\d+)?", text)]
    assert 55 <= max(progress for progress in ticks if progress <= 100) < 70


def test_models_look_different_from_each_other(result):
    names = "learned random one-hot fone xval abacus periodic trees mlp logistic majority"
    made = [result(embedding=name) for name in names.split()]
    made += [result(features=name) for name in ("digits", "standardized", "characters", "one-hot-digits")]
    (part,) = comparisons(run_frame(made))
    found = looks(part.models)
    assert len(found) == 15
    assert len({(look["color"], look["marker"]) for look in found.values()}) == 15
    assert len({(look["color"], look["linestyle"]) for look in found.values()}) == 15
    assert {look["marker"] for look in found.values()} <= set(MARKERS)
    assert len({look["color"] for name, look in found.items() if name.startswith("AOE")}) == 1


def test_runs_of_different_lengths_share_a_curve(result):
    """Models that stop early have histories of different lengths; the mean goes on over those that there are."""
    long = result(seed=0)
    short = result(seed=1, history={key: values[:-1] for key, values in long.history.items()})
    (part,) = comparisons(run_frame([long, short]))
    assert "AOE (digits)" in texts(learning_curves(part.models, "A title"))
