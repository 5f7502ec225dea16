"""`onEnter` and `onExit`: sets variables at once; a tool call is awaited before the transition goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from runtime.conversation import events as ev
from runtime.conversation.messages import ToolCall
from runtime.conversation.state import ACTION_CALL
from runtime.engine import artifact_tools, artifacts
from runtime.engine.draft import Draft
from runtime.engine.effects import RunTool
from runtime.engine.roots import roots_of
from runtime.playbook import CallAction, SetAction, Stage, StageAction, ToolDefinition
from runtime.playbook.arguments import argument_error
from runtime.playbook.artifact_tools import ARTIFACT_TOOLS
from runtime.playbook.expressions import ExpressionError, compile_expression

Cause = Literal["on_enter", "on_exit"]


def run_actions(
    draft: Draft, stage: Stage, actions: Sequence[StageAction], cause: Cause, skip_calls: bool
) -> bool:
    """Do the actions that are left; one that fails is logged and passed. False: one waits for its tool."""
    while (done := draft.moving.done) < len(actions):
        action = actions[done]
        if isinstance(action, SetAction):
            _set(draft, stage, action, cause)
        elif not _call(draft, stage, action, cause, skip_calls):
            return False
    return True


def _set(draft: Draft, stage: Stage, action: SetAction, cause: Cause) -> None:
    roots = roots_of(draft.state, stage, draft.now)
    values: dict[str, Any] = {}
    for name, source in action.set.items():
        roots["vars"] = {**draft.state.variables, **values}
        try:
            outcome = compile_expression(source).evaluate(roots)
        except ExpressionError as error:
            return _failed(draft, cause, "set", f"{name}: {error.message}")
        if outcome.error is not None:
            return _failed(draft, cause, "set", f"{name}: {outcome.error}")
        values[name] = outcome.value
    draft.log(ev.StateChanged, set=artifacts.kept_variables(draft, stage, values), cause=cause)
    return None


def _call(draft: Draft, stage: Stage, action: CallAction, cause: Cause, skip: bool) -> bool:
    """True: the action is done, one way or another. False: its tool has been asked and must be waited for."""
    if action.call in ARTIFACT_TOOLS:
        _artifact_call(draft, stage, action, cause)
        return True
    tool = _tool(draft, stage, action.call)
    arguments = artifacts.contents(draft, action.arguments, private=True)
    error = _call_error(tool, action.call, arguments, skip)
    if tool is None or error is not None:
        _failed(draft, cause, action.call, error or "")
        return True
    call = ToolCall(call_id=_call_id(draft, cause), name=tool.name, arguments=arguments)
    shown = artifacts.shown(draft, stage, action.arguments, arguments)
    draft.log(ev.ToolCallStart, call_id=call.call_id, name=call.name, arguments=shown)
    draft.want(RunTool(call=call, tool=tool, roots=roots_of(draft.state, stage, draft.now)))
    return False


def _artifact_call(draft: Draft, stage: Stage, action: CallAction, cause: Cause) -> None:
    """`SaveArtifact` and `LoadArtifact` are done at once."""
    call_id = _call_id(draft, cause)
    draft.log(ev.ToolCallStart, call_id=call_id, name=action.call, arguments=action.arguments)
    result, error = artifact_tools.perform(draft, stage, action.call, action.arguments)
    draft.log(
        ev.ToolCallComplete,
        call_id=call_id,
        tool_name=action.call,
        success=error is None,
        result=result,
        error=error,
    )


def _call_error(
    tool: ToolDefinition | None, name: str, arguments: Mapping[str, Any], skip: bool
) -> str | None:
    if tool is None:
        return f"The playbook has no tool named {name!r}."
    if skip:
        return "Not run: the turn was stopped."
    if tool.approval != "never":
        return "Not run: approval by a person is not possible in this version."
    return argument_error(tool.parameters, arguments)


def _tool(draft: Draft, stage: Stage, name: str) -> ToolDefinition | None:
    own = draft.table.rows[stage.id].tools.get(name)
    if own is not None:
        return own
    return next((row.tools[name] for row in draft.table.rows.values() if name in row.tools), None)


def _failed(draft: Draft, cause: Cause, name: str, error: str) -> None:
    draft.log(
        ev.ToolCallComplete,
        call_id=_call_id(draft, cause),
        tool_name=name,
        success=False,
        error=f"{'onEnter' if cause == 'on_enter' else 'onExit'}: {error}",
    )


def _call_id(draft: Draft, cause: Cause) -> str:
    return f"{ACTION_CALL}{draft.state.visits}:{cause}:{draft.moving.done}"
