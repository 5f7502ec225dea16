"""A state in the making: copies that nobody else has seen yet, changed in place, event after event.

Every value of a state is copied at most once for each step, and not for each event: that is half of what a
step costs. What is handed out by `Folding` is its own; what the state held before stays as it was.
"""

from __future__ import annotations

from typing import TypeVar

from runtime.conversation.state import Frame, Moving, RunningTurn, SessionState
from runtime.conversation.windows import AgentWindow, Windows

V = TypeVar("V")


def copied(value: V) -> V:
    """A shallow copy of a dataclass without slots: `copy.copy`, many times as fast."""
    copy = object.__new__(type(value))
    copy.__dict__.update(value.__dict__)
    return copy


class Folding:
    """Changes a state without touching the one it began with. `state` is it, after the events so far.

    Rule: only fields are set; mappings and sequences in them are replaced and never changed in place.
    """

    __slots__ = ("_agents", "_moving", "_running", "_top", "_windows", "state")

    def __init__(self, state: SessionState) -> None:
        self.state = copied(state)
        self._running: RunningTurn | None = None
        self._top: Frame | None = None
        self._moving: Moving | None = None
        self._windows: Windows | None = None
        self._agents: dict[str, AgentWindow] = {}

    def running(self) -> RunningTurn | None:
        """The running turn, to be changed; None where none runs."""
        running = self.state.running
        if running is not None and running is not self._running:
            running = self.state.running = self._running = copied(running)
        return running

    def moving(self) -> Moving | None:
        """The transition that is carried out, to be changed; None where there is none."""
        moving = self.state.moving
        if moving is not None and moving is not self._moving:
            moving = self.state.moving = self._moving = copied(moving)
        return moving

    def top(self) -> Frame | None:
        """The current frame, to be changed; None before the session entered a stage."""
        frames = self.state.frames
        if not frames:
            return None
        top = frames[-1]
        if top is not self._top:
            top = self._top = copied(top)
            self.state.frames = (*frames[:-1], top)
        return top

    def windows(self) -> Windows:
        """The windows, to be changed; their mappings are copies as well and may be."""
        windows = self.state.windows
        if windows is not self._windows:
            windows = self.state.windows = self._windows = copied(windows)
            windows.agents, windows.lanes = dict(windows.agents), dict(windows.lanes)
        return windows

    def agent(self, name: str) -> AgentWindow:
        """An agent's window, to be changed; an empty one before its first request."""
        agents = self.windows().agents
        agent = agents.get(name)
        if agent is None or agent is not self._agents.get(name):
            agent = AgentWindow() if agent is None else copied(agent)
            agents[name] = self._agents[name] = agent
        return agent
