"""The state as a model can work it out from a window's texts alone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from runtime.context.state_frames import FullState, StateDelta, apply_frame, digest
from runtime.conversation.segments import Segment

_FULL = re.compile(r"State (\d+) \(([0-9a-f]{8})\), complete: ")
_DELTA = re.compile(r"State (\d+), changes to state (\d+) \(([0-9a-f]{8})\): ")


def state_told(segments: Sequence[Segment]) -> dict[str, Any] | None:
    """What the state segments say, one after the other; None without any. Each must name its base."""
    known: dict[str, Any] | None = None
    number = 0
    for segment in segments:
        if segment.kind != "state":
            continue
        if full := _FULL.match(segment.text):
            known = dict(json.loads(segment.text[full.end() :]))
            number = int(full.group(1))
            assert digest(FullState(number, known).body) == full.group(2)
        else:
            delta = _DELTA.match(segment.text)
            assert delta is not None, segment.text
            assert known is not None, segment.text
            assert (int(delta.group(2)), delta.group(3)) == (number, digest(known)), segment.text
            number = int(delta.group(1))
            known = apply_frame(
                known, StateDelta(number, delta.group(3), json.loads(segment.text[delta.end() :]))
            )
    return known
