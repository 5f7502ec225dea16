"""For models without tool calling: `llm_decision` as a choice that a JSON schema constrains.

Such a model answers with one object, `{"next": …, "reply": …}`. `next` is `answer`, or one of the targets
that the current stage allows; then the object becomes the call of `playbook_transition` that it stands for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from runtime.context.instructions import read_instructions
from runtime.conversation.messages import ToolCall
from runtime.llm.base import LLMRequest
from runtime.llm.wire import Json, tool_definitions
from runtime.playbook.engine_tools import TRANSITION_TOOL

ANSWER: Final = "answer"
RULE: Final = """\
You cannot call tools. Answer with one JSON object: {"next": "answer", "reply": "what you say to the user"}. \
To ask for a transition that the current stage lists, answer {"next": "its targetStage", "reply": ""}."""

_PARTIAL = re.compile(r'^\s*\{\s*"next"\s*:\s*"answer"\s*,\s*"reply"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)


def targets(request: LLMRequest) -> tuple[str, ...] | None:
    """The targets that the model may name; None where the playbook has no transition that a model decides."""
    segments = request.window.segments
    tool = next((t for t in tool_definitions(segments) if t["name"] == TRANSITION_TOOL), None)
    if tool is None:
        return None
    if request.tool_choice == "none":
        return ()
    stage = next((segment for segment in reversed(segments) if segment.kind == "stage"), None)
    read = read_instructions(stage.text) if stage is not None else None
    if read is not None:
        return tuple(target for target, _ in read.targets)
    # The `swap` layout: its tool names exactly what is allowed.
    return tuple(tool["parameters"]["properties"]["targetStage"].get("enum", ()))


def schema(allowed: Sequence[str]) -> Json:
    """The schema of the answer."""
    return {
        "type": "object",
        "properties": {
            "next": {"type": "string", "enum": [ANSWER, *allowed]},
            "reply": {"type": "string"},
        },
        "required": ["next", "reply"],
        "additionalProperties": False,
    }


def as_said(name: str, arguments: Json) -> str:
    """How a call of an earlier request stands in the conversation of a model that cannot call."""
    if name == TRANSITION_TOOL:
        return json.dumps({"next": str(arguments.get("targetStage", "")), "reply": ""}, ensure_ascii=False)
    return json.dumps({"next": name, "with": arguments, "reply": ""}, ensure_ascii=False)


@dataclass(slots=True)
class ChoiceReader:
    """Reads the object piece by piece. What is no such object is the reply as it stands."""

    allowed: Sequence[str]
    _raw: str = ""
    _shown: str = field(default="")

    def feed(self, text: str) -> str:
        """The part of the reply that is new."""
        self._raw += text
        if self._raw.lstrip()[:1] not in ("", "{"):
            return self._more(self._raw)
        found = _PARTIAL.match(self._raw)
        return self._more(_unescaped(found.group(1))) if found else ""

    def _more(self, reply: str) -> str:
        if not reply.startswith(self._shown):
            return ""
        new, self._shown = reply[len(self._shown) :], reply
        return new

    def end(self) -> tuple[str, str | None]:
        """The part of the reply not shown yet, and the target that was chosen, if one was."""
        try:
            answer = json.loads(self._raw)
        except (ValueError, RecursionError):
            return ("" if self._shown else self._more(self._raw)), None
        if not isinstance(answer, dict) or not isinstance(answer.get("reply", ""), str):
            return self._more(self._raw), None
        if answer.get("next") in self.allowed:
            return "", str(answer["next"])
        return self._more(str(answer.get("reply", ""))), None


def _unescaped(text: str) -> str:
    """The text of a JSON string that may be cut anywhere: half an escape and half a pair wait."""
    for whole in (text, text[: text.rfind("\\")]):
        try:
            read = str(json.loads(f'"{whole}"', strict=False))
        except ValueError:
            continue
        return read[:-1] if "\ud800" <= read[-1:] <= "\udbff" else read
    return ""


def transition_call(call_id: str, target: str) -> ToolCall:
    """The call that the choice of a target stands for."""
    return ToolCall(call_id=call_id, name=TRANSITION_TOOL, arguments={"targetStage": target}, recovered=True)
