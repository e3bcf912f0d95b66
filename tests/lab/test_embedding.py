"""The embedding of a run whose primes have different numbers of digits: its values, files, names and command."""

import json
import shlex
import tomllib
from dataclasses import replace

import pytest
import tomli_w

from adelic.data.sources import TaskData
from adelic.errors import AdelicError, ConfigurationError, SpaceError
from adelic.numbers import AdeleSpace
from adelic.numbers.features import FEATURE_KINDS
from adelic.storage.options import options
from adelic_lab import EmbeddingConfig, Experiment, load_recipe, run
from adelic_lab.config import embedding as described
from adelic_lab.config.embedding import embedding_text, options_in_words, stored_embedding
from adelic_lab.config.options import Setting
from adelic_lab.runs.matrix import parse_embedding
from adelic_lab.search.dimensions import Search, apply, check_search, default_search

GCD = {2: 6, 3: 4, 97: 1}


def experiment(**options):
    return Experiment(
        data=TaskData("schubert", 4),
        model=EmbeddingConfig.of("adelic", **options),
        recipe=load_recipe("quick", "schubert-4"),
    )


def test_digits_by_prime():
    found = EmbeddingConfig.of("adelic", precision=GCD)
    assert (found.primes, found.precision, found.fractional_digits) == ((2, 3, 97), GCD, 0)
    assert found.space() == AdeleSpace((2, 3, 97), GCD)
    assert found == EmbeddingConfig.of("adelic", precision="2:6,3:4,97:1") == EmbeddingConfig(**found.as_dict())
    assert found == EmbeddingConfig.of("adelic", precision={"2": 6, "3": 4, "97": 1}, primes=(2, 3, 97))
    assert len({found, EmbeddingConfig.of("adelic", precision=GCD), EmbeddingConfig.of("adelic")}) == 2
    assert found.as_dict()["precision"] == "2:6,3:4,97:1"
    assert found.options()["precision"] == GCD
    assert found.holding([3]) == found
    assert replace(found, features="valuation-unit").precision == GCD


def test_equal_digits_are_a_number():
    equal = EmbeddingConfig.of("adelic", precision={2: 5, 3: 5})
    assert equal == EmbeddingConfig.of("adelic", primes=(2, 3), precision=5)
    assert equal.as_dict()["precision"] == 5


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({}, "schubert-4-adelic-digits-quick-seed0-0d3f2310"),
        ({"precision": 8, "primes": (2, 3, 5)}, "schubert-4-adelic-digits-quick-seed0-83811943"),
        (
            {"features": "characters", "places": "late", "precision": 4},
            "schubert-4-adelic-characters-late-quick-seed0-bb344bf3",
        ),
        ({"projection": "linear", "fractional_digits": 2}, "schubert-4-adelic-digits-quick-seed0-fd11db90"),
    ],
)
def test_runs_of_one_number_of_digits_keep_their_names(options, label):
    """So that folders are found again: a label changes only in a commit that says so."""
    assert experiment(**options).label == label


def test_runs_of_digits_by_prime_have_names_of_their_own():
    digits = (GCD, GCD | {3: 5}, {3: 4, 2: 6, 97: 1})
    names = [experiment(precision=one).label for one in digits] + [experiment(primes=(2, 3, 97), precision=6).label]
    assert len(set(names)) == 4
    assert all(name.startswith("schubert-4-adelic-digits-quick-seed0-") for name in names)


def test_files_and_commands_of_digits_by_prime():
    one = experiment(precision=GCD, features="valuation-unit")
    table = tomllib.loads(one.to_toml())
    assert table == one.as_dict()
    assert json.loads(json.dumps(table))["embedding"]["precision"] == "2:6,3:4,97:1"
    assert EmbeddingConfig(**stored_embedding(table["embedding"], "mine.toml")) == one.model
    words = shlex.split(one.command())
    pairs = dict(zip(words[3::2], words[4::2], strict=True))
    assert (pairs["--primes"], pairs["--precision"]) == ("2,3,97", "2:6,3:4,97:1")
    described = options(EmbeddingConfig)["precision"]
    assert described.parse(pairs["--precision"]) == GCD
    assert described.parse("16") == 16


def test_recipes_may_have_a_table_of_digits():
    text = tomli_w.dumps({"embedding": {"name": "adelic", "precision": {"2": 6, "3": 4}}})
    stored = stored_embedding(tomllib.loads(text)["embedding"], "mine.toml")
    assert EmbeddingConfig.choose(stored).precision == {2: 6, 3: 4}
    assert EmbeddingConfig.choose(stored, precision=4).primes == (2, 3, 5, 7, 11, 13, 17)
    assert EmbeddingConfig.choose({"name": "adelic", "precision": 3}, precision={2: 6, 97: 1}).primes == (2, 97)
    with pytest.raises(ConfigurationError, match=r"mine\.toml \[embedding\]: precision=.*as 2:7,3:5"):
        stored_embedding({"name": "adelic", "precision": [6, 4]}, "mine.toml")


NO_DIGITS = [{}, "", "2:6,", "2-6", "2:6:7", "²:6", {2: True}, {2: 6.5}, {True: 6}, {2: None}, (6, 4), 6.5, True, "16"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"precision": {2: 6, 3: 0}}, SpaceError, "leaves no digit at the prime 3"),
        *(({"precision": bad}, ConfigurationError, "as 2:7,3:5") for bad in NO_DIGITS),
        ({"precision": "2:6,2:5"}, ConfigurationError, "and each prime once"),
        ({"precision": {2: 6, "2": 5}}, ConfigurationError, "and each prime once"),
        ({"precision": "2:" + "9" * 5000}, AdelicError, "precision="),
        ({"precision": {2: 6}, "primes": (2, 3)}, SpaceError, "does not name the prime 3"),
        ({"precision": {2: 6, 9: 1}}, SpaceError, "9 is not a prime"),
        ({"precision": {2: 6, 3: 1}, "fractional_digits": 1}, SpaceError, "precision=1 at the prime 3"),
    ],
)
def test_bad_digits(options, error, words):
    with pytest.raises(error, match=words) as caught:
        EmbeddingConfig.of("adelic", **options)
    assert len(str(caught.value)) < 400


def test_searches_leave_the_primes_of_digits_by_prime():
    found = EmbeddingConfig.of("adelic", precision=GCD)
    assert "primes" in default_search(EmbeddingConfig.of("adelic"))
    assert not {"primes", "precision"} & set(default_search(found))
    with pytest.raises(ConfigurationError, match="primes are not searched where --precision names them"):
        Search(config=experiment(precision=GCD), dimensions=("primes", "norm"))
    trial = apply(experiment(precision=GCD), {"precision": 4})
    assert (trial.model.primes, trial.model.precision) == ((2, 3, 97), 4)


def test_valuations_are_searched_where_they_are_named():
    """Searches of before there was this form try what they tried."""
    later = {"valuation-unit", "multiplicative-characters", "residues", "combined"}
    assert set(options(EmbeddingConfig)["features"].tried) == set(FEATURE_KINDS) - later
    assert check_search(["features=valuation-unit:digits"], EmbeddingConfig.of("adelic")) == (
        "features=valuation-unit:digits",
    )


@pytest.mark.parametrize("places", ["flat", "late"])
@pytest.mark.parametrize("features", ["digits", "valuation-unit", "multiplicative-characters"])
def test_a_run(tmp_path, tiny_config, places, features):
    """It trains, and its folder and its result are those of the same run again."""
    projection = "linear" if places == "flat" else None
    embedding = EmbeddingConfig.of(
        "adelic", precision={2: 3, 3: 1, 5: 1}, features=features, projection=projection, places=places
    )
    config = replace(tiny_config(), model=embedding)
    result = run(config, tmp_path / "run", device="cpu")
    assert result.configuration["embedding"]["precision"] == "2:3,3:1,5:1"
    assert run(config, tmp_path / "run", device="cpu").as_dict() == result.as_dict()
    other = replace(config, model=replace(embedding, primes=None, precision={2: 3, 3: 2, 5: 1}))
    with pytest.raises(AdelicError, match=r"embedding\.precision is '2:3,3:1,5:1' there and '2:3,3:2,5:1' here"):
        run(other, tmp_path / "run", device="cpu")


@pytest.mark.parametrize(
    ("name", "options", "in_names", "in_lists"),
    [
        ("learned", {}, "learned", "learned"),
        ("adelic", {}, "adelic-digits", "adelic:digits"),
        ("adelic", {"places": "late"}, "adelic-characters-late", "adelic:characters:late"),
        (
            "adelic",
            {"places": "agree", "tied": True},
            "adelic-valuation-unit-agree-tied",
            "adelic:valuation-unit:agree:tied",
        ),
        (
            "adelic",
            {"coordinates": "real", "projection": "linear", "gain": 0.5},
            "adelic-digits-real-gain0.5",
            "adelic:digits:projection=linear:coordinates=real:gain=0.5",
        ),
        ("adelic", {"primes": (2, 3), "precision": 4}, "adelic-digits", "adelic:digits:primes=2,3:precision=4"),
        ("adelic", {"precision": GCD}, "adelic-digits", "adelic:digits:primes=2,3,97:precision=2:6,3:4,97:1"),
        ("base-digits", {}, "base-digits-10", "base-digits"),
        ("base-digits", {"base": 30}, "base-digits-30", "base-digits:base=30"),
        ("residues", {"n_primes": 25}, "residues-25", "residues:n_primes=25"),
        ("angular", {"modulus": 97}, "angular-97", "angular:modulus=97"),
        ("periodic", {"sigma": 0.3, "published": True}, "periodic-sigma0.3-published", "periodic:sigma=0.3:published"),
        ("fone", {"bases": "2-5", "standardize": True}, "fone-bases2-5-standardized", "fone:bases=2-5:standardize"),
        ("xval", {"standardize": True}, "xval-standardized", "xval:standardize"),
    ],
)
def test_labels_say_what_is_not_the_default(name, options, in_names, in_lists):
    """Names of runs are as they have been from the first, so that a run is found again."""
    found = EmbeddingConfig.of(name, **options)
    assert found.label == in_names
    assert embedding_text(found.as_dict()) == in_lists
    assert embedding_text(tomllib.loads(tomli_w.dumps(found.as_dict()))) == in_lists
    if options.get("precision") != GCD:  # digits by prime are no word of a list of embeddings
        parsed, given = parse_embedding(in_lists)
        assert EmbeddingConfig.of(parsed, **given) == found


def test_an_option_that_is_new_is_in_every_label(monkeypatch):
    """Labels are made from the fields: one more field needs no line elsewhere."""
    learned = EmbeddingConfig.of("learned")
    new = {"scale": Setting(name="scale", kind=float, default=1.0, of=("learned",))}
    new |= {"bias": Setting(name="bias", kind=bool, default=False, of=("learned",))}
    known = {**options(EmbeddingConfig), **new}
    monkeypatch.setattr(described, "options", lambda _: known)
    table = {"name": "learned", "scale": 0.5, "bias": True}
    assert embedding_text(table) == "learned:scale=0.5:bias"
    assert options_in_words(table) == ["scale 0.5", "bias"]
    monkeypatch.setattr(EmbeddingConfig, "as_dict", lambda self: table)
    assert learned.label == "learned-scale0.5-bias"
