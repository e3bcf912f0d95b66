from dataclasses import replace

import pytest

from adelic_lab import EmbeddingConfig
from adelic_lab.report.frame import (
    comparisons,
    label,
    model_frame,
    on_most_rows,
    recipe_family,
    run_frame,
)


def found(*results):
    return comparisons(run_frame(results))


@pytest.fixture
def outside(result):
    """Return results of a model that no recipe trains."""

    def make(embedding="neighbours", **options):
        made = result(embedding=embedding, **options)
        rows = {k: v for k, v in made.configuration["recipe"].items() if k == "max_rows"}
        configuration = made.configuration | {"recipe": {"name": "search", "trials": 20} | rows}
        return replace(made, recipe="search", history={key: [] for key in made.history}, configuration=configuration)

    return make


def test_rows_recipes_editions_splits_and_sizes_are_apart(result):
    parts = found(
        result("mheight-8"),
        result("schubert-4", "learned", accuracy=0.7),
        result("schubert-4", accuracy=0.8),
        result("schubert-4", recipe={"max_rows": 1000}),
        result("schubert-4", recipe={"name": "paper"}),
        result("schubert-4", edition="leaky"),
        result("schubert-3"),
        result("schubert-4", accuracy=0.9, split="orbits"),
    )
    assert [(part.heading, list(part.models.index)) for part in parts] == [
        ("schubert-4 (published), quick recipe", ["AOE (digits)", "learned"]),
        ("schubert-4 (published), paper recipe", ["AOE (digits)"]),
        ("schubert-4 (published), quick recipe, 1,000 training examples", ["AOE (digits)"]),
        ("schubert-4 (orbits), quick recipe", ["AOE (digits)"]),
        ("schubert-4 (leaky, published), quick recipe", ["AOE (digits)"]),
        ("mheight-8 (published), quick recipe", ["AOE (digits)"]),
        ("schubert-3 (published), quick recipe", ["AOE (digits)"]),
    ]
    assert [part.recipe for part in on_most_rows(parts[:3])] == ["quick", "paper"]
    assert on_most_rows([parts[2]])[0] is parts[2]


def test_contaminated_data_ranks_nothing(result):
    leaky = {"edition": "leaky", "contaminated": True}
    accuracies = {"learned": 0.9, "adelic": 0.8, "fone": 0.99}
    runs = [result("weaving-6", e, accuracy=a, **leaky) for e, a in accuracies.items()]
    (part,) = found(*runs)
    assert part.heading == "weaving-6 (leaky, published, contaminated), quick recipe"
    assert list(part.models.index) == ["AOE (digits)", "fone", "learned"]  # by name


def test_look_up_is_a_mean_over_seeds_and_remembers_all_it_may(result):
    """Where some models saw images of rows, the look-up that saw them counts."""
    runs = [result(seed=s, lookup=0.5 + s / 10) for s in range(2)]
    runs += [result(embedding="lookup", recipe={"symmetries": True}, lookup=0.7)]
    (part,) = found(*runs)
    assert part.trivial("lookup") == pytest.approx((0.7 + 0.6) / 2)


def test_searched_recipes_of_a_row_are_one_family(result):
    runs = [result(embedding=e, recipe={"name": f"recipes/schubert-4-{e}.toml"}) for e in ("adelic", "learned")]
    (part,) = found(*runs)
    assert (part.recipe, part.heading) == ("recipes/{row}-{embedding}.toml", "schubert-4 (published), tuned recipe")
    assert len(part.models) == 2


@pytest.mark.parametrize("form", ["", "-one-hot-digits", "-one-hot-digits-late"])
def test_the_form_may_be_part_of_the_name_of_a_recipe(result, form):
    recipe = {"name": f"best/schubert-4-adelic{form}.toml"}
    family = recipe_family(result(features="one-hot-digits", places="late", recipe=recipe), {})
    assert family.startswith("best/{row}-{embedding}")
    assert family.endswith(".toml")
    if form != "-one-hot-digits":
        assert family == "best/{row}-{embedding}.toml"


@pytest.mark.parametrize(
    ("name", "options", "file"),
    [
        ("base-digits", {"base": 30}, "best/schubert-4-base-digits-base=30.toml"),
        ("fone", {"bases": "2-5", "standardize": True}, "best/schubert-4-fone-bases=2-5-standardize.toml"),
        (
            "adelic",
            {"gain": 3.0, "projection": "linear"},
            "best/schubert-4-adelic-digits-projection=linear-gain=3.toml",
        ),
        ("periodic", {"sigma": 0.3}, "best/schubert-4-periodic.toml"),  # a search has found it
    ],
)
def test_the_options_may_be_part_of_the_name_of_a_recipe(result, name, options, file):
    """As `adelic tune` names it: searched recipes of all embeddings are one family."""
    model = EmbeddingConfig.of(name, **options).as_dict()
    run = result(embedding=name, model=model, recipe={"name": file})
    assert recipe_family(run, {}) == "best/{row}-{embedding}.toml"


def test_models_outside_the_transformer_stand_beside_every_recipe(result, outside):
    runs = [result(), result(recipe={"name": "paper"}), outside(), result("mheight-8")]
    parts = found(*runs, outside(recipe={"max_rows": 5}))
    assert {part.heading: set(part.models.index) for part in parts} == {
        "schubert-4 (published), paper recipe": {"AOE (digits)", "neighbours"},
        "schubert-4 (published), quick recipe": {"AOE (digits)", "neighbours"},
        "mheight-8 (published), quick recipe": {"AOE (digits)"},
        "schubert-4 (published), search recipe, 5 training examples": {"neighbours"},
    }
    assert list(parts[0].models.kind) == ["AOE", "outside"]


@pytest.mark.parametrize(
    ("recipes", "others"),
    [
        ([{}, {"symmetries": True}], [", with images", ", without images"]),  # which only some of two runs have
        (
            [{}, {"pooling": "tokens"}, {"symmetries": True}, {"epochs": 99}],  # what most have goes without saying
            ["", ", epochs=99", ", pooling=tokens", ", with images"],
        ),
    ],
)
def test_runs_of_one_label_are_told_apart(result, recipes, others):
    (part,) = found(*(result(recipe=recipe) for recipe in recipes), result(embedding="learned", recipe=recipes[-1]))
    assert sorted(name for name in part.models.index if "learned" not in name) == [f"AOE (digits){o}" for o in others]
    (part,) = found(result(recipe={"epochs": 205}), result(), result(model={"projection": "linear"}))
    assert sorted(part.models.index) == [f"AOE (digits){o}" for o in ("", ", epochs=205", ", projection=linear")]


def test_fewer_epochs_than_the_recipes_are_compared_among_themselves_and_told(result):
    """The recipe `paper` has 200 epochs of Schubert 4."""
    runs = [result(recipe={"epochs": epochs, "name": "paper"}) for epochs in (200, 201, 3)]
    parts = found(*runs)
    assert sorted((part.recipe, len(part.models)) for part in parts) == [("paper", 2), ("paper --epochs 3", 1)]
    assert {part.heading.partition(", ")[2] for part in parts} == {"paper recipe", "paper, 3 epochs recipe"}
    assert all(part.has_papers_recipe for part in parts)
    (other,) = found(result(recipe={"epochs": 3}))
    assert not other.has_papers_recipe


def test_the_best_model_is_chosen_on_validation_data(result):
    """The model with the worse test accuracy is chosen."""
    good = result(accuracy=0.8, validation={"accuracy": 0.95, "loss": 0.5})
    lucky = result(embedding="learned", accuracy=0.9, validation={"accuracy": 0.85, "loss": 0.5})
    (part,) = found(good, lucky)
    assert list(part.models.index) == ["learned", "AOE (digits)"]  # shown by test accuracy
    assert part.best() == "AOE (digits)"
    assert part.best(kinds=["rival"]) == "learned"
    assert part.best(kinds=["outside"]) is None


def test_of_equal_accuracies_the_lower_loss_is_chosen(result):
    """Three means are equal, though their seeds are not, nor the last bit of their sums."""
    runs = []
    for embedding, accuracies, loss in (
        ("learned", (0.1, 0.2, 0.3), 0.5),
        ("fone", (0.3, 0.2, 0.1), 0.25),
        ("xval", (0.2, 0.2, 0.2), 0.75),
    ):
        for seed, accuracy in enumerate(accuracies):
            runs.append(result(embedding=embedding, seed=seed, validation={"accuracy": accuracy, "loss": loss}))
    assert found(*runs)[0].best() == "fone"
    assert found(*runs[::-1])[0].best() == "fone"


def test_the_validation_score_is_a_mean_over_seeds(result):
    kept = ({"accuracy": accuracy, "loss": 0.5} for accuracy in (0.75, 0.25))
    (part,) = found(*(result(seed=s, validation=figures) for s, figures in enumerate(kept)))
    assert part.score("AOE (digits)") == (0.5, -0.5)
    (part,) = found(result(validation=None))
    assert part.score("AOE (digits)")[0] == -1


def test_several_targets_and_numbers_are_left_out(result):
    assert found(result("kl-5", exact_match=0.5)) == []


def test_with_the_papers_recipe_aoe_is_the_papers_form(result):
    def run(features, validation, recipe):
        kept = {"accuracy": validation, "loss": 0.5}
        return result(recipe={"name": recipe}, features=features, validation=kept)

    for recipe, best in (("quick", "AOE (characters)"), ("paper", "AOE (digits)")):
        (part,) = found(run("digits", 0.75, recipe), run("characters", 0.875, recipe))
        assert part.best(kinds=["AOE"]) == part.best() == best


def test_a_model_is_its_runs_of_all_seeds(result):
    results = [
        result(seed=3),
        result(embedding="learned"),
        result(seed=1, predicts_one_class=True),
        result(recipe={"epochs": 99}),
        result("mheight-8"),
        result(seed=2),
    ]
    models = model_frame(run_frame(results))
    assert models[["row", "label", "n_seeds"]].to_numpy().tolist() == [
        ["schubert-4", "AOE (digits)", 3],
        ["schubert-4", "learned", 1],
        ["schubert-4", "AOE (digits)", 1],
        ["mheight-8", "AOE (digits)", 1],
    ]
    assert models.run.iloc[0] is results[0]
    assert models.marks.tolist() == [" †", "", "", ""]  # one class in any run
    assert run_frame([]).empty


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("periodic", {}, "periodic (sigma 0.01)"),  # the configuration leaves defaults out
        ("periodic", {"sigma": 0.3}, "periodic (sigma 0.3)"),
        ("fone", {}, "fone"),
        ("fone", {"bases": "2-5", "standardize": True}, "fone (bases 2-5, standardized)"),
        ("fone", {"bases": "2-5", "published": True}, "fone (bases 2-5, as published)"),
        ("base-digits", {"base": 30}, "base-digits (base 30)"),
        ("residues", {"n_primes": 25}, "residues (25 primes)"),
        ("angular", {"modulus": 97}, "angular (modulus 97)"),
    ],
)
def test_the_chosen_options_of_a_rival_are_in_its_name(result, name, options, said):
    assert label(result(embedding=name, model=EmbeddingConfig.of(name, **options).as_dict())) == said
