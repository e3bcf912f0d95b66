from contextlib import contextmanager

import pytest

from adelic import acd
from adelic.errors import AdelicError, ConfigurationError
from adelic_lab import plan, plan_classical, published_rows, read_results
from adelic_lab.models import network
from adelic_lab.report.frame import model_frame, run_frame


def shape(configs):
    return [(c.row, c.embedding.label, c.seed) for c in configs]


def test_a_plan_is_rows_by_embeddings_by_seeds():
    configs = plan(["schubert-4", "mheight-8"], ["adelic", "learned"], [0, 3], recipe="quick")
    assert shape(configs) == [
        (row, embedding, seed)
        for row in ("schubert-4", "mheight-8")
        for embedding in ("adelic-digits", "learned")
        for seed in (0, 3)
    ]
    assert {c.recipe.name for c in configs} == {"quick"}
    assert {c.data.edition for c in configs} == {"published"}


def test_changes_and_editions():
    how = {"edition": "leaky", "changes": {"epochs": 2, "learning_rate": None}}
    (config,) = plan(["weaving-6"], ["adelic:characters"], [7], recipe="quick", **how)
    assert (config.data.edition, config.seed, config.embedding.features) == ("leaky", 7, "characters")
    assert (config.recipe.epochs, config.recipe.learning_rate) == (2, 1e-3)


def test_no_rows_means_all_that_there_are():
    assert [config.row for config in plan([], ["learned"], [0])] == list(published_rows())
    assert all(row.task in acd.TASKS for row in published_rows().values())


@pytest.mark.parametrize("again", [{"seeds": [0, 0]}, {"rows": ["schubert-4"] * 2}, {"embeddings": ["learned"] * 2}])
def test_a_run_is_planned_once(again):
    """Twice the same run would look like two seeds, with an interval of width 0."""
    options = {"rows": ["schubert-4"], "embeddings": ["learned"], "seeds": [0]} | again
    try:
        configs = plan(**options)
    except ConfigurationError:
        return
    assert len(configs) == 1


@pytest.mark.parametrize(
    ("rows", "embeddings", "seeds", "options", "words"),
    [
        (["schubert4"], ["learned"], [0], {}, "did you mean 'schubert-4'"),
        (["schubert-4"], ["adelic:digit"], [0], {}, "did you mean 'digits'"),
        (["schubert-4"], ["learned:digits"], [0], {}, "features belongs to"),
        (["schubert-4"], ["learned"], [0], {"recipe": "papper"}, "did you mean 'paper'"),
        (["weaving-6"], ["learned"], [0], {"edition": "leeky"}, "did you mean 'leaky'"),
        (["schubert-4"], [], [0], {}, "embedding"),
        (["schubert-4"], ["learned"], [], {}, "seed"),
        (["schubert-4"], ["learned"], [0], {"split": "orbit"}, "did you mean 'orbits'"),
    ],
)
def test_bad_plans(rows, embeddings, seeds, options, words):
    with pytest.raises(AdelicError, match=words):
        plan(rows, embeddings, seeds, **options)


@pytest.mark.parametrize(
    ("rows", "models", "seeds", "words"),
    [
        (["schubert-4"], [], [0], "at least one model"),
        (["schubert-4"], ["mlp"], [], "one seed"),
        (["schubert-9"], ["mlp"], [0], "unknown dataset"),
    ],
)
def test_bad_plans_outside_the_transformer(rows, models, seeds, words):
    with pytest.raises(AdelicError, match=words):
        plan_classical(rows, models, seeds)


def test_a_matrix_resumes_without_training_again(run_in, tiny_config, tmp_path, monkeypatch):
    configs = [tiny_config(name, seed=seed, epochs=2) for name in ("learned", "adelic") for seed in (0, 1)]
    begun, steps, trained, run_epoch = [], [], [], network.Trainer.run_epoch

    @contextmanager
    def show(*run):
        begun.append(run)
        yield lambda done, total, text: steps.append((done, total))

    first = run_in(tmp_path, configs[:3], on_run=show)
    assert begun == [(i, 3, config) for i, config in enumerate(configs[:3])]
    assert any(done == total for done, total in steps)
    (path,) = (tmp_path / "results").iterdir()  # one row, one file
    before = path.read_bytes().splitlines()

    def counting(self, *given):
        trained.append(self.seed)
        return run_epoch(self, *given)

    monkeypatch.setattr(network.Trainer, "run_epoch", counting)
    found = run_in(tmp_path, configs)
    assert trained == [1, 1]  # two epochs of the fourth run
    assert found[:3] == first
    after = path.read_bytes().splitlines()
    assert [line for line in after if line in before] == before  # to the letter, and in their order
    assert len(after) == 4
    written = path.stat().st_mtime_ns
    assert run_in(tmp_path, configs) == found
    assert (trained, path.stat().st_mtime_ns) == ([1, 1], written)
    assert model_frame(run_frame(found)).n_seeds.tolist() == [2, 2]


def test_a_lost_result_file_is_written_again(run_in, tiny_config, tmp_path):
    config = tiny_config(epochs=1)
    (result,) = run_in(tmp_path, [config])
    path = tmp_path / "results" / "schubert-3.jsonl"
    path.unlink()
    run_in(tmp_path, [config])
    assert path.read_bytes() == result.sealed() + b"\n"
    path.write_text("")  # its line alone is lost
    run_in(tmp_path, [config])
    assert read_results(path.parent) == [result]


def test_a_run_that_has_a_result_is_not_run_again(run_in, tiny_config, tmp_path):
    """Not even where its run folder is gone, as in a clone whose results are committed."""
    config = tiny_config(epochs=1)
    first = run_in(tmp_path, [config])
    assert run_in(tmp_path, [config], runs=tmp_path / "none") == first
    assert not (tmp_path / "none").exists()


def test_a_plan_has_a_split():
    (config,) = plan(["weaving-6"], ["learned"], [0], recipe="quick", split="orbits", changes={"symmetries": True})
    assert (config.data.split, config.recipe.symmetries) == ("orbits", True)
    (config,) = plan_classical(["weaving-6"], ["lookup"], [0], split="orbits", symmetries=True)
    assert (config.data.split, config.recipe.symmetries) == ("orbits", True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("adelic:characters:digits", "'adelic:characters:digits' is not an embedding"),
        ("adelic:standardized:late", "features='standardized' belong to places='flat'"),
        ("adelic:characters:laet", "is not an embedding; write adelic:characters or adelic:characters:late"),
        ("learned:late", "--places belongs to the embedding 'adelic'"),
        ("periodic:sigma=1:sigma=2", "gives an option twice"),
        ("periodic:sigm=1", "did you mean 'sigma'"),
        ("periodic:sigma=x", "sigma='x' must be a positive number"),
    ],
)
def test_bad_names_of_embeddings(text, words):
    with pytest.raises(AdelicError, match=words):
        plan(["schubert-4"], [text], [0])
