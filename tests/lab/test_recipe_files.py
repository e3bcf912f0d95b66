"""Recipes that are files: what `adelic tune` writes, `adelic train --recipe` reads."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import tomli_w

from adelic.data.sources import TaskData
from adelic.errors import ConfigurationError, SpaceError, StorageError, UnknownNameError
from adelic_lab import EmbeddingConfig, Experiment, TrainConfig, load_recipe, plan
from adelic_lab.config.recipes import read_recipe_file
from adelic_lab.search.dimensions import Search, apply
from adelic_lab.search.tuning import StudyResult, TrialResult

COMMITTED = sorted((Path(__file__).parents[2] / "experiments" / "recipes").rglob("*.toml"))
VALUES = {"learning-rate": 0.002, "norm": "post", "features": "characters", "primes": 3, "precision": 6}


@pytest.fixture
def study():
    """A study of one made-up trial."""
    config = Experiment(
        data=TaskData("schubert", 4),
        model=EmbeddingConfig.of("adelic", projection="linear"),
        recipe=load_recipe("quick", "schubert-4", epochs=5, batch_size=32),
    )
    trial = TrialResult(
        number=0,
        state="complete",
        accuracy=0.5,
        loss=0.7,
        epochs=5,
        samples=50,
        seconds=1.0,
        reason=None,
        values=VALUES,
    )
    return StudyResult(
        search=Search(config=config, dimensions=tuple(VALUES)),
        trials=(trial,),
        n_failed=0,
        device="cpu",
        data_sha256="0",
    )


@pytest.fixture
def path(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "schubert-4-adelic.toml").write_text(study.to_toml(), encoding="utf-8")
    return "recipes/schubert-4-adelic.toml"


def chosen(path, **given):
    """Return the embedding that a file stores, changed by what is given."""
    return Experiment.choose(TaskData("schubert", 4, split="orbits"), recipe=path, **given).embedding


def test_the_round_trip(study, path):
    assert load_recipe(path, "schubert-4") == replace(study.config.recipe, name=path)
    assert chosen(path) == study.config.embedding
    assert study.config.embedding.primes == (2, 3, 5)
    assert study.config.recipe.learning_rate == 0.002


def test_a_learned_embedding_has_no_options(study, tmp_path):
    search = Search(config=replace(study.search.config, model=EmbeddingConfig.of("learned")), dimensions=("norm",))
    learned = replace(study, search=search, trials=(replace(study.trials[0], values={"norm": "pre"}),))
    path = tmp_path / "learned.toml"
    path.write_text(learned.to_toml(), encoding="utf-8")
    assert chosen(str(path)) == EmbeddingConfig.of("learned")


def test_what_is_given_comes_first(path):
    assert load_recipe(path, "schubert-4", epochs=2).epochs == 2
    changed = chosen(path, embedding="adelic", features="digits", primes=None)
    assert (changed.features, changed.primes, changed.projection) == ("digits", (2, 3, 5), "linear")
    assert chosen(path, embedding="learned") == EmbeddingConfig.of("learned")
    with pytest.raises(ConfigurationError, match="--features belongs to"):
        chosen(path, embedding="learned", features="digits")


def test_the_command_names_the_file(path):
    config = Experiment(data=TaskData("schubert", 4), model=chosen(path), recipe=load_recipe(path, "schubert-4"))
    assert config.command() == (
        f"adelic train schubert --n 4 --embedding adelic --features characters --recipe {path} --epochs 5 --seed 0"
    )
    assert config.label.startswith("schubert-4-adelic-characters-schubert-4-adelic-seed0-")
    assert "--projection none" in replace(config, model=chosen(path, projection="none")).command()
    other = replace(config, recipe=replace(config.recipe, learning_rate=1e-3, norm="pre"))
    assert {"--learning-rate 0.001", "--norm pre"} <= set(re.findall(r"--\S+ \S+", other.command()))


def test_the_command_makes_up_for_a_file_that_has_changed_and_none_for_one_that_has_gone(path, tmp_path):
    config = Experiment(data=TaskData("schubert", 4), model=chosen(path), recipe=load_recipe(path, "schubert-4"))
    file = tmp_path / path
    file.write_text(file.read_text().replace('norm = "post"', 'norm = "pre"', 1))
    assert "--norm post" in config.command()  # as it was
    file.unlink()
    assert config.command().startswith("adelic_lab.run,")


def test_a_matrix_takes_the_file_of_each_row_and_embedding(path, study, tmp_path):
    learned = tomli_w.dumps({"recipe": {"learning_rate": 0.5, "epochs": 3}})
    (tmp_path / "recipes" / "schubert-4-learned.toml").write_text(learned)
    searched = (tmp_path / "recipes" / "schubert-4-adelic.toml").read_text()
    form = searched.replace("learning_rate = 0.002", "learning_rate = 0.25")
    (tmp_path / "recipes" / "schubert-4-adelic-digits.toml").write_text(form)
    names = ["adelic", "learned", "adelic:digits"]
    found = plan(["schubert-4"], names, [0], recipe="recipes/{row}-{embedding}.toml")
    assert [config.recipe.learning_rate for config in found] == [0.002, 0.5, 0.25]
    assert [config.embedding.features for config in found] == ["characters", None, "digits"]
    assert found[0].embedding == study.config.embedding
    assert found[1].recipe == TrainConfig(name="recipes/schubert-4-learned.toml", learning_rate=0.5, epochs=3)


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ("recipe = [", ConfigurationError, "is not a recipe"),
        ("\xff", ConfigurationError, "is not a recipe"),
        ("", ConfigurationError, r"\[recipe\] is missing"),
        ("recipe = 3", ConfigurationError, r"\[recipe\] is missing"),
        ("[recipe]\nlearning_rat = 1", ConfigurationError, "unknown 'learning_rat'"),
        ("[recipe]\nname = 'x'", ConfigurationError, "unknown 'name'"),
        ("[recipe]\nlearning_rate = 'fast'\nepochs = 1", ConfigurationError, "learning_rate='fast' must be a positive"),
        # Files have names with _, and a value that looks like an option stays as it is.
        ("[recipe]\nlearning_rate = 'epochs=3'\nepochs = 1", ConfigurationError, "learning_rate='epochs=3' must be"),
        ("[recipe]\nlearning_rate = true\nepochs = 1", ConfigurationError, "learning_rate=True must be"),
        ("[recipe]\nlearning_rate = 1e-3\nepochs = 1.5", ConfigurationError, "epochs=1.5 must be a whole number"),
        ("[recipe]\nlearning_rate = 1e-3\nepochs = 0", ConfigurationError, "epochs=0"),
        ("[recipe]\nlearning_rate = nan\nepochs = 1", ConfigurationError, "learning_rate=nan"),
        ("[recipe]\nepochs = 1", ConfigurationError, "pass --learning-rate"),
        ("embedding = 'adelic'", ConfigurationError, r"\[embedding\] is missing"),
        ("embedding = {}", ConfigurationError, "has no name"),
        ("embedding = {name = 3}", ConfigurationError, "has no name"),
        ("embedding = {name = 'adelik'}", UnknownNameError, "did you mean 'adelic'"),
        ("embedding = {name = 'adelic', primes = ['2']}", ConfigurationError, "primes="),
        ("embedding = {name = 'adelic', primes = [4]}", SpaceError, "4 is not a prime"),
        ("embedding = {name = 'learned', features = 'digits'}", ConfigurationError, "belongs to"),
        ("embedding = {name = 'adelic', colour = 1}", ConfigurationError, "unknown 'colour'"),
    ],
)
def test_damaged_files(tmp_path, content, error, words):
    path = tmp_path / "mine.toml"
    if content.startswith("embedding"):
        content += "\n[recipe]\nlearning_rate = 1e-3\nepochs = 1\n"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(error, match=words):
        Experiment.choose(TaskData("schubert", 4), recipe=str(path))


def test_a_missing_file(tmp_path):
    with pytest.raises(StorageError, match="adelic tune"):
        load_recipe(str(tmp_path / "none.toml"), "schubert-4")
    with pytest.raises(StorageError):
        chosen(str(tmp_path / "none.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(StorageError, match=r"folder\.toml"):
        load_recipe(str(tmp_path / "folder.toml"), "schubert-4")


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_the_committed_recipes_are_the_best_of_their_studies(path):
    tables = read_recipe_file(path)
    study = tables["study"]
    edition = [] if study["edition"] == "published" else [study["edition"]]
    assert path.stem == "-".join([study["task"], str(study["n"]), *edition, tables["embedding"]["name"]])
    assert not study["commit"].endswith("+")
    best = max((t for t in study["trials"] if t["state"] == "complete"), key=lambda t: (t["accuracy"], -t["loss"]))
    assert study["best"]["trial"] == best["number"]
    config = Experiment(
        data=TaskData(study["task"], study["n"], edition=study["edition"], split=study["split"]),
        model=chosen(str(path)),
        recipe=load_recipe(str(path), f"{study['task']}-{study['n']}"),
        seed=study["seed"],
    )
    assert apply(config, {name: value for name, value in best["values"].items() if name != "epochs"}) == config


def test_the_committed_studies_had_equal_budgets():
    assert COMMITTED
    studies = [read_recipe_file(path)["study"] for path in COMMITTED]
    rows = [
        (path.parent.name, study["task"], study["n"], study["edition"])
        for path, study in zip(COMMITTED, studies, strict=True)
    ]
    for row in set(rows):  # of one recipe
        same = [study for study, its_row in zip(studies, rows, strict=True) if its_row == row]
        assert len(same) > 1
        assert len({(len(study["trials"]), study["epochs_per_trial"], study["seed"]) for study in same}) == 1
