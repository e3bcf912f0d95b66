"""Plans: which cells (problem, solver, number of examples, seed) are run, as data in TOML."""

import hashlib
import json
import re
import shlex
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from adelic.benchmark.arithmetic.problems import problem
from adelic.benchmark.arithmetic.solvers import SOLVER_MODULES, check_solver
from adelic.errors import AdelicError, ConfigurationError
from adelic.storage.checks import check_count, check_seed
from adelic.storage.files import read_bytes
from adelic.storage.records import DamagedTextError, parse_toml

MOST_CELLS = 1_000_000
PACKAGED = ("full", "quick")
_OWN = "own"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run: a solver learns a problem from so many examples, and is tested.

    Attributes:
        problem, solver: names.
        examples, steps: of training.
        seed: of the questions and of the solver.
        test_cases: of the test split.
        confirmation_cases: how many test cases there are in all where the first `test_cases` are all answered right.
        never_seen_cases: of each split that is never seen in training.

    >>> Cell(problem="addition", solver="fone", examples=300, seed=2, steps=800).label
    'addition-fone-300-seed2-...'
    """

    problem: str
    solver: str
    examples: int
    seed: int
    steps: int
    test_cases: int = 10_000
    confirmation_cases: int = 100_000
    never_seen_cases: int = 2_000

    def __post_init__(self) -> None:
        """Check the numbers; names are checked where they are used."""
        for name in ("examples", "steps", "test_cases", "confirmation_cases", "never_seen_cases"):
            object.__setattr__(self, name, check_count(name, getattr(self, name), greatest=10**9))
        object.__setattr__(self, "seed", check_seed(self.seed))

    @property
    def label(self) -> str:
        """Return a file name that no other cell has: it ends in a digest of all that defines the cell."""
        digest = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:8]
        solver = re.sub(r"[^\w-]+", "-", self.solver)
        return f"{self.problem}-{solver}-{self.examples}-seed{self.seed}-{digest}"

    def __str__(self) -> str:
        """Return the cell in words."""
        return f"{self.problem} by {self.solver} from {self.examples:,} examples, seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Cells, and how the command line names the plan that they come from.

    Attributes:
        cells: each once, in the order of tables.
        option: "", "--quick" or "--plan FILE".
    """

    cells: tuple[Cell, ...]
    option: str = ""

    def command(self, cell: Cell) -> str:
        """Return the command that runs one cell.

        >>> plan = read_plan("quick").choose(problems=["addition"], solvers=["fone"])
        >>> plan.command(plan.cells[0])
        'adelic reproduce arithmetic --quick --only addition --solvers fone --examples 100 --seeds 0'
        """
        selection = f"--only {cell.problem} --solvers {cell.solver} --examples {cell.examples} --seeds {cell.seed}"
        return " ".join(["adelic reproduce arithmetic", *([self.option] if self.option else []), selection])

    def choose(
        self,
        *,
        problems: Collection[str] | None = None,
        solvers: Collection[str] | None = None,
        examples: Collection[int] | None = None,
        seeds: Collection[int] | None = None,
    ) -> "Plan":
        """Return the part of the plan with these problems, solvers, sizes and seeds; None is all.

        Raises:
            UnknownNameError: there is no such problem or solver.
            ConfigurationError: nothing is left.

        >>> len(read_plan("full").choose(problems=["addition"], solvers=["fone"], examples=[100]).cells)
        5
        """
        for name in problems or ():
            problem(name)
        for name in solvers or ():
            check_solver(name)
        chosen = tuple(
            cell
            for cell in self.cells
            if (problems is None or cell.problem in problems)
            and (solvers is None or cell.solver in solvers)
            and (examples is None or cell.examples in examples)
            and (seeds is None or cell.seed in seeds)
        )
        if not chosen:
            raise ConfigurationError("the plan has no cell with these problems, solvers, sizes and seeds")
        return Plan(cells=chosen, option=self.option)


def read_plan(source: str | Path, *, own_solvers: Iterable[str] = ()) -> Plan:
    """Return a plan.

    A plan's file has `seeds` (how many, from 0), optionally `test_cases`, `confirmation_cases` and `never_seen_cases`,
    a table [steps] (see below) and tables [[part]] with `problems`, `examples` and optionally `solvers` (all by
    default). In [steps] each solver, or `default`, has a table from numbers of examples to numbers of steps: a size
    that is not listed has the steps of the next smaller one that is. The modules of solvers that it names are imported
    when it is run, so a plan is code.

    Args:
        source: "full", "quick", or the path of a file.
        own_solvers: further solvers ("module:Class"), for the parts that name none or "own".

    Raises:
        ConfigurationError: the file is missing, or says something else, or names no problem or solver.

    >>> sorted({cell.seed for cell in read_plan("full").cells})
    [0, 1, 2, 3, 4]
    """
    if source in PACKAGED:
        packaged = resources.files("adelic.benchmark.arithmetic").joinpath(f"{source}.toml")
        content: bytes | None = packaged.read_bytes()
        option = "" if source == "full" else f"--{source}"
    else:
        content = read_bytes(Path(source))
        option = f"--plan {shlex.quote(str(source))}"
    if content is None:
        raise ConfigurationError(f"there is no plan {str(source)!r}; name a TOML file")
    try:
        return Plan(cells=_cells(parse_toml(content), list(own_solvers)), option=option)
    except (AdelicError, ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, AdelicError):
            raise ConfigurationError(f"the plan {source}: {error}") from None
        if isinstance(error, DamagedTextError):
            raise ConfigurationError(f"{source} is no plan: {error}") from None
        raise ConfigurationError(f"{source} is no plan ({type(error).__name__}: {error})") from None


def _cells(table: dict[str, Any], own_solvers: list[str]) -> tuple[Cell, ...]:
    """Return the cells of a parsed plan."""
    cases = {key: table[key] for key in ("test_cases", "confirmation_cases", "never_seen_cases") if key in table}
    unknown = set(table) - {"seeds", "steps", "part", *cases}
    if unknown:
        raise ConfigurationError(f"{', '.join(sorted(unknown))} is no key of a plan")
    cells: list[Cell] = []
    seeds = check_count("seeds", table["seeds"], least=0, greatest=MOST_CELLS)
    for part in table["part"]:
        if set(part) - {"problems", "solvers", "examples"}:
            raise ConfigurationError(f"a part has problems, solvers and examples, not {', '.join(sorted(part))}")
        named = part.get("solvers", [*SOLVER_MODULES, _OWN])
        solvers = [*(solver for solver in named if solver != _OWN), *(own_solvers if _OWN in named else [])]
        for solver in solvers:
            check_solver(solver)
        wanted = len(cells) + len(part["problems"]) * len(solvers) * len(part["examples"]) * seeds
        if wanted > MOST_CELLS:
            raise ConfigurationError(f"seeds={seeds} make {wanted:,} cells of it; {MOST_CELLS:,} are the most")
        for name in part["problems"]:
            problem(name)
            for solver in solvers:
                cells += [
                    Cell(
                        problem=name,
                        solver=solver,
                        examples=examples,
                        seed=seed,
                        steps=_steps(table["steps"], solver, examples),
                        **cases,
                    )
                    for examples in part["examples"]
                    for seed in range(seeds)
                ]
    return tuple(dict.fromkeys(cells))


def _steps(table: dict[str, dict[str, int]], solver: str, examples: int) -> int:
    """Return the steps of training for a number of examples."""
    listed = {int(size): steps for size, steps in table.get(solver, table["default"]).items()}
    reached = [size for size in listed if size <= examples]
    if not reached:
        raise ConfigurationError(f"[steps] says nothing of {solver} with {examples} examples")
    return listed[max(reached)]
