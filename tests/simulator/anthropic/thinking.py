"""Signed thinking: a block is good only as it was made, for the model and account that made it, and, on
models that bind it, under the very system prompt, tools and messages it was made under."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.simulator.answers import Json, Refusal
from tests.simulator.anthropic.conversation import THINKING, Conversation, Turn, unmarked
from tests.simulator.profiles import Profiles
from tests.simulator.signing import Verdict, Who, extend, verdict

RULE: Final = "A18"
EDITED: Final = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
INVALID: Final = "Invalid `signature` in `thinking` block."
MOVED: Final = f"{INVALID} The block is bound to a different conversation prefix."


@dataclass(slots=True)
class Verified:
    """A conversation with its good thinking, and where the next block would stand."""

    talk: Conversation
    prefix: str
    """Hash of all that stands before the reply."""
    dropped: list[str] = field(default_factory=list)
    """Signatures of the blocks that were left out because their prefix changed."""


def verify(
    talk: Conversation, who: Who, profiles: Profiles, *, binds: bool, drops: bool, keeps_all: bool
) -> Verified:
    """Checks every thinking block. Blocks of other models are left out silently; one whose prefix changed is
    refused, or left out with all later ones where the request says so (`drops`). Raises Refusal."""
    prefix = ""
    for place, block in _head(talk):
        prefix = extend(prefix, place, unmarked(block))
    verified = Verified(Conversation(talk.tools, talk.system, []), prefix)
    latest = max((turn.index for turn in talk.turns if turn.role == "assistant"), default=-1)
    oldest_kept = 0 if keeps_all else _last_question(talk)
    checks = profiles.checks(RULE, who.model)
    for turn in talk.turns:
        kept = Turn(turn.role, [], turn.index)
        for block in turn.blocks:
            if block["type"] in THINKING:
                found = _verdict(block, who, verified.prefix) if checks else "good"
                forgotten = turn.index < oldest_kept
                is_latest = turn.index == latest
                if forgotten or not _stays(found, block, verified, binds, drops, is_latest):
                    continue
            kept.blocks.append(block)
            verified.prefix = extend(verified.prefix, turn.role, unmarked(block))
        verified.talk.turns.append(kept)
    return verified


def _head(talk: Conversation) -> Iterator[tuple[str, Json]]:
    yield from (("tools", tool) for tool in talk.tools)
    yield from (("system", block) for block in talk.system)


def _last_question(talk: Conversation) -> int:
    """Index of the last user turn that is more than tool results: older models forget thinking before it."""
    asked = [
        turn.index
        for turn in talk.turns
        if turn.role == "user" and any(block["type"] != "tool_result" for block in turn.blocks)
    ]
    return asked[-1] if asked else 0


def _verdict(block: Json, who: Who, prefix: str) -> Verdict:
    return verdict(_signature(block), who, prefix, block.get("thinking", ""))


def _signature(block: Json) -> str:
    return str(block.get("signature") or block.get("data") or "")


def _stays(found: Verdict, block: Json, verified: Verified, binds: bool, drops: bool, latest: bool) -> bool:
    if found == "foreign":
        return False
    if found in ("forged", "edited"):
        raise Refusal(RULE, 400, EDITED if latest and found == "edited" else INVALID)
    if not binds or (found == "good" and not verified.dropped):
        return True
    if not drops:
        raise Refusal(RULE, 400, MOVED)
    verified.dropped.append(_signature(block))
    return False
