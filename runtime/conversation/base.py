"""Frozen values in camelCase JSON: what messages, segments and events are built from.

Unlike a document, an event is ours alone: an unknown field is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from runtime.playbook.storable import storable


def json_name(name: str) -> str:
    """camelCase of a name with underscores; `write5m` stays (pydantic alone would make `write5M` of it)."""
    return to_camel(name) if "_" in name else name


class Checks:
    """Whether what is made unchecked is checked all the same: on in every test, off in production."""

    on = False


CHECKS: Final = Checks()


@cache
def _all_fields(kind: type[BaseModel]) -> set[str]:
    return set(kind.model_fields)


@cache
def _blank(kind: type[BaseModel]) -> tuple[dict[str, Any], tuple[tuple[str, Callable[[], Any]], ...]]:
    """All fields in their order, with the defaults, and what makes the other defaults."""
    made = {name: field.default_factory for name, field in kind.model_fields.items()}
    factories = tuple((name, factory) for name, factory in made.items() if factory is not None)
    return {name: field.default for name, field in kind.model_fields.items()}, factories  # type: ignore[return-value]


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

    @classmethod
    def trusted(cls, fields: dict[str, Any], *, lasting: bool = False) -> Self:
        """An instance of fields that our own code made, by their Python names: twice as fast, because nothing
        is checked, copied or converted. With `CHECKS.on` it is checked to be what validation would make.

        `lasting`: it will be kept for long. Its dictionary then shares its keys with those of others (PEP
        412), which takes half the memory and longer to make.
        """
        blank, factories = _blank(cls)
        values = {**blank, **fields}
        for name, factory in factories:
            if name not in fields:
                values[name] = factory()
        value, set_attribute = object.__new__(cls), object.__setattr__
        if lasting:
            for name, item in values.items():
                set_attribute(value, name, item)
        else:
            set_attribute(value, "__dict__", values)
        set_attribute(value, "__pydantic_fields_set__", _all_fields(cls))
        set_attribute(value, "__pydantic_extra__", None)
        set_attribute(value, "__pydantic_private__", None)
        if CHECKS.on and cls(**fields) != value:
            raise AssertionError(
                f"{cls.__name__} was made of fields that validation would change: {fields!r}"
            )
        return value

    def storable(self) -> Self:
        """The same value with all its text storable; itself where it is so already."""
        given = self.model_dump(by_alias=False)
        kept = storable(given)
        return self if kept == given else type(self).model_validate(kept)
