"""What a head with operations warns of while it learns: targets that it cannot learn, and too few that it can."""

import warnings
from collections.abc import Sequence
from typing import Any

import torch

from adelic.nn.tensors import is_traced

_LEAST = 64
"""So many targets are seen before anything is said of the share that has a derivation."""


class Watch:
    """Counts the targets that have a derivation, and warns once of each kind.

    Args:
        operations: the names of the head's.

    >>> watch = Watch(("+",))
    >>> watch.see(torch.tensor([True, False]), None)
    """

    def __init__(self, operations: Sequence[str]) -> None:
        self.operations = ", ".join(operations) or "no operation"
        self.n_targets, self.n_seen, self.is_told, self.is_few = 0, 0, False, False
        self.n_derivable: Any = 0

    def see(self, has: torch.Tensor, is_learned: torch.Tensor | None) -> None:
        """Take note of targets, bool (k,): which have a derivation; and which can be said, where another head helps.

        Warns:
            UserWarning: fewer than half of many have a derivation, or one can be said by neither head; once each. The
                counts are fetched from a device now and then only.
        """
        if is_traced():
            return
        if is_learned is not None and not self.is_told and not bool(is_learned.all()):
            self.is_told = True
            warnings.warn(
                "a number that is to be written comes from none of the context by an operation, and the other head "
                "cannot say it, so it is not learned; equip takes more operations, constants, max_numerator and "
                "max_denominator",
                stacklevel=5,
            )
        self.n_targets, self.n_derivable = self.n_targets + len(has), self.n_derivable + has.sum()
        self.n_seen += 1
        is_due = self.n_seen & (self.n_seen - 1) == 0 and self.n_targets >= _LEAST  # after a power of two of losses
        if is_due and not self.is_few and (share := float(self.n_derivable) / self.n_targets) < 0.5:
            self.is_few = True
            warnings.warn(
                f"only {share:.0%} of {self.n_targets} numbers to be written are in the context or come from it by one "
                f"of {self.operations}, so the head learns from few; other operations, constants or a text with the "
                "steps between (scratchpad) may state more",
                stacklevel=5,
            )
