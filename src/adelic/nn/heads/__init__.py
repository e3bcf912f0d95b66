"""Heads: from the last state of a network to classes, or to numbers."""
