"""Solvers: models that learn a drawn task from questions, and answer with exact numbers.

`base` has the interface and how a solver is trained; `placewise`, `flat` and `characters` are AOE's, `rivals` has the
other representations, and `trivial` tables and lines, without a network. What differs in a width, a base or an order
is an option of one class: "fone:d_model=256". To add one, write a subclass of `Solver` in a module here, and name it in
config/solvers.toml; one of another package, or of a file in the working directory, is named on the command line, as
package.module:Class.

Of adelic, `storage`, `numbers`, `data` and `nn` may be imported.
"""

from adelic_lab.config.names import SOLVERS
from adelic_lab.models.solvers.base import Solver, build_solver

__all__ = ["SOLVERS", "Solver", "build_solver"]
