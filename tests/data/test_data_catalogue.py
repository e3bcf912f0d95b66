import json

import numpy as np
import pytest

from adelic import acd
from adelic.data import catalogue, dataset
from adelic.errors import TaskSizeError, UnknownNameError
from adelic.storage.records import parse_sealed, seal


def test_a_wrong_count_is_noticed(monkeypatch):
    wrong = [{"n": 4, "edition": "published", "counts": {"0": 1052, "1": 1052, "2": 1}, "source": "test"}]
    monkeypatch.setattr(catalogue, "facts", lambda task: wrong)
    results = {check.what: (check.ours, check.published, check.equal) for check in acd.verify("schubert")}
    right = {"rows": (2105, 2105, True), "0": (1052, 1052, True)}
    assert results == right | {"1": (1053, 1052, False), "2": (0, 1, False)}


def test_orbits_are_verified(cache):
    """By the images of the training rows, with the rows and parts that `load` has."""
    checks = acd.verify_orbits("weaving", n=5)
    assert [(check.task, check.n, check.edition) for check in checks] == [("weaving", 5, "published")]
    assert not cache.exists()
    check, p = checks[0], acd.load("weaving", n=5, split="orbits").provenance
    assert check.holds
    assert (check.orbits, check.overlap) == (p["orbits"], 0)
    assert {"all": check.rows, "train": check.train, "validation": check.validation, "test": check.test} == p["rows"]
    assert acd.verify_orbits("lattice", n=10) == []
    assert [(check.n, check.edition, check.holds) for check in acd.verify_orbits("schubert", n=4)] == [
        (4, "published", True),
        (4, "corrected", True),
    ]
    with pytest.raises(UnknownNameError, match="did you mean 'levels'"):
        acd.verify_orbits("weaving", edition="level")


def test_torn_orbits_are_noticed(monkeypatch):
    """Parts that are drawn without regard to orbits."""
    monkeypatch.setattr(dataset, "orbits", lambda X, y, symmetries: np.arange(len(X)))
    (check,) = acd.verify_orbits("weaving", n=5)
    assert check.overlap > 0
    assert not check.holds


def test_facts_are_the_published_ones(published_facts):
    def counts(task, edition):
        facts = catalogue.facts(acd.task(task))
        return {str(fact["n"]): dict(fact["counts"]) for fact in facts if fact["edition"] == edition}

    mheight = {n: list(of.values()) for n, of in counts("mheight", "published").items()}
    assert mheight == published_facts["mheight"]["counts_by_label"]
    levels = {n: sum(of.values()) for n, of in counts("weaving", "levels").items()}
    assert levels == published_facts["weaving"]["levels_rows"]
    schubert = counts("schubert", "published")
    assert {n: counts.pop("0") for n, counts in schubert.items()} == published_facts["schubert"]["published_zeros"]
    assert schubert == published_facts["schubert"]["nonzeros"]


def test_every_published_size_has_a_fact_and_every_estimate_agrees():
    for task in acd.TASKS.values():
        facts = catalogue.facts(task)
        assert set(task.sizes) <= {fact["n"] for fact in facts}
        for fact in facts:
            rows = fact.get("rows", sum(fact["counts"].values()))
            if "rows" not in fact.get("why", {}):
                assert task.estimate(fact["n"], fact["edition"]).rows == rows
            else:
                assert task.estimate(fact["n"], fact["edition"]).rows != rows


def test_verify_errors():
    with pytest.raises(UnknownNameError, match="did you mean 'schubert'"):
        acd.verify("shubert")
    with pytest.raises(UnknownNameError, match="did you mean 'levels'"):
        acd.verify("weaving", edition="level")
    with pytest.raises(UnknownNameError, match="did you mean 'leaky'"):
        acd.verify(edition="leak")
    with pytest.raises(TaskSizeError):
        acd.verify("weaving", n=-1)
    with pytest.raises(TaskSizeError):
        acd.verify(n="8")
    assert acd.verify("mheight", n=12) == []  # nothing is published
    assert {check.task for check in acd.verify(n=8)} == {"mheight", "rsk"}


def test_info_is_json_and_lists_what_is_stored(cache):
    assert acd.info("weaving")["cached"] == []
    provenance = acd.build("weaving", n=4, edition="levels", seed=7)
    about = json.loads(json.dumps(acd.info()))
    assert list(about) == list(acd.TASKS)
    (entry,) = about["weaving"]["cached"]
    assert (entry["n"], entry["edition"], entry["seed"], entry["damaged"]) == (4, "levels", 7, None)
    assert entry["split"] == "published"
    assert entry["rows"] == provenance["rows"]
    assert about["weaving"]["editions"]["levels"]["data"]["7"] == {
        "rows": 162000,
        "memory_bytes": acd.task("weaving").estimate(7, "levels").bytes,
        "length": 25,
        "vocabulary": [0, 1],
        "class_names": ["not a weaving pattern", "weaving pattern"],
    }
    with pytest.raises(UnknownNameError):
        acd.info("weeving")


def test_info_names_damaged_manifests(cache):
    provenance = acd.build("weaving", n=4)
    manifest = cache / "acd" / "weaving" / "n4" / "published" / "seed0" / "manifest.json"
    text = manifest.read_bytes()
    manifest.write_text(seal(parse_sealed(text) | {"generator_version": 99}))
    assert "generator version 99" in acd.info("weaving")["cached"][0]["damaged"]
    manifest.write_bytes(text.replace(b'"generator_version": 1', b'"generator_version": 3'))
    assert "does not have the SHA-256" in acd.info("weaving")["cached"][0]["damaged"]
    manifest.write_text("{")
    assert "is not JSON" in acd.info("weaving")["cached"][0]["damaged"]
    assert provenance["rows"]["all"] == 16
