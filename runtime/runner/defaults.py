"""What `Session.open` takes where its caller names nothing: the playbook's file, the models, the tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runtime.context.models import ModelRecord, record
from runtime.engine import NO_AGENTS
from runtime.llm.base import LLM
from runtime.llm.source import DEFAULT_MODELS
from runtime.playbook import LLMConfig, Playbook
from runtime.playbook.engine_tools import canonical_json
from runtime.playbook.runnable import check_runnable
from runtime.runner.ports import Tools
from runtime.tools import ToolBox
from runtime.tools.functions import FunctionTools, ToolFunction

Source = Playbook | Mapping[str, Any] | Path | str
"""A playbook, its document, or the path of its file."""


class OneLLM:
    """The same connection for every stage; a stage that names no model gets the connection's usual one."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[LLM, ModelRecord]:
        """The connection, and the record of the model that it is to call."""
        provider = self._llm.provider
        return self._llm, record(using_model or config.model or DEFAULT_MODELS.get(provider, provider))


def runnable(source: Source, agents: Mapping[str, Playbook] = NO_AGENTS) -> Playbook:
    """The playbook, ready to run with these agents. Raises what `read` raises, and InvalidPlaybook for a
    playbook that would have no place to go."""
    playbook = read(source)
    check_runnable(playbook, agents)
    return playbook


def read(source: Source) -> Playbook:
    """The playbook as it stands there.

    Raises OSError or ValueError for a file that is no JSON, and pydantic's ValidationError for another shape.
    """
    if isinstance(source, Path | str):
        source = json.loads(Path(source).read_text("utf-8"))
    return source if isinstance(source, Playbook) else Playbook.model_validate(source)


def tools_of(playbooks: Iterable[Playbook], functions: Mapping[str, ToolFunction], others: ToolBox) -> Tools:
    """The playbooks' own tools, and functions in place of those of the same name. Raises ValueError for a
    function that no tool of theirs asks for: a typing mistake would otherwise show in a talk only."""
    names: set[str] = set()
    for playbook in playbooks:
        names |= {tool.name for stage in playbook.stages for tool in stage.tools}
        names |= {tool.name for tool in playbook.global_tools}
    for name in functions:
        if name not in names:
            raise ValueError(f"The playbook has no tool {name!r}; its tools are {sorted(names)}.")
    return FunctionTools(functions, others) if functions else others


def document_digest(playbook: Playbook) -> str:
    """Identifies the document that is run."""
    text = canonical_json(playbook.model_dump(mode="json", by_alias=True))
    return hashlib.sha256(text.encode()).hexdigest()
