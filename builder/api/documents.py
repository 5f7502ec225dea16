"""Documents on their way through the API: their shape is checked, they are kept as they were sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from runtime.playbook import Playbook


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the format's shape: as it was sent (`raw`, nothing dropped or added) and as read."""

    raw: dict[str, Any]
    playbook: Playbook

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def keep(value: Any, read: core_schema.ValidatorFunctionWrapHandler) -> Document:
            return cls(raw=value, playbook=read(value))

        return core_schema.no_info_wrap_validator_function(keep, handler.generate_schema(Playbook))


class _DescribedAsPlaybook:
    """Marks stored JSON that the API describes as a Playbook; it is not read again on its way out."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(Playbook.__pydantic_core_schema__)


StoredDocument = Annotated[dict[str, Any], _DescribedAsPlaybook()]
