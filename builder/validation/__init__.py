"""Checks a playbook: diagnostics pinned to their places. Plain Python: no framework, no clock, no chance."""

from builder.validation.checking import check, check_document
from builder.validation.diagnostics import Diagnostic, Fix, Severity

__all__ = ["Diagnostic", "Fix", "Severity", "check", "check_document"]
