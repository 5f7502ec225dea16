"""What every part of a playbook document has in common.

Rule of this package: a document is a frozen value. It is written in camelCase, it keeps the fields it does
not know (nothing a person typed is lost), and it imports no framework, no clock and no chance.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic.alias_generators import to_camel

FORMAT_VERSION: Final = 1

# A draft must be savable at every letter of a name, the empty one included: the shape only bounds names.
# Their form stands in the schema for other tools, and is checked by validation and before a run.
TOOL_NAME: Final = r"^[A-Za-z0-9_\-]{1,64}$"
PLAYBOOK_ID: Final = r"^[A-Za-z0-9_.\-]{1,64}$"

PlaybookId = Annotated[str, Field(max_length=200, json_schema_extra={"pattern": PLAYBOOK_ID})]
ToolName = Annotated[str, Field(max_length=200, json_schema_extra={"pattern": TOOL_NAME})]
StageId = Annotated[str, Field(min_length=1, max_length=200)]
JsonObject = dict[str, Any]

LARGEST: Final = 1_000_000_000
"""The largest count; browsers, databases and date arithmetic all take it."""
LONGEST_MS: Final = 366 * 24 * 3600 * 1000
"""The longest time, a year. Dates that lie further ahead could not be computed with."""

# A document is kept as it was written, so every reader must read the same in it: to a browser "false" is true
# and "5" no number. Nothing is converted here.
Flag = Annotated[bool, Strict()]
Real = Annotated[float, Strict()]
Integer = Annotated[int, Strict()]
Whole = Annotated[Integer, Field(le=LARGEST)]
Milliseconds = Annotated[Integer, Field(le=LONGEST_MS)]


class DocumentPart(BaseModel):
    """A frozen part of a document. Unknown fields are kept and written back on export (format.md)."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        serialize_by_alias=True,
        use_attribute_docstrings=True,
        protected_namespaces=(),
    )

    def unknown_fields(self) -> tuple[str, ...]:
        """Names of the fields this version does not know, in document order."""
        return tuple(self.__pydantic_extra__ or ())
