"""Which arithmetic of number columns tells a target: `adelic.probe`."""

from adelic.probing.findings import Finding, Findings, ProbeWarning, probe

__all__ = ["Finding", "Findings", "ProbeWarning", "probe"]
