"""Short ways to write a replay script and to look at what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtime.playbook import Playbook
from runtime.runner.replay.model import DEFAULT_MODEL
from runtime.runner.replay.player import Outcome, play
from runtime.runner.replay.report import Item, as_object
from runtime.runner.replay.script import Script
from tests.runtime.llm.valid import problems

Json = dict[str, Any]


@dataclass
class Replayed:
    """Everything a replay reported, as the objects of its JSON output."""

    items: list[Json] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)

    def tell(self, item: Item) -> None:
        self.items.append(as_object(item))

    @property
    def events(self) -> list[Json]:
        return [item for item in self.items if item["kind"] == "event"]

    @property
    def calls(self) -> list[Json]:
        return [item for item in self.items if item["kind"] == "call"]

    @property
    def requests(self) -> list[Json]:
        return [call["request"] for call in self.calls]

    @property
    def end(self) -> Json:
        return self.items[-1]

    @property
    def replies(self) -> list[str]:
        texts: list[str] = self.end["replies"]
        return texts

    @property
    def problems(self) -> list[str]:
        return self.outcome.problems

    def of_type(self, *types: str) -> list[Json]:
        return [event for event in self.events if event["type"] in types]

    def types(self, *among: str) -> list[str]:
        """Types of the events in order; only those of `among` where some are given."""
        return [event["type"] for event in self.events if not among or event["type"] in among]

    def moves(self) -> list[str | None]:
        """The transitions that fired, in order."""
        return [event["transition"] for event in self.of_type("transition_triggered")]

    def faults(self) -> list[str]:
        """What the provider would refuse in any of the requests."""
        return [
            f"request {n}: {fault}" for n, body in enumerate(self.requests, 1) for fault in problems(body)
        ]

    def results(self) -> dict[str, Json]:
        """Call id -> the event of its result."""
        return {event["callId"]: event for event in self.of_type("tool_call_complete")}


def replayed(playbook: Playbook, *chat: Json, model: str = DEFAULT_MODEL, **script: Any) -> Replayed:
    """Plays these steps; `script` has the other fields of a script (`tools`, `options`, `clock`). Each of the
    requests must be one that the provider takes."""
    seen = Replayed()
    seen.outcome = play(
        playbook, Script.model_validate({"chat": list(chat), **script}), seen.tell, model=model
    )
    assert seen.faults() == []
    return seen


def said(user: str, *outputs: Json | str, **more: Any) -> Json:
    """A user step; an output that is a text is the model's text."""
    model = [{"text": output} if isinstance(output, str) else output for output in outputs]
    return {"user": user, "model": model, **more}


def asks(*calls: Json, **more: Any) -> Json:
    """An output that asks for tools."""
    return {"tool_calls": list(calls), **more}


def tool(call_id: str, name: str, **args: Any) -> Json:
    """A tool call."""
    return {"id": call_id, "name": name, "args": args}


def to(call_id: str, target: str, **more: Any) -> Json:
    """A call of the transition tool."""
    return tool(call_id, "playbook_transition", targetStage=target, **more)


def blocks(request: Json, kind: str | None = None) -> list[Json]:
    """The content blocks of a request's messages in order; only those of a type where one is given."""
    found = [block for message in request["messages"] for block in message["content"]]
    return [block for block in found if kind in (None, block["type"])]


def texts(request: Json) -> list[str]:
    """The texts of a request's messages, in order."""
    return [block["text"] for block in blocks(request, "text")]


def marks(request: Json) -> int:
    """How many cache points a request sets."""
    parts = [*request.get("tools", ()), *request.get("system", ()), *blocks(request)]
    return sum("cache_control" in part for part in parts)
