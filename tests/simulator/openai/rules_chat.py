"""What Chat Completions refuses in the messages (O05 to O08)."""

from __future__ import annotations

from runtime.context.models import ModelRecord
from tests.simulator.answers import Json, Refusal
from tests.simulator.openai.models import tools_need_responses


def check_reasoning_with_tools(body: Json, model: ModelRecord) -> None:
    """O05: newer models take tools here only without reasoning. Raises Refusal."""
    if body.get("tools") and tools_need_responses(model) and body.get("reasoning_effort") != "none":
        message = (
            "Function tools with reasoning_effort are not supported for this model in "
            "/v1/chat/completions. Please use /v1/responses instead."
        )
        raise Refusal("O05", 400, message, param="reasoning_effort")


def check_answers(messages: list[Json]) -> None:
    """O06 and O07: every tool call is answered, once, before the next other message. Raises Refusal."""
    waiting: list[str] = []
    allowed = False
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            _check_tool_message(message, index, waiting, allowed)
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise _unanswered(waiting, index)
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        allowed = bool(waiting)
    if waiting:
        raise _unanswered(waiting, len(messages))


def _unanswered(waiting: list[str], index: int) -> Refusal:
    message = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
    )
    return Refusal("O06", 400, message, param=f"messages.[{index}].role")


def _check_tool_message(message: Json, index: int, waiting: list[str], allowed: bool) -> None:
    if not allowed:
        text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        raise Refusal("O07", 400, f"Invalid parameter: {text}", param=f"messages.[{index}].role")
    if message["tool_call_id"] not in waiting:
        text = f"Invalid parameter: 'tool_call_id' of '{message['tool_call_id']}' not found in 'tool_calls'."
        raise Refusal("O07", 400, text, param=f"messages.[{index}].tool_call_id")


def check_content(messages: list[Json]) -> None:
    """O08: there are messages, and none of the assistant's is empty. Raises Refusal."""
    if not messages:
        raise Refusal("O08", 400, "Invalid 'messages': empty array.", param="messages", code="empty_array")
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        if message.get("tool_calls") == []:
            raise Refusal(
                "O08", 400, "empty array", param=f"messages.[{index}].tool_calls", code="empty_array"
            )
        has_text = message.get("content") not in (None, [])
        if not has_text and not message.get("tool_calls") and not message.get("refusal"):
            text = "Invalid value for 'content': expected a string, got null."
            raise Refusal("O08", 400, text, param=f"messages.[{index}].content")
