"""The errors that a user can cause, all under `AdelicError`; on the command line each is one line and exit code 2."""

import difflib
from collections.abc import Iterable
from typing import Self


class AdelicError(Exception):
    """Base of every error that adelic raises for what its caller did or for what the machine refused.

    >>> import adelic
    >>> try:
    ...     adelic.AdeleSpace(primes=(2, 9))
    ... except adelic.AdelicError as error:
    ...     print(error)
    9 is not a prime (9 = 3 · 3); primes=(2, 3, 5, 7, 11, 13, 17) is the default
    """


class SpaceError(AdelicError, ValueError):
    """The parameters of an `AdeleSpace` do not make sense, or two arrays live in different spaces."""


class EncodingError(AdelicError, ValueError):
    """A value is no number that can be encoded exactly: text, NaN, an infinity, a bool, a float without a policy."""


class PrecisionError(AdelicError, ValueError):
    """A number does not fit the window of p-adic digits that the space holds."""


class RangeError(AdelicError, OverflowError):
    """A real value is too large for the floating-point type that was asked for."""


class DivisionByZeroError(AdelicError, ZeroDivisionError):
    """A denominator or a divisor is zero."""


class DecodingError(AdelicError, ValueError):
    """The coordinates of an adele determine no rational number, or more than one."""


class VocabularyError(AdelicError, ValueError):
    """A number is not in the vocabulary, or the vocabulary is not a list of different numbers."""


class ConfigurationError(AdelicError, ValueError):
    """An option of a model, a recipe, a run or a report has no such value."""


class UnknownNameError(AdelicError, LookupError):
    """A task, edition, embedding, recipe or row has no such name; the message suggests the nearest one."""

    @classmethod
    def of(cls, kind: str, name: object, names: Iterable[str], *, listed: str | None = None) -> Self:
        """Return the error for a name that is none of `names`, with the nearest one that is.

        Args:
            kind: what the name should name, such as "task".
            name: the unknown name.
            names: the known ones.
            listed: how the list of them is introduced; the plural of `kind` if left out.

        >>> print(UnknownNameError.of("task", "wevaing", ["schubert", "weaving"]))
        unknown task 'wevaing'; did you mean 'weaving'? tasks: schubert, weaving
        """
        known = list(names)
        near = difflib.get_close_matches(str(name).lower(), known, n=1)
        hint = f" did you mean {near[0]!r}?" if near else ""
        text = repr(name) if len(repr(name)) <= 60 else f"{repr(name)[:57]}..."
        return cls(f"unknown {kind} {text};{hint} {listed or kind + 's'}: {', '.join(known)}")


class TaskSizeError(AdelicError, ValueError):
    """A data set of this size is not defined, or would not fit into this machine's memory."""


class StorageError(AdelicError, OSError):
    """A file or folder cannot be read or written."""


class RunFolderError(AdelicError, ValueError):
    """A run folder belongs to another configuration, or its checkpoint is damaged."""


class DivergenceError(AdelicError, ArithmeticError):
    """Training left the finite numbers."""
