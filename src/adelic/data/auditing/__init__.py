"""Audits: how far trivial rules get on a task, and what of its test is known from training.

- `stored`: of a task whose rows are stored; cues, simple models, and what leaks by symmetry.
- `drawn`: of a drawn task; rules on what is read off the operands, the classes, and which numbers occur again.

Both return a dictionary ready for JSON. May import `adelic.data`'s other modules.
"""

from adelic.data.auditing.drawn import audit_drawn
from adelic.data.auditing.stored import audit

__all__ = ["audit", "audit_drawn"]
