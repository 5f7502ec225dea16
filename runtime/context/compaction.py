"""Decides whether the window that is about to be sent is shortened, and how (context.md, "Compaction").

`must`: it passes the budget, a wall that is never crossed; it is shortened in one batch down to the target.
`pays`: at the beginning of a turn, if the calls still expected save more than the rewriting costs.
`trim`: the messages of a `swap` layout pass `historyLimit`; in one batch down to half of it.
Every decision is a value with its numbers, the decision not to included. Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from runtime.context.calibration import corrections
from runtime.context.gain import Gain, gain_of
from runtime.context.middle import Middle, find_middle
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy
from runtime.context.rewrites import Rewrite, better_summaries, difference
from runtime.context.segments import SegmentMaker
from runtime.context.sent import is_own
from runtime.context.shortening import Shape, Shortener
from runtime.context.window import ContextWindow
from runtime.conversation.events import WindowRewritten
from runtime.conversation.fold import apply
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.conversation.window_events import RewriteRule
from runtime.conversation.windows import agent_of
from runtime.playbook import Playbook

HISTORY_LIMIT: Final = 50
LONGEST: Final = (8_000, 2_000, 500, 160)
"""Characters to which what the running turn was just told is cut, one after the other, until it fits."""
DEEP_SHARE: Final = 0.9
"""Of the budget: what a window is brought down to for which the middle alone is not enough."""
LEAST_ROOM: Final = 200
"""Tokens of a summary of the whole middle; where the target has no room for them, the budget must."""
LEAST_SHARE: Final = 0.1
"""Of the window: what a compaction that pays removes at least, so that they do not follow one another."""

Rebuild = Callable[[SessionState, int | None], ContextWindow]
"""The window of a state, with what is new cut to so many characters."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision, with the fields of `compaction_planned`; the rewriting, if there is one."""

    lane: str
    rule: RewriteRule
    decision: bool
    numbers: Mapping[str, Any] = field(default_factory=dict)
    rewrite: Rewrite | None = None


@dataclass(frozen=True, slots=True)
class Fitted:
    """The window as it is sent, the decisions that led to it, and whether it fits."""

    window: ContextWindow
    decisions: tuple[Decision, ...] = ()
    limit: int | None = None
    """Tokens that the window passes although all was done; None: it fits."""


def fit_window(
    playbook: Playbook,
    state: SessionState,
    model: ModelRecord,
    policy: Policy,
    now: datetime,
    rebuild: Rebuild,
) -> Fitted:
    """The window of the next request, shortened where it must be and where it pays.

    `state`: after the rewritings of `plan_rewrites`. `rebuild` builds the window of a state; it is asked once
    if nothing has to be decided.
    """
    window = rebuild(state, None)
    if not window.lane:
        return Fitted(window)
    return _Fitting(playbook, state, model, policy, now, rebuild, window).fitted()


class _Fitting:
    def __init__(
        self,
        playbook: Playbook,
        state: SessionState,
        model: ModelRecord,
        policy: Policy,
        now: datetime,
        rebuild: Rebuild,
        window: ContextWindow,
    ) -> None:
        self.playbook, self.state, self.model, self.policy = playbook, state, model, policy
        self.now, self.rebuild, self.window = now, rebuild, window
        self.decisions: list[Decision] = []
        self.longest: int | None = None

    def fitted(self) -> Fitted:
        """Trim, then the budget, then what pays."""
        if self.window.layout == "swap":
            self._trim()
        if not self.policy.compaction:
            return self._end(self.model.window)
        if self.tokens > self.policy.budget_tokens:
            self._must()
        else:
            self._pays()
        return self._end(self.policy.budget_tokens)

    @property
    def tokens(self) -> int:
        """Of the window as it stands now."""
        return self.window.tokens

    def _end(self, limit: int) -> Fitted:
        over = limit if self.tokens > limit else None
        return Fitted(self.window, tuple(self.decisions), over)

    def _middle(self, *, keep_first: bool = True) -> Middle:
        agent = self.state.windows.agent(agent_of(self.window.lane))
        return find_middle(self.state, agent, self.policy, keep_first=keep_first)

    def _maker(self) -> SegmentMaker:
        return SegmentMaker(self.model, corrections=corrections(self.state.windows, self.model))

    def _shortener(self, middle: Middle, rule: RewriteRule) -> Shortener:
        return Shortener(self._maker(), self.state, middle, rule, self._better(middle.segments))

    def _better(self, segments: Sequence[Segment]) -> dict[str, Segment]:
        """By id of a summary by rules, the one that a model wrote in its place."""
        agent = self.state.windows.agent(agent_of(self.window.lane))
        return better_summaries(self._maker(), agent, segments)

    # -- trim ---------------------------------------------------------------------------------------------

    def _trim(self) -> None:
        limit = self.playbook.options.history_limit or HISTORY_LIMIT
        messages = count_messages(self.window.segments)
        if messages <= limit:
            return
        middle = self._middle(keep_first=False)
        cut = self._cut_for(middle, messages - max(1, limit // 2))
        if cut is None:
            return
        rest = messages - count_messages(middle.segments[middle.start : cut])
        numbers = {"messages": messages, "limit": limit, "rest": rest}
        self._take(middle, self._shortener(middle, "trim").without_turns(cut), "trim", numbers)

    def _cut_for(self, middle: Middle, surplus: int) -> int | None:
        """The first place whose turns before it have at least that many messages; the last if none has."""
        for cut in middle.cuts:
            if count_messages(middle.segments[middle.start : cut]) >= surplus:
                return cut
        return middle.cuts[-1] if middle.cuts else None

    # -- the budget ---------------------------------------------------------------------------------------

    def _must(self) -> None:
        """The mildest shape that reaches the target; else the shortest that fits; else what is new is cut."""
        before, middle = self.tokens, self._middle()
        numbers = {
            "tokens": before,
            "budget": self.policy.budget_tokens,
            "target": self.policy.budget_target,
            "middle": middle.tokens,
        }
        if not self._shorten_to_target(middle, numbers):
            self._cut_new(numbers)

    def _shorten_to_target(self, middle: Middle, numbers: Mapping[str, Any]) -> bool:
        best: tuple[int, Middle, Shape] | None = None
        for place, shape, goal in self._shapes(middle):
            rewrite = self._rewrite(place, shape, "must", {})
            if rewrite is None:
                continue
            tokens = self.rebuild(rewritten(self.state, rewrite, self.now), None).tokens
            if best is None or tokens < best[0]:
                best = (tokens, place, shape)
            if tokens <= goal:
                break
        if best is None or best[0] >= self.tokens:
            return False
        self._take(best[1], best[2], "must", {**numbers, "rest": best[0]})
        return self.tokens <= self.policy.budget_tokens

    def _shapes(self, middle: Middle) -> Iterator[tuple[Middle, Shape, int]]:
        """Each shape with the size at which it is enough: within the middle that is the target. Turns of the
        protected end go, texts of the running turn are shortened, and the first message goes only for the
        budget's sake: where not even the whole middle makes room, and a little to spare, so that this is not
        to be done again in the next turn."""
        shortener, shape = self._shortener(middle, "must"), Shape()
        target, wall = self.policy.budget_target, int(self.policy.budget_tokens * DEEP_SHARE)
        for shape in shortener.texts():
            yield middle, shape, target
        rest = shape.tokens(middle.segments, self.tokens)
        for cut in middle.cuts:
            left = rest - middle.tokens_upto(cut)
            aim = target if cut < middle.end or (cut == middle.end and left + LEAST_ROOM <= target) else wall
            if left <= aim or cut in (middle.end, middle.running):
                shape = shortener.without_turns(cut, aim - left)
                yield middle, shape, target if cut < middle.end else wall
        yield middle, shortener.with_shorter_running(shape), wall
        everything = self._middle(keep_first=False)
        shortener = self._shortener(everything, "must")
        shape = shortener.without_turns(everything.running, 0)
        yield everything, shortener.with_shorter_running(shape), wall

    def _cut_new(self, numbers: Mapping[str, Any]) -> None:
        """Results and artifacts that were not sent yet are cut, so far as it takes."""
        for longest in LONGEST:
            window = self.rebuild(self.state, longest)
            if window.tokens <= self.policy.budget_tokens:
                cut = {**numbers, "cutTo": longest, "rest": window.tokens}
                self.window, self.longest = window, longest
                self.decisions.append(Decision(window.lane, "must", decision=True, numbers=cut))
                return
        self.decisions.append(Decision(self.window.lane, "must", decision=False, numbers=numbers))

    # -- money --------------------------------------------------------------------------------------------

    def _pays(self) -> None:
        """Asked once a turn, before its first request: in the middle of a turn nothing is rewritten for
        money's sake."""
        agent = self.state.windows.agent(agent_of(self.window.lane))
        if self.model.prices is None or agent.upto >= agent.turn.first_seq > 0:
            return
        if self.tokens <= self.policy.keep_recent:
            return
        middle = self._middle()
        if middle.end <= middle.start or middle.tokens == 0:
            return
        gain = self._gain(middle, None)
        if gain.saves <= 0:  # not even if nothing had to stand for the middle
            self._decide(middle, None, gain)
            return
        shortener = self._shortener(middle, "pays")
        shapes = list(shortener.texts())[-1:]
        if middle.end in middle.cuts:
            shapes.append(shortener.without_turns(middle.end))
        found = [(self._gain(middle, shape), shape) for shape in shapes if shape.gone]
        if found:
            best, shape = max(found, key=lambda pair: pair[0].saves)
            self._decide(middle, shape, best)

    def _decide(self, middle: Middle, shape: Shape | None, gain: Gain) -> None:
        enough = gain.removed - gain.summary >= LEAST_SHARE * self.tokens
        numbers = {**gain.numbers(), "tokens": self.tokens, "least": round(LEAST_SHARE * self.tokens)}
        if shape is not None and gain.saves > 0 and enough:
            self._take(middle, shape, "pays", numbers)
        else:
            self.decisions.append(Decision(self.window.lane, "pays", decision=False, numbers=numbers))

    def _gain(self, middle: Middle, shape: Shape | None) -> Gain:
        """Of a shape; None: as if the whole middle went and nothing stood for it."""
        segments = middle.segments
        if shape is None:
            after = [*segments[: middle.start], *segments[middle.end :]]
        else:
            after, _ = shape.apply(segments)
        own = (f"{self.model.provider}/{self.model.id}", self.window.layout)
        mine = [segment for segment in after if is_own(segment, *own)]
        return gain_of(
            self.state,
            self.window,
            self.model,
            self.policy,
            self.now,
            mine,
            self.playbook.stage(self.window.stage),
        )

    # -- taking a shape -----------------------------------------------------------------------------------

    def _rewrite(
        self, middle: Middle, shape: Shape, rule: RewriteRule, numbers: Mapping[str, Any]
    ) -> Rewrite | None:
        after, first = shape.apply(middle.segments)
        better = self._better(after[first:])
        after = [*after[:first], *(better.get(segment.id, segment) for segment in after[first:])]
        return difference(self.window.lane, middle.segments, after, rule, numbers)

    def _take(self, middle: Middle, shape: Shape, rule: RewriteRule, numbers: Mapping[str, Any]) -> None:
        rewrite = self._rewrite(middle, shape, rule, numbers)
        if rewrite is None:
            return
        self.decisions.append(Decision(self.window.lane, rule, True, numbers, rewrite))
        self.state = rewritten(self.state, rewrite, self.now)
        self.window = self.rebuild(self.state, self.longest)


def rewritten(state: SessionState, rewrite: Rewrite, now: datetime) -> SessionState:
    """The state once the rewriting is logged."""
    event = WindowRewritten(
        seq=state.seq + 1, at=now, session=state.session, turn=state.turn, **rewrite.fields()
    )
    return apply(state, event)


def count_messages(segments: Sequence[Segment]) -> int:
    """Messages as `historyLimit` counts them: the user's, the model's, and one for each tool result."""
    count, spoken = 0, None
    for segment in segments:
        if segment.role == "assistant":
            count += segment.sources != spoken
            spoken = segment.sources
        elif segment.kind in ("dialogue", "injected", "tool_result"):
            count, spoken = count + 1, None
    return count


def smaller(policy: Policy, tokens: int) -> Policy:
    """The policy for a provider that finds the window too long: a budget of so many tokens."""
    budget = min(policy.budget_tokens, tokens)
    return replace(policy, budget_tokens=budget, budget_target=min(policy.budget_target, budget // 2))
