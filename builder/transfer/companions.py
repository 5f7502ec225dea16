"""Playbooks that go together: a document and those it calls as agents, linked by the `id` of each.

In a file they travel inside the caller, as `metadata.studio.agents`: one file is handed over, and nothing is
lost. A saved playbook never has them inside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from builder.transfer.loading import Loaded, load, load_value
from builder.transfer.needs import NEEDS_PLAYBOOK
from builder.transfer.report import ReportEntry
from builder.validation.pointers import pointer

Document = dict[str, Any]

KEY: Final = "agents"


def agents_named(document: Mapping[str, Any]) -> list[str]:
    """The ids of the playbooks that the document's agents name, in order, each once."""
    return list(dict.fromkeys(agent["playbook"] for agent in document.get("agents") or ()))


def relinked(document: Document, names: Mapping[str, str]) -> Document:
    """The document with agents that name the playbooks by other ids; itself where none is among them."""
    if not any(name in names for name in agents_named(document)):
        return document
    agents = [
        {**agent, "playbook": names.get(agent["playbook"], agent["playbook"])} for agent in document["agents"]
    ]
    return {**document, "agents": agents}


def packed(document: Document, agents: Mapping[str, Document]) -> Document:
    """The document with the agents' documents inside, each under the id that names it; itself without any."""
    if not agents:
        return document
    inside = {name: agents[name] for name in sorted(agents)}
    return _with_studio(document, {**_studio(document), KEY: inside})


def unpacked(document: Document) -> tuple[Document, dict[str, Any]]:
    """The document without the agents' documents, and those by id: nobody has looked at them yet."""
    studio = _studio(document)
    inside = studio.get(KEY)
    if not isinstance(inside, dict) or not inside:
        return document, {}
    return _with_studio(document, {key: value for key, value in studio.items() if key != KEY}), inside


@dataclass(frozen=True, slots=True)
class LoadedTogether:
    """A document and those it calls, by the id that names them. If one of them is refused, it is None."""

    document: Document | None
    agents: dict[str, Document]
    report: tuple[ReportEntry, ...]


def load_together(data: bytes) -> LoadedTogether:
    """Reads a file that may have agents' documents inside. Raises UnreadableJson when it is no JSON;
    everything else is in the report. Those that nobody calls stay away."""
    return unloaded(load(data))


def unloaded(loaded: Loaded) -> LoadedTogether:
    """The document that was read from a file, and the agents' documents that were inside, each looked at."""
    if loaded.document is None:
        return LoadedTogether(None, {}, loaded.report)
    plain, inside = unpacked(loaded.document)
    seen: dict[str, Loaded] = {}

    def read(name: str) -> Document | None:
        if name not in inside:
            return None
        seen[name] = load_value(inside[name])
        return seen[name].document

    agents = gathered(plain, read)
    known = {*agents, plain["id"]}
    report = list(_without_known(loaded, known))
    for name, found in seen.items():
        report += (_inside(name, entry) for entry in _without_known(found, known))
    report += (_uncalled(name) for name in inside if name not in seen)
    if any(entry.level == "error" for entry in report):
        return LoadedTogether(None, {}, tuple(report))
    return LoadedTogether(plain, agents, tuple(report))


def _without_known(loaded: Loaded, known: Collection[str]) -> Iterator[ReportEntry]:
    """The report without what it says of playbooks that come along."""
    for entry in loaded.report:
        if entry.code != NEEDS_PLAYBOOK or _named_at(loaded.document, entry.path) not in known:
            yield entry


def _named_at(document: Document | None, path: str) -> str:
    """The playbook that the agent at `/agents/INDEX/playbook` names."""
    index = int(path.split("/")[2])
    return str((document or {})["agents"][index]["playbook"])


def gathered(document: Document, read: Callable[[str], Document | None]) -> dict[str, Document]:
    """The documents that a document calls, and those that they call, by id: the callers before the called.
    `read` gives one of them, or None, and is asked once for each."""
    found: dict[str, Document] = {}
    asked: set[str] = set()
    waiting = agents_named(document)
    while waiting:
        name = waiting.pop(0)
        if name in asked:
            continue
        asked.add(name)
        agent = read(name)
        if agent is not None:
            found[name] = agent
            waiting += agents_named(agent)
    return found


def _place(name: str) -> str:
    return pointer("metadata", "studio", KEY, name)


def _inside(name: str, entry: ReportEntry) -> ReportEntry:
    message = f"In the agent’s playbook “{name[:80]}”: {entry.message}"
    return entry.model_copy(update={"path": _place(name) + entry.path, "message": message})


def _uncalled(name: str) -> ReportEntry:
    message = f"The playbook “{name[:80]}” in it is left out: no agent names it."
    return ReportEntry(level="warning", path=_place(name), code="agent-not-called", message=message)


def _studio(document: Mapping[str, Any]) -> dict[str, Any]:
    metadata = document.get("metadata")
    studio = metadata.get("studio") if isinstance(metadata, dict) else None
    return studio if isinstance(studio, dict) else {}


def _with_studio(document: Document, studio: dict[str, Any]) -> Document:
    metadata = {**(document.get("metadata") or {}), "studio": studio}
    if not studio:
        del metadata["studio"]
    changed = {key: value for key, value in document.items() if key != "metadata"}
    return {**changed, "metadata": metadata} if metadata else changed
