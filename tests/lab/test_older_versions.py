"""What adelic 0.1 wrote in words that have changed since is refused in a line that names that version."""

import pytest

from adelic.errors import ConfigurationError, RunFolderError
from adelic.storage.records import seal
from adelic_lab import load_recipe, run
from adelic_lab.results.result import Result


def test_a_run_folder_of_old(tiny_config, tmp_path):
    config = tiny_config(epochs=1, checkpoint="last")
    result = run(config, tmp_path / "run", device="cpu")
    path = tmp_path / "run" / "config.toml"
    path.write_text(path.read_text().replace("checkpoint = ", "keep = "))
    with pytest.raises(RunFolderError, match=r"recipe\.(keep|checkpoint) is .* \(a run of adelic 0\.1 goes on with"):
        run(config, tmp_path / "run", device="cpu")
    configuration = result.configuration | {"recipe": result.configuration["recipe"] | {"keep": "last"}}
    with pytest.raises(RunFolderError, match=r"recipe\.keep, a word of adelic 0\.1: read it, or go on, with that"):
        Result.parse(seal(result.as_dict() | {"configuration": configuration}).encode(), "result.json")


def test_a_recipes_file_of_old(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[recipe]\nlearning_rate = 1e-3\nepochs = 3\nkeep = "last"\n')
    with pytest.raises(ConfigurationError, match=r"has an unknown 'keep'; known: .*checkpoint"):
        load_recipe(str(path), "schubert-4")
