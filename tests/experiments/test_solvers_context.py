from fractions import Fraction

import numpy as np
import pytest
import torch
from experiments.solvers.context import Context, Hybrid, _Hardest, _in_epochs, _targets
from torch.nn import functional

from adelic.data.drawn import SampledTask
from adelic.errors import ConfigurationError
from adelic.number_theory import task
from adelic_lab.models.solvers import build_solver
from adelic_lab.models.solvers.placewise import decoded, space_for

SMALL = task("collatz", limit=10_000)


def shares_right(solver, asked, examples, steps, *splits):
    """Return the share of right answers to each split's questions, of which none is an example."""
    operands, answers = asked.sample(examples, np.random.default_rng(0))
    solver.fit(asked, operands, answers, seed=0, steps=steps)
    questions = [asked.sample(300, np.random.default_rng(1), split, exclude=operands) for split in splits]
    return [np.mean(solver.answer(X) == right) for X, right in questions]


@pytest.mark.long
@pytest.mark.parametrize(
    ("solver", "asked", "examples", "steps", "larger", "least"),
    [
        (Context, SMALL, 2000, 250, "larger", 0.7),
        (Context, task("subtraction"), 4000, 200, "longer", 0.9),  # two operands
        # No digit at 2 says which number is greater, or what 7 leaves; longer numbers are answered as short ones are.
        (Hybrid, task("maximum"), 2000, 150, "longer", 0.8),
        (Hybrid, task("integer-part"), 500, 100, "longer", 0.8),
    ],
)
def test_it_learns_from_few_examples(solver, asked, examples, steps, larger, least):
    assert min(shares_right(solver(), asked, examples, steps, "test", larger)) > least


@pytest.mark.parametrize("place", [3, 10, 24])
def test_a_wrong_place_is_mended(place):
    _, answers = task("collatz").sample(30, np.random.default_rng(0), "larger")
    space = space_for(task("collatz"))
    digits = _targets(space, answers).long()
    digits[:, place] = (digits[:, place] + 1) % space.primes[place]
    is_digit = torch.arange(max(space.primes)) < torch.tensor(space.primes)[:, None]
    logits = torch.where(is_digit, 10.0 * functional.one_hot(digits, max(space.primes)), -torch.inf)
    assert decoded(space, logits[:, :, None], task("collatz")).tolist() == answers.tolist()


@pytest.mark.long
def test_another_prime_chooses():
    def negated_multiples(operands):
        return np.array([-n if n % 3 == 0 else n for n in operands[:, 0].tolist()], dtype=object)

    asked = SampledTask(
        name="negated multiples of 3",
        title="−n if 3 divides n, else n",
        arity=1,
        draws={"train": lambda n, rng: rng.integers(0, 10**6, (n, 1))},
        solve=negated_multiples,
        max_operand=10**6,
        max_numerator=10**6,
        signed=True,
    )
    solvers = (build_solver("experiments.solvers.context:Context:prime=3"), Context())
    right = [shares_right(solver, asked, 2000, 100, "test")[0] for solver in solvers]
    assert right[0] > 0.9 > right[1]


def test_every_row_comes_before_any_comes_again():
    drawn = torch.cat([_in_epochs(300, step, seed=3) for step in range(3)])[:3000].reshape(10, 300)
    assert (drawn.sort(dim=1).values == torch.arange(300)).all()
    assert not torch.equal(drawn[0], drawn[1])
    assert torch.equal(_in_epochs(300, 1, seed=3), _in_epochs(300, 1, seed=3))


def test_the_hardest_rows_stay_until_they_are_learned():
    hard = _Hardest(10, 3)
    hard.look(torch.arange(5), torch.tensor([5.0, 1.0, 4.0, 3.0, 2.0]))
    assert sorted(hard.rows.tolist()) == [0, 2, 3]
    generator = torch.Generator().manual_seed(0)
    hard.look(torch.tensor([0, 7, 7]), torch.tensor([0.5, 9.0, 9.0]))
    assert sorted(hard.rows.tolist()) == [2, 3, 7]
    assert sorted(hard.draw(9, generator).tolist()) == [2, 3, 7]
    assert len(set(hard.draw(2, generator).tolist()) & {2, 3, 7}) == 2


def test_targets_of_small_and_large_integers_and_fractions():
    space = space_for(SMALL)
    for answers in ([5, -7], [5, 10**30], [Fraction(1, 2), 3]):
        values = np.array(answers, dtype=object)
        expected = [
            [
                value.numerator * pow(value.denominator, -1, p) % p if value.denominator % p else -100
                for p in space.primes
            ]
            for value in answers
        ]
        assert _targets(space, values).tolist() == expected


def test_errors():
    with pytest.raises(ConfigurationError, match=r"^prime=4 is not a prime"):
        Context(prime=4)
    assert Context().obstacle(SMALL) is None
    assert Context().obstacle(task("sum")) == "a context is made of one or two operands"
    assert Context().obstacle(task("fraction-addition")) == "a context is made of integers"
    solver = Context()
    with pytest.raises(ConfigurationError, match="fraction-addition cannot be learned: a context is made of integers"):
        solver.fit(task("fraction-addition"), np.empty((0, 2)), np.empty(0), seed=0, steps=1)
