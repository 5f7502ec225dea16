"""What the Responses API refuses in the items (O09)."""

from __future__ import annotations

from tests.simulator.answers import Json, Refusal

RULE = "O09"
OUTPUTS = frozenset({"message", "function_call", "reasoning"})


def check_items(items: list[Json]) -> None:
    """Calls have outputs and outputs calls; a reasoning item stands before what it led to. Raises Refusal."""
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    _check_outputs(items)
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    missing = [call_id for call_id in calls if call_id not in answered]
    if missing:
        raise Refusal(RULE, 400, f"No tool output found for function call {missing[0]}.", param="input")
    if len(calls) != len(set(calls)):
        raise Refusal(RULE, 400, "Duplicate 'call_id' of function calls.", param="input")
    _check_reasoning(items)


def _check_outputs(items: list[Json]) -> None:
    """Every output comes after its call, once."""
    open_calls: set[str] = set()
    for index, item in enumerate(items):
        if item.get("type") == "function_call":
            open_calls.add(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item["call_id"] not in open_calls:
                message = f"No tool call found for function call output with call_id {item['call_id']}."
                raise Refusal(RULE, 400, message, param=f"input[{index}]")
            open_calls.discard(item["call_id"])


def _check_reasoning(items: list[Json]) -> None:
    for index, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        following = items[index + 1] if index + 1 < len(items) else {"role": "user"}
        own = (
            following.get("type", "message") in OUTPUTS and following.get("role", "assistant") == "assistant"
        )
        if not own:
            name = item.get("id", "")
            message = f"Item '{name}' of type 'reasoning' was provided without its required following item."
            raise Refusal(RULE, 400, message, param="input")
