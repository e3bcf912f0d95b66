"""A case of an attack: where its random choices come from, what it counts, and a folder that it may use."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

LONGEST_LINE = 2000
"""An error of one line, however much was pasted."""


def check_error(error: Exception) -> None:
    """Assert that an error is one line that can be read."""
    text = str(error)
    assert "\n" not in text, text
    assert len(text) < LONGEST_LINE, text


@dataclass
class Case:
    """One case of an attack, which its seed and number determine.

    Attributes:
        rng: all random choices of the case.
        folder: the attack's own; what one case prepares there, the next ones find.
        counts: what the case has checked, by name.
    """

    rng: Random
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, name: str, seed: int, number: int, folder: Path) -> "Case":
        """Return a case by the name of its attack, the seed and its number."""
        return cls(Random(f"{name} {seed} {number}"), folder)

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < probability
