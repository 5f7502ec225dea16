"""One module per kind of finding; each is a function from the outline to diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from builder.validation.checks import unknown_field
from builder.validation.diagnostics import Diagnostic
from builder.validation.outline import Outline

Check = Callable[[Outline], Iterable[Diagnostic]]

CHECKS: Final[tuple[Check, ...]] = (unknown_field.check,)
