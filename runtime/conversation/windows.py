"""What was sent so far: segments per agent, requests per lane. What windows are built from.

Rule: nothing here is decided; `fold_windows` (window_fold.py) only applies what the log says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from runtime.conversation.appendlist import AppendList
from runtime.conversation.artifacts import ArtifactRef
from runtime.conversation.events import Event, FramePopped, LLMCallStarted, UserMessageEvent
from runtime.conversation.segments import CachePoint, Segment

ROOT_AGENT = ""
LANE_SEPARATOR = "|"


def lane_of(agent: str, provider: str, model: str) -> str:
    """The lane of an agent's requests to one model on one connection."""
    return LANE_SEPARATOR.join((agent, provider, model))


def agent_of(lane: str) -> str:
    """The agent whose lane it is."""
    return lane.split(LANE_SEPARATOR, 1)[0]


def model_of(lane: str) -> tuple[str, str]:
    """Provider and model of a lane."""
    _, provider, model = lane.split(LANE_SEPARATOR, 2)
    return provider, model


class SentRequest(NamedTuple):
    """One request of a lane: its whole window, and where the cache points stood."""

    call: int
    at: datetime
    window: AppendList[Segment]
    cache_points: tuple[CachePoint, ...] = ()
    gaps_under_5m: int = 0
    """How many of the pauses between the lane's requests up to this one were shorter than 5 minutes."""
    gaps_under_1h: int = 0


class Pending(NamedTuple):
    """Something said that no request has sent yet, and the frame it was said in."""

    kind: Literal[
        "user",
        "input",
        "injected",
        "assistant",
        "interrupted",
        "no_reply",
        "tool_result",
        "returned",
        "artifact",
    ]
    """`input`: the user's last message, passed on to an agent that is called. `returned`: the agent did."""
    event: Event
    frame: str | None
    stage: str | None
    artifact: ArtifactRef | None = None
    """What a long result became, or what is loaded; as it was at that moment."""


@dataclass(frozen=True, slots=True)
class Popped:
    """A frame that returned: its trace, and that of the frames called inside it, waits to be replaced."""

    event: FramePopped
    caller: str | None
    frames: frozenset[str]
    unsent: tuple[Pending, ...] = ()
    """What was said in it and never sent."""
    variables: tuple[str, ...] = ()
    """Names of the variables set in it."""
    agent: str | None = None
    """The agent whose first frame it was: its trace stands in a window of its own."""
    sent: AppendList[Segment] = field(default_factory=AppendList)
    """That window."""
    artifacts: tuple[ArtifactRef, ...] = ()
    """What its value refers to."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """A `clearHistory` that waits for the next request."""

    frame: str
    is_root: bool
    keep_from: int | None
    """First `seq` of the turn that waits for its reply and keeps its messages; None: nothing is kept."""
    sent: int
    """How many segments stood in the window then; later ones stay."""


@dataclass(frozen=True)
class TurnTrace:
    """What windows must know of the running or last turn."""

    first_seq: int = 0
    waiting: bool = False
    """The reply has not been given yet."""
    answered: bool = False
    """The last message of the model in this turn has text."""
    spoken: bool = False
    """The user spoke, or a request was sent."""
    messages: tuple[int, ...] = ()
    """`seq`s of its user messages once it has ended: a retry takes them up again."""


@dataclass
class AgentWindow:
    """The segments an agent's requests have sent, in order, byte for byte; shared by the agent's lanes."""

    segments: AppendList[Segment] = field(default_factory=AppendList)
    pending: tuple[Pending, ...] = ()
    popped: tuple[Popped, ...] = ()
    cleared: tuple[Cleared, ...] = ()
    open_messages: tuple[int, ...] = ()
    """`seq`s of the running turn's user messages and of unanswered injected ones: they belong to no frame."""
    header_due: bool = False
    """A stage was entered, or a frame returned, since the last request."""
    turn: TurnTrace = field(default_factory=TurnTrace)
    since: int = 0
    """`seq` of the call that opened the agent; what the user said before, the caller knows."""
    upto: int = 0
    """`seq` of the last request that added segments."""
    state_base: Mapping[str, Any] | None = None
    """The whole state as the model knows it after the last state frame; None: the next is an I-frame."""
    state_number: int = 0
    """Number of the last state frame that was sent, from 1. Empty P-frames have none: a reader of the window
    finds every number."""
    since_full: int = 0
    """P-frames since the last I-frame, empty ones included."""
    replaced: Mapping[str, Segment] = field(default_factory=dict)
    """Replaced segment id -> the segment that stands for it."""
    rewritten: int = 0
    """`seq` of the last rewriting."""
    details: Mapping[str, tuple[Segment, ...]] = field(default_factory=dict)
    """Segment id -> the segments it stands for, where they may come back."""
    written: Mapping[str, str | None] = field(default_factory=dict)
    """Summary by rules -> the text a model wrote in its place; None: it was asked and gave none."""
    variables_set: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Frame -> names of the variables set while it was the current one."""
    returns: int = 0
    nested_calls: int = 0
    """Requests sent while a called frame was open; with `returns` the estimate of the next return."""


class Counted(NamedTuple):
    """What a provider counted of a request."""

    call: int
    tokens: int
    """All of its input."""


class OpenCall(NamedTuple):
    """The LLM call in flight."""

    call: int
    lane: str
    phase: int


@dataclass
class Windows:
    """All agents' windows and all lanes' requests. The root agent's key is the empty string."""

    agents: dict[str, AgentWindow] = field(default_factory=dict)
    lanes: dict[str, AppendList[SentRequest]] = field(default_factory=dict)
    counted: Mapping[str, AppendList[Counted]] = field(default_factory=dict)
    """Lane -> the inputs of its requests that were answered, as the provider counted them."""
    open_call: OpenCall | None = None
    said: UserMessageEvent | None = None
    """What the user said last: an agent that is called begins with it."""

    def agent(self, name: str = ROOT_AGENT) -> AgentWindow:
        """The window of that agent, empty before its first request."""
        agent = self.agents.get(name)
        return agent if agent is not None else AgentWindow()

    def lane(self, name: str) -> AppendList[SentRequest]:
        """The requests of that lane so far."""
        lane = self.lanes.get(name)
        return lane if lane is not None else AppendList()


def shared_start(before: Sequence[Segment], window: Sequence[Segment]) -> int:
    """How many segments both windows begin with."""
    shortest = min(len(before), len(window))
    if list(before[:shortest]) == list(window[:shortest]):
        return shortest
    count = 0
    for one, other in zip(before, window, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count


def as_logged(windows: Windows, lane: str, window: Sequence[Segment]) -> dict[str, Any]:
    """The window of the next call of the lane as `llm_call_started` has it: how it differs from the last."""
    requests = windows.lane(lane)
    before = requests[-1] if requests else None
    shared = shared_start(before.window, window) if before is not None else 0
    return {
        "window_of": before.call if before is not None else None,
        "window_shared": shared,
        "window_rest": tuple(segment.id for segment in window[shared:]),
    }


def window_sent(
    event: LLMCallStarted, before: AppendList[Segment], known: Mapping[str, Segment]
) -> AppendList[Segment]:
    """The whole window of a call, from what `as_logged` made. `before`: the window it begins like; `known`:
    segments by id, as they stand now. Raises KeyError for a segment that the log never brought."""
    return before.upto(event.window_shared).extend(known[segment] for segment in event.window_rest)
