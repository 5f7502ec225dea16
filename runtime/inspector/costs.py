"""What a session's calls cost, what was cached, and what it would have cost without caching."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.conversation.base import Value
from runtime.conversation.messages import Usage
from runtime.inspector.calls import CallSummary


class CacheMiss(Value):
    """A call whose window no longer began like the one before it in its lane."""

    call: int
    previous_call: int
    segment: str
    """The first segment that differs."""


class CostReport(Value):
    """Sums over calls. Money in US dollars; None where one call's is unknown: the rest's would look final."""

    calls: int = 0
    without_usage: int = 0
    """Calls that the provider reported no usage for; they are in no sum of tokens."""
    usage: Usage = Usage()
    read_share: float | None = None
    """Part of all input tokens that was read from the cache."""
    cost: float | None = None
    cost_without_caching: float | None = None
    misses: tuple[CacheMiss, ...] = ()


def cost_report(calls: Iterable[CallSummary]) -> CostReport:
    """The report over these calls."""
    views = list(calls)
    # What a provider refused is not billed; of any other call without usage the price is not known.
    billed = [view for view in views if view.status != "failed" or view.usage is not None]
    usages = [view.usage for view in views if view.usage is not None]
    total = Usage(**{name: sum(getattr(usage, name) for usage in usages) for name in Usage.model_fields})
    return CostReport(
        calls=len(views),
        without_usage=len(views) - len(usages),
        usage=total,
        read_share=total.read / total.input if total.input else None,
        cost=_sum(view.cost for view in billed),
        cost_without_caching=_sum(view.cost_without_caching for view in billed),
        misses=tuple(miss for view in views if (miss := _miss(view)) is not None),
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = list(amounts)
    return None if not known or None in known else sum(amount for amount in known if amount is not None)


def _miss(view: CallSummary) -> CacheMiss | None:
    if view.previous_call is None or view.first_difference is None:
        return None
    return CacheMiss(call=view.call, previous_call=view.previous_call, segment=view.first_difference)
