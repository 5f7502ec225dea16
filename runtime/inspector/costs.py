"""What a session's calls cost, what was cached, and what it would have cost without caching."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runtime.conversation.base import Value
from runtime.conversation.messages import Usage
from runtime.inspector.calls import CallLog, CallSummary
from runtime.inspector.efficiency import Efficiency, efficiency


class CacheMiss(Value):
    """A call whose window no longer began like the one before it in its lane."""

    call: int
    previous_call: int
    segment: str
    """The first segment that differs."""


class TurnCost(Value):
    """The calls of one turn. Money as in the whole report."""

    turn: int
    calls: int
    usage: Usage
    cost: float | None = None
    cost_without_caching: float | None = None


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
    turns: tuple[TurnCost, ...] = ()
    efficiency: Efficiency = Efficiency()
    misses: tuple[CacheMiss, ...] = ()


def cost_report(log: CallLog) -> CostReport:
    """The report over all calls of a session."""
    views = log.summaries()
    billed = _billed(views)
    usages = [view.usage for view in views if view.usage is not None]
    total = sum(usages, Usage())
    return CostReport(
        calls=len(views),
        without_usage=len(views) - len(usages),
        usage=total,
        read_share=total.read / total.input if total.input else None,
        cost=_sum(view.cost for view in billed),
        cost_without_caching=_sum(view.cost_without_caching for view in billed),
        turns=tuple(_turn_cost(turn, group) for turn, group in _by_turn(views)),
        efficiency=efficiency(log.sent()),
        misses=tuple(miss for view in views if (miss := _miss(view)) is not None),
    )


def _billed(views: Iterable[CallSummary]) -> list[CallSummary]:
    """What a provider refused is not billed; of any other call without usage the price is not known."""
    return [view for view in views if view.status != "failed" or view.usage is not None]


def _by_turn(views: Iterable[CallSummary]) -> list[tuple[int, list[CallSummary]]]:
    turns: dict[int, list[CallSummary]] = {}
    for view in views:
        turns.setdefault(view.turn, []).append(view)
    return sorted(turns.items())


def _turn_cost(turn: int, views: Sequence[CallSummary]) -> TurnCost:
    billed = _billed(views)
    return TurnCost(
        turn=turn,
        calls=len(views),
        usage=sum((view.usage for view in views if view.usage is not None), Usage()),
        cost=_sum(view.cost for view in billed),
        cost_without_caching=_sum(view.cost_without_caching for view in billed),
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = list(amounts)
    return None if not known or None in known else sum(amount for amount in known if amount is not None)


def _miss(view: CallSummary) -> CacheMiss | None:
    if view.previous_call is None or view.first_difference is None:
        return None
    return CacheMiss(call=view.call, previous_call=view.previous_call, segment=view.first_difference)
