"""Predictions of new rows: by the weights of the run, for numbers of its table and for others."""

import numpy as np
import pytest
import torch

from adelic import nn
from adelic.data import TableData
from adelic.errors import ConfigurationError, RunFolderError
from adelic_lab import Experiment, predict, predictor, run
from adelic_lab.models.network import WordEmbedding

FORMS = {
    "digits": {"features": "digits"},
    "hot": {"features": "one-hot-digits", "projection": "linear", "primes": (2, 3), "precision": 6},
    "fone": {"embedding": "fone"},
    "xval": {"embedding": "xval"},
    "base-digits": {"embedding": "base-digits"},
    "abacus": {"embedding": "abacus"},
    "late": {"features": "characters", "places": "late"},
    "learned": {"embedding": "learned"},
}


@pytest.fixture
def trained(tmp_path):
    """Return the folder, the result and the data of a small run on a table."""

    def make(form, target="kind", columns=("n", "m"), answer=None):
        path = tmp_path / "mine.csv"
        lines = "".join(f"{n},{n % 37},{'xy'[n % 2]}\n" for n in range(60))
        path.write_text(f"n,m,kind\n{lines}", encoding="utf-8")
        table = TableData(str(path), target=target, columns=columns, answer=answer)
        small = {"epochs": 1, "n_layers": 1, "d_model": 32, "n_heads": 2, "d_feedforward": 32}
        experiment = Experiment.choose(table, recipe="quick", **small, **FORMS[form])
        result = run(experiment, tmp_path / "run", device="cpu")
        return tmp_path / "run", result, table.load(0)

    return make


def frame_of(d, part):
    return {name: getattr(d, f"X_{part}")[:, i] for i, name in enumerate(d.provenance["columns"])}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_the_table_have_the_predictions_of_the_result(trained, form):
    folder, result, d = trained(form)
    found = predict(folder, frame_of(d, "test"))
    assert found.answers == tuple(d.class_names[i] for i in result.answers()[1])
    assert found.probabilities is not None
    assert all(0.5 <= p <= 1 for p in found.probabilities)


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("late", "learned")])
def test_a_new_number_changes_nothing_for_others(trained, form):
    folder, _, d = trained(form)
    frame = frame_of(d, "test")
    alone = predict(folder, frame)
    more = predict(folder, {name: [*values.tolist(), 77, 98] for name, values in frame.items()})
    assert more.answers[:-2] == alone.answers
    np.testing.assert_allclose(more.probabilities[:-2], alone.probabilities, atol=1e-5)


def test_numbers(trained):
    folder, result, d = trained("digits", target="n", columns=("m",), answer="number")
    assert predict(folder, frame_of(d, "test")).answers == tuple(result.answers()[1].tolist())
    assert predict(folder, {"m": [77]}).probabilities is None


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text.replace("[recipe]", "[reciqe]"), r"config\.toml is damaged: it has no recipe"),
        (lambda text: text.replace("seed", "size", 1), r"config\.toml is damaged: it has no seed"),
        (lambda text: text.replace("path =", "colour = 1\npath ="), r"config\.toml is damaged: its SHA-256"),
        (lambda text: text.replace("target =", "colour ="), r"config\.toml is damaged: it has no data\.target"),
    ],
)
def test_a_damaged_configuration_is_told_in_a_line(trained, damage, words):
    folder, _, d = trained("digits")
    path = folder / "config.toml"
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(RunFolderError, match=words):
        predict(folder, frame_of(d, "test"))


def test_a_folder_without_a_run_is_told(tmp_path):
    with pytest.raises(RunFolderError, match="holds no run; `adelic runs list` lists the runs"):
        predict(tmp_path, {"n": [1]})


@pytest.mark.parametrize("batch", [(), (2,), (2, 1, 3)])
def test_words_have_vectors_before_those_of_numbers(batch):
    embedding = WordEmbedding(nn.AdelicEmbedding([5, 7], d_model=16), n_words=3)
    assert not embedding.words.weight.any()
    torch.nn.init.normal_(embedding.words.weight)
    ids = torch.randint(5, (*batch, 4))
    every = torch.cat([embedding.words.weight, embedding.numbers(torch.tensor([0, 1]))])
    torch.testing.assert_close(embedding(ids), every[ids])
    embedding.extend([9])
    assert embedding.n_ids == 6
    torch.testing.assert_close(embedding(torch.tensor([5])), embedding.numbers(torch.tensor([2])))
    with pytest.raises(ConfigurationError, match="--embedding base-digits has several tokens for a number"):
        WordEmbedding(nn.BaseDigitsEmbedding([5, 7], d_model=16), n_words=3)


def test_batches_have_the_answers_of_the_whole(trained):
    folder, _, d = trained("digits")
    frame = {name: [*values.tolist(), 98, 77] for name, values in frame_of(d, "test").items()}
    ask, size = predictor(folder), len(frame["n"])
    batches = [ask({name: values[i : i + 5] for name, values in frame.items()}) for i in range(0, size, 5)]
    assert sum((batch.answers for batch in batches), ()) == predict(folder, frame).answers
