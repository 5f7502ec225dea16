"""Checks a playbook: diagnostics pinned to their places. Plain Python: no framework, no clock, no chance."""

from builder.validation.checking import check, check_document
from builder.validation.diagnostics import Diagnostic, Severity
from builder.validation.fixes import Fix, apply_fix
from builder.validation.server import ServerFacts

__all__ = ["Diagnostic", "Fix", "ServerFacts", "Severity", "apply_fix", "check", "check_document"]
