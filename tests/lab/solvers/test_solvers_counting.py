import numpy as np
import pytest

from adelic.data import drawn_task
from adelic.errors import ConfigurationError, SpaceError
from adelic_lab.models.solvers import build_solver


@pytest.mark.parametrize(
    ("task", "examples", "least", "options", "chosen"),
    [
        ("gcd", 30_000, 0.72, "", "naive Bayes of valuations, 1e-30"),
        ("squarefree", 20_000, 0.99, "", "naive Bayes of valuations, 1e-30"),
        ("conic", 30_000, 0.95, ":features=valuation-unit", "naive Bayes of valuations and units, 1e-30"),
        ("collatz", 20_000, 0.99, "", "functions a·x + b, by digits at 2"),
        ("distance", 300, 1, "", "functions a·x + b, by the order of operands"),
        ("residue", 3000, 1, ":places=2^7+97", "naive Bayes of valuations and units, 1e-30"),
        ("residue", 3000, 0, ":places=2^7+3^5+89", ""),  # 97 is not told
        ("modular-sum", 500, 0, "", ""),
        ("sum", 200, 0, ":places=97", "the most frequent answer"),
    ],
)
def test_what_counting_on_the_same_inputs_gives(task, examples, least, options, chosen):
    problem, rng, table = drawn_task(task), np.random.default_rng(0), build_solver(f"counting-table{options}")
    operands, answers = problem.sample(examples, rng)
    table.fit(problem, operands, answers, seed=0, steps=1)
    asked, wanted = problem.sample(2000, rng, "test", exclude=operands)
    right = (table.answer(asked) == wanted).mean()
    assert least <= right <= max(2 * least, 0.05)
    assert table.chosen.startswith(chosen)


def test_what_it_cannot_read():
    assert build_solver("counting-table").obstacle(drawn_task("fraction-addition")) == "it reads integers alone"
    for places in ("2^x", "4", "2^0"):
        with pytest.raises((ConfigurationError, SpaceError)):
            build_solver(f"counting-table:places={places}")
