"""Plans of drawn tasks: how parts and runs are put together, what is no plan, and that results are of their plan."""

from pathlib import Path

import pytest

from adelic.errors import ConfigurationError
from adelic_lab.plans import experiments, gather, read_plan
from adelic_lab.report.files import read_results

ROOT = Path(__file__).parents[3]
PLAN = """
seeds = 2
data = { test_cases = 200, never_seen_cases = 100 }
steps = { default = { 1 = 10, 50 = 20 }, fone = { 1 = 30 } }

[[part]]
tasks = ["addition", "sum"]
solvers = ["xval", "own", "fone"]
examples = [10, 60]

[[part]]
tasks = ["weekday", "ratio"]
data = { test_cases = 300 }
recipe = { epochs = 2, d_model = 16 }
run = [
    { label = "ours", embedding = { name = "adelic", precision = { 2 = 3, 3 = 2 } } },
    { label = "learned", tasks = ["weekday"], seeds = 1, embedding = { name = "learned" }, recipe = { epochs = 1 } },
]
"""


@pytest.fixture
def plan(tmp_path):
    """Return a function that writes a plan, and returns its path."""

    def write(text):
        path = tmp_path / "plan.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_what_runs_have_in_common_is_said_once(plan):
    series = read_plan(plan(PLAN), own_solvers=["mine:Solver"])
    assert [(one.task, one.label, one.examples, len(one.experiments)) for one in series] == [
        *((task, solver, size, 2) for task in ("addition", "sum") for solver in ("xval", "fone", "mine:Solver")
          for size in (10, 60)),
        ("weekday", "ours", 1000, 2),
        ("weekday", "learned", 1000, 1),
        ("ratio", "ours", 1000, 2),
    ]  # fmt: skip
    first = [one.experiments[0] for one in series]
    assert [one.steps.steps for one in first[:6]] == [10, 20, 30, 30, 10, 20]
    assert {one.data.test_cases for one in first[:12]} == {200}
    assert {(one.data.test_cases, one.data.never_seen_cases, one.recipe.d_model) for one in first[12:]} == {
        (300, 100, 16)
    }
    assert [one.recipe.epochs for one in first[12:]] == [2, 1, 2]
    assert first[12].embedding.primes == (2, 3)
    assert [one.seed for one in experiments(series)] == [0] * 15 + [1] * 14


def test_solvers_have_a_recipe(plan):
    """For all runs of a plan, or of some; what it does not say is the solver's own."""
    own = '[{ solvers = ["xval"] }, { solvers = ["fone"], solver_recipe = { learning_rate = 3e-4 } }]'
    part = f'seeds = 1\nsteps = 30\n[[part]]\ntasks = ["addition"]\nrun = {own}'
    for text, rates in ((part, [None, 3e-4]), (f"solver_recipe = {{ learning_rate = 2e-3 }}\n{part}", [2e-3, 3e-4])):
        found = [one.experiments[0].recipe for one in read_plan(plan(text))]
        assert [(recipe.steps, recipe.learning_rate) for recipe in found] == [(30, rate) for rate in rates]
    [series] = read_plan(plan(part.replace(own, '[{ solvers = ["xval"], solver_recipe = { steps = 9 } }]')))
    assert series.experiments[0].recipe.steps == 9


def test_what_is_said_twice_is_run_once(plan):
    twice = PLAN + PLAN[PLAN.index("[[part]]") :]
    assert read_plan(plan(twice)) == read_plan(plan(PLAN))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("seeds = 2", "seeds = two"), "is not a plan"),
        (("seeds = 2", 'seeds = "2"'), "seeds='2' must be a whole number from 1 to 1,000,000"),
        (("seeds = 2", "seeds = 0"), "seeds=0 must be a whole number from 1 to 1,000,000"),
        (("seeds = 2", "seeds = 900000"), "seeds=900000 make more than 1,000,000 runs of this plan"),
        (
            ("seeds = 2", "seeds = " + 5000 * "["),
            "is not a plan: it is not TOML (its tables or lists are nested too deeply)",
        ),
        (("seeds = 2", ""), "is not a plan (KeyError: 'seeds')"),
        (("seeds = 2", "seeds = 2\nsize = 3"), "a plan has no key size"),
        (("[[part]]", "[[gcd.run]]"), "a plan has no key gcd"),
        (('label = "learned"', "sedes = 3"), "a plan has no key sedes"),
        (("examples = [10, 60]", "examples = 10"), "is not a plan (TypeError"),
        (("examples = [10, 60]", "examples = [0]"), "examples=0 must be"),
        (("1 = 10", "20 = 10"), "[steps] gives no number of steps for xval with 10 examples"),
        (("1 = 10", "1 = 0"), "steps=0 must be a whole number from 1 to 1,000,000,000"),
        (('"addition"', '"adition"'), "did you mean 'addition'"),
        (('"xval", "own"', '".own"'), "unknown solver '.own'"),
        (('"xval", "own"', '"fon"'), "did you mean 'fone'"),
        (('solvers = ["xval", "own", "fone"]', ""), "a run needs either solvers or an embedding"),
        (('tasks = ["weekday"]', 'tasks = ["weekdays"]'), "a run has tasks that its part lacks: weekdays"),
        (('tasks = ["weekday"]', 'tasks = ["ratio"]'), "too many numbers"),
        (("test_cases = 300", "cases = 300"), "is not a plan (TypeError"),
        (
            ("[10, 60]", "[10, 60]\nsolver_recipe = { epochs = 3 }"),
            "solver_recipe has an unknown 'epochs'; known: steps, learning_rate",
        ),
        (("[10, 60]", "[10, 60]\nsolver_recipe = { learning_rate = 0 }"), "solver_recipe: learning_rate=0 must be"),
    ],
)
def test_what_is_no_plan(plan, change, words):
    assert change[0] in PLAN
    with pytest.raises(ConfigurationError) as caught:
        read_plan(plan(PLAN.replace(*change)))
    assert words in str(caught.value)
    assert "plan.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("benchmark", "plans", "results"),
    [
        ("arithmetic", ["full"], "arithmetic"),
        ("arithmetic", ["arithmetic_long"], "arithmetic-long"),
        ("arithmetic", ["arithmetic_searched"], "arithmetic-searched"),
        ("arithmetic", ["arithmetic_digits"], "arithmetic-digits"),
        ("arithmetic", ["arithmetic_mixed"], "mixed"),
        ("arithmetic", ["arithmetic_composition", "arithmetic_programs", "arithmetic_shapes"], "composition"),
        ("number-theory", ["full"], "number-theory"),
        ("number-theory", ["quick"], "number-theory-quick"),
        ("number-theory", ["number_theory_sources"], "number-theory-sources"),
        ("columns", ["full"], "columns"),
        ("columns", ["column_forms"], "column-forms"),
    ],
)
def test_committed_results_are_of_their_plan(benchmark, plans, results):
    """A plan that changed would leave runs behind that no table shows."""
    folder = ROOT / "experiments" / "results" / results
    files = [name if name in ("full", "quick") else ROOT / "experiments" / f"{name}.toml" for name in plans]
    found = [one for file in files for series in gather(read_plan(file, benchmark), folder) for one in series.results]
    assert len(found) == len(read_results(folder)) > 0
