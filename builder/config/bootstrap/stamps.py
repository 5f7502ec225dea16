"""Stamps: what something was made from, as a hash, so that it is made again only when that changed."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def hash_of(files: Iterable[Path], base: Path) -> str:
    """One hash over names and contents, in order of name."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.relative_to(base).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def read(stamp: Path) -> dict[str, Any]:
    """What the stamp says; empty when there is none or it is spoilt."""
    try:
        found = json.loads(stamp.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(stamp: Path, content: Mapping[str, Any]) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")
