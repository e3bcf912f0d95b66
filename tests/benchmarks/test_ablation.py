import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def ablation(monkeypatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("ablation")


def test_variants_are_runs_on_orbits_that_differ_in_one_thing(ablation):
    """Their recipe trains on images of rows, which no other split allows."""
    configs = {name: ablation.configuration(change, 3) for name, change in ablation.VARIANTS.items()}
    assert len({config.label for config in configs.values()}) == len(ablation.VARIANTS)
    assert {(config.data.split, config.row, config.seed) for config in configs.values()} == {
        ("orbits", "schubert-4", 3)
    }
    assert {name for name, config in configs.items() if not config.recipe.symmetries} == {"no-symmetries"}
    base = configs["base"]
    for name, config in configs.items():
        recipe, plain = (c.recipe.as_dict() for c in (config, base))
        changed = {key for key in recipe | plain if recipe.get(key) != plain.get(key)}
        assert len(changed) + (config.embedding != base.embedding) == (name != "base")
