"""Frozen values in camelCase JSON: what messages, segments and events are built from.

Unlike a document, an event is ours alone: an unknown field is an error.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from runtime.playbook.storable import storable


def json_name(name: str) -> str:
    """camelCase of a name with underscores; `write5m` stays (pydantic alone would make `write5M` of it)."""
    return to_camel(name) if "_" in name else name


@cache
def _all_fields(kind: type[BaseModel]) -> set[str]:
    return set(kind.model_fields)


class Value(BaseModel):
    """A frozen value with camelCase JSON names."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=json_name,
        populate_by_name=True,
        serialize_by_alias=True,
        use_attribute_docstrings=True,
        protected_namespaces=(),
        # What we write has every field: the generated types say so.
        json_schema_serialization_defaults_required=True,
    )

    def model_post_init(self, context: Any, /) -> None:
        """Every field counts as given. Pydantic keeps a set of names for each instance: a log's instances are
        many, and without the sets a session that waits takes half the memory."""
        object.__setattr__(self, "__pydantic_fields_set__", _all_fields(type(self)))

    def storable(self) -> Self:
        """The same value with all its text storable; itself where it is so already."""
        given = self.model_dump(by_alias=False)
        kept = storable(given)
        return self if kept == given else type(self).model_validate(kept)
