"""Solvers: models that learn a drawn task from questions, and answer with exact numbers.

`base` has the interface and how a solver is trained; `placewise`, `program`, `chosen`, `flat`, `context`, `characters`
and `parity` are AOE's, `rivals` has the other representations, `composite` networks a place whose places are not
primes, and `trivial` tables and lines, without a network.
To add one, write a subclass of `Solver` in a module here, and name it in `adelic_lab.config.solver_names`; one of
another package is named on the command line, as package.module:Class.

Of adelic, `storage`, `numbers`, `data` and `nn` may be imported.
"""

from adelic_lab.config.solver_names import SOLVER_MODULES
from adelic_lab.models.solvers.base import Solver, solver_class

__all__ = ["SOLVER_MODULES", "Solver", "solver_class"]
