"""Names of the solvers, and what tables and figures call them; the module of one is imported only when it is needed."""

import re

from adelic.errors import UnknownNameError

_RIVALS = "adelic_lab.models.solvers.rivals"
SOLVERS = {
    "adelic-placewise": "adelic_lab.models.solvers.placewise:PlainPlacewise",
    "adelic-one-hot": "adelic_lab.models.solvers.placewise:OneHotSolver",
    "adelic-permuted": "adelic_lab.models.solvers.placewise:PermutedSolver",
    "adelic-chosen-places": "adelic_lab.models.solvers.chosen:ChosenPlacesSolver",
    "crt-composite": "adelic_lab.models.solvers.composite:CompositeSolver",
    "adelic-flat": "adelic_lab.models.solvers.flat:FlatSolver",
    "adelic-characters": "adelic_lab.models.solvers.characters:CharactersSolver",
    "fone": f"{_RIVALS}.transformer:FoNESolver",
    "xval": f"{_RIVALS}.transformer:XValSolver",
    "abacus": f"{_RIVALS}.digits:AbacusSolver",
    "base-digits": f"{_RIVALS}.digits:DigitSolver",
    "fone-placewise": f"{_RIVALS}.places:PlacewiseFoNE",
    "base-10-placewise": f"{_RIVALS}.places:PlacewiseBase10",
    "residue-table": "adelic_lab.models.solvers.trivial:ResidueTable",
    "least-squares": "adelic_lab.models.solvers.trivial:LeastSquares",
    "counting-table": "adelic_lab.models.solvers.counting:CountingTable",
}
"""The class of each solver."""
DEFAULT_SOLVER = "adelic-placewise"
TITLES = {
    "adelic-placewise": "AOE, places apart",
    "adelic-placewise:orders=both": "AOE, places apart, both orders",
    "adelic-one-hot": "AOE, one-hot digits, places apart",
    "adelic-placewise:precision=3": "AOE, three digits a prime",
    "adelic-permuted": "AOE, digits renamed",
    "adelic-chosen-places": "AOE, places chosen from examples",
    "crt-composite": "composite moduli, apart",
    "experiments.solvers.program:Program": "AOE, places apart, for expressions and programs",
    "experiments.solvers.controlled:Controlled": "AOE, places apart, for expressions whose order is learned",
    "adelic-flat": "AOE in one vector of 64",
    "adelic-flat:d_model=256": "AOE in one vector of 256",
    "adelic-flat:d_model=608": "AOE in one vector of 608",
    "experiments.solvers.context:Context": "AOE, places apart, operations chosen by the last binary digits",
    "experiments.solvers.context:Hybrid": "AOE, places apart, operations chosen by sizes and digits",
    "adelic-characters": "AOE, characters multiplied along a row, for sums modulo a number",
    "experiments.solvers.parity:Parity": "AOE, bits of classes, for answers that are products of signs",
    "fone": "FoNE",
    "fone:d_model=256": "FoNE in a width of 256",
    "fone:orders=both": "FoNE, both orders",
    "xval": "xVal",
    "abacus": "Abacus digits",
    "base-digits": "decimal digits",
    "base-digits:base=1000": "digits in base 1,000",
    "fone-placewise": "FoNE's waves, apart",
    "base-10-placewise": "decimal digits, apart",
    "base-digits:autoregressive=true": "decimal digits, one after the other",
    "base-digits:base=24:autoregressive=true": "base 24, one after the other",
    "base-digits:base=1000:autoregressive=true": "base 1,000, one after the other",
    "abacus:autoregressive=true": "Abacus digits, one after the other",
    "residue-table": "table of residues, no network",
    "residue-table:orders=both": "table of residues, both orders, no network",
    "experiments.solvers.program:OperationTables": "tables of residues for expressions, no network",
    "least-squares": "least squares, no network",
    "counting-table": "same inputs, no network",
}
"""What each solver is, in a few words, for figures and help, in the order of tables.

Some are named with an option, too, and so are the solvers of experiments in this repository, which are not installed.
"""
PACKAGED = tuple(name for name in TITLES if name.partition(":")[0] in SOLVERS)
"""Those of `TITLES` that come with this package."""
_NAME = re.compile(r"([^\W\d][\w.-]*(?::[^\W\d]\w*(?=:|$))?)((?::[^\W\d]\w*=[^:=]+)*)")


def solvers_in_words() -> str:
    """Return the solvers and what they are, for the help of a command.

    >>> solvers_in_words().split("), ")[0]
    'adelic-placewise (AOE, places apart'
    """
    return ", ".join(f"{name} ({TITLES[name]})" for name in PACKAGED)


def parse_solver(name: str) -> tuple[str, dict[str, str]]:
    """Return the name of a solver without its options, one of `SOLVERS` or a class of your own, and the options' texts.

    Raises:
        UnknownNameError: a text names no solver; the nearest name is suggested.

    >>> parse_solver("base-digits:base=24:autoregressive=true")
    ('base-digits', {'base': '24', 'autoregressive': 'true'})
    >>> parse_solver("experiments.solvers.context:Context:prime=3")
    ('experiments.solvers.context:Context', {'prime': '3'})
    >>> parse_solver("fon")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown solver 'fon'; did you mean 'fone'? solvers: adelic-placewise, ...
    """
    found = _NAME.fullmatch(name)
    if found is None or not (found[1] in SOLVERS or ":" in found[1]):
        known = [*PACKAGED, "module:Class of your own"]
        raise UnknownNameError.of("solver", name, known, listed="solvers")
    given = dict(word.split("=") for word in found[2].split(":")[1:])
    return found[1], given
