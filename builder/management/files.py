"""Files that a command is given: read whole, or one sentence that says what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from builder.transfer import UnreadableJson, read_json
from builder.transfer.loading import load_value
from builder.validation.pointers import problems
from runtime.engine import NO_AGENTS
from runtime.playbook import Playbook
from runtime.playbook.errors import InvalidPlaybook
from runtime.playbook.runnable import check_runnable
from runtime.runner.replay.script import Script


class UnusableFile(Exception):
    """The message is a sentence for a person; it names the file and, where there is one, the place in it."""


class _Fault(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def message(self) -> str: ...


def read_playbook(file: Path, agents: Mapping[str, Playbook] = NO_AGENTS) -> Playbook:
    """A playbook that can be run. Raises UnusableFile.

    A file without `formatVersion` is one of format 1: it runs as it stands. Only an import takes a foreign
    product's document for what it meant there. `agents`: by playbook id, what it may call.
    """
    playbook = _loaded(file, _json(file))
    try:
        check_runnable(playbook, agents)
    except InvalidPlaybook as failure:
        raise _unusable(file, failure.problems) from None
    return playbook


def read_agents(file: Path, script: Script) -> dict[str, Playbook]:
    """The playbooks that the script in `file` names as agents, by playbook id. Raises UnusableFile."""
    return {
        name: _loaded(file.parent / given, _json(file.parent / given))
        if isinstance(given, str)
        else _loaded(file, given, f"/agents/{name}")
        for name, given in script.agents.items()
    }


def read_agent_files(files: Iterable[Path]) -> dict[str, Playbook]:
    """The playbooks in these files, by their own ids. Raises UnusableFile."""
    agents: dict[str, Playbook] = {}
    for file in files:
        playbook = _loaded(file, _json(file))
        if playbook.id in agents:
            raise UnusableFile(f"{file}#/id: There are two agent playbooks {playbook.id!r}.")
        agents[playbook.id] = playbook
    return agents


def _loaded(file: Path, document: Any, place: str = "") -> Playbook:
    if isinstance(document, dict):
        document.setdefault("formatVersion", 1)
    loaded = load_value(document)
    if loaded.playbook is None:
        raise _unusable(file, loaded.errors, place)
    return loaded.playbook


def read_script(file: Path) -> Script:
    """A replay script. Raises UnusableFile."""
    document = _json(file)
    try:
        return Script.model_validate(document)
    except ValidationError as failure:
        raise _unusable(file, problems(failure, document)) from None


def _json(file: Path) -> Any:
    try:
        return read_json(file.read_bytes())
    except OSError as failure:
        raise UnusableFile(f"{file} cannot be read: {failure.strerror}.") from None
    except UnreadableJson as failure:
        raise UnusableFile(f"{file}: {failure}") from None


def _unusable(file: Path, faults: Iterable[_Fault], place: str = "") -> UnusableFile:
    first, *others = faults
    more, pointer = f" ({len(others)} more faults)" if others else "", place + first.path
    return UnusableFile(f"{file}{pointer and '#' + pointer}: {first.message}{more}")
