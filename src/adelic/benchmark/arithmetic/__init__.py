"""The arithmetic benchmark: which number representation learns arithmetic from how many examples."""

from adelic.benchmark.arithmetic.plans import Cell, Plan, read_plan
from adelic.benchmark.arithmetic.problems import PROBLEMS, Problem, problem
from adelic.benchmark.arithmetic.runner import read_cell, run_cell, run_plan
from adelic.benchmark.arithmetic.solvers import SOLVER_MODULES, Solver, solver_class

__all__ = [
    "PROBLEMS",
    "SOLVER_MODULES",
    "Cell",
    "Plan",
    "Problem",
    "Solver",
    "problem",
    "read_cell",
    "read_plan",
    "run_cell",
    "run_plan",
    "solver_class",
]
