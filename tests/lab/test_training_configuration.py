import dataclasses
import math
import tomllib

import pytest
import torch

from adelic import acd
from adelic.data.sources import TaskData
from adelic.errors import ConfigurationError, SpaceError, UnknownNameError
from adelic.nn import EMBEDDINGS, AdelicEmbedding, LearnedEmbedding, PlacewiseClassifier, Vocabulary
from adelic.nn.positional import LearnedPositionalEncoding
from adelic.numbers import AdeleSpace
from adelic_lab import EmbeddingConfig, Experiment, load_recipe
from adelic_lab.models.network import build_model
from adelic_lab.train.data import TrainValidation


def build(found, vocabulary, d_model):
    """Return the embedding that a configuration describes."""
    return EMBEDDINGS[found.name].from_options(vocabulary, d_model, found.options())


def test_the_papers_embedding():
    found = EmbeddingConfig.of("adelic")
    assert (found.features, found.projection) == ("digits", None)
    assert found.space() == AdeleSpace()
    embedding = build(found, Vocabulary(range(5)), 128)
    assert isinstance(embedding, AdelicEmbedding)
    assert sum(p.numel() for p in embedding.parameters()) == 0


def test_the_baseline():
    found = EmbeddingConfig.of("learned", features=None, standardize=False)
    assert found == EmbeddingConfig.of("learned")
    assert found.label == "learned"
    assert isinstance(build(found, Vocabulary(range(5)), 32), LearnedEmbedding)


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("learnt", {}, UnknownNameError, "did you mean 'learned'"),
        ("adelic", {"features": "digit"}, UnknownNameError, "did you mean 'digits'"),
        ("adelic", {"projection": "mlp"}, UnknownNameError, "projection: none, linear"),
        ("adelic", {"primes": (2, 4)}, SpaceError, "4 is not a prime"),
        ("adelic", {"precision": 0}, SpaceError, "precision=0"),
        ("learned", {"features": "digits"}, ConfigurationError, "--features belongs to"),
        ("learned", {"primes": (2, 3)}, ConfigurationError, "--primes belongs to"),
        ("learned", {"fractional_digits": 0}, ConfigurationError, "--fractional-digits belongs to"),
        ("adelic", {"places": "laet"}, UnknownNameError, "did you mean 'late'"),
        ("adelic", {"places": "late", "features": "standardized"}, ConfigurationError, "use characters"),
        ("adelic", {"places": "late", "projection": "linear"}, ConfigurationError, "belongs to places='flat'"),
        ("learned", {"places": "late"}, ConfigurationError, "--places belongs to"),
        ("adelic", {"coordinates": "rael"}, UnknownNameError, "did you mean 'real'"),
        ("adelic", {"places": "late", "coordinates": "real"}, ConfigurationError, "belong to places='flat'"),
        ("learned", {"coordinates": "real"}, ConfigurationError, "--coordinates belongs to"),
        (
            "adelic",
            {"sigma": 0.1},
            ConfigurationError,
            "--sigma belongs to the embeddings 'periodic' and 'union', not to 'adelic'",
        ),
        (
            "fone",
            {"sigma": 0.01},
            ConfigurationError,
            "--sigma belongs to the embeddings 'periodic' and 'union', not to 'fone'",
        ),
        ("one-hot", {"standardize": True}, ConfigurationError, "belongs to the embeddings 'fone' and 'xval', not to"),
        ("xval", {"bases": "10"}, ConfigurationError, "--bases belongs to the embedding 'fone', not to 'xval'"),
        ("periodic", {"sigma": 0.0}, ConfigurationError, "sigma=0.0 must be a positive number"),
        ("periodic", {"sigma": math.nan}, ConfigurationError, "sigma=nan must be a positive number"),
        ("periodic", {"precision": 3}, ConfigurationError, "--precision belongs to the embedding 'adelic'"),
        ("fone", {"bases": "3-5"}, UnknownNameError, "unknown bases '3-5'; did you mean '2-5'"),
        ("xval", {"standardize": "yes"}, ConfigurationError, "standardize='yes' must be true or false"),
        ("xval", {"published": 1}, ConfigurationError, "published=1 must be true or false"),
        ("abacus", {"published": True}, ConfigurationError, "belongs to the embeddings 'fone', 'periodic' and 'xval'"),
        ("adelic", {"gain": 3}, ConfigurationError, "gain=3 is of the map of --projection linear; add it, or drop"),
        ("adelic", {"gain": 0, "projection": "linear"}, ConfigurationError, "gain=0 must be a positive number"),
        ("learned", {"gain": 2}, ConfigurationError, "--gain belongs to the embedding 'adelic', not to 'learned'"),
        ("fone", {"published": True, "standardize": True}, ConfigurationError, "--standardize is ours, and does not"),
    ],
)
def test_bad_embeddings(name, options, error, words):
    with pytest.raises(error, match=words):
        EmbeddingConfig.of(name, **options)


RIVALS = [  # name, options, label, what the module then has
    ("periodic", {"sigma": 3}, "periodic-sigma3", lambda e: 1 < e.frequencies.std() < 9),
    ("periodic", {"sigma": 0.3}, "periodic-sigma0.3", lambda e: 0.1 < e.frequencies.std() < 0.9),
    ("fone", {"bases": "2-5"}, "fone-bases2-5", lambda e: e.periods == [2, 5, 20, 50]),
    ("fone", {"standardize": True}, "fone-standardized", lambda e: e.table.mean(dim=0).abs().max() < 1e-6),
    (
        "fone",
        {"bases": "2-5", "standardize": True},
        "fone-bases2-5-standardized",
        lambda e: len(e.periods) == 4 and e.table.mean(dim=0).abs().max() < 1e-6,
    ),
    ("xval", {"standardize": True}, "xval-standardized", lambda e: abs(e.table.var(correction=0) - 1) < 1e-6),
    ("xval", {"published": True}, "xval-published", lambda e: e.token is None),
    ("fone", {"published": True}, "fone-published", lambda e: e.token is not None),
]


@pytest.mark.parametrize(("name", "options", "label", "is_so"), RIVALS)
def test_options_reach_a_rival_and_its_command(tiny_config, name, options, label, is_so):
    found, plain = EmbeddingConfig.of(name, **options), EmbeddingConfig.of(name)
    torch.manual_seed(0)
    vocabulary = Vocabulary(range(1, 6))
    assert is_so(build(found, vocabulary, 32))
    assert not is_so(build(plain, vocabulary, 32))
    assert (found.label, plain.label) == (label, name)
    assert EmbeddingConfig.of(name, **found.options()) == found
    config = dataclasses.replace(tiny_config(), model=found)
    assert tomllib.loads(config.to_toml())["embedding"].items() >= options.items()
    run_of = Experiment(data=TaskData("schubert", 3), model=found, recipe=load_recipe("quick", "schubert-3"))
    words = run_of.command()
    for option, value in options.items():
        assert f" --{option}" + ("" if value is True else f" {float(value) if option == 'sigma' else value}") in words
        assert option not in dataclasses.replace(run_of, model=plain).command()


def test_gain_multiplies_the_first_weights_of_the_projection():
    louder, plain = (EmbeddingConfig.of("adelic", projection="linear", gain=gain) for gain in (3, None))
    assert (louder.label, plain.label) == ("adelic-digits-gain3", "adelic-digits")
    assert "gain" not in plain.as_dict()  # as before there was this option
    weights = []
    for config in (louder, plain):
        torch.manual_seed(0)
        weights.append(build(config, Vocabulary(range(1, 6)), 32).projection.weight)
    assert torch.equal(weights[0], 3 * weights[1])


def test_fone_as_published_is_refused_where_numbers_have_signs(tiny_config):
    found = {name: EmbeddingConfig.of("fone", published=name == "published") for name in ("published", "ours")}
    quiver = dataclasses.replace(tiny_config(), data=TaskData("quiver", 11), model=found["ours"])
    with pytest.raises(ConfigurationError, match="quiver-11 has negative numbers, and FoNE as published"):
        dataclasses.replace(quiver, model=found["published"])
    assert dataclasses.replace(tiny_config(), model=found["published"]).embedding.published


@pytest.mark.parametrize(("task", "n"), [("schubert", 4), ("lattice", 10), ("mheight", 10), ("weaving", 6)])
def test_abacus_is_refused_where_tokens_have_one_digit(tiny_config, task, n):
    with pytest.raises(ConfigurationError) as caught:
        tiny_config("abacus", task=task, n=n)
    assert str(caught.value) == (
        f"abacus on {task}-{n} is a learned embedding by another name: every token has one digit; "
        "use --embedding learned"
    )


@pytest.mark.parametrize(("task", "n"), [("schubert", 6), ("characters", 10), ("grassmannian", 12)])
def test_abacus_is_for_tokens_of_several_digits(tiny_config, task, n):
    assert tiny_config("abacus", task=task, n=n).model.label == "abacus"


def test_to_toml_and_back(tiny_config):
    config = tiny_config("adelic", seed=5)
    assert tomllib.loads(config.to_toml()) == config.as_dict()
    assert config.as_dict()["data"] == {"task": "schubert", "n": 3, "edition": "published", "split": "published"}


def test_labels_are_readable_and_differ(tiny_config):
    begins = {
        "schubert-3-learned-quick-seed0-": {},
        "schubert-3-learned-quick-seed1-": {"seed": 1},
        "schubert-3-orbits-learned-quick-seed0-": {"split": "orbits"},
        "schubert-3-adelic-digits-quick-seed0-": {"embedding": "adelic"},
        "weaving-4-levels-learned-quick-seed0-": {"edition": "levels", "task": "weaving", "n": 4},
        "weaving-4-levels-orbits-learned-quick-seed0-": {
            "edition": "levels", "split": "orbits", "task": "weaving", "n": 4,
        },
    }  # fmt: skip
    labels = [tiny_config(**changes).label for changes in begins.values()]
    assert all(label.startswith(begin) for label, begin in zip(labels, begins, strict=True))
    assert tiny_config().label == labels[0] != tiny_config(learning_rate=1e-4).label
    assert all(label.replace("-", "").isalnum() for label in labels)


def model_of(config, data):
    return build_model(config, TrainValidation.of(data))


def test_the_model_is_the_recipes(tiny_config):
    config = tiny_config(n_layers=2, dropout=0.2, norm="pre")
    model = model_of(config, acd.load("schubert", n=3))
    assert len(model.layers) == 2
    assert model.layers[0].norm_first
    assert model.dropout.p == 0.2
    assert model.head.out_features == 2
    assert model.positional.table.shape == (12, 16)  # eleven tokens and [CLS]


def test_models_of_a_seed_start_from_equal_weights_but_for_the_embedding(tiny_config):
    data = acd.load("schubert", n=3)
    first, second = (model_of(config, data).state_dict() for config in (tiny_config("adelic"), tiny_config("learned")))
    shared = [key for key in second if not key.startswith("embedding.") and not key.endswith("_extra_state")]
    assert "cls" in shared
    assert "head.weight" in shared
    assert all(torch.equal(first[key], second[key]) for key in shared)
    other = model_of(tiny_config("learned", seed=1), data).state_dict()
    assert not torch.equal(second["cls"], other["cls"])


def test_a_recipe_of_ones_own_can_be_run(tiny_config, tmp_path):
    """Only packaged recipes are known to the command line; others must not fail at the end of training."""
    from adelic_lab import run

    config = tiny_config(name="mine", epochs=1)
    result = run(config, tmp_path / "run", device="cpu")
    assert result.recipe == "mine"
    assert "--recipe mine" not in (result.command or "")


def test_a_command_never_names_another_run(tiny_config):
    """A network size that no option gives, or another split, must not be left out in silence."""
    packaged = load_recipe("quick", "schubert-3")
    config = dataclasses.replace(tiny_config(), recipe=packaged)
    orbits = dataclasses.replace(config, data=TaskData("schubert", 3, split="orbits"))
    resized = tiny_config(epochs=30, learning_rate=1e-3, batch_size=128)
    for other in (resized, orbits, dataclasses.replace(config, seed=3)):
        assert other.command() != config.command()
    assert "--split orbits" in orbits.command()


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"split": "orbit"}, UnknownNameError, "did you mean 'orbits'"),
        ({"split": None}, UnknownNameError, "split"),
        ({"split": "orbits", "task": "lattice", "n": 4}, ConfigurationError, "lattice has no symmetries.*published"),
        ({"symmetries": True}, ConfigurationError, "test examples among them; use --split orbits"),
        ({"symmetries": True, "task": "lattice", "n": 4}, ConfigurationError, "no symmetries.*use --no-symmetries"),
    ],
    ids=str,
)
def test_bad_splits(tiny_config, changes, error, words):
    with pytest.raises(error, match=words):
        tiny_config(**changes)


def test_the_place_wise_model(tiny_config):
    config = dataclasses.replace(
        tiny_config("adelic", n_layers=2, dropout=0.2, norm="pre", d_model=32),
        model=EmbeddingConfig.of("adelic", primes=(2, 3, 5), precision=4, places="late"),
    )
    assert (config.embedding.features, config.as_dict()["embedding"]["places"]) == ("characters", "late")
    assert "-adelic-characters-late-" in config.label
    model = model_of(config, acd.load("schubert", n=3))
    assert isinstance(model, PlacewiseClassifier)
    assert (model.encoder.n_places, model.encoder.d_place, len(model.encoder.layers)) == (4, 16, 2)
    assert model.encoder.layers[0].linear1.out_features == 16  # the recipe's 32 on 32, in proportion
    assert model.encoder.layers[0].norm_first
    assert model.encoder.dropout == model.dropout.p == 0.2


@pytest.mark.parametrize(
    ("field", "first", "other"),
    [("pooling", "cls", "tokens"), ("positional", "embedding", "learned"), ("checkpoint", "best", "last")],
)
def test_fields_that_are_younger_than_the_first_runs(tiny_config, field, first, other):
    """Where they have the value that all runs once had, names and folders are those of old."""
    old, new = tiny_config(**{field: first}), tiny_config(**{field: other})
    assert old == tiny_config()
    assert field not in old.as_dict()["recipe"]
    assert new.as_dict()["recipe"][field] == other
    assert old.label != new.label
    with pytest.raises(UnknownNameError, match=f"unknown {field} 'other';.* {field}: {first}, {other}"):
        tiny_config(**{field: "other"})


@pytest.mark.parametrize("places", ["flat", "late"])
def test_what_the_head_reads_and_how_positions_are_told(tiny_config, places):
    embedding = EmbeddingConfig.of("adelic", features="characters", places=places)
    data = acd.load("schubert", n=3)
    plain, tokens, learned = (
        model_of(dataclasses.replace(tiny_config(**change), model=embedding), data)
        for change in ({}, {"pooling": "tokens"}, {"positional": "learned"})
    )
    assert tokens.head.in_features == (data.X_train.shape[1] + 1) * plain.head.in_features
    kinds = [isinstance(model.positional, LearnedPositionalEncoding) for model in (plain, tokens, learned)]
    assert kinds == [False, False, True]


def test_a_recipes_file_stores_where_places_meet(tmp_path):
    path = tmp_path / "mine.toml"
    table = 'learning_rate = 1e-3\nepochs = 2\n[embedding]\nname = "adelic"\nplaces = "late"\n'
    path.write_text(f"[recipe]\n{table}", encoding="utf-8")
    found = [
        Experiment.choose(TaskData("schubert", 4), recipe=str(path), **given).embedding.places
        for given in ({}, {"places": "flat"}, {"embedding": "learned"})
    ]
    assert found == ["late", None, None]


def test_an_option_of_no_embedding_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'sigmas'"):
        EmbeddingConfig.of("periodic", sigmas=0.3)
