"""The head of a window: the tools and the base. One per playbook in `append`, one per stage in `swap`."""

from __future__ import annotations

from runtime.context.instructions import base_text, stage_text
from runtime.context.policy import Policy
from runtime.context.segments import SegmentMaker, tools_text
from runtime.context.sent import Layout
from runtime.conversation.segments import Segment
from runtime.conversation.snapshot import is_private
from runtime.conversation.state import Frame, SessionState
from runtime.playbook import Playbook, Stage, ToolDefinition
from runtime.playbook.engine_tools import allowed_targets, stage_tools, union_tools
from runtime.playbook.kept import kept


def offers_artifacts(state: SessionState, policy: Policy) -> bool:
    """Whether the model may save and load artifacts now: the policy says so, and there is one."""
    return policy.artifact_tools and any(not is_private(name) for name in state.artifacts)


def window_tools(
    playbook: Playbook, stage: Stage, policy: Policy, artifacts: bool
) -> tuple[ToolDefinition, ...]:
    """The tools a request defines: the playbook's union in `append`, the stage's own in `swap`."""
    return _tools(playbook, stage, policy.layout, artifacts)


def _tools(playbook: Playbook, stage: Stage, layout: Layout, artifacts: bool) -> tuple[ToolDefinition, ...]:
    if layout == "append":
        return union_tools(playbook, artifacts)
    return stage_tools(playbook, stage, "swap", artifacts)


@kept
def _tools_text(playbook: Playbook, stage: Stage, layout: Layout, artifacts: bool) -> str:
    return tools_text(_tools(playbook, stage, layout, artifacts))


def head_segments(
    maker: SegmentMaker, playbook: Playbook, state: SessionState, policy: Policy
) -> tuple[Segment, ...]:
    """The tools segment, unless there are no tools, and the base segment for the current frame's stage."""
    frame = state.frame
    stage = playbook.stage(frame.stage) if frame else None
    if frame is None or stage is None:
        return ()
    artifacts = offers_artifacts(state, policy)
    tools = window_tools(playbook, stage, policy, artifacts)
    appending = policy.layout == "append"
    owner = f".{frame.agent}" if frame.agent else ""
    owner += "" if appending else f".{stage.id}.{frame.visit}"
    head: list[Segment] = []
    if tools:
        label = f"{len(tools)} tools" if appending else f"{len(tools)} tools of «{stage.name}»"
        text = _tools_text(playbook, stage, policy.layout, artifacts)
        head.append(maker.make(f"tools{owner}", "tools", "system", text, label=label))
    text = base_text(
        playbook.global_system_prompt,
        "" if appending else instructions(playbook, stage, frame, policy, artifacts=artifacts),
    )
    label = "base instructions" if appending else f"base and «{stage.name}»"
    stage_id = None if appending else stage.id
    head.append(maker.make(f"base{owner}", "base", "system", text, stage=stage_id, label=label))
    return tuple(head)


def instructions(
    playbook: Playbook,
    stage: Stage,
    frame: Frame,
    policy: Policy,
    *,
    artifacts: bool = False,
    repeats: bool = False,
) -> str:
    """The text of the stage's instructions for this visit."""
    return stage_text(
        stage.name,
        [tool.name for tool in stage_tools(playbook, stage, policy.layout, artifacts)],
        [(target, frame.descriptions.get(target, text)) for target, text in allowed_targets(playbook, stage)],
        frame.prompt,
        frame.data,
        repeats=repeats,
    )
