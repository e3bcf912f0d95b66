"""Search the learning rate of each solver on sums and products, and write the plan that trains with what was found.

    python experiments/arithmetic_searches.py --budget 2h    # a minute if no budget is given; the next call goes on
    adelic reproduce arithmetic --plan experiments/arithmetic_searched.toml \
        --results-dir experiments/results/arithmetic-searched

Written down before the first run: from 10,000 examples each solver has eight trials, one per rate of RATES, with as
many steps as in other plans of this benchmark. `adelic tune` judges them by 10,000 questions for validation.
The rate with the most right answers is taken; if rates are equal, the solver's own, or else the first that was tried.
"""

import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, Literal

import common
import tomli_w

from adelic.cli.options import Duration
from adelic.storage.files import atomic_write
from adelic.storage.records import parse_toml
from adelic_lab.config.models import SolverConfig
from adelic_lab.models.solvers import build_solver
from adelic_lab.report.arithmetic import percent
from adelic_lab.report.table import NONE, NOT_RUN, Table

SEARCHES, PLAN = common.RESULTS / "searches", common.ROOT / "experiments" / "arithmetic_searched.toml"
TASKS, EXAMPLES = ("addition", "multiplication"), 10_000
RATES = ("1e-4", "2e-4", "5e-4", "1e-3", "2e-3", "5e-3", "1e-2", "2e-2")
"""Evenly spaced on a logarithmic scale, up to rounding; the solvers' own, 1e-3 and 1e-2, are among them."""
STEPS = {
    **dict.fromkeys(("adelic-placewise", "fone-placewise", "base-10-placewise"), 500),
    **dict.fromkeys(("fone", "xval", "abacus", "base-digits", "base-digits:base=1000", "adelic-flat"), 700),
    "adelic-one-hot": 1000,
    "base-digits:autoregressive=true": 3000,
    "abacus:autoregressive=true": 3000,
    "base-digits:base=1000:autoregressive=true": 3000,
}
"""The solvers, and their steps in the full plan and that of rivals which are given time; in the order of searches."""


def main(
    *,
    tasks: tuple[Literal[*TASKS], ...] = TASKS,
    solvers: tuple[Literal[*STEPS], ...] = tuple(STEPS),
    budget: Duration = 60.0,
    runs_dir: str = "runs",
) -> None:
    """Make the searches that are missing, and write the plan.

    Args:
        tasks: of the searches.
        solvers: of the searches.
        budget: as 25m or 1h30m.
        runs_dir: folder for unfinished searches.
    """
    end = time.monotonic() + budget
    for task, solver in common.each(product(tasks, solvers), " ".join):
        left = max(0.0, end - time.monotonic())
        if (task, solver) not in searches() and not search(task, solver, runs_dir, left):
            sys.exit("the budget is spent; the same command goes on from there")
        atomic_write(PLAN, plan())


def path_of(task: str, solver: str) -> Path:
    """Return the file of a search."""
    return SEARCHES / f"{task}-{EXAMPLES}-{SolverConfig(name=solver).label}.toml"


def search(task: str, solver: str, runs: str, seconds: float) -> bool:
    """Make a search, or what is left of it; return whether it came to its end before the time was up."""
    command = [sys.executable, "-m", "adelic", *arguments(task, solver), "--runs-dir", runs]
    with subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}) as process:
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.terminate()  # the trials that are done are kept
            return False
    if code:
        sys.exit(code)
    return True


def arguments(task: str, solver: str) -> list[str]:
    """Return what follows `adelic` in the command of a search.

    >>> " ".join(arguments("addition", "fone")[:8])
    'tune addition --examples 10000 --solver fone --steps 700'
    """
    about = ["--examples", str(EXAMPLES), "--solver", solver, "--steps", str(STEPS[solver])]
    how = ["--search", f"learning-rate={':'.join(RATES)}", "--trials", str(len(RATES))]
    return ["tune", task, *about, *how, "--output", str(path_of(task, solver))]


def searches() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the searches that are done, by task and solver."""
    found = {}
    for path in SEARCHES.glob("*.toml"):
        search = parse_toml(path.read_bytes())
        found[search["study"]["task"], search["solver"]["name"]] = search
    return {key: found[key] for key in product(TASKS, STEPS) if key in found}


def accuracies(found: dict[str, Any]) -> dict[float, float | None]:
    """Return the share of right answers by rate; None where it could not be trained with."""
    return {trial["values"]["learning-rate"]: trial.get("accuracy") for trial in found["study"]["trials"]}


def rate(found: dict[str, Any]) -> float:
    """Return the rate that a search chooses.

    >>> trials = [{"values": {"learning-rate": rate}, "accuracy": 0.0} for rate in (2e-3, 1e-3)]
    >>> found = {"solver": {"name": "fone"}, "recipe": {"learning_rate": 2e-3}, "study": {"trials": trials}}
    >>> rate(found)
    0.001
    """
    shares = accuracies(found)
    best, own = found["recipe"]["learning_rate"], build_solver(found["solver"]["name"]).learning_rate
    return float(own if own in shares and shares[own] == shares[best] else best)


def plan() -> str:
    """Return the plan of the searches that are done."""
    parts = []
    for (task, solver), found in searches().items():
        parts.append({"tasks": [task], "solvers": [solver], "examples": [EXAMPLES]})
        parts[-1] |= {"steps": found["recipe"]["steps"], "solver_recipe": {"learning_rate": rate(found)}}
    note = "The rates that results/searches chose: arithmetic_searches.py writes this, and says how to run it."
    return f"# {note}\n{tomli_w.dumps({'seeds': 3, 'part': parts})}"


def table() -> str:
    """Return the trials in Markdown: exact answers in percent by solver and rate, the chosen rate in bold.

    Searches without one exact answer are left out.
    """
    rows = {key: {RATES[0]: NOT_RUN} for key in product(TASKS, STEPS)}
    for key, found in searches().items():
        shares, chosen = accuracies(found), rate(found)
        texts = {one: NONE if shares[float(one)] is None else percent(shares[float(one)]) for one in RATES}
        rows[key] = {one: f"**{text}**" if float(one) == chosen else text for one, text in texts.items()}
        if not any(shares.values()):
            del rows[key]
    lines = [{"problem": task, "solver": solver, **cells} for (task, solver), cells in rows.items()]
    return Table.of(("problem", "solver", *RATES), lines, names=2).to_markdown().strip()


if __name__ == "__main__":
    common.run(main)
