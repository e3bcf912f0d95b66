"""Fields that have another name today: what older versions wrote is read, and stays as it is."""

import dataclasses
from pathlib import Path

import pytest

from adelic.data.sources import TaskData
from adelic.errors import ConfigurationError
from adelic.storage.records import seal
from adelic_lab import EmbeddingConfig, Experiment, TrainConfig, load_recipe, read_results, run, summarise, tune
from adelic_lab.config.renamed import FIRST_NAMES, first_names, todays_names, with_todays_names
from adelic_lab.report.files import write_result
from adelic_lab.search.dimensions import Search

COMMITTED = sorted((Path(__file__).parents[2] / "recipes" / "compact").glob("*.toml"))
OTHER = {"checkpoint": "last", "pooling": "tokens"}


def of_old(text):
    """Return the TOML that an older version would have written."""
    for name, first in FIRST_NAMES.items():
        assert f"{name} = " in text
        text = text.replace(f"{name} = ", f"{first} = ")
    return text


def of_old_names(result):
    """Return the result that an older version would have written."""
    configuration = result["configuration"]
    return result | {"configuration": configuration | {"recipe": first_names(configuration["recipe"])}}


@pytest.fixture
def compact():
    recipe = load_recipe("compact", "schubert-4")
    return Experiment(data=TaskData("schubert", 4), model=EmbeddingConfig.of("learned"), recipe=recipe)


def test_names_are_those_of_recipes():
    names = {field.name for field in dataclasses.fields(TrainConfig)}
    assert set(FIRST_NAMES) <= names
    assert not set(FIRST_NAMES.values()) & names


def test_one_translation_undoes_the_other():
    table = {"epochs": 3, **OTHER}
    assert first_names(table) == {"epochs": 3, "keep": "last", "readout": "tokens"}
    assert todays_names(first_names(table)) == todays_names(table) == table
    assert with_todays_names({"seed": 0, "recipe": first_names(table)}) == {"seed": 0, "recipe": table}
    assert with_todays_names({"recipe": 3}) == {"recipe": 3}


def test_nothing_is_lost_where_both_names_stand():
    both = {"keep": "best", "checkpoint": "last"}
    assert todays_names(both) == both


def test_a_recipes_file_of_old(tmp_path):
    path = tmp_path / "mine.toml"
    text = '[recipe]\nlearning_rate = 1e-3\nepochs = 3\ncheckpoint = "last"\npooling = "tokens"\n'
    path.write_text(text)
    recipe = load_recipe(str(path), "schubert-4")
    path.write_text(of_old(text))
    assert load_recipe(str(path), "schubert-4") == recipe
    assert (recipe.checkpoint, recipe.pooling) == ("last", "tokens")
    path.write_text(text + 'keep = "best"\n')
    with pytest.raises(ConfigurationError, match=r"has an unknown 'keep'; known: .*checkpoint"):
        load_recipe(str(path), "schubert-4")


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_the_committed_recipes_are_of_old(path):
    recipe = load_recipe(str(path), "-".join(path.stem.split("-")[:2]))
    assert (recipe.checkpoint, recipe.pooling) == ("last", "tokens")


def test_runs_and_studies_keep_their_names(compact):
    """As version 0.1 computed them, so that folders and data bases are found again."""
    assert compact.label == "schubert-4-learned-compact-seed0-80ff7618"
    study = Search(config=compact, dimensions=("norm", "pooling"))
    assert study.name == "schubert-4-learned-compact-seed0-942f2a57"


def test_a_line_of_old_stays_as_it_was_sealed(tiny_config, tmp_path):
    first, second = (tiny_config(epochs=1, **OTHER), dataclasses.replace(tiny_config(epochs=1, **OTHER), seed=1))
    results = [run(config, tmp_path / str(config.seed), device="cpu") for config in (first, second)]
    path = tmp_path / "results" / "schubert-3.jsonl"
    path.parent.mkdir()
    path.write_text(line := seal(of_old_names(results[0].as_dict())) + "\n")
    for config, result in zip((first, second), results, strict=True):
        write_result(path.parent, config, result)
        assert path.read_text().startswith(line)
    assert read_results(path.parent) == results
    (summary,) = summarise(read_results(path.parent))
    assert summary.seeds == (0, 1)
    assert '"checkpoint": "last"' in path.read_text().splitlines()[1]


def test_a_study_of_old_goes_on(tiny_config, tmp_path):
    """In its data base dimensions have their first names, so that old and new trials are of one study."""
    optuna = pytest.importorskip("optuna")
    search = Search(config=tiny_config(epochs=1), dimensions=("pooling",))
    study = tune(search, trials=2, storage=tmp_path / "study.db", device="cpu")
    assert {trial.values["pooling"] for trial in study.trials} == {"cls", "tokens"}
    kept = optuna.load_study(study_name=search.name, storage=f"sqlite:///{tmp_path}/study.db").trials
    assert [list(trial.params) for trial in kept] == [["readout"], ["readout"]]
