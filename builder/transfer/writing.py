"""Writes the canonical file: the same document always gives the same bytes, and a change a small diff."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, Final

from pydantic import ValidationError

from builder.transfer.secrets import without_secrets
from runtime.playbook import FORMAT_VERSION, Playbook

SCHEMA_ID: Final = f"urn:playbook-studio:playbook:{FORMAT_VERSION}"
"""Names the format in a file; `builder/transfer/playbook.schema.json` has it as its `$id`."""

_RESERVED_NAMES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


def export(document: dict[str, Any]) -> bytes:
    """The file: UTF-8, LF, two blanks, the format's key order, no secrets."""
    text = json.dumps(canonical(document), ensure_ascii=False, indent=2, allow_nan=False)
    return (text + "\n").encode()


def canonical(document: dict[str, Any]) -> dict[str, Any]:
    """The document in the format's key order; what a person ordered (lists, schemas, data) stays as it is."""
    body = {key: value for key, value in document.items() if key not in ("$schema", "formatVersion")}
    version = document.get("formatVersion", FORMAT_VERSION)
    ordered = _in_order(body, _model_order(document))
    written = {"$schema": SCHEMA_ID, "formatVersion": version, **ordered}
    _sort_layout(written)
    result: dict[str, Any] = without_secrets(written)
    return result


def file_name(document: dict[str, Any]) -> str:
    """The name of the document's file: `customer-support.json`."""
    return file_stem(document) + ".json"


def file_stem(document: dict[str, Any]) -> str:
    """A name that every file system takes, without a suffix; letters of all scripts stay; else `playbook`."""
    name = unicodedata.normalize("NFC", str(document.get("name") or document.get("id") or ""))
    words = re.findall(r"[^\W_]+", name.lower())
    stem = "-".join(words)[:80].strip("-") or "playbook"
    if _RESERVED_NAMES.fullmatch(stem):
        stem = f"playbook-{stem}"
    return stem


def _model_order(document: dict[str, Any]) -> Any:
    """The document as the models write it: only its order of keys is used, never its values."""
    try:
        playbook = Playbook.model_validate(document)
    except ValidationError:
        return document
    return playbook.model_dump(by_alias=True, exclude_unset=True)


def _in_order(value: Any, pattern: Any) -> Any:
    if isinstance(value, dict) and isinstance(pattern, dict):
        keys = [key for key in pattern if key in value] + [key for key in value if key not in pattern]
        return {key: _in_order(value[key], pattern.get(key)) for key in keys}
    if isinstance(value, list) and isinstance(pattern, list | tuple):
        return [_in_order(item, like) for item, like in zip(value, pattern, strict=True)]
    return value


def _sort_layout(document: dict[str, Any]) -> None:
    """Places are sorted by stage id: moving a card and moving it back leaves no trace."""
    metadata = document.get("metadata")
    studio = metadata.get("studio") if isinstance(metadata, dict) else None
    layout = studio.get("layout") if isinstance(studio, dict) else None
    if isinstance(layout, dict):
        ordered = {key: layout[key] for key in sorted(layout)}
        document["metadata"] = {
            **document["metadata"],
            "studio": {**document["metadata"]["studio"], "layout": ordered},
        }
