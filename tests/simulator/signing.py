"""What only the simulator can make: signatures of thinking and of encrypted reasoning."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Any, Literal

from tests.simulator.answers import compact

Verdict = Literal["good", "moved", "edited", "foreign", "forged"]
"""`moved`: under another prefix; `foreign`: another model's; `edited`, `forged`: not as it was made."""


@dataclass(frozen=True, slots=True)
class Who:
    """For whom a block is good."""

    model: str
    account: str


def sign(who: Who, prefix: str, text: str) -> str:
    """The signature of a block; opaque to clients."""
    whole = "|".join((who.model, _mac(who, text), _mac(who, text, prefix)))
    return urlsafe_b64encode(whole.encode()).decode()


def verdict(signature: str, who: Who, prefix: str, text: str) -> Verdict:
    """What a signature says about a block that came back."""
    try:
        model, of_text, of_prefix = urlsafe_b64decode(signature.encode()).decode().split("|")
    except ValueError:
        return "forged"
    if not hmac.compare_digest(of_text, _mac(Who(model, who.account), text)):
        return "edited"
    if model != who.model:
        return "foreign"
    return "good" if hmac.compare_digest(of_prefix, _mac(who, text, prefix)) else "moved"


def extend(prefix: str, place: str, block: Any) -> str:
    """The hash of a prefix and one more block."""
    text = f"{prefix} {place} {compact(block)}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _mac(who: Who, *parts: str) -> str:
    joined = "\x1f".join((who.model, who.account, *parts)).encode()
    return hmac.new(b"the simulator's own", joined, hashlib.sha256).hexdigest()[:24]
