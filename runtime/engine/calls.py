"""The tool calls of one message: which are carried out, in what order, and what the others get instead.

Every call gets exactly one result, whatever happens. A call that is refused gets an error result at once and
is never started; the transition tool is answered when the other calls have their results.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any

from runtime.conversation import events as ev
from runtime.conversation.artifacts import reference
from runtime.conversation.messages import AssistantMessage, ToolCall, ToolMessage
from runtime.conversation.state import ACTION_CALL
from runtime.engine import artifact_tools, artifacts, turns
from runtime.engine.decisions import answer_decisions
from runtime.engine.draft import Draft
from runtime.engine.effects import RunTool
from runtime.engine.roots import roots_of
from runtime.engine.transitions import trigger
from runtime.playbook import Stage, ToolDefinition
from runtime.playbook.arguments import argument_error
from runtime.playbook.artifact_tools import ARTIFACT_TOOLS
from runtime.playbook.engine_tools import TRANSITION_TOOL

BARRED = "No tool can be called now: answer the user."
OVER_LIMIT = "Not run: the limit of tool calls per turn is reached. Answer the user with what you have."


def with_unique_ids(message: AssistantMessage) -> AssistantMessage:
    """The message with call ids that are not empty, not repeated and not of the engine's own kind."""
    if not message.tool_calls:
        return message
    taken: set[str] = set()
    calls: list[ToolCall] = []
    for number, call in enumerate(message.tool_calls, 1):
        call_id = call.call_id
        if not call_id or call_id in taken or call_id.startswith(ACTION_CALL):
            call_id = f"{call_id.removeprefix(ACTION_CALL) or 'call'}-{number}"
            while call_id in taken:
                call_id += "x"
        taken.add(call_id)
        calls.append(call if call_id == call.call_id else call.model_copy(update={"call_id": call_id}))
    if all(map(is_, message.tool_calls, calls)):
        return message
    return message.model_copy(update={"tool_calls": tuple(calls)})


def take_calls(draft: Draft) -> None:
    """Answer or start the calls of the message that was just logged."""
    if not turns.loop_is_open(draft):
        for call in draft.running.pending:
            complete(draft, call, error=BARRED)
        return _after_barred(draft)
    room = draft.options.max_tool_calls_per_turn - draft.running.tool_calls
    for call in draft.running.pending:
        if call.name == TRANSITION_TOOL:
            continue
        if artifact_tools.is_answered_here(draft, call):
            artifact_tools.answer(draft, call)
            continue
        problem = OVER_LIMIT if room <= 0 else _problem(draft, call)
        room -= 1
        if problem is not None:
            complete(draft, call, error=problem)
    return go_on(draft)


def _after_barred(draft: Draft) -> None:
    """Text that was shown is the reply; else the model is asked once more, with no way to call."""
    running = draft.running
    if any(running.shown):
        return turns.finish_reply(draft)
    if running.closed_at is None and draft.row.starts_with_tools:
        return turns.close_loop(draft, turns.loop_end(draft))
    return turns.finish_reply(draft) if turns.barred_requests(draft) > 1 else turns.ask(draft)


def _problem(draft: Draft, call: ToolCall) -> str | None:
    tool = draft.row.tools.get(call.name)
    if tool is None:
        names = [*draft.row.tools, *([TRANSITION_TOOL] if draft.row.targets else [])]
        names += ARTIFACT_TOOLS if draft.row.offers_artifacts else ()
        return f"There is no tool {call.name!r} in this stage. Its tools: {', '.join(names) or 'none'}."
    if tool.approval != "never":
        return "Not run: this tool needs a person's approval, which is not possible in this version."
    return argument_error(tool.parameters, _arguments(draft, call))


def _arguments(draft: Draft, call: ToolCall) -> dict[str, Any] | None:
    return artifacts.contents(draft, call.arguments) if call.arguments is not None else None


def go_on(draft: Draft) -> None:
    """Start what can start: parallel calls together, sequential ones one by one; then what follows."""
    running = draft.running
    waiting = [call for call in running.pending if call.name != TRANSITION_TOOL]
    busy = any(_is_sequential(draft, call) for call in waiting if call.call_id in running.started)
    for call in waiting:
        if call.call_id in running.started:
            continue
        if _is_sequential(draft, call):
            if busy:
                continue
            busy = True
        _start(draft, call)
    if not waiting:
        after_calls(draft)


def _is_sequential(draft: Draft, call: ToolCall) -> bool:
    return _tool(draft, call).execution_policy == "sequential"


def _tool(draft: Draft, call: ToolCall) -> ToolDefinition:
    return draft.row.tools[call.name]


def _start(draft: Draft, call: ToolCall) -> None:
    draft.log(ev.ToolCallStart, call_id=call.call_id, name=call.name, arguments=call.arguments)
    roots = roots_of(draft.state, draft.row.stage, draft.now)
    whole = call.model_copy(update={"arguments": _arguments(draft, call)})
    draft.want(RunTool(call=whole, tool=_tool(draft, call), roots=roots))


def take_result(draft: Draft, message: ToolMessage) -> None:
    """A tool answered. A result that nobody waits for (late, repeated) changes nothing."""
    call = next((call for call in draft.running.pending if call.call_id == message.call_id), None)
    if call is None or call.call_id not in draft.running.started:
        return
    stage = draft.row.stage
    kept = artifacts.kept_result(draft, stage, call, message.result) if message.success else None
    complete(
        draft,
        call,
        result=message.result if kept is None else reference(kept.name),
        error=message.error,
        success=message.success,
        ms=message.duration_ms,
        artifact=kept.name if kept is not None else None,
    )
    if kept is not None:
        artifacts.load(draft, kept)
    if message.success:
        save(draft, stage, _tool(draft, call), message.result)
    go_on(draft)


def save(draft: Draft, stage: Stage, tool: ToolDefinition, result: Any) -> None:
    """`saveAs`: the result becomes a variable."""
    if tool.save_as:
        kept = artifacts.kept_variables(draft, stage, {tool.save_as: result})
        draft.log(ev.StateChanged, set=kept, cause=f"tool:{tool.name}")


def complete(
    draft: Draft,
    call: ToolCall,
    *,
    result: Any = None,
    error: str | None = None,
    success: bool = False,
    ms: int = 0,
    artifact: str | None = None,
) -> None:
    """Log the one result of a call."""
    draft.log(
        ev.ToolCallComplete,
        call_id=call.call_id,
        tool_name=call.name,
        success=success,
        result=result,
        error=error,
        duration_ms=ms,
        artifact=artifact,
    )


def after_calls(draft: Draft) -> None:
    """All other calls have their results: a transition the model asked for is made, or the model goes on."""
    decision = answer_decisions(draft)
    if decision is not None:
        if draft.running.phase == 1:
            turns.log_phase1_complete(draft, "transition")
        return _decide(draft, *decision)
    if turns.loop_is_open(draft):
        return turns.ask(draft)
    return turns.close_loop(draft, turns.loop_end(draft))


def _decide(draft: Draft, rule_id: str, arguments: Mapping[str, Any]) -> None:
    rule = draft.table.transitions[rule_id]
    reason = str(arguments.get("reason") or "The model asked for it.")
    data = arguments.get("data")
    own = artifacts.pinned(draft, data) if isinstance(data, Mapping) else {}
    draft.log(ev.TransitionEvaluated, transition=rule.id, verdict=True, seen=dict(arguments), reason=reason)
    if rule.action.mode == "return" and draft.frame.depth == 0:
        return turns.end_frame(draft, "return", {**(rule.action.data or {}), **own})
    summary = arguments.get("summary")
    trigger(draft, rule, reason, own, summary if isinstance(summary, str) else None)
    return turns.move(draft)
