"""How artifacts read in a window: a line with name and summary, and the segment with the text, or a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from runtime.conversation.artifacts import ArtifactRef
from runtime.conversation.events import ArtifactLoaded
from runtime.conversation.segments import Segment
from runtime.conversation.windows import Pending

if TYPE_CHECKING:
    from runtime.context.segments import SegmentMaker

FOLLOWS: Final = "Its text follows."
WHOLE: Final = "Its text:"
ABOVE: Final = "Its text stands above."
HEAD_SHARE: Final = 2 / 3
"""Of a preview: what comes from the beginning of the text; the rest is its end."""


def artifact_line(artifact: ArtifactRef) -> str:
    """Name, kind, size and summary, in one line."""
    summary = (
        artifact.summary if artifact.size in artifact.summary else f"{artifact.size}, {artifact.summary}"
    )
    return f"Artifact {artifact.name}: {summary}"


def named_artifact(artifact: ArtifactRef) -> str:
    """Name, kind and size, for a place next to the text itself."""
    return f"Artifact {artifact.name} ({artifact.size})."


def artifact_segment(
    maker: SegmentMaker, item: Pending, artifact: ArtifactRef, event: ArtifactLoaded, preview: int
) -> Segment:
    """The loaded text: all of it, the range that was asked for, or, of a text longer than `preview`
    characters, its head and its tail. What it is about stands in the result before it, or in the state; once
    it is unloaded, the `line` of its meta says it."""
    shown, body = _part(artifact.text, event, preview)
    meta = {
        "artifact": artifact.name,
        "content": artifact.hash,
        "offset": event.offset,
        "length": event.length,
        "line": artifact_line(artifact),
    }
    return maker.make(
        f"e{event.seq}",
        "artifact",
        "user",
        f"{named_artifact(artifact)}\n{shown}\n{body}",
        sources=(event.seq,),
        frame=item.frame,
        stage=item.stage,
        label=f"artifact {artifact.name} ({artifact.size})",
        meta=meta,
    )


def read_artifact(segment: Segment) -> tuple[str, str | None]:
    """The name of a loaded artifact and its text; None where only parts of it stand there."""
    _, shown, body = (*segment.text.split("\n", 2), "", "")[:3]
    return str(segment.meta["artifact"]), body if shown == WHOLE else None


def _part(text: str, event: ArtifactLoaded, preview: int) -> tuple[str, str]:
    """What is shown, in words, and the text."""
    total = len(text)
    if event.length is not None:
        end = min(event.offset + event.length, total)
        return f"Characters {event.offset:,} to {end:,} of {total:,}:", text[event.offset : end]
    if total <= preview:
        return WHOLE, text
    head = max(1, int(preview * HEAD_SHARE))
    tail = total - (preview - head)
    words = (
        f"Longer than what is loaded at once: characters 0 to {head:,} and {tail:,} to {total:,}. "
        "LoadArtifact with offset and length reads the rest."
    )
    return words, f"{text[:head]}\n[… {tail - head:,} characters left out …]\n{text[tail:]}"
