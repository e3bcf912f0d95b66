"""Thin adapters to other libraries; each needs an extra of the package and is imported by name."""
