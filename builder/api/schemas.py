"""What the builder's part of the API takes and answers. The format itself is in `runtime/playbook`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from builder.api.documents import Document, StoredDocument
from builder.api.errors import ErrorBody
from builder.changes import Comparison, MergeConflict
from builder.changes.merging import Side
from builder.transfer.report import ReportEntry
from builder.validation import Diagnostic
from runtime.conversation.base import Value

Revision = Annotated[int, Field(ge=0, le=2**31 - 1)]


class UserInfo(Value):
    name: str


class OfferedModel(Value):
    """A model that can be chosen; `available` says whether a request can be sent to it."""

    id: str
    provider: str
    """The connection's name: what a stage's `provider` says."""
    label: str
    available: bool
    note: str = ""


class Me(Value):
    """Who is signed in, and what this server offers."""

    user: UserInfo
    csrf_token: str
    version: str
    models: tuple[OfferedModel, ...]


class ProblemCounts(Value):
    errors: int
    warnings: int


class ThumbnailStage(Value):
    """Where a stage's card stands on the canvas; null: it has no place yet."""

    id: str
    x: float | None
    y: float | None
    kind: Literal["chat", "raw", "end"]


class Thumbnail(Value):
    """Enough of the graph to draw it small. An edge is `[from, to]`; `from` may be `*`."""

    stages: tuple[ThumbnailStage, ...]
    edges: tuple[tuple[str, str], ...]


class PlaybookSummary(Value):
    """A playbook in the list."""

    id: UUID
    name: str
    description: str
    revision: int
    updated_at: datetime
    stage_count: int
    transition_count: int
    problems: ProblemCounts
    thumbnail: Thumbnail


class VersionSummary(Value):
    number: int
    note: str
    created_at: datetime
    author: str | None


class VersionDetail(VersionSummary):
    document: StoredDocument


class PlaybookDetail(Value):
    """A playbook with its draft."""

    id: UUID
    name: str
    description: str
    revision: int
    updated_at: datetime
    document: StoredDocument
    diagnostics: tuple[Diagnostic, ...]
    versions: tuple[VersionSummary, ...]


class CompanionSummary(Value):
    """A playbook that another one calls as an agent; `created` with it, or there already."""

    id: UUID
    name: str
    created: bool


class CreatedPlaybook(PlaybookDetail):
    """A new playbook, and those that came with it because it calls them."""

    companions: tuple[CompanionSummary, ...]


class NewPlaybook(Value):
    """What to start from: at most one of the three; none gives an empty playbook."""

    document: Document | None = None
    template: str | None = Field(default=None, max_length=100)
    copy_of: UUID | None = None


class SaveDraft(Value):
    """The draft, and the revision that the editing started from."""

    revision: Revision
    document: Document


class DraftSaved(Value):
    revision: int
    updated_at: datetime
    diagnostics: tuple[Diagnostic, ...]


class NewVersion(Value):
    """Keeps the draft of that revision as a version."""

    note: str = Field(default="", max_length=500)
    revision: Revision


class RestoreVersion(Value):
    """Replaces the draft of that revision by the version's document."""

    revision: Revision


class CurrentDraft(Value):
    revision: int
    document: StoredDocument
    updated_at: datetime


class Conflict(ErrorBody):
    """The draft was changed by somebody else in the meantime; nothing was saved."""

    current: CurrentDraft


class ToValidate(Value):
    document: Document


class NamedPlaybook(Value):
    id: UUID
    name: str


class AgentDocuments(Value):
    """The playbooks that a document's agents name, and those that they name, by the id that names them."""

    agents: dict[str, StoredDocument]
    playbooks: dict[str, NamedPlaybook]
    """Where their drafts are."""


class Validated(Value):
    diagnostics: tuple[Diagnostic, ...]


class Imported(Value):
    """What became of a file: the report, the document, and the playbook if it was saved."""

    report: tuple[ReportEntry, ...]
    document: StoredDocument | None = None
    agents: tuple[str, ...] = ()
    """Names of the playbooks that are in the file with it, because it calls them."""
    playbook: CreatedPlaybook | None = None


class ExportFormat(Value):
    """A kind of file that a playbook can be written as, and what it cannot carry of this one."""

    format: str
    title: str
    file_name: str
    report: tuple[ReportEntry, ...]


class ToMerge(Value):
    """My document, and the one that both of us started from; null if that is not known any more."""

    base: Document | None = None
    mine: Document
    choices: dict[str, Side] = Field(default_factory=dict)
    """Which side to take, by the key of the conflict; without a choice, mine."""


class MergedDraft(Value):
    """Both edits in one document, to be saved on `revision`, and the conflicts with the choices so far."""

    revision: int
    updated_at: datetime
    theirs: StoredDocument
    document: StoredDocument
    conflicts: tuple[MergeConflict, ...]
    taken: Comparison
    """What the document has that mine has not: their edits."""


class Template(Value):
    """A playbook of the gallery."""

    slug: str
    name: str
    description: str
    agents: tuple[str, ...]
    """Names of the playbooks that come with it, because it calls them."""
