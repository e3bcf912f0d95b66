"""Names of the solvers; the module of a solver is imported only when it is needed."""

from adelic.errors import UnknownNameError

_PLACEWISE, _RIVALS = "adelic_lab.models.solvers.placewise", "adelic_lab.models.solvers.rivals.transformer"
_FLAT, _AUTOREGRESSIVE = "adelic_lab.models.solvers.flat", "adelic_lab.models.solvers.rivals.autoregressive"
_PLACEWISE_RIVALS = "adelic_lab.models.solvers.rivals.places"
_TRIVIAL = "adelic_lab.models.solvers.trivial"
SOLVER_MODULES: dict[str, str] = {
    "adelic-placewise": _PLACEWISE,
    "adelic-placewise-both-orders": _PLACEWISE,
    "adelic-one-hot": _PLACEWISE,
    "adelic-3-digits": _PLACEWISE,
    "adelic-permuted": _PLACEWISE,
    "adelic-chosen-places": "adelic_lab.models.solvers.chosen",
    "crt-composite": "adelic_lab.models.solvers.composite",
    "adelic-program": "adelic_lab.models.solvers.program",
    "adelic-controller": "adelic_lab.models.solvers.controlled",
    "adelic-flat": _FLAT,
    "adelic-flat-256": _FLAT,
    "adelic-flat-608": _FLAT,
    "adelic-context": "adelic_lab.models.solvers.context",
    "adelic-hybrid": "adelic_lab.models.solvers.context",
    "adelic-characters": "adelic_lab.models.solvers.characters",
    "adelic-parity": "adelic_lab.models.solvers.parity",
    "fone": _RIVALS,
    "fone-256": _RIVALS,
    "fone-both-orders": _RIVALS,
    "xval": _RIVALS,
    "abacus": _RIVALS,
    "base-10": _RIVALS,
    "base-1000": _RIVALS,
    "fone-placewise": _PLACEWISE_RIVALS,
    "base-10-placewise": _PLACEWISE_RIVALS,
    "base-10-autoregressive": _AUTOREGRESSIVE,
    "base-24-autoregressive": _AUTOREGRESSIVE,
    "base-1000-autoregressive": _AUTOREGRESSIVE,
    "abacus-autoregressive": _AUTOREGRESSIVE,
    "residue-table": _TRIVIAL,
    "residue-table-both-orders": _TRIVIAL,
    "operation-tables": _TRIVIAL,
    "least-squares": _TRIVIAL,
}
"""The module of each solver, in the order of tables; it has a dictionary SOLVERS of its classes by name."""
DEFAULT_SOLVER = "adelic-placewise"
TITLES = {
    "adelic-placewise": "AOE, places apart",
    "adelic-placewise-both-orders": "AOE, places apart, both orders",
    "adelic-one-hot": "AOE, one-hot digits, places apart",
    "adelic-3-digits": "AOE, three digits a prime",
    "adelic-permuted": "AOE, digits renamed",
    "adelic-chosen-places": "AOE, places chosen from examples",
    "crt-composite": "composite moduli, apart",
    "adelic-program": "AOE, places apart, for expressions and programs",
    "adelic-controller": "AOE, places apart, for expressions whose order is learned",
    "adelic-flat": "AOE in one vector of 64",
    "adelic-flat-256": "AOE in one vector of 256",
    "adelic-flat-608": "AOE in one vector of 608",
    "adelic-context": "AOE, places apart, operations chosen by the last binary digits",
    "adelic-hybrid": "AOE, places apart, operations chosen by sizes and digits",
    "adelic-characters": "AOE, characters multiplied along a row, for sums modulo a number",
    "adelic-parity": "AOE, bits of classes, for answers that are products of signs",
    "fone": "FoNE",
    "fone-256": "FoNE in a width of 256",
    "fone-both-orders": "FoNE, both orders",
    "xval": "xVal",
    "abacus": "Abacus digits",
    "base-10": "decimal digits",
    "base-1000": "digits in base 1,000",
    "fone-placewise": "FoNE's waves, apart",
    "base-10-placewise": "decimal digits, apart",
    "base-10-autoregressive": "decimal digits, one after the other",
    "base-24-autoregressive": "base 24, one after the other",
    "base-1000-autoregressive": "base 1,000, one after the other",
    "abacus-autoregressive": "Abacus digits, one after the other",
    "residue-table": "table of residues, no network",
    "residue-table-both-orders": "table of residues, both orders, no network",
    "operation-tables": "tables of residues for expressions, no network",
    "least-squares": "least squares, no network",
}
"""What each solver is, in a few words: for figures and help."""
WITHOUT_NETWORK = tuple(name for name, module in SOLVER_MODULES.items() if module == _TRIVIAL)
"""Those that train no network."""


def solvers_in_words() -> str:
    """Return the solvers and what they are, for the help of a command.

    >>> solvers_in_words().split("), ")[0]
    'adelic-placewise (AOE, places apart'
    """
    return ", ".join(f"{name} ({TITLES[name]})" for name in SOLVER_MODULES)


def check_solver(name: str) -> None:
    """Raise `UnknownNameError` unless a text names a solver; the nearest name is suggested.

    >>> check_solver("fon")
    Traceback (most recent call last):
    adelic.errors.UnknownNameError: unknown solver 'fon'; did you mean 'fone'? solvers: adelic-placewise, ...
    """
    module, _, own = name.partition(":")
    is_own = own.isidentifier() and all(part.isidentifier() for part in module.split("."))
    if name not in SOLVER_MODULES and not is_own:
        raise UnknownNameError.of("solver", name, [*SOLVER_MODULES, "module:Class of your own"], listed="solvers")
