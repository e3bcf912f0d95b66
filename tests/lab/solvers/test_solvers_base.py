import itertools

import numpy as np
import pytest
import torch

from adelic.errors import AdelicError, ConfigurationError
from adelic.number_theory import task
from adelic_lab.config.names import PACKAGED, TITLES
from adelic_lab.config.recipes import cosine, rate_at
from adelic_lab.models.solvers.base import Schedule, Solver, build_solver, descend

TASKS = [task("addition"), task("modular-sum", terms=3, modulus=11), task("expression"), task("conic")]
"""Each solver in tables learns one of these."""
TRAINED = [name for name in PACKAGED if not TITLES[name].endswith("no network") and "608" not in name]


def rate_of(step, steps, *, peak, warm_up):
    """The rate of a solver's step."""
    return rate_at(step, peak=peak, warm_up=warm_up, left=cosine(step, steps), multiplied=False)


def test_the_learning_rate_rises_and_falls():
    found = [rate_of(step, 100, peak=1e-3, warm_up=5) for step in range(100)]
    assert found[:5] == pytest.approx([0.2e-3, 0.4e-3, 0.6e-3, 0.8e-3, 1e-3], rel=0.01)
    assert all(b < a for a, b in itertools.pairwise(found[5:]))
    assert 0 < found[-1] < 1e-6
    assert rate_of(0, 1, peak=1e-3, warm_up=1) == 1e-3


def test_gradients_are_cut_to_norm_1_and_rates_are_the_schedules():
    """Plain descent of a line with slope 3 and one with slope 4: together of norm 5, cut to 0.6 and 0.8."""
    weights = torch.nn.Parameter(torch.zeros(2))
    told = []
    optimizer = torch.optim.SGD([weights], lr=100.0)
    schedule = Schedule(seed=0, steps=4, learning_rate=0.1, progress=lambda *what: told.append(what))
    network = torch.nn.ParameterList([weights])
    descend(network, lambda step: weights @ torch.tensor([3.0, 4.0]), optimizer, schedule, warm_up=2)
    total = sum(rate_of(step, 4, peak=0.1, warm_up=2) for step in range(4))
    assert weights.tolist() == pytest.approx([-0.6 * total, -0.8 * total])
    assert [(done, of) for done, of, _ in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert told[0][2] == "loss 0"


def test_other_parameters_keep_their_own_rate_and_all_of_their_gradient():
    ours, theirs = torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.zeros(1))
    others = [torch.optim.SGD([theirs], lr=0.5)]
    optimizer = torch.optim.SGD([ours], lr=1.0)
    descend(
        torch.nn.ParameterList([ours, theirs]),
        lambda _: 4 * (ours + theirs).sum(),
        optimizer,
        Schedule(seed=0, steps=3, learning_rate=0.1),
        warm_up=1,
        others=others,
    )
    assert theirs.item() == pytest.approx(-3 * 0.5 * 4)
    assert ours.item() == pytest.approx(-sum(rate_of(step, 3, peak=0.1, warm_up=1) for step in range(3)))


def test_both_orders_double_the_examples():
    """It is given each example, then each with its operands exchanged."""

    class Recording(Solver):
        orders = "both"

        def learn(self, problem, operands, answers, schedule):
            self.given = operands, answers, schedule

        def answer(self, operands):
            raise NotImplementedError

    solver, addition = Recording(), task("addition")
    operands, answers = np.array([[1, 2], [30, 4]]), np.array([3, 34], dtype=object)
    solver.fit(addition, operands, answers, seed=3, steps=5, progress=print)
    assert solver.given[0].tolist() == [[1, 2], [30, 4], [2, 1], [4, 30]]
    assert solver.given[1].tolist() == [3, 34, 3, 34]
    assert solver.given[2] == Schedule(seed=3, steps=5, progress=print)
    for name in ("adelic-placewise", "fone", "residue-table"):
        found = build_solver(f"{name}:orders=both")
        assert found.obstacle(addition) is None
        assert "or they are not two" in found.obstacle(task("subtraction"))


@pytest.mark.parametrize("name", TITLES)
def test_a_solver_that_has_learned_nothing(name):
    solver = build_solver(name)
    assert solver.n_parameters == 0
    with pytest.raises(ConfigurationError, match="nothing is learned yet; call fit first"):
        solver.answer(np.array([[1, 2]]))
    asked, few = next(one for one in TASKS if solver.obstacle(one) is None), solver.least_examples - 1
    examples = asked.sample(few, np.random.default_rng(0))
    message = rf"^examples={few} leaves too few to learn {asked.name} from; give at least {few + 1}$"
    with pytest.raises(ConfigurationError, match=message):
        solver.fit(asked, *examples, seed=0, steps=1)


@pytest.mark.parametrize("name", TRAINED)
def test_all_is_drawn_from_the_seed_and_progress_is_told(name):
    """And torch's own numbers go on as if there had been no training."""
    asked = next(one for one in TASKS if build_solver(name).obstacle(one) is None)
    examples, before, weights = asked.sample(20, np.random.default_rng(0)), torch.get_rng_state(), []
    for seed in (1, 1, 2):
        solver, told = build_solver(name), []
        solver.fit(asked, *examples, seed=seed, steps=2, progress=lambda *what, told=told: told.append(what))
        assert [what[:2] for what in told[-2:]] == [(1, 2), (2, 2)]
        weights.append(torch.cat([p.detach().flatten() for p in solver._network.parameters()]))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert solver.n_parameters == sum(p.numel() for p in solver._network.parameters() if p.requires_grad) > 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fone:widht=3", "unknown option of fone 'widht'; its options: d_model, orders"),
        ("fone:d_model=3", "fone:d_model=3: expected `int`"),
        ("fone:d_model=a", "fone:d_model=a: expected `int`, got `str`"),
        ("fone:orders=mine", "unknown orders of fone 'mine'; values: given, both"),
        ("abacus:autoregressive=perhaps", "abacus:autoregressive=perhaps: expected `bool`, got `str`"),
        ("fone:256", "unknown solver 'fone:256'; did you mean 'fone:d_model=256'?"),
        ("fone:", "unknown solver 'fone:'; did you mean 'fone'?"),
        ("no_such_module:Mine", "the solver 'no_such_module:Mine' cannot be imported: No module named"),
        ("experiments.solvers.parity:Parities", "Parities in experiments.solvers.parity is not a subclass of"),
    ],
)
def test_names_that_are_none_are_refused_in_one_line(name, words):
    with pytest.raises(AdelicError) as caught:
        build_solver(name)
    assert words in str(caught.value)


def test_a_solver_of_ones_own_is_found_in_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend("")  # so that the path is put back afterwards
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_own_solver.py").write_text(
        "from adelic_lab.models.solvers.trivial import LeastSquares\n\n\n"
        "class Mine(LeastSquares):\n    def __init__(self, *, depth: float = 1.0):\n        self.depth = depth\n"
    )
    assert build_solver("my_own_solver:Mine:depth=2.5").depth == 2.5
