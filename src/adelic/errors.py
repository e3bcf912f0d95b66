"""The errors that a user can cause, all under `AdelicError`; on the command line each is one line and exit code 2."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Self

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has ended: 128 and the number of the signal, as shells have it."""


class AdelicError(Exception):
    """Base of every error that adelic raises for a caller's mistake or a refusal of the machine.

    >>> import adelic
    >>> try:
    ...     adelic.AdeleSpace(primes=(2, 9))
    ... except adelic.AdelicError as error:
    ...     print(error)
    9 is not a prime (9 = 3 · 3); the first primes are 2, 3, 5, 7, 11, 13
    """


class SpaceError(AdelicError, ValueError):
    """The parameters of an `AdeleSpace` do not make sense, or two arrays live in different spaces.

    >>> import adelic
    >>> adelic.AdeleSpace(precision=0)
    Traceback (most recent call last):
    adelic.errors.SpaceError: precision=0 leaves no digit; precision >= 1, 16 is the default
    """


class EncodingError(AdelicError, ValueError):
    """A value is not a number that can be encoded exactly: text, NaN, an infinity, a bool, a float without a policy.

    >>> import adelic
    >>> adelic.AdeleSpace().encode([1, "seven"])
    Traceback (most recent call last):
    adelic.errors.EncodingError: at position [1]: 'seven' is not a number; write '7/5', '-3', '1.25' or '1e-3'
    """


class LossyFloatWarning(UserWarning):
    """A float of a column is probably not the intended number; the argument `lossy` decides about such columns.

    >>> issubclass(LossyFloatWarning, UserWarning)
    True
    """


class LeadingZerosWarning(UserWarning):
    """A text of a column has zeros before its digits, which a number lacks: "00501" may be a name, and becomes 501.

    >>> issubclass(LeadingZerosWarning, UserWarning)
    True
    """


class PrecisionError(AdelicError, ValueError):
    """A number does not fit the window of p-adic digits that the space holds.

    >>> import adelic
    >>> adelic.AdeleSpace(primes=(5,)).encode("7/5")
    Traceback (most recent call last):
    adelic.errors.PrecisionError: 7/5 has 5-adic valuation −1, below the window of fractional_digits=0;...
    """


class RangeError(AdelicError, OverflowError):
    """A real value is too large for the floating-point type that was asked for.

    >>> import adelic
    >>> adelic.AdeleSpace(primes=(2,)).encode(10**40).tensor()
    Traceback (most recent call last):
    adelic.errors.RangeError: the real value 1e+40 is beyond float32 (3.4e38), so the real row would be infinite; ...
    """


class DivisionByZeroError(AdelicError, ZeroDivisionError):
    """A denominator or a divisor is zero.

    >>> import adelic
    >>> adelic.AdeleSpace().encode("1/0")
    Traceback (most recent call last):
    adelic.errors.DivisionByZeroError: 1/0 has denominator zero
    """


class DomainError(AdelicError, ValueError):
    """A function has no value at a number: a root of a non-square, a series that does not converge.

    >>> from adelic.numbers import padic
    >>> padic(2, 5, precision=2).sqrt()
    Traceback (most recent call last):
    adelic.errors.DomainError: …02_5 has no square root in Q_5: its unit part is 2 modulo 5, which is not a square
    """


class DecodingError(AdelicError, ValueError):
    """The coordinates of an adele determine no rational number, or more than one.

    >>> import adelic
    >>> adelic.AdeleSpace(primes=(2, 3), precision=2).encode("7/19").decode()
    Traceback (most recent call last):
    adelic.errors.DecodingError: the coordinates determine no rational number: ...
    """


class VocabularyError(AdelicError, ValueError):
    """A number is not in the vocabulary, or the vocabulary is not a list of different numbers.

    >>> from adelic import nn
    >>> nn.Vocabulary([1, 2, 3]).ids([2, 4])
    Traceback (most recent call last):
    adelic.errors.VocabularyError: 4 is not in the vocabulary Vocabulary([1, 2, 3]); unknown=True gives an id to others
    """


class ConfigurationError(AdelicError, ValueError):
    """An option of a model, a recipe, a run or a report has no such value.

    >>> from adelic import data
    >>> data.from_arrays([[1]], [0], split="mine")
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: ...
    """


class MissingExtraError(AdelicError, ImportError):
    """A library is missing, or cannot be imported, that only a part of the package needs; an extra brings it.

    >>> issubclass(MissingExtraError, ImportError)
    True
    """


_CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
"""The address of PyTorch without CUDA; the usual one has gigabytes of CUDA."""

_OUT_OF_MEMORY = ("failed to map segment", "Cannot allocate memory", "not enough memory")
"""Messages of loaders of shared libraries."""


@contextmanager
def needs_extra(what: str, extra: str, package: str = "adelic") -> Iterator[None]:
    """Raise `MissingExtraError` if an import in this block fails, naming the extra that brings the library.

    Blocks may be nested: the outermost one decides, since it knows the request. `what` is the part of
    the package that needs the library, `extra` one of pyproject.toml. If memory is too short for the library, the
    message tells so, and no extra would help. Other errors pass, also errors of adelic's own modules.

    >>> with needs_extra("adelic.nn", "torch"):
    ...     import library_that_is_not_there
    Traceback (most recent call last):
    adelic.errors.MissingExtraError: adelic.nn needs library_that_is_not_there, which is not installed: pip install
    'adelic[torch]'
    """
    try:
        yield
    except (ImportError, MemoryError) as error:
        name = getattr(error, "name", None)
        library = (name or "a library").partition(".")[0]
        if library == "adelic":  # a fault of ours, which no extra corrects
            raise
        cause = error.__cause__ if isinstance(error, MissingExtraError) else error  # of a block inside this one
        is_absent = isinstance(cause, ModuleNotFoundError)
        trouble = "is not installed" if is_absent else f"cannot be imported ({str(cause) or 'out of memory'})"
        remedy = f"pip install '{package}[{extra}]'"
        if isinstance(cause, MemoryError) or any(words in str(cause) for words in _OUT_OF_MEMORY):
            remedy = "too little memory is free; end other programs, or raise the limit (ulimit -v)"
        elif is_absent and library == "torch":
            remedy += f", and before it, if there is no GPU, pip install torch --index-url {_CPU_BUILDS}"
        raise MissingExtraError(f"{what} needs {library}, which {trouble}: {remedy}", name=name) from cause


class UnknownNameError(AdelicError, LookupError):
    """A task, edition, embedding, recipe or row has no such name; the message suggests the nearest one."""

    @classmethod
    def of(cls, kind: str, name: object, names: Iterable[str], *, listed: str | None = None) -> Self:
        """Return the error for a name that is none of `names`, with the nearest one that is.

        `kind` is the kind of thing that has the name; `listed` introduces the list of names, by default its plural.

        >>> print(UnknownNameError.of("task", "wevaing", ["schubert", "weaving"]))
        unknown task 'wevaing'; did you mean 'weaving'? tasks: schubert, weaving
        """
        known = list(names)
        near = difflib.get_close_matches(str(name).lower(), known, n=1)
        hint = f" did you mean {near[0]!r}?" if near else ""
        text = repr(name) if len(repr(name)) <= 60 else f"{repr(name)[:57]}..."
        return cls(f"unknown {kind} {text};{hint} {listed or kind + 's'}: {', '.join(known) or 'none'}")


class TaskSizeError(AdelicError, ValueError):
    """A data set of this size is not defined, or would not fit into this machine's memory.

    >>> from adelic import acd
    >>> acd.load("mheight", n=-8)
    Traceback (most recent call last):
    adelic.errors.TaskSizeError: mheight has no data set of size n=-8: n must be at least 4 (published sizes: 8, 9, 10)
    """


class StorageError(AdelicError, OSError):
    """A file or folder cannot be read or written.

    >>> issubclass(StorageError, OSError)
    True
    """


class LeakError(AdelicError, ValueError):
    """Rows of validation or test are among the rows that would be trained on; nothing has been trained.

    >>> import numpy as np
    >>> from adelic.data import Holdout
    >>> Holdout(np.array([[1, 2]]), np.array([[3, 4]])).check(np.array([[[3, 4]]]))
    Traceback (most recent call last):
    adelic.errors.LeakError: 1 test example would be trained on: test example 0 (3 4) is training example 0; keep ...
    """


class RunFolderError(AdelicError, ValueError):
    """A run folder belongs to another configuration, or its checkpoint is damaged.

    >>> issubclass(RunFolderError, ValueError)
    True
    """


class RunBusyError(RunFolderError):
    """Another process trains in the run folder; `adelic reproduce` does its other runs first.

    >>> issubclass(RunBusyError, RunFolderError)
    True
    """


class DivergenceError(AdelicError, ArithmeticError):
    """Training left the finite numbers.

    >>> issubclass(DivergenceError, AdelicError)
    True
    """


class WorkerError(AdelicError, RuntimeError):
    """A process that took part in a run ended before its time: it was killed, or its machine was lost.

    >>> issubclass(WorkerError, AdelicError)
    True
    """


class Interrupted(KeyboardInterrupt):
    """A signal asked to stop, and the work so far is saved; the message tells how to continue.

    Args:
        signum: the signal; a command ends with the exit code 128 + signum.
        message: one line.

    >>> Interrupted(15, "stopped in epoch 3").exit_code
    143
    """

    def __init__(self, signum: int, message: str) -> None:
        super().__init__(message)
        self.signum = signum

    @property
    def exit_code(self) -> int:
        """Return the exit code that shells show for a process that this signal ended."""
        return 128 + self.signum
