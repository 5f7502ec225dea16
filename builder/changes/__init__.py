"""What differs between two states of a playbook, and three of them merged. Plain Python: no framework."""

from builder.changes.comparing import compare
from builder.changes.found import Change, Comparison, FieldChange
from builder.changes.merging import MergeConflict, Merged, merge

__all__ = ["Change", "Comparison", "FieldChange", "MergeConflict", "Merged", "compare", "merge"]
