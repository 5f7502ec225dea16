"""The rows of the table: each plays or reads one conversation and says what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from runtime.context.efficiency import (
    Sent,
    cost_with,
    lower_bound,
    own_points,
    system_point,
    tail_point,
    uncached_cost,
    units,
)
from runtime.context.models import ModelRecord, record
from runtime.conversation import events as ev
from runtime.playbook import Playbook
from tests.bench.cost.played import Played, play, with_context
from tests.bench.cost.rivals import llmrtc, playbooks_ai, playbooks_ai_071, swapped
from tests.bench.cost.scripts import Script, Workload

MODEL: Final = record("claude-sonnet-5", "anthropic")
"""Its rules and its other prices; only the read price is varied."""
READ_PRICES: Final = (0.1, 0.05, 0.025)
ENDLESS: Final = 900_000
"""A budget that no conversation here reaches."""

OURS: Final = "ours"
OFF: Final[Mapping[str, Mapping[str, Any]]] = {
    "ours, nothing is shortened": {"compaction": False},
    "ours, states always whole": {"stateCompression": False},
    "ours, no artifacts": {"artifactThreshold": 10_000_000},
    "ours, two cache points": {"cachePoints": 2},
    "ours, all for 5 minutes": {"cacheTtl": "5m"},
    "ours, all for an hour": {"cacheTtl": "1h"},
    "ours, summaries by rules": {"summaries": "rules"},
    "ours, swap layout": {"layout": "swap"},
}
"""Each mechanism switched off, by the policy that does it."""
SWAPPED: Final = "LLMRTC, nothing forgotten"
Rival = Callable[[Playbook, Played, ModelRecord], list[Sent]]
RIVALS: Final[Mapping[str, Rival]] = {
    "LLMRTC": llmrtc,
    SWAPPED: swapped,
    "Playbooks AI": playbooks_ai,
    "Playbooks AI 0.7.1": playbooks_ai_071,
}
APPEND_ONLY: Final = "append only, automatic caching"


@dataclass(frozen=True, slots=True)
class Row:
    """What one way cost, in units, and of what its requests were made."""

    cost: float
    raw: int
    """Input tokens of all its requests."""
    largest: int = 0
    """Tokens of its largest request."""
    calls: int = 0
    exact: int = 0
    """Calls for which what would be read was predicted to the token."""
    faults: int = 0
    """Requests that a provider would refuse, and turns that failed."""
    over: int = 0
    """Requests over the budget."""

    def __add__(self, other: Row) -> Row:
        return Row(
            cost=self.cost + other.cost,
            raw=self.raw + other.raw,
            largest=max(self.largest, other.largest),
            calls=self.calls + other.calls,
            exact=self.exact + other.exact,
            faults=self.faults + other.faults,
            over=self.over + other.over,
        )


Rows = dict[str, Row]


def model_for(read: float) -> ModelRecord:
    """The model, at that read price (a share of the plain input price)."""
    assert MODEL.prices is not None
    prices = MODEL.prices.model_copy(update={"read": MODEL.prices.input * read})
    return MODEL.model_copy(update={"prices": prices})


def rows_of(workload: Workload, script: Script, read: float) -> Rows:
    """All rows of one conversation at one read price; at the first one our requests are checked as well."""
    model = model_for(read)
    ours = play(with_context(workload.playbook), script, model, checked=read == READ_PRICES[0])
    rows = {**_counterfactuals(ours), **_rivals(workload, script, model)}
    for name, settings in OFF.items():
        rows[name] = _paid(play(with_context(workload.playbook, **settings), script, model), workload)
    rows[OURS] = _paid(ours, workload)
    sent = _sent(ours)
    rows["bound"] = _row(sent, lower_bound(sent))
    rows["bound, 5 minutes only"] = _row(sent, lower_bound(_living(sent, "5m")))
    rows["bound, an hour only"] = _row(sent, lower_bound(_living(sent, "1h")))
    return rows


def _sent(played: Played) -> list[Sent]:
    return [call.sent for call in played.calls]


def _living(sent: Sequence[Sent], ttl: str) -> list[Sent]:
    return [replace(one, model=one.model.model_copy(update={"ttls": (ttl,)})) for one in sent]


def _row(sent: Sequence[Sent], cost: float) -> Row:
    sizes = [one.laid.total for one in sent]
    return Row(cost, sum(sizes), max(sizes, default=0), len(sizes))


def _counterfactuals(ours: Played) -> Rows:
    """Our windows with other points, or none."""
    sent = _sent(ours)
    return {
        "no caching": _row(sent, uncached_cost(sent)),
        "system point only": _row(sent, cost_with(sent, system_point)),
        "tail only": _row(sent, cost_with(sent, tail_point)),
    }


def _rivals(workload: Workload, script: Script, model: ModelRecord) -> Rows:
    """Other windows of the same conversation: nothing that was sent is ever changed, and others' ways. They
    are read from the log in which nothing was shortened."""
    document = with_context(workload.playbook, compaction=False, budgetTokens=ENDLESS)
    whole = play(document, script, model)
    appended = _sent(whole)
    rows = {APPEND_ONLY: _row(appended, cost_with(appended, tail_point))}
    for name, build in RIVALS.items():
        sent = build(document, whole, model)
        rows[name] = _row(sent, cost_with(sent, own_points))
    return rows


def _paid(played: Played, workload: Workload) -> Row:
    """What was billed while it was played."""
    sent = _sent(played)
    row = _row(sent, sum(units(call.billed, call.sent.model) for call in played.calls))
    started = [event for event in played.events if isinstance(event, ev.LLMCallStarted)]
    exact = sum(
        event.predicted is not None and event.predicted.read == call.billed.read and call.agrees
        for event, call in zip(started, played.calls, strict=True)
    )
    failed = sum(isinstance(event, ev.TurnFailed) for event in played.events)
    budget = workload.budget or ENDLESS
    return replace(
        row,
        exact=exact,
        faults=failed + played.unused + sum(call.refused is not None for call in played.calls),
        over=sum(one.laid.total > budget for one in sent),
    )
