"""What a playbook can be written as besides our own file, each with a report of what it cannot carry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from builder.transfer.exporters import graphviz, llmrtc, markdown, mermaid, typescript
from builder.transfer.report import ReportEntry
from builder.transfer.secrets import without_secrets
from builder.transfer.writing import export, file_stem
from runtime.playbook import Playbook

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """A file, and what was changed or left out on the way, with places in the document."""

    data: bytes
    report: tuple[ReportEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file. `write` gets a document of today's format, without secrets."""

    key: str
    title: str
    suffix: str
    media_type: str
    write: Callable[[Json, Playbook], Written]

    def file_name(self, document: Json) -> str:
        """A name for the file that every file system takes."""
        return file_stem(document) + self.suffix


def _text(write: Callable[[Playbook], str]) -> Callable[[Json, Playbook], Written]:
    return lambda document, playbook: Written(write(playbook).encode())


def _reported(
    write: Callable[[Json, Playbook], tuple[str, tuple[ReportEntry, ...]]],
) -> Callable[[Json, Playbook], Written]:
    def written(document: Json, playbook: Playbook) -> Written:
        text, report = write(document, playbook)
        return Written(text.encode(), report)

    return written


FORMATS: Final = (
    Format("json", "Playbook", ".json", "application/json", lambda document, _: Written(export(document))),
    Format("llmrtc", "LLMRTC playbook", ".llmrtc.json", "application/json", _reported(llmrtc.write)),
    Format("typescript", "LLMRTC module", ".ts", "text/typescript", _reported(typescript.write)),
    Format("mermaid", "Mermaid graph", ".mmd", "text/vnd.mermaid", _text(mermaid.write)),
    Format("graphviz", "Graphviz graph", ".dot", "text/vnd.graphviz", _text(graphviz.write)),
    Format("markdown", "Document for reviewers", ".md", "text/markdown", _text(markdown.write)),
)
BY_KEY: Final = {known.key: known for known in FORMATS}


def write(document: Json, key: str) -> Written:
    """The document in the format of that key. Raises KeyError for an unknown one."""
    safe = without_secrets(document)
    return BY_KEY[key].write(safe, Playbook.model_validate(safe))
