"""Networks that learn drawn tasks: every embedding, each question once, the guard, resuming, refusals."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adelic.cli import app
from adelic.data import rules
from adelic.data.rules import question_rules
from adelic.data.sources import DrawnData
from adelic.errors import ConfigurationError, RunFolderError, UnknownNameError
from adelic.nn import LocalGlobalClassifier, SequenceClassifier, Vocabulary
from adelic.numbers import AdeleSpace
from adelic_lab import EmbeddingConfig, Experiment, load_recipe, run, trained_network
from adelic_lab.config.embedding import FUSIONS
from adelic_lab.config.models import SolverConfig, Steps
from adelic_lab.models.network import build_model
from adelic_lab.runs.judging import development
from adelic_lab.train.passes import tokens_of
from adelic_lab.train.sampler import PassSampler
from adelic_lab.train.signals import Stopped

SMALL = {"epochs": 2, "batch_size": 64, "n_layers": 1, "n_heads": 2, "d_model": 16, "d_feedforward": 32}
CASES = {"test_cases": 200, "never_seen_cases": 100}
AOE = {"projection": "linear", "primes": (2, 3, 5), "precision": 3}


def experiment(task="gcd", *, examples=400, embedding="adelic", recipe=None, seed=0, **options):
    data = DrawnData(task, examples, **CASES)
    return Experiment(
        data=data,
        model=EmbeddingConfig.of(embedding, **(AOE if embedding == "adelic" and not options else options)),
        recipe=load_recipe("fresh", data.row, **SMALL | (recipe or {})),
        seed=seed,
    )


def built(config):
    data = development(config)
    return build_model(config, data), data


@pytest.mark.long
@pytest.mark.parametrize(
    ("embedding", "options"),
    [
        ("adelic", AOE | {"features": "digits"}),
        ("adelic", AOE | {"features": "characters"}),
        ("adelic", AOE | {"features": "one-hot-digits"}),
        ("adelic", AOE | {"features": "valuation-unit", "precision": {2: 4, 3: 2, 5: 1}}),
        ("base-digits", {"base": 30}),
        ("residues", {"n_primes": 5}),
        ("angular", {"modulus": 97}),
        ("fone", {}),
        ("xval", {}),
        ("periodic", {"sigma": 0.3}),
        ("abacus", {}),
    ],
)
def test_every_embedding_reads_open_ended_numbers(tmp_path, embedding, options):
    config = experiment(embedding=embedding, **options)
    result = run(config, tmp_path, device="cpu")
    assert result.rows == {"train": 400, "validation": 200, "test": 200}
    assert result.test.keys() == {"accuracy", "cases", "correct", "unanswered"}
    assert len(result.history["validation_accuracy"]) == 2
    assert f"--embedding {embedding}" in result.command
    assert result.command.startswith("adelic train gcd --examples 400")
    counts = result.by_class["test"]
    assert sum(counts["cases"]) == 200
    assert sum(counts["correct"]) == result.test["correct"]
    assert result.by_class.keys() == {"test", *result.never_seen}


def test_each_epoch_counts_the_classes_that_are_learned(tmp_path):
    """By questions of its own that have every class equally often: the count is what asking them by hand gives."""
    config = experiment(examples=2000, recipe={"epochs": 3})
    result = run(config, tmp_path, device="cpu")
    data = development(config)
    X, y = data.every_class
    assert len(y) == CASES["test_cases"]
    assert not (X[:, None] == data.X_train).all(axis=2).any()
    predicted = trained_network(config, tmp_path)(torch.from_numpy(X)).argmax(axis=1).numpy()
    learned = sum((predicted[y == k] == k).mean() >= 0.95 for k in np.unique(y))
    assert result.history["learned_classes"][-1] == learned
    assert len(result.history["learned_classes"]) == 3


def test_a_task_of_few_classes_counts_none(tmp_path):
    assert "learned_classes" not in run(experiment("conic"), tmp_path, device="cpu").history


@pytest.mark.parametrize("embedding", ["learned", "one-hot", "random"])
def test_a_vector_a_number_where_numbers_are_few(tmp_path, embedding):
    """The numbers are 0 to the greatest that can occur; those that training lacks have a vector, too."""
    data = DrawnData("modular-sum", 300, task_options=("modulus=31", "terms=3"), **CASES)
    config = replace(experiment(), data=data)
    assert config.vocabulary is None  # AOE reads any number
    config = replace(config, model=EmbeddingConfig.of(embedding))
    assert config.vocabulary == tuple(range(31))
    result = run(config, tmp_path, device="cpu")
    network = trained_network(config, tmp_path)
    again = network(torch.from_numpy(next(data.tests(0, data.questions(0)[0]))[0])).argmax(dim=-1)
    answers = next(data.tests(0, data.questions(0)[0]))[1]
    assert (again.numpy() == answers).sum() == result.test["correct"]


@pytest.mark.long
def test_a_network_learns_what_its_digits_say(tmp_path):
    """The residue modulo 5 of a number is its lowest digit there; base 10 has it, too, and xVal has not."""
    accuracies = {}
    for embedding, options in (("adelic", AOE | {"features": "one-hot-digits"}), ("xval", {})):
        data = DrawnData("residue", 20_000, task_options=("modulus=5",), **CASES)
        recipe = load_recipe("fresh", data.row, **SMALL | {"learning_rate": 1e-2, "epochs": 4})
        config = Experiment(data=data, model=EmbeddingConfig.of(embedding, **options), recipe=recipe)
        accuracies[embedding] = run(config, tmp_path / embedding, device="cpu").test["accuracy"]
    assert accuracies["adelic"] > 0.95
    assert accuracies["xval"] < 0.4


def trivial_rule(data, seed=0, first=None):
    """The best trivial rule of the training questions, and its accuracy on the test."""
    X, y = data.questions(seed)
    asked, wanted = next(data.tests(seed, X))
    rule = question_rules(data.drawn, X[:first], y[:first])[0]
    return rule.name, np.mean(rule.answers(asked) == wanted)


@pytest.mark.parametrize("solver", [False, True])
def test_the_best_trivial_rule_stands_beside_a_result(tmp_path, solver):
    """It is learnt from training questions: how many are asked in the test, and which, makes no difference."""
    config = experiment("squarefree")
    if solver:
        config = replace(config, model=SolverConfig(name="xval"), recipe=Steps(steps=2))
    result = run(config, tmp_path / "run", device="cpu")
    assert (result.rule_name, result.rule) == trivial_rule(config.data)
    assert result.rule > 0.8 > result.majority  # squares of 2, 3 and 5
    data = DrawnData("squarefree", 400, test_cases=50, never_seen_cases=10)
    other = run(replace(config, data=data), tmp_path / "other", device="cpu")
    assert other.rule_name == result.rule_name
    assert other.rule == trivial_rule(data)[1] != result.rule


def test_the_trivial_rule_is_learnt_from_the_first_questions(tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "MOST_QUESTIONS", 20)
    config = experiment("squarefree")
    result = run(config, tmp_path, device="cpu")
    assert (result.rule_name, result.rule) == trivial_rule(config.data, first=20) != trivial_rule(config.data)


KNOWING = """
from adelic_lab.models.solvers import Solver


class Knowing(Solver):
    def fit(self, problem, operands, answers, *, seed, steps, progress=None):
        self.problem = problem

    def answer(self, operands):
        return self.problem.solve(operands)

    n_parameters = 0
"""


def test_a_rule_is_judged_on_the_questions_that_confirm_a_model_too(tmp_path, monkeypatch):
    """A model that answers all of the first test questions is asked the others; the rule is judged on all of them."""
    (tmp_path / "knowing_solver.py").write_text(KNOWING)
    monkeypatch.syspath_prepend(tmp_path)
    data = DrawnData("squarefree", 400, test_cases=100, confirmation_cases=500, never_seen_cases=5)
    config = Experiment(data=data, model=SolverConfig(name="knowing_solver:Knowing"), recipe=Steps(steps=1))
    result = run(config, tmp_path / "run", device="cpu")
    assert (result.rows["test"], result.test["accuracy"]) == (500, 1.0)
    X, y = data.questions(0)
    asked, wanted = map(np.concatenate, zip(*data.tests(0, X), strict=True))
    assert result.rule == question_rules(data.drawn, X, y)[0].accuracy(asked, wanted)
    assert len(asked) == 500


def test_results_without_a_rule_are_read(tmp_path):
    """Those of tasks with numbers as answers, and older ones."""
    data = DrawnData("collatz", 200, test_cases=5, confirmation_cases=5, never_seen_cases=5)
    config = Experiment(data=data, model=SolverConfig(name="xval"), recipe=Steps(steps=1))
    result = run(config, tmp_path, device="cpu")
    assert result.rule is result.rule_name is None
    assert "rule" not in json.loads((tmp_path / "result.json").read_text())
    assert run(config, tmp_path, device="cpu") == result


def test_each_question_is_trained_on_once_and_in_passes():
    sampler = PassSampler(10, passes=1, epochs=3, batch_size=4, seed=0)
    assert torch.cat([sampler.rows(epoch) for epoch in range(3)]).tolist() == list(range(10))
    several = PassSampler(10, passes=3, epochs=4, batch_size=4, seed=0)
    rows = torch.cat([several.rows(epoch) for epoch in range(4)]).tolist()
    assert all(sorted(rows[first : first + 10]) == list(range(10)) for first in (0, 10, 20))
    assert rows[:10] == list(range(10)) != rows[10:20] != rows[20:]
    assert len(several) == max(-(-len(several.rows(epoch)) // 4) for epoch in range(4))
    with pytest.raises(ConfigurationError, match="11 epochs cannot share 10 questions; use --epochs 10 at most"):
        PassSampler(10, passes=1, epochs=11, batch_size=4, seed=0)


def test_a_run_that_is_stopped_goes_on(stop_at, tmp_path):
    config = experiment(recipe={"epochs": 3})
    whole = run(config, tmp_path / "whole", device="cpu")
    with pytest.raises(Stopped, match="stopped in epoch 2"):
        run(config, tmp_path / "cut", device="cpu", stop=stop_at(4))
    again = run(config, tmp_path / "cut", device="cpu")
    assert (again.test, again.history) == (whole.test, whole.history)
    assert (tmp_path / "cut" / "metrics.jsonl").read_text() == (tmp_path / "whole" / "metrics.jsonl").read_text()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (lambda: experiment("collatz"), "collatz-400 has numbers as answers.*use --solver"),
        (lambda: experiment(recipe={"sampling_power": 0.5}), "--sampling-power must be 0"),
        (lambda: experiment(recipe={"max_rows": 10}), "--max-rows left out"),
        (lambda: experiment(embedding="learned"), "gcd-400 has too many numbers for --embedding learned"),
        (lambda: experiment(places="late", primes=(2, 3)), "--places late has one vector per number"),
        (lambda: experiment(places="signs", primes=(2, 3)), "--places signs is for two classes, and gcd-400 has"),
        (lambda: experiment(recipe={"symmetries": True}), "gcd has no symmetries"),
    ],
)
def test_what_a_network_cannot_learn(config, message):
    with pytest.raises(ConfigurationError, match=message):
        config()


def test_passes_belong_to_drawn_tasks(refused):
    assert "--passes is for drawn tasks" in refused("train", "schubert", "--n", 3, "--recipe", "quick", "--passes", 2)
    assert "--steps is for --solver" in refused("train", "gcd", "--embedding", "fone", "--steps", 3)
    assert "--embedding is for networks" in refused("train", "gcd", "--embedding", "fone", "--solver", "fone")


def test_the_command_line_trains_a_network_on_a_drawn_task(works, tmp_path):
    words = "--examples 200 --test-cases 50 --never-seen-cases 20 --epochs 1 --d-model 16 --n-layers 1 --n-primes 3"
    given = ["train", "squarefree", "--embedding", "residues", *words.split(" "), "--run-dir", tmp_path]
    text = works(*given)
    assert "squarefree by residues from 200 examples: test:" in text
    stored = json.loads((tmp_path / "result.json").read_text())
    assert f" %, best baseline ({stored['rule_name']}) {100 * stored['rule']:.2f} %, " in text
    assert stored["configuration"]["embedding"] == {"name": "residues", "n_primes": 3}
    again = works(*stored["command"].split()[1:], "--run-dir", tmp_path)
    assert again == text  # the printed command is this run


@pytest.mark.parametrize("places", FUSIONS)
@pytest.mark.parametrize("features", ["one-hot-digits", "valuation-unit"])
@pytest.mark.parametrize("tied", [False, True])
def test_local_global_networks_are_built(places, features, tied):
    config = experiment("conic", primes=(2, 3, 5), precision=3, places=places, features=features, tied=tied)
    model, data = built(config)
    assert isinstance(model, LocalGlobalClassifier)
    assert (model.fusion, model.tied) == (places, tied)
    assert model(torch.from_numpy(data.ids(data.X_train[:5]))).shape == (5, 2)
    open_ended, _ = built(experiment("squarefree", primes=(2, 3, 5), places=places, features=features, tied=tied))
    assert open_ended.hot is None


def test_a_joint_of_signs_is_their_product():
    model = LocalGlobalClassifier(AdeleSpace((2, 3), 2), n_classes=2, length=1, fusion="signs", width=8)
    rows = torch.tensor([[5], [-6], [12]])
    product = torch.stack(list(model.local(rows).values())).prod(dim=0)
    probabilities = model(rows).softmax(dim=-1)
    torch.testing.assert_close(probabilities[:, 1] - probabilities[:, 0], product, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("features", ["one-hot-digits", "valuation-unit"])
def test_a_joint_of_products_is_multiplicative(features):
    """Of coprime numbers the answers at a prime are those of whichever it divides, and 0 where it divides neither."""
    space = AdeleSpace((2, 3, 5, 7), 3)
    model = LocalGlobalClassifier(space, n_classes=3, length=1, fusion="product", features=features, width=8)
    assert not model.answers(torch.tensor([[1]])).any()
    if features == "valuation-unit":  # units say nothing before they are trained
        of_primes = model.answers(torch.tensor([[12], [25], [300], [11 * 13]]))[:, 1:]
        torch.testing.assert_close(of_primes[0] + of_primes[1], of_primes[2])
        assert not of_primes[3].any()
        says = of_primes[:2].abs().amax(dim=2) > 0
        assert says.tolist() == [[True, True, False, False], [False, False, True, False]]
        begins = model.answers(torch.tensor([[p**2] for p in space.primes]))[:, 1:]  # and valuations mean one thing
        torch.testing.assert_close(begins.diagonal(dim1=0, dim2=1), begins[0, :1].T.expand(-1, 4))


def test_what_a_joint_of_products_reads():
    model = LocalGlobalClassifier(AdeleSpace((2, 3), 2), n_classes=3, length=2, fusion="product", width=5)
    rows = torch.tensor([[5, 1], [-6, 12]])
    roots, turns = model.answers(rows).chunk(2, dim=-1)
    factors = torch.exp(torch.complex(-roots.square(), math.pi * turns))
    product = factors.prod(dim=1)
    assert product.shape == (2, 2)
    assert (product.abs() < 1).all()
    torch.testing.assert_close(model(rows), model.head(torch.cat([product.real, product.imag], dim=-1)))


@pytest.mark.parametrize("tied", [False, True])
def test_a_joint_of_products_learns_a_parity(tied):
    """The number of primes up to 31 that divide n, modulo 2."""
    space = AdeleSpace((2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31), 1)
    numbers = np.random.default_rng(0).integers(1, 10**9, size=(6000, 1))
    parity = sum((numbers[:, 0] % p == 0).astype(int) for p in space.primes) % 2
    torch.manual_seed(0)
    options = {"features": "valuation-unit", "fusion": "product", "tied": tied, "width": 32, "n_layers": 1}
    model = LocalGlobalClassifier(space, n_classes=2, length=1, **options)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for rows in np.array_split(np.tile(np.arange(5000), 4), 80):
        loss = torch.nn.functional.cross_entropy(model(numbers[rows]), torch.from_numpy(parity[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = model(numbers[5000:]).argmax(dim=-1).numpy() == parity[5000:]
    assert right.mean() > 0.99


def test_a_joint_of_agreement_is_certain_where_no_place_objects():
    model = LocalGlobalClassifier(AdeleSpace((2, 3), 2), n_classes=2, length=1, fusion="agree", width=8)
    rows = torch.tensor([[5], [-6]])
    objections = torch.stack(list(model.local(rows).values())).sum(dim=0)
    logits = model(rows)
    torch.testing.assert_close(logits[:, 1] - logits[:, 0], model.bias - objections)
    assert (objections > 0).all()


def test_a_place_that_does_not_object_can_still_learn_to():
    """A place far from objecting has a gradient: of places alone, not of the bias that all share."""
    model = LocalGlobalClassifier(AdeleSpace((2, 3), 2), n_classes=2, length=1, fusion="agree", width=8)
    torch.nn.init.constant_(model.biases[-1], -20.0)
    logits = model(torch.tensor([[5], [-6], [12]]))
    torch.nn.functional.cross_entropy(logits, torch.tensor([1, 0, 1])).backward()
    assert model.weights[-1].grad.abs().amax(dim=(1, 2)).min() > 1e-3


def test_tied_primes_have_one_law_and_one_meaning_of_a_valuation():
    options = {"fusion": "agree", "features": "valuation-unit", "width": 8, "tied": True}
    model = LocalGlobalClassifier(AdeleSpace((2, 3, 5, 7), 2), n_classes=2, length=1, **options)
    said = model.local(torch.tensor([[9], [25], [49]]))  # each a square at one prime, where no unit is known
    squares = [said["3"][0], said["5"][1], said["7"][2]]
    assert squares[0].item() == pytest.approx(squares[1].item()) == pytest.approx(squares[2].item())
    assert said["3"][1].item() != pytest.approx(said["3"][0].item())


def test_tied_valuations_are_no_units_where_the_first_odd_prime_has_few_digits():
    space = AdeleSpace(precision={3: 1, 5: 3})
    model = LocalGlobalClassifier(space, n_classes=2, length=1, features="valuation-unit", width=8, tied=True)
    hot, _ = model._features([[q] for q in range(1, 126)])
    assert not set(hot[..., 0].flatten().tolist()) & set(hot[..., 1].flatten().tolist())


def test_refusals_of_local_global_networks():
    space = AdeleSpace((2, 3), 2)
    with pytest.raises(UnknownNameError, match="unknown fusion 'agrees'; did you mean 'agree'"):
        LocalGlobalClassifier(space, n_classes=2, length=1, fusion="agrees")
    with pytest.raises(ConfigurationError, match="tells two classes apart, not 3; use fusion='sum' or 'product'"):
        LocalGlobalClassifier(space, n_classes=3, length=1, fusion="signs")
    with pytest.raises(ConfigurationError, match="an example of 2 numbers"):
        LocalGlobalClassifier(space, n_classes=2, length=1)(torch.tensor([[1, 2]]))
    for fusion in ("sum", "product"):
        with pytest.raises(ConfigurationError, match="`answers` has them"):
            LocalGlobalClassifier(space, n_classes=2, length=1, fusion=fusion).local(torch.tensor([[1]]))
    with pytest.raises(ConfigurationError, match="--tied belongs to --places agree, signs, sum or product"):
        EmbeddingConfig.of("adelic", tied=True)
    with pytest.raises(ConfigurationError, match="with 'agree' use one-hot-digits, residues, valuation-unit"):
        EmbeddingConfig.of("adelic", places="agree", features="digits")


def test_a_token_embedding_has_its_tokens_in_a_transformer():
    config = experiment("gcd", embedding="base-digits", base=10)
    model, _ = built(config)
    assert isinstance(model, SequenceClassifier)
    assert model.max_length == 2 * (1 + 7)  # two numbers up to 10^6, with their signs
    assert model.place(torch.tensor([[12, 10**6]])).shape == (1, 17, 16)


def test_weights_of_local_global_networks_know_their_places():
    one, other = (
        LocalGlobalClassifier(AdeleSpace(primes, 2), n_classes=2, length=1, width=4) for primes in ((2, 3), (3, 2))
    )
    with pytest.raises(ConfigurationError, match="primes"):
        other.load_state_dict(one.state_dict())


@pytest.mark.parametrize("row", [[-1], [2]])
def test_ids_outside_the_vocabulary_are_refused(row):
    model = LocalGlobalClassifier(AdeleSpace((2, 3), 2), n_classes=2, length=1, width=4, vocabulary=Vocabulary([5, 7]))
    with pytest.raises(IndexError):
        model(torch.tensor([row]))


def test_parts_of_a_batch_are_counted_in_tokens():
    """A row of residues has many tokens for a number, and a part of a batch is to be small in memory."""
    model, data = built(experiment("gcd", embedding="residues", n_primes=9))
    assert tokens_of(model, torch.from_numpy(data.X_train)) == 1 + 2 * 9
    assert model.place(torch.from_numpy(data.X_train[:3])).shape[1] == 1 + 2 * 9
    plain, _ = built(experiment("gcd", embedding="fone"))
    assert tokens_of(plain, torch.from_numpy(data.X_train)) == 3


def test_the_network_of_a_run_answers_as_its_result_says(tmp_path):
    config = experiment("conic", embedding="adelic", places="agree", precision={2: 4, 3: 2, 5: 2})
    with pytest.raises(RunFolderError, match="holds no finished run; this makes it one: adelic train conic"):
        trained_network(config, tmp_path / "run")
    result = run(config, tmp_path / "run", device="cpu")
    before = torch.get_rng_state()
    network = trained_network(config, tmp_path / "run")
    assert (torch.get_rng_state() == before).all()
    operands, _ = config.data.questions(0)
    asked, wanted = next(config.data.tests(0, operands))
    ids = np.searchsorted(config.data.vocabulary, asked)
    assert int((network(torch.from_numpy(ids)).argmax(dim=1).numpy() == wanted).sum()) == result.test["correct"]
    with pytest.raises(RunFolderError, match=r"another configuration: seed is 0 there and 1 here"):
        trained_network(replace(config, seed=1), tmp_path / "run")
    (tmp_path / "run" / "checkpoint.safetensors").unlink()
    with pytest.raises(RunFolderError, match="safetensors is gone"):
        trained_network(config, tmp_path / "run")


def test_a_solver_has_no_network(tmp_path):
    config = Experiment(data=DrawnData("addition", 10), model=SolverConfig(name="xval"), recipe=Steps(steps=1))
    with pytest.raises(ConfigurationError, match="xval is not a network"):
        trained_network(config, tmp_path)


def test_a_network_has_the_places_of_its_task_unless_others_are_given():
    gcd, squarefree = DrawnData("gcd", 100), DrawnData("squarefree", 100)
    assert Experiment.choose(gcd, recipe="fresh").embedding.space() == gcd.drawn.space
    assert Experiment.choose(gcd, recipe="fresh").embedding.projection is None  # they fit into 128 coordinates
    assert Experiment.choose(gcd, recipe="fresh", d_model=32).embedding.projection == "linear"
    assert Experiment.choose(squarefree, recipe="fresh").embedding.projection == "linear"
    assert Experiment.choose(squarefree, recipe="fresh", places="agree").embedding.projection is None
    assert Experiment.choose(squarefree, recipe="fresh", places="agree").embedding.space() == squarefree.drawn.space
    for given in ({"primes": (2, 3, 5)}, {"precision": 4}, {"fractional_digits": 1}, {"precision": {2: 3, 7: 1}}):
        one = Experiment.choose(gcd, recipe="fresh", **given)
        assert one.embedding.space() == EmbeddingConfig.of("adelic", **given).space()
    assert Experiment.choose(gcd, recipe="fresh", embedding="fone").embedding.primes is None
    assert Experiment.choose(DrawnData("sorting", 100), recipe="fresh").embedding.space() == AdeleSpace()
    other = DrawnData("conic", 100, task_options=("max_prime=13",))
    assert Experiment.choose(other, recipe="fresh").embedding.primes == (2, 3, 5, 7, 11, 13)


@pytest.mark.parametrize("given", [{}, {"primes": (2, 3, 5, 7, 11, 13, 17), "precision": 16}, {"precision": 3}])
def test_the_command_of_a_run_repeats_it_whatever_the_task_asks_for(given):
    from adelic_lab.cli.experiments import experiment

    one = Experiment.choose(DrawnData("gcd", 100), recipe="fresh", **given)
    words = ["train", *one.arguments()]
    _, bound, _ = app().parse_args(words, exit_on_error=False, print_error=False, help_on_error=False)
    bound.apply_defaults()
    about = {key: value for key, value in bound.arguments.items() if key not in NOT_OF_AN_EXPERIMENT}
    assert experiment(about.pop("task"), about) == one


NOT_OF_AN_EXPERIMENT = ("run_dir", "device", "devices", "nodes", "node_rank", "tensorboard", "restart")
