"""Where a session was: variables, call stack, agents and artifacts at one point of its log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from runtime.conversation.base import Value
from runtime.conversation.state import SessionState


class FrameView(Value):
    """One visit on the call stack."""

    id: str
    stage: str
    visit: int
    entered_at: datetime
    turn_count: int
    data: dict[str, Any]
    agent: str | None = None


class ArtifactView(Value):
    """An artifact by name."""

    name: str
    summary: str
    kind: str
    length: int
    """Characters (code points) of its text."""
    hash: str
    """Of its content: what its text is asked for by."""
    loaded: bool


class StateView(Value):
    """The state after event `seq`."""

    seq: int
    turn: int
    status: str
    variables: dict[str, Any]
    call_stack: tuple[FrameView, ...]
    """The current visit is the last."""
    agents: tuple[str, ...]
    artifacts: tuple[ArtifactView, ...]


def state_view(state: SessionState) -> StateView:
    """The state as the inspector shows it."""
    return StateView(
        seq=state.seq,
        turn=state.turn,
        status=state.status,
        variables=dict(state.variables),
        call_stack=tuple(
            FrameView(
                id=frame.id,
                stage=frame.stage,
                visit=frame.visit,
                entered_at=frame.entered_at,
                turn_count=frame.turn_count,
                data=dict(frame.data),
                agent=frame.agent,
            )
            for frame in state.frames
        ),
        agents=state.agents,
        artifacts=tuple(
            ArtifactView(
                name=ref.name,
                summary=ref.summary,
                kind=ref.kind,
                length=ref.length,
                hash=ref.hash,
                loaded=ref.loaded_in is not None,
            )
            for ref in state.artifacts.values()
        ),
    )
